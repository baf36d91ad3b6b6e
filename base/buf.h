/*
 * Growable byte buffer, born with a maximum.
 *
 * A buffer that reaches its maximum, or for which memory runs out, keeps what it holds, ignores further writes and
 * remembers it in `failed`; callers check once, at the end. Text writers always leave a NUL behind the data.
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

/* Makes room for `more` bytes behind the data and returns where they start, or NULL; the caller adds to `size`. */
char *rig_buf_reserve(struct rig_buf *buf, size_t more);
void rig_buf_add(struct rig_buf *buf, const void *bytes, size_t count);
void rig_buf_add_char(struct rig_buf *buf, char c);
void rig_buf_add_text(struct rig_buf *buf, const char *text);
void rig_buf_printf(struct rig_buf *buf, const char *format, ...) RIG_PRINTF(2, 3);
/* Decimal, faster than printf. */
void rig_buf_add_int(struct rig_buf *buf, long long number);

/* The data as text; "" when empty. Valid until the next write. */
const char *rig_buf_text(const struct rig_buf *buf);
/* Reads a whole file (at most the limit) behind the data. "-" is standard input. */
enum rig_rc rig_buf_read_file(struct rig_buf *buf, const char *path, struct rig_err *err);
/* Goes on reading from `fd`, which errors call `path`, until the buffer has so many bytes, or a few more, or the file
 * ends: it has fewer then. */
enum rig_rc rig_buf_read_up_to(struct rig_buf *buf, int fd, size_t size, const char *path, struct rig_err *err);

#endif
