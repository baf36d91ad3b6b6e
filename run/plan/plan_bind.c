#include "run/plan/plan_bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/nearest.h"
#include "base/option_parse.h"
#include "base/secret.h"
#include "generator/generator.h"
#include "run/plan/plan_text.h"

enum { KEY_BYTES = 256, SENTENCE_BYTES = 768 };

/* -- parts --------------------------------------------------------------------------------------------------------- */

enum rig_rc rig_plan_part_init(struct rig_plan_part *part, const struct rig_option *table, size_t object_size,
                               struct rig_arena *arena, struct rig_err *err)
{
    const enum rig_rc checked = rig_option_check_table(table, object_size, err);
    if (checked != RIG_OK)
        return checked;
    size_t count = 0;
    while (table[count].name != NULL)
        count++;
    *part = (struct rig_plan_part){.table = table, .option_count = count};
    part->object = rig_arena_alloc(arena, object_size + 1);
    part->given = rig_arena_array(arena, count + 1, sizeof *part->given);
    part->known = rig_arena_array(arena, count + 1, sizeof *part->known);
    part->shown = rig_arena_array(arena, count + 1, sizeof *part->shown);
    if (part->object == NULL || part->given == NULL || part->known == NULL || part->shown == NULL)
        return rig_no_memory(err, "a plan");
    for (size_t i = 0; i < count; i++)
        part->known[i] = table[i].default_text != NULL;
    return rig_option_defaults(table, part->object, arena, err);
}

/* -- names --------------------------------------------------------------------------------------------------------- */

/* The option or section that a key names. */
struct target {
    struct rig_plan_part *part; /* of the option; NULL: the key names no option */
    size_t index;
    bool group; /* a mapping of further keys */
};

static struct target find_target(struct rig_plan_section *section, const char *name)
{
    const size_t length = strlen(name);
    struct target target = {0};
    for (size_t p = 0; p < RIG_PLAN_PARTS; p++) {
        struct rig_plan_part *part = &section->parts[p];
        for (size_t i = 0; i < part->option_count; i++) {
            const char *option = part->table[i].name;
            if (strcmp(option, name) == 0)
                return (struct target){.part = part, .index = i};
            if (strncmp(option, name, length) == 0 && option[length] == '.')
                target.group = true;
        }
    }
    return target;
}

/* `tls: true` is short for `tls: {required: true}`, in any group that has an option of this name; else the group. */
static struct target find_switch(struct rig_plan_section *section, const char *group)
{
    const size_t length = strlen(group);
    for (size_t p = 0; p < RIG_PLAN_PARTS; p++) {
        struct rig_plan_part *part = &section->parts[p];
        for (size_t i = 0; i < part->option_count; i++) {
            const char *option = part->table[i].name;
            if (strncmp(option, group, length) == 0 && strcmp(option + length, ".required") == 0)
                return (struct target){.part = part, .index = i};
        }
    }
    return (struct target){.group = true};
}

/* The keys that `prefix` ("", or "keys.") may hold: each calls `visit` once per option below it. */
static void each_key(const struct rig_plan_section *section, const char *prefix,
                     void (*visit)(void *context, const char *key), void *context)
{
    const size_t length = strlen(prefix);
    for (size_t p = 0; p < RIG_PLAN_PARTS; p++) {
        const struct rig_plan_part *part = &section->parts[p];
        for (size_t i = 0; i < part->option_count; i++) {
            if (strncmp(part->table[i].name, prefix, length) != 0)
                continue;
            char key[KEY_BYTES];
            const char *rest = part->table[i].name + length;
            const size_t key_length = strcspn(rest, ".");
            if (key_length >= sizeof key)
                continue;
            memcpy(key, rest, key_length);
            key[key_length] = '\0';
            visit(context, key);
        }
    }
}

struct key_list {
    struct rig_buf text; /* "a, b, c" */
    char last[KEY_BYTES];
};

static void list_key(void *context, const char *key)
{
    struct key_list *list = context;
    if (strcmp(list->last, key) == 0)
        return; /* options of one group stand together */
    (void)snprintf(list->last, sizeof list->last, "%s", key);
    rig_buf_printf(&list->text, "%s%s", list->text.size == 0 ? "" : ", ", key);
}

/* Gives "a, b, c"; the caller frees it with rig_buf_done(). */
static struct rig_buf list_keys(const struct rig_plan_section *section, const char *prefix,
                                const struct rig_plan_others *others)
{
    struct key_list list = {.last = ""};
    rig_buf_init(&list.text, SENTENCE_BYTES);
    each_key(section, prefix, list_key, &list);
    for (size_t i = 0; others != NULL && others->names[i] != NULL; i++)
        list_key(&list, others->names[i]);
    return list.text;
}

struct near_key {
    const char *wanted;
    size_t distance;
    char best[KEY_BYTES];
};

static void offer_key(void *context, const char *key)
{
    struct near_key *near = context;
    struct rig_nearest nearest;
    rig_nearest_init(&nearest, near->wanted);
    rig_nearest_offer(&nearest, key);
    if (nearest.best != NULL && nearest.best_distance < near->distance) {
        near->distance = nearest.best_distance;
        (void)snprintf(near->best, sizeof near->best, "%s", key);
    }
}

/* The section's option with a name that ends in the unknown key: `cluster.hosts` for `hosts`. */
static const char *find_deeper(const struct rig_plan_section *section, const char *key)
{
    const size_t length = strlen(key);
    for (size_t i = 0; i < sizeof section->parts / sizeof section->parts[0]; i++) {
        const struct rig_option *option = section->parts[i].table;
        for (; option != NULL && option->name != NULL; option++) {
            const size_t whole = strlen(option->name);
            if (whole > length + 1 && option->name[whole - length - 1] == '.' &&
                strcmp(option->name + whole - length, key) == 0)
                return option->name;
        }
    }
    return NULL;
}

static enum rig_rc refuse_unknown_key(const struct rig_plan_section *section, const struct rig_yaml_tree *tree,
                                      const char *prefix, const struct rig_yaml_entry *entry,
                                      const struct rig_plan_others *others, struct rig_err *err)
{
    struct near_key near = {.wanted = entry->key, .distance = SIZE_MAX};
    each_key(section, prefix, offer_key, &near);
    for (size_t i = 0; others != NULL && others->names[i] != NULL; i++)
        offer_key(&near, others->names[i]);
    const char *dot = prefix[0] == '\0' || section->name[0] == '\0' ? "" : ".";
    const size_t prefix_length = prefix[0] == '\0' ? 0 : strlen(prefix) - 1;
    const char *deeper = find_deeper(section, entry->key);
    struct rig_buf where;
    rig_buf_init(&where, SENTENCE_BYTES);
    if (section->name[0] != '\0' || prefix_length > 0)
        rig_buf_printf(&where, " in `%s%s%.*s`", section->name, dot, (int)prefix_length, prefix);
    struct rig_buf key;
    rig_buf_init(&key, SENTENCE_BYTES);
    rig_option_quote(entry->key, &key);
    enum rig_rc rc;
    if (strchr(entry->key, '.') != NULL) {
        rc = rig_yaml_refuse(tree, &entry->key_place, err, "unknown key %s%s; write `a.b: c` as `a: {b: c}` in a plan",
                             rig_buf_text(&key), rig_buf_text(&where));
    } else if (deeper != NULL) {
        rc = rig_yaml_refuse(tree, &entry->key_place, err, "unknown key %s%s; did you mean `%s%s%s`?",
                             rig_buf_text(&key), rig_buf_text(&where), section->name,
                             section->name[0] == '\0' ? "" : ".", deeper);
    } else if (near.distance != SIZE_MAX) {
        rc = rig_yaml_refuse(tree, &entry->key_place, err, "unknown key %s%s; did you mean `%s`?", rig_buf_text(&key),
                             rig_buf_text(&where), near.best);
    } else {
        struct rig_buf keys = list_keys(section, prefix, others);
        rc = rig_yaml_refuse(tree, &entry->key_place, err, "unknown key %s%s; expected one of %s", rig_buf_text(&key),
                             rig_buf_text(&where), rig_buf_text(&keys));
        rig_buf_done(&keys);
    }
    rig_buf_done(&key);
    rig_buf_done(&where);
    return rc;
}

/* -- values -------------------------------------------------------------------------------------------------------- */

/* "workload.keys.active", as messages name an option. */
static void full_name(const struct rig_plan_section *section, const char *option, char name[KEY_BYTES])
{
    (void)snprintf(name, KEY_BYTES, "%s%s%s", section->name, section->name[0] == '\0' ? "" : ".", option);
}

struct binding {
    const struct rig_plan_section *section;
    const struct rig_yaml_tree *tree;
    const struct rig_option *option;
    void *object;
    const char *const **shown; /* the part's, at the option */
};

static enum rig_rc refuse_value(const struct binding *binding, const struct rig_yaml_node *node, const char *problem,
                                struct rig_err *err)
{
    char name[KEY_BYTES];
    full_name(binding->section, binding->option->name, name);
    return rig_yaml_refuse(binding->tree, &node->place, err, "%s: %s", name, problem);
}

static enum rig_rc refuse_kind(const struct binding *binding, const struct rig_yaml_node *node, struct rig_err *err)
{
    static const char *const kinds[] = {"a single value", "a mapping", "a sequence"};
    struct rig_buf problem;
    rig_buf_init(&problem, SENTENCE_BYTES);
    rig_buf_add_text(&problem, "expected ");
    rig_option_describe(binding->option, &problem);
    rig_buf_printf(&problem, ", not %s", node->is_null ? "nothing" : kinds[node->kind]);
    if (rig_option_is_list(binding->option) && binding->option->type != RIG_OPTION_COMMAND &&
        node->kind == RIG_YAML_SCALAR && !node->is_null)
        rig_buf_add_text(&problem, "; write it in brackets: [...]");
    const enum rig_rc rc = refuse_value(binding, node, rig_buf_text(&problem), err);
    rig_buf_done(&problem);
    return rc;
}

static bool expands(enum rig_option_type type)
{
    return type == RIG_OPTION_TEXT || type == RIG_OPTION_SECRET || type == RIG_OPTION_TEXT_LIST ||
           type == RIG_OPTION_COMMAND || type == RIG_OPTION_HEADERS;
}

/*
 * The text of `node` as the option takes it: expanded, no mask, its secrets registered. `shown`: what stands for it
 * where the plan is printed, or NULL.
 */
static enum rig_rc take_text(const struct binding *binding, const struct rig_yaml_node *node,
                             const struct rig_plan_before *before, const char *raw, const char **text,
                             const char **shown, struct rig_err *err)
{
    struct rig_err own = {0};
    *text = raw;
    *shown = NULL;
    if (!expands(binding->option->type))
        return RIG_OK;
    const enum rig_rc rc = rig_plan_expand(binding->tree->arena, raw, text, &own);
    if (rc == RIG_E_LIMIT)
        return rig_fail(err, rc, "%s", own.text);
    if (rc != RIG_OK)
        return refuse_value(binding, node, own.text, err);
    if (strstr(*text, RIG_SECRET_MASK) != NULL)
        return refuse_value(binding, node,
                            "`" RIG_SECRET_MASK
                            "` replaces a secret in a stored plan; give the secret, best as a variable: `${NAME}`",
                            err);
    if (!rig_plan_register(binding->option, before, raw, *text))
        return refuse_value(binding, node, "too many secrets in one plan", err);
    return rig_plan_show(binding->tree->arena, binding->option, before, raw, *text, shown, err);
}

/* Keeps what is shown for the elements of the value, when it differs from them. */
static enum rig_rc keep_shown(const struct binding *binding, const char *const *shown, size_t count,
                              struct rig_err *err)
{
    const char **kept = NULL;
    for (size_t i = 0; i < count; i++) {
        if (shown[i] == NULL)
            continue;
        if (kept == NULL)
            kept = rig_arena_array(binding->tree->arena, count, sizeof *kept);
        if (kept == NULL)
            return rig_no_memory(err, "a plan");
        kept[i] = shown[i];
    }
    *binding->shown = (const char *const *)kept;
    return RIG_OK;
}

/* The file of a model is beside the plan, wherever rig is started, or where its path says: it becomes absolute, so that
 * the stored plan has the same meaning. */
static enum rig_rc place_model(const struct binding *binding, const struct rig_yaml_node *node, const char **model,
                               struct rig_err *err)
{
    const bool is_model = binding->option == rig_option_find(rig_generator_option_table, "model");
    if (!is_model || (*model)[0] == '/')
        return RIG_OK;
    const char *path = node->place.override != NULL ? *model : rig_yaml_beside(binding->tree, *model);
    if (path == NULL)
        return rig_no_memory(err, "a plan");
    char *whole = realpath(path, NULL);
    if (whole == NULL)
        whole = realpath(*model, NULL);
    if (whole == NULL) {
        char text[SENTENCE_BYTES];
        (void)snprintf(text, sizeof text, "there is no file %s, which is relative to the folder of the plan", path);
        return refuse_value(binding, node, text, err);
    }
    *model = rig_arena_text(binding->tree->arena, whole, strlen(whole));
    free(whole);
    return *model == NULL ? rig_no_memory(err, "a plan") : RIG_OK;
}

static enum rig_rc bind_scalar(const struct binding *binding, const struct rig_yaml_node *node, struct rig_err *err)
{
    const struct rig_plan_before nothing = {0};
    const char *text = NULL, *shown = NULL;
    enum rig_rc rc = take_text(binding, node, &nothing, node->text, &text, &shown, err);
    if (rc == RIG_OK)
        rc = keep_shown(binding, &shown, 1, err);
    if (rc == RIG_OK)
        rc = place_model(binding, node, &text, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_err own = {0};
    rc = rig_option_parse(binding->option, text, binding->object, &own);
    return rc == RIG_OK ? RIG_OK : refuse_value(binding, node, own.text, err);
}

/*
 * A program of the file whose path begins with `./` or `../` is beside it, wherever rig is started: the path becomes
 * absolute, so that the stored plan has the same meaning.
 */
static enum rig_rc place_program(const struct binding *binding, const struct rig_yaml_node *node, const char **program,
                                 struct rig_err *err)
{
    const bool is_beside = strncmp(*program, "./", 2) == 0 || strncmp(*program, "../", 3) == 0;
    if (!is_beside || node->place.override != NULL)
        return RIG_OK;
    const char *path = rig_yaml_beside(binding->tree, *program);
    if (path == NULL)
        return rig_no_memory(err, "a plan");
    char *whole = realpath(path, NULL);
    if (whole == NULL) {
        char text[SENTENCE_BYTES];
        (void)snprintf(text, sizeof text, "there is no program %s, which is relative to the file", path);
        return refuse_value(binding, node, text, err);
    }
    *program = rig_arena_text(binding->tree->arena, whole, strlen(whole));
    free(whole);
    return *program == NULL ? rig_no_memory(err, "a plan") : RIG_OK;
}

/* Stores `list`, with its elements in the arena, after expanding and checking each. `element` gives their places. */
static enum rig_rc store_elements(const struct binding *binding, const struct rig_yaml_node *node,
                                  const struct rig_yaml_entry *element, const char **elements, size_t count,
                                  struct rig_err *err)
{
    const char **raw = rig_arena_array(binding->tree->arena, count + 1, sizeof *raw);
    const char **shown = rig_arena_array(binding->tree->arena, count + 1, sizeof *shown);
    if (raw == NULL || shown == NULL)
        return rig_no_memory(err, "a plan");
    for (size_t i = 0; i < count; i++) {
        const struct rig_yaml_node *at = element == NULL ? node : element->value;
        const struct rig_plan_before before = {raw, elements, i};
        raw[i] = elements[i];
        enum rig_rc rc = take_text(binding, at, &before, raw[i], &elements[i], &shown[i], err);
        if (rc == RIG_OK && i == 0 && binding->option->type == RIG_OPTION_COMMAND)
            rc = place_program(binding, at, &elements[0], err);
        if (rc != RIG_OK)
            return rc;
        struct rig_err own = {0};
        rc = rig_option_check_element(binding->option, elements[i], &own);
        if (rc != RIG_OK)
            return refuse_value(binding, at, own.text, err);
        element = element == NULL ? NULL : element->next;
    }
    const struct rig_text_list list = {.at = elements, .count = count};
    rig_option_store_list(binding->option, &list, binding->object);
    return keep_shown(binding, shown, count, err);
}

static enum rig_rc bind_sequence(const struct binding *binding, const struct rig_yaml_node *node, struct rig_err *err)
{
    if (node->count == 0 && binding->option->type == RIG_OPTION_COMMAND)
        return refuse_value(binding, node, "expected a command: the program and its arguments", err);
    const char **elements = rig_arena_array(binding->tree->arena, node->count + 1, sizeof *elements);
    if (elements == NULL)
        return rig_no_memory(err, "a plan");
    size_t count = 0;
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        if (entry->value->kind != RIG_YAML_SCALAR || entry->value->is_null)
            return refuse_value(binding, entry->value, "expected only texts in the list", err);
        elements[count++] = entry->value->text;
    }
    return store_elements(binding, node, node->first, elements, count, err);
}

/* --set writes a list as `a,b` or `[a, b]`; a command is written as a line there and in the file. */
static enum rig_rc bind_list_of_text(const struct binding *binding, const struct rig_yaml_node *node,
                                     struct rig_err *err)
{
    struct rig_text_list list;
    struct rig_err own = {0};
    const enum rig_rc rc = rig_option_split(binding->option, binding->tree->arena, node->text, &list, &own);
    if (rc != RIG_OK)
        return refuse_value(binding, node, own.text, err);
    const char **elements = rig_arena_array(binding->tree->arena, list.count + 1, sizeof *elements);
    if (elements == NULL)
        return rig_no_memory(err, "a plan");
    for (size_t i = 0; i < list.count; i++)
        elements[i] = list.at[i];
    return store_elements(binding, node, NULL, elements, list.count, err);
}

static enum rig_rc bind_value(const struct binding *binding, const struct rig_yaml_node *node, struct rig_err *err)
{
    const bool list = rig_option_is_list(binding->option);
    const bool line = binding->option->type == RIG_OPTION_COMMAND && !node->is_null;
    if (node->kind == RIG_YAML_SCALAR && (node->place.override != NULL || line))
        return list ? bind_list_of_text(binding, node, err) : bind_scalar(binding, node, err);
    if (list && node->kind == RIG_YAML_SEQUENCE)
        return bind_sequence(binding, node, err);
    if (!list && node->kind == RIG_YAML_SCALAR && !node->is_null)
        return bind_scalar(binding, node, err);
    return refuse_kind(binding, node, err);
}

/* -- sections ------------------------------------------------------------------------------------------------------ */

static enum rig_rc refuse_duplicate(const struct rig_yaml_tree *tree, const struct rig_yaml_node *mapping,
                                    const struct rig_yaml_entry *entry, struct rig_err *err)
{
    for (const struct rig_yaml_entry *earlier = mapping->first; earlier != entry; earlier = earlier->next) {
        if (strcmp(earlier->key, entry->key) == 0)
            return rig_yaml_refuse(tree, &entry->key_place, err, "the key `%s` is repeated; the first is on line %u",
                                   entry->key, earlier->key_place.line);
    }
    return RIG_OK;
}

static bool is_other(const char *key, const struct rig_plan_others *others)
{
    for (size_t i = 0; others != NULL && others->names[i] != NULL; i++) {
        if (strcmp(others->names[i], key) == 0)
            return true;
    }
    return false;
}

static enum rig_rc bind_mapping(struct rig_plan_section *section, const struct rig_yaml_tree *tree, const char *prefix,
                                const struct rig_yaml_node *mapping, const struct rig_plan_others *others,
                                struct rig_err *err);

/* `name` is a group of options: its node must be a mapping that is not empty. */
static enum rig_rc bind_group(struct rig_plan_section *section, const struct rig_yaml_tree *tree, const char *name,
                              const struct rig_yaml_node *node, struct rig_err *err)
{
    char prefix[KEY_BYTES + 1];
    char full[KEY_BYTES];
    (void)snprintf(prefix, sizeof prefix, "%s.", name);
    full_name(section, name, full);
    if (node->kind == RIG_YAML_MAPPING && node->count > 0)
        return bind_mapping(section, tree, prefix, node, NULL, err);
    struct rig_buf keys = list_keys(section, prefix, NULL);
    const char *found = node->kind == RIG_YAML_SEQUENCE                   ? "a sequence"
                        : node->kind == RIG_YAML_MAPPING || node->is_null ? "nothing"
                                                                          : "a single value";
    const enum rig_rc rc = rig_yaml_refuse(tree, &node->place, err, "%s: expected a mapping of %s, not %s", full,
                                           rig_buf_text(&keys), found);
    rig_buf_done(&keys);
    return rc;
}

/*
 * A mapping in place of a choice, where the section also has an option of shares of that choice: `isolation: {a: 60%}`
 * is `isolation-shares: "a: 60%"`. `*node` is then a single value, and the target that option.
 */
static enum rig_rc take_shares(struct rig_plan_section *section, const struct rig_yaml_tree *tree, const char *name,
                               struct target *target, const struct rig_yaml_node **node, struct rig_err *err)
{
    char shares[KEY_BYTES];
    const int length = snprintf(shares, sizeof shares, "%s-shares", name);
    if ((*node)->kind != RIG_YAML_MAPPING || target->part == NULL || length < 0 || (size_t)length >= sizeof shares)
        return RIG_OK;
    const struct target of_shares = find_target(section, shares);
    if (of_shares.part == NULL)
        return RIG_OK;
    struct rig_buf text;
    rig_buf_init(&text, SENTENCE_BYTES);
    for (const struct rig_yaml_entry *entry = (*node)->first; entry != NULL; entry = entry->next) {
        const bool is_value = entry->value->kind == RIG_YAML_SCALAR && !entry->value->is_null;
        rig_buf_printf(&text, "%s%s: %s", text.size == 0 ? "" : ", ", entry->key, is_value ? entry->value->text : "");
    }
    struct rig_yaml_node *single = rig_arena_alloc(tree->arena, sizeof *single);
    const char *copy = text.failed ? NULL : rig_arena_text(tree->arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    if (single == NULL || copy == NULL)
        return rig_no_memory(err, "a plan");
    *single = (struct rig_yaml_node){.kind = RIG_YAML_SCALAR, .place = (*node)->place, .text = copy};
    *node = single;
    *target = of_shares;
    return RIG_OK;
}

static enum rig_rc bind_entry(struct rig_plan_section *section, const struct rig_yaml_tree *tree, const char *prefix,
                              const struct rig_yaml_entry *entry, const struct rig_plan_others *others,
                              struct rig_err *err)
{
    char name[KEY_BYTES];
    const int length = snprintf(name, sizeof name, "%s%s", prefix, entry->key);
    /* A dot is how tables write nesting; in a plan `a.b` is no key. */
    const bool possible = length > 0 && (size_t)length < sizeof name && strchr(entry->key, '.') == NULL;
    struct target target = possible ? find_target(section, name) : (struct target){0};
    if (target.group && entry->value->kind == RIG_YAML_SCALAR && !entry->value->is_null)
        target = find_switch(section, name);
    if (target.part == NULL && !target.group)
        return refuse_unknown_key(section, tree, prefix, entry, others, err);
    if (target.part == NULL)
        return bind_group(section, tree, name, entry->value, err);
    const struct rig_yaml_node *value = entry->value;
    enum rig_rc rc = take_shares(section, tree, name, &target, &value, err);
    if (rc != RIG_OK)
        return rc;
    const struct binding binding = {
        .section = section,
        .tree = tree,
        .option = &target.part->table[target.index],
        .object = target.part->object,
        .shown = &target.part->shown[target.index],
    };
    rc = bind_value(&binding, value, err);
    if (rc == RIG_OK) {
        target.part->given[target.index] = value;
        target.part->known[target.index] = true;
    }
    return rc;
}

static enum rig_rc bind_mapping(struct rig_plan_section *section, const struct rig_yaml_tree *tree, const char *prefix,
                                const struct rig_yaml_node *mapping, const struct rig_plan_others *others,
                                struct rig_err *err)
{
    for (const struct rig_yaml_entry *entry = mapping->first; entry != NULL; entry = entry->next) {
        enum rig_rc rc = refuse_duplicate(tree, mapping, entry, err);
        if (rc == RIG_OK)
            rc = is_other(entry->key, others) ? others->bind(others->context, entry, err)
                                              : bind_entry(section, tree, prefix, entry, others, err);
        if (rc != RIG_OK)
            return rc;
    }
    return RIG_OK;
}

enum rig_rc rig_plan_section_bind(struct rig_plan_section *section, const struct rig_yaml_tree *tree,
                                  const struct rig_yaml_node *node, const struct rig_plan_others *others,
                                  struct rig_err *err)
{
    if (node->kind != RIG_YAML_MAPPING || node->count == 0) {
        struct rig_buf keys = list_keys(section, "", others);
        const char *found = node->kind == RIG_YAML_SEQUENCE                   ? "a sequence"
                            : node->kind == RIG_YAML_MAPPING || node->is_null ? "nothing"
                                                                              : "a single value";
        const enum rig_rc rc = rig_yaml_refuse(tree, &node->place, err, "%s: expected a mapping of %s, not %s",
                                               section->name, rig_buf_text(&keys), found);
        rig_buf_done(&keys);
        return rc;
    }
    section->node = node;
    return bind_mapping(section, tree, "", node, others, err);
}

enum rig_rc rig_plan_section_require(const struct rig_plan_section *section, const struct rig_yaml_tree *tree,
                                     struct rig_err *err)
{
    const struct rig_yaml_node *node = section->node == NULL ? tree->root : section->node;
    for (size_t p = 0; p < RIG_PLAN_PARTS; p++) {
        const struct rig_plan_part *part = &section->parts[p];
        for (size_t i = 0; i < part->option_count; i++) {
            if (!part->table[i].required || part->known[i])
                continue;
            char name[KEY_BYTES];
            full_name(section, part->table[i].name, name);
            return rig_yaml_refuse(tree, &node->place, err, "the required key `%s` is missing: %s", name,
                                   part->table[i].help);
        }
    }
    return RIG_OK;
}

const struct rig_yaml_node *rig_plan_section_given(const struct rig_plan_section *section, const char *option)
{
    for (size_t p = 0; p < RIG_PLAN_PARTS; p++) {
        for (size_t i = 0; i < section->parts[p].option_count; i++) {
            if (strcmp(section->parts[p].table[i].name, option) == 0)
                return section->parts[p].given[i];
        }
    }
    return NULL;
}

/* The node that gave the option `name`, or one of the group `name`; NULL when neither was given. */
static const struct rig_yaml_node *given_or_below(const struct rig_plan_section *section, const char *name)
{
    const size_t length = strlen(name);
    for (size_t p = 0; p < RIG_PLAN_PARTS; p++) {
        const struct rig_plan_part *part = &section->parts[p];
        for (size_t i = 0; i < part->option_count; i++) {
            const char *option = part->table[i].name;
            const bool named = strncmp(option, name, length) == 0 && (option[length] == '\0' || option[length] == '.');
            if (named && part->given[i] != NULL)
                return part->given[i];
        }
    }
    return NULL;
}

/* The node after the name that starts at `text`, which may begin with that of the section. */
static const struct rig_yaml_node *given_by_name_at(const struct rig_plan_section *section, const char *text)
{
    const size_t section_length = strlen(section->name);
    if (strncmp(text, section->name, section_length) == 0 && text[section_length] == '.')
        text += section_length + 1;
    char name[KEY_BYTES];
    const size_t length = strcspn(text, "`:= ");
    if (length == 0 || length >= sizeof name)
        return NULL;
    memcpy(name, text, length);
    name[length] = '\0';
    return given_or_below(section, name);
}

bool rig_plan_section_speaks(const struct rig_plan_section *section, const char *problem)
{
    const size_t length = strlen(section->name);
    return strncmp(problem, section->name, length) == 0 && (problem[length] == '.' || problem[length] == ':');
}

struct rig_yaml_place rig_plan_section_blame(const struct rig_plan_section *section, const struct rig_yaml_tree *tree,
                                             const char *problem)
{
    const struct rig_yaml_node *given = NULL;
    if (rig_plan_section_speaks(section, problem))
        given = given_by_name_at(section, problem);
    for (const char *open = strchr(problem, '`'); given == NULL && open != NULL; open = strchr(open + 1, '`')) {
        given = given_by_name_at(section, open + 1);
        open = strchr(open + 1, '`');
        if (open == NULL)
            break;
    }
    if (given != NULL)
        return given->place;
    return section->node == NULL ? tree->root->place : section->node->place;
}
