/*
 * The list `phases` of a plan: a mapping for each phase, with a name, its share of `clients`, and the keys of
 * `workload`. A phase inherits what it does not give.
 *
 *     phases:
 *       - {name: fill, duration: 10s, reads: 10%}
 *       - {name: storm, duration: 30s, keys: {active: 3}, clients: {count: 64}}
 *
 * Errors and --set call them `phases.0.reads`.
 *
 * Private to run/plan/.
 */
#ifndef RIG_RUN_PLAN_PLAN_PHASES_H
#define RIG_RUN_PLAN_PLAN_PHASES_H

#include "run/plan/plan.h"
#include "run/plan/plan_bind.h"

/* The part of an element beside the keys of `workload`. */
struct rig_plan_phase_options {
    const char *name;
    struct rig_clients_options clients;
};

extern const struct rig_option rig_plan_phase_table[];

/* The phases of a plan as they were read. */
struct rig_plan_phases {
    struct rig_plan_section *sections; /* by phase */
    uint32_t count;
};

/* Stores what `node`, the list, says. `workload` and `clients`, bound before, give the rest. Gives phases and the
 * number of clients in `plan`. */
enum rig_rc rig_plan_phases_bind(struct rig_plan_phases *phases, const struct rig_yaml_tree *tree,
                                 const struct rig_yaml_node *node, const struct rig_plan_section *workload,
                                 const struct rig_plan_section *clients, struct rig_plan *plan, struct rig_err *err);

#endif
