/*
 * The part of a run that this process does, when several ranks do it together (run/load/run_ranks.h).
 *
 * Clients are numbered over all ranks, and each rank has some in a row. Streams, unique values, schedules and process
 * numbers depend on a client's number and on the number of all clients, so they are the same on any number of ranks.
 * Rank 0 alone has the cluster, the tables, the nemesis and the final reads. Closing reads (run_closing.h) need the
 * positions of all clients, which the ranks tell each other in each tick of their monitors. With simulated time there
 * are none, and the final reads take every key.
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_PART_H
#define RIG_RUN_LOAD_RUN_PART_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "history/merge/rank_facts.h"
#include "run/load/run_closing.h"
#include "run/load/run_folder.h"
#include "run/load/run_ranks.h"
#include "run/load/run_result.h"

struct rig_run_state;
struct rig_run_result;
struct rig_run_ranks;

struct rig_run_part {
    struct rig_run_ranks *ranks; /* NULL: this process does all of it */
    uint32_t rank, rank_count;
    uint32_t first_client, all_clients;
    int64_t origin_ns;           /* of the record's times; 0: from opening */
    struct rig_key_numbers keys; /* that clients of other ranks used; rank 0 */
    struct rig_rank place;       /* as the record has it */
    pthread_mutex_t clock_lock;  /* one thread at a time gives samples to the recorder; locked before any other */
    int64_t told_clock_ns;       /* the last sample of the clock that the recorder has */
    bool has_told_clock;
    uint32_t told_steps; /* how many steps of a clock the log has */
    int told_stop;       /* enum rig_run_stop, by the monitor */
    uint64_t lost;       /* bits: ranks that the monitor has found lost */
};

/* The first client of a rank: the clients are dealt out in blocks that differ by one at most. */
uint32_t rig_run_part_first(uint32_t clients, uint32_t rank, uint32_t rank_count);
/* Gives this rank its clients. */
void rig_run_part_init(struct rig_run_state *run);
void rig_run_part_done(struct rig_run_state *run);
/* The run's name on servers, which rank 0 makes. RIG_E_IO. */
enum rig_rc rig_run_part_name(struct rig_run_state *run, struct rig_err *err);
/* Makes the folder for the driver's files; above rank 0 it is the one of the record, whose owner removes it.
 * RIG_E_IO. */
enum rig_rc rig_run_part_folder(struct rig_run_state *run, struct rig_err *err);
/* The name of this rank's record. */
void rig_run_part_record(const struct rig_run_state *run, char *name, size_t size);
/* The plan as the record keeps it. */
void rig_run_part_plan(const struct rig_run_state *run, struct rig_buf *yaml);
/* This rank's share of `transactions` that `clients` issue, when it has `own` of the clients. */
int64_t rig_run_part_share(const struct rig_run_state *run, int64_t transactions, uint32_t clients, uint32_t own);

/* The place of this rank for the recorder; NULL: there is no other rank. Before the recorder is opened. */
const struct rig_rank *rig_run_part_place(struct rig_run_state *run);
/* Before the recorder is closed: measures the clock a last time. */
void rig_run_part_close_record(struct rig_run_state *run);

/* The database is set up and the record open. Rank 0: the others may connect. */
void rig_run_part_begin(struct rig_run_state *run);
/* The clients of this rank are at the gate, or `rc` says why not. Waits for those of all ranks. RIG_E_CLUSTER. */
enum rig_rc rig_run_part_gather(struct rig_run_state *run, enum rig_rc rc, struct rig_err *err);
/* The load of this rank has ended. Rank 0: waits for the others. RIG_E_LIMIT. */
enum rig_rc rig_run_part_load_ended(struct rig_run_state *run, struct rig_err *err);
/* The record of this rank is closed. Rank 0: adds the results of the others. RIG_E_CLUSTER: a rank was lost or
 * failed. */
enum rig_rc rig_run_part_finish(struct rig_run_state *run, struct rig_run_result *result, struct rig_err *err);
/* From the monitor, at each look. */
void rig_run_part_watch(struct rig_run_state *run);
/* Whether the plan has no faults, on any rank, and no rank was lost. */
bool rig_run_part_is_whole(const struct rig_run_state *run);
/* Adds what clients of other ranks have completed so far. */
void rig_run_part_count(const struct rig_run_state *run, uint64_t *ok, uint64_t *fail, uint64_t *info);

/*
 * The state of a run over several ranks that run_ranks.c (the connections) and run_part.c (the run) share.
 */

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
    struct rig_buf plan_yaml;        /* above rank 0: the plan that rank 0 gave */
    struct rig_run_begin_word begun; /* above rank 0: rank 0's message when the database was set up */
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
