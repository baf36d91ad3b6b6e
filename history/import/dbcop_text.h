/*
 * The text of dbcop (`.hist`): transactions `[x:=1 y==2 z==?]`, with `!` behind one that did not commit; a line of
 * dashes ends a session; `//` begins a comment. docs/history-format.md has the details.
 */
#ifndef RIG_HISTORY_IMPORT_DBCOP_TEXT_H
#define RIG_HISTORY_IMPORT_DBCOP_TEXT_H

#include "history/import/session_reader.h"

extern const struct rig_session_form rig_dbcop_text_form;

#endif
