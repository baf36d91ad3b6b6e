#include "drivers/postgres/pg_binaries.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKAGED_ROOT "/usr/lib/postgresql"

enum { PROGRAM_BYTES = RIG_PG_PATH_BYTES + 16 };

static bool has_binaries(const char *folder)
{
    char path[PROGRAM_BYTES];
    (void)snprintf(path, sizeof path, "%s/initdb", folder);
    if (access(path, X_OK) != 0)
        return false;
    (void)snprintf(path, sizeof path, "%s/postgres", folder);
    return access(path, X_OK) == 0;
}

/* The newest version below PACKAGED_ROOT, where Debian puts them. */
static bool find_packaged(char *folder, size_t size)
{
    DIR *versions = opendir(PACKAGED_ROOT);
    long newest = 0;
    const struct dirent *entry;
    while (versions != NULL && (entry = readdir(versions)) != NULL) {
        char candidate[RIG_PG_PATH_BYTES];
        long version = strtol(entry->d_name, NULL, 10);
        (void)snprintf(candidate, sizeof candidate, PACKAGED_ROOT "/%s/bin", entry->d_name);
        if (version > newest && has_binaries(candidate)) {
            newest = version;
            (void)snprintf(folder, size, "%s", candidate);
        }
    }
    if (versions != NULL)
        (void)closedir(versions);
    return newest > 0;
}

static bool find_in_path(char *folder, size_t size)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char candidate[RIG_PG_PATH_BYTES];
        (void)snprintf(candidate, sizeof candidate, "%.*s", (int)length, path);
        if (candidate[0] == '/' && has_binaries(candidate)) {
            (void)snprintf(folder, size, "%s", candidate);
            return true;
        }
        path += length + (path[length] == ':');
    }
    return false;
}

enum rig_rc rig_pg_binaries_find(const char *asked, char *folder, size_t size, struct rig_err *err)
{
    if (asked != NULL && asked[0] != '\0') {
        if (asked[0] != '/' || strlen(asked) >= size || !has_binaries(asked))
            return rig_fail(err, RIG_E_CLUSTER,
                            "database.cluster.local.bin-dir: `%s` is no absolute path of a folder with executable "
                            "initdb and postgres",
                            asked);
        (void)snprintf(folder, size, "%s", asked);
        return RIG_OK;
    }
    if (find_packaged(folder, size) || find_in_path(folder, size))
        return RIG_OK;
    return rig_fail(err, RIG_E_CLUSTER,
                    "PostgreSQL's initdb and postgres were not found below " PACKAGED_ROOT
                    " nor in PATH: install the package postgresql, or name their folder as "
                    "database.cluster.local.bin-dir");
}
