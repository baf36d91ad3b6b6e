#include "tests/model/split_ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/output_file.h"
#include "base/rng.h"
#include "history/source/event_walk.h"
#include "history/model/history_excerpt.h"
#include "history/record/record_writer.h"

struct clock {
    int64_t shift_ns, step_ns, half_ns, origin_ns;
    double drift;
};

static void require(bool done, const char *what)
{
    if (done)
        return;
    (void)fprintf(stderr, "split_ranks: %s\n", what);
    exit(3);
}

static int64_t show(const struct clock *clock, int64_t true_ns)
{
    return true_ns + clock->shift_ns + (int64_t)((double)true_ns * clock->drift) +
           (true_ns >= clock->half_ns ? clock->step_ns : 0);
}

static int64_t within(struct rig_rng *rng, int64_t most)
{
    return most == 0 ? 0 : (int64_t)rig_rng_below(rng, 2 * (uint64_t)most + 1) - most;
}

static int64_t last_time(const struct rig_history *history)
{
    int64_t last = 0;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        const struct rig_txn *txn = &history->txns[i];
        last = txn->complete_at != RIG_POSITION_NONE && txn->complete_ns > last ? txn->complete_ns : last;
        last = txn->invoke_ns > last ? txn->invoke_ns : last;
    }
    return last;
}

/* Positions from 0 on, without gaps. */
static void number(struct rig_history *part)
{
    struct rig_event_walk walk;
    struct rig_event event;
    uint32_t *invoke_at = malloc(((size_t)part->txn_count + 1) * sizeof *invoke_at), next = 0;
    uint32_t *complete_at = malloc(((size_t)part->txn_count + 1) * sizeof *complete_at);
    require(invoke_at != NULL && complete_at != NULL && rig_event_walk_init(&walk, part), "no memory");
    while (rig_event_walk_next(&walk, &event))
        *(event.is_completion ? &complete_at[event.txn] : &invoke_at[event.txn]) = next++;
    rig_event_walk_done(&walk);
    for (uint32_t i = 0; i < part->txn_count; i++) {
        part->txns[i].invoke_at = invoke_at[i];
        if (part->txns[i].complete_at != RIG_POSITION_NONE)
            part->txns[i].complete_at = complete_at[i];
    }
    free(invoke_at);
    free(complete_at);
}

static void set_clock(struct rig_history *part, const struct clock *clock)
{
    for (uint32_t i = 0; i < part->txn_count; i++) {
        struct rig_txn *txn = &part->txns[i];
        txn->invoke_ns = show(clock, txn->invoke_ns) - clock->origin_ns;
        if (txn->complete_at != RIG_POSITION_NONE)
            txn->complete_ns = show(clock, txn->complete_ns) - clock->origin_ns;
    }
}

static struct rig_clock_sample *make_samples(const struct split_ranks *options, const struct clock *clock,
                                             int64_t end_ns, struct rig_rng *rng)
{
    struct rig_clock_sample *samples = calloc(options->sample_count, sizeof *samples);
    require(samples != NULL, "no memory");
    for (uint32_t i = 0; i < options->sample_count; i++) {
        const int64_t true_ns = (int64_t)((double)(end_ns + 2) / (options->sample_count - 1) * i) - 1;
        const int64_t local_ns = show(clock, true_ns);
        samples[i] = (struct rig_clock_sample){.local_ns = local_ns,
                                               .offset_ns = true_ns - local_ns + within(rng, options->error_ns),
                                               .error_ns = (uint64_t)options->error_ns};
    }
    return samples;
}

/* The last transaction that is not the first one of its process. */
static uint32_t find_moved(const struct rig_history *history)
{
    for (uint32_t last = history->txn_count; last-- > 0;) {
        for (uint32_t txn = 0; txn < last; txn++) {
            if (history->txns[txn].process == history->txns[last].process)
                return last;
        }
    }
    return history->txn_count;
}

static void write_part(const struct rig_history *part, const struct split_ranks *options, const char *path)
{
    struct rig_err err = {0};
    struct rig_output output;
    const struct rig_record_write_options write = {.frame_bytes = options->frame_bytes,
                                                   .block_bytes = options->block_bytes};
    enum rig_rc rc = rig_output_open(&output, path, &err);
    if (rc == RIG_OK)
        rc = rig_record_write(part, &write, &output, &err);
    require(rig_output_close(&output, rc, &err) == RIG_OK, err.text);
}

void split_ranks_spread_times(struct rig_history *history, int64_t step_ns, uint32_t events_at_a_time)
{
    for (uint32_t i = 0; i < history->txn_count; i++) {
        struct rig_txn *txn = &history->txns[i];
        txn->invoke_ns = (int64_t)(txn->invoke_at / events_at_a_time) * step_ns;
        if (txn->complete_at != RIG_POSITION_NONE)
            txn->complete_ns = (int64_t)(txn->complete_at / events_at_a_time) * step_ns;
    }
}

void split_ranks(const struct rig_history *history, const struct split_ranks *options, const char *prefix)
{
    const int64_t end_ns = last_time(history);
    const uint32_t moved = options->moves ? find_moved(history) : history->txn_count;
    struct rig_rng rng;
    rig_rng_init(&rng, options->seed, 7);
    uint8_t *keep = malloc((size_t)history->txn_count + 1);
    require(keep != NULL, "no memory");
    for (uint32_t rank = 0; rank < options->count; rank++) {
        struct rig_history *part = NULL;
        struct rig_err err = {0};
        char path[4096];
        for (uint32_t i = 0; i < history->txn_count; i++)
            keep[i] = ((uint32_t)history->txns[i].process + (i == moved)) % options->count == rank;
        require(rig_history_excerpt(history, keep, &part, &err) == RIG_OK, err.text);
        const bool shifted = rank > 0;
        const struct clock clock = {.shift_ns = shifted ? within(&rng, options->shift_ns) : 0,
                                    .drift = shifted ? options->drift * ((double)within(&rng, 1000) / 1000) : 0,
                                    .half_ns = end_ns / 2,
                                    .step_ns = rank == 1 ? options->step_ns : 0,
                                    .origin_ns = within(&rng, INT64_C(1000000000000))};
        struct rig_clock_sample *samples = make_samples(options, &clock, end_ns, &rng);
        number(part);
        set_clock(part, &clock);
        part->rank = (struct rig_rank){.number = rank, .count = options->count, .origin_ns = clock.origin_ns};
        for (unsigned i = 0; i < sizeof part->rank.run; i++)
            part->rank.run[i] = (uint8_t)(options->seed >> (i % 8 * 8));
        part->clock = shifted ? samples : NULL;
        part->clock_count = shifted ? options->sample_count : 0;
        require(snprintf(path, sizeof path, "%s.%u.rig", prefix, (unsigned)rank) < (int)sizeof path, "a long path");
        write_part(part, options, path);
        rig_history_free(part);
        free(samples);
    }
    free(keep);
}
