/*
 * The result of each job of a matrix, read from the job's folder: one cell for a load, one for each scenario.
 *
 * A cell holds only where the files of its run say so and its exit status agrees: a run that did not begin, did not
 * end, or whose files are missing or of another meaning is failed or not run, never held.
 *
 *   <folder>/cells/<id>/job.json         the exit status and the key, written when the job has ended
 *   <folder>/cells/<id>/output.txt       what the command printed
 *   <folder>/cells/<id>/run/             of a load: the folder of the run
 *   <folder>/cells/<id>/scenarios.json   of scenarios: their answers
 *   <folder>/cells/<id>/junit.xml        of scenarios, and of loads without one of their own
 */
#ifndef RIG_JOBS_MATRIX_MATRIX_CELLS_H
#define RIG_JOBS_MATRIX_MATRIX_CELLS_H

#include "base/buf.h"
#include "base/vec.h"
#include "jobs/matrix/matrix.h"

/* X(id, name, the words for a person), the worst last */
#define RIG_MATRIX_STATE_TABLE(X)                                                                                      \
    X(HOLDS, "holds", "holds")                                                                                         \
    X(NOT_RUN, "not-run", "not run")                                                                                   \
    X(UNDECIDED, "undecided", "undecided")                                                                             \
    X(FAILED, "failed", "failed")                                                                                      \
    X(ANOMALIES, "anomalies", "anomalies")

enum rig_matrix_state {
#define RIG_MATRIX_STATE_ENUM(id, name, words) RIG_MATRIX_##id,
    RIG_MATRIX_STATE_TABLE(RIG_MATRIX_STATE_ENUM)
#undef RIG_MATRIX_STATE_ENUM
        RIG_MATRIX_STATE_COUNT
};

const char *rig_matrix_state_name(enum rig_matrix_state state);
const char *rig_matrix_state_words(enum rig_matrix_state state);

/* How the command of a job ended. Only the last two are recorded; the others run again. */
enum rig_matrix_end {
    RIG_MATRIX_NOT_STARTED,
    RIG_MATRIX_STOPPED, /* by a signal, or at the end of the matrix's budget */
    RIG_MATRIX_OVERRAN, /* it was stopped at its limit */
    RIG_MATRIX_ENDED,
};

struct rig_matrix_ending {
    enum rig_matrix_end end;
    int status;     /* exit status; 128 + n: killed by signal n */
    double seconds; /* it took */
};

/* Texts lie in the arena that the reader was given. */
struct rig_matrix_cell {
    const struct rig_matrix_job *job;
    const char *scenario; /* NULL: a load */
    enum rig_matrix_state state;
    const char *word;   /* in the grid: "holds", "G2-item 3", "40001" */
    const char *detail; /* a sentence */
    const char *server; /* "PostgreSQL 15.8"; "" where it was not reached */
    const char *seed;   /* "" for scenarios */
    const char *steps;  /* of a scenario: its steps with their answers, a line each; "" otherwise */
    bool is_shown;      /* a scenario's anomaly, forbidden or not */
    uint64_t acknowledged;
    double seconds;
};

RIG_VEC(struct rig_matrix_cell, rig_matrix_cells)

/* Adds the cells of a job; RIG_E_LIMIT out of memory, nothing else is an error. */
enum rig_rc rig_matrix_read_cells(const char *folder, const struct rig_matrix_job *job,
                                  const struct rig_matrix_ending *ending, struct rig_arena *arena,
                                  struct rig_matrix_cells *cells, struct rig_err *err);

/*
 * The ending of a job that an earlier rig has recorded, if its key is this one: what made the job, as text. False:
 * there is none, or of another key. `key` NULL: of any key.
 */
bool rig_matrix_read_ending(const char *folder, const struct rig_matrix_job *job, const char *key,
                            struct rig_matrix_ending *ending);
enum rig_rc rig_matrix_write_ending(const char *folder, const struct rig_matrix_job *job, const char *key,
                                    const struct rig_matrix_ending *ending, struct rig_err *err);

#endif
