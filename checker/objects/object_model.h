/*
 * The sequential specifications of objects: their states, and what an operation makes of a state.
 *
 * A state is a sequence of bytes, and has a number: equal states have equal numbers. Operations that do the same are
 * one class. Registers and mutexes need no bytes to step: an operation requires a state or none, and leaves a state or
 * none.
 *
 * The initial state is nil for registers, free (0) for mutexes, empty for locks, queues, stacks and strings, and for
 * the objects of a model, whose specification the history has. A register may begin with another value
 * (object_begins.h).
 *
 * Space: the states reached, 12 bytes a step that was computed. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_MODEL_H
#define RIG_CHECKER_OBJECTS_OBJECT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/types/object_specification.h"

struct rig_object_rows;
struct rig_object_strings;

#define RIG_OBJECT_NONE UINT32_MAX /* in place of a state: there is none */

enum { RIG_OBJECT_INITIAL = 0 }; /* the number of the initial state, unless the object begins with another one */

/* A string register in the state of this one byte, which no string has, has a string that no read shows before the next
 * put takes effect. */
#define RIG_OBJECT_VAGUE '\0'

struct rig_object_state {
    const void *bytes;
    size_t size;
};

struct rig_object_class {
    struct rig_txn_op *ops; /* its micro-operations; keys are not used */
    uint32_t op_count;
    bool observes;          /* it changes no state */
    bool any;               /* it is possible in each state */
    uint32_t needs, leaves; /* states of registers and locks; RIG_OBJECT_NONE: any, or the same */
};

RIG_VEC(struct rig_object_state, rig_object_states)
RIG_VEC(struct rig_object_class, rig_object_classes)

struct rig_object_model {
    enum rig_workload workload;
    const struct rig_object_rows *rows; /* additions that lead to dead states are impossible; NULL: they are not */
    struct rig_object_strings *strings; /* a search makes those that no read shows one state; NULL: it does not */
    uint32_t vague;                     /* the number of that state */
    uint32_t initial;                   /* the state that the object begins with that is being decided */
    bool is_register;                   /* the classes' `needs` and `leaves` say all */
    bool timeless;                      /* leases may be over at any time: the order is not one in real time */
    bool has_leases;                    /* a class has one */
    const struct rig_history *history;  /* of the operations; its times tell when leases are over */
    const struct rig_specification *specification; /* of a model, from the history; else NULL */
    struct rig_object_states states;
    struct rig_object_classes classes;
    struct rig_table state_of, class_of; /* hash -> number; equal hashes in successive places */
    struct rig_table next;               /* state << 32 | class -> state, + 1; 0: impossible */
    struct rig_arena arena;
    struct rig_buf scratch;
};

/* False when memory runs out; rig_object_model_done() follows in either case. `limit_bytes` 0: none. */
bool rig_object_model_init(struct rig_object_model *model, enum rig_workload workload, size_t limit_bytes);
void rig_object_model_done(struct rig_object_model *model);

/* The number of the state of these bytes; RIG_OBJECT_NONE when memory runs out. */
uint32_t rig_object_state_of(struct rig_object_model *model, const void *bytes, size_t size);
/* The objects that are decided from now on are registers that begin with this value. False when memory runs out. */
bool rig_object_model_begin(struct rig_object_model *model, int64_t value);

/* The class of an operation that consists of these micro-operations; RIG_OBJECT_NONE when memory runs out. */
uint32_t rig_object_class_of(struct rig_object_model *model, const struct rig_txn_op *ops, uint32_t count);

/* The state after the operation; *next is RIG_OBJECT_NONE where it is impossible. False when memory runs out. */
bool rig_object_step_slowly(struct rig_object_model *model, uint32_t state, uint32_t class, uint32_t *next);

static inline bool rig_object_step(struct rig_object_model *model, uint32_t state, uint32_t class, uint32_t *next)
{
    const struct rig_object_class *of = &model->classes.at[class];
    if (!model->is_register)
        return rig_object_step_slowly(model, state, class, next);
    *next = of->needs != RIG_OBJECT_NONE && of->needs != state ? RIG_OBJECT_NONE
            : of->leaves == RIG_OBJECT_NONE                    ? state
                                                               : of->leaves;
    return true;
}

/* The state at the end of the operation, where leases may be over. False when memory runs out. */
bool rig_object_age(struct rig_object_model *model, uint32_t *state, uint32_t txn);

/* The state in words: "3", "nil", "held", "[1 2]". */
void rig_object_state_text(const struct rig_object_model *model, uint32_t state, struct rig_buf *text);

/*
 * The operations of each object of a history, as intervals: P-compositionality (Herlihy & Wing 1990, theorem 1) lets
 * each object be decided by itself.
 *
 * An operation of unknown outcome has no end: it may take effect at any time after its invocation, or never. Those that
 * observe only, and failed ones, are left out. A drain is several operations with one interval, which is weaker than
 * any order of them; the last one finds nothing. A drain of unknown outcome is as many takes of unknown results as
 * there are values that it may have taken.
 *
 * Space: 16 bytes an operation, 8 a key. Time: n log n. Threads: one at a time.
 */

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
/* The history was checked. `only`: the operations of this key, UINT32_MAX: those of all keys. Arrays come from the
 * arena. False when memory runs out. */
bool rig_object_ops_build(const struct rig_history *history, uint32_t only, struct rig_object_model *model,
                          struct rig_arena *arena, struct rig_object_ops *ops);

#endif
