/*
 * The common parts of the texts of solver-based checkers: lines, and numbers without a sign.
 */
#ifndef RIG_HISTORY_IMPORT_SESSION_TEXT_H
#define RIG_HISTORY_IMPORT_SESSION_TEXT_H

#include "base/output_file.h"
#include "history/import/session_reader.h"
#include "history/text/text_cursor.h"

/* The first byte that is no blank and no line end; `size` if there is none. */
size_t rig_session_skip_blank(const char *data, size_t size);
/* Moves over blank lines to the next line with content; false at the end. */
bool rig_session_next_line(struct rig_text_cursor *cursor);

/* Moves over one character. */
enum rig_rc rig_session_expect(struct rig_text_cursor *cursor, char wanted, const char *what);
/* A number of at most 64 bits, without a sign; `what` for the error. */
enum rig_rc rig_session_number(struct rig_text_cursor *cursor, const char *what, uint64_t *number);

/*
 * The text in which AWDIT's own tests are written: a line an operation, `r KEY VALUE` or `w KEY VALUE`; `---` ends a
 * transaction and `===` a session. docs/history-format.md has the details.
 */

extern const struct rig_session_form rig_awdit_form;

/*
 * The text of dbcop (`.hist`): transactions `[x:=1 y==2 z==?]`, with `!` after one that did not commit; a line of
 * dashes ends a session; `//` begins a comment. docs/history-format.md has the details.
 */

extern const struct rig_session_form rig_dbcop_text_form;

/*
 * The text of Plume and PolySI, which AWDIT reads too: a line an operation, `r(key,value,session,transaction)` or
 * `w(...)`. docs/history-format.md has the details.
 */

extern const struct rig_session_form rig_plume_form;

/* RIG_E_INPUT for a history that this form cannot hold. */
enum rig_rc rig_plume_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err);

#endif
