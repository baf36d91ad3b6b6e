/*
 * The nemesis over a cluster of processes that do nothing: each node is a child of this test, so that what faults do to
 * processes, and see of them, is real.
 */
#include "tests/unit/cmocka_first.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "nemesis/fleet.h"
#include "nemesis/fault_setup.h"
#include "nemesis/journal.h"
#include "nemesis/nemesis.h"
#include "base/process.h"

enum { NODES = 3, EVENTS_MOST = 200 };
static const int64_t ms = RIG_NS_PER_MS;

/* -- the cluster --------------------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the nodes */
static pid_t pids[NODES];
static uint32_t primary, count;
static bool deaf;       /* stop_node does nothing */
static bool broken;     /* start_node fails */
static atomic_bool ill; /* node 1 never is healthy */
static atomic_int restores, starts;

static void start_process(uint32_t node)
{
    if (pids[node] != 0)
        return;
    pids[node] = fork();
    if (pids[node] == 0) {
        for (;;)
            (void)pause();
    }
}

static void end_process(uint32_t node)
{
    if (pids[node] == 0)
        return;
    (void)kill(pids[node], SIGKILL);
    (void)waitpid(pids[node], NULL, 0);
    pids[node] = 0;
}

static uint32_t node_count(const void *run)
{
    (void)run;
    return count;
}

static enum rig_rc node_status(void *run, uint32_t node, struct rig_node_status *status, struct rig_err *err)
{
    (void)run, (void)err;
    pthread_mutex_lock(&lock);
    (void)snprintf(status->name, sizeof status->name, "n%u", node + 1);
    status->reachable = pids[node] != 0;
    status->healthy = status->reachable && !(node == 1 && atomic_load(&ill));
    status->pid = pids[node];
    if (primary != UINT32_MAX)
        (void)snprintf(status->role, sizeof status->role, "%s", node == primary ? "primary" : "standby");
    (void)snprintf(status->detail, sizeof status->detail, "%s", status->healthy ? "" : "it is ill");
    pthread_mutex_unlock(&lock);
    return RIG_OK;
}

static enum rig_rc stop_node(void *run, uint32_t node, enum rig_node_end how, struct rig_err *err)
{
    (void)run, (void)how, (void)err;
    pthread_mutex_lock(&lock);
    if (!deaf)
        end_process(node);
    pthread_mutex_unlock(&lock);
    return RIG_OK;
}

static enum rig_rc start_node(void *run, uint32_t node, struct rig_err *err)
{
    (void)run;
    if (broken)
        return rig_fail(err, RIG_E_CLUSTER, "n%u does not start", node + 1);
    pthread_mutex_lock(&lock);
    start_process(node);
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&starts, 1);
    return RIG_OK;
}

static enum rig_rc promote(void *run, uint32_t node, struct rig_err *err)
{
    (void)run, (void)err;
    pthread_mutex_lock(&lock);
    primary = node;
    pthread_mutex_unlock(&lock);
    return RIG_OK;
}

static enum rig_rc restore(void *run, struct rig_err *err)
{
    atomic_fetch_add(&restores, 1);
    for (uint32_t i = 0; i < count; i++)
        (void)start_node(run, i, err);
    return RIG_OK;
}

static uint32_t processes(void *run, uint32_t node, pid_t *at, uint32_t capacity)
{
    (void)run;
    pthread_mutex_lock(&lock);
    const bool known = pids[node] != 0 && capacity > 0;
    if (known)
        at[0] = pids[node];
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

static const struct rig_cluster_ops cluster = {.node_count = node_count,
                                               .status = node_status,
                                               .stop_node = stop_node,
                                               .start_node = start_node,
                                               .promote = promote,
                                               .restore = restore,
                                               .processes = processes,
                                               .data_dir = data_dir,
                                               .address = address};

/* -- the nemesis --------------------------------------------------------------------------------------------------- */

static struct event {
    enum rig_nemesis_step step;
    uint64_t injection;
    bool failed, withdrawn;
    char fault[32], targets[64], text[300];
    int64_t at_ns;
} events[EVENTS_MOST];
static atomic_int event_count, failures;
static atomic_bool over, stopping_now;
static void (*at_event)(const struct rig_nemesis_event *event);

static void note(void *context, const struct rig_nemesis_event *event)
{
    (void)context;
    const int at = atomic_load(&event_count);
    assert_true(at < EVENTS_MOST);
    events[at] = (struct event){.step = event->step,
                                .injection = event->injection,
                                .failed = event->error != NULL,
                                .withdrawn = event->withdrawn,
                                .at_ns = event->at_ns};
    (void)snprintf(events[at].fault, sizeof events[at].fault, "%s", event->fault);
    (void)snprintf(events[at].targets, sizeof events[at].targets, "%s", event->targets);
    (void)snprintf(events[at].text, sizeof events[at].text, "%s",
                   event->error != NULL ? event->error : event->evidence);
    if (at_event != NULL)
        at_event(event);
    atomic_store(&event_count, at + 1);
}

static bool is_over(void *context)
{
    (void)context;
    return atomic_load(&over);
}

static void failed(void *context, const struct rig_err *err)
{
    (void)context, (void)err;
    atomic_fetch_add(&failures, 1);
    atomic_store(&over, true);
}

static bool stopping(void)
{
    return atomic_load(&stopping_now);
}

static const struct rig_core core = {.now_ns = rig_clock_now_ns, .stopping = stopping};
static char folder[64];
static struct rig_nemesis_entry entries[4];
static struct rig_nemesis_plan plan;
static struct rig_fault_setup setup;
static struct rig_nemesis *nemesis;
static struct rig_journal *journal;
static struct rig_err err;

/* Room for the options of each entry, with their defaults as the tables have them: zero is the first choice. */
static uint64_t option_room[4][16];

static int prepare(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/rig-nemesis-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("RIG_JOURNAL", folder, 1), 0);
    count = NODES;
    primary = 0;
    deaf = broken = false;
    atomic_store(&ill, false);
    atomic_store(&restores, 0);
    atomic_store(&starts, 0);
    atomic_store(&event_count, 0);
    atomic_store(&failures, 0);
    atomic_store(&over, false);
    atomic_store(&stopping_now, false);
    at_event = NULL;
    for (uint32_t i = 0; i < NODES; i++)
        start_process(i);
    memset(entries, 0, sizeof entries);
    memset(option_room, 0, sizeof option_room);
    plan = (struct rig_nemesis_plan){.entries = entries};
    plan.options.recover_ns = 2 * RIG_NS_PER_S;
    plan.options.command_ns = 5 * RIG_NS_PER_S;
    nemesis = NULL;
    journal = NULL;
    err = (struct rig_err){0};
    return 0;
}

static int journals(void)
{
    DIR *files = opendir(folder);
    int found = 0;
    const struct dirent *file;
    while ((file = readdir(files)) != NULL)
        found += file->d_name[0] == '.' ? 0 : 1;
    (void)closedir(files);
    return found;
}

static void end(void)
{
    rig_nemesis_free(nemesis);
    rig_journal_close(journal);
    nemesis = NULL;
    journal = NULL;
}

static int release(void **state)
{
    (void)state;
    end();
    assert_int_equal(journals(), 0); /* whatever happened, nothing is left to undo */
    for (uint32_t i = 0; i < NODES; i++)
        end_process(i);
    rig_folder_remove(folder);
    return 0;
}

static struct rig_nemesis_entry *add(const char *fault, const char *target, int64_t after_ns, int64_t for_ns)
{
    const uint32_t number = plan.entry_count++;
    entries[number].fault = rig_fault_find(&cluster, fault);
    assert_non_null(entries[number].fault);
    entries[number].options = option_room[number];
    entries[number].schedule.target = target;
    entries[number].schedule.after_ns = after_ns;
    entries[number].schedule.for_ns = for_ns;
    return &entries[number];
}

static void begin(bool started)
{
    assert_int_equal(rig_journal_open(&journal, &err), RIG_OK);
    const struct rig_nemesis_config config = {.plan = &plan,
                                              .core = &core,
                                              .cluster = started ? &cluster : NULL,
                                              .started = started,
                                              .setup = &setup,
                                              .journal = journal,
                                              .seed = 5,
                                              .event = note,
                                              .is_over = is_over,
                                              .failed = failed};
    if (rig_nemesis_start(&config, &nemesis, &err) != RIG_OK)
        fail_msg("%s", err.text);
    rig_nemesis_begin(nemesis, rig_clock_now_ns());
}

static void wait_for_events(int wanted)
{
    const int64_t until_ns = rig_clock_now_ns() + 20 * RIG_NS_PER_S;
    while (atomic_load(&event_count) < wanted) {
        assert_true(rig_clock_now_ns() < until_ns);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + ms);
    }
}

static void assert_event(int at, enum rig_nemesis_step step, const char *targets, const char *text)
{
    assert_int_equal(events[at].step, step);
    assert_string_equal(events[at].targets, targets);
    if (strstr(events[at].text, text) == NULL)
        fail_msg("event %d: `%s` does not say `%s`", at, events[at].text, text);
}

/* -- tests --------------------------------------------------------------------------------------------------------- */

static void a_killed_node_is_gone_and_comes_back(void **state)
{
    (void)state;
    const pid_t before = pids[0];
    add("kill", "primary", 10 * ms, 50 * ms);
    begin(true);
    wait_for_events(4);
    char gone[64];
    (void)snprintf(gone, sizeof gone, "n1: process %ld is gone", (long)before);
    assert_event(0, RIG_NEMESIS_INJECT, "n1", "");
    assert_event(1, RIG_NEMESIS_INJECTED, "n1", gone);
    assert_event(2, RIG_NEMESIS_HEAL, "n1", gone);
    assert_event(3, RIG_NEMESIS_HEALED, "n1", "; n1: started in ");
    assert_true(events[2].at_ns - events[1].at_ns >= 50 * ms);
    assert_true(pids[0] != 0 && pids[0] != before);
    assert_int_equal(rig_nemesis_heal_all(nemesis, true, &err), RIG_OK);
    assert_int_equal(atomic_load(&restores), 1);
    assert_int_equal(atomic_load(&failures), 0);
}

static char state_while_paused;
static int journals_while_paused;

static void look_at_paused(const struct rig_nemesis_event *event)
{
    struct rig_process process;
    if (event->step != RIG_NEMESIS_INJECTED || !rig_process_find(pids[1], &process))
        return;
    state_while_paused = rig_process_state(&process);
    journals_while_paused = journals();
}

static void a_paused_node_stands_and_goes_on(void **state)
{
    (void)state;
    at_event = look_at_paused;
    add("pause", "n2", 10 * ms, 20 * ms);
    begin(true);
    wait_for_events(4);
    assert_event(1, RIG_NEMESIS_INJECTED, "n2", "n2: 1 process is stopped, first ");
    assert_event(3, RIG_NEMESIS_HEALED, "n2", "; n2: goes on");
    assert_int_equal(state_while_paused, 'T');
    assert_int_equal(journals_while_paused, 1);
    struct rig_process process;
    assert_true(rig_process_find(pids[1], &process));
    assert_int_not_equal(rig_process_state(&process), 'T');
}

static void a_restarted_node_is_another_process(void **state)
{
    (void)state;
    const pid_t before = pids[2];
    add("restart", "n3", 10 * ms, 0);
    begin(true);
    wait_for_events(4);
    assert_event(1, RIG_NEMESIS_INJECTED, "n3", " instead of ");
    assert_int_not_equal(pids[2], before);
}

static void a_failover_changes_the_primary(void **state)
{
    (void)state;
    add("promote", NULL, 10 * ms, 10 * ms);
    option_room[0][0] = 3; /* kill */
    begin(true);
    wait_for_events(4);
    assert_event(1, RIG_NEMESIS_INJECTED, primary == 1 ? "n2" : "n3", "n1, the primary, is down; ");
    assert_event(1, RIG_NEMESIS_INJECTED, primary == 1 ? "n2" : "n3", ", which was standby, is the primary");
    assert_event(3, RIG_NEMESIS_HEALED, primary == 1 ? "n2" : "n3", "roles were restored in ");
    assert_true(primary == 1 || primary == 2);
    assert_true(pids[0] != 0);
}

/* A fault that did nothing fails the run, and is healed all the same. */
static void what_had_no_effect_fails_the_run(void **state)
{
    (void)state;
    deaf = true;
    add("restart", "n1", 10 * ms, 10 * ms);
    begin(true);
    wait_for_events(4);
    assert_true(events[1].failed && !events[1].withdrawn);
    assert_event(3, RIG_NEMESIS_HEALED, "n1", "");
    assert_int_equal(rig_nemesis_heal_all(nemesis, true, &err), RIG_E_CLUSTER);
    assert_non_null(strstr(err.text, "nemesis: no effect of restart n1: n1: process "));
    assert_non_null(strstr(err.text, " runs as before"));
    assert_int_equal(atomic_load(&failures), 1);
}

static void what_cannot_be_healed_fails_the_run(void **state)
{
    (void)state;
    broken = true;
    add("kill", "n1", 10 * ms, 10 * ms);
    begin(true);
    wait_for_events(4);
    assert_true(events[3].failed);
    assert_int_equal(rig_nemesis_heal_all(nemesis, false, &err), RIG_E_CLUSTER);
    assert_string_equal(err.text, "nemesis: cannot heal kill n1: n1 does not start");
}

/* The signal that ends the run may keep a fault from its effect: that is no failure. */
static void what_a_signal_ends_is_no_failure(void **state)
{
    (void)state;
    deaf = true;
    atomic_store(&stopping_now, true);
    add("restart", "n1", 10 * ms, 10 * ms);
    begin(true);
    wait_for_events(4);
    assert_true(events[1].failed && events[1].withdrawn);
    assert_int_equal(rig_nemesis_heal_all(nemesis, false, &err), RIG_OK);
}

static void end_the_load(const struct rig_nemesis_event *event)
{
    if (event->step == RIG_NEMESIS_INJECT)
        atomic_store(&over, true);
}

/* So may the end of the load, with which the clients leave. */
static void what_the_end_of_the_load_hides_is_no_failure(void **state)
{
    (void)state;
    deaf = true;
    at_event = end_the_load;
    add("restart", "n1", 10 * ms, 10 * ms);
    begin(true);
    wait_for_events(4);
    assert_true(events[1].failed && events[1].withdrawn);
    assert_non_null(strstr(events[1].text, " runs as before, and the load is over"));
    assert_int_equal(rig_nemesis_heal_all(nemesis, true, &err), RIG_OK);
    assert_int_equal(atomic_load(&failures), 0);
}

/* The end of the load heals what would last longer, and nothing comes any more. */
static void the_end_of_the_load_heals(void **state)
{
    (void)state;
    add("kill", "n1", 10 * ms, 3600 * RIG_NS_PER_S);
    add("kill", "n2", 300 * ms, 0);
    begin(true);
    wait_for_events(2);
    char text[64];
    rig_nemesis_describe(nemesis, text, sizeof text);
    assert_string_equal(text, "kill n1");
    atomic_store(&over, true);
    wait_for_events(4);
    assert_event(3, RIG_NEMESIS_HEALED, "n1", "started");
    assert_int_equal(rig_nemesis_heal_all(nemesis, true, &err), RIG_OK);
    assert_int_equal(atomic_load(&event_count), 4);
    rig_nemesis_describe(nemesis, text, sizeof text);
    assert_string_equal(text, "");
}

/* Two at once only where the plan wants it. */
static void faults_wait_for_each_other(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        plan.options.overlap = round == 1;
        atomic_store(&event_count, 0);
        plan.entry_count = 0;
        add("kill", "n1", 10 * ms, 150 * ms);
        add("pause", "n2", 20 * ms, 150 * ms);
        begin(true);
        wait_for_events(8);
        assert_string_equal(events[2].fault, round == 0 ? "kill" : "pause");
        assert_int_equal(events[2].step, round == 0 ? RIG_NEMESIS_HEAL : RIG_NEMESIS_INJECT);
        assert_int_equal(rig_nemesis_heal_all(nemesis, false, &err), RIG_OK);
        end();
    }
}

/* A role that nobody has just now is waited for. */
static void a_missing_target_is_waited_for(void **state)
{
    (void)state;
    primary = UINT32_MAX;
    add("kill", "primary", 10 * ms, 10 * ms);
    begin(true);
    rig_clock_sleep_until_ns(rig_clock_now_ns() + 150 * ms);
    assert_int_equal(atomic_load(&event_count), 0);
    (void)promote(NULL, 2, NULL);
    wait_for_events(4);
    assert_event(1, RIG_NEMESIS_INJECTED, "n3", "is gone");
}

/* Else a run all of whose faults found nobody would pass as one that had them. */
static void a_load_without_any_fault_fails_the_run(void **state)
{
    (void)state;
    primary = UINT32_MAX;
    add("kill", "primary", 10 * ms, 10 * ms);
    begin(true);
    rig_clock_sleep_until_ns(rig_clock_now_ns() + 200 * ms);
    atomic_store(&over, true);
    assert_int_equal(rig_nemesis_heal_all(nemesis, true, &err), RIG_E_CLUSTER);
    assert_non_null(strstr(err.text, "nemesis: no fault came until the load was over: no node is `primary` now; there "
                                     "are n1 (role unknown), n2"));
}

static void a_target_that_never_is_fails_the_run(void **state)
{
    (void)state;
    count = 2;
    add("kill", "minority", 10 * ms, 10 * ms);
    begin(true);
    while (atomic_load(&failures) == 0)
        rig_clock_sleep_until_ns(rig_clock_now_ns() + ms);
    assert_int_equal(rig_nemesis_heal_all(nemesis, false, &err), RIG_E_CLUSTER);
    assert_string_equal(err.text, "nemesis: no target for kill: 2 nodes have no minority");
}

static void a_node_that_stays_ill_fails_the_run(void **state)
{
    (void)state;
    plan.options.recover_ns = 100 * ms;
    atomic_store(&ill, true);
    add("kill", "n1", 10 * ms, 0);
    begin(true);
    wait_for_events(4);
    assert_int_equal(rig_nemesis_heal_all(nemesis, true, &err), RIG_E_CLUSTER);
    assert_non_null(strstr(err.text, "nemesis: after the load: n2 is not healthy although everything was healed: it is "
                                     "ill"));
}

/* -- commands ------------------------------------------------------------------------------------------------------ */

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

/* What fault_exec.c keeps in its options. */
struct exec_options {
    struct rig_text_list command, undo, check;
    int64_t timeout_ns;
};

static char mark[128];

static void commands_are_done_checked_and_undone(void **state)
{
    (void)state;
    (void)snprintf(mark, sizeof mark, "%s/.mark", folder);
    const char *const touch[] = {"touch", mark, NULL}, *const ls[] = {"ls", mark, NULL},
                      *const rm[] = {"rm", mark, NULL};
    struct exec_options options = {*words(touch), *words(rm), *words(ls), RIG_NS_PER_S};
    add("exec", NULL, 10 * ms, 10 * ms)->options = &options;
    begin(false);
    wait_for_events(4);
    assert_event(1, RIG_NEMESIS_INJECTED, "", "ls confirms it: /tmp/");
    assert_event(3, RIG_NEMESIS_HEALED, "", "; undone");
    assert_int_not_equal(access(mark, F_OK), 0);
}

/* The command succeeded, and its check does not see what it should have done. */
static void a_command_without_effect_fails_the_run(void **state)
{
    (void)state;
    const char *const done[] = {"true", NULL}, *const check[] = {"sh", "-c", "echo 'as ever'; exit 3", NULL};
    struct exec_options options = {*words(done), *words(done), *words(check), RIG_NS_PER_S};
    add("exec", NULL, 10 * ms, 10 * ms)->options = &options;
    begin(false);
    wait_for_events(4);
    assert_int_equal(rig_nemesis_heal_all(nemesis, false, &err), RIG_E_CLUSTER);
    assert_string_equal(err.text, "nemesis: no effect of exec: sh ended with status 3: as ever");
}

static void a_command_that_hangs_is_ended(void **state)
{
    (void)state;
    const char *const hangs[] = {"sh", "-c", "sleep 1000 & wait", NULL}, *const undo[] = {"true", NULL};
    struct exec_options options = {*words(hangs), *words(undo), {0}, 50 * ms};
    add("exec", NULL, 10 * ms, 10 * ms)->options = &options;
    begin(false);
    wait_for_events(4);
    assert_int_equal(rig_nemesis_heal_all(nemesis, false, &err), RIG_E_CLUSTER);
    assert_non_null(strstr(err.text, "sh was killed: it took too long"));
}

/* Each target's own address; the values reach a script in quotes; what does not exist has no variable. */
static void commands_learn_where_a_node_is(void **state)
{
    (void)state;
    (void)snprintf(mark, sizeof mark, "%s/.mark", folder);
    const char *const does[] = {
        "sh", "-c",
        "kill -0 {pid} && test \"$RIG_NODE_PID\" = {pid} && test -z \"${RIG_NODE_SOCKET+x}\" && "
        "printf '%s\\n' {node} {host}:{port} {data}/x \"{data}/x\" '{data}/x' >>$0",
        mark, NULL};
    const char *const shows[] = {"tail", "-n", "2", mark, NULL};
    const char *const undo[] = {"rm", "-f", mark, "{data}", NULL};
    struct exec_options options = {*words(does), *words(undo), *words(shows), RIG_NS_PER_S};
    assert_int_equal(setenv("RIG_NODE_SOCKET", "inherited", 1), 0);
    add("exec", "n2", 10 * ms, 10 * ms)->options = &options;
    begin(true);
    wait_for_events(4);
    assert_int_equal(unsetenv("RIG_NODE_SOCKET"), 0);
    assert_event(1, RIG_NEMESIS_INJECTED, "n2", "n2: tail confirms it: /tmp/data of it's own/x");
    assert_event(3, RIG_NEMESIS_HEALED, "n2", "; undone");
}

static void each_target_has_its_own_port(void **state)
{
    (void)state;
    const char *const does[] = {"echo", "{host}:{port}", NULL}, *const undo[] = {"true", NULL};
    struct exec_options options = {*words(does), *words(undo), {0}, RIG_NS_PER_S};
    add("exec", "all", 10 * ms, 10 * ms)->options = &options;
    begin(true);
    wait_for_events(4);
    assert_event(1, RIG_NEMESIS_INJECTED, "n1, n2, n3",
                 "n1: echo succeeded: 127.0.0.1:7001; n2: echo succeeded: 127.0.0.1:7002; n3: echo succeeded: "
                 "127.0.0.1:7003");
}

/* Where the process was not started again, its number is not used once more. */
static void an_undo_without_its_process_is_said(void **state)
{
    (void)state;
    const char *const does[] = {"true", NULL}, *const undo[] = {"kill", "-CONT", "{pid}", NULL};
    struct exec_options options = {*words(does), *words(undo), {0}, RIG_NS_PER_S};
    add("exec", "n1", 10 * ms, 300 * ms)->options = &options;
    begin(true);
    wait_for_events(2);
    (void)stop_node(NULL, 0, RIG_NODE_KILL, NULL);
    wait_for_events(4);
    assert_event(3, RIG_NEMESIS_HEALED, "n1",
                 "n1: a command names `{pid}`, which this node does not have now; it has ");
    (void)start_node(NULL, 0, NULL);
    assert_int_equal(rig_nemesis_heal_all(nemesis, false, &err), RIG_E_CLUSTER);
    end();
    assert_int_equal(journals(), 1); /* for the next start of rig */
    rig_folder_remove(folder);
    assert_int_equal(mkdir(folder, 0700), 0);
}

static void ignore(void *context, const char *text, bool healed)
{
    (void)context, (void)text, (void)healed;
}

/* A process of its own that is gone while its fault is under way. */
static void leave_a_fault(const char *target)
{
    const pid_t rig = fork();
    if (rig == 0) {
        begin(true);
        wait_for_events(2);
        _exit(strcmp(events[1].targets, target) == 0 ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(rig, &status, 0), rig);
    assert_int_equal(status, 0);
    assert_int_equal(journals(), 1);
}

/* The next start of rig knows the node as it was, and strikes no other process with its number. */
static void an_undo_is_kept_with_its_node(void **state)
{
    (void)state;
    (void)snprintf(mark, sizeof mark, "%s/.mark", folder);
    const char *const does[] = {"true", NULL};
    const char *const undo[] = {"sh", "-c", "test $RIG_NODE_PORT = {port} && kill -0 {pid} && echo {data} >$0", mark,
                                NULL};
    struct exec_options options = {*words(does), *words(undo), {0}, RIG_NS_PER_S};
    struct rig_journal_healing healing;
    add("exec", "n3", 10 * ms, 1000 * RIG_NS_PER_S)->options = &options;
    for (int lives = 1; lives >= 0; lives--) {
        leave_a_fault("n3");
        if (lives == 0)
            (void)stop_node(NULL, 2, RIG_NODE_KILL, NULL);
        assert_int_equal(rig_journal_heal(ignore, NULL, false, &healing, &err), RIG_OK);
        assert_int_equal(healing.healed, 1);
        assert_int_equal(healing.failed, 0);
        assert_int_equal(unlink(mark), lives == 1 ? 0 : -1);
    }
}

static enum rig_rc refused(const char *name, const char *argument, bool started)
{
    const char *const does[] = {"echo", argument, NULL};
    const struct rig_nemesis_node nodes[] = {{.name = name, .commands = {.kill = *words(does)}}};
    struct exec_options options = {*words(does), *words(does), {0}, RIG_NS_PER_S};
    const struct rig_nemesis_config config = {
        .plan = &plan, .core = &core, .setup = &setup, .cluster = started ? &cluster : NULL, .started = started};
    plan.nodes = nodes;
    plan.node_count = started ? 0 : 1;
    plan.entry_count = 0;
    add("exec", name, 10 * ms, 0)->options = &options;
    const enum rig_rc rc = rig_nemesis_start(&config, &nemesis, &err);
    rig_nemesis_free(nemesis);
    nemesis = NULL;
    return rc;
}

static void a_node_without_an_address_is_said_before_the_load(void **state)
{
    (void)state;
    assert_int_equal(refused("n1", "{socket}", true), RIG_E_CLUSTER);
    assert_string_equal(err.text, "nemesis: exec: `command`: n1: a command names `{socket}`, which this node does not "
                                  "have now; it has `{node}`, `{host}`, `{port}`, `{data}`, `{pid}`");
    err = (struct rig_err){0};
    assert_int_equal(refused("db1", "{host}", false), RIG_E_CLUSTER);
    assert_string_equal(err.text,
                        "nemesis: db1: a command names `{host}`, which this node does not have now; it has "
                        "`{node}`; rig did not start it: name it `host:port`, as database.cluster.hosts does");
    err = (struct rig_err){0};
    assert_int_equal(refused("db1:5432", "{pid}", false), RIG_E_CLUSTER);
    assert_non_null(strstr(err.text, "it has `{node}`, `{host}`, `{port}`;"));
    err = (struct rig_err){0};
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
    plan.nodes = nodes;
    plan.node_count = 5;
    struct rig_fleet fleet;
    assert_int_equal(rig_fleet_init(&fleet, &cluster, NULL, false, &plan, stopping, &err), RIG_OK);
    for (uint32_t i = 0; i < 5; i++) {
        struct rig_place place;
        char found[600];
        rig_fleet_place(&fleet, i, &place);
        (void)snprintf(found, sizeof found, "%.256s %.5s", place.at[RIG_PLACEHOLDER_HOST],
                       place.at[RIG_PLACEHOLDER_PORT]);
        assert_string_equal(found, expected[i]);
        assert_string_equal(place.at[RIG_PLACEHOLDER_PID], "");
        assert_string_equal(place.at[RIG_PLACEHOLDER_DATA], "");
    }
    count = 1; /* now 127.0.0.1 is one host */
    assert_int_equal(rig_fleet_init(&fleet, &cluster, NULL, false, &plan, stopping, &err), RIG_OK);
    struct rig_place place;
    rig_fleet_place(&fleet, 1, &place);
    assert_string_equal(place.at[RIG_PLACEHOLDER_PORT], "7001");
}

/* Nodes of the user's: by the plan's commands, `{node}` replaced; roles and health too. */
static void nodes_of_the_user_are_reached_by_commands(void **state)
{
    (void)state;
    static char script[4][256];
    static const char *const actions[] = {"rm $0/.up-$1", "(sleep 0.2; touch $0/.up-$1) >/dev/null 2>&1 &",
                                          "test $1 = db1 && echo primary || echo standby", "test -e $0/.up-$1"};
    const char *argv[4][7];
    for (int i = 0; i < 4; i++) {
        (void)snprintf(script[i], sizeof script[i], "%s", actions[i]);
        const char *const arguments[] = {"sh", "-c", script[i], folder, "{node}", NULL};
        memcpy(argv[i], arguments, sizeof arguments);
    }
    struct rig_nemesis_node nodes[2] = {{.name = "db1"}, {.name = "db2"}};
    for (int i = 0; i < 2; i++) {
        nodes[i].commands.kill = *words(argv[0]);
        nodes[i].commands.start = *words(argv[1]);
        nodes[i].commands.role = *words(argv[2]);
        nodes[i].commands.check = *words(argv[3]);
    }
    plan.nodes = nodes;
    plan.node_count = 2;
    for (int i = 1; i <= 2; i++) {
        (void)snprintf(mark, sizeof mark, "%s/.up-db%d", folder, i);
        FILE *up = fopen(mark, "w");
        assert_non_null(up);
        assert_int_equal(fclose(up), 0);
    }
    add("kill", "primary", 10 * ms, 10 * ms);
    begin(false);
    wait_for_events(4);
    assert_event(1, RIG_NEMESIS_INJECTED, "db1", "db1: its check fails");
    assert_event(3, RIG_NEMESIS_HEALED, "db1", "db1: started in ");
    assert_true(events[3].at_ns - events[2].at_ns >= 200 * ms); /* when its check says so */
    assert_int_equal(rig_nemesis_heal_all(nemesis, true, &err), RIG_OK);
}

static void roles_that_nothing_tells_are_said_at_once(void **state)
{
    (void)state;
    const struct rig_nemesis_node nodes[] = {{.name = "db1"}};
    const struct rig_nemesis_config config = {.plan = &plan, .core = &core, .setup = &setup};
    plan.nodes = nodes;
    plan.node_count = 1;
    add("kill", "one, db1", 0, 0);
    add("pause", "db1, one standby", 0, 0);
    assert_int_equal(rig_nemesis_start(&config, &nemesis, &err), RIG_E_CLUSTER);
    assert_string_equal(err.text, "nemesis: pause: nothing tells which node is `db1, one standby`: give "
                                  "nemesis.nodes.db1.role, a command that prints the node's role, or name the nodes as "
                                  "database.cluster.hosts does");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, prepare, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_killed_node_is_gone_and_comes_back),
        TEST(a_paused_node_stands_and_goes_on),
        TEST(a_restarted_node_is_another_process),
        TEST(a_failover_changes_the_primary),
        TEST(what_had_no_effect_fails_the_run),
        TEST(what_cannot_be_healed_fails_the_run),
        TEST(what_a_signal_ends_is_no_failure),
        TEST(what_the_end_of_the_load_hides_is_no_failure),
        TEST(the_end_of_the_load_heals),
        TEST(faults_wait_for_each_other),
        TEST(a_missing_target_is_waited_for),
        TEST(a_target_that_never_is_fails_the_run),
        TEST(a_node_that_stays_ill_fails_the_run),
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
        TEST(a_load_without_any_fault_fails_the_run),
        TEST(roles_that_nothing_tells_are_said_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
