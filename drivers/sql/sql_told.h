/*
 * The hook `statements` of drivers of SQL databases (drivers/driver.h): the forms of a run's statements as texts.
 *
 * A statement names its table. The forms of the first table stand for those of all: its name, which ends with its
 * number 0, has the placeholder of the number in the text of the form.
 *
 * Space: a text at a time. Threads: one.
 */
#ifndef RIG_DRIVERS_SQL_SQL_TOLD_H
#define RIG_DRIVERS_SQL_SQL_TOLD_H

#include "base/buf.h"
#include "drivers/driver.h"
#include "drivers/sql/sql_options.h"

struct rig_sql_told {
    struct rig_statement_texts *texts;
    const char *table; /* the name of the first table, as statements have it; borrowed */
    struct rig_buf text;
};

/* False: the workload has no forms, because each of its statements is a text of its own. */
bool rig_sql_told_init(struct rig_sql_told *told, const struct rig_run_env *env, const struct rig_sql_options *options,
                       const char *table, struct rig_statement_texts *texts);
void rig_sql_told_done(struct rig_sql_told *told);
/* Tells `text` as it is. */
void rig_sql_told_say(const struct rig_sql_told *told, enum rig_sql_form form, const char *text);
/* Adds a statement to that of the next rig_sql_told_end(), in a line of its own. $1 to $6 are placeholders. With `mark`
 * '?' the placeholders are ?1 to ?6; with `order` each lone `?` is that of the next number in it. */
void rig_sql_told_add(struct rig_sql_told *told, const char *sql, char mark, const uint8_t *order);
/* A line before a statement that is sent where the one before it changed no row. */
void rig_sql_told_add_fallback(struct rig_sql_told *told);
/* Tells what was added; nothing where that is empty. */
void rig_sql_told_end(struct rig_sql_told *told, enum rig_sql_form form);
/* SAVEPOINT and ROLLBACK TO SAVEPOINT as PostgreSQL, MariaDB and SQLite write them, and COMMIT. */
void rig_sql_told_usual(const struct rig_sql_told *told);

#endif
