/*
 * Threads: how they start, and how one wakes another.
 */
#ifndef RIG_BASE_THREAD_H
#define RIG_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Starts a thread of rig: it blocks signals, which are for the main thread, and shares the log of its starter.
 */

/* As pthread_create() with default attributes: 0, or an error number. */
int rig_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/*
 * Ends the waits of a session from another thread.
 *
 * Each client has an event descriptor, which its sessions poll beside what they wait for. The descriptors live as long
 * as the run: an interrupt that comes while its session closes wakes, at worst, the client's next session for nothing,
 * and is never written into a file that got the same number.
 *
 * Threads: rig_wake_raise() from any, at any time; the rest on the session's own.
 */

struct rig_wakes {
    int *at; /* by client */
    uint32_t count;
};

/* RIG_E_LIMIT; RIG_E_DRIVER when there are too few descriptors. Safe for rig_wakes_done() in any case. */
enum rig_rc rig_wakes_init(struct rig_wakes *wakes, uint32_t count, struct rig_err *err);
/* Takes a zeroed object. */
void rig_wakes_done(struct rig_wakes *wakes);

/* One session's; zeroed it has no descriptor, and can be raised already. */
struct rig_wake {
    atomic_bool raised;
    atomic_int fd_plus_one;
};

/* Takes the client's descriptor, and forgets what was meant for the session before. */
void rig_wake_arm(struct rig_wake *wake, const struct rig_wakes *wakes, uint32_t client);
/* The waits of this session end now and from now on. Never blocks. */
void rig_wake_raise(struct rig_wake *wake);
bool rig_wake_is_raised(const struct rig_wake *wake);
/* The descriptor to poll for reading; -1: it has none. */
int rig_wake_fd(const struct rig_wake *wake);
/* After a poll that saw the descriptor readable: empties it, unless it was this session that was meant. */
void rig_wake_settle(const struct rig_wake *wake);

#endif
