/*
 * An archive of a few small files in memory, as `.tar.gz` that every system unpacks.
 *
 * The bytes depend on nothing but names and contents: no times, no owners, files in the order in which they came. The
 * contents are stored in gzip's frame, not compressed, so no library is needed (POSIX ustar; RFC 1951 stored blocks;
 * RFC 1952).
 *
 * Limits: names of at most RIG_ARCHIVE_NAME_BYTES, 256 MiB in all. Space: the archive, twice while it is finished.
 */
#ifndef RIG_BASE_ARCHIVE_H
#define RIG_BASE_ARCHIVE_H

#include <stdbool.h>

#include "base/buf.h"

enum { RIG_ARCHIVE_NAME_BYTES = 99 };

struct rig_archive {
    struct rig_buf tar;
};

void rig_archive_init(struct rig_archive *archive);
void rig_archive_done(struct rig_archive *archive);
/* A regular file; `is_script`: its owner may execute it. RIG_E_LIMIT for a longer name, or when the archive is full. */
enum rig_rc rig_archive_add(struct rig_archive *archive, const char *name, bool is_script, const void *bytes,
                            size_t count, struct rig_err *err);
/* Ends the archive and appends it to `out`; RIG_E_LIMIT without memory. */
enum rig_rc rig_archive_finish(struct rig_archive *archive, struct rig_buf *out, struct rig_err *err);

#endif
