/*
 * Inference for list-append: from a history to its version orders, its non-cyclic anomalies and its dependency graph
 * (Kingsbury & Alvaro 2020, sections 4 and 5; Adya, Liskov & O'Neil 2000, section 4).
 *
 * Edges: ww between writers of successive versions; wr from the writer of the last element that a read shows, its own
 * elements at the end left out, to the reader; rw from the reader of a version to the writer of the next. A committed
 * append that no read shows comes after the last version observed. No transaction depends on itself. Transactions that
 * did not, or may not, have committed contribute nothing. A contested key (rig_versions_contest()) gives wr edges only.
 *
 * Time and space: linear in the history.
 */
#ifndef RIG_CHECKER_INFER_LIST_INFERENCE_H
#define RIG_CHECKER_INFER_LIST_INFERENCE_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/infer/inference.h"
#include "checker/model/assumption.h"

/* Arrays come from `arena`, which must outlive the inference; release the rest with rig_inference_done(), also after a
 * failure. */
enum rig_rc rig_infer_list_append(const struct rig_history *history, struct rig_assumptions assumptions,
                                  uint32_t most_kept, struct rig_arena *arena, struct rig_inference *inference,
                                  struct rig_err *err);
/* The same without the fast path for plain transactions, which must agree with it. */
enum rig_rc rig_infer_list_append_in_full(const struct rig_history *history, struct rig_assumptions assumptions,
                                          uint32_t most_kept, struct rig_arena *arena, struct rig_inference *inference,
                                          struct rig_err *err);
/* Adds lost updates and lost appends. They lie on cycles (of lost appends: with real-time order) unless reads
 * contradict each other, or show the reader's own later append; when there is none of these, it does nothing. False
 * when memory runs out. */
bool rig_infer_list_rest(struct rig_inference *inference, bool cyclic, bool realtime);
/* See struct rig_type_inference. The items share the versions of the inference. */
bool rig_infer_items_of_lists(const struct rig_inference *inference, const uint8_t *among, struct rig_inference *items);
/* Adds the edges between unread appends of a key, both ways (list_lost.h). False when memory runs out. */
bool rig_infer_list_any_order(struct rig_inference *inference);

#endif
