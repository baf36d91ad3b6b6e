#include "jobs/hunt/hunt_space.h"

#include <string.h>

const char rig_hunt_level_key[] = "level";
const char rig_hunt_type_key[] = "workload.type";

enum { WORDS_MOST = 64 };

void rig_hunt_space_init(struct rig_hunt_space *space)
{
    memset(space, 0, sizeof *space);
    rig_arena_init(&space->arena, 0);
}

void rig_hunt_space_done(struct rig_hunt_space *space)
{
    rig_arena_done(&space->arena);
}

/* ---- building it ---- */

static const char *keep(struct rig_hunt_space *space, const char *text, size_t length)
{
    return rig_arena_text(&space->arena, text, length);
}

static size_t key_length(const char *setting)
{
    return strcspn(setting, "=");
}

static bool is_key(const char *key, const char *text, size_t length)
{
    return strlen(key) == length && memcmp(key, text, length) == 0;
}

enum rig_rc rig_hunt_space_pin(struct rig_hunt_space *space, const char *setting, struct rig_err *err)
{
    const char *key = keep(space, setting, key_length(setting));
    if (space->pinned_count == RIG_HUNT_PINNED_MOST)
        return rig_fail(err, RIG_E_LIMIT, "a hunt takes at most %d settings", (int)RIG_HUNT_PINNED_MOST);
    if (key == NULL)
        return rig_no_memory(err, "the space of the hunt");
    space->pinned[space->pinned_count++] = key;
    return RIG_OK;
}

static bool is_pinned(const struct rig_hunt_space *space, const char *key)
{
    for (uint32_t i = 0; i < space->pinned_count; i++) {
        if (strcmp(space->pinned[i], key) == 0)
            return true;
    }
    return false;
}

/* The words of a text, separated by blanks; each with `prefix` before it. */
static bool split(struct rig_hunt_space *space, const char *prefix, const char *text, struct rig_text_list *list)
{
    const char *words[WORDS_MOST];
    size_t count = 0;
    struct rig_buf word;
    rig_buf_init(&word, 0);
    while (text != NULL && *text != '\0' && count < WORDS_MOST) {
        const size_t length = strcspn(text, " ");
        rig_buf_clear(&word);
        rig_buf_add_text(&word, prefix);
        rig_buf_add(&word, text, length);
        words[count] = keep(space, rig_buf_text(&word), word.size);
        if (words[count++] == NULL)
            break;
        text += length + strspn(text + length, " ");
    }
    rig_buf_done(&word);
    const char **at = rig_arena_array(&space->arena, count + 1, sizeof *at);
    if (at == NULL || (count > 0 && words[count - 1] == NULL))
        return false;
    memcpy(at, words, count * sizeof *at);
    *list = (struct rig_text_list){at, count};
    return true;
}

/* Takes a dimension whose key and texts are in the arena. */
static enum rig_rc take(struct rig_hunt_space *space, const struct rig_hunt_dimension *dimension, struct rig_err *err)
{
    if (dimension->values.count == 0)
        return RIG_OK;
    if (space->dimension_count == RIG_HUNT_DIMENSIONS_MOST ||
        space->value_count + dimension->values.count > RIG_HUNT_VALUES_MOST)
        return rig_fail(err, RIG_E_LIMIT, "more than %d keys or %d values to vary; set some by --set, which keeps them",
                        (int)RIG_HUNT_DIMENSIONS_MOST, (int)RIG_HUNT_VALUES_MOST);
    struct rig_hunt_dimension *taken = &space->dimensions[space->dimension_count++];
    *taken = *dimension;
    taken->first = space->value_count;
    space->value_count += (uint32_t)dimension->values.count;
    return RIG_OK;
}

enum rig_rc rig_hunt_space_add(struct rig_hunt_space *space, const char *key, double chance, const char *values,
                               const char *with, struct rig_err *err)
{
    struct rig_hunt_dimension dimension = {.key = keep(space, key, strlen(key)), .chance = chance};
    struct rig_buf prefix;
    if (is_pinned(space, key))
        return RIG_OK;
    rig_buf_init(&prefix, 0);
    rig_buf_printf(&prefix, "%s=", key);
    const bool has = dimension.key != NULL && split(space, "", values, &dimension.values) &&
                     split(space, rig_buf_text(&prefix), values, &dimension.settings) &&
                     split(space, "", with, &dimension.with);
    rig_buf_done(&prefix);
    return has ? take(space, &dimension, err) : rig_no_memory(err, "the space of the hunt");
}

/* The values of an option, separated by blanks. */
static void write_values(const struct rig_option *option, struct rig_buf *out)
{
    const struct rig_option_variation *varied = option->varied;
    if (varied->values != NULL)
        rig_buf_add_text(out, varied->values);
    else if (option->choices == NULL)
        rig_buf_add_text(out, "true false");
    for (size_t i = 0; varied->values == NULL && option->choices != NULL && option->choices[i] != NULL; i++) {
        const bool is_default = option->default_text != NULL && strcmp(option->default_text, option->choices[i]) == 0;
        if (!is_default || varied->chance >= 1)
            rig_buf_printf(out, "%s%s", out->size == 0 ? "" : " ", option->choices[i]);
    }
}

enum rig_rc rig_hunt_space_add_table(struct rig_hunt_space *space, const char *prefix, const struct rig_option *table,
                                     struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    struct rig_buf key, values;
    rig_buf_init(&key, 0);
    rig_buf_init(&values, 0);
    for (; rc == RIG_OK && table->name != NULL; table++) {
        if (table->varied == NULL)
            continue;
        rig_buf_clear(&key);
        rig_buf_clear(&values);
        rig_buf_printf(&key, "%s%s", prefix, table->name);
        write_values(table, &values);
        rc = rig_hunt_space_add(space, rig_buf_text(&key), table->varied->chance, rig_buf_text(&values),
                                table->varied->with, err);
    }
    rig_buf_done(&key);
    rig_buf_done(&values);
    return rc;
}

/* Copies a list and its texts. */
static bool copy_list(struct rig_hunt_space *space, const struct rig_text_list *from, struct rig_text_list *to)
{
    const char **at = rig_arena_array(&space->arena, from->count + 1, sizeof *at);
    for (size_t i = 0; at != NULL && i < from->count; i++) {
        at[i] = keep(space, from->at[i], strlen(from->at[i]));
        if (at[i] == NULL)
            return false;
    }
    *to = (struct rig_text_list){at, from->count};
    return at != NULL;
}

enum rig_rc rig_hunt_space_add_settings(struct rig_hunt_space *space, const char *key, double chance,
                                        const struct rig_text_list *values, const struct rig_text_list *settings,
                                        struct rig_err *err)
{
    struct rig_hunt_dimension dimension = {.key = keep(space, key, strlen(key)), .chance = chance};
    RIG_REQUIRE(values->count == settings->count);
    if (is_pinned(space, key))
        return RIG_OK;
    if (dimension.key == NULL || !copy_list(space, values, &dimension.values) ||
        !copy_list(space, settings, &dimension.settings))
        return rig_no_memory(err, "the space of the hunt");
    return take(space, &dimension, err);
}

enum rig_rc rig_hunt_space_add_server_setting(struct rig_hunt_space *space, const char *name, const char *values,
                                              const char *promise, struct rig_err *err)
{
    static const double chance = 0.25;
    struct rig_hunt_dimension dimension = {.chance = chance, .is_of_servers = true};
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "servers.%s", name);
    dimension.key = keep(space, rig_buf_text(&text), text.size);
    rig_buf_clear(&text);
    rig_buf_printf(&text, "%s=", name);
    bool has = dimension.key != NULL && split(space, "", values, &dimension.values) &&
               split(space, rig_buf_text(&text), values, &dimension.settings);
    if (has && promise != NULL) {
        dimension.promise = keep(space, promise, strlen(promise));
        has = dimension.promise != NULL;
    }
    rig_buf_done(&text);
    return has ? take(space, &dimension, err) : rig_no_memory(err, "the space of the hunt");
}

enum rig_rc rig_hunt_space_add_level(struct rig_hunt_space *space, const char *name,
                                     const struct rig_text_list *settings, const char *promise, struct rig_err *err)
{
    struct rig_hunt_dimension *first = &space->dimensions[0];
    struct rig_hunt_level level = {.promise = keep(space, promise, strlen(promise))};
    const char *text = keep(space, name, strlen(name));
    RIG_REQUIRE(space->dimension_count == (space->level_count > 0));
    if (space->level_count == RIG_HUNT_LEVELS_MOST)
        return rig_fail(err, RIG_E_LIMIT, "more than %d levels", (int)RIG_HUNT_LEVELS_MOST);
    if (space->level_count == 0) {
        const char **names = rig_arena_array(&space->arena, RIG_HUNT_LEVELS_MOST, sizeof *names);
        if (names == NULL)
            return rig_no_memory(err, "the space of the hunt");
        *first = (struct rig_hunt_dimension){.key = rig_hunt_level_key, .chance = 1, .values = {names, 0}};
        space->dimension_count = 1;
    }
    if (level.promise == NULL || text == NULL || !copy_list(space, settings, &level.settings))
        return rig_no_memory(err, "the space of the hunt");
    ((const char **)(uintptr_t)first->values.at)[first->values.count++] = text;
    space->levels[space->level_count++] = level;
    space->value_count = (uint32_t)first->values.count;
    return RIG_OK;
}

enum rig_rc rig_hunt_space_add_base(struct rig_hunt_space *space, const struct rig_hunt_base *base, struct rig_err *err)
{
    if (space->base_count == RIG_HUNT_BASES_MOST)
        return rig_fail(err, RIG_E_LIMIT, "more than %d plans to begin with", (int)RIG_HUNT_BASES_MOST);
    struct rig_hunt_base copy = {.name = keep(space, base->name, strlen(base->name)),
                                 .path = keep(space, base->path, strlen(base->path)),
                                 .level = base->level,
                                 .load_ns = base->load_ns};
    if (base->promise != NULL)
        copy.promise = keep(space, base->promise, strlen(base->promise));
    if (copy.name == NULL || copy.path == NULL || (base->promise != NULL && copy.promise == NULL) ||
        !copy_list(space, &base->settings, &copy.settings))
        return rig_no_memory(err, "the space of the hunt");
    space->bases[space->base_count++] = copy;
    return RIG_OK;
}

int rig_hunt_space_find(const struct rig_hunt_space *space, const char *key, size_t length)
{
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        if (is_key(space->dimensions[d].key, key, length))
            return (int)d;
    }
    return -1;
}

int rig_hunt_dimension_find(const struct rig_hunt_dimension *dimension, const char *value)
{
    for (size_t v = 0; v < dimension->values.count; v++) {
        if (strcmp(dimension->values.at[v], value) == 0)
            return (int)v;
    }
    return -1;
}

/* ---- points ---- */

static bool is_of_levels(const struct rig_hunt_space *space, uint32_t dimension)
{
    return dimension == 0 && space->level_count > 0;
}

void rig_hunt_point_clear(const struct rig_hunt_space *space, uint32_t base, struct rig_hunt_point *point)
{
    point->base = base;
    memset(point->values, -1, sizeof point->values);
    if (space->level_count > 0 && space->bases[base].level >= 0)
        point->values[0] = (int8_t)space->bases[base].level;
}

/* Whether the value is one of `a|b|c`. */
static bool is_one_of(const char *value, const char *alternatives)
{
    const size_t length = strlen(value);
    for (const char *at = alternatives;; at++) {
        const size_t size = strcspn(at, "|");
        if (size == length && memcmp(at, value, length) == 0)
            return true;
        at += size;
        if (*at == '\0')
            return false;
    }
}

/* The value that the point's level gives the key, or NULL. */
static const char *value_of_level(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                                  const char *key, size_t length)
{
    if (space->level_count == 0 || point->values[0] < 0)
        return NULL;
    const struct rig_text_list *settings = &space->levels[point->values[0]].settings;
    for (size_t i = 0; i < settings->count; i++) {
        if (key_length(settings->at[i]) == length && strncmp(settings->at[i], key, length) == 0)
            return settings->at[i] + length + 1;
    }
    return NULL;
}

/* Whether the point has another value of an always drawn key, or of a key of its level, than the dimension needs. */
static bool contradicts(const struct rig_hunt_space *space, const struct rig_hunt_point *point, uint32_t dimension)
{
    const struct rig_text_list *with = &space->dimensions[dimension].with;
    for (size_t i = 0; i < with->count; i++) {
        const size_t length = key_length(with->at[i]);
        const int needed = rig_hunt_space_find(space, with->at[i], length);
        const char *of_level = value_of_level(space, point, with->at[i], length);
        if (of_level != NULL && !is_one_of(of_level, with->at[i] + length + 1))
            return true;
        if (needed < 0 || point->values[needed] < 0 || space->dimensions[needed].chance < 1)
            continue;
        const char *has = space->dimensions[needed].values.at[point->values[needed]];
        if (!is_one_of(has, with->at[i] + length + 1))
            return true;
    }
    return false;
}

static int8_t any_value(const struct rig_hunt_dimension *dimension, struct rig_rng *rng)
{
    return (int8_t)rig_rng_below(rng, dimension->values.count);
}

void rig_hunt_point_draw(const struct rig_hunt_space *space, struct rig_rng *rng, uint32_t base,
                         struct rig_hunt_point *point)
{
    rig_hunt_point_clear(space, base, point);
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        const struct rig_hunt_dimension *dimension = &space->dimensions[d];
        const bool is_drawn = rig_rng_unit(rng) < dimension->chance; /* one number each, whatever is set */
        if (is_drawn && point->values[d] < 0 && !contradicts(space, point, d))
            point->values[d] = any_value(dimension, rng);
    }
}

void rig_hunt_point_change(const struct rig_hunt_space *space, struct rig_rng *rng, struct rig_hunt_point *point)
{
    const uint32_t from = space->level_count > 0 && space->bases[point->base].level >= 0;
    if (space->dimension_count <= from)
        return;
    for (uint64_t left = 1 + rig_rng_below(rng, 2); left > 0; left--) {
        const uint32_t d = from + (uint32_t)rig_rng_below(rng, space->dimension_count - from);
        const struct rig_hunt_dimension *dimension = &space->dimensions[d];
        const bool goes = rig_rng_below(rng, 3) == 0;
        if (goes && point->values[d] >= 0 && dimension->chance < 1)
            point->values[d] = -1;
        else if (!contradicts(space, point, d))
            point->values[d] = any_value(dimension, rng);
    }
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        if (point->values[d] >= 0 && space->dimensions[d].chance < 1 && contradicts(space, point, d))
            point->values[d] = -1; /* another value has changed */
    }
}

static bool add(struct rig_hunt_settings *settings, const struct rig_text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (settings->count == RIG_HUNT_SETTINGS_MOST)
            return false;
        settings->at[settings->count++] = list->at[i];
    }
    return true;
}

/* The settings that the dimension needs, but those that the point sets itself, and conditions. */
static bool add_needed(const struct rig_hunt_space *space, const struct rig_hunt_point *point, uint32_t dimension,
                       struct rig_hunt_settings *settings)
{
    const struct rig_text_list *with = &space->dimensions[dimension].with;
    for (size_t i = 0; i < with->count; i++) {
        const int other = rig_hunt_space_find(space, with->at[i], key_length(with->at[i]));
        const struct rig_text_list one = {&with->at[i], strchr(with->at[i], '|') == NULL};
        if ((other < 0 || point->values[other] < 0) && !add(settings, &one))
            return false;
    }
    return true;
}

bool rig_hunt_point_settings(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                             struct rig_hunt_settings *settings)
{
    bool fits = add(settings, &space->bases[point->base].settings);
    for (uint32_t d = 0; fits && d < space->dimension_count; d++) {
        if (point->values[d] < 0 || space->dimensions[d].is_of_servers)
            continue;
        const struct rig_text_list own = {&space->dimensions[d].settings.at[point->values[d]], 1};
        fits = is_of_levels(space, d) ? add(settings, &space->levels[point->values[d]].settings)
                                      : add_needed(space, point, d, settings) && add(settings, &own);
    }
    return fits;
}

void rig_hunt_point_server_settings(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                                    struct rig_buf *out)
{
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        if (point->values[d] >= 0 && space->dimensions[d].is_of_servers)
            rig_buf_printf(out, ", %s", space->dimensions[d].settings.at[point->values[d]]);
    }
}

bool rig_hunt_point_has_servers_of(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                                   const struct rig_hunt_point *other)
{
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        if (space->dimensions[d].is_of_servers && point->values[d] != other->values[d])
            return false;
    }
    return true;
}

void rig_hunt_point_take_servers(const struct rig_hunt_space *space, const struct rig_hunt_point *from,
                                 struct rig_hunt_point *point)
{
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        if (space->dimensions[d].is_of_servers)
            point->values[d] = from->values[d];
    }
}

const char *rig_hunt_point_promise(const struct rig_hunt_space *space, const struct rig_hunt_point *point)
{
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        if (point->values[d] >= 0 && space->dimensions[d].promise != NULL)
            return space->dimensions[d].promise;
    }
    if (space->bases[point->base].promise != NULL)
        return space->bases[point->base].promise;
    return space->level_count > 0 && point->values[0] >= 0 ? space->levels[point->values[0]].promise : NULL;
}

void rig_hunt_point_words(const struct rig_hunt_space *space, const struct rig_hunt_point *point, struct rig_buf *out)
{
    const size_t before = out->size;
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        if (point->values[d] >= 0 && !is_of_levels(space, d))
            rig_buf_printf(out, "%s%s", out->size == before ? "" : ", ",
                           space->dimensions[d].settings.at[point->values[d]]);
    }
    if (out->size == before)
        rig_buf_add_text(out, "nothing");
}

bool rig_hunt_point_contains(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                             const struct rig_hunt_point *part)
{
    if (part->base != 0 && point->base != part->base)
        return false;
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        if (part->values[d] >= 0 && point->values[d] != part->values[d])
            return false;
    }
    return true;
}

bool rig_hunt_point_repair(const struct rig_hunt_space *space, struct rig_hunt_point *point, rig_hunt_fits *fits,
                           rig_hunt_dropped *dropped, void *context, char why[RIG_HUNT_WHY_BYTES])
{
    struct rig_hunt_point whole;
    rig_hunt_point_clear(space, point->base, &whole);
    if (space->level_count > 0)
        whole.values[0] = point->values[0];
    if (!fits(context, &whole, why))
        return false;
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        if (point->values[d] < 0 || is_of_levels(space, d))
            continue;
        whole.values[d] = point->values[d];
        if (!fits(context, &whole, why)) {
            whole.values[d] = -1;
            dropped(context, d, (uint32_t)point->values[d], why);
        }
    }
    *point = whole;
    return true;
}
