/* The tables of the workload sql and their indexes (random_sql.h). */
#include <inttypes.h>
#include <stdio.h>

#include "drivers/sql/random_sql.h"
#include "history/types/row_clauses.h"

bool rig_sql_random_has_key_in_table(enum rig_sql_random_dialect dialect)
{
    return dialect == RIG_SQL_RANDOM_SQLITE || rig_sql_random_is_standard(dialect);
}

/* Tables with the parts that statements may need: rows with CHECKs, and primary keys that change. */
#define G_COLUMN  ", g integer DEFAULT 0 NOT NULL"
#define CHECKS    ", " RIG_ROW_CHECK_ORDER ", " RIG_ROW_CHECK_RANGE ", " RIG_ROW_CHECK_VALUES
#define N_COLUMN  ", n bigint DEFAULT 1 NOT NULL"
#define FIXED_KEY ", PRIMARY KEY (k, id), UNIQUE (k, u)"
#define MOVED_KEY ", PRIMARY KEY (k, n, id), UNIQUE (k, id), UNIQUE (k, u)"
#define TABLE(columns)                                                                                                 \
    {                                                                                                                  \
        columns FIXED_KEY, columns G_COLUMN FIXED_KEY CHECKS, columns N_COLUMN MOVED_KEY,                              \
            columns G_COLUMN N_COLUMN MOVED_KEY CHECKS                                                                 \
    }

const char *rig_sql_random_columns(enum rig_sql_random_dialect dialect, uint32_t clauses)
{
    static const char *const columns[][4] = {
        [RIG_SQL_RANDOM_POSTGRES] =
            TABLE("k bigint NOT NULL, id bigint NOT NULL, v bigint NOT NULL, p bigint, a "
                  "bigint, b bigint, c bigint, t text COLLATE \"C\", u bigint, r bigint, s text"),
        [RIG_SQL_RANDOM_SQLITE] = TABLE("k INTEGER NOT NULL, id INTEGER NOT NULL, v INTEGER NOT NULL, p INTEGER, a "
                                        "INTEGER, b INTEGER, c INTEGER, t TEXT, u INTEGER, r INTEGER, s TEXT"),
        [RIG_SQL_RANDOM_MYSQL] = TABLE("k bigint NOT NULL, id bigint NOT NULL, v bigint NOT NULL, p bigint, a bigint, "
                                       "b bigint, c bigint, t varchar(8) CHARACTER SET latin1 COLLATE latin1_bin, "
                                       "u bigint, r bigint, s mediumtext")};
    if (rig_sql_random_is_standard(dialect))
        return "k BIGINT NOT NULL, id BIGINT NOT NULL, v BIGINT NOT NULL, p BIGINT, a BIGINT, b BIGINT, c BIGINT, "
               "t VARCHAR(8), u BIGINT, r BIGINT, PRIMARY KEY (k, id), UNIQUE (u)";
    return columns[dialect][(clauses >> RIG_ROW_HAS_CHECKS & 1) + 2 * (clauses >> RIG_ROW_HAS_MOVES & 1)];
}

void rig_sql_random_indexes(enum rig_sql_random_dialect dialect, uint64_t seed, uint32_t number, const char *name,
                            const char *plain, struct rig_buf *sql)
{
    enum { PG = 1 << RIG_SQL_RANDOM_POSTGRES, LITE = 1 << RIG_SQL_RANDOM_SQLITE, ALL = ~0 };
    static const struct {
        const char *before, *columns;
        int dialects;
    } indexes[] = {
        {"", "(k, a)", ALL},
        {"", "(k, b, a)", ALL},
        {"", "(k, t)", ALL},
        {"", "(c, k)", ALL},
        {"", "(k, c, id, v)", ALL},
        {"UNIQUE ", "(k, a, b, c, t)", ALL},
        {"", "(k, (a + b))", PG | LITE},
        {"", "(k, a) WHERE b IS NULL", PG | LITE},
        {"", "(k, b) INCLUDE (id, v)", PG},
        {"", "USING hash (a)", PG},
        {"", "USING brin (k, a)", PG},
    };
    struct rig_rng rng;
    rig_rng_init(&rng, seed, UINT64_MAX - 1000 - number);
    if (!rig_sql_random_has_key_in_table(dialect))
        rig_buf_printf(sql, "ALTER TABLE %s ADD FOREIGN KEY (k, r) REFERENCES %s (k, u); ", name, name);
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++) {
        const bool drawn = rig_rng_below(&rng, 2) == 0;
        if (!drawn || (indexes[i].dialects >> dialect & 1) == 0)
            continue;
        rig_buf_printf(sql, "CREATE %sINDEX %s_i%zu ON %s %s; ", indexes[i].before, plain, i, name, indexes[i].columns);
    }
}

enum rig_rc rig_sql_random_prepare(enum rig_sql_random_dialect dialect, struct rig_sql_own *own, uint32_t count,
                                   void (*name_table)(const struct rig_sql_own *own, uint32_t table,
                                                      char name[static RIG_SQL_RANDOM_TABLE_BYTES]),
                                   struct rig_err *err)
{
    struct rig_buf sql;
    char name[RIG_SQL_RANDOM_TABLE_BYTES], plain[32];
    name_table(own, 0, name);
    enum rig_rc rc = rig_sql_random_compare(dialect, own, name, err);
    if (rc != RIG_OK)
        return rc;
    rig_buf_init(&sql, 0);
    for (uint32_t table = 0; table < count; table++) {
        name_table(own, table, name);
        (void)snprintf(plain, sizeof plain, "rig_%" PRIu32, table);
        rig_sql_random_indexes(dialect, own->run->env->seed, table, name,
                               rig_sql_random_is_standard(dialect) ? name : plain, &sql);
    }
    if (!rig_sql_random_is_standard(dialect))
        rig_buf_add_text(&sql, dialect == RIG_SQL_RANDOM_MYSQL ? "DO 0" : "SELECT 1");
    rc = sql.failed ? rig_no_memory(err, "the indexes of the run's tables")
                    : rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, err);
    rig_buf_done(&sql);
    return rc;
}
