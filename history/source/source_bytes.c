#include "history/source/source_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"
#include "history/import/cobra_logs.h"

static const size_t largest_at_once_bytes = (size_t)32 << 20;
enum {
    AT_ONCE_SHARE = 16, /* of the limit */
    FIRST_LOOK_BYTES = 64 << 10,
    LAST_LOOK_BYTES = 64 << 20,
    LOOK_FACTOR = 32,
};

/* The beginning first: an input that cannot be a history is not read to its end, which may never come. */
static enum rig_rc read_stream(struct rig_buf *buf, int fd, const char *name, rig_source_look *look,
                               struct rig_err *err)
{
    bool undecided = true;
    enum rig_rc rc = RIG_OK;
    for (size_t size = FIRST_LOOK_BYTES; rc == RIG_OK && undecided && size <= LAST_LOOK_BYTES; size *= LOOK_FACTOR) {
        rc = rig_buf_read_up_to(buf, fd, size, name, err);
        if (rc != RIG_OK || buf->size < size)
            return rc;
        undecided = false;
        rc = look(name, buf->data, buf->size, &undecided, err);
    }
    if (rc == RIG_OK && undecided)
        rc = rig_fail(err, RIG_E_INPUT, "%s:1:1: is not a history: its first operation has no end within %d MiB", name,
                      LAST_LOOK_BYTES >> 20);
    return rc == RIG_OK ? rig_buf_read_up_to(buf, fd, SIZE_MAX, name, err) : rc;
}

static enum rig_rc open_stream(struct rig_source_bytes *bytes, int fd, const char *name, size_t limit_bytes,
                               rig_source_look *look, struct rig_err *err)
{
    struct rig_err why = {0};
    rig_buf_init(&bytes->buf, (limit_bytes == 0 ? rig_machine_memory_bytes() : limit_bytes) / 2);
    enum rig_rc rc = read_stream(&bytes->buf, fd, name, look, &why);
    if (rc == RIG_E_LIMIT)
        return rig_fail(err, rc,
                        "%s: input from a pipe is kept in memory, and may take half of it; save it to a file, which "
                        "is read in parts, or raise --max-memory",
                        name);
    if (rc != RIG_OK)
        return rig_fail(err, rc, "%s", why.text);
    bytes->data = bytes->buf.data;
    bytes->size = bytes->buf.size;
    return rc;
}

static enum rig_rc map(struct rig_source_bytes *bytes, const char *name, size_t size, struct rig_err *err)
{
    bool in_parts = size > bytes->at_once_bytes;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE | (in_parts ? 0 : MAP_POPULATE), bytes->fd, 0);
    if (data == MAP_FAILED)
        return rig_fail(err, RIG_E_IO, "%s: cannot map: %s", name, strerror(errno));
    if (in_parts)
        (void)madvise(data, size, MADV_SEQUENTIAL);
    if (bytes->is_mapped)
        (void)munmap((void *)(uintptr_t)bytes->data, bytes->size);
    bytes->data = data;
    bytes->size = size;
    bytes->in_parts = in_parts;
    bytes->is_mapped = true;
    return RIG_OK;
}

/* Standard input is a file, too, if it was redirected from the beginning of one. */
static enum rig_rc open_input(struct rig_source_bytes *bytes, size_t limit_bytes, rig_source_look *look,
                              struct rig_err *err)
{
    struct stat status;
    if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) {
        bytes->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
        if (bytes->fd >= 0)
            return map(bytes, "standard input", (size_t)status.st_size, err);
    }
    return open_stream(bytes, STDIN_FILENO, "standard input", limit_bytes, look, err);
}

/* The logs in a folder: each is a part of the history. */
static enum rig_rc open_folder(struct rig_source_bytes *bytes, const char *path, size_t limit_bytes,
                               struct rig_err *err)
{
    rig_buf_init(&bytes->buf, (limit_bytes == 0 ? rig_machine_memory_bytes() : limit_bytes) / 2);
    enum rig_rc rc = rig_cobra_folder_read(path, &bytes->buf, err);
    bytes->data = bytes->buf.data;
    bytes->size = bytes->buf.size;
    return rc;
}

static enum rig_rc open_file(struct rig_source_bytes *bytes, const char *path, size_t limit_bytes,
                             rig_source_look *look, struct rig_err *err)
{
    struct stat status;
    bytes->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (bytes->fd < 0 || fstat(bytes->fd, &status) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot open: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode) && rig_cobra_folder(path))
        return open_folder(bytes, path, limit_bytes, err);
    if (S_ISDIR(status.st_mode))
        return rig_fail(err, RIG_E_IO, "%s: is a folder; name the history in it", path);
    if (S_ISREG(status.st_mode) && status.st_size > 0)
        return map(bytes, path, (size_t)status.st_size, err);
    return open_stream(bytes, bytes->fd, path, limit_bytes, look, err);
}

enum rig_rc rig_source_bytes_open(struct rig_source_bytes *bytes, const char *path, size_t limit_bytes, bool grows,
                                  rig_source_look *look, struct rig_err *err)
{
    size_t share = limit_bytes / AT_ONCE_SHARE;
    size_t at_once_bytes = limit_bytes == 0 || share > largest_at_once_bytes ? largest_at_once_bytes : share;
    *bytes = (struct rig_source_bytes){.fd = -1, .at_once_bytes = grows ? 0 : at_once_bytes};
    rig_buf_init(&bytes->buf, 0);
    enum rig_rc rc = strcmp(path, "-") == 0 ? open_input(bytes, limit_bytes, look, err)
                                            : open_file(bytes, path, limit_bytes, look, err);
    if (rc != RIG_OK)
        rig_source_bytes_close(bytes);
    return rc;
}

void rig_source_bytes_borrow(struct rig_source_bytes *bytes, const void *data, size_t size)
{
    *bytes = (struct rig_source_bytes){.data = data, .size = size, .fd = -1};
    rig_buf_init(&bytes->buf, 0);
}

void rig_source_bytes_replace(struct rig_source_bytes *bytes, struct rig_buf *buf)
{
    rig_source_bytes_close(bytes);
    bytes->buf = *buf;
    bytes->data = buf->data;
    bytes->size = buf->size;
    rig_buf_init(buf, 0);
}

void rig_source_bytes_close(struct rig_source_bytes *bytes)
{
    if (bytes->is_mapped)
        (void)munmap((void *)(uintptr_t)bytes->data, bytes->size);
    if (bytes->fd >= 0)
        (void)close(bytes->fd);
    rig_buf_done(&bytes->buf);
    *bytes = (struct rig_source_bytes){.fd = -1};
}

enum rig_rc rig_source_bytes_grow(struct rig_source_bytes *bytes, const char *name, bool *grown, struct rig_err *err)
{
    struct stat status;
    *grown = false;
    if (!bytes->is_mapped)
        return RIG_OK;
    if (fstat(bytes->fd, &status) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot look at it: %s", name, strerror(errno));
    if ((size_t)status.st_size <= bytes->size)
        return RIG_OK;
    *grown = true;
    return map(bytes, name, (size_t)status.st_size, err);
}

/* `advice` for the pages of [begin, end); if the kernel refuses, it only costs time. */
static void advise(const struct rig_source_bytes *bytes, size_t begin, size_t end, int advice)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t first = begin / page_bytes * page_bytes;
    if (bytes->is_mapped && first < end)
        (void)madvise((void *)(uintptr_t)(bytes->data + first), end - first, advice);
}

void rig_source_bytes_prepare(const struct rig_source_bytes *bytes, size_t begin, size_t end)
{
    if (!bytes->in_parts)
        return;
#ifdef MADV_POPULATE_READ
    advise(bytes, begin, end, MADV_POPULATE_READ);
#else
    advise(bytes, begin, end, MADV_WILLNEED);
#endif
}

void rig_source_bytes_release(const struct rig_source_bytes *bytes, size_t begin, size_t end)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    advise(bytes, begin, end / page_bytes * page_bytes, MADV_DONTNEED);
}
