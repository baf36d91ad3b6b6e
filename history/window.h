/*
 * The part of a history that is in memory: joins segments, shows them as a history, and lets go of what is done with.
 *
 * A window that is never told to drop anything is the whole history: that is how history/load.h loads one. Otherwise a
 * check judges what a window shows, says which transactions were judged and which keys will be used no more, and the
 * window forgets the operations on these keys and every judged transaction that has no other operation left. Judged
 * transactions that stay (their `judged` is not 0) are there for their keys' sake only.
 *
 * Key and transaction numbers are the window's own and change with every drop; positions and keys' names stay.
 *
 * Space: that of the transactions held: 40 bytes each, 16 an operation, 8 an append, 8 to 16 an element; a hash table
 * over the keys held. Time: linear in what is added; a drop is linear in what the window holds. Threads: one at a time.
 */
#ifndef RIG_HISTORY_WINDOW_H
#define RIG_HISTORY_WINDOW_H

#include "base/err.h"
#include "history/history.h"
#include "history/segment.h"

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
 * The window as a history: borrowed, valid until the window changes. `with_open` puts the open transactions behind the
 * complete ones, as info without completion; else they are left out. NULL when memory runs out.
 */
const struct rig_history *rig_window_history(struct rig_window *window, bool with_open);

/* Complete transactions in the window. Those that a drop has left come first, in its order. */
uint32_t rig_window_txn_count(const struct rig_window *window);

/* Per key of the last rig_window_history(): operations of open transactions name it. */
bool rig_window_key_is_open(const struct rig_window *window, uint32_t key);
/* Per key: a number that grows with every transaction ever added, as it was when a complete transaction last used the
 * key; exact in the order of segments, about right within one. */
uint64_t rig_window_key_used_at(const struct rig_window *window, uint32_t key);
/* How many transactions pass from one operation on the key to the next, on average; UINT64_MAX while that is not known.
 */
uint64_t rig_window_key_gap(const struct rig_window *window, uint32_t key);
/* Operations on the key so far. */
uint64_t rig_window_key_use_count(const struct rig_window *window, uint32_t key);
uint64_t rig_window_used_now(const struct rig_window *window);

/*
 * Lets go, by the numbers of the last rig_window_history(false): sets `judged` of the transactions as given (0 keeps
 * what it was), forgets the operations on the keys to drop, and the judged transactions that have none left. Every
 * transaction of a dropped key must be judged.
 */
void rig_window_drop(struct rig_window *window, const uint8_t *judged, const uint8_t *drop_key);

size_t rig_window_bytes(const struct rig_window *window);
/* Of them, those that are filled, without what keys take; judging takes memory in proportion to these. */
size_t rig_window_filled_bytes(const struct rig_window *window);
/* About what they would be with one more segment like this one. */
size_t rig_window_bytes_with(const struct rig_window *window, const struct rig_segment *segment);
/* Gives back what it does not use, where that is much. The last rig_window_history() is valid no more. */
void rig_window_fit(struct rig_window *window);

/*
 * Gives the whole window away as a history of its own, open transactions included, and frees the window, also on
 * failure. Segments whose events were not in the order of their times are put in order here: positions become ranks by
 * (time, invocations before completions, position). RIG_E_INPUT for transactions that the order contradicts.
 */
enum rig_rc rig_window_give(struct rig_window *window, const struct rig_source_facts *facts,
                            struct rig_history **history, struct rig_err *err);

#endif
