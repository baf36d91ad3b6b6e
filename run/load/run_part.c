#include "run/load/run_part.h"

#include <string.h>
#include <sys/random.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/run_files.h"
#include "history/source/source.h"
#include "run/load/remote_driver.h"
#include "run/load/run_state.h"

/* How often a last round trip is waited for, 10 ms each. */
enum { LAST_PINGS = 50 };

/* -- shares ----------------------------------------------------------------------------------------------------- */

uint32_t rig_run_part_first(uint32_t clients, uint32_t rank, uint32_t rank_count)
{
    return (uint32_t)((uint64_t)clients * rank / rank_count);
}

void rig_run_part_init(struct rig_run_state *run)
{
    struct rig_run_part *part = &run->part;
    struct rig_run_ranks *ranks = run->options->ranks;
    part->ranks = ranks;
    part->all_clients = run->client_count;
    part->rank_count = 1;
    RIG_INVARIANT(pthread_mutex_init(&run->served.lock, NULL) == 0);
    RIG_INVARIANT(pthread_mutex_init(&part->clock_lock, NULL) == 0);
    if (ranks == NULL)
        return;
    part->rank = ranks->rank;
    part->rank_count = ranks->rank_count;
    part->first_client = rig_run_part_first(part->all_clients, part->rank, part->rank_count);
    run->client_count = rig_run_part_first(part->all_clients, part->rank + 1, part->rank_count) - part->first_client;
    part->origin_ns = run->simulated ? 0 : rig_clock_now_ns();
    part->place = (struct rig_rank){.number = part->rank, .count = part->rank_count};
    rig_run_ranks_attach(ranks, run);
}

void rig_run_part_done(struct rig_run_state *run)
{
    if (run->part.ranks != NULL)
        rig_run_ranks_detach(run->part.ranks);
    rig_key_numbers_done(&run->part.keys);
    (void)pthread_mutex_destroy(&run->part.clock_lock);
    (void)pthread_mutex_destroy(&run->served.lock);
}

void rig_run_part_record(const struct rig_run_state *run, char *name, size_t size)
{
    if (run->part.ranks == NULL)
        (void)snprintf(name, size, RIG_RUN_RECORD);
    else
        rig_run_ranks_record(run->part.rank, name, size);
}

void rig_run_part_plan(const struct rig_run_state *run, struct rig_buf *yaml)
{
    if (run->part.rank > 0) /* rank 0's: this one's has a driver of its own */
        rig_buf_add_text(yaml, rig_buf_text(&run->part.ranks->plan_yaml));
    else
        rig_plan_write(run->plan, false, yaml);
}

int64_t rig_run_part_share(const struct rig_run_state *run, int64_t transactions, uint32_t clients, uint32_t own)
{
    const int64_t all = clients, first = run->part.first_client;
    const int64_t rest = transactions % all, last = first + own;
    const int64_t more = own == 0 ? 0 : (rest < last ? rest : last) - (rest < first ? rest : first);
    return transactions / all * own + more;
}

enum rig_rc rig_run_part_name(struct rig_run_state *run, struct rig_err *err)
{
    if (run->part.rank == 0)
        return rig_run_name_make(run->name, err);
    memcpy(run->name, run->part.ranks->begun.run_name, sizeof run->name);
    return RIG_OK;
}

enum rig_rc rig_run_part_folder(struct rig_run_state *run, struct rig_err *err)
{
    char place[RIG_PLAN_PLACE_BYTES];
    rig_plan_place(run->plan, place);
    if (run->part.rank == 0)
        return rig_run_folder_make(&run->folder, run->simulated, run->plan->nemesis.entry_count > 0, place, err);
    const int length = snprintf(run->folder.path, sizeof run->folder.path, "%s", run->options->folder);
    return length > 0 && (size_t)length < sizeof run->folder.path
               ? RIG_OK
               : rig_fail(err, RIG_E_IO, "%s: the path is too long", run->options->folder);
}

/* -- the record ---------------------------------------------------------------------------------------------------- */

const struct rig_rank *rig_run_part_place(struct rig_run_state *run)
{
    struct rig_run_part *part = &run->part;
    if (part->ranks == NULL)
        return NULL;
    if (part->rank > 0)
        memcpy(part->place.run, part->ranks->begun.run, sizeof part->place.run);
    else
        RIG_INVARIANT(getrandom(part->place.run, sizeof part->place.run, 0) == (ssize_t)sizeof part->place.run);
    return &part->place;
}

/* Gives the recorder what the team has measured since the last time. The simulated clock is rank 0's in all ranks. */
static void record_clock(struct rig_run_state *run, bool settle)
{
    struct rig_run_part *part = &run->part;
    if (run->simulated)
        return;
    static struct rig_clock_offsets clock; /* 24 KiB; one run has ranks */
    pthread_mutex_lock(&part->clock_lock);
    rig_team_clock(part->ranks->team, settle, &clock);
    for (uint32_t i = 0; i < clock.count; i++) {
        const struct rig_offset_sample *sample = &clock.samples[i];
        if (part->has_told_clock && sample->local_ns <= part->told_clock_ns)
            continue;
        const struct rig_clock_sample told = {sample->local_ns, sample->offset_ns, sample->error_ns};
        rig_recorder_clock(run->recorder, &told);
        part->told_clock_ns = sample->local_ns;
        part->has_told_clock = true;
    }
    if (clock.steps > part->told_steps)
        rig_log(RIG_LOG_WARN, "ranks", "the clock of this machine, or of rank 0's, has stepped by %.3f s",
                (double)clock.largest_step_ns / (double)RIG_NS_PER_S);
    part->told_steps = clock.steps;
    pthread_mutex_unlock(&part->clock_lock);
}

static void set_recording(struct rig_run_ranks *ranks, bool is_recording)
{
    pthread_mutex_lock(&ranks->lock);
    ranks->is_recording = is_recording;
    pthread_mutex_unlock(&ranks->lock);
}

void rig_run_part_close_record(struct rig_run_state *run)
{
    struct rig_run_part *part = &run->part;
    if (part->ranks == NULL || part->rank == 0)
        return;
    set_recording(part->ranks, false);
    if (run->simulated)
        return;
    const int64_t now_ns = rig_clock_now_ns();
    for (int i = 0; i < LAST_PINGS && !rig_team_clock_reaches(part->ranks->team, now_ns); i++)
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 10 * RIG_NS_PER_MS);
    record_clock(run, true);
}

/* -- steps of the run ---------------------------------------------------------------------------------------------- */

void rig_run_part_begin(struct rig_run_state *run)
{
    struct rig_run_ranks *ranks = run->part.ranks;
    if (ranks == NULL || run->part.rank > 0)
        return;
    struct rig_run_begin_word word;
    memcpy(word.run, run->part.place.run, sizeof word.run);
    memcpy(word.run_name, run->name, sizeof word.run_name);
    rig_team_serve(ranks->team, rig_remote_serve, run);
    rig_team_tell_all(ranks->team, RIG_TEAM_BEGIN, &word, sizeof word);
}

enum rig_rc rig_run_part_gather(struct rig_run_state *run, enum rig_rc rc, struct rig_err *err)
{
    struct rig_run_ranks *ranks = run->part.ranks;
    if (ranks == NULL)
        return rc;
    if (run->part.rank > 0) {
        set_recording(ranks, true);
        record_clock(run,
                     true); /* before the first transaction, so that each can be compared with those of other ranks */
        (void)rig_team_tell(ranks->team, 0, RIG_TEAM_READY, NULL, 0);
        ranks->has_told_ready = true;
        const enum rig_rc gone = rig_team_await(ranks->team, 0, RIG_TEAM_GO, NULL, err);
        return rc != RIG_OK ? rc : gone;
    }
    for (uint32_t i = 1; i < run->part.rank_count; i++) {
        const enum rig_rc gone = rig_team_await(ranks->team, i, RIG_TEAM_READY, NULL, err);
        rc = rc != RIG_OK ? rc : gone;
    }
    if (rc != RIG_OK) {
        const struct rig_run_stop_word end = {.stop = RIG_STOP_END, .anomaly = RIG_ANOMALY_COUNT};
        rig_team_tell_all(ranks->team, RIG_TEAM_STOP, &end, sizeof end);
    }
    rig_team_tell_all(ranks->team, RIG_TEAM_GO, NULL, 0);
    return rc;
}

/* The least promise of all ranks but one. */
static struct rig_run_horizon horizon_without(const struct rig_run_state *run, const struct rig_run_horizon *of,
                                              uint32_t left_out)
{
    struct rig_run_horizon least = {RIG_NO_POSITION, RIG_NO_POSITION};
    for (uint32_t i = 0; i < run->part.rank_count; i++) {
        if (i == left_out)
            continue;
        least.promised = of[i].promised < least.promised ? of[i].promised : least.promised;
        least.active = of[i].active < least.active ? of[i].active : least.active;
    }
    return least;
}

/* Rank 0 tells each what the others have promised. `of` is what they told. */
static void tell_horizons(struct rig_run_state *run, struct rig_run_horizon *of)
{
    struct rig_team *team = run->part.ranks->team;
    uint64_t ended = 0;
    for (uint32_t i = 1; i < run->part.rank_count; i++) {
        if (rig_team_lost(team, i) != NULL)
            of[i] = (struct rig_run_horizon){RIG_NO_POSITION, RIG_NO_POSITION}; /* it uses no keys */
        ended |= (uint64_t)(of[i].promised == RIG_NO_POSITION) << i;
    }
    const struct rig_run_horizon others = horizon_without(run, of, 0);
    rig_run_closing_meet(run, &others, ended, &of[0]);
    for (uint32_t i = 1; i < run->part.rank_count; i++) {
        const struct rig_run_horizon word = horizon_without(run, of, i);
        if ((ended >> i & 1) == 0)
            (void)rig_team_tell(team, i, RIG_TEAM_HORIZON, &word, sizeof word);
    }
}

/* The others tell rank 0 what they promise. */
static void meet_others(struct rig_run_state *run)
{
    struct rig_run_ranks *ranks = run->part.ranks;
    struct rig_run_horizon of[RIG_RUN_RANKS_MOST], own;
    if (!rig_run_closing_is_on(run))
        return;
    pthread_mutex_lock(&ranks->lock);
    for (uint32_t i = 0; i < run->part.rank_count; i++)
        of[i] = ranks->others[i].horizon;
    pthread_mutex_unlock(&ranks->lock);
    if (run->part.rank == 0) {
        tell_horizons(run, of);
        return;
    }
    rig_run_closing_meet(run, &of[0], 0, &own);
    (void)rig_team_tell(ranks->team, 0, RIG_TEAM_HORIZON, &own, sizeof own);
}

static enum rig_rc take_keys(struct rig_run_state *run, const struct rig_buf *body, struct rig_err *err)
{
    for (size_t at = 0; at + sizeof(int64_t) <= body->size; at += sizeof(int64_t)) {
        int64_t key;
        memcpy(&key, body->data + at, sizeof key);
        if (!rig_key_numbers_add(&run->part.keys, key))
            return rig_no_memory(err, "the keys of the other ranks");
    }
    return RIG_OK;
}

static enum rig_rc tell_keys(struct rig_run_state *run, struct rig_err *err)
{
    struct rig_key_numbers keys = {.at = NULL};
    const enum rig_rc rc = rig_run_final_list(run, &keys, err);
    meet_others(run); /* so that they wait for no promise of this rank any longer */
    run->part.ranks->has_told_ended = rc == RIG_OK;
    if (rc == RIG_OK)
        (void)rig_team_tell(run->part.ranks->team, 0, RIG_TEAM_ENDED, keys.at, keys.count * sizeof *keys.at);
    rig_key_numbers_done(&keys);
    return rc;
}

enum rig_rc rig_run_part_load_ended(struct rig_run_state *run, struct rig_err *err)
{
    struct rig_run_ranks *ranks = run->part.ranks;
    if (ranks == NULL)
        return RIG_OK;
    if (run->part.rank > 0)
        return tell_keys(run, err);
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 1; i < run->part.rank_count; i++) {
        struct rig_buf body;
        struct rig_err lost = {.rc = RIG_OK};
        rig_buf_init(&body, 0);
        if (rig_team_await(ranks->team, i, RIG_TEAM_ENDED, &body, &lost) == RIG_OK && rc == RIG_OK)
            rc = take_keys(run, &body, err);
        rig_buf_done(&body);
    }
    rig_team_serve_no_more(ranks->team);
    return rc;
}

static void add_result(struct rig_run_state *run, struct rig_run_result *sum, const struct rig_run_result *more)
{
    struct rig_run_counters *to = &sum->counters;
    const struct rig_run_counters *from = &more->counters;
    to->invoked += from->invoked;
    to->ok += from->ok;
    to->fail += from->fail;
    to->info += from->info;
    to->sessions_opened += from->sessions_opened;
    to->sessions_renewed += from->sessions_renewed;
    to->sessions_lost += from->sessions_lost;
    to->sessions_ended += from->sessions_ended;
    to->reconnect_attempts += from->reconnect_attempts;
    to->reconnect_failures += from->reconnect_failures;
    sum->final_reads += more->final_reads;
    rig_run_latency_merge(&sum->latency, &more->latency);
    rig_run_errors_merge(&sum->errors, &more->errors);
    rig_run_errors_sort(&sum->errors);
    sum->load_ns = more->load_ns > sum->load_ns ? more->load_ns : sum->load_ns;
    sum->effort.acknowledged += more->effort.acknowledged;
    if (more->effort.load < sum->effort.load)
        sum->effort.load = more->effort.load; /* each rank has its share: the least carried out counts for all */
    if (more->effort.answering < sum->effort.answering)
        sum->effort.answering = more->effort.answering;
    (void)run;
}

/*
 * The record of a lost rank without a sample of its clock cannot be compared with the others: it keeps its bytes under
 * another name, and the rank counts as one without a record.
 */
static void set_aside(const struct rig_run_state *run, uint32_t rank)
{
    char name[32], path[PATH_MAX + 40], aside[PATH_MAX + 40];
    const struct rig_source_options options = {.load = {.form = RIG_FORM_RIG}};
    struct rig_source *source = NULL;
    rig_run_ranks_record(rank, name, sizeof name);
    (void)snprintf(path, sizeof path, "%s/%s", run->part.ranks->folder, name);
    (void)snprintf(aside, sizeof aside, "%s/" RIG_RUN_RECORD_SET_ASIDE, run->part.ranks->folder, rank);
    struct rig_err why = {.rc = RIG_OK};
    const bool is_readable = rig_source_open(path, &options, &source, &why) == RIG_OK;
    const bool has_clock = is_readable && (run->simulated || rig_source_facts(source)->clock_count > 0);
    rig_source_close(source);
    if (!has_clock && rename(path, aside) == 0)
        rig_log(RIG_LOG_WARN, "ranks", "the record of rank %u cannot be used, and is now %s: %s", rank, aside,
                is_readable ? "it has no sample of its clock" : why.text);
}

enum rig_rc rig_run_part_finish(struct rig_run_state *run, struct rig_run_result *result, struct rig_err *err)
{
    struct rig_run_ranks *ranks = run->part.ranks;
    if (ranks == NULL || run->part.rank > 0)
        return RIG_OK;
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 1; i < run->part.rank_count; i++) {
        struct rig_buf body;
        static struct rig_run_result_word word; /* some 190 KiB; one run has ranks */
        rig_buf_init(&body, 0);
        const enum rig_rc gone = rig_team_await(ranks->team, i, RIG_TEAM_RESULT, &body, err);
        rc = rc != RIG_OK ? rc : gone;
        if (gone != RIG_OK)
            set_aside(run, i);
        if (gone == RIG_OK && body.size == sizeof word) {
            memcpy(&word, body.data, sizeof word);
            add_result(run, result, &word.result);
            if (word.err.rc != RIG_OK)
                rc = rig_fail(err, word.err.rc, "rank %u: %.900s", i, word.err.text);
        }
        rig_buf_done(&body);
    }
    return rc;
}

/* -- while it goes on ---------------------------------------------------------------------------------------------- */

static void tell_stop(struct rig_run_state *run)
{
    const struct rig_run_stop_word word = {.stop = (int)rig_run_stopped(run),
                                           .interrupted = atomic_load(&run->ending.interrupted),
                                           .anomaly = atomic_load(&run->ending.stopped_by)};
    if (word.stop <= run->part.told_stop)
        return;
    run->part.told_stop = word.stop;
    if (run->part.rank == 0)
        rig_team_tell_all(run->part.ranks->team, RIG_TEAM_STOP, &word, sizeof word);
    else if (word.interrupted || word.anomaly != RIG_ANOMALY_COUNT)
        (void)rig_team_tell(run->part.ranks->team, 0, RIG_TEAM_STOP, &word, sizeof word);
}

/* The sessions of a lost rank end, and with them the load. */
static void lose_rank(struct rig_run_state *run, uint32_t rank)
{
    run->part.lost |= UINT64_C(1) << rank;
    rig_log(RIG_LOG_ERROR, "run", "rank %u was lost: %s; the load ends", rank,
            rig_team_lost(run->part.ranks->team, rank));
    rig_team_hang_up(run->part.ranks->team, rank);
    if (run->simulated) {
        const uint32_t end = rig_run_part_first(run->part.all_clients, rank + 1, run->part.rank_count);
        for (uint32_t i = rig_run_part_first(run->part.all_clients, rank, run->part.rank_count); i < end; i++)
            rig_remote_retire(run, i);
    }
    rig_run_raise(run, RIG_STOP_LOAD);
}

void rig_run_part_watch(struct rig_run_state *run)
{
    struct rig_run_ranks *ranks = run->part.ranks;
    if (ranks == NULL)
        return;
    if (run->part.rank > 0 && rig_team_lost(ranks->team, 0) != NULL)
        rig_run_raise(run, RIG_STOP_ABORT);
    if (run->part.rank > 0)
        record_clock(run, false);
    for (uint32_t i = 1; run->part.rank == 0 && i < run->part.rank_count; i++) {
        if ((run->part.lost >> i & 1) == 0 && rig_team_lost(ranks->team, i) != NULL)
            lose_rank(run, i);
    }
    tell_stop(run);
    meet_others(run);
    if (run->part.rank == 0 && rig_run_stopped(run) == RIG_STOP_ABORT)
        rig_remote_interrupt_all(run);
}

bool rig_run_part_is_whole(const struct rig_run_state *run)
{
    const struct rig_run_part *part = &run->part;
    bool is_whole = run->faults.nemesis == NULL && (part->ranks == NULL || !part->ranks->has_faults);
    for (uint32_t i = 1; part->rank == 0 && i < part->rank_count; i++)
        is_whole &= rig_team_lost(part->ranks->team, i) == NULL;
    return is_whole;
}

void rig_run_part_count(const struct rig_run_state *run, uint64_t *ok, uint64_t *fail, uint64_t *info)
{
    struct rig_run_ranks *ranks = run->part.ranks;
    if (ranks == NULL || run->part.rank > 0)
        return;
    pthread_mutex_lock(&ranks->lock);
    for (uint32_t i = 1; i < run->part.rank_count; i++) {
        *ok += ranks->others[i].ok;
        *fail += ranks->others[i].fail;
        *info += ranks->others[i].info;
    }
    pthread_mutex_unlock(&ranks->lock);
}
