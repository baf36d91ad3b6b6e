/*
 * The bytes of a history: a mapped file (also as standard input), the content of a pipe or of a folder with logs of
 * Cobra, or the caller's memory.
 *
 * A small file is read into memory at once. A large one is in memory only from the reader's position to the parts being
 * parsed: parts are prefetched before they are parsed, and pages that the reader has passed are released. They can be
 * read again.
 *
 * Threads: prepare and release from any, for different parts; the others while no other thread uses the bytes.
 */
#ifndef RIG_HISTORY_SOURCE_SOURCE_PARTS_H
#define RIG_HISTORY_SOURCE_SOURCE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct rig_source_bytes {
    const char *data;
    size_t size;
    size_t at_once_bytes; /* files of this size are small */
    bool in_parts;        /* a large file: see above */
    bool is_mapped;
    int fd; /* of a mapped file; else -1 */
    struct rig_buf buf;
};

/*
 * Whether an input that begins with these bytes can be a history; *undecided: more bytes are needed. Fails if it cannot
 * be one: a pipe or a device may never end.
 */
typedef enum rig_rc rig_source_look(const char *name, const char *data, size_t size, bool *undecided,
                                    struct rig_err *err);

/*
 * `path` "-" is standard input. A pipe may give half of `limit_bytes` (0: half of the machine's memory). A file that
 * `grows` counts as large from the start. RIG_E_IO, RIG_E_LIMIT, and the error of `look` for the beginning of a pipe.
 */
enum rig_rc rig_source_bytes_open(struct rig_source_bytes *bytes, const char *path, size_t limit_bytes, bool grows,
                                  rig_source_look *look, struct rig_err *err);
/* Borrows. */
void rig_source_bytes_borrow(struct rig_source_bytes *bytes, const void *data, size_t size);
/* Takes the bytes of `buf` instead of its own, which are released. */
void rig_source_bytes_replace(struct rig_source_bytes *bytes, struct rig_buf *buf);
void rig_source_bytes_close(struct rig_source_bytes *bytes);

void rig_source_bytes_release(const struct rig_source_bytes *bytes, size_t begin, size_t end);

#endif
