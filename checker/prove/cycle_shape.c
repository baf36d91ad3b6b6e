#include "checker/prove/cycle_shape.h"

#include "base/bug.h"
#include "checker/prove/proved_levels.h"

static bool is_forbidden(const struct rig_cycle_shape *s, const struct rig_proved_level *level)
{
    RIG_REQUIRE(s->count >= 2 && level->forbids <= RIG_FORBIDS_ANY);
    if ((s->process > 0 && level->keeps == RIG_KEEPS_NOTHING) || (s->realtime > 0 && level->keeps != RIG_KEEPS_TIME))
        return false;
    if (level->forbids == RIG_FORBIDS_WRITES)
        return s->acknowledged && s->wr + s->rw == 0;
    if (s->rw == 0)
        return true;
    if (s->by_predicate && rig_forbids_items_alone(level->forbids))
        return false;
    switch ((int)level->forbids) {
    case RIG_FORBIDS_CURSOR:
        /* Both write the key of the rw step. In the one order of these writes it has a ww step back, in the other one
         * the two transactions form a cycle of ww steps. */
        return s->count == 2 && s->rw == 1 && s->ww == 1 && (s->one_key || s->updates);
    case RIG_FORBIDS_ATOMIC_LATER:
        return s->count == 2 && s->rw == 1 && s->ww == 0 && s->versions && s->ascending;
    case RIG_FORBIDS_MONOTONIC_VIEW:
        return s->rw == 1 && s->ascending;
    case RIG_FORBIDS_MONOTONIC_READS:
        return s->snapshots;
    case RIG_FORBIDS_SINGLE:
        return s->rw == 1;
    case RIG_FORBIDS_ATOMIC:
        return s->count == 2 && s->rw == 1 && s->ww == 0 && s->versions;
    case RIG_FORBIDS_CAUSAL:
        return s->rw == 1 && s->ww == 0 && s->versions;
    case RIG_FORBIDS_UPDATE_ATOMIC:
        return s->count == 2 && s->rw == 1 && s->versions;
    case RIG_FORBIDS_PREFIX:
        return s->behind_wr;
    case RIG_FORBIDS_SNAPSHOT:
        return !s->adjacent;
    case RIG_FORBIDS_UPDATES:
        return s->silent <= 1;
    case RIG_FORBIDS_ITEMS:
    case RIG_FORBIDS_ANY:
        return true;
    default:
        return false;
    }
}

uint64_t rig_cycle_forbidden_of_rows(const struct rig_cycle_shape *s)
{
    uint64_t levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++) {
        const enum rig_forbids forbids = rig_proved_levels[i].forbids;
        const bool is_about_cycles = forbids == RIG_FORBIDS_SINGLE || forbids == RIG_FORBIDS_SNAPSHOT ||
                                     forbids == RIG_FORBIDS_ITEMS || forbids == RIG_FORBIDS_ANY;
        if ((s->rw == 0 || is_about_cycles) && is_forbidden(s, &rig_proved_levels[i]))
            levels |= UINT64_C(1) << i;
    }
    return rig_proved_levels_above(levels);
}

uint64_t rig_cycle_forbidden(const struct rig_cycle_shape *s)
{
    uint64_t levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++)
        levels |= (uint64_t)is_forbidden(s, &rig_proved_levels[i]) << i;
    /* Each stronger level forbids it, too. */
    RIG_INVARIANT((rig_proved_levels_above(levels) & ~levels) == 0);
    return levels;
}
