/*
 * When keys leave a load of one or several phases: the schedules of the phases (generator/load_schedule.h), one after
 * the other, with the numbers that keys have in the whole load.
 *
 * A phase ends when its clients go on, wherever they are. Its keys that had not left by then are among the rest.
 * Threads: one a schedule.
 */
#ifndef RIG_GENERATOR_LOAD_SCHEDULE_H
#define RIG_GENERATOR_LOAD_SCHEDULE_H

#include "generator/application.h"
#include "generator/keys.h"

struct rig_generator_type;

/*
 * When keys leave the load: the same for all clients, as a pure function of (options, seed, client_count).
 *
 * A key that has left at a position is used by no transaction at that position of any stream, or after it. Keys leave
 * a rotating pool one by one; of an application, the inserted rows leave about two rounds after their insertion, its
 * standing rows never. Follows the shape of the load.
 *
 * Time: O(1) a key that leaves, O(log active_keys) of a pool. Threads: one a schedule.
 */

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

/* Key k of a phase is key k * stride + offset of the load. */
struct rig_phase_keys {
    int64_t stride, offset;
};

/* Phases of the shape `general`, and those of a bank, share their keys; every other phase has its own. */
struct rig_phase_keys rig_phase_keys_of(const struct rig_generator_options *const *phases, uint32_t phase_count,
                                        uint32_t phase);

struct rig_load_schedule {
    struct rig_key_schedule *phases;
    struct rig_phase_keys *keys; /* by phase */
    bool *is_shared;             /* by phase: its keys are those of other phases, too */
    int64_t shared_given;        /* of them: those below this were among the rest of an earlier phase */
    uint32_t phase_count;
    uint32_t present; /* phase */
};

/* `phases` and `client_counts` by phase. RIG_E_LIMIT. */
enum rig_rc rig_load_schedule_init(struct rig_load_schedule *schedule,
                                   const struct rig_generator_options *const *phases, const uint32_t *client_counts,
                                   uint32_t phase_count, uint64_t seed, struct rig_err *err);
/* Frees; safe after a failed or no init of a zeroed schedule. */
void rig_load_schedule_done(struct rig_load_schedule *schedule);

/* All clients have come to this position. Positions never go back. */
void rig_load_schedule_reach(struct rig_load_schedule *schedule, uint64_t position);
/* The position at which the next key of the present phase leaves. */
uint64_t rig_load_schedule_next(const struct rig_load_schedule *schedule);
/* Lets it leave, whenever it is due; returns it. */
int64_t rig_load_schedule_leave(struct rig_load_schedule *schedule);
/*
 * Gives one of the keys that the first `behind` transactions of a phase may have used and that have not left; false
 * when each was given. Keys that phases share are given once.
 */
bool rig_load_schedule_rest(struct rig_load_schedule *schedule, uint32_t phase, uint64_t behind, int64_t *key);

/*
 * Every key of the load is in [0, `*bound`), whichever clients issue the transactions; above `most` the bound is not
 * exact. Each phase has a number of transactions, or keys that stay. RIG_E_LIMIT.
 */
enum rig_rc rig_load_key_bound(const struct rig_generator_options *const *phases, const uint32_t *client_counts,
                               uint32_t phase_count, uint64_t seed, int64_t most, int64_t *bound, struct rig_err *err);

#endif
