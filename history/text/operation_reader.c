#include "history/text/operation_reader.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/bug.h"
#include "base/table.h"
#include "history/text/object_operation.h"
#include "history/text/text_table.h"
#include "history/types/types.h"
#include "history/model/value_texts.h"

RIG_VEC(struct rig_op, op_vec)

enum { LONG_OPS = 64 };

/* A process's last invocation; kept until it invokes again, unless it is long. */
struct invocation {
    bool open;
    size_t at;
    int64_t process;
    struct op_vec ops;
};

RIG_VEC(struct invocation, invocation_vec)

struct reader {
    struct rig_operation_parser parser;
    const struct rig_data_type *type;
    struct op_vec ops; /* of the operation being read */
    struct rig_text_table process_names;
    bool has_negative_process;
    struct rig_table invocation_of_process;
    struct invocation_vec invocations;
    uint64_t count;
    int64_t last_index;
    bool uses_index, has_client, has_invocations;
    bool has_key, mixes_keys;
    enum rig_key_kind key_kind;
};

void rig_operation_parser_takes(struct rig_operation_parser *parser, enum rig_workload workload, bool has_invocations)
{
    parser->takes_functions = rig_workload_is_object(workload);
    parser->workload = workload;
    parser->repeats = has_invocations;
    parser->lists_are_values = rig_data_types[workload].shape == RIG_RESULT_VALUE;
}

static bool is_text(const char *text, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

bool rig_micro_reads(const struct rig_micro *micro)
{
    return rig_name_reads(micro->name, micro->name_length);
}

enum rig_op_kind rig_micro_kind(enum rig_workload workload, const struct rig_micro *micro)
{
    const struct rig_data_type *type = &rig_data_types[workload];
    uint32_t kinds = UINT32_C(1) << type->write_op | UINT32_C(1) << type->read_op | rig_object_further_ops(workload);
    for (; kinds != 0; kinds &= kinds - 1) {
        const enum rig_op_kind kind = (enum rig_op_kind)__builtin_ctz(kinds);
        if (is_text(micro->name, micro->name_length, rig_op_infos[kind].name))
            return kind;
    }
    return RIG_OP_KIND_COUNT;
}

static enum rig_workload workload_of(const struct rig_data_type *type)
{
    return (enum rig_workload)(type - rig_data_types);
}

/* Whether a result of the shape may be written as such a value. */
static bool value_fits(enum rig_micro_value kind, enum rig_result_shape shape)
{
    return (kind == RIG_MICRO_NUMBER && shape == RIG_RESULT_VALUE) ||
           (kind == RIG_MICRO_LIST && shape >= RIG_RESULT_LIST);
}

/* Whether it may be the result of a read of the type. */
static bool result_fits(const struct rig_micro *micro, const struct rig_data_type *type)
{
    return value_fits(micro->value_kind, type->shape) && (!micro->is_set || type->shape == RIG_RESULT_SET);
}

/* Whether such a value may be written: null is an element like others, but the initial state of a register. */
static bool is_written(enum rig_micro_value kind, enum rig_result_shape shape)
{
    return kind == RIG_MICRO_NUMBER ||
           (kind == RIG_MICRO_NULL && (shape == RIG_RESULT_LIST || shape == RIG_RESULT_SET));
}

static bool writes_under(const struct rig_data_type *type, const struct rig_micro *micro)
{
    const enum rig_op_kind kind = rig_micro_kind(workload_of(type), micro);
    return kind != RIG_OP_KIND_COUNT && !rig_op_reads(kind);
}

/* Objects whose reads look like those of other types are not guessed. */
static bool reads_under(const struct rig_data_type *type, const struct rig_micro *micro)
{
    const bool is_own = micro->name_length > 1 || !rig_workload_is_object(workload_of(type));
    return is_own && rig_micro_kind(workload_of(type), micro) == type->read_op;
}

/* The first type with such a micro-operation: by its name, else by its value. NULL: a read of null fits any type. */
static const struct rig_data_type *type_of(const struct rig_micro *micro)
{
    for (size_t i = 0; i < RIG_WORKLOAD_COUNT; i++) {
        if (writes_under(&rig_data_types[i], micro))
            return &rig_data_types[i];
    }
    for (size_t i = 0; i < RIG_WORKLOAD_COUNT; i++) {
        if (reads_under(&rig_data_types[i], micro) && result_fits(micro, &rig_data_types[i]))
            return &rig_data_types[i];
    }
    return NULL;
}

/* "append, r and w": the names of all types' micro-operations. */
static void name_all(char *text, size_t size)
{
    const char *names[2 * RIG_WORKLOAD_COUNT];
    size_t count = 0, length = 0;
    for (size_t i = 0; i < 2 * RIG_WORKLOAD_COUNT; i++) {
        const struct rig_data_type *type = &rig_data_types[i / 2];
        if (rig_workload_is_object((enum rig_workload)(i / 2)))
            continue;
        const char *name = rig_op_infos[i % 2 == 0 ? type->write_op : type->read_op].name;
        bool is_new = true;
        for (size_t j = 0; j < count; j++)
            is_new = is_new && strcmp(names[j], name) != 0;
        if (is_new)
            names[count++] = name;
    }
    for (size_t i = 0; i < count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s",
                                   i == 0           ? ""
                                   : i + 1 == count ? " and "
                                                    : ", ",
                                   names[i]);
}

static enum rig_rc unknown_name(const struct rig_text_cursor *cursor, const struct rig_micro *micro)
{
    char names[256];
    name_all(names, sizeof names);
    return rig_cursor_fail(cursor, micro->at, "no micro-operation is called \"%.*s\"; there are %s",
                           micro->name_length > 40 ? 40 : (int)micro->name_length, micro->name, names);
}

/* Words why the micro-operation is not of the type. */
static enum rig_rc misfit(const struct rig_text_cursor *cursor, const struct rig_data_type *type,
                          const struct rig_micro *micro)
{
    const bool reads = rig_micro_reads(micro);
    const struct rig_data_type *own = writes_under(type, micro) ? type : type_of(micro);
    if (!reads && (own == NULL || !writes_under(own, micro)))
        return unknown_name(cursor, micro);
    if (own == NULL)
        return rig_cursor_fail(cursor, micro->at, "\"%.*s\" is no operation of a %s, or has no such result",
                               micro->name_length > 40 ? 40 : (int)micro->name_length, micro->name, type->name);
    const char *noun = rig_op_infos[reads ? own->read_op : own->write_op].noun;
    if (!reads && micro->value_kind == RIG_MICRO_MISSING)
        return rig_cursor_fail(cursor, micro->value_at, "%s without a value", noun);
    if (!reads && micro->value_kind == RIG_MICRO_NULL)
        return rig_cursor_fail(cursor, micro->value_at, "%s of null, which is the initial state; write another value",
                               noun);
    return rig_cursor_fail(cursor, reads ? micro->value_at : micro->at,
                           "%s of %s in a history of %s; split the history, or name its workload", noun, own->name,
                           type->name);
}

enum rig_rc rig_micro_check(const struct rig_text_cursor *cursor, const struct rig_data_type *type,
                            const struct rig_micro *micro)
{
    const enum rig_micro_value kind = micro->value_kind;
    const bool says_nothing = kind == RIG_MICRO_MISSING || kind == RIG_MICRO_NULL;
    if (rig_micro_reads(micro)
            ? (!says_nothing && !result_fits(micro, type)) || rig_micro_kind(workload_of(type), micro) != type->read_op
            : !is_written(kind, type->shape) || !writes_under(type, micro))
        return misfit(cursor, type, micro);
    if (micro->element_count >= UINT32_MAX)
        return rig_cursor_fail(cursor, micro->value_at, "a list of more than 4294967294 elements");
    if (type->shape == RIG_RESULT_ROWS && micro->element_count % 2 != 0)
        return rig_cursor_fail(cursor, micro->value_at, "a row without a value; a row is a key and a value");
    if (type->shape == RIG_RESULT_RECORDS && micro->element_count % 2 != 0)
        return rig_cursor_fail(cursor, micro->value_at, "a record without a value; a record is an offset and a value");
    return RIG_OK;
}

static enum rig_rc find_key(struct reader *reader, const struct rig_micro *micro, int64_t *key)
{
    const struct rig_text_cursor *cursor = &reader->parser.cursor;
    reader->mixes_keys = reader->has_key && reader->key_kind != micro->key_kind;
    if (reader->mixes_keys)
        return rig_cursor_fail(cursor, micro->at, "another kind of key than before; use keys of one kind");
    reader->has_key = true;
    reader->key_kind = micro->key_kind;
    *key = micro->key;
    if (micro->key_kind == RIG_KEY_NUMBER)
        return RIG_OK;
    if (memchr(micro->key_text, '\0', micro->key_length) != NULL)
        return rig_cursor_fail(cursor, micro->at, "a key with a NUL character in it; rename the key");
    *key = (int64_t)XXH3_64bits(micro->key_text, micro->key_length); /* compared with one other key, and not kept */
    return RIG_OK;
}

static enum rig_rc take_micro(void *context, const struct rig_micro *micro)
{
    struct reader *reader = context;
    struct rig_op op = {.kind = rig_micro_kind(workload_of(reader->type), micro)};
    enum rig_rc rc = rig_micro_check(&reader->parser.cursor, reader->type, micro);
    if (rc == RIG_OK)
        rc = find_key(reader, micro, &op.key);
    if (rc != RIG_OK)
        return rc;
    if (reader->parser.has_low && reader->parser.has_texts)
        return rig_cursor_fail(&reader->parser.cursor, micro->at,
                               "an integer below %lld in a history with values that are not integers; use others",
                               (long long)RIG_VALUE_TEXTS_BELOW);
    if (!rig_micro_reads(micro))
        op.value = micro->value;
    return op_vec_add(&reader->ops, op) ? RIG_OK : rig_cursor_no_memory(&reader->parser.cursor);
}

/* Named processes get numbers above 32 bits. */
static const int64_t named_process = (int64_t)INT32_MAX + 1;

static enum rig_rc number_process(struct reader *reader)
{
    struct rig_operation_fields *fields = &reader->parser.operation.fields;
    const struct rig_text_cursor *cursor = &reader->parser.cursor;
    size_t at = reader->parser.operation.at;
    if (fields->process_name != NULL) {
        if (memchr(fields->process_name, '\0', fields->process_length) != NULL)
            return rig_cursor_fail(cursor, at, "a process with a NUL character in its name; rename it");
        uint32_t id = rig_text_table_put(&reader->process_names, fields->process_name, fields->process_length);
        if (id == RIG_TABLE_NONE)
            return rig_cursor_no_memory(cursor);
        fields->process = named_process + id;
    }
    reader->has_negative_process |= fields->is_client && fields->process < 0;
    if (reader->has_negative_process && reader->process_names.count > 0)
        return rig_cursor_fail(
            cursor, at,
            "processes with names beside negative numbers, which stand for names after reading; use only names, or "
            "numbers from 0");
    return RIG_OK;
}

/* As written in the file, for errors. */
static void process_text(const struct reader *reader, int64_t process, char *text, size_t size)
{
    bool named = process >= named_process && process - named_process < reader->process_names.count;
    if (named)
        (void)snprintf(text, size, "\"%.40s\"", reader->process_names.texts[process - named_process]);
    else
        (void)snprintf(text, size, "%lld", (long long)process);
}

static enum rig_rc check_position(struct reader *reader)
{
    const struct rig_operation *operation = &reader->parser.operation;
    const struct rig_text_cursor *cursor = &reader->parser.cursor;
    bool has_index = operation->fields.has_index;
    int64_t index = has_index ? operation->fields.index : (int64_t)reader->count;
    size_t at = has_index ? operation->index_at : operation->at;
    if (reader->count == 0)
        reader->uses_index = has_index;
    if (reader->uses_index != has_index)
        return rig_cursor_fail(cursor, at, "operations with and without an index; give all of them one, or none");
    if (index < 0 || index >= RIG_POSITION_NONE)
        return rig_cursor_fail(cursor, at, "index %lld is not within 0 to 4294967294; renumber the operations",
                               (long long)index);
    if (index <= reader->last_index)
        return rig_cursor_fail(cursor, operation->index_at,
                               "index %lld %s index %lld; sort the operations and give them different numbers",
                               (long long)index, index == reader->last_index ? "again after" : "after",
                               (long long)reader->last_index);
    reader->last_index = index;
    reader->count++;
    return RIG_OK;
}

/* The process's invocation; NULL when memory runs out. */
static struct invocation *find_invocation(struct reader *reader)
{
    int64_t process = reader->parser.operation.fields.process;
    uint32_t *place = rig_table_put(&reader->invocation_of_process, (uint64_t)process);
    if (place == NULL)
        return NULL;
    if (*place == RIG_TABLE_NONE) {
        if (!invocation_vec_add(&reader->invocations, (struct invocation){.process = process}))
            return NULL;
        *place = (uint32_t)(reader->invocations.count - 1);
    }
    return &reader->invocations.at[*place];
}

static enum rig_rc take_invocation(struct reader *reader, struct invocation *invocation)
{
    const struct rig_operation *operation = &reader->parser.operation;
    const struct rig_text_cursor *cursor = &reader->parser.cursor;
    if (!reader->has_invocations)
        return rig_cursor_fail(cursor, operation->type_at,
                               "an invocation after completions without one; keep all invocations, or none");
    struct op_vec ops = reader->ops;
    reader->ops = invocation->ops;
    invocation->ops = ops;
    invocation->open = true;
    invocation->at = operation->at;
    return RIG_OK;
}

static bool same_ops(const struct op_vec *a, const struct op_vec *b)
{
    if (a->count > 0 && b->count > 0 && rig_object_drains(b->count, (unsigned)b->at[0].kind, (unsigned)a->at[0].kind))
        return a->at[0].key == b->at[0].key;
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (a->at[i].kind != b->at[i].kind || a->at[i].key != b->at[i].key || a->at[i].value != b->at[i].value)
            return false;
    }
    return true;
}

static enum rig_rc check_process(const struct reader *reader, const struct invocation *invocation, size_t at)
{
    bool named =
        invocation->process >= named_process && invocation->process - named_process < reader->process_names.count;
    if (named || (invocation->process >= INT32_MIN && invocation->process <= INT32_MAX))
        return RIG_OK;
    return rig_cursor_fail(&reader->parser.cursor, at, "process %lld does not fit 32 bits; renumber the processes",
                           (long long)invocation->process);
}

static enum rig_rc take_completion(struct reader *reader, struct invocation *invocation)
{
    const struct rig_operation *operation = &reader->parser.operation;
    const struct rig_text_cursor *cursor = &reader->parser.cursor;
    bool has_value = operation->fields.has_value;
    char process[64];
    process_text(reader, invocation->process, process, sizeof process);
    if (reader->has_invocations && !invocation->open)
        return rig_cursor_fail(cursor, operation->at,
                               "process %s has a completion without an invocation; add the "
                               "invocation",
                               process);
    if (!has_value && operation->fields.type == RIG_OPERATION_OK && !operation->fields.repeats)
        return rig_cursor_fail(cursor, operation->at,
                               "an ok transaction without its operations; give them as its value");
    if (reader->has_invocations && has_value && !same_ops(&reader->ops, &invocation->ops))
        return rig_cursor_fail(cursor, operation->value_at,
                               "other operations than process %lld invoked at line %zu; completions repeat them, "
                               "with the results of reads",
                               (long long)invocation->process, rig_cursor_line(cursor, invocation->at));
    invocation->open = false;
    if (invocation->ops.count > LONG_OPS)
        op_vec_done(&invocation->ops);
    return check_process(reader, invocation, operation->at);
}

static enum rig_rc take_operation(struct reader *reader)
{
    const struct rig_operation *operation = &reader->parser.operation;
    const struct rig_operation_fields *fields = &operation->fields;
    if (!fields->has_type)
        return rig_cursor_fail(&reader->parser.cursor, operation->at,
                               "an operation without a type; it is invoke, ok, fail or info");
    enum rig_rc rc = check_position(reader);
    if (rc == RIG_OK)
        rc = number_process(reader);
    if (rc != RIG_OK || !fields->is_client)
        return rc;
    struct invocation *invocation = find_invocation(reader);
    if (invocation == NULL)
        return rig_cursor_no_memory(&reader->parser.cursor);
    bool completes = invocation->open && fields->type != RIG_OPERATION_INVOKE;
    if (!fields->has_value && !completes)
        return RIG_OK;
    if (!reader->has_client)
        reader->has_invocations = fields->type == RIG_OPERATION_INVOKE;
    reader->has_client = true;
    return fields->type == RIG_OPERATION_INVOKE ? take_invocation(reader, invocation)
                                                : take_completion(reader, invocation);
}

static enum rig_rc read_all(struct reader *reader)
{
    bool more = false;
    enum rig_rc rc = rig_operation_parser_start(&reader->parser, &more);
    while (rc == RIG_OK && more) {
        reader->ops.count = 0;
        rc = rig_operation_parser_read(&reader->parser);
        if (rc == RIG_OK)
            rc = take_operation(reader);
        if (rc == RIG_OK)
            rc = rig_operation_parser_more(&reader->parser, &more);
    }
    for (size_t i = 0; rc == RIG_OK && i < reader->invocations.count; i++) {
        const struct invocation *invocation = &reader->invocations.at[i];
        if (invocation->open)
            rc = check_process(reader, invocation, invocation->at);
    }
    return rc;
}

enum rig_rc rig_operation_blame(const struct rig_text_operations *operations, const struct rig_operation_facts *facts,
                                bool *mixes_keys, struct rig_err *err)
{
    struct reader reader = {.type = &rig_data_types[facts->workload], .last_index = -1};
    rig_operation_parser_init(&reader.parser, operations->syntax, operations->name, operations->data, operations->size,
                              err);
    reader.parser.cursor.origin = operations->origin;
    reader.parser.forgets = true;
    reader.parser.on_micro = take_micro;
    reader.parser.context = &reader;
    rig_operation_parser_takes(&reader.parser, facts->workload, facts->has_invocations);
    reader.parser.lock = facts->lock;
    reader.parser.keys_are_values = facts->value_keys;
    rig_table_init(&reader.invocation_of_process);
    rig_text_table_init(&reader.process_names, 0);
    enum rig_rc rc = read_all(&reader);
    *mixes_keys = reader.mixes_keys;
    for (size_t i = 0; i < reader.invocations.count; i++)
        op_vec_done(&reader.invocations.at[i].ops);
    invocation_vec_done(&reader.invocations);
    rig_text_table_done(&reader.process_names);
    rig_table_done(&reader.invocation_of_process);
    op_vec_done(&reader.ops);
    rig_operation_parser_done(&reader.parser);
    return rc != RIG_OK ? rc
                        : rig_fail(err, RIG_E_BUG, "%s: refused, although no fault was found in it", operations->name);
}

struct probe {
    bool decided;
    uint32_t may_be; /* types that the operations so far fit, a bit each; 0: none of them tells */
    enum rig_workload workload;
    uint64_t sum;    /* of the increments of the operation that was read last */
    uint32_t count;  /* number of the increments of the operation that was read last */
    bool has_micros; /* the operation that was read last */
};

/* The types whose reads show such a result; rw-register stands for all types of its operations. */
static uint32_t types_of_result(const struct rig_micro *micro)
{
    const uint32_t alike = RIG_WORKLOADS_OF_REGISTERS & (RIG_WORKLOADS_OF_REGISTERS - 1);
    uint32_t fitting = 0;
    for (unsigned i = 0; i < RIG_WORKLOAD_COUNT; i++)
        fitting |= (uint32_t)(reads_under(&rig_data_types[i], micro) && result_fits(micro, &rig_data_types[i])) << i;
    return fitting & ~alike;
}

/* The types that add to numbers. */
static uint32_t types_of_sums(void)
{
    return ((1U << RIG_WORKLOAD_COUNT) - 1) & ~(uint32_t)(RIG_WORKLOADS_OF_NAMED_WRITERS | RIG_OBJECT_TYPES);
}

/* A write decides, unless it adds to a number; and so does a result that one type alone shows. */
static enum rig_rc probe_micro(void *context, const struct rig_micro *micro)
{
    struct probe *probe = context;
    probe->has_micros = true;
    const struct rig_data_type *type = probe->decided ? NULL : type_of(micro);
    if (type == NULL)
        return RIG_OK;
    const bool writes = writes_under(type, micro);
    if (writes && (types_of_sums() >> workload_of(type) & 1) != 0) {
        probe->sum += (uint64_t)micro->value;
        probe->count++;
        probe->may_be = types_of_sums();
        probe->workload = workload_of(type);
    } else if (writes) {
        probe->decided = true;
        probe->workload = workload_of(type);
    } else if (probe->may_be != types_of_sums()) {
        probe->may_be |= types_of_result(micro);
        probe->decided = (probe->may_be & (probe->may_be - 1)) == 0;
        probe->workload = workload_of(type);
    }
    return RIG_OK;
}

/* A transfer adds to one account what it takes from another: the first type that adds need not. */
static void end_operation(struct probe *probe)
{
    probe->decided |= probe->count == 1 || probe->sum != 0;
    probe->sum = probe->count = 0;
    probe->has_micros = false;
}

static bool names_transaction(const struct rig_operation *operation)
{
    return is_text(operation->function, operation->function_length, ":txn") ||
           is_text(operation->function, operation->function_length, "\"txn\"");
}

/* Whether the value is a transaction: an empty list may also be what a drain or a read of a list shows. */
static bool is_transaction(const struct probe *probe, const struct rig_operation_parser *parser)
{
    const struct rig_operation *operation = &parser->operation;
    return operation->fields.has_value && (probe->has_micros || parser->takes_functions ||
                                           operation->function == NULL || names_transaction(operation));
}

/* The functions of clients' operations that are not transactions. */
struct functions {
    struct rig_text_slice at[4]; /* the first different ones */
    size_t count;
    bool has_more;
    size_t first_at; /* the first such operation */
};

static void note_function(struct functions *functions, const struct rig_operation *operation)
{
    const struct rig_text_slice came = {.at = operation->function, .length = operation->function_length};
    const size_t most = sizeof functions->at / sizeof functions->at[0];
    if (names_transaction(operation))
        return;
    for (size_t i = 0; i < functions->count; i++) {
        if (functions->at[i].length == came.length && memcmp(functions->at[i].at, came.at, came.length) == 0)
            return;
    }
    if (functions->count == 0)
        functions->first_at = operation->at;
    functions->has_more |= functions->count == most;
    if (functions->count < most)
        functions->at[functions->count++] = came;
}

static enum rig_rc no_transactions(const struct rig_text_cursor *cursor, const struct functions *functions)
{
    char names[128];
    size_t length = 0;
    for (size_t i = 0; i < functions->count && length < sizeof names; i++) {
        const bool is_last = i + 1 == functions->count && !functions->has_more;
        const struct rig_text_slice *name = &functions->at[i];
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%.*s",
                                   i == 0    ? ""
                                   : is_last ? " and "
                                             : ", ",
                                   name->length > 20 ? 20 : (int)name->length, name->at);
    }
    return rig_cursor_fail(
        cursor, functions->first_at,
        "its operations are %s%s, and none is a transaction; `rig list workloads` names what rig checks", names,
        functions->has_more ? " and others" : "");
}

/* Looks at the beginning of the file. */
static enum rig_rc look_at_start(struct rig_operation_parser *parser, struct probe *probe,
                                 struct rig_operation_facts *facts, struct functions *functions, bool *found)
{
    bool more = false, has_client = false, has_first = false;
    *facts = (struct rig_operation_facts){.has_invocations = true};
    rig_operation_parser_takes(parser, probe->workload, false);
    /* An error is found again, and reported, when the file is read. */
    enum rig_rc rc = rig_operation_parser_start(parser, &more);
    while (rc == RIG_OK && more && !(has_client && probe->decided)) {
        rc = rig_operation_parser_read(parser);
        const struct rig_operation_fields *fields = &parser->operation.fields;
        if (rc == RIG_OK && !has_first) {
            facts->uses_index = fields->has_index;
            facts->start_utc_ns = parser->operation.start_utc_ns;
        }
        has_first = true;
        if (rc == RIG_OK && !has_client && fields->is_client && parser->operation.function != NULL)
            note_function(functions, &parser->operation);
        if (rc == RIG_OK && !has_client && fields->is_client && is_transaction(probe, parser) && fields->has_type) {
            has_client = true;
            facts->has_invocations = fields->type == RIG_OPERATION_INVOKE;
        }
        end_operation(probe);
        if (rc == RIG_OK)
            rc = rig_operation_parser_more(parser, &more);
    }
    facts->workload = probe->workload;
    facts->type_origin = probe->decided ? RIG_TYPE_FOUND : RIG_TYPE_ASSUMED;
    facts->value_keys = parser->keys_are_values;
    *found = has_client || rc != RIG_OK || more;
    return rc;
}

enum rig_rc rig_types_refuse(const struct rig_text_cursor *cursor, size_t at, uint32_t types)
{
    char names[160];
    size_t length = 0;
    for (unsigned w = 0; w < RIG_WORKLOAD_COUNT && length < sizeof names; w++) {
        if ((types >> w & 1) == 0)
            continue;
        const char *before = length == 0 ? "" : types >> w == 1 ? " or " : ", ";
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", before, rig_data_type_names[w]);
    }
    return rig_cursor_fail(
        cursor, at, "the operations may be those of %s: nothing in the file tells; name its type with --workload",
        names);
}

enum rig_rc rig_operation_probe(const struct rig_text_syntax *syntax, const char *name, const char *data, size_t size,
                                const struct rig_load_options *options, struct rig_operation_facts *facts,
                                struct rig_err *err)
{
    struct rig_operation_parser parser;
    struct probe probe = {.decided = options->workload_given,
                          .workload = options->workload_given ? options->workload : RIG_WORKLOAD_DEFAULT};
    struct functions functions = {.count = 0};
    bool found = false;
    rig_operation_parser_init(&parser, syntax, name, data, size, NULL);
    parser.forgets = true;
    parser.keys_are_values = options->value_keys;
    parser.on_micro = probe_micro;
    parser.context = &probe;
    enum rig_rc looked = look_at_start(&parser, &probe, facts, &functions, &found), rc = RIG_OK;
    if (!found && !options->workload_given && !functions.has_more &&
        rig_object_operation_type(functions.at, functions.count, &probe.workload)) {
        probe.decided = true;
        looked = look_at_start(&parser, &probe, facts, &functions, &found);
    }
    parser.cursor.err = err;
    if (!found && functions.count > 0)
        rc = no_transactions(&parser.cursor, &functions);
    else if (looked == RIG_OK && !probe.decided && probe.may_be != 0)
        rc = rig_types_refuse(&parser.cursor, 0, probe.may_be);
    rig_operation_parser_done(&parser);
    return rc;
}
