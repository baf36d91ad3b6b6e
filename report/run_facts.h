/*
 * The facts of a run, each named once: as lines for people (text and HTML) and as fields for programs (the object `run`
 * of results.json, which `rig report` reads again). Tables within the facts (latencies, errors, moments, settings) have
 * code of their own in each form.
 */
#ifndef RIG_REPORT_RUN_FACTS_H
#define RIG_REPORT_RUN_FACTS_H

#include <stddef.h>

#include "base/json_write.h"
#include "report/report.h"

/* One line of the section "Run" or "History", in order. */
struct rig_run_line {
    const char *label;      /* in text; NULL: in HTML only */
    const char *html_label; /* NULL: in text only */
    /* Writes the line's text; nothing: there is no such line. */
    void (*write)(struct rig_buf *line, const struct rig_verdict *verdict, const struct rig_report_run *run);
};

/* The lines of a run, and those of a history, which come after them and take `run` or NULL. */
enum { RIG_RUN_LINES = 14, RIG_HISTORY_LINES = 7 };
extern const struct rig_run_line rig_run_lines[RIG_RUN_LINES];
extern const struct rig_run_line rig_history_lines[RIG_HISTORY_LINES];

enum rig_run_field_type {
    RIG_RUN_FIELD_TEXT,   /* const char *: a string or null */
    RIG_RUN_FIELD_BIG,    /* uint64_t: a string of digits, since programs read numbers as doubles */
    RIG_RUN_FIELD_COUNT,  /* uint64_t */
    RIG_RUN_FIELD_SMALL,  /* uint32_t */
    RIG_RUN_FIELD_NUMBER, /* double */
    RIG_RUN_FIELD_BOOL,
};

/* One field of `run` in results.json, in order. */
struct rig_run_field {
    const char *name;
    enum rig_run_field_type type;
    bool optional; /* left out where it is 0 or NULL */
    size_t offset; /* in struct rig_report_run */
};

enum { RIG_RUN_FIELDS = 18 };
extern const struct rig_run_field rig_run_fields[RIG_RUN_FIELDS];

/* Writes the object `run`. */
void rig_run_json(struct rig_json_writer *w, const struct rig_report_run *run);

#endif
