/*
 * How many transactions committed while one that was held was open (RIG_COLUMN_MEANWHILE), counted exactly as segments
 * are added, independent of releases.
 *
 * It is the difference of two counts: transactions that were ok up to its completion, and up to its invocation. The
 * latter is noted for each transaction that is open at the end of a segment, so that nothing else has to be kept.
 */
#include "base/bug.h"
#include "history/model/window_private.h"

/* The first of `count` marks with an invocation at `position` or later. */
static size_t find_mark(const struct rig_open_mark *marks, size_t count, uint32_t position)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (marks[middle].invoke_at < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many of the segment's transactions completed before `position`. */
static size_t completed_before(const struct rig_segment *segment, uint32_t position)
{
    size_t low = 0, high = segment->txns.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (segment->txns.at[middle].complete_at < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Per transaction, how many of the segment were ok before it; after the last one, how many in all. */
static bool count_ok(struct rig_window *window, const struct rig_segment *segment)
{
    uint32_t count = 0;
    if (!rig_window_uint32s_reserve(&window->ok_before, segment->txns.count + 1))
        return false;
    for (size_t i = 0; i < segment->txns.count; i++) {
        window->ok_before.at[i] = count;
        count += segment->txns.at[i].outcome == RIG_OUTCOME_OK;
    }
    window->ok_before.at[segment->txns.count] = count;
    return true;
}

bool rig_window_count_meanwhile(struct rig_window *window, const struct rig_segment *segment)
{
    const struct rig_column_values *held = &segment->columns.of[RIG_COLUMN_HELD];
    const uint64_t before = window->ok_count;
    if (held->count == 0 || segment->unordered)
        return true;
    if (!count_ok(window, segment))
        return false;
    for (size_t i = 0; i < held->count && i < segment->txns.count; i++) {
        const uint32_t invoke_at = segment->txns.at[i].invoke_at;
        if (held->at[i] == RIG_COLUMN_NONE || invoke_at == RIG_POSITION_NONE)
            continue;
        const size_t mark = find_mark(window->marks.at, window->marks.count, invoke_at);
        const bool known = mark < window->marks.count && window->marks.at[mark].invoke_at == invoke_at;
        const uint64_t at_invocation = known ? window->marks.at[mark].ok_count
                                             : before + window->ok_before.at[completed_before(segment, invoke_at)];
        const uint64_t at_completion = before + window->ok_before.at[i];
        RIG_INVARIANT(at_completion >= at_invocation);
        if (!rig_columns_set(&window->columns, RIG_COLUMN_MEANWHILE, window->txns.count + i,
                             (int64_t)(at_completion - at_invocation)))
            return false;
    }
    return true;
}

/* Backwards from the last one, so that only the segment's end is read, down to the first invocation in it. */
bool rig_window_mark_open(struct rig_window *window, const struct rig_segment *segment)
{
    const size_t count = window->open.count;
    uint64_t ok_count = window->ok_count;
    size_t next = segment->txns.count, old = window->marks.count;
    if (!rig_open_marks_reserve(&window->new_marks, count))
        return false;
    for (size_t i = count; i-- > 0;) {
        const uint32_t invoke_at = window->open.at[i].invoke_at;
        while (old > 0 && window->marks.at[old - 1].invoke_at > invoke_at)
            old--;
        if (old > 0 && window->marks.at[old - 1].invoke_at == invoke_at) {
            window->new_marks.at[i] = window->marks.at[old - 1];
            continue;
        }
        for (; next > 0 && segment->txns.at[next - 1].complete_at > invoke_at; next--)
            ok_count -= segment->txns.at[next - 1].outcome == RIG_OUTCOME_OK;
        window->new_marks.at[i] = (struct rig_open_mark){.ok_count = ok_count, .invoke_at = invoke_at};
    }
    struct rig_open_marks marks = window->marks;
    window->marks = window->new_marks;
    window->new_marks = marks;
    window->marks.count = count;
    return true;
}
