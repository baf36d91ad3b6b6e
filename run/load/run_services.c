#include "run/load/run_services.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "nemesis/journal.h"
#include "run/load/run_state.h"

static const size_t most_elements = ((size_t)64 << 20) / sizeof(int64_t);
enum { FIRST_ELEMENTS = 1024 };
static const int64_t poll_ns = RIG_NS_PER_MS / 2;

static int64_t *core_elements(struct rig_transaction *transaction, size_t count)
{
    size_t used = transaction->element_count;
    RIG_REQUIRE(used <= transaction->element_capacity);
    if (transaction->elements != NULL && count <= transaction->element_capacity - used)
        return transaction->elements + used;
    if (count > most_elements || used > most_elements - count)
        return NULL;
    size_t capacity = transaction->element_capacity == 0 ? FIRST_ELEMENTS : transaction->element_capacity;
    while (capacity < used + count)
        capacity *= 2;
    if (capacity > most_elements)
        capacity = most_elements;
    int64_t *elements = realloc(transaction->elements, capacity * sizeof *elements);
    if (elements == NULL)
        return NULL;
    transaction->elements = elements;
    transaction->element_capacity = capacity;
    return elements + used;
}

static uint64_t commits_of_others(const struct rig_run_client *client)
{
    const struct rig_run_state *run = client->run;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < run->client_count; i++) {
        if (&run->clients[i] != client)
            sum += rig_run_read(&run->clients[i].counts.ok);
    }
    return sum;
}

/* No client is left that could commit: every client is past its phase or holds a transaction open itself. */
static bool others_are_idle(struct rig_run_state *run)
{
    return atomic_load(&run->services.holding) + atomic_load(&run->gate.finished) >= run->client_count;
}

static bool wait_for_hold(struct rig_run_client *client, const struct rig_hold *hold)
{
    struct rig_run_state *run = client->run;
    int64_t now_ns = rig_clock_now_ns();
    bool timed = hold->duration_ns > 0, counted = hold->other_commits > 0;
    int64_t until_ns = timed ? now_ns + hold->duration_ns : INT64_MAX;
    uint64_t until_commits = counted ? commits_of_others(client) + hold->other_commits : 0;
    while (timed || counted) {
        if (rig_run_is_ending(run))
            return false;
        if (timed && now_ns >= until_ns)
            return true;
        if (counted && commits_of_others(client) >= until_commits)
            return true;
        if (!timed && others_are_idle(run))
            return false;
        int64_t next_ns = now_ns + poll_ns;
        rig_clock_sleep_until_ns(next_ns < until_ns ? next_ns : until_ns);
        now_ns = rig_clock_now_ns();
    }
    return true;
}

static bool core_hold(struct rig_transaction *transaction)
{
    struct rig_run_client *client = transaction->core_private;
    RIG_REQUIRE(client != NULL);
    (void)atomic_fetch_add(&client->run->services.holding, 1);
    const int64_t from_ns = rig_clock_now_ns();
    bool held = wait_for_hold(client, &transaction->hold);
    (void)atomic_fetch_sub(&client->run->services.holding, 1);
    rig_column_give(&transaction->columns, RIG_COLUMN_HELD, rig_clock_now_ns() - from_ns);
    rig_column_give(&transaction->columns, RIG_COLUMN_HELD_BEFORE, transaction->hold.before_op);
    return held;
}

static bool core_delay(struct rig_transaction *transaction)
{
    return rig_run_pause_between(transaction->core_private);
}

/* -- what the functions of a slot do for its run ------------------------------------------------------------------- */

static bool is_stopping(const struct rig_run_state *run)
{
    return rig_run_interrupts(run) > 0 || rig_run_stopped(run) >= RIG_STOP_END;
}

static bool is_routed(const struct rig_run_state *run)
{
    return run->faults.setup.proxy != NULL;
}

static enum rig_rc route(struct rig_run_state *run, const char *from, const char *to, const char *host, uint16_t port,
                         uint16_t *via, struct rig_err *err)
{
    if (is_routed(run))
        return rig_proxy_route(run->faults.setup.proxy, from, to, host, port, via, err);
    *via = port;
    return RIG_OK;
}

static uint64_t remind(struct rig_run_state *run, const char *text)
{
    uint64_t token = 0;
    struct rig_err err = {.rc = RIG_OK};
    if (run->folder.journal != NULL && rig_journal_note(run->folder.journal, text, &token, &err) != RIG_OK)
        rig_log(RIG_LOG_WARN, "run", "%s", err.text);
    return token;
}

static void forget(struct rig_run_state *run, uint64_t reminder)
{
    if (run->folder.journal != NULL)
        rig_journal_forget(run->folder.journal, reminder);
}

static bool server_ended(struct rig_run_state *run, const struct rig_server_end *end)
{
    return rig_run_crashes_note(&run->crashes, end);
}

/* -- slots --------------------------------------------------------------------------------------------------------- */

static struct slot {
    _Atomic(struct rig_run_state *) run; /* NULL: the slot is free */
    /* rig_bug() kills it; NULL: nothing. */
    _Atomic(const struct rig_cluster_ops *) cluster;
    void *_Atomic driver_run;
} slots[RIG_RUNS_MOST];

static struct rig_run_state *run_of(unsigned slot)
{
    struct rig_run_state *run = atomic_load(&slots[slot].run);
    RIG_REQUIRE(run != NULL); /* a driver calls after its `done` has returned */
    return run;
}

#define SLOTS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

RIG_PRINTF(4, 0)
static void log_entry(unsigned slot, int level, const char *area, const char *format, va_list arguments)
{
    char text[2048];
    (void)vsnprintf(text, sizeof text, format, arguments);
    const enum rig_log_level known = level <= 0   ? RIG_LOG_ERROR
                                     : level == 1 ? RIG_LOG_WARN
                                     : level == 2 ? RIG_LOG_INFO
                                                  : RIG_LOG_DEBUG;
    rig_log_into(run_of(slot)->services.log, known, area, "%s", text);
}

#define SLOT_FUNCTIONS(n)                                                                                              \
    RIG_PRINTF(3, 4) static void log_##n(int level, const char *area, const char *format, ...)                         \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        va_start(arguments, format);                                                                                   \
        log_entry(n, level, area, format, arguments);                                                                  \
        va_end(arguments);                                                                                             \
    }                                                                                                                  \
    static bool stopping_##n(void)                                                                                     \
    {                                                                                                                  \
        return is_stopping(run_of(n));                                                                                 \
    }                                                                                                                  \
    static bool routed_##n(void)                                                                                       \
    {                                                                                                                  \
        return is_routed(run_of(n));                                                                                   \
    }                                                                                                                  \
    static enum rig_rc route_##n(const char *from, const char *to, const char *host, uint16_t port, uint16_t *via,     \
                                 struct rig_err *err)                                                                  \
    {                                                                                                                  \
        return route(run_of(n), from, to, host, port, via, err);                                                       \
    }                                                                                                                  \
    static int64_t name_##n(const char *text)                                                                          \
    {                                                                                                                  \
        return rig_names_number(&run_of(n)->services.names, text);                                                     \
    }                                                                                                                  \
    static uint64_t remind_##n(const char *text)                                                                       \
    {                                                                                                                  \
        return remind(run_of(n), text);                                                                                \
    }                                                                                                                  \
    static void forget_##n(uint64_t reminder)                                                                          \
    {                                                                                                                  \
        forget(run_of(n), reminder);                                                                                   \
    }                                                                                                                  \
    static bool server_ended_##n(const struct rig_server_end *end)                                                     \
    {                                                                                                                  \
        return server_ended(run_of(n), end);                                                                           \
    }
SLOTS(SLOT_FUNCTIONS)

#define SLOT_CORE(n)                                                                                                   \
    {.abi = RIG_DRIVER_ABI,                                                                                            \
     .log = log_##n,                                                                                                   \
     .now_ns = rig_clock_now_ns,                                                                                       \
     .elements = core_elements,                                                                                        \
     .hold = core_hold,                                                                                                \
     .delay = core_delay,                                                                                              \
     .stopping = stopping_##n,                                                                                         \
     .route = route_##n,                                                                                               \
     .routed = routed_##n,                                                                                             \
     .name = name_##n,                                                                                                 \
     .remind = remind_##n,                                                                                             \
     .forget = forget_##n,                                                                                             \
     .server_ended = server_ended_##n},
static const struct rig_core cores[] = {SLOTS(SLOT_CORE)};
_Static_assert(sizeof cores / sizeof cores[0] == RIG_RUNS_MOST, "a core for each slot");

/* -- life ---------------------------------------------------------------------------------------------------------- */

enum rig_rc rig_run_services_init(struct rig_run_state *run, struct rig_err *err)
{
    rig_names_init(&run->services.names);
    run->services.log = rig_log_share();
    for (uint32_t i = 0; i < RIG_RUNS_MOST; i++) {
        struct rig_run_state *none = NULL;
        if (!atomic_compare_exchange_strong(&slots[i].run, &none, run))
            continue;
        run->services.slot = i;
        run->services.core = &cores[i];
        return RIG_OK;
    }
    return rig_fail(err, RIG_E_LIMIT, "%d runs are under way in this process, and it can have no more at once",
                    RIG_RUNS_MOST);
}

void rig_run_services_done(struct rig_run_state *run)
{
    if (run->services.core != NULL)
        atomic_store(&slots[run->services.slot].run, NULL);
    run->services.core = NULL;
    rig_names_done(&run->services.names);
    rig_log_release(run->services.log);
}

static void kill_clusters(void)
{
    for (uint32_t i = 0; i < RIG_RUNS_MOST; i++) {
        const struct rig_cluster_ops *cluster = atomic_load(&slots[i].cluster);
        if (cluster != NULL)
            cluster->kill_now(atomic_load(&slots[i].driver_run));
    }
}

void rig_run_services_note_cluster(const struct rig_run_state *run)
{
    struct slot *slot = &slots[run->services.slot];
    atomic_store(&slot->driver_run, run->driver_run);
    atomic_store(&slot->cluster, run->driver->cluster);
    rig_bug_on_exit(kill_clusters);
}

void rig_run_services_forget_cluster(const struct rig_run_state *run)
{
    atomic_store(&slots[run->services.slot].cluster, NULL);
}
