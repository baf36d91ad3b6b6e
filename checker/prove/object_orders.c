#include "checker/prove/object_orders.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/table.h"
#include "checker/prove/object_order_search.h"
#include "checker/prove/replay_objects.h"

enum { MOST_STEPS = 1 << 28, MOST_WORDS = 1 << 24 };

struct claim {
    const struct rig_facts *facts;
    const struct rig_history *history;
    enum rig_keeps keeps;
    uint8_t *named;   /* per transaction */
    uint8_t *has_key; /* per key: a named operation is on it */
    struct rig_order_units units;
    uint32_t groups;
    uint64_t steps;
    int64_t nil;
    struct rig_err *err;
};

/* ---- what may be left out ---- */

static bool is_of_row(const struct rig_txn_op *op)
{
    return rig_replay_object_takes(op) || op->kind == RIG_OP_ENQUEUE || op->kind == RIG_OP_PUSH;
}

static int64_t value_of(const struct claim *c, const struct rig_txn_op *op)
{
    return op->read_state == RIG_READ_NIL ? c->nil : op->value;
}

/* Whether a named operation adds or takes the same value; of a register, observes it. */
static bool is_named_value(const struct claim *c, const struct rig_txn_op *left_out)
{
    RIG_REQUIRE(left_out->key < c->history->key_count);
    for (size_t u = 0; u < c->units.count; u++) {
        for (uint32_t i = c->units.at[u].first_op; i < c->units.at[u].end_op; i++) {
            const struct rig_txn_op *op = &c->history->ops[i];
            const bool has_value =
                rig_replay_object_takes(op) ? op->read_state == RIG_READ_SEEN : is_of_row(op) || rig_op_observes(op);
            if (has_value && op->key == left_out->key && value_of(c, op) == value_of(c, left_out))
                return true;
        }
    }
    return false;
}

/* One operation of a transaction that is not named: without what began after the end. */
static bool may_leave_out(const struct claim *c, const struct rig_txn_op *op)
{
    RIG_REQUIRE(op->key < c->history->key_count);
    if (rig_op_observes(op) || !c->has_key[op->key])
        return true;
    if (rig_replay_object_takes(op) && op->read_state == RIG_READ_UNKNOWN)
        return false; /* it may have taken any value */
    if (rig_replay_object_has_calls(c->history->workload))
        return false;
    if (rig_replay_object_has_owners(c->history->workload))
        return op->kind == RIG_OP_TOKEN; /* work, whose token keeps others from working */
    return c->history->workload != RIG_WORKLOAD_APPEND_REGISTER && !is_named_value(c, op);
}

/* Whether the transaction may be left out whenever it began. */
static bool is_left_out(struct claim *c, uint32_t txn)
{
    const struct rig_history *history = c->history;
    const uint32_t first = history->txns[txn].first_op, end = history->txns[txn + 1].first_op;
    bool may = true;
    if (c->named[txn] || history->txns[txn].outcome == RIG_OUTCOME_FAIL || first == end ||
        rig_ops_observe(history, first, end))
        return true;
    for (uint32_t op = first; may && op < end; op++) {
        may = may_leave_out(c, &history->ops[op]);
        c->steps += c->units.count;
    }
    RIG_INVARIANT(first < end);
    return may;
}

/* In real time, those that may not be left out otherwise come after every named operation that ended before the first
 * of them began. So an order can be cut after these: what ended later may be in it, and need not be. */
static enum rig_rc check_left_out(struct claim *c)
{
    uint32_t cut = RIG_POSITION_NONE;
    for (uint32_t txn = 0; txn < c->history->txn_count; txn++) {
        const uint32_t begin = c->history->txns[txn].invoke_at;
        if (c->steps > MOST_STEPS)
            return rig_fail(c->err, RIG_E_LIMIT, "no-order: the witness leaves out too many operations");
        if (is_left_out(c, txn))
            continue;
        if (c->keeps != RIG_KEEPS_TIME || begin == RIG_POSITION_NONE)
            return rig_fail(c->err, RIG_E_INPUT, "no-order: T%u is left out, and the others may depend on it",
                            rig_txn_name(c->history, txn));
        cut = begin < cut ? begin : cut;
    }
    for (size_t u = 0; u < c->units.count; u++) {
        struct rig_order_unit *unit = &c->units.at[u];
        unit->certain = unit->certain && unit->end < cut;
        unit->end = unit->certain ? unit->end : RIG_POSITION_NONE;
    }
    RIG_INVARIANT(c->keeps == RIG_KEEPS_TIME || cut == RIG_POSITION_NONE);
    return RIG_OK;
}

/* ---- the units ---- */

static uint32_t begin_of(const struct claim *c, const struct rig_txn *txn)
{
    if (c->keeps == RIG_KEEPS_NOTHING)
        return 0;
    const bool in_turn = c->keeps == RIG_KEEPS_PROCESSES && c->history->in_turn;
    if (txn->invoke_at != RIG_POSITION_NONE && !(in_turn && txn->complete_at != RIG_POSITION_NONE))
        return txn->invoke_at;
    return c->keeps == RIG_KEEPS_PROCESSES && txn->complete_at != RIG_POSITION_NONE ? txn->complete_at : 0;
}

/* Values that may have been added to the object: a drain of unknown outcome may have taken each of them. */
static uint32_t count_additions(const struct rig_history *history, uint32_t key)
{
    RIG_REQUIRE(key < history->key_count);
    uint32_t additions = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++)
            additions += history->txns[txn].outcome != RIG_OUTCOME_FAIL && history->ops[op].key == key &&
                         !rig_replay_object_takes(&history->ops[op]);
    }
    return additions;
}

/* Whether a drain took a value that a transaction added which is not named. Then no named operation adds it, so it is
 * one of the values that are left out with all of their operations. */
static bool is_of_left_out_value(const struct claim *c, const struct rig_txn_op *take)
{
    RIG_REQUIRE(rig_replay_object_takes(take));
    const struct rig_history *history = c->history;
    bool left_out = false;
    if (take->read_state != RIG_READ_SEEN)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t i = history->txns[txn].first_op; i < history->txns[txn + 1].first_op; i++) {
            const struct rig_txn_op *op = &history->ops[i];
            if (history->txns[txn].outcome == RIG_OUTCOME_FAIL || rig_replay_object_takes(op) || op->key != take->key ||
                op->value != take->value)
                continue;
            if (c->named[txn])
                return false;
            left_out = true;
        }
    }
    return left_out;
}

static bool add_units(struct claim *c, uint32_t txn, uint32_t group)
{
    RIG_REQUIRE(c->named[txn] != 0 && group < c->groups && rig_txn_op_count(c->history, txn) > 0);
    const struct rig_history *history = c->history;
    const uint32_t first = history->txns[txn].first_op, end = history->txns[txn + 1].first_op;
    const bool open_drain = rig_replay_object_is_open_drain(history, txn);
    const uint32_t step = rig_replay_object_is_drain(history, txn) ? 1 : end - first;
    const uint32_t units = open_drain ? count_additions(history, history->ops[first].key) : (end - first) / step;
    RIG_INVARIANT(step > 0 && (end - first) % step == 0);
    for (uint32_t unit = 0; unit < units; unit++) {
        const uint32_t op = open_drain ? first : first + unit * step;
        if (units > 1 && !open_drain && is_of_left_out_value(c, &history->ops[op]))
            continue;
        const bool is_ok = history->txns[txn].outcome == RIG_OUTCOME_OK;
        const struct rig_order_unit made = {.first_op = op,
                                            .end_op = op + step,
                                            .group = group,
                                            .begin = begin_of(c, &history->txns[txn]),
                                            .end =
                                                is_ok && c->keeps == RIG_KEEPS_NOTHING ? 0 : rig_txn_end(history, txn),
                                            .certain = is_ok};
        c->has_key[history->ops[op].key] = 1;
        /* An operation that only observes, and perhaps did not happen, need not happen. */
        if ((is_ok || !rig_ops_observe(history, op, op + step)) && !rig_order_units_add(&c->units, made))
            return false;
    }
    return true;
}

static enum rig_rc make_units(struct claim *c, const uint32_t *txns, size_t count)
{
    const struct rig_history *history = c->history;
    struct rig_table groups;
    enum rig_rc rc = RIG_OK;
    rig_table_init(&groups);
    for (size_t i = 0; rc == RIG_OK && i < count; i++) {
        const uint32_t ops = rig_txn_op_count(history, txns[i]), name = rig_txn_name(history, txns[i]);
        uint32_t *group =
            rig_table_put(&groups, c->keeps == RIG_KEEPS_PROCESSES ? (uint32_t)history->txns[txns[i]].process : 0);
        for (uint32_t op = 1; op < ops; op++) {
            if (rig_txn_ops(history, txns[i])[op].key != rig_txn_ops(history, txns[i])[0].key)
                rc = rig_fail(c->err, RIG_E_INPUT, "no-order: T%u is about several objects", name);
        }
        if (rc == RIG_OK && (c->named[txns[i]] || ops == 0 || history->txns[txns[i]].outcome == RIG_OUTCOME_FAIL))
            rc = rig_fail(c->err, RIG_E_INPUT, "no-order: T%u is named twice, or did nothing", name);
        c->named[txns[i]] = 1;
        if (group != NULL && *group == RIG_TABLE_NONE)
            *group = c->groups++;
        if (rc == RIG_OK && group == NULL)
            rc = rig_no_memory(c->err, "the search for an order");
    }
    for (size_t i = 0; rc == RIG_OK && i < count; i++) {
        const uint64_t process = c->keeps == RIG_KEEPS_PROCESSES ? (uint32_t)history->txns[txns[i]].process : 0;
        if (!add_units(c, txns[i], rig_table_get(&groups, process)))
            rc = rig_no_memory(c->err, "the search for an order");
    }
    RIG_INVARIANT(rc != RIG_OK || count == 0 || c->groups > 0);
    rig_table_done(&groups);
    return rc;
}

/* ---- the search ---- */

static enum rig_rc search(struct claim *c)
{
    const struct rig_order_search question = {.history = c->history,
                                              .units = &c->units,
                                              .group_count = c->groups,
                                              .in_time = c->keeps == RIG_KEEPS_TIME,
                                              .initial = rig_facts_initial(c->facts),
                                              .most_steps = MOST_STEPS,
                                              .most_words = MOST_WORDS,
                                              .deadline_ns = INT64_MAX};
    switch (rig_search_order(&question)) {
    case RIG_SEARCH_NO_ORDER:
        return RIG_OK;
    case RIG_SEARCH_ORDER:
        return rig_fail(c->err, RIG_E_INPUT, "no-order: the operations have an order");
    case RIG_SEARCH_SPENT:
        return rig_fail(c->err, RIG_E_LIMIT, "no-order: the search for an order takes too long");
    case RIG_SEARCH_NO_MEMORY:
        break;
    }
    return rig_no_memory(c->err, "the search for an order");
}

/* ---- the claim ---- */

/* The least that the levels keep. */
static enum rig_rc least_kept(struct claim *c, uint64_t levels)
{
    c->keeps = RIG_KEEPS_TIME;
    for (int level = 0; level < RIG_PROVED_LEVELS; level++) {
        const struct rig_proved_level *info = &rig_proved_levels[level];
        if ((levels >> level & 1) == 0)
            continue;
        if (c->facts->form != RIG_FACTS_OBJECTS || info->forbids != RIG_FORBIDS_ANY)
            return rig_fail(c->err, RIG_E_INPUT, "no-order: it does not refute %s of such a history", info->name);
        c->keeps = info->keeps < c->keeps ? info->keeps : c->keeps;
    }
    return c->keeps == RIG_KEEPS_TIME && !c->history->has_invocations
               ? rig_fail(c->err, RIG_E_INPUT, "no-order: the history has no invocations, and so no real-time order")
               : RIG_OK;
}

enum rig_rc rig_no_order(const struct rig_facts *facts, uint64_t levels, const uint32_t *txns, size_t count,
                         struct rig_err *err)
{
    RIG_REQUIRE(levels != 0 && levels >> RIG_PROVED_LEVELS == 0);
    struct claim c = {.facts = facts, .history = facts->history, .err = err};
    enum rig_rc rc = least_kept(&c, levels);
    if (rc != RIG_OK)
        return rc;
    c.named = calloc((size_t)facts->history->txn_count + 1, 1);
    c.has_key = calloc((size_t)facts->history->key_count + 1, 1);
    if (c.named == NULL || c.has_key == NULL || !rig_replay_object_nil(facts->history->workload, &c.nil))
        rc = rig_no_memory(err, "the search for an order");
    if (rc == RIG_OK)
        rc = make_units(&c, txns, count);
    if (rc == RIG_OK)
        rc = check_left_out(&c);
    RIG_INVARIANT(rc != RIG_OK || facts->form == RIG_FACTS_OBJECTS);
    if (rc == RIG_OK)
        rc = search(&c);
    free(c.named);
    free(c.has_key);
    rig_order_units_done(&c.units);
    return rc;
}
