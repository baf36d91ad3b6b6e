#include "drivers/http/http_answer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"
#include "base/base64.h"

struct taking {
    const struct rig_answer_rule *rule;
    const struct rig_answer_source *source;
    struct rig_transaction_state *state;
    char *problem;
    bool no_room;
};

static bool refuse(struct taking *taking, const char *format, ...) RIG_PRINTF(2, 3);

static bool refuse(struct taking *taking, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(taking->problem, RIG_PROBLEM_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

static bool refuse_memory(struct taking *taking)
{
    taking->no_room = true;
    return refuse(taking, RIG_NO_MEMORY "an answer");
}

/* -- decoding ------------------------------------------------------------------------------------------------------ */

/* A value on its way: JSON, or a text that was decoded; `owned` is to be released. */
struct piece {
    json_t *json; /* NULL: `text` */
    json_t *owned;
    const char *text;
    size_t size;
    bool is_list; /* decoded already */
    struct rig_value list;
};

static bool as_text(struct taking *taking, struct piece *piece)
{
    if (piece->json == NULL)
        return !piece->is_list || refuse(taking, "a list instead of a text");
    if (!json_is_string(piece->json))
        return refuse(taking, "expected a text");
    piece->text = json_string_value(piece->json);
    piece->size = json_string_length(piece->json);
    piece->json = NULL;
    return true;
}

static bool decode_base64(struct taking *taking, struct piece *piece)
{
    char *bytes = rig_arena_room(taking->state->arena, rig_base64_room(piece->size), 1);
    if (bytes == NULL)
        return refuse_memory(taking);
    const size_t count = rig_base64_decode(piece->text, piece->size, bytes);
    if (count == SIZE_MAX)
        return refuse(taking, "a value that is not base64");
    piece->text = bytes;
    piece->size = count;
    return true;
}

/* A whole number at `text`, to its last byte; false when it is none or does not fit. */
static bool parse_integer(const char *text, size_t size, int64_t *number)
{
    char digits[24];
    char *end = NULL;
    if (size == 0 || size >= sizeof digits || (text[0] != '-' && (text[0] < '0' || text[0] > '9')))
        return false;
    memcpy(digits, text, size);
    digits[size] = '\0';
    errno = 0;
    const long long found = strtoll(digits, &end, 10);
    *number = found;
    return errno == 0 && *end == '\0' && end != digits;
}

static bool decode_csv(struct taking *taking, struct piece *piece)
{
    size_t most = 1;
    for (size_t i = 0; i < piece->size; i++)
        most += piece->text[i] == ',' ? 1 : 0;
    int64_t *list = rig_arena_room(taking->state->arena, most, sizeof *list);
    if (list == NULL)
        return refuse_memory(taking);
    size_t count = 0;
    for (size_t at = 0; at < piece->size || (at > 0 && at == piece->size && piece->text[at - 1] == ',');) {
        const char *comma = memchr(piece->text + at, ',', piece->size - at);
        const size_t length = comma == NULL ? piece->size - at : (size_t)(comma - piece->text) - at;
        if (!parse_integer(piece->text + at, length, &list[count++]))
            return refuse(taking, "an element that is not a whole number");
        at += length + 1;
    }
    piece->list = (struct rig_value){.kind = RIG_IS_LIST, .list = list, .count = count};
    piece->is_list = true;
    return true;
}

static bool decode_json(struct taking *taking, struct piece *piece)
{
    json_error_t error;
    json_t *parsed = json_loadb(piece->text, piece->size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (parsed == NULL)
        return refuse(taking, "a value that is not JSON: %.80s", error.text);
    json_decref(piece->owned);
    piece->owned = piece->json = parsed;
    return true;
}

static bool decode_integer(struct taking *taking, struct piece *piece)
{
    int64_t number = 0;
    if (!parse_integer(piece->text, piece->size, &number))
        return refuse(taking, "a value that is not a whole number");
    json_t *made = json_integer(number);
    if (made == NULL)
        return refuse_memory(taking);
    json_decref(piece->owned);
    piece->owned = piece->json = made;
    return true;
}

static bool decode(struct taking *taking, const struct rig_answer_value *value, struct piece *piece)
{
    bool done = true;
    for (uint32_t i = 0; done && i < value->decode_count; i++) {
        done = as_text(taking, piece);
        if (!done)
            break;
        switch (value->decode[i]) {
        case RIG_DECODE_BASE64:
            done = decode_base64(taking, piece);
            break;
        case RIG_DECODE_JSON:
            done = decode_json(taking, piece);
            break;
        case RIG_DECODE_CSV:
            done = decode_csv(taking, piece);
            break;
        case RIG_DECODE_INTEGER:
            done = decode_integer(taking, piece);
            break;
        }
    }
    return done;
}

/* -- values -------------------------------------------------------------------------------------------------------- */

static bool list_of(struct taking *taking, const struct piece *piece, struct rig_value *out)
{
    if (piece->is_list) {
        *out = piece->list;
        return true;
    }
    if (!json_is_array(piece->json))
        return refuse(taking, "expected a list");
    const size_t count = json_array_size(piece->json);
    int64_t *list = rig_arena_room(taking->state->arena, count + 1, sizeof *list);
    if (list == NULL)
        return refuse_memory(taking);
    for (size_t i = 0; i < count; i++) {
        const json_t *element = json_array_get(piece->json, i);
        if (!json_is_integer(element))
            return refuse(taking, "a list with an element that is not a whole number");
        list[i] = json_integer_value(element);
    }
    *out = (struct rig_value){.kind = RIG_IS_LIST, .list = list, .count = count};
    return true;
}

static bool integer_of(struct taking *taking, const struct piece *piece, struct rig_value *out)
{
    if (piece->is_list || !json_is_integer(piece->json))
        return refuse(taking, "expected a whole number");
    *out = (struct rig_value){.kind = RIG_IS_INTEGER, .integer = json_integer_value(piece->json)};
    return true;
}

/* Any scalar: a version, a variable. The text is copied, since the answer is freed. */
static bool scalar_of(struct taking *taking, const struct piece *piece, struct rig_value *out)
{
    const char *text = piece->text;
    size_t size = piece->size;
    if (piece->is_list)
        return refuse(taking, "a list instead of a simple value");
    if (json_is_integer(piece->json)) {
        *out = (struct rig_value){.kind = RIG_IS_INTEGER, .integer = json_integer_value(piece->json)};
        return true;
    }
    if (piece->json != NULL && !json_is_string(piece->json))
        return refuse(taking, "expected a text or a whole number");
    if (piece->json != NULL) {
        text = json_string_value(piece->json);
        size = json_string_length(piece->json);
    }
    text = rig_arena_text(taking->state->arena, text, size);
    if (text == NULL)
        return refuse_memory(taking);
    *out = (struct rig_value){.kind = RIG_IS_TEXT, .text = text, .size = size};
    return true;
}

typedef bool convert_function(struct taking *taking, const struct piece *piece, struct rig_value *out);

/* Looks the value up and converts it. `found`: a value is there; a null is none. */
static bool take_value(struct taking *taking, const struct rig_answer_value *value, json_t *item,
                       convert_function *convert, bool *found, struct rig_value *out)
{
    struct piece piece = {0};
    if (value->header != NULL) {
        piece.text = rig_http_client_header(taking->source->client, value->header);
        piece.size = piece.text == NULL ? 0 : strlen(piece.text);
        *found = piece.text != NULL;
    } else {
        piece.json = rig_json_path_find(&value->path, item);
        *found = piece.json != NULL && !json_is_null(piece.json);
    }
    if (!*found)
        return true;
    const bool taken = decode(taking, value, &piece) && convert(taking, &piece, out);
    json_decref(piece.owned);
    return taken;
}

/* A scalar, or the default when it is missing. */
static bool take_scalar(struct taking *taking, const struct rig_answer_value *value, json_t *item, const char *what,
                        struct rig_value *out)
{
    bool found = false;
    if (!take_value(taking, value, item, scalar_of, &found, out))
        return false;
    if (!found && value->absent == NULL)
        return refuse(taking, "a missing %s", what);
    if (!found)
        *out = (struct rig_value){.kind = RIG_IS_TEXT, .text = value->absent, .size = strlen(value->absent)};
    return true;
}

/* -- elements ------------------------------------------------------------------------------------------------------ */

static bool tells_of_elements(const struct rig_answer_rule *rule)
{
    return rule->value.given || rule->version.given || rule->exists.text != NULL;
}

/* A missing key may have a version as well: one that states this. */
static bool take_version(struct taking *taking, struct rig_key_state *key, json_t *item, bool exists)
{
    const struct rig_answer_value *version = &taking->rule->version;
    bool found = false;
    if (!version->given)
        return true;
    key->version = (struct rig_value){.kind = RIG_IS_NOTHING};
    if (item != NULL && !take_value(taking, version, item, scalar_of, &found, &key->version))
        return false;
    if (found)
        return true;
    if (exists && version->absent == NULL)
        return refuse(taking, "a key that exists, without a version");
    if (version->absent != NULL)
        key->version =
            (struct rig_value){.kind = RIG_IS_TEXT, .text = version->absent, .size = strlen(version->absent)};
    return true;
}

/* `item`: NULL when the answer as a whole states that the key does not exist. */
static bool take_key(struct taking *taking, enum rig_dialect_set set, uint32_t element, json_t *item)
{
    const struct rig_answer_rule *rule = taking->rule;
    struct rig_key_state *key = rig_state_key(taking->state, set, element);
    struct rig_value value = {.kind = RIG_IS_NOTHING};
    bool found = false;
    if (item != NULL && rule->value.given &&
        !take_value(taking, &rule->value, item, taking->source->lists ? list_of : integer_of, &found, &value))
        return false;
    bool exists = found;
    if (rule->exists.text != NULL) {
        const json_t *sign = rig_json_path_find(&rule->exists, item);
        exists = sign != NULL && !json_is_null(sign);
        if (exists && rule->value.given && !found)
            return refuse(taking, "a key that exists, without a value");
    }
    if (!take_version(taking, key, item, exists))
        return false;
    if (set == RIG_SET_OPERATIONS) {
        taking->no_room = !rig_state_answer_op(taking->state, element, exists, &value);
        return !taking->no_room || refuse(taking, "more elements than rig accepts");
    }
    key->told = true;
    key->exists = exists;
    key->value = value;
    return true;
}

static bool op_writes(const struct taking *taking, enum rig_dialect_set set, uint32_t element)
{
    if (set != RIG_SET_OPERATIONS)
        return false;
    return !rig_op_reads(taking->state->transaction->ops[element].kind);
}

static bool has_expected(struct taking *taking, enum rig_expect_of of, json_t *item)
{
    const struct rig_expectation *expected = &taking->rule->expected[of];
    for (uint32_t i = 0; i < expected->count; i++) {
        if (rig_json_path_find(&expected->paths[i], item) == NULL)
            return refuse(taking, "nothing at %.60s", expected->paths[i].text);
    }
    return true;
}

static bool take_item(struct taking *taking, enum rig_dialect_set set, uint32_t element, json_t *item)
{
    const bool writes = op_writes(taking, set, element);
    if (!has_expected(taking, RIG_EXPECT_OF_ALL, item) ||
        (set == RIG_SET_OPERATIONS && !has_expected(taking, writes ? RIG_EXPECT_OF_WRITES : RIG_EXPECT_OF_READS, item)))
        return false;
    if (set == RIG_SET_ONCE || !tells_of_elements(taking->rule) || writes)
        return true;
    return take_key(taking, set, element, item);
}

static bool take_items(struct taking *taking)
{
    const struct rig_answer_rule *rule = taking->rule;
    const json_t *items = rig_json_path_find(&rule->items, taking->source->root);
    const uint32_t count = rig_state_set_size(taking->state, rule->set);
    if (count > 0 && !json_is_array(items))
        return refuse(taking, "no list at %.60s", rule->items.text);
    if (count > 0 && json_array_size(items) < count)
        return refuse(taking, "%zu item%s at %.60s for %u element%s", json_array_size(items),
                      rig_plural(json_array_size(items)), rule->items.text, count, rig_plural(count));
    for (uint32_t i = 0; i < count; i++) {
        if (!take_item(taking, rule->set, i, json_array_get(items, i)))
            return false;
    }
    return true;
}

static bool take_variables(struct taking *taking)
{
    const struct rig_answer_rule *rule = taking->rule;
    for (uint32_t i = 0; i < rule->variable_count; i++) {
        struct rig_value value = {.kind = RIG_IS_NOTHING};
        if (!take_scalar(taking, &rule->variables[i].value, taking->source->root, "value", &value))
            return false;
        taking->state->variables[rule->variables[i].variable] = value;
    }
    return true;
}

/* A position that is missing, or is no positive number, is left out: it is evidence, not an answer. */
static void take_order(struct taking *taking)
{
    struct rig_value value = {.kind = RIG_IS_NOTHING};
    bool found = false;
    int64_t order = 0;
    if (!taking->rule->order.given ||
        !take_value(taking, &taking->rule->order, taking->source->root, scalar_of, &found, &value) || !found)
        return;
    if (value.kind == RIG_IS_INTEGER)
        order = value.integer;
    else if (!parse_integer(value.text, value.size, &order))
        order = 0;
    taking->state->order = order > 0 ? order : 0;
}

/* As for the order: values other than texts and numbers are left out. */
static void take_member(struct taking *taking)
{
    struct rig_value value = {.kind = RIG_IS_NOTHING};
    bool found = false;
    if (!taking->rule->member.given ||
        !take_value(taking, &taking->rule->member, taking->source->root, scalar_of, &found, &value) || !found)
        return;
    char *name = taking->state->member;
    if (value.kind == RIG_IS_INTEGER)
        (void)snprintf(name, RIG_COLUMN_NAME_BYTES, "%lld", (long long)value.integer);
    else if (value.size < RIG_COLUMN_NAME_BYTES)
        (void)snprintf(name, RIG_COLUMN_NAME_BYTES, "%s", value.text);
}

enum rig_answer_result rig_answer_take(const struct rig_answer_rule *rule, const struct rig_answer_source *source,
                                       enum rig_dialect_set set, uint32_t element, struct rig_transaction_state *state,
                                       char problem[static RIG_PROBLEM_BYTES])
{
    struct taking taking = {.rule = rule, .source = source, .state = state, .problem = problem};
    bool taken = true;
    if (rule->missing != 0 && source->status == rule->missing && set != RIG_SET_ONCE)
        return take_key(&taking, set, element, NULL) ? RIG_ANSWER_TAKEN : RIG_ANSWER_MALFORMED;
    if (rule->set != RIG_SET_ONCE)
        taken = take_items(&taking);
    else
        taken = take_item(&taking, set, element, source->root);
    taken = taken && take_variables(&taking);
    if (!taken)
        return taking.no_room ? RIG_ANSWER_NO_ROOM : RIG_ANSWER_MALFORMED;
    take_order(&taking);
    take_member(&taking);
    return RIG_ANSWER_TAKEN;
}
