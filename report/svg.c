#include "report/svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/explain/case_outline.h"
#include "report/markup.h"
#include "report/report.h"
#include "report/svg_layout.h"
#include "report/svg_timeline.h"
#include "report/words.h"

#define TITLE_HEIGHT   74.0
#define NOTE_LINE      18.0
#define TIP_LENGTH     10.0
#define TIP_HALF_WIDTH 5.0

enum { NOTE_LINES_MAX = 8 };

static const char *const style[] = {
    ".rig-svg{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}",
    ".rig-svg .bg{fill:#ffffff}.rig-svg text{fill:#1f2328;font-size:12px}",
    ".rig-svg .title{font-size:19px;font-weight:700}.rig-svg .dim{fill:#59636e}",
    ".rig-svg .box{fill:#f6f8fa;stroke:#8c959f;stroke-width:1.4}.rig-svg .boxfill{fill:#f6f8fa;stroke:none}",
    ".rig-svg .side{fill:none;stroke:#8c959f;stroke-width:1.4}.rig-svg .openside{stroke-dasharray:3 4}",
    ".rig-svg .name{font-size:15px;font-weight:700}",
    ".rig-svg .op,.rig-svg .lane{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}",
    ".rig-svg .op{fill:#6e7781}.rig-svg .op.strong{fill:#1f2328;font-weight:700}.rig-svg .mark{fill:#fff0b3}",
    ".rig-svg .lane{fill:#59636e;font-weight:600}.rig-svg .lanebg{fill:#eef1f4}.rig-svg .axis{stroke:#8c959f}",
    ".rig-svg .plumb{fill:none;stroke:#57606a;stroke-width:1.3;stroke-dasharray:2 4}",
    ".rig-svg .pause{fill:none;stroke:#57606a;stroke-width:4}.rig-svg .bound{font-weight:700}",
    ".rig-svg .edge{fill:none;stroke-width:2}.rig-svg .pill{fill:#ffffff;stroke-width:1.4}",
    ".rig-svg .kind{font-weight:700}",
    ".rig-svg .ww{stroke:#8250df}.rig-svg .wr{stroke:#1a7f37}.rig-svg .rw{stroke:#cf222e}",
    ".rig-svg .order{stroke:#57606a;stroke-dasharray:7 5}",
    ".rig-svg .odd{stroke:#bc4c00}.rig-svg .tip.odd{fill:#bc4c00}",
    ".rig-svg .bar{fill:#d0e3fa;stroke:#4d7fb8;stroke-width:1.3}.rig-svg .fade{fill:#d0e3fa}",
    ".rig-svg .bar.blocked{fill:#ffd8d5;stroke:#cf222e;stroke-width:2.4}.rig-svg .order-number{fill:#0550ae}",
    ".rig-svg .moment{fill:none;stroke:#cf222e;stroke-width:1.5;stroke-dasharray:5 4}",
    ".rig-svg .tip{stroke:none}.rig-svg .tip.ww{fill:#8250df}.rig-svg .tip.wr{fill:#1a7f37}",
    ".rig-svg .tip.rw{fill:#cf222e}.rig-svg .tip.order{fill:#57606a}.rig-svg .pill.order{stroke-dasharray:none}",
    "@media(prefers-color-scheme:dark){.rig-svg .bg{fill:#0d1117}.rig-svg text{fill:#e6edf3}",
    ".rig-svg .dim{fill:#9198a1}.rig-svg .box{fill:#161b22;stroke:#6e7681}.rig-svg .boxfill{fill:#161b22}",
    ".rig-svg .side{stroke:#6e7681}.rig-svg .op{fill:#8b949e}.rig-svg .op.strong{fill:#f0f6fc}",
    ".rig-svg .mark{fill:#5a4706}.rig-svg .lane{fill:#9198a1}.rig-svg .lanebg{fill:#11161d}",
    ".rig-svg .pill{fill:#0d1117}.rig-svg .ww{stroke:#bc8cff}.rig-svg .wr{stroke:#3fb950}",
    ".rig-svg .rw{stroke:#ff7b72}.rig-svg .order{stroke:#9198a1}.rig-svg .tip.ww{fill:#bc8cff}",
    ".rig-svg .tip.wr{fill:#3fb950}.rig-svg .tip.rw{fill:#ff7b72}.rig-svg .tip.order{fill:#9198a1}",
    ".rig-svg .plumb,.rig-svg .pause{stroke:#9198a1}",
    ".rig-svg .bar{fill:#14304f;stroke:#58a6ff}.rig-svg .fade{fill:#14304f}.rig-svg .order-number{fill:#79c0ff}",
    ".rig-svg .bar.blocked{fill:#5d1215;stroke:#ff7b72}.rig-svg .moment{stroke:#ff7b72}",
    ".rig-svg .odd{stroke:#f0883e}.rig-svg .tip.odd{fill:#f0883e}.rig-svg .tip{stroke:none}}",
};

void rig_svg_style(struct rig_buf *out)
{
    for (size_t i = 0; i < sizeof style / sizeof style[0]; i++) {
        rig_buf_add_text(out, style[i]);
        rig_buf_add_char(out, '\n');
    }
}

/* The class that colours an edge. */
static const char *edge_class(const struct rig_svg_edge *edge)
{
    if (edge->odd)
        return "odd";
    if (edge->step == NULL || edge->step->kind == RIG_EDGE_PROCESS || edge->step->kind == RIG_EDGE_REALTIME)
        return "order";
    return rig_words_edge(edge->step->kind);
}

static void add_text(struct rig_buf *out, const char *class, double x, double y, const char *text)
{
    rig_buf_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" xml:space=\"preserve\">", class, x, y);
    rig_markup_escape(out, text);
    rig_buf_add_text(out, "</text>\n");
}

static void add_lanes(struct rig_buf *out, const struct rig_svg_layout *layout)
{
    for (uint32_t i = 0; i < layout->lane_count; i++) {
        const struct rig_svg_lane *lane = &layout->lanes[i];
        rig_buf_printf(out, "<rect class=\"lanebg\" x=\"0\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", lane->y - 7,
                       layout->width, lane->height + 14);
        rig_buf_printf(out, "<text class=\"lane\" x=\"14\" y=\"%.1f\">process</text>", lane->y + lane->height / 2 - 3);
        rig_buf_printf(out, "<text class=\"lane\" x=\"14\" y=\"%.1f\">%" PRId32 "</text>\n",
                       lane->y + lane->height / 2 + 13, lane->process);
    }
    if (layout->lane_count == 0)
        return;
    rig_buf_printf(out, "<path class=\"axis\" fill=\"none\" d=\"M%.1f %.1fH%.1f", layout->left, layout->axis_y,
                   layout->width - 5);
    rig_buf_add_text(out, "l-7 -4m7 4l-7 4");
    for (uint32_t i = 0; i < layout->tick_count; i++)
        rig_buf_printf(out, "M%.1f %.1fv8", layout->ticks[i], layout->axis_y - 4);
    rig_buf_add_text(out, "\"/>\n");
    add_text(out, "dim", layout->left, layout->axis_y + (layout->pause_count > 0 ? 36 : 18),
             "time (order of events, not to scale)");
}

/* "T17 done" up to `x`, or "T23 began" from there on. */
static void add_pause_name(struct rig_buf *out, const struct rig_history *history, uint32_t txn, bool done, double x,
                           double y)
{
    rig_buf_printf(out, "<text class=\"bound\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
                   done ? "end" : "start");
    rig_words_txn(out, history, txn);
    rig_buf_add_text(out, done ? " done</text>" : " began</text>\n");
}

/* Plumb lines from the two boxes to the axis, and between them on the axis an arrow: this one ended, then that began.
 */
static void add_pauses(struct rig_buf *out, const struct rig_history *history, const struct rig_svg_layout *layout)
{
    for (uint32_t i = 0; i < layout->pause_count; i++) {
        const struct rig_svg_pause *pause = &layout->pauses[i];
        rig_buf_printf(out, "<path class=\"plumb\" d=\"M%.1f %.1fV%.1fM%.1f %.1fV%.1f\"/>\n", pause->from_x,
                       pause->from_y, layout->axis_y, pause->to_x, pause->to_y, layout->axis_y);
        rig_buf_printf(out, "<path class=\"pause\" d=\"M%.1f %.1fH%.1f\"/>\n", pause->from_x, layout->axis_y,
                       pause->to_x - TIP_LENGTH);
        rig_buf_printf(out, "<path class=\"tip order\" d=\"M%.1f %.1fl%.1f %.1fv%.1fZ\"/>\n", pause->to_x,
                       layout->axis_y, -TIP_LENGTH - 2, -TIP_HALF_WIDTH - 1, 2 * TIP_HALF_WIDTH + 2);
        add_pause_name(out, history, pause->from_txn, true, pause->from_x + 4, layout->axis_y + 18);
        add_pause_name(out, history, pause->to_txn, false, pause->to_x - 4, layout->axis_y + 18);
    }
}

static void add_box_shape(struct rig_buf *out, const struct rig_svg_box *box)
{
    if (!box->open) {
        rig_buf_printf(out, "<rect class=\"box\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"7\"/>\n",
                       box->x, box->y, box->width, box->height);
        return;
    }
    rig_buf_printf(out, "<rect class=\"boxfill\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"7\"/>\n",
                   box->x, box->y, box->width, box->height);
    rig_buf_printf(out, "<path class=\"side\" d=\"M%.1f %.1fh%.1fq-7 0 -7 7v%.1fq0 7 7 7h%.1f\"/>\n",
                   box->x + box->width, box->y, 7 - box->width, box->height - 14, box->width - 7);
    rig_buf_printf(out, "<path class=\"side openside\" d=\"M%.1f %.1fv%.1f\"/>\n", box->x + box->width, box->y,
                   box->height);
}

static void add_box(struct rig_buf *out, const struct rig_svg_box *box)
{
    rig_buf_add_text(out, "<g>");
    add_box_shape(out, box);
    double x = box->x + 11, y = box->y + 11 + 14;
    add_text(out, "name", x, y, box->name);
    add_text(out, "dim", x, y + RIG_SVG_LINE_PX - 1, box->when);
    y += 2 * RIG_SVG_LINE_PX;
    for (uint32_t i = 0; i < box->line_count; i++, y += RIG_SVG_LINE_PX) {
        const struct rig_svg_line *line = &box->lines[i];
        if (line->strong)
            rig_buf_printf(out, "<rect class=\"mark\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"17\" rx=\"3\"/>",
                           x - 5, y - 12.5, box->text_width - 12);
        add_text(out, line->strong ? "op strong" : "op", x, y, line->text);
    }
    rig_buf_add_text(out, "</g>\n");
}

static void add_tip(struct rig_buf *out, const struct rig_svg_edge *edge)
{
    double back_x = edge->tip_x - edge->tip_dx * TIP_LENGTH, back_y = edge->tip_y - edge->tip_dy * TIP_LENGTH;
    rig_buf_printf(out, "<path class=\"tip %s\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>\n", edge_class(edge),
                   edge->tip_x, edge->tip_y, back_x - edge->tip_dy * TIP_HALF_WIDTH,
                   back_y + edge->tip_dx * TIP_HALF_WIDTH, back_x + edge->tip_dy * TIP_HALF_WIDTH,
                   back_y - edge->tip_dx * TIP_HALF_WIDTH);
}

static void add_label(struct rig_buf *out, const struct rig_svg_edge *edge)
{
    if (edge->kind[0] == '\0')
        return;
    rig_buf_printf(out, "<rect class=\"pill %s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"8\"/>\n",
                   edge_class(edge), edge->label_x, edge->label_y, edge->label_width, edge->label_height);
    add_text(out, "kind", edge->label_x + 9, edge->label_y + 15.5, edge->kind);
    add_text(out, "words", edge->label_x + 9, edge->label_y + 31, edge->words);
}

static void add_picture(struct rig_buf *out, const struct rig_history *history, const struct rig_svg_layout *layout)
{
    add_lanes(out, layout);
    add_pauses(out, history, layout);
    for (uint32_t i = 0; i < layout->edge_count; i++)
        rig_buf_printf(out, "<path class=\"edge %s\" d=\"%s\"/>\n", edge_class(&layout->edges[i]),
                       layout->edges[i].path);
    for (uint32_t i = 0; i < layout->box_count; i++)
        add_box(out, &layout->boxes[i]);
    for (uint32_t i = 0; i < layout->edge_count; i++)
        if (!layout->edges[i].blunt)
            add_tip(out, &layout->edges[i]);
    for (uint32_t i = 0; i < layout->edge_count; i++)
        add_label(out, &layout->edges[i]);
}

/* For a non-cyclic anomaly: the sentence with which its text begins, after the name. */
static void add_sentence(struct rig_buf *note, const struct rig_witness *witness)
{
    const char *text = witness->text == NULL ? "" : witness->text;
    const char *name = rig_anomaly_info(witness->anomaly)->name;
    size_t length = strlen(name);
    if (strncmp(text, name, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        text += length + 2;
    rig_buf_add(note, text, strcspn(text, "\n"));
}

static void note_refuted(struct rig_buf *note, const struct rig_witness *witness)
{
    if (witness->refutes == 0)
        return;
    rig_buf_add_text(note, " Refuted: ");
    uint64_t weakest = rig_levels_weakest(witness->refutes);
    rig_words_levels(note, weakest);
    rig_buf_add_text(note, weakest == witness->refutes ? "." : ", and every level above.");
}

/* An explanation of the picture, for a reader that has nothing else. */
static void note_text(struct rig_buf *note, const struct rig_witness *witness)
{
    if (witness->cases != NULL)
        rig_buf_add_text(note,
                         "An arrow from A to B means that A must come before B; its label gives the reason. In each "
                         "case the arrows form a cycle, so no order of the versions explains what the clients saw.");
    else if (witness->step_count > 0)
        rig_buf_add_text(note, "An arrow from A to B means that A must come before B; its label gives the reason. "
                               "The arrows form a cycle, so no order of these transactions explains what the clients "
                               "saw.");
    else
        add_sentence(note, witness);
    note_refuted(note, witness);
}

/* Writes the note below `y`, broken to the picture's width; gives the y below it. Dry when `out` is NULL. */
static double add_note(struct rig_buf *out, const char *text, double width, double y)
{
    size_t columns = (size_t)((width - 40) / 6.6);
    for (uint32_t line = 0; *text != '\0' && line < NOTE_LINES_MAX; line++) {
        size_t length = strlen(text);
        if (length > columns) {
            length = columns;
            while (length > 0 && text[length] != ' ')
                length--;
            length = length == 0 ? columns : length;
        }
        if (out != NULL) {
            rig_buf_printf(out, "<text class=\"dim\" x=\"20\" y=\"%.1f\">", y + 13);
            rig_markup_escape_bytes(out, text, length);
            rig_buf_add_text(out, "</text>\n");
        }
        text += length;
        text += strspn(text, " ");
        y += NOTE_LINE;
    }
    return y;
}

static void add_heading(struct rig_buf *out, const struct rig_witness *witness)
{
    const char *name = rig_anomaly_info(witness->anomaly)->name;
    if (witness->cases != NULL)
        rig_buf_printf(out, "%s: %" PRIu32 " transactions at %s", name, witness->txn_count,
                       rig_level_info(witness->cases->level)->name);
    else if (witness->blocked != NULL)
        rig_buf_printf(out, "%s: an operation that cannot take effect", name);
    else if (witness->step_count > 0)
        rig_buf_printf(out, "%s: a cycle of %" PRIu32 " transactions", name, witness->txn_count);
    else
        rig_buf_printf(out, "%s: %s", name, witness->txn_count == 1 ? "one transaction" : "two transactions");
}

static void add_title(struct rig_buf *out, const struct rig_witness *witness)
{
    rig_buf_add_text(out, "<text class=\"title\" x=\"20\" y=\"34\">");
    add_heading(out, witness);
    rig_buf_add_text(out, "</text>\n");
    add_text(out, "dim", 20, 54, rig_anomaly_info(witness->anomaly)->definition);
}

static void begin_svg(struct rig_buf *out, const struct rig_witness *witness, double width, double height, bool alone)
{
    if (alone)
        rig_buf_add_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    rig_buf_printf(out,
                   "<svg class=\"rig-svg\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                   "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
                   width, height, width, height);
    add_heading(out, witness);
    rig_buf_add_text(out, "</title>\n");
    if (!alone)
        return;
    rig_buf_add_text(out, "<style>");
    rig_svg_style(out);
    rig_buf_printf(out, "</style>\n<rect class=\"bg\" width=\"%.0f\" height=\"%.0f\"/>\n", width, height);
}

/* ---- a proof by cases: its cycles, one below the other ---- */

enum { CASE_CYCLES = 12 }; /* of more, only the first are drawn */
#define CASE_HEADING 34.0

struct case_pictures {
    struct rig_svg_layout *layouts[CASE_CYCLES];
    struct rig_buf headings[CASE_CYCLES];
    uint32_t count, left_out;
    double width, height; /* of all together */
};

static void add_case_layout(struct case_pictures *pictures, const struct rig_witness *witness,
                            const struct rig_history *history, const struct rig_case_place *places, uint32_t line,
                            struct rig_buf *out)
{
    struct rig_witness cycle;
    if (pictures->count == CASE_CYCLES) {
        pictures->left_out++;
        return;
    }
    struct rig_svg_layout *layout = malloc(sizeof *layout);
    const bool has_cycle = rig_case_cycle(witness, line, &cycle);
    out->failed = out->failed || layout == NULL || !has_cycle;
    if (layout != NULL && has_cycle) {
        rig_svg_layout(history, &cycle, CASE_HEADING, 640, layout);
        pictures->width = layout->width > pictures->width ? layout->width : pictures->width;
        pictures->height += layout->height;
        pictures->layouts[pictures->count] = layout;
        rig_buf_init(&pictures->headings[pictures->count], 0);
        rig_case_heading(witness->cases, places, line, &pictures->headings[pictures->count]);
        pictures->count++;
    } else {
        free(layout);
    }
    if (has_cycle)
        free(cycle.txns);
}

static void add_case_pictures(struct case_pictures *pictures, const struct rig_history *history, struct rig_buf *out)
{
    double y = TITLE_HEIGHT;
    for (uint32_t i = 0; i < pictures->count; i++) {
        rig_buf_printf(out, "<g transform=\"translate(0 %.1f)\">\n", y);
        add_text(out, "name", 20, 22, rig_buf_text(&pictures->headings[i]));
        pictures->layouts[i]->width = pictures->width;
        add_picture(out, history, pictures->layouts[i]);
        rig_buf_add_text(out, "</g>\n");
        y += pictures->layouts[i]->height;
    }
}

static void draw_cases(const struct rig_witness *witness, const struct rig_history *history, struct rig_buf *out)
{
    struct case_pictures pictures = {.count = 0};
    struct rig_case_place *places = rig_case_outline(witness->cases);
    struct rig_buf note;
    out->failed = out->failed || places == NULL;
    for (uint32_t line = 0; places != NULL && line < witness->cases->line_count; line++) {
        if (witness->cases->lines[line].kind == RIG_CASE_CYCLE)
            add_case_layout(&pictures, witness, history, places, line, out);
    }
    rig_buf_init(&note, 0);
    note_text(&note, witness);
    if (pictures.left_out > 0)
        rig_buf_printf(&note, " %" PRIu32 " more cycles are in the text.", pictures.left_out);
    const double bottom = TITLE_HEIGHT + pictures.height;
    const double height = add_note(NULL, rig_buf_text(&note), pictures.width, bottom + 6) + 12;
    begin_svg(out, witness, pictures.width, height, true);
    add_title(out, witness);
    add_case_pictures(&pictures, history, out);
    (void)add_note(out, rig_buf_text(&note), pictures.width, bottom + 6);
    rig_buf_add_text(out, "</svg>\n");
    rig_buf_done(&note);
    for (uint32_t i = 0; i < pictures.count; i++) {
        free(pictures.layouts[i]);
        rig_buf_done(&pictures.headings[i]);
    }
    free(places);
}

static void draw_one(const struct rig_witness *witness, const struct rig_history *history, bool alone,
                     struct rig_buf *out)
{
    struct rig_svg_layout *layout = malloc(sizeof *layout);
    if (layout == NULL) {
        out->failed = true;
        return;
    }
    rig_svg_layout(history, witness, alone ? TITLE_HEIGHT : 10, alone ? 640 : 0, layout);
    struct rig_buf note;
    rig_buf_init(&note, 0);
    note_text(&note, witness);
    double height = layout->height;
    if (alone)
        height = add_note(NULL, rig_buf_text(&note), layout->width, height + 6) + 12;
    begin_svg(out, witness, layout->width, height, alone);
    if (alone)
        add_title(out, witness);
    add_picture(out, history, layout);
    if (alone)
        (void)add_note(out, rig_buf_text(&note), layout->width, layout->height + 6);
    rig_buf_add_text(out, "</svg>\n");
    rig_buf_done(&note);
    free(layout);
}

/* ---- an object that is not linearizable ---- */

/* The part of a bar that fits a phone, and what is in view to the right of it. */
#define NEAR_WIDTH 280.0
#define BESIDE     30.0

/* The note belongs to the picture wherever it stands: it explains the numbers and colours. */
static void draw_timeline(const struct rig_witness *witness, const struct rig_history *history, bool alone,
                          struct rig_buf *out)
{
    struct rig_timeline *timeline = malloc(sizeof *timeline);
    if (timeline == NULL) {
        out->failed = true;
        return;
    }
    struct rig_buf note;
    rig_buf_init(&note, 0);
    rig_timeline_layout(history, witness, alone ? TITLE_HEIGHT : 10, 640, timeline);
    rig_timeline_note(timeline, history, witness, &note);
    if (alone)
        note_refuted(&note, witness);
    const double width = timeline->width, bottom = timeline->height;
    begin_svg(out, witness, width, add_note(NULL, rig_buf_text(&note), width, bottom) + 12, alone);
    if (alone)
        add_title(out, witness);
    rig_timeline_draw(timeline, history, out);
    (void)add_note(out, rig_buf_text(&note), width, bottom);
    rig_buf_add_text(out, "</svg>\n");
    if (!alone) { /* where the page scrolls the picture to */
        const struct rig_timeline_bar *bar = &timeline->bars[0];
        const double right = bar->x + (bar->width < NEAR_WIDTH ? bar->width : NEAR_WIDTH) + BESIDE;
        rig_buf_printf(out, "<i class=\"culprit\" style=\"left:%.0fpx\"></i>\n", right < width ? right : width - 1);
    }
    rig_buf_done(&note);
    free(timeline);
}

void rig_svg_witness(const struct rig_witness *witness, const struct rig_history *history, bool alone,
                     struct rig_buf *out)
{
    struct rig_witness shown = *witness;
    if (witness->step_count == 0 && witness->txn_count > 2)
        shown.txn_count = 1; /* the contradiction is the first one's; no step connects the others with it */
    if (witness->txn_count == 0)
        return;
    if (witness->cases != NULL)
        draw_cases(witness, history, out);
    else if (witness->blocked != NULL)
        draw_timeline(witness, history, alone, out);
    else
        draw_one(&shown, history, alone, out);
}

void rig_report_svg(const struct rig_verdict *verdict, const struct rig_witness *witness, struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && witness != NULL && out != NULL);
    rig_svg_witness(witness, verdict->history, true, out);
}
