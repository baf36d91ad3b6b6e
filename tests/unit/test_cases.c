/*
 * Proofs by cases end to end: small histories of lists and of registers whose unread or unordered versions are open,
 * the proof that no order of them is allowed at a level, its words, and the verifier, which accepts it and refuses
 * every falsification.
 */
#include "tests/unit/given_history.h"

#include <string.h>

#include "base/rng.h"
#include "checker/judge/check.h"
#include "checker/infer/list_inference.h"
#include "checker/infer/list_problem.h"
#include "checker/infer/register_inference.h"
#include "checker/infer/register_problem.h"
#include "checker/decide/solve/proof.h"
#include "checker/explain/case_explain.h"
#include "checker/explain/sentence.h"
#include "checker/prove/witness/verify.h"
#include "report/report.h"
#include "tests/oracle/ask_checker.h"
#include "tests/oracle/small_random.h"
#include "tests/unit/random_problem.h"

static const struct rig_solve_budget UNLIMITED = {.deadline_ns = INT64_MAX};
static const struct rig_prove_options PROVE = {.budget = {.deadline_ns = INT64_MAX}, .shrink_deadline_ns = INT64_MAX};

struct fixture {
    struct rig_history *history; /* owned */
    struct rig_arena arena;
    struct rig_inference inference;
    struct rig_problem problem;
    struct rig_verifier *verifier;
};

/* Takes the history. */
static void begin(struct fixture *f, struct rig_history *history)
{
    struct rig_err err = {0};
    const bool lists = history->workload == RIG_WORKLOAD_LIST_APPEND;
    const struct rig_assumptions prefilled = {.made = RIG_ASSUMES_PREFILLED};
    *f = (struct fixture){.history = history};
    rig_arena_init(&f->arena, 0);
    enum rig_rc rc = lists ? rig_infer_list_append(history, prefilled, 8, &f->arena, &f->inference, &err)
                           : rig_infer_registers(history, prefilled, 8, &f->arena, &f->inference, &err);
    if (rc == RIG_OK)
        rc = lists ? rig_list_problem(&f->inference, NULL, false, &f->problem, &err)
                   : rig_register_problem(&f->inference, NULL, false, &f->problem, &err);
    if (rc != RIG_OK)
        fail_msg("%s", err.text);
    f->verifier = rig_verifier_new(history, true);
    assert_non_null(f->verifier);
}

static void done(struct fixture *f)
{
    rig_verifier_free(f->verifier);
    rig_problem_done(&f->problem);
    rig_inference_done(&f->inference);
    rig_arena_done(&f->arena);
    rig_history_free(f->history);
}

/* Whether no order is allowed at the level; then also the witness, worded. */
static bool refute(struct fixture *f, enum rig_level level, struct rig_witness *witness)
{
    struct rig_solution solution;
    struct rig_case_proof proof;
    struct rig_err err = {0};
    assert_int_equal(rig_solve(&f->problem, rig_level_rule(level), &UNLIMITED, &solution, &err), RIG_OK);
    const bool refuted = solution.answer == RIG_ANSWER_NO;
    if (refuted) {
        struct rig_prove_options options = PROVE;
        options.level = level;
        options.core = solution.core;
        options.core_count = solution.core_count;
        if (rig_prove_no(&f->problem, f->history, &options, &f->arena, &proof, &err) != RIG_OK)
            fail_msg("%s", err.text);
        assert_true(proof.line_count > 0 && proof.minimal);
        assert_int_equal(rig_explain_proof(&f->inference, &proof, &f->arena, witness, &err), RIG_OK);
        assert_true(rig_sentence_word(f->history, witness, &f->arena));
        assert_true(witness->anomaly == RIG_ANOMALY_NO_VERSION_ORDER || proof.line_count == 1);
    }
    rig_solution_done(&solution);
    return refuted;
}

static enum rig_rc verify(const struct fixture *f, const struct rig_witness *witness)
{
    struct rig_err err = {0};
    const enum rig_rc rc = rig_verify_witness(f->verifier, witness, &err);
    assert_true(rc == RIG_OK || (rc == RIG_E_BUG && strstr(err.text, "does not hold") != NULL));
    return rc;
}

static void expect_proved(const struct fixture *f, const struct rig_witness *witness)
{
    struct rig_err err = {0};
    if (rig_verify_witness(f->verifier, witness, &err) != RIG_OK)
        fail_msg("%s\n%s", err.text, witness->text);
}

/* ---- falsifications ---- */

static void expect_refused(const struct fixture *f, const struct rig_witness *witness, const char *what)
{
    if (verify(f, witness) == RIG_OK)
        fail_msg("accepted with another %s:\n%s", what, witness->text);
}

#define REFUSED(field, value)                                                                                          \
    do {                                                                                                               \
        const __typeof__(field) saved_ = (field);                                                                      \
        (field) = (value);                                                                                             \
        expect_refused(f, w, #field);                                                                                  \
        (field) = saved_;                                                                                              \
    } while (0)

static void refuse_steps(const struct fixture *f, const struct rig_witness *w)
{
    for (uint32_t i = 0; i < w->cases->step_count; i++) {
        struct rig_step *step = &w->cases->steps[i];
        const bool order = step->kind == RIG_EDGE_PROCESS || step->kind == RIG_EDGE_REALTIME;
        REFUSED(step->from, step->to);
        REFUSED(step->to, step->from);
        REFUSED(step->from, UINT32_MAX);
        if (order)
            continue;
        REFUSED(step->key, step->key + 1000);
        if (step->kind == RIG_EDGE_WW)
            REFUSED(step->to_op, step->to_op + 100);
        if (step->order == RIG_ORDER_CASE) {
            REFUSED(step->order, RIG_ORDER_INITIAL);
            REFUSED(step->order, RIG_ORDER_WFR);
        }
        if (step->order == RIG_ORDER_UPDATE) {
            REFUSED(step->order, RIG_ORDER_CASE);
            REFUSED(step->order_op, step->order_op + 100);
            REFUSED(step->order_txn, step->from);
        }
        if (step->kind == RIG_EDGE_WR)
            REFUSED(step->from_value, step->from_value + 1000);
        if (step->kind == RIG_EDGE_WR)
            REFUSED(step->to_op, step->to_op + 100);
        if (step->kind == RIG_EDGE_RW)
            REFUSED(step->from_op, step->from_op + 100);
        REFUSED(step->kind, (enum rig_edge_kind)9);
    }
}

static void refuse_lines(const struct fixture *f, struct rig_witness *w)
{
    struct rig_cases *cases = w->cases;
    struct rig_case kept[64];
    assert_in_range(cases->line_count, 1, 64);
    memcpy(kept, cases->lines, cases->line_count * sizeof kept[0]);
    for (uint32_t i = 0; i < cases->line_count; i++) {
        struct rig_case *line = &cases->lines[i];
        REFUSED(line->before, line->before == line->after ? 0 : line->after);
        REFUSED(line->key, line->key + 1000);
        REFUSED(line->kind, line->kind == RIG_CASE_SUPPOSE ? RIG_CASE_CYCLE : RIG_CASE_SUPPOSE);
        if (line->kind == RIG_CASE_CYCLE) {
            REFUSED(line->step_count, line->step_count - 1);
            REFUSED(line->first_step, line->first_step + cases->step_count);
        }
        /* Without the line. */
        memmove(line, line + 1, (cases->line_count - i - 1) * sizeof *line);
        cases->line_count--;
        expect_refused(f, w, "number of lines");
        cases->line_count++;
        memcpy(cases->lines, kept, cases->line_count * sizeof kept[0]);
    }
    for (uint32_t i = 0; i < cases->line_count; i++) {
        if (kept[i].kind != RIG_CASE_SUPPOSE)
            continue;
        cases->lines[i].before = kept[i].after;
        cases->lines[i].after = kept[i].before;
        expect_refused(f, w, "supposition");
        cases->lines[i] = kept[i];
    }
}

static void refuse_whole(const struct fixture *f, struct rig_witness *w)
{
    const struct rig_witness kept = *w;
    const uint32_t line_count = w->cases->line_count;
    w->cases->line_count = 0;
    expect_refused(f, w, "number of lines");
    w->cases->line_count = line_count;
    w->cases->level = RIG_LEVEL_READ_UNCOMMITTED;
    expect_refused(f, w, "level");
    w->cases->level = RIG_LEVEL_COUNT;
    expect_refused(f, w, "level");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        w->cases->level = (enum rig_level)level;
        if ((w->refutes & RIG_LEVEL_BIT(level)) == 0)
            expect_refused(f, w, "level");
    }
    w->cases->level = RIG_LEVEL_STRICT_SERIALIZABLE;
    w->refutes |= RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED);
    if (w->refutes != kept.refutes)
        expect_refused(f, w, "refuted level");
    w->refutes = kept.refutes;
    w->txn_count--;
    expect_refused(f, w, "number of transactions");
    w->txn_count++;
    w->anomaly = RIG_ANOMALY_G0;
    expect_refused(f, w, "anomaly");
    *w = kept;
}

static void refuse_falsified(const struct fixture *f, struct rig_witness *witness)
{
    const enum rig_level level = witness->cases->level;
    refuse_steps(f, witness);
    refuse_lines(f, witness);
    refuse_whole(f, witness);
    witness->cases->level = level;
    expect_proved(f, witness);
}

/* ---- random histories ---- */

/* Proofs by cases, those with two suppositions or more, and plain cycles. */
struct tally {
    uint32_t by_cases, long_ones, cycles;
};

static void try_levels(struct rig_history *history, struct tally *tally)
{
    struct fixture f;
    begin(&f, history);
    for (unsigned level = RIG_LEVEL_READ_COMMITTED; level < RIG_LEVEL_COUNT; level++) {
        struct rig_witness witness;
        if (!refute(&f, (enum rig_level)level, &witness))
            continue;
        expect_proved(&f, &witness);
        assert_true((witness.refutes & RIG_LEVEL_BIT(level)) != 0);
        tally->cycles += witness.cases == NULL;
        tally->by_cases += witness.cases != NULL;
        tally->long_ones += witness.cases != NULL && witness.cases->line_count >= 5;
        if (witness.cases != NULL)
            refuse_falsified(&f, &witness);
    }
    done(&f);
}

/* Read committed is not refuted; else no order is asked for. */
static bool is_plain(const struct rig_history *history)
{
    const struct rig_check_options options = {0};
    struct rig_verdict *verdict;
    struct rig_err err = {0};
    assert_int_equal(rig_check(history, &options, &verdict, &err), RIG_OK);
    const bool plain = verdict->levels[RIG_LEVEL_READ_COMMITTED].fate != RIG_FATE_REFUTED;
    rig_verdict_free(verdict);
    return plain;
}

static void lists_are_proved(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (uint64_t number = 0; number < 4000; number++) {
        static struct small_history small;
        struct rig_history *history;
        struct rig_err err = {0};
        small_random(7, number, SMALL_TINY, &small);
        assert_int_equal(build_history(&small, NULL, &history, &err), RIG_OK);
        if (is_plain(history))
            try_levels(history, &tally);
        else
            rig_history_free(history);
    }
    assert_true(tally.by_cases > 20 && tally.cycles > 100);
}

static int compare_positions(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The events of a problem in order, each with its own position: 2 t + 1 for the completion at t, 2 t for an invocation.
 * */
struct events {
    uint32_t at[4 * RANDOM_PROBLEM_TXNS], count;
};

static uint32_t position_of(const struct events *events, uint32_t event)
{
    for (uint32_t i = 0; i < events->count; i++) {
        if (events->at[i] == event)
            return i;
    }
    fail();
    return 0;
}

static uint32_t invocation(const struct rig_problem *problem, uint32_t txn)
{
    return (problem->txns.at[txn].invoked * 2) * RANDOM_PROBLEM_TXNS + txn;
}

static uint32_t completion(const struct rig_problem *problem, uint32_t txn)
{
    return (problem->txns.at[txn].ended * 2 + 1) * RANDOM_PROBLEM_TXNS + txn;
}

static struct events events_of(const struct rig_problem *problem)
{
    struct events events = {.count = 0};
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        events.at[events.count++] = invocation(problem, txn);
        if (problem->txns.at[txn].ended != UINT32_MAX)
            events.at[events.count++] = completion(problem, txn);
    }
    qsort(events.at, events.count, sizeof events.at[0], compare_positions);
    return events;
}

/* A transaction's operations on registers; a place without one is a read without a result. */
static void ops_of(const struct rig_problem *problem, uint32_t txn, struct rig_op *ops, struct rig_read *reads)
{
    for (uint32_t i = 0; i < SMALL_OPS; i++) {
        ops[i] = (struct rig_op){.kind = RIG_OP_READ_REGISTER, .key = 0};
        reads[i] = (struct rig_read){.state = RIG_READ_UNKNOWN};
    }
    for (uint32_t w = problem->txns.at[txn].first_write; w < problem->txns.at[txn + 1].first_write; w++) {
        const struct rig_problem_write *write = &problem->writes.at[w];
        ops[write->first_op] = (struct rig_op){.kind = RIG_OP_WRITE, .key = write->key, .value = 1000 + w};
        ops[write->last_op] = (struct rig_op){.kind = RIG_OP_WRITE, .key = write->key, .value = 1 + w};
    }
    for (uint32_t r = problem->txns.at[txn].first_read; r < problem->txns.at[txn + 1].first_read; r++) {
        const struct rig_problem_read *read = &problem->reads.at[r];
        const bool initial = read->writer == RIG_PROBLEM_INITIAL;
        ops[read->op] = (struct rig_op){.kind = RIG_OP_READ_REGISTER, .key = read->key};
        reads[read->op] = (struct rig_read){.state = initial ? RIG_READ_NIL : RIG_READ_SEEN};
        if (!initial)
            reads[read->op].value = 1 + rig_problem_write_of(problem, read->writer, read->key);
    }
}

static struct rig_history *registers_of(const struct rig_problem *problem)
{
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_RW_REGISTER, 0);
    const struct events events = events_of(problem);
    struct rig_history *history;
    struct rig_err err = {0};
    assert_non_null(builder);
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        struct rig_op ops[SMALL_OPS];
        struct rig_read reads[SMALL_OPS];
        const bool unknown = problem->txns.at[txn].ended == UINT32_MAX;
        const uint32_t complete_at = unknown ? RIG_POSITION_NONE : position_of(&events, completion(problem, txn));
        const uint32_t invoke_at = position_of(&events, invocation(problem, txn));
        struct rig_txn_input input = {.invoke_ns = invoke_at * INT64_C(1000000),
                                      .complete_ns = unknown ? RIG_NO_TIME : complete_at * INT64_C(1000000),
                                      .invoke_at = invoke_at,
                                      .complete_at = complete_at,
                                      .process = unknown ? 100 + (int64_t)txn : problem->txns.at[txn].session,
                                      .outcome = unknown ? RIG_OUTCOME_INFO : RIG_OUTCOME_OK,
                                      .ops = ops,
                                      .reads = reads,
                                      .op_count = 4};
        ops_of(problem, txn, ops, reads);
        if (rig_history_builder_add(builder, &input, &err) != RIG_OK)
            fail_msg("%s", err.text);
    }
    if (rig_history_builder_finish(builder, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

static void registers_are_proved(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct rig_rng rng;
        struct rig_problem problem;
        rig_rng_init(&rng, seed, 14);
        random_problem(&rng, 6, &problem);
        try_levels(registers_of(&problem), &tally);
        rig_problem_done(&problem);
    }
    assert_true(tally.by_cases > 500 && tally.long_ones > 20 && tally.cycles > 1000);
}

/* ---- words ---- */

static void expect_text(const char *notation, enum rig_level level, const char *expected)
{
    struct fixture f;
    struct rig_witness witness;
    begin(&f, given(notation));
    assert_true(refute(&f, level, &witness));
    expect_proved(&f, &witness);
    assert_string_equal(witness.text, expected);
    done(&f);
}

static void smallest_examples_are_worded(void **state)
{
    (void)state;
    expect_text(
        "ok 0 0-2: ry[] ay1 ax1; ok 1 1-3: rx[] ay2", RIG_LEVEL_SNAPSHOT_ISOLATION,
        "no-version-order: T2 and T3 cannot be explained at snapshot-isolation: each order of their writes makes a "
        "cycle without two adjacent rw edges\n"
        "  T2 = process 0, 0.000000 s - 0.002000 s: [r 1 []] [append 1 1] [append 0 1]\n"
        "  T3 = process 1, 0.001000 s - 0.003000 s: [r 0 []] [append 1 2]\n"
        "  1. Either T2's append to key 1 comes before T3's.\n"
        "    - T2 before T3: it appended 1 to key 1, and T3 then 2 (in this case).\n"
        "    - T3 before T2: T3 read key 0 as [] and did not see T2's append of 1, which no read shows.\n"
        "    A cycle.\n"
        "  2. Or T3's append to key 1 comes before T2's.\n"
        "    - T3 before T2: it appended 2 to key 1, and T2 then 1 (in this case).\n"
        "    - T2 before T3: T2 read key 1 as [] and did not see T3's append of 2, which no read shows.\n"
        "    A cycle.\n"
        "  No transaction can be left out: the others have an order without such a cycle.  Refutes: "
        "consistent-view, update-atomic, repeatable-read and every stronger level.");
    expect_text(
        "ok 2 0-1: rz[] ay1 ax2; ok 1 2-3: rz[] ax3 az4; ok 1 4-5: az5 ry[]", RIG_LEVEL_CONSISTENT_VIEW,
        "no-version-order: T1, T3 and T5 cannot be explained at consistent-view: each order of their writes makes a "
        "cycle with at most one rw edge\n"
        "  T1 = process 2, 0.000000 s - 0.001000 s: [r 2 []] [append 1 1] [append 0 2]\n"
        "  T3 = process 1, 0.002000 s - 0.003000 s: [r 2 []] [append 0 3] [append 2 4]\n"
        "  T5 = process 1, 0.004000 s - 0.005000 s: [append 2 5] [r 1 []]\n"
        "  1. Suppose T5's append to key 2 comes before T3's.\n"
        "    - T5 before T3: it appended 5 to key 2, and T3 then 4 (in this case).\n"
        "    - T3 before T5: T3 read key 2 as [] and did not see T5's append of 5, which no read shows.\n"
        "    A cycle. So T3's append to key 2 comes before T5's.\n"
        "  2. Either T1's append to key 0 comes before T3's.\n"
        "    - T1 before T3: it appended 2 to key 0, and T3 then 3 (in this case).\n"
        "    - T3 before T5: it appended 4 to key 2, and T5 then 5 (by 1).\n"
        "    - T5 before T1: T5 read key 1 as [] and did not see T1's append of 1, which no read shows.\n"
        "    A cycle.\n"
        "  3. Or T3's append to key 0 comes before T1's.\n"
        "    - T3 before T1: it appended 3 to key 0, and T1 then 2 (in this case).\n"
        "    - T1 before T3: T1 read key 2 as [] and did not see T3's append of 4, which no read shows.\n"
        "    A cycle.\n"
        "  No transaction can be left out: the others have an order without such a cycle.  Refutes: "
        "consistent-view, repeatable-read and every stronger level.");
}

/* For each of these levels a history that anomalies with names do not refute there, and few transactions do. */
static void smallest_examples_are_decided(void **state)
{
    (void)state;
    static const struct {
        const char *notation;
        uint64_t refuted, held;
    } cases[] = {
        {"ok 0 0-2: ry[] ay1 ax1; ok 1 1-3: rx[] ay2", RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION),
         RIG_LEVEL_BIT(RIG_LEVEL_PREFIX) | RIG_LEVEL_BIT(RIG_LEVEL_READ_ATOMIC)},
        {"ok 0 0-1: ax1; ok 1 2-3: rx[1] rx[]", RIG_LEVEL_BIT(RIG_LEVEL_MONOTONIC_VIEW),
         RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED)},
        {"ok 2 0-1: ax3; ok 0 2-4: ax1 rx[3 1]; ok 1 3-5: rx[3] ax2", RIG_LEVEL_BIT(RIG_LEVEL_CURSOR_STABILITY),
         RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED)},
        {"ok 0 0-2: rx[] az1; ok 1 1-3: rz[] ax1", RIG_LEVEL_BIT(RIG_LEVEL_UPDATE_SERIALIZABLE),
         RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION)},
        {"ok 0 0-2: ay1 ax1 ay2; ok 1 1-3: rx[] ry[1 2]",
         RIG_LEVEL_BIT(RIG_LEVEL_PREFIX) | RIG_LEVEL_BIT(RIG_LEVEL_CAUSAL_CERONE) |
             RIG_LEVEL_BIT(RIG_LEVEL_READ_ATOMIC),
         RIG_LEVEL_BIT(RIG_LEVEL_CURSOR_STABILITY)},
        {"ok 0 0-2: ax2 rx[]; ok 1 1-3: rx[] ax1", RIG_LEVEL_BIT(RIG_LEVEL_CONSISTENT_VIEW),
         RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct small_history history;
        struct checker_answer answer;
        assert_true(small_parse(cases[i].notation, &history));
        ask_checker(&history, NULL, &answer);
        assert_string_equal(answer.problem, "");
        for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
            const enum rig_fate expected = (cases[i].refuted & RIG_LEVEL_BIT(level)) != 0 ? RIG_FATE_REFUTED
                                           : (cases[i].held & RIG_LEVEL_BIT(level)) != 0  ? RIG_FATE_HELD
                                                                                          : answer.fate[level];
            if (answer.fate[level] != expected)
                fail_msg("%s: %s: %d", cases[i].notation, rig_level_info((enum rig_level)level)->name,
                         (int)answer.fate[level]);
        }
    }
}

/* ---- reports ---- */

static uint32_t times(const char *text, const char *part)
{
    uint32_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

static void expect_parts(const char *form, const struct rig_buf *text, const char *const *parts)
{
    assert_false(text->failed);
    for (; *parts != NULL; parts++) {
        if (strstr(rig_buf_text(text), *parts) == NULL)
            fail_msg("the %s report lacks %s:\n%s", form, *parts, rig_buf_text(text));
    }
}

static void reports_show_each_case(void **state)
{
    (void)state;
    struct fixture f;
    struct rig_witness witness;
    struct rig_verdict verdict = {.summary = (char *)"summary", .valid = RIG_VALID_FALSE};
    struct rig_buf html, json, dot, svg;
    begin(&f, given("ok 0 0-2: ry[] ay1 ax1; ok 1 1-3: rx[] ay2"));
    assert_true(refute(&f, RIG_LEVEL_SNAPSHOT_ISOLATION, &witness));
    verdict.history = f.history;
    verdict.findings[RIG_ANOMALY_NO_VERSION_ORDER] =
        (struct rig_finding){.count = 1, .witnesses = &witness, .witness_count = 1, .refutes = witness.refutes};
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        verdict.levels[level].reason = (char *)"reason";
    rig_buf_init(&html, 0);
    rig_buf_init(&json, 0);
    rig_buf_init(&dot, 0);
    rig_buf_init(&svg, 0);
    rig_report_html(&verdict, NULL, NULL, "name", &html);
    rig_report_json(&verdict, NULL, NULL, &json);
    rig_report_dot_witness(&verdict, &witness, 1, &dot);
    rig_report_svg(&verdict, &witness, &svg);
    expect_parts("HTML", &html,
                 (const char *const[]){"<li>1. Either T2&#39;s append to key 1 comes before T3&#39;s.",
                                       "<li>2. Or T3&#39;s append to key 1 comes before T2&#39;s.", "<p>A cycle.</p>",
                                       NULL});
    assert_int_equal(times(rig_buf_text(&html), "<svg class=\"rig-svg\""), 2);
    expect_parts("JSON", &json,
                 (const char *const[]){"\"level\": \"snapshot-isolation\"", "\"minimal\": true",
                                       "\"kind\": \"suppose\"", "\"number\": \"2\"", "\"closing\": \"A cycle.\"",
                                       NULL});
    expect_parts("DOT", &dot, (const char *const[]){"1: T2 before T3: ww, key 1", "2: T3 before T2: ww, key 1", NULL});
    expect_parts(
        "SVG", &svg,
        (const char *const[]){"1. Either T2&#39;s append", "2. Or T3&#39;s append", "no-version-order: ", NULL});
    assert_int_equal(times(rig_buf_text(&svg), "<svg "), 1);
    rig_buf_done(&html);
    rig_buf_done(&json);
    rig_buf_done(&dot);
    rig_buf_done(&svg);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_proved),
        cmocka_unit_test(registers_are_proved),
        cmocka_unit_test(smallest_examples_are_worded),
        cmocka_unit_test(smallest_examples_are_decided),
        cmocka_unit_test(reports_show_each_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
