/*
 * Delivery by a queue or a stack: elements that are lost, given twice, or were never added, counted one by one. They
 * refute linearizability as the search does; they say how much went wrong, where a search shows one contradiction.
 *
 * Per value, with the additions that did not fail and the takes that show it:
 *  - phantom: it was taken, and not added;
 *  - duplicated: it was taken more often than it was added (delivery at most once);
 *  - lost: it was added more often than it was taken, each of these additions was acknowledged before a take began that
 *    found nothing, and no take of unknown result can have taken it (delivery at least once). With U such takes that
 *    began before the end of the one that found nothing, all but U of the values that are missing then are lost.
 * Only the last take that found nothing counts, so an element that a later take gives is not lost.
 *
 * Values may repeat. Time and space: linear in the operations. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_DELIVERY_H
#define RIG_CHECKER_OBJECTS_OBJECT_DELIVERY_H

#include "base/arena.h"
#include "checker/objects/object_key.h"
#include "checker/model/verdict.h"

enum rig_delivery { RIG_DELIVERY_PHANTOM, RIG_DELIVERY_DUPLICATED, RIG_DELIVERY_LOST, RIG_DELIVERY_COUNT };

extern const enum rig_anomaly rig_delivery_anomalies[RIG_DELIVERY_COUNT];

struct rig_delivery_found {
    uint64_t count[RIG_DELIVERY_COUNT];
    bool open;               /* more may be lost: some that are missing may be what takes of unknown result took */
    uint32_t most_witnesses; /* of each */
    uint32_t witness_count[RIG_DELIVERY_COUNT]; /* kept so far */
    struct rig_witness *witnesses;              /* room for RIG_DELIVERY_COUNT * most_witnesses */
    uint32_t kept_count;
};

/* Adds those of key `number`, all of whose operations are there. False when memory runs out. */
bool rig_object_delivery(const struct rig_object_key *key, uint32_t number, struct rig_arena *arena,
                         struct rig_delivery_found *found);

#endif
