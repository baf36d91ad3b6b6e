#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "drivers/http/dialect_reader.h"

enum { PATH_BYTES = 4096 };

/* Calls for each folder that may have dialects, until `found` returns true. */
struct search {
    const char *name;
    char path[PATH_BYTES];
    struct rig_buf folders; /* for the message */
};

static bool try_folder(struct search *search, const char *folder, size_t length)
{
    if (length == 0)
        return false;
    const int size = snprintf(search->path, sizeof search->path, "%.*s/%s.yaml", (int)length, folder, search->name);
    rig_buf_printf(&search->folders, "%s%.*s", search->folders.size == 0 ? "" : ", ", (int)length, folder);
    return size > 0 && (size_t)size < sizeof search->path && access(search->path, R_OK) == 0;
}

/* `dialects` in a build folder, or the folder of an installation that was moved as a whole. */
static bool try_beside_binary(struct search *search)
{
    char binary[PATH_BYTES];
    char folder[PATH_BYTES + sizeof RIG_DIALECTS_FROM_BINDIR + 1];
    const ssize_t length = readlink("/proc/self/exe", binary, sizeof binary - 1);
    if (length <= 0)
        return false;
    binary[length] = '\0';
    char *slash = strrchr(binary, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    int size = snprintf(folder, sizeof folder, "%s/dialects", binary);
    if (size > 0 && try_folder(search, folder, (size_t)size))
        return true;
    (void)snprintf(folder, sizeof folder, "%s/%s", binary, RIG_DIALECTS_FROM_BINDIR);
    char *resolved = realpath(folder, NULL);
    const bool found = resolved != NULL && try_folder(search, resolved, strlen(resolved));
    free(resolved);
    return found;
}

static bool find(struct search *search)
{
    const char *path = getenv("RIG_DIALECT_PATH");
    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");
        if (try_folder(search, path, length))
            return true;
        path += length + (path[length] == ':');
    }
    return try_beside_binary(search) || try_folder(search, RIG_DIALECTS_DIR, strlen(RIG_DIALECTS_DIR));
}

static bool is_path(const char *name)
{
    const size_t length = strlen(name);
    return strchr(name, '/') != NULL || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
}

enum rig_rc rig_dialect_load(const char *name, const struct rig_text_list *values, struct rig_dialect **dialect,
                             struct rig_err *err)
{
    struct search search = {.name = name};
    struct rig_buf text;
    struct rig_err own = {0};
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&search.folders, 600);
    if (is_path(name))
        (void)snprintf(search.path, sizeof search.path, "%s", name);
    else if (!find(&search))
        rc = rig_fail(err, RIG_E_PLAN,
                      "`dialect`: there is no %.100s.yaml in %s; RIG_DIALECT_PATH names further folders, and a name "
                      "with a `/` is the path of a file",
                      name, rig_buf_text(&search.folders));
    rig_buf_done(&search.folders);
    if (rc != RIG_OK)
        return rc;
    rig_buf_init(&text, RIG_YAML_BYTES + 2);
    rc = rig_buf_read_file(&text, search.path, &own);
    if (rc == RIG_OK || text.size > RIG_YAML_BYTES)
        rc = rig_dialect_parse(search.path, rig_buf_text(&text), text.size, values, dialect, err);
    else
        rc = rig_fail(err, RIG_E_PLAN, "`dialect`: %s", own.text);
    rig_buf_done(&text);
    return rc;
}
