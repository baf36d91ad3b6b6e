/*
 * power: the power of nodes fails, and everything that they had not made durable is lost.
 *
 * From its beginning the shim keeps account of each write that is not durable yet; all that was written before counts
 * as durable. At its end the node is killed, what was not synced is undone (nemesis/undo_log.h), and the node is
 * started. A database that syncs what it acknowledges loses no acknowledged commit by it; on a disk that lies (`fsync`,
 * `mode: lie`) syncs do not count.
 *
 * Evidence: the number of changes that were undone.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/plural.h"
#include "nemesis/fault_context.h"
#include "nemesis/fault_setup.h"
#include "nemesis/undo_log.h"

enum { PATH_BYTES = RIG_SHIM_FOLDER_BYTES + sizeof RIG_SHIM_UNDO_SUFFIX };
static const uint64_t most_bytes = UINT64_C(2) << 30;

struct options {
    double keep;
};

static const struct rig_option table[] = {
    {.name = "keep",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct options, keep),
     .default_text = "0%",
     .least = 0,
     .most = 0.99,
     .help = "share of the writes that were not made durable and survive all the same, at random"},
    {.name = NULL},
};

struct target {
    struct rig_shim_control *control; /* while account is kept */
    uint64_t before;
    char undo[PATH_BYTES]; /* its folder; empty: none */
    bool down;             /* the node has to be started */
};

struct state {
    struct target targets[RIG_NODES_MOST];
};

static uint64_t count(const void *context)
{
    const struct target *target = context;
    return atomic_load(&target->control->undos) - target->before;
}

/* The folder of the account, beside the node's own, and of the same owner. */
static enum rig_rc make_folder(struct target *target, const char *name, struct rig_err *err)
{
    struct stat status;
    const char *data = target->control->folder;
    (void)snprintf(target->undo, sizeof target->undo, "%s" RIG_SHIM_UNDO_SUFFIX, data);
    if (stat(data, &status) == 0 && mkdir(target->undo, 0700) == 0 &&
        (geteuid() != 0 || chown(target->undo, status.st_uid, status.st_gid) == 0))
        return RIG_OK;
    return rig_fail(err, RIG_E_IO, "%s: %.400s cannot be made: %s", name, target->undo, strerror(errno));
}

static enum rig_rc strike(const struct rig_fault_site *site, uint32_t node, void *private_target, struct rig_err *err)
{
    struct target *target = private_target;
    const char *name = rig_fleet_of(site)->names[node];
    struct rig_shim_control *control = NULL;
    enum rig_rc rc = rig_fault_setup_shim(site, node, true, &control, err);
    if (rc != RIG_OK)
        return rc;
    if (atomic_load(&control->durable) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: its power is already about to fail: such faults must not overlap",
                        name);
    target->control = control;
    target->before = atomic_load(&control->undos);
    rc = make_folder(target, name, err);
    if (rc == RIG_OK)
        atomic_store(&control->durable, 1);
    return rc;
}

static enum rig_rc inject(const struct rig_fault_site *site, void *private_state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct state *state = private_state;
    static const struct rig_strike each = {strike, count, sizeof(struct target), "writes to files through rig's shim",
                                           "writes are not durable until they are synced"};
    return rig_strike_nodes(site, &each, state->targets, evidence, err);
}

static enum rig_rc tend(const struct rig_fault_site *site, void *private_state, struct rig_err *err)
{
    const struct state *state = private_state;
    for (uint32_t i = 0; i < site->node_count; i++) {
        const struct target *target = &state->targets[i];
        if (target->control != NULL && rig_folder_bytes(target->undo) > most_bytes)
            return rig_fail(err, RIG_E_LIMIT, "%s: more than %llu MiB are not durable: make `for` shorter",
                            rig_target_name(site, i), (unsigned long long)(most_bytes >> 20));
    }
    return RIG_OK;
}

/* Undoes what was not durable; the node is down. */
static enum rig_rc lose(const struct rig_fault_site *site, uint32_t i, struct target *target,
                        struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    struct rig_undo_count undone = {0};
    struct rig_rng rng;
    if (atomic_load(&target->control->undos_lost) > 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: %llu writes could not be accounted for", rig_target_name(site, i),
                        (unsigned long long)atomic_load(&target->control->undos_lost));
    rig_rng_init(&rng, site->random, i);
    const enum rig_rc rc = rig_undo_log_apply(target->control->folder, target->undo, options->keep, &rng, &undone, err);
    if (rc == RIG_OK)
        rig_evidence_add(evidence, "%s: its power failed: %llu write%s and %llu removal%s of files undone",
                         rig_target_name(site, i), (unsigned long long)undone.changes, rig_plural(undone.changes),
                         (unsigned long long)undone.files, rig_plural(undone.files));
    return rc;
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    struct target *target = &((struct state *)private_state)->targets[i];
    struct rig_fleet *fleet = rig_fleet_of(site);
    enum rig_rc rc = RIG_OK;
    if (target->control != NULL && atomic_load(&target->control->durable) != 0) {
        target->down = true;
        rc = rig_fleet_stop_node(fleet, site->nodes[i], RIG_NODE_KILL, err);
        if (rc == RIG_OK)
            rc = lose(site, i, target, evidence, err);
        if (rc == RIG_OK)
            atomic_store(&target->control->durable, 0);
    }
    if (rc == RIG_OK && target->undo[0] != '\0') {
        rig_folder_remove(target->undo);
        target->undo[0] = '\0';
    }
    if (rc == RIG_OK && target->down) {
        rc = rig_fleet_start_node(fleet, site->nodes[i], err);
        target->down = rc != RIG_OK;
    }
    return rc;
}

const struct rig_fault rig_fault_power = {
    .name = "power",
    .summary = "makes the power fail: nodes lose everything that they did not make durable",
    .needs = RIG_NEED_PRELOAD | RIG_NEED_PROCESSES | RIG_NEED_RESTART | RIG_FAULT_ENDS,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .available = rig_shims_are_there,
    .inject = inject,
    .heal_node = heal_node,
    .tend = tend,
};
