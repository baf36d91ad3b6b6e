/*
 * The parts of the HTML report. Private to it.
 */
#ifndef RIG_REPORT_HTML_PARTS_H
#define RIG_REPORT_HTML_PARTS_H

#include "base/buf.h"
#include "checker/model/verdict.h"
#include "report/episodes.h"
#include "report/load_timeline.h"
#include "report/report.h"

/* The claim, what it rests on, and the witness that shows it. */
void rig_html_opening(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_report_run *run,
                      const char *name, const struct rig_episodes *episodes);
/* A part of the page that is folded at first, until rig_html_fold_end(); `preview`: what is in it, in a few words. */
void rig_html_fold(struct rig_buf *out, const char *id, const char *title, const char *preview);
void rig_html_fold_end(struct rig_buf *out);
/* All anomalies that were found, with their witnesses. */
void rig_html_findings(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_report_run *run,
                       const struct rig_episodes *episodes);
/* A witness in words, as a picture if asked for, and with the lines of the servers' logs around it. `run` may be
 * NULL. */
void rig_html_witness(struct rig_buf *out, const struct rig_witness *witness, const struct rig_history *history,
                      const struct rig_report_run *run, const struct rig_episodes *episodes, bool picture);
/* The lattice of levels as a picture: each level's fate by colour and by sign, those requested outlined. */
void rig_html_lattice(struct rig_buf *out, const struct rig_verdict *verdict);
/* The phases of the load, a line each; nothing when it had none. */
void rig_html_phases(struct rig_buf *out, const struct rig_episodes *episodes);
/* The faults with their time line; nothing when there were none. */
void rig_html_faults(struct rig_buf *out, const struct rig_episodes *episodes);
/* The timeline: its style, and what the page's policy allows so that its script runs; the part of the page; its data
 * and script, which come last; how much of the page they take without the data. */
void rig_html_timeline_style(struct rig_buf *out);
void rig_html_timeline_policy(struct rig_buf *out);
void rig_html_timeline(struct rig_buf *out, const struct rig_course *course, const struct rig_load_timeline_size *size);
void rig_html_timeline_script(struct rig_buf *out, const struct rig_buf *data);
size_t rig_html_timeline_bytes(void);
/* A link that shows a witness there; hidden until the script finds the witness in its data. */
void rig_html_timeline_link(struct rig_buf *out, enum rig_anomaly anomaly, uint32_t number, bool is_by_certificate);
/* The sign of a fate or of the whole verdict as a small inline picture: a tick, a cross, a ring. */
void rig_html_sign(struct rig_buf *out, enum rig_fate fate);

#endif
