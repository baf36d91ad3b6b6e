/*
 * Reads the atoms of JSON and EDN in place; common to both textual forms below their grammar.
 *
 * A cursor moves through the bytes of one file. Failures name file, line and column, which are counted only for a
 * failure; a cursor without `err` reports none.
 */
#ifndef RIG_HISTORY_TEXT_TEXT_CURSOR_H
#define RIG_HISTORY_TEXT_TEXT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

/*
 * Where the operations of a rewritten text were in the user's file (text/classic_operations.h), so that errors name the
 * line and column of the original operation.
 *
 * Space: 24 bytes an operation. Time: logarithmic an error. Threads: it is filled before any other thread reads it.
 */

struct rig_text_place {
    size_t at; /* byte of the rewritten text; places ascend */
    size_t line, column;
};

RIG_VEC(struct rig_text_place, rig_text_origin)

/* Line and column of the operation that the byte `at` of the rewritten text belongs to: the last one that begins no
 * later. */
const struct rig_text_place *rig_text_origin_find(const struct rig_text_origin *origin, size_t at);

enum { RIG_CURSOR_TEXT_BYTES = 1 << 20 /* longest text that is decoded */ };

struct rig_text_cursor {
    const char *name; /* of the file */
    const char *start;
    const char *at;
    const char *end;
    struct rig_err *err;                  /* NULL: failures need no text */
    const struct rig_text_origin *origin; /* of a rewritten text: failures name the original lines; else NULL */
};

/* A string as written in the file, without its quotes. */
struct rig_text_slice {
    const char *at;
    size_t length;
    bool has_escapes;
};

/* Fails at the byte `at` of the file: "name:line:column: text". */
enum rig_rc rig_cursor_fail(const struct rig_text_cursor *cursor, size_t at, const char *format, ...) RIG_PRINTF(3, 4);
enum rig_rc rig_cursor_no_memory(const struct rig_text_cursor *cursor);
/* The number of the line that the byte `at` is in, from 1. */
size_t rig_cursor_line(const struct rig_text_cursor *cursor, size_t at);

static inline size_t rig_cursor_offset(const struct rig_text_cursor *cursor)
{
    return (size_t)(cursor->at - cursor->start);
}

/* Fails because the text at the cursor is not `wanted`, or the file ends. */
enum rig_rc rig_cursor_unexpected(const struct rig_text_cursor *cursor, const char *wanted);
/* The string with its opening quote at the cursor. `multiline`: it may hold control characters. */
enum rig_rc rig_cursor_string(struct rig_text_cursor *cursor, bool multiline, struct rig_text_slice *slice);
/* The slice's text with its escapes resolved, in the file or in `texts`. */
enum rig_rc rig_cursor_decode(const struct rig_text_cursor *cursor, const struct rig_text_slice *slice,
                              struct rig_arena *texts, const char **text, size_t *length);
/* The integer at the cursor, which fits 64 bits; no fraction, no exponent. */
enum rig_rc rig_cursor_int(struct rig_text_cursor *cursor, int64_t *number);
/*
 * The fast path for the most frequent number, an element of a list: at most 18 digits, followed by any other character.
 * False, without moving, for anything else; rig_cursor_int() then decides.
 */
static inline bool rig_cursor_plain_int(struct rig_text_cursor *cursor, int64_t *number)
{
    const char *at = cursor->at;
    const char *end = cursor->end;
    bool negative = at < end && *at == '-';
    at += negative;
    const char *digits = at;
    int64_t magnitude = 0;
    while (at < end && *at >= '0' && *at <= '9' && at - digits < 18)
        magnitude = magnitude * 10 + (*at++ - '0');
    if (at == digits || at == end || (*digits == '0' && at - digits > 1) || (*at != ',' && *at != ']' && *at != ' '))
        return false;
    *number = negative ? -magnitude : magnitude;
    cursor->at = at;
    return true;
}

/* Whether the slice is exactly `wanted`. */
bool rig_slice_is(const struct rig_text_slice *slice, const char *wanted);

#endif
