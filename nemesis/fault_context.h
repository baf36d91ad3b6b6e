/*
 * Context of rig's own faults beside the fault contract: the nodes, the undo journal, and common actions.
 *
 * Private to nemesis/.
 */
#ifndef RIG_NEMESIS_FAULT_CONTEXT_H
#define RIG_NEMESIS_FAULT_CONTEXT_H

#include "base/rng.h"
#include "drivers/driver.h"
#include "nemesis/fleet.h"
#include "nemesis/journal.h"
#include "base/process.h"

struct rig_fault_setup;

struct rig_fault_context {
    struct rig_fleet fleet;
    struct rig_journal *journal;
    const struct rig_fault_setup *setup;
    uint32_t under_way;             /* injections, including the one in progress */
    bool (*is_over)(void *context); /* the load is about to end: an effect not seen by now will not be seen */
    void *context;
};

static inline struct rig_fault_context *rig_fault_context_of(const struct rig_fault_site *site)
{
    return site->nemesis;
}

static inline struct rig_fleet *rig_fleet_of(const struct rig_fault_site *site)
{
    return &rig_fault_context_of(site)->fleet;
}

static inline bool rig_fault_context_is_over(const struct rig_fault_site *site)
{
    return rig_fault_context_of(site)->is_over(rig_fault_context_of(site)->context) || site->core->stopping();
}

/* The name of target `i`. */
static inline const char *rig_target_name(const struct rig_fault_site *site, uint32_t i)
{
    return rig_fleet_of(site)->names[site->nodes[i]];
}

/* Injects as the contract says (drivers/fault.h): all at once, or target by target until one fails. */
enum rig_rc rig_fault_inject(const struct rig_fault *fault, const struct rig_fault_site *site, void *state,
                             struct rig_evidence *evidence, struct rig_err *err);
/* Heals in the same way, but heals the other targets also when one fails. Returns the first error. */
enum rig_rc rig_fault_heal(const struct rig_fault *fault, const struct rig_fault_site *site, void *state,
                           struct rig_evidence *evidence, struct rig_err *err);

/* Appends to the evidence, with "; " in between. */
void rig_evidence_add(struct rig_evidence *evidence, const char *format, ...) RIG_PRINTF(2, 3);

/*
 * Puts a command of the plan for this node into the undo journal, with the node's current values and variables. The
 * next start of rig leaves a command out that names the node's process (`{pid}`, RIG_NODE_PID) when that process is
 * gone: its number may belong to another one.
 */
enum rig_rc rig_undo_command(const struct rig_fault_site *site, uint32_t node, const struct rig_text_list *command,
                             uint64_t *token, struct rig_err *err);
/* Evidence for a node that rig did not start: its `check` fails now (or there is none, and its command succeeded). */
enum rig_rc rig_confirm_down(const struct rig_fault_site *site, uint32_t node, struct rig_evidence *evidence,
                             struct rig_err *err);

enum { RIG_GROUND_PROCESSES_MOST = 1024 };
/* The processes of a node that rig started, the main one first, without ended ones. */
uint32_t rig_node_processes(const struct rig_fault_site *site, uint32_t node,
                            struct rig_process processes[RIG_GROUND_PROCESSES_MOST]);
/* A node that may have ended, or failed, because of a fault that is over: ends its remaining processes and starts it,
 * unless it answers. `always`: even then. */
enum rig_rc rig_revive(const struct rig_fault_site *site, uint32_t node, bool always, struct rig_err *err);
/*
 * Waits until `count` returns more than 0, for 10 s at most; then RIG_E_CLUSTER, with `what` it counts. When other
 * faults are in effect, it waits one second only: they may hide this one (clients that wait for a paused node send
 * nothing), and their heal must not be delayed; then RIG_E_INTERRUPTED, as when the load ends before. `again` (may be
 * NULL) is called every few ms, to strike once more.
 */
struct rig_effect {
    uint64_t (*count)(const void *context);
    void (*again)(void *context);
    void *context;
    const char *what; /* "there were no ..." */
};
enum rig_rc rig_await_effect(const struct rig_fault_site *site, const struct rig_effect *effect, struct rig_err *err);
/* A fault that strikes each node by itself, and then counts. */
struct rig_strike {
    enum rig_rc (*strike)(const struct rig_fault_site *site, uint32_t node, void *target, struct rig_err *err);
    uint64_t (*count)(const void *target);
    size_t target_bytes;
    const char *what; /* as of struct rig_effect */
    const char *told; /* evidence: "NODE: TOLD" */
};
/* Strikes all nodes of the site, then awaits the effect on each. `targets` has an element of `target_bytes` a node. */
enum rig_rc rig_strike_nodes(const struct rig_fault_site *site, const struct rig_strike *strike, void *targets,
                             struct rig_evidence *evidence, struct rig_err *err);
/* One of the node's processes that is not the main one, at random; RIG_E_CLUSTER when there is none. */
enum rig_rc rig_choose_process(const struct rig_fault_site *site, uint32_t node, struct rig_process *process,
                               struct rig_err *err);

#endif
