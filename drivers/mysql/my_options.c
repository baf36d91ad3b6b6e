#include "drivers/mysql/my_options.h"

#include <string.h>

#define AT(member) offsetof(struct rig_my_options, member)
#define SECONDS(n) ((n)*1e9)

static const char *const switch_words[] = {"server-default", "on", "off", NULL};
static const char *const pipeline_words[] = {"auto", "true", "false", NULL};
static const char *const table_schema_words[] = {"text", "rows", NULL};
static const char *const reads_from_words[] = {"auto", "primary", "replica", "any", NULL};
static const char *const replication_words[] = {"async", "semi-sync", "galera", NULL};

const struct rig_option rig_my_option_table[] = {
    {"isolation", RIG_OPTION_CHOICE, AT(sql.isolation), "serializable", 0, 0, rig_sql_isolation_words,
     "The isolation level of every session; or shares of levels, {serializable: 60%, read-committed: 40%}: then each "
     "transaction has its own, and the check is for G-mixed.",
     false, NULL},
    {"isolation-shares", RIG_OPTION_TEXT, AT(sql.isolation_shares), NULL, 0, 0, NULL,
     "The shares of levels, as a text, in place of isolation: serializable: 60%, read-committed: 40%.", false, NULL},
    {"snapshot-isolation", RIG_OPTION_CHOICE, AT(snapshot_isolation), "server-default", 0, 0, switch_words,
     "MariaDB's innodb_snapshot_isolation: with it REPEATABLE READ refuses to change a record that has changed since "
     "the transaction's snapshot; without it updates can be lost. From MariaDB 10.6.18, 10.11.8 and 11.4.2 on.",
     false, RIG_OPTION_VARIATION(.chance = 0.2, .values = "on off")},
    {"table-schema", RIG_OPTION_CHOICE, AT(table_schema), "text", 0, 0, table_schema_words,
     "Storage of a list or set: as text with commas in one row; rows: a row for each element, for sets only. Registers "
     "are always bigint.",
     false, RIG_OPTION_VARIATION(.chance = 0.1)},
    {"tables", RIG_OPTION_INT, AT(sql.tables), "1", 1, 1000, NULL, "Number of tables for the keys.", false,
     RIG_OPTION_VARIATION(.chance = 0.2, .values = "2 5")},
    {"row-padding", RIG_OPTION_SIZE, AT(sql.row_padding_bytes), "0B", 0, 3900, NULL,
     "Bytes that each row has besides its key and value. 0B: hundreds of keys share a page of 16 KiB; 3900B: four do, "
     "so "
     "that pages split and fill the buffer pool and the logs sooner.",
     false, RIG_OPTION_VARIATION(.chance = 0.15, .values = "900B 3900B")},
    {"prepared", RIG_OPTION_BOOL, AT(sql.prepared), "false", 0, 0, NULL,
     "Use prepared statements, each in a round trip of its own; not with pipeline.", false,
     RIG_OPTION_VARIATION(.chance = 0.1, .values = "true", .with = "database.pipeline=false")},
    {"pipeline", RIG_OPTION_CHOICE, AT(pipeline), "auto", 0, 0, pipeline_words,
     "Send each transaction, from BEGIN to COMMIT, as one request of several statements, of which the server skips "
     "those "
     "after an error; increments of what it read follow in another. auto: not with prepared, nor on a Galera cluster, "
     "whose "
     "nodes execute some of these statements outside of their transaction.",
     false, RIG_OPTION_VARIATION(.chance = 0.3, .values = "false true")},
    {"lock-reads", RIG_OPTION_SHARE, AT(sql.lock_reads), "0%", 0, 1, NULL,
     "Share of the reads of transactions that also write that lock their row.", false,
     RIG_OPTION_VARIATION(.chance = 0.2, .values = "10% 50%")},
    {"lock-mode", RIG_OPTION_CHOICE, AT(sql.lock_mode), "update", 0, 0, rig_sql_lock_words,
     "The lock of these reads: SELECT .. FOR UPDATE, or SELECT .. LOCK IN SHARE MODE, which others may take too.",
     false, RIG_OPTION_VARIATION(.chance = 0.1, .values = "share", .with = "database.lock-reads=30%")},
    {"begin-ts", RIG_OPTION_TEXT, AT(sql.begin_ts), NULL, 0, 0, NULL,
     "A SELECT that runs after START TRANSACTION and gives the timestamp of the transaction's snapshot (side column "
     "start-ts), such as SELECT @@tidb_current_ts of TiDB. Needs pipeline: false.",
     false, NULL},
    {"commit-ts", RIG_OPTION_TEXT, AT(sql.commit_ts), NULL, 0, 0, NULL,
     "A SELECT that runs after COMMIT and gives the timestamp of that commit (side column commit-ts), such as SELECT "
     "JSON_EXTRACT(@@tidb_last_txn_info, '$.commit_ts') of TiDB. Needs pipeline: false.",
     false, NULL},
    {"declare-read-only", RIG_OPTION_BOOL, AT(sql.declare_read_only), "false", 0, 0, NULL,
     "Begin transactions that only read with READ ONLY.", false, RIG_OPTION_VARIATION(.chance = 0.2, .values = "true")},
    {"consistent-snapshot", RIG_OPTION_BOOL, AT(consistent_snapshot), "false", 0, 0, NULL,
     "Begin WITH CONSISTENT SNAPSHOT, so that the snapshot is taken before the first read; for repeatable-read.", false,
     RIG_OPTION_VARIATION(.chance = 0.2, .values = "true")},
    {"two-phase", RIG_OPTION_SHARE, AT(sql.two_phase), "0%", 0, 1, NULL,
     "Share of the transactions that write and commit in two phases: XA START, XA END and XA PREPARE, then XA COMMIT. "
     "A "
     "hold before the commit comes between the two. Not on Galera.",
     false, RIG_OPTION_VARIATION(.chance = 0.1, .values = "10% 50%")},
    {"causal-reads", RIG_OPTION_INT, AT(causal_reads), "0", 0, 15, NULL,
     "Galera's wsrep_sync_wait: the sum of 1 for reads, 2 for UPDATE and DELETE, 4 for INSERT: these statements wait "
     "until the node has applied what the cluster has committed. 0 does not wait.",
     false, NULL},
    {"statement-timeout", RIG_OPTION_DURATION, AT(sql.statement_timeout_ns), "0ms", 0, SECONDS(86400), NULL,
     "MariaDB's max_statement_time; 0ms keeps the server's own.", false, NULL},
    {"lock-timeout", RIG_OPTION_DURATION, AT(sql.lock_timeout_ns), "0ms", 0, SECONDS(86400), NULL,
     "innodb_lock_wait_timeout, rounded up to whole seconds; 0ms keeps the server's own.", false, NULL},
    {"connect-timeout", RIG_OPTION_DURATION, AT(sql.connect_timeout_ns), "10s", 1e6, SECONDS(3600), NULL,
     "Time limit for connecting and setting up a session.", false, NULL},
    {"transaction-timeout", RIG_OPTION_DURATION, AT(sql.transaction_timeout_ns), "30s", 1e6, SECONDS(86400), NULL,
     "Time limit of a transaction, without holds, after which its session is closed.", false, NULL},
    {"max-answer", RIG_OPTION_SIZE, AT(sql.max_answer_bytes), "64MiB", 65536, 1e9, NULL,
     "The maximum size of a row in an answer; above it the session is closed.", false, NULL},
    {"keep-tables", RIG_OPTION_BOOL, AT(sql.keep_tables), "false", 0, 0, NULL,
     "Keep the run's tables on the given hosts after the run; rig.log names them.", false, NULL},
    {"dbname", RIG_OPTION_TEXT, AT(dbname), NULL, 0, 0, NULL,
     "An existing database for the run's tables, if the user may not create databases; the names of the tables begin "
     "with "
     "the run's name. Without it the run creates a database with its own name, and drops it.",
     false, NULL},
    {"user", RIG_OPTION_TEXT, AT(sql.user), NULL, 0, 0, NULL,
     "The user; without it root, or a user of rig's own on its own cluster.", false, NULL},
    {"password", RIG_OPTION_SECRET, AT(sql.password), NULL, 0, 0, NULL, "The user's password.", false, NULL},
    RIG_TLS_OPTION_ROWS(struct rig_my_options, sql.tls),
    {"reads-from", RIG_OPTION_CHOICE, AT(sql.reads_from), "auto", 0, 0, reads_from_words,
     "The server for transactions that only read: the primary; for each client a replica; for each client one of all "
     "servers in turn; auto: the read-only hosts if there are any, else the server of the client's writes.",
     false, NULL},
    {"cluster.hosts", RIG_OPTION_TEXT_LIST, AT(sql.hosts), NULL, 0, 0, NULL,
     "Servers to use, as host, host:port or the path of a socket; clients are spread over those that accept writes. "
     "Without any, rig starts its own.",
     false, NULL},
    {"cluster.read-only-hosts", RIG_OPTION_TEXT_LIST, AT(sql.read_only_hosts), NULL, 0, 0, NULL,
     "Servers for transactions that only read.", false, NULL},
    {"cluster.local.nodes", RIG_OPTION_INT, AT(sql.nodes), "0", 0, RIG_NODES_MOST, NULL,
     "Number of servers that rig starts: with async and semi-sync a primary mariadb-1 and its replicas, with galera "
     "equal nodes (5 at most); 0 means one, unless cluster.hosts are given.",
     false, NULL},
    {"cluster.local.replication", RIG_OPTION_CHOICE, AT(sql.replication), "async", 0, 0, replication_words,
     "Replication by global transaction ids, asynchronous or semi-synchronous (COMMIT waits until a replica has "
     "received the transaction), or a Galera cluster.",
     false, NULL},
    {"cluster.local.listen", RIG_OPTION_CHOICE, AT(sql.listen), "socket", 0, 0, rig_sql_listen_words,
     "How clients reach rig's own servers: private Unix sockets, or TCP on free loopback ports; faults of the network "
     "make it tcp.",
     false, NULL},
    {"cluster.local.bin-dir", RIG_OPTION_TEXT, AT(sql.bin_dir), NULL, 0, 0, NULL,
     "Folder of mariadbd and mariadb-install-db; without it /usr/sbin and /usr/bin, then PATH.", false, NULL},
    {"cluster.local.version", RIG_OPTION_TEXT, AT(sql.version), NULL, 0, 0, NULL,
     "Version of the server, such as 10.11 of MariaDB or 5.6 of MySQL, found by the names of folders in `servers`, "
     "$RIG_SERVERS or the cache of scripts/servers.",
     false, NULL},
    {"cluster.local.servers", RIG_OPTION_TEXT, AT(sql.servers), NULL, 0, 0, NULL,
     "Folder with servers in folders named after their versions, such as mysql-5.6.24/bin/mysqld.", false, NULL},
    {"cluster.local.run-as", RIG_OPTION_TEXT, AT(sql.run_as), "mysql", 0, 0, NULL,
     "The system user under which the server runs if rig runs as root.", false, NULL},
    {"cluster.local.settings", RIG_OPTION_TEXT_LIST, AT(sql.settings), NULL, 0, 0, NULL,
     "Server settings, each as name=value; they override rig's own.", false, NULL},
    {"cluster.local.start-timeout", RIG_OPTION_DURATION, AT(sql.start_timeout_ns), "120s", 1e9, SECONDS(3600), NULL,
     "Time in which the servers must be created and accept connections.", false, NULL},
    {"cluster.local.stop-timeout", RIG_OPTION_DURATION, AT(sql.stop_timeout_ns), "10s", 1e8, SECONDS(3600), NULL,
     "Time limit of each step of stopping one (a clean shutdown, kill).", false, NULL},
    {.name = NULL},
};

/* It is written in backquotes, and in texts. */
static enum rig_rc check_dbname(const char *dbname, struct rig_err *err)
{
    if (!rig_sql_given(dbname))
        return RIG_OK;
    const size_t length = strlen(dbname);
    bool plain = length < RIG_MY_DATABASE_BYTES;
    for (size_t i = 0; plain && i < length; i++)
        plain = (unsigned char)dbname[i] > ' ' && strchr("`'\"\\/.%$?{}", dbname[i]) == NULL && dbname[i] != 0x7f;
    if (!plain)
        return rig_fail(err, RIG_E_PLAN,
                        "database.dbname: `%s` has more than 64 characters, a blank, a quote or one of \\ / . %% $ ? { "
                        "}: name another database",
                        dbname);
    static const char *const system[] = {"mysql", "sys", "information_schema", "performance_schema"};
    for (size_t i = 0; i < sizeof system / sizeof system[0]; i++) {
        if (strcmp(dbname, system[i]) == 0)
            return rig_fail(err, RIG_E_PLAN,
                            "database.dbname: `%s` belongs to the server: name a database in which the user may create "
                            "tables",
                            dbname);
    }
    return RIG_OK;
}

static enum rig_rc check_cluster(const struct rig_my_options *options, struct rig_err *err)
{
    const bool galera = options->sql.replication == RIG_MY_GALERA;
    const struct rig_sql_options *sql = &options->sql;
    const int64_t others = rig_sql_options_others(sql);
    enum rig_rc rc = rig_sql_options_check_cluster(sql, false, err);
    if (rc != RIG_OK)
        return rc;
    if (options->sql.replication == RIG_MY_SEMI_SYNC && others < 1)
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster.local.replication: COMMIT waits for a replica, and there is none: give more "
                        "nodes, or replication: async");
    if (galera && options->sql.nodes > 5)
        return rig_fail(err, RIG_E_PLAN, "database.cluster.local.nodes: a Galera cluster of rig's has 5 nodes at most");
    if (options->sql.reads_from == RIG_SQL_READS_REPLICA && (others < 1 || galera))
        return rig_fail(err, RIG_E_PLAN,
                        "database.reads-from: there is no replica: give cluster.local.nodes: 2 without Galera, or more "
                        "hosts");
    return RIG_OK;
}

bool rig_my_pipelines(const struct rig_my_options *options)
{
    return options->pipeline == RIG_MY_PIPELINE_ON ||
           (options->pipeline == RIG_MY_PIPELINE_AUTO && !options->sql.prepared &&
            options->sql.replication != RIG_MY_GALERA);
}

enum rig_rc rig_my_options_check(const void *object, enum rig_workload workload, struct rig_err *err)
{
    const struct rig_my_options *options = object;
    if (options->pipeline == RIG_MY_PIPELINE_ON && options->sql.prepared)
        return rig_fail(err, RIG_E_PLAN,
                        "database.prepared: prepared statements are executed one by one; give pipeline: false, or "
                        "prepared: false");
    if (workload == RIG_WORKLOAD_SQL && !rig_my_pipelines(options))
        return rig_fail(err, RIG_E_PLAN,
                        "database.pipeline: the statements of the workload sql are texts that are sent in one request; "
                        "leave out prepared, and give pipeline: true where it is not the default");
    if (options->table_schema == RIG_MY_LIST_ROWS && workload != RIG_WORKLOAD_SET)
        return rig_fail(err, RIG_E_PLAN, "database.table-schema: rows have no order, and are for the type set only");
    if (options->sql.lock_mode != RIG_SQL_LOCK_UPDATE && options->sql.lock_reads <= 0)
        return rig_fail(err, RIG_E_PLAN, "database.lock-mode: no read locks; give lock-reads (such as 50%%)");
    if (options->consistent_snapshot && options->sql.isolation != RIG_SQL_REPEATABLE_READ)
        return rig_fail(err, RIG_E_PLAN,
                        "database.consistent-snapshot: the server takes a snapshot at repeatable-read only; give "
                        "isolation: repeatable-read");
    if (options->sql.two_phase > 0 && options->sql.replication == RIG_MY_GALERA)
        return rig_fail(
            err, RIG_E_PLAN,
            "database.two-phase: a Galera node certifies a transaction when it commits, so it has no prepared "
            "ones; leave it out, or use replication: async");
    if (options->sql.two_phase > 0 && options->consistent_snapshot)
        return rig_fail(err, RIG_E_PLAN,
                        "database.two-phase: XA START takes no snapshot; leave out consistent-snapshot or two-phase");
    double up_to[RIG_SQL_ISOLATION_COUNT];
    enum rig_rc rc = rig_sql_options_shares(&options->sql, up_to, err);
    if (rc == RIG_OK)
        rc = rig_sql_options_check_timestamp("begin-ts", options->sql.begin_ts, rig_my_pipelines(options), err);
    if (rc == RIG_OK)
        rc = rig_sql_options_check_timestamp("commit-ts", options->sql.commit_ts, rig_my_pipelines(options), err);
    if (rc == RIG_OK)
        rc = check_dbname(options->dbname, err);
    return rc != RIG_OK ? rc : check_cluster(options, err);
}
