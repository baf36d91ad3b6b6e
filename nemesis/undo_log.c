#include "nemesis/undo_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nemesis/shim_control.h"

enum { PATH_BYTES = 4096, DEPTH_MOST = 32 };

struct work {
    const char *undo;
    double keep;
    struct rig_rng *rng;
    struct rig_undo_count *count;
    struct rig_err *err;
};

static enum rig_rc failed(const struct work *work, const char *path)
{
    return rig_fail(work->err, RIG_E_IO, "undoing what was not durable: %.400s: %s", path, strerror(errno));
}

/* The path in the account that belongs to a file or folder; false when it has no status. */
static bool undo_path(const struct work *work, char kind, const char *path, char found[PATH_BYTES])
{
    struct statx status;
    char name[RIG_SHIM_UNDO_NAME_BYTES];
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &status) != 0)
        return false;
    const uint64_t born = (status.stx_mask & STATX_BTIME) == 0
                              ? 0
                              : (uint64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
    rig_shim_undo_name(kind, status.stx_ino, born, name);
    return snprintf(found, PATH_BYTES, "%s/%s", work->undo, name) < PATH_BYTES;
}

/* ---- the log of a file ---- */

/* One record, undone; `bytes` has its content. */
static bool undo_change(int file, const struct rig_shim_undo *head, const char *bytes)
{
    struct stat status;
    if (head->length > 0 && pwrite(file, bytes, head->length, (off_t)head->offset) != (ssize_t)head->length)
        return false;
    return fstat(file, &status) == 0 &&
           ((uint64_t)status.st_size <= head->size || ftruncate(file, (off_t)head->size) == 0);
}

/* Where each record begins; RIG_E_CLUSTER for a log that cannot be read to its end. A record that is cut off at the end
 * is of a process that was killed before its change. */
static enum rig_rc find_records(const struct work *work, int log, const char *path, uint64_t **starts, size_t *count)
{
    struct rig_shim_undo head;
    uint64_t at = 0;
    size_t capacity = 0;
    for (*count = 0; pread(log, &head, sizeof head, (off_t)at) == (ssize_t)sizeof head;) {
        if (head.magic != RIG_SHIM_UNDO_MAGIC || head.length > RIG_SHIM_UNDO_MOST)
            return rig_fail(work->err, RIG_E_CLUSTER, "%.400s: the account of what is not durable is damaged", path);
        if (*count == capacity) {
            capacity = 2 * capacity + 64;
            uint64_t *grown = realloc(*starts, capacity * sizeof **starts);
            if (grown == NULL)
                return rig_no_memory(work->err, "a power failure");
            *starts = grown;
        }
        (*starts)[(*count)++] = at;
        at += sizeof head + head.length;
    }
    return RIG_OK;
}

static enum rig_rc undo_records(const struct work *work, int log, int file, const char *path, const uint64_t *starts,
                                size_t count)
{
    char bytes[RIG_SHIM_UNDO_MOST];
    struct rig_shim_undo head;
    while (count-- > 0) {
        const off_t at = (off_t)starts[count];
        if (pread(log, &head, sizeof head, at) != (ssize_t)sizeof head)
            return failed(work, path);
        if (pread(log, bytes, head.length, at + (off_t)sizeof head) != (ssize_t)head.length)
            continue; /* cut off */
        if (work->keep > 0 && rig_rng_unit(work->rng) < work->keep) {
            work->count->survived++;
            continue;
        }
        if (!undo_change(file, &head, bytes))
            return failed(work, path);
        work->count->changes++;
    }
    return RIG_OK;
}

static enum rig_rc undo_file(const struct work *work, const char *path)
{
    char log_path[PATH_BYTES];
    if (!undo_path(work, 'w', path, log_path))
        return failed(work, path);
    const int log = open(log_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (log < 0)
        return errno == ENOENT ? RIG_OK : failed(work, log_path);
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    uint64_t *starts = NULL;
    size_t count = 0;
    enum rig_rc rc = file < 0 ? failed(work, path) : find_records(work, log, log_path, &starts, &count);
    if (rc == RIG_OK)
        rc = undo_records(work, log, file, path, starts, count);
    free(starts);
    if (file >= 0)
        (void)close(file);
    (void)close(log);
    if (rc == RIG_OK)
        (void)unlink(log_path); /* so that a second call does not undo it again */
    return rc;
}

/* ---- folders ---- */

/* Calls `visit` for each entry. */
static enum rig_rc each(const struct work *work, const char *folder, int depth,
                        enum rig_rc (*visit)(const struct work *work, const char *folder, const char *name, int depth))
{
    DIR *entries = opendir(folder);
    enum rig_rc rc = RIG_OK;
    if (entries == NULL)
        return failed(work, folder);
    for (const struct dirent *entry; rc == RIG_OK && (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = visit(work, folder, entry->d_name, depth);
    }
    (void)closedir(entries);
    return rc;
}

/* A file that was removed is back in `work->undo`'s folder's own place, in the place of a new one of its name. */
struct place {
    struct work work; /* first */
    const char *target;
};

static enum rig_rc bring_back(const struct work *work, const char *folder, const char *name, int depth)
{
    const struct place *place = (const struct place *)work;
    char from[PATH_BYTES], to[PATH_BYTES];
    (void)depth;
    if (snprintf(from, sizeof from, "%s/%s", folder, name) >= PATH_BYTES ||
        snprintf(to, sizeof to, "%s/%s", place->target, name) >= PATH_BYTES || rename(from, to) != 0)
        return failed(work, name);
    work->count->files++;
    return RIG_OK;
}

static enum rig_rc bring_back_all(const struct work *work, const char *folder)
{
    char kept[PATH_BYTES];
    const struct place place = {.work = *work, .target = folder};
    if (!undo_path(work, 'd', folder, kept))
        return failed(work, folder);
    return access(kept, F_OK) != 0 ? RIG_OK : each(&place.work, kept, 0, bring_back);
}

static enum rig_rc undo_folder(const struct work *work, const char *folder, int depth);

static enum rig_rc undo_entry(const struct work *work, const char *folder, const char *name, int depth)
{
    struct stat status;
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_BYTES || lstat(path, &status) != 0)
        return failed(work, name);
    if (S_ISDIR(status.st_mode))
        return undo_folder(work, path, depth + 1);
    return S_ISREG(status.st_mode) ? undo_file(work, path) : RIG_OK;
}

static enum rig_rc undo_folder(const struct work *work, const char *folder, int depth)
{
    if (depth > DEPTH_MOST)
        return rig_fail(work->err, RIG_E_LIMIT, "%.400s: folders too deep", folder);
    const enum rig_rc rc = bring_back_all(work, folder);
    return rc == RIG_OK ? each(work, folder, depth, undo_entry) : rc;
}

enum rig_rc rig_undo_log_apply(const char *data, const char *undo, double keep, struct rig_rng *rng,
                               struct rig_undo_count *count, struct rig_err *err)
{
    const struct work work = {.undo = undo, .keep = keep, .rng = rng, .count = count, .err = err};
    return undo_folder(&work, data, 0);
}
