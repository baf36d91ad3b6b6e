/*
 * Variables of the environment in the texts of a plan, and how a text with secret variables is shown.
 *
 * `${NAME}` stands for the variable's value, `${NAME:-default}` for the default when it is unset or empty, `$$` for one
 * `$`; any other `$` stands for itself.
 *
 * A printed or stored plan shows a text with its variables expanded, so that it says what was run, unless the text
 * holds a secret: then it keeps the references, and masks what the plan itself gives away. A plan that takes its
 * secrets from the environment so remains one that can be run.
 *
 * Private to run/plan/.
 */
#ifndef RIG_RUN_PLAN_PLAN_TEXT_H
#define RIG_RUN_PLAN_PLAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/option.h"

/* Gives the expanded text, from the arena or `text` itself when there is nothing to expand. The error has no place. */
enum rig_rc rig_plan_expand(struct rig_arena *arena, const char *text, const char **expanded, struct rig_err *err);

/* The elements of a list option before the one in question, as written and expanded; a text has none. Borrowed. */
struct rig_plan_before {
    const char *const *raw;
    const char *const *expanded;
    size_t count;
};

/* Registers the secrets of a text of `option`, of which `expanded` is the value; false when there is no room left. */
bool rig_plan_register(const struct rig_option *option, const struct rig_plan_before *before, const char *raw,
                       const char *expanded);
/* Registers what a text of the plan gives away by itself, wherever it stands: its references may be anything. */
bool rig_plan_register_raw(const char *raw);
/*
 * How a plan shows a text of `option`, from the arena: as in a plan, with references and masks. NULL in `shown` when
 * the expanded text may be shown. RIG_E_LIMIT without memory.
 */
enum rig_rc rig_plan_show(struct rig_arena *arena, const struct rig_option *option,
                          const struct rig_plan_before *before, const char *raw, const char *expanded,
                          const char **shown, struct rig_err *err);

#endif
