/*
 * The time of the solver of version orders: each rule of the levels, on a history of registers or on a made problem.
 *
 *   bench_solve HISTORY                                 a history that rig reads (registers)
 *   bench_solve TXNS SESSIONS OPS KEYS READS [SEED]     a serial execution: uniform keys, READS percent reads,
 *                                                       sessions numbered one after the other in the problem
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/rng.h"
#include "checker/infer/register_inference.h"
#include "checker/infer/register_problem.h"
#include "checker/decide/solve/solve.h"
#include "history/source/load.h"

static const char *const FORMS[] = {
    "writes",     "flow",        "cursor",        "monotonic-atomic", "monotonic-view", "monotonic-snapshot",
    "consistent", "read-atomic", "update-atomic", "causal",           "prefix",         "snapshot",
    "updates",    "serial"};
static const char *const ALONG[] = {"plain", "process", "realtime"};
static const char *const ANSWERS[] = {"yes", "no", "spent"};

static int fail(const char *text)
{
    fprintf(stderr, "bench_solve: %s\n", text);
    return 1;
}

static int load(const char *path, struct rig_problem *problem)
{
    struct rig_err err = {0};
    struct rig_history *history = NULL;
    struct rig_arena arena;
    struct rig_inference inference;
    const struct rig_load_options options = {.workload_given = true, .workload = RIG_WORKLOAD_RW_REGISTER};
    rig_arena_init(&arena, 0);
    if (rig_history_load(path, &options, &history, &err) != RIG_OK ||
        rig_infer_registers(history, (struct rig_assumptions){0}, 8, &arena, &inference, &err) != RIG_OK ||
        rig_register_problem(&inference, NULL, false, problem, &err) != RIG_OK)
        return fail(err.text);
    rig_inference_done(&inference);
    rig_arena_done(&arena);
    rig_history_free(history);
    return 0;
}

struct made {
    uint32_t txns, sessions, ops, keys, reads;
    uint32_t *session_of, *node;  /* per step of the serial execution */
    uint32_t *op_key, *op_writer; /* per step and operation; the writer of what is read, as a step, else NONE */
    uint8_t *op_reads;
};

/* Executes the steps one after the other. */
static void execute(struct made *made, struct rig_rng *rng)
{
    uint32_t *last = malloc(made->keys * sizeof last[0]);
    for (uint32_t key = 0; last != NULL && key < made->keys; key++)
        last[key] = RIG_PROBLEM_INITIAL;
    for (uint32_t step = 0; last != NULL && step < made->txns; step++) {
        made->session_of[step] = (uint32_t)rig_rng_below(rng, made->sessions);
        for (uint32_t op = 0; op < made->ops; op++) {
            const size_t i = (size_t)step * made->ops + op;
            const uint32_t key = (uint32_t)rig_rng_below(rng, made->keys);
            made->op_key[i] = key;
            made->op_reads[i] = rig_rng_below(rng, 100) < made->reads;
            made->op_writer[i] = last[key];
            if (!made->op_reads[i])
                last[key] = step;
        }
    }
    free(last);
}

static bool add_step(const struct made *made, uint32_t step, uint32_t *before, struct rig_problem *problem)
{
    const uint32_t session = made->session_of[step];
    bool ok = rig_problem_add_txn(
        problem, &(struct rig_problem_txn){
                     .txn = problem->txn_count, .session = session, .before = before[session], .ended = UINT32_MAX});
    before[session] = made->node[step];
    for (uint32_t op = 0; ok && op < made->ops; op++) {
        const size_t i = (size_t)step * made->ops + op;
        const uint32_t writer = made->op_writer[i];
        if (!made->op_reads[i])
            ok = rig_problem_add_write(problem, made->op_key[i], op);
        else if (writer != step)
            ok = rig_problem_add_read(
                problem, &(struct rig_problem_read){op, made->op_key[i],
                                                    writer == RIG_PROBLEM_INITIAL ? writer : made->node[writer]});
    }
    return ok;
}

static uint32_t number(const char *text)
{
    char *end = NULL;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end != 0 || value < 0 || value > UINT32_MAX) {
        fprintf(stderr, "bench_solve: not a number: %s\n", text);
        exit(1);
    }
    return (uint32_t)value;
}

static int make(char **arguments, int count, struct rig_problem *problem)
{
    struct made made = {.txns = number(arguments[0]),
                        .sessions = number(arguments[1]),
                        .ops = number(arguments[2]),
                        .keys = number(arguments[3]),
                        .reads = number(arguments[4])};
    const size_t ops = (size_t)made.txns * made.ops + 1;
    struct rig_rng rng;
    rig_rng_init(&rng, count > 5 ? number(arguments[5]) : 1, 0);
    made.session_of = malloc((made.txns + 1) * sizeof made.session_of[0]);
    made.node = malloc((made.txns + 1) * sizeof made.node[0]);
    made.op_key = malloc(ops * sizeof made.op_key[0]);
    made.op_writer = malloc(ops * sizeof made.op_writer[0]);
    made.op_reads = malloc(ops);
    uint32_t *before = malloc((made.sessions + 1) * sizeof before[0]);
    bool ok = made.session_of != NULL && made.node != NULL && made.op_key != NULL && made.op_writer != NULL &&
              made.op_reads != NULL && before != NULL;
    if (ok)
        execute(&made, &rng);
    uint32_t node = 0;
    for (uint32_t session = 0; ok && session < made.sessions; session++) {
        before[session] = RIG_PROBLEM_NONE;
        for (uint32_t step = 0; step < made.txns; step++)
            made.node[step] = made.session_of[step] == session ? node++ : made.node[step];
    }
    for (uint32_t session = 0; ok && session < made.sessions; session++) {
        for (uint32_t step = 0; ok && step < made.txns; step++)
            ok = made.session_of[step] != session || add_step(&made, step, before, problem);
    }
    ok = ok && rig_problem_finish(problem);
    free(made.session_of);
    free(made.node);
    free(made.op_key);
    free(made.op_writer);
    free(made.op_reads);
    free(before);
    return ok ? 0 : fail("not enough memory");
}

static void measure(const struct rig_problem *problem, enum rig_rule_form form, enum rig_along along)
{
    const struct rig_rule rule = {form, along, false, false};
    const int64_t start = rig_clock_now_ns();
    const clock_t cpu = clock();
    const struct rig_solve_budget budget = {.deadline_ns = start + 60 * RIG_NS_PER_S};
    struct rig_solution solution;
    struct rig_err err = {0};
    struct rusage usage;
    if (rig_solve(problem, &rule, &budget, &solution, &err) != RIG_OK) {
        fail(err.text);
        return;
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%-20s %-8s %-6s %8.1f ms  cpu %8.1f ms  core %5" PRIu32 "  open %" PRIu64 "  peak %ld MiB\n", FORMS[form],
           ALONG[along], ANSWERS[solution.answer], (double)(rig_clock_now_ns() - start) / 1e6,
           (double)(clock() - cpu) * 1e3 / CLOCKS_PER_SEC, solution.core_count, solution.pairs.open,
           usage.ru_maxrss / 1024);
    fflush(stdout);
    rig_solution_done(&solution);
}

int main(int count, char **arguments)
{
    struct rig_problem problem = {0};
    if (count != 2 && count < 6)
        return fail("wants HISTORY, or TXNS SESSIONS OPS KEYS READS [SEED]");
    if ((count == 2 ? load(arguments[1], &problem) : make(arguments + 1, count - 1, &problem)) != 0)
        return 1;
    printf("%" PRIu32 " transactions, %zu reads, %zu writes\n", problem.txn_count, problem.reads.count,
           problem.writes.count);
    for (int form = RIG_RULE_COUNT - 1; form >= 0; form--) {
        for (int along = problem.has_realtime ? 2 : 1; along >= 0; along--) {
            const char *only = getenv("ONLY"); /* forms, by name */
            if (only == NULL || strstr(only, FORMS[form]) != NULL)
                measure(&problem, (enum rig_rule_form)form, (enum rig_along)along);
        }
    }
    rig_problem_done(&problem);
    return 0;
}
