#include "checker/stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "checker/fate.h"
#include "checker/solve/effort.h"
#include "checker/stream/closing.h"
#include "checker/stream/explained.h"
#include "checker/stream/stream_private.h"
#include "history/source.h"

enum {
    MOST_SAVINGS = 4,
    UNFIT_TIMES = 2,      /* what explanations keep, of what known edges keep, before they are given up for memory */
    PLAN_TIMES = 3,       /* memory of the solver, as a multiple of the estimate */
    FORGOTTEN_SHARE = 16, /* of the limit, for the set of forgotten keys */
};
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
    w->options.keep_all |= w->type->whole && (!options->in_windows || w->type->only_whole);
    w->budget.load_percent = w->type->load_percent;
    const size_t limit_bytes = options->check.limit_bytes == 0 ? 0 : rig_budget_bytes(&w->budget);
    const struct rig_check_options *check = &w->options.check;
    rig_judge_init(&w->judge, check->max_witnesses, rig_check_assumptions(check), limit_bytes);
    w->judge.asked = check->anomalies;
    w->window = rig_window_new(workload, limit_bytes);
    if (w->window != NULL)
        rig_window_name_rows(w->window, options->row_names);
    w->retired = rig_retired_new(workload, limit_bytes / FORGOTTEN_SHARE);
    w->evidence = rig_witness_txns_new(workload);
    w->storage = rig_verdict_new(check);
    w->zero_ns = INT64_MAX;
    w->objects = w->type->decide_objects == NULL ? NULL : rig_object_past_new();
    w->elements = w->type->time_elements == NULL ? NULL : calloc(1, sizeof *w->elements);
    if ((w->objects == NULL && w->type->decide_objects != NULL) ||
        (w->elements == NULL && w->type->time_elements != NULL) || w->window == NULL || w->retired == NULL ||
        w->evidence == NULL || w->storage == NULL) {
        rig_stream_free(w);
        return rig_stream_no_memory(err);
    }
    w->findings = (struct rig_findings){.most_kept = check->max_witnesses,
                                        .lattice = w->storage->verdict.lattice,
                                        .asks_sequential = rig_sequential_asked(w->storage->verdict.requested_levels),
                                        .budget_ns = w->storage->verdict.budget_ns - check->spent_ns,
                                        .arena = &w->storage->arena,
                                        .evidence = w->evidence,
                                        .retired = w->retired};
    *windows = w;
    return RIG_OK;
}

void rig_stream_free(struct rig_stream *windows)
{
    if (windows == NULL)
        return;
    rig_judge_done(&windows->judge);
    if (windows->peeks)
        rig_judge_done(&windows->peeking);
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

/* ---- one judgement ---- */

/* The state of one judgement; arrays come from the judge's scratch. */
struct judgement {
    struct rig_stream *w;
    const struct rig_history *view;
    struct rig_closing closing;
    uint8_t *selected; /* per node: closing, and not judged before */
    uint8_t *settled;  /* per transaction: enum rig_settled, if it is selected, and */
    uint8_t *all;      /*   whether it is settled, now or before */
    uint8_t *fate;     /* per key: enum rig_key_fate */
    uint8_t *drop;     /* per key */
    uint64_t selected_count;
    struct rig_err *err;
};

bool rig_stream_open_keys(struct rig_stream *w, const struct rig_history *view, bool all)
{
    uint8_t *open_keys = realloc(w->open_keys, (size_t)view->key_count + 1);
    if (open_keys == NULL)
        return false;
    w->open_keys = open_keys;
    for (uint32_t key = 0; key < view->key_count; key++)
        open_keys[key] = all || rig_stream_key_is_in_use(w, view, key) ||
                         (w->options.census == NULL && !rig_stream_key_is_idle(w, key));
    return true;
}

/* Whether the key may be used again, from the census or by a guess. */
static bool may_be_used(const struct judgement *j, uint32_t key)
{
    const struct rig_stream *w = j->w;
    const uint8_t *open_keys = w->judge.inference.open_keys;
    if (rig_stream_key_is_in_use(w, j->view, key) || (open_keys != NULL && open_keys[key]))
        return true;
    return w->options.census == NULL && !rig_stream_key_is_idle(w, key) &&
           !rig_retired_is_settled(w->retired, &w->judge.inference, key, !w->unclean);
}

/* Marks the keys that may be used again. */
static uint8_t *find_alive(const struct judgement *j)
{
    struct rig_stream *w = j->w;
    const struct rig_history *view = j->view;
    uint8_t *alive = rig_arena_array(&w->judge.scratch, (size_t)view->key_count + 1, 1);
    if (alive == NULL)
        return NULL;
    for (uint32_t key = 0; key < view->key_count; key++)
        alive[key] = may_be_used(j, key);
    return alive;
}

static bool make_arrays(struct judgement *j)
{
    struct rig_arena *arena = &j->w->judge.scratch;
    size_t node_count = (size_t)j->w->judge.inference.links.node_count + 1;
    size_t txn_count = (size_t)j->view->txn_count + 1, key_count = (size_t)j->view->key_count + 1;
    j->selected = rig_arena_array(arena, node_count, 1);
    j->settled = rig_arena_array(arena, txn_count, 1);
    j->all = rig_arena_array(arena, txn_count, 1);
    j->fate = rig_arena_array(arena, key_count, 1);
    j->drop = rig_arena_array(arena, key_count, 1);
    return j->selected != NULL && j->settled != NULL && j->all != NULL && j->fate != NULL && j->drop != NULL;
}

/* Selects among the transactions that no judgement has seen before. The compiler vectorizes this. */
static void choose_new(const uint8_t *restrict waits, const uint8_t *restrict committed, uint8_t *restrict selected,
                       uint8_t *restrict all, uint8_t *restrict settled, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t closes = waits[i] ^ 1U;
        selected[i] = all[i] = closes;
        settled[i] = (uint8_t)((RIG_SETTLED_UNCOMMITTED + committed[i]) & (0U - closes));
    }
}

/* `waits` NULL: the history has ended, and all transactions are closing. */
static bool choose(struct judgement *j, const uint8_t *waits)
{
    const struct rig_links *links = &j->w->judge.inference.links;
    const uint8_t *committed = j->w->judge.inference.committed;
    const uint32_t old = j->w->old_count, count = j->view->txn_count;
    if (waits == NULL)
        waits = rig_arena_array(&j->w->judge.scratch, (size_t)links->node_count + 1, 1);
    if (waits == NULL)
        return false;
    j->selected_count = count - j->closing.waiting_count;
    for (uint32_t txn = 0; txn < old; txn++) {
        bool before = rig_txn_is_settled(&j->view->txns[txn]);
        bool closes = !before && !waits[txn];
        j->selected[txn] = closes;
        j->selected_count -= before;
        j->all[txn] = before || closes;
        if (closes)
            j->settled[txn] = committed[txn] ? RIG_SETTLED_COMMITTED : RIG_SETTLED_UNCOMMITTED;
    }
    choose_new(waits + old, committed + old, j->selected + old, j->all + old, j->settled + old, count - old);
    for (uint32_t node = links->txn_count; node < links->node_count; node++)
        j->selected[node] = !waits[node];
    return true;
}

/*
 * Decides the fate of the keys. A finished key that no waiting transaction used is dropped. Any other finished key is
 * retired as it is now, because some of its transactions may have been judged.
 */
static void decide_keys(struct judgement *j)
{
    const struct rig_history *view = j->view;
    const uint8_t *alive = j->closing.alive;
    memset(j->drop, 1, view->key_count);
    const uint8_t *waits = memchr(j->all, 0, view->txn_count);
    for (uint32_t txn = waits == NULL ? view->txn_count : (uint32_t)(waits - j->all); txn < view->txn_count; txn++) {
        const struct rig_txn_op *op = rig_txn_ops(view, txn), *end = op + rig_txn_op_count(view, txn);
        for (; !j->all[txn] && op < end; op++)
            j->drop[op->key] = 0;
    }
    for (uint32_t key = 0; key < view->key_count; key++) {
        bool is_alive = alive != NULL && alive[key];
        j->drop[key] &= !is_alive;
        j->fate[key] = is_alive ? RIG_KEY_ALIVE : j->drop[key] ? RIG_KEY_DROPPED : RIG_KEY_DEAD;
    }
}

/*
 * The choice that has no continuation was made at the end of some earlier window, which had one of the transactions that
 * are not judged: all users of the keys judged there were in it.
 */
static void note_undivided(const struct judgement *j)
{
    struct rig_stretches *stretches = j->w->options.undivided;
    uint32_t first = 0;
    while (first < j->view->txn_count && rig_txn_is_settled(&j->view->txns[first]))
        first++;
    if (stretches == NULL || stretches->count == RIG_STRETCHES_MOST || first == j->view->txn_count)
        return;
    const struct rig_txn *txn = &j->view->txns[first];
    stretches->at[stretches->count++] = (struct rig_stretch){
        txn->complete_at == RIG_POSITION_NONE ? txn->invoke_at : txn->complete_at, j->w->fed_until};
}

static enum rig_rc search(struct judgement *j)
{
    struct rig_stream *w = j->w;
    const uint64_t apart = w->findings.apart;
    enum rig_rc rc = rig_judge_search(&w->judge, j->selected, j->err);
    if (rc == RIG_OK)
        rc = rig_findings_add(&w->findings, &w->judge, j->err);
    if ((w->findings.apart & ~apart) != 0)
        note_undivided(j);
    if (rc == RIG_OK)
        rig_verdict_add_scope(&w->storage->verdict, &w->judge.inference, j->selected);
    w->unclean |= !w->judge.ladder.clean;
    return rc;
}

/* Retires the finished keys. With a census it only counts them, because they are certain to be finished. */
static enum rig_rc remember_keys(struct judgement *j)
{
    struct rig_stream *w = j->w;
    if (w->options.census == NULL)
        return rig_retired_remember(w->retired, &w->judge.inference, j->fate, j->all, w->judge.anomalous_keys,
                                    w->judge.ladder.clean, j->err);
    rig_retired_count(w->retired, &w->judge.inference, j->fate);
    return RIG_OK;
}

/* Measures keys that leave the window with all transactions that used them. */
static void time_elements(struct judgement *j)
{
    struct rig_stream *w = j->w;
    if (w->elements != NULL)
        w->type->time_elements(&w->judge.inference, j->drop, &w->judge.scratch, w->elements);
}

static enum rig_rc release_judged(struct judgement *j)
{
    struct rig_stream *w = j->w;
    time_elements(j);
    enum rig_rc rc = remember_keys(j);
    if (rc != RIG_OK)
        return rc;
    const uint32_t txn_count = rig_window_txn_count(w->window);
    rig_window_release(w->window, j->settled, j->drop);
    w->old_count = rig_window_txn_count(w->window);
    RIG_INVARIANT(w->old_count >= j->closing.waiting_count && w->old_count <= txn_count);
    if (rig_budget_is_crowded(&w->budget, rig_retired_bytes(w->retired)))
        (void)rig_retired_forget(w->retired);
    return RIG_OK;
}

/* An estimate of the memory that is not the judge's arena's. */
static size_t solver_bytes_of(const struct rig_stream *w, const struct rig_history *view)
{
    size_t ops = 0;
    for (uint32_t txn = 0; w->type->solver_bytes > 0 && txn < view->txn_count; txn++)
        ops += view->txns[txn].outcome == RIG_OUTCOME_FAIL ? 0 : rig_txn_op_count(view, txn);
    return ops * w->type->solver_bytes;
}

void rig_stream_limit_judge(struct rig_stream *w, const struct rig_history *view)
{
    size_t left = rig_budget_left(&w->budget, rig_window_bytes(w->window), rig_stream_other_bytes(w));
    if (w->type->arena_only && left < SIZE_MAX / 2)
        left += left / 3;
    w->judging_bytes = left;
    const size_t solver_bytes = solver_bytes_of(w, view);
    left = left == SIZE_MAX ? left : left > solver_bytes ? left - solver_bytes : 1;
    if (w->judge.scratch.held_bytes > left)
        rig_judge_done(&w->judge);
    w->judge.scratch.limit_bytes = left;
}

/* The memory that the judgement has left, and no less than PLAN_TIMES its estimate, which is no reason to leave a level
 * open. 0: no limit. */
static size_t bytes_for_solver(const struct rig_stream *w, const struct rig_history *view)
{
    const size_t held = w->judge.scratch.held_bytes, least = PLAN_TIMES * solver_bytes_of(w, view) + 1;
    if (w->judging_bytes == SIZE_MAX)
        return 0;
    return w->judging_bytes > held && w->judging_bytes - held > least ? w->judging_bytes - held : least;
}

static unsigned contradicted_before(const struct rig_stream *w)
{
    return w->options.contradicted == NULL ? 0 : *w->options.contradicted;
}

/*
 * An assumption that one register contradicts must order no register: all that was judged with it has to be judged
 * again without it. Findings on the assumptions tried after it rest on it, so they are dropped.
 */
static void note_contradictions(struct rig_stream *w)
{
    unsigned before = contradicted_before(w), found = w->judge.inference.contradicted;
    unsigned fresh = found & ~before, first = fresh & (0U - fresh);
    if (fresh == 0)
        return;
    if (w->options.contradicted != NULL)
        *w->options.contradicted = (before & (first - 1)) | (found & ~(first - 1));
    w->conflict = "an assumption does not hold for all keys";
}

static enum rig_rc begin_judgement(struct rig_stream *w, bool last, struct judgement *j, struct rig_err *err)
{
    *j = (struct judgement){.w = w, .err = err, .view = rig_window_history(w->window, last)};
    if (j->view == NULL)
        return rig_stream_no_memory(err);
    rig_stream_limit_judge(w, j->view);
    const bool open = !last && w->type->any_initial;
    if (open && !rig_stream_open_keys(w, j->view, w->options.lost))
        return rig_stream_no_memory(err);
    w->judge.assumptions.contradicted = contradicted_before(w);
    w->judge.assumptions.open_keys = open ? w->open_keys : NULL;
    enum rig_rc rc = rig_judge_infer(&w->judge, j->view, true, err);
    if (rc == RIG_OK)
        note_contradictions(w);
    /* Whether a key began with the value depends on all of its uses. */
    if (rc == RIG_OK && w->judge.inference.any_foreign && w->options.census == NULL && w->judged_count + !last > 0)
        w->conflict = "a read shows a value that no transaction wrote";
    return rc != RIG_OK || make_arrays(j) ? rc : rig_stream_no_memory(err);
}

/* Estimates the bytes of the window that would stay. */
static size_t kept_bytes(const struct judgement *j)
{
    uint64_t bytes = rig_window_filled_bytes(j->w->window);
    return (size_t)(bytes / (j->view->txn_count + 1) * j->closing.waiting_count);
}

static bool find_closing(struct judgement *j)
{
    struct rig_stream *w = j->w;
    const int64_t start = rig_clock_now_ns();
    uint8_t *alive = find_alive(j);
    const bool found =
        alive != NULL && rig_closing_find(&w->judge.inference, alive, NULL, &w->judge.scratch, &j->closing);
    w->judge.search_ns += rig_clock_now_ns() - start;
    return found;
}

/* Infers, and finds the closing set; with a shorter idle time when too little could be judged. */
static enum rig_rc infer_closing(struct rig_stream *w, struct judgement *j, struct rig_err *err)
{
    bool again = false;
    do {
        /* The inference may depend on which keys may be used again. */
        enum rig_rc rc = again && !w->type->any_initial ? RIG_OK : begin_judgement(w, false, j, err);
        if (rc != RIG_OK || w->conflict != NULL)
            return rc;
        if (!find_closing(j))
            return rig_stream_no_memory(err);
        again = w->options.census == NULL && rig_budget_lower_idle(&w->budget, kept_bytes(j));
    } while (again);
    return RIG_OK;
}

/*
 * Explains what was not judged before, at each level that no earlier window refuted or left open. The levels that have no
 * explanation are searched for a refutation later (findings.h).
 */
static enum rig_rc explain(struct rig_stream *w, const struct rig_history *view, struct rig_explained *explained,
                           struct rig_err *err)
{
    struct rig_findings *findings = &w->findings;
    *explained = (struct rig_explained){0};
    if (!w->type->whole)
        return RIG_OK;
    findings->solver_limit_bytes = bytes_for_solver(w, view);
    uint64_t open = rig_findings_open(findings, &w->judge) & ~findings->unfit & ~findings->doomed, doomed = 0;
    enum rig_rc rc = (open & ~findings->spent) == 0 ? RIG_OK : rig_stream_doomed(w, view, &doomed, err);
    findings->doomed |= doomed & open;
    open &= ~doomed;
    const uint64_t levels = open & ~findings->apart & ~findings->spent;
    findings->denied = open & findings->apart;
    if (rc != RIG_OK || levels == 0)
        return rc;
    const int64_t start_ns = rig_clock_now_ns();
    const struct rig_solve_budget budget = {start_ns + findings->budget_ns, findings->solver_limit_bytes};
    rc = rig_explained_find(&w->judge.inference, levels, &budget, explained, err);
    const int64_t took_ns = rig_clock_now_ns() - start_ns;
    findings->decide_ns += took_ns;
    findings->budget_ns -= took_ns < findings->budget_ns ? took_ns : findings->budget_ns;
    if (rc != RIG_OK)
        return rc;
    findings->denied |= explained->orders.denied;
    findings->spent |= explained->orders.spent;
    findings->too_large |= explained->orders.too_large;
    rig_efforts_add(findings->effort, explained->orders.effort);
    return RIG_OK;
}

/*
 * Whether a window must not keep what the explanations keep: it would be too large, and known edges keep much less. Its
 * levels are given up then.
 */
static bool is_unfit(const struct judgement *j, uint64_t known_count)
{
    return known_count < j->closing.waiting_count / UNFIT_TIMES && rig_budget_is_full(&j->w->budget, kept_bytes(j));
}

/* Adds to the waiting transactions those that follow them in an explanation, until no further one does. */
static bool close_along(struct judgement *j, const struct rig_explained *explained)
{
    struct rig_judge *judge = &j->w->judge;
    const uint64_t known_count = j->closing.waiting_count;
    for (bool more = explained->orders.count > 0; more;) {
        uint8_t *waits = j->closing.waits;
        if (!rig_explained_extend(explained, &judge->inference, &judge->scratch, waits, &more))
            return false;
        if (more && !rig_closing_find(&judge->inference, j->closing.alive, waits, &judge->scratch, &j->closing))
            return false;
    }
    if (!is_unfit(j, known_count))
        return true;
    j->w->findings.unfit |= explained->orders.explained;
    return rig_closing_find(&judge->inference, j->closing.alive, NULL, &judge->scratch, &j->closing);
}

/* Frees memory that is not needed now, so that the judgement can be tried again. */
static void save_memory(struct rig_stream *w, unsigned times)
{
    rig_judge_done(&w->judge);
    rig_window_fit(w->window);
    if (times > 0)
        (void)rig_retired_forget(w->retired);
}

static enum rig_rc begin_closing(struct rig_stream *w, struct judgement *j, struct rig_err *err)
{
    enum rig_rc rc = infer_closing(w, j, err);
    if (rc != RIG_OK || w->conflict != NULL)
        return rc;
    struct rig_explained explained;
    rc = explain(w, j->view, &explained, err);
    const int64_t start = rig_clock_now_ns();
    if (rc == RIG_OK && !close_along(j, &explained))
        rc = rig_stream_no_memory(err);
    rig_explained_done(&explained);
    w->judge.search_ns += rig_clock_now_ns() - start;
    return rc;
}

static enum rig_rc judge_closing(struct rig_stream *w, struct rig_err *err)
{
    struct judgement j;
    struct rig_err why = {0};
    if (w->objects != NULL)
        return rig_stream_judge_objects(w, err);
    enum rig_rc rc = begin_closing(w, &j, &why);
    for (unsigned times = 0; times < MOST_SAVINGS && rc == RIG_E_LIMIT && w->options.check.limit_bytes > 0; times++) {
        save_memory(w, times);
        why = (struct rig_err){0};
        rc = begin_closing(w, &j, &why);
    }
    if (rc != RIG_OK)
        return rig_fail(err, rc, "%s", why.text);
    if (w->conflict != NULL)
        return RIG_OK;
    int64_t start = rig_clock_now_ns();
    j.err = err;
    if (!choose(&j, j.closing.waits))
        return rig_stream_no_memory(err);
    RIG_INVARIANT(j.selected_count + j.closing.waiting_count <= j.view->txn_count);
    const uint64_t held_count = j.view->txn_count - j.selected_count; /* the view goes with what is dropped */
    decide_keys(&j);
    w->judge.search_ns += rig_clock_now_ns() - start;
    /* When everything would stay in the window, the judgement can as well be made later. */
    w->released_nothing = j.selected_count == 0 || memchr(j.drop, 1, j.view->key_count) == NULL;
    if (!w->released_nothing) {
        rc = search(&j);
        start = rig_clock_now_ns();
        rig_budget_measure(&w->budget, w->judge.scratch.used_bytes + solver_bytes_of(w, j.view),
                           rig_window_filled_bytes(w->window));
        if (rc == RIG_OK)
            rc = release_judged(&j);
        w->judge.search_ns += rig_clock_now_ns() - start;
        w->judged_count++;
    }
    RIG_INVARIANT(held_count >= j.closing.waiting_count && w->new_count <= w->fed_count);
    w->held_count = held_count;
    w->new_count = w->next_look = 0;
    return rc;
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
    rc = judge_closing(windows, &why);
    return rc == RIG_OK ? rc : is_limited(windows, rc) ? too_large(windows, err) : rig_fail(err, rc, "%s", why.text);
}

/* ---- the end ---- */

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
    rc = rig_check(history, &w->options.check, &verdict, err);
    if (rc != RIG_OK) {
        rig_history_free(history);
        return rc;
    }
    rig_verdict_free(&w->storage->verdict);
    w->storage = verdict->storage;
    w->storage->history = history;
    /* Inferences that judged nothing. */
    verdict->cost.infer_ms += (double)w->judge.infer_ns / (double)RIG_NS_PER_MS;
    verdict->cost.search_ms += (double)w->judge.search_ns / (double)RIG_NS_PER_MS;
    return RIG_OK;
}

/* Counts the keys that are left as those that were dropped before. */
static enum rig_rc count_unordered(struct judgement *j)
{
    struct rig_stream *w = j->w;
    decide_keys(j);
    enum rig_rc rc = remember_keys(j);
    w->storage->verdict.scope.unordered_keys = rig_retired_unordered(w->retired);
    return rc;
}

static bool nothing_observed(const struct rig_stream *w)
{
    const uint64_t *edges = w->judge.edge_count;
    return edges[RIG_LINK_WW] + edges[RIG_LINK_WR] + edges[RIG_LINK_RW] == 0;
}

static enum rig_rc finish_windows(struct rig_stream *w, const struct rig_source_facts *facts, struct rig_err *err)
{
    struct judgement j;
    struct rig_explained explained;
    struct rig_verdict_storage *storage = w->storage;
    enum rig_rc rc = begin_judgement(w, true, &j, err);
    if (rc != RIG_OK || w->conflict != NULL)
        return rc;
    rc = explain(w, j.view, &explained, err);
    rig_explained_done(&explained);
    if (rc == RIG_OK && w->objects != NULL)
        rig_stream_end_objects(w);
    if (rc == RIG_OK)
        rc = choose(&j, NULL) ? search(&j) : rig_stream_no_memory(err);
    if (rc == RIG_OK && w->objects == NULL && w->options.census == NULL && nothing_observed(w)) {
        /* Edges to transactions of dropped keys are not counted, and a single edge would do. */
        w->conflict = "almost nothing was observed";
        return RIG_OK;
    }
    if (rc == RIG_OK && w->objects == NULL)
        rc = count_unordered(&j);
    if (rc == RIG_OK && w->elements != NULL) {
        w->type->time_elements(&w->judge.inference, NULL, &w->judge.scratch, w->elements);
        rig_set_times_conclude(w->elements, &storage->verdict.elements);
    }
    if (rc == RIG_OK)
        rc = rig_witness_txns_give(w->evidence, w->findings.of, w->zero_ns == INT64_MAX ? 0 : w->zero_ns,
                                   facts->start_utc_ns, &storage->arena, &storage->history, err);
    if (rc != RIG_OK)
        return rc;
    storage->history->row_names = w->options.row_names;
    storage->verdict.history = storage->history;
    storage->verdict.scope.truncated = facts->truncated;
    storage->verdict.scope.sorted = facts->sorted;
    storage->verdict.scope.damaged_at = facts->damaged_at;
    storage->verdict.scope.damaged_bytes = facts->damaged_bytes;
    storage->verdict.scope.damaged_txns = facts->damaged_txns;
    storage->verdict.scope.start_utc_ns = facts->start_utc_ns;
    storage->verdict.scope.skipped_count = facts->skipped_count;
    storage->verdict.scope.lost_count = facts->lost_count;
    storage->verdict.scope.reused_count = facts->reused_count;
    storage->verdict.scope.faults = rig_fault_events_copy(&storage->arena, facts->faults, facts->fault_count);
    storage->verdict.scope.fault_count = facts->fault_count;
    if (storage->verdict.scope.faults == NULL)
        return rig_memory_limit(err, "the events of faults");
    return rig_verdict_conclude(storage, &w->findings, &w->judge, err);
}

/* The facts of the ranks outlive their source. */
static bool keep_ranks(struct rig_verdict_storage *storage, const struct rig_rank_facts *facts)
{
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
    if (rc == RIG_OK && w->conflict == NULL && !keep_ranks(w->storage, &facts->ranks))
        rc = rig_memory_limit(err, "the facts of the ranks");
    if (rc == RIG_OK && w->conflict != NULL)
        *verdict = NULL;
    else if (rc == RIG_OK) {
        *verdict = &w->storage->verdict;
        (*verdict)->cost.read_ms = (double)w->adding_ns / (double)RIG_NS_PER_MS;
        (*verdict)->cost.window_count = window_count;
        w->storage = NULL;
    }
    rig_stream_free(windows);
    return rc;
}
