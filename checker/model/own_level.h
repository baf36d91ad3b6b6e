/*
 * Histories in which each transaction asked for a level of its own: the side column `level`.
 *
 * Such a history is judged by Adya's mixing-correctness (Adya99 5.5): an edge counts when it is obligatory for the
 * level of the transaction that it concerns.
 *
 *   edge                          counts when
 *   ww                            always
 *   wr                            the reader's level implies read committed (PL-2)
 *   rw, of an item                the reader's level implies repeatable read (PL-2.99)
 *   rw, by a predicate            the reader's level implies serializable (PL-3)
 *
 * A level between these, such as snapshot isolation, has the edges of those that it implies. A transaction without a
 * level, or with one that rig does not know, has ww edges alone. The history is mixing-correct if the edges that count
 * form no cycle, and no transaction of read committed or above read an aborted or an intermediate value (G1a, G1b). rig
 * adds the other anomalies that one read shows by itself.
 */
#ifndef RIG_CHECKER_MODEL_OWN_LEVEL_H
#define RIG_CHECKER_MODEL_OWN_LEVEL_H

#include "checker/model/level.h"
#include "checker/model/verdict.h"

/* Bits: the edges that a level obliges, beside ww. */
#define RIG_OBLIGES_READS      1u
#define RIG_OBLIGES_ITEMS      2u
#define RIG_OBLIGES_PREDICATES 4u

/* Bits: the anomalies that one read shows by itself. They break the level of its transaction, if that forbids them. */
extern const rig_anomaly_set rig_own_level_reads;

/* Whether some transaction of the history has a level. */
bool rig_history_has_levels(const struct rig_history *history);
/* The level that the transaction asked for; false when it has none that rig knows. Time: that of comparing names. */
bool rig_txn_own_level(const struct rig_history *history, uint32_t txn, enum rig_level *level);
/* Bits of RIG_OBLIGES_... */
unsigned rig_txn_obliges(const struct rig_history *history, uint32_t txn);
/* Whether an edge of that kind counts; process and real-time order never do. */
bool rig_edge_is_obligatory(const struct rig_history *history, const struct rig_step *step);

#endif
