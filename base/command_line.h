/*
 * Command lines: splits a text into the arguments of a program, with quotes but without a shell.
 *
 * Blanks (space, tab, line break) separate arguments. '...' keeps everything as it is, "..." everything but \" and \\;
 * outside of quotes a backslash keeps the next character. Quoted pieces that touch make one argument. There are no
 * variables, patterns or pipes; for a shell write `sh -c '...'`.
 */
#ifndef RIG_BASE_COMMAND_LINE_H
#define RIG_BASE_COMMAND_LINE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/option.h"

/* RIG_E_PLAN for a text without arguments, a quote that is not closed and a backslash at the end. */
enum rig_rc rig_command_line_split(struct rig_arena *arena, const char *text, struct rig_text_list *list,
                                   struct rig_err *err);
/* Writes arguments as a line that splits into them again; for people. */
void rig_command_line_join(const char *const *arguments, size_t count, struct rig_buf *out);

#endif
