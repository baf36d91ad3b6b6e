/*
 * The transfers that explain a wrong total of a bank: a read of all accounts that shows one side of each.
 *
 * If the total is too low by the amount of a transfer, the read may show its withdrawal and not its deposit; if it is
 * too high, the reverse. A transfer that read its accounts before it changed them tells what they had before and after
 * it, so a read that shows just these balances shows its half. Among others, those that overlap the read come first,
 * then the last one before it.
 *
 * A failed transaction that would change the total by the difference, such as a part that was rolled back to a
 * savepoint, comes after a transfer that left the balances that the read shows, and before all others.
 *
 * Where neither explains it, the fewest do that were under way, or left the balances that the read shows, and whose
 * sides add up to the difference: two or three, those of the last 40 whose balances fit best.
 *
 * The transfers are an explanation, not a proof: updates may also have been lost. Time: linear in the operations.
 */
#ifndef RIG_CHECKER_INFER_COUNTER_HALVES_H
#define RIG_CHECKER_INFER_COUNTER_HALVES_H

#include "history/model/history.h"

enum { RIG_HALVES_MOST = 3 };

struct rig_halves {
    uint32_t txns[RIG_HALVES_MOST];
    uint32_t count; /* 0: none explain the difference */
};

/* `difference`: of the read's total from the right one. */
void rig_counter_halves_seen(const struct rig_history *history, uint32_t reader, int64_t difference,
                             struct rig_halves *halves);

#endif
