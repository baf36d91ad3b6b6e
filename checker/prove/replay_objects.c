/* Objects: each operation is possible in the state that those before it in the order leave (replay_object.h). */
#include <stdlib.h>

#include "base/bug.h"
#include "checker/prove/object_initial.h"
#include "checker/prove/replay_object.h"
#include "checker/prove/replay_private.h"

struct objects {
    struct rig_replay *r;
    struct rig_replay_object *at; /* per key */
    uint8_t *used;                /* per operation: it took effect */
    int64_t nil;
};

/* The take of a drain that is possible now, one of a known value before one of an unknown one. */
static bool take_one_of(struct objects *o, uint32_t txn)
{
    RIG_REQUIRE(rig_replay_object_is_drain(o->r->history, txn));
    const struct rig_history *history = o->r->history;
    uint32_t chosen = RIG_FACT_NONE;
    if (rig_replay_object_is_open_drain(history, txn))
        return rig_replay_object_apply(&o->at[rig_txn_ops(history, txn)->key], history->workload, o->nil,
                                       rig_txn_ops(history, txn));
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        const struct rig_txn_op *at = &history->ops[op];
        if (!o->used[op] && rig_replay_object_can_take(&o->at[at->key], at) &&
            (chosen == RIG_FACT_NONE || history->ops[chosen].read_state == RIG_READ_UNKNOWN))
            chosen = op;
    }
    if (chosen == RIG_FACT_NONE)
        return false;
    RIG_INVARIANT(!o->used[chosen]);
    o->used[chosen] = 1;
    return rig_replay_object_apply(&o->at[history->ops[chosen].key], history->workload, o->nil, &history->ops[chosen]);
}

static bool execute(struct objects *o, uint32_t txn)
{
    const struct rig_history *history = o->r->history;
    if (rig_replay_object_is_drain(history, txn))
        return take_one_of(o, txn);
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        const struct rig_txn_op *at = &history->ops[op];
        if (!rig_replay_object_apply(&o->at[at->key], history->workload, o->nil, at))
            return false;
    }
    return true;
}

static enum rig_rc execute_all(struct objects *o)
{
    struct rig_replay *r = o->r;
    for (size_t e = 0; e < r->count; e++) {
        const uint32_t txn = r->events[e];
        if (!execute(o, txn))
            return rig_fail(r->err, RIG_E_INPUT, "T%u is not possible at its place in the order",
                            rig_txn_name(r->history, txn));
        RIG_INVARIANT(rig_txn_op_count(r->history, txn) > 0);
        if (o->at[r->history->ops[r->history->txns[txn].first_op].key].no_memory)
            return rig_no_memory(r->err, "the replay");
    }
    return RIG_OK;
}

/* Each acknowledged operation stands in the order, those of a drain one by one, and no failed one does. */
static enum rig_rc place_all(const struct rig_replay *r)
{
    const struct rig_history *history = r->history;
    for (size_t e = 0; e < r->count; e++)
        r->times[r->events[e]]++;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const unsigned outcome = history->txns[txn].outcome, name = rig_txn_name(history, txn);
        const uint32_t count = rig_txn_op_count(history, txn),
                       most = rig_replay_object_is_drain(history, txn) ? count : 1;
        for (uint32_t i = 1; i < count; i++) {
            if (rig_txn_ops(history, txn)[i].key != rig_txn_ops(history, txn)[0].key)
                return rig_fail(r->err, RIG_E_INPUT, "T%u is about several objects", name);
        }
        if (r->times[txn] > 0 && (count == 0 || outcome == RIG_OUTCOME_FAIL))
            return rig_fail(r->err, RIG_E_INPUT, "T%u did nothing and stands in the order", name);
        if ((r->times[txn] > most && !rig_replay_object_is_open_drain(history, txn)) ||
            (outcome == RIG_OUTCOME_OK && count > 0 && r->times[txn] < most))
            return rig_fail(r->err, RIG_E_INPUT, "T%u stands %u times in the order instead of %u", name, r->times[txn],
                            most);
    }
    return RIG_OK;
}

enum rig_rc rig_replay_objects(struct rig_replay *r)
{
    RIG_REQUIRE(r->facts->form == RIG_FACTS_OBJECTS && r->kind == RIG_ORDER_SERIAL);
    struct objects o = {.r = r,
                        .at = calloc((size_t)r->history->key_count + 1, sizeof *o.at),
                        .used = calloc((size_t)r->history->op_count + 1, 1)};
    int64_t *begins = malloc(((size_t)r->history->key_count + 1) * sizeof *begins);
    enum rig_rc rc =
        o.at != NULL && o.used != NULL && begins != NULL ? place_all(r) : rig_no_memory(r->err, "the replay");
    if (rc == RIG_OK && (!rig_replay_object_nil(r->history->workload, &o.nil) ||
                         !rig_object_initial_find(r->history, rig_facts_initial(r->facts), begins)))
        rc = rig_no_memory(r->err, "the replay");
    for (uint32_t key = 0; rc == RIG_OK && key < r->history->key_count; key++)
        rig_replay_object_init(&o.at[key], begins[key]);
    if (rc == RIG_OK)
        rc = execute_all(&o);
    for (uint32_t key = 0; o.at != NULL && key < r->history->key_count; key++)
        rig_replay_object_done(&o.at[key]);
    free(o.at);
    free(o.used);
    free(begins);
    return rc;
}
