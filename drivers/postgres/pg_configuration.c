#include "drivers/postgres/pg_configuration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

enum { CONNECTIONS_LEAST = 200, CONFIGURATION_MOST = 64 * 1024 };

#define PATH_BYTES (RIG_LOCAL_PATH_BYTES + 32)

/* name = 'value', with the value's quotes doubled. */
static void add_setting(struct rig_buf *text, const char *name, const char *value)
{
    size_t length = strlen(value);
    /* A value that is already quoted, as in postgresql.conf. */
    if (length >= 2 && value[0] == '\'' && value[length - 1] == '\'') {
        rig_buf_printf(text, "%s = %s\n", name, value);
        return;
    }
    rig_buf_printf(text, "%s = '", name);
    for (const char *p = value; *p != '\0'; p++) {
        if (*p == '\'' || *p == '\\')
            rig_buf_add_char(text, *p);
        rig_buf_add_char(text, *p);
    }
    rig_buf_add_text(text, "'\n");
}

static enum rig_rc add_settings(struct rig_buf *text, const struct rig_text_list *settings, struct rig_err *err)
{
    for (size_t i = 0; i < settings->count; i++) {
        char name[64];
        const char *value = NULL;
        if (!rig_sql_setting_split(settings->at[i], name, sizeof name, &value))
            return rig_fail(err, RIG_E_PLAN, "setting `%s` is not name=value", settings->at[i]);
        add_setting(text, name, value);
    }
    return RIG_OK;
}

static void add_basics(struct rig_buf *text, const struct rig_pg_site *site)
{
    unsigned connections = site->local.env->client_count * 10;
    char socket_folder[sizeof site->local.folder + 2];
    (void)snprintf(socket_folder, sizeof socket_folder, "\"%s\"", site->local.folder);
    rig_buf_add_text(text, "# Written by rig; the last of equal names wins.\n");
    add_setting(text, "listen_addresses", site->tcp ? "127.0.0.1" : "");
    add_setting(text, "unix_socket_directories", socket_folder);
    rig_buf_add_text(text, "unix_socket_permissions = 0700\n");
    /* In the data folder, which rig removes: files of a killed server in /dev/shm would stay. */
    rig_buf_add_text(text, "dynamic_shared_memory_type = mmap\n");
    /* Far above the number in use: serializable keeps ten transactions a connection before it summarises the oldest,
     * which costs it precision and rig the names of the conflicts. */
    rig_buf_printf(text, "max_connections = %u\n", connections < CONNECTIONS_LEAST ? CONNECTIONS_LEAST : connections);
    rig_buf_add_text(text, "max_pred_locks_per_transaction = 256\n");
    if (site->options->sql.two_phase > 0 || site->local.env->texts != NULL)
        rig_buf_printf(text, "max_prepared_transactions = %u\n",
                       connections < CONNECTIONS_LEAST ? CONNECTIONS_LEAST : connections);
    /* Upserts of several keys in random order deadlock all the time; at the default 1 s they would dominate the run. */
    rig_buf_add_text(text, "deadlock_timeout = 10ms\n");
    /* Sessions of clients log their first errors only (pg_session.h): serialization failures would fill the disk. */
    rig_buf_add_text(text, "log_min_messages = warning\n");
    rig_buf_add_text(text, "log_line_prefix = '%m [%p] '\n");
}

/* ANY k of all the other nodes, on every node: each may become the primary. */
static void add_synchronous_standbys(struct rig_buf *text, const struct rig_pg_node *node)
{
    const struct rig_pg_site *site = node->site;
    const struct rig_pg_options *options = site->options;
    if (options->sql.replication == RIG_PG_ASYNC)
        return;
    rig_buf_printf(text, "synchronous_commit = %s\n", rig_pg_replication_words[options->sql.replication]);
    rig_buf_printf(text, "synchronous_standby_names = 'ANY %lld (", (long long)options->synchronous_standbys);
    bool first = true;
    for (uint32_t i = 0; i < site->node_count; i++) {
        if (i == node->index)
            continue;
        rig_buf_printf(text, "%s\"pg-%u\"", first ? "" : ", ", i + 1);
        first = false;
    }
    rig_buf_add_text(text, ")'\n");
}

static void add_replication(struct rig_buf *text, const struct rig_pg_node *node)
{
    /* pg_rewind needs the hints in the log, and followers that come back the log itself. */
    rig_buf_add_text(text, "wal_log_hints = on\n"
                           "wal_keep_size = 512MB\n"
                           "max_wal_senders = 32\n"
                           "max_replication_slots = 32\n"
                           "hot_standby = on\n"
                           "hot_standby_feedback = on\n"
                           /* Faults come every few seconds: followers must notice them, and come back, in less time. */
                           "wal_retrieve_retry_interval = 100ms\n"
                           "wal_receiver_status_interval = 1s\n"
                           "wal_receiver_timeout = 5s\n"
                           "wal_sender_timeout = 5s\n");
    add_synchronous_standbys(text, node);
}

static void add_primary(struct rig_buf *text, const struct rig_pg_node *node, const struct rig_sql_endpoint *primary)
{
    rig_buf_printf(text,
                   "primary_conninfo = 'host=%s port=%s user=" RIG_PG_SUPERUSER " password=%s application_name=%s "
                   "connect_timeout=3 gssencmode=disable sslmode=disable'\n",
                   primary->host, primary->port, node->site->password, node->local.name);
}

static enum rig_rc compose(struct rig_buf *text, const struct rig_pg_node *node, const struct rig_sql_endpoint *primary,
                           struct rig_err *err)
{
    const struct rig_pg_options *options = node->site->options;
    add_basics(text, node->site);
    if (node->site->local.env->certificate != RIG_CERTIFICATE_NONE)
        rig_buf_add_text(text, "wal_level = logical\n");
    if (node->site->node_count > 1)
        add_replication(text, node);
    enum rig_rc rc = add_settings(text, &options->sql.settings, err);
    if (rc == RIG_OK && rig_pg_node_is_standby(node))
        rc = add_settings(text, &options->standby_settings, err);
    if (primary != NULL)
        add_primary(text, node, primary);
    if (rc == RIG_OK && text->failed)
        rc = rig_fail(err, RIG_E_LIMIT, "settings longer than %d bytes", CONFIGURATION_MOST);
    return rc;
}

/* Whether postgresql.conf already includes rig.conf: template and backups may not. */
static bool is_included(const char *path)
{
    struct rig_buf text;
    struct rig_err ignored = {.rc = RIG_OK};
    rig_buf_init(&text, 1024 * 1024);
    bool included =
        rig_buf_read_file(&text, path, &ignored) == RIG_OK && strstr(rig_buf_text(&text), "include 'rig.conf'") != NULL;
    rig_buf_done(&text);
    return included;
}

/* In one step, since a server may read it at any time. */
static enum rig_rc replace(const struct rig_pg_node *node, const char *text, struct rig_err *err)
{
    char path[PATH_BYTES];
    char fresh[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/rig.conf", node->local.data);
    (void)snprintf(fresh, sizeof fresh, "%s/rig.conf.new", node->local.data);
    (void)unlink(fresh);
    enum rig_rc rc = rig_local_write(&node->site->local, fresh, O_CREAT | O_EXCL, text, err);
    if (rc == RIG_OK && rename(fresh, path) != 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "cannot write %s: %s", path, strerror(errno));
    return rc;
}

enum rig_rc rig_pg_configuration_write(const struct rig_pg_node *node, const struct rig_sql_endpoint *primary,
                                       struct rig_err *err)
{
    char path[PATH_BYTES];
    struct rig_buf text;
    rig_buf_init(&text, CONFIGURATION_MOST);
    enum rig_rc rc = compose(&text, node, primary, err);
    if (rc == RIG_OK)
        rc = replace(node, rig_buf_text(&text), err);
    rig_buf_done(&text);
    (void)snprintf(path, sizeof path, "%s/postgresql.conf", node->local.data);
    if (rc == RIG_OK && !is_included(path))
        rc = rig_local_write(&node->site->local, path, O_APPEND, "include 'rig.conf'\n", err);
    return rc;
}
