#include "checker/judge/check_source.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/judge/certify.h"
#include "checker/judge/crash_views.h"
#include "checker/judge/repeated_values.h"
#include "checker/model/certified.h"
#include "checker/evidence/claims.h"
#include "checker/infer/type_inference.h"
#include "checker/judge/shared/shared_check.h"
#include "history/types/row_names.h"

/* Bytes of memory for each byte of a history that is checked as a whole, by form: measured (bench/RESULTS.md). */
enum { BYTES_PER_BYTE_RIG = 15, BYTES_PER_BYTE_TEXT = 2, BYTES_AT_LEAST = 16 << 20 };

/* Estimates the memory that checking a history of `size_bytes` in this form as a whole takes. */
static uint64_t planned_bytes(enum rig_form form, uint64_t size_bytes)
{
    uint64_t factor = form == RIG_FORM_RIG ? BYTES_PER_BYTE_RIG : BYTES_PER_BYTE_TEXT;
    return size_bytes * factor + BYTES_AT_LEAST;
}

struct run {
    struct rig_source *source;
    struct rig_stream_options options;
    struct rig_census *census; /* NULL: none is taken */
    const char *conflict;      /* why the history has to be read again, or NULL */
    unsigned contradicted;     /* assumptions that the history contradicts */
    struct rig_stretches undivided;
    bool unordered;                    /* its events are not in the order of their times */
    struct rig_certifying *certifying; /* the comparison with the certificate is under way; NULL: it is not */
    bool has_claims;                   /* some transaction has a place in the database's own order */
    uint32_t pass_count;
    struct rig_check_progress progress;
    int64_t waited_ns;
    struct rig_err *err;
};

static void tell(struct run *run)
{
    const struct rig_check_watch *watch = run->options.watch;
    run->progress.pass = run->pass_count;
    run->progress.share = rig_source_share(run->source);
    if (watch != NULL)
        watch->tell(watch->context, &run->progress);
}

/* The next segment, which the census notes; NULL at the end. */
static enum rig_rc next(struct run *run, const struct rig_segment **segment)
{
    int64_t start = rig_clock_now_ns();
    enum rig_rc rc = rig_source_next(run->source, segment, run->err);
    run->waited_ns += rig_clock_now_ns() - start;
    if (rc != RIG_OK || *segment == NULL)
        return rc;
    run->unordered |= (*segment)->unordered;
    run->has_claims |= (rig_columns_given(&(*segment)->columns) & RIG_CLAIM_COLUMNS) != 0;
    run->progress.txn_count += (*segment)->txns.count;
    if (run->census != NULL && run->options.census == NULL && !rig_census_note(run->census, *segment))
        return rig_memory_limit(run->err, "the keys of the history");
    return RIG_OK;
}

/* Reads on to the end for the census, which a history out of the order of its times does not need. */
static enum rig_rc take_census(struct run *run)
{
    const struct rig_segment *segment = NULL;
    enum rig_rc rc;
    do {
        rc = next(run, &segment);
        tell(run);
    } while (rc == RIG_OK && segment != NULL && !run->unordered);
    return rc;
}

/* One pass over the source: a verdict, or run->conflict. */
static enum rig_rc judge(struct run *run, struct rig_verdict **verdict)
{
    struct rig_stream *windows;
    const struct rig_source_facts *facts = rig_source_facts(run->source);
    enum rig_rc rc = rig_stream_begin(facts->workload, &run->options, &windows, run->err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_segment *segment = NULL;
    do {
        rc = next(run, &segment);
        rig_stream_source(windows, facts->held_bytes + facts->parts_bytes, rig_source_share(run->source));
        if (rc == RIG_OK && segment != NULL)
            rc = rig_stream_feed(windows, segment, run->err);
        run->conflict = rig_stream_conflict(windows);
        run->progress.is_read = segment == NULL;
        rig_stream_found(windows, run->progress.found);
        tell(run);
    } while (rc == RIG_OK && segment != NULL && run->conflict == NULL);
    if (rc != RIG_OK || run->conflict != NULL) {
        rig_stream_free(windows);
        return rc;
    }
    rc = rig_stream_finish(windows, facts, verdict, run->err);
    if (rc == RIG_OK && *verdict == NULL)
        run->conflict = "almost nothing was observed";
    return rc;
}

static enum rig_rc refuse(const struct run *run, uint64_t planned, const char *why)
{
    return rig_fail(run->err, RIG_E_LIMIT,
                    "this history must be checked as a whole (%s), which takes about %llu MiB; --max-memory allows "
                    "%zu MiB",
                    why, (unsigned long long)(planned >> 20), run->options.check.limit_bytes >> 20);
}

/* The second pass: with exact knowledge of the keys, or over the whole history where its events have to be sorted. */
static enum rig_rc judge_again(struct run *run, struct rig_verdict **verdict)
{
    const size_t limit = run->options.check.limit_bytes;
    const struct rig_source_facts *facts = rig_source_facts(run->source);
    const uint64_t planned = planned_bytes(facts->form, facts->size_bytes);
    if (run->unordered && limit > 0 && planned > limit)
        return refuse(run, planned, "its events are not in the order of their times");
    run->options.keep_all = run->unordered;
    run->options.census = run->unordered ? NULL : run->census;
    run->options.lost = facts->lost_count > 0;
    unsigned known;
    enum rig_rc rc;
    do {
        known = run->contradicted;
        rc = rig_source_rewind(run->source, run->err);
        run->pass_count++;
        run->progress = (struct rig_check_progress){0};
        if (rc == RIG_OK)
            rc = judge(run, verdict);
        RIG_INVARIANT(rc != RIG_OK || *verdict != NULL || run->contradicted != known);
    } while (rc == RIG_OK && *verdict == NULL);
    return rc;
}

/*
 * A pass that guesses which keys are finished. A guess that waits long for keys to return may take more memory than
 * there is; types that cannot guess earlier (retired.h) go on with the census, which knows.
 */
static enum rig_rc judge_by_guess(struct run *run, struct rig_verdict **verdict)
{
    struct rig_err why = {0}, *const err = run->err;
    const struct rig_type_inference *type = rig_type_inference(rig_source_facts(run->source)->workload);
    run->err = &why;
    enum rig_rc rc = judge(run, verdict);
    run->err = err;
    if (rc == RIG_E_LIMIT && type != NULL && type->whole)
        return RIG_OK;
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}

static unsigned open_count(const struct rig_verdict *verdict)
{
    unsigned count = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        count += verdict->levels[level].fate == RIG_FATE_NOT_REFUTED;
    return count;
}

/*
 * One more pass where orders chosen in windows had no continuation, with a census, and without the ends of windows at
 * which they were chosen. Replaces the verdict if that leaves fewer levels open. It fails if there is no memory for it,
 * which changes nothing.
 */
static enum rig_rc judge_undivided(struct run *run, struct rig_verdict **verdict)
{
    struct rig_verdict *second = NULL;
    struct rig_err why = {0}, *const err = run->err;
    const struct rig_check_options *check = &run->options.check;
    run->options.check.spent_ns += (int64_t)((*verdict)->cost.solver_ms * (double)RIG_NS_PER_MS);
    if ((*verdict)->scope.apart == 0 || run->undivided.count == 0 || (*verdict)->budget_ns <= check->spent_ns)
        return RIG_OK;
    run->err = &why;
    const enum rig_rc rc = judge_again(run, &second);
    run->err = err;
    if (rc != RIG_OK)
        return rc == RIG_E_LIMIT ? RIG_OK : rig_fail(err, rc, "%s", why.text);
    const bool better = open_count(second) < open_count(*verdict);
    rig_verdict_free(better ? *verdict : second);
    *verdict = better ? second : *verdict;
    return RIG_OK;
}

/* Whether an order of operations on objects has to be searched for in the whole history. */
static bool wants_whole(const struct run *run, enum rig_workload workload, const struct rig_verdict *verdict)
{
    const struct rig_type_inference *type = rig_type_inference(workload);
    return type != NULL && type->objects && verdict->scope.apart != 0 &&
           verdict->budget_ns > run->options.check.spent_ns;
}

/* One more pass over the whole history; without the memory for it, the verdict stays. */
static enum rig_rc judge_whole(struct run *run, struct rig_verdict **verdict)
{
    struct rig_verdict *second = NULL;
    struct rig_err why = {0}, *const err = run->err;
    run->options.keep_all = true;
    run->pass_count++;
    run->progress = (struct rig_check_progress){0};
    run->err = &why;
    enum rig_rc rc = rig_source_rewind(run->source, run->err);
    if (rc == RIG_OK)
        rc = judge(run, &second);
    run->err = err;
    if (rc != RIG_OK)
        return rc == RIG_E_LIMIT ? RIG_OK : rig_fail(err, rc, "%s", why.text);
    rig_verdict_free(*verdict);
    *verdict = second;
    return RIG_OK;
}

static enum rig_rc judge_in_windows(struct run *run, struct rig_verdict **verdict)
{
    enum rig_rc rc = RIG_OK;
    run->census = rig_census_new();
    if (run->census == NULL)
        return rig_memory_limit(run->err, "the keys of the history");
    if (!run->options.guess_failed)
        rc = judge_by_guess(run, verdict);
    if (rc == RIG_OK && *verdict == NULL)
        rc = take_census(run);
    if (rc == RIG_OK && *verdict == NULL)
        rc = judge_again(run, verdict);
    if (rc == RIG_OK && wants_whole(run, rig_source_facts(run->source)->workload, *verdict))
        rc = judge_whole(run, verdict);
    else if (rc == RIG_OK)
        rc = judge_undivided(run, verdict);
    rig_census_free(run->census);
    return rc;
}

/* A type that needs the whole history is judged in windows, which may leave levels open, only where memory falls
 * short. */
static enum rig_rc judge_somehow(struct run *run, enum rig_workload workload, struct rig_verdict **verdict)
{
    const struct rig_type_inference *type = rig_type_inference(workload);
    if (run->options.keep_all)
        return judge(run, verdict);
    const struct rig_source_facts *facts = rig_source_facts(run->source);
    const size_t limit = run->options.check.limit_bytes;
    const bool too_large =
        limit > 0 && facts->form == RIG_FORM_RIG && planned_bytes(facts->form, facts->size_bytes) > limit;
    run->options.in_windows |= too_large && type != NULL && !type->only_whole;
    if (type == NULL || !type->whole || run->options.in_windows)
        return judge_in_windows(run, verdict);
    struct rig_err why = {0}, *const err = run->err;
    run->err = &why;
    enum rig_rc rc = judge(run, verdict);
    run->err = err;
    if (rc == RIG_E_LIMIT && run->options.check.limit_bytes > 0 && !type->only_whole) {
        run->options.in_windows = true;
        run->pass_count++;
        run->progress = (struct rig_check_progress){0};
        rc = rig_source_rewind(run->source, err);
        return rc == RIG_OK ? judge_in_windows(run, verdict) : rc;
    }
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}

/* Together with other processes, where the record can be divided. Else the source is at its beginning again. */
static enum rig_rc judge_with_others(struct run *run, struct rig_verdict **verdict)
{
    struct rig_helpers *helpers = run->options.helpers;
    if (helpers == NULL || helpers->count == 0)
        return RIG_OK;
    enum rig_rc rc = rig_check_shared(run->source, &run->options, helpers, verdict, run->err);
    if (rc == RIG_OK && *verdict == NULL)
        rc = rig_source_rewind(run->source, run->err);
    else
        run->pass_count = 2;
    return rc;
}

/* The claims of a history without a certificate. Takes it. */
static enum rig_rc claim(struct rig_history *history, const struct rig_check_options *check,
                         struct rig_verdict *verdict, struct rig_err *err)
{
    const struct rig_type_inference *type = rig_type_inference(history->workload);
    enum rig_rc rc = RIG_OK;
    if (type != NULL && type->has_certificates && !type->certified_by_rows && rig_claims_given(history))
        rc = rig_claims_judge(history, NULL, NULL, check->limit_bytes, verdict, err);
    rig_history_free(history);
    return rc;
}

/* Whether the places of transactions are assumed to order versions, of a type that reads leave without an order. */
static bool may_assume_order(enum rig_workload workload, const struct rig_check_options *check)
{
    const struct rig_type_inference *type = rig_type_inference(workload);
    return (check->assumptions & RIG_ASSUMES_ORDER) != 0 && type != NULL && type->has_certificates &&
           !type->certified_by_rows && !type->total_orders;
}

/* The history of the verdict, where it is the whole one and the comparison changes nothing of it; else NULL. */
static struct rig_history *share_whole(const struct rig_verdict *verdict)
{
    const struct rig_history *history = verdict->history;
    return !history->is_excerpt && rig_certify_only_reads(history) ? rig_history_share(history) : NULL;
}

/*
 * The certificate and the claims of the database are compared with the whole history, which is read once more unless
 * the verdict has it. Claims of a history that cannot be read again are left unchecked.
 */
static enum rig_rc compare(const struct run *run, const char *name, const struct rig_check_options *check,
                           struct rig_verdict *verdict, struct rig_err *err)
{
    struct rig_source *source = run->source;
    const bool has_claims = run->has_claims;
    const struct rig_load_options options = {.limit_bytes = check->limit_bytes};
    const bool certified = rig_source_facts(source)->certificate != NULL;
    const bool orders = has_claims && may_assume_order(rig_source_facts(source)->workload, check);
    struct rig_history *history = NULL;
    struct rig_err why = {0};
    if (run->certifying != NULL)
        return rig_certify_end(run->certifying, verdict, err);
    if (!certified && !has_claims)
        return RIG_OK;
    enum rig_rc rc = RIG_OK;
    if (certified)
        history = share_whole(verdict);
    if (history == NULL)
        rc = rig_source_rewind(source, &why);
    if (rc == RIG_OK && history == NULL)
        rc = rig_history_take(source, &options, name, &history, &why);
    if (rc == RIG_OK)
        rc = certified ? rig_certify(history, check, verdict, &why)
             : orders  ? rig_certify_order(history, check, verdict, &why)
                       : claim(history, check, verdict, &why);
    if (rc != RIG_OK && rc != RIG_E_BUG && !certified && !orders)
        return rig_claims_leave(why.text, verdict, err);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}

/* Durability needs the whole history, which is read once more where a commit may be missing. */
static enum rig_rc look_at_crashes(const struct run *run, const char *name, const struct rig_check_options *check,
                                   struct rig_verdict *verdict, struct rig_err *err)
{
    const struct rig_load_options options = {.limit_bytes = check->limit_bytes};
    struct rig_history *history = NULL;
    struct rig_err why = {0};
    enum rig_rc rc = rig_durability_begin(verdict, check, err);
    if (rc != RIG_OK || !rig_durability_needs_history(verdict))
        return rc;
    rc = rig_source_rewind(run->source, &why);
    if (rc == RIG_OK)
        rc = rig_history_take(run->source, &options, name, &history, &why);
    if (rc != RIG_OK)
        return rig_durability_leave(verdict, why.text, err);
    return rig_durability_judge(history, check, verdict, err);
}

/* The choices of ambiguous reads need the whole history, which is read once more. */
static enum rig_rc choose_writes(const struct run *run, const char *name, const struct rig_check_options *check,
                                 struct rig_verdict *verdict, struct rig_err *err)
{
    const struct rig_load_options options = {.limit_bytes = check->limit_bytes};
    struct rig_history *history = NULL;
    if (!rig_repeated_values_matter(verdict))
        return RIG_OK;
    enum rig_rc rc = rig_source_rewind(run->source, err);
    if (rc == RIG_OK)
        rc = rig_history_take(run->source, &options, name, &history, err);
    if (rc == RIG_OK)
        rc = rig_repeated_values_decide(history, check, verdict, NULL, err);
    rig_history_free(history);
    return rc;
}

static enum rig_rc check(struct rig_source *source, const char *name, const struct rig_stream_options *options,
                         struct rig_verdict **verdict, struct rig_err *err)
{
    const struct rig_source_facts *facts = rig_source_facts(source);
    const uint64_t planned = planned_bytes(facts->form, facts->size_bytes);
    const size_t limit = options->check.limit_bytes;
    struct run run = {.source = source, .options = *options, .pass_count = facts->sorted ? 2 : 1, .err = err};
    struct rig_verdict *made = NULL;
    run.options.name = name;
    run.options.row_names = rig_row_names_of(facts->meta);
    run.options.specification = facts->specification;
    run.options.taken_bytes = facts->held_bytes + facts->parts_bytes;
    run.options.reads_at_once = facts->reads_at_once;
    run.options.lost = facts->lost_count > 0; /* known before the first transaction: ranks without a record */
    run.options.contradicted = &run.contradicted;
    run.options.undivided = &run.undivided;
    run.options.certifying = options->on_one_thread || limit > 0 ? NULL : &run.certifying;
    enum rig_rc rc = judge_with_others(&run, &made);
    if (rc == RIG_OK && made == NULL)
        rc = judge_somehow(&run, facts->workload, &made);
    if (rc != RIG_OK)
        return rc;
    struct rig_cost *cost = &made->cost;
    cost->read_ms += (double)run.waited_ns / (double)RIG_NS_PER_MS;
    cost->planned_bytes = limit > 0 && planned > limit ? limit : planned;
    cost->pass_count = run.pass_count;
    made->scope.type_origin = facts->type_origin;
    rc = compare(&run, name, &options->check, made, err);
    if (rc == RIG_OK)
        rc = look_at_crashes(&run, name, &options->check, made, err);
    if (rc == RIG_OK)
        rc = choose_writes(&run, name, &options->check, made, err);
    if (rc != RIG_OK) {
        rig_verdict_free(made);
        return rc;
    }
    rig_claims_conclude(made);
    *verdict = made;
    return RIG_OK;
}

enum rig_rc rig_check_source(struct rig_source *source, const char *name, const struct rig_stream_options *options,
                             struct rig_verdict **verdict, struct rig_err *err)
{
    struct rig_err why = {0};
    enum rig_rc rc = check(source, name, options, verdict, &why);
    while (rc == RIG_E_INPUT && rig_source_mend(source, &why))
        rc = check(source, name, options, verdict, &why);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, why.rc, "%s", why.text);
}

enum rig_rc rig_check_file(const char *path, const struct rig_source_options *source,
                           const struct rig_stream_options *options, struct rig_verdict **verdict, struct rig_err *err)
{
    struct rig_source *opened;
    int64_t start = rig_clock_now_ns();
    enum rig_rc rc = rig_source_open(path, source, &opened, err);
    double open_ms = (double)(rig_clock_now_ns() - start) / (double)RIG_NS_PER_MS;
    if (rc != RIG_OK)
        return rc;
    rc = rig_check_source(opened, strcmp(path, "-") == 0 ? "standard input" : path, options, verdict, err);
    if (rc == RIG_OK)
        (*verdict)->cost.read_ms += open_ms;
    rig_source_close(opened);
    return rc;
}
