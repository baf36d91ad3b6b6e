/*
 * In which form a command writes a history: as an option says, else as the ending of the file's name does.
 */
#ifndef RIG_CLI_OUTPUT_FORM_H
#define RIG_CLI_OUTPUT_FORM_H

#include "cli/arguments.h"
#include "history/load.h"

/* `names` are the option's three choices: rig's own form, JSON lines, EDN. RIG_FORM_AUTO after a complaint. */
enum rig_form rig_cli_output_form(const struct rig_arguments *args, const char *option, const char *const names[3],
                                  const char *out);

#endif
