#include "checker/solve/breach_single.h"

#include <string.h>

#include "base/bug.h"
#include "checker/solve/breach_closed.h"
#include "checker/solve/breach_sweep.h"
#include "checker/solve/breach_walk.h"

struct single {
    const struct rig_problem *problem;
    const struct rig_ordered *ordered;
    struct rig_breach_sink *sink;
    struct rig_arena *arena;
    struct rig_moves moves;
    const uint32_t *rank;
    uint32_t rank_count;
    struct rig_sweep_questions questions;
    struct rig_walker walker;
};

/* The rank of the first later version than one that the reads returned, or NONE. */
static uint32_t first_missed(const struct single *s, uint32_t begin, uint32_t end)
{
    uint32_t first = RIG_PROBLEM_NONE;
    for (uint32_t read = begin; read < end; read++) {
        const uint32_t later = s->ordered->next[s->ordered->version[read]];
        if (later != RIG_PROBLEM_NONE && s->rank[s->problem->write_txn[later]] < first)
            first = s->rank[s->problem->write_txn[later]];
    }
    return first;
}

/* Not with real-time order: then each answer may be positive. */
static bool answer(struct single *s, bool follows)
{
    struct rig_sweep sweep = {.ordered = s->ordered, .rank = s->rank, .rank_count = s->rank_count};
    uint32_t *at = rig_arena_room(s->arena, (size_t)s->rank_count + 1, sizeof at[0]);
    if (s->ordered->after != NULL)
        return true;
    if (at == NULL)
        return false;
    memset(at, 0xff, s->rank_count * sizeof at[0]);
    for (uint32_t node = 0; node < s->problem->txn_count; node++) {
        if (s->rank[node] != RIG_PROBLEM_NONE)
            at[s->rank[node]] = node;
    }
    sweep.ww = s->moves.ww;
    sweep.wr = s->moves.wr;
    sweep.rw = s->moves.rw;
    sweep.follows = follows;
    sweep.at = at;
    return rig_sweep_answer(&sweep, &s->questions, s->arena);
}

/* A walk from `start` for a positive answer. */
static bool show(struct single *s, const struct rig_sweep_question *question, struct rig_start start)
{
    if (rig_breach_sink_is_full(s->sink) || (s->sink->count > 0 && s->walker.steps > rig_breach_most_steps(s->problem)))
        return true;
    s->walker.low = question->from;
    s->walker.high = question->to;
    return rig_walker_close(&s->walker, start, &s->sink->walk) && rig_breach_sink_take(s->sink, NULL);
}

/* ---- one rw edge ---- */

static bool ask(struct single *s, uint32_t node, uint32_t begin, uint32_t end, uint32_t op_end)
{
    const uint32_t from = first_missed(s, begin, end), to = s->rank[node];
    return from >= to || rig_sweep_questions_add(&s->questions,
                                                 (struct rig_sweep_question){node, begin, end, op_end, from, to, true});
}

static bool ask_all(struct single *s)
{
    const bool by_read = s->moves.follow == RIG_FOLLOW_LATER;
    bool ok = true;
    for (uint32_t node = 0; ok && node < s->problem->txn_count; node++) {
        const struct rig_problem_txn *txn = &s->problem->txns.at[node];
        if (!by_read)
            ok = ask(s, node, txn[0].first_read, txn[1].first_read, UINT32_MAX);
        for (uint32_t read = txn[0].first_read; ok && by_read && read < txn[1].first_read; read++)
            ok = ask(s, node, read, read + 1, s->problem->reads.at[read].op);
    }
    return ok;
}

bool rig_breach_find_single(const struct rig_ordered *ordered, const uint32_t *rank, uint32_t rank_count,
                            struct rig_breach_sink *sink, struct rig_arena *arena)
{
    struct single s = {.problem = ordered->problem, .ordered = ordered, .sink = sink, .arena = arena};
    s.moves = (struct rig_moves){.ww = sink->rule->form != RIG_RULE_CAUSAL, .wr = true, .follow = RIG_FOLLOW_ANY};
    if (sink->rule->form == RIG_RULE_MONOTONIC_VIEW)
        s.moves.follow = RIG_FOLLOW_LATER;
    s.rank = rank;
    s.rank_count = rank_count;
    bool ok = ask_all(&s) && answer(&s, false) &&
              (s.questions.count == 0 || rig_walker_init(&s.walker, ordered, s.moves, rank, arena));
    for (size_t i = 0; ok && i < s.questions.count; i++) {
        const struct rig_sweep_question *question = &s.questions.at[i];
        for (uint32_t r = question->read_begin; ok && question->is_positive && r < question->read_end; r++) {
            const uint32_t first = first_missed(&s, r, r + 1);
            if (first < question->to)
                ok = show(&s, question, (struct rig_start){RIG_DEPART_MISSED, r});
        }
    }
    rig_sweep_questions_done(&s.questions);
    rig_walker_done(&s.walker);
    return ok;
}

/* ---- one transaction that writes nothing ---- */

/* Takes in the nearest updates before and behind it in its process. */
static void widen_by_process(const struct single *s, struct rig_sweep_question *question)
{
    uint32_t before = s->problem->txns.at[question->node].before;
    while (before != RIG_PROBLEM_NONE && s->rank[before] == RIG_PROBLEM_NONE)
        before = s->problem->txns.at[before].before;
    if (before != RIG_PROBLEM_NONE && s->rank[before] >= question->to)
        question->to = s->rank[before] + 1;
    bool through = false;
    for (uint32_t last = RIG_PROBLEM_NONE;;) {
        last = rig_states_follower(s->ordered, question->node, last, through);
        if (last == RIG_PROBLEM_NONE)
            return;
        through = s->rank[last] == RIG_PROBLEM_NONE;
        if (s->rank[last] < question->from)
            question->from = s->rank[last];
    }
}

static bool ask_reader(struct single *s, uint32_t node)
{
    const struct rig_problem_txn *txn = &s->problem->txns.at[node];
    struct rig_sweep_question question = {node, txn[0].first_read, txn[1].first_read, UINT32_MAX, 0, s->rank_count,
                                          true};
    if (s->ordered->after == NULL) {
        question.from = first_missed(s, txn[0].first_read, txn[1].first_read);
        question.to = 0;
        for (uint32_t read = txn[0].first_read; read < txn[1].first_read; read++) {
            const uint32_t writer = s->problem->reads.at[read].writer;
            if (writer != RIG_PROBLEM_INITIAL && s->rank[writer] >= question.to)
                question.to = s->rank[writer] + 1;
        }
        if (s->ordered->child != NULL)
            widen_by_process(s, &question);
    }
    return question.from >= question.to || rig_sweep_questions_add(&s->questions, question);
}

bool rig_breach_find_of_updates(const struct rig_ordered *ordered, struct rig_breach_sink *sink,
                                struct rig_arena *arena)
{
    struct single s = {.problem = ordered->problem, .ordered = ordered, .sink = sink, .arena = arena};
    struct rig_states states;
    const uint32_t count = s.problem->txn_count;
    uint8_t *left_out = rig_arena_room(arena, (size_t)count + 1, sizeof left_out[0]);
    s.moves = rig_breach_moves(RIG_RULE_UPDATES);
    if (left_out == NULL)
        return false;
    for (uint32_t node = 0; node < count; node++)
        left_out[node] = rig_ordered_writes_nothing(s.problem, node);
    if (!rig_breach_find_closed(ordered, s.moves, left_out, sink, &states, arena))
        return false;
    if (states.component_count > 0)
        return true;
    bool ok = true;
    s.rank = states.rank;
    s.rank_count = states.state_count;
    for (uint32_t node = 0; ok && node < count; node++)
        ok = !left_out[node] || ask_reader(&s, node);
    ok = ok && answer(&s, ordered->child != NULL) &&
         (s.questions.count == 0 || rig_walker_init(&s.walker, ordered, s.moves, s.rank, arena));
    s.walker.left_out = left_out;
    for (size_t i = 0; ok && i < s.questions.count; i++) {
        const struct rig_sweep_question *question = &s.questions.at[i];
        if (!question->is_positive)
            continue;
        left_out[question->node] = 0;
        ok = show(&s, question, (struct rig_start){RIG_DEPART_ALL, question->node});
        left_out[question->node] = 1;
    }
    rig_sweep_questions_done(&s.questions);
    rig_walker_done(&s.walker);
    return ok;
}
