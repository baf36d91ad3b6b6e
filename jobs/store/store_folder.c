#include "jobs/store/store_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "jobs/store/stored_run.h"
#include "report/charts.h"
#include "report/witness_file.h"

/* A run, its `smallest`, its runs, a run, its witnesses. */
enum { NESTED_MOST = 6, NAME_BYTES = 64, SHOWN_BYTES = 600 };

struct removal {
    const char *name, *time;
    int parent, folder, hold;
    bool kept_too;
    struct rig_err *err;
};

static enum rig_rc refuse(const struct removal *removal, const char *why)
{
    char shown[SHOWN_BYTES];
    (void)snprintf(shown, sizeof shown, "%s/%s", removal->name, removal->time);
    rig_printable_line(shown);
    return rig_fail(removal->err, RIG_E_USAGE, "%s: is left alone: %s", shown, why);
}

static bool is_chart(const char *name)
{
    for (unsigned chart = 0; chart < RIG_CHART_COUNT; chart++) {
        const char *own = rig_chart_name((enum rig_chart)chart);
        const size_t length = strlen(own);
        if (strncmp(name, own, length) == 0 && strcmp(name + length, ".svg") == 0)
            return true;
    }
    return false;
}

static enum rig_run_place find_place(enum rig_run_place folder, const char *name)
{
    if (folder == RIG_RUN_PLACE_WITNESSES || folder == RIG_RUN_PLACE_CHARTS) {
        const bool is_own = folder == RIG_RUN_PLACE_CHARTS ? is_chart(name) : rig_witness_file_is(name);
        return is_own ? RIG_RUN_PLACE_FILE : RIG_RUN_PLACE_NONE;
    }
    return rig_run_file_find(folder, name);
}

/*
 * Everything in the folder must be a file of rig's, and so on down; `path` is the folder's, from the run on. No link is
 * followed: one with the name of a file goes as a file does.
 */
static enum rig_rc check_names(const struct removal *removal, int parent, const char *path, enum rig_run_place place,
                               unsigned depth)
{
    const int opened = openat(parent,
                              path[0] == '\0'              ? "."
                              : strrchr(path, '/') == NULL ? path
                                                           : strrchr(path, '/') + 1,
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = opened < 0 ? NULL : fdopendir(opened);
    enum rig_rc rc = RIG_OK;
    if (entries == NULL) {
        if (opened >= 0)
            (void)close(opened);
        return refuse(removal, "it cannot be read");
    }
    for (const struct dirent *entry; rc == RIG_OK && (entry = readdir(entries)) != NULL;) {
        char why[SHOWN_BYTES], below[SHOWN_BYTES - 100];
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const enum rig_run_place found = find_place(place, entry->d_name);
        const int length = snprintf(below, sizeof below, "%s%s%s", path, path[0] == '\0' ? "" : "/", entry->d_name);
        const bool is_known = found != RIG_RUN_PLACE_NONE && length > 0 && (size_t)length < sizeof below &&
                              fstatat(opened, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                              S_ISDIR(status.st_mode) == (found != RIG_RUN_PLACE_FILE) && depth < NESTED_MOST;
        (void)snprintf(why, sizeof why, "rig did not write `%s` in it; move that away first", below);
        if (!is_known)
            rc = refuse(removal, why);
        else if (found != RIG_RUN_PLACE_FILE)
            rc = check_names(removal, opened, below, found, depth + 1);
    }
    (void)closedir(entries);
    return rc;
}

static enum rig_rc check_owner(const struct removal *removal)
{
    struct stat outer, inner;
    if (fstat(removal->parent, &outer) != 0 || fstat(removal->folder, &inner) != 0)
        return refuse(removal, strerror(errno));
    if (inner.st_uid != geteuid() || outer.st_uid != geteuid())
        return refuse(removal, "it belongs to another user");
    return inner.st_dev == outer.st_dev ? RIG_OK : refuse(removal, "it is on another file system than its store");
}

static const char first_line[] = "rig keeps a run in this folder\n";

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

enum { TAKE_TRIES = 4 };

/* Like the look; RIG_RUN_MARK_IDLE gives a hold on the mark, which the caller closes. */
enum rig_run_mark rig_run_mark_take(int folder, int *hold)
{
    const int fd = open_mark(folder);
    if (fd < 0)
        return fd == -1 ? RIG_RUN_MARK_NONE : RIG_RUN_MARK_FOREIGN;
    /* A look (rig_run_mark_look()) holds it for some microseconds, and `rig serve` looks often. */
    static const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    for (unsigned tries = 1; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (tries == TAKE_TRIES) {
            (void)close(fd);
            return RIG_RUN_MARK_HELD;
        }
        (void)nanosleep(&pause, NULL);
    }
    *hold = fd;
    return RIG_RUN_MARK_IDLE;
}

/* True when a folder below `folder`, at most `depth` deep, has a mark that is held. */
static bool run_mark_held_below(int folder, int depth)
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
                  (depth > 1 && run_mark_held_below(below, depth - 1));
        if (below >= 0)
            (void)close(below);
    }
    (void)closedir(entries);
    return is_held;
}

/* Opens the run and takes its mark. */
static enum rig_rc take(struct removal *removal)
{
    static const size_t prefix = sizeof RIG_STORE_REMOVING_PREFIX - 1;
    struct stat status;
    const bool is_cut_short = strncmp(removal->time, RIG_STORE_REMOVING_PREFIX, prefix) == 0;
    if (!rig_stored_run_is_time(removal->time + (is_cut_short ? prefix : 0)))
        return refuse(removal, "its name is not the time of a run");
    removal->folder = openat(removal->parent, removal->time, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (removal->folder < 0)
        return refuse(removal, errno == ENOENT                      ? "there is no such run"
                               : errno == ELOOP || errno == ENOTDIR ? "it is a link, or no folder"
                                                                    : strerror(errno));
    enum rig_rc rc = check_owner(removal);
    if (rc != RIG_OK)
        return rc;
    switch (rig_run_mark_take(removal->folder, &removal->hold)) {
    case RIG_RUN_MARK_NONE:
        return refuse(removal, "it has no mark of rig (" RIG_RUN_MARK ")");
    case RIG_RUN_MARK_FOREIGN:
        return refuse(removal, "its mark (" RIG_RUN_MARK ") is not of this user's rig");
    case RIG_RUN_MARK_HELD:
        return refuse(removal, "a rig is writing it");
    case RIG_RUN_MARK_IDLE:
        break;
    }
    if (run_mark_held_below(removal->folder, NESTED_MOST))
        return refuse(removal, "a rig is writing a run in it, or it cannot be read");
    if (!removal->kept_too && fstatat(removal->folder, RIG_RUN_KEEP, &status, AT_SYMLINK_NOFOLLOW) == 0)
        return refuse(removal, "it has a file KEEP");
    return is_cut_short ? RIG_OK : check_names(removal, removal->folder, "", RIG_RUN_PLACE_RUN, 0);
}

/* Renames the run; whatever has its name now must be the folder that was looked at. */
static enum rig_rc rename_run(struct removal *removal, char hidden[NAME_BYTES])
{
    struct stat looked, moved;
    (void)snprintf(hidden, NAME_BYTES, "%.40s", removal->time);
    if (!rig_stored_run_is_time(removal->time))
        return RIG_OK; /* an earlier removal did */
    (void)snprintf(hidden, NAME_BYTES, RIG_STORE_REMOVING_PREFIX "%.40s", removal->time);
    if (fstatat(removal->parent, hidden, &moved, AT_SYMLINK_NOFOLLOW) == 0)
        return refuse(removal, "an earlier removal of a run of this name was cut short");
    if (renameat(removal->parent, removal->time, removal->parent, hidden) != 0)
        return rig_fail(removal->err, RIG_E_IO, "%s: %s", removal->time, strerror(errno));
    if (fstat(removal->folder, &looked) == 0 && fstatat(removal->parent, hidden, &moved, AT_SYMLINK_NOFOLLOW) == 0 &&
        looked.st_ino == moved.st_ino && looked.st_dev == moved.st_dev)
        return RIG_OK;
    (void)renameat(removal->parent, hidden, removal->parent, removal->time);
    return refuse(removal, "another folder took its name meanwhile");
}

/* The newest run that is left; false when there is none. */
static bool find_newest(int parent, char newest[NAME_BYTES])
{
    const int again = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    newest[0] = '\0';
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        struct stat status;
        if (rig_stored_run_is_time(entry->d_name) && strcmp(entry->d_name, newest) > 0 &&
            fstatat(parent, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode))
            (void)snprintf(newest, NAME_BYTES, "%.40s", entry->d_name);
    }
    if (entries != NULL)
        (void)closedir(entries);
    else if (again >= 0)
        (void)close(again);
    return newest[0] != '\0';
}

/* Where the link names the run that went, it names the newest one left. Any other link stays. */
static void move_latest(const struct removal *removal)
{
    char target[NAME_BYTES], newest[NAME_BYTES];
    static const char fresh[] = ".latest.new";
    const ssize_t length = readlinkat(removal->parent, "latest", target, sizeof target - 1);
    if (length < 0)
        return;
    target[length] = '\0';
    if (strcmp(target, removal->time) != 0)
        return;
    if (!find_newest(removal->parent, newest))
        (void)unlinkat(removal->parent, "latest", 0);
    else if (symlinkat(newest, removal->parent, fresh) == 0 &&
             renameat(removal->parent, fresh, removal->parent, "latest") != 0)
        (void)unlinkat(removal->parent, fresh, 0);
}

static enum rig_rc carry_out(struct removal *removal, int store)
{
    char hidden[NAME_BYTES];
    enum rig_rc rc = rename_run(removal, hidden);
    if (rc != RIG_OK)
        return rc;
    move_latest(removal);
    if (!rig_folder_empty(removal->folder, RIG_RUN_MARK) || unlinkat(removal->parent, hidden, AT_REMOVEDIR) != 0)
        return rig_fail(removal->err, RIG_E_IO, "%s: not all of it could be removed; the rest is %s/%s", removal->time,
                        removal->name, hidden);
    (void)unlinkat(store, removal->name, AT_REMOVEDIR); /* only where it is empty */
    return RIG_OK;
}

/*
 * Opens a folder of a store for the runs of a name, and keeps other rigs from making or removing runs there until it is
 * closed. No link is followed. -1 with errno.
 */
static int store_lock_name(int store, const char *name)
{
    const int folder = openat(store, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0)
        (void)flock(folder, LOCK_EX); /* where the file system has no locks, the marks have none either */
    return folder;
}

enum rig_rc rig_run_remove(int store, const char *name, const char *time, bool kept_too, bool only_ask,
                           struct rig_err *err)
{
    struct removal removal = {
        .name = name, .time = time, .parent = -1, .folder = -1, .hold = -1, .kept_too = kept_too, .err = err};
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strchr(name, '/') != NULL ||
        strchr(time, '/') != NULL)
        return refuse(&removal, "a run lies two levels below its store");
    removal.parent = store_lock_name(store, name);
    if (removal.parent < 0)
        return refuse(&removal, errno == ENOENT                      ? "there is no such run"
                                : errno == ELOOP || errno == ENOTDIR ? "the folder of its name is a link, or no folder"
                                                                     : strerror(errno));
    enum rig_rc rc = take(&removal);
    if (rc == RIG_OK && !only_ask)
        rc = carry_out(&removal, store);
    if (removal.hold >= 0)
        (void)close(removal.hold);
    if (removal.folder >= 0)
        (void)close(removal.folder);
    (void)close(removal.parent);
    return rc;
}

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

/* Records and logs hold data of the database: only the user that ran rig may read them, or the group that the store is
 * given to. */
enum { FOLDER_MODE = 0700, GROUP_FOLDER_MODE = 0750, NAME_ATTEMPTS = 100 };

/* A store is given to its group by its own mode: the group may read it, and what is made in it has the same group. */
static mode_t mode_of_store(const char *store)
{
    struct stat status;
    const mode_t wanted = S_ISGID | S_IRGRP | S_IXGRP;
    return stat(store, &status) == 0 && (status.st_mode & wanted) == wanted ? GROUP_FOLDER_MODE : FOLDER_MODE;
}

static enum rig_rc fail_create(const char *path, struct rig_err *err)
{
    const bool is_of_path = rig_output_is_of_path(errno);
    return rig_fail(err, is_of_path ? RIG_E_USAGE : RIG_E_IO, "%s: cannot create the folder: %s", path,
                    strerror(errno));
}

/* Makes the folder and those above it. */
static enum rig_rc make_all(const char *path, mode_t mode, struct rig_err *err)
{
    char partial[RIG_STORE_PATH_BYTES];
    (void)snprintf(partial, sizeof partial, "%s", path);
    for (char *slash = partial + 1; *slash != '\0'; slash++) {
        if (*slash != '/')
            continue;
        *slash = '\0';
        if (mkdir(partial, mode) != 0 && errno != EEXIST)
            return fail_create(partial, err);
        *slash = '/';
    }
    return mkdir(partial, mode) == 0 || errno == EEXIST ? RIG_OK : fail_create(partial, err);
}

/* Two runs may begin in one millisecond. */
static enum rig_rc make_timed(const char *parent, mode_t mode, char path[RIG_STORE_PATH_BYTES], char time[32],
                              struct rig_err *err)
{
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        rig_clock_utc_text(time, 32);
        int length = snprintf(path, RIG_STORE_PATH_BYTES, "%s/%s", parent, time);
        if (length < 0 || length >= RIG_STORE_PATH_BYTES)
            return rig_fail(err, RIG_E_IO, "%s: the path is too long", parent);
        if (mkdir(path, mode) == 0)
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

enum rig_rc rig_store_make(const char *store, const char *name, char path[RIG_STORE_PATH_BYTES], int *hold,
                           struct rig_err *err)
{
    char parent[RIG_STORE_PATH_BYTES], made[RIG_STORE_PATH_BYTES], time[32];
    int length = snprintf(parent, sizeof parent, "%s/%s", store, name), lock = -1;
    if (length < 0 || (size_t)length >= sizeof parent)
        return rig_fail(err, RIG_E_IO, "%s: the path is too long", store);
    const mode_t mode = mode_of_store(store);
    enum rig_rc rc = make_all(parent, mode, err);
    if (rc == RIG_OK) {
        lock = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (lock >= 0)
            (void)flock(lock, LOCK_EX);
        rc = make_timed(parent, mode, made, time, err);
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
    enum rig_rc rc = make_all(wanted, FOLDER_MODE, err);
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
