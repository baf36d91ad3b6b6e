#include "generator/fork_ops.h"

#include <math.h>

#include "generator/workload.h"

static const double never = 9e18; /* a position that no run reaches; fits 64 bits */

/* The number of the client's writes before the position. */
static uint64_t writes_before(const struct rig_generator *generator, uint64_t position)
{
    const double phase = (double)generator->client / generator->client_count;
    return (uint64_t)((double)position * (1 - generator->options.reads) + phase);
}

/* Groups that all clients together begin to write, a position. */
static double groups_a_position(const struct rig_generator_options *options, uint32_t client_count)
{
    return (1 - options->reads) * client_count / (double)options->group;
}

/* Clients that are at the same position are at most so many groups from groups_a_position() times it. */
static int64_t spread(const struct rig_generator_options *options, uint32_t client_count)
{
    return client_count / options->group + 2 + options->active_keys / 2;
}

static uint32_t read_group(struct rig_generator *generator, struct rig_op *ops, int64_t near)
{
    const int64_t size = generator->options.group, around = generator->options.active_keys;
    int64_t group = near / size - around / 2 + (int64_t)rig_rng_below(&generator->rng, (uint64_t)around);
    const int64_t first = (int64_t)rig_rng_below(&generator->rng, (uint64_t)size);
    group = group < 0 ? 0 : group;
    for (int64_t i = 0; i < size; i++)
        ops[i] = (struct rig_op){.kind = generator->type->read_op, .key = group * size + (first + i) % size};
    return (uint32_t)size;
}

uint32_t rig_fork_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    const uint64_t writes = writes_before(generator, generator->position);
    const int64_t key = (int64_t)(writes * generator->client_count + generator->client);
    *read_only = writes_before(generator, generator->position + 1) == writes;
    if (*read_only)
        return read_group(generator, ops, key);
    ops[0] = (struct rig_op){.kind = generator->type->write_op, .key = key, .value = 1};
    return 1;
}

uint32_t rig_fork_keys(const struct rig_generator_options *options)
{
    return (uint32_t)options->group;
}

uint64_t rig_fork_leaves_at(const struct rig_generator_options *options, uint32_t client_count, int64_t key)
{
    const double groups = groups_a_position(options, client_count);
    const double group = (double)(key / options->group + 1 + spread(options, client_count));
    const double position = groups > 0 ? ceil(group / groups) : never;
    return position < never ? (uint64_t)position : UINT64_MAX;
}

int64_t rig_fork_key_bound(const struct rig_generator_options *options, uint32_t client_count, uint64_t position)
{
    const double group = (double)position * groups_a_position(options, client_count);
    return ((int64_t)group + 1 + spread(options, client_count)) * options->group;
}
