/*
 * Reads the messages of pgoutput (PostgreSQL's documentation, "Logical Replication Message Formats", protocol version
 * 1) and hands the commits and the versions of the run's keys to the core.
 *
 * Only what the tables of a run can produce is read: two columns, k and v, with text values; of tables of rows three,
 * k, id and v, of which a removal has two. Anything else is an error, because a certificate that leaves something out
 * would accuse the database. Logical messages with the run's name as their prefix are marks of deletes: a table's key
 * and the delete's number (history/types/row_ops.h).
 *
 * Threads: one.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_STREAM_H
#define RIG_DRIVERS_POSTGRES_PG_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "drivers/driver.h"
#include "drivers/postgres/pg_connection.h"
#include "drivers/sql/sql_values.h"

/*
 * The logical replication slot of a run's certificate, with the plugin pgoutput: it has the run's name, like its
 * publication, and is read through SQL in batches.
 *
 * Threads: one connection, one thread.
 */

/* The first row's first column as a number in the base. */
enum rig_rc rig_pg_ask_number(struct rig_pg_connection *connection, const char *sql, int base, int64_t deadline_ns,
                              uint64_t *number, struct rig_err *err);
/* The timeline that the server writes. */
enum rig_rc rig_pg_ask_timeline(struct rig_pg_connection *connection, int64_t deadline_ns, uint32_t *timeline,
                                struct rig_err *err);

/* Makes the slot; `first_id` is a number that the server gives to a transaction about now, with 64 bits. */
enum rig_rc rig_pg_slot_create(struct rig_pg_connection *connection, const char *run_name, int64_t deadline_ns,
                               uint64_t *first_id, struct rig_err *err);
/* Removes it where there is one. */
enum rig_rc rig_pg_slot_drop(struct rig_pg_connection *connection, const char *run_name, int64_t deadline_ns,
                             struct rig_err *err);
/* Hands over each message that the server has logged before this call, and removes it from the slot. */
enum rig_rc rig_pg_slot_read(struct rig_pg_connection *connection, const struct rig_run_env *env,
                             enum rig_rc (*take)(void *context, const uint8_t *data, size_t size, struct rig_err *err),
                             void *context, struct rig_err *err);

enum { RIG_PG_STREAM_TABLES = 1000 };

struct rig_pg_stream {
    const struct rig_certificate_sink *sink; /* borrowed */
    bool is_list;
    const char *run_name; /* borrowed; NULL: there are no marks */
    bool is_rows; /* tables of rows: a version is a row's id and version, or its id and 0 where the row was removed */
    enum rig_sql_list_form form; /* of lists */
    uint32_t timeline;
    uint64_t from, until; /* commits at other places are not handed over; `until` 0: there is no end */
    bool lost;            /* a failover lost the commits */
    uint64_t last_place;  /* of the last commit that was handed over; earlier ones are repeated after a crash */
    bool skipped;         /* the transaction at hand was handed over before */
    bool begun;           /* its commit was handed over; a transaction without changes is not */
    uint64_t place, xid;
    uint64_t last_id; /* of the last transaction, with 64 bits: extends the 32 bits of the next one; before the first: a
                         number from the server */
    uint32_t tables[RIG_PG_STREAM_TABLES]; /* OIDs of known relations that are the run's */
    uint32_t table_count;
    int64_t *elements; /* owned */
    size_t element_capacity;
};

void rig_pg_stream_init(struct rig_pg_stream *stream, const struct rig_certificate_sink *sink);
void rig_pg_stream_done(struct rig_pg_stream *stream);
/* One message. RIG_E_CLUSTER for one that a run's tables do not produce, RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_pg_stream_take(struct rig_pg_stream *stream, const uint8_t *data, size_t size, struct rig_err *err);

#endif
