/*
 * Where and in which form a command writes a history: as an option says, else as the ending of the file's name does.
 */
#ifndef RIG_CLI_OUTPUT_FORM_H
#define RIG_CLI_OUTPUT_FORM_H

#include "cli/arguments.h"
#include "history/load.h"

/* The choices of such an option: rig, jsonl, edn; json, which is not documented, is jsonl. */
extern const char *const rig_cli_form_names[];
#define RIG_CLI_FORM_VALUE "rig|jsonl|edn"

/* Not of RIG_FORM_AUTO. */
const char *rig_cli_form_name(enum rig_form form);

/* Whether OUT can be written, and replaced only with --force; false after a complaint. "-" can. */
bool rig_cli_may_write(const struct rig_arguments *args, const char *out);
/* RIG_FORM_AUTO after a complaint. */
enum rig_form rig_cli_output_form(const struct rig_arguments *args, const char *option, const char *out);

#endif
