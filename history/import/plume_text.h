/*
 * The text of Plume and PolySI, which AWDIT reads too: a line an operation, `r(key,value,session,transaction)` or
 * `w(...)`. docs/history-format.md has the details.
 */
#ifndef RIG_HISTORY_IMPORT_PLUME_TEXT_H
#define RIG_HISTORY_IMPORT_PLUME_TEXT_H

#include "base/output_file.h"
#include "history/import/session_reader.h"

extern const struct rig_session_form rig_plume_form;

/* RIG_E_INPUT for a history that this form cannot hold. */
enum rig_rc rig_plume_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err);

#endif
