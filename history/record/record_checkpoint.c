#include "history/record/record_checkpoint.h"

/* A count of items; each takes at least one of the remaining bytes. */
static enum rig_rc get_count(struct rig_record_decoder *decoder, uint64_t *count)
{
    *count = rig_cursor_number(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    return *count <= rig_cursor_left(&decoder->cursor) ? RIG_OK
                                                       : rig_record_damaged(decoder, "a count larger than the frame");
}

static enum rig_rc get_spine(struct rig_record_decoder *decoder, struct rig_record_key *key)
{
    uint64_t count = 0;
    enum rig_rc rc = get_count(decoder, &count);
    if (rc != RIG_OK)
        return rc;
    if (count > UINT32_MAX ||
        (count > RIG_RECORD_FEW && !rig_record_may_take(decoder, 2 * count * sizeof *key->spine.at)) ||
        !rig_growing_list_reserve(&decoder->pool, &key->spine, (uint32_t)count))
        return rig_record_no_memory(decoder);
    struct rig_record_cursor cursor = decoder->cursor;
    int64_t last = 0;
    for (uint64_t i = 0; i < count; i++)
        key->spine.at[i] = last = rig_sum(last, rig_cursor_signed(&cursor));
    decoder->cursor = cursor;
    key->spine.count = key->good = (uint32_t)count;
    return cursor.bad == NULL ? RIG_OK : rig_record_no_number(decoder);
}

static enum rig_rc get_keys(struct rig_record_decoder *decoder)
{
    uint64_t count = 0;
    enum rig_rc rc = get_count(decoder, &count);
    for (uint64_t i = 0; rc == RIG_OK && i < count; i++) {
        rc = rig_record_define_key(decoder);
        if (rc != RIG_OK)
            return rc;
        struct rig_record_key *key = &decoder->keys.at[i];
        key->last_value = rig_cursor_signed(&decoder->cursor);
        rc = get_spine(decoder, key);
        if (rc == RIG_OK && i % RIG_RECORD_FEW == 0 && !rig_record_may_take(decoder, 0))
            rc = rig_record_no_memory(decoder);
    }
    return rc;
}

static enum rig_rc get_open_op(struct rig_record_decoder *decoder, struct rig_txn_op *op, uint32_t *key)
{
    uint64_t code = rig_cursor_number(&decoder->cursor);
    bool reads = (code & 1) != 0;
    if (code >> 1 >= decoder->keys.count)
        return rig_record_damaged(decoder, "an operation on a key that is not defined");
    *key = (uint32_t)(code >> 1);
    *op = (struct rig_txn_op){
        .kind = (uint8_t)((unsigned)decoder->shape->type->write_op + (unsigned)reads),
        .value = reads ? 0 : rig_cursor_signed(&decoder->cursor),
    };
    return RIG_OK;
}

static enum rig_rc get_open_txn(struct rig_record_decoder *decoder)
{
    uint64_t client = rig_cursor_number(&decoder->cursor);
    uint64_t back = rig_cursor_number(&decoder->cursor);
    int64_t process = rig_cursor_signed(&decoder->cursor);
    uint64_t flags = rig_cursor_number(&decoder->cursor);
    int64_t time_ns =
        flags != 0 ? RIG_NO_TIME : rig_difference(decoder->last_time, rig_cursor_signed(&decoder->cursor));
    uint64_t op_count = 0;
    enum rig_rc rc = get_count(decoder, &op_count);
    if (rc != RIG_OK)
        return rc;
    if (client > INT32_MAX || process < INT32_MIN || process > INT32_MAX || flags > 1 || back == 0 ||
        back > decoder->next_position)
        return rig_record_damaged(decoder, "an impossible open transaction");
    struct rig_record_slot *slot = rig_record_find_slot(decoder, (uint32_t)client);
    if (slot == NULL || (slot->open && !rig_record_abandon(decoder, slot)) ||
        !rig_record_slot_reserve(decoder, slot, op_count))
        return rig_record_no_memory(decoder);
    slot->open = true;
    slot->process = process;
    slot->invoke_ns = time_ns;
    slot->invoke_at = decoder->next_position - (uint32_t)back;
    slot->op_count = 0;
    slot->stamp = 0;
    for (uint64_t i = 0; rc == RIG_OK && i < op_count; i++)
        rc = get_open_op(decoder, &slot->ops[i], &slot->keys[i]);
    slot->op_count = (uint32_t)op_count;
    return rc;
}

static enum rig_rc get_counts(struct rig_record_decoder *decoder)
{
    decoder->event_count = rig_cursor_number(&decoder->cursor);
    decoder->txn_count = rig_cursor_number(&decoder->cursor);
    uint64_t next_position = decoder->event_count;
    if ((decoder->shape->flags & RIG_RECORD_POSITIONS) != 0)
        next_position = rig_cursor_number(&decoder->cursor);
    decoder->last_time = rig_cursor_signed(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    if (next_position > RIG_POSITION_NONE || decoder->event_count > next_position ||
        decoder->txn_count > decoder->event_count)
        return rig_record_damaged(decoder, "impossible counts");
    decoder->next_position = (uint32_t)next_position;
    return RIG_OK;
}

enum rig_rc rig_record_decode_checkpoint(struct rig_record_decoder *decoder)
{
    uint64_t open_count = 0;
    rig_record_decoder_restart(decoder);
    enum rig_rc rc = get_counts(decoder);
    if (rc == RIG_OK)
        rc = get_keys(decoder);
    if (rc == RIG_OK)
        rc = get_count(decoder, &open_count);
    for (uint64_t i = 0; rc == RIG_OK && i < open_count; i++) {
        rc = get_open_txn(decoder);
        if (rc == RIG_OK && i % RIG_RECORD_FEW == 0 && !rig_record_may_take(decoder, 0))
            rc = rig_record_no_memory(decoder);
    }
    if (rc == RIG_OK && decoder->cursor.bad != NULL)
        rc = rig_record_no_number(decoder);
    if (rc == RIG_OK && rig_cursor_left(&decoder->cursor) != 0)
        rc = rig_record_damaged(decoder, "a checkpoint of the wrong length");
    return rc;
}
