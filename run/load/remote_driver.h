/*
 * A driver whose sessions are on rank 0: each session is a connection, each transaction a question and an answer.
 *
 * Whatever database a plan names, the ranks of a run use it through rank 0's driver this way; the database sees
 * connections from rank 0 alone. Times of a driver with a clock of its own come with the answers. A name in a side
 * column is a number of rank 0's table, so columns of names are left out.
 *
 * A connection that ends during a transaction leaves its fate unknown.
 */
#ifndef RIG_RUN_LOAD_REMOTE_DRIVER_H
#define RIG_RUN_LOAD_REMOTE_DRIVER_H

#include <pthread.h>

#include "drivers/driver.h"
#include "run/ranks/rank_team.h"

/* The options object of the driver. */
struct rig_remote_options {
    struct rig_team *team;
};

/* The driver for plans of `original`, for ranks above 0. `driver` lives as long as both. */
void rig_remote_driver_init(struct rig_driver *driver, const struct rig_driver *original);

struct rig_run_state;

/* Rank 0: answers one session of another rank until its connection ends. For rig_team_serve(), with the run as its
 * context. */
void rig_remote_serve(void *run, int fd, uint32_t client);
/* Rank 0: interrupts every session that is served. From the monitor. */
void rig_remote_interrupt_all(struct rig_run_state *run);
/* Rank 0: a client of a lost rank, without a session, asks for nothing more (rig_driver.close). */
void rig_remote_retire(struct rig_run_state *run, uint32_t client);

/* The sessions that rank 0 serves. */
struct rig_served;
struct rig_served_list {
    pthread_mutex_t lock; /* guards `first`, and each session against its end */
    struct rig_served *first;
};

#endif
