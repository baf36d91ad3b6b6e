/*
 * Transactions of programs in the simulated database, over its tables (drivers/sim/sim_rows.h).
 *
 * A transaction keeps its writes to itself until it commits, all at once; no statement waits for another transaction.
 *
 *   serializable         reads a snapshot; commits when no row that it writes, and no result of any of its statements,
 *                        has changed since: it takes effect as a whole at its commit
 *   repeatable-read      the same, but statements by other than the primary key are not repeated: rows can appear
 *   snapshot-isolation   reads a snapshot; commits when no row that it writes has changed since
 *   read-committed       each statement sees the latest commits; updates overwrite what is committed meanwhile
 *   read-uncommitted     the same
 *
 * Bugs: those of RIG_SIM_BUG_TABLE that concern snapshots and commits. SELECT ... FOR UPDATE locks nothing: what it
 * would hold up conflicts at the commit.
 *
 * Source: Kung & Robinson, TODS 1981 (validation). Threads: one at a time.
 */
#ifndef RIG_DRIVERS_SIM_SIM_ROWS_H
#define RIG_DRIVERS_SIM_SIM_ROWS_H

#include "base/rng.h"
#include "base/table.h"
#include "base/vec.h"
#include "drivers/rows.h"
#include "drivers/sim/engine.h"

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

struct rig_sim_row_version {
    uint64_t commit;
    uint32_t older; /* SIM_NO_ROW: it is the first one */
    bool deleted;
};

struct rig_sim_row {
    uint32_t newest;                      /* version, or SIM_NO_ROW */
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

/* The data of a run, shared by all transactions. */
struct rig_sim_row_store {
    struct rig_sim_tables tables;
    struct rig_sim_options options;
    struct rig_rng rng;
};

/* A row as the transaction leaves it. */
struct rig_sim_own_row {
    uint32_t table, row;
    bool deleted, inserted;
    int64_t cells[RIG_ROW_COLUMNS];
};

/* A statement that can be repeated, and a digest of the committed rows that fulfilled its conditions. */
struct rig_sim_seen_rows {
    uint32_t statement;
    int64_t values[RIG_ROW_VALUES];
    uint64_t digest;
};

RIG_VEC(struct rig_sim_own_row, rig_sim_own_rows)
RIG_VEC(struct rig_sim_seen_rows, rig_sim_seen_vec)

/* A session's transaction. Zeroed at first. */
struct rig_sim_rows {
    struct rig_sim_row_store *store;
    uint64_t snapshot; /* the last commit that it shows */
    bool is_stale;     /* by a bug: it is not checked unless the transaction writes */
    struct rig_sim_own_rows own;
    struct rig_sim_seen_vec seen;
    const char *error_code, *error_text; /* static; NULL while nothing failed */
};

/* The bug is one of programs. RIG_E_PLAN. */
enum rig_rc rig_sim_rows_check(const struct rig_sim_options *options, struct rig_err *err);
/* RIG_E_LIMIT, and safe for `done` then. */
enum rig_rc rig_sim_row_store_init(struct rig_sim_row_store *store, const struct rig_row_schema *schema,
                                   const struct rig_sim_options *options, uint64_t seed, struct rig_err *err);
void rig_sim_row_store_done(struct rig_sim_row_store *store);
/* A row before the load. */
bool rig_sim_row_store_load(struct rig_sim_row_store *store, uint32_t table, const int64_t *cells);

void rig_sim_rows_begin(struct rig_sim_rows *rows, struct rig_sim_row_store *store);
/* False: the transaction failed, and `error_code` says why. */
bool rig_sim_rows_execute(struct rig_sim_rows *rows, uint32_t statement, const int64_t *values,
                          struct rig_row_answer *answer);
/* False: it is rolled back, and `error_code` says why. */
bool rig_sim_rows_commit(struct rig_sim_rows *rows);
void rig_sim_rows_roll_back(struct rig_sim_rows *rows);
void rig_sim_rows_done(struct rig_sim_rows *rows);

#endif
