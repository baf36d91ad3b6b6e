/*
 * The common parts of a local cluster's nodes beyond drivers/local/local_site.h: MariaDB's programs, and the account of
 * clients.
 *
 * The sockets in the private folder need no password, since only the account and root reach them: the driver's own
 * requests use them as root, independent of every route and every fault of the network. Clients have an account of their
 * own, which a read-only server refuses writes.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_SITE_H
#define RIG_DRIVERS_MYSQL_MY_SITE_H

#include "base/run_files.h"
#include "drivers/local/local_site.h"
#include "drivers/mysql/my_options.h"

#define RIG_MY_CLIENT     "rig" /* the account of clients, and of replicas */
#define RIG_MY_SERVER_LOG RIG_RUN_LOG_OF_MARIADB_INSTALL
#define RIG_MY_LOG_SIZE   "32M" /* of InnoDB, from the beginning: another size would be changed at the first start */

enum { RIG_MY_PROGRAM_BYTES = 512 };

struct rig_my_site {
    struct rig_local_site local;
    const struct rig_my_options *options;
    char server[RIG_MY_PROGRAM_BYTES];   /* mariadbd, or mysqld */
    char install[RIG_MY_PROGRAM_BYTES];  /* mariadb-install-db */
    char root[RIG_MY_PROGRAM_BYTES];     /* MySQL's folder, with bin, lib, share and data; empty: it is MariaDB */
    char provider[RIG_MY_PROGRAM_BYTES]; /* Galera's library; empty without it */
    char password[33];                   /* of clients and replicas */
    bool tcp;                            /* clients use TCP */
    uint32_t node_count;
};

/* Zeroes it except its borrowed members; safe for rig_my_site_close(). */
void rig_my_site_init(struct rig_my_site *site, const struct rig_run_env *env, const struct rig_my_options *options);
/* Finds account and programs, makes the folder. RIG_E_CLUSTER with the remedy. */
enum rig_rc rig_my_site_open(struct rig_my_site *site, struct rig_err *err);
void rig_my_site_close(struct rig_my_site *site);
bool rig_my_site_is_galera(const struct rig_my_site *site);
/* Makes the data folder `data`, which does not exist, of a server that has never run. */
enum rig_rc rig_my_site_make_data(struct rig_my_site *site, const char *data, bool always, int64_t deadline_ns,
                                  struct rig_err *err);

#endif
