/*
 * The certificate of a run on PostgreSQL: a logical replication slot with the plugin pgoutput, made before the first
 * session, and drained through SQL after the last one, in batches. The requests of
 * clients do not change.
 *
 * The slot and the publication have the run's name. While the slot exists the server keeps its log, so on given hosts
 * rig's journal reminds of it.
 *
 * On rig's own cluster each timeline has its slot (pg_certificate.h); the commits of former timelines that the next one
 * does not have are handed over as lost. Elsewhere the certificate ends with the timeline of its beginning.
 *
 * The certificate is complete if no timeline has a gap, the slot still exists on the server that takes writes, and
 * every session of the run's user had ended, and no prepared transaction was left, before the position up to which the
 * slot was drained.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_CERTIFICATE_H
#define RIG_DRIVERS_POSTGRES_PG_CERTIFICATE_H

#include "base/buf.h"
#include "drivers/postgres/pg_cluster.h"
#include "drivers/postgres/pg_connection.h"
#include "drivers/postgres/pg_schema.h"
#include "drivers/postgres/pg_view.h"

/*
 * The timelines of a run with a certificate on rig's own cluster. A slot is on one server and ends with its timeline,
 * so each promotion makes another one on the new primary before clients are sent there. The slot of a former primary is
 * read before its data are rewound or replaced: the messages are kept here until the certificate is made.
 *
 * Space: the messages of all timelines but the last, at most 1 GiB each. Threads: the one that changes roles (main,
 * then the nemesis's), then main.
 */

enum { RIG_PG_TIMELINES_MOST = 256, RIG_PG_GAP_BYTES = 200 };

struct rig_pg_timeline {
    uint32_t number;
    uint32_t node;           /* of the cluster; UINT32_MAX: a given host */
    uint64_t begin;          /* where it forked from the one before; of the first: 0 */
    uint64_t first_id;       /* a transaction's number when the slot was made, with 64 bits */
    struct rig_buf messages; /* the slot's, once it was read: of each its size, 4 bytes, and its bytes */
    bool read;
    char gap[RIG_PG_GAP_BYTES]; /* why its commits are not known; empty: they are */
};

struct rig_pg_timelines {
    const struct rig_run_env *env;
    struct rig_pg_timeline *at; /* owned */
    uint32_t count;
    bool overrun; /* there were more */
};

void rig_pg_timelines_init(struct rig_pg_timelines *timelines, const struct rig_run_env *env);
void rig_pg_timelines_done(struct rig_pg_timelines *timelines);

/* Makes them follow the cluster's changes of roles. */
void rig_pg_timelines_watch(struct rig_pg_timelines *timelines, struct rig_pg_cluster *cluster);

struct rig_pg_certificate {
    struct rig_pg_timelines timelines;
    uint64_t reminder; /* of the slot on given hosts; 0: none */
    bool made;         /* the server was asked to make publication and slot */
};

/* After the tables were made. `node`: of rig's own cluster, UINT32_MAX a given host. RIG_E_CLUSTER with the remedy. */
enum rig_rc rig_pg_certificate_begin(struct rig_pg_certificate *certificate, const struct rig_pg_schema *schema,
                                     const struct rig_run_env *env, uint32_t node, struct rig_pg_connection *connection,
                                     int64_t deadline_ns, struct rig_err *err);
/* See rig_driver.certify. */
enum rig_rc rig_pg_certificate_drain(struct rig_pg_certificate *certificate, struct rig_pg_views *views,
                                     const struct rig_pg_schema *schema, const struct rig_run_env *env,
                                     struct rig_pg_connection *connection, const struct rig_certificate_sink *sink,
                                     struct rig_err *err);
/* Removes slot and publication. */
enum rig_rc rig_pg_certificate_end(const struct rig_run_env *env, struct rig_pg_connection *connection,
                                   int64_t deadline_ns, struct rig_err *err);

#endif
