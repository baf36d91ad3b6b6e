/*
 * Decides the operations on one object, as far as a limit allows: by the algorithms that need no search where its
 * values are unique, else by a search.
 *
 * Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_KEY_H
#define RIG_CHECKER_OBJECTS_OBJECT_KEY_H

#include "checker/objects/object_past.h"
#include "checker/objects/object_values.h"

/* The operations on a key, all of them or those in a window. */
struct rig_object_key {
    struct rig_object_model *model;
    const struct rig_object_op *ops; /* in the order of their invocations */
    uint32_t count;
    struct rig_object_open open;
    uint32_t until;                   /* the last completion to explain; RIG_POSITION_NONE: all */
    struct rig_object_past_key *past; /* what earlier windows have explained; NULL: nothing */
};

struct rig_object_decided {
    enum rig_object_answer answer;
    const struct rig_object_op *ops; /* that `result` is about; NULL: there is no order */
    struct rig_object_op_list needed;
    struct rig_object_result result;
    struct rig_object_refutation refutation; /* found: `result` is not filled in */
    struct rig_object_narrowed narrowed; /* REFUTED: where the proof begins, unless at the beginning of the window */
    bool searched;                       /* false: a queue or a stack was decided by the lifetimes of its values */
    bool later;                          /* TIME in a window that is not the last one: it is left to later windows */
};

/* rig_object_decided_done() follows in any case. */
void rig_object_key_decide(const struct rig_object_key *key, const struct rig_object_search_limits *limits,
                           struct rig_object_decided *decided);
void rig_object_decided_done(struct rig_object_decided *decided);

/* After LINEARIZABLE in a window: marks per operation those that are done, and notes what goes over to the next window.
 * False when memory runs out. */
bool rig_object_key_settle(const struct rig_object_key *key, const struct rig_object_decided *decided,
                           struct rig_object_past *past, uint8_t *done);

#endif
