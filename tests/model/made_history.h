/*
 * A synthetic history in memory, as `rig gen` would write it.
 */
#ifndef RIG_TESTS_MODEL_MADE_HISTORY_H
#define RIG_TESTS_MODEL_MADE_HISTORY_H

#include "history/model/history.h"
#include "generator/synthetic/synthetic.h"

/* The caller owns it. Made through a file in TMPDIR or /tmp, which is removed. */
enum rig_rc make_history(const struct rig_synthetic *synthetic, struct rig_history **history, struct rig_err *err);

#endif
