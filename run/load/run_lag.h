/*
 * How far something that follows the run is behind it: remembers when the run had come how far.
 *
 * Private to run/load/. Space: fixed; what is remembered gets coarser the longer it goes back. Threads: one at a time.
 */
#ifndef RIG_RUN_LOAD_RUN_LAG_H
#define RIG_RUN_LOAD_RUN_LAG_H

#include <stdint.h>

enum { RIG_LAG_SAMPLES = 64 };

struct rig_lag_sample {
    int64_t at_ns;
    uint64_t done;
};

/* A zeroed one is empty. */
struct rig_lag {
    struct rig_lag_sample samples[RIG_LAG_SAMPLES];
    uint32_t count;
    int64_t spacing_ns; /* between two samples; doubles when they have filled up */
};

/* The run has `done` behind it now. */
void rig_lag_note(struct rig_lag *lag, int64_t now_ns, uint64_t done);
/* For how long the run has had more done than `followed`, as far as is remembered; 0: it has not. */
int64_t rig_lag_behind_ns(struct rig_lag *lag, int64_t now_ns, uint64_t followed);

#endif
