#include "drivers/http/json_path.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 16, INDEX_DIGITS_MOST = 9 };

enum step_kind { STEP_MEMBER, STEP_INDEX, STEP_ANY };

struct rig_json_step {
    enum step_kind kind;
    const char *name;
    long index; /* negative: from the back */
};

static enum rig_rc out_of_memory(struct rig_err *err)
{
    return rig_no_memory(err, "a path");
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '_' || c == '-';
}

/* One step from `at`; returns the next node, or NULL when there is none. `name` is set to the member's, uncopied. */
static const char *parse_step(const char *at, struct rig_json_step *step, const char **name, size_t *length)
{
    *name = NULL;
    if (*at == '.') {
        *name = at + 1;
        *length = 0;
        while (is_name_char((*name)[*length]))
            (*length)++;
        step->kind = STEP_MEMBER;
        return *length == 0 ? NULL : *name + *length;
    }
    if (*at++ != '[')
        return NULL;
    if (strncmp(at, "*]", 2) == 0) {
        step->kind = STEP_ANY;
        return at + 2;
    }
    if (*at == '\'') {
        const char *end = strchr(at + 1, '\'');
        *name = at + 1;
        *length = end == NULL ? 0 : (size_t)(end - *name);
        step->kind = STEP_MEMBER;
        return end != NULL && end[1] == ']' ? end + 2 : NULL;
    }
    const size_t digits = strspn(at + (*at == '-'), "0123456789");
    char *end = NULL;
    step->kind = STEP_INDEX;
    step->index = digits > 0 && digits <= INDEX_DIGITS_MOST ? strtol(at, &end, 10) : 0;
    return end != NULL && *end == ']' ? end + 1 : NULL;
}

enum rig_rc rig_json_path_parse(struct rig_arena *arena, const char *text, struct rig_json_path *path,
                                struct rig_err *err)
{
    struct rig_json_step steps[STEPS_MOST];
    size_t count = 0;
    const char *at = text;
    if (*at++ != '$')
        return rig_fail(err, RIG_E_PLAN, "expected a path such as `$.header.revision` or `$.rows[0]`, not `%.60s`",
                        text);
    while (*at != '\0') {
        const char *name = NULL;
        size_t length = 0;
        if (count == STEPS_MOST)
            return rig_fail(err, RIG_E_PLAN, "the path `%.60s` has more than %d steps", text, (int)STEPS_MOST);
        steps[count] = (struct rig_json_step){.kind = STEP_ANY};
        const char *next = parse_step(at, &steps[count], &name, &length);
        if (next == NULL)
            return rig_fail(err, RIG_E_PLAN,
                            "the path `%.60s` is invalid at `%.20s`: expected `.name`, `['name']`, `[0]` or `[*]`",
                            text, at);
        if (name != NULL && (steps[count].name = rig_arena_text(arena, name, length)) == NULL)
            return out_of_memory(err);
        count++;
        at = next;
    }
    struct rig_json_step *kept = rig_arena_array(arena, count + 1, sizeof *kept);
    const char *copy = rig_arena_text(arena, text, strlen(text));
    if (kept == NULL || copy == NULL)
        return out_of_memory(err);
    memcpy(kept, steps, count * sizeof *kept);
    *path = (struct rig_json_path){.text = copy, .steps = kept, .count = count};
    return RIG_OK;
}

static json_t *element(json_t *array, long index)
{
    const size_t size = json_array_size(array);
    const size_t back = (size_t)-index;
    if (index >= 0)
        return json_array_get(array, (size_t)index);
    return back <= size ? json_array_get(array, size - back) : NULL;
}

/* Depth is bounded by STEPS_MOST. */
static json_t *find_from(const struct rig_json_step *steps, size_t count, json_t *here)
{
    for (size_t i = 0; i < count && here != NULL; i++) {
        if (steps[i].kind == STEP_MEMBER) {
            here = json_object_get(here, steps[i].name);
        } else if (steps[i].kind == STEP_INDEX) {
            here = element(here, steps[i].index);
        } else {
            json_t *found = NULL;
            for (size_t at = 0; found == NULL && at < json_array_size(here); at++)
                found = find_from(steps + i + 1, count - i - 1, json_array_get(here, at));
            return found;
        }
    }
    return here;
}

json_t *rig_json_path_find(const struct rig_json_path *path, json_t *root)
{
    return find_from(path->steps, path->count, root);
}
