/*
 * Witnesses in words. Reads only the history and the witness, so the words say what the data says.
 */
#ifndef RIG_CHECKER_WITNESS_SENTENCE_H
#define RIG_CHECKER_WITNESS_SENTENCE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "checker/verdict.h"

/* One sentence for a step, or the whole witness; allocated from `arena`, NULL when memory runs out. */
char *rig_sentence_step(const struct rig_history *history, const struct rig_step *step, struct rig_arena *arena);
char *rig_sentence_witness(const struct rig_history *history, const struct rig_witness *witness,
                           struct rig_arena *arena);

/* "T17", and a list as "[1 2 3]", long ones with their middle left out and their length given. */
void rig_sentence_txn(const struct rig_history *history, uint32_t txn, struct rig_buf *text);
void rig_sentence_list(struct rig_read_list list, struct rig_buf *text);
/* "[r 5 [1 2]] [append 9 4]"; of a long transaction only what touches the first operations and `key`. */
void rig_sentence_ops(const struct rig_history *history, uint32_t txn, struct rig_buf *text);

/* Words a witness: the steps that reports show, and the whole. False when memory runs out. */
bool rig_sentence_word(const struct rig_history *history, struct rig_witness *witness, struct rig_arena *arena);

#endif
