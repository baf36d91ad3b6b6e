/*
 * Files of a store for readers elsewhere: nothing but what rig writes, and nothing outside of the store.
 *
 * A path is walked folder by folder, by descriptors, and no link is followed. Only names of base/run_files.h are
 * opened, below <name>/<UTC time>. A run without a result gives its plan, its log and its progress alone: the logs of
 * its nodes may still have secrets, which rig removes before it writes the result.
 */
#ifndef RIG_JOBS_SERVE_STORE_FILE_H
#define RIG_JOBS_SERVE_STORE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "jobs/serve/web_module.h"
#include "jobs/store/store_folder.h"

enum rig_store_found {
    RIG_STORE_NOTHING,
    RIG_STORE_FILE,
    RIG_STORE_RUN,    /* the folder of a run, of a matrix, or of a run in it */
    RIG_STORE_LATEST, /* the link `latest` of a name is in the path */
};

struct rig_store_file {
    enum rig_store_found found;
    int fd;              /* of the file, or of the folder; -1: none. The caller's to close */
    uint64_t size_bytes; /* of a file */
    const char *type;    /* its Content-Type */
    bool is_page;        /* HTML, which has a policy of its own */
    bool is_finished;    /* its run has a result */
    char tag[RIG_WEB_TAG_BYTES];
    char path[RIG_STORE_PATH_BYTES]; /* LATEST: the path with the time in its place; else as given, without doubles of
                                        slashes */
};

/* `path`: decoded, from the store, without a slash at its beginning. */
void rig_store_file_open(int store, const char *path, struct rig_store_file *file);

#endif
