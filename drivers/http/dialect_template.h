/*
 * Templates of a dialect: from YAML, checked, into the form that dialect_render.h renders. Private to drivers/http/.
 *
 * In a text `${name|filter}` stands for a value, `$$` for one `$`. In JSON a scalar that is one `${...}` and nothing
 * else keeps the value's type; a mapping with a key that starts with `$` is a construct:
 *
 *     {$each: SET, $item: T, $when: CONDITIONS}          in a list: the item for each element of the set
 *     {$if: CONDITIONS, $then: T, $else: T}              one of two; without `$else` perhaps nothing
 */
#ifndef RIG_DRIVERS_HTTP_DIALECT_TEMPLATE_H
#define RIG_DRIVERS_HTTP_DIALECT_TEMPLATE_H

#include "drivers/http/dialect_reader.h"

/* The names that a template may use at its place. */
struct rig_template_place {
    const char *what;         /* for messages */
    enum rig_dialect_set set; /* the set of its element; ONCE: none */
};

extern const char *const rig_dialect_set_names[]; /* NULL-ended, "once" first */

enum rig_rc rig_template_text(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              struct rig_template_place place, struct rig_text_template *text, struct rig_err *err);
enum rig_rc rig_template_json(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              struct rig_template_place place, const struct rig_template **json, struct rig_err *err);
/* A condition, or a list of them: `writes`, `not exists`, `reads = serializable`. */
enum rig_rc rig_template_conditions(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                    struct rig_template_place place, struct rig_conditions *conditions,
                                    struct rig_err *err);

#endif
