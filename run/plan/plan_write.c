#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/json_write.h"
#include "base/option_number.h"
#include "base/option_parse.h"
#include "base/password.h"
#include "base/printable.h"
#include "base/secret.h"
#include "run/plan/plan_sections.h"

enum { HELP_COLUMN = 44, HELP_COLUMNS = 70, HELP_BYTES = 100, INDENT = 2 };

/* -- texts --------------------------------------------------------------------------------------------------------- */

/* Gives `text` as it may be shown: passwords and registered secrets masked. */
static struct rig_buf safe_text(const char *text)
{
    struct rig_buf safe;
    rig_buf_init(&safe, 0);
    rig_password_mask(NULL, text, &safe);
    if (safe.data != NULL)
        rig_secret_redact(safe.data, safe.size + 1);
    return safe;
}

/* Whether YAML reads `text`, unquoted, as this text, also inside brackets. */
static bool is_plain(const char *text)
{
    static const char *const special[] = {"~", "null", "Null", "NULL"};
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%+-";
    const size_t length = strlen(text);
    if (length == 0 || strspn(text, allowed) != length || strchr("%+-.", text[0]) != NULL)
        return false;
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        if (strcmp(text, special[i]) == 0)
            return false;
    }
    return true;
}

/* Double-quoted, with what YAML does not print as escapes. */
static void write_quoted(const char *text, struct rig_buf *out)
{
    rig_buf_add_char(out, '"');
    for (size_t at = 0, size = strlen(text); at < size;) {
        uint32_t code = 0;
        const size_t length = rig_utf8_decode(text + at, size - at, &code);
        if (length == 0) /* a variable of the environment may hold anything; the plan's own texts are UTF-8 */
            rig_buf_printf(out, "\\x%02X", (unsigned char)text[at]);
        else if (code == '"' || code == '\\')
            rig_buf_printf(out, "\\%c", (char)code);
        else if (code < 0x20 || (code >= 0x7F && code < 0xA0))
            rig_buf_printf(out, "\\x%02X", (unsigned)code);
        else if (code > 0xFFFF)
            rig_buf_printf(out, "\\U%08X", (unsigned)code);
        else if (code == 0x2028 || code == 0x2029 || code >= 0xD800)
            rig_buf_printf(out, "\\u%04X", (unsigned)code);
        else
            rig_buf_add(out, text + at, length);
        at += length == 0 ? 1 : length;
    }
    rig_buf_add_char(out, '"');
}

static void write_plain_or_quoted(const char *text, struct rig_buf *out)
{
    if (is_plain(text))
        rig_buf_add_text(out, text);
    else
        write_quoted(text, out);
}

/* A text with expanded variables; expanding it again changes nothing. */
static void write_text(const char *text, struct rig_buf *out)
{
    struct rig_buf safe = safe_text(text);
    struct rig_buf escaped;
    rig_buf_init(&escaped, 0);
    for (const char *at = rig_buf_text(&safe); *at != '\0'; at++) {
        rig_buf_add_char(&escaped, *at);
        if (*at == '$')
            rig_buf_add_char(&escaped, '$');
    }
    write_plain_or_quoted(rig_buf_text(&escaped), out);
    rig_buf_done(&escaped);
    rig_buf_done(&safe);
}

/* Writes a value that has a secret: references stay references. */
static void write_shown(const char *shown, struct rig_buf *out)
{
    char *safe = strdup(shown);
    if (safe != NULL)
        rig_secret_redact(safe, strlen(safe) + 1);
    write_plain_or_quoted(safe == NULL ? RIG_SECRET_MASK : safe, out);
    free(safe);
}

/* An element of the option's value, or the value. */
static void write_element_of(const struct rig_plan_part *part, size_t option, size_t element, const char *text,
                             struct rig_buf *out)
{
    const char *shown = part->shown[option] == NULL ? NULL : part->shown[option][element];
    if (shown != NULL)
        write_shown(shown, out);
    else if (part->table == rig_plan_database_table)
        write_plain_or_quoted(text, out); /* the driver's name hides nothing, whatever the password is */
    else
        write_text(text, out);
}

static const struct rig_text_list *list_of(const struct rig_option *option, const void *object)
{
    RIG_REQUIRE(rig_option_is_list(option));
    return (const struct rig_text_list *)(const void *)((const char *)object + option->offset);
}

static const char *text_of(const struct rig_option *option, const void *object)
{
    RIG_REQUIRE(option->type == RIG_OPTION_TEXT || option->type == RIG_OPTION_SECRET);
    return *(const char *const *)(const void *)((const char *)object + option->offset);
}

static void write_value(const struct rig_plan_part *part, size_t index, struct rig_buf *out)
{
    const struct rig_option *option = &part->table[index];
    const void *object = part->object;
    if (option->type == RIG_OPTION_TEXT) {
        write_element_of(part, index, 0, text_of(option, object), out);
    } else if (option->type == RIG_OPTION_SECRET) {
        write_shown(part->shown[index] == NULL ? RIG_SECRET_MASK : part->shown[index][0], out);
    } else if (rig_option_is_list(option)) {
        const struct rig_text_list *list = list_of(option, object);
        rig_buf_add_char(out, '[');
        for (size_t i = 0; i < list->count; i++) {
            rig_buf_add_text(out, i == 0 ? "" : ", ");
            write_element_of(part, index, i, list->at[i], out);
        }
        rig_buf_add_char(out, ']');
    } else {
        rig_option_format(option, object, out);
    }
}

/* -- YAML ---------------------------------------------------------------------------------------------------------- */

/* The options of one part at one level of the nesting: their names start with `prefix`. */
struct level {
    const struct rig_plan_part *part;
    const char *prefix;
    size_t prefix_length;
    unsigned indent;
};

static bool is_below(const struct level *level, const char *name)
{
    return strncmp(name, level->prefix, level->prefix_length) == 0;
}

/* Whether an earlier option starts with the same key at this level: then the key is written already. */
static bool is_repeated(const struct level *level, size_t index)
{
    const struct rig_option *table = level->part->table;
    const size_t length = strcspn(table[index].name + level->prefix_length, ".") + level->prefix_length;
    for (size_t i = 0; i < index; i++) {
        if (strncmp(table[i].name, table[index].name, length) == 0 && table[i].name[length] == '.')
            return true;
    }
    return false;
}

static bool any_known(const struct level *level)
{
    for (size_t i = 0; i < level->part->option_count; i++) {
        if (is_below(level, level->part->table[i].name) && level->part->known[i])
            return true;
    }
    return false;
}

static void add_spaces(struct rig_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rig_buf_add_char(out, ' ');
}

/* The help as a comment from HELP_COLUMN on, in as many lines as it needs. */
static void write_help(bool known, const char *help, size_t length, struct rig_buf *yaml)
{
    struct rig_buf text, lines;
    rig_buf_init(&text, 0);
    rig_buf_init(&lines, 0);
    rig_buf_printf(&text, "%s%.*s", known ? "" : "not given; ", (int)length, help);
    rig_wrap(rig_buf_text(&text), 0, HELP_COLUMNS, &lines);
    const char *line = rig_buf_text(&lines);
    while (*line != '\0') {
        const size_t size = strcspn(line, "\n");
        rig_buf_printf(yaml, "# %.*s", (int)size, line);
        line += size + (line[size] == '\n');
        if (*line != '\0') {
            rig_buf_add_char(yaml, '\n');
            add_spaces(yaml, HELP_COLUMN);
        }
    }
    yaml->failed |= text.failed || lines.failed;
    rig_buf_done(&text);
    rig_buf_done(&lines);
}

static void write_option(const struct level *level, size_t index, bool with_help, struct rig_buf *yaml)
{
    const struct rig_option *option = &level->part->table[index];
    const bool known = level->part->known[index];
    if (!known && !with_help)
        return;
    const size_t start = yaml->size;
    add_spaces(yaml, level->indent);
    rig_buf_printf(yaml, "%s%s:", known ? "" : "# ", option->name + level->prefix_length);
    if (known) {
        rig_buf_add_char(yaml, ' ');
        write_value(level->part, index, yaml);
    }
    if (with_help) {
        const size_t width = yaml->size - start;
        add_spaces(yaml, width < HELP_COLUMN ? HELP_COLUMN - width : 2);
        /* A long help says the essence up to its first semicolon; the reference page has all of it. */
        const size_t length = strlen(option->help) > HELP_BYTES ? strcspn(option->help, ";") : strlen(option->help);
        write_help(known, option->help, length, yaml);
    }
    rig_buf_add_char(yaml, '\n');
}

static void write_level(const struct level *level, bool with_help, struct rig_buf *yaml)
{
    for (size_t i = 0; i < level->part->option_count; i++) {
        const char *name = level->part->table[i].name;
        if (!is_below(level, name))
            continue;
        const char *rest = name + level->prefix_length;
        const size_t key_length = strcspn(rest, ".");
        if (rest[key_length] == '\0') {
            write_option(level, i, with_help, yaml);
            continue;
        }
        if (is_repeated(level, i))
            continue;
        char prefix[256];
        (void)snprintf(prefix, sizeof prefix, "%.*s.", (int)(level->prefix_length + key_length), name);
        const struct level inner = {level->part, prefix, strlen(prefix), level->indent + INDENT};
        const bool known = any_known(&inner);
        if (!known && !with_help)
            continue;
        add_spaces(yaml, level->indent);
        rig_buf_printf(yaml, "%s%.*s:\n", known ? "" : "# ", (int)key_length, rest);
        write_level(&inner, with_help, yaml);
    }
}

static void write_parts(const struct rig_plan_section *section, unsigned indent, bool with_help, struct rig_buf *yaml)
{
    for (size_t p = 0; p < RIG_PLAN_PARTS; p++) {
        const struct level level = {&section->parts[p], "", 0, indent};
        write_level(&level, with_help, yaml);
    }
}

/* An element of a list: its first key stands after the dash. */
static void write_element(const struct rig_plan_section *section, bool with_help, struct rig_buf *yaml)
{
    const size_t start = yaml->size;
    write_parts(section, 3 * INDENT, with_help, yaml);
    if (!yaml->failed && yaml->size > start + 2 * INDENT)
        yaml->data[start + 2 * INDENT] = '-';
}

/* A plan without phases says nothing of them. */
static void write_phases(const struct rig_plan_phases *phases, bool with_help, struct rig_buf *yaml)
{
    if (phases->count > 0)
        rig_buf_printf(yaml, "%s:\n", rig_plan_phases_key);
    for (uint32_t i = 0; i < phases->count; i++)
        write_element(&phases->sections[i], with_help, yaml);
}

/* A plan without faults says nothing of them. */
static void write_nemesis(const struct rig_plan_nemesis *nemesis, bool with_help, struct rig_buf *yaml)
{
    if (nemesis->node == NULL)
        return;
    rig_buf_printf(yaml, "%s:\n", rig_plan_nemesis_key);
    write_parts(&nemesis->top, INDENT, with_help, yaml);
    rig_buf_add_text(yaml, nemesis->fault_count == 0 ? "  faults: []\n" : "  faults:\n");
    for (uint32_t i = 0; i < nemesis->fault_count; i++)
        write_element(&nemesis->faults[i], with_help, yaml);
    if (nemesis->node_count > 0)
        rig_buf_add_text(yaml, "  nodes:\n");
    for (uint32_t i = 0; i < nemesis->node_count; i++) {
        rig_buf_add_text(yaml, "    ");
        write_text(nemesis->node_names[i], yaml);
        rig_buf_add_text(yaml, ":\n");
        write_parts(&nemesis->nodes[i], 3 * INDENT, with_help, yaml);
    }
}

void rig_plan_write(const struct rig_plan *plan, bool with_help, struct rig_buf *yaml)
{
    const struct rig_plan_storage *storage = plan->storage;
    const struct level top = {&storage->top.parts[0], "", 0, 0};
    write_level(&top, with_help, yaml);
    for (int id = 0; id < RIG_PLAN_SECTION_COUNT; id++) {
        const struct rig_plan_section *section = &storage->sections[id];
        rig_buf_printf(yaml, "%s:\n", section->name);
        write_parts(section, INDENT, with_help, yaml);
    }
    write_phases(&storage->phases, with_help, yaml);
    write_nemesis(&storage->nemesis, with_help, yaml);
}

/* -- JSON ---------------------------------------------------------------------------------------------------------- */

static void json_text(struct rig_json_writer *json, const char *name, const struct rig_plan_part *part, size_t option,
                      size_t element, const char *text)
{
    const char *shown = part->shown[option] == NULL ? NULL : part->shown[option][element];
    struct rig_buf safe = safe_text(shown == NULL ? text : "");
    if (shown != NULL) {
        rig_buf_add_text(&safe, shown);
        if (safe.data != NULL)
            rig_secret_redact(safe.data, safe.size + 1);
    }
    rig_json_string(json, name, part->table == rig_plan_database_table ? text : rig_buf_text(&safe));
    rig_buf_done(&safe);
}

static void json_value(struct rig_json_writer *json, const char *name, const struct rig_plan_part *part, size_t index)
{
    const struct rig_option *option = &part->table[index];
    const void *object = part->object;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_option_format(option, object, &text);
    switch (option->type) {
    case RIG_OPTION_BOOL:
    case RIG_OPTION_INT:
    case RIG_OPTION_DOUBLE:
        rig_json_plain(json, name, rig_buf_text(&text));
        break;
    case RIG_OPTION_TEXT_LIST:
    case RIG_OPTION_COMMAND:
    case RIG_OPTION_HEADERS:
        rig_json_begin_array(json, name);
        for (size_t i = 0; i < list_of(option, object)->count; i++)
            json_text(json, NULL, part, index, i, list_of(option, object)->at[i]);
        rig_json_end(json);
        break;
    case RIG_OPTION_TEXT:
    case RIG_OPTION_SECRET:
        json_text(json, name, part, index, 0, rig_buf_text(&text));
        break;
    case RIG_OPTION_SHARE:
    case RIG_OPTION_DURATION:
    case RIG_OPTION_SIZE:
    case RIG_OPTION_RATE:
    case RIG_OPTION_CHOICE:
        rig_json_string(json, name, rig_buf_text(&text));
        break;
    }
    rig_buf_done(&text);
}

static void json_level(struct rig_json_writer *json, const struct level *level)
{
    for (size_t i = 0; i < level->part->option_count; i++) {
        const struct rig_option *option = &level->part->table[i];
        if (!is_below(level, option->name))
            continue;
        const char *rest = option->name + level->prefix_length;
        const size_t key_length = strcspn(rest, ".");
        if (rest[key_length] == '\0') {
            if (level->part->known[i])
                json_value(json, rest, level->part, i);
            else
                rig_json_null(json, rest);
        } else if (!is_repeated(level, i)) {
            char prefix[256];
            char key[256];
            (void)snprintf(prefix, sizeof prefix, "%.*s.", (int)(level->prefix_length + key_length), option->name);
            (void)snprintf(key, sizeof key, "%.*s", (int)key_length, rest);
            const struct level inner = {level->part, prefix, strlen(prefix), 0};
            rig_json_begin_object(json, key);
            json_level(json, &inner);
            rig_json_end(json);
        }
    }
}

static void json_parts(struct rig_json_writer *json, const struct rig_plan_section *section)
{
    for (size_t p = 0; p < RIG_PLAN_PARTS; p++) {
        const struct level level = {&section->parts[p], "", 0, 0};
        json_level(json, &level);
    }
}

static void json_phases(struct rig_json_writer *json, const struct rig_plan_phases *phases)
{
    if (phases->count == 0)
        return;
    rig_json_begin_array(json, rig_plan_phases_key);
    for (uint32_t i = 0; i < phases->count; i++) {
        rig_json_begin_object(json, NULL);
        json_parts(json, &phases->sections[i]);
        rig_json_end(json);
    }
    rig_json_end(json);
}

static void json_nemesis(struct rig_json_writer *json, const struct rig_plan_nemesis *nemesis)
{
    if (nemesis->node == NULL)
        return;
    rig_json_begin_object(json, rig_plan_nemesis_key);
    json_parts(json, &nemesis->top);
    rig_json_begin_array(json, "faults");
    for (uint32_t i = 0; i < nemesis->fault_count; i++) {
        rig_json_begin_object(json, NULL);
        json_parts(json, &nemesis->faults[i]);
        rig_json_end(json);
    }
    rig_json_end(json);
    rig_json_begin_object(json, "nodes");
    for (uint32_t i = 0; i < nemesis->node_count; i++) {
        rig_json_begin_object(json, nemesis->node_names[i]);
        json_parts(json, &nemesis->nodes[i]);
        rig_json_end(json);
    }
    rig_json_end(json);
    rig_json_end(json);
}

void rig_plan_write_json(const struct rig_plan *plan, struct rig_buf *out)
{
    const struct rig_plan_storage *storage = plan->storage;
    struct rig_json_writer json;
    rig_json_init_indented(&json, out, INDENT, 3);
    rig_json_begin_object(&json, NULL);
    const struct level top = {&storage->top.parts[0], "", 0, 0};
    json_level(&json, &top);
    for (int id = 0; id < RIG_PLAN_SECTION_COUNT; id++) {
        rig_json_begin_object(&json, storage->sections[id].name);
        json_parts(&json, &storage->sections[id]);
        rig_json_end(&json);
    }
    json_phases(&json, &storage->phases);
    json_nemesis(&json, &storage->nemesis);
    rig_json_end(&json);
    rig_buf_add_char(out, '\n');
}
