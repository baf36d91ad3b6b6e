/*
 * A whole history in memory, as the checker reads it: immutable once built, compact, addressed by 32-bit ids.
 *
 * Transactions are numbered densely in completion order: those with a completion event by its position, then those
 * without any (in flight at the end) by invocation. Operations, keys and lists are plain arrays. A list read is a
 * reference to a prefix of its key's spine (the longest list seen when it was added) or, where it is no prefix, to a
 * prefix of a branch: a list that shares its first elements with the spine and then differs. So n reads of a list that
 * grows to length n take O(n) space, not O(n^2), and a read that contradicts them takes its difference. Reads of failed
 * transactions are prefixes of a spine or of a branch: a spine never grows by them.
 *
 * Positions order events: position p < q says that event p happened before event q. Invocations and completions share
 * one sequence, taken from the histories' own indices where these ascend. A transaction whose outcome is info never
 * completes in the real-time order, whatever its completion position (see rig_txn_end()).
 *
 * Space: 40 bytes a transaction, 16 an operation, 8 an element.
 * Threads: building is for one thread; a built history may be read by many.
 */
#ifndef RIG_HISTORY_MODEL_HISTORY_H
#define RIG_HISTORY_MODEL_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "history/merge/rank_facts.h"
#include "history/model/certificate.h"
#include "history/model/columns.h"
#include "history/model/fault_event.h"
#include "history/model/transaction.h"

#define RIG_POSITION_NONE UINT32_MAX
#define RIG_NO_TIME       INT64_MIN
#define RIG_LIST_BRANCH   0x80000000u /* in rig_txn_op.list; keys and branches stay below it */

struct rig_op_summary;
struct rig_specification;

struct rig_txn {
    int64_t invoke_ns;    /* RIG_NO_TIME when the history has no times */
    int64_t complete_ns;  /* RIG_NO_TIME without a completion event */
    uint32_t invoke_at;   /* position of the invocation; RIG_POSITION_NONE when not recorded (completions only) */
    uint32_t complete_at; /* position of the completion event; RIG_POSITION_NONE when there was none */
    uint32_t first_op;    /* into ops; the end is the next transaction's first_op */
    int32_t process;
    uint32_t error;  /* 0: none, else into the error table */
    uint8_t outcome; /* enum rig_outcome */
    uint8_t
        settled; /* enum rig_settled (history/model/window_view.h); 0 in a history that is not the view of a window */
};

/* One micro-operation with its result. */
struct rig_txn_op {
    uint32_t key;       /* dense key id */
    uint8_t kind;       /* enum rig_op_kind */
    uint8_t read_state; /* enum rig_read_state */
    uint16_t owner;     /* lower bits of the transaction's number, if the segment is `owned` */
    union {
        int64_t value; /* written, added, increment; or the register or counter that was read */
        struct {
            uint32_t list;  /* RIG_LIST_BRANCH | n: prefix of branch n; lower: of the key's spine */
            uint32_t count; /* elements read */
        };
    };
};

struct rig_list {
    const int64_t *at;
    uint32_t count;
};

/* A list that leaves its key's spine, or continues it with elements that the spine must not have. */
struct rig_branch {
    const int64_t *tail; /* its elements from `shared` on */
    uint32_t key;
    uint32_t shared; /* elements that it shares with the spine; at most those that the spine has */
    uint32_t count;  /* elements in all */
};

/* A list that was read, from rig_txn_op_list(). rig_read_element() gives its elements; history/model/read_list.h has
 * more. */
struct rig_read_list {
    const int64_t *at;   /* the first `shared` elements */
    const int64_t *tail; /* the others */
    uint32_t shared;     /* at most `count` */
    uint32_t count;
};

#define RIG_PLACE_NONE UINT32_MAX
#define RIG_PLACE_LOST (UINT32_MAX - 1) /* of a read: no answer came; the rows are those that a commit changed */

/*
 * A certificate with snapshots adds to a history the place of each commit in the order in which snapshots show
 * them, and for each read the number of commits that it saw, which are those with lesser places. RIG_PLACE_NONE: not
 * known, or the transaction wrote nothing.
 */
struct rig_row_chains;
struct rig_read_places {
    const uint32_t *of_txn;            /* per transaction */
    const uint32_t *seen;              /* per operation, as `ops` */
    const struct rig_row_chains *rows; /* the checker's index of this history's rows; NULL: it is to be made */
};

struct rig_history {
    struct rig_txn *txns; /* txn_count + 1 entries: the last one marks the end of the operations */
    uint32_t txn_count;
    struct rig_txn_op *ops;
    uint32_t op_count;
    struct rig_list *spines; /* one a key */
    const uint8_t
        *had_rows; /* per key of a window: its lists begin after elements that were judged before and cut off, so
                                  * no read of it finds it without a row; NULL: there is no such key */
    uint32_t key_count;
    struct rig_branch *branches;
    uint32_t branch_count;
    int64_t *keys;                         /* key id -> the key as written; for text keys an index into key_texts */
    char **key_texts;                      /* NULL unless keys are texts */
    bool keyword_keys;                     /* texts were EDN keywords, and are written as such */
    bool value_keys;                       /* texts are values (history/model/value_texts.h), and are written as such */
    const struct rig_row_names *row_names; /* keys are rows of tables (history/types/row_names.h); NULL: they are not */
    const struct rig_specification *specification; /* of the objects of a model; borrowed; NULL: it is not known */
    char **errors;                                 /* error id - 1 -> "code: text" */
    uint32_t error_count;
    const struct rig_columns *columns; /* side columns of the transactions; NULL: none has any */

    const struct rig_op_summary *summary; /* of a window's view (history/model/window_view.h), or NULL; borrowed */

    enum rig_workload workload;
    bool has_invocations; /* false for completions-only histories: no real-time order beyond that of completions */
    bool in_turn;   /* each process ran its transactions one after the other, in the order of their completions; where
                               their positions overlap, the clocks of a run over several ranks are not known better */
    bool sorted;    /* its operations were in another order than their indices; see rig_source_mend() */
    bool truncated; /* the record was cut or damaged; the history is complete up to there */
    uint64_t damaged_at;    /* offset of the damage; 0: none */
    uint64_t damaged_bytes; /* bytes from there on, which are missing */
    uint64_t damaged_txns;  /* at least this many completed transactions among them; 0: unknown */
    uint64_t skipped_count; /* operations of nemeses and other non-clients, left out */
    uint64_t lost_count;    /* operations that may have read or written, and were left out: transactions of a process
                             * that names no client, and what clients did that is no transaction */
    uint64_t reused_count;  /* invocations of processes whose earlier one was open: that one is of unknown fate */
    bool reads_at_once;     /* one operation of the file may have shown several reads: their order is not known */
    bool has_all_rows;      /* the file names the value that keys had before the first transaction */
    const struct rig_fault_event *faults; /* events of a nemesis, by position; an excerpt has none */
    uint32_t fault_count;
    struct rig_rank rank; /* of a record of a run over several ranks; else its count is 0 */
    const struct rig_clock_sample *clock;
    size_t clock_count;
    const struct rig_certificate
        *certificate;                     /* what the database itself says (history/model/certificate.h); or NULL */
    const struct rig_read_places *places; /* by the certificate, where it decides; or NULL; borrowed */
    int64_t start_utc_ns; /* the wall clock, ns since 1970, when times were 0; 0: unknown, or the times are simulated */
    bool is_shared;       /* its arrays belong to another history */
    bool is_excerpt;      /* some transactions of a longer history, with times that count from its `zero_ns` */
    int64_t zero_ns;
    char *meta;    /* the run's metadata (resolved plan as text) or NULL */
    void *storage; /* owned; freed by rig_history_free() */
};

void rig_history_free(struct rig_history *history);
/* The same history with fields of its own: the arrays belong to the other one, outlive it, and must not be changed.
 * NULL when memory runs out. */
struct rig_history *rig_history_share(const struct rig_history *history);
/* Moves the side columns of the transactions from `at` on `count` places up, where transactions without any are
 * inserted. False when memory runs out. */
bool rig_history_insert_columns(struct rig_history *history, uint32_t at, uint32_t count);

static inline uint32_t rig_txn_op_count(const struct rig_history *history, uint32_t txn)
{
    return history->txns[txn + 1].first_op - history->txns[txn].first_op;
}

static inline const struct rig_txn_op *rig_txn_ops(const struct rig_history *history, uint32_t txn)
{
    return history->ops + history->txns[txn].first_op;
}

/* The transaction of an operation; txn_count for op_count. Logarithmic. */
uint32_t rig_history_txn_of(const struct rig_history *history, uint32_t op);

/* For a list that was read: whether it is a branch, not a prefix of its key's spine. */
static inline bool rig_txn_op_is_branch(const struct rig_txn_op *op)
{
    return (op->list & RIG_LIST_BRANCH) != 0;
}

/* The number of that branch. */
static inline uint32_t rig_txn_op_branch(const struct rig_txn_op *op)
{
    return op->list & ~RIG_LIST_BRANCH;
}

/* The first `count` elements of a contiguous list. */
static inline struct rig_read_list rig_read_of(struct rig_list list, uint32_t count)
{
    return (struct rig_read_list){.at = list.at, .shared = count, .count = count};
}

/* The first `count` elements of branch n. */
static inline struct rig_read_list rig_read_of_branch(const struct rig_history *history, uint32_t n, uint32_t count)
{
    const struct rig_branch *branch = &history->branches[n];
    return (struct rig_read_list){.at = history->spines[branch->key].at,
                                  .tail = branch->tail,
                                  .shared = count < branch->shared ? count : branch->shared,
                                  .count = count};
}

/* The elements that a list read returned; empty when nothing or the initial state was read. */
static inline struct rig_read_list rig_txn_op_list(const struct rig_history *history, const struct rig_txn_op *op)
{
    if (op->read_state != RIG_READ_SEEN)
        return (struct rig_read_list){0};
    return rig_txn_op_is_branch(op) ? rig_read_of_branch(history, rig_txn_op_branch(op), op->count)
                                    : rig_read_of(history->spines[op->key], op->count);
}

/* Element i, which must be below the list's count. */
static inline int64_t rig_read_element(const struct rig_read_list *list, uint32_t i)
{
    return i < list->shared ? list->at[i] : list->tail[i - list->shared];
}

/* The time of the first invocation, the zero of all times shown; 0 without times. Only the first transactions that
 * completed are searched. */
enum { RIG_ZERO_TXNS = 4096 };
int64_t rig_history_zero_ns(const struct rig_history *history);

/* The number that reports use for a transaction: the position of its completion, or of its invocation if it has none.
 * */
static inline uint32_t rig_txn_name(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn *t = &history->txns[txn];
    return t->complete_at != RIG_POSITION_NONE ? t->complete_at : t->invoke_at;
}

/* Where the transaction ends in the real-time order: RIG_POSITION_NONE (never) unless it is ok or fail. */
static inline uint32_t rig_txn_end(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn *t = &history->txns[txn];
    return t->outcome == RIG_OUTCOME_INFO ? RIG_POSITION_NONE : t->complete_at;
}

/* The value of a side column, or RIG_COLUMN_NONE. */
int64_t rig_history_column(const struct rig_history *history, uint32_t txn, enum rig_column column);
/* The same for a column of names, or NULL. */
const char *rig_history_column_name(const struct rig_history *history, uint32_t txn, enum rig_column column);
/* Whether the transaction was rolled back because its client wanted that, and not because of an error. */
bool rig_txn_is_rolled_back(const struct rig_history *history, uint32_t txn);

/* Start and end of the transaction's first operations, in ns after its invocation, as the client waited for each
 * answer; count 0: not known. */
struct rig_spans rig_history_times(const struct rig_history *history, uint32_t txn);

/* Writes the key as the history names it into `text` (at least 24 bytes; truncated to fit). */
void rig_history_key_text(const struct rig_history *history, uint32_t key, char *text, size_t size);
/* The same for people: the row, where keys are rows of tables. */
void rig_history_key_name(const struct rig_history *history, uint32_t key, char *text, size_t size);

#endif
