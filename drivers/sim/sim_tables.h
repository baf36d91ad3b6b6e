/*
 * The simulated database's tables: rows of programs (drivers/rows.h) with all their versions.
 *
 * A row is made when its primary key is first used, and stays; its versions are those that commits installed, newest
 * first. A row without a version, or whose version is a deletion, is absent. Rows are found by their primary key, by
 * the first two columns of it, or one after the other.
 *
 * Time: a look-up by the primary key O(1); by its first two columns linear in the rows that have them. Space: the cells
 * of each version, until the end. Threads: one at a time.
 */
#ifndef RIG_DRIVERS_SIM_SIM_TABLES_H
#define RIG_DRIVERS_SIM_SIM_TABLES_H

#include "base/table.h"
#include "base/vec.h"
#include "drivers/rows.h"

#define RIG_SIM_NO_ROW UINT32_MAX

struct rig_sim_row_version {
    uint64_t commit;
    uint32_t older; /* RIG_SIM_NO_ROW: it is the first one */
    bool deleted;
};

struct rig_sim_row {
    uint32_t newest;                      /* version, or RIG_SIM_NO_ROW */
    uint32_t next_of_key, next_of_prefix; /* the next one with the same hash */
};

RIG_VEC(struct rig_sim_row, rig_sim_row_vec)
RIG_VEC(struct rig_sim_row_version, rig_sim_row_versions)
RIG_VEC(int64_t, rig_sim_cells)

struct rig_sim_table {
    const struct rig_row_table *form;
    struct rig_sim_row_vec rows;
    struct rig_sim_cells keys; /* of the rows */
    struct rig_sim_row_versions versions;
    struct rig_sim_cells cells;         /* of the versions */
    struct rig_table by_key, by_prefix; /* hash to the row added last */
};

struct rig_sim_tables {
    const struct rig_row_schema *schema;
    struct rig_sim_table *at;
    uint64_t commit; /* number of the last one; rows that were loaded have 0 */
};

/* The schema is borrowed. False when memory runs out; safe for `done` then. */
bool rig_sim_tables_init(struct rig_sim_tables *tables, const struct rig_row_schema *schema);
void rig_sim_tables_done(struct rig_sim_tables *tables);

/* The row with the primary key, which is made when it is new; RIG_SIM_NO_ROW when memory runs out. */
uint32_t rig_sim_tables_row(struct rig_sim_tables *tables, uint32_t table, const int64_t *key);

/* The rows that can fulfil a statement's conditions, and others. RIG_SIM_NO_ROW: the end. */
struct rig_sim_candidates {
    const struct rig_sim_table *table;
    enum { RIG_SIM_BY_KEY, RIG_SIM_BY_PREFIX, RIG_SIM_BY_SCAN } by;
    uint32_t row;
};
struct rig_sim_candidates rig_sim_tables_find(const struct rig_sim_tables *tables,
                                              const struct rig_row_statement *statement, const int64_t *conditions);
uint32_t rig_sim_candidates_next(struct rig_sim_candidates *candidates);

/* Whether the statement names one row by its primary key. */
bool rig_sim_statement_is_of_key(const struct rig_row_statement *statement, const struct rig_row_table *table);

/* The version of the row that commits up to `commit` show; RIG_SIM_NO_ROW: it is absent. */
uint32_t rig_sim_tables_version(const struct rig_sim_tables *tables, uint32_t table, uint32_t row, uint64_t commit);
const int64_t *rig_sim_tables_cells(const struct rig_sim_tables *tables, uint32_t table, uint32_t version);

/* Memory for `count` more versions in each table; false when it runs out. */
bool rig_sim_tables_reserve(struct rig_sim_tables *tables, size_t count);
/* Adds a version of the commit. Memory was reserved. */
void rig_sim_tables_install(struct rig_sim_tables *tables, uint32_t table, uint32_t row, uint64_t commit,
                            const int64_t *cells, bool deleted);

#endif
