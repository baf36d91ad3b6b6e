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

enum { KEYS_OF_TABLE = 100 };

static bool is_standard(enum rig_sql_random_dialect dialect)
{
    return dialect == RIG_SQL_RANDOM_STANDARD || dialect == RIG_SQL_RANDOM_PERCENT;
}

static unsigned words_of(enum rig_sql_random_dialect dialect)
{
    if (!is_standard(dialect))
        return RIG_ROW_PLAIN_WORDS;
    return RIG_ROW_STANDARD_WORDS | (dialect == RIG_SQL_RANDOM_STANDARD ? RIG_ROW_MOD_WORDS : 0);
}

/* Whether CREATE TABLE has the foreign key: SQLite takes it there only. */
static bool has_key_in_table(enum rig_sql_random_dialect dialect)
{
    return dialect == RIG_SQL_RANDOM_SQLITE || is_standard(dialect);
}

/* ---- tables ---- */

const char *rig_sql_random_columns(enum rig_sql_random_dialect dialect)
{
    static const char *const columns[] = {
        [RIG_SQL_RANDOM_POSTGRES] =
            "k bigint NOT NULL, id bigint NOT NULL, v bigint NOT NULL, p bigint, a bigint, "
            "b bigint, c bigint, t text COLLATE \"C\", u bigint, r bigint, PRIMARY KEY (k, id), UNIQUE (k, u)",
        [RIG_SQL_RANDOM_SQLITE] =
            "k INTEGER NOT NULL, id INTEGER NOT NULL, v INTEGER NOT NULL, p INTEGER, a INTEGER, "
            "b INTEGER, c INTEGER, t TEXT, u INTEGER, r INTEGER, PRIMARY KEY (k, id), UNIQUE (k, u)",
        [RIG_SQL_RANDOM_MYSQL] = "k bigint NOT NULL, id bigint NOT NULL, v bigint NOT NULL, p bigint, a bigint, "
                                 "b bigint, c bigint, t varchar(8) CHARACTER SET latin1 COLLATE latin1_bin, "
                                 "u bigint, r bigint, PRIMARY KEY (k, id), UNIQUE (k, u)"};
    if (is_standard(dialect))
        return "k BIGINT NOT NULL, id BIGINT NOT NULL, v BIGINT NOT NULL, p BIGINT, a BIGINT, b BIGINT, c BIGINT, "
               "t VARCHAR(8), u BIGINT, r BIGINT, PRIMARY KEY (k, id), UNIQUE (u)";
    return columns[dialect];
}

void rig_sql_random_indexes(enum rig_sql_random_dialect dialect, uint64_t seed, uint32_t number, const char *name,
                            const char *plain, struct rig_buf *sql)
{
    enum { PG = 1 << RIG_SQL_RANDOM_POSTGRES, LITE = 1 << RIG_SQL_RANDOM_SQLITE, ALL = ~0 };
    static const struct {
        const char *before, *columns;
        int dialects;
    } indexes[] = {
        {"", "(k, a)", ALL},
        {"", "(k, b, a)", ALL},
        {"", "(k, t)", ALL},
        {"", "(c, k)", ALL},
        {"", "(k, c, id, v)", ALL},
        {"UNIQUE ", "(k, a, b, c, t)", ALL},
        {"", "(k, (a + b))", PG | LITE},
        {"", "(k, a) WHERE b IS NULL", PG | LITE},
        {"", "(k, b) INCLUDE (id, v)", PG},
        {"", "USING hash (a)", PG},
        {"", "USING brin (k, a)", PG},
    };
    struct rig_rng rng;
    rig_rng_init(&rng, seed, UINT64_MAX - 1000 - number);
    if (!has_key_in_table(dialect))
        rig_buf_printf(sql, "ALTER TABLE %s ADD FOREIGN KEY (k, r) REFERENCES %s (k, u); ", name, name);
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++) {
        const bool drawn = rig_rng_below(&rng, 2) == 0;
        if (!drawn || (indexes[i].dialects >> dialect & 1) == 0)
            continue;
        rig_buf_printf(sql, "CREATE %sINDEX %s_i%zu ON %s %s; ", indexes[i].before, plain, i, name, indexes[i].columns);
    }
}

/* ---- statements ---- */

struct statement {
    enum rig_sql_random_dialect dialect;
    const char *table;
    int64_t key;
    struct rig_row_where condition;
    int64_t number; /* of what it writes; 0: it reads */
};

/* False: the operation has no statement of its own. */
static bool find_statement(const struct rig_transaction *transaction, uint32_t op, struct statement *s)
{
    const struct rig_op *of = &transaction->ops[op];
    s->key = of->key;
    s->condition = rig_row_all();
    if (rig_sql_is_silent(transaction, op))
        return false;
    if (of->kind == RIG_OP_ROW) {
        s->number = of->value;
        return true;
    }
    if (op > 0 && of[-1].kind == RIG_OP_ROW && of[-1].key == of->key)
        (void)rig_row_condition_of(of[-1].value, &s->condition);
    s->number = rig_sql_number_behind(transaction, op);
    return true;
}

static bool is_pairs(enum rig_sql_random_dialect dialect)
{
    return dialect != RIG_SQL_RANDOM_MYSQL;
}

/* WHERE; the read without a condition is of all rows. */
static void add_where(const struct statement *s, struct rig_buf *sql)
{
    rig_buf_printf(sql, " WHERE k = %" PRId64, s->key);
    if (s->condition.column != RIG_ROW_BY_TESTS)
        return;
    rig_buf_add_text(sql, " AND (");
    rig_row_say_tests(words_of(s->dialect), (uint64_t)s->condition.least, sql);
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
    if (way == RIG_ROW_AGGREGATED && s->dialect == RIG_SQL_RANDOM_POSTGRES)
        rig_buf_add_text(sql, ") AS aggregated");
    if (way == RIG_ROW_AGGREGATED && standard)
        rig_buf_add_text(sql, " GROUP BY id, v");
    if (!standard && locks[s->dialect][way] != NULL)
        rig_buf_add_text(sql, locks[s->dialect][way]);
}

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
    rig_buf_printf(sql, "INSERT INTO %s (k, id, v, a, b, c, t%s) VALUES (%" PRId64 ", %" PRId64 ", %" PRId64 ", ",
                   s->table, keyed ? ", u, r" : "", s->key, s->number, s->number);
    rig_row_say_contents(words_of(s->dialect), (uint32_t)rig_row_payload(s->number), RIG_ROW_VALUE_COLUMNS, sql);
    if (keyed)
        add_keys(s, sql);
    rig_buf_add_char(sql, ')');
}

/* Of MySQL: part 0 clears @rig, the last one reads it. Between them the rows get their version and are collected, and a
 * delete then removes those that it marked, by the same condition. */
static void add_collected(const struct statement *s, uint32_t part, struct rig_buf *sql)
{
    const bool removes = rig_row_action(s->number) == RIG_ROWS_DELETE;
    if (part == 0) {
        rig_buf_add_text(sql, "SET @rig = ''");
    } else if (part == 1) {
        rig_buf_printf(sql,
                       "UPDATE %s SET %s = %" PRId64
                       " + 0 * LENGTH(@rig := CONCAT(@rig, IF(@rig = '', '', ','), id, ',', %s))",
                       s->table, removes ? "p" : "p = v, v", s->number, removes ? "v" : "p");
        rig_row_say_assignments(words_of(s->dialect), removes ? 0 : rig_row_payload(s->number), ", ", sql);
        add_where(s, sql);
    } else if (removes && part == 2) {
        rig_buf_printf(sql, "DELETE FROM %s", s->table);
        add_where(s, sql);
        rig_buf_printf(sql, " AND p = %" PRId64, s->number);
    } else {
        rig_buf_add_text(sql, "SELECT @rig");
    }
}

/* Standard SQL: the rows get their version, and are selected by it. Those of a delete get its number as p, because a read
 * of what is not committed shows v, and are then removed. */
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
        rig_buf_printf(sql, "UPDATE %s SET p = v, v = %" PRId64, s->table, s->number);
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
    if (s.number == 0 || rig_row_inserts(s.number) || update == 1)
        return 1;
    return rig_row_action(s.number) == RIG_ROWS_DELETE ? update + 1 : update;
}

bool rig_sql_random_locks(const struct rig_transaction *transaction, uint32_t op)
{
    struct statement s = {.dialect = RIG_SQL_RANDOM_STANDARD};
    return find_statement(transaction, op, &s) && s.number == 0 && s.condition.column == RIG_ROW_BY_TESTS &&
           (s.condition.way == RIG_ROW_LOCKED || s.condition.way == RIG_ROW_SHARED);
}

void rig_sql_random_print(enum rig_sql_random_dialect dialect, const char *table,
                          const struct rig_transaction *transaction, uint32_t op, uint32_t part, struct rig_buf *sql)
{
    struct statement s = {.dialect = dialect, .table = table};
    const bool found = find_statement(transaction, op, &s);
    RIG_REQUIRE(found && part < RIG_SQL_RANDOM_PARTS);
    if (s.number == 0)
        add_read(&s, sql);
    else if (rig_row_inserts(s.number))
        add_insert(&s, sql);
    else if (dialect == RIG_SQL_RANDOM_MYSQL)
        add_collected(&s, part, sql);
    else if (is_standard(dialect))
        add_marked(&s, part, sql);
    else
        add_change(&s, sql);
}

/* ---- the comparison before the load ---- */

enum { COMPARED_ROWS = 60, COMPARED_CONDITIONS = 300, COMPARED_CHANGES = 100, COMPARED_SEED = 118 };

struct compared {
    enum rig_sql_random_dialect dialect;
    struct rig_sql_own *own;
    const char *table;
    struct rig_rng rng;
    struct rig_buf sql;
    uint32_t contents[COMPARED_ROWS];
    uint64_t shown; /* a bit a row */
    bool odd;       /* an answer that is none of the rows, or another value than expected */
};

/* Any test of the grammar. */
static uint64_t draw_test(struct rig_rng *rng)
{
    for (;;) {
        const uint64_t bits = rig_rng_next(rng) & 0x1FFFF;
        const struct rig_row_testing test = rig_row_test_of(bits);
        if (rig_row_is_test(&test) && rig_row_test_bits(&test) == bits)
            return bits;
    }
}

uint64_t rig_sql_random_tests(struct rig_rng *rng)
{
    struct rig_row_testings tests = {.count = (uint8_t)(1 + rig_rng_below(rng, RIG_ROW_MOST_TESTS))};
    tests.negated = rig_rng_below(rng, 2) == 0;
    tests.either = tests.count > 1 && rig_rng_below(rng, 2) == 0;
    tests.either_last = tests.count > 2 && rig_rng_below(rng, 2) == 0;
    for (uint32_t i = 0; i < tests.count; i++)
        tests.at[i] = rig_row_test_of(draw_test(rng));
    return rig_row_tests_bits(&tests);
}

static uint32_t draw_contents(struct rig_rng *rng)
{
    uint32_t contents = 0;
    for (uint32_t column = 0; column < RIG_ROW_VALUE_COLUMNS; column++)
        contents = rig_row_with_code(contents, column, (uint32_t)rig_rng_below(rng, RIG_ROW_VALUE_CODES));
    return contents;
}

/* One assignment of the grammar. */
static uint64_t draw_assignment(struct rig_rng *rng)
{
    for (;;) {
        const uint64_t payload = rig_rng_next(rng) & 0xFFF;
        if (payload != 0 && rig_row_are_assignments(payload))
            return payload;
    }
}

static enum rig_rc ask(struct compared *c, rig_sql_tell tell, struct rig_err *err)
{
    if (c->sql.failed)
        return rig_no_memory(err, "a statement");
    c->own->deadline_ns = rig_sql_own_deadline_ns(c->own->run->env->core, c->own->run->options->transaction_timeout_ns);
    return rig_sql_own_query(c->own, rig_buf_text(&c->sql), tell, c, err);
}

static void tell_id(void *context, const char *const *values, uint32_t count)
{
    struct compared *c = context;
    int64_t id = 0;
    const bool known = count >= 1 && values[0] != NULL && rig_sql_int_parse(values[0], strlen(values[0]), &id) &&
                       id >= 0 && id < COMPARED_ROWS;
    c->odd |= !known;
    c->shown |= known ? UINT64_C(1) << id : 0;
}

/* A row: its id, and its values as texts. */
static void tell_values(void *context, const char *const *values, uint32_t count)
{
    struct compared *c = context;
    tell_id(context, values, count);
    if (c->odd || count != 1 + RIG_ROW_VALUE_COLUMNS) {
        c->odd = true;
        return;
    }
    const uint32_t contents = c->contents[strtoul(values[0], NULL, 10)];
    for (uint32_t column = 0; column < RIG_ROW_VALUE_COLUMNS; column++) {
        const char *value = values[1 + column] != NULL ? values[1 + column] : "-";
        const uint32_t code = rig_row_column_code(contents, column);
        char expected[RIG_SQL_INT_BYTES] = "-";
        if (code != RIG_ROW_NULL && column == RIG_ROW_TEXT)
            expected[0] = (char)('a' + code - 1);
        else if (code != RIG_ROW_NULL)
            expected[rig_sql_int_print(rig_row_value_of(code), expected)] = '\0';
        c->odd |= strcmp(value, expected) != 0;
    }
}

static enum rig_rc make_rows(struct compared *c, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t row = 0; rc == RIG_OK && row < COMPARED_ROWS; row++) {
        c->contents[row] = draw_contents(&c->rng);
        rig_buf_clear(&c->sql);
        rig_buf_printf(&c->sql, "INSERT INTO %s (k, id, v, a, b, c, t) VALUES (-1, %u, 0, ", c->table, row);
        rig_row_say_contents(words_of(c->dialect), c->contents[row], RIG_ROW_VALUE_COLUMNS, &c->sql);
        rig_buf_add_char(&c->sql, ')');
        rc = ask(c, NULL, err);
    }
    return rc;
}

static enum rig_rc compare_condition(struct compared *c, struct rig_err *err)
{
    const uint64_t bits = rig_sql_random_tests(&c->rng);
    const struct rig_row_testings tests = rig_row_tests_of(bits);
    uint64_t expected = 0;
    for (uint32_t row = 0; row < COMPARED_ROWS; row++)
        expected |= (uint64_t)rig_row_tests_hold(&tests, c->contents[row]) << row;
    c->shown = 0;
    rig_buf_clear(&c->sql);
    rig_buf_printf(&c->sql, "SELECT id FROM %s WHERE k = -1 AND (", c->table);
    rig_row_say_tests(words_of(c->dialect), bits, &c->sql);
    rig_buf_add_char(&c->sql, ')');
    const enum rig_rc rc = ask(c, tell_id, err);
    if (rc != RIG_OK || (!c->odd && c->shown == expected))
        return rc;
    return rig_fail(err, RIG_E_CLUSTER,
                    "the database and rig disagree on a condition of the workload sql, before the load: `%.700s` gives "
                    "other rows than the SQL standard; no verdict could rest on it",
                    rig_buf_text(&c->sql));
}

static enum rig_rc compare_change(struct compared *c, struct rig_err *err)
{
    char text[256];
    const uint64_t payload = draw_assignment(&c->rng);
    for (uint32_t row = 0; row < COMPARED_ROWS; row++)
        c->contents[row] = rig_row_assign(c->contents[row], payload);
    rig_buf_clear(&c->sql);
    rig_buf_printf(&c->sql, "UPDATE %s SET p = v", c->table);
    rig_row_say_assignments(words_of(c->dialect), payload, ", ", &c->sql);
    rig_buf_add_text(&c->sql, " WHERE k = -1");
    (void)snprintf(text, sizeof text, "%s", rig_buf_text(&c->sql));
    enum rig_rc rc = ask(c, NULL, err);
    c->shown = 0;
    rig_buf_clear(&c->sql);
    rig_buf_printf(&c->sql,
                   is_standard(c->dialect) ? "SELECT id, a, b, c, t FROM %s WHERE k = -1"
                   : c->dialect == RIG_SQL_RANDOM_MYSQL
                       ? "SELECT id, COALESCE(CAST(a AS CHAR), '-'), COALESCE(CAST(b AS CHAR), '-'), "
                         "COALESCE(CAST(c AS CHAR), '-'), COALESCE(t, '-') FROM %s WHERE k = -1"
                       : "SELECT id, COALESCE(CAST(a AS text), '-'), COALESCE(CAST(b AS text), '-'), "
                         "COALESCE(CAST(c AS text), '-'), COALESCE(t, '-') FROM %s WHERE k = -1",
                   c->table);
    rc = rc == RIG_OK ? ask(c, tell_values, err) : rc;
    if (rc != RIG_OK || (!c->odd && c->shown == (UINT64_C(1) << COMPARED_ROWS) - 1))
        return rc;
    return rig_fail(err, RIG_E_CLUSTER,
                    "the database and rig disagree on an assignment of the workload sql, before the load: `%s` leaves "
                    "other values than the SQL standard; no verdict could rest on it",
                    text);
}

static enum rig_rc insert_keyed(struct compared *c, uint32_t row, const char *unique, const char *reference,
                                struct rig_err *err)
{
    rig_buf_clear(&c->sql);
    rig_buf_printf(&c->sql, "INSERT INTO %s (k, id, v, u, r) VALUES (-1, %u, 0, %s, %s)", c->table, row, unique,
                   reference);
    return ask(c, NULL, err);
}

/* A foreign key or a unique index that is off would look like one that is broken. */
static enum rig_rc compare_constraints(struct compared *c, struct rig_err *err)
{
    struct rig_err refused = {.rc = RIG_OK};
    enum rig_rc rc = insert_keyed(c, COMPARED_ROWS, "1", "NULL", err);
    if (rc == RIG_OK)
        rc = insert_keyed(c, COMPARED_ROWS + 1, "2", "1", err);
    if (rc != RIG_OK)
        return rc;
    if (insert_keyed(c, COMPARED_ROWS + 2, "3", "9", &refused) != RIG_OK &&
        insert_keyed(c, COMPARED_ROWS + 2, "1", "NULL", &refused) != RIG_OK)
        return RIG_OK;
    return rig_fail(
        err, RIG_E_CLUSTER,
        "the database takes a row that a constraint of the workload sql forbids, before the load: `%.300s`; "
        "turn its checks of foreign keys and of unique values on",
        rig_buf_text(&c->sql));
}

/* H2 checks references row by row, so those that refer to others go first. */
static enum rig_rc remove_rows(struct compared *c, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t which = 0; rc == RIG_OK && which < 2; which++) {
        rig_buf_clear(&c->sql);
        rig_buf_printf(&c->sql, "DELETE FROM %s WHERE k = -1%s", c->table, which == 0 ? " AND r IS NOT NULL" : "");
        rc = ask(c, NULL, err);
    }
    return rc;
}

enum rig_rc rig_sql_random_compare(enum rig_sql_random_dialect dialect, struct rig_sql_own *own, const char *table,
                                   struct rig_err *err)
{
    struct compared c = {.dialect = dialect, .own = own, .table = table};
    rig_rng_init(&c.rng, COMPARED_SEED, 0);
    rig_buf_init(&c.sql, 0);
    enum rig_rc rc = make_rows(&c, err);
    for (uint32_t i = 0; rc == RIG_OK && i < COMPARED_CONDITIONS; i++)
        rc = compare_condition(&c, err);
    for (uint32_t i = 0; rc == RIG_OK && i < COMPARED_CHANGES; i++)
        rc = compare_change(&c, err);
    if (rc == RIG_OK && has_key_in_table(dialect))
        rc = compare_constraints(&c, err);
    if (rc == RIG_OK)
        rc = remove_rows(&c, err);
    rig_buf_done(&c.sql);
    return rc;
}

enum rig_rc rig_sql_random_prepare(enum rig_sql_random_dialect dialect, struct rig_sql_own *own, uint32_t count,
                                   void (*name_table)(const struct rig_sql_own *own, uint32_t table,
                                                      char name[static RIG_SQL_RANDOM_TABLE_BYTES]),
                                   struct rig_err *err)
{
    struct rig_buf sql;
    char name[RIG_SQL_RANDOM_TABLE_BYTES], plain[32];
    name_table(own, 0, name);
    enum rig_rc rc = rig_sql_random_compare(dialect, own, name, err);
    if (rc != RIG_OK)
        return rc;
    rig_buf_init(&sql, 0);
    for (uint32_t table = 0; table < count; table++) {
        name_table(own, table, name);
        (void)snprintf(plain, sizeof plain, "rig_%" PRIu32, table);
        rig_sql_random_indexes(dialect, own->run->env->seed, table, name, is_standard(dialect) ? name : plain, &sql);
    }
    if (!is_standard(dialect))
        rig_buf_add_text(&sql, dialect == RIG_SQL_RANDOM_MYSQL ? "DO 0" : "SELECT 1");
    rc = sql.failed ? rig_no_memory(err, "the indexes of the run's tables")
                    : rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, err);
    rig_buf_done(&sql);
    return rc;
}
