/*
 * The text in which AWDIT's own tests are written: a line an operation, `r KEY VALUE` or `w KEY VALUE`; `---` ends a
 * transaction and `===` a session. docs/history-format.md has the details.
 */
#ifndef RIG_HISTORY_IMPORT_AWDIT_TEXT_H
#define RIG_HISTORY_IMPORT_AWDIT_TEXT_H

#include "history/import/session_reader.h"

extern const struct rig_session_form rig_awdit_form;

#endif
