#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"

enum { DEPTH_MOST = 32, LINK_BYTES = 4096, MOVE_BYTES = 1 << 20 };

static bool is_self_or_parent(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static DIR *open_below(int parent, const char *name)
{
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    if (entries == NULL && folder >= 0)
        (void)close(folder);
    return entries;
}

/* ---- removing ---- */

static void remove_below(int parent, const char *name, dev_t device, int depth);

/* Removes what is in the open folder and on the same file system, except `kept`; NULL: no exception. */
static void empty(DIR *entries, const char *kept, dev_t device, int depth)
{
    const struct dirent *entry;
    while (depth > 0 && (entry = readdir(entries)) != NULL) {
        if (is_self_or_parent(entry->d_name) || (kept != NULL && strcmp(entry->d_name, kept) == 0))
            continue;
        if (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN)
            remove_below(dirfd(entries), entry->d_name, device, depth - 1);
        else
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
    }
}

/* A folder that is not readable or not on `device` stays. */
static void remove_below(int parent, const char *name, dev_t device, int depth)
{
    struct stat status;
    DIR *entries = open_below(parent, name);
    if (entries == NULL) {
        (void)unlinkat(parent, name, 0);
        return;
    }
    if (fstat(dirfd(entries), &status) == 0 && status.st_dev == device)
        empty(entries, NULL, device, depth);
    (void)closedir(entries);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void rig_folder_remove(const char *path)
{
    struct stat status;
    RIG_REQUIRE(path[0] == '/' && path[1] != '\0');
    if (lstat(path, &status) == 0)
        remove_below(AT_FDCWD, path, status.st_dev, DEPTH_MOST);
}

bool rig_folder_empty(int folder, const char *last)
{
    struct stat status;
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    bool is_empty = entries != NULL && fstat(folder, &status) == 0;
    if (is_empty) {
        empty(entries, last, status.st_dev, DEPTH_MOST);
        rewinddir(entries);
    }
    for (const struct dirent *entry; is_empty && (entry = readdir(entries)) != NULL;)
        is_empty = is_self_or_parent(entry->d_name) || strcmp(entry->d_name, last) == 0;
    if (entries != NULL)
        (void)closedir(entries);
    else if (again >= 0)
        (void)close(again);
    return is_empty && unlinkat(folder, last, 0) == 0;
}

/* ---- copying ---- */

struct copy {
    const struct rig_account *account;
    struct rig_err *err;
};

static enum rig_rc failed(const struct copy *copy, const char *name)
{
    return rig_fail(copy->err, RIG_E_IO, "copying %s: %s", name, strerror(errno));
}

static bool give(const struct copy *copy, int folder, const char *name)
{
    return !copy->account->drop ||
           fchownat(folder, name, copy->account->uid, copy->account->gid, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool move_bytes(int from, int to)
{
    if (ioctl(to, FICLONE, from) == 0)
        return true;
    for (;;) {
        ssize_t moved = copy_file_range(from, NULL, to, NULL, MOVE_BYTES, 0);
        if (moved == 0)
            return true;
        if (moved < 0 && errno != EINTR)
            break;
    }
    /* Not supported between these two (an old kernel, two file systems): copy by hand, from where it stopped. */
    char buffer[65536];
    ssize_t length;
    while ((length = read(from, buffer, sizeof buffer)) > 0) {
        if (write(to, buffer, (size_t)length) != length)
            return false;
    }
    return length == 0;
}

static enum rig_rc copy_file(const struct copy *copy, int from_folder, int to_folder, const char *name, mode_t mode)
{
    int from = openat(from_folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int to = from < 0 ? -1 : openat(to_folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
    bool copied = to >= 0 && move_bytes(from, to) && give(copy, to_folder, name);
    int error = errno;
    if (from >= 0)
        (void)close(from);
    if (to >= 0)
        (void)close(to);
    errno = error;
    return copied ? RIG_OK : failed(copy, name);
}

static enum rig_rc copy_link(const struct copy *copy, int from_folder, int to_folder, const char *name)
{
    char target[LINK_BYTES];
    ssize_t length = readlinkat(from_folder, name, target, sizeof target - 1);
    if (length < 0)
        return failed(copy, name);
    target[length] = '\0';
    return symlinkat(target, to_folder, name) == 0 && give(copy, to_folder, name) ? RIG_OK : failed(copy, name);
}

static enum rig_rc copy_folder(const struct copy *copy, int from_parent, const char *from_name, int to_parent,
                               const char *to_name, int depth);

static enum rig_rc copy_entry(const struct copy *copy, int from_folder, int to_folder, const char *name, int depth)
{
    struct stat status;
    if (fstatat(from_folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return failed(copy, name);
    if (S_ISDIR(status.st_mode))
        return copy_folder(copy, from_folder, name, to_folder, name, depth);
    if (S_ISLNK(status.st_mode))
        return copy_link(copy, from_folder, to_folder, name);
    if (S_ISREG(status.st_mode))
        return copy_file(copy, from_folder, to_folder, name, status.st_mode);
    return RIG_OK; /* sockets and the like are not copied */
}

static enum rig_rc copy_folder(const struct copy *copy, int from_parent, const char *from_name, int to_parent,
                               const char *to_name, int depth)
{
    if (depth == 0)
        return rig_fail(copy->err, RIG_E_IO, "copying %s: more than %d folders deep", from_name, DEPTH_MOST);
    DIR *entries = open_below(from_parent, from_name);
    struct stat status;
    if (entries == NULL || fstat(dirfd(entries), &status) != 0 ||
        mkdirat(to_parent, to_name, status.st_mode & 0777) != 0) {
        enum rig_rc rc = failed(copy, from_name);
        if (entries != NULL)
            (void)closedir(entries);
        return rc;
    }
    enum rig_rc rc = RIG_OK;
    int to = openat(to_parent, to_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (to < 0 || !give(copy, to_parent, to_name))
        rc = failed(copy, to_name);
    const struct dirent *entry;
    while (rc == RIG_OK && (entry = readdir(entries)) != NULL) {
        if (!is_self_or_parent(entry->d_name))
            rc = copy_entry(copy, dirfd(entries), to, entry->d_name, depth - 1);
    }
    if (to >= 0)
        (void)close(to);
    (void)closedir(entries);
    return rc;
}

enum rig_rc rig_folder_copy(const char *from, const char *to, const struct rig_account *account, struct rig_err *err)
{
    struct copy copy = {.account = account, .err = err};
    return copy_folder(&copy, AT_FDCWD, from, AT_FDCWD, to, DEPTH_MOST);
}

/* ---- measuring ---- */

static uint64_t bytes_below(int parent, const char *name, int depth)
{
    DIR *entries = depth == 0 ? NULL : open_below(parent, name);
    uint64_t bytes = 0;
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        struct stat status;
        if (is_self_or_parent(entry->d_name) ||
            fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        bytes +=
            S_ISDIR(status.st_mode) ? bytes_below(dirfd(entries), entry->d_name, depth - 1) : (uint64_t)status.st_size;
    }
    if (entries != NULL)
        (void)closedir(entries);
    return bytes;
}

uint64_t rig_folder_bytes(const char *path)
{
    return bytes_below(AT_FDCWD, path, DEPTH_MOST);
}

uint64_t rig_folder_bytes_of(int folder)
{
    return bytes_below(folder, ".", DEPTH_MOST);
}
