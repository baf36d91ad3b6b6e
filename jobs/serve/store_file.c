#include "jobs/serve/store_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/run_files.h"
#include "jobs/store/stored_run.h"

enum { PARTS_MOST = 12, NAME_BYTES = 256 };

/* ---- content types ---- */

static const struct {
    const char *ending, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".json", "application/json"},
    {".sarif", "application/json"},
    {".xml", "application/xml"},
    {".svg", "image/svg+xml"},
    {".txt", "text/plain; charset=utf-8"},
    {".log", "text/plain; charset=utf-8"},
    {".err", "text/plain; charset=utf-8"},
    {".yaml", "text/plain; charset=utf-8"},
    {".md", "text/plain; charset=utf-8"},
    {".jsonl", "text/plain; charset=utf-8"},
    {".tsv", "text/plain; charset=utf-8"},
    {".sh", "text/plain; charset=utf-8"},
    {".spec", "text/plain; charset=utf-8"},
    {".dot", "text/plain; charset=utf-8"},
};

static const char *type_of(const char *name)
{
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending != NULL && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].ending, ending) == 0)
            return types[i].type;
    }
    return "application/octet-stream";
}

/* ---- the parts of a path ---- */

struct parts {
    char text[RIG_STORE_PATH_BYTES];
    const char *at[PARTS_MOST];
    size_t count;
};

/* False: a part is no name of a file that rig writes (`..`, `.rig-run`), or there are too many. */
static bool split(const char *path, struct parts *parts)
{
    if (strlen(path) >= sizeof parts->text)
        return false;
    (void)snprintf(parts->text, sizeof parts->text, "%s", path);
    char *rest = NULL;
    parts->count = 0;
    for (char *part = strtok_r(parts->text, "/", &rest); part != NULL; part = strtok_r(NULL, "/", &rest)) {
        if (part[0] == '.' || strlen(part) >= NAME_BYTES || parts->count == PARTS_MOST)
            return false;
        parts->at[parts->count++] = part;
    }
    return true;
}

static void join(const struct parts *parts, const char *time, char path[RIG_STORE_PATH_BYTES])
{
    size_t size = 0;
    for (size_t i = 0; i < parts->count && size < RIG_STORE_PATH_BYTES; i++) {
        const int added = snprintf(path + size, RIG_STORE_PATH_BYTES - size, "%s%s", i == 0 ? "" : "/",
                                   i == 1 && time != NULL ? time : parts->at[i]);
        size += added > 0 ? (size_t)added : 0;
    }
}

/* ---- opening ---- */

/* Replaces the open folder by the one below it. */
static bool enter(int *folder, const char *name)
{
    const int below = openat(*folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*folder >= 0)
        (void)close(*folder);
    *folder = below;
    return below >= 0;
}

static bool has(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

static bool has_result(int folder)
{
    return has(folder, RIG_RUN_RESULTS) || has(folder, RIG_RUN_MATRIX) || has(folder, RIG_RUN_REPRODUCTION) ||
           has(folder, RIG_RUN_SHRUNK);
}

static bool is_for_all(const char *name)
{
    return strcmp(name, RIG_RUN_PLAN) == 0 || strcmp(name, RIG_RUN_LOG) == 0 || strcmp(name, RIG_RUN_PROGRESS) == 0;
}

static void open_file(int folder, const char *name, struct rig_store_file *file)
{
    struct stat status;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        (void)close(fd);
        return;
    }
    file->found = RIG_STORE_FILE;
    file->fd = fd;
    file->size_bytes = (uint64_t)status.st_size;
    file->type = type_of(name);
    file->is_page = strcmp(file->type, types[0].type) == 0;
    (void)snprintf(file->tag, sizeof file->tag, "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "\"", (uint64_t)status.st_ino,
                   file->size_bytes, (uint64_t)status.st_mtim.tv_sec * 1000000000U + (uint64_t)status.st_mtim.tv_nsec);
}

/* `latest` is a link beside the runs, to the time of one of them. */
static bool find_latest(int names, const struct parts *parts, struct rig_store_file *file)
{
    char time[NAME_BYTES];
    const ssize_t length = readlinkat(names, "latest", time, sizeof time - 1);
    if (length <= 0)
        return false;
    time[length] = '\0';
    if (!rig_stored_run_is_time(time))
        return false;
    join(parts, time, file->path);
    file->found = RIG_STORE_LATEST;
    return true;
}

/* From the folder of a run on, which is taken. */
static void walk(int folder, const struct parts *parts, struct rig_store_file *file)
{
    enum rig_run_place place = RIG_RUN_PLACE_RUN;
    for (size_t i = 2; i < parts->count; i++) {
        const bool is_any = place == RIG_RUN_PLACE_WITNESSES || place == RIG_RUN_PLACE_CHARTS;
        const enum rig_run_place next = is_any ? RIG_RUN_PLACE_FILE : rig_run_file_find(place, parts->at[i]);
        if (place == RIG_RUN_PLACE_RUN)
            file->is_finished = has_result(folder);
        const bool is_hidden = place == RIG_RUN_PLACE_RUN && !file->is_finished && !is_for_all(parts->at[i]);
        if (next == RIG_RUN_PLACE_NONE || (next == RIG_RUN_PLACE_FILE && (i + 1 < parts->count || is_hidden)))
            break;
        if (next == RIG_RUN_PLACE_FILE) {
            open_file(folder, parts->at[i], file);
            break;
        }
        if (!enter(&folder, parts->at[i]))
            return;
        place = next;
        if (i + 1 < parts->count)
            continue;
        file->found = place == RIG_RUN_PLACE_RUN ? RIG_STORE_RUN : RIG_STORE_NOTHING;
    }
    if (parts->count == 2)
        file->found = RIG_STORE_RUN;
    if (file->found == RIG_STORE_RUN)
        file->fd = folder;
    else
        (void)close(folder);
}

void rig_store_file_open(int store, const char *path, struct rig_store_file *file)
{
    struct parts parts;
    *file = (struct rig_store_file){.found = RIG_STORE_NOTHING, .fd = -1};
    if (!split(path, &parts) || parts.count < 2)
        return;
    join(&parts, NULL, file->path);
    int folder = openat(store, parts.at[0], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    if (strcmp(parts.at[1], "latest") == 0) {
        (void)find_latest(folder, &parts, file);
        (void)close(folder);
        return;
    }
    if (!rig_stored_run_is_time(parts.at[1])) {
        (void)close(folder);
        return;
    }
    if (enter(&folder, parts.at[1]))
        walk(folder, &parts, file);
}
