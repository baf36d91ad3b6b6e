#include "cli/plan_dimensions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/option_parse.h"
#include "base/secret.h"
#include "base/yaml_tree.h"

enum { SETTING_BYTES = 1 << 14, KEY_BYTES = 128 };

/* Keys that are lowered, in this order, with their paths in a plan without phases and in a phase. A plan without a
 * value for one is not lowered there. */
static const struct {
    const char *key, *phase_key;
    int64_t least;
    bool is_duration;
    bool is_shared; /* the same in all phases */
} keys[] = {
    {"clients.count", "clients.count", 1, false, false},
    {"workload.transactions", "transactions", 10, false, false},
    {"workload.duration", "duration", 500 * RIG_NS_PER_MS, true, false},
    {"workload.operations.min", "operations.min", 1, false, false},
    {"workload.operations.max", "operations.max", 1, false, false},
    {"workload.keys.active", "keys.active", 1, false, false},
    {"workload.keys.group", "keys.group", 2, false, true},
    {"workload.accounts.count", "accounts.count", 2, false, true},
    {"workload.warehouses", "warehouses", 1, false, true},
    {"workload.users", "users", 3, false, true},
    {"workload.rows", "rows", 1, false, true},
};

enum { KEY_COUNT = sizeof keys / sizeof keys[0] };
static const uint32_t whole_plan = UINT32_MAX;

enum kind { FAULT, PHASE, SERVER, GROUP, KEY, NUMBER };

/* Lists of elements that can be left out, and what names an element; NULL: an element is its own name. */
static const struct {
    const char *key, *label;
} lists[] = {[FAULT] = {"nemesis.faults", "fault"},
             [PHASE] = {"phases", "name"},
             [SERVER] = {"database.cluster.local.settings", NULL}};
enum { LIST_COUNT = sizeof lists / sizeof lists[0] };

struct dimension {
    enum kind kind;
    uint32_t key;   /* of a number */
    uint32_t phase; /* of a number, and of a phase itself: its place; whole_plan: of the whole plan, or of all phases */
    const char *text;  /* of an element: as a setting has it; of a key: its default */
    const char *label; /* of an element: its kind or name; of a key: the key; of a group: its keys begin with it */
    const char *was;   /* of a key: the plan's value */
    int64_t value, least;
};

struct rig_plan_dimensions {
    struct rig_arena arena;
    struct rig_yaml_tree tree; /* of the resolved plan */
    uint32_t count, phase_count;
    struct dimension at[RIG_PLAN_DIMENSIONS_MOST];
    const struct rig_yaml_node *phases[RIG_PLAN_PHASES_MOST];
};

/* ---- finding them ---- */

/* The node of a dotted key, or NULL. */
static const struct rig_yaml_node *node_of(const struct rig_yaml_node *node, const char *key)
{
    char part[KEY_BYTES];
    while (node != NULL && node->kind == RIG_YAML_MAPPING) {
        const size_t length = strcspn(key, ".");
        (void)snprintf(part, sizeof part, "%.*s", (int)length, key);
        node = rig_yaml_value(node, part);
        if (key[length] == '\0')
            return node;
        key += length + 1;
    }
    return NULL;
}

static struct rig_option option_of(uint32_t key)
{
    return (struct rig_option){.name = keys[key].key,
                               .type = keys[key].is_duration ? RIG_OPTION_DURATION : RIG_OPTION_INT};
}

static void add(struct rig_plan_dimensions *dimensions, struct dimension dimension)
{
    if (dimension.value > dimension.least && dimensions->count < RIG_PLAN_DIMENSIONS_MOST)
        dimensions->at[dimensions->count++] = dimension;
}

/* Each element of a list, which can be left out. None of them where one cannot be written. */
static enum rig_rc add_elements(struct rig_plan_dimensions *dimensions, enum kind kind, struct rig_err *err)
{
    const struct rig_yaml_node *elements = node_of(dimensions->tree.root, lists[kind].key);
    const uint32_t before = dimensions->count;
    struct rig_buf text;
    bool fits = elements != NULL && elements->kind == RIG_YAML_SEQUENCE;
    uint32_t at = 0;
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&text, SETTING_BYTES);
    for (const struct rig_yaml_entry *entry = fits ? elements->first : NULL; fits && entry != NULL;
         entry = entry->next) {
        const struct rig_yaml_node *name =
            lists[kind].label == NULL ? entry->value : node_of(entry->value, lists[kind].label);
        struct rig_err ignored = {0};
        rig_buf_clear(&text);
        fits = rig_yaml_write_value(&dimensions->tree, entry->value, &text, &ignored) == RIG_OK && !text.failed &&
               strstr(rig_buf_text(&text), RIG_SECRET_MASK) == NULL;
        const struct dimension dimension = {.kind = kind,
                                            .phase = at++,
                                            .text = rig_arena_text(&dimensions->arena, rig_buf_text(&text), text.size),
                                            .label = name == NULL ? "" : name->text,
                                            .value = 1};
        if (dimension.text == NULL)
            rc = rig_no_memory(err, "the faults and phases of the plan");
        add(dimensions, dimension);
    }
    if (!fits)
        dimensions->count = before;
    rig_buf_done(&text);
    return rc;
}

/* -- keys with a default -- */

struct keys {
    struct rig_plan_dimensions *dimensions;
    const struct rig_plan_settings *given;
    bool has_phases;
    const struct rig_option *table;
    const char *prefix;
};

static bool is_number(const char *key)
{
    for (uint32_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].key, key) == 0)
            return true;
    }
    return false;
}

/* A setting of every run has the key. */
static bool is_given(const struct rig_plan_settings *given, const char *key)
{
    const size_t length = strlen(key);
    for (uint32_t i = 0; i < given->count; i++) {
        if (strncmp(given->at[i], key, length) == 0 && given->at[i][length] == '=')
            return true;
    }
    return false;
}

/* The length of the option's group with its dot; 0: it has none. */
static size_t group_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot == NULL ? 0 : (size_t)(dot - name) + 1;
}

/* Whether a hunt varies the option, or for keys of the load one of its group. */
static bool is_varied(const struct keys *of, const struct rig_option *option, bool with_group)
{
    const size_t length = group_length(option->name);
    if (option->varied != NULL)
        return true;
    for (const struct rig_option *other = of->table; with_group && length > 0 && other->name != NULL; other++) {
        if (other->varied != NULL && strncmp(other->name, option->name, length) == 0)
            return true;
    }
    return false;
}

/* The default as a plan is written: of a number without one 0, where that is a value. False where there is none. */
static bool write_default(const struct rig_option *option, struct rig_buf *out)
{
    struct rig_option alone = *option;
    union {
        int64_t whole;
        double real;
        const char *text;
        bool truth;
    } value = {0};
    const bool is_zero = option->default_text == NULL && option->least <= 0 &&
                         (option->type == RIG_OPTION_INT || option->type == RIG_OPTION_DURATION);
    alone.offset = 0;
    if ((option->default_text == NULL && !is_zero) || option->type == RIG_OPTION_SECRET || rig_option_is_list(option))
        return false;
    if (!is_zero && rig_option_parse(&alone, option->default_text, &value, NULL) != RIG_OK)
        return false;
    rig_option_format(&alone, &value, out);
    return true;
}

/* A key that differs from its default. */
static void add_key(const struct keys *of, const struct rig_option *option)
{
    struct rig_plan_dimensions *dimensions = of->dimensions;
    char key[KEY_BYTES];
    struct rig_buf text;
    (void)snprintf(key, sizeof key, "%s%s", of->prefix, option->name);
    const struct rig_yaml_node *node = node_of(dimensions->tree.root, key);
    if (node == NULL || node->kind != RIG_YAML_SCALAR || node->is_null || is_number(key) || is_given(of->given, key))
        return;
    rig_buf_init(&text, SETTING_BYTES);
    if (write_default(option, &text) && strcmp(node->text, rig_buf_text(&text)) != 0) {
        const struct dimension dimension = {.kind = KEY,
                                            .text = rig_arena_text(&dimensions->arena, rig_buf_text(&text), text.size),
                                            .label = rig_arena_text(&dimensions->arena, key, strlen(key)),
                                            .was = node->text,
                                            .value = 1};
        if (dimension.text != NULL && dimension.label != NULL)
            add(dimensions, dimension);
    }
    rig_buf_done(&text);
}

static void visit_keys(void *context, const char *prefix, const struct rig_option *table)
{
    struct keys *of = context;
    const bool is_load = strcmp(prefix, "workload.") == 0, is_driver = strcmp(prefix, "database.") == 0;
    of->table = table;
    of->prefix = prefix;
    for (; table->name != NULL && (is_driver || !of->has_phases); table++) {
        if (is_load || is_varied(of, table, !is_driver))
            add_key(of, table);
    }
}

/* Whether the key is one of the group. */
static bool is_of_group(const struct dimension *key, const struct dimension *group)
{
    return key->kind == KEY && strncmp(key->label, group->label, strlen(group->label)) == 0;
}

/* Adds the keys, and before them the groups that have several: where one of these needs another, neither can go
 * alone. */
static void add_keys(struct rig_plan_dimensions *dimensions, const struct rig_plan *plan,
                     const struct rig_plan_settings *given)
{
    const struct rig_yaml_node *phases = node_of(dimensions->tree.root, lists[PHASE].key);
    struct keys of = {.dimensions = dimensions,
                      .given = given,
                      .has_phases = phases != NULL && phases->kind == RIG_YAML_SEQUENCE && phases->count > 0};
    const uint32_t first = dimensions->count;
    rig_plan_visit_tables(plan->driver, visit_keys, &of);
    for (uint32_t i = first; i < dimensions->count; i++) {
        const char *key = dimensions->at[i].label;
        const size_t length = group_length(key);
        struct dimension group = {.kind = GROUP, .value = 1};
        uint32_t others = 0;
        if (dimensions->at[i].kind != KEY || dimensions->count == RIG_PLAN_DIMENSIONS_MOST ||
            memchr(key, '.', length - 1) == NULL)
            continue;
        group.label = rig_arena_text(&dimensions->arena, key, length);
        bool is_new = group.label != NULL;
        for (uint32_t other = first; is_new && other < dimensions->count; other++) {
            is_new = dimensions->at[other].kind != GROUP || strcmp(dimensions->at[other].label, group.label) != 0;
            others += other != i && is_of_group(&dimensions->at[other], &group);
        }
        if (!is_new || others == 0)
            continue;
        memmove(&dimensions->at[first + 1], &dimensions->at[first],
                (dimensions->count - first) * sizeof dimensions->at[0]);
        dimensions->at[first] = group;
        dimensions->count++;
        i++;
    }
}

/* The number at a path; 0: there is none. */
static int64_t number_at(const struct rig_yaml_node *from, const char *path, uint32_t key)
{
    const struct rig_yaml_node *node = node_of(from, path);
    const struct rig_option option = option_of(key);
    int64_t value = 0;
    const bool has_number =
        node != NULL && node->kind == RIG_YAML_SCALAR && rig_option_parse(&option, node->text, &value, NULL) == RIG_OK;
    return has_number ? value : 0;
}

static void add_number(struct rig_plan_dimensions *dimensions, uint32_t key, uint32_t phase, int64_t value)
{
    add(dimensions,
        (struct dimension){.kind = NUMBER, .key = key, .phase = phase, .value = value, .least = keys[key].least});
}

/* The largest number that a phase has. */
static int64_t most_of_phases(const struct rig_yaml_node *phases, uint32_t key)
{
    int64_t most = 0;
    for (const struct rig_yaml_entry *phase = phases->first; phase != NULL; phase = phase->next) {
        const int64_t value = number_at(phase->value, keys[key].phase_key, key);
        most = value > most ? value : most;
    }
    return most;
}

/* The whole plan has every key, or with phases those that all of them share. */
static void add_numbers(struct rig_plan_dimensions *dimensions)
{
    const struct rig_yaml_node *phases = node_of(dimensions->tree.root, "phases");
    const bool has_phases = phases != NULL && phases->kind == RIG_YAML_SEQUENCE && phases->count > 0;
    for (uint32_t key = 0; key < KEY_COUNT; key++) {
        if (!has_phases)
            add_number(dimensions, key, whole_plan, number_at(dimensions->tree.root, keys[key].key, key));
        else if (keys[key].is_shared)
            add_number(dimensions, key, whole_plan, most_of_phases(phases, key));
    }
    const struct rig_yaml_entry *phase = has_phases ? phases->first : NULL;
    for (; phase != NULL && dimensions->phase_count < RIG_PLAN_PHASES_MOST; phase = phase->next) {
        const uint32_t at = dimensions->phase_count++;
        dimensions->phases[at] = phase->value;
        for (uint32_t key = 0; key < KEY_COUNT; key++) {
            if (!keys[key].is_shared)
                add_number(dimensions, key, at, number_at(phase->value, keys[key].phase_key, key));
        }
    }
}

void rig_cli_plan_dimensions_free(struct rig_plan_dimensions *dimensions)
{
    if (dimensions != NULL)
        rig_arena_done(&dimensions->arena);
    free(dimensions);
}

uint32_t rig_cli_plan_dimensions_first(const struct rig_plan_dimensions *dimensions,
                                       struct rig_plan_dimension at[RIG_PLAN_DIMENSIONS_MOST])
{
    for (uint32_t i = 0; i < dimensions->count; i++)
        at[i] = (struct rig_plan_dimension){dimensions->at[i].value, dimensions->at[i].least};
    return dimensions->count;
}

/* ---- phases that stay ---- */

static bool stays(const struct rig_plan_dimensions *dimensions, uint32_t phase, const int64_t *values)
{
    for (uint32_t i = 0; i < dimensions->count; i++) {
        if (dimensions->at[i].kind == PHASE && dimensions->at[i].phase == phase)
            return values[i] > 0;
    }
    return true;
}

/* The phases before this one that stay: its place in the smaller plan. */
static uint32_t place_of(const struct rig_plan_dimensions *dimensions, uint32_t phase, const int64_t *values)
{
    uint32_t place = 0;
    for (uint32_t before = 0; before < phase; before++)
        place += stays(dimensions, before, values);
    return place;
}

/* Whether the key has its default, by itself or with its group. */
static bool is_reset(const struct rig_plan_dimensions *dimensions, uint32_t key, const int64_t *values)
{
    if (values[key] == 0)
        return true;
    for (uint32_t i = 0; i < dimensions->count; i++) {
        if (dimensions->at[i].kind == GROUP && values[i] == 0 && is_of_group(&dimensions->at[key], &dimensions->at[i]))
            return true;
    }
    return false;
}

bool rig_cli_plan_dimensions_matter(const struct rig_plan_dimensions *dimensions, uint32_t dimension,
                                    const int64_t *values)
{
    const struct dimension *of = &dimensions->at[dimension];
    switch (of->kind) {
    case PHASE:
        return place_of(dimensions, dimensions->phase_count, values) > 1;
    case KEY:
        return !is_reset(dimensions, dimension, values);
    case NUMBER:
        return of->phase == whole_plan || stays(dimensions, of->phase, values);
    case FAULT:
    case SERVER:
    case GROUP:
        break;
    }
    return true;
}

/* ---- settings ---- */

static bool keep_setting(struct rig_buf *text, struct rig_plan_settings *settings, struct rig_arena *arena)
{
    const bool fits = !text->failed && settings->count < RIG_PLAN_SETTINGS_MOST;
    char *kept = fits ? rig_arena_text(arena, rig_buf_text(text), text->size) : NULL;
    rig_buf_clear(text);
    if (kept != NULL)
        settings->at[settings->count++] = kept;
    return kept != NULL;
}

static void write_value(const struct rig_plan_dimensions *dimensions, uint32_t dimension, int64_t value,
                        struct rig_buf *out)
{
    const struct rig_option option = option_of(dimensions->at[dimension].key);
    rig_option_format(&option, &value, out);
}

/* The list without the elements that are left out; nothing where all stay. */
static bool set_list(const struct rig_plan_dimensions *dimensions, enum kind kind, const int64_t *values,
                     struct rig_plan_settings *settings, struct rig_arena *arena)
{
    struct rig_buf text;
    bool fewer = false, is_first = true, fits = true;
    rig_buf_init(&text, SETTING_BYTES);
    rig_buf_printf(&text, "%s=[", lists[kind].key);
    for (uint32_t i = 0; i < dimensions->count; i++) {
        if (dimensions->at[i].kind != kind)
            continue;
        fewer = fewer || values[i] == 0;
        if (values[i] > 0)
            rig_buf_printf(&text, "%s%s", is_first ? "" : ", ", dimensions->at[i].text);
        is_first = is_first && values[i] == 0;
    }
    rig_buf_add_char(&text, ']');
    if (fewer)
        fits = keep_setting(&text, settings, arena);
    rig_buf_done(&text);
    return fits;
}

static bool set_number(const struct rig_plan_dimensions *dimensions, uint32_t dimension, const int64_t *values,
                       uint32_t phase, struct rig_plan_settings *settings, struct rig_arena *arena)
{
    const uint32_t key = dimensions->at[dimension].key;
    struct rig_buf text;
    if (phase != whole_plan && (!stays(dimensions, phase, values) ||
                                number_at(dimensions->phases[phase], keys[key].phase_key, key) <= values[dimension]))
        return true;
    rig_buf_init(&text, SETTING_BYTES);
    if (phase == whole_plan)
        rig_buf_printf(&text, "%s=", keys[key].key);
    else
        rig_buf_printf(&text, "phases.%u.%s=", (unsigned)place_of(dimensions, phase, values), keys[key].phase_key);
    write_value(dimensions, dimension, values[dimension], &text);
    const bool fits = keep_setting(&text, settings, arena);
    rig_buf_done(&text);
    return fits;
}

static bool set_key(const struct dimension *key, struct rig_plan_settings *settings, struct rig_arena *arena)
{
    struct rig_buf text;
    rig_buf_init(&text, SETTING_BYTES);
    rig_buf_printf(&text, "%s=%s", key->label, key->text);
    const bool fits = keep_setting(&text, settings, arena);
    rig_buf_done(&text);
    return fits;
}

bool rig_cli_plan_dimensions_set(const struct rig_plan_dimensions *dimensions, const int64_t *values,
                                 struct rig_plan_settings *settings, struct rig_arena *arena)
{
    bool fits = true;
    for (uint32_t list = 0; fits && list < LIST_COUNT; list++) /* phases before what is in them */
        fits = set_list(dimensions, (enum kind)list, values, settings, arena);
    for (uint32_t i = 0; fits && i < dimensions->count; i++) {
        const struct dimension *dimension = &dimensions->at[i];
        if (dimension->kind == KEY && is_reset(dimensions, i, values))
            fits = set_key(dimension, settings, arena);
        if (dimension->kind != NUMBER || values[i] >= dimension->value)
            continue;
        if (dimension->phase != whole_plan || dimensions->phase_count == 0)
            fits = set_number(dimensions, i, values, dimension->phase, settings, arena);
        for (uint32_t phase = 0; fits && dimension->phase == whole_plan && phase < dimensions->phase_count; phase++)
            fits = set_number(dimensions, i, values, phase, settings, arena);
    }
    return fits;
}

/* ---- making them ---- */

enum rig_rc rig_cli_plan_settings_load(const char *path, const struct rig_plan_settings *settings,
                                       struct rig_plan **plan, struct rig_err *err)
{
    struct rig_plan_override overrides[RIG_PLAN_SETTINGS_MOST];
    for (uint32_t i = 0; i < settings->count; i++)
        overrides[i].text = settings->at[i];
    return rig_plan_load(path, overrides, settings->count, NULL, plan, err);
}

/* Whether there is such a plan with this value alone lower. */
static bool can_be(const struct rig_plan_dimensions *dimensions, uint32_t dimension, int64_t value, const char *path,
                   const struct rig_plan_settings *given)
{
    struct rig_plan_settings *settings = malloc(sizeof *settings);
    int64_t values[RIG_PLAN_DIMENSIONS_MOST];
    struct rig_plan *plan = NULL;
    struct rig_err refusal = {0};
    struct rig_arena arena;
    if (settings == NULL)
        return false;
    for (uint32_t i = 0; i < dimensions->count; i++)
        values[i] = i == dimension ? value : dimensions->at[i].value;
    *settings = *given;
    rig_arena_init(&arena, 0);
    const bool can = rig_cli_plan_dimensions_set(dimensions, values, settings, &arena) &&
                     rig_cli_plan_settings_load(path, settings, &plan, &refusal) == RIG_OK;
    rig_plan_free(plan);
    rig_arena_done(&arena);
    free(settings);
    return can;
}

/* Numbers that are refused by 1 lower and at their least: those that have no effect, as the sizes of other
 * applications. */
static void drop_fixed(struct rig_plan_dimensions *dimensions, const char *path, const struct rig_plan_settings *given)
{
    for (uint32_t i = dimensions->count; i-- > 0;) {
        const struct dimension *of = &dimensions->at[i];
        if (of->kind != NUMBER || can_be(dimensions, i, of->least, path, given) ||
            can_be(dimensions, i, of->value - 1, path, given))
            continue;
        dimensions->count--;
        memmove(&dimensions->at[i], &dimensions->at[i + 1], (dimensions->count - i) * sizeof dimensions->at[0]);
    }
}

enum rig_rc rig_cli_plan_dimensions_new(const struct rig_plan *plan, const char *path,
                                        const struct rig_plan_settings *given, struct rig_plan_dimensions **dimensions,
                                        struct rig_err *err)
{
    struct rig_plan_dimensions *made = calloc(1, sizeof *made);
    struct rig_buf resolved;
    if (made == NULL)
        return rig_no_memory(err, "the plan");
    rig_arena_init(&made->arena, 0);
    rig_buf_init(&resolved, 0);
    rig_plan_write(plan, false, &resolved);
    enum rig_rc rc =
        rig_yaml_tree_read(&made->tree, &made->arena, "plan", path, rig_buf_text(&resolved), resolved.size, err);
    rig_buf_done(&resolved); /* the tree has its texts in the arena */
    for (uint32_t list = 0; rc == RIG_OK && list < LIST_COUNT; list++)
        rc = add_elements(made, (enum kind)list, err);
    if (rc != RIG_OK) {
        rig_cli_plan_dimensions_free(made);
        return rc;
    }
    add_keys(made, plan, given);
    add_numbers(made);
    drop_fixed(made, path, given);
    *dimensions = made;
    return RIG_OK;
}

void rig_cli_plan_dimensions_words(const struct rig_plan_dimensions *dimensions, uint32_t dimension, int64_t value,
                                   bool instead, struct rig_buf *out)
{
    const struct dimension *of = &dimensions->at[dimension];
    switch (of->kind) {
    case FAULT:
        rig_buf_printf(out, "without fault %u (%s)", (unsigned)of->phase + 1, of->label);
        return;
    case PHASE:
        rig_buf_printf(out, "without phase %s", of->label);
        return;
    case SERVER:
        rig_buf_printf(out, "without the setting %s of the servers", of->label);
        return;
    case GROUP:
        rig_buf_printf(out, "%.*s: the defaults", (int)strlen(of->label) - 1, of->label);
        return;
    case KEY:
        rig_buf_printf(out, "%s: %s%s%s", of->label, of->text, instead ? " instead of " : "", instead ? of->was : "");
        return;
    case NUMBER:
        break;
    }
    if (of->phase == whole_plan) {
        rig_buf_printf(out, "%s: ", keys[of->key].key);
    } else {
        const struct rig_yaml_node *name = node_of(dimensions->phases[of->phase], "name");
        rig_buf_printf(out, "phase %s: %s: ", name == NULL ? "" : name->text, keys[of->key].phase_key);
    }
    write_value(dimensions, dimension, value, out);
    if (!instead)
        return;
    rig_buf_add_text(out, " instead of ");
    write_value(dimensions, dimension, of->value, out);
}
