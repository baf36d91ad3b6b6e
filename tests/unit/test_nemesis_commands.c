/*
 * Commands of the plan: as faults of their own, with the address, data and process of their node, undone by a later
 * start of rig, and in place of the driver's hooks for nodes that rig did not start.
 */
#include "tests/unit/nemesis_stage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "nemesis/fleet.h"

static const int64_t ms = RIG_NS_PER_MS;

static const struct rig_text_list *words(const char *const *at)
{
    static struct rig_text_list lists[16];
    static unsigned used;
    struct rig_text_list *list = &lists[used++ % 16];
    list->at = at;
    for (list->count = 0; at[list->count] != NULL;)
        list->count++;
    return list;
}

/* The options of fault_exec.c. */
struct exec_options {
    struct rig_text_list command, undo, check;
    int64_t timeout_ns;
};

static char mark[128];

static void commands_are_done_checked_and_undone(void **state)
{
    (void)state;
    (void)snprintf(mark, sizeof mark, "%s/.mark", stage.folder);
    const char *const touch[] = {"touch", mark, NULL}, *const ls[] = {"ls", mark, NULL},
                      *const rm[] = {"rm", mark, NULL};
    struct exec_options options = {*words(touch), *words(rm), *words(ls), 100 * RIG_NS_PER_S};
    stage_add("exec", NULL, 10 * ms, 10 * ms)->options = &options;
    stage_begin(false);
    stage_await(4);
    stage_assert_event(1, RIG_NEMESIS_INJECTED, "", "ls confirms it: /tmp/");
    stage_assert_event(3, RIG_NEMESIS_HEALED, "", "; undone");
    assert_int_not_equal(access(mark, F_OK), 0);
}

/* The command succeeded, and its check does not see the effect. */
static void a_command_without_effect_fails_the_run(void **state)
{
    (void)state;
    const char *const done[] = {"true", NULL}, *const check[] = {"sh", "-c", "echo 'as ever'; exit 3", NULL};
    struct exec_options options = {*words(done), *words(done), *words(check), 100 * RIG_NS_PER_S};
    stage_add("exec", NULL, 10 * ms, 10 * ms)->options = &options;
    stage_begin(false);
    stage_await(4);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_E_CLUSTER);
    assert_string_equal(stage.err.text, "nemesis: no effect of exec: sh ended with status 3: as ever");
}

static void a_command_that_hangs_is_ended(void **state)
{
    (void)state;
    const char *const hangs[] = {"sh", "-c", "sleep 1000 & wait", NULL}, *const undo[] = {"true", NULL};
    struct exec_options options = {*words(hangs), *words(undo), {0}, 50 * ms};
    stage_add("exec", NULL, 10 * ms, 10 * ms)->options = &options;
    stage_begin(false);
    stage_await(4);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_E_CLUSTER);
    assert_non_null(strstr(stage.err.text, "sh was killed: it took too long"));
}

/* Each target's own address; the values reach a script in quotes; a missing value has no variable. */
static void commands_learn_where_a_node_is(void **state)
{
    (void)state;
    (void)snprintf(mark, sizeof mark, "%s/.mark", stage.folder);
    const char *const does[] = {
        "sh", "-c",
        "kill -0 {pid} && test \"$RIG_NODE_PID\" = {pid} && test -z \"${RIG_NODE_SOCKET+x}\" && "
        "printf '%s\\n' {node} {host}:{port} {data}/x \"{data}/x\" '{data}/x' >>$0",
        mark, NULL};
    const char *const shows[] = {"tail", "-n", "2", mark, NULL};
    const char *const undo[] = {"rm", "-f", mark, "{data}", NULL};
    struct exec_options options = {*words(does), *words(undo), *words(shows), 100 * RIG_NS_PER_S};
    assert_int_equal(setenv("RIG_NODE_SOCKET", "inherited", 1), 0);
    stage_add("exec", "n2", 10 * ms, 10 * ms)->options = &options;
    stage_begin(true);
    stage_await(4);
    assert_int_equal(unsetenv("RIG_NODE_SOCKET"), 0);
    stage_assert_event(1, RIG_NEMESIS_INJECTED, "n2", "n2: tail confirms it: /tmp/data of it's own/x");
    stage_assert_event(3, RIG_NEMESIS_HEALED, "n2", "; undone");
}

static void each_target_has_its_own_port(void **state)
{
    (void)state;
    const char *const does[] = {"echo", "{host}:{port}", NULL}, *const undo[] = {"true", NULL};
    struct exec_options options = {*words(does), *words(undo), {0}, 100 * RIG_NS_PER_S};
    stage_add("exec", "all", 10 * ms, 10 * ms)->options = &options;
    stage_begin(true);
    stage_await(4);
    stage_assert_event(1, RIG_NEMESIS_INJECTED, "n1, n2, n3",
                       "n1: echo succeeded: 127.0.0.1:7001; n2: echo succeeded: 127.0.0.1:7002; n3: echo succeeded: "
                       "127.0.0.1:7003");
}

/* When the process was not started again, its number is not used once more. */
static void an_undo_without_its_process_is_said(void **state)
{
    (void)state;
    const char *const does[] = {"true", NULL}, *const undo[] = {"kill", "-CONT", "{pid}", NULL};
    struct exec_options options = {*words(does), *words(undo), {0}, 100 * RIG_NS_PER_S};
    stage_add("exec", "n1", 10 * ms, 300 * ms)->options = &options;
    stage_begin(true);
    stage_await(2);
    (void)stage_cluster.stop_node(NULL, 0, RIG_NODE_KILL, NULL);
    stage_await(4);
    stage_assert_event(3, RIG_NEMESIS_HEALED, "n1",
                       "n1: a command names `{pid}`, which this node does not have now; it has ");
    (void)stage_cluster.start_node(NULL, 0, NULL);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_E_CLUSTER);
    stage_end();
    assert_int_equal(stage_journals(), 1); /* for the next start of rig */
    rig_folder_remove(stage.folder);
    assert_int_equal(mkdir(stage.folder, 0700), 0);
}

static void ignore(void *context, const struct rig_journal_told *told)
{
    (void)context, (void)told;
}

/* A process of its own that ends during its fault. */
static void leave_a_fault(const char *target)
{
    const pid_t rig = fork();
    if (rig == 0) {
        stage_begin(true);
        stage_await(2);
        _exit(strcmp(stage.events[1].targets, target) == 0 ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(rig, &status, 0), rig);
    assert_int_equal(status, 0);
    assert_int_equal(stage_journals(), 1);
}

/* The next start of rig knows the node's former state, and strikes no other process with its number. */
static void an_undo_is_kept_with_its_node(void **state)
{
    (void)state;
    (void)snprintf(mark, sizeof mark, "%s/.mark", stage.folder);
    const char *const does[] = {"true", NULL};
    const char *const undo[] = {"sh", "-c", "test $RIG_NODE_PORT = {port} && kill -0 {pid} && echo {data} >$0", mark,
                                NULL};
    struct exec_options options = {*words(does), *words(undo), {0}, 100 * RIG_NS_PER_S};
    struct rig_journal_healing healing;
    const struct rig_journal_request request = {.visit = ignore};
    stage_add("exec", "n3", 10 * ms, 1000 * RIG_NS_PER_S)->options = &options;
    for (int lives = 1; lives >= 0; lives--) {
        leave_a_fault("n3");
        if (lives == 0)
            (void)stage_cluster.stop_node(NULL, 2, RIG_NODE_KILL, NULL);
        assert_int_equal(rig_journal_heal(&request, &healing, &stage.err), RIG_OK);
        assert_int_equal(healing.healed, 1);
        assert_int_equal(healing.failed, 0);
        assert_int_equal(unlink(mark), lives == 1 ? 0 : -1);
    }
}

static enum rig_rc refused(const char *name, const char *argument, bool started)
{
    const char *const does[] = {"echo", argument, NULL};
    const struct rig_nemesis_node nodes[] = {{.name = name, .commands = {.kill = *words(does)}}};
    struct exec_options options = {*words(does), *words(does), {0}, 100 * RIG_NS_PER_S};
    const struct rig_nemesis_config config = {.plan = &stage.plan,
                                              .core = &stage_core,
                                              .setup = &stage.setup,
                                              .cluster = started ? &stage_cluster : NULL,
                                              .started = started};
    stage.plan.nodes = nodes;
    stage.plan.node_count = started ? 0 : 1;
    stage.plan.entry_count = 0;
    stage_add("exec", name, 10 * ms, 0)->options = &options;
    const enum rig_rc rc = rig_nemesis_start(&config, &stage.nemesis, &stage.err);
    rig_nemesis_free(stage.nemesis);
    stage.nemesis = NULL;
    return rc;
}

static void a_node_without_an_address_is_said_before_the_load(void **state)
{
    (void)state;
    assert_int_equal(refused("n1", "{socket}", true), RIG_E_CLUSTER);
    assert_string_equal(stage.err.text,
                        "nemesis: exec: `command`: n1: a command names `{socket}`, which this node does not "
                        "have now; it has `{node}`, `{host}`, `{port}`, `{data}`, `{pid}`");
    stage.err = (struct rig_err){0};
    assert_int_equal(refused("db1", "{host}", false), RIG_E_CLUSTER);
    assert_string_equal(stage.err.text,
                        "nemesis: db1: a command names `{host}`, which this node does not have now; it has "
                        "`{node}`; rig did not start it: name it `host:port`, as in database.cluster.hosts");
    stage.err = (struct rig_err){0};
    assert_int_equal(refused("db1:5432", "{pid}", false), RIG_E_CLUSTER);
    assert_non_null(strstr(stage.err.text, "it has `{node}`, `{host}`, `{port}`;"));
    stage.err = (struct rig_err){0};
    assert_int_equal(refused("db1:5432", "{host} {port}", false), RIG_OK);
}

/* Hosts of the plan that the driver knows: a node has the name of one, with its port or without. */
static void nodes_of_the_user_have_the_plans_hosts(void **state)
{
    (void)state;
    static const char *const named[] = {"127.0.0.1:7002", "127.0.0.1", "[::1]:9", "db2", "db2:x"};
    static const char *const expected[] = {"127.0.0.1 7002", " ", "::1 9", " ", " "};
    struct rig_nemesis_node nodes[5] = {{.name = NULL}};
    for (int i = 0; i < 5; i++)
        nodes[i].name = named[i];
    stage.plan.nodes = nodes;
    stage.plan.node_count = 5;
    const struct rig_fleet made = {
        .cluster = &stage_cluster, .run_name = "rig_1", .plan = &stage.plan, .stopping = stage_core.stopping};
    struct rig_fleet fleet = made;
    assert_int_equal(rig_fleet_init(&fleet, &stage.err), RIG_OK);
    for (uint32_t i = 0; i < 5; i++) {
        struct rig_place place;
        char found[600];
        rig_fleet_place(&fleet, i, &place);
        (void)snprintf(found, sizeof found, "%.256s %.5s", place.at[RIG_PLACEHOLDER_HOST],
                       place.at[RIG_PLACEHOLDER_PORT]);
        assert_string_equal(found, expected[i]);
        assert_string_equal(place.at[RIG_PLACEHOLDER_PID], "");
        assert_string_equal(place.at[RIG_PLACEHOLDER_RUN], "rig_1");
        assert_string_equal(place.at[RIG_PLACEHOLDER_DATA], "");
    }
    stage.count = 1; /* now 127.0.0.1 is one host */
    fleet = made;
    assert_int_equal(rig_fleet_init(&fleet, &stage.err), RIG_OK);
    struct rig_place place;
    rig_fleet_place(&fleet, 1, &place);
    assert_string_equal(place.at[RIG_PLACEHOLDER_PORT], "7001");
}

/* The user's nodes: by the plan's commands, `{node}` replaced; roles and health too. */
static void nodes_of_the_user_are_reached_by_commands(void **state)
{
    (void)state;
    static char script[4][256];
    static const char *const actions[] = {"rm $0/.up-$1", "(sleep 0.2; touch $0/.up-$1) >/dev/null 2>&1 &",
                                          "test $1 = db1 && echo primary || echo standby", "test -e $0/.up-$1"};
    const char *argv[4][7];
    for (int i = 0; i < 4; i++) {
        (void)snprintf(script[i], sizeof script[i], "%s", actions[i]);
        const char *const arguments[] = {"sh", "-c", script[i], stage.folder, "{node}", NULL};
        memcpy(argv[i], arguments, sizeof arguments);
    }
    struct rig_nemesis_node nodes[2] = {{.name = "db1"}, {.name = "db2"}};
    for (int i = 0; i < 2; i++) {
        nodes[i].commands.kill = *words(argv[0]);
        nodes[i].commands.start = *words(argv[1]);
        nodes[i].commands.role = *words(argv[2]);
        nodes[i].commands.check = *words(argv[3]);
    }
    stage.plan.nodes = nodes;
    stage.plan.node_count = 2;
    for (int i = 1; i <= 2; i++) {
        (void)snprintf(mark, sizeof mark, "%s/.up-db%d", stage.folder, i);
        FILE *up = fopen(mark, "w");
        assert_non_null(up);
        assert_int_equal(fclose(up), 0);
    }
    stage_add("kill", "primary", 10 * ms, 10 * ms);
    stage_begin(false);
    stage_await(4);
    stage_assert_event(1, RIG_NEMESIS_INJECTED, "db1", "db1: its check fails");
    stage_assert_event(3, RIG_NEMESIS_HEALED, "db1", "db1: started in ");
    assert_true(stage.events[3].at_ns - stage.events[2].at_ns >= 200 * ms); /* when its check says so */
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, true, &stage.err), RIG_OK);
}

static void roles_that_nothing_tells_are_said_at_once(void **state)
{
    (void)state;
    const struct rig_nemesis_node nodes[] = {{.name = "db1"}};
    const struct rig_nemesis_config config = {.plan = &stage.plan, .core = &stage_core, .setup = &stage.setup};
    stage.plan.nodes = nodes;
    stage.plan.node_count = 1;
    stage_add("kill", "one, db1", 0, 0);
    stage_add("pause", "db1, one standby", 0, 0);
    assert_int_equal(rig_nemesis_start(&config, &stage.nemesis, &stage.err), RIG_E_CLUSTER);
    assert_string_equal(stage.err.text,
                        "nemesis: pause: no source for the role of `db1, one standby`: give "
                        "nemesis.nodes.db1.role, a command that prints the node's role, or name the nodes as "
                        "database.cluster.hosts does");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, stage_prepare, stage_release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commands_are_done_checked_and_undone),
        TEST(a_command_without_effect_fails_the_run),
        TEST(a_command_that_hangs_is_ended),
        TEST(commands_learn_where_a_node_is),
        TEST(each_target_has_its_own_port),
        TEST(an_undo_without_its_process_is_said),
        TEST(an_undo_is_kept_with_its_node),
        TEST(a_node_without_an_address_is_said_before_the_load),
        TEST(nodes_of_the_user_have_the_plans_hosts),
        TEST(nodes_of_the_user_are_reached_by_commands),
        TEST(roles_that_nothing_tells_are_said_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
