/*
 * The driver's options: a plan's keys below `database:` for MariaDB and MySQL, and their contradictions.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_OPTIONS_H
#define RIG_DRIVERS_MYSQL_MY_OPTIONS_H

#include "base/tls_options.h"
#include "drivers/driver.h"
#include "drivers/sql/sql_servers.h"

/* Indexes into the choices of the options of the same name. */
enum rig_my_isolation { RIG_MY_READ_UNCOMMITTED, RIG_MY_READ_COMMITTED, RIG_MY_REPEATABLE_READ, RIG_MY_SERIALIZABLE };
enum rig_my_switch { RIG_MY_SERVER_DEFAULT, RIG_MY_ON, RIG_MY_OFF };
enum rig_my_pipeline { RIG_MY_PIPELINE_AUTO, RIG_MY_PIPELINE_ON, RIG_MY_PIPELINE_OFF };
enum rig_my_list_form { RIG_MY_LIST_TEXT, RIG_MY_LIST_ROWS };
enum rig_my_lock_mode { RIG_MY_LOCK_UPDATE, RIG_MY_LOCK_SHARE };
enum rig_my_replication { RIG_MY_ASYNC, RIG_MY_SEMI_SYNC, RIG_MY_GALERA };
enum rig_my_listen { RIG_MY_LISTEN_SOCKET, RIG_MY_LISTEN_TCP };

enum { RIG_MY_DATABASE_BYTES = 65 }; /* a name has 64 characters at most */

struct rig_my_options {
    int64_t isolation;          /* enum rig_my_isolation */
    int64_t snapshot_isolation; /* enum rig_my_switch */
    int64_t table_schema;       /* enum rig_my_list_form */
    int64_t tables;
    int64_t row_padding_bytes;
    bool prepared;
    int64_t pipeline;  /* enum rig_my_pipeline; rig_my_pipelines() */
    double lock_reads; /* share */
    int64_t lock_mode; /* enum rig_my_lock_mode */
    bool declare_read_only;
    const char *begin_ts, *commit_ts; /* SQL; NULL: none */
    bool consistent_snapshot;
    double two_phase;             /* share */
    int64_t causal_reads;         /* wsrep_sync_wait; 0: none */
    int64_t statement_timeout_ns; /* 0: the server's own */
    int64_t lock_timeout_ns;      /* 0: the server's own */
    int64_t connect_timeout_ns;
    int64_t transaction_timeout_ns;
    int64_t max_answer_bytes; /* of one row */
    bool keep_tables;
    const char *dbname; /* NULL or empty: the run makes one */
    const char *user;
    const char *password;
    struct rig_tls_options tls; /* of connections to given hosts */

    struct rig_text_list hosts; /* empty: rig starts a cluster */
    struct rig_text_list read_only_hosts;
    int64_t reads_from;  /* enum rig_sql_reads_from */
    int64_t nodes;       /* 0: one, unless hosts are given */
    int64_t replication; /* enum rig_my_replication */
    int64_t listen;      /* enum rig_my_listen */
    const char *bin_dir;
    const char *version; /* "5.6"; NULL or empty: the machine's */
    const char *servers; /* a folder of servers, by version */
    const char *run_as;
    struct rig_text_list settings;
    int64_t start_timeout_ns;
    int64_t stop_timeout_ns;
};

/* Whether a transaction is one request. */
bool rig_my_pipelines(const struct rig_my_options *options);

extern const struct rig_option rig_my_option_table[];

/* Rejects contradictory options. No I/O. RIG_E_PLAN. */
enum rig_rc rig_my_options_check(const void *options, enum rig_workload workload, struct rig_err *err);

#endif
