/*
 * The anomalies by name, with their definitions and sources. Names follow Elle (Kingsbury & Alvaro 2020), so that
 * results can be compared.
 *
 * Sources: ALO00 = Adya, Liskov & O'Neil, Generalized Isolation Level Definitions, ICDE 2000; Adya99 = Adya's thesis;
 * CBG15 = Cerone, Bernardi & Gotsman, CONCUR 2015; CG18 = Cerone & Gotsman, JACM 2018; KA20 = Kingsbury & Alvaro, Elle,
 * VLDB 2020; L79 = Lamport, How to Make a Multiprocessor Computer, IEEE ToC 1979; HW90 = Herlihy & Wing,
 * Linearizability, TOPLAS 1990; TAN20 = Tan et al., Cobra, OSDI 2020; CDWR24 = Clark, Donaldson, Wickerson & Rigger,
 * EuroSys 2024; SQL:2016 = ISO/IEC 9075-2, Integrity constraints.
 */
#ifndef RIG_CHECKER_MODEL_ANOMALY_H
#define RIG_CHECKER_MODEL_ANOMALY_H

#include <stdbool.h>
#include <stdint.h>

/* X(id, name, cyclic, definition, source); most severe first: the order in which results list them. */
#define RIG_ANOMALY_TABLE(X)                                                                                           \
    X(DUPLICATE_ELEMENTS, "duplicate-elements", false, "a read shows the same element twice", "KA20 5.2")              \
    X(GARBAGE_READ, "garbage-read", false, "a read shows a value that no transaction wrote", "KA20 4.2")               \
    X(BROKEN_UNIQUE, "broken-unique", false, "two rows have the same value in a unique column after the load",         \
      "SQL:2016")                                                                                                      \
    X(BROKEN_CHECK, "broken-check", false, "a row has values that a CHECK or NOT NULL of its table forbids",           \
      "SQL:2016")                                                                                                      \
    X(BROKEN_REFERENCE, "broken-reference", false, "a foreign key refers to no row after the load", "SQL:2016")        \
    X(IMPOSSIBLE_VALUE, "impossible-value", false, "a read of a counter shows a value to which no increments sum up",  \
      "Jepsen, counter")                                                                                               \
    X(CYCLIC_VERSIONS, "cyclic-versions", false, "the versions of a key cannot be ordered", "KA20 5.3")                \
    X(G0, "G0", true, "write cycle: a cycle of ww edges", "ALO00 4.4.1")                                               \
    X(DIRTY_UPDATE, "dirty-update", false, "a committed write builds on an aborted one", "KA20 4.3")                   \
    X(G1A, "G1a", false, "aborted read: a committed transaction read a value of an aborted transaction",               \
      "ALO00 4.4.2")                                                                                                   \
    X(G1B, "G1b", false, "intermediate read: a committed transaction read a value that its writer overwrote later",    \
      "ALO00 4.4.2")                                                                                                   \
    X(INCOMPATIBLE_ORDER, "incompatible-order", false,                                                                 \
      "two reads of a list contradict each other: neither is a prefix of the other", "KA20 5.2")                       \
    X(FRACTURED_APPEND, "fractured-append", false,                                                                     \
      "a read shows a transaction's append without its earlier append to the same key", "KA20 4.2")                    \
    X(INCONSISTENT_OFFSETS, "inconsistent-offsets", false, "one offset of a log has two records", "Jepsen, kafka")     \
    X(PREDICATE_MISMATCH, "predicate-mismatch", false,                                                                 \
      "a read by condition shows a row that does not meet the condition", "ALO00 4.3.1")                               \
    X(FUTURE_READ, "future-read", false, "a transaction read a value before it wrote that value itself", "KA20 4.2")   \
    X(G1C, "G1c", true, "circular information flow: a cycle of ww and wr edges, at least one wr", "ALO00 4.4.2")       \
    X(NO_VERSION_ORDER, "no-version-order", false, "each order of the versions makes a cycle that a level forbids",    \
      "CG18 4; TAN20 3")                                                                                               \
    X(NONSEQUENTIAL, "nonsequential", false,                                                                           \
      "no order of the operations on objects keeps the order of each process and explains their results", "L79")       \
    X(NONLINEARIZABLE, "nonlinearizable", false,                                                                       \
      "no order of the operations on an object explains their results within their real-time bounds", "HW90 2")        \
    X(PHANTOM_ELEMENT, "phantom-element", false, "a queue or a stack gave an element that was never added",            \
      "Jepsen, total-queue")                                                                                           \
    X(DUPLICATED_ELEMENT, "duplicated-element", false,                                                                 \
      "a queue or a stack gave an element more often than it was added", "Jepsen, total-queue")                        \
    X(LOST_ELEMENT, "lost-element", false,                                                                             \
      "a queue or a stack was empty, and never gave an element whose addition was acknowledged",                       \
      "Jepsen, total-queue")                                                                                           \
    X(INTERNAL, "internal", false, "a transaction's read disagrees with its own earlier reads and writes", "CBG15 2")  \
    X(INTERNAL_PREDICATE, "internal-predicate", false,                                                                 \
      "two reads of a transaction disagree, and only one of them found the row", "CBG15 2")                            \
    X(INT_NONMONOTONIC_SEND, "int-nonmonotonic-send", false, "a transaction's sends to a log have descending offsets", \
      "Jepsen, kafka")                                                                                                 \
    X(INT_NONMONOTONIC_POLL, "int-nonmonotonic-poll", false,                                                           \
      "a transaction polled a record of a log at or before the one that it had polled last", "Jepsen, kafka")          \
    X(INT_POLL_SKIP, "int-poll-skip", false,                                                                           \
      "a transaction polled two records of a log in a row, and another one lies between them", "Jepsen, kafka")        \
    X(NEGATIVE_BALANCE, "negative-balance", false, "a read of an account shows less than 0", "Jepsen, bank")           \
    X(WRONG_TOTAL, "wrong-total", false, "a read of all accounts shows another total", "Jepsen, bank")                 \
    X(LOST_UPDATE, "lost-update", false, "two transactions read the same version of a key and both wrote it",          \
      "CBG15 3")                                                                                                       \
    X(LOST_UPDATE_PREDICATE, "lost-update-predicate", false,                                                           \
      "two transactions found no row of a key and both wrote it", "CBG15 3")                                           \
    X(G_SINGLE, "G-single-item", true, "read skew: a cycle with exactly one rw edge", "Adya99 4.2")                    \
    X(G_SINGLE_PREDICATE, "G-single-predicate", true,                                                                  \
      "read skew by a phantom: a cycle with exactly one rw edge, from a read to a row that it did not show",           \
      "Adya99 4.2")                                                                                                    \
    X(G_NONADJACENT, "G-nonadjacent-item", true, "a cycle with two or more rw edges, no two of them adjacent",         \
      "CG18 4")                                                                                                        \
    X(G_NONADJACENT_PREDICATE, "G-nonadjacent-predicate", true,                                                        \
      "as G-nonadjacent-item, with an rw edge from a read to a row that it did not show", "CG18 4")                    \
    X(G2_ITEM, "G2-item", true, "write skew: a cycle with two or more rw edges, two of them adjacent", "ALO00 4.4.3")  \
    X(G2_PREDICATE, "G2-predicate", true,                                                                              \
      "phantom: as G2-item, with an rw edge from a read to a row that it did not show", "ALO00 4.4.3")                 \
    X(G_MIXED, "G-mixed", true,                                                                                        \
      "a cycle of edges that are obligatory for the levels of the transactions, each at its own", "Adya99 5.5")        \
    X(PREDICATE_READ_MISS, "predicate-read-miss", false,                                                               \
      "a read misses a row that was there from the start and met its condition at each version that it could see",     \
      "Elle, closed-predicate")                                                                                        \
    X(G0_PROCESS, "G0-process", true, "G0, with process order", "KA20 5.1")                                            \
    X(G1C_PROCESS, "G1c-process", true, "G1c, with process order", "KA20 5.1")                                         \
    X(G_SINGLE_PROCESS, "G-single-item-process", true, "G-single-item, with process order", "KA20 5.1")                \
    X(G_SINGLE_PREDICATE_PROCESS, "G-single-predicate-process", true, "G-single-predicate, with process order",        \
      "KA20 5.1")                                                                                                      \
    X(G_NONADJACENT_PROCESS, "G-nonadjacent-item-process", true, "G-nonadjacent-item, with process order", "KA20 5.1") \
    X(G_NONADJACENT_PREDICATE_PROCESS, "G-nonadjacent-predicate-process", true,                                        \
      "G-nonadjacent-predicate, with process order", "KA20 5.1")                                                       \
    X(G2_ITEM_PROCESS, "G2-item-process", true, "G2-item, with process order", "KA20 5.1")                             \
    X(G2_PREDICATE_PROCESS, "G2-predicate-process", true, "G2-predicate, with process order", "KA20 5.1")              \
    X(NONMONOTONIC_POLL, "nonmonotonic-poll", false,                                                                   \
      "a consumer polled a record of a log at or before the one that its last transaction had polled",                 \
      "Jepsen, kafka")                                                                                                 \
    X(POLL_SKIP, "poll-skip", false,                                                                                   \
      "a consumer went on polling a log, and left out a record after the one that its last transaction had polled",    \
      "Jepsen, kafka")                                                                                                 \
    X(LOST_APPEND, "lost-append", false, "an acknowledged append is missing in all later reads of its list",           \
      "Herlihy & Wing 1990")                                                                                           \
    X(LOST_WRITE, "lost-write", false, "an acknowledged write is missing in all later reads of its register",          \
      "Herlihy & Wing 1990")                                                                                           \
    X(COUNTER_BOUNDS, "counter-bounds", false,                                                                         \
      "a read of a counter or an account shows less or more than its time allows", "Jepsen, counter")                  \
    X(G0_REALTIME, "G0-realtime", true, "G0, with real-time order", "KA20 5.1")                                        \
    X(G1C_REALTIME, "G1c-realtime", true, "G1c, with real-time order", "KA20 5.1")                                     \
    X(G_SINGLE_REALTIME, "G-single-item-realtime", true, "G-single-item, with real-time order", "KA20 5.1")            \
    X(G_SINGLE_PREDICATE_REALTIME, "G-single-predicate-realtime", true, "G-single-predicate, with real-time order",    \
      "KA20 5.1")                                                                                                      \
    X(G_NONADJACENT_REALTIME, "G-nonadjacent-item-realtime", true, "G-nonadjacent-item, with real-time order",         \
      "KA20 5.1")                                                                                                      \
    X(G_NONADJACENT_PREDICATE_REALTIME, "G-nonadjacent-predicate-realtime", true,                                      \
      "G-nonadjacent-predicate, with real-time order", "KA20 5.1")                                                     \
    X(G2_ITEM_REALTIME, "G2-item-realtime", true, "G2-item, with real-time order", "KA20 5.1")                         \
    X(G2_PREDICATE_REALTIME, "G2-predicate-realtime", true, "G2-predicate, with real-time order", "KA20 5.1")          \
    X(ORDER_MISMATCH, "order-mismatch", false,                                                                         \
      "a read differs from the replay of the transactions in the order that the database gives", "CDWR24 4")           \
    X(G_SIA, "G-SIa", false,                                                                                           \
      "a transaction read or replaced a version whose commit timestamp is later than its start timestamp",             \
      "Adya99 4.3; KA20 5.1")                                                                                          \
    X(G_SIB, "G-SIb", false,                                                                                           \
      "a transaction missed a version whose commit timestamp is earlier than its start timestamp",                     \
      "Adya99 4.3; KA20 5.1")                                                                                          \
    X(STALE_SNAPSHOT, "stale-snapshot", false,                                                                         \
      "the database's order puts a transaction before one that was acknowledged before the transaction began",         \
      "KA20 5.1")

enum rig_anomaly {
#define RIG_ANOMALY_ENUM(id, name, cyclic, definition, source) RIG_ANOMALY_##id,
    RIG_ANOMALY_TABLE(RIG_ANOMALY_ENUM)
#undef RIG_ANOMALY_ENUM
        RIG_ANOMALY_COUNT
};

struct rig_anomaly_info {
    const char *name;
    bool cyclic;
    const char *definition;
    const char *source;
};

/* Sets of anomalies, a bit each. */
__extension__ typedef unsigned __int128 rig_anomaly_set;
#define RIG_ANOMALY_BIT(anomaly) ((rig_anomaly_set)1 << (anomaly))
#define RIG_ANOMALIES_ALL        (~(rig_anomaly_set)0 >> (128 - RIG_ANOMALY_COUNT))
_Static_assert(RIG_ANOMALY_COUNT <= 128, "a set of anomalies has 128 bits");

const struct rig_anomaly_info *rig_anomaly_info(enum rig_anomaly anomaly);

/* Whether it is a constraint of a table that rows break. */
static inline bool rig_anomaly_is_of_constraint(enum rig_anomaly anomaly)
{
    return anomaly == RIG_ANOMALY_BROKEN_UNIQUE || anomaly == RIG_ANOMALY_BROKEN_CHECK ||
           anomaly == RIG_ANOMALY_BROKEN_REFERENCE;
}

/* Every cycle is of one shape, by its rw edges, and of one form, by its process and real-time edges. */
enum rig_shape { RIG_SHAPE_G0, RIG_SHAPE_G1C, RIG_SHAPE_SINGLE, RIG_SHAPE_NONADJACENT, RIG_SHAPE_G2, RIG_SHAPE_COUNT };
enum rig_along { RIG_ALONG_PLAIN, RIG_ALONG_PROCESS, RIG_ALONG_REALTIME, RIG_ALONG_COUNT };

enum rig_anomaly rig_anomaly_of_cycle(enum rig_shape shape, enum rig_along order);
/* The name of such a cycle with an rw edge that rests on a predicate: "G2-predicate" for G2-item; and of a lost update
 * of a key without a row, and of reads of which only one found the row. Other anomalies have one name, which is the
 * result. */
enum rig_anomaly rig_anomaly_by_predicate(enum rig_anomaly anomaly);
/* Whether it is such a name, and the anomaly without predicates: its own name for others. */
bool rig_anomaly_is_by_predicate(enum rig_anomaly anomaly, enum rig_anomaly *item);

/*
 * The anomalies that answer a request for this one: itself and its special cases (docs/checker/anomalies.md, "Asking
 * for an anomaly"). G2-item, for instance, is there when G-single-item is.
 */
rig_anomaly_set rig_anomaly_cases(enum rig_anomaly anomaly);

/* The name that engineers use where the field's term is another one: "write-skew" for G2-item; NULL: none. */
const char *rig_anomaly_plain(enum rig_anomaly anomaly);
/* Names that stand for several anomalies, or for one of another name: "G1", "G-single-process", "write-skew". False
 * past the end. */
bool rig_anomaly_group(uint32_t index, const char **name, rig_anomaly_set *anomalies);
/* By name of an anomaly or a group, exact: bits, and the proper name; false when there is neither. */
bool rig_anomaly_find_all(const char *name, rig_anomaly_set *anomalies, const char **proper);
/* The name of an anomaly or a group that is nearest to `wanted`, or NULL when none is near. */
const char *rig_anomaly_nearest(const char *wanted);

#endif
