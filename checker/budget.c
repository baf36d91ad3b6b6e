#include "checker/budget.h"

enum {
    FIRST_LOAD_PERCENT = 250, /* until it is measured */
    MOST_LOAD_PERCENT = 1000,
    SLACK_PERCENT = 20, /* the next window may take more */
    FULL_PERCENT = 80,  /* of the budget: then the window is judged, however little is new */
    KEPT_PERCENT = 40,  /* of the budget: what is kept should take no more */
    LEAST_IDLE = 256,   /* more than are open at a time, mostly */
    RESERVED_BYTES = 16 << 20,
};

/* What the limit leaves, beside the program itself and the parts of the file that are being read. */
void rig_budget_init(struct rig_budget *budget, size_t limit_bytes, size_t taken_bytes, uint32_t idle)
{
    const size_t reserved_bytes = RESERVED_BYTES;
    if (taken_bytes < limit_bytes)
        limit_bytes -= taken_bytes;
    *budget = (struct rig_budget){
        .bytes = limit_bytes > 2 * reserved_bytes ? limit_bytes - reserved_bytes : limit_bytes / 2,
        .load_percent = FIRST_LOAD_PERCENT,
        .idle = idle,
        .bold_idle = idle,
    };
}

static uint64_t loaded(const struct rig_budget *budget, size_t window_bytes)
{
    return window_bytes + window_bytes / 100 * budget->load_percent;
}

bool rig_budget_is_spent(const struct rig_budget *budget, size_t window_bytes, size_t other_bytes)
{
    return budget->bytes > 0 && loaded(budget, window_bytes) + other_bytes > budget->bytes / 100 * FULL_PERCENT;
}

size_t rig_budget_left(const struct rig_budget *budget, size_t window_bytes, size_t other_bytes)
{
    if (budget->bytes == 0)
        return SIZE_MAX;
    size_t taken = window_bytes + other_bytes;
    return taken < budget->bytes ? budget->bytes - taken : 1;
}

void rig_budget_measure(struct rig_budget *budget, size_t judging_bytes, size_t window_bytes)
{
    uint64_t percent = judging_bytes * 100 / (window_bytes + 1) + SLACK_PERCENT;
    budget->load_percent = percent > MOST_LOAD_PERCENT ? MOST_LOAD_PERCENT : percent;
}

bool rig_budget_gets_bolder(struct rig_budget *budget, size_t kept_bytes)
{
    if (budget->bytes == 0 || budget->bold_idle <= LEAST_IDLE ||
        loaded(budget, kept_bytes) <= budget->bytes / 100 * KEPT_PERCENT)
        return false;
    budget->bold_idle = budget->bold_idle / 4 > LEAST_IDLE ? budget->bold_idle / 4 : LEAST_IDLE;
    return true;
}
