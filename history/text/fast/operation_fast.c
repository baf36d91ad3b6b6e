#include "history/text/fast/operation_fast.h"

#include "history/text/fast/fast_repeat.h"
#include "history/text/fast/fast_txn.h"
#include "history/text/part/part_keys.h"
#include "history/text/part/part_take.h"

/*
 * The fast path through the fields of an operation, one after the other.
 */

/* The position after an ignored field's value (a text, a keyword or a plain number), or NULL. */
RIG_FAST_RARE const char *fast_skip(const char *at, const char *limit, enum rig_fast_syntax syntax)
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

/* Reads a side column of the part's operation; the position after its value, or NULL to leave it to the grammar. */
RIG_FAST_RARE const char *fast_column(struct rig_part *part, const char *at, const char *limit,
                                      enum rig_fast_syntax syntax, enum rig_column column)
{
    struct rig_column_fields *columns = &part->columns;
    const char *behind;
    int64_t number = 0;
    if (rig_column_infos[column].type == RIG_COLUMN_SPANS)
        return NULL;
    if (rig_column_infos[column].type == RIG_COLUMN_NAME) {
        behind = *at == '"' ? rig_fast_string(at + 1, limit) : NULL;
        if (behind == NULL || !rig_column_name_fits(at + 1, (size_t)(behind - at) - 2))
            return NULL;
        columns->at[column].text = at + 1;
        columns->at[column].length = (size_t)(behind - at) - 2;
    } else {
        behind = rig_number_rare(at, &number);
        if (behind == NULL || number == RIG_COLUMN_NONE ||
            (*behind != ',' && *behind != '}' && (*behind != ' ' || syntax != RIG_FAST_EDN)))
            return NULL;
        columns->at[column].number = number;
    }
    columns->given |= RIG_COLUMN_BIT(column);
    return behind;
}

/* The position after a field with another name, from after its quote or colon; or NULL. */
RIG_FAST_RARE const char *fast_other(struct rig_part *part, const char *at, const char *limit,
                                     enum rig_fast_syntax syntax)
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
    const enum rig_column column = rig_column_find(at, length);
    behind++;
    behind += syntax == RIG_FAST_JSON && *behind == ' ';
    return column != RIG_COLUMN_COUNT ? fast_column(part, behind, limit, syntax, column)
                                      : fast_skip(behind, limit, syntax);
}

/* Reads the transaction at the cursor as an invocation, or as the repetition of one; false for anything else. */
RIG_FAST bool fast_pair(struct rig_fast *fast, enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    const unsigned needed = RIG_FAST_TYPE | RIG_FAST_PROCESS;
    struct rig_part *part = fast->part;
    struct rig_part_process *process = NULL;
    const char *behind = NULL;
    if ((fast->seen & needed) == needed)
        process = rig_part_process_of(part, fast->process);
    if (process == NULL)
        return false;
    bool invokes = fast->type == RIG_OPERATION_INVOKE;
    if (invokes && !process->open)
        behind = rig_fast_invoked(part, process, fast->at, fast->limit, syntax, block);
    else if (!invokes && process->open && process->is_parsed)
        behind =
            rig_fast_repeated(part, process, fast->at, fast->limit, fast->type != RIG_OPERATION_FAIL, syntax, block);
    if (behind == NULL) {
        rig_part_take_back(part);
        return false;
    }
    fast->pair = process;
    fast->value = fast->at;
    fast->value_end = fast->at = behind;
    return true;
}

RIG_FAST bool fast_value(struct rig_fast *fast, enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    bool invokes = (fast->seen & RIG_FAST_TYPE) != 0 && fast->type == RIG_OPERATION_INVOKE;
    if (!fast->part->facts.has_invocations)
        return rig_fast_txn(fast, syntax, block);
    if (fast_pair(fast, syntax, block))
        return true;
    return invokes ? rig_fast_invoked_text(fast) : rig_fast_txn(fast, syntax, block);
}

RIG_FAST bool fast_error(struct rig_fast *fast)
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

RIG_FAST bool fast_long_number(struct rig_fast *fast, int64_t *number)
{
    fast->at = rig_number_long(fast->at, number);
    return fast->at != NULL;
}

RIG_FAST bool fast_short_number(struct rig_fast *fast, int64_t *number)
{
    fast->at = rig_number_short(fast->at, number);
    return fast->at != NULL;
}

/* After a field's name: whether it occurs for the first time. */
RIG_FAST bool fast_is_new(struct rig_fast *fast, enum rig_fast_syntax syntax, enum rig_fast_field field)
{
    bool is_new = (fast->seen & field) == 0;
    fast->at += syntax == RIG_FAST_JSON && *fast->at == ' ';
    return is_new;
}

#define FAST_IS(fast, syntax, name) RIG_FAST_TAKE_EITHER(fast, syntax, "\"" name "\":", ":" name " ")

/*
 * Reads the fields from the cursor on, in one pass if they are in the order of rig's own writer. Each step continues
 * only if a separator followed the last field. False when it gives up.
 */
RIG_FAST bool rig_fast_fields(struct rig_fast *fast, bool *more, enum rig_fast_syntax syntax,
                              const struct rig_text_block *block)
{
    unsigned before = fast->seen;
    const char *from = fast->at;
    if (FAST_IS(fast, syntax, "index")) {
        if (!fast_is_new(fast, syntax, RIG_FAST_INDEX) || !fast_short_number(fast, &fast->index))
            return false;
        fast->seen |= RIG_FAST_INDEX;
        *more = rig_fast_separator(fast, syntax);
    }
    if (*more && FAST_IS(fast, syntax, "type")) {
        if (!fast_is_new(fast, syntax, RIG_FAST_TYPE) || !rig_fast_type(fast, syntax))
            return false;
        fast->seen |= RIG_FAST_TYPE;
        *more = rig_fast_separator(fast, syntax);
    }
    if (*more && FAST_IS(fast, syntax, "process")) {
        if (!fast_is_new(fast, syntax, RIG_FAST_PROCESS) || !fast_short_number(fast, &fast->process))
            return false;
        fast->seen |= RIG_FAST_PROCESS;
        *more = rig_fast_separator(fast, syntax);
    }
    if (*more && FAST_IS(fast, syntax, "time")) {
        if (!fast_is_new(fast, syntax, RIG_FAST_TIME) || !fast_long_number(fast, &fast->time_ns))
            return false;
        fast->seen |= RIG_FAST_TIME;
        *more = rig_fast_separator(fast, syntax);
    }
    if (*more && RIG_FAST_TAKE_EITHER(fast, syntax, "\"f\":\"txn\"", ":f :txn"))
        *more = rig_fast_separator(fast, syntax);
    if (*more && FAST_IS(fast, syntax, "value")) {
        if (!fast_is_new(fast, syntax, RIG_FAST_VALUE) || !fast_value(fast, syntax, block))
            return false;
        fast->seen |= RIG_FAST_VALUE;
        *more = rig_fast_separator(fast, syntax);
    }
    if (*more && FAST_IS(fast, syntax, "error")) {
        if (!fast_is_new(fast, syntax, RIG_FAST_ERROR) || !fast_error(fast))
            return false;
        fast->seen |= RIG_FAST_ERROR;
        *more = rig_fast_separator(fast, syntax);
    }
    if (fast->seen != before || fast->at != from)
        return true;
    if (*fast->at != (syntax == RIG_FAST_EDN ? ':' : '"'))
        return false;
    fast->at = fast_other(fast->part, fast->at + 1, fast->limit, syntax);
    if (fast->at == NULL)
        return false;
    *more = rig_fast_separator(fast, syntax);
    return true;
}

/* Moves to the first field; EDN's maps may have a tag. */
RIG_FAST bool fast_open(struct rig_fast *fast, enum rig_fast_syntax syntax)
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

RIG_FAST bool fast_read(struct rig_fast *fast, enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    const unsigned needed = RIG_FAST_TYPE | RIG_FAST_PROCESS;
    if (fast->at >= fast->limit || !fast_open(fast, syntax))
        return false;
    for (bool more = true; more;) {
        if (fast->at >= fast->limit || !rig_fast_fields(fast, &more, syntax, block))
            return false;
    }
    return *fast->at == '}' && (fast->seen & needed) == needed;
}

/*
 * The fast path through operations with one line each, as programs write them: head, transaction, end. The end of a
 * line is known once its transaction is read.
 */

enum { FAST_AHEAD = 1024 /* bytes: prefetch distance */, FAST_LINE_BLOCKS = 4 /* usually */ };

struct fast_line {
    const char *value; /* its transaction */
    int64_t index, time_ns;
    int32_t process;
    uint8_t type;
};

/* Reads the line at `at` up to its value. */
RIG_FAST bool fast_read_head(struct rig_part *part, struct fast_line *line, const char *at, enum rig_fast_syntax syntax,
                             const struct rig_text_block *block)
{
    struct rig_fast fast = {.part = part, .at = at};
    if (!rig_fast_head(&fast, syntax, block))
        return false;
    line->value = fast.at;
    line->index = fast.index;
    line->time_ns = fast.time_ns;
    line->process = (int32_t)fast.process;
    line->type = (uint8_t)fast.type;
    return true;
}

/* Whether another field begins at `at`. */
RIG_FAST bool fast_line_goes_on(const char *at, enum rig_fast_syntax syntax)
{
    return syntax == RIG_FAST_EDN ? rig_fast_same(at, ", :", 3) : rig_fast_same(at, ",\"", 2);
}

/* The line feed after side columns and an error's text at `at`; NULL for anything else. */
RIG_FAST_RARE const char *fast_line_rest(struct rig_part *part, const char *at, const char *limit,
                                         enum rig_fast_syntax syntax, uint32_t *error)
{
    const size_t name_at = syntax == RIG_FAST_EDN ? 3 : 2;
    while (at < limit && fast_line_goes_on(at, syntax) && at[name_at] != 'e') { /* no column begins as error does */
        at = fast_other(part, at + name_at, limit, syntax);
        if (at == NULL)
            return NULL;
    }
    if (at >= limit || at[0] == '}')
        return at < limit && at[1] == '\n' ? at + 1 : NULL;
    struct rig_fast fast = {.at = at};
    if (!RIG_FAST_TAKE_EITHER(&fast, syntax, ",\"error\":\"", ", :error \""))
        return NULL;
    const char *end = rig_fast_string(fast.at, limit);
    if (end == NULL || end - fast.at > RIG_CURSOR_TEXT_BYTES || end[0] != '}' || end[1] != '\n')
        return NULL;
    *error = rig_part_error(part, fast.at, (size_t)(end - fast.at - 1));
    part->last_end = at;
    part->last_end_length = end + 2 - at <= RIG_BLOCK_BYTES ? (uint32_t)(end + 2 - at) : 0;
    part->last_error = *error;
    return end + 1;
}

/* The line feed after a transaction that ends at `at`, with side columns and an error between them. The error is
 * mostly that of the last line with one. NULL for anything else. */
RIG_FAST const char *fast_line_end(struct rig_part *part, const char *at, const char *limit,
                                   enum rig_fast_syntax syntax, const struct rig_text_block *block, uint32_t *error)
{
    *error = 0;
    if (at[0] == '}')
        return at[1] == '\n' ? at + 1 : NULL;
    if (part->last_end_length == 0 || !rig_fast_same_text(at, part->last_end, part->last_end_length, block))
        return fast_line_rest(part, at, limit, syntax, error);
    *error = part->last_error;
    return at + part->last_end_length - 1;
}

/* Takes the line's operation if it invokes or repeats an invocation, and returns its line feed; else NULL, with
 * nothing changed. */
RIG_FAST const char *fast_take_line(struct rig_part *part, const char *at, const char *limit,
                                    enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    struct fast_line line;
    const char *behind = NULL, *end = NULL;
    uint32_t error = 0;
    for (size_t i = 0; i < FAST_LINE_BLOCKS; i++)
        __builtin_prefetch(at + FAST_AHEAD + i * RIG_BLOCK_BYTES);
    if (!fast_read_head(part, &line, at, syntax, block))
        return NULL;
    struct rig_part_process *process = rig_part_process_of(part, line.process);
    if (process == NULL)
        return NULL;
    rig_part_begin(part);
    if (line.type == RIG_OPERATION_INVOKE) {
        if (!process->open)
            behind = rig_fast_invoked(part, process, line.value, limit, syntax, block);
        if (behind != NULL && behind[0] == '}' && behind[1] == '\n') {
            uint32_t position = rig_part_take_position(part, true, line.index);
            rig_part_take_invocation(part, process, position, line.time_ns, line.value, behind, true);
            return behind + 1;
        }
    } else {
        /* Separate code for each case, so that the compiler removes what the other one needs. */
        if (process->open && process->is_parsed)
            behind = line.type == RIG_OPERATION_FAIL
                         ? rig_fast_repeated(part, process, line.value, limit, false, syntax, block)
                         : rig_fast_repeated(part, process, line.value, limit, true, syntax, block);
        if (behind != NULL)
            end = fast_line_end(part, behind, limit, syntax, block, &error);
        if (end != NULL) {
            uint32_t position = rig_part_take_position(part, true, line.index);
            enum rig_outcome outcome = (enum rig_outcome)(line.type - RIG_OPERATION_OK);
            rig_part_take_completion(part, process, outcome, position, line.time_ns, error);
            return end;
        }
    }
    rig_part_take_back(part);
    return NULL;
}

static void take_fields(struct rig_part *part, const struct rig_fast *fast)
{
    struct rig_operation_fields fields = {
        .has_type = true,
        .has_index = (fast->seen & RIG_FAST_INDEX) != 0,
        .has_time = (fast->seen & RIG_FAST_TIME) != 0,
        .has_value = (fast->seen & RIG_FAST_VALUE) != 0,
        .has_error = (fast->seen & RIG_FAST_ERROR) != 0,
        .is_client = true,
        .type = fast->type,
        .index = fast->index,
        .time_ns = fast->time_ns,
        .process = fast->process,
        .error = fast->error,
        .error_length = fast->error_length,
    };
    part->piece_count = fast->count;
    rig_part_take(part, &fields, fast->count, fast->value, fast->value_end);
}

static void take_pair(struct rig_part *part, const struct rig_fast *fast)
{
    int64_t time_ns = (fast->seen & RIG_FAST_TIME) != 0 ? fast->time_ns : RIG_NO_TIME;
    uint32_t position = rig_part_take_position(part, (fast->seen & RIG_FAST_INDEX) != 0, fast->index);
    if (part->refused)
        return;
    if (fast->type == RIG_OPERATION_INVOKE) {
        rig_part_take_invocation(part, fast->pair, position, time_ns, fast->value, fast->value_end, true);
        return;
    }
    uint32_t error = (fast->seen & RIG_FAST_ERROR) != 0 ? rig_part_error(part, fast->error, fast->error_length) : 0;
    rig_part_take_completion(part, fast->pair, (enum rig_outcome)(fast->type - RIG_OPERATION_OK), position, time_ns,
                             error);
}

/* Takes the operation at *at and moves *at past it. False, with nothing changed, when it gives up. */
RIG_FAST bool take_operation(struct rig_part *part, const char **at, const char *limit, enum rig_fast_syntax syntax,
                             const struct rig_text_block *block)
{
    struct rig_fast fast = {.part = part, .at = *at, .limit = limit};
    rig_part_begin(part);
    bool fits = fast_read(&fast, syntax, block);
    /* A spine does not grow by what fails or is invoked. */
    if (!fits || (part->grows && fast.type == RIG_OPERATION_FAIL) ||
        (part->changes.count > 0 && fast.type == RIG_OPERATION_INVOKE)) {
        rig_part_take_back(part);
        return false;
    }
    *at = fast.at + 1;
    if (fast.pair != NULL)
        take_pair(part, &fast);
    else
        take_fields(part, &fast);
    return true;
}

/* Whether the text continues with another operation on the next line; moves there. */
static inline bool find_next_line(const char **at, const char *end)
{
    const char *next = *at + 1;
    if (next >= end || next[-1] != '\n' || (*next != '{' && *next != '#'))
        return false;
    *at = next;
    return true;
}

/* Operations from *at on, as rig_fast_taker says; `take_one` takes one of any order and spacing. */
RIG_FAST bool take_operations(struct rig_part *part, const char **at, const char *limit, enum rig_fast_syntax syntax,
                              const struct rig_text_block *block, rig_fast_taker *take_one)
{
    const char *const from = *at, *next = *at;
    const char *start = part->parser.cursor.start;
    const char *end = limit - start > (ptrdiff_t)part->end_at ? start + part->end_at : limit;
    if (part->parser.closer != '\0' || !part->facts.has_invocations || from - start < RIG_BLOCK_BYTES || from >= limit)
        return take_one(part, at, limit);
    do {
        const char *behind = fast_take_line(part, next, limit, syntax, block);
        if (__builtin_expect(behind != NULL, 1))
            *at = behind;
        else if (take_one(part, &next, limit))
            *at = next;
        else
            return *at != from;
        if (part->refused || part->no_memory)
            break;
        next = *at;
    } while (find_next_line(&next, end));
    return true;
}

#define TAKERS(name, target, block)                                                                                    \
    target static bool take_json_operation_##name(struct rig_part *part, const char **at, const char *limit)           \
    {                                                                                                                  \
        return take_operation(part, at, limit, RIG_FAST_JSON, block);                                                  \
    }                                                                                                                  \
    target static bool take_edn_operation_##name(struct rig_part *part, const char **at, const char *limit)            \
    {                                                                                                                  \
        return take_operation(part, at, limit, RIG_FAST_EDN, block);                                                   \
    }                                                                                                                  \
    target static bool take_json_##name(struct rig_part *part, const char **at, const char *limit)                     \
    {                                                                                                                  \
        return take_operations(part, at, limit, RIG_FAST_JSON, block, take_json_operation_##name);                     \
    }                                                                                                                  \
    target static bool take_edn_##name(struct rig_part *part, const char **at, const char *limit)                      \
    {                                                                                                                  \
        return take_operations(part, at, limit, RIG_FAST_EDN, block, take_edn_operation_##name);                       \
    }

#if defined(__x86_64__)
TAKERS(avx512, RIG_BLOCK_TARGET_AVX512, &rig_text_block_avx512)
TAKERS(avx2, RIG_BLOCK_TARGET_AVX2, &rig_text_block_avx2)
#endif

TAKERS(portable, , &rig_text_block_portable)

/* In the order of the table in text_block.c. */
static const struct {
    rig_fast_taker *json, *edn;
} takers[] = {
#if defined(__x86_64__)
    {take_json_avx512, take_edn_avx512},
    {take_json_avx2, take_edn_avx2},
#endif
    {take_json_portable, take_edn_portable},
};

rig_fast_taker *rig_fast_taker_of(enum rig_fast_syntax syntax, size_t number)
{
    size_t usable = 0, all = sizeof takers / sizeof takers[0];
    (void)rig_text_blocks(&usable);
    number += all - usable;
    number = number < all ? number : all - 1;
    return syntax == RIG_FAST_EDN ? takers[number].edn : takers[number].json;
}
