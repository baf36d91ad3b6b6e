/*
 * The faults of a full disk, clock, jitter and pressure by their contract (fault_stage.h).
 */
#include "tests/unit/fault_stage.h"

/* -- the others ---------------------------------------------------------------------------------------------------- */

static void a_full_disk_lets_nothing_grow(void **state)
{
    (void)state;
    struct trial trial = trial_of(&rig_fault_disk_full, NULL);
    assert_int_equal(inject(&trial), RIG_OK);
    assert_non_null(strstr(trial.evidence.text, "n1: a write was refused"));
    const int64_t before = lines();
    rig_clock_sleep_until_ns(rig_clock_now_ns() + 50 * RIG_NS_PER_MS);
    assert_int_equal(lines(), before);
    heal(&trial);
    await_lines(before + 5);
    assert_int_equal(node.starts, 1);
}

struct clock_options {
    int64_t jump_ns;
    bool backwards;
    double drift;
};

static void a_clock_jumps_and_comes_back(void **state)
{
    (void)state;
    struct clock_options options = {.jump_ns = 3600 * RIG_NS_PER_S};
    struct trial trial = trial_of(&rig_fault_clock, &options);
    assert_true(seconds_off() > -30 && seconds_off() < 1);
    assert_int_equal(inject(&trial), RIG_OK);
    assert_true(seconds_off() > 3570 && seconds_off() < 3601);
    heal(&trial);
    assert_true(seconds_off() > -30 && seconds_off() < 1);
    assert_non_null(strstr(trial.evidence.text, "readings were wrong"));
    options.backwards = true;
    trial = trial_of(&rig_fault_clock, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    assert_true(seconds_off() < -3599);
    heal(&trial);
}

static void a_clock_drifts(void **state)
{
    (void)state;
    const struct clock_options options = {.drift = 1000};
    struct trial trial = trial_of(&rig_fault_clock, &options);
    const int64_t before_ns = rig_clock_now_ns();
    assert_int_equal(inject(&trial), RIG_OK);
    double gained = 0;
    while (gained <= 90) {
        assert_true(rig_clock_now_ns() < before_ns + 100 * RIG_NS_PER_S);
        gained = seconds_off();
    }
    assert_true(gained < (double)(rig_clock_now_ns() - before_ns) / 1e6 + 100);
    heal(&trial);
}

static void a_clock_that_would_stay_right_is_refused(void **state)
{
    (void)state;
    const struct clock_options options = {.jump_ns = 0};
    struct trial trial = trial_of(&rig_fault_clock, &options);
    assert_int_equal(inject(&trial), RIG_E_CLUSTER);
    assert_non_null(strstr(trial.err.text, "drift"));
    heal(&trial);
}

/* -- jitter -------------------------------------------------------------------------------------------------------- */

struct jitter_options {
    struct rig_text_list calls;
    double chance;
    int64_t least_ns, most_ns;
};

static const char *const disk_calls[] = {"disk"};
static const char *const wake_calls[] = {"wake", "semaphore"};

static double seconds_for_lines(int64_t count)
{
    const int64_t from_ns = rig_clock_now_ns();
    await_lines(lines() + count);
    return (double)(rig_clock_now_ns() - from_ns) / 1e9;
}

/* Each line takes one fsync and one pwrite. */
static void calls_are_delayed_until_it_is_healed(void **state)
{
    (void)state;
    const int64_t delay_ns = 20 * RIG_NS_PER_MS;
    const struct jitter_options options = {
        .calls = {disk_calls, 1}, .chance = 1, .least_ns = delay_ns, .most_ns = delay_ns + 1000};
    struct trial trial = trial_of(&rig_fault_jitter, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    assert_string_equal(trial.evidence.text, "n1: calls are delayed");
    assert_true(seconds_for_lines(10) >= 9 * 2 * 0.020);
    struct trial second = trial_of(&rig_fault_jitter, &options);
    assert_int_equal(inject(&second), RIG_E_CLUSTER);
    assert_non_null(strstr(second.err.text, "must not overlap"));
    heal(&second);
    heal(&trial);
    assert_non_null(strstr(trial.evidence.text, " calls were delayed ("));
    assert_non_null(strstr(trial.evidence.text, " disk)"));
    const uint64_t struck = atomic_load(&setup.shims.at[0]->jittered[RIG_SHIM_CALL_DISK]);
    await_lines(lines() + 5);
    /* A call that was being delayed was counted before. */
    assert_int_equal(atomic_load(&setup.shims.at[0]->jittered[RIG_SHIM_CALL_DISK]), struck);
    assert_int_equal(atomic_load(&setup.shims.at[0]->jittered[RIG_SHIM_CALL_CLOCK]), 0);
}

static void delays_are_spread_over_their_range(void **state)
{
    (void)state;
    const struct jitter_options options = {
        .calls = {disk_calls, 1}, .chance = 0.5, .least_ns = 100000, .most_ns = 1600000};
    struct trial trial = trial_of(&rig_fault_jitter, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    const struct rig_shim_jitter *jitter = &setup.shims.at[0]->jitter;
    int short_ones = 0;
    for (int i = 0; i < RIG_SHIM_DELAYS; i++) {
        const int64_t delay_ns = atomic_load(&jitter->delays_ns[i]);
        assert_in_range(delay_ns, options.least_ns, options.most_ns);
        short_ones += delay_ns < 400000 ? 1 : 0; /* the geometric mean of the two */
    }
    assert_int_equal(short_ones, RIG_SHIM_DELAYS / 2);
    heal(&trial);
}

/* Python uses semaphores and signals only between threads: the program has one. */
static void a_fault_that_delays_no_call_fails(void **state)
{
    (void)state;
    const struct jitter_options options = {.calls = {wake_calls, 1}, .chance = 1, .least_ns = 1000, .most_ns = 2000};
    struct trial trial = trial_of(&rig_fault_jitter, &options);
    assert_int_equal(inject(&trial), RIG_E_CLUSTER);
    assert_non_null(strstr(trial.err.text, "there were no calls that were delayed by rig's shim within 10 s"));
    heal(&trial);
    assert_int_equal(atomic_load(&setup.shims.at[0]->jitter.calls), 0);
}

static void jitter_without_calls_is_refused(void **state)
{
    (void)state;
    char why[256] = "";
    struct jitter_options options = {.calls = {disk_calls, 0}, .chance = 1, .least_ns = 2000, .most_ns = 1000};
    assert_false(rig_fault_is_possible(&rig_fault_jitter, NULL, &options, why, sizeof why));
    assert_non_null(strstr(why, "`calls` is empty"));
    options.calls.count = 1;
    assert_false(rig_fault_is_possible(&rig_fault_jitter, NULL, &options, why, sizeof why));
    assert_non_null(strstr(why, "`delay.min` is longer"));
}

/* -- pressure ------------------------------------------------------------------------------------------------------ */

/* The group that the node's process is in, of one controller. */
static void group_of_node(const char *controller, char group[256])
{
    char path[64], line[512];
    (void)snprintf(path, sizeof path, "/proc/%ld/cgroup", (long)node.pid);
    FILE *file = fopen(path, "re");
    group[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strstr(line, controller) != NULL || strncmp(line, "0::", 3) == 0) {
            (void)snprintf(group, 256, "%.255s", line);
            if (strstr(line, controller) != NULL)
                break;
        }
    }
    if (file != NULL)
        (void)fclose(file);
}

/* Control groups need rights that not every account has. */
static void skip_without_groups(const struct rig_fault *fault)
{
    char why[512] = "";
    if (!rig_fault_is_possible(fault, NULL, NULL, why, sizeof why)) {
        print_message("%s\n", why);
        skip();
    }
}

static void a_node_gets_little_of_a_processor(void **state)
{
    (void)state;
    const double quota = 0.01;
    skip_without_groups(&rig_fault_cpu);
    char before[256], meanwhile[256], after[256];
    group_of_node("cpu:", before);
    struct trial trial = trial_of(&rig_fault_cpu, &quota);
    assert_int_equal(inject(&trial), RIG_OK);
    group_of_node("cpu:", meanwhile);
    assert_non_null(strstr(meanwhile, "/rig-"));
    assert_non_null(strstr(trial.evidence.text, "ran out of processor time"));
    assert_int_equal(journal_entries(), 1);
    heal(&trial);
    group_of_node("cpu:", after);
    assert_string_equal(before, after);
    await_lines(lines() + 5);
}

static void a_node_meets_its_limit_of_memory(void **state)
{
    (void)state;
    const int64_t limit_bytes = 1 << 17;
    skip_without_groups(&rig_fault_memory);
    struct trial trial = trial_of(&rig_fault_memory, &limit_bytes);
    assert_int_equal(inject(&trial), RIG_OK);
    assert_non_null(strstr(trial.evidence.text, "reached its limit"));
    heal(&trial);
    char after[256];
    group_of_node("memory", after);
    assert_null(strstr(after, "/rig-"));
    await_lines(lines() + 5);
}

static void a_program_without_the_shim_is_noticed(void **state)
{
    (void)state;
    struct trial trial = trial_of(&rig_fault_disk_full, NULL);
    atomic_store(&setup.shims.at[0]->attached, 0);
    assert_int_equal(inject(&trial), RIG_E_CLUSTER);
    assert_non_null(strstr(trial.err.text, "without rig's shim"));
    heal(&trial);
    struct rig_err err = {0};
    assert_int_equal(rig_fault_setup_check(&setup, &cluster, NULL, &err), RIG_E_CLUSTER);
    atomic_store(&setup.shims.at[0]->attached, 1);
    struct rig_err none = {0};
    assert_int_equal(rig_fault_setup_check(&setup, &cluster, NULL, &none), RIG_OK);
}

static pid_t go_pid;

static uint32_t go_process(void *run, uint32_t at, pid_t *pids, uint32_t capacity)
{
    (void)run, (void)at, (void)capacity;
    pids[0] = go_pid;
    return 1;
}

/* A program with the mark of Go's linker. */
static pid_t start_marked(const char *path)
{
    static const char mark[] = "\xff Go buildinf:";
    char bytes[4096];
    size_t got;
    FILE *from = fopen("/bin/sleep", "re"), *to = fopen(path, "we");
    assert_non_null(from);
    assert_non_null(to);
    while ((got = fread(bytes, 1, sizeof bytes, from)) > 0)
        assert_int_equal(fwrite(bytes, 1, got, to), got);
    assert_int_equal(fwrite(mark, 1, sizeof mark, to), sizeof mark);
    (void)fclose(from);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(path, 0755), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)execl(path, path, "60", (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void a_program_in_go_is_refused_before_the_load(void **state)
{
    (void)state;
    char path[256], exe[64], target[256] = "";
    (void)snprintf(path, sizeof path, "%s/marked", node.folder);
    go_pid = start_marked(path);
    (void)snprintf(exe, sizeof exe, "/proc/%d/exe", (int)go_pid);
    while (strcmp(target, path) != 0) {
        const ssize_t length = readlink(exe, target, sizeof target - 1);
        target[length < 0 ? 0 : length] = '\0';
    }
    struct rig_cluster_ops with_go = cluster;
    with_go.processes = go_process;
    struct rig_err err = {0};
    assert_int_equal(rig_fault_setup_check(&setup, &with_go, NULL, &err), RIG_E_CLUSTER);
    assert_non_null(strstr(err.text, "is a program in Go"));
    (void)kill(go_pid, SIGKILL);
    (void)waitpid(go_pid, NULL, 0);
    (void)unlink(path);
}

static void a_missing_shim_is_said_before_the_run(void **state)
{
    (void)state;
    char why[512] = "";
    assert_int_equal(setenv("RIG_SHIM", "/nowhere/rig-shim.so", 1), 0);
    assert_false(rig_fault_is_possible(&rig_fault_clock, NULL, NULL, why, sizeof why));
    assert_non_null(strstr(why, "RIG_SHIM"));
    struct rig_cluster_ops bare = cluster;
    bare.set_environment = NULL;
    const struct rig_fault_footing footing = {.cluster = &bare, .started = true};
    assert_int_equal(setenv("RIG_SHIM", RIG_SHIM_PATH, 1), 0);
    assert_false(rig_fault_is_possible(&rig_fault_clock, &footing, NULL, why, sizeof why));
    assert_non_null(strstr(why, "preload"));
}

static void the_end_of_the_load_is_no_failure(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = LIE, .share = 1, .lose = true};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    load_is_over = true;
    const enum rig_rc rc = inject(&trial);
    assert_true(rc == RIG_OK || rc == RIG_E_INTERRUPTED);
    heal(&trial);
    await_lines(lines() + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(a_full_disk_lets_nothing_grow),
        NODE_TEST(a_clock_jumps_and_comes_back),
        NODE_TEST(a_clock_drifts),
        NODE_TEST(a_clock_that_would_stay_right_is_refused),
        NODE_TEST(calls_are_delayed_until_it_is_healed),
        NODE_TEST(delays_are_spread_over_their_range),
        NODE_TEST(a_fault_that_delays_no_call_fails),
        NODE_TEST(jitter_without_calls_is_refused),
        NODE_TEST(a_node_gets_little_of_a_processor),
        NODE_TEST(a_node_meets_its_limit_of_memory),
        NODE_TEST(a_program_without_the_shim_is_noticed),
        NODE_TEST(a_program_in_go_is_refused_before_the_load),
        NODE_TEST(a_missing_shim_is_said_before_the_run),
        NODE_TEST(the_end_of_the_load_is_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
