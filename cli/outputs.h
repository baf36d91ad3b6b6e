/*
 * The report files of one verdict in a folder, and the exit status that a verdict means.
 *
 *   results.json    always: `rig report` reads the run's facts from it
 *   report.txt, report.html, junit.xml, results.sarif, github.txt, summary.md     as asked for; and those that are
 *                   there already, so that none shows an earlier verdict
 *   witnesses/<anomaly>-<n>.txt, .svg and .dot: always, one a witness, those of an earlier verdict removed; and .jsonl,
 *                   every step of a cycle that is too long to be shown whole
 *   charts/<name>.svg   where there is a course; those of an earlier verdict that are empty now are removed
 *   lost.tsv        every lost append or write, where there are any; else one of an earlier verdict is removed
 */
#ifndef RIG_CLI_OUTPUTS_H
#define RIG_CLI_OUTPUTS_H

#include <stdint.h>

#include "base/err.h"
#include "checker/judge/check.h"
#include "checker/model/verdict.h"
#include "cli/arguments.h"
#include "history/source/load.h"
#include "history/source/source.h"
#include "report/report.h"
#include "run/plan/plan.h"

/*
 * Where and in which form a command writes a history: as an option says, else as the ending of the file's name does.
 */

/* The choices of such an option; json, which is not documented, is jsonl. */
struct rig_cli_forms {
    const char *const *names;
    const char *text; /* for an error: "rig, jsonl or edn" */
};

/* Forms that hold any history, and are written while it is made. */
extern const char *const rig_cli_form_names[];
#define RIG_CLI_FORM_VALUE "rig|jsonl|edn"
extern const struct rig_cli_forms rig_cli_forms;
/* Also those that hold registers. */
extern const char *const rig_cli_all_form_names[];
#define RIG_CLI_ALL_FORM_VALUE RIG_CLI_FORM_VALUE "|plume|dbcop"
extern const struct rig_cli_forms rig_cli_all_forms;

/* Not of RIG_FORM_AUTO, and of a form that is written. */
const char *rig_cli_form_name(enum rig_form form);

/* Whether OUT can be written, and replaced only with --force; false after a complaint. "-" can. */
bool rig_cli_may_write(const struct rig_arguments *args, const char *out);
/* RIG_FORM_AUTO after a complaint. */
enum rig_form rig_cli_output_form(const struct rig_arguments *args, const char *option,
                                  const struct rig_cli_forms *allowed, const char *out);

/* rig_history_save(), with a note where the file tells less of processes than the history
 * (history/model/process_lanes.h). */
enum rig_rc rig_cli_save_history(const struct rig_history *history, const char *path,
                                 const struct rig_save_options *save, struct rig_err *err);

/*
 * The proof of a verdict as a file: `rig check --proof`, and `check.proof` of a plan.
 */

/* Whether histories of this workload have proofs, in this lattice: RIG_E_USAGE if not. */
enum rig_rc rig_cli_proof_check(enum rig_lattice lattice, struct rig_err *err);
/*
 * Reads the source once more from its beginning, as a whole, checks it, and writes the proof to `path`. `name` stands
 * for the source in errors. `decides`: the verdict on the source does (rig_cli_proof_decides()); otherwise nothing is
 * searched again. RIG_E_LIMIT when the history does not fit into memory.
 */
enum rig_rc rig_cli_proof_write(struct rig_source *source, const char *name, const struct rig_check_options *check,
                                bool decides, const char *path, struct rig_err *err);
/* Whether the verdict holds or refutes any level, so that there is something to prove. */
bool rig_cli_proof_decides(const struct rig_verdict *verdict);

#define RIG_CLI_ALL_REPORTS                                                                                            \
    (1u << RIG_REPORT_TEXT | 1u << RIG_REPORT_JSON | 1u << RIG_REPORT_HTML | 1u << RIG_REPORT_JUNIT)

/*
 * Writes the files into `folder`, which is created when its parent exists; `witnesses` in it may be no link. `run` may
 * be NULL; `name` is the title; `forms`: bits 1 << enum rig_report_form. Each file is replaced atomically. The first
 * file that cannot be written is the error (RIG_E_IO); those before it stay.
 */
enum rig_rc rig_cli_write_reports(const struct rig_verdict *verdict, const struct rig_report_run *run,
                                  const struct rig_course *course, const char *name, const char *folder, uint32_t forms,
                                  struct rig_err *err);
/* Refuses a folder in which rig_cli_write_reports() could not write its files; for use before the check begins. */
enum rig_rc rig_cli_check_folder(const char *folder, struct rig_err *err);

/* The reports of `--report FORM=FILE`; and whether their files could be written now, for use before the work begins. */
enum rig_rc rig_cli_write_requested(const struct rig_verdict *verdict, const struct rig_report_run *run,
                                    const struct rig_course *course, const char *name,
                                    const struct rig_arguments *arguments, struct rig_err *err);
enum rig_rc rig_cli_check_requested(const struct rig_arguments *arguments, struct rig_err *err);
/* Whether rig_cli_print_result() shows one screen (rig_report_screen()), which names the report, too. */
bool rig_cli_shows_screen(const struct rig_arguments *arguments);
/*
 * The result on standard output, as `--format` and `--quiet` say; a text is coloured, and as wide as the terminal, when
 * it goes to one.
 */
enum rig_rc rig_cli_print_result(const struct rig_verdict *verdict, const struct rig_report_run *run,
                                 const struct rig_course *course, const struct rig_arguments *arguments,
                                 struct rig_err *err);
/* The course of the load from its history or the records of its ranks, for rig_course_free(); NULL, with a complaint,
 * where it cannot be read, because a report without charts is better than none. */
struct rig_course *rig_cli_course(const char *const *paths, size_t count, const struct rig_source_options *options,
                                  const struct rig_verdict *verdict, const struct rig_report_run *run);
/* RIG_EXIT_OK, _ANOMALY, _UNDECIDED; RIG_EXIT_FAILED where nothing was refuted and the run failed. */
int rig_cli_verdict_status(const struct rig_verdict *verdict);

#endif
