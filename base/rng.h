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

struct rig_rng {
    uint64_t state[4];
};

void rig_rng_init(struct rig_rng *rng, uint64_t seed, uint64_t stream);
uint64_t rig_rng_next(struct rig_rng *rng);
/* Uniform in [0, bound), without bias; `bound` > 0. */
uint64_t rig_rng_below(struct rig_rng *rng, uint64_t bound);
/* Uniform in [0, 1). */
double rig_rng_unit(struct rig_rng *rng);
/* A seed from the system's entropy. */
uint64_t rig_rng_fresh_seed(void);

#endif
