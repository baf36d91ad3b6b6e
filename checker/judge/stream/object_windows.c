/*
 * Operations on objects in windows. Each judgement decides what completed before the first operation that is open now
 * (object_decide.h); what is done is dropped, whichever key it is on, and keys keep their numbers.
 */
#include <string.h>

#include "base/clock.h"
#include "checker/judge/stream/closing_private.h"
#include "checker/judge/stream/retired_private.h"
#include "checker/judge/stream/stream_private.h"

#define LONGEST_LOOK_NS (RIG_NS_PER_S / 2)

/* ---- the type's functions: no key is closed or retired ---- */

void rig_object_wait_for_unknown(struct rig_closing_search *s)
{
    memset(s->out->alive, 1, s->history->key_count);
}

static bool remember(const struct rig_retiring *r, uint32_t key, bool dropped)
{
    (void)r, (void)key, (void)dropped;
    return true;
}

static bool admit(struct rig_admission *a)
{
    (void)a;
    return true;
}

const struct rig_type_retired rig_object_retired = {.remember = remember, .admit = admit};

/* ---- judgements ---- */

/* Per key, the first invocation of an open operation. NULL when memory runs out. */
static uint32_t *find_open(struct rig_arena *arena, const struct rig_history *view, uint32_t open_txn)
{
    uint32_t *from = rig_arena_room(arena, (size_t)view->key_count + 1, sizeof *from);
    for (uint32_t key = 0; from != NULL && key < view->key_count; key++)
        from[key] = RIG_POSITION_NONE;
    for (uint32_t txn = open_txn; from != NULL && txn < view->txn_count; txn++) {
        const uint32_t invoke = view->txns[txn].invoke_at;
        const struct rig_txn_op *op = rig_txn_ops(view, txn), *end = op + rig_txn_op_count(view, txn);
        for (; op < end; op++)
            from[op->key] = invoke < from[op->key] ? invoke : from[op->key];
    }
    return from;
}

static void set_limits(struct rig_stream *w)
{
    const size_t limit = w->judge.scratch.limit_bytes;
    w->findings.limit_bytes = w->options.check.limit_bytes == 0 ? 0 : limit;
    w->findings.objects = &w->objects_window;
}

/* Decides, and marks the transactions that are done. */
static enum rig_rc decide(struct rig_stream *w, const struct rig_history *view, uint8_t *settled, struct rig_err *err)
{
    const uint32_t open_txn = rig_window_txn_count(w->window);
    w->objects_window = (struct rig_objects_window){
        .past = w->objects,
        .open_from = find_open(&w->judge.scratch, view, open_txn),
        .open_txn = open_txn,
        .waits = rig_arena_array(&w->judge.scratch, (size_t)view->txn_count + 1, 1),
    };
    if (w->objects_window.open_from == NULL || w->objects_window.waits == NULL)
        return rig_stream_no_memory(err);
    set_limits(w);
    w->judge.selected = settled;
    enum rig_rc rc = rig_findings_add(&w->findings, &w->judge, err);
    for (uint32_t txn = 0; txn < open_txn; txn++)
        settled[txn] = !w->objects_window.waits[txn];
    return rc;
}

enum rig_rc rig_stream_judge_objects(struct rig_stream *w, struct rig_err *err)
{
    const struct rig_history *view = rig_window_history(w->window, true);
    if (view == NULL)
        return rig_stream_no_memory(err);
    rig_stream_limit_judge(w, view);
    enum rig_rc rc = rig_judge_infer(&w->judge, view, true, err);
    uint8_t *settled = rc == RIG_OK ? rig_arena_array(&w->judge.scratch, (size_t)view->txn_count + 1, 1) : NULL;
    if (rc == RIG_OK)
        rc = settled == NULL ? rig_stream_no_memory(err) : decide(w, view, settled, err);
    if (rc != RIG_OK)
        return rc;
    const uint32_t count = rig_window_txn_count(w->window);
    w->released_nothing = memchr(settled, 1, count) == NULL;
    if (!w->released_nothing) {
        rig_verdict_add_scope(&w->storage->verdict, &w->judge.inference, settled);
        rig_budget_measure(&w->budget, w->judge.scratch.used_bytes, rig_window_filled_bytes(w->window));
        if (rig_window_history(w->window, false) == NULL)
            return rig_stream_no_memory(err);
        rig_window_drop(w->window, settled);
        w->judged_count++;
    }
    w->held_count = w->old_count = rig_window_txn_count(w->window);
    w->new_count = w->next_look = 0;
    return RIG_OK;
}

void rig_stream_end_objects(struct rig_stream *w)
{
    w->objects_window = (struct rig_objects_window){.past = w->objects, .open_txn = UINT32_MAX, .is_last = true};
    set_limits(w);
}

enum rig_rc rig_stream_look_at_objects(struct rig_stream *w, struct rig_judge *judge, uint64_t *refuted,
                                       struct rig_err *err)
{
    const uint32_t open_txn = rig_window_txn_count(w->window);
    const struct rig_objects_window window = {.past = w->objects,
                                              .open_from = find_open(&judge->scratch, judge->history, open_txn),
                                              .open_txn = open_txn,
                                              .only_looks = true};
    const struct rig_objects_limits limits = {.deadline_ns = rig_clock_now_ns() + LONGEST_LOOK_NS,
                                              .bytes = judge->scratch.limit_bytes};
    struct rig_objects_decided decided;
    if (window.open_from == NULL)
        return rig_stream_no_memory(err);
    enum rig_rc rc = rig_objects_decide(judge->inference.history, judge->inference.initial, &window, &limits,
                                        &judge->scratch, &decided, err);
    *refuted = rc == RIG_OK ? decided.refuted : 0;
    return rc;
}
