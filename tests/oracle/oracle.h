/*
 * The oracle: whether any execution at an isolation level explains the clients' reads, by trying all executions.
 *
 * Three definitions, kept apart from each other and from everything in checker/:
 *
 * - By execution (oracle_executes): the committed transactions are all that are ok and any subset of those that are
 *   info. Serializable: some total order of them, executed on lists, returns every known read. Snapshot isolation
 *   (Berenson et al. 1995, section 4.2): some commit order, and for each transaction a snapshot, a prefix of that order
 *   before its commit, such that its reads see the snapshot and its own appends, and no transaction that commits
 *   between its snapshot and its commit appends to a key that it appends to.
 * - By graph (oracle_explains): some order of the appends to each key of which every known read is a prefix, without
 *   the phenomena that Adya, Liskov & O'Neil 2000 (PL-2, PL-3) or the characterisation of Cerone & Gotsman 2018,
 *   theorem 4.4 (snapshot isolation: every cycle has two adjacent anti-dependencies) forbid.
 *
 * For serializability and snapshot isolation both must agree on every history; read committed has the second only. At
 * read committed a transaction that does not see its own appends, or sees a key change between two reads, breaks
 * nothing: PL-2 forbids G0 and G1 alone.
 *
 * Read uncommitted (PL-1: no G0) allows dirty reads: elements of transactions that did not commit are removed from
 * reads, and an info transaction that was read may still have aborted. The rest must be a prefix of the version order.
 *
 * All definitions share this: a value that no transaction wrote, an element twice, and two reads neither of which is a
 * prefix of the other have no explanation at any of these levels, since a list grows only by appends at its end.
 *
 * Cost: factorial in the transactions, up to about 8; with the first two shortcuts polynomial, up to SMALL_TXNS.
 */
#ifndef RIG_TESTS_ORACLE_ORACLE_H
#define RIG_TESTS_ORACLE_ORACLE_H

#include <stdint.h>

#include "tests/oracle/small_history.h"

enum oracle_base {
    ORACLE_READ_COMMITTED,
    ORACLE_SNAPSHOT_ISOLATION,
    ORACLE_SERIALIZABLE,
    ORACLE_READ_UNCOMMITTED,
    ORACLE_BASES
};
/*
 * The order that is also respected: none, each process's order, or the order of completion before invocation. An info
 * transaction comes before nothing, since it may take effect later. Without invocations a process's transactions follow
 * each other as they complete, and there is no other order.
 */
enum oracle_order { ORACLE_PLAIN, ORACLE_SESSION, ORACLE_REALTIME, ORACLE_ORDERS };

struct oracle_level {
    enum oracle_base base;
    enum oracle_order order;
};

/* Restrictions of oracle_explains() to the cases that a checker's shortcuts examine; a shortcut loses nothing where the
 * answer stays the same. */
enum oracle_shortcut {
    /* an info transaction is committed exactly when a committed read shows one of its appends */
    ORACLE_OBSERVED_INFOS = 1,
    /* appends that no read shows follow the last one shown and are not ordered among themselves */
    ORACLE_UNOBSERVED_UNORDERED = 2,
    /* in addition: of two such appends to one key, the writer that leads to the other by a path without two adjacent
       anti-dependencies is the first, since the other way round snapshot isolation would be broken */
    ORACLE_UNOBSERVED_FORCED = 4,
};

/* By execution; `level.base` is ORACLE_SNAPSHOT_ISOLATION or ORACLE_SERIALIZABLE. */
bool oracle_executes(const struct small_history *history, struct oracle_level level);
/* By graph; `shortcuts` are bits, 0 for the definition itself. */
bool oracle_explains(const struct small_history *history, struct oracle_level level, unsigned shortcuts);

/* Shared by both: bit b of before[a] says that `a` must come before `b`. */
void oracle_order_before(const struct small_history *history, enum oracle_order order, uint64_t before[SMALL_TXNS]);
/* Bits of the ok transactions, of the info transactions, and of the info ones that ORACLE_OBSERVED_INFOS counts. */
uint64_t oracle_outcome_mask(const struct small_history *history, enum small_outcome outcome);
uint64_t oracle_observed_infos(const struct small_history *history);

#endif
