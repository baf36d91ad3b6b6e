#include "generator/keys.h"

#include <math.h>
#include <stdlib.h>

#include "base/bug.h"

/* At least one, so that there is a key for the accesses. */
static uint32_t count_hot(const struct rig_generator_options *options, uint32_t count)
{
    const double hot = options->hot_keys * count;
    return hot < 1 ? 1 : hot > count ? count : (uint32_t)(hot + 0.5);
}

static double hot_cold_weight(const struct rig_generator_options *options, uint32_t count, uint32_t i)
{
    const uint32_t hot = count_hot(options, count);
    if (hot == count)
        return 1;
    return i < hot ? options->hot_accesses / hot : (1 - options->hot_accesses) / (count - hot);
}

static double raw_weight(enum rig_key_distribution distribution, const struct rig_generator_options *options,
                         uint32_t count, uint32_t i)
{
    switch (distribution) {
    case RIG_KEYS_EXPONENTIAL:
        return ldexp(1, -(int)(i < 1000 ? i : 1000));
    case RIG_KEYS_ZIPF:
        return pow((double)i + 1, -options->zipf_exponent);
    case RIG_KEYS_HOT_COLD:
        return hot_cold_weight(options, count, i);
    case RIG_KEYS_UNIFORM:
        break;
    }
    return 1;
}

void rig_weights(enum rig_key_distribution distribution, const struct rig_generator_options *options, uint32_t count,
                 double *weights)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += weights[i] = raw_weight(distribution, options, count, i);
    for (uint32_t i = 0; i < count; i++)
        weights[i] /= sum;
}

/* Vose's construction: things lighter than the mean borrow their difference from heavier ones. */
static void build(struct rig_weighted_choice *choice, double *scaled, uint32_t *work)
{
    uint32_t count = choice->count, light = 0, heavy = count;
    for (uint32_t i = 0; i < count; i++) {
        if (scaled[i] < 1)
            work[light++] = i;
        else
            work[--heavy] = i;
    }
    while (light > 0 && heavy < count) {
        uint32_t poor = work[--light], rich = work[heavy];
        choice->stay[poor] = (uint32_t)(scaled[poor] * 0x1.0p32);
        choice->alias[poor] = rich;
        scaled[rich] -= 1 - scaled[poor];
        if (scaled[rich] < 1) {
            heavy++;
            work[light++] = rich;
        }
    }
    /* The remaining things have weight 1, apart from rounding. */
    while (light > 0 || heavy < count) {
        uint32_t i = light > 0 ? work[--light] : work[heavy++];
        choice->stay[i] = UINT32_MAX;
        choice->alias[i] = i;
    }
}

bool rig_weighted_choice_init(struct rig_weighted_choice *choice, const double *weights, uint32_t count)
{
    *choice = (struct rig_weighted_choice){
        .count = count, .stay = calloc(count, sizeof *choice->stay), .alias = calloc(count, sizeof *choice->alias)};
    double *scaled = calloc(count, sizeof *scaled);
    uint32_t *work = calloc(count, sizeof *work);
    const bool complete = choice->stay != NULL && choice->alias != NULL && scaled != NULL && work != NULL;
    if (complete) {
        for (uint32_t i = 0; i < count; i++)
            scaled[i] = weights[i] * count;
        build(choice, scaled, work);
    } else {
        rig_weighted_choice_done(choice);
    }
    free(scaled);
    free(work);
    return complete;
}

void rig_weighted_choice_done(struct rig_weighted_choice *choice)
{
    free(choice->stay);
    free(choice->alias);
    *choice = (struct rig_weighted_choice){0};
}

static const double never = 9e18; /* a position that no run reaches; fits 64 bits */

static uint64_t next_move(const struct rig_key_slot *slot)
{
    double position = ceil(((double)slot->generation + 1 - slot->phase) / slot->moves_per_position);
    return position < never ? (uint64_t)position : (uint64_t)never;
}

static bool comes_before(const struct rig_key_pool *pool, uint32_t a, uint32_t b)
{
    if (pool->move_at[a] != pool->move_at[b])
        return pool->move_at[a] < pool->move_at[b];
    return pool->heap_slots[a] < pool->heap_slots[b];
}

static void swap(struct rig_key_pool *pool, uint32_t a, uint32_t b)
{
    uint64_t position = pool->move_at[a];
    uint32_t slot = pool->heap_slots[a];
    pool->move_at[a] = pool->move_at[b];
    pool->heap_slots[a] = pool->heap_slots[b];
    pool->move_at[b] = position;
    pool->heap_slots[b] = slot;
}

static void sift_down(struct rig_key_pool *pool, uint32_t at)
{
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < pool->slot_count; child++) {
            if (comes_before(pool, child, least))
                least = child;
        }
        if (least == at)
            return;
        swap(pool, at, least);
        at = least;
    }
}

static void fill_slots(struct rig_key_pool *pool, const double *weights, double turns_per_position)
{
    for (uint32_t i = 0; i < pool->slot_count; i++) {
        struct rig_key_slot *slot = &pool->slots[i];
        slot->moves_per_position = weights[i] * turns_per_position;
        slot->phase = (double)i / pool->slot_count;
        slot->key = i;
        pool->heap_slots[i] = i;
        pool->move_at[i] = next_move(slot);
    }
    for (uint32_t i = pool->slot_count / 2; i-- > 0;)
        sift_down(pool, i);
    pool->next_key = pool->slot_count;
}

enum rig_rc rig_key_pool_init(struct rig_key_pool *pool, const struct rig_generator_options *options,
                              double turns_per_position, struct rig_err *err)
{
    RIG_REQUIRE(options->active_keys > 0 && options->active_keys <= UINT32_MAX / 4 && turns_per_position >= 0);
    uint32_t count = (uint32_t)options->active_keys;
    *pool = (struct rig_key_pool){.slot_count = count,
                                  .slots = calloc(count, sizeof *pool->slots),
                                  .move_at = calloc(count, sizeof *pool->move_at),
                                  .heap_slots = calloc(count, sizeof *pool->heap_slots)};
    double *weights = calloc(count, sizeof *weights);
    bool complete = pool->slots != NULL && pool->move_at != NULL && pool->heap_slots != NULL && weights != NULL;
    if (complete) {
        rig_weights((enum rig_key_distribution)options->key_distribution, options, count, weights);
        complete = rig_weighted_choice_init(&pool->choice, weights, count);
    }
    if (complete)
        fill_slots(pool, weights, turns_per_position);
    free(weights);
    if (complete)
        return RIG_OK;
    rig_key_pool_done(pool);
    return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "%u active keys", count);
}

void rig_key_pool_done(struct rig_key_pool *pool)
{
    free(pool->slots);
    rig_weighted_choice_done(&pool->choice);
    free(pool->move_at);
    free(pool->heap_slots);
    *pool = (struct rig_key_pool){0};
}

uint64_t rig_key_pool_next_move(const struct rig_key_pool *pool)
{
    return pool->move_at[0];
}

int64_t rig_key_pool_move(struct rig_key_pool *pool)
{
    struct rig_key_slot *slot = &pool->slots[pool->heap_slots[0]];
    int64_t left = slot->key;
    slot->generation++;
    slot->key = pool->next_key++;
    slot->written = 0;
    uint64_t next = next_move(slot);
    RIG_INVARIANT(next >= pool->move_at[0]);
    pool->move_at[0] = next;
    sift_down(pool, 0);
    return left;
}

void rig_key_pool_advance(struct rig_key_pool *pool, uint64_t position)
{
    while (pool->slot_count > 0 && pool->move_at[0] <= position)
        (void)rig_key_pool_move(pool);
}

struct rig_key_slot *rig_key_pool_draw(struct rig_key_pool *pool, struct rig_rng *rng)
{
    return &pool->slots[rig_weighted_choice_draw(&pool->choice, rng)];
}
