#include "cli/stored_logs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output_file.h"
#include "base/run_files.h"
#include "base/secret.h"

enum { PATH_BYTES = 4096 };

/* Masks the pieces of a line that NULs separate; gives the length that is left. */
static size_t redact_line(char *line, size_t length)
{
    size_t kept = 0;
    for (size_t at = 0; at < length;) {
        const size_t piece = strlen(line + at);
        rig_secret_redact(line + at, piece + 1);
        const size_t left = strlen(line + at);
        memmove(line + kept, line + at, left);
        kept += left;
        at += piece;
        while (at < length && line[at] == '\0') {
            line[kept++] = '\0';
            at++;
        }
    }
    return kept;
}

/* Copies `log` without its secrets; `changed` tells whether there were any. */
static enum rig_rc copy_redacted(FILE *log, struct rig_output *output, bool *changed, struct rig_err *err)
{
    char *line = NULL;
    size_t capacity = 0;
    enum rig_rc rc = RIG_OK;
    for (ssize_t length; rc == RIG_OK && (length = getline(&line, &capacity, log)) > 0;) {
        const size_t kept = redact_line(line, (size_t)length);
        *changed = *changed || kept != (size_t)length;
        rc = rig_output_write(output, line, kept, err);
    }
    free(line);
    return rc;
}

static enum rig_rc redact_log(const char *path, struct rig_err *err)
{
    FILE *log = fopen(path, "re");
    struct rig_output output;
    if (log == NULL)
        return rig_fail(err, RIG_E_IO, "%s: cannot open: %s", path, strerror(errno));
    enum rig_rc rc = rig_output_open(&output, path, err);
    if (rc == RIG_OK) {
        bool changed = false;
        rc = copy_redacted(log, &output, &changed, err);
        /* Every form of a secret is longer than the mask, so a change shows in the length. */
        const enum rig_rc closed = rig_output_close(&output, changed ? rc : RIG_E_IO, changed ? err : NULL);
        rc = changed && rc == RIG_OK ? closed : rc;
    }
    (void)fclose(log);
    return rc;
}

static bool is_log(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".log") == 0 && strcmp(name, RIG_RUN_LOG) != 0;
}

enum rig_rc rig_cli_redact_logs(const char *folder, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return rig_fail(err, RIG_E_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[PATH_BYTES];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!is_log(entry->d_name) || length < 0 || (size_t)length >= sizeof path)
            continue;
        const enum rig_rc one = redact_log(path, err);
        rc = rc == RIG_OK ? one : rc;
    }
    (void)closedir(dir);
    return rc;
}
