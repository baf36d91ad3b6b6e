/*
 * The words inside a witness's picture: what stands in a box, what stands at an arrow. Shared by the SVG and the DOT
 * writer, so that both pictures say the same.
 */
#ifndef RIG_REPORT_SVG_WORDS_H
#define RIG_REPORT_SVG_WORDS_H

#include "report/svg_layout.h"

/* Name, times and operations of the box's transaction; at most `most_lines` operations, those of the witness always. */
void rig_svg_words_box(const struct rig_history *history, const struct rig_witness *witness, uint32_t most_lines,
                       struct rig_svg_box *box);
/* Both lines of the label of the edge's step. */
void rig_svg_words_edge(const struct rig_history *history, struct rig_svg_edge *edge);
/* Both lines of the label that says what is wrong: of an anomaly that is no cycle. */
void rig_svg_words_noncyclic(const struct rig_history *history, const struct rig_witness *witness,
                             struct rig_svg_edge *edge);
/* Columns that `text` takes: its characters, not its bytes. */
double rig_svg_words_columns(const char *text);

#endif
