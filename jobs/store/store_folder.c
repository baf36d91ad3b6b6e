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
#include "jobs/store/run_mark.h"

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
        rc = rig_run_mark_make(made, hold, err);
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
    rc = hold == NULL ? RIG_OK : rig_run_mark_make(wanted, hold, err);
    if (rc == RIG_OK) {
        memcpy(path, wanted, sizeof wanted);
        rig_output_own_run(path);
    }
    return rc;
}
