/*
 * Writing JSON onto a buffer: the writer keeps track of commas and nesting, so that callers only name members.
 *
 *   rig_json_begin_object(&w, NULL); rig_json_int(&w, "count", 3); rig_json_end(&w);   ->  {"count": 3}
 *
 * `name` is the member's name inside an object, NULL inside an array and at the top. Strings are UTF-8; bytes that are
 * not are written as U+FFFD. Depth is at most RIG_JSON_DEPTH. With `indent` > 0 every member stands on a line of its
 * own down to `indent_depth` levels; deeper values stay on one line.
 */
#ifndef RIG_BASE_JSON_WRITE_H
#define RIG_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { RIG_JSON_DEPTH = 32 };

struct rig_json_writer {
    struct rig_buf *buf; /* borrowed */
    unsigned depth;
    unsigned indent;
    unsigned indent_depth;
    bool has_member[RIG_JSON_DEPTH];
    char closer[RIG_JSON_DEPTH];
};

/* Compact output: ", " and ": " as separators, no line breaks. */
void rig_json_init(struct rig_json_writer *writer, struct rig_buf *buf);
void rig_json_init_indented(struct rig_json_writer *writer, struct rig_buf *buf, unsigned indent,
                            unsigned indent_depth);

void rig_json_begin_object(struct rig_json_writer *writer, const char *name);
void rig_json_begin_array(struct rig_json_writer *writer, const char *name);
void rig_json_end(struct rig_json_writer *writer);

void rig_json_string(struct rig_json_writer *writer, const char *name, const char *text);
/* The same, or null where `text` is NULL. */
void rig_json_text(struct rig_json_writer *writer, const char *name, const char *text);
void rig_json_int(struct rig_json_writer *writer, const char *name, int64_t number);
/* Written with three decimals; not-a-number and infinities become null. */
void rig_json_number(struct rig_json_writer *writer, const char *name, double number);
/* A literal that is already JSON, such as a number with its own precision. */
void rig_json_plain(struct rig_json_writer *writer, const char *name, const char *literal);
void rig_json_bool(struct rig_json_writer *writer, const char *name, bool value);
void rig_json_null(struct rig_json_writer *writer, const char *name);

/* `length` bytes of text as a JSON string with its quotes, appended to a buffer. */
void rig_json_quote(struct rig_buf *buf, const char *text, size_t length);

#endif
