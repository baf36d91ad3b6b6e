#include "jobs/store/run_remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/printable.h"
#include "base/run_files.h"
#include "jobs/store/store_folder.h"
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
    if (rig_run_mark_held_below(removal->folder, NESTED_MOST))
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

enum rig_rc rig_run_remove(int store, const char *name, const char *time, bool kept_too, bool only_ask,
                           struct rig_err *err)
{
    struct removal removal = {
        .name = name, .time = time, .parent = -1, .folder = -1, .hold = -1, .kept_too = kept_too, .err = err};
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strchr(name, '/') != NULL ||
        strchr(time, '/') != NULL)
        return refuse(&removal, "a run lies two levels below its store");
    removal.parent = rig_store_lock_name(store, name);
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
