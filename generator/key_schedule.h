/*
 * When keys leave the load: the same for all clients, as a pure function of (options, seed, client_count).
 *
 * A key that has left at a position is used by no transaction at that position of any stream, or behind it. Keys leave
 * a rotating pool one by one; of an application, the inserted rows leave about two rounds after their insertion, its
 * standing rows never. Follows the shape of the load.
 *
 * Time: O(1) a key that leaves, O(log active_keys) of a pool. Threads: one a schedule.
 */
#ifndef RIG_GENERATOR_KEY_SCHEDULE_H
#define RIG_GENERATOR_KEY_SCHEDULE_H

#include "generator/application.h"
#include "generator/keys.h"

struct rig_generator_type;

struct rig_key_schedule {
    struct rig_key_pool pool;     /* of a load without an application */
    struct rig_app_layout layout; /* else; its application is NULL without one */
    /* For a type whose keys follow from the position, without pool and layout; else NULL. */
    const struct rig_generator_options *options;
    const struct rig_generator_type *type;
    uint32_t client_count;
    int64_t next_key; /* to leave */
    /* The inserted row that leaves next. */
    uint64_t round;
    uint32_t in_round, client;
    int64_t rest; /* keys in use that rig_key_schedule_rest() has given, without inserted rows */
};

/* Borrows the options. RIG_E_LIMIT. */
enum rig_rc rig_key_schedule_init(struct rig_key_schedule *schedule, const struct rig_generator_options *options,
                                  uint64_t seed, uint32_t client_count, struct rig_err *err);
/* Frees; safe after a failed or no init of a zeroed schedule. */
void rig_key_schedule_done(struct rig_key_schedule *schedule);

/* The position at which the next key leaves. */
uint64_t rig_key_schedule_next(const struct rig_key_schedule *schedule);
/* Lets the next key leave, whenever it is due; returns it. */
int64_t rig_key_schedule_leave(struct rig_key_schedule *schedule);
/*
 * Gives one of the keys that the transactions before `position` may have used and that have not left; false when each
 * was given. Rows that are only read are not among them. Afterwards no key may leave.
 */
bool rig_key_schedule_rest(struct rig_key_schedule *schedule, uint64_t position, int64_t *key);
/* Every key that the transactions before `position` have used is in [0, this); every move before it is done. */
int64_t rig_key_schedule_bound(const struct rig_key_schedule *schedule, uint64_t position);

#endif
