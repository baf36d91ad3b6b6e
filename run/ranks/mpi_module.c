/*
 * rig's only code that calls MPI: the ranks of a job get their numbers and the address of rank 0.
 */
#include "run/ranks/mpi_module.h"

#include <mpi.h>
#include <stdio.h>

__attribute__((visibility("default"))) int rig_mpi_meet(void *card, int size, int *rank, int *ranks, char *text,
                                                        int text_size);

static int fail(const char *step, char *text, int text_size)
{
    (void)snprintf(text, (size_t)text_size, "%s failed", step);
    return 1;
}

int rig_mpi_meet(void *card, int size, int *rank, int *ranks, char *text, int text_size)
{
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return fail("MPI_Init", text, text_size);
    if (MPI_Comm_rank(MPI_COMM_WORLD, rank) != MPI_SUCCESS || MPI_Comm_size(MPI_COMM_WORLD, ranks) != MPI_SUCCESS)
        return fail("MPI_Comm_rank", text, text_size);
    if (MPI_Bcast(card, size, MPI_BYTE, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
        return fail("MPI_Bcast", text, text_size);
    return MPI_Finalize() == MPI_SUCCESS ? 0 : fail("MPI_Finalize", text, text_size);
}
