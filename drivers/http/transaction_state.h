/*
 * The known state of the keys of one transaction while it runs: the values from answers, and the effect of its own
 * operations.
 *
 * A key's value from an answer is that before the transaction. Reads are answered from it, with the transaction's own
 * earlier writes applied; the value after the transaction has all of its writes applied.
 *
 * Memory: the arena, reset by the session before each transaction. Time: O(operations * keys) to begin, O(operations +
 * elements) to answer. Threads: the session's.
 */
#ifndef RIG_DRIVERS_HTTP_TRANSACTION_STATE_H
#define RIG_DRIVERS_HTTP_TRANSACTION_STATE_H

#include "drivers/http/dialect.h"

enum rig_value_kind { RIG_IS_NOTHING, RIG_IS_TEXT, RIG_IS_INTEGER, RIG_IS_LIST, RIG_IS_UNKNOWN };

/* A value in a template or from an answer. UNKNOWN, in a dry run: the text names the missing value. */
struct rig_value {
    enum rig_value_kind kind;
    const char *text;
    size_t size;
    int64_t integer;
    const int64_t *list;
    size_t count;
};

struct rig_key_state {
    int64_t key;
    bool read; /* before the transaction writes it */
    bool written;
    bool told; /* an answer stated whether it exists, and its value */
    bool exists;
    struct rig_value value; /* INTEGER or LIST, when it exists */
    struct rig_value version;
};

struct rig_transaction_state {
    const struct rig_core *core;
    struct rig_arena *arena;
    struct rig_transaction *transaction;
    struct rig_accounts accounts; /* of a bank: keys that do not exist have their balance. The caller's to fill in */
    struct rig_key_state *keys;
    uint32_t key_count;
    uint32_t *key_of_op;
    uint32_t *reads, *writes; /* indices of keys */
    uint32_t read_count, write_count;
    bool *answered; /* by operation: its read was answered by itself */
    struct rig_value variables[RIG_DIALECT_VARIABLES_MOST];
    int64_t order;                      /* a position in the database's own order, or 0 */
    char member[RIG_COLUMN_NAME_BYTES]; /* the last answering server's name for itself, or "" */
};

/* False when memory runs out. All arguments are borrowed. */
bool rig_state_begin(struct rig_transaction_state *state, const struct rig_core *core, struct rig_arena *arena,
                     struct rig_transaction *transaction);

uint32_t rig_state_set_size(const struct rig_transaction_state *state, enum rig_dialect_set set);
/* The key of an element of a set. */
struct rig_key_state *rig_state_key(const struct rig_transaction_state *state, enum rig_dialect_set set,
                                    uint32_t element);
/* The key's value after the transaction; UNKNOWN while it cannot be known; NOTHING out of memory. */
struct rig_value rig_state_final_value(const struct rig_transaction_state *state, const struct rig_key_state *key);
/* The value that the transaction expects the key to have; NOTHING: any. */
struct rig_value rig_state_expected(const struct rig_transaction_state *state, const struct rig_key_state *key);

/* Whether the transaction leaves no balance below 0 that may not be; true while a balance is not known. */
bool rig_state_affords(const struct rig_transaction_state *state);
/* Whether it appends to a string that can take no more (drivers/driver.h). */
bool rig_state_is_full(const struct rig_transaction_state *state);

/* An operation's own answer. False when the core has no memory for the list. */
bool rig_state_answer_op(struct rig_transaction_state *state, uint32_t op, bool exists, const struct rig_value *value);
/* Discards the results of operations: they came with a malformed answer. */
void rig_state_forget_answers(struct rig_transaction_state *state);

enum rig_state_result {
    RIG_STATE_ANSWERED, /* every read has its answer */
    RIG_STATE_UNTOLD,   /* a read has none: the dialect's steps do not give it */
    RIG_STATE_NO_ROOM,  /* more elements than the core accepts */
};

/* Answers the reads that have no answer of their own from the values of their keys. */
enum rig_state_result rig_state_answer_reads(struct rig_transaction_state *state);

#endif
