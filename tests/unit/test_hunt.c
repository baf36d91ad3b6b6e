/*
 * The space and the choice of a hunt: conditions, what a value needs, repair, coverage, taboo, and the memory.
 */
#include "cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/hunt/hunt_memory.h"
#include "jobs/hunt/hunt_report.h"

static const char *const types[] = {"list", "bank", "rows", NULL};
static const struct rig_option table[] = {
    {.name = "type",
     .type = RIG_OPTION_CHOICE,
     .default_text = "list",
     .choices = types,
     .help = "h",
     RIG_OPTION_VARIED(.chance = 1)},
    {.name = "count", .type = RIG_OPTION_INT, .help = "h", RIG_OPTION_VARIED(.chance = 0.5, .values = "2 20")},
    {.name = "scan",
     .type = RIG_OPTION_BOOL,
     .help = "h",
     RIG_OPTION_VARIED(.chance = 0.9, .values = "true", .with = "workload.type=rows|bank")},
    {.name = "mode",
     .type = RIG_OPTION_BOOL,
     .help = "h",
     RIG_OPTION_VARIED(.chance = 0.5, .values = "true", .with = "workload.count=7 clients.off=1ms")},
    {.name = "fixed", .type = RIG_OPTION_INT, .help = "h"},
    {.name = NULL},
};
enum { LEVEL, TYPE, COUNT, SCAN, MODE };
enum { RUNS = 300 };

static void begin(struct rig_hunt_space *space)
{
    struct rig_err err = {0};
    const char *const weak[] = {"database.isolation=weak"}, *const strong[] = {"database.isolation=strong"};
    const struct rig_hunt_base plan = {.name = "the plan", .path = "plan.yaml", .level = -1};
    const struct rig_hunt_base recipe = {.name = "recipe", .path = "plan.yaml", .level = 0};
    rig_hunt_space_init(space);
    assert_int_equal(rig_hunt_space_add_level(space, "weak", &(struct rig_text_list){weak, 1}, "read-committed", &err),
                     RIG_OK);
    assert_int_equal(
        rig_hunt_space_add_level(space, "strong", &(struct rig_text_list){strong, 1}, "serializable", &err), RIG_OK);
    assert_int_equal(rig_hunt_space_add_base(space, &plan, &err), RIG_OK);
    assert_int_equal(rig_hunt_space_add_base(space, &recipe, &err), RIG_OK);
    assert_int_equal(rig_hunt_space_add_table(space, "workload.", table, &err), RIG_OK);
    assert_int_equal(space->dimension_count, 5);
    assert_int_equal(space->value_count, 2 + 3 + 2 + 1 + 1);
}

static bool has(const struct rig_hunt_settings *settings, const char *setting)
{
    for (uint32_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->at[i], setting) == 0)
            return true;
    }
    return false;
}

static void points_keep_conditions_and_bring_what_they_need(void **state)
{
    struct rig_hunt_space space;
    struct rig_rng rng;
    uint32_t scans = 0, brought = 0, own = 0;
    (void)state;
    begin(&space);
    rig_rng_init(&rng, 1, 0);
    for (unsigned i = 0; i < RUNS; i++) {
        struct rig_hunt_point point;
        struct rig_hunt_settings settings = {.count = 0};
        rig_hunt_point_draw(&space, &rng, 0, &point);
        assert_true(point.values[LEVEL] >= 0 && point.values[TYPE] >= 0);
        scans += point.values[SCAN] >= 0;
        assert_false(point.values[SCAN] >= 0 && point.values[TYPE] == 0);
        assert_true(rig_hunt_point_settings(&space, &point, &settings));
        assert_true(has(&settings, point.values[LEVEL] == 0 ? "database.isolation=weak" : "database.isolation=strong"));
        assert_false(has(&settings, "workload.type=rows|bank"));
        if (point.values[MODE] >= 0) {
            assert_true(has(&settings, "clients.off=1ms"));
            assert_int_equal(has(&settings, "workload.count=7"), point.values[COUNT] < 0);
            brought += point.values[COUNT] < 0;
            own += point.values[COUNT] >= 0;
        }
    }
    assert_true(scans > RUNS / 3 && brought > 20 && own > 20);
    rig_hunt_space_done(&space);
}

static void pinned_keys_and_levels_stay(void **state)
{
    struct rig_hunt_space space;
    struct rig_hunt_point point;
    struct rig_rng rng;
    struct rig_err err = {0};
    (void)state;
    begin(&space);
    rig_rng_init(&rng, 1, 0);
    for (unsigned i = 0; i < RUNS; i++) {
        rig_hunt_point_clear(&space, 1, &point);
        rig_hunt_point_change(&space, &rng, &point);
        assert_int_equal(point.values[LEVEL], 0);
    }
    assert_string_equal(rig_hunt_point_promise(&space, &point), "read-committed");
    rig_hunt_space_done(&space);

    rig_hunt_space_init(&space);
    assert_int_equal(rig_hunt_space_pin(&space, "workload.type=bank", &err), RIG_OK);
    assert_int_equal(rig_hunt_space_add_table(&space, "workload.", table, &err), RIG_OK);
    assert_int_equal(space.dimension_count, 3);
    assert_int_equal(rig_hunt_space_find(&space, "workload.type", 13), -1);
    rig_hunt_space_done(&space);
}

/* A plan that refuses `count` 20 beside banks, and everything at the weak level of recipes. */
static bool fits(void *context, const struct rig_hunt_point *point, char why[RIG_HUNT_WHY_BYTES])
{
    (void)context;
    (void)snprintf(why, RIG_HUNT_WHY_BYTES, "too many");
    return !(point->values[TYPE] == 1 && point->values[COUNT] == 1) && point->base == 0;
}

static void dropped(void *context, uint32_t dimension, uint32_t value, const char *why)
{
    assert_string_equal(why, "too many");
    rig_hunt_choice_refused(context, dimension, value, why);
}

static void a_refused_value_is_dropped_and_the_rest_stays(void **state)
{
    struct rig_hunt_space space;
    struct rig_hunt_choice choice;
    struct rig_hunt_point point = {0};
    struct rig_err err = {0};
    char why[RIG_HUNT_WHY_BYTES];
    (void)state;
    begin(&space);
    assert_int_equal(rig_hunt_choice_init(&choice, &space, 1, &err), RIG_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_false(rig_hunt_is_not_to_be_had(&choice.values[space.dimensions[COUNT].first + 1]));
        rig_hunt_point_clear(&space, 0, &point);
        point.values[LEVEL] = 1, point.values[TYPE] = 1, point.values[COUNT] = 1, point.values[MODE] = 0;
        assert_true(rig_hunt_point_repair(&space, &point, fits, dropped, &choice, why));
        assert_int_equal(point.values[COUNT], -1);
        assert_true(point.values[TYPE] == 1 && point.values[MODE] == 0 && point.values[LEVEL] == 1);
    }
    assert_true(rig_hunt_is_not_to_be_had(&choice.values[space.dimensions[COUNT].first + 1]));
    rig_hunt_point_clear(&space, 1, &point);
    assert_false(rig_hunt_point_repair(&space, &point, fits, dropped, &choice, why));
    rig_hunt_choice_done(&choice);
    rig_hunt_space_done(&space);
}

static struct rig_hunt_outcome judged(uint64_t refuted)
{
    return (struct rig_hunt_outcome){.is_judged = true, .refuted = refuted, .measures = {1, 1, 1}, .why = ""};
}

static void bases_come_first_then_all_values_and_pairs(void **state)
{
    struct rig_hunt_space space;
    struct rig_hunt_choice choice;
    struct rig_err err = {0};
    const struct rig_hunt_outcome outcome = judged(0);
    (void)state;
    begin(&space);
    assert_int_equal(rig_hunt_choice_init(&choice, &space, 7, &err), RIG_OK);
    for (uint32_t run = 0; run < 40; run++) {
        struct rig_hunt_point point;
        enum rig_hunt_reason reason;
        rig_hunt_choice_next(&choice, &point, &reason);
        assert_int_equal(reason, run < 2 ? RIG_HUNT_RECIPE : RIG_HUNT_COVERAGE);
        assert_int_equal(point.base, run == 1);
        assert_true(rig_hunt_choice_told(&choice, &point, &outcome));
    }
    const struct rig_hunt_coverage coverage = rig_hunt_choice_coverage(&choice);
    assert_int_equal(coverage.values_run, space.value_count);
    /* All pairs but that of `scan` and the type without it: 9 values of 2, 3, 2, 1 and 1. */
    assert_int_equal(coverage.pairs, 31);
    assert_int_equal(coverage.pairs_run, 30);
    rig_hunt_choice_done(&choice);
    rig_hunt_space_done(&space);
}

static void what_is_new_has_neighbours_and_a_cause_is_taboo(void **state)
{
    struct rig_hunt_space space;
    struct rig_hunt_choice choice;
    struct rig_hunt_point cause;
    struct rig_err err = {0};
    uint32_t neighbours = 0, causes = 0;
    (void)state;
    begin(&space);
    assert_int_equal(rig_hunt_choice_init(&choice, &space, 7, &err), RIG_OK);
    rig_hunt_point_clear(&space, 0, &cause);
    cause.values[TYPE] = 2;
    rig_hunt_choice_avoid(&choice, &cause);
    for (uint32_t run = 0; run < RUNS; run++) {
        struct rig_hunt_point point;
        enum rig_hunt_reason reason;
        const struct rig_hunt_outcome outcome = judged(run < 5 ? UINT64_C(1) << run : 0);
        rig_hunt_choice_next(&choice, &point, &reason);
        neighbours += reason == RIG_HUNT_NEIGHBOUR;
        causes += reason == RIG_HUNT_COVERAGE && rig_hunt_point_contains(&space, &point, &cause);
        assert_true(rig_hunt_choice_told(&choice, &point, &outcome));
    }
    assert_int_equal(neighbours, 5 * 4); /* each parent four times */
    assert_true(causes < RUNS / 6);      /* a third without the taboo */
    rig_hunt_choice_done(&choice);
    rig_hunt_space_done(&space);
}

/* Settings of servers are no keys of the plan: they are told apart, and change with the servers, not with each run. */
static void settings_of_servers_stay_for_many_runs(void **state)
{
    struct rig_hunt_space space;
    struct rig_hunt_choice choice;
    struct rig_hunt_point point;
    struct rig_hunt_settings settings = {.count = 0};
    struct rig_err err = {0};
    struct rig_buf text;
    uint32_t changes = 0, sets = 0;
    (void)state;
    begin(&space);
    assert_int_equal(rig_hunt_space_add_server_setting(&space, "flush", "0 2", NULL, &err), RIG_OK);
    assert_int_equal(rig_hunt_space_add_server_setting(&space, "snapshots", "ON", "snapshot-isolation", &err), RIG_OK);
    const int flush = rig_hunt_space_find(&space, "servers.flush", strlen("servers.flush"));
    assert_int_equal(flush, MODE + 1);
    rig_hunt_point_clear(&space, 0, &point);
    point.values[LEVEL] = 0;
    point.values[flush] = 1;
    assert_string_equal(rig_hunt_point_promise(&space, &point), "read-committed");
    point.values[flush + 1] = 0;
    assert_string_equal(rig_hunt_point_promise(&space, &point), "snapshot-isolation");
    assert_true(rig_hunt_point_settings(&space, &point, &settings));
    assert_false(has(&settings, "flush=2"));
    rig_buf_init(&text, 0);
    rig_hunt_point_server_settings(&space, &point, &text);
    assert_string_equal(rig_buf_text(&text), ", flush=2, snapshots=ON");
    rig_buf_done(&text);

    assert_int_equal(rig_hunt_choice_init(&choice, &space, 3, &err), RIG_OK);
    struct rig_hunt_point last;
    for (uint32_t run = 0; run < RUNS; run++) {
        enum rig_hunt_reason reason;
        const struct rig_hunt_outcome outcome = judged(0);
        last = point;
        rig_hunt_choice_next(&choice, &point, &reason);
        changes += run > 0 && !rig_hunt_point_has_servers_of(&space, &point, &last);
        sets += point.values[flush] >= 0 || point.values[flush + 1] >= 0;
        assert_true(rig_hunt_choice_told(&choice, &point, &outcome));
    }
    assert_in_range(changes, 1, RUNS / 40 + 1);
    assert_true(sets > RUNS / 4);
    rig_hunt_choice_done(&choice);
    rig_hunt_space_done(&space);
}

/* A recipe runs when those before it have taken at most a third of the time. */
static void recipes_take_a_third_of_the_time(void **state)
{
    struct rig_hunt_space space;
    struct rig_hunt_choice choice;
    struct rig_err err = {0};
    uint32_t first[3] = {0};
    (void)state;
    begin(&space);
    const struct rig_hunt_base other = {.name = "other recipe", .path = "plan.yaml", .level = 0};
    assert_int_equal(rig_hunt_space_add_base(&space, &other, &err), RIG_OK);
    assert_int_equal(rig_hunt_choice_init(&choice, &space, 3, &err), RIG_OK);
    for (uint32_t run = 1; run <= 20; run++) {
        struct rig_hunt_point point;
        enum rig_hunt_reason reason;
        struct rig_hunt_outcome outcome = judged(0);
        rig_hunt_choice_next(&choice, &point, &reason);
        outcome.took_s = point.base == 1 ? 8 : 2;
        first[point.base] = first[point.base] == 0 ? run : first[point.base];
        assert_true(rig_hunt_choice_told(&choice, &point, &outcome));
    }
    /* 2 s of the plan, 8 s of the recipe; 8 s are a third of the time once seven further runs took 2 s each. */
    assert_int_equal(first[0], 1);
    assert_int_equal(first[1], 2);
    assert_int_equal(first[2], 10);
    rig_hunt_choice_done(&choice);
    rig_hunt_space_done(&space);
}

/* The recipe of a known bug comes again within a sixth of the time, until it has shown its bug. Others run once. */
static void known_bugs_run_again(void **state)
{
    struct rig_hunt_space space;
    struct rig_hunt_choice choice;
    struct rig_err err = {0};
    uint32_t runs[4] = {0}, late[4] = {0};
    (void)state;
    begin(&space);
    const struct rig_hunt_base bug = {.name = "bug", .path = "plan.yaml", .level = 0, .load_ns = 9000000000};
    assert_int_equal(rig_hunt_space_add_base(&space, &bug, &err), RIG_OK);
    assert_int_equal(rig_hunt_space_add_base(&space, &bug, &err), RIG_OK);
    assert_int_equal(space.bases[2].load_ns, 9000000000);
    assert_int_equal(rig_hunt_choice_init(&choice, &space, 3, &err), RIG_OK);
    for (uint32_t run = 0; run < RUNS; run++) {
        struct rig_hunt_point point;
        enum rig_hunt_reason reason;
        struct rig_hunt_outcome outcome = judged(0);
        rig_hunt_choice_next(&choice, &point, &reason);
        outcome.took_s = 2;
        runs[point.base]++;
        late[point.base] += run > RUNS / 2;
        assert_true(rig_hunt_choice_told(&choice, &point, &outcome));
        if (run == RUNS / 2) {
            rig_hunt_point_clear(&space, 2, &point);
            rig_hunt_choice_avoid(&choice, &point);
        }
    }
    assert_int_equal(runs[1], 1);
    assert_in_range(runs[2] + runs[3], RUNS / 6 - 3, RUNS / 6 + 3);
    assert_int_equal(late[2], 0);
    assert_true(late[3] > RUNS / 12 - 3);
    rig_hunt_choice_lose_base(&choice, 3, "no such table");
    for (uint32_t run = 0; run < RUNS; run++) {
        struct rig_hunt_point point;
        enum rig_hunt_reason reason;
        rig_hunt_choice_next(&choice, &point, &reason);
        assert_int_equal(point.base, 0);
    }
    rig_hunt_choice_done(&choice);
    rig_hunt_space_done(&space);
}

static void the_memory_gives_back_runs_and_finds(void **state)
{
    struct rig_hunt_space space;
    static struct rig_hunt_finds finds, again;
    struct rig_hunt_memory memory;
    struct rig_err err = {0};
    char path[] = "/tmp/rig-test-hunt-XXXXXX";
    (void)state;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    (void)close(file);
    begin(&space);
    for (unsigned hunt = 0; hunt < 3; hunt++) {
        struct rig_hunt_choice choice;
        struct rig_hunt_point point;
        const struct rig_hunt_run_facts facts = {.seed = 9, .server = "Server 1", .reason = "coverage"};
        const struct rig_hunt_outcome outcome = judged(1);
        memset(&again, 0, sizeof again);
        assert_int_equal(rig_hunt_choice_init(&choice, &space, 1, &err), RIG_OK);
        assert_int_equal(rig_hunt_memory_open(path, "here", &choice, &again, &memory, &err), RIG_OK);
        assert_int_equal(memory.runs, hunt);
        assert_int_equal(choice.runs.count, hunt);
        assert_int_equal(choice.values[space.dimensions[TYPE].first + 1].runs, hunt);
        assert_int_equal(again.count, hunt > 0);
        rig_hunt_point_clear(&space, 0, &point);
        point.values[TYPE] = 1;
        assert_int_equal(rig_hunt_memory_add_run(&memory, &space, &point, &outcome, &facts, &err), RIG_OK);
        if (hunt == 0) {
            const struct rig_hunt_find find = {.anomaly = "G1a",
                                               .level = "weak",
                                               .type = "bank",
                                               .point = point,
                                               .of = 5,
                                               .shown = 3,
                                               .is_explained = true,
                                               .server = "Server 1"};
            const struct rig_hunt_find *added = rig_hunt_finds_add(&finds, &find);
            assert_int_equal(added->number, 1);
            assert_int_equal(rig_hunt_memory_add_find(&memory, &space, added, &err), RIG_OK);
        } else {
            const struct rig_hunt_find *kept = rig_hunt_finds_get(&again, "G1a", "weak", "bank");
            assert_true(kept != NULL && kept->is_old && kept->is_explained && kept->shown == 3);
            assert_string_equal(memory.server, "Server 1");
            assert_int_equal(rig_hunt_finds_like(&again, &space, "weak", &point), 1);
            assert_int_equal(rig_hunt_finds_like(&again, &space, "strong", &point), 0);
            point.values[TYPE] = 0;
            assert_int_equal(rig_hunt_finds_like(&again, &space, "weak", &point), 0);
        }
        rig_hunt_memory_close(&memory);
        rig_hunt_choice_done(&choice);
    }
    (void)unlink(path);
    rig_hunt_space_done(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_keep_conditions_and_bring_what_they_need),
        cmocka_unit_test(pinned_keys_and_levels_stay),
        cmocka_unit_test(a_refused_value_is_dropped_and_the_rest_stays),
        cmocka_unit_test(bases_come_first_then_all_values_and_pairs),
        cmocka_unit_test(what_is_new_has_neighbours_and_a_cause_is_taboo),
        cmocka_unit_test(settings_of_servers_stay_for_many_runs),
        cmocka_unit_test(recipes_take_a_third_of_the_time),
        cmocka_unit_test(known_bugs_run_again),
        cmocka_unit_test(the_memory_gives_back_runs_and_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
