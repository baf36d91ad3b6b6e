#include "jobs/store/store_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/output_file.h"

static const char first_line[] = "rig keeps a run in this folder\n";

enum { PATH_BYTES = 4096 + 16 };

/* Makes the mark in the folder at `path` and holds it: until *hold is closed, or the process ends. */
static enum rig_rc run_mark_make(const char *path, int *hold, struct rig_err *err)
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

/* Records and logs hold data of the database: only the user that ran rig may read them. */
enum { FOLDER_MODE = 0700, NAME_ATTEMPTS = 100 };

static enum rig_rc fail_create(const char *path, struct rig_err *err)
{
    const bool is_of_path = rig_output_is_of_path(errno);
    return rig_fail(err, is_of_path ? RIG_E_USAGE : RIG_E_IO, "%s: cannot create the folder: %s", path,
                    strerror(errno));
}

/* Makes the folder and those above it. */
static enum rig_rc make_all(const char *path, struct rig_err *err)
{
    char partial[RIG_STORE_PATH_BYTES];
    (void)snprintf(partial, sizeof partial, "%s", path);
    for (char *slash = partial + 1; *slash != '\0'; slash++) {
        if (*slash != '/')
            continue;
        *slash = '\0';
        if (mkdir(partial, FOLDER_MODE) != 0 && errno != EEXIST)
            return fail_create(partial, err);
        *slash = '/';
    }
    return mkdir(partial, FOLDER_MODE) == 0 || errno == EEXIST ? RIG_OK : fail_create(partial, err);
}

/* Two runs may begin in one millisecond. */
static enum rig_rc make_timed(const char *parent, char path[RIG_STORE_PATH_BYTES], char time[32], struct rig_err *err)
{
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        rig_clock_utc_text(time, 32);
        int length = snprintf(path, RIG_STORE_PATH_BYTES, "%s/%s", parent, time);
        if (length < 0 || length >= RIG_STORE_PATH_BYTES)
            return rig_fail(err, RIG_E_IO, "%s: the path is too long", parent);
        if (mkdir(path, FOLDER_MODE) == 0)
            return RIG_OK;
        if (errno != EEXIST)
            break;
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    }
    return fail_create(path, err);
}

static enum rig_rc move_link(const char *parent, const char *target, struct rig_err *err)
{
    char link[RIG_STORE_PATH_BYTES + 16];
    (void)snprintf(link, sizeof link, "%s/latest", parent);
    return rig_output_link(target, link, err);
}

int rig_store_lock_name(int store, const char *name)
{
    const int folder = openat(store, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0)
        (void)flock(folder, LOCK_EX); /* where the file system has no locks, the marks have none either */
    return folder;
}

enum rig_rc rig_store_make(const char *store, const char *name, char path[RIG_STORE_PATH_BYTES], int *hold,
                           struct rig_err *err)
{
    char parent[RIG_STORE_PATH_BYTES], made[RIG_STORE_PATH_BYTES], time[32];
    int length = snprintf(parent, sizeof parent, "%s/%s", store, name), lock = -1;
    if (length < 0 || (size_t)length >= sizeof parent)
        return rig_fail(err, RIG_E_IO, "%s: the path is too long", store);
    enum rig_rc rc = make_all(parent, err);
    if (rc == RIG_OK) {
        lock = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (lock >= 0)
            (void)flock(lock, LOCK_EX);
        rc = make_timed(parent, made, time, err);
    }
    if (rc == RIG_OK && hold != NULL)
        rc = run_mark_make(made, hold, err);
    if (rc == RIG_OK)
        rc = move_link(parent, time, err);
    if (rc == RIG_OK) {
        memcpy(path, made, sizeof made);
        rig_output_own_run(path);
    }
    if (lock >= 0)
        (void)close(lock);
    return rc;
}

static bool is_empty(DIR *folder)
{
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return false;
    }
    return true;
}

enum rig_rc rig_store_take(const char *folder, char path[RIG_STORE_PATH_BYTES], int *hold, struct rig_err *err)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (length == 0 || length >= RIG_STORE_PATH_BYTES)
        return rig_fail(err, RIG_E_USAGE, "-o: `%s` cannot be a folder", folder);
    char wanted[RIG_STORE_PATH_BYTES];
    memcpy(wanted, folder, length);
    wanted[length] = '\0';
    enum rig_rc rc = make_all(wanted, err);
    if (rc != RIG_OK)
        return rc;
    DIR *opened = opendir(wanted);
    if (opened == NULL)
        return rig_fail(err, RIG_E_USAGE, "%s: cannot open the folder: %s", wanted, strerror(errno));
    bool empty = is_empty(opened);
    (void)closedir(opened);
    if (!empty)
        return rig_fail(err, RIG_E_USAGE, "%s: the folder is not empty; a run needs one of its own", wanted);
    rc = hold == NULL ? RIG_OK : run_mark_make(wanted, hold, err);
    if (rc == RIG_OK) {
        memcpy(path, wanted, sizeof wanted);
        rig_output_own_run(path);
    }
    return rc;
}
