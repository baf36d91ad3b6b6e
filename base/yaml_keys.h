/*
 * Reading a YAML tree whose mappings have known keys: scenarios and matrices. (Plans are read by option tables.)
 *
 * Each function refuses with RIG_E_PLAN at the place in the file, naming what was expected.
 */
#ifndef RIG_BASE_YAML_KEYS_H
#define RIG_BASE_YAML_KEYS_H

#include "base/buf.h"
#include "base/yaml_tree.h"

/* The value of a key of a mapping, or NULL. */
struct rig_yaml_node *rig_yaml_value(const struct rig_yaml_node *mapping, const char *key);
/* Refuses a mapping with other keys than `known`, NULL-ended, and what is no mapping. */
enum rig_rc rig_yaml_check_keys(const struct rig_yaml_tree *tree, const struct rig_yaml_node *node,
                                const char *const *known, struct rig_err *err);
/* The value of a key, which must be there and of this kind. */
enum rig_rc rig_yaml_need(const struct rig_yaml_tree *tree, const struct rig_yaml_node *mapping, const char *key,
                          enum rig_yaml_node_kind kind, struct rig_yaml_node **value, struct rig_err *err);
/* The text of a scalar that is not null. */
enum rig_rc rig_yaml_text(const struct rig_yaml_tree *tree, const struct rig_yaml_node *node, const char **text,
                          struct rig_err *err);
/* Both: the text of a key that must be there. */
enum rig_rc rig_yaml_need_text(const struct rig_yaml_tree *tree, const struct rig_yaml_node *mapping, const char *key,
                               const char **text, struct rig_err *err);
/* Likewise, for people: one printable line, in `arena`. */
enum rig_rc rig_yaml_need_line(const struct rig_yaml_tree *tree, const struct rig_yaml_node *mapping, const char *key,
                               struct rig_arena *arena, const char **text, struct rig_err *err);
/* A scalar, or a list or mapping on one line, as `--set KEY=` takes it. Refuses texts in quotes with `\`, `"` or a line break. */
enum rig_rc rig_yaml_write_value(const struct rig_yaml_tree *tree, const struct rig_yaml_node *node,
                                 struct rig_buf *out, struct rig_err *err);

#endif
