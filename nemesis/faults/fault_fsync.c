/*
 * fsync: calls that make files durable are slow, fail, or lie.
 *
 *   slow  each fsync takes longer
 *   fail  each returns EIO; databases rightly crash then, some repeatedly: the heal starts the node again
 *   lie   each reports success, and nothing is made durable; at the end the power fails (below), and
 *         the node loses everything written since the fault began, acknowledged commits included
 *
 * Evidence: the number of calls that were slowed down, failed or lied about.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/plural.h"
#include "base/process.h"
#include "nemesis/fault_context.h"
#include "nemesis/fault_setup.h"

/*
 * Power loss on a disk that lied: all data that a node wrote since a certain moment are gone.
 *
 * At that moment the node's processes are stopped, its data folder is copied, and they are resumed: milliseconds for
 * the clusters that rig starts, which are small. The copy is the state that a crash at that moment would have left.
 * Losing the power kills the node, replaces its data by the copy, and starts it: the state of a disk with a cache that
 * reported "durable" and kept nothing. It is one of the states that such a disk may leave, the one from which a
 * database can recover; disks that lose only a part break databases in ways that are unrelated to isolation.
 *
 * Needs no privileges, no mount and no special file system; only space for a copy of the data.
 */

enum { POWER_PATH_BYTES = 1024 };

/* Zeroed: no moment was marked. */
struct rig_power {
    char data[POWER_PATH_BYTES]; /* the data folder */
    char kept[POWER_PATH_BYTES]; /* its copy; empty: none */
    bool down;                   /* the node was killed and has to be started */
};

enum { ROUNDS_MOST = 20 };
static const uint64_t most_bytes = UINT64_C(1) << 30;
static const int64_t state_timeout_ns = 5 * RIG_NS_PER_S;

/* -- stopping briefly ---------------------------------------------------------------------------------------------- */

struct stopped {
    struct rig_process process;
    uint64_t token; /* in the undo journal: a stopped process does not notice that rig died */
};

struct target {
    struct rig_shim_control *control; /* the orders of the node */
    uint64_t before;
    struct rig_power power;
    bool to_start; /* the node may have ended because of it */
};

static uint64_t count(const void *context)
{
    const struct target *target = context;
    return atomic_load(&target->control->syncs) - target->before;
}

struct standstill {
    const struct rig_fault_site *site;
    const char *name;
    struct stopped at[RIG_GROUND_PROCESSES_MOST];
    uint32_t count;
};

static bool is_stopped(const struct standstill *still, const struct rig_process *process)
{
    for (uint32_t i = 0; i < still->count; i++) {
        if (still->at[i].process.pid == process->pid && still->at[i].process.started == process->started)
            return true;
    }
    return false;
}

static enum rig_rc stop(struct standstill *still, const struct rig_process *process, struct rig_err *err)
{
    if (still->count == RIG_GROUND_PROCESSES_MOST)
        return rig_fail(err, RIG_E_CLUSTER, "%s: it has too many processes", still->name);
    struct stopped *at = &still->at[still->count];
    enum rig_rc rc = rig_journal_process(rig_fault_context_of(still->site)->journal, "a process stopped for a moment",
                                         process, &at->token, err);
    if (rc != RIG_OK)
        return rc;
    at->process = *process;
    still->count++;
    if (rig_process_signal(process, SIGSTOP) && rig_process_await_state(process, true, state_timeout_ns))
        return RIG_OK;
    if (!rig_process_lives(process))
        return RIG_OK; /* it ended by itself meanwhile */
    return rig_fail(err, RIG_E_CLUSTER, "%s: process %ld does not stop", still->name, (long)process->pid);
}

/* New processes may come until the process that forks them is stopped. */
static enum rig_rc stop_all(struct standstill *still, uint32_t node, struct rig_err *err)
{
    struct rig_process processes[RIG_GROUND_PROCESSES_MOST];
    bool more = true;
    for (int round = 0; more && round < ROUNDS_MOST; round++) {
        const uint32_t count = rig_node_processes(still->site, node, processes);
        more = false;
        for (uint32_t i = 0; i < count; i++) {
            if (is_stopped(still, &processes[i]))
                continue;
            more = true;
            const enum rig_rc rc = stop(still, &processes[i], err);
            if (rc != RIG_OK)
                return rc;
        }
    }
    if (more)
        return rig_fail(err, RIG_E_CLUSTER, "%s: new processes come faster than they can be stopped", still->name);
    return still->count > 0 ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "%s: the node is down", still->name);
}

static void go_on(struct standstill *still)
{
    for (uint32_t i = still->count; i-- > 0;)
        (void)rig_process_signal(&still->at[i].process, SIGCONT);
    for (uint32_t i = 0; i < still->count; i++) {
        if (rig_process_await_state(&still->at[i].process, false, state_timeout_ns) ||
            !rig_process_lives(&still->at[i].process))
            rig_journal_forget(rig_fault_context_of(still->site)->journal, still->at[i].token);
    }
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */

static enum rig_rc find_data(const struct rig_fault_site *site, uint32_t node, struct rig_power *power,
                             struct rig_err *err)
{
    const char *name = rig_fleet_of(site)->names[node];
    const char *data = site->cluster->data_dir == NULL ? NULL : site->cluster->data_dir(site->run, node);
    if (data == NULL || strlen(data) + sizeof ".durable" > sizeof power->data)
        return rig_fail(err, RIG_E_CLUSTER, "%s: this driver does not give its data folder", name);
    const uint64_t bytes = rig_folder_bytes(data);
    if (bytes > most_bytes)
        return rig_fail(err, RIG_E_LIMIT, "%s: its data has %llu MiB, more than the limit of %llu for a fault", name,
                        (unsigned long long)(bytes >> 20), (unsigned long long)(most_bytes >> 20));
    (void)snprintf(power->data, sizeof power->data, "%s", data);
    return RIG_OK;
}

static enum rig_rc copy_data(struct rig_power *power, struct rig_err *err)
{
    struct stat status;
    char copy[POWER_PATH_BYTES + 16];
    if (stat(power->data, &status) != 0)
        return rig_fail(err, RIG_E_IO, "%s: %s", power->data, strerror(errno));
    const struct rig_account owner = {.drop = geteuid() == 0, .uid = status.st_uid, .gid = status.st_gid};
    (void)snprintf(copy, sizeof copy, "%s.durable", power->data);
    rig_folder_remove(copy);
    const enum rig_rc rc = rig_folder_copy(power->data, copy, &owner, err);
    if (rc == RIG_OK)
        (void)snprintf(power->kept, sizeof power->kept, "%.1000s", copy);
    else
        rig_folder_remove(copy);
    return rc;
}

/* Marks the moment; calls `meanwhile` while the processes are stopped. RIG_E_CLUSTER, RIG_E_LIMIT (above 1 GiB). */
static enum rig_rc power_mark(const struct rig_fault_site *site, uint32_t node, struct rig_power *power,
                              void (*meanwhile)(void *context), void *context, struct rig_err *err)
{
    enum rig_rc rc = find_data(site, node, power, err);
    if (rc != RIG_OK)
        return rc;
    struct standstill *still = calloc(1, sizeof *still);
    if (still == NULL)
        return rig_no_memory(err, "a power cut");
    still->site = site;
    still->name = rig_fleet_of(site)->names[node];
    rc = stop_all(still, node, err);
    if (rc == RIG_OK)
        rc = copy_data(power, err);
    if (rc == RIG_OK)
        meanwhile(context);
    go_on(still);
    free(still);
    return rc;
}

/* -- the loss ------------------------------------------------------------------------------------------------------ */

/* The written data go first, so that a second call finds either the copy or the data in its place. */
static enum rig_rc put_back(struct rig_power *power, struct rig_err *err)
{
    rig_folder_remove(power->data);
    if (rename(power->kept, power->data) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot replace %s: %s", power->kept, power->data, strerror(errno));
    power->kept[0] = '\0';
    return RIG_OK;
}

/* The node loses all data written since, and is started. Idempotent; continues where an earlier call failed. */
static enum rig_rc power_lose(const struct rig_fault_site *site, uint32_t node, struct rig_power *power,
                              struct rig_err *err)
{
    struct rig_fleet *fleet = rig_fleet_of(site);
    enum rig_rc rc = RIG_OK;
    if (power->kept[0] != '\0') {
        power->down = true;
        rc = rig_fleet_stop_node(fleet, node, RIG_NODE_KILL, err);
        if (rc == RIG_OK)
            rc = put_back(power, err);
    }
    if (rc == RIG_OK && power->down) {
        rc = rig_fleet_start_node(fleet, node, err);
        power->down = rc != RIG_OK;
    }
    return rc;
}

enum { MODE_SLOW, MODE_FAIL, MODE_LIE };
static const char *const modes[] = {"slow", "fail", "lie", NULL};
static const char *const happens[] = {"calls are slowed down", "calls fail", "calls are lied about"};
static const char *const happened[] = {" slowed down", "failed", " lied about"};

struct options {
    int64_t mode;
    int64_t delay_ns;
    double share;
    bool lose;
};

static const struct rig_option table[] = {
    {.name = "mode",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, mode),
     .default_text = "slow",
     .choices = modes,
     .help = "slow: it takes longer; fail: it fails with EIO; lie: it reports success and does nothing"},
    {.name = "delay",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, delay_ns),
     .default_text = "100ms",
     .least = 1e3,
     .most = 60e9,
     .help = "additional time of each call (`mode: slow`)"},
    {.name = "share",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct options, share),
     .default_text = "100%",
     .least = 0.0001,
     .most = 1,
     .help = "share of the calls that are affected"},
    {.name = "lose",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct options, lose),
     .default_text = "true",
     .help = ("whether the node finally loses everything that it wrote since the fault began, as in a power failure "
              "(`mode: lie`)")},
    {.name = NULL},
};

struct state {
    struct target targets[RIG_NODES_MOST];
};

static enum rig_shim_sync order_of(const struct options *options)
{
    return options->mode == MODE_SLOW   ? RIG_SHIM_SYNC_SLOW
           : options->mode == MODE_FAIL ? RIG_SHIM_SYNC_FAIL
                                        : RIG_SHIM_SYNC_LIE;
}

struct order {
    const struct options *options;
    struct rig_shim_control *control;
};

static void give(void *context)
{
    const struct order *order = context;
    atomic_store(&order->control->share, (uint64_t)(order->options->share * 4294967296.0));
    atomic_store(&order->control->delay_ns, order->options->delay_ns);
    atomic_store(&order->control->sync, (uint32_t)order_of(order->options));
}

static enum rig_rc strike(const struct rig_fault_site *site, uint32_t node, void *private_target, struct rig_err *err)
{
    struct target *target = private_target;
    const struct options *options = site->options;
    struct rig_shim_control *control = NULL;
    enum rig_rc rc = rig_fault_setup_shim(site, node, true, &control, err);
    if (rc != RIG_OK)
        return rc;
    if (atomic_load(&control->sync) != RIG_SHIM_SYNC_REAL)
        return rig_fail(err, RIG_E_CLUSTER, "%s: a fault of fsync is already in effect: they must not overlap",
                        rig_fleet_of(site)->names[node]);
    struct order order = {.options = options, .control = control};
    target->before = atomic_load(&control->syncs);
    target->control = control;
    if (options->mode == MODE_LIE && options->lose)
        return power_mark(site, node, &target->power, give, &order, err);
    give(&order);
    return RIG_OK;
}

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct state *state = private_state;
    const struct options *options = site->options;
    const struct rig_strike each = {strike, count, sizeof(struct target), "calls of fsync through rig's shim",
                                    happens[options->mode]};
    return rig_strike_nodes(site, &each, state->targets, evidence, err);
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct state *)private_state)->targets[i];
    const struct options *options = site->options;
    if (target->control != NULL) {
        const bool loses = target->power.kept[0] != '\0';
        atomic_store(&target->control->sync, RIG_SHIM_SYNC_REAL);
        const unsigned long long calls = count(target);
        rig_evidence_add(evidence, "%s: %llu call%s %s%s%s", rig_target_name(site, i), calls, rig_plural(calls),
                         options->mode == MODE_FAIL ? "" : rig_was_were(calls), happened[options->mode],
                         loses ? ", and everything written since is lost" : "");
        target->control = NULL;
        target->to_start = options->mode == MODE_FAIL;
    }
    enum rig_rc rc = power_lose(site, site->nodes[i], &target->power, err);
    if (rc == RIG_OK && target->to_start)
        rc = rig_revive(site, site->nodes[i], true, err);
    target->to_start = target->to_start && rc != RIG_OK;
    return rc;
}

const struct rig_fault rig_fault_fsync = {
    .name = "fsync",
    .summary = "makes fsync slow, fail, or lie; after a lie a power failure loses everything that was not durable",
    .needs = RIG_NEED_PRELOAD | RIG_NEED_PROCESSES | RIG_NEED_RESTART | RIG_FAULT_STOPS | RIG_FAULT_ENDS,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .available = rig_shims_are_there,
    .inject = inject,
    .heal_node = heal_node,
};
