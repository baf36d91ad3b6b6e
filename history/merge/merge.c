#include "history/merge/merge.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"
#include "base/thread.h"
#include "history/merge/merge_private.h"
#include "history/types/types.h"

enum {
    OUTPUTS_LEAST = 2,
    OUTPUT_BYTES = 3 << 19, /* about, with what it refers to */
    OUTPUT_SHARE = 16,      /* of a limit, for all of them */
    OUTPUT_TXNS = 1 << 12
};

/* ---- the thread ---- */

/* It also makes notes of outputs where it is far ahead. Else the window does, so that the slower of both has less to
 * do. */
static void *merge_ahead(void *context)
{
    struct rig_merge *merge = context;
    pthread_mutex_lock(&merge->lock);
    while (!merge->stopping && !merge->ended && merge->err.rc == RIG_OK) {
        struct rig_merge_slot *out = &merge->outputs[merge->filling % merge->output_count];
        if (out->state != RIG_MERGE_EMPTY) {
            pthread_cond_wait(&merge->changed, &merge->lock);
            continue;
        }
        const bool is_ahead = merge->filling - merge->giving >= merge->output_count / 2;
        pthread_mutex_unlock(&merge->lock);
        struct rig_err err = {0};
        if (rig_merge_fill(merge, out, &err) == RIG_OK && is_ahead && !merge->parts.uses_only)
            (void)rig_segment_note_make(&out->made.segment.note, &out->made.segment);
        pthread_mutex_lock(&merge->lock);
        merge->err = err;
        out->last = merge->ended;
        out->state = RIG_MERGE_FULL;
        merge->filling++;
        pthread_cond_broadcast(&merge->changed);
    }
    pthread_mutex_unlock(&merge->lock);
    return NULL;
}

void rig_merge_stop_thread(struct rig_merge *merge)
{
    if (!merge->started)
        return;
    pthread_mutex_lock(&merge->lock);
    merge->stopping = true;
    pthread_cond_broadcast(&merge->changed);
    pthread_mutex_unlock(&merge->lock);
    pthread_join(merge->thread, NULL);
    merge->started = merge->stopping = false;
}

static void fill_here(struct rig_merge *merge, struct rig_merge_slot *out)
{
    if (out->state == RIG_MERGE_EMPTY && merge->err.rc == RIG_OK) {
        (void)rig_merge_fill(merge, out, &merge->err);
        out->last = merge->ended;
        out->state = RIG_MERGE_FULL;
        merge->filling++;
    }
}

/* Waits for the next output. Without a thread, makes it. */
static enum rig_rc wait_for(struct rig_merge *merge, struct rig_merge_slot **out, struct rig_err *err)
{
    struct rig_merge_slot *next = &merge->outputs[merge->giving % merge->output_count];
    if (merge->threaded && !merge->started)
        merge->threaded = merge->started = rig_thread_start(&merge->thread, merge_ahead, merge) == 0;
    if (!merge->started)
        fill_here(merge, next);
    pthread_mutex_lock(&merge->lock);
    while (next->state != RIG_MERGE_FULL && merge->err.rc == RIG_OK)
        pthread_cond_wait(&merge->changed, &merge->lock);
    struct rig_err why =
        next->state == RIG_MERGE_FULL && !(merge->err.rc != RIG_OK && merge->giving + 1 == merge->filling)
            ? (struct rig_err){0}
            : merge->err;
    if (why.rc == RIG_OK) {
        next->state = RIG_MERGE_GIVEN;
        merge->giving++;
    }
    pthread_mutex_unlock(&merge->lock);
    *out = next;
    return why.rc == RIG_OK ? RIG_OK : rig_fail(err, why.rc, "%s", why.text);
}

static void give_back(struct rig_merge *merge)
{
    pthread_mutex_lock(&merge->lock);
    for (unsigned i = 0; i < RIG_MERGE_OUTPUTS_MOST; i++) {
        if (merge->outputs[i].state == RIG_MERGE_GIVEN && !merge->outputs[i].last)
            merge->outputs[i].state = RIG_MERGE_EMPTY;
    }
    pthread_cond_broadcast(&merge->changed);
    pthread_mutex_unlock(&merge->lock);
}

/* ---- facts ---- */

void rig_merge_set_rank_facts(struct rig_merge *merge, struct rig_source_facts *facts)
{
    int64_t error_ns = 0;
    for (size_t i = 0; i < merge->count; i++) {
        const struct rig_merge_rank *rank = &merge->ranks[i];
        merge->facts[rank->number] = rank->fact;
        error_ns = rank->fact.error_ns > error_ns ? rank->fact.error_ns : error_ns;
    }
    facts->ranks.bound_ns = 2 * error_ns;
}

/* At the end. */
static void add_facts(struct rig_merge *merge, struct rig_source_facts *facts)
{
    rig_merge_set_rank_facts(merge, facts);
    for (size_t i = 0; i < merge->count; i++) {
        const struct rig_source_facts *of = rig_source_facts(merge->ranks[i].source);
        facts->truncated |= of->truncated;
        if (of->certificate != NULL && facts->certificate == NULL)
            facts->certificate = of->certificate;
        if (of->damaged_at != 0 && facts->damaged_at == 0) {
            facts->damaged_at = of->damaged_at;
            facts->damaged_bytes = of->damaged_bytes;
            facts->damaged_frames = of->damaged_frames;
        }
        facts->damaged_txns += of->damaged_txns;
    }
    facts->truncated |= merge->missing_count > 0;
}

enum rig_rc rig_merge_next(struct rig_merge *merge, const struct rig_segment **segment, struct rig_source_facts *facts,
                           struct rig_err *err)
{
    struct rig_merge_slot *out = NULL;
    *segment = NULL;
    const struct rig_merge_slot *last =
        &merge->outputs[(merge->giving + merge->output_count - 1) % merge->output_count];
    if (merge->giving > 0 && last->last)
        return RIG_OK;
    give_back(merge); /* from now on it may be filled again */
    const enum rig_rc rc = wait_for(merge, &out, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_segment *made = &out->made.segment;
    facts->skipped_count += made->skipped_count;
    facts->lost_count += made->lost_count - (merge->giving == 1 ? merge->missing_count : 0); /* known before */
    facts->reused_count += made->reused_count;
    merge->parts.end_place = out->place;
    merge->parts.end_mark = out->mark;
    if (out->last) {
        rig_merge_stop_thread(merge);
        add_facts(merge, facts);
    }
    *segment = made;
    return RIG_OK;
}

double rig_merge_share(const struct rig_merge *merge)
{
    return merge->giving == 0 ? 0
                              : merge->outputs[(merge->giving + merge->output_count - 1) % merge->output_count].share;
}

/* ---- opening ---- */

static enum rig_rc refuse(const char *name, const char *what, struct rig_err *err)
{
    return rig_fail(err, RIG_E_INPUT, "%s: %s", name, what);
}

static enum rig_rc check_record(const struct rig_source_facts *first, const char *first_name,
                                const struct rig_source_facts *facts, const char *name, struct rig_err *err)
{
    if (facts->rank.count == 0)
        return refuse(name, "is not the record of one rank of a run; only those can be checked together", err);
    if (memcmp(facts->rank.run, first->rank.run, sizeof first->rank.run) != 0 ||
        facts->rank.count != first->rank.count || facts->workload != first->workload)
        return rig_fail(err, RIG_E_INPUT, "%s: is of another run than %s; check the records of one run together", name,
                        first_name);
    if (rig_workload_is_object(facts->workload) && facts->rank.origin_ns != 0)
        return refuse(
            name,
            "holds operations on objects, whose order needs one clock; records of several ranks can be checked "
            "together if they hold transactions, or if their time was simulated",
            err);
    return RIG_OK;
}

static enum rig_rc check_records(struct rig_source **sources, const char *const *names, size_t count,
                                 struct rig_merge *merge, struct rig_err *err)
{
    const struct rig_source_facts *first = rig_source_facts(sources[0]);
    for (size_t i = 0; i < count; i++) {
        const struct rig_source_facts *facts = rig_source_facts(sources[i]);
        const enum rig_rc rc = check_record(first, names[0], facts, names[i], err);
        if (rc != RIG_OK)
            return rc;
        for (size_t other = 0; other < i; other++) {
            if (rig_source_facts(sources[other])->rank.number == facts->rank.number)
                return rig_fail(err, RIG_E_INPUT, "%s and %s are both the record of rank %u; give each record once",
                                names[other], names[i], (unsigned)facts->rank.number);
        }
    }
    merge->run_count = first->rank.count;
    merge->missing_count = merge->run_count - (uint32_t)count;
    return RIG_OK;
}

static bool allocate(struct rig_merge *merge, size_t count)
{
    merge->ranks = calloc(count, sizeof *merge->ranks);
    merge->streams = calloc(2 * count, sizeof *merge->streams);
    merge->end_pieces = calloc(count, sizeof *merge->end_pieces);
    merge->positions = calloc(2 * count, sizeof *merge->positions);
    const bool fits = rig_merge_processes_init(&merge->processes);
    return rig_time_order_init(&merge->order, 2 * count) && fits && merge->ranks != NULL && merge->streams != NULL &&
           merge->end_pieces != NULL && merge->positions != NULL;
}

static void init_facts(struct rig_merge *merge, struct rig_source_facts *facts)
{
    const struct rig_source_facts *zero = rig_source_facts(merge->ranks[0].source);
    for (size_t i = 0; i < merge->count; i++) {
        if (merge->ranks[i].number == 0)
            zero = rig_source_facts(merge->ranks[i].source);
    }
    *facts = (struct rig_source_facts){
        .form = RIG_FORM_RIG,
        .workload = zero->workload,
        .meta = zero->meta,
        .specification = zero->specification,
        .start_utc_ns = zero->start_utc_ns,
        .has_invocations = true,
        .lost_count = merge->missing_count, /* what the missing ranks did is left out */
        .ranks = {.ranks = merge->facts, .count = merge->run_count},
        .parts_bytes = (size_t)(merge->output_count - OUTPUTS_LEAST) * OUTPUT_BYTES,
    };
    for (size_t i = 0; i < merge->count; i++) {
        const struct rig_source_facts *of = rig_source_facts(merge->ranks[i].source);
        facts->size_bytes += of->size_bytes;
        facts->held_bytes += of->held_bytes;
        facts->parts_bytes += 2 * of->parts_bytes; /* those parsed ahead, and those being merged */
        facts->skipped_count += of->skipped_count;
        facts->most_bytes = of->most_bytes > facts->most_bytes ? of->most_bytes : facts->most_bytes;
    }
}

/* Rank 0's times count from its own start. Without its record, those of the first record given do. */
static int64_t zero_of(struct rig_source **sources, size_t count)
{
    int64_t zero_ns = rig_source_facts(sources[0])->rank.origin_ns;
    for (size_t i = 0; i < count; i++) {
        const struct rig_source_facts *facts = rig_source_facts(sources[i]);
        zero_ns = facts->rank.number == 0 ? facts->rank.origin_ns : zero_ns;
    }
    return zero_ns;
}

static enum rig_rc open_ranks(struct rig_merge *merge, struct rig_source **sources, const char *const *names,
                              size_t count, struct rig_err *err)
{
    const int64_t zero_ns = zero_of(sources, count);
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < count && rc == RIG_OK; i++) {
        rc = rig_merge_rank_init(&merge->ranks[i], sources[i], names[i], zero_ns, err);
        merge->count++;
        sources[i] = NULL; /* the rank has it */
    }
    return rc;
}

/* Those that are merged ahead have a thread of their own. */
static unsigned count_outputs(unsigned threads, size_t limit_bytes)
{
    const size_t most = threads == 1 ? OUTPUTS_LEAST : RIG_MERGE_OUTPUTS_MOST;
    const size_t fit = limit_bytes == 0 ? most : limit_bytes / OUTPUT_SHARE / OUTPUT_BYTES;
    return (unsigned)(fit < OUTPUTS_LEAST ? OUTPUTS_LEAST : fit > most ? most : fit);
}

enum rig_rc rig_merge_open(const struct rig_merge_records *records, struct rig_source_facts *facts,
                           struct rig_merge **merge, struct rig_err *err)
{
    struct rig_source **const sources = records->sources;
    const size_t count = records->count;
    RIG_REQUIRE(count > 0);
    struct rig_merge *made = calloc(1, sizeof *made);
    enum rig_rc rc = made == NULL ? rig_merge_no_memory(err) : RIG_OK;
    if (rc == RIG_OK) {
        pthread_mutex_init(&made->lock, NULL);
        pthread_cond_init(&made->changed, NULL);
        rig_arena_init(&made->parts.texts, 0);
        made->threaded = records->threads != 1;
        made->output_count = count_outputs(records->threads, records->limit_bytes);
        made->output_txns = records->output_txns == 0 ? OUTPUT_TXNS : records->output_txns;
        rc = check_records(sources, records->names, count, made, err);
    }
    if (rc == RIG_OK && !allocate(made, count))
        rc = rig_merge_no_memory(err);
    if (rc == RIG_OK && (made->facts = calloc(made->run_count, sizeof *made->facts)) == NULL)
        rc = rig_merge_no_memory(err);
    if (rc == RIG_OK) {
        const bool sequences = rig_data_type_has_sequences(&rig_data_types[rig_source_facts(sources[0])->workload]);
        for (unsigned i = 0; i < RIG_MERGE_OUTPUTS_MOST; i++)
            rig_merge_output_init(&made->outputs[i].made, sequences);
        rc = open_ranks(made, sources, records->names, count, err);
    }
    for (size_t i = 0; i < count; i++) {
        rig_source_close(sources[i]); /* those that no rank has */
        sources[i] = NULL;
    }
    if (rc != RIG_OK) {
        rig_merge_close(made);
        return rc;
    }
    init_facts(made, facts);
    *merge = made;
    return RIG_OK;
}

enum rig_rc rig_merge_restart(struct rig_merge *merge, const struct rig_source_entry *blocks,
                              struct rig_source_facts *facts, struct rig_err *err)
{
    rig_merge_stop_thread(merge);
    for (unsigned i = 0; i < RIG_MERGE_OUTPUTS_MOST; i++) {
        rig_merge_output_empty(&merge->outputs[i].made, merge->ranks, 0);
        merge->outputs[i].state = RIG_MERGE_EMPTY;
        merge->outputs[i].last = false;
    }
    for (size_t i = 0; i < merge->count; i++) {
        const enum rig_rc rc = rig_merge_rank_restart(&merge->ranks[i], blocks == NULL ? NULL : &blocks[i], err);
        if (rc != RIG_OK)
            return rc;
    }
    rig_merge_processes_reset(&merge->processes);
    merge->filling = merge->giving = 0;
    merge->next_position = 0;
    merge->begun = merge->ended = false;
    merge->err = (struct rig_err){0};
    merge->parts.faults.count = 0;
    rig_arena_reset(&merge->parts.texts);
    init_facts(merge, facts);
    return RIG_OK;
}

enum rig_rc rig_merge_rewind(struct rig_merge *merge, struct rig_source_facts *facts, struct rig_err *err)
{
    const enum rig_rc rc = rig_merge_restart(merge, NULL, facts, err);
    merge->parts.is_on = merge->parts.is_before = merge->parts.uses_only = false;
    merge->parts.next_cut = 0;
    return rc;
}

void rig_merge_close(struct rig_merge *merge)
{
    if (merge == NULL)
        return;
    rig_merge_stop_thread(merge);
    for (unsigned i = 0; i < RIG_MERGE_OUTPUTS_MOST; i++) {
        if (merge->ranks != NULL)
            rig_merge_output_empty(&merge->outputs[i].made, merge->ranks, 0);
        rig_merge_output_done(&merge->outputs[i].made);
    }
    for (size_t i = 0; i < merge->count; i++)
        rig_merge_rank_done(&merge->ranks[i]);
    rig_merge_processes_done(&merge->processes);
    rig_merge_cuts_done(&merge->parts.cuts);
    rig_fault_event_vec_done(&merge->parts.faults);
    rig_arena_done(&merge->parts.texts);
    rig_merge_ids_done(&merge->under_way);
    free(merge->streams);
    free(merge->end_pieces);
    free(merge->positions);
    rig_time_order_done(&merge->order);
    rig_merge_ids_done(&merge->ends);
    free(merge->ranks);
    free(merge->facts);
    pthread_cond_destroy(&merge->changed);
    pthread_mutex_destroy(&merge->lock);
    free(merge);
}
