/*
 * Witnesses in words. Reads only the history and the witness, so the words agree with the data.
 */
#ifndef RIG_CHECKER_EXPLAIN_SENTENCE_H
#define RIG_CHECKER_EXPLAIN_SENTENCE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "checker/model/verdict.h"
#include "history/model/history.h"

/*
 * The answer of a transaction in words: how it ended and why it failed, and by its side columns
 * (history/model/columns.h) which node and backend answered it, at what time of the wall clock, and how long the client
 * held it open. Each function adds nothing where nothing is known.
 */

enum { RIG_UTC_BYTES = 40, RIG_REASON_BYTES = 240 };

/* The wall-clock time of a time of a history that began at `start_utc_ns`, as "2026-03-01T12:03:04.567Z"; false when it
 * is not known. */
bool rig_answered_utc(int64_t start_utc_ns, int64_t time_ns, char text[static RIG_UTC_BYTES]);

/* The recorded reason why a transaction failed, "40001: could not serialize access": the server's code and text, or the
 * driver's own where COMMIT was never sent. One line, cut at RIG_REASON_BYTES. False when it did not fail or no reason
 * is recorded, and for a part that was rolled back to a savepoint, which has words of its own. */
bool rig_answered_reason(const struct rig_history *history, uint32_t txn, char reason[static RIG_REASON_BYTES]);

/* "T17 before T23: ..." */
void rig_sentence_add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text);

bool rig_sentence_writes(const struct rig_history *history, uint32_t txn, uint32_t key);
/* Behind the names of the transactions: " cannot be explained at ..." */
void rig_sentence_cases_title(const struct rig_cases *cases, struct rig_buf *text);
/* All lines and steps. False when memory runs out. */
bool rig_sentence_cases(const struct rig_history *history, const struct rig_cases *cases, struct rig_buf *text);
/* Words each line and each step by itself. False when memory runs out. */
bool rig_sentence_word_cases(const struct rig_history *history, struct rig_cases *cases, struct rig_arena *arena);

/* Words a witness, in `arena`: the steps that reports show, and the whole. False when memory runs out. */
bool rig_sentence_word(const struct rig_history *history, struct rig_witness *witness, struct rig_arena *arena);
/* The same of transactions whose reads have no choice of writes that the level allows; `cases`: lines of their own,
 * each after a line feed. */
bool rig_sentence_word_choices(const struct rig_history *history, struct rig_witness *witness, enum rig_level level,
                               const char *cases, struct rig_arena *arena);

#endif
