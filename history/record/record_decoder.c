#include "history/record/record_decoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/model/value_texts.h"
#include "history/text/value_reader.h"
#include "history/types/object_kinds.h"

/* ---- Writing ---- */

struct finding {
    struct rig_table known;
    struct rig_value_numbers *numbers;
    bool failed;
};

static void find_one(struct finding *finding, int64_t value)
{
    if (finding->failed || value >= RIG_VALUE_TEXTS_BELOW || rig_value_text(value) == NULL)
        return;
    uint32_t *place = rig_table_put(&finding->known, (uint64_t)value);
    finding->failed = place == NULL || (*place == RIG_TABLE_NONE && !rig_value_numbers_add(finding->numbers, value));
    if (place != NULL)
        *place = 0;
}

static void find_all(struct finding *finding, const int64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        find_one(finding, values[i]);
}

bool rig_record_texts_find(const struct rig_history *history, struct rig_value_numbers *numbers)
{
    struct finding finding = {.numbers = numbers};
    if (rig_value_texts_bytes() == 0)
        return true;
    rig_table_init(&finding.known);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (!rig_op_reads_sequence(op->kind))
            find_one(&finding, op->value);
    }
    for (uint32_t i = 0; rig_workload_has_sequences(history->workload) && i < history->key_count; i++)
        find_all(&finding, history->spines[i].at, history->spines[i].count);
    for (uint32_t i = 0; i < history->branch_count; i++)
        find_all(&finding, history->branches[i].tail, history->branches[i].count - history->branches[i].shared);
    rig_table_done(&finding.known);
    return !finding.failed;
}

void rig_record_texts_put(struct rig_buf *header, const struct rig_value_numbers *numbers)
{
    rig_varint_put(header, numbers->count);
    for (size_t i = 0; i < numbers->count; i++) {
        const char *text = rig_value_text(numbers->at[i]);
        rig_varint_put_signed(header, numbers->at[i]);
        rig_varint_put(header, strlen(text));
        rig_buf_add_text(header, text);
    }
}

/* ---- Reading ---- */

/* Whether this is a value as rig writes it, an integer included. */
static bool record_text_is_value(const char *text, size_t length, bool *is_integer)
{
    struct rig_operation_parser parser;
    int64_t number = 0;
    rig_operation_parser_init(&parser, &rig_text_syntax_edn, "", text, length, NULL);
    const bool is_value = rig_value_read(&parser, &parser.value_text, is_integer, &number) == RIG_OK &&
                          parser.cursor.at == text + length && parser.value_text.size == length &&
                          memcmp(rig_buf_text(&parser.value_text), text, length) == 0;
    rig_operation_parser_done(&parser);
    return is_value;
}

enum rig_rc rig_record_texts_read(struct rig_record_decoder *decoder, size_t limit_bytes)
{
    uint64_t count = rig_cursor_number(&decoder->cursor);
    for (; count > 0 && decoder->cursor.bad == NULL; count--) {
        const int64_t told = rig_cursor_signed(&decoder->cursor);
        const char *text = NULL;
        uint32_t length = 0;
        int64_t number = 0;
        bool is_integer = false;
        const enum rig_rc rc = rig_record_get_text(decoder, &text, &length);
        if (rc != RIG_OK)
            return rc;
        if (!record_text_is_value(text, length, &is_integer) || is_integer)
            return rig_record_damaged(decoder, "a text that is no value");
        if (!rig_value_number(text, length, &number) || (limit_bytes != 0 && rig_value_texts_bytes() > limit_bytes))
            return rig_record_no_memory(decoder);
        if (number != told)
            return rig_record_damaged(decoder, "a value with another number than its text has here");
    }
    return decoder->cursor.bad == NULL ? RIG_OK : rig_record_no_number(decoder);
}

enum { DIRECT_CLIENTS = 1 << 16 };

void rig_record_decoder_init(struct rig_record_decoder *decoder, const struct rig_record_shape *shape)
{
    *decoder = (struct rig_record_decoder){.shape = shape};
    rig_list_pool_init(&decoder->pool, shape->limit_bytes);
    rig_arena_init(&decoder->texts, shape->limit_bytes);
    rig_table_init(&decoder->slot_of_client);
    rig_columns_decoder_init(&decoder->columns, &shape->columns);
}

static const size_t slot_op_bytes = sizeof(struct rig_txn_op) + sizeof(uint32_t);

static void free_slots(struct rig_record_decoder *decoder, struct rig_record_slot_vec *slots)
{
    for (size_t i = 0; i < slots->count; i++) {
        decoder->op_bytes -= slots->at[i].op_capacity * slot_op_bytes;
        free(slots->at[i].ops);
    }
    slots->count = 0;
}

void rig_record_decoder_done(struct rig_record_decoder *decoder)
{
    free_slots(decoder, &decoder->slots);
    free_slots(decoder, &decoder->abandoned);
    free(decoder->lone.ops);
    rig_record_slot_vec_done(&decoder->slots);
    rig_record_slot_vec_done(&decoder->abandoned);
    rig_record_key_vec_done(&decoder->keys);
    rig_record_text_vec_done(&decoder->errors);
    rig_columns_decoder_done(&decoder->columns);
    rig_record_id_vec_done(&decoder->local_keys);
    rig_record_element_vec_done(&decoder->scratch);
    rig_record_id_vec_done(&decoder->direct_slots);
    rig_record_order_vec_done(&decoder->order);
    rig_table_done(&decoder->slot_of_client);
    rig_list_pool_done(&decoder->pool);
    rig_arena_done(&decoder->texts);
}

void rig_record_decoder_restart(struct rig_record_decoder *decoder)
{
    decoder->keys.count = 0;
    decoder->errors.count = 0;
    rig_columns_decoder_restart(&decoder->columns);
    rig_list_pool_reset(&decoder->pool);
    rig_arena_reset(&decoder->texts);
    free_slots(decoder, &decoder->abandoned);
    for (size_t i = 0; i < decoder->slots.count; i++) {
        decoder->slots.at[i].open = false;
        decoder->slots.at[i].has_process = false;
    }
    decoder->last_slot = SIZE_MAX;
}

/* ---- Errors ---- */

size_t rig_record_offset(const struct rig_record_decoder *decoder)
{
    return decoder->base_at + (size_t)(decoder->cursor.at - decoder->base);
}

enum rig_rc rig_record_damaged(struct rig_record_decoder *decoder, const char *what)
{
    return rig_fail(decoder->err, RIG_E_INPUT, "%s: byte %zu: %s; the record was written wrongly, make it again",
                    decoder->shape->name, rig_record_offset(decoder), what);
}

enum rig_rc rig_record_no_number(struct rig_record_decoder *decoder)
{
    decoder->cursor.at = decoder->cursor.bad;
    return rig_record_damaged(decoder, "a missing number");
}

enum rig_rc rig_record_no_memory(struct rig_record_decoder *decoder)
{
    return rig_fail(decoder->err, RIG_E_LIMIT,
                    "%s: the history needs more memory than there is or than is allowed; raise --max-memory",
                    decoder->shape->name);
}

/* ---- Texts and keys of the file ---- */

enum rig_rc rig_record_get_text(struct rig_record_decoder *decoder, const char **text, uint32_t *length)
{
    uint64_t size = rig_cursor_number(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    if (size > rig_cursor_left(&decoder->cursor))
        return rig_record_damaged(decoder, "a count larger than the frame");
    *text = (const char *)decoder->cursor.at;
    *length = (uint32_t)size;
    if (memchr(*text, '\0', size) != NULL)
        return rig_record_damaged(decoder, "a NUL character in a text");
    decoder->cursor.at += size;
    return RIG_OK;
}

enum rig_rc rig_record_define_key(struct rig_record_decoder *decoder)
{
    struct rig_record_key key = {0};
    if ((decoder->shape->flags & RIG_RECORD_TEXT_KEYS) != 0) {
        enum rig_rc rc = rig_record_get_text(decoder, &key.text, &key.text_length);
        if (rc != RIG_OK)
            return rc;
        bool is_integer = false;
        if ((decoder->shape->flags & RIG_RECORD_VALUE_KEYS) != 0 &&
            !record_text_is_value(key.text, key.text_length, &is_integer))
            return rig_record_damaged(decoder, "a key that is no value");
        key.text = rig_arena_text(&decoder->texts, key.text, key.text_length);
        if (key.text == NULL)
            return rig_record_no_memory(decoder);
    } else {
        key.key = rig_cursor_signed(&decoder->cursor);
        if (decoder->cursor.bad != NULL)
            return rig_record_no_number(decoder);
    }
    const bool grows = decoder->keys.count == decoder->keys.capacity && decoder->keys.count > RIG_RECORD_FEW;
    if (decoder->keys.count >= UINT32_MAX - 1 ||
        (grows && !rig_record_may_take(decoder, 2 * decoder->keys.capacity * sizeof key)) ||
        !rig_record_key_vec_add(&decoder->keys, key))
        return rig_record_no_memory(decoder);
    return RIG_OK;
}

/* ---- Keys in the segment ---- */

bool rig_record_use_key(struct rig_record_decoder *decoder, struct rig_record_key *key)
{
    struct rig_segment *segment = decoder->segment;
    struct rig_segment_key entry = {.text_length = key->text_length};
    if ((decoder->shape->flags & RIG_RECORD_TEXT_KEYS) == 0) {
        entry.key = key->key;
    } else {
        entry.text = rig_arena_text(&segment->texts, key->text, key->text_length);
        if (entry.text == NULL)
            return false;
    }
    uint32_t local = (uint32_t)segment->keys.count;
    if (local >= RIG_LIST_BRANCH || !rig_segment_keys_add(&segment->keys, entry) ||
        !rig_record_id_vec_add(&decoder->local_keys, (uint32_t)(key - decoder->keys.at)))
        return false;
    key->local = local;
    key->stamp = decoder->stamp;
    return true;
}

static bool write_spine(struct rig_record_decoder *decoder, uint32_t local)
{
    const struct rig_record_key *key = &decoder->keys.at[decoder->local_keys.at[local]];
    decoder->local_keys.at[local] = RIG_TABLE_NONE;
    if (key->good > RIG_RECORD_FEW && !rig_record_may_take(decoder, key->good * sizeof *key->spine.at))
        return false;
    return rig_growing_list_add(&decoder->segment->pool, &decoder->segment->keys.at[local].spine, key->spine.at,
                                key->good);
}

bool rig_record_settle_key(struct rig_record_decoder *decoder, struct rig_record_key *key)
{
    if (key->stamp != decoder->stamp)
        return true;
    key->stamp = 0;
    return write_spine(decoder, key->local);
}

enum rig_rc rig_record_settle_keys(struct rig_record_decoder *decoder)
{
    RIG_INVARIANT(decoder->local_keys.count == decoder->segment->keys.count);
    for (uint32_t i = 0; i < decoder->local_keys.count; i++) {
        if (decoder->local_keys.at[i] != RIG_TABLE_NONE && !write_spine(decoder, i))
            return rig_record_no_memory(decoder);
    }
    decoder->stamp++;
    return RIG_OK;
}

void rig_record_decoder_begin(struct rig_record_decoder *decoder, struct rig_segment *segment)
{
    decoder->segment = segment;
    decoder->stamp++;
    decoder->local_keys.count = 0;
    segment->owned = true;
    segment->keyword_keys = (decoder->shape->flags & RIG_RECORD_KEYWORD_KEYS) != 0;
    segment->value_keys = (decoder->shape->flags & RIG_RECORD_VALUE_KEYS) != 0;
}

/* ---- Clients ---- */

static uint32_t *slot_place(struct rig_record_decoder *decoder, uint32_t client)
{
    if (client >= DIRECT_CLIENTS)
        return rig_table_put(&decoder->slot_of_client, client);
    struct rig_record_id_vec *direct = &decoder->direct_slots;
    if (direct->count <= client) {
        if (!rig_record_id_vec_reserve(direct, client + (size_t)1))
            return NULL;
        memset(direct->at + direct->count, 0, (client + 1 - direct->count) * sizeof *direct->at);
        direct->count = client + (size_t)1;
    }
    return &direct->at[client];
}

struct rig_record_slot *rig_record_find_slot(struct rig_record_decoder *decoder, uint32_t client)
{
    uint32_t *place = slot_place(decoder, client);
    uint32_t none = client < DIRECT_CLIENTS ? 0 : RIG_TABLE_NONE;
    if (place == NULL)
        return NULL;
    if (*place == none) {
        if (decoder->slots.count >= UINT32_MAX - 1 ||
            !rig_record_slot_vec_add(&decoder->slots, (struct rig_record_slot){.client = client}))
            return NULL;
        *place = (uint32_t)decoder->slots.count;
    }
    return &decoder->slots.at[*place - 1];
}

bool rig_record_slot_reserve(struct rig_record_decoder *decoder, struct rig_record_slot *slot, uint64_t op_count)
{
    if (op_count <= slot->op_capacity)
        return true;
    uint64_t capacity = op_count < RIG_SLOT_OPS ? RIG_SLOT_OPS : op_count;
    if (capacity > UINT32_MAX || (capacity > RIG_RECORD_FEW && !rig_record_may_take(decoder, capacity * slot_op_bytes)))
        return false;
    struct rig_txn_op *ops = malloc(capacity * slot_op_bytes);
    if (ops == NULL)
        return false;
    decoder->op_bytes += (capacity - slot->op_capacity) * slot_op_bytes;
    free(slot->ops);
    slot->ops = ops;
    slot->keys = (uint32_t *)(void *)(ops + capacity);
    slot->op_capacity = (uint32_t)capacity;
    return true;
}

bool rig_record_slot_localize(struct rig_record_decoder *decoder, struct rig_record_slot *slot)
{
    slot->reads = 0;
    for (uint32_t i = 0; i < slot->op_count; i++) {
        struct rig_record_key *key = &decoder->keys.at[slot->keys[i]];
        if (key->stamp != decoder->stamp && !rig_record_use_key(decoder, key))
            return false;
        slot->ops[i].key = key->local;
        slot->reads |= (uint64_t)(slot->ops[i].kind & 1U) << (i & 63);
    }
    slot->stamp = decoder->stamp;
    return true;
}

bool rig_record_abandon(struct rig_record_decoder *decoder, struct rig_record_slot *slot)
{
    if (!rig_record_slot_vec_add(&decoder->abandoned, *slot))
        return false;
    slot->ops = NULL;
    slot->keys = NULL;
    slot->op_count = slot->op_capacity = 0;
    slot->open = false;
    return true;
}

bool rig_record_reserve_ops(struct rig_record_decoder *decoder, size_t op_count)
{
    struct rig_txn_op_vec *ops = &decoder->segment->ops;
    const size_t doubled = 2 * ops->capacity, capacity = doubled > op_count ? doubled : op_count;
    return rig_record_may_take(decoder, (uint64_t)capacity * sizeof *ops->at) && rig_txn_op_vec_reserve(ops, op_count);
}

/* ---- Memory ---- */

static size_t held_bytes(const struct rig_record_decoder *decoder)
{
    return decoder->keys.capacity * sizeof *decoder->keys.at + decoder->pool.arena.held_bytes +
           decoder->texts.held_bytes + decoder->local_keys.capacity * sizeof *decoder->local_keys.at +
           decoder->scratch.capacity * sizeof *decoder->scratch.at +
           decoder->errors.capacity * sizeof *decoder->errors.at +
           decoder->direct_slots.capacity * sizeof *decoder->direct_slots.at +
           (decoder->slots.capacity + decoder->abandoned.capacity) * sizeof *decoder->slots.at +
           decoder->order.capacity * sizeof *decoder->order.at +
           decoder->columns.last.capacity * sizeof *decoder->columns.last.at +
           decoder->columns.names.capacity * sizeof *decoder->columns.names.at + decoder->op_bytes +
           decoder->unpacked_bytes;
}

bool rig_record_may_take(const struct rig_record_decoder *decoder, uint64_t more_bytes)
{
    const struct rig_record_shape *shape = decoder->shape;
    const uint64_t segment = decoder->segment == NULL ? 0 : rig_segment_bytes(decoder->segment);
    return segment <= shape->segment_limit_bytes && more_bytes <= shape->limit_bytes &&
           held_bytes(decoder) + segment + more_bytes <= shape->limit_bytes;
}

/* ---- Open transactions ---- */

static int compare_order(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static bool note_open(struct rig_record_decoder *decoder, const struct rig_record_slot_vec *slots, uint32_t shift)
{
    for (size_t i = 0; i < slots->count; i++) {
        if (slots->at[i].open &&
            !rig_record_order_vec_add(&decoder->order, (uint64_t)slots->at[i].invoke_at << 32 | (shift + i)))
            return false;
    }
    return true;
}

static bool write_open(struct rig_record_decoder *decoder, struct rig_record_slot *slot)
{
    struct rig_segment *segment = decoder->segment;
    struct rig_txn txn = {
        .invoke_ns = slot->invoke_ns,
        .complete_ns = RIG_NO_TIME,
        .invoke_at = slot->invoke_at,
        .complete_at = RIG_POSITION_NONE,
        .first_op = (uint32_t)segment->open_ops.count,
        .process = (int32_t)slot->process,
        .outcome = RIG_OUTCOME_INFO,
    };
    const size_t op_count = segment->open_ops.count + slot->op_count, bytes = 2 * op_count * sizeof *slot->ops;
    if (op_count >= UINT32_MAX || !rig_txn_vec_add(&segment->open, txn) ||
        (op_count > segment->open_ops.capacity && !rig_record_may_take(decoder, bytes)) ||
        !rig_txn_op_vec_reserve(&segment->open_ops, op_count))
        return false;
    if (!rig_record_slot_localize(decoder, slot))
        return false;
    for (uint32_t i = 0; i < slot->op_count; i++)
        segment->open_ops.at[segment->open_ops.count++] = slot->ops[i];
    return true;
}

/* In the order of invocation. */
static bool write_all_open(struct rig_record_decoder *decoder)
{
    uint32_t own = (uint32_t)decoder->slots.count;
    decoder->order.count = 0;
    if (!note_open(decoder, &decoder->slots, 0) || !note_open(decoder, &decoder->abandoned, own))
        return false;
    if (decoder->order.count > 1)
        qsort(decoder->order.at, decoder->order.count, sizeof *decoder->order.at, compare_order);
    for (size_t i = 0; i < decoder->order.count; i++) {
        uint32_t index = (uint32_t)decoder->order.at[i];
        struct rig_record_slot *slot = index < own ? &decoder->slots.at[index] : &decoder->abandoned.at[index - own];
        if (!write_open(decoder, slot))
            return false;
    }
    return true;
}

static uint64_t digest_of(const struct rig_record_slot_vec *slots)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < slots->count; i++) {
        const struct rig_record_slot *slot = &slots->at[i];
        const uint64_t parts[] = {slot->client, slot->invoke_at, (uint64_t)slot->invoke_ns, (uint64_t)slot->process,
                                  slot->op_count};
        uint64_t digest = 0;
        for (size_t part = 0; slot->open && part < sizeof parts / sizeof parts[0]; part++)
            digest = (digest ^ parts[part]) * 0x9e3779b97f4a7c15U ^ digest >> 29;
        sum += digest;
    }
    return sum;
}

uint64_t rig_record_open_digest(const struct rig_record_decoder *decoder)
{
    return digest_of(&decoder->slots) + digest_of(&decoder->abandoned);
}

/* Makes the transactions' operations of those that a record has. */
static void restore(enum rig_workload workload, struct rig_txn_vec *txns, struct rig_txn_op_vec *ops)
{
    uint32_t to = 0;
    for (size_t i = 0; i < txns->count; i++) {
        const uint32_t first = txns->at[i].first_op;
        const size_t end = i + 1 < txns->count ? txns->at[i + 1].first_op : ops->count;
        const uint32_t count = (uint32_t)rig_object_restore(workload, ops->at + first, end - first);
        if (count > 0)
            memmove(ops->at + to, ops->at + first, count * sizeof *ops->at);
        txns->at[i].first_op = to;
        to += count;
    }
    ops->count = to;
}

enum rig_rc rig_record_decoder_end(struct rig_record_decoder *decoder)
{
    if (!write_all_open(decoder))
        return rig_record_no_memory(decoder);
    const enum rig_workload workload = (enum rig_workload)(decoder->shape->type - rig_data_types);
    if (rig_object_further_op(workload) != RIG_OP_KIND_COUNT) {
        restore(workload, &decoder->segment->txns, &decoder->segment->ops);
        restore(workload, &decoder->segment->open, &decoder->segment->open_ops);
    }
    return rig_record_settle_keys(decoder);
}
