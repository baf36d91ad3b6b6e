/*
 * The disk as a node's processes see it: syncs that are slow, fail or lie, a disk that is full, and an account of what
 * is not durable.
 *
 * A full disk refuses writes that make a file grow; writes over existing bytes still work. Only regular files and
 * folders below the node's own folder are affected, not sockets, pipes and logs elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "nemesis/shim/shim_undo.h"

RIG_SHIM_REAL(fsync)
RIG_SHIM_REAL(fdatasync)
RIG_SHIM_REAL(write)
RIG_SHIM_REAL(writev)
RIG_SHIM_REAL(pwrite)
RIG_SHIM_REAL(pwrite64)
RIG_SHIM_REAL(pwritev)
RIG_SHIM_REAL(pwritev64)
RIG_SHIM_REAL(fallocate)
RIG_SHIM_REAL(fallocate64)
RIG_SHIM_REAL(posix_fallocate)
RIG_SHIM_REAL(posix_fallocate64)
RIG_SHIM_REAL(ftruncate)
RIG_SHIM_REAL(ftruncate64)
RIG_SHIM_REAL(unlink)

/* -- which files --------------------------------------------------------------------------------------------------- */

/* "/proc/self/fd/<fd>" without the C library's formatting, which is not safe in signal handlers. */
static void descriptor_path(int fd, char path[40])
{
    static const char prefix[] = "/proc/self/fd/";
    char digits[12];
    size_t count = 0;
    size_t at = sizeof prefix - 1;
    memcpy(path, prefix, at);
    do {
        digits[count++] = (char)('0' + fd % 10);
        fd /= 10;
    } while (fd > 0);
    while (count > 0)
        path[at++] = digits[--count];
    path[at] = '\0';
}

bool rig_shim_is_meant(const struct rig_shim_control *orders, int fd)
{
    char path[40], target[RIG_SHIM_FOLDER_BYTES];
    const size_t length = strlen(orders->folder);
    if (fd < 0 || length == 0)
        return false;
    descriptor_path(fd, path);
    const ssize_t got = readlink(path, target, sizeof target);
    return got >= (ssize_t)length && memcmp(target, orders->folder, length) == 0 &&
           (got == (ssize_t)length || target[length] == '/');
}

/* -- syncs --------------------------------------------------------------------------------------------------------- */

static bool is_chosen(struct rig_shim_control *orders)
{
    return (rig_shim_draw(0) >> 32) < atomic_load(&orders->share);
}

static void wait_for(int64_t delay_ns)
{
    struct timespec left = {.tv_sec = delay_ns / 1000000000, .tv_nsec = delay_ns % 1000000000};
    const int before = errno;
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
    errno = before;
}

/* The treatment of this sync. */
static uint32_t order_for(struct rig_shim_control *orders, int fd)
{
    const uint32_t order = orders == NULL ? RIG_SHIM_SYNC_REAL : atomic_load(&orders->sync);
    if (order == RIG_SHIM_SYNC_REAL)
        return RIG_SHIM_SYNC_REAL;
    const int before = errno;
    const bool meant = rig_shim_is_meant(orders, fd) && is_chosen(orders);
    errno = before;
    if (!meant)
        return RIG_SHIM_SYNC_REAL;
    (void)atomic_fetch_add(&orders->syncs, 1);
    return order;
}

static int really_sync(int fd, int (*really)(int fd))
{
    const int answer = really(fd);
    if (answer == 0)
        rig_shim_after_sync(fd);
    return answer;
}

static int answer_sync(int fd, int (*really)(int fd))
{
    struct rig_shim_control *orders = rig_shim_orders();
    switch (order_for(orders, fd)) {
    case RIG_SHIM_SYNC_LIE:
        return 0;
    case RIG_SHIM_SYNC_FAIL:
        errno = EIO;
        return -1;
    case RIG_SHIM_SYNC_SLOW:
        wait_for(atomic_load(&orders->delay_ns));
        return really_sync(fd, really);
    default:
        return really_sync(fd, really);
    }
}

static int sync_file(int fd, int (*really)(int fd))
{
    const int answer = answer_sync(fd, really);
    rig_shim_jitter(RIG_SHIM_CALL_DISK);
    return answer;
}

RIG_SHIM_EXPORT int fsync(int fd)
{
    return sync_file(fd, real_fsync());
}

RIG_SHIM_EXPORT int fdatasync(int fd)
{
    return sync_file(fd, real_fdatasync());
}

/* -- a full disk --------------------------------------------------------------------------------------------------- */

static bool would_grow(int fd, int64_t offset, size_t size)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    if (offset == RIG_SHIM_AT_POSITION) {
        const int flags = fcntl(fd, F_GETFL);
        offset = flags >= 0 && (flags & O_APPEND) != 0 ? status.st_size : lseek(fd, 0, SEEK_CUR);
    }
    return offset >= 0 && (int64_t)size > status.st_size - offset;
}

static bool is_full(int fd, int64_t offset, size_t size)
{
    struct rig_shim_control *orders = rig_shim_orders();
    if (orders == NULL || atomic_load(&orders->full) == 0)
        return false;
    const int before = errno;
    const bool refused = rig_shim_is_meant(orders, fd) && would_grow(fd, offset, size);
    errno = before;
    if (refused)
        (void)atomic_fetch_add(&orders->grows, 1);
    return refused;
}

static size_t size_of(const struct iovec *parts, int count)
{
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    return size;
}

static int no_space(void)
{
    errno = ENOSPC;
    return -1;
}

/* Only after writes to a position: others may be to sockets and pipes, also those of signal handlers. */
static ssize_t then_jitter(ssize_t written)
{
    rig_shim_jitter(RIG_SHIM_CALL_DISK);
    return written;
}

/* Whether the write is refused. One that is not will change the file. */
static bool is_refused(int fd, int64_t offset, size_t size)
{
    if (is_full(fd, offset, size))
        return true;
    rig_shim_before_write(fd, offset, size);
    return false;
}

RIG_SHIM_EXPORT ssize_t write(int fd, const void *bytes, size_t size)
{
    return is_refused(fd, RIG_SHIM_AT_POSITION, size) ? no_space() : real_write()(fd, bytes, size);
}

RIG_SHIM_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return is_refused(fd, RIG_SHIM_AT_POSITION, size_of(parts, count)) ? no_space() : real_writev()(fd, parts, count);
}

RIG_SHIM_EXPORT ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return is_refused(fd, offset, size) ? no_space() : then_jitter(real_pwrite()(fd, bytes, size, offset));
}

RIG_SHIM_EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    return is_refused(fd, offset, size) ? no_space() : then_jitter(real_pwrite64()(fd, bytes, size, offset));
}

RIG_SHIM_EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    return is_refused(fd, offset, size_of(parts, count)) ? no_space()
                                                         : then_jitter(real_pwritev()(fd, parts, count, offset));
}

RIG_SHIM_EXPORT ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset)
{
    return is_refused(fd, offset, size_of(parts, count)) ? no_space()
                                                         : then_jitter(real_pwritev64()(fd, parts, count, offset));
}

RIG_SHIM_EXPORT int ftruncate(int fd, off_t size)
{
    rig_shim_before_truncate(fd, size);
    return real_ftruncate()(fd, size);
}

RIG_SHIM_EXPORT int ftruncate64(int fd, off64_t size)
{
    rig_shim_before_truncate(fd, size);
    return real_ftruncate64()(fd, size);
}

RIG_SHIM_EXPORT int unlink(const char *path)
{
    rig_shim_before_unlink(path);
    return real_unlink()(path);
}

RIG_SHIM_EXPORT int fallocate(int fd, int mode, off_t offset, off_t size)
{
    return is_full(fd, offset, (size_t)size) ? no_space() : real_fallocate()(fd, mode, offset, size);
}

RIG_SHIM_EXPORT int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
    return is_full(fd, offset, (size_t)size) ? no_space() : real_fallocate64()(fd, mode, offset, size);
}

RIG_SHIM_EXPORT int posix_fallocate(int fd, off_t offset, off_t size)
{
    return is_full(fd, offset, (size_t)size) ? ENOSPC : real_posix_fallocate()(fd, offset, size);
}

RIG_SHIM_EXPORT int posix_fallocate64(int fd, off64_t offset, off64_t size)
{
    return is_full(fd, offset, (size_t)size) ? ENOSPC : real_posix_fallocate64()(fd, offset, size);
}
