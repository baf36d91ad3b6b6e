/*
 * The parts of the SVG writer that the HTML report shares.
 */
#ifndef RIG_REPORT_SVG_H
#define RIG_REPORT_SVG_H

#include <stdbool.h>

#include "base/buf.h"
#include "checker/model/verdict.h"

/* The rules that pictures of witnesses are drawn by, for a <style> element. */
void rig_svg_style(struct rig_buf *out);
/*
 * The picture of a witness (nothing for one without transactions). `alone`: with its own style, title and explanation;
 * else to stand inside a page that has rig_svg_style(), and with an element `.culprit` of no size at the operation of
 * an object that cannot take effect. A proof by cases stands alone: its cycles, one below the other.
 */
void rig_svg_witness(const struct rig_witness *witness, const struct rig_history *history, bool alone,
                     struct rig_buf *out);

#endif
