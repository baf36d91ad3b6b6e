#include "drivers/sql/random_sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/sql/sql_ops.h"
#include "drivers/sql/sql_values.h"
#include "history/types/row_ops.h"
#include "history/types/row_clauses.h"

enum { KEYS_OF_TABLE = 100, CONDITION_BYTES = 512 };

static bool is_standard(enum rig_sql_random_dialect dialect)
{
    return rig_sql_random_is_standard(dialect);
}

static unsigned words_of(enum rig_sql_random_dialect dialect)
{
    return rig_sql_random_words(dialect);
}

unsigned rig_sql_random_words(enum rig_sql_random_dialect dialect)
{
    if (!is_standard(dialect))
        return RIG_ROW_PLAIN_WORDS;
    return RIG_ROW_STANDARD_WORDS | (dialect == RIG_SQL_RANDOM_STANDARD ? RIG_ROW_MOD_WORDS : 0);
}

/* ---- statements ---- */

/* The further read of a statement. */
struct further {
    struct rig_row_clause clause; /* of no kind: there is none */
    int64_t key;
    uint64_t tests;
};

struct statement {
    enum rig_sql_random_dialect dialect;
    const char *table, *other; /* of `key`, and of `further.key` */
    int64_t key;
    struct rig_row_where condition;
    bool skips; /* SKIP LOCKED */
    struct rig_row_clause limit;
    int64_t number;   /* of what it writes; 0: it reads */
    int64_t upserted; /* the insert of an upsert, whose `number` is what it does to a row that is there; 0: none */
    struct further further;
};

static bool is_condition(const struct rig_op *op)
{
    return op->kind == RIG_OP_ROW && op->value < 0;
}

/* The clause of the read at `op`. */
static struct rig_row_clause clause_before(const struct rig_op *ops, uint32_t op)
{
    struct rig_row_clause clause = {.kind = RIG_ROW_NO_CLAUSE};
    if (op >= 2 && ops[op].kind == RIG_OP_READ_WHERE && is_condition(&ops[op - 1]) && is_condition(&ops[op - 2]))
        (void)rig_row_clause_of(ops[op - 2].value, &clause);
    return clause;
}

uint32_t rig_sql_random_further(const struct rig_transaction *transaction, uint32_t op)
{
    const struct rig_op *ops = transaction->ops;
    uint32_t first = op;
    while (first > 0 && is_condition(&ops[first - 1]))
        first--;
    const bool is_own = first > 0 && ops[op].kind == RIG_OP_READ_WHERE &&
                        !rig_row_is_further(clause_before(ops, op).kind) &&
                        rig_row_is_further(clause_before(ops, first - 1).kind);
    return is_own ? first - 1 : UINT32_MAX;
}

static uint64_t tests_before(const struct rig_op *ops, uint32_t op, struct rig_row_where *condition)
{
    *condition = rig_row_all();
    if (op > 0 && ops[op - 1].kind == RIG_OP_ROW && ops[op - 1].key == ops[op].key)
        (void)rig_row_condition_of(ops[op - 1].value, condition);
    return condition->column == RIG_ROW_BY_TESTS ? (uint64_t)condition->least : 0;
}

/* An insert whose values are subqueries over the rows of the read at `op`: the statement is at this read. */
static bool is_insert_select(const struct rig_transaction *transaction, uint32_t op)
{
    const struct rig_op *ops = transaction->ops;
    return op + 1 < transaction->op_count && ops[op].kind == RIG_OP_READ_WHERE && ops[op + 1].kind == RIG_OP_ROW &&
           ops[op + 1].value > 0 && rig_row_inserts(ops[op + 1].value) && rig_row_has_source(ops[op + 1].value);
}

/* The kind of the clause that the operation is. */
static enum rig_row_clause_kind clause_at(const struct rig_transaction *transaction, uint32_t op)
{
    struct rig_row_clause clause = {.kind = RIG_ROW_NO_CLAUSE};
    if (op < transaction->op_count && is_condition(&transaction->ops[op]))
        (void)rig_row_clause_of(transaction->ops[op].value, &clause);
    return clause.kind;
}

/* False: the operation has no statement of its own. */
static bool find_statement(const struct rig_transaction *transaction, uint32_t op, struct statement *s)
{
    const struct rig_op *ops = transaction->ops, *of = &ops[op];
    const struct rig_row_clause clause = clause_before(ops, op);
    struct rig_row_where further;
    s->key = of->key;
    s->condition = rig_row_all();
    s->further = (struct further){.clause = {.kind = RIG_ROW_NO_CLAUSE}};
    s->limit = s->further.clause;
    if (rig_sql_is_silent(transaction, op) || rig_row_is_further(clause.kind))
        return false;
    s->upserted = 0;
    if (of->kind == RIG_OP_ROW) {
        s->number = of->value;
        return clause_at(transaction, op + 1) != RIG_ROW_UPSERT; /* then it is at the read */
    }
    (void)tests_before(ops, op, &s->condition);
    s->skips = clause.kind == RIG_ROW_SKIPS;
    s->limit = clause.kind == RIG_ROW_LIMIT ? clause : s->limit;
    s->number = rig_sql_number_behind(transaction, op);
    s->upserted = clause.kind == RIG_ROW_UPSERT && op >= 3 ? ops[op - 3].value : 0;
    const uint32_t read = rig_sql_random_further(transaction, op);
    if (is_insert_select(transaction, op)) {
        s->number = ops[op + 1].value;
        s->further = (struct further){.clause = {.kind = RIG_ROW_SOURCE}, .key = ops[op + 1].key};
    } else if (read != UINT32_MAX) {
        s->further = (struct further){clause_before(ops, read), ops[read].key, tests_before(ops, read, &further)};
    }
    return true;
}

int64_t rig_sql_random_other_key(const struct rig_transaction *transaction, uint32_t op)
{
    struct statement s = {.dialect = RIG_SQL_RANDOM_STANDARD};
    const bool has = find_statement(transaction, op, &s) && s.further.clause.kind != RIG_ROW_NO_CLAUSE;
    return has ? s.further.key : transaction->ops[op].key;
}

static bool is_pairs(enum rig_sql_random_dialect dialect)
{
    return dialect != RIG_SQL_RANDOM_MYSQL;
}

static const char *column_name(uint32_t column)
{
    static const char *const names[] = {"a", "b", "c", "t", "u", "r"};
    return names[column];
}

/* AND NOT EXISTS (...): no row of the other table has the value. */
static void add_absence(const struct statement *s, struct rig_buf *sql)
{
    const struct further *further = &s->further;
    if (further->clause.kind != RIG_ROW_ABSENT)
        return;
    rig_buf_printf(sql, " AND NOT EXISTS (SELECT 1 FROM %s y WHERE y.k = %" PRId64 " AND y.%s = %s.%s AND (", s->other,
                   further->key, column_name(further->clause.partner), s->table, column_name(further->clause.column));
    rig_row_say_tests(words_of(s->dialect), further->tests, sql);
    rig_buf_add_text(sql, "))");
}

/* WHERE, without NOT EXISTS; the read without a condition is of all rows. */
static void add_condition(const struct statement *s, struct rig_buf *sql)
{
    rig_buf_printf(sql, " WHERE k = %" PRId64, s->key);
    if (s->condition.column != RIG_ROW_BY_TESTS)
        return;
    rig_buf_add_text(sql, " AND (");
    rig_row_say_tests(words_of(s->dialect), (uint64_t)s->condition.least, sql);
    rig_buf_add_char(sql, ')');
}

static void add_where(const struct statement *s, struct rig_buf *sql)
{
    add_condition(s, sql);
    add_absence(s, sql);
}

/* The condition with the name of a table before each column: the letters that are in no text. */
static void add_qualified(const struct statement *s, uint64_t tests, char table, struct rig_buf *sql)
{
    struct rig_buf text;
    bool quoted = false;
    rig_buf_init(&text, 0);
    rig_row_say_tests(words_of(s->dialect), tests, &text);
    sql->failed = sql->failed || text.failed;
    for (const char *at = text.failed ? "" : rig_buf_text(&text); *at != '\0'; at++) {
        quoted ^= *at == '\'';
        if (!quoted && *at >= 'a' && *at <= 'z')
            rig_buf_printf(sql, "%c.", table);
        rig_buf_add_char(sql, *at);
    }
    rig_buf_done(&text);
}

/* The rows of one table with their partners in the other: those of the latter have negative ids. */
static void add_join(const struct statement *s, struct rig_buf *sql)
{
    static const char *const shown[] = {
        [RIG_SQL_RANDOM_POSTGRES] = "x.id || ',' || x.v || COALESCE(',-' || y.id || ',' || y.v, '')",
        [RIG_SQL_RANDOM_SQLITE] = "x.id || ',' || x.v || COALESCE(',-' || y.id || ',' || y.v, '')",
        [RIG_SQL_RANDOM_MYSQL] = "CONCAT(x.id, ',', x.v, COALESCE(CONCAT(',-', y.id, ',', y.v), ''))",
        [RIG_SQL_RANDOM_STANDARD] = "x.id, x.v, 0 - y.id, y.v",
        [RIG_SQL_RANDOM_PERCENT] = "x.id, x.v, 0 - y.id, y.v"};
    const struct further *further = &s->further;
    rig_buf_printf(sql, "SELECT %s FROM %s x %sJOIN %s y ON y.k = %" PRId64 " AND y.%s = x.%s AND (", shown[s->dialect],
                   s->table, further->clause.kind == RIG_ROW_PAIRS ? "" : "LEFT ", s->other, further->key,
                   column_name(further->clause.partner), column_name(further->clause.column));
    add_qualified(s, further->tests, 'y', sql);
    rig_buf_printf(sql, ") WHERE x.k = %" PRId64 " AND (", s->key);
    add_qualified(s, s->condition.column == RIG_ROW_BY_TESTS ? (uint64_t)s->condition.least : 0, 'x', sql);
    rig_buf_add_char(sql, ')');
}

static void add_read(const struct statement *s, struct rig_buf *sql)
{
    static const char *const aggregates[] = {
        [RIG_SQL_RANDOM_POSTGRES] = ("SELECT unnest(ids), unnest(vs) FROM (SELECT count(*), array_agg(id) AS ids, "
                                     "array_agg(v) AS vs FROM "),
        [RIG_SQL_RANDOM_SQLITE] = "SELECT COALESCE(group_concat(id || ',' || v), '') FROM ",
        [RIG_SQL_RANDOM_MYSQL] = "SELECT COALESCE(GROUP_CONCAT(CONCAT(id, ',', v)), '') FROM "};
    static const char *const locks[][RIG_ROW_WAYS] = {
        [RIG_SQL_RANDOM_POSTGRES] = {[RIG_ROW_LOCKED] = " FOR UPDATE", [RIG_ROW_SHARED] = " FOR SHARE"},
        [RIG_SQL_RANDOM_SQLITE] = {NULL},
        [RIG_SQL_RANDOM_MYSQL] = {[RIG_ROW_LOCKED] = " FOR UPDATE", [RIG_ROW_SHARED] = " LOCK IN SHARE MODE"}};
    const enum rig_row_way way = s->condition.column == RIG_ROW_BY_TESTS ? s->condition.way : RIG_ROW_SELECTED;
    const bool standard = is_standard(s->dialect);
    if (way == RIG_ROW_AGGREGATED && !standard)
        rig_buf_add_text(sql, aggregates[s->dialect]);
    else
        rig_buf_add_text(sql, is_pairs(s->dialect) ? "SELECT id, v FROM " : "SELECT CONCAT(id, ',', v) FROM ");
    rig_buf_add_text(sql, s->table);
    add_where(s, sql);
    if (s->limit.kind == RIG_ROW_LIMIT)
        rig_buf_printf(sql, " AND %s IS NOT NULL ORDER BY %s, id %s %u%s", column_name(s->limit.column),
                       column_name(s->limit.column), standard ? "FETCH FIRST" : "LIMIT", (unsigned)s->limit.partner,
                       standard ? " ROWS ONLY" : "");
    if (way == RIG_ROW_AGGREGATED && s->dialect == RIG_SQL_RANDOM_POSTGRES)
        rig_buf_add_text(sql, ") AS aggregated");
    if (way == RIG_ROW_AGGREGATED && standard)
        rig_buf_add_text(sql, " GROUP BY id, v");
    if (!standard && locks[s->dialect][way] != NULL)
        rig_buf_printf(sql, "%s%s", locks[s->dialect][way], s->skips ? " SKIP LOCKED" : "");
}

/* The assignment that changes the primary key of each row that an update writes. */
static const char *moved_key(const struct statement *s)
{
    const bool moves =
        rig_row_action(s->number) == RIG_ROWS_UPDATE && (rig_row_payload(s->number) & RIG_ROW_MOVES_KEY) != 0;
    return moves ? ", n = -n" : "";
}

/* ---- subqueries ---- */

/* The rows of the source as a text of pairs. `lead`: before each, and none between them. */
static void add_list(const struct statement *s, bool lead, struct rig_buf *sql)
{
    static const char *const lists[][2] = {
        [RIG_SQL_RANDOM_POSTGRES] = {"string_agg(id || ',' || v, ',')", "string_agg(',-' || id || ',' || v, '')"},
        [RIG_SQL_RANDOM_SQLITE] = {"group_concat(id || ',' || v, ',')", "group_concat(',-' || id || ',' || v, '')"},
        [RIG_SQL_RANDOM_MYSQL] = {"GROUP_CONCAT(CONCAT(id, ',', v))",
                                  "GROUP_CONCAT(CONCAT(',-', id, ',', v) SEPARATOR '')"}};
    rig_buf_printf(sql, "COALESCE(%s, '')", lists[s->dialect][lead]);
}

static void add_subquery(uint32_t code, struct rig_buf *sql)
{
    if (code == RIG_ROW_COUNT_CODE)
        rig_buf_add_text(sql, "COUNT(*) % 10");
    else
        rig_buf_printf(sql, "%s(v %% %d)", code == RIG_ROW_GREATEST_CODE ? "MAX" : "MIN", RIG_ROW_SOURCE_MODULUS);
}

/* INSERT ... SELECT: one row, and the list of those that it was made of. */
static void add_insert_select(const struct statement *s, struct rig_buf *sql)
{
    const uint32_t contents = (uint32_t)rig_row_payload(s->number);
    const bool collects = s->dialect == RIG_SQL_RANDOM_MYSQL;
    rig_buf_printf(sql, "INSERT INTO %s (k, id, v, a, b, c, t, s) SELECT %" PRId64 ", %" PRId64 ", %" PRId64 ", ",
                   s->other, s->further.key, s->number, s->number);
    for (uint32_t column = 0; column < RIG_ROW_VALUE_COLUMNS; column++) {
        const uint32_t code = rig_row_column_code(contents, column);
        if (rig_row_is_subquery(code))
            add_subquery(code, sql);
        else
            rig_row_say_code(words_of(s->dialect), column, code, sql);
        rig_buf_add_text(sql, ", ");
    }
    rig_buf_add_text(sql, collects ? "@rig := " : "");
    add_list(s, false, sql);
    rig_buf_printf(sql, " FROM %s", s->table);
    add_where(s, sql);
    rig_buf_add_text(sql, collects ? "" : " RETURNING s");
}

/* The assignments that have a subquery, or those that have none; `add`: adds one. */
static void add_assigned(const struct statement *s, bool selects,
                         void (*add)(const struct statement *s, const struct rig_row_assigning *a, struct rig_buf *sql),
                         struct rig_buf *sql)
{
    for (uint32_t which = 0; which < 2; which++) {
        const struct rig_row_assigning a = rig_row_assignment_of(rig_row_payload(s->number), which);
        if (a.form != RIG_ROW_UNCHANGED && rig_row_is_subquery(a.constant) == selects)
            add(s, &a, sql);
    }
}

static void add_plain(const struct statement *s, const struct rig_row_assigning *a, struct rig_buf *sql)
{
    rig_buf_add_text(sql, ", ");
    rig_row_say_assignment(words_of(s->dialect), a, sql);
}

static void add_column(const struct statement *s, const struct rig_row_assigning *a, struct rig_buf *sql)
{
    (void)s;
    rig_buf_printf(sql, "%s, ", column_name(a->column));
}

static void add_value(const struct statement *s, const struct rig_row_assigning *a, struct rig_buf *sql)
{
    const bool sums = a->form == RIG_ROW_SET_SUM;
    if (sums)
        rig_buf_printf(sql, "(%s.%s + ", s->table, column_name(a->source));
    add_subquery(a->constant, sql);
    rig_buf_add_text(sql, sums ? ") % 10, " : ", ");
}

/* The table of the subquery, and its condition. */
static void add_source(const struct statement *s, struct rig_buf *sql)
{
    rig_buf_printf(sql, " FROM %s y WHERE k = %" PRId64 " AND (", s->other, s->further.key);
    rig_row_say_tests(words_of(s->dialect), s->further.tests, sql);
    rig_buf_add_char(sql, ')');
}

/* SQLite: a subquery of its own, which does not refer to the row: one that does runs again for each row, and sees what
 * the statement has changed so far. */
static void add_alone(const struct statement *s, const struct rig_row_assigning *a, struct rig_buf *sql)
{
    const bool sums = a->form == RIG_ROW_SET_SUM;
    rig_buf_printf(sql, ", %s = ", column_name(a->column));
    if (sums)
        rig_buf_printf(sql, "(%s + ", column_name(a->source));
    rig_buf_add_text(sql, "(SELECT ");
    add_subquery(a->constant, sql);
    add_source(s, sql);
    rig_buf_add_text(sql, sums ? ")) % 10" : ")");
}

/* UPDATE ... SET (column, s) = (SELECT ...): each row that it returns has the list of those of the subquery. */
static void add_update_select(const struct statement *s, struct rig_buf *sql)
{
    const bool alone = s->dialect == RIG_SQL_RANDOM_SQLITE;
    rig_buf_printf(sql, "UPDATE %s SET p = v, v = %" PRId64 "%s", s->table, s->number, moved_key(s));
    add_assigned(s, false, add_plain, sql);
    if (alone)
        add_assigned(s, true, add_alone, sql);
    rig_buf_add_text(sql, alone ? ", " : ", (");
    if (!alone)
        add_assigned(s, true, add_column, sql);
    rig_buf_add_text(sql, alone ? "s = (SELECT " : "s) = (SELECT ");
    if (!alone)
        add_assigned(s, true, add_value, sql);
    add_list(s, true, sql);
    add_source(s, sql);
    rig_buf_add_char(sql, ')');
    add_where(s, sql);
    rig_buf_add_text(sql, " RETURNING id || ',' || p || s");
}

static void add_collected_value(const struct statement *s, const struct rig_row_assigning *a, struct rig_buf *sql)
{
    (void)s;
    static const char *const values[] = {"y.w", "y.g", "y.l"};
    const char *value = values[a->constant - RIG_ROW_COUNT_CODE];
    if (a->form == RIG_ROW_SET_SUM)
        rig_buf_printf(sql, ", %s = (%s + %s) %% 10", column_name(a->column), column_name(a->source), value);
    else
        rig_buf_printf(sql, ", %s = %s", column_name(a->column), value);
}

/* The same of MySQL, which assigns no rows of columns: the subquery is a table of one row. */
static void add_collected_select(const struct statement *s, struct rig_buf *sql)
{
    rig_buf_printf(sql, "UPDATE %s, (SELECT COUNT(*) %% 10 AS w, MAX(v %% %d) AS g, MIN(v %% %d) AS l, ", s->table,
                   RIG_ROW_SOURCE_MODULUS, RIG_ROW_SOURCE_MODULUS);
    add_list(s, true, sql);
    rig_buf_add_text(sql, " AS q");
    add_source(s, sql);
    rig_buf_printf(sql,
                   ") AS y SET p = v, v = %" PRId64
                   " + 0 * LENGTH(@rig := CONCAT(@rig, IF(@rig = '', '', ','), id, ',', v, y.q))%s",
                   s->number, moved_key(s));
    add_assigned(s, false, add_plain, sql);
    add_assigned(s, true, add_collected_value, sql);
    add_where(s, sql);
}

/* ---- writing statements ---- */

/* The values of u and r. In standard SQL they hold the key as well: some databases take (k, NULL) once only. */
static void add_keys(const struct statement *s, struct rig_buf *sql)
{
    const uint32_t contents = (uint32_t)rig_row_payload(s->number);
    for (uint32_t column = RIG_ROW_UNIQUE; column <= RIG_ROW_REFERENCE; column++) {
        const uint32_t code = rig_row_column_code(contents, column);
        rig_buf_add_text(sql, ", ");
        if (code == RIG_ROW_NULL || !is_standard(s->dialect))
            rig_row_say_code(RIG_ROW_PLAIN_WORDS, column, code, sql);
        else
            rig_buf_add_int(sql, s->key * KEYS_OF_TABLE + rig_row_value_of(code));
    }
}

static void add_insert(const struct statement *s, struct rig_buf *sql)
{
    const bool keyed = rig_row_class(s->number) == RIG_ROW_KEYED_CLASS;
    const bool guarded = rig_row_class(s->number) == RIG_ROW_GUARDED_CLASS;
    const uint32_t contents = (uint32_t)rig_row_payload(s->number);
    rig_buf_printf(sql, "INSERT INTO %s%s (k, id, v, a, b, c, t%s) VALUES (%" PRId64 ", %" PRId64 ", %" PRId64 ", ",
                   s->table, s->upserted != 0 && s->dialect != RIG_SQL_RANDOM_MYSQL ? " AS x" : "",
                   keyed     ? ", u, r"
                   : guarded ? ", g"
                             : "",
                   s->key, s->number, s->number);
    rig_row_say_contents(words_of(s->dialect), contents, RIG_ROW_VALUE_COLUMNS, sql);
    if (keyed)
        add_keys(s, sql);
    if (guarded && rig_row_inserts_null_guard(s->number))
        rig_buf_add_text(sql, ", NULL");
    else if (guarded)
        rig_buf_printf(sql, ", %u", (unsigned)rig_row_guard_of(contents));
    rig_buf_add_char(sql, ')');
}

/* An upsert. It shows the row that it changed, and the version that it replaced; PostgreSQL and SQLite show one that it
 * inserted, too, with 0. */
static void add_upsert(const struct statement *s, struct rig_buf *sql)
{
    const bool collects = s->dialect == RIG_SQL_RANDOM_MYSQL;
    struct statement inserts = *s;
    inserts.number = s->upserted;
    add_insert(&inserts, sql);
    rig_buf_printf(sql,
                   collects ? " ON DUPLICATE KEY UPDATE p = v, v = %" PRId64 " + 0 * LENGTH(@rig := CONCAT(id, ',', v))"
                            : " ON CONFLICT (k, u) DO UPDATE SET p = x.v, v = %" PRId64,
                   s->number);
    rig_row_say_assignments(words_of(s->dialect), rig_row_payload(s->number), ", ", sql);
    rig_buf_add_text(sql, collects ? "" : " RETURNING id, COALESCE(p, 0)");
}

/* Of MySQL: part 0 clears @rig, the last one reads it. @rig takes v, which its own assignment sees as it was, and not
 * p: with a further table MySQL makes all assignments at once, and p would still be the version before. Between them
 * the rows get their version and are collected, and a delete then removes those that it marked, by the same
 * condition. */
static void add_collected(const struct statement *s, uint32_t part, struct rig_buf *sql)
{
    const bool removes = rig_row_action(s->number) == RIG_ROWS_DELETE;
    const bool selects = s->further.clause.kind == RIG_ROW_SOURCE;
    if (part == 0) {
        rig_buf_add_text(sql, "SET @rig = ''");
    } else if (part == 1 && s->upserted != 0) {
        add_upsert(s, sql);
    } else if (part == 1 && selects && rig_row_inserts(s->number)) {
        add_insert_select(s, sql);
    } else if (part == 1 && selects) {
        add_collected_select(s, sql);
    } else if (part == 1) {
        rig_buf_printf(sql,
                       "UPDATE %s SET %s = %" PRId64
                       " + 0 * LENGTH(@rig := CONCAT(@rig, IF(@rig = '', '', ','), id, ',', v))%s",
                       s->table, removes ? "p" : "p = v, v", s->number, moved_key(s));
        rig_row_say_assignments(words_of(s->dialect), removes ? 0 : rig_row_payload(s->number), ", ", sql);
        add_where(s, sql);
    } else if (removes && part == 2) {
        rig_buf_printf(sql, "DELETE FROM %s", s->table);
        add_condition(s, sql);
        rig_buf_printf(sql, " AND p = %" PRId64, s->number);
    } else {
        rig_buf_add_text(sql, "SELECT @rig");
    }
}

/* Standard SQL: the rows get their version, and are selected by it. Those of a delete get its number as p, because a
 * read of what is not committed shows v, and are then removed. */
static void add_marked(const struct statement *s, uint32_t part, struct rig_buf *sql)
{
    const bool removes = rig_row_action(s->number) == RIG_ROWS_DELETE;
    if (part == 0) {
        rig_buf_printf(sql, "UPDATE %s SET %s = %" PRId64, s->table, removes ? "p" : "p = v, v", s->number);
        rig_row_say_assignments(words_of(s->dialect), removes ? 0 : rig_row_payload(s->number), ", ", sql);
        add_where(s, sql);
        return;
    }
    rig_buf_printf(sql,
                   part == 2 ? "DELETE FROM %s"
                   : removes ? "SELECT id, v FROM %s"
                             : "SELECT id, p FROM %s",
                   s->table);
    rig_buf_printf(sql, " WHERE k = %" PRId64 " AND %s = %" PRId64, s->key, removes ? "p" : "v", s->number);
}

static void add_change(const struct statement *s, struct rig_buf *sql)
{
    const bool removes = rig_row_action(s->number) == RIG_ROWS_DELETE;
    if (removes)
        rig_buf_printf(sql, "DELETE FROM %s", s->table);
    else
        rig_buf_printf(sql, "UPDATE %s SET p = v, v = %" PRId64 "%s", s->table, s->number, moved_key(s));
    rig_row_say_assignments(words_of(s->dialect), removes ? 0 : rig_row_payload(s->number), ", ", sql);
    add_where(s, sql);
    rig_buf_add_text(sql, removes ? " RETURNING id, v" : " RETURNING id, p");
}

uint32_t rig_sql_random_parts(enum rig_sql_random_dialect dialect, const struct rig_transaction *transaction,
                              uint32_t op)
{
    struct statement s = {.dialect = dialect};
    if (!find_statement(transaction, op, &s))
        return 0;
    const uint32_t update = is_standard(dialect) ? 2 : dialect == RIG_SQL_RANDOM_MYSQL ? 3 : 1;
    const bool inserts = s.number != 0 && rig_row_inserts(s.number) && !rig_row_has_source(s.number);
    if (s.number == 0 || inserts || update == 1)
        return 1;
    return rig_row_action(s.number) == RIG_ROWS_DELETE ? update + 1 : update;
}

bool rig_sql_random_locks(const struct rig_transaction *transaction, uint32_t op)
{
    struct statement s = {.dialect = RIG_SQL_RANDOM_STANDARD};
    return find_statement(transaction, op, &s) && s.number == 0 && s.condition.column == RIG_ROW_BY_TESTS &&
           (s.condition.way == RIG_ROW_LOCKED || s.condition.way == RIG_ROW_SHARED);
}

void rig_sql_random_print(enum rig_sql_random_dialect dialect, const struct rig_sql_random_tables *tables,
                          const struct rig_transaction *transaction, uint32_t op, uint32_t part, struct rig_buf *sql)
{
    struct statement s = {.dialect = dialect, .table = tables->own, .other = tables->other};
    const bool found = find_statement(transaction, op, &s);
    RIG_REQUIRE(found && part < RIG_SQL_RANDOM_PARTS);
    const bool selects = s.further.clause.kind == RIG_ROW_SOURCE;
    RIG_REQUIRE((!selects && s.upserted == 0) || !is_standard(dialect));
    if (s.number == 0 && (s.further.clause.kind == RIG_ROW_PARTNERS || s.further.clause.kind == RIG_ROW_PAIRS))
        add_join(&s, sql);
    else if (s.number == 0)
        add_read(&s, sql);
    else if (rig_row_inserts(s.number) && !selects)
        add_insert(&s, sql);
    else if (dialect == RIG_SQL_RANDOM_MYSQL)
        add_collected(&s, part, sql);
    else if (is_standard(dialect))
        add_marked(&s, part, sql);
    else if (s.upserted != 0)
        add_upsert(&s, sql);
    else if (selects)
        rig_row_inserts(s.number) ? add_insert_select(&s, sql) : add_update_select(&s, sql);
    else
        add_change(&s, sql);
}

/* ---- answers ---- */

/* By table, then row and version: rows of the further read have negative ids. */
static int compare_pairs(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    const bool a_further = a[0] < 0, b_further = b[0] < 0;
    if (a_further != b_further)
        return a_further ? 1 : -1;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

static struct rig_read read_of(uint64_t first, size_t pairs)
{
    return (struct rig_read){.state = pairs == 0 ? RIG_READ_NIL : RIG_READ_SEEN,
                             .count = (uint32_t)(2 * pairs),
                             .first_element = pairs == 0 ? 0 : first};
}

/* Divides the answer of the read at `own`. A join shows a row once for each partner. */
static void split(struct rig_transaction *transaction, uint32_t own, uint32_t further)
{
    const struct rig_read read = transaction->reads[own];
    int64_t *pairs = read.state == RIG_READ_SEEN ? transaction->elements + read.first_element : NULL;
    size_t count = 0, own_count = 0;
    if (read.state == RIG_READ_UNKNOWN)
        return;
    if (pairs != NULL)
        qsort(pairs, read.count / 2, 2 * sizeof *pairs, compare_pairs);
    for (size_t i = 0; pairs != NULL && i < read.count / 2; i++) {
        if (count > 0 && compare_pairs(&pairs[2 * count - 2], &pairs[2 * i]) == 0)
            continue;
        pairs[2 * count] = pairs[2 * i];
        pairs[2 * count + 1] = pairs[2 * i + 1];
        own_count += pairs[2 * i] >= 0;
        count++;
    }
    for (size_t i = own_count; i < count; i++)
        pairs[2 * i] = -pairs[2 * i];
    transaction->reads[own] = read_of(read.first_element, own_count);
    transaction->reads[further] = read_of(read.first_element + 2 * own_count, count - own_count);
}

/* An upsert that inserted its row has read none. */
static void settle_upsert(struct rig_transaction *transaction, uint32_t op)
{
    struct rig_read *read = &transaction->reads[op];
    if (clause_before(transaction->ops, op).kind == RIG_ROW_UPSERT && read->state == RIG_READ_SEEN &&
        read->count == 2 && transaction->elements[read->first_element + 1] == 0)
        *read = read_of(0, 0);
}

void rig_sql_random_split(struct rig_transaction *transaction)
{
    for (uint32_t op = 0; op < transaction->op_count; op++) {
        settle_upsert(transaction, op);
        const uint32_t further = rig_sql_random_further(transaction, op);
        if (further != UINT32_MAX)
            split(transaction, op, further);
    }
}
