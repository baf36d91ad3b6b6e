/*
 * Random small histories made from executions: the reads of each follow from an isolation level.
 *
 * A model is chosen, a total order of the transactions, and for each of them a set of earlier ones that the model lets
 * it see, as small as the model permits or larger. Its reads return what it sees. So a history that is not changed
 * afterwards is right at the model, and often wrong at each level above it. Some reads are then changed, or events
 * swapped. Transactions read and write one key several times, update what they read, write blindly, or only read; some
 * are of unknown fate, some aborted. Intervals follow the order of the execution, another one, or all overlap; some
 * histories have completions only, or events of equal times.
 *
 * The same arguments give the same history.
 */
#ifndef RIG_TESTS_ORACLE_SMALL_EXECUTION_H
#define RIG_TESTS_ORACLE_SMALL_EXECUTION_H

#include "tests/oracle/small_history.h"

/* `least` to `most` transactions, at most SMALL_TXNS. */
struct small_shape {
    bool registers;
    int least, most;
};

void small_execution(uint64_t seed, uint64_t number, struct small_shape shape, struct small_history *history);

#endif
