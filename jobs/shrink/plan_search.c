#include "jobs/shrink/plan_search.h"

#include <math.h>
#include <string.h>

#include "base/bug.h"
#include "base/statistics.h"

struct state {
    const struct rig_plan_search *search;
    struct rig_plan_found *found;
    int64_t kept[RIG_PLAN_STEPS_MOST][RIG_PLAN_DIMENSIONS_MOST]; /* the plans kept, the first one included */
    uint32_t kept_count;
    bool is_over;
};

uint32_t rig_plan_search_budget(double probability, uint32_t most)
{
    return rig_interval_trials(probability / 2, most);
}

static bool learn_rate(struct state *s)
{
    const struct rig_plan_search *search = s->search;
    struct rig_plan_found *found = s->found;
    while (found->first_shows < search->shows_wanted && found->first_runs < search->runs_most) {
        const enum rig_plan_try how = search->run(search->context, RIG_PLAN_FIRST, found->values);
        if (how == RIG_PLAN_OVER || how == RIG_PLAN_REFUSED)
            return false;
        found->first_runs++;
        found->first_shows += how == RIG_PLAN_SHOWS;
    }
    if (found->first_shows < search->shows_wanted)
        return false;
    found->probability = (double)(search->shows_wanted - 1) / (found->first_runs - 1);
    found->budget = rig_plan_search_budget(found->probability, search->runs_most);
    return true;
}

/* Runs a candidate until it shows the anomaly or its budget is spent. */
static bool is_kept(struct state *s, uint32_t dimension, int64_t value)
{
    const struct rig_plan_search *search = s->search;
    int64_t values[RIG_PLAN_DIMENSIONS_MOST];
    enum rig_plan_try how = RIG_PLAN_MISSES;
    uint32_t runs = 0;
    memcpy(values, s->found->values, sizeof values);
    values[dimension] = value;
    while (how == RIG_PLAN_MISSES && runs < s->found->budget) {
        how = search->run(search->context, RIG_PLAN_DESCENT, values);
        runs += how == RIG_PLAN_MISSES || how == RIG_PLAN_SHOWS;
    }
    s->is_over = how == RIG_PLAN_OVER || s->kept_count == RIG_PLAN_STEPS_MOST;
    if (search->decided != NULL)
        search->decided(search->context, dimension, value, runs, how);
    s->found->candidates++;
    if (how != RIG_PLAN_SHOWS || s->kept_count == RIG_PLAN_STEPS_MOST)
        return false;
    memcpy(s->found->values, values, sizeof values);
    memcpy(s->kept[s->kept_count++], values, sizeof values);
    s->found->kept++;
    return true;
}

/* Between a value that is too low and one that is kept: the geometric middle; the latter when they are close enough. */
static int64_t middle_of(int64_t low, int64_t high)
{
    const int64_t middle = low > 0 ? (int64_t)sqrt((double)low * (double)high) : high / 2;
    if (high - low <= 1 || (low > 0 && (double)high <= 1.25 * (double)low))
        return high;
    return middle <= low ? low + 1 : middle >= high ? high - 1 : middle;
}

/* Lowers one dimension as far as it goes; false when it cannot be lowered. */
static bool lower(struct state *s, uint32_t dimension)
{
    const int64_t *values = s->found->values;
    int64_t low = s->search->dimensions[dimension].least;
    const int64_t before = values[dimension];
    if (s->search->matters != NULL && !s->search->matters(s->search->context, dimension, values))
        return false;
    if (before <= low || is_kept(s, dimension, low))
        return values[dimension] < before;
    while (!s->is_over) {
        const int64_t middle = middle_of(low, values[dimension]);
        if (middle >= values[dimension])
            break;
        if (!is_kept(s, dimension, middle))
            low = middle;
    }
    return values[dimension] < before;
}

static void descend(struct state *s)
{
    bool is_lower = true;
    while (is_lower && !s->is_over) {
        is_lower = false;
        for (uint32_t i = 0; i < s->search->dimension_count && !s->is_over; i++)
            is_lower = lower(s, i) || is_lower;
    }
    s->found->is_complete = !s->is_over;
}

/* Goes back through the plans kept to the last one that shows the anomaly again. */
static void confirm(struct state *s)
{
    const struct rig_plan_search *search = s->search;
    struct rig_plan_found *found = s->found;
    const uint32_t wanted = found->budget > search->confirmations ? found->budget : search->confirmations;
    for (;;) {
        found->runs = found->shows = 0;
        memcpy(found->values, s->kept[s->kept_count - 1], sizeof found->values);
        while (found->runs < wanted) {
            const enum rig_plan_try how = search->run(search->context, RIG_PLAN_CONFIRMATION, found->values);
            if (how == RIG_PLAN_OVER)
                return;
            found->runs++;
            found->shows += how == RIG_PLAN_SHOWS;
        }
        if (found->shows > 0 || s->kept_count == 1)
            return;
        s->kept_count--;
        found->withdrawn++;
    }
}

bool rig_plan_search(const struct rig_plan_search *search, struct rig_plan_found *found)
{
    struct state s = {.search = search, .found = found, .kept_count = 1};
    RIG_REQUIRE(search->dimension_count <= RIG_PLAN_DIMENSIONS_MOST && search->shows_wanted > 1 &&
                search->runs_most >= search->shows_wanted);
    *found = (struct rig_plan_found){.runs = 0};
    for (uint32_t i = 0; i < search->dimension_count; i++)
        found->values[i] = search->dimensions[i].value;
    memcpy(s.kept[0], found->values, sizeof s.kept[0]);
    if (!learn_rate(&s))
        return false;
    descend(&s);
    confirm(&s);
    return true;
}
