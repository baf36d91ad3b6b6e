#include "history/model/segment.h"

#include "base/bug.h"

void rig_segment_init(struct rig_segment *segment, size_t limit_bytes)
{
    RIG_REQUIRE(segment != NULL);
    *segment = (struct rig_segment){0};
    segment->limit_bytes = limit_bytes;
    rig_columns_init(&segment->columns, limit_bytes);
    rig_list_pool_init(&segment->pool, limit_bytes);
    rig_arena_init(&segment->texts, limit_bytes);
}

void rig_segment_done(struct rig_segment *segment)
{
    rig_txn_vec_done(&segment->txns);
    rig_txn_op_vec_done(&segment->ops);
    rig_segment_keys_done(&segment->keys);
    rig_growing_branches_done(&segment->branches);
    rig_segment_errors_done(&segment->errors);
    rig_columns_done(&segment->columns);
    rig_txn_vec_done(&segment->open);
    rig_txn_op_vec_done(&segment->open_ops);
    rig_fault_event_vec_done(&segment->faults);
    rig_segment_lines_done(&segment->certificate);
    rig_segment_note_done(&segment->note);
    rig_list_pool_done(&segment->pool);
    rig_arena_done(&segment->texts);
    if (segment->reader_part_free != NULL)
        segment->reader_part_free(segment->reader_part);
    segment->reader_part = NULL;
}

void rig_segment_reset(struct rig_segment *segment)
{
    segment->txns.count = 0;
    segment->ops.count = 0;
    segment->keys.count = 0;
    segment->branches.count = 0;
    segment->errors.count = 0;
    rig_columns_clear(&segment->columns, segment->limit_bytes);
    segment->open.count = 0;
    segment->open_ops.count = 0;
    segment->faults.count = 0;
    segment->certificate.count = 0;
    rig_list_pool_reset(&segment->pool);
    rig_arena_reset(&segment->texts);
    segment->note.made = false;
    segment->owned = false;
    segment->skipped_count = segment->lost_count = segment->reused_count = 0;
    segment->keyword_keys = segment->value_keys = false;
    segment->unordered = segment->in_turn = false;
}

size_t rig_segment_bytes(const struct rig_segment *segment)
{
    return (segment->txns.capacity + segment->open.capacity) * sizeof(struct rig_txn) +
           (segment->ops.capacity + segment->open_ops.capacity) * sizeof(struct rig_txn_op) +
           segment->keys.capacity * sizeof(struct rig_segment_key) +
           segment->branches.capacity * sizeof(struct rig_growing_branch) +
           segment->errors.capacity * sizeof(struct rig_segment_error) + segment->pool.arena.held_bytes +
           segment->texts.held_bytes + rig_segment_note_bytes(&segment->note) + rig_columns_bytes(&segment->columns);
}

size_t rig_segment_used_bytes(const struct rig_segment *segment)
{
    return (segment->txns.count + segment->open.count) * sizeof(struct rig_txn) +
           (segment->ops.count + segment->open_ops.count) * (sizeof(struct rig_txn_op) + sizeof(struct rig_owned_op)) +
           segment->keys.count * (sizeof(struct rig_segment_key) + sizeof(struct rig_key_note)) +
           segment->branches.count * sizeof(struct rig_growing_branch) +
           segment->errors.count * sizeof(struct rig_segment_error) + 2 * segment->pool.arena.used_bytes +
           segment->texts.used_bytes + rig_columns_used_bytes(&segment->columns);
}
