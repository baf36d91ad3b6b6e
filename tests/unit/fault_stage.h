/*
 * A node that is a small program, for tests of faults by their contract. It appends line after line to a
 * file in its data folder and makes each durable, ends when that fails, continues when the disk is full, and reports
 * its time. It writes their number into another file that it never makes durable, and removes a file when asked to.
 *
 * Include it once a test program.
 */
#ifndef RIG_TESTS_UNIT_FAULT_STAGE_H
#define RIG_TESTS_UNIT_FAULT_STAGE_H

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

#ifndef RIG_SHIM_PATH /* the build gives it to the test programs */
#define RIG_SHIM_PATH ""
#endif

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

static inline uint32_t node_count(const void *run)
{
    (void)run;
    return 1;
}

static inline enum rig_rc set_environment(void *run, uint32_t at, const char *name, const char *value,
                                          struct rig_err *err)
{
    (void)run, (void)at, (void)err;
    bool control = strcmp(name, RIG_SHIM_VARIABLE) == 0;
    (void)snprintf(control ? node.control : node.preload, sizeof node.control, "%s", value);
    return RIG_OK;
}

static inline void start_program(void)
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

static inline bool has_ended(void)
{
    return node.pid == 0 || waitpid(node.pid, NULL, WNOHANG) == node.pid;
}

static inline enum rig_rc start_node(void *run, uint32_t at, struct rig_err *err)
{
    (void)run, (void)at, (void)err;
    if (has_ended())
        start_program();
    return RIG_OK;
}

static inline enum rig_rc stop_node(void *run, uint32_t at, enum rig_node_end how, struct rig_err *err)
{
    (void)run, (void)at, (void)how, (void)err;
    if (node.pid != 0 && kill(node.pid, SIGKILL) == 0)
        (void)waitpid(node.pid, NULL, 0);
    node.pid = 0;
    return RIG_OK;
}

static inline enum rig_rc status(void *run, uint32_t at, struct rig_node_status *status, struct rig_err *err)
{
    (void)run, (void)at, (void)err;
    *status = (struct rig_node_status){.reachable = node.pid != 0 && kill(node.pid, 0) == 0};
    return RIG_OK;
}

static inline uint32_t processes(void *run, uint32_t at, pid_t *pids, uint32_t capacity)
{
    (void)run, (void)at;
    if (node.pid != 0 && capacity > 0)
        pids[0] = node.pid;
    return node.pid == 0 ? 0 : 1;
}

static inline const char *data_dir(const void *run, uint32_t at)
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

static inline bool never(void)
{
    return false;
}

static inline bool ask_over(void *context)
{
    (void)context;
    return load_is_over;
}

/* -- looking at the node ------------------------------------------------------------------------------------------- */

static inline int64_t lines(void)
{
    char path[128];
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/log", node.data);
    return stat(path, &status) == 0 ? status.st_size / LINE_BYTES : 0;
}

static inline void await_lines(int64_t count)
{
    const int64_t until_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (lines() < count) {
        assert_true(rig_clock_now_ns() < until_ns);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

/* The node's clock error, in seconds, when it last reported the time. */
static inline double seconds_off(void)
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

static inline int set_up(void **state)
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
    assert_int_equal(rig_fault_setup_fit(&setup, &plan, 0, &cluster, NULL, node.folder, &err), RIG_OK);
    fault_context = (struct rig_fault_context){.setup = &setup, .is_over = ask_over};
    assert_int_equal(rig_journal_open(&fault_context.journal, "", &err), RIG_OK);
    fault_context.fleet.cluster = &cluster;
    fault_context.fleet.started = true;
    fault_context.fleet.count = 1;
    fault_context.fleet.stopping = never;
    (void)snprintf(fault_context.fleet.names[0], sizeof fault_context.fleet.names[0], "n1");
    start_program();
    await_lines(5);
    return 0;
}

static inline int tear_down(void **state)
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

static inline struct trial trial_of(const struct rig_fault *fault, const void *options)
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

static inline enum rig_rc inject(struct trial *trial)
{
    return rig_fault_inject(trial->fault, &trial->site, trial->state, &trial->evidence, &trial->err);
}

/* Heals twice: the second time changes nothing, and adds no text. */
static inline void heal(struct trial *trial)
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

#define NODE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
