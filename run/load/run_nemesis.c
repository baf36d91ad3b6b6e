#include "run/load/run_nemesis.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/plural.h"
#include "base/printable.h"
#include "base/secret.h"
#include "run/load/run_state.h"

void rig_run_crashes_init(struct rig_run_crashes *crashes)
{
    *crashes = (struct rig_run_crashes){.count = 0};
    RIG_INVARIANT(pthread_mutex_init(&crashes->lock, NULL) == 0);
}

void rig_run_crashes_done(struct rig_run_crashes *crashes)
{
    (void)pthread_mutex_destroy(&crashes->lock);
}

/* The place of a fault that lasts: that of the same fault on the same targets, or an empty one. */
static struct rig_run_ending_fault *place_to_last(struct rig_run_crashes *crashes, const char *targets)
{
    for (uint32_t i = RIG_NEMESIS_UNDER_WAY_MOST; i < RIG_NEMESIS_UNDER_WAY_MOST + RIG_NODES_MOST; i++) {
        struct rig_run_ending_fault *at = &crashes->faults[i];
        if (at->injection == 0 || strcmp(at->targets, targets) == 0)
            return at;
    }
    return &crashes->faults[RIG_NEMESIS_UNDER_WAY_MOST];
}

static void end_fault(struct rig_run_crashes *crashes, struct rig_run_ending_fault *fault)
{
    if (fault->lasts)
        *place_to_last(crashes, fault->targets) = *fault;
    fault->injection = 0;
}

/* A step of a fault. `cluster`: the driver's, may be NULL. */
static void run_crashes_note_fault(struct rig_run_crashes *crashes, const struct rig_cluster_ops *cluster,
                                   const struct rig_nemesis_event *event)
{
    const struct rig_fault *fault = rig_fault_find(cluster, event->fault);
    if (fault == NULL || (fault->needs & RIG_FAULT_ENDS) == 0)
        return;
    (void)pthread_mutex_lock(&crashes->lock);
    struct rig_run_ending_fault *at = &crashes->faults[event->slot];
    if (event->step == RIG_NEMESIS_INJECT) {
        at->injection = event->injection;
        at->lasts = (fault->needs & RIG_FAULT_LASTS) != 0;
        (void)snprintf(at->fault, sizeof at->fault, "%s", event->fault);
        (void)snprintf(at->targets, sizeof at->targets, "%s", event->targets);
    } else if (event->step == RIG_NEMESIS_HEALED && at->injection == event->injection) {
        end_fault(crashes, at);
    }
    (void)pthread_mutex_unlock(&crashes->lock);
}

/* Whether "node-1, node-2" has the node. */
static bool names_node(const char *targets, const char *node)
{
    const size_t length = strlen(node);
    for (const char *at = strstr(targets, node); at != NULL; at = strstr(at + 1, node)) {
        const bool begins = at == targets || at[-1] == ' ';
        if (begins && (at[length] == '\0' || at[length] == ','))
            return true;
    }
    return false;
}

/* A fault without targets can affect each node. */
static const char *find_fault(const struct rig_run_crashes *crashes, const char *node)
{
    for (uint32_t i = 0; i < RIG_NEMESIS_UNDER_WAY_MOST + RIG_NODES_MOST; i++) {
        const struct rig_run_ending_fault *fault = &crashes->faults[i];
        if (fault->injection > 0 && (fault->targets[0] == '\0' || names_node(fault->targets, node)))
            return fault->fault;
    }
    return NULL;
}

static void say(const struct rig_run_crash *crash)
{
    char how[96];
    if (crash->signal != 0)
        (void)snprintf(how, sizeof how, "was killed by signal %d (%s)", crash->signal, strsignal(crash->signal));
    else
        (void)snprintf(how, sizeof how, "ended with exit status %d", crash->exit_status);
    rig_log(RIG_LOG_ERROR, "run", "%s %s, although rig did not end it%s%s; its log ends: %s", crash->node, how,
            crash->fault[0] == '\0' ? "" : "; in effect: ", crash->fault, crash->log_tail);
}

bool rig_run_crashes_note(struct rig_run_crashes *crashes, const struct rig_server_end *end)
{
    struct rig_run_crash crash = {.signal = end->signal, .exit_status = end->exit_status, .at_ns = rig_clock_now_ns()};
    (void)snprintf(crash.node, sizeof crash.node, "%s", end->node);
    (void)snprintf(crash.log_tail, sizeof crash.log_tail, "%s", end->log_tail);
    rig_secret_redact(crash.log_tail, sizeof crash.log_tail);
    rig_printable_line(crash.log_tail);
    (void)pthread_mutex_lock(&crashes->lock);
    const char *fault = find_fault(crashes, end->node);
    (void)snprintf(crash.fault, sizeof crash.fault, "%s", fault == NULL ? "" : fault);
    /* A fault that lasts is over: what it left does not keep the node down. */
    bool under_way = false;
    for (uint32_t i = 0; i < RIG_NEMESIS_UNDER_WAY_MOST && fault != NULL; i++)
        under_way |= crashes->faults[i].fault == fault;
    if (crashes->count < RIG_RUN_CRASHES_MOST)
        crashes->kept[crashes->count++] = crash;
    (void)pthread_mutex_unlock(&crashes->lock);
    say(&crash);
    return !under_way;
}

uint32_t rig_run_crashes_take(struct rig_run_crashes *crashes, int64_t load_ns,
                              struct rig_run_crash taken[RIG_RUN_CRASHES_MOST])
{
    (void)pthread_mutex_lock(&crashes->lock);
    const uint32_t count = crashes->count;
    for (uint32_t i = 0; i < count; i++) {
        taken[i] = crashes->kept[i];
        taken[i].at_ns = load_ns == 0 ? -1 : taken[i].at_ns - load_ns;
    }
    (void)pthread_mutex_unlock(&crashes->lock);
    return count;
}

static bool is_started(const struct rig_plan *plan)
{
    const struct rig_cluster_ops *cluster = plan->driver->cluster;
    return cluster != NULL && cluster->wanted(plan->driver_options);
}

static struct rig_fault_footing footing_of(const struct rig_plan *plan)
{
    const struct rig_cluster_ops *cluster = plan->driver->cluster;
    return (struct rig_fault_footing){
        .cluster = cluster,
        .lacks = cluster == NULL || cluster->lacks == NULL ? 0 : cluster->lacks(plan->driver_options),
        .started = is_started(plan),
        .routes = (plan->driver->features & RIG_DRIVER_ROUTES) != 0,
        .nodes = plan->nemesis.nodes,
        .node_count = plan->nemesis.node_count};
}

enum rig_rc rig_run_nemesis_check(const struct rig_plan *plan, struct rig_err *err)
{
    const struct rig_fault_footing footing = footing_of(plan);
    if (plan->nemesis.entry_count == 0)
        return RIG_OK;
    if (plan->driver->now_ns != NULL)
        return rig_fail(err, RIG_E_PLAN,
                        "nemesis: the driver %s simulates its clock and nodes: there is nothing that a fault could "
                        "affect",
                        plan->driver->name);
    char text[RIG_ERR_TEXT_BYTES] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < plan->nemesis.entry_count; i++) {
        const struct rig_nemesis_entry *entry = &plan->nemesis.entries[i];
        char why[512];
        if (rig_fault_is_possible(entry->fault, &footing, entry->options, why, sizeof why) ||
            strstr(text, why) != NULL || used >= sizeof text)
            continue;
        const int length = snprintf(text + used, sizeof text - used, "%s%s", used == 0 ? "" : "; ", why);
        used += length < 0 ? 0 : (size_t)length;
    }
    return used == 0 ? RIG_OK : rig_fail(err, RIG_E_PLAN, "nemesis: %s", text);
}

/* -- what the nemesis says ----------------------------------------------------------------------------------------- */

void rig_run_nemesis_count(const struct rig_run_state *run, uint64_t counts[3])
{
    memset(counts, 0, 3 * sizeof counts[0]);
    for (uint32_t i = 0; i < run->client_count; i++) {
        counts[RIG_OUTCOME_OK] += rig_run_read(&run->clients[i].counts.ok);
        counts[RIG_OUTCOME_FAIL] += rig_run_read(&run->clients[i].counts.fail);
        counts[RIG_OUTCOME_INFO] += rig_run_read(&run->clients[i].counts.info);
    }
}

static void take_difference(const uint64_t now[3], const uint64_t before[3], struct rig_fault_event *recorded)
{
    recorded->ok = now[RIG_OUTCOME_OK] - before[RIG_OUTCOME_OK];
    recorded->fail = now[RIG_OUTCOME_FAIL] - before[RIG_OUTCOME_FAIL];
    recorded->info = now[RIG_OUTCOME_INFO] - before[RIG_OUTCOME_INFO];
}

/* Counts the transactions completed before the injection, while the fault was in effect, and from before its injection
 * until it is healed: some faults happen entirely within their injection. */
static void count_during(struct rig_run_state *run, const struct rig_nemesis_event *event,
                         struct rig_fault_event *recorded)
{
    struct rig_run_under_fault *under = &run->faults.under[event->slot];
    static const uint64_t none[3] = {0};
    uint64_t now[3];
    rig_run_nemesis_count(run, now);
    if (event->step == RIG_NEMESIS_INJECT) {
        memcpy(under->begun, now, sizeof now);
        take_difference(now, none, recorded);
    } else if (event->step == RIG_NEMESIS_INJECTED)
        memcpy(under->in_effect, now, sizeof now);
    else if (event->step == RIG_NEMESIS_HEAL)
        take_difference(now, under->in_effect, recorded);
    else if (event->step == RIG_NEMESIS_HEALED)
        take_difference(now, under->begun, recorded);
}

static void on_event(void *context, const struct rig_nemesis_event *event)
{
    static const enum rig_fault_step steps[] = {
        [RIG_NEMESIS_INJECT] = RIG_FAULT_INJECT,
        [RIG_NEMESIS_INJECTED] = RIG_FAULT_INJECTED,
        [RIG_NEMESIS_HEAL] = RIG_FAULT_HEAL,
        [RIG_NEMESIS_HEALED] = RIG_FAULT_HEALED,
    };
    struct rig_run_state *run = context;
    char text[RIG_ERR_TEXT_BYTES + sizeof RIG_FAULT_WITHDRAWN];
    (void)snprintf(text, sizeof text, "%s%s", event->withdrawn ? RIG_FAULT_WITHDRAWN : "",
                   event->error != NULL ? event->error : event->evidence);
    struct rig_fault_event recorded = {
        .time_ns = event->at_ns,
        .injection = (uint32_t)event->injection,
        .step = (uint8_t)steps[event->step],
        .failed = event->error != NULL,
        .fault = event->fault,
        .targets = event->targets,
        .text = text,
    };
    count_during(run, event, &recorded);
    run_crashes_note_fault(&run->crashes, run->driver->cluster, event);
    pthread_mutex_lock(&run->faults.lock);
    if (run->recorder != NULL)
        rig_recorder_fault(run->recorder, &recorded);
    pthread_mutex_unlock(&run->faults.lock);
}

/* Also when only the last transactions are under way: they may wait for a fault to be healed. */
static bool on_is_over(void *context)
{
    const struct rig_run_state *run = context;
    return rig_run_stopped(run) >= RIG_STOP_LOAD || atomic_load(&run->load.exhausted_ns) != 0;
}

static void on_failed(void *context, const struct rig_err *err)
{
    (void)err;
    rig_run_raise(context, RIG_STOP_END);
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

enum rig_rc rig_run_nemesis_start(struct rig_run_state *run, struct rig_err *err)
{
    const struct rig_plan *plan = run->plan;
    if (plan->nemesis.entry_count == 0)
        return RIG_OK;
    const struct rig_nemesis_config config = {.plan = &plan->nemesis,
                                              .core = run->services.core,
                                              .cluster = plan->driver->cluster,
                                              .run = run->driver_run,
                                              .run_name = run->name,
                                              .started = is_started(plan),
                                              .seed = plan->seed,
                                              .schedule = run->options->schedule,
                                              .setup = &run->faults.setup,
                                              .journal = run->folder.journal,
                                              .context = run,
                                              .event = on_event,
                                              .is_over = on_is_over,
                                              .failed = on_failed};
    return rig_nemesis_start(&config, &run->faults.nemesis, err);
}

enum rig_rc rig_run_nemesis_heal_all(struct rig_run_state *run, struct rig_err *err)
{
    return run->faults.nemesis == NULL
               ? RIG_OK
               : rig_nemesis_heal_all(run->faults.nemesis, rig_run_stopped(run) < RIG_STOP_END, err);
}

void rig_run_nemesis_end(struct rig_run_state *run)
{
    rig_nemesis_free(run->faults.nemesis);
    run->faults.nemesis = NULL;
}

void rig_run_outages_init(struct rig_run_outages *outages)
{
    *outages = (struct rig_run_outages){.count = 0};
    RIG_INVARIANT(pthread_mutex_init(&outages->lock, NULL) == 0);
}

void rig_run_outages_done(struct rig_run_outages *outages)
{
    (void)pthread_mutex_destroy(&outages->lock);
}

static const char *skip_digits(const char *text)
{
    while (isdigit((unsigned char)*text))
        text++;
    return text;
}

static bool is_like(const char *a, const char *b)
{
    for (;;) {
        const char *a_next = skip_digits(a), *b_next = skip_digits(b);
        if ((a_next == a) != (b_next == b) || *a_next != *b_next)
            return false;
        if (*a_next == '\0')
            return true;
        a = a_next + 1;
        b = b_next + 1;
    }
}

static void tell_untold(struct rig_run_outage *kind)
{
    if (kind->untold > 0)
        rig_log(RIG_LOG_WARN, "client", "%" PRIu64 " more attempt%s to connect failed like this: %s", kind->untold,
                rig_plural(kind->untold), kind->text);
    kind->untold = 0;
}

/* The text is of the kind that is returned; `fresh`: it is the first. */
static struct rig_run_outage *find_kind(struct rig_run_outages *outages, const char *text, bool *fresh)
{
    struct rig_run_outage *oldest = &outages->kinds[0];
    *fresh = false;
    for (uint32_t i = 0; i < outages->count; i++) {
        struct rig_run_outage *kind = &outages->kinds[i];
        if (is_like(kind->text, text))
            return kind;
        oldest = kind->told_ns < oldest->told_ns ? kind : oldest;
    }
    *fresh = true;
    if (outages->count < RIG_OUTAGE_KINDS)
        return &outages->kinds[outages->count++];
    tell_untold(oldest);
    return oldest;
}

void rig_run_outages_note(struct rig_run_outages *outages, uint32_t client, const char *text, int64_t now_ns)
{
    char kept[RIG_OUTAGE_TEXT_BYTES];
    bool fresh = false;
    (void)snprintf(kept, sizeof kept, "%s", text);
    pthread_mutex_lock(&outages->lock);
    struct rig_run_outage *kind = find_kind(outages, kept, &fresh);
    if (!fresh && now_ns - kind->told_ns < RIG_OUTAGE_QUIET_NS) {
        kind->untold++;
    } else {
        tell_untold(kind);
        rig_log(RIG_LOG_WARN, "client", "client %" PRIu32 " cannot connect: %s", client, text);
        kind->told_ns = now_ns;
    }
    (void)snprintf(kind->text, sizeof kind->text, "%s", kept);
    pthread_mutex_unlock(&outages->lock);
}

void rig_run_outages_flush(struct rig_run_outages *outages)
{
    pthread_mutex_lock(&outages->lock);
    for (uint32_t i = 0; i < outages->count; i++)
        tell_untold(&outages->kinds[i]);
    outages->count = 0;
    pthread_mutex_unlock(&outages->lock);
}
