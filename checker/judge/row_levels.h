/*
 * Levels of histories of rows whose reads leave open which versions they saw: held where a guess at these versions
 * (infer/row_guess.h) makes a graph without a cycle that the level forbids, and its order explains all reads, or where
 * the solver finds such an order. A level is refuted where the solver proves that there is none, and the proof has a
 * witness.
 *
 * Time: that of an inference, orders and a replay for each guess; later guesses only while some level is open, and the
 * deadline has not come. Memory: that of two judgements, at most the limit, and a replay.
 */
#ifndef RIG_CHECKER_JUDGE_ROW_LEVELS_H
#define RIG_CHECKER_JUDGE_ROW_LEVELS_H

#include "checker/judge/judge.h"
#include "checker/judge/proof/row_orders.h"

enum { RIG_ROW_MOST_REFUTED = 32 };

struct rig_rows_decided {
    uint64_t held;     /* bits of levels, with those that they imply */
    uint64_t unproven; /* levels that no choice of versions explains, without a witness */
    struct {
        enum rig_level level;
        struct rig_witness witness; /* a cycle, or by cases; without texts */
    } refuted[RIG_ROW_MOST_REFUTED];
    uint32_t refuted_count;
};

/* `levels`, bits: those that nothing refutes. Witnesses are allocated from `arena`. A limit of memory that is too low
 * leaves levels open. */
enum rig_rc rig_rows_explain(const struct rig_history *history, const struct rig_judge *judge, uint64_t levels,
                             int64_t deadline_ns, struct rig_arena *arena, struct rig_rows_decided *decided,
                             struct rig_err *err);

/* An order that proves the level, for a proof. *found: there is one. */
enum rig_rc rig_rows_order(const struct rig_history *history, const struct rig_judge *judge, enum rig_level level,
                           int64_t deadline_ns, struct rig_row_order *order, bool *found, struct rig_err *err);

#endif
