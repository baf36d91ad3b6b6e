/*
 * Operations of logs (RIG_WORKLOAD_LOG), also for drivers. A key is a log; its records have offsets, which grow along
 * the log and may leave gaps. A session is a consumer: a poll gives the records after the last one that it polled, as
 * pairs of an offset and a value, or nil where the consumer was moved. Pure; depends on the transaction alone.
 */
#ifndef RIG_HISTORY_TYPES_LOG_OPS_H
#define RIG_HISTORY_TYPES_LOG_OPS_H

#include "history/model/transaction.h"

/* Whether the operation is a poll directly after a send to its log, which is the acknowledgement of the send: its
 * result is the record that was sent, alone, or nothing where its offset is not known. It moves no consumer. */
static inline bool rig_op_acknowledges(const struct rig_op *ops, uint32_t op)
{
    return op > 0 && ops[op].kind == RIG_OP_POLL && ops[op - 1].kind == RIG_OP_SEND && ops[op - 1].key == ops[op].key;
}

#endif
