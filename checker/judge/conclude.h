/*
 * The life of a verdict: from what is asked to what is decided. Private to judge/.
 */
#ifndef RIG_CHECKER_JUDGE_CONCLUDE_H
#define RIG_CHECKER_JUDGE_CONCLUDE_H

#include "base/err.h"
#include "checker/judge/check.h"
#include "checker/judge/findings.h"
#include "checker/model/verdict.h"

enum { RIG_DEFAULT_WITNESSES = 8 };

/* An empty verdict that asks what `options` ask; free it with rig_verdict_free(). NULL when memory runs out. */
struct rig_verdict_storage *rig_verdict_new(const struct rig_check_options *options);

/*
 * Adds the transactions of an inference to the scope: those selected, with their unknown reads; or all (NULL), with
 * their unordered keys too.
 */
void rig_verdict_add_scope(struct rig_verdict *verdict, const struct rig_inference *inference, const uint8_t *selected);

/* Turns findings into fates and fills in the cost. `verdict->history` and the scope are filled in before. */
enum rig_rc rig_verdict_conclude(struct rig_verdict_storage *storage, const struct rig_findings *findings,
                                 const struct rig_judge *judge, struct rig_err *err);

#endif
