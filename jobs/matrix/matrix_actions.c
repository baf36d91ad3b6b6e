/*
 * A matrix for GitHub Actions, with the forms that the reports of a run have: report/github.c has their sources.
 */
#include "jobs/matrix/matrix_report.h"
#include "report/report.h"
#include "report/tell.h"

static void say_cell(const struct rig_matrix_cell *cell, struct rig_buf *out)
{
    rig_matrix_say_job(cell->job, out);
    if (cell->scenario != NULL)
        rig_tell(out, ", %c", cell->scenario);
}

void rig_matrix_write_annotations(const struct rig_matrix_facts *facts, struct rig_buf *out)
{
    struct rig_buf title;
    rig_buf_init(&title, 0);
    for (size_t i = 0; i < facts->cells->count; i++) {
        const struct rig_matrix_cell *cell = &facts->cells->at[i];
        if (cell->state == RIG_MATRIX_HOLDS)
            continue;
        rig_buf_clear(&title);
        rig_tell(&title, "%c: ", facts->matrix->name);
        say_cell(cell, &title);
        rig_buf_printf(&title, ": %s", rig_matrix_state_words(cell->state));
        rig_report_annotation("error", rig_buf_text(&title), cell->detail, out);
    }
    rig_buf_done(&title);
}

/* Markdown passes HTML through, so the escaping of markup is enough inside these elements. */
void rig_matrix_write_summary(const struct rig_matrix_facts *facts, struct rig_buf *out)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_matrix_grid_say_counts(facts->grid, &text);
    rig_tell(out, "<h2>%h</h2>\n<p>%h.</p>\n", facts->matrix->name, rig_buf_text(&text));
    if (facts->ending != NULL)
        rig_tell(out, "<p>%h</p>\n", facts->ending);
    rig_buf_add_text(out, "<table>\n<tr><th>Cell</th><th>Server</th><th>Result</th><th>Reason</th></tr>\n");
    for (size_t i = 0; i < facts->cells->count; i++) {
        const struct rig_matrix_cell *cell = &facts->cells->at[i];
        const bool holds = cell->state == RIG_MATRIX_HOLDS;
        rig_buf_clear(&text);
        say_cell(cell, &text);
        rig_tell(out, "<tr><td>%h</td><td>%h</td><td>", rig_buf_text(&text), cell->server);
        rig_buf_clear(&text);
        rig_tell(&text, "%c", holds ? "" : cell->detail);
        rig_tell(out, "%s%h%s</td><td>%h</td></tr>\n", holds ? "" : "<b>", rig_matrix_state_words(cell->state),
                 holds ? "" : "</b>", rig_buf_text(&text));
    }
    rig_buf_add_text(out, "</table>\n");
    rig_buf_done(&text);
}
