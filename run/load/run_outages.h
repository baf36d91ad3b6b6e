/*
 * Failures to connect, as the log tells them: the first of a kind with its text, and then how many were like it, so
 * that clients which try again and again while a fault lasts do not bury what else the log has to say.
 *
 * Two texts are of one kind when they differ in digits only (ports, process ids). A kind is told again when it comes
 * back RIG_OUTAGE_QUIET_NS after it was told last.
 *
 * Space: RIG_OUTAGE_KINDS kinds; a further one takes the place of the one that was told the longest ago.
 * Threads: any; the log's lock is taken under this one's.
 */
#ifndef RIG_RUN_LOAD_RUN_OUTAGES_H
#define RIG_RUN_LOAD_RUN_OUTAGES_H

#include <pthread.h>
#include <stdint.h>

enum { RIG_OUTAGE_KINDS = 8, RIG_OUTAGE_TEXT_BYTES = 400 };
#define RIG_OUTAGE_QUIET_NS INT64_C(10000000000)

struct rig_run_outage {
    char text[RIG_OUTAGE_TEXT_BYTES]; /* the latest */
    uint64_t untold;                  /* how many came since it was told */
    int64_t told_ns;
};

struct rig_run_outages {
    pthread_mutex_t lock; /* guards what follows */
    struct rig_run_outage kinds[RIG_OUTAGE_KINDS];
    uint32_t count;
};

void rig_run_outages_init(struct rig_run_outages *outages);
/* The client could not connect, at that monotonic time. */
void rig_run_outages_note(struct rig_run_outages *outages, uint32_t client, const char *text, int64_t now_ns);
/* Tells what is left to tell. */
void rig_run_outages_flush(struct rig_run_outages *outages);
void rig_run_outages_done(struct rig_run_outages *outages);

#endif
