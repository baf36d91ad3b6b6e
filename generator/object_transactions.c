#include "generator/object_transactions.h"

#include "generator/workload.h"

static int64_t draw_value(struct rig_generator *generator)
{
    return (int64_t)rig_rng_below(&generator->rng, (uint64_t)generator->options.values);
}

uint32_t rig_register_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    *reads = rig_generator_reads(generator);
    const struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    if (*reads) {
        ops[0] = (struct rig_op){.kind = RIG_OP_READ_REGISTER, .key = slot->key};
        return 1;
    }
    const bool compares = rig_rng_unit(&generator->rng) < generator->options.compare_and_sets;
    uint32_t count = 0;
    if (compares)
        ops[count++] = (struct rig_op){RIG_OP_EXPECT, slot->key, draw_value(generator)};
    ops[count++] = (struct rig_op){RIG_OP_WRITE, slot->key, draw_value(generator)};
    return count;
}

/* Digits from 1 to 9: a zero would be lost in front. */
static int64_t draw_digit(struct rig_generator *generator)
{
    return 1 + (int64_t)rig_rng_below(&generator->rng, 9);
}

/* A put is two digits, so that few puts are alike. */
uint32_t rig_string_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    *reads = rig_generator_reads(generator);
    const struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    ops[0] = (struct rig_op){.kind = RIG_OP_READ_REGISTER, .key = slot->key};
    if (*reads)
        return 1;
    const bool puts = rig_rng_unit(&generator->rng) < generator->options.puts;
    ops[0] = (struct rig_op){puts ? RIG_OP_WRITE : RIG_OP_EXTEND, slot->key, draw_digit(generator)};
    if (puts)
        ops[0].value = ops[0].value * 10 + draw_digit(generator);
    return 1;
}

/* The slot may have moved on to a fresh lock meanwhile, which is then released without having been acquired. */
uint32_t rig_lock_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    struct rig_key_slot *slot = generator->partner;
    const bool acquires = slot == NULL;
    if (acquires)
        slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    generator->partner = acquires ? slot : NULL;
    ops[0] = (struct rig_op){RIG_OP_EXPECT, slot->key, acquires ? 0 : 1};
    ops[1] = (struct rig_op){RIG_OP_WRITE, slot->key, acquires ? 1 : 0};
    *reads = false;
    return 2;
}

uint32_t rig_row_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    const bool takes = rig_generator_reads(generator);
    ops[0] = rig_generator_op(generator, rig_key_pool_draw(&generator->keys, &generator->rng), takes);
    *reads = false;
    return 1;
}

double rig_object_writes(const struct rig_generator_options *options)
{
    return options->type == RIG_WORKLOAD_MUTEX ? 1 : 1 - options->reads;
}
