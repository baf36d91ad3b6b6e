/*
 * The content of a history that a solver-based checker reads: transactions of registers in the order of their sessions.
 *
 * Decoders of such forms add keys, transactions and operations here; history/import/session_reader.h gives the result
 * as segments. These forms have no times and no order between sessions. A session is a process.
 *
 * Operations may be added to any transaction, in the order of the transaction; rig_sessions_finish() groups them.
 *
 * Space: 16 bytes an operation, 4 more until it is finished; 12 a transaction; about 56 a key. Time: linear.
 * Threads: one at a time.
 */
#ifndef RIG_HISTORY_IMPORT_REGISTER_SESSIONS_H
#define RIG_HISTORY_IMPORT_REGISTER_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "base/vec.h"
#include "history/model/history.h"
#include "history/model/segment.h"

struct rig_session_op {
    int64_t value;
    uint32_t key; /* a number that rig_sessions_number_key() or rig_sessions_text_key() gave */
    uint8_t is_read;
    uint8_t read_state; /* enum rig_read_state */
};

struct rig_session_txn {
    uint32_t first_op; /* once it is finished; the last entry marks the end of the operations */
    int32_t process;
    uint8_t outcome; /* enum rig_outcome */
};

struct rig_session_key {
    int64_t number;
    const char *text; /* borrowed; NULL: the key is a number */
    uint32_t text_length;
    bool has_zero;    /* a transaction that did not fail writes 0; once they are finished */
    bool has_removal; /* it was deleted: see rig_sessions_remove() */
};

RIG_VEC(struct rig_session_op, rig_session_ops)
RIG_VEC(struct rig_session_txn, rig_session_txns)
RIG_VEC(struct rig_session_key, rig_session_keys)
RIG_VEC(uint32_t, rig_session_owners)

struct rig_sessions {
    struct rig_session_txns txns;
    struct rig_session_ops ops;
    struct rig_session_keys keys;
    struct rig_session_owners owners; /* parallel to ops until it is finished: their transactions */
    struct rig_table key_ids;
    size_t limit_bytes;
    size_t beside_bytes; /* memory of the decoder that counts, too: of its tables, and what it adds itself */
    uint32_t removal_count;
    bool scattered;  /* an operation was added to an earlier transaction */
    bool any_absent; /* a read may have found no row of its key, or a transaction deleted one */
    bool no_memory;  /* set instead of adding, also beyond `limit_bytes` */
};

/* `limit_bytes` 0: no limit. */
void rig_sessions_init(struct rig_sessions *sessions, size_t limit_bytes);
void rig_sessions_done(struct rig_sessions *sessions);

/* rig_table_put() for a table of the decoder, within the limit; NULL when memory runs out, as `no_memory` says. */
uint32_t *rig_sessions_put(struct rig_sessions *sessions, struct rig_table *table, uint64_t key);
/* Frees such a table. */
void rig_sessions_drop(struct rig_sessions *sessions, struct rig_table *table);

/* The key's number, new or known; 0 when memory runs out. A history's keys are all numbers, or all texts. */
uint32_t rig_sessions_number_key(struct rig_sessions *sessions, int64_t number);
/* The text is borrowed until the sessions are done. */
uint32_t rig_sessions_text_key(struct rig_sessions *sessions, const char *text, uint32_t length);

/* A further transaction of the process, and its number; 0 when memory runs out. */
uint32_t rig_sessions_begin(struct rig_sessions *sessions, int32_t process, enum rig_outcome outcome);
/* The transaction did not commit, as it turned out after its operations were added. */
void rig_sessions_abort(struct rig_sessions *sessions, uint32_t txn);
void rig_sessions_write(struct rig_sessions *sessions, uint32_t txn, uint32_t key, int64_t value);
/* A read whose result is not known says nothing: it is left out of a transaction that committed. One of nothing may
 * have found no row. */
void rig_sessions_read(struct rig_sessions *sessions, uint32_t txn, uint32_t key, enum rig_read_state state,
                       int64_t value);
/* A read of the value that the key had before the first transaction. */
void rig_sessions_read_initial(struct rig_sessions *sessions, uint32_t txn, uint32_t key);
/*
 * The transaction deletes the key. Registers have no deletion, so this is a write of a value that no read returns; a
 * read that found the key absent may have met the initial state or the deletion, and is left out.
 */
void rig_sessions_remove(struct rig_sessions *sessions, uint32_t txn, uint32_t key);

/* Groups the operations and settles the reads. `zero_is_initial`: a read of 0 returned the initial state, unless a
 * transaction writes 0 to this key. False when memory runs out. */
bool rig_sessions_finish(struct rig_sessions *sessions, bool zero_is_initial);

/* Adds the transactions [first, end) to an empty segment; they complete in this order. False when memory runs out.
 * `places` has an entry of UINT32_MAX for each key, and gets it back. */
bool rig_sessions_give(const struct rig_sessions *sessions, uint32_t first, uint32_t end, uint32_t *places,
                       struct rig_segment *segment);

/* The workload of all such histories. */
enum rig_workload rig_sessions_workload(void);

/*
 * The common part of the writers of solver-based checkers' forms: which of a history's transactions and results such a
 * form can hold.
 *
 * These forms know committed and aborted transactions, and not those of unknown outcome. Such a transaction committed
 * if a committed one read its value; otherwise nothing depends on whether it did, and it is left out. A read whose
 * result is not known has no value. Times are lost.
 *
 * Time: O(n log n) for the values read, if a transaction did not commit; else linear. Threads: one at a time.
 */

struct rig_session_seen {
    int64_t value;
    uint32_t key;
};

RIG_VEC(struct rig_session_seen, rig_session_seens)

struct rig_session_export {
    const struct rig_history *history;
    bool numbers_keys;
    struct rig_session_seens seen; /* values that committed transactions read, in order; if some did not commit */
};

enum rig_session_fate { RIG_SESSION_COMMITTED, RIG_SESSION_ABORTED, RIG_SESSION_LEFT_OUT };

/* Borrows the history. `is_text`: the form writes numbers without a sign. RIG_E_INPUT for a history that such a form
 * cannot hold; `name` for errors. To be done in any case. */
enum rig_rc rig_session_export_init(struct rig_session_export *export, const struct rig_history *history, bool is_text,
                                    const char *name, struct rig_err *err);
void rig_session_export_done(struct rig_session_export *export);

enum rig_session_fate rig_session_export_fate(const struct rig_session_export *export, uint32_t txn);
/* Whether a committed transaction read what the operation wrote; only if a transaction did not commit. */
bool rig_session_export_observed(const struct rig_session_export *export, const struct rig_txn_op *op);
/* Keys that are texts are numbered, and in a text all keys where one is negative. */
int64_t rig_session_export_key(const struct rig_session_export *export, uint32_t key);

/* Whether the operation writes, or has a result. */
static inline bool rig_session_export_has(const struct rig_txn_op *op)
{
    return !rig_op_reads(op->kind) || op->read_state != RIG_READ_UNKNOWN;
}

/* The initial state is 0, and so is a result that is not known. */
static inline int64_t rig_session_export_value(const struct rig_txn_op *op)
{
    return rig_op_reads(op->kind) && op->read_state != RIG_READ_SEEN ? 0 : op->value;
}

#endif
