#include "drivers/mysql/my_node.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/folder.h"
#include "drivers/local/local_machine.h"
#include "drivers/local/local_template.h"
#include "drivers/local/local_versions.h"

enum { CONNECTIONS_LEAST = 200, CONFIGURATION_MOST = 64 * 1024 };

#define MY_LOG_SIZE "32M" /* of InnoDB, from the beginning: another size would be changed at the first start */

static void add_basics(struct rig_buf *text, const struct rig_my_node *node)
{
    const struct rig_my_site *site = node->site;
    const unsigned connections = site->local.env->client_count * 4;
    const char *folder = site->local.folder, *name = node->local.name;
    rig_buf_add_text(text, "# Written by rig; the last of equal names wins.\n[mysqld]\n");
    rig_buf_printf(text, "datadir = %s\nsocket = %s/%s.sock\npid_file = %s/%s.pid\ntmpdir = %s\n", node->local.data,
                   folder, name, folder, name, folder);
    if (site->tcp || site->node_count > 1 || rig_my_site_is_galera(site))
        rig_buf_printf(text, "port = %u\nbind_address = 127.0.0.1\n", rig_my_node_port(node, RIG_MY_PORT_SQL));
    else
        rig_buf_add_text(text, "skip_networking\n");
    rig_buf_printf(text, "server_id = %u\n", node->generation * RIG_NODES_MOST + node->index + 1);
    rig_buf_add_text(text, "skip_name_resolve\n");
    rig_buf_printf(text, "max_connections = %u\n", connections < CONNECTIONS_LEAST ? CONNECTIONS_LEAST : connections);
    rig_buf_add_text(text, "max_allowed_packet = 64M\ninnodb_buffer_pool_size = 64M\n"
                           "innodb_log_file_size = " MY_LOG_SIZE "\n");
    /* Faults that preload a library must see every write. */
    rig_buf_add_text(text, "innodb_use_native_aio = OFF\n");
    /* At the default of 50 s a client whose lock's holder is held would do nothing for most of a run. */
    rig_buf_add_text(text, "innodb_lock_wait_timeout = 5\n");
    if (!atomic_load(&node->writable))
        rig_buf_add_text(text, "read_only = ON\n");
    if (site->root[0] != '\0')
        rig_buf_printf(text, "lc_messages_dir = %s/share\ncharacter_sets_dir = %s/share/charsets\n", site->root,
                       site->root);
}

static void add_replication(struct rig_buf *text, const struct rig_my_node *node)
{
    rig_buf_add_text(text, "log_bin = binlog\nlog_slave_updates = ON\nbinlog_format = ROW\nsync_binlog = 1\n"
                           "gtid_strict_mode = ON\nrelay_log = relay\nskip_slave_start\nslave_net_timeout = 5\n"
                           "slave_max_allowed_packet = 64M\n");
    if (node->site->options->sql.replication != RIG_MY_SEMI_SYNC)
        return;
    /* It never falls back to asynchronous replication; a replica acknowledges before others see the transaction. */
    rig_buf_printf(text,
                   "rpl_semi_sync_slave_enabled = ON\nrpl_semi_sync_master_timeout = 3600000\n"
                   "rpl_semi_sync_master_wait_point = AFTER_SYNC\nrpl_semi_sync_master_enabled = %s\n",
                   node->semi_sync && atomic_load(&node->writable) ? "ON" : "OFF");
}

static void add_galera(struct rig_buf *text, const struct rig_my_node *node)
{
    const struct rig_my_site *site = node->site;
    rig_buf_printf(text, "binlog_format = ROW\ninnodb_autoinc_lock_mode = 2\nwsrep_on = ON\nwsrep_provider = %s\n",
                   site->provider);
    rig_buf_printf(text, "wsrep_cluster_name = %s\nwsrep_cluster_address = gcomm://%s\n", site->local.env->run_name,
                   node->bootstraps ? "" : node->group);
    rig_buf_printf(text, "wsrep_node_name = %s\nwsrep_node_address = 127.0.0.1\n", node->local.name);
    rig_buf_printf(text, "wsrep_node_incoming_address = 127.0.0.1:%u\n", rig_my_node_port(node, RIG_MY_PORT_SQL));
    rig_buf_printf(text, "wsrep_sst_method = rsync\nwsrep_sst_receive_address = 127.0.0.1:%u\n",
                   rig_my_node_port(node, RIG_MY_PORT_FILES));
    /* Faults come every few seconds: members must notice them in less time than the default of 5 to 15 s. */
    rig_buf_printf(text,
                   "wsrep_provider_options = \"gmcast.listen_addr=tcp://127.0.0.1:%u;ist.recv_addr=127.0.0.1:%u;"
                   "evs.suspect_timeout=PT2S;evs.inactive_timeout=PT5S;evs.keepalive_period=PT0.5S;"
                   "evs.inactive_check_period=PT0.25S\"\n",
                   rig_my_node_port(node, RIG_MY_PORT_GROUP), rig_my_node_port(node, RIG_MY_PORT_LOG));
}

static void add_setting(struct rig_buf *text, const char *name, const char *value)
{
    rig_buf_printf(text, "%s = %s\n", name, value);
}

enum rig_rc rig_my_configuration_write(const struct rig_my_node *node, const char *path, struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, CONFIGURATION_MOST);
    add_basics(&text, node);
    if (rig_my_site_is_galera(node->site))
        add_galera(&text, node);
    else if (node->site->node_count > 1)
        add_replication(&text, node);
    else if (node->site->local.env->certificate != RIG_CERTIFICATE_NONE)
        rig_buf_add_text(&text, "log_bin = binlog\nbinlog_format = ROW\nbinlog_row_image = FULL\nsync_binlog = 1\n");
    enum rig_rc rc = rig_sql_settings_add(&node->site->options->sql.settings, add_setting, &text, err);
    if (rc == RIG_OK && text.failed)
        rc = rig_fail(err, RIG_E_LIMIT, "settings longer than %d bytes", CONFIGURATION_MOST);
    if (rc == RIG_OK && unlink(path) != 0 && errno != ENOENT)
        rc = rig_fail(err, RIG_E_CLUSTER, "cannot replace %s: %s", path, strerror(errno));
    if (rc == RIG_OK)
        rc = rig_local_write(&node->site->local, path, O_CREAT | O_EXCL, rig_buf_text(&text), err);
    rig_buf_done(&text);
    return rc;
}

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

static const char *const of_mariadb[] = {"mariadbd", "mariadb-install-db", NULL}, *const of_mysql[] = {"mysqld", NULL};

bool rig_my_site_has_version(const void *object, const char *version)
{
    const struct rig_my_options *options = object;
    const char *wanted = version == NULL ? options->sql.version : version;
    struct rig_local_version asked = {0, -1};
    char folder[RIG_MY_PROGRAM_BYTES];
    if (wanted == NULL || wanted[0] == '\0')
        return true;
    return rig_local_version_read(wanted, &asked) &&
           (rig_local_version_find(options->sql.servers, NULL, of_mariadb, &asked, folder, sizeof folder) ||
            rig_local_version_find(options->sql.servers, NULL, of_mysql, &asked, folder, sizeof folder));
}

/* A folder of MySQL or MariaDB by its version. */
static enum rig_rc find_version(struct rig_my_site *site, char folder[static RIG_MY_PROGRAM_BYTES], struct rig_err *err)
{
    const struct rig_my_options *options = site->options;
    struct rig_local_version asked = {0, -1};
    (void)rig_local_version_read(options->sql.version, &asked);
    if (rig_local_version_find(options->sql.servers, NULL, of_mariadb, &asked, folder, RIG_MY_PROGRAM_BYTES))
        return RIG_OK;
    if (!rig_local_version_find(options->sql.servers, NULL, of_mysql, &asked, folder, RIG_MY_PROGRAM_BYTES))
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

/* Root has no password, and exists for the socket alone. The data are new: nothing of them need be on disk. */
static const char *const install_options[] = {"--auth-root-authentication-method=normal",
                                              "--skip-test-db",
                                              "--skip-name-resolve",
                                              "--innodb-flush-method=nosync",
                                              "--innodb-log-file-size=" MY_LOG_SIZE,
                                              NULL};
enum { OPTION_COUNT = sizeof install_options / sizeof install_options[0] };

static enum rig_rc run_install(void *context, const char *data, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_my_site *site = context;
    char folder[RIG_LOCAL_PATH_BYTES + 16], temporary[RIG_LOCAL_PATH_BYTES + 16];
    (void)snprintf(folder, sizeof folder, "--datadir=%s", data);
    (void)snprintf(temporary, sizeof temporary, "--tmpdir=%s", site->local.folder);
    const char *arguments[OPTION_COUNT + 4] = {site->install, "--no-defaults", folder, temporary};
    memcpy(arguments + 4, install_options, sizeof install_options);
    return rig_local_run(&site->local, arguments, RIG_RUN_LOG_OF_MARIADB_INSTALL, false, deadline_ns, err);
}

enum rig_rc rig_my_site_make_data(struct rig_my_site *site, const char *data, int64_t deadline_ns, struct rig_err *err)
{
    /* The package of MySQL brings the data of a server that has never run. */
    if (site->root[0] != '\0') {
        char made[RIG_MY_PROGRAM_BYTES + 8];
        (void)snprintf(made, sizeof made, "%s/data", site->root);
        return rig_folder_copy(made, data, &site->local.account, err);
    }
    const char *const makers[] = {site->install, site->server, NULL};
    const struct rig_local_recipe recipe = {
        .programs = makers, .options = install_options, .make = run_install, .context = site};
    return rig_local_template_provide(&site->local, &recipe, data, deadline_ns, err);
}

#define SECOND_NS INT64_C(1000000000)

enum { PORT_TRIES = 5, PATH_BYTES = RIG_LOCAL_PATH_BYTES + 64 };

void rig_my_node_init(struct rig_my_node *node, struct rig_my_site *site, uint32_t index)
{
    rig_local_node_init(&node->local, &site->local, index);
    node->site = site;
    node->index = index;
    node->semi_sync = node->bootstraps = false;
    node->generation = 0;
    atomic_store(&node->writable, index == 0 || rig_my_site_is_galera(site));
    for (int i = 0; i < RIG_MY_PORTS; i++)
        atomic_store(&node->ports[i], 0);
}

uint16_t rig_my_node_port(const struct rig_my_node *node, enum rig_my_port which)
{
    return (uint16_t)atomic_load(&node->ports[which]);
}

/* ---- requests ---- */

void rig_my_node_socket(const struct rig_my_node *node, struct rig_sql_endpoint *endpoint)
{
    *endpoint = (struct rig_sql_endpoint){{0}, {0}};
    (void)snprintf(endpoint->host, sizeof endpoint->host, "%s/%s.sock", node->site->local.folder, node->local.name);
}

enum rig_rc rig_my_node_connect(const struct rig_my_node *node, struct rig_my_connection *connection,
                                struct rig_sql_waiter *waiter, int64_t deadline_ns, struct rig_err *err)
{
    struct rig_sql_endpoint endpoint;
    rig_my_node_socket(node, &endpoint);
    const struct rig_my_target target = {.endpoint = &endpoint, .user = "root"};
    return rig_my_connect(connection, &target, waiter, deadline_ns, err);
}

enum rig_rc rig_my_node_ask(const struct rig_my_node *node, const char *sql, int64_t timeout_ns,
                            char answer[RIG_MY_ANSWER_BYTES], struct rig_err *err)
{
    const struct rig_core *core = node->site->local.env->core;
    struct rig_my_connection connection;
    struct rig_sql_waiter waiter = {.core = core, .to_the_end = true};
    const int64_t deadline_ns = core->now_ns() + timeout_ns;
    enum rig_rc rc = rig_my_node_connect(node, &connection, &waiter, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_my_query(&connection, sql, deadline_ns, answer, err);
    rig_my_disconnect(&connection);
    return rc;
}

/* ---- starting ---- */

enum rig_rc rig_my_node_choose_ports(struct rig_my_node *node, bool another, struct rig_err *err)
{
    uint16_t ports[RIG_MY_PORTS];
    if (!another && atomic_load(&node->ports[0]) != 0)
        return RIG_OK;
    enum rig_rc rc = rig_local_free_ports(ports, RIG_MY_PORTS, err);
    for (int i = 0; rc == RIG_OK && i < RIG_MY_PORTS; i++)
        atomic_store(&node->ports[i], ports[i]);
    return rc;
}

enum rig_rc rig_my_node_launch(struct rig_my_node *node, struct rig_err *err)
{
    char path[PATH_BYTES];
    char file[PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/%s.cnf", node->site->local.folder, node->local.name);
    (void)snprintf(file, sizeof file, "--defaults-file=%s", path);
    enum rig_rc rc = rig_my_configuration_write(node, path, err);
    /* MySQL's package has the libraries that it needs. */
    char libraries[RIG_MY_PROGRAM_BYTES + 8];
    (void)snprintf(libraries, sizeof libraries, "%s/lib", node->site->root);
    if (rc == RIG_OK && node->site->root[0] != '\0')
        rc = rig_local_node_set_variable(&node->local, "LD_LIBRARY_PATH", libraries, err);
    const char *const arguments[] = {node->site->server, file, node->bootstraps ? "--wsrep-new-cluster" : NULL, NULL};
    return rc != RIG_OK ? rc : rig_local_node_launch(&node->local, arguments, node->site->local.folder, err);
}

/* A Galera node answers before it has the group's data; statements are refused until then. */
static bool answers(void *context, struct rig_err *why)
{
    const struct rig_my_node *node = context;
    char ready[RIG_MY_ANSWER_BYTES];
    if (!rig_my_site_is_galera(node->site))
        return rig_my_node_ask(node, "SELECT 1", SECOND_NS, NULL, why) == RIG_OK;
    static const char sql[] = "SELECT IF(SUM(VARIABLE_VALUE IN ('ON', 'Synced')) = 2, 'ready', 'not ready') FROM "
                              "information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('wsrep_ready', "
                              "'wsrep_local_state_comment')";
    if (rig_my_node_ask(node, sql, SECOND_NS, ready, why) != RIG_OK)
        return false;
    if (strcmp(ready, "ready") == 0)
        return true;
    (void)rig_fail(why, RIG_E_CLUSTER, "it has not joined the group");
    return false;
}

static enum rig_rc await_answer(struct rig_my_node *node, bool always, int64_t deadline_ns, struct rig_err *err)
{
    const struct rig_local_wait wait = {
        .answers = answers, .context = node, .always = always, .deadline_ns = deadline_ns};
    return rig_local_node_await(&node->local, &wait, err);
}

enum rig_rc rig_my_node_start(struct rig_my_node *node, bool always, int64_t deadline_ns, struct rig_err *err)
{
    if (rig_local_node_runs(&node->local))
        return await_answer(node, always, deadline_ns, err);
    /* Removes the remains of a server that ended by itself. */
    enum rig_rc rc = rig_my_node_stop(node, RIG_NODE_KILL, err);
    for (int tries = 1; rc == RIG_OK; tries++) {
        struct rig_err attempt = {.rc = RIG_OK};
        /* The members of a Galera cluster know each other's ports. */
        rc = rig_my_node_choose_ports(node, tries > 1 && !rig_my_site_is_galera(node->site), &attempt);
        if (rc == RIG_OK)
            rc = rig_my_node_launch(node, &attempt);
        if (rc == RIG_OK)
            rc = await_answer(node, always, deadline_ns, &attempt);
        if (rc == RIG_OK)
            return RIG_OK;
        (void)rig_my_node_stop(node, RIG_NODE_KILL, err);
        if (tries == PORT_TRIES || !rig_local_port_was_taken(&attempt))
            return rig_fail(err, rc, "%s", attempt.text);
        rc = RIG_OK;
    }
    return rc;
}

enum rig_rc rig_my_node_stop(struct rig_my_node *node, enum rig_node_end how, struct rig_err *err)
{
    return rig_local_node_stop(&node->local, how, node->site->options->sql.stop_timeout_ns, err);
}
