#include "base/yaml_tree.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/bug.h"
#include "base/nearest.h"
#include "base/printable.h"

enum rig_rc rig_yaml_refuse(const struct rig_yaml_tree *tree, const struct rig_yaml_place *place, struct rig_err *err,
                            const char *format, ...)
{
    char text[RIG_ERR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (place->override != NULL)
        return rig_fail(err, RIG_E_PLAN, "--set %.200s: %s", place->override, text);
    return rig_fail(err, RIG_E_PLAN, "%s:%u:%u: %s", tree->file, place->line, place->column, text);
}

static enum rig_rc out_of_memory(struct rig_err *err)
{
    return rig_no_memory(err, "a YAML file");
}

/* -- nodes --------------------------------------------------------------------------------------------------------- */

static struct rig_yaml_node *new_node(struct rig_arena *arena, enum rig_yaml_node_kind kind,
                                      struct rig_yaml_place place)
{
    struct rig_yaml_node *node = rig_arena_alloc(arena, sizeof *node);
    if (node != NULL)
        *node = (struct rig_yaml_node){.kind = kind, .place = place};
    return node;
}

/* Adds a place for a value, which the caller fills. */
static struct rig_yaml_entry *add_entry(struct rig_arena *arena, struct rig_yaml_node *parent, const char *key,
                                        struct rig_yaml_place key_place)
{
    RIG_REQUIRE(parent->kind != RIG_YAML_SCALAR && (key != NULL) == (parent->kind == RIG_YAML_MAPPING));
    struct rig_yaml_entry *entry = rig_arena_alloc(arena, sizeof *entry);
    if (entry == NULL)
        return NULL;
    *entry = (struct rig_yaml_entry){.key = key, .key_place = key_place};
    if (parent->last == NULL)
        parent->first = entry;
    else
        parent->last->next = entry;
    parent->last = entry;
    parent->count++;
    return entry;
}

/* -- the bytes ----------------------------------------------------------------------------------------------------- */

static enum rig_rc check_bytes(const struct rig_yaml_tree *tree, const char *text, size_t size, struct rig_err *err)
{
    struct rig_yaml_place place = {.line = 1, .column = 1};
    if (size > RIG_YAML_BYTES)
        return rig_yaml_refuse(tree, &place, err, "larger than %d bytes: this is not a %s", (int)RIG_YAML_BYTES,
                               tree->what);
    for (size_t at = 0; at < size;) {
        uint32_t code = 0;
        const size_t length = rig_utf8_decode(text + at, size - at, &code);
        if (length == 0)
            return rig_yaml_refuse(tree, &place, err, "not UTF-8: the byte \\x%02X", (unsigned char)text[at]);
        if ((code < 0x20 && code != '\n' && code != '\r' && code != '\t') || code == 0x7F)
            return rig_yaml_refuse(tree, &place, err, "a control character: the byte \\x%02X", (unsigned)code);
        at += length;
        place.column++;
        if (code == '\n') {
            place.line++;
            place.column = 1;
        }
    }
    return RIG_OK;
}

/* -- events -------------------------------------------------------------------------------------------------------- */

struct builder {
    struct rig_yaml_tree *tree;
    yaml_parser_t parser;
    struct rig_yaml_node *open[RIG_YAML_DEPTH]; /* the mappings and sequences that contain the next node */
    size_t depth;
    struct rig_yaml_entry *pending; /* a key that has no value yet */
    size_t document_count;
};

static struct rig_yaml_place place_of(const yaml_mark_t *mark)
{
    return (struct rig_yaml_place){.line = (uint32_t)mark->line + 1, .column = (uint32_t)mark->column + 1};
}

/* libyaml gives a mark for what its scanner and parser find, an offset for what its reader finds. */
static enum rig_rc refuse_yaml(const struct builder *builder, const char *text, struct rig_err *err)
{
    const yaml_parser_t *parser = &builder->parser;
    const char *problem = parser->problem == NULL ? "unknown problem" : parser->problem;
    if (parser->error == YAML_MEMORY_ERROR)
        return out_of_memory(err);
    struct rig_yaml_place place = place_of(&parser->problem_mark);
    if (parser->error == YAML_READER_ERROR) {
        place = (struct rig_yaml_place){.line = 1, .column = 1};
        for (size_t at = 0; at < parser->problem_offset; at++) {
            const bool continues = ((unsigned char)text[at] & 0xC0) == 0x80;
            place.column = text[at] == '\n' ? 1 : place.column + (continues ? 0 : 1);
            place.line += text[at] == '\n' ? 1 : 0;
        }
    }
    if (parser->context != NULL)
        return rig_yaml_refuse(builder->tree, &place, err, "not YAML: %s %s", parser->context, problem);
    return rig_yaml_refuse(builder->tree, &place, err, "not YAML: %s", problem);
}

static enum rig_rc refuse_anchor(const struct builder *builder, const yaml_event_t *event, const yaml_char_t *anchor,
                                 const yaml_char_t *tag, struct rig_err *err)
{
    const struct rig_yaml_place place = place_of(&event->start_mark);
    if (anchor != NULL)
        return rig_yaml_refuse(builder->tree, &place, err,
                               "anchors (&%.40s) are not accepted in %ss: write the "
                               "value out",
                               (const char *)anchor, builder->tree->what);
    if (tag != NULL)
        return rig_yaml_refuse(builder->tree, &place, err,
                               "tags (%.40s) are not accepted in %ss: write the value "
                               "alone",
                               (const char *)tag, builder->tree->what);
    return RIG_OK;
}

/* Adds a node to the open mapping or sequence, or makes it the root. */
static enum rig_rc place_node(struct builder *builder, struct rig_yaml_node *node, struct rig_err *err)
{
    if (node == NULL)
        return out_of_memory(err);
    if (builder->depth == 0) {
        builder->tree->root = node;
        return RIG_OK;
    }
    struct rig_yaml_node *parent = builder->open[builder->depth - 1];
    struct rig_yaml_entry *entry = builder->pending;
    if (parent->kind == RIG_YAML_SEQUENCE)
        entry = add_entry(builder->tree->arena, parent, NULL, node->place);
    if (entry == NULL)
        return out_of_memory(err);
    entry->value = node;
    builder->pending = NULL;
    return RIG_OK;
}

static bool wants_key(const struct builder *builder)
{
    return builder->depth > 0 && builder->open[builder->depth - 1]->kind == RIG_YAML_MAPPING &&
           builder->pending == NULL;
}

static bool says_nothing(const yaml_event_t *event)
{
    static const char *const nothing[] = {"", "~", "null", "Null", "NULL"};
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        if (strcmp((const char *)event->data.scalar.value, nothing[i]) == 0)
            return true;
    }
    return false;
}

static enum rig_rc take_scalar(struct builder *builder, const yaml_event_t *event, struct rig_err *err)
{
    const struct rig_yaml_place place = place_of(&event->start_mark);
    const char *value = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;
    if (memchr(value, '\0', length) != NULL)
        return rig_yaml_refuse(builder->tree, &place, err, "a text must not contain a NUL");
    if (length > RIG_YAML_TEXT_BYTES)
        return rig_yaml_refuse(builder->tree, &place, err, "a text longer than %d bytes", (int)RIG_YAML_TEXT_BYTES);
    char *text = rig_arena_text(builder->tree->arena, value, length);
    if (text == NULL)
        return out_of_memory(err);
    if (wants_key(builder)) {
        builder->pending = add_entry(builder->tree->arena, builder->open[builder->depth - 1], text, place);
        return builder->pending == NULL ? out_of_memory(err) : RIG_OK;
    }
    struct rig_yaml_node *node = new_node(builder->tree->arena, RIG_YAML_SCALAR, place);
    if (node != NULL) {
        node->text = text;
        node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        node->is_null = says_nothing(event);
    }
    return place_node(builder, node, err);
}

static enum rig_rc open_collection(struct builder *builder, const yaml_event_t *event, enum rig_yaml_node_kind kind,
                                   struct rig_err *err)
{
    const struct rig_yaml_place place = place_of(&event->start_mark);
    if (wants_key(builder))
        return rig_yaml_refuse(builder->tree, &place, err, "a key must be a name, not a %s",
                               kind == RIG_YAML_MAPPING ? "mapping" : "sequence");
    if (builder->depth == RIG_YAML_DEPTH)
        return rig_yaml_refuse(builder->tree, &place, err, "nested deeper than %d levels", (int)RIG_YAML_DEPTH);
    struct rig_yaml_node *node = new_node(builder->tree->arena, kind, place);
    const enum rig_rc rc = place_node(builder, node, err);
    if (rc == RIG_OK)
        builder->open[builder->depth++] = node;
    return rc;
}

static enum rig_rc take_event(struct builder *builder, const yaml_event_t *event, struct rig_err *err)
{
    const struct rig_yaml_place place = place_of(&event->start_mark);
    enum rig_rc rc = RIG_OK;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (builder->document_count++ > 0)
            return rig_yaml_refuse(builder->tree, &place, err, "a second document: a %s is one YAML document",
                                   builder->tree->what);
        return RIG_OK;
    case YAML_ALIAS_EVENT:
        return rig_yaml_refuse(builder->tree, &place, err,
                               "aliases (*%.40s) are not accepted in %ss: write the "
                               "value out",
                               (const char *)event->data.alias.anchor, builder->tree->what);
    case YAML_SCALAR_EVENT:
        rc = refuse_anchor(builder, event, event->data.scalar.anchor, event->data.scalar.tag, err);
        return rc != RIG_OK ? rc : take_scalar(builder, event, err);
    case YAML_SEQUENCE_START_EVENT:
        rc = refuse_anchor(builder, event, event->data.sequence_start.anchor, event->data.sequence_start.tag, err);
        return rc != RIG_OK ? rc : open_collection(builder, event, RIG_YAML_SEQUENCE, err);
    case YAML_MAPPING_START_EVENT:
        rc = refuse_anchor(builder, event, event->data.mapping_start.anchor, event->data.mapping_start.tag, err);
        return rc != RIG_OK ? rc : open_collection(builder, event, RIG_YAML_MAPPING, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        RIG_INVARIANT(builder->depth > 0);
        builder->depth--;
        return RIG_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return RIG_OK;
    }
    rig_bug(__FILE__, __LINE__, "a YAML event of a known type");
}

static enum rig_rc read_events(struct builder *builder, const char *text, struct rig_err *err)
{
    for (;;) {
        yaml_event_t event;
        if (yaml_parser_parse(&builder->parser, &event) == 0)
            return refuse_yaml(builder, text, err);
        const bool last = event.type == YAML_STREAM_END_EVENT;
        const enum rig_rc rc = take_event(builder, &event, err);
        yaml_event_delete(&event);
        if (rc != RIG_OK || last)
            return rc;
    }
}

enum rig_rc rig_yaml_tree_read(struct rig_yaml_tree *tree, struct rig_arena *arena, const char *what, const char *file,
                               const char *text, size_t size, struct rig_err *err)
{
    static const struct rig_yaml_place start = {.line = 1, .column = 1};
    *tree = (struct rig_yaml_tree){.what = what, .file = file, .arena = arena};
    enum rig_rc rc = check_bytes(tree, text, size, err);
    if (rc != RIG_OK)
        return rc;
    struct builder builder = {.tree = tree};
    if (yaml_parser_initialize(&builder.parser) == 0)
        return out_of_memory(err);
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *)text, size);
    rc = read_events(&builder, text, err);
    yaml_parser_delete(&builder.parser);
    if (rc != RIG_OK)
        return rc;
    if (tree->root == NULL || (tree->root->kind == RIG_YAML_SCALAR && tree->root->is_null))
        return rig_yaml_refuse(tree, &start, err, "the %s is empty", tree->what);
    if (tree->root->kind != RIG_YAML_MAPPING)
        return rig_yaml_refuse(tree, &tree->root->place, err, "expected a mapping (`name: ...`), not a %s",
                               tree->root->kind == RIG_YAML_SCALAR ? "single value" : "sequence");
    return RIG_OK;
}

/* -- --set --------------------------------------------------------------------------------------------------------- */

static struct rig_yaml_entry *find_entry(const struct rig_yaml_node *mapping, const char *key)
{
    for (struct rig_yaml_entry *entry = mapping->first; entry != NULL; entry = entry->next) {
        if (strcmp(entry->key, key) == 0)
            return entry;
    }
    return NULL;
}

/* The element of a sequence that a number of --set means, from 0; NULL: there is none. */
static struct rig_yaml_entry *find_element(const struct rig_yaml_node *sequence, const char *key)
{
    if (key[0] == '\0' || strspn(key, "0123456789") != strlen(key) || strlen(key) > 6)
        return NULL;
    struct rig_yaml_entry *entry = sequence->first;
    for (unsigned long number = strtoul(key, NULL, 10); entry != NULL && number > 0; number--)
        entry = entry->next;
    return entry;
}

/* The node inside `parent` on the path of --set: a list, or a mapping, which is created when it is missing or null. */
static enum rig_rc step_into(struct rig_yaml_tree *tree, struct rig_yaml_node *parent, const char *key,
                             struct rig_yaml_place place, struct rig_yaml_node **child, struct rig_err *err)
{
    const bool listed = parent->kind == RIG_YAML_SEQUENCE;
    struct rig_yaml_entry *entry = listed ? find_element(parent, key) : find_entry(parent, key);
    if (listed && entry == NULL)
        return rig_yaml_refuse(tree, &place, err, "`%s` is not an element of the list, which has %zu, counted from 0",
                               key, parent->count);
    if (entry == NULL)
        entry = add_entry(tree->arena, parent, key, place);
    if (entry == NULL)
        return out_of_memory(err);
    const bool empty = entry->value == NULL || (entry->value->kind == RIG_YAML_SCALAR && entry->value->is_null);
    if (empty)
        entry->value = new_node(tree->arena, RIG_YAML_MAPPING, place);
    if (entry->value == NULL)
        return out_of_memory(err);
    if (entry->value->kind == RIG_YAML_SCALAR)
        return rig_yaml_refuse(tree, &place, err, "`%s` is not a mapping, so nothing can be set inside", key);
    *child = entry->value;
    return RIG_OK;
}

static void place_all(struct rig_yaml_node *node, struct rig_yaml_place place)
{
    node->place = place;
    for (struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        entry->key_place = place;
        place_all(entry->value, place); /* at most RIG_YAML_DEPTH deep */
    }
}

/* A list of mappings, written as YAML writes it on one line; each other value is a text. */
static enum rig_rc read_mappings(const struct rig_yaml_tree *tree, const char *value, struct rig_yaml_place place,
                                 struct rig_yaml_node **node, struct rig_err *err)
{
    struct rig_yaml_tree list;
    struct rig_err problem = {0};
    const size_t size = strlen(value) + 3;
    char *text = rig_arena_alloc(tree->arena, size + 1);
    if (text == NULL)
        return out_of_memory(err);
    (void)snprintf(text, size + 1, "v: %s", value);
    if (rig_yaml_tree_read(&list, tree->arena, tree->what, tree->file, text, size, &problem) != RIG_OK ||
        list.root->count != 1 || list.root->first->value->kind != RIG_YAML_SEQUENCE)
        return rig_yaml_refuse(tree, &place, err, "expected a list of mappings: [{KEY: VALUE, ...}, ...]");
    *node = list.root->first->value;
    place_all(*node, place);
    return RIG_OK;
}

enum rig_rc rig_yaml_tree_set(struct rig_yaml_tree *tree, const char *given, struct rig_err *err)
{
    const char *text = rig_arena_text(tree->arena, given, strlen(given));
    if (text == NULL)
        return out_of_memory(err);
    const struct rig_yaml_place place = {.override = text};
    const char *equals = strchr(text, '=');
    if (equals == NULL)
        return rig_yaml_refuse(tree, &place, err, "expected SECTION.KEY=VALUE");
    if (strlen(text) > RIG_YAML_TEXT_BYTES)
        return rig_fail(err, RIG_E_PLAN, "--set %.40s...: longer than %d bytes", text, (int)RIG_YAML_TEXT_BYTES);
    for (size_t at = 0, size = strlen(text); at < size;) {
        const size_t length = rig_utf8_decode(text + at, size - at, NULL);
        if (length == 0)
            return rig_fail(err, RIG_E_PLAN, "--set %.*s: the value is not UTF-8", at < 40 ? (int)at : 40, text);
        at += length;
    }
    struct rig_yaml_node *parent = tree->root;
    const char *at = text;
    for (size_t depth = 0;; depth++) {
        const size_t length = strcspn(at, ".=");
        if (length == 0 || depth == RIG_YAML_DEPTH)
            return rig_yaml_refuse(tree, &place, err, "expected SECTION.KEY=VALUE");
        char *key = rig_arena_text(tree->arena, at, length);
        if (key == NULL)
            return out_of_memory(err);
        at += length;
        if (*at == '=') {
            if (parent->kind == RIG_YAML_SEQUENCE)
                return rig_yaml_refuse(tree, &place, err,
                                       "set the elements of a list key by key, or set the whole "
                                       "list");
            struct rig_yaml_entry *entry = find_entry(parent, key);
            if (entry == NULL)
                entry = add_entry(tree->arena, parent, key, place);
            struct rig_yaml_node *node = new_node(tree->arena, RIG_YAML_SCALAR, place);
            if (entry == NULL || node == NULL)
                return out_of_memory(err);
            node->text = equals + 1;
            entry->value = node;
            return strncmp(equals, "=[{", 3) == 0 ? read_mappings(tree, equals + 1, place, &entry->value, err) : RIG_OK;
        }
        at++;
        const enum rig_rc rc = step_into(tree, parent, key, place, &parent, err);
        if (rc != RIG_OK)
            return rc;
    }
}

const char *rig_yaml_beside(const struct rig_yaml_tree *tree, const char *path)
{
    const char *slash = path[0] == '/' ? NULL : strrchr(tree->file, '/');
    const size_t folder = slash == NULL ? 0 : (size_t)(slash + 1 - tree->file), size = strlen(path) + 1;
    char *whole = rig_arena_alloc(tree->arena, folder + size);
    if (whole == NULL)
        return NULL;
    memcpy(whole, tree->file, folder);
    memcpy(whole + folder, path, size);
    return whole;
}

void rig_yaml_remove(struct rig_yaml_node *mapping, const char *key)
{
    struct rig_yaml_entry *before = NULL;
    for (struct rig_yaml_entry *entry = mapping->first; entry != NULL; before = entry, entry = entry->next) {
        if (strcmp(entry->key, key) != 0)
            continue;
        *(before == NULL ? &mapping->first : &before->next) = entry->next;
        mapping->last = mapping->last == entry ? before : mapping->last;
        mapping->count--;
        return;
    }
}

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
