/*
 * The fast path through a transaction that repeats no parsed invocation, one micro-operation after the other.
 */
#ifndef RIG_HISTORY_TEXT_FAST_FAST_TXN_H
#define RIG_HISTORY_TEXT_FAST_FAST_TXN_H

#include "history/text/fast/fast_result.h"
#include "history/text/part/part_keys.h"

RIG_FAST_RARE const char *rig_fast_text_key(struct rig_part *part, const char *at, const char *limit,
                                            enum rig_fast_syntax syntax, uint32_t *key)
{
    bool is_keyword = syntax == RIG_FAST_EDN && *at == ':';
    if (!is_keyword && *at != '"')
        return NULL;
    const char *behind = is_keyword ? rig_fast_word(at + 1, limit) : rig_fast_string(at + 1, limit);
    if (behind == NULL)
        return NULL;
    size_t length = (size_t)(behind - at) - 1 - !is_keyword;
    part->key_kinds |= 1U << (is_keyword ? RIG_KEY_KEYWORD : RIG_KEY_TEXT);
    part->segment->keyword_keys |= is_keyword;
    *key = length < UINT32_MAX ? rig_part_text_key(part, at + 1, (uint32_t)length) : RIG_TABLE_NONE;
    return *key == RIG_TABLE_NONE ? NULL : behind;
}

RIG_FAST void rig_fast_key(struct rig_fast *fast, enum rig_fast_syntax syntax, uint32_t *key)
{
    int64_t number;
    const char *behind = rig_number_short(fast->at, &number);
    if (behind == NULL) {
        uint32_t text_key = RIG_TABLE_NONE;
        fast->at = rig_fast_text_key(fast->part, fast->at, fast->limit, syntax, &text_key);
        *key = text_key;
        return;
    }
    fast->part->key_kinds |= 1U << RIG_KEY_NUMBER;
    *key = rig_part_number_key(fast->part, number);
    fast->at = *key == RIG_TABLE_NONE ? NULL : behind;
}

/* Reads the bracket and the name, up to the key; *reads: whether it reads. */
RIG_FAST bool rig_fast_name(struct rig_fast *fast, enum rig_fast_syntax syntax, bool *reads)
{
    const char *at = fast->at + 1;
    *reads = at[1] == 'r';
    const struct rig_op_name *name = &fast->part->names[syntax].at[*reads];
    if (at[-1] != '[' || (rig_text_load(at) ^ name->word) << name->blind != 0 ||
        at[name->length - 1] != (syntax == RIG_FAST_EDN ? ' ' : ','))
        return false;
    fast->at = at + name->length;
    fast->at += *fast->at == ' ';
    return true;
}

/* Reads a result and the bracket after it. Before its type is known, an operation counts as one that did not fail. */
RIG_FAST bool rig_fast_read_result(struct rig_fast *fast, struct rig_txn_op *mop, enum rig_fast_syntax syntax,
                                   const struct rig_text_block *block)
{
    bool fails = (fast->seen & RIG_FAST_TYPE) != 0 && fast->type == RIG_OPERATION_FAIL;
    fast->at = rig_fast_result(fast->part, mop, fast->at, fast->limit, syntax, block, !fails);
    return fast->at != NULL && *fast->at++ == ']';
}

/* One micro-operation; `from`: the end of the one before. */
RIG_FAST bool rig_fast_micro(struct rig_fast *fast, const char *from, enum rig_fast_syntax syntax,
                             const struct rig_text_block *block)
{
    bool reads;
    uint32_t key;
    struct rig_txn_op *mop = rig_part_room(fast->part, fast->count);
    if (mop == NULL || fast->at >= fast->limit || !rig_fast_name(fast, syntax, &reads))
        return false;
    rig_fast_key(fast, syntax, &key);
    if (fast->at == NULL || fast->at >= fast->limit)
        return false;
    *mop = (struct rig_txn_op){.key = key, .kind = (uint8_t)(fast->part->type->write_op + (unsigned)reads)};
    struct rig_part_piece *piece = &fast->part->pieces[fast->count++ % RIG_PART_PIECES];
    bool has_value = rig_fast_separator(fast, syntax);
    *piece = (struct rig_part_piece){.at = from, .length = (uint32_t)(fast->at - from), .reads = reads};
    if (!has_value) /* of a read: unknown */
        return reads && *fast->at++ == ']';
    if (reads)
        return rig_fast_read_result(fast, mop, syntax, block);
    fast->at = rig_number_short(fast->at, &mop->value);
    if (fast->at == NULL || *fast->at++ != ']')
        return false;
    piece->length = (uint32_t)(fast->at - from);
    return true;
}

RIG_FAST bool rig_fast_txn(struct rig_fast *fast, enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    if (*fast->at++ != '[')
        return false;
    if (*fast->at == ']') {
        fast->at++;
        return true;
    }
    const char *from = fast->at;
    do {
        if (!rig_fast_micro(fast, from, syntax, block))
            return false;
        from = fast->at;
    } while (rig_fast_separator(fast, syntax));
    return *fast->at++ == ']';
}

/* Skips an invocation's transaction, up to the first two closing brackets: it is parsed later, if at all. */
RIG_FAST bool rig_fast_invoked_text(struct rig_fast *fast)
{
    fast->value = fast->at;
    if (fast->at >= fast->limit - 1 || *fast->at != '[' || fast->at[1] != '[')
        return false;
    do {
        fast->at = memchr(fast->at + 1, ']', (size_t)(fast->limit - fast->at - 1));
        if (fast->at == NULL || fast->at >= fast->limit - 1)
            return false;
    } while (fast->at[1] != ']');
    fast->at += 2;
    fast->value_end = fast->at;
    return true;
}

#endif
