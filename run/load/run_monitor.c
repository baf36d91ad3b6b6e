#include "run/load/run_monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "run/load/run_progress.h"
#include "run/load/run_state.h"

enum { RATE_SAMPLES = 6, COLUMNS_WITHOUT_TERMINAL = 80 };
static const int64_t tick_ns = 50 * RIG_NS_PER_MS;
static const int64_t draw_every_ns = 200 * RIG_NS_PER_MS;
static const int64_t latency_every_ns = RIG_NS_PER_S;
static const int64_t interrupt_every_ns = 100 * RIG_NS_PER_MS;
/* How long no client may have had a session before the database counts as lost. */
static const int64_t lost_after_ns = 60 * RIG_NS_PER_S;
/* How long final reads may keep the driver before they are interrupted; the driver's own time-outs come first. */
static const int64_t final_call_ns = 60 * RIG_NS_PER_S;
/* After the first interrupt: when the local cluster is killed, and when the client is given up. */
static const int64_t kill_after_ns = 15 * RIG_NS_PER_S;
static const int64_t abandon_after_ns = 30 * RIG_NS_PER_S;

struct sample {
    int64_t at_ns;
    uint64_t done;
};

/* Over all clients, since the start. */
struct outcomes {
    uint64_t refused, unanswered, failed_writes;
};

struct rig_run_monitor {
    struct rig_run_state *run;
    pthread_t thread;
    pthread_mutex_t lock; /* guards `leaving` */
    pthread_cond_t wake;
    bool leaving;
    int interrupts_seen;
    /* watchdog */
    int64_t next_interrupt_ns;
    int64_t first_interrupt_ns; /* 0: no client is overdue */
    bool killed;
    int64_t without_session_since_ns; /* 0: a client has one */
    /* progress */
    bool drawn;
    int64_t next_draw_ns, next_file_ns, next_latency_ns;
    struct sample samples[RATE_SAMPLES];
    uint32_t sample_count;
    int64_t p50_ns, p99_ns;
    bool has_latency;
    struct rig_latency_interval shown, noted; /* since the last line, and since the timeline's last moment */
    struct rig_lag lag;                       /* of the check while the run goes on */
    uint64_t found[RIG_ANOMALY_COUNT];
    /* answers */
    struct outcomes outcomes;
    bool was_under_fault, looked_last;
};

/* -- ending -------------------------------------------------------------------------------------------------------- */

static void watch_interrupts(struct rig_run_monitor *monitor)
{
    struct rig_run_state *run = monitor->run;
    const int count = rig_run_interrupts(run);
    if (count > 0 && monitor->interrupts_seen == 0) {
        rig_log(RIG_LOG_WARN, "run", "a signal arrived: the run ends; a second one interrupts the clients");
        atomic_store(&run->ending.interrupted, true);
        rig_run_raise(run, RIG_STOP_END);
    }
    if (count > 1 && monitor->interrupts_seen <= 1) {
        rig_log(RIG_LOG_WARN, "run", "a second signal arrived: the clients are interrupted");
        rig_run_raise(run, RIG_STOP_ABORT);
    }
    monitor->interrupts_seen = count;
}

static void watch_time(struct rig_run_state *run, int64_t now_ns)
{
    if (rig_run_phase(run) == RIG_RUN_LOAD && rig_run_stopped(run) == RIG_STOP_NONE)
        rig_run_load_watch(run, now_ns);
}

static void fail_run(struct rig_run_state *run, enum rig_rc rc, const char *text)
{
    if (run->ending.failure.rc != RIG_OK)
        return;
    (void)rig_fail(&run->ending.failure, rc, "%s", text);
    rig_log(RIG_LOG_ERROR, "run", "%s", text);
    rig_run_raise(run, RIG_STOP_END);
}

static void watch_recorder(struct rig_run_state *run)
{
    if (rig_recorder_failed(run->recorder))
        fail_run(run, RIG_E_IO, "the record cannot be written; the run was ended");
}

/* check.stop-on: the load ends as if its count were reached. */
static void watch_check(struct rig_run_state *run)
{
    enum rig_anomaly anomaly;
    if (run->online == NULL || run->plan->check.stop_on != RIG_STOP_ON_ANOMALY || rig_run_phase(run) != RIG_RUN_LOAD ||
        rig_run_stopped(run) != RIG_STOP_NONE || !rig_online_forbidden(run->online, &anomaly))
        return;
    rig_log(RIG_LOG_WARN, "run", "%s was found, which a requested level forbids: the load ends (check.stop-on)",
            rig_anomaly_info(anomaly)->name);
    atomic_store(&run->ending.stopped_by, (int)anomaly);
    rig_run_raise(run, RIG_STOP_LOAD);
}

static bool is_under_fault(const struct rig_run_state *run)
{
    char text[8] = "";
    if (run->faults.nemesis != NULL)
        rig_nemesis_describe(run->faults.nemesis, text, sizeof text);
    return text[0] != '\0';
}

static void watch_sessions(struct rig_run_monitor *monitor, int64_t now_ns)
{
    struct rig_run_state *run = monitor->run;
    /* While a fault is under way it is no wonder, however long the plan lets it last. */
    bool connected = is_under_fault(run) || atomic_load(&run->load.start_ns) == 0 ||
                     rig_run_phase(run) != RIG_RUN_LOAD || atomic_load(&run->gate.finished) == run->client_count;
    for (uint32_t i = 0; i < run->client_count && !connected; i++)
        connected = atomic_load_explicit(&run->clients[i].session.connected, memory_order_relaxed);
    if (connected)
        monitor->without_session_since_ns = 0;
    else if (monitor->without_session_since_ns == 0)
        monitor->without_session_since_ns = now_ns;
    else if (now_ns - monitor->without_session_since_ns > lost_after_ns + 2 * run->plan->clients.max_backoff_ns)
        fail_run(run, RIG_E_CLUSTER, "no client could get a session for more than a minute; the load was ended");
}

/* -- the watchdog -------------------------------------------------------------------------------------------------- */

/* From when on a client that is inside the driver counts as overdue; INT64_MAX: never. */
static int64_t patience_ends_ns(const struct rig_run_state *run, int64_t busy_since_ns)
{
    int64_t grace_ns = run->plan->clients.stop_grace_ns;
    int64_t exhausted_ns = atomic_load(&run->load.exhausted_ns);
    if (rig_run_stopped(run) == RIG_STOP_ABORT)
        return 0;
    if (rig_run_is_ending(run)) {
        int64_t end_ns = atomic_load(&run->ending.raised_ns);
        return (busy_since_ns > end_ns ? busy_since_ns : end_ns) + grace_ns;
    }
    if (run->simulated)
        return INT64_MAX; /* its clients wait for each other inside the driver, however long that takes */
    if (rig_run_phase(run) == RIG_RUN_FINAL) {
        const int64_t call_ends_ns = busy_since_ns + (grace_ns > final_call_ns ? grace_ns : final_call_ns);
        const int64_t all_end_ns = rig_run_final_ends_ns(run);
        return call_ends_ns < all_end_ns ? call_ends_ns : all_end_ns;
    }
    if (exhausted_ns != 0) {
        int64_t from_ns = busy_since_ns > exhausted_ns ? busy_since_ns : exhausted_ns;
        return from_ns + grace_ns + rig_run_load_longest_hold_ns(run);
    }
    return INT64_MAX;
}

/* The client called back and is not interrupted for what it does next: only the call that is overdue is. */
static bool interrupt_overdue(struct rig_run_state *run, int64_t now_ns)
{
    bool overdue = false;
    for (uint32_t i = 0; i < run->client_count; i++) {
        struct rig_run_client *client = &run->clients[i];
        int64_t busy_since_ns = atomic_load_explicit(&client->session.busy_since_ns, memory_order_relaxed);
        if (busy_since_ns == 0 || now_ns < patience_ends_ns(run, busy_since_ns))
            continue;
        overdue = true;
        rig_run_session_interrupt(client);
    }
    return overdue;
}

static void watch_clients(struct rig_run_monitor *monitor, int64_t now_ns)
{
    struct rig_run_state *run = monitor->run;
    if (now_ns < monitor->next_interrupt_ns)
        return;
    monitor->next_interrupt_ns = now_ns + interrupt_every_ns;
    if (!interrupt_overdue(run, now_ns)) {
        monitor->first_interrupt_ns = 0;
        return;
    }
    if (monitor->first_interrupt_ns == 0) {
        monitor->first_interrupt_ns = now_ns;
        rig_log(RIG_LOG_WARN, "run", "clients that have not finished are interrupted");
    }
    int64_t waited_ns = now_ns - monitor->first_interrupt_ns;
    const struct rig_cluster_ops *cluster = run->driver->cluster;
    if (waited_ns > kill_after_ns && !monitor->killed && cluster != NULL && cluster->wanted(run->env.options)) {
        rig_log(RIG_LOG_ERROR, "run", "clients do not return from the driver: the cluster is killed");
        cluster->kill_now(run->driver_run);
        monitor->killed = true;
    }
    if (waited_ns > abandon_after_ns) {
        fail_run(run, RIG_E_DRIVER, "a client does not return from the driver although it was interrupted");
        atomic_store(&run->ending.abandoned, true);
    }
}

/* -- the progress line --------------------------------------------------------------------------------------------- */

static void sum_counters(const struct rig_run_state *run, struct rig_progress *progress)
{
    uint64_t closing_reads = 0; /* no part of the total */
    for (uint32_t i = 0; i < run->client_count; i++) {
        closing_reads += rig_run_read(&run->clients[i].closing.reads);
        progress->ok += rig_run_read(&run->clients[i].counts.ok);
        progress->fail += rig_run_read(&run->clients[i].counts.fail);
        progress->info += rig_run_read(&run->clients[i].counts.info);
    }
    rig_run_part_count(run, &progress->ok, &progress->fail, &progress->info);
    uint64_t all = progress->ok + progress->fail + progress->info;
    progress->done = all < closing_reads ? 0 : all - closing_reads;
}

/* The latencies of transactions acknowledged since the interval ended last, over all kinds of transactions. */
static const struct rig_histogram *latency_since(const struct rig_run_state *run, struct rig_latency_interval *interval)
{
    rig_latency_interval_begin(interval);
    for (uint32_t i = 0; i < run->client_count; i++)
        rig_latency_interval_add(interval, &run->clients[i].latency);
    return rig_latency_interval_end(interval);
}

/* Lowers `*earliest_ns` (0: none) to the start of what was acknowledged in look `number`. */
static void take_answered(const struct rig_run_answered *answered, int number, int64_t *earliest_ns)
{
    const bool is_new = atomic_load_explicit(&answered->look, memory_order_acquire) == number;
    const int64_t from_ns = atomic_load_explicit(&answered->from_ns, memory_order_relaxed);
    if (is_new && (*earliest_ns == 0 || from_ns < *earliest_ns))
        *earliest_ns = from_ns;
}

static void look_at_client(const struct rig_run_client *client, int number, struct rig_run_look *look,
                           struct outcomes *sum)
{
    take_answered(&client->answered.any, number, &look->answered_from_ns);
    take_answered(&client->answered.writing, number, &look->written_from_ns);
    const uint64_t refused = rig_run_read(&client->counts.refused);
    sum->refused += refused;
    sum->failed_writes += rig_run_read(&client->counts.failed_writes);
    sum->unanswered += rig_run_read(&client->counts.fail) - refused + rig_run_read(&client->counts.info) +
                       rig_run_read(&client->session.failures);
    look->waiting |= !atomic_load_explicit(&client->session.connected, memory_order_relaxed) ||
                     atomic_load_explicit(&client->session.busy_since_ns, memory_order_relaxed) != 0;
}

static void note_moment(struct rig_run_monitor *monitor, int64_t now_ns)
{
    struct rig_run_state *run = monitor->run;
    const int64_t start_ns = atomic_load(&run->load.start_ns);
    if (run->simulated || start_ns == 0 || rig_run_phase(run) != RIG_RUN_LOAD ||
        !rig_run_timeline_is_due(&run->seen.timeline, now_ns - start_ns))
        return;
    struct rig_progress sum = {.elapsed_ns = 0};
    sum_counters(run, &sum);
    const struct rig_run_moment moment = {
        .at_ns = now_ns - start_ns,
        .ok = sum.ok,
        .fail = sum.fail,
        .info = sum.info,
        .p99_ns = rig_histogram_percentile(latency_since(run, &monitor->noted), 99),
    };
    rig_run_timeline_add(&run->seen.timeline, &moment);
}

/* Collects the clients' outcomes since the look before. The last look is after the load, so that transactions that
 * ended just before it count. */
static void look_at_answers(struct rig_run_monitor *monitor, int64_t now_ns)
{
    struct rig_run_state *run = monitor->run;
    if (run->simulated || atomic_load(&run->load.start_ns) == 0 || monitor->looked_last)
        return;
    monitor->looked_last = rig_run_phase(run) != RIG_RUN_LOAD;
    const int number = atomic_load(&run->seen.looks);
    if (number == 0)
        rig_run_answers_begin(&run->seen.answers, atomic_load(&run->load.start_ns));
    const bool faulted = is_under_fault(run);
    struct rig_run_look look = {.at_ns = now_ns,
                                .under_fault = faulted || monitor->was_under_fault,
                                .over = monitor->looked_last || atomic_load(&run->ending.load_end_ns) != 0 ||
                                        atomic_load(&run->load.exhausted_ns) != 0};
    struct outcomes sum = {.refused = 0};
    for (uint32_t i = 0; i < run->client_count; i++)
        look_at_client(&run->clients[i], number, &look, &sum);
    look.refused = sum.refused > monitor->outcomes.refused;
    look.unanswered = sum.unanswered > monitor->outcomes.unanswered;
    look.write_failed = sum.failed_writes > monitor->outcomes.failed_writes;
    monitor->outcomes = sum;
    monitor->was_under_fault = faulted;
    atomic_store(&run->seen.looks, number + 1);
    rig_run_answers_look(&run->seen.answers, &look);
}

/* Transactions a second since the oldest sample kept, about a second ago. */
static double recent_rate(struct rig_run_monitor *monitor, int64_t now_ns, uint64_t done)
{
    if (monitor->sample_count == RATE_SAMPLES) {
        memmove(monitor->samples, monitor->samples + 1, (RATE_SAMPLES - 1) * sizeof monitor->samples[0]);
        monitor->sample_count--;
    }
    monitor->samples[monitor->sample_count++] = (struct sample){now_ns, done};
    const struct sample *oldest = &monitor->samples[0];
    if (now_ns <= oldest->at_ns)
        return 0;
    return (double)(done - oldest->done) * (double)RIG_NS_PER_S / (double)(now_ns - oldest->at_ns);
}

static void refresh_latency(struct rig_run_monitor *monitor, int64_t now_ns)
{
    if (now_ns < monitor->next_latency_ns)
        return;
    monitor->next_latency_ns = now_ns + latency_every_ns;
    const struct rig_histogram *since = latency_since(monitor->run, &monitor->shown);
    monitor->has_latency = rig_histogram_count(since) > 0;
    monitor->p50_ns = rig_histogram_percentile(since, 50);
    monitor->p99_ns = rig_histogram_percentile(since, 99);
}

static unsigned terminal_columns(void)
{
    struct winsize size = {0};
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : COLUMNS_WITHOUT_TERMINAL;
}

static void add_check(struct rig_run_monitor *monitor, int64_t now_ns, struct rig_progress *progress)
{
    const struct rig_run_state *run = monitor->run;
    if (run->online == NULL)
        return;
    rig_online_found(run->online, monitor->found);
    rig_lag_note(&monitor->lag, now_ns, progress->ok + progress->fail + progress->info);
    progress->found = monitor->found;
    progress->put_off = !rig_online_is_on(run->online);
    if (!progress->put_off)
        progress->behind_ns = rig_lag_behind_ns(&monitor->lag, now_ns, rig_online_checked(run->online));
}

/* The transactions that all ranks issue; 0: there is no such bound. */
static int64_t total_of_all(const struct rig_run_state *run)
{
    int64_t total = 0;
    for (uint32_t i = 0; run->part.ranks != NULL && i < run->load.phase_count; i++)
        total += run->load.phases[i].total;
    return run->part.ranks == NULL || run->load.total == 0 ? run->load.total : total;
}

/* The code that the clients of this process got most often. */
static void find_top_error(const struct rig_run_state *run, struct rig_progress *progress,
                           char code[RIG_ERROR_CODE_BYTES])
{
    struct rig_run_errors all = {.count = 0};
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_run_client *client = &run->clients[i];
        const uint32_t rows = atomic_load_explicit(&client->live_errors.row_count, memory_order_acquire);
        for (uint32_t row = 0; row < rows; row++) {
            const uint32_t at = rig_run_errors_add(&all, RIG_OUTCOME_FAIL, client->errors.rows[row].code, "");
            all.rows[at].count += rig_run_read(&client->live_errors.counts[row]) - 1;
        }
    }
    rig_run_errors_sort(&all);
    if (all.count == 0)
        return;
    (void)snprintf(code, RIG_ERROR_CODE_BYTES, "%s", all.rows[0].code);
    progress->error = code;
    progress->error_count = all.rows[0].count;
}

/* Texts that the progress borrows. */
struct told {
    char code[RIG_ERROR_CODE_BYTES], faults[128];
};

static struct rig_progress look_at_run(struct rig_run_monitor *monitor, int64_t now_ns, struct told *told)
{
    const struct rig_run_state *run = monitor->run;
    struct rig_progress progress = {.elapsed_ns = now_ns - atomic_load(&run->load.start_ns)};
    bool final = rig_run_phase(run) == RIG_RUN_FINAL;
    progress.phase = rig_run_is_ending(run) ? "ending" : final ? "final reads" : "load";
    sum_counters(run, &progress);
    add_check(monitor, now_ns, &progress);
    progress.rate = recent_rate(monitor, now_ns, progress.done);
    refresh_latency(monitor, now_ns);
    progress.has_latency = monitor->has_latency && !final;
    progress.p50_ns = monitor->p50_ns;
    progress.p99_ns = monitor->p99_ns;
    if (!final) {
        progress.total = (uint64_t)total_of_all(run);
        progress.duration_ns = run->simulated ? 0 : run->load.duration_ns;
        progress.part = rig_run_load_phase_name(run);
    }
    find_top_error(run, &progress, told->code);
    told->faults[0] = '\0';
    if (run->faults.nemesis != NULL)
        rig_nemesis_describe(run->faults.nemesis, told->faults, sizeof told->faults);
    progress.faults = told->faults;
    return progress;
}

/* Whether a line is due now. Off a terminal the first one comes when one period is over. */
static bool draws(struct rig_run_monitor *monitor, int64_t now_ns)
{
    const struct rig_progress_look look = monitor->run->options->progress;
    const bool line = look.form == RIG_PROGRESS_LINE;
    const int64_t every_ns = line ? draw_every_ns : look.every_ns;
    if (look.form == RIG_PROGRESS_NONE || every_ns == 0 || now_ns < monitor->next_draw_ns)
        return false;
    monitor->next_draw_ns = now_ns + every_ns;
    const bool is_due = line || monitor->drawn;
    monitor->drawn = true;
    return is_due;
}

static void draw(struct rig_run_monitor *monitor, int64_t now_ns)
{
    const struct rig_progress_look look = monitor->run->options->progress;
    if (atomic_load(&monitor->run->load.start_ns) == 0)
        return;
    const bool saves = look.file != NULL && now_ns >= monitor->next_file_ns, shows = draws(monitor, now_ns);
    if (!saves && !shows)
        return;
    struct told told;
    const struct rig_progress progress = look_at_run(monitor, now_ns, &told);
    if (saves) {
        monitor->next_file_ns = now_ns + RIG_PROGRESS_FILE_NS;
        rig_progress_save(&progress, look.file);
    }
    if (shows)
        rig_progress_show(&progress, look.form, look.form == RIG_PROGRESS_LINE ? terminal_columns() : 0, stderr);
}

/* -- the thread ---------------------------------------------------------------------------------------------------- */

/* Waits for the next tick; false when the run is over. */
static bool wait_for_tick(struct rig_run_monitor *monitor)
{
    const int64_t at_ns = rig_clock_now_ns() + tick_ns;
    const struct timespec at = {.tv_sec = at_ns / RIG_NS_PER_S, .tv_nsec = at_ns % RIG_NS_PER_S};
    int error = 0;
    pthread_mutex_lock(&monitor->lock);
    while (!monitor->leaving && error == 0)
        error = pthread_cond_timedwait(&monitor->wake, &monitor->lock, &at);
    const bool goes_on = !monitor->leaving;
    pthread_mutex_unlock(&monitor->lock);
    return goes_on;
}

static void *monitor_main(void *argument)
{
    struct rig_run_monitor *monitor = argument;
    while (wait_for_tick(monitor)) {
        int64_t now_ns = rig_clock_now_ns();
        watch_interrupts(monitor);
        watch_time(monitor->run, now_ns);
        watch_recorder(monitor->run);
        rig_run_part_watch(monitor->run);
        watch_check(monitor->run);
        watch_sessions(monitor, now_ns);
        watch_clients(monitor, now_ns);
        note_moment(monitor, now_ns);
        look_at_answers(monitor, now_ns);
        draw(monitor, now_ns);
    }
    return NULL;
}

static void init_locks(struct rig_run_monitor *monitor)
{
    pthread_condattr_t attributes;
    RIG_INVARIANT(pthread_condattr_init(&attributes) == 0);
    RIG_INVARIANT(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    RIG_INVARIANT(pthread_cond_init(&monitor->wake, &attributes) == 0);
    (void)pthread_condattr_destroy(&attributes);
    RIG_INVARIANT(pthread_mutex_init(&monitor->lock, NULL) == 0);
}

static void destroy(struct rig_run_monitor *monitor)
{
    (void)pthread_cond_destroy(&monitor->wake);
    (void)pthread_mutex_destroy(&monitor->lock);
    free(monitor);
}

enum rig_rc rig_run_monitor_start(struct rig_run_state *run, struct rig_run_monitor **monitor, struct rig_err *err)
{
    struct rig_run_monitor *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_no_memory(err, "the monitor");
    made->run = run;
    init_locks(made);
    int error = rig_thread_start(&made->thread, monitor_main, made);
    if (error != 0) {
        destroy(made);
        return rig_fail(err, RIG_E_LIMIT, "cannot start the monitor's thread: %s", strerror(error));
    }
    *monitor = made;
    return RIG_OK;
}

void rig_run_monitor_stop(struct rig_run_monitor *monitor)
{
    if (monitor == NULL)
        return;
    pthread_mutex_lock(&monitor->lock);
    monitor->leaving = true;
    (void)pthread_cond_signal(&monitor->wake);
    pthread_mutex_unlock(&monitor->lock);
    (void)pthread_join(monitor->thread, NULL);
    watch_interrupts(monitor); /* one that came at the very end counts too */
    look_at_answers(monitor, rig_clock_now_ns());
    if (monitor->drawn)
        rig_progress_clear(monitor->run->options->progress.form, stderr);
    destroy(monitor);
}
