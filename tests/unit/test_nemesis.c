/*
 * The life of a fault: it takes effect and is healed, waits for its target and for other faults, and fails the run
 * where it had no effect. Each node of the cluster is a process of this test, so the effects of faults are real.
 */
#include "tests/unit/nemesis_stage.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "nemesis/schedule.h"

static const int64_t ms = RIG_NS_PER_MS;

static void a_killed_node_is_gone_and_comes_back(void **state)
{
    (void)state;
    const pid_t before = stage.pids[0];
    stage_add("kill", "primary", 10 * ms, 50 * ms);
    stage_begin(true);
    stage_await(4);
    char gone[64];
    (void)snprintf(gone, sizeof gone, "n1: process %ld is gone", (long)before);
    stage_assert_event(0, RIG_NEMESIS_INJECT, "n1", "");
    stage_assert_event(1, RIG_NEMESIS_INJECTED, "n1", gone);
    stage_assert_event(2, RIG_NEMESIS_HEAL, "n1", gone);
    stage_assert_event(3, RIG_NEMESIS_HEALED, "n1", "; n1: started in ");
    assert_true(stage.events[2].at_ns - stage.events[1].at_ns >= 50 * ms);
    assert_true(stage.pids[0] != 0 && stage.pids[0] != before);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, true, &stage.err), RIG_OK);
    assert_int_equal(atomic_load(&stage.restores), 1);
    assert_int_equal(atomic_load(&stage.failures), 0);
}

static char state_while_paused;
static int journals_while_paused;

static void look_at_paused(const struct rig_nemesis_event *event)
{
    struct rig_process process;
    if (event->step != RIG_NEMESIS_INJECTED || !rig_process_find(stage.pids[1], &process))
        return;
    state_while_paused = rig_process_state(&process);
    journals_while_paused = stage_journals();
}

static void a_paused_node_stands_and_goes_on(void **state)
{
    (void)state;
    stage.at_event = look_at_paused;
    stage_add("pause", "n2", 10 * ms, 20 * ms);
    stage_begin(true);
    stage_await(4);
    stage_assert_event(1, RIG_NEMESIS_INJECTED, "n2", "n2: 1 process is stopped, first ");
    stage_assert_event(3, RIG_NEMESIS_HEALED, "n2", "; n2: resumed");
    assert_int_equal(state_while_paused, 'T');
    assert_int_equal(journals_while_paused, 1);
    struct rig_process process;
    assert_true(rig_process_find(stage.pids[1], &process));
    assert_int_not_equal(rig_process_state(&process), 'T');
}

/* -- stutter ------------------------------------------------------------------------------------------------------- */

/* As the options of the fault; gap, stop and redraw in ns. */
struct stutter_options {
    int64_t gap[2], stop[2], redraw[2];
    double share;
    int64_t processes, priorities, cores;
    int64_t depth, round_ns, step_ns;
    bool background;
};

static struct rig_nemesis_entry *stage_add_stutter(const char *target, int64_t after_ns, int64_t for_ns)
{
    static const struct stutter_options options = {.gap = {200000, 400000},
                                                   .stop = {100000, 500000},
                                                   .redraw = {500000, 2000000},
                                                   .share = 1,
                                                   .processes = 1,
                                                   .priorities = 3};
    struct rig_nemesis_entry *entry = stage_add("stutter", target, after_ns, for_ns);
    entry->options = &options;
    return entry;
}

static void a_stuttering_node_goes_on(void **state)
{
    (void)state;
    (void)stage_add_stutter("n2", 10 * ms, 150 * ms);
    stage_begin(true);
    stage_await(4);
    stage_assert_event(1, RIG_NEMESIS_INJECTED, "n2", "1 process of 1 node: brief stops");
    stage_assert_event(3, RIG_NEMESIS_HEALED, "n2", " s in all");
    struct rig_process process;
    assert_true(rig_process_find(stage.pids[1], &process));
    assert_int_not_equal(rig_process_state(&process), 'T');
    assert_int_equal(atomic_load(&stage.failures), 0);
}

/* The helper would resume what `pause` has stopped. */
static void a_pause_is_withdrawn_while_the_node_stutters(void **state)
{
    (void)state;
    stage.plan.options.overlap = true;
    (void)stage_add_stutter("n2", 10 * ms, 300 * ms);
    stage_add("pause", "n2", 100 * ms, 20 * ms);
    stage_add("pause", "n3", 100 * ms, 20 * ms);
    stage_begin(true);
    stage_await(12);
    int withdrawn = 0;
    for (int i = 0; i < 12; i++) {
        const struct stage_event *event = &stage.events[i];
        withdrawn += event->withdrawn ? 1 : 0;
        if (event->withdrawn)
            assert_non_null(strstr(event->text, "stutter of n2 is under way, and each of the two stops processes"));
        assert_true(!event->withdrawn || (strcmp(event->fault, "pause") == 0 && strcmp(event->targets, "n2") == 0));
    }
    assert_int_equal(withdrawn, 1);
    assert_int_equal(atomic_load(&stage.failures), 0);
}

/* Each entry of /proc is looked at: the helper is the child of this test that has its name. */
static void kill_helper(const struct rig_nemesis_event *event)
{
    if (event->step != RIG_NEMESIS_INJECTED)
        return;
    DIR *entries = opendir("/proc");
    const struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        struct rig_process_stat stat;
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (rig_process_stat(pid, &stat) && stat.parent == getpid() && strcmp(stat.program, "rig-stutter") == 0)
            assert_int_equal(kill(pid, SIGKILL), 0);
    }
    (void)closedir(entries);
}

static void the_end_of_the_helper_fails_the_fault(void **state)
{
    (void)state;
    stage.at_event = kill_helper;
    (void)stage_add_stutter("n2", 10 * ms, 3600 * RIG_NS_PER_S);
    stage_begin(true);
    stage_await(4);
    stage_assert_event(3, RIG_NEMESIS_HEALED, "n2", "");
    assert_int_equal(atomic_load(&stage.failures), 1);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_E_CLUSTER);
    assert_non_null(strstr(stage.err.text, "no lasting effect of stutter n2: its helper process"));
}

static void a_restarted_node_is_another_process(void **state)
{
    (void)state;
    const pid_t before = stage.pids[2];
    stage_add("restart", "n3", 10 * ms, 0);
    stage_begin(true);
    stage_await(4);
    stage_assert_event(1, RIG_NEMESIS_INJECTED, "n3", " instead of ");
    assert_int_not_equal(stage.pids[2], before);
}

static void a_failover_changes_the_primary(void **state)
{
    (void)state;
    stage_add("promote", NULL, 10 * ms, 10 * ms);
    stage.option_room[0][0] = 3; /* kill */
    stage_begin(true);
    stage_await(4);
    stage_assert_event(1, RIG_NEMESIS_INJECTED, stage.primary == 1 ? "n2" : "n3", "n1, the primary, is down; ");
    stage_assert_event(1, RIG_NEMESIS_INJECTED, stage.primary == 1 ? "n2" : "n3",
                       ", which was standby, is the primary");
    stage_assert_event(3, RIG_NEMESIS_HEALED, stage.primary == 1 ? "n2" : "n3", "roles were restored in ");
    assert_true(stage.primary == 1 || stage.primary == 2);
    assert_true(stage.pids[0] != 0);
}

/* A fault that did nothing fails the run, and is healed all the same. */
static void what_had_no_effect_fails_the_run(void **state)
{
    (void)state;
    stage.deaf = true;
    stage_add("restart", "n1", 10 * ms, 10 * ms);
    stage_begin(true);
    stage_await(4);
    assert_true(stage.events[1].failed && !stage.events[1].withdrawn);
    stage_assert_event(3, RIG_NEMESIS_HEALED, "n1", "");
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, true, &stage.err), RIG_E_CLUSTER);
    assert_non_null(strstr(stage.err.text, "nemesis: no effect of restart n1: n1: process "));
    assert_non_null(strstr(stage.err.text, " still runs"));
    assert_int_equal(atomic_load(&stage.failures), 1);
}

static void a_failed_heal_fails_the_run(void **state)
{
    (void)state;
    stage.broken = true;
    stage_add("kill", "n1", 10 * ms, 10 * ms);
    stage_begin(true);
    stage_await(4);
    assert_true(stage.events[3].failed);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_E_CLUSTER);
    assert_string_equal(stage.err.text, "nemesis: cannot heal kill n1: n1 does not start");
}

/* A fault of the test's own; its targets are healed one by one. */
static struct {
    int calls[STAGE_NODES];  /* of heal_node, by position among the targets */
    int failing;             /* position of the target that fails to heal; -1: none */
    int failures;            /* the number of its failures */
    int struck[STAGE_NODES]; /* calls of inject_node */
    int unstruck;            /* position of the target on which it fails; -1: none */
} spread;

static enum rig_rc spread_inject_node(const struct rig_fault_site *site, uint32_t i, void *state,
                                      struct rig_evidence *evidence, struct rig_err *problem)
{
    (void)site, (void)state, (void)evidence;
    assert_true(i < STAGE_NODES);
    spread.struck[i]++;
    return (int)i == spread.unstruck ? rig_fail(problem, RIG_E_CLUSTER, "nothing happened") : RIG_OK;
}

static enum rig_rc spread_heal_node(const struct rig_fault_site *site, uint32_t i, void *state,
                                    struct rig_evidence *evidence, struct rig_err *problem)
{
    (void)site, (void)state, (void)evidence;
    assert_true(i < STAGE_NODES);
    spread.calls[i]++;
    if ((int)i != spread.failing || spread.failures == 0)
        return RIG_OK;
    spread.failures--;
    return rig_fail(problem, RIG_E_CLUSTER, "target %u is stuck", i);
}

static const struct rig_fault spread_fault = {
    .name = "spread", .summary = "does nothing", .inject_node = spread_inject_node, .heal_node = spread_heal_node};
static const struct rig_fault lasting_fault = {
    .name = "lasting", .summary = "does nothing", .inject_node = spread_inject_node};

static void run_own_fault(const struct rig_fault *fault, const char *target)
{
    memset(spread.calls, 0, sizeof spread.calls);
    memset(spread.struck, 0, sizeof spread.struck);
    stage.plan.entry_count = 0;
    stage_add("kill", target, 10 * ms, 10 * ms)->fault = fault;
    atomic_store(&stage.event_count, 0);
    atomic_store(&stage.over, false);
    stage.err = (struct rig_err){0};
    stage_begin(true);
    stage_await(4);
}

/* A target that fails to heal does not keep others from healing; all failed ones are tried once more. */
static void each_target_is_healed_by_itself(void **state)
{
    (void)state;
    spread.unstruck = -1;
    spread.failing = 1;
    spread.failures = 2;
    run_own_fault(&spread_fault, "all");
    assert_true(stage.events[3].failed);
    for (int i = 0; i < STAGE_NODES; i++)
        assert_int_equal(spread.calls[i], 2);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_E_CLUSTER);
    assert_string_equal(stage.err.text, "nemesis: cannot heal spread n1, n2, n3: target 1 is stuck");
    stage_end();

    spread.failures = 1; /* the second attempt succeeds */
    run_own_fault(&spread_fault, "all");
    assert_false(stage.events[3].failed);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_OK);
    stage_end();

    spread.failing = -1;
    run_own_fault(&spread_fault, "n2");
    assert_false(stage.events[3].failed);
    assert_int_equal(spread.calls[0], 1);
    assert_int_equal(spread.calls[1], 0);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_OK);
    assert_int_equal(spread.calls[0], 1); /* it is over */
}

static void targets_are_healed_also_where_the_fault_failed(void **state)
{
    (void)state;
    spread.failing = -1;
    spread.unstruck = 1;
    run_own_fault(&spread_fault, "all");
    assert_true(spread.struck[0] == 1 && spread.struck[1] == 1);
    assert_int_equal(spread.struck[2], 0); /* no further call after a failure */
    assert_true(stage.events[1].failed);
    for (int i = 0; i < STAGE_NODES; i++)
        assert_int_equal(spread.calls[i], 1);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_E_CLUSTER);
    assert_string_equal(stage.err.text, "nemesis: no effect of spread n1, n2, n3: nothing happened");
}

static void a_fault_without_targets_is_healed_once(void **state)
{
    (void)state;
    spread.unstruck = spread.failing = -1;
    run_own_fault(&spread_fault, "");
    assert_true(spread.struck[0] == 1 && spread.struck[1] == 0);
    assert_false(stage.events[3].failed);
    assert_int_equal(spread.calls[0], 1);
    assert_int_equal(spread.calls[1], 0);
    stage_end();
    run_own_fault(&lasting_fault, "all"); /* it has nothing to undo */
    stage_assert_event(3, RIG_NEMESIS_HEALED, "n1, n2, n3", "");
    assert_false(stage.events[3].failed);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_OK);
}

/* The signal that ends the run may come before the fault's effect: that is no failure. */
static void what_a_signal_ends_is_no_failure(void **state)
{
    (void)state;
    stage.deaf = true;
    atomic_store(&stage.stopping_now, true);
    stage_add("restart", "n1", 10 * ms, 10 * ms);
    stage_begin(true);
    stage_await(4);
    assert_true(stage.events[1].failed && stage.events[1].withdrawn);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_OK);
}

static void end_the_load(const struct rig_nemesis_event *event)
{
    if (event->step == RIG_NEMESIS_INJECT)
        atomic_store(&stage.over, true);
}

/* So may the end of the load, when the clients leave. */
static void what_the_end_of_the_load_hides_is_no_failure(void **state)
{
    (void)state;
    stage.deaf = true;
    stage.at_event = end_the_load;
    stage_add("restart", "n1", 10 * ms, 10 * ms);
    stage_begin(true);
    stage_await(4);
    assert_true(stage.events[1].failed && stage.events[1].withdrawn);
    assert_non_null(strstr(stage.events[1].text, " still runs, and the load has ended"));
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, true, &stage.err), RIG_OK);
    assert_int_equal(atomic_load(&stage.failures), 0);
}

/* The end of the load heals faults that would last longer, and no further fault comes. */
static void the_end_of_the_load_heals(void **state)
{
    (void)state;
    stage_add("kill", "n1", 10 * ms, 3600 * RIG_NS_PER_S);
    stage_add("kill", "n2", 300 * ms, 0);
    stage_begin(true);
    stage_await(2);
    char text[64];
    rig_nemesis_describe(stage.nemesis, text, sizeof text);
    assert_string_equal(text, "kill n1");
    atomic_store(&stage.over, true);
    stage_await(4);
    stage_assert_event(3, RIG_NEMESIS_HEALED, "n1", "started");
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, true, &stage.err), RIG_OK);
    assert_int_equal(atomic_load(&stage.event_count), 4);
    rig_nemesis_describe(stage.nemesis, text, sizeof text);
    assert_string_equal(text, "");
}

/* Two at once only with `overlap`. */
static void faults_wait_for_each_other(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        stage.plan.options.overlap = round == 1;
        atomic_store(&stage.event_count, 0);
        stage.plan.entry_count = 0;
        stage_add("kill", "n1", 10 * ms, 150 * ms);
        stage_add("pause", "n2", 20 * ms, 150 * ms);
        stage_begin(true);
        stage_await(8);
        assert_string_equal(stage.events[2].fault, round == 0 ? "kill" : "pause");
        assert_int_equal(stage.events[2].step, round == 0 ? RIG_NEMESIS_HEAL : RIG_NEMESIS_INJECT);
        assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_OK);
        stage_end();
    }
}

/* A fault waits for a role that no node has at the moment. */
static void a_missing_target_is_waited_for(void **state)
{
    (void)state;
    stage.primary = UINT32_MAX;
    stage_add("kill", "primary", 10 * ms, 10 * ms);
    stage_begin(true);
    rig_clock_sleep_until_ns(rig_clock_now_ns() + 150 * ms);
    assert_int_equal(atomic_load(&stage.event_count), 0);
    (void)stage_cluster.promote(NULL, 2, NULL);
    stage_await(4);
    stage_assert_event(1, RIG_NEMESIS_INJECTED, "n3", "is gone");
}

/* Otherwise a run would pass although none of its faults found a target. */
static void a_load_without_any_fault_fails_the_run(void **state)
{
    (void)state;
    stage.primary = UINT32_MAX;
    stage_add("kill", "primary", 10 * ms, 10 * ms);
    stage_begin(true);
    rig_clock_sleep_until_ns(rig_clock_now_ns() + 200 * ms);
    atomic_store(&stage.over, true);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, true, &stage.err), RIG_E_CLUSTER);
    assert_non_null(strstr(
        stage.err.text, "nemesis: no fault was injected before the load ended: no node is `primary` at present; there "
                        "are n1 (role unknown), n2"));
}

static void a_target_that_never_is_fails_the_run(void **state)
{
    (void)state;
    stage.count = 2;
    stage_add("kill", "minority", 10 * ms, 10 * ms);
    stage_begin(true);
    while (atomic_load(&stage.failures) == 0)
        rig_clock_sleep_until_ns(rig_clock_now_ns() + ms);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, false, &stage.err), RIG_E_CLUSTER);
    assert_string_equal(stage.err.text, "nemesis: no target for kill: 2 nodes have no minority");
}

static void a_node_that_stays_ill_fails_the_run(void **state)
{
    (void)state;
    stage.plan.options.recover_ns = 100 * ms;
    atomic_store(&stage.ill, true);
    stage_add("kill", "n1", 10 * ms, 0);
    stage_begin(true);
    stage_await(4);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, true, &stage.err), RIG_E_CLUSTER);
    assert_non_null(strstr(stage.err.text,
                           "nemesis: after the load: n2 is not healthy after all faults were healed: it is "
                           "ill"));
}

/* -- a list in place of the plan's schedule ----------------------------------------------------------------------- */

struct listed_fault {
    struct rig_scheduled_fault fault;
    int64_t for_ns;
};

static struct listed {
    struct rig_schedule schedule;
    struct listed_fault faults[3];
    uint32_t count, taken, over;
} listed;

static struct rig_scheduled_fault listed_next(const struct rig_schedule *schedule)
{
    (void)schedule;
    return listed.taken < listed.count ? listed.faults[listed.taken].fault
                                       : (struct rig_scheduled_fault){.at_ns = RIG_SCHEDULE_NEVER};
}

static int64_t listed_take(struct rig_schedule *schedule, uint32_t entry, int64_t now_ns)
{
    assert_ptr_equal(schedule, &listed.schedule);
    const struct listed_fault *fault = &listed.faults[listed.taken++];
    assert_int_equal(entry, fault->fault.entry);
    assert_true(now_ns >= fault->fault.at_ns);
    return fault->for_ns;
}

static void listed_over(struct rig_schedule *schedule, uint32_t entry, int64_t now_ns)
{
    (void)schedule;
    assert_int_equal(entry, listed.faults[listed.over].fault.entry);
    assert_true(now_ns >= listed.faults[listed.over].fault.at_ns + listed.faults[listed.over].for_ns);
    listed.over++;
}

static const struct rig_schedule_ops listed_ops = {.next = listed_next, .take = listed_take, .over = listed_over};

/* Times, durations and nodes come from the list, not from the plan's entries. */
static void a_list_can_be_the_schedule(void **state)
{
    (void)state;
    stage_add("kill", "n1", 3600 * RIG_NS_PER_S, 0);
    stage_add("pause", "all", 0, 3600 * RIG_NS_PER_S);
    listed = (struct listed){.schedule.ops = &listed_ops, .count = 3};
    listed.faults[0] =
        (struct listed_fault){.fault = {.at_ns = 10 * ms, .entry = 1, .target = "n3"}, .for_ns = 20 * ms};
    listed.faults[1] = (struct listed_fault){.fault = {.at_ns = 40 * ms, .entry = 0}, .for_ns = 10 * ms};
    listed.faults[2] = (struct listed_fault){.fault = {.at_ns = 45 * ms, .entry = 0, .target = "n2"}};
    stage.schedule = &listed.schedule;
    stage_begin(true);
    stage_await(12);
    assert_int_equal(rig_nemesis_heal_all(stage.nemesis, true, &stage.err), RIG_OK);
    assert_int_equal(atomic_load(&stage.event_count), 12);
    stage_assert_event(1, RIG_NEMESIS_INJECTED, "n3", "is stopped");
    stage_assert_event(5, RIG_NEMESIS_INJECTED, "n1", "is gone");
    stage_assert_event(9, RIG_NEMESIS_INJECTED, "n2", "is gone");
    assert_true(stage.events[2].at_ns - stage.events[1].at_ns >= 20 * ms);
    assert_int_equal(listed.over, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, stage_prepare, stage_release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_killed_node_is_gone_and_comes_back),
        TEST(a_paused_node_stands_and_goes_on),
        TEST(a_stuttering_node_goes_on),
        TEST(a_pause_is_withdrawn_while_the_node_stutters),
        TEST(the_end_of_the_helper_fails_the_fault),
        TEST(a_restarted_node_is_another_process),
        TEST(a_failover_changes_the_primary),
        TEST(what_had_no_effect_fails_the_run),
        TEST(a_failed_heal_fails_the_run),
        TEST(each_target_is_healed_by_itself),
        TEST(targets_are_healed_also_where_the_fault_failed),
        TEST(a_fault_without_targets_is_healed_once),
        TEST(what_a_signal_ends_is_no_failure),
        TEST(what_the_end_of_the_load_hides_is_no_failure),
        TEST(the_end_of_the_load_heals),
        TEST(faults_wait_for_each_other),
        TEST(a_missing_target_is_waited_for),
        TEST(a_target_that_never_is_fails_the_run),
        TEST(a_node_that_stays_ill_fails_the_run),
        TEST(a_load_without_any_fault_fails_the_run),
        TEST(a_list_can_be_the_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
