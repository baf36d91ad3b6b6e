/*
 * Many questions of reachability at once, one bit for each.
 *
 * A question asks about some reads of a transaction: does the writer of a later version than the one returned reach the
 * transaction? All edges lead to higher ranks. A batch of questions is carried from rank to rank, from the writers to
 * the readers. Questions of similar length share a batch.
 *
 * Time: for each batch linear in the edges between its first writer and its last reader. This is about linear where
 * readers miss only writes of near transactions, and at worst questions / 256 times the edges. Several questions about
 * one transaction, in the order of their operations, take no more time than one. Space: 32 bytes a transaction, 64 a
 * question, 4 a read.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_SWEEP_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_SWEEP_H

#include "checker/decide/solve/breach_order.h"

struct rig_sweep_question {
    uint32_t node;
    uint32_t read_begin, read_end; /* its reads in question */
    uint32_t op_end;   /* ww and wr edges into earlier operations count, and process order; UINT32_MAX: all edges */
    uint32_t from, to; /* ranks: of the first writer, and one past the last transaction that matters */
    bool is_positive;  /* the answer */
};

RIG_VEC(struct rig_sweep_question, rig_sweep_questions)

struct rig_sweep {
    const struct rig_ordered *ordered; /* its real-time order does not count */
    bool ww, wr, rw;                   /* edges, beside process order; versions of a key ascend in rank in any case */
    const uint8_t *mute;  /* per node: it has no rw edges but those of the questions; NULL: all have theirs */
    const uint32_t *rank; /* per node; NONE: not on the way */
    const uint32_t *at;   /* per rank: its node, or NONE */
    uint32_t rank_count;
};

/* Answers all questions, and sorts them; once the deadline has come, answers mean nothing. Memory is the arena's and
 * the heap's; false when it runs out. */
bool rig_sweep_answer(const struct rig_sweep *sweep, struct rig_sweep_questions *questions, struct rig_arena *arena);

#endif
