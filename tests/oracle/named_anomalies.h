/*
 * The second oracle, of anomalies by name: those that a small history contains, by brute force.
 *
 * The committed transactions are the ok ones, and each info one with a write that a committed one read. Only these are
 * examined.
 *
 * Non-cyclic anomalies (`rig list anomalies`; Kingsbury & Alvaro 2020, 4; Adya, Liskov & O'Neil 2000, 4.4.2):
 *
 * duplicate-elements   a read shows an element twice
 * garbage-read         a read shows a value that no transaction wrote (of registers: small_name_initial() named the
 *                      values that keys began with)
 * G1a                  a read shows what a failed transaction wrote
 * G1b                  the last element that is not the reader's own is not its writer's last one to the key; of
 *                      registers: a value that its writer, another transaction, overwrote
 * future-read          a read shows what its transaction writes to the key only later (of lists)
 * internal             a read does not show what its transaction read of the key before, and what it wrote since
 * incompatible-order   two reads of a key, neither of which is a prefix of the other
 * fractured-append     a read shows an append, and not, in front of it, an earlier one of that transaction to the key
 * dirty-update         a read shows a committed transaction's element behind one of a failed transaction
 * lost-update          two transactions with the same result in their first known read of a key, which both
 *                      write afterwards
 * lost-append          an ok append, and an ok read of the key that began after the append completed and after every
 *                      read of another ok transaction that shows it; and either none of those completed after the
 *                      append, or the read shows a write that was invoked after the append completed, by a
 *                      transaction that did not fail (of lists)
 * lost-write           the rule of lost-append for the last write of a key, where a read that shows an older value
 *                      misses it, and one that shows a value that is not known to be older may show it overwritten (of
 *                      registers; older: docs/checker/registers.md, "Lost writes")
 *
 * Cycles (docs/checker/anomalies.md; Adya's thesis 4.2 to 4.4, Cerone & Gotsman 2018, Kingsbury & Alvaro 2020,
 * 5.1): every simple cycle of the graph, one edge a step, each choice of edges by itself. The edges of a graph come
 * from one version order a key; they are transitive. One of writes is G0 when all on it are ok and reads of ok
 * transactions show the order behind each edge, else G1c. Where the reads leave version orders open, there is one graph
 * for each completion, and one of what all of them share.
 */
#ifndef RIG_TESTS_ORACLE_NAMED_ANOMALIES_H
#define RIG_TESTS_ORACLE_NAMED_ANOMALIES_H

#include "tests/oracle/small_history.h"

enum named_plain {
    NAMED_DUPLICATE_ELEMENTS,
    NAMED_GARBAGE_READ,
    NAMED_G1A,
    NAMED_G1B,
    NAMED_FUTURE_READ,
    NAMED_INTERNAL,
    NAMED_INCOMPATIBLE_ORDER,
    NAMED_FRACTURED_APPEND,
    NAMED_DIRTY_UPDATE,
    NAMED_LOST_UPDATE,
    NAMED_LOST_APPEND,
    NAMED_LOST_WRITE,
    NAMED_PLAIN_COUNT
};
enum named_cycle { NAMED_G0, NAMED_G1C, NAMED_G_SINGLE, NAMED_G_NONADJACENT, NAMED_G2, NAMED_CYCLE_COUNT };
enum named_form { NAMED_AS_IT_IS, NAMED_PROCESS, NAMED_REALTIME, NAMED_SEVERAL_REALTIME, NAMED_FORM_COUNT };

/* Bit `form * NAMED_CYCLE_COUNT + cycle`: there is a cycle of this kind in this form. */
#define NAMED_BIT(cycle, form) (UINT32_C(1) << ((form)*NAMED_CYCLE_COUNT + (cycle)))

enum { NAMED_GRAPHS = 120 };

struct named_anomalies {
    bool plain[NAMED_PLAIN_COUNT];
    uint32_t shared;               /* cycles of what all version orders share */
    int graph_count;               /* of completions; 0: too many to try */
    uint32_t graphs[NAMED_GRAPHS]; /* cycles of each */
    bool contradicted;             /* reads of some key contradict each other: no version orders, and no graphs */
    bool unsettled;                /* an info transaction counts as committed */
};

void named_anomalies_find(const struct small_history *history, struct named_anomalies *found);

#endif
