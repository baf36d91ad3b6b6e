/*
 * The fast path through operations with one line each, as programs write them: head, transaction, end. The end of a
 * line is known once its transaction is read.
 */
#ifndef RIG_HISTORY_TEXT_FAST_FAST_LINES_H
#define RIG_HISTORY_TEXT_FAST_FAST_LINES_H

#include "history/text/fast/fast_fields.h"
#include "history/text/fast/fast_head.h"
#include "history/text/fast/fast_repeat.h"
#include "history/text/part/part_take.h"

enum { RIG_FAST_AHEAD = 1024 /* bytes: prefetch distance */, RIG_FAST_LINE_BLOCKS = 4 /* usually */ };

struct rig_fast_line {
    const char *value; /* its transaction */
    int64_t index, time_ns;
    int32_t process;
    uint8_t type;
};

/* Reads the line at `at` up to its value. */
RIG_FAST bool rig_fast_read_head(struct rig_part *part, struct rig_fast_line *line, const char *at,
                                 enum rig_fast_syntax syntax, const struct rig_text_block *block)
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
RIG_FAST bool rig_fast_line_goes_on(const char *at, enum rig_fast_syntax syntax)
{
    return syntax == RIG_FAST_EDN ? rig_fast_same(at, ", :", 3) : rig_fast_same(at, ",\"", 2);
}

/* The line feed after side columns and an error's text at `at`; NULL for anything else. */
RIG_FAST_RARE const char *rig_fast_line_rest(struct rig_part *part, const char *at, const char *limit,
                                             enum rig_fast_syntax syntax, uint32_t *error)
{
    const size_t name_at = syntax == RIG_FAST_EDN ? 3 : 2;
    while (at < limit && rig_fast_line_goes_on(at, syntax) && at[name_at] != 'e') { /* no column begins as error does */
        at = rig_fast_other(part, at + name_at, limit, syntax);
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
RIG_FAST const char *rig_fast_line_end(struct rig_part *part, const char *at, const char *limit,
                                       enum rig_fast_syntax syntax, const struct rig_text_block *block, uint32_t *error)
{
    *error = 0;
    if (at[0] == '}')
        return at[1] == '\n' ? at + 1 : NULL;
    if (part->last_end_length == 0 || !rig_fast_same_text(at, part->last_end, part->last_end_length, block))
        return rig_fast_line_rest(part, at, limit, syntax, error);
    *error = part->last_error;
    return at + part->last_end_length - 1;
}

/* Takes the line's operation if it invokes or repeats an invocation, and returns its line feed; else NULL, with
 * nothing changed. */
RIG_FAST const char *rig_fast_take_line(struct rig_part *part, const char *at, const char *limit,
                                        enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    struct rig_fast_line line;
    const char *behind = NULL, *end = NULL;
    uint32_t error = 0;
    for (size_t i = 0; i < RIG_FAST_LINE_BLOCKS; i++)
        __builtin_prefetch(at + RIG_FAST_AHEAD + i * RIG_BLOCK_BYTES);
    if (!rig_fast_read_head(part, &line, at, syntax, block))
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
            end = rig_fast_line_end(part, behind, limit, syntax, block, &error);
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

#endif
