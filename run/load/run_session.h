/*
 * The session of one client: opened, interrupted, closed, and counted.
 *
 * A session has a process number of its own in the record, because a database's promises to a session end with it.
 *
 * Private to run/load/. Threads: the client's; rig_run_session_interrupt() from the monitor's, which also reads what is
 * atomic.
 */
#ifndef RIG_RUN_LOAD_RUN_SESSION_H
#define RIG_RUN_LOAD_RUN_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rig_run_client;
struct rig_run_state;

struct rig_run_session {
    _Atomic uint64_t opened, renewed, lost, ended;
    _Atomic uint64_t attempts, failures; /* to open one */
    _Atomic int64_t busy_since_ns;       /* monotonic start of the driver's call that is under way; 0: none */
    _Atomic bool connected;

    pthread_mutex_t lock; /* guards is_live against interrupts */
    bool is_live;         /* between the start of open and the end of close */

    void *object; /* the driver's */
    bool is_open;
    int64_t process;
    uint32_t failed_in_a_row;
    struct rig_err first_err; /* the first failure to connect */
};

/* RIG_E_LIMIT. Safe for rig_run_session_done() then. */
enum rig_rc rig_run_session_init(struct rig_run_session *session, const struct rig_run_state *run, uint32_t client,
                                 struct rig_err *err);
void rig_run_session_done(struct rig_run_session *session);

/* False when the client cannot connect; the reason is logged. */
bool rig_run_session_open(struct rig_run_client *client);
/* `last`: the client opens no further one in this phase. */
void rig_run_session_close(struct rig_run_client *client, bool last);
/* Interrupts the session if there is one. From the monitor's thread; does not block for long. */
void rig_run_session_interrupt(struct rig_run_client *client);

/* The driver's call that begins or, with 0, is over. */
static inline void rig_run_session_mark_busy(struct rig_run_session *session, int64_t since_ns)
{
    atomic_store_explicit(&session->busy_since_ns, since_ns, memory_order_relaxed);
}

#endif
