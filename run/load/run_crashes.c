#include "run/load/run_crashes.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/secret.h"

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

void rig_run_crashes_note_fault(struct rig_run_crashes *crashes, const struct rig_cluster_ops *cluster,
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
