/*
 * The records of the logs of a history, and their order: what sends and polls of acknowledged transactions show of it.
 *
 * A log (key) is a sequence of records. A record is a value that one transaction sent, and its offset, which grows
 * along the log and may leave gaps. A send is an operation with a value; the poll of its key directly after it is the
 * acknowledgement, which shows the record alone, or nothing where the offset is not known. Any other poll shows a run
 * of records; a poll of nil says that the consumer was moved, so nothing is known of its position.
 *
 * The offset of a record is the one at which acknowledged transactions show it. A record that two offsets, or an offset
 * that two records have is contested, and has no place in the order. (Jepsen, jepsen.tests.kafka.)
 *
 * Time: sorting the records, and one look-up for each record shown. Space: 48 bytes a record, 16 a key.
 */
#ifndef RIG_CHECKER_INFER_LOGS_H
#define RIG_CHECKER_INFER_LOGS_H

#include "checker/infer/sets.h"

#define RIG_LOG_NO_OFFSET INT64_MIN
#define RIG_LOG_NO_PLACE  UINT32_MAX

struct rig_log_record {
    int64_t offset;               /* RIG_LOG_NO_OFFSET: nothing shows it */
    uint32_t shown_txn, shown_op; /* the first acknowledged transaction that shows it, and its operation */
    uint32_t place;               /* in `order`; RIG_LOG_NO_PLACE: no offset, contested, or not committed */
    bool contested, polled;       /* polled: by an acknowledged transaction, besides its acknowledgement */
};

struct rig_logs {
    struct rig_sets values;         /* by key, then value; with the committed transactions */
    struct rig_log_record *records; /* parallel to values.elements */
    uint32_t *order;                /* records of committed transactions, by key, then offset */
    uint32_t *order_first;          /* per key, and one more: into order */
};

/* Two records of a key with one offset. */
struct rig_log_clash {
    uint32_t first, second;
};

/* Memory comes from the arena. Calls `clash` for each two records with one offset. RIG_E_INPUT when an operation is of
 * another type, a value is sent twice to a key, or an acknowledgement shows anything but what was sent; RIG_E_LIMIT
 * when memory runs out, also in `clash`, which is false then. */
enum rig_rc rig_logs_build(const struct rig_history *history, struct rig_arena *arena, struct rig_logs *logs,
                           bool (*clash)(void *context, const struct rig_log_clash *found), void *context,
                           struct rig_err *err);

/* Whether the operation is the acknowledgement of the send before it. */
bool rig_log_acknowledges(const struct rig_txn_op *ops, uint32_t op);

/* The first place of the key's order with an offset above this one; the end of the order: none. */
uint32_t rig_logs_above(const struct rig_logs *logs, uint32_t key, int64_t offset);

static inline const struct rig_set_element *rig_log_sent(const struct rig_logs *logs, uint32_t record)
{
    return &logs->values.elements[record];
}

/* The record at a place. */
static inline const struct rig_log_record *rig_log_at(const struct rig_logs *logs, uint32_t place)
{
    return &logs->records[logs->order[place]];
}

#endif
