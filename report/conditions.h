/*
 * The conditions of a run's program (checker/model/verdict.h) in each form of a report.
 *
 * Private to report/.
 */
#ifndef RIG_REPORT_CONDITIONS_H
#define RIG_REPORT_CONDITIONS_H

#include "base/json_write.h"
#include "checker/model/verdict.h"

/* "fulfilled", "broken", "unchecked". */
const char *rig_condition_word(const struct rig_table_condition *condition);
/* "tpcc-1 and tpcc-8 are broken"; nothing when none is. */
void rig_conditions_say_broken(struct rig_buf *out, const struct rig_verdict *verdict);
/* Why it is as it is: the problem, or the rows that break it, a line each. */
void rig_condition_lines(struct rig_buf *out, const struct rig_table_condition *condition);

void rig_conditions_json(struct rig_json_writer *w, const struct rig_verdict *verdict);
void rig_conditions_html(struct rig_buf *out, const struct rig_verdict *verdict);

#endif
