/*
 * An order for the operations before the one that cannot take effect, for pictures.
 *
 * The prefix ends just before the blocked operation's completion: operations that are open then may take effect or not.
 * The order is searched once more (object_search.h) and replayed (object_replay.h). No verdict depends on it, so its work is
 * limited, and a prefix that takes more has no order here.
 *
 * Time: that of a search, at most STEPS operations tried; linear in the history. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_PREFIX_H
#define RIG_CHECKER_OBJECTS_OBJECT_PREFIX_H

#include "base/vec.h"
#include "checker/model/verdict.h"

RIG_VEC(uint32_t, rig_object_prefix)

/* Adds the transactions in the order in which they take effect; a drain is there once for each of its values. False: the
 * history is an excerpt, the witness speaks of a few values, or the limits were not enough. rig_object_prefix_done()
 * follows in either case. */
bool rig_object_prefix_order(const struct rig_history *history, const struct rig_witness *witness,
                             struct rig_object_prefix *order);

#endif
