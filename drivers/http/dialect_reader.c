#include "drivers/http/dialect_reader.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/nearest.h"

enum rig_rc rig_dialect_no_memory(struct rig_err *err)
{
    return rig_no_memory(err, "a dialect");
}

enum rig_rc rig_dialect_refuse(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                               const char *what, struct rig_err *err, const char *format, ...)
{
    char text[RIG_ERR_TEXT_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rig_yaml_refuse(&reader->tree, &node->place, err, "%s: %s", what, text);
}

static void list_names(const char *const *names, struct rig_buf *out)
{
    for (size_t i = 0; names[i] != NULL; i++)
        rig_buf_printf(out, "%s%s", i == 0 ? "" : ", ", names[i]);
}

/* "there is no KIND `name`; did you mean ...", or with a list of all. */
static enum rig_rc refuse_name(const struct rig_dialect_reader *reader, const struct rig_yaml_place *place,
                               const char *what, const char *kind, const char *name, const char *const *names,
                               struct rig_err *err)
{
    const char *near = rig_nearest_of(name, names);
    if (near != NULL)
        return rig_yaml_refuse(&reader->tree, place, err, "%s: there is no %s `%.60s`; did you mean `%s`?", what, kind,
                               name, near);
    struct rig_buf all;
    rig_buf_init(&all, 400);
    list_names(names, &all);
    const enum rig_rc rc = rig_yaml_refuse(&reader->tree, place, err, "%s: there is no %s `%.60s`; expected %s", what,
                                           kind, name, rig_buf_text(&all));
    rig_buf_done(&all);
    return rc;
}

enum rig_rc rig_dialect_mapping(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                const char *what, const char *const *keys, struct rig_err *err)
{
    if (node->kind != RIG_YAML_MAPPING)
        return rig_dialect_refuse(reader, node, what, err, "expected a mapping (`key: value`)");
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        bool known = keys == NULL;
        for (size_t i = 0; !known && keys[i] != NULL; i++)
            known = strcmp(keys[i], entry->key) == 0;
        if (!known)
            return refuse_name(reader, &entry->key_place, what, "key", entry->key, keys, err);
        for (const struct rig_yaml_entry *other = node->first; other != entry; other = other->next) {
            if (strcmp(other->key, entry->key) == 0)
                return rig_yaml_refuse(&reader->tree, &entry->key_place, err, "%s: the key `%.60s` is repeated", what,
                                       entry->key);
        }
        if (keys != NULL && (entry->value == NULL || entry->value->is_null))
            return rig_yaml_refuse(&reader->tree, &entry->key_place, err, "%s: `%.60s` is empty", what, entry->key);
    }
    return RIG_OK;
}

enum rig_rc rig_dialect_sequence(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                 const char *what, size_t most, struct rig_err *err)
{
    if (node->kind != RIG_YAML_SEQUENCE)
        return rig_dialect_refuse(reader, node, what, err, "expected a list (`- ...`)");
    if (node->count > most)
        return rig_dialect_refuse(reader, node, what, err, "expected at most %zu of them", most);
    return RIG_OK;
}

const struct rig_yaml_node *rig_dialect_member(const struct rig_yaml_node *mapping, const char *key)
{
    const struct rig_yaml_entry *entry = mapping == NULL || mapping->kind != RIG_YAML_MAPPING ? NULL : mapping->first;
    while (entry != NULL && strcmp(entry->key, key) != 0)
        entry = entry->next;
    return entry == NULL ? NULL : entry->value;
}

enum rig_rc rig_dialect_text(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             const char *what, const char **text, struct rig_err *err)
{
    if (node->kind != RIG_YAML_SCALAR || node->is_null)
        return rig_dialect_refuse(reader, node, what, err, "expected a text");
    *text = node->text;
    return RIG_OK;
}

enum rig_rc rig_dialect_choice(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                               const char *what, const char *const *names, unsigned *index, struct rig_err *err)
{
    const char *text = NULL;
    const enum rig_rc rc = rig_dialect_text(reader, node, what, &text, err);
    if (rc != RIG_OK)
        return rc;
    for (unsigned i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *index = i;
            return RIG_OK;
        }
    }
    return refuse_name(reader, &node->place, what, "value", text, names, err);
}

enum rig_rc rig_dialect_whole(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              const char *what, long least, long most, long *number, struct rig_err *err)
{
    const char *text = "";
    char *end = NULL;
    const enum rig_rc rc = rig_dialect_text(reader, node, what, &text, err);
    if (rc != RIG_OK)
        return rc;
    const size_t length = strlen(text);
    const long found = length > 0 && length < 10 ? strtol(text, &end, 10) : 0;
    if (end == NULL || *end != '\0' || found < least || found > most)
        return rig_dialect_refuse(reader, node, what, err, "expected a whole number from %ld to %ld, not `%.60s`",
                                  least, most, text);
    *number = found;
    return RIG_OK;
}

enum rig_rc rig_dialect_bool(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             const char *what, bool *value, struct rig_err *err)
{
    static const char *const names[] = {"false", "true", NULL};
    unsigned index = 0;
    const enum rig_rc rc = rig_dialect_choice(reader, node, what, names, &index, err);
    if (rc == RIG_OK)
        *value = index == 1;
    return rc;
}

enum rig_rc rig_dialect_path(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             const char *what, struct rig_json_path *path, struct rig_err *err)
{
    const char *text = NULL;
    struct rig_err own = {0};
    enum rig_rc rc = rig_dialect_text(reader, node, what, &text, err);
    if (rc != RIG_OK)
        return rc;
    rc = rig_json_path_parse(&reader->dialect->arena, text, path, &own);
    return rc == RIG_OK ? RIG_OK : rig_dialect_refuse(reader, node, what, err, "%s", own.text);
}
