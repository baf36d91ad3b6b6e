/*
 * The progress of a check, reported after each stretch of the history on the thread that checks.
 */
#ifndef RIG_CHECKER_MODEL_WATCH_H
#define RIG_CHECKER_MODEL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/model/anomaly.h"

struct rig_check_progress {
    uint64_t txn_count;                /* complete transactions that were read in this pass */
    double share;                      /* of the history that was read in this pass: 0 to 1 */
    uint32_t pass;                     /* from 1 */
    bool is_read;                      /* to its end: the rest of the work is judging */
    uint64_t found[RIG_ANOMALY_COUNT]; /* so far, at least; of the windows that were judged */
};

struct rig_check_watch {
    void (*tell)(void *context, const struct rig_check_progress *progress);
    void *context;
};

#endif
