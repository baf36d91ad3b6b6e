/*
 * Checks the history in the folder of a run: its record, or those of all its ranks together.
 */
#ifndef RIG_CLI_CHECK_RUN_H
#define RIG_CLI_CHECK_RUN_H

#include "checker/judge/check_source.h"
#include "run/ranks/rank_team.h"

/* As rig_check_file(). The other ranks of the team help (cli/check_ranks.h); NULL: there are none. */
enum rig_rc rig_cli_check_run(const char *folder, struct rig_team *team, const struct rig_source_options *from,
                              const struct rig_stream_options *options, struct rig_verdict **verdict,
                              struct rig_err *err);

#endif
