#include "drivers/http/dialect_template.h"

#include <ctype.h>
#include <string.h>

#include "base/nearest.h"

#define SET_NAME(name, text) text,
const char *const rig_dialect_set_names[] = {RIG_DIALECT_SET_TABLE(SET_NAME) NULL};
#undef SET_NAME

enum { REFERENCE_BYTES = 128, PARTS_MOST = 64 };

/* -- names in `${...}` --------------------------------------------------------------------------------------------- */

struct value_row {
    const char *name;
    bool needs_element;
    enum rig_part_kind kind;
};

#define RIG_VALUE_KEY                        RIG_PART_KEY
#define RIG_VALUE_VALUE                      RIG_PART_VALUE
#define RIG_VALUE_EXPECTED                   RIG_PART_EXPECTED
#define RIG_VALUE_VERSION                    RIG_PART_VERSION
#define RIG_VALUE_INDEX                      RIG_PART_INDEX
#define RIG_VALUE_CLIENT                     RIG_PART_CLIENT
#define RIG_VALUE_RUN                        RIG_PART_RUN
#define VALUE_ROW(kind, text, element, help) {text, element, kind},
static const struct value_row value_rows[] = {RIG_DIALECT_VALUE_TABLE(VALUE_ROW){NULL, false, RIG_PART_LITERAL}};
#undef VALUE_ROW

#define FILTER_NAME(name, text, help) text,
static const char *const filter_names[] = {RIG_DIALECT_FILTER_TABLE(FILTER_NAME) NULL};
#undef FILTER_NAME

static bool uses_element(const struct rig_text_template *text, const struct rig_dialect *dialect)
{
    for (size_t i = 0; i < text->count; i++) {
        const struct rig_text_part *part = &text->parts[i];
        for (const struct value_row *row = value_rows; row->name != NULL; row++) {
            if (row->kind == part->kind && row->needs_element)
                return true;
        }
        if (part->kind == RIG_PART_NAME && uses_element(&dialect->names[part->index].text, dialect))
            return true;
    }
    return false;
}

/* Sets kind and index; false when there is no such name, with the nearest one. */
static bool find_value(const struct rig_dialect *dialect, const char *name, struct rig_text_part *part,
                       const char **near)
{
    struct rig_nearest nearest;
    rig_nearest_init(&nearest, name);
    for (const struct value_row *row = value_rows; row->name != NULL; row++) {
        part->kind = row->kind;
        if (strcmp(row->name, name) == 0)
            return true;
        rig_nearest_offer(&nearest, row->name);
    }
    for (part->kind = RIG_PART_PARAMETER, part->index = 0; part->index < dialect->parameter_count; part->index++) {
        if (strcmp(dialect->parameters[part->index].name, name) == 0)
            return true;
        rig_nearest_offer(&nearest, dialect->parameters[part->index].name);
    }
    for (part->kind = RIG_PART_NAME, part->index = 0; part->index < dialect->name_count; part->index++) {
        if (strcmp(dialect->names[part->index].name, name) == 0)
            return true;
        rig_nearest_offer(&nearest, dialect->names[part->index].name);
    }
    for (part->kind = RIG_PART_VARIABLE, part->index = 0; part->index < dialect->variable_count; part->index++) {
        if (strcmp(dialect->variables[part->index], name) == 0)
            return true;
        rig_nearest_offer(&nearest, dialect->variables[part->index]);
    }
    *near = nearest.best;
    return false;
}

static enum rig_rc add_filter(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              const char *what, const char *name, struct rig_text_part *part, struct rig_err *err)
{
    if (part->filter_count == RIG_DIALECT_FILTERS_MOST)
        return rig_dialect_refuse(reader, node, what, err, "more than %d filters", (int)RIG_DIALECT_FILTERS_MOST);
    for (unsigned i = 0; filter_names[i] != NULL; i++) {
        if (strcmp(filter_names[i], name) == 0) {
            part->filters[part->filter_count++] = (enum rig_dialect_filter)i;
            return RIG_OK;
        }
    }
    const char *near = rig_nearest_of(name, filter_names);
    if (near != NULL)
        return rig_dialect_refuse(reader, node, what, err, "there is no filter `%.40s`; did you mean `%s`?", name,
                                  near);
    return rig_dialect_refuse(reader, node, what, err,
                              "there is no filter `%.40s`; expected text, csv, base64, base64url or url", name);
}

/* "name|filter|filter", without the braces. */
static enum rig_rc parse_reference(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                   struct rig_template_place place, char *reference, struct rig_text_part *part,
                                   struct rig_err *err)
{
    char *rest = reference;
    const char *name = strsep(&rest, "|");
    const char *near = NULL;
    if (!find_value(reader->dialect, name, part, &near)) {
        if (near != NULL)
            return rig_dialect_refuse(reader, node, place.what, err, "there is no `${%.40s}`; did you mean `%s`?", name,
                                      near);
        return rig_dialect_refuse(reader, node, place.what, err,
                                  "there is no `${%.40s}`; expected key, value, version, index, client, or a "
                                  "parameter, name or variable of this dialect",
                                  name);
    }
    const struct rig_text_template alone = {.parts = part, .count = 1};
    if (place.set == RIG_SET_ONCE && uses_element(&alone, reader->dialect))
        return rig_dialect_refuse(reader, node, place.what, err,
                                  "`${%.40s}` needs an element, and there is none here: put it into `$each`, or give "
                                  "the step a `for`",
                                  name);
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && rest != NULL)
        rc = add_filter(reader, node, place.what, strsep(&rest, "|"), part, err);
    return rc;
}

/* -- texts --------------------------------------------------------------------------------------------------------- */

static enum rig_rc keep_parts(const struct rig_dialect_reader *reader, const struct rig_text_part *parts, size_t count,
                              struct rig_text_template *text, struct rig_err *err)
{
    struct rig_text_part *kept = rig_arena_array(&reader->dialect->arena, count + 1, sizeof *kept);
    if (kept == NULL)
        return rig_dialect_no_memory(err);
    memcpy(kept, parts, count * sizeof *kept);
    *text = (struct rig_text_template){.parts = kept, .count = count};
    return RIG_OK;
}

/* The piece at `at`: `$$`, `${...}` or plain text; moves `at` behind it. */
static enum rig_rc parse_part(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              struct rig_template_place place, const char **at, struct rig_text_part *part,
                              struct rig_err *err)
{
    const char *here = *at;
    *part = (struct rig_text_part){.kind = RIG_PART_LITERAL, .literal = here};
    if (here[0] == '$' && here[1] == '{') {
        char reference[REFERENCE_BYTES];
        const size_t length = strcspn(here + 2, "}");
        if (here[2 + length] != '}' || length >= sizeof reference)
            return rig_dialect_refuse(reader, node, place.what, err, "`${` without its `}`");
        memcpy(reference, here + 2, length);
        reference[length] = '\0';
        *at = here + length + 3;
        return parse_reference(reader, node, place, reference, part, err);
    }
    const bool dollar = here[0] == '$';
    part->literal_size = dollar ? 1 : strcspn(here, "$");
    *at = here + (dollar && here[1] == '$' ? 2 : part->literal_size);
    return RIG_OK;
}

enum rig_rc rig_template_text(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              struct rig_template_place place, struct rig_text_template *text, struct rig_err *err)
{
    struct rig_text_part parts[PARTS_MOST];
    size_t count = 0;
    const char *at = NULL;
    enum rig_rc rc = rig_dialect_text(reader, node, place.what, &at, err);
    while (rc == RIG_OK && *at != '\0') {
        if (count == PARTS_MOST)
            return rig_dialect_refuse(reader, node, place.what, err, "more than %d parts in a text", (int)PARTS_MOST);
        rc = parse_part(reader, node, place, &at, &parts[count++], err);
    }
    return rc == RIG_OK ? keep_parts(reader, parts, count, text, err) : rc;
}

/* -- conditions ---------------------------------------------------------------------------------------------------- */

struct condition_row {
    const char *name;
    enum rig_condition_kind kind;
};

static const struct condition_row condition_rows[] = {
    {"writes", RIG_CONDITION_WRITES},     {"read-only", RIG_CONDITION_READ_ONLY}, {"compares", RIG_CONDITION_COMPARES},
    {"acquires", RIG_CONDITION_ACQUIRES}, {"takes", RIG_CONDITION_TAKES},         {"read", RIG_CONDITION_READ},
    {"write", RIG_CONDITION_WRITE},       {"exists", RIG_CONDITION_EXISTS},       {"appends", RIG_CONDITION_APPENDS},
    {"works", RIG_CONDITION_WORKS},
};
enum { CONDITION_COUNT = sizeof condition_rows / sizeof condition_rows[0] };

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " ");
}

/* "parameter = value" */
static enum rig_rc parse_comparison(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                    const char *what, const char *text, struct rig_condition *condition,
                                    struct rig_err *err)
{
    const struct rig_dialect *dialect = reader->dialect;
    const size_t length = strcspn(text, " =");
    condition->kind = RIG_CONDITION_PARAMETER;
    condition->value = skip_blanks(strchr(text, '=') + 1);
    for (condition->parameter = 0; condition->parameter < dialect->parameter_count; condition->parameter++) {
        const struct rig_dialect_parameter *parameter = &dialect->parameters[condition->parameter];
        if (strlen(parameter->name) != length || strncmp(parameter->name, text, length) != 0)
            continue;
        for (size_t i = 0; parameter->choices != NULL; i++) {
            if (parameter->choices[i] == NULL)
                return rig_dialect_refuse(reader, node, what, err, "the parameter `%s` cannot be `%.40s`",
                                          parameter->name, condition->value);
            if (strcmp(parameter->choices[i], condition->value) == 0)
                break;
        }
        return RIG_OK;
    }
    return rig_dialect_refuse(reader, node, what, err, "there is no parameter `%.*s`", (int)length, text);
}

static enum rig_rc parse_condition(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                   struct rig_template_place place, struct rig_condition *condition,
                                   struct rig_err *err)
{
    const char *text = NULL;
    struct rig_nearest nearest;
    const enum rig_rc rc = rig_dialect_text(reader, node, place.what, &text, err);
    if (rc != RIG_OK)
        return rc;
    *condition = (struct rig_condition){.negated = strncmp(text, "not ", 4) == 0};
    text = skip_blanks(condition->negated ? text + 4 : text);
    if (strchr(text, '=') != NULL)
        return parse_comparison(reader, node, place.what, text, condition, err);
    rig_nearest_init(&nearest, text);
    for (size_t i = 0; i < CONDITION_COUNT; i++) {
        condition->kind = condition_rows[i].kind;
        rig_nearest_offer(&nearest, condition_rows[i].name);
        if (strcmp(condition_rows[i].name, text) != 0)
            continue;
        const bool of_operation = condition->kind == RIG_CONDITION_READ || condition->kind == RIG_CONDITION_WRITE;
        if (of_operation && place.set != RIG_SET_OPERATIONS)
            return rig_dialect_refuse(reader, node, place.what, err,
                                      "`%s` needs an operation, and there is none here; for the transaction use "
                                      "`writes` or `read-only`",
                                      text);
        if (condition->kind == RIG_CONDITION_EXISTS && place.set == RIG_SET_ONCE)
            return rig_dialect_refuse(reader, node, place.what, err,
                                      "`exists` needs an element, and there is none here");
        return RIG_OK;
    }
    if (nearest.best != NULL)
        return rig_dialect_refuse(reader, node, place.what, err, "there is no condition `%.40s`; did you mean `%s`?",
                                  text, nearest.best);
    return rig_dialect_refuse(reader, node, place.what, err,
                              "there is no condition `%.40s`; expected writes, read-only, compares, acquires, "
                              "works, takes, appends, read, write, exists or PARAMETER = VALUE, optionally after `not`",
                              text);
}

enum rig_rc rig_template_conditions(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                    struct rig_template_place place, struct rig_conditions *conditions,
                                    struct rig_err *err)
{
    conditions->count = 0;
    if (node == NULL)
        return RIG_OK;
    if (node->kind == RIG_YAML_SCALAR)
        return parse_condition(reader, node, place, &conditions->at[conditions->count++], err);
    enum rig_rc rc = rig_dialect_sequence(reader, node, place.what, RIG_DIALECT_CONDITIONS_MOST, err);
    for (const struct rig_yaml_entry *entry = node->first; rc == RIG_OK && entry != NULL; entry = entry->next)
        rc = parse_condition(reader, entry->value, place, &conditions->at[conditions->count++], err);
    return rc;
}

/* -- JSON ---------------------------------------------------------------------------------------------------------- */

/* A number as JSON writes it. */
static bool is_number(const char *text)
{
    const char *at = text + (*text == '-');
    const size_t whole = strspn(at, "0123456789");
    if (whole == 0 || (whole > 1 && *at == '0'))
        return false;
    at += whole;
    if (*at == '.') {
        const size_t fraction = strspn(at + 1, "0123456789");
        if (fraction == 0)
            return false;
        at += fraction + 1;
    }
    return *at == '\0';
}

static enum rig_rc compile_scalar(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                  struct rig_template_place place, struct rig_template *made, struct rig_err *err)
{
    made->kind = RIG_TEMPLATE_PLAIN;
    made->plain = node->is_null ? "null" : node->text;
    if (node->is_null ||
        (node->plain && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0 || is_number(node->text))))
        return RIG_OK;
    const enum rig_rc rc = rig_template_text(reader, node, place, &made->text, err);
    const struct rig_text_part *only = made->text.count == 1 ? &made->text.parts[0] : NULL;
    /* A name is always a text. */
    const bool typed = only != NULL && only->kind != RIG_PART_LITERAL && only->kind != RIG_PART_NAME;
    made->kind = typed ? RIG_TEMPLATE_TYPED : RIG_TEMPLATE_TEXT;
    return rc;
}

static enum rig_rc compile(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                           struct rig_template_place place, bool in_list, struct rig_template *made,
                           struct rig_err *err);

static enum rig_rc compile_child(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                 struct rig_template_place place, const char *name, bool in_list,
                                 struct rig_template **child, struct rig_err *err)
{
    *child = rig_arena_alloc(&reader->dialect->arena, sizeof **child);
    if (*child == NULL)
        return rig_dialect_no_memory(err);
    (*child)->name = name;
    return compile(reader, node, place, in_list, *child, err);
}

static enum rig_rc compile_children(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                    struct rig_template_place place, struct rig_template *made, struct rig_err *err)
{
    struct rig_template *last = NULL;
    const bool in_list = node->kind == RIG_YAML_SEQUENCE;
    made->kind = in_list ? RIG_TEMPLATE_ARRAY : RIG_TEMPLATE_OBJECT;
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        struct rig_template *child = NULL;
        const enum rig_rc rc = compile_child(reader, entry->value, place, entry->key, in_list, &child, err);
        if (rc != RIG_OK)
            return rc;
        if (last == NULL)
            made->first = child;
        else
            last->next = child;
        last = child;
    }
    return RIG_OK;
}

static enum rig_rc compile_each(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                                struct rig_template_place place, bool in_list, struct rig_template *made,
                                struct rig_err *err)
{
    static const char *const keys[] = {"$each", "$item", "$when", NULL};
    const struct rig_yaml_node *item = rig_dialect_member(node, "$item");
    unsigned set = 0;
    if (!in_list)
        return rig_dialect_refuse(reader, node, place.what, err,
                                  "`$each` makes elements of a list: write `- $each: ...`");
    enum rig_rc rc = rig_dialect_mapping(reader, node, place.what, keys, err);
    if (rc == RIG_OK && item == NULL)
        rc = rig_dialect_refuse(reader, node, place.what, err, "`$each` without its `$item`");
    if (rc == RIG_OK)
        rc = rig_dialect_choice(reader, rig_dialect_member(node, "$each"), place.what, rig_dialect_set_names + 1, &set,
                                err);
    if (rc != RIG_OK)
        return rc;
    made->kind = RIG_TEMPLATE_EACH;
    made->set = (enum rig_dialect_set)(set + 1);
    place.set = made->set;
    rc = rig_template_conditions(reader, rig_dialect_member(node, "$when"), place, &made->when, err);
    struct rig_template *child = NULL;
    if (rc == RIG_OK)
        rc = compile_child(reader, item, place, NULL, false, &child, err);
    made->first = child;
    return rc;
}

static enum rig_rc compile_if(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              struct rig_template_place place, struct rig_template *made, struct rig_err *err)
{
    static const char *const keys[] = {"$if", "$then", "$else", NULL};
    const struct rig_yaml_node *then = rig_dialect_member(node, "$then");
    const struct rig_yaml_node *otherwise = rig_dialect_member(node, "$else");
    struct rig_template *child = NULL;
    enum rig_rc rc = rig_dialect_mapping(reader, node, place.what, keys, err);
    if (rc == RIG_OK && then == NULL)
        rc = rig_dialect_refuse(reader, node, place.what, err, "`$if` without its `$then`");
    if (rc == RIG_OK)
        rc = rig_template_conditions(reader, rig_dialect_member(node, "$if"), place, &made->when, err);
    if (rc == RIG_OK)
        rc = compile_child(reader, then, place, NULL, false, &child, err);
    made->kind = RIG_TEMPLATE_IF;
    made->first = child;
    if (rc == RIG_OK && otherwise != NULL) {
        rc = compile_child(reader, otherwise, place, NULL, false, &child, err);
        made->otherwise = child;
    }
    return rc;
}

/* The YAML's depth bounds this one's. */
static enum rig_rc compile(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                           struct rig_template_place place, bool in_list, struct rig_template *made,
                           struct rig_err *err)
{
    if (node->kind == RIG_YAML_SCALAR)
        return compile_scalar(reader, node, place, made, err);
    if (node->kind == RIG_YAML_SEQUENCE)
        return compile_children(reader, node, place, made, err);
    if (rig_dialect_member(node, "$each") != NULL)
        return compile_each(reader, node, place, in_list, made, err);
    if (rig_dialect_member(node, "$if") != NULL)
        return compile_if(reader, node, place, made, err);
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        if (entry->key[0] == '$')
            return rig_yaml_refuse(&reader->tree, &entry->key_place, err,
                                   "%s: `%.40s` is not a construct; expected `$each` with `$item`, or `$if` with "
                                   "`$then`",
                                   place.what, entry->key);
    }
    const enum rig_rc rc = rig_dialect_mapping(reader, node, place.what, NULL, err);
    return rc == RIG_OK ? compile_children(reader, node, place, made, err) : rc;
}

enum rig_rc rig_template_json(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                              struct rig_template_place place, const struct rig_template **json, struct rig_err *err)
{
    struct rig_template *made = NULL;
    const enum rig_rc rc = compile_child(reader, node, place, NULL, false, &made, err);
    if (rc == RIG_OK)
        *json = made;
    return rc;
}
