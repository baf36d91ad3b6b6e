/*
 * Reads one value of a micro-operation that need not be an integer: its text, in one way of writing
 * (history/model/value_texts.h).
 *
 * A fraction has a '.' or an exponent; it equals another fraction of the same double, and no integer. Time: linear.
 * Threads: one at a time.
 */
#ifndef RIG_HISTORY_TEXT_VALUE_READER_H
#define RIG_HISTORY_TEXT_VALUE_READER_H

#include "history/text/operation_parser.h"

enum { RIG_VALUE_DEPTH = 64 };

/* Writes the value at the cursor to `text`, emptied before, and moves past it. An integer also goes to *number, and
 * *is_integer says that it is one. */
enum rig_rc rig_value_read(struct rig_operation_parser *parser, struct rig_buf *text, bool *is_integer,
                           int64_t *number);
/* The number of a value that stands alone: an integer, or what EDN writes (`nil`, `"a"`, `:a`, `[1 2]`). RIG_E_INPUT:
 * the text is none. */
enum rig_rc rig_value_parse(const char *text, size_t length, int64_t *value, struct rig_err *err);
/* Whether a fraction is at the cursor; then moves past it. Fractions that no double holds are left where they are. */
bool rig_value_take_fraction(struct rig_text_cursor *cursor, double *fraction);

#endif
