/*
 * Where everything of a witness's picture goes: boxes, arrows, labels. No drawing, no markup.
 *
 * Up to RIG_SVG_LANES transactions stand along a time axis: one lane a process, left to right by the order of their
 * invocations and completions (the axis keeps order and overlap, not scale). Between the lanes run gutters; each
 * label of an arrow has a strip of a gutter for itself, so that labels cover neither boxes nor each other. Arrows
 * between lanes that are not neighbours go round by the right margin; those of real time, when no box is in their way,
 * straight on through time. The ends after real-time edges are also marked on the axis.
 *
 * Longer cycles are laid as a snake: down one column, up the next, back along the top; beyond RIG_SVG_BOXES
 * transactions the middle is left out and counted.
 *
 * An anomaly that is no cycle has one or two boxes along the axis, and one label that says what is wrong with them.
 *
 * Space: one struct of fixed size. Time: quadratic in the number of boxes, which is bounded.
 */
#ifndef RIG_REPORT_SVG_LAYOUT_H
#define RIG_REPORT_SVG_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/model/verdict.h"

enum {
    RIG_SVG_LANES = 8,
    RIG_SVG_BOXES = 32,
    RIG_SVG_BOX_LINES = 9,
    RIG_SVG_LINE_BYTES = 96,
    RIG_SVG_PATH_BYTES = 640,
};

/* Sizes of text, px; widths are those of a monospaced face, so that they hold wherever the picture is shown. */
#define RIG_SVG_CHAR_PX 7.3
#define RIG_SVG_LINE_PX 19.0

struct rig_svg_line {
    char text[RIG_SVG_LINE_BYTES];
    bool strong; /* an operation that the witness rests on */
};

struct rig_svg_box {
    uint32_t txn;      /* UINT32_MAX: stands for those left out */
    uint32_t left_out; /* how many */
    uint32_t lane;     /* row of the axis; column of a snake */
    bool open;         /* never completed: open to the right */
    double x, y, width, height;
    double text_width;
    char name[RIG_SVG_LINE_BYTES];
    char when[RIG_SVG_LINE_BYTES];
    struct rig_svg_line lines[RIG_SVG_BOX_LINES];
    uint32_t line_count;
};

/*
 * An arrow of a cycle; or what is odd about the transactions of an anomaly that is no cycle: an arrow from where the
 * value came from, a line without a tip between two that contradict each other, a line from a box to its own label.
 */
struct rig_svg_edge {
    const struct rig_step *step; /* borrowed; NULL where it leads to or from those left out, and for an found */
    uint32_t from, to;           /* boxes; one and the same: a label of that box */
    bool odd;                    /* says what is wrong: no step of a cycle */
    bool blunt;                  /* without a tip */
    char path[RIG_SVG_PATH_BYTES];
    double tip_x, tip_y, tip_dx, tip_dy; /* where the arrow ends, and its direction (a unit vector) */
    char kind[RIG_SVG_LINE_BYTES];       /* first line of the label: "rw key 5" */
    char words[RIG_SVG_LINE_BYTES];      /* second line: "T17 read up to 2 and did not see 3" */
    double label_x, label_y;             /* its upper left corner */
    double label_width, label_height;
};

/* On the time axis, the pause that a real-time arrow rests on: from a completion to the invocation after it. */
struct rig_svg_pause {
    double from_x, to_x;
    double from_y, to_y; /* lower edges of the two boxes, where the plumb lines to the axis begin */
    uint32_t from_txn, to_txn;
};

struct rig_svg_lane {
    int32_t process;
    double y, height;
};

struct rig_svg_layout {
    struct rig_svg_box boxes[RIG_SVG_BOXES];
    uint32_t box_count;
    struct rig_svg_edge edges[RIG_SVG_BOXES];
    uint32_t edge_count;
    struct rig_svg_lane lanes[RIG_SVG_LANES];
    uint32_t lane_count; /* 0: a snake */
    double axis_y;       /* of the time axis */
    double ticks[2 * RIG_SVG_LANES];
    uint32_t tick_count;
    struct rig_svg_pause pauses[RIG_SVG_LANES];
    uint32_t pause_count;
    double left; /* where the lanes begin */
    double top;  /* room kept free above */
    double width, height;
};

/* `witness` must have transactions. `top`: px to leave free above, `least_width`: of the whole picture. */
void rig_svg_layout(const struct rig_history *history, const struct rig_witness *witness, double top,
                    double least_width, struct rig_svg_layout *layout);

#endif
