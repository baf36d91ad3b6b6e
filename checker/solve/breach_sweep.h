/*
 * Which reads missed a write that their transaction descends from: many questions at once, by one bit each.
 *
 * A question asks about some reads of a transaction: does the writer of a later version than one of them returned reach
 * the transaction along the edges? The transactions have ranks to which all edges lead upwards. A batch of questions is
 * carried along the ranks, from the writers to the readers; questions of similar length are in one batch.
 *
 * Time: linear in the edges between the first writer and the last reader of each batch, so about linear where readers
 * miss the writes of transactions near to them, and questions / 256 times the edges at worst. Space: 32 bytes a
 * transaction, 40 a question.
 */
#ifndef RIG_CHECKER_SOLVE_BREACH_SWEEP_H
#define RIG_CHECKER_SOLVE_BREACH_SWEEP_H

#include "checker/solve/breach_order.h"

struct rig_question {
    uint32_t node;
    uint32_t read_begin, read_end; /* its reads in question */
    uint32_t op_end;               /* only ww and wr edges into earlier operations count; UINT32_MAX: all edges */
    uint32_t from, to;             /* ranks: from the first of the writers to behind the last transaction in question */
    bool is_positive;              /* the answer */
};

RIG_VEC(struct rig_question, rig_questions)

struct rig_sweep {
    const struct rig_ordered *ordered; /* without real-time order */
    bool ww, wr, rw;                   /* edges, beside process order; versions of a key ascend in rank in any case */
    bool follows;                      /* a question begins at those who follow its transaction in process order, too */
    const uint32_t *rank;              /* per node; NONE: not on the way */
    const uint32_t *at;                /* per rank: its node, or NONE */
    uint32_t rank_count;
};

/* Answers all questions, and sorts them. Memory is the arena's and the heap's; false when it runs out. */
bool rig_sweep_answer(const struct rig_sweep *sweep, struct rig_questions *questions, struct rig_arena *arena);

#endif
