/* Provisional results during a check: rig_stream_found(), rig_stream_peek(). */
#include <string.h>

#include "checker/stream/stream_private.h"

/*
 * The levels that each anomaly counted refutes, independent of later segments: by its name, and by the witnesses of the
 * windows judged. The writer of a garbage value may still come, and the value that a key began with may still be found,
 * so that versions on a cycle have an order; and if later reads contradict an order of writes, read committed is refuted,
 * but no weaker level. A later read may show an append again that seems lost; the cycle of the read that missed it counts.
 */
static void find_refuted_for_good(const struct rig_findings *findings, struct rig_stream_peek *peek)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (anomaly == RIG_ANOMALY_GARBAGE_READ || anomaly == RIG_ANOMALY_CYCLIC_VERSIONS || peek->count[anomaly] == 0)
            continue;
        peek->refutes[anomaly] = rig_levels_refuted_by(findings->lattice, (enum rig_anomaly)anomaly, false) |
                                 (findings->of[anomaly].refutes & ~rig_levels_below_committed);
        peek->refuted |= peek->refutes[anomaly];
    }
}

static enum rig_rc peek_at_window(struct rig_stream *w, struct rig_stream_peek *peek, struct rig_err *err)
{
    struct rig_judge *judge = &w->peeking;
    const struct rig_history *view = rig_window_history(w->window, true);
    if (view == NULL)
        return rig_stream_no_memory(err);
    if (w->type->any_initial && !rig_stream_open_keys(w, view, true))
        return rig_stream_no_memory(err);
    judge->assumptions.open_keys = w->type->any_initial ? w->open_keys : NULL;
    enum rig_rc rc = rig_judge_infer(judge, view, true, err);
    if (rc != RIG_OK)
        return rc;
    peek->contradicted = judge->inference.contradicted;
    size_t node_count = (size_t)judge->inference.links.node_count;
    uint8_t *selected = rig_arena_array(&judge->scratch, node_count + 1, 1);
    if (selected == NULL)
        return rig_stream_no_memory(err);
    memset(selected, 1, node_count);
    for (uint32_t txn = 0; txn < view->txn_count; txn++) {
        selected[txn] = !rig_txn_is_settled(&view->txns[txn]);
        peek->waiting_count += selected[txn] && view->txns[txn].complete_at != RIG_POSITION_NONE;
    }
    rc = rig_judge_search(judge, selected, err);
    for (unsigned anomaly = 0; rc == RIG_OK && anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (anomaly != RIG_ANOMALY_GARBAGE_READ && anomaly != RIG_ANOMALY_LOST_APPEND)
            peek->count[anomaly] += judge->ladder.found[anomaly].count + judge->inference.noncyclic.count[anomaly];
    }
    return rc;
}

void rig_stream_found(const struct rig_stream *windows, uint64_t found[RIG_ANOMALY_COUNT])
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        found[anomaly] = windows->findings.of[anomaly].count;
}

enum rig_rc rig_stream_peek(struct rig_stream *windows, struct rig_stream_peek *peek, struct rig_err *err)
{
    struct rig_stream *w = windows;
    struct rig_stream_peek seen = {.txn_count = w->fed_count, .window_bytes = rig_window_bytes(w->window)};
    if (!w->peeks)
        rig_judge_init(&w->peeking, 1, w->options.check.assumptions, w->options.check.limit_bytes);
    w->peeks = true;
    w->peeking.assumptions.contradicted = w->options.contradicted == NULL ? 0 : *w->options.contradicted;
    rig_stream_found(w, seen.count);
    enum rig_rc rc = w->conflict != NULL ? RIG_OK : peek_at_window(w, &seen, err);
    if (rc != RIG_OK)
        return rc;
    find_refuted_for_good(&w->findings, &seen);
    *peek = seen;
    return RIG_OK;
}
