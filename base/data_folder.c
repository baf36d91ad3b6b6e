#include "base/data_folder.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NAMES_MOST = 1024 };
static const char suffix[] = ".yaml";

const struct rig_data_kind rig_data_configs = {"configs", "RIG_CONFIG_PATH"},
                           rig_data_dialects = {"dialects", "RIG_DIALECT_PATH"},
                           rig_data_sql_dialects = {"dialects/sql", "RIG_SQL_DIALECT_PATH"},
                           rig_data_shims = {"shims", "RIG_SHIM_PATH"};

/* In a build folder, or in the folder of an installation that was moved as a whole. */
static bool visit_beside_binary(const char *kind, bool (*visit)(void *, const char *, size_t), void *context)
{
    char binary[PATH_BYTES];
    char folder[PATH_BYTES + sizeof RIG_DATA_FROM_BINDIR + 64];
    const ssize_t length = readlink("/proc/self/exe", binary, sizeof binary - 1);
    if (length <= 0)
        return false;
    binary[length] = '\0';
    char *slash = strrchr(binary, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    int size = snprintf(folder, sizeof folder, "%s/%s", binary, kind);
    if (size > 0 && visit(context, folder, (size_t)size))
        return true;
    (void)snprintf(folder, sizeof folder, "%s/" RIG_DATA_FROM_BINDIR "/%s", binary, kind);
    char *resolved = realpath(folder, NULL);
    const bool found = resolved != NULL && visit(context, resolved, strlen(resolved));
    free(resolved);
    return found;
}

/* Calls `visit` for each folder, until it returns true, and returns whether one did. A folder need not exist, and is
 * not ended by a NUL. */
static bool each_folder(const struct rig_data_kind *kind, bool (*visit)(void *, const char *, size_t), void *context)
{
    const char *path = kind->variable == NULL ? NULL : getenv(kind->variable);
    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");
        if (length > 0 && visit(context, path, length))
            return true;
        path += length + (path[length] == ':');
    }
    char installed[sizeof RIG_DATA_DIR + 64];
    const int size = snprintf(installed, sizeof installed, RIG_DATA_DIR "/%s", kind->folder);
    return visit_beside_binary(kind->folder, visit, context) || visit(context, installed, (size_t)size);
}

struct search {
    const char *name;
    char *path;
    size_t path_size;
    struct rig_buf *tried;
};

static bool try_folder(void *context, const char *folder, size_t length)
{
    const struct search *search = context;
    const int size = snprintf(search->path, search->path_size, "%.*s/%s", (int)length, folder, search->name);
    rig_buf_printf(search->tried, "%s%.*s", search->tried->size == 0 ? "" : ", ", (int)length, folder);
    return size > 0 && (size_t)size < search->path_size && access(search->path, R_OK) == 0;
}

bool rig_data_folder_find(const struct rig_data_kind *kind, const char *name, char *path, size_t path_size,
                          struct rig_buf *tried)
{
    struct search search = {.name = name, .path = path, .path_size = path_size, .tried = tried};
    return each_folder(kind, try_folder, &search);
}

/* The length of a file's name without its ending; 0 for a hidden file, or one with another ending. */
static size_t stem_length(const char *name)
{
    const size_t length = strlen(name), ending = sizeof suffix - 1;
    return length > ending && name[0] != '.' && strcmp(name + length - ending, suffix) == 0 ? length - ending : 0;
}

static bool is_path(const char *name)
{
    return strchr(name, '/') != NULL || stem_length(name) > 0;
}

enum rig_rc rig_data_folder_read(const struct rig_data_kind *kind, const char *option, const char *name, char *path,
                                 size_t path_size, struct rig_buf *text, struct rig_err *err)
{
    char file[256];
    struct rig_buf folders;
    struct rig_err own = {0};
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&folders, 600);
    if (is_path(name))
        (void)snprintf(path, path_size, "%s", name);
    else if (snprintf(file, sizeof file, "%s.yaml", name) >= (int)sizeof file ||
             !rig_data_folder_find(kind, file, path, path_size, &folders))
        rc = rig_fail(
            err, RIG_E_PLAN,
            "%s: there is no %.100s.yaml in %s; %s names further folders, and a name with a `/` is the path of a "
            "file",
            option, name, rig_buf_text(&folders), kind->variable);
    rig_buf_done(&folders);
    if (rc != RIG_OK || rig_buf_read_file(text, path, &own) == RIG_OK || text->size > 0)
        return rc;
    return rig_fail(err, RIG_E_PLAN, "%s: %s", option, own.text);
}

struct collecting {
    const char *subfolder;
    struct rig_arena *arena;
    const char **names;
    size_t count;
    bool failed;
};

static bool has_name(const struct collecting *all, const char *name, size_t length)
{
    for (size_t i = 0; i < all->count; i++) {
        if (strlen(all->names[i]) == length && strncmp(all->names[i], name, length) == 0)
            return true;
    }
    return false;
}

/* Goes on to the next folder in any case. */
static bool collect(void *context, const char *folder, size_t length)
{
    struct collecting *all = context;
    char path[PATH_BYTES];
    const int size = snprintf(path, sizeof path, "%.*s%s", (int)length, folder, all->subfolder);
    DIR *dir = size > 0 && (size_t)size < sizeof path ? opendir(path) : NULL;
    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        const size_t name = stem_length(entry->d_name);
        if (name == 0 || has_name(all, entry->d_name, name))
            continue;
        const char *copy = all->count < NAMES_MOST ? rig_arena_text(all->arena, entry->d_name, name) : NULL;
        all->failed = all->failed || copy == NULL;
        if (copy != NULL)
            all->names[all->count++] = copy;
    }
    if (dir != NULL)
        (void)closedir(dir);
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum rig_rc rig_data_folder_names(const struct rig_data_kind *kind, const char *subfolder, struct rig_arena *arena,
                                  struct rig_text_list *names, struct rig_err *err)
{
    struct collecting all = {
        .subfolder = subfolder, .arena = arena, .names = rig_arena_array(arena, NAMES_MOST, sizeof *all.names)};
    if (all.names == NULL)
        return rig_no_memory(err, "the names of files");
    (void)each_folder(kind, collect, &all);
    if (all.failed)
        return rig_fail(err, RIG_E_LIMIT, "more than %d files in %s%s", (int)NAMES_MOST, kind->folder, subfolder);
    qsort(all.names, all.count, sizeof *all.names, compare_names);
    *names = (struct rig_text_list){.at = all.names, .count = all.count};
    return RIG_OK;
}

/* ---- modules ---- */

void *rig_module_open(const char *name, int flags, char *where, size_t where_size)
{
    char folder[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    const struct {
        const char *first, *second;
    } places[] = {{folder, ""}, {folder, "/" RIG_LIBDIR_FROM_BINDIR}, {"", RIG_LIBDIR}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const int written = snprintf(where, where_size, "%s%s/%s", places[i].first, places[i].second, name);
        void *module =
            written < 0 || (size_t)written >= where_size || access(where, R_OK) != 0 ? NULL : dlopen(where, flags);
        if (module != NULL)
            return module;
    }
    return NULL;
}
