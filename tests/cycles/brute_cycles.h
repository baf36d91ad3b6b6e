/*
 * Every cycle of a small history, by brute force: which named cycles exist (docs/checker/anomalies.md), and the
 * length of the shortest cycle of each name.
 *
 * Written from the definitions, over tests/oracle's small histories; shares nothing with checker/ but the names of the
 * anomalies. Time: exponential; for histories of up to about eight transactions.
 */
#ifndef RIG_TESTS_CYCLES_BRUTE_CYCLES_H
#define RIG_TESTS_CYCLES_BRUTE_CYCLES_H

#include "checker/model/anomaly.h"
#include "tests/oracle/small_history.h"

struct brute_cycles {
    bool contradiction;              /* reads of a key contradict each other; then the fields below are not filled */
    int shortest[RIG_ANOMALY_COUNT]; /* transactions; 0: no cycle has this name */
};

void brute_cycles(const struct small_history *history, struct brute_cycles *found);

#endif
