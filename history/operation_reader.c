#include "history/operation_reader.h"

#include <string.h>

#include "base/bug.h"

void rig_operation_reader_init(struct rig_operation_reader *reader, const char *name, const char *data, size_t size,
                               const struct rig_load_options *options, struct rig_err *err)
{
    *reader = (struct rig_operation_reader){
        .name = name,
        .data = data,
        .size = size,
        .options = options,
        .err = err,
        .workload = options->workload_given ? options->workload : RIG_WORKLOAD_LIST_APPEND,
        .last_index = -1,
    };
    rig_table_init(&reader->invocation_of_process);
}

void rig_operation_reader_done(struct rig_operation_reader *reader)
{
    for (size_t i = 0; i < reader->invocations.count; i++)
        rig_op_vec_done(&reader->invocations.at[i].ops);
    rig_invocation_vec_done(&reader->invocations);
    rig_table_done(&reader->invocation_of_process);
    rig_op_vec_done(&reader->operation.ops);
    rig_read_vec_done(&reader->operation.reads);
    rig_element_vec_done(&reader->operation.elements);
    rig_history_builder_free(reader->builder);
    reader->builder = NULL;
}

struct place {
    size_t line, column;
};

static struct place place_of(const struct rig_operation_reader *reader, size_t at)
{
    struct place place = {.line = 1, .column = 1};
    RIG_REQUIRE(at <= reader->size);
    for (size_t i = 0; i < at; i++) {
        place.column++;
        if (reader->data[i] == '\n')
            place = (struct place){.line = place.line + 1, .column = 1};
    }
    return place;
}

enum rig_rc rig_operation_reader_fail(const struct rig_operation_reader *reader, size_t at, const char *format, ...)
{
    char text[RIG_ERR_TEXT_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct place place = place_of(reader, at);
    return rig_fail(reader->err, RIG_E_INPUT, "%s:%zu:%zu: %s", reader->name, place.line, place.column, text);
}

enum rig_rc rig_operation_reader_no_memory(const struct rig_operation_reader *reader)
{
    return rig_fail(reader->err, RIG_E_LIMIT, "%s: no memory for the history", reader->name);
}

/* A failure of the builder, told with its place. */
static enum rig_rc fail_from(const struct rig_operation_reader *reader, size_t at, const struct rig_err *err)
{
    if (err->rc == RIG_E_INPUT)
        return rig_operation_reader_fail(reader, at, "%s", err->text);
    return rig_fail(reader->err, err->rc, "%s: %s", reader->name, err->text);
}

void rig_operation_reader_begin(struct rig_operation_reader *reader, size_t at)
{
    struct rig_operation *operation = &reader->operation;
    struct rig_op_vec ops = operation->ops;
    struct rig_read_vec reads = operation->reads;
    struct rig_element_vec elements = operation->elements;
    ops.count = 0;
    reads.count = 0;
    elements.count = 0;
    *operation = (struct rig_operation){.at = at, .ops = ops, .reads = reads, .elements = elements};
}

static bool is_text(const char *text, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* Which workload a micro-operation belongs to; a read of null to any. */
static bool workload_of(const struct rig_micro *micro, enum rig_workload *workload)
{
    if (is_text(micro->name, micro->name_length, "append"))
        *workload = RIG_WORKLOAD_LIST_APPEND;
    else if (is_text(micro->name, micro->name_length, "w"))
        *workload = RIG_WORKLOAD_RW_REGISTER;
    else if (micro->value_kind == RIG_MICRO_LIST)
        *workload = RIG_WORKLOAD_LIST_APPEND;
    else if (micro->value_kind == RIG_MICRO_NUMBER)
        *workload = RIG_WORKLOAD_RW_REGISTER;
    else
        return false;
    return true;
}

static const char *const workload_names[] = {
#define WORKLOAD_NAME(name, text, help) [name] = text,
    RIG_WORKLOAD_TABLE(WORKLOAD_NAME)
#undef WORKLOAD_NAME
};

static enum rig_rc check_workload(const struct rig_operation_reader *reader, const struct rig_micro *micro)
{
    bool reads = is_text(micro->name, micro->name_length, "r");
    bool appends = is_text(micro->name, micro->name_length, "append");
    if (!reads && !appends && !is_text(micro->name, micro->name_length, "w"))
        return rig_operation_reader_fail(reader, micro->at,
                                         "no micro-operation is called \"%.*s\"; there are append, r and w",
                                         micro->name_length > 40 ? 40 : (int)micro->name_length, micro->name);
    if (!reads && micro->value_kind != RIG_MICRO_NUMBER)
        return rig_operation_reader_fail(reader, micro->value_at, "the value of %s must be an integer",
                                         appends ? "an append" : "a write");
    enum rig_workload workload;
    if (workload_of(micro, &workload) && workload != reader->workload)
        return rig_operation_reader_fail(reader, reads ? micro->value_at : micro->at,
                                         "%s of %s in a history of %s; split the history, or name its workload",
                                         reads     ? "a read"
                                         : appends ? "an append"
                                                   : "a write",
                                         workload_names[workload], workload_names[reader->workload]);
    return RIG_OK;
}

static enum rig_rc find_key(struct rig_operation_reader *reader, const struct rig_micro *micro, int64_t *key)
{
    if (reader->has_key && reader->key_kind != micro->key_kind)
        return rig_operation_reader_fail(reader, micro->at,
                                         "another kind of key than before; use integers, strings or keywords alone");
    reader->has_key = true;
    reader->key_kind = micro->key_kind;
    *key = micro->key;
    if (micro->key_kind == RIG_KEY_NUMBER)
        return RIG_OK;
    struct rig_err err = {0};
    if (rig_history_builder_text_key(reader->builder, micro->key_text, micro->key_length, key, &err) != RIG_OK)
        return fail_from(reader, micro->at, &err);
    if (micro->key_kind == RIG_KEY_KEYWORD)
        rig_history_builder_keyword_keys(reader->builder);
    return RIG_OK;
}

enum rig_rc rig_operation_reader_mop(struct rig_operation_reader *reader, const struct rig_micro *micro)
{
    if (reader->probing) {
        reader->decided = workload_of(micro, &reader->workload);
        return RIG_OK;
    }
    struct rig_operation *operation = &reader->operation;
    struct rig_op op = {0};
    enum rig_rc rc = check_workload(reader, micro);
    if (rc == RIG_OK)
        rc = find_key(reader, micro, &op.key);
    if (rc != RIG_OK)
        return rc;
    bool reads = micro->name_length == 1 && micro->name[0] == 'r';
    op.kind = (enum rig_op_kind)((unsigned)reader->workload * 2 + reads);
    struct rig_read read = {.state = RIG_READ_UNKNOWN};
    if (!reads) {
        op.value = micro->value;
    } else if (micro->value_kind == RIG_MICRO_NULL) {
        read.state = RIG_READ_NIL;
    } else if (micro->value_kind != RIG_MICRO_MISSING) {
        read.state = RIG_READ_SEEN;
        read.value = micro->value_kind == RIG_MICRO_NUMBER ? micro->value : 0;
    }
    if (micro->value_kind == RIG_MICRO_LIST) {
        size_t count = operation->elements.count - micro->first_element;
        if (count >= UINT32_MAX)
            return rig_operation_reader_fail(reader, micro->value_at, "a list of more than 4294967294 elements");
        read.first_element = micro->first_element;
        read.count = (uint32_t)count;
    }
    return rig_op_vec_add(&operation->ops, op) && rig_read_vec_add(&operation->reads, read)
               ? RIG_OK
               : rig_operation_reader_no_memory(reader);
}

/* The operation's position: its index, or its number in the file. */
static enum rig_rc find_position(struct rig_operation_reader *reader, uint32_t *position)
{
    const struct rig_operation *operation = &reader->operation;
    int64_t index = operation->has_index ? operation->index : (int64_t)reader->count;
    if (reader->count == 0)
        reader->uses_index = operation->has_index;
    if (reader->uses_index != operation->has_index)
        return rig_operation_reader_fail(reader, operation->has_index ? operation->index_at : operation->at,
                                         "operations with and without an index; give all of them one, or none");
    if (index < 0 || index >= RIG_POSITION_NONE)
        return rig_operation_reader_fail(reader, operation->has_index ? operation->index_at : operation->at,
                                         "index %lld is not within 0 to 4294967294; renumber the operations",
                                         (long long)index);
    if (index <= reader->last_index)
        return rig_operation_reader_fail(
            reader, operation->index_at, "index %lld %s index %lld; sort the operations and number them apart",
            (long long)index, index == reader->last_index ? "again after" : "after", (long long)reader->last_index);
    reader->last_index = index;
    reader->count++;
    *position = (uint32_t)index;
    return RIG_OK;
}

/* The process's invocation; NULL when memory runs out. */
static struct rig_invocation *find_invocation(struct rig_operation_reader *reader)
{
    const struct rig_operation *operation = &reader->operation;
    uint32_t *place = rig_table_put(&reader->invocation_of_process, (uint64_t)operation->process);
    if (place == NULL)
        return NULL;
    if (*place == RIG_TABLE_NONE) {
        struct rig_invocation invocation = {.process = operation->process};
        if (!rig_invocation_vec_add(&reader->invocations, invocation))
            return NULL;
        *place = (uint32_t)(reader->invocations.count - 1);
    }
    return &reader->invocations.at[*place];
}

/* Exchanges the operations with the invocation's, so that neither is copied. */
static void swap_ops(struct rig_operation *operation, struct rig_invocation *invocation)
{
    struct rig_op_vec ops = operation->ops;
    operation->ops = invocation->ops;
    invocation->ops = ops;
}

static enum rig_rc take_invocation(struct rig_operation_reader *reader, struct rig_invocation *invocation,
                                   uint32_t position)
{
    struct rig_operation *operation = &reader->operation;
    if (!reader->has_invocations)
        return rig_operation_reader_fail(reader, operation->type_at,
                                         "an invocation behind completions that have none; keep all invocations, "
                                         "or none");
    if (invocation->open)
        return rig_operation_reader_fail(reader, operation->at,
                                         "process %lld invokes again, and what it invoked at line %zu is open; add "
                                         "the completion, or use another process",
                                         (long long)invocation->process, place_of(reader, invocation->at).line);
    swap_ops(operation, invocation);
    invocation->open = true;
    invocation->at = operation->at;
    invocation->time_ns = operation->has_time ? operation->time_ns : RIG_NO_TIME;
    invocation->position = position;
    return RIG_OK;
}

static bool same_ops(const struct rig_op_vec *a, const struct rig_op_vec *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (a->at[i].kind != b->at[i].kind || a->at[i].key != b->at[i].key || a->at[i].value != b->at[i].value)
            return false;
    }
    return true;
}

static enum rig_rc add_txn(struct rig_operation_reader *reader, const struct rig_txn_input *txn, size_t at)
{
    struct rig_err err = {0};
    if (rig_history_builder_add(reader->builder, txn, &err) != RIG_OK)
        return fail_from(reader, at, &err);
    return RIG_OK;
}

static enum rig_rc take_completion(struct rig_operation_reader *reader, struct rig_invocation *invocation,
                                   uint32_t position)
{
    struct rig_operation *operation = &reader->operation;
    if (reader->has_invocations && !invocation->open)
        return rig_operation_reader_fail(reader, operation->at,
                                         "process %lld completes what it did not invoke; add the invocation",
                                         (long long)invocation->process);
    if (!operation->has_value && operation->type == RIG_OPERATION_OK)
        return rig_operation_reader_fail(reader, operation->at,
                                         "an ok transaction without its operations; give them as its value");
    if (reader->has_invocations && operation->has_value && !same_ops(&operation->ops, &invocation->ops))
        return rig_operation_reader_fail(reader, operation->value_at,
                                         "other operations than process %lld invoked at line %zu; completions repeat "
                                         "them, with what was read",
                                         (long long)invocation->process, place_of(reader, invocation->at).line);
    for (size_t i = 0; operation->type != RIG_OPERATION_OK && i < operation->reads.count; i++) {
        if (operation->reads.at[i].state == RIG_READ_NIL)
            operation->reads.at[i].state = RIG_READ_UNKNOWN;
    }
    const struct rig_op_vec *ops = reader->has_invocations ? &invocation->ops : &operation->ops;
    if (ops->count >= UINT32_MAX)
        return rig_operation_reader_fail(reader, operation->at, "more than 4294967294 micro-operations");
    struct rig_txn_input txn = {
        .invoke_ns = reader->has_invocations ? invocation->time_ns : RIG_NO_TIME,
        .complete_ns = operation->has_time ? operation->time_ns : RIG_NO_TIME,
        .invoke_at = reader->has_invocations ? invocation->position : RIG_POSITION_NONE,
        .complete_at = position,
        .process = invocation->process,
        .outcome = (enum rig_outcome)(operation->type - RIG_OPERATION_OK),
        .ops = ops->at,
        .reads = operation->has_value ? operation->reads.at : NULL,
        .op_count = (uint32_t)ops->count,
        .elements = operation->elements.at,
        .error = operation->has_error ? (operation->error_length == 0 ? "" : operation->error) : NULL,
        .error_length = operation->error_length,
    };
    invocation->open = false;
    return add_txn(reader, &txn, operation->at);
}

enum rig_rc rig_operation_reader_end(struct rig_operation_reader *reader)
{
    const struct rig_operation *operation = &reader->operation;
    uint32_t position = 0;
    if (reader->probing)
        return RIG_OK;
    if (!operation->has_type)
        return rig_operation_reader_fail(reader, operation->at,
                                         "an operation without a type; it is invoke, ok, fail or info");
    enum rig_rc rc = find_position(reader, &position);
    if (rc != RIG_OK)
        return rc;
    struct rig_invocation *invocation = operation->is_client ? find_invocation(reader) : NULL;
    if (invocation == NULL && operation->is_client)
        return rig_operation_reader_no_memory(reader);
    bool completes = invocation != NULL && invocation->open && operation->type != RIG_OPERATION_INVOKE;
    if (invocation == NULL || (!operation->has_value && !completes)) {
        reader->skipped_count++;
        return RIG_OK;
    }
    if (!reader->has_client) {
        reader->has_client = true;
        reader->has_invocations = operation->type == RIG_OPERATION_INVOKE;
    }
    if (operation->type == RIG_OPERATION_INVOKE)
        return take_invocation(reader, invocation, position);
    return take_completion(reader, invocation, position);
}

/* Transactions without completion, and the history's other fields. */
static enum rig_rc finish(struct rig_operation_reader *reader, struct rig_history **history)
{
    for (size_t i = 0; i < reader->invocations.count; i++) {
        const struct rig_invocation *invocation = &reader->invocations.at[i];
        if (!invocation->open)
            continue;
        struct rig_txn_input txn = {
            .invoke_ns = invocation->time_ns,
            .complete_ns = RIG_NO_TIME,
            .invoke_at = invocation->position,
            .complete_at = RIG_POSITION_NONE,
            .process = invocation->process,
            .outcome = RIG_OUTCOME_INFO,
            .ops = invocation->ops.at,
            .op_count = (uint32_t)invocation->ops.count,
        };
        enum rig_rc rc = add_txn(reader, &txn, invocation->at);
        if (rc != RIG_OK)
            return rc;
    }
    rig_history_builder_mark(reader->builder, false, reader->skipped_count);
    struct rig_history_builder *builder = reader->builder;
    reader->builder = NULL;
    struct rig_err err = {0};
    if (rig_history_builder_finish(builder, history, &err) != RIG_OK)
        return rig_fail(reader->err, err.rc, "%s: %s", reader->name, err.text);
    return RIG_OK;
}

enum rig_rc rig_operation_reader_run(struct rig_operation_reader *reader,
                                     enum rig_rc (*parse)(struct rig_operation_reader *reader, void *context),
                                     void *context, struct rig_history **history)
{
    struct rig_err *err = reader->err;
    if (!reader->options->workload_given) {
        /* Whatever is wrong is found again, and told, by the second run. */
        struct rig_err unheard = {0};
        reader->err = &unheard;
        reader->probing = true;
        (void)parse(reader, context);
        reader->probing = false;
        reader->err = err;
        if (!reader->decided)
            reader->workload = RIG_WORKLOAD_LIST_APPEND;
        reader->decided = false;
    }
    reader->builder = rig_history_builder_new(reader->workload, reader->options->limit_bytes);
    if (reader->builder == NULL)
        return rig_operation_reader_no_memory(reader);
    enum rig_rc rc = parse(reader, context);
    return rc == RIG_OK ? finish(reader, history) : rc;
}
