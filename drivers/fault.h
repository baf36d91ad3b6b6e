/*
 * The fault contract: one way of disturbing a cluster, and of restoring it.
 *
 * A fault is a table entry: of nemesis/ when it works on the nodes of any database (kill, pause, partition), of a
 * driver when only its database has it (VACUUM FULL, a compaction). The nemesis's own thread calls it, one fault at a
 * time; several may be in effect together. The thread lives until the cluster is down, so that servers which a fault
 * starts may be tied to its life (PR_SET_PDEATHSIG). Life of one injection:
 *
 *     inject -> [the fault's time passes, tend is called now and then] -> heal
 *
 * heal runs always, also after a failed inject and perhaps more than once: it is idempotent, finds in the state object
 * what to undo, and undoes as much as it can even when a part fails. A fault that strikes or heals target by target
 * gives inject_node or heal_node instead; the nemesis then calls it for each target.
 *
 * Undo: a change that would outlive rig (a mount, a namespace, a stopped process, the effect of a command) is written
 * to the undo journal with site->undo() BEFORE it is made; the next start of rig heals the changes of a killed one.
 * Changes that end with rig's own processes need no entry.
 *
 * Evidence: inject returns RIG_OK only when the fault took effect, and states the observation ("postmaster 4711 is
 * gone: killed by signal 9"). heal checks effects that cannot be seen at once ("dropped 311 packets"): missing evidence
 * is then RIG_E_CLUSTER and fails the run.
 *
 * A fault that the load's end, or other faults in effect, may have kept from showing an effect is withdrawn: inject
 * returns RIG_E_INTERRUPTED, the fault is healed, and the run goes on.
 *
 * Blocking: both are bounded by the fault's own time-outs, and return early when core->stopping() (heal goes on).
 * Errors: RIG_E_CLUSTER with a text that names the node and the remedy.
 */
#ifndef RIG_DRIVERS_FAULT_H
#define RIG_DRIVERS_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"

enum { RIG_EVIDENCE_BYTES = 256, RIG_NODES_MOST = 16, RIG_NODE_NAME_BYTES = 32 };

struct rig_core;
struct rig_cluster_ops;

/* The evidence of a fault, one line for a person; goes into the record and the reports. */
struct rig_evidence {
    char text[RIG_EVIDENCE_BYTES];
};

/* The targets and the context of a fault; borrowed, the same for inject and heal of one injection. */
struct rig_fault_site {
    const struct rig_core *core;
    const struct rig_cluster_ops *cluster;
    void *run;                      /* the driver's */
    const void *options;            /* the fault's own, filled and range-checked */
    uint32_t nodes[RIG_NODES_MOST]; /* its targets, resolved at injection; numbers of nemesis/fleet.h, the cluster's
                                       own where rig started it */
    uint32_t node_count;
    uint64_t random; /* of this injection, from the run's seed */
    void *nemesis;   /* struct rig_fault_context of nemesis/fault_context.h; for its own faults only */
    /*
     * Writes an undo command to the journal, and returns once it is on disk. `arguments`: a NULL-ended command line
     * that undoes the change, is harmless when there is nothing (any longer) to undo, and runs without a shell as rig's
     * own user. `token` names the entry; forget() removes it when heal has undone the change.
     */
    enum rig_rc (*undo)(const struct rig_fault_site *site, const char *const *arguments, uint64_t *token,
                        struct rig_err *err);
    void (*forget)(const struct rig_fault_site *site, uint64_t token);
};

/* The needs of a fault from the machine and the cluster; rig reports before a run what is missing, with the remedy. */
#define RIG_NEED_ROOT      UINT64_C(1)
#define RIG_NEED_PROCESSES UINT64_C(2)  /* nodes that rig started (cluster->processes) */
#define RIG_NEED_RESTART   UINT64_C(4)  /* cluster->stop_node and start_node, or the plan's commands for that */
#define RIG_NEED_PROMOTE   UINT64_C(8)  /* cluster->promote and restore, or the plan's commands for that */
#define RIG_NEED_ROUTES    UINT64_C(16) /* connections that go through core->route() */
#define RIG_NEED_PRELOAD   UINT64_C(64) /* cluster->set_environment: rig's shim is in the nodes' processes */
#define RIG_NEED_PAUSE     UINT64_C(32) /* cluster->processes, or the plan's commands for that */
/* Not needs, but effects: two faults of which one resumes processes and the other stops or resumes some are never in
 * effect on a node together; the later one is withdrawn. */
#define RIG_FAULT_STOPS   UINT64_C(128)
#define RIG_FAULT_RESUMES UINT64_C(256) /* also processes that another fault stopped */
#define RIG_FAULT_ENDS    UINT64_C(512) /* a server may end because of it, which is then no crash (check.server-crash) */
#define RIG_FAULT_LASTS   UINT64_C(1024) /* its effect outlasts its healing */

struct rig_fault {
    const char *name;    /* as in `fault: kill` */
    const char *summary; /* one line for `rig list faults` */
    const char *target;  /* the default target, as a plan writes it; NULL: "one" */
    /* Its keys in the runs of `rig hunt`, such as "for: 100ms"; "": none; `|` between alternatives; NULL: a hunt leaves
     * it out. Only for a fault with which the database promises what it promises without. */
    const char *varied;
    uint64_t needs;
    const struct rig_option *options; /* ended by a NULL name; NULL for none */
    size_t options_size;
    size_t state_size; /* of the state object: zeroed before inject, kept until heal */
    /* Further needs. `options` may be NULL (`rig list faults`). False: `why` says what is missing and the remedy.
     * Optional. */
    bool (*available)(const void *options, char *why, size_t size);
    /*
     * A fault has one of inject and inject_node. The nemesis calls inject_node for each target, with `i` as its
     * position in site->nodes, until one fails; a fault without targets gets one call with i = 0.
     */
    enum rig_rc (*inject)(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                          struct rig_err *err);
    /*
     * Undoes what inject did; `evidence` holds inject's text and may be extended. A fault has one of heal and
     * heal_node, or neither when there is nothing to undo. heal_node is called like inject_node, but also for the other
     * targets when it failed for one.
     */
    enum rig_rc (*heal)(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                        struct rig_err *err);
    /* The same for one target; only read where the hook for all of them is NULL. */
    enum rig_rc (*inject_node)(const struct rig_fault_site *site, uint32_t i, void *state,
                               struct rig_evidence *evidence, struct rig_err *err);
    enum rig_rc (*heal_node)(const struct rig_fault_site *site, uint32_t i, void *state, struct rig_evidence *evidence,
                             struct rig_err *err);
    /* Called about every 50 ms between inject and heal, unless another fault is being injected or healed. An error ends
     * the fault and fails the run. Optional. */
    enum rig_rc (*tend)(const struct rig_fault_site *site, void *state, struct rig_err *err);
};

#endif
