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
#include <stdint.h>

#include "base/buf.h"

/* Whether a code point neither controls a terminal nor changes the direction of writing. */
bool rig_printable_is(uint32_t code);

/* Makes `text` one printable line, in place; it never grows. Line ends and tabs become blanks, the rest `?`. */
void rig_printable_line(char *text);
/* The same, but line feeds stay. */
void rig_printable_lines(char *text);
/* The same, of a buffer. */
void rig_printable_buf(struct rig_buf *buf);

#endif
