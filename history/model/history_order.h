/*
 * Sorts the transactions of a history that is being built into completion order; those without completion follow, by
 * invocation. Private to history/: the history owns its arrays, and nothing refers to transactions yet.
 *
 * RIG_E_INPUT where positions contradict each other, RIG_E_LIMIT when memory runs out.
 */
#ifndef RIG_HISTORY_MODEL_HISTORY_ORDER_H
#define RIG_HISTORY_MODEL_HISTORY_ORDER_H

#include "base/err.h"
#include "history/merge/rank_facts.h"
#include "history/model/certificate.h"
#include "history/model/columns.h"
#include "history/model/fault_event.h"
#include "history/model/growing_list.h"
#include "history/model/history.h"
#include "history/text/text_table.h"

/*
 * The memory that a whole history owns in addition to its arrays.
 */

struct rig_history_storage {
    struct rig_list_pool pool; /* of all lists */
    struct rig_text_table key_texts;
    struct rig_text_table errors;
    struct rig_columns columns;
    struct rig_fault_event_vec faults;
    struct rig_arena fault_texts;
    struct rig_certificate certificate;
    struct rig_clock_samples clock;
};

/* By the positions. Time: linear if they are in order, else O(n log n). */
enum rig_rc rig_history_order_by_position(struct rig_history *history, struct rig_err *err);

/*
 * By time: positions, which number the events from 0 without gaps, become ranks by (time, invocations before
 * completions, position). Time: O(n log n). Space: temporarily 36 bytes an event.
 */
enum rig_rc rig_history_order_by_time(struct rig_history *history, struct rig_err *err);

#endif
