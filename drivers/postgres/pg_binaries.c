#include "drivers/postgres/pg_binaries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/local/local_machine.h"
#include "drivers/local/local_versions.h"

#define PACKAGED_ROOT "/usr/lib/postgresql"

static const char *const programs[] = {"initdb", "postgres", NULL};

static bool given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* ---- the choice ---- */

static enum rig_rc find_asked(const struct rig_pg_wish *wish, char *folder, size_t size, struct rig_err *err)
{
    struct rig_local_version asked;
    if (!rig_local_version_read(wish->version, &asked) ||
        !rig_local_version_find(wish->servers, PACKAGED_ROOT, programs, &asked, folder, size))
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster.local.version: there is no PostgreSQL %s in %s%s%s, in the caches of "
                        "scripts/servers or below " PACKAGED_ROOT
                        ": `scripts/servers %s` installs it, or name the folder of its programs as "
                        "database.cluster.local.bin-dir",
                        wish->version, given(wish->servers) ? wish->servers : "database.cluster.local.servers",
                        given(getenv("RIG_SERVERS")) ? ", " : ", $RIG_SERVERS",
                        given(getenv("RIG_SERVERS")) ? getenv("RIG_SERVERS") : "", wish->version);
    return RIG_OK;
}

enum rig_rc rig_pg_binaries_find(const struct rig_pg_wish *wish, char *folder, size_t size, struct rig_err *err)
{
    const char *asked = wish->bin_dir;
    if (given(asked)) {
        if (asked[0] != '/' || strlen(asked) >= size || !rig_local_has_programs(asked, programs))
            return rig_fail(err, RIG_E_PLAN,
                            "database.cluster.local.bin-dir: `%s` is not the absolute path of a folder with "
                            "executable initdb and postgres",
                            asked);
        (void)snprintf(folder, size, "%s", asked);
        return RIG_OK;
    }
    if (given(wish->version))
        return find_asked(wish, folder, size, err);
    if (rig_local_version_newest(PACKAGED_ROOT, programs, NULL, folder, size) ||
        rig_local_find_programs(programs, folder, size))
        return RIG_OK;
    return rig_fail(err, RIG_E_PLAN,
                    "PostgreSQL's initdb and postgres were not found below " PACKAGED_ROOT
                    " nor in PATH: install the package postgresql, or name their folder as "
                    "database.cluster.local.bin-dir");
}
