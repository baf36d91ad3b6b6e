/*
 * Checking while the run goes on: a thread of low priority follows the record as it grows and gives each stretch to the
 * same code that checks a file afterwards, which keeps what is still alive and lets go of the rest. The clients and the
 * recorder do not know of it; it reads the bytes that are read again by `rig check`.
 *
 * When it falls behind, it catches up after the load. When something happened to a key that was thought to be done
 * with, or an assumption does not hold, it starts over while the load goes on, with what it knows now. When it cannot
 * go on (memory, or that has not helped), it says so in the log, and the record must be checked from its beginning:
 * nothing is lost but time.
 *
 * Threads: rig_online_found(), _checked(), _is_on() and _forbidden() from any; everything else from the one that
 * started it.
 */
#ifndef RIG_RUN_LOAD_ONLINE_H
#define RIG_RUN_LOAD_ONLINE_H

#include "base/err.h"
#include "checker/model/verdict.h"
#include "checker/model/watch.h"
#include "run/plan/plan.h"

struct rig_online;

struct rig_online_options {
    const char *path; /* of the record; its head is written */
    enum rig_workload workload;
    const struct rig_check_section *check; /* borrowed as long as the check lives */
    /* The record is one of several of the run: a value that none of its transactions wrote proves nothing, and there
     * will be no verdict: the check is not to be finished. */
    bool partial;
};

enum rig_rc rig_online_start(const struct rig_online_options *options, struct rig_online **online, struct rig_err *err);

/* How many of each anomaly were found so far, by enum rig_anomaly. */
void rig_online_found(const struct rig_online *online, uint64_t found[RIG_ANOMALY_COUNT]);
/* How many transactions were checked so far. */
uint64_t rig_online_checked(const struct rig_online *online);
/* False once it cannot go on. */
bool rig_online_is_on(const struct rig_online *online);
/* True once an anomaly was found that a requested level forbids, or that was requested itself: the first of them. */
bool rig_online_forbidden(const struct rig_online *online, enum rig_anomaly *anomaly);

/* The record is complete: the thread goes on to its end. */
void rig_online_settle(struct rig_online *online);
/*
 * After rig_online_settle(): checks what is left, on the caller's thread, and reports to `watch` (NULL: does not).
 * Gives the verdict, which lives no longer than `online`; NULL when there is none and the record must be checked from
 * its beginning (the log says why).
 */
struct rig_verdict *rig_online_finish(struct rig_online *online, const struct rig_check_watch *watch);
/* Stops and frees at any time. Takes NULL. */
void rig_online_free(struct rig_online *online);

#endif
