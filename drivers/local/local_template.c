#include "drivers/local/local_template.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"

#define TEMPORARY "new-"

enum { CACHE_BYTES = 1024, NAME_BYTES = 64 };

struct cache {
    char folder[CACHE_BYTES];
    char name[NAME_BYTES];
    int lock; /* the folder itself, with a shared lock */
};

/* ---- the folder ---- */

/* Makes the folder unless it is there; false unless it is rig's own and closed to others. */
static bool own_folder(const char *path)
{
    struct stat status;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return false;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & 022) == 0;
}

/* $XDG_CACHE_HOME/rig/NAME. */
static bool find_folder(const char *database, char folder[static CACHE_BYTES])
{
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    bool given = base != NULL && base[0] == '/';
    if (!given && (home == NULL || home[0] != '/'))
        return false;
    int length = snprintf(folder, CACHE_BYTES, "%s%s", given ? base : home, given ? "" : "/.cache");
    const char *const levels[] = {"", "rig", database};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (length < 0 || length + NAME_BYTES >= CACHE_BYTES)
            return false;
        length += snprintf(folder + length, (size_t)(CACHE_BYTES - length), "%s%s", i == 0 ? "" : "/", levels[i]);
        if (!own_folder(folder))
            return false;
    }
    return true;
}

/* FNV-1a: names a template, guards against nothing. */
static void mix(uint64_t *hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        *hash = (*hash ^ at[i]) * UINT64_C(0x100000001b3);
}

static bool name_template(const struct rig_local_recipe *recipe, char name[static NAME_BYTES])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *const *program = recipe->programs; *program != NULL; program++) {
        struct stat status;
        if (stat(*program, &status) != 0)
            return false;
        mix(&hash, *program, strlen(*program) + 1);
        mix(&hash, &status.st_size, sizeof status.st_size);
        mix(&hash, &status.st_mtim.tv_sec, sizeof status.st_mtim.tv_sec);
        mix(&hash, &status.st_mtim.tv_nsec, sizeof status.st_mtim.tv_nsec);
    }
    for (const char *const *option = recipe->options; *option != NULL; option++)
        mix(&hash, *option, strlen(*option) + 1);
    (void)snprintf(name, NAME_BYTES, "template-%016" PRIx64, hash);
    return true;
}

static bool cache_open(const char *database, const struct rig_local_recipe *recipe, struct cache *cache)
{
    cache->lock = -1;
    if (!find_folder(database, cache->folder) || !name_template(recipe, cache->name))
        return false;
    cache->lock = open(cache->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    /* An exclusive lock is held only for a removal. */
    return cache->lock >= 0 && flock(cache->lock, LOCK_SH) == 0;
}

static void cache_close(struct cache *cache)
{
    if (cache->lock >= 0)
        (void)close(cache->lock);
}

static void path_of(const struct cache *cache, const char *name, char path[static 2 * CACHE_BYTES])
{
    (void)snprintf(path, 2 * CACHE_BYTES, "%s/%s", cache->folder, name);
}

/* ---- limiting its size ---- */

struct census {
    size_t templates;
    char oldest[NAME_BYTES];
    struct timespec oldest_time;
};

static bool is_older(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Counts the templates and removes the incomplete ones of a rig that died. With the exclusive lock. */
static void take_census(const struct cache *cache, struct census *census)
{
    DIR *entries = opendir(cache->folder);
    const struct dirent *entry;
    *census = (struct census){.templates = 0};
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        char path[2 * CACHE_BYTES];
        struct stat status;
        path_of(cache, entry->d_name, path);
        if (strncmp(entry->d_name, TEMPORARY, sizeof TEMPORARY - 1) == 0)
            rig_folder_remove(path);
        if (strncmp(entry->d_name, "template-", 9) != 0 || strlen(entry->d_name) >= NAME_BYTES ||
            stat(path, &status) != 0)
            continue;
        if (census->templates++ == 0 || is_older(&status.st_mtim, &census->oldest_time)) {
            (void)snprintf(census->oldest, sizeof census->oldest, "%.63s", entry->d_name);
            census->oldest_time = status.st_mtim;
        }
    }
    if (entries != NULL)
        (void)closedir(entries);
}

/* Frees space for one more, unless another rig is working here: then the next one does. */
static void make_room(struct cache *cache)
{
    struct census census;
    if (flock(cache->lock, LOCK_EX | LOCK_NB) == 0) {
        take_census(cache, &census);
        while (census.templates >= RIG_LOCAL_TEMPLATES_MOST) {
            char path[2 * CACHE_BYTES];
            path_of(cache, census.oldest, path);
            rig_folder_remove(path);
            take_census(cache, &census);
        }
    }
    /* Changing a lock may release it first: take it again. */
    (void)flock(cache->lock, LOCK_SH);
}

/* ---- use ---- */

static bool copy_from(const struct rig_local_site *site, const struct cache *cache, const char *data)
{
    char path[2 * CACHE_BYTES];
    struct rig_err ignored = {.rc = RIG_OK};
    path_of(cache, cache->name, path);
    if (access(path, F_OK) != 0)
        return false;
    if (rig_folder_copy(path, data, &site->account, &ignored) == RIG_OK) {
        (void)utimensat(AT_FDCWD, path, NULL, 0); /* used now */
        return true;
    }
    rig_folder_remove(data);
    return false;
}

static void keep(const struct rig_local_site *site, struct cache *cache, const char *data)
{
    const struct rig_account own = {.drop = false};
    char temporary[2 * CACHE_BYTES];
    char path[2 * CACHE_BYTES];
    struct rig_err err = {.rc = RIG_OK};
    make_room(cache);
    path_of(cache, TEMPORARY "XXXXXX", temporary);
    path_of(cache, cache->name, path);
    if (mkdtemp(temporary) == NULL)
        return;
    size_t length = strlen(temporary);
    (void)snprintf(temporary + length, sizeof temporary - length, "/data");
    enum rig_rc rc = rig_folder_copy(data, temporary, &own, &err);
    /* It must not appear before its files are on disk; an existing one takes precedence. */
    if (rc == RIG_OK && (syncfs(cache->lock) != 0 || rename(temporary, path) != 0))
        rc = rig_fail(&err, RIG_E_IO, "%s", strerror(errno));
    temporary[length] = '\0';
    rig_folder_remove(temporary);
    if (rc != RIG_OK)
        site->env->core->log(2, site->kind->name, "no template was kept in %s: %s", cache->folder, err.text);
}

enum rig_rc rig_local_template_provide(const struct rig_local_site *site, const struct rig_local_recipe *recipe,
                                       const char *data, int64_t deadline_ns, struct rig_err *err)
{
    struct cache cache;
    enum rig_rc rc = RIG_OK;
    bool cached = cache_open(site->kind->name, recipe, &cache);
    if (!cached || !copy_from(site, &cache, data)) {
        rc = recipe->make(recipe->context, data, deadline_ns, err);
        if (rc == RIG_OK && cached)
            keep(site, &cache, data);
    }
    cache_close(&cache);
    return rc;
}
