/*
 * The graph whose cycles a rule forbids, as far as acyclicity says it: which nodes a transaction has, and which edges
 * come with what its reads and the order of two versions show.
 *
 * A transaction has the node of its commit and, where the rule splits it, that of its start (SNAPSHOT, PREFIX); else
 * both are the same. wr, process and real-time edges lead from a commit to a start. All paths of this graph are paths
 * that the rule counts, so each of its cycles is forbidden; what else a rule forbids is checked on reads (forced.h).
 *
 *   form                            nodes  ww leads to  rw            reads force
 *   SERIAL                          1      it           edge          all
 *   SNAPSHOT                        2      start        start→commit  all
 *   PREFIX                          2      commit       start→commit  all
 *   UPDATES                         1      it           edge          all; transactions that write nothing are sinks
 *   CONSISTENT                      1      it           none          all
 *   MONOTONIC_VIEW, MONOTONIC_SNAPSHOT   1 it           none          from what earlier operations saw
 *   CAUSAL                          1      (no path)    none          all
 *   CURSOR, UPDATE_ATOMIC           1      it           none          of keys that the reader writes
 *   FLOW, WRITES                    1      it           none          none
 *   READ_ATOMIC, MONOTONIC_ATOMIC   1      it           none          from the other writes of the transactions that
 *                                                                     they show (forced_steps.h)
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_FRAME_H
#define RIG_CHECKER_DECIDE_SOLVE_FRAME_H

#include "checker/decide/rule.h"
#include "checker/model/problem.h"

enum rig_rule_frame_reads {
    RIG_RULE_FRAME_READS_NONE,
    RIG_RULE_FRAME_READS_ALL,
    RIG_RULE_FRAME_READS_LATER,   /* only what operations before the read saw */
    RIG_RULE_FRAME_READS_UPDATED, /* only of keys that the reader writes, too */
};

struct rig_rule_frame {
    uint32_t txn_count, node_count;
    uint32_t first_start;  /* node of the start of transaction 0; 0 where commits are starts */
    uint32_t first_moment; /* moments of invocation, in their order; node_count where there are none */
    bool split, process;
    bool reads_order;      /* wr, process and real-time edges order transactions: all but WRITES (process, real time) */
    bool ww_starts;        /* a ww edge leads to the start */
    bool ww_path, rw_path; /* these edges are part of paths */
    bool shown;            /* a transaction sees all writes of those that it reads from; */
    bool shown_in_order;   /*   only its later operations do */
    bool sinks;            /* no path goes through a transaction that writes nothing, and there are such */
    enum rig_rule_frame_reads reads;
    uint32_t *moment_txn;  /* per moment: the one that is invoked */
    uint32_t *next_moment; /* per transaction: the node of the first moment after its end, or RIG_PROBLEM_NONE */
    uint32_t *lead;        /* along processes, per transaction: the nearest before it that paths go through, or
                     *   RIG_PROBLEM_NONE */
};

/* Whether no path goes through the transaction: it writes nothing, and is not supposed to be like the others. */
static inline bool rig_rule_frame_is_sink(const struct rig_rule_frame *frame, const struct rig_problem *problem,
                                          uint32_t txn)
{
    return frame->sinks && rig_problem_writes_nothing(problem, txn) &&
           (problem->through == NULL || problem->through[txn] == 0);
}

/* False when memory runs out. */
bool rig_rule_frame_init(struct rig_rule_frame *frame, const struct rig_problem *problem, const struct rig_rule *rule);
void rig_rule_frame_done(struct rig_rule_frame *frame);

static inline uint32_t rig_rule_frame_start(const struct rig_rule_frame *frame, uint32_t txn)
{
    return frame->first_start + txn;
}

/* The transaction of a node, or RIG_PROBLEM_NONE: a moment. */
static inline uint32_t rig_rule_frame_txn(const struct rig_rule_frame *frame, uint32_t node)
{
    if (node >= frame->first_moment)
        return RIG_PROBLEM_NONE;
    return node < frame->txn_count ? node : node - frame->txn_count;
}

#endif
