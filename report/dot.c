/*
 * Witnesses and the lattice of levels as DOT, for `dot -Tsvg` and for tools that lay out graphs themselves. The words
 * are those of the SVG pictures. The same verdict gives the same bytes.
 *
 * The middle of a cycle of more than BOXES_MOST transactions is left out and counted, as no layout can show it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"
#include "base/printable.h"
#include "checker/explain/case_outline.h"
#include "report/report.h"
#include "report/svg_words.h"
#include "report/words.h"

enum { BOXES_MOST = 200 };

/* Inside a quoted string: quotes and backslashes escaped, control characters and what is no UTF-8 as "?". */
static void add_escaped(struct rig_buf *out, const char *text)
{
    struct rig_buf clean;
    rig_buf_init(&clean, 0);
    rig_words_clean(&clean, text, false);
    const char *at = rig_buf_text(&clean);
    for (size_t left = strlen(at); left > 0;) {
        size_t length = rig_utf8_decode(at, left, NULL);
        if (length == 0)
            rig_buf_add_char(out, '?');
        else if (*at == '"' || *at == '\\')
            rig_buf_printf(out, "\\%c", *at);
        else
            rig_buf_add(out, at, length);
        length = length == 0 ? 1 : length;
        at += length;
        left -= length;
    }
    rig_buf_done(&clean);
}

/* A line of a label; "\l" ends it on the left side. */
static void add_line(struct rig_buf *out, const char *mark, const char *text)
{
    rig_buf_add_text(out, mark);
    add_escaped(out, text);
    rig_buf_add_text(out, "\\l");
}

static void add_defaults(struct rig_buf *out)
{
    rig_buf_add_text(out, "  graph [fontname=\"sans-serif\", labelloc=t, labeljust=l, nodesep=0.6, ranksep=0.7];\n"
                          "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", color=\"#8c959f\", "
                          "fontname=\"monospace\", fontsize=11];\n"
                          "  edge [fontname=\"sans-serif\", fontsize=10, penwidth=1.6];\n");
}

static void add_box(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_witness *witness,
                    uint32_t cluster, uint32_t at)
{
    struct rig_svg_box box = {.txn = witness->txns[at]};
    rig_svg_words_box(verdict->history, witness, RIG_SVG_BOX_LINES - 2, &box);
    rig_buf_printf(out, "  w%" PRIu32 "t%" PRIu32 " [label=\"", cluster, at);
    add_line(out, "", box.name);
    add_line(out, "", box.when);
    for (uint32_t i = 0; i < box.line_count; i++)
        add_line(out, box.lines[i].strong ? "* " : "  ", box.lines[i].text);
    rig_buf_add_text(out, "\"];\n");
}

/* The first transaction of the cycle that is left out, and the first after it that is not; equal when all are drawn. */
static uint32_t gap_start(const struct rig_witness *witness)
{
    return witness->txn_count > BOXES_MOST ? BOXES_MOST / 2 : witness->txn_count;
}

static uint32_t gap_end(const struct rig_witness *witness)
{
    return witness->txn_count > BOXES_MOST ? witness->txn_count - BOXES_MOST / 2 : witness->txn_count;
}

static void begin_edge(struct rig_buf *out, uint32_t cluster, uint32_t from, uint32_t to)
{
    rig_buf_printf(out, "  w%" PRIu32 "t%" PRIu32 " -> w%" PRIu32 "t%" PRIu32 " [label=\"", cluster, from, cluster, to);
}

/* A step between two boxes. `number`: of its case, or "". */
static void add_edge(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_step *step,
                     uint32_t cluster, uint32_t from, uint32_t to, const char *number)
{
    static const char *const colours[] = {[RIG_EDGE_WW] = "#8250df",
                                          [RIG_EDGE_WR] = "#1a7f37",
                                          [RIG_EDGE_RW] = "#cf222e",
                                          [RIG_EDGE_PROCESS] = "#57606a",
                                          [RIG_EDGE_REALTIME] = "#57606a"};
    struct rig_svg_edge edge = {.step = step};
    rig_svg_words_edge(verdict->history, &edge);
    begin_edge(out, cluster, from, to);
    add_line(out, number, edge.kind);
    add_line(out, "", edge.words);
    bool dashed = step->kind == RIG_EDGE_PROCESS || step->kind == RIG_EDGE_REALTIME;
    rig_buf_printf(out, "\", color=\"%s\"%s];\n", colours[step->kind], dashed ? ", style=dashed" : "");
}

/* The step from the transaction at `at` to the next of the cycle. */
static void add_step(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_witness *witness,
                     uint32_t cluster, uint32_t at)
{
    const struct rig_step *step = &witness->steps[at];
    const uint32_t next = (at + 1) % witness->txn_count;
    RIG_REQUIRE(witness->txns[at] == step->from && witness->txns[next] == step->to);
    add_edge(out, verdict, step, cluster, at, next, "");
}

/* A box for those left out, between the last before them and the first after. */
static void add_gap(struct rig_buf *out, const struct rig_witness *witness, uint32_t cluster)
{
    const uint32_t start = gap_start(witness), end = gap_end(witness);
    rig_buf_printf(out,
                   "  w%" PRIu32 "t%" PRIu32 " [label=\"... %" PRIu32 " more transaction%s ...\", style=dotted];\n",
                   cluster, start, end - start, rig_plural(end - start));
    begin_edge(out, cluster, start - 1, start);
    rig_buf_add_text(out, "\", style=dotted];\n");
    begin_edge(out, cluster, start, end);
    rig_buf_add_text(out, "\", style=dotted];\n");
}

static void add_cycle(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_witness *witness,
                      uint32_t cluster)
{
    RIG_REQUIRE(witness->step_count == witness->txn_count);
    const uint32_t start = gap_start(witness), end = gap_end(witness);
    for (uint32_t i = 0; i < witness->step_count; i++)
        if (i + 1 < start || i >= end || start == end)
            add_step(out, verdict, witness, cluster, i);
    if (start != end)
        add_gap(out, witness, cluster);
}

static uint32_t box_of(const struct rig_witness *witness, uint32_t txn)
{
    uint32_t at = 0;
    while (at < witness->txn_count && witness->txns[at] != txn)
        at++;
    return at;
}

/* The steps of all cycles, each with the number of its case. Those to boxes that are left out are not drawn. */
static void add_cases(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_witness *witness,
                      uint32_t cluster)
{
    const struct rig_cases *cases = witness->cases;
    struct rig_case_place *places = rig_case_outline(cases);
    out->failed = out->failed || places == NULL;
    for (uint32_t line = 0; places != NULL && line < cases->line_count; line++) {
        struct rig_buf number;
        rig_buf_init(&number, 0);
        rig_case_number(places, line, &number);
        rig_buf_add_text(&number, number.size > 0 ? ": " : "");
        for (uint32_t i = 0; i < cases->lines[line].step_count; i++) {
            const struct rig_step *step = &cases->steps[cases->lines[line].first_step + i];
            const uint32_t from = box_of(witness, step->from), to = box_of(witness, step->to);
            if ((from < gap_start(witness) || from >= gap_end(witness)) &&
                (to < gap_start(witness) || to >= gap_end(witness)))
                add_edge(out, verdict, step, cluster, from, to, rig_buf_text(&number));
        }
        rig_buf_done(&number);
    }
    free(places);
}

/* The contradiction, at an edge between the two transactions (without a tip: neither has to come first) or at a
 * loop. */
static void add_noncyclic(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_witness *witness,
                          uint32_t cluster)
{
    struct rig_svg_edge edge = {.odd = true};
    rig_svg_words_noncyclic(verdict->history, witness, &edge);
    begin_edge(out, cluster, 0, witness->txn_count == 2 ? 1 : 0); /* of several, the first one's */
    add_line(out, "", edge.kind);
    add_line(out, "", edge.words);
    rig_buf_add_text(out, "\", color=\"#bc4c00\", dir=none];\n");
}

/* "G2-item #1: 2 transactions, a cycle", and its definition. */
static void add_title(struct rig_buf *out, const struct rig_witness *witness, uint32_t number)
{
    const struct rig_anomaly_info *info = rig_anomaly_info(witness->anomaly);
    rig_buf_printf(out, "  label=\"%s #%" PRIu32 ": %s%" PRIu32 " transaction%s\\l", info->name, number,
                   witness->step_count > 0 ? "a cycle of " : "", witness->txn_count, rig_plural(witness->txn_count));
    add_line(out, "", info->definition);
    rig_buf_add_text(out, "\";\n");
}

static void add_graph(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_witness *witness,
                      uint32_t cluster, uint32_t number)
{
    add_title(out, witness, number);
    for (uint32_t i = 0; i < witness->txn_count; i++)
        if (i < gap_start(witness) || i >= gap_end(witness))
            add_box(out, verdict, witness, cluster, i);
    if (witness->step_count > 0)
        add_cycle(out, verdict, witness, cluster);
    else if (witness->cases != NULL)
        add_cases(out, verdict, witness, cluster);
    else if (witness->txn_count > 0)
        add_noncyclic(out, verdict, witness, cluster);
}

void rig_report_dot_witness(const struct rig_verdict *verdict, const struct rig_witness *witness, uint32_t number,
                            struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && witness != NULL && out != NULL);
    rig_buf_printf(out, "digraph \"%s-%" PRIu32 "\" {\n", rig_anomaly_info(witness->anomaly)->name, number);
    add_defaults(out);
    add_graph(out, verdict, witness, 0, number);
    rig_buf_add_text(out, "}\n");
}

void rig_report_dot(const struct rig_verdict *verdict, const char *name, struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && name != NULL && out != NULL);
    rig_buf_add_text(out, "digraph \"");
    add_escaped(out, name);
    rig_buf_add_text(out, "\" {\n");
    add_defaults(out);
    uint32_t cluster = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        for (uint32_t i = 0; i < finding->witness_count; i++, cluster++) {
            rig_buf_printf(out, "  subgraph \"cluster_%s-%" PRIu32 "\" {\n  color=\"#d1d9e0\";\n",
                           rig_anomaly_info((enum rig_anomaly)anomaly)->name, i + 1);
            add_graph(out, verdict, &finding->witnesses[i], cluster, i + 1);
            rig_buf_add_text(out, "  }\n");
        }
    }
    rig_buf_add_text(out, "}\n");
}

void rig_report_lattice_dot(struct rig_buf *out)
{
    rig_buf_add_text(out, "digraph levels {\n"
                          "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", color=\"#8c959f\", "
                          "fontname=\"sans-serif\", fontsize=11];\n"
                          "  edge [color=\"#57606a\"];\n");
    for (unsigned level = RIG_LEVEL_COUNT; level-- > 0;) {
        const struct rig_level_info *info = rig_level_info((enum rig_level)level);
        rig_buf_printf(out, "  \"%s\" [tooltip=\"", info->name);
        add_escaped(out, info->definition);
        rig_buf_add_text(out, "\"];\n");
        for (unsigned below = RIG_LEVEL_COUNT; below-- > 0;)
            if ((info->implies & RIG_LEVEL_BIT(below)) != 0)
                rig_buf_printf(out, "  \"%s\" -> \"%s\";\n", info->name, rig_level_info((enum rig_level)below)->name);
    }
    rig_buf_add_text(out, "}\n");
}
