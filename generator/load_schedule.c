#include "generator/load_schedule.h"

#include <stdlib.h>

#include "base/bug.h"
#include "generator/generator_types.h"
#include "generator/question_stream.h"

static bool is_application(const struct rig_key_schedule *schedule)
{
    return schedule->layout.application != NULL;
}

/* ---- the inserted rows of an application: by round, place in it, client ---- */

/* The unit and row of a place in a client's round. */
struct place {
    uint32_t unit, row;
    uint64_t number;
};

static struct place place_of(const struct rig_key_schedule *schedule)
{
    const struct rig_app_layout *layout = &schedule->layout;
    struct place place = {.unit = layout->application->unit_count - 1};
    while (layout->unit_base[place.unit] > schedule->in_round)
        place.unit--;
    const uint32_t rows = layout->application->unit_rows[place.unit];
    const uint32_t at = schedule->in_round - layout->unit_base[place.unit];
    place.row = at % rows;
    place.number =
        (schedule->round * layout->client_count + schedule->client) * layout->units_a_round[place.unit] + at / rows;
    return place;
}

static void step(struct rig_key_schedule *schedule)
{
    schedule->client++;
    if (schedule->client < schedule->layout.client_count)
        return;
    schedule->client = 0;
    schedule->in_round++;
    if (schedule->in_round < schedule->layout.inserted)
        return;
    schedule->in_round = 0;
    schedule->round++;
}

/* To the first row at or after the present place that its unit has; each unit has its first row. */
static void settle(struct rig_key_schedule *schedule)
{
    const struct rig_app_layout *layout = &schedule->layout;
    if (layout->inserted == 0 || layout->application->has_row == NULL)
        return;
    for (;;) {
        const struct place place = place_of(schedule);
        if (place.row == 0 || layout->application->has_row(layout, place.unit, place.number, place.row))
            return;
        step(schedule);
    }
}

static int64_t take_inserted(struct rig_key_schedule *schedule)
{
    const struct place place = place_of(schedule);
    step(schedule);
    settle(schedule);
    return rig_app_unit_key(&schedule->layout, place.unit, place.number, place.row);
}

/* ---- all shapes ---- */

enum rig_rc rig_key_schedule_init(struct rig_key_schedule *schedule, const struct rig_generator_options *options,
                                  uint64_t seed, uint32_t client_count, struct rig_err *err)
{
    *schedule = (struct rig_key_schedule){0};
    if (rig_generator_types[options->type].leaves_at != NULL) {
        schedule->options = options;
        schedule->type = &rig_generator_types[options->type];
        schedule->client_count = client_count;
        return RIG_OK;
    }
    if (rig_application_of(options->shape) == NULL)
        return rig_generator_pool_init(&schedule->pool, options, client_count, err);
    rig_app_layout_init(&schedule->layout, options, seed, client_count);
    settle(schedule);
    return RIG_OK;
}

void rig_key_schedule_done(struct rig_key_schedule *schedule)
{
    rig_key_pool_done(&schedule->pool);
}

uint64_t rig_key_schedule_next(const struct rig_key_schedule *schedule)
{
    if (schedule->type != NULL)
        return schedule->type->leaves_at(schedule->options, schedule->client_count, schedule->next_key);
    if (!is_application(schedule))
        return rig_key_pool_next_move(&schedule->pool);
    const struct rig_app_layout *layout = &schedule->layout;
    if (layout->inserted == 0)
        return UINT64_MAX;
    /* From the second round after its own on; spread over that round, so that they do not leave all at once. */
    return (schedule->round + 2) * layout->round + (uint64_t)schedule->in_round * layout->round / layout->inserted;
}

int64_t rig_key_schedule_leave(struct rig_key_schedule *schedule)
{
    if (schedule->type != NULL)
        return schedule->next_key++;
    return is_application(schedule) ? take_inserted(schedule) : rig_key_pool_move(&schedule->pool);
}

bool rig_key_schedule_rest(struct rig_key_schedule *schedule, uint64_t position, int64_t *key)
{
    const struct rig_app_layout *layout = &schedule->layout;
    if (schedule->type != NULL) {
        *key = schedule->next_key++;
        return *key < schedule->type->key_bound(schedule->options, schedule->client_count, position);
    }
    const int64_t standing = is_application(schedule) ? layout->written : (int64_t)schedule->pool.slot_count;
    if (schedule->rest < standing) {
        *key = is_application(schedule) ? schedule->rest : schedule->pool.slots[schedule->rest].key;
        schedule->rest++;
        return true;
    }
    if (!is_application(schedule) || layout->inserted == 0 || schedule->round * layout->round >= position)
        return false;
    *key = take_inserted(schedule);
    return true;
}

int64_t rig_key_schedule_bound(const struct rig_key_schedule *schedule, uint64_t position)
{
    if (schedule->type != NULL)
        return schedule->type->key_bound(schedule->options, schedule->client_count, position);
    return is_application(schedule) ? rig_app_key_bound(&schedule->layout, position) : schedule->pool.next_key;
}

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
