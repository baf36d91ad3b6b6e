/*
 * A file that appears whole or not at all: written beside its place, then renamed over it.
 *
 * "-" is standard output; what exists and is no regular file (a device, a pipe) is written in place.
 */
#ifndef RIG_HISTORY_OUTPUT_H
#define RIG_HISTORY_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct rig_output {
    const char *path; /* borrowed */
    char *temporary;  /* NULL: written in place */
    int fd;
};

/* Only an output that was opened is committed or dropped, and exactly once. */
enum rig_rc rig_output_open(struct rig_output *output, const char *path, struct rig_err *err);
enum rig_rc rig_output_write(struct rig_output *output, const void *bytes, size_t count, struct rig_err *err);
/* `rc` is how writing went: on RIG_OK the file takes its place, else it is removed. Returns the first failure. */
enum rig_rc rig_output_close(struct rig_output *output, enum rig_rc rc, struct rig_err *err);

#endif
