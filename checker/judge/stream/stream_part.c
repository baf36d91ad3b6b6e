#include "checker/judge/stream/stream_part.h"

#include "base/bug.h"
#include "base/clock.h"
#include "checker/judge/stream/stream_judgement.h"
#include "history/source/source.h"

void rig_stream_warm(struct rig_stream *w, uint64_t txn_count, bool skips)
{
    RIG_REQUIRE(w->fed_count == 0 && w->options.census != NULL && !w->type->whole && w->objects == NULL);
    w->fed_count = txn_count;
    w->warms = skips;
}

static uint64_t mix(uint64_t digest, uint64_t number)
{
    digest = (digest ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 29;
}

/* Whether the transaction uses only keys that the window has whole. */
static bool is_whole(const struct rig_history *view, uint32_t txn, const struct rig_table *whole)
{
    const struct rig_txn_op *op = rig_txn_ops(view, txn), *end = op + rig_txn_op_count(view, txn);
    for (; op < end; op++) {
        if (rig_table_get(whole, (uint64_t)view->keys[op->key]) == RIG_TABLE_NONE)
            return false;
    }
    return true;
}

/*
 * Those that wait in the window after a release. `whole` not NULL: false if one of them uses a key that the window does
 * not have whole, or one of unknown fate that stays does, which a transaction before the window may prove committed.
 */
static bool draw_border(const struct rig_stream *w, const struct rig_table *whole, struct rig_stream_border *border)
{
    const struct rig_history *view = rig_window_history(w->window, false);
    *border = (struct rig_stream_border){0};
    if (view == NULL)
        return false;
    for (uint32_t txn = 0; txn < view->txn_count; txn++) {
        const bool waits = !rig_txn_is_settled(&view->txns[txn]);
        if (waits) {
            border->count++;
            border->digest = mix(border->digest, rig_txn_end(view, txn));
        }
        if (whole != NULL && (waits || view->txns[txn].outcome == RIG_OUTCOME_INFO) && !is_whole(view, txn, whole))
            return false;
    }
    return true;
}

enum rig_rc rig_stream_skip(struct rig_stream *w, const struct rig_table *whole, struct rig_stream_part *part,
                            struct rig_err *err)
{
    struct rig_judgement j;
    *part = (struct rig_stream_part){.good = false};
    enum rig_rc rc = rig_judgement_begin_closing(w, &j, err);
    if (rc != RIG_OK || w->conflict != NULL)
        return rc;
    if (!rig_judgement_choose(&j, j.closing.waits))
        return rig_stream_no_memory(err);
    w->held_count = j.view->txn_count - j.selected_count;
    rig_judgement_decide_keys(&j);
    rig_judgement_release(&j);
    w->new_count = w->next_look = 0;
    w->warms = false;
    part->good = draw_border(w, whole, &part->before);
    return RIG_OK;
}

static bool found_nothing(const struct rig_stream *w)
{
    const struct rig_findings *findings = &w->findings;
    uint64_t count = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        count += findings->of[anomaly].count;
    return count == 0 && w->conflict == NULL && !w->unclean &&
           (findings->undecided | findings->unproven | findings->too_large | findings->spent | findings->apart |
            findings->doomed | findings->unfit | findings->open_objects | findings->lost.count) == 0;
}

enum rig_rc rig_stream_end_part(struct rig_stream *w, bool last, struct rig_stream_part *part, struct rig_err *err)
{
    const struct rig_verdict *verdict = &w->storage->verdict;
    const struct rig_scope *scope = &verdict->scope;
    enum rig_rc rc = last ? rig_stream_judge_rest(w, err) : rig_stream_judge_closing(w, true, err);
    if (rc != RIG_OK)
        return rc;
    if (!last)
        w->storage->verdict.scope.unordered_keys = rig_retired_unordered(w->retired);
    part->good &= (last || draw_border(w, NULL, &part->behind)) && found_nothing(w);
    part->has_invocations = scope->has_invocations;
    part->unsettled = scope->unsettled;
    part->own_levels = scope->own_levels;
    part->some_uncommitted = scope->some_uncommitted;
    part->ok = verdict->ok_count;
    part->fail = verdict->fail_count;
    part->info = verdict->info_count;
    part->ops = scope->op_count;
    part->committed = scope->committed_count;
    part->unknown_reads = scope->unknown_reads;
    part->open_reads = scope->open_reads;
    part->observations = scope->observations;
    part->full_reads = scope->full_reads;
    part->unordered_keys = scope->unordered_keys;
    for (unsigned link = 0; link < 3; link++)
        part->edges[link] = w->judge.edge_count[link];
    part->windows = w->judged_count + last;
    part->infer_ns = w->judge.infer_ns;
    part->search_ns = w->judge.search_ns;
    part->adding_ns = w->adding_ns;
    return RIG_OK;
}

void rig_stream_add_part(struct rig_stream *w, const struct rig_stream_part *part)
{
    struct rig_verdict *verdict = &w->storage->verdict;
    struct rig_scope *scope = &verdict->scope;
    RIG_REQUIRE(part->good);
    verdict->ok_count += part->ok;
    verdict->fail_count += part->fail;
    verdict->info_count += part->info;
    scope->txn_count += part->ok + part->fail + part->info;
    scope->op_count += part->ops;
    scope->committed_count += part->committed;
    scope->unknown_reads += part->unknown_reads;
    scope->open_reads += part->open_reads;
    scope->observations += part->observations;
    scope->full_reads += part->full_reads;
    scope->unordered_keys += part->unordered_keys;
    scope->unsettled |= part->unsettled;
    scope->own_levels |= part->own_levels;
    scope->some_uncommitted |= part->some_uncommitted;
    scope->has_invocations &= part->has_invocations;
    for (unsigned link = 0; link < 3; link++)
        w->judge.edge_count[link] += part->edges[link];
    w->judged_count += (uint32_t)part->windows;
}

enum rig_rc rig_stream_finish_parts(struct rig_stream *w, const struct rig_source_facts *facts,
                                    struct rig_verdict **verdict, struct rig_err *err)
{
    enum rig_rc rc = rig_stream_conclude(w, facts, err);
    if (rc == RIG_OK && !rig_stream_keep_ranks(w, &facts->ranks))
        rc = rig_memory_limit(err, "the facts of the ranks");
    if (rc == RIG_OK) {
        *verdict = &w->storage->verdict;
        (*verdict)->cost.read_ms = (double)w->adding_ns / (double)RIG_NS_PER_MS;
        (*verdict)->cost.window_count = w->judged_count;
        w->storage = NULL;
    }
    rig_stream_free(w);
    return rc;
}
