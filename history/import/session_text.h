/*
 * The common parts of the texts of solver-based checkers: lines, and numbers without a sign.
 */
#ifndef RIG_HISTORY_IMPORT_SESSION_TEXT_H
#define RIG_HISTORY_IMPORT_SESSION_TEXT_H

#include "history/text/text_cursor.h"

/* The first byte that is no blank and no line end; `size` if there is none. */
size_t rig_session_skip_blank(const char *data, size_t size);
/* Moves over blank lines to the next line with content; false at the end. */
bool rig_session_next_line(struct rig_text_cursor *cursor);
/* Moves over blanks within the line. */
void rig_session_blanks(struct rig_text_cursor *cursor);
/* Moves over the end of the line, which may be that of the file. */
enum rig_rc rig_session_end_line(struct rig_text_cursor *cursor);
/* Moves over one character. */
enum rig_rc rig_session_expect(struct rig_text_cursor *cursor, char wanted, const char *what);
/* A number of at most 64 bits, without a sign; `what` for the error. */
enum rig_rc rig_session_number(struct rig_text_cursor *cursor, const char *what, uint64_t *number);
/* If the line consists of at least one `mark` and of blanks, moves over it. */
bool rig_session_rule(struct rig_text_cursor *cursor, char mark);

#endif
