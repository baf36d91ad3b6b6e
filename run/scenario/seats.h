/*
 * The sessions of a scenario, each in a thread of its own that waits for the steps it is told.
 *
 * Threads: `lock` guards the seats; `changed` is signalled whenever one of their members changes. The caller directs,
 * and the seats' threads play.
 */
#ifndef RIG_RUN_SCENARIO_SEATS_H
#define RIG_RUN_SCENARIO_SEATS_H

#include <pthread.h>
#include <stdint.h>

#include "drivers/driver.h"

enum { RIG_SEATS_MOST = 16, RIG_SEAT_NOTHING = -1, RIG_SEAT_TO_THE_END = -2 };

struct rig_seats;

struct rig_seat {
    struct rig_seats *seats;
    uint32_t number;
    pthread_t thread;
    void *session; /* the driver's; used by the thread alone, except to interrupt it */
    bool is_open;
    int order;        /* the step to run; RIG_SEAT_NOTHING; RIG_SEAT_TO_THE_END: leave */
    bool is_busy;     /* with `running` */
    uint32_t running; /* the step that began last */
    struct rig_err err;
};

struct rig_seats {
    const struct rig_driver *driver;
    void *driver_run;
    void (*play)(
        struct rig_seat *seat); /* in the seat's thread, until it is told to leave; the session is closed then */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t arrived; /* seats whose session was opened, or could not be */
    uint32_t count;   /* seats with a thread */
    struct rig_seat *at[RIG_SEATS_MOST];
};

/* Borrows all; rig_seats_done() ends it. */
void rig_seats_init(struct rig_seats *seats, const struct rig_driver *driver, void *driver_run,
                    void (*play)(struct rig_seat *seat));
void rig_seats_done(struct rig_seats *seats);

/* Opens a session in a thread; `seat` is zeroed and stays where it is. RIG_E_LIMIT: there is no memory or thread. */
enum rig_rc rig_seats_add(struct rig_seats *seats, struct rig_seat *seat, struct rig_err *err);
/* Waits until each session is open, or could not be opened; that one's error, with its name of `names`. */
enum rig_rc rig_seats_await(struct rig_seats *seats, const char *const *names, struct rig_err *err);
/* Tells all threads to leave, awaits them, and frees the sessions. */
void rig_seats_empty(struct rig_seats *seats);

/* In the seat's thread: the next step, which is `running` then. Negative: leave. */
int rig_seat_await(struct rig_seat *seat);

#endif
