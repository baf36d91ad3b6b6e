#include "generator/row_transactions.h"

#include "generator/workload.h"
#include "history/types/row_ops.h"

enum {
    CLASSES = 4,
    OPS_A_STATEMENT = 3, /* the condition, the read and the write */
    LATEST_SERIALS = 48, /* conditions ask for ids up to so many serials ago */
    WIDEST = 12,
};

static const double counted_share = 0.1,
                    summed_share = 0.15; /* of the reads: those that count, and these or that add up */

static int64_t below(struct rig_generator *generator, int64_t bound)
{
    return (int64_t)rig_rng_below(&generator->rng, (uint64_t)bound);
}

static int64_t draw_condition(struct rig_generator *generator, const struct rig_key_slot *slot, enum rig_row_form form)
{
    const int64_t choice = below(generator, 10);
    if (choice < 4)
        return rig_row_condition_value(RIG_ROW_BY_CLASS, form, below(generator, CLASSES), 0);
    if (choice < 6)
        return rig_row_condition_value(RIG_ROW_BY_CLASS, form, below(generator, CLASSES - 1), 1);
    const int64_t next = generator->first_value + slot->written * generator->value_step;
    const int64_t back = 1 + below(generator, next < LATEST_SERIALS ? next : LATEST_SERIALS);
    const int64_t least = next > back ? next - back : 0;
    return rig_row_condition_value(RIG_ROW_BY_ID, form, least, choice < 8 ? below(generator, WIDEST) : RIG_ROW_ENDLESS);
}

/* Returns the number of operations; *reads is false when it writes. */
static uint32_t draw_statement(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    *reads = rig_generator_reads(generator);
    struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    const struct rig_data_type *type = generator->type;
    const double choice = rig_rng_unit(&generator->rng), updates = generator->options.updates;
    const enum rig_rows_action action = choice < updates                                ? RIG_ROWS_UPDATE
                                        : choice < updates + generator->options.deletes ? RIG_ROWS_DELETE
                                                                                        : RIG_ROWS_INSERT;
    const enum rig_row_form form = !*reads || choice >= summed_share ? RIG_ROW_LISTED
                                   : choice < counted_share          ? RIG_ROW_COUNTED
                                                                     : RIG_ROW_SUMMED;
    uint32_t count = 0;
    if (*reads || action != RIG_ROWS_INSERT) {
        ops[count++] = (struct rig_op){type->write_op, slot->key, draw_condition(generator, slot, form)};
        ops[count++] = (struct rig_op){type->read_op, slot->key, 0};
    }
    if (!*reads) {
        const int64_t class = action == RIG_ROWS_DELETE ? 0 : below(generator, CLASSES);
        const int64_t serial = rig_generator_value(generator, slot);
        ops[count++] = (struct rig_op){type->write_op, slot->key, rig_row_number(serial, class, action)};
    }
    return count;
}

uint32_t rig_rows_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    const struct rig_generator_options *options = &generator->options;
    const int64_t statements =
        options->min_operations + below(generator, options->max_operations - options->min_operations + 1);
    uint32_t count = 0;
    *read_only = true;
    for (int64_t i = 0; i < statements; i++) {
        bool reads;
        count += draw_statement(generator, ops + count, &reads);
        *read_only &= reads;
    }
    return count;
}

uint32_t rig_rows_operations(const struct rig_generator_options *options)
{
    return (uint32_t)options->max_operations * OPS_A_STATEMENT;
}

double rig_rows_writes(const struct rig_generator_options *options)
{
    return (double)(options->min_operations + options->max_operations) / 2 * (1 - options->reads);
}
