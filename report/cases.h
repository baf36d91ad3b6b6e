/*
 * The requests of a verdict as test cases: one for each level and anomaly that was requested, each consistency
 * condition, the certificate, and the run where it failed. JUnit, SARIF, GitHub annotations and Markdown show the same
 * cases.
 *
 * A verdict that is not valid has at least one case that did not pass, so that no form of a report shows it as passed.
 *
 * Private to report/.
 */
#ifndef RIG_REPORT_CASES_H
#define RIG_REPORT_CASES_H

#include "base/buf.h"
#include "checker/model/verdict.h"

/* KNOWN: refuted, and explained by known issues. It counts as passed. */
enum rig_report_case_state { RIG_CASE_PASSED, RIG_CASE_KNOWN, RIG_CASE_FAILED, RIG_CASE_OPEN };

/* All texts are borrowed for the time of the visit. */
struct rig_report_case {
    enum rig_report_case_state state;
    const char *kind; /* "run", "levels", "anomalies", "conditions", "certificate", "known" */
    const char *name; /* "serializable", "G1a", "completed" */
    const char *
        type; /* of a case that did not pass: an anomaly's name, "condition", "server-crash", "certificate", "run-failed",
                                  "undecided"; NULL when it passed */
    const char *message;      /* one sentence; NULL when it passed */
    const char *detail;       /* the witness's text; NULL: there is none */
    enum rig_anomaly anomaly; /* by which a level or an anomaly failed; RIG_ANOMALY_COUNT for other cases */
};

typedef void rig_report_case_visit(const struct rig_report_case *test_case, void *context);
void rig_report_cases_visit(const struct rig_verdict *verdict, rig_report_case_visit *visit, void *context);
/* Message and witness as printable lines; a witness that begins with the message stands for both. */
void rig_report_case_say(struct rig_buf *out, const struct rig_report_case *test_case);

#endif
