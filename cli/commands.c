/* The table of the subcommands (cli.h). */
#include "cli/cli.h"

const struct rig_cli_command rig_cli_commands[RIG_CLI_COMMAND_COUNT] = {
#define COMMAND_ROW(name, summary) {#name, summary, rig_cli_##name},
    RIG_CLI_TABLE(COMMAND_ROW)
#undef COMMAND_ROW
};
