#include "drivers/exec/exec_protocol.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"

static const char *workload_name(enum rig_workload workload)
{
#define WORKLOAD_NAME(name, text, ...) text,
    static const char *const names[] = {RIG_WORKLOAD_TABLE(WORKLOAD_NAME)};
#undef WORKLOAD_NAME
    return names[workload];
}

static const char *op_name(enum rig_op_kind kind)
{
#define OP_NAME(name, text, ...) text,
    static const char *const names[] = {RIG_OP_TABLE(OP_NAME)};
#undef OP_NAME
    return names[kind];
}

/* -- lines to the program ------------------------------------------------------------------------------------------ */

void rig_exec_write_hello(const struct rig_exec_hello *hello, struct rig_buf *line)
{
    struct rig_json_writer writer;
    rig_json_init(&writer, line);
    rig_json_begin_object(&writer, NULL);
    rig_json_int(&writer, "rig", 1);
    rig_json_string(&writer, "role", hello->role);
    rig_json_int(&writer, "client", hello->client);
    rig_json_int(&writer, "clients", hello->client_count);
    rig_json_string(&writer, "workload", workload_name(hello->workload));
    rig_json_int(&writer, "seed", (int64_t)hello->seed);
    rig_json_string(&writer, "run", hello->run_name);
    if (hello->rolls_back)
        rig_json_bool(&writer, "savepoints", true);
    if (hello->accounts.count > 0) {
        rig_json_begin_object(&writer, "accounts");
        rig_json_int(&writer, "count", hello->accounts.count);
        rig_json_int(&writer, "balance", hello->accounts.balance);
        rig_json_bool(&writer, "negative", hello->accounts.negative);
        rig_json_end(&writer);
    }
    rig_json_end(&writer);
    rig_buf_add_char(line, '\n');
}

/* A value that an operation writes. */
static void write_value(struct rig_json_writer *writer, int64_t value, const struct rig_model_calls *calls)
{
    struct rig_buf json;
    if (calls == NULL) {
        rig_json_int(writer, NULL, value);
        return;
    }
    rig_buf_init(&json, 0);
    calls->write(value, &json);
    rig_json_plain(writer, NULL, rig_buf_text(&json));
    rig_buf_done(&json);
}

void rig_exec_write_transaction(const struct rig_transaction *transaction, uint64_t number,
                                const struct rig_model_calls *calls, struct rig_buf *line)
{
    struct rig_json_writer writer;
    rig_json_init(&writer, line);
    rig_json_begin_object(&writer, NULL);
    rig_json_int(&writer, "txn", (int64_t)number);
    rig_json_begin_array(&writer, "ops");
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        const struct rig_op *op = &transaction->ops[i];
        rig_json_begin_array(&writer, NULL);
        rig_json_string(&writer, NULL, op_name(op->kind));
        rig_json_int(&writer, NULL, op->key);
        if (rig_op_reads(op->kind))
            rig_json_null(&writer, NULL);
        else
            write_value(&writer, op->value, calls);
        rig_json_end(&writer);
    }
    rig_json_end(&writer);
    if (rig_rollback_wanted(&transaction->rollback)) {
        rig_json_begin_array(&writer, "rollback");
        rig_json_int(&writer, NULL, transaction->rollback.from);
        rig_json_int(&writer, NULL, transaction->rollback.to);
        rig_json_end(&writer);
    }
    rig_json_end(&writer);
    rig_buf_add_char(line, '\n');
}

/* -- lines from the program ---------------------------------------------------------------------------------------- */

static bool refuse(char problem[static RIG_EXEC_PROBLEM_BYTES], const char *format, ...) RIG_PRINTF(2, 3);

static bool refuse(char problem[static RIG_EXEC_PROBLEM_BYTES], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(problem, RIG_EXEC_PROBLEM_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

bool rig_exec_read_welcome(const char *line, size_t size, struct rig_exec_welcome *welcome,
                           char problem[static RIG_EXEC_PROBLEM_BYTES])
{
    json_t *root = json_loadb(line, size, 0, NULL);
    const char *error = json_string_value(json_object_get(root, "error"));
    const char *version = json_string_value(json_object_get(root, "version"));
    bool ready = json_is_true(json_object_get(root, "ready"));
    if (error != NULL)
        ready = refuse(problem, "%s", error);
    else if (!ready)
        (void)refuse(problem, "it answered `%.*s` instead of {\"ready\": true}", (int)(size < 80 ? size : 80), line);
    welcome->savepoints = json_is_true(json_object_get(root, "savepoints"));
    welcome->announces = json_is_true(json_object_get(root, "announces"));
    (void)snprintf(welcome->version, sizeof welcome->version, "%s", version == NULL ? "" : version);
    json_decref(root);
    return ready;
}

/* A list of integers into the transaction's elements; false: `*room` tells whether memory was missing. */
static bool take_list(const json_t *list, const struct rig_core *core, struct rig_transaction *transaction,
                      struct rig_read *read, bool *room)
{
    const size_t count = json_array_size(list);
    int64_t *elements = count > UINT32_MAX ? NULL : core->elements(transaction, count);
    *room = elements != NULL;
    for (size_t i = 0; *room && i < count; i++) {
        const json_t *element = json_array_get(list, i);
        if (!json_is_integer(element))
            return false;
        elements[i] = json_integer_value(element);
    }
    if (!*room)
        return false;
    read->state = RIG_READ_SEEN;
    read->first_element = transaction->element_count;
    read->count = (uint32_t)count;
    transaction->element_count += count;
    return true;
}

/* The number of a value; false: it has none. */
static bool value_of(const json_t *json, const struct rig_model_calls *calls, int64_t *value)
{
    *value = json_integer_value(json);
    if (json_is_integer(json) || calls == NULL)
        return json_is_integer(json);
    char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
    const bool is_one = text != NULL && calls->read(text, strlen(text), value);
    free(text);
    return is_one;
}

/* The answer to one operation, and what it must match. */
struct taking {
    const struct rig_core *core;
    const struct rig_model_calls *calls;
    struct rig_transaction *transaction;
    bool ok, *room;
    char *problem;
};

/* The result of one operation, which must match the question's operation. */
static bool take_op(const struct taking *t, const json_t *answered, uint32_t index)
{
    const struct rig_op *op = &t->transaction->ops[index];
    const char *name = json_string_value(json_array_get(answered, 0));
    const json_t *key = json_array_get(answered, 1);
    const json_t *result = json_array_get(answered, 2);
    int64_t value = 0;
    if (name == NULL || strcmp(name, op_name(op->kind)) != 0 || !json_is_integer(key) ||
        json_integer_value(key) != op->key)
        return refuse(t->problem, "operation %u of the answer differs from the request", index + 1);
    if (!rig_op_reads(op->kind))
        return (value_of(result, t->calls, &value) && value == op->value) ||
               refuse(t->problem, "operation %u of the answer writes another value", index + 1);
    if (result == NULL || (json_is_null(result) && !t->ok))
        return true; /* not known */
    struct rig_read *read = &t->transaction->reads[index];
    if (json_is_null(result)) {
        read->state = RIG_READ_NIL;
    } else if (!rig_op_reads_sequence(op->kind) && value_of(result, t->calls, &value)) {
        read->value = value;
        read->state = RIG_READ_SEEN;
    } else if (!rig_op_reads_sequence(op->kind) || !json_is_array(result) ||
               !take_list(result, t->core, t->transaction, read, t->room)) {
        return refuse(t->problem,
                      *t->room ? "operation %u of the answer: expected a list or a number of 64 bits, as requested"
                               : "operation %u of the answer: more elements than rig accepts",
                      index + 1);
    }
    return true;
}

static bool take_ops(const struct taking *t, const json_t *ops)
{
    if (ops == NULL && (!t->ok || t->transaction->op_count == 0))
        return true;
    if (json_array_size(ops) != t->transaction->op_count)
        return refuse(t->problem, "`ops` differs from the requested operations");
    for (uint32_t i = 0; i < t->transaction->op_count; i++) {
        if (!take_op(t, json_array_get(ops, i), i))
            return false;
    }
    return true;
}

/* Optional members of an answer: {"node": "n1", "backend": 4711}. Values of other types are ignored. */
static void take_columns(const json_t *root, const struct rig_core *core, struct rig_transaction *transaction)
{
    const char *node = json_string_value(json_object_get(root, "node"));
    const json_t *backend = json_object_get(root, "backend");
    if (node != NULL)
        rig_column_give(&transaction->columns, RIG_COLUMN_NODE, core->name(node));
    if (json_is_integer(backend) && json_integer_value(backend) != RIG_COLUMN_NONE)
        rig_column_give(&transaction->columns, RIG_COLUMN_BACKEND, json_integer_value(backend));
}

/* `times`: [[start, end], ...] of the first operations, in ns of CLOCK_MONOTONIC. Ends at the first pair of another
 * form. */
static void take_times(const json_t *times, struct rig_transaction *transaction)
{
    int64_t count = 0;
    for (size_t i = 0; i < json_array_size(times) && i < transaction->op_count; i++) {
        const json_t *pair = json_array_get(times, i);
        const json_t *start = json_array_get(pair, 0), *end = json_array_get(pair, 1);
        if (json_array_size(pair) != 2 || !json_is_integer(start) || !json_is_integer(end) ||
            json_integer_value(start) < 0 || json_integer_value(end) < json_integer_value(start))
            break;
        transaction->times[2 * count] = json_integer_value(start);
        transaction->times[2 * count + 1] = json_integer_value(end);
        count++;
    }
    if (count > 0)
        rig_column_give(&transaction->columns, RIG_COLUMN_TIMES, count);
}

static enum rig_exec_answer take_answer(const json_t *root, uint64_t number, const struct rig_core *core,
                                        const struct rig_model_calls *calls, struct rig_transaction *transaction,
                                        char problem[static RIG_EXEC_PROBLEM_BYTES])
{
    static const char *const outcomes[] = {"ok", "fail", "info"};
    const json_t *txn = json_object_get(root, "txn");
    const char *outcome = json_string_value(json_object_get(root, "outcome"));
    const char *phase = json_string_value(json_object_get(root, "phase"));
    bool room = true;
    if (!json_is_integer(txn) || (uint64_t)json_integer_value(txn) != number) {
        (void)refuse(problem, "`txn` is not the number of the transaction, %" PRIu64, number);
        return RIG_EXEC_MALFORMED;
    }
    if (outcome == NULL && phase != NULL && strcmp(phase, "commit") == 0)
        return RIG_EXEC_SAYS_COMMITTING;
    int said = 0;
    while (said < 3 && (outcome == NULL || strcmp(outcomes[said], outcome) != 0))
        said++;
    if (said == 3) {
        (void)refuse(problem, "`outcome` is none of ok, fail and info");
        return RIG_EXEC_MALFORMED;
    }
    const struct taking taking = {core, calls, transaction, said == 0, &room, problem};
    if (!take_ops(&taking, json_object_get(root, "ops"))) {
        for (uint32_t i = 0; i < transaction->op_count; i++) /* earlier results are no evidence either */
            transaction->reads[i] = (struct rig_read){.state = RIG_READ_UNKNOWN};
        return room ? RIG_EXEC_MALFORMED : RIG_EXEC_NO_ROOM;
    }
    take_columns(root, core, transaction);
    if (transaction->times != NULL)
        take_times(json_object_get(root, "times"), transaction);
    const char *error = json_string_value(json_object_get(root, "error"));
    const char *text = json_string_value(json_object_get(root, "text"));
    if (said != 0) {
        (void)snprintf(transaction->error_code, sizeof transaction->error_code, "%s",
                       error == NULL ? "unknown" : error);
        (void)snprintf(transaction->error_text, sizeof transaction->error_text, "%s", text == NULL ? "" : text);
    }
    return (enum rig_exec_answer)said;
}

enum rig_exec_answer rig_exec_read_answer(const char *line, size_t size, uint64_t number, const struct rig_core *core,
                                          const struct rig_model_calls *calls, struct rig_transaction *transaction,
                                          char problem[static RIG_EXEC_PROBLEM_BYTES])
{
    json_error_t error;
    json_t *root = json_loadb(line, size, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(root)) {
        (void)refuse(problem, "no JSON object: %.100s", root == NULL ? error.text : "");
        json_decref(root);
        return RIG_EXEC_MALFORMED;
    }
    const enum rig_exec_answer answer = take_answer(root, number, core, calls, transaction, problem);
    json_decref(root);
    return answer;
}
