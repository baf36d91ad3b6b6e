/*
 * Reading a dialect's YAML: mappings with known keys, texts, choices, numbers, each rejected at its place with the
 * expected form and the nearest name. Private to drivers/http/.
 */
#ifndef RIG_DRIVERS_HTTP_DIALECT_READER_H
#define RIG_DRIVERS_HTTP_DIALECT_READER_H

#include "base/yaml_tree.h"
#include "drivers/http/dialect.h"

struct rig_dialect_reader {
    struct rig_yaml_tree tree;
    struct rig_dialect *dialect;
};

enum rig_rc rig_dialect_no_memory(struct rig_err *err);
/* `<place>: <what>: <text>`. */
enum rig_rc rig_dialect_refuse(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                               const char *what, struct rig_err *err, const char *format, ...) RIG_PRINTF(5, 6);
/* Rejects nodes that are no mapping, and keys that repeat, are empty, or are not among `keys` (NULL: any). */
enum rig_rc rig_dialect_mapping(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                const char *what, const char *const *keys, struct rig_err *err);
enum rig_rc rig_dialect_sequence(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                 const char *what, size_t most, struct rig_err *err);
/* The value of a key, or NULL. `mapping` may be NULL. */
const struct rig_yaml_node *rig_dialect_member(const struct rig_yaml_node *mapping, const char *key);

/* A scalar that is not empty. The text lives as long as the dialect. */
enum rig_rc rig_dialect_text(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             const char *what, const char **text, struct rig_err *err);
/* One of the NULL-ended `names`. */
enum rig_rc rig_dialect_choice(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                               const char *what, const char *const *names, unsigned *index, struct rig_err *err);
enum rig_rc rig_dialect_whole(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              const char *what, long least, long most, long *number, struct rig_err *err);
enum rig_rc rig_dialect_bool(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             const char *what, bool *value, struct rig_err *err);
enum rig_rc rig_dialect_path(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             const char *what, struct rig_json_path *path, struct rig_err *err);

#endif
