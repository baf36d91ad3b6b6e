/*
 * Wilder random histories: those of small_random.h, with features of recorded runs of other tools and of broken
 * clients.
 *
 * Processes that go on after an info completion; transactions never completed; completions without invocations; events
 * of equal times; transactions without operations; aborted writers that are read; acknowledged transactions recorded as
 * info; keys without reads; contradicting reads; and registers beside lists. Processes stay sequential: none has two
 * transactions at a time. The same (seed, number) gives the same history. Up to SMALL_WILD_TXNS transactions.
 */
#ifndef RIG_TESTS_ORACLE_SMALL_WILD_H
#define RIG_TESTS_ORACLE_SMALL_WILD_H

#include "tests/oracle/small_history.h"

enum { SMALL_WILD_TXNS = 6 };

void small_wild(uint64_t seed, uint64_t number, struct small_history *history);

#endif
