#include "history/record_encoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/growing_list.h"
#include "history/history.h"
#include "history/text_table.h"
#include "history/varint.h"

static const size_t default_state_bytes = (size_t)64 << 20;

struct key_entry {
    int64_t key;
    int64_t last_value;
    uint64_t used_at; /* number of the event that used it last */
    struct rig_growing_list spine;
    uint64_t origin;       /* of the spine's first `origin_count` elements */
    uint32_t origin_count; /* at most spine.count */
    uint32_t id;           /* in the file; ascends with definition */
    uint32_t open_count;   /* operations of open transactions on it */
    bool live;
};

struct open_op {
    uint32_t entry;
    bool reads;
};

RIG_VEC(struct key_entry, entry_vec)
RIG_VEC(struct open_op, open_op_vec)
RIG_VEC(uint32_t, u32_vec)

struct client {
    struct open_op_vec ops;
    int64_t process;
    bool has_process;
    bool open;
};

RIG_VEC(struct client, client_vec)

struct rig_record_encoder {
    struct rig_record_head head;
    struct rig_buf frame; /* being filled, with room for its head */
    struct rig_buf sealed;
    struct rig_table key_entries; /* key -> entry */
    struct entry_vec entries;
    struct u32_vec free_entries;
    struct rig_list_pool pool;
    struct rig_text_table errors;
    struct client_vec clients;
    struct open_op_vec lone_ops;
    size_t spine_elements; /* of live entries */
    uint32_t live_count;
    uint32_t next_id;
    uint64_t event_count;
    uint64_t frame_count;
    uint64_t swept_at;
    int64_t last_time;
    uint32_t next_position;
    bool failed;
};

struct rig_record_encoder *rig_record_encoder_new(const struct rig_record_head *head)
{
    RIG_REQUIRE((head->flags & ~(unsigned)RIG_RECORD_FLAGS_KNOWN) == 0);
    RIG_REQUIRE(((head->flags & RIG_RECORD_TEXT_KEYS) != 0) == (head->key_texts != NULL));
    struct rig_record_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL)
        return NULL;
    encoder->head = *head;
    if (head->state_limit_bytes == 0)
        encoder->head.state_limit_bytes = default_state_bytes;
    if (head->key_limit == 0)
        encoder->head.key_limit = RIG_ENCODER_MAX_KEYS;
    rig_buf_init(&encoder->frame, (size_t)RIG_FRAME_HEAD_BYTES + RIG_FRAME_MAX_BYTES);
    rig_buf_init(&encoder->sealed, (size_t)RIG_FRAME_HEAD_BYTES + RIG_FRAME_MAX_BYTES);
    rig_table_init(&encoder->key_entries);
    rig_list_pool_init(&encoder->pool, 0);
    rig_text_table_init(&encoder->errors, 0);
    rig_frame_begin(&encoder->frame);
    return encoder;
}

void rig_record_encoder_free(struct rig_record_encoder *encoder)
{
    if (encoder == NULL)
        return;
    for (size_t i = 0; i < encoder->clients.count; i++)
        open_op_vec_done(&encoder->clients.at[i].ops);
    client_vec_done(&encoder->clients);
    open_op_vec_done(&encoder->lone_ops);
    rig_buf_done(&encoder->frame);
    rig_buf_done(&encoder->sealed);
    rig_table_done(&encoder->key_entries);
    entry_vec_done(&encoder->entries);
    u32_vec_done(&encoder->free_entries);
    rig_list_pool_done(&encoder->pool);
    rig_text_table_done(&encoder->errors);
    free(encoder);
}

void rig_record_encoder_header(struct rig_record_encoder *encoder, struct rig_buf *file)
{
    RIG_REQUIRE(encoder->frame_count == 0);
    const struct rig_record_head *head = &encoder->head;
    struct rig_buf frame;
    rig_buf_init(&frame, 0);
    rig_frame_begin(&frame);
    rig_varint_put(&frame, head->workload);
    rig_varint_put(&frame, head->flags);
    rig_varint_put_signed(&frame, head->start_utc_ns);
    rig_varint_put(&frame, head->skipped_count);
    size_t meta_bytes = head->meta == NULL ? 0 : strlen(head->meta);
    rig_varint_put(&frame, head->meta == NULL ? 0 : meta_bytes + 1);
    rig_buf_add(&frame, head->meta, meta_bytes);
    rig_frame_seal(&frame, RIG_FRAME_HEADER, encoder->frame_count++);
    rig_record_start(file);
    rig_buf_add(file, frame.data, frame.size);
    file->failed |= frame.failed;
    rig_buf_done(&frame);
}

static bool is_forgettable(const struct key_entry *entry, uint64_t since)
{
    return entry->live && entry->open_count == 0 && entry->used_at < since;
}

static void forget(struct rig_record_encoder *encoder, uint32_t index)
{
    struct key_entry *entry = &encoder->entries.at[index];
    rig_varint_put(&encoder->frame, encoder->next_id - entry->id);
    encoder->spine_elements -= entry->spine.count;
    encoder->live_count--;
    rig_growing_list_release(&encoder->pool, &entry->spine);
    entry->live = false;
    if (!u32_vec_add(&encoder->free_entries, index))
        encoder->failed = true;
}

/* Forgets what has not been used since the last sweep; when that is little, whatever no open transaction holds. */
static void sweep(struct rig_record_encoder *encoder)
{
    uint64_t since = encoder->swept_at;
    uint32_t count = 0;
    uint32_t all = 0;
    for (size_t i = 0; i < encoder->entries.count; i++) {
        count += is_forgettable(&encoder->entries.at[i], since);
        all += is_forgettable(&encoder->entries.at[i], UINT64_MAX);
    }
    if (count < all / 2) {
        count = all;
        since = UINT64_MAX;
    }
    encoder->swept_at = encoder->event_count;
    if (count == 0)
        return;
    rig_buf_add_char(&encoder->frame, RIG_EVENT_FORGET);
    rig_varint_put(&encoder->frame, count);
    for (size_t i = 0; i < encoder->entries.count; i++) {
        if (is_forgettable(&encoder->entries.at[i], since))
            forget(encoder, (uint32_t)i);
    }
    rig_table_done(&encoder->key_entries);
    for (size_t i = 0; i < encoder->entries.count; i++) {
        if (!encoder->entries.at[i].live)
            continue;
        uint32_t *place = rig_table_put(&encoder->key_entries, (uint64_t)encoder->entries.at[i].key);
        if (place != NULL)
            *place = (uint32_t)i;
        else
            encoder->failed = true;
    }
}

static void sweep_if_large(struct rig_record_encoder *encoder)
{
    /* Where open transactions hold all of it, sweeping again at once would only cost time. */
    bool due = encoder->event_count - encoder->swept_at >= 1024 || encoder->head.key_limit < 1024;
    bool large = encoder->live_count > encoder->head.key_limit ||
                 encoder->spine_elements > encoder->head.state_limit_bytes / sizeof(int64_t);
    if (due && large)
        sweep(encoder);
}

static uint32_t new_entry(struct rig_record_encoder *encoder, int64_t key)
{
    struct key_entry entry = {.key = key, .id = encoder->next_id++, .live = true};
    encoder->live_count++;
    if (encoder->free_entries.count > 0) {
        uint32_t index = encoder->free_entries.at[--encoder->free_entries.count];
        encoder->entries.at[index] = entry;
        return index;
    }
    if (!entry_vec_add(&encoder->entries, entry)) {
        encoder->failed = true;
        return 0;
    }
    return (uint32_t)(encoder->entries.count - 1);
}

/* Distance 0 defines the next key; d > 0 names the d-th last one defined. */
static uint32_t put_key(struct rig_record_encoder *encoder, int64_t key, unsigned reads)
{
    uint32_t *place = rig_table_put(&encoder->key_entries, (uint64_t)key);
    if (place == NULL) {
        encoder->failed = true;
        return 0;
    }
    if (*place != RIG_TABLE_NONE) {
        uint64_t distance = encoder->next_id - encoder->entries.at[*place].id;
        rig_varint_put(&encoder->frame, distance << 1 | reads);
        return *place;
    }
    rig_varint_put(&encoder->frame, reads);
    if (encoder->head.key_texts == NULL) {
        rig_varint_put_signed(&encoder->frame, key);
    } else {
        const char *text = encoder->head.key_texts[key];
        rig_varint_put(&encoder->frame, strlen(text));
        rig_buf_add_text(&encoder->frame, text);
    }
    return *place = new_entry(encoder, key);
}

static void put_ops(struct rig_record_encoder *encoder, const struct rig_op *ops, uint32_t op_count,
                    struct open_op_vec *open)
{
    open->count = 0;
    if (!open_op_vec_reserve(open, op_count)) {
        encoder->failed = true;
        return;
    }
    for (uint32_t i = 0; i < op_count; i++) {
        /* Kinds come in pairs, one pair a workload: what writes, then what reads. */
        RIG_REQUIRE((unsigned)ops[i].kind / 2 == (unsigned)encoder->head.workload);
        bool reads = (unsigned)ops[i].kind % 2 == 1;
        uint32_t index = put_key(encoder, ops[i].key, reads);
        if (encoder->failed)
            return;
        struct key_entry *entry = &encoder->entries.at[index];
        if (!reads) {
            rig_varint_put_signed(&encoder->frame, rig_difference(ops[i].value, entry->last_value));
            entry->last_value = ops[i].value;
        }
        entry->used_at = encoder->event_count;
        entry->open_count++;
        open->at[open->count++] = (struct open_op){.entry = index, .reads = reads};
    }
}

/* The operations will not be completed: they hold their keys no longer. */
static void release(struct rig_record_encoder *encoder, struct open_op_vec *ops)
{
    for (size_t i = 0; i < ops->count; i++)
        encoder->entries.at[ops->at[i].entry].open_count--;
    ops->count = 0;
}

static int64_t element_at(const struct rig_record_read *read, uint32_t index)
{
    int64_t element;
    memcpy(&element, (const char *)read->elements + (size_t)index * sizeof element, sizeof element);
    return element;
}

/* How many elements the read shares with the key's spine. */
static uint32_t shared_count(const struct key_entry *entry, const struct rig_record_read *read)
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
    for (uint32_t i = from; i < read->count; i++) {
        int64_t element = element_at(read, i);
        rig_varint_put_signed(&encoder->frame, rig_difference(element, last));
        last = element;
    }
}

/* Makes the spine equal to the read, which shares `shared` elements with it and is longer. */
static void follow(struct rig_record_encoder *encoder, struct key_entry *entry, const struct rig_record_read *read,
                   uint32_t shared)
{
    struct rig_growing_list *spine = &entry->spine;
    entry->origin = read->origin;
    entry->origin_count = read->origin_count;
    encoder->spine_elements += read->count - spine->count;
    spine->count = shared;
    for (uint32_t i = shared; i < read->count; i++) {
        int64_t element = element_at(read, i);
        if (!rig_growing_list_add(&encoder->pool, spine, &element, 1)) {
            encoder->failed = true;
            return;
        }
    }
}

static void put_list(struct rig_record_encoder *encoder, struct key_entry *entry, const struct rig_record_read *read)
{
    const struct rig_growing_list *spine = &entry->spine;
    uint32_t shared = shared_count(entry, read);
    if (shared == read->count) {
        rig_varint_put(&encoder->frame, RIG_READ_CODE_PREFIX + 2 * (uint64_t)(spine->count - read->count));
        return;
    }
    if (shared == spine->count) {
        rig_varint_put(&encoder->frame, RIG_READ_CODE_LONGER + 2 * (uint64_t)(read->count - spine->count - 1));
    } else {
        rig_varint_put(&encoder->frame, RIG_READ_CODE_APART);
        rig_varint_put(&encoder->frame, shared);
        rig_varint_put(&encoder->frame, read->count - shared);
    }
    put_elements(encoder, read, shared);
    if (read->count > spine->count)
        follow(encoder, entry, read, shared);
}

static void put_read(struct rig_record_encoder *encoder, struct key_entry *entry, const struct rig_record_read *read)
{
    if (read->state != RIG_READ_SEEN) {
        rig_varint_put(&encoder->frame, read->state == RIG_READ_NIL ? RIG_READ_CODE_NIL : RIG_READ_CODE_UNKNOWN);
    } else if (encoder->head.workload == RIG_WORKLOAD_LIST_APPEND) {
        put_list(encoder, entry, read);
    } else {
        rig_varint_put(&encoder->frame, RIG_READ_CODE_PREFIX);
        rig_varint_put_signed(&encoder->frame, rig_difference(read->value, entry->last_value));
    }
}

static void put_moment(struct rig_record_encoder *encoder, struct rig_record_moment when)
{
    if ((encoder->head.flags & RIG_RECORD_POSITIONS) != 0) {
        RIG_REQUIRE(when.position >= encoder->next_position && when.position != RIG_POSITION_NONE);
        rig_varint_put(&encoder->frame, when.position - encoder->next_position);
        encoder->next_position = when.position + 1;
    }
    if (when.time_ns != RIG_NO_TIME) {
        rig_varint_put_signed(&encoder->frame, rig_difference(when.time_ns, encoder->last_time));
        encoder->last_time = when.time_ns;
    }
}

static struct client *find_client(struct rig_record_encoder *encoder, uint32_t index)
{
    while (encoder->clients.count <= index) {
        if (!client_vec_add(&encoder->clients, (struct client){0})) {
            encoder->failed = true;
            return NULL;
        }
    }
    return &encoder->clients.at[index];
}

void rig_record_encoder_invoke(struct rig_record_encoder *encoder, uint32_t client_index, struct rig_record_moment when,
                               int64_t process, int64_t intended_ns, const struct rig_op *ops, uint32_t op_count)
{
    struct client *client = encoder->failed ? NULL : find_client(encoder, client_index);
    if (client == NULL)
        return;
    if (client->open)
        release(encoder, &client->ops); /* it stays open in the record, for good */
    sweep_if_large(encoder);
    encoder->event_count++;
    bool same = client->has_process && client->process == process;
    bool on_time = intended_ns == when.time_ns;
    unsigned shown = op_count < RIG_INVOKE_COUNT_FOLLOWS ? op_count : RIG_INVOKE_COUNT_FOLLOWS;
    unsigned tag = RIG_EVENT_INVOKE | (same ? RIG_INVOKE_SAME_PROCESS : 0U) | (on_time ? RIG_INVOKE_ON_TIME : 0U) |
                   (when.time_ns == RIG_NO_TIME ? RIG_EVENT_NO_TIME : 0U) | shown << RIG_INVOKE_COUNT_SHIFT;
    rig_buf_add_char(&encoder->frame, (char)tag);
    rig_varint_put(&encoder->frame, client_index);
    put_moment(encoder, when);
    if (!same)
        rig_varint_put_signed(&encoder->frame, process);
    if (!on_time)
        rig_varint_put_signed(&encoder->frame, rig_difference(when.time_ns, intended_ns));
    if (shown == RIG_INVOKE_COUNT_FOLLOWS)
        rig_varint_put(&encoder->frame, op_count);
    put_ops(encoder, ops, op_count, &client->ops);
    client->process = process;
    client->has_process = true;
    client->open = true;
}

uint32_t rig_record_encoder_open_ops(const struct rig_record_encoder *encoder, uint32_t client)
{
    if (client >= encoder->clients.count || !encoder->clients.at[client].open)
        return 0;
    return (uint32_t)encoder->clients.at[client].ops.count;
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

/* The error and the reads; the operations are no longer open. */
static void put_results(struct rig_record_encoder *encoder, struct open_op_vec *ops,
                        const struct rig_record_completion *completion)
{
    if (completion->error != NULL)
        put_error(encoder, completion->error, completion->error_length);
    for (size_t i = 0; i < ops->count; i++) {
        struct key_entry *entry = &encoder->entries.at[ops->at[i].entry];
        RIG_INVARIANT(entry->live && entry->open_count > 0);
        entry->open_count--;
        entry->used_at = encoder->event_count;
        if (ops->at[i].reads && completion->reads != NULL)
            put_read(encoder, entry, &completion->reads[i]);
    }
    ops->count = 0;
}

void rig_record_encoder_complete(struct rig_record_encoder *encoder, uint32_t client_index,
                                 struct rig_record_moment when, const struct rig_record_completion *completion)
{
    if (encoder->failed)
        return;
    RIG_REQUIRE(client_index < encoder->clients.count && encoder->clients.at[client_index].open);
    struct client *client = &encoder->clients.at[client_index];
    encoder->event_count++;
    rig_buf_add_char(&encoder->frame, (char)(RIG_EVENT_COMPLETE | completion_tag(completion, when)));
    rig_varint_put(&encoder->frame, client_index);
    put_moment(encoder, when);
    put_results(encoder, &client->ops, completion);
    client->open = false;
}

void rig_record_encoder_lone(struct rig_record_encoder *encoder, struct rig_record_moment when, int64_t process,
                             const struct rig_op *ops, uint32_t op_count,
                             const struct rig_record_completion *completion)
{
    if (encoder->failed)
        return;
    sweep_if_large(encoder);
    encoder->event_count++;
    rig_buf_add_char(&encoder->frame, (char)(RIG_EVENT_LONE | completion_tag(completion, when)));
    put_moment(encoder, when);
    rig_varint_put_signed(&encoder->frame, process);
    rig_varint_put(&encoder->frame, op_count);
    put_ops(encoder, ops, op_count, &encoder->lone_ops);
    put_results(encoder, &encoder->lone_ops, completion);
}

size_t rig_record_encoder_pending_bytes(const struct rig_record_encoder *encoder)
{
    return encoder->frame.size - RIG_FRAME_HEAD_BYTES;
}

uint64_t rig_record_encoder_event_count(const struct rig_record_encoder *encoder)
{
    return encoder->event_count;
}

static const struct rig_buf *seal(struct rig_record_encoder *encoder, enum rig_frame_type type)
{
    if (encoder->failed || encoder->frame.failed)
        return NULL;
    rig_frame_seal(&encoder->frame, type, encoder->frame_count++);
    struct rig_buf sealed = encoder->frame;
    encoder->frame = encoder->sealed;
    encoder->sealed = sealed;
    rig_buf_clear(&encoder->frame);
    rig_frame_begin(&encoder->frame);
    return &encoder->sealed;
}

const struct rig_buf *rig_record_encoder_frame(struct rig_record_encoder *encoder)
{
    return seal(encoder, RIG_FRAME_EVENTS);
}

const struct rig_buf *rig_record_encoder_close(struct rig_record_encoder *encoder, unsigned flags)
{
    RIG_REQUIRE(rig_record_encoder_pending_bytes(encoder) == 0);
    rig_varint_put(&encoder->frame, flags);
    rig_varint_put(&encoder->frame, encoder->event_count);
    return seal(encoder, RIG_FRAME_CLOSE);
}
