#include "checker/decide/solve/decide.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/table.h"
#include "checker/decide/solve/order_graph.h"
#include "checker/decide/solve/solve.h"
#include "checker/infer/type_inference.h"

enum {
    CYCLES_TRIED = 4, /* cycles of a guess */
    CYCLE_MOST = 32,  /* transactions of such a cycle, at most */
    SHRINK_SHARE = 4, /* of the time: for fewer transactions, in all. A witness that is not minimal is one, too. */
    ROUNDS = 3,       /* in which the solver is asked about the levels that are open */
};

struct decide {
    const struct rig_problem *problem;
    const struct rig_history *history;
    struct rig_decisions *out;
    uint32_t *place; /* the order of the versions where it is known, else a guess that keeps the pairs */
    bool has_place;
    bool is_guess;                  /* a good one */
    uint32_t *explanation;          /* of the last level that the solver explained, or NULL; owned */
    uint64_t levels;                /* those asked about */
    struct rig_solve_budget budget; /* of the question that is asked */
    int64_t begin_ns, end_ns;       /* of all questions; end: INT64_MAX: none */
    bool last_round;
    int64_t shrink_ns; /* left for fewer transactions */
    struct rig_arena *arena;
    /* Levels may share a rule. Rules that are kept, those that are not, and those that this round left open: one more
     * than the level that was asked. */
    bool explained[RIG_RULE_COUNT][RIG_ALONG_COUNT], broken[RIG_RULE_COUNT][RIG_ALONG_COUNT];
    uint8_t open[RIG_RULE_COUNT][RIG_ALONG_COUNT];
    struct rig_err *err;
};

void rig_decisions_done(struct rig_decisions *decisions)
{
    rig_arcs_done(&decisions->arcs);
    rig_decided_cycles_done(&decisions->cycles);
    rig_case_proofs_done(&decisions->proofs);
}

static enum rig_rc no_memory(const struct decide *d)
{
    return rig_memory_limit(d->err, "the decision of the levels");
}

/* ---- a known order ---- */

static const uint32_t on_path = UINT32_MAX - 1; /* the place of a node after others that have none yet */

/* Places the node after all that pairs put before it. `before`: per node from `first` on; taken off as they are
 * placed. False when pairs go in a circle. */
static bool place_behind(const uint32_t *before, const uint32_t *first, uint32_t *left, uint32_t node, uint32_t *path,
                         uint32_t *place, uint32_t *placed)
{
    RIG_REQUIRE(place[node] == RIG_PROBLEM_NONE);
    uint32_t depth = 0;
    path[depth++] = node;
    place[node] = on_path;
    while (depth > 0) {
        const uint32_t top = path[depth - 1];
        if (left[top] == first[top + 1]) {
            place[top] = (*placed)++;
            depth--;
            continue;
        }
        const uint32_t next = before[left[top]++];
        if (place[next] == on_path)
            return false;
        if (place[next] != RIG_PROBLEM_NONE)
            continue;
        place[next] = on_path;
        path[depth++] = next;
    }
    return true;
}

/* Nodes in an order that keeps all pairs, as close to that of completion as depth-first search comes; false when they
 * have none, or memory runs out. */
static bool follow_pairs(const struct rig_problem *problem, uint32_t *place)
{
    const uint32_t count = problem->txn_count;
    uint32_t *first = calloc((size_t)count + 2, sizeof *first), *left = calloc((size_t)count + 1, sizeof *left);
    uint32_t *before = calloc(problem->pairs.count + 1, sizeof *before),
             *path = calloc((size_t)count + 1, sizeof *path);
    uint32_t placed = 0;
    bool ok = first != NULL && left != NULL && before != NULL && path != NULL;
    for (size_t p = 0; ok && p < problem->pairs.count; p++)
        first[problem->pairs.at[p].after + 1]++;
    for (uint32_t node = 0; ok && node < count; node++) {
        first[node + 1] += first[node];
        left[node] = first[node];
        place[node] = RIG_PROBLEM_NONE;
    }
    for (size_t p = 0; ok && p < problem->pairs.count; p++)
        before[left[problem->pairs.at[p].after]++] = problem->pairs.at[p].before;
    if (ok)
        memcpy(left, first, count * sizeof *left);
    for (uint32_t node = 0; ok && node < count; node++)
        ok = place[node] != RIG_PROBLEM_NONE || place_behind(before, first, left, node, path, place, &placed);
    RIG_INVARIANT(!ok || placed == count);
    free(first);
    free(left);
    free(before);
    free(path);
    return ok;
}

struct placed {
    uint32_t node, place;
};

static int compare_places(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

static uint64_t pair_key(uint32_t before, uint32_t after)
{
    return (uint64_t)before << 32 | after;
}

/* Whether pairs join the writers of the key one after the other. */
static bool is_chain(const struct rig_problem *problem, const struct rig_table *pairs, const uint32_t *place,
                     uint32_t key, struct placed *writers)
{
    const uint32_t *nodes = problem->writers + problem->writer_first[key];
    const uint32_t count = problem->writer_first[key + 1] - problem->writer_first[key];
    for (uint32_t i = 0; i < count; i++)
        writers[i] = (struct placed){nodes[i], place[nodes[i]]};
    if (count > 1)
        qsort(writers, count, sizeof writers[0], compare_places);
    for (uint32_t i = 1; i < count; i++) {
        if (rig_table_get(pairs, pair_key(writers[i - 1].node, writers[i].node)) == RIG_TABLE_NONE)
            return false;
    }
    return true;
}

/* Whether pairs order the versions of each key; *done is false when memory runs out. */
static bool is_ordered(const struct rig_problem *problem, const uint32_t *place, bool *done)
{
    struct placed *writers = calloc(problem->writes.count + 1, sizeof *writers);
    struct rig_table pairs;
    bool ordered = true;
    rig_table_init(&pairs);
    *done = writers != NULL;
    for (size_t p = 0; *done && p < problem->pairs.count; p++) {
        uint32_t *slot = rig_table_put(&pairs, pair_key(problem->pairs.at[p].before, problem->pairs.at[p].after));
        *done = slot != NULL;
        if (slot != NULL)
            *slot = 0;
    }
    for (uint32_t key = 0; *done && ordered && key < problem->key_count; key++)
        ordered = is_chain(problem, &pairs, place, key, writers);
    rig_table_done(&pairs);
    free(writers);
    return ordered;
}

/* ---- answers ---- */

static uint32_t key_of(const struct rig_history *history, const struct rig_arc *arc)
{
    if (arc->kind == RIG_EDGE_PROCESS || arc->kind == RIG_EDGE_REALTIME)
        return RIG_ARC_NONE;
    return arc->kind == RIG_EDGE_RW ? rig_txn_ops(history, arc->from)[arc->from_op].key
                                    : rig_txn_ops(history, arc->to)[arc->to_op].key;
}

static bool keep_cycle(struct decide *d, enum rig_level level, const struct rig_arc *arcs, uint32_t count)
{
    RIG_REQUIRE(count >= 2);
    const struct rig_problem_txn *txns = d->problem->txns.at;
    const struct rig_decided_cycle cycle = {level, (uint32_t)d->out->arcs.count, count};
    for (uint32_t i = 0; i < count; i++) {
        struct rig_arc arc = arcs[i];
        arc.from = txns[arc.from].txn;
        arc.to = txns[arc.to].txn;
        arc.writer = arc.writer == RIG_ARC_NONE ? arc.writer : txns[arc.writer].txn;
        arc.key = key_of(d->history, &arc);
        if (!rig_arcs_add(&d->out->arcs, arc))
            return false;
    }
    return rig_decided_cycles_add(&d->out->cycles, cycle);
}

static void note_answer(struct decide *d, enum rig_level level, enum rig_answer answer)
{
    const struct rig_level_info *info = rig_level_info(level);
    const struct rig_rule *rule = rig_level_rule(level);
    switch (answer) {
    case RIG_ANSWER_YES:
        d->explained[rule->form][rule->along] = true;
        d->out->held |= info->below & d->levels;
        break;
    case RIG_ANSWER_NO:
        d->broken[rule->form][rule->along] = true;
        d->out->refuted |= info->above & d->levels;
        break;
    case RIG_ANSWER_SPENT:
        d->out->spent |= RIG_LEVEL_BIT(level);
        break;
    }
    RIG_INVARIANT((d->out->held & d->out->refuted) == 0);
}

static bool is_answered(const struct decide *d, enum rig_level level)
{
    return ((d->out->held | d->out->refuted) & RIG_LEVEL_BIT(level)) != 0;
}

static enum rig_rc ask_order(struct decide *d, enum rig_level level, enum rig_answer *answer)
{
    RIG_REQUIRE(d->has_place);
    const struct rig_rule *rule = rig_level_rule(level);
    struct rig_breaches found = {0};
    const int64_t start_ns = rig_clock_now_ns();
    bool done = d->explained[rule->form][rule->along] ||
                rig_breach_find(d->problem, rule, d->place, 1, d->budget.deadline_ns, &found);
    *answer = found.ends.count > 0 ? RIG_ANSWER_NO : found.spent ? RIG_ANSWER_SPENT : RIG_ANSWER_YES;
    d->out->effort[level].spent_ns += rig_clock_now_ns() - start_ns;
    if (done && found.ends.count > 0)
        done = keep_cycle(d, level, found.arcs.at, found.ends.at[0]);
    rig_arcs_done(&found.arcs);
    rig_arc_ends_done(&found.ends);
    return done ? RIG_OK : no_memory(d);
}

/* ---- proofs of the solver's answer ---- */

/* The budget of a proof: it may take longer than the question, because the answer is known. In the last round it may
 * take all that is left. */
static struct rig_solve_budget proof_budget(const struct decide *d, int64_t start_ns)
{
    const int64_t left_ns = d->end_ns > start_ns ? d->end_ns - start_ns : 0;
    const int64_t end_ns = d->last_round ? d->end_ns : start_ns + left_ns / 2;
    return (struct rig_solve_budget){d->end_ns == INT64_MAX ? INT64_MAX : end_ns, d->budget.limit_bytes};
}

/* `core`: nodes of `part`. `shrunk`: the transactions of another proof, or NULL. Without a proof, `proof` has no lines,
 * and the level stays open. */
static enum rig_rc prove_part(struct decide *d, const struct rig_problem *part, enum rig_level level,
                              const uint32_t *core, uint32_t core_count, const struct rig_case_proof *shrunk,
                              struct rig_case_proof *proof)
{
    RIG_REQUIRE(core_count > 0 && core_count <= part->txn_count);
    const int64_t start_ns = rig_clock_now_ns();
    const struct rig_prove_options options = {.level = level,
                                              .core = core,
                                              .core_count = core_count,
                                              .budget = proof_budget(d, start_ns),
                                              .shrink_deadline_ns = start_ns + d->shrink_ns,
                                              .shrunk = shrunk != NULL,
                                              .minimal = shrunk != NULL && shrunk->minimal};
    enum rig_rc rc = rig_prove_no(part, d->history, &options, d->arena, proof, d->err);
    const int64_t took_ns = rig_clock_now_ns() - start_ns;
    d->shrink_ns -= took_ns < d->shrink_ns ? took_ns : d->shrink_ns;
    if (rc == RIG_OK && proof->too_large)
        d->out->unproven |= RIG_LEVEL_BIT(level);
    return rc;
}

static enum rig_rc keep_proof(struct decide *d, const struct rig_case_proof *proof)
{
    RIG_REQUIRE(proof->line_count > 0);
    if (!rig_case_proofs_add(&d->out->proofs, *proof))
        return no_memory(d);
    note_answer(d, proof->level, RIG_ANSWER_NO);
    return RIG_OK;
}

/* All nodes of the part, in order. */
static uint32_t *all_nodes(const struct rig_problem *part)
{
    uint32_t *nodes = calloc((size_t)part->txn_count + 1, sizeof nodes[0]);
    for (uint32_t node = 0; nodes != NULL && node < part->txn_count; node++)
        nodes[node] = node;
    return nodes;
}

/*
 * Tries the transactions of a proof at another level. At a weaker one they are as few as they can be, because fewer
 * would refute the level of the proof as well. It is not tried again where time did not suffice.
 */
static enum rig_rc try_level(struct decide *d, const struct rig_problem *part, const struct rig_case_proof *other,
                             enum rig_level level)
{
    const bool shrunk = !other->minimal || (rig_level_info(other->level)->below & RIG_LEVEL_BIT(level)) != 0;
    struct rig_solution solution = {0};
    struct rig_case_proof proof = {0};
    enum rig_rc rc = rig_solve(part, rig_level_rule(level), &d->budget, &solution, d->err);
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_NO) {
        uint32_t *nodes = shrunk && other->minimal ? all_nodes(part) : NULL;
        if (nodes != NULL)
            rc = prove_part(d, part, level, nodes, part->txn_count, other, &proof);
        else
            rc = prove_part(d, part, level, solution.core, solution.core_count, shrunk ? other : NULL, &proof);
        free(nodes);
    }
    if (rc == RIG_OK && proof.line_count > 0)
        rc = keep_proof(d, &proof);
    rig_solution_done(&solution);
    return rc;
}

/* The nodes of a proof's transactions, which are ascending as the nodes are. */
static void find_nodes(const struct rig_problem *problem, const struct rig_case_proof *proof, uint32_t *nodes)
{
    uint32_t node = 0;
    for (uint32_t i = 0; i < proof->txn_count; i++) {
        while (node < problem->txn_count && problem->txns.at[node].txn != proof->txns[i])
            node++;
        RIG_INVARIANT(node < problem->txn_count && "the transactions of a proof are the problem's");
        nodes[i] = node;
    }
}

/*
 * The few transactions of a proof refute other open levels as well, if these do not explain them: weaker ones first. A
 * question about few transactions costs nothing beside one about all.
 */
static enum rig_rc share_proof(struct decide *d, const struct rig_case_proof *proof)
{
    uint32_t *nodes = calloc((size_t)proof->txn_count + 1, sizeof nodes[0]);
    struct rig_problem part = {0};
    if (nodes == NULL)
        return no_memory(d);
    find_nodes(d->problem, proof, nodes);
    enum rig_rc rc = rig_problem_part(d->problem, nodes, proof->txn_count, &part) ? RIG_OK : no_memory(d);
    for (unsigned i = 0; rc == RIG_OK && i < RIG_LEVEL_COUNT; i++) {
        const enum rig_level level = (enum rig_level)i;
        if (level != proof->level && (d->levels & RIG_LEVEL_BIT(level)) != 0 && !is_answered(d, level))
            rc = try_level(d, &part, proof, level);
    }
    rig_problem_done(&part);
    free(nodes);
    return rc;
}

/* The answer is no; it is open after all when the budget is spent before there is a proof. */
static enum rig_rc prove(struct decide *d, enum rig_level level, const struct rig_solution *refuted,
                         enum rig_answer *answer)
{
    struct rig_case_proof proof = {0};
    enum rig_rc rc = prove_part(d, d->problem, level, refuted->core, refuted->core_count, NULL, &proof);
    *answer = proof.line_count > 0 ? RIG_ANSWER_NO : RIG_ANSWER_SPENT;
    if (rc == RIG_OK && proof.line_count > 0)
        rc = share_proof(d, &proof);
    if (rc == RIG_OK && proof.line_count > 0 && !is_answered(d, level))
        rc = keep_proof(d, &proof);
    return rc;
}

/* ---- the solver ---- */

static int compare_nodes(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The nodes that a cycle passes, and those whose versions it rests on; ascending. Returns their number. */
static uint32_t nodes_of_cycle(const struct rig_arc *arcs, uint32_t count, uint32_t *nodes)
{
    RIG_REQUIRE(count >= 2 && count <= CYCLE_MOST);
    uint32_t all = 0, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        nodes[all++] = arcs[i].from;
        if (arcs[i].kind == RIG_EDGE_RW && arcs[i].writer != RIG_ARC_NONE)
            nodes[all++] = arcs[i].writer;
    }
    qsort(nodes, all, sizeof nodes[0], compare_nodes);
    for (uint32_t i = 0; i < all; i++) {
        if (kept == 0 || nodes[kept - 1] != nodes[i])
            nodes[kept++] = nodes[i];
    }
    return kept;
}

/* Whether the transactions of a cycle of the guess refute the rule by themselves; then their core, as nodes of all. */
static enum rig_rc try_cycle(const struct decide *d, const struct rig_rule *rule, const struct rig_arc *arcs,
                             uint32_t count, struct rig_solution *refuted)
{
    uint32_t nodes[2 * CYCLE_MOST];
    struct rig_problem part;
    if (count > CYCLE_MOST)
        return RIG_OK;
    const uint32_t node_count = nodes_of_cycle(arcs, count, nodes);
    if (!rig_problem_part(d->problem, nodes, node_count, &part))
        return no_memory(d);
    enum rig_rc rc = rig_solve(&part, rule, &d->budget, refuted, d->err);
    for (uint32_t i = 0; rc == RIG_OK && i < refuted->core_count; i++) {
        RIG_INVARIANT(refuted->core[i] < node_count);
        refuted->core[i] = nodes[refuted->core[i]];
    }
    rig_problem_done(&part);
    return rc;
}

/*
 * Whether the order `place` explains the problem: one search, where the solver's look at many sessions takes long.
 * Otherwise its cycles may be forbidden in each order: then `refuted` has the answer no, with a core.
 */
static enum rig_rc try_order(const struct decide *d, const struct rig_rule *rule, const uint32_t *place, bool *explains,
                             struct rig_solution *refuted)
{
    struct rig_breaches found = {0};
    enum rig_rc rc =
        rig_breach_find(d->problem, rule, place, CYCLES_TRIED, d->budget.deadline_ns, &found) ? RIG_OK : no_memory(d);
    *explains = rc == RIG_OK && found.ends.count == 0 && !found.spent;
    for (size_t c = 0; rc == RIG_OK && c < found.ends.count && refuted->answer != RIG_ANSWER_NO; c++) {
        const uint32_t begin = c == 0 ? 0 : found.ends.at[c - 1];
        rig_solution_done(refuted);
        rc = try_cycle(d, rule, &found.arcs.at[begin], found.ends.at[c] - begin, refuted);
    }
    if (refuted->answer != RIG_ANSWER_NO)
        rig_solution_done(refuted);
    rig_arcs_done(&found.arcs);
    rig_arc_ends_done(&found.ends);
    return rc;
}

/* Tries the last explanation and the guess, before the solver. Without pairs the guess is the order of completion. */
static enum rig_rc solve(struct decide *d, const struct rig_rule *rule, struct rig_solution *solution)
{
    const uint32_t *orders[] = {d->explanation, d->has_place && d->is_guess ? d->place : NULL};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        bool explains = false;
        const enum rig_rc rc = orders[i] == NULL ? RIG_OK : try_order(d, rule, orders[i], &explains, solution);
        if (rc != RIG_OK || explains || solution->answer == RIG_ANSWER_NO)
            return rc;
    }
    return rig_solve(d->problem, rule, &d->budget, solution, d->err);
}

static enum rig_rc ask_solver(struct decide *d, enum rig_level level, enum rig_answer *answer)
{
    const struct rig_rule *rule = rig_level_rule(level);
    struct rig_solution solution = {0};
    if (d->explained[rule->form][rule->along] || d->broken[rule->form][rule->along]) {
        *answer = d->explained[rule->form][rule->along] ? RIG_ANSWER_YES : RIG_ANSWER_NO;
        return RIG_OK;
    }
    *answer = RIG_ANSWER_SPENT;
    const int64_t start_ns = rig_clock_now_ns();
    uint8_t *open = &d->open[rule->form][rule->along];
    if (*open > 0)
        d->out->effort[level] = d->out->effort[*open - 1];
    if (*open > 0 || (d->out->spent != 0 && start_ns >= d->end_ns))
        return RIG_OK;
    enum rig_rc rc = solve(d, rule, &solution);
    *answer = solution.answer;
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_NO)
        rc = prove(d, level, &solution, answer);
    *open = *answer == RIG_ANSWER_SPENT ? (uint8_t)(level + 1) : 0;
    rig_effort_add(&d->out->effort[level], start_ns, &solution, d->problem, d->history);
    if (rc == RIG_OK && solution.answer == RIG_ANSWER_SPENT && solution.too_large)
        d->out->too_large |= RIG_LEVEL_BIT(level);
    if (solution.place != NULL) {
        free(d->explanation);
        d->explanation = solution.place;
        solution.place = NULL;
    }
    rig_solution_done(&solution);
    return rc;
}

/* The rules of the levels, as questions to the solver. */
static int64_t count_questions(uint64_t levels)
{
    RIG_REQUIRE(levels != 0);
    bool counted[RIG_RULE_COUNT][RIG_ALONG_COUNT] = {{false}};
    int64_t count = 0;
    for (; levels != 0; levels &= levels - 1) {
        const struct rig_rule *rule = rig_level_rule((enum rig_level)__builtin_ctzll(levels));
        count += !counted[rule->form][rule->along];
        counted[rule->form][rule->along] = true;
    }
    return count;
}

/* Until when the next question may take: the one about the strongest of the levels that are left. */
static int64_t question_end_ns(const struct decide *d, bool ordered, unsigned round, uint64_t left)
{
    RIG_REQUIRE(round < ROUNDS);
    static const int64_t shares[ROUNDS] = {64, 8, 0};
    const int64_t now_ns = rig_clock_now_ns();
    if (ordered || d->end_ns == INT64_MAX || now_ns >= d->end_ns)
        return d->end_ns;
    const int64_t left_ns = d->end_ns - now_ns;
    const int64_t may_ns =
        shares[round] > 0 ? (d->end_ns - d->begin_ns) / shares[round] : left_ns / count_questions(left);
    return now_ns + (may_ns < left_ns ? may_ns : left_ns);
}

/*
 * Asks about each level that is open. One hard question would take the time of all others, so the solver's first rounds
 * give each a share, and the last one divides what is left.
 */
static enum rig_rc ask_round(struct decide *d, bool ordered, unsigned round)
{
    const uint64_t asked = d->levels & ~(d->out->held | d->out->refuted | d->out->unproven | d->out->too_large);
    enum rig_rc rc = RIG_OK;
    d->last_round = round + 1 == ROUNDS;
    memset(d->open, 0, sizeof d->open);
    for (unsigned i = 0; rc == RIG_OK && i < RIG_LEVEL_COUNT; i++) {
        const enum rig_level level = (enum rig_level)(ordered ? i : RIG_LEVEL_COUNT - 1 - i);
        const uint64_t left = asked & ~(d->out->held | d->out->refuted) & (2 * RIG_LEVEL_BIT(level) - 1);
        enum rig_answer answer;
        if ((left & RIG_LEVEL_BIT(level)) == 0)
            continue;
        d->budget.deadline_ns = question_end_ns(d, ordered, round, left);
        rc = ordered ? ask_order(d, level, &answer) : ask_solver(d, level, &answer);
        if (rc == RIG_OK)
            note_answer(d, level, answer);
    }
    return rc;
}

enum rig_rc rig_decide(const struct rig_problem *problem, const struct rig_history *history, uint64_t levels,
                       const struct rig_solve_budget *budget, struct rig_arena *arena, struct rig_decisions *decisions,
                       struct rig_err *err)
{
    struct decide d = {.problem = problem,
                       .history = history,
                       .out = decisions,
                       .levels = levels,
                       .budget = *budget,
                       .begin_ns = rig_clock_now_ns(),
                       .end_ns = budget->deadline_ns,
                       .arena = arena,
                       .err = err};
    *decisions = (struct rig_decisions){0};
    d.shrink_ns = (d.end_ns - d.begin_ns) / SHRINK_SHARE;
    d.place = calloc((size_t)problem->txn_count + 1, sizeof *d.place);
    bool done = d.place != NULL;
    d.has_place = done && follow_pairs(problem, d.place);
    d.is_guess = problem->pairs.count > 0 || !rig_order_graph_in_turn(problem);
    /* A cycle in a known order of registers may rest on several assumptions: the solver's proof names them. */
    const bool total = rig_type_inference(history->workload)->total_orders;
    const bool ordered = total && d.has_place && is_ordered(problem, d.place, &done);
    enum rig_rc rc = done ? RIG_OK : no_memory(&d);
    for (unsigned round = ordered ? ROUNDS - 1 : 0; rc == RIG_OK && round < ROUNDS; round++)
        rc = ask_round(&d, ordered, round);
    decisions->spent &= ~(decisions->held | decisions->refuted);
    decisions->too_large &= decisions->spent;
    RIG_INVARIANT(rc != RIG_OK || (decisions->held | decisions->refuted | decisions->spent) == levels);
    free(d.place);
    free(d.explanation);
    return rc;
}
