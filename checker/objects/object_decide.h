/*
 * Decides a history of objects: whether each of them is linearizable, and which operation the others cannot be
 * explained with.
 *
 * A transaction is one operation on one object, so the history is strictly serializable if and only if each object is
 * linearizable (Herlihy & Wing 1990, theorem 1). An order that explains an object is replayed before it counts
 * (object_replay.h). Objects are decided in rounds, each of which allows an object a multiple of the steps of the round
 * before, so that objects that are decided with little work never wait for others; and in the order of their sizes.
 *
 * A register from whose first value nothing is known to follow (object_begins.h) is neither refuted nor explained,
 * unless it has no order from either value.
 *
 * In windows, the part of an object's operations that completed before the first open one was invoked is decided, and
 * what later windows need is kept (object_past.h, object_key.h): the answers are those of the whole history.
 *
 * Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_DECIDE_H
#define RIG_CHECKER_OBJECTS_OBJECT_DECIDE_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/model/verdict.h"
#include "checker/objects/object_begins.h"
#include "checker/objects/object_delivery.h"

/* A window of a history (stream/object_windows.c). */
struct rig_objects_window {
    struct rig_object_past *past;
    const uint32_t *open_from; /* per key: the first invocation of an open operation; RIG_POSITION_NONE: none is open */
    uint32_t open_txn;         /* transactions from this one on are open */
    bool is_last;              /* the history has ended: open operations are of unknown outcome */
    bool only_looks;           /* nothing is carried over: the same operations will be decided again */
    uint8_t *waits;            /* per transaction, set here: later windows need it */
};

struct rig_objects_decided {
    struct rig_witness *witnesses; /* of objects that are not linearizable: at most as many as wanted */
    uint32_t witness_count;
    uint64_t refuted, open; /* objects that are not linearizable; that were not decided */
    struct rig_delivery_found delivery;
    struct rig_object_begun taken, doubted; /* registers whose value was taken from a read; is in doubt and decides */
    bool delivery_open;                     /* operations that earlier windows dropped were not counted in it */
};

struct rig_objects_limits {
    int64_t deadline_ns;
    size_t bytes; /* 0: none */
    uint32_t most_witnesses;
    uint32_t most_elements; /* witnesses of each way in which elements go wrong (object_delivery.h) */
};

/* `window` NULL: the history is whole. Witnesses come from the arena; they have no texts yet (explain/sentence.h), and
 * are to be proved before the next call. */
enum rig_rc rig_objects_decide(const struct rig_history *history, struct rig_known_initial initial,
                               const struct rig_objects_window *window, const struct rig_objects_limits *limits,
                               struct rig_arena *arena, struct rig_objects_decided *decided, struct rig_err *err);

#endif
