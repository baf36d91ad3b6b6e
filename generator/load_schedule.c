#include "generator/load_schedule.h"

#include <stdlib.h>

#include "generator/generator_types.h"
#include "generator/question_stream.h"

/* Keys that stay for the whole load are those of every such phase. */
static bool keys_are_shared(const struct rig_generator_options *phase)
{
    return phase->shape == RIG_LOAD_GENERAL || rig_generator_types[phase->type].stays;
}

struct rig_phase_keys rig_phase_keys_of(const struct rig_generator_options *const *phases, uint32_t phase_count,
                                        uint32_t phase)
{
    uint32_t owner = phase;
    if (rig_generator_types[phases[phase]->type].stays) /* their numbers have a meaning, and all phases have the type */
        return (struct rig_phase_keys){.stride = 1};
    for (uint32_t i = phase; keys_are_shared(phases[phase]) && i-- > 0;)
        owner = keys_are_shared(phases[i]) ? i : owner;
    return (struct rig_phase_keys){.stride = phase_count, .offset = owner};
}

enum rig_rc rig_load_schedule_init(struct rig_load_schedule *schedule,
                                   const struct rig_generator_options *const *phases, const uint32_t *client_counts,
                                   uint32_t phase_count, uint64_t seed, struct rig_err *err)
{
    *schedule = (struct rig_load_schedule){.phase_count = phase_count};
    schedule->phases = calloc(phase_count, sizeof *schedule->phases);
    schedule->keys = calloc(phase_count, sizeof *schedule->keys);
    schedule->is_shared = calloc(phase_count, sizeof *schedule->is_shared);
    if (schedule->phases == NULL || schedule->keys == NULL || schedule->is_shared == NULL)
        return rig_no_memory(err, "the schedule of the keys");
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < phase_count && rc == RIG_OK; i++) {
        schedule->keys[i] = rig_phase_keys_of(phases, phase_count, i);
        schedule->is_shared[i] = keys_are_shared(phases[i]);
        rc = rig_key_schedule_init(&schedule->phases[i], phases[i], seed, client_counts[i], err);
    }
    return rc;
}

void rig_load_schedule_done(struct rig_load_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->phase_count && schedule->phases != NULL; i++)
        rig_key_schedule_done(&schedule->phases[i]);
    free(schedule->phases);
    free(schedule->keys);
    free(schedule->is_shared);
    *schedule = (struct rig_load_schedule){0};
}

void rig_load_schedule_reach(struct rig_load_schedule *schedule, uint64_t position)
{
    const uint32_t phase = rig_position_phase(position);
    schedule->present = phase > schedule->present ? phase : schedule->present;
}

static int64_t number_of(const struct rig_load_schedule *schedule, uint32_t phase, int64_t key)
{
    return key * schedule->keys[phase].stride + schedule->keys[phase].offset;
}

uint64_t rig_load_schedule_next(const struct rig_load_schedule *schedule)
{
    const uint64_t next = rig_key_schedule_next(&schedule->phases[schedule->present]);
    return rig_position_phase(next) > 0 ? UINT64_MAX : rig_phase_position(schedule->present, next);
}

int64_t rig_load_schedule_leave(struct rig_load_schedule *schedule)
{
    return number_of(schedule, schedule->present, rig_key_schedule_leave(&schedule->phases[schedule->present]));
}

bool rig_load_schedule_rest(struct rig_load_schedule *schedule, uint32_t phase, uint64_t behind, int64_t *key)
{
    struct rig_key_schedule *of = &schedule->phases[phase];
    const bool has_begun = of->rest > 0; /* then no key may leave */
    if (behind == 0)
        return false;
    /* The transaction at a position sees the moves that are due there; the one at `behind` was never issued. */
    if (!has_begun && rig_key_schedule_next(of) < behind) {
        *key = number_of(schedule, phase, rig_key_schedule_leave(of));
        return true;
    }
    const bool is_shared = schedule->is_shared[phase];
    int64_t own;
    while (rig_key_schedule_rest(of, behind, &own)) {
        *key = number_of(schedule, phase, own);
        if (!is_shared || own >= schedule->shared_given)
            return true;
    }
    if (is_shared && of->rest > schedule->shared_given)
        schedule->shared_given = of->rest;
    return false;
}

/* The bound of a phase's own numbers. One client may issue all transactions of the phase, so its last position is their
 * number. */
static int64_t own_bound(struct rig_key_schedule *schedule, uint64_t transactions, int64_t most)
{
    while (schedule->type == NULL && rig_key_schedule_next(schedule) <= transactions &&
           rig_key_schedule_bound(schedule, transactions) <= most)
        (void)rig_key_schedule_leave(schedule);
    return rig_key_schedule_bound(schedule, transactions);
}

enum rig_rc rig_load_key_bound(const struct rig_generator_options *const *phases, const uint32_t *client_counts,
                               uint32_t phase_count, uint64_t seed, int64_t most, int64_t *bound, struct rig_err *err)
{
    struct rig_load_schedule schedule;
    int64_t found = 0;
    const enum rig_rc rc = rig_load_schedule_init(&schedule, phases, client_counts, phase_count, seed, err);
    for (uint32_t i = 0; i < phase_count && rc == RIG_OK; i++) {
        const int64_t own = own_bound(&schedule.phases[i], (uint64_t)phases[i]->transactions, most);
        const int64_t last = own == 0 ? -1 : number_of(&schedule, i, own - 1);
        found = last + 1 > found ? last + 1 : found;
    }
    rig_load_schedule_done(&schedule);
    if (rc == RIG_OK)
        *bound = found;
    return rc;
}
