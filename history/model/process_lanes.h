/*
 * A history whose processes run in turn (`in_turn` in struct rig_history) in a form that files can hold: a process of a
 * file has one transaction under way at a time, and its events are in the order of their times.
 *
 * Transactions of one process that overlap go to several processes: the first keeps its number, the others get new
 * ones, each with transactions that do not overlap. So the file tells less than the history: what it refutes is
 * refuted, and the order between overlapping transactions of one process is lost. A time that would contradict the
 * positions becomes that of the event before.
 *
 * Time: O(n log n). Space: 80 bytes a transaction while it lives.
 */
#ifndef RIG_HISTORY_MODEL_PROCESS_LANES_H
#define RIG_HISTORY_MODEL_PROCESS_LANES_H

#include "base/err.h"
#include "history/model/history.h"

struct rig_process_lanes {
    struct rig_history history; /* shares everything except the transactions with its original */
    uint32_t moved;             /* transactions that got another process */
};

/* `history` runs in turn, and outlives the lanes. RIG_E_LIMIT. Release also after a failure. */
enum rig_rc rig_process_lanes_init(struct rig_process_lanes *lanes, const struct rig_history *history,
                                   struct rig_err *err);
void rig_process_lanes_done(struct rig_process_lanes *lanes);

#endif
