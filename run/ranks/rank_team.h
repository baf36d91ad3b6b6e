/*
 * The ranks of a run, or of a check: processes that a launcher of MPI started together, with one connection from each
 * to rank 0.
 *
 * MPI gives each rank its number and the address of rank 0, once (run/ranks/rank_seat.h); everything after that goes
 * over TCP, so that a rank that dies ends no other. Every connection begins with a greeting that shows the secret of
 * this job and the build of rig.
 *
 * A message of a kind above RIG_TEAM_STREAMED waits, one of a kind and rank, until rig_team_await() takes it. The
 * others go to the listener at once. All ranks measure the offset of their clock to rank 0's all the time
 * (run/ranks/clock_offsets.h).
 *
 * Threads: one a connection, which calls the listener; the functions below from any thread.
 */
#ifndef RIG_RUN_RANKS_RANK_TEAM_H
#define RIG_RUN_RANKS_RANK_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/ranks/clock_offsets.h"

struct rig_team;

enum rig_team_kind {
    RIG_TEAM_PING = 1, /* private to the team */
    RIG_TEAM_PONG,
    RIG_TEAM_STOP,    /* how urgently the run is to end */
    RIG_TEAM_COUNTS,  /* what has completed so far */
    RIG_TEAM_HORIZON, /* which keys are still used (run/load/run_closing.h) */
    RIG_TEAM_RECORD,  /* the next bytes of a rank's record */
    RIG_TEAM_LOG,     /* the next bytes of a rank's log */
    RIG_TEAM_STREAMED,
    RIG_TEAM_PLAN,   /* from rank 0: the plan */
    RIG_TEAM_BEGIN,  /* from rank 0: the database is set up */
    RIG_TEAM_READY,  /* the clients of a rank are at the gate */
    RIG_TEAM_GO,     /* from rank 0: the load begins */
    RIG_TEAM_ENDED,  /* the load of a rank has ended */
    RIG_TEAM_RESULT, /* the record of a rank is complete */
    RIG_TEAM_TASK,   /* from rank 0: a part of a check */
    RIG_TEAM_ANSWER, /* the result of a rank's part of a check */
    RIG_TEAM_STATUS, /* from rank 0: the exit status of all */
    RIG_TEAM_KINDS
};

struct rig_team_listener {
    void *context;
    /* On the thread of the connection; `body` is borrowed. */
    void (*heard)(void *context, uint32_t rank, enum rig_team_kind kind, const struct rig_buf *body);
};

/* Takes this process's seat. Before it has threads; it may fork afterwards, and one of both frees the team at once.
 * RIG_E_LIMIT, RIG_E_CLUSTER, RIG_E_IO. */
enum rig_rc rig_team_meet(struct rig_team **team, struct rig_err *err);
/* Connects; of rank 0: waits until every rank has. */
enum rig_rc rig_team_begin(struct rig_team *team, const struct rig_team_listener *listener, struct rig_err *err);
/* Rank 0: tells the others to end with this status, and waits until they have left, for some seconds at most. */
void rig_team_dismiss(struct rig_team *team, int status);
/* Takes NULL. Messages sent before arrive; a rank that has not ended finds the connection closed. */
void rig_team_free(struct rig_team *team);

uint32_t rig_team_rank(const struct rig_team *team);
uint32_t rig_team_ranks(const struct rig_team *team);

/* False: that rank is lost. */
bool rig_team_tell(struct rig_team *team, uint32_t rank, enum rig_team_kind kind, const void *body, size_t size);
/* From rank 0 to all others. */
void rig_team_tell_all(struct rig_team *team, enum rig_team_kind kind, const void *body, size_t size);
/* Waits for the message; `body` is NULL or filled. RIG_E_CLUSTER: that rank was lost, or has told its status. */
enum rig_rc rig_team_await(struct rig_team *team, uint32_t rank, enum rig_team_kind kind, struct rig_buf *body,
                           struct rig_err *err);
/* Another rank: waits until rank 0 ends, and says with which status all do. RIG_E_CLUSTER: rank 0 is lost. */
enum rig_rc rig_team_await_status(struct rig_team *team, int *status, struct rig_err *err);
/* NULL: it is there; else why it is lost. Valid as long as the team. */
const char *rig_team_lost(struct rig_team *team, uint32_t rank);
/* A copy of what is known of this rank's clock; `settle`: with the interval that is under way. Not on rank 0. */
void rig_team_clock(struct rig_team *team, bool settle, struct rig_clock_offsets *clock);
/* Whether a round trip has come back after that time; also when no more will. */
bool rig_team_clock_reaches(struct rig_team *team, int64_t at_ns);

/* Rank 0: `serve` gets connections that rig_team_call() made, each on a thread of its own, and closes none. */
void rig_team_serve(struct rig_team *team, void (*serve)(void *context, int fd, uint32_t client), void *context);
/* Rank 0: shuts these connections down and waits until every `serve` has returned. */
void rig_team_serve_no_more(struct rig_team *team);
/* Rank 0: the same for the connections of a rank that is lost. */
void rig_team_hang_up(struct rig_team *team, uint32_t rank);
/* Another rank: a connection to `serve` on rank 0; the caller closes it. RIG_E_CLUSTER. */
enum rig_rc rig_team_call(struct rig_team *team, uint32_t client, int *fd, struct rig_err *err);

#endif
