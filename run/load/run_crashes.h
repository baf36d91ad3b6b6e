/*
 * Servers of rig's own cluster that ended although rig did not end them, and the faults that may have ended them.
 *
 * A fault with RIG_FAULT_ENDS accounts for the end of its targets from its injection to its healing; with
 * RIG_FAULT_LASTS to the end of the run.
 *
 * Private to run/load/. Space: RIG_RUN_CRASHES_MOST are kept; the log has all. Threads: any.
 */
#ifndef RIG_RUN_LOAD_RUN_CRASHES_H
#define RIG_RUN_LOAD_RUN_CRASHES_H

#include <pthread.h>

#include "drivers/driver.h"
#include "nemesis/nemesis.h"

enum { RIG_RUN_CRASHES_MOST = 32, RIG_RUN_CRASH_LOG_BYTES = 604, RIG_RUN_CRASH_FAULT_BYTES = 32 };

struct rig_run_crash {
    char node[RIG_NODE_NAME_BYTES];
    int signal, exit_status; /* signal 0: it ended by itself */
    int64_t at_ns;           /* of the run's clock */
    char log_tail[RIG_RUN_CRASH_LOG_BYTES];
    char fault[RIG_RUN_CRASH_FAULT_BYTES]; /* that may have ended it; empty: none did */
};

/* An injection that accounts for the end of its targets. */
struct rig_run_ending_fault {
    uint64_t injection; /* 0: none */
    bool lasts;
    char fault[RIG_RUN_CRASH_FAULT_BYTES];
    char targets[RIG_NODES_MOST * (RIG_NODE_NAME_BYTES + 2)];
};

struct rig_run_crashes {
    pthread_mutex_t lock; /* guards what follows */
    struct rig_run_crash kept[RIG_RUN_CRASHES_MOST];
    uint32_t count;
    struct rig_run_ending_fault faults[RIG_NEMESIS_UNDER_WAY_MOST + RIG_NODES_MOST]; /* by slot; then those that last */
};

void rig_run_crashes_init(struct rig_run_crashes *crashes);
void rig_run_crashes_done(struct rig_run_crashes *crashes);
/* A step of a fault. `cluster`: the driver's, may be NULL. */
void rig_run_crashes_note_fault(struct rig_run_crashes *crashes, const struct rig_cluster_ops *cluster,
                                const struct rig_nemesis_event *event);
/* The service rig_core.server_ended. */
bool rig_run_crashes_note(struct rig_run_crashes *crashes, const struct rig_server_end *end);
/* Copies those that were kept; their time is then since the load began, and below 0 before that. `load_ns` 0: it did not
 * begin. Returns how many there are. */
uint32_t rig_run_crashes_take(struct rig_run_crashes *crashes, int64_t load_ns,
                              struct rig_run_crash taken[RIG_RUN_CRASHES_MOST]);

#endif
