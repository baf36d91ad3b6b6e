/*
 * Orders of the transactions of a history of predicates: statements are executed on tables of rows, one event after the
 * other, and each read by a condition has to show what the kind of order says (replay.h).
 *
 *   serial, snapshot    exactly the rows that meet the condition, at their versions; or their number, or their sum
 *   items               rows at their versions; it may miss rows of others, except by a row's key. A row that was there
 *                       from the start only if a version of it that was committed before does not meet the condition
 *   commits             rows at any final version that was committed before; it may miss rows as above, also its own
 *   writes              of acknowledged transactions: each update and delete replaced what stands before it
 *
 * For `items` and `commits` a count or a sum, except 0, is that of the rows as they were committed before, without the
 * commits that the proof says it missed (struct rig_missed).
 */
#include <stdlib.h>

#include "base/bug.h"
#include "base/halve.h"
#include "checker/prove/replay_rows.h"

struct executing {
    struct rig_replay *r;
    struct rig_replayed_rows rows;
    uint32_t *stood, *begun; /* per transaction: events so far, and its first event */
    bool *missed;            /* per event: the read does not see its commit */
    uint32_t txn, event;
};

static enum rig_rc refuse(const struct executing *x, uint32_t op, const char *what)
{
    char key[64];
    const struct rig_history *history = x->r->history;
    rig_history_key_name(history, history->ops[op].key, key, sizeof key);
    return rig_fail(x->r->err, RIG_E_INPUT, "T%u, operation %u on table %s: %s", rig_txn_name(history, x->txn),
                    op - history->txns[x->txn].first_op, key, what);
}

static enum rig_rc no_memory(const struct executing *x)
{
    return rig_no_memory(x->r->err, "the replay");
}

/* For rig_row_add_partners(). */
static uint32_t contents_shown(const void *context, uint32_t key, int64_t id, int64_t version)
{
    const struct executing *x = context;
    const struct rig_replayed_row *row = rig_replayed_row_find(&x->rows, key, id);
    return row == NULL ? RIG_ROW_CONTENTS_UNKNOWN : rig_replayed_contents(&x->rows, row, version);
}

static struct rig_row_where condition_of(const struct executing *x, uint32_t op)
{
    const struct rig_history *history = x->r->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, x->txn);
    const uint32_t place = op - history->txns[x->txn].first_op;
    struct rig_row_where condition;
    uint32_t own;
    if (!rig_row_condition_alone(history, ops, rig_txn_op_count(history, x->txn), place, &condition, &own))
        rig_row_add_partners(history, ops, place, own, contents_shown, x, &condition);
    return condition;
}

/* The read whose rows the update or delete at `op` replaced; RIG_FACT_NONE: the history has none. */
static uint32_t replaced_by(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const bool has = op > history->txns[txn].first_op && history->ops[op - 1].kind == RIG_OP_READ_WHERE &&
                     history->ops[op - 1].key == history->ops[op].key;
    return has ? op - 1 : RIG_FACT_NONE;
}

static bool writes(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ROW && op->value > 0;
}

/* Whether the statement at `op` wrote the row. */
static bool wrote_row(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t id)
{
    const struct rig_txn_op *at = &history->ops[op];
    if (!writes(at) || rig_row_inserts(at->value))
        return writes(at) && at->value == id;
    const uint32_t read = replaced_by(history, txn, op);
    if (read == RIG_FACT_NONE || history->ops[read].read_state == RIG_READ_UNKNOWN)
        return false;
    const struct rig_read_list list = rig_txn_op_list(history, &history->ops[read]);
    for (uint32_t i = 0; i + 1 < list.count; i += 2) {
        if (rig_read_element(&list, i) == id)
            return true;
    }
    return false;
}

/* Whether the row meets the condition at this version, which is its own one or was committed before. */
static bool meets(const struct executing *x, const struct rig_replayed_row *row, const struct rig_row_where *condition,
                  int64_t version)
{
    const bool asks_contents = condition->column == RIG_ROW_BY_TESTS;
    return rig_row_meets(condition, row->id, version,
                         asks_contents ? rig_replayed_contents(&x->rows, row, version) : RIG_ROW_CONTENTS_UNKNOWN);
}

/* ---- rows that a read shows ---- */

/* The version is the last one that its transaction made of the row, and was committed before; or an own one. */
static enum rig_rc show_committed(const struct executing *x, uint32_t op, int64_t id, int64_t version)
{
    const struct rig_replay *r = x->r;
    const struct rig_fact_write *write = rig_facts_writer(r->facts, r->history->ops[op].key, version);
    if (write == NULL || !wrote_row(r->history, write->txn, write->op, id))
        return refuse(x, op, "the read shows a version that no statement made of the row");
    if (write->txn == x->txn)
        return write->op < op ? RIG_OK : refuse(x, op, "the read shows a version that the transaction makes later");
    if (r->at[write->txn] == 0 || r->at[write->txn] > x->event)
        return refuse(x, op, "the read shows a version that is not committed before it");
    for (uint32_t i = write->op + 1; i < r->history->txns[write->txn + 1].first_op; i++) {
        if (r->history->ops[i].key == r->history->ops[op].key && wrote_row(r->history, write->txn, i, id))
            return refuse(x, op, "the read shows a version that its transaction replaced itself");
    }
    return RIG_OK;
}

static enum rig_rc show_row(const struct executing *x, uint32_t op, const struct rig_row_where *condition, int64_t id,
                            int64_t version)
{
    struct rig_replayed_row *row = rig_replayed_row_find(&x->rows, x->r->history->ops[op].key, id);
    if (row == NULL)
        return refuse(x, op, "the read shows a row that no statement inserts");
    if (row->shown == op + 1)
        return refuse(x, op, "the read shows a row twice");
    row->shown = op + 1;
    if (!meets(x, row, condition, version))
        return refuse(x, op, "the read shows a row that does not meet its condition");
    if (x->r->kind == RIG_ORDER_COMMITS)
        return show_committed(x, op, id, version);
    return rig_replayed_version(&x->rows, row, NULL) == version
               ? RIG_OK
               : refuse(x, op, "the read shows a version of a row that is not the current one");
}

static enum rig_rc show_rows(const struct executing *x, uint32_t op, const struct rig_row_where *condition,
                             uint32_t *shown)
{
    const struct rig_read_list list = rig_txn_op_list(x->r->history, &x->r->history->ops[op]);
    enum rig_rc rc = list.count % 2 == 0 ? RIG_OK : refuse(x, op, "the read does not show pairs");
    for (uint32_t i = 0; rc == RIG_OK && i + 1 < list.count; i += 2)
        rc = show_row(x, op, condition, rig_read_element(&list, i), rig_read_element(&list, i + 1));
    *shown = list.count / 2;
    return rc;
}

/* ---- rows that meet the condition ---- */

struct totals {
    uint64_t count, sum;
    bool is_past; /* a row is counted at a version that is not the current one */
};

static void count_row(const struct executing *x, const struct rig_replayed_row *row,
                      const struct rig_row_where *condition, const bool *missed, struct totals *totals)
{
    const int64_t version = rig_replayed_version(&x->rows, row, missed);
    if (version == 0 || !meets(x, row, condition, version))
        return;
    totals->count++;
    totals->sum += (uint64_t)version;
    totals->is_past |= missed != NULL && version != rig_replayed_version(&x->rows, row, NULL);
}

/* All rows that meet the condition. `missed`: of rig_replayed_version(). */
static struct totals count_rows(const struct executing *x, uint32_t key, const struct rig_row_where *condition,
                                const bool *missed)
{
    struct totals totals = {0};
    uint32_t end, i = rig_replayed_rows_asked(&x->rows, key, condition, &end);
    const uint32_t *live = &x->rows.live[x->rows.first[key]], live_count = x->rows.live_count[key];
    if (missed != NULL || end - i <= live_count) {
        for (; i < end; i++)
            count_row(x, &x->rows.rows[i], condition, missed, &totals);
        return totals;
    }
    for (i = 0; i < live_count; i++)
        count_row(x, &x->rows.rows[live[i]], condition, NULL, &totals);
    for (size_t own = 0; own < x->rows.own.count; own++) { /* those that are not there for others */
        const struct rig_replayed_row *row = &x->rows.rows[x->rows.own.at[own]];
        const bool is_live = row->version != 0 && rig_row_action(row->version) != RIG_ROWS_DELETE;
        if (!is_live && row->key == key)
            count_row(x, row, condition, NULL, &totals);
    }
    return totals;
}

/* Whether some version of the row that was committed before does not meet the condition. */
static bool was_unmet(const struct executing *x, const struct rig_replayed_row *row,
                      const struct rig_row_where *condition)
{
    for (uint32_t at = row->past; at > 0; at = x->rows.past.at[at - 1].before) {
        const struct rig_replayed_version *past = &x->rows.past.at[at - 1];
        if (!rig_row_meets(condition, row->id, past->version, past->contents))
            return true;
    }
    return false;
}

/* Rows that the read may not miss: where it may miss those of others, its own ones, and those that were there from the
 * start. */
static enum rig_rc miss_rows(const struct executing *x, uint32_t op, const struct rig_row_where *condition)
{
    const uint32_t key = x->r->history->ops[op].key;
    const bool may_miss_own = x->r->kind == RIG_ORDER_COMMITS;
    uint32_t end, i = rig_replayed_rows_asked(&x->rows, key, condition, &end);
    for (size_t own = 0; !may_miss_own && own < x->rows.own.count; own++) {
        const struct rig_replayed_row *row = &x->rows.rows[x->rows.own.at[own]];
        if (row >= &x->rows.rows[i] && row < &x->rows.rows[end] && row->shown != op + 1 &&
            rig_row_meets(condition, row->id, row->own, row->own_contents))
            return refuse(x, op, "the read misses a row that the transaction wrote itself");
    }
    for (; i < end; i++) {
        const struct rig_replayed_row *row = &x->rows.rows[i];
        if (rig_row_action(row->id) == RIG_ROWS_INITIAL && row->shown != op + 1 && row->own_mark != x->rows.mark &&
            !was_unmet(x, row, condition))
            return refuse(x, op, "the read misses a row that was there from the start");
    }
    return RIG_OK;
}

/* Rows that are there from the start were never absent for a read that asks for them. */
static enum rig_rc find_born(const struct executing *x, uint32_t op, const struct rig_row_where *condition,
                             const bool *missed)
{
    const uint32_t key = x->r->history->ops[op].key;
    uint32_t end, i = rig_replayed_rows_asked(&x->rows, key, condition, &end);
    for (; (missed != NULL || x->rows.unborn[key] > 0) && i < end; i++) {
        const struct rig_replayed_row *row = &x->rows.rows[i];
        if (rig_row_action(row->id) == RIG_ROWS_INITIAL && rig_replayed_version(&x->rows, row, missed) == 0)
            return refuse(x, op, "a row that is there from the start is not committed before the read");
    }
    return RIG_OK;
}

/* ---- reads with clauses ---- */

/* Whether a row that meets the condition has the value in the condition's column. `own_only`: one that the transaction
 * wrote. */
static bool has_partner(const struct executing *x, uint32_t key, const struct rig_row_where *condition, bool own_only)
{
    for (uint32_t i = x->rows.first[key]; i < x->rows.first[key + 1]; i++) {
        const struct rig_replayed_row *row = &x->rows.rows[i];
        const int64_t version = rig_replayed_version(&x->rows, row, NULL);
        if ((!own_only || row->own_mark == x->rows.mark) && version != 0 && meets(x, row, condition, version))
            return true;
    }
    return false;
}

/* A row that meets the condition of the statement, and that it does not show: with NOT EXISTS it has a partner, in an
 * inner join it has none. `own_only`: among the rows that the transaction wrote, which no read may miss. */
static enum rig_rc find_partners(const struct executing *x, uint32_t op, const struct rig_row_where *condition,
                                 bool own_only)
{
    const struct rig_history *history = x->r->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, x->txn);
    const uint32_t key = history->ops[op].key;
    struct rig_row_clause clause = {.kind = RIG_ROW_NO_CLAUSE};
    const uint32_t further = rig_row_further_read(ops, op - history->txns[x->txn].first_op, &clause);
    if ((clause.kind != RIG_ROW_ABSENT || own_only) && clause.kind != RIG_ROW_PAIRS)
        return RIG_OK;
    struct rig_row_where partner = rig_row_all(), alone = *condition;
    (void)rig_row_condition_of(ops[further - 1].value, &partner);
    partner.is_joined = true;
    partner.joined_column = clause.partner;
    alone.is_joined = false;
    for (uint32_t i = x->rows.first[key]; i < x->rows.first[key + 1]; i++) {
        const struct rig_replayed_row *row = &x->rows.rows[i];
        const int64_t version = rig_replayed_version(&x->rows, row, NULL);
        if (version == 0 || row->shown == op + 1 || !meets(x, row, &alone, version) ||
            (own_only && row->own_mark != x->rows.mark))
            continue;
        partner.joined_values = UINT32_C(1)
                                << rig_row_column_code(rig_replayed_contents(&x->rows, row, version), clause.column);
        if (has_partner(x, ops[further].key, &partner, own_only) == (clause.kind == RIG_ROW_PAIRS))
            return refuse(x, op,
                          clause.kind == RIG_ROW_PAIRS
                              ? "the join misses a row that has a partner"
                              : "the read misses a row that meets its condition and has no partner");
    }
    return RIG_OK;
}

/* The rows that a read may miss by its clause. `may_miss`: it may miss others, too. */
static enum rig_rc miss_by_clause(const struct executing *x, uint32_t op, const struct rig_row_where *condition,
                                  bool may_miss)
{
    const struct rig_txn_op *ops = rig_txn_ops(x->r->history, x->txn);
    const uint32_t place = op - x->r->history->txns[x->txn].first_op;
    struct rig_row_clause further = {.kind = RIG_ROW_NO_CLAUSE};
    const enum rig_row_clause_kind kind = rig_row_clause_before(ops, place).kind;
    (void)rig_row_further_read(ops, place, &further);
    if (kind == RIG_ROW_LIMIT)
        return refuse(x, op, "the read has a limit among rows whose contents are not known");
    if (rig_row_is_further(kind) || further.kind == RIG_ROW_PAIRS)
        return refuse(x, op, "the read has partners of rows whose contents are not known");
    return may_miss ? RIG_OK : find_partners(x, op, condition, false);
}

/* ---- reads ---- */

/* Marks what the proof says that the read missed, or unmarks it. Gives whether there is something. */
static bool mark_missed(const struct executing *x, uint32_t op, bool mark)
{
    const struct rig_replay *r = x->r;
    size_t low = 0, high = r->missed_count;
    while (low < high)
        rig_halve_size(&low, &high, r->missed[rig_middle_size(low, high)].op < op);
    const size_t first = low;
    for (; low < r->missed_count && r->missed[low].op == op; low++) {
        if (r->at[r->missed[low].txn] > 0)
            x->missed[r->at[r->missed[low].txn] - 1] = mark;
    }
    return low > first;
}

static enum rig_rc read_total(const struct executing *x, uint32_t op, const struct rig_row_where *condition)
{
    const struct rig_txn_op *at = &x->r->history->ops[op];
    const struct rig_read_list list = rig_txn_op_list(x->r->history, at);
    const bool may_miss = x->r->kind == RIG_ORDER_ITEMS || x->r->kind == RIG_ORDER_COMMITS;
    if (list.count != 2)
        return refuse(x, op, "the read does not show a number and a sum");
    if (may_miss && rig_row_total_is_none(rig_read_element(&list, 0), rig_read_element(&list, 1)))
        return miss_rows(x, op, condition);
    const bool *missed = may_miss && mark_missed(x, op, true) ? x->missed : NULL;
    const enum rig_rc rc = find_born(x, op, condition, missed);
    const struct totals found = count_rows(x, at->key, condition, missed);
    if (missed != NULL)
        (void)mark_missed(x, op, false);
    if (rc == RIG_OK && found.is_past && x->r->kind == RIG_ORDER_ITEMS)
        return refuse(x, op, "the read counts a row at a version that is not the current one");
    if (rc != RIG_OK ||
        rig_row_total_is(condition, rig_read_element(&list, 0), rig_read_element(&list, 1), found.count, found.sum))
        return rc;
    return refuse(x, op, "the read shows another number or sum of rows than the order gives");
}

/* The rows of a statement of unknown fate are not known: it may stand where it changes none. */
static enum rig_rc read_unknown(const struct executing *x, uint32_t op, const struct rig_row_where *condition)
{
    const struct rig_history *history = x->r->history;
    const bool replaces = op + 1 < history->txns[x->txn + 1].first_op && writes(&history->ops[op + 1]) &&
                          history->ops[op + 1].key == history->ops[op].key &&
                          !rig_row_inserts(history->ops[op + 1].value);
    if (history->txns[x->txn].outcome == RIG_OUTCOME_OK)
        return refuse(x, op, "the read has no known result");
    if (replaces && count_rows(x, history->ops[op].key, condition, NULL).count > 0)
        return refuse(x, op, "the statement changes rows that the history does not show");
    return RIG_OK;
}

static enum rig_rc read_now(const struct executing *x, uint32_t op)
{
    const struct rig_txn_op *at = &x->r->history->ops[op];
    const struct rig_row_where condition = condition_of(x, op);
    const bool may_miss =
        x->r->kind == RIG_ORDER_COMMITS || (x->r->kind == RIG_ORDER_ITEMS && condition.column != RIG_ROW_BY_KEY);
    uint32_t shown = 0;
    if (at->read_state == RIG_READ_UNKNOWN)
        return read_unknown(x, op, &condition);
    if (condition.form != RIG_ROW_LISTED)
        return read_total(x, op, &condition);
    enum rig_rc rc = show_rows(x, op, &condition, &shown);
    if (rc == RIG_OK && condition.is_partial)
        return miss_by_clause(x, op, &condition, may_miss);
    if (rc == RIG_OK)
        rc = may_miss ? miss_rows(x, op, &condition) : find_born(x, op, &condition, NULL);
    if (rc == RIG_OK && !may_miss && count_rows(x, at->key, &condition, NULL).count != shown)
        rc = refuse(x, op, "the read misses a row that meets its condition");
    const bool all = rc == RIG_OK && x->r->kind != RIG_ORDER_COMMITS;
    return all ? find_partners(x, op, &condition, may_miss) : rc;
}

/* ---- writes ---- */

static enum rig_rc write_row(struct executing *x, uint32_t op, int64_t id, int64_t replaced)
{
    const struct rig_txn_op *at = &x->r->history->ops[op];
    struct rig_replayed_row *row = rig_replayed_row_find(&x->rows, at->key, id);
    if (row == NULL)
        return refuse(x, op, "the statement changes a row that no statement inserts");
    return rig_replayed_row_write(&x->rows, row, x->txn, op, replaced) ? RIG_OK : no_memory(x);
}

static enum rig_rc write_now(struct executing *x, uint32_t op)
{
    const struct rig_history *history = x->r->history;
    if (rig_row_inserts(history->ops[op].value))
        return write_row(x, op, history->ops[op].value, 0);
    const uint32_t read = replaced_by(history, x->txn, op);
    if (read == RIG_FACT_NONE || condition_of(x, read).form != RIG_ROW_LISTED)
        return refuse(x, op, "the statement has no read of the rows that it changes");
    if (history->ops[read].read_state == RIG_READ_UNKNOWN)
        return RIG_OK;
    const struct rig_read_list list = rig_txn_op_list(history, &history->ops[read]);
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i + 1 < list.count; i += 2)
        rc = write_row(x, op, rig_read_element(&list, i), rig_read_element(&list, i + 1));
    return rc;
}

/* The rows that the executed transaction wrote, none of which another one committed since its start. */
static enum rig_rc commit_now(struct executing *x)
{
    const struct rig_history *history = x->r->history;
    for (size_t i = 0; i < x->rows.own.count; i++) {
        struct rig_replayed_row *row = &x->rows.rows[x->rows.own.at[i]];
        if (x->r->kind == RIG_ORDER_SNAPSHOT && x->r->times[x->txn] > 1 && row->event > x->begun[x->txn] + 1)
            return rig_fail(x->r->err, RIG_E_INPUT,
                            "T%u changes row %lld, which another transaction changed since "
                            "its start",
                            rig_txn_name(history, x->txn), (long long)row->id);
        if (!rig_replayed_row_commit(&x->rows, row, x->event))
            return no_memory(x);
    }
    return RIG_OK;
}

/* Executes the statements of the transaction. Where it stands twice, its reads are compared at the first place only. */
static enum rig_rc execute(struct executing *x)
{
    const struct rig_history *history = x->r->history;
    const uint32_t stood = x->stood[x->txn]++;
    enum rig_rc rc = RIG_OK;
    if (stood == 0)
        x->begun[x->txn] = x->event;
    rig_replayed_rows_begin(&x->rows);
    for (uint32_t op = history->txns[x->txn].first_op; rc == RIG_OK && op < history->txns[x->txn + 1].first_op; op++) {
        if (history->ops[op].kind == RIG_OP_READ_WHERE)
            rc = stood == 0 ? read_now(x, op) : RIG_OK;
        else if (writes(&history->ops[op]))
            rc = write_now(x, op);
    }
    return rc == RIG_OK && stood + 1 == x->r->times[x->txn] ? commit_now(x) : rc;
}

/* ---- orders of writes ---- */

/* An acknowledged transaction that made the version which another one replaced stands before that. */
static enum rig_rc follow_row(const struct executing *x, uint32_t op, int64_t id, int64_t version, bool replaces)
{
    const struct rig_replay *r = x->r;
    struct rig_replayed_row *row = rig_replayed_row_find(&x->rows, r->history->ops[op].key, id);
    const struct rig_fact_write *write = rig_facts_writer(r->facts, r->history->ops[op].key, version);
    if (row == NULL || write == NULL || rig_row_action(version) == RIG_ROWS_DELETE)
        return refuse(x, op, "the read shows a row that no statement made");
    const uint32_t made_by = rig_row_inserts(version) ? RIG_FACT_NONE : replaced_by(r->history, write->txn, write->op);
    const bool is_known = made_by == RIG_FACT_NONE || r->history->ops[made_by].read_state != RIG_READ_UNKNOWN;
    if (is_known && !wrote_row(r->history, write->txn, write->op, id))
        return refuse(x, op, "the read shows a version that its statement did not give to the row");
    if (row->shown == op + 1)
        return refuse(x, op, "the read shows a row twice");
    row->shown = op + 1;
    if (replaces && write->txn != x->txn && r->at[write->txn] > r->at[x->txn])
        return refuse(x, op, "the statement replaces a version that stands after it in the order");
    return RIG_OK;
}

static enum rig_rc follow_writes(struct executing *x)
{
    const struct rig_history *history = x->r->history;
    enum rig_rc rc = RIG_OK;
    for (uint32_t op = history->txns[x->txn].first_op; rc == RIG_OK && op < history->txns[x->txn + 1].first_op; op++) {
        const struct rig_txn_op *at = &history->ops[op];
        if (at->kind != RIG_OP_READ_WHERE)
            continue;
        if (at->read_state == RIG_READ_UNKNOWN)
            return refuse(x, op, "the read has no known result");
        const bool replaces = op + 1 < history->txns[x->txn + 1].first_op && writes(at + 1) && at[1].key == at->key &&
                              !rig_row_inserts(at[1].value);
        const struct rig_read_list list = rig_txn_op_list(history, at);
        for (uint32_t i = 0; rc == RIG_OK && condition_of(x, op).form == RIG_ROW_LISTED && i + 1 < list.count; i += 2)
            rc = follow_row(x, op, rig_read_element(&list, i), rig_read_element(&list, i + 1), replaces);
    }
    return rc;
}

enum rig_rc rig_replay_predicates(struct rig_replay *r)
{
    const size_t txns = (size_t)r->history->txn_count + 1;
    struct executing x = {.r = r,
                          .stood = calloc(txns, sizeof *x.stood),
                          .begun = calloc(txns, sizeof *x.begun),
                          .missed = calloc(r->count + 1, sizeof *x.missed)};
    enum rig_rc rc =
        x.stood != NULL && x.begun != NULL ? rig_replayed_rows_init(&x.rows, r->facts, r->err) : no_memory(&x);
    for (uint32_t event = 0; rc == RIG_OK && event < r->count; event++) {
        x.event = event;
        x.txn = r->events[event];
        rc = r->kind == RIG_ORDER_WRITES ? follow_writes(&x) : execute(&x);
    }
    rig_replayed_rows_done(&x.rows);
    free(x.stood);
    free(x.begun);
    free(x.missed);
    return rc;
}
