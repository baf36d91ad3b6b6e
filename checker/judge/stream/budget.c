#include "checker/judge/stream/budget.h"

#include "base/bug.h"

enum {
    USUAL_LOAD_PERCENT = 250, /* of a history with cycles, which any window may turn out to have */
    MOST_LOAD_PERCENT = 2000,
    SLACK_PERCENT = 25,   /* margin: the next window may take more */
    FULL_PERCENT = 85,    /* of the budget: then the window is judged, even with few new transactions */
    KEPT_PERCENT = 40,    /* of the budget: the part of the window that stays should take no more */
    CROWDED_PERCENT = 40, /* of the budget: facts about keys should take no more */
    SEARCH_SHARE = 4,     /* of the rest, for memory of a search for cycles outside the arena */
    LEAST_IDLE = 2,       /* open transactions count in addition */
    PROGRAM_BYTES = 5 << 20,
    MOST_KNOWN_BYTES = 128 << 20, /* for facts about keys without a limit: about three million keys */
    PROGRAM_SHARE = 16,           /* plus this share of the limit: memory that the allocator cannot use */
};

void rig_budget_init(struct rig_budget *budget, size_t limit_bytes, uint32_t idle)
{
    size_t reserved_bytes = PROGRAM_BYTES + limit_bytes / PROGRAM_SHARE;
    *budget = (struct rig_budget){
        .limit_bytes = limit_bytes,
        .reserved_bytes = reserved_bytes < limit_bytes / 2 ? reserved_bytes : limit_bytes / 2,
        .load_percent = USUAL_LOAD_PERCENT,
        .least_percent = USUAL_LOAD_PERCENT,
        .idle = idle,
        .least_idle = idle,
    };
}

void rig_budget_take(struct rig_budget *budget, size_t taken_bytes)
{
    budget->taken_bytes = taken_bytes;
}

size_t rig_budget_bytes(const struct rig_budget *budget)
{
    if (budget->limit_bytes == 0)
        return SIZE_MAX;
    RIG_INVARIANT(budget->reserved_bytes <= budget->limit_bytes && budget->least_idle <= budget->idle);
    size_t left = budget->limit_bytes - budget->reserved_bytes;
    return left > budget->taken_bytes ? left - budget->taken_bytes : 1;
}

static uint64_t loaded(size_t filled_bytes, uint64_t percent)
{
    return filled_bytes + filled_bytes / 100 * percent;
}

bool rig_budget_is_spent(const struct rig_budget *budget, size_t window_bytes, size_t filled_bytes, size_t other_bytes)
{
    if (budget->limit_bytes == 0)
        return false;
    size_t empty_bytes = window_bytes > filled_bytes ? window_bytes - filled_bytes : 0;
    uint64_t held = empty_bytes + loaded(filled_bytes, budget->load_percent) + other_bytes;
    return held > rig_budget_bytes(budget) / 100 * FULL_PERCENT;
}

size_t rig_budget_left(const struct rig_budget *budget, size_t window_bytes, size_t other_bytes)
{
    size_t bytes = rig_budget_bytes(budget), taken = window_bytes + other_bytes;
    return bytes == SIZE_MAX ? bytes : taken < bytes ? (bytes - taken) / SEARCH_SHARE * (SEARCH_SHARE - 1) + 1 : 1;
}

bool rig_budget_is_crowded(const struct rig_budget *budget, size_t other_bytes)
{
    size_t most = budget->limit_bytes == 0 ? MOST_KNOWN_BYTES : rig_budget_bytes(budget) / 100 * CROWDED_PERCENT;
    return other_bytes > most;
}

void rig_budget_measure(struct rig_budget *budget, size_t judging_bytes, size_t filled_bytes)
{
    uint64_t percent = judging_bytes * (100 + SLACK_PERCENT) / (filled_bytes + 1);
    budget->least_percent = percent > MOST_LOAD_PERCENT ? MOST_LOAD_PERCENT : percent;
    budget->load_percent = percent > USUAL_LOAD_PERCENT ? budget->least_percent : USUAL_LOAD_PERCENT;
    RIG_INVARIANT(budget->least_percent <= budget->load_percent);
}

bool rig_budget_is_full(const struct rig_budget *budget, size_t kept_bytes)
{
    return budget->limit_bytes > 0 &&
           loaded(kept_bytes, budget->load_percent) > rig_budget_bytes(budget) / 100 * KEPT_PERCENT;
}

bool rig_budget_lower_idle(struct rig_budget *budget, size_t kept_bytes)
{
    if (budget->least_idle <= LEAST_IDLE || !rig_budget_is_full(budget, kept_bytes))
        return false;
    const uint32_t before = budget->least_idle;
    budget->least_idle = before / 4 > LEAST_IDLE ? before / 4 : LEAST_IDLE;
    RIG_INVARIANT(budget->least_idle < before && budget->least_idle <= budget->idle);
    return true;
}

size_t rig_budget_wanted(const struct rig_budget *budget, size_t filled_bytes, size_t other_bytes, bool clean)
{
    const uint64_t percent = (clean ? budget->least_percent : budget->load_percent) * SEARCH_SHARE / (SEARCH_SHARE - 1);
    uint64_t held = loaded(filled_bytes, percent) + other_bytes + budget->taken_bytes;
    return (size_t)(held + PROGRAM_BYTES) / (PROGRAM_SHARE - 1) * PROGRAM_SHARE;
}
