#include "generator/generator.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "generator/generator_types.h"
#include "generator/workload.h"

/*
 * Operations in pairs: a read of one key, then a write of another key, whose own readers write the first one. Two
 * transactions that do so from both sides at a time are a write skew (Berenson et al. 1995): each misses the write of
 * the other. Every isolation level below serializability allows it, and a serializable one has to abort one of the two.
 *
 * Two neighbouring slots of the key pool are a pair, so that the number of active keys is even. With many pairs a key
 * is written seldom, and the transactions of other pairs have no conflict with these two.
 */

/* Writes one operation; true when it reads. The first, third, ... of a transaction reads a key; the one after it
 * writes the other key of that pair or, with the chance `reads`, reads it. */
static bool pair_op(struct rig_generator *generator, struct rig_op *op)
{
    struct rig_key_slot *slot = generator->partner;
    if (slot == NULL) {
        slot = rig_key_pool_draw(&generator->keys, &generator->rng);
        generator->partner = generator->keys.slots + ((size_t)(slot - generator->keys.slots) ^ 1);
        *op = rig_generator_op(generator, slot, true);
        return true;
    }
    generator->partner = NULL;
    const bool reads = rig_generator_reads(generator);
    *op = rig_generator_op(generator, slot, reads);
    return reads;
}

/*
 * Mini-transactions ("Boosting End-to-End Database Isolation Checking via Mini-Transactions", 2025): a write follows a
 * read of its key. With four operations a transaction has at most two of each, and every anomaly of two keys can still
 * occur. The reads tell most of the order of the versions, so that registers are decided with few choices.
 */
static bool mini_op(struct rig_generator *generator, struct rig_op *op)
{
    struct rig_key_slot *slot = generator->partner;
    const bool reads = slot == NULL || rig_generator_reads(generator);
    if (reads)
        slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    generator->partner = generator->partner == NULL ? slot : NULL;
    *op = rig_generator_op(generator, slot, reads);
    return reads;
}

static bool is_of_pairs(const struct rig_generator_options *options)
{
    return options->shape == RIG_LOAD_PAIRS || options->shape == RIG_LOAD_MINI;
}

/* Writing operations of a transaction, on average. */
static double pair_writes(const struct rig_generator_options *options)
{
    double pairs = 0;
    for (int64_t count = options->min_operations; count <= options->max_operations; count++)
        pairs += (double)(count / 2);
    return pairs / (double)(options->max_operations - options->min_operations + 1) * (1 - options->reads) *
           (1 - options->read_only);
}

/* Applications read many short rows, most of which are written once. */
enum { KEYS_A_READ = 4, LEAST_DRAINED = 1000 };
/* The place of the phase in the number of a stream of random numbers; the lower bits are the client's. */
enum { PHASE_SHIFT = 40 };

/* The most keys of a transaction that is drawn as a whole. */
static uint32_t keys_of_type(const struct rig_generator_options *options)
{
    const struct rig_generator_type *type = &rig_generator_types[options->type];
    return type->keys != NULL ? type->keys(options) : type->most_keys;
}

uint32_t rig_generator_most_operations(const struct rig_generator_options *options)
{
    const struct rig_application *application = rig_application_of(options->shape);
    const struct rig_generator_type *type = &rig_generator_types[options->type];
    const uint32_t keys = keys_of_type(options);
    const uint32_t of_type = keys > type->most_operations ? keys : type->most_operations;
    const uint32_t undone = options->rollback_share > 0 ? (uint32_t)options->rollback_most : 0;
    return application != NULL              ? application->most_operations
           : type->draw_transaction != NULL ? of_type + undone
                                            : (uint32_t)options->max_operations + undone;
}

int64_t rig_generator_most_keys(const struct rig_generator_options *options)
{
    const struct rig_application *application = rig_application_of(options->shape);
    if (application != NULL)
        return application->most_keys;
    if (rig_generator_types[options->type].draw_transaction != NULL)
        return keys_of_type(options);
    const int64_t keys = options->shape == RIG_LOAD_GENERAL ? options->rows : options->active_keys;
    const int64_t most = rig_generator_most_operations(options);
    return most < keys ? most : keys;
}

uint32_t rig_generator_keys_a_read(const struct rig_generator_options *options)
{
    const uint32_t most = keys_of_type(options);
    if (rig_generator_drains(options))
        return 1;
    if (rig_generator_types[options->type].draw_transaction != NULL)
        return most < RIG_MOST_KEYS_A_READ ? most : RIG_MOST_KEYS_A_READ;
    return rig_application_of(options->shape) == NULL ? KEYS_A_READ : RIG_MOST_KEYS_A_READ;
}

bool rig_generator_drains(const struct rig_generator_options *options)
{
    return rig_generator_types[options->type].drains;
}

bool rig_generator_drains_on(const struct rig_generator_options *options, enum rig_read_state state, uint32_t count)
{
    if (!rig_generator_drains(options))
        return false;
    if (!rig_data_type_has_sequences(&rig_data_types[options->type]))
        return state == RIG_READ_SEEN;
    return count > 0 || state == RIG_READ_NIL; /* the consumer of a log was moved */
}

uint32_t rig_generator_most_drained(const struct rig_generator_options *options)
{
    const int64_t most = options->appends_per_key < UINT32_MAX / 4 ? options->appends_per_key : UINT32_MAX / 4;
    return 4 * (uint32_t)most + LEAST_DRAINED;
}

enum rig_final_reads rig_generator_final_reads(const struct rig_generator_options *options)
{
    return rig_generator_types[options->type].no_final_reads ? RIG_FINAL_NONE
                                                             : (enum rig_final_reads)options->final_reads;
}

/* Fresh keys per transaction of one client. */
static double turns(const struct rig_generator_options *options, uint32_t client_count)
{
    const double operations = (double)(options->min_operations + options->max_operations) / 2;
    const struct rig_generator_type *type = &rig_generator_types[options->type];
    const double writes = type->writes != NULL   ? type->writes(options)
                          : is_of_pairs(options) ? pair_writes(options)
                                                 : operations * (1 - options->reads) * (1 - options->read_only);
    return writes * client_count / (double)options->appends_per_key;
}

enum rig_rc rig_generator_pool_init(struct rig_key_pool *pool, const struct rig_generator_options *options,
                                    uint32_t client_count, struct rig_err *err)
{
    struct rig_generator_options own = *options;
    const bool stays = rig_generator_types[options->type].stays;
    if (options->shape != RIG_LOAD_GENERAL && !stays)
        return rig_key_pool_init(pool, options, turns(options, client_count), err);
    own.active_keys = stays ? keys_of_type(options) : options->rows;
    return rig_key_pool_init(pool, &own, 0, err);
}

static enum rig_rc init_keys(struct rig_generator *generator, uint64_t seed, struct rig_err *err)
{
    const struct rig_generator_options *options = &generator->options;
    if (rig_generator_types[options->type].leaves_at != NULL)
        return RIG_OK;
    if (rig_application_of(options->shape) == NULL)
        return rig_generator_pool_init(&generator->keys, options, generator->client_count, err);
    struct rig_app_layout layout;
    rig_app_layout_init(&layout, options, seed, generator->client_count);
    return rig_app_new(options, &layout, generator->client, &generator->rng, generator->ops, &generator->app, err);
}

enum rig_rc rig_generator_new(const struct rig_generator_options *options, uint64_t seed, uint32_t client,
                              uint32_t client_count, struct rig_generator **generator, struct rig_err *err)
{
    RIG_REQUIRE(client < client_count);
    RIG_REQUIRE(options->type >= 0 && options->type < RIG_WORKLOAD_COUNT);
    RIG_REQUIRE(options->shape >= 0 && options->shape < RIG_LOAD_SHAPE_COUNT);
    RIG_REQUIRE(options->min_operations >= 1 && options->min_operations <= options->max_operations);
    RIG_REQUIRE(options->max_operations <= UINT32_MAX / 2 && options->appends_per_key >= 1);
    RIG_REQUIRE(options->reads >= 0 && options->reads <= 1);
    struct rig_generator *made = calloc(1, sizeof *made);
    struct rig_op *ops = calloc(rig_generator_most_operations(options), sizeof *ops);
    if (made == NULL || ops == NULL) {
        free(made);
        free(ops);
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the generator of client %u", client);
    }
    *made = (struct rig_generator){.options = *options,
                                   .type = &rig_data_types[options->type],
                                   .draw = options->shape == RIG_LOAD_PAIRS  ? pair_op
                                           : options->shape == RIG_LOAD_MINI ? mini_op
                                                                             : rig_generator_types[options->type].draw,
                                   .client = client,
                                   .client_count = client_count,
                                   .ops = ops,
                                   .read_chance = options->reads >= 1 ? 0 : (uint32_t)(options->reads * 0x1.0p32),
                                   .reads_only = options->reads >= 1};
    const struct rig_load_turn *turn = &options->turn;
    const int64_t writers = turn->writers > 0 ? turn->writers : client_count;
    made->first_value = 1 + (int64_t)client + writers * turn->number;
    made->value_step = writers * (turn->count > 0 ? turn->count : 1);
    rig_rng_init(&made->rng, seed, client + ((uint64_t)turn->phase << PHASE_SHIFT));
    if (rig_generator_types[options->type].begin != NULL)
        rig_generator_types[options->type].begin(made, seed);
    enum rig_rc rc = init_keys(made, seed, err);
    if (rc != RIG_OK) {
        rig_generator_free(made);
        return rc;
    }
    *generator = made;
    return RIG_OK;
}

void rig_generator_free(struct rig_generator *generator)
{
    if (generator == NULL)
        return;
    rig_app_free(generator->app);
    rig_key_pool_done(&generator->keys);
    free(generator->ops);
    free(generator);
}

/* 0: there is no such place. */
static uint32_t draw_place(struct rig_generator *generator, uint32_t op_count)
{
    uint32_t at = 0;
    switch ((enum rig_hold_place)generator->options.long_before) {
    case RIG_HOLD_FIRST_WRITE:
        while (at < op_count && generator->ops[at].kind == generator->type->read_op)
            at++;
        return at < op_count ? at : 0;
    case RIG_HOLD_COMMIT:
        return op_count;
    case RIG_HOLD_ANY:
        break;
    }
    return 1 + (uint32_t)rig_rng_below(&generator->rng, op_count);
}

/* A transaction that is held open is held after at least one of its operations; before the first it would not be
 * open. */
static struct rig_hold draw_hold(struct rig_generator *generator, uint32_t op_count)
{
    const struct rig_generator_options *options = &generator->options;
    if (options->long_share <= 0 || rig_rng_unit(&generator->rng) >= options->long_share)
        return (struct rig_hold){0};
    const uint32_t before_op = draw_place(generator, op_count);
    if (before_op == 0)
        return (struct rig_hold){0};
    return (struct rig_hold){.wanted = true,
                             .before_op = before_op,
                             .duration_ns = options->long_duration_ns,
                             .other_commits = (uint64_t)options->long_commits};
}

/* Returns the number of operations. */
static uint32_t draw_by_type(struct rig_generator *generator, bool *read_only)
{
    const struct rig_generator_options *options = &generator->options;
    const struct rig_generator_type *type = &rig_generator_types[options->type];
    if (type->draw_transaction != NULL)
        return type->draw_transaction(generator, generator->ops, read_only);
    uint64_t choices = (uint64_t)(options->max_operations - options->min_operations) + 1;
    uint32_t op_count = (uint32_t)((uint64_t)options->min_operations + rig_rng_below(&generator->rng, choices));
    *read_only = true;
    generator->partner = NULL;
    for (uint32_t i = 0; i < op_count; i++) {
        const bool reads = generator->draw(generator, &generator->ops[i]);
        *read_only &= reads;
    }
    return op_count;
}

static uint32_t draw_operations(struct rig_generator *generator, bool *read_only)
{
    const bool reads_only = generator->reads_only;
    const double share = generator->options.read_only;
    rig_key_pool_advance(&generator->keys, generator->position);
    generator->reads_only |= share > 0 && rig_rng_unit(&generator->rng) < share;
    const uint32_t op_count = draw_by_type(generator, read_only);
    generator->reads_only = reads_only;
    return op_count;
}

/*
 * Draws operation `i` of those between a savepoint and the rollback to it. Such a read takes a key that none of them
 * has written before, because a history does not record writes that are rolled back.
 */
static void draw_undone(struct rig_generator *generator, struct rig_op *ops, uint32_t i, bool last)
{
    const double reads = generator->options.rollback_reads;
    const bool wants_read = reads > 0 && rig_rng_unit(&generator->rng) < reads && !last;
    struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    bool is_written = false;
    for (uint32_t j = 0; j < i; j++)
        is_written |= ops[j].key == slot->key && ops[j].kind == generator->type->write_op;
    ops[i] = rig_generator_types[generator->options.type].draw_on(generator, slot, wants_read && !is_written);
}

/* Moves the last `undone` operations to `at`, where a savepoint is set before them. */
static void move_undone(struct rig_op *ops, uint32_t op_count, uint32_t at, uint32_t undone)
{
    for (uint32_t i = 0; i < undone; i++) {
        const struct rig_op op = ops[op_count + i];
        memmove(&ops[at + i + 1], &ops[at + i], (op_count - at) * sizeof *ops);
        ops[at + i] = op;
    }
}

/* Adds operations that the transaction rolls back, before one of its own. A hold is at the same operation as before. */
static void draw_rollback(struct rig_generator *generator, struct rig_transaction *transaction)
{
    const struct rig_generator_options *options = &generator->options;
    transaction->rollback = (struct rig_rollback){0};
    if (options->rollback_share <= 0 || rig_rng_unit(&generator->rng) >= options->rollback_share)
        return;
    const uint32_t op_count = transaction->op_count;
    const uint32_t undone = 1 + (uint32_t)rig_rng_below(&generator->rng, (uint64_t)options->rollback_most);
    const uint32_t at = (uint32_t)rig_rng_below(&generator->rng, op_count);
    for (uint32_t i = 0; i < undone; i++)
        draw_undone(generator, &generator->ops[op_count], i, i + 1 == undone);
    move_undone(generator->ops, op_count, at, undone);
    transaction->rollback = (struct rig_rollback){.from = at, .to = at + undone};
    transaction->op_count = op_count + undone;
    transaction->read_only = false;
    if (transaction->hold.wanted && transaction->hold.before_op > at)
        transaction->hold.before_op += undone;
}

void rig_generator_next(struct rig_generator *generator, struct rig_transaction *transaction)
{
    transaction->ops = generator->ops;
    if (generator->app == NULL) {
        transaction->op_count = draw_operations(generator, &transaction->read_only);
    } else {
        rig_app_next(generator->app, generator->position);
        transaction->op_count = generator->app->op_count;
        transaction->read_only = !generator->app->writes;
    }
    transaction->hold = draw_hold(generator, transaction->op_count);
    draw_rollback(generator, transaction);
    const double share = generator->options.rollbacks;
    transaction->rolls_back = share > 0 && rig_rng_unit(&generator->rng) < share;
    generator->position++;
}

void rig_generator_skip_to(struct rig_generator *generator, uint64_t position)
{
    struct rig_transaction passed;
    while (generator->position < position)
        rig_generator_next(generator, &passed);
}

uint64_t rig_generator_position(const struct rig_generator *generator)
{
    return generator->position;
}

int64_t rig_generator_key_bound(const struct rig_generator *generator)
{
    const struct rig_generator_type *type = &rig_generator_types[generator->options.type];
    if (type->key_bound != NULL)
        return type->key_bound(&generator->options, generator->client_count, generator->position);
    return generator->app == NULL ? generator->keys.next_key
                                  : rig_app_key_bound(&generator->app->layout, generator->position);
}
