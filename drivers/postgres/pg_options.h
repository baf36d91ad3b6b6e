/*
 * The driver's options: a plan's keys below `database:` for PostgreSQL, and their contradictions.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_OPTIONS_H
#define RIG_DRIVERS_POSTGRES_PG_OPTIONS_H

#include "drivers/sql/sql_options.h"
#include "drivers/sql/sql_values.h"

/* Indexes into the choices of the options of the same name. */
enum rig_pg_write { RIG_PG_UPSERT, RIG_PG_INSERT_THEN_UPDATE };
enum rig_pg_synchronous_commit { RIG_PG_SYNC_SERVER_DEFAULT }; /* the other choices are PostgreSQL's own words */
enum rig_pg_replication { RIG_PG_ASYNC };                      /* the other choices are words of synchronous_commit */

/* A schema's name has 63 bytes at most; a run's name leaves space for the suffix in a table's. */
enum { RIG_PG_SCHEMA_NAME_BYTES = 64, RIG_PG_RUN_NAME_MOST = 40 };

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
    struct rig_sql_options sql; /* .replication: enum rig_pg_replication */
    int64_t table_schema;       /* enum rig_sql_list_form */
    bool covering_index;
    int64_t row_index, row_scan; /* enum rig_pg_row_index, enum rig_pg_row_scan */
    int64_t row_join;            /* enum rig_pg_row_join */
    int64_t write;               /* enum rig_pg_write */
    bool pipeline;
    double deferrable;          /* share */
    int64_t synchronous_commit; /* enum rig_pg_synchronous_commit */
    const char *schema;         /* NULL or empty: the run makes one */
    const char *dbname;
    const char *conninfo;
    int64_t synchronous_standbys;
    struct rig_text_list standby_settings;
};

extern const struct rig_option rig_pg_option_table[];
/* The words of the option synchronous-commit, by index. */
extern const char *const rig_pg_synchronous_commit_words[];
/* Those of the option replication. */
extern const char *const rig_pg_replication_words[];

/* Rejects contradictory options. No I/O. RIG_E_PLAN. */
enum rig_rc rig_pg_options_check(const void *options, enum rig_workload workload, struct rig_err *err);

#endif
