#include "nemesis/schedule.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/plural.h"

/* The nemesis's own stream: those of clients are below 2^32, those of their pauses start there. */
static const uint64_t schedule_stream = UINT64_C(1) << 33;

struct rig_schedule_entry {
    int64_t next_ns; /* RIG_SCHEDULE_NEVER: no more, or at random */
    int64_t happened;
};

static int64_t vary(struct rig_schedule *schedule, int64_t length_ns, double share)
{
    if (share <= 0)
        return length_ns;
    const double factor = 1 + share * (2 * rig_rng_unit(&schedule->rng) - 1);
    return (int64_t)((double)length_ns * factor);
}

static bool may_happen(const struct rig_schedule *schedule, uint32_t index)
{
    const int64_t most = schedule->plan->entries[index].schedule.count;
    return most == 0 || schedule->entries[index].happened < most;
}

/* Draws the next random fault and the quiet period before it. */
static void draw(struct rig_schedule *schedule, int64_t from_ns)
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

static int64_t first_of(struct rig_schedule *schedule, const struct rig_nemesis_entry *entry)
{
    const struct rig_nemesis_entry_options *options = &entry->schedule;
    if (options->weight > 0)
        return RIG_SCHEDULE_NEVER;
    if (entry->at_count > 0)
        return entry->at_ns[0];
    return options->after_ns > 0 ? options->after_ns : vary(schedule, options->every_ns, options->vary);
}

enum rig_rc rig_schedule_init(struct rig_schedule *schedule, const struct rig_nemesis_plan *plan, uint64_t seed,
                              struct rig_err *err)
{
    *schedule = (struct rig_schedule){.plan = plan, .random_ns = RIG_SCHEDULE_NEVER};
    schedule->entries = calloc(plan->entry_count + 1, sizeof *schedule->entries);
    if (schedule->entries == NULL)
        return rig_fail(err, RIG_E_LIMIT, "no memory for the schedule of %u fault%s", plan->entry_count,
                        rig_plural(plan->entry_count));
    rig_rng_init(&schedule->rng, seed, schedule_stream);
    for (uint32_t i = 0; i < plan->entry_count; i++)
        schedule->entries[i].next_ns = first_of(schedule, &plan->entries[i]);
    draw(schedule, 0);
    return RIG_OK;
}

void rig_schedule_done(struct rig_schedule *schedule)
{
    free(schedule->entries);
    schedule->entries = NULL;
}

int64_t rig_schedule_next(const struct rig_schedule *schedule, uint32_t *entry)
{
    int64_t next_ns = schedule->random_ns;
    *entry = schedule->random_entry;
    for (uint32_t i = 0; i < schedule->plan->entry_count; i++) {
        if (schedule->entries[i].next_ns < next_ns) {
            next_ns = schedule->entries[i].next_ns;
            *entry = i;
        }
    }
    return next_ns;
}

/* The first moment of the entry after `now_ns`. */
static int64_t following(struct rig_schedule *schedule, uint32_t index, int64_t now_ns)
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

int64_t rig_schedule_take(struct rig_schedule *schedule, uint32_t entry, int64_t now_ns)
{
    const struct rig_nemesis_plan *plan = schedule->plan;
    RIG_REQUIRE(entry < plan->entry_count && may_happen(schedule, entry));
    const struct rig_nemesis_entry_options *options = &plan->entries[entry].schedule;
    struct rig_schedule_entry *state = &schedule->entries[entry];
    state->happened++;
    const int64_t length_ns = vary(schedule, options->for_ns, options->vary);
    if (options->weight > 0) {
        schedule->random_ns = RIG_SCHEDULE_NEVER;
        if (plan->options.overlap)
            draw(schedule, now_ns);
    } else {
        state->next_ns = may_happen(schedule, entry) ? following(schedule, entry, now_ns) : RIG_SCHEDULE_NEVER;
    }
    return length_ns;
}

void rig_schedule_over(struct rig_schedule *schedule, uint32_t entry, int64_t now_ns)
{
    const struct rig_nemesis_plan *plan = schedule->plan;
    if (plan->entries[entry].schedule.weight > 0 && !plan->options.overlap)
        draw(schedule, now_ns);
}
