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
#include "base/clock.h"
#include "base/table.h"
#include "base/vec.h"
#include "checker/model/object_words.h"
#include "checker/prove/object_order_search.h"
#include "checker/prove/replay_objects.h"
#include "checker/prove/witness/verify_type.h"
#include "history/types/object_kinds.h"

/*
 * The verifier of objects (verify_type.h): proves again that a prefix of the operations on one object has no order, and
 * that elements were lost, given twice or never added. It shares no code with the search (objects/): the orders are
 * searched anew (object_order_search.h), and nothing follows the events of the history.
 *
 * A history that was checked in windows has forgotten what completed before some position, and of a long one no search
 * may explore all orders. The witness then has the configurations that were possible at a position, as the search found
 * them, and the proof begins with these.
 *
 * Time: at most MOST_SECONDS; a witness whose proof takes longer does not count.
 */

/* The use of the search for an order. */

const char rig_verify_spent[] = "could not be proved within the time for a proof";

/* Proves that the units have no order. Gives what the proof lacks, `has_order` where they have one; NULL: nothing. */
static const char *verify_units(const struct rig_proof *proof, struct rig_order_units *units, uint32_t group_count,
                                bool in_time, const struct rig_search_from *from, const char *has_order)
{
    RIG_REQUIRE(rig_workload_is_object(proof->history->workload));
    enum { MOST_SECONDS = 20, MOST_WORDS = 1 << 26 };
    const struct rig_order_search question = {.history = proof->history,
                                              .units = units,
                                              .group_count = group_count,
                                              .in_time = in_time,
                                              .from = from,
                                              .initial = rig_facts_initial(&proof->raw),
                                              .most_steps = UINT64_MAX,
                                              .most_words = MOST_WORDS,
                                              .deadline_ns = rig_clock_now_ns() + MOST_SECONDS * RIG_NS_PER_S};
    switch (rig_search_order(&question)) {
    case RIG_SEARCH_NO_ORDER:
        return NULL;
    case RIG_SEARCH_ORDER:
        return has_order;
    case RIG_SEARCH_SPENT:
        return rig_verify_spent;
    case RIG_SEARCH_NO_MEMORY:
        break;
    }
    return "could not be proved in the memory there is";
}

/* ---- a prefix of the operations on an object ---- */

static bool finds_unknown(const struct rig_txn_op *op)
{
    return rig_object_takes(op->kind) && op->read_state == RIG_READ_UNKNOWN;
}

/* Leaving out all operations on a value, and takes that found nothing, turns a legal sequence of operations on a queue
 * or a stack into a legal one. A take of unknown result may have taken any value. */
static bool counts(const struct rig_witness *w, uint32_t txn, const struct rig_txn_op *op)
{
    RIG_REQUIRE(w->blocked != NULL);
    bool named = false;
    if (w->blocked->value_count == 0 || finds_unknown(op))
        return true;
    for (uint32_t i = 0; i < w->blocked->value_count; i++)
        named |= op->value == w->blocked->values[i];
    if (!rig_op_reads(op->kind) || op->read_state == RIG_READ_SEEN)
        return named;
    named = false;
    for (uint32_t i = 0; i < w->txn_count; i++)
        named |= w->txns[i] == txn;
    return named;
}

/* Values that may have been added, which a drain of unknown outcome may have taken. */
static uint32_t count_additions(const struct rig_history *history, const struct rig_witness *w)
{
    RIG_REQUIRE(w->key < history->key_count);
    uint32_t additions = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
        for (; op < end && history->txns[txn].outcome != RIG_OUTCOME_FAIL; op++)
            additions += op->key == w->key && !rig_op_reads(op->kind) && counts(w, txn, op);
    }
    return additions;
}

/* Adds the operations of a transaction on the key that belong to the prefix up to position `last`, without those that
 * completed before the proof begins. */
static bool add_txn(const struct rig_history *history, const struct rig_witness *w, uint32_t txn, uint32_t last,
                    struct rig_order_units *units)
{
    RIG_REQUIRE(txn < history->txn_count && w->blocked != NULL);
    const struct rig_txn *t = &history->txns[txn];
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const uint32_t count = rig_txn_op_count(history, txn), end = rig_txn_end(history, txn);
    const struct rig_blocked_from *from = w->blocked->from;
    if (count == 0 || ops->key != w->key || t->outcome == RIG_OUTCOME_FAIL || t->invoke_at > last ||
        (from != NULL && end <= from->position))
        return true;
    const uint32_t each = rig_replay_object_is_drain(history, txn) ? 1 : count;
    const bool open_drain = rig_object_is_open_drain((enum rig_outcome)t->outcome, ops, count);
    const uint32_t most = open_drain ? count_additions(history, w) : count;
    for (uint32_t i = 0; i < most; i += each) {
        const uint32_t at = open_drain ? 0 : i;
        const uint32_t until = w->blocked->value_count > 0 && finds_unknown(ops + at) ? RIG_POSITION_NONE : end;
        const struct rig_order_unit unit = {.first_op = t->first_op + at,
                                            .end_op = t->first_op + at + each,
                                            .begin = t->invoke_at,
                                            .end = until,
                                            .certain = until <= last};
        RIG_INVARIANT(unit.end_op <= history->txns[txn + 1].first_op);
        if (counts(w, txn, ops + at) && !rig_order_units_add(units, unit))
            return false;
    }
    return true;
}

/* The prefix ends with the completion of the blocked operation. */
static const char *check_prefix(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const uint32_t txn = w->txns[0], last = rig_txn_end(history, txn);
    const struct rig_blocked_from *from = w->blocked == NULL ? NULL : w->blocked->from;
    const bool is_row = rig_replay_object_has_row(history->workload);
    struct rig_order_units units = {0};
    bool fits = true;
    if (w->blocked == NULL)
        return "is in an anomaly that objects do not have";
    if (last == RIG_POSITION_NONE || rig_txn_op_count(history, txn) == 0 || rig_txn_ops(history, txn)->key != w->key ||
        history->txns[txn].invoke_at == RIG_POSITION_NONE)
        return "is no operation on the object that completed";
    if (w->blocked->value_count > 0 && !is_row)
        return "is on an object whose values cannot be left out";
    if (from != NULL && is_row)
        return "is on an object that windows carry nothing over of";
    for (uint32_t i = 0; fits && i < history->txn_count; i++)
        fits = add_txn(history, w, i, last, &units);
    const struct rig_search_from begin =
        from == NULL ? (struct rig_search_from){0}
                     : (struct rig_search_from){from->count, from->states, from->sizes, from->first, from->used};
    const char *lacks = fits ? verify_units(proof, &units, 1, true, from == NULL ? NULL : &begin, "can take effect")
                             : "could not be proved in the memory there is";
    rig_order_units_done(&units);
    return lacks;
}

/* ---- the type's functions ---- */

static bool prove_committed(struct rig_proof *proof)
{
    for (uint32_t txn = 0; txn < proof->history->txn_count; txn++)
        proof->committed[txn] = proof->history->txns[txn].outcome == RIG_OUTCOME_OK;
    return true;
}

static const char *check_step(const struct rig_proof *proof, const struct rig_step *step)
{
    (void)proof, (void)step;
    return "is in a step between operations on objects, which have none";
}

/* ---- elements that were lost, given twice or never added ---- */

struct element {
    uint64_t additions, takes; /* that may have happened; that did */
    uint64_t kept;             /* additions acknowledged before `nothing` began */
};

RIG_VEC(struct element, element_vec)

/* The elements of a key, by their values. */
struct elements {
    const struct rig_history *history;
    uint32_t key, nothing; /* a take that found nothing, or UINT32_MAX */
    struct rig_table of_value;
    struct element_vec at;
    uint64_t unknown;    /* takes of unknown result that began before the end of `nothing` */
    bool has_open_drain; /* that began before the end of `nothing` */
};

static struct element *element_of(struct elements *e, int64_t value)
{
    uint32_t *place = rig_table_put(&e->of_value, (uint64_t)value);
    if (place == NULL || (*place == RIG_TABLE_NONE && !element_vec_add(&e->at, (struct element){0})))
        return NULL;
    *place = *place == RIG_TABLE_NONE ? (uint32_t)(e->at.count - 1) : *place;
    RIG_INVARIANT(*place < e->at.count);
    return &e->at.at[*place];
}

static bool count_operation(struct elements *e, uint32_t txn, const struct rig_txn_op *op)
{
    RIG_REQUIRE(op->key == e->key && e->history->txns[txn].outcome != RIG_OUTCOME_FAIL);
    const struct rig_history *history = e->history;
    const bool takes = rig_op_reads(op->kind), is_ok = history->txns[txn].outcome == RIG_OUTCOME_OK;
    const bool gives = takes && is_ok && op->read_state != RIG_READ_UNKNOWN;
    /* One that began after `nothing` had ended found the object without the values that `nothing` missed. */
    const bool began = e->nothing == UINT32_MAX || history->txns[txn].invoke_at < rig_txn_end(history, e->nothing);
    e->has_open_drain |= began && rig_object_is_open_drain((enum rig_outcome)history->txns[txn].outcome,
                                                           rig_txn_ops(history, txn), rig_txn_op_count(history, txn));
    if (takes && !gives && op->read_state != RIG_READ_NIL) /* what found nothing took nothing */
        e->unknown += began;
    if (takes && (!gives || op->read_state != RIG_READ_SEEN))
        return true;
    struct element *element = element_of(e, op->value);
    if (element == NULL)
        return false;
    element->takes += takes;
    element->additions += !takes;
    element->kept +=
        !takes && is_ok && e->nothing != UINT32_MAX && rig_txn_end(history, txn) < history->txns[e->nothing].invoke_at;
    return true;
}

static bool count_elements(struct elements *e)
{
    const struct rig_history *history = e->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
        for (; op < end && history->txns[txn].outcome != RIG_OUTCOME_FAIL; op++) {
            if (op->key == e->key && !count_operation(e, txn, op))
                return false;
        }
    }
    return true;
}

/* The values that were added by then and are missing for good: `nothing` contradicts all but those of unknown takes. */
static const char *check_lost_element(const struct elements *e, const struct element *own, uint64_t wanted)
{
    RIG_REQUIRE(e->nothing < e->history->txn_count);
    uint64_t missing = 0;
    for (size_t i = 0; i < e->at.count; i++) {
        const struct element *one = &e->at.at[i];
        missing += one->kept > one->takes ? one->kept - one->takes : 0;
    }
    if (own->kept <= own->takes || wanted == 0 || missing < e->unknown + wanted || e->has_open_drain)
        return "found it empty when it may have been";
    return NULL;
}

static bool found_nothing(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    RIG_REQUIRE(txn < history->txn_count);
    const uint32_t count = rig_txn_op_count(history, txn);
    const struct rig_txn_op *op =
        rig_txn_ops(history, txn) + (count == 0 ? 0 : count - 1); /* the last one of a drain */
    return history->txns[txn].outcome == RIG_OUTCOME_OK && count > 0 && op->key == key && rig_op_reads(op->kind) &&
           op->read_state == RIG_READ_NIL;
}

static const char *check_element(const struct rig_history *history, const struct rig_witness *w)
{
    const bool is_lost = w->anomaly == RIG_ANOMALY_LOST_ELEMENT;
    struct elements e = {.history = history, .key = w->key, .nothing = is_lost ? w->txns[0] : UINT32_MAX};
    const char *why = NULL;
    if (!rig_replay_object_has_row(history->workload))
        return "is on an object without elements";
    if (is_lost && !found_nothing(history, w->txns[0], w->key))
        return "did not find it empty";
    rig_table_init(&e.of_value);
    const struct element *own = count_elements(&e) ? element_of(&e, w->value) : NULL;
    if (own == NULL)
        why = "could not be proved in the memory there is";
    else if (is_lost)
        why = check_lost_element(&e, own, (uint64_t)w->other_value);
    else if (w->anomaly == RIG_ANOMALY_PHANTOM_ELEMENT && (own->additions > 0 || own->takes == 0))
        why = "took an element that may have been added";
    else if (w->anomaly == RIG_ANOMALY_DUPLICATED_ELEMENT && own->takes <= own->additions)
        why = "took an element that was there";
    rig_table_done(&e.of_value);
    element_vec_done(&e.at);
    return why;
}

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
        lacks = verify_units(proof, &p.units, p.group_count, false, NULL, "has an order with the others");
    step_ops_done(&p.ops);
    rig_order_units_done(&p.units);
    free(p.kept);
    return fits ? lacks : "could not be proved in the memory there is";
}

static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *witness)
{
    switch ((int)witness->anomaly) {
    case RIG_ANOMALY_PHANTOM_ELEMENT:
    case RIG_ANOMALY_DUPLICATED_ELEMENT:
    case RIG_ANOMALY_LOST_ELEMENT:
        return check_element(proof->history, witness);
    case RIG_ANOMALY_NONSEQUENTIAL:
        return rig_verify_object_order(proof, witness);
    case RIG_ANOMALY_NONLINEARIZABLE:
        return check_prefix(proof, witness);
    default:
        return "is in an anomaly that objects do not have";
    }
}

static bool is_acknowledged(const struct rig_proof *proof, const struct rig_step *step)
{
    (void)proof, (void)step;
    return false;
}

const struct rig_type_verifier rig_verify_object = {.prove_committed = prove_committed,
                                                    .check_step = check_step,
                                                    .check_noncyclic = check_noncyclic,
                                                    .is_acknowledged = is_acknowledged};

/* ---- operations that the witness may leave out ---- */

/* ---- operations ---- */
