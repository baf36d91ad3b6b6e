#include "history/text/fast/operation_fast.h"

#include "history/text/fast/fast_fields.h"
#include "history/text/fast/fast_lines.h"

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
    bool fits = rig_fast_read(&fast, syntax, block);
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
        const char *behind = rig_fast_take_line(part, next, limit, syntax, block);
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
