/*
 * The state of a run over several ranks that run_ranks.c (the connections) and run_part.c (the run) share.
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_RANKS_STATE_H
#define RIG_RUN_LOAD_RUN_RANKS_STATE_H

#include <limits.h>
#include <pthread.h>

#include "history/merge/rank_clock.h"
#include "run/load/run_closing.h"
#include "run/load/run_name.h"
#include "run/load/run_ranks.h"
#include "run/load/run_result.h"

enum { RIG_RUN_RANKS_MOST = 64 };

struct rig_run_begin_word {
    uint8_t run[RIG_RANK_RUN_BYTES]; /* struct rig_rank */
    char run_name[RIG_RUN_NAME_BYTES];
};

/* How urgently all are to end, and why. */
struct rig_run_stop_word {
    int stop;         /* enum rig_run_stop */
    bool interrupted; /* by a signal */
    int anomaly;      /* enum rig_anomaly, by check.stop-on; RIG_ANOMALY_COUNT: none */
};

/* A rank above 0, on rank 0. */
struct rig_run_other {
    int record_fd, log_fd;   /* -1: none yet; -2: it cannot be written */
    uint64_t ok, fail, info; /* completed so far */
    struct rig_run_horizon horizon;
};

struct rig_run_ranks {
    struct rig_team *team;
    uint32_t rank, rank_count;
    char folder[PATH_MAX];
    struct rig_buf plan_yaml;        /* above rank 0: the plan, as rank 0 gave it */
    struct rig_run_begin_word begun; /*   and what it said when the database was set up */
    bool has_told_ready, has_told_ended;
    bool has_faults;                                 /* above rank 0: the plan has some, which rank 0 injects */
    pthread_mutex_t lock;                            /* guards what follows; nothing is locked under it */
    struct rig_run_state *run;                       /* NULL: there is none now */
    bool is_recording;                               /* its clients and its recorder are there */
    struct rig_run_stop_word asked;                  /* by other ranks, perhaps before there was a run */
    struct rig_run_other others[RIG_RUN_RANKS_MOST]; /* above rank 0: rank 0 tells the horizon of all others */
};

struct rig_run_counts_word {
    uint64_t ok, fail, info;
};

struct rig_run_result_word {
    struct rig_err err;
    struct rig_run_result result; /* without pointers that count */
};

/* The name of a rank's record in the folder of the run. */
void rig_run_ranks_record(uint32_t rank, char *name, size_t size);
/* The run begins, or ends: what other ranks ask for reaches it. */
void rig_run_ranks_attach(struct rig_run_ranks *ranks, struct rig_run_state *run);
void rig_run_ranks_detach(struct rig_run_ranks *ranks);

#endif
