/*
 * How much memory a check in windows (windows.h) may take, and what it does as that gets short: windows end earlier,
 * and keys are taken to be done with sooner.
 *
 * Beside the window judging takes memory in proportion to it, which each judgement measures. Threads: one.
 */
#ifndef RIG_CHECKER_BUDGET_H
#define RIG_CHECKER_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rig_budget {
    size_t bytes;          /* for the window and what judging it takes; 0: no limit */
    uint64_t load_percent; /* what judging takes beside the window, in its size */
    uint32_t idle;         /* transactions after which a key that nobody used is taken to be done with, and */
    uint32_t bold_idle;    /*   one that can come back without harm, as far as can be told */
};

/* `limit_bytes` is for the whole program (0: no limit), of which the source keeps `taken_bytes`. */
void rig_budget_init(struct rig_budget *budget, size_t limit_bytes, size_t taken_bytes, uint32_t idle);
/* A window of so many bytes has to be judged, beside so many other bytes, or it would soon be too large to be. */
bool rig_budget_is_spent(const struct rig_budget *budget, size_t window_bytes, size_t other_bytes);
/* What is left for judging it: a limit for an arena. */
size_t rig_budget_left(const struct rig_budget *budget, size_t window_bytes, size_t other_bytes);
/* What judging it took. */
void rig_budget_measure(struct rig_budget *budget, size_t judging_bytes, size_t window_bytes);
/* Where a judgement would leave so many bytes of its window that hardly any others fit beside them: lowers bold_idle
 * and is true, as long as it can be lower. */
bool rig_budget_gets_bolder(struct rig_budget *budget, size_t kept_bytes);

#endif
