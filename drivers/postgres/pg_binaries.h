/*
 * The folder of PostgreSQL's programs: given, of a version, or the newest.
 *
 * Servers of several versions are in folders that are named after them: `14.3`, `postgresql-14.3`, `14.3.0-beta.6`, with the
 * programs in `bin`, or in `native/bin` or `package/native/bin` as npm packages have them. Such folders are searched in the
 * plan's `cluster.local.servers`, $RIG_SERVERS, the caches of scripts/servers and /usr/lib/postgresql.
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

/* One or two numbers of a version; the second is -1 where there is none. */
struct rig_pg_version {
    long major, minor;
};
/* The first number in the text, and the one behind its dot; false when it has none. */
bool rig_pg_version_read(const char *text, struct rig_pg_version *version);
/* Whether a server of version `found` is one of `asked`. */
bool rig_pg_version_fits(const struct rig_pg_version *asked, const struct rig_pg_version *found);

#endif
