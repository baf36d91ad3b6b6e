/*
 * The statements of the workload predicate, as micro-operations on a table of rows. A history's key is such a table.
 *
 * A row has an id, a version and a class, which conditions ask for. Rows are inserted under fresh ids only, so a row
 * lives once: absent, then its versions, then deleted. Each statement that writes has a number of its own in the table:
 *
 *   serial * 1000 + class * 10 + what it does (0: insert, 1: update, 2: delete)
 *
 * It is the version that the statement gives to each row it writes; an insert's is the row's id, too. So a version
 * names its statement, and tells its class by itself. A condition is a negative number:
 *
 *   -(lowest * 100000 + width * 100 + column * 10 + form)
 *
 * It holds of rows whose column (1: the serial of the id; 2: the class) is from lowest to lowest + width; a width of
 * 999 has no end. The form says what the read after it shows: 0 the rows, 1 their number and the sum of their versions,
 * 2 this sum alone, after a 0.
 *
 * Histories of closed predicates (history/text/classic_predicate.c) have further numbers, which drivers never see. The
 * last digit of a statement may be 3: the row was there from the start, and no read can have seen it absent. In class
 * 99 a version has a value, serial % 1000000. Column 3 is the serial of the id, of a row that is read by its key: a
 * read of an item. Column 4 is the value. Column 5 is the remainder of the value: it is `lowest` after division by
 * `width`.
 *
 *   insert   row N
 *   select   [row condition] r -> rows          without a condition: all rows
 *   update   row condition, r -> rows, row N    the rows, as they were before, that it gave the version N
 *   delete   row condition, r -> rows, row N    the rows, as they were before, that it removed
 *
 * Rows are pairs of an id and a version.
 *
 * The workload sql has the same statements on rows with columns (history/types/row_values.h). Their numbers have the
 * class 98, 97 or 96: inserts with values of which the table's constraints speak. Their conditions are
 * -(condition of 56 bits * 100 + way * 10 + form), where the way is 6: a selection, 7: one that locks its rows for an
 * update, 8: one that locks them against changes, 9: one that aggregates its rows, and shows their list. Updates and
 * deletes have the way 6.
 *
 * A read of sql has a form beyond this by a clause: one more operation, before its condition, with the number
 * -((argument * 100 + kind) * 10 + 9). A statement may have one further read, of any table. It stands before the
 * statement's own read, and its clause says what it is there for:
 *
 *   insert   row condition, r -> rows, row N                     N has subqueries over these rows
 *   update   row clause, row condition, r -> rows,               1: the subqueries of N are over these rows, which are
 *            row condition, r -> rows, row N                     not read where the update changes no row
 *   select   row clause, row condition, r -> rows,               2: a left join: rows with the same value in a column
 *            row condition, r -> rows                            as a row that the statement's own read shows
 *   any      row clause, row condition, r -> none,               3: NOT EXISTS: there is no such row; the rows that the
 *            row condition, r -> rows [row N]                    statement's own read does not show may have one
 *   select   row clause, row condition, r -> rows                4: SKIP LOCKED: it may also miss rows that others lock
 *   select   row clause, row condition, r -> rows                5: ORDER BY column, id LIMIT n: the first n rows that
 *                                                                have a value in the column
 *   select   row clause, row condition, r -> rows,               6: an inner join: both reads show the rows that have a
 *            row condition, r -> rows                            partner in the other one
 *   upsert   row N, row clause, row condition,                7: it inserted N; or a row with the same unique value was
 *            r -> rows, row M                                    there, which it changed, and the read shows that row.
 *                                                                Then N did not happen, and in a history the clause is
 *                                                                in its place. The read says nothing of other rows
 *
 * The argument of 2, 3 and 6 is 10 * column of the own read + column of the further one; that of 5 is 10 * column + n.
 *
 * A certificate has for each change of a row its id and its new version, or the id and 0 where it was removed. A
 * removal names no statement; so a database may add a mark for each delete: the statement's number, twice.
 *
 * Pure functions; drivers use this header, too.
 */
#ifndef RIG_HISTORY_TYPES_ROW_OPS_H
#define RIG_HISTORY_TYPES_ROW_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/types/row_values.h"

enum rig_rows_action { RIG_ROWS_INSERT, RIG_ROWS_UPDATE, RIG_ROWS_DELETE, RIG_ROWS_INITIAL };
enum rig_row_column {
    RIG_ROW_BY_ID = 1,
    RIG_ROW_BY_CLASS = 2,
    RIG_ROW_BY_KEY = 3,
    RIG_ROW_BY_VALUE = 4,
    RIG_ROW_BY_REMAINDER = 5,
    RIG_ROW_BY_TESTS = 6 /* with the ways behind it: struct rig_row_where has the way of its own */
};
enum rig_row_way { RIG_ROW_SELECTED, RIG_ROW_LOCKED, RIG_ROW_SHARED, RIG_ROW_AGGREGATED, RIG_ROW_WAYS };
enum rig_row_form { RIG_ROW_LISTED, RIG_ROW_COUNTED, RIG_ROW_SUMMED };

enum rig_row_clause_kind {
    RIG_ROW_NO_CLAUSE,
    RIG_ROW_SOURCE,
    RIG_ROW_PARTNERS,
    RIG_ROW_ABSENT,
    RIG_ROW_SKIPS,
    RIG_ROW_LIMIT,
    RIG_ROW_PAIRS,
    RIG_ROW_UPSERT,
    RIG_ROW_CLAUSES
};
enum { RIG_ROW_CLAUSE_FORM = 9 };
/* Bits beside those of the clauses, of what else statements may have: rows with CHECKs, updates of primary keys. */
enum { RIG_ROW_HAS_CHECKS = 16, RIG_ROW_HAS_MOVES };

enum { RIG_ROW_CLASSES = 100, RIG_ROW_SERIAL = 1000, RIG_ROW_ENDLESS = 999 };
enum { RIG_ROW_CLOSED_CLASS = 99, RIG_ROW_CLOSED_VALUES = 1000000 };
#define RIG_ROW_MOST_SERIAL INT64_C(90000000000000)

struct rig_row_where {
    int64_t least, most; /* most: INT64_MAX without an end; the divisor, of a remainder; least: the bits of tests */
    enum rig_row_column column;
    enum rig_row_form form;
    enum rig_row_way way; /* of tests */
    struct rig_row_testings tests;
    bool is_partial;        /* of a read with a clause: that it does not show a row says nothing */
    bool is_joined;         /* the joined column must have one of the values, too */
    uint8_t joined_column;  /* of RIG_ROW_ALL_COLUMNS */
    uint32_t joined_values; /* bits of codes */
    bool is_ordered;        /* by a number, which must have a value, and by the id; of a read with a limit */
    bool has_last;          /* rows after the last one are not asked for */
    uint8_t ordered_column; /* of RIG_ROW_NUMBERS */
    uint8_t last_code;
    int64_t last_id;
};

struct rig_row_clause {
    enum rig_row_clause_kind kind;
    uint8_t column,
        partner; /* of RIG_ROW_ALL_COLUMNS: of the statement's own read, and of the further one; with a limit
                              * the column of the order, and the number of rows */
};

/* ---- statements that write ---- */

static inline int64_t rig_row_number(int64_t serial, int64_t class, enum rig_rows_action action)
{
    return serial * RIG_ROW_SERIAL + class * 10 + (int64_t)action;
}

static inline int64_t rig_row_serial(int64_t number)
{
    return number / RIG_ROW_SERIAL;
}

static inline int64_t rig_row_class(int64_t version)
{
    return version / 10 % RIG_ROW_CLASSES;
}

static inline enum rig_rows_action rig_row_action(int64_t number)
{
    return (enum rig_rows_action)(number % 10);
}

/* Whether the statement makes rows. */
static inline bool rig_row_inserts(int64_t number)
{
    return rig_row_action(number) == RIG_ROWS_INSERT || rig_row_action(number) == RIG_ROWS_INITIAL;
}

/* The value of a version of a history of closed predicates. */
static inline int64_t rig_row_value(int64_t version)
{
    return rig_row_serial(version) % RIG_ROW_CLOSED_VALUES;
}

/* The key of a row of a history of closed predicates: serial / 10000000. */
static inline int64_t rig_row_closed_key(int64_t id)
{
    return rig_row_serial(id) / RIG_ROW_CLOSED_VALUES / 10;
}

/* Whether a change in a certificate is no row's, but the mark of a delete with the number `version`. */
static inline bool rig_row_is_mark(int64_t id, int64_t version)
{
    return id > 0 && id == version && rig_row_action(version) == RIG_ROWS_DELETE;
}

/* The bits of a statement of the workload sql that say what it writes, and its number. */
static inline uint64_t rig_row_payload(int64_t number)
{
    const int bits = rig_row_class(number) == RIG_ROW_KEYED_CLASS ? RIG_ROW_KEYED_BITS : RIG_ROW_PAYLOAD_BITS;
    const uint64_t payload = (uint64_t)rig_row_serial(number) & ((UINT64_C(1) << bits) - 1);
    if (rig_row_class(number) != RIG_ROW_GUARDED_CLASS)
        return payload;
    const uint64_t guard = payload >> RIG_ROW_CONTENTS_BITS;
    return (payload & ((UINT64_C(1) << RIG_ROW_CONTENTS_BITS) - 1)) | guard << RIG_ROW_GUARD_BIT;
}

static inline int64_t rig_row_sql_number(int64_t count, uint64_t payload, enum rig_rows_action action)
{
    return rig_row_number((count << RIG_ROW_PAYLOAD_BITS) + (int64_t)payload, RIG_ROW_SQL_CLASS, action);
}

/* An insert of a row with u or r; 0: the table has had too many statements, and the row cannot have them. */
static inline int64_t rig_row_keyed_number(int64_t count, uint32_t contents, enum rig_rows_action action)
{
    if (count >= RIG_ROW_MOST_SERIAL >> RIG_ROW_KEYED_BITS)
        return 0;
    return rig_row_number((count << RIG_ROW_KEYED_BITS) + (int64_t)contents, RIG_ROW_KEYED_CLASS, action);
}

/* An insert of a row with g: `guard` of enum rig_row_guard, where 0 is NULL. */
static inline int64_t rig_row_guarded_number(int64_t count, uint32_t contents, uint32_t guard,
                                             enum rig_rows_action action)
{
    const uint32_t payload = contents | guard << RIG_ROW_CONTENTS_BITS;
    return rig_row_number((count << RIG_ROW_PAYLOAD_BITS) + (int64_t)payload, RIG_ROW_GUARDED_CLASS, action);
}

/* Whether the insert writes NULL where NOT NULL forbids it. */
static inline bool rig_row_inserts_null_guard(int64_t number)
{
    return rig_row_class(number) == RIG_ROW_GUARDED_CLASS &&
           rig_row_guard_of((uint32_t)rig_row_payload(number)) == RIG_ROW_UNGUARDED;
}

static inline bool rig_row_is_of_sql(int64_t number)
{
    return rig_row_class(number) >= RIG_ROW_GUARDED_CLASS && rig_row_class(number) <= RIG_ROW_SQL_CLASS;
}

static inline bool rig_row_is_number(int64_t value)
{
    if (value <= 0 || value / RIG_ROW_SERIAL >= RIG_ROW_MOST_SERIAL || value % 10 > RIG_ROWS_INITIAL)
        return false;
    if (!rig_row_is_of_sql(value))
        return true;
    const uint64_t payload = rig_row_payload(value);
    if (rig_row_class(value) == RIG_ROW_GUARDED_CLASS)
        return rig_row_inserts(value) &&
               rig_row_are_guarded((uint64_t)rig_row_serial(value) & ((UINT64_C(1) << RIG_ROW_PAYLOAD_BITS) - 1));
    if (rig_row_class(value) == RIG_ROW_KEYED_CLASS)
        return rig_row_inserts(value) && rig_row_are_contents(payload, RIG_ROW_ALL_COLUMNS) &&
               rig_row_is_keyed((uint32_t)payload);
    return rig_row_inserts(value)                     ? rig_row_are_inserted(payload)
           : rig_row_action(value) == RIG_ROWS_UPDATE ? rig_row_are_assignments(payload)
                                                      : payload == 0;
}

/* Whether the statement has subqueries over the rows of another read. */
static inline bool rig_row_has_source(int64_t number)
{
    return rig_row_class(number) == RIG_ROW_SQL_CLASS && rig_row_action(number) != RIG_ROWS_DELETE &&
           rig_row_has_subquery(rig_row_payload(number), rig_row_inserts(number));
}

/* The contents of a version, by those of the version before; an insert needs none. `source`: of its subqueries; NULL:
 * not known. */
static inline uint32_t rig_row_contents_from(int64_t number, uint32_t before, const struct rig_row_subqueries *source)
{
    static const struct rig_row_subqueries none;
    const bool has_source = rig_row_has_source(number);
    const struct rig_row_subqueries *of = has_source && source != NULL ? source : &none;
    if (!rig_row_is_of_sql(number) || rig_row_action(number) == RIG_ROWS_DELETE || (has_source && source == NULL))
        return RIG_ROW_CONTENTS_UNKNOWN;
    if (rig_row_inserts(number))
        return has_source ? rig_row_sourced_contents(of, (uint32_t)rig_row_payload(number))
                          : (uint32_t)rig_row_payload(number);
    const uint64_t payload = rig_row_payload(number);
    return before == RIG_ROW_CONTENTS_UNKNOWN
               ? before
               : rig_row_assign(before, has_source ? rig_row_sourced_assignments(of, payload) : payload);
}

/* The same of a statement without subqueries. */
static inline uint32_t rig_row_contents(int64_t number, uint32_t before)
{
    return rig_row_contents_from(number, before, NULL);
}

/* ---- clauses ---- */

static inline int64_t rig_row_clause_value(enum rig_row_clause_kind kind, uint32_t column, uint32_t partner)
{
    return -((((int64_t)column * 10 + partner) * 100 + (int64_t)kind) * 10 + RIG_ROW_CLAUSE_FORM);
}

static inline bool rig_row_is_clause(int64_t value)
{
    return value < 0 && -(value + 1) % 10 == RIG_ROW_CLAUSE_FORM - 1;
}

/* False: the value is no clause. */
static inline bool rig_row_clause_of(int64_t value, struct rig_row_clause *clause)
{
    if (!rig_row_is_clause(value))
        return false;
    const int64_t code = -value / 10, kind = code % 100, argument = code / 100;
    const bool joins = kind == RIG_ROW_PARTNERS || kind == RIG_ROW_ABSENT || kind == RIG_ROW_PAIRS;
    const bool limits = kind == RIG_ROW_LIMIT;
    if (kind <= RIG_ROW_NO_CLAUSE || kind >= RIG_ROW_CLAUSES || (!joins && !limits && argument != 0))
        return false;
    if (joins && (argument / 10 >= RIG_ROW_ALL_COLUMNS || argument % 10 >= RIG_ROW_ALL_COLUMNS ||
                  (argument / 10 == RIG_ROW_TEXT) != (argument % 10 == RIG_ROW_TEXT)))
        return false;
    if (limits && (argument / 10 >= RIG_ROW_NUMBERS || argument % 10 == 0))
        return false;
    *clause = (struct rig_row_clause){.kind = (enum rig_row_clause_kind)kind,
                                      .column = (uint8_t)(argument / 10),
                                      .partner = (uint8_t)(argument % 10)};
    return true;
}

/* Whether a read with such a clause says nothing of the rows that it does not show. */
static inline bool rig_row_may_skip(enum rig_row_clause_kind kind)
{
    return kind == RIG_ROW_SKIPS || kind == RIG_ROW_UPSERT;
}

/* Whether the read of such a clause is a further one of the statement after it. */
static inline bool rig_row_is_further(enum rig_row_clause_kind kind)
{
    return kind == RIG_ROW_SOURCE || kind == RIG_ROW_PARTNERS || kind == RIG_ROW_ABSENT || kind == RIG_ROW_PAIRS;
}

/* ---- conditions ---- */

/* `width` of RIG_ROW_ENDLESS or more: no end. */
static inline int64_t rig_row_condition_value(enum rig_row_column column, enum rig_row_form form, int64_t least,
                                              int64_t width)
{
    const int64_t shown = width < RIG_ROW_ENDLESS ? width : RIG_ROW_ENDLESS;
    return -(least * 100000 + shown * 100 + (int64_t)column * 10 + (int64_t)form);
}

static inline int64_t rig_row_tests_value(uint64_t bits, enum rig_row_form form, enum rig_row_way way)
{
    return -((int64_t)bits * 100 + (RIG_ROW_BY_TESTS + (int64_t)way) * 10 + (int64_t)form);
}

static inline bool rig_row_tests_condition_of(int64_t code, struct rig_row_where *condition)
{
    const enum rig_row_way way = (enum rig_row_way)(code / 10 % 10 - RIG_ROW_BY_TESTS);
    if (!rig_row_are_tests((uint64_t)(code / 100)) || (way != RIG_ROW_SELECTED && code % 10 != RIG_ROW_LISTED))
        return false;
    *condition = (struct rig_row_where){.least = code / 100,
                                        .column = RIG_ROW_BY_TESTS,
                                        .form = (enum rig_row_form)(code % 10),
                                        .way = way,
                                        .tests = rig_row_tests_of((uint64_t)(code / 100))};
    return true;
}

/* False: the value is no condition. */
static inline bool rig_row_condition_of(int64_t value, struct rig_row_where *condition)
{
    if (value >= 0 || value <= -RIG_ROW_MOST_SERIAL * 100000)
        return false;
    const int64_t code = -value, width = code / 100 % 1000, column = code / 10 % 10, form = code % 10;
    const bool divides = column == RIG_ROW_BY_REMAINDER;
    if (column < RIG_ROW_BY_ID || form > RIG_ROW_SUMMED || (divides && width == 0))
        return false;
    if (column >= RIG_ROW_BY_TESTS)
        return rig_row_tests_condition_of(code, condition);
    *condition = (struct rig_row_where){.least = code / 100000,
                                        .most = divides                    ? width
                                                : width == RIG_ROW_ENDLESS ? INT64_MAX
                                                                           : code / 100000 + width,
                                        .column = (enum rig_row_column)column,
                                        .form = (enum rig_row_form)form};
    return true;
}

/* The condition of a read without one: all rows. */
static inline struct rig_row_where rig_row_all(void)
{
    return (struct rig_row_where){.most = INT64_MAX, .column = RIG_ROW_BY_ID, .form = RIG_ROW_LISTED};
}

/* Whether a count or a sum shows that no row met the condition: versions are greater than 0. */
static inline bool rig_row_total_is_none(int64_t count, int64_t sum)
{
    return count == 0 && sum == 0;
}
/* Whether a count or a sum is that of rows with this number and sum. */
static inline bool rig_row_total_is(const struct rig_row_where *condition, int64_t shown_count, int64_t shown_sum,
                                    uint64_t count, uint64_t sum)
{
    return (uint64_t)shown_sum == sum && (uint64_t)shown_count == (condition->form == RIG_ROW_COUNTED ? count : 0);
}

/* Whether the condition asks for ids, which no statement changes. */
static inline bool rig_row_asks_ids(const struct rig_row_where *condition)
{
    return condition->column == RIG_ROW_BY_ID || condition->column == RIG_ROW_BY_KEY;
}

/* The same of contents that are known, where the condition has tests. */
static inline bool rig_row_contents_meet(const struct rig_row_where *condition, uint32_t contents)
{
    if (condition->is_joined) {
        const uint32_t code = rig_row_column_code(contents, condition->joined_column);
        if (code == RIG_ROW_NULL || (condition->joined_values >> code & 1) == 0)
            return false;
    }
    return rig_row_tests_hold(&condition->tests, contents);
}

/* Whether a row with these contents is among those before the limit; the contents are known. */
static inline bool rig_row_is_before_limit(const struct rig_row_where *condition, int64_t id, uint32_t contents)
{
    if (!condition->is_ordered)
        return true;
    const uint32_t code = rig_row_column_code(contents, condition->ordered_column);
    return code != RIG_ROW_NULL && (!condition->has_last || code < condition->last_code ||
                                    (code == condition->last_code && id <= condition->last_id));
}

/* Whether the condition holds of a version of a row; never of a deleted one. `contents`: of the version, where the
 * condition has tests, which do not hold where they are not known. */
static inline bool rig_row_meets(const struct rig_row_where *condition, int64_t id, int64_t version, uint32_t contents)
{
    const bool has_value = rig_row_class(version) == RIG_ROW_CLOSED_CLASS;
    if (rig_row_action(version) == RIG_ROWS_DELETE)
        return false;
    if (condition->column == RIG_ROW_BY_TESTS)
        return contents != RIG_ROW_CONTENTS_UNKNOWN && rig_row_contents_meet(condition, contents) &&
               rig_row_is_before_limit(condition, id, contents);
    if (condition->column == RIG_ROW_BY_REMAINDER)
        return has_value && rig_row_value(version) % condition->most == condition->least;
    const int64_t value = rig_row_asks_ids(condition)             ? rig_row_serial(id)
                          : condition->column == RIG_ROW_BY_CLASS ? rig_row_class(version)
                          : has_value                             ? rig_row_value(version)
                                                                  : -1;
    return value >= condition->least && value <= condition->most;
}

/* The same without contents, for conditions that ask numbers alone. */
static inline bool rig_row_matches(const struct rig_row_where *condition, int64_t id, int64_t version)
{
    return rig_row_meets(condition, id, version, RIG_ROW_CONTENTS_UNKNOWN);
}

#endif
