/*
 * Inputs that have to be unpacked or rewritten before any form is recognised in them: gzip and zstd, a byte order mark
 * of UTF-8, and Jepsen's `history.txt`, which has an operation a line:
 *
 *     0<tab>:invoke<tab>:txn<tab>[[:append 1 5]]
 *     0<tab>:ok<tab>:txn<tab>[[:append 1 5]]
 *     1<tab>:info<tab>:read<tab>nil<tab>:timeout
 *
 * Such a line becomes an operation of EDN on a line of the same number. The result is in memory, and may take half of
 * the limit.
 */
#ifndef RIG_HISTORY_SOURCE_UNPACK_H
#define RIG_HISTORY_SOURCE_UNPACK_H

#include "history/source/source_parts.h"

/* Whether an input that begins so is one of these, so that its form shows only afterwards. */
bool rig_unpack_is_wanted(const char *data, size_t size);
/* Replaces the bytes by their content, as often as that is packed. RIG_E_INPUT for damaged data, and where rig was
 * built without the library. */
enum rig_rc rig_unpack(struct rig_source_bytes *bytes, const char *name, size_t limit_bytes, struct rig_err *err);

#endif
