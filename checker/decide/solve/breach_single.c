#include "checker/decide/solve/breach_single.h"

#include <string.h>

#include "base/bug.h"
#include "checker/decide/solve/breach_order.h"
#include "checker/decide/solve/breach_states.h"
#include "checker/decide/solve/breach_sweep.h"
#include "checker/decide/solve/breach_walk.h"

/*
 * Real time in cycles with one rw edge or one transaction that writes nothing. All edges but those that make the
 * question lead to higher ranks, so of two real-time edges of such a cycle one, or one between their ends, closes a
 * shorter cycle with the question (intervals contain no 2+2): one real-time edge suffices. A cycle with it exists
 * exactly if something that the missed write leads to ended before something was invoked that leads to the reader.
 *
 * Time: linear. Space: 12 bytes a transaction, 4 a write.
 */

struct rig_times {
    const uint32_t *early;  /* per node: the first end among it and those that it leads to */
    const uint32_t *late;   /* per node: the last invocation among it and those that lead to it */
    const uint32_t *missed; /* per write: the first of `early` among its writer and those of later versions */
};

struct timing {
    const struct rig_problem *problem;
    const struct rig_ordered *ordered;
    struct rig_moves moves;
    const uint8_t *mute;
    const uint32_t *rank;
    uint32_t *early, *late;
};

/* Along an edge from a lower rank to a higher one: forwards what leads to `to`, backwards what `from` leads to. */
static void follow(const struct timing *t, uint32_t from, uint32_t to, bool forwards)
{
    if (from == RIG_PROBLEM_NONE || from == to)
        return;
    RIG_INVARIANT(t->rank[from] < t->rank[to]);
    if (forwards && t->late[from] > t->late[to])
        t->late[to] = t->late[from];
    if (!forwards && t->early[to] < t->early[from])
        t->early[from] = t->early[to];
}

/* All edges into the node. */
static void follow_into(const struct timing *t, uint32_t node, bool forwards)
{
    const struct rig_problem *problem = t->problem;
    const struct rig_problem_txn *txn = &problem->txns.at[node];
    for (uint32_t r = txn[0].first_read; r < txn[1].first_read && t->moves.wr; r++) {
        const uint32_t writer = problem->reads.at[r].writer;
        follow(t, writer == RIG_PROBLEM_INITIAL ? RIG_PROBLEM_NONE : writer, node, forwards);
    }
    for (uint32_t w = txn[0].first_write; w < txn[1].first_write; w++) {
        const uint32_t before = t->ordered->prev[w];
        if (t->moves.ww && before < problem->writes.count)
            follow(t, problem->write_txn[before], node, forwards);
        for (uint32_t i = problem->reader_first[before]; t->moves.rw && i < problem->reader_first[before + 1]; i++) {
            const uint32_t reader = problem->read_txn[problem->readers[i]];
            if (t->mute == NULL || !t->mute[reader])
                follow(t, reader, node, forwards);
        }
    }
    if (t->ordered->child != NULL)
        follow(t, t->ordered->lead[node], node, forwards);
}

/* By the edges of `moves` and process order, without real time and without the rw edges of `mute` (NULL: with all).
 * `rank`: per node, below `rank_count`. False when memory runs out. */
static bool times_find(const struct rig_ordered *ordered, struct rig_moves moves, const uint8_t *mute,
                       const uint32_t *rank, uint32_t rank_count, struct rig_times *times, struct rig_arena *arena)
{
    const struct rig_problem *problem = ordered->problem;
    const size_t nodes = (size_t)problem->txn_count + 1;
    uint32_t *at = rig_arena_room(arena, (size_t)rank_count + 1, sizeof at[0]);
    uint32_t *missed = rig_arena_room(arena, problem->writes.count + 1, sizeof missed[0]);
    struct timing t = {.problem = problem, .ordered = ordered, .moves = moves, .mute = mute, .rank = rank};
    t.early = rig_arena_room(arena, nodes, sizeof t.early[0]);
    t.late = rig_arena_room(arena, nodes, sizeof t.late[0]);
    if (at == NULL || missed == NULL || t.early == NULL || t.late == NULL)
        return false;
    memset(at, 0xff, ((size_t)rank_count + 1) * sizeof at[0]);
    for (uint32_t node = 0; node < problem->txn_count; node++) {
        t.early[node] = problem->txns.at[node].ended;
        t.late[node] = problem->txns.at[node].invoked;
        RIG_INVARIANT(rank[node] < rank_count && at[rank[node]] == RIG_PROBLEM_NONE);
        at[rank[node]] = node;
    }
    for (uint32_t i = 0; i < rank_count; i++) {
        if (at[i] != RIG_PROBLEM_NONE)
            follow_into(&t, at[i], true);
    }
    for (uint32_t i = rank_count; i-- > 0;) {
        if (at[i] != RIG_PROBLEM_NONE)
            follow_into(&t, at[i], false);
    }
    for (uint32_t place = problem->txn_count; place-- > 0;) {
        const uint32_t node = ordered->at[place];
        for (uint32_t w = problem->txns.at[node].first_write; w < problem->txns.at[node + 1].first_write; w++) {
            const uint32_t next = ordered->next[w];
            const uint32_t later = next == RIG_PROBLEM_NONE ? UINT32_MAX : missed[next];
            missed[w] = t.early[node] < later ? t.early[node] : later;
        }
    }
    *times = (struct rig_times){.early = t.early, .late = t.late, .missed = missed};
    return true;
}

struct single {
    const struct rig_problem *problem;
    const struct rig_ordered *ordered;
    struct rig_breach_sink *sink;
    struct rig_arena *arena;
    struct rig_moves moves;
    const uint8_t *mute; /* per node: its rw edges are in question alone; NULL: all are, and are no part of paths */
    const uint32_t *rank;
    uint32_t rank_count;
    struct rig_sweep_questions questions;
    struct rig_times times; /* of real time, where it counts */
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

/* Without real time. */
static bool answer(struct single *s)
{
    struct rig_sweep sweep = {.ordered = s->ordered, .rank = s->rank, .rank_count = s->rank_count};
    uint32_t *at = rig_arena_room(s->arena, (size_t)s->rank_count + 1, sizeof at[0]);
    if (at == NULL)
        return false;
    memset(at, 0xff, s->rank_count * sizeof at[0]);
    for (uint32_t node = 0; node < s->problem->txn_count; node++) {
        at[s->rank[node]] = node;
    }
    sweep.ww = s->moves.ww;
    sweep.wr = s->moves.wr;
    sweep.rw = s->moves.rw;
    sweep.mute = s->mute;
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
    if (shows_enough(s)) {
        *shown = true;
        return true;
    }
    s->walker.low = question->from;
    s->walker.high = s->rank[question->node];
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
    if (s->ordered->child != NULL)
        note_arrival(s, s->ordered->lead[node], &earlier);
    all.end = earlier.end;
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

/* The last invocation among the transaction and those with edges into operations before the read's, or all edges. */
static uint32_t last_invoked(const struct single *s, uint32_t read, bool earlier)
{
    const struct rig_problem *problem = s->problem;
    const uint32_t node = problem->read_txn[read], op_end = earlier ? problem->reads.at[read].op : UINT32_MAX;
    const struct rig_problem_txn *txn = &problem->txns.at[node];
    const uint32_t lead = s->ordered->child == NULL ? RIG_PROBLEM_NONE : s->ordered->lead[node];
    uint32_t last = txn->invoked;
    if (!earlier)
        return s->times.late[node];
    if (lead != RIG_PROBLEM_NONE && s->times.late[lead] > last)
        last = s->times.late[lead];
    for (uint32_t r = txn[0].first_read; r < txn[1].first_read && problem->reads.at[r].op < op_end; r++) {
        const uint32_t writer = problem->reads.at[r].writer;
        if (writer != RIG_PROBLEM_INITIAL && s->times.late[writer] > last)
            last = s->times.late[writer];
    }
    for (uint32_t w = txn[0].first_write; w < txn[1].first_write; w++) {
        const uint32_t before = s->ordered->prev[w];
        if (problem->writes.at[w].first_op < op_end && before < problem->writes.count &&
            s->times.late[problem->write_txn[before]] > last)
            last = s->times.late[problem->write_txn[before]];
    }
    return last;
}

/* Adds the questions whose answer is positive because of real time. */
static bool ask_time(struct single *s)
{
    const bool earlier = s->moves.follow == RIG_FOLLOW_LATER;
    if (s->ordered->after == NULL)
        return true;
    if (!times_find(s->ordered, s->moves, s->mute, s->rank, s->rank_count, &s->times, s->arena))
        return false;
    bool ok = true;
    for (uint32_t read = 0; ok && read < s->problem->reads.count; read++) {
        const uint32_t later = s->ordered->next[s->ordered->version[read]], node = s->problem->read_txn[read];
        if (later == RIG_PROBLEM_NONE || s->times.missed[later] >= last_invoked(s, read, earlier))
            continue;
        ok = rig_sweep_questions_add(&s->questions, (struct rig_sweep_question){.node = node,
                                                                                .read_begin = read,
                                                                                .read_end = read + 1,
                                                                                .from = first_missed(s, read, read + 1),
                                                                                .to = s->rank[node],
                                                                                .is_positive = true});
    }
    return ok;
}

static bool find(struct single *s)
{
    RIG_REQUIRE(s->sink->count == 0);
    bool ok = ask_all(s) && answer(s) && ask_time(s) &&
              (s->questions.count == 0 || rig_walker_init(&s->walker, s->ordered, s->moves, s->rank, s->arena));
    s->walker.mute = s->mute;
    for (size_t i = 0; ok && !s->ordered->deadline->spent && i < s->questions.count; i++) {
        const struct rig_sweep_question *question = &s->questions.at[i];
        bool shown = !question->is_positive;
        for (uint32_t r = question->read_begin; ok && question->is_positive && r < question->read_end; r++) {
            const uint32_t first = first_missed(s, r, r + 1);
            if (first < question->to)
                ok = show(s, question, (struct rig_start){RIG_DEPART_MISSED, r}, &shown);
        }
        RIG_INVARIANT(!ok || shown || s->ordered->deadline->spent);
    }
    rig_sweep_questions_done(&s->questions);
    rig_walker_done(&s->walker);
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
    return find(&s);
}

bool rig_breach_find_of_updates(const struct rig_ordered *ordered, struct rig_breach_sink *sink,
                                struct rig_arena *arena)
{
    RIG_REQUIRE(sink->rule->form == RIG_RULE_UPDATES);
    struct single s = {.problem = ordered->problem, .ordered = ordered, .sink = sink, .arena = arena};
    struct rig_states states;
    const uint32_t count = s.problem->txn_count;
    uint8_t *mute = rig_arena_room(arena, (size_t)count + 1, sizeof mute[0]);
    s.moves = rig_breach_moves(RIG_RULE_UPDATES);
    if (mute == NULL)
        return false;
    for (uint32_t node = 0; node < count; node++)
        mute[node] = rig_problem_writes_nothing(s.problem, node);
    if (!rig_breach_find_closed(ordered, s.moves, mute, sink, &states, arena))
        return false;
    if (states.component_count > 0 || ordered->deadline->spent)
        return true;
    s.mute = mute;
    s.rank = states.rank;
    s.rank_count = states.state_count;
    return find(&s);
}
