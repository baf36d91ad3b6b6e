#include "drivers/sql/key_rows.h"

#include <inttypes.h>

/* Keys below this have rows. */
static int64_t key_count(const struct rig_run_env *env)
{
    return env->accounts.count > env->prefilled_keys ? env->accounts.count : env->prefilled_keys;
}

int64_t rig_sql_last_key_row(const struct rig_sql_key_tables *tables, int64_t number)
{
    const int64_t below = key_count(tables->env) - 1 - number;
    return below < 0 ? -1 : number + below - below % tables->table_count;
}

void rig_sql_add_key_rows(const struct rig_sql_key_tables *tables, int64_t number, const char *name,
                          struct rig_buf *sql)
{
    const struct rig_accounts *accounts = &tables->env->accounts;
    const int64_t last = rig_sql_last_key_row(tables, number);
    if (last < 0)
        return;
    rig_buf_printf(sql, "INSERT INTO %s (k, v) VALUES (%" PRId64 ", ", name, number);
    if (accounts->count > 0)
        rig_buf_add_int(sql, accounts->balance);
    else
        rig_buf_add_text(sql, "NULL");
    rig_buf_add_text(sql, "); ");
    /* Each statement adds as many rows as there are. */
    for (int64_t distance = tables->table_count; number + distance <= last; distance *= 2)
        rig_buf_printf(sql,
                       "INSERT INTO %s (k, v) SELECT k + %" PRId64 ", v FROM %s WHERE k + %" PRId64 " <= %" PRId64 "; ",
                       name, distance, name, distance, last);
}
