#include "jobs/store/run_mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "rig keeps a run in this folder\n";

enum { PATH_BYTES = 4096 + 16 };

enum rig_rc rig_run_mark_make(const char *path, int *hold, struct rig_err *err)
{
    char mark[PATH_BYTES];
    const int length = snprintf(mark, sizeof mark, "%s/" RIG_RUN_MARK, path);
    if (length < 0 || (size_t)length >= sizeof mark)
        return rig_fail(err, RIG_E_IO, "%s: the path is too long", path);
    const int fd = open(mark, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot create: %s", mark, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 ||
        write(fd, first_line, sizeof first_line - 1) != (ssize_t)sizeof first_line - 1) {
        const enum rig_rc rc = rig_fail(err, RIG_E_IO, "%s: %s", mark, strerror(errno));
        (void)close(fd);
        (void)unlink(mark);
        return rc;
    }
    *hold = fd;
    return RIG_OK;
}

/* A descriptor of the mark; -1 where there is none, -2 where something else has its name. */
static int open_mark(int folder)
{
    char line[sizeof first_line];
    struct stat status;
    if (fstatat(folder, RIG_RUN_MARK, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? -1 : -2;
    if (!S_ISREG(status.st_mode) || status.st_nlink != 1 || status.st_uid != geteuid())
        return -2;
    const int fd = openat(folder, RIG_RUN_MARK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -2;
    const ssize_t size = read(fd, line, sizeof line);
    if (size == (ssize_t)sizeof first_line - 1 && memcmp(line, first_line, sizeof first_line - 1) == 0)
        return fd;
    (void)close(fd);
    return -2;
}

enum rig_run_mark rig_run_mark_take(int folder, int *hold)
{
    const int fd = open_mark(folder);
    if (fd < 0)
        return fd == -1 ? RIG_RUN_MARK_NONE : RIG_RUN_MARK_FOREIGN;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        (void)close(fd);
        return RIG_RUN_MARK_HELD;
    }
    *hold = fd;
    return RIG_RUN_MARK_IDLE;
}

/* A shared lock, so that two looks at a time do not take each other for a run. */
enum rig_run_mark rig_run_mark_look(int folder)
{
    const int fd = open_mark(folder);
    if (fd < 0)
        return fd == -1 ? RIG_RUN_MARK_NONE : RIG_RUN_MARK_FOREIGN;
    const bool is_idle = flock(fd, LOCK_SH | LOCK_NB) == 0;
    (void)close(fd);
    return is_idle ? RIG_RUN_MARK_IDLE : RIG_RUN_MARK_HELD;
}

bool rig_run_mark_held_below(int folder, int depth)
{
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    bool is_held = false;
    if (entries == NULL) {
        if (again >= 0)
            (void)close(again);
        return true; /* not known, so as if it were */
    }
    for (const struct dirent *entry; !is_held && (entry = readdir(entries)) != NULL;) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode))
            continue;
        const int below = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        is_held = below < 0 || rig_run_mark_look(below) == RIG_RUN_MARK_HELD ||
                  (depth > 1 && rig_run_mark_held_below(below, depth - 1));
        if (below >= 0)
            (void)close(below);
    }
    (void)closedir(entries);
    return is_held;
}
