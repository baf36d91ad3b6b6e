/*
 * The last use of every key of a history, noted while it is read: a second check in windows (stream.h) knows the
 * finished keys and need not guess.
 *
 * A use is any transaction that names the key, complete or open. A key last used by a transaction that never completed
 * is never reported as finished.
 *
 * Space: of keys that are numbers, 7 to 11 bytes each where they lie close together, 60 where they do not; of text
 * keys, which are known by a hash of 64 bits, 14 to 28. (Two texts with one hash count as one key, which finishes with
 * the later of both: that costs memory and does not change the verdict.) Time: one look-up for each key of a segment.
 * Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_STREAM_FULL_H
#define RIG_CHECKER_JUDGE_STREAM_STREAM_FULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/model/history.h"
#include "history/model/segment.h"

struct rig_census;

/* NULL when memory runs out. */
struct rig_census *rig_census_new(void);
/* Takes NULL. */
void rig_census_free(struct rig_census *census);
size_t rig_census_bytes(const struct rig_census *census);

/* Notes the next segment; false when memory runs out. */
bool rig_census_note(struct rig_census *census, const struct rig_segment *segment);

/* Notes the last use of a key that is a number: the number of transactions complete then; UINT32_MAX: never. False when
 * memory runs out. */
bool rig_census_put(struct rig_census *census, int64_t key, uint32_t last);

/* Whether the key of `history` (a window's) is used after the first `txn_count` complete transactions, which must end
 * where a noted segment ended. True for a key that was never noted. */
bool rig_census_is_used_after(const struct rig_census *census, const struct rig_history *history, uint32_t key,
                              uint64_t txn_count);

#endif
