/*
 * The reads of rows as a problem of versions (model/problem.h), for levels with one state a transaction that are not
 * decided by an order of all commits: read atomic, update atomic, causal, prefix, consistent view and parallel snapshot
 * isolation.
 *
 * A row is a key of the problem, and the last version that each transaction made of it is one of its states. State 0 is
 * the time before the insert. A read that shows a row saw its state. A read that does not show it saw a state that does
 * not meet the condition: where there is more than one, which of them is a choice. A count or a sum other than 0 saw
 * some state of each row, and these come to its total. Nothing is said of a row that never met the condition.
 *
 * Rows whose chains are not whole, and reads that may miss rows for other reasons, are left out, and so are reads that
 * are an anomaly by themselves: then an order that explains the problem does not prove the level (`is_complete`), and
 * one that no order explains refutes it all the same.
 *
 * Time: for each read, the versions of the rows that were ever in its table. Space: 32 bytes a row read, and the
 * problem.
 */
#ifndef RIG_CHECKER_INFER_ROW_READS_H
#define RIG_CHECKER_INFER_ROW_READS_H

#include "base/vec.h"
#include "checker/infer/inference.h"
#include "checker/infer/row_versions.h"
#include "checker/model/problem.h"

struct rig_row_read {
    uint32_t txn, op;  /* of the history */
    uint32_t row;      /* place in `inserts` */
    uint32_t state;    /* known or chosen */
    uint32_t states;   /* it can have seen those from 0 to this one */
    uint32_t possible; /* place in `possible`: a byte for each of them; RIG_ROW_NONE: the state is known */
};

/* A count or a sum: the states of its reads come to it. */
struct rig_row_sum {
    uint32_t txn, op;
    size_t first, end;   /* reads */
    uint64_t count, sum; /* of the rows that the transaction wrote itself */
};

RIG_VEC(struct rig_row_read, rig_row_read_list)
RIG_VEC(struct rig_row_sum, rig_row_sum_list)
RIG_VEC(uint8_t, rig_row_flags)
RIG_VEC(uint32_t, rig_row_numbers)

struct rig_row_reads {
    const struct rig_inference *inference; /* borrowed */
    const struct rig_row_chains *rows;     /* borrowed */
    struct rig_row_numbers first;          /* per row, and one more: into */
    struct rig_row_numbers finals;         /*   versions: those of states 1, 2, ... */
    struct rig_row_read_list reads;        /* by transaction, operation, then row */
    struct rig_row_flags possible;
    struct rig_row_sum_list sums;
    bool is_complete;
};

void rig_row_reads_done(struct rig_row_reads *reads);

/* The history has no rows that were there from the start. `places`: a guess (row_guess.h), which the choices follow.
 * Release with rig_row_reads_done(), also after a failure. False when memory runs out. */
bool rig_row_reads_find(const struct rig_inference *inference, const struct rig_read_places *places,
                        struct rig_row_reads *reads);

/* The version of a state from 1 on. */
static inline uint32_t rig_row_state_version(const struct rig_row_reads *reads, uint32_t row, uint32_t state)
{
    return reads->finals.at[reads->first.at[row] + state - 1];
}

/* The read of the row, or NULL. Time: the logarithm of the reads. */
const struct rig_row_read *rig_row_reads_of(const struct rig_row_reads *reads, uint32_t txn, uint32_t op, uint32_t row);
/* Whether the states of its reads come to the total. */
bool rig_row_sum_fits(const struct rig_row_reads *reads, const struct rig_row_sum *sum);

/* The problem of the committed transactions with the states as they are. Release with rig_problem_done(), also after a
 * failure. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_row_reads_problem(const struct rig_row_reads *reads, struct rig_problem *problem, struct rig_err *err);

#endif
