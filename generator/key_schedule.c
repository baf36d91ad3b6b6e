#include "generator/key_schedule.h"

#include "base/bug.h"
#include "generator/generator_types.h"

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

/* To the first row at or behind the present place that its unit has; each unit has its first row. */
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
