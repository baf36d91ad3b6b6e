/*
 * What the nodes of a local cluster share: the account, the programs, the private folder, the logs.
 *
 * All files lie in one private folder (mode 0700) of the account. It is made below the run's work folder where the
 * account can reach it and a socket's path is short enough (107 bytes), else below /var/tmp or /tmp. The sockets in it
 * ask for no password, since only the account and root reach them: the driver's own connections take them, past every
 * route and every fault of the network. On TCP the servers ask for a random password.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SITE_H
#define RIG_DRIVERS_POSTGRES_PG_SITE_H

#include "base/child.h"
#include "drivers/driver.h"
#include "drivers/postgres/pg_binaries.h"
#include "drivers/postgres/pg_options.h"

#define RIG_PG_SUPERUSER "postgres"

enum { RIG_PG_FILE_BYTES = 256, RIG_PG_TAIL_BYTES = 601 };

struct rig_pg_site {
    const struct rig_run_env *env;
    const struct rig_pg_options *options;
    struct rig_account account;
    struct rig_children *children;
    char bin_dir[RIG_PG_PATH_BYTES];
    char folder[128];  /* the private folder; empty: none was made */
    char password[33]; /* of the superuser, for TCP */
    bool tcp;          /* the servers listen on TCP, beside their sockets */
    uint32_t node_count;
};

/* Finds account and programs, makes the folder. RIG_E_CLUSTER with the remedy. */
enum rig_rc rig_pg_site_open(struct rig_pg_site *site, struct rig_err *err);
/* Removes the folder with all that is in it. Every child has been cleared. Safe after a failed open, safe to repeat. */
void rig_pg_site_close(struct rig_pg_site *site);

/* The path of `name` in the private folder. */
void rig_pg_site_path(const struct rig_pg_site *site, const char *name, char path[static RIG_PG_FILE_BYTES]);
/* Writes a file that only the account can read; `flags` beside O_WRONLY. */
enum rig_rc rig_pg_site_write(const struct rig_pg_site *site, const char *path, int flags, const char *text,
                              struct rig_err *err);
/* Opens a log in the run's folder for appending; the caller closes it. -1 and an error when it cannot. */
int rig_pg_site_log(const struct rig_pg_site *site, const char *name, struct rig_err *err);
/* The end of a log as one line, for an error. */
void rig_pg_site_log_tail(const struct rig_pg_site *site, const char *name, char line[static RIG_PG_TAIL_BYTES]);

/*
 * Runs one of PostgreSQL's programs (`arguments[0]`: its bare name) to its end, by the deadline; what it says goes to
 * the log `log_name`. With `always` not even the end of the run ends it early. RIG_E_CLUSTER with the log's end.
 */
enum rig_rc rig_pg_site_run(struct rig_pg_site *site, const char *const *arguments, const char *log_name, bool always,
                            int64_t deadline_ns, struct rig_err *err);

#endif
