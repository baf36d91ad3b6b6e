/*
 * The short way through an operation as programs write it: one function, made twice, for JSON and for EDN.
 *
 *   {"index":4,"type":"ok","process":0,"time":9120,"f":"txn","value":[["append",5,1],["r",5,[1,2]]]}
 *   {:index 4, :type :ok, :process 0, :time 9120, :f :txn, :value [[:append 5 1] [:r 5 [1 2]]]}
 *
 * Fields may come in any order, quickest in this one, with or without a space behind each colon and comma. Whatever
 * else there may be (escapes, comments, more spaces, values that are no transaction, processes that are no client, the
 * file's last bytes) makes it give up: nothing has happened then, and the grammar reads the operation again. So it need
 * not know what is wrong.
 *
 * What is invoked is not parsed: it is compared, as text, with what its completion repeats.
 *
 * Nothing is read behind the file's end: each step looks at no more than RIG_FAST_STEP bytes from where it has compared
 * with the limit. All functions are inlined into one, which keeps `struct rig_fast` in registers; those that are not
 * take no part of it.
 */
#ifndef RIG_HISTORY_OPERATION_FAST_H
#define RIG_HISTORY_OPERATION_FAST_H

#include <string.h>

#include "history/number_text.h"
#include "history/part_keys.h"
#include "history/part_lists.h"
#include "history/part_take.h"

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
    uint32_t count;                /* micro-operations of a completion */
};

/* A literal of at most eight bytes as a number that a compiler knows. */
RIG_FAST uint64_t rig_fast_byte_of(const char *literal, size_t length, size_t at)
{
    return at < length ? (uint64_t)(unsigned char)literal[at] << at * 8 : 0;
}

/* Without a loop, which a compiler might keep. */
RIG_FAST uint64_t rig_fast_word_of(const char *literal, size_t length)
{
    return rig_fast_byte_of(literal, length, 0) | rig_fast_byte_of(literal, length, 1) |
           rig_fast_byte_of(literal, length, 2) | rig_fast_byte_of(literal, length, 3) |
           rig_fast_byte_of(literal, length, 4) | rig_fast_byte_of(literal, length, 5) |
           rig_fast_byte_of(literal, length, 6) | rig_fast_byte_of(literal, length, 7);
}

/* Compares eight bytes at once, whatever there is behind the literal. */
RIG_FAST bool rig_fast_same(const char *at, const char *literal, size_t length)
{
    return (rig_text_load(at) ^ rig_fast_word_of(literal, length)) << (64 - length * 8) == 0;
}

/* Whether the literal of at most sixteen bytes is at the cursor; moves behind it. */
RIG_FAST bool rig_fast_take(struct rig_fast *fast, const char *literal, size_t length)
{
    if (!rig_fast_same(fast->at, literal, length > 8 ? 8 : length) ||
        (length > 8 && !rig_fast_same(fast->at + length - 8, literal + length - 8, 8)))
        return false;
    fast->at += length;
    return true;
}

#define RIG_FAST_TAKE(fast, literal) rig_fast_take(fast, literal, sizeof(literal) - 1)
#define RIG_FAST_TAKE_EITHER(fast, syntax, json, edn)                                                                  \
    ((syntax) == RIG_FAST_EDN ? RIG_FAST_TAKE(fast, edn) : RIG_FAST_TAKE(fast, json))

/* Behind an item: a separator and perhaps a space. False where the sequence may end. */
RIG_FAST bool rig_fast_separator(struct rig_fast *fast, enum rig_fast_syntax syntax)
{
    if (*fast->at != ',' && (syntax != RIG_FAST_EDN || *fast->at != ' '))
        return false;
    fast->at++;
    fast->at += *fast->at == ' ';
    return true;
}

/* --- texts --- */

/* A string without escapes whose first byte is at `at`; behind its closing quote, or NULL. */
RIG_FAST_RARE const char *rig_fast_string(const char *at, const char *limit)
{
    for (; *at != '"'; at++) {
        if (at >= limit || *at == '\\' || (unsigned char)*at < ' ')
            return NULL;
    }
    return at + 1;
}

/* Behind a keyword or another token of letters and the like, or NULL for what needs a closer look. */
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

/* Behind the value of a field that says nothing: a text, a keyword or a plain number; or NULL. */
RIG_FAST_RARE const char *rig_fast_skip(const char *at, const char *limit, enum rig_fast_syntax syntax)
{
    int64_t number;
    if (*at == '"')
        return rig_fast_string(at + 1, limit);
    if (*at == ':' && syntax == RIG_FAST_EDN)
        return rig_fast_word(at + 1, limit);
    if (syntax == RIG_FAST_EDN && rig_fast_same(at, "nil", 3))
        return at + 3;
    if (syntax == RIG_FAST_JSON && rig_fast_same(at, "null", 4))
        return at + 4;
    return rig_number_rare(at, &number);
}

/* Behind a field whose name is none of ours, from behind its quote or colon; or NULL. */
RIG_FAST_RARE const char *rig_fast_other(const char *at, const char *limit, enum rig_fast_syntax syntax)
{
    static const char *const ours[] = {"index", "type", "process", "time", "value", "error"};
    const char *behind = syntax == RIG_FAST_EDN ? rig_fast_word(at, limit) : rig_fast_string(at, limit);
    if (behind == NULL || *behind != (syntax == RIG_FAST_EDN ? ' ' : ':'))
        return NULL;
    size_t length = (size_t)(behind - at) - (syntax == RIG_FAST_JSON);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        if (length == strlen(ours[i]) && memcmp(at, ours[i], length) == 0)
            return NULL;
    }
    behind++;
    behind += syntax == RIG_FAST_JSON && *behind == ' ';
    return rig_fast_skip(behind, limit, syntax);
}

/* --- micro-operations --- */

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

/* The name, up to where the key begins: whether it reads. */
RIG_FAST bool rig_fast_name(struct rig_fast *fast, enum rig_fast_syntax syntax, bool *reads)
{
    bool lists = fast->part->facts.workload == RIG_WORKLOAD_LIST_APPEND;
    *reads = RIG_FAST_TAKE_EITHER(fast, syntax, "[\"r\",", "[:r ");
    if (!*reads && !(lists ? RIG_FAST_TAKE_EITHER(fast, syntax, "[\"append\",", "[:append ")
                           : RIG_FAST_TAKE_EITHER(fast, syntax, "[\"w\",", "[:w ")))
        return false;
    fast->at += *fast->at == ' ';
    return true;
}

/* What was read: null, a list or a number. */
RIG_FAST bool rig_fast_result(struct rig_fast *fast, enum rig_fast_syntax syntax, struct rig_mop *mop)
{
    if (*fast->at == 'n') {
        mop->read_state = RIG_READ_NIL;
        return RIG_FAST_TAKE_EITHER(fast, syntax, "null", "nil");
    }
    mop->read_state = RIG_READ_SEEN;
    if (fast->part->facts.workload != RIG_WORKLOAD_LIST_APPEND) {
        fast->at = rig_number_short(fast->at, &mop->value);
        return fast->at != NULL;
    }
    if (*fast->at != '[')
        return false;
    /* Before its type is known, the operation is taken for one that did not fail. */
    bool fails = (fast->seen & RIG_FAST_TYPE) != 0 && fast->type == RIG_OPERATION_FAIL;
    fast->at = rig_part_list_text(fast->part, mop, fast->at + 1, syntax == RIG_FAST_JSON, !fails);
    return fast->at != NULL;
}

/* One micro-operation; `from`: behind the one before. */
RIG_FAST bool rig_fast_micro(struct rig_fast *fast, enum rig_fast_syntax syntax, const char *from)
{
    bool reads;
    uint32_t key;
    struct rig_mop *mop = rig_part_room(fast->part, fast->count);
    if (mop == NULL || fast->at >= fast->limit || !rig_fast_name(fast, syntax, &reads))
        return false;
    rig_fast_key(fast, syntax, &key);
    if (fast->at == NULL || fast->at >= fast->limit)
        return false;
    *mop = (struct rig_mop){.key = key, .kind = (uint8_t)((unsigned)fast->part->facts.workload * 2 + reads)};
    struct rig_part_piece *piece = &fast->part->pieces[fast->count++ % RIG_PART_PIECES];
    bool has_value = rig_fast_separator(fast, syntax);
    *piece = (struct rig_part_piece){.at = from, .length = (uint32_t)(fast->at - from), .reads = reads};
    if (!has_value) /* of a read: not known */
        return reads && *fast->at++ == ']';
    if (reads)
        return rig_fast_result(fast, syntax, mop) && *fast->at++ == ']';
    fast->at = rig_number_short(fast->at, &mop->value);
    if (fast->at == NULL || *fast->at++ != ']')
        return false;
    piece->length = (uint32_t)(fast->at - from);
    return true;
}

RIG_FAST bool rig_fast_txn(struct rig_fast *fast, enum rig_fast_syntax syntax)
{
    if (*fast->at++ != '[')
        return false;
    if (*fast->at == ']') {
        fast->at++;
        return true;
    }
    const char *from = fast->at;
    do {
        if (!rig_fast_micro(fast, syntax, from))
            return false;
        from = fast->at;
    } while (rig_fast_separator(fast, syntax));
    return *fast->at++ == ']';
}

/* What is invoked, up to the first two closing brackets: parsed later, and only if need be. */
RIG_FAST bool rig_fast_invoked(struct rig_fast *fast)
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

/* --- fields --- */

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

RIG_FAST bool rig_fast_value(struct rig_fast *fast, enum rig_fast_syntax syntax)
{
    bool invokes = (fast->seen & RIG_FAST_TYPE) != 0 && fast->type == RIG_OPERATION_INVOKE;
    return invokes && fast->part->facts.has_invocations ? rig_fast_invoked(fast) : rig_fast_txn(fast, syntax);
}

RIG_FAST bool rig_fast_error(struct rig_fast *fast)
{
    if (*fast->at != '"')
        return false;
    fast->error = fast->at + 1;
    fast->at = rig_fast_string(fast->error, fast->limit);
    if (fast->at == NULL)
        return false;
    fast->error_length = (size_t)(fast->at - fast->error) - 1;
    return fast->error_length < RIG_CURSOR_TEXT_BYTES;
}

RIG_FAST bool rig_fast_long_number(struct rig_fast *fast, int64_t *number)
{
    fast->at = rig_number_long(fast->at, number);
    return fast->at != NULL;
}

RIG_FAST bool rig_fast_short_number(struct rig_fast *fast, int64_t *number)
{
    fast->at = rig_number_short(fast->at, number);
    return fast->at != NULL;
}

/* Behind a field's name, whether it is there for the first time. */
RIG_FAST bool rig_fast_is_new(struct rig_fast *fast, enum rig_fast_syntax syntax, enum rig_fast_field field)
{
    bool is_new = (fast->seen & field) == 0;
    fast->at += syntax == RIG_FAST_JSON && *fast->at == ' ';
    return is_new;
}

#define RIG_FAST_IS(fast, syntax, name) RIG_FAST_TAKE_EITHER(fast, syntax, "\"" name "\":", ":" name " ")

/*
 * The fields from the cursor on, those in the order of the format's own writer in one go. Each step goes on only when a
 * separator followed the last field. False when it gives up.
 */
RIG_FAST bool rig_fast_fields(struct rig_fast *fast, enum rig_fast_syntax syntax, bool *more)
{
    unsigned before = fast->seen;
    const char *from = fast->at;
    if (RIG_FAST_IS(fast, syntax, "index")) {
        if (!rig_fast_is_new(fast, syntax, RIG_FAST_INDEX) || !rig_fast_short_number(fast, &fast->index))
            return false;
        fast->seen |= RIG_FAST_INDEX;
        *more = rig_fast_separator(fast, syntax);
    }
    if (*more && RIG_FAST_IS(fast, syntax, "type")) {
        if (!rig_fast_is_new(fast, syntax, RIG_FAST_TYPE) || !rig_fast_type(fast, syntax))
            return false;
        fast->seen |= RIG_FAST_TYPE;
        *more = rig_fast_separator(fast, syntax);
    }
    if (*more && RIG_FAST_IS(fast, syntax, "process")) {
        if (!rig_fast_is_new(fast, syntax, RIG_FAST_PROCESS) || !rig_fast_short_number(fast, &fast->process))
            return false;
        fast->seen |= RIG_FAST_PROCESS;
        *more = rig_fast_separator(fast, syntax);
    }
    if (*more && RIG_FAST_IS(fast, syntax, "time")) {
        if (!rig_fast_is_new(fast, syntax, RIG_FAST_TIME) || !rig_fast_long_number(fast, &fast->time_ns))
            return false;
        fast->seen |= RIG_FAST_TIME;
        *more = rig_fast_separator(fast, syntax);
    }
    if (*more && RIG_FAST_TAKE_EITHER(fast, syntax, "\"f\":\"txn\"", ":f :txn"))
        *more = rig_fast_separator(fast, syntax);
    if (*more && RIG_FAST_IS(fast, syntax, "value")) {
        if (!rig_fast_is_new(fast, syntax, RIG_FAST_VALUE) || !rig_fast_value(fast, syntax))
            return false;
        fast->seen |= RIG_FAST_VALUE;
        *more = rig_fast_separator(fast, syntax);
    }
    if (*more && RIG_FAST_IS(fast, syntax, "error")) {
        if (!rig_fast_is_new(fast, syntax, RIG_FAST_ERROR) || !rig_fast_error(fast))
            return false;
        fast->seen |= RIG_FAST_ERROR;
        *more = rig_fast_separator(fast, syntax);
    }
    if (fast->seen != before || fast->at != from)
        return true;
    if (*fast->at != (syntax == RIG_FAST_EDN ? ':' : '"'))
        return false;
    fast->at = rig_fast_other(fast->at + 1, fast->limit, syntax);
    if (fast->at == NULL)
        return false;
    *more = rig_fast_separator(fast, syntax);
    return true;
}

/* Up to the first field; EDN's maps may have a tag. */
RIG_FAST bool rig_fast_open(struct rig_fast *fast, enum rig_fast_syntax syntax)
{
    if (syntax == RIG_FAST_EDN && *fast->at == '#') {
        for (fast->at++; *fast->at != '{'; fast->at++) {
            char c = *fast->at;
            if (fast->at >= fast->limit || !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.'))
                return false;
        }
    }
    return *fast->at++ == '{';
}

RIG_FAST bool rig_fast_read(struct rig_fast *fast, enum rig_fast_syntax syntax)
{
    const unsigned needed = RIG_FAST_TYPE | RIG_FAST_PROCESS;
    if (fast->at >= fast->limit || !rig_fast_open(fast, syntax))
        return false;
    for (bool more = true; more;) {
        if (fast->at >= fast->limit || !rig_fast_fields(fast, syntax, &more))
            return false;
    }
    return *fast->at == '}' && (fast->seen & needed) == needed;
}

/* The operation at `*at`, to the end; *at is then behind it. False, with nothing changed, where it gives up. */
RIG_FAST bool rig_fast_operation(struct rig_part *part, const char **at, const char *limit, enum rig_fast_syntax syntax)
{
    struct rig_fast fast = {.part = part, .at = *at, .limit = limit};
    rig_part_begin(part);
    bool fits = rig_fast_read(&fast, syntax);
    /* A spine does not grow by what fails or is invoked. */
    if (!fits || (part->grows && fast.type == RIG_OPERATION_FAIL) ||
        (part->changes.count > 0 && fast.type == RIG_OPERATION_INVOKE)) {
        rig_part_take_back(part);
        return false;
    }
    struct rig_operation_fields fields = {
        .has_type = true,
        .has_index = (fast.seen & RIG_FAST_INDEX) != 0,
        .has_time = (fast.seen & RIG_FAST_TIME) != 0,
        .has_value = (fast.seen & RIG_FAST_VALUE) != 0,
        .has_error = (fast.seen & RIG_FAST_ERROR) != 0,
        .is_client = true,
        .type = fast.type,
        .index = fast.index,
        .time_ns = fast.time_ns,
        .process = fast.process,
        .error = fast.error,
        .error_length = fast.error_length,
    };
    *at = fast.at + 1;
    part->piece_count = fast.count;
    rig_part_take(part, &fields, fast.count, fast.value, fast.value_end);
    return true;
}

#endif
