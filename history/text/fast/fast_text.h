/*
 * Tokens of JSON and EDN as programs write them, compared eight bytes at a time, for the fast path through an operation
 * (history/text/fast/operation_fast.h).
 *
 * Nothing is read past the file's end: each step reads at most RIG_FAST_STEP bytes from the position that it compared
 * with the limit.
 */
#ifndef RIG_HISTORY_TEXT_FAST_FAST_TEXT_H
#define RIG_HISTORY_TEXT_FAST_FAST_TEXT_H

#include <string.h>

#include "history/text/part/operation_part.h"
#include "history/text/scan/text_block.h"

enum rig_fast_syntax { RIG_FAST_JSON, RIG_FAST_EDN };
enum { RIG_FAST_STEP = 256 };

enum rig_fast_field {
    RIG_FAST_INDEX = 1,
    RIG_FAST_TYPE = 2,
    RIG_FAST_PROCESS = 4,
    RIG_FAST_TIME = 8,
    RIG_FAST_VALUE = 16,
    RIG_FAST_ERROR = 32
};

#define RIG_FAST      __attribute__((always_inline)) static inline
#define RIG_FAST_RARE __attribute__((noinline, unused)) static

/* State of the fast path, and the operation's fields so far. */
struct rig_fast {
    struct rig_part *part;
    const char *at;    /* NULL: given up */
    const char *limit; /* no step starts from here on */
    unsigned seen;     /* bits of enum rig_fast_field */
    enum rig_operation_type type;
    int64_t index, process, time_ns;
    const char *error;
    size_t error_length;
    const char *value, *value_end; /* of an invocation: its text, with brackets */
    uint32_t count;                /* micro-operations of a completion that repeats nothing */
    /* The process that invokes the transaction, or whose invocation it repeats. */
    struct rig_part_process *pair;
};

/* A literal of at most eight bytes as a compile-time number. */
RIG_FAST uint64_t rig_fast_byte_of(const char *literal, size_t length, size_t at)
{
    return at < length ? (uint64_t)(unsigned char)literal[at] << at * 8 : 0;
}

/* Unrolled by hand, because a compiler might keep a loop. */
RIG_FAST uint64_t rig_fast_word_of(const char *literal, size_t length)
{
    return rig_fast_byte_of(literal, length, 0) | rig_fast_byte_of(literal, length, 1) |
           rig_fast_byte_of(literal, length, 2) | rig_fast_byte_of(literal, length, 3) |
           rig_fast_byte_of(literal, length, 4) | rig_fast_byte_of(literal, length, 5) |
           rig_fast_byte_of(literal, length, 6) | rig_fast_byte_of(literal, length, 7);
}

/* Compares eight bytes at once and ignores those after the literal. */
RIG_FAST bool rig_fast_same(const char *at, const char *literal, size_t length)
{
    return (rig_text_load(at) ^ rig_fast_word_of(literal, length)) << (64 - length * 8) == 0;
}

/* Whether the literal of at most 32 bytes is at the cursor; moves past it. */
RIG_FAST bool rig_fast_take(struct rig_fast *fast, const char *literal, size_t length)
{
    if (!rig_fast_same(fast->at, literal, length > 8 ? 8 : length) ||
        (length > 16 && !rig_fast_same(fast->at + 8, literal + 8, 8)) ||
        (length > 24 && !rig_fast_same(fast->at + 16, literal + 16, 8)) ||
        (length > 8 && !rig_fast_same(fast->at + length - 8, literal + length - 8, 8)))
        return false;
    fast->at += length;
    return true;
}

#define RIG_FAST_TAKE(fast, literal) rig_fast_take(fast, literal, sizeof(literal) - 1)
#define RIG_FAST_TAKE_EITHER(fast, syntax, json, edn)                                                                  \
    ((syntax) == RIG_FAST_EDN ? RIG_FAST_TAKE(fast, edn) : RIG_FAST_TAKE(fast, json))

/* After an item: skips a separator and an optional space. False if the sequence may end here. */
RIG_FAST bool rig_fast_separator(struct rig_fast *fast, enum rig_fast_syntax syntax)
{
    if (*fast->at != ',' && (syntax != RIG_FAST_EDN || *fast->at != ' '))
        return false;
    fast->at++;
    fast->at += *fast->at == ' ';
    return true;
}

/* --- texts --- */

/* The position after the closing quote of a string without escapes that starts at `at`, or NULL. */
RIG_FAST_RARE const char *rig_fast_string(const char *at, const char *limit)
{
    for (; *at != '"'; at++) {
        if (at >= limit || *at == '\\' || (unsigned char)*at < ' ')
            return NULL;
    }
    return at + 1;
}

/* The position after a keyword or similar token, or NULL to leave it to the grammar. */
RIG_FAST_RARE const char *rig_fast_word(const char *at, const char *limit)
{
    const char *from = at;
    for (; *at != ' ' && *at != ',' && *at != '}' && *at != ']'; at++) {
        bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
                        *at == '-' || *at == '_' || *at == '.' || *at == '/' || *at == ':' || *at == '?';
        if (at >= limit || !is_plain)
            return NULL;
    }
    return at == from ? NULL : at;
}

/*
 * The fast path through the fields before the transaction, for lines with the order and spacing of most files.
 *
 *   {"index":4,"type":"ok","process":0,"time":9120,"f":"txn","value":[
 *   {:index 4, :time 9120, :type :ok, :process 0, :f :txn, :value [
 */

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
