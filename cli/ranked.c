#include "cli/ranked.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "run/ranks/rank_seat.h"

/* -- the process that the launcher started ------------------------------------------------------------------------- */

static volatile sig_atomic_t child_pid;

static void pass_on(int number)
{
    if (child_pid > 0)
        (void)kill((pid_t)child_pid, number);
}

/* The failure of a rank above 0 must not look like one of the job, else mpirun ends all ranks: rank 0 gives the
 * status. */
static int status_of(int ended, uint32_t rank)
{
    const int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    if (!WIFEXITED(ended))
        rig_cli_complain("rank %u was ended by signal %d", rank, WTERMSIG(ended));
    const bool is_word_of_rank_0 = WIFEXITED(ended) && status != rig_rc_exit_status(RIG_E_BUG);
    return rank == 0 || is_word_of_rank_0 ? status : RIG_EXIT_OK;
}

static int watch(pid_t child, uint32_t rank)
{
    int ended = 0;
    siginfo_t info;
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0) {
        if (errno != EINTR)
            return RIG_EXIT_FAILED;
    }
    child_pid = 0; /* once it is reaped, the number may go to another process */
    (void)waitpid(child, &ended, 0);
    return status_of(ended, rank);
}

/* Gives true in the child, which is the rank; else the status of the launcher's process in `status`. */
static bool step_aside(struct rig_team *team, int *status)
{
    const uint32_t rank = rig_team_rank(team);
    static const int signals[] = {SIGINT, SIGTERM, SIGUSR1};
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    (void)fflush(NULL);
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        (void)setsid();
        (void)signal(SIGHUP, SIG_DFL);
        (void)setenv("NO_COLOR", "1", 0); /* its terminal is one of mpirun, which passes the bytes on anywhere */
        /* The end of the launcher's process is a request to end, but none to hurry (cli/stop_signals.c). */
        (void)prctl(PR_SET_PDEATHSIG, SIGHUP);
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        if (getppid() != parent)
            (void)raise(SIGHUP);
        return true;
    }
    child_pid = child;
    rig_team_free(team); /* the child has it: only its descriptors go */
    struct sigaction action = {.sa_handler = pass_on};
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        (void)sigaction(signals[i], &action, NULL);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0)
        rig_cli_complain("cannot start a process for rank %u: %s", rank, strerror(errno));
    *status = child < 0 ? RIG_EXIT_FAILED : watch(child, rank);
    return false;
}

/* -- the ranks ----------------------------------------------------------------------------------------------------- */

int rig_cli_ranked(const struct rig_cli_ranked_work *work, int argc, char **argv)
{
    struct rig_team *team = NULL;
    struct rig_err err = {0};
    int status = RIG_EXIT_FAILED;
    if (rig_team_meet(&team, &err) != RIG_OK) {
        if (work->alone == NULL)
            return rig_cli_fail(&err);
        return rig_cli_ranked_alone(work->alone) ? work->lead(argc, argv, NULL) : RIG_EXIT_OK;
    }
    if (rig_team_ranks(team) == 1) {
        rig_team_free(team);
        return work->lead(argc, argv, NULL);
    }
    if (!step_aside(team, &status))
        return status;
    return rig_team_rank(team) == 0 ? work->lead(argc, argv, team) : work->follow(team);
}

bool rig_cli_ranked_alone(const char *command)
{
    uint32_t rank = 0;
    if (!rig_rank_seat_is_direct(&rank))
        return true;
    if (rank > 0)
        return false;
    rig_rank_seat_leave();
    (void)setenv("NO_COLOR", "1", 0); /* as for the ranks of a run */
    rig_cli_complain("rig %s is done by rank 0 alone; the other ranks have ended", command);
    return true;
}
