/*
 * Histories of calls of a model (classic_operations.h), which the reader's options give:
 *
 *   {:f :withdraw, :value 5}      invoked                              [[:call 0 "withdraw"] [:arg 0 5] [:ret 0]]
 *   {:f :withdraw, :value true}   ok: the result                       [[:call 0 "withdraw"] [:arg 0 5] [:ret 0 true]]
 *
 * An operation that returns nothing has no `ret`.
 * An operation's value is its argument, or a list of its arguments. An acknowledged one has the result as its value, or
 * a list of the arguments and the result, or the invoked value where the operation has no result. The argument that is
 * the key names the object; else an independent tuple [key value] or the field `key` of nothing does, and without them
 * the key is 0.
 */
#include <stdio.h>
#include <string.h>

#include "history/text/classic_private.h"
#include "history/types/object_specification.h"

/* The parts of an operation's value. */
struct call {
    struct rig_text_slice key; /* length 0: none */
    struct rig_text_slice arguments[RIG_MODEL_ARGUMENTS + 1];
    struct rig_text_slice result; /* length 0: not known */
    bool is_tuple;                /* the value is after the key in a tuple */
};

static bool are_calls(const struct rig_classic *r)
{
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (item->is_client && (rig_slice_is(&item->function, "txn") || item->function.length == 0))
            return false;
    }
    return true;
}

static enum rig_rc refuse(const struct rig_classic *r, const struct rig_classic_item *item,
                          const struct rig_model_operation *operation)
{
    const struct rig_specification *specification = r->specification;
    char known[200] = "", why[300];
    size_t length = 0;
    for (uint32_t i = 0; i < specification->operation_count && length < sizeof known; i++)
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i == 0 ? "" : ", ",
                                   specification->operations[i].name);
    if (operation == NULL)
        (void)snprintf(why, sizeof why, "that the model %s does not have; it has %s", specification->name, known);
    else
        (void)snprintf(why, sizeof why, "whose value is not its %u argument%s",
                       (unsigned)operation->argument_count + (operation->key_place >= 0),
                       operation->argument_count + (operation->key_place >= 0) == 1 ? "" : "s, as a list");
    return rig_classic_refuse(r, item, why);
}

/* The items of a list, or the value alone, up to `most` and one more. */
static size_t parts_of(const struct rig_classic *r, const struct rig_text_slice *value, struct rig_text_slice *part,
                       size_t most)
{
    size_t count = 0;
    if (!rig_classic_is_sequence(r, value)) {
        part[0] = *value;
        return rig_classic_is_null(value) ? 0 : 1;
    }
    struct rig_text_cursor cursor = rig_classic_cursor(r, value->at);
    const char closer = rig_classic_enter(r, &cursor, false);
    while (count <= most && rig_classic_next(r, &cursor, closer, count == 0, &part[count]))
        count++;
    return count;
}

/* The value of the item, after the key of a tuple: [key [arguments]], or [key argument] where there is at most one. */
static struct rig_text_slice untupled(const struct rig_classic *r, const struct rig_classic_item *item,
                                      const struct rig_model_operation *operation, size_t wanted, struct call *call)
{
    struct rig_text_slice pair[2];
    if (operation->key_place >= 0 || !rig_classic_is_pair(r, &item->value, pair) ||
        rig_classic_is_sequence(r, &pair[0]) || (wanted > 1 && !rig_classic_is_sequence(r, &pair[1])))
        return item->value;
    call->key = pair[0];
    call->is_tuple = true;
    return pair[1];
}

/* The arguments, among which the key is. */
static bool take_arguments(const struct rig_classic *r, const struct rig_model_operation *operation,
                           const struct rig_text_slice *value, size_t more, struct call *call)
{
    struct rig_text_slice part[RIG_MODEL_ARGUMENTS + 3];
    const size_t wanted = operation->argument_count + (operation->key_place >= 0);
    size_t argument = 0;
    size_t count = parts_of(r, value, part, wanted + more);
    if (count == 0 && wanted == 1 && rig_classic_is_null(value))
        part[count++] = *value; /* nil is the argument */
    if (count != wanted + more)
        return false;
    for (size_t i = 0; i < wanted; i++) {
        if (operation->key_place == (int)i)
            call->key = part[i];
        else
            call->arguments[argument++] = part[i];
    }
    if (more > 0)
        call->result = part[wanted];
    return true;
}

static const struct rig_classic_item *invocation_of(const struct rig_classic *r, const struct rig_classic_item *item)
{
    return item->type != RIG_OPERATION_INVOKE && item->partner != RIG_TABLE_NONE ? &r->items.at[item->partner] : item;
}

/* Whether the value is a list of the arguments of the invocation, and of a result. */
static bool repeats(const struct rig_classic *r, const struct rig_model_operation *operation,
                    const struct rig_text_slice *value, const struct call *invoked, struct call *again)
{
    bool same =
        !operation->returns_list && rig_classic_is_sequence(r, value) && take_arguments(r, operation, value, 1, again);
    for (uint32_t i = 0; same && i < operation->argument_count; i++)
        same = rig_classic_is_same(&again->arguments[i], &invoked->arguments[i]);
    return same && (operation->key_place < 0 || rig_classic_is_same(&again->key, &invoked->key));
}

/* The result of an acknowledged operation, which its value is, or the end of it. */
static void take_result(const struct rig_classic *r, const struct rig_classic_item *item,
                        const struct rig_model_operation *operation, struct call *call)
{
    struct call again = {.key = {0}};
    const bool has_arguments = operation->argument_count > 0 || operation->key_place >= 0;
    const struct rig_text_slice value =
        call->is_tuple ? untupled(r, item, operation, operation->argument_count, &again) : item->value;
    call->result = has_arguments && repeats(r, operation, &value, call, &again) ? again.result : value;
}

static enum rig_rc put_call(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *invocation = invocation_of(r, item);
    const struct rig_model_operation *operation =
        rig_specification_operation(r->specification, invocation->function.at, invocation->function.length);
    const bool is_alone = invocation->type != RIG_OPERATION_INVOKE, is_ok = item->type == RIG_OPERATION_OK;
    struct call call = {.key = invocation->key};
    if (operation == NULL)
        return refuse(r, invocation, NULL);
    const size_t wanted = operation->argument_count + (operation->key_place >= 0);
    const bool has_result = operation->has_result && is_ok;
    const struct rig_text_slice value = untupled(r, invocation, operation, wanted, &call);
    if (!take_arguments(r, operation, &value, is_alone && has_result && wanted > 0, &call) &&
        !(is_alone && has_result && wanted == 0))
        return refuse(r, invocation, operation);
    if (has_result && (!is_alone || wanted == 0))
        take_result(r, item, operation, &call);
    const struct rig_text_slice *key = call.key.length == 0 ? NULL : &call.key;
    rig_classic_begin_micro(r, "call", key);
    rig_buf_add_text(r->out, r->edn ? " \"" : ", \"");
    rig_buf_add_text(r->out, operation->name);
    rig_buf_add_text(r->out, "\"]");
    for (uint32_t i = 0; i < operation->argument_count; i++) {
        rig_classic_begin_micro(r, "arg", key);
        rig_classic_end_micro(r, &call.arguments[i]);
    }
    if (!operation->has_result)
        return RIG_OK;
    rig_classic_begin_micro(r, "ret", key);
    if (!has_result || call.result.length == 0)
        rig_classic_end_micro(r, NULL);
    else if (rig_classic_is_null(&call.result))
        rig_classic_end_null(r);
    else
        rig_classic_end_micro(r, &call.result);
    return RIG_OK;
}

const struct rig_classic_form rig_classic_calls = {.workload = RIG_WORKLOAD_MODEL, .is_it = are_calls, .put = put_call};
