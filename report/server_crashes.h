/*
 * Servers that ended by themselves (checker/model/verdict.h) in each form of a report.
 *
 * Private to report/.
 */
#ifndef RIG_REPORT_SERVER_CRASHES_H
#define RIG_REPORT_SERVER_CRASHES_H

#include "base/json_write.h"
#include "checker/model/verdict.h"

/* "node-1 was killed by signal 11 (Segmentation fault) 3.2 s after the load began" */
void rig_crash_say(struct rig_buf *out, const struct rig_server_crash *crash);
/* Those that fail the run, as one clause; nothing when there are none. */
void rig_crashes_say_failed(struct rig_buf *out, const struct rig_verdict *verdict);

void rig_crashes_json(struct rig_json_writer *w, const struct rig_verdict *verdict);
void rig_crashes_html(struct rig_buf *out, const struct rig_verdict *verdict);

#endif
