/*
 * The database's own order in reports: what was checked of it, and each case that does not hold.
 */
#ifndef RIG_REPORT_CLAIMS_REPORT_H
#define RIG_REPORT_CLAIMS_REPORT_H

#include "base/buf.h"
#include "base/json_write.h"
#include "checker/model/verdict.h"

/* Lines that each end with a newline, cases after an empty line; nothing without claims. */
void rig_claims_lines(struct rig_buf *out, const struct rig_verdict *verdict);
/* The member "claims", if there are any. */
void rig_claims_json(struct rig_json_writer *w, const struct rig_verdict *verdict);
/* A section with the lines. */
void rig_claims_html(struct rig_buf *out, const struct rig_verdict *verdict);

#endif
