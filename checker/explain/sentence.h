/*
 * Witnesses in words. Reads only the history and the witness, so the words agree with the data.
 */
#ifndef RIG_CHECKER_EXPLAIN_SENTENCE_H
#define RIG_CHECKER_EXPLAIN_SENTENCE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "checker/model/verdict.h"

/* "T17 before T23: ..." */
void rig_sentence_add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text);

bool rig_sentence_writes(const struct rig_history *history, uint32_t txn, uint32_t key);
/* Proofs by cases. "T3's write of key 1 comes before T5's", for all keys that both write. */
void rig_sentence_order(const struct rig_history *history, uint32_t before, uint32_t after, struct rig_buf *text);
/* Behind the names of the transactions: " cannot be explained at ..." */
void rig_sentence_cases_title(const struct rig_cases *cases, struct rig_buf *text);
/* All lines and steps. False when memory runs out. */
bool rig_sentence_cases(const struct rig_history *history, const struct rig_cases *cases, struct rig_buf *text);
/* Words each line and each step by itself. False when memory runs out. */
bool rig_sentence_word_cases(const struct rig_history *history, struct rig_cases *cases, struct rig_arena *arena);

/* Words a witness, in `arena`: the steps that reports show, and the whole. False when memory runs out. */
bool rig_sentence_word(const struct rig_history *history, struct rig_witness *witness, struct rig_arena *arena);

#endif
