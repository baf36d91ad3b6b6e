/*
 * Known issues (checker/judge/known_issues.h) in each form of a report.
 *
 * Private to report/.
 */
#ifndef RIG_REPORT_KNOWN_REPORT_H
#define RIG_REPORT_KNOWN_REPORT_H

#include "base/json_write.h"
#include "checker/judge/known_issues.h"
#include "checker/model/verdict.h"

/* Whether something that was asked for is refuted, and known issues alone explain it. */
bool rig_known_explains(const struct rig_verdict *verdict);
/* "pg-ssi-late-mark", or several names; those that appeared. */
void rig_known_names(struct rig_buf *out, const struct rig_verdict *verdict);
/* One sentence about an issue: whether it appeared, and where; or why it is not about this run. */
void rig_known_say(struct rig_buf *out, const struct rig_known_outcome *outcome);
/* One sentence about the whole: what they explain, or why they do not; nothing where there is nothing to explain. */
void rig_known_conclude(struct rig_buf *out, const struct rig_verdict *verdict);

void rig_known_json(struct rig_json_writer *w, const struct rig_verdict *verdict);
void rig_known_html(struct rig_buf *out, const struct rig_verdict *verdict);

#endif
