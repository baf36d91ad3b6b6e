/*
 * The data types: what each kind of operation is, and what the transactions of a workload consist of.
 *
 * One row a data type, and one row an operation kind. Code that serves all types asks the row: once a history, a
 * window, a segment or a key, never an operation. rig_op_reads() and rig_op_reads_sequence()
 * (history/model/transaction.h) need only the kind, and take one instruction.
 *
 * The rows are generated from RIG_OP_TABLE and RIG_WORKLOAD_TABLE. Constant; any thread.
 */
#ifndef RIG_HISTORY_TYPES_TYPES_H
#define RIG_HISTORY_TYPES_TYPES_H

#include "history/model/transaction.h"

struct rig_op_info {
    const char *name; /* in histories; "r" of all that read */
    const char *noun; /* with its article */
    enum rig_result_shape shape;
    const char *help;
};

/*
 * A type has one kind of operation that writes and one that reads. The record tells them apart by one bit, which is the
 * last bit of the kind: write_op is even, and read_op follows it.
 */
struct rig_data_type {
    const char *name; /* in plans and histories */
    const char *help;
    enum rig_op_kind write_op;
    enum rig_op_kind read_op;
    enum rig_result_shape shape; /* of what read_op reads */
    const char *followed_by;     /* what links a value with the next one of its key: "was overwritten by" */
};

/* Whether transactions on registers may write a value to a key more than once (history/model/shared_value.h). */
static inline bool rig_workload_repeats_values(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_MULTI_KEY;
}

/* The type of a history that tells none, as an empty one. */
enum { RIG_WORKLOAD_DEFAULT = RIG_WORKLOAD_LIST_APPEND };

/*
 * The types of objects: histories of single operations, each on one object, whose values may repeat. rig decides
 * whether such a history is linearizable. A transaction is one operation; compare-and-set is two micro-operations,
 * RIG_OP_EXPECT and then a write. Some types have operations besides those of struct rig_data_type.
 *
 * X(workload, the first of these operations, or RIG_OP_KIND_COUNT: none; how many there are, with successive numbers)
 */
#define RIG_OBJECT_TABLE(X)                                                                                            \
    X(RIG_WORKLOAD_CAS_REGISTER, RIG_OP_EXPECT, 1)                                                                     \
    X(RIG_WORKLOAD_MUTEX, RIG_OP_EXPECT, 1)                                                                            \
    X(RIG_WORKLOAD_QUEUE, RIG_OP_KIND_COUNT, 0)                                                                        \
    X(RIG_WORKLOAD_STACK, RIG_OP_KIND_COUNT, 0)                                                                        \
    X(RIG_WORKLOAD_APPEND_REGISTER, RIG_OP_EXTEND, 1)                                                                  \
    X(RIG_WORKLOAD_LOCK, RIG_OP_HOLD, 3)                                                                               \
    X(RIG_WORKLOAD_MODEL, RIG_OP_ARGUMENT, 1)

/* The limits of acquisitions of locks, where a file does not have them itself (RIG_OP_LIMIT, RIG_OP_LEASE). */
struct rig_lock_rules {
    int64_t limit;    /* 0: one owner, which holds the lock once */
    int64_t lease_ns; /* 0: none */
};

/* The types of objects, a bit each. */
#define RIG_OBJECT_BIT(workload, ...) +(1 << (workload))
enum { RIG_OBJECT_TYPES = 0 RIG_OBJECT_TABLE(RIG_OBJECT_BIT) };
#undef RIG_OBJECT_BIT

static inline bool rig_workload_is_object(enum rig_workload workload)
{
    return (RIG_OBJECT_TYPES >> (unsigned)workload & 1) != 0;
}

/* Types whose written values are unique, so that a value that was read names its writer, a bit each: all but objects
 * and those that add numbers. */
#define RIG_WORKLOAD_NAMES_WRITERS(name, text, write, ...) +(((write) != RIG_OP_INCREMENT) << (name))
enum { RIG_WORKLOADS_OF_NAMED_WRITERS = (0 RIG_WORKLOAD_TABLE(RIG_WORKLOAD_NAMES_WRITERS)) & ~RIG_OBJECT_TYPES };
#undef RIG_WORKLOAD_NAMES_WRITERS

/* Types of registers that may begin with a value which the user names, a bit each. */
enum {
    RIG_WORKLOADS_WITH_INITIAL = 1 << RIG_WORKLOAD_RW_REGISTER | 1 << RIG_WORKLOAD_LONG_FORK |
                                 1 << RIG_WORKLOAD_MULTI_KEY | 1 << RIG_WORKLOAD_DIRTY_READS |
                                 1 << RIG_WORKLOAD_CAS_REGISTER
};

/* The type of objects that a file describes: a model. */
enum { RIG_WORKLOAD_OF_SPECIFICATIONS = RIG_WORKLOAD_MODEL };

/* Whether the objects are those of a model. */
static inline bool rig_workload_has_specification(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_MODEL;
}

static inline bool rig_workload_may_begin(enum rig_workload workload)
{
    return (RIG_WORKLOADS_WITH_INITIAL >> (unsigned)workload & 1) != 0;
}

/* The first operation that the type has besides the two of struct rig_data_type; RIG_OP_KIND_COUNT: none. */
enum rig_op_kind rig_object_further_op(enum rig_workload workload);
/* All of these, a bit each. */
uint32_t rig_object_further_ops(enum rig_workload workload);

extern const struct rig_op_info rig_op_infos[RIG_OP_KIND_COUNT];
extern const struct rig_data_type rig_data_types[RIG_WORKLOAD_COUNT];
/* The names alone, by enum rig_workload, and NULL. */
extern const char *const rig_data_type_names[RIG_WORKLOAD_COUNT + 1];

/* Kinds, a bit each, that write to what is read as a sequence: windows know of each such operation. */
#define RIG_DATA_TYPE_GROWS(name, text, write, read, ...) +((RIG_OPS_OF_SEQUENCES >> (read)&1) << (write))
enum { RIG_OPS_THAT_GROW = 0 RIG_WORKLOAD_TABLE(RIG_DATA_TYPE_GROWS) };
#undef RIG_DATA_TYPE_GROWS

/* Whether an operation of this name reads. */
bool rig_name_reads(const char *name, size_t length);

static inline bool rig_op_grows(unsigned kind)
{
    return (RIG_OPS_THAT_GROW >> kind & 1) != 0;
}

/* Whether reads of this type give sequences of elements. */
static inline bool rig_data_type_has_sequences(const struct rig_data_type *type)
{
    return type->shape >= RIG_RESULT_LIST;
}

#endif
