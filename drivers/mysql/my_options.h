/*
 * The driver's options: a plan's keys below `database:` for MariaDB and MySQL, and their contradictions.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_OPTIONS_H
#define RIG_DRIVERS_MYSQL_MY_OPTIONS_H

#include "drivers/sql/sql_options.h"

/* Indexes into the choices of the options of the same name. */
enum rig_my_switch { RIG_MY_SERVER_DEFAULT, RIG_MY_ON, RIG_MY_OFF };
enum rig_my_pipeline { RIG_MY_PIPELINE_AUTO, RIG_MY_PIPELINE_ON, RIG_MY_PIPELINE_OFF };
enum rig_my_list_form { RIG_MY_LIST_TEXT, RIG_MY_LIST_ROWS };
enum rig_my_replication { RIG_MY_ASYNC, RIG_MY_SEMI_SYNC, RIG_MY_GALERA };

enum { RIG_MY_DATABASE_BYTES = 65 }; /* a name has 64 characters at most */

struct rig_my_options {
    struct rig_sql_options sql; /* .replication: enum rig_my_replication; .max_answer_bytes: of one row */
    int64_t snapshot_isolation; /* enum rig_my_switch */
    int64_t table_schema;       /* enum rig_my_list_form */
    int64_t pipeline;           /* enum rig_my_pipeline; rig_my_pipelines() */
    bool consistent_snapshot;
    int64_t causal_reads; /* wsrep_sync_wait; 0: none */
    const char *dbname;   /* NULL or empty: the run makes one */
};

/* Whether a transaction is one request. */
bool rig_my_pipelines(const struct rig_my_options *options);

extern const struct rig_option rig_my_option_table[];

/* Rejects contradictory options. No I/O. RIG_E_PLAN. */
enum rig_rc rig_my_options_check(const void *options, enum rig_workload workload, struct rig_err *err);

#endif
