/*
 * The type of a classic history (classic_operations.h), from the names of its operations and the shapes of their
 * values.
 *
 * A type is taken only where these exclude every other one. A read of a list after writes of numbers, such as
 *
 *   {:f :write, :value 1}, {:f :read, :value [1 2]}
 *
 * may show the rows of dirty-reads, a list to which values were appended, or a set: nothing in the file tells, and a
 * guess would decide the verdict.
 *
 * Time: linear. Space: constant. Threads: one at a time. Private to history/text/.
 */
#ifndef RIG_HISTORY_TEXT_CLASSIC_GUESS_H
#define RIG_HISTORY_TEXT_CLASSIC_GUESS_H

#include "history/text/classic_private.h"

/* Workloads that operations without transactions fit, a bit each. 0: no classic one alone; then the names of the
 * operations decide among the types of objects. `numbered`: increments show numbers as those of monotonic do. */
uint32_t rig_classic_candidates(const struct rig_classic *r, bool numbered);

#endif
