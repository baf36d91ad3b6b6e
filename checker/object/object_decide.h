/*
 * Decides a history of objects: whether each of them is linearizable, and which operation the others cannot be
 * explained with.
 *
 * A transaction is one operation on one object, so the history is strictly serializable if and only if each object is
 * linearizable (Herlihy & Wing 1990, theorem 1). An order that explains an object is replayed before it counts
 * (object_replay.h). Objects are decided in the order of their sizes, so that a budget decides as many as possible.
 *
 * Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECT_OBJECT_DECIDE_H
#define RIG_CHECKER_OBJECT_OBJECT_DECIDE_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/infer/inference.h"
#include "checker/levels/assumption.h"
#include "checker/verdict.h"

/* The row's inference (checker_types.h): checks the rules, and counts. There are no edges. */
enum rig_rc rig_infer_objects(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                              struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err);

struct rig_objects_decided {
    struct rig_witness *witnesses; /* of objects that are not linearizable: at most as many as wanted */
    uint32_t witness_count;
    uint64_t refuted, open; /* objects that are not linearizable; that were not decided */
};

/* Witnesses come from the arena; they have no texts yet (witness/sentence.h). */
enum rig_rc rig_objects_decide(const struct rig_inference *inference, int64_t deadline_ns, size_t limit_bytes,
                               uint32_t most_witnesses, struct rig_arena *arena, struct rig_objects_decided *decided,
                               struct rig_err *err);

#endif
