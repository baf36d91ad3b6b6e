#include "nemesis/power.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/account.h"
#include "base/clock.h"
#include "base/folder.h"

enum { ROUNDS_MOST = 20 };
static const uint64_t most_bytes = UINT64_C(1) << 30;
static const int64_t state_timeout_ns = 5 * RIG_NS_PER_S;

/* -- stopping briefly ---------------------------------------------------------------------------------------------- */

struct stopped {
    struct rig_process process;
    uint64_t token; /* in the undo journal: a stopped process does not notice that rig died */
};

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
    char copy[RIG_POWER_PATH_BYTES + 16];
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

enum rig_rc rig_power_mark(const struct rig_fault_site *site, uint32_t node, struct rig_power *power,
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

enum rig_rc rig_power_lose(const struct rig_fault_site *site, uint32_t node, struct rig_power *power,
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
