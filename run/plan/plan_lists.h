/*
 * The lists in a plan: the phases of the load, the faults, and the nodes of the user.
 *
 * Private to run/plan/.
 */
#ifndef RIG_RUN_PLAN_PLAN_LISTS_H
#define RIG_RUN_PLAN_PLAN_LISTS_H

#include "nemesis/faults.h"
#include "run/plan/plan.h"
#include "run/plan/plan_bind.h"

/*
 * The list `phases` of a plan: a mapping for each phase, with a name, its share of `clients`, and the keys of
 * `workload`. A phase inherits what it does not give.
 *
 *     phases:
 *       - {name: fill, duration: 10s, reads: 10%}
 *       - {name: storm, duration: 30s, keys: {active: 3}, clients: {count: 64}}
 *
 * Errors and --set call them `phases.0.reads`.
 */

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

/*
 * The section `nemesis` of a plan: a mapping of options, a list of faults, and the user's nodes.
 *
 *     nemesis:                          short for   nemesis:
 *       - {fault: kill, ...}                            faults: [{fault: kill, ...}]
 *
 * Each element of `faults` is a section of its own with two tables: the schedule's, and the options of the fault that
 * it names. Each entry of `nodes` is one as well. Errors and --set call them `nemesis.faults.0.for` and
 * `nemesis.nodes.db1.kill`.
 */

/* The faults of a plan and its nodes, as they were read. */
struct rig_plan_nemesis {
    struct rig_plan_section top;
    struct rig_plan_section *faults, *nodes; /* by number */
    const char **node_names;
    uint32_t fault_count, node_count;
    const struct rig_yaml_node *node; /* its mapping; NULL: the plan has none */
};

/* Makes a list at `nemesis` the mapping that it stands for, before anything is set inside. RIG_E_LIMIT. */
enum rig_rc rig_plan_nemesis_normalize(struct rig_yaml_tree *tree, struct rig_err *err);
/* Before anything is bound. */
enum rig_rc rig_plan_nemesis_init(struct rig_plan_nemesis *nemesis, struct rig_arena *arena, struct rig_err *err);
/* Stores what `node` says. `driver` brings faults of its own. Gives the whole in `plan`. */
enum rig_rc rig_plan_nemesis_bind(struct rig_plan_nemesis *nemesis, const struct rig_yaml_tree *tree,
                                  const struct rig_yaml_node *node, const struct rig_driver *driver,
                                  struct rig_nemesis_plan *plan, struct rig_err *err);

#endif
