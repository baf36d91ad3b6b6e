#include "cli/input_path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output_file.h"
#include "history/sessions/cobra_folder.h"

static enum rig_rc join(const char *folder, const char *name, char path[RIG_CLI_PATH_BYTES], struct rig_err *err)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    const int size =
        snprintf(path, RIG_CLI_PATH_BYTES, "%.*s%s%s", (int)length, folder, name[0] == '\0' ? "" : "/", name);
    if (size < 0 || size >= RIG_CLI_PATH_BYTES)
        return rig_fail(err, RIG_E_INPUT, "%s: the path is too long", folder);
    return RIG_OK;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* With a proposal where the name of a run was given without its store. */
static enum rig_rc fail_open(const char *given, int error, struct rig_err *err)
{
    char stored[RIG_CLI_PATH_BYTES];
    const int length = snprintf(stored, sizeof stored, "store/%s", given);
    if (error == ENOENT && length > 0 && (size_t)length < sizeof stored && is_folder(stored))
        return rig_fail(err, RIG_E_INPUT, "%s: cannot open: %s; did you mean `%s`?", given, strerror(error), stored);
    return rig_fail(err, RIG_E_INPUT, "%s: cannot open: %s", given, strerror(error));
}

enum rig_rc rig_cli_find_run(const char *given, char folder[RIG_CLI_PATH_BYTES], struct rig_err *err)
{
    static const char *const places[] = {"", "latest"};
    char record[RIG_CLI_PATH_BYTES];
    struct stat status;
    if (stat(given, &status) != 0)
        return fail_open(given, errno, err);
    if (!S_ISDIR(status.st_mode))
        return rig_fail(err, RIG_E_INPUT, "%s: expected the folder of a run; `rig check` reads a history", given);
    if (access(given, R_OK | X_OK) != 0)
        return fail_open(given, errno, err);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        enum rig_rc rc = join(given, places[i], folder, err);
        if (rc == RIG_OK)
            rc = join(folder, "history.rig", record, err);
        if (rc != RIG_OK)
            return rc;
        if (access(record, F_OK) == 0)
            return RIG_OK;
    }
    return rig_fail(err, RIG_E_INPUT,
                    "%s: no run is in this folder: it has neither `history.rig` nor `latest/history.rig`", given);
}

enum rig_rc rig_cli_find_history(const char *given, char path[RIG_CLI_PATH_BYTES], struct rig_err *err)
{
    char folder[RIG_CLI_PATH_BYTES];
    if (strcmp(given, "-") == 0)
        return join(given, "", path, err);
    if (!is_folder(given))
        return access(given, R_OK) == 0 ? join(given, "", path, err) : fail_open(given, errno, err);
    struct rig_err why = {0};
    enum rig_rc rc = rig_cli_find_run(given, folder, &why);
    if (rc == RIG_OK)
        return join(folder, "history.rig", path, err);
    rc = join(given, "history.bincode", path, err);
    if (rc != RIG_OK || access(path, R_OK) == 0)
        return rc;
    if (rig_cobra_folder(given))
        return join(given, "", path, err);
    return rig_fail(err, why.rc, "%s", why.text);
}

void rig_cli_guard_history(const char *path)
{
    if (is_folder(path))
        rig_cobra_folder_visit(path, rig_output_guard);
    else
        rig_output_guard(path);
}
