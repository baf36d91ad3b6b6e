/*
 * Binding: the nodes of a plan's tree against the option tables of its sections.
 *
 * A section is one or two tables that share a mapping (the core's part of `database:` and the driver's own), each with
 * the object that its values go to. Keys may come in any order; an unknown or repeated key, a value of the wrong kind
 * or out of range, and a missing required key are refused at their place. Values are expanded, checked against masks
 * that a stored plan may carry, and registered as secrets where they are.
 *
 * Private to run/plan/.
 */
#ifndef RIG_RUN_PLAN_PLAN_BIND_H
#define RIG_RUN_PLAN_PLAN_BIND_H

#include "base/option.h"
#include "base/yaml_tree.h"

/* One option table, its object, and which of its options were given. */
struct rig_plan_part {
    const struct rig_option *table; /* NULL: none */
    size_t option_count;
    void *object;
    const struct rig_yaml_node **given; /* by option; NULL where the plan says nothing */
    bool *known;                        /* by option: has a value, given or by default */
    const char *const **shown; /* by option and element: what stands for the value where a plan is printed; NULL: the
                                  value itself, also for all elements of an option */
};

enum { RIG_PLAN_PARTS = 2 };

struct rig_plan_section {
    const char *name; /* its key at the top of the plan; "" for the top itself */
    struct rig_plan_part parts[RIG_PLAN_PARTS];
    const struct rig_yaml_node *node; /* its mapping; NULL when it is not in the plan */
};

/* Makes a part: the object, zeroed, with its defaults. RIG_E_DRIVER when the table cannot be used. */
enum rig_rc rig_plan_part_init(struct rig_plan_part *part, const struct rig_option *table, size_t object_size,
                               struct rig_arena *arena, struct rig_err *err);

/* Keys of a mapping that are no options of its section: the sections at the top of a plan. */
struct rig_plan_others {
    const char *const *names; /* NULL-ended */
    enum rig_rc (*bind)(void *context, const struct rig_yaml_entry *entry, struct rig_err *err);
    void *context;
};

/* Stores what `node`, the mapping of the section, says, in the order of the file. `others` may be NULL. */
enum rig_rc rig_plan_section_bind(struct rig_plan_section *section, const struct rig_yaml_tree *tree,
                                  const struct rig_yaml_node *node, const struct rig_plan_others *others,
                                  struct rig_err *err);
/* Refuses when a required option has no value. `node` as above, or NULL. */
enum rig_rc rig_plan_section_require(const struct rig_plan_section *section, const struct rig_yaml_tree *tree,
                                     struct rig_err *err);

/* Whether `problem` starts with the section's name, so that it need not be put before it. */
bool rig_plan_section_speaks(const struct rig_plan_section *section, const char *problem);
/*
 * The place to blame for `problem`, the text of a check of the whole section: that of the first option (or group of
 * options) which the plan gives and the text names, at its start as `section.option` or anywhere in backquotes; else
 * that of the section.
 */
struct rig_yaml_place rig_plan_section_blame(const struct rig_plan_section *section, const struct rig_yaml_tree *tree,
                                             const char *problem);
/* The node that gave the option, or NULL. */
const struct rig_yaml_node *rig_plan_section_given(const struct rig_plan_section *section, const char *option);

#endif
