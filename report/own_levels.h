/*
 * Levels that transactions asked for, each its own, in reports: whether each has what its level promises.
 */
#ifndef RIG_REPORT_OWN_LEVELS_H
#define RIG_REPORT_OWN_LEVELS_H

#include "base/buf.h"
#include "base/json_write.h"
#include "checker/model/verdict.h"

/* A line that ends with a newline; nothing where no transaction has a level of its own. */
void rig_own_levels_line(struct rig_buf *out, const struct rig_verdict *verdict);
/* The member "own_levels", in the same case. */
void rig_own_levels_json(struct rig_json_writer *w, const struct rig_verdict *verdict);
/* A section with the line. */
void rig_own_levels_html(struct rig_buf *out, const struct rig_verdict *verdict);

#endif
