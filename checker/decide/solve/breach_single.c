#include "checker/decide/solve/breach_single.h"

#include <string.h>

#include "base/bug.h"
#include "checker/decide/solve/breach_sweep.h"
#include "checker/decide/solve/breach_walk.h"

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

static bool shows_enough(const struct single *s)
{
    return rig_breach_sink_is_full(s->sink) ||
           (s->sink->count > 0 && s->walker.steps > rig_breach_most_steps(s->problem));
}

/* A walk from `start` for a positive answer. */
static bool show(struct single *s, const struct rig_sweep_question *question, struct rig_start start, bool *shown)
{
    RIG_REQUIRE(question->is_positive);
    const uint32_t own = s->rank[question->node];
    if (shows_enough(s)) {
        *shown = true;
        return true;
    }
    s->walker.low = question->from;
    s->walker.high = own == RIG_PROBLEM_NONE ? question->to : own;
    if (!rig_walker_close(&s->walker, start, &s->sink->walk))
        return false;
    *shown = *shown || s->sink->walk.count > 0;
    return rig_breach_sink_take(s->sink, NULL);
}

/* ---- one rw edge ---- */

/* One past the highest rank of the transactions with edges into the operations of a node, from the first one on. */
struct arrivals {
    uint32_t read, write; /* that come next */
    uint32_t end;
};

static void note_arrival(const struct single *s, uint32_t from, struct arrivals *arrivals)
{
    RIG_INVARIANT(from == RIG_PROBLEM_NONE || s->rank[from] < s->rank_count);
    if (from != RIG_PROBLEM_NONE && s->rank[from] >= arrivals->end)
        arrivals->end = s->rank[from] + 1;
}

static void add_arrivals(const struct single *s, uint32_t node, uint32_t op_end, struct arrivals *arrivals)
{
    const struct rig_problem *problem = s->problem;
    const struct rig_problem_txn *txn = &problem->txns.at[node];
    RIG_REQUIRE(arrivals->read >= txn[0].first_read && arrivals->write >= txn[0].first_write);
    for (; arrivals->read < txn[1].first_read && problem->reads.at[arrivals->read].op < op_end; arrivals->read++) {
        const uint32_t writer = problem->reads.at[arrivals->read].writer;
        note_arrival(s, writer == RIG_PROBLEM_INITIAL ? RIG_PROBLEM_NONE : writer, arrivals);
    }
    for (; s->moves.ww && arrivals->write < txn[1].first_write && problem->writes.at[arrivals->write].first_op < op_end;
         arrivals->write++) {
        const uint32_t before = s->ordered->prev[arrivals->write];
        note_arrival(s, before < problem->writes.count ? problem->write_txn[before] : RIG_PROBLEM_NONE, arrivals);
    }
}

static struct arrivals no_arrivals(const struct single *s, uint32_t node)
{
    return (struct arrivals){s->problem->txns.at[node].first_read, s->problem->txns.at[node].first_write, 0};
}

static bool ask(struct single *s, const struct rig_sweep_question *question)
{
    return question->from >= question->to || rig_sweep_questions_add(&s->questions, *question);
}

/* All reads at once. */
static bool ask_node(struct single *s, uint32_t node)
{
    const struct rig_problem_txn *txn = &s->problem->txns.at[node];
    struct arrivals arrivals = no_arrivals(s, node);
    add_arrivals(s, node, UINT32_MAX, &arrivals);
    if (s->ordered->child != NULL)
        note_arrival(s, s->ordered->lead[node], &arrivals);
    if (s->ordered->after != NULL)
        arrivals.end = s->rank[node];
    return ask(s, &(struct rig_sweep_question){.node = node,
                                               .read_begin = txn[0].first_read,
                                               .read_end = txn[1].first_read,
                                               .op_end = UINT32_MAX,
                                               .from = first_missed(s, txn[0].first_read, txn[1].first_read),
                                               .to = arrivals.end,
                                               .is_positive = true});
}

/* Each read by itself. */
static bool ask_reads(struct single *s, uint32_t node)
{
    const struct rig_problem_txn *txn = &s->problem->txns.at[node];
    struct arrivals all = no_arrivals(s, node), earlier = all;
    bool ok = true;
    add_arrivals(s, node, UINT32_MAX, &all);
    for (uint32_t read = txn[0].first_read; ok && read < txn[1].first_read; read++) {
        const uint32_t op = s->problem->reads.at[read].op, from = first_missed(s, read, read + 1);
        add_arrivals(s, node, op, &earlier);
        if (from < earlier.end)
            ok = ask(s, &(struct rig_sweep_question){node, read, read + 1, op, from, all.end, true});
    }
    return ok;
}

static bool ask_all(struct single *s)
{
    const bool by_read = s->moves.follow == RIG_FOLLOW_LATER;
    bool ok = true;
    for (uint32_t node = 0; ok && node < s->problem->txn_count; node++)
        ok = by_read ? ask_reads(s, node) : ask_node(s, node);
    return ok;
}

bool rig_breach_find_single(const struct rig_ordered *ordered, const uint32_t *rank, uint32_t rank_count,
                            struct rig_breach_sink *sink, struct rig_arena *arena)
{
    RIG_REQUIRE(sink->count == 0); /* no cycle is without rw edges */
    struct single s = {.problem = ordered->problem, .ordered = ordered, .sink = sink, .arena = arena};
    s.moves = (struct rig_moves){.ww = sink->rule->form != RIG_RULE_CAUSAL, .wr = true, .follow = RIG_FOLLOW_ANY};
    if (sink->rule->form == RIG_RULE_MONOTONIC_VIEW)
        s.moves.follow = RIG_FOLLOW_LATER;
    s.rank = rank;
    s.rank_count = rank_count;
    bool ok = ask_all(&s) && answer(&s, false) &&
              (s.questions.count == 0 || rig_walker_init(&s.walker, ordered, s.moves, rank, arena));
    for (size_t i = 0; ok && !ordered->deadline->spent && i < s.questions.count; i++) {
        const struct rig_sweep_question *question = &s.questions.at[i];
        bool shown = !question->is_positive || ordered->after != NULL;
        for (uint32_t r = question->read_begin; ok && question->is_positive && r < question->read_end; r++) {
            const uint32_t first = first_missed(&s, r, r + 1);
            if (first < question->to)
                ok = show(&s, question, (struct rig_start){RIG_DEPART_MISSED, r}, &shown);
        }
        RIG_INVARIANT(!ok || shown || ordered->deadline->spent);
    }
    rig_sweep_questions_done(&s.questions);
    rig_walker_done(&s.walker);
    return ok;
}

/* ---- one transaction that writes nothing ---- */

/* Per node: the lowest rank of the nearest updates that follow it in its process, or NONE. NULL when memory runs
 * out. */
static uint32_t *find_followers(const struct single *s)
{
    const uint32_t count = s->problem->txn_count;
    uint32_t *lowest = rig_arena_room(s->arena, (size_t)count + 1, sizeof lowest[0]);
    if (lowest == NULL)
        return NULL;
    memset(lowest, 0xff, count * sizeof lowest[0]);
    for (uint32_t node = count; node-- > 0;) {
        const uint32_t before = s->problem->txns.at[node].before;
        const uint32_t rank = s->rank[node] == RIG_PROBLEM_NONE ? lowest[node] : s->rank[node];
        RIG_INVARIANT(before == RIG_PROBLEM_NONE || before < node);
        if (before != RIG_PROBLEM_NONE && rank < lowest[before])
            lowest[before] = rank;
    }
    return lowest;
}

/* Takes in the nearest updates before and after it in its process. */
static void widen_by_process(const struct single *s, uint32_t follower, struct rig_sweep_question *question)
{
    RIG_REQUIRE(s->ordered->lead != NULL);
    const uint32_t before = s->ordered->lead[question->node];
    if (before != RIG_PROBLEM_NONE && s->rank[before] >= question->to)
        question->to = s->rank[before] + 1;
    if (follower < question->from)
        question->from = follower;
}

static bool ask_reader(struct single *s, const uint32_t *followers, uint32_t node)
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
            widen_by_process(s, followers[node], &question);
    }
    return ask(s, &question);
}

static bool ask_readers(struct single *s, const uint8_t *left_out)
{
    const uint32_t *followers = find_followers(s);
    bool ok = followers != NULL;
    for (uint32_t node = 0; ok && node < s->problem->txn_count; node++)
        ok = !left_out[node] || ask_reader(s, followers, node);
    return ok;
}

bool rig_breach_find_of_updates(const struct rig_ordered *ordered, struct rig_breach_sink *sink,
                                struct rig_arena *arena)
{
    RIG_REQUIRE(sink->rule->form == RIG_RULE_UPDATES);
    struct rig_ordered updates = *ordered;
    struct single s = {.problem = ordered->problem, .ordered = &updates, .sink = sink, .arena = arena};
    struct rig_states states;
    const uint32_t count = s.problem->txn_count;
    uint8_t *left_out = rig_arena_room(arena, (size_t)count + 1, sizeof left_out[0]);
    s.moves = rig_breach_moves(RIG_RULE_UPDATES);
    if (left_out == NULL)
        return false;
    for (uint32_t node = 0; node < count; node++)
        left_out[node] = rig_problem_writes_nothing(s.problem, node);
    if (!rig_ordered_leave_out(&updates, left_out, arena) ||
        !rig_breach_find_closed(&updates, s.moves, left_out, sink, &states, arena))
        return false;
    if (states.component_count > 0 || ordered->deadline->spent)
        return true;
    s.rank = states.rank;
    s.rank_count = states.state_count;
    bool ok = ask_readers(&s, left_out) && answer(&s, ordered->child != NULL) &&
              (s.questions.count == 0 || rig_walker_init(&s.walker, &updates, s.moves, s.rank, arena));
    s.walker.left_out = left_out;
    for (size_t i = 0; ok && !ordered->deadline->spent && i < s.questions.count; i++) {
        const struct rig_sweep_question *question = &s.questions.at[i];
        bool shown = ordered->after != NULL;
        if (!question->is_positive)
            continue;
        left_out[question->node] = 0;
        ok = show(&s, question, (struct rig_start){RIG_DEPART_ALL, question->node}, &shown);
        left_out[question->node] = 1;
        RIG_INVARIANT(!ok || shown || ordered->deadline->spent);
    }
    rig_sweep_questions_done(&s.questions);
    rig_walker_done(&s.walker);
    return ok;
}
