/*
 * A small history of lists, or of registers, as the oracle reads it: fixed arrays, raw micro-operations, nothing
 * resolved.
 *
 * Shares no type and no code with history/ or checker/, so that a mistake there cannot be repeated here.
 *
 * The notation of tests, one transaction a line (or separated by ';'):
 *
 *     ok 0 1-4: ax1 rx[1 2] ry? rz[]
 *
 * outcome (ok, fail, info), process, positions of the invocation and the completion, joined by '-' (no second one: no
 * completion came), then the operations: `ax1` appends 1 to key x, `rx[1 2]` reads, `ry?` is a read with an unknown
 * result. Keys are w, x, y, z.
 */
#ifndef RIG_TESTS_ORACLE_SMALL_HISTORY_H
#define RIG_TESTS_ORACLE_SMALL_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { SMALL_TXNS = 40, SMALL_OPS = 6, SMALL_LIST = 60, SMALL_KEYS = 4, SMALL_NEVER = -1 };

enum small_outcome { SMALL_OK, SMALL_FAIL, SMALL_INFO };

struct small_op {
    bool append;
    bool known; /* for a read: a result came back */
    int key;    /* 0 .. SMALL_KEYS-1 */
    int value;  /* appended */
    int count;  /* for a read: elements */
    int list[SMALL_LIST];
    bool has_row; /* for a read of the initial state: small_name_initial() made it of a value, so the key had a row */
};

struct small_txn {
    enum small_outcome outcome;
    int process;
    /* positions in one sequence; complete_at is SMALL_NEVER when no completion came; invoke_at is SMALL_NEVER in a
     * history of completions only, where every transaction has a completion */
    int invoke_at, complete_at;
    int op_count;
    struct small_op ops[SMALL_OPS];
};

struct small_history {
    int txn_count;
    bool registers; /* an "append" writes a register, a read shows the one value in `list`, or the initial state */
    int same_times; /* this many events in a row have the same time; 0: one */
    struct small_txn txns[SMALL_TXNS];
};

/* False on a text that is not in the notation; `history` is then unspecified. */
bool small_parse(const char *text, struct small_history *history);
/* As JSON lines in the Jepsen/Elle field names, in the order of the positions. */
void small_print_json(const struct small_history *history, FILE *out);
/* In the notation, one transaction a line, each line behind `indent`. */
void small_print(const struct small_history *history, const char *indent, FILE *out);

/* Registers: the result of a null read outside acknowledged transactions becomes unknown, as it is in the JSON lines.
 * */
void small_forget_nulls(struct small_history *history);

/*
 * Registers: a key that no committed read shows as nil begins with the value that no transaction wrote and that a
 * committed read shows: of an ok transaction, else of an info one with a write that a committed one read; the first
 * completed. Reads of this value become reads of the initial state, which has a row.
 */
void small_name_initial(struct small_history *history);

/* The transaction that appended `value` to `key`, and the operation; -1 when there is none. */
int small_writer(const struct small_history *history, int key, int value, int *op);
/* The number of `txn`'s appends to `key` before operation `op` (op_count: all of them). */
int small_appends_before(const struct small_txn *txn, int key, int op);

#endif
