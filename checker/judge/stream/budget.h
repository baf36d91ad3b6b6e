/*
 * The memory budget of a check in windows (stream.h). When memory is short, windows end earlier, unused keys retire
 * sooner, and retired keys are forgotten.
 *
 * The limit is for the whole program. The program itself takes a share, and so does the source, whose share may grow.
 * The rest is for the window, for judging it, and for facts about keys. Judging takes memory in proportion to the
 * window; each judgement measures the factor. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_BUDGET_H
#define RIG_CHECKER_JUDGE_STREAM_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rig_budget {
    size_t limit_bytes;     /* 0: none; the others are 0 as well then */
    size_t reserved_bytes;  /* for the program itself */
    size_t taken_bytes;     /* by the source */
    uint64_t load_percent;  /* memory for judging, of the filled part of the window, with a margin */
    uint64_t least_percent; /* the same as measured */
    uint32_t idle;          /* transactions after which an unused key counts as finished */
    uint32_t least_idle;    /* the same for a key that can be used again without a conflict, as far as is known */
};

/* `limit_bytes` 0: no limit. */
void rig_budget_init(struct rig_budget *budget, size_t limit_bytes, uint32_t idle);
/* Sets the memory that the source takes. */
void rig_budget_take(struct rig_budget *budget, size_t taken_bytes);
/* Bytes left for the window, its judgement and the memory of keys; SIZE_MAX: no limit. */
size_t rig_budget_bytes(const struct rig_budget *budget);
/* Whether a window has to be judged now, because it would soon be too large for it: `filled_bytes` of its
 * `window_bytes` are filled, and the check holds `other_bytes` beside it. */
bool rig_budget_is_spent(const struct rig_budget *budget, size_t window_bytes, size_t filled_bytes, size_t other_bytes);
/* Bytes left for its judgement, as the limit of an arena. */
size_t rig_budget_left(const struct rig_budget *budget, size_t window_bytes, size_t other_bytes);
/* Whether facts about keys take too many bytes, with a limit or without. */
bool rig_budget_is_crowded(const struct rig_budget *budget, size_t other_bytes);
/* Records the bytes that a judgement took. */
void rig_budget_measure(struct rig_budget *budget, size_t judging_bytes, size_t filled_bytes);
/* Whether a judgement would leave too much of its window filled (`kept_bytes`). */
bool rig_budget_is_full(const struct rig_budget *budget, size_t kept_bytes);
/* When a judgement would leave too much of its window filled (`kept_bytes`): lowers least_idle to a quarter. False when
 * it is at the minimum already, or enough memory is left. */
bool rig_budget_lower_idle(struct rig_budget *budget, size_t kept_bytes);
/* The limit under which a window with `filled_bytes`, beside `other_bytes`, can be judged; if not `clean`, with memory
 * for the search for cycles. */
size_t rig_budget_wanted(const struct rig_budget *budget, size_t filled_bytes, size_t other_bytes, bool clean);

#endif
