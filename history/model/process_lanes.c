#include "history/model/process_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"

/* A process of the file: one of those that a process of the history became. */
struct lane {
    int32_t process;
    uint32_t ended; /* position of its last completion; RIG_POSITION_NONE: it is open to the end */
    uint32_t next;  /* of the same process; RIG_TABLE_NONE: none */
};

RIG_VEC(struct lane, lane_vec)

struct sorting {
    struct rig_table first; /* process -> its first lane */
    struct lane_vec lanes;
    int32_t highest; /* number of a process */
};

/* The lane that is free when the transaction begins; NULL when memory runs out. */
static struct lane *find_lane(struct sorting *s, const struct rig_txn *txn)
{
    uint32_t *first = rig_table_put(&s->first, (uint32_t)txn->process);
    if (first == NULL)
        return NULL;
    uint32_t last = RIG_TABLE_NONE;
    for (uint32_t at = *first; at != RIG_TABLE_NONE; last = at, at = s->lanes.at[at].next) {
        if (s->lanes.at[at].ended < txn->invoke_at)
            return &s->lanes.at[at];
    }
    const bool is_first = *first == RIG_TABLE_NONE;
    if (!is_first && s->highest == INT32_MAX)
        return NULL;
    const struct lane made = {.process = is_first ? txn->process : ++s->highest, .next = RIG_TABLE_NONE};
    const uint32_t number = (uint32_t)s->lanes.count;
    if (!lane_vec_add(&s->lanes, made))
        return NULL;
    if (is_first)
        *first = number;
    else
        s->lanes.at[last].next = number;
    return &s->lanes.at[number];
}

/* Transactions of a process are in the order of their completions, which is that of their invocations; open ones come
 * last. */
static bool choose_processes(struct rig_process_lanes *lanes, struct sorting *s)
{
    struct rig_history *history = &lanes->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++)
        s->highest = history->txns[txn].process > s->highest ? history->txns[txn].process : s->highest;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        struct rig_txn *txn = &history->txns[i];
        struct lane *lane = find_lane(s, txn);
        if (lane == NULL)
            return false;
        lanes->moved += lane->process != txn->process;
        txn->process = lane->process;
        lane->ended = txn->complete_at;
    }
    return true;
}

struct event {
    uint32_t position;
    int64_t *time_ns;
};

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    return (a->position > b->position) - (a->position < b->position);
}

static bool order_times(struct rig_history *history)
{
    struct event *events = malloc((2 * (size_t)history->txn_count + 1) * sizeof *events);
    size_t count = 0;
    for (uint32_t i = 0; events != NULL && i < history->txn_count; i++) {
        struct rig_txn *txn = &history->txns[i];
        if (txn->invoke_at != RIG_POSITION_NONE && txn->invoke_ns != RIG_NO_TIME)
            events[count++] = (struct event){txn->invoke_at, &txn->invoke_ns};
        if (txn->complete_at != RIG_POSITION_NONE && txn->complete_ns != RIG_NO_TIME)
            events[count++] = (struct event){txn->complete_at, &txn->complete_ns};
    }
    if (count > 0)
        qsort(events, count, sizeof *events, compare_events);
    for (size_t i = 1; i < count; i++) {
        if (*events[i].time_ns < *events[i - 1].time_ns)
            *events[i].time_ns = *events[i - 1].time_ns;
    }
    free(events);
    return events != NULL;
}

enum rig_rc rig_process_lanes_init(struct rig_process_lanes *lanes, const struct rig_history *history,
                                   struct rig_err *err)
{
    RIG_REQUIRE(history->in_turn);
    struct sorting sorting = {.lanes = {.at = NULL}};
    const size_t bytes = ((size_t)history->txn_count + 1) * sizeof *history->txns;
    *lanes = (struct rig_process_lanes){.history = *history};
    lanes->history.in_turn = false;
    lanes->history.txns = malloc(bytes);
    rig_table_init(&sorting.first);
    bool fits = lanes->history.txns != NULL;
    if (fits)
        memcpy(lanes->history.txns, history->txns, bytes);
    fits = fits && choose_processes(lanes, &sorting) && order_times(&lanes->history);
    rig_table_done(&sorting.first);
    lane_vec_done(&sorting.lanes);
    return fits ? RIG_OK : rig_no_memory(err, "the processes of the history");
}

void rig_process_lanes_done(struct rig_process_lanes *lanes)
{
    free(lanes->history.txns);
    lanes->history.txns = NULL;
}
