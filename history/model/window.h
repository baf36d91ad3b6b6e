/*
 * The part of a history that is in memory: joins segments, shows them as a history, and forgets released keys.
 *
 * A window without a release is the whole history: that is how history/source/load.h loads one. Otherwise a check
 * judges the history that the window shows, says which transactions are settled and which keys it releases, and the
 * window forgets the operations on these keys, and every settled transaction without other operations.
 * history/model/window_view.h is the contract of this.
 *
 * Space: that of the transactions held: 40 bytes each, 16 an operation, 8 an append, 8 to 16 an element; a hash table
 * over the keys held. Time: linear in what is added; a release is linear in what the window holds. Threads: one at a
 * time.
 */
#ifndef RIG_HISTORY_MODEL_WINDOW_H
#define RIG_HISTORY_MODEL_WINDOW_H

#include "base/err.h"
#include "history/model/history.h"
#include "history/model/segment.h"
#include "history/model/window_view.h"

struct rig_window;
struct rig_source_facts;

/* `limit_bytes` 0: no limit. NULL when memory runs out. */
struct rig_window *rig_window_new(enum rig_workload workload, size_t limit_bytes);
/* Takes NULL. */
void rig_window_free(struct rig_window *window);

/* Takes over what the segment holds. RIG_E_LIMIT when memory or the limit is spent; the window can then only be freed.
 */
enum rig_rc rig_window_add(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err);

/*
 * The window as a history (history/model/window_view.h): borrowed, valid until the window changes. `with_open` adds the
 * open transactions after the complete ones, as info without completion; else they are left out. NULL when memory runs
 * out.
 */
const struct rig_history *rig_window_history(struct rig_window *window, bool with_open);

/* Complete transactions in the window. */
uint32_t rig_window_txn_count(const struct rig_window *window);

/* Per key of the last rig_window_history(): an open transaction names it. */
bool rig_window_key_is_open(const struct rig_window *window, uint32_t key);

/* Times of use count transactions: `now` is the number ever added, the time of a key is that of the last complete
 * transaction that used it. Exact in the order of segments, estimated within one. */
uint64_t rig_window_used_now(const struct rig_window *window);
uint64_t rig_window_key_used_at(const struct rig_window *window, uint32_t key);
/* Average time from one operation on the key to the next; UINT64_MAX while that is not known. */
uint64_t rig_window_key_gap(const struct rig_window *window, uint32_t key);
/* Operations on the key so far. */
uint64_t rig_window_key_use_count(const struct rig_window *window, uint32_t key);

/*
 * Settles transactions and releases keys, with the numbers of the last rig_window_history(false). `settled`: enum
 * rig_settled per transaction; RIG_SETTLED_NOT leaves it as it was. `release_key` per key: not 0 if it is released.
 * history/model/window_view.h says what is required.
 */
void rig_window_release(struct rig_window *window, const uint8_t *settled, const uint8_t *release_key);

/*
 * Forgets transactions and all their operations, with the numbers of the last rig_window_history(false); `dropped`: not
 * 0. Keys keep their numbers. Only for types without lists.
 */
void rig_window_drop(struct rig_window *window, const uint8_t *dropped);

size_t rig_window_bytes(const struct rig_window *window);
/* The filled part of them, without keys; judging takes memory in proportion to it. */
size_t rig_window_filled_bytes(const struct rig_window *window);
/* An estimate of rig_window_bytes() after adding this segment. */
size_t rig_window_bytes_with(const struct rig_window *window, const struct rig_segment *segment);
/* Frees unused memory, if it is much. The last rig_window_history() becomes invalid. */
void rig_window_fit(struct rig_window *window);

/* Names of rows for its keys; NULL: none. */
void rig_window_name_rows(struct rig_window *window, const struct rig_row_names *names);
/* The specification of its objects; NULL: none. */
void rig_window_specify(struct rig_window *window, const struct rig_specification *specification);

/*
 * Turns the whole window into a history that the caller owns, open transactions included, and frees the window, also on
 * failure. Segments whose events were not in the order of their times are sorted here: positions become ranks by (time,
 * invocations before completions, position). RIG_E_INPUT for transactions that the order contradicts.
 */
enum rig_rc rig_window_give(struct rig_window *window, const struct rig_source_facts *facts,
                            struct rig_history **history, struct rig_err *err);

#endif
