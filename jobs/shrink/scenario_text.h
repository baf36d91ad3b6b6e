/*
 * A small history as a scenario (docs/scenarios.md), which plays its statements in an order that gives its results.
 *
 * A key is a row of a table, whose value is that of the last version: an append becomes an update, and a read of a list
 * selects the row and expects the last element. The dependencies of the transactions are the same, and the anomaly is
 * to show in these values alone. The scenario shows
 * the anomaly if each acknowledged transaction commits and each of its reads has its result.
 */
#ifndef RIG_JOBS_SHRINK_SCENARIO_TEXT_H
#define RIG_JOBS_SHRINK_SCENARIO_TEXT_H

#include "base/buf.h"
#include "jobs/shrink/interleaving.h"
#include "jobs/shrink/shrink_history.h"

/* Adds the YAML. RIG_E_USAGE for histories other than of lists and registers, for anomalies that only whole lists show,
 * and for more sessions, steps or keys than a scenario has. */
enum rig_rc rig_scenario_text(const struct rig_smallest_part *part, const struct rig_interleaving *interleaving,
                              struct rig_buf *yaml, struct rig_err *err);

#endif
