#include "generator/sql_statements.h"

#include "history/types/row_ops.h"

enum { TEMPLATE_STREAM = 118, OFTEN = 5, NULLS_OF_CONSTANTS = 4, REFERENCED = 8, MOST_LIMIT = 5 };

static uint32_t below(struct rig_rng *rng, uint32_t bound)
{
    return (uint32_t)rig_rng_below(rng, bound);
}

static bool chance(struct rig_rng *rng, double share)
{
    return share > 0 && rig_rng_unit(rng) < share;
}

static uint32_t draw_code(struct rig_rng *rng, double nulls)
{
    return chance(rng, nulls) ? (uint32_t)RIG_ROW_NULL : 1 + below(rng, RIG_ROW_VALUE_CODES - 1);
}

/* ---- conditions ---- */

/* Half of the tests compare with a constant. */
static struct rig_row_testing draw_test(struct rig_rng *rng)
{
    static const enum rig_row_test_form others[] = {RIG_ROW_TEST_BETWEEN, RIG_ROW_TEST_BETWEEN, RIG_ROW_TEST_IN,
                                                    RIG_ROW_TEST_IN,      RIG_ROW_TEST_NULL,    RIG_ROW_TEST_IN_COLUMN,
                                                    RIG_ROW_TEST_SUM,     RIG_ROW_TEST_PRODUCT};
    struct rig_row_testing test = {.negated = below(rng, OFTEN) == 0,
                                   .column = (uint8_t)below(rng, RIG_ROW_VALUE_COLUMNS)};
    const bool text = test.column == RIG_ROW_TEXT;
    const uint32_t choice = below(rng, 20);
    if (choice < 8)
        test.form = (uint8_t)others[text ? choice % 6 : choice];
    else
        test.form = (uint8_t)below(rng, RIG_ROW_TEST_BETWEEN);
    if (choice >= 16) {
        test.side = (uint8_t)(text ? RIG_ROW_SIDE_COLUMN : 1 + below(rng, RIG_ROW_SIDES - 1));
        test.other = (uint8_t)(text ? RIG_ROW_TEXT : below(rng, RIG_ROW_NUMBERS));
    } else if (test.form >= RIG_ROW_TEST_IN_COLUMN) {
        test.other = (uint8_t)(text ? RIG_ROW_TEXT : below(rng, RIG_ROW_NUMBERS));
    }
    return test;
}

static uint64_t draw_template(struct rig_rng *rng)
{
    const uint32_t choice = below(rng, 10);
    struct rig_row_testings tests = {.count = choice < 4 ? 1 : choice < 8 ? 2 : 3};
    for (uint32_t i = 0; i < tests.count; i++)
        tests.at[i] = draw_test(rng);
    tests.either = tests.count > 1 && below(rng, 2) == 0;
    tests.either_last = tests.count > 2 && below(rng, 2) == 0;
    tests.negated = below(rng, OFTEN) == 0;
    return rig_row_tests_bits(&tests);
}

void rig_sql_templates_draw(struct rig_generator *generator, uint64_t seed)
{
    struct rig_rng rng;
    rig_rng_init(&rng, seed, UINT64_MAX - TEMPLATE_STREAM);
    for (int64_t i = 0; i < generator->options.templates; i++)
        generator->templates[i] = draw_template(&rng);
}

/* The template with constants. A range begins at its lower end. */
static uint64_t bind_template(struct rig_generator *generator, uint64_t template)
{
    struct rig_row_testings tests = rig_row_tests_of(template);
    const double nulls = generator->options.nulls / NULLS_OF_CONSTANTS;
    for (uint32_t i = 0; i < tests.count; i++) {
        struct rig_row_testing *test = &tests.at[i];
        if (test->form == RIG_ROW_TEST_NULL)
            continue;
        test->constant = (uint8_t)draw_code(&generator->rng, nulls);
        if (test->form != RIG_ROW_TEST_BETWEEN && test->form != RIG_ROW_TEST_IN)
            continue;
        test->further = (uint8_t)draw_code(&generator->rng, nulls);
        if (test->form == RIG_ROW_TEST_BETWEEN && test->constant > test->further && test->further != RIG_ROW_NULL) {
            const uint8_t lower = test->further;
            test->further = test->constant;
            test->constant = lower;
        }
    }
    return rig_row_tests_bits(&tests);
}

/* How a selection reads; a transaction that only reads takes no locks. */
static enum rig_row_way draw_way(struct rig_generator *generator)
{
    const struct rig_generator_options *options = &generator->options;
    const double choice = rig_rng_unit(&generator->rng);
    if (choice < options->locks)
        return generator->reads_only ? RIG_ROW_SELECTED : choice < options->locks / 2 ? RIG_ROW_LOCKED : RIG_ROW_SHARED;
    return choice < options->locks + options->aggregates ? RIG_ROW_AGGREGATED : RIG_ROW_SELECTED;
}

static int64_t draw_condition(struct rig_generator *generator, enum rig_row_way way)
{
    const struct rig_generator_options *options = &generator->options;
    const uint64_t template = generator->templates[below(&generator->rng, (uint32_t)options->templates)];
    const uint64_t bits = bind_template(generator, template);
    return rig_row_tests_value(bits, RIG_ROW_LISTED, way);
}

/* ---- what statements write ---- */

static uint32_t draw_contents(struct rig_generator *generator)
{
    uint32_t contents = 0;
    for (uint32_t column = 0; column < RIG_ROW_VALUE_COLUMNS; column++)
        contents = rig_row_with_code(contents, column, draw_code(&generator->rng, generator->options.nulls));
    return contents;
}

/* An insert of a row with a CHECK, which it keeps. A contents that breaks the one that is drawn gets none. */
static int64_t draw_guarded(struct rig_rng *rng, int64_t count, uint32_t contents)
{
    const uint32_t guard = RIG_ROW_GUARDS_ORDER + below(rng, RIG_ROW_GUARDS_VALUES);
    return rig_row_keeps_check(contents | guard << RIG_ROW_GUARD_BIT)
               ? rig_row_guarded_number(count, contents, guard, RIG_ROWS_INSERT)
               : rig_row_sql_number(count, contents, RIG_ROWS_INSERT);
}

/* The number of an insert. Its u and r have few values, so that rows refer to each other. */
static int64_t draw_insert(struct rig_generator *generator, struct rig_key_slot *slot)
{
    struct rig_rng *rng = &generator->rng;
    const uint32_t contents = draw_contents(generator);
    const int64_t count = rig_generator_value(generator, slot);
    const int64_t plain = rig_row_sql_number(count, contents, RIG_ROWS_INSERT);
    uint32_t keyed = contents;
    for (uint32_t column = RIG_ROW_UNIQUE; column <= RIG_ROW_REFERENCE; column++) {
        if (chance(rng, generator->options.references))
            keyed = rig_row_with_code(keyed, column, RIG_ROW_ZERO + below(rng, REFERENCED));
    }
    if (!rig_row_is_keyed(keyed))
        return chance(rng, generator->options.checks) ? draw_guarded(rng, count, contents) : plain;
    const int64_t number = rig_row_keyed_number(count, keyed, RIG_ROWS_INSERT);
    return number != 0 ? number : plain;
}

/* An assignment to another column than `not`, and of no value of that. */
static struct rig_row_assigning draw_assignment(struct rig_generator *generator, uint32_t not )
{
    struct rig_rng *rng = &generator->rng;
    struct rig_row_assigning a = {.column = below(rng, RIG_ROW_VALUE_COLUMNS), .form = RIG_ROW_SET_CONSTANT};
    a.column = a.column == not ? (a.column + 1) % RIG_ROW_VALUE_COLUMNS : a.column;
    a.constant = draw_code(rng, generator->options.nulls);
    a.source = below(rng, RIG_ROW_NUMBERS);
    a.source = a.source == not ? (a.source + 1) % RIG_ROW_NUMBERS : a.source;
    const uint32_t choice = below(rng, 12);
    if (a.column == RIG_ROW_TEXT) {
        a.form = choice < 9 ? RIG_ROW_SET_CONSTANT : RIG_ROW_SET_COALESCE;
        a.source = RIG_ROW_TEXT;
    } else if (choice >= 4) {
        a.form = (enum rig_row_assigned)(RIG_ROW_SET_COLUMN + choice % 6);
    }
    return a;
}

static uint64_t draw_assignments(struct rig_generator *generator)
{
    const struct rig_row_assigning first = draw_assignment(generator, RIG_ROW_VALUE_COLUMNS);
    uint64_t payload = rig_row_assignment_bits(&first);
    if (below(&generator->rng, 2) == 0) {
        const struct rig_row_assigning second = draw_assignment(generator, first.column);
        payload |= (uint64_t)rig_row_assignment_bits(&second) << RIG_ROW_ASSIGNED_BITS;
    }
    return payload;
}

/* ---- further reads ---- */

uint32_t rig_generator_clauses(const struct rig_generator_options *options)
{
    return (options->subqueries > 0 ? UINT32_C(1) << RIG_ROW_SOURCE : 0) |
           (options->joins > 0 ? UINT32_C(1) << RIG_ROW_PARTNERS : 0) |
           (options->absences > 0 ? UINT32_C(1) << RIG_ROW_ABSENT : 0) |
           (options->skips > 0 ? UINT32_C(1) << RIG_ROW_SKIPS : 0) |
           (options->pairs > 0 ? UINT32_C(1) << RIG_ROW_PAIRS : 0) |
           (options->limits > 0 ? UINT32_C(1) << RIG_ROW_LIMIT : 0) |
           (options->upserts > 0 ? UINT32_C(1) << RIG_ROW_UPSERT : 0) |
           (options->checks > 0 ? UINT32_C(1) << RIG_ROW_HAS_CHECKS : 0) |
           (options->moves > 0 ? UINT32_C(1) << RIG_ROW_HAS_MOVES : 0);
}

static struct rig_op condition_op(const struct rig_generator *generator, int64_t key, int64_t value)
{
    return (struct rig_op){generator->type->write_op, key, value};
}

/* Adds the clause, the condition and the read of a table that is drawn. */
static uint32_t add_further(struct rig_generator *generator, enum rig_row_clause_kind kind, int64_t own_key,
                            struct rig_op *ops)
{
    struct rig_rng *rng = &generator->rng;
    const struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, rng);
    uint32_t column = 0, partner = 0;
    if (kind != RIG_ROW_SOURCE) {
        column = below(rng, RIG_ROW_VALUE_COLUMNS);
        partner = column == RIG_ROW_TEXT ? RIG_ROW_TEXT : below(rng, RIG_ROW_NUMBERS);
        if (slot->key == own_key && below(rng, 4) == 0) { /* the rows that refer to each other */
            column = below(rng, 2) == 0 ? RIG_ROW_UNIQUE : RIG_ROW_REFERENCE;
            partner = column == RIG_ROW_UNIQUE ? RIG_ROW_REFERENCE : RIG_ROW_UNIQUE;
        }
    }
    ops[0] = condition_op(generator, slot->key, rig_row_clause_value(kind, column, partner));
    ops[1] = condition_op(generator, slot->key, draw_condition(generator, RIG_ROW_SELECTED));
    ops[2] = (struct rig_op){generator->type->read_op, slot->key, 0};
    return 3;
}

static uint32_t draw_subquery(struct rig_rng *rng)
{
    return RIG_ROW_COUNT_CODE + below(rng, RIG_ROW_CODES - RIG_ROW_COUNT_CODE);
}

/* INSERT ... SELECT. */
static uint32_t draw_insert_select(struct rig_generator *generator, struct rig_key_slot *slot, struct rig_op *ops)
{
    struct rig_rng *rng = &generator->rng;
    const struct rig_key_slot *source = rig_key_pool_draw(&generator->keys, rng);
    const uint32_t first = below(rng, RIG_ROW_NUMBERS), second = below(rng, RIG_ROW_NUMBERS);
    uint32_t contents = rig_row_with_code(draw_contents(generator), first, draw_subquery(rng));
    contents = rig_row_with_code(contents, second, draw_subquery(rng));
    ops[0] = condition_op(generator, source->key, draw_condition(generator, RIG_ROW_SELECTED));
    ops[1] = (struct rig_op){generator->type->read_op, source->key, 0};
    ops[2] = condition_op(generator, slot->key,
                          rig_row_sql_number(rig_generator_value(generator, slot), contents, RIG_ROWS_INSERT));
    return 3;
}

/* An upsert by a unique value. It assigns a constant to a row that is there. */
static uint32_t draw_upsert(struct rig_generator *generator, struct rig_key_slot *slot, struct rig_op *ops)
{
    struct rig_rng *rng = &generator->rng;
    const uint32_t contents =
        rig_row_with_code(draw_contents(generator), RIG_ROW_UNIQUE, RIG_ROW_ZERO + below(rng, REFERENCED));
    const int64_t number = rig_row_keyed_number(rig_generator_value(generator, slot), contents, RIG_ROWS_INSERT);
    const uint32_t column = below(rng, RIG_ROW_VALUE_COLUMNS);
    const struct rig_row_assigning a = {.column = column,
                                        .form = RIG_ROW_SET_CONSTANT,
                                        .constant = draw_code(rng, generator->options.nulls),
                                        .source = column == RIG_ROW_TEXT ? (uint32_t)RIG_ROW_TEXT : 0};
    if (number == 0)
        return 0;
    ops[0] = condition_op(generator, slot->key, number);
    ops[1] = condition_op(generator, slot->key, rig_row_clause_value(RIG_ROW_UPSERT, 0, 0));
    ops[2] = condition_op(generator, slot->key, rig_row_tests_value(0, RIG_ROW_LISTED, RIG_ROW_SELECTED));
    ops[3] = (struct rig_op){generator->type->read_op, slot->key, 0};
    ops[4] = condition_op(
        generator, slot->key,
        rig_row_sql_number(rig_generator_value(generator, slot), rig_row_assignment_bits(&a), RIG_ROWS_UPDATE));
    return 5;
}

/* The assignments of an update with a subquery. */
static uint64_t draw_assigned_subquery(struct rig_generator *generator)
{
    struct rig_rng *rng = &generator->rng;
    const uint32_t column = below(rng, RIG_ROW_NUMBERS);
    struct rig_row_assigning first = {.column = column, .form = RIG_ROW_SET_CONSTANT, .constant = draw_subquery(rng)};
    if (below(rng, 2) == 0) {
        first.form = RIG_ROW_SET_SUM;
        first.source = below(rng, RIG_ROW_NUMBERS);
    }
    uint64_t payload = rig_row_assignment_bits(&first);
    const struct rig_row_assigning second = draw_assignment(generator, column);
    if (below(rng, 2) == 0 && (first.form == RIG_ROW_SET_CONSTANT || first.source != second.column))
        payload |= (uint64_t)rig_row_assignment_bits(&second) << RIG_ROW_ASSIGNED_BITS;
    return payload;
}

/* An update or a delete. */
static uint32_t draw_change(struct rig_generator *generator, struct rig_key_slot *slot, enum rig_rows_action action,
                            struct rig_op *ops)
{
    const struct rig_generator_options *options = &generator->options;
    const bool selects = action == RIG_ROWS_UPDATE && chance(&generator->rng, options->subqueries);
    const bool absent = !selects && chance(&generator->rng, options->absences);
    uint32_t count = 0;
    if (selects || absent)
        count += add_further(generator, selects ? RIG_ROW_SOURCE : RIG_ROW_ABSENT, slot->key, ops);
    ops[count++] = condition_op(generator, slot->key, draw_condition(generator, RIG_ROW_SELECTED));
    ops[count++] = (struct rig_op){generator->type->read_op, slot->key, 0};
    uint64_t payload = selects                     ? draw_assigned_subquery(generator)
                       : action == RIG_ROWS_UPDATE ? draw_assignments(generator)
                                                   : 0;
    if (action == RIG_ROWS_UPDATE && chance(&generator->rng, options->moves))
        payload |= RIG_ROW_MOVES_KEY;
    ops[count++] =
        condition_op(generator, slot->key, rig_row_sql_number(rig_generator_value(generator, slot), payload, action));
    return count;
}

static struct rig_op limit_op(struct rig_generator *generator, int64_t key)
{
    const uint32_t column = below(&generator->rng, RIG_ROW_NUMBERS), rows = 1 + below(&generator->rng, MOST_LIMIT);
    return condition_op(generator, key, rig_row_clause_value(RIG_ROW_LIMIT, column, rows));
}

/* The clause of a selection. */
static enum rig_row_clause_kind draw_clause(struct rig_generator *generator)
{
    const struct rig_generator_options *options = &generator->options;
    struct rig_rng *rng = &generator->rng;
    return chance(rng, options->joins)      ? RIG_ROW_PARTNERS
           : chance(rng, options->absences) ? RIG_ROW_ABSENT
           : chance(rng, options->pairs)    ? RIG_ROW_PAIRS
           : chance(rng, options->limits)   ? RIG_ROW_LIMIT
                                            : RIG_ROW_NO_CLAUSE;
}

static uint32_t draw_read(struct rig_generator *generator, const struct rig_key_slot *slot, bool *locks,
                          struct rig_op *ops)
{
    const struct rig_generator_options *options = &generator->options;
    const enum rig_row_way way = draw_way(generator);
    uint32_t count = 0;
    *locks = way == RIG_ROW_LOCKED || way == RIG_ROW_SHARED;
    if (*locks && chance(&generator->rng, options->skips)) {
        ops[count++] = condition_op(generator, slot->key, rig_row_clause_value(RIG_ROW_SKIPS, 0, 0));
    } else if (way == RIG_ROW_SELECTED) {
        const enum rig_row_clause_kind kind = draw_clause(generator);
        if (rig_row_is_further(kind))
            count += add_further(generator, kind, slot->key, ops);
        else if (kind == RIG_ROW_LIMIT)
            ops[count++] = limit_op(generator, slot->key);
    }
    ops[count++] = condition_op(generator, slot->key, draw_condition(generator, way));
    ops[count++] = (struct rig_op){generator->type->read_op, slot->key, 0};
    return count;
}

uint32_t rig_sql_statement_draw(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    const struct rig_generator_options *options = &generator->options;
    const bool writes = !rig_generator_reads(generator);
    struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    const double choice = rig_rng_unit(&generator->rng);
    bool locks = false;
    *reads = !writes;
    if (!writes) {
        const uint32_t count = draw_read(generator, slot, &locks, ops);
        *reads = !locks;
        return count;
    }
    if (choice < options->updates + options->deletes)
        return draw_change(generator, slot, choice < options->updates ? RIG_ROWS_UPDATE : RIG_ROWS_DELETE, ops);
    if (chance(&generator->rng, options->subqueries))
        return draw_insert_select(generator, slot, ops);
    const uint32_t upserts = chance(&generator->rng, options->upserts) ? draw_upsert(generator, slot, ops) : 0;
    if (upserts > 0)
        return upserts;
    ops[0] = condition_op(generator, slot->key, draw_insert(generator, slot));
    return 1;
}
