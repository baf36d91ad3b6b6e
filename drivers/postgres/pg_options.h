/*
 * The driver's options: a plan's keys below `database:` for PostgreSQL, and their contradictions.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_OPTIONS_H
#define RIG_DRIVERS_POSTGRES_PG_OPTIONS_H

#include "base/tls_options.h"
#include "drivers/driver.h"
#include "drivers/sql/sql_servers.h"
#include "drivers/sql/sql_values.h"

/* Indexes into the choices of the options of the same name. */
enum rig_pg_isolation {
    RIG_PG_READ_UNCOMMITTED,
    RIG_PG_READ_COMMITTED,
    RIG_PG_REPEATABLE_READ,
    RIG_PG_SERIALIZABLE,
};
enum rig_pg_write { RIG_PG_UPSERT, RIG_PG_INSERT_THEN_UPDATE };
enum rig_pg_synchronous_commit { RIG_PG_SYNC_SERVER_DEFAULT }; /* the other choices are PostgreSQL's own words */
enum rig_pg_replication { RIG_PG_ASYNC };                      /* the other choices are words of synchronous_commit */
enum rig_pg_listen { RIG_PG_LISTEN_SOCKET, RIG_PG_LISTEN_TCP };

/* A schema's name has 63 bytes at most; a run's name leaves space for the suffix in a table's. */
enum { RIG_PG_SCHEMA_NAME_BYTES = 64, RIG_PG_RUN_NAME_MOST = 40 };

/* The lock of a locking read. */
enum rig_pg_lock_mode { RIG_PG_LOCK_UPDATE, RIG_PG_LOCK_SHARE };

/* The indexes of tables of rows, and how they are read. */
enum rig_pg_row_index { RIG_PG_ROWS_INDEX, RIG_PG_ROWS_NO_INDEX, RIG_PG_ROWS_COVERING };
enum rig_pg_row_scan {
    RIG_PG_SCAN_ANY,
    RIG_PG_SCAN_SEQUENTIAL,
    RIG_PG_SCAN_INDEX,
    RIG_PG_SCAN_INDEX_ONLY,
    RIG_PG_SCAN_BITMAP
};
enum rig_pg_row_join { RIG_PG_JOIN_NONE, RIG_PG_JOIN_ANY, RIG_PG_JOIN_NESTED, RIG_PG_JOIN_HASH, RIG_PG_JOIN_MERGE };

struct rig_pg_options {
    int64_t isolation;    /* enum rig_pg_isolation */
    int64_t table_schema; /* enum rig_sql_list_form */
    int64_t tables;
    bool covering_index;
    int64_t row_padding_bytes;
    int64_t row_index, row_scan; /* enum rig_pg_row_index, enum rig_pg_row_scan */
    int64_t row_join;            /* enum rig_pg_row_join */
    int64_t write;               /* enum rig_pg_write */
    bool prepared;
    bool pipeline;
    double lock_reads; /* share */
    int64_t lock_mode; /* enum rig_pg_lock_mode */
    bool declare_read_only;
    const char *begin_ts, *commit_ts; /* SQL; NULL: none */
    double deferrable;                /* share */
    double two_phase;                 /* share */
    int64_t statement_timeout_ns;     /* 0: the server's own */
    int64_t lock_timeout_ns;          /* 0: the server's own */
    int64_t connect_timeout_ns;
    int64_t transaction_timeout_ns;
    int64_t max_answer_bytes;   /* of all answers to one transaction */
    int64_t synchronous_commit; /* enum rig_pg_synchronous_commit */
    bool keep_tables;
    const char *schema; /* NULL or empty: the run makes one */
    const char *user;
    const char *dbname;
    const char *password;
    const char *conninfo;
    struct rig_tls_options tls; /* of connections to given hosts */

    struct rig_text_list hosts; /* empty: rig starts a cluster */
    struct rig_text_list read_only_hosts;
    int64_t reads_from;  /* enum rig_sql_reads_from */
    int64_t nodes;       /* 0: one, unless hosts are given */
    int64_t replication; /* enum rig_pg_replication */
    int64_t synchronous_standbys;
    int64_t listen; /* enum rig_pg_listen */
    const char *bin_dir;
    const char *version; /* "14.3"; NULL or empty: the newest */
    const char *servers; /* a folder of servers, by version */
    const char *run_as;
    struct rig_text_list settings;
    struct rig_text_list standby_settings;
    int64_t start_timeout_ns;
    int64_t stop_timeout_ns;
};

extern const struct rig_option rig_pg_option_table[];
/* The words of the option synchronous-commit, by index. */
extern const char *const rig_pg_synchronous_commit_words[];
/* Those of the option replication. */
extern const char *const rig_pg_replication_words[];

/* Rejects contradictory options. No I/O. RIG_E_PLAN. */
enum rig_rc rig_pg_options_check(const void *options, enum rig_workload workload, struct rig_err *err);

#endif
