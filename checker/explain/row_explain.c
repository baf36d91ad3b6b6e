/* Witnesses over rows (type_words.h): the operations that prove the steps, and the sentences. */
#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/type_words.h"
#include "checker/infer/inference.h"
#include "checker/infer/row_inference.h"
#include "checker/infer/row_versions.h"
#include "checker/model/verdict.h"
#include "history/types/row_ops.h"
#include "history/types/row_clauses.h"

/* ---- steps ---- */

/* Whether a listing read shows the row at that version; any row, where `id` is NULL. */
static bool shows(const struct rig_history *history, const struct rig_txn_op *ops, uint32_t op, const int64_t *id,
                  int64_t version)
{
    const struct rig_read_list list = rig_txn_op_list(history, &ops[op]);
    if (!rig_row_is_read(&ops[op]) || rig_row_condition_at(ops, op).form != RIG_ROW_LISTED)
        return false;
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        if (rig_read_element(&list, at + 1) == version && (id == NULL || rig_read_element(&list, at) == *id))
            return true;
    }
    return false;
}

/* Whether the read is that of an update or delete. */
static bool is_of_write(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    return op + 1 < rig_txn_op_count(history, txn) && rig_row_writes(&ops[op + 1]) && ops[op + 1].key == ops[op].key &&
           !rig_row_inserts(ops[op + 1].value);
}

/* wr, and ww where `by_write`: a read of `to`, of a statement that writes, shows a version of `from`. */
static bool explain_shown(const struct rig_inference *inference, struct rig_step *step, bool by_write)
{
    const struct rig_history *history = inference->history;
    const struct rig_txn_op *from = rig_txn_ops(history, step->from), *to = rig_txn_ops(history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(history, step->from); i++) {
        if (!rig_row_writes(&from[i]))
            continue;
        for (uint32_t j = 0; j < rig_txn_op_count(history, step->to); j++) {
            if (to[j].key != from[i].key || !shows(history, to, j, NULL, from[i].value) ||
                (by_write && !is_of_write(history, step->to, j)))
                continue;
            step->key = from[i].key;
            step->from_op = by_write ? i : UINT32_MAX;
            step->to_op = j;
            step->from_value = from[i].value;
            step->to_value = by_write ? to[j + 1].value : 0;
            return true;
        }
    }
    return false;
}

/* rw of an item: a read of `from` shows a row at a version that a statement of `to` replaced. */
static bool explain_replaced(const struct rig_inference *inference, struct rig_step *step, uint32_t read)
{
    const struct rig_history *history = inference->history;
    const struct rig_txn_op *from = rig_txn_ops(history, step->from), *to = rig_txn_ops(history, step->to);
    const struct rig_read_list list = rig_txn_op_list(history, &from[read]);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const int64_t id = rig_read_element(&list, at), version = rig_read_element(&list, at + 1);
        for (uint32_t j = 0; j < rig_txn_op_count(history, step->to); j++) {
            if (to[j].key != from[read].key || !is_of_write(history, step->to, j) ||
                !shows(history, to, j, &id, version))
                continue;
            step->key = from[read].key;
            step->from_op = read;
            step->to_op = j;
            step->from_value = version;
            step->to_value = to[j + 1].value;
            return true;
        }
    }
    return false;
}

/* A statement of `to` made a later version of the row than this one: not the next one, which explain_replaced() and
 * explain_shown() find. */
static bool explain_later(const struct rig_row_chains *rows, struct rig_step *step, uint32_t op, uint32_t version)
{
    for (uint32_t at = version; at != RIG_ROW_NONE; at = rows->versions[at].next) {
        const struct rig_row_write *by = &rows->statements[rows->versions[at].statement];
        if (at == version || by->txn != step->to)
            continue;
        step->key = by->key;
        step->from_op = op;
        step->to_op = by->op - 1; /* its read */
        step->from_value = rig_rows_number(rows, version);
        step->to_value = by->number;
        return true;
    }
    return false;
}

/* rw of an item, over further versions: `from` read a version of a row. */
static bool explain_replaced_later(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_history *history = inference->history;
    const struct rig_row_chains *rows = inference->rows;
    const struct rig_txn_op *from = rig_txn_ops(history, step->from);
    for (uint32_t i = 0; i < rig_txn_op_count(history, step->from); i++) {
        if (!rig_row_is_read(&from[i]) || rig_row_condition_at(from, i).form != RIG_ROW_LISTED)
            continue;
        const struct rig_read_list list = rig_txn_op_list(history, &from[i]);
        for (uint32_t at = 0; at + 1 < list.count; at += 2) {
            const uint32_t by = rig_rows_statement(rows, from[i].key, rig_read_element(&list, at + 1));
            const uint32_t version =
                by == RIG_ROW_NONE ? RIG_ROW_NONE : rig_rows_version(rows, by, rig_read_element(&list, at));
            if (version != RIG_ROW_NONE && rows->statements[by].txn != step->from &&
                explain_later(rows, step, i, version))
                return true;
        }
    }
    return false;
}

/* ww over further versions: `from` wrote a version of a row. */
static bool explain_written_later(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_row_chains *rows = inference->rows;
    const struct rig_txn_op *from = rig_txn_ops(inference->history, step->from);
    for (uint32_t i = 0; i < rig_txn_op_count(inference->history, step->from); i++) {
        const uint32_t statement =
            rig_row_writes(&from[i]) ? rig_rows_statement(rows, from[i].key, from[i].value) : RIG_ROW_NONE;
        const uint32_t count = statement == RIG_ROW_NONE ? 0 : rows->statements[statement].version_count;
        for (uint32_t v = 0; v < count; v++) {
            if (explain_later(rows, step, i, rows->statements[statement].first_version + v))
                return true;
        }
    }
    return false;
}

static bool reads_row(const struct rig_history *history, const struct rig_txn_op *read, int64_t id)
{
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        if (rig_read_element(&list, at) == id)
            return true;
    }
    return false;
}

/* Whether the read says something of the row by not showing it; then the versions that it may have seen. */
static bool misses(const struct rig_inference *inference, uint32_t txn, uint32_t read, uint32_t insert,
                   struct rig_row_span *span)
{
    const struct rig_txn_op *ops = rig_txn_ops(inference->history, txn);
    const struct rig_row_where condition = rig_rows_condition(inference->rows, txn, read);
    const int64_t id = inference->rows->statements[insert].number;
    const uint32_t later = rig_row_later_version(inference->rows, txn, read, id);
    *span = rig_row_span_of(inference->rows, insert, &condition, later);
    return span->known && !condition.is_partial && !reads_row(inference->history, &ops[read], id) &&
           rig_row_own_version(inference->rows, txn, read, id, NULL) == RIG_ROW_NONE;
}

/* Whether `read` of `from` precedes this version of `to`, since which the row meets the condition; `later`: since an
 * earlier one, which another transaction wrote. */
static bool explain_missed_version(const struct rig_inference *inference, struct rig_step *step, uint32_t read,
                                   uint32_t version, bool later)
{
    const struct rig_row_chains *rows = inference->rows;
    const struct rig_txn_op *from = rig_txn_ops(inference->history, step->from);
    const uint32_t insert = rig_rows_statement(rows, from[read].key, rows->versions[version].id);
    struct rig_row_span span;
    if (insert == RIG_ROW_NONE || !misses(inference, step->from, read, insert, &span) || span.last == span.end)
        return false;
    const struct rig_row_write *row = &rows->statements[insert];
    uint32_t change = span.last == RIG_ROW_NONE ? row->first_version : rows->versions[span.last].next;
    while (later && change != version && change != span.end)
        change = rows->versions[change].next;
    const struct rig_row_write *by = &rows->statements[rows->versions[change].statement];
    if (by->txn != step->to)
        return false;
    step->key = from[read].key;
    step->from_op = read;
    step->to_op = by->op;
    step->from_value = row->number;
    step->to_value = by->number;
    step->absent = true;
    step->by_predicate = rig_row_condition_at(from, read).column != RIG_ROW_BY_KEY;
    return true;
}

/* rw: `read` does not show a row that a statement of `to` made meet its condition for good. */
static bool explain_missed_by(const struct rig_inference *inference, struct rig_step *step, uint32_t read, bool later)
{
    const struct rig_row_chains *rows = inference->rows;
    const struct rig_txn_op *to = rig_txn_ops(inference->history, step->to);
    const uint32_t key = rig_txn_ops(inference->history, step->from)[read].key;
    for (uint32_t j = 0; j < rig_txn_op_count(inference->history, step->to); j++) {
        if (!rig_row_writes(&to[j]) || to[j].key != key)
            continue;
        const uint32_t statement = rig_rows_statement(rows, key, to[j].value);
        const struct rig_row_write *by = &rows->statements[statement];
        for (uint32_t v = 0; statement != RIG_ROW_NONE && v < by->version_count; v++) {
            if (explain_missed_version(inference, step, read, by->first_version + v, later))
                return true;
        }
    }
    return false;
}

static bool explain_missed(const struct rig_inference *inference, struct rig_step *step, uint32_t read)
{
    return explain_missed_by(inference, step, read, false);
}

/* wr: `read` of `to` does not show a row that was there from the start until a statement of `from` changed it. */
static bool explain_gone(const struct rig_inference *inference, struct rig_step *step, uint32_t read)
{
    const struct rig_row_chains *rows = inference->rows;
    const uint32_t key = rig_txn_ops(inference->history, step->to)[read].key;
    for (uint32_t i = rows->insert_first[key]; i < rows->insert_first[key + 1]; i++) {
        const struct rig_row_write *row = &rows->statements[rows->inserts[i]];
        struct rig_row_span span;
        if (!misses(inference, step->to, read, rows->inserts[i], &span) || span.first == RIG_ROW_NONE ||
            span.first == row->first_version || rig_rows_writer(rows, span.first) != step->from)
            continue;
        step->key = key;
        step->from_op = UINT32_MAX;
        step->to_op = read;
        step->from_value = rig_rows_number(rows, span.first);
        step->to_value = row->number;
        step->absent = true;
        return true;
    }
    return false;
}

/* The last version that `other` made of the row, where it changes what the read shows of the row, and the read saw it
 * (`behind`: did not see it); RIG_ROW_NONE. */
static uint32_t find_turn(const struct rig_row_chains *rows, uint32_t insert, const struct rig_row_where *condition,
                          uint32_t seen, uint32_t other, bool behind)
{
    const struct rig_row_write *of = &rows->statements[insert];
    const uint32_t place = rows->history->places->of_txn[other];
    bool met = false;
    if ((place >= seen) != behind)
        return RIG_ROW_NONE;
    for (uint32_t at = of->first_version; at != RIG_ROW_NONE; at = rows->versions[at].next) {
        if (rig_row_is_replaced_at_once(rows, at))
            continue;
        const bool meets = rig_rows_meets(rows, condition, at);
        if ((meets != met || (rig_row_adds(condition) && meets)) && rig_rows_writer(rows, at) == other)
            return at;
        met = meets;
    }
    return RIG_ROW_NONE;
}

/* wr and rw of a read whose versions are known: the other transaction changed what the read shows of a row, before what
 * the read saw or after it. `items`: only rw of an item. */
static bool explain_turn_of(const struct rig_inference *inference, struct rig_step *step, uint32_t read, bool items)
{
    const struct rig_row_chains *rows = inference->rows;
    const bool behind = step->kind == RIG_EDGE_RW;
    const uint32_t txn = behind ? step->from : step->to, other = behind ? step->to : step->from;
    const struct rig_txn_op *ops = rig_txn_ops(inference->history, txn);
    const struct rig_row_where condition = rig_rows_condition(rows, txn, read);
    const uint32_t key = ops[read].key, seen = rig_row_seen(inference->history, txn, read);
    for (uint32_t i = rows->insert_first[key]; i < rows->insert_first[key + 1]; i++) {
        const struct rig_row_turns turns = rig_row_turns_of(rows, rows->inserts[i], &condition, seen);
        const uint32_t turn =
            turns.known ? find_turn(rows, rows->inserts[i], &condition, seen, other, behind) : RIG_ROW_NONE;
        const bool is_item = turns.is_item && turns.missed == turn;
        const int64_t id = rows->statements[rows->inserts[i]].number;
        if (turn == RIG_ROW_NONE || (items && !is_item) ||
            rig_row_own_version(rows, txn, read, id, NULL) != RIG_ROW_NONE)
            continue;
        const struct rig_row_write *by = &rows->statements[rows->versions[turn].statement];
        step->key = key;
        step->from_op = behind ? read : by->op;
        step->to_op = behind ? by->op : read;
        step->from_value = behind ? id : by->number;
        step->to_value = behind ? by->number : id;
        step->by_snapshot = true;
        step->by_predicate = behind && condition.column != RIG_ROW_BY_KEY && !is_item;
        return true;
    }
    return false;
}

static bool explain_turn(const struct rig_inference *inference, struct rig_step *step, uint32_t read)
{
    return explain_turn_of(inference, step, read, false);
}

/* Whether a snapshot says what the read saw. */
static bool has_place(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const uint32_t seen = rig_row_seen(history, txn, op);
    return seen != RIG_PLACE_NONE && seen != RIG_PLACE_LOST;
}

static bool explain_seen(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_txn_op *to = rig_txn_ops(inference->history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(inference->history, step->to); i++) {
        if (rig_row_is_read(&to[i]) && has_place(inference->history, step->to, i) && explain_turn(inference, step, i))
            return true;
    }
    return false;
}

/* Whether the read says of each row whether it saw it. */
static bool tells_rows(const struct rig_history *history, const struct rig_txn_op *ops, uint32_t op)
{
    const struct rig_read_list list = rig_txn_op_list(history, &ops[op]);
    return rig_row_is_read(&ops[op]) &&
           (rig_row_condition_at(ops, op).form == RIG_ROW_LISTED ||
            (list.count == 2 && rig_row_total_is_none(rig_read_element(&list, 0), rig_read_element(&list, 1))));
}

static bool explain_absence(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_txn_op *to = rig_txn_ops(inference->history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(inference->history, step->to); i++) {
        if (to[i].kind == RIG_OP_READ_WHERE && tells_rows(inference->history, to, i) &&
            rig_row_seen(inference->history, step->to, i) != RIG_PLACE_LOST && explain_gone(inference, step, i))
            return true;
    }
    return false;
}

/* rw over further versions: those of a row that a read shows, or misses. */
static bool explain_overwritten(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_history *history = inference->history;
    const struct rig_txn_op *from = rig_txn_ops(history, step->from);
    if (history->places != NULL)
        return false;
    bool found = explain_replaced_later(inference, step);
    for (uint32_t i = 0; !found && i < rig_txn_op_count(history, step->from); i++)
        found = from[i].kind == RIG_OP_READ_WHERE && tells_rows(history, from, i) &&
                explain_missed_by(inference, step, i, true);
    return found;
}

static bool explain_step(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_history *history = inference->history;
    const struct rig_txn_op *from = rig_txn_ops(history, step->from);
    if (step->kind != RIG_EDGE_RW)
        return explain_shown(inference, step, step->kind == RIG_EDGE_WW) ||
               (step->kind == RIG_EDGE_WW && explain_written_later(inference, step)) ||
               (step->kind == RIG_EDGE_WR && (explain_absence(inference, step) || explain_seen(inference, step)));
    /* Rows that are shown or added up, rows that are missed by their keys, and then rows that are missed by a
     * predicate. */
    for (unsigned way = 0; way < 3; way++) {
        for (uint32_t i = 0; i < rig_txn_op_count(history, step->from); i++) {
            const struct rig_row_where condition = rig_row_condition_at(from, i);
            const bool exact = rig_row_is_read(&from[i]) && has_place(history, step->from, i);
            const bool lost = rig_row_seen(history, step->from, i) == RIG_PLACE_LOST;
            if (from[i].kind != RIG_OP_READ_WHERE || (!exact && !tells_rows(history, from, i)) || (lost && way > 0))
                continue;
            if (way == 0 ? (!rig_row_adds(&condition) ? explain_replaced(inference, step, i)
                                                      : exact && explain_turn_of(inference, step, i, true))
                         : (way == 1) == (condition.column == RIG_ROW_BY_KEY) &&
                               (exact ? explain_turn : explain_missed)(inference, step, i))
                return true;
        }
    }
    return explain_overwritten(inference, step);
}

/* ---- sentences ---- */

static const char *const actions[] = {"inserted", "updated", "deleted", "inserted"};

static void add_condition(const struct rig_row_where *condition, struct rig_buf *text)
{
    if (condition->column == RIG_ROW_BY_KEY) {
        rig_buf_printf(text, " at key %" PRId64, rig_row_closed_key(condition->least * RIG_ROW_SERIAL));
        return;
    }
    rig_buf_add_text(text, " where ");
    rig_row_say_condition(condition, text);
}

static const char *column_name(uint32_t column)
{
    static const char *const names[] = {"a", "b", "c", "t", "u", "r"};
    return names[column];
}

/* The words of the clause of the read at `op`. */
static void add_clause(const struct rig_history *history, uint32_t txn, uint32_t op, struct rig_buf *text)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const struct rig_row_clause clause = rig_row_clause_before(ops, op);
    const bool pairs = clause.kind == RIG_ROW_PARTNERS || clause.kind == RIG_ROW_PAIRS;
    const bool joins = pairs || clause.kind == RIG_ROW_ABSENT;
    const uint32_t own = joins ? rig_row_own_read(ops, rig_txn_op_count(history, txn), op) : RIG_ROW_NO_PART;
    if (own != RIG_ROW_NO_PART)
        rig_say(history, text,
                pairs ? " and %s = %s of a row of table %K to join"
                      : " and %s = %s of a row of table %K, by NOT EXISTS,",
                column_name(clause.partner), column_name(clause.column), ops[own].key);
    else if (clause.kind == RIG_ROW_SOURCE)
        rig_buf_add_text(text, " for a subquery");
    else if (clause.kind == RIG_ROW_SKIPS)
        rig_buf_add_text(text, " without locked rows");
    else if (clause.kind == RIG_ROW_UPSERT)
        rig_buf_add_text(text, ", by the unique value of an upsert,");
    else if (clause.kind == RIG_ROW_LIMIT)
        rig_say(history, text, " by %s and id, the first %d,", column_name(clause.column), (int32_t)clause.partner);
}

static void add_query(const struct rig_history *history, uint32_t txn, uint32_t op, struct rig_buf *text)
{
    static const char *const did[] = {
        [RIG_ROW_LISTED] = "read", [RIG_ROW_COUNTED] = "counted", [RIG_ROW_SUMMED] = "added up the versions of"};
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    struct rig_row_where condition = rig_row_all();
    const bool has_condition = op > 0 && ops[op - 1].kind == RIG_OP_ROW && ops[op - 1].key == ops[op].key &&
                               rig_row_condition_of(ops[op - 1].value, &condition);
    rig_say(history, text, "%T %s table %K", txn, did[condition.form], ops[op].key);
    if (has_condition)
        add_condition(&condition, text);
    add_clause(history, txn, op, text);
    rig_say(history, text, " as %L", txn, op);
}

/* The first row that both reads show at the same version. */
static int64_t common_row(const struct rig_history *history, const struct rig_step *step)
{
    const struct rig_read_list a = rig_txn_op_list(history, rig_txn_ops(history, step->from) + step->from_op);
    const struct rig_read_list b = rig_txn_op_list(history, rig_txn_ops(history, step->to) + step->to_op);
    for (uint32_t i = 0; i + 1 < a.count; i += 2) {
        for (uint32_t j = 0; j + 1 < b.count; j += 2) {
            if (rig_read_element(&a, i) == rig_read_element(&b, j) && rig_read_element(&a, i + 1) == step->from_value &&
                rig_read_element(&b, j + 1) == step->from_value)
                return rig_read_element(&a, i);
        }
    }
    return 0;
}

/* The read does not show a row that was there from the start, or that another transaction made. */
static void add_absent(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    if (step->kind == RIG_EDGE_WR)
        rig_say(history, text, ": %Q, without %I, which was there from the start and met the condition until %T %s it.",
                step->to, step->to_op, step->to_value, step->from, actions[rig_row_action(step->from_value)]);
    else if (rig_row_inserts(step->to_value))
        rig_say(history, text, ": %Q, without %I, which %T inserted, and which met the condition from then on.",
                step->from, step->from_op, step->from_value, step->to);
    else
        rig_say(history, text,
                ": %Q, without %I, which %T updated to version %V, and which met the condition from then on.",
                step->from, step->from_op, step->from_value, step->to, step->to_value);
}

/* By the snapshot of the read, which shows a commit that changed what the read shows of a row, or does not. */
static void add_turn(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    const bool later = step->kind == RIG_EDGE_RW;
    const uint32_t txn = later ? step->from : step->to, op = later ? step->from_op : step->to_op;
    const int64_t number = later ? step->to_value : step->from_value, id = later ? step->from_value : step->to_value;
    const struct rig_row_where condition = rig_row_condition_at(rig_txn_ops(history, txn), op);
    rig_say(history, text, ": %Q with a snapshot that %s %T, which %s row %V", txn, op,
            later ? "does not show" : "shows", later ? step->to : step->from, actions[rig_row_action(number)], id);
    if (rig_row_action(number) == RIG_ROWS_UPDATE)
        rig_say(history, text, " to version %V", number);
    if (rig_row_adds(&condition) && rig_row_matches(&condition, id, number))
        rig_say(history, text, ": this version meets the condition, so it changed the total.");
    else
        rig_say(history, text, ": with this the row %s to meet the condition.",
                rig_row_matches(&condition, id, number) ? "began" : "ceased");
}

/* In a case: as supposed or concluded, or what follows for a read that does not show a row. */
static void add_chosen(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    if (step->kind == RIG_EDGE_RW)
        rig_say(history, text, ": %Q, without %I, before %T made it meet the condition", step->from, step->from_op,
                step->from_value, step->to);
    else if (!step->absent)
        rig_say(history, text, ": %T reads after %T commits", step->to, step->from);
    else
        rig_say(history, text, ": %Q, without %I, after %T had made it meet the condition, so after %T %s it", step->to,
                step->to_op, step->to_value, step->order_txn, step->from, actions[rig_row_action(step->from_value)]);
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    if (step->order == RIG_ORDER_CASE)
        add_chosen(history, step, text);
    else if (step->by_snapshot)
        add_turn(history, step, text);
    else if (step->absent)
        add_absent(history, step, text);
    else if (step->kind == RIG_EDGE_RW && common_row(history, step) == 0)
        rig_say(history, text, ": %Q, with version %V of a row, which %T %s later.", step->from, step->from_op,
                step->from_value, step->to, actions[rig_row_action(step->to_value)]);
    else if (step->kind == RIG_EDGE_WW &&
             !shows(history, rig_txn_ops(history, step->to), step->to_op, NULL, step->from_value))
        rig_say(history, text, ": %T %s a row later, of which %T wrote version %V.", step->to,
                actions[rig_row_action(step->to_value)], step->from, step->from_value);
    else if (step->kind == RIG_EDGE_RW)
        rig_say(history, text, ": %Q, with row %V at version %V, which %T %s.", step->from, step->from_op,
                common_row(history, step), step->from_value, step->to, actions[rig_row_action(step->to_value)]);
    else if (step->kind == RIG_EDGE_WW)
        rig_say(history, text, ": %T %s a row at version %V, which %T wrote.", step->to,
                actions[rig_row_action(step->to_value)], step->from_value, step->from);
    else
        rig_say(history, text, ": %Q, with version %V, which %T wrote.", step->to, step->to_op, step->from_value,
                step->from);
}

/* The transaction that removed the row, as far as reads tell; UINT32_MAX: none. */
static uint32_t remover_of(const struct rig_history *history, uint32_t key, int64_t id)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const bool may = history->txns[txn].outcome != RIG_OUTCOME_FAIL;
        for (uint32_t i = 1; may && i < rig_txn_op_count(history, txn); i++) {
            if (rig_row_writes(&ops[i]) && ops[i].key == key && rig_row_action(ops[i].value) == RIG_ROWS_DELETE &&
                reads_row(history, &ops[i - 1], id))
                return txn;
        }
    }
    return UINT32_MAX;
}

/* Whether a row with the value may have been there after the load. */
static bool has_owner_at_end(const struct rig_history *history, uint32_t key, uint32_t code)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const bool may = history->txns[txn].outcome != RIG_OUTCOME_FAIL;
        for (uint32_t i = 0; may && i < rig_txn_op_count(history, txn); i++) {
            if (rig_row_writes(&ops[i]) && ops[i].key == key && rig_row_class(ops[i].value) == RIG_ROW_KEYED_CLASS &&
                rig_row_column_code((uint32_t)rig_row_payload(ops[i].value), RIG_ROW_UNIQUE) == code &&
                remover_of(history, key, ops[i].value) == UINT32_MAX)
                return true;
        }
    }
    return false;
}

static void add_twice(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const uint32_t removers[] = {remover_of(history, w->key, w->value), remover_of(history, w->key, w->other_value)};
    const unsigned first = removers[1] != UINT32_MAX && (removers[0] == UINT32_MAX || removers[1] < removers[0]);
    rig_say(history, text, "%T inserted row %V with the same value, ", w->txns[1], w->other_value);
    if (removers[first] == UINT32_MAX)
        rig_say(history, text, "and both are there after the load.");
    else
        rig_say(history, text, "and both were there until %T began, which deleted row %V.", removers[first],
                first == 0 ? w->value : w->other_value);
}

static void add_dangling(const struct rig_history *history, const struct rig_witness *w, int value, uint32_t code,
                         struct rig_buf *text)
{
    const uint32_t remover = remover_of(history, w->key, w->value);
    const bool at_end = remover == UINT32_MAX && !has_owner_at_end(history, w->key, code);
    if (w->txn_count == 2)
        rig_say(history, text, "%T deleted row %V, the last one with u = %d, ", w->txns[1], w->other_value, value);
    else
        rig_say(history, text,
                at_end ? "no committed transaction inserted a row with u = %d, "
                       : "no transaction had inserted a row with u = %d, ",
                value);
    rig_say(history, text, at_end ? "and row %V is there after the load" : "and row %V was there then", w->value);
    if (remover != UINT32_MAX)
        rig_say(history, text, ", before %T began, which deleted it", remover);
    rig_say(history, text, w->txn_count != 2 ? "." : at_end ? ": it refers to none." : ": it referred to none.");
}

/* A constraint that the rows break after the load, or broke during it. */
static void add_broken(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const bool unique = w->anomaly == RIG_ANOMALY_BROKEN_UNIQUE;
    const uint32_t column = unique ? RIG_ROW_UNIQUE : RIG_ROW_REFERENCE;
    const uint32_t code = rig_row_column_code((uint32_t)rig_row_payload(w->value), column);
    rig_say(history, text, "%T inserted row %V of table %K with %s = %d, ", w->txns[0], w->value, w->key,
            unique ? "u" : "r", rig_row_value_of(code));
    if (unique)
        add_twice(history, w, text);
    else
        add_dangling(history, w, (int)rig_row_value_of(code), code, text);
}

/* "a = 7, b = 3" and so on: the values that the check is about. */
static void add_checked_values(uint32_t contents, struct rig_buf *text)
{
    static const uint8_t columns[][2] = {[RIG_ROW_UNGUARDED] = {0, 0},
                                         [RIG_ROW_GUARDS_ORDER] = {0, 1},
                                         [RIG_ROW_GUARDS_RANGE] = {2, 2},
                                         [RIG_ROW_GUARDS_VALUES] = {1, RIG_ROW_TEXT}};
    const uint8_t *of = columns[rig_row_guard_of(contents)];
    for (uint32_t i = 0; i < 2 && (i == 0 || of[1] != of[0]); i++) {
        rig_buf_printf(text, "%s%c = ", i == 0 ? "" : ", ", rig_row_column_name(of[i]));
        rig_row_say_code(RIG_ROW_PLAIN_WORDS, of[i], rig_row_column_code(contents, of[i]), text);
    }
}

/* A version that a CHECK or NOT NULL forbids. */
static void add_checked(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const uint32_t contents = (uint32_t)w->other_value;
    const int64_t number = rig_txn_ops(history, w->txns[0])[w->op].value;
    rig_say(history, text,
            rig_row_inserts(number) ? "%T inserted row %V of table %K with " : "%T left row %V of table %K with ",
            w->txns[0], w->value, w->key);
    if (rig_row_inserts_null_guard(number)) {
        rig_buf_add_text(text, "g = NULL, and g is NOT NULL.");
        return;
    }
    add_checked_values(contents, text);
    rig_buf_printf(text, " and g = %u, which %s forbids", (unsigned)rig_row_guard_of(contents),
                   rig_row_check_text(rig_row_guard_of(contents)));
    if (w->txn_count == 2)
        rig_say(history, text, "; %T left the version before", w->txns[1]);
    rig_buf_add_char(text, '.');
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    if (rig_anomaly_is_of_constraint(w->anomaly)) {
        if (w->anomaly == RIG_ANOMALY_BROKEN_CHECK)
            add_checked(history, w, text);
        else
            add_broken(history, w, text);
        return;
    }
    const bool missed = w->anomaly == RIG_ANOMALY_PREDICATE_READ_MISS;
    rig_say(history, text, missed ? "%Q, without %I, " : "%Q, %I ", w->txns[0], w->op, w->other_value);
    if (!missed)
        rig_say(history, text, "at version %V, ", w->value);
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_PREDICATE_READ_MISS:
        rig_say(history, text,
                "which was there from the start and met the condition at each version that the read could see.");
        return;
    case RIG_ANOMALY_INTERNAL:
        rig_say(history, text, "and not as it had left the row itself.");
        return;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_say(history, text, "with this row twice.");
        return;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_say(history, text, "which no statement wrote.");
        return;
    case RIG_ANOMALY_FUTURE_READ:
        rig_say(history, text, "which it wrote itself only later.");
        return;
    case RIG_ANOMALY_PREDICATE_MISMATCH:
        rig_say(history, text, "which does not meet the condition.");
        return;
    default:
        break;
    }
    RIG_REQUIRE(w->txn_count == 2);
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_G1A:
        rig_say(history, text, "which %T wrote, which %F.", w->txns[1], w->txns[1]);
        return;
    case RIG_ANOMALY_G1B:
        rig_say(history, text, "which %T wrote and replaced itself later.", w->txns[1]);
        return;
    default:
        RIG_REQUIRE(w->anomaly == RIG_ANOMALY_LOST_UPDATE);
        rig_say(history, text, "and replaced it, and %T replaced the same version.", w->txns[1]);
    }
}

const struct rig_type_words rig_row_words = {
    .explain_step = explain_step,
    .write = "statement on table",
    .writes = "statements on tables",
    .add_step = add_step,
    .add_query = add_query,
    .add_noncyclic = add_noncyclic,
};
