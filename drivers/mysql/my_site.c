#include "drivers/mysql/my_site.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "drivers/local/local_machine.h"
#include "drivers/local/local_versions.h"

static const struct rig_local_kind kind = {
    .name = "mysql",
    .node_prefix = "mariadb",
    .product = "MariaDB",
    .account_package = "mariadb-server",
    .refuses_root = true,
    .socket_name_bytes = sizeof "mariadb-16.sock" - 1,
    .fast_signal = SIGTERM,
};

/* Where packages put the programs, beside the folders of PATH. */
static const char *const folders[] = {"/usr/sbin", "/usr/bin", "/usr/libexec"};

void rig_my_site_init(struct rig_my_site *site, const struct rig_run_env *env, const struct rig_my_options *options)
{
    *site = (struct rig_my_site){.options = options};
    rig_local_site_init(&site->local, &kind, env);
}

bool rig_my_site_is_galera(const struct rig_my_site *site)
{
    return site->options->sql.replication == RIG_MY_GALERA;
}

/* ---- programs ---- */

static bool join(char *path, const char *folder, const char *name)
{
    const int length = snprintf(path, RIG_MY_PROGRAM_BYTES, "%s/%s", folder, name);
    return length > 0 && length < RIG_MY_PROGRAM_BYTES;
}

static enum rig_rc find_program(const char *bin_dir, const char *name, char path[static RIG_MY_PROGRAM_BYTES],
                                struct rig_err *err)
{
    const char *const wanted[] = {name, NULL};
    char folder[RIG_MY_PROGRAM_BYTES];
    if (bin_dir != NULL && bin_dir[0] != '\0') {
        if (bin_dir[0] != '/' || !rig_local_has_programs(bin_dir, wanted) || !join(path, bin_dir, name))
            return rig_fail(err, RIG_E_PLAN,
                            "database.cluster.local.bin-dir: `%s` is not the absolute path of a folder with an "
                            "executable %s",
                            bin_dir, name);
        return RIG_OK;
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (rig_local_has_programs(folders[i], wanted) && join(path, folders[i], name))
            return RIG_OK;
    }
    if (rig_local_find_programs(wanted, NULL, folder, sizeof folder) && join(path, folder, name))
        return RIG_OK;
    return rig_fail(
        err, RIG_E_PLAN,
        "MariaDB's %s was not found: install the package mariadb-server, or name the folder of its programs "
        "as database.cluster.local.bin-dir",
        name);
}

/* A folder of MySQL or MariaDB by its version. */
static enum rig_rc find_version(struct rig_my_site *site, char folder[static RIG_MY_PROGRAM_BYTES], struct rig_err *err)
{
    static const char *const maria[] = {"mariadbd", "mariadb-install-db", NULL}, *const mysql[] = {"mysqld", NULL};
    const struct rig_my_options *options = site->options;
    struct rig_local_version asked = {0, -1};
    (void)rig_local_version_read(options->sql.version, &asked);
    if (rig_local_version_find(options->sql.servers, NULL, maria, &asked, folder, RIG_MY_PROGRAM_BYTES))
        return RIG_OK;
    if (!rig_local_version_find(options->sql.servers, NULL, mysql, &asked, folder, RIG_MY_PROGRAM_BYTES))
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster.local.version: there is no MariaDB or MySQL %s in "
                        "database.cluster.local.servers, in $RIG_SERVERS or in the caches of scripts/servers: "
                        "`scripts/servers mysql-5.6` installs one",
                        options->sql.version);
    (void)snprintf(site->root, sizeof site->root, "%.*s", (int)(strlen(folder) - strlen("/bin")), folder);
    if (site->node_count > 1 || rig_my_site_is_galera(site))
        return rig_fail(err, RIG_E_PLAN,
                        "MySQL %s: rig starts replicas and Galera clusters of MariaDB only: give "
                        "cluster.local.nodes: 1",
                        options->sql.version);
    return RIG_OK;
}

static enum rig_rc find_programs(struct rig_my_site *site, struct rig_err *err)
{
    const struct rig_my_options *options = site->options;
    char folder[RIG_MY_PROGRAM_BYTES];
    const char *bin_dir = options->sql.bin_dir;
    if (options->sql.version != NULL && options->sql.version[0] != '\0') {
        const enum rig_rc rc = find_version(site, folder, err);
        if (rc != RIG_OK)
            return rc;
        bin_dir = folder;
    }
    const bool mysql = site->root[0] != '\0';
    const enum rig_rc rc = find_program(bin_dir, mysql ? "mysqld" : "mariadbd", site->server, err);
    return rc != RIG_OK || mysql ? rc : find_program(bin_dir, "mariadb-install-db", site->install, err);
}

static enum rig_rc find_provider(struct rig_my_site *site, struct rig_err *err)
{
    static const char *const paths[] = {"/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so",
                                        "/usr/lib/libgalera_smm.so"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (access(paths[i], R_OK) == 0) {
            (void)snprintf(site->provider, sizeof site->provider, "%s", paths[i]);
            return RIG_OK;
        }
    }
    return rig_fail(err, RIG_E_PLAN, "Galera's library was not found: install the packages galera-4 and rsync");
}

/* ---- the site ---- */

enum rig_rc rig_my_site_open(struct rig_my_site *site, struct rig_err *err)
{
    const struct rig_core *core = site->local.env->core;
    const struct rig_my_options *options = site->options;
    const bool routed = core->routed != NULL && core->routed();
    site->node_count = options->sql.nodes > 1 ? (uint32_t)options->sql.nodes : 1;
    site->tcp = options->sql.listen == RIG_SQL_LISTEN_TCP || routed;
    if (routed && rig_my_site_is_galera(site))
        return rig_fail(err, RIG_E_CLUSTER,
                        "faults of the network cannot reach the connections between Galera's nodes, which tell each "
                        "other their own addresses: leave them out, or use another replication");
    enum rig_rc rc = find_programs(site, err);
    if (rc == RIG_OK && rig_my_site_is_galera(site))
        rc = find_provider(site, err);
    if (rc == RIG_OK)
        rc = rig_local_make_password(site->password, err);
    return rc == RIG_OK ? rig_local_site_open(&site->local, options->sql.run_as, err) : rc;
}

void rig_my_site_close(struct rig_my_site *site)
{
    rig_local_site_close(&site->local);
}

enum rig_rc rig_my_site_make_data(struct rig_my_site *site, const char *data, bool always, int64_t deadline_ns,
                                  struct rig_err *err)
{
    /* The package of MySQL brings the data of a server that has never run. */
    if (site->root[0] != '\0') {
        char made[RIG_MY_PROGRAM_BYTES + 8];
        (void)snprintf(made, sizeof made, "%s/data", site->root);
        return rig_folder_copy(made, data, &site->local.account, err);
    }
    char folder[RIG_LOCAL_PATH_BYTES + 16];
    char temporary[RIG_LOCAL_PATH_BYTES + 16];
    (void)snprintf(folder, sizeof folder, "--datadir=%s", data);
    (void)snprintf(temporary, sizeof temporary, "--tmpdir=%s", site->local.folder);
    /* Root has no password, and exists for the socket alone. The data are new: nothing of them need be on disk. */
    const char *const arguments[] = {site->install,
                                     "--no-defaults",
                                     folder,
                                     temporary,
                                     "--auth-root-authentication-method=normal",
                                     "--skip-test-db",
                                     "--skip-name-resolve",
                                     "--innodb-flush-method=nosync",
                                     "--innodb-log-file-size=" RIG_MY_LOG_SIZE,
                                     NULL};
    return rig_local_run(&site->local, arguments, RIG_MY_SERVER_LOG, always, deadline_ns, err);
}
