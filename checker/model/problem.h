/*
 * The question that a level asks of a history, for any data type with reads of single versions: committed transactions,
 * the version that each external read returned, the writers of each key, and the known part of the versions' order.
 *
 * Nodes are numbered from 0 in the order of completion in the history. A transaction installs one version of a key,
 * with its last write. A read is external if it returns a version of another transaction, or the initial state; a read
 * of the transaction's own version is not in a problem. The reads are possible by themselves: committed final versions
 * only (no G1a, G1b, future-read, garbage-read, ...).
 *
 * A pair says that the version of `before` comes before that of `after`, of a key that both write. Lists give a pair
 * for each two adjacent versions that reads show, and one from the last of these to each unread append; assumptions
 * about registers give pairs as well. Pairs follow from each other: p < q and q < r give p < r. The initial state
 * precedes all versions without a pair.
 *
 * Filled with rig_problem_add_txn() in ascending order, each followed by its reads and writes in the order of the
 * operations; then pairs; then rig_problem_finish() makes the indexes. Arrays come from the heap.
 *
 * Space: 40 bytes a transaction, 24 a read, 20 a write, 16 a pair.
 */
#ifndef RIG_CHECKER_MODEL_PROBLEM_H
#define RIG_CHECKER_MODEL_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "checker/model/verdict.h"

#define RIG_PROBLEM_NONE    UINT32_MAX
#define RIG_PROBLEM_INITIAL UINT32_MAX /* as a writer: the initial state of the key */

struct rig_problem_txn {
    uint32_t txn;     /* in the history */
    uint32_t session; /* process, numbered densely */
    uint32_t before; /* the acknowledged transaction before it in its process, a lower node, or NONE (model/orders.h) */
    uint32_t invoked; /* position of the invocation; 0 when not recorded */
    uint32_t ended;   /* position from which it is certainly over, UINT32_MAX: never (unknown fate, completions only).
                        * Real time: a precedes b exactly if a.ended < b.invoked */
    uint32_t first_read, first_write; /* the next transaction's are the ends */
};

struct rig_problem_read {
    uint32_t op, key;
    uint32_t writer; /* node, or RIG_PROBLEM_INITIAL */
};

struct rig_problem_write {
    uint32_t key, first_op, last_op;
};

struct rig_problem_pair {
    uint32_t before, after; /* nodes */
    uint32_t key;
    enum rig_order_source source; /* what shows it, with `a` and `b` as in struct rig_step (of assumptions) */
    uint32_t a, b;
};

RIG_VEC(struct rig_problem_txn, rig_problem_txns)
RIG_VEC(struct rig_problem_read, rig_problem_reads)
RIG_VEC(struct rig_problem_write, rig_problem_writes)
RIG_VEC(struct rig_problem_pair, rig_problem_pairs)

struct rig_problem {
    struct rig_problem_txns txns;     /* one more at the end after rig_problem_finish() */
    struct rig_problem_reads reads;   /* by transaction, then operation */
    struct rig_problem_writes writes; /* by transaction, then operation; one for each key and transaction */
    struct rig_problem_pairs pairs;
    uint32_t txn_count, key_count; /* keys are those of the history that occur, numbered densely */
    uint32_t session_count;
    bool has_realtime;
    const uint8_t *through; /* supposed, per node: paths go through it although it writes nothing (solve.c). Borrowed;
                             *   NULL: through none */

    /* from rig_problem_finish() */
    uint32_t *writer_first; /* per key, and one more: into */
    uint32_t *writers;      /* nodes that write the key, ascending */
    uint32_t *writer_write; /* parallel to `writers`: their writes */
    uint32_t *reader_first; /* per write, then per key (its initial state), and one more: into */
    uint32_t *readers;      /*   reads (indexes) that returned this version */
    uint32_t *read_txn;     /* per read: its transaction */
    uint32_t *write_txn;    /* per write: its transaction */
};

void rig_problem_done(struct rig_problem *problem);

/* False when memory runs out. The keys of reads and writes are dense numbers that the caller gives. */
bool rig_problem_add_txn(struct rig_problem *problem, const struct rig_problem_txn *txn);
bool rig_problem_add_read(struct rig_problem *problem, const struct rig_problem_read *read);
/* Another write of the same key by the transaction that was added last only extends the first. */
bool rig_problem_add_write(struct rig_problem *problem, uint32_t key, uint32_t op);
bool rig_problem_add_pair(struct rig_problem *problem, const struct rig_problem_pair *pair);
bool rig_problem_finish(struct rig_problem *problem);

/* The write of `key` by `txn` (index into writes), or RIG_PROBLEM_NONE. After rig_problem_finish(). Time: the
 * logarithm of the key's writers. */
uint32_t rig_problem_write_of(const struct rig_problem *problem, uint32_t txn, uint32_t key);

static inline bool rig_problem_writes_nothing(const struct rig_problem *problem, uint32_t txn)
{
    return problem->txns.at[txn].first_write == problem->txns.at[txn + 1].first_write;
}

/* One more than the last read, or write, of the transaction. */
static inline uint32_t rig_problem_reads_end(const struct rig_problem *problem, uint32_t txn)
{
    return problem->txns.at[txn + 1].first_read;
}

static inline uint32_t rig_problem_writes_end(const struct rig_problem *problem, uint32_t txn)
{
    return problem->txns.at[txn + 1].first_write;
}

/*
 * The part of `problem` with the transactions `keep` (ascending nodes): reads from others go, pairs between two of them
 * stay. An order that explains the whole explains each part. Pairs that follow only through others are lost.
 */
bool rig_problem_part(const struct rig_problem *problem, const uint32_t *keep, uint32_t count,
                      struct rig_problem *part);

/*
 * The same with the versions of the other transactions before all versions of `keep`: a read of one of them counts as a
 * read of the initial state. An order that explains it, after one that explains the other transactions, explains the
 * whole if no edge leads from `keep` to the others.
 */
bool rig_problem_rest(const struct rig_problem *problem, const uint32_t *keep, uint32_t count,
                      struct rig_problem *rest);

#endif
