#include "history/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_written_in_place(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

enum rig_rc rig_output_open(struct rig_output *output, const char *path, struct rig_err *err)
{
    struct rig_output out = {.path = path, .fd = STDOUT_FILENO};
    if (strcmp(path, "-") == 0) {
        out.path = "standard output";
    } else if (is_written_in_place(path)) {
        out.fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        if (asprintf(&out.temporary, "%s.tmp", path) < 0)
            return rig_fail(err, RIG_E_LIMIT, "%s: no memory for its name", path);
        out.fd = open(out.temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    }
    if (out.fd < 0) {
        free(out.temporary);
        return rig_fail(err, RIG_E_IO, "%s: cannot create: %s", path, strerror(errno));
    }
    *output = out;
    return RIG_OK;
}

enum rig_rc rig_output_write(struct rig_output *output, const void *bytes, size_t count, struct rig_err *err)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t done = write(output->fd, from, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return rig_fail(err, RIG_E_IO, "%s: cannot write: %s", output->path, strerror(errno));
        from += done;
        count -= (size_t)done;
    }
    return RIG_OK;
}

enum rig_rc rig_output_close(struct rig_output *output, enum rig_rc rc, struct rig_err *err)
{
    if (output->fd != STDOUT_FILENO && close(output->fd) != 0 && rc == RIG_OK)
        rc = rig_fail(err, RIG_E_IO, "%s: cannot close: %s", output->path, strerror(errno));
    if (output->temporary != NULL) {
        if (rc == RIG_OK && rename(output->temporary, output->path) != 0)
            rc = rig_fail(err, RIG_E_IO, "%s: cannot rename %s to it: %s", output->path, output->temporary,
                          strerror(errno));
        if (rc != RIG_OK)
            (void)unlink(output->temporary);
    }
    free(output->temporary);
    *output = (struct rig_output){.fd = -1};
    return rc;
}
