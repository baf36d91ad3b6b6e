#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"

static const size_t default_limit = (size_t)1 << 30;

void rig_buf_init(struct rig_buf *buf, size_t limit)
{
    *buf = (struct rig_buf){.limit = limit == 0 ? default_limit : limit};
}

void rig_buf_done(struct rig_buf *buf)
{
    free(buf->data);
    rig_buf_init(buf, buf->limit);
}

void rig_buf_clear(struct rig_buf *buf)
{
    buf->size = 0;
    buf->failed = false;
    if (buf->data != NULL)
        buf->data[0] = '\0';
}

char *rig_buf_reserve(struct rig_buf *buf, size_t more)
{
    if (buf->failed)
        return NULL;
    if (more > buf->limit - buf->size) {
        buf->failed = true;
        return NULL;
    }
    if (more <= buf->capacity - buf->size && buf->capacity > 0)
        return buf->data + buf->size;
    size_t capacity = buf->capacity == 0 ? 256 : buf->capacity;
    while (capacity - buf->size < more)
        capacity *= 2;
    char *data = realloc(buf->data, capacity + 1); /* room for the NUL, always */
    if (data == NULL) {
        buf->failed = true;
        return NULL;
    }
    buf->data = data;
    buf->capacity = capacity;
    return data + buf->size;
}

void rig_buf_add(struct rig_buf *buf, const void *bytes, size_t count)
{
    if (count == 0)
        return;
    char *room = rig_buf_reserve(buf, count);
    if (room == NULL)
        return;
    memcpy(room, bytes, count);
    buf->size += count;
    buf->data[buf->size] = '\0';
}

void rig_buf_add_char(struct rig_buf *buf, char c)
{
    rig_buf_add(buf, &c, 1);
}

void rig_buf_add_text(struct rig_buf *buf, const char *text)
{
    rig_buf_add(buf, text, strlen(text));
}

void rig_buf_printf(struct rig_buf *buf, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    RIG_INVARIANT(length >= 0);
    char *room = rig_buf_reserve(buf, (size_t)length);
    if (room != NULL) {
        (void)vsnprintf(room, (size_t)length + 1, format, again);
        buf->size += (size_t)length;
    }
    va_end(again);
}

void rig_buf_add_int(struct rig_buf *buf, long long number)
{
    char digits[24];
    size_t at = sizeof digits;
    unsigned long long rest = number < 0 ? 0ULL - (unsigned long long)number : (unsigned long long)number;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (number < 0)
        digits[--at] = '-';
    rig_buf_add(buf, digits + at, sizeof digits - at);
}

const char *rig_buf_text(const struct rig_buf *buf)
{
    return buf->data == NULL || buf->size == 0 ? "" : buf->data;
}

enum rig_rc rig_buf_read_up_to(struct rig_buf *buf, int fd, size_t size, const char *path, struct rig_err *err)
{
    while (buf->size < size) {
        char one; /* a full buffer only tests whether the file ends here */
        size_t want = (size_t)64 << 10;
        if (want > buf->limit - buf->size)
            want = buf->limit - buf->size;
        char *room = want == 0 ? &one : rig_buf_reserve(buf, want);
        if (room == NULL)
            return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "reading it", path);
        ssize_t done = read(fd, room, want == 0 ? 1 : want);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return rig_fail(err, RIG_E_IO, "%s: cannot read: %s", path, strerror(errno));
        if (done == 0)
            return RIG_OK;
        if (want == 0)
            return rig_fail(err, RIG_E_LIMIT, "%s: larger than %zu bytes", path, buf->limit);
        buf->size += (size_t)done;
        buf->data[buf->size] = '\0';
    }
    return RIG_OK;
}

enum rig_rc rig_buf_read_file(struct rig_buf *buf, const char *path, struct rig_err *err)
{
    if (strcmp(path, "-") == 0)
        return rig_buf_read_up_to(buf, STDIN_FILENO, SIZE_MAX, "standard input", err);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot open: %s", path, strerror(errno));
    enum rig_rc rc = rig_buf_read_up_to(buf, fd, SIZE_MAX, path, err);
    (void)close(fd);
    return rc;
}

enum rig_rc rig_buf_read_input(struct rig_buf *buf, const char *path, struct rig_err *err)
{
    struct rig_err own = {.rc = RIG_OK};
    const enum rig_rc rc = rig_buf_read_file(buf, path, &own);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc == RIG_E_IO ? RIG_E_INPUT : rc, "%s", own.text);
}
