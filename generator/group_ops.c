#include "generator/group_ops.h"

#include <math.h>

#include "generator/generator_types.h"
#include "generator/workload.h"

static const double never = 9e18; /* a position that no run reaches; fits 64 bits */

static uint64_t position_of(double position)
{
    return position < never ? (uint64_t)ceil(position) : UINT64_MAX;
}

/* ---- groups that stay for a stretch of positions ---- */

static int64_t keys_of_stretch(const struct rig_generator_options *options)
{
    return options->active_keys * options->group;
}

/* Positions of a stretch; at least one. */
static uint64_t stretch(const struct rig_generator_options *options, uint32_t client_count)
{
    const double writes = rig_generator_types[options->type].writes(options) * client_count;
    const double positions =
        writes > 0 ? (double)options->appends_per_key * (double)keys_of_stretch(options) / writes : never;
    const uint64_t whole = position_of(positions);
    return whole > 0 ? whole : 1;
}

/* Draws a group, and `count` of its keys from a random one on. */
static void draw_keys(struct rig_generator *generator, uint32_t count, int64_t *keys)
{
    const int64_t size = generator->options.group;
    const uint64_t number = generator->position / stretch(&generator->options, generator->client_count);
    const int64_t groups = generator->options.active_keys;
    const int64_t group = (int64_t)number * groups + (int64_t)rig_rng_below(&generator->rng, (uint64_t)groups);
    const int64_t first = (int64_t)rig_rng_below(&generator->rng, (uint64_t)size);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = group * size + (first + i) % size;
}

/* Unique for the client and the position; small, as values of a stretch. */
static int64_t value_now(const struct rig_generator *generator)
{
    const uint64_t in_stretch = generator->position % stretch(&generator->options, generator->client_count);
    return generator->first_value + (int64_t)in_stretch * generator->value_step;
}

/* Reads of `read` keys of the group, and then writes of one value to the first `written` of them. */
static uint32_t draw_transaction(struct rig_generator *generator, uint32_t read, uint32_t written, struct rig_op *ops)
{
    int64_t keys[RIG_GROUP_OPERATIONS / 2];
    draw_keys(generator, read, keys);
    for (uint32_t i = 0; i < read; i++)
        ops[i] = (struct rig_op){.kind = generator->type->read_op, .key = keys[i]};
    for (uint32_t i = 0; i < written; i++)
        ops[read + i] =
            (struct rig_op){.kind = generator->type->write_op, .key = keys[i], .value = value_now(generator)};
    return read + written;
}

uint32_t rig_monotonic_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    *read_only = rig_generator_reads(generator);
    return draw_transaction(generator, *read_only ? (uint32_t)generator->options.group : 1, !*read_only, ops);
}

static uint32_t draw_count(struct rig_generator *generator, uint32_t most)
{
    return 1 + (uint32_t)rig_rng_below(&generator->rng, most);
}

uint32_t rig_multi_key_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    const uint32_t read = draw_count(generator, (uint32_t)generator->options.group);
    *read_only = rig_generator_reads(generator);
    return draw_transaction(generator, read, *read_only ? 0 : draw_count(generator, read), ops);
}

uint32_t rig_whole_group_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    const uint32_t count = (uint32_t)generator->options.group;
    *read_only = rig_generator_reads(generator);
    return draw_transaction(generator, count, *read_only ? 0 : count, ops);
}

double rig_monotonic_writes(const struct rig_generator_options *options)
{
    return 1 - options->reads;
}

double rig_multi_key_writes(const struct rig_generator_options *options)
{
    return (1 - options->reads) * (double)(options->group + 3) / 4;
}

double rig_whole_group_writes(const struct rig_generator_options *options)
{
    return (1 - options->reads) * (double)options->group;
}

uint32_t rig_group_keys(const struct rig_generator_options *options)
{
    return (uint32_t)options->group;
}

uint64_t rig_group_leaves_at(const struct rig_generator_options *options, uint32_t client_count, int64_t key)
{
    return position_of(((double)(key / keys_of_stretch(options)) + 1) * (double)stretch(options, client_count));
}

int64_t rig_group_key_bound(const struct rig_generator_options *options, uint32_t client_count, uint64_t position)
{
    const uint64_t positions = stretch(options, client_count);
    return (int64_t)(position / positions + (position % positions != 0)) * keys_of_stretch(options);
}

/* ---- claims of ids ---- */

uint32_t rig_claim_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    const uint64_t claim = generator->position * generator->client_count + generator->client;
    const int64_t key = (int64_t)(claim / RIG_CLAIMS);
    const int64_t value = 1 + (int64_t)(claim % RIG_CLAIMS) + (int64_t)generator->options.turn.number * RIG_CLAIMS;
    *read_only = false;
    ops[0] = (struct rig_op){.kind = generator->type->read_op, .key = key};
    ops[1] = (struct rig_op){.kind = generator->type->write_op, .key = key, .value = value};
    return 2;
}

uint64_t rig_claim_leaves_at(const struct rig_generator_options *options, uint32_t client_count, int64_t key)
{
    (void)options;
    return ((uint64_t)key + 1) * RIG_CLAIMS / client_count + 1;
}

int64_t rig_claim_key_bound(const struct rig_generator_options *options, uint32_t client_count, uint64_t position)
{
    (void)options;
    return (int64_t)(position * client_count / RIG_CLAIMS) + 1;
}

/* ---- sequences ---- */

/* A turn is `group` positions, in which the client writes a group of its own, or reads one. Writing turns before it: */
static uint64_t writing_turns(const struct rig_generator *generator, uint64_t turn)
{
    const double phase = (double)generator->client / generator->client_count;
    return (uint64_t)((double)turn * (1 - generator->options.reads) + phase);
}

uint32_t rig_sequence_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    const int64_t size = generator->options.group, clients = generator->client_count;
    const uint64_t turn = generator->position / (uint64_t)size;
    const int64_t place = (int64_t)(generator->position % (uint64_t)size);
    const int64_t written = (int64_t)writing_turns(generator, turn);
    *read_only = (int64_t)writing_turns(generator, turn + 1) == written;
    if (!*read_only) {
        const int64_t group = written * clients + generator->client;
        ops[0] = (struct rig_op){.kind = generator->type->write_op,
                                 .key = group * size + place,
                                 .value = 1 + generator->options.turn.number};
        return 1;
    }
    if (place == 0) {
        const int64_t group = (written - 1) * clients + (int64_t)rig_rng_below(&generator->rng, 2 * (uint64_t)clients);
        generator->group_read = group < 0 ? 0 : group;
    }
    ops[0] = (struct rig_op){.kind = generator->type->read_op, .key = generator->group_read * size + size - 1 - place};
    return 1;
}

/* Clients at the same position have finished numbers of groups of their own that differ by one; reads add one. */
enum { SEQUENCE_SPREAD = 3 };

uint64_t rig_sequence_leaves_at(const struct rig_generator_options *options, uint32_t client_count, int64_t key)
{
    const double group = (double)(key / options->group / client_count) + SEQUENCE_SPREAD;
    return position_of(options->reads < 1 ? (group / (1 - options->reads) + 1) * (double)options->group : never);
}

int64_t rig_sequence_key_bound(const struct rig_generator_options *options, uint32_t client_count, uint64_t position)
{
    const double turns = (double)(position / (uint64_t)options->group + 1) * (1 - options->reads);
    return ((int64_t)turns + SEQUENCE_SPREAD) * client_count * options->group;
}
