/* The order of processes and of real time, between the transactions of an order of commits. */
#include <stdlib.h>

#include "base/bug.h"
#include "checker/prove/replay_private.h"

struct rig_replay_before {
    const struct rig_replay *r;
    uint32_t *sorted; /* transactions that stand and ended: by process, then by end */
    uint32_t *end;    /* per transaction: into `sorted`, after the last one of its process that ended before it began */
    uint32_t *first;  /* per transaction: into `sorted`, the first one of its process */
};

/* Processes that run in turn complete in their order. */
uint32_t rig_replay_begins(const struct rig_history *history, const struct rig_txn *txn, bool processes)
{
    if (processes && history->in_turn && txn->complete_at != RIG_POSITION_NONE)
        return txn->complete_at;
    return txn->invoke_at != RIG_POSITION_NONE                  ? txn->invoke_at
           : processes && txn->complete_at != RIG_POSITION_NONE ? txn->complete_at
                                                                : 0;
}

bool rig_replay_precedes(const struct rig_history *history, enum rig_keeps keeps, uint32_t before, uint32_t after)
{
    RIG_REQUIRE(before < history->txn_count && after < history->txn_count && before != after);
    const struct rig_txn *from = &history->txns[before], *to = &history->txns[after];
    const uint32_t end = rig_txn_end(history, before);
    return (keeps != RIG_KEEPS_NOTHING && from->process == to->process && end < rig_replay_begins(history, to, true)) ||
           (keeps == RIG_KEEPS_TIME && end < rig_replay_begins(history, to, false));
}

struct ended {
    int64_t process;
    uint32_t end, txn;
};

static int compare_ended(const void *left, const void *right)
{
    const struct ended *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return a->end != b->end ? (a->end > b->end) - (a->end < b->end) : (a->txn > b->txn) - (a->txn < b->txn);
}

/* The first of the sorted entries that is not before this one. */
static uint32_t find_place(const struct ended *ended, uint32_t count, int64_t process, uint32_t end)
{
    const struct ended wanted = {process, end, 0};
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare_ended(&ended[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct rig_replay_before *rig_replay_before_new(const struct rig_replay *r)
{
    const size_t room = (size_t)r->history->txn_count + 1;
    struct rig_replay_before *before = calloc(1, sizeof *before);
    struct ended *ended = malloc(room * sizeof ended[0]);
    uint32_t count = 0;
    bool ok = before != NULL && ended != NULL;
    if (ok) {
        *before = (struct rig_replay_before){.r = r,
                                             .sorted = malloc(room * sizeof *before->sorted),
                                             .end = malloc(room * sizeof *before->end),
                                             .first = malloc(room * sizeof *before->first)};
        ok = before->sorted != NULL && before->end != NULL && before->first != NULL;
    }
    for (uint32_t txn = 0; ok && txn < r->history->txn_count; txn++) {
        const uint32_t end = rig_txn_end(r->history, txn);
        if (r->at[txn] > 0 && end != RIG_POSITION_NONE)
            ended[count++] = (struct ended){r->history->txns[txn].process, end, txn};
    }
    if (ok && count > 1)
        qsort(ended, count, sizeof ended[0], compare_ended);
    for (uint32_t i = 0; ok && i < count; i++)
        before->sorted[i] = ended[i].txn;
    for (uint32_t txn = 0; ok && txn < r->history->txn_count; txn++) {
        const struct rig_txn *at = &r->history->txns[txn];
        before->first[txn] = find_place(ended, count, at->process, 0);
        before->end[txn] = find_place(ended, count, at->process, rig_replay_begins(r->history, at, true));
        RIG_INVARIANT(before->first[txn] <= before->end[txn] && before->end[txn] <= count);
    }
    free(ended);
    if (ok)
        return before;
    rig_replay_before_free(before);
    return NULL;
}

void rig_replay_before_free(struct rig_replay_before *before)
{
    if (before == NULL)
        return;
    free(before->sorted);
    free(before->end);
    free(before->first);
    free(before);
}

void rig_replay_before_each(const struct rig_replay_before *before, uint32_t txn,
                            void (*take)(void *context, uint32_t txn), void *context)
{
    const struct rig_history *history = before->r->history;
    uint32_t begun = UINT32_MAX; /* the first begin of those that were taken: what ended before that precedes them */
    for (uint32_t i = before->end[txn]; i-- > before->first[txn];) {
        const uint32_t earlier = before->sorted[i];
        RIG_INVARIANT(history->txns[earlier].process == history->txns[txn].process);
        if (rig_txn_end(history, earlier) < begun && begun != UINT32_MAX)
            return;
        take(context, earlier);
        const uint32_t begin = rig_replay_begins(history, &history->txns[earlier], true);
        begun = begin < begun ? begin : begun;
    }
}
