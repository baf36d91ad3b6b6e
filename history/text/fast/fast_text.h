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

#endif
