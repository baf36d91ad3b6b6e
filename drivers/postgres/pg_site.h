/*
 * The common parts of a local cluster's nodes beyond drivers/local/local_site.h: PostgreSQL's programs and the
 * superuser's password.
 *
 * The folder of the programs is given, of a version, or the newest. Versions are found by the names of folders
 * (drivers/local/local_versions.h) in the plan's `cluster.local.servers`, $RIG_SERVERS, the caches of scripts/servers
 * and /usr/lib/postgresql.
 *
 * The sockets in the private folder need no password, since only the account and root reach them: the driver's own
 * connections use them, independent of every route and every fault of the network. On TCP the servers require a random
 * password.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SITE_H
#define RIG_DRIVERS_POSTGRES_PG_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "drivers/local/local_site.h"
#include "drivers/postgres/pg_options.h"

enum { RIG_PG_PATH_BYTES = 1024 };

#define RIG_PG_SUPERUSER "postgres"

/* The first version whose standbys rig's settings fit; single servers may be older. */
enum { RIG_PG_STANDBYS_SINCE = 13 };

struct rig_pg_site {
    struct rig_local_site local;
    const struct rig_pg_options *options;
    char bin_dir[RIG_PG_PATH_BYTES];
    char password[33]; /* of the superuser, for TCP */
    bool tcp;          /* the servers listen on TCP, beside their sockets */
    uint32_t node_count;
};

/* Zeroes it except its borrowed members; safe for rig_pg_site_close(). */
void rig_pg_site_init(struct rig_pg_site *site, const struct rig_run_env *env, const struct rig_pg_options *options);
/* Finds account and programs, makes the folder. RIG_E_CLUSTER with the remedy. */
enum rig_rc rig_pg_site_open(struct rig_pg_site *site, struct rig_err *err);
/* As rig_local_site_close(). */
void rig_pg_site_close(struct rig_pg_site *site);
/* As rig_local_run(), for one of PostgreSQL's programs; `arguments[0]` is its bare name. */
enum rig_rc rig_pg_site_run(struct rig_pg_site *site, const char *const *arguments, const char *log_name, bool always,
                            int64_t deadline_ns, struct rig_err *err);

/* Makes the data folder `data`, which does not exist, of a server that has never run. */
enum rig_rc rig_pg_site_make_data(struct rig_pg_site *site, const char *data, int64_t deadline_ns, struct rig_err *err);

/* Each NULL or empty when the plan has none. */
struct rig_pg_wish {
    const char *bin_dir; /* the folder itself */
    const char *version; /* "14" or "14.3" */
    const char *servers; /* a folder with servers */
};

/* As rig_cluster_ops.has_version. */
bool rig_pg_site_has_version(const void *options, const char *version);
/* RIG_E_CLUSTER with the remedy. Without any wish: the newest below /usr/lib/postgresql, or in PATH. */
enum rig_rc rig_pg_binaries_find(const struct rig_pg_wish *wish, char *folder, size_t size, struct rig_err *err);

#endif
