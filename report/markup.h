/*
 * Text for XML and HTML: escaped, and made of characters that XML 1.0 allows.
 *
 * Texts from outside may contain anything; bytes that are no UTF-8, control characters and noncharacters become
 * U+FFFD. A text escaped here is safe as element content and inside a quoted attribute.
 */
#ifndef RIG_REPORT_MARKUP_H
#define RIG_REPORT_MARKUP_H

#include "base/buf.h"

/* NULL is written as nothing. */
void rig_markup_escape(struct rig_buf *out, const char *text);
void rig_markup_escape_bytes(struct rig_buf *out, const char *text, size_t length);

#endif
