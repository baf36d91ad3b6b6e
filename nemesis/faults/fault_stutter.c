/*
 * stutter: the nodes' processes are stopped again and again for about a millisecond, get random priorities, and share
 * few processors (nemesis/stutter.h).
 *
 * The main process of a node forks the others and is spared, unless it is the only one. Where the driver can tell
 * processes of sessions apart, only these stutter: races are theirs, and stops of the others would take their turns.
 * Processes that start later are found within about 50 ms. Each is in the undo journal before it is first stopped.
 * Evidence: /proc showed a process stopped, and the kernel reported a new priority; the numbers of both.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/plural.h"
#include "nemesis/fault_context.h"
#include "nemesis/stutter.h"

static const char *const priority_names[] = {"auto", "fifo", "nice",
                                             "off",  "pct",  NULL}; /* enum rig_stutter_priorities */
static const char *const process_names[] = {"running", "any", NULL};
enum { PROCESSES_RUNNING };

struct options {
    struct rig_stutter_range gap, stop, redraw;
    double share;
    int64_t processes, priorities, cores;
    int64_t depth, round_ns, step_ns;
    bool background;
};

/* The two keys of a range. */
#define RANGE(key, member, shortest, longest, what)                                                                    \
    {.name = key ".min",                                                                                               \
     .type = RIG_OPTION_DURATION,                                                                                      \
     .offset = offsetof(struct options, member.least_ns),                                                              \
     .default_text = shortest,                                                                                         \
     .least = 1e4,                                                                                                     \
     .most = 10e9,                                                                                                     \
     .help = "shortest " what},                                                                                        \
    {                                                                                                                  \
        .name = key ".max", .type = RIG_OPTION_DURATION, .offset = offsetof(struct options, member.most_ns),           \
        .default_text = longest, .least = 1e4, .most = 10e9, .help = "longest " what                                   \
    }

static const struct rig_option table[] = {
    RANGE("gap", gap, "150us", "400us", "time from one stop to the next"),
    RANGE("stop", stop, "100us", "1500us", "stop; stops are distributed log-uniformly between the two"),
    {.name = "share",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct options, share),
     .default_text = "50%",
     .least = 0,
     .most = 1,
     .help = "share of the processes that may be stopped at a time, but at least one; 0%: no stops"},
    {.name = "processes",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, processes),
     .default_text = "running",
     .choices = process_names,
     .help = "processes that are stopped; running: those that use or wait for a processor; any: all of them"},
    {.name = "background",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct options, background),
     .default_text = "false",
     .help = "also processes that serve no session (checkpointer, walwriter, ...), where they can be told apart "
             "(PostgreSQL)"},
    {.name = "priorities",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, priorities),
     .default_text = "auto",
     .choices = priority_names,
     .help = "random priorities; fifo: SCHED_FIFO 1 to 40; nice: 0 to 19; auto: fifo where permitted, else nice, else "
             "off; pct: rounds of probabilistic concurrency testing, by SCHED_FIFO"},
    {.name = "depth",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct options, depth),
     .default_text = "3",
     .least = 1,
     .most = RIG_STUTTER_DEPTH_MOST,
     .help = "pct: the depth of the races to find; a round has one change point less"},
    {.name = "round",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, round_ns),
     .default_text = "20ms",
     .least = 1e5,
     .most = 10e9,
     .help = "pct: length of a round, at whose begin all processes get new priorities"},
    {.name = "step",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, step_ns),
     .default_text = "100us",
     .least = 1e4,
     .most = 10e9,
     .help = "pct: a change point comes at the begin of a step of the round, drawn at random"},
    RANGE("redraw", redraw, "500us", "2ms", "time from one new priority to the next"),
    {.name = "cores",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct options, cores),
     .default_text = "1",
     .least = 0,
     .most = 1024,
     .help = "processors that these processes share, with the main one; 0: those that they have without the fault"},
    {.name = NULL},
};

struct known {
    struct rig_process process;
    struct rig_stutter_normal normal;
    uint64_t token; /* in the undo journal */
    uint32_t slot;
};

struct node {
    struct rig_process main;
    struct rig_stutter_normal normal; /* of the first main process: later processes inherit it */
    bool alone;                       /* the main process is the only one */
};

struct state {
    struct rig_stutter stutter;
    cpu_set_t cpus; /* that the processes share; empty: theirs */
    struct node nodes[RIG_NODES_MOST];
    struct known *known; /* RIG_STUTTER_MOST; NULL: none */
    uint32_t count;
};

/* -- options ------------------------------------------------------------------------------------------------------- */

static const char *contradiction(const struct options *options)
{
    if (options->gap.least_ns > options->gap.most_ns)
        return "`gap.min` is longer than `gap.max`";
    if (options->stop.least_ns > options->stop.most_ns)
        return "`stop.min` is longer than `stop.max`";
    if (options->redraw.least_ns > options->redraw.most_ns)
        return "`redraw.min` is longer than `redraw.max`";
    if (options->share <= 0 && options->priorities == RIG_STUTTER_OFF)
        return "`share` is 0% and `priorities` is off: nothing would happen";
    if (options->priorities == RIG_STUTTER_PCT && options->step_ns > options->round_ns)
        return "`step` is longer than `round`";
    if (!rig_stutter_may((enum rig_stutter_priorities)options->priorities))
        return "rig may not give processes these priorities: run rig as root, or leave `priorities` out";
    return NULL;
}

static bool available(const void *options, char *why, size_t size)
{
    const char *problem = options == NULL ? NULL : contradiction(options);
    if (problem != NULL)
        (void)snprintf(why, size, "%s", problem);
    return problem == NULL;
}

/* -- processes ----------------------------------------------------------------------------------------------------- */

static bool is_same(const struct rig_process *a, const struct rig_process *b)
{
    return a->pid == b->pid && a->started == b->started;
}

static bool is_known(const struct state *state, const struct rig_process *process)
{
    for (uint32_t i = 0; i < state->count; i++) {
        if (is_same(&state->known[i].process, process))
            return true;
    }
    return false;
}

/* Only processes of sessions are chosen. */
static bool spares_background(const struct rig_fault_site *site)
{
    const struct options *options = site->options;
    return !options->background && rig_fleet_of(site)->cluster->is_session != NULL;
}

static bool is_chosen(const struct rig_fault_site *site, const struct rig_process *process)
{
    return !spares_background(site) || rig_fleet_of(site)->cluster->is_session(process->pid);
}

static void pin(const struct state *state, pid_t pid)
{
    if (CPU_COUNT(&state->cpus) > 0)
        (void)rig_stutter_pin(pid, &state->cpus);
}

/* In the journal, then on its processors, then in the hands of the helper. */
static enum rig_rc adopt(const struct rig_fault_site *site, struct state *state, const struct rig_process *process,
                         const struct rig_stutter_normal *normal, struct rig_err *err)
{
    struct known known = {.process = *process, .normal = *normal};
    if (state->count == RIG_STUTTER_MOST)
        return RIG_OK;
    const enum rig_rc rc = rig_journal_process(rig_fault_context_of(site)->journal, "a process that stuttered", process,
                                               &known.token, err);
    if (rc != RIG_OK)
        return rc;
    pin(state, process->pid);
    known.slot = rig_stutter_offer(&state->stutter, process, normal);
    state->known[state->count++] = known;
    return RIG_OK;
}

static void forget_ended(const struct rig_fault_site *site, struct state *state)
{
    for (uint32_t i = state->count; i-- > 0;) {
        struct known *known = &state->known[i];
        if (rig_process_lives(&known->process) ||
            (known->slot < RIG_STUTTER_MOST && !rig_stutter_leave(&state->stutter, known->slot)))
            continue;
        rig_journal_forget(rig_fault_context_of(site)->journal, known->token);
        *known = state->known[--state->count];
    }
}

/* A process seen at first has its own scheduling; a later one inherited that of the main process, with its pinning. */
static enum rig_rc adopt_node(const struct rig_fault_site *site, struct state *state, uint32_t i, bool first,
                              struct rig_err *err)
{
    struct rig_process processes[RIG_GROUND_PROCESSES_MOST];
    struct node *node = &state->nodes[i];
    const uint32_t count = rig_node_processes(site, site->nodes[i], processes);
    enum rig_rc rc = RIG_OK;
    if (count > 0 && !is_same(&processes[0], &node->main)) {
        node->main = processes[0];
        node->alone = count == 1;
        pin(state, node->main.pid);
    }
    for (uint32_t p = node->alone ? 0 : 1; p < count && rc == RIG_OK; p++) {
        struct rig_stutter_normal normal = node->normal;
        if (is_known(state, &processes[p]) || (!node->alone && !is_chosen(site, &processes[p])) ||
            (first && !rig_stutter_look(processes[p].pid, &normal)))
            continue;
        if (first && rig_process_state(&processes[p]) == 'T')
            return rig_fail(err, RIG_E_CLUSTER, "%s: process %ld is stopped already: stutter would resume it",
                            rig_target_name(site, i), (long)processes[p].pid);
        rc = adopt(site, state, &processes[p], &normal, err);
    }
    return rc;
}

static enum rig_rc tend(const struct rig_fault_site *site, void *private_state, struct rig_err *err)
{
    struct state *state = private_state;
    enum rig_rc rc = RIG_OK;
    if (!rig_stutter_lives(&state->stutter))
        return rig_fail(err, RIG_E_CLUSTER, "its helper process %ld has ended: another program killed it",
                        (long)state->stutter.helper);
    forget_ended(site, state);
    for (uint32_t i = 0; i < site->node_count && rc == RIG_OK; i++)
        rc = adopt_node(site, state, i, false, err);
    return rc;
}

/* -- inject -------------------------------------------------------------------------------------------------------- */

/* The first `cores` of the processors that the first node has, and the others for the helper. */
static void share_out(const struct state *state, int64_t cores, cpu_set_t *shared, cpu_set_t *others)
{
    const cpu_set_t *all = &state->nodes[0].normal.cpus;
    CPU_ZERO(shared);
    CPU_ZERO(others);
    if (cores == 0 || CPU_COUNT(all) <= cores)
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, all))
            CPU_SET(cpu, CPU_COUNT(shared) < cores ? shared : others);
    }
}

static enum rig_rc look_at_nodes(const struct rig_fault_site *site, struct state *state, struct rig_err *err)
{
    struct rig_process processes[RIG_GROUND_PROCESSES_MOST];
    for (uint32_t i = 0; i < site->node_count; i++) {
        struct node *node = &state->nodes[i];
        const uint32_t count = rig_node_processes(site, site->nodes[i], processes);
        if (count == 0 || !rig_stutter_look(processes[0].pid, &node->normal))
            return rig_fail(err, RIG_E_CLUSTER, "%s: the node is down", rig_target_name(site, i));
    }
    return RIG_OK;
}

static enum rig_rc start(const struct rig_fault_site *site, struct state *state, struct rig_err *err)
{
    const struct options *options = site->options;
    cpu_set_t others;
    struct rig_stutter_orders orders = {
        .gap = options->gap,
        .stop = options->stop,
        .redraw = options->redraw,
        .share = options->share,
        .running_only = options->processes == PROCESSES_RUNNING,
        .priorities = (enum rig_stutter_priorities)options->priorities,
        .depth = (uint32_t)options->depth,
        .round_ns = options->round_ns,
        .step_ns = options->step_ns,
        .seed = site->random,
    };
    if (orders.priorities == RIG_STUTTER_AUTO)
        orders.priorities = rig_stutter_best();
    if (orders.priorities == RIG_STUTTER_OFF && orders.share <= 0)
        return rig_fail(err, RIG_E_CLUSTER, "rig may not change priorities here, and `share` is 0%%: nothing is left");
    state->known = calloc(RIG_STUTTER_MOST, sizeof *state->known);
    if (state->known == NULL)
        return rig_no_memory(err, "the fault stutter");
    share_out(state, options->cores, &state->cpus, &others);
    return rig_stutter_start(&state->stutter, &orders, &others, err);
}

/* 0 until each kind of effect was seen. */
static uint64_t count_effects(const void *context)
{
    const struct state *state = context;
    const struct rig_stutter_table *shared = state->stutter.table;
    const uint64_t stops = shared->orders.share > 0 ? atomic_load(&shared->seen_stopped) : UINT64_MAX;
    const uint64_t set = shared->orders.priorities != RIG_STUTTER_OFF ? atomic_load(&shared->seen_set) : UINT64_MAX;
    return stops < set ? stops : set;
}

static void describe(const struct rig_fault_site *site, const struct state *state, struct rig_evidence *evidence)
{
    static const char *const kinds[] = {"", "random SCHED_FIFO priorities", "random nice values", "",
                                        "priorities by PCT"};
    const struct rig_stutter_orders *orders = &state->stutter.table->orders;
    const uint64_t cores = (uint64_t)CPU_COUNT(&state->cpus);
    char on[64] = "";
    if (cores > 0)
        (void)snprintf(on, sizeof on, " on %u processor%s", (unsigned)cores, rig_plural(cores));
    rig_evidence_add(evidence, "%u %sprocess%s of %u node%s%s: %s%s%s", state->count,
                     spares_background(site) ? "session " : "", state->count == 1 ? "" : "es", site->node_count,
                     rig_plural(site->node_count), on, orders->share > 0 ? "brief stops" : "",
                     orders->share > 0 && orders->priorities != RIG_STUTTER_OFF ? ", " : "", kinds[orders->priorities]);
}

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct state *state = private_state;
    const struct rig_effect effect = {.count = count_effects, .context = state, .what = "effects that /proc shows"};
    enum rig_rc rc = look_at_nodes(site, state, err);
    if (rc == RIG_OK)
        rc = start(site, state, err);
    for (uint32_t i = 0; i < site->node_count && rc == RIG_OK; i++)
        rc = adopt_node(site, state, i, true, err);
    if (rc == RIG_OK)
        rc = rig_await_effect(site, &effect, err);
    if (rc == RIG_OK)
        describe(site, state, evidence);
    return rc;
}

/* -- heal ---------------------------------------------------------------------------------------------------------- */

static enum rig_rc restore(const struct rig_process *process, const struct rig_stutter_normal *normal,
                           struct rig_err *err)
{
    if (rig_stutter_restore(process, normal))
        return RIG_OK;
    return rig_fail(err, RIG_E_CLUSTER, "process %ld does not get back its priority and processors",
                    (long)process->pid);
}

/* The main process first: those that it forks from then on are as before. */
static enum rig_rc restore_node(const struct rig_fault_site *site, const struct state *state, uint32_t i,
                                struct rig_err *err)
{
    struct rig_process processes[RIG_GROUND_PROCESSES_MOST];
    const struct node *node = &state->nodes[i];
    enum rig_rc rc = node->main.pid == 0 ? RIG_OK : restore(&node->main, &node->normal, err);
    const uint32_t count = rig_node_processes(site, site->nodes[i], processes);
    for (uint32_t p = 0; p < count && rc == RIG_OK && node->main.pid != 0; p++) {
        if (!is_known(state, &processes[p]))
            rc = restore(&processes[p], &node->normal, err);
    }
    return rc;
}

static enum rig_rc restore_all(const struct rig_fault_site *site, struct state *state, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < site->node_count; i++) {
        const enum rig_rc one = restore_node(site, state, i, err);
        rc = rc == RIG_OK ? one : rc;
    }
    for (uint32_t i = state->count; i-- > 0;) {
        struct known *known = &state->known[i];
        const enum rig_rc one = restore(&known->process, &known->normal, err);
        rc = rc == RIG_OK ? one : rc;
        if (one != RIG_OK)
            continue;
        rig_journal_forget(rig_fault_context_of(site)->journal, known->token);
        *known = state->known[--state->count];
    }
    return rc;
}

/* The bound needs strict priorities: one processor, and no stops. */
static void describe_rounds(const struct state *state, struct rig_evidence *evidence)
{
    const struct rig_stutter_table *shared = state->stutter.table;
    const struct rig_stutter_orders *orders = &shared->orders;
    const unsigned long long rounds = atomic_load(&shared->rounds), processes = atomic_load(&shared->most_in_round);
    if (orders->priorities != RIG_STUTTER_PCT || rounds == 0)
        return;
    rig_evidence_add(evidence, "%llu round%s of %llu process%s, %llu changes", rounds, rig_plural(rounds), processes,
                     processes == 1 ? "" : "es", (unsigned long long)atomic_load(&shared->changes_made));
    if (orders->share <= 0 && CPU_COUNT(&state->cpus) == 1)
        rig_evidence_add(evidence, "a round hits a race of depth %u with a chance of at least %.2g", orders->depth,
                         rig_stutter_chance(processes, orders->round_ns / orders->step_ns, orders->depth));
}

static enum rig_rc heal(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                        struct rig_err *err)
{
    struct state *state = private_state;
    if (state->stutter.table == NULL) {
        free(state->known);
        state->known = NULL;
        return RIG_OK;
    }
    (void)rig_stutter_end(&state->stutter); /* one that did not end in good order left more to restore */
    const enum rig_rc rc = restore_all(site, state, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_stutter_table *shared = state->stutter.table;
    const unsigned long long stops = atomic_load(&shared->stops), set = atomic_load(&shared->priorities);
    if (stops > 0)
        rig_evidence_add(evidence, "%llu stop%s, %.3f s in all", stops, rig_plural(stops),
                         (double)atomic_load(&shared->held_ns) / 1e9);
    if (set > 0)
        rig_evidence_add(evidence, "%llu priorit%s set", set, set == 1 ? "y" : "ies");
    describe_rounds(state, evidence);
    rig_stutter_done(&state->stutter);
    free(state->known);
    state->known = NULL;
    return RIG_OK;
}

const struct rig_fault rig_fault_stutter = {
    .name = "stutter",
    .summary = "stops nodes' processes for moments, with random priorities on few processors, to provoke races",
    .needs = RIG_NEED_PROCESSES | RIG_FAULT_RESUMES,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .available = available,
    .inject = inject,
    .heal = heal,
    .tend = tend,
};
