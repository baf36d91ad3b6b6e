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
#include "checker/prove/witness/verify_row_turn.h"
#include "checker/prove/witness/verify_type.h"
#include "history/types/row_ops.h"

static bool is_write(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ROW && op->value > 0;
}

static struct rig_row_where condition_at(const struct rig_txn_op *ops, uint32_t op)
{
    RIG_REQUIRE(ops[op].kind == RIG_OP_READ_WHERE);
    struct rig_row_where condition = rig_row_all();
    if (op > 0 && ops[op - 1].kind == RIG_OP_ROW && ops[op - 1].key == ops[op].key)
        (void)rig_row_condition_of(ops[op - 1].value, &condition);
    return condition;
}

/* The transaction's read of the table with a known result, or NULL; rows, unless a count may do. */
static const struct rig_txn_op *known_read(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key,
                                           bool or_count)
{
    if (txn >= history->txn_count || op >= rig_txn_op_count(history, txn))
        return NULL;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const bool fits = ops[op].kind == RIG_OP_READ_WHERE && ops[op].read_state != RIG_READ_UNKNOWN &&
                      ops[op].key == key && (or_count || condition_at(ops, op).form == RIG_ROW_LISTED);
    return fits ? &ops[op] : NULL;
}

/* How often the read shows the row; at any version, where `version` is NULL. */
static uint32_t count_shown(const struct rig_history *history, const struct rig_txn_op *read, const int64_t *id,
                            const int64_t *version)
{
    RIG_REQUIRE(read->kind == RIG_OP_READ_WHERE);
    const struct rig_read_list list = rig_txn_op_list(history, read);
    uint32_t count = 0;
    for (uint32_t at = 0; at + 1 < list.count; at += 2)
        count += (id == NULL || rig_read_element(&list, at) == *id) &&
                 (version == NULL || rig_read_element(&list, at + 1) == *version);
    return count;
}

/* The place of the statement in its transaction, or UINT32_MAX. */
static uint32_t statement_in(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t number)
{
    if (txn >= history->txn_count)
        return UINT32_MAX;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (is_write(&ops[i]) && ops[i].key == key && ops[i].value == number)
            return i;
    }
    return UINT32_MAX;
}

/* The read of an update or delete of that number, whose result is known; NULL: it is none. */
static const struct rig_txn_op *replacing_read(const struct rig_history *history, uint32_t txn, uint32_t op,
                                               uint32_t key, int64_t number)
{
    const struct rig_txn_op *read = known_read(history, txn, op, key, false);
    const bool fits = read != NULL && statement_in(history, txn, key, number) == op + 1 && !rig_row_inserts(number);
    return fits ? read : NULL;
}

static bool follow_reads(struct rig_commits *commits, uint32_t txn)
{
    RIG_REQUIRE(commits->committed[txn]);
    const struct rig_history *history = commits->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; commits->claims.count > 0 && i < rig_txn_op_count(history, txn); i++) {
        if (known_read(history, txn, i, ops[i].key, false) == NULL)
            continue;
        const struct rig_read_list list = rig_txn_op_list(history, &ops[i]);
        for (uint32_t at = 1; at < list.count; at += 2) {
            if (!rig_commits_show(commits, ops[i].key, rig_read_element(&list, at)))
                return false;
        }
    }
    return true;
}

static bool prove_committed(struct rig_proof *proof)
{
    return rig_commits_prove(proof->history, RIG_OP_ROW, follow_reads, NULL, proof->committed) &&
           rig_verify_row_certified(proof);
}

/* ---- a row that a read does not show ---- */

struct touch {
    int64_t version, replaced; /* replaced: 0, by the insert */
    uint32_t txn;
};

RIG_VEC(struct touch, touches)

/* Adds what the statement at `op` did to the row. Gives the reason why the row's versions are not all known, or
 * NULL. */
static const char *add_touch(const struct rig_proof *proof, uint32_t txn, uint32_t op, int64_t id, struct touches *all)
{
    RIG_REQUIRE(is_write(rig_txn_ops(proof->history, txn) + op));
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const bool inserts = rig_row_inserts(ops[op].value);
    if (inserts)
        return ops[op].value != id || !proof->committed[txn] || touches_add(all, (struct touch){id, 0, txn}) ? NULL
                                                                                                             : "";
    const struct rig_txn_op *read = op == 0 ? NULL : known_read(history, txn, op - 1, ops[op].key, false);
    const struct rig_row_where asked = op == 0 ? rig_row_all() : condition_at(ops, op - 1);
    if (read == NULL && rig_row_asks_ids(&asked) &&
        (rig_row_serial(id) < asked.least || rig_row_serial(id) > asked.most))
        return NULL;
    if (read == NULL)
        return "missed a row that a statement with unknown effects may have changed";
    const uint32_t count = count_shown(history, read, &id, NULL);
    if (count == 0)
        return NULL;
    if (!proof->committed[txn])
        return "missed a row that a transaction of unknown fate may have changed";
    if (count > 1)
        return "missed a row that one statement changed twice";
    const struct rig_read_list list = rig_txn_op_list(history, read);
    uint32_t at = 0;
    while (rig_read_element(&list, at) != id)
        at += 2;
    return touches_add(all, (struct touch){ops[op].value, rig_read_element(&list, at + 1), txn}) ? NULL : "";
}

/* "" when memory runs out. */
static const char *collect_touches(const struct rig_proof *proof, uint32_t key, int64_t id, struct touches *all)
{
    RIG_REQUIRE(all->count == 0);
    const struct rig_history *history = proof->history;
    const char *lacks = NULL;
    for (uint32_t txn = 0; lacks == NULL && txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const bool never = history->txns[txn].outcome == RIG_OUTCOME_FAIL;
        for (uint32_t i = 0; lacks == NULL && !never && i < rig_txn_op_count(history, txn); i++) {
            if (is_write(&ops[i]) && ops[i].key == key)
                lacks = add_touch(proof, txn, i, id, all);
        }
    }
    return lacks;
}

/* The version that replaced this one; 0: none, or `lacks` says what is wrong. */
static int64_t version_after(const struct touches *all, int64_t version, const char **lacks)
{
    RIG_REQUIRE(*lacks == NULL);
    int64_t next = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->at[i].replaced == version && next != 0)
            *lacks = "missed a row one version of which was replaced twice";
        next = all->at[i].replaced == version ? all->at[i].version : next;
    }
    if (next == 0)
        *lacks = "missed a row whose versions have no known order";
    return *lacks == NULL ? next : 0;
}

/* A walk along the versions of a row, in the order in which they replaced each other. */
struct walk {
    const struct touches *all;
    size_t taken;
    int64_t version;
    uint32_t contents, txn;
    bool is_final; /* its transaction made no later version: others can see this one */
};

static uint32_t writer_among(const struct touches *all, int64_t version)
{
    uint32_t txn = UINT32_MAX;
    for (size_t i = 0; i < all->count; i++)
        txn = all->at[i].version == version ? all->at[i].txn : txn;
    return txn;
}

static struct walk walk_along(const struct touches *all)
{
    return (struct walk){.all = all, .contents = RIG_ROW_CONTENTS_UNKNOWN, .txn = UINT32_MAX};
}

/* The next version. False: that was the last one, or `lacks` says why their order is not known. */
static bool walk_on(struct walk *w, const char **lacks)
{
    if (w->taken == w->all->count)
        return false;
    const int64_t version = version_after(w->all, w->version, lacks);
    const int64_t next = *lacks == NULL && w->taken + 1 < w->all->count ? version_after(w->all, version, lacks) : 0;
    if (*lacks != NULL)
        return false;
    w->taken++;
    w->version = version;
    w->txn = writer_among(w->all, version);
    w->contents = rig_row_contents(version, w->contents);
    w->is_final = next == 0 || writer_among(w->all, next) != w->txn;
    return true;
}

/* Whether the versions meet the condition from `from` on, up to one that the reader itself made, and which the read
 * cannot have seen. */
static const char *check_chain(const struct touches *all, const struct rig_row_where *condition, int64_t id,
                               int64_t from, uint32_t reader)
{
    const char *lacks = NULL;
    struct walk w = walk_along(all);
    bool met = false;
    while (walk_on(&w, &lacks) && w.txn != reader) {
        met |= w.version == from;
        if (met && w.is_final && !rig_row_meets(condition, id, w.version, w.contents))
            return "missed a row that does not meet the condition later";
    }
    return lacks != NULL || met ? lacks : "missed a row that the next one did not write";
}

/* Whether the versions of a row that was there from the start meet the condition up to `to`, and not there. 0: all of
 * them do, up to the one that the transaction itself makes after the operation, which the read cannot have seen. */
static const char *check_start(const struct touches *all, const struct rig_history *history, uint32_t txn, uint32_t op,
                               int64_t id, int64_t to)
{
    const struct rig_row_where condition = condition_at(rig_txn_ops(history, txn), op);
    const char *lacks = NULL;
    struct walk w = walk_along(all);
    bool met = true;
    if (rig_row_action(id) != RIG_ROWS_INITIAL)
        return "missed a row that was not there from the start";
    while (walk_on(&w, &lacks) && w.txn != txn) {
        const bool matches = rig_row_meets(&condition, id, w.version, w.contents);
        if (w.version == to)
            return w.taken > 1 && met && !matches && w.is_final
                       ? NULL
                       : "missed a row that had not met the condition, or still did";
        met &= matches || !w.is_final;
    }
    if (lacks == NULL && (to != 0 || !met || w.taken < (w.txn == txn ? 2 : 1)))
        lacks = "missed a row that does not meet the condition in each version";
    return lacks;
}

/* Whether the read certainly does not show the row, which its transaction had not written. */
static const char *check_absent(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key, int64_t id)
{
    const struct rig_txn_op *read = known_read(history, txn, op, key, true);
    if (read == NULL)
        return "has a step without its read";
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const struct rig_row_where condition = condition_at(ops, op);
    const struct rig_read_list list = rig_txn_op_list(history, read);
    if (condition.form != RIG_ROW_LISTED &&
        (list.count != 2 || !rig_row_total_is_none(rig_read_element(&list, 0), rig_read_element(&list, 1))))
        return "counted or added up rows, and does not tell which";
    if (condition.form == RIG_ROW_LISTED && count_shown(history, read, &id, NULL) > 0)
        return "read the row";
    for (uint32_t i = 0; i < op; i++) {
        const bool own = is_write(&ops[i]) && ops[i].key == key;
        if (own && (ops[i].value == id ||
                    (i > 0 && !rig_row_inserts(ops[i].value) && count_shown(history, &ops[i - 1], &id, NULL) > 0)))
            return "had written the row itself";
    }
    return NULL;
}

static const char *check_missed(const struct rig_proof *proof, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_RW && step->absent);
    const struct rig_history *history = proof->history;
    const char *lacks = check_absent(history, step->from, step->from_op, step->key, step->from_value);
    if (lacks != NULL)
        return lacks;
    const struct rig_row_where condition = condition_at(rig_txn_ops(history, step->from), step->from_op);
    if ((condition.column == RIG_ROW_BY_KEY) == step->by_predicate)
        return "missed a row by its key, or by a predicate, and not as the step has it";
    if (statement_in(history, step->to, step->key, step->to_value) != step->to_op)
        return "is followed by one without the statement";
    struct touches all = {0};
    lacks = collect_touches(proof, step->key, step->from_value, &all);
    if (lacks == NULL)
        lacks = check_chain(&all, &condition, step->from_value, step->to_value, step->from);
    touches_done(&all);
    return lacks;
}

/* The read does not show the row, which was there from the start, and met the condition until version `to`; 0: at each
 * version. */
static const char *check_gone(const struct rig_proof *proof, uint32_t txn, uint32_t op, uint32_t key, int64_t id,
                              int64_t to)
{
    const struct rig_history *history = proof->history;
    struct touches all = {0};
    const char *lacks = check_absent(history, txn, op, key, id);
    if (lacks == NULL)
        lacks = collect_touches(proof, key, id, &all);
    if (lacks == NULL)
        lacks = check_start(&all, history, txn, op, id, to);
    touches_done(&all);
    return lacks;
}

/* ---- steps of cases ---- */

/* Whether the row meets the condition at each final version from that of the step's `order_txn` on, until `from` ends this
 * with its own one; and the reader wrote none of them, nor one before. */
static const char *check_stretch(const struct touches *all, const struct rig_row_where *condition,
                                 const struct rig_step *step)
{
    const char *lacks = NULL;
    struct walk w = walk_along(all);
    bool met = false;
    while (walk_on(&w, &lacks) && w.txn != step->to) {
        const bool meets = rig_row_meets(condition, step->to_value, w.version, w.contents);
        if (w.is_final && met && !meets)
            return w.version == step->from_value && w.txn == step->from ? NULL
                                                                        : "missed a row that ceased to meet it before";
        met |= w.is_final && meets && w.txn == step->order_txn;
    }
    return lacks != NULL ? lacks : "missed a row that no version of the next one took away";
}

static const char *check_chosen(const struct rig_proof *proof, const struct rig_step *step)
{
    const struct rig_history *history = proof->history;
    const bool before = step->kind == RIG_EDGE_RW;
    if (!before && !step->absent)
        return step->from == step->order_txn ? NULL : "is in a step that its case does not give";
    const uint32_t reader = before ? step->from : step->to, op = before ? step->from_op : step->to_op;
    const int64_t id = before ? step->from_value : step->to_value;
    const char *lacks = check_absent(history, reader, op, step->key, id);
    if (lacks != NULL || before)
        return lacks;
    const struct rig_row_where condition = condition_at(rig_txn_ops(history, reader), op);
    struct touches all = {0};
    lacks = collect_touches(proof, step->key, id, &all);
    if (lacks == NULL)
        lacks = check_stretch(&all, &condition, step);
    touches_done(&all);
    return lacks;
}

/* ---- steps ---- */

static const char *check_replaced(const struct rig_proof *proof, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_RW && !step->absent);
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *read = known_read(history, step->from, step->from_op, step->key, false);
    const struct rig_txn_op *replaces = replacing_read(history, step->to, step->to_op, step->key, step->to_value);
    if (read == NULL || replaces == NULL)
        return "has a step without its reads";
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const int64_t id = rig_read_element(&list, at), version = rig_read_element(&list, at + 1);
        if (version == step->from_value && count_shown(history, replaces, &id, &version) > 0)
            return NULL;
    }
    return "read no row that the next one replaced";
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
    if (statement_in(history, step->from, step->key, step->from_value) == UINT32_MAX)
        return "has a step whose version it did not write";
    if (step->absent)
        return step->kind == RIG_EDGE_WR
                   ? check_gone(proof, step->to, step->to_op, step->key, step->to_value, step->from_value)
                   : "has a step without its read";
    const struct rig_txn_op *read = step->kind == RIG_EDGE_WW
                                        ? replacing_read(history, step->to, step->to_op, step->key, step->to_value)
                                        : known_read(history, step->to, step->to_op, step->key, false);
    if (read == NULL)
        return "is followed by one without the read";
    return count_shown(history, read, NULL, &step->from_value) > 0 ? NULL
                                                                   : "is followed by one that read another version";
}

/* ---- contents ---- */

enum met { IS_FALSE, IS_TRUE, IS_UNKNOWN };

/* The transaction that has the statement, and its place there. False: none has it. */
static bool find_statement(const struct rig_history *history, uint32_t key, int64_t number, uint32_t *txn, uint32_t *op)
{
    for (*txn = 0; *txn < history->txn_count; (*txn)++) {
        *op = statement_in(history, *txn, key, number);
        if (*op != UINT32_MAX)
            return true;
    }
    return false;
}

/* The version of the row that the statement replaced; 0: not known. */
static int64_t version_before(const struct rig_history *history, uint32_t key, int64_t id, int64_t number)
{
    uint32_t txn, op;
    if (!find_statement(history, key, number, &txn, &op) || op == 0)
        return 0;
    const struct rig_txn_op *read = replacing_read(history, txn, op - 1, key, number);
    if (read == NULL)
        return 0;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        if (rig_read_element(&list, at) == id)
            return rig_read_element(&list, at + 1);
    }
    return 0;
}

/* The contents of the row at that version: its statements from the insert on, each applied to what the one before left.
 * */
static uint32_t contents_at(const struct rig_history *history, uint32_t key, int64_t id, int64_t version)
{
    struct touches all = {0};
    uint32_t contents = RIG_ROW_CONTENTS_UNKNOWN;
    bool known = true;
    while (known && version != id) {
        const int64_t before = version_before(history, key, id, version);
        known = before != 0 && all.count <= history->op_count &&
                touches_add(&all, (struct touch){.version = version, .replaced = before});
        version = before;
    }
    known = known && rig_row_inserts(id);
    contents = known ? rig_row_contents(id, contents) : contents;
    while (known && all.count > 0)
        contents = rig_row_contents(all.at[--all.count].version, contents);
    touches_done(&all);
    return contents;
}

/* Whether the row meets the condition at that version. */
static enum met meets_at(const struct rig_history *history, const struct rig_row_where *condition, uint32_t key,
                         int64_t id, int64_t version)
{
    const bool asks_contents = condition->column == RIG_ROW_BY_TESTS;
    const uint32_t contents = asks_contents ? contents_at(history, key, id, version) : RIG_ROW_CONTENTS_UNKNOWN;
    const bool is_gone = rig_row_action(version) == RIG_ROWS_DELETE;
    if (asks_contents && contents == RIG_ROW_CONTENTS_UNKNOWN && !is_gone)
        return IS_UNKNOWN;
    return rig_row_meets(condition, id, version, contents) ? IS_TRUE : IS_FALSE;
}

/* ---- non-cyclic anomalies ---- */

/* Whether the statement wrote this row, or may have. */
static bool wrote(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t number, int64_t id)
{
    const uint32_t op = statement_in(history, txn, key, number);
    if (op == UINT32_MAX)
        return false;
    if (rig_row_inserts(number))
        return number == id;
    const struct rig_txn_op *read = op == 0 ? NULL : known_read(history, txn, op - 1, key, false);
    return read == NULL || count_shown(history, read, &id, NULL) > 0;
}

static const char *check_garbage(const struct rig_history *history, const struct rig_witness *w)
{
    bool version = false, row = false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        version |= wrote(history, txn, w->key, w->value, w->other_value);
        row |= statement_in(history, txn, w->key, w->other_value) != UINT32_MAX;
    }
    return version && row && rig_row_action(w->value) != RIG_ROWS_DELETE ? "read a version that a statement wrote"
                                                                         : NULL;
}

/* Its last own statement on the row before the read made another version, which meets the condition. */
static const char *check_internal(const struct rig_history *history, const struct rig_witness *w, bool shown)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, w->txns[0]);
    const struct rig_row_where condition = condition_at(ops, w->op);
    if (w->other_op >= w->op || !is_write(&ops[w->other_op]) || ops[w->other_op].key != w->key ||
        !wrote(history, w->txns[0], w->key, ops[w->other_op].value, w->other_value))
        return "had not written the row itself";
    for (uint32_t i = w->other_op + 1; i < w->op; i++) {
        if (is_write(&ops[i]) && ops[i].key == w->key &&
            wrote(history, w->txns[0], w->key, ops[i].value, w->other_value))
            return "had written the row again";
    }
    if (shown)
        return ops[w->other_op].value != w->value ? NULL : "read its own version";
    return meets_at(history, &condition, w->key, w->other_value, ops[w->other_op].value) == IS_TRUE
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
    const struct rig_txn_op *read =
        replacing_read(history, w->txns[1], w->other_op - 1, w->key, other->kind == RIG_OP_ROW ? other->value : 0);
    return read != NULL && count_shown(history, read, &w->other_value, &w->value) > 0
               ? NULL
               : "read a version that the other one did not replace";
}

static const char *check_lost(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, w->txns[0]);
    const bool replaces = w->op + 1 < rig_txn_op_count(history, w->txns[0]) && is_write(&ops[w->op + 1]) &&
                          ops[w->op + 1].key == w->key && !rig_row_inserts(ops[w->op + 1].value);
    return replaces ? check_replaced_by(proof, w) : "did not replace the version";
}

/* ---- constraints after the load ---- */

/* How the row ended. False: not known, or memory ran out. */
static bool find_end(const struct rig_proof *proof, uint32_t key, int64_t id, bool *is_there)
{
    struct touches all = {0};
    const char *lacks = collect_touches(proof, key, id, &all);
    int64_t version = 0;
    for (size_t step = 0; lacks == NULL && step < all.count; step++)
        version = version_after(&all, version, &lacks);
    const bool known = lacks == NULL && all.count > 0;
    *is_there = known && rig_row_action(version) != RIG_ROWS_DELETE;
    touches_done(&all);
    return known;
}

/* Whether the transaction inserted the row, committed, and the row is there after the load. */
static bool left(const struct rig_proof *proof, uint32_t txn, uint32_t key, int64_t id)
{
    bool is_there;
    return rig_row_is_number(id) && rig_row_class(id) == RIG_ROW_KEYED_CLASS &&
           statement_in(proof->history, txn, key, id) != UINT32_MAX && proof->committed[txn] &&
           find_end(proof, key, id, &is_there) && is_there;
}

static const char *check_unique(const struct rig_proof *proof, const struct rig_witness *w)
{
    if (w->txn_count != 2 || w->value == w->other_value || !left(proof, w->txns[0], w->key, w->value) ||
        !left(proof, w->txns[1], w->key, w->other_value))
        return "did not leave two rows";
    const uint32_t code = rig_row_column_code((uint32_t)rig_row_payload(w->value), RIG_ROW_UNIQUE);
    const uint32_t other = rig_row_column_code((uint32_t)rig_row_payload(w->other_value), RIG_ROW_UNIQUE);
    return code != RIG_ROW_NULL && code == other ? NULL : "left rows with different values";
}

/* Each row with the value was deleted, or certainly never committed. */
static const char *check_reference(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    if (!left(proof, w->txns[0], w->key, w->value))
        return "did not leave the row";
    const uint32_t code = rig_row_column_code((uint32_t)rig_row_payload(w->value), RIG_ROW_REFERENCE);
    if (code == RIG_ROW_NULL)
        return "left a row that refers to nothing";
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const bool never = history->txns[txn].outcome == RIG_OUTCOME_FAIL;
        for (uint32_t i = 0; !never && i < rig_txn_op_count(history, txn); i++) {
            const int64_t id = ops[i].value;
            bool is_there;
            if (!is_write(&ops[i]) || ops[i].key != w->key || rig_row_class(id) != RIG_ROW_KEYED_CLASS ||
                rig_row_column_code((uint32_t)rig_row_payload(id), RIG_ROW_UNIQUE) != code)
                continue;
            if (!proof->committed[txn] || !find_end(proof, w->key, id, &is_there) || is_there)
                return "left a row that refers to one that may be there";
        }
    }
    return NULL;
}

static const char *check_broken(const struct rig_proof *proof, const struct rig_witness *w)
{
    if (proof->history->truncated || proof->history->lost_count > 0)
        return "is in a history without its end";
    return w->anomaly == RIG_ANOMALY_BROKEN_UNIQUE ? check_unique(proof, w) : check_reference(proof, w);
}

static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    if (w->anomaly == RIG_ANOMALY_BROKEN_UNIQUE || w->anomaly == RIG_ANOMALY_BROKEN_REFERENCE)
        return check_broken(proof, w);
    const struct rig_txn_op *read = known_read(history, w->txns[0], w->op, w->key, w->anomaly == RIG_ANOMALY_INTERNAL);
    if (w->anomaly == RIG_ANOMALY_PREDICATE_READ_MISS)
        return check_gone(proof, w->txns[0], w->op, w->key, w->other_value, 0);
    if (read == NULL)
        return "made no such read";
    const uint32_t count = count_shown(history, read, &w->other_value, &w->value);
    const struct rig_row_where condition = condition_at(rig_txn_ops(history, w->txns[0]), w->op);
    if (w->anomaly == RIG_ANOMALY_INTERNAL)
        return check_internal(history, w, count > 0);
    if (count == 0)
        return "did not read the version";
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        return count_shown(history, read, &w->other_value, NULL) > 1 ? NULL : "read the row once";
    case RIG_ANOMALY_GARBAGE_READ:
        return check_garbage(history, w);
    case RIG_ANOMALY_PREDICATE_MISMATCH:
        return meets_at(history, &condition, w->key, w->other_value, w->value) == IS_FALSE
                   ? NULL
                   : "read a row that meets the condition, or whose contents are not known";
    case RIG_ANOMALY_FUTURE_READ: {
        const uint32_t own = statement_in(history, w->txns[0], w->key, w->value);
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
