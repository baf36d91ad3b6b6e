#include "drivers/http/dialect_render.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "base/json_write.h"
#include "base/base64.h"

enum { VALUE_BYTES_MOST = 64 << 20 };

/* -- values -------------------------------------------------------------------------------------------------------- */

static struct rig_value text_value(const char *text)
{
    return (struct rig_value){.kind = RIG_IS_TEXT, .text = text, .size = strlen(text)};
}

/* The text in place of the value in a dry run, in the arena. */
static struct rig_value unknown(const struct rig_render_scope *scope, const char *what, int64_t key)
{
    char text[96];
    const int length = snprintf(text, sizeof text, "<%s of key %" PRId64 ">", what, key);
    struct rig_value value = {.kind = RIG_IS_UNKNOWN, .text = "?", .size = 1};
    char *copy = rig_arena_text(scope->state->arena, text, (size_t)length);
    if (copy != NULL) {
        value.text = copy;
        value.size = (size_t)length;
    }
    if (!scope->dry && scope->missing != NULL)
        *scope->missing = true;
    return value;
}

static struct rig_value final_value(const struct rig_render_scope *scope, const struct rig_key_state *key)
{
    const struct rig_value value = rig_state_final_value(scope->state, key);
    if (value.kind != RIG_IS_UNKNOWN)
        return value;
    return unknown(scope, key->written ? "new list" : "value", key->key);
}

static struct rig_value element_value(const struct rig_text_part *part, const struct rig_render_scope *scope)
{
    const struct rig_key_state *key = rig_state_key(scope->state, scope->set, scope->element);
    switch (part->kind) {
    case RIG_PART_KEY:
        return (struct rig_value){.kind = RIG_IS_INTEGER, .integer = key->key};
    case RIG_PART_VALUE:
        if (scope->set == RIG_SET_OPERATIONS)
            return (struct rig_value){.kind = RIG_IS_INTEGER,
                                      .integer = scope->state->transaction->ops[scope->element].value};
        return final_value(scope, key);
    case RIG_PART_EXPECTED:
        return rig_state_expected(scope->state, key);
    case RIG_PART_VERSION:
        if (key->version.kind == RIG_IS_NOTHING && !key->told)
            return unknown(scope, "version", key->key);
        return key->version;
    case RIG_PART_INDEX:
        return (struct rig_value){.kind = RIG_IS_INTEGER, .integer = scope->element};
    case RIG_PART_LITERAL:
    case RIG_PART_CLIENT:
    case RIG_PART_RUN:
    case RIG_PART_PARAMETER:
    case RIG_PART_NAME:
    case RIG_PART_VARIABLE:
        break;
    }
    rig_bug(__FILE__, __LINE__, "a value of an element");
}

static struct rig_value variable_value(const struct rig_text_part *part, const struct rig_render_scope *scope)
{
    const struct rig_value *value = scope->state == NULL ? NULL : &scope->state->variables[part->index];
    if (value != NULL && value->kind != RIG_IS_NOTHING)
        return *value;
    if (scope->dry) {
        struct rig_buf text;
        rig_buf_init(&text, 256);
        rig_buf_printf(&text, "<%s>", scope->dialect->variables[part->index]);
        const char *copy = rig_arena_text(scope->state->arena, rig_buf_text(&text), text.size);
        rig_buf_done(&text);
        return (struct rig_value){
            .kind = RIG_IS_UNKNOWN, .text = copy == NULL ? "" : copy, .size = copy == NULL ? 0 : strlen(copy)};
    }
    return (struct rig_value){.kind = RIG_IS_NOTHING};
}

static void encode_url(const char *bytes, size_t size, struct rig_buf *out)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (isalnum(c) != 0 || strchr("-_.~", c) != NULL)
            rig_buf_add_char(out, (char)c);
        else
            rig_buf_printf(out, "%%%02X", c);
    }
}

static void add_list(const struct rig_value *value, bool brackets, struct rig_buf *out)
{
    rig_buf_add_text(out, brackets ? "[" : "");
    for (size_t i = 0; i < value->count; i++) {
        if (i > 0)
            rig_buf_add_char(out, ',');
        rig_buf_add_int(out, value->list[i]);
    }
    rig_buf_add_text(out, brackets ? "]" : "");
}

/* As text, without any quotes of JSON's. */
static void add_as_text(const struct rig_value *value, struct rig_buf *out)
{
    switch (value->kind) {
    case RIG_IS_NOTHING:
        break;
    case RIG_IS_TEXT:
    case RIG_IS_UNKNOWN:
        rig_buf_add(out, value->text, value->size);
        break;
    case RIG_IS_INTEGER:
        rig_buf_add_int(out, value->integer);
        break;
    case RIG_IS_LIST:
        add_list(value, true, out);
        break;
    }
}

/* Applies a filter; the result is a text in `out`, which the value then borrows. */
static void apply_filter(enum rig_dialect_filter filter, struct rig_value *value, struct rig_buf *out)
{
    struct rig_buf before;
    rig_buf_clear(out);
    if (value->kind == RIG_IS_UNKNOWN)
        return;
    if (filter == RIG_FILTER_CSV && value->kind == RIG_IS_LIST) {
        add_list(value, false, out);
    } else if (filter == RIG_FILTER_TEXT || filter == RIG_FILTER_CSV) {
        add_as_text(value, out);
    } else {
        rig_buf_init(&before, VALUE_BYTES_MOST);
        add_as_text(value, &before);
        if (filter == RIG_FILTER_URL)
            encode_url(rig_buf_text(&before), before.size, out);
        else
            rig_base64_add(rig_buf_text(&before), before.size, filter == RIG_FILTER_BASE64URL, out);
        out->failed = out->failed || before.failed;
        rig_buf_done(&before);
    }
    *value = (struct rig_value){.kind = RIG_IS_TEXT, .text = rig_buf_text(out), .size = out->size};
}

/* Two buffers, because a filter reads what the one before it has written. `name` holds the text of a name. */
struct scratch {
    struct rig_buf name;
    struct rig_buf at[2];
};

static void scratch_init(struct scratch *scratch)
{
    rig_buf_init(&scratch->name, VALUE_BYTES_MOST);
    rig_buf_init(&scratch->at[0], VALUE_BYTES_MOST);
    rig_buf_init(&scratch->at[1], VALUE_BYTES_MOST);
}

static bool scratch_done(struct scratch *scratch)
{
    const bool failed = scratch->name.failed || scratch->at[0].failed || scratch->at[1].failed;
    rig_buf_done(&scratch->name);
    rig_buf_done(&scratch->at[0]);
    rig_buf_done(&scratch->at[1]);
    return !failed;
}

static struct rig_value part_value(const struct rig_text_part *part, const struct rig_render_scope *scope,
                                   struct scratch *scratch)
{
    struct rig_value value = {.kind = RIG_IS_NOTHING};
    if (part->kind == RIG_PART_LITERAL)
        return (struct rig_value){.kind = RIG_IS_TEXT, .text = part->literal, .size = part->literal_size};
    if (part->kind == RIG_PART_CLIENT) {
        value = (struct rig_value){.kind = RIG_IS_INTEGER, .integer = scope->client};
    } else if (part->kind == RIG_PART_RUN) {
        value = text_value(scope->dialect->run_name);
    } else if (part->kind == RIG_PART_PARAMETER) {
        value = text_value(scope->dialect->values[part->index]);
    } else if (part->kind == RIG_PART_VARIABLE) {
        value = variable_value(part, scope);
    } else if (part->kind == RIG_PART_NAME) {
        rig_render_text(&scope->dialect->names[part->index].text, scope, &scratch->name);
        value =
            (struct rig_value){.kind = RIG_IS_TEXT, .text = rig_buf_text(&scratch->name), .size = scratch->name.size};
    } else {
        value = element_value(part, scope);
    }
    for (uint32_t i = 0; i < part->filter_count; i++)
        apply_filter(part->filters[i], &value, &scratch->at[i % 2]);
    return value;
}

/* -- templates ----------------------------------------------------------------------------------------------------- */

/* For transactions of one operation on an object. */
static bool acts_so(const struct rig_transaction *transaction, enum rig_condition_kind how)
{
    const struct rig_op *ops = transaction->ops;
    if (transaction->op_count == 0)
        return false;
    if (how == RIG_CONDITION_TAKES)
        return ops[0].kind == RIG_OP_DEQUEUE || ops[0].kind == RIG_OP_POP;
    if (how == RIG_CONDITION_APPENDS)
        return ops[0].kind == RIG_OP_EXTEND;
    if (how == RIG_CONDITION_WORKS)
        return ops[0].kind == RIG_OP_TOKEN;
    if (ops[0].kind == RIG_OP_HOLD)
        return how == RIG_CONDITION_ACQUIRES;
    const bool compares = transaction->op_count == 2 && ops[0].kind == RIG_OP_EXPECT;
    return compares && (how == RIG_CONDITION_COMPARES || ops[1].value == 1);
}

static bool condition_holds(const struct rig_condition *condition, const struct rig_render_scope *scope)
{
    const struct rig_transaction_state *state = scope->state;
    switch (condition->kind) {
    case RIG_CONDITION_WRITES:
        return state != NULL && state->write_count > 0;
    case RIG_CONDITION_READ_ONLY:
        return state != NULL && state->write_count == 0;
    case RIG_CONDITION_COMPARES:
    case RIG_CONDITION_ACQUIRES:
    case RIG_CONDITION_WORKS:
    case RIG_CONDITION_TAKES:
    case RIG_CONDITION_APPENDS:
        return state != NULL && acts_so(state->transaction, condition->kind);
    case RIG_CONDITION_READ:
    case RIG_CONDITION_WRITE:
        return rig_op_reads(state->transaction->ops[scope->element].kind) == (condition->kind == RIG_CONDITION_READ);
    case RIG_CONDITION_EXISTS: {
        const struct rig_key_state *key = rig_state_key(state, scope->set, scope->element);
        return key->exists || (scope->dry && !key->told); /* shows the dependent parts */
    }
    case RIG_CONDITION_PARAMETER:
        return strcmp(scope->dialect->values[condition->parameter], condition->value) == 0;
    }
    rig_bug(__FILE__, __LINE__, "a condition of a known kind");
}

bool rig_render_holds(const struct rig_conditions *conditions, const struct rig_render_scope *scope)
{
    for (uint32_t i = 0; i < conditions->count; i++) {
        if (condition_holds(&conditions->at[i], scope) == conditions->at[i].negated)
            return false;
    }
    return true;
}

void rig_render_text(const struct rig_text_template *text, const struct rig_render_scope *scope, struct rig_buf *out)
{
    for (size_t i = 0; i < text->count; i++) {
        struct scratch scratch;
        if (text->parts[i].kind == RIG_PART_LITERAL) {
            rig_buf_add(out, text->parts[i].literal, text->parts[i].literal_size);
            continue;
        }
        scratch_init(&scratch);
        const struct rig_value value = part_value(&text->parts[i], scope, &scratch);
        add_as_text(&value, out);
        if (!scratch_done(&scratch))
            out->failed = true;
    }
}

static void render_typed(const struct rig_text_part *part, const struct rig_render_scope *scope, struct rig_buf *out)
{
    struct scratch scratch;
    scratch_init(&scratch);
    const struct rig_value value = part_value(part, scope, &scratch);
    if (value.kind == RIG_IS_NOTHING)
        rig_buf_add_text(out, "null");
    else if (value.kind == RIG_IS_TEXT || value.kind == RIG_IS_UNKNOWN)
        rig_json_quote(out, value.text, value.size);
    else
        add_as_text(&value, out);
    if (!scratch_done(&scratch))
        out->failed = true;
}

static void render_string(const struct rig_text_template *text, const struct rig_render_scope *scope,
                          struct rig_buf *out)
{
    struct rig_buf plain;
    rig_buf_init(&plain, VALUE_BYTES_MOST);
    rig_render_text(text, scope, &plain);
    rig_json_quote(out, rig_buf_text(&plain), plain.size);
    out->failed = out->failed || plain.failed;
    rig_buf_done(&plain);
}

/* The result of an `$if`; NULL: nothing. */
static const struct rig_template *choose(const struct rig_template *json, const struct rig_render_scope *scope)
{
    while (json != NULL && json->kind == RIG_TEMPLATE_IF)
        json = rig_render_holds(&json->when, scope) ? json->first : json->otherwise;
    return json;
}

static void separate(bool *first, struct rig_buf *out)
{
    if (!*first)
        rig_buf_add_char(out, ',');
    *first = false;
}

static void render_each(const struct rig_template *json, const struct rig_render_scope *scope, bool *first,
                        struct rig_buf *out)
{
    struct rig_render_scope inner = *scope;
    const uint32_t count = scope->state == NULL ? 0 : rig_state_set_size(scope->state, json->set);
    inner.set = json->set;
    for (inner.element = 0; inner.element < count; inner.element++) {
        const struct rig_template *item = rig_render_holds(&json->when, &inner) ? choose(json->first, &inner) : NULL;
        if (item == NULL)
            continue;
        separate(first, out);
        rig_render_json(item, &inner, out);
    }
}

static void render_children(const struct rig_template *json, const struct rig_render_scope *scope, struct rig_buf *out)
{
    bool first = true;
    const bool object = json->kind == RIG_TEMPLATE_OBJECT;
    rig_buf_add_char(out, object ? '{' : '[');
    for (const struct rig_template *child = json->first; child != NULL; child = child->next) {
        if (child->kind == RIG_TEMPLATE_EACH) {
            render_each(child, scope, &first, out);
            continue;
        }
        const struct rig_template *chosen = choose(child, scope);
        if (chosen == NULL)
            continue;
        separate(&first, out);
        if (object) {
            rig_json_quote(out, child->name, strlen(child->name));
            rig_buf_add_char(out, ':');
        }
        rig_render_json(chosen, scope, out);
    }
    rig_buf_add_char(out, object ? '}' : ']');
}

/* The YAML's depth bounds this one's. */
void rig_render_json(const struct rig_template *json, const struct rig_render_scope *scope, struct rig_buf *out)
{
    const struct rig_template *chosen = choose(json, scope);
    if (chosen == NULL) {
        rig_buf_add_text(out, "null");
        return;
    }
    switch (chosen->kind) {
    case RIG_TEMPLATE_PLAIN:
        rig_buf_add_text(out, chosen->plain);
        break;
    case RIG_TEMPLATE_TEXT:
        render_string(&chosen->text, scope, out);
        break;
    case RIG_TEMPLATE_TYPED:
        render_typed(&chosen->text.parts[0], scope, out);
        break;
    case RIG_TEMPLATE_OBJECT:
    case RIG_TEMPLATE_ARRAY:
        render_children(chosen, scope, out);
        break;
    case RIG_TEMPLATE_EACH:
    case RIG_TEMPLATE_IF:
        rig_bug(__FILE__, __LINE__, "a construct is chosen before it is rendered");
    }
}
