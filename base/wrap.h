/*
 * Breaks texts into lines at blanks.
 */
#ifndef RIG_BASE_WRAP_H
#define RIG_BASE_WRAP_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Writes `text` from the column `indent` on (where the cursor is), broken at blanks before `columns`, with further
 * lines indented alike; ends the line. A word longer than a line is not broken.
 */
void rig_wrap(const char *text, size_t indent, size_t columns, struct rig_buf *out);

#endif
