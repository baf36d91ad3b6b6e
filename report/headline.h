/*
 * The opening of a report: what the verdict claims, in one sentence, and the one witness that shows it.
 *
 * The witness is one of the finding that weighs most (happened.h), else one that refutes a requested level, or is a
 * requested anomaly. Witnesses of at most RIG_HEADLINE_SHORT transactions, which a person reads at a glance, come
 * first, and among them the one that refutes the most levels; then longer ones, the shortest first. Anomalies that only
 * a certificate shows count as well.
 *
 * Time: linear in the kept witnesses.
 */
#ifndef RIG_REPORT_HEADLINE_H
#define RIG_REPORT_HEADLINE_H

#include "base/buf.h"
#include "checker/model/verdict.h"
#include "report/report.h"

enum { RIG_HEADLINE_SHORT = 4 };

struct rig_headline {
    const struct rig_witness *witness; /* NULL: there is none */
    const struct rig_history *history; /* of the witness */
    uint32_t number;                   /* of the witness among those of its anomaly, from 1 */
    bool is_by_certificate;            /* only the certificate shows its anomaly */
    const char *text;                  /* instead of a witness, the first discrepancy; NULL: none */
};

/* All members are 0 unless the verdict is that something requested is broken. Borrows the verdict. */
struct rig_headline rig_headline_pick(const struct rig_verdict *verdict);
/* "PostgreSQL 15.4, asked for serializable, does not keep serializable: it shows G2-item (write-skew)." The anomaly is
 * the one that refutes the level. `run` may be NULL. */
void rig_headline_claim(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_report_run *run,
                        const struct rig_headline *headline);
/* The sign of the verdict: held only where all that was requested is proven to hold. */
enum rig_fate rig_headline_fate(const struct rig_verdict *verdict);

#endif
