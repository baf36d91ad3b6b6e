#include "run/load/online.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/plural.h"
#include "base/thread.h"
#include "checker/judge/stream/stream.h"
#include "history/source/source.h"
#include "history/types/row_names.h"

/* Where the processors are busy with the run, about a tenth of one is left for the check; a quarter where the run waits
   for what it finds. */
enum { NICE = 10, NICE_AND_PROMPT = 5 };
/* The recorder writes a frame every 200 ms, or when it has enough for one. */
static const int64_t poll_ns = 50 * RIG_NS_PER_MS;
/* Between two looks at the record: at least 100 ms, and ten times the time of the last look. */
static const int64_t least_look_ns = 100 * RIG_NS_PER_MS;
static const int64_t looks_apart = 10;
/* It starts over at most twice because of a key that came back, and then waits 8 times as long before a key counts as
 * finished. */
enum { MOST_PATIENCE = 2, PATIENCE = 8 };

struct rig_online {
    char *path;
    enum rig_workload workload;
    const struct rig_check_section *check;
    bool prompt;  /* the run ends on what is found */
    bool partial; /* other records of the run are not seen */
    /* of the thread; of the caller once it was joined */
    struct rig_source *source;
    struct rig_stream *windows;
    unsigned contradicted; /* assumptions that do not hold */
    unsigned patience;     /* how often it started over because of a key */
    unsigned begun;        /* how often it started, the first time included */
    struct rig_err err;    /* why it cannot go on */
    bool at_end;           /* of the settled record */
    bool settled;          /* the source knows */
    uint64_t looked_at;    /* `checked` then */
    int64_t next_look_ns;
    struct rig_verdict *verdict;
    /* between the threads */
    pthread_t thread;
    bool started;
    atomic_bool complete; /* the record is */
    atomic_bool leaving;
    atomic_bool given_up; /* it cannot go on */
    pthread_mutex_t lock; /* innermost; only for waking the thread */
    pthread_cond_t wake;
    _Atomic uint64_t checked;
    _Atomic uint64_t found[RIG_ANOMALY_COUNT];
    _Atomic int first_forbidden; /* RIG_ANOMALY_COUNT: none yet */
};

/* -- what was found ------------------------------------------------------------------------------------------------ */

static void note_found(struct rig_online *online, enum rig_anomaly anomaly, uint64_t count)
{
    uint64_t before = atomic_load_explicit(&online->found[anomaly], memory_order_relaxed);
    if (count > before) /* counts of cycles are lower bounds, and another look may have another */
        atomic_store_explicit(&online->found[anomaly], count, memory_order_relaxed);
    if (before == 0 && count > 0)
        rig_log(RIG_LOG_INFO, "check", "found the first %s, within %llu transaction%s", rig_anomaly_info(anomaly)->name,
                (unsigned long long)rig_online_checked(online), rig_plural(rig_online_checked(online)));
}

/* Notes the first anomaly found that was requested, or that refutes a requested level by itself. */
static void note_forbidden(struct rig_online *online, const struct rig_stream_interim *interim)
{
    rig_anomaly_set forbidden = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((online->check->anomalies & RIG_ANOMALY_BIT(anomaly)) != 0)
            forbidden |= rig_anomaly_cases((enum rig_anomaly)anomaly);
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        int none = RIG_ANOMALY_COUNT;
        const bool is_asked = (forbidden & RIG_ANOMALY_BIT(anomaly)) != 0;
        if (interim->count[anomaly] > 0 && (is_asked || (online->check->levels & interim->refutes[anomaly]) != 0))
            (void)atomic_compare_exchange_strong(&online->first_forbidden, &none, (int)anomaly);
    }
}

/* Drops the findings: the assumption that they rest on does not hold. */
static void forget_found(struct rig_online *online)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        atomic_store_explicit(&online->found[anomaly], 0, memory_order_relaxed);
    atomic_store(&online->first_forbidden, (int)RIG_ANOMALY_COUNT);
}

/* The processor's time that this thread has had: it often waits for its turn. */
static int64_t own_ns(void)
{
    struct timespec time;
    RIG_INVARIANT(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
    return (int64_t)time.tv_sec * RIG_NS_PER_S + time.tv_nsec;
}

/* Looks at what there is so far, not so often that it would take much of the time. */
static bool look(struct rig_online *online)
{
    int64_t now_ns = rig_clock_now_ns(), start_ns = own_ns();
    uint64_t checked = rig_online_checked(online);
    if (checked == online->looked_at || now_ns < online->next_look_ns)
        return true;
    online->looked_at = checked;
    struct rig_stream_interim interim;
    if (rig_stream_interim(online->windows, &interim, &online->err) != RIG_OK)
        return false;
    if ((interim.contradicted & ~online->contradicted) != 0)
        forget_found(online);
    online->contradicted |= interim.contradicted;
    if (online->partial)
        interim.count[RIG_ANOMALY_GARBAGE_READ] = 0; /* another rank may have written it */
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        note_found(online, (enum rig_anomaly)anomaly, interim.count[anomaly]);
    note_forbidden(online, &interim);
    int64_t pause_ns = looks_apart * (own_ns() - start_ns);
    online->next_look_ns = rig_clock_now_ns() + (pause_ns > least_look_ns ? pause_ns : least_look_ns);
    return true;
}

void rig_online_found(const struct rig_online *online, uint64_t found[RIG_ANOMALY_COUNT])
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        found[anomaly] = atomic_load_explicit(&online->found[anomaly], memory_order_relaxed);
}

uint64_t rig_online_checked(const struct rig_online *online)
{
    return atomic_load_explicit(&online->checked, memory_order_relaxed);
}

bool rig_online_is_on(const struct rig_online *online)
{
    return !atomic_load(&online->given_up);
}

bool rig_online_forbidden(const struct rig_online *online, enum rig_anomaly *anomaly)
{
    int first = atomic_load(&online->first_forbidden);
    if (first == RIG_ANOMALY_COUNT)
        return false;
    *anomaly = (enum rig_anomaly)first;
    return true;
}

/* -- following the record ------------------------------------------------------------------------------------------ */

static void wait_for_more(struct rig_online *online)
{
    int64_t until_ns = rig_clock_now_ns() + poll_ns;
    const struct timespec until = {.tv_sec = until_ns / RIG_NS_PER_S, .tv_nsec = until_ns % RIG_NS_PER_S};
    pthread_mutex_lock(&online->lock);
    if (!atomic_load(&online->complete) && !atomic_load(&online->leaving))
        (void)pthread_cond_timedwait(&online->wake, &online->lock, &until);
    pthread_mutex_unlock(&online->lock);
}

static enum rig_rc open_check(struct rig_online *online, struct rig_err *err)
{
    const struct rig_check_section *check = online->check;
    const struct rig_source_options source = {
        .load = {.form = RIG_FORM_RIG, .workload = online->workload}, .threads = 1, .follow = true};
    struct rig_stream_options windows = {.check = {.levels = check->levels,
                                                   .anomalies = check->anomalies,
                                                   .assumptions = check->assumptions,
                                                   .total = check->total,
                                                   .initial = check->initial,
                                                   .lattice = check->lattice,
                                                   .budget_ns = check->budget_ns,
                                                   .limit_bytes = (size_t)check->online_memory_bytes,
                                                   .max_witnesses = (uint32_t)check->max_witnesses},
                                         .idle = RIG_WINDOWS_IDLE,
                                         .in_windows = true,
                                         .lost = online->partial,
                                         .contradicted = &online->contradicted};
    online->begun++;
    for (unsigned i = 0; i < online->patience; i++)
        windows.idle *= PATIENCE;
    enum rig_rc rc = rig_source_open(online->path, &source, &online->source, err);
    if (rc == RIG_OK) {
        windows.row_names = rig_row_names_of(rig_source_facts(online->source)->meta);
        windows.specification = rig_source_facts(online->source)->specification;
    }
    if (rc == RIG_OK)
        rc = rig_stream_begin(online->workload, &windows, &online->windows, err);
    return rc;
}

static void close_check(struct rig_online *online)
{
    rig_stream_free(online->windows);
    rig_source_close(online->source);
    online->windows = NULL;
    online->source = NULL;
}

/*
 * From the beginning of the record, which takes a fraction of the time that the run took for it: without the assumption
 * that does not hold, or with more patience for keys. False when there is a conflict that neither helps against.
 */
static bool start_over(struct rig_online *online, unsigned contradicted, const char *conflict)
{
    bool of_assumptions = online->contradicted != contradicted;
    online->patience += !of_assumptions;
    if (online->patience > MOST_PATIENCE || atomic_load(&online->complete)) {
        (void)rig_fail(&online->err, RIG_E_LIMIT, "%s", conflict);
        return false;
    }
    rig_log(RIG_LOG_INFO, "check", "the check during the run starts over: %s", conflict);
    close_check(online);
    if (of_assumptions)
        forget_found(online);
    online->settled = online->at_end = false;
    online->looked_at = 0;
    atomic_store_explicit(&online->checked, 0, memory_order_relaxed);
    return open_check(online, &online->err) == RIG_OK;
}

/* False when there is a conflict for good: something happened to a key that was taken to be done with. */
static bool feed(struct rig_online *online, const struct rig_segment *segment)
{
    const unsigned contradicted = online->contradicted;
    if (rig_stream_feed(online->windows, segment, &online->err) != RIG_OK)
        return false;
    const char *conflict = rig_stream_conflict(online->windows);
    if (conflict != NULL)
        return start_over(online, contradicted, conflict);
    atomic_store_explicit(&online->checked, rig_online_checked(online) + segment->txns.count, memory_order_relaxed);
    return true;
}

/* The next stretch of the record, if there is one. False when it cannot go on. */
static bool check_next(struct rig_online *online)
{
    /* Asked before the source is: what it then says of the end holds for the whole record. */
    if (atomic_load(&online->complete) && !online->settled) {
        rig_source_settle(online->source);
        online->settled = true;
    }
    const struct rig_segment *segment = NULL;
    if (rig_source_next(online->source, &segment, &online->err) != RIG_OK)
        return false;
    if (segment != NULL)
        return feed(online, segment);
    online->at_end = online->settled;
    return true;
}

static void give_up(struct rig_online *online)
{
    atomic_store(&online->given_up, true);
    rig_log(RIG_LOG_WARN, "check",
            "the check during the run cannot continue%s; the record is checked from its beginning afterwards: %s",
            online->err.rc == RIG_E_LIMIT ? " within check.online-memory" : "", online->err.text);
}

static void *online_main(void *argument)
{
    struct rig_online *online = argument;
    /* The clients and the database come first; where that is refused, the check is only less modest. */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), online->prompt ? NICE_AND_PROMPT : NICE);
    bool goes_on = true;
    while (goes_on && !atomic_load(&online->leaving) && !online->at_end) {
        uint64_t before = rig_online_checked(online);
        goes_on = check_next(online) && look(online);
        if (goes_on && !online->at_end && rig_online_checked(online) == before)
            wait_for_more(online);
    }
    if (!goes_on)
        give_up(online);
    return NULL;
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

static void init_locks(struct rig_online *online)
{
    pthread_condattr_t attributes;
    RIG_INVARIANT(pthread_mutex_init(&online->lock, NULL) == 0);
    RIG_INVARIANT(pthread_condattr_init(&attributes) == 0);
    RIG_INVARIANT(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    RIG_INVARIANT(pthread_cond_init(&online->wake, &attributes) == 0);
    (void)pthread_condattr_destroy(&attributes);
}

static enum rig_rc start_thread(struct rig_online *online, struct rig_err *err)
{
    int error = rig_thread_start(&online->thread, online_main, online);
    online->started = error == 0;
    return error == 0 ? RIG_OK : rig_fail(err, RIG_E_LIMIT, "cannot start the checking thread: %s", strerror(error));
}

enum rig_rc rig_online_start(const struct rig_online_options *options, struct rig_online **online, struct rig_err *err)
{
    struct rig_online *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_no_memory(err, "the check during the run");
    init_locks(made);
    made->workload = options->workload;
    made->check = options->check;
    made->path = strdup(options->path);
    made->partial = options->partial;
    made->prompt = options->check->stop_on != RIG_STOP_ON_NOTHING;
    atomic_store(&made->first_forbidden, (int)RIG_ANOMALY_COUNT);
    enum rig_rc rc = made->path == NULL ? rig_no_memory(err, "the check during the run") : open_check(made, err);
    if (rc == RIG_OK)
        rc = start_thread(made, err);
    if (rc == RIG_OK)
        *online = made;
    else
        rig_online_free(made);
    return rc;
}

static void wake_thread(struct rig_online *online, atomic_bool *reason)
{
    pthread_mutex_lock(&online->lock);
    atomic_store(reason, true);
    (void)pthread_cond_signal(&online->wake);
    pthread_mutex_unlock(&online->lock);
}

static void stop_thread(struct rig_online *online)
{
    if (!online->started)
        return;
    wake_thread(online, &online->leaving);
    (void)pthread_join(online->thread, NULL);
    online->started = false;
}

void rig_online_settle(struct rig_online *online)
{
    wake_thread(online, &online->complete);
}

static void tell(const struct rig_online *online, const struct rig_check_watch *watch)
{
    struct rig_check_progress progress = {.txn_count = rig_online_checked(online),
                                          .share = rig_source_share(online->source),
                                          .pass = 1,
                                          .is_read = online->at_end};
    rig_online_found(online, progress.found);
    if (watch != NULL)
        watch->tell(watch->context, &progress);
}

/* Whether windows left a level open that the whole history may decide. */
static bool leaves_open(const struct rig_verdict *verdict)
{
    bool open = false;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        open |=
            (verdict->scope.apart & RIG_LEVEL_BIT(level)) != 0 && verdict->levels[level].fate == RIG_FATE_NOT_REFUTED;
    return open;
}

struct rig_verdict *rig_online_finish(struct rig_online *online, const struct rig_check_watch *watch)
{
    RIG_REQUIRE(atomic_load(&online->complete) && online->verdict == NULL && !online->partial);
    stop_thread(online);
    if (online->err.rc != RIG_OK)
        return NULL;
    bool goes_on = true;
    tell(online, watch); /* from here on the line counts */
    while (goes_on && !online->at_end) {
        goes_on = check_next(online);
        tell(online, watch);
    }
    if (goes_on) {
        struct rig_stream *windows = online->windows;
        const unsigned contradicted = online->contradicted;
        online->windows = NULL; /* freed in any case */
        goes_on =
            rig_stream_finish(windows, rig_source_facts(online->source), &online->verdict, &online->err) == RIG_OK;
        if (online->verdict != NULL && rig_source_facts(online->source)->certificate != NULL) {
            rig_verdict_free(online->verdict);
            online->verdict = NULL;
            (void)rig_fail(&online->err, RIG_E_LIMIT, "a certificate is compared with the whole history");
            goes_on = false;
        } else if (online->verdict != NULL && leaves_open(online->verdict)) {
            rig_verdict_free(online->verdict);
            online->verdict = NULL;
            (void)rig_fail(&online->err, RIG_E_LIMIT, "some levels are open without the whole history");
            goes_on = false;
        } else if (online->verdict != NULL) {
            online->verdict->cost.pass_count = online->begun;
        } else if (goes_on) {
            (void)rig_fail(&online->err, RIG_E_LIMIT, "%s",
                           online->contradicted != contradicted ? "what was assumed does not hold of all keys"
                                                                : "next to nothing was observed");
            goes_on = false;
        }
    }
    if (!goes_on)
        give_up(online);
    return online->verdict;
}

void rig_online_free(struct rig_online *online)
{
    if (online == NULL)
        return;
    stop_thread(online);
    rig_verdict_free(online->verdict);
    close_check(online);
    free(online->path);
    (void)pthread_cond_destroy(&online->wake);
    (void)pthread_mutex_destroy(&online->lock);
    free(online);
}
