#include "history/record/record_events.h"

#include <string.h>

#include "history/model/shared_value.h"
#include "history/record/record_lists.h"

/*
 * The forms of files, known at compile time, so that their differences cost nothing: version 1; version 2; and of
 * version 2 only lists and sets, without positions, with ascending times and event numbers far from their limit: with
 * side columns, and without.
 */
enum form { FORM_1, FORM_2, FORM_COLUMNS, FORM_PLAIN };

RIG_ALWAYS_INLINE bool is_plain(enum form form)
{
    return form == FORM_PLAIN || form == FORM_COLUMNS;
}

struct moment {
    int64_t time_ns;
    uint32_t position;
};

/* Rare cases are out of line, at the decoder's cursor. */
#define AWAY(decoder, cursor, call)                                                                                    \
    ((decoder)->cursor = *(cursor), away_rc = (call), *(cursor) = (decoder)->cursor, away_rc)

/* Takes the cursor by value: a cursor whose address escapes is not kept in registers. */
static enum rig_rc damaged_at(struct rig_record_decoder *decoder, struct rig_record_cursor cursor, const char *what)
{
    decoder->cursor = cursor;
    return cursor.bad != NULL ? rig_record_no_number(decoder) : rig_record_damaged(decoder, what);
}

/* ---- Parts of all events ---- */

/* Without positions in a file of version 1: these follow from the times, and a client's times ascend. */
RIG_ALWAYS_INLINE enum rig_rc note_time(struct rig_record_decoder *decoder, const struct rig_record_cursor *cursor,
                                        struct rig_record_slot *slot, int64_t time_ns, bool completion)
{
    bool backwards = completion ? time_ns < slot->last_ns : time_ns <= slot->last_ns;
    if (slot->has_process && backwards)
        return damaged_at(decoder, *cursor, "a client whose time runs backwards");
    slot->last_ns = time_ns;
    return RIG_OK;
}

/* The position: given, or the number of the event. */
RIG_ALWAYS_INLINE enum rig_rc get_position(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                           enum form form, uint32_t *position)
{
    if (!is_plain(form) && RIG_UNLIKELY(decoder->event_count >= RIG_POSITION_NONE - 1))
        return rig_fail(decoder->err, RIG_E_LIMIT, "%s: more than 4294967294 events", decoder->shape->name);
    *position = (uint32_t)decoder->event_count++;
    if (is_plain(form)) /* decode_events() keeps next_position */
        return RIG_OK;
    if ((decoder->shape->flags & RIG_RECORD_POSITIONS) != 0) {
        uint64_t gap = rig_cursor_number(cursor);
        if (RIG_UNLIKELY(gap >= RIG_POSITION_NONE - (uint64_t)decoder->next_position))
            return damaged_at(decoder, *cursor, "a position that does not fit 32 bits");
        *position = decoder->next_position + (uint32_t)gap;
    }
    decoder->next_position = *position + 1;
    return RIG_OK;
}

/* In version 1 without positions these follow from the times, which are in order except for late events. */
RIG_ALWAYS_INLINE enum rig_rc note_order(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                         unsigned tag, bool completion, struct moment moment, int64_t last)
{
    if (RIG_UNLIKELY((tag & RIG_EVENT_NO_TIME) != 0))
        return damaged_at(decoder, *cursor, "an event with neither time nor position");
    bool descends = moment.time_ns < last || (moment.time_ns == last && decoder->last_was_completion && !completion);
    if (RIG_UNLIKELY(descends) && moment.position > 0)
        decoder->segment->unordered = true;
    decoder->last_was_completion = completion;
    return RIG_OK;
}

RIG_ALWAYS_INLINE enum rig_rc get_moment(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                         unsigned tag, bool completion, enum form form, struct moment *moment)
{
    int64_t last = decoder->last_time;
    enum rig_rc rc = get_position(decoder, cursor, form, &moment->position);
    moment->time_ns = RIG_NO_TIME;
    if (RIG_UNLIKELY(rc != RIG_OK))
        return rc;
    if (RIG_LIKELY((tag & RIG_EVENT_NO_TIME) == 0)) {
        uint64_t difference = rig_cursor_number(cursor);
        bool is_signed = form == FORM_1 || (form == FORM_2 && (decoder->shape->flags & RIG_RECORD_TIMES_DESCEND) != 0);
        moment->time_ns = rig_sum(last, is_signed ? rig_unzigzag(difference) : (int64_t)difference);
        if (RIG_UNLIKELY(!is_signed && moment->time_ns < last))
            return damaged_at(decoder, *cursor, "a time that runs backwards");
        decoder->last_time = moment->time_ns;
    }
    bool ordered = form != FORM_1 || (decoder->shape->flags & RIG_RECORD_POSITIONS) != 0;
    return ordered ? RIG_OK : note_order(decoder, cursor, tag, completion, *moment, last);
}

/* The client's slot; `same`: the client is that of the last event. */
RIG_ALWAYS_INLINE enum rig_rc get_slot(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor, bool same,
                                       enum form form, struct rig_record_slot **slot)
{
    if (form != FORM_1 && same) {
        if (RIG_UNLIKELY(decoder->last_slot >= decoder->slots.count))
            return damaged_at(decoder, *cursor, "the client of the last event where there is none");
        *slot = &decoder->slots.at[decoder->last_slot];
        return RIG_OK;
    }
    uint64_t client = rig_cursor_number(cursor);
    if (RIG_LIKELY(client < decoder->direct_slots.count && decoder->direct_slots.at[client] != 0)) {
        decoder->last_slot = decoder->direct_slots.at[client] - 1;
        *slot = &decoder->slots.at[decoder->last_slot];
        return RIG_OK;
    }
    if (client > INT32_MAX || cursor->bad != NULL)
        return damaged_at(decoder, *cursor, "a client number that does not fit 31 bits");
    *slot = rig_record_find_slot(decoder, (uint32_t)client);
    if (*slot == NULL)
        return rig_record_no_memory(decoder);
    decoder->last_slot = (size_t)(*slot - decoder->slots.at);
    return RIG_OK;
}

static enum rig_rc check_process(struct rig_record_decoder *decoder, int64_t process)
{
    if (process >= INT32_MIN && process <= INT32_MAX)
        return RIG_OK;
    return rig_fail(decoder->err, RIG_E_INPUT,
                    "%s: byte %zu: process %lld does not fit 32 bits; renumber the processes", decoder->shape->name,
                    rig_record_offset(decoder), (long long)process);
}

/* ---- Operations ---- */

/* An operation's key and whether it reads: (distance << 1) | reads. */
static uint64_t get_op_code(struct rig_record_decoder *decoder)
{
    struct rig_record_cursor *cursor = &decoder->cursor;
    if (decoder->shape->version == 1 || cursor->at >= cursor->end)
        return rig_cursor_number(cursor);
    uint64_t code = *cursor->at++;
    if (code >> 1 < RIG_OP_FAR)
        return code;
    /* Other first bytes become an impossible distance. */
    uint64_t far = code >> 1 == RIG_OP_FAR ? rig_cursor_number(cursor) : UINT64_MAX >> 1;
    return far > UINT32_MAX ? UINT64_MAX : (RIG_OP_FAR + far) << 1 | (code & 1);
}

/* Any operation `i` of the slot, at the decoder's cursor. */
static enum rig_rc get_any_op(struct rig_record_decoder *decoder, struct rig_record_slot *slot, uint64_t i)
{
    uint64_t code = get_op_code(decoder), distance = code >> 1;
    bool reads = (code & 1) != 0;
    if (distance > decoder->keys.count)
        return damaged_at(decoder, decoder->cursor, "an operation on a key that is not defined");
    if (distance == 0) {
        if (decoder->cursor.bad != NULL)
            return damaged_at(decoder, decoder->cursor, "");
        enum rig_rc rc = rig_record_define_key(decoder);
        if (rc != RIG_OK)
            return rc;
        distance = 1;
    }
    uint32_t number = (uint32_t)(decoder->keys.count - distance);
    struct rig_record_key *key = &decoder->keys.at[number];
    if (key->forgotten)
        return damaged_at(decoder, decoder->cursor, "an operation on a key that was forgotten");
    if (key->stamp != decoder->stamp && !rig_record_use_key(decoder, key))
        return rig_record_no_memory(decoder);
    if (!reads)
        key->last_value = rig_sum(key->last_value, rig_cursor_signed(&decoder->cursor));
    slot->keys[i] = number;
    slot->ops[i] = (struct rig_txn_op){.key = key->local,
                                       .kind = (uint8_t)((unsigned)decoder->shape->type->write_op + (unsigned)reads),
                                       .value = reads ? 0 : key->last_value};
    return RIG_OK;
}

/*
 * The next operation of the slot if it is a usual one: version 2, a near key that was used in this segment, and a value
 * that differs from the last one by a byte. There is no branch on reads and writes, whose order is unpredictable. Takes
 * nothing otherwise.
 */
RIG_ALWAYS_INLINE bool get_usual_op(struct rig_record_cursor *cursor, struct rig_record_key *keys, uint64_t key_count,
                                    uint32_t stamp, unsigned kind, uint32_t *number, struct rig_txn_op *mop)
{
    if (RIG_UNLIKELY(rig_cursor_left(cursor) < 2))
        return false;
    uint64_t code = cursor->at[0], difference = cursor->at[1], distance = code >> 1, reads = code & 1;
    uint64_t farthest = key_count < RIG_OP_FAR ? key_count : RIG_OP_FAR - 1;
    if (RIG_UNLIKELY(distance - 1 >= farthest))
        return false;
    uint64_t index = key_count - distance;
    struct rig_record_key *key = &keys[index];
    if (RIG_UNLIKELY((key->stamp != stamp) | ((difference >> 7) > reads)))
        return false;
    int64_t mask = (int64_t)reads - 1;
    key->last_value = rig_sum(key->last_value, rig_unzigzag(difference) & mask);
    cursor->at += 2 - reads;
    *number = (uint32_t)index;
    mop->key = key->local;
    mop->kind = (uint8_t)(kind + (unsigned)reads);
    mop->read_state = RIG_READ_UNKNOWN;
    mop->value = key->last_value & mask;
    return true;
}

/* Operations as the slot's. */
RIG_ALWAYS_INLINE enum rig_rc get_ops(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                      struct rig_record_slot *slot, uint64_t op_count, enum form form)
{
    enum rig_rc away_rc;
    const unsigned kind = decoder->shape->type->write_op;
    struct rig_record_key *keys = decoder->keys.at;
    uint64_t key_count = decoder->keys.count;
    uint32_t stamp = decoder->stamp;
    uint64_t reads = 0;
    slot->op_count = 0;
    if (RIG_UNLIKELY(op_count > slot->op_capacity) && !rig_record_slot_reserve(decoder, slot, op_count))
        return rig_record_no_memory(decoder);
    struct rig_txn_op *ops = slot->ops;
    uint32_t *numbers = slot->keys;
    for (uint64_t i = 0; i < op_count; i++) {
        if (form == FORM_1 || RIG_UNLIKELY(!get_usual_op(cursor, keys, key_count, stamp, kind, &numbers[i], &ops[i]))) {
            if (AWAY(decoder, cursor, get_any_op(decoder, slot, i)) != RIG_OK)
                return away_rc;
            keys = decoder->keys.at;
            key_count = decoder->keys.count;
        }
        reads |= (uint64_t)(ops[i].kind & 1U) << (i & 63);
    }
    slot->op_count = (uint32_t)op_count;
    slot->reads = reads;
    slot->stamp = stamp;
    return RIG_OK;
}

/* ---- Results ---- */

/* Whether one of the first `count` <= RIG_FEW_ELEMENTS bytes at `from` (all readable) is not a complete number. */
RIG_ALWAYS_INLINE bool any_is_long(const uint8_t *from, uint64_t count)
{
    static const uint8_t masks[RIG_FEW_ELEMENTS + 1][RIG_FEW_ELEMENTS] = {
        {0}, {0x80}, {0x80, 0x80}, {0x80, 0x80, 0x80}, {0x80, 0x80, 0x80, 0x80}};
    uint32_t bytes, mask;
    memcpy(&bytes, from, sizeof bytes);
    memcpy(&mask, masks[count], sizeof mask);
    return (bytes & mask) != 0;
}

/*
 * A list that is a prefix of the spine, or continues it by a few usual elements, for which the spine has spare room:
 * the branch is unpredictable, so elements are always stored, into spare room past the end. Takes nothing for other
 * lists. The number of elements that it adds, or UINT64_MAX.
 */
RIG_ALWAYS_INLINE uint64_t get_few_more(struct rig_record_cursor *cursor, const struct rig_record_key *key,
                                        uint64_t goes_on, uint64_t steps)
{
    uint64_t more = (steps + 1) & (0 - goes_on), fewer = steps & (goes_on - 1);
    uint32_t count = key->spine.count;
    if (RIG_UNLIKELY((count == 0) | (fewer > count) | (more > RIG_FEW_ELEMENTS) |
                     (rig_cursor_left(cursor) < RIG_FEW_ELEMENTS) |
                     ((size_t)count + RIG_FEW_ELEMENTS > (size_t)RIG_LIST_SMALLEST_ROOM << key->spine.room_class)))
        return UINT64_MAX;
    const uint8_t *from = cursor->at;
    if (RIG_UNLIKELY(any_is_long(from, more)))
        return UINT64_MAX;
    int64_t *to = key->spine.at + count;
    int64_t last = to[-1];
    for (uint64_t i = 0; i < RIG_FEW_ELEMENTS; i++)
        to[i] = last = rig_sum(last, rig_unzigzag(from[i]));
    cursor->at += more;
    return more;
}

RIG_ALWAYS_INLINE enum rig_rc get_list(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                       uint32_t number, enum rig_outcome outcome, uint64_t code, enum form form,
                                       struct rig_txn_op *mop)
{
    enum rig_rc away_rc;
    struct rig_record_key *key = &decoder->keys.at[number];
    uint64_t goes_on = (code - RIG_READ_CODE_PREFIX) & 1, steps = (code - RIG_READ_CODE_PREFIX) / 2, more = UINT64_MAX;
    mop->read_state = RIG_READ_SEEN;
    if (form != FORM_1 && RIG_LIKELY((code != RIG_READ_CODE_APART) & (key->stamp == decoder->stamp)))
        more = get_few_more(cursor, key, goes_on, steps);
    if (form == FORM_1 || RIG_UNLIKELY(more == UINT64_MAX))
        return AWAY(decoder, cursor, rig_record_get_list(decoder, number, outcome, code, mop));
    uint32_t count = key->spine.count;
    if (RIG_UNLIKELY((goes_on & (uint64_t)(outcome == RIG_OUTCOME_FAIL)) != 0))
        return rig_record_place_branch(decoder, key, count, key->spine.at + count, (uint32_t)more, mop)
                   ? RIG_OK
                   : rig_record_no_memory(decoder);
    key->spine.count = key->good = count + (uint32_t)more;
    mop->key = mop->list = key->local;
    mop->count = key->spine.count - (uint32_t)(steps & (goes_on - 1));
    return RIG_OK;
}

RIG_ALWAYS_INLINE enum rig_rc get_read(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                       uint32_t number, enum rig_outcome outcome, enum form form,
                                       struct rig_txn_op *mop)
{
    uint64_t code = rig_cursor_number(cursor);
    if (code <= RIG_READ_CODE_NIL) {
        mop->read_state = code == RIG_READ_CODE_NIL ? RIG_READ_NIL : RIG_READ_UNKNOWN;
    } else if (is_plain(form) || rig_data_type_has_sequences(decoder->shape->type)) {
        enum rig_rc rc = get_list(decoder, cursor, number, outcome, code, form, mop);
        bool is_cut = !is_plain(form) && decoder->shape->type->shape >= RIG_RESULT_ROWS && mop->count % 2 != 0;
        return rc == RIG_OK && is_cut ? damaged_at(decoder, *cursor, "a row without a value") : rc;
    } else if (code == RIG_READ_CODE_PREFIX) {
        mop->read_state = RIG_READ_SEEN;
        mop->value = rig_sum(decoder->keys.at[number].last_value, rig_cursor_signed(cursor));
    } else if (code == RIG_READ_CODE_SHARED && (decoder->shape->flags & RIG_RECORD_SHARED_READS) != 0) {
        mop->value = rig_sum(decoder->keys.at[number].last_value, rig_cursor_signed(cursor));
        if (!rig_value_is_shared(mop->value))
            return damaged_at(decoder, *cursor, "a read of a value that no writes share");
    } else {
        return damaged_at(decoder, *cursor, "a sequence read from a type whose reads are single numbers");
    }
    return RIG_OK;
}

/* The results of the slot's reads from operation `base` on; the bits of `reads` select them. */
RIG_ALWAYS_INLINE enum rig_rc write_reads(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                          const struct rig_record_slot *slot, uint64_t reads, uint32_t base,
                                          enum rig_outcome outcome, enum form form, struct rig_txn_op *to)
{
    for (; reads != 0; reads &= reads - 1) {
        uint32_t i = base + (uint32_t)__builtin_ctzll(reads);
        enum rig_rc rc = get_read(decoder, cursor, slot->keys[i], outcome, form, &to[i]);
        if (RIG_UNLIKELY(rc != RIG_OK))
            return rc;
    }
    return RIG_OK;
}

/* The general form of a file: slower than a plain one, with the same results. */
static enum form form_of(const struct rig_record_decoder *decoder)
{
    return decoder->shape->version == 1 ? FORM_1 : FORM_2;
}

static enum rig_rc write_many_reads(struct rig_record_decoder *decoder, const struct rig_record_slot *slot,
                                    enum rig_outcome outcome, struct rig_txn_op *to)
{
    struct rig_record_cursor cursor = decoder->cursor;
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < slot->op_count && rc == RIG_OK; i++)
        rc = write_reads(decoder, &cursor, slot, slot->ops[i].kind & 1U, i, outcome, form_of(decoder), to);
    decoder->cursor = cursor;
    return rc;
}

/* Vectorized by the compiler. */
RIG_ALWAYS_INLINE void copy_ops(struct rig_txn_op *restrict to, const struct rig_txn_op *restrict from, uint32_t count,
                                uint16_t owner)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
        to[i].owner = owner;
    }
}

/* The slot's operations with their results: first all operations, then the reads, for few mispredicted branches. */
RIG_ALWAYS_INLINE enum rig_rc write_results(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                            struct rig_record_slot *slot, enum rig_outcome outcome, bool has_reads,
                                            uint16_t owner, enum form form)
{
    enum rig_rc away_rc;
    struct rig_txn_op_vec *ops = &decoder->segment->ops;
    uint32_t count = slot->op_count;
    size_t wanted = ops->count + count + RIG_SLOT_OPS;
    if (RIG_UNLIKELY(slot->stamp != decoder->stamp) && !rig_record_slot_localize(decoder, slot))
        return rig_record_no_memory(decoder);
    if (RIG_UNLIKELY(wanted > ops->capacity) && !rig_record_reserve_ops(decoder, wanted))
        return rig_record_no_memory(decoder);
    struct rig_txn_op *to = ops->at + ops->count;
    ops->count += count;
    if (RIG_LIKELY(count <= RIG_SLOT_OPS && count > 0))
        copy_ops(to, slot->ops, RIG_SLOT_OPS, owner); /* always this many: a loop with a predictable end */
    else
        copy_ops(to, slot->ops, count, owner);
    decoder->segment->owned &= count > 0;
    if (!has_reads)
        return RIG_OK;
    if (RIG_UNLIKELY(count > 64))
        return AWAY(decoder, cursor, write_many_reads(decoder, slot, outcome, to));
    return write_reads(decoder, cursor, slot, slot->reads, 0, outcome, form, to);
}

/* The common part of completions and lone completions: from the side columns on. */
RIG_ALWAYS_INLINE enum rig_rc get_results(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                          unsigned tag, struct moment moment, struct rig_record_slot *slot,
                                          enum form form)
{
    enum rig_rc away_rc;
    uint32_t error = 0;
    unsigned outcome = tag >> RIG_COMPLETE_OUTCOME_SHIFT & 3;
    if (RIG_UNLIKELY(outcome > RIG_OUTCOME_INFO))
        return damaged_at(decoder, *cursor, "an outcome that this version does not have");
    const bool has_columns =
        form == FORM_COLUMNS || (form == FORM_2 && (decoder->shape->flags & RIG_RECORD_COLUMNS) != 0);
    if (has_columns && AWAY(decoder, cursor, rig_record_get_columns(decoder, slot)) != RIG_OK)
        return away_rc;
    if (RIG_UNLIKELY((tag & RIG_COMPLETE_ERROR) != 0) &&
        AWAY(decoder, cursor, rig_record_get_error(decoder, &error)) != RIG_OK)
        return away_rc;
    struct rig_segment *segment = decoder->segment;
    struct rig_txn_vec *txns = &segment->txns;
    if (RIG_UNLIKELY(txns->count == txns->capacity) && !rig_txn_vec_reserve(txns, txns->count + 1))
        return rig_record_no_memory(decoder);
    /* Field by field: copying a struct that was just stored would stall. */
    struct rig_txn *txn = &txns->at[txns->count++];
    txn->invoke_ns = slot->invoke_ns;
    txn->complete_ns = moment.time_ns;
    txn->invoke_at = slot->invoke_at;
    txn->complete_at = moment.position;
    txn->first_op = (uint32_t)segment->ops.count;
    txn->process = (int32_t)slot->process;
    txn->error = error;
    txn->outcome = (uint8_t)outcome;
    txn->settled = RIG_SETTLED_NOT;
    decoder->txn_count++;
    return write_results(decoder, cursor, slot, (enum rig_outcome)outcome, (tag & RIG_COMPLETE_READS) != 0,
                         (uint16_t)(txns->count - 1), form);
}

/* ---- Events ---- */

/* The process, and the intended start, which a history in memory does not have. `told`: RIG_UNUSUAL_... */
RIG_ALWAYS_INLINE enum rig_rc get_process(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                          struct rig_record_slot *slot, unsigned told)
{
    if ((told & RIG_UNUSUAL_SAME_PROCESS) == 0) {
        slot->process = rig_cursor_signed(cursor);
        decoder->cursor = *cursor;
        enum rig_rc rc = check_process(decoder, slot->process);
        if (rc != RIG_OK)
            return rc;
    } else if (RIG_UNLIKELY(!slot->has_process)) {
        return damaged_at(decoder, *cursor, "a client without a process");
    }
    slot->has_process = true;
    if ((told & RIG_UNUSUAL_ON_TIME) == 0)
        (void)rig_cursor_signed(cursor);
    return RIG_OK;
}

/* Sets RIG_UNUSUAL_... for the parts of the invocation that are as usual. */
RIG_ALWAYS_INLINE enum rig_rc get_told(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                       unsigned tag, enum form form, unsigned *told)
{
    *told = RIG_UNUSUAL_SAME_PROCESS | RIG_UNUSUAL_ON_TIME;
    if (form == FORM_1) {
        *told = ((tag & RIG_INVOKE_SAME_PROCESS_1) != 0 ? RIG_UNUSUAL_SAME_PROCESS : 0U) |
                ((tag & RIG_INVOKE_ON_TIME_1) != 0 ? RIG_UNUSUAL_ON_TIME : 0U);
    } else if (RIG_UNLIKELY((tag & RIG_INVOKE_USUAL) == 0)) {
        if (cursor->at >= cursor->end || *cursor->at > RIG_UNUSUAL_KNOWN)
            return damaged_at(decoder, *cursor, "an invocation that this version does not have");
        *told = *cursor->at++;
    }
    return RIG_OK;
}

RIG_ALWAYS_INLINE enum rig_rc get_invocation(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                             unsigned tag, enum form form)
{
    struct rig_record_slot *slot = NULL;
    struct moment moment = {0};
    unsigned told;
    enum rig_rc rc = get_told(decoder, cursor, tag, form, &told);
    if (rc == RIG_OK)
        rc = get_slot(decoder, cursor, (tag & RIG_INVOKE_SAME_CLIENT) != 0, form, &slot);
    if (rc == RIG_OK)
        rc = get_moment(decoder, cursor, tag, false, form, &moment);
    if (rc == RIG_OK && form == FORM_1 && (decoder->shape->flags & RIG_RECORD_POSITIONS) == 0)
        rc = note_time(decoder, cursor, slot, moment.time_ns, false);
    if (RIG_UNLIKELY(rc != RIG_OK))
        return rc;
    if (RIG_UNLIKELY(slot->open) && !rig_record_abandon(decoder, slot))
        return rig_record_no_memory(decoder);
    rc = get_process(decoder, cursor, slot, told);
    uint64_t op_count = tag >> RIG_INVOKE_COUNT_SHIFT;
    if (RIG_UNLIKELY(op_count == RIG_INVOKE_COUNT_FOLLOWS)) {
        op_count = rig_cursor_number(cursor);
        if (rc == RIG_OK && op_count > rig_cursor_left(cursor))
            rc = damaged_at(decoder, *cursor, "a count larger than the frame");
    }
    if (RIG_UNLIKELY(rc != RIG_OK))
        return rc;
    slot->open = true;
    slot->invoke_ns = moment.time_ns;
    slot->invoke_at = moment.position;
    return get_ops(decoder, cursor, slot, op_count, form);
}

RIG_ALWAYS_INLINE enum rig_rc get_completion(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                             unsigned tag, enum form form)
{
    struct rig_record_slot *slot = NULL;
    struct moment moment = {0};
    bool same = (tag & RIG_COMPLETE_SAME_CLIENT) != 0;
    if (form == FORM_1 && same)
        return damaged_at(decoder, *cursor, "an outcome that this version does not have");
    enum rig_rc rc = get_slot(decoder, cursor, same, form, &slot);
    if (rc == RIG_OK)
        rc = get_moment(decoder, cursor, tag, true, form, &moment);
    if (rc == RIG_OK && RIG_UNLIKELY(!slot->open))
        rc = damaged_at(decoder, *cursor, "a completion of a client without an open transaction");
    if (rc == RIG_OK && form == FORM_1 && (decoder->shape->flags & RIG_RECORD_POSITIONS) == 0)
        rc = note_time(decoder, cursor, slot, moment.time_ns, true);
    if (RIG_UNLIKELY(rc != RIG_OK))
        return rc;
    slot->open = false;
    return get_results(decoder, cursor, tag, moment, slot, form);
}

RIG_ALWAYS_INLINE enum rig_rc get_lone(struct rig_record_decoder *decoder, struct rig_record_cursor *cursor,
                                       unsigned tag, enum form form)
{
    struct rig_record_slot *lone = &decoder->lone;
    struct moment moment = {0};
    if (form == FORM_1 && (decoder->shape->flags & RIG_RECORD_POSITIONS) == 0)
        return damaged_at(decoder, *cursor, "a completion without invocation and position");
    if ((tag & RIG_COMPLETE_SAME_CLIENT) != 0)
        return damaged_at(decoder, *cursor, "an outcome that this version does not have");
    decoder->has_lone = true;
    lone->invoke_ns = RIG_NO_TIME;
    lone->invoke_at = RIG_POSITION_NONE;
    enum rig_rc rc = get_moment(decoder, cursor, tag, true, form, &moment);
    if (rc != RIG_OK)
        return rc;
    lone->process = rig_cursor_signed(cursor);
    uint64_t op_count = rig_cursor_number(cursor);
    if (op_count > rig_cursor_left(cursor))
        return damaged_at(decoder, *cursor, "a count larger than the frame");
    decoder->cursor = *cursor;
    rc = check_process(decoder, lone->process);
    if (rc == RIG_OK)
        rc = get_ops(decoder, cursor, lone, op_count, form);
    return rc == RIG_OK ? get_results(decoder, cursor, tag, moment, lone, form) : rc;
}

/* Like the events below, at the decoder's cursor. */
static enum rig_rc get_forget(struct rig_record_decoder *decoder, unsigned tag)
{
    struct rig_record_cursor *cursor = &decoder->cursor;
    if (tag != RIG_EVENT_FORGET)
        return damaged_at(decoder, *cursor, "an event that this version does not have");
    uint64_t count = rig_cursor_number(cursor);
    if (count > rig_cursor_left(cursor))
        return damaged_at(decoder, *cursor, "a count larger than the frame");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t distance = rig_cursor_number(cursor);
        if (distance == 0 || distance > decoder->keys.count)
            return damaged_at(decoder, *cursor, "a key to forget that is not defined");
        struct rig_record_key *key = &decoder->keys.at[decoder->keys.count - distance];
        if (!rig_record_settle_key(decoder, key))
            return rig_record_no_memory(decoder);
        rig_growing_list_release(&decoder->pool, &key->spine);
        key->good = 0;
        key->forgotten = true;
    }
    return RIG_OK;
}

static enum rig_rc get_fault_text(struct rig_record_decoder *decoder, const char **text)
{
    struct rig_record_cursor *cursor = &decoder->cursor;
    const uint64_t length = rig_cursor_number(cursor);
    if (length > rig_cursor_left(cursor) || memchr(cursor->at, '\0', (size_t)length) != NULL)
        return damaged_at(decoder, *cursor, "a text that is longer than the frame, or has a NUL in it");
    *text = rig_arena_text(&decoder->segment->texts, (const char *)cursor->at, (size_t)length);
    cursor->at += length;
    return *text == NULL ? rig_record_no_memory(decoder) : RIG_OK;
}

static enum rig_rc get_fault(struct rig_record_decoder *decoder, unsigned tag)
{
    struct rig_record_cursor *cursor = &decoder->cursor;
    struct rig_fault_event event = {.step = (uint8_t)(tag >> RIG_FAULT_STEP_SHIFT & 3),
                                    .failed = (tag & RIG_FAULT_FAILED) != 0};
    struct moment moment = {0};
    if ((decoder->shape->flags & RIG_RECORD_FAULTS) == 0 || (tag & ~(unsigned)RIG_FAULT_TAG_KNOWN) != 0)
        return damaged_at(decoder, *cursor, "an event that this version does not have");
    enum rig_rc rc = get_moment(decoder, cursor, tag, true, FORM_2, &moment);
    if (rc != RIG_OK)
        return rc;
    const uint64_t injection = rig_cursor_number(cursor);
    if (injection > UINT32_MAX)
        return damaged_at(decoder, *cursor, "the number of an injection that does not fit 32 bits");
    event.time_ns = moment.time_ns;
    event.position = moment.position;
    event.injection = (uint32_t)injection;
    rc = get_fault_text(decoder, &event.fault);
    if (rc == RIG_OK)
        rc = get_fault_text(decoder, &event.targets);
    if (rc == RIG_OK)
        rc = get_fault_text(decoder, &event.text);
    if (rc != RIG_OK)
        return rc;
    event.ok = rig_cursor_number(cursor);
    event.fail = rig_cursor_number(cursor);
    event.info = rig_cursor_number(cursor);
    return rig_fault_event_vec_add(&decoder->segment->faults, event) ? RIG_OK : rig_record_no_memory(decoder);
}

/* Once for each form. */
RIG_ALWAYS_INLINE enum rig_rc decode_events(struct rig_record_decoder *decoder, const uint8_t *stop, enum form form)
{
    struct rig_record_cursor cursor = decoder->cursor;
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && cursor.at < stop) {
        unsigned tag = *cursor.at++;
        switch (tag & RIG_EVENT_KIND_MASK) {
        case RIG_EVENT_INVOKE:
            rc = get_invocation(decoder, &cursor, tag, form);
            break;
        case RIG_EVENT_COMPLETE:
            rc = get_completion(decoder, &cursor, tag, form);
            break;
        case RIG_EVENT_LONE:
            rc = get_lone(decoder, &cursor, tag, form);
            break;
        default:
            decoder->cursor = cursor;
            rc = form != FORM_1 ? get_fault(decoder, tag) : get_forget(decoder, tag);
            cursor = decoder->cursor;
            break;
        }
    }
    if (rc == RIG_OK && cursor.bad != NULL)
        return damaged_at(decoder, cursor, "");
    decoder->cursor = cursor;
    return rc;
}

/* Rows are checked to be complete, which the plain forms do not do. */
static bool is_plain_type(const struct rig_data_type *type)
{
    return type->shape == RIG_RESULT_LIST || type->shape == RIG_RESULT_SET;
}

enum rig_rc rig_record_decode_events(struct rig_record_decoder *decoder, const uint8_t *stop)
{
    const struct rig_record_shape *shape = decoder->shape;
    const unsigned other = RIG_RECORD_POSITIONS | RIG_RECORD_TIMES_DESCEND;
    if (shape->version == 1)
        return decode_events(decoder, stop, FORM_1);
    if ((shape->flags & other) != 0 || !is_plain_type(shape->type) ||
        decoder->event_count + rig_cursor_left(&decoder->cursor) >= RIG_POSITION_NONE - 1)
        return decode_events(decoder, stop, FORM_2);
    const bool has_columns = (shape->flags & RIG_RECORD_COLUMNS) != 0;
    enum rig_rc rc =
        has_columns ? decode_events(decoder, stop, FORM_COLUMNS) : decode_events(decoder, stop, FORM_PLAIN);
    decoder->next_position = (uint32_t)decoder->event_count;
    return rc;
}
