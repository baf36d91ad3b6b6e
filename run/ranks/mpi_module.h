/*
 * The one function of the module rig-mpi.so, which alone is linked against MPI (docs/adr/0078-ranks-by-mpi.md).
 */
#ifndef RIG_RUN_RANKS_MPI_MODULE_H
#define RIG_RUN_RANKS_MPI_MODULE_H

#define RIG_MPI_MODULE "rig-mpi.so"
#define RIG_MPI_SYMBOL "rig_mpi_meet"

/*
 * Joins the job, gives the card of rank 0, which has the same size in every rank, to all ranks, and leaves the job
 * again: MPI is over when it returns, so that the death of a rank ends no other. 0, or what failed in `text`. Once a
 * process.
 */
typedef int rig_mpi_meet_fn(void *card, int size, int *rank, int *ranks, char *text, int text_size);

#endif
