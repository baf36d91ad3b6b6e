/*
 * When the elements of sets became visible: pure data (infer/set_times.h measures it).
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
#ifndef RIG_CHECKER_MODEL_ELEMENT_TIMES_H
#define RIG_CHECKER_MODEL_ELEMENT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

enum { RIG_STALE_KEPT = 8, RIG_ELEMENT_QUANTILES = 5 };

/* In percent, by place in quantile_ns. */
static const int rig_element_percents[RIG_ELEMENT_QUANTILES] = {0, 50, 95, 99, 100};

enum rig_key_form { RIG_KEY_NUMBER, RIG_KEY_ROW, RIG_KEY_TEXT, RIG_KEY_KEYWORD };

struct rig_stale_element {
    int64_t value;
    int64_t latency_ns;
    int64_t key; /* as in the history, unless it is a text */
    enum rig_key_form key_form;
    char key_name[128]; /* as rig_history_key_name() gives it */
    uint32_t writer;    /* the number that reports use for the transaction */
};

struct rig_element_times {
    bool measured;      /* else the type has no elements, or the history no times */
    uint64_t attempted; /* elements of transactions that did not fail */
    uint64_t known;     /* of them; and of these: */
    uint64_t stable, stale, lost, never_read;
    int64_t
        quantile_ns[RIG_ELEMENT_QUANTILES]; /* of the latencies of stable elements, by a histogram (base/histogram.h);
                                                       0 without any */
    struct rig_stale_element worst[RIG_STALE_KEPT]; /* stale elements, the highest latencies first */
    uint32_t worst_count;
};

#endif
