/*
 * A guess at the commits that each count or sum of rows saw, for the solver (row_problem.h).
 *
 * Most reads saw the first commits of an order (row_guess.h). Where no number of commits fits, the commits that may
 * have ended before or after the read are tried in all ways, the nearest first: a version is a large number, so few
 * sets of them give the same sum.
 *
 * Time: for each read without a number, 2^18 sets at most. Space: 4 bytes an operation, 8 for each exception.
 */
#ifndef RIG_CHECKER_INFER_ROW_COUNTS_H
#define RIG_CHECKER_INFER_ROW_COUNTS_H

#include "base/vec.h"
#include "checker/infer/inference.h"

/* The reads of a transaction saw the commit although its place says otherwise, or did not see it. */
struct rig_row_exception {
    uint32_t reader, txn;
};

RIG_VEC(struct rig_row_exception, rig_row_exceptions)

struct rig_row_counts {
    const uint32_t *of_txn;            /* per transaction: its place; borrowed */
    uint32_t *seen;                    /* per transaction: the number of commits that its reads saw */
    struct rig_row_exceptions changed; /* by reader, then transaction */
    uint64_t unfit;                    /* transactions whose counts nothing was found for */
};

void rig_row_counts_done(struct rig_row_counts *counts);

/* `places`: the first guess, in which reads without a number have RIG_PLACE_NONE. Release with rig_row_counts_done(),
 * also after a failure. False when memory runs out. */
bool rig_row_counts_find(const struct rig_inference *inference, const struct rig_read_places *places,
                         struct rig_row_counts *counts);

/* Whether the reads of `reader` saw the commit of `txn`. */
bool rig_row_counts_saw(const struct rig_row_counts *counts, uint32_t reader, uint32_t txn);

#endif
