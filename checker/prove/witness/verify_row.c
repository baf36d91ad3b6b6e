/*
 * Proving witnesses over rows from the raw history (history/types/row_ops.h).
 *
 * A wr step must show a read with the version; a ww step a statement that replaced it; an rw step a read of a version
 * and a statement that replaced it. An rw step by a predicate must show a read without a row, and that the row met the
 * condition in each of its versions from the one of the next transaction on: all statements that certainly or possibly
 * touched the row are collected again from the history, and put in order by the versions that they replaced. A wr step
 * of a read without a row that was there from the start must show that the row met the condition in each version before
 * the one that the step names, and not in that one.
 */
#include <stdlib.h>

#include "base/bug.h"
#include "checker/prove/commits.h"
#include "checker/prove/row_chain.h"
#include "checker/prove/witness/verify_row_turn.h"
#include "checker/prove/witness/verify_type.h"
#include "history/types/row_ops.h"

static bool prove_committed(struct rig_proof *proof)
{
    return rig_commits_prove(proof->history, RIG_OP_ROW, rig_row_follow_reads, NULL, proof->committed) &&
           rig_verify_row_certified(proof);
}

/* ---- steps of reads without a row ---- */

static struct rig_row_miss miss_of(const struct rig_proof *proof, uint32_t txn, uint32_t op, uint32_t key, int64_t id)
{
    return (struct rig_row_miss){
        .history = proof->history, .committed = proof->committed, .txn = txn, .op = op, .key = key, .id = id};
}

static const char *check_missed(const struct rig_proof *proof, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_RW && step->absent);
    const struct rig_history *history = proof->history;
    const struct rig_row_miss miss = miss_of(proof, step->from, step->from_op, step->key, step->from_value);
    const char *lacks = rig_row_check_before(&miss, step->to_value);
    if (lacks != NULL)
        return lacks;
    const struct rig_row_where condition = rig_row_asked_at(rig_txn_ops(history, step->from), step->from_op);
    if ((condition.column == RIG_ROW_BY_KEY) == step->by_predicate)
        return "missed a row by its key, or by a predicate, and not as the step has it";
    if (rig_row_statement_in(history, step->to, step->key, step->to_value) != step->to_op)
        return "is followed by one without the statement";
    return NULL;
}

/* ---- steps of cases ---- */

static bool is_supposed(const void *step, uint32_t txn)
{
    return txn == ((const struct rig_step *)step)->order_txn;
}

static const char *check_chosen(const struct rig_proof *proof, const struct rig_step *step)
{
    const bool before = step->kind == RIG_EDGE_RW;
    if (!before && !step->absent)
        return step->from == step->order_txn ? NULL : "is in a step that its case does not give";
    const struct rig_row_miss miss = before ? miss_of(proof, step->from, step->from_op, step->key, step->from_value)
                                            : miss_of(proof, step->to, step->to_op, step->key, step->to_value);
    return before ? rig_row_check_absent(&miss)
                  : rig_row_check_stretch(&miss, is_supposed, step, step->from, step->from_value);
}

/* ---- steps ---- */

static const char *check_replaced(const struct rig_proof *proof, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_RW && !step->absent);
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *read = rig_row_known_read(history, step->from, step->from_op, step->key, false);
    const struct rig_txn_op *replaces =
        rig_row_replacing_read(history, step->to, step->to_op, step->key, step->to_value);
    if (read == NULL || replaces == NULL)
        return "has a step without its reads";
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const int64_t id = rig_read_element(&list, at), version = rig_read_element(&list, at + 1);
        if (version == step->from_value && rig_row_count_shown(history, replaces, &id, &version) > 0)
            return NULL;
    }
    return rig_row_is_overwritten(history, proof->committed, read, step->from_value, replaces, step->to_value)
               ? NULL
               : "read no row that the next one replaced";
}

static const char *check_step(const struct rig_proof *proof, const struct rig_step *step)
{
    const struct rig_history *history = proof->history;
    if (step->by_snapshot)
        return rig_verify_row_turn(history, step);
    if (step->kind == RIG_EDGE_RW && step->by_predicate && !step->absent)
        return "has a step by a predicate that misses nothing";
    if (step->kind == RIG_EDGE_RW)
        return step->absent ? check_missed(proof, step) : check_replaced(proof, step);
    if (rig_row_statement_in(history, step->from, step->key, step->from_value) == UINT32_MAX)
        return "has a step whose version it did not write";
    if (step->absent) {
        const struct rig_row_miss miss = miss_of(proof, step->to, step->to_op, step->key, step->to_value);
        return step->kind == RIG_EDGE_WR ? rig_row_check_gone(&miss, step->from_value) : "has a step without its read";
    }
    const struct rig_txn_op *read =
        step->kind == RIG_EDGE_WW ? rig_row_replacing_read(history, step->to, step->to_op, step->key, step->to_value)
                                  : rig_row_known_read(history, step->to, step->to_op, step->key, false);
    if (read == NULL)
        return "is followed by one without the read";
    const uint32_t written = rig_row_statement_in(history, step->from, step->key, step->from_value);
    return rig_row_count_shown(history, read, NULL, &step->from_value) > 0 ||
                   (step->kind == RIG_EDGE_WW &&
                    rig_row_is_rewritten(history, proof->committed, step->from, written, read, step->to_value))
               ? NULL
               : "is followed by one that read another version";
}

/* ---- non-cyclic anomalies ---- */

/* Whether the statement wrote this row, or may have. */
static bool wrote(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t number, int64_t id)
{
    const uint32_t op = rig_row_statement_in(history, txn, key, number);
    if (op == UINT32_MAX)
        return false;
    if (rig_row_inserts(number))
        return number == id;
    const struct rig_txn_op *read = op == 0 ? NULL : rig_row_known_read(history, txn, op - 1, key, false);
    return read == NULL || rig_row_count_shown(history, read, &id, NULL) > 0;
}

static const char *check_garbage(const struct rig_history *history, const struct rig_witness *w)
{
    bool version = false, row = false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        version |= wrote(history, txn, w->key, w->value, w->other_value);
        row |= rig_row_statement_in(history, txn, w->key, w->other_value) != UINT32_MAX;
    }
    return version && row && rig_row_action(w->value) != RIG_ROWS_DELETE ? "read a version that a statement wrote"
                                                                         : NULL;
}

/* Its last own statement on the row before the read made another version, which meets the condition. */
static const char *check_internal(const struct rig_history *history, const struct rig_witness *w, bool shown)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, w->txns[0]);
    const struct rig_row_where condition = rig_row_asked_by(history, w->txns[0], w->op);
    if (w->other_op >= w->op || !rig_row_op_writes(&ops[w->other_op]) || ops[w->other_op].key != w->key ||
        !wrote(history, w->txns[0], w->key, ops[w->other_op].value, w->other_value))
        return "had not written the row itself";
    for (uint32_t i = w->other_op + 1; i < w->op; i++) {
        if (rig_row_op_writes(&ops[i]) && ops[i].key == w->key &&
            wrote(history, w->txns[0], w->key, ops[i].value, w->other_value))
            return "had written the row again";
    }
    if (shown)
        return ops[w->other_op].value != w->value ? NULL : "read its own version";
    return !condition.is_partial && rig_row_meets_at(history, &condition, w->key, w->other_value,
                                                     ops[w->other_op].value) == RIG_ROW_IS_MET
               ? NULL
               : "had left a row that does not match";
}

static const char *check_replaced_by(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    if (w->txn_count != 2 || w->other_op == 0 || w->other_op >= rig_txn_op_count(history, w->txns[1]) ||
        !proof->committed[w->txns[1]])
        return "is alone";
    const struct rig_txn_op *other = rig_txn_ops(history, w->txns[1]) + w->other_op;
    const struct rig_txn_op *read = rig_row_replacing_read(history, w->txns[1], w->other_op - 1, w->key,
                                                           other->kind == RIG_OP_ROW ? other->value : 0);
    return read != NULL && rig_row_count_shown(history, read, &w->other_value, &w->value) > 0
               ? NULL
               : "read a version that the other one did not replace";
}

static const char *check_lost(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, w->txns[0]);
    const bool replaces = w->op + 1 < rig_txn_op_count(history, w->txns[0]) && rig_row_op_writes(&ops[w->op + 1]) &&
                          ops[w->op + 1].key == w->key && !rig_row_inserts(ops[w->op + 1].value);
    return replaces ? check_replaced_by(proof, w) : "did not replace the version";
}

/* ---- constraints ---- */

/* Moments as in infer/row_constraints.c: just after the event at a position of the history. */
#define AFTER_LOAD (UINT32_MAX - 1)
#define NO_END     UINT32_MAX

/* From `from` on, before `to`. */
struct period {
    uint32_t from, to;
};

static bool ended_well(const struct rig_txn *txn)
{
    return txn->outcome == RIG_OUTCOME_OK && txn->complete_at != RIG_POSITION_NONE;
}

static uint32_t invoked_at(const struct rig_txn *txn)
{
    return txn->invoke_at == RIG_POSITION_NONE ? 0 : txn->invoke_at;
}

/* The transaction that removed the row; UINT32_MAX: none did. False: not known, or memory ran out. */
static bool find_remover(const struct rig_proof *proof, uint32_t key, int64_t id, uint32_t *remover)
{
    struct rig_row_touches all = {0};
    const char *lacks = rig_row_touches_collect(proof->history, proof->committed, key, id, &all);
    struct rig_row_walk walk = rig_row_walk_along(proof->history, key, &all);
    while (lacks == NULL && rig_row_walk_on(&walk, &lacks))
        ;
    const bool known = lacks == NULL && all.count > 0;
    *remover = known && rig_row_action(walk.version) == RIG_ROWS_DELETE ? walk.txn : UINT32_MAX;
    rig_row_touches_done(&all);
    return known;
}

/* When the row that the transaction inserted certainly was there: empty where that is not known. */
static struct period certainly_there(const struct rig_proof *proof, uint32_t txn, uint32_t key, int64_t id)
{
    const struct rig_history *history = proof->history;
    uint32_t remover;
    if (!rig_row_is_number(id) || rig_row_class(id) != RIG_ROW_KEYED_CLASS || !proof->committed[txn] ||
        rig_row_statement_in(history, txn, key, id) == UINT32_MAX || !find_remover(proof, key, id, &remover))
        return (struct period){0, 0};
    const struct rig_txn *by = &history->txns[txn];
    const uint32_t from = ended_well(by) ? by->complete_at : AFTER_LOAD;
    return (struct period){from, remover == UINT32_MAX ? NO_END : invoked_at(&history->txns[remover])};
}

/* When it may have been there. */
static struct period possibly_there(const struct rig_proof *proof, uint32_t txn, uint32_t key, int64_t id)
{
    const struct rig_txn *by = &proof->history->txns[txn];
    const uint32_t from = invoked_at(by);
    uint32_t remover;
    if (by->outcome == RIG_OUTCOME_FAIL && !proof->committed[txn])
        return (struct period){0, 0};
    if (!proof->committed[txn] || !find_remover(proof, key, id, &remover) || remover == UINT32_MAX)
        return (struct period){from, NO_END};
    const struct rig_txn *end = &proof->history->txns[remover];
    return (struct period){from, ended_well(end) ? end->complete_at : AFTER_LOAD};
}

static uint32_t keyed_code(int64_t number, uint32_t column)
{
    return rig_row_column_code((uint32_t)rig_row_payload(number), column);
}

static const char *check_unique(const struct rig_proof *proof, const struct rig_witness *w)
{
    if (w->txn_count != 2 || w->value == w->other_value)
        return "did not leave two rows";
    const struct period a = certainly_there(proof, w->txns[0], w->key, w->value);
    const struct period b = certainly_there(proof, w->txns[1], w->key, w->other_value);
    if (a.from >= a.to || b.from >= b.to || a.from >= b.to || b.from >= a.to)
        return "did not leave two rows that were there at one moment";
    const uint32_t code = keyed_code(w->value, RIG_ROW_UNIQUE);
    return code != RIG_ROW_NULL && code == keyed_code(w->other_value, RIG_ROW_UNIQUE)
               ? NULL
               : "left rows with different values";
}

/* Whether no row with the value may have been there at the moment. */
static bool is_unmatched(const struct rig_proof *proof, uint32_t key, uint32_t code, uint32_t moment)
{
    const struct rig_history *history = proof->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            const int64_t id = ops[i].value;
            if (!rig_row_op_writes(&ops[i]) || ops[i].key != key || rig_row_class(id) != RIG_ROW_KEYED_CLASS ||
                keyed_code(id, RIG_ROW_UNIQUE) != code)
                continue;
            const struct period there = possibly_there(proof, txn, key, id);
            if (there.from <= moment && moment < there.to)
                return false;
        }
    }
    return true;
}

/* When the row that the other transaction removed, the last one with the value, was gone. False: it did not. */
static bool find_gone(const struct rig_proof *proof, const struct rig_witness *w, uint32_t code, uint32_t *gone)
{
    const struct rig_history *history = proof->history;
    uint32_t by = 0, remover;
    while (by < history->txn_count && rig_row_statement_in(history, by, w->key, w->other_value) == UINT32_MAX)
        by++;
    if (by == history->txn_count || rig_row_class(w->other_value) != RIG_ROW_KEYED_CLASS ||
        keyed_code(w->other_value, RIG_ROW_UNIQUE) != code || !find_remover(proof, w->key, w->other_value, &remover) ||
        remover != w->txns[1])
        return false;
    *gone = possibly_there(proof, by, w->key, w->other_value).to;
    return true;
}

/* Each row with the value was gone, was not there yet, or certainly never committed. */
static const char *check_reference(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct period there = certainly_there(proof, w->txns[0], w->key, w->value);
    if (there.from >= there.to)
        return "did not leave the row";
    const uint32_t code = keyed_code(w->value, RIG_ROW_REFERENCE);
    uint32_t gone = there.from;
    if (code == RIG_ROW_NULL)
        return "left a row that refers to nothing";
    if (w->txn_count == 2 && !find_gone(proof, w, code, &gone))
        return "left a row, and the other one did not remove the row to which it refers";
    const uint32_t moment = gone > there.from ? gone : there.from;
    if (moment >= there.to)
        return "left a row that was gone before the one to which it refers";
    return is_unmatched(proof, w->key, code, moment) ? NULL : "left a row that refers to one that may be there";
}

/* The transaction left the row with these contents, which follow from the statements of the row. */
static const char *check_check(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const uint32_t txn = w->txns[0];
    if (!proof->committed[txn] || w->op >= rig_txn_op_count(history, txn))
        return "did not leave the row";
    const struct rig_txn_op *by = &rig_txn_ops(history, txn)[w->op];
    if (!rig_row_op_writes(by) || by->key != w->key)
        return "did not leave the row";
    const uint32_t contents = rig_row_contents_at_version(history, w->key, w->value, by->value);
    if (contents == RIG_ROW_CONTENTS_UNKNOWN || (int64_t)contents != w->other_value)
        return "left the row with other contents, or such as are not known";
    return rig_row_keeps_check(contents) && !rig_row_inserts_null_guard(by->value) ? "left a row that keeps its checks"
                                                                                   : NULL;
}

static const char *check_broken(const struct rig_proof *proof, const struct rig_witness *w)
{
    if (w->anomaly == RIG_ANOMALY_BROKEN_CHECK)
        return check_check(proof, w);
    if (proof->history->truncated || proof->history->lost_count > 0)
        return "is in a history without its end";
    return w->anomaly == RIG_ANOMALY_BROKEN_UNIQUE ? check_unique(proof, w) : check_reference(proof, w);
}

/* The row was there from the start, and met the condition at each version that the read can have seen. */
static const char *check_never_missed(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_row_miss miss = miss_of(proof, w->txns[0], w->op, w->key, w->other_value);
    return rig_row_check_gone(&miss, 0);
}

static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    if (rig_anomaly_is_of_constraint(w->anomaly))
        return check_broken(proof, w);
    const struct rig_txn_op *read =
        rig_row_known_read(history, w->txns[0], w->op, w->key, w->anomaly == RIG_ANOMALY_INTERNAL);
    if (w->anomaly == RIG_ANOMALY_PREDICATE_READ_MISS)
        return check_never_missed(proof, w);
    if (read == NULL)
        return "made no such read";
    const uint32_t count = rig_row_count_shown(history, read, &w->other_value, &w->value);
    const struct rig_row_where condition = rig_row_asked_by(history, w->txns[0], w->op);
    if (w->anomaly == RIG_ANOMALY_INTERNAL)
        return check_internal(history, w, count > 0);
    if (count == 0)
        return "did not read the version";
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        return rig_row_count_shown(history, read, &w->other_value, NULL) > 1 ? NULL : "read the row once";
    case RIG_ANOMALY_GARBAGE_READ:
        return check_garbage(history, w);
    case RIG_ANOMALY_PREDICATE_MISMATCH:
        return rig_row_meets_at(history, &condition, w->key, w->other_value, w->value) == RIG_ROW_IS_UNMET
                   ? NULL
                   : "read a row that meets the condition, or whose contents are not known";
    case RIG_ANOMALY_FUTURE_READ: {
        const uint32_t own = rig_row_statement_in(history, w->txns[0], w->key, w->value);
        return own != UINT32_MAX && own > w->op ? NULL : "did not write the version later";
    }
    case RIG_ANOMALY_G1A:
        if (w->txn_count != 2 || !wrote(history, w->txns[1], w->key, w->value, w->other_value))
            return "did not read a version of the other transaction";
        return history->txns[w->txns[1]].outcome == RIG_OUTCOME_FAIL ? NULL : "read from one that did not fail";
    case RIG_ANOMALY_G1B:
        if (w->txn_count != 2 || !wrote(history, w->txns[1], w->key, w->value, w->other_value))
            return "did not read a version of the other transaction";
        return check_replaced_by(proof, w);
    case RIG_ANOMALY_LOST_UPDATE:
        return check_lost(proof, w);
    default:
        return "shows an anomaly that rows cannot show without a cycle";
    }
}

static bool is_acknowledged(const struct rig_proof *proof, const struct rig_step *step)
{
    return proof->history->txns[step->to].outcome == RIG_OUTCOME_OK;
}

const struct rig_type_verifier rig_verify_row = {.prove_committed = prove_committed,
                                                 .check_step = check_step,
                                                 .check_chosen = check_chosen,
                                                 .check_noncyclic = check_noncyclic,
                                                 .check_discrepancy = rig_verify_row_discrepancy,
                                                 .is_acknowledged = is_acknowledged};
