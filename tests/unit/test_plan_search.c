/*
 * The search for the smallest plan, on plans whose chance to show an anomaly is a formula: what it finds, what it never
 * keeps, and how often it is wrong.
 */
#include "tests/unit/cmocka_first.h"

#include "base/rng.h"
#include "jobs/shrink/plan_search.h"

/* Clients, keys, a fault that matters, one that does not. */
enum { CLIENTS, KEYS, NEEDED, IDLE, DIMENSIONS };

struct world {
    struct rig_rng rng;
    double most;           /* probability of a plan with what it takes */
    int64_t clients, keys; /* that it takes */
    int64_t refused_below; /* clients */
    uint32_t runs, runs_most;
    bool hides; /* the last plans show it in the descent only */
    /* Shares of the probability that are left without the fault that does not matter, and with fewer than 8 clients. */
    double without_idle, with_few;
};

static double probability(const struct world *world, const int64_t *values)
{
    const double idle = world->without_idle > 0 && values[IDLE] == 0 ? world->without_idle : 1;
    const double few = world->with_few > 0 && values[CLIENTS] < 8 ? world->with_few : 1;
    const bool can = values[CLIENTS] >= world->clients && values[KEYS] >= world->keys && values[NEEDED] == 1;
    return can ? world->most * idle * few : 0;
}

static enum rig_plan_try run(void *context, enum rig_plan_search_phase phase, const int64_t *values)
{
    struct world *world = context;
    if (world->runs == world->runs_most)
        return RIG_PLAN_OVER;
    if (values[CLIENTS] < world->refused_below)
        return RIG_PLAN_REFUSED;
    world->runs++;
    if (world->hides && phase == RIG_PLAN_CONFIRMATION && values[CLIENTS] < 16)
        return RIG_PLAN_MISSES;
    return (double)rig_rng_below(&world->rng, 1000000) < probability(world, values) * 1e6 ? RIG_PLAN_SHOWS
                                                                                          : RIG_PLAN_MISSES;
}

static struct rig_plan_search search_of(struct world *world)
{
    return (struct rig_plan_search){.dimensions = {{16, 2}, {100, 1}, {1, 0}, {1, 0}},
                                    .dimension_count = DIMENSIONS,
                                    .shows_wanted = 3,
                                    .runs_most = 50,
                                    .confirmations = 5,
                                    .run = run,
                                    .context = world};
}

static void a_certain_anomaly_gives_the_smallest_plan(void **state)
{
    (void)state;
    struct world world = {.most = 1, .clients = 3, .keys = 2, .runs_most = 1000};
    struct rig_plan_found found;
    const struct rig_plan_search search = search_of(&world);
    rig_rng_init(&world.rng, 1, 0);
    assert_true(rig_plan_search(&search, &found));
    assert_int_equal(found.values[CLIENTS], 3);
    assert_int_equal(found.values[KEYS], 2);
    assert_int_equal(found.values[NEEDED], 1);
    assert_int_equal(found.values[IDLE], 0);
    assert_true(found.is_complete);
    assert_int_equal(found.first_runs, 3);
    assert_int_equal(found.budget, 6); /* (0.5 / 0.875)^6 < 0.05 */
    assert_int_equal(found.runs, 6);
    assert_int_equal(found.shows, 6);
    assert_int_equal(found.withdrawn, 0);
}

static void the_budget_follows_the_rate(void **state)
{
    (void)state;
    assert_int_equal(rig_plan_search_budget(1, 1000), 6);
    assert_int_equal(rig_plan_search_budget(0.2, 1000), 38);
    assert_int_equal(rig_plan_search_budget(0.01, 1000), 797);
    assert_int_equal(rig_plan_search_budget(0.01, 50), 50);
}

/* Whatever is found can show the anomaly, and it is seldom larger than it need be. */
static void a_rare_anomaly_is_not_lost(void **state)
{
    (void)state;
    unsigned smallest = 0, rounds = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct world world = {.most = 0.4, .clients = 4, .keys = 2, .runs_most = 100000};
        struct rig_plan_found found;
        const struct rig_plan_search search = search_of(&world);
        rig_rng_init(&world.rng, seed, 0);
        if (!rig_plan_search(&search, &found))
            continue;
        rounds++;
        assert_true(probability(&world, found.values) > 0);
        smallest += found.values[CLIENTS] <= 5 && found.values[KEYS] <= 3 && found.values[IDLE] == 0;
    }
    assert_true(rounds > 290);
    /* some four decisions matter, each wrong in at most about 5 % (less, because p is not halved here) */
    assert_true(smallest * 100 > rounds * 80);
}

/* Two steps that each leave a quarter of the rate are not both taken: the rate is that of the first plan, or half of
 * it, or little less. */
static void the_rate_does_not_dwindle(void **state)
{
    (void)state;
    unsigned rounds = 0, dwindled = 0, halved = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct world world = {
            .most = 0.9, .clients = 2, .keys = 1, .without_idle = 0.25, .with_few = 0.25, .runs_most = 100000};
        struct rig_plan_found found;
        const struct rig_plan_search search = search_of(&world);
        rig_rng_init(&world.rng, seed, 0);
        if (!rig_plan_search(&search, &found))
            continue;
        rounds++;
        dwindled += probability(&world, found.values) < 0.1;
        world.without_idle = 0.5, world.with_few = 0;
        if (!rig_plan_search(&search, &found))
            continue;
        halved += found.values[IDLE] == 0;
    }
    assert_true(rounds > 290);
    assert_true(dwindled * 100 < rounds * 10);
    assert_true(halved * 100 > rounds * 70);
}

static void it_says_when_nothing_comes_back(void **state)
{
    (void)state;
    struct world world = {.most = 0, .runs_most = 1000};
    struct rig_plan_found found;
    const struct rig_plan_search search = search_of(&world);
    rig_rng_init(&world.rng, 1, 0);
    assert_false(rig_plan_search(&search, &found));
    assert_int_equal(found.first_runs, 50);
    assert_int_equal(found.first_shows, 0);
}

static void an_early_end_keeps_what_was_found(void **state)
{
    (void)state;
    struct world world = {.most = 1, .clients = 3, .keys = 2, .runs_most = 12};
    struct rig_plan_found found;
    const struct rig_plan_search search = search_of(&world);
    rig_rng_init(&world.rng, 1, 0);
    assert_true(rig_plan_search(&search, &found));
    assert_false(found.is_complete);
    assert_true(found.values[CLIENTS] < 16 && found.values[CLIENTS] >= 3);
    assert_int_equal(found.values[KEYS], 100);
    assert_int_equal(found.runs, 0);
}

static void refused_plans_are_never_kept(void **state)
{
    (void)state;
    struct world world = {.most = 1, .clients = 2, .keys = 1, .refused_below = 6, .runs_most = 1000};
    struct rig_plan_found found;
    const struct rig_plan_search search = search_of(&world);
    rig_rng_init(&world.rng, 1, 0);
    assert_true(rig_plan_search(&search, &found));
    assert_int_equal(found.values[CLIENTS], 6);
}

static void a_plan_that_does_not_show_it_again_gives_way(void **state)
{
    (void)state;
    struct world world = {.most = 1, .clients = 2, .keys = 1, .hides = true, .runs_most = 10000};
    struct rig_plan_found found;
    const struct rig_plan_search search = search_of(&world);
    rig_rng_init(&world.rng, 1, 0);
    assert_true(rig_plan_search(&search, &found));
    assert_int_equal(found.values[CLIENTS], 16);
    assert_true(found.withdrawn > 0);
    assert_true(found.shows > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_certain_anomaly_gives_the_smallest_plan),
        cmocka_unit_test(the_budget_follows_the_rate),
        cmocka_unit_test(a_rare_anomaly_is_not_lost),
        cmocka_unit_test(the_rate_does_not_dwindle),
        cmocka_unit_test(it_says_when_nothing_comes_back),
        cmocka_unit_test(an_early_end_keeps_what_was_found),
        cmocka_unit_test(refused_plans_are_never_kept),
        cmocka_unit_test(a_plan_that_does_not_show_it_again_gives_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
