/*
 * The faults of disk, clock and jitter by their contract, on a node that is a small program. It appends line after line to a
 * file in its data folder and makes each durable, ends when that fails, continues when the disk is full, and reports
 * its time. It writes their number into another file that it never makes durable, and removes a file when asked to.
 */
#include "tests/unit/cmocka_first.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "nemesis/faults.h"
#include "nemesis/fault_setup.h"
#include "nemesis/fault_context.h"
#include "nemesis/undo_log.h"
#include "tests/unit/journal_entries.h"

static const char program[] = "import os, sys, time\n"
                              "data, beside = sys.argv[1], sys.argv[2]\n"
                              "log = os.open(data + '/log', os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)\n"
                              "out = os.open(beside + '/clock', os.O_RDWR | os.O_CREAT, 0o600)\n"
                              "loose = os.open(data + '/loose', os.O_RDWR | os.O_CREAT, 0o600)\n"
                              "folder = os.open(data, os.O_RDONLY)\n"
                              "number = os.fstat(log).st_size // 8\n"
                              "while True:\n"
                              "    try:\n"
                              "        os.write(log, b'%7d\\n' % number)\n"
                              "        number += 1\n"
                              "    except OSError:\n"
                              "        pass\n"
                              "    os.fsync(log)\n"
                              "    os.pwrite(loose, b'%7d\\n' % number, 0)\n"
                              "    if os.path.exists(beside + '/remove') and os.path.exists(data + '/victim'):\n"
                              "        os.unlink(data + '/victim')\n"
                              "        if os.path.exists(beside + '/sync'):\n"
                              "            os.fsync(folder)\n"
                              "    os.pwrite(out, b'%20d\\n' % time.time_ns(), 0)\n"
                              "    time.sleep(0.001)\n";

enum { LINE_BYTES = 8 };

struct node {
    char folder[64], data[80], preload[128], control[128];
    pid_t pid;
    uint32_t starts;
};

static struct node node;
static struct rig_fault_setup setup;
static struct rig_fault_context fault_context;
static bool load_is_over;

/* -- the cluster --------------------------------------------------------------------------------------------------- */

static uint32_t node_count(const void *run)
{
    (void)run;
    return 1;
}

static enum rig_rc set_environment(void *run, uint32_t at, const char *name, const char *value, struct rig_err *err)
{
    (void)run, (void)at, (void)err;
    bool control = strcmp(name, RIG_SHIM_VARIABLE) == 0;
    (void)snprintf(control ? node.control : node.preload, sizeof node.control, "%s", value);
    return RIG_OK;
}

static void start_program(void)
{
    node.pid = fork();
    if (node.pid == 0) {
        char preload[160], control[160];
        (void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s", node.preload);
        (void)snprintf(control, sizeof control, "%s=%s", RIG_SHIM_VARIABLE, node.control);
        char *const arguments[] = {"python3", "-c", (char *)(uintptr_t)program, node.data, node.folder, NULL};
        char *const environment[] = {preload, control, "PATH=/usr/local/bin:/usr/bin:/bin", NULL};
        (void)execvpe("python3", arguments, environment);
        _exit(127);
    }
    node.starts++;
}

static bool has_ended(void)
{
    return node.pid == 0 || waitpid(node.pid, NULL, WNOHANG) == node.pid;
}

static enum rig_rc start_node(void *run, uint32_t at, struct rig_err *err)
{
    (void)run, (void)at, (void)err;
    if (has_ended())
        start_program();
    return RIG_OK;
}

static enum rig_rc stop_node(void *run, uint32_t at, enum rig_node_end how, struct rig_err *err)
{
    (void)run, (void)at, (void)how, (void)err;
    if (node.pid != 0 && kill(node.pid, SIGKILL) == 0)
        (void)waitpid(node.pid, NULL, 0);
    node.pid = 0;
    return RIG_OK;
}

static enum rig_rc status(void *run, uint32_t at, struct rig_node_status *status, struct rig_err *err)
{
    (void)run, (void)at, (void)err;
    *status = (struct rig_node_status){.reachable = node.pid != 0 && kill(node.pid, 0) == 0};
    return RIG_OK;
}

static uint32_t processes(void *run, uint32_t at, pid_t *pids, uint32_t capacity)
{
    (void)run, (void)at;
    if (node.pid != 0 && capacity > 0)
        pids[0] = node.pid;
    return node.pid == 0 ? 0 : 1;
}

static const char *data_dir(const void *run, uint32_t at)
{
    (void)run, (void)at;
    return node.data;
}

static const struct rig_cluster_ops cluster = {.node_count = node_count,
                                               .set_environment = set_environment,
                                               .start_node = start_node,
                                               .stop_node = stop_node,
                                               .status = status,
                                               .processes = processes,
                                               .data_dir = data_dir};

static bool never(void)
{
    return false;
}

static bool ask_over(void *context)
{
    (void)context;
    return load_is_over;
}

/* -- looking at the node ------------------------------------------------------------------------------------------- */

static int64_t lines(void)
{
    char path[128];
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/log", node.data);
    return stat(path, &status) == 0 ? status.st_size / LINE_BYTES : 0;
}

static void await_lines(int64_t count)
{
    const int64_t until_ns = rig_clock_now_ns() + 20 * RIG_NS_PER_S;
    while (lines() < count) {
        assert_true(rig_clock_now_ns() < until_ns);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

/* The node's clock error, in seconds, when it last reported the time. */
static double seconds_off(void)
{
    char path[128], text[32] = "";
    struct timespec now;
    (void)snprintf(path, sizeof path, "%s/clock", node.folder);
    await_lines(lines() + 3); /* it has reported again */
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    (void)close(fd);
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    const int64_t real_ns = (int64_t)now.tv_sec * RIG_NS_PER_S + now.tv_nsec;
    return (double)(strtoll(text, NULL, 10) - real_ns) / 1e9;
}

/* -- set-up -------------------------------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    (void)state;
    const struct rig_nemesis_entry entry = {.fault = &rig_fault_fsync};
    const struct rig_nemesis_plan plan = {.entries = &entry, .entry_count = 1};
    struct rig_err err = {0};
    node = (struct node){.pid = 0};
    load_is_over = false;
    (void)snprintf(node.folder, sizeof node.folder, "/tmp/rig-node-XXXXXX");
    assert_non_null(mkdtemp(node.folder));
    (void)snprintf(node.data, sizeof node.data, "%s/data", node.folder);
    assert_int_equal(mkdir(node.data, 0700), 0);
    assert_int_equal(setenv("RIG_SHIM", RIG_SHIM_PATH, 1), 0);
    assert_int_equal(setenv("RIG_JOURNAL", node.folder, 1), 0);
    assert_int_equal(rig_fault_setup_init(&setup, &plan, 1, &err), RIG_OK);
    assert_int_equal(rig_fault_setup_fit(&setup, &plan, &cluster, NULL, node.folder, &err), RIG_OK);
    fault_context = (struct rig_fault_context){.setup = &setup, .is_over = ask_over};
    assert_int_equal(rig_journal_open(&fault_context.journal, &err), RIG_OK);
    fault_context.fleet.cluster = &cluster;
    fault_context.fleet.started = true;
    fault_context.fleet.count = 1;
    fault_context.fleet.stopping = never;
    (void)snprintf(fault_context.fleet.names[0], sizeof fault_context.fleet.names[0], "n1");
    start_program();
    await_lines(5);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)stop_node(NULL, 0, RIG_NODE_KILL, NULL);
    assert_int_equal(journal_entries(), 0);
    rig_journal_close(fault_context.journal);
    rig_fault_setup_done(&setup);
    rig_folder_remove(node.folder);
    return 0;
}

/* -- one injection ------------------------------------------------------------------------------------------------- */

struct trial {
    const struct rig_fault *fault;
    struct rig_fault_site site;
    void *state;
    struct rig_evidence evidence;
    struct rig_err err;
};

static const struct rig_core core = {.stopping = never};

static struct trial trial_of(const struct rig_fault *fault, const void *options)
{
    struct trial trial = {.fault = fault, .state = calloc(1, fault->state_size)};
    trial.site = (struct rig_fault_site){.core = &core,
                                         .cluster = &cluster,
                                         .options = options,
                                         .node_count = 1,
                                         .random = 5,
                                         .nemesis = &fault_context};
    char why[256] = "";
    assert_true(rig_shims_are_there(NULL, why, sizeof why));
    return trial;
}

static enum rig_rc inject(struct trial *trial)
{
    return rig_fault_inject(trial->fault, &trial->site, trial->state, &trial->evidence, &trial->err);
}

/* Heals twice: the second time changes nothing, and adds no text. */
static void heal(struct trial *trial)
{
    assert_int_equal(rig_fault_heal(trial->fault, &trial->site, trial->state, &trial->evidence, &trial->err), RIG_OK);
    const struct rig_evidence said = trial->evidence;
    assert_int_equal(rig_fault_heal(trial->fault, &trial->site, trial->state, &trial->evidence, &trial->err), RIG_OK);
    assert_string_equal(said.text, trial->evidence.text);
    free(trial->state);
}

struct fsync_options {
    int64_t mode, delay_ns;
    double share;
    bool lose;
};
enum { SLOW, FAIL, LIE };

/* -- fsync --------------------------------------------------------------------------------------------------------- */

static void what_was_lied_about_is_lost(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = LIE, .share = 1, .lose = true};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    const int64_t before = lines();
    assert_int_equal(inject(&trial), RIG_OK);
    assert_non_null(strstr(trial.evidence.text, "n1: calls are lied about"));
    await_lines(before + 50);
    const int64_t written = lines();
    char copy[128];
    struct stat status;
    (void)snprintf(copy, sizeof copy, "%s.durable/log", node.data);
    assert_int_equal(stat(copy, &status), 0);
    const int64_t durable = status.st_size / LINE_BYTES;
    assert_true(durable >= before && durable < written);
    (void)stop_node(NULL, 0, RIG_NODE_KILL, NULL); /* killing alone loses nothing */
    assert_true(lines() >= written);
    heal(&trial);
    assert_true(lines() >= durable);
    await_lines(written + 5); /* the node continues from there */
    assert_int_equal(node.starts, 2);
    assert_non_null(strstr(trial.evidence.text, "everything written since is lost"));
    (void)snprintf(copy, sizeof copy, "%s.durable", node.data);
    assert_int_equal(stat(copy, &status), -1);
}

/* The node counts from the last line of the file: numbers after the loss show that lines are gone. */
static void the_state_is_that_of_the_moment(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = LIE, .share = 1, .lose = true};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    const int64_t moment = lines();
    await_lines(moment + 200);
    const int64_t written = lines();
    heal(&trial);
    assert_true(lines() < written);
    await_lines(lines() + 5);
}

static void a_lie_may_stay_without_consequences(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = LIE, .share = 1, .lose = false};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    await_lines(lines() + 20);
    const int64_t written = lines();
    heal(&trial);
    assert_true(lines() >= written);
    assert_int_equal(node.starts, 1);
}

static void a_failing_fsync_ends_the_node_until_it_is_healed(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = FAIL, .share = 1};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    const int64_t until_ns = rig_clock_now_ns() + 20 * RIG_NS_PER_S;
    while (waitpid(node.pid, NULL, WNOHANG) == 0)
        assert_true(rig_clock_now_ns() < until_ns);
    node.pid = 0;
    heal(&trial);
    assert_int_equal(node.starts, 2);
    await_lines(lines() + 5);
    assert_non_null(strstr(trial.evidence.text, "n1: 1 call failed"));
}

static void a_slow_fsync_takes_its_time(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = SLOW, .share = 1, .delay_ns = 100 * RIG_NS_PER_MS};
    struct trial trial = trial_of(&rig_fault_fsync, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    const int64_t before = lines(), before_ns = rig_clock_now_ns();
    await_lines(before + 3);
    assert_true(rig_clock_now_ns() - before_ns >= 200 * RIG_NS_PER_MS);
    heal(&trial);
    await_lines(before + 50);
}

static void two_faults_of_fsync_do_not_overlap(void **state)
{
    (void)state;
    const struct fsync_options options = {.mode = LIE, .share = 0.5};
    struct trial first = trial_of(&rig_fault_fsync, &options);
    struct trial second = trial_of(&rig_fault_fsync, &options);
    assert_int_equal(inject(&first), RIG_OK);
    assert_int_equal(inject(&second), RIG_E_CLUSTER);
    assert_non_null(strstr(second.err.text, "overlap"));
    heal(&second);
    await_lines(lines() + 20);
    heal(&first);
}

/* -- the power fails ------------------------------------------------------------------------------------------------ */

struct power_options {
    double keep;
};

/* The number in the file that is never made durable. */
static int64_t loose_number(void)
{
    char path[128], text[LINE_BYTES + 1] = "";
    (void)snprintf(path, sizeof path, "%s/loose", node.data);
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, text, LINE_BYTES), LINE_BYTES);
    (void)close(fd);
    return strtoll(text, NULL, 10);
}

static void touch(const char *folder, const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
}

static bool has_victim(void)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/victim", node.data);
    return access(path, F_OK) == 0;
}

static void await_no_victim(void)
{
    const int64_t until_ns = rig_clock_now_ns() + 20 * RIG_NS_PER_S;
    while (has_victim())
        assert_true(rig_clock_now_ns() < until_ns);
}

static void a_power_failure_loses_what_was_not_synced(void **state)
{
    (void)state;
    const struct power_options options = {.keep = 0};
    struct trial trial = trial_of(&rig_fault_power, &options);
    await_lines(20);
    assert_int_equal(inject(&trial), RIG_OK);
    const int64_t begun = loose_number();
    await_lines(begun + 200);
    const int64_t written = lines();
    (void)stop_node(NULL, 0, RIG_NODE_KILL, NULL); /* so that nothing writes between the loss and the look at it */
    assert_true(loose_number() > begun + 100);
    heal(&trial);
    assert_true(lines() >= written - 1);
    assert_non_null(strstr(trial.evidence.text, "its power failed"));
    assert_int_equal(node.starts, 2);
    char path[128];
    (void)snprintf(path, sizeof path, "%s.undo", node.data);
    assert_int_equal(access(path, F_OK), -1);
}

static void unsynced_content_is_that_of_before(void **state)
{
    (void)state;
    const struct power_options options = {.keep = 0};
    struct trial trial = trial_of(&rig_fault_power, &options);
    char undo[128];
    struct rig_rng rng;
    struct rig_undo_count count = {0};
    struct rig_err err = {0};
    await_lines(20);
    assert_int_equal(inject(&trial), RIG_OK);
    const int64_t begun = loose_number();
    await_lines(begun + 100);
    (void)stop_node(NULL, 0, RIG_NODE_KILL, NULL);
    (void)snprintf(undo, sizeof undo, "%s.undo", node.data);
    rig_rng_init(&rng, 1, 1);
    assert_int_equal(rig_undo_log_apply(node.data, undo, 0, &rng, &count, &err), RIG_OK);
    assert_true(loose_number() <= begun);
    assert_true(count.changes >= 100);
    assert_int_equal(rig_undo_log_apply(node.data, undo, 0, &rng, &count, &err), RIG_OK); /* nothing is left to undo */
    heal(&trial);
}

static void removals_count_once_their_folder_is_synced(void **state)
{
    (void)state;
    const struct power_options options = {.keep = 0};
    for (int synced = 0; synced < 2; synced++) {
        struct trial trial = trial_of(&rig_fault_power, &options);
        touch(node.data, "victim");
        if (synced != 0)
            touch(node.folder, "sync");
        assert_int_equal(inject(&trial), RIG_OK);
        touch(node.folder, "remove");
        await_no_victim();
        await_lines(lines() + 5);
        char path[128];
        (void)snprintf(path, sizeof path, "%s/remove", node.folder);
        (void)unlink(path);
        heal(&trial);
        assert_true(has_victim() == (synced == 0));
    }
}

static void syncs_that_lie_do_not_count(void **state)
{
    (void)state;
    const struct fsync_options lie = {.mode = LIE, .share = 1, .lose = false};
    const struct power_options options = {.keep = 0};
    struct trial first = trial_of(&rig_fault_fsync, &lie);
    struct trial second = trial_of(&rig_fault_power, &options);
    await_lines(20);
    assert_int_equal(inject(&first), RIG_OK);
    assert_int_equal(inject(&second), RIG_OK);
    const int64_t begun = lines();
    await_lines(begun + 200);
    (void)stop_node(NULL, 0, RIG_NODE_KILL, NULL);
    const int64_t written = lines();
    heal(&second);
    heal(&first);
    assert_true(lines() < written);
}

static void two_power_failures_do_not_overlap(void **state)
{
    (void)state;
    const struct power_options options = {.keep = 0.5};
    struct trial first = trial_of(&rig_fault_power, &options);
    struct trial second = trial_of(&rig_fault_power, &options);
    assert_int_equal(inject(&first), RIG_OK);
    assert_int_equal(inject(&second), RIG_E_CLUSTER);
    assert_non_null(strstr(second.err.text, "overlap"));
    heal(&second);
    assert_int_equal(node.starts, 1);
    await_lines(lines() + 20);
    heal(&first);
    assert_int_equal(node.starts, 2);
    await_lines(lines() + 5);
}

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
    assert_int_equal(inject(&trial), RIG_OK);
    const double first = seconds_off();
    const int64_t before_ns = rig_clock_now_ns();
    rig_clock_sleep_until_ns(before_ns + 100 * RIG_NS_PER_MS);
    const double gained = seconds_off() - first;
    const double passed = (double)(rig_clock_now_ns() - before_ns) / 1e9;
    assert_true(gained > 90 && gained < passed * 1000 + 100);
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

#define NODE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(what_was_lied_about_is_lost),
        NODE_TEST(the_state_is_that_of_the_moment),
        NODE_TEST(a_lie_may_stay_without_consequences),
        NODE_TEST(a_failing_fsync_ends_the_node_until_it_is_healed),
        NODE_TEST(a_slow_fsync_takes_its_time),
        NODE_TEST(two_faults_of_fsync_do_not_overlap),
        NODE_TEST(a_power_failure_loses_what_was_not_synced),
        NODE_TEST(unsynced_content_is_that_of_before),
        NODE_TEST(removals_count_once_their_folder_is_synced),
        NODE_TEST(syncs_that_lie_do_not_count),
        NODE_TEST(two_power_failures_do_not_overlap),
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
