#include "generator/sql_shapes.h"

#include "history/types/row_ops.h"

enum { GAP_STREAM = 135, LEAST_WIDTH = 2, WIDTHS = 3 };

enum shape { SKEW, CROSSING, PHANTOM, AGAIN, SHAPES };

/* The rows of a table that have a value of this range in the column, as codes. */
struct gap {
    struct rig_key_slot *slot;
    uint32_t column, least, most;
};

struct drawing {
    struct rig_generator *generator;
    struct rig_op *ops;
    uint32_t count;
};

static uint32_t below(struct rig_rng *rng, uint32_t bound)
{
    return (uint32_t)rig_rng_below(rng, bound);
}

static struct gap gap_of(struct rig_key_slot *slot)
{
    struct rig_rng rng;
    struct gap gap = {.slot = slot};
    rig_rng_init(&rng, (uint64_t)slot->key, GAP_STREAM);
    const uint32_t width = LEAST_WIDTH + below(&rng, WIDTHS);
    gap.column = below(&rng, RIG_ROW_NUMBERS);
    gap.least = 1 + below(&rng, RIG_ROW_VALUE_CODES - 1 - width);
    gap.most = gap.least + width;
    return gap;
}

/* A value in the gap. */
static uint32_t draw_inside(struct rig_generator *generator, const struct gap *gap)
{
    return gap->least + below(&generator->rng, gap->most - gap->least + 1);
}

static uint32_t draw_anywhere(struct rig_generator *generator)
{
    return 1 + below(&generator->rng, RIG_ROW_VALUE_CODES - 1);
}

static void add(struct drawing *d, bool reads, int64_t key, int64_t value)
{
    const struct rig_data_type *type = d->generator->type;
    d->ops[d->count++] = (struct rig_op){reads ? type->read_op : type->write_op, key, value};
}

static void add_read(struct drawing *d, const struct gap *gap)
{
    struct rig_row_testings tests = {.count = 1};
    tests.at[0] = (struct rig_row_testing){.form = RIG_ROW_TEST_BETWEEN,
                                           .column = (uint8_t)gap->column,
                                           .constant = (uint8_t)gap->least,
                                           .further = (uint8_t)gap->most};
    add(d, false, gap->slot->key, rig_row_tests_value(rig_row_tests_bits(&tests), RIG_ROW_LISTED, RIG_ROW_SELECTED));
    add(d, true, gap->slot->key, 0);
}

static void add_write(struct drawing *d, const struct gap *gap, uint64_t payload, enum rig_rows_action action)
{
    add(d, false, gap->slot->key, rig_row_sql_number(rig_generator_value(d->generator, gap->slot), payload, action));
}

static void add_insert(struct drawing *d, const struct gap *gap)
{
    uint32_t contents = 0;
    for (uint32_t column = 0; column < RIG_ROW_VALUE_COLUMNS; column++)
        contents = rig_row_with_code(contents, column, draw_anywhere(d->generator));
    add_write(d, gap, rig_row_with_code(contents, gap->column, draw_inside(d->generator, gap)), RIG_ROWS_INSERT);
}

/* Half of the changes keep the rows in the gap. */
static void add_change(struct drawing *d, const struct gap *gap)
{
    const bool keeps = below(&d->generator->rng, 2) == 0;
    const struct rig_row_assigning a = {.column = gap->column,
                                        .form = RIG_ROW_SET_CONSTANT,
                                        .constant =
                                            keeps ? draw_inside(d->generator, gap) : draw_anywhere(d->generator)};
    add_read(d, gap);
    add_write(d, gap, rig_row_assignment_bits(&a), RIG_ROWS_UPDATE);
}

uint32_t rig_sql_shape_draw(struct rig_generator *generator, struct rig_op *ops)
{
    struct drawing d = {.generator = generator, .ops = ops};
    struct rig_key_slot *slots = generator->keys.slots;
    const uint32_t first = generator->keys.slot_count > 1 ? below(&generator->rng, 2) : 0;
    const struct gap gap = gap_of(&slots[first]);
    const struct gap other = gap_of(&slots[generator->keys.slot_count > 1 ? 1 - first : 0]);
    switch ((enum shape)below(&generator->rng, SHAPES)) {
    case SKEW:
        add_read(&d, &gap);
        add_change(&d, &other);
        break;
    case CROSSING:
        add_read(&d, &gap);
        add_insert(&d, &other);
        break;
    case PHANTOM:
        add_read(&d, &gap);
        add_insert(&d, &gap);
        break;
    case AGAIN:
        add_read(&d, &gap);
        add_write(&d, &gap, 0, RIG_ROWS_DELETE);
        add_insert(&d, &gap);
        add_read(&d, &other);
        break;
    case SHAPES:
        break;
    }
    return d.count;
}
