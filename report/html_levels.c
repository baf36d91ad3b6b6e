#include <string.h>

#include "report/html_parts.h"
#include "report/report.h"
#include "report/tell.h"
#include "report/words.h"

#define COLUMN_PX   154.0
#define ROW_PX      66.0
#define NODE_WIDTH  142.0
#define NODE_HEIGHT 38.0
#define EDGE_PX     12.0

enum { NAME_COLUMNS = 19 }; /* longer names stand on two lines */

/* Where levels stand, in columns and rows from the top left; laid by hand so that few lines cross. Session and strong
 * forms without a place are told beside their plain level. */
static const struct {
    double column, row;
} places[RIG_LEVEL_COUNT] = {
    [RIG_LEVEL_STRICT_SERIALIZABLE] = {3.9, 0},
    [RIG_LEVEL_STRONG_SESSION_SERIALIZABLE] = {3.0, 1},
    [RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION] = {5.8, 1},
    [RIG_LEVEL_SERIALIZABLE] = {2.2, 2},
    [RIG_LEVEL_STRONG_SESSION_SNAPSHOT_ISOLATION] = {5.3, 2},
    [RIG_LEVEL_STRONG_READ_COMMITTED] = {6.8, 2},
    [RIG_LEVEL_VIEW_SERIALIZABLE] = {2.2, 3},
    [RIG_LEVEL_STRONG_READ_UNCOMMITTED] = {7.4, 3},
    [RIG_LEVEL_REPEATABLE_READ] = {0, 4},
    [RIG_LEVEL_UPDATE_SERIALIZABLE] = {1.2, 4},
    [RIG_LEVEL_SNAPSHOT_ISOLATION] = {3.9, 4},
    [RIG_LEVEL_FORWARD_CONSISTENT_VIEW] = {1.2, 5},
    [RIG_LEVEL_MONOTONIC_SNAPSHOT_READ] = {2.5, 5},
    [RIG_LEVEL_PARALLEL_SNAPSHOT_ISOLATION] = {3.9, 5},
    [RIG_LEVEL_PREFIX] = {5.2, 5},
    [RIG_LEVEL_CONSISTENT_VIEW] = {1.2, 6},
    [RIG_LEVEL_UPDATE_ATOMIC] = {3.9, 6},
    [RIG_LEVEL_CAUSAL_CERONE] = {5.2, 6},
    [RIG_LEVEL_CURSOR_STABILITY] = {0.7, 7},
    [RIG_LEVEL_MONOTONIC_VIEW] = {2.5, 7},
    [RIG_LEVEL_READ_ATOMIC] = {4.6, 7},
    [RIG_LEVEL_MONOTONIC_ATOMIC_VIEW] = {3.6, 8},
    [RIG_LEVEL_STRONG_SESSION_READ_COMMITTED] = {6.8, 8},
    [RIG_LEVEL_READ_COMMITTED] = {2.5, 9},
    [RIG_LEVEL_STRONG_SESSION_READ_UNCOMMITTED] = {7.3, 9},
    [RIG_LEVEL_READ_UNCOMMITTED] = {2.5, 10},
};

/* The first column and the first row together have no level. */
static bool is_drawn(unsigned level)
{
    return places[level].column > 0 || places[level].row > 0;
}

static uint64_t drawn_levels(void)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        levels |= is_drawn(level) ? RIG_LEVEL_BIT(level) : 0;
    return levels;
}

static double node_x(unsigned level)
{
    return EDGE_PX + places[level].column * COLUMN_PX;
}

static double node_y(unsigned level)
{
    return EDGE_PX + places[level].row * ROW_PX;
}

/* Strokes of a sign in a square of 12 px at (x, y). */
static void add_mark(struct rig_buf *out, enum rig_fate fate, double x, double y)
{
    rig_buf_printf(out, "<path class=\"mark %s\" d=\"M%.1f %.1f", rig_words_fate(fate), x, y);
    switch (fate) {
    case RIG_FATE_HELD:
        rig_buf_add_text(out, "m1 6l4 4l6 -8");
        break;
    case RIG_FATE_REFUTED:
        rig_buf_add_text(out, "m2 2l8 8m0 -8l-8 8");
        break;
    case RIG_FATE_NOT_REFUTED:
        rig_buf_add_text(out, "m2 6a4 4 0 1 1 8 0a4 4 0 1 1 -8 0");
        break;
    }
    rig_buf_add_text(out, "\"/>");
}

void rig_html_sign(struct rig_buf *out, enum rig_fate fate)
{
    rig_buf_printf(out, "<svg class=\"sign\" width=\"16\" height=\"16\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">");
    add_mark(out, fate, 0, 0);
    rig_buf_add_text(out, "</svg>");
}

static void add_links(struct rig_buf *out)
{
    rig_buf_add_text(out, "<path class=\"link\" d=\"");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if (!is_drawn(level))
            continue;
        const uint64_t below =
            rig_levels_strongest(rig_level_info((enum rig_level)level)->below & drawn_levels() & ~RIG_LEVEL_BIT(level));
        for (unsigned to = 0; to < RIG_LEVEL_COUNT; to++)
            if ((below & RIG_LEVEL_BIT(to)) != 0)
                rig_buf_printf(out, "M%.1f %.1fL%.1f %.1f", node_x(level) + NODE_WIDTH / 2, node_y(level) + NODE_HEIGHT,
                               node_x(to) + NODE_WIDTH / 2, node_y(to));
    }
    rig_buf_add_text(out, "\"/>\n");
}

static void add_name(struct rig_buf *out, const char *name, double x, double y)
{
    size_t length = strlen(name);
    if (length <= NAME_COLUMNS) {
        rig_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>", x, y + 23, name);
        return;
    }
    /* after the last hyphen in the first half and a little more, so that both lines are about as long */
    size_t cut = 0;
    for (size_t i = 0; i < length; i++)
        if (name[i] == '-' && i < length / 2 + 4)
            cut = i + 1;
    rig_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">%.*s</text><text x=\"%.1f\" y=\"%.1f\">%s</text>", x, y + 16,
                   (int)cut, name, x, y + 30, name + cut);
}

static void add_node(struct rig_buf *out, const struct rig_verdict *verdict, unsigned level)
{
    const struct rig_level_result *result = &verdict->levels[level];
    const struct rig_level_info *info = rig_level_info((enum rig_level)level);
    bool asked = (verdict->requested_levels & RIG_LEVEL_BIT(level)) != 0;
    double x = node_x(level), y = node_y(level);
    rig_tell(out, "<g class=\"%s%s\"><title>%h: %s. %h", rig_words_fate(result->fate), asked ? " asked" : "",
             info->name, rig_words_fate(result->fate), result->reason);
    for (unsigned along = RIG_ALONG_PROCESS; along < RIG_ALONG_COUNT; along++) {
        const enum rig_level form = rig_level_form((enum rig_level)level, (enum rig_along)along);
        if (rig_level_along((enum rig_level)level) == RIG_ALONG_PLAIN && !is_drawn(form))
            rig_tell(out, "; %h: %s", rig_level_info(form)->name, rig_words_fate(verdict->levels[form].fate));
    }
    rig_buf_printf(out, "</title><rect class=\"node\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"7\"/>",
                   x, y, NODE_WIDTH, NODE_HEIGHT);
    add_mark(out, result->fate, x + 7, y + 13);
    add_name(out, info->name, x + 24, y);
    rig_buf_add_text(out, "</g>\n");
}

static double lattice_width(void)
{
    double width = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        double right = is_drawn(level) ? node_x(level) + NODE_WIDTH + EDGE_PX : 0;
        width = right > width ? right : width;
    }
    return width;
}

static double lattice_height(void)
{
    double height = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        double bottom = is_drawn(level) ? node_y(level) + NODE_HEIGHT + EDGE_PX : 0;
        height = bottom > height ? bottom : height;
    }
    return height;
}

void rig_html_lattice(struct rig_buf *out, const struct rig_verdict *verdict)
{
    double width = lattice_width(), height = lattice_height();
    rig_buf_printf(out,
                   "<svg class=\"lattice\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">"
                   "<title>The isolation levels, strongest on top; a line leads down to what a level implies</title>\n",
                   width, height, width, height);
    add_links(out);
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if (is_drawn(level))
            add_node(out, verdict, level);
    }
    rig_buf_add_text(out, "</svg>\n");
}

void rig_report_lattice_svg(struct rig_buf *out)
{
    double width = lattice_width(), height = lattice_height();
    rig_buf_printf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
        "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>The isolation levels, strongest on "
        "top; a line leads down to what a level implies</title>\n<style>text{font:11.5px system-ui,"
        "-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2328;text-anchor:middle}"
        ".bg{fill:#ffffff}.link{stroke:#afb8c1;stroke-width:1.5;fill:none}"
        ".node{fill:#f6f8fa;stroke:#8c959f;stroke-width:1.3}@media(prefers-color-scheme:dark){.bg{fill:#0d1117}"
        "text{fill:#e6edf3}.node{fill:#161b22;stroke:#6e7681}.link{stroke:#3d444d}}</style>\n"
        "<rect class=\"bg\" width=\"%.0f\" height=\"%.0f\"/>\n",
        width, height, width, height, width, height);
    add_links(out);
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const struct rig_level_info *info = rig_level_info((enum rig_level)level);
        double x = node_x(level), y = node_y(level);
        if (!is_drawn(level))
            continue;
        rig_tell(out, "<g><title>%h", info->definition);
        rig_buf_printf(out,
                       "</title><rect class=\"node\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"7\"/>",
                       x, y, NODE_WIDTH, NODE_HEIGHT);
        add_name(out, info->name, x + NODE_WIDTH / 2, y);
        rig_buf_add_text(out, "</g>\n");
    }
    rig_buf_add_text(out, "</svg>\n");
}
