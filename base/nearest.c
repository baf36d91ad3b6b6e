#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bug.h"

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Both at most RIG_NEAREST_BYTES long. */
static size_t distance_between(const char *a, size_t a_length, const char *b, size_t b_length)
{
    /* Three rows of the table of prefixes: two before, one before, this one. */
    size_t rows[3][RIG_NEAREST_BYTES + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3];
        const size_t *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const bool same = same_letter(a[i - 1], b[j - 1]);
            now[j] = least_of(before[j - 1] + (same ? 0 : 1), least_of(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                now[j] = least_of(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void rig_nearest_init(struct rig_nearest *nearest, const char *wanted)
{
    RIG_REQUIRE(wanted != NULL);
    *nearest = (struct rig_nearest){.wanted = wanted, .best = NULL, .best_distance = SIZE_MAX};
}

void rig_nearest_offer(struct rig_nearest *nearest, const char *name)
{
    RIG_REQUIRE(name != NULL);
    const size_t wanted_length = strlen(nearest->wanted);
    const size_t length = strlen(name);
    if (wanted_length == 0 || wanted_length > RIG_NEAREST_BYTES || length > RIG_NEAREST_BYTES)
        return;
    const size_t distance = distance_between(nearest->wanted, wanted_length, name, length);
    const size_t forgiven = length / 3 > 1 ? length / 3 : 1;
    if (distance <= forgiven && distance < length && distance < nearest->best_distance) {
        nearest->best = name;
        nearest->best_distance = distance;
    }
}

const char *rig_nearest_of(const char *wanted, const char *const *names)
{
    struct rig_nearest nearest;
    rig_nearest_init(&nearest, wanted);
    for (size_t i = 0; names[i] != NULL; i++)
        rig_nearest_offer(&nearest, names[i]);
    return nearest.best;
}
