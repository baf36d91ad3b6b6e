#include "drivers/postgres/pg_binaries.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/local/local_machine.h"

#define PACKAGED_ROOT "/usr/lib/postgresql"

static const char *const programs[] = {"initdb", "postgres", NULL};

/* The newest version below PACKAGED_ROOT, Debian's folder for them. */
static bool find_packaged(char *folder, size_t size)
{
    DIR *versions = opendir(PACKAGED_ROOT);
    long newest = 0;
    const struct dirent *entry;
    while (versions != NULL && (entry = readdir(versions)) != NULL) {
        char candidate[RIG_PG_PATH_BYTES];
        long version = strtol(entry->d_name, NULL, 10);
        (void)snprintf(candidate, sizeof candidate, PACKAGED_ROOT "/%s/bin", entry->d_name);
        if (version > newest && rig_local_has_programs(candidate, programs)) {
            newest = version;
            (void)snprintf(folder, size, "%s", candidate);
        }
    }
    if (versions != NULL)
        (void)closedir(versions);
    return newest > 0;
}

enum rig_rc rig_pg_binaries_find(const char *asked, char *folder, size_t size, struct rig_err *err)
{
    if (asked != NULL && asked[0] != '\0') {
        if (asked[0] != '/' || strlen(asked) >= size || !rig_local_has_programs(asked, programs))
            return rig_fail(err, RIG_E_CLUSTER,
                            "database.cluster.local.bin-dir: `%s` is not the absolute path of a folder with "
                            "executable initdb and postgres",
                            asked);
        (void)snprintf(folder, size, "%s", asked);
        return RIG_OK;
    }
    if (find_packaged(folder, size) || rig_local_find_programs(programs, folder, size))
        return RIG_OK;
    return rig_fail(err, RIG_E_CLUSTER,
                    "PostgreSQL's initdb and postgres were not found below " PACKAGED_ROOT
                    " nor in PATH: install the package postgresql, or name their folder as "
                    "database.cluster.local.bin-dir");
}
