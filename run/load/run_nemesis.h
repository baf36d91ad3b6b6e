/*
 * The nemesis's place in a run: it starts when the clients are there, and what it does goes into the log, the record
 * and the progress line.
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_NEMESIS_H
#define RIG_RUN_LOAD_RUN_NEMESIS_H

#include <pthread.h>
#include <stdint.h>

#include "drivers/driver.h"
#include "nemesis/fault_setup.h"
#include "nemesis/nemesis.h"
#include "run/plan/plan.h"

struct rig_run_state;

/*
 * Servers of rig's own cluster that ended although rig did not end them, and the faults that may have ended them.
 *
 * A fault with RIG_FAULT_ENDS accounts for the end of its targets from its injection to its healing; with
 * RIG_FAULT_LASTS to the end of the run.
 *
 * Space: RIG_RUN_CRASHES_MOST are kept; the log has all. Threads: any.
 */

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

/* The service rig_core.server_ended. */
bool rig_run_crashes_note(struct rig_run_crashes *crashes, const struct rig_server_end *end);
/* Copies those that were kept; their time is then since the load began, and below 0 before that. `load_ns` 0: it did
 * not begin. Returns how many there are. */
uint32_t rig_run_crashes_take(struct rig_run_crashes *crashes, int64_t load_ns,
                              struct rig_run_crash taken[RIG_RUN_CRASHES_MOST]);

/* The transactions completed when an injection began, and when it took effect, by outcome. */
struct rig_run_under_fault {
    uint64_t begun[3], in_effect[3];
};

struct rig_run_faults {
    struct rig_fault_setup setup; /* of the plan's faults; from before the driver's init until its done */
    struct rig_nemesis *nemesis;  /* NULL: the plan has no faults */
    pthread_mutex_t lock;         /* an event is recorded, and a phase of the load begins, under it */
    struct rig_run_under_fault under[RIG_NEMESIS_UNDER_WAY_MOST]; /* by slot; the nemesis's own */
};

/* Starts the thread, when the plan has faults. Refuses faults that this cluster or machine cannot have: RIG_E_PLAN. */
enum rig_rc rig_run_nemesis_start(struct rig_run_state *run, struct rig_err *err);
/* The load is over: heals everything; unless the run is to end early, waits for the nodes. The nemesis's first error.
 */
enum rig_rc rig_run_nemesis_heal_all(struct rig_run_state *run, struct rig_err *err);
/* The transactions that have completed so far, by outcome. */
void rig_run_nemesis_count(const struct rig_run_state *run, uint64_t counts[3]);
/* When the cluster is down. */
void rig_run_nemesis_end(struct rig_run_state *run);

/* Refuses a plan's faults that cannot happen here; every one is named. RIG_E_PLAN. No I/O but looking at the machine.
 */
enum rig_rc rig_run_nemesis_check(const struct rig_plan *plan, struct rig_err *err);

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
