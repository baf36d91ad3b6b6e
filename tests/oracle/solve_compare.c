/*
 * Compares rig's solver of version orders with the third oracle (version_cases.h) on random histories of 4 to 32
 * transactions, whose problems are made here, without rig's inference.
 *
 *   solve_compare [--count N] [--seed S]
 *
 * For each level from read committed up: the solver's answer must be the oracle's; an explanation must be one for the
 * oracle; the core of a refutation, as a history of its own, must have no explanation, nor the shrunk core, which must
 * have one without any one of its transactions (of registers; a part of a list is no list). The exit status is 1 after
 * a disagreement, which is printed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/decide/solve/shrink.h"
#include "checker/decide/solve/solve.h"
#include "tests/oracle/level_meaning.h"
#include "tests/oracle/small_execution.h"
#include "tests/oracle/small_random.h"
#include "tests/oracle/version_cases.h"

/* A history as a problem: node n is transaction txn_of[n]. */
struct posed {
    struct rig_problem problem;
    int txn_of[CASES_TXNS];
    uint32_t node_of[CASES_TXNS];
};

static bool in(uint32_t set, int txn)
{
    return (set >> txn & 1) != 0;
}

static int end_of(const struct small_txn *txn)
{
    return txn->complete_at == SMALL_NEVER ? 4 * SMALL_TXNS + txn->invoke_at : txn->complete_at;
}

static int begin_of(const struct small_txn *txn)
{
    return txn->invoke_at == SMALL_NEVER ? txn->complete_at : txn->invoke_at;
}

/* Numbers the committed transactions as they complete. */
static void number_nodes(const struct small_history *history, uint32_t committed, struct posed *posed)
{
    for (int t = 0; t < history->txn_count; t++) {
        uint32_t node = 0;
        for (int o = 0; o < history->txn_count; o++)
            node += in(committed, o) && end_of(&history->txns[o]) < end_of(&history->txns[t]);
        posed->node_of[t] = in(committed, t) ? node : RIG_PROBLEM_NONE;
        if (in(committed, t))
            posed->txn_of[node] = t;
    }
}

/* The last ok transaction of the process that completed before `t` began. */
static uint32_t node_before(const struct small_history *history, const struct posed *posed, int t)
{
    int last = -1;
    for (int o = 0; o < history->txn_count; o++) {
        const struct small_txn *other = &history->txns[o];
        if (other->process == history->txns[t].process && other->outcome == SMALL_OK &&
            other->complete_at < begin_of(&history->txns[t]) &&
            (last < 0 || other->complete_at > history->txns[last].complete_at))
            last = o;
    }
    return last < 0 ? RIG_PROBLEM_NONE : posed->node_of[last];
}

static bool add_txn(const struct small_history *history, const struct case_facts *facts, struct posed *posed, int t)
{
    const struct small_txn *txn = &history->txns[t];
    const bool timed = txn->invoke_at != SMALL_NEVER;
    bool done = rig_problem_add_txn(
        &posed->problem, &(struct rig_problem_txn){
                             .txn = posed->node_of[t],
                             .session = (uint32_t)txn->process,
                             .before = node_before(history, posed, t),
                             .invoked = timed ? (uint32_t)txn->invoke_at : 0,
                             .ended = timed && txn->outcome == SMALL_OK ? (uint32_t)txn->complete_at : UINT32_MAX});
    for (int r = 0; r < facts->read_count; r++) {
        const struct case_read *read = &facts->reads[r];
        if (read->txn == t)
            done = done && rig_problem_add_read(
                               &posed->problem,
                               &(struct rig_problem_read){.op = (uint32_t)read->op,
                                                          .key = (uint32_t)read->key,
                                                          .writer = read->writer < 0 ? RIG_PROBLEM_INITIAL
                                                                                     : posed->node_of[read->writer]});
    }
    for (int i = 0; i < txn->op_count; i++) {
        if (txn->ops[i].append)
            done = done && rig_problem_add_write(&posed->problem, (uint32_t)txn->ops[i].key, (uint32_t)i);
    }
    return done;
}

static bool add_pairs(const struct small_history *history, const struct case_facts *facts, struct posed *posed)
{
    bool done = true;
    for (int key = 0; key < SMALL_KEYS && !history->registers; key++) {
        for (int a = 0; a < history->txn_count; a++) {
            for (int b = 0; b < history->txn_count; b++) {
                if (in(facts->writers[key], a) && in(facts->writers[key], b) && in(facts->first[b], a))
                    done = done &&
                           rig_problem_add_pair(&posed->problem, &(struct rig_problem_pair){.before = posed->node_of[a],
                                                                                            .after = posed->node_of[b],
                                                                                            .key = (uint32_t)key});
            }
        }
    }
    return done;
}

static void pose(const struct small_history *history, const struct case_facts *facts, struct posed *posed)
{
    *posed = (struct posed){.txn_of = {0}};
    number_nodes(history, facts->committed, posed);
    posed->problem.has_realtime = history->txns[0].invoke_at != SMALL_NEVER;
    bool done = true;
    for (int n = 0; n < history->txn_count && done; n++) {
        const int t = posed->txn_of[n];
        if (posed->node_of[t] == (uint32_t)n)
            done = add_txn(history, facts, posed, t);
    }
    done = done && add_pairs(history, facts, posed) && rig_problem_finish(&posed->problem);
    RIG_REQUIRE(done);
}

/* The history of the transactions in `core` alone; reads from others become unknown. */
static void keep_core(const struct small_history *history, uint32_t core, struct small_history *part)
{
    *part = *history;
    for (int t = 0; t < part->txn_count; t++) {
        for (int i = 0; i < part->txns[t].op_count; i++) {
            struct small_op *op = &part->txns[t].ops[i];
            int write, writer = op->append || op->count == 0 ? t : small_writer(history, op->key, op->list[0], &write);
            if (!op->append && writer >= 0 && !in(core, writer))
                op->known = false;
        }
    }
    for (int t = part->txn_count; t-- > 0;) {
        if (!in(core, t)) {
            memmove(&part->txns[t], &part->txns[t + 1], (size_t)(part->txn_count - t - 1) * sizeof part->txns[0]);
            part->txn_count--;
        }
    }
    for (int t = 0; t < part->txn_count; t++)
        part->txns[t].outcome = SMALL_OK;
}

/* Whether parts of the history are judged: a part of a list is no list, and an info transaction commits when it is
 * read. */
static bool has_parts(const struct small_history *history, const struct posed *posed, const uint32_t *nodes,
                      uint32_t count)
{
    bool acknowledged = history->registers;
    for (uint32_t i = 0; i < count; i++)
        acknowledged = acknowledged && history->txns[posed->txn_of[nodes[i]]].outcome == SMALL_OK;
    return acknowledged;
}

/* Whether the transactions of these nodes, without the one at `but`, have an explanation; as the problem has parts. */
static enum case_answer explain_part(const struct small_history *history, const struct posed *posed,
                                     const uint32_t *nodes, uint32_t count, uint32_t but, struct level_meaning meaning)
{
    struct small_history part;
    struct case_answers answers;
    uint32_t core = 0;
    for (uint32_t i = 0; i < count; i++)
        core |= i == but ? 0 : UINT32_C(1) << posed->txn_of[nodes[i]];
    keep_core(history, core, &part);
    version_cases_find(&part, &answers);
    return answers.answer[meaning.kind][meaning.order];
}

/* NULL, or what is wrong with the core, whole and shrunk. */
static const char *compare_core(const struct small_history *history, const struct posed *posed, enum rig_level level,
                                const struct rig_solution *solution)
{
    const struct level_meaning meaning = level_meaning(level);
    const struct rig_solve_budget unlimited = {.deadline_ns = INT64_MAX};
    struct rig_shrunk shrunk;
    struct rig_err err = {.rc = RIG_OK};
    const char *wrong = NULL;
    if (!has_parts(history, posed, solution->core, solution->core_count))
        return NULL;
    if (explain_part(history, posed, solution->core, solution->core_count, UINT32_MAX, meaning) == CASES_YES)
        return "no, but an order explains its core";
    if (rig_shrink(&posed->problem, rig_level_rule(level), solution->core, solution->core_count, &unlimited, &shrunk,
                   &err) != RIG_OK)
        return "no, but does not shrink its core";
    const bool parts = has_parts(history, posed, shrunk.nodes, shrunk.count);
    if (parts && explain_part(history, posed, shrunk.nodes, shrunk.count, UINT32_MAX, meaning) == CASES_YES)
        wrong = "no, but an order explains the shrunk core";
    for (uint32_t i = 0; i < shrunk.count && parts && wrong == NULL; i++) {
        if (explain_part(history, posed, shrunk.nodes, shrunk.count, i, meaning) == CASES_NO)
            wrong = "no, but a transaction of the shrunk core can be left out";
    }
    rig_shrunk_done(&shrunk);
    return wrong;
}

/* NULL, or what is wrong with the solver's answer. */
static const char *compare(const struct small_history *history, const struct posed *posed, enum rig_level level,
                           enum case_answer expected)
{
    const struct level_meaning meaning = level_meaning(level);
    const struct rig_solve_budget unlimited = {.deadline_ns = INT64_MAX};
    struct rig_solution solution;
    struct rig_err err = {.rc = RIG_OK};
    const char *wrong = NULL;
    if (rig_solve(&posed->problem, rig_level_rule(level), &unlimited, &solution, &err) != RIG_OK)
        return "no answer";
    if (solution.answer == RIG_ANSWER_SPENT) {
        wrong = "that the budget is spent";
    } else if ((solution.answer == RIG_ANSWER_YES) != (expected == CASES_YES)) {
        wrong = solution.answer == RIG_ANSWER_YES ? "yes, but no order explains it" : "no, but an order explains it";
    } else if (solution.answer == RIG_ANSWER_YES) {
        int place[CASES_TXNS] = {0};
        for (uint32_t n = 0; n < posed->problem.txn_count; n++)
            place[posed->txn_of[n]] = (int)solution.place[n];
        if (!version_cases_allow(history, meaning.kind, meaning.order, place))
            wrong = "yes, but its order explains nothing";
    } else {
        wrong = compare_core(history, posed, level, &solution);
    }
    rig_solution_done(&solution);
    return wrong;
}

static const char *compare_levels(const struct small_history *history, enum rig_level *level)
{
    struct case_facts facts;
    struct case_answers answers;
    struct posed posed;
    const char *wrong = NULL;
    version_cases_read(history, &facts);
    if (!facts.possible || facts.committed == 0)
        return NULL;
    version_cases_find(history, &answers);
    pose(history, &facts, &posed);
    for (int i = 0; i < RIG_LEVEL_COUNT && wrong == NULL; i++) {
        const struct level_meaning meaning = level_meaning((enum rig_level)i);
        const enum case_answer expected = answers.answer[meaning.kind][meaning.order];
        *level = (enum rig_level)i;
        if (meaning.kind != EXECUTION_RU && expected != CASES_SPENT &&
            (facts.inner || !rig_level_rule(*level)->internal))
            wrong = compare(history, &posed, *level, expected);
    }
    rig_problem_done(&posed.problem);
    return wrong;
}

static bool still_wrong(const struct small_history *history, void *context)
{
    enum rig_level level;
    (void)context;
    return history->txn_count > 0 && compare_levels(history, &level) != NULL;
}

int main(int argc, char **argv)
{
    enum { REPORTS = 5 };
    uint64_t seed = 1, count = 4000, disagreements = 0;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[i + 1], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--count") == 0) {
            count = strtoull(argv[i + 1], NULL, 10);
        } else {
            fprintf(stderr, "usage: solve_compare [--count N] [--seed S]\n");
            return 64;
        }
    }
    for (uint64_t number = 0; number < count; number++) {
        struct small_history history;
        enum rig_level level;
        const struct small_shape shape = {
            .registers = number % 3 != 0, .least = number % 2 != 0 ? 8 : 4, .most = number % 16 == 0 ? CASES_TXNS : 16};
        small_execution(seed, number, shape, &history);
        small_name_initial(&history);
        if (history.txn_count == 0 || compare_levels(&history, &level) == NULL || disagreements++ >= REPORTS)
            continue;
        small_shrink(&history, still_wrong, NULL);
        const char *wrong = compare_levels(&history, &level);
        printf("--seed %llu, history %llu: %s: the solver says %s\n", (unsigned long long)seed,
               (unsigned long long)number, rig_level_info(level)->name, wrong);
        small_print(&history, "    ", stdout);
    }
    printf("seed %llu: %llu histories, %llu with a disagreement\n", (unsigned long long)seed, (unsigned long long)count,
           (unsigned long long)disagreements);
    return disagreements == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
