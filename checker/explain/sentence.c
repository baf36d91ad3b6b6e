#include "checker/explain/sentence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/explain/answered.h"
#include "checker/explain/say.h"
#include "checker/explain/type_words.h"
#include "checker/explain/waits.h"
#include "history/types/types.h"

enum {
    OPS_SHOWN = 16,
    CYCLE_SHOWN = 64, /* transactions; the text of a longer cycle has only its ends */
    CYCLE_ENDS = 8,
    MOMENTS_SHOWN = 32, /* of a course by time */
};

static void add_op(const struct rig_history *history, uint32_t txn, uint32_t at, struct rig_buf *text)
{
    const struct rig_txn_op *op = rig_txn_ops(history, txn) + at;
    const char *name = rig_op_infos[op->kind].name;
    if (rig_op_reads(op->kind))
        rig_say(history, text, "[%s %K %A]", name, op->key, txn, at);
    else
        rig_say(history, text, "[%s %K %V]", name, op->key, op->value);
}

static bool steps_name(const struct rig_step *steps, uint32_t count, uint32_t key)
{
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i].kind <= RIG_EDGE_RW && steps[i].key == key)
            return true;
    }
    return false;
}

/* Whether a sentence of the witness may name this key of one of its transactions. */
static bool names_key(const struct rig_witness *witness, uint32_t key)
{
    const struct rig_cases *cases = witness->cases;
    return key == witness->key || steps_name(witness->steps, witness->step_count, key) ||
           (cases != NULL && steps_name(cases->steps, cases->step_count, key));
}

/* "[r 5 [1 2]] [append 9 4]"; of a long transaction, operations on the keys that the witness names. */
static void add_ops(const struct rig_history *history, const struct rig_witness *witness, uint32_t txn,
                    struct rig_buf *text)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const uint32_t count = rig_txn_op_count(history, txn);
    uint32_t shown = 0;
    bool gap = false;
    for (uint32_t i = 0; i < count && shown < OPS_SHOWN; i++) {
        if (count > OPS_SHOWN && !names_key(witness, ops[i].key)) {
            gap = true;
            continue;
        }
        rig_buf_add_text(text, gap ? (shown > 0 ? " ... " : "... ") : shown > 0 ? " " : "");
        add_op(history, txn, i, text);
        gap = false;
        shown++;
    }
    if (shown < count)
        rig_buf_printf(text, "%s (%" PRIu32 " operations)", shown > 0 ? " ..." : "...", count);
}

/* The time of the clock, or where that is not known the position in the history. */
static void add_realtime(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    const struct rig_txn *from = &history->txns[step->from], *to = &history->txns[step->to];
    if (from->complete_ns == RIG_NO_TIME || to->invoke_ns == RIG_NO_TIME)
        rig_say(history, text, ": it completed at event %d, before %T was invoked at event %d.", from->complete_at,
                step->to, to->invoke_at);
    else
        rig_say(history, text, ": it completed at %t, before %T was invoked at %t.", from->complete_ns, step->to,
                to->invoke_ns);
}

void rig_sentence_add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_say(history, text, "%T before %T", step->from, step->to);
    switch (step->kind) {
    case RIG_EDGE_WW:
    case RIG_EDGE_WR:
    case RIG_EDGE_RW:
        RIG_REQUIRE(rig_type_words(history->workload)->add_step != NULL);
        rig_type_words(history->workload)->add_step(history, step, text);
        break;
    case RIG_EDGE_PROCESS:
        rig_say(history, text, ": process %d ran it first.", history->txns[step->from].process);
        break;
    case RIG_EDGE_REALTIME:
        add_realtime(history, step, text);
        break;
    }
}

static char *keep(struct rig_buf *text, struct rig_arena *arena)
{
    char *copy = text->failed ? NULL : rig_arena_text(arena, rig_buf_text(text), text->size);
    rig_buf_done(text);
    return copy;
}

/* One sentence; NULL when memory runs out. */
static char *word_step(const struct rig_history *history, const struct rig_step *step, struct rig_arena *arena)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_sentence_add_step(history, step, &text);
    return keep(&text, arena);
}

/* "1.204 s - 1.209 s", after the time of the wall clock where that is known. */
static void add_times(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const struct rig_txn *t = &history->txns[txn];
    const bool has_utc = rig_answered_at(history, txn, text);
    if (t->invoke_ns == RIG_NO_TIME)
        return;
    rig_say(history, text, has_utc ? " (%t - " : ", %t - ", t->invoke_ns);
    if (t->complete_ns == RIG_NO_TIME)
        rig_say(history, text, "never completed");
    else
        rig_say(history, text, "%t", t->complete_ns);
    rig_say(history, text, has_utc ? ")" : "");
}

/* "T17 = process 3, node n2, backend 4711, 12:03:04.567 UTC (1.204 s - 1.209 s): [r 5 [1 2]]", and how it was held */
static void add_txn_line(const struct rig_history *history, const struct rig_witness *witness, uint32_t txn,
                         struct rig_buf *text)
{
    const struct rig_txn *t = &history->txns[txn];
    rig_say(history, text, "\n  %T = process %d", txn, t->process);
    rig_answered_by(history, txn, text);
    add_times(history, txn, text);
    rig_answered_outcome(history, txn, text);
    rig_answered_savepoint(history, txn, text);
    rig_buf_add_text(text, ": ");
    add_ops(history, witness, txn, text);
    rig_answered_held(history, txn, text);
}

/* ---- by time ---- */

/* The begin of an operation, or the end of a transaction. */
struct moment {
    int64_t at_ns;
    uint32_t txn;
    uint32_t op; /* UINT32_MAX: the end */
};

static int compare_moments(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->txn != y->txn ? (x->txn < y->txn ? -1 : 1) : (x->op > y->op) - (x->op < y->op);
}

static uint32_t gather_moments(const struct rig_timed *timed, struct moment moments[MOMENTS_SHOWN])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < timed->txn_count; i++) {
        const uint32_t txn = timed->txns[i];
        const uint32_t op_count = rig_txn_op_count(timed->history, txn);
        if (op_count + 1 > MOMENTS_SHOWN - count)
            return 0;
        for (uint32_t op = 0; op < op_count; op++)
            moments[count++] = (struct moment){rig_timed_start_ns(timed, txn, op), txn, op};
        if (timed->history->txns[txn].complete_ns != RIG_NO_TIME)
            moments[count++] = (struct moment){timed->history->txns[txn].complete_ns, txn, UINT32_MAX};
    }
    return count;
}

static void add_wait(const struct rig_timed *timed, const struct moment *moment, struct rig_buf *text)
{
    const struct rig_wait wait = rig_timed_wait(timed, moment->txn, moment->op);
    if (wait.ns == 0)
        return;
    const double ms = (double)wait.ns / (double)RIG_NS_PER_MS;
    rig_buf_printf(text, ms < 9.95 ? " (waited %.1f ms" : " (waited %.0f ms", ms);
    if (wait.from != UINT32_MAX)
        rig_say(timed->history, text, " for %T", wait.from);
    rig_buf_add_char(text, ')');
}

/* "By the clients' clocks: T3 [append 1 2], T5 [r 1 [2]] (waited 8.2 ms for T3), T3 committed, T5 committed." Nothing without
 * the times of all operations, or for a long witness. */
static void add_course(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    static const char *const ends[] = {[RIG_OUTCOME_OK] = "committed",
                                       [RIG_OUTCOME_FAIL] = "failed",
                                       [RIG_OUTCOME_INFO] = "ended, its outcome unknown"};
    struct moment moments[MOMENTS_SHOWN];
    struct rig_timed timed;
    if (witness->txn_count < 2 || !rig_timed_init(&timed, history, witness->txns, witness->txn_count))
        return;
    const uint32_t count = gather_moments(&timed, moments);
    if (count == 0)
        return;
    qsort(moments, count, sizeof *moments, compare_moments);
    rig_buf_add_text(text, "\n  By the clients' clocks:");
    for (uint32_t i = 0; i < count; i++) {
        const struct moment *moment = &moments[i];
        rig_say(history, text, i == 0 ? " %T " : ", %T ", moment->txn);
        if (moment->op == UINT32_MAX) {
            rig_buf_add_text(text, ends[history->txns[moment->txn].outcome]);
            continue;
        }
        add_op(history, moment->txn, moment->op, text);
        add_wait(&timed, moment, text);
    }
    rig_buf_add_char(text, '.');
}

/* The first and the last of `count` transactions or steps are shown; where some are left out, says so once. */
static bool is_shown(uint32_t i, uint32_t count, const char *what, struct rig_buf *text)
{
    if (count <= CYCLE_SHOWN || i < CYCLE_ENDS || i >= count - CYCLE_ENDS)
        return true;
    if (i == CYCLE_ENDS)
        rig_buf_printf(text, "\n  ... (%" PRIu32 " more %s)", count - 2 * CYCLE_ENDS, what);
    return false;
}

static void add_names(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    const uint32_t count = witness->txn_count, named = count > CYCLE_SHOWN ? CYCLE_ENDS : count;
    for (uint32_t i = 0; i < named; i++)
        rig_say(history, text, "%s%T", i == 0 ? "" : i + 1 == count ? " and " : ", ", witness->txns[i]);
    if (named < count)
        rig_say(history, text, " and %d others", count - named);
}

static void add_refuted(const struct rig_witness *witness, struct rig_buf *text)
{
    if (witness->refutes == 0) {
        rig_buf_add_text(text, "Refutes no level.");
        return;
    }
    rig_buf_add_text(text, "Refutes: ");
    bool first = true;
    uint64_t weakest = rig_levels_weakest(witness->refutes);
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        if (!(weakest & RIG_LEVEL_BIT(i)))
            continue;
        if (!first)
            rig_buf_add_text(text, ", ");
        rig_buf_add_text(text, rig_level_info((enum rig_level)i)->name);
        first = false;
    }
    bool top = weakest == RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE);
    rig_buf_add_text(text, top ? "." : " and every stronger level.");
}

/* Why a cycle of writes alone is not called G0 (cycle/cycle.h). */
static void add_doubt(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    uint32_t doubtful = UINT32_MAX;
    for (uint32_t i = 0; i < witness->step_count; i++) {
        if (witness->steps[i].kind == RIG_EDGE_WR || witness->steps[i].kind == RIG_EDGE_RW)
            return;
        if (history->txns[witness->txns[i]].outcome == RIG_OUTCOME_INFO)
            doubtful = witness->txns[i];
    }
    if (doubtful == UINT32_MAX)
        return;
    rig_say(history, text,
            "\n  Whether %T committed is unknown; if it did not, the reads of its writes are aborted reads (G1a).",
            doubtful);
}

static void add_cycle(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    add_names(history, witness, text);
    rig_buf_printf(text, " form a cycle of %" PRIu32 " transactions", witness->txn_count);
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        if (is_shown(i, witness->txn_count, "transactions", text))
            add_txn_line(history, witness, witness->txns[i], text);
    }
    add_course(history, witness, text);
    for (uint32_t i = 0; i < witness->step_count; i++) {
        if (!is_shown(i, witness->step_count, "steps", text))
            continue;
        rig_buf_add_text(text, "\n  - ");
        rig_sentence_add_step(history, &witness->steps[i], text);
    }
    add_doubt(history, witness, text);
    rig_buf_add_text(text, "\n  No order can have each of them before the next: a contradiction.  ");
}

static void add_cases(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    add_names(history, witness, text);
    rig_sentence_cases_title(witness->cases, text);
    for (uint32_t i = 0; i < witness->txn_count; i++)
        add_txn_line(history, witness, witness->txns[i], text);
    add_course(history, witness, text);
    if (!rig_sentence_cases(history, witness->cases, text))
        text->failed = true;
    rig_buf_add_text(text, "  ");
}

static char *word_witness(const struct rig_history *history, const struct rig_witness *witness, struct rig_arena *arena)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "%s: ", rig_anomaly_info(witness->anomaly)->name);
    if (witness->step_count > 0) {
        add_cycle(history, witness, &text);
    } else if (witness->cases != NULL) {
        add_cases(history, witness, &text);
    } else {
        rig_type_words(history->workload)->add_noncyclic(history, witness, &text);
        for (uint32_t i = 0; i < witness->txn_count; i++)
            add_txn_line(history, witness, witness->txns[i], &text);
        add_course(history, witness, &text);
        rig_buf_add_text(&text, "\n  ");
    }
    add_refuted(witness, &text);
    return keep(&text, arena);
}

bool rig_sentence_word(const struct rig_history *history, struct rig_witness *witness, struct rig_arena *arena)
{
    for (uint32_t i = 0; i < witness->step_count; i++) {
        if (!rig_witness_shows(witness, i))
            continue;
        witness->steps[i].text = word_step(history, &witness->steps[i], arena);
        if (witness->steps[i].text == NULL)
            return false;
    }
    if (witness->cases != NULL && !rig_sentence_word_cases(history, witness->cases, arena))
        return false;
    witness->text = word_witness(history, witness, arena);
    return witness->text != NULL;
}
