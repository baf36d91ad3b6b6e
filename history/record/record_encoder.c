#include "history/record/record_encoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/model/history.h"
#include "history/model/shared_value.h"
#include "history/record/record_certificate.h"
#include "history/record/record_cursor.h"
#include "history/record/record_decoder.h"
#include "history/record/record_encoder_private.h"
#include "history/record/record_reader.h"
#include "history/types/object_kinds.h"
#include "history/types/types.h"

static const size_t default_state_bytes = (size_t)64 << 20;

struct rig_record_encoder *rig_record_encoder_new(const struct rig_record_head *head)
{
    RIG_REQUIRE((head->flags & ~(unsigned)RIG_RECORD_FLAGS_KNOWN) == 0 && (head->flags & RIG_RECORD_COLUMNS) == 0);
    RIG_REQUIRE(((head->flags & RIG_RECORD_TEXT_KEYS) != 0) == (head->key_texts != NULL));
    RIG_REQUIRE(((head->flags & RIG_RECORD_VALUE_TEXTS) != 0) == (head->numbers != NULL));
    struct rig_record_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL)
        return NULL;
    encoder->head = *head;
    if (head->state_limit_bytes == 0)
        encoder->head.state_limit_bytes = default_state_bytes;
    if (head->key_limit == 0)
        encoder->head.key_limit = RIG_ENCODER_MAX_KEYS;
    rig_buf_init(&encoder->frame, (size_t)2 * (RIG_FRAME_HEAD_BYTES + RIG_FRAME_MAX_BYTES));
    rig_buf_init(&encoder->sealed, (size_t)2 * (RIG_FRAME_HEAD_BYTES + RIG_FRAME_MAX_BYTES));
    rig_encoder_keys_init(&encoder->keys);
    rig_text_table_init(&encoder->errors, 0);
    rig_columns_encoder_init(&encoder->columns, head->columns);
    if (encoder->columns.columns.count > 0)
        encoder->head.flags |= RIG_RECORD_COLUMNS;
    encoder->frame_start = rig_frame_begin(&encoder->frame);
    encoder->block_due = true;
    if ((head->flags & RIG_RECORD_PACKED) != 0)
        encoder->packer = rig_packer_new();
    if ((head->flags & RIG_RECORD_PACKED) != 0 && encoder->packer == NULL) {
        rig_record_encoder_free(encoder);
        return NULL;
    }
    return encoder;
}

void rig_record_encoder_free(struct rig_record_encoder *encoder)
{
    if (encoder == NULL)
        return;
    for (size_t i = 0; i < encoder->clients.count; i++)
        rig_open_op_vec_done(&encoder->clients.at[i].txn.ops);
    for (size_t i = 0; i < encoder->abandoned.count; i++)
        rig_open_op_vec_done(&encoder->abandoned.at[i].ops);
    rig_encoder_client_vec_done(&encoder->clients);
    rig_open_txn_vec_done(&encoder->abandoned);
    rig_open_op_vec_done(&encoder->lone_ops);
    rig_encoder_id_vec_done(&encoder->kept);
    rig_block_entry_vec_done(&encoder->blocks);
    rig_buf_done(&encoder->frame);
    rig_buf_done(&encoder->sealed);
    rig_encoder_keys_done(&encoder->keys);
    rig_text_table_done(&encoder->errors);
    rig_columns_encoder_done(&encoder->columns);
    rig_packer_free(encoder->packer);
    free(encoder);
}

void rig_record_encoder_header(struct rig_record_encoder *encoder, struct rig_buf *file)
{
    RIG_REQUIRE(encoder->frame_count == 0);
    const struct rig_record_head *head = &encoder->head;
    size_t before = file->size;
    rig_record_start(file);
    size_t start = rig_frame_begin(file);
    rig_varint_put(file, head->workload);
    rig_varint_put(file, head->flags);
    rig_varint_put_signed(file, head->start_utc_ns);
    rig_varint_put(file, head->skipped_count);
    if ((head->flags & RIG_RECORD_COLUMNS) != 0)
        rig_columns_encoder_header(&encoder->columns, file);
    if ((head->flags & RIG_RECORD_VALUE_TEXTS) != 0)
        rig_record_texts_put(file, head->numbers);
    if ((head->flags & RIG_RECORD_RANK) != 0)
        rig_rank_put(&head->rank, file);
    size_t meta_bytes = head->meta == NULL ? 0 : strlen(head->meta);
    rig_varint_put(file, head->meta == NULL ? 0 : meta_bytes + 1);
    rig_buf_add(file, head->meta, meta_bytes);
    rig_frame_seal(file, start, RIG_FRAME_HEADER, encoder->frame_count++);
    encoder->file_bytes += file->size - before;
}

/* ---- Operations ---- */

/* Distance 0 defines the next key; d > 0 names the d-th last one defined. */
static uint32_t put_key(struct rig_record_encoder *encoder, int64_t key, unsigned reads)
{
    uint32_t index = rig_encoder_keys_find(&encoder->keys, key);
    if (index == RIG_TABLE_NONE) {
        rig_buf_add_char(&encoder->frame, (char)reads);
        rig_encoder_put_key_name(encoder, key);
        return rig_encoder_keys_add(&encoder->keys, key, encoder->event_count);
    }
    uint32_t distance = encoder->keys.next_id - encoder->keys.entries.at[index].id;
    uint8_t *to = (uint8_t *)rig_buf_reserve(&encoder->frame, 1 + RIG_VARINT_BYTES);
    uint8_t *at = to;
    if (to == NULL)
        return index;
    if (distance < RIG_OP_FAR) {
        *at++ = (uint8_t)(distance << 1 | reads);
    } else {
        *at++ = (uint8_t)(RIG_OP_FAR << 1 | reads);
        at = rig_varint_write(at, distance - RIG_OP_FAR);
    }
    encoder->frame.size += (size_t)(at - to);
    return index;
}

/* The operations as a record has them; `room` is for those that are two there (history/types/object_kinds.h). */
static const struct rig_op *recorded_ops(const struct rig_op *ops, uint32_t *op_count, struct rig_op room[static 2])
{
    if (*op_count != 1 || !rig_object_is_recorded_twice(ops[0].kind))
        return ops;
    room[0] = room[1] = ops[0];
    room[0].kind = room[1].kind = rig_object_recorded_kind(ops[0].kind);
    *op_count = 2;
    return room;
}

static void put_ops(struct rig_record_encoder *encoder, const struct rig_op *ops, uint32_t op_count,
                    struct rig_open_op_vec *open)
{
    const struct rig_data_type *type = &rig_data_types[encoder->head.workload];
    open->count = 0;
    if (!rig_open_op_vec_reserve(open, op_count)) {
        encoder->failed = true;
        return;
    }
    for (uint32_t i = 0; i < op_count; i++) {
        bool reads = ops[i].kind == type->read_op;
        RIG_REQUIRE(reads || ops[i].kind == type->write_op ||
                    (rig_object_further_ops(encoder->head.workload) >> ops[i].kind & 1) != 0);
        uint32_t index = put_key(encoder, ops[i].key, reads);
        encoder->failed |= encoder->keys.failed;
        if (encoder->failed)
            return;
        struct rig_encoder_key *entry = &encoder->keys.entries.at[index];
        if (!reads) {
            rig_varint_put_signed(&encoder->frame, rig_difference(ops[i].value, entry->last_value));
            entry->last_value = ops[i].value;
        }
        entry->used_at = encoder->event_count;
        entry->use_count++;
        entry->open_count++;
        open->at[open->count++] = (struct rig_open_op){.value = ops[i].value, .entry = index, .reads = reads};
    }
}

/* ---- Results ---- */

static int64_t element_at(const struct rig_record_read *read, uint32_t index)
{
    int64_t element;
    memcpy(&element, (const char *)read->elements + (size_t)index * sizeof element, sizeof element);
    return element;
}

/* How many elements the read shares with the key's spine. */
static uint32_t shared_count(const struct rig_encoder_key *entry, const struct rig_record_read *read)
{
    const struct rig_growing_list *spine = &entry->spine;
    uint32_t common = read->count < spine->count ? read->count : spine->count;
    uint32_t shared = 0; /* for certain */
    if (read->origin != 0 && read->origin == entry->origin)
        shared = read->origin_count < entry->origin_count ? read->origin_count : entry->origin_count;
    if (shared >= common || memcmp(spine->at + shared, (const char *)read->elements + shared * sizeof(int64_t),
                                   (common - shared) * sizeof(int64_t)) == 0)
        return common;
    while (spine->at[shared] == element_at(read, shared))
        shared++;
    return shared;
}

/* The elements from `from` on, each as the difference to the one before it. */
static void put_elements(struct rig_record_encoder *encoder, const struct rig_record_read *read, uint32_t from)
{
    int64_t last = from == 0 ? 0 : element_at(read, from - 1);
    uint8_t *to = (uint8_t *)rig_buf_reserve(&encoder->frame, (read->count - from) * (size_t)RIG_VARINT_BYTES);
    uint8_t *at = to;
    if (to == NULL)
        return;
    for (uint32_t i = from; i < read->count; i++) {
        int64_t element = element_at(read, i);
        at = rig_varint_write(at, rig_zigzag(rig_difference(element, last)));
        last = element;
    }
    encoder->frame.size += (size_t)(at - to);
}

/* Elements that only a failed transaction has read do not become the spine: other reads would leave it. */
static void put_list(struct rig_record_encoder *encoder, struct rig_encoder_key *entry, enum rig_outcome outcome,
                     const struct rig_record_read *read)
{
    const struct rig_growing_list *spine = &entry->spine;
    uint32_t shared = shared_count(entry, read);
    if (shared == read->count) {
        rig_varint_put(&encoder->frame, RIG_READ_CODE_PREFIX + 2 * (uint64_t)(spine->count - read->count));
        return;
    }
    if (shared == spine->count) {
        rig_varint_put(&encoder->frame, RIG_READ_CODE_LONGER + 2 * (uint64_t)(read->count - shared - 1));
    } else {
        rig_varint_put(&encoder->frame, RIG_READ_CODE_APART);
        rig_varint_put(&encoder->frame, shared);
        rig_varint_put(&encoder->frame, read->count - shared);
    }
    put_elements(encoder, read, shared);
    if (read->count > spine->count && outcome != RIG_OUTCOME_FAIL)
        rig_encoder_keys_follow(&encoder->keys, entry, read, shared);
}

static void put_read(struct rig_record_encoder *encoder, struct rig_encoder_key *entry, enum rig_outcome outcome,
                     const struct rig_record_read *read)
{
    if (read->state == RIG_READ_UNKNOWN && (encoder->head.flags & RIG_RECORD_SHARED_READS) != 0 &&
        rig_value_is_shared(read->value)) {
        rig_varint_put(&encoder->frame, RIG_READ_CODE_SHARED);
        rig_varint_put_signed(&encoder->frame, rig_difference(read->value, entry->last_value));
    } else if (read->state != RIG_READ_SEEN) {
        rig_varint_put(&encoder->frame, read->state == RIG_READ_NIL ? RIG_READ_CODE_NIL : RIG_READ_CODE_UNKNOWN);
    } else if (rig_data_type_has_sequences(&rig_data_types[encoder->head.workload])) {
        put_list(encoder, entry, outcome, read);
    } else {
        rig_varint_put(&encoder->frame, RIG_READ_CODE_PREFIX);
        rig_varint_put_signed(&encoder->frame, rig_difference(read->value, entry->last_value));
    }
}

/* ---- Events ---- */

static struct rig_encoder_client *find_client(struct rig_record_encoder *encoder, uint32_t index)
{
    while (encoder->clients.count <= index) {
        uint32_t client = (uint32_t)encoder->clients.count;
        if (!rig_encoder_client_vec_add(&encoder->clients, (struct rig_encoder_client){.txn = {.client = client}})) {
            encoder->failed = true;
            return NULL;
        }
    }
    return &encoder->clients.at[index];
}

/* Writes the moment to `at`; sets its position: the event's number if the file has no positions. */
static uint8_t *put_moment(struct rig_record_encoder *encoder, uint8_t *at, struct rig_record_moment *when)
{
    if ((encoder->head.flags & RIG_RECORD_POSITIONS) != 0) {
        RIG_REQUIRE(when->position >= encoder->next_position && when->position != RIG_POSITION_NONE);
        at = rig_varint_write(at, when->position - encoder->next_position);
    } else {
        when->position = (uint32_t)encoder->event_count;
    }
    encoder->next_position = when->position + 1;
    encoder->event_count++;
    if (when->time_ns == RIG_NO_TIME)
        return at;
    int64_t difference = rig_difference(when->time_ns, encoder->last_time);
    bool descends = (encoder->head.flags & RIG_RECORD_TIMES_DESCEND) != 0;
    RIG_REQUIRE(descends || when->time_ns >= encoder->last_time);
    encoder->last_time = when->time_ns;
    return rig_varint_write(at, descends ? rig_zigzag(difference) : (uint64_t)difference);
}

/* Room for an event without its operations, error and results; begins a new block if one is due. */
static uint8_t *begin_event(struct rig_record_encoder *encoder, struct rig_record_moment when)
{
    if (encoder->block_due && !encoder->failed)
        rig_encoder_begin_block(encoder, when);
    return encoder->failed ? NULL : (uint8_t *)rig_buf_reserve(&encoder->frame, 2 + (size_t)8 * RIG_VARINT_BYTES);
}

static void end_event(struct rig_record_encoder *encoder, const uint8_t *at)
{
    encoder->frame.size = (size_t)((const char *)at - encoder->frame.data);
}

/* The client's transaction stays open in the record forever. */
static void abandon(struct rig_record_encoder *encoder, struct rig_encoder_client *client)
{
    if (!rig_open_txn_vec_add(&encoder->abandoned, client->txn))
        encoder->failed = true;
    else
        client->txn.ops = (struct rig_open_op_vec){0};
    client->open = false;
}

void rig_record_encoder_invoke(struct rig_record_encoder *encoder, uint32_t client_index, struct rig_record_moment when,
                               int64_t process, int64_t intended_ns, const struct rig_op *ops, uint32_t op_count)
{
    struct rig_encoder_client *client = encoder->failed ? NULL : find_client(encoder, client_index);
    struct rig_op room[2];
    ops = recorded_ops(ops, &op_count, room);
    if (client != NULL && client->open)
        abandon(encoder, client);
    uint8_t *at = begin_event(encoder, when);
    if (client == NULL || at == NULL)
        return;
    bool same_process = client->block == encoder->block_number && client->txn.process == process;
    bool on_time = intended_ns == when.time_ns;
    bool same_client = encoder->last_client == client_index;
    unsigned shown = op_count < RIG_INVOKE_COUNT_FOLLOWS ? op_count : RIG_INVOKE_COUNT_FOLLOWS;
    *at++ = (uint8_t)(RIG_EVENT_INVOKE | (same_process && on_time ? RIG_INVOKE_USUAL : 0U) |
                      (same_client ? RIG_INVOKE_SAME_CLIENT : 0U) |
                      (when.time_ns == RIG_NO_TIME ? RIG_EVENT_NO_TIME : 0U) | shown << RIG_INVOKE_COUNT_SHIFT);
    if (!same_process || !on_time)
        *at++ = (uint8_t)((same_process ? RIG_UNUSUAL_SAME_PROCESS : 0U) | (on_time ? RIG_UNUSUAL_ON_TIME : 0U));
    if (!same_client)
        at = rig_varint_write(at, client_index);
    at = put_moment(encoder, at, &when);
    if (!same_process)
        at = rig_varint_write(at, rig_zigzag(process));
    if (!on_time)
        at = rig_varint_write(at, rig_zigzag(rig_difference(when.time_ns, intended_ns)));
    if (shown == RIG_INVOKE_COUNT_FOLLOWS)
        at = rig_varint_write(at, op_count);
    end_event(encoder, at);
    put_ops(encoder, ops, op_count, &client->txn.ops);
    client->txn.process = process;
    client->txn.time_ns = when.time_ns;
    client->txn.position = when.position;
    client->block = encoder->block_number;
    client->open = true;
    encoder->last_client = client_index;
}

static void put_error(struct rig_record_encoder *encoder, const char *error, size_t length)
{
    uint32_t id = rig_text_table_get(&encoder->errors, error, length);
    if (id != RIG_TABLE_NONE) {
        rig_varint_put(&encoder->frame, (uint64_t)id + RIG_ERROR_FIRST_ID);
        return;
    }
    bool enter = encoder->errors.count < RIG_ERROR_TABLE_COUNT;
    if (enter && rig_text_table_put(&encoder->errors, error, length) == RIG_TABLE_NONE)
        encoder->failed = true;
    rig_varint_put(&encoder->frame, enter ? RIG_ERROR_NEW : RIG_ERROR_INLINE);
    rig_varint_put(&encoder->frame, length);
    rig_buf_add(&encoder->frame, error, length);
}

static unsigned completion_tag(const struct rig_record_completion *completion, struct rig_record_moment when)
{
    return (unsigned)completion->outcome << RIG_COMPLETE_OUTCOME_SHIFT |
           (when.time_ns == RIG_NO_TIME ? RIG_EVENT_NO_TIME : 0U) |
           (completion->error != NULL ? RIG_COMPLETE_ERROR : 0U) |
           (completion->reads != NULL ? RIG_COMPLETE_READS : 0U);
}

/* Side columns, the error and the reads; the operations are no longer open. `client` UINT32_MAX: there is none. */
static void put_results(struct rig_record_encoder *encoder, uint32_t client, struct rig_open_op_vec *ops,
                        const struct rig_record_completion *completion)
{
    if ((encoder->head.flags & RIG_RECORD_COLUMNS) != 0)
        encoder->failed |= !rig_columns_encoder_put(&encoder->columns, client, completion, &encoder->frame);
    if (completion->error != NULL)
        put_error(encoder, completion->error, completion->error_length);
    for (size_t i = 0; i < ops->count; i++) {
        struct rig_encoder_key *entry = &encoder->keys.entries.at[ops->at[i].entry];
        RIG_INVARIANT(entry->live && entry->open_count > 0);
        entry->open_count--;
        if (ops->at[i].reads && completion->reads != NULL)
            put_read(encoder, entry, completion->outcome, &completion->reads[i]);
    }
    ops->count = 0;
    encoder->txn_count++;
    encoder->failed |= encoder->keys.failed;
}

void rig_record_encoder_complete(struct rig_record_encoder *encoder, uint32_t client_index,
                                 struct rig_record_moment when, const struct rig_record_completion *completion)
{
    uint8_t *at = begin_event(encoder, when);
    if (at == NULL)
        return;
    RIG_REQUIRE(client_index < encoder->clients.count && encoder->clients.at[client_index].open);
    struct rig_encoder_client *client = &encoder->clients.at[client_index];
    bool same_client = encoder->last_client == client_index;
    *at++ = (uint8_t)(RIG_EVENT_COMPLETE | completion_tag(completion, when) |
                      (same_client ? RIG_COMPLETE_SAME_CLIENT : 0U));
    if (!same_client)
        at = rig_varint_write(at, client_index);
    end_event(encoder, put_moment(encoder, at, &when));
    put_results(encoder, client_index, &client->txn.ops, completion);
    client->open = false;
    encoder->last_client = client_index;
}

void rig_record_encoder_lone(struct rig_record_encoder *encoder, struct rig_record_moment when, int64_t process,
                             const struct rig_op *ops, uint32_t op_count,
                             const struct rig_record_completion *completion)
{
    uint8_t *at = begin_event(encoder, when);
    struct rig_op room[2];
    if (at == NULL)
        return;
    ops = recorded_ops(ops, &op_count, room);
    *at++ = (uint8_t)(RIG_EVENT_LONE | completion_tag(completion, when));
    at = put_moment(encoder, at, &when);
    at = rig_varint_write(at, rig_zigzag(process));
    end_event(encoder, rig_varint_write(at, op_count));
    put_ops(encoder, ops, op_count, &encoder->lone_ops);
    put_results(encoder, UINT32_MAX, &encoder->lone_ops, completion);
}

static void put_text(struct rig_record_encoder *encoder, const char *text)
{
    const size_t length = strlen(text);
    rig_varint_put(&encoder->frame, length);
    rig_buf_add(&encoder->frame, text, length);
}

void rig_record_encoder_fault(struct rig_record_encoder *encoder, struct rig_record_moment when,
                              const struct rig_fault_event *event)
{
    RIG_REQUIRE((encoder->head.flags & RIG_RECORD_FAULTS) != 0);
    uint8_t *at = begin_event(encoder, when);
    if (at == NULL)
        return;
    *at++ = (uint8_t)(RIG_EVENT_FAULT | (unsigned)event->step << RIG_FAULT_STEP_SHIFT |
                      (event->failed ? RIG_FAULT_FAILED : 0U) | (when.time_ns == RIG_NO_TIME ? RIG_EVENT_NO_TIME : 0U));
    at = put_moment(encoder, at, &when);
    end_event(encoder, rig_varint_write(at, event->injection));
    put_text(encoder, event->fault);
    put_text(encoder, event->targets);
    put_text(encoder, event->text);
    rig_varint_put(&encoder->frame, event->ok);
    rig_varint_put(&encoder->frame, event->fail);
    rig_varint_put(&encoder->frame, event->info);
}

void rig_record_encoder_forget(struct rig_record_encoder *encoder, int64_t key)
{
    uint32_t index = rig_encoder_keys_find(&encoder->keys, key);
    if (index != RIG_TABLE_NONE)
        encoder->keys.entries.at[index].left = true;
}

/* ---- Frames ---- */

size_t rig_record_encoder_pending_bytes(const struct rig_record_encoder *encoder)
{
    return encoder->frame.size - encoder->frame_start - RIG_FRAME_HEAD_BYTES;
}

uint64_t rig_record_encoder_event_count(const struct rig_record_encoder *encoder)
{
    return encoder->event_count;
}

void rig_encoder_seal(struct rig_record_encoder *encoder, size_t start, size_t packed_from, unsigned type)
{
    if (encoder->packer != NULL && rig_packer_pack(encoder->packer, &encoder->frame, packed_from))
        type |= RIG_FRAME_PACKED;
    rig_frame_seal(&encoder->frame, start, type, encoder->frame_count++);
}

static const struct rig_buf *give(struct rig_record_encoder *encoder)
{
    if (encoder->failed || encoder->frame.failed)
        return NULL;
    encoder->file_bytes += encoder->frame.size;
    struct rig_buf sealed = encoder->frame;
    encoder->frame = encoder->sealed;
    encoder->sealed = sealed;
    rig_buf_clear(&encoder->frame);
    encoder->frame_start = rig_frame_begin(&encoder->frame);
    return &encoder->sealed;
}

const struct rig_buf *rig_record_encoder_frame(struct rig_record_encoder *encoder)
{
    rig_encoder_seal(encoder, encoder->frame_start, encoder->frame_start + RIG_FRAME_HEAD_BYTES, RIG_FRAME_EVENTS);
    const struct rig_buf *frame = give(encoder);
    if (frame != NULL)
        rig_encoder_consider_block(encoder);
    return frame;
}

const struct rig_buf *rig_record_encoder_clock(struct rig_record_encoder *encoder,
                                               const struct rig_clock_sample *samples, size_t count)
{
    RIG_REQUIRE((encoder->head.flags & RIG_RECORD_RANK) != 0 && rig_record_encoder_pending_bytes(encoder) == 0);
    rig_clock_samples_put(samples, count, &encoder->frame);
    rig_frame_seal(&encoder->frame, encoder->frame_start, RIG_FRAME_CLOCK, encoder->frame_count++);
    return give(encoder);
}

const struct rig_buf *rig_record_encoder_certificate(struct rig_record_encoder *encoder,
                                                     const struct rig_certificate *certificate, size_t *item,
                                                     bool *last)
{
    RIG_REQUIRE((encoder->head.flags & RIG_RECORD_CERTIFICATE) != 0 && rig_record_encoder_pending_bytes(encoder) == 0);
    *last = rig_certificate_encode(certificate, item, &encoder->frame);
    rig_frame_seal(&encoder->frame, encoder->frame_start, RIG_FRAME_CERTIFICATE, encoder->frame_count++);
    return give(encoder);
}

const struct rig_buf *rig_record_encoder_close(struct rig_record_encoder *encoder, unsigned flags)
{
    RIG_REQUIRE(rig_record_encoder_pending_bytes(encoder) == 0);
    rig_encoder_put_close(encoder, flags);
    rig_frame_seal(&encoder->frame, encoder->frame_start, RIG_FRAME_CLOSE, encoder->frame_count++);
    return give(encoder);
}
