/*
 * The transaction and its outcome: the request of a client and the answer of the database.
 *
 * A transaction is a list of micro-operations on integer keys. Written values are unique per key for the whole run, so
 * that a value names its writer. Pure data; this header is installed for drivers and depends on nothing.
 */
#ifndef RIG_HISTORY_MODEL_TRANSACTION_H
#define RIG_HISTORY_MODEL_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of an operation. Lists, sets, rows and records are sequences of elements (struct rig_read). */
enum rig_result_shape {
    RIG_RESULT_NOTHING, /* none: the operation writes */
    RIG_RESULT_VALUE,   /* one number */
    RIG_RESULT_LIST,    /* the elements in the order of the list */
    RIG_RESULT_SET,     /* the elements, in any order */
    RIG_RESULT_ROWS,    /* pairs of a key and a value: two elements a row */
    RIG_RESULT_RECORDS, /* pairs of an offset and a value: two elements a record */
};

/* Rows that a test adds to the tables below. */
#ifndef RIG_TEST_OPS
#define RIG_TEST_OPS(X)
#define RIG_TEST_WORKLOADS(X)
#endif

/*
 * X(name, name in histories, noun, shape of its result, what it does)
 * The numbers are part of the file format: entries are only ever appended.
 */
#define RIG_OP_TABLE(X)                                                                                                \
    X(RIG_OP_APPEND, "append", "an append", RIG_RESULT_NOTHING, "append a value to the list of a key")                 \
    X(RIG_OP_READ_LIST, "r", "a read", RIG_RESULT_LIST, "read the list of a key")                                      \
    X(RIG_OP_WRITE, "w", "a write", RIG_RESULT_NOTHING, "write the register of a key")                                 \
    X(RIG_OP_READ_REGISTER, "r", "a read", RIG_RESULT_VALUE, "read the register of a key")                             \
    X(RIG_OP_ADD, "add", "an addition", RIG_RESULT_NOTHING, "add a value to the set of a key")                         \
    X(RIG_OP_READ_SET, "r", "a read", RIG_RESULT_SET, "read the set of a key")                                         \
    X(RIG_OP_INCREMENT, "inc", "an increment", RIG_RESULT_NOTHING, "add a number to the counter of a key")             \
    X(RIG_OP_READ_COUNTER, "r", "a read", RIG_RESULT_VALUE, "read the counter of a key")                               \
    X(RIG_OP_ENQUEUE, "enq", "an enqueue", RIG_RESULT_NOTHING, "add a value at the end of the queue of a key")         \
    X(RIG_OP_DEQUEUE, "deq", "a dequeue", RIG_RESULT_VALUE, "take the first value off the queue of a key")             \
    X(RIG_OP_PUSH, "push", "a push", RIG_RESULT_NOTHING, "put a value on the stack of a key")                          \
    X(RIG_OP_POP, "pop", "a pop", RIG_RESULT_VALUE, "take the top value off the stack of a key")                       \
    X(RIG_OP_EXPECT, "expect", "an expectation", RIG_RESULT_NOTHING,                                                   \
      "go on only if the register of a key has a value; then a write: compare-and-set")                                \
    X(RIG_OP_EXTEND, "append", "an append", RIG_RESULT_NOTHING, "append to the string in the register of a key")       \
    X(RIG_OP_ROW, "row", "a statement", RIG_RESULT_NOTHING,                                                            \
      "insert a row into the table of a key, update or delete rows, or give the condition of the next read")           \
    X(RIG_OP_READ_WHERE, "r", "a read", RIG_RESULT_ROWS, "read the rows of the table of a key that meet a condition")  \
    X(RIG_OP_SEND, "send", "a send", RIG_RESULT_NOTHING, "send a value to the log of a key")                           \
    X(RIG_OP_POLL, "poll", "a poll", RIG_RESULT_RECORDS,                                                               \
      "read the next records of the log of a key; directly after a send: its offset")                                  \
    X(RIG_OP_FREE, "free", "a release", RIG_RESULT_NOTHING, "release the lock of a key; its value is the owner")       \
    X(RIG_OP_TOKEN, "token", "a token", RIG_RESULT_VALUE,                                                              \
      "at the end of an acquisition: the token that it gave; alone: use what the lock protects, under that token")     \
    X(RIG_OP_HOLD, "hold", "an acquisition", RIG_RESULT_NOTHING, "acquire the lock of a key; its value is the owner")  \
    X(RIG_OP_LIMIT, "limit", "a limit", RIG_RESULT_NOTHING,                                                            \
      "of an acquisition: the permits of all owners, or as a negative number how often one owner may hold the lock")   \
    X(RIG_OP_LEASE, "lease", "a lease", RIG_RESULT_NOTHING,                                                            \
      "of an acquisition, after its limit: the time in ns after which the lock may be taken away")                     \
    X(RIG_OP_ARGUMENT, "arg", "an argument", RIG_RESULT_NOTHING, "give an argument of the call before it")             \
    X(RIG_OP_CALL, "call", "a call", RIG_RESULT_NOTHING,                                                               \
      "call an operation of a model; its value is the operation's name, and its arguments and result follow")          \
    X(RIG_OP_RESULT, "ret", "a result", RIG_RESULT_VALUE, "the result of the call before it")                          \
    RIG_TEST_OPS(X)

enum rig_op_kind {
#define RIG_OP_ENUM(name, ...) name,
    RIG_OP_TABLE(RIG_OP_ENUM)
#undef RIG_OP_ENUM
        RIG_OP_KIND_COUNT
};

/* Sets of kinds, a bit each. */
enum {
#define RIG_OP_READS(name, text, noun, shape, help)         +(((shape) != RIG_RESULT_NOTHING) << name)
#define RIG_OP_GIVES_MANY(name, text, noun, shape, help)    +(((shape) >= RIG_RESULT_LIST) << name)
#define RIG_OP_GIVES_ROWS(name, text, noun, shape, help)    +(((shape) == RIG_RESULT_ROWS) << name)
#define RIG_OP_GIVES_RECORDS(name, text, noun, shape, help) +(((shape) == RIG_RESULT_RECORDS) << name)
    RIG_OPS_THAT_READ = 0 RIG_OP_TABLE(RIG_OP_READS),
    RIG_OPS_OF_SEQUENCES = 0 RIG_OP_TABLE(RIG_OP_GIVES_MANY),
    RIG_OPS_OF_ROWS = 0 RIG_OP_TABLE(RIG_OP_GIVES_ROWS),
    RIG_OPS_OF_RECORDS = 0 RIG_OP_TABLE(RIG_OP_GIVES_RECORDS),
#undef RIG_OP_READS
#undef RIG_OP_GIVES_MANY
#undef RIG_OP_GIVES_ROWS
#undef RIG_OP_GIVES_RECORDS
};

/* Whether the operation has a result. */
static inline bool rig_op_reads(unsigned kind)
{
    return (RIG_OPS_THAT_READ >> kind & 1) != 0;
}

/* Whether its result is a sequence of elements. */
static inline bool rig_op_reads_sequence(unsigned kind)
{
    return (RIG_OPS_OF_SEQUENCES >> kind & 1) != 0;
}

/* Whether its result is rows: two elements each, of an id and a version. */
static inline bool rig_op_reads_rows(unsigned kind)
{
    return (RIG_OPS_OF_ROWS >> kind & 1) != 0;
}

/* Whether its result is records: two elements each, of an offset and a value. */
static inline bool rig_op_reads_records(unsigned kind)
{
    return (RIG_OPS_OF_RECORDS >> kind & 1) != 0;
}

/*
 * X(name, name in plans and histories, its operation that writes, the one that reads, what links a value with the next
 *   one of its key in a sentence, what its transactions consist of)
 * The numbers are part of the file format: entries are only ever appended.
 */
#define RIG_WORKLOAD_TABLE(X)                                                                                          \
    X(RIG_WORKLOAD_LIST_APPEND, "list-append", RIG_OP_APPEND, RIG_OP_READ_LIST, "was appended before",                 \
      "appends to lists and reads of whole lists")                                                                     \
    X(RIG_WORKLOAD_RW_REGISTER, "rw-register", RIG_OP_WRITE, RIG_OP_READ_REGISTER, "was overwritten by",               \
      "writes and reads of registers")                                                                                 \
    X(RIG_WORKLOAD_SET, "set", RIG_OP_ADD, RIG_OP_READ_SET, "was added before",                                        \
      "additions to sets and reads of whole sets")                                                                     \
    X(RIG_WORKLOAD_CAS_REGISTER, "cas-register", RIG_OP_WRITE, RIG_OP_READ_REGISTER, "was overwritten by",             \
      "single writes, reads and compare-and-sets of registers, whose values may repeat")                               \
    X(RIG_WORKLOAD_MUTEX, "mutex", RIG_OP_WRITE, RIG_OP_READ_REGISTER, "was overwritten by",                           \
      "acquisitions and releases of locks")                                                                            \
    X(RIG_WORKLOAD_QUEUE, "queue", RIG_OP_ENQUEUE, RIG_OP_DEQUEUE, "was enqueued before",                              \
      "enqueues and dequeues of first-in, first-out queues")                                                           \
    X(RIG_WORKLOAD_STACK, "stack", RIG_OP_PUSH, RIG_OP_POP, "was pushed before", "pushes to and pops of stacks")       \
    X(RIG_WORKLOAD_APPEND_REGISTER, "append-register", RIG_OP_WRITE, RIG_OP_READ_REGISTER, "was overwritten by",       \
      "puts, appends and gets of strings")                                                                             \
    X(RIG_WORKLOAD_COUNTER, "counter", RIG_OP_INCREMENT, RIG_OP_READ_COUNTER, "was added before",                      \
      "increments and reads of counters")                                                                              \
    X(RIG_WORKLOAD_BANK, "bank", RIG_OP_INCREMENT, RIG_OP_READ_COUNTER, "was added before",                            \
      "transfers between accounts and reads of all balances")                                                          \
    X(RIG_WORKLOAD_LONG_FORK, "long-fork", RIG_OP_WRITE, RIG_OP_READ_REGISTER, "was overwritten by",                   \
      "single writes of registers and reads of groups of them")                                                        \
    X(RIG_WORKLOAD_MONOTONIC, "monotonic", RIG_OP_WRITE, RIG_OP_READ_REGISTER, "was overwritten by",                   \
      "updates of registers, each after a read of it, and reads of groups of them")                                    \
    X(RIG_WORKLOAD_UNIQUE_IDS, "unique-ids", RIG_OP_WRITE, RIG_OP_READ_REGISTER, "was overwritten by",                 \
      "claims of ids that are free: registers that are read once and then written")                                    \
    X(RIG_WORKLOAD_DIRTY_READS, "dirty-reads", RIG_OP_WRITE, RIG_OP_READ_REGISTER, "was overwritten by",               \
      "writes of one value to all registers of a group and reads of all of them")                                      \
    X(RIG_WORKLOAD_SEQUENTIAL, "sequential", RIG_OP_WRITE, RIG_OP_READ_REGISTER, "was overwritten by",                 \
      "single writes of a group's registers, one after the other, and single reads in reverse order")                  \
    X(RIG_WORKLOAD_MULTI_KEY, "multi-key-acid", RIG_OP_WRITE, RIG_OP_READ_REGISTER, "was overwritten by",              \
      "updates and reads of several registers of a group at a time")                                                   \
    X(RIG_WORKLOAD_PREDICATE, "predicate", RIG_OP_ROW, RIG_OP_READ_WHERE, "was overwritten by",                        \
      "inserts, updates, deletes and reads of the rows of a table that meet a condition")                              \
    X(RIG_WORKLOAD_SQL, "sql", RIG_OP_ROW, RIG_OP_READ_WHERE, "was overwritten by",                                    \
      "random SQL on rows with columns: as predicate, with conditions and assignments of several columns and NULLs")   \
    X(RIG_WORKLOAD_LOG, "log", RIG_OP_SEND, RIG_OP_POLL, "was sent before",                                            \
      "sends to and polls of logs with offsets, such as the partitions of Kafka")                                      \
    X(RIG_WORKLOAD_LOCK, "lock", RIG_OP_FREE, RIG_OP_TOKEN, "was released before",                                     \
      "acquisitions and releases of locks with owners, permits, tokens or leases")                                     \
    X(RIG_WORKLOAD_MODEL, "model", RIG_OP_CALL, RIG_OP_RESULT, "was called before",                                    \
      "operations of a model of one's own, which a file describes")                                                    \
    RIG_TEST_WORKLOADS(X)

enum rig_workload {
#define RIG_WORKLOAD_ENUM(name, ...) name,
    RIG_WORKLOAD_TABLE(RIG_WORKLOAD_ENUM)
#undef RIG_WORKLOAD_ENUM
        RIG_WORKLOAD_COUNT
};

/* How the type of a history's data is known. */
enum rig_type_origin {
    RIG_TYPE_GIVEN,   /* the caller, or the header of a record, names it */
    RIG_TYPE_FOUND,   /* the file's operations exclude every other type */
    RIG_TYPE_ASSUMED, /* the file has no operation that tells, so each type gives the same result */
};

/* Workloads whose reads give sequences of elements, a bit each. */
#define RIG_WORKLOAD_HAS_SEQUENCES(name, text, write, read, ...) +((RIG_OPS_OF_SEQUENCES >> (read)&1) << (name))
enum { RIG_WORKLOADS_OF_SEQUENCES = 0 RIG_WORKLOAD_TABLE(RIG_WORKLOAD_HAS_SEQUENCES) };
#undef RIG_WORKLOAD_HAS_SEQUENCES

/* Transactions of writes and reads of registers: what runs rw-register runs all of these. */
enum {
    RIG_WORKLOADS_OF_REGISTERS = 1 << RIG_WORKLOAD_RW_REGISTER | 1 << RIG_WORKLOAD_LONG_FORK |
                                 1 << RIG_WORKLOAD_MONOTONIC | 1 << RIG_WORKLOAD_UNIQUE_IDS |
                                 1 << RIG_WORKLOAD_DIRTY_READS | 1 << RIG_WORKLOAD_SEQUENTIAL |
                                 1 << RIG_WORKLOAD_MULTI_KEY,
};

static inline bool rig_workload_has_sequences(enum rig_workload workload)
{
    return (RIG_WORKLOADS_OF_SEQUENCES >> (unsigned)workload & 1) != 0;
}

/* A client's knowledge of a transaction's fate. When in doubt: info. */
enum rig_outcome {
    RIG_OUTCOME_OK,   /* the database acknowledged the commit */
    RIG_OUTCOME_FAIL, /* it is certain that it did not commit and never will */
    RIG_OUTCOME_INFO, /* anything else */
};

/* The error of a transaction that was rolled back because the load wanted that: this code, alone or before ": text". */
#define RIG_ROLLED_BACK_CODE "rolled-back-on-purpose"
#define RIG_ROLLED_BACK_TEXT "rolled back on purpose, in place of COMMIT"

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

/*
 * Side columns: facts about a transaction other than its operations and results.
 *
 * X(name, name in files, what its values are, what a record expects, what it tells)
 *
 * A value is an int64 above INT64_MIN; of a column of names it is the number that a table gave the name. Records expect
 *   LAST     what the client's last transaction had: what seldom changes between them costs nothing;
 *   NOTHING  that the transaction has none;
 *   NEXT     none either, and store the difference to the value recorded last: for numbers that ascend;
 * and never hold a DERIVED column, which is counted from the history itself.
 * The numbers are part of the file format and of the driver ABI: entries are only ever appended.
 */
#define RIG_COLUMN_TABLE(X)                                                                                            \
    X(RIG_COLUMN_NODE, "node", NAME, LAST, "node that answered")                                                       \
    X(RIG_COLUMN_BACKEND, "backend", NUMBER, LAST, "number of the server's process or connection that answered")       \
    X(RIG_COLUMN_MEMBER, "member", NAME, LAST, "the answering node's own name for itself")                             \
    X(RIG_COLUMN_ORDER, "order", NUMBER, NEXT, "place in the database's own order, from 1")                            \
    X(RIG_COLUMN_HELD, "held", NUMBER, NOTHING, "how long the client held the transaction open, in ns")                \
    X(RIG_COLUMN_HELD_BEFORE, "held-before", NUMBER, NOTHING, "operation before which it was held, from 0")            \
    X(RIG_COLUMN_MEANWHILE, "meanwhile", NUMBER, DERIVED, "transactions that committed while this one was open")       \
    X(RIG_COLUMN_SAVEPOINT, "savepoint", NUMBER, NOTHING,                                                              \
      "of the part that the process's next transaction rolled back: that one's operations before the savepoint")       \
    X(RIG_COLUMN_VIEW, "view", NUMBER, NEXT, "number of what the database showed to the transaction, from 1")          \
    X(RIG_COLUMN_START_TS, "start-ts", NUMBER, NEXT, "the database's timestamp of the snapshot that it read")          \
    X(RIG_COLUMN_COMMIT_TS, "commit-ts", NUMBER, NEXT, "the database's timestamp of its commit")                       \
    X(RIG_COLUMN_TIMES, "times", SPANS, NOTHING, "start and end of each operation, in ns after the invocation")        \
    X(RIG_COLUMN_LEVEL, "level", NAME, LAST, "isolation level that the transaction asked for, of several in one load")

enum rig_column {
#define RIG_COLUMN_ENUM(name, text, type, expected, help) name,
    RIG_COLUMN_TABLE(RIG_COLUMN_ENUM)
#undef RIG_COLUMN_ENUM
        RIG_COLUMN_COUNT
};

enum {
    RIG_COLUMN_ROOM = 16,        /* columns that a row has room for, so that new ones do not change its size */
    RIG_COLUMN_NAME_BYTES = 128, /* bytes of a name from a driver, with its NUL */
};

#define RIG_COLUMN_BIT(column) (UINT32_C(1) << (column))
#define RIG_COLUMN_NONE        INT64_MIN /* in place of a value: the transaction has none */

/* The columns of one transaction. */
struct rig_column_row {
    uint32_t given; /* RIG_COLUMN_BIT()s of those in `at` that count */
    int64_t at[RIG_COLUMN_ROOM];
};

static inline void rig_column_give(struct rig_column_row *row, enum rig_column column, int64_t value)
{
    row->at[column] = value;
    row->given |= RIG_COLUMN_BIT(column);
}

/* The result of one micro-operation, parallel to the operations. */
struct rig_read {
    enum rig_read_state state;
    uint32_t count;       /* elements of a list, a set, rows or records; two a row or record */
    size_t first_element; /* index into the transaction's elements */
    int64_t value;        /* where the result is one number */
};

#endif
