#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "nemesis/targets.h"

static struct rig_node_status nodes[5];
static struct rig_rng rng;
static struct rig_err err;

static int prepare(void **state)
{
    (void)state;
    static const char *const roles[] = {"primary", "standby", "standby", "standby", ""};
    memset(nodes, 0, sizeof nodes);
    for (int i = 0; i < 5; i++) {
        (void)snprintf(nodes[i].name, sizeof nodes[i].name, "pg-%d", i + 1);
        (void)snprintf(nodes[i].role, sizeof nodes[i].role, "%s", roles[i]);
        nodes[i].reachable = i < 4;
    }
    rig_rng_init(&rng, 1, 1);
    err = (struct rig_err){0};
    return 0;
}

static const char *resolve(const char *target, uint32_t count)
{
    static char text[256];
    struct rig_targets targets;
    if (rig_targets_resolve(target, nodes, count, &rng, &targets, &err) != RIG_OK)
        return err.text;
    rig_targets_text(&targets, nodes, text, sizeof text);
    return text;
}

static void roles_and_names_are_found(void **state)
{
    (void)state;
    assert_string_equal(resolve("primary", 5), "pg-1");
    assert_string_equal(resolve("leader", 5), "pg-1");
    assert_string_equal(resolve("standby", 5), "pg-2, pg-3, pg-4");
    assert_string_equal(resolve("follower", 3), "pg-2, pg-3");
    assert_string_equal(resolve("pg-5", 5), "pg-5");
    assert_string_equal(resolve("pg-4, primary,pg-2", 5), "pg-1, pg-2, pg-4");
    assert_string_equal(resolve("all", 5), "pg-1, pg-2, pg-3, pg-4, pg-5");
    assert_string_equal(resolve("one", 1), "pg-1");
}

/* Every choice occurs about equally often. */
static void chance_is_fair(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        uint32_t count, size, choices; /* number of drawn nodes, number of all */
    } cases[] = {{"one", 5, 1, 5}, {"minority", 5, 2, 5}, {"majority", 5, 3, 5}, {"one standby", 5, 1, 3}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        int drawn[5] = {0};
        enum { ROUNDS = 3000 };
        for (int i = 0; i < ROUNDS; i++) {
            struct rig_targets targets;
            assert_int_equal(rig_targets_resolve(cases[c].target, nodes, cases[c].count, &rng, &targets, &err), RIG_OK);
            assert_int_equal(targets.count, cases[c].size);
            for (uint32_t t = 0; t < targets.count; t++)
                drawn[targets.at[t]]++;
        }
        const double expected = (double)ROUNDS * cases[c].size / cases[c].choices;
        for (int i = 0; i < 5; i++)
            assert_true(drawn[i] == 0 || (drawn[i] > expected * 0.85 && drawn[i] < expected * 1.15));
    }
}

static void missing_targets_are_reported(void **state)
{
    (void)state;
    struct rig_targets targets;
    assert_string_equal(resolve("primry", 2),
                        "no node is `primry` at present; there are pg-1 (primary), pg-2 (standby)");
    err = (struct rig_err){0};
    assert_int_equal(rig_targets_resolve("leader", nodes + 1, 3, &rng, &targets, &err), RIG_E_CLUSTER);
    err = (struct rig_err){0};
    assert_int_equal(rig_targets_resolve("minority", nodes, 2, &rng, &targets, &err), RIG_E_PLAN);
    assert_string_equal(err.text, "2 nodes have no minority");
    err = (struct rig_err){0};
    assert_int_equal(rig_targets_resolve("one", nodes, 0, &rng, &targets, &err), RIG_E_PLAN);
    err = (struct rig_err){0};
    assert_int_equal(rig_targets_resolve(" , ", nodes, 3, &rng, &targets, &err), RIG_E_PLAN);
    err = (struct rig_err){0};
    nodes[0].reachable = false;
    assert_string_equal(resolve("absent", 1), "no node is `absent` at present; there are pg-1 (down)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(roles_and_names_are_found, prepare),
        cmocka_unit_test_setup(chance_is_fair, prepare),
        cmocka_unit_test_setup(missing_targets_are_reported, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
