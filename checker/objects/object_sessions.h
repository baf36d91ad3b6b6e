/*
 * Looks for an order of operations on objects that keeps the order of each process, and drops that of real time
 * (sequential consistency; Lamport 1979).
 *
 * Depth first: one order at a time, the operation that completed first before the others, with a memo of the
 * configurations from which no order was found. A configuration is how far each process is, which operations of unknown
 * outcome took effect, and the state of each object. Configurations that lead no further than another one are left out:
 *  - an operation that only observes, and is possible, takes effect at once;
 *  - so does a write of a register that nothing else needs, where nothing needs the value that it replaces;
 *  - a register does not lose a value that an operation still needs and none writes again;
 *  - of operations of unknown outcome that do the same on an object, the first one that may comes first.
 * The memo compares hashes; a refutation counts only after its proof, which compares configurations
 * (witness/verify_object_order.c).
 *
 * An operation of unknown outcome comes after what its process completed before, and nothing comes after it: a process
 * that goes on may do so before it takes effect.
 *
 * Time: exponential in the worst case (the problem is NP-complete; Gibbons & Korach 1997). Space: 60 bytes an
 * operation, 12 to 24 bytes a configuration of the memo. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_SESSIONS_H
#define RIG_CHECKER_OBJECTS_OBJECT_SESSIONS_H

#include "checker/objects/object_search.h"

struct rig_object_session_op {
    uint32_t txn;
    uint32_t class;  /* in the model */
    uint32_t object; /* its place among the objects searched */
    uint32_t
        session;    /* its place among the processes; UINT32_MAX: of unknown outcome, and of a process without others */
    uint32_t rank;  /* tried in this order */
    uint32_t after; /* of unknown outcome: number of its session's operations that come before */
    bool unknown;
};

struct rig_object_sessions {
    struct rig_object_session_op *at; /* of session s: [first[s], first[s + 1]); then those of unknown outcome */
    uint32_t *first;
    const uint32_t *initial; /* per object: the state that it begins with; NULL: RIG_OBJECT_INITIAL */
    uint32_t count, session_count, object_count;
};

/* Takes the operations on object `only` (UINT32_MAX: on all), without those whose transactions are `dropped` (NULL:
 * none is). Arrays come from the arena. False when memory runs out. */
bool rig_object_sessions_build(const struct rig_history *history, const struct rig_object_ops *ops, uint32_t only,
                               const uint8_t *dropped, struct rig_arena *arena, struct rig_object_sessions *sessions);

/* LINEARIZABLE, here: an order was found, which `order` has, by places in sessions->at; REFUTED: there is none; TIME,
 * MEMORY or NO_MEMORY. */
enum rig_object_answer rig_object_sessions_search(struct rig_object_model *model,
                                                  const struct rig_object_sessions *sessions,
                                                  const struct rig_object_search_limits *limits,
                                                  struct rig_object_order *order);

#endif
