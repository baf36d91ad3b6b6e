/*
 * The certificate of a verdict (checker/model/certified.h) in each form of a report. Nothing without one.
 *
 * Private to report/.
 */
#ifndef RIG_REPORT_CERTIFICATE_REPORT_H
#define RIG_REPORT_CERTIFICATE_REPORT_H

#include "base/json_write.h"
#include "checker/model/verdict.h"

/* Whether the database contradicts itself, or what its clients saw. */
bool rig_certificate_is_broken(const struct rig_verdict *verdict);
/* Whether only the certificate shows the anomaly; false without one. */
bool rig_certificate_is_further(const struct rig_verdict *verdict, enum rig_anomaly anomaly);
/* "the certificate shows lost-commit"; nothing where it agrees. */
void rig_certificate_say_broken(struct rig_buf *out, const struct rig_verdict *verdict);
/* Where it comes from, what it resolved and what it says of each level: lines that each end with a newline, those of a
 * table with blanks before them. */
void rig_certificate_lines(struct rig_buf *out, const struct rig_verdict *verdict);
/* The witnesses of discrepancies, and of anomalies that only the certificate shows, each a paragraph of lines that ends
 * with an empty one. */
void rig_certificate_witnesses(struct rig_buf *out, const struct rig_verdict *verdict);

void rig_certificate_json(struct rig_json_writer *w, const struct rig_verdict *verdict);
void rig_certificate_html(struct rig_buf *out, const struct rig_verdict *verdict);

#endif
