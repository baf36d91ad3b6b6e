#include "run/ranks/rank_seat.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data_folder.h"
#include "run/ranks/mpi_module.h"

/* The number of processes that a launcher says; 0: it says nothing. */
static long launched(const char *name)
{
    const char *text = getenv(name);
    return text == NULL ? 0 : strtol(text, NULL, 10);
}

bool rig_rank_seat_is_given(void)
{
    /* Open MPI's mpirun; PMI of MPICH and Slurm; srun with PMIx, which gives its own count of tasks. */
    return launched("OMPI_COMM_WORLD_SIZE") > 1 || launched("PMI_SIZE") > 1 ||
           (getenv("PMIX_RANK") != NULL && launched("SLURM_NTASKS") > 1);
}

/* The name of the program that started this one; empty: unknown. */
static void parent_name(char *name, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/comm", (long)getppid());
    FILE *file = fopen(path, "re");
    if (file == NULL || fgets(name, (int)size, file) == NULL)
        name[0] = '\0';
    if (file != NULL)
        (void)fclose(file);
}

bool rig_rank_seat_is_direct(uint32_t *rank)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    static const char *const launchers[] = {"mpirun", "mpiexec", "orte", "prte", "slurmstepd", "hydra"};
    char name[32];
    parent_name(name, sizeof name);
    bool is_launcher = false;
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++)
        is_launcher |= strncmp(name, launchers[i], strlen(launchers[i])) == 0;
    const char *number = NULL;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0] && number == NULL; i++)
        number = getenv(ranks[i]);
    if (!is_launcher || number == NULL || !rig_rank_seat_is_given())
        return false;
    *rank = (uint32_t)strtoul(number, NULL, 10);
    return true;
}

void rig_rank_seat_leave(void)
{
    (void)unsetenv("OMPI_COMM_WORLD_SIZE");
    (void)unsetenv("PMI_SIZE");
    (void)unsetenv("PMIX_RANK");
}

enum rig_rc rig_rank_seat_take(void *card, size_t size, struct rig_rank_seat *seat, struct rig_err *err)
{
    char where[PATH_MAX], text[256] = "";
    /* For its plugins MPI needs its own symbols to be global. */
    void *module = rig_module_open(RIG_MPI_MODULE, RTLD_NOW | RTLD_GLOBAL, where, sizeof where);
    if (module == NULL) {
        const char *why = dlerror();
        return rig_fail(err, RIG_E_LIMIT,
                        "a launcher of MPI started this rig, which has no module for MPI (%s): build rig where "
                        "libopenmpi-dev is installed, or start it without mpirun",
                        why == NULL ? RIG_MPI_MODULE " is not there" : why);
    }
    rig_mpi_meet_fn *meet = NULL;
    *(void **)&meet = dlsym(module, RIG_MPI_SYMBOL);
    if (meet == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s is no module of this rig", where);
    int rank = 0, ranks = 0;
    if (meet(card, (int)size, &rank, &ranks, text, sizeof text) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "the ranks do not find each other: %s", text);
    *seat = (struct rig_rank_seat){.rank = (uint32_t)rank, .ranks = (uint32_t)ranks};
    return RIG_OK;
}
