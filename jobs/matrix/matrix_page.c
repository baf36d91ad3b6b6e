/*
 * The page of a matrix: the tables first, then every run with its reason and its files. No script, no network.
 */
#include <inttypes.h>
#include <string.h>

#include "base/version.h"
#include "jobs/matrix/matrix_report.h"
#include "report/markup.h"
#include "report/plain_page.h"
#include "report/tell.h"

static const char *const classes[] = {[RIG_MATRIX_HOLDS] = "good",
                                      [RIG_MATRIX_NOT_RUN] = "none",
                                      [RIG_MATRIX_UNDECIDED] = "open",
                                      [RIG_MATRIX_FAILED] = "broken",
                                      [RIG_MATRIX_ANOMALIES] = "bad"};
static const char *const signs[] = {[RIG_MATRIX_HOLDS] = "\u2713",
                                    [RIG_MATRIX_NOT_RUN] = "\u00b7",
                                    [RIG_MATRIX_UNDECIDED] = "?",
                                    [RIG_MATRIX_FAILED] = "\u26a0",
                                    [RIG_MATRIX_ANOMALIES] = "\u2717"};

static size_t number_of(const struct rig_matrix_facts *facts, const struct rig_matrix_cell *cell)
{
    return (size_t)(cell - facts->cells->at) + 1;
}

static void add_field(const struct rig_matrix_facts *facts, const struct rig_matrix_table *table, size_t row,
                      size_t column, struct rig_buf *out)
{
    const struct rig_matrix_field field = rig_matrix_field_of(table, row, column);
    struct rig_buf word;
    if (field.runs == 0) {
        rig_buf_add_text(out, "<td></td>");
        return;
    }
    /* An anomaly that the level allows is no fault, and no protection either. */
    const enum rig_matrix_state state = field.worst->state;
    const bool allowed = state == RIG_MATRIX_HOLDS && field.is_shown;
    rig_buf_init(&word, 0);
    rig_matrix_field_say(&field, &word);
    rig_tell(out, "<td class=\"%s\"><a href=\"#c%d\" title=\"%h\"><span aria-hidden=\"true\">%s</span> %h</a></td>",
             allowed ? "allowed" : classes[state], number_of(facts, field.worst), field.worst->detail,
             allowed ? "\u25cb" : signs[state], rig_buf_text(&word));
    rig_buf_done(&word);
}

/* The version that answered in a row of the table; "" where none did. */
static const char *server_of(const struct rig_matrix_table *table, size_t row)
{
    const char *server = "";
    for (size_t column = 0; column < table->columns.count && server[0] == '\0'; column++) {
        const size_t place = row * table->columns.count + column;
        for (uint32_t i = table->first[place]; i < table->first[place + 1] && server[0] == '\0'; i++)
            server = table->cells[i]->server;
    }
    return server;
}

static void add_table(const struct rig_matrix_facts *facts, const struct rig_matrix_table *table, struct rig_buf *out)
{
    rig_tell(out, "<h2>%h</h2>\n<div class=\"wide\"><table class=\"grid\"><thead><tr><td></td>",
             table->of_scenarios ? "Scenarios" : table->title);
    for (size_t column = 0; column < table->columns.count; column++)
        rig_tell(out, "<th scope=\"col\">%h</th>", table->columns.at[column]);
    rig_buf_add_text(out, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < table->rows.count; row++) {
        rig_tell(out, "<tr><th scope=\"row\">%h<small>%h</small></th>", table->rows.at[row], server_of(table, row));
        for (size_t column = 0; column < table->columns.count; column++)
            add_field(facts, table, row, column, out);
        rig_buf_add_text(out, "</tr>\n");
    }
    rig_buf_add_text(out, "</tbody></table></div>\n");
}

static void add_legend(const struct rig_matrix_facts *facts, struct rig_buf *out)
{
    rig_buf_add_text(out, "<p class=\"key\"><span class=\"good\">\u2713 what was promised holds</span> "
                          "<span class=\"bad\">\u2717 an anomaly that a promised level forbids</span> "
                          "<span class=\"open\">? undecided</span> <span class=\"broken\">\u26a0 failed</span> "
                          "<span class=\"none\">\u00b7 not run</span>");
    for (size_t i = 0; i < facts->grid->table_count; i++) {
        if (facts->grid->tables[i].of_scenarios)
            rig_buf_add_text(out, " <span class=\"allowed\">\u25cb shown, and allowed there</span>");
    }
    rig_buf_add_text(out, "</p>\n");
    for (size_t i = 0; i < facts->grid->table_count; i++) {
        if (facts->grid->tables[i].of_scenarios)
            rig_buf_add_text(out,
                             "<p class=\"dim\">Scenarios: <b>shown</b> the answers show the anomaly; a code is the "
                             "error that prevented it; <b>waits</b> one session had to wait for another; "
                             "<b>no</b> neither.</p>\n");
    }
}

static void add_link(const struct rig_matrix_cell *cell, const char *file, const char *words, struct rig_buf *out)
{
    rig_tell(out, "<a href=\"cells/%h/%s\">%s</a> ", cell->job->id, file, words);
}

static void add_run(const struct rig_matrix_facts *facts, const struct rig_matrix_cell *cell, struct rig_buf *out)
{
    struct rig_buf name;
    rig_buf_init(&name, 0);
    rig_matrix_say_job(cell->job, &name);
    rig_tell(out, "<tr id=\"c%d\"><td class=\"%s\">%s</td><td>%h", number_of(facts, cell), classes[cell->state],
             rig_matrix_state_words(cell->state), rig_buf_text(&name));
    if (cell->scenario != NULL)
        rig_buf_add_text(out, ", <b>");
    rig_tell(out, "%h%s%h", cell->scenario, cell->scenario != NULL ? "</b></td><td>" : "</td><td>", cell->detail);
    if (cell->steps[0] != '\0')
        rig_tell(out, "<details><summary>steps</summary><pre>%h</pre></details>", cell->steps);
    rig_tell(out, "</td><td>%h</td><td class=\"n\">", cell->server);
    if (cell->scenario == NULL && cell->server[0] != '\0')
        rig_buf_printf(out, "%" PRIu64, cell->acknowledged);
    rig_buf_printf(out, "</td><td class=\"n\">%.1f s</td><td>", cell->seconds);
    if (cell->scenario == NULL && cell->server[0] != '\0')
        add_link(cell, "run/report.html", "report", out);
    if (cell->scenario != NULL && cell->steps[0] != '\0')
        add_link(cell, "scenarios.json", "JSON", out);
    if (cell->state != RIG_MATRIX_NOT_RUN)
        add_link(cell, "output.txt", "output", out);
    rig_buf_add_text(out, "</td></tr>\n");
    rig_buf_done(&name);
}

static void add_banner(const struct rig_matrix_facts *facts, struct rig_buf *out)
{
    const int status = rig_matrix_grid_status(facts->grid);
    struct rig_buf counts;
    rig_buf_init(&counts, 0);
    rig_matrix_grid_say_counts(facts->grid, &counts);
    rig_tell(out, "<header class=\"banner %s\"><h1>%h</h1><p>%h</p><p class=\"dim\">rig %s, started %h</p></header>\n",
             status == 0   ? "good"
             : status == 1 ? "bad"
             : status == 3 ? "broken"
                           : "open",
             facts->matrix->title == NULL ? facts->matrix->name : facts->matrix->title, rig_buf_text(&counts),
             rig_version(), facts->started_utc);
    rig_buf_done(&counts);
    if (facts->ending != NULL)
        rig_tell(out, "<p class=\"warn\">%h</p>\n", facts->ending);
    if (facts->bisection != NULL) {
        rig_buf_add_text(out, "<h2>Bisection</h2>\n<pre>");
        struct rig_buf text;
        rig_buf_init(&text, 0);
        rig_bisection_say(facts->bisection, &text);
        rig_markup_escape(out, rig_buf_text(&text));
        rig_buf_done(&text);
        rig_buf_add_text(out, "</pre>\n");
    }
}

void rig_matrix_write_page(const struct rig_matrix_facts *facts, struct rig_buf *out)
{
    rig_plain_page_begin(out, facts->matrix->name);
    add_banner(facts, out);
    for (size_t i = 0; i < facts->grid->table_count; i++)
        add_table(facts, &facts->grid->tables[i], out);
    add_legend(facts, out);
    rig_buf_add_text(out, "<h2>Runs</h2>\n<div class=\"wide\"><table class=\"runs\"><thead><tr><th>Result</th>"
                          "<th>Run</th><th>Reason</th><th>Server</th><th class=\"n\">Acknowledged</th>"
                          "<th class=\"n\">Took</th><th>Files</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < facts->cells->count; i++)
        add_run(facts, &facts->cells->at[i], out);
    rig_buf_add_text(out, "</tbody></table></div>\n");
    rig_plain_page_end(out);
}
