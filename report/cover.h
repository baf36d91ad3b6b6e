/*
 * The cover page of a bundle (docs/bundle.md) in Markdown: the claim, what was run, the shortest witness, how to repeat
 * it, the settings of the server, lines of its logs, and the files.
 *
 * Foreign texts stand in indented blocks or escaped in cells of tables, so they are text in every reader of Markdown.
 */
#ifndef RIG_REPORT_COVER_H
#define RIG_REPORT_COVER_H

#include "base/buf.h"
#include "checker/model/verdict.h"
#include "report/report.h"

struct rig_cover_file {
    const char *name, *text;
};

struct rig_cover {
    const struct rig_verdict *verdict;
    const struct rig_report_run *run;   /* NULL: not known */
    const char *witness;                /* the smallest part in words; NULL: that of the whole history */
    const char *unshrunk;               /* why there is no smallest part; NULL: there is one */
    const char *unplayed;               /* why there is no scenario; NULL: there is one */
    bool of_part;                       /* of the part that an earlier bundle kept */
    const char *repeats;                /* how often it came back, in Markdown */
    const char *defaults;               /* a plan with the defaults of the driver, as YAML; "": not known */
    const char *logs;                   /* lines of the servers' logs; "": none */
    const struct rig_cover_file *files; /* of the bundle, in order */
    size_t file_count;
};

void rig_report_cover(const struct rig_cover *cover, struct rig_buf *out);

#endif
