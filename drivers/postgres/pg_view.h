/*
 * What PostgreSQL shows to the statements of transactions, for certificates of the mode `full`: with each read the
 * snapshot and the xmin of the row, with each write the row's xmin and the transaction's own number, at repeatable read
 * and stronger the snapshot, too. Each client has a log of its own, so that nothing is shared between clients except
 * the counter that numbers views.
 *
 * The columns follow the value of a read; a write has them in RETURNING. xmin has 32 bits and is extended by a number
 * of 64 bits that the same row has.
 *
 * Space: 48 bytes a transaction, 24 a row, 24 and 8 a transaction in progress for a snapshot that differs from the one
 * before it in the transaction. Threads: a log is its client's, until all sessions are closed.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_VIEW_H
#define RIG_DRIVERS_POSTGRES_PG_VIEW_H

#include <libpq-fe.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "drivers/driver.h"

/* In place of the lists of columns and of RETURNING, where views are kept. */
#define RIG_PG_VIEW_OF_READ         "t.xmin, pg_current_snapshot()"
#define RIG_PG_VIEW_OF_WRITE        " RETURNING xmin, pg_current_xact_id()"
#define RIG_PG_VIEW_OF_SINGLE_WRITE RIG_PG_VIEW_OF_WRITE ", pg_current_snapshot()"

/*
 * The statements of the workload predicate with views (drivers/sql/sql_ops.h): X(name, SQL before the name of the
 * table, and after it). A read has the columns id, version, xmin and snapshot; an update or a delete the transaction's
 * number, too. There is a row, hence a snapshot, even where no row meets the condition. Counts and sums name no xmin,
 * so that they can still use an index alone.
 */
#define RIG_PG_ROW_VIEW_LIST  "SELECT t.id, t.v, t.xmin, pg_current_snapshot() FROM (SELECT) AS one LEFT JOIN "
#define RIG_PG_ROW_VIEW_COUNT "SELECT count(*), coalesce(sum(v), 0), NULL::bigint, pg_current_snapshot() FROM "
#define RIG_PG_ROW_VIEW_SUM   "SELECT 0, coalesce(sum(v), 0), NULL::bigint, pg_current_snapshot() FROM "
#define RIG_PG_ROW_VIEW_SET   " SET p = v, v = $4, c = $4 / 10 % 100 WHERE k = $1 AND "
#define RIG_PG_ROW_VIEW_OF_WRITE                                                                                       \
    ") SELECT w.id, w.p, w.x, pg_current_snapshot(), pg_current_xact_id_if_assigned() "                                \
    "FROM (SELECT) AS one LEFT JOIN w ON true"
/* Behind a delete, around the name of the run: it leaves its mark in the stream of commits (pg_stream.h), because a
 * removed row does not name the statement that removed it. The message is part of the transaction. */
#define RIG_PG_ROW_VIEW_MARK_BEFORE "), m AS (SELECT pg_logical_emit_message(true, '"
#define RIG_PG_ROW_VIEW_MARK_AFTER                                                                                     \
    "', $1 || ' ' || $4)) SELECT w.id, w.p, w.x, pg_current_snapshot(), pg_current_xact_id_if_assigned() "             \
    "FROM m LEFT JOIN w ON true"
#define RIG_PG_ROW_VIEW_TABLE(X)                                                                                       \
    X(LIST_BY_ID, RIG_PG_ROW_VIEW_LIST, " AS t ON t.k = $1 AND t.id BETWEEN $2 AND $3")                                \
    X(LIST_BY_CLASS, RIG_PG_ROW_VIEW_LIST, " AS t ON t.k = $1 AND t.c BETWEEN $2 AND $3")                              \
    X(COUNT_BY_ID, RIG_PG_ROW_VIEW_COUNT, " WHERE k = $1 AND id BETWEEN $2 AND $3")                                    \
    X(COUNT_BY_CLASS, RIG_PG_ROW_VIEW_COUNT, " WHERE k = $1 AND c BETWEEN $2 AND $3")                                  \
    X(SUM_BY_ID, RIG_PG_ROW_VIEW_SUM, " WHERE k = $1 AND id BETWEEN $2 AND $3")                                        \
    X(SUM_BY_CLASS, RIG_PG_ROW_VIEW_SUM, " WHERE k = $1 AND c BETWEEN $2 AND $3")                                      \
    X(UPDATE_BY_ID, "WITH w AS (UPDATE ",                                                                              \
      RIG_PG_ROW_VIEW_SET "id BETWEEN $2 AND $3 RETURNING id, p, xmin AS x" RIG_PG_ROW_VIEW_OF_WRITE)                  \
    X(UPDATE_BY_CLASS, "WITH w AS (UPDATE ",                                                                           \
      RIG_PG_ROW_VIEW_SET "c BETWEEN $2 AND $3 RETURNING id, p, xmin AS x" RIG_PG_ROW_VIEW_OF_WRITE)                   \
    X(DELETE_BY_ID, "WITH w AS (DELETE FROM ",                                                                         \
      " WHERE k = $1 AND id BETWEEN $2 AND $3 RETURNING id, v AS p, xmin AS x")                                        \
    X(DELETE_BY_CLASS, "WITH w AS (DELETE FROM ",                                                                      \
      " WHERE k = $1 AND c BETWEEN $2 AND $3 RETURNING id, v AS p, xmin AS x")                                         \
    X(INSERT, "INSERT INTO ", " (k, id, v, c) VALUES ($1, $2, $2, $2 / 10 % 100)")

enum { RIG_PG_SNAPSHOT_BYTES = 4096 };

RIG_VEC(uint64_t, rig_pg_words)

struct rig_pg_view_log {
    struct rig_pg_words words; /* views, one after the other; pg_view.c has their layout */
    size_t begin;              /* of the view at hand */
    uint64_t id;
    uint32_t rows;
    char snapshot[RIG_PG_SNAPSHOT_BYTES]; /* the last one of this view */
    uint64_t xmax;                        /* of it */
    bool bad; /* memory ran out, or an answer was not as expected: there are no views of this client */
};

struct rig_pg_views {
    struct rig_pg_view_log *logs; /* one a client; NULL: no views */
    uint32_t count;
    atomic_uint_fast64_t taken; /* numbers given to views */
};

enum rig_rc rig_pg_views_init(struct rig_pg_views *views, uint32_t clients, struct rig_err *err);
void rig_pg_views_done(struct rig_pg_views *views);

/* A transaction begins. `views` without logs: nothing. */
void rig_pg_view_begin(struct rig_pg_views *views, uint32_t client);
/* The answer to a statement of operation `op`; `locked`: it read the newest version, whatever its snapshot was. The new
 * versions that an update made belong to the operation behind `op`. */
void rig_pg_view_take(struct rig_pg_views *views, uint32_t client, const struct rig_transaction *transaction,
                      uint32_t op, bool locked, const PGresult *result);
/* The transaction ended; gives it the side column `view` if its statements showed anything. */
void rig_pg_view_end(struct rig_pg_views *views, uint32_t client, struct rig_transaction *transaction, bool single,
                     bool standby);
/* Hands over all views, by number; RIG_E_LIMIT when memory runs out, RIG_E_DRIVER where an answer was not as expected.
 * */
enum rig_rc rig_pg_views_give(struct rig_pg_views *views, const struct rig_certificate_sink *sink, struct rig_err *err);

/* The number of 64 bits nearest to `near` whose lower 32 bits are `number`. */
uint64_t rig_pg_extend(uint64_t number, uint64_t near);

#endif
