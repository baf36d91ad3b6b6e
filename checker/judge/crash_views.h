/*
 * Durability of a history in which servers crashed (model/durability.h), and isolation on what the crashes left.
 *
 * Where the loss of whole transactions explains what reads miss, the levels are judged on each of the histories that
 * the crashes leave (infer/crash_loss.h): such a history has the transactions and positions of the whole one, and those
 * that are not in it have failed, without operations. A level is refuted if one of these histories refutes it. A lost
 * transaction that one that survived depends on stays, so that what its loss does not explain is still found.
 */
#ifndef RIG_CHECKER_JUDGE_CRASH_VIEWS_H
#define RIG_CHECKER_JUDGE_CRASH_VIEWS_H

#include "base/err.h"
#include "checker/judge/check.h"
#include "checker/model/durability.h"

/*
 * Gives the verdict its durability where a server crashed, the type can lose commits visibly, and nothing is missing
 * from the history. RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_durability_begin(struct rig_verdict *verdict, const struct rig_check_options *options,
                                 struct rig_err *err);
/* Whether it is decided only by rig_durability_judge(), or left by rig_durability_leave(). */
bool rig_durability_needs_history(const struct rig_verdict *verdict);
/* Takes the whole history, which the verdict refers to from then on where crashes explain a loss. */
enum rig_rc rig_durability_judge(struct rig_history *history, const struct rig_check_options *options,
                                 struct rig_verdict *verdict, struct rig_err *err);
/* The history cannot be read again, because of `why`. */
enum rig_rc rig_durability_leave(struct rig_verdict *verdict, const char *why, struct rig_err *err);
/* Takes NULL. */
void rig_durability_free(struct rig_durability *durability);

#endif
