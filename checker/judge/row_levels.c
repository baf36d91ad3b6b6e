#include "checker/judge/row_levels.h"

#include "base/bug.h"
#include "base/clock.h"
#include "checker/infer/row_guess.h"
#include "checker/infer/row_versions.h"
#include "checker/model/level.h"

static const enum rig_level by_rung[RIG_RUNG_COUNT][RIG_ALONG_COUNT] = {
    {RIG_LEVEL_READ_UNCOMMITTED, RIG_LEVEL_STRONG_SESSION_READ_UNCOMMITTED, RIG_LEVEL_STRONG_READ_UNCOMMITTED},
    {RIG_LEVEL_READ_COMMITTED, RIG_LEVEL_STRONG_SESSION_READ_COMMITTED, RIG_LEVEL_STRONG_READ_COMMITTED},
    {RIG_LEVEL_SNAPSHOT_ISOLATION, RIG_LEVEL_STRONG_SESSION_SNAPSHOT_ISOLATION, RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION},
    {RIG_LEVEL_SERIALIZABLE, RIG_LEVEL_STRONG_SESSION_SERIALIZABLE, RIG_LEVEL_STRICT_SERIALIZABLE},
};

/* Bits: the levels that a graph without open reads decides by itself. */
static uint64_t held_by_graphs(void)
{
    uint64_t levels = RIG_LEVEL_BIT(RIG_LEVEL_REPEATABLE_READ);
    for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++)
            levels |= RIG_LEVEL_BIT(by_rung[rung][order]);
    }
    return levels;
}

/* The levels that the graph of the judgement, in which nothing is open, shows to hold. */
static uint64_t held_by(const struct rig_judge *judge, uint64_t levels)
{
    const unsigned orders = judge->history->has_invocations ? RIG_ALONG_COUNT : RIG_ALONG_REALTIME;
    const struct rig_ladder *items = judge->has_items ? &judge->item_ladder : &judge->ladder;
    uint64_t held = 0;
    for (unsigned rung = 0; rung < RIG_RUNG_COUNT; rung++) {
        for (unsigned order = 0; order < orders; order++) {
            const uint64_t bit = RIG_LEVEL_BIT(by_rung[rung][order]);
            if (!judge->ladder.cyclic[rung][order] && (levels & bit) != 0)
                held |= rig_level_info(by_rung[rung][order])->below;
        }
    }
    if (!items->cyclic[RIG_RUNG_ALL][RIG_ALONG_PLAIN] && (levels & RIG_LEVEL_BIT(RIG_LEVEL_REPEATABLE_READ)) != 0)
        held |= rig_level_info(RIG_LEVEL_REPEATABLE_READ)->below;
    return held;
}

/* Judges the history with the places of a guess. */
static enum rig_rc judge_guess(const struct rig_history *history, const struct rig_judge *judge,
                               struct rig_read_places *places, uint64_t levels, uint64_t *held, struct rig_err *err)
{
    struct rig_history *shared = rig_history_share(history);
    struct rig_row_chains rows = *places->rows;
    struct rig_judge again;
    if (shared == NULL)
        return rig_memory_limit(err, "the verdict");
    rows.history = shared;
    rows.guessed = true;
    places->rows = &rows;
    shared->places = places;
    rig_judge_init(&again, 1, judge->assumptions, judge->scratch.limit_bytes);
    enum rig_rc rc = rig_judge_infer(&again, shared, false, err);
    if (rc == RIG_OK && again.inference.open_reads == 0) {
        rc = rig_judge_search(&again, NULL, err);
        if (rc == RIG_OK)
            *held |= held_by(&again, levels);
    }
    rig_judge_done(&again);
    shared->places = NULL;
    rig_history_free(shared);
    return rc;
}

/* Whether the guess can decide one of the levels: snapshots of transactions where these matter, else those of reads. */
static bool is_for(enum rig_row_guess guess, uint64_t levels)
{
    uint64_t of_snapshots = 0;
    for (unsigned order = 0; order < RIG_ALONG_COUNT; order++)
        of_snapshots |= RIG_LEVEL_BIT(by_rung[RIG_RUNG_SNAPSHOT][order]) | RIG_LEVEL_BIT(by_rung[RIG_RUNG_ALL][order]);
    return (levels & (guess == RIG_ROW_GUESS_APART ? ~of_snapshots : of_snapshots)) != 0;
}

static enum rig_rc try_guesses(const struct rig_inference *inference, const struct rig_judge *judge, uint64_t levels,
                               int64_t deadline_ns, uint64_t *held, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (unsigned guess = 0; rc == RIG_OK && guess < RIG_ROW_GUESSES && (levels & ~*held) != 0; guess++) {
        struct rig_arena arena;
        struct rig_read_places places;
        uint64_t unfit;
        if (!is_for((enum rig_row_guess)guess, levels & ~*held))
            continue;
        if (rig_clock_now_ns() >= deadline_ns)
            break;
        rig_arena_init(&arena, judge->scratch.limit_bytes);
        if (!rig_row_guess_find(inference, (enum rig_row_guess)guess, &arena, &places, &unfit))
            rc = rig_memory_limit(err, "the order of the commits");
        else if (unfit == 0)
            rc = judge_guess(inference->history, judge, &places, levels & ~*held, held, err);
        rig_arena_done(&arena);
    }
    return rc;
}

enum rig_rc rig_rows_explain(const struct rig_history *history, const struct rig_judge *judge, uint64_t levels,
                             int64_t deadline_ns, uint64_t *held, struct rig_err *err)
{
    struct rig_judge first;
    struct rig_err why = {0};
    RIG_REQUIRE(history->places == NULL);
    *held = 0;
    levels &= held_by_graphs();
    if (levels == 0)
        return RIG_OK;
    rig_judge_init(&first, 1, judge->assumptions, judge->scratch.limit_bytes);
    enum rig_rc rc = rig_judge_infer(&first, history, false, &why);
    if (rc == RIG_OK)
        rc = try_guesses(&first.inference, judge, levels, deadline_ns, held, &why);
    rig_judge_done(&first);
    return rc == RIG_OK || rc == RIG_E_LIMIT ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}
