/*
 * The transfer that explains a wrong total of a bank: a read of all accounts that shows one side of it.
 *
 * If the total is too low by the amount of a transfer, the read may show its withdrawal and not its deposit; if it is too
 * high, the reverse. A transfer that read its accounts before it changed them tells what they had before and after it, so a read that
 * shows just these balances shows its half. Among others, those that overlap the read come first, then the last one
 * before it.
 *
 * The transfer is an explanation, not a proof: updates may also have been lost. Time: linear in the operations.
 */
#ifndef RIG_CHECKER_INFER_COUNTER_HALVES_H
#define RIG_CHECKER_INFER_COUNTER_HALVES_H

#include "history/history.h"

/* The transfer, or UINT32_MAX: no single one explains the difference of the read's total from the right one. */
uint32_t rig_counter_half_seen(const struct rig_history *history, uint32_t reader, int64_t difference);

#endif
