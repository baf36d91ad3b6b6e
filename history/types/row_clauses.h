/*
 * The SQL of conditions, values and assignments of the workload sql (history/types/row_values.h), for drivers and for
 * witnesses: the same text in every dialect, except for the words in which dialects differ.
 *
 * Constants are written into the text. A value of a text column is a letter in quotes. Pure functions that add text to
 * a buffer; `words` is a sum of enum rig_row_words.
 */
#ifndef RIG_HISTORY_TYPES_ROW_CLAUSES_H
#define RIG_HISTORY_TYPES_ROW_CLAUSES_H

#include <inttypes.h>

#include "base/buf.h"
#include "history/model/transaction.h"
#include "history/types/row_ops.h"
#include "history/types/row_values.h"

enum rig_row_words {
    RIG_ROW_PLAIN_WORDS = 0,    /* NULL, -3, x % 10: witnesses have them */
    RIG_ROW_STANDARD_WORDS = 1, /* NULLIF(1, 1), which has a type, where some databases refuse NULL, and (-3) */
    RIG_ROW_MOD_WORDS = 2       /* MOD(x, 10), which standard SQL has in the place of x % 10 */
};

static inline char rig_row_column_name(uint32_t column)
{
    return "abct"[column & 3];
}

static inline void rig_row_say_code(unsigned words, uint32_t column, uint32_t code, struct rig_buf *sql)
{
    const bool standard = (words & RIG_ROW_STANDARD_WORDS) != 0;
    if (code == RIG_ROW_NULL)
        rig_buf_add_text(sql, !standard ? "NULL" : column == RIG_ROW_TEXT ? "NULLIF('a', 'a')" : "NULLIF(1, 1)");
    else if (column == RIG_ROW_TEXT)
        rig_buf_printf(sql, "'%c'", (char)('a' + code - 1));
    else if (standard && rig_row_value_of(code) < 0)
        rig_buf_printf(sql, "(%d)", (int)rig_row_value_of(code));
    else
        rig_buf_add_int(sql, rig_row_value_of(code));
}

/* ---- conditions ---- */

static inline void rig_row_say_side(unsigned words, const struct rig_row_testing *test, struct rig_buf *sql)
{
    const char other = rig_row_column_name(test->other);
    switch ((enum rig_row_side)test->side) {
    case RIG_ROW_SIDE_CONSTANT:
        rig_row_say_code(words, test->column, test->constant, sql);
        return;
    case RIG_ROW_SIDE_COLUMN:
        rig_buf_add_char(sql, other);
        return;
    case RIG_ROW_SIDE_SUM:
    case RIG_ROW_SIDE_PRODUCT:
        rig_buf_printf(sql, "%c %c ", other, test->side == RIG_ROW_SIDE_SUM ? '+' : '*');
        rig_row_say_code(words, 0, test->constant, sql);
        return;
    case RIG_ROW_SIDE_NEGATIVE:
        rig_buf_printf(sql, "-%c", other);
        return;
    case RIG_ROW_SIDE_ABSOLUTE:
        rig_buf_printf(sql, "ABS(%c)", other);
        return;
    case RIG_ROW_SIDE_COALESCE:
        rig_buf_printf(sql, "COALESCE(%c, ", other);
        rig_row_say_code(words, 0, test->constant, sql);
        rig_buf_add_char(sql, ')');
        return;
    case RIG_ROW_SIDES:
        break;
    }
}

static inline void rig_row_say_pair(unsigned words, const struct rig_row_testing *test, const char *before,
                                    const char *between, const char *after, struct rig_buf *sql)
{
    rig_buf_add_text(sql, before);
    rig_row_say_code(words, test->column, test->constant, sql);
    rig_buf_add_text(sql, between);
    if (test->form == RIG_ROW_TEST_IN_COLUMN)
        rig_buf_add_char(sql, rig_row_column_name(test->other));
    else
        rig_row_say_code(words, test->column, test->further, sql);
    rig_buf_add_text(sql, after);
}

static inline void rig_row_say_test(unsigned words, const struct rig_row_testing *test, struct rig_buf *sql)
{
    static const char *const signs[] = {"=", "<>", "<", "<=", ">", ">="};
    const char column = rig_row_column_name(test->column);
    rig_buf_add_text(sql, test->negated ? "NOT (" : "");
    rig_buf_add_char(sql, column);
    switch ((enum rig_row_test_form)test->form) {
    case RIG_ROW_TEST_BETWEEN:
        rig_row_say_pair(words, test, " BETWEEN ", " AND ", "", sql);
        break;
    case RIG_ROW_TEST_IN:
    case RIG_ROW_TEST_IN_COLUMN:
        rig_row_say_pair(words, test, " IN (", ", ", ")", sql);
        break;
    case RIG_ROW_TEST_NULL:
        rig_buf_add_text(sql, " IS NULL");
        break;
    case RIG_ROW_TEST_SUM:
    case RIG_ROW_TEST_PRODUCT:
        rig_buf_printf(sql,
                       test->form == RIG_ROW_TEST_SUM ? " + %c <= " : " * %c = ", rig_row_column_name(test->other));
        rig_row_say_code(words, 0, test->constant, sql);
        break;
    case RIG_ROW_TEST_EQUAL:
    case RIG_ROW_TEST_UNEQUAL:
    case RIG_ROW_TEST_LESS:
    case RIG_ROW_TEST_AT_MOST:
    case RIG_ROW_TEST_MORE:
    case RIG_ROW_TEST_AT_LEAST:
        rig_buf_printf(sql, " %s ", signs[test->form]);
        rig_row_say_side(words, test, sql);
        break;
    case RIG_ROW_TEST_FORMS:
        break;
    }
    rig_buf_add_text(sql, test->negated ? ")" : "");
}

/* The condition of 56 bits; TRUE as `1 = 1`. */
static inline void rig_row_say_tests(unsigned words, uint64_t bits, struct rig_buf *sql)
{
    const struct rig_row_testings tests = rig_row_tests_of(bits);
    const bool groups = tests.negated || tests.count > 2;
    if (tests.count == 0) {
        rig_buf_add_text(sql, "1 = 1");
        return;
    }
    rig_buf_add_text(sql, tests.negated ? "NOT (" : groups ? "(" : "");
    for (uint32_t i = 0; i < tests.count; i++) {
        if (i > 0)
            rig_buf_add_text(sql, (i == 1 ? tests.either : tests.either_last) ? " OR " : " AND ");
        rig_row_say_test(words, &tests.at[i], sql);
        if (groups && i == (tests.count == 1 ? 0 : 1))
            rig_buf_add_char(sql, ')');
    }
}

/* ---- what statements write ---- */

/* The values of an insert, of the first `columns` columns: "1, NULL, -3, 'c'". */
static inline void rig_row_say_contents(unsigned words, uint32_t contents, uint32_t columns, struct rig_buf *sql)
{
    for (uint32_t column = 0; column < columns; column++) {
        rig_buf_add_text(sql, column == 0 ? "" : ", ");
        rig_row_say_code(words, column, rig_row_column_code(contents, column), sql);
    }
}

static inline void rig_row_say_assignment(unsigned words, const struct rig_row_assigning *a, struct rig_buf *sql)
{
    const char column = rig_row_column_name(a->column), source = rig_row_column_name(a->source);
    const bool mod = (words & RIG_ROW_MOD_WORDS) != 0;
    rig_buf_printf(sql, "%c = ", column);
    switch (a->form) {
    case RIG_ROW_UNCHANGED:
        break;
    case RIG_ROW_SET_CONSTANT:
        rig_row_say_code(words, a->column, a->constant, sql);
        return;
    case RIG_ROW_SET_SUM:
    case RIG_ROW_SET_PRODUCT:
        rig_buf_printf(sql, "%s(%c %c ", mod ? "MOD" : "", source, a->form == RIG_ROW_SET_SUM ? '+' : '*');
        rig_row_say_code(words, 0, a->constant, sql);
        rig_buf_add_text(sql, mod ? ", 10)" : ") % 10");
        return;
    case RIG_ROW_SET_DIFFERENCE:
        rig_buf_printf(sql, mod ? "MOD(%c - %c, 10)" : "(%c - %c) %% 10", column, source);
        return;
    case RIG_ROW_SET_COALESCE:
        rig_buf_printf(sql, "COALESCE(%c, ", source);
        rig_row_say_code(words, a->column, a->constant, sql);
        rig_buf_add_char(sql, ')');
        return;
    case RIG_ROW_SET_CASE:
        rig_buf_printf(sql, "CASE WHEN %c < ", source);
        rig_row_say_code(words, a->column, a->constant, sql);
        rig_buf_printf(sql, " THEN %c ELSE %c END", source, column);
        return;
    case RIG_ROW_SET_COLUMN:
        break;
    }
    rig_buf_add_char(sql, source);
}

/* The assignments of an update: "a = (b + 3) % 10, t = NULL"; nothing where there is none. `lead`: before each. */
static inline void rig_row_say_assignments(unsigned words, uint64_t payload, const char *lead, struct rig_buf *sql)
{
    for (uint32_t which = 0; which < 2; which++) {
        const struct rig_row_assigning a = rig_row_assignment_of(payload, which);
        if (a.form == RIG_ROW_UNCHANGED)
            continue;
        rig_buf_add_text(sql, lead);
        rig_row_say_assignment(words, &a, sql);
    }
}

#define RIG_ROW_CHECK_ORDER  "CHECK (g <> 1 OR a <= b)"
#define RIG_ROW_CHECK_RANGE  "CHECK (g <> 2 OR c BETWEEN -5 AND 5)"
#define RIG_ROW_CHECK_VALUES "CHECK (g <> 3 OR (b IS NOT NULL AND t IS NOT NULL))"

/* The CHECK of rows with this g, as a table declares it. */
static inline const char *rig_row_check_text(uint32_t guard)
{
    return guard == RIG_ROW_GUARDS_ORDER   ? RIG_ROW_CHECK_ORDER
           : guard == RIG_ROW_GUARDS_RANGE ? RIG_ROW_CHECK_RANGE
                                           : RIG_ROW_CHECK_VALUES;
}

/* ---- operations, for people ---- */

/* "id >= 1000", "class in 0..1", or the SQL of the workload sql. */
static inline void rig_row_say_condition(const struct rig_row_where *condition, struct rig_buf *text)
{
    if (condition->column == RIG_ROW_BY_TESTS) {
        rig_row_say_tests(RIG_ROW_PLAIN_WORDS, (uint64_t)condition->least, text);
        return;
    }
    const bool by_id = condition->column == RIG_ROW_BY_ID;
    const int64_t unit = by_id ? RIG_ROW_SERIAL : 1, least = condition->least * unit;
    const char *column = by_id ? "id" : condition->column == RIG_ROW_BY_CLASS ? "class" : "value";
    if (condition->column == RIG_ROW_BY_KEY)
        rig_buf_printf(text, "key = %" PRId64, rig_row_closed_key(least * RIG_ROW_SERIAL));
    else if (condition->column == RIG_ROW_BY_REMAINDER)
        rig_buf_printf(text, "value mod %" PRId64 " = %" PRId64, condition->most, least);
    else if (condition->most == INT64_MAX)
        rig_buf_printf(text, "%s >= %" PRId64, column, least);
    else if (condition->most == condition->least && !by_id)
        rig_buf_printf(text, "%s = %" PRId64, column, least);
    else
        rig_buf_printf(text, "%s in %" PRId64 "..%" PRId64, column, least, condition->most * unit + unit - 1);
}

/* "insert 4 4030", "where 0: id >= 1000", with the table and the row's number. False, and nothing: it is none of
 * these. */
static inline bool rig_row_say_op(unsigned kind, const char *table, int64_t value, struct rig_buf *text)
{
    static const char *const actions[] = {"insert", "update", "delete", "row"};
    struct rig_row_where condition;
    if (kind != RIG_OP_ROW || value == 0)
        return false;
    if (value > 0) {
        const unsigned action = (unsigned)rig_row_action(value);
        rig_buf_printf(text, "%s %s %" PRId64, actions[action < 3 ? action : 3], table, value);
        return true;
    }
    if (rig_row_is_clause(value)) {
        static const char *const clauses[] = {
            [RIG_ROW_SOURCE] = "subquery",   [RIG_ROW_PARTNERS] = "join", [RIG_ROW_ABSENT] = "not-exists",
            [RIG_ROW_SKIPS] = "skip-locked", [RIG_ROW_LIMIT] = "limit",   [RIG_ROW_PAIRS] = "inner-join",
            [RIG_ROW_UPSERT] = "upsert"};
        struct rig_row_clause clause = {.kind = RIG_ROW_SOURCE};
        if (!rig_row_clause_of(value, &clause))
            return false;
        rig_buf_printf(text, "%s %s", clauses[clause.kind], table);
        return true;
    }
    if (!rig_row_condition_of(value, &condition))
        return false;
    rig_buf_printf(text, "where %s: ", table);
    rig_row_say_condition(&condition, text);
    return true;
}

#endif
