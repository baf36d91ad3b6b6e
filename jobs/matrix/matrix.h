/*
 * A matrix: plans or scenarios × servers × levels × faults × seeds, as a YAML file describes them (docs/matrix.md).
 *
 * A matrix has databases; each has its plans, the axes along which they vary, and settings. A value of an axis is a
 * name and settings of the plan, whichever axis it is on; servers, levels and faults have short forms. A job is what
 * one command runs: a plan, or all scenarios of a database, with one value of each axis.
 *
 * Everything lives in the matrix's arena. Errors: RIG_E_PLAN with the place in the file.
 */
#ifndef RIG_JOBS_MATRIX_MATRIX_H
#define RIG_JOBS_MATRIX_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum rig_matrix_axis { RIG_MATRIX_SERVERS, RIG_MATRIX_LEVELS, RIG_MATRIX_FAULTS, RIG_MATRIX_RUNS, RIG_MATRIX_AXES };

struct rig_matrix_texts {
    const char **at;
    size_t count;
};

struct rig_matrix_value {
    const char *name;                 /* for people; "" where the axis was not given */
    struct rig_matrix_texts settings; /* "database.isolation=serializable" */
    struct rig_matrix_texts promises; /* levels that must not be refuted here; none: those of the plan */
    const char *seed;                 /* on the axis of runs; NULL: a fresh one */
};

/* At least one value. */
struct rig_matrix_values {
    struct rig_matrix_value *at;
    size_t count;
};

struct rig_matrix_database {
    const char *name; /* "" where the matrix has only one and does not name it */
    struct rig_matrix_texts plans;
    struct rig_matrix_texts scenarios; /* files; none: the plans' loads run. With scenarios there is one plan */
    struct rig_matrix_texts settings;
    struct rig_matrix_values axes[RIG_MATRIX_AXES];
};

struct rig_matrix_job {
    const struct rig_matrix_database *database;
    const char *plan; /* path */
    const struct rig_matrix_value *values[RIG_MATRIX_AXES];
    const char *id; /* unique in the matrix; the name of its folder */
};

/* A level that the database does not have, so that no job of the matrix asks for it. */
struct rig_matrix_skipped {
    const struct rig_matrix_value *level;
    const char *reason;
};

struct rig_matrix {
    const char *name, *title; /* title: may be NULL */
    int64_t budget_ns;        /* for all jobs; 0: none */
    int64_t limit_ns;         /* for one job; 0: none */
    struct rig_matrix_database *databases;
    size_t database_count;
    struct rig_matrix_job *jobs; /* first runs before second ones, so that a spent budget leaves each cell something */
    size_t job_count;
    struct rig_arena arena;
};

enum { RIG_MATRIX_JOBS_MOST = 10000, RIG_MATRIX_ID_BYTES = 160 };

/* Paths in the file count from its folder. Free with rig_matrix_free(). */
enum rig_rc rig_matrix_load(const char *path, struct rig_matrix **matrix, struct rig_err *err);
void rig_matrix_free(struct rig_matrix *matrix);

/* The settings of a job in the order in which they apply, each a `--set`; in the matrix's arena. */
enum rig_rc rig_matrix_job_settings(struct rig_matrix *matrix, const struct rig_matrix_job *job,
                                    struct rig_matrix_texts *settings, struct rig_err *err);

#endif
