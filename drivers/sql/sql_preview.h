/*
 * The hook `preview` of drivers of SQL databases (drivers/driver.h): the statements of a transaction as texts, with their
 * values. Nothing is sent. A statement whose values depend on what an earlier read of the transaction shows has those of
 * a read that found nothing.
 *
 * Space: the reads of one transaction. Threads: one.
 */
#ifndef RIG_DRIVERS_SQL_SQL_PREVIEW_H
#define RIG_DRIVERS_SQL_SQL_PREVIEW_H

#include "base/buf.h"
#include "drivers/driver.h"

/* In the place of a run's name (struct rig_run_env). */
#define RIG_SQL_PREVIEW_RUN "rig_run"

struct rig_sql_preview {
    struct rig_transaction transaction; /* the question, with such reads */
    void (*show)(void *context, const char *text);
    void *context;
    struct rig_buf line;
    struct rig_read *reads; /* owned */
};

enum rig_rc rig_sql_preview_init(struct rig_sql_preview *preview, const struct rig_transaction *transaction,
                                 void (*show)(void *context, const char *text), void *context, struct rig_err *err);
/* Shows an empty line. Also after a failure of rig_sql_preview_init(). */
void rig_sql_preview_done(struct rig_sql_preview *preview);
/* Shows a statement as a line that ends with a semicolon. */
void rig_sql_preview_say(struct rig_sql_preview *preview, const char *sql);
/* The same with `values[n - 1]` in the place of each ?n. */
void rig_sql_preview_bound(struct rig_sql_preview *preview, const char *sql, const int64_t *values, uint32_t count);
/* Shows the statement of the transaction's savepoint before the operation, if there is one: as PostgreSQL, MariaDB and
 * SQLite write it. */
void rig_sql_preview_savepoint(struct rig_sql_preview *preview, uint32_t op);

#endif
