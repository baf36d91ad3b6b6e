/*
 * Replays the order that a proof gives for a held level: one pass over the transactions, with the versions of each key
 * in the order of their commits.
 *
 * A kind of order says where transactions read, and the levels that it proves:
 *
 *   kind        a transaction                                      proves
 *   serial      stands once: it reads and writes there             levels that forbid all cycles
 *   snapshot    stands once, or where it reads and where it        snapshot isolation (PL-SI); also no other commit of
 *               commits                                            a key that it writes comes between
 *   prefix      as snapshot                                        prefix consistency
 *   operations  stands once, or for each operation and where it    monotonic snapshot reads; no other commit of a key
 *               commits                                            comes between its first write and its commit
 *   items       as serial; reads that found no row, and what       repeatable read (PL-2.99)
 *               reads of sets miss, may show any state
 *   commits     stands where it commits; each version read was     all levels that forbid cycles with at most one rw
 *               committed before                                   edge; cycles with one are searched
 *   writes      of acknowledged transactions: where it commits     read uncommitted and its forms
 *
 * A topological order of the transactions (and of their reads) exists exactly if the edges have no cycle, which is why
 * these orders prove levels that are defined by cycles. Time: linear, except the levels of `commits` between read
 * committed and snapshot isolation, which search back from each read of a version that was overwritten; such a search
 * has a limit, and a proof beyond it is undecided. Space: 8 bytes an operation, 24 a transaction, 8 a write, 20 a key.
 */
#ifndef RIG_CHECKER_PROVE_REPLAY_H
#define RIG_CHECKER_PROVE_REPLAY_H

#include "checker/prove/facts.h"
#include "checker/prove/proved_levels.h"

enum rig_order_kind {
    RIG_ORDER_SERIAL,
    RIG_ORDER_SNAPSHOT,
    RIG_ORDER_PREFIX,
    RIG_ORDER_OPERATIONS,
    RIG_ORDER_ITEMS,
    RIG_ORDER_COMMITS,
    RIG_ORDER_WRITES,
    RIG_ORDER_KINDS
};

extern const char *const rig_order_kinds[RIG_ORDER_KINDS];

/* A read of rows that shows their number or sum did not see the commit of this transaction. */
struct rig_missed {
    uint32_t op; /* in history->ops */
    uint32_t txn;
};

struct rig_order {
    enum rig_order_kind kind;
    const uint32_t *events; /* transactions (ids) as they stand in the order */
    size_t count;
    const struct rig_missed *missed; /* by `op`; only of rows, in orders of the kinds `items` and `commits` */
    size_t missed_count;
};

/* `levels`: bits. RIG_OK: each level is proved. RIG_E_INPUT: the order does not explain the history, or proves no such
 * level. RIG_E_LIMIT: it cannot be told. */
enum rig_rc rig_replay(const struct rig_facts *facts, const struct rig_order *order, uint64_t levels,
                       struct rig_err *err);

#endif
