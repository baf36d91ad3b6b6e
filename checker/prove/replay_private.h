/* The state of a replay (replay.h), shared by its parts. */
#ifndef RIG_CHECKER_PROVE_REPLAY_PRIVATE_H
#define RIG_CHECKER_PROVE_REPLAY_PRIVATE_H

#include "checker/prove/replay.h"

struct rig_replay {
    const struct rig_facts *facts;
    const struct rig_history *history;
    enum rig_order_kind kind;
    bool in_time;  /* some level asks for the order of real time */
    bool internal; /* some level asks for agreement with the transaction's own operations */
    const uint32_t *events;
    size_t count;
    const struct rig_missed *missed; /* by `op` */
    size_t missed_count;
    uint32_t *times;                 /* per transaction: how often it stands in the order */
    uint32_t *at;                    /* per transaction: one more than its last place; 0: it does not stand there */
    uint32_t *first_version;         /* per key, and one more: into */
    struct rig_fact_write *versions; /* in the order of their commits */
    uint32_t *version; /* per operation that writes: the number of its version from 1; 0: it installs none */
    uint32_t *seen;    /* per operation that reads: the number of the version; RIG_FACT_NONE: nothing to compare */
    uint32_t *agreed;  /* lists, per key: number of elements of its spine that are its first versions */
    uint32_t *initial; /* registers, per key: one more than a read that shows the initial state; 0: none */
    struct rig_err *err;
};

static inline uint32_t rig_replay_version_count(const struct rig_replay *r, uint32_t key)
{
    return r->first_version[key + 1] - r->first_version[key];
}

/* The write of version `number`, from 1. */
static inline const struct rig_fact_write *rig_replay_version(const struct rig_replay *r, uint32_t key, uint32_t number)
{
    return &r->versions[r->first_version[key] + number - 1];
}

/* Finds the version that each read shows, by the versions of the order: fills in `seen`. */
enum rig_rc rig_replay_see(struct rig_replay *r);
/* A read that shows a set: exactly the elements committed before the event, and the transaction's own. `current`: per
 * key, how many are committed. */
enum rig_rc rig_replay_see_set(struct rig_replay *r, uint32_t txn, uint32_t op, uint32_t current);
/* The orders `commits` and `writes`. */
enum rig_rc rig_replay_flow(struct rig_replay *r);
enum rig_rc rig_replay_writes(struct rig_replay *r);
/* Instead of all of these, for histories of counters and banks: once all transactions stand in the order. */
enum rig_rc rig_replay_counters(struct rig_replay *r);
/* For histories of predicates, once all transactions stand in the order. */
enum rig_rc rig_replay_predicates(struct rig_replay *r);
/* For histories of objects. */
enum rig_rc rig_replay_objects(struct rig_replay *r);
/* Whether the order `commits`, which keeps that of processes or of real time, has no cycle of the form with one rw
 * edge. */
enum rig_rc rig_replay_single(struct rig_replay *r, enum rig_forbids forbids, enum rig_keeps keeps);

/* Where the transaction begins, for the order of processes or of real time. */
uint32_t rig_replay_begins(const struct rig_history *history, const struct rig_txn *txn, bool processes);
/* Whether the order that is kept puts the one before the other. */
bool rig_replay_precedes(const struct rig_history *history, enum rig_keeps keeps, uint32_t before, uint32_t after);
/* The transactions before each one in its process. NULL when memory runs out; free with rig_replay_before_free(). */
struct rig_replay_before *rig_replay_before_new(const struct rig_replay *r);
void rig_replay_before_free(struct rig_replay_before *before);
/* The transactions that precede this one in its process, without those that precede another one of them. */
void rig_replay_before_each(const struct rig_replay_before *before, uint32_t txn,
                            void (*take)(void *context, uint32_t txn), void *context);

#endif
