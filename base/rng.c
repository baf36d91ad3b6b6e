#include "base/rng.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return (x << bits) | (x >> (64 - bits));
}

void rig_rng_init(struct rig_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t state = seed;
    uint64_t mixed = splitmix(&state) ^ (stream * 0xd1342543de82ef95U + 1);
    for (int i = 0; i < 4; i++)
        rng->state[i] = splitmix(&mixed);
}

uint64_t rig_rng_next(struct rig_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t rig_rng_below(struct rig_rng *rng, uint64_t bound)
{
    RIG_REQUIRE(bound > 0);
    uint64_t threshold =
        (0 - bound) % bound; /* Lemire 2019: reject the short remainder, so that no value is favoured */
    for (;;) {
        __extension__ typedef unsigned __int128 wide;
        wide product = (wide)rig_rng_next(rng) * bound;
        if ((uint64_t)product >= threshold)
            return (uint64_t)(product >> 64);
    }
}

double rig_rng_unit(struct rig_rng *rng)
{
    return (double)(rig_rng_next(rng) >> 11) * 0x1.0p-53;
}

uint64_t rig_rng_fresh_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
        return seed & 0x7fffffffffffffffU; /* fits the plan's signed integers */
    uint64_t state = (uint64_t)time(NULL) ^ ((uint64_t)getpid() << 32);
    return splitmix(&state) >> 1;
}
