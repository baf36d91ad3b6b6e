/*
 * A history with keys that are used again long after their last use, when a check in windows had taken them to be
 * finished.
 *
 * Transactions of one operation are inserted between those of a given history, each on a key that was last used well
 * before: reads of the whole list, or of an old prefix of it; reads that show the append of an indeterminate or failed
 * transaction that no read had shown; reads of keys that had no read; appends.
 */
#ifndef RIG_TESTS_MODEL_LATE_HISTORY_H
#define RIG_TESTS_MODEL_LATE_HISTORY_H

#include "history/model/history.h"

enum late_kind { LATE_WHOLE, LATE_STALE, LATE_UNKNOWN, LATE_FAILED, LATE_UNREAD, LATE_APPEND, LATE_KINDS };

/*
 * At most `count` of them, at places that the seed decides, of the kinds in `kinds` (bits), each at least `idle`
 * transactions behind the last use of its key. The history is of lists, and its keys are numbers. The caller owns the
 * result; stops the program when memory runs out.
 */
struct rig_history *late_history(const struct rig_history *history, uint64_t seed, uint32_t count, unsigned kinds,
                                 uint32_t idle);

#endif
