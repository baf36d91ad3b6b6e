/*
 * The verifier of objects that are not sequentially consistent (verify_type.h): proves again that the operations of a
 * witness have no order that keeps the order of each process and explains their results. It shares no code with the
 * search (objects/object_sessions.c).
 *
 * The witness may leave out what any order of the others remains an order without: operations that only observe, and
 * writes of a register whose values no other operation of the witness observes.
 */
#include <stdlib.h>

#include "base/bug.h"
#include "base/vec.h"
#include "checker/model/object_words.h"
#include "checker/prove/replay_object.h"
#include "checker/prove/witness/verify_object.h"
#include "checker/prove/witness/verify_type.h"

/* A named operation. */
struct step_op {
    uint32_t txn, at; /* at: position */
    int32_t process;
    bool unknown;
};

RIG_VEC(struct step_op, step_ops)

struct proving {
    const struct rig_history *history;
    const struct rig_witness *witness;
    bool *kept;          /* per transaction */
    struct step_ops ops; /* by process; those of unknown outcome after all others */
    struct rig_order_units units;
    uint32_t group_count;
};

/* ---- operations that the witness may leave out ---- */

static bool is_in_scope(const struct proving *p, uint32_t txn)
{
    RIG_REQUIRE(txn < p->history->txn_count);
    const struct rig_txn *t = &p->history->txns[txn];
    return t->outcome != RIG_OUTCOME_FAIL && rig_txn_op_count(p->history, txn) > 0 &&
           (p->witness->key == UINT32_MAX || rig_txn_ops(p->history, txn)->key == p->witness->key);
}

static bool only_observes(const struct rig_history *history, uint32_t txn)
{
    RIG_REQUIRE(rig_txn_op_count(history, txn) > 0);
    return rig_ops_observe(history, history->txns[txn].first_op, history->txns[txn + 1].first_op);
}

/* Whether an operation that the witness keeps begins with a read or an expectation of what this one writes. */
static bool is_observed(const struct proving *p, const struct rig_txn_op *write)
{
    RIG_REQUIRE(write->kind == RIG_OP_WRITE);
    for (size_t i = 0; i < p->ops.count; i++) {
        const struct rig_txn_op *op = rig_txn_ops(p->history, p->ops.at[i].txn);
        const int64_t value = op->read_state == RIG_READ_NIL ? rig_object_nil(p->history->workload) : op->value;
        if (op->key == write->key && rig_op_observes(op) && value == write->value &&
            (!rig_op_reads(op->kind) || op->read_state != RIG_READ_UNKNOWN))
            return true;
    }
    return false;
}

static bool may_be_left_out(const struct proving *p, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(p->history, txn);
    const enum rig_workload workload = p->history->workload;
    if (only_observes(p->history, txn))
        return true;
    return (workload == RIG_WORKLOAD_CAS_REGISTER || workload == RIG_WORKLOAD_MUTEX) &&
           rig_txn_op_count(p->history, txn) == 1 && ops->kind == RIG_OP_WRITE && !is_observed(p, ops);
}

/* ---- operations ---- */

/* Those of unknown outcome come last. */
static int compare_ops(const void *left, const void *right)
{
    const struct step_op *a = left, *b = right;
    if (a->unknown != b->unknown)
        return a->unknown ? 1 : -1;
    if (a->process != b->process)
        return a->process > b->process ? 1 : -1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Adds the operation to the group of its process: a certain one has the next place in it, one of unknown outcome comes
 * after those that its process completed before. */
static bool add_unit(struct proving *p, size_t number)
{
    RIG_REQUIRE(number < p->ops.count && p->units.count == number);
    const struct step_op *op = &p->ops.at[number];
    const struct rig_txn *txn = &p->history->txns[op->txn];
    struct rig_order_unit unit = {
        .first_op = txn->first_op, .end_op = txn[1].first_op, .group = p->group_count, .certain = !op->unknown};
    for (size_t i = op->unknown ? 0 : number - (number > 0); i < number; i++) {
        const struct step_op *other = &p->ops.at[i];
        if (other->unknown || other->process != op->process)
            continue;
        unit.group = p->units.at[i].group;
        if (!op->unknown)
            unit.begin = p->units.at[i].begin + 1;
        else
            unit.begin += p->history->txns[other->txn].complete_at < op->at;
    }
    unit.end = op->unknown ? UINT32_MAX : unit.begin;
    RIG_INVARIANT(unit.group <= p->group_count && unit.begin <= unit.end);
    p->group_count += unit.group == p->group_count;
    return rig_order_units_add(&p->units, unit);
}

/* Collects the operations. Gives what the proof lacks before it begins; NULL: nothing. */
static const char *collect(struct proving *p, bool *fits)
{
    const struct rig_history *history = p->history;
    for (uint32_t i = 0; i < p->witness->txn_count; i++) {
        const uint32_t txn = p->witness->txns[i];
        const struct rig_txn *t = &history->txns[txn];
        if (txn >= history->txn_count || !is_in_scope(p, txn) || p->kept[txn])
            return "is no operation on the object, or named twice";
        if (rig_replay_object_is_drain(history, txn))
            return "takes several values in an order that is not known";
        const struct step_op op = {.txn = txn,
                                   .at = t->invoke_at == RIG_POSITION_NONE ? t->complete_at : t->invoke_at,
                                   .process = t->process,
                                   .unknown = t->outcome == RIG_OUTCOME_INFO};
        p->kept[txn] = true;
        *fits &= (op.unknown && only_observes(history, txn)) || step_ops_add(&p->ops, op);
    }
    for (uint32_t txn = 0; *fits && txn < history->txn_count; txn++) {
        if (is_in_scope(p, txn) && !p->kept[txn] && !may_be_left_out(p, txn))
            return "leaves out an operation that changes the object";
    }
    if (*fits && p->ops.count > 1)
        qsort(p->ops.at, p->ops.count, sizeof *p->ops.at, compare_ops);
    for (size_t i = 0; *fits && i < p->ops.count; i++)
        *fits = add_unit(p, i);
    return NULL;
}

const char *rig_verify_object_order(const struct rig_proof *proof, const struct rig_witness *witness)
{
    const struct rig_history *history = proof->history;
    struct proving p = {
        .history = history, .witness = witness, .kept = calloc((size_t)history->txn_count + 1, sizeof *p.kept)};
    bool fits = p.kept != NULL;
    const char *lacks = fits ? collect(&p, &fits) : NULL;
    if (fits && lacks == NULL)
        lacks = rig_verify_units(proof, &p.units, p.group_count, NULL, "has an order with the others");
    step_ops_done(&p.ops);
    rig_order_units_done(&p.units);
    free(p.kept);
    return fits ? lacks : "could not be proved in the memory there is";
}
