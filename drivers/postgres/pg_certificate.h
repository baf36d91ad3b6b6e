/*
 * The certificate of a run on PostgreSQL: a logical replication slot with the plugin pgoutput, made before the first
 * session, and drained through SQL after the last one, in batches. The requests of
 * clients do not change.
 *
 * The slot and the publication have the run's name. While the slot exists the server keeps its log, so on given hosts
 * rig's journal reminds of it.
 *
 * The certificate is complete if the slot still exists on the server that takes writes, on the timeline of its
 * beginning, and every session of the run's user had ended, and no prepared transaction was left, before the position up
 * to which the slot was drained.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_CERTIFICATE_H
#define RIG_DRIVERS_POSTGRES_PG_CERTIFICATE_H

#include "drivers/postgres/pg_connection.h"
#include "drivers/postgres/pg_schema.h"
#include "drivers/postgres/pg_view.h"

struct rig_pg_certificate {
    uint32_t timeline;
    uint64_t first_id; /* a transaction's number at the beginning, with 64 bits */
    uint64_t reminder; /* of the slot on given hosts; 0: none */
    bool made;         /* the server was asked to make publication and slot */
};

/* After the tables were made. RIG_E_CLUSTER with the remedy. */
enum rig_rc rig_pg_certificate_begin(struct rig_pg_certificate *certificate, const struct rig_pg_schema *schema,
                                     const struct rig_run_env *env, struct rig_pg_connection *connection,
                                     int64_t deadline_ns, struct rig_err *err);
/* See rig_driver.certify. */
enum rig_rc rig_pg_certificate_drain(const struct rig_pg_certificate *certificate, struct rig_pg_views *views,
                                     const struct rig_pg_schema *schema, const struct rig_run_env *env,
                                     struct rig_pg_connection *connection, const struct rig_certificate_sink *sink,
                                     struct rig_err *err);
/* Removes slot and publication. */
enum rig_rc rig_pg_certificate_end(const struct rig_run_env *env, struct rig_pg_connection *connection,
                                   int64_t deadline_ns, struct rig_err *err);

#endif
