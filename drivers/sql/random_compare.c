/* The comparison of a database's answers with rig's, before a load of the workload sql (random_sql.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/sql/random_sql.h"
#include "drivers/sql/sql_values.h"
#include "history/types/row_clauses.h"
#include "history/types/row_ops.h"

enum {
    COMPARED_ROWS = 60,
    COMPARED_CONDITIONS = 300,
    COMPARED_CHANGES = 100,
    COMPARED_FORMS = 30,
    COMPARED_SEED = 118
};
enum { MOST_OPS = 6, COMPARED_KEY = -1 };

struct compared {
    enum rig_sql_random_dialect dialect;
    struct rig_sql_own *own;
    const char *table;
    struct rig_rng rng;
    struct rig_buf sql;
    uint32_t contents[COMPARED_ROWS]; /* of the row whose id is one more than the place */
    int64_t versions[COMPARED_ROWS];
    uint64_t shown, further; /* a bit a row; further: of further reads */
    bool odd;                /* an answer that is none of the rows, or another value than expected */
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
                       id > 0 && id <= COMPARED_ROWS;
    c->odd |= !known;
    c->shown |= known ? UINT64_C(1) << (id - 1) : 0;
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
    const uint32_t contents = c->contents[strtoul(values[0], NULL, 10) - 1];
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
        c->versions[row] = row + 1;
        rig_buf_clear(&c->sql);
        rig_buf_printf(&c->sql, "INSERT INTO %s (k, id, v, a, b, c, t) VALUES (-1, %u, %u, ", c->table, row + 1,
                       row + 1);
        rig_row_say_contents(rig_sql_random_words(c->dialect), c->contents[row], RIG_ROW_VALUE_COLUMNS, &c->sql);
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
    rig_row_say_tests(rig_sql_random_words(c->dialect), bits, &c->sql);
    rig_buf_add_char(&c->sql, ')');
    const enum rig_rc rc = ask(c, tell_id, err);
    if (rc != RIG_OK || (!c->odd && c->shown == expected))
        return rc;
    return rig_fail(err, RIG_E_CLUSTER,
                    "the database and rig disagree on a condition of the workload sql, before the load: `%.700s` gives "
                    "other rows than the SQL standard; no verdict could rest on it",
                    rig_buf_text(&c->sql));
}

/* Whether the rows have their values. */
static enum rig_rc ask_values(struct compared *c, bool *right, struct rig_err *err)
{
    c->shown = 0;
    c->odd = false;
    rig_buf_clear(&c->sql);
    rig_buf_printf(&c->sql,
                   rig_sql_random_is_standard(c->dialect) ? "SELECT id, a, b, c, t FROM %s WHERE k = -1"
                   : c->dialect == RIG_SQL_RANDOM_MYSQL
                       ? "SELECT id, COALESCE(CAST(a AS CHAR), '-'), COALESCE(CAST(b AS CHAR), '-'), "
                         "COALESCE(CAST(c AS CHAR), '-'), COALESCE(t, '-') FROM %s WHERE k = -1"
                       : "SELECT id, COALESCE(CAST(a AS text), '-'), COALESCE(CAST(b AS text), '-'), "
                         "COALESCE(CAST(c AS text), '-'), COALESCE(t, '-') FROM %s WHERE k = -1",
                   c->table);
    const enum rig_rc rc = ask(c, tell_values, err);
    *right = !c->odd && c->shown == (UINT64_C(1) << COMPARED_ROWS) - 1;
    return rc;
}

static enum rig_rc compare_change(struct compared *c, struct rig_err *err)
{
    bool right = false;
    char text[256];
    const uint64_t payload = draw_assignment(&c->rng);
    for (uint32_t row = 0; row < COMPARED_ROWS; row++)
        c->contents[row] = rig_row_assign(c->contents[row], payload);
    rig_buf_clear(&c->sql);
    rig_buf_printf(&c->sql, "UPDATE %s SET p = v", c->table);
    rig_row_say_assignments(rig_sql_random_words(c->dialect), payload, ", ", &c->sql);
    rig_buf_add_text(&c->sql, " WHERE k = -1");
    (void)snprintf(text, sizeof text, "%s", rig_buf_text(&c->sql));
    enum rig_rc rc = ask(c, NULL, err);
    rc = rc == RIG_OK ? ask_values(c, &right, err) : rc;
    if (rc != RIG_OK || right)
        return rc;
    return rig_fail(err, RIG_E_CLUSTER,
                    "the database and rig disagree on an assignment of the workload sql, before the load: `%s` leaves "
                    "other values than the SQL standard; no verdict could rest on it",
                    text);
}

/* ---- statements with a further read ---- */

/* A statement on the compared rows: a further read with its clause, and the own one. */
struct form {
    struct rig_row_clause clause;
    struct rig_row_testings own, further;
    struct rig_op ops[MOST_OPS];
    uint32_t op_count, op; /* op: that has the statement */
};

/* Pairs of a row and its version, in columns or as texts. Further reads have negative ids. */
static void tell_pairs(void *context, const char *const *values, uint32_t count)
{
    struct compared *c = context;
    int64_t numbers[2];
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *at = values[i] == NULL ? "" : values[i];
        for (size_t length; (length = strcspn(at, ",")) > 0; at += length + (at[length] == ',')) {
            c->odd |= !rig_sql_int_parse(at, length, &numbers[taken % 2]);
            if (c->odd || ++taken % 2 != 0)
                continue;
            const int64_t id = numbers[0] < 0 ? -numbers[0] : numbers[0];
            c->odd |= id < 1 || id > COMPARED_ROWS || c->versions[id - 1] != numbers[1];
            *(numbers[0] < 0 ? &c->further : &c->shown) |= c->odd ? 0 : UINT64_C(1) << (id - 1);
        }
    }
    c->odd |= taken % 2 != 0;
}

static enum rig_rc ask_form(struct compared *c, const struct form *form, struct rig_err *err)
{
    const struct rig_transaction transaction = {.ops = form->ops, .op_count = form->op_count};
    const struct rig_sql_random_tables tables = {c->table, c->table};
    const uint32_t parts = rig_sql_random_parts(c->dialect, &transaction, form->op);
    enum rig_rc rc = RIG_OK;
    c->shown = c->further = 0;
    c->odd = false;
    for (uint32_t part = 0; rc == RIG_OK && part < parts; part++) {
        rig_buf_clear(&c->sql);
        rig_sql_random_print(c->dialect, &tables, &transaction, form->op, part, &c->sql);
        rc = ask(c, part + 1 == parts ? tell_pairs : NULL, err);
    }
    return rc;
}

static void add_op(struct form *form, enum rig_op_kind kind, int64_t value)
{
    form->ops[form->op_count++] = (struct rig_op){kind, COMPARED_KEY, value};
}

/* A read by the condition; of a further one with its clause. */
static void add_reading(struct form *form, const struct rig_row_testings *tests, const struct rig_row_clause *clause)
{
    if (clause != NULL)
        add_op(form, RIG_OP_ROW, rig_row_clause_value(clause->kind, clause->column, clause->partner));
    add_op(form, RIG_OP_ROW, rig_row_tests_value(rig_row_tests_bits(tests), RIG_ROW_LISTED, RIG_ROW_SELECTED));
    add_op(form, RIG_OP_READ_WHERE, 0);
}

static struct form draw_form(struct rig_rng *rng, enum rig_row_clause_kind kind)
{
    const bool joins = kind != RIG_ROW_SOURCE;
    struct form form = {.clause = {.kind = kind}};
    form.own = rig_row_tests_of(rig_sql_random_tests(rng));
    form.further = rig_row_tests_of(rig_sql_random_tests(rng));
    if (joins) {
        form.clause.column = (uint8_t)rig_rng_below(rng, RIG_ROW_VALUE_COLUMNS);
        form.clause.partner =
            form.clause.column == RIG_ROW_TEXT ? (uint8_t)RIG_ROW_TEXT : (uint8_t)rig_rng_below(rng, RIG_ROW_NUMBERS);
    }
    add_reading(&form, &form.further, &form.clause);
    add_reading(&form, &form.own, NULL);
    form.op = form.op_count - 1;
    return form;
}

static uint64_t rows_with(const struct compared *c, const struct rig_row_testings *tests)
{
    uint64_t rows = 0;
    for (uint32_t row = 0; row < COMPARED_ROWS; row++)
        rows |= (uint64_t)rig_row_tests_hold(tests, c->contents[row]) << row;
    return rows;
}

/* The values of these rows in the column, as bits. */
static uint32_t values_of(const struct compared *c, uint64_t rows, uint32_t column)
{
    uint32_t values = 0;
    for (uint32_t row = 0; row < COMPARED_ROWS; row++)
        values |= (rows >> row & 1) != 0 ? UINT32_C(1) << rig_row_column_code(c->contents[row], column) : 0;
    return values & ~(UINT32_C(1) << RIG_ROW_NULL);
}

static uint64_t with_values(const struct compared *c, uint64_t rows, uint32_t column, uint32_t values)
{
    uint64_t found = 0;
    for (uint32_t row = 0; row < COMPARED_ROWS; row++)
        found |= (uint64_t)(values >> rig_row_column_code(c->contents[row], column) & 1) << row;
    return found & rows;
}

static enum rig_rc disagree(const struct compared *c, const char *what, struct rig_err *err)
{
    return rig_fail(
        err, RIG_E_CLUSTER,
        "the database and rig disagree on %s of the workload sql, before the load: `%.700s` gives other rows "
        "or values than the SQL standard; no verdict could rest on it",
        what, rig_buf_text(&c->sql));
}

static enum rig_rc compare_join(struct compared *c, struct rig_err *err)
{
    const struct form form = draw_form(&c->rng, RIG_ROW_PARTNERS);
    const uint64_t own = rows_with(c, &form.own), others = rows_with(c, &form.further);
    const uint64_t partners = with_values(c, others, form.clause.partner, values_of(c, own, form.clause.column));
    const enum rig_rc rc = ask_form(c, &form, err);
    if (rc != RIG_OK || (!c->odd && c->shown == own && c->further == partners))
        return rc;
    return disagree(c, "a join", err);
}

static enum rig_rc compare_absence(struct compared *c, struct rig_err *err)
{
    const struct form form = draw_form(&c->rng, RIG_ROW_ABSENT);
    const uint64_t own = rows_with(c, &form.own), others = rows_with(c, &form.further);
    const uint64_t have = with_values(c, own, form.clause.column, values_of(c, others, form.clause.partner));
    const enum rig_rc rc = ask_form(c, &form, err);
    if (rc != RIG_OK || (!c->odd && c->shown == (own & ~have) && c->further == 0))
        return rc;
    return disagree(c, "NOT EXISTS", err);
}

static enum rig_rc compare_pairs(struct compared *c, struct rig_err *err)
{
    const struct form form = draw_form(&c->rng, RIG_ROW_PAIRS);
    const uint64_t own = rows_with(c, &form.own), others = rows_with(c, &form.further);
    const uint32_t values = values_of(c, own, form.clause.column) & values_of(c, others, form.clause.partner) &
                            ~(UINT32_C(1) << RIG_ROW_NULL);
    const enum rig_rc rc = ask_form(c, &form, err);
    if (rc != RIG_OK || (!c->odd && c->shown == with_values(c, own, form.clause.column, values) &&
                         c->further == with_values(c, others, form.clause.partner, values)))
        return rc;
    return disagree(c, "an inner join", err);
}

/* The first rows that have a value in the column; the rows' ids ascend. */
static uint64_t first_rows(const struct compared *c, uint64_t rows, uint32_t column, uint32_t limit)
{
    uint64_t first = 0;
    for (uint32_t code = RIG_ROW_NULL + 1; code < RIG_ROW_VALUE_CODES; code++) {
        for (uint32_t row = 0; limit > 0 && row < COMPARED_ROWS; row++) {
            if ((rows >> row & 1) == 0 || rig_row_column_code(c->contents[row], column) != code)
                continue;
            first |= UINT64_C(1) << row;
            limit--;
        }
    }
    return first;
}

static enum rig_rc compare_limit(struct compared *c, struct rig_err *err)
{
    const struct rig_row_clause clause = {.kind = RIG_ROW_LIMIT,
                                          .column = (uint8_t)rig_rng_below(&c->rng, RIG_ROW_NUMBERS),
                                          .partner = (uint8_t)(1 + rig_rng_below(&c->rng, 9))};
    struct form form = {.own = rig_row_tests_of(rig_sql_random_tests(&c->rng))};
    add_reading(&form, &form.own, &clause);
    form.op = form.op_count - 1;
    const uint64_t first = first_rows(c, rows_with(c, &form.own), clause.column, clause.partner);
    const enum rig_rc rc = ask_form(c, &form, err);
    if (rc != RIG_OK || (!c->odd && c->shown == first && c->further == 0))
        return rc;
    return disagree(c, "ORDER BY with a limit", err);
}

/* An update of a number by a subquery. */
static enum rig_rc compare_subquery(struct compared *c, int64_t count, struct rig_err *err)
{
    struct rig_row_assigning a = {.column = (uint32_t)rig_rng_below(&c->rng, RIG_ROW_NUMBERS),
                                  .form = rig_rng_below(&c->rng, 2) == 0 ? RIG_ROW_SET_CONSTANT : RIG_ROW_SET_SUM,
                                  .source = (uint32_t)rig_rng_below(&c->rng, RIG_ROW_NUMBERS)};
    a.constant = RIG_ROW_COUNT_CODE + (uint32_t)rig_rng_below(&c->rng, RIG_ROW_CODES - RIG_ROW_COUNT_CODE);
    const int64_t number = rig_row_sql_number(count, rig_row_assignment_bits(&a), RIG_ROWS_UPDATE);
    struct form form = draw_form(&c->rng, RIG_ROW_SOURCE);
    const uint64_t own = rows_with(c, &form.own), others = own == 0 ? 0 : rows_with(c, &form.further);
    struct rig_row_subqueries source = {.count = 0};
    bool right = false;
    for (uint32_t row = 0; row < COMPARED_ROWS; row++) {
        if ((others >> row & 1) != 0)
            rig_row_source_add(&source, c->versions[row]);
    }
    add_op(&form, RIG_OP_ROW, number);
    enum rig_rc rc = ask_form(c, &form, err);
    if (rc == RIG_OK && (c->odd || c->shown != own || c->further != others))
        return disagree(c, "a subquery", err);
    for (uint32_t row = 0; row < COMPARED_ROWS; row++) {
        if ((own >> row & 1) == 0)
            continue;
        c->contents[row] = rig_row_contents_from(number, c->contents[row], &source);
        c->versions[row] = number;
    }
    rc = rc == RIG_OK ? ask_values(c, &right, err) : rc;
    return rc != RIG_OK || right ? rc : disagree(c, "a subquery", err);
}

/* INSERT ... SELECT: the row takes the place of the last one. */
static enum rig_rc compare_insert_select(struct compared *c, int64_t count, struct rig_err *err)
{
    const uint32_t last = COMPARED_ROWS - 1;
    struct form form = {.own = rig_row_tests_of(rig_sql_random_tests(&c->rng))};
    struct rig_row_subqueries source = {.count = 0};
    const uint64_t own = rows_with(c, &form.own);
    uint32_t contents = rig_row_with_code(draw_contents(&c->rng), 0, RIG_ROW_COUNT_CODE);
    contents = rig_row_with_code(rig_row_with_code(contents, 1, RIG_ROW_GREATEST_CODE), 2, RIG_ROW_LEAST_CODE);
    const int64_t number = rig_row_sql_number(count, contents, RIG_ROWS_INSERT);
    bool right = false;
    for (uint32_t row = 0; row < COMPARED_ROWS; row++) {
        if ((own >> row & 1) != 0)
            rig_row_source_add(&source, c->versions[row]);
    }
    add_reading(&form, &form.own, NULL);
    form.op = form.op_count - 1;
    add_op(&form, RIG_OP_ROW, number);
    enum rig_rc rc = ask_form(c, &form, err);
    if (rc == RIG_OK && (c->odd || c->shown != own || c->further != 0))
        return disagree(c, "INSERT ... SELECT", err);
    rig_buf_clear(&c->sql);
    rig_buf_printf(&c->sql, "DELETE FROM %s WHERE k = -1 AND id = %d", c->table, COMPARED_ROWS);
    rc = rc == RIG_OK ? ask(c, NULL, err) : rc;
    rig_buf_clear(&c->sql);
    rig_buf_printf(&c->sql, "UPDATE %s SET id = %d WHERE k = -1 AND id = %" PRId64, c->table, COMPARED_ROWS, number);
    rc = rc == RIG_OK ? ask(c, NULL, err) : rc;
    c->contents[last] = rig_row_contents_from(number, 0, &source);
    c->versions[last] = number;
    rc = rc == RIG_OK ? ask_values(c, &right, err) : rc;
    return rc != RIG_OK || right ? rc : disagree(c, "INSERT ... SELECT", err);
}

static enum rig_rc compare_forms(struct compared *c, struct rig_err *err)
{
    const uint32_t clauses = c->own->run->env->clauses;
    enum rig_rc rc = RIG_OK;
    for (int64_t i = 1; rc == RIG_OK && i <= COMPARED_FORMS; i++) {
        if ((clauses >> RIG_ROW_PARTNERS & 1) != 0)
            rc = compare_join(c, err);
        if (rc == RIG_OK && (clauses >> RIG_ROW_ABSENT & 1) != 0)
            rc = compare_absence(c, err);
        if (rc == RIG_OK && (clauses >> RIG_ROW_PAIRS & 1) != 0)
            rc = compare_pairs(c, err);
        if (rc == RIG_OK && (clauses >> RIG_ROW_LIMIT & 1) != 0)
            rc = compare_limit(c, err);
        if (rc == RIG_OK && (clauses >> RIG_ROW_SOURCE & 1) != 0)
            rc = i % 2 == 0 ? compare_subquery(c, i, err) : compare_insert_select(c, i, err);
    }
    return rc;
}

/* ---- constraints ---- */

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
    enum rig_rc rc = insert_keyed(c, COMPARED_ROWS + 1, "1", "NULL", err);
    if (rc == RIG_OK)
        rc = insert_keyed(c, COMPARED_ROWS + 2, "2", "1", err);
    if (rc != RIG_OK)
        return rc;
    if (insert_keyed(c, COMPARED_ROWS + 3, "3", "9", &refused) != RIG_OK &&
        insert_keyed(c, COMPARED_ROWS + 3, "1", "NULL", &refused) != RIG_OK)
        return RIG_OK;
    return rig_fail(
        err, RIG_E_CLUSTER,
        "the database takes a row that a constraint of the workload sql forbids, before the load: `%.300s`; "
        "turn its checks of foreign keys and of unique values on",
        rig_buf_text(&c->sql));
}

/* A CHECK or NOT NULL that is not there, or that means something else, would look like one that is broken. */
static enum rig_rc compare_checks(struct compared *c, struct rig_err *err)
{
    static const struct {
        const char *values;
        bool right;
    } rows[] = {{"1, 1, 1, NULL, 1", true},    {"NULL, 1, 9, NULL, 1", true}, {"2, 1, 1, NULL, 1", false},
                {"9, 1, -5, NULL, 2", true},   {"1, 1, NULL, NULL, 2", true}, {"1, 1, 6, NULL, 2", false},
                {"1, NULL, 1, 'a', 3", false}, {"1, 1, 1, NULL, 3", false},   {"NULL, 1, 1, 'a', 3", true},
                {"1, 1, 1, 'a', NULL", false}};
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rig_err refused = {.rc = RIG_OK};
        rig_buf_clear(&c->sql);
        rig_buf_printf(&c->sql, "INSERT INTO %s (k, id, v, a, b, c, t, g) VALUES (-1, %u, 0, %s)", c->table,
                       COMPARED_ROWS + 10 + i, rows[i].values);
        if ((ask(c, NULL, &refused) == RIG_OK) != rows[i].right)
            return rig_fail(err, RIG_E_CLUSTER,
                            "the database %s a row that %s the CHECKs of the workload sql, before the load: `%.300s`; "
                            "set workload.statements.checks to 0%% where it has no CHECKs",
                            rows[i].right ? "rejects" : "takes", rows[i].right ? "keeps" : "breaks",
                            rig_buf_text(&c->sql));
    }
    return RIG_OK;
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
    if (rc == RIG_OK)
        rc = compare_forms(&c, err);
    if (rc == RIG_OK && rig_sql_random_has_key_in_table(dialect))
        rc = compare_constraints(&c, err);
    if (rc == RIG_OK && (own->run->env->clauses >> RIG_ROW_HAS_CHECKS & 1) != 0)
        rc = compare_checks(&c, err);
    if (rc == RIG_OK)
        rc = remove_rows(&c, err);
    rig_buf_done(&c.sql);
    return rc;
}
