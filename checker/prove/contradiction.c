#include "checker/prove/contradiction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bug.h"
#include "checker/prove/counter_sums.h"
#include "checker/prove/impossible.h"
#include "checker/prove/proved_levels.h"
#include "checker/prove/row_contradiction.h"
#include "checker/prove/row_impossible.h"

/*
 * Which levels forbid a cycle, by what its steps are (docs/checker/levels.md has the table).
 */

/* The properties of a cycle that the levels distinguish. */
struct rig_cycle_shape {
    size_t count;
    uint32_t ww, wr, rw, process, realtime, silent; /* silent: rw steps out of transactions that write nothing */
    bool acknowledged;                              /* below read committed, too */
    bool versions; /* each wr step enters a read of the version that the step's transaction made */
    bool one_key;
    bool updates;      /* each rw step leaves a transaction that also writes the key of the step */
    bool by_predicate; /* an rw step out of a read that found no row */
    bool adjacent;     /* an rw step after an rw step */
    bool behind_wr;    /* each rw step is after a wr, process or real-time step */
    bool ascending;    /* each rw step leaves an operation after that which the step before, ww or wr, enters; or is
                        * after a process or real-time step, which comes before all operations */
    bool snapshots;    /* each rw step leaves that operation, or one after it */
};

static bool is_forbidden(const struct rig_cycle_shape *s, const struct rig_proved_level *level)
{
    RIG_REQUIRE(s->count >= 2 && level->forbids <= RIG_FORBIDS_ANY);
    if ((s->process > 0 && level->keeps == RIG_KEEPS_NOTHING) || (s->realtime > 0 && level->keeps != RIG_KEEPS_TIME))
        return false;
    if (level->forbids == RIG_FORBIDS_WRITES)
        return s->acknowledged && s->wr + s->rw == 0;
    if (s->rw == 0)
        return true;
    if (s->by_predicate && rig_forbids_items_alone(level->forbids))
        return false;
    switch ((int)level->forbids) {
    case RIG_FORBIDS_CURSOR:
        /* Both write the key of the rw step. In the one order of these writes it has a ww step back, in the other one
         * the two transactions form a cycle of ww steps. */
        return s->count == 2 && s->rw == 1 && s->ww == 1 && (s->one_key || s->updates);
    case RIG_FORBIDS_ATOMIC_LATER:
        return s->count == 2 && s->rw == 1 && s->ww == 0 && s->versions && s->ascending;
    case RIG_FORBIDS_MONOTONIC_VIEW:
        return s->rw == 1 && s->ascending;
    case RIG_FORBIDS_MONOTONIC_READS:
        return s->snapshots;
    case RIG_FORBIDS_SINGLE:
        return s->rw == 1;
    case RIG_FORBIDS_ATOMIC:
        return s->count == 2 && s->rw == 1 && s->ww == 0 && s->versions;
    case RIG_FORBIDS_CAUSAL:
        return s->rw == 1 && s->ww == 0 && s->versions;
    case RIG_FORBIDS_UPDATE_ATOMIC:
        return s->count == 2 && s->rw == 1 && s->versions;
    case RIG_FORBIDS_PREFIX:
        return s->behind_wr;
    case RIG_FORBIDS_SNAPSHOT:
        return !s->adjacent;
    case RIG_FORBIDS_UPDATES:
        return s->silent <= 1;
    case RIG_FORBIDS_ITEMS:
    case RIG_FORBIDS_ANY:
        return true;
    default:
        return false;
    }
}

/* The same of rows: levels that compare operations or keys are left to those below them. */
static uint64_t cycle_forbidden_of_rows(const struct rig_cycle_shape *s)
{
    uint64_t levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++) {
        const enum rig_forbids forbids = rig_proved_levels[i].forbids;
        const bool is_about_states = forbids == RIG_FORBIDS_SINGLE || forbids == RIG_FORBIDS_ATOMIC ||
                                     forbids == RIG_FORBIDS_UPDATE_ATOMIC || forbids == RIG_FORBIDS_CAUSAL ||
                                     forbids == RIG_FORBIDS_PREFIX;
        const bool is_about_cycles = is_about_states || forbids == RIG_FORBIDS_SNAPSHOT ||
                                     forbids == RIG_FORBIDS_ITEMS || forbids == RIG_FORBIDS_ANY;
        if ((s->rw == 0 || is_about_cycles) && is_forbidden(s, &rig_proved_levels[i]))
            levels |= UINT64_C(1) << i;
    }
    return rig_proved_levels_above(levels);
}

/* The levels, as bits, that forbid such a cycle; with each level all stronger ones. */
static uint64_t cycle_forbidden(const struct rig_cycle_shape *s)
{
    uint64_t levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++)
        levels |= (uint64_t)is_forbidden(s, &rig_proved_levels[i]) << i;
    /* Each stronger level forbids it, too. */
    RIG_INVARIANT((rig_proved_levels_above(levels) & ~levels) == 0);
    return levels;
}

const char *const rig_witness_kinds[RIG_WITNESS_KINDS] = {
#define RIG_WITNESS_NAME(id, name) name,
    RIG_WITNESS_LINES(RIG_WITNESS_NAME)
#undef RIG_WITNESS_NAME
};

/* An order, but of rows: versions of `before` come before those of `after`, in all keys that both write: in either case
 * of the two, because they would make a cycle of ww edges otherwise. */
struct open_case {
    struct rig_witness_order supposed;
    size_t order_count; /* orders that hold outside of it */
};

RIG_VEC(struct open_case, open_cases)

struct proof {
    const struct rig_facts *facts;
    const struct rig_history *history;
    const struct rig_witness_line *lines;
    size_t count;
    struct rig_witness_orders orders;
    struct open_cases open;
    uint64_t refuted; /* levels that forbid all cycles so far */
    unsigned assumed;
    bool serial;       /* of rows: each level of the claim has an order of the transactions */
    bool by_predicate; /* of rows: a step of the cycle is */
    struct rig_err *err;
};

static const struct rig_txn_op *op_of(const struct proof *p, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(txn < p->history->txn_count);
    return op < rig_txn_op_count(p->history, txn) ? rig_txn_ops(p->history, txn) + op : NULL;
}

static enum rig_rc refuse(const struct proof *p, const struct rig_witness_line *line, const char *what)
{
    RIG_REQUIRE(line->kind < RIG_WITNESS_KINDS && what != NULL);
    return rig_fail(p->err, RIG_E_INPUT, "%s of T%u and T%u: %s", rig_witness_kinds[line->kind],
                    rig_txn_name(p->history, line->from), rig_txn_name(p->history, line->to), what);
}

static bool writes(const struct proof *p, uint32_t txn, uint32_t key)
{
    RIG_REQUIRE(txn < p->history->txn_count && (key == RIG_FACT_NONE || key < p->history->key_count));
    for (uint32_t op = 0; op < rig_txn_op_count(p->history, txn); op++) {
        const struct rig_txn_op *at = op_of(p, txn, op);
        if (!rig_op_reads(at->kind) && (key == RIG_FACT_NONE || at->key == key))
            return true;
    }
    return false;
}

/* ---- the order of two versions ---- */

/* One list shows the first value before the second one, or without it: lists only grow, so it comes later. */
static bool list_shows(const struct proof *p, uint32_t read, int64_t first, int64_t second)
{
    if (read == RIG_FACT_NONE)
        return false;
    RIG_REQUIRE(read < p->history->op_count && rig_op_reads_sequence(p->history->ops[read].kind));
    const struct rig_read_list list = rig_txn_op_list(p->history, &p->history->ops[read]);
    bool met = false;
    for (uint32_t i = 0; i < list.count; i++) {
        const int64_t value = rig_read_element(&list, i);
        if (value == second)
            return met;
        met = met || value == first;
    }
    return met;
}

/* The last write of the key by the transaction, in history->ops, or RIG_FACT_NONE. */
static uint32_t last_write(const struct proof *p, uint32_t txn, uint32_t key)
{
    RIG_REQUIRE(txn < p->history->txn_count && key < p->history->key_count);
    uint32_t last = RIG_FACT_NONE;
    for (uint32_t op = p->history->txns[txn].first_op; op < p->history->txns[txn + 1].first_op; op++)
        last = !rig_op_reads(p->history->ops[op].kind) && p->history->ops[op].key == key ? op : last;
    RIG_INVARIANT(last == RIG_FACT_NONE || p->history->ops[last].key == key);
    return last;
}

/* The write after the read with which the transaction begins on the key; RIG_FACT_NONE: it begins otherwise. */
static uint32_t first_met(const struct proof *p, uint32_t txn, uint32_t key)
{
    RIG_REQUIRE(txn < p->history->txn_count && p->facts->shape == RIG_RESULT_VALUE);
    const struct rig_txn_op *ops = p->history->ops;
    uint32_t op = p->history->txns[txn].first_op;
    while (op < p->history->txns[txn + 1].first_op && ops[op].key != key)
        op++;
    const bool read =
        op < p->history->txns[txn + 1].first_op && rig_op_reads(ops[op].kind) && ops[op].read_state == RIG_READ_SEEN;
    const struct rig_fact_write *write = read ? rig_facts_writer(p->facts, key, ops[op].value) : NULL;
    return write == NULL ? RIG_FACT_NONE : write->op;
}

/* An assumption orders what one transaction leaves (its last write, else what it read) and what a later one meets (what
 * it reads first, else its last write). A version that is met may be followed by another write of its transaction,
 * which comes later still. The version that is left may be intermediate: it is `write`, or a later one of the same
 * transaction. */
static bool assumed_order(const struct proof *p, const struct rig_witness_line *line, uint32_t before, uint32_t write,
                          uint32_t key)
{
    RIG_REQUIRE(line->reason == RIG_REASON_SEQUENTIAL || line->reason == RIG_REASON_LINEARIZABLE);
    RIG_REQUIRE(line->left < p->history->txn_count && line->met < p->history->txn_count);
    RIG_REQUIRE(write >= p->history->txns[before].first_op && write < p->history->txns[before + 1].first_op);
    const struct rig_txn *left = &p->history->txns[line->left], *met = &p->history->txns[line->met];
    const bool invoked = met->invoke_at != RIG_POSITION_NONE, in_process = line->reason == RIG_REASON_SEQUENTIAL;
    const bool in_turn = in_process && p->history->in_turn;
    const uint32_t begin = invoked && !in_turn ? met->invoke_at : met->complete_at;
    uint32_t earlier = last_write(p, line->left, key), later = first_met(p, line->met, key);
    earlier = earlier == RIG_FACT_NONE ? first_met(p, line->left, key) : earlier;
    later = later == RIG_FACT_NONE ? last_write(p, line->met, key) : later;
    return (p->assumed & RIG_ASSUMES(line->reason)) != 0 && left->outcome == RIG_OUTCOME_OK &&
           met->outcome == RIG_OUTCOME_OK && (in_process ? left->process == met->process : invoked) &&
           left->complete_at < begin && earlier >= write && earlier < p->history->txns[before + 1].first_op &&
           later >= p->history->txns[line->to].first_op && later < p->history->txns[line->to + 1].first_op;
}

/* The transaction `before` made a version of the key by `write`, in history->ops, before that of the line's `to`, for
 * the line's reason. */
static bool known_order(const struct proof *p, const struct rig_witness_line *line, uint32_t before, uint32_t write,
                        uint32_t key)
{
    RIG_REQUIRE(before < p->history->txn_count && line->to < p->history->txn_count);
    if (line->reason == RIG_REASON_UPDATE) {
        const struct rig_txn_op *read = op_of(p, line->to, line->reason_op);
        const bool known = read != NULL && p->facts->shape == RIG_RESULT_VALUE && rig_op_reads(read->kind) &&
                           read->key == key && read->read_state == RIG_READ_SEEN;
        const struct rig_fact_write *met = known ? rig_facts_writer(p->facts, key, read->value) : NULL;
        return met != NULL && met->txn == before && before != line->to;
    }
    if (line->reason == RIG_REASON_SEQUENTIAL || line->reason == RIG_REASON_LINEARIZABLE)
        return p->facts->shape == RIG_RESULT_VALUE && assumed_order(p, line, before, write, key);
    for (size_t i = 0; line->reason == RIG_REASON_CASE && i < p->orders.count; i++) {
        if (p->orders.at[i].before == before && p->orders.at[i].after == line->to && writes(p, before, key))
            return true;
    }
    return false;
}

static const char *check_ww(const struct proof *p, const struct rig_witness_line *line, const struct rig_txn_op *from,
                            const struct rig_txn_op *to)
{
    RIG_REQUIRE(line->kind == RIG_WITNESS_WW && from->key == to->key);
    if (rig_op_reads(from->kind) || rig_op_reads(to->kind))
        return "not two writes";
    if (p->facts->shape == RIG_RESULT_VALUE || line->reason == RIG_REASON_CASE)
        return known_order(p, line, line->from, (uint32_t)(from - p->history->ops), to->key)
                   ? NULL
                   : "no reason for the order of the versions";
    if (p->facts->shape != RIG_RESULT_LIST || rig_facts_contested(p->facts, to->key))
        return "nothing orders the versions of the key";
    return list_shows(p, p->facts->longest_acknowledged[to->key], from->value, to->value) ||
                   list_shows(p, p->facts->longest[to->key], from->value, to->value)
               ? NULL
               : "no read shows the versions in this order";
}

static const char *check_wr(const struct proof *p, const struct rig_txn_op *from, const struct rig_txn_op *to)
{
    RIG_REQUIRE(from->key == to->key);
    return !rig_op_reads(from->kind) && rig_op_reads(to->kind) && rig_shows(p->history, to, from->value)
               ? NULL
               : "the one did not read what the other one wrote";
}

static const char *check_rw(const struct proof *p, const struct rig_witness_line *line, const struct rig_txn_op *from,
                            const struct rig_txn_op *to)
{
    RIG_REQUIRE(line->kind == RIG_WITNESS_RW && from->key == to->key);
    if (!rig_op_reads(from->kind) || rig_op_reads(to->kind) || from->read_state == RIG_READ_UNKNOWN)
        return "not a known read and a write";
    if (p->facts->shape != RIG_RESULT_VALUE)
        return (p->facts->shape == RIG_RESULT_LIST && rig_facts_contested(p->facts, to->key)) ||
                       rig_shows(p->history, from, to->value)
                   ? "the read shows the write, or contradicts other reads"
                   : NULL;
    const struct rig_fact_write *write =
        from->read_state == RIG_READ_SEEN ? rig_facts_writer(p->facts, from->key, from->value) : NULL;
    if (write == NULL) /* the initial state */
        return NULL;
    return write->txn != line->from && known_order(p, line, write->txn, write->op, from->key)
               ? NULL
               : "no reason for the order of the versions";
}

/* ---- cycles ---- */

static const char *check_time(const struct proof *p, const struct rig_witness_line *line)
{
    RIG_REQUIRE(line->kind == RIG_WITNESS_PROCESS || line->kind == RIG_WITNESS_REALTIME);
    const struct rig_txn *from = &p->history->txns[line->from], *to = &p->history->txns[line->to];
    const bool invoked = to->invoke_at != RIG_POSITION_NONE, in_process = line->kind == RIG_WITNESS_PROCESS;
    const bool in_turn = in_process && p->history->in_turn; /* processes complete in their order */
    const uint32_t begin = (invoked || !in_process) && !in_turn ? to->invoke_at : to->complete_at;
    if (in_process && from->process != to->process)
        return "two processes";
    return begin != RIG_POSITION_NONE && rig_txn_end(p->history, line->from) < begin ? NULL
                                                                                     : "the one did not end before";
}

/* A step over rows. */
static const char *check_rows(struct proof *p, const struct rig_witness_line *line)
{
    bool by_predicate;
    const char *lack = rig_row_check_line(p->facts, &p->orders, p->serial, line, &by_predicate);
    p->by_predicate |= by_predicate;
    return lack;
}

static enum rig_rc check_step(struct proof *p, const struct rig_witness_line *line)
{
    RIG_REQUIRE(line->from < p->history->txn_count && line->to < p->history->txn_count);
    const struct rig_txn_op *from = op_of(p, line->from, line->from_op), *to = op_of(p, line->to, line->to_op);
    const char *lack = NULL;
    if (!p->facts->committed[line->from] || !p->facts->committed[line->to] || line->from == line->to)
        lack = "not two transactions that certainly committed";
    else if (line->kind == RIG_WITNESS_PROCESS || line->kind == RIG_WITNESS_REALTIME)
        lack = check_time(p, line);
    else if (from == NULL || to == NULL || from->key != to->key)
        lack = "no such operations of one key";
    else if (p->facts->form == RIG_FACTS_ROWS)
        lack = check_rows(p, line);
    else
        lack = line->kind == RIG_WITNESS_WW   ? check_ww(p, line, from, to)
               : line->kind == RIG_WITNESS_WR ? check_wr(p, from, to)
                                              : check_rw(p, line, from, to);
    if (lack != NULL && lack[0] == '\0')
        return rig_no_memory(p->err, "the proof");
    return lack == NULL ? RIG_OK : refuse(p, line, lack);
}

/* Whether acknowledged reads, or an assumption, order the versions of a ww step below read committed, too. */
static bool is_acknowledged(const struct proof *p, const struct rig_witness_line *step)
{
    RIG_REQUIRE(p->facts->committed[step->from] && p->facts->committed[step->to]);
    if (p->history->txns[step->from].outcome != RIG_OUTCOME_OK || p->history->txns[step->to].outcome != RIG_OUTCOME_OK)
        return false;
    if (step->kind != RIG_WITNESS_WW || p->facts->form == RIG_FACTS_ROWS)
        return true;
    if (p->facts->shape == RIG_RESULT_VALUE) {
        const uint32_t first = p->history->txns[step->to].first_op,
                       write = last_write(p, step->to, p->history->ops[first + step->to_op].key);
        return (p->assumed & RIG_ASSUMES(step->reason)) != 0 &&
               (step->reason != RIG_REASON_UPDATE || first + step->reason_op < write);
    }
    const struct rig_txn_op *from = rig_txn_ops(p->history, step->from) + step->from_op,
                            *to = rig_txn_ops(p->history, step->to) + step->to_op;
    return p->facts->shape == RIG_RESULT_LIST &&
           list_shows(p, p->facts->longest_acknowledged[to->key], from->value, to->value);
}

/* A list also shows the elements of the versions before: to their writers the reader has ww and wr steps. A read that
 * misses a row saw the version of a wr step, or a later one. */
static bool shows_version(const struct proof *p, const struct rig_witness_line *step)
{
    const uint32_t read = p->history->txns[step->to].first_op + step->to_op;
    if (step->kind == RIG_WITNESS_WR && p->facts->form == RIG_FACTS_ROWS)
        return rig_row_line_shows(p->facts, step);
    if (step->kind != RIG_WITNESS_WR || p->facts->shape != RIG_RESULT_LIST)
        return true;
    RIG_INVARIANT(read < p->history->txns[step->to + 1].first_op);
    const struct rig_read_list list = rig_facts_external(p->facts, step->to, read);
    const struct rig_fact_write *write = list.count == 0 ? NULL
                                                         : rig_facts_writer(p->facts, p->history->ops[read].key,
                                                                            rig_read_element(&list, list.count - 1));
    return write != NULL && write->txn == step->from;
}

/* The first operation that a step enters. One of writes holds of all keys that both transactions write: the reverse
 * order of another key would make a cycle of ww steps, which every level from read committed up forbids. */
static uint32_t entered_op(const struct proof *p, const struct rig_witness_line *step)
{
    const struct rig_txn_op *ops = rig_txn_ops(p->history, step->to);
    uint32_t op = 0;
    while (op < step->to_op &&
           (step->kind != RIG_WITNESS_WW || rig_op_reads(ops[op].kind) || !writes(p, step->from, ops[op].key)))
        op++;
    RIG_INVARIANT(op <= step->to_op);
    return op;
}

static struct rig_cycle_shape shape_of(const struct proof *p, const struct rig_witness_line *steps, size_t count)
{
    struct rig_cycle_shape s = {.count = count,
                                .acknowledged = true,
                                .versions = true,
                                .one_key = true,
                                .updates = true,
                                .behind_wr = true,
                                .ascending = true,
                                .snapshots = true};
    uint32_t key = RIG_FACT_NONE;
    for (size_t i = 0; i < count; i++) {
        const struct rig_witness_line *step = &steps[i], *last = &steps[i == 0 ? count - 1 : i - 1];
        const bool orders = step->kind == RIG_WITNESS_PROCESS || step->kind == RIG_WITNESS_REALTIME;
        const uint32_t of = orders ? RIG_FACT_NONE : rig_txn_ops(p->history, step->from)[step->from_op].key;
        s.ww += step->kind == RIG_WITNESS_WW;
        s.wr += step->kind == RIG_WITNESS_WR;
        s.rw += step->kind == RIG_WITNESS_RW;
        s.process += step->kind == RIG_WITNESS_PROCESS;
        s.realtime += step->kind == RIG_WITNESS_REALTIME;
        s.silent += step->kind == RIG_WITNESS_RW && !writes(p, step->from, RIG_FACT_NONE);
        s.acknowledged = s.acknowledged && is_acknowledged(p, step);
        s.versions = s.versions && shows_version(p, step);
        s.one_key = s.one_key && (i == 0 || of == key);
        key = of;
        if (step->kind != RIG_WITNESS_RW)
            continue;
        const bool enters = last->kind == RIG_WITNESS_WW || last->kind == RIG_WITNESS_WR;
        s.by_predicate =
            s.by_predicate || rig_facts_found_no_row(p->facts, p->history->txns[step->from].first_op + step->from_op);
        s.updates = s.updates && writes(p, step->from, of);
        s.adjacent = s.adjacent || last->kind == RIG_WITNESS_RW;
        const bool ordered = last->kind == RIG_WITNESS_PROCESS || last->kind == RIG_WITNESS_REALTIME;
        s.behind_wr = s.behind_wr && (ordered || last->kind == RIG_WITNESS_WR);
        s.ascending = s.ascending && (ordered || (enters && entered_op(p, last) < step->from_op));
        s.snapshots = s.snapshots && (ordered || (enters && entered_op(p, last) <= step->from_op));
    }
    RIG_INVARIANT(s.ww + s.wr + s.rw + s.process + s.realtime == count && s.silent <= count);
    RIG_INVARIANT(s.rw > 0 || (!s.adjacent && !s.by_predicate));
    RIG_INVARIANT(s.snapshots || !s.ascending);
    return s;
}

/* Whether each rw step follows one of process or real-time order: then it leaves a later operation than the one that
 * the cycle enters, whatever the order of the reads. */
static bool follows_order(const struct rig_witness_line *steps, size_t count)
{
    bool follows = true;
    for (size_t i = 0; i < count; i++) {
        const enum rig_witness_kind before = steps[i == 0 ? count - 1 : i - 1].kind;
        follows &= steps[i].kind != RIG_WITNESS_RW || before == RIG_WITNESS_PROCESS || before == RIG_WITNESS_REALTIME;
    }
    return follows;
}

static enum rig_rc check_cycle(struct proof *p, const struct rig_witness_line *steps, size_t count)
{
    enum rig_rc rc = count >= 2 ? RIG_OK : rig_fail(p->err, RIG_E_INPUT, "a cycle has fewer than two steps");
    p->by_predicate = false;
    for (size_t i = 0; rc == RIG_OK && i < count; i++) {
        rc = check_step(p, &steps[i]);
        if (rc == RIG_OK && steps[i].to != steps[i + 1 < count ? i + 1 : 0].from)
            rc = refuse(p, &steps[i], "the next step does not begin where this one ends");
    }
    if (rc != RIG_OK)
        return rc;
    struct rig_cycle_shape shape = shape_of(p, steps, count);
    shape.by_predicate |= p->by_predicate;
    p->refuted &= p->facts->form == RIG_FACTS_ROWS ? cycle_forbidden_of_rows(&shape) : cycle_forbidden(&shape);
    if (p->history->reads_at_once && !follows_order(steps, count))
        p->refuted &= ~rig_proved_levels_by_operations();
    return RIG_OK;
}

/* ---- proofs by cases ---- */

/* The levels at which either of two transactions comes before the other one: as a whole, or the reads of one before the
 * commit of the other one. */
static uint64_t levels_with_row_cases(bool serial)
{
    uint64_t levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++) {
        const enum rig_forbids forbids = rig_proved_levels[i].forbids;
        if (forbids == RIG_FORBIDS_ANY || (forbids == RIG_FORBIDS_SNAPSHOT && !serial))
            levels |= UINT64_C(1) << i;
    }
    return levels;
}

static enum rig_rc suppose(struct proof *p, const struct rig_witness_line *line)
{
    RIG_REQUIRE(line->kind >= RIG_WITNESS_READS && line->kind <= RIG_WITNESS_SUPPOSE);
    const bool of_rows = p->facts->form == RIG_FACTS_ROWS;
    const struct rig_witness_order supposed = {line->from, line->to,
                                               line->kind == RIG_WITNESS_READS     ? line->from
                                               : line->kind == RIG_WITNESS_COMMITS ? line->to
                                                                                   : RIG_FACT_NONE};
    if (of_rows ? (line->kind == RIG_WITNESS_SUPPOSE) != p->serial : line->kind != RIG_WITNESS_SUPPOSE)
        return refuse(p, line, "the levels have no such case");
    if (of_rows)
        p->refuted &= levels_with_row_cases(p->serial);
    if (p->facts->shape == RIG_RESULT_SET || line->from == line->to || !p->facts->committed[line->from] ||
        !p->facts->committed[line->to])
        return refuse(p, line, "not two transactions that certainly committed and wrote versions");
    return open_cases_add(&p->open, (struct open_case){supposed, p->orders.count}) &&
                   rig_witness_orders_add(&p->orders, supposed)
               ? RIG_OK
               : rig_no_memory(p->err, "the proof");
}

/* A cycle refutes what was supposed last; outside of all cases it ends the proof. */
static enum rig_rc conclude(struct proof *p, bool is_last)
{
    if (p->open.count == 0)
        return is_last ? RIG_OK : rig_fail(p->err, RIG_E_INPUT, "the witness goes on after its last cycle");
    const struct open_case closed = p->open.at[--p->open.count];
    RIG_INVARIANT(closed.order_count < p->orders.count);
    p->orders.count = closed.order_count;
    p->orders.at[p->orders.count++] =
        (struct rig_witness_order){closed.supposed.after, closed.supposed.before, closed.supposed.reader};
    return is_last ? rig_fail(p->err, RIG_E_INPUT, "the witness ends within a case") : RIG_OK;
}

static enum rig_rc check_lines(struct proof *p)
{
    size_t first = 0; /* of the steps that belong to no cycle yet */
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; rc == RIG_OK && i < p->count; i++) {
        const struct rig_witness_line *line = &p->lines[i];
        if (line->kind == RIG_WITNESS_CYCLE) {
            rc = check_cycle(p, p->lines + first, i - first);
            if (rc == RIG_OK)
                rc = conclude(p, i + 1 == p->count);
            first = i + 1;
        } else if (line->kind >= RIG_WITNESS_READS && line->kind <= RIG_WITNESS_SUPPOSE) {
            rc = first == i ? suppose(p, line) : refuse(p, line, "steps without a cycle come before it");
            first = i + 1;
        } else if (line->kind > RIG_WITNESS_SUPPOSE) {
            rc = refuse(p, line, "an impossible read stands alone");
        }
    }
    if (rc == RIG_OK && (p->count == 0 || p->lines[p->count - 1].kind != RIG_WITNESS_CYCLE))
        rc = rig_fail(p->err, RIG_E_INPUT, "the witness does not end with a cycle");
    RIG_INVARIANT(rc != RIG_OK || p->open.count == 0);
    return rc;
}

enum rig_rc rig_contradict(const struct rig_facts *facts, uint64_t levels, unsigned assumed,
                           const struct rig_witness_lines *lines, struct rig_err *err)
{
    RIG_REQUIRE(levels != 0 && levels >> RIG_PROVED_LEVELS == 0);
    RIG_REQUIRE((facts->form != RIG_FACTS_VERSIONS && facts->form != RIG_FACTS_ROWS) || facts->committed != NULL);
    struct proof p = {.facts = facts,
                      .history = facts->history,
                      .lines = lines->at,
                      .count = lines->count,
                      .refuted = ~UINT64_C(0),
                      .assumed = assumed,
                      .err = err};
    struct rig_impossible found = {.levels = ~UINT64_C(0)};
    enum rig_rc rc;
    p.serial = true;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++)
        p.serial &= (levels >> i & 1) == 0 || rig_proved_levels[i].forbids == RIG_FORBIDS_ANY;
    if (facts->form == RIG_FACTS_SUMS && lines->count == 1 && lines->at[0].kind > RIG_WITNESS_SUPPOSE)
        rc = rig_impossible_sum(facts, &lines->at[0], &p.refuted, err);
    else if (facts->form == RIG_FACTS_ROWS && (lines->count != 1 || lines->at[0].kind <= RIG_WITNESS_SUPPOSE))
        rc = check_lines(&p);
    else if (facts->form == RIG_FACTS_ROWS)
        rc = rig_impossible_row(facts, &lines->at[0], &p.refuted, err);
    else if (facts->form != RIG_FACTS_VERSIONS)
        rc = rig_fail(err, RIG_E_INPUT, "a history of this type has no such witness");
    else if (lines->count == 1 && lines->at[0].kind > RIG_WITNESS_SUPPOSE)
        rc = rig_impossible_read(facts, &lines->at[0], NULL, &found, err);
    else
        rc = check_lines(&p);
    p.refuted &= found.levels;
    if (facts->history->reads_at_once && lines->count == 1)
        p.refuted &= ~rig_proved_levels_by_operations();
    const uint64_t left = levels & ~rig_proved_levels_above(p.refuted);
    for (int i = 0; rc == RIG_OK && i < RIG_PROVED_LEVELS; i++) {
        if ((left >> i & 1) != 0)
            rc = rig_fail(err, RIG_E_INPUT, "the witness does not refute %s", rig_proved_levels[i].name);
    }
    rig_witness_orders_done(&p.orders);
    open_cases_done(&p.open);
    return rc;
}
