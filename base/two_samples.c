#include "base/two_samples.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/interval.h"

double rig_two_counts(uint64_t a, double of_a, uint64_t b, double of_b)
{
    if (of_a <= 0 || of_b <= 0 || a + b == 0)
        return 1;
    const uint64_t n = a + b;
    const double share = of_a / (of_a + of_b);
    const double below = rig_interval_at_most(a, n, share);
    const double above = rig_interval_at_most(b, n, 1 - share);
    const double p = 2 * (below < above ? below : above);
    return p < 0 ? 0 : p > 1 ? 1 : p;
}

struct ranked {
    double value;
    bool is_first;
};

static int compare(const void *a, const void *b)
{
    const double left = ((const struct ranked *)a)->value, right = ((const struct ranked *)b)->value;
    return (left > right) - (left < right);
}

double rig_two_samples(const double *a, uint32_t count_a, const double *b, uint32_t count_b)
{
    struct ranked all[2 * RIG_TWO_SAMPLES_MOST];
    const uint32_t count = count_a + count_b;
    RIG_REQUIRE(count_a <= RIG_TWO_SAMPLES_MOST && count_b <= RIG_TWO_SAMPLES_MOST);
    if (count_a < 4 || count_b < 4)
        return 1;
    for (uint32_t i = 0; i < count; i++)
        all[i] = i < count_a ? (struct ranked){a[i], true} : (struct ranked){b[i - count_a], false};
    qsort(all, count, sizeof all[0], compare);
    double ranks = 0, ties = 0;
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i, firsts = 0;
        while (end < count && all[end].value <= all[i].value)
            firsts += all[end++].is_first;
        const double equal = end - i;
        ranks += firsts * ((double)i + (equal + 1) / 2);
        ties += equal * equal * equal - equal;
        i = end;
    }
    const double n = count, mean = (double)count_a * count_b / 2;
    const double u = ranks - (double)count_a * (count_a + 1) / 2;
    const double variance = mean / 6 * (n + 1 - ties / (n * (n - 1)));
    if (variance <= 0)
        return 1;
    const double off = fabs(u - mean) - 0.5;
    return off <= 0 ? 1 : erfc(off / sqrt(2 * variance));
}

void rig_two_samples_adjust(double *p, uint32_t count)
{
    uint32_t tests = 0;
    double least = 0; /* adjusted values do not fall */
    for (uint32_t i = 0; i < count; i++)
        tests += p[i] >= 0;
    bool done[RIG_TWO_SAMPLES_MOST] = {false};
    RIG_REQUIRE(count <= RIG_TWO_SAMPLES_MOST);
    for (uint32_t step = 0; step < tests; step++) {
        uint32_t smallest = count;
        for (uint32_t i = 0; i < count; i++) {
            if (!done[i] && p[i] >= 0 && (smallest == count || p[i] < p[smallest]))
                smallest = i;
        }
        const double adjusted = p[smallest] * (tests - step);
        least = adjusted > least ? adjusted : least;
        p[smallest] = least > 1 ? 1 : least;
        done[smallest] = true;
    }
}
