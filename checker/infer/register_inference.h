/*
 * Inference for registers: from a history to its versions, their partial order under the user's assumptions
 * (registers.h), the non-cyclic anomalies internal, G1a, G1b, garbage-read, future-read, lost-update,
 * lost-write (register_lost.h) and cyclic-versions, and the dependency graph.
 *
 * Edges: wr from the writer of a value to its readers; where version v is known to come directly before w, ww from the
 * writer of v to that of w, and rw from the readers of v to the writer of w. The order is partial, so a level that is
 * not refuted need not hold: the unordered versions may have no valid order.
 *
 * Time: linear, except what registers.h and register_orders.h say, and the writers of a version's neighbours, which
 * are sorted. Space: that of these, 28 bytes a version and 12 an operation.
 */
#ifndef RIG_CHECKER_INFER_REGISTER_INFERENCE_H
#define RIG_CHECKER_INFER_REGISTER_INFERENCE_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/infer/inference.h"

/* `assumptions`: as rig_registers_build(). Otherwise as rig_infer_list_append(). */
enum rig_rc rig_infer_registers(const struct rig_history *history, struct rig_assumptions assumptions,
                                uint32_t most_kept, struct rig_arena *arena, struct rig_inference *inference,
                                struct rig_err *err);

/* See struct rig_type_inference. The items share the versions of the inference. */
bool rig_infer_items_of_registers(const struct rig_inference *inference, const uint8_t *among,
                                  struct rig_inference *items);

#endif
