/*
 * The offset between the clock of this rank and that of rank 0, from round trips.
 *
 * A round trip that leaves at t0 and is back at t1 shows a time of rank 0 from between: the offset is (t0 + t1) / 2
 * away from it, with an error of at most (t1 - t0) / 2, whatever the two ways took. Only the shortest round trip of an
 * interval is kept (the minimum filter). Rates of clocks differ by less than RIG_CLOCK_DRIFT_PPM; two samples that lie
 * further apart than that and their errors show that a clock has stepped, or that the machine stood still.
 *
 * Space: RIG_CLOCK_OFFSETS_MOST samples; when they are full every other one goes and intervals double. Threads: one.
 */
#ifndef RIG_RUN_RANKS_CLOCK_OFFSETS_H
#define RIG_RUN_RANKS_CLOCK_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

enum { RIG_CLOCK_OFFSETS_MOST = 1024, RIG_CLOCK_DRIFT_PPM = 500 };

struct rig_offset_sample {
    int64_t local_ns;  /* this rank's clock */
    int64_t offset_ns; /* rank 0's clock minus this one's */
    uint64_t error_ns; /* of the offset, at that time */
};

/* A zeroed one is empty. */
struct rig_clock_offsets {
    struct rig_offset_sample samples[RIG_CLOCK_OFFSETS_MOST];
    uint32_t count;
    int64_t interval_ns;
    struct rig_offset_sample best; /* of the interval that is under way */
    bool has_best;
    int64_t interval_began_ns;
    uint32_t steps;          /* how often a clock stepped */
    int64_t largest_step_ns; /* the offset's change */
};

/* A round trip that left at t0 and was back at t1 by this rank's clock; rank 0's clock in between. True: a clock has
 * stepped since the sample before. */
bool rig_clock_offsets_note(struct rig_clock_offsets *clock, int64_t t0_ns, int64_t rank_0_ns, int64_t t1_ns);
/* Keeps the best sample of the interval that is under way. True: a clock has stepped. */
bool rig_clock_offsets_settle(struct rig_clock_offsets *clock);

#endif
