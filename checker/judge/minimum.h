/*
 * The minimum evidence for a verdict. Below it, or when the run failed, a verdict is undecided instead of valid. A
 * refutation needs no minimum: its witness is a proof by itself.
 *
 * A damaged record never meets the minimum. A truncated one meets it only when no share of the load is required,
 * because it does not show how the run ended.
 */
#ifndef RIG_CHECKER_JUDGE_MINIMUM_H
#define RIG_CHECKER_JUDGE_MINIMUM_H

#include "base/buf.h"
#include "base/err.h"
#include "checker/model/verdict.h"

/* For a bare history: one acknowledged transaction. The shares concern runs. */
#define RIG_MINIMUM_OF_HISTORY ((struct rig_minimum){.acknowledged = 1, .load = 0.9, .answering = 0.8})

/*
 * Keeps copies of `minimum` and `effort` in the verdict. Makes a valid verdict undecided when the evidence falls short,
 * with every reason in `shortfall` and `unknown_reason`. Call it once a verdict. RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_verdict_weigh(struct rig_verdict *verdict, const struct rig_minimum *minimum,
                              const struct rig_effort *effort, struct rig_err *err);

/* "the record is damaged at byte 272: the last 353 bytes were not checked". */
void rig_scope_say_damage(const struct rig_scope *scope, struct rig_buf *text);
/* Injections that took effect. */
uint64_t rig_scope_faults(const struct rig_scope *scope);

#endif
