/*
 * The least evidence that a verdict needs: below it, or where the run failed, nothing that was not refuted counts as
 * valid. A refutation needs no minimum: its witness is proved by itself.
 *
 * A damaged record is always too little. One that was cut is, unless no share of the load is required: it does not show
 * how the run ended.
 */
#ifndef RIG_CHECKER_MINIMUM_H
#define RIG_CHECKER_MINIMUM_H

#include "base/buf.h"
#include "base/err.h"
#include "checker/verdict.h"

/* For a bare history: one acknowledged transaction. The shares concern runs. */
#define RIG_MINIMUM_OF_HISTORY ((struct rig_minimum){.acknowledged = 1, .load = 0.9, .answering = 0.8})

/*
 * Keeps copies of `minimum` and `effort` in the verdict, and makes one that is valid undecided when the evidence falls
 * short, with every reason in `shortfall` and `unknown_reason`. Once a verdict. RIG_E_LIMIT without memory.
 */
enum rig_rc rig_verdict_weigh(struct rig_verdict *verdict, const struct rig_minimum *minimum,
                              const struct rig_effort *effort, struct rig_err *err);

/* "the record is damaged at byte 272: the last 353 bytes were not checked". */
void rig_scope_say_damage(const struct rig_scope *scope, struct rig_buf *text);
/* Injections that took effect. */
uint64_t rig_scope_faults(const struct rig_scope *scope);

#endif
