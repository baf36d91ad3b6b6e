/*
 * A plan's section `check`: names of levels, anomalies, assumptions and known issues become the bits and values that
 * the checker takes. The section's options are in plan_sections.c.
 */
#ifndef RIG_RUN_PLAN_PLAN_CHECK_H
#define RIG_RUN_PLAN_PLAN_CHECK_H

#include "base/arena.h"
#include "base/err.h"
#include "generator/generator.h"
#include "run/plan/plan.h"
#include "run/plan/plan_sections.h"

/* Borrowed; the arena lives as long as the plan. */
struct rig_plan_checking {
    const struct rig_yaml_tree *tree;
    const struct rig_plan_section *section; /* bound */
    struct rig_arena *arena;
    struct rig_check_section *asked; /* filled in */
};

/* RIG_E_PLAN, with the place, for a name that does not exist or is given twice. Aliases in the section's lists become
 * proper names. */
enum rig_rc rig_plan_check_resolve(const struct rig_plan_checking *from, struct rig_err *err);
/* The shares of levels that the plan asks the driver for, as a text; NULL: every transaction asks for one level. */
const char *rig_plan_isolation_shares(const struct rig_driver *driver, const void *options);
/* Where the plan gives shares of levels, and no levels that decide: the weakest one, which each transaction promises,
 * and G-mixed decide. `driver` and its options are the plan's. */
enum rig_rc rig_plan_check_take_shares(const struct rig_plan_checking *from, const struct rig_driver *driver,
                                       const void *options, struct rig_err *err);
/* The requirements of a plan that is to run: its workload can have the anomalies, and the entries of known issues can
 * be read. The plan of a run that is over is not asked: an entry may be gone. */
enum rig_rc rig_plan_check_require(const struct rig_plan_checking *from, enum rig_workload workload,
                                   struct rig_err *err);
/* A bank's load says what the checker may expect of its accounts. */
void rig_plan_check_take_load(const struct rig_generator_options *workload, struct rig_check_section *check);

#endif
