/*
 * Random numbers: xoshiro256** (Blackman & Vigna 2018), seeded through splitmix64.
 *
 * Not for secrets. The streams of two different (seed, stream) pairs are independent for every practical purpose, so
 * one run seed gives each client its own. The sequence for a pair is part of rig's contract: it never changes, because
 * a recorded seed must reproduce its run.
 *
 * Threads: one generator a thread.
 */
#ifndef RIG_BASE_RNG_H
#define RIG_BASE_RNG_H

#include <stdint.h>

#include "base/bug.h"

struct rig_rng {
    uint64_t state[4];
};

void rig_rng_init(struct rig_rng *rng, uint64_t seed, uint64_t stream);
/* A seed from the system's entropy. */
uint64_t rig_rng_fresh_seed(void);

static inline uint64_t rig_rng_rotate_left(uint64_t x, unsigned bits)
{
    return (x << bits) | (x >> (64 - bits));
}

static inline uint64_t rig_rng_next(struct rig_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rig_rng_rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rig_rng_rotate_left(s[3], 45);
    return result;
}

/*
 * Uniform in [0, bound), without bias; `bound` > 0. Lemire 2019: values in the short remainder are rejected; the
 * remainder lies below the bound, so that the division is seldom needed.
 */
static inline uint64_t rig_rng_below(struct rig_rng *rng, uint64_t bound)
{
    __extension__ typedef unsigned __int128 wide;
    RIG_REQUIRE(bound > 0);
    wide product = (wide)rig_rng_next(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t remainder = (0 - bound) % bound;
        while ((uint64_t)product < remainder)
            product = (wide)rig_rng_next(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

/* Uniform in [0, 1). */
static inline double rig_rng_unit(struct rig_rng *rng)
{
    return (double)(rig_rng_next(rng) >> 11) * 0x1.0p-53;
}

#endif
