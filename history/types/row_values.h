/*
 * Columns, conditions and assignments of the workload sql, as the numbers of its statements have them.
 *
 * A row has four columns: a, b and c are numbers from -9 to 9, t is a text of one letter from a to s. Each may be NULL.
 * A value is a code of five bits: 0 is NULL, 1 to 19 are -9 to 9, or a to s. The contents of a row are four codes, that
 * of a in the lowest bits.
 *
 * Two more columns have constraints: u is unique in its table, and r refers to the u of a row of the same table. Only
 * inserts write them, so they never change.
 *
 * One more column, g, says which CHECK a row keeps (enum rig_row_guard). Only inserts write it. It is NOT NULL, so
 * an insert of NULL must fail. g is in the two highest bits of the contents.
 *
 * A statement has the class RIG_ROW_SQL_CLASS, and its serial is a count * 2^25 + what it writes: the contents of an
 * insert; of an update two assignments of 12 bits, the first in the lowest bits, and a bit that says that it also
 * changes the primary key of its rows, which no condition asks for; 0 of a delete. An insert that writes u or r has the
 * class RIG_ROW_KEYED_CLASS, and its serial is a count * 2^30 + six codes. An insert that writes g has the class
 * RIG_ROW_GUARDED_CLASS, and in the 25 bits four codes and g, where 0 is NULL. An assignment is
 *
 *   column (2 bits), form (3), source (2), constant (5)            from the lowest bits on
 *
 * and sees the row as it was before the statement. `x % 10` has the sign of x.
 *
 * The constant of an assignment, or the number that an insert writes, may be a subquery over the rows that another read
 * of the statement shows (history/types/row_ops.h): the codes from RIG_ROW_COUNT_CODE on. Their values follow from the
 * versions that this read shows, without the contents of the rows.
 *
 * A condition has 56 bits: the number of its tests (2 bits), whether the first two and the last are joined by OR (1
 * each; else AND), whether there is a NOT before the first two, or before the only one (1), and three tests of 17 bits:
 *
 *   negated (1 bit), form (4), column (2), operand (10)
 *
 * An operand is a constant (5 bits) and a further constant (5), or a constant, a column (2) and how it is used (3).
 *
 *   0 tests: all rows;  1: [NOT] x;  2: [NOT] (x AND|OR y);  3: [NOT] (x AND|OR y) AND|OR z
 *
 * Tests are true, false or unknown, as in SQL; a row meets the condition where it is true. The text is compared with
 * constants and with itself only.
 *
 * Pure functions; drivers use this header, too.
 */
#ifndef RIG_HISTORY_TYPES_ROW_VALUES_H
#define RIG_HISTORY_TYPES_ROW_VALUES_H

#include <stdbool.h>
#include <stdint.h>

enum { RIG_ROW_NUMBERS = 3, RIG_ROW_TEXT = 3, RIG_ROW_VALUE_COLUMNS = 4 };
enum { RIG_ROW_UNIQUE = 4, RIG_ROW_REFERENCE = 5, RIG_ROW_ALL_COLUMNS = 6 };
enum { RIG_ROW_NULL = 0, RIG_ROW_ZERO = 10, RIG_ROW_VALUE_CODES = 20, RIG_ROW_VALUE_MOST = 9 };
enum { RIG_ROW_COUNT_CODE = 20, RIG_ROW_GREATEST_CODE, RIG_ROW_LEAST_CODE, RIG_ROW_CODES };
enum { RIG_ROW_SOURCE_MODULUS = 7 };
enum { RIG_ROW_SQL_CLASS = 98, RIG_ROW_PAYLOAD_BITS = 25, RIG_ROW_KEYED_CLASS = 97, RIG_ROW_KEYED_BITS = 30 };
enum { RIG_ROW_GUARDED_CLASS = 96, RIG_ROW_CONTENTS_BITS = 20, RIG_ROW_GUARD_BIT = 30 };
enum { RIG_ROW_ASSIGNED_BITS = 12, RIG_ROW_MOST_TESTS = 3 };
/* The bit of an update that changes primary keys. */
#define RIG_ROW_MOVES_KEY (UINT64_C(1) << 24)

/* Contents that are not known. */
#define RIG_ROW_CONTENTS_UNKNOWN UINT32_MAX

/* The CHECKs of a table. As in SQL, one that is unknown is kept. */
enum rig_row_guard {
    RIG_ROW_UNGUARDED,    /* g = 0 */
    RIG_ROW_GUARDS_ORDER, /* CHECK (g <> 1 OR a <= b) */
    RIG_ROW_GUARDS_RANGE, /* CHECK (g <> 2 OR c BETWEEN -5 AND 5) */
    RIG_ROW_GUARDS_VALUES /* CHECK (g <> 3 OR (b IS NOT NULL AND t IS NOT NULL)) */
};

enum rig_row_assigned {
    RIG_ROW_UNCHANGED,      /* there is no such assignment */
    RIG_ROW_SET_CONSTANT,   /* column = constant */
    RIG_ROW_SET_COLUMN,     /* column = source */
    RIG_ROW_SET_SUM,        /* column = (source + constant) % 10 */
    RIG_ROW_SET_PRODUCT,    /* column = (source * constant) % 10 */
    RIG_ROW_SET_DIFFERENCE, /* column = (column - source) % 10 */
    RIG_ROW_SET_COALESCE,   /* column = COALESCE(source, constant) */
    RIG_ROW_SET_CASE,       /* column = CASE WHEN source < constant THEN source ELSE column END */
};

enum rig_row_test_form {
    RIG_ROW_TEST_EQUAL, /* these six with a right side of enum rig_row_side */
    RIG_ROW_TEST_UNEQUAL,
    RIG_ROW_TEST_LESS,
    RIG_ROW_TEST_AT_MOST,
    RIG_ROW_TEST_MORE,
    RIG_ROW_TEST_AT_LEAST,
    RIG_ROW_TEST_BETWEEN,   /* column BETWEEN constant AND constant */
    RIG_ROW_TEST_IN,        /* column IN (constant, constant) */
    RIG_ROW_TEST_NULL,      /* column IS NULL */
    RIG_ROW_TEST_IN_COLUMN, /* column IN (constant, column) */
    RIG_ROW_TEST_SUM,       /* column + column <= constant */
    RIG_ROW_TEST_PRODUCT,   /* column * column = constant */
    RIG_ROW_TEST_FORMS
};

enum rig_row_side {
    RIG_ROW_SIDE_CONSTANT,
    RIG_ROW_SIDE_COLUMN,
    RIG_ROW_SIDE_SUM,      /* column + constant */
    RIG_ROW_SIDE_PRODUCT,  /* column * constant */
    RIG_ROW_SIDE_NEGATIVE, /* - column */
    RIG_ROW_SIDE_ABSOLUTE, /* ABS(column) */
    RIG_ROW_SIDE_COALESCE, /* COALESCE(column, constant) */
    RIG_ROW_SIDES
};

struct rig_row_assigning {
    uint32_t column, source, constant; /* constant: a code */
    enum rig_row_assigned form;
};

struct rig_row_testing {
    bool negated;
    uint8_t form; /* enum rig_row_test_form */
    uint8_t column;
    uint8_t constant, further; /* codes; further: of BETWEEN and IN */
    uint8_t other;             /* column */
    uint8_t side;              /* enum rig_row_side */
};

struct rig_row_testings {
    uint8_t count;
    bool either, either_last; /* joined by OR */
    bool negated;
    struct rig_row_testing at[RIG_ROW_MOST_TESTS];
};

/* ---- values ---- */

static inline bool rig_row_is_code(uint32_t code)
{
    return code < RIG_ROW_VALUE_CODES;
}

/* Whether the code is a subquery: COUNT(*) % 10, MAX(v % 7) or MIN(v % 7), where v is the version of a row. */
static inline bool rig_row_is_subquery(uint32_t code)
{
    return code >= RIG_ROW_COUNT_CODE && code < RIG_ROW_CODES;
}

static inline uint32_t rig_row_code_of(int64_t value)
{
    return (uint32_t)(value + RIG_ROW_ZERO);
}

static inline int64_t rig_row_value_of(uint32_t code)
{
    return (int64_t)code - RIG_ROW_ZERO;
}

static inline uint32_t rig_row_column_code(uint32_t contents, uint32_t column)
{
    return contents >> (5 * column) & 31;
}

static inline uint32_t rig_row_with_code(uint32_t contents, uint32_t column, uint32_t code)
{
    return (contents & ~(UINT32_C(31) << (5 * column))) | code << (5 * column);
}

/* Whether these are contents of the first `columns` columns. */
static inline bool rig_row_are_contents(uint64_t payload, uint32_t columns)
{
    for (uint32_t column = 0; column < columns; column++) {
        if (!rig_row_is_code(rig_row_column_code((uint32_t)payload, column)))
            return false;
    }
    return payload >> (5 * columns) == 0;
}

/* Whether an insert may write this: contents, whose numbers may be subqueries. */
static inline bool rig_row_are_inserted(uint64_t payload)
{
    for (uint32_t column = 0; column < RIG_ROW_NUMBERS; column++) {
        const uint32_t code = rig_row_column_code((uint32_t)payload, column);
        if (rig_row_is_subquery(code))
            payload -= (uint64_t)code << (5 * column);
    }
    return rig_row_are_contents(payload, RIG_ROW_VALUE_COLUMNS);
}

/* Whether a row with these contents has a value that a constraint is about. */
static inline bool rig_row_is_keyed(uint32_t contents)
{
    return rig_row_column_code(contents, RIG_ROW_UNIQUE) != RIG_ROW_NULL ||
           rig_row_column_code(contents, RIG_ROW_REFERENCE) != RIG_ROW_NULL;
}

/* ---- checks ---- */

static inline uint32_t rig_row_guard_of(uint32_t contents)
{
    return contents >> RIG_ROW_GUARD_BIT;
}

/* Whether an insert with g may write this: four codes and g. */
static inline bool rig_row_are_guarded(uint64_t payload)
{
    return payload >> (RIG_ROW_CONTENTS_BITS + 2) == 0 &&
           rig_row_are_contents(payload & ((1U << RIG_ROW_CONTENTS_BITS) - 1), RIG_ROW_VALUE_COLUMNS);
}

/* Whether a row with these contents, which are known, keeps its CHECK. */
static inline bool rig_row_keeps_check(uint32_t contents)
{
    const uint32_t a = rig_row_column_code(contents, 0), b = rig_row_column_code(contents, 1);
    const uint32_t c = rig_row_column_code(contents, 2), text = rig_row_column_code(contents, RIG_ROW_TEXT);
    switch ((enum rig_row_guard)rig_row_guard_of(contents)) {
    case RIG_ROW_GUARDS_ORDER:
        return a == RIG_ROW_NULL || b == RIG_ROW_NULL || a <= b;
    case RIG_ROW_GUARDS_RANGE:
        return c == RIG_ROW_NULL || (rig_row_value_of(c) >= -5 && rig_row_value_of(c) <= 5);
    case RIG_ROW_GUARDS_VALUES:
        return b != RIG_ROW_NULL && text != RIG_ROW_NULL;
    case RIG_ROW_UNGUARDED:
        break;
    }
    return true;
}

/* ---- assignments ---- */

static inline uint32_t rig_row_assignment_bits(const struct rig_row_assigning *a)
{
    return a->column | (uint32_t)a->form << 2 | a->source << 5 | a->constant << 7;
}

static inline struct rig_row_assigning rig_row_assignment_of(uint64_t payload, uint32_t which)
{
    const uint32_t bits = (uint32_t)(payload >> (RIG_ROW_ASSIGNED_BITS * which)) & 0xFFF;
    return (struct rig_row_assigning){.column = bits & 3,
                                      .form = (enum rig_row_assigned)(bits >> 2 & 7),
                                      .source = bits >> 5 & 3,
                                      .constant = bits >> 7};
}

static inline bool rig_row_is_assignment(const struct rig_row_assigning *a)
{
    const bool numbers = a->column < RIG_ROW_NUMBERS && a->source < RIG_ROW_NUMBERS;
    const bool texts = a->column == RIG_ROW_TEXT && a->source == RIG_ROW_TEXT;
    if (a->form == RIG_ROW_UNCHANGED)
        return rig_row_assignment_bits(a) == 0;
    if (rig_row_is_subquery(a->constant))
        return numbers && (a->form == RIG_ROW_SET_CONSTANT || a->form == RIG_ROW_SET_SUM);
    if (!rig_row_is_code(a->constant))
        return false;
    if (a->form == RIG_ROW_SET_CONSTANT)
        return true;
    return numbers || (texts && (a->form == RIG_ROW_SET_COLUMN || a->form == RIG_ROW_SET_COALESCE));
}

/* Whether an update may write this. */
static inline bool rig_row_are_assignments(uint64_t payload)
{
    const struct rig_row_assigning a = rig_row_assignment_of(payload, 0), b = rig_row_assignment_of(payload, 1);
    return (payload & ~RIG_ROW_MOVES_KEY) >> (2 * RIG_ROW_ASSIGNED_BITS) == 0 && rig_row_is_assignment(&a) &&
           rig_row_is_assignment(&b) &&
           (b.form == RIG_ROW_UNCHANGED || (a.form != RIG_ROW_UNCHANGED && a.column != b.column));
}

static inline uint32_t rig_row_assigned_code(const struct rig_row_assigning *a, uint32_t contents)
{
    const uint32_t old = rig_row_column_code(contents, a->column), source = rig_row_column_code(contents, a->source);
    const int64_t x = rig_row_value_of(source), y = rig_row_value_of(a->constant), z = rig_row_value_of(old);
    const bool known = source != RIG_ROW_NULL && a->constant != RIG_ROW_NULL;
    switch (a->form) {
    case RIG_ROW_UNCHANGED:
        break;
    case RIG_ROW_SET_CONSTANT:
        return a->constant;
    case RIG_ROW_SET_COLUMN:
        return source;
    case RIG_ROW_SET_SUM:
        return known ? rig_row_code_of((x + y) % 10) : RIG_ROW_NULL;
    case RIG_ROW_SET_PRODUCT:
        return known ? rig_row_code_of((x * y) % 10) : RIG_ROW_NULL;
    case RIG_ROW_SET_DIFFERENCE:
        return source != RIG_ROW_NULL && old != RIG_ROW_NULL ? rig_row_code_of((z - x) % 10) : RIG_ROW_NULL;
    case RIG_ROW_SET_COALESCE:
        return source != RIG_ROW_NULL ? source : a->constant;
    case RIG_ROW_SET_CASE:
        return known && x < y ? source : old;
    }
    return old;
}

/* The contents after an update that writes `payload`. */
static inline uint32_t rig_row_assign(uint32_t contents, uint64_t payload)
{
    uint32_t after = contents;
    for (uint32_t which = 0; which < 2; which++) {
        const struct rig_row_assigning a = rig_row_assignment_of(payload, which);
        if (a.form != RIG_ROW_UNCHANGED)
            after = rig_row_with_code(after, a.column, rig_row_assigned_code(&a, contents));
    }
    return after;
}

/* ---- subqueries ---- */

/* The values of subqueries over the rows that a read shows, as codes. */
struct rig_row_subqueries {
    uint32_t count;           /* rows */
    uint32_t greatest, least; /* of v % 7; RIG_ROW_NULL: there is no row */
};

static inline void rig_row_source_add(struct rig_row_subqueries *source, int64_t version)
{
    const uint32_t code = rig_row_code_of(version % RIG_ROW_SOURCE_MODULUS);
    source->greatest = code > source->greatest ? code : source->greatest;
    source->least = source->count == 0 || code < source->least ? code : source->least;
    source->count++;
}

/* The code of the value; of a code that is a value itself. */
static inline uint32_t rig_row_sourced_code(const struct rig_row_subqueries *source, uint32_t code)
{
    return code == RIG_ROW_COUNT_CODE      ? rig_row_code_of(source->count % 10)
           : code == RIG_ROW_GREATEST_CODE ? source->greatest
           : code == RIG_ROW_LEAST_CODE    ? source->least
                                           : code;
}

/* The contents that an insert writes, with values in the place of its subqueries. */
static inline uint32_t rig_row_sourced_contents(const struct rig_row_subqueries *source, uint32_t contents)
{
    for (uint32_t column = 0; column < RIG_ROW_NUMBERS; column++)
        contents =
            rig_row_with_code(contents, column, rig_row_sourced_code(source, rig_row_column_code(contents, column)));
    return contents;
}

/* The same of the assignments of an update. */
static inline uint64_t rig_row_sourced_assignments(const struct rig_row_subqueries *source, uint64_t payload)
{
    uint64_t sourced = 0;
    for (uint32_t which = 0; which < 2; which++) {
        struct rig_row_assigning a = rig_row_assignment_of(payload, which);
        a.constant = rig_row_sourced_code(source, a.constant);
        sourced |= (uint64_t)rig_row_assignment_bits(&a) << (RIG_ROW_ASSIGNED_BITS * which);
    }
    return sourced;
}

/* Whether an insert (else: an update) that writes this has a subquery. */
static inline bool rig_row_has_subquery(uint64_t payload, bool inserts)
{
    bool has = false;
    for (uint32_t column = 0; inserts && column < RIG_ROW_NUMBERS; column++)
        has |= rig_row_is_subquery(rig_row_column_code((uint32_t)payload, column));
    for (uint32_t which = 0; !inserts && which < 2; which++)
        has |= rig_row_is_subquery(rig_row_assignment_of(payload, which).constant);
    return has;
}

/* ---- conditions ---- */

static inline uint64_t rig_row_test_bits(const struct rig_row_testing *test)
{
    const bool plain = test->form == RIG_ROW_TEST_BETWEEN || test->form == RIG_ROW_TEST_IN;
    const uint64_t behind =
        plain ? (uint64_t)test->further << 5 : (uint64_t)test->other << 5 | (uint64_t)test->side << 7;
    const uint64_t operand = test->constant | behind;
    return (uint64_t)test->negated | (uint64_t)test->form << 1 | (uint64_t)test->column << 5 | operand << 7;
}

static inline struct rig_row_testing rig_row_test_of(uint64_t bits)
{
    const uint32_t operand = (uint32_t)(bits >> 7) & 1023;
    struct rig_row_testing test = {.negated = (bits & 1) != 0,
                                   .form = (uint8_t)(bits >> 1 & 15),
                                   .column = (uint8_t)(bits >> 5 & 3),
                                   .constant = (uint8_t)(operand & 31)};
    if (test.form == RIG_ROW_TEST_BETWEEN || test.form == RIG_ROW_TEST_IN) {
        test.further = (uint8_t)(operand >> 5);
        return test;
    }
    test.other = (uint8_t)(operand >> 5 & 3);
    test.side = (uint8_t)(operand >> 7);
    return test;
}

static inline uint64_t rig_row_tests_bits(const struct rig_row_testings *tests)
{
    uint64_t bits =
        tests->count | (uint64_t)tests->either << 2 | (uint64_t)tests->either_last << 3 | (uint64_t)tests->negated << 4;
    for (uint32_t i = 0; i < tests->count; i++)
        bits |= rig_row_test_bits(&tests->at[i]) << (5 + 17 * i);
    return bits;
}

static inline struct rig_row_testings rig_row_tests_of(uint64_t bits)
{
    struct rig_row_testings tests = {.count = (uint8_t)(bits & 3),
                                     .either = (bits & 4) != 0,
                                     .either_last = (bits & 8) != 0,
                                     .negated = (bits & 16) != 0};
    for (uint32_t i = 0; i < tests.count; i++)
        tests.at[i] = rig_row_test_of(bits >> (5 + 17 * i) & 0x1FFFF);
    return tests;
}

static inline bool rig_row_is_test(const struct rig_row_testing *test)
{
    const bool text = test->column == RIG_ROW_TEXT, other_text = test->other == RIG_ROW_TEXT;
    if (!rig_row_is_code(test->constant) || !rig_row_is_code(test->further))
        return false;
    switch ((enum rig_row_test_form)test->form) {
    case RIG_ROW_TEST_EQUAL:
    case RIG_ROW_TEST_UNEQUAL:
    case RIG_ROW_TEST_LESS:
    case RIG_ROW_TEST_AT_MOST:
    case RIG_ROW_TEST_MORE:
    case RIG_ROW_TEST_AT_LEAST:
        return test->side == RIG_ROW_SIDE_CONSTANT ? test->other == 0
               : text                              ? other_text && test->side == RIG_ROW_SIDE_COLUMN
                                                   : !other_text && test->side < RIG_ROW_SIDES;
    case RIG_ROW_TEST_BETWEEN:
    case RIG_ROW_TEST_IN:
        return true;
    case RIG_ROW_TEST_NULL:
        return test->constant == 0 && test->other == 0 && test->side == RIG_ROW_SIDE_CONSTANT;
    case RIG_ROW_TEST_IN_COLUMN:
        return text == other_text && test->side == RIG_ROW_SIDE_CONSTANT;
    case RIG_ROW_TEST_SUM:
    case RIG_ROW_TEST_PRODUCT:
        return !text && !other_text && test->side == RIG_ROW_SIDE_CONSTANT;
    case RIG_ROW_TEST_FORMS:
        break;
    }
    return false;
}

/* Whether the 56 bits are a condition, and the only bits of it. */
static inline bool rig_row_are_tests(uint64_t bits)
{
    const struct rig_row_testings tests = rig_row_tests_of(bits);
    for (uint32_t i = 0; i < tests.count; i++) {
        if (!rig_row_is_test(&tests.at[i]))
            return false;
    }
    return rig_row_tests_bits(&tests) == bits && (tests.count > 1 || !tests.either) &&
           (tests.count > 2 || !tests.either_last) && (tests.count > 0 || !tests.negated);
}

/* The truth of a test, in an order in which AND is the least of two and OR the greatest. */
enum rig_row_truth { RIG_ROW_FALSE, RIG_ROW_UNKNOWN, RIG_ROW_TRUE };

static inline enum rig_row_truth rig_row_not(enum rig_row_truth truth)
{
    return (enum rig_row_truth)(RIG_ROW_TRUE - truth);
}

static inline enum rig_row_truth rig_row_join(enum rig_row_truth a, enum rig_row_truth b, bool either)
{
    return (either ? a > b : a < b) ? a : b;
}

/* A number, or NULL. */
struct rig_row_operand {
    bool known;
    int64_t value;
};

static inline struct rig_row_operand rig_row_operand_of(uint32_t code)
{
    return (struct rig_row_operand){code != RIG_ROW_NULL, rig_row_value_of(code)};
}

static inline struct rig_row_operand rig_row_side_of(const struct rig_row_testing *test, uint32_t contents)
{
    const struct rig_row_operand constant = rig_row_operand_of(test->constant);
    struct rig_row_operand x = rig_row_operand_of(rig_row_column_code(contents, test->other));
    switch ((enum rig_row_side)test->side) {
    case RIG_ROW_SIDE_CONSTANT:
        return constant;
    case RIG_ROW_SIDE_SUM:
        return (struct rig_row_operand){x.known && constant.known, x.value + constant.value};
    case RIG_ROW_SIDE_PRODUCT:
        return (struct rig_row_operand){x.known && constant.known, x.value * constant.value};
    case RIG_ROW_SIDE_NEGATIVE:
        x.value = -x.value;
        return x;
    case RIG_ROW_SIDE_ABSOLUTE:
        x.value = x.value < 0 ? -x.value : x.value;
        return x;
    case RIG_ROW_SIDE_COALESCE:
        return x.known ? x : constant;
    case RIG_ROW_SIDE_COLUMN:
    case RIG_ROW_SIDES:
        break;
    }
    return x;
}

static inline enum rig_row_truth rig_row_compare(unsigned form, struct rig_row_operand x, struct rig_row_operand y)
{
    if (!x.known || !y.known)
        return RIG_ROW_UNKNOWN;
    const bool holds = form == RIG_ROW_TEST_EQUAL     ? x.value == y.value
                       : form == RIG_ROW_TEST_UNEQUAL ? x.value != y.value
                       : form == RIG_ROW_TEST_LESS    ? x.value < y.value
                       : form == RIG_ROW_TEST_AT_MOST ? x.value <= y.value
                       : form == RIG_ROW_TEST_MORE    ? x.value > y.value
                                                      : x.value >= y.value;
    return holds ? RIG_ROW_TRUE : RIG_ROW_FALSE;
}

static inline enum rig_row_truth rig_row_test_truth(const struct rig_row_testing *test, uint32_t contents)
{
    const struct rig_row_operand x = rig_row_operand_of(rig_row_column_code(contents, test->column));
    const struct rig_row_operand other = rig_row_operand_of(rig_row_column_code(contents, test->other));
    const struct rig_row_operand constant = rig_row_operand_of(test->constant);
    const struct rig_row_operand further = rig_row_operand_of(test->further);
    enum rig_row_truth truth = RIG_ROW_FALSE;
    if (test->form == RIG_ROW_TEST_BETWEEN)
        truth = rig_row_join(rig_row_compare(RIG_ROW_TEST_AT_LEAST, x, constant),
                             rig_row_compare(RIG_ROW_TEST_AT_MOST, x, further), false);
    else if (test->form == RIG_ROW_TEST_IN || test->form == RIG_ROW_TEST_IN_COLUMN)
        truth =
            rig_row_join(rig_row_compare(RIG_ROW_TEST_EQUAL, x, constant),
                         rig_row_compare(RIG_ROW_TEST_EQUAL, x, test->form == RIG_ROW_TEST_IN ? further : other), true);
    else if (test->form == RIG_ROW_TEST_NULL)
        truth = x.known ? RIG_ROW_FALSE : RIG_ROW_TRUE;
    else if (test->form == RIG_ROW_TEST_SUM || test->form == RIG_ROW_TEST_PRODUCT)
        truth = rig_row_compare(test->form == RIG_ROW_TEST_SUM ? RIG_ROW_TEST_AT_MOST : RIG_ROW_TEST_EQUAL,
                                (struct rig_row_operand){x.known && other.known, test->form == RIG_ROW_TEST_SUM
                                                                                     ? x.value + other.value
                                                                                     : x.value * other.value},
                                constant);
    else
        truth = rig_row_compare(test->form, x, rig_row_side_of(test, contents));
    return test->negated ? rig_row_not(truth) : truth;
}

/* Whether contents meet the condition. */
static inline bool rig_row_tests_hold(const struct rig_row_testings *tests, uint32_t contents)
{
    if (tests->count == 0)
        return true;
    enum rig_row_truth truth = rig_row_test_truth(&tests->at[0], contents);
    if (tests->count > 1)
        truth = rig_row_join(truth, rig_row_test_truth(&tests->at[1], contents), tests->either);
    if (tests->negated)
        truth = rig_row_not(truth);
    if (tests->count > 2)
        truth = rig_row_join(truth, rig_row_test_truth(&tests->at[2], contents), tests->either_last);
    return truth == RIG_ROW_TRUE;
}

#endif
