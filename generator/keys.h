/*
 * The keys that a client uses: a pool of active slots, each of which moves on to a fresh key from time to time.
 *
 * Slot s moves on to its next key whenever position * weight[s] * turns + s / slot_count passes a whole number, `turns`
 * being the fresh keys wanted per position; the phase s / slot_count keeps equally weighted slots from moving all at
 * once. Fresh keys are numbered in the order of these moves, so all keys are dense from 0, and the schedule is a pure
 * function of the position.
 *
 * Space: 40 bytes a slot. Time: O(1) a draw, O(log slots) a move. Threads: one a pool.
 */
#ifndef RIG_GENERATOR_KEYS_H
#define RIG_GENERATOR_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "generator/generator.h"

/*
 * A choice among `count` things, each with a weight, in O(1): Walker's alias table (Walker 1977, in Vose's
 * construction, 1991).
 *
 * Space: 8 bytes a thing. Threads: constant after init.
 */

struct rig_weighted_choice {
    uint32_t count;
    uint32_t *stay;  /* a draw of thing i stays there when its fraction, in 2^-32, is below stay[i] */
    uint32_t *alias; /* a draw of thing i that does not stay there goes to alias[i] */
};

/*
 * Writes weights of sum 1 to `weights`. Exponential: each thing is chosen half as often as the one before. Zipf: thing
 * i as (i + 1)^-exponent. Hot and cold: the first ones share hot_accesses, the others the rest; without others the
 * first ones are all.
 */
void rig_weights(enum rig_key_distribution distribution, const struct rig_generator_options *options, uint32_t count,
                 double *weights);

/* `weights` have the sum 1, count >= 1. False when memory runs out; then there is nothing to free. */
bool rig_weighted_choice_init(struct rig_weighted_choice *choice, const double *weights, uint32_t count);
/* Frees; safe for a zeroed choice. */
void rig_weighted_choice_done(struct rig_weighted_choice *choice);

static inline uint32_t rig_weighted_choice_draw(const struct rig_weighted_choice *choice, struct rig_rng *rng)
{
    const uint64_t drawn = rig_rng_next(rng);
    /* The high half chooses a thing, the low half whether to stay; the bias is below count * 2^-32. */
    const uint32_t at = (uint32_t)(((drawn >> 32) * choice->count) >> 32);
    return (uint32_t)drawn >= choice->stay[at] ? choice->alias[at] : at;
}

struct rig_key_slot {
    double moves_per_position;
    double phase;
    uint64_t generation; /* moves so far */
    int64_t key;         /* its current key */
    int64_t written;     /* values that this client has written to it */
};

struct rig_key_pool {
    uint32_t slot_count;
    struct rig_key_slot *slots;
    struct rig_weighted_choice choice; /* of a slot */
    uint64_t *move_at;                 /* binary heap of (position of the next move, slot) */
    uint32_t *heap_slots;              /* parallel to move_at */
    int64_t next_key;
};

/* The slots have the weights of `keys.distribution` (generator/keys.h). */
enum rig_rc rig_key_pool_init(struct rig_key_pool *pool, const struct rig_generator_options *options,
                              double turns_per_position, struct rig_err *err);
/* Frees; safe after a failed or no init of a zeroed pool. */
void rig_key_pool_done(struct rig_key_pool *pool);

/* Performs the moves due at `position`, which never goes back. */
void rig_key_pool_advance(struct rig_key_pool *pool, uint64_t position);
/* The position of the next move: a client there, or further, no longer uses the key that it replaces. */
uint64_t rig_key_pool_next_move(const struct rig_key_pool *pool);
/* Performs the next move, whenever it is due. Returns the key that left the pool by it. */
int64_t rig_key_pool_move(struct rig_key_pool *pool);
/* Draws a slot. Valid until the pool advances. */
struct rig_key_slot *rig_key_pool_draw(struct rig_key_pool *pool, struct rig_rng *rng);

#endif
