/*
 * The timelines of a run with a certificate on rig's own cluster. A slot is on one server and ends with its timeline,
 * so each promotion makes another one on the new primary before clients are sent there. The slot of a former primary is
 * read before its data are rewound or replaced: the messages are kept here until the certificate is made.
 *
 * Space: the messages of all timelines but the last, at most 1 GiB each. Threads: the one that changes roles (main, then
 * the nemesis's), then main.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_TIMELINES_H
#define RIG_DRIVERS_POSTGRES_PG_TIMELINES_H

#include "base/buf.h"
#include "drivers/postgres/pg_cluster.h"

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

/* A server begins a timeline at a place; the caller makes its slot and fills in `first_id` or `gap`. NULL when memory runs
 * out, or there are too many: then the certificate ends there. */
struct rig_pg_timeline *rig_pg_timelines_add(struct rig_pg_timelines *timelines, uint32_t number, uint32_t node,
                                             uint64_t begin);
/* Makes them follow the cluster's changes of roles. */
void rig_pg_timelines_watch(struct rig_pg_timelines *timelines, struct rig_pg_cluster *cluster);
/* Hands over the messages that were kept of a timeline. */
enum rig_rc rig_pg_timeline_replay(const struct rig_pg_timeline *timeline,
                                   enum rig_rc (*take)(void *context, const uint8_t *data, size_t size,
                                                       struct rig_err *err),
                                   void *context, struct rig_err *err);

#endif
