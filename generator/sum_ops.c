#include "generator/sum_ops.h"

#include "generator/generator_types.h"
#include "generator/workload.h"

static int64_t draw_amount(struct rig_generator *generator)
{
    return 1 + (int64_t)rig_rng_below(&generator->rng, (uint64_t)generator->options.amount_most);
}

/* `negative`: the chance that an increment subtracts. */
static struct rig_op draw_on(struct rig_generator *generator, const struct rig_key_slot *slot, bool reads,
                             double negative)
{
    if (reads)
        return (struct rig_op){.kind = generator->type->read_op, .key = slot->key};
    const bool subtracts = negative > 0 && rig_rng_unit(&generator->rng) < negative;
    return (struct rig_op){.kind = generator->type->write_op,
                           .key = slot->key,
                           .value = subtracts ? -draw_amount(generator) : draw_amount(generator)};
}

struct rig_op rig_counter_on(struct rig_generator *generator, struct rig_key_slot *slot, bool reads)
{
    return draw_on(generator, slot, reads, generator->options.amount_negative);
}

struct rig_op rig_bank_on(struct rig_generator *generator, struct rig_key_slot *slot, bool reads)
{
    return draw_on(generator, slot, reads, 0.5);
}

bool rig_counter_op(struct rig_generator *generator, struct rig_op *op)
{
    const bool reads = rig_generator_reads(generator);
    *op = rig_counter_on(generator, rig_key_pool_draw(&generator->keys, &generator->rng), reads);
    return reads;
}

static uint32_t read_all(const struct rig_generator *generator, struct rig_op *ops)
{
    const uint32_t count = (uint32_t)generator->options.accounts;
    for (uint32_t i = 0; i < count; i++)
        ops[i] = (struct rig_op){.kind = generator->type->read_op, .key = i};
    return count;
}

uint32_t rig_bank_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    *read_only = rig_generator_reads(generator);
    if (*read_only)
        return read_all(generator, ops);
    const int64_t accounts = generator->options.accounts;
    const int64_t from = rig_key_pool_draw(&generator->keys, &generator->rng)->key;
    const int64_t to = (from + 1 + (int64_t)rig_rng_below(&generator->rng, (uint64_t)accounts - 1)) % accounts;
    const int64_t amount = draw_amount(generator);
    ops[0] = (struct rig_op){.kind = generator->type->read_op, .key = from};
    ops[1] = (struct rig_op){.kind = generator->type->read_op, .key = to};
    ops[2] = (struct rig_op){.kind = generator->type->write_op, .key = from, .value = -amount};
    ops[3] = (struct rig_op){.kind = generator->type->write_op, .key = to, .value = amount};
    return RIG_TRANSFER_OPERATIONS;
}

uint32_t rig_bank_keys(const struct rig_generator_options *options)
{
    return (uint32_t)options->accounts;
}

struct rig_accounts rig_generator_accounts(const struct rig_generator_options *options)
{
    if (!rig_generator_types[options->type].stays)
        return (struct rig_accounts){0};
    return (struct rig_accounts){
        .count = options->accounts, .balance = options->balance, .negative = options->negative_balances};
}
