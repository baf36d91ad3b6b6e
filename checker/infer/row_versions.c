#include "checker/infer/row_versions.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/vec.h"
#include "history/model/window_view.h"

RIG_VEC(uint32_t, row_stack)

enum { MOST_MOVES = 8 }; /* places that a statement moves, on average, before sorting takes over */
enum { MOST_GAPS = 4 };  /* counts that a statement of a table has to itself, on average, where they have places */

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the versions of the rows");
}

struct rig_row_where rig_row_condition_at(const struct rig_txn_op *ops, uint32_t op)
{
    struct rig_row_where condition = rig_row_all();
    if (op > 0 && ops[op - 1].kind == RIG_OP_ROW && ops[op - 1].key == ops[op].key)
        (void)rig_row_condition_of(ops[op - 1].value, &condition);
    return condition;
}

/* For rig_row_add_partners(). */
static uint32_t contents_at(const void *context, uint32_t key, int64_t id, int64_t number)
{
    const struct rig_row_chains *rows = context;
    const uint32_t statement = rig_rows_statement(rows, key, number);
    const uint32_t version = statement == RIG_ROW_NONE ? RIG_ROW_NONE : rig_rows_version(rows, statement, id);
    return version == RIG_ROW_NONE ? RIG_ROW_CONTENTS_UNKNOWN : rows->versions[version].contents;
}

struct rig_row_where rig_rows_condition(const struct rig_row_chains *rows, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(rows->history, txn);
    struct rig_row_where condition;
    uint32_t own;
    if (!rig_row_condition_alone(rows->history, ops, rig_txn_op_count(rows->history, txn), op, &condition, &own))
        rig_row_add_partners(rows->history, ops, op, own, contents_at, rows, &condition);
    return condition;
}

bool rig_row_continues(const struct rig_txn_op *ops, uint32_t op)
{
    const struct rig_txn_op *before = &ops[op - 1], *at = &ops[op];
    if (before->kind != RIG_OP_READ_WHERE)
        return before->key == at->key && before->kind == RIG_OP_ROW && before->value < 0;
    if (rig_row_is_further(rig_row_clause_before(ops, op - 1).kind))
        return true;
    return rig_row_writes(at) && (rig_row_inserts(at->value) ? rig_row_has_source(at->value) : before->key == at->key);
}

/* ---- statements ---- */

/* The reason why a condition or a clause, or NULL. */
static const char *misfit_of_read(const struct rig_txn_op *ops, uint32_t count, uint32_t i)
{
    struct rig_row_where condition;
    struct rig_row_clause clause;
    const bool is_read = i + 1 < count && ops[i + 1].kind == RIG_OP_READ_WHERE && ops[i + 1].key == ops[i].key;
    if (!rig_row_is_clause(ops[i].value))
        return !rig_row_condition_of(ops[i].value, &condition) ? "a condition that is not one of rig's"
               : is_read                                       ? NULL
                                                               : "a condition without its read";
    if (!rig_row_clause_of(ops[i].value, &clause))
        return "a clause that is not one of rig's";
    if (clause.kind == RIG_ROW_UPSERT && i + 1 < count && ops[i + 1].value == ops[i].value)
        return NULL; /* in the place of an insert that did not happen */
    if (i + 2 >= count || rig_row_clause_before(ops, i + 2).kind != clause.kind)
        return "a clause without its read";
    const struct rig_row_where asked = rig_row_condition_at(ops, i + 2);
    if (asked.column != RIG_ROW_BY_TESTS || asked.form != RIG_ROW_LISTED)
        return "a clause of a read that does not list rows by columns";
    const bool replaces = i + 3 < count && rig_row_writes(&ops[i + 3]) && ops[i + 3].key == ops[i].key &&
                          !rig_row_inserts(ops[i + 3].value);
    if (clause.kind == RIG_ROW_LIMIT && (asked.way != RIG_ROW_SELECTED || replaces))
        return "a limit of a read that locks its rows, aggregates them or changes them";
    if (clause.kind == RIG_ROW_UPSERT && !replaces)
        return "an upsert without what it does to a row that is there";
    if (!rig_row_is_further(clause.kind))
        return NULL;
    const uint32_t own = rig_row_own_read(ops, count, i + 2);
    struct rig_row_clause of_own = {.kind = RIG_ROW_NO_CLAUSE};
    const bool fits = own != RIG_ROW_NO_PART && rig_row_further_read(ops, own, &of_own) == i + 2 &&
                      rig_row_condition_at(ops, own).form == RIG_ROW_LISTED;
    return fits ? NULL : "a further read without the statement that it belongs to";
}

/* The reason why the operation is no part of a statement, or NULL. */
static const char *misfit(const struct rig_txn_op *ops, uint32_t count, uint32_t i)
{
    if (ops[i].kind == RIG_OP_READ_WHERE)
        return NULL;
    if (ops[i].kind != RIG_OP_ROW)
        return "an operation that is neither a statement on rows nor a read of rows; check it as another workload";
    if (ops[i].value <= 0)
        return misfit_of_read(ops, count, i);
    if (!rig_row_is_number(ops[i].value))
        return "a statement whose number is not one of rig's";
    if (rig_row_has_source(ops[i].value)) {
        const uint32_t source = rig_row_source_read(ops, i);
        if (source == RIG_ROW_NO_PART || rig_row_condition_at(ops, source).form != RIG_ROW_LISTED)
            return "a statement with subqueries without their read";
    }
    if (rig_row_inserts(ops[i].value))
        return NULL;
    const bool follows = i > 0 && ops[i - 1].kind == RIG_OP_READ_WHERE && ops[i - 1].key == ops[i].key;
    return follows && rig_row_condition_at(ops, i - 1).form == RIG_ROW_LISTED ? NULL
                                                                              : "an update or delete without its read";
}

static bool is_before(const struct rig_row_write *a, const struct rig_row_write *b)
{
    return a->number != b->number ? a->number < b->number : a->txn != b->txn ? a->txn < b->txn : a->op < b->op;
}

static int compare_statements(const void *left, const void *right)
{
    return is_before(left, right) ? -1 : is_before(right, left);
}

/* By number. Statements are issued by ascending numbers, and complete in nearly the same order: few have to move
 * far. */
static void sort_statements(struct rig_row_write *statements, uint32_t count)
{
    uint64_t moves = 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct rig_row_write of = statements[i];
        uint32_t at = i;
        for (; at > 0 && is_before(&of, &statements[at - 1]); at--)
            statements[at] = statements[at - 1];
        statements[at] = of;
        moves += i - at;
        if (moves > (uint64_t)count * MOST_MOVES) {
            qsort(statements, count, sizeof *statements, compare_statements);
            return;
        }
    }
}

/* Lists the statements by key, then number. */
static enum rig_rc list_statements(struct rig_row_chains *rows, struct rig_err *err)
{
    const struct rig_history *history = rows->history;
    uint32_t *next = rows->key_first + 1, at = 0; /* per key: the place of its next statement, which becomes its end */
    for (uint32_t key = 0; key < history->key_count; key++) {
        const uint32_t statements = next[key];
        next[key] = at;
        at += statements;
    }
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const uint32_t count = rig_txn_op_count(history, txn);
        for (uint32_t i = 0; i < count; i++) {
            const char *why = misfit(ops, count, i);
            if (why != NULL)
                return rig_fail(err, RIG_E_INPUT, "transaction %u holds %s", rig_txn_name(history, txn), why);
            if (rig_row_writes(&ops[i]))
                rows->statements[next[ops[i].key]++] =
                    (struct rig_row_write){.number = ops[i].value, .key = ops[i].key, .txn = txn, .op = i};
        }
    }
    for (uint32_t key = 0; key < history->key_count; key++)
        sort_statements(rows->statements + rows->key_first[key], rows->key_first[key + 1] - rows->key_first[key]);
    return RIG_OK;
}

static enum rig_rc used_twice(const struct rig_row_chains *rows, uint32_t second, struct rig_err *err)
{
    const struct rig_row_write *a = &rows->statements[second - 1], *b = &rows->statements[second];
    char key[64];
    rig_history_key_name(rows->history, a->key, key, sizeof key);
    return rig_fail(
        err, RIG_E_INPUT,
        "transactions %u and %u both have a statement %lld on key %s; predicate needs numbers that are unique "
        "per key",
        rig_txn_name(rows->history, a->txn), rig_txn_name(rows->history, b->txn), (long long)a->number, key);
}

static bool is_insert(const struct rig_row_write *statement)
{
    return rig_row_inserts(statement->number);
}

static enum rig_rc index_statements(struct rig_row_chains *rows, struct rig_err *err)
{
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        const struct rig_row_write *of = &rows->statements[i];
        if (i > 0 && of[-1].key == of->key && of[-1].number == of->number)
            return used_twice(rows, i, err);
    }
    uint32_t at = 0;
    for (uint32_t key = 0; key < rows->history->key_count; key++) {
        rows->insert_first[key] = at;
        for (uint32_t i = rows->key_first[key]; i < rows->key_first[key + 1]; i++) {
            if (is_insert(&rows->statements[i]))
                rows->inserts[at++] = i;
        }
    }
    rows->insert_first[rows->history->key_count] = at;
    return RIG_OK;
}

static enum rig_rc find_statements(struct rig_row_chains *rows, struct rig_arena *arena, struct rig_err *err)
{
    const struct rig_history *history = rows->history;
    uint32_t count = 0;
    rows->key_first = rig_arena_array(arena, (size_t)history->key_count + 2, sizeof *rows->key_first);
    if (rows->key_first == NULL)
        return no_memory(err);
    for (uint32_t op = 0; op < history->op_count; op++) {
        const bool writes = rig_row_writes(&history->ops[op]);
        count += writes;
        rows->key_first[history->ops[op].key + 1] += writes;
    }
    rows->statement_count = count;
    rows->statements = rig_arena_room(arena, (size_t)count + 1, sizeof *rows->statements);
    rows->inserts = rig_arena_room(arena, (size_t)count + history->key_count + 1, sizeof *rows->inserts);
    rows->insert_first = rig_arena_array(arena, (size_t)history->key_count + 2, sizeof *rows->insert_first);
    if (rows->statements == NULL || rows->inserts == NULL || rows->insert_first == NULL)
        return no_memory(err);
    enum rig_rc rc = list_statements(rows, err);
    return rc == RIG_OK ? index_statements(rows, err) : rc;
}

/* The count in the number of a statement of the workload sql: its place among those of its table, nearly. */
static int64_t count_in(int64_t number)
{
    const bool is_keyed = rig_row_class(number) == RIG_ROW_KEYED_CLASS;
    return rig_row_serial(number) >> (is_keyed ? RIG_ROW_KEYED_BITS : RIG_ROW_PAYLOAD_BITS);
}

/* How many counts the statements of the key span; 0: they have none, or too few statements for a place each. */
static uint32_t counts_of(const struct rig_row_chains *rows, uint32_t key, int64_t *least)
{
    int64_t most = INT64_MIN;
    *least = INT64_MAX;
    for (uint32_t i = rows->key_first[key]; i < rows->key_first[key + 1]; i++) {
        const int64_t count = count_in(rows->statements[i].number);
        if (!rig_row_is_of_sql(rows->statements[i].number))
            return 0;
        *least = count < *least ? count : *least;
        most = count > most ? count : most;
    }
    const uint32_t statements = rows->key_first[key + 1] - rows->key_first[key];
    return statements > 0 && most - *least < (int64_t)statements * MOST_GAPS ? (uint32_t)(most - *least) + 1 : 0;
}

/* Gives each statement of the workload sql a place by its count; of several with one count, the first. */
static bool index_counts(struct rig_row_chains *rows, struct rig_arena *arena)
{
    const uint32_t keys = rows->history->key_count;
    rows->count_first = rig_arena_array(arena, (size_t)keys + 2, sizeof *rows->count_first);
    rows->least_count = rig_arena_room(arena, (size_t)keys + 1, sizeof *rows->least_count);
    if (rows->count_first == NULL || rows->least_count == NULL)
        return false;
    for (uint32_t key = 0; key < keys; key++)
        rows->count_first[key + 1] = rows->count_first[key] + counts_of(rows, key, &rows->least_count[key]);
    rows->by_count = rig_arena_room(arena, (size_t)rows->count_first[keys] + 1, sizeof *rows->by_count);
    if (rows->by_count == NULL)
        return false;
    memset(rows->by_count, 0xFF, ((size_t)rows->count_first[keys] + 1) * sizeof *rows->by_count);
    for (uint32_t i = rows->statement_count; i-- > 0;) {
        const struct rig_row_write *of = &rows->statements[i];
        if (rows->count_first[of->key] < rows->count_first[of->key + 1])
            rows->by_count[rows->count_first[of->key] + (count_in(of->number) - rows->least_count[of->key])] = i;
    }
    return true;
}

/* The statement that has the place of the number's count; RIG_ROW_NONE: look further. */
static uint32_t statement_by_count(const struct rig_row_chains *rows, uint32_t key, int64_t number)
{
    const uint32_t counts = rows->count_first[key + 1] - rows->count_first[key];
    if (counts == 0)
        return RIG_ROW_NONE;
    const uint64_t place = (uint64_t)(count_in(number) - rows->least_count[key]);
    const uint32_t found = place < counts ? rows->by_count[rows->count_first[key] + place] : RIG_ROW_NONE;
    return found != RIG_ROW_NONE && rows->statements[found].number == number ? found : RIG_ROW_NONE;
}

uint32_t rig_rows_find_statement(const struct rig_row_chains *rows, uint32_t key, int64_t number)
{
    const uint32_t by_count = statement_by_count(rows, key, number);
    if (by_count != RIG_ROW_NONE)
        return by_count;
    uint32_t low = rows->key_first[key], high = rows->key_first[key + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rows->statements[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < rows->key_first[key + 1] && rows->statements[low].number == number;
    return found ? low : RIG_ROW_NONE;
}

uint32_t rig_rows_version(const struct rig_row_chains *rows, uint32_t statement, int64_t id)
{
    const struct rig_row_write *of = &rows->statements[statement];
    for (uint32_t i = 0; i < of->version_count; i++) {
        if (rows->versions[of->first_version + i].id == id)
            return of->first_version + i;
    }
    return RIG_ROW_NONE;
}

/* The first row of the table whose serial is at least that. */
static uint32_t first_row(const struct rig_row_chains *rows, uint32_t key, int64_t serial)
{
    uint32_t low = rows->insert_first[key], high = rows->insert_first[key + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rig_row_serial(rows->statements[rows->inserts[middle]].number) < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t rig_rows_asked(const struct rig_row_chains *rows, uint32_t key, const struct rig_row_where *condition,
                        uint32_t *end)
{
    *end = condition->is_partial ? rows->insert_first[key] : rows->insert_first[key + 1];
    if (condition->is_partial || !rig_row_asks_ids(condition))
        return rows->insert_first[key];
    if (condition->most != INT64_MAX)
        *end = first_row(rows, key, condition->most + 1);
    return first_row(rows, key, condition->least);
}

/* ---- versions ---- */

/* The rows that an update or delete changed, as they were before. */
static struct rig_read_list changed_rows(const struct rig_row_chains *rows, const struct rig_row_write *statement)
{
    return rig_txn_op_list(rows->history, rig_txn_ops(rows->history, statement->txn) + statement->op - 1);
}

static bool find_versions(struct rig_row_chains *rows, struct rig_arena *arena)
{
    size_t count = 0;
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        struct rig_row_write *of = &rows->statements[i];
        const struct rig_txn_op *ops = rig_txn_ops(rows->history, of->txn);
        of->rows_known = is_insert(of) || rig_row_is_read(&ops[of->op - 1]);
        of->version_count = is_insert(of) ? 1 : !of->rows_known ? 0 : changed_rows(rows, of).count / 2;
        of->first_version = (uint32_t)count;
        count += of->version_count;
    }
    if (count >= RIG_ROW_NONE)
        return false;
    rows->versions = rig_arena_room(arena, count + 1, sizeof *rows->versions);
    if (rows->versions == NULL)
        return false;
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        const struct rig_row_write *of = &rows->statements[i];
        const struct rig_read_list list =
            is_insert(of) || !of->rows_known ? (struct rig_read_list){0} : changed_rows(rows, of);
        for (uint32_t at = 0; at < of->version_count; at++)
            rows->versions[rows->version_count++] =
                (struct rig_row_version){.id = is_insert(of) ? of->number : rig_read_element(&list, 2 * at),
                                         .statement = i,
                                         .before = RIG_ROW_NONE,
                                         .next = RIG_ROW_NONE,
                                         .contents = RIG_ROW_CONTENTS_UNKNOWN};
    }
    RIG_INVARIANT(rows->version_count == count);
    return true;
}

/* The version that this one replaced, of any transaction; RIG_ROW_NONE. */
static uint32_t replaced_version(const struct rig_row_chains *rows, uint32_t version)
{
    const struct rig_row_version *of = &rows->versions[version];
    const struct rig_row_write *by = &rows->statements[of->statement];
    if (is_insert(by))
        return RIG_ROW_NONE;
    const struct rig_read_list list = changed_rows(rows, by);
    const uint32_t statement =
        rig_rows_statement(rows, by->key, rig_read_element(&list, 2 * (version - by->first_version) + 1));
    return statement == RIG_ROW_NONE ? RIG_ROW_NONE : rig_rows_version(rows, statement, of->id);
}

/* Works out the contents of the version, and of those before it that have none yet: back to one that has, and forward
 * again. Versions that replace each other in a circle have none. */
static bool find_contents(struct rig_row_chains *rows, uint32_t version, struct row_stack *waiting)
{
    uint32_t contents = RIG_ROW_CONTENTS_UNKNOWN;
    for (uint32_t at = version; at != RIG_ROW_NONE && waiting->count <= rows->version_count;) {
        contents = rows->versions[at].contents;
        if (contents != RIG_ROW_CONTENTS_UNKNOWN)
            break;
        if (!row_stack_add(waiting, at))
            return false;
        at = replaced_version(rows, at);
    }
    const bool circle = waiting->count > rows->version_count;
    while (waiting->count > 0) {
        const uint32_t at = waiting->at[--waiting->count];
        const struct rig_row_write *by = &rows->statements[rows->versions[at].statement];
        contents = circle ? RIG_ROW_CONTENTS_UNKNOWN
                          : rig_row_contents_left(rows->history, rig_txn_ops(rows->history, by->txn), by->op, contents);
        rows->versions[at].contents = contents;
    }
    return true;
}

/* Statements are in the order of their numbers, and nearly all replace versions of lower ones. */
static bool find_all_contents(struct rig_row_chains *rows)
{
    struct row_stack waiting = {0};
    bool done = true;
    for (uint32_t i = 0; done && i < rows->version_count; i++) {
        if (rig_row_is_of_sql(rig_rows_number(rows, i)))
            done = find_contents(rows, i, &waiting);
    }
    row_stack_done(&waiting);
    return done;
}

/* ---- committed transactions ---- */

/* Transactions of unknown fate committed if this one read their versions. False when memory runs out. */
static bool follow_reads(struct rig_row_chains *rows, uint32_t txn, struct row_stack *fresh)
{
    const struct rig_history *history = rows->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (!rig_row_is_read(&ops[i]) || rig_row_condition_at(ops, i).form != RIG_ROW_LISTED)
            continue;
        const struct rig_read_list list = rig_txn_op_list(history, &ops[i]);
        for (uint32_t at = 1; at < list.count; at += 2) {
            const uint32_t statement = rig_rows_statement(rows, ops[i].key, rig_read_element(&list, at));
            const uint32_t writer = statement == RIG_ROW_NONE ? txn : rows->statements[statement].txn;
            if (rows->committed[writer] || history->txns[writer].outcome != RIG_OUTCOME_INFO)
                continue;
            rows->committed[writer] = 1;
            rows->committed_count++;
            if (!row_stack_add(fresh, writer))
                return false;
        }
    }
    return true;
}

static bool find_committed(struct rig_row_chains *rows, struct rig_arena *arena)
{
    const struct rig_history *history = rows->history;
    struct row_stack fresh = {0};
    bool any_open = false, done = true;
    rows->committed = rig_arena_room(arena, (size_t)history->txn_count + 1, sizeof *rows->committed);
    if (rows->committed == NULL)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const bool placed = history->places != NULL && history->places->of_txn[txn] != RIG_PLACE_NONE;
        const bool counts = placed || rig_txn_is_committed(&history->txns[txn]);
        rows->committed[txn] = counts;
        rows->committed_count += counts;
        any_open |= !counts && history->txns[txn].outcome == RIG_OUTCOME_INFO;
    }
    for (uint32_t txn = 0; done && any_open && txn < history->txn_count; txn++)
        done = !rows->committed[txn] || follow_reads(rows, txn, &fresh);
    while (done && fresh.count > 0)
        done = follow_reads(rows, fresh.at[--fresh.count], &fresh);
    row_stack_done(&fresh);
    return done;
}

/* ---- chains ---- */

/* Links the versions of committed updates and deletes with those that they replaced. */
static void link_versions(struct rig_row_chains *rows)
{
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        const struct rig_row_write *of = &rows->statements[i];
        if (is_insert(of) || !of->rows_known || !rows->committed[of->txn])
            continue;
        const struct rig_read_list list = changed_rows(rows, of);
        for (uint32_t at = 0; at < of->version_count; at++) {
            const uint32_t statement = rig_rows_statement(rows, of->key, rig_read_element(&list, 2 * at + 1));
            const uint32_t before = statement == RIG_ROW_NONE || !rows->committed[rows->statements[statement].txn]
                                        ? RIG_ROW_NONE
                                        : rig_rows_version(rows, statement, rig_read_element(&list, 2 * at));
            if (before == RIG_ROW_NONE || rows->versions[before].next != RIG_ROW_NONE)
                continue;
            rows->versions[before].next = of->first_version + at;
            rows->versions[of->first_version + at].before = before;
        }
    }
}

/* Whether the statement may have written versions that are not in `versions`. */
static bool is_open(const struct rig_row_chains *rows, const struct rig_row_write *statement)
{
    const bool committed = rows->committed[statement->txn] != 0;
    const bool possible = committed || rows->history->txns[statement->txn].outcome == RIG_OUTCOME_INFO;
    return possible && !is_insert(statement) && (!committed || !statement->rows_known);
}

/* Marks the rows that the statement may have touched: they have no whole chain. */
static void open_rows(struct rig_row_chains *rows, const struct rig_row_write *statement)
{
    if (!statement->rows_known) { /* by the condition alone, which asks for all that a clause may leave out */
        const struct rig_row_where condition =
            rig_row_condition_at(rig_txn_ops(rows->history, statement->txn), statement->op - 1);
        uint32_t end;
        for (uint32_t i = rig_rows_asked(rows, statement->key, &condition, &end); i < end; i++)
            rows->statements[rows->inserts[i]].is_whole = false;
        return;
    }
    for (uint32_t i = 0; i < statement->version_count; i++) {
        const int64_t id = rows->versions[statement->first_version + i].id;
        const uint32_t row = rig_rows_statement(rows, statement->key, id);
        if (row != RIG_ROW_NONE)
            rows->statements[row].is_whole = false;
    }
}

static void follow_chain(const struct rig_row_chains *rows, struct rig_row_write *insert)
{
    uint32_t length = 1;
    insert->last = insert->first_version;
    for (uint32_t next; (next = rows->versions[insert->last].next) != RIG_ROW_NONE; length++)
        insert->last = next;
    insert->is_whole = rows->committed[insert->txn] != 0 && length == insert->committed_versions;
}

/* A chain is whole if it has all versions of committed transactions, and no others may exist. */
static void find_chains(struct rig_row_chains *rows)
{
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        const struct rig_row_write *of = &rows->statements[i];
        for (uint32_t at = 0; rows->committed[of->txn] && at < of->version_count; at++) {
            const uint32_t row = rig_rows_statement(rows, of->key, rows->versions[of->first_version + at].id);
            if (row != RIG_ROW_NONE)
                rows->statements[row].committed_versions++;
        }
    }
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        if (is_insert(&rows->statements[i]))
            follow_chain(rows, &rows->statements[i]);
    }
    for (uint32_t i = 0; i < rows->statement_count; i++) {
        if (is_open(rows, &rows->statements[i]))
            open_rows(rows, &rows->statements[i]);
    }
}

enum rig_rc rig_rows_build(const struct rig_history *history, struct rig_arena *arena, struct rig_row_chains *rows,
                           struct rig_err *err)
{
    *rows = (struct rig_row_chains){.history = history};
    const enum rig_rc rc = find_statements(rows, arena, err);
    if (rc != RIG_OK)
        return rc;
    if (!index_counts(rows, arena) || !find_versions(rows, arena) || !find_all_contents(rows) ||
        !find_committed(rows, arena))
        return no_memory(err);
    link_versions(rows);
    find_chains(rows);
    return RIG_OK;
}

/* Contents that are not known make all later ones unknown. */
bool rig_rows_tell_contents(const struct rig_row_chains *rows, const struct rig_row_write *insert,
                            const struct rig_row_where *condition)
{
    if (condition->column != RIG_ROW_BY_TESTS || !insert->is_whole)
        return true;
    const bool is_deleted = rig_row_action(rig_rows_number(rows, insert->last)) == RIG_ROWS_DELETE;
    const uint32_t last = is_deleted ? rows->versions[insert->last].before : insert->last;
    return last != RIG_ROW_NONE && rows->versions[last].contents != RIG_ROW_CONTENTS_UNKNOWN;
}
