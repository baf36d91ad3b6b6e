#include "drivers/postgres/pg_join.h"

#include "base/bug.h"
#include "drivers/postgres/pg_options.h"

#define SECOND RIG_PG_JOIN_SECOND
#define VIEW   RIG_PG_JOIN_VIEW
#define KEEP   "_keep" /* behind a table's name: the function of its trigger */

void rig_pg_join_create(const char *table, const char *columns, const char *index, struct rig_buf *sql)
{
    rig_buf_printf(sql, "CREATE TABLE %s" SECOND " (%s); ", table, columns);
    if (index != NULL)
        rig_buf_printf(sql, "CREATE INDEX ON %s" SECOND " %s; ", table, index);
    rig_buf_printf(sql,
                   "CREATE FUNCTION %s" KEEP "() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
                   "IF TG_OP = 'INSERT' THEN"
                   " INSERT INTO %s" SECOND " (k, id, v, c) VALUES (NEW.k, NEW.id, NEW.v, NEW.c);"
                   " ELSIF TG_OP = 'UPDATE' THEN"
                   " UPDATE %s" SECOND " SET v = NEW.v, c = NEW.c WHERE k = NEW.k AND id = NEW.id;"
                   " ELSE DELETE FROM %s" SECOND " WHERE k = OLD.k AND id = OLD.id; "
                   "END IF; RETURN NULL; END$$; ",
                   table, table, table, table);
    rig_buf_printf(
        sql, "CREATE TRIGGER keep AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE PROCEDURE %s" KEEP "(); ",
        table, table);
    rig_buf_printf(sql,
                   "CREATE VIEW %s" VIEW " AS SELECT r.k, r.id, CASE WHEN r.v = s.v THEN r.v ELSE 0 END AS v, s.c,"
                   " r.xmin FROM %s AS r JOIN %s" SECOND " AS s ON s.k = r.k AND s.id = r.id; ",
                   table, table, table);
}

void rig_pg_join_drop_view(const char *table, struct rig_buf *sql)
{
    rig_buf_printf(sql, "DROP VIEW %s" VIEW "; ", table);
}

void rig_pg_join_drop_trigger(const char *table, struct rig_buf *sql)
{
    rig_buf_printf(sql, "DROP FUNCTION %s" KEEP "(); ", table);
}

const char *rig_pg_join_settings(int join)
{
    static const char *const settings[] = {
        [RIG_PG_JOIN_NONE] = "",
        [RIG_PG_JOIN_ANY] = "",
        [RIG_PG_JOIN_NESTED] = "SET enable_hashjoin = off; SET enable_mergejoin = off;",
        [RIG_PG_JOIN_HASH] = "SET enable_nestloop = off; SET enable_mergejoin = off;",
        [RIG_PG_JOIN_MERGE] = "SET enable_nestloop = off; SET enable_hashjoin = off;"};
    RIG_INVARIANT(join >= 0 && (size_t)join < sizeof settings / sizeof settings[0]);
    return settings[join];
}
