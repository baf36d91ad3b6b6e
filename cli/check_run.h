/*
 * Checks the history in the folder of a run: its record, or those of all its ranks together.
 */
#ifndef RIG_CLI_CHECK_RUN_H
#define RIG_CLI_CHECK_RUN_H

#include "checker/judge/check_source.h"
#include "checker/judge/shared/shared_check.h"
#include "run/ranks/rank_team.h"

/*
 * `rig check`, and the check after `rig run`, by the ranks of a job of MPI: rank 0 is the leader of
 * checker/judge/shared/shared_check.h, the others are its helpers.
 *
 * The helpers know nothing of the command line: rank 0 gives them the paths of the records and its options.
 */

struct rig_cli_check_ranks {
    struct rig_team *team;
    struct rig_helpers helpers;
};

/* Another rank of such a team: helps until rank 0 tells its status, or is lost. */
void rig_cli_check_ranks_help(struct rig_team *team);

/* Rank 0: connects the others, and initialises. */
enum rig_rc rig_cli_check_ranks_begin(struct rig_cli_check_ranks *ranks, struct rig_team *team, struct rig_err *err);
/* Rank 0, before a check of one record or of those of several ranks: the others open them. Sets options->helpers;
 * without any, ranks->helpers.why says why. */
void rig_cli_check_ranks_open(struct rig_cli_check_ranks *ranks, const char *const *paths, size_t path_count,
                              const struct rig_source_options *from, struct rig_stream_options *options);
/* Rank 0: the others end with this status. */
void rig_cli_check_ranks_end(struct rig_cli_check_ranks *ranks, int status);

/* Another rank: connects, and helps until rank 0 ends. Frees the team. The exit status. */
int rig_cli_check_ranks_follow(struct rig_team *team);

/* As rig_check_file(). The other ranks of the team help (cli/check_run.h); NULL: there are none. */
enum rig_rc rig_cli_check_run(const char *folder, struct rig_team *team, const struct rig_source_options *from,
                              const struct rig_stream_options *options, struct rig_verdict **verdict,
                              struct rig_err *err);

#endif
