#include "drivers/postgres/pg_options.h"

#include <libpq-fe.h>
#include <string.h>

#define AT(member) offsetof(struct rig_pg_options, member)
#define SECONDS(n) ((n)*1e9)

static const char *const table_schema_words[] = {"text", "integer-array", "rows", NULL};
/* By enum rig_pg_row_index, enum rig_pg_row_scan, and enum rig_pg_row_join. */
static const char *const row_index_words[] = {"index", "none", "covering", NULL};
static const char *const row_scan_words[] = {"any", "sequential", "index", "index-only", "bitmap", NULL};
static const char *const row_join_words[] = {"none", "any", "nested-loop", "hash", "merge", NULL};
static const char *const write_words[] = {"upsert", "insert-then-update", NULL};
static const char *const reads_from_words[] = {"auto", "primary", "standby", "any", NULL};
const char *const rig_pg_replication_words[] = {"async", "remote_write", "on", "remote_apply", NULL};
const char *const rig_pg_synchronous_commit_words[] = {"server-default", "on",           "off", "local",
                                                       "remote_write",   "remote_apply", NULL};

const struct rig_option rig_pg_option_table[] = {
    {"isolation", RIG_OPTION_CHOICE, AT(sql.isolation), "serializable", 0, 0, rig_sql_isolation_words,
     "The isolation level that every transaction asks for; or shares of levels, {serializable: 60%, read-committed: "
     "40%}: then each transaction has its own, and the check is for G-mixed.",
     false, NULL},
    {"isolation-shares", RIG_OPTION_TEXT, AT(sql.isolation_shares), NULL, 0, 0, NULL,
     "The shares of levels, as a text, in place of isolation: serializable: 60%, read-committed: 40%.", false, NULL},
    {"table-schema", RIG_OPTION_CHOICE, AT(table_schema), "text", 0, 0, table_schema_words,
     "Storage of a list or set: as text with commas (fastest up to some hundred elements) or as bigint[], in one row; "
     "rows: a row for each element, for sets only. Registers are always bigint.",
     false, RIG_OPTION_VARIATION(.chance = 0.2)},
    {"tables", RIG_OPTION_INT, AT(sql.tables), "1", 1, 1000, NULL, "Number of tables for the keys.", false,
     RIG_OPTION_VARIATION(.chance = 0.2, .values = "2 5")},
    {"row-padding", RIG_OPTION_SIZE, AT(sql.row_padding_bytes), "0B", 0, 1900, NULL,
     "Bytes that each row has besides its key and value. 0B: more than a hundred keys share a page; 1900B: four do, so "
     "that locks of "
     "whole pages are of few keys, and changes fill logs and the memory of logical decoding sooner.",
     false, RIG_OPTION_VARIATION(.chance = 0.15, .values = "400B 1900B")},
    {"covering-index", RIG_OPTION_BOOL, AT(covering_index), "false", 0, 0, NULL,
     "Whether the index of the keys has the values, too, so that reads can be index-only scans (PostgreSQL 11 or "
     "later). "
     "Values are limited to about 2,700 bytes then.",
     false, RIG_OPTION_VARIATION(.chance = 0.15, .values = "true")},
    {"row-index", RIG_OPTION_CHOICE, AT(row_index), "index", 0, 0, row_index_words,
     "Indexes of the tables of the workload predicate: none; index: of the ids and of the classes; covering: both with "
     "the "
     "versions, so that reads can be index-only scans.",
     false, RIG_OPTION_VARIATION(.chance = 0.15)},
    {"row-scan", RIG_OPTION_CHOICE, AT(row_scan), "any", 0, 0, row_scan_words,
     "How the workload predicate reads these tables: any lets the planner choose; the others set enable_seqscan, "
     "enable_indexscan, enable_indexonlyscan and enable_bitmapscan in each session.",
     false, RIG_OPTION_VARIATION(.chance = 0.5, .with = "workload.type=predicate")},
    {"row-join", RIG_OPTION_CHOICE, AT(row_join), "none", 0, 0, row_join_words,
     "Whether reads of the workload predicate join two tables: none; any: the classes are in a second table, which a "
     "trigger keeps in step, and the planner chooses how to join them; the others set enable_nestloop, enable_hashjoin "
     "and enable_mergejoin in each session.",
     false, RIG_OPTION_VARIATION(.chance = 0.4, .with = "workload.type=predicate")},
    {"write", RIG_OPTION_CHOICE, AT(write), "upsert", 0, 0, write_words,
     "Statements that write a key: INSERT .. ON CONFLICT DO UPDATE, or UPDATE and, if there is no row, INSERT.", false,
     RIG_OPTION_VARIATION(.chance = 0.2)},
    {"prepared", RIG_OPTION_BOOL, AT(sql.prepared), "true", 0, 0, NULL, "Use prepared statements.", false,
     RIG_OPTION_VARIATION(.chance = 0.1, .values = "false")},
    {"pipeline", RIG_OPTION_BOOL, AT(pipeline), "true", 0, 0, NULL,
     "Send each transaction, from BEGIN to COMMIT, in one round trip; increments of what it read follow in another.",
     false, RIG_OPTION_VARIATION(.chance = 0.3, .values = "false")},
    {"lock-reads", RIG_OPTION_SHARE, AT(sql.lock_reads), "0%", 0, 1, NULL,
     "Share of the reads of transactions that also write that lock their row.", false,
     RIG_OPTION_VARIATION(.chance = 0.2, .values = "10% 50%")},
    {"lock-mode", RIG_OPTION_CHOICE, AT(sql.lock_mode), "update", 0, 0, rig_sql_lock_words,
     "The lock of these reads: SELECT .. FOR UPDATE, or SELECT .. FOR SHARE, which others may take too.", false,
     RIG_OPTION_VARIATION(.chance = 0.1, .values = "share", .with = "database.lock-reads=30%")},
    {"begin-ts", RIG_OPTION_TEXT, AT(sql.begin_ts), NULL, 0, 0, NULL,
     "A SELECT that runs after BEGIN and gives the timestamp of the transaction's snapshot (side column start-ts), "
     "such "
     "as SELECT cluster_logical_timestamp() of CockroachDB. Needs pipeline: false.",
     false, NULL},
    {"commit-ts", RIG_OPTION_TEXT, AT(sql.commit_ts), NULL, 0, 0, NULL,
     "A SELECT that runs before COMMIT and gives the timestamp at which the transaction commits, if it does (side "
     "column commit-ts). Needs pipeline: false.",
     false, NULL},
    {"declare-read-only", RIG_OPTION_BOOL, AT(sql.declare_read_only), "false", 0, 0, NULL,
     "Begin transactions that only read with READ ONLY.", false, RIG_OPTION_VARIATION(.chance = 0.2, .values = "true")},
    {"deferrable", RIG_OPTION_SHARE, AT(deferrable), "0%", 0, 1, NULL,
     "Share of them that begin with READ ONLY DEFERRABLE; only for serializable, with declare-read-only.", false,
     RIG_OPTION_VARIATION(.chance = 0.1, .values = "50%", .with = "database.declare-read-only=true")},
    {"two-phase", RIG_OPTION_SHARE, AT(sql.two_phase), "0%", 0, 1, NULL,
     "Share of the transactions that write and commit in two phases: PREPARE TRANSACTION, then COMMIT PREPARED. A hold "
     "before the commit comes between the two.",
     false, RIG_OPTION_VARIATION(.chance = 0.1, .values = "10% 50%")},
    {"statement-timeout", RIG_OPTION_DURATION, AT(sql.statement_timeout_ns), "0ms", 0, SECONDS(86400), NULL,
     "The server's statement_timeout; 0ms keeps the server's own.", false, NULL},
    {"lock-timeout", RIG_OPTION_DURATION, AT(sql.lock_timeout_ns), "0ms", 0, SECONDS(86400), NULL,
     "The server's lock_timeout; 0ms keeps the server's own.", false, NULL},
    {"connect-timeout", RIG_OPTION_DURATION, AT(sql.connect_timeout_ns), "10s", 1e6, SECONDS(3600), NULL,
     "Time limit for connecting and setting up a session.", false, NULL},
    {"transaction-timeout", RIG_OPTION_DURATION, AT(sql.transaction_timeout_ns), "30s", 1e6, SECONDS(86400), NULL,
     "Time limit of a transaction, without holds, after which its session is closed.", false, NULL},
    {"max-answer", RIG_OPTION_SIZE, AT(sql.max_answer_bytes), "64MiB", 1024, 1e9, NULL,
     "The maximum size of all answers to one transaction; above it the session is closed.", false, NULL},
    {"synchronous-commit", RIG_OPTION_CHOICE, AT(synchronous_commit), "server-default", 0, 0,
     rig_pg_synchronous_commit_words, "The session's synchronous_commit.", false, NULL},
    {"keep-tables", RIG_OPTION_BOOL, AT(sql.keep_tables), "false", 0, 0, NULL,
     "Keep the run's tables on the given hosts after the run; rig.log names them.", false, NULL},
    {"schema", RIG_OPTION_TEXT, AT(schema), NULL, 0, 0, NULL,
     "An existing schema for the run's tables, if the user may not create schemas; the names of the tables begin "
     "with the run's name. Without it the run creates a schema with its own name, and drops it.",
     false, NULL},
    {"user", RIG_OPTION_TEXT, AT(sql.user), NULL, 0, 0, NULL,
     "The database user; without it libpq's default, or postgres on rig's own cluster.", false, NULL},
    {"dbname", RIG_OPTION_TEXT, AT(dbname), NULL, 0, 0, NULL,
     "The database; without it libpq's default, or postgres on rig's own cluster.", false, NULL},
    {"password", RIG_OPTION_SECRET, AT(sql.password), NULL, 0, 0, NULL, "The user's password.", false, NULL},
    {"conninfo", RIG_OPTION_TEXT, AT(conninfo), NULL, 0, 0, NULL,
     "Further libpq connection parameters, such as `options=-crandom_page_cost=1`.", false, NULL},
    RIG_TLS_OPTION_ROWS(struct rig_pg_options, sql.tls),
    {"reads-from", RIG_OPTION_CHOICE, AT(sql.reads_from), "auto", 0, 0, reads_from_words,
     "The server for transactions that only read: the primary; for each client a standby; for each client one of all "
     "servers in turn; auto: the read-only hosts if there are any, else the primary. Standbys refuse serializable, "
     "so transactions there run at repeatable read instead.",
     false, NULL},
    {"cluster.hosts", RIG_OPTION_TEXT_LIST, AT(sql.hosts), NULL, 0, 0, NULL,
     "Servers to use, as host or host:port; clients are spread over those that accept writes. Without any, rig "
     "starts its own.",
     false, NULL},
    {"cluster.read-only-hosts", RIG_OPTION_TEXT_LIST, AT(sql.read_only_hosts), NULL, 0, 0, NULL,
     "Servers for transactions that only read.", false, NULL},
    {"cluster.local.nodes", RIG_OPTION_INT, AT(sql.nodes), "0", 0, RIG_NODES_MOST, NULL,
     "Number of servers that rig starts, a primary pg-1 and streaming standbys pg-2, pg-3, ...; 0 means one, unless "
     "cluster.hosts are given.",
     false, NULL},
    {"cluster.local.replication", RIG_OPTION_CHOICE, AT(sql.replication), "async", 0, 0, rig_pg_replication_words,
     "Whether COMMIT waits for standbys, and for what: that they wrote, flushed (on) or applied the transaction.",
     false, NULL},
    {"cluster.local.synchronous-standbys", RIG_OPTION_INT, AT(synchronous_standbys), "1", 1, RIG_NODES_MOST - 1, NULL,
     "Number of other nodes that COMMIT waits for; not with replication: async.", false, NULL},
    {"cluster.local.listen", RIG_OPTION_CHOICE, AT(sql.listen), "socket", 0, 0, rig_sql_listen_words,
     "Address of rig's own servers: private Unix sockets, or TCP on free loopback ports; faults of the network make "
     "it tcp.",
     false, NULL},
    {"cluster.local.bin-dir", RIG_OPTION_TEXT, AT(sql.bin_dir), NULL, 0, 0, NULL,
     "Folder of initdb, postgres and pg_rewind; without it the newest below /usr/lib/postgresql, then PATH.", false,
     NULL},
    {"cluster.local.version", RIG_OPTION_TEXT, AT(sql.version), NULL, 0, 0, NULL,
     "Version of the server, `14` or `14.3`, found by the names of folders in `servers`, $RIG_SERVERS, the cache of "
     "scripts/servers, or /usr/lib/postgresql.",
     false, NULL},
    {"cluster.local.servers", RIG_OPTION_TEXT, AT(sql.servers), NULL, 0, 0, NULL,
     "Folder with servers in folders named after their versions, such as 14.3/bin/postgres.", false, NULL},
    {"cluster.local.run-as", RIG_OPTION_TEXT, AT(sql.run_as), "postgres", 0, 0, NULL,
     "The system user under which the server runs if rig runs as root.", false, NULL},
    {"cluster.local.settings", RIG_OPTION_TEXT_LIST, AT(sql.settings), NULL, 0, 0, NULL,
     "Server settings, each as name=value; they override rig's own.", false, NULL},
    {"cluster.local.standby-settings", RIG_OPTION_TEXT_LIST, AT(standby_settings), NULL, 0, 0, NULL,
     "Further settings of a node while it is a standby, such as recovery_min_apply_delay=100ms.", false, NULL},
    {"cluster.local.start-timeout", RIG_OPTION_DURATION, AT(sql.start_timeout_ns), "60s", 1e9, SECONDS(3600), NULL,
     "Time in which the server must be created and accept connections.", false, NULL},
    {"cluster.local.stop-timeout", RIG_OPTION_DURATION, AT(sql.stop_timeout_ns), "10s", 1e8, SECONDS(3600), NULL,
     "Time limit of each step of stopping it (fast, immediate, kill).", false, NULL},
    {.name = NULL},
};

/* Connection parameters that have an option of their own, with its name. */
static const char *const own_parameters[][2] = {
    {"host", "cluster.hosts"},
    {"hostaddr", "cluster.hosts"},
    {"port", "cluster.hosts"},
    {"user", "user"},
    {"dbname", "dbname"},
    {"password", "password, which is never shown"},
    {"connect_timeout", "connect-timeout"},
};

/* Parameters of libpq that contradict or repeat the options of `tls`. */
static bool is_for_tls(const char *parameter)
{
    static const char *const names[] = {"sslmode", "sslrootcert", "sslcert", "sslkey", "requiressl", "gssencmode"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(parameter, names[i]) == 0)
            return true;
    }
    return false;
}

static enum rig_rc check_conninfo(const char *conninfo, bool tls, struct rig_err *err)
{
    if (!rig_sql_given(conninfo))
        return RIG_OK;
    char *message = NULL;
    PQconninfoOption *parsed = PQconninfoParse(conninfo, &message);
    if (parsed == NULL) {
        size_t length = message == NULL ? 0 : strcspn(message, "\n");
        (void)rig_fail(err, RIG_E_PLAN, "database.conninfo: libpq reports: %.*s", (int)length,
                       message == NULL ? "" : message);
        PQfreemem(message);
        return RIG_E_PLAN;
    }
    enum rig_rc rc = RIG_OK;
    for (const PQconninfoOption *option = parsed; option->keyword != NULL; option++) {
        for (size_t i = 0; i < sizeof own_parameters / sizeof own_parameters[0]; i++) {
            if (option->val != NULL && strcmp(option->keyword, own_parameters[i][0]) == 0)
                rc = rig_fail(err, RIG_E_PLAN, "database.conninfo: give `%s` as database.%s", own_parameters[i][0],
                              own_parameters[i][1]);
        }
        if (tls && option->val != NULL && is_for_tls(option->keyword))
            rc = rig_fail(err, RIG_E_PLAN,
                          "database.conninfo: `%s` is given, and so is database.tls: give TLS in one place",
                          option->keyword);
    }
    PQconninfoFree(parsed);
    return rc;
}

/* It is written in quotes, in names and in texts. */
static enum rig_rc check_schema(const char *schema, struct rig_err *err)
{
    if (!rig_sql_given(schema))
        return RIG_OK;
    size_t length = strlen(schema);
    bool plain = length < RIG_PG_SCHEMA_NAME_BYTES && strpbrk(schema, "\"'\\$%") == NULL;
    for (size_t i = 0; plain && i < length; i++)
        plain = (unsigned char)schema[i] > ' ' && schema[i] != 0x7f;
    if (!plain)
        return rig_fail(err, RIG_E_PLAN,
                        "database.schema: `%s` has more than %d bytes, a blank, a quote or one of \\ $ %%: name "
                        "another schema",
                        schema, RIG_PG_SCHEMA_NAME_BYTES - 1);
    if (strncmp(schema, "pg_", 3) == 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.schema: `%s` belongs to PostgreSQL: name a schema in which the user may create "
                        "tables",
                        schema);
    return RIG_OK;
}

static enum rig_rc check_cluster(const struct rig_pg_options *options, struct rig_err *err)
{
    const struct rig_sql_options *sql = &options->sql;
    const int64_t others = rig_sql_options_others(sql);
    enum rig_rc rc = rig_sql_options_check_cluster(sql, options->standby_settings.count > 0, err);
    if (rc == RIG_OK)
        rc = rig_sql_options_check_settings("standby-settings", &options->standby_settings, err);
    if (rc != RIG_OK)
        return rc;
    if (sql->replication != RIG_PG_ASYNC && options->synchronous_standbys > others)
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster.local.replication: COMMIT waits for %lld standby, and there are %lld: give "
                        "more nodes, or replication: async",
                        (long long)options->synchronous_standbys, (long long)others);
    if (options->sql.reads_from == RIG_SQL_READS_REPLICA && others == 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.reads-from: there is no standby: give cluster.local.nodes: 2, or more hosts");
    return RIG_OK;
}

enum rig_rc rig_pg_options_check(const void *object, enum rig_workload workload, struct rig_err *err)
{
    const struct rig_pg_options *options = object;
    if (options->pipeline && options->write == RIG_PG_INSERT_THEN_UPDATE)
        return rig_fail(err, RIG_E_PLAN,
                        "database.write: insert-then-update waits for each answer and cannot be sent in one round "
                        "trip; give pipeline: false or write: upsert");
    if (options->table_schema == RIG_SQL_LIST_ROWS && options->sql.lock_reads > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.lock-reads: the rows of a set are read as an aggregate, which cannot lock them");
    if (options->covering_index && (options->table_schema == RIG_SQL_LIST_ROWS || workload == RIG_WORKLOAD_QUEUE ||
                                    workload == RIG_WORKLOAD_STACK))
        return rig_fail(err, RIG_E_PLAN,
                        "database.covering-index: rows, queues and stacks have no value that an index could have");
    if (workload == RIG_WORKLOAD_APPEND_REGISTER && options->write != RIG_PG_UPSERT)
        return rig_fail(err, RIG_E_PLAN,
                        "database.write: an append to a string is one upsert, whatever this says; leave it out");
    const bool is_table = workload == RIG_WORKLOAD_PREDICATE;
    if (!is_table && (options->row_index != RIG_PG_ROWS_INDEX || options->row_scan != RIG_PG_SCAN_ANY ||
                      options->row_join != RIG_PG_JOIN_NONE))
        return rig_fail(err, RIG_E_PLAN,
                        "database.row-index, database.row-scan, database.row-join: these are for the workload "
                        "predicate");
    const bool has_rows = is_table || workload == RIG_WORKLOAD_SQL;
    if (has_rows && (options->covering_index || options->sql.lock_reads > 0 || options->write != RIG_PG_UPSERT))
        return rig_fail(
            err, RIG_E_PLAN,
            "database: covering-index, lock-reads and write have no effect on tables of rows; row-index, row-scan "
            "and row-join are for those of predicate, statements.locks for the reads of sql");
    if (options->row_index == RIG_PG_ROWS_NO_INDEX &&
        (options->row_scan == RIG_PG_SCAN_INDEX || options->row_scan == RIG_PG_SCAN_INDEX_ONLY ||
         options->row_scan == RIG_PG_SCAN_BITMAP))
        return rig_fail(err, RIG_E_PLAN, "database.row-scan: this scan needs an index; leave out row-index: none");
    if (options->sql.lock_mode != RIG_SQL_LOCK_UPDATE && options->sql.lock_reads <= 0)
        return rig_fail(err, RIG_E_PLAN, "database.lock-mode: no read locks; give lock-reads (such as 50%%)");
    if (options->deferrable > 0 && !(options->sql.declare_read_only && options->sql.isolation == RIG_SQL_SERIALIZABLE))
        return rig_fail(err, RIG_E_PLAN,
                        "database.deferrable: this needs isolation: serializable and declare-read-only: true");
    if (options->table_schema == RIG_SQL_LIST_ROWS && workload != RIG_WORKLOAD_SET)
        return rig_fail(err, RIG_E_PLAN, "database.table-schema: rows have no order, and are for the type set only");
    if (options->table_schema == RIG_SQL_LIST_ROWS && options->write == RIG_PG_INSERT_THEN_UPDATE)
        return rig_fail(err, RIG_E_PLAN,
                        "database.write: rows are only inserted; give write: upsert, or another table-schema");
    double up_to[RIG_SQL_ISOLATION_COUNT];
    enum rig_rc rc = rig_sql_options_shares(&options->sql, up_to, err);
    if (rc == RIG_OK && options->deferrable > 0 && rig_sql_given(options->sql.isolation_shares))
        rc =
            rig_fail(err, RIG_E_PLAN,
                     "database.deferrable: this is for transactions that are all serializable; leave out the shares of "
                     "isolation");
    if (rc == RIG_OK)
        rc = rig_sql_options_check_timestamp("begin-ts", options->sql.begin_ts, options->pipeline, err);
    if (rc == RIG_OK)
        rc = rig_sql_options_check_timestamp("commit-ts", options->sql.commit_ts, options->pipeline, err);
    if (rc == RIG_OK)
        rc = check_schema(options->schema, err);
    if (rc == RIG_OK)
        rc = check_cluster(options, err);
    return rc != RIG_OK ? rc : check_conninfo(options->conninfo, rig_tls_is_required(&options->sql.tls), err);
}
