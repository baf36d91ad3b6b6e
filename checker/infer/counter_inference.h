/*
 * Inference for counters and banks. A read of a counter does not show which increments it includes, so there are no
 * dependencies: reads are compared with bounds.
 *
 * A counter begins at 0. impossible-value: no choice among the increments that did not fail sums up to the value that
 * was read: it is beyond the sum of all that point its way, or no multiple of their greatest common divisor.
 * counter-bounds: the value is less than the least, or more than the most, that the reader's time allows: increments of
 * transactions acknowledged before it was invoked count, those invoked before it completed may count, and its own
 * earlier ones do.
 *
 * A bank is a counter an account, of unknown initial balance; each transaction that increments several moves money
 * between them. wrong-total: a read of all accounts shows another total than the known one, or else than the first such
 * read. negative-balance: a balance below 0 was read. counter-bounds: two reads of an account contradict each other,
 * because the least balance with which it can have begun by the one is above the most by the other. A read that shows
 * no account gives no bound.
 *
 * Time: sorting the increments of each key, a binary search a read. Space: 88 bytes an increment.
 */
#ifndef RIG_CHECKER_INFER_COUNTER_INFERENCE_H
#define RIG_CHECKER_INFER_COUNTER_INFERENCE_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/infer/inference.h"
#include "checker/model/assumption.h"

/* As rig_type_inference.infer. Assumed of a bank: RIG_ASSUMES_NEGATIVE_BALANCES, they are no anomaly; and the total.
 * RIG_E_INPUT also for increments that sum up to 2^62 or more, and for a transaction that did not fail and changes the
 * total of a bank. */
enum rig_rc rig_infer_counters(const struct rig_history *history, struct rig_assumptions assumptions,
                               uint32_t most_kept, struct rig_arena *arena, struct rig_inference *inference,
                               struct rig_err *err);
enum rig_rc rig_infer_banks(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                            struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err);

#endif
