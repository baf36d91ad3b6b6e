/*
 * The fast path through the common text of an invocation and its completion.
 *
 *   "type":"invoke" ... "value":[["append",5,1],["r",5,null]]
 *   "type":"ok"     ... "value":[["append",5,1],["r",5,[1,2]]]
 *
 * Micro-operations are parsed once, in the invocation, if the text is short: brackets are found 64 bytes at a time, and
 * the text between two of them is read without a branch on its kind. The completion must then be the same text up to
 * each result, and only results are parsed.
 */
#ifndef RIG_HISTORY_TEXT_FAST_FAST_REPEAT_H
#define RIG_HISTORY_TEXT_FAST_FAST_REPEAT_H

#include "history/text/fast/fast_txn.h"
#include "history/text/part/part_keys.h"

/* A micro-operation as it is invoked. */
struct rig_fast_micro {
    bool reads;
    int64_t key, value;
    const char *value_at;
};

RIG_FAST char rig_fast_blank(enum rig_fast_syntax syntax)
{
    return syntax == RIG_FAST_EDN ? ' ' : ',';
}

/* The same for numbers of any length; false if they are malformed. `null_at`: the null that ends a read. */
RIG_FAST_RARE bool rig_fast_long_micro(struct rig_fast_micro *micro, const char *key_at, const char *close, char blank,
                                       const char *null_at)
{
    const char *behind = rig_number_rare(key_at, &micro->key);
    if (behind == NULL || *behind != blank)
        return false;
    micro->value_at = behind + 1;
    micro->value = 0;
    return micro->reads ? micro->value_at == null_at : rig_number_rare(micro->value_at, &micro->value) == close;
}

/* Reads the micro-operation from `at`, after a bracket, to the bracket at `close`. */
RIG_FAST bool rig_fast_read_micro(struct rig_fast_micro *micro, const struct rig_op_name names[2], const char *at,
                                  const char *close, enum rig_fast_syntax syntax)
{
    char blank = rig_fast_blank(syntax);
    micro->reads = at[1] == 'r';
    const struct rig_op_name *name = &names[micro->reads];
    const char *key_at = at + name->length;
    if ((rig_text_load(at) ^ name->word) << name->blind != 0 || key_at[-1] != blank)
        return false;
    struct rig_digits key = rig_digits_read(key_at);
    micro->key = (int64_t)key.value;
    micro->value_at = key_at + key.length + 1;
    /* null has no digits, so its value is 0, as required. */
    struct rig_digits value = rig_digits_read(micro->value_at);
    micro->value = (int64_t)value.value;
    bool is_null = rig_fast_is_null(micro->value_at, syntax);
    uint32_t length = value.length + (uint32_t)is_null * rig_fast_null_length(syntax);
    if (key.length != 0 && length != 0 && is_null == micro->reads && key_at[key.length] == blank &&
        micro->value_at + length == close)
        return true;
    const char *null_at = close - rig_fast_null_length(syntax);
    return rig_fast_long_micro(micro, key_at, close, blank, rig_fast_is_null(null_at, syntax) ? null_at : NULL);
}

/* The same in lanes, if the instruction set has them and the text fits; else NULL. */
RIG_FAST const char *rig_fast_invoked_lanes(struct rig_part *part, struct rig_part_process *process, const char *at,
                                            enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    const unsigned first_kind = part->type->write_op;
    struct rig_lane_txn txn;
    if (block->micros == NULL || !block->micros(at, &part->names[syntax].lanes, &part->slots, first_kind,
                                                process->short_ops, process->reads, &txn))
        return NULL;
    for (uint32_t missing = txn.missing; __builtin_expect(missing != 0, 0); missing &= missing - 1) {
        struct rig_txn_op *mop = &process->short_ops[__builtin_ctz(missing) / 2];
        mop->key = rig_part_number_key(part, mop->key);
        if (mop->key == RIG_TABLE_NONE)
            return NULL;
    }
    part->key_kinds |= 1U << RIG_KEY_NUMBER;
    process->op_count = txn.op_count;
    process->read_count = (uint8_t)txn.read_count;
    return at + txn.length;
}

/*
 * Reads the transaction at `at`, which the process invokes, into its short operations. Returns the position after it,
 * or NULL if it is long or unusual.
 */
RIG_FAST const char *rig_fast_invoked(struct rig_part *part, struct rig_part_process *process, const char *at,
                                      const char *limit, enum rig_fast_syntax syntax,
                                      const struct rig_text_block *block)
{
    const struct rig_op_name *names = part->names[syntax].at;
    struct rig_fast_micro micro;
    const char *const text = at, *from = at;
    const uint32_t first_kind = part->type->write_op;
    uint32_t count = 0, read_count = 0;
    if (at >= limit || at[0] != '[' || at[1] != '[')
        return NULL;
    const char *behind = rig_fast_invoked_lanes(part, process, at, syntax, block);
    if (__builtin_expect(behind != NULL, 1))
        return behind;
    at += 2;
    for (uint64_t closes = block->equal(from, ']');;) {
        while (closes == 0) {
            from += RIG_BLOCK_BYTES;
            if (from >= limit)
                return NULL;
            closes = block->equal(from, ']');
        }
        const char *close = from + (unsigned)__builtin_ctzll(closes);
        closes &= closes - 1;
        if (count == RIG_PART_SHORT_OPS || !rig_fast_read_micro(&micro, names, at, close, syntax))
            return NULL;
        uint32_t key = rig_part_number_key(part, micro.key);
        struct rig_txn_op *mop = &process->short_ops[count];
        *mop = (struct rig_txn_op){.key = key, .kind = (uint8_t)(first_kind + micro.reads)};
        mop->value = micro.value;
        process->reads[read_count].op = (uint16_t)count++;
        process->reads[read_count].result_at = (uint16_t)(micro.value_at - text);
        read_count += micro.reads;
        if (key == RIG_TABLE_NONE)
            return NULL;
        at = close + 3;
        if (close[1] == ']')
            break;
        if (close[1] != rig_fast_blank(syntax) || close[2] != '[')
            return NULL;
    }
    part->key_kinds |= 1U << RIG_KEY_NUMBER;
    process->op_count = count;
    process->read_count = (uint8_t)read_count;
    return at - 1 - text <= UINT16_MAX ? at - 1 : NULL;
}

/* Whether `length` bytes of the two texts are the same. */
RIG_FAST bool rig_fast_same_text(const char *at, const char *text, uint32_t length, const struct rig_text_block *block)
{
    for (; length > RIG_BLOCK_BYTES; length -= RIG_BLOCK_BYTES, at += RIG_BLOCK_BYTES, text += RIG_BLOCK_BYTES) {
        if (block->differing(at, text) != 0)
            return false;
    }
    return block->differing(at, text) << (RIG_BLOCK_BYTES - length) == 0;
}

/* Always copies all, to avoid a branch on their number. */
RIG_FAST void rig_fast_copy_ops(struct rig_txn_op *restrict to, const struct rig_txn_op *restrict from, uint16_t owner)
{
    for (uint32_t i = 0; i < RIG_PART_SHORT_OPS; i++) {
        to[i] = from[i];
        to[i].owner = owner;
    }
}

/*
 * Reads the transaction at `at` if it repeats what the process invoked: appends its micro-operations, with results,
 * after those of the segment. Returns the position after it, or NULL.
 */
RIG_FAST const char *rig_fast_repeated(struct rig_part *part, const struct rig_part_process *process, const char *at,
                                       const char *limit, bool grows, enum rig_fast_syntax syntax,
                                       const struct rig_text_block *block)
{
    struct rig_txn_op *ops = rig_part_room_for(part, RIG_PART_SHORT_OPS);
    const char *invoked = process->text;
    if (ops == NULL)
        return NULL;
    rig_fast_copy_ops(ops, process->short_ops, (uint16_t)part->segment->txns.count);
    for (uint32_t i = 0, count = process->read_count; i < count; i++) {
        const char *result = process->text + process->reads[i].result_at;
        uint32_t length = (uint32_t)(result - invoked);
        if (at + length >= limit || !rig_fast_same_text(at, invoked, length, block))
            return NULL;
        invoked = result + rig_fast_null_length(syntax);
        at = rig_fast_result(part, &ops[process->reads[i].op], at + length, limit, syntax, block, grows);
        if (at == NULL)
            return NULL;
    }
    uint32_t length = (uint32_t)(process->text_end - invoked);
    if (at + length >= limit || !rig_fast_same_text(at, invoked, length, block))
        return NULL;
    return at + length;
}

#endif
