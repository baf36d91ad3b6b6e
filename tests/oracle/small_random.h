/*
 * Random small histories, about as many anomalous as valid.
 *
 * A tiny database (serial; snapshot isolated, with and without first committer wins; read committed; reading stale
 * prefixes) runs random transactions of a few processes in a random interleaving; some abort, some lose their
 * completion, some commit after the client received `info`. Then, in most histories, the clients' results are
 * falsified: elements dropped, added, swapped, stale prefixes, outcomes changed, events moved in time. The same (seed,
 * number) gives the same history.
 */
#ifndef RIG_TESTS_ORACLE_SMALL_RANDOM_H
#define RIG_TESTS_ORACLE_SMALL_RANDOM_H

#include "tests/oracle/small_history.h"

enum small_size {
    SMALL_TINY, /* 2 to 6 transactions: few enough for brute force */
    SMALL_FULL, /* 8 to SMALL_TXNS - 2 */
};
void small_random(uint64_t seed, uint64_t number, enum small_size size, struct small_history *history);

/* Drops one transaction, or one of its operations (op >= 0), and the elements that it wrote from every read. */
void small_drop(struct small_history *history, int txn, int op);

/*
 * Shrinks a history while `keep` returns true, that is, while it still has the property under test: drops transactions,
 * operations, single elements of reads; closes gaps between positions.
 */
void small_shrink(struct small_history *history, bool (*keep)(const struct small_history *, void *), void *context);

#endif
