#include "checker/judge/stream/key_set.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/halve.h"
#include "history/text/text_table.h"

RIG_VEC(uint64_t, range_gaps)

void rig_key_set_done(struct rig_key_set *set)
{
    rig_key_ranges_done(&set->ranges);
    set->sorted = 0;
}

size_t rig_key_set_bytes(const struct rig_key_set *set)
{
    return set->ranges.capacity * sizeof(struct rig_key_range);
}

static uint64_t name_of(int64_t number, const char *text, size_t length)
{
    return text == NULL ? (uint64_t)number : rig_text_hash(text, length);
}

static int compare_ranges(const void *a, const void *b)
{
    uint64_t x = ((const struct rig_key_range *)a)->first, y = ((const struct rig_key_range *)b)->first;
    return (x > y) - (x < y);
}

static int compare_gaps(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Makes one range of neighbours with no more than `gap` keys between them; they are sorted. */
static void join(struct rig_key_ranges *ranges, uint64_t gap)
{
    size_t kept = 0;
    for (size_t i = 1; i < ranges->count; i++) {
        struct rig_key_range *before = &ranges->at[kept], next = ranges->at[i];
        if (next.first <= before->last || next.first - before->last - 1 <= gap)
            before->last = next.last > before->last ? next.last : before->last;
        else
            ranges->at[++kept] = next;
    }
    ranges->count = ranges->count == 0 ? 0 : kept + 1;
}

static bool are_apart(const struct rig_key_ranges *ranges)
{
    bool apart = true;
    for (size_t i = 0; i < ranges->count; i++)
        apart &= ranges->at[i].first <= ranges->at[i].last && (i == 0 || ranges->at[i - 1].last < ranges->at[i].first);
    return apart;
}

/* The median gap. */
static bool find_usual_gap(const struct rig_key_ranges *ranges, uint64_t *usual)
{
    struct range_gaps gaps = {0};
    RIG_REQUIRE(ranges->count >= 2);
    if (!range_gaps_widen(&gaps, ranges->count))
        return false;
    for (size_t i = 1; i < ranges->count; i++)
        gaps.at[gaps.count++] = ranges->at[i].first - ranges->at[i - 1].last - 1;
    qsort(gaps.at, gaps.count, sizeof *gaps.at, compare_gaps);
    *usual = gaps.at[gaps.count / 2];
    range_gaps_done(&gaps);
    return true;
}

bool rig_key_set_settle(struct rig_key_set *set)
{
    struct rig_key_ranges *ranges = &set->ranges;
    const size_t most_bytes = set->most_bytes == 0 ? RIG_KEY_SET_BYTES : set->most_bytes;
    const size_t most = most_bytes / sizeof *ranges->at > 2 ? most_bytes / sizeof *ranges->at : 2;
    if (set->sorted == ranges->count)
        return true;
    qsort(ranges->at, ranges->count, sizeof *ranges->at, compare_ranges);
    join(ranges, 0);
    uint64_t gap;
    bool fits = true;
    while (fits && ranges->count > most) {
        fits = find_usual_gap(ranges, &gap);
        if (fits)
            join(ranges, gap);
    }
    RIG_INVARIANT(!fits || ranges->count <= most);
    RIG_COSTLY(are_apart(ranges));
    set->sorted = ranges->count;
    rig_key_ranges_fit_to(ranges, ranges->count);
    return fits;
}

bool rig_key_set_add(struct rig_key_set *set, int64_t number, const char *text, size_t length)
{
    uint64_t name = name_of(number, text, length);
    struct rig_key_ranges *ranges = &set->ranges;
    if (ranges->count > set->sorted) {
        struct rig_key_range *before = &ranges->at[ranges->count - 1];
        if (name - before->last == 1 && name != 0) {
            before->last = name;
            return true;
        }
    }
    return rig_key_ranges_add(ranges, (struct rig_key_range){name, name});
}

bool rig_key_set_has(const struct rig_key_set *set, int64_t number, const char *text, size_t length)
{
    const uint64_t name = name_of(number, text, length);
    size_t low = 0, high = set->sorted;
    RIG_REQUIRE(set->sorted == set->ranges.count);
    while (low < high)
        rig_halve_size(&low, &high, set->ranges.at[rig_middle_size(low, high)].last < name);
    return low < set->sorted && set->ranges.at[low].first <= name;
}
