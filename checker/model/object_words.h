/*
 * Values and states of objects in words. Shared by the search and the verifier, and free of both.
 *
 * Threads: any.
 */
#ifndef RIG_CHECKER_MODEL_OBJECT_WORDS_H
#define RIG_CHECKER_MODEL_OBJECT_WORDS_H

#include <stdint.h>

#include "base/buf.h"
#include "history/model/history.h"

/*
 * The phenomenon that a small refutation of a queue or a stack shows: "duplicated-element", "phantom-element" (a value
 * is taken that is not there: it was never added, or earlier windows saw it taken), "lost-element" (a value had to be
 * taken, and no take gives it; it is only late if a later one does), "false-empty" (a take found nothing, and values
 * were there) or "reordered-elements". NULL: the witness shows none, or operations of unknown outcome take part.
 */
struct rig_witness;
struct rig_blocked;
const char *rig_object_phenomenon(const struct rig_history *history, const struct rig_witness *witness);

/* The deed of an object without an explanation, as a clause that begins a sentence: "A lock had two owners at once". */
const char *rig_object_deed(const struct rig_history *history, const struct rig_witness *witness);
/* "register", "lock", "queue", "stack", "string". */
const char *rig_object_noun(enum rig_workload workload);

/* The value of a register that was not written, and of a free lock. */
int64_t rig_object_nil(enum rig_workload workload);
/* Adds a value of a string register: a text without its quotes, any other value as it is shown. */
void rig_object_string(int64_t value, struct rig_buf *text);
/* Adds a state (checker/objects/object_model.h): "3", "nil", "held", "[1 2]". */
void rig_object_words_state(enum rig_workload workload, const void *bytes, size_t size, struct rig_buf *text);
/* Adds the states that are possible before the blocked operation: "3", "3 or 4", "3, 4 or in one of 7 other states". */
void rig_object_words_states(const struct rig_blocked *blocked, struct rig_buf *text);
/* Adds the operation of a transaction, from its micro-operation `op` on: "read 3", "compare-and-set 3 to 4". */
void rig_object_words_op(enum rig_workload workload, const struct rig_txn_op *op, uint32_t count, struct rig_buf *text);

#endif
