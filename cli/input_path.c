#include "cli/input_path.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output_file.h"
#include "base/run_files.h"
#include "history/import/cobra_logs.h"

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

/* The rank of a name like history.12.rig; -1 for another name. */
static long rank_of(const char *name)
{
    char *end = NULL;
    static const char start[] = "history.";
    if (strncmp(name, start, sizeof start - 1) != 0 || name[sizeof start - 1] < '0' || name[sizeof start - 1] > '9')
        return -1;
    const long rank = strtol(name + sizeof start - 1, &end, 10);
    return strcmp(end, ".rig") == 0 && rank < RIG_CLI_PATHS_MOST ? rank : -1;
}

/* The lowest rank at or after `from` whose record is in the folder; -1: none. */
static long next_rank(const char *folder, long from)
{
    DIR *entries = opendir(folder);
    long least = -1;
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        const long rank = rank_of(entry->d_name);
        if (rank >= from && (least < 0 || rank < least))
            least = rank;
    }
    if (entries != NULL)
        (void)closedir(entries);
    return least;
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
            rc = join(folder, RIG_RUN_RECORD, record, err);
        if (rc != RIG_OK)
            return rc;
        if (access(record, F_OK) == 0 || next_rank(folder, 0) >= 0)
            return RIG_OK;
    }
    return rig_fail(err, RIG_E_INPUT,
                    "%s: no run is in this folder: it has neither `history.rig` nor `latest/history.rig`", given);
}

static enum rig_rc join_rank(const char *folder, long rank, char path[RIG_CLI_PATH_BYTES], struct rig_err *err)
{
    char name[64];
    (void)snprintf(name, sizeof name, "history.%ld.rig", rank);
    return join(folder, name, path, err);
}

/* The record in a run's folder; of several ranks, the first one. */
static enum rig_rc join_record(const char *folder, char path[RIG_CLI_PATH_BYTES], struct rig_err *err)
{
    enum rig_rc rc = join(folder, RIG_RUN_RECORD, path, err);
    const long rank = rc != RIG_OK || access(path, F_OK) == 0 ? -1 : next_rank(folder, 0);
    return rank < 0 ? rc : join_rank(folder, rank, path, err);
}

/* The history in the folder of a test of Jepsen or of dbcop, or in the latest one of a folder with tests. */
static enum rig_rc find_named(const char *given, char path[RIG_CLI_PATH_BYTES], bool *found, struct rig_err *err)
{
    static const char *const places[] = {"", "latest", "current"};
    static const char *const names[] = {"history.edn", "history.jsonl", "history.txt", "history.bincode"};
    static const char *const packed[] = {"", ".gz", ".zst"};
    char folder[RIG_CLI_PATH_BYTES], name[64];
    for (size_t at = 0; at < sizeof places / sizeof places[0] * 12; at++) {
        (void)snprintf(name, sizeof name, "%s%s", names[at / 3 % 4], packed[at % 3]);
        enum rig_rc rc = join(given, places[at / 12], folder, err);
        if (rc == RIG_OK)
            rc = join(folder, name, path, err);
        *found = rc == RIG_OK && access(path, R_OK) == 0;
        if (rc != RIG_OK || *found)
            return rc;
    }
    return RIG_OK;
}

/* Words for a folder without a history. Jepsen's own binary file cannot be read. */
static const char *nothing_found(const char *given, struct rig_err *why)
{
    char binary[RIG_CLI_PATH_BYTES];
    struct rig_err unused = {0};
    const bool has_binary = join(given, "test.jepsen", binary, &unused) == RIG_OK && access(binary, F_OK) == 0;
    *why = (struct rig_err){0};
    (void)rig_fail(
        why, RIG_E_INPUT,
        "%s: no history is in this folder: it has no history.rig, history.edn, history.jsonl, history.txt or "
        "history.bincode (also as .gz or .zst), and neither has its folder latest%s",
        given,
        has_binary ? "; test.jepsen is Jepsen's binary form, which rig does not read: export the history as EDN" : "");
    return why->text;
}

/*
 * Gives the file that `given` names: itself, "-" too, or the record of the run in the folder, or the folder of logs.
 *
 * RIG_E_INPUT (64: the command line is wrong) where there is nothing of that name, no right to read it, or no run in
 * the folder.
 */
static enum rig_rc cli_find_history(const char *given, char path[RIG_CLI_PATH_BYTES], struct rig_err *err)
{
    char folder[RIG_CLI_PATH_BYTES];
    if (strcmp(given, "-") == 0)
        return join(given, "", path, err);
    if (!is_folder(given))
        return access(given, R_OK) == 0 ? join(given, "", path, err) : fail_open(given, errno, err);
    struct rig_err why = {0};
    enum rig_rc rc = rig_cli_find_run(given, folder, &why);
    if (rc == RIG_OK)
        return join_record(folder, path, err);
    bool found = false;
    rc = find_named(given, path, &found, err);
    if (rc != RIG_OK || found)
        return rc;
    if (rig_cobra_folder(given))
        return join(given, "", path, err);
    return rig_fail(err, why.rc, "%s",
                    why.rc != RIG_E_INPUT || access(given, R_OK | X_OK) != 0 ? why.text : nothing_found(given, &why));
}

static enum rig_rc add_path(const char *path, struct rig_cli_paths *paths, struct rig_err *err)
{
    if (paths->count == RIG_CLI_PATHS_MOST)
        return rig_fail(err, RIG_E_USAGE, "more than %d records", (int)RIG_CLI_PATHS_MOST);
    char *copy = strdup(path);
    if (copy == NULL)
        return rig_no_memory(err, "the paths");
    paths->at[paths->count++] = copy;
    return RIG_OK;
}

/* The records of the other ranks beside the first one of a run's folder. */
static enum rig_rc add_ranks(const char *given, const char *first, struct rig_cli_paths *paths, struct rig_err *err)
{
    char folder[RIG_CLI_PATH_BYTES], path[RIG_CLI_PATH_BYTES];
    struct rig_err why = {0};
    const char *slash = strrchr(first, '/');
    if (!is_folder(given) || rig_cli_find_run(given, folder, &why) != RIG_OK || slash == NULL)
        return RIG_OK;
    enum rig_rc rc = RIG_OK;
    for (long rank = rank_of(slash + 1); rank >= 0 && (rank = next_rank(folder, rank + 1)) >= 0 && rc == RIG_OK;) {
        rc = join_rank(folder, rank, path, err);
        if (rc == RIG_OK)
            rc = add_path(path, paths, err);
    }
    return rc;
}

enum rig_rc rig_cli_find_histories(const char *const *given, size_t count, struct rig_cli_paths *paths,
                                   struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    *paths = (struct rig_cli_paths){0};
    for (size_t i = 0; i < count && rc == RIG_OK; i++) {
        char path[RIG_CLI_PATH_BYTES];
        rc = cli_find_history(given[i], path, err);
        if (rc == RIG_OK)
            rc = add_path(path, paths, err);
        if (rc == RIG_OK)
            rc = add_ranks(given[i], path, paths, err);
    }
    return rc;
}

void rig_cli_paths_done(struct rig_cli_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->at[i]);
    paths->count = 0;
}

void rig_cli_guard_history(const char *path)
{
    if (is_folder(path))
        rig_cobra_folder_visit(path, rig_output_guard);
    else
        rig_output_guard(path);
}
