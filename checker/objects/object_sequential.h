/*
 * Decides whether a history of objects is sequentially consistent: whether one order of all its operations keeps the
 * order of each process and explains their results. With transactions of one operation this is strong session
 * serializability.
 *
 * It is not decided object by object: each object may have an order of its own, and all of them none together. So each
 * object is searched alone (object_sessions.h), and one that has no order refutes the history. Orders of all objects
 * that agree with those of the processes are one order; else all objects are searched together.
 *
 * A refutation is made small: operations that only observe are left out while the others have no order, and then writes
 * of registers whose values no other one observes. An order of all operations stays one without them.
 *
 * A register whose first value is in doubt (object_begins.h) begins with nil, and refutes nothing.
 *
 * Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_SEQUENTIAL_H
#define RIG_CHECKER_OBJECTS_OBJECT_SEQUENTIAL_H

#include "base/err.h"
#include "checker/objects/object_begins.h"
#include "checker/objects/object_search.h"
#include "checker/model/verdict.h"

struct rig_sequential {
    enum rig_object_answer answer;   /* LINEARIZABLE: the history is; REFUTED: it is not; TIME or MEMORY: it is open */
    struct rig_witness witness;      /* REFUTED: from the arena, without its text, not proved */
    struct rig_object_begun doubted; /* TIME: from this value, there may be an order */
};

/* The history is whole, and was checked (object_model.h). */
enum rig_rc rig_objects_sequential(const struct rig_history *history, struct rig_known_initial initial,
                                   const struct rig_object_search_limits *limits, struct rig_arena *arena,
                                   struct rig_sequential *sequential, struct rig_err *err);

#endif
