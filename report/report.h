/*
 * Reports: a verdict (and the run it came from, when there is one) as text, JSON, EDN, JUnit XML, SARIF, GitHub's
 * annotations and summary, HTML, SVG and DOT (the language of Graphviz).
 *
 * Every writer appends to a buffer and fails only at the buffer's maximum.
 */
#ifndef RIG_REPORT_REPORT_H
#define RIG_REPORT_REPORT_H

#include <stdbool.h>

#include "base/buf.h"
#include "checker/model/verdict.h"
#include "report/course.h"

/* The facts of a run that reports show beside the verdict; assembled by the command line from the run's result.
 * Borrowed. */
struct rig_report_latency {
    const char *name; /* "read-only", "writing", "held open", "from intended start" */
    uint64_t count;
    int64_t mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
};
struct rig_report_error {
    const char *outcome, *code, *text;
    uint64_t count;
};
/* How the load went: at moments from its start on, what had completed, and how slow it was since the moment before. */
struct rig_report_moment {
    int64_t at_ns;
    uint64_t ok, fail, info;
    int64_t p99_ns; /* 0: nothing completed */
};
/* The rig, machine and settings of a run. Texts may be NULL or empty, numbers 0: not known. */
struct rig_report_setting {
    const char *name, *value;
};
struct rig_report_provenance {
    const char *version, *commit; /* of rig */
    const char *kernel, *cpu;
    uint32_t cores; /* that rig may use */
    double load; /* processes of the machine that wanted a processor at the end, on average over a minute; 0: unknown */
    uint64_t memory_bytes;
    const char *file_system;                   /* of the folder where rig keeps the data of servers that it starts */
    const struct rig_report_setting *settings; /* of the server, that differ from its defaults */
    uint32_t setting_count;
};
struct rig_server_logs;
struct rig_report_run {
    struct rig_report_provenance provenance;
    const char *name, *driver, *server, *isolation, *started_utc, *folder, *plan_yaml;
    const char
        *plan_path;     /* of the plan that was run, from the folder of the command where it is below; NULL: unknown */
    uint32_t plan_line; /* the line of its requests */
    const char *report; /* the file in `folder` where a person begins to read; NULL: unknown */
    uint64_t seed;
    uint32_t client_count;
    double load_s;
    double took_s; /* of the whole run, by the clock on the wall; 0: not known. The simulator's load has a time of its
                      own */
    uint64_t final_reads;
    uint64_t unread;         /* of these, reads that were given up; their keys' last versions may be unseen */
    const char *unread_text; /* why: the last error; NULL where there are none */
    uint32_t planned_faults; /* entries of the plan's nemesis, whether they came or not */
    bool interrupted;
    const char *failed;     /* why the run failed; NULL: it did not */
    const char *stopped_by; /* the anomaly that ended the load; NULL: none did */
    const struct rig_report_latency *latencies;
    uint32_t latency_count;
    const struct rig_report_error *errors;
    uint32_t error_count;
    const struct rig_report_moment *moments;
    uint32_t moment_count;
    const struct rig_server_logs *logs; /* report/server_log.h; NULL: there are none */
};

enum { RIG_REPORT_COLUMNS = 116 };
/* `run` may be NULL everywhere: a bare `rig check`; so may `course`: no charts. `colour`: ANSI colours. `columns` of
 * the longest line; 0: RIG_REPORT_COLUMNS; at least 60. `name`: of the history, for titles. */
void rig_report_text(const struct rig_verdict *verdict, const struct rig_report_run *run, bool colour, unsigned columns,
                     struct rig_buf *out);
/* The result on a terminal, in `rows` x `columns`: one witness, a line for each bug, and last what happened and the
 * verdict. Longer parts of the witness are cut, and the files have the rest. At least 60 columns and 16 rows. */
enum { RIG_REPORT_SCREEN_ROWS = 24 };
void rig_report_screen(const struct rig_verdict *verdict, const struct rig_report_run *run, bool colour,
                       unsigned columns, unsigned rows, struct rig_buf *out);
/* The last lines of a report on a terminal that is longer than the screen: what happened, and the verdict. */
void rig_report_ending(const struct rig_verdict *verdict, bool colour, unsigned columns, struct rig_buf *out);
/* The output of a quiet command: warnings about the record, the summary of the history, and the verdict, a line each.
 */
void rig_report_brief(const struct rig_verdict *verdict, const struct rig_report_run *run, bool colour,
                      struct rig_buf *out);
/* docs/results.md; the schema grows when a field is removed or changes its meaning, not when one is added. */
enum { RIG_REPORT_SCHEMA = 1 };
void rig_report_json(const struct rig_verdict *verdict, const struct rig_report_run *run,
                     const struct rig_course *course, struct rig_buf *out);
/* The map of Elle: `:valid?`, `:anomaly-types`, `:anomalies`, `:not`, `:also-not` (docs/results.md). */
void rig_report_edn(const struct rig_verdict *verdict, struct rig_buf *out);
void rig_report_junit(const struct rig_verdict *verdict, const struct rig_report_run *run, const char *name,
                      struct rig_buf *out);
/* SARIF 2.1.0: a result for each case that did not pass, a note for each other anomaly that was found. */
void rig_report_sarif(const struct rig_verdict *verdict, const struct rig_report_run *run, const char *name,
                      struct rig_buf *out);
/* One annotation, a line: `command` is error, warning or notice. */
void rig_report_annotation(const char *command, const char *title, const char *message, struct rig_buf *out);
/* For GitHub Actions: annotations, which a step prints, a line each; and a summary of the step in Markdown. */
void rig_report_annotations(const struct rig_verdict *verdict, const char *name, struct rig_buf *out);
void rig_report_markdown(const struct rig_verdict *verdict, const struct rig_report_run *run, const char *name,
                         struct rig_buf *out);
/* One page of fewer than RIG_HTML_BYTES, whatever the verdict holds. */
enum { RIG_HTML_BYTES = 3000000 };
void rig_report_html(const struct rig_verdict *verdict, const struct rig_report_run *run,
                     const struct rig_course *course, const char *name, struct rig_buf *out);
/* Every step of a cycle as JSON lines, each an object as in a witness's "edges". */
void rig_report_steps(const struct rig_verdict *verdict, const struct rig_witness *witness, struct rig_buf *out);

/* Every lost append or write as a table with tabs, a heading first; only the heading where there is none. */
void rig_report_lost(const struct rig_verdict *verdict, struct rig_buf *out);
/* One witness as a stand-alone SVG picture. */
void rig_report_svg(const struct rig_verdict *verdict, const struct rig_witness *witness, struct rig_buf *out);
/* One witness as a DOT graph, named by its anomaly and `number`; all witnesses as one graph, a cluster each. */
void rig_report_dot_witness(const struct rig_verdict *verdict, const struct rig_witness *witness, uint32_t number,
                            struct rig_buf *out);
void rig_report_dot(const struct rig_verdict *verdict, const char *name, struct rig_buf *out);
/* The lattice of levels, strongest on top: as a DOT graph, as a stand-alone SVG picture. */
void rig_report_lattice_dot(struct rig_buf *out);
void rig_report_lattice_svg(struct rig_buf *out);

#endif
