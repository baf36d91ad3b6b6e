#include "history/record/encoder_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/model/history.h"
#include "history/record/record_cursor.h"
#include "history/record/record_encoder_private.h"

/* Bytes of a key in a checkpoint (name, value, length of the spine), and of an element of the spine. */
enum { KEY_BYTES = 6, ELEMENT_BYTES = 1 };

/* A key is in use for this many of its usual intervals, and events, after its last use. */
static const uint64_t idle_intervals = 16;
static const uint64_t idle_events = 1024;

void rig_encoder_keys_init(struct rig_encoder_keys *keys)
{
    *keys = (struct rig_encoder_keys){0};
    rig_table_init(&keys->entry_of_key);
    rig_list_pool_init(&keys->pool, 0);
}

void rig_encoder_keys_done(struct rig_encoder_keys *keys)
{
    rig_encoder_key_vec_done(&keys->entries);
    rig_encoder_id_vec_done(&keys->free_entries);
    rig_table_done(&keys->entry_of_key);
    rig_list_pool_done(&keys->pool);
}

static void note_recent(struct rig_encoder_keys *keys, int64_t key, uint32_t entry)
{
    keys->recent[(uint64_t)key % RIG_ENCODER_RECENT] = entry + 1;
}

uint32_t rig_encoder_keys_search(struct rig_encoder_keys *keys, int64_t key)
{
    uint32_t entry = rig_table_get(&keys->entry_of_key, (uint64_t)key);
    if (entry != RIG_TABLE_NONE)
        note_recent(keys, key, entry);
    return entry;
}

static bool map_key(struct rig_encoder_keys *keys, uint32_t index)
{
    uint32_t *place = rig_table_put(&keys->entry_of_key, (uint64_t)keys->entries.at[index].key);
    if (place != NULL)
        *place = index;
    return place != NULL;
}

uint32_t rig_encoder_keys_add(struct rig_encoder_keys *keys, int64_t key, uint64_t event)
{
    struct rig_encoder_key entry = {
        .key = key, .first_at = event, .used_at = event, .id = keys->next_id++, .live = true};
    uint32_t index = (uint32_t)keys->entries.count;
    if (keys->free_entries.count > 0) {
        index = keys->free_entries.at[--keys->free_entries.count];
        keys->entries.at[index] = entry;
    } else if (!rig_encoder_key_vec_add(&keys->entries, entry)) {
        keys->failed = true;
        return 0;
    }
    keys->live_count++;
    if (!map_key(keys, index))
        keys->failed = true;
    note_recent(keys, key, index);
    return index;
}

void rig_encoder_keys_follow(struct rig_encoder_keys *keys, struct rig_encoder_key *entry,
                             const struct rig_record_read *read, uint32_t shared)
{
    struct rig_growing_list *spine = &entry->spine;
    uint32_t more = read->count - shared;
    entry->origin = read->origin;
    entry->origin_count = read->origin_count;
    keys->spine_elements += read->count - spine->count;
    spine->count = shared;
    if (!rig_growing_list_reserve(&keys->pool, spine, more)) {
        keys->failed = true;
        return;
    }
    memcpy(spine->at + shared, (const char *)read->elements + shared * sizeof(int64_t), more * sizeof(int64_t));
    spine->count = read->count;
}

/* ---- Which keys a block starts with ---- */

static bool is_in_use(const struct rig_encoder_key *entry, uint64_t now, uint64_t most_idle)
{
    if (!entry->live || entry->open_count > 0)
        return entry->live;
    uint64_t idle = now - entry->used_at;
    uint64_t interval = entry->use_count > 1 ? (entry->used_at - entry->first_at) / (entry->use_count - 1) : 0;
    return !entry->left && idle <= most_idle && idle <= idle_intervals * interval + idle_events;
}

static size_t likely_bytes(const struct rig_encoder_keys *keys, uint64_t now, uint64_t most_idle)
{
    size_t bytes = 0;
    for (size_t i = 0; i < keys->entries.count; i++) {
        const struct rig_encoder_key *entry = &keys->entries.at[i];
        if (is_in_use(entry, now, most_idle))
            bytes += KEY_BYTES + (size_t)entry->spine.count * ELEMENT_BYTES;
    }
    return bytes;
}

static int compare_items(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* The entries that are in use, by their ids. */
static bool gather(const struct rig_encoder_keys *keys, uint64_t now, uint64_t most_idle,
                   struct rig_encoder_id_vec *kept)
{
    uint64_t *items = malloc((keys->entries.count + 1) * sizeof *items);
    bool fits = items != NULL && rig_encoder_id_vec_reserve(kept, keys->entries.count);
    size_t count = 0;
    for (size_t i = 0; fits && i < keys->entries.count; i++) {
        if (is_in_use(&keys->entries.at[i], now, most_idle))
            items[count++] = (uint64_t)keys->entries.at[i].id << 32 | i;
    }
    if (count > 1)
        qsort(items, count, sizeof *items, compare_items);
    kept->count = 0;
    for (size_t i = 0; i < count; i++)
        kept->at[kept->count++] = (uint32_t)items[i];
    free(items);
    return fits;
}

bool rig_encoder_keys_choose(const struct rig_encoder_keys *keys, uint64_t now, size_t most_bytes,
                             struct rig_encoder_id_vec *kept, size_t *bytes)
{
    uint64_t most_idle = now;
    *bytes = likely_bytes(keys, now, most_idle);
    while (*bytes > most_bytes && most_idle > 0) {
        most_idle /= 2;
        *bytes = likely_bytes(keys, now, most_idle);
    }
    return kept == NULL || gather(keys, now, most_idle, kept);
}

void rig_encoder_keys_keep(struct rig_encoder_keys *keys, const struct rig_encoder_id_vec *kept)
{
    for (size_t i = 0; i < keys->entries.count; i++)
        keys->entries.at[i].id = UINT32_MAX;
    for (size_t i = 0; i < kept->count; i++)
        keys->entries.at[kept->at[i]].id = (uint32_t)i;
    keys->next_id = (uint32_t)kept->count;
    rig_table_clear(&keys->entry_of_key);
    for (size_t i = 0; i < keys->entries.count; i++) {
        struct rig_encoder_key *entry = &keys->entries.at[i];
        if (!entry->live || entry->id != UINT32_MAX) {
            keys->failed |= entry->live && !map_key(keys, (uint32_t)i);
            continue;
        }
        RIG_INVARIANT(entry->open_count == 0);
        keys->spine_elements -= entry->spine.count;
        keys->live_count--;
        rig_growing_list_release(&keys->pool, &entry->spine);
        entry->live = false;
        keys->failed |= !rig_encoder_id_vec_add(&keys->free_entries, (uint32_t)i);
    }
}

static const size_t least_block_bytes = (size_t)1 << 20;
static const size_t least_checkpoint_bytes = (size_t)1 << 16;
enum {
    BLOCK_CHECKPOINTS = 16, /* a block is this many times as long as its checkpoint */
    LARGE_CHECKPOINTS = 4,  /* a block is at least this many times as long, even if the state is large */
};

enum { OPEN_BYTES = 11, OPEN_OP_BYTES = 3 }; /* estimated bytes of an open transaction in a checkpoint */

/* ---- Where a block ends ---- */

static bool is_large(const struct rig_record_encoder *encoder)
{
    return encoder->keys.live_count > encoder->head.key_limit ||
           encoder->keys.spine_elements > encoder->head.state_limit_bytes / sizeof(int64_t);
}

static size_t likely_open_bytes(const struct rig_record_encoder *encoder)
{
    size_t bytes = 0;
    for (size_t i = 0; i < encoder->clients.count; i++) {
        const struct rig_encoder_client *client = &encoder->clients.at[i];
        bytes += client->open ? OPEN_BYTES + client->txn.ops.count * OPEN_OP_BYTES : 0;
    }
    for (size_t i = 0; i < encoder->abandoned.count; i++)
        bytes += OPEN_BYTES + encoder->abandoned.at[i].ops.count * OPEN_OP_BYTES;
    return bytes;
}

void rig_encoder_consider_block(struct rig_record_encoder *encoder)
{
    uint64_t block_bytes = encoder->file_bytes - encoder->block_starts_at;
    if (encoder->head.block_bytes != 0) {
        encoder->block_due |= block_bytes >= encoder->head.block_bytes;
        return;
    }
    bool small_limits = encoder->head.key_limit < 1024;
    if (is_large(encoder) && (block_bytes >= encoder->large_from || small_limits)) {
        encoder->block_due = true;
    } else if (block_bytes >= encoder->block_judged_at) {
        size_t bytes = 0;
        (void)rig_encoder_keys_choose(&encoder->keys, encoder->event_count, SIZE_MAX, NULL, &bytes);
        encoder->block_judged_at = (bytes + likely_open_bytes(encoder)) * BLOCK_CHECKPOINTS;
        encoder->block_due = block_bytes >= encoder->block_judged_at;
    }
}

/* ---- A checkpoint ---- */

static void put_elements(struct rig_buf *buf, const struct rig_growing_list *list)
{
    int64_t last = 0;
    uint8_t *to = (uint8_t *)rig_buf_reserve(buf, (list->count + (size_t)1) * RIG_VARINT_BYTES);
    uint8_t *at = to;
    if (to == NULL)
        return;
    at = rig_varint_write(at, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        at = rig_varint_write(at, rig_zigzag(rig_difference(list->at[i], last)));
        last = list->at[i];
    }
    buf->size += (size_t)(at - to);
}

void rig_encoder_put_key_name(struct rig_record_encoder *encoder, int64_t key)
{
    if (encoder->head.key_texts == NULL) {
        rig_varint_put_signed(&encoder->frame, key);
    } else {
        const char *text = encoder->head.key_texts[key];
        rig_varint_put(&encoder->frame, strlen(text));
        rig_buf_add_text(&encoder->frame, text);
    }
}

static void put_keys(struct rig_record_encoder *encoder)
{
    rig_varint_put(&encoder->frame, encoder->kept.count);
    for (size_t i = 0; i < encoder->kept.count; i++) {
        const struct rig_encoder_key *entry = &encoder->keys.entries.at[encoder->kept.at[i]];
        rig_encoder_put_key_name(encoder, entry->key);
        rig_varint_put_signed(&encoder->frame, entry->last_value);
        put_elements(&encoder->frame, &entry->spine);
    }
}

static void put_open_txn(struct rig_record_encoder *encoder, const struct rig_open_txn *txn)
{
    struct rig_buf *frame = &encoder->frame;
    uint64_t next = encoder->next_position;
    rig_varint_put(frame, txn->client);
    rig_varint_put(frame, next - txn->position);
    rig_varint_put_signed(frame, txn->process);
    rig_varint_put(frame, txn->time_ns == RIG_NO_TIME);
    if (txn->time_ns != RIG_NO_TIME)
        rig_varint_put_signed(frame, rig_difference(encoder->last_time, txn->time_ns));
    rig_varint_put(frame, txn->ops.count);
    for (size_t i = 0; i < txn->ops.count; i++) {
        const struct rig_open_op *op = &txn->ops.at[i];
        rig_varint_put(frame, (uint64_t)encoder->keys.entries.at[op->entry].id << 1 | op->reads);
        if (!op->reads)
            rig_varint_put_signed(frame, op->value);
    }
}

/* Those that stay open forever first: if a client has several, the last one can still complete. */
static void put_open(struct rig_record_encoder *encoder)
{
    size_t count = encoder->abandoned.count;
    for (size_t i = 0; i < encoder->clients.count; i++)
        count += encoder->clients.at[i].open;
    rig_varint_put(&encoder->frame, count);
    for (size_t i = 0; i < encoder->abandoned.count; i++)
        put_open_txn(encoder, &encoder->abandoned.at[i]);
    for (size_t i = 0; i < encoder->clients.count; i++) {
        if (encoder->clients.at[i].open)
            put_open_txn(encoder, &encoder->clients.at[i].txn);
    }
}

/* The keys that the block starts with; if there are too many, as many as fit its length. */
static bool choose_keys(struct rig_record_encoder *encoder)
{
    size_t most_bytes = SIZE_MAX, bytes = 0;
    if (is_large(encoder)) {
        most_bytes = (size_t)((encoder->file_bytes - encoder->block_starts_at) / BLOCK_CHECKPOINTS);
        most_bytes = most_bytes < least_checkpoint_bytes ? least_checkpoint_bytes : most_bytes;
    }
    if (encoder->head.key_limit < 1024)
        most_bytes = encoder->head.key_limit;
    return rig_encoder_keys_choose(&encoder->keys, encoder->event_count, most_bytes, &encoder->kept, &bytes);
}

static void restart(struct rig_record_encoder *encoder)
{
    rig_text_table_done(&encoder->errors);
    rig_text_table_init(&encoder->errors, 0);
    rig_columns_encoder_restart(&encoder->columns);
    encoder->block_number++;
    encoder->block_due = false;
    encoder->block_starts_at = encoder->file_bytes;
    encoder->block_judged_at = least_block_bytes;
    encoder->last_client = RIG_TABLE_NONE;
}

void rig_encoder_begin_block(struct rig_record_encoder *encoder, struct rig_record_moment when)
{
    RIG_INVARIANT(encoder->frame.size == encoder->frame_start + RIG_FRAME_HEAD_BYTES && encoder->frame_start == 0);
    const struct rig_block_entry block = {encoder->file_bytes, encoder->event_count, encoder->txn_count};
    if (!choose_keys(encoder) || !rig_block_entry_vec_add(&encoder->blocks, block)) {
        encoder->failed = true;
        return;
    }
    rig_encoder_keys_keep(&encoder->keys, &encoder->kept);
    restart(encoder);
    if (encoder->block_number == 1 && when.time_ns != RIG_NO_TIME)
        encoder->last_time = when.time_ns;
    struct rig_buf *frame = &encoder->frame;
    uint8_t number[RIG_CHECKPOINT_NUMBER_BYTES];
    rig_put_u64(number, encoder->frame_count);
    rig_buf_clear(frame);
    size_t start = rig_frame_begin(frame);
    rig_buf_add(frame, number, sizeof number);
    rig_varint_put(frame, encoder->event_count);
    rig_varint_put(frame, encoder->txn_count);
    if ((encoder->head.flags & RIG_RECORD_POSITIONS) != 0)
        rig_varint_put(frame, encoder->next_position);
    rig_varint_put_signed(frame, encoder->last_time);
    put_keys(encoder);
    put_open(encoder);
    rig_encoder_seal(encoder, start, start + RIG_FRAME_HEAD_BYTES + sizeof number, RIG_FRAME_CHECKPOINT);
    /* Open transactions are written again in the next block; blocks must be long enough that this is a small share. */
    encoder->large_from = (frame->size - start) * LARGE_CHECKPOINTS;
    if (encoder->large_from < least_block_bytes)
        encoder->large_from = least_block_bytes;
    encoder->frame_start = rig_frame_begin(frame);
}

/* ---- The end ---- */

void rig_encoder_put_close(struct rig_record_encoder *encoder, unsigned flags)
{
    struct rig_block_entry last = {0};
    rig_varint_put(&encoder->frame, flags);
    rig_varint_put(&encoder->frame, encoder->event_count);
    rig_varint_put(&encoder->frame, encoder->txn_count);
    rig_varint_put(&encoder->frame, encoder->blocks.count);
    for (size_t i = 0; i < encoder->blocks.count; i++) {
        const struct rig_block_entry *block = &encoder->blocks.at[i];
        rig_varint_put(&encoder->frame, block->offset - last.offset);
        rig_varint_put(&encoder->frame, block->events - last.events);
        rig_varint_put(&encoder->frame, block->txns - last.txns);
        last = *block;
    }
    uint8_t offset[8];
    rig_put_u64(offset, encoder->file_bytes);
    rig_buf_add(&encoder->frame, offset, sizeof offset);
}
