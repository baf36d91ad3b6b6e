/*
 * The views of a certificate in the binary record (docs/history-format.md). Private to the record.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_VIEWS_H
#define RIG_HISTORY_RECORD_RECORD_VIEWS_H

#include "base/buf.h"
#include "history/record/record_cursor.h"
#include "history/model/txn_views.h"

/* Puts views from `*view` on, until the payload has grown by `most_bytes`; advances `*view`. */
void rig_txn_views_encode(const struct rig_txn_views *views, uint32_t *view, size_t most_bytes,
                          struct rig_buf *payload);

enum rig_txn_views_decoded { RIG_VIEWS_DECODED, RIG_VIEWS_DAMAGED, RIG_VIEWS_NO_MEMORY };

/* Adds the views up to the cursor's end. */
enum rig_txn_views_decoded rig_txn_views_decode(struct rig_record_cursor *cursor, struct rig_txn_views *views);

#endif
