/*
 * The non-cyclic anomalies of list-append: garbage-read, G1a, G1b, duplicate-elements, incompatible-order, future-read,
 * internal, fractured-append, dirty-update, lost-update (definitions: checker/model/anomaly.h).
 *
 * Time: O(1) for a read that is a prefix of its key's spine, linear in the list for others.
 */
#ifndef RIG_CHECKER_INFER_LIST_ANOMALIES_H
#define RIG_CHECKER_INFER_LIST_ANOMALIES_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/infer/noncyclic.h"
#include "checker/infer/versions.h"

/*
 * The operations of one list transaction by key: for each of them, its neighbours on the same key. With these, checks
 * of a transaction against itself take time linear in its operations.
 *
 * Time: linear. Space: 12 bytes an operation of the longest transaction. Threads: one; the scratch members of
 * rig_versions.key_places are used during rig_own_ops_take(), and are free again afterwards.
 */

#define RIG_OWN_NONE UINT32_MAX

struct rig_own_op {
    uint32_t previous, next; /* operations on the same key; RIG_OWN_NONE: there is none */
    uint32_t least_later;    /* of the positions of later appends to the key; RIG_VERSION_NONE: none is placed */
};

/* Zeroed, it is empty. */
struct rig_own_ops {
    struct rig_own_op *at; /* per operation of the transaction */
    uint32_t room;
};

void rig_own_ops_done(struct rig_own_ops *own);
/* Fills in the operations of `txn`, in place of those of another one. False when memory runs out. */
bool rig_own_ops_take(struct rig_own_ops *own, const struct rig_versions *versions, uint32_t txn);

/* Notes those that one committed transaction shows by itself; `own` has its operations (list_anomalies.h). It makes the
 * key of a fractured-append contested. False when memory runs out. */
bool rig_list_anomalies_of_txn(const struct rig_versions *versions, uint32_t txn, const struct rig_own_op *own,
                               struct rig_noncyclic_findings *noncyclic);
/* Notes those of the version orders as a whole: dirty-update. */
bool rig_list_anomalies_of_orders(const struct rig_versions *versions, struct rig_noncyclic_findings *noncyclic);
/*
 * Notes lost-update: two transactions whose first reads of a key are equal and that both append to it afterwards. They
 * lie on a cycle (each read the version that the other overwrote) unless the reads contradict the key's order; so the
 * call is needed only when the graph has a cycle or there are contradictions. It takes a pass over the history and
 * memory for these reads.
 */
bool rig_list_lost_updates(const struct rig_versions *versions, struct rig_noncyclic_findings *noncyclic);

#endif
