#include "base/data_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

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

bool rig_data_folder_each(const char *kind, const char *variable,
                          bool (*visit)(void *context, const char *folder, size_t length), void *context)
{
    const char *path = variable == NULL ? NULL : getenv(variable);
    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");
        if (length > 0 && visit(context, path, length))
            return true;
        path += length + (path[length] == ':');
    }
    char installed[sizeof RIG_DATA_DIR + 64];
    const int size = snprintf(installed, sizeof installed, RIG_DATA_DIR "/%s", kind);
    return visit_beside_binary(kind, visit, context) || visit(context, installed, (size_t)size);
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

bool rig_data_folder_find(const char *kind, const char *variable, const char *name, char *path, size_t path_size,
                          struct rig_buf *tried)
{
    struct search search = {.name = name, .path = path, .path_size = path_size, .tried = tried};
    return rig_data_folder_each(kind, variable, try_folder, &search);
}

static bool is_path(const char *name)
{
    const size_t length = strlen(name);
    return strchr(name, '/') != NULL || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
}

enum rig_rc rig_data_folder_read(const char *kind, const char *variable, const char *option, const char *name,
                                 char *path, size_t path_size, struct rig_buf *text, struct rig_err *err)
{
    char file[256];
    struct rig_buf folders;
    struct rig_err own = {0};
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&folders, 600);
    if (is_path(name))
        (void)snprintf(path, path_size, "%s", name);
    else if (snprintf(file, sizeof file, "%s.yaml", name) >= (int)sizeof file ||
             !rig_data_folder_find(kind, variable, file, path, path_size, &folders))
        rc = rig_fail(
            err, RIG_E_PLAN,
            "%s: there is no %.100s.yaml in %s; %s names further folders, and a name with a `/` is the path of a "
            "file",
            option, name, rig_buf_text(&folders), variable);
    rig_buf_done(&folders);
    if (rc != RIG_OK || rig_buf_read_file(text, path, &own) == RIG_OK || text->size > 0)
        return rc;
    return rig_fail(err, RIG_E_PLAN, "%s: %s", option, own.text);
}
