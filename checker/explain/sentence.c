#include "checker/explain/sentence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "base/printable.h"
#include "checker/explain/say.h"
#include "checker/explain/type_words.h"
#include "checker/explain/waits.h"
#include "history/types/row_clauses.h"
#include "history/types/types.h"

static void add_name(const struct rig_history *history, uint32_t txn, enum rig_column column, struct rig_buf *text)
{
    const char *known = rig_history_column_name(history, txn, column);
    char name[RIG_COLUMN_NAME_BYTES];
    if (known == NULL)
        return;
    (void)snprintf(name, sizeof name, "%s", known);
    rig_printable_line(name);
    rig_buf_printf(text, ", %s %s", rig_column_infos[column].name, name);
}

/* ", node pg-2, backend 4711" */
static void answered_by(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const int64_t backend = rig_history_column(history, txn, RIG_COLUMN_BACKEND);
    add_name(history, txn, RIG_COLUMN_NODE, text);
    add_name(history, txn, RIG_COLUMN_MEMBER, text);
    add_name(history, txn, RIG_COLUMN_LEVEL, text);
    if (backend != RIG_COLUMN_NONE)
        rig_buf_printf(text, ", backend %" PRId64, backend);
}

bool rig_answered_utc(int64_t start_utc_ns, int64_t time_ns, char text[static RIG_UTC_BYTES])
{
    int64_t utc_ns;
    struct tm date;
    if (start_utc_ns == 0 || time_ns == RIG_NO_TIME || __builtin_add_overflow(start_utc_ns, time_ns, &utc_ns) ||
        utc_ns < 0)
        return false;
    const time_t seconds = (time_t)(utc_ns / RIG_NS_PER_S);
    if (gmtime_r(&seconds, &date) == NULL)
        return false;
    const size_t length = strftime(text, RIG_UTC_BYTES, "%Y-%m-%dT%H:%M:%S", &date);
    (void)snprintf(text + length, RIG_UTC_BYTES - length, ".%03dZ", (int)(utc_ns % RIG_NS_PER_S / RIG_NS_PER_MS));
    return true;
}

/* ", 12:03:04.567 UTC", of the transaction's invocation, of its completion where none was recorded. False: nothing. */
static bool answered_at(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    enum { DATE_BYTES = 11, TIME_BYTES = 12 }; /* of 2026-03-01T and 12:03:04.567 */
    const struct rig_txn *t = &history->txns[txn];
    char utc[RIG_UTC_BYTES];
    if (!rig_answered_utc(history->start_utc_ns, t->invoke_ns != RIG_NO_TIME ? t->invoke_ns : t->complete_ns, utc))
        return false;
    rig_buf_printf(text, ", %.*s UTC", TIME_BYTES, utc + DATE_BYTES);
    return true;
}

/* With a comma between thousands. */
static void add_count(uint64_t count, struct rig_buf *text)
{
    if (count >= 1000) {
        add_count(count / 1000, text);
        rig_buf_printf(text, ",%03" PRIu64, count % 1000);
    } else {
        rig_buf_printf(text, "%" PRIu64, count);
    }
}

bool rig_answered_reason(const struct rig_history *history, uint32_t txn, char reason[static RIG_REASON_BYTES])
{
    const struct rig_txn *t = &history->txns[txn];
    if (t->outcome != RIG_OUTCOME_FAIL || t->error == 0 ||
        rig_history_column(history, txn, RIG_COLUMN_SAVEPOINT) != RIG_COLUMN_NONE)
        return false;
    (void)snprintf(reason, RIG_REASON_BYTES, "%s", history->errors[t->error - 1]);
    rig_printable_line(reason);
    /* "code: " without a text */
    size_t length = strlen(reason);
    while (length > 0 && (reason[length - 1] == ' ' || reason[length - 1] == ':'))
        reason[--length] = '\0';
    return length > 0;
}

/* ", failed (40001: could not serialize access)", ", rolled back on purpose", ", outcome unknown to the client" */
static void answered_outcome(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    char reason[RIG_REASON_BYTES];
    const uint8_t outcome = history->txns[txn].outcome;
    if (rig_txn_is_rolled_back(history, txn))
        rig_buf_add_text(text, ", rolled back on purpose");
    else if (rig_answered_reason(history, txn, reason))
        rig_buf_printf(text, ", failed (%s)", reason);
    else if (outcome == RIG_OUTCOME_FAIL)
        rig_buf_add_text(text, ", failed");
    else if (outcome == RIG_OUTCOME_INFO)
        rig_buf_add_text(text, ", outcome unknown to the client");
}

/* ", rolled back to a savepoint by the process's next transaction, after 3 operations" */
static void answered_savepoint(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const int64_t before = rig_history_column(history, txn, RIG_COLUMN_SAVEPOINT);
    if (before < 0)
        return;
    rig_buf_add_text(text, ", rolled back to a savepoint by the process's next transaction, ");
    if (before == 0)
        rig_buf_add_text(text, "before its first operation");
    else
        rig_buf_printf(text, "after %" PRId64 " operation%s", before, rig_plural((uint64_t)before));
}

/* "; held 2.000 s after 3 operations, 1,532 transactions committed meanwhile" */
static void answered_held(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const int64_t held_ns = rig_history_column(history, txn, RIG_COLUMN_HELD);
    const int64_t before = rig_history_column(history, txn, RIG_COLUMN_HELD_BEFORE);
    const int64_t meanwhile = rig_history_column(history, txn, RIG_COLUMN_MEANWHILE);
    if (held_ns < 0)
        return;
    if (held_ns >= RIG_NS_PER_S)
        rig_buf_printf(text, "; held %.3f s", (double)held_ns / (double)RIG_NS_PER_S);
    else
        rig_buf_printf(text, "; held %.3f ms", (double)held_ns / (double)RIG_NS_PER_MS);
    if (before == 0)
        rig_buf_add_text(text, " before its first operation");
    else if (before > 0)
        rig_buf_printf(text, " after %" PRId64 " operation%s", before, rig_plural((uint64_t)before));
    if (meanwhile < 0)
        return;
    rig_buf_add_text(text, ", ");
    add_count((uint64_t)meanwhile, text);
    rig_buf_printf(text, " transaction%s committed meanwhile", rig_plural((uint64_t)meanwhile));
}

enum {
    OPS_SHOWN = 16,
    KEY_BYTES = 64,
    CYCLE_SHOWN = 64, /* transactions; the text of a longer cycle has only its ends */
    CYCLE_ENDS = 8,
    MOMENTS_SHOWN = 32, /* of a course by time */
};

static void add_op(const struct rig_history *history, uint32_t txn, uint32_t at, struct rig_buf *text)
{
    const struct rig_txn_op *op = rig_txn_ops(history, txn) + at;
    const char *name = rig_op_infos[op->kind].name;
    char key[KEY_BYTES];
    struct rig_buf row;
    rig_buf_init(&row, 0);
    rig_history_key_name(history, op->key, key, sizeof key);
    if (rig_op_reads(op->kind))
        rig_say(history, text, "[%s %K %A]", name, op->key, txn, at);
    else if (rig_row_say_op(op->kind, key, op->value, &row))
        rig_buf_printf(text, "[%s]", rig_buf_text(&row));
    else
        rig_say(history, text, "[%s %K %V]", name, op->key, op->value);
    rig_buf_done(&row);
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
    const bool has_utc = answered_at(history, txn, text);
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
    answered_by(history, txn, text);
    add_times(history, txn, text);
    answered_outcome(history, txn, text);
    answered_savepoint(history, txn, text);
    rig_buf_add_text(text, ": ");
    add_ops(history, witness, txn, text);
    answered_held(history, txn, text);
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

/* "By the clients' clocks: T3 [append 1 2], T5 [r 1 [2]] (waited 8.2 ms for T3), T3 committed, T5 committed." Nothing
 * without the times of all operations, or for a long witness. */
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
            const bool on_purpose = rig_txn_is_rolled_back(history, moment->txn);
            rig_buf_add_text(text, on_purpose ? "rolled back" : ends[history->txns[moment->txn].outcome]);
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

bool rig_sentence_word_choices(const struct rig_history *history, struct rig_witness *witness, enum rig_level level,
                               const char *cases, struct rig_arena *arena)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "%s: ", rig_anomaly_info(witness->anomaly)->name);
    add_names(history, witness, &text);
    rig_buf_printf(&text, " read repeated values, and no choice of the writes that they saw keeps %s",
                   rig_level_info(level)->name);
    for (uint32_t i = 0; i < witness->txn_count; i++)
        add_txn_line(history, witness, witness->txns[i], &text);
    rig_buf_add_text(&text, cases);
    rig_buf_add_text(&text, "\n  ");
    add_refuted(witness, &text);
    witness->text = keep(&text, arena);
    return witness->text != NULL;
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
