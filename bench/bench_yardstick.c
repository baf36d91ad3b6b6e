/*
 * The speed of this machine at the moment, to compare tables of different days and machines.
 *
 * Virtual machines share cores, caches and memory with others, and run twice as fast on one day as on another. So
 * `scripts/bench` runs this before and after its measurements, and prints the result in the head of its tables.
 *
 * Prints one JSON object, in ns:
 *
 *   chain   a multiplication that depends on the one before: the clock rate
 *   wide    eight independent additions: the width of a core, less where it is shared with another
 *   near    a step through 1 MiB in an unpredictable order: the second cache
 *   far     the same through 16 MiB: the third cache, where there is one, or memory
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rng.h"

enum { RUNS = 5, ROUNDS = 20 * 1000 * 1000, STEPS = 1000 * 1000 };

/* A value that the compiler cannot know, and has to compute. */
static uint64_t opaque(uint64_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

static double chain(void)
{
    uint64_t factor = opaque(3), product = opaque(1);
    int64_t start = rig_clock_now_ns();
    for (uint32_t i = 0; i < ROUNDS; i++)
        product = opaque(product * factor);
    return (double)(rig_clock_now_ns() - start) / ROUNDS;
}

static double wide(void)
{
    uint64_t sums[8] = {0};
    int64_t start = rig_clock_now_ns();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (unsigned j = 0; j < 8; j++)
            sums[j] = opaque(sums[j] + 1);
    }
    return (double)(rig_clock_now_ns() - start) / ROUNDS;
}

/* One cycle through all slots, in random order (Sattolo 1986). */
static uint32_t *make_cycle(uint32_t count)
{
    struct rig_rng rng;
    uint32_t *next = malloc(count * sizeof *next);
    if (next == NULL)
        exit(EXIT_FAILURE);
    rig_rng_init(&rng, 1, 0);
    for (uint32_t i = 0; i < count; i++)
        next[i] = i;
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t j = (uint32_t)rig_rng_below(&rng, i), other = next[j];
        next[j] = next[i];
        next[i] = other;
    }
    return next;
}

static double walk(const uint32_t *next)
{
    uint32_t at = 0;
    int64_t start = rig_clock_now_ns();
    for (uint32_t i = 0; i < STEPS; i++)
        at = next[at];
    (void)opaque(at);
    return (double)(rig_clock_now_ns() - start) / STEPS;
}

static double least(double one, double other)
{
    return one == 0 || other < one ? other : one;
}

int main(void)
{
    uint32_t *near = make_cycle((1U << 20) / sizeof *near), *far = make_cycle((16U << 20) / sizeof *far);
    double found[4] = {0};
    for (unsigned run = 0; run < RUNS; run++) {
        found[0] = least(found[0], chain());
        found[1] = least(found[1], wide());
        found[2] = least(found[2], walk(near));
        found[3] = least(found[3], walk(far));
    }
    free(near);
    free(far);
    printf("{\"chain\": %.2f, \"wide\": %.2f, \"near\": %.1f, \"far\": %.1f}\n", found[0], found[1], found[2],
           found[3]);
    return EXIT_SUCCESS;
}
