/*
 * jitter: calls with which the nodes' processes wait for, wake and reach each other take longer, at random.
 *
 * A race inside a server has a window of microseconds. A delay at the moment when one process wakes another holds a
 * process inside such a window, without any change to the server. Delays are distributed log-uniformly: short and long
 * windows are equally likely to be met. Evidence: the number of delayed calls of each kind.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "nemesis/fault_context.h"
#include "nemesis/fault_setup.h"

#define CALL_NAME(name, what) what,
static const char *const call_names[] = {RIG_SHIM_CALL_TABLE(CALL_NAME) NULL};
#undef CALL_NAME

struct options {
    struct rig_text_list calls;
    double chance;
    int64_t least_ns, most_ns;
};

static const struct rig_option table[] = {
    {.name = "calls",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = offsetof(struct options, calls),
     .default_text = "semaphore, wake",
     .choices = call_names,
     .help = "delayed calls; semaphore: after sem_wait and before sem_post; wake: before and after kill(SIGURG), with "
             "which a process wakes another one; disk: after fsync, fdatasync and pwrite; network: before send, after "
             "recv and epoll_wait; clock: after readings of a clock; commit: in PostgreSQL, between the moment when a "
             "commit becomes visible and the release of its locks"},
    {.name = "chance",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct options, chance),
     .default_text = "50%",
     .least = 0.0001,
     .most = 1,
     .help = "chance that a call is delayed"},
    {.name = "delay.min",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, least_ns),
     .default_text = "100us",
     .least = 1e3,
     .most = 10e9,
     .help = "shortest delay"},
    {.name = "delay.max",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, most_ns),
     .default_text = "1500us",
     .least = 1e3,
     .most = 10e9,
     .help = "longest delay; delays are distributed log-uniformly between the two"},
    {.name = NULL},
};

struct target {
    struct rig_shim_jitter *jitter; /* the orders of the node; NULL: none were given */
    _Atomic uint64_t *counts;
    uint64_t before[RIG_SHIM_CALL_COUNT];
};

struct state {
    struct target targets[RIG_NODES_MOST];
};

static bool available(const void *private_options, char *why, size_t size)
{
    const struct options *options = private_options;
    const char *problem = NULL;
    if (options != NULL && options->calls.count == 0)
        problem = "`calls` is empty: no call would be delayed";
    else if (options != NULL && options->least_ns > options->most_ns)
        problem = "`delay.min` is longer than `delay.max`";
    if (problem == NULL)
        return rig_shims_are_there(NULL, why, size);
    (void)snprintf(why, size, "%s", problem);
    return false;
}

static uint32_t bits_of(const struct rig_text_list *calls)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < calls->count; i++) {
        for (uint32_t call = 0; call < RIG_SHIM_CALL_COUNT; call++)
            bits |= strcmp(calls->at[i], call_names[call]) == 0 ? 1U << call : 0;
    }
    return bits;
}

static uint64_t count(const void *context)
{
    const struct target *target = context;
    uint64_t sum = 0;
    for (int call = 0; call < RIG_SHIM_CALL_COUNT; call++)
        sum += atomic_load(&target->counts[call]) - target->before[call];
    return sum;
}

static void order(const struct options *options, uint64_t seed, struct rig_shim_jitter *jitter)
{
    const double ratio = (double)options->most_ns / (double)options->least_ns;
    for (int i = 0; i < RIG_SHIM_DELAYS; i++) {
        const double quantile = (i + 0.5) / RIG_SHIM_DELAYS;
        atomic_store(&jitter->delays_ns[i], (int64_t)((double)options->least_ns * pow(ratio, quantile)));
    }
    atomic_store(&jitter->chance, (uint64_t)(options->chance * 0x1.0p32));
    atomic_store(&jitter->seed, seed);
    atomic_store(&jitter->calls, bits_of(&options->calls));
}

static enum rig_rc strike(const struct rig_fault_site *site, uint32_t node, void *private_target, struct rig_err *err)
{
    struct target *target = private_target;
    struct rig_shim_control *control = NULL;
    const enum rig_rc rc = rig_fault_setup_shim(site, node, false, &control, err);
    if (rc != RIG_OK)
        return rc;
    if (atomic_load(&control->jitter.calls) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: its calls are already delayed: two faults `jitter` must not overlap",
                        rig_fleet_of(site)->names[node]);
    target->counts = control->jittered;
    for (int call = 0; call < RIG_SHIM_CALL_COUNT; call++)
        target->before[call] = atomic_load(&target->counts[call]);
    target->jitter = &control->jitter;
    order(site->options, site->random + node, target->jitter);
    return RIG_OK;
}

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct state *state = private_state;
    static const struct rig_strike each = {strike, count, sizeof(struct target),
                                           "calls that were delayed by rig's shim", "calls are delayed"};
    return rig_strike_nodes(site, &each, state->targets, evidence, err);
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct state *)private_state)->targets[i];
    (void)err;
    if (target->jitter == NULL)
        return RIG_OK;
    atomic_store(&target->jitter->chance, 0);
    atomic_store(&target->jitter->calls, 0);
    const unsigned long long calls = count(target);
    char kinds[RIG_EVIDENCE_BYTES] = "";
    size_t used = 0;
    for (int call = 0; call < RIG_SHIM_CALL_COUNT && used < sizeof kinds; call++) {
        const uint64_t delayed = atomic_load(&target->counts[call]) - target->before[call];
        if (delayed > 0)
            used += (size_t)snprintf(kinds + used, sizeof kinds - used, "%s%llu %s", used == 0 ? " (" : ", ",
                                     (unsigned long long)delayed, call_names[call]);
    }
    rig_evidence_add(evidence, "%s: %llu call%s %s delayed%s%s", rig_target_name(site, i), calls, rig_plural(calls),
                     rig_was_were(calls), kinds, used == 0 ? "" : ")");
    *target = (struct target){.jitter = NULL};
    return RIG_OK;
}

const struct rig_fault rig_fault_jitter = {
    .name = "jitter",
    .varied = "for: 300ms, calls: [semaphore, wake, network]",
    .summary = "delays calls with which a node's processes wait for, wake and reach each other, at random",
    .needs = RIG_NEED_PRELOAD,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .available = available,
    .inject = inject,
    .heal_node = heal_node,
};
