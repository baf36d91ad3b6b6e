/*
 * Texts broken into lines at blanks.
 */
#ifndef RIG_BASE_WRAP_H
#define RIG_BASE_WRAP_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Writes `text` from the column `indent` on (where the cursor is), broken at blanks before `columns`, further lines
 * indented alike; ends the line. A word that is longer than a line stands whole.
 */
void rig_wrap(const char *text, size_t indent, size_t columns, struct rig_buf *out);

#endif
