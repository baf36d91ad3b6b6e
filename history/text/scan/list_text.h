/*
 * Compares lists as text: how far a list that was read agrees with the longest list of its key.
 *
 * The text of a list is that between its brackets: digits, '-', and blanks (spaces and commas) between the numbers.
 * Most lists are prefixes of one that was read before, and comparing 64 bytes of text takes as long as parsing one
 * number.
 */
#ifndef RIG_HISTORY_TEXT_SCAN_LIST_TEXT_H
#define RIG_HISTORY_TEXT_SCAN_LIST_TEXT_H

#include "history/text/scan/text_block.h"

enum { RIG_LIST_STEP = 4 * RIG_BLOCK_BYTES };
#define RIG_LIST_NO_MATCH SIZE_MAX

static inline bool rig_list_is_blank(char c)
{
    return c == ' ' || c == ',';
}

/* The length of the common prefix over two successive stretches of `whole` bytes, from that in each. No branch. */
RIG_BLOCK_INLINE unsigned rig_list_both(unsigned first, unsigned second, unsigned whole)
{
    return first + (second & (0U - (first / whole)));
}

/*
 * The length of the common prefix of `text` and the spine, whose text has `spine_length` bytes and a closing bracket:
 * more than `spine_length` if the whole list is equal. RIG_LIST_NO_MATCH if that is not decided before `limit`: each
 * step begins before it, and reads RIG_LIST_STEP bytes of both.
 *
 * Always compares four blocks, because the length of a list is unpredictable.
 */
RIG_BLOCK_INLINE size_t rig_list_match(const struct rig_text_block *block, const char *spine, size_t spine_length,
                                       const char *text, const char *limit)
{
    for (size_t at = 0; text + at < limit; at += RIG_LIST_STEP) {
        uint64_t first = block->differing(spine + at, text + at);
        uint64_t second = block->differing(spine + at + 64, text + at + 64);
        uint64_t third = block->differing(spine + at + 128, text + at + 128);
        uint64_t fourth = block->differing(spine + at + 192, text + at + 192);
        unsigned before = rig_list_both(block->first(first), block->first(second), 64);
        unsigned behind = rig_list_both(block->first(third), block->first(fourth), 64);
        unsigned same = rig_list_both(before, behind, 128);
        if (__builtin_expect(same < RIG_LIST_STEP || at + RIG_LIST_STEP > spine_length, 1))
            return at + same;
    }
    return RIG_LIST_NO_MATCH;
}

/* How many numbers begin in the first `length` bytes of a list. */
RIG_BLOCK_INLINE uint32_t rig_list_count(const struct rig_text_block *block, const char *text, size_t length)
{
    const char last_blank = ','; /* characters of numbers are above the comma in ASCII, blanks are not */
    uint32_t count = 0;
    uint64_t carry = 0;
    for (size_t at = 0; at < length; at += RIG_BLOCK_BYTES) {
        uint64_t numbers = block->above(text + at, last_blank);
        uint64_t starts = numbers & ~(numbers << 1 | carry);
        if (length - at < RIG_BLOCK_BYTES)
            starts &= ((uint64_t)1 << (length - at)) - 1;
        count += (uint32_t)__builtin_popcountll(starts);
        carry = numbers >> 63;
    }
    return count;
}

#endif
