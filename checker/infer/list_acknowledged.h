/*
 * The part of the version orders that acknowledged reads show by themselves.
 *
 * Read uncommitted lets a transaction read aborted writes. So a transaction of unknown fate whose write was read may
 * have aborted, and its own reads order nothing: below read committed only this part is certain (docs/checker/lists.md,
 * "Transactions of unknown fate at read uncommitted").
 *
 * Time: one pass over the operations. Space: 4 bytes a key.
 */
#ifndef RIG_CHECKER_INFER_LIST_ACKNOWLEDGED_H
#define RIG_CHECKER_INFER_LIST_ACKNOWLEDGED_H

#include "checker/infer/versions.h"

/* Fills in versions->acknowledged, once every key's order is known. False when memory runs out. */
bool rig_acknowledged_find(struct rig_versions *versions, struct rig_arena *arena);

/* The last place at which `txn` wrote the key, before `place` and where an acknowledged read shows it;
 * RIG_VERSION_NONE: there is none. */
uint32_t rig_acknowledged_before(const struct rig_versions *versions, uint32_t txn, uint32_t key, uint32_t place);

/* Whether acknowledged reads show that `from` wrote a version of some key before `to` wrote one. */
bool rig_acknowledged_ww(const struct rig_versions *versions, uint32_t from, uint32_t to);

#endif
