/*
 * The comparison of a history with the certificate of its database, and the verdict by the certificate
 * (model/certified.h).
 */
#ifndef RIG_CHECKER_JUDGE_CERTIFY_H
#define RIG_CHECKER_JUDGE_CERTIFY_H

#include <stdbool.h>

#include "base/err.h"
#include "checker/judge/check.h"
#include "checker/model/certified.h"

/*
 * Compares the history with its certificate, and completes the verdict on it. Takes the history, which it changes.
 * RIG_E_LIMIT where memory runs out; RIG_E_BUG for a discrepancy that cannot be proved.
 */
enum rig_rc rig_certify(struct rig_history *history, const struct rig_check_options *options,
                        struct rig_verdict *verdict, struct rig_err *err);
/*
 * The same with the places that transactions have in the database's own order, as the user assumes; where these order
 * nothing, the verdict on levels that are not refuted is open. Takes the history.
 */
enum rig_rc rig_certify_order(struct rig_history *history, const struct rig_check_options *options,
                              struct rig_verdict *verdict, struct rig_err *err);
/*
 * The same beside the check of the reads, on a thread of its own, where it changes nothing of the history: of rows, all
 * of whose transactions have known outcomes. The history is borrowed until rig_certify_end() or rig_certify_drop().
 * NULL: it is to be compared afterwards.
 */
struct rig_certifying;
struct rig_certifying *rig_certify_begin(const struct rig_history *history, const struct rig_check_options *options);
/* Waits for it, and completes the verdict, which the history belongs to. */
enum rig_rc rig_certify_end(struct rig_certifying *certifying, struct rig_verdict *verdict, struct rig_err *err);
/* Waits for it, without a verdict. Takes NULL. */
void rig_certify_drop(struct rig_certifying *certifying);
/* Whether a comparison changes nothing of the history. */
bool rig_certify_only_reads(const struct rig_history *history);
/* Takes NULL. */
void rig_certified_free(struct rig_certified *certified);

#endif
