/*
 * Asking one member as an operator would, through the same JSON gateway: what it is, who leads, and the cluster's own
 * maintenance.
 *
 * Each call opens a connection of its own. From any thread. RIG_E_CLUSTER with the member's answer.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_ADMIN_H
#define RIG_DRIVERS_ETCD_ETCD_ADMIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "drivers/driver.h"

/* Where a member is asked, and for how long. */
struct rig_etcd_asked {
    const struct rig_core *core;
    uint16_t port;
    int64_t timeout_ns;
};

/* What a member says of itself. Numbers of members are 64 bits without a sign. */
struct rig_etcd_said {
    uint64_t member;
    uint64_t leader; /* 0: it knows none */
    int64_t revision;
    int64_t raft_index;
    int64_t applied_index;
    char version[32];
};

/* Sends `body` to `path`; `*answer` is a JSON object to be released. Left alone on failure. */
enum rig_rc rig_etcd_call(const struct rig_etcd_asked *asked, const char *path, const char *body, json_t **answer,
                          struct rig_err *err);
/* Whether it listens; of one without a leader, too. */
bool rig_etcd_answers(const struct rig_etcd_asked *asked);
enum rig_rc rig_etcd_say(const struct rig_etcd_asked *asked, struct rig_etcd_said *said, struct rig_err *err);

/* Moves the leadership; `asked` leads. */
enum rig_rc rig_etcd_move_leader(const struct rig_etcd_asked *asked, uint64_t to, struct rig_err *err);
/* Forgets what was before the revision, and waits until it is gone from disk. */
enum rig_rc rig_etcd_compact(const struct rig_etcd_asked *asked, int64_t revision, struct rig_err *err);
/* Rewrites the member's file; it does not answer others meanwhile. */
enum rig_rc rig_etcd_defragment(const struct rig_etcd_asked *asked, struct rig_err *err);
enum rig_rc rig_etcd_remove_member(const struct rig_etcd_asked *asked, uint64_t member, struct rig_err *err);
/* Adds a member that will be found at the peer URL; its number is new. */
enum rig_rc rig_etcd_add_member(const struct rig_etcd_asked *asked, const char *peer_url, uint64_t *member,
                                struct rig_err *err);

#endif
