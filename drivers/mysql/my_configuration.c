#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "drivers/mysql/my_node.h"

enum { CONNECTIONS_LEAST = 200, CONFIGURATION_MOST = 64 * 1024 };

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
                           "innodb_log_file_size = " RIG_MY_LOG_SIZE "\n");
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
