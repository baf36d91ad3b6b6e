/*
 * How much memory a check in windows (stream.h) may take, and what it does as that gets short: windows end earlier,
 * keys are taken to be done with sooner, and those that are done with are forgotten.
 *
 * Of the limit, which is for the whole program, some is for the program itself, and some the source takes, which may
 * turn out to be more as it goes on. The rest is for the window, for judging it, and for what is known of keys. Judging
 * takes memory in proportion to the window, which each judgement measures. Threads: one.
 */
#ifndef RIG_CHECKER_STREAM_BUDGET_H
#define RIG_CHECKER_STREAM_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rig_budget {
    size_t limit_bytes;     /* 0: none; the others are 0 as well then */
    size_t reserved_bytes;  /* for the program itself */
    size_t taken_bytes;     /* by the source */
    uint64_t load_percent;  /* what judging takes beside the window, of what is filled of it; in case it becomes more */
    uint64_t least_percent; /* what it took */
    uint32_t idle;          /* transactions after which an unused key counts as finished, and */
    uint32_t least_idle;    /*   one that can come back without harm, as far as can be told */
};

/* `limit_bytes` 0: no limit. */
void rig_budget_init(struct rig_budget *budget, size_t limit_bytes, uint32_t idle);
/* The source takes so much. */
void rig_budget_take(struct rig_budget *budget, size_t taken_bytes);
/* Bytes left for the window, its judgement and the memory of keys; SIZE_MAX: no limit. */
size_t rig_budget_bytes(const struct rig_budget *budget);
/* A window of so many bytes, of which so many are filled, has to be judged, beside so many other bytes, or it would
 * soon be too large to be. */
bool rig_budget_is_spent(const struct rig_budget *budget, size_t window_bytes, size_t filled_bytes, size_t other_bytes);
/* Bytes left for its judgement: a limit for an arena. */
size_t rig_budget_left(const struct rig_budget *budget, size_t window_bytes, size_t other_bytes);
/* So many bytes for what is known of keys are too many, limit or not. */
bool rig_budget_is_crowded(const struct rig_budget *budget, size_t other_bytes);
/* Reports the bytes that its judgement took. */
void rig_budget_measure(struct rig_budget *budget, size_t judging_bytes, size_t filled_bytes);
/* Where a judgement would leave so many bytes of its window filled that hardly any others fit beside them: lowers
 * least_idle and is true, as long as it can be lower. */
bool rig_budget_halve_idle(struct rig_budget *budget, size_t kept_bytes);
/* The limit under which a window of so many filled bytes, beside so many others, can be judged; if not `clean`, with
 * more to search. */
size_t rig_budget_wanted(const struct rig_budget *budget, size_t filled_bytes, size_t other_bytes, bool clean);

#endif
