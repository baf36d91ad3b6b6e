#include "history/record_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/builder.h"
#include "history/event_order.h"
#include "history/growing_list.h"
#include "history/record_frame.h"
#include "history/varint.h"

/* A key as the file defines it, with what its later reads refer to. */
struct definition {
    int64_t key;
    int64_t last_value;
    struct rig_growing_list spine;
    uint32_t agreed; /* so many elements of the spine are known to be the history's as well */
    bool forgotten;
};

struct error_text {
    const char *at;
    size_t length;
};

/* A list read while the rest of its transaction is decoded: spines can still move. */
struct list_read {
    uint32_t definition;
    bool apart; /* its elements lie in reader->elements from `first` on; else they are the spine's */
    size_t first;
};

RIG_VEC(struct definition, definition_vec)
RIG_VEC(struct error_text, error_text_vec)
RIG_VEC(struct rig_op, op_vec)
RIG_VEC(uint32_t, id_vec)
RIG_VEC(struct rig_read, read_vec)
RIG_VEC(struct list_read, list_read_vec)
RIG_VEC(struct rig_list_hint, hint_vec)
RIG_VEC(int64_t, element_vec)
RIG_VEC(struct rig_event_time, event_vec)

/* A client's open transaction, or what is left of its last one. */
struct slot {
    uint32_t client;
    bool open;
    bool has_process;
    int64_t process;
    int64_t invoke_ns;
    uint32_t invoke_at;
    int64_t last_ns; /* of its last event */
    struct op_vec ops;
    struct id_vec definitions; /* parallel to ops */
};

RIG_VEC(struct slot, slot_vec)

struct reader {
    const char *name;
    const uint8_t *data;
    const uint8_t *at;  /* in the frame being decoded */
    const uint8_t *end; /* of that frame */
    size_t limit_bytes;
    enum rig_workload workload;
    unsigned flags;
    bool has_header;
    bool closed;
    bool was_cut; /* says the closing frame */
    uint64_t skipped_count;
    struct rig_history_builder *builder;
    struct rig_list_pool pool;
    struct definition_vec definitions;
    struct error_text_vec errors;
    struct rig_table slot_of_client;
    struct slot_vec slots;
    struct slot lone;
    struct read_vec reads;
    struct list_read_vec list_reads;
    struct hint_vec hints;
    struct element_vec elements;
    struct event_vec events;
    uint64_t event_count;
    uint32_t next_position;
    int64_t last_time;
    struct rig_err *err;
};

struct moment {
    int64_t time_ns;
    uint32_t position;
};

bool rig_record_recognise(const void *data, size_t size)
{
    size_t compared = size < RIG_RECORD_MAGIC_BYTES ? size : (size_t)RIG_RECORD_MAGIC_BYTES;
    return size > 0 && memcmp(data, RIG_RECORD_MAGIC, compared) == 0;
}

static enum rig_rc damaged(struct reader *reader, const char *what)
{
    return rig_fail(reader->err, RIG_E_INPUT, "%s: byte %zu: %s; the record was written wrongly, make it anew",
                    reader->name, (size_t)(reader->at - reader->data), what);
}

static enum rig_rc no_memory(struct reader *reader)
{
    return rig_fail(reader->err, RIG_E_LIMIT,
                    "%s: the history needs more memory than there is or than is allowed; raise --max-memory",
                    reader->name);
}

static size_t left(const struct reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

static enum rig_rc get(struct reader *reader, uint64_t *number)
{
    return rig_varint_get(&reader->at, reader->end, number) ? RIG_OK : damaged(reader, "no number where one must be");
}

static enum rig_rc get_signed(struct reader *reader, int64_t *number)
{
    uint64_t folded;
    enum rig_rc rc = get(reader, &folded);
    if (rc == RIG_OK)
        *number = rig_unzigzag(folded);
    return rc;
}

/* A count of things of which each takes at least a byte of what is left. */
static enum rig_rc get_count(struct reader *reader, uint64_t *count)
{
    enum rig_rc rc = get(reader, count);
    if (rc == RIG_OK && *count > left(reader))
        return damaged(reader, "a count larger than the frame");
    return rc;
}

static enum rig_rc get_text(struct reader *reader, struct error_text *text)
{
    uint64_t length;
    enum rig_rc rc = get_count(reader, &length);
    if (rc != RIG_OK)
        return rc;
    *text = (struct error_text){.at = (const char *)reader->at, .length = (size_t)length};
    if (memchr(text->at, '\0', text->length) != NULL)
        return damaged(reader, "a NUL character in a text");
    reader->at += length;
    return RIG_OK;
}

static enum rig_rc read_header(struct reader *reader, const struct rig_load_options *options)
{
    uint64_t workload = 0, flags = 0, meta_bytes = 0;
    int64_t start_utc_ns = 0;
    enum rig_rc rc = get(reader, &workload);
    if (rc == RIG_OK)
        rc = get(reader, &flags);
    if (rc == RIG_OK)
        rc = get_signed(reader, &start_utc_ns);
    if (rc == RIG_OK)
        rc = get(reader, &reader->skipped_count);
    if (rc == RIG_OK)
        rc = get(reader, &meta_bytes);
    if (rc != RIG_OK)
        return rc;
    if (workload >= RIG_WORKLOAD_COUNT || flags > RIG_RECORD_FLAGS_KNOWN)
        return damaged(reader, "a workload or flag that this version does not have");
    if ((flags & RIG_RECORD_KEYWORD_KEYS) != 0 && (flags & RIG_RECORD_TEXT_KEYS) == 0)
        return damaged(reader, "keyword keys that are no texts");
    if (meta_bytes != (meta_bytes == 0 ? left(reader) : left(reader) + 1))
        return damaged(reader, "a header of the wrong length");
    reader->workload = (enum rig_workload)workload;
    reader->flags = (unsigned)flags;
    reader->has_header = true;
    if (options->workload_given && options->workload != reader->workload)
        return rig_fail(reader->err, RIG_E_INPUT, "%s: records another workload than the one asked for; leave it out",
                        reader->name);
    reader->builder = rig_history_builder_new(reader->workload, options->limit_bytes);
    if (reader->builder == NULL)
        return no_memory(reader);
    if ((flags & RIG_RECORD_KEYWORD_KEYS) != 0)
        rig_history_builder_keyword_keys(reader->builder);
    return meta_bytes == 0
               ? RIG_OK
               : rig_history_builder_meta(reader->builder, (const char *)reader->at, left(reader), reader->err);
}

static enum rig_rc get_moment(struct reader *reader, unsigned tag, struct moment *moment)
{
    enum rig_rc rc = RIG_OK;
    if (reader->event_count >= RIG_POSITION_NONE - 1)
        return rig_fail(reader->err, RIG_E_LIMIT, "%s: more than 4294967294 events", reader->name);
    moment->position = (uint32_t)reader->event_count++;
    if ((reader->flags & RIG_RECORD_POSITIONS) != 0) {
        uint64_t gap;
        rc = get(reader, &gap);
        if (rc != RIG_OK)
            return rc;
        if (gap >= RIG_POSITION_NONE - (uint64_t)reader->next_position)
            return damaged(reader, "a position that does not fit 32 bits");
        moment->position = reader->next_position + (uint32_t)gap;
        reader->next_position = moment->position + 1;
    } else if ((tag & RIG_EVENT_NO_TIME) != 0) {
        return damaged(reader, "an event with neither time nor position");
    }
    moment->time_ns = RIG_NO_TIME;
    if ((tag & RIG_EVENT_NO_TIME) == 0) {
        int64_t delta;
        rc = get_signed(reader, &delta);
        if (rc == RIG_OK)
            moment->time_ns = reader->last_time = rig_sum(reader->last_time, delta);
    }
    return rc;
}

static enum rig_rc define_key(struct reader *reader, uint32_t *id)
{
    struct definition definition = {0};
    enum rig_rc rc;
    if ((reader->flags & RIG_RECORD_TEXT_KEYS) == 0) {
        rc = get_signed(reader, &definition.key);
    } else {
        struct error_text text = {0};
        rc = get_text(reader, &text);
        if (rc == RIG_OK)
            rc = rig_history_builder_text_key(reader->builder, text.at, text.length, &definition.key, reader->err);
    }
    if (rc != RIG_OK)
        return rc;
    if (reader->definitions.count >= UINT32_MAX - 1 || !definition_vec_add(&reader->definitions, definition))
        return no_memory(reader);
    *id = (uint32_t)(reader->definitions.count - 1);
    return RIG_OK;
}

static enum rig_rc get_op(struct reader *reader, struct slot *slot)
{
    uint64_t code;
    enum rig_rc rc = get(reader, &code);
    if (rc != RIG_OK)
        return rc;
    uint64_t distance = code >> 1;
    uint32_t id = 0;
    if (distance > reader->definitions.count)
        return damaged(reader, "an operation on a key that is not defined");
    if (distance == 0)
        rc = define_key(reader, &id);
    else
        id = (uint32_t)(reader->definitions.count - distance);
    if (rc != RIG_OK)
        return rc;
    struct definition *definition = &reader->definitions.at[id];
    if (definition->forgotten)
        return damaged(reader, "an operation on a key that was forgotten");
    struct rig_op op = {.kind = (enum rig_op_kind)((unsigned)reader->workload * 2 + (code & 1)),
                        .key = definition->key};
    if ((code & 1) == 0) {
        int64_t difference;
        rc = get_signed(reader, &difference);
        if (rc != RIG_OK)
            return rc;
        op.value = definition->last_value = rig_sum(definition->last_value, difference);
    }
    return op_vec_add(&slot->ops, op) && id_vec_add(&slot->definitions, id) ? RIG_OK : no_memory(reader);
}

static enum rig_rc get_ops(struct reader *reader, struct slot *slot, uint64_t op_count)
{
    slot->ops.count = 0;
    slot->definitions.count = 0;
    enum rig_rc rc = RIG_OK;
    for (uint64_t i = 0; rc == RIG_OK && i < op_count; i++)
        rc = get_op(reader, slot);
    return rc;
}

static enum rig_rc add_txn(struct reader *reader, struct rig_txn_input *txn, const struct slot *slot)
{
    txn->process = slot->process;
    txn->ops = slot->ops.at;
    txn->op_count = (uint32_t)slot->ops.count;
    return rig_history_builder_add(reader->builder, txn, reader->err);
}

/* The slot's transaction never completes. */
static enum rig_rc add_open(struct reader *reader, const struct slot *slot)
{
    struct rig_txn_input txn = {
        .invoke_ns = slot->invoke_ns,
        .complete_ns = RIG_NO_TIME,
        .invoke_at = slot->invoke_at,
        .complete_at = RIG_POSITION_NONE,
        .outcome = RIG_OUTCOME_INFO,
    };
    return add_txn(reader, &txn, slot);
}

static enum rig_rc note_time(struct reader *reader, struct slot *slot, struct moment moment, bool completion)
{
    if ((reader->flags & RIG_RECORD_POSITIONS) != 0)
        return RIG_OK;
    bool backwards = completion ? moment.time_ns < slot->last_ns : moment.time_ns <= slot->last_ns;
    if (slot->has_process && backwards)
        return damaged(reader, "a client whose time runs backwards");
    slot->last_ns = moment.time_ns;
    struct rig_event_time event = {
        .time_ns = moment.time_ns, .ordinal = moment.position, .kind = completion, .client = slot->client & INT32_MAX};
    return event_vec_add(&reader->events, event) ? RIG_OK : no_memory(reader);
}

static enum rig_rc find_slot(struct reader *reader, struct slot **slot)
{
    uint64_t client;
    enum rig_rc rc = get(reader, &client);
    if (rc != RIG_OK)
        return rc;
    if (client > INT32_MAX)
        return damaged(reader, "a client number that does not fit 31 bits");
    uint32_t *place = rig_table_put(&reader->slot_of_client, client);
    if (place == NULL)
        return no_memory(reader);
    if (*place == RIG_TABLE_NONE) {
        if (!slot_vec_add(&reader->slots, (struct slot){.client = (uint32_t)client}))
            return no_memory(reader);
        *place = (uint32_t)(reader->slots.count - 1);
    }
    *slot = &reader->slots.at[*place];
    return RIG_OK;
}

static enum rig_rc get_invocation(struct reader *reader, unsigned tag)
{
    struct slot *slot = NULL;
    struct moment moment = {0};
    enum rig_rc rc = find_slot(reader, &slot);
    if (rc == RIG_OK)
        rc = get_moment(reader, tag, &moment);
    if (rc == RIG_OK && slot->open)
        rc = add_open(reader, slot);
    if (rc == RIG_OK)
        rc = note_time(reader, slot, moment, false);
    if (rc != RIG_OK)
        return rc;
    if ((tag & RIG_INVOKE_SAME_PROCESS) == 0)
        rc = get_signed(reader, &slot->process);
    else if (!slot->has_process)
        rc = damaged(reader, "a client without a process");
    int64_t late_by; /* behind the intended start: not part of a history in memory */
    if (rc == RIG_OK && (tag & RIG_INVOKE_ON_TIME) == 0)
        rc = get_signed(reader, &late_by);
    uint64_t op_count = tag >> RIG_INVOKE_COUNT_SHIFT;
    if (rc == RIG_OK && op_count == RIG_INVOKE_COUNT_FOLLOWS)
        rc = get_count(reader, &op_count);
    if (rc != RIG_OK)
        return rc;
    slot->has_process = true;
    slot->open = true;
    slot->invoke_ns = moment.time_ns;
    slot->invoke_at = moment.position;
    return get_ops(reader, slot, op_count);
}

static enum rig_rc get_error(struct reader *reader, struct error_text *text)
{
    uint64_t code;
    enum rig_rc rc = get(reader, &code);
    if (rc != RIG_OK)
        return rc;
    if (code >= RIG_ERROR_FIRST_ID) {
        if (code - RIG_ERROR_FIRST_ID >= reader->errors.count)
            return damaged(reader, "an error text that is not defined");
        *text = reader->errors.at[code - RIG_ERROR_FIRST_ID];
        return RIG_OK;
    }
    rc = get_text(reader, text);
    if (rc == RIG_OK && code == RIG_ERROR_NEW && !error_text_vec_add(&reader->errors, *text))
        rc = no_memory(reader);
    return rc;
}

/* Room for elements of one transaction, which a small file can make many. */
static bool reserve_elements(struct reader *reader, size_t more)
{
    size_t wanted = reader->elements.count + more;
    return wanted <= reader->limit_bytes / sizeof(int64_t) && element_vec_reserve(&reader->elements, wanted);
}

static enum rig_rc get_elements(struct reader *reader, uint64_t count, int64_t last, size_t *first)
{
    *first = reader->elements.count;
    if (!reserve_elements(reader, (size_t)count))
        return no_memory(reader);
    for (uint64_t i = 0; i < count; i++) {
        int64_t difference;
        enum rig_rc rc = get_signed(reader, &difference);
        if (rc != RIG_OK)
            return rc;
        last = rig_sum(last, difference);
        reader->elements.at[reader->elements.count++] = last;
    }
    return RIG_OK;
}

static bool copy_elements(struct reader *reader, const int64_t *from, uint32_t count, size_t *first)
{
    if (!reserve_elements(reader, count))
        return false;
    *first = reader->elements.count;
    if (count > 0)
        memcpy(reader->elements.at + reader->elements.count, from, count * sizeof *from);
    reader->elements.count += count;
    return true;
}

/* Before a spine changes: the transaction's earlier reads of it keep what they saw. */
static bool settle_earlier(struct reader *reader, uint32_t id)
{
    for (size_t i = 0; i < reader->list_reads.count; i++) {
        struct list_read *earlier = &reader->list_reads.at[i];
        if (earlier->apart || earlier->definition != id || reader->reads.at[i].state != RIG_READ_SEEN)
            continue;
        if (!copy_elements(reader, reader->definitions.at[id].spine.at, reader->reads.at[i].count, &earlier->first))
            return false;
        earlier->apart = true;
    }
    return true;
}

/* Shares elements with the spine, then goes its own way; becomes the spine when it is longer. */
static enum rig_rc get_apart(struct reader *reader, struct list_read *list, struct rig_read *read)
{
    struct definition *definition = &reader->definitions.at[list->definition];
    struct rig_growing_list *spine = &definition->spine;
    uint64_t shared = 0, own = 0;
    enum rig_rc rc = get(reader, &shared);
    if (rc == RIG_OK)
        rc = get_count(reader, &own);
    if (rc != RIG_OK)
        return rc;
    if (shared >= spine->count || own == 0 || shared + own >= UINT32_MAX)
        return damaged(reader, "a list that does not part from its spine");
    size_t first;
    if (!copy_elements(reader, spine->at, (uint32_t)shared, &list->first))
        return no_memory(reader);
    rc = get_elements(reader, own, shared == 0 ? 0 : spine->at[shared - 1], &first);
    if (rc != RIG_OK)
        return rc;
    list->apart = true;
    read->count = (uint32_t)(shared + own);
    if (read->count <= spine->count)
        return RIG_OK;
    if (!settle_earlier(reader, list->definition))
        return no_memory(reader);
    spine->count = (uint32_t)shared;
    if (definition->agreed > shared)
        definition->agreed = (uint32_t)shared;
    return rig_growing_list_add(&reader->pool, spine, reader->elements.at + first, (uint32_t)own) ? RIG_OK
                                                                                                  : no_memory(reader);
}

static enum rig_rc get_list(struct reader *reader, uint64_t code, struct list_read *list, struct rig_read *read)
{
    struct rig_growing_list *spine = &reader->definitions.at[list->definition].spine;
    read->state = RIG_READ_SEEN;
    if (code == RIG_READ_CODE_APART)
        return get_apart(reader, list, read);
    if ((code - RIG_READ_CODE_PREFIX) % 2 == 0) {
        uint64_t fewer = (code - RIG_READ_CODE_PREFIX) / 2;
        if (fewer > spine->count)
            return damaged(reader, "a list shorter than nothing");
        read->count = spine->count - (uint32_t)fewer;
        return RIG_OK;
    }
    uint64_t more = (code - RIG_READ_CODE_LONGER) / 2 + 1;
    if (more > left(reader))
        return damaged(reader, "a list longer than the frame");
    size_t first;
    enum rig_rc rc = get_elements(reader, more, spine->count == 0 ? 0 : spine->at[spine->count - 1], &first);
    if (rc != RIG_OK)
        return rc;
    bool fits = rig_growing_list_add(&reader->pool, spine, reader->elements.at + first, (uint32_t)more);
    reader->elements.count = first;
    read->count = spine->count;
    return fits ? RIG_OK : no_memory(reader);
}

static enum rig_rc get_read(struct reader *reader, uint32_t definition, struct rig_read *read)
{
    struct list_read list = {.definition = definition};
    uint64_t code;
    enum rig_rc rc = get(reader, &code);
    if (rc != RIG_OK)
        return rc;
    if (code == RIG_READ_CODE_UNKNOWN || code == RIG_READ_CODE_NIL) {
        read->state = code == RIG_READ_CODE_NIL ? RIG_READ_NIL : RIG_READ_UNKNOWN;
    } else if (reader->workload == RIG_WORKLOAD_LIST_APPEND) {
        rc = get_list(reader, code, &list, read);
    } else if (code == RIG_READ_CODE_PREFIX) {
        int64_t difference = 0;
        rc = get_signed(reader, &difference);
        read->state = RIG_READ_SEEN;
        read->value = rig_sum(reader->definitions.at[definition].last_value, difference);
    } else {
        rc = damaged(reader, "a list read from a register");
    }
    if (rc == RIG_OK && !list_read_vec_add(&reader->list_reads, list))
        rc = no_memory(reader);
    return rc;
}

static enum rig_rc get_reads(struct reader *reader, const struct slot *slot)
{
    reader->reads.count = 0;
    reader->list_reads.count = 0;
    reader->elements.count = 0;
    for (size_t i = 0; i < slot->ops.count; i++) {
        struct rig_read read = {.state = RIG_READ_UNKNOWN};
        enum rig_rc rc = RIG_OK;
        if ((unsigned)slot->ops.at[i].kind % 2 == 1)
            rc = get_read(reader, slot->definitions.at[i], &read);
        else if (!list_read_vec_add(&reader->list_reads, (struct list_read){.definition = slot->definitions.at[i]}))
            rc = no_memory(reader);
        if (rc == RIG_OK && !read_vec_add(&reader->reads, read))
            rc = no_memory(reader);
        if (rc != RIG_OK)
            return rc;
    }
    return RIG_OK;
}

/* Spines move no more: tells the builder where the lists are, and how much of them it knows. */
static bool place_hints(struct reader *reader)
{
    size_t count = reader->reads.count;
    if (!hint_vec_reserve(&reader->hints, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct list_read *list = &reader->list_reads.at[i];
        struct definition *definition = &reader->definitions.at[list->definition];
        reader->hints.at[i] = (struct rig_list_hint){0};
        if (reader->reads.at[i].state != RIG_READ_SEEN)
            continue;
        reader->reads.at[i].first_element = list->first;
        if (!list->apart)
            reader->hints.at[i] = (struct rig_list_hint){.at = definition->spine.at, .agreed = definition->agreed};
    }
    return true;
}

static void keep_agreed(struct reader *reader)
{
    for (size_t i = 0; i < reader->reads.count; i++) {
        struct definition *definition = &reader->definitions.at[reader->list_reads.at[i].definition];
        uint32_t agreed = reader->hints.at[i].at == NULL ? 0 : reader->hints.at[i].agreed;
        if (definition->agreed < agreed)
            definition->agreed = agreed;
    }
}

/* What invocations and lone completions have in common: from the error on. */
static enum rig_rc get_results(struct reader *reader, unsigned tag, struct moment moment, const struct slot *slot)
{
    struct error_text error = {0};
    enum rig_rc rc = RIG_OK;
    unsigned outcome = tag >> RIG_COMPLETE_OUTCOME_SHIFT & 3;
    if (outcome > RIG_OUTCOME_INFO || (tag & RIG_COMPLETE_UNUSED) != 0)
        return damaged(reader, "an outcome that this version does not have");
    if ((tag & RIG_COMPLETE_ERROR) != 0)
        rc = get_error(reader, &error);
    bool has_reads = (tag & RIG_COMPLETE_READS) != 0;
    if (rc == RIG_OK && has_reads)
        rc = get_reads(reader, slot);
    if (rc != RIG_OK)
        return rc;
    if (has_reads && !place_hints(reader))
        return no_memory(reader);
    struct rig_txn_input txn = {
        .invoke_ns = slot->invoke_ns,
        .complete_ns = moment.time_ns,
        .invoke_at = slot->invoke_at,
        .complete_at = moment.position,
        .outcome = (enum rig_outcome)outcome,
        .reads = has_reads ? reader->reads.at : NULL,
        .elements = reader->elements.at,
        .hints = has_reads ? reader->hints.at : NULL,
        .error = (tag & RIG_COMPLETE_ERROR) != 0 ? (error.length == 0 ? "" : error.at) : NULL,
        .error_length = error.length,
    };
    rc = add_txn(reader, &txn, slot);
    if (rc == RIG_OK && has_reads && reader->workload == RIG_WORKLOAD_LIST_APPEND)
        keep_agreed(reader);
    return rc;
}

static enum rig_rc get_completion(struct reader *reader, unsigned tag)
{
    struct slot *slot = NULL;
    struct moment moment = {0};
    enum rig_rc rc = find_slot(reader, &slot);
    if (rc == RIG_OK)
        rc = get_moment(reader, tag, &moment);
    if (rc == RIG_OK && !slot->open)
        rc = damaged(reader, "a completion of a client without an open transaction");
    if (rc == RIG_OK)
        rc = note_time(reader, slot, moment, true);
    if (rc == RIG_OK)
        rc = get_results(reader, tag, moment, slot);
    if (rc == RIG_OK)
        slot->open = false;
    return rc;
}

static enum rig_rc get_lone(struct reader *reader, unsigned tag)
{
    struct moment moment = {0};
    uint64_t op_count = 0;
    if ((reader->flags & RIG_RECORD_POSITIONS) == 0)
        return damaged(reader, "a completion without invocation and position");
    enum rig_rc rc = get_moment(reader, tag, &moment);
    if (rc == RIG_OK)
        rc = get_signed(reader, &reader->lone.process);
    if (rc == RIG_OK)
        rc = get_count(reader, &op_count);
    if (rc == RIG_OK)
        rc = get_ops(reader, &reader->lone, op_count);
    reader->lone.invoke_ns = RIG_NO_TIME;
    reader->lone.invoke_at = RIG_POSITION_NONE;
    return rc == RIG_OK ? get_results(reader, tag, moment, &reader->lone) : rc;
}

static enum rig_rc get_forget(struct reader *reader, unsigned tag)
{
    uint64_t count = 0;
    if (tag != RIG_EVENT_FORGET)
        return damaged(reader, "an event that this version does not have");
    enum rig_rc rc = get_count(reader, &count);
    for (uint64_t i = 0; rc == RIG_OK && i < count; i++) {
        uint64_t distance;
        rc = get(reader, &distance);
        if (rc != RIG_OK)
            break;
        if (distance == 0 || distance > reader->definitions.count)
            return damaged(reader, "a key to forget that is not defined");
        struct definition *definition = &reader->definitions.at[reader->definitions.count - distance];
        rig_growing_list_release(&reader->pool, &definition->spine);
        definition->forgotten = true;
    }
    return rc;
}

static enum rig_rc read_events(struct reader *reader)
{
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && reader->at < reader->end) {
        unsigned tag = *reader->at++;
        switch (tag & RIG_EVENT_KIND_MASK) {
        case RIG_EVENT_INVOKE:
            rc = get_invocation(reader, tag);
            break;
        case RIG_EVENT_COMPLETE:
            rc = get_completion(reader, tag);
            break;
        case RIG_EVENT_LONE:
            rc = get_lone(reader, tag);
            break;
        default:
            rc = get_forget(reader, tag);
            break;
        }
    }
    return rc;
}

static enum rig_rc read_close(struct reader *reader)
{
    uint64_t flags = 0, event_count = 0;
    enum rig_rc rc = get(reader, &flags);
    if (rc == RIG_OK)
        rc = get(reader, &event_count);
    if (rc != RIG_OK)
        return rc;
    if (flags > RIG_CLOSE_FLAGS_KNOWN || left(reader) != 0)
        return damaged(reader, "a closing frame that this version does not have");
    if (event_count != reader->event_count)
        return damaged(reader, "another number of events than the closing frame says");
    reader->closed = true;
    reader->was_cut = (flags & RIG_CLOSE_CUT) != 0;
    return RIG_OK;
}

static enum rig_rc read_frame(struct reader *reader, const struct rig_frame *frame,
                              const struct rig_load_options *options)
{
    reader->at = frame->payload;
    reader->end = frame->payload + frame->size;
    if (!reader->has_header && frame->type == RIG_FRAME_HEADER)
        return read_header(reader, options);
    if (reader->has_header && frame->type == RIG_FRAME_EVENTS)
        return read_events(reader);
    if (reader->has_header && frame->type == RIG_FRAME_CLOSE)
        return read_close(reader);
    return damaged(reader, "a frame that does not belong here");
}

static enum rig_rc read_frames(struct reader *reader, size_t size, const struct rig_load_options *options)
{
    size_t offset = RIG_RECORD_START_BYTES;
    enum rig_rc rc = RIG_OK;
    for (uint64_t number = 0; rc == RIG_OK && offset < size; number++) {
        struct rig_frame frame;
        reader->at = reader->data + offset;
        if (reader->closed)
            return damaged(reader, "data behind the closing frame");
        if (!rig_frame_read(reader->at, size - offset, number, &frame))
            break;
        rc = read_frame(reader, &frame, options);
        offset += RIG_FRAME_HEAD_BYTES + frame.size;
    }
    return rc;
}

/* Without positions in the file: the ordinals become ranks by time. */
static enum rig_rc order_by_time(struct reader *reader)
{
    uint32_t count = (uint32_t)reader->events.count;
    if ((reader->flags & RIG_RECORD_POSITIONS) != 0 || rig_event_is_sorted(reader->events.at, count))
        return RIG_OK;
    struct rig_event_time *spare = malloc(count * sizeof *spare);
    uint32_t *position_of = malloc(count * sizeof *position_of);
    if (spare != NULL && position_of != NULL) {
        const struct rig_event_time *sorted = rig_event_sort(reader->events.at, spare, count);
        for (uint32_t i = 0; i < count; i++)
            position_of[sorted[i].ordinal] = i;
        rig_history_builder_renumber(reader->builder, position_of);
    }
    bool fits = spare != NULL && position_of != NULL;
    free(spare);
    free(position_of);
    return fits ? RIG_OK : no_memory(reader);
}

static enum rig_rc read_all(struct reader *reader, size_t size, const struct rig_load_options *options)
{
    enum rig_rc rc = read_frames(reader, size, options);
    if (rc != RIG_OK)
        return rc;
    if (!reader->has_header) {
        /* Cut before its header was whole: nothing was recorded, which is no error, unless the header is damaged. */
        reader->at = reader->data + RIG_RECORD_START_BYTES;
        if (size > RIG_RECORD_START_BYTES + RIG_FRAME_HEAD_BYTES &&
            rig_frame_is_whole(reader->at, size - RIG_RECORD_START_BYTES))
            return rig_fail(reader->err, RIG_E_INPUT, "%s: byte 16: the header is damaged; nothing can be read from it",
                            reader->name);
        reader->builder = rig_history_builder_new(
            options->workload_given ? options->workload : RIG_WORKLOAD_LIST_APPEND, options->limit_bytes);
        if (reader->builder == NULL)
            return no_memory(reader);
    }
    for (size_t i = 0; rc == RIG_OK && i < reader->slots.count; i++) {
        if (reader->slots.at[i].open)
            rc = add_open(reader, &reader->slots.at[i]);
    }
    if (rc == RIG_OK)
        rc = order_by_time(reader);
    if (rc == RIG_OK)
        rig_history_builder_mark(reader->builder, !reader->closed || reader->was_cut, reader->skipped_count);
    return rc;
}

static void reader_done(struct reader *reader)
{
    for (size_t i = 0; i < reader->slots.count; i++) {
        op_vec_done(&reader->slots.at[i].ops);
        id_vec_done(&reader->slots.at[i].definitions);
    }
    slot_vec_done(&reader->slots);
    op_vec_done(&reader->lone.ops);
    id_vec_done(&reader->lone.definitions);
    rig_list_pool_done(&reader->pool);
    definition_vec_done(&reader->definitions);
    error_text_vec_done(&reader->errors);
    rig_table_done(&reader->slot_of_client);
    read_vec_done(&reader->reads);
    list_read_vec_done(&reader->list_reads);
    hint_vec_done(&reader->hints);
    element_vec_done(&reader->elements);
    event_vec_done(&reader->events);
}

/* The file's version; the record may be cut anywhere. */
static enum rig_rc check_start(const char *name, const uint8_t *data, size_t size, struct rig_err *err)
{
    RIG_REQUIRE(rig_record_recognise(data, size));
    if (size < RIG_RECORD_START_BYTES)
        return RIG_OK;
    uint32_t version = (uint32_t)data[8] | (uint32_t)data[9] << 8 | (uint32_t)data[10] << 16 | (uint32_t)data[11] << 24;
    if (version != RIG_RECORD_VERSION)
        return rig_fail(err, RIG_E_INPUT,
                        "%s: byte 8: format version %u, and this rig reads version %d; use the rig that wrote it", name,
                        (unsigned)version, RIG_RECORD_VERSION);
    static const uint8_t zero[4] = {0};
    if (memcmp(data + 12, zero, sizeof zero) != 0)
        return rig_fail(err, RIG_E_INPUT, "%s: byte 12: the start is damaged; nothing can be read from it", name);
    return RIG_OK;
}

enum rig_rc rig_record_parse(const char *name, const void *data, size_t size, const struct rig_load_options *options,
                             struct rig_history **history, struct rig_err *err)
{
    struct reader reader = {.name = name, .data = data, .err = err};
    reader.limit_bytes = options->limit_bytes == 0 ? SIZE_MAX : options->limit_bytes;
    rig_list_pool_init(&reader.pool, options->limit_bytes);
    rig_table_init(&reader.slot_of_client);
    enum rig_rc rc = check_start(name, data, size, err);
    if (rc == RIG_OK)
        rc = read_all(&reader, size, options);
    if (rc == RIG_OK) {
        rc = rig_history_builder_finish(reader.builder, history, err);
        reader.builder = NULL;
    }
    rig_history_builder_free(reader.builder);
    reader_done(&reader);
    return rc;
}
