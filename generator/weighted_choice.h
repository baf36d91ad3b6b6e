/*
 * A choice among `count` things, each with a weight, in O(1): Walker's alias table (Walker 1977, in Vose's
 * construction, 1991).
 *
 * Space: 8 bytes a thing. Threads: constant after init.
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_WEIGHTED_CHOICE_H
#define RIG_GENERATOR_WEIGHTED_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "generator/generator.h"

struct rig_weighted_choice {
    uint32_t count;
    uint32_t *stay;  /* a draw of thing i stays there when its fraction, in 2^-32, is below stay[i], */
    uint32_t *alias; /*   else it goes to alias[i] */
};

/*
 * Writes weights of sum 1 to `weights`. Exponential: each thing is chosen half as often as the one before. Zipf: thing
 * i as (i + 1)^-exponent. Hot and cold: the first ones share hot_accesses, the others the rest; without others the first
 * ones are all.
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

#endif
