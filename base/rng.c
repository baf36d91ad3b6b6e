#include "base/rng.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

void rig_rng_init(struct rig_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t state = seed;
    uint64_t mixed = splitmix(&state) ^ (stream * 0xd1342543de82ef95U + 1);
    for (int i = 0; i < 4; i++)
        rng->state[i] = splitmix(&mixed);
}

uint64_t rig_rng_fresh_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
        return seed & 0x7fffffffffffffffU; /* fits the plan's signed integers */
    uint64_t state = (uint64_t)time(NULL) ^ ((uint64_t)getpid() << 32);
    return splitmix(&state) >> 1;
}
