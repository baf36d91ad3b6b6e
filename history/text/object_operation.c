#include "history/text/object_operation.h"

#include <stdio.h>
#include <string.h>

#include "history/model/value_texts.h"
#include "history/types/types.h"

enum action { NONE, READ, WRITE, EXTEND, COMPARE_AND_SET, ACQUIRE, RELEASE, HOLD, FREE, WORK, DRAIN };

struct function {
    const char *name;
    enum action action;
};

enum { MOST_FUNCTIONS = 8 };

/* The first names are those that errors give. */
static const struct function functions[RIG_WORKLOAD_COUNT][MOST_FUNCTIONS] = {
    [RIG_WORKLOAD_CAS_REGISTER] = {{"read", READ},
                                   {"write", WRITE},
                                   {"cas", COMPARE_AND_SET},
                                   {"get", READ},
                                   {"put", WRITE},
                                   {"compare-and-set", COMPARE_AND_SET}},
    [RIG_WORKLOAD_MUTEX] = {{"acquire", ACQUIRE}, {"release", RELEASE}, {"lock", ACQUIRE}, {"unlock", RELEASE}},
    [RIG_WORKLOAD_QUEUE] = {{"enqueue", WRITE},
                            {"dequeue", READ},
                            {"drain", DRAIN},
                            {"enq", WRITE},
                            {"deq", READ},
                            {"offer", WRITE},
                            {"poll", READ}},
    [RIG_WORKLOAD_STACK] = {{"push", WRITE}, {"pop", READ}, {"drain", DRAIN}},
    [RIG_WORKLOAD_APPEND_REGISTER] =
        {{"get", READ}, {"put", WRITE}, {"append", EXTEND}, {"read", READ}, {"write", WRITE}},
    [RIG_WORKLOAD_LOCK] =
        {{"acquire", HOLD}, {"release", FREE}, {"work", WORK}, {"lock", HOLD}, {"unlock", FREE}, {"use", WORK}},
};

/* ":cas", "\"cas\"" and "\":cas\"" without their marks. */
static struct rig_text_slice bare(const char *text, size_t length)
{
    struct rig_text_slice name = {.at = text, .length = length};
    if (name.length >= 2 && name.at[0] == '"') {
        name.at++;
        name.length -= 2;
    }
    if (name.length > 0 && name.at[0] == ':') {
        name.at++;
        name.length--;
    }
    return name;
}

static enum action action_of(enum rig_workload workload, const struct rig_text_slice *name)
{
    for (size_t i = 0; i < MOST_FUNCTIONS && functions[workload][i].name != NULL; i++) {
        if (rig_slice_is(name, functions[workload][i].name))
            return functions[workload][i].action;
    }
    return NONE;
}

bool rig_object_operation_is(const struct rig_operation *operation)
{
    const struct rig_text_slice name = bare(operation->function, operation->function_length);
    return operation->function != NULL && name.length > 0 && !rig_slice_is(&name, "txn");
}

bool rig_object_operation_type(const struct rig_text_slice *came, size_t count, enum rig_workload *workload)
{
    const struct rig_text_slice first = count == 1 ? bare(came[0].at, came[0].length) : (struct rig_text_slice){0};
    if (rig_slice_is(&first, "drain"))
        return false; /* of a queue or a stack */
    for (unsigned type = 0; count > 0 && type < RIG_WORKLOAD_COUNT; type++) {
        bool has_all = rig_workload_is_object((enum rig_workload)type);
        for (size_t i = 0; has_all && i < count; i++) {
            const struct rig_text_slice name = bare(came[i].at, came[i].length);
            has_all = action_of((enum rig_workload)type, &name) != NONE;
        }
        if (has_all) {
            *workload = (enum rig_workload)type;
            return true;
        }
    }
    return false;
}

static enum rig_rc unknown_function(const struct rig_operation_parser *parser, const struct rig_text_slice *name)
{
    const struct function *known = functions[parser->workload];
    const enum action last = DRAIN;
    char names[128];
    size_t length = 0;
    unsigned seen = 0;
    for (size_t i = 0; i < MOST_FUNCTIONS && known[i].name != NULL && length < sizeof names; i++) {
        if ((seen & 1U << known[i].action) == 0 && known[i].action <= last)
            length +=
                (size_t)snprintf(names + length, sizeof names - length, "%s%s", i == 0 ? "" : ", ", known[i].name);
        seen |= 1U << known[i].action;
    }
    return rig_cursor_fail(&parser->cursor, (size_t)(name->at - parser->cursor.start),
                           "no operation of a %s is called \"%.*s\"; there are %s; name another workload",
                           rig_data_types[parser->workload].name, name->length > 40 ? 40 : (int)name->length, name->at,
                           names);
}

/* The closer of the sequence that opens at the cursor, or 0. */
static char closer_here(const struct rig_operation_parser *parser)
{
    const struct rig_text_cursor *cursor = &parser->cursor;
    const char c = cursor->at < cursor->end ? *cursor->at : '\0';
    const char *opener = c == '\0' ? NULL : strchr(parser->syntax->openers, c);
    return opener == NULL ? '\0' : parser->syntax->closers[opener - parser->syntax->openers];
}

/* The second value of a pair. */
enum second { ANYTHING, A_PAIR, A_LIST_OR_NULL };

static bool is_pair(struct rig_operation_parser *parser, enum second second);

static bool is_second(struct rig_operation_parser *parser, enum second second)
{
    struct rig_text_cursor null = parser->cursor;
    if (second == A_PAIR)
        return is_pair(parser, ANYTHING);
    return second == ANYTHING || closer_here(parser) != '\0' || parser->syntax->take_null(&null);
}

/* Whether a sequence of two values is at the cursor, which stays there. */
static bool is_pair(struct rig_operation_parser *parser, enum second second)
{
    const struct rig_text_cursor from = parser->cursor;
    const struct rig_text_syntax *syntax = parser->syntax;
    struct rig_text_cursor *cursor = &parser->cursor;
    const char closer = closer_here(parser);
    bool more = closer != '\0';
    size_t count = 0;
    cursor->err = NULL;
    cursor->at += more;
    for (; more && count < 3; count += more) {
        if (syntax->more(cursor, closer, count == 0, &more) != RIG_OK)
            break;
        const bool fits = !more || count != 1 || is_second(parser, second);
        if (!fits || (more && syntax->skip(cursor) != RIG_OK))
            break;
    }
    *cursor = from;
    return count == 2 && !more;
}

/* The value of an operation: what is after the key in an independent tuple. */
struct value {
    struct rig_micro key;  /* with the key alone */
    bool is_null, missing; /* nil, or none at all; else it is at the cursor */
    char tuple_closer;
};

static enum rig_rc next_item(struct rig_operation_parser *parser, char closer, bool is_first)
{
    bool more = false;
    const enum rig_rc rc = parser->syntax->more(&parser->cursor, closer, is_first, &more);
    if (rc == RIG_OK && !more)
        return rig_cursor_unexpected(&parser->cursor, "a value");
    return rc;
}

/* Moves to the value, and takes the key. `own`: the function's own value, where it is a sequence. */
static enum rig_rc find_value(struct rig_operation_parser *parser, enum second own, struct value *value)
{
    struct rig_operation *operation = &parser->operation;
    enum rig_rc rc = RIG_OK;
    const char *from = operation->value_text == NULL ? operation->function : operation->value_text;
    operation->value_at = (size_t)(from - parser->cursor.start);
    *value = (struct value){.key = {.at = operation->value_at, .value_at = operation->value_at},
                            .missing = operation->value_text == NULL};
    if (operation->key_text != NULL) {
        parser->cursor.at = operation->key_text;
        value->key.at = rig_cursor_offset(&parser->cursor);
        rc = rig_operation_parser_key(parser, &value->key);
    }
    if (value->missing || rc != RIG_OK)
        return rc;
    parser->cursor.at = operation->value_text;
    if (operation->key_text == NULL && is_pair(parser, own)) {
        value->tuple_closer = closer_here(parser);
        parser->cursor.at++;
        rc = next_item(parser, value->tuple_closer, true);
        if (rc == RIG_OK)
            rc = rig_operation_parser_key(parser, &value->key);
        if (rc == RIG_OK)
            rc = next_item(parser, value->tuple_closer, false);
    }
    const struct rig_text_cursor at_value = parser->cursor;
    value->is_null = rc == RIG_OK && parser->syntax->take_null(&parser->cursor);
    parser->cursor = at_value;
    value->key.value_at = rig_cursor_offset(&parser->cursor);
    return rc;
}

static enum rig_rc add_micro(struct rig_operation_parser *parser, const struct value *value, enum rig_op_kind kind,
                             enum rig_micro_value value_kind, int64_t number)
{
    struct rig_micro micro = value->key;
    micro.name = rig_op_infos[kind].name;
    micro.name_length = strlen(micro.name);
    micro.value_kind = value_kind;
    micro.value = number;
    return rig_operation_parser_add(parser, &micro);
}

static enum rig_rc add_number(struct rig_operation_parser *parser, const struct value *value, enum rig_op_kind kind)
{
    int64_t number = 0;
    const enum rig_rc rc = rig_operation_parser_number(parser, &number);
    return rc == RIG_OK ? add_micro(parser, value, kind, RIG_MICRO_NUMBER, number) : rc;
}

static enum rig_rc add_read(struct rig_operation_parser *parser, const struct value *value)
{
    const enum rig_op_kind kind = rig_data_types[parser->workload].read_op;
    if (parser->operation.fields.type == RIG_OPERATION_INVOKE || value->missing)
        return add_micro(parser, value, kind, RIG_MICRO_MISSING, 0);
    return value->is_null ? add_micro(parser, value, kind, RIG_MICRO_NULL, 0) : add_number(parser, value, kind);
}

static enum rig_rc add_pair(struct rig_operation_parser *parser, const struct value *value)
{
    const char closer = closer_here(parser);
    bool more = false;
    if (!is_pair(parser, ANYTHING))
        return rig_cursor_unexpected(&parser->cursor, "the expected and the new value, [old new]");
    parser->cursor.at++;
    enum rig_rc rc = next_item(parser, closer, true);
    if (rc == RIG_OK)
        rc = add_number(parser, value, RIG_OP_EXPECT);
    if (rc == RIG_OK)
        rc = next_item(parser, closer, false);
    if (rc == RIG_OK)
        rc = add_number(parser, value, RIG_OP_WRITE);
    return rc == RIG_OK ? parser->syntax->more(&parser->cursor, closer, false, &more) : rc;
}

static enum rig_rc add_change(struct rig_operation_parser *parser, const struct value *value, int64_t from, int64_t to)
{
    const enum rig_rc rc = add_micro(parser, value, RIG_OP_EXPECT, RIG_MICRO_NUMBER, from);
    return rc == RIG_OK ? add_micro(parser, value, RIG_OP_WRITE, RIG_MICRO_NUMBER, to) : rc;
}

/* The values that were taken, in any order, and a take that found nothing: it is how a drain ends. Without an answer,
 * two takes of unknown results stand for any number of them (history/types/object_kinds.h). */
static enum rig_rc add_drained(struct rig_operation_parser *parser, const struct value *value)
{
    const enum rig_op_kind take = rig_data_types[parser->workload].read_op;
    const char closer = closer_here(parser);
    bool more = false;
    if (parser->operation.fields.type != RIG_OPERATION_OK) {
        const enum rig_rc first = add_micro(parser, value, take, RIG_MICRO_MISSING, 0);
        return first == RIG_OK ? add_micro(parser, value, take, RIG_MICRO_MISSING, 0) : first;
    }
    if (closer == '\0')
        return rig_cursor_unexpected(&parser->cursor, "a list of the values that were taken");
    parser->cursor.at++;
    for (bool is_first = true;; is_first = false) {
        enum rig_rc rc = parser->syntax->more(&parser->cursor, closer, is_first, &more);
        if (rc != RIG_OK)
            return rc;
        if (!more)
            return add_micro(parser, value, take, RIG_MICRO_NULL, 0);
        rc = add_number(parser, value, take);
        if (rc != RIG_OK)
            return rc;
    }
}

/* ---- locks with owners ---- */

/* The owner is the process. */
static int64_t owner_of(const struct rig_operation_parser *parser)
{
    const struct rig_operation_fields *fields = &parser->operation.fields;
    int64_t owner = fields->process;
    if (fields->process_name != NULL && !rig_value_number(fields->process_name, fields->process_length, &owner))
        owner = 0;
    return owner;
}

/* The member of a map that is a token. */
static bool is_token(const struct rig_text_slice *name)
{
    return rig_slice_is(name, "fence") || rig_slice_is(name, "token");
}

/* A token is a number, or in a map: {:fence 12}. Numbers below 1 and values of other kinds are no token. */
static enum rig_rc find_token(struct rig_operation_parser *parser, const struct value *value, int64_t *token)
{
    struct rig_text_cursor *cursor = &parser->cursor;
    const struct rig_text_syntax *syntax = parser->syntax;
    const char first = value->missing || value->is_null || cursor->at >= cursor->end ? '\0' : *cursor->at;
    enum rig_rc rc = RIG_OK;
    *token = 0;
    if ((first >= '0' && first <= '9') || first == '-')
        return syntax->integer(cursor, token);
    if (first != '{')
        return first == '\0' ? RIG_OK : syntax->skip(cursor);
    cursor->at++;
    for (bool is_first = true, more = true; rc == RIG_OK; is_first = false) {
        struct rig_text_slice name = {0};
        rc = syntax->more(cursor, '}', is_first, &more);
        if (rc != RIG_OK || !more)
            break;
        rc = syntax->field(cursor, &name);
        if (rc == RIG_OK)
            rc = syntax->next(cursor);
        const char next = rc == RIG_OK && cursor->at < cursor->end ? *cursor->at : '\0';
        if (rc == RIG_OK)
            rc = is_token(&name) && ((next >= '0' && next <= '9') || next == '-') ? syntax->integer(cursor, token)
                                                                                  : syntax->skip(cursor);
    }
    return rc;
}

/* A token that an acquisition gave, or that work was done under. */
static enum rig_rc add_token(struct rig_operation_parser *parser, const struct value *value)
{
    int64_t token = 0;
    const bool is_known = parser->operation.fields.type == RIG_OPERATION_OK;
    const enum rig_rc rc = find_token(parser, value, &token);
    if (rc != RIG_OK)
        return rc;
    if (!is_known)
        return add_micro(parser, value, RIG_OP_TOKEN, RIG_MICRO_MISSING, 0);
    return add_micro(parser, value, RIG_OP_TOKEN, token > 0 ? RIG_MICRO_NUMBER : RIG_MICRO_NULL, token);
}

static enum rig_rc add_hold(struct rig_operation_parser *parser, const struct value *value)
{
    enum rig_rc rc = add_micro(parser, value, RIG_OP_HOLD, RIG_MICRO_NUMBER, owner_of(parser));
    if (rc == RIG_OK && parser->lock.limit != 0)
        rc = add_micro(parser, value, RIG_OP_LIMIT, RIG_MICRO_NUMBER, parser->lock.limit);
    if (rc == RIG_OK && parser->lock.lease_ns != 0)
        rc = add_micro(parser, value, RIG_OP_LEASE, RIG_MICRO_NUMBER, parser->lock.lease_ns);
    return rc == RIG_OK ? add_token(parser, value) : rc;
}

static enum rig_rc add_action(struct rig_operation_parser *parser, enum action action, const struct value *value)
{
    switch (action) {
    case READ:
        return add_read(parser, value);
    case WRITE:
        return add_number(parser, value, rig_data_types[parser->workload].write_op);
    case EXTEND:
        return add_number(parser, value, RIG_OP_EXTEND);
    case COMPARE_AND_SET:
        return add_pair(parser, value);
    case ACQUIRE:
        return add_change(parser, value, 0, 1);
    case RELEASE:
        return add_change(parser, value, 1, 0);
    case HOLD:
        return add_hold(parser, value);
    case FREE:
        return add_micro(parser, value, RIG_OP_FREE, RIG_MICRO_NUMBER, owner_of(parser));
    case WORK:
        return add_token(parser, value);
    case DRAIN:
        return add_drained(parser, value);
    case NONE:
        break;
    }
    return RIG_E_BUG;
}

static bool needs_value(enum action action)
{
    return action == WRITE || action == EXTEND || action == COMPARE_AND_SET || action == DRAIN;
}

enum rig_rc rig_object_operation_read(struct rig_operation_parser *parser, bool has_process)
{
    struct rig_operation_fields *fields = &parser->operation.fields;
    const struct rig_text_slice name = bare(parser->operation.function, parser->operation.function_length);
    fields->is_client |= !has_process;
    if (!fields->is_client)
        return RIG_OK;
    const bool completes = fields->type != RIG_OPERATION_INVOKE;
    const enum action action = action_of(parser->workload, &name);
    struct value value;
    if (action == NONE)
        return unknown_function(parser, &name);
    fields->has_value = !completes || !parser->repeats || fields->type == RIG_OPERATION_OK;
    if (!fields->has_value)
        return RIG_OK;
    const enum second own = action == COMPARE_AND_SET ? A_PAIR : action == DRAIN ? A_LIST_OR_NULL : ANYTHING;
    enum rig_rc rc = find_value(parser, own, &value);
    if (rc != RIG_OK)
        return rc;
    if (needs_value(action) && parser->repeats && completes && (value.missing || value.is_null) && action != DRAIN) {
        fields->repeats = true;
        fields->has_value = false;
        return RIG_OK;
    }
    if (needs_value(action) && value.missing && !(action == DRAIN && fields->type != RIG_OPERATION_OK))
        return rig_cursor_fail(&parser->cursor, parser->operation.at,
                               "an operation \"%.*s\" without a value; give it as its field value", (int)name.length,
                               name.at);
    return add_action(parser, action, &value);
}
