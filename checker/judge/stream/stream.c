#include "checker/judge/stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "checker/judge/certify.h"
#include "checker/model/certified.h"
#include "checker/judge/fate.h"
#include "checker/judge/stream/stream_judgement.h"
#include "history/source/source.h"

enum { FORGOTTEN_SHARE = 16 /* of the limit, for the set of forgotten keys */ };
/* Safety margins of the suggested limit: for new transactions, and for later parts that need more than earlier ones. */
static const double more_now = 1.125, more_left = 1.25;

enum rig_rc rig_stream_no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the verdict");
}

static void set_defaults(struct rig_stream_options *options)
{
    if (options->least_new == 0)
        options->least_new = RIG_WINDOWS_LEAST_NEW;
    if (options->growth == 0)
        options->growth = RIG_WINDOWS_GROWTH;
    if (options->idle == 0)
        options->idle = RIG_WINDOWS_IDLE;
    if (options->check.max_witnesses == 0)
        options->check.max_witnesses = RIG_DEFAULT_WITNESSES;
}

enum rig_rc rig_stream_begin(enum rig_workload workload, const struct rig_stream_options *options,
                             struct rig_stream **windows, struct rig_err *err)
{
    enum rig_rc rc = rig_type_require(workload, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_stream *w = calloc(1, sizeof *w);
    if (w == NULL)
        return rig_stream_no_memory(err);
    w->options = *options;
    set_defaults(&w->options);
    rig_budget_init(&w->budget, options->check.limit_bytes, w->options.idle);
    rig_budget_take(&w->budget, options->taken_bytes);
    w->type = rig_type_inference(workload);
    w->windows = rig_type_windows(workload);
    w->options.keep_all |= w->type->whole && (!options->in_windows || w->type->only_whole);
    w->budget.load_percent = w->windows->load_percent;
    const size_t limit_bytes = options->check.limit_bytes == 0 ? 0 : rig_budget_bytes(&w->budget);
    const struct rig_check_options *check = &w->options.check;
    rig_judge_init(&w->judge, check->max_witnesses, rig_check_assumptions(check), limit_bytes);
    w->judge.asked = check->anomalies;
    w->window = rig_window_new(workload, limit_bytes);
    if (w->window != NULL) {
        rig_window_name_rows(w->window, options->row_names);
        rig_window_specify(w->window, options->specification);
    }
    w->retired = rig_retired_new(workload, limit_bytes / FORGOTTEN_SHARE);
    w->evidence = rig_witness_txns_new(workload);
    w->storage = rig_verdict_new(check);
    w->zero_ns = INT64_MAX;
    w->objects = !w->type->objects ? NULL : rig_object_past_new();
    w->elements = w->type->time_elements == NULL ? NULL : calloc(1, sizeof *w->elements);
    if ((w->objects == NULL && w->type->objects) || (w->elements == NULL && w->type->time_elements != NULL) ||
        w->window == NULL || w->retired == NULL || w->evidence == NULL || w->storage == NULL) {
        rig_stream_free(w);
        return rig_stream_no_memory(err);
    }
    w->findings = (struct rig_findings){.most_kept = check->max_witnesses,
                                        .lattice = w->storage->verdict.lattice,
                                        .asks_sequential = rig_sequential_asked(w->storage->verdict.requested_levels),
                                        .budget_ns = w->storage->verdict.budget_ns - check->spent_ns,
                                        .arena = &w->storage->arena,
                                        .evidence = w->evidence,
                                        .retired = w->retired,
                                        .reads_at_once = w->options.reads_at_once};
    *windows = w;
    return RIG_OK;
}

void rig_stream_free(struct rig_stream *windows)
{
    if (windows == NULL)
        return;
    rig_judge_done(&windows->judge);
    if (windows->has_interim)
        rig_judge_done(&windows->interim);
    rig_window_free(windows->window);
    rig_retired_free(windows->retired);
    rig_witness_txns_free(windows->evidence);
    if (windows->storage != NULL)
        rig_verdict_free(&windows->storage->verdict);
    rig_object_past_free(windows->objects);
    free(windows->elements);
    free(windows->open_keys);
    free(windows);
}

void rig_stream_source(struct rig_stream *windows, size_t taken_bytes, double share)
{
    rig_budget_take(&windows->budget, taken_bytes);
    windows->share = share;
}

const char *rig_stream_conflict(const struct rig_stream *windows)
{
    return windows->conflict;
}

/* ---- feeding ---- */

static void note_times(struct rig_stream *w, const struct rig_segment *segment)
{
    for (size_t i = 0; i < segment->txns.count && w->fed_count + i < RIG_ZERO_TXNS; i++) {
        int64_t invoke_ns = segment->txns.at[i].invoke_ns;
        if (invoke_ns != RIG_NO_TIME && invoke_ns < w->zero_ns)
            w->zero_ns = invoke_ns;
    }
}

/* Events out of the order of their times are sorted at the end, so no transaction can be judged before. */
static void keep_order(struct rig_stream *w, const struct rig_segment *segment)
{
    if (!segment->unordered)
        return;
    if (w->judged_count > 0)
        w->conflict = "its events are not in the order of their times";
    w->options.keep_all = true;
}

static size_t mib_for(const struct rig_stream *w, double times, double times_other)
{
    double window_bytes = (double)rig_window_bytes(w->window) * times;
    double other = ((double)rig_stream_other_bytes(w) + (double)w->budget.taken_bytes) * times_other;
    return (rig_budget_wanted(&w->budget, (size_t)window_bytes, (size_t)other, !w->unclean) >> 20) + 1;
}

/* The limit for the whole history, extrapolated from the part so far; 0: its length is unknown. */
static size_t whole_mib(const struct rig_stream *w)
{
    double txn_count = (double)rig_window_txn_count(w->window) + 1;
    return w->share > 0 ? mib_for(w, (double)w->fed_count / w->share / txn_count * more_left, 1 / w->share) : 0;
}

/* Says why the window does not fit, and which limit suffices. */
static enum rig_rc too_large(const struct rig_stream *w, struct rig_err *err)
{
    char enough[64] = "";
    const size_t wanted = mib_for(w, more_now, 1), whole = whole_mib(w);
    if (whole > wanted)
        (void)snprintf(enough, sizeof enough, ", and %zuMiB are enough for the whole history", whole);
    return rig_fail(err, RIG_E_LIMIT,
                    "after %llu transaction%s, %llu cannot be checked yet, because keys that they or earlier ones "
                    "used are %s, and do not fit into %zu MiB; raise --max-memory: %zuMiB are enough for them%s",
                    (unsigned long long)w->fed_count, rig_plural(w->fed_count),
                    (unsigned long long)(w->held_count + w->new_count),
                    w->options.census == NULL ? "still in use" : "used again later", w->options.check.limit_bytes >> 20,
                    wanted, enough);
}

static bool is_limited(const struct rig_stream *w, enum rig_rc rc)
{
    return rc == RIG_E_LIMIT && !w->options.keep_all && w->options.check.limit_bytes > 0;
}

/* The window's error, after the name of the history; or the reason why the window is too large. */
static enum rig_rc named(const struct rig_stream *w, enum rig_rc rc, const struct rig_err *why, struct rig_err *err)
{
    if (rc == RIG_OK)
        return rc;
    if (is_limited(w, rc))
        return too_large(w, err);
    return w->options.name == NULL ? rig_fail(err, rc, "%s", why->text)
                                   : rig_fail(err, rc, "%s: %s", w->options.name, why->text);
}

static enum rig_rc add(struct rig_stream *w, const struct rig_segment *segment, struct rig_err *err)
{
    const struct rig_segment *cleaned;
    struct rig_err why = {0};
    int64_t start = rig_clock_now_ns();
    note_times(w, segment);
    keep_order(w, segment);
    w->fed_count += segment->txns.count;
    const struct rig_txn *last = segment->txns.count == 0 ? NULL : &segment->txns.at[segment->txns.count - 1];
    if (last != NULL && last->complete_at != RIG_POSITION_NONE)
        w->fed_until = last->complete_at;
    w->new_count += segment->txns.count;
    enum rig_rc rc = RIG_OK;
    /* A judgement allocates it again when needed. */
    if (w->judge.scratch.held_bytes >
        rig_budget_left(&w->budget, rig_window_bytes_with(w->window, segment), rig_stream_other_bytes(w)))
        rig_judge_done(&w->judge);
    if (w->conflict == NULL)
        rc = rig_retired_admit(w->retired, segment, &cleaned, &w->conflict, err);
    if (rc == RIG_OK && w->conflict == NULL)
        rc = named(w, rig_window_add(w->window, cleaned, &why), &why, err);
    w->adding_ns += rig_clock_now_ns() - start;
    return rc;
}

enum rig_rc rig_stream_feed(struct rig_stream *windows, const struct rig_segment *segment, struct rig_err *err)
{
    if (windows->conflict != NULL)
        return RIG_OK;
    enum rig_rc rc = add(windows, segment, err);
    if (rc != RIG_OK || windows->conflict != NULL || !rig_stream_is_full(windows, segment))
        return rc;
    struct rig_err why = {0};
    rc = rig_stream_judge_closing(windows, false, &why);
    return rc == RIG_OK ? rc : is_limited(windows, rc) ? too_large(windows, err) : rig_fail(err, rc, "%s", why.text);
}

/* ---- the end ---- */

static void drop_certifying(const struct rig_stream *w)
{
    if (w->options.certifying == NULL)
        return;
    rig_certify_drop(*w->options.certifying);
    *w->options.certifying = NULL;
}

static enum rig_rc finish_whole(struct rig_stream *w, const struct rig_source_facts *facts, struct rig_err *err)
{
    struct rig_history *history = NULL;
    rig_judge_done(&w->judge);
    rig_retired_free(w->retired);
    w->retired = NULL;
    struct rig_err why = {0};
    enum rig_rc rc = named(w, rig_window_give(w->window, facts, &history, &why), &why, err);
    w->window = NULL;
    if (rc != RIG_OK)
        return rc;
    struct rig_verdict *verdict;
    if (w->options.certifying != NULL && history->certificate != NULL)
        *w->options.certifying = rig_certify_begin(history, &w->options.check);
    rc = rig_check(history, &w->options.check, &verdict, err);
    if (rc != RIG_OK) {
        drop_certifying(w);
        rig_history_free(history);
        return rc;
    }
    rig_verdict_free(&w->storage->verdict);
    w->storage = verdict->storage;
    w->storage->history = history;
    verdict->scope.excerpt = facts->excerpt;
    /* Inferences that judged nothing. */
    verdict->cost.infer_ms += (double)w->judge.infer_ns / (double)RIG_NS_PER_MS;
    verdict->cost.search_ms += (double)w->judge.search_ns / (double)RIG_NS_PER_MS;
    return RIG_OK;
}

/* Counts the keys that are left as those that were dropped before. */
static enum rig_rc count_unordered(struct rig_judgement *j)
{
    struct rig_stream *w = j->w;
    rig_judgement_decide_keys(j);
    enum rig_rc rc = rig_judgement_remember_keys(j);
    w->storage->verdict.scope.unordered_keys = rig_retired_unordered(w->retired);
    return rc;
}

static bool nothing_observed(const struct rig_stream *w)
{
    const uint64_t *edges = w->judge.edge_count;
    return edges[RIG_LINK_WW] + edges[RIG_LINK_WR] + edges[RIG_LINK_RW] == 0;
}

enum rig_rc rig_stream_judge_rest(struct rig_stream *w, struct rig_err *err)
{
    struct rig_judgement j;
    struct rig_explained explained;
    enum rig_rc rc = rig_judgement_begin(w, true, &j, err);
    if (rc != RIG_OK || w->conflict != NULL)
        return rc;
    rc = rig_judgement_explain(w, j.view, &explained, err);
    rig_explained_done(&explained);
    if (rc == RIG_OK && w->objects != NULL)
        rig_stream_end_objects(w);
    if (rc == RIG_OK)
        rc = rig_judgement_choose(&j, NULL) ? rig_judgement_search(&j) : rig_stream_no_memory(err);
    if (rc == RIG_OK && w->objects == NULL && w->options.census == NULL && nothing_observed(w)) {
        /* Edges to transactions of dropped keys are not counted, and a single edge would do. */
        w->conflict = "almost nothing was observed";
        return RIG_OK;
    }
    if (rc == RIG_OK && w->objects == NULL)
        rc = count_unordered(&j);
    if (rc == RIG_OK && w->elements != NULL)
        w->type->time_elements(&w->judge.inference, NULL, &w->judge.scratch, w->elements);
    return rc;
}

enum rig_rc rig_stream_conclude(struct rig_stream *w, const struct rig_source_facts *facts, struct rig_err *err)
{
    struct rig_verdict_storage *storage = w->storage;
    struct rig_scope *scope = &storage->verdict.scope;
    if (w->elements != NULL)
        rig_set_times_conclude(w->elements, &storage->verdict.elements);
    const enum rig_rc rc = rig_witness_txns_give(w->evidence, w->findings.of, w->zero_ns == INT64_MAX ? 0 : w->zero_ns,
                                                 facts->start_utc_ns, &storage->arena, &storage->history, err);
    if (rc != RIG_OK)
        return rc;
    storage->history->row_names = w->options.row_names;
    storage->history->specification = w->options.specification;
    storage->verdict.history = storage->history;
    scope->truncated = facts->truncated;
    scope->sorted = facts->sorted;
    scope->damaged_at = facts->damaged_at;
    scope->damaged_bytes = facts->damaged_bytes;
    scope->damaged_txns = facts->damaged_txns;
    scope->start_utc_ns = facts->start_utc_ns;
    scope->skipped_count = facts->skipped_count;
    scope->lost_count = facts->lost_count;
    scope->excerpt = facts->excerpt;
    scope->reused_count = facts->reused_count;
    scope->reads_at_once = facts->reads_at_once;
    scope->faults = rig_fault_events_copy(&storage->arena, facts->faults, facts->fault_count);
    scope->fault_count = facts->fault_count;
    if (scope->faults == NULL)
        return rig_memory_limit(err, "the events of faults");
    return rig_verdict_conclude(storage, &w->findings, &w->judge, err);
}

static enum rig_rc finish_windows(struct rig_stream *w, const struct rig_source_facts *facts, struct rig_err *err)
{
    const enum rig_rc rc = rig_stream_judge_rest(w, err);
    return rc != RIG_OK || w->conflict != NULL ? rc : rig_stream_conclude(w, facts, err);
}

bool rig_stream_keep_ranks(struct rig_stream *w, const struct rig_rank_facts *facts)
{
    struct rig_verdict_storage *storage = w->storage;
    if (facts->count == 0)
        return true;
    struct rig_rank_fact *ranks = rig_arena_array(&storage->arena, facts->count, sizeof *ranks);
    for (uint32_t i = 0; ranks != NULL && i < facts->count; i++) {
        ranks[i] = facts->ranks[i];
        if (ranks[i].name == NULL)
            continue;
        ranks[i].name = rig_arena_text(&storage->arena, ranks[i].name, strlen(ranks[i].name));
        if (ranks[i].name == NULL)
            return false;
    }
    storage->verdict.scope.ranks = *facts;
    storage->verdict.scope.ranks.ranks = ranks;
    return ranks != NULL && rig_fates_say_ranks(&storage->arena, &storage->verdict);
}

enum rig_rc rig_stream_finish(struct rig_stream *windows, const struct rig_source_facts *facts,
                              struct rig_verdict **verdict, struct rig_err *err)
{
    struct rig_stream *w = windows;
    RIG_REQUIRE(w->conflict == NULL);
    uint32_t window_count = w->judged_count + 1;
    struct rig_err why = {0};
    enum rig_rc rc = w->judged_count == 0 ? finish_whole(w, facts, &why) : finish_windows(w, facts, &why);
    if (rc != RIG_OK)
        (void)(w->judged_count > 0 && is_limited(w, rc) ? too_large(w, err) : rig_fail(err, rc, "%s", why.text));
    if (rc == RIG_OK && w->conflict == NULL && !rig_stream_keep_ranks(w, &facts->ranks))
        rc = rig_memory_limit(err, "the facts of the ranks");
    if (rc == RIG_OK && w->conflict != NULL)
        *verdict = NULL;
    else if (rc == RIG_OK) {
        *verdict = &w->storage->verdict;
        (*verdict)->cost.read_ms = (double)w->adding_ns / (double)RIG_NS_PER_MS;
        (*verdict)->cost.window_count = window_count;
        w->storage = NULL;
    }
    if (rc != RIG_OK)
        drop_certifying(w);
    rig_stream_free(windows);
    return rc;
}
