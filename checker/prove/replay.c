#include "checker/prove/replay.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/table.h"
#include "checker/prove/replay_private.h"

const char *const rig_order_kinds[RIG_ORDER_KINDS] = {"serial", "snapshot", "prefix", "operations",
                                                      "items",  "commits",  "writes"};

static void done(struct rig_replay *r)
{
    free(r->times);
    free(r->at);
    free(r->first_version);
    free(r->versions);
    free(r->version);
    free(r->seen);
    free(r->agreed);
    free(r->initial);
}

static enum rig_rc init(struct rig_replay *r)
{
    const struct rig_history *history = r->history;
    const size_t txns = (size_t)history->txn_count + 1, ops = (size_t)history->op_count + 1,
                 keys = (size_t)history->key_count + 2;
    r->times = calloc(txns, sizeof r->times[0]);
    r->at = calloc(txns, sizeof r->at[0]);
    r->first_version = calloc(keys, sizeof r->first_version[0]);
    r->version = calloc(ops, sizeof r->version[0]);
    r->seen = calloc(ops, sizeof r->seen[0]);
    r->agreed = calloc(keys, sizeof r->agreed[0]);
    r->initial = calloc(keys, sizeof r->initial[0]);
    return r->times != NULL && r->at != NULL && r->first_version != NULL && r->version != NULL && r->seen != NULL &&
                   r->agreed != NULL && r->initial != NULL
               ? RIG_OK
               : rig_no_memory(r->err, "the replay");
}

static uint32_t op_count(const struct rig_replay *r, uint32_t txn)
{
    return rig_txn_op_count(r->history, txn);
}

/* How often a transaction may stand in the order. */
static bool may_stand(const struct rig_replay *r, uint32_t txn, uint32_t times)
{
    RIG_REQUIRE(txn < r->history->txn_count);
    if (times <= 1 || r->kind == RIG_ORDER_SERIAL || r->kind == RIG_ORDER_ITEMS || r->kind == RIG_ORDER_COMMITS ||
        r->kind == RIG_ORDER_WRITES)
        return times == 1;
    return times == (r->kind == RIG_ORDER_OPERATIONS ? op_count(r, txn) + 1 : 2);
}

/* Each acknowledged transaction stands in the order, no failed one, and each as often as the kind says. */
static enum rig_rc place_all(struct rig_replay *r)
{
    for (size_t e = 0; e < r->count; e++) {
        r->times[r->events[e]]++;
        r->at[r->events[e]] = (uint32_t)e + 1;
    }
    for (uint32_t txn = 0; txn < r->history->txn_count; txn++) {
        const unsigned outcome = r->history->txns[txn].outcome, name = rig_txn_name(r->history, txn);
        if (r->times[txn] == 0 && outcome != RIG_OUTCOME_OK)
            continue;
        if (r->times[txn] == 0)
            return rig_fail(r->err, RIG_E_INPUT, "T%u was acknowledged and is missing in the order", name);
        if (outcome == RIG_OUTCOME_FAIL || (outcome != RIG_OUTCOME_OK && r->kind == RIG_ORDER_WRITES))
            return rig_fail(r->err, RIG_E_INPUT, "T%u was not acknowledged and stands in the order", name);
        if (!may_stand(r, txn, r->times[txn]))
            return rig_fail(r->err, RIG_E_INPUT, "T%u stands %u times in the order", name, r->times[txn]);
    }
    RIG_INVARIANT(r->count == 0 || r->events[r->at[r->events[0]] - 1] == r->events[0]);
    return RIG_OK;
}

/* A transaction installs every append of a list and every element of a set, but only the last write of a register. */
static bool installs(const struct rig_replay *r, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(op >= r->history->txns[txn].first_op && op < r->history->txns[txn + 1].first_op);
    const struct rig_txn_op *ops = r->history->ops;
    if (rig_op_reads(ops[op].kind))
        return false;
    for (uint32_t i = op + 1; r->facts->shape == RIG_RESULT_VALUE && i < r->history->txns[txn + 1].first_op; i++) {
        if (ops[i].key == ops[op].key && !rig_op_reads(ops[i].kind))
            return false;
    }
    return true;
}

static enum rig_rc order_versions(struct rig_replay *r)
{
    const struct rig_history *history = r->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op; r->at[txn] > 0 && op < history->txns[txn + 1].first_op; op++)
            r->first_version[history->ops[op].key + 2] += installs(r, txn, op);
    }
    for (uint32_t key = 0; key < history->key_count; key++)
        r->first_version[key + 2] += r->first_version[key + 1];
    r->versions = malloc(((size_t)r->first_version[history->key_count + 1] + 1) * sizeof r->versions[0]);
    if (r->versions == NULL)
        return rig_no_memory(r->err, "the replay");
    for (size_t e = 0; e < r->count; e++) {
        const uint32_t txn = r->events[e];
        for (uint32_t op = history->txns[txn].first_op; r->at[txn] == e + 1 && op < history->txns[txn + 1].first_op;
             op++) {
            const uint32_t key = history->ops[op].key;
            if (!installs(r, txn, op))
                continue;
            r->versions[r->first_version[key + 1]++] = (struct rig_fact_write){op, txn};
        }
    }
    for (uint32_t key = 0; key < history->key_count; key++) {
        for (uint32_t number = 1; number <= rig_replay_version_count(r, key); number++) {
            RIG_INVARIANT(history->ops[rig_replay_version(r, key, number)->op].key == key);
            r->version[rig_replay_version(r, key, number)->op] = number;
        }
    }
    RIG_INVARIANT(r->first_version[history->key_count] <= history->op_count);
    return RIG_OK;
}

/* ---- process and real-time order ---- */

/* No transaction ended before another one began that reads earlier in the order: so no end comes before the latest
 * begin so far, of the process or of all. */
static enum rig_rc keep_order(const struct rig_replay *r, bool processes)
{
    struct rig_table latest;
    uint32_t *stands = calloc((size_t)r->history->txn_count + 1, sizeof stands[0]);
    enum rig_rc rc = stands != NULL ? RIG_OK : rig_no_memory(r->err, "the replay");
    rig_table_init(&latest);
    for (size_t e = 0; rc == RIG_OK && e < r->count; e++) {
        const uint32_t txn = r->events[e];
        const struct rig_txn *t = &r->history->txns[txn];
        uint32_t *most = rig_table_put(&latest, processes ? (uint32_t)t->process : 0);
        if (most == NULL) {
            rc = rig_no_memory(r->err, "the replay");
            break;
        }
        RIG_INVARIANT(stands[txn] < r->times[txn]);
        const uint32_t begin = rig_replay_begins(r->history, t, processes);
        if (stands[txn]++ == 0 && (*most == RIG_TABLE_NONE || *most < begin))
            *most = begin;
        if (stands[txn] == r->times[txn] && rig_txn_end(r->history, txn) < *most)
            rc = rig_fail(r->err, RIG_E_INPUT, "T%u ended before a transaction%s began that stands before it",
                          rig_txn_name(r->history, txn), processes ? " of its process" : "");
    }
    rig_table_done(&latest);
    free(stands);
    return rc;
}

static enum rig_rc keep(const struct rig_replay *r, enum rig_keeps keeps)
{
    if (keeps == RIG_KEEPS_TIME && !r->history->has_invocations)
        return rig_fail(r->err, RIG_E_INPUT, "the history has no invocations, and so no real-time order");
    enum rig_rc rc = keeps == RIG_KEEPS_NOTHING ? RIG_OK : keep_order(r, true);
    if (rc == RIG_OK && keeps == RIG_KEEPS_TIME)
        rc = keep_order(r, false);
    return rc;
}

/* ---- execution ---- */

struct execution {
    uint32_t *current; /* per key: versions committed so far */
    uint32_t *changed; /* per key: one more than the event of the last of them */
    uint32_t *stood;   /* per transaction: events so far */
    uint32_t *begun;   /* per transaction: its first event; `operations`, per operation: its event */
};

static enum rig_rc read_now(struct rig_replay *r, const struct execution *x, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(op >= r->history->txns[txn].first_op && op < r->history->txns[txn + 1].first_op);
    const struct rig_txn_op *at = &r->history->ops[op];
    if (!rig_op_reads(at->kind))
        return RIG_OK;
    RIG_INVARIANT(x->current[at->key] <= rig_replay_version_count(r, at->key));
    if (r->facts->shape == RIG_RESULT_SET)
        return rig_replay_see_set(r, txn, op, x->current[at->key]);
    if (r->seen[op] == RIG_FACT_NONE || r->seen[op] == x->current[at->key] ||
        (r->kind == RIG_ORDER_ITEMS && rig_facts_found_no_row(r->facts, op)))
        return RIG_OK;
    char key[64];
    rig_history_key_name(r->history, at->key, key, sizeof key);
    return rig_fail(r->err, RIG_E_INPUT, "T%u read version %u of key %s where version %u was current",
                    rig_txn_name(r->history, txn), r->seen[op], key, x->current[at->key]);
}

/* No other commit of the key since the transaction's start, or since its first write of the key. */
static bool may_commit(const struct rig_replay *r, const struct execution *x, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(r->version[op] > 0 && x->changed[r->history->ops[op].key] <= r->count);
    const uint32_t key = r->history->ops[op].key, last = x->changed[key];
    if (r->facts->shape == RIG_RESULT_SET || last == 0 || r->events[last - 1] == txn || r->times[txn] == 1 ||
        r->kind == RIG_ORDER_PREFIX)
        return true;
    uint32_t since = x->begun[txn];
    for (uint32_t i = r->history->txns[txn].first_op; r->kind == RIG_ORDER_OPERATIONS; i++) {
        since = x->begun[i];
        if (r->history->ops[i].key == key && !rig_op_reads(r->history->ops[i].kind))
            break;
    }
    return last - 1 < since;
}

static enum rig_rc commit_now(const struct rig_replay *r, const struct execution *x, uint32_t txn, uint32_t event)
{
    for (uint32_t op = r->history->txns[txn].first_op; op < r->history->txns[txn + 1].first_op; op++) {
        const uint32_t key = r->history->ops[op].key;
        if (r->version[op] == 0)
            continue;
        if (!may_commit(r, x, txn, op)) {
            char text[64];
            rig_history_key_name(r->history, key, text, sizeof text);
            return rig_fail(r->err, RIG_E_INPUT, "T%u writes key %s, which another transaction wrote since its start",
                            rig_txn_name(r->history, txn), text);
        }
        x->current[key]++;
        RIG_INVARIANT(x->current[key] == r->version[op]);
        x->changed[key] = event + 1;
    }
    return RIG_OK;
}

static enum rig_rc execute_event(struct rig_replay *r, const struct execution *x, uint32_t event)
{
    RIG_REQUIRE(event < r->count);
    const uint32_t txn = r->events[event], stood = x->stood[txn]++;
    RIG_INVARIANT(stood < r->times[txn]);
    const uint32_t first = r->history->txns[txn].first_op, end = r->history->txns[txn + 1].first_op;
    const bool single = r->kind == RIG_ORDER_OPERATIONS && r->times[txn] > 1;
    enum rig_rc rc = RIG_OK;
    if (single && stood < end - first) {
        x->begun[first + stood] = event;
        rc = read_now(r, x, txn, first + stood);
    } else if (!single && stood == 0) {
        if (r->kind != RIG_ORDER_OPERATIONS)
            x->begun[txn] = event;
        for (uint32_t op = first; rc == RIG_OK && op < end; op++)
            rc = read_now(r, x, txn, op);
    }
    return rc == RIG_OK && stood + 1 == r->times[txn] ? commit_now(r, x, txn, event) : rc;
}

static enum rig_rc execute(struct rig_replay *r)
{
    const struct rig_history *history = r->history;
    const size_t keys = (size_t)history->key_count + 1, txns = (size_t)history->txn_count + 1;
    const struct execution x = {
        .current = calloc(keys, sizeof *x.current),
        .changed = calloc(keys, sizeof *x.changed),
        .stood = calloc(txns, sizeof *x.stood),
        .begun = calloc(r->kind == RIG_ORDER_OPERATIONS ? (size_t)history->op_count + 1 : txns, sizeof *x.begun)};
    enum rig_rc rc = x.current != NULL && x.changed != NULL && x.stood != NULL && x.begun != NULL
                         ? RIG_OK
                         : rig_no_memory(r->err, "the replay");
    for (uint32_t event = 0; rc == RIG_OK && event < r->count; event++)
        rc = execute_event(r, &x, event);
    free(x.current);
    free(x.changed);
    free(x.stood);
    free(x.begun);
    return rc;
}

/* ---- levels ---- */

/* Whether this kind of order is a proof of the level. */
static bool is_for(enum rig_order_kind kind, enum rig_forbids forbids)
{
    switch ((int)kind) {
    case RIG_ORDER_SERIAL:
        return forbids == RIG_FORBIDS_ANY || forbids == RIG_FORBIDS_ITEMS;
    case RIG_ORDER_ITEMS:
        return forbids == RIG_FORBIDS_ITEMS;
    case RIG_ORDER_SNAPSHOT:
        return forbids == RIG_FORBIDS_SNAPSHOT;
    case RIG_ORDER_PREFIX:
        return forbids == RIG_FORBIDS_PREFIX;
    case RIG_ORDER_OPERATIONS:
        return forbids == RIG_FORBIDS_MONOTONIC_READS;
    case RIG_ORDER_WRITES:
        return forbids == RIG_FORBIDS_WRITES;
    default:
        return forbids == RIG_FORBIDS_FLOW || forbids == RIG_FORBIDS_CURSOR || forbids == RIG_FORBIDS_ATOMIC_LATER ||
               forbids == RIG_FORBIDS_MONOTONIC_VIEW || forbids == RIG_FORBIDS_SINGLE ||
               forbids == RIG_FORBIDS_ATOMIC || forbids == RIG_FORBIDS_CAUSAL || forbids == RIG_FORBIDS_UPDATE_ATOMIC ||
               forbids == RIG_FORBIDS_UPDATES;
    }
}

static enum rig_rc replay_versions(struct rig_replay *r)
{
    enum rig_rc rc = place_all(r);
    if (rc == RIG_OK)
        rc = order_versions(r);
    if (rc == RIG_OK && r->kind == RIG_ORDER_WRITES)
        rc = rig_replay_writes(r);
    if (rc == RIG_OK && r->kind != RIG_ORDER_WRITES)
        rc = rig_replay_see(r);
    if (rc == RIG_OK && r->kind == RIG_ORDER_COMMITS)
        rc = rig_replay_flow(r);
    return rc == RIG_OK && r->kind < RIG_ORDER_COMMITS ? execute(r) : rc;
}

static enum rig_rc replay_sums(struct rig_replay *r)
{
    const enum rig_rc rc = place_all(r);
    return rc == RIG_OK ? rig_replay_counters(r) : rc;
}

/* Whether this kind of order proves the level of counters and banks. In an order of operations each read shows the sum
 * of increments that were committed before it, so it proves read committed as well. */
static bool is_for_sums(enum rig_order_kind kind, enum rig_forbids forbids)
{
    const bool counts = kind == RIG_ORDER_SERIAL || kind == RIG_ORDER_ITEMS || kind == RIG_ORDER_SNAPSHOT ||
                        kind == RIG_ORDER_OPERATIONS;
    return counts && (is_for(kind, forbids) || (kind == RIG_ORDER_OPERATIONS && forbids == RIG_FORBIDS_FLOW));
}

/* The same for predicates. Between read committed and snapshot isolation a level looks at rw edges that no state shows.
 * */
static bool is_for_rows(enum rig_order_kind kind, enum rig_forbids forbids)
{
    return kind == RIG_ORDER_COMMITS
               ? forbids == RIG_FORBIDS_FLOW
               : kind != RIG_ORDER_OPERATIONS && kind != RIG_ORDER_PREFIX && is_for(kind, forbids);
}

static enum rig_rc replay_rows(struct rig_replay *r)
{
    const enum rig_rc rc = place_all(r);
    return rc == RIG_OK ? rig_replay_predicates(r) : rc;
}

static enum rig_rc prove(struct rig_replay *r, uint64_t levels)
{
    enum rig_rc rc = init(r);
    if (rc == RIG_OK)
        rc = r->facts->form == RIG_FACTS_OBJECTS ? rig_replay_objects(r)
             : r->facts->form == RIG_FACTS_SUMS  ? replay_sums(r)
             : r->facts->form == RIG_FACTS_ROWS  ? replay_rows(r)
                                                 : replay_versions(r);
    for (int level = 0; rc == RIG_OK && level < RIG_PROVED_LEVELS; level++) {
        const struct rig_proved_level *info = &rig_proved_levels[level];
        if ((levels >> level & 1) == 0)
            continue;
        rc = keep(r, info->keeps);
        if (rc == RIG_OK && r->kind == RIG_ORDER_COMMITS && info->forbids != RIG_FORBIDS_FLOW)
            rc = rig_replay_single(r, info->forbids, info->keeps);
    }
    return rc;
}
enum rig_rc rig_replay(const struct rig_facts *facts, const struct rig_order *order, uint64_t levels,
                       struct rig_err *err)
{
    const enum rig_order_kind kind = order->kind;
    RIG_REQUIRE(levels != 0 && levels >> RIG_PROVED_LEVELS == 0 && kind < RIG_ORDER_KINDS);
    RIG_REQUIRE(order->count < UINT32_MAX && (order->missed_count == 0 || facts->form == RIG_FACTS_ROWS));
    struct rig_replay r = {.facts = facts,
                           .history = facts->history,
                           .kind = kind,
                           .events = order->events,
                           .count = order->count,
                           .missed = order->missed,
                           .missed_count = order->missed_count,
                           .err = err};
    for (int level = 0; level < RIG_PROVED_LEVELS; level++) {
        if ((levels >> level & 1) == 0)
            continue;
        r.in_time = r.in_time || rig_proved_levels[level].keeps == RIG_KEEPS_TIME;
        r.internal = r.internal || rig_proved_levels[level].internal;
        const enum rig_forbids forbids = rig_proved_levels[level].forbids;
        if ((facts->form == RIG_FACTS_OBJECTS && kind != RIG_ORDER_SERIAL) ||
            !(facts->form == RIG_FACTS_SUMS   ? is_for_sums(kind, forbids)
              : facts->form == RIG_FACTS_ROWS ? is_for_rows(kind, forbids)
                                              : is_for(kind, forbids)))
            return rig_fail(err, RIG_E_INPUT, "an order of the kind `%s` does not prove %s", rig_order_kinds[kind],
                            rig_proved_levels[level].name);
        if (facts->history->reads_at_once && (rig_proved_levels_by_operations() >> level & 1) != 0)
            return rig_fail(err, RIG_E_INPUT, "the file does not show the order of reads on which %s rests",
                            rig_proved_levels[level].name);
    }
    const enum rig_rc rc = prove(&r, levels);
    done(&r);
    return rc;
}
