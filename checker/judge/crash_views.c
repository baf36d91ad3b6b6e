#include "checker/judge/crash_views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/plural.h"
#include "checker/infer/crash_loss.h"
#include "checker/judge/asked.h"
#include "checker/judge/fate.h"

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the durability of commits");
}

/* ---- crashes ---- */

/* Faults that end a server, and the steps between which they do so. */
static const struct {
    const char *fault;
    enum rig_fault_step from, to;
} faults[] = {
    {"kill", RIG_FAULT_INJECT, RIG_FAULT_INJECTED},    {"restart", RIG_FAULT_INJECT, RIG_FAULT_INJECTED},
    {"promote", RIG_FAULT_INJECT, RIG_FAULT_INJECTED}, {"power", RIG_FAULT_HEAL, RIG_FAULT_HEALED},
    {"fsync", RIG_FAULT_HEAL, RIG_FAULT_HEALED},       {"disk-full", RIG_FAULT_INJECT, RIG_FAULT_HEALED},
    {"memory", RIG_FAULT_INJECT, RIG_FAULT_HEALED},
};
enum { FAULTS = sizeof faults / sizeof faults[0] };

static unsigned kind_of(const struct rig_fault_event *event)
{
    unsigned kind = 0;
    while (kind < FAULTS && strcmp(faults[kind].fault, event->fault) != 0)
        kind++;
    return kind;
}

static const struct rig_fault_event *find_step(const struct rig_scope *scope, uint32_t injection,
                                               enum rig_fault_step step)
{
    for (size_t i = 0; i < scope->fault_count; i++) {
        if (scope->faults[i].injection == injection && scope->faults[i].step == step)
            return &scope->faults[i];
    }
    return NULL;
}

static int compare_crashes(const void *left, const void *right)
{
    const struct rig_crash *a = left, *b = right;
    if (a->to_at != b->to_at)
        return a->to_at < b->to_at ? -1 : 1;
    return (a->from_at > b->from_at) - (a->from_at < b->from_at);
}

/* A fault that took no effect is none, and one whose end was not recorded has no transaction after it. */
static bool take_crashes(const struct rig_scope *scope, struct rig_durability *durability)
{
    durability->crashes = rig_arena_array(&durability->arena, scope->fault_count + 1, sizeof *durability->crashes);
    if (durability->crashes == NULL)
        return false;
    for (size_t i = 0; i < scope->fault_count; i++) {
        const struct rig_fault_event *event = &scope->faults[i];
        const unsigned kind = kind_of(event);
        if (kind == FAULTS || event->step != (uint8_t)faults[kind].from)
            continue;
        const struct rig_fault_event *effect = find_step(scope, event->injection, RIG_FAULT_INJECTED);
        const struct rig_fault_event *end = find_step(scope, event->injection, faults[kind].to);
        if (effect == NULL || effect->failed)
            continue;
        durability->crashes[durability->crash_count++] =
            (struct rig_crash){.from_at = event->position,
                               .to_at = end == NULL ? RIG_POSITION_NONE : end->position,
                               .at_ns = event->time_ns,
                               .to_ns = end == NULL ? RIG_NO_TIME : end->time_ns,
                               .fault = event->fault,
                               .targets = event->targets,
                               .first_ns = RIG_NO_TIME};
    }
    if (durability->crash_count > 0)
        qsort(durability->crashes, durability->crash_count, sizeof *durability->crashes, compare_crashes);
    return true;
}

/* ---- the promises ---- */

static bool promise(struct rig_durability *durability, enum rig_promise which, enum rig_fate fate, struct rig_buf *text)
{
    struct rig_promise_result *result = &durability->promises[which];
    result->fate = fate;
    result->reason = text->failed ? NULL : rig_arena_text(&durability->arena, rig_buf_text(text), text->size);
    return result->reason != NULL;
}

static bool promise_all(struct rig_durability *durability, enum rig_fate fate, struct rig_buf *text)
{
    bool done = true;
    for (unsigned which = 0; which < RIG_PROMISE_COUNT; which++)
        done = done && promise(durability, (enum rig_promise)which, fate, text);
    return done;
}

static void say_crashes(struct rig_buf *text, uint32_t count)
{
    if (count == 1)
        rig_buf_add_text(text, "the crash");
    else
        rig_buf_printf(text, "the %" PRIu32 " crashes", count);
}

static void say_lost(struct rig_buf *text, const struct rig_durability *durability)
{
    say_crashes(text, durability->crash_count);
    rig_buf_printf(text, " took %" PRIu64 " acknowledged commit%s", durability->acknowledged,
                   rig_plural(durability->acknowledged));
    if (durability->read > 0)
        rig_buf_printf(text, " and %" PRIu64 " that had been read", durability->read);
}

static void say_holes(struct rig_buf *text, const struct rig_durability *durability, bool realtime)
{
    static const char *const kinds[RIG_HOLE_COUNT] = {
        [RIG_HOLE_REALTIME] = "had been acknowledged or read before one that survived began",
        [RIG_HOLE_DEPENDS] = "had been read or overwritten by one that survived",
        [RIG_HOLE_TORN] = "survived in part",
    };
    const char *before = "of the lost commits ";
    for (unsigned hole = RIG_HOLE_COUNT; --hole > RIG_HOLE_NONE;) {
        if (durability->holes[hole] == 0 || (hole == RIG_HOLE_REALTIME && !realtime))
            continue;
        rig_buf_printf(text, "%s%" PRIu64 " %s", before, durability->holes[hole], kinds[hole]);
        before = ", ";
    }
}

/* Says what the losses break. */
static bool conclude_promises(struct rig_durability *durability)
{
    const uint64_t hard = durability->holes[RIG_HOLE_DEPENDS] + durability->holes[RIG_HOLE_TORN];
    struct rig_buf text;
    rig_buf_init(&text, 0);
    const bool lost = durability->acknowledged + durability->read > 0;
    if (!lost) {
        rig_buf_add_text(&text, "no read after ");
        say_crashes(&text, durability->crash_count);
        rig_buf_add_text(&text, " misses a commit that had been acknowledged or read before");
    } else {
        say_lost(&text, durability);
    }
    bool done = promise_all(durability, lost ? RIG_FATE_REFUTED : RIG_FATE_HELD, &text);
    for (unsigned which = RIG_PROMISE_STRONG_PREFIX; done && lost && which <= RIG_PROMISE_PREFIX; which++) {
        const bool realtime = which == RIG_PROMISE_STRONG_PREFIX;
        const bool broken = hard + (realtime ? durability->holes[RIG_HOLE_REALTIME] : 0) > 0;
        rig_buf_clear(&text);
        if (broken)
            say_holes(&text, durability, realtime);
        else
            rig_buf_printf(&text, "the lost commits are the last ones before their crash: none that survived %s",
                           realtime ? "depends on one of them, or began after one was known"
                                    : "depends on one of them");
        done = promise(durability, (enum rig_promise)which, broken ? RIG_FATE_REFUTED : RIG_FATE_HELD, &text);
    }
    rig_buf_done(&text);
    return done;
}

enum rig_rc rig_durability_begin(struct rig_verdict *verdict, const struct rig_check_options *options,
                                 struct rig_err *err)
{
    const struct rig_scope *scope = &verdict->scope;
    if (!rig_crash_loss_fits(scope->workload) || !scope->has_invocations || scope->lost_count > 0 || scope->excerpt)
        return RIG_OK;
    struct rig_durability *durability = calloc(1, sizeof *durability);
    if (durability == NULL)
        return no_memory(err);
    rig_arena_init(&durability->arena, options->limit_bytes);
    durability->asked = options->durability;
    verdict->durability = durability;
    if (!take_crashes(scope, durability))
        return no_memory(err);
    if (durability->crash_count == 0) {
        rig_durability_free(durability);
        verdict->durability = NULL;
        return RIG_OK;
    }
    if (verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate == RIG_FATE_HELD && !conclude_promises(durability))
        return no_memory(err);
    return RIG_OK;
}

bool rig_durability_needs_history(const struct rig_verdict *verdict)
{
    return verdict->durability != NULL && verdict->durability->promises[RIG_PROMISE_DURABLE].reason == NULL;
}

enum rig_rc rig_durability_leave(struct rig_verdict *verdict, const char *why, struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "it takes the whole history at once: %s", why);
    const bool done = promise_all(verdict->durability, RIG_FATE_NOT_REFUTED, &text);
    rig_buf_done(&text);
    return done ? RIG_OK : no_memory(err);
}

/* ---- what was lost ---- */

/* The time of the completion at the position. */
static int64_t time_at(const struct rig_history *history, uint32_t position)
{
    uint32_t low = 0, high = history->txn_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (history->txns[middle].complete_at < position) /* those without one come last */
            low = middle + 1;
        else
            high = middle;
    }
    return low < history->txn_count && history->txns[low].complete_at == position ? history->txns[low].complete_ns
                                                                                  : RIG_NO_TIME;
}

/* Keeps the strongest ones, in the order of their transactions. */
static void keep_hole(struct rig_durability *durability, const struct rig_hole_found *found)
{
    uint32_t at = durability->kept_count;
    while (at > 0 && durability->kept[at - 1].hole < found->hole)
        at--;
    if (at == RIG_HOLES_KEPT)
        return;
    durability->kept_count += durability->kept_count < RIG_HOLES_KEPT;
    for (uint32_t i = durability->kept_count; i-- > at + 1;)
        durability->kept[i] = durability->kept[i - 1];
    durability->kept[at] = *found;
}

static void count_losses(const struct rig_crash_losses *taken, struct rig_durability *durability)
{
    const struct rig_history *history = taken->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_crash_loss *loss = &taken->of[txn];
        if (loss->crash == RIG_CRASH_NONE)
            continue;
        struct rig_crash *crash = &durability->crashes[loss->crash];
        const bool is_ok = history->txns[txn].outcome == RIG_OUTCOME_OK;
        const int64_t known_ns = time_at(history, loss->known);
        if (crash->acknowledged + crash->read == 0 ||
            (known_ns != RIG_NO_TIME && (crash->first_ns == RIG_NO_TIME || known_ns < crash->first_ns))) {
            crash->first = rig_txn_name(history, txn);
            crash->reader = rig_txn_name(history, loss->reader);
            crash->first_ns = known_ns;
        }
        crash->acknowledged += is_ok;
        crash->read += !is_ok;
        durability->acknowledged += is_ok;
        durability->read += !is_ok;
        if (loss->hole == RIG_HOLE_NONE)
            continue;
        crash->holes++;
        durability->holes[loss->hole]++;
        const struct rig_hole_found found = {.lost = rig_txn_name(history, txn),
                                             .kept = rig_txn_name(history, loss->kept),
                                             .reader = rig_txn_name(history, loss->reader),
                                             .crash = loss->crash,
                                             .hole = loss->hole};
        keep_hole(durability, &found);
    }
}

/* ---- isolation on what the crashes left ---- */

/* The history that crash `at` left: the others have failed, and have no operations. */
static struct rig_history *make_view(const struct rig_crash_losses *taken, uint32_t at, struct rig_arena *arena)
{
    const struct rig_history *history = taken->history;
    struct rig_history *view = rig_history_share(history);
    struct rig_txn *txns = rig_arena_room(arena, (size_t)history->txn_count + 1, sizeof *txns);
    struct rig_txn_op *ops = rig_arena_room(arena, (size_t)history->op_count + 1, sizeof *ops);
    uint32_t count = 0;
    if (view == NULL || txns == NULL || ops == NULL) {
        rig_history_free(view);
        return NULL;
    }
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        txns[txn] = history->txns[txn];
        txns[txn].first_op = count;
        if (taken->first[txn] > at || taken->last[txn] < at) {
            txns[txn].outcome = RIG_OUTCOME_FAIL;
            continue;
        }
        memcpy(&ops[count], rig_txn_ops(history, txn), rig_txn_op_count(history, txn) * sizeof *ops);
        count += rig_txn_op_count(history, txn);
    }
    txns[history->txn_count] = history->txns[history->txn_count];
    txns[history->txn_count].first_op = count;
    view->txns = txns;
    view->ops = ops;
    view->op_count = count;
    view->summary = NULL;
    view->certificate = NULL;
    view->places = NULL;
    return view;
}

static enum rig_rc judge_views(const struct rig_crash_losses *taken, const struct rig_check_options *options,
                               struct rig_durability *durability, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    durability->views = calloc(taken->view_count, sizeof *durability->views);
    if (durability->views == NULL)
        return no_memory(err);
    for (uint32_t at = 0; rc == RIG_OK && at < taken->view_count; at++) {
        struct rig_arena arena;
        rig_arena_init(&arena, options->limit_bytes);
        struct rig_history *view = make_view(taken, at, &arena);
        rc = view == NULL ? no_memory(err) : rig_check(view, options, &durability->views[at], err);
        durability->view_count += rc == RIG_OK;
        if (rc == RIG_OK)
            durability->views[at]->history = durability->history;
        rig_history_free(view);
        rig_arena_done(&arena);
    }
    return rc;
}

static const enum rig_anomaly losses[] = {RIG_ANOMALY_LOST_APPEND, RIG_ANOMALY_LOST_WRITE, RIG_ANOMALY_LOST_ELEMENT};
enum { LOSSES = sizeof losses / sizeof losses[0] };

/* The verdict on the whole history, with its transactions by the numbers that they have there. */
static enum rig_rc judge_whole(const struct rig_check_options *options, const struct rig_verdict *verdict,
                               struct rig_durability *durability, const struct rig_verdict **whole, struct rig_err *err)
{
    *whole = verdict;
    if (!verdict->history->is_excerpt)
        return RIG_OK;
    const enum rig_rc rc = rig_check(durability->history, options, &durability->whole, err);
    *whole = durability->whole;
    return rc;
}

static bool is_kept(const struct rig_finding *finding, const struct rig_witness *witness)
{
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        if (strcmp(finding->witnesses[i].text, witness->text) == 0)
            return true;
    }
    return false;
}

/* Adds the finding of one more view: several views may show the same transactions, so the count becomes a lower
 * bound. */
static bool add_finding(struct rig_arena *arena, const struct rig_finding *from, struct rig_finding *into)
{
    if (from->count == 0)
        return true;
    const uint32_t room = into->witness_count + from->witness_count;
    struct rig_witness *witnesses = rig_arena_array(arena, (size_t)room + 1, sizeof *witnesses);
    if (witnesses == NULL)
        return false;
    into->exact = into->count == 0 && from->exact;
    into->count = from->count > into->count ? from->count : into->count;
    into->refutes |= from->refutes;
    if (into->witness_count > 0)
        memcpy(witnesses, into->witnesses, into->witness_count * sizeof *witnesses);
    into->witnesses = witnesses;
    for (uint32_t i = 0; i < from->witness_count; i++) {
        if (!is_kept(into, &from->witnesses[i]))
            witnesses[into->witness_count++] = from->witnesses[i];
    }
    into->count = into->count < into->witness_count ? into->witness_count : into->count;
    return true;
}

/* Losses keep their names and witnesses, and refute no level: the crash explains them. */
static bool keep_losses(struct rig_arena *arena, const struct rig_finding *from, struct rig_verdict *verdict)
{
    static const char explained[] = "Refutes no level: a crash explains it.", refutes[] = "Refutes: ";
    for (unsigned i = 0; i < LOSSES; i++) {
        struct rig_finding *into = &verdict->findings[losses[i]];
        const uint64_t by_views = into->refutes;
        const uint32_t known = into->witness_count;
        struct rig_finding copy = from[i];
        copy.refutes = 0;
        if (!add_finding(arena, &copy, into))
            return false;
        into->exact = copy.exact;
        into->refutes = by_views;
        for (uint32_t at = known; at < into->witness_count; at++) {
            struct rig_witness *witness = &into->witnesses[at];
            const char *said = strstr(witness->text, refutes);
            struct rig_buf text;
            rig_buf_init(&text, 0);
            rig_buf_add(&text, witness->text, said == NULL ? strlen(witness->text) : (size_t)(said - witness->text));
            rig_buf_add_text(&text, said == NULL ? "" : explained);
            witness->refutes = 0;
            witness->text = text.failed ? NULL : rig_arena_text(arena, rig_buf_text(&text), text.size);
            rig_buf_done(&text);
            if (witness->text == NULL)
                return false;
        }
    }
    return true;
}

static bool say_views(struct rig_arena *arena, struct rig_verdict *verdict)
{
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        struct rig_level_result *result = &verdict->levels[level];
        struct rig_buf text;
        if (result->fate != RIG_FATE_HELD || result->reason == NULL)
            continue;
        rig_buf_init(&text, 0);
        rig_buf_printf(&text, "%s, in each history that the crashes left", result->reason);
        result->reason = text.failed ? NULL : rig_arena_text(arena, rig_buf_text(&text), text.size);
        rig_buf_done(&text);
        if (result->reason == NULL)
            return false;
    }
    return true;
}

/* The findings of all views take the place of those of the whole history. */
static enum rig_rc join_views(struct rig_durability *durability, const struct rig_verdict *whole,
                              struct rig_verdict *verdict, struct rig_err *err)
{
    struct rig_verdict_storage *storage = verdict->storage;
    struct rig_finding lost[LOSSES];
    rig_anomaly_set undecided = 0;
    for (unsigned i = 0; i < LOSSES; i++)
        lost[i] = whole->findings[losses[i]];
    memset(verdict->findings, 0, sizeof verdict->findings);
    verdict->spent_levels = verdict->unproven_levels = verdict->too_large_levels = 0;
    verdict->scope.apart = verdict->scope.unfit = 0;
    verdict->undecided_anomalies = 0;
    verdict->history = durability->history;
    for (uint32_t at = 0; at < durability->view_count; at++) {
        const struct rig_verdict *view = durability->views[at];
        for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
            if (!add_finding(&storage->arena, &view->findings[anomaly], &verdict->findings[anomaly]))
                return no_memory(err);
        }
        verdict->spent_levels |= view->spent_levels;
        verdict->unproven_levels |= view->unproven_levels;
        verdict->too_large_levels |= view->too_large_levels;
        undecided |= view->undecided_anomalies;
        memcpy(verdict->work, view->work, sizeof verdict->work);
        verdict->cost.search_ms += view->cost.search_ms;
        verdict->cost.infer_ms += view->cost.infer_ms;
    }
    if (!keep_losses(&storage->arena, lost, verdict))
        return no_memory(err);
    enum rig_rc rc = rig_fates_decide(&storage->arena, verdict, err);
    if (rc == RIG_OK)
        rc = rig_asked_decide(&storage->arena, verdict, undecided, err);
    return rc == RIG_OK && !say_views(&storage->arena, verdict) ? no_memory(err) : rc;
}

static uint64_t refuted_levels(const struct rig_verdict *verdict)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        levels |= verdict->levels[level].fate == RIG_FATE_REFUTED ? RIG_LEVEL_BIT(level) : 0;
    return levels;
}

/* No read by itself shows a loss, and levels need one: `explained` are refuted without it. */
static bool admit_needed(struct rig_durability *durability, uint64_t explained)
{
    struct rig_buf text;
    if (explained == 0 || durability->acknowledged + durability->read > 0)
        return true;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "unless a crash took commits, no order of the transactions explains the reads at %s",
                   rig_level_info((enum rig_level)__builtin_ctzll(rig_levels_weakest(explained)))->name);
    const bool done = promise(durability, RIG_PROMISE_DURABLE, RIG_FATE_REFUTED, &text);
    rig_buf_done(&text);
    return done;
}

enum rig_rc rig_durability_judge(struct rig_history *history, const struct rig_check_options *options,
                                 struct rig_verdict *verdict, struct rig_err *err)
{
    struct rig_durability *durability = verdict->durability;
    struct rig_crash_losses taken;
    durability->history = history;
    struct rig_arena arena;
    rig_arena_init(&arena, options->limit_bytes);
    bool done = rig_crash_losses_find(history, durability->crashes, durability->crash_count, &arena, &taken);
    if (done) {
        count_losses(&taken, durability);
        done = conclude_promises(durability);
    }
    enum rig_rc rc = done ? RIG_OK : no_memory(err);
    /* The database's own account is of the whole history. */
    if (rc == RIG_OK && taken.view_count > 1 && verdict->weakest_refuted != 0 && verdict->certified == NULL &&
        verdict->claims == NULL) {
        const uint64_t refuted = refuted_levels(verdict);
        const struct rig_verdict *whole = NULL;
        rc = judge_whole(options, verdict, durability, &whole, err);
        if (rc == RIG_OK)
            rc = judge_views(&taken, options, durability, err);
        if (rc == RIG_OK)
            rc = join_views(durability, whole, verdict, err);
        if (rc == RIG_OK && !admit_needed(durability, refuted & ~refuted_levels(verdict)))
            rc = no_memory(err);
    }
    rig_arena_done(&arena);
    if (rc == RIG_OK && rig_durability_is_broken(durability)) {
        verdict->valid = RIG_VALID_FALSE;
        verdict->unknown_reason = NULL;
    }
    return rc;
}

void rig_durability_free(struct rig_durability *durability)
{
    if (durability == NULL)
        return;
    for (uint32_t at = 0; at < durability->view_count; at++)
        rig_verdict_free(durability->views[at]);
    free(durability->views);
    rig_verdict_free(durability->whole);
    rig_history_free(durability->history);
    rig_arena_done(&durability->arena);
    free(durability);
}
