/*
 * The short way through many operations, each on a line of its own, as programs write them.
 *
 * Lines are taken in chunks, and each chunk in three steps: where its lines end, what their heads say, their
 * transactions. What a step does with one line does not wait for the line before, so a processor works on several at a
 * time, and mostly guesses rightly which way they go.
 */
#ifndef RIG_HISTORY_FAST_LINES_H
#define RIG_HISTORY_FAST_LINES_H

#include "history/fast_head.h"
#include "history/fast_repeat.h"
#include "history/part_take.h"

enum {
    RIG_FAST_MOST_LINES = 24,   /* in a chunk */
    RIG_FAST_FEWEST_BLOCKS = 4, /* of 64 bytes */
    RIG_FAST_USUAL_BLOCKS = 16, /* more only gives caches more to do at once */
    RIG_FAST_MOST_BLOCKS = 64
};

struct rig_fast_line {
    const char *at;    /* its beginning */
    const char *value; /* its transaction */
    const char *end;   /* its line feed */
    int64_t index, time_ns;
    int32_t process;
    uint8_t type;
};

struct rig_fast_chunk {
    uint32_t feed_count, line_count;
    const char *feeds[RIG_FAST_MOST_LINES + RIG_FAST_MOST_BLOCKS];
    struct rig_fast_line lines[RIG_FAST_MOST_LINES]; /* those whose heads are as expected */
};

/* Where lines end from `at` on. */
RIG_FAST void rig_fast_find_feeds(struct rig_fast_chunk *chunk, uint32_t block_count, const char *at, const char *limit,
                                  const struct rig_text_block *block)
{
    const size_t ahead = RIG_FAST_USUAL_BLOCKS * RIG_BLOCK_BYTES;
    const ptrdiff_t most = (ptrdiff_t)block_count * RIG_BLOCK_BYTES;
    const char *end = limit - at > most ? at + most : limit;
    uint32_t count = 0;
    for (; at < end; at += RIG_BLOCK_BYTES) {
        __builtin_prefetch(at + ahead);
        uint64_t feeds = block->equal(at, '\n');
        /* Mostly there is at most one: whether there is one is not worth a guess. */
        chunk->feeds[count] = at + (unsigned)__builtin_ctzll(feeds | (uint64_t)1 << 63);
        count += feeds != 0;
        for (feeds &= feeds - 1; __builtin_expect(feeds != 0 && count < RIG_FAST_MOST_LINES, 0); feeds &= feeds - 1)
            chunk->feeds[count++] = at + (unsigned)__builtin_ctzll(feeds);
    }
    chunk->feed_count = count < RIG_FAST_MOST_LINES ? count : RIG_FAST_MOST_LINES;
}

/* What is before the value of each line from `at` on. */
RIG_FAST void rig_fast_read_heads(struct rig_part *part, struct rig_fast_chunk *chunk, const char *at,
                                  const char *part_end, enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    uint32_t count = 0;
    for (; count < chunk->feed_count && at < part_end; count++) {
        struct rig_fast_line *line = &chunk->lines[count];
        struct rig_fast fast = {.part = part, .at = at};
        const char *end = chunk->feeds[count];
        if (!rig_fast_head(&fast, syntax, block) || end[-1] != '}' || fast.at > end)
            break;
        line->at = at;
        line->value = fast.at;
        line->end = end;
        line->index = fast.index;
        line->time_ns = fast.time_ns;
        line->process = (int32_t)fast.process;
        line->type = (uint8_t)fast.type;
        at = end + 1;
    }
    chunk->line_count = count;
}

/* Lines from `at` on that begin before `part_end`. */
RIG_FAST void rig_fast_read_lines(struct rig_part *part, struct rig_fast_chunk *chunk, const char *at,
                                  const char *part_end, const char *limit, enum rig_fast_syntax syntax,
                                  const struct rig_text_block *block)
{
    rig_fast_find_feeds(chunk, part->blocks_ahead, at, limit, block);
    rig_fast_read_heads(part, chunk, at, part_end, syntax, block);
}

/* Of a chunk, `taken` lines were taken: more is looked at in advance as long as all is as expected. */
static inline void rig_fast_look_ahead(struct rig_part *part, const struct rig_fast_chunk *chunk, uint32_t taken)
{
    uint8_t most = chunk->feed_count == 0 ? RIG_FAST_MOST_BLOCKS : RIG_FAST_USUAL_BLOCKS;
    if (chunk->feed_count > 0 && (taken == 0 || taken < chunk->line_count))
        part->blocks_ahead = RIG_FAST_FEWEST_BLOCKS;
    else if (part->blocks_ahead < most)
        part->blocks_ahead *= 2;
}

/* What is behind the transaction of a line that ends at `end`: nothing, or an error's text. */
RIG_FAST bool rig_fast_line_ends(struct rig_part *part, const char *at, const char *end, enum rig_fast_syntax syntax,
                                 uint32_t *error)
{
    *error = 0;
    if (at == end - 1)
        return true;
    struct rig_fast fast = {.at = at};
    if (!RIG_FAST_TAKE_EITHER(&fast, syntax, ",\"error\":\"", ", :error \"") || end - fast.at < 2)
        return false;
    size_t length = (size_t)(end - 2 - fast.at);
    if (length >= RIG_CURSOR_TEXT_BYTES || rig_fast_string(fast.at, end) != end - 1)
        return false;
    *error = rig_part_error(part, fast.at, length);
    return true;
}

/* The line's operation, if it invokes, or if it repeats what was invoked; else false, and nothing has happened. */
RIG_FAST bool rig_fast_take_line(struct rig_part *part, const struct rig_fast_line *line, const char *limit,
                                 enum rig_fast_syntax syntax, const struct rig_text_block *block)
{
    struct rig_part_process *process = rig_part_process_of(part, line->process);
    const char *behind = NULL;
    uint32_t error = 0;
    if (process == NULL)
        return false;
    rig_part_begin(part);
    if (line->type == RIG_OPERATION_INVOKE) {
        if (!process->open)
            behind = rig_fast_invoked(part, process, line->value, limit, syntax, block);
        if (behind != NULL && behind == line->end - 1) {
            uint32_t position = rig_part_take_position(part, true, line->index);
            rig_part_take_invocation(part, process, position, line->time_ns, line->value, behind, true);
            return true;
        }
    } else {
        if (process->open && process->is_parsed)
            behind =
                rig_fast_repeated(part, process, line->value, limit, line->type != RIG_OPERATION_FAIL, syntax, block);
        if (behind != NULL && rig_fast_line_ends(part, behind, line->end, syntax, &error)) {
            uint32_t position = rig_part_take_position(part, true, line->index);
            enum rig_outcome outcome = (enum rig_outcome)(line->type - RIG_OPERATION_OK);
            rig_part_take_completion(part, process, outcome, position, line->time_ns, error);
            return true;
        }
    }
    rig_part_take_back(part);
    return false;
}

#endif
