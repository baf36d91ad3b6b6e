/*
 * The fast path through the fields before the transaction, for lines with the order and spacing of most files.
 *
 *   {"index":4,"type":"ok","process":0,"time":9120,"f":"txn","value":[
 *   {:index 4, :time 9120, :type :ok, :process 0, :f :txn, :value [
 */
#ifndef RIG_HISTORY_TEXT_FAST_FAST_HEAD_H
#define RIG_HISTORY_TEXT_FAST_FAST_HEAD_H

#include "history/text/fast/fast_text.h"

RIG_FAST bool rig_fast_type(struct rig_fast *fast, enum rig_fast_syntax syntax)
{
    if (RIG_FAST_TAKE_EITHER(fast, syntax, "\"invoke\"", ":invoke"))
        fast->type = RIG_OPERATION_INVOKE;
    else if (RIG_FAST_TAKE_EITHER(fast, syntax, "\"ok\"", ":ok"))
        fast->type = RIG_OPERATION_OK;
    else if (RIG_FAST_TAKE_EITHER(fast, syntax, "\"fail\"", ":fail"))
        fast->type = RIG_OPERATION_FAIL;
    else if (RIG_FAST_TAKE_EITHER(fast, syntax, "\"info\"", ":info"))
        fast->type = RIG_OPERATION_INFO;
    else
        return false;
    return true;
}

/* The digits at `at`; 0 for none, and for more than 16. */
RIG_FAST_RARE uint8_t rig_fast_width(const char *at)
{
    uint8_t width = 0;
    while (at[width] >= '0' && at[width] <= '9' && width <= 16)
        width++;
    return width > 16 ? 0 : width;
}

/* Whether a number of this width is at `at`. */
RIG_FAST bool rig_fast_is_wide(const char *at, unsigned width, int64_t *number, const struct rig_text_block *block)
{
    bool is_plain = ((unsigned char)(at[width] - '0') > 9) & ((*at != '0') | (width == 1));
    return block->number(at + width, width, number) & is_plain;
}

/*
 * The number at the cursor, which probably has as many digits as the one in the line before: the text after it can be
 * read before its end is found.
 */
RIG_FAST bool rig_fast_number_again(struct rig_fast *fast, uint8_t *width, int64_t *number,
                                    const struct rig_text_block *block)
{
    if (!rig_fast_is_wide(fast->at, *width, number, block)) {
        uint8_t other = rig_fast_width(fast->at);
        if (other == 0)
            return false;
        *width = other;
        if (!rig_fast_is_wide(fast->at, other, number, block))
            return false;
    }
    fast->at += *width;
    return true;
}

RIG_FAST bool rig_fast_head_process(struct rig_fast *fast, enum rig_fast_syntax syntax)
{
    if (RIG_FAST_TAKE_EITHER(fast, syntax, ",\"type\":\"invoke\",\"process\":", ", :type :invoke, :process "))
        fast->type = RIG_OPERATION_INVOKE;
    else if (RIG_FAST_TAKE_EITHER(fast, syntax, ",\"type\":\"ok\",\"process\":", ", :type :ok, :process "))
        fast->type = RIG_OPERATION_OK;
    else if (RIG_FAST_TAKE_EITHER(fast, syntax, ",\"type\":\"fail\",\"process\":", ", :type :fail, :process "))
        fast->type = RIG_OPERATION_FAIL;
    else if (RIG_FAST_TAKE_EITHER(fast, syntax, ",\"type\":\"info\",\"process\":", ", :type :info, :process "))
        fast->type = RIG_OPERATION_INFO;
    else
        return false;
    struct rig_digits process = rig_digits_read(fast->at);
    fast->process = (int64_t)process.value;
    fast->at += process.length;
    return process.length != 0;
}

RIG_FAST bool rig_fast_head_time(struct rig_fast *fast, enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    return RIG_FAST_TAKE_EITHER(fast, syntax, ",\"time\":", ", :time ") &&
           rig_fast_number_again(fast, &fast->part->time_width, &fast->time_ns, block);
}

/* Moves to the value of an operation that begins at the cursor, at least 16 bytes after the file's beginning. False,
 * with the cursor undefined, for a head of another kind. */
RIG_FAST bool rig_fast_head(struct rig_fast *fast, enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    if (!RIG_FAST_TAKE_EITHER(fast, syntax, "{\"index\":", "{:index ") ||
        !rig_fast_number_again(fast, &fast->part->index_width, &fast->index, block))
        return false;
    bool has_type_first = fast->at[syntax == RIG_FAST_EDN ? 4 : 3] == 'y';
    bool is_known = has_type_first ? rig_fast_head_process(fast, syntax) && rig_fast_head_time(fast, syntax, block)
                                   : rig_fast_head_time(fast, syntax, block) && rig_fast_head_process(fast, syntax);
    if (!is_known || !RIG_FAST_TAKE_EITHER(fast, syntax, ",\"f\":\"txn\",\"value\":", ", :f :txn, :value "))
        return false;
    fast->seen = RIG_FAST_INDEX | RIG_FAST_TYPE | RIG_FAST_PROCESS | RIG_FAST_TIME | RIG_FAST_VALUE;
    return true;
}

#endif
