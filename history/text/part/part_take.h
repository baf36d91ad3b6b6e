/*
 * Makes transactions of complete operations: pairs completions with invocations.
 *
 * Threads: one a part.
 */
#ifndef RIG_HISTORY_TEXT_PART_PART_TAKE_H
#define RIG_HISTORY_TEXT_PART_PART_TAKE_H

#include "base/bug.h"
#include "history/text/part/part_keys.h"

/*
 * Takes a complete operation; its `count` micro-operations are after those of the segment. `text` is not NULL if they
 * were not parsed: an invocation's text in the file. They are parsed later if the completion differs from the
 * invocation, or is missing.
 */
void rig_part_take(struct rig_part *part, const struct rig_operation_fields *fields, uint32_t count, const char *text,
                   const char *text_end);
/* The operation that the part's parser has read. */
void rig_part_take_parsed(struct rig_part *part);
/* Parses the invocation of the process. `first` operations after those of the segment belong to another operation. */
void rig_part_parse_invoked(struct rig_part *part, struct rig_part_process *process, uint32_t first);

/* The number of an error's text, from 1. */
uint32_t rig_part_error(struct rig_part *part, const char *text, size_t length);

/* Gives the columns of the operation that is being read to the segment's last transaction. */
void rig_part_set_columns(struct rig_part *part);

RIG_PART_INLINE void rig_part_refuse(struct rig_part *part)
{
    part->refused = true;
}

/* The operation's position; without indices it counts within the part until that is joined. */
RIG_PART_INLINE uint32_t rig_part_take_position(struct rig_part *part, bool has_index, int64_t index)
{
    if (!has_index)
        index = part->count;
    if (has_index != part->facts.uses_index || index >= RIG_POSITION_NONE || index <= part->last_index)
        rig_part_refuse(part);
    if (part->count++ == 0)
        part->first_index = index;
    part->last_index = index;
    return (uint32_t)index;
}

/* A process invokes: `text` in the file, and its short operations if that is parsed. */
RIG_PART_INLINE void rig_part_take_invocation(struct rig_part *part, struct rig_part_process *process,
                                              uint32_t position, int64_t time_ns, const char *text,
                                              const char *text_end, bool is_parsed)
{
    RIG_REQUIRE(!process->open);
    process->invoke_ns = time_ns;
    process->invoke_at = position;
    process->text = text;
    process->text_end = text_end;
    process->is_parsed = is_parsed;
    if (process->first == RIG_FIRST_NOTHING)
        process->first = RIG_FIRST_INVOKED;
    if (!rig_part_open_process(part, process))
        part->no_memory = true;
}

/* Sets a transaction without process, error and invocation. Fields are set one by one: copying a struct that was
 * just stored would stall. */
RIG_PART_INLINE void rig_part_set_txn(const struct rig_part *part, struct rig_txn *txn, enum rig_outcome outcome,
                                      uint32_t position, int64_t time_ns)
{
    txn->invoke_ns = RIG_NO_TIME;
    txn->complete_ns = time_ns;
    txn->invoke_at = RIG_POSITION_NONE;
    txn->complete_at = position;
    txn->first_op = (uint32_t)part->segment->ops.count;
    txn->process = 0;
    txn->error = 0;
    txn->outcome = (uint8_t)outcome;
    txn->settled = RIG_SETTLED_NOT;
}

/*
 * Adds a transaction with the next `count` operations after those of the segment, whose owner is set; without process,
 * error and invocation. NULL when memory runs out.
 */
RIG_PART_INLINE struct rig_txn *rig_part_add_txn(struct rig_part *part, enum rig_outcome outcome, uint32_t position,
                                                 int64_t time_ns, uint32_t count)
{
    struct rig_segment *segment = part->segment;
    struct rig_txn_op *ops = segment->ops.at + segment->ops.count;
    if (!rig_txn_vec_reserve(&segment->txns, segment->txns.count + 1) || segment->ops.count + count >= UINT32_MAX) {
        part->no_memory = true;
        return NULL;
    }
    for (uint32_t i = 0; part->has_null && outcome != RIG_OUTCOME_OK && i < count; i++) {
        if (ops[i].read_state == RIG_READ_NIL)
            ops[i].read_state = RIG_READ_UNKNOWN;
    }
    struct rig_txn *txn = &segment->txns.at[segment->txns.count++];
    rig_part_set_txn(part, txn, outcome, position, time_ns);
    segment->ops.count += count;
    segment->owned &= count > 0;
    if (__builtin_expect(part->columns.given != 0, 0))
        rig_part_set_columns(part);
    return txn;
}

/* Completes the invocation of the process; its operations are after those of the segment, with results and owner. */
RIG_PART_INLINE void rig_part_take_completion(struct rig_part *part, struct rig_part_process *process,
                                              enum rig_outcome outcome, uint32_t position, int64_t time_ns,
                                              uint32_t error)
{
    struct rig_txn *txn = rig_part_add_txn(part, outcome, position, time_ns, process->op_count);
    if (txn == NULL)
        return;
    txn->invoke_ns = process->invoke_ns;
    txn->invoke_at = process->invoke_at;
    txn->process = (int32_t)process->process;
    txn->error = error;
    rig_part_close_process(process);
}

RIG_PART_INLINE const struct rig_txn_op *rig_part_ops(const struct rig_part *part,
                                                      const struct rig_part_process *process)
{
    return process->op_count <= RIG_PART_SHORT_OPS ? process->short_ops : part->long_ops.at + process->long_ops;
}

#endif
