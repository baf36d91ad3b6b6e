#include "history/types/object_expression.h"

#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/json_write.h"
#include "history/model/value_texts.h"
#include "history/types/object_code.h"

bool rig_model_constants_find(struct rig_model_constants *constants)
{
    return rig_value_number("true", 4, &constants->yes) && rig_value_number("false", 5, &constants->no) &&
           rig_value_number("nil", 3, &constants->nil);
}

/* ---- values ---- */

struct machine {
    const struct rig_model_view *view;
    int64_t stack[RIG_CODE_MOST_DEPTH + 1];
    uint32_t depth;
    bool no_memory;
};

static bool is_integer(int64_t value)
{
    return value >= RIG_VALUE_TEXTS_BELOW;
}

/* The order of two integers, or of two strings; false: there is none. */
static bool compare(int64_t a, int64_t b, int *order)
{
    if (is_integer(a) && is_integer(b)) {
        *order = (a > b) - (a < b);
        return true;
    }
    const char *left = is_integer(a) ? NULL : rig_value_text(a), *right = is_integer(b) ? NULL : rig_value_text(b);
    if (left == NULL || right == NULL || left[0] != '"' || right[0] != '"')
        return false;
    const int compared = strcmp(left, right);
    *order = (compared > 0) - (compared < 0);
    return true;
}

size_t rig_container_place(const struct rig_container *map, int64_t key, bool *found)
{
    size_t low = 0, high = map->count / 2;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (map->at[2 * middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    *found = 2 * low < map->count && map->at[2 * low] == key;
    return 2 * low;
}

static bool element(const struct machine *m, const struct rig_container *container, bool is_map, int64_t *value)
{
    bool found = false;
    if (is_map) {
        const size_t at = rig_container_place(container, *value, &found);
        *value = found ? container->at[at + 1] : m->view->constants->nil;
        return true;
    }
    if (!is_integer(*value))
        return false;
    *value = *value >= 0 && (uint64_t)*value < container->count ? container->at[*value] : m->view->constants->nil;
    return true;
}

static bool has_member(const struct rig_container *container, bool is_map, int64_t value)
{
    bool found = false;
    if (is_map) {
        (void)rig_container_place(container, value, &found);
        return found;
    }
    for (size_t i = 0; !found && i < container->count; i++)
        found = container->at[i] == value;
    return found;
}

/* Keys that are no integers come first: then there is no least integer. */
static bool end_key(const struct machine *m, const struct rig_container *map, bool greatest, int64_t *value)
{
    *value = map->count == 0 ? m->view->constants->nil : map->at[greatest ? map->count - 2 : 0];
    return map->count == 0 || is_integer(map->at[0]);
}

static bool add_up(const struct rig_container *container, bool is_map, int64_t *value)
{
    *value = 0;
    for (size_t i = is_map; i < container->count; i += is_map ? 2 : 1) {
        if (!is_integer(container->at[i]) || __builtin_add_overflow(*value, container->at[i], value))
            return false;
    }
    return is_integer(*value);
}

/* ---- lists: values whose text is that of their elements ---- */

static bool end_list(struct machine *m, struct rig_buf *text, int64_t *value)
{
    rig_buf_add_char(text, ']');
    m->no_memory |= text->failed || !rig_value_number(rig_buf_text(text), text->size, value);
    rig_buf_done(text);
    return !m->no_memory;
}

static void begin_list(struct rig_buf *text)
{
    rig_buf_init(text, 0);
    rig_buf_add_char(text, '[');
}

static void add_item(struct rig_buf *text, int64_t value)
{
    if (text->size > 1 && rig_buf_text(text)[text->size - 1] != '[')
        rig_buf_add_char(text, ' ');
    rig_value_add(text, value);
}

struct ordered {
    int64_t key, value;
};

/* Integers in their order, then other values in that of their texts. */
static int compare_ordered(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    if (is_integer(a->key) != is_integer(b->key))
        return is_integer(a->key) ? -1 : 1;
    if (is_integer(a->key))
        return (a->key > b->key) - (a->key < b->key);
    return strcmp(rig_value_text(a->key), rig_value_text(b->key));
}

/* The keys of a map, its values, or both, in the order of the keys. `bounds`: those from the first on, below the
 * second. */
static bool list_map(struct machine *m, const struct rig_container *map, enum rig_code code, const int64_t *bounds,
                     int64_t *value)
{
    struct rig_buf text;
    const size_t count = map->count / 2;
    struct ordered *all = malloc((count + 1) * sizeof *all);
    int order = 0;
    m->no_memory |= all == NULL;
    if (all == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        all[i] = (struct ordered){map->at[2 * i], map->at[2 * i + 1]};
    if (count > 1)
        qsort(all, count, sizeof *all, compare_ordered);
    begin_list(&text);
    for (size_t i = 0; i < count; i++) {
        if (bounds != NULL && (!compare(bounds[0], all[i].key, &order) || order > 0 ||
                               !compare(all[i].key, bounds[1], &order) || order >= 0))
            continue;
        if (code == RIG_CODE_ENTRIES || code == RIG_CODE_RANGE) {
            rig_buf_add_text(&text, text.size > 1 ? " [" : "[");
            add_item(&text, all[i].key);
            add_item(&text, all[i].value);
            rig_buf_add_char(&text, ']');
        } else {
            add_item(&text, code == RIG_CODE_KEYS ? all[i].key : all[i].value);
        }
    }
    free(all);
    return end_list(m, &text, value);
}

static bool list_values(struct machine *m, const int64_t *at, size_t count, int64_t *value)
{
    struct rig_buf text;
    begin_list(&text);
    for (size_t i = 0; i < count; i++)
        add_item(&text, at[i]);
    return end_list(m, &text, value);
}

/* ---- computing ---- */

/* An instruction on a container replaces the values on the stack that it takes. */
static bool look_into(struct machine *m, const struct rig_instruction *at)
{
    const struct rig_container *container = &m->view->containers[at->place];
    const bool is_map = at->count != 0;
    int64_t *top = m->depth == 0 ? NULL : &m->stack[m->depth - 1];
    switch ((int)at->code) {
    case RIG_CODE_ELEMENT:
        return element(m, container, is_map, top);
    case RIG_CODE_MEMBER:
        *top = has_member(container, is_map, *top) ? m->view->constants->yes : m->view->constants->no;
        return true;
    case RIG_CODE_RANGE:
        m->depth--;
        return list_map(m, container, RIG_CODE_RANGE, top - 1, top - 1);
    default:
        break;
    }
    top = &m->stack[m->depth++];
    switch ((int)at->code) {
    case RIG_CODE_COUNT:
        *top = (int64_t)(is_map ? container->count / 2 : container->count);
        return true;
    case RIG_CODE_LEAST:
    case RIG_CODE_GREATEST:
        return end_key(m, container, at->code == RIG_CODE_GREATEST, top);
    case RIG_CODE_SUM:
        return add_up(container, is_map, top);
    case RIG_CODE_FIRST:
    case RIG_CODE_LAST:
        *top = container->count == 0 ? m->view->constants->nil
                                     : container->at[at->code == RIG_CODE_LAST ? container->count - 1 : 0];
        return true;
    default:
        return is_map ? list_map(m, container, (enum rig_code)at->code, NULL, top)
                      : list_values(m, container->at, container->count, top);
    }
}

static bool calculate(enum rig_code code, int64_t a, int64_t b, int64_t *value)
{
    bool fails = !is_integer(a) || !is_integer(b);
    if (fails)
        return false;
    switch ((int)code) {
    case RIG_CODE_ADD:
        fails = __builtin_add_overflow(a, b, value);
        break;
    case RIG_CODE_SUBTRACT:
        fails = __builtin_sub_overflow(a, b, value);
        break;
    case RIG_CODE_MULTIPLY:
        fails = __builtin_mul_overflow(a, b, value);
        break;
    default:
        fails = b == 0;
        if (!fails)
            *value = code == RIG_CODE_DIVIDE ? a / b : a % b; /* no integer is INT64_MIN */
        break;
    }
    return !fails && is_integer(*value);
}

static bool decide(const struct machine *m, enum rig_code code, int64_t a, int64_t b, int64_t *value)
{
    int order = 0;
    bool holds = code == RIG_CODE_EQUAL ? a == b : a != b;
    if (code != RIG_CODE_EQUAL && code != RIG_CODE_DIFFERENT) {
        if (!compare(a, b, &order))
            return false;
        if (code == RIG_CODE_SMALLER || code == RIG_CODE_LARGER) {
            *value = (code == RIG_CODE_SMALLER) == (order <= 0) ? a : b;
            return true;
        }
        holds = code == RIG_CODE_BELOW     ? order < 0
                : code == RIG_CODE_AT_MOST ? order <= 0
                : code == RIG_CODE_ABOVE   ? order > 0
                                           : order >= 0;
    }
    *value = holds ? m->view->constants->yes : m->view->constants->no;
    return true;
}

static bool is_truth(const struct machine *m, int64_t value)
{
    return value == m->view->constants->yes || value == m->view->constants->no;
}

/* Executes one instruction that does not go elsewhere. */
static bool execute(struct machine *m, const struct rig_instruction *at)
{
    const enum rig_code code = (enum rig_code)at->code;
    int64_t *top = m->depth == 0 ? NULL : &m->stack[m->depth - 1];
    switch ((int)code) {
    case RIG_CODE_CONSTANT:
        m->stack[m->depth++] = at->value;
        return true;
    case RIG_CODE_VALUE:
        m->stack[m->depth++] = m->view->values[at->place];
        return true;
    case RIG_CODE_ARGUMENT:
        m->stack[m->depth++] = m->view->arguments[at->place];
        return true;
    case RIG_CODE_LIST:
        m->depth -= at->count;
        m->depth++;
        return list_values(m, &m->stack[m->depth - 1], at->count, &m->stack[m->depth - 1]);
    case RIG_CODE_NEGATE:
        return calculate(RIG_CODE_SUBTRACT, 0, *top, top);
    case RIG_CODE_NOT:
        if (!is_truth(m, *top))
            return false;
        *top = *top == m->view->constants->yes ? m->view->constants->no : m->view->constants->yes;
        return true;
    default:
        break;
    }
    if (code < RIG_CODE_ADD)
        return look_into(m, at);
    RIG_INVARIANT(m->depth >= 2);
    m->depth--;
    return code <= RIG_CODE_REMAINDER ? calculate(code, top[-1], *top, top - 1)
                                      : decide(m, code, top[-1], *top, top - 1);
}

bool rig_expression_value(const struct rig_instructions *code, const struct rig_expression *expression,
                          const struct rig_model_view *view, int64_t *value, bool *no_memory)
{
    struct machine m = {.view = view};
    const struct rig_instruction *first = code->at + expression->first;
    RIG_REQUIRE(expression->count > 0 && expression->first + (size_t)expression->count <= code->count);
    for (uint32_t i = 0; i < expression->count;) {
        const struct rig_instruction *at = &first[i++];
        RIG_INVARIANT(m.depth <= RIG_CODE_MOST_DEPTH);
        if (at->code == RIG_CODE_GO) {
            i = at->place;
        } else if (at->code == RIG_CODE_GO_IF_FALSE || at->code == RIG_CODE_KEEP_IF_FALSE ||
                   at->code == RIG_CODE_KEEP_IF_TRUE) {
            const int64_t top = m.stack[m.depth - 1];
            const bool goes = (top == view->constants->yes) == (at->code == RIG_CODE_KEEP_IF_TRUE);
            if (!is_truth(&m, top))
                return false;
            i = goes ? at->place : i;
            m.depth -= at->code == RIG_CODE_GO_IF_FALSE || !goes;
        } else if (!execute(&m, at)) {
            *no_memory |= m.no_memory;
            return false;
        }
    }
    RIG_INVARIANT(m.depth == 1);
    *value = m.stack[0];
    return true;
}
