/*
 * Bisection along the axis of servers: which version is the first bad one, between a good and a bad one.
 *
 * A series is what the other axes select: a database, its plan, a level, a fault. In each series both ends are run, all
 * their runs; then the server in the middle, until a good one and a bad one are neighbours. A server is bad when one of
 * its runs has a forbidden anomaly: further runs cannot change that, so those of a middle one end there. It is good
 * when all of its runs hold. A run that is undecided, failed or was not run leaves the server, and the series, open: a
 * search that went on would name a version at random.
 *
 * An anomaly may come only sometimes, so that a good server is one that did not show it in all its runs. With the share
 * of bad runs at the bad end (and the lower end of its interval of 95 %), these runs miss it with a chance that the
 * result states.
 *
 * Time: O(log servers) servers a series. Threads: the calling one.
 */
#ifndef RIG_JOBS_MATRIX_BISECTION_H
#define RIG_JOBS_MATRIX_BISECTION_H

#include "base/json_write.h"
#include "jobs/matrix/matrix_cells.h"

enum rig_bisection_end {
    RIG_BISECTION_FOUND,    /* `good` and `bad` are neighbours */
    RIG_BISECTION_ALL_GOOD, /* both ends are */
    RIG_BISECTION_ALL_BAD,
    RIG_BISECTION_OPEN, /* `open` cannot be decided */
};

struct rig_bisection_server { /* in one series */
    uint32_t runs, bad_runs;  /* with a result; 0: it was not asked */
};

struct rig_bisection_series {
    const struct rig_matrix_job
        *job; /* one of its jobs: all values but the server and the run are those of the series */
    struct rig_bisection_server *servers; /* by the value of the axis */
    enum rig_bisection_end end;
    size_t good, bad, open; /* servers */
    const char *why_open;   /* the state of its run: "failed" */
};

struct rig_bisection {
    struct rig_bisection_series *series;
    size_t count;
};

struct rig_bisection_request {
    const struct rig_matrix *matrix;
    const char *from, *to; /* names of servers; NULL: the first, the last one */
    struct rig_arena *arena;
    /* Runs a job of the matrix, unless it has a result, and gives the worst state of its cells. */
    enum rig_rc (*run)(void *context, size_t job, enum rig_matrix_state *state, struct rig_err *err);
    void *context;
};

/* RIG_E_USAGE when there is no such server, or nothing between the two; RIG_E_LIMIT without memory; and what `run`
 * returns. */
enum rig_rc rig_bisection_find(const struct rig_bisection_request *request, struct rig_bisection *bisection,
                               struct rig_err *err);

/* 0: each series has its answer; 2: one is open. */
int rig_bisection_status(const struct rig_bisection *bisection);
/* A few lines for each series. */
void rig_bisection_say(const struct rig_bisection *bisection, struct rig_buf *out);
/* An array under the name "bisection". */
void rig_bisection_json(const struct rig_bisection *bisection, struct rig_json_writer *json);

#endif
