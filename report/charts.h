/*
 * Charts of a load as SVG: on the page, which brings the style, or alone as a file. Every chart has a title and its
 * numbers in words, for screen readers.
 *
 * Threads: any. Time: linear in the course.
 */
#ifndef RIG_REPORT_CHARTS_H
#define RIG_REPORT_CHARTS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json_write.h"
#include "report/course.h"
#include "report/episodes.h"

enum rig_chart {
    RIG_CHART_LATENCY, /* single transactions and quantiles over time */
    RIG_CHART_RATE,    /* by outcome and kind over time */
    RIG_CHART_CURVE,   /* latency by percentile */
    RIG_CHART_ERRORS,  /* by code over time */
    RIG_CHART_COUNT
};

/* "latency"; names the file. */
const char *rig_chart_name(enum rig_chart chart);
/* False, with nothing written, where the chart would be empty. */
bool rig_chart_draw(struct rig_buf *out, enum rig_chart chart, const struct rig_course *course,
                    const struct rig_episodes *episodes, bool alone);
/* The rules of charts, for a <style> element that defines the page's colours. */
void rig_chart_style(struct rig_buf *out);
/* The member "course" of results.json. */
void rig_chart_json(struct rig_json_writer *w, const struct rig_course *course);

#endif
