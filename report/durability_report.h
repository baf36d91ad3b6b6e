/*
 * The durability of a verdict (checker/model/durability.h) in each form of a report. Nothing where nothing crashed.
 *
 * Private to report/.
 */
#ifndef RIG_REPORT_DURABILITY_REPORT_H
#define RIG_REPORT_DURABILITY_REPORT_H

#include "base/json_write.h"
#include "checker/model/durability.h"

/* "refuted", "held", "not refuted" */
const char *rig_durability_word(enum rig_fate fate);
/* Whether crashes took commits. */
bool rig_durability_has_loss(const struct rig_verdict *verdict);
/* The commits that the crashes took, in one or two sentences with their full stops; nothing where they took nothing. */
void rig_durability_say(struct rig_buf *out, const struct rig_verdict *verdict);
/* "durable does not hold (the crash took 12 acknowledged commits)" where that was asked; nothing where it holds. */
void rig_durability_say_broken(struct rig_buf *out, const struct rig_verdict *verdict);
/* The crashes that took commits, and the first holes: a line each that ends with a newline. */
void rig_durability_lines(struct rig_buf *out, const struct rig_verdict *verdict);

void rig_durability_json(struct rig_json_writer *w, const struct rig_verdict *verdict);
void rig_durability_html(struct rig_buf *out, const struct rig_verdict *verdict);

#endif
