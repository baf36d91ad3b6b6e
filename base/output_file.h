/*
 * Every file that rig writes for its user.
 *
 * A regular file appears whole or not at all: its bytes go into a file without a name in the same folder (or, where the
 * file system has none, a new file under a random name) that takes the place of the old one at the end. Character
 * devices and pipes are written in place and stay what they are. A link stays and its target is written; a dangling
 * link, one that another user except root made, a block device, a folder and a socket are refused. "-", /dev/stdout,
 * /dev/stderr and /dev/fd/N are the descriptors that the process was given.
 *
 * No output may be a file that the command reads. rig_output_guard() names such files; file systems and links give one
 * file many names, so files are compared by device and inode.
 *
 * No output may take the place of a run's file (base/run_files.h) in a folder with the mark of a run, unless the
 * command says by rig_output_own_run() that it writes that run.
 *
 * Threads: any, each its own output; rig_output_guard() and rig_output_own_run() before other threads start.
 */
#ifndef RIG_BASE_OUTPUT_FILE_H
#define RIG_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct rig_output {
    const char *path; /* borrowed; as the user wrote it */
    char *name;       /* the name in `folder` that it takes at the end; NULL: written in place */
    char *temporary;  /* its name until then; NULL: it has none */
    int folder;
    int fd;
};

/* Remembers an input ("-" is standard input), for the rest of the process. Files that are not regular need no guard. */
void rig_output_guard(const char *path);
/* Allows this command, for the rest of the process, to write the files of the run in `folder`. */
void rig_output_own_run(const char *folder);
/*
 * Refuses a path that rig_output_open() would refuse now, before the work that leads to the output: it begins a file
 * there, and removes it again. RIG_E_USAGE for an input of this command, a file that must not be replaced, and a place
 * where no file can be, such as a folder that does not exist; RIG_E_IO otherwise.
 */
enum rig_rc rig_output_check(const char *path, struct rig_err *err);
/* Whether an `errno` says that there is no such place, rather than that the machine is out of something. */
bool rig_output_is_of_path(int error);
/* Whether writing to `path` would replace a regular file. */
bool rig_output_replaces(const char *path);

/* Only an output that was opened is closed, and exactly once. */
enum rig_rc rig_output_open(struct rig_output *output, const char *path, struct rig_err *err);
enum rig_rc rig_output_write(struct rig_output *output, const void *bytes, size_t count, struct rig_err *err);
/* `rc` is how writing went: on RIG_OK the file takes its place, else it is removed. Returns the first failure. */
enum rig_rc rig_output_close(struct rig_output *output, enum rig_rc rc, struct rig_err *err);
/* All three for the bytes of `buf`; RIG_E_LIMIT when it failed. */
enum rig_rc rig_output_save(const struct rig_buf *buf, const char *path, struct rig_err *err);

/*
 * A file that is written continuously and must survive a kill (a log): created, or continued at its end. Only a regular
 * file under its own name; links, devices and pipes are refused. Returns the descriptor, -1 with errno.
 */
int rig_output_append(const char *path);
/* Makes `path` a link to `target`, replacing an earlier link in one step; anything else there is refused. */
enum rig_rc rig_output_link(const char *target, const char *path, struct rig_err *err);

#endif
