/*
 * A history as the records that several ranks of one run would have made of it, each with a clock of its own.
 *
 * Process p is of rank p modulo the number of ranks. Rank 0's clock is the one of the history's times. The other clocks
 * are shifted and drift; samples of them are wrong by less than their error bound.
 */
#ifndef RIG_TESTS_MODEL_SPLIT_RANKS_H
#define RIG_TESTS_MODEL_SPLIT_RANKS_H

#include <stdbool.h>

#include "history/model/history.h"

struct split_ranks {
    uint32_t count;
    uint64_t seed;
    int64_t shift_ns;                /* clocks are shifted by at most this, either way */
    int64_t error_ns;                /* of samples */
    double drift;                    /* rates differ by at most this share */
    uint32_t sample_count;           /* at least 2: before and after, and between them */
    int64_t step_ns;                 /* the clock of rank 1 steps by this half-way; 0: it does not */
    bool moves;                      /* the last transaction of a process is of the next rank, which no run does */
    size_t frame_bytes, block_bytes; /* of the records; 0: the usual ones */
};

/* The times of the history become such that its order of events is that of its times: `step_ns` from one to the next,
 * and a number of events at the same time. */
void split_ranks_spread_times(struct rig_history *history, int64_t step_ns, uint32_t events_at_a_time);
/* Writes PREFIX.<rank>.rig. Every transaction has times. Stops the program with a message where that fails. */
void split_ranks(const struct rig_history *history, const struct split_ranks *options, const char *prefix);

#endif
