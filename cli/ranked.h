/*
 * rig under a launcher of MPI (docs/mpi.md). `rig run` and `rig check` are done by all ranks together, `rig hunt`
 * refuses several, and every other command is done by rank 0 alone.
 *
 * The process that mpirun started only waits: a child in a session of its own is the rank. So a rank that is killed
 * ends no other one, and where mpirun itself ends the job, which kills what it started after a second, each rank still
 * has the time to stop its clients, and rank 0 to heal, to check and to report.
 */
#ifndef RIG_CLI_RANKED_H
#define RIG_CLI_RANKED_H

#include "run/ranks/rank_team.h"

/* The work of the ranks. Each takes the team, which the others have met, and frees it. */
struct rig_cli_ranked_work {
    int (*lead)(int argc, char **argv, struct rig_team *team); /* the command on rank 0 */
    int (*follow)(struct rig_team *team);                      /* on the others */
    const char
        *alone; /* the command's name, if rank 0 does it alone where the ranks cannot meet; NULL: that is an error */
};

/* The command's exit status, which is the same in all ranks. With one rank, or alone, `lead` gets NULL. */
int rig_cli_ranked(const struct rig_cli_ranked_work *work, int argc, char **argv);
/*
 * Before a command that one process does. False: a launcher started the same command as several ranks, and this is not
 * rank 0, so there is nothing to do. A script that was started as several ranks may give each another command, which is
 * done as anywhere. Rank 0 is an ordinary process from now on, as are those that it starts.
 */
bool rig_cli_ranked_alone(const char *command);

#endif
