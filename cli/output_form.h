/*
 * Where and in which form a command writes a history: as an option says, else as the ending of the file's name does.
 */
#ifndef RIG_CLI_OUTPUT_FORM_H
#define RIG_CLI_OUTPUT_FORM_H

#include "cli/arguments.h"
#include "history/source/load.h"

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

/* rig_history_save(), with a note where the file tells less of processes than the history (history/model/process_lanes.h). */
enum rig_rc rig_cli_save_history(const struct rig_history *history, const char *path,
                                 const struct rig_save_options *save, struct rig_err *err);

#endif
