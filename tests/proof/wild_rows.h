/*
 * Random small histories of rows whose reads saw any version of each row: an insert, then an update or a delete, each
 * by some transaction. So levels are refuted by cycles, and by cases where reads miss rows (no-version-order).
 *
 * The same arguments give the same history.
 */
#ifndef RIG_TESTS_PROOF_WILD_ROWS_H
#define RIG_TESTS_PROOF_WILD_ROWS_H

#include <stdint.h>

struct rig_history;

/* The caller owns it. */
struct rig_history *wild_rows(uint64_t seed, uint64_t number);

#endif
