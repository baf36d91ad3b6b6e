/*
 * The fast path through the fields of an operation, one after the other.
 */
#ifndef RIG_HISTORY_TEXT_FAST_FAST_FIELDS_H
#define RIG_HISTORY_TEXT_FAST_FAST_FIELDS_H

#include "history/text/fast/fast_repeat.h"
#include "history/text/fast/fast_text.h"
#include "history/text/fast/fast_txn.h"
#include "history/text/part/part_keys.h"

/* The position after an ignored field's value (a text, a keyword or a plain number), or NULL. */
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

/* Reads a side column of the part's operation; the position after its value, or NULL to leave it to the grammar. */
RIG_FAST_RARE const char *rig_fast_column(struct rig_part *part, const char *at, const char *limit,
                                          enum rig_fast_syntax syntax, enum rig_column column)
{
    struct rig_column_fields *columns = &part->columns;
    const char *behind;
    int64_t number = 0;
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
RIG_FAST_RARE const char *rig_fast_other(struct rig_part *part, const char *at, const char *limit,
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
    return column != RIG_COLUMN_COUNT ? rig_fast_column(part, behind, limit, syntax, column)
                                      : rig_fast_skip(behind, limit, syntax);
}

/* --- fields --- */

/* Reads the transaction at the cursor as an invocation, or as the repetition of one; false for anything else. */
RIG_FAST bool rig_fast_pair(struct rig_fast *fast, enum rig_fast_syntax syntax, const struct rig_text_block *block)
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

RIG_FAST bool rig_fast_value(struct rig_fast *fast, enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    bool invokes = (fast->seen & RIG_FAST_TYPE) != 0 && fast->type == RIG_OPERATION_INVOKE;
    if (!fast->part->facts.has_invocations)
        return rig_fast_txn(fast, syntax, block);
    if (rig_fast_pair(fast, syntax, block))
        return true;
    return invokes ? rig_fast_invoked_text(fast) : rig_fast_txn(fast, syntax, block);
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

/* After a field's name: whether it occurs for the first time. */
RIG_FAST bool rig_fast_is_new(struct rig_fast *fast, enum rig_fast_syntax syntax, enum rig_fast_field field)
{
    bool is_new = (fast->seen & field) == 0;
    fast->at += syntax == RIG_FAST_JSON && *fast->at == ' ';
    return is_new;
}

#define RIG_FAST_IS(fast, syntax, name) RIG_FAST_TAKE_EITHER(fast, syntax, "\"" name "\":", ":" name " ")

/*
 * Reads the fields from the cursor on, in one pass if they are in the order of rig's own writer. Each step continues
 * only if a separator followed the last field. False when it gives up.
 */
RIG_FAST bool rig_fast_fields(struct rig_fast *fast, bool *more, enum rig_fast_syntax syntax,
                              const struct rig_text_block *block)
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
        if (!rig_fast_is_new(fast, syntax, RIG_FAST_VALUE) || !rig_fast_value(fast, syntax, block))
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
    fast->at = rig_fast_other(fast->part, fast->at + 1, fast->limit, syntax);
    if (fast->at == NULL)
        return false;
    *more = rig_fast_separator(fast, syntax);
    return true;
}

/* Moves to the first field; EDN's maps may have a tag. */
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

RIG_FAST bool rig_fast_read(struct rig_fast *fast, enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    const unsigned needed = RIG_FAST_TYPE | RIG_FAST_PROCESS;
    if (fast->at >= fast->limit || !rig_fast_open(fast, syntax))
        return false;
    for (bool more = true; more;) {
        if (fast->at >= fast->limit || !rig_fast_fields(fast, &more, syntax, block))
            return false;
    }
    return *fast->at == '}' && (fast->seen & needed) == needed;
}

#endif
