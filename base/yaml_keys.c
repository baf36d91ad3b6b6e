#include "base/yaml_keys.h"

#include <string.h>

#include "base/nearest.h"
#include "base/printable.h"

struct rig_yaml_node *rig_yaml_value(const struct rig_yaml_node *mapping, const char *key)
{
    for (const struct rig_yaml_entry *entry = mapping->first; entry != NULL; entry = entry->next) {
        if (strcmp(entry->key, key) == 0)
            return entry->value;
    }
    return NULL;
}

enum rig_rc rig_yaml_check_keys(const struct rig_yaml_tree *tree, const struct rig_yaml_node *node,
                                const char *const *known, struct rig_err *err)
{
    if (node->kind != RIG_YAML_MAPPING)
        return rig_yaml_refuse(tree, &node->place, err, "expected keys with values");
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        bool found = false;
        for (size_t i = 0; known[i] != NULL; i++)
            found |= strcmp(known[i], entry->key) == 0;
        if (found)
            continue;
        const char *nearest = rig_nearest_of(entry->key, known);
        if (nearest != NULL)
            return rig_yaml_refuse(tree, &entry->key_place, err, "unknown key `%s`; did you mean `%s`?", entry->key,
                                   nearest);
        return rig_yaml_refuse(tree, &entry->key_place, err, "unknown key `%s`", entry->key);
    }
    return RIG_OK;
}

enum rig_rc rig_yaml_need(const struct rig_yaml_tree *tree, const struct rig_yaml_node *mapping, const char *key,
                          enum rig_yaml_node_kind kind, struct rig_yaml_node **value, struct rig_err *err)
{
    static const char *const kinds[] = {
        [RIG_YAML_SCALAR] = "a text", [RIG_YAML_MAPPING] = "keys with values", [RIG_YAML_SEQUENCE] = "a list"};
    *value = rig_yaml_value(mapping, key);
    if (*value == NULL)
        return rig_yaml_refuse(tree, &mapping->place, err, "the key `%s` is missing", key);
    if ((*value)->kind != kind)
        return rig_yaml_refuse(tree, &(*value)->place, err, "`%s`: expected %s", key, kinds[kind]);
    return RIG_OK;
}

enum rig_rc rig_yaml_text(const struct rig_yaml_tree *tree, const struct rig_yaml_node *node, const char **text,
                          struct rig_err *err)
{
    if (node->kind != RIG_YAML_SCALAR || node->is_null)
        return rig_yaml_refuse(tree, &node->place, err, "expected a text");
    *text = node->text;
    return RIG_OK;
}

enum rig_rc rig_yaml_need_text(const struct rig_yaml_tree *tree, const struct rig_yaml_node *mapping, const char *key,
                               const char **text, struct rig_err *err)
{
    struct rig_yaml_node *node;
    const enum rig_rc rc = rig_yaml_need(tree, mapping, key, RIG_YAML_SCALAR, &node, err);
    return rc == RIG_OK ? rig_yaml_text(tree, node, text, err) : rc;
}

enum rig_rc rig_yaml_need_line(const struct rig_yaml_tree *tree, const struct rig_yaml_node *mapping, const char *key,
                               struct rig_arena *arena, const char **text, struct rig_err *err)
{
    const char *given = NULL;
    enum rig_rc rc = rig_yaml_need_text(tree, mapping, key, &given, err);
    if (rc != RIG_OK)
        return rc;
    char *line = rig_arena_text(arena, given, strlen(given));
    if (line == NULL)
        return rig_no_memory(err, "a text");
    rig_printable_line(line);
    *text = line;
    return RIG_OK;
}

/* In quotes below the top where it had some. */
static enum rig_rc write_value(const struct rig_yaml_tree *tree, const struct rig_yaml_node *node, bool is_top,
                               struct rig_buf *out, struct rig_err *err)
{
    if (node->kind == RIG_YAML_SCALAR) {
        const bool quoted = !is_top && !node->plain;
        if (quoted && strpbrk(node->text, "\\\"\n") != NULL)
            return rig_yaml_refuse(tree, &node->place, err, "no \\, \" or line break here");
        rig_buf_printf(out, quoted ? "\"%s\"" : "%s", node->text);
        return RIG_OK;
    }
    const bool maps = node->kind == RIG_YAML_MAPPING;
    enum rig_rc rc = RIG_OK;
    rig_buf_add_char(out, maps ? '{' : '[');
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL && rc == RIG_OK; entry = entry->next) {
        if (maps)
            rig_buf_printf(out, "%s: ", entry->key);
        rc = write_value(tree, entry->value, false, out, err);
        rig_buf_add_text(out, entry->next == NULL ? "" : ", ");
    }
    rig_buf_add_char(out, maps ? '}' : ']');
    return rc;
}

enum rig_rc rig_yaml_write_value(const struct rig_yaml_tree *tree, const struct rig_yaml_node *node,
                                 struct rig_buf *out, struct rig_err *err)
{
    return write_value(tree, node, true, out, err);
}
