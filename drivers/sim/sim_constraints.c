#include "drivers/sim/sim_constraints.h"

#include "drivers/sim/engine_priv.h"
#include "history/types/row_ops.h"

#define NONE   UINT32_MAX
#define NEWEST UINT64_MAX

static bool is_left(const struct rig_sim_predicate_work *work, uint32_t table, uint32_t row)
{
    for (size_t i = 0; i < work->left.count; i++) {
        if (work->left.at[i].table == table && work->left.at[i].row == row)
            return true;
    }
    return false;
}

/* The rows that have the value in the column, as the work leaves the table; of other transactions those committed up to
 * `commit`. */
static uint32_t count_rows(const struct rig_sim_engine *engine, const struct rig_sim_predicate_work *work,
                           uint32_t table, uint32_t column, uint32_t code, uint64_t commit)
{
    const struct rig_sim_stored_table *stored = &engine->predicates.tables.at[table];
    uint32_t count = 0;
    for (uint32_t row = 0; row < stored->rows.count; row++) {
        const uint32_t version = rig_sim_version_at(stored, row, commit);
        const struct rig_sim_stored_version *at = version == NONE ? NULL : &stored->versions.at[version];
        count += at != NULL && at->number != 0 && rig_row_column_code(at->contents, column) == code &&
                 !is_left(work, table, row);
    }
    for (size_t i = 0; i < work->left.count; i++) {
        const struct rig_sim_left_row *left = &work->left.at[i];
        count += left->table == table && left->number != 0 && rig_row_column_code(left->contents, column) == code;
    }
    return count;
}

/* A row that the transaction removed, with a value to which rows may refer. */
static bool keeps_removed(const struct rig_sim_engine *engine, const struct rig_sim_predicate_work *work,
                          const struct rig_sim_left_row *left, uint64_t seen)
{
    const struct rig_sim_stored_table *stored = &engine->predicates.tables.at[left->table];
    const uint32_t newest = stored->rows.at[left->row].newest;
    const uint32_t code = rig_row_column_code(stored->versions.at[newest].contents, RIG_ROW_UNIQUE);
    const int64_t number = stored->versions.at[newest].number;
    return number == 0 || !rig_row_is_of_sql(number) || code == RIG_ROW_NULL ||
           count_rows(engine, work, left->table, RIG_ROW_REFERENCE, code, seen) == 0 ||
           count_rows(engine, work, left->table, RIG_ROW_UNIQUE, code, seen) > 0;
}

static bool keeps_inserted(const struct rig_sim_engine *engine, const struct rig_sim_predicate_work *work,
                           const struct rig_sim_left_row *left, uint64_t seen)
{
    const uint32_t unique = rig_row_column_code(left->contents, RIG_ROW_UNIQUE);
    const uint32_t reference = rig_row_column_code(left->contents, RIG_ROW_REFERENCE);
    return (unique == RIG_ROW_NULL || count_rows(engine, work, left->table, RIG_ROW_UNIQUE, unique, NEWEST) == 1) &&
           (reference == RIG_ROW_NULL || count_rows(engine, work, left->table, RIG_ROW_UNIQUE, reference, seen) > 0);
}

/* A bug checks an update on the row as it was before it. */
static bool keeps_check(struct rig_sim_engine *engine, const struct rig_sim_left_row *left)
{
    if (!rig_row_is_of_sql(left->number))
        return true;
    if (left->contents == RIG_ROW_CONTENTS_UNKNOWN || rig_row_keeps_check(left->contents))
        return !rig_row_inserts_null_guard(left->number);
    return left->row != NONE && rig_sim_bug_strikes(engine, RIG_SIM_BUG_STALE_CHECK);
}

bool rig_sim_keeps_constraints(struct rig_sim_engine *engine, const struct rig_sim_predicate_work *work, uint64_t begun)
{
    const uint64_t seen = rig_sim_bug_strikes(engine, RIG_SIM_BUG_STALE_FOREIGN_KEY) ? begun : NEWEST;
    for (size_t i = 0; i < work->left.count; i++) {
        const struct rig_sim_left_row *left = &work->left.at[i];
        const bool inserted = left->row == NONE && left->number != 0;
        if (left->number != 0 && !keeps_check(engine, left))
            return false;
        if (inserted && rig_row_is_of_sql(left->number) && !keeps_inserted(engine, work, left, seen))
            return false;
        if (left->row != NONE && left->number == 0 && !keeps_removed(engine, work, left, seen))
            return false;
    }
    return true;
}
