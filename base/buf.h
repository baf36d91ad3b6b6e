/*
 * Growable byte buffer with a maximum.
 *
 * A buffer that reaches its maximum, or for which memory runs out, keeps its data, ignores further writes and sets
 * `failed`; callers check once, at the end. Text writers always end the data with a NUL.
 *
 * Threads: one at a time.
 */
#ifndef RIG_BASE_BUF_H
#define RIG_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct rig_buf {
    char *data; /* NULL while empty; use rig_buf_text() for text */
    size_t size;
    size_t capacity;
    size_t limit;
    bool failed;
};

/* `limit` in bytes; 0 means 1 GiB. Allocates nothing yet. */
void rig_buf_init(struct rig_buf *buf, size_t limit);
void rig_buf_done(struct rig_buf *buf);
/* Empties the buffer, keeps its memory. */
void rig_buf_clear(struct rig_buf *buf);

/* Makes room for `more` bytes after the data and returns its start, or NULL; the caller increases `size`. */
char *rig_buf_reserve(struct rig_buf *buf, size_t more);
void rig_buf_add(struct rig_buf *buf, const void *bytes, size_t count);
void rig_buf_add_char(struct rig_buf *buf, char c);
void rig_buf_add_text(struct rig_buf *buf, const char *text);
void rig_buf_printf(struct rig_buf *buf, const char *format, ...) RIG_PRINTF(2, 3);
/* Decimal, faster than printf. */
void rig_buf_add_int(struct rig_buf *buf, long long number);

/* The data as text; "" when empty. Valid until the next write. */
const char *rig_buf_text(const struct rig_buf *buf);
/* Appends a whole file (at most the limit). "-" is standard input. */
enum rig_rc rig_buf_read_file(struct rig_buf *buf, const char *path, struct rig_err *err);
/* Appends a whole file that the user named: RIG_E_INPUT where it cannot be read. */
enum rig_rc rig_buf_read_input(struct rig_buf *buf, const char *path, struct rig_err *err);
/* Reads on from `fd` (`path` in errors) until the buffer has at least `size` bytes, or fewer if the file ends. */
enum rig_rc rig_buf_read_up_to(struct rig_buf *buf, int fd, size_t size, const char *path, struct rig_err *err);

#endif
