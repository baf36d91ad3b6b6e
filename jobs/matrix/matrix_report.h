/*
 * A matrix as text, JSON, JUnit XML, annotations and summary of GitHub Actions, and one HTML page.
 *
 * Pure functions that add to a buffer. The page needs nothing beside it; it links to the folders of the runs.
 */
#ifndef RIG_JOBS_MATRIX_MATRIX_REPORT_H
#define RIG_JOBS_MATRIX_MATRIX_REPORT_H

#include "jobs/matrix/bisection.h"
#include "jobs/matrix/matrix_grid.h"

struct rig_matrix_facts {
    const struct rig_matrix *matrix;
    const struct rig_matrix_cells *cells;
    const struct rig_matrix_grid *grid;
    const char *folder, *started_utc;
    const char *ending;                    /* why some cells were not run; NULL: all were */
    const struct rig_bisection *bisection; /* NULL: there was none, or it has not ended */
    const struct rig_matrix_skipped *skipped;
    size_t skipped_count;
};

void rig_matrix_write_text(const struct rig_matrix_facts *facts, struct rig_buf *out);
void rig_matrix_write_json(const struct rig_matrix_facts *facts, struct rig_buf *out);
/* The cells of one job, or all of them with NULL. A cell that has no result is an error, never a success or a skip. */
void rig_matrix_write_junit(const struct rig_matrix_facts *facts, const struct rig_matrix_job *job,
                            struct rig_buf *out);
/* For GitHub Actions: an annotation for each cell that does not hold, a line each; the summary of a step. */
void rig_matrix_write_annotations(const struct rig_matrix_facts *facts, struct rig_buf *out);
void rig_matrix_write_summary(const struct rig_matrix_facts *facts, struct rig_buf *out);
void rig_matrix_write_page(const struct rig_matrix_facts *facts, struct rig_buf *out);

/* "PostgreSQL 15, read committed, kill, seed 7": what the job is, for people. */
void rig_matrix_say_job(const struct rig_matrix_job *job, struct rig_buf *out);

#endif
