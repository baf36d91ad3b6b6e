/*
 * The second oracle, of levels: for which isolation levels some execution explains what the clients saw.
 *
 * An execution is a set of committed transactions (all that are ok, none that failed, any of those that are info) in
 * one total order AR (arbitration). The versions of each key follow their writers in this order; a transaction's
 * version is that of its last write to the key. All sets and all orders are tried. Each level has these conditions on
 * an execution:
 *
 * RU        PL-1, Adya's thesis 4.1 (no G0). AR exists for version orders without a cycle of ww; reads say only what is
 *           below under "lists".
 * RC        PL-2, 4.2 (no G1): committed values only, each its writer's last (or the reader's own, written before), and
 *           its writer before the reader in AR.
 * CS        PL-CS, 4.4 (no G-cursor(x)): RC, and a transaction that read a version of a key and wrote the key wrote the
 *           next version.
 * ML        PL-2L, 4.2.1 (no G-monotonic): RC, and a later read (or a read after a write) misses nothing that the
 *           writer seen earlier depends on over ww and wr.
 * MAV       Bailis et al. 2014, 5.1.2: RC, and a later read misses nothing that a writer seen earlier wrote.
 * CV        PL-2+, 4.2.2 (no G-single): RC, and no read misses what its transaction depends on over ww and wr. PL-FCV,
 *           4.2.4, adds only start dependencies, in an order of starts and commits that no client sees; with all
 *           transactions concurrent there are none, so an execution at PL-2+ is one at PL-FCV.
 * MSR       PL-MSR, 4.2.3: RC, and each operation has a snapshot, a prefix of AR that ends before its transaction. The
 *           snapshots of a transaction's operations ascend; a read returns the last version in its snapshot (the
 *           transaction's own, where it is that); the snapshot of a write contains the earlier versions of its key.
 *
 * RR        PL-2.99, 4.4 (no G1, no G2-item) with Int: no transaction missed anything that comes before it, by a read
 *           that found a row.
 *
 * A read of nil, or of an empty list, found no row of its key. In Adya's model (3.1.2) a transaction reads no version
 * of an object that is not there; that the row is missing is known from a predicate, and an insertion of the row
 * overwrites that predicate read. G2-item and G-cursor have no such edges, so at RR and CS these reads bind only by
 * what the transaction wrote itself (it must find its own row). All other levels are about both kinds. With
 * EXECUTION_PREFILLED there is a row.
 *
 * PL3U      4.3 (no G-update): RC, and the update transactions with any one other have no cycle.
 *
 * SER       PL-3, 4.4: the committed transactions, executed one after the other in AR, return all known reads.
 *
 * RA, CC, UA, PREFIX, PSI and SI follow Cerone, Bernardi & Gotsman 2015, section 3. Each transaction has the set VIS of
 * those it sees, inside AR, the least set that the level's axioms allow: those it read from; for UA, PSI and SI those
 * before it in AR that wrote a key it writes (NoConflict); for CC and PSI closed under VIS (TransVis), for PREFIX and
 * SI under AR (Prefix). Then Int: a read after an operation on the same key agrees with it; and Ext: another read
 * returns the last version in AR that is in VIS.
 *
 * Session and strong forms (Daudjee & Salem 2004, 2006; Cerone & Gotsman 2018, 2; Biswas & Enea 2019, 2.2): AR, and VIS
 * where there is one, contains the order of each process, or that of real time. A transaction has met what the order
 * puts before it before its first operation (MAV, ML, MSR), and depends on it (ML, CV, PL3U): A before B when A is ok
 * and completed before B was invoked. An info transaction has no end: it follows the earlier transactions of its
 * process, and precedes nothing. Without invocations a process is still sequential: its ok completions precede its
 * later transactions. Nothing else has real time.
 *
 * Lists. An append extends the existing list, so a version's list holds the appends of its predecessors and its own
 * (traceability, Kingsbury & Alvaro 2020, 4.2): RC and above require each read to be such a list. A list that ends with
 * the reader's own appends is a read of the version that these extend; of the initial state it is none. At RU a read
 * may be dirty, and so proves less: the elements of committed transactions that it shows are a prefix of the key's
 * list. Each append counts by itself: two of one transaction with another's between them are a write cycle, as in
 * Kingsbury & Alvaro (in Adya's definition, where only last writes are versions, they are none). Where the reads of a
 * key contradict each other, or show a later append of a transaction without an earlier one, they prove nothing at RU.
 * No committed transaction can read a value that no transaction wrote, or an element twice, at any level. The levels do
 * not restrict the reads of aborted transactions.
 *
 * Registers, with the assumptions that rig offers, which restrict version orders. wfr-keys: a transaction that reads a
 * version and then writes the key writes a later one. sequential-keys, linearizable-keys: for each key by itself the
 * operations on it have an order that keeps process order, or real time, and in which each read returns the write
 * before it; a write that was read is one of them, whatever the outcome of its transaction. Here, too, another's write
 * between two of one transaction is a write cycle.
 *
 * Cost: factorial in the transactions; up to EXECUTION_TXNS that may have committed.
 */
#ifndef RIG_TESTS_ORACLE_EXECUTIONS_H
#define RIG_TESTS_ORACLE_EXECUTIONS_H

#include "tests/oracle/small_history.h"

enum { EXECUTION_TXNS = 7 };

enum execution_kind {
    EXECUTION_RU,
    EXECUTION_RC,
    EXECUTION_CS,
    EXECUTION_ML,
    EXECUTION_MAV,
    EXECUTION_CV,
    EXECUTION_MSR,
    EXECUTION_RA,
    EXECUTION_CC,
    EXECUTION_UA,
    EXECUTION_PREFIX,
    EXECUTION_PSI,
    EXECUTION_SI,
    EXECUTION_RR,
    EXECUTION_PL3U,
    EXECUTION_SER,
    EXECUTION_KINDS
};
enum execution_order { EXECUTION_PLAIN, EXECUTION_SESSION, EXECUTION_STRONG, EXECUTION_ORDERS };
enum execution_assumption {
    EXECUTION_WFR = 1,
    EXECUTION_SEQUENTIAL = 2,
    EXECUTION_LINEARIZABLE = 4,
    EXECUTION_PREFILLED = 8, /* each key has its row from the start */
};

struct executions {
    bool exists[EXECUTION_KINDS][EXECUTION_ORDERS];
};

/* `assumptions`: bits of enum execution_assumption, of registers. At most EXECUTION_TXNS transactions that did not
 * fail. */
void executions_find(const struct small_history *history, unsigned assumptions, struct executions *executions);

/* Bit b of before[a]: `a` comes before `b` in this order. */
void executions_order(const struct small_history *history, enum execution_order order, uint32_t before[SMALL_TXNS]);

#endif
