#include "tests/unit/nemesis_stage.h"

#include <dirent.h>
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"

struct stage stage;

/* -- the cluster --------------------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the nodes */

static void start_process(uint32_t node)
{
    if (stage.pids[node] != 0)
        return;
    const pid_t test = getpid();
    stage.pids[node] = fork();
    if (stage.pids[node] == 0) {
        while (getppid() == test) /* a test that ends too early leaves no process */
            (void)poll(NULL, 0, 500);
        _exit(0);
    }
}

static void end_process(uint32_t node)
{
    if (stage.pids[node] == 0)
        return;
    (void)kill(stage.pids[node], SIGKILL);
    (void)waitpid(stage.pids[node], NULL, 0);
    stage.pids[node] = 0;
}

static uint32_t node_count(const void *run)
{
    (void)run;
    return stage.count;
}

static enum rig_rc node_status(void *run, uint32_t node, struct rig_node_status *status, struct rig_err *err)
{
    (void)run, (void)err;
    pthread_mutex_lock(&lock);
    (void)snprintf(status->name, sizeof status->name, "n%u", node + 1);
    status->reachable = stage.pids[node] != 0;
    status->healthy = status->reachable && !(node == 1 && atomic_load(&stage.ill));
    status->pid = stage.pids[node];
    if (stage.primary != UINT32_MAX)
        (void)snprintf(status->role, sizeof status->role, "%s", node == stage.primary ? "primary" : "standby");
    (void)snprintf(status->detail, sizeof status->detail, "%s", status->healthy ? "" : "it is ill");
    pthread_mutex_unlock(&lock);
    return RIG_OK;
}

static enum rig_rc stop_node(void *run, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    (void)run, (void)how, (void)err;
    pthread_mutex_lock(&lock);
    if (!stage.deaf)
        end_process(node);
    pthread_mutex_unlock(&lock);
    return RIG_OK;
}

static enum rig_rc start_node(void *run, uint32_t node, struct rig_err *err)
{
    (void)run;
    if (stage.broken)
        return rig_fail(err, RIG_E_CLUSTER, "n%u does not start", node + 1);
    pthread_mutex_lock(&lock);
    start_process(node);
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&stage.starts, 1);
    return RIG_OK;
}

static enum rig_rc promote(void *run, uint32_t node, struct rig_err *err)
{
    (void)run, (void)err;
    pthread_mutex_lock(&lock);
    stage.primary = node;
    pthread_mutex_unlock(&lock);
    return RIG_OK;
}

static enum rig_rc restore(void *run, struct rig_err *err)
{
    atomic_fetch_add(&stage.restores, 1);
    for (uint32_t i = 0; i < stage.count; i++)
        (void)start_node(run, i, err);
    return RIG_OK;
}

static uint32_t processes(void *run, uint32_t node, pid_t *at, uint32_t capacity)
{
    (void)run;
    pthread_mutex_lock(&lock);
    const bool known = stage.pids[node] != 0 && capacity > 0;
    if (known)
        at[0] = stage.pids[node];
    pthread_mutex_unlock(&lock);
    return known;
}

static enum rig_rc address(void *run, uint32_t node, struct rig_node_address *found, struct rig_err *err)
{
    (void)run, (void)err;
    *found = (struct rig_node_address){.host = "127.0.0.1", .port = (uint16_t)(7001 + node)};
    return RIG_OK;
}

static const char *data_dir(const void *run, uint32_t node)
{
    (void)run, (void)node;
    return "/tmp/data of it's own";
}

const struct rig_cluster_ops stage_cluster = {.node_count = node_count,
                                              .status = node_status,
                                              .stop_node = stop_node,
                                              .start_node = start_node,
                                              .promote = promote,
                                              .restore = restore,
                                              .processes = processes,
                                              .data_dir = data_dir,
                                              .address = address};

/* -- the nemesis --------------------------------------------------------------------------------------------------- */

static void note(void *context, const struct rig_nemesis_event *event)
{
    (void)context;
    const int at = atomic_load(&stage.event_count);
    assert_true(at < STAGE_EVENTS_MOST);
    stage.events[at] = (struct stage_event){.step = event->step,
                                            .injection = event->injection,
                                            .failed = event->error != NULL,
                                            .withdrawn = event->withdrawn,
                                            .at_ns = event->at_ns};
    (void)snprintf(stage.events[at].fault, sizeof stage.events[at].fault, "%s", event->fault);
    (void)snprintf(stage.events[at].targets, sizeof stage.events[at].targets, "%s", event->targets);
    (void)snprintf(stage.events[at].text, sizeof stage.events[at].text, "%s",
                   event->error != NULL ? event->error : event->evidence);
    if (stage.at_event != NULL)
        stage.at_event(event);
    atomic_store(&stage.event_count, at + 1);
}

static bool is_over(void *context)
{
    (void)context;
    return atomic_load(&stage.over);
}

static void failed(void *context, const struct rig_err *err)
{
    (void)context, (void)err;
    atomic_fetch_add(&stage.failures, 1);
    atomic_store(&stage.over, true);
}

static bool stopping(void)
{
    return atomic_load(&stage.stopping_now);
}

const struct rig_core stage_core = {.now_ns = rig_clock_now_ns, .stopping = stopping};
int stage_prepare(void **state)
{
    (void)state;
    (void)snprintf(stage.folder, sizeof stage.folder, "/tmp/rig-nemesis-XXXXXX");
    assert_non_null(mkdtemp(stage.folder));
    assert_int_equal(setenv("RIG_JOURNAL", stage.folder, 1), 0);
    stage.count = STAGE_NODES;
    stage.primary = 0;
    stage.deaf = stage.broken = false;
    atomic_store(&stage.ill, false);
    atomic_store(&stage.restores, 0);
    atomic_store(&stage.starts, 0);
    atomic_store(&stage.event_count, 0);
    atomic_store(&stage.failures, 0);
    atomic_store(&stage.over, false);
    atomic_store(&stage.stopping_now, false);
    stage.at_event = NULL;
    for (uint32_t i = 0; i < STAGE_NODES; i++)
        start_process(i);
    memset(stage.entries, 0, sizeof stage.entries);
    memset(stage.option_room, 0, sizeof stage.option_room);
    stage.plan = (struct rig_nemesis_plan){.entries = stage.entries};
    stage.plan.options.recover_ns = 2 * RIG_NS_PER_S;
    stage.plan.options.command_ns = 100 * RIG_NS_PER_S;
    stage.nemesis = NULL;
    stage.journal = NULL;
    stage.err = (struct rig_err){0};
    return 0;
}

int stage_journals(void)
{
    DIR *files = opendir(stage.folder);
    int found = 0;
    const struct dirent *file;
    while ((file = readdir(files)) != NULL)
        found += file->d_name[0] == '.' ? 0 : 1;
    (void)closedir(files);
    return found;
}

void stage_end(void)
{
    rig_nemesis_free(stage.nemesis);
    rig_journal_close(stage.journal);
    stage.nemesis = NULL;
    stage.journal = NULL;
}

int stage_release(void **state)
{
    (void)state;
    stage_end();
    assert_int_equal(stage_journals(), 0); /* whatever happened, nothing is left to undo */
    for (uint32_t i = 0; i < STAGE_NODES; i++)
        end_process(i);
    rig_folder_remove(stage.folder);
    return 0;
}

struct rig_nemesis_entry *stage_add(const char *fault, const char *target, int64_t after_ns, int64_t for_ns)
{
    const uint32_t number = stage.plan.entry_count++;
    stage.entries[number].fault = rig_fault_find(&stage_cluster, fault);
    assert_non_null(stage.entries[number].fault);
    stage.entries[number].options = stage.option_room[number];
    stage.entries[number].schedule.target = target;
    stage.entries[number].schedule.after_ns = after_ns;
    stage.entries[number].schedule.for_ns = for_ns;
    return &stage.entries[number];
}

void stage_begin(bool started)
{
    assert_int_equal(rig_journal_open(&stage.journal, "", &stage.err), RIG_OK);
    const struct rig_nemesis_config config = {.plan = &stage.plan,
                                              .core = &stage_core,
                                              .cluster = started ? &stage_cluster : NULL,
                                              .started = started,
                                              .setup = &stage.setup,
                                              .journal = stage.journal,
                                              .seed = 5,
                                              .schedule = stage.schedule,
                                              .event = note,
                                              .is_over = is_over,
                                              .failed = failed};
    if (rig_nemesis_start(&config, &stage.nemesis, &stage.err) != RIG_OK)
        fail_msg("%s", stage.err.text);
    rig_nemesis_begin(stage.nemesis, rig_clock_now_ns());
}

void stage_await(int wanted)
{
    const int64_t until_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
    while (atomic_load(&stage.event_count) < wanted) {
        assert_true(rig_clock_now_ns() < until_ns);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
}

void stage_assert_event(int at, enum rig_nemesis_step step, const char *targets, const char *text)
{
    assert_int_equal(stage.events[at].step, step);
    assert_string_equal(stage.events[at].targets, targets);
    if (strstr(stage.events[at].text, text) == NULL)
        fail_msg("event %d: `%s` does not say `%s`", at, stage.events[at].text, text);
}
