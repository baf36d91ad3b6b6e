/*
 * A run over several processes: the ranks of a job of MPI (run/ranks/rank_team.h, docs/mpi.md).
 *
 * Rank 0 makes one of these and gives it to rig_run(); every other rank gets the plan from rank 0, and runs its clients
 * with rig_run(), too, by a driver that hands each transaction to rank 0 (run/load/remote_driver.h). Each rank records
 * to a file of its own, which arrives at rank 0 while it grows: what a rank that is lost has recorded is there.
 *
 * Threads: as run/ranks/rank_team.h; one run a process.
 */
#ifndef RIG_RUN_LOAD_RUN_RANKS_H
#define RIG_RUN_LOAD_RUN_RANKS_H

#include <stdatomic.h>

#include "base/err.h"
#include "run/plan/plan.h"
#include "run/ranks/rank_team.h"

struct rig_run_ranks;

/* Connects the ranks. Takes the team, also on failure. */
enum rig_rc rig_run_ranks_new(struct rig_team *team, struct rig_run_ranks **ranks, struct rig_err *err);
/* Rank 0: tells the others the exit status first. Takes NULL. */
void rig_run_ranks_free(struct rig_run_ranks *ranks, int status);
/* Those of NULL: NULL. */
struct rig_team *rig_run_ranks_team(const struct rig_run_ranks *ranks);

/* Rank 0: gives the plan to the others; the records come into this folder, `history.<rank>.rig`. RIG_E_PLAN. */
enum rig_rc rig_run_ranks_lead(struct rig_run_ranks *ranks, const struct rig_plan *plan, const char *folder,
                               struct rig_err *err);
/*
 * Another rank: gets the plan, and runs its clients until the load ends. `folder` is for its record. Fails when rank 0
 * is lost or the plan cannot be run here.
 */
enum rig_rc rig_run_ranks_follow(struct rig_run_ranks *ranks, const atomic_int *interrupts, const char *folder,
                                 struct rig_err *err);

#endif
