/*
 * The plans that rig ships: `configs/<name>.yaml`, found as base/data_folder.h says; RIG_CONFIG_PATH names further
 * folders like `configs`.
 *
 * Threads: any.
 */
#ifndef RIG_RUN_PLAN_SHIPPED_PLAN_H
#define RIG_RUN_PLAN_SHIPPED_PLAN_H

#include "base/data_folder.h"

/*
 * Finds the plan that a command line means. A file of this name wins. Else a text without `/` is the name of a shipped
 * plan, with or without `.yaml`. Gives `path` on success. RIG_E_PLAN with the nearest name when there is neither.
 */
enum rig_rc rig_shipped_plan_find(const char *name, char *path, size_t path_size, struct rig_err *err);

/* Names of all shipped plans, sorted, from `arena`. RIG_E_PLAN when there is no folder of them. */
enum rig_rc rig_shipped_plan_names(struct rig_arena *arena, struct rig_text_list *names, struct rig_err *err);

/* Adds what the plan `name` is about: the first sentence of the comment that it begins with. False: it cannot be read.
 * */
bool rig_shipped_plan_summary(const char *name, struct rig_buf *summary);

#endif
