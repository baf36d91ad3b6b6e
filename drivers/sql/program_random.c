/*
 * The workload sql over a program: the statements of random_sql.h in standard SQL. Rows that an update or delete has
 * replaced are those with the version that it wrote, which no other statement writes.
 */
#include <string.h>

#include "drivers/sql/program_statement.h"
#include "drivers/sql/random_sql.h"

enum rig_sql_random_dialect rig_sql_program_random_dialect(const struct rig_sql_dialect_file *dialect)
{
    return dialect->percent ? RIG_SQL_RANDOM_PERCENT : RIG_SQL_RANDOM_STANDARD;
}

void rig_sql_program_random_print(const struct rig_sql_program_schema *schema,
                                  const struct rig_transaction *transaction, uint32_t op, uint32_t part,
                                  struct rig_buf *sql)
{
    const uint64_t tables = (uint64_t)schema->options->tables;
    char table[RIG_SQL_PROGRAM_TABLE_BYTES], other[RIG_SQL_PROGRAM_TABLE_BYTES];
    rig_sql_program_schema_table(schema, (int64_t)((uint64_t)transaction->ops[op].key % tables), table);
    rig_sql_program_schema_table(schema, (int64_t)((uint64_t)rig_sql_random_other_key(transaction, op) % tables),
                                 other);
    rig_sql_random_print(rig_sql_program_random_dialect(schema->dialect), &(struct rig_sql_random_tables){table, other},
                         transaction, op, part, sql);
    if (schema->dialect->lock != NULL && rig_sql_random_locks(transaction, op))
        rig_buf_printf(sql, " %s", schema->dialect->lock);
}

static json_t *run_part(struct rig_sql_turn *turn, uint32_t op, uint32_t part)
{
    const struct rig_sql_values none = {.element = ""};
    struct rig_buf sql;
    json_t *answer = NULL;
    rig_buf_init(&sql, 0);
    rig_sql_program_random_print(&rig_sql_turn_run(turn)->schema, turn->transaction, op, part, &sql);
    if (sql.failed) {
        rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_LIMIT, NULL);
    } else {
        const struct rig_sql_said said = {.text = sql.data};
        answer = rig_sql_turn_run_said(turn, &said, &none);
    }
    rig_buf_done(&sql);
    return answer;
}

bool rig_sql_turn_run_random(struct rig_sql_turn *turn, uint32_t op)
{
    const enum rig_sql_random_dialect dialect = rig_sql_program_random_dialect(rig_sql_turn_run(turn)->dialect);
    const uint32_t parts = rig_sql_random_parts(dialect, turn->transaction, op);
    int64_t changed = 0, removed = 0;
    size_t rows = 0;
    if (parts == 0)
        return true;
    if (parts == 1 && turn->transaction->ops[op].kind == RIG_OP_READ_WHERE)
        return rig_sql_turn_take_pairs(turn, op, false, run_part(turn, op, 0), &rows);
    if (!rig_sql_turn_take_count(turn, run_part(turn, op, 0), &changed) || parts == 1)
        return !turn->failed;
    if (!rig_sql_turn_take_pairs(turn, op, false, run_part(turn, op, 1), &rows))
        return false;
    if (parts > 2 && !rig_sql_turn_take_count(turn, run_part(turn, op, 2), &removed))
        return false;
    if (rows == (size_t)changed && (parts == 2 || removed == changed))
        return true;
    rig_sql_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, RIG_SQL_CHANGED);
    return false;
}
