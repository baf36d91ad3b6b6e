/*
 * The operations of one list transaction by key: for each of them, its neighbours on the same key. With these, checks
 * of a transaction against itself take time linear in its operations.
 *
 * Time: linear. Space: 12 bytes an operation of the longest transaction. Threads: one; the scratch members of
 * rig_versions.key_places are used during rig_own_ops_take(), and are free again afterwards.
 */
#ifndef RIG_CHECKER_INFER_LIST_OWN_OPS_H
#define RIG_CHECKER_INFER_LIST_OWN_OPS_H

#include "checker/infer/versions.h"

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

#endif
