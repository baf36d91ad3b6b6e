/*
 * Texts that a server, a command or a file composed, made safe to show on a terminal and to keep in one line.
 *
 * Replaces control characters of ASCII and Latin-1 (escape sequences begin with one), bytes that are not UTF-8
 * (truncation may leave some at the end), and marks that change the direction of writing. Every text passes through
 * here where it enters rig, after its secrets have been redacted (base/secret.h): a replaced byte could hide one.
 *
 * Threads: any.
 */
#ifndef RIG_BASE_PRINTABLE_H
#define RIG_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * UTF-8, strictly (RFC 3629): no overlong forms, no surrogates, nothing past U+10FFFF.
 */

/* The length in bytes of the character at `text`, of which `left` > 0 bytes may be read; 0 when it is not UTF-8.
 * `*code` is the character; NULL when it is not wanted. */
size_t rig_utf8_decode(const char *text, size_t left, uint32_t *code);

/*
 * Breaks texts into lines at blanks.
 */

/*
 * Writes `text` from the column `indent` on (where the cursor is), broken at blanks before `columns`, with further
 * lines indented alike; ends the line. A word longer than a line is not broken.
 */
void rig_wrap(const char *text, size_t indent, size_t columns, struct rig_buf *out);

/*
 * Breaks at blanks those lines of a finished text, a table for example, that are longer than `columns`. The rest of a
 * row stands below its second column, which follows the first gap of two blanks, where that begins in the left half;
 * else two columns to the right of the row's beginning. Sequences that set colours take no column. A word longer than a
 * line is not broken.
 */
void rig_wrap_rows(const char *text, size_t columns, struct rig_buf *out);

/* Whether a code point neither controls a terminal nor changes the direction of writing. */
bool rig_printable_is(uint32_t code);

/* Makes `text` one printable line, in place; it never grows. Line ends and tabs become blanks, the rest `?`. */
void rig_printable_line(char *text);
/* The same, but line feeds stay. */
void rig_printable_lines(char *text);
/* The same, of a buffer. */
void rig_printable_buf(struct rig_buf *buf);

#endif
