/* A proof by cases on the page: a nested list, with the steps and the picture of each cycle. */
#include <stdlib.h>

#include "checker/explain/case_outline.h"
#include "report/html_parts.h"
#include "report/svg.h"
#include "report/tell.h"

enum { CASE_PICTURES = 12 };

static void add_cycle(struct rig_buf *out, const struct rig_witness *witness, const struct rig_history *history,
                      uint32_t line, bool picture)
{
    const struct rig_case *l = &witness->cases->lines[line];
    struct rig_witness cycle;
    rig_buf_add_text(out, "<ul>\n");
    for (uint32_t i = l->first_step; i < l->first_step + l->step_count; i++)
        rig_tell(out, "<li>%h</li>\n", witness->cases->steps[i].text);
    rig_buf_add_text(out, "</ul>\n");
    if (picture && rig_case_cycle(witness, line, &cycle)) {
        rig_buf_add_text(out, "<div class=\"scroll\">\n");
        rig_svg_witness(&cycle, history, false, out);
        rig_buf_add_text(out, "</div>\n");
        free(cycle.txns);
    }
    rig_tell(out, "<p>%h</p>\n", l->closing);
}

static void begin_item(struct rig_buf *out, const struct rig_cases *cases, const struct rig_case_place *places,
                       uint32_t line)
{
    struct rig_buf heading;
    rig_buf_init(&heading, 0);
    rig_case_heading(cases, places, line, &heading);
    rig_tell(out, "<li>%h\n", rig_buf_text(&heading));
    rig_buf_done(&heading);
}

void rig_html_cases(struct rig_buf *out, const struct rig_witness *witness, const struct rig_history *history)
{
    const struct rig_cases *cases = witness->cases;
    struct rig_case_place *places = rig_case_outline(cases);
    uint32_t pictures = 0;
    out->failed = out->failed || places == NULL;
    rig_buf_add_text(out, "<ul class=\"cases\">\n");
    for (uint32_t i = 0; places != NULL && i < cases->line_count; i++) {
        const bool is_item = places[i].number > 0 || places[i].within == UINT32_MAX;
        if (is_item)
            begin_item(out, cases, places, i);
        if (cases->lines[i].kind == RIG_CASE_SUPPOSE) {
            if (cases->lines[i + 1].kind == RIG_CASE_SUPPOSE)
                rig_buf_add_text(out, "<ul class=\"cases\">\n");
            continue;
        }
        add_cycle(out, witness, history, i, pictures++ < CASE_PICTURES);
        if (is_item)
            rig_buf_add_text(out, "</li>\n");
        if (places[i].other != UINT32_MAX)
            rig_buf_add_text(out, is_item ? "</ul></li>\n" : "</li>\n");
    }
    rig_buf_add_text(out, "</ul>\n");
    free(places);
}
