/*
 * Sorts the transactions of a history that is being built into completion order; those without completion follow, by
 * invocation. Private to history/: the history owns its arrays, and nothing refers to transactions yet.
 *
 * RIG_E_INPUT where positions contradict each other, RIG_E_LIMIT when memory runs out.
 */
#ifndef RIG_HISTORY_MODEL_HISTORY_ORDER_H
#define RIG_HISTORY_MODEL_HISTORY_ORDER_H

#include "base/err.h"
#include "history/model/history.h"

/* By the positions. Time: linear if they are in order, else O(n log n). */
enum rig_rc rig_history_order_by_position(struct rig_history *history, struct rig_err *err);

/*
 * By time: positions, which number the events from 0 without gaps, become ranks by (time, invocations before
 * completions, position). Time: O(n log n). Space: temporarily 36 bytes an event.
 */
enum rig_rc rig_history_order_by_time(struct rig_history *history, struct rig_err *err);

#endif
