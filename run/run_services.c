#include "run/run_services.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "nemesis/journal.h"
#include "run/run_signals.h"
#include "run/run_state.h"

static const size_t most_elements = ((size_t)64 << 20) / sizeof(int64_t);
enum { FIRST_ELEMENTS = 1024 };
static const int64_t poll_ns = RIG_NS_PER_MS / 2;

static _Atomic(struct rig_run_state *) attached;

void rig_run_services_attach(struct rig_run_state *run)
{
    atomic_store(&attached, run);
}

RIG_PRINTF(3, 4) static void core_log(int level, const char *area, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    enum rig_log_level known = level <= 0   ? RIG_LOG_ERROR
                               : level == 1 ? RIG_LOG_WARN
                               : level == 2 ? RIG_LOG_INFO
                                            : RIG_LOG_DEBUG;
    rig_log(known, area, "%s", text);
}

static int64_t *core_elements(struct rig_transaction *transaction, size_t count)
{
    size_t used = transaction->element_count;
    RIG_REQUIRE(used <= transaction->element_capacity);
    if (count <= transaction->element_capacity - used)
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
        if (i != client->index)
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

static bool core_stopping(void)
{
    struct rig_run_state *run = atomic_load(&attached);
    return rig_run_signals_count() > 0 || (run != NULL && rig_run_stopped(run) >= RIG_STOP_END);
}

static enum rig_rc core_route(const char *from, const char *to, const char *host, uint16_t port, uint16_t *via,
                              struct rig_err *err)
{
    struct rig_run_state *run = atomic_load(&attached);
    if (run != NULL && run->faults.setup.proxy != NULL)
        return rig_proxy_route(run->faults.setup.proxy, from, to, host, port, via, err);
    *via = port;
    return RIG_OK;
}

static bool core_routed(void)
{
    const struct rig_run_state *run = atomic_load(&attached);
    return run != NULL && run->faults.setup.proxy != NULL;
}

static int64_t core_name(const char *text)
{
    struct rig_run_state *run = atomic_load(&attached);
    return run == NULL ? RIG_COLUMN_NONE : rig_names_number(&run->services.names, text);
}

static uint64_t core_remind(const char *text)
{
    struct rig_run_state *run = atomic_load(&attached);
    uint64_t token = 0;
    struct rig_err err = {.rc = RIG_OK};
    if (run != NULL && run->folder.journal != NULL &&
        rig_journal_note(run->folder.journal, text, &token, &err) != RIG_OK)
        rig_log(RIG_LOG_WARN, "run", "%s", err.text);
    return token;
}

static void core_forget(uint64_t reminder)
{
    struct rig_run_state *run = atomic_load(&attached);
    if (run != NULL && run->folder.journal != NULL)
        rig_journal_forget(run->folder.journal, reminder);
}

const struct rig_core rig_run_core = {
    .abi = RIG_DRIVER_ABI,
    .log = core_log,
    .now_ns = rig_clock_now_ns,
    .elements = core_elements,
    .hold = core_hold,
    .stopping = core_stopping,
    .route = core_route,
    .routed = core_routed,
    .name = core_name,
    .remind = core_remind,
    .forget = core_forget,
};
