/*
 * A matrix as text, JSON, JUnit XML, annotations and summary of GitHub Actions, and one HTML page.
 *
 * Pure functions that add to a buffer. The page needs nothing beside it; it links to the folders of the runs.
 */
#ifndef RIG_JOBS_MATRIX_MATRIX_REPORT_H
#define RIG_JOBS_MATRIX_MATRIX_REPORT_H

#include "jobs/matrix/bisection.h"
#include "jobs/matrix/matrix_cells.h"

/*
 * The tables of a matrix: for loads, of each plan, servers × levels; for scenarios, databases at their levels ×
 * scenarios. One field has the cells of all runs (seeds) of its place.
 *
 * Memory: the caller's arena. Time: O(cells × labels).
 */

struct rig_matrix_table {
    const char *title;
    bool of_scenarios;
    struct rig_matrix_texts rows, columns;
    const struct rig_matrix_cell **cells; /* ordered by field */
    uint32_t *first;                      /* rows × columns + 1 entries: where a field's cells begin */
};

struct rig_matrix_grid {
    struct rig_matrix_table *tables;
    size_t table_count;
    uint32_t counts[RIG_MATRIX_STATE_COUNT]; /* of cells */
};

/* The text of one field comes from the worst of its cells. `runs` 0: the matrix has no such cell. */
struct rig_matrix_field {
    const struct rig_matrix_cell *worst;
    uint32_t runs, like_it; /* cells of the field, and those in the same state as the worst */
    bool is_shown;          /* of a scenario: in any run */
};

enum rig_rc rig_matrix_grid_init(const struct rig_matrix *matrix, const struct rig_matrix_cells *cells,
                                 struct rig_arena *arena, struct rig_matrix_grid *grid, struct rig_err *err);
struct rig_matrix_field rig_matrix_field_of(const struct rig_matrix_table *table, size_t row, size_t column);
/* "holds", "G2-item 3 (2 of 3 runs)"; a forbidden anomaly of a scenario and a failure in capitals. */
void rig_matrix_field_say(const struct rig_matrix_field *field, struct rig_buf *out);
/* "12 hold, 3 with anomalies, 1 failed". */
void rig_matrix_grid_say_counts(const struct rig_matrix_grid *grid, struct rig_buf *out);
/* 0 all hold; 1 anomalies; 3 something failed; 2 something is undecided or was not run. */
int rig_matrix_grid_status(const struct rig_matrix_grid *grid);

struct rig_matrix_facts {
    const struct rig_matrix *matrix;
    const struct rig_matrix_cells *cells;
    const struct rig_matrix_grid *grid;
    const char *folder, *started_utc;
    const char *ending;                    /* why some cells were not run; NULL: all were */
    const struct rig_bisection *bisection; /* NULL: there was none, or it has not ended */
    const struct rig_matrix_skipped *skipped;
    size_t skipped_count;
    unsigned columns; /* of the terminal; 0: rows may be of any length */
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
