/*
 * Registers whose values repeat: levels decided by the writes that ambiguous reads may have shown.
 *
 * The reader of such files gives each write a value of its own ("5#1", "5#2", ...), and a read that may show several of
 * them the shared value "5#?" without a result (history/text/classic_multi_key.c). The choices of such a read are the
 * writes of that value that were invoked before its transaction completed, and the initial state where it may be the
 * value (ambiguous_reads.h). A level holds if it holds with some choice for each read, and is refuted if it is
 * refuted with every one.
 *
 * CaDiCaL proposes choices, the check of a history with them is the theory: where the check refutes the level, the
 * choices of the reads in its witness become a clause (lazy clause generation; Ohrimenko, Stuckey & Codish 2009, 3).
 * The first proposal takes for each read the write that was acknowledged last before the read's transaction completed.
 *
 * Time: a check of the history for each proposal, and one for each clause; the solver's budget ends it. Space: 12 bytes
 * a choice, and that of a check. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_REPEATED_VALUES_H
#define RIG_CHECKER_JUDGE_REPEATED_VALUES_H

#include "base/vec.h"
#include "checker/judge/ambiguous_reads.h"
#include "checker/judge/check.h"

RIG_VEC(uint32_t, rig_choice_numbers)

/* Choices, [first, first + count) of the record's `numbers`, and the levels that they decide. */
struct rig_decided_choices {
    uint64_t levels;
    uint32_t first, count;
};

RIG_VEC(struct rig_decided_choices, rig_decided_choices_vec)

/* The choices that decided levels, for a proof. */
struct rig_choice_record {
    struct rig_ambiguous_reads ambiguous;
    struct rig_choice_numbers numbers;
    struct rig_decided_choices_vec held;  /* a choice for each read, and the levels that hold with them */
    struct rig_decided_choices_vec cases; /* of one level: with these choices it is refuted; together: in each case */
};

void rig_choice_record_done(struct rig_choice_record *record);

/* Whether the verdict rests on a history in which reads may be ambiguous. */
bool rig_repeated_values_matter(const struct rig_verdict *verdict);

/* Completes the verdict on the history by the choices of its ambiguous reads. `record`: zeroed, or NULL: none is
 * wanted. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_repeated_values_decide(const struct rig_history *history, const struct rig_check_options *options,
                                       struct rig_verdict *verdict, struct rig_choice_record *record,
                                       struct rig_err *err);
/* The options of a check of a history with choices: all levels, within the time. */
struct rig_check_options rig_choices_options(const struct rig_check_options *options, int64_t budget_ns);

/* rig_check(), and then the choices of ambiguous reads, where there are any. */
enum rig_rc rig_repeated_values_check(const struct rig_history *history, const struct rig_check_options *options,
                                      struct rig_verdict **verdict, struct rig_err *err);

#endif
