/*
 * The transaction and its outcome: what a client asks of a database and what it is told.
 *
 * A transaction is a list of micro-operations on integer keys. Written values are unique per key for the whole run, so
 * that a value names its writer. Pure data; this header is installed for drivers and depends on nothing.
 */
#ifndef RIG_HISTORY_TRANSACTION_H
#define RIG_HISTORY_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * X(name, name in histories, reads, what it does)
 * The numbers are part of the file format: entries are only ever appended.
 */
#define RIG_OP_TABLE(X)                                                                                                \
    X(RIG_OP_APPEND, "append", false, "append a value to the list of a key")                                           \
    X(RIG_OP_READ_LIST, "r", true, "read the list of a key")                                                           \
    X(RIG_OP_WRITE, "w", false, "set the register of a key")                                                           \
    X(RIG_OP_READ_REGISTER, "r", true, "read the register of a key")                                                   \
    X(RIG_OP_ADD, "add", false, "add a value to the set of a key")                                                     \
    X(RIG_OP_READ_SET, "r", true, "read the set of a key")                                                             \
    X(RIG_OP_INCREMENT, "inc", false, "add a number to the counter of a key")                                          \
    X(RIG_OP_READ_COUNTER, "r", true, "read the counter of a key")

enum rig_op_kind {
#define RIG_OP_ENUM(name, text, reads, help) name,
    RIG_OP_TABLE(RIG_OP_ENUM)
#undef RIG_OP_ENUM
        RIG_OP_KIND_COUNT
};

/* X(name, name in plans and histories, what its transactions consist of). Only appended to. */
#define RIG_WORKLOAD_TABLE(X)                                                                                          \
    X(RIG_WORKLOAD_LIST_APPEND, "list-append", "appends to lists and reads of whole lists")                            \
    X(RIG_WORKLOAD_RW_REGISTER, "rw-register", "writes and reads of registers")

enum rig_workload {
#define RIG_WORKLOAD_ENUM(name, text, help) name,
    RIG_WORKLOAD_TABLE(RIG_WORKLOAD_ENUM)
#undef RIG_WORKLOAD_ENUM
        RIG_WORKLOAD_COUNT
};

/* What the client knows of a transaction's fate. When in doubt: info. */
enum rig_outcome {
    RIG_OUTCOME_OK,   /* the database acknowledged the commit */
    RIG_OUTCOME_FAIL, /* it is certain that it did not commit and never will */
    RIG_OUTCOME_INFO, /* anything else */
};

struct rig_op {
    enum rig_op_kind kind;
    int64_t key;
    int64_t value; /* appended, written, added, or the increment; 0 for reads */
};

enum rig_read_state {
    RIG_READ_UNKNOWN, /* no result came back (also: every operation that does not read) */
    RIG_READ_NIL,     /* the key does not exist: the initial state */
    RIG_READ_SEEN,    /* `value`, or the `count` elements from `first_element` on, were read */
};

/* The result of one micro-operation, parallel to the operations. */
struct rig_read {
    enum rig_read_state state;
    uint32_t count;       /* elements of a list or set */
    size_t first_element; /* index into the transaction's elements */
    int64_t value;        /* of a register or counter */
};

#endif
