#include "history/source/event_order.h"

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
