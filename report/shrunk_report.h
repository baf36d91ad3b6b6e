/*
 * The smallest part of a history that has its anomaly (jobs/shrink/shrink_history.h), as text and as JSON: what was
 * left out, the witness, and the statements in an order that gives the results.
 */
#ifndef RIG_REPORT_SHRUNK_REPORT_H
#define RIG_REPORT_SHRUNK_REPORT_H

#include "base/buf.h"
#include "jobs/shrink/interleaving.h"
#include "jobs/shrink/shrink_history.h"

/* `file`: where the part was written; NULL: nowhere. */
void rig_report_shrunk_text(const struct rig_smallest_part *shrunk, const struct rig_interleaving *interleaving,
                            const char *file, struct rig_buf *out);
/* docs/shrink.md. */
void rig_report_shrunk_json(const struct rig_smallest_part *shrunk, const struct rig_interleaving *interleaving,
                            const char *file, struct rig_buf *out);

#endif
