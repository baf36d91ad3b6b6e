/*
 * The event behind a verdict, in one sentence that a person understands without the names of levels and anomalies: "673
 * acknowledged appends were lost, 660 of them during partition of node-1".
 *
 * The finding that weighs most is chosen from those that break what is requested: lost writes first, then reads of
 * what never committed, locks with two owners and other wrong answers of objects, wrong totals, contradicting lists,
 * and last cycles, which only show that no order of some transactions can exist. Writes that were lost are always
 * mentioned. They come first, too, when a fault took effect, or when lists contradict each other or updates were lost:
 * then the loss is the cause. A lost-append by itself can also be a read of a stale copy.
 *
 * Time: linear in the lost writes times the faults, and in the kept witnesses.
 */
#ifndef RIG_REPORT_HAPPENED_H
#define RIG_REPORT_HAPPENED_H

#include "base/buf.h"
#include "base/json_write.h"
#include "checker/model/verdict.h"

/* The anomaly that weighs most; RIG_ANOMALY_COUNT: only those that a witness tells (headline.h), or none. */
enum rig_anomaly rig_happened_first(const struct rig_verdict *verdict);
/* One or two sentences with full stops. Adds nothing where there is nothing to say: nothing requested is broken, and
 * the data type has no measure of its own. */
void rig_happened_say(struct rig_buf *out, const struct rig_verdict *verdict);
/* The member "happened" of results, or none. */
void rig_happened_json(struct rig_json_writer *w, const struct rig_verdict *verdict);

#endif
