/*
 * The timeline of an object that is not linearizable: a row for each process, a bar for each operation from its
 * invocation to its completion, and the operation that cannot take effect, at whose completion the picture ends.
 * Operations that are open then fade out to the right. Operations before have their number in an order that explains
 * them (checker/objects/object_replay.h), where one is known.
 *
 * At most RIG_TIMELINE_BARS operations have a bar: those that the witness names, then those that completed last.
 *
 * Space: one struct of fixed size, and 4 bytes an operation while it is laid out. Time: linear in the history.
 */
#ifndef RIG_REPORT_SVG_TIMELINE_H
#define RIG_REPORT_SVG_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "checker/model/verdict.h"

enum { RIG_TIMELINE_BARS = 30, RIG_TIMELINE_TEXT_BYTES = 160 };

struct rig_timeline_bar {
    uint32_t txn;
    uint32_t begin, end; /* positions of events; end RIG_POSITION_NONE: open when the picture ends */
    uint32_t order;      /* its place in the order that explains the prefix, from 1; 0: none */
    uint32_t row;
    double x, width;
    char text[RIG_TIMELINE_TEXT_BYTES]; /* the operation, shortened */
};

struct rig_timeline {
    struct rig_timeline_bar bars[RIG_TIMELINE_BARS]; /* the blocked operation first */
    uint32_t bar_count;
    int32_t processes[RIG_TIMELINE_BARS]; /* one a row */
    uint32_t row_count;
    uint64_t left_out; /* operations on the object that began before the end of the picture and have no bar */
    bool is_ordered;   /* the order of the prefix is known */
    double top, width, height;
    double end_x; /* of the blocked operation's completion */
};

/* `witness` has `blocked`. `top`: px to leave free above, `least_width`: of the whole picture. */
void rig_timeline_layout(const struct rig_history *history, const struct rig_witness *witness, double top,
                         double least_width, struct rig_timeline *timeline);
/* Adds the elements of the picture. */
void rig_timeline_draw(const struct rig_timeline *timeline, const struct rig_history *history, struct rig_buf *out);
/* Adds what the picture shows, as sentences. */
void rig_timeline_note(const struct rig_timeline *timeline, const struct rig_history *history,
                       const struct rig_witness *witness, struct rig_buf *note);

#endif
