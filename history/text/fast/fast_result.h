/*
 * The fast path through results: null, a number, or a list, which is mostly the spine of its key, a prefix of it, or
 * the spine and a few more numbers. Other lists are parsed number by number (history/text/part/part_lists.h).
 */
#ifndef RIG_HISTORY_TEXT_FAST_FAST_RESULT_H
#define RIG_HISTORY_TEXT_FAST_FAST_RESULT_H

#include "history/text/fast/fast_text.h"
#include "history/text/scan/list_text.h"
#include "history/text/part/part_lists.h"

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
    return *at == '[' && part->type->shape != RIG_RESULT_ROWS
               ? rig_fast_list(part, mop, at + 1, limit, syntax, block, grows)
               : NULL;
}

#endif
