/*
 * Requests to one member as an operator would send them, through the same JSON gateway: its status, the leader, and the
 * cluster's maintenance.
 *
 * Each call opens a connection of its own. From any thread. RIG_E_CLUSTER with the member's answer.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_ADMIN_H
#define RIG_DRIVERS_ETCD_ETCD_ADMIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "drivers/driver.h"

/* The address of a member, and the time limit. */
struct rig_etcd_asked {
    const struct rig_core *core;
    uint16_t port;
    int64_t timeout_ns;
};

/* The status that a member reports. Numbers of members are 64 bits without a sign. */
struct rig_etcd_said {
    uint64_t member;
    uint64_t leader; /* 0: it knows none */
    int64_t revision;
    int64_t raft_index;
    int64_t applied_index;
    char version[32];
};

/* Sends `body` to `path`; `*answer` is a JSON object for the caller to release. Unchanged on failure. */
enum rig_rc rig_etcd_call(const struct rig_etcd_asked *asked, const char *path, const char *body, json_t **answer,
                          struct rig_err *err);
/* The gateway writes numbers of 64 bits as texts, and leaves out what is 0. */
uint64_t rig_etcd_number(const json_t *object, const char *name);
/* Whether it listens, with or without a leader. */
bool rig_etcd_answers(const struct rig_etcd_asked *asked);
enum rig_rc rig_etcd_say(const struct rig_etcd_asked *asked, struct rig_etcd_said *said, struct rig_err *err);

/* Moves the leadership; `asked` leads. */
enum rig_rc rig_etcd_move_leader(const struct rig_etcd_asked *asked, uint64_t to, struct rig_err *err);
/* Discards the history before the revision, and waits until it is gone from disk. */
enum rig_rc rig_etcd_compact(const struct rig_etcd_asked *asked, int64_t revision, struct rig_err *err);
/* Rewrites the member's file; it does not answer other requests meanwhile. */
enum rig_rc rig_etcd_defragment(const struct rig_etcd_asked *asked, struct rig_err *err);
enum rig_rc rig_etcd_remove_member(const struct rig_etcd_asked *asked, uint64_t member, struct rig_err *err);
/* Adds a member with this peer URL; its number is new. */
enum rig_rc rig_etcd_add_member(const struct rig_etcd_asked *asked, const char *peer_url, uint64_t *member,
                                struct rig_err *err);

#endif
