/*
 * The names of what rig writes into the folder of a run: one list. The code that writes a file takes its name from
 * here, and `rig store` removes a run only where everything in its folder is on the list (base/run_files.c has the
 * table).
 *
 * `%u` in a name stands for a number, as for printf().
 */
#ifndef RIG_BASE_RUN_FILES_H
#define RIG_BASE_RUN_FILES_H

#include <stdbool.h>

/* The run itself. */
#define RIG_RUN_MARK             ".rig-run" /* jobs/store/store_folder.h */
#define RIG_RUN_KEEP             "KEEP"     /* made by the user: the run is protected */
#define RIG_RUN_PLAN             "plan.yaml"
#define RIG_RUN_RECORD           "history.rig"
#define RIG_RUN_RECORD_OF_RANK   "history.%u.rig"
#define RIG_RUN_RECORD_SET_ASIDE "lost.%u.rig"
#define RIG_RUN_LOG              "rig.log"
#define RIG_RUN_LOG_OF_RANK      "rig.%u.log"
#define RIG_RUN_PROGRESS         "progress.json" /* while the run is under way: run/load/run_progress.h */
/* The line of the log after which rig ends its sessions and its cluster. */
#define RIG_RUN_LOG_READS_ENDED "the final reads have ended"

/* Reports. */
#define RIG_RUN_RESULTS   "results.json"
#define RIG_RUN_TEXT      "report.txt"
#define RIG_RUN_HTML      "report.html"
#define RIG_RUN_LOST      "lost.tsv"
#define RIG_RUN_WITNESSES "witnesses" /* a folder; report/witness_file.h names its files */
#define RIG_RUN_CHARTS    "charts"    /* a folder; report/charts.h names its files */
#define RIG_RUN_PROOF     "proof"

/* Logs of programs that drivers start. A driver that is not part of rig begins the names of its logs with `rig-`. */
#define RIG_RUN_LOG_OF_DRIVER          "rig-%s.log"
#define RIG_RUN_LOG_OF_EXEC            "exec.log"
#define RIG_RUN_LOG_OF_INITDB          "initdb.log"
#define RIG_RUN_LOG_OF_PG_VERSION      "pg-version.log"
#define RIG_RUN_LOG_OF_MARIADB_INSTALL "mariadb-install.log"
#define RIG_RUN_LOG_OF_NODE            "%s.log" /* a node: one of the prefixes in the table, a hyphen, a number */
#define RIG_RUN_LOG_OF_SERVER          "%s-server.log"  /* the node's `{log}` (docs/clusters.md) */
#define RIG_RUN_LOG_OF_PREPARE         "%s-prepare.log" /* of cluster.local.prepare */
#define RIG_RUN_LOG_OF_REJOIN          "%s-rejoin.log"
#define RIG_RUN_LOG_OF_RECOVERY        "%s-recover.log"

/* Files of `rig reproduce` and `rig shrink --plan`. */
#define RIG_RUN_PART                   "part.jsonl"
#define RIG_RUN_WITNESS                "witness.txt"
#define RIG_RUN_SCENARIO               "scenario.yaml"
#define RIG_RUN_SCRIPT_PSQL            "reproduce-psql.sh"
#define RIG_RUN_SCRIPT_MYSQL           "reproduce-mysql.sh"
#define RIG_RUN_SCRIPT_SHELL           "reproduce-shell.sh"
#define RIG_RUN_SCRIPT_HTTP            "reproduce-http.sh"
#define RIG_RUN_SCRIPT_ISOLATIONTESTER "reproduce.spec"
#define RIG_RUN_REPRODUCTION           "reproduction.json"
#define RIG_RUN_RUNS                   "runs" /* a folder, with a folder like this one for each run, named by a number */
#define RIG_RUN_SMALLEST               "smallest" /* a folder like this one */
#define RIG_RUN_SMALLEST_PLAN          "smallest.yaml"
#define RIG_RUN_SHRUNK                 "shrunk.json"

/* Files of `rig matrix`, in a folder of its own. */
#define RIG_RUN_MATRIX       "matrix.json"
#define RIG_RUN_MATRIX_PAGE  "matrix.html"
#define RIG_RUN_MATRIX_TEXT  "matrix.txt"
#define RIG_RUN_MATRIX_LOCK  "lock"
#define RIG_RUN_MATRIX_CELLS "cells" /* a folder, with a folder for each cell */
#define RIG_RUN_CELL_RUN     "run"   /* of a cell: a folder like this one */

/*
 * The forms of a report: identifier, name in plans and in `--report`, file in the folder of a run, and what a sentence
 * puts between the name and the one before. A plan's `report` names the forms that have a file.
 */
#define RIG_REPORT_FILE_TABLE(X)                                                                                       \
    X(TEXT, "text", RIG_RUN_TEXT, "")                                                                                  \
    X(JSON, "json", RIG_RUN_RESULTS, ", ")                                                                             \
    X(HTML, "html", RIG_RUN_HTML, ", ")                                                                                \
    X(JUNIT, "junit", "junit.xml", ", ")                                                                               \
    X(SARIF, "sarif", "results.sarif", ", ")                                                                           \
    X(GITHUB, "github", "github.txt", ", ")                                                                            \
    X(MARKDOWN, "markdown", "summary.md", ", ")
#define RIG_REPORT_FORM_TABLE(X) RIG_REPORT_FILE_TABLE(X) X(DOT, "dot", NULL, " or ")

enum rig_run_place {
    RIG_RUN_PLACE_NONE, /* rig does not write it */
    RIG_RUN_PLACE_FILE,
    RIG_RUN_PLACE_RUN, /* the folder of a run */
    RIG_RUN_PLACE_RUNS,
    RIG_RUN_PLACE_WITNESSES,
    RIG_RUN_PLACE_CHARTS,
    RIG_RUN_PLACE_CELLS, /* of a matrix */
    RIG_RUN_PLACE_CELL,
};

/* Takes `name` in a folder that is a RIG_RUN_PLACE_RUN, _RUNS, _CELLS or _CELL, also as a file that a killed rig had
 * not finished. */
enum rig_run_place rig_run_file_find(enum rig_run_place folder, const char *name);
/* Whether `name` is that of a record: of the run, or of one of its ranks. */
bool rig_run_file_is_record(const char *name);

#endif
