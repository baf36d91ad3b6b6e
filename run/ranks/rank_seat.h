/*
 * The place of this process in a job of MPI.
 */
#ifndef RIG_RUN_RANKS_RANK_SEAT_H
#define RIG_RUN_RANKS_RANK_SEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rig_rank_seat {
    uint32_t rank, ranks;
};

/* Whether the environment shows that a launcher of MPI (mpirun, srun) started this process among several. */
bool rig_rank_seat_is_given(void);
/* Whether a launcher started this process itself, not a script that it started; `rank` as the environment says, without
 * MPI. */
bool rig_rank_seat_is_direct(uint32_t *rank);
/* Removes that from the environment: this process, and those that it starts, are not among several any longer. While
 * the process has no other thread. */
void rig_rank_seat_leave(void);
/* Loads the module of MPI; every rank gets the card of rank 0. Before the process has threads. RIG_E_LIMIT when this
 * rig was built without MPI. */
enum rig_rc rig_rank_seat_take(void *card, size_t size, struct rig_rank_seat *seat, struct rig_err *err);

#endif
