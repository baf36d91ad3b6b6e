/*
 * The place of a workload's tables, and its statements.
 *
 * Key k is in table k mod `tables`: rig_list_N (k bigint, v text or bigint[]) or rig_register_N (k bigint, v bigint),
 * in a schema with the run's name. In a schema that the plan names, the tables have the run's name in the place of
 * `rig`. A key without a row is in its initial state. Statements name tables with their schema: a pooler may give each
 * transaction another session, with another search_path. The statements of a run are fixed texts, prepared under
 * rig_<index>; the simple protocol sends them with their numbers written in.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SCHEMA_H
#define RIG_DRIVERS_POSTGRES_PG_SCHEMA_H

#include "drivers/driver.h"
#include "drivers/postgres/pg_connection.h"
#include "drivers/postgres/pg_options.h"

enum { RIG_PG_STATEMENT_NAME_BYTES = 32, RIG_PG_STATEMENT_TEXT_BYTES = 512 };
enum { RIG_PG_STEM_BYTES = 64, RIG_PG_TABLE_BYTES = RIG_PG_SCHEMA_NAME_BYTES + RIG_PG_STEM_BYTES + 16 };

struct rig_pg_place {
    char schema[RIG_PG_SCHEMA_NAME_BYTES]; /* without quotes, and with none in it */
    char stem[RIG_PG_STEM_BYTES];          /* of a table's name, before its number: "rig_list_" */
    bool own;                              /* the run makes the schema */
};

void rig_pg_place_find(const struct rig_run_env *env, const struct rig_pg_options *options, struct rig_pg_place *place);
/* Table `number` as SQL names it. */
void rig_pg_place_table(const struct rig_pg_place *place, int64_t number, char name[static RIG_PG_TABLE_BYTES]);

struct rig_pg_statement {
    char name[RIG_PG_STATEMENT_NAME_BYTES];
    char text[RIG_PG_STATEMENT_TEXT_BYTES]; /* with $1 the key and $2 the value */
    int parameter_count;
};

/* Statements of every run come first, then those of each table. */
enum rig_pg_fixed {
    RIG_PG_BEGIN,
    RIG_PG_BEGIN_READ_ONLY,
    RIG_PG_BEGIN_STANDBY, /* repeatable read at most */
    RIG_PG_COMMIT,
    RIG_PG_ROLLBACK,
    RIG_PG_FIXED_COUNT,
};
enum rig_pg_of_table {
    RIG_PG_READ,
    RIG_PG_PUT,    /* the upsert */
    RIG_PG_UPDATE, /* insert-then-update: this one first */
    RIG_PG_INSERT, /* and this one when there was no row */
    RIG_PG_OF_TABLE_COUNT,
};

struct rig_pg_schema {
    const struct rig_pg_options *options;
    enum rig_workload workload;
    struct rig_pg_place place;
    struct rig_pg_statement *statements; /* owned */
    size_t statement_count;
};

/* `env` and `options` outlive it. */
enum rig_rc rig_pg_schema_init(struct rig_pg_schema *schema, const struct rig_run_env *env,
                               const struct rig_pg_options *options, struct rig_err *err);
void rig_pg_schema_done(struct rig_pg_schema *schema);

const struct rig_pg_statement *rig_pg_schema_fixed(const struct rig_pg_schema *schema, enum rig_pg_fixed which);
const struct rig_pg_statement *rig_pg_schema_of_key(const struct rig_pg_schema *schema, int64_t key,
                                                    enum rig_pg_of_table which);
/* True when this run's options use the statement; others need not be prepared. */
bool rig_pg_schema_uses(const struct rig_pg_schema *schema, size_t statement);

/* Writes the statement with its numbers in the place of $1 and $2; at least twice its text's size. */
void rig_pg_statement_print(const struct rig_pg_statement *statement, int64_t key, int64_t value, char *text,
                            size_t size);

/* The type of the column v. */
const char *rig_pg_schema_value_type(const struct rig_pg_schema *schema);

#endif
