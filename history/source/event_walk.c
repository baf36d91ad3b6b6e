#include "history/source/event_walk.h"

#include <stdlib.h>

#include "base/bug.h"

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

bool rig_event_walk_init(struct rig_event_walk *walk, const struct rig_history *history)
{
    *walk = (struct rig_event_walk){.history = history};
    walk->invocations = malloc((history->txn_count + (size_t)1) * sizeof *walk->invocations);
    if (walk->invocations == NULL)
        return false;
    bool sorted = true;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        uint64_t position = history->txns[i].invoke_at;
        if (position == RIG_POSITION_NONE)
            continue;
        uint64_t item = position << 32 | i;
        sorted = sorted && (walk->invocation_count == 0 || walk->invocations[walk->invocation_count - 1] < item);
        walk->invocations[walk->invocation_count++] = item;
    }
    if (!sorted)
        qsort(walk->invocations, walk->invocation_count, sizeof *walk->invocations, compare);
    return true;
}

void rig_event_walk_done(struct rig_event_walk *walk)
{
    free(walk->invocations);
    walk->invocations = NULL;
}

bool rig_event_walk_next(struct rig_event_walk *walk, struct rig_event *event)
{
    const struct rig_history *history = walk->history;
    bool invocation_left = walk->next_invocation < walk->invocation_count;
    bool completion_left = walk->next_completion < history->txn_count &&
                           history->txns[walk->next_completion].complete_at != RIG_POSITION_NONE;
    bool fault_left = walk->next_fault < history->fault_count;
    if (!invocation_left && !completion_left && !fault_left)
        return false;
    uint64_t invocation = invocation_left ? walk->invocations[walk->next_invocation] : 0;
    uint32_t completed_at = completion_left ? history->txns[walk->next_completion].complete_at : RIG_POSITION_NONE;
    if (fault_left && history->faults[walk->next_fault].position < completed_at &&
        (!invocation_left || history->faults[walk->next_fault].position < invocation >> 32)) {
        const struct rig_fault_event *fault = &history->faults[walk->next_fault++];
        *event = (struct rig_event){.position = fault->position, .fault = fault};
        return true;
    }
    if (invocation_left && invocation >> 32 < completed_at) {
        walk->next_invocation++;
        *event = (struct rig_event){.txn = (uint32_t)invocation, .position = (uint32_t)(invocation >> 32)};
        return true;
    }
    RIG_INVARIANT(completion_left && !(invocation_left && invocation >> 32 == completed_at));
    *event = (struct rig_event){.txn = walk->next_completion++, .position = completed_at, .is_completion = true};
    return true;
}

static bool precedes_or_ties(const struct rig_event_time *a, const struct rig_event_time *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->client <= b->client;
}

static uint32_t run_end(const struct rig_event_time *events, uint32_t from, uint32_t count)
{
    uint32_t end = from + 1;
    while (end < count && precedes_or_ties(&events[end - 1], &events[end]))
        end++;
    return end < count ? end : count;
}

bool rig_event_is_sorted(const struct rig_event_time *events, uint32_t count)
{
    return count == 0 || run_end(events, 0, count) == count;
}

static void merge(const struct rig_event_time *events, uint32_t from, uint32_t middle, uint32_t end,
                  struct rig_event_time *to)
{
    uint32_t left = from;
    uint32_t right = middle;
    for (uint32_t at = from; at < end; at++) {
        bool take_left = right == end || (left < middle && precedes_or_ties(&events[left], &events[right]));
        to[at] = events[take_left ? left++ : right++];
    }
}

struct rig_event_time *rig_event_sort(struct rig_event_time *events, struct rig_event_time *spare, uint32_t count)
{
    while (!rig_event_is_sorted(events, count)) {
        uint32_t from = 0;
        while (from < count) {
            uint32_t middle = run_end(events, from, count);
            uint32_t end = middle < count ? run_end(events, middle, count) : count;
            merge(events, from, middle, end, spare);
            from = end;
        }
        struct rig_event_time *sorted = spare;
        spare = events;
        events = sorted;
    }
    return events;
}
