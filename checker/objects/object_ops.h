/*
 * The operations of each object of a history, as intervals: P-compositionality (Herlihy & Wing 1990, theorem 1) lets each
 * object be decided by itself.
 *
 * An operation of unknown outcome has no end: it may take effect at any time after its invocation, or never. Those that
 * observe only, and failed ones, are left out. A drain is several operations with one interval, which is weaker than
 * any order of them; the last one finds nothing. A drain of unknown outcome is as many takes of unknown results as there
 * are values that it may have taken.
 *
 * Space: 16 bytes an operation, 8 a key. Time: n log n. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_OPS_H
#define RIG_CHECKER_OBJECTS_OBJECT_OPS_H

#include "base/err.h"
#include "checker/objects/object_model.h"

struct rig_object_op {
    uint32_t txn;
    uint32_t class;  /* in the model */
    uint32_t invoke; /* position; 0 where it is unknown */
    uint32_t end;    /* RIG_POSITION_NONE: never */
};

struct rig_object_ops {
    struct rig_object_op *at; /* of key k: [first[k], first[k + 1]), in the order of their invocations */
    uint32_t *first;
    uint32_t key_count;
};

/* RIG_E_INPUT for a transaction that is no operation on one object; RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_object_ops_check(const struct rig_history *history, struct rig_err *err);
/* The history was checked. `only`: the operations of this key, UINT32_MAX: those of all keys. Arrays come from the arena.
 * False when memory runs out. */
bool rig_object_ops_build(const struct rig_history *history, uint32_t only, struct rig_object_model *model,
                          struct rig_arena *arena, struct rig_object_ops *ops);

#endif
