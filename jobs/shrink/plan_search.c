#include "jobs/shrink/plan_search.h"

#include <math.h>
#include <string.h>

#include "base/bug.h"

struct state {
    const struct rig_plan_search *search;
    struct rig_plan_found *found;
    int64_t kept[RIG_PLAN_STEPS_MOST][RIG_PLAN_DIMENSIONS_MOST]; /* the plans kept, the first one included */
    uint32_t kept_count;
    bool is_over;
};

/* Wald's test of p / 2 against p / 8: the logarithm of their likelihoods' ratio grows by `shows` with a run that shows
 * the anomaly, and by `misses`, which is negative, with one that does not. */
struct test {
    double shows, misses;
};
static const double keep_above = 2.302585092994046;     /* ln (1 / 0.1) */
static const double give_up_below = -2.995732273553991; /* ln 0.05 */

static struct test test_of(double probability)
{
    const double good = probability / 2, bad = probability / 8;
    return (struct test){log(good / bad), log((1 - good) / (1 - bad))};
}

static double evidence(const struct test *test, uint32_t runs, uint32_t shows)
{
    return shows * test->shows + (runs - shows) * test->misses;
}

uint32_t rig_plan_search_budget(double probability, uint32_t most)
{
    const struct test test = test_of(probability);
    const double runs = ceil(give_up_below / test.misses);
    return runs < most ? (uint32_t)runs : most;
}

/* RIG_PLAN_SHOWS: keep it, RIG_PLAN_MISSES: give it up, RIG_PLAN_OVER: run it again. The runs that are left decide
 * nothing any more where all of them would give the same answer. */
static enum rig_plan_try decide(const struct test *test, uint32_t runs, uint32_t shows, uint32_t most)
{
    const double now = evidence(test, runs, shows);
    const double least = now + (most - runs) * test->misses, greatest = now + (most - runs) * test->shows;
    if (now >= keep_above || least > 0)
        return RIG_PLAN_SHOWS;
    return now <= give_up_below || greatest <= 0 ? RIG_PLAN_MISSES : RIG_PLAN_OVER;
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

/* Runs a candidate until its runs decide. */
static void run_candidate(const struct state *s, const int64_t *values, struct rig_plan_candidate *candidate)
{
    const struct rig_plan_search *search = s->search;
    const struct test test = test_of(s->found->probability);
    enum rig_plan_try decision = RIG_PLAN_OVER;
    while (decision == RIG_PLAN_OVER) {
        candidate->how = search->run(search->context, RIG_PLAN_DESCENT, values);
        if (candidate->how == RIG_PLAN_OVER || candidate->how == RIG_PLAN_REFUSED)
            return;
        candidate->runs++;
        candidate->shows += candidate->how == RIG_PLAN_SHOWS;
        decision = decide(&test, candidate->runs, candidate->shows, search->runs_most);
    }
    candidate->how = decision;
}

static bool is_kept(struct state *s, uint32_t dimension, int64_t value)
{
    const struct rig_plan_search *search = s->search;
    struct rig_plan_candidate candidate = {.dimension = dimension, .value = value};
    int64_t values[RIG_PLAN_DIMENSIONS_MOST];
    memcpy(values, s->found->values, sizeof values);
    values[dimension] = value;
    run_candidate(s, values, &candidate);
    s->is_over = candidate.how == RIG_PLAN_OVER || s->kept_count == RIG_PLAN_STEPS_MOST;
    if (search->decided != NULL)
        search->decided(search->context, &candidate);
    s->found->candidates++;
    if (candidate.how != RIG_PLAN_SHOWS || s->kept_count == RIG_PLAN_STEPS_MOST)
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
    const struct test test = test_of(found->probability);
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
        if ((found->shows > 0 && evidence(&test, found->runs, found->shows) > 0) || s->kept_count == 1)
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
