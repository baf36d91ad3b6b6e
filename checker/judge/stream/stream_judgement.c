#include "checker/judge/stream/stream_judgement.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/decide/solve/solve.h"

enum {
    MOST_SAVINGS = 4,
    UNFIT_TIMES = 2, /* what explanations keep, of what known edges keep, before they are given up for memory */
    PLAN_TIMES = 3,  /* memory of the solver, as a multiple of the estimate */
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
static bool may_be_used(const struct rig_judgement *j, uint32_t key)
{
    const struct rig_stream *w = j->w;
    const uint8_t *open_keys = w->judge.inference.open_keys;
    if (rig_stream_key_is_in_use(w, j->view, key) || (open_keys != NULL && open_keys[key]))
        return true;
    return w->options.census == NULL && !rig_stream_key_is_idle(w, key) &&
           !rig_retired_is_settled(w->retired, &w->judge.inference, key, !w->unclean);
}

/* Marks the keys that may be used again. */
static uint8_t *find_alive(const struct rig_judgement *j)
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

static bool make_arrays(struct rig_judgement *j)
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

bool rig_judgement_choose(struct rig_judgement *j, const uint8_t *waits)
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

void rig_judgement_decide_keys(struct rig_judgement *j)
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
 * The choice that has no continuation was made at the end of some earlier window, which had one of the transactions
 * that are not judged: all users of the keys judged there were in it.
 */
static void note_undivided(const struct rig_judgement *j)
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

enum rig_rc rig_judgement_search(struct rig_judgement *j)
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

enum rig_rc rig_judgement_remember_keys(struct rig_judgement *j)
{
    struct rig_stream *w = j->w;
    if (w->options.census == NULL)
        return rig_retired_remember(w->retired, &w->judge.inference, j->fate, j->all, w->judge.anomalous_keys,
                                    w->judge.ladder.clean, j->err);
    rig_retired_count(w->retired, &w->judge.inference, j->fate);
    return RIG_OK;
}

/* Measures keys that leave the window with all transactions that used them. */
static void time_elements(struct rig_judgement *j)
{
    struct rig_stream *w = j->w;
    if (w->elements != NULL)
        w->type->time_elements(&w->judge.inference, j->drop, &w->judge.scratch, w->elements);
}

void rig_judgement_release(struct rig_judgement *j)
{
    struct rig_stream *w = j->w;
    const uint32_t txn_count = rig_window_txn_count(w->window);
    rig_window_release(w->window, j->settled, j->drop);
    w->old_count = rig_window_txn_count(w->window);
    RIG_INVARIANT(w->old_count >= j->closing.waiting_count && w->old_count <= txn_count);
}

static enum rig_rc release_judged(struct rig_judgement *j)
{
    struct rig_stream *w = j->w;
    time_elements(j);
    enum rig_rc rc = rig_judgement_remember_keys(j);
    if (rc != RIG_OK)
        return rc;
    rig_judgement_release(j);
    if (rig_budget_is_crowded(&w->budget, rig_retired_bytes(w->retired)))
        (void)rig_retired_forget(w->retired);
    return RIG_OK;
}

/* An estimate of the memory that is not the judge's arena's. */
static size_t solver_bytes_of(const struct rig_stream *w, const struct rig_history *view)
{
    size_t ops = 0;
    for (uint32_t txn = 0; w->windows->solver_bytes > 0 && txn < view->txn_count; txn++)
        ops += view->txns[txn].outcome == RIG_OUTCOME_FAIL ? 0 : rig_txn_op_count(view, txn);
    return ops * w->windows->solver_bytes;
}

void rig_stream_limit_judge(struct rig_stream *w, const struct rig_history *view)
{
    size_t left = rig_budget_left(&w->budget, rig_window_bytes(w->window), rig_stream_other_bytes(w));
    if (w->windows->arena_only && left < SIZE_MAX / 2)
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

enum rig_rc rig_judgement_begin(struct rig_stream *w, bool last, struct rig_judgement *j, struct rig_err *err)
{
    *j = (struct rig_judgement){.w = w, .err = err, .view = rig_window_history(w->window, last)};
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
static size_t kept_bytes(const struct rig_judgement *j)
{
    uint64_t bytes = rig_window_filled_bytes(j->w->window);
    return (size_t)(bytes / (j->view->txn_count + 1) * j->closing.waiting_count);
}

static bool find_closing(struct rig_judgement *j)
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
static enum rig_rc infer_closing(struct rig_stream *w, struct rig_judgement *j, struct rig_err *err)
{
    bool again = false;
    do {
        /* The inference may depend on which keys may be used again. */
        enum rig_rc rc = again && !w->type->any_initial ? RIG_OK : rig_judgement_begin(w, false, j, err);
        if (rc != RIG_OK || w->conflict != NULL)
            return rc;
        if (!find_closing(j))
            return rig_stream_no_memory(err);
        again = w->options.census == NULL && rig_budget_lower_idle(&w->budget, kept_bytes(j));
    } while (again);
    return RIG_OK;
}

enum rig_rc rig_judgement_explain(struct rig_stream *w, const struct rig_history *view, struct rig_explained *explained,
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
static bool is_unfit(const struct rig_judgement *j, uint64_t known_count)
{
    return known_count < j->closing.waiting_count / UNFIT_TIMES && rig_budget_is_full(&j->w->budget, kept_bytes(j));
}

/* Adds to the waiting transactions those that follow them in an explanation, until no further one does. */
static bool close_along(struct rig_judgement *j, const struct rig_explained *explained)
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

enum rig_rc rig_judgement_begin_closing(struct rig_stream *w, struct rig_judgement *j, struct rig_err *err)
{
    enum rig_rc rc = infer_closing(w, j, err);
    if (rc != RIG_OK || w->conflict != NULL)
        return rc;
    struct rig_explained explained;
    rc = rig_judgement_explain(w, j->view, &explained, err);
    const int64_t start = rig_clock_now_ns();
    if (rc == RIG_OK && !close_along(j, &explained))
        rc = rig_stream_no_memory(err);
    rig_explained_done(&explained);
    w->judge.search_ns += rig_clock_now_ns() - start;
    return rc;
}

enum rig_rc rig_stream_judge_closing(struct rig_stream *w, bool always, struct rig_err *err)
{
    struct rig_judgement j;
    struct rig_err why = {0};
    if (w->objects != NULL)
        return rig_stream_judge_objects(w, err);
    enum rig_rc rc = rig_judgement_begin_closing(w, &j, &why);
    for (unsigned times = 0; times < MOST_SAVINGS && rc == RIG_E_LIMIT && w->options.check.limit_bytes > 0; times++) {
        save_memory(w, times);
        why = (struct rig_err){0};
        rc = rig_judgement_begin_closing(w, &j, &why);
    }
    if (rc != RIG_OK)
        return rig_fail(err, rc, "%s", why.text);
    if (w->conflict != NULL)
        return RIG_OK;
    int64_t start = rig_clock_now_ns();
    j.err = err;
    if (!rig_judgement_choose(&j, j.closing.waits))
        return rig_stream_no_memory(err);
    RIG_INVARIANT(j.selected_count + j.closing.waiting_count <= j.view->txn_count);
    const uint64_t held_count = j.view->txn_count - j.selected_count; /* the view goes with what is dropped */
    rig_judgement_decide_keys(&j);
    w->judge.search_ns += rig_clock_now_ns() - start;
    /* When everything would stay in the window, the judgement can as well be made later. */
    w->released_nothing = !always && (j.selected_count == 0 || memchr(j.drop, 1, j.view->key_count) == NULL);
    if (!w->released_nothing) {
        rc = rig_judgement_search(&j);
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
