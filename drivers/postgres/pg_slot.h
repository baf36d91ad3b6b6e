/*
 * The logical replication slot of a run's certificate, with the plugin pgoutput: it has the run's name, like its
 * publication, and is read through SQL in batches.
 *
 * Threads: one connection, one thread.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SLOT_H
#define RIG_DRIVERS_POSTGRES_PG_SLOT_H

#include "drivers/driver.h"
#include "drivers/postgres/pg_connection.h"

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

#endif
