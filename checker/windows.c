#include "checker/windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/closing.h"
#include "checker/retired.h"
#include "checker/verdict_storage.h"
#include "history/source.h"
#include "history/window.h"

enum {
    /* What judging a window takes beside the window itself, in its size; measured again by each judgement. */
    FIRST_LOAD_PERCENT = 250,
    FULL_PERCENT = 80, /* of the budget: then the window is judged, however little is new */
    RESERVED_BYTES = 16 << 20,
    IDLE_GAPS = 32, /* usual gaps without a use: were uses independent of each other, one in e^32 would be so late */
    IDLE_SHARE = 8, /* of the idle time that options give, the least part */
};

struct rig_windows {
    struct rig_windows_options options;
    struct rig_window *window;
    struct rig_judge judge;
    struct rig_judge peeking; /* set up by the first peek */
    bool peeks;
    struct rig_retired *retired;
    struct rig_evidence *evidence;
    struct rig_findings findings;
    struct rig_verdict_storage *storage;
    size_t budget;         /* bytes; 0: no limit */
    uint64_t fed_count;    /* transactions */
    uint64_t new_count;    /* of them, since the last judgement */
    uint64_t held_count;   /* in the window, after the last judgement: not judged for good; */
    uint32_t old_count;    /*   and all that stayed */
    uint64_t load_percent; /* see FIRST_LOAD_PERCENT */
    uint32_t judged_count; /* judgements made */
    int64_t zero_ns;       /* the first invocation */
    int64_t adding_ns;
    const char *conflict;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, "not enough memory for the verdict; raise --max-memory");
}

static void set_defaults(struct rig_windows_options *options)
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

/* What the limit leaves to windows, beside the program itself and the parts of the file that are being read. */
static size_t budget_of(size_t limit_bytes)
{
    return limit_bytes > 2 * (size_t)RESERVED_BYTES ? limit_bytes - RESERVED_BYTES : limit_bytes / 2;
}

enum rig_rc rig_windows_begin(enum rig_workload workload, const struct rig_windows_options *options,
                              struct rig_windows **windows, struct rig_err *err)
{
    if (workload != RIG_WORKLOAD_LIST_APPEND && workload != RIG_WORKLOAD_RW_REGISTER)
        return rig_fail(err, RIG_E_INPUT,
                        "rig checks histories of list-append and rw-register; this one is of neither");
    struct rig_windows *w = calloc(1, sizeof *w);
    if (w == NULL)
        return no_memory(err);
    w->options = *options;
    set_defaults(&w->options);
    w->budget = budget_of(options->check.limit_bytes);
    /* The versions of registers are ordered over the whole history. */
    w->options.keep_all |= workload != RIG_WORKLOAD_LIST_APPEND;
    const struct rig_check_options *check = &w->options.check;
    rig_judge_init(&w->judge, check->max_witnesses, check->assumptions, w->budget);
    w->window = rig_window_new(workload, w->budget);
    w->retired = rig_retired_new();
    w->evidence = rig_evidence_new(workload);
    w->storage = rig_verdict_new(check);
    w->load_percent = FIRST_LOAD_PERCENT;
    w->zero_ns = INT64_MAX;
    if (w->window == NULL || w->retired == NULL || w->evidence == NULL || w->storage == NULL) {
        rig_windows_free(w);
        return no_memory(err);
    }
    w->findings = (struct rig_findings){
        .most_kept = check->max_witnesses, .arena = &w->storage->arena, .evidence = w->evidence, .gone = w->retired};
    *windows = w;
    return RIG_OK;
}

void rig_windows_free(struct rig_windows *windows)
{
    if (windows == NULL)
        return;
    rig_judge_done(&windows->judge);
    if (windows->peeks)
        rig_judge_done(&windows->peeking);
    rig_window_free(windows->window);
    rig_retired_free(windows->retired);
    rig_evidence_free(windows->evidence);
    if (windows->storage != NULL)
        rig_verdict_free(&windows->storage->verdict);
    free(windows);
}

const char *rig_windows_conflict(const struct rig_windows *windows)
{
    return windows->conflict;
}

/* ---- one judgement ---- */

/* What one judgement works on; arrays come from the judge's scratch. */
struct judgement {
    struct rig_windows *w;
    const struct rig_history *view;
    struct rig_closing closing;
    uint8_t *selected; /* per node: closing, and not judged before */
    uint8_t *judged;   /* per transaction: enum rig_judged, for those who are selected; and */
    uint8_t *all;      /*   whether it has been judged, now or before */
    uint8_t *fate;     /* per key: enum rig_key_fate */
    uint8_t *drop;     /* per key */
    uint64_t selected_count;
    struct rig_err *err;
};

/* After how many transactions the key is taken to be done with: many times its usual gap, if that is less. */
static uint64_t idle_of(const struct rig_windows *w, uint32_t key)
{
    uint64_t most = w->options.idle, least = most / IDLE_SHARE + 1, gap = rig_window_key_gap(w->window, key);
    if (gap > most / IDLE_GAPS)
        return most;
    return gap * IDLE_GAPS > least ? gap * IDLE_GAPS : least;
}

/* Keys that may be used again. */
static uint8_t *find_alive(const struct judgement *j)
{
    struct rig_windows *w = j->w;
    const struct rig_history *view = j->view;
    uint8_t *alive = rig_arena_array(&w->judge.scratch, (size_t)view->key_count + 1, 1);
    if (alive == NULL)
        return NULL;
    uint64_t now = rig_window_used_now(w->window);
    for (uint32_t key = 0; key < view->key_count; key++) {
        bool used_lately = now - rig_window_key_used_at(w->window, key) < idle_of(w, key);
        bool used_again = w->options.census == NULL
                              ? used_lately
                              : rig_census_is_used_after(w->options.census, view, key, w->fed_count);
        alive[key] = used_again || rig_window_key_is_open(w->window, key);
    }
    return alive;
}

static bool make_arrays(struct judgement *j)
{
    struct rig_arena *arena = &j->w->judge.scratch;
    size_t node_count = (size_t)j->w->judge.inference.links.node_count + 1;
    size_t txn_count = (size_t)j->view->txn_count + 1, key_count = (size_t)j->view->key_count + 1;
    j->selected = rig_arena_array(arena, node_count, 1);
    j->judged = rig_arena_array(arena, txn_count, 1);
    j->all = rig_arena_array(arena, txn_count, 1);
    j->fate = rig_arena_array(arena, key_count, 1);
    j->drop = rig_arena_array(arena, key_count, 1);
    return j->selected != NULL && j->judged != NULL && j->all != NULL && j->fate != NULL && j->drop != NULL;
}

/* Of those that no judgement has seen before. Vectorized by the compiler. */
static uint64_t choose_new(const uint8_t *restrict waits, const uint8_t *restrict committed, uint8_t *restrict selected,
                           uint8_t *restrict all, uint8_t *restrict judged, uint32_t count)
{
    uint64_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t closes = waits[i] ^ 1U;
        selected[i] = all[i] = closes;
        judged[i] = closes ? (uint8_t)(RIG_JUDGED_UNCOMMITTED + committed[i]) : RIG_JUDGED_NOT;
        chosen += closes;
    }
    return chosen;
}

/* Everything is closing at the end of the history: `waits` is NULL then. */
static bool choose(struct judgement *j, const uint8_t *waits)
{
    const struct rig_links *links = &j->w->judge.inference.links;
    const uint8_t *committed = j->w->judge.inference.versions.committed;
    const uint32_t old = j->w->old_count, count = j->view->txn_count;
    if (waits == NULL)
        waits = rig_arena_array(&j->w->judge.scratch, (size_t)links->node_count + 1, 1);
    if (waits == NULL)
        return false;
    for (uint32_t txn = 0; txn < old; txn++) {
        bool before = j->view->txns[txn].judged != RIG_JUDGED_NOT;
        bool closes = !before && !waits[txn];
        j->selected[txn] = closes;
        j->selected_count += closes;
        j->all[txn] = before || closes;
        if (closes)
            j->judged[txn] = committed[txn] ? RIG_JUDGED_COMMITTED : RIG_JUDGED_UNCOMMITTED;
    }
    j->selected_count +=
        choose_new(waits + old, committed + old, j->selected + old, j->all + old, j->judged + old, count - old);
    for (uint32_t node = links->txn_count; node < links->node_count; node++)
        j->selected[node] = !waits[node];
    return true;
}

/*
 * What becomes of the keys: those that nobody who waits has used are dropped. Of the others, those that are done with
 * have to be remembered as they are now, because some who used them may have been judged.
 */
static void decide_keys(struct judgement *j)
{
    const struct rig_history *view = j->view;
    const uint8_t *alive = j->closing.alive;
    memset(j->drop, 1, view->key_count);
    const uint8_t *waits = memchr(j->all, 0, view->txn_count);
    for (uint32_t txn = waits == NULL ? view->txn_count : (uint32_t)(waits - j->all); txn < view->txn_count; txn++) {
        const struct rig_mop *op = rig_txn_ops(view, txn), *end = op + rig_txn_op_count(view, txn);
        for (; !j->all[txn] && op < end; op++)
            j->drop[op->key] = 0;
    }
    for (uint32_t key = 0; key < view->key_count; key++) {
        bool is_alive = alive != NULL && alive[key];
        j->drop[key] &= !is_alive;
        j->fate[key] = is_alive ? RIG_KEY_ALIVE : j->drop[key] ? RIG_KEY_DROPPED : RIG_KEY_DEAD;
    }
}

static enum rig_rc search(struct judgement *j)
{
    struct rig_windows *w = j->w;
    enum rig_rc rc = rig_judge_search(&w->judge, j->selected, j->err);
    if (rc == RIG_OK)
        rc = rig_findings_add(&w->findings, &w->judge, j->err);
    if (rc == RIG_OK)
        rig_verdict_add_scope(&w->storage->verdict, &w->judge.inference, j->selected);
    return rc;
}

/* What the keys were like that are done with; those that are known to be only count. */
static enum rig_rc remember_keys(struct judgement *j)
{
    struct rig_windows *w = j->w;
    decide_keys(j);
    if (w->options.census == NULL)
        return rig_retired_remember(w->retired, &w->judge.inference, j->fate, j->all, w->judge.odd_keys, j->err);
    rig_retired_count(w->retired, &w->judge.inference, j->fate);
    return RIG_OK;
}

static enum rig_rc let_go(struct judgement *j)
{
    struct rig_windows *w = j->w;
    enum rig_rc rc = remember_keys(j);
    if (rc != RIG_OK)
        return rc;
    rig_window_drop(w->window, j->judged, j->drop);
    w->old_count = rig_window_txn_count(w->window);
    return RIG_OK;
}

/* What the work took beside the window. */
static void measure_load(struct rig_windows *w)
{
    uint64_t window_bytes = rig_window_bytes(w->window) + 1;
    uint64_t percent = w->judge.scratch.held_bytes * 100 / window_bytes + 20;
    w->load_percent = percent > 1000 ? 1000 : percent;
}

static enum rig_rc begin_judgement(struct rig_windows *w, bool last, struct judgement *j, struct rig_err *err)
{
    *j = (struct judgement){.w = w, .err = err, .view = rig_window_history(w->window, last)};
    if (j->view == NULL)
        return no_memory(err);
    enum rig_rc rc = rig_judge_infer(&w->judge, j->view, true, err);
    return rc != RIG_OK || make_arrays(j) ? rc : no_memory(err);
}

static enum rig_rc judge_closing(struct rig_windows *w, struct rig_err *err)
{
    struct judgement j;
    enum rig_rc rc = begin_judgement(w, false, &j, err);
    if (rc != RIG_OK)
        return rc;
    int64_t start = rig_clock_now_ns();
    uint8_t *alive = find_alive(&j);
    if (alive == NULL || !rig_closing_find(&w->judge.inference, alive, &w->judge.scratch, &j.closing))
        return no_memory(err);
    if (!choose(&j, j.closing.waits))
        return no_memory(err);
    const uint64_t held_count = j.view->txn_count - j.selected_count; /* the view goes with what is dropped */
    w->judge.search_ns += rig_clock_now_ns() - start;
    if (j.selected_count > 0) {
        rc = search(&j);
        start = rig_clock_now_ns();
        measure_load(w);
        if (rc == RIG_OK)
            rc = let_go(&j);
        w->judge.search_ns += rig_clock_now_ns() - start;
        w->judged_count++;
    }
    w->held_count = held_count;
    w->new_count = 0;
    return rc;
}

/* ---- feeding ---- */

static bool is_full(const struct rig_windows *w)
{
    uint64_t enough = w->held_count * w->options.growth;
    if (w->options.keep_all)
        return false;
    if (w->budget > 0) {
        uint64_t bytes = rig_window_bytes(w->window);
        bytes += bytes * w->load_percent / 100 + rig_retired_bytes(w->retired);
        if (bytes > w->budget / 100 * FULL_PERCENT && w->new_count > w->held_count / 8)
            return true;
    }
    return w->new_count >= w->options.least_new && w->new_count >= enough;
}

static void note_times(struct rig_windows *w, const struct rig_segment *segment)
{
    for (size_t i = 0; i < segment->txns.count && w->fed_count + i < RIG_ZERO_TXNS; i++) {
        int64_t invoke_ns = segment->txns.at[i].invoke_ns;
        if (invoke_ns != RIG_NO_TIME && invoke_ns < w->zero_ns)
            w->zero_ns = invoke_ns;
    }
}

/* Events that are not in the order of their times are put into it at the end: then nothing can be judged before. */
static void keep_order(struct rig_windows *w, const struct rig_segment *segment)
{
    if (!segment->unordered)
        return;
    if (w->judged_count > 0)
        w->conflict = "its events are not in the order of their times";
    w->options.keep_all = true;
}

/* What the window says, with the name of the history before it; or why so much is still in it. */
static enum rig_rc named(const struct rig_windows *w, enum rig_rc rc, const struct rig_err *why, struct rig_err *err)
{
    if (rc == RIG_OK)
        return rc;
    if (rc == RIG_E_LIMIT && !w->options.keep_all && w->options.check.limit_bytes > 0)
        return rig_fail(err, rc,
                        "after %llu transactions, %llu cannot be judged yet, because keys that they or earlier ones "
                        "used are still in use, and do not fit into %zu MiB; raise --max-memory",
                        (unsigned long long)w->fed_count, (unsigned long long)(w->held_count + w->new_count),
                        w->options.check.limit_bytes >> 20);
    return w->options.name == NULL ? rig_fail(err, rc, "%s", why->text)
                                   : rig_fail(err, rc, "%s: %s", w->options.name, why->text);
}

static enum rig_rc add(struct rig_windows *w, const struct rig_segment *segment, struct rig_err *err)
{
    const struct rig_segment *cleaned;
    struct rig_err why = {0};
    int64_t start = rig_clock_now_ns();
    note_times(w, segment);
    keep_order(w, segment);
    enum rig_rc rc = RIG_OK;
    if (w->conflict == NULL)
        rc = rig_retired_admit(w->retired, segment, &cleaned, &w->conflict, err);
    if (rc == RIG_OK && w->conflict == NULL)
        rc = named(w, rig_window_add(w->window, cleaned, &why), &why, err);
    w->fed_count += segment->txns.count;
    w->new_count += segment->txns.count;
    w->adding_ns += rig_clock_now_ns() - start;
    return rc;
}

enum rig_rc rig_windows_feed(struct rig_windows *windows, const struct rig_segment *segment, struct rig_err *err)
{
    if (windows->conflict != NULL)
        return RIG_OK;
    enum rig_rc rc = add(windows, segment, err);
    return rc == RIG_OK && windows->conflict == NULL && is_full(windows) ? judge_closing(windows, err) : rc;
}

/* ---- the end ---- */

static enum rig_rc finish_whole(struct rig_windows *w, const struct rig_source_facts *facts, struct rig_err *err)
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
    return RIG_OK;
}

/* The keys that are left, and those that came back, have to be counted as those that went. */
static enum rig_rc count_unordered(struct judgement *j)
{
    struct rig_windows *w = j->w;
    enum rig_rc rc = remember_keys(j);
    w->storage->verdict.scope.unordered_keys = rig_retired_unordered(w->retired);
    return rc;
}

static bool nothing_observed(const struct rig_windows *w)
{
    const uint64_t *edges = w->judge.edge_count;
    return edges[RIG_LINK_WW] + edges[RIG_LINK_WR] + edges[RIG_LINK_RW] == 0;
}

static enum rig_rc finish_windows(struct rig_windows *w, const struct rig_source_facts *facts, struct rig_err *err)
{
    struct judgement j;
    struct rig_verdict_storage *storage = w->storage;
    enum rig_rc rc = begin_judgement(w, true, &j, err);
    if (rc != RIG_OK)
        return rc;
    rc = choose(&j, NULL) ? search(&j) : no_memory(err);
    if (rc == RIG_OK && w->options.census == NULL && nothing_observed(w)) {
        /* What ties transactions to those of keys that went is not counted; and none is needed but one. */
        w->conflict = "next to nothing was observed";
        return RIG_OK;
    }
    if (rc == RIG_OK)
        rc = count_unordered(&j);
    if (rc == RIG_OK)
        rc = rig_evidence_give(w->evidence, w->findings.of, w->zero_ns == INT64_MAX ? 0 : w->zero_ns, &storage->arena,
                               &storage->history, err);
    if (rc != RIG_OK)
        return rc;
    storage->verdict.history = storage->history;
    storage->verdict.scope.truncated = facts->truncated;
    storage->verdict.scope.damaged_at = facts->damaged_at;
    storage->verdict.scope.skipped_count = facts->skipped_count;
    return rig_verdict_conclude(storage, &w->findings, &w->judge, err);
}

enum rig_rc rig_windows_finish(struct rig_windows *windows, const struct rig_source_facts *facts,
                               struct rig_verdict **verdict, struct rig_err *err)
{
    struct rig_windows *w = windows;
    RIG_REQUIRE(w->conflict == NULL);
    uint32_t window_count = w->judged_count + 1;
    enum rig_rc rc = w->judged_count == 0 ? finish_whole(w, facts, err) : finish_windows(w, facts, err);
    if (rc == RIG_OK && w->conflict != NULL)
        *verdict = NULL;
    else if (rc == RIG_OK) {
        *verdict = &w->storage->verdict;
        (*verdict)->cost.read_ms = (double)w->adding_ns / (double)RIG_NS_PER_MS;
        (*verdict)->cost.window_count = window_count;
        w->storage = NULL;
    }
    rig_windows_free(windows);
    return rc;
}

/* ---- looking on ---- */

/*
 * The levels that the anomalies counted refute whatever comes. Who wrote a value that nobody wrote may not have been
 * seen yet; and should later reads contradict an order of writes, read committed is refuted, but no weaker level.
 */
static uint64_t refuted_for_good(const struct rig_windows_peek *peek)
{
    static const uint64_t open_levels = RIG_LEVEL_BIT(RIG_LEVEL_READ_UNCOMMITTED) |
                                        RIG_LEVEL_BIT(RIG_LEVEL_STRONG_SESSION_READ_UNCOMMITTED) |
                                        RIG_LEVEL_BIT(RIG_LEVEL_STRONG_READ_UNCOMMITTED);
    uint64_t refuted = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        uint64_t forbids = rig_level_info((enum rig_level)level)->forbids;
        for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
            if (anomaly != RIG_ANOMALY_GARBAGE_READ && peek->count[anomaly] > 0 && (forbids & RIG_ANOMALY_BIT(anomaly)))
                refuted |= RIG_LEVEL_BIT(level);
        }
    }
    return refuted & ~open_levels;
}

static enum rig_rc peek_at_window(struct rig_windows *w, struct rig_windows_peek *peek, struct rig_err *err)
{
    struct rig_judge *judge = &w->peeking;
    const struct rig_history *view = rig_window_history(w->window, true);
    if (view == NULL)
        return no_memory(err);
    enum rig_rc rc = rig_judge_infer(judge, view, true, err);
    if (rc != RIG_OK)
        return rc;
    size_t node_count = (size_t)judge->inference.links.node_count;
    uint8_t *selected = rig_arena_array(&judge->scratch, node_count + 1, 1);
    if (selected == NULL)
        return no_memory(err);
    memset(selected, 1, node_count);
    for (uint32_t txn = 0; txn < view->txn_count; txn++) {
        selected[txn] = view->txns[txn].judged == RIG_JUDGED_NOT;
        peek->waiting_count += selected[txn] && view->txns[txn].complete_at != RIG_POSITION_NONE;
    }
    rc = rig_judge_search(judge, selected, err);
    for (unsigned anomaly = 0; rc == RIG_OK && anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (anomaly != RIG_ANOMALY_GARBAGE_READ)
            peek->count[anomaly] += judge->ladder.found[anomaly].count + judge->inference.oddities.count[anomaly];
    }
    return rc;
}

enum rig_rc rig_windows_peek(struct rig_windows *windows, struct rig_windows_peek *peek, struct rig_err *err)
{
    struct rig_windows *w = windows;
    struct rig_windows_peek seen = {.txn_count = w->fed_count, .window_bytes = rig_window_bytes(w->window)};
    if (!w->peeks)
        rig_judge_init(&w->peeking, 1, w->options.check.assumptions, w->options.check.limit_bytes);
    w->peeks = true;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        seen.count[anomaly] = w->findings.of[anomaly].count;
    enum rig_rc rc = w->conflict != NULL ? RIG_OK : peek_at_window(w, &seen, err);
    if (rc != RIG_OK)
        return rc;
    seen.refuted = refuted_for_good(&seen);
    *peek = seen;
    return RIG_OK;
}
