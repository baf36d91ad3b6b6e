#include "run/load/run_measures.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/driver.h"

static const int64_t first_distance_ns = 200000000;

bool rig_run_timeline_is_due(const struct rig_run_timeline *timeline, int64_t at_ns)
{
    if (timeline->count == 0)
        return at_ns >= first_distance_ns;
    return at_ns >= timeline->at[timeline->count - 1].at_ns + timeline->distance_ns;
}

/* Keeps the later one of two neighbours, with the worse of their latencies: its counts include the earlier ones. */
static void thin_out(struct rig_run_timeline *timeline)
{
    uint32_t kept = 0;
    for (uint32_t i = 1; i < timeline->count; i += 2) {
        const int64_t before_ns = timeline->at[i - 1].p99_ns;
        timeline->at[kept] = timeline->at[i];
        if (before_ns > timeline->at[kept].p99_ns)
            timeline->at[kept].p99_ns = before_ns;
        kept++;
    }
    timeline->count = kept;
    timeline->distance_ns *= 2;
}

void rig_run_timeline_add(struct rig_run_timeline *timeline, const struct rig_run_moment *moment)
{
    if (timeline->distance_ns == 0)
        timeline->distance_ns = first_distance_ns;
    if (timeline->count == RIG_TIMELINE_MOST)
        thin_out(timeline);
    timeline->at[timeline->count++] = *moment;
}

static struct rig_run_error *find_row(struct rig_run_errors *errors, enum rig_outcome outcome, const char *code)
{
    for (uint32_t i = 0; i < errors->count; i++) {
        struct rig_run_error *row = &errors->rows[i];
        const bool last = i + 1 == RIG_RUN_ERROR_ROWS;
        if (last || (row->outcome == outcome && strcmp(row->code, code) == 0))
            return row;
    }
    return NULL;
}

uint32_t rig_run_errors_add(struct rig_run_errors *errors, enum rig_outcome outcome, const char *code, const char *text)
{
    struct rig_run_error *row = find_row(errors, outcome, code);
    if (row != NULL) {
        row->count++;
        return (uint32_t)(row - errors->rows);
    }
    row = &errors->rows[errors->count++];
    *row = (struct rig_run_error){.outcome = outcome, .count = 1};
    const bool last = errors->count == RIG_RUN_ERROR_ROWS;
    (void)snprintf(row->code, sizeof row->code, "%s", last ? "other" : code);
    (void)snprintf(row->text, sizeof row->text, "%s", last ? "other kinds of errors" : text);
    return errors->count - 1;
}

void rig_run_errors_merge(struct rig_run_errors *errors, const struct rig_run_errors *more)
{
    for (uint32_t i = 0; i < more->count; i++) {
        struct rig_run_error *row = find_row(errors, more->rows[i].outcome, more->rows[i].code);
        if (row != NULL)
            row->count += more->rows[i].count;
        else
            errors->rows[errors->count++] = more->rows[i];
    }
}

static int by_count_down(const void *a, const void *b)
{
    const struct rig_run_error *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    const int order = strcmp(x->code, y->code);
    return order != 0 ? order : (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

void rig_run_errors_sort(struct rig_run_errors *errors)
{
    qsort(errors->rows, errors->count, sizeof errors->rows[0], by_count_down);
}

uint64_t rig_run_errors_total(const struct rig_run_errors *errors)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < errors->count; i++)
        total += errors->rows[i].count;
    return total;
}

#define ANSWERS_RECOVERY_NS INT64_C(10000000000)
#define ANSWERS_CALM_NS     INT64_C(2000000000)

void rig_run_answers_begin(struct rig_run_answers *answers, int64_t start_ns)
{
    *answers = (struct rig_run_answers){.seen_ns = start_ns};
}

static void add_silence(struct rig_run_answers *answers, int64_t from_ns, int64_t to_ns, bool all_healed)
{
    struct rig_run_silence *last = answers->pending_count == 0 ? NULL : &answers->pending[answers->pending_count - 1];
    const bool goes_on = last != NULL && last->to_ns == from_ns && last->after_fault == answers->after_fault;
    if (last != NULL && (goes_on || answers->pending_count == RIG_ANSWERS_PENDING_MOST)) {
        last->to_ns = to_ns;
        last->all_healed = last->all_healed && all_healed;
        return;
    }
    answers->pending[answers->pending_count++] = (struct rig_run_silence){
        .from_ns = from_ns, .to_ns = to_ns, .after_fault = answers->after_fault, .all_healed = all_healed};
}

/* How much of it was before `end_ns` and counts, as far as that does not hang on what came after it. */
static int64_t length_of(const struct rig_run_silence *silence, int64_t end_ns)
{
    const int64_t to_ns = silence->to_ns < end_ns ? silence->to_ns : end_ns;
    const int64_t length_ns = to_ns - silence->from_ns;
    return length_ns <= 0 || (silence->all_healed && length_ns <= ANSWERS_CALM_NS) ? 0 : length_ns;
}

/* An answer came to what began at `from_ns`: silence before it counts, except that of a recovery. */
static void settle(struct rig_run_answers *answers, int64_t from_ns)
{
    int64_t recovery_ns = ANSWERS_RECOVERY_NS;
    for (uint32_t i = 0; i < answers->pending_count; i++) {
        const struct rig_run_silence *silence = &answers->pending[i];
        int64_t length_ns = length_of(silence, from_ns);
        if (silence->after_fault) {
            const int64_t excused_ns = length_ns < recovery_ns ? length_ns : recovery_ns;
            recovery_ns -= excused_ns;
            length_ns -= excused_ns;
            answers->total_ns -= excused_ns;
        }
        answers->silent_ns += length_ns;
    }
    answers->pending_count = 0;
    answers->silent = false;
    answers->after_fault = false;
}

/* The start of the earliest transaction with an acknowledgement that is an answer; 0: there is none. */
static int64_t answer_in(struct rig_run_answers *answers, const struct rig_run_look *look)
{
    const bool failed_before = answers->failures >= RIG_ANSWERS_FAILURES;
    if (look->written_from_ns != 0)
        answers->failures = 0;
    else if (look->write_failed && !failed_before)
        answers->failures++;
    return failed_before || answers->failures >= RIG_ANSWERS_FAILURES ? look->written_from_ns : look->answered_from_ns;
}

void rig_run_answers_look(struct rig_run_answers *answers, const struct rig_run_look *look)
{
    const int64_t from_ns = answers->seen_ns;
    const int64_t answered_from_ns = answer_in(answers, look);
    answers->seen_ns = look->at_ns;
    if (answered_from_ns != 0)
        settle(answers, answered_from_ns);
    if (look->under_fault)
        answers->after_fault = true;
    if (look->over || look->under_fault || look->at_ns <= from_ns)
        return;
    answers->total_ns += look->at_ns - from_ns;
    if (answered_from_ns != 0)
        return;
    answers->silent |= look->refused || look->unanswered;
    if (answers->silent || look->waiting)
        add_silence(answers, from_ns, look->at_ns, !look->unanswered);
}

double rig_run_answers_share(const struct rig_run_answers *answers)
{
    int64_t silent_ns = answers->silent_ns;
    for (uint32_t i = 0; i < answers->pending_count; i++)
        silent_ns += length_of(&answers->pending[i], INT64_MAX);
    return answers->total_ns <= 0 ? 1 : 1 - (double)silent_ns / (double)answers->total_ns;
}

void rig_run_latency_add(struct rig_run_latency *latency, const struct rig_transaction *transaction, int64_t start_ns,
                         int64_t intended_ns, int64_t end_ns)
{
    const enum rig_latency_kind kind = transaction->hold.wanted ? RIG_LATENCY_HELD_OPEN
                                       : transaction->read_only ? RIG_LATENCY_READ_ONLY
                                                                : RIG_LATENCY_WRITING;
    rig_histogram_add(&latency->by_kind[kind], end_ns - start_ns);
    rig_histogram_add(&latency->intended, end_ns - intended_ns);
}

void rig_run_latency_merge(struct rig_run_latency *latency, const struct rig_run_latency *more)
{
    for (int kind = 0; kind < RIG_LATENCY_KINDS; kind++)
        rig_histogram_merge(&latency->by_kind[kind], &more->by_kind[kind]);
    rig_histogram_merge(&latency->intended, &more->intended);
}

uint64_t rig_run_latency_count(const struct rig_run_latency *latency)
{
    uint64_t count = 0;
    for (int kind = 0; kind < RIG_LATENCY_KINDS; kind++)
        count += rig_histogram_count(&latency->by_kind[kind]);
    return count;
}

void rig_latency_interval_begin(struct rig_latency_interval *interval)
{
    rig_histogram_init(&interval->now);
}

void rig_latency_interval_add(struct rig_latency_interval *interval, const struct rig_run_latency *latency)
{
    for (int kind = 0; kind < RIG_LATENCY_KINDS; kind++)
        rig_histogram_merge(&interval->now, &latency->by_kind[kind]);
}

const struct rig_histogram *rig_latency_interval_end(struct rig_latency_interval *interval)
{
    rig_histogram_init(&interval->since);
    rig_histogram_merge(&interval->since, &interval->now);
    rig_histogram_subtract(&interval->since, &interval->before);
    rig_histogram_init(&interval->before);
    rig_histogram_merge(&interval->before, &interval->now);
    return &interval->since;
}
