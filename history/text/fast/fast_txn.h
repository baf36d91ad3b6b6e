/*
 * The fast path through a transaction that repeats no parsed invocation, one micro-operation after the other.
 */
#ifndef RIG_HISTORY_TEXT_FAST_FAST_TXN_H
#define RIG_HISTORY_TEXT_FAST_FAST_TXN_H

#include "history/text/fast/fast_text.h"
#include "history/text/part/part_keys.h"
#include "history/text/part/part_lists.h"
#include "history/text/scan/list_text.h"

/*
 * The fast path through results: null, a number, or a list, which is mostly the spine of its key, a prefix of it, or
 * the spine and a few more numbers. Other lists are parsed number by number (history/text/part/part_lists.h).
 */

enum { RIG_FAST_NEW_NUMBERS = 16 /* more than this many are not added by the fast path */ };

RIG_FAST bool rig_fast_is_null(const char *at, enum rig_fast_syntax syntax)
{
    return syntax == RIG_FAST_EDN ? rig_fast_same(at, "nil", 3) : rig_fast_same(at, "null", 4);
}

RIG_FAST uint32_t rig_fast_null_length(enum rig_fast_syntax syntax)
{
    return syntax == RIG_FAST_EDN ? 3 : 4;
}

/*
 * Reads the new numbers of a list from `behind`, where the spine's text ends, to the closing bracket; the list's text
 * begins at `at`. `behind` is before the limit, and the numbers fit into a step after it. Mostly there are at most two.
 * The spine's text is then this one, which is nearer. Returns the position after the bracket, or NULL, with nothing
 * changed.
 */
RIG_FAST const char *rig_fast_new_numbers(struct rig_part *part, struct rig_txn_op *mop, const char *at,
                                          const char *behind, enum rig_fast_syntax syntax,
                                          const struct rig_text_block *block, bool grows)
{
    int64_t *numbers = rig_part_room_to_grow(part, mop->key, RIG_FAST_NEW_NUMBERS);
    uint32_t count = 0;
    if (numbers == NULL)
        return NULL;
    if (block->numbers != NULL) {
        uint32_t length;
        count = block->numbers(behind, &part->names[syntax].lanes, numbers, &length);
        if (count == RIG_LANES_NONE)
            return NULL;
        behind += length;
    }
    while (*behind != ']') {
        bool is_separated = *behind == ',' || (syntax == RIG_FAST_EDN && *behind == ' ');
        behind += 1 + (behind[1] == ' ');
        struct rig_digits number = rig_digits_read(behind);
        if (!is_separated || number.length == 0 || count == RIG_FAST_NEW_NUMBERS)
            return NULL;
        numbers[count++] = (int64_t)number.value;
        behind += number.length;
    }
    mop->count += count;
    return rig_part_has_grown(part, mop, count, at, (size_t)(behind - at), grows) ? behind + 1 : NULL;
}

/* Whether the transaction of `mop` wrote to its key before: then other transactions may never read the same list. */
RIG_FAST bool rig_fast_wrote(const struct rig_part *part, const struct rig_txn_op *mop)
{
    bool wrote = false;
    for (const struct rig_txn_op *op = part->segment->ops.at + part->segment->ops.count; op < mop; op++)
        wrote |= (op->key == mop->key) & !rig_op_reads(op->kind);
    return wrote;
}

/*
 * Reads the list from `at`, after its bracket, as the result of `mop`, which has its key. Returns the position after
 * the closing bracket, or NULL for an unusual list. `grows`: it may become the spine.
 */
RIG_FAST const char *rig_fast_list(struct rig_part *part, struct rig_txn_op *mop, const char *at, const char *limit,
                                   enum rig_fast_syntax syntax, const struct rig_text_block *block, bool grows)
{
    const struct rig_part_spine *spine = &part->spines.at[mop->key];
    bool commas = syntax == RIG_FAST_JSON;
    mop->list = mop->key;
    mop->count = 0;
    if (*at == ']')
        return at + 1;
    if (spine->length == 0)
        return rig_part_parse_list(part, mop, at, at, 0, commas, grows);
    size_t same = rig_list_match(block, spine->text, spine->length, at, limit);
    if (__builtin_expect(same == RIG_LIST_NO_MATCH, 0))
        return NULL;
    if (same < spine->length) {
        mop->count = rig_list_count(block, spine->text, same);
        if (at[same] == ']' && same > 0 && !rig_list_is_blank(at[same - 1]) && rig_list_is_blank(spine->text[same]))
            return rig_part_read_prefix(part, mop, grows) ? at + same + 1 : NULL;
        return rig_part_parse_list(part, mop, at, at + same, mop->count, commas, grows);
    }
    const char *behind = at + spine->length;
    mop->count = spine->count;
    bool is_longest = spine->count == part->segment->keys.at[mop->key].spine.count;
    if (is_longest && behind < limit && (grows || !rig_fast_wrote(part, mop))) {
        const char *closed = rig_fast_new_numbers(part, mop, at, behind, syntax, block, grows);
        if (closed != NULL)
            return closed;
    }
    return rig_part_parse_list(part, mop, at, behind, spine->count, commas, grows);
}

/* Reads the result at `at`; returns the position after it, or NULL. `grows`: a list may become the spine. Rows are
 * left to the grammar, which checks that they are complete. */
RIG_FAST const char *rig_fast_result(struct rig_part *part, struct rig_txn_op *mop, const char *at, const char *limit,
                                     enum rig_fast_syntax syntax, const struct rig_text_block *block, bool grows)
{
    if (rig_fast_is_null(at, syntax)) {
        mop->read_state = RIG_READ_NIL;
        part->has_null = true;
        return at + rig_fast_null_length(syntax);
    }
    mop->read_state = RIG_READ_SEEN;
    if (!rig_data_type_has_sequences(part->type))
        return rig_number_short(at, &mop->value);
    return *at == '[' && part->type->shape < RIG_RESULT_ROWS
               ? rig_fast_list(part, mop, at + 1, limit, syntax, block, grows)
               : NULL;
}

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
