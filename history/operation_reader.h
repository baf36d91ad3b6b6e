/*
 * From operations, as the textual forms hold them, to transactions: what JSON lines and EDN have in common.
 *
 * A parser fills in one rig_operation a time and hands it over; this module checks it against what came before, pairs
 * completions with invocations by process, and adds transactions to a history:
 *  - indices, where given, ascend; else the order of the file numbers the operations;
 *  - operations of no client (a process that is no integer) or without a transaction are left out and counted;
 *  - a history has either invocations for all its completions, or none at all;
 *  - a completion carries the operations that were invoked, or none (then its results are unknown, and it is not ok);
 *  - null read by an ok transaction is the initial state; in any other it says nothing; a read without a third member
 *    says nothing either.
 *
 * Errors name the place: file, line and column of the byte at fault.
 *
 * Space: the open transactions. Threads: one at a time.
 */
#ifndef RIG_HISTORY_OPERATION_READER_H
#define RIG_HISTORY_OPERATION_READER_H

#include "base/table.h"
#include "base/vec.h"
#include "history/builder.h"
#include "history/load.h"

RIG_VEC(struct rig_op, rig_op_vec)
RIG_VEC(struct rig_read, rig_read_vec)
RIG_VEC(int64_t, rig_element_vec)

/* What a process last invoked; kept until it invokes again. */
struct rig_invocation {
    bool open;
    size_t at;
    int64_t process;
    int64_t time_ns;
    uint32_t position;
    struct rig_op_vec ops;
};

RIG_VEC(struct rig_invocation, rig_invocation_vec)

enum rig_operation_type { RIG_OPERATION_INVOKE, RIG_OPERATION_OK, RIG_OPERATION_FAIL, RIG_OPERATION_INFO };
enum rig_key_kind { RIG_KEY_NUMBER, RIG_KEY_TEXT, RIG_KEY_KEYWORD };

/* One operation as it stands in the file. Offsets are bytes into the file, for errors. */
struct rig_operation {
    size_t at;
    bool has_type, has_index, has_time, has_value, has_error;
    enum rig_operation_type type;
    size_t type_at;
    int64_t index;
    size_t index_at;
    int64_t time_ns;
    bool is_client; /* its process is an integer; a nemesis has a name, and others none */
    int64_t process;
    size_t process_at;
    size_t value_at; /* of a transaction */
    const char *error;
    size_t error_length;
    /* Filled through rig_operation_reader_mop() and rig_operation_reader_element(). */
    struct rig_op_vec ops;
    struct rig_read_vec reads;
    struct rig_element_vec elements;
};

/* One micro-operation as it stands in the file: name, key, value. */
struct rig_micro {
    size_t at;
    const char *name; /* without the colon of a keyword */
    size_t name_length;
    enum rig_key_kind key_kind;
    int64_t key;
    const char *key_text;
    size_t key_length;
    size_t value_at;
    enum { RIG_MICRO_MISSING, RIG_MICRO_NULL, RIG_MICRO_NUMBER, RIG_MICRO_LIST } value_kind;
    int64_t value;
    size_t first_element; /* of a list: from here to the end of the operation's elements */
};

struct rig_operation_reader {
    const char *name;
    const char *data;
    size_t size;
    const struct rig_load_options *options;
    struct rig_err *err;
    /* Probing finds out the workload: no history is built, and parsing stops when `decided`. */
    bool probing;
    bool decided;
    enum rig_workload workload;
    struct rig_operation operation; /* the one being read */
    /* The rest is the module's own. */
    struct rig_history_builder *builder;
    struct rig_table invocation_of_process;
    struct rig_invocation_vec invocations;
    uint64_t count;
    uint64_t skipped_count;
    int64_t last_index;
    bool uses_index, has_client, has_invocations;
    bool has_key;
    enum rig_key_kind key_kind;
};

void rig_operation_reader_init(struct rig_operation_reader *reader, const char *name, const char *data, size_t size,
                               const struct rig_load_options *options, struct rig_err *err);
void rig_operation_reader_done(struct rig_operation_reader *reader);

/* Fails at the byte `at`: "name:line:column: text". */
enum rig_rc rig_operation_reader_fail(const struct rig_operation_reader *reader, size_t at, const char *format, ...)
    RIG_PRINTF(3, 4);

/*
 * Runs `parse` once to learn the workload, where the options do not give it, and once to build the history. `parse`
 * reads the whole file and hands over its operations; it stops early when reader->decided.
 */
enum rig_rc rig_operation_reader_run(struct rig_operation_reader *reader,
                                     enum rig_rc (*parse)(struct rig_operation_reader *reader, void *context),
                                     void *context, struct rig_history **history);

/* Starts the next operation, which begins at `at`. */
void rig_operation_reader_begin(struct rig_operation_reader *reader, size_t at);
enum rig_rc rig_operation_reader_mop(struct rig_operation_reader *reader, const struct rig_micro *micro);
enum rig_rc rig_operation_reader_no_memory(const struct rig_operation_reader *reader);
static inline enum rig_rc rig_operation_reader_element(struct rig_operation_reader *reader, int64_t element)
{
    return rig_element_vec_add(&reader->operation.elements, element) ? RIG_OK : rig_operation_reader_no_memory(reader);
}
/* The operation is complete: takes it. */
enum rig_rc rig_operation_reader_end(struct rig_operation_reader *reader);
#endif
