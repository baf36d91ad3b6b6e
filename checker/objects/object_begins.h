/*
 * The values that the registers of a cas-register begin with.
 *
 * A register begins with nil, unless the user says otherwise, or its reads do: an acknowledged operation that began
 * before any other one on the key ended observes a value, and no write of it began before that operation ended, not
 * even one that failed. Then the register began with the value in each order that keeps real time.
 *  - Where nothing in the history writes it, the register began with it in every order: it is taken.
 *  - Where some operation writes it later, it may be what the register began with, or a read from the future: the value
 *    is in doubt. An order from it holds nothing, and a refutation counts only if the register has no order from it
 *    either.
 * Nil that is read in this way leaves neither.
 *
 * Time: linear. Space: 24 bytes a key, 32 bytes a value that such an operation observes. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_BEGINS_H
#define RIG_CHECKER_OBJECTS_OBJECT_BEGINS_H

#include "base/arena.h"
#include "checker/model/assumption.h"
#include "checker/model/verdict.h"
#include "checker/objects/object_model.h"

/* Registers that begin with another value, or may. */
struct rig_object_begun {
    uint64_t count;
    uint32_t key;  /* the first of them */
    int64_t value; /* its value */
};

/* Per key of the history, from the arena. `late`: operations that began after another one had ended count, too, because
 * they may observe the initial value in an order that does not keep real time. NULL when memory runs out. */
struct rig_begin *rig_object_begins_find(const struct rig_history *history, struct rig_known_initial given, bool late,
                                         struct rig_arena *arena);

/* Per key, from the arena, the state with which orders begin that hold a level: that of the value, or of nil where the
 * value is in doubt. All are RIG_OBJECT_INITIAL for objects that are no registers. NULL when memory runs out. */
uint32_t *rig_object_begins_states(const struct rig_begin *begins, uint32_t key_count, struct rig_object_model *model,
                                   struct rig_arena *arena);

/* The value that the operations of a transaction write to a register; false: they leave it as it is. */
bool rig_object_begins_writes(const struct rig_txn_op *ops, uint32_t count, int64_t *value);

#endif
