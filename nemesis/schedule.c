#include "nemesis/schedule.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/plural.h"

/* The nemesis's own stream: those of clients are below 2^32, those of their pauses start there. */
static const uint64_t schedule_stream = UINT64_C(1) << 33;

struct rig_planned_entry {
    int64_t next_ns; /* RIG_SCHEDULE_NEVER: no more, or at random */
    int64_t happened;
};

static int64_t vary(struct rig_planned_schedule *schedule, int64_t length_ns, double share)
{
    if (share <= 0)
        return length_ns;
    const double factor = 1 + share * (2 * rig_rng_unit(&schedule->rng) - 1);
    return (int64_t)((double)length_ns * factor);
}

static bool may_happen(const struct rig_planned_schedule *schedule, uint32_t index)
{
    const int64_t most = schedule->plan->entries[index].schedule.count;
    return most == 0 || schedule->entries[index].happened < most;
}

/* Draws the next random fault and the quiet period before it. */
static void draw(struct rig_planned_schedule *schedule, int64_t from_ns)
{
    const struct rig_nemesis_plan *plan = schedule->plan;
    const struct rig_nemesis_options *options = &plan->options;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < plan->entry_count; i++)
        sum += may_happen(schedule, i) ? (uint64_t)plan->entries[i].schedule.weight : 0;
    schedule->random_ns = RIG_SCHEDULE_NEVER;
    if (sum == 0)
        return;
    uint64_t point = rig_rng_below(&schedule->rng, sum);
    for (uint32_t i = 0; i < plan->entry_count; i++) {
        const uint64_t weight = may_happen(schedule, i) ? (uint64_t)plan->entries[i].schedule.weight : 0;
        if (point < weight) {
            schedule->random_entry = i;
            break;
        }
        point -= weight;
    }
    const uint64_t room = (uint64_t)(options->quiet_most_ns - options->quiet_least_ns);
    schedule->random_ns = from_ns + options->quiet_least_ns + (int64_t)rig_rng_below(&schedule->rng, room + 1);
}

static int64_t first_of(struct rig_planned_schedule *schedule, const struct rig_nemesis_entry *entry)
{
    const struct rig_nemesis_entry_options *options = &entry->schedule;
    if (options->weight > 0)
        return RIG_SCHEDULE_NEVER;
    if (entry->at_count > 0)
        return entry->at_ns[0];
    return options->after_ns > 0 ? options->after_ns : vary(schedule, options->every_ns, options->vary);
}

/* The first time of the entry after `now_ns`. */
static int64_t following(struct rig_planned_schedule *schedule, uint32_t index, int64_t now_ns)
{
    const struct rig_nemesis_entry *entry = &schedule->plan->entries[index];
    const struct rig_nemesis_entry_options *options = &entry->schedule;
    for (size_t i = 0; i < entry->at_count; i++) {
        if (entry->at_ns[i] > now_ns)
            return entry->at_ns[i];
    }
    if (options->every_ns == 0 || entry->at_count > 0)
        return RIG_SCHEDULE_NEVER;
    int64_t next_ns = schedule->entries[index].next_ns;
    if (now_ns > next_ns)
        next_ns += (now_ns - next_ns) / options->every_ns * options->every_ns;
    do {
        const int64_t step_ns = vary(schedule, options->every_ns, options->vary);
        next_ns += step_ns > 0 ? step_ns : 1;
    } while (next_ns <= now_ns);
    return next_ns;
}

static const struct rig_planned_schedule *planned_of(const struct rig_schedule *schedule)
{
    return (const struct rig_planned_schedule *)schedule;
}

static struct rig_scheduled_fault next(const struct rig_schedule *schedule)
{
    const struct rig_planned_schedule *planned = planned_of(schedule);
    struct rig_scheduled_fault fault = {.at_ns = planned->random_ns, .entry = planned->random_entry};
    for (uint32_t i = 0; i < planned->plan->entry_count; i++) {
        if (planned->entries[i].next_ns < fault.at_ns)
            fault = (struct rig_scheduled_fault){.at_ns = planned->entries[i].next_ns, .entry = i};
    }
    return fault;
}

static int64_t take(struct rig_schedule *schedule, uint32_t entry, int64_t now_ns)
{
    struct rig_planned_schedule *planned = (struct rig_planned_schedule *)schedule;
    const struct rig_nemesis_plan *plan = planned->plan;
    RIG_REQUIRE(entry < plan->entry_count && may_happen(planned, entry));
    const struct rig_nemesis_entry_options *options = &plan->entries[entry].schedule;
    struct rig_planned_entry *state = &planned->entries[entry];
    state->happened++;
    const int64_t length_ns = vary(planned, options->for_ns, options->vary);
    if (options->weight > 0) {
        planned->random_ns = RIG_SCHEDULE_NEVER;
        if (plan->options.overlap)
            draw(planned, now_ns);
    } else {
        state->next_ns = may_happen(planned, entry) ? following(planned, entry, now_ns) : RIG_SCHEDULE_NEVER;
    }
    return length_ns;
}

static void over(struct rig_schedule *schedule, uint32_t entry, int64_t now_ns)
{
    struct rig_planned_schedule *planned = (struct rig_planned_schedule *)schedule;
    if (planned->plan->entries[entry].schedule.weight > 0 && !planned->plan->options.overlap)
        draw(planned, now_ns);
}

static const struct rig_schedule_ops planned_ops = {.next = next, .take = take, .over = over};

enum rig_rc rig_planned_schedule_init(struct rig_planned_schedule *planned, const struct rig_nemesis_plan *plan,
                                      uint64_t seed, struct rig_err *err)
{
    *planned =
        (struct rig_planned_schedule){.schedule.ops = &planned_ops, .plan = plan, .random_ns = RIG_SCHEDULE_NEVER};
    planned->entries = calloc(plan->entry_count + 1, sizeof *planned->entries);
    if (planned->entries == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the schedule of %u fault%s", plan->entry_count,
                        rig_plural(plan->entry_count));
    rig_rng_init(&planned->rng, seed, schedule_stream);
    for (uint32_t i = 0; i < plan->entry_count; i++)
        planned->entries[i].next_ns = first_of(planned, &plan->entries[i]);
    draw(planned, 0);
    return RIG_OK;
}

void rig_planned_schedule_done(struct rig_planned_schedule *planned)
{
    free(planned->entries);
    planned->entries = NULL;
}
