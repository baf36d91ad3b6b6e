/*
 * A history with keys that come back long after their last use: what a check in windows took to be done with.
 *
 * Transactions of one operation are put in between those of a given history, each on a key that was last used well
 * before: reads of the whole list, or of a part of it as it was long ago; reads that show the append of a transaction
 * of unknown fate, or of one that failed, which nobody had seen; reads of what nobody had read; appends.
 */
#ifndef RIG_TESTS_MODEL_LATE_HISTORY_H
#define RIG_TESTS_MODEL_LATE_HISTORY_H

#include "history/history.h"

enum late_kind { LATE_WHOLE, LATE_STALE, LATE_UNKNOWN, LATE_FAILED, LATE_UNREAD, LATE_APPEND, LATE_KINDS };

/*
 * `count` of them at most, at places that the seed decides, of the kinds in `kinds` (bits), each at least `idle`
 * transactions behind the last use of its key. The history is of lists, and its keys are numbers. Gives; stops the
 * program when memory runs out.
 */
struct rig_history *late_history(const struct rig_history *history, uint64_t seed, uint32_t count, unsigned kinds,
                                 uint32_t idle);

#endif
