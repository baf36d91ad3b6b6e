/*
 * Real time in cycles with one rw edge or one transaction that writes nothing. All edges but those that make the
 * question lead to higher ranks, so of two real-time edges of such a cycle one, or one between their ends, closes a
 * shorter cycle with the question (intervals contain no 2+2): one real-time edge suffices. A cycle with it exists
 * exactly if something that the missed write leads to ended before something was invoked that leads to the reader.
 *
 * Time: linear. Space: 12 bytes a transaction, 4 a write.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_TIMES_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_TIMES_H

#include "checker/decide/solve/breach_order.h"
#include "checker/decide/solve/breach_states.h"

struct rig_times {
    const uint32_t *early;  /* per node: the first end among it and those that it leads to */
    const uint32_t *late;   /* per node: the last invocation among it and those that lead to it */
    const uint32_t *missed; /* per write: the first of `early` among its writer and those of later versions */
};

/* By the edges of `moves` and process order, without real time and without the rw edges of `mute` (NULL: with all).
 * `rank`: per node, below `rank_count`. False when memory runs out. */
bool rig_times_find(const struct rig_ordered *ordered, struct rig_moves moves, const uint8_t *mute,
                    const uint32_t *rank, uint32_t rank_count, struct rig_times *times, struct rig_arena *arena);

#endif
