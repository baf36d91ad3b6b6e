/*
 * The question whether some order of the commits explains all reads by conditions, as a problem of versions
 * (model/problem.h) for the solver of registers.
 *
 * A read that does not show a row did not see it at versions that meet its condition. These form stretches of the row's
 * chain: the read comes before the first version of each stretch, or after the version that follows the last one. Such
 * a choice is a key of its own: the writer of the first version and the reader write it, and the writer of the version
 * after the stretch reads what the former wrote. So the reader is not between the two. A known edge is a key that its
 * source writes and its target reads. The rule is the one that forbids all cycles.
 *
 * For snapshot isolation each transaction is two nodes, its start and its commit: reads are at the start, ww and wr
 * edges lead from a commit to a start, and rw edges from a start to a commit.
 *
 * Rows whose chains are not whole are left out, and so are counts and sums other than 0 without a guess at what they
 * saw (row_counts.h). So without a guess the level is refuted where no order exists; where one does, a replay decides.
 *
 * Time: for each read, the versions of the rows that were ever in its table. Space: 16 bytes an edge, 28 a choice, and
 * the problem.
 */
#ifndef RIG_CHECKER_INFER_ROW_PROBLEM_H
#define RIG_CHECKER_INFER_ROW_PROBLEM_H

#include "base/vec.h"
#include "checker/infer/inference.h"
#include "checker/infer/row_counts.h"
#include "checker/model/problem.h"

/* A read that does not show a row: it comes before one version, or after a later one. */
struct rig_row_choice {
    uint32_t reader, op;    /* the transaction, and the read in it */
    uint32_t insert;        /* the statement that inserted the row */
    uint32_t before, after; /* versions */
};

RIG_VEC(struct rig_row_choice, rig_row_choices)

struct rig_row_question {
    bool split;                          /* for snapshot isolation */
    enum rig_along along;                /* choices that this order decides are none */
    const struct rig_row_counts *counts; /* NULL: there is no guess at what counts saw */
};

struct rig_row_problem {
    struct rig_problem problem;     /* transactions are numbered as its nodes */
    uint32_t *txn_of;               /* per node: of the history */
    bool split;                     /* node 2 i is the start, and 2 i + 1 the commit, of the same transaction */
    struct rig_row_choices choices; /* per key from `first_choice` on */
    uint32_t first_choice;
};

void rig_row_problem_done(struct rig_row_problem *problem);

/* Release with rig_row_problem_done(), also after a failure. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_row_problem_make(const struct rig_inference *inference, const struct rig_row_question *question,
                                 struct rig_row_problem *made, struct rig_err *err);

#endif
