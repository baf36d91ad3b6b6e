/*
 * When the elements of sets became visible: pure data, of a history that was judged as a whole (infer/set_times.h).
 *
 * An element is known from the moment at which its addition was acknowledged, or at which an acknowledged read that
 * shows it ended, whichever is first. The last read that shows it, and the last one that misses it, are those invoked
 * last. An element is
 *   stable      if no read that misses it was invoked after the last one that shows it; and stale, too, if a read that
 *               misses it was invoked after it was known. Its latency is the time from then to the last such read;
 *   lost        if the last read that misses it was invoked after it was known, and after each read that shows it;
 *   never read  otherwise.
 * These are the terms of Jepsen's set-full.
 */
#ifndef RIG_CHECKER_ELEMENT_TIMES_H
#define RIG_CHECKER_ELEMENT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

enum { RIG_STALE_KEPT = 8, RIG_ELEMENT_QUANTILES = 5 };

/* In percent, by place in quantile_ns. */
static const int rig_element_percents[RIG_ELEMENT_QUANTILES] = {0, 50, 95, 99, 100};

struct rig_stale_element {
    int64_t value;
    int64_t latency_ns;
    uint32_t key;    /* of the history */
    uint32_t writer; /* transaction */
};

struct rig_element_times {
    bool measured;      /* else the type has no elements, the history no times, or it was judged in windows */
    uint64_t attempted; /* elements of transactions that did not fail */
    uint64_t known;     /* of them; and of these: */
    uint64_t stable, stale, lost, never_read;
    int64_t quantile_ns[RIG_ELEMENT_QUANTILES];     /* of the latencies of stable elements; 0 without any */
    struct rig_stale_element worst[RIG_STALE_KEPT]; /* stale elements, the highest latencies first */
    uint32_t worst_count;
};

#endif
