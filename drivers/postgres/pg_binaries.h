/*
 * The folder of PostgreSQL's programs: given, of a version, or the newest.
 *
 * Versions are found by the names of folders (drivers/local/local_versions.h) in the plan's `cluster.local.servers`,
 * $RIG_SERVERS, the caches of scripts/servers and /usr/lib/postgresql.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_BINARIES_H
#define RIG_DRIVERS_POSTGRES_PG_BINARIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { RIG_PG_PATH_BYTES = 1024 };

/* Each NULL or empty when the plan has none. */
struct rig_pg_wish {
    const char *bin_dir; /* the folder itself */
    const char *version; /* "14" or "14.3" */
    const char *servers; /* a folder with servers */
};

/* RIG_E_CLUSTER with the remedy. Without any wish: the newest below /usr/lib/postgresql, or in PATH. */
enum rig_rc rig_pg_binaries_find(const struct rig_pg_wish *wish, char *folder, size_t size, struct rig_err *err);

#endif
