/*
 * The state of an object, and what its operations do to it: a register has a value, a lock is 1 while it is held, a
 * string register has a text, and a queue or a stack has values in a row. A lock with owners has numbers in a row
 * (replay_objects.c), and the object of a model those of its specification (history/types/object_specification.h).
 */
#ifndef RIG_CHECKER_PROVE_REPLAY_OBJECTS_H
#define RIG_CHECKER_PROVE_REPLAY_OBJECTS_H

#include "base/buf.h"
#include "base/vec.h"
#include "history/model/history.h"

RIG_VEC(int64_t, rig_replay_row)

struct rig_replay_object {
    int64_t value;
    struct rig_replay_row row; /* at[from] to at[count - 1] */
    size_t from;
    struct rig_buf text;
    int64_t begin_ns, end_ns; /* of the operation at hand; of locks */
    bool in_time;             /* leases last */
    bool no_memory;
};

/* The value of a register that has none. False when memory runs out. */
bool rig_replay_object_nil(enum rig_workload workload, int64_t *nil);
/* `value`: the one that a register begins with. */
void rig_replay_object_init(struct rig_replay_object *state, int64_t value);
void rig_replay_object_done(struct rig_replay_object *state);

/* The next operations are of this transaction; they take effect between its times, if the order is one in real time. */
void rig_replay_object_time(struct rig_replay_object *state, const struct rig_txn *txn, bool in_time);

/* Whether the operation is possible in the state, which becomes that after it, unless it is not. */
bool rig_replay_object_apply(struct rig_replay_object *state, enum rig_workload workload, int64_t nil,
                             const struct rig_txn_op *op);

/* The same for a call of a model, by the history's specification. */
bool rig_replay_object_call(struct rig_replay_object *state, const struct rig_history *history,
                            const struct rig_txn_op *ops, uint32_t count);
/* Whether such objects are those of a model. */
bool rig_replay_object_has_calls(enum rig_workload workload);

static inline bool rig_replay_object_takes(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_DEQUEUE || op->kind == RIG_OP_POP;
}

/* Whether such objects have values in a row: queues and stacks. */
bool rig_replay_object_has_row(enum rig_workload workload);

/* Whether such objects are locks with owners. */
bool rig_replay_object_has_owners(enum rig_workload workload);

/* A transaction of several takes, each of which takes effect by itself. */
bool rig_replay_object_is_drain(const struct rig_history *history, uint32_t txn);
/* One of unknown outcome: its two takes of unknown results stand for any number of them. */
bool rig_replay_object_is_open_drain(const struct rig_history *history, uint32_t txn);

#endif
