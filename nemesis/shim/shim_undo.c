#include "nemesis/shim/shim_undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

RIG_SHIM_REAL(writev)
RIG_SHIM_REAL(unlink)

enum { PATH_BYTES = RIG_SHIM_FOLDER_BYTES + 512 };

/* The orders, when account is kept. */
static struct rig_shim_control *orders_of_undo(void)
{
    struct rig_shim_control *orders = rig_shim_orders();
    return orders != NULL && atomic_load_explicit(&orders->durable, memory_order_acquire) != 0 ? orders : NULL;
}

/* ---- names ---- */

static bool join(char path[PATH_BYTES], const char *first, const char *second, const char *third)
{
    const size_t lengths[] = {strlen(first), strlen(second), strlen(third)};
    if (lengths[0] + lengths[1] + lengths[2] + 2 > PATH_BYTES)
        return false;
    memcpy(path, first, lengths[0]);
    memcpy(path + lengths[0], second, lengths[1]);
    path[lengths[0] + lengths[1]] = '/';
    memcpy(path + lengths[0] + lengths[1] + 1, third, lengths[2] + 1);
    return true;
}

static uint64_t born_ns(const struct statx *status)
{
    return (status->stx_mask & STATX_BTIME) == 0
               ? 0
               : (uint64_t)status->stx_btime.tv_sec * 1000000000 + status->stx_btime.tv_nsec;
}

/* The path of the log or folder that belongs to the file; its status in `status`. */
static bool undo_path(const struct rig_shim_control *orders, char kind, int fd, struct statx *status,
                      char path[PATH_BYTES])
{
    char name[RIG_SHIM_UNDO_NAME_BYTES];
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, status) != 0)
        return false;
    rig_shim_undo_name(kind, status->stx_ino, born_ns(status), name);
    return join(path, orders->folder, RIG_SHIM_UNDO_SUFFIX, name);
}

/* ---- logs ---- */

static void count(struct rig_shim_control *orders, bool saved, uint64_t bytes)
{
    (void)atomic_fetch_add(saved ? &orders->undos : &orders->undos_lost, 1);
    (void)atomic_fetch_add(&orders->undo_bytes, bytes);
}

/* One record: the piece of the file at `offset`, which has at most RIG_SHIM_UNDO_MOST bytes. */
static bool save_piece(int log, int file, uint64_t offset, size_t length, uint64_t size)
{
    char bytes[RIG_SHIM_UNDO_MOST];
    struct rig_shim_undo head = {.magic = RIG_SHIM_UNDO_MAGIC, .offset = offset, .size = size, .length = length};
    const struct iovec parts[] = {{.iov_base = &head, .iov_len = sizeof head}, {.iov_base = bytes, .iov_len = length}};
    if (length > 0 && pread(file, bytes, length, (off_t)offset) != (ssize_t)length)
        return false;
    return real_writev()(log, parts, 2) == (ssize_t)(sizeof head + length);
}

/* Saves what the file has from `offset` up to `end`, and its size. */
static bool save_range(int log, int file, uint64_t offset, uint64_t end, uint64_t size)
{
    bool saved = true;
    if (end > size)
        end = size;
    do {
        const uint64_t left = end > offset ? end - offset : 0;
        const size_t length = left < RIG_SHIM_UNDO_MOST ? (size_t)left : RIG_SHIM_UNDO_MOST;
        saved = save_piece(log, file, offset, length, size);
        offset += length;
    } while (saved && offset < end);
    return saved;
}

/* Another descriptor to read the file by: the program's own may be for writing only. */
static int open_again(int fd)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void save(struct rig_shim_control *orders, int fd, int64_t offset, uint64_t length, bool truncates)
{
    struct statx status;
    char path[PATH_BYTES];
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || !rig_shim_is_meant(orders, fd) || !undo_path(orders, 'w', fd, &status, path) ||
        !S_ISREG(status.stx_mode))
        return;
    if ((flags & (O_SYNC | O_DSYNC)) != 0 && !truncates) {
        (void)real_unlink()(path); /* the write makes itself durable, and with it, as some disks do, those before */
        return;
    }
    if (offset == RIG_SHIM_AT_POSITION)
        offset = (flags & O_APPEND) != 0 ? (int64_t)status.stx_size : lseek(fd, 0, SEEK_CUR);
    const uint64_t start = offset < 0 ? 0 : (uint64_t)offset;
    const uint64_t end = truncates ? status.stx_size : start + length;
    const bool reads = (flags & O_ACCMODE) == O_RDWR;
    const int file = reads ? fd : open_again(fd);
    const int log = file < 0 ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool saved = log >= 0 && offset >= 0 && save_range(log, file, start, end, status.stx_size);
    count(orders, saved, sizeof(struct rig_shim_undo) + (end > start ? end - start : 0));
    if (log >= 0)
        (void)close(log);
    if (!reads && file >= 0)
        (void)close(file);
}

void rig_shim_before_write(int fd, int64_t offset, size_t size)
{
    struct rig_shim_control *orders = orders_of_undo();
    const int before = errno;
    if (orders != NULL && size > 0)
        save(orders, fd, offset, size, false);
    errno = before;
}

void rig_shim_before_truncate(int fd, int64_t size)
{
    struct rig_shim_control *orders = orders_of_undo();
    const int before = errno;
    if (orders != NULL && size >= 0)
        save(orders, fd, size, 0, true);
    errno = before;
}

/* ---- removed files ---- */

/* Opens the folder of a path below the node's own; -1 when it is another one. */
static int open_parent(const struct rig_shim_control *orders, const char *path, const char **name)
{
    char parent[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 1 : (size_t)(slash - path);
    *name = slash == NULL ? path : slash + 1;
    if (length + 2 > sizeof parent)
        return -1;
    memcpy(parent, slash == NULL ? "." : path, length);
    parent[length] = '\0';
    const int fd = open(length == 0 ? "/" : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && !rig_shim_is_meant(orders, fd)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static void keep(struct rig_shim_control *orders, const char *path)
{
    struct statx status;
    char folder[PATH_BYTES], kept[PATH_BYTES];
    const char *name;
    const int parent = open_parent(orders, path, &name);
    if (parent < 0)
        return;
    if (undo_path(orders, 'd', parent, &status, folder) && join(kept, folder, "", name)) {
        (void)mkdir(folder, 0700);
        /* The first of this name is the one that is durable. */
        const bool linked = linkat(parent, name, AT_FDCWD, kept, 0) == 0;
        if (linked || (errno != EEXIST && errno != ENOENT))
            count(orders, linked, 0);
    }
    (void)close(parent);
}

void rig_shim_before_unlink(const char *path)
{
    struct rig_shim_control *orders = orders_of_undo();
    const int before = errno;
    if (orders != NULL)
        keep(orders, path);
    errno = before;
}

/* ---- syncs ---- */

/* Moved aside in one step; rig removes it. */
static void drop_folder(struct rig_shim_control *orders, const char *folder)
{
    char aside[PATH_BYTES], name[RIG_SHIM_UNDO_NAME_BYTES];
    static _Atomic uint64_t number;
    rig_shim_undo_name('x', (uint64_t)getpid(), atomic_fetch_add(&number, 1), name);
    if (join(aside, orders->folder, RIG_SHIM_UNDO_SUFFIX, name))
        (void)rename(folder, aside);
}

void rig_shim_after_sync(int fd)
{
    struct rig_shim_control *orders = orders_of_undo();
    const int before = errno;
    struct statx status;
    char path[PATH_BYTES];
    if (orders != NULL && rig_shim_is_meant(orders, fd) && undo_path(orders, 'w', fd, &status, path)) {
        if (S_ISREG(status.stx_mode))
            (void)real_unlink()(path);
        else if (S_ISDIR(status.stx_mode) && undo_path(orders, 'd', fd, &status, path))
            drop_folder(orders, path);
    }
    errno = before;
}
