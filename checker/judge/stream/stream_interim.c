/* Provisional results during a check: rig_stream_found(), rig_stream_interim(). */
#include <string.h>

#include "base/clock.h"
#include "checker/decide/cycle/core.h"
#include "checker/judge/stream/explained.h"
#include "checker/decide/solve/explanations.h"
#include "checker/judge/stream/stream_private.h"

/*
 * The levels that each anomaly counted refutes, independent of later segments: by its name, and by the witnesses of the
 * windows judged. The writer of a garbage value may still come, and the value that a key began with may still be found,
 * so that versions on a cycle have an order; and if later reads contradict an order of writes, read committed is
 * refuted, but no weaker level. A later read may show an append again that seems lost; the cycle of the read that
 * missed it counts.
 */
static void find_refuted_for_good(const struct rig_findings *findings, struct rig_stream_interim *interim)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (anomaly == RIG_ANOMALY_GARBAGE_READ || anomaly == RIG_ANOMALY_CYCLIC_VERSIONS ||
            interim->count[anomaly] == 0)
            continue;
        interim->refutes[anomaly] = rig_levels_refuted_by(findings->lattice, (enum rig_anomaly)anomaly, false) |
                                    (findings->of[anomaly].refutes & ~rig_levels_below_committed);
        interim->refuted |= interim->refutes[anomaly];
    }
}

/* Infers the view, and searches it for cycles of what was not judged before. */
static enum rig_rc search_fresh(struct rig_judge *judge, const struct rig_history *view, struct rig_err *err)
{
    enum rig_rc rc = rig_judge_infer(judge, view, true, err);
    if (rc != RIG_OK)
        return rc;
    size_t node_count = (size_t)judge->inference.links.node_count;
    uint8_t *selected = rig_arena_array(&judge->scratch, node_count + 1, 1);
    if (selected == NULL)
        return rig_stream_no_memory(err);
    memset(selected, 1, node_count);
    for (uint32_t txn = 0; txn < view->txn_count; txn++)
        selected[txn] = !rig_txn_is_settled(&view->txns[txn]);
    return rig_judge_search(judge, selected, err);
}

static struct rig_judge *interim_judge(struct rig_stream *w)
{
    if (!w->has_interim)
        rig_judge_init(&w->interim, 1, rig_check_assumptions(&w->options.check), w->options.check.limit_bytes);
    w->has_interim = true;
    return &w->interim;
}

enum rig_rc rig_stream_doomed(struct rig_stream *w, const struct rig_history *view, uint64_t *levels,
                              struct rig_err *err)
{
    bool clean = false;
    *levels = 0;
    enum rig_rc rc = rig_core_is_empty(&w->judge.inference.links, view, w->judge.inference.committed, &clean, err);
    if (rc != RIG_OK || (clean && w->judge.inference.noncyclic.kept.count == 0))
        return rc;
    struct rig_judge *judge = interim_judge(w);
    struct rig_err why = {0};
    const struct rig_arena *taken = &w->judge.scratch;
    judge->assumptions = w->judge.assumptions;
    if (w->options.check.limit_bytes > 0)
        judge->scratch.limit_bytes =
            taken->limit_bytes > taken->used_bytes ? taken->limit_bytes - taken->used_bytes : 1;
    rc = search_fresh(judge, view, &why);
    for (unsigned anomaly = 0; rc == RIG_OK && anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (rig_judge_found(judge, (enum rig_anomaly)anomaly) > 0)
            *levels |= rig_levels_refuted_by(w->findings.lattice, (enum rig_anomaly)anomaly, false);
    }
    if (w->options.check.limit_bytes > 0) {
        rig_judge_done(judge);
        w->has_interim = false;
    }
    /* It only saves time. */
    return rc == RIG_OK || rc == RIG_E_LIMIT ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}

/* The requested levels that no order of the versions explains, where no single read is impossible. Only for types whose
 * reads leave the order open. */
static enum rig_rc find_denied(struct rig_stream *w, const struct rig_stream_interim *interim, uint64_t *denied,
                               struct rig_err *err)
{
    const struct rig_inference *inference = &w->interim.inference;
    const uint64_t levels = rig_findings_open(&w->findings, &w->interim) & w->storage->verdict.requested_levels;
    struct rig_explained explained = {0};
    const struct rig_solve_budget budget = {.deadline_ns = rig_clock_now_ns() + w->findings.budget_ns};
    *denied = 0;
    if (!w->type->whole || levels == 0 || interim->contradicted != 0 || inference->noncyclic.kept.count > 0)
        return RIG_OK;
    enum rig_rc rc = rig_explained_find_whole(inference, levels, &budget, &explained, err);
    *denied = explained.orders.denied;
    rig_explained_done(&explained);
    return rc;
}

static enum rig_rc judge_interim(struct rig_stream *w, struct rig_stream_interim *interim, uint64_t *denied,
                                 struct rig_err *err)
{
    struct rig_judge *judge = &w->interim;
    const struct rig_history *view = rig_window_history(w->window, true);
    if (view == NULL)
        return rig_stream_no_memory(err);
    if (w->type->any_initial && !rig_stream_open_keys(w, view, true))
        return rig_stream_no_memory(err);
    judge->assumptions.open_keys = w->type->any_initial ? w->open_keys : NULL;
    enum rig_rc rc = search_fresh(judge, view, err);
    interim->contradicted = judge->inference.contradicted;
    for (uint32_t txn = 0; txn < view->txn_count; txn++)
        interim->waiting_count +=
            !rig_txn_is_settled(&view->txns[txn]) && view->txns[txn].complete_at != RIG_POSITION_NONE;
    if (rc == RIG_OK && w->objects != NULL) {
        uint64_t refuted = 0;
        rc = rig_stream_look_at_objects(w, judge, &refuted, err);
        interim->count[RIG_ANOMALY_NONLINEARIZABLE] += refuted;
    }
    if (rc == RIG_OK)
        rc = find_denied(w, interim, denied, err);
    for (unsigned anomaly = 0; rc == RIG_OK && anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (anomaly != RIG_ANOMALY_GARBAGE_READ && anomaly != RIG_ANOMALY_LOST_APPEND &&
            anomaly != RIG_ANOMALY_LOST_WRITE)
            interim->count[anomaly] += rig_judge_found(judge, (enum rig_anomaly)anomaly);
    }
    return rc;
}

void rig_stream_found(const struct rig_stream *windows, uint64_t found[RIG_ANOMALY_COUNT])
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        found[anomaly] = windows->findings.of[anomaly].count;
}

enum rig_rc rig_stream_interim(struct rig_stream *windows, struct rig_stream_interim *interim, struct rig_err *err)
{
    struct rig_stream *w = windows;
    struct rig_stream_interim seen = {.txn_count = w->fed_count, .window_bytes = rig_window_bytes(w->window)};
    interim_judge(w)->assumptions.contradicted = w->options.contradicted == NULL ? 0 : *w->options.contradicted;
    rig_stream_found(w, seen.count);
    uint64_t denied = 0;
    enum rig_rc rc = w->conflict != NULL ? RIG_OK : judge_interim(w, &seen, &denied, err);
    if (rc != RIG_OK)
        return rc;
    find_refuted_for_good(&w->findings, &seen);
    seen.count[RIG_ANOMALY_NO_VERSION_ORDER] += denied != 0;
    seen.refutes[RIG_ANOMALY_NO_VERSION_ORDER] |= denied;
    seen.refuted |= denied;
    *interim = seen;
    return RIG_OK;
}
