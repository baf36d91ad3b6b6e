#include "checker/decide/solve/breach.h"

#include <string.h>

#include "base/bug.h"
#include "checker/decide/solve/breach_before.h"
#include "checker/decide/solve/breach_order.h"
#include "checker/decide/solve/breach_single.h"
#include "checker/decide/solve/breach_walk.h"

/*
 * The forbidden cycles of two transactions, one of whose edges is rw: all that CURSOR, MONOTONIC_ATOMIC, READ_ATOMIC
 * and UPDATE_ATOMIC forbid beside FLOW.
 *
 * A reader is compared with each transaction that it read from, by the writes of the one or the reads of the other,
 * whichever are fewer (AWDIT, PLDI 2025). For UPDATE_ATOMIC, an update is compared with the writers of
 * later versions than it read, or with those of earlier versions than it wrote, whichever are fewer.
 *
 * Time: O(n^1.5) in the operations, and linear where transactions are short. UPDATE_ATOMIC adds the versions between
 * those that an update read and its own, which are few unless its reads are very old. Space: 8 bytes a key, 4 a node, 4
 * a read.
 */

enum { MOST_OF_ONE = 4 }; /* cycles that one read gives */

struct pairs {
    const struct rig_problem *problem;
    const struct rig_ordered *ordered;
    struct rig_breach_sink *sink;
    bool in_order;    /* the missed write must be one that an earlier operation should have shown */
    uint32_t mark;    /* of the transaction whose reads or writes are marked */
    uint32_t *marked; /* per key: the last mark */
    uint32_t *item;   /* per key: the first read (index), or the write, of that transaction */
    uint32_t *same;   /* per read: the next one of its transaction and key, or NONE */
    uint32_t meeting; /* of the transaction that is compared */
    uint32_t *met;    /* per node: the last meeting */
    bool ok;
};

static uint32_t write_count(const struct rig_problem *problem, uint32_t node)
{
    return problem->txns.at[node + 1].first_write - problem->txns.at[node].first_write;
}

static uint32_t read_count(const struct rig_problem *problem, uint32_t node)
{
    return problem->txns.at[node + 1].first_read - problem->txns.at[node].first_read;
}

static bool is_over(const struct pairs *p, uint32_t node)
{
    return rig_deadline_is_over(p->ordered->deadline, 1 + read_count(p->problem, node) + write_count(p->problem, node));
}

/* Whether the read returned an earlier version than `write`. */
static bool misses(const struct pairs *p, uint32_t read, uint32_t write)
{
    const uint32_t version = p->ordered->version[read];
    return version >= p->problem->writes.count ||
           p->ordered->place[p->problem->write_txn[version]] < p->ordered->place[p->problem->write_txn[write]];
}

static void report(struct pairs *p, uint32_t read, uint32_t write, struct rig_arc back)
{
    RIG_INVARIANT(write < p->problem->writes.count);
    if (p->ok && !rig_breach_sink_is_full(p->sink))
        p->ok = rig_breach_sink_take_two(p->sink, rig_ordered_rw(p->problem, read, write), back);
}

static void mark_reads(struct pairs *p, uint32_t reader)
{
    RIG_REQUIRE(reader < p->problem->txn_count);
    p->mark++;
    for (uint32_t i = p->problem->txns.at[reader + 1].first_read; i-- > p->problem->txns.at[reader].first_read;) {
        const uint32_t key = p->problem->reads.at[i].key;
        p->same[i] = p->marked[key] == p->mark ? p->item[key] : RIG_PROBLEM_NONE;
        p->marked[key] = p->mark;
        p->item[key] = i;
    }
}

static void mark_writes(struct pairs *p, uint32_t writer)
{
    RIG_REQUIRE(writer < p->problem->txn_count);
    p->mark++;
    for (uint32_t w = p->problem->txns.at[writer].first_write; w < p->problem->txns.at[writer + 1].first_write; w++) {
        p->marked[p->problem->writes.at[w].key] = p->mark;
        p->item[p->problem->writes.at[w].key] = w;
    }
}

/* ---- CURSOR ---- */

/* Between the version that a transaction read and its own there must be none. */
static void compare_own_writes(struct pairs *p, uint32_t node)
{
    const struct rig_problem_txn *txn = &p->problem->txns.at[node];
    mark_writes(p, node);
    for (uint32_t i = txn[0].first_read; i < txn[1].first_read; i++) {
        const uint32_t key = p->problem->reads.at[i].key, own = p->item[key];
        if (p->marked[key] != p->mark)
            continue;
        uint32_t later = p->ordered->next[p->ordered->version[i]];
        for (unsigned k = 0; k < MOST_OF_ONE && later != own; k++, later = p->ordered->next[later])
            report(p, i, later, rig_ordered_ww(p->problem, later, own));
    }
}

/* ---- reads and the other writes of the transactions that they show ---- */

static void compare(struct pairs *p, uint32_t read, uint32_t write, uint32_t shown_by)
{
    const struct rig_problem_read *reads = p->problem->reads.at;
    if (misses(p, read, write) && (!p->in_order || reads[shown_by].op < reads[read].op))
        report(p, read, write, rig_ordered_wr(p->problem, shown_by));
}

/* The reads of `reader` are marked. */
static void compare_writes_of(struct pairs *p, uint32_t shown_by)
{
    const uint32_t writer = p->problem->reads.at[shown_by].writer;
    for (uint32_t w = p->problem->txns.at[writer].first_write; w < p->problem->txns.at[writer + 1].first_write; w++) {
        const uint32_t key = p->problem->writes.at[w].key;
        if (p->marked[key] != p->mark)
            continue;
        for (uint32_t i = p->item[key]; i != RIG_PROBLEM_NONE; i = p->same[i])
            compare(p, i, w, shown_by);
    }
}

/* Compares with the transactions that it read from and that do not write more keys than it reads. Each is met at the
 * first of the reads that show it. */
static void compare_reader(struct pairs *p, uint32_t reader)
{
    const struct rig_problem_txn *txn = &p->problem->txns.at[reader];
    p->meeting++;
    mark_reads(p, reader);
    for (uint32_t i = txn[0].first_read; i < txn[1].first_read; i++) {
        const uint32_t writer = p->problem->reads.at[i].writer;
        if (writer == RIG_PROBLEM_INITIAL || p->met[writer] == p->meeting ||
            write_count(p->problem, writer) > read_count(p->problem, reader))
            continue;
        p->met[writer] = p->meeting;
        compare_writes_of(p, i);
    }
}

/* The writes of `writer` are marked. */
static void compare_reads_of(struct pairs *p, uint32_t writer, uint32_t reader)
{
    const struct rig_problem_txn *txn = &p->problem->txns.at[reader];
    uint32_t shown_by = txn[0].first_read;
    while (p->problem->reads.at[shown_by].writer != writer)
        shown_by++;
    RIG_INVARIANT(shown_by < txn[1].first_read && "the reader read from the writer");
    for (uint32_t i = txn[0].first_read; i < txn[1].first_read; i++) {
        const uint32_t key = p->problem->reads.at[i].key;
        if (p->marked[key] == p->mark)
            compare(p, i, p->item[key], shown_by);
    }
}

/* Compares with the readers that read fewer keys than it writes. */
static void compare_writer(struct pairs *p, uint32_t writer)
{
    const struct rig_problem_txn *txn = &p->problem->txns.at[writer];
    bool marked = false;
    p->meeting++;
    const uint32_t end = p->problem->reader_first[txn[1].first_write];
    for (uint32_t i = p->problem->reader_first[txn[0].first_write]; i < end; i++) {
        const uint32_t reader = p->problem->read_txn[p->problem->readers[i]];
        if (read_count(p->problem, reader) >= write_count(p->problem, writer) || p->met[reader] == p->meeting)
            continue;
        p->met[reader] = p->meeting;
        if (!marked)
            mark_writes(p, writer);
        marked = true;
        compare_reads_of(p, writer, reader);
    }
}

static void compare_shown(struct pairs *p)
{
    for (uint32_t node = 0; node < p->problem->txn_count && !is_over(p, node); node++)
        compare_reader(p, node);
    for (uint32_t node = 0; node < p->problem->txn_count && !is_over(p, node); node++)
        compare_writer(p, node);
}

/* ---- reads and the earlier writers of what their transaction writes ---- */

static uint32_t place_of(const struct pairs *p, uint32_t write)
{
    return p->ordered->place[p->problem->write_txn[write]];
}

/* The versions that a transaction missed and that come before its own place, one after the other. */
struct missed {
    uint32_t read, write;
};

static bool next_missed(const struct pairs *p, uint32_t node, struct missed *at)
{
    const struct rig_problem_txn *txn = &p->problem->txns.at[node];
    RIG_REQUIRE(at->read >= txn[0].first_read && at->read < txn[1].first_read);
    for (;;) {
        at->write = at->write == RIG_PROBLEM_NONE ? p->ordered->next[p->ordered->version[at->read]]
                                                  : p->ordered->next[at->write];
        if (at->write != RIG_PROBLEM_NONE && place_of(p, at->write) < p->ordered->place[node])
            return true;
        at->write = RIG_PROBLEM_NONE;
        if (++at->read == txn[1].first_read)
            return false;
    }
}

/* The versions before those that a transaction wrote, from `lowest` on, one before the other. */
struct overwritten {
    uint32_t own, write;
};

static bool next_overwritten(const struct pairs *p, uint32_t node, uint32_t lowest, struct overwritten *at)
{
    const struct rig_problem_txn *txn = &p->problem->txns.at[node];
    RIG_REQUIRE(at->own >= txn[0].first_write && at->own < txn[1].first_write);
    for (;;) {
        at->write = p->ordered->prev[at->write == RIG_PROBLEM_NONE ? at->own : at->write];
        if (at->write < p->problem->writes.count && place_of(p, at->write) >= lowest)
            return true;
        at->write = RIG_PROBLEM_NONE;
        if (++at->own == txn[1].first_write)
            return false;
    }
}

/* The lowest place of a version that a read could have missed: after the earliest version that was returned. */
static uint32_t lowest_missed(const struct pairs *p, uint32_t node)
{
    uint32_t lowest = UINT32_MAX;
    for (uint32_t i = p->problem->txns.at[node].first_read; i < p->problem->txns.at[node + 1].first_read; i++) {
        const uint32_t later = p->ordered->next[p->ordered->version[i]];
        if (later != RIG_PROBLEM_NONE && place_of(p, later) < lowest)
            lowest = place_of(p, later);
    }
    return lowest;
}

/* Each version missed, and the other writes of its writer: has the transaction overwritten one? */
static void compare_all_missed(struct pairs *p, uint32_t node)
{
    struct missed at = {p->problem->txns.at[node].first_read, RIG_PROBLEM_NONE};
    mark_writes(p, node);
    while (next_missed(p, node, &at)) {
        const struct rig_problem_txn *writer = &p->problem->txns.at[p->problem->write_txn[at.write]];
        for (uint32_t w = writer[0].first_write; w < writer[1].first_write; w++) {
            const uint32_t key = p->problem->writes.at[w].key;
            if (p->marked[key] == p->mark)
                report(p, at.read, at.write, rig_ordered_ww(p->problem, w, p->item[key]));
        }
    }
}

/* Each version overwritten, and the other writes of its writer: has a read missed one? */
static void compare_all_overwritten(struct pairs *p, uint32_t node, uint32_t lowest)
{
    struct overwritten at = {p->problem->txns.at[node].first_write, RIG_PROBLEM_NONE};
    mark_reads(p, node);
    while (next_overwritten(p, node, lowest, &at)) {
        const struct rig_problem_txn *writer = &p->problem->txns.at[p->problem->write_txn[at.write]];
        for (uint32_t w = writer[0].first_write; w < writer[1].first_write; w++) {
            const uint32_t key = p->problem->writes.at[w].key;
            if (p->marked[key] != p->mark)
                continue;
            for (uint32_t i = p->item[key]; i != RIG_PROBLEM_NONE; i = p->same[i]) {
                if (misses(p, i, w))
                    report(p, i, w, rig_ordered_ww(p->problem, at.write, at.own));
            }
        }
    }
}

static void compare_update(struct pairs *p, uint32_t node)
{
    if (read_count(p->problem, node) == 0 || write_count(p->problem, node) == 0)
        return;
    const uint32_t lowest = lowest_missed(p, node);
    struct missed missed = {p->problem->txns.at[node].first_read, RIG_PROBLEM_NONE};
    struct overwritten overwritten = {p->problem->txns.at[node].first_write, RIG_PROBLEM_NONE};
    for (;;) {
        if (!next_missed(p, node, &missed)) {
            compare_all_missed(p, node);
            return;
        }
        if (!next_overwritten(p, node, lowest, &overwritten)) {
            compare_all_overwritten(p, node, lowest);
            return;
        }
    }
}

/* The cycles go to the sink, until it is full. There must be no cycle without rw edges. False when memory runs out. */
static bool breach_find_pairs(const struct rig_ordered *ordered, struct rig_breach_sink *sink, struct rig_arena *arena)
{
    RIG_REQUIRE(sink->count == 0);
    const struct rig_problem *problem = ordered->problem;
    const enum rig_rule_form form = sink->rule->form;
    struct pairs p = {.problem = problem, .ordered = ordered, .sink = sink, .ok = true};
    p.in_order = form == RIG_RULE_MONOTONIC_ATOMIC;
    p.marked = rig_arena_array(arena, (size_t)problem->key_count + 1, sizeof(uint32_t));
    p.item = rig_arena_array(arena, (size_t)problem->key_count + 1, sizeof(uint32_t));
    p.same = rig_arena_array(arena, problem->reads.count + 1, sizeof(uint32_t));
    p.met = rig_arena_array(arena, (size_t)problem->txn_count + 1, sizeof(uint32_t));
    if (p.marked == NULL || p.item == NULL || p.same == NULL || p.met == NULL)
        return false;
    if (form == RIG_RULE_CURSOR) {
        for (uint32_t node = 0; node < problem->txn_count && !is_over(&p, node); node++)
            compare_own_writes(&p, node);
        return p.ok;
    }
    compare_shown(&p);
    for (uint32_t node = 0; form == RIG_RULE_UPDATE_ATOMIC && node < problem->txn_count && !is_over(&p, node); node++)
        compare_update(&p, node);
    return p.ok && rig_breach_find_before(ordered, sink, arena);
}

struct breach {
    const struct rig_problem *problem;
    struct rig_ordered ordered;
    struct rig_breach_sink sink;
    struct rig_arena arena;
    struct rig_deadline deadline;
};

/* Whether the places alone show that no cycle is without rw edges. */
static bool flows_forward(const struct breach *b)
{
    const struct rig_problem *problem = b->problem;
    const uint32_t *place = b->ordered.place;
    for (uint32_t read = 0; read < problem->reads.count; read++) {
        const uint32_t writer = problem->reads.at[read].writer;
        if (writer != RIG_PROBLEM_INITIAL && place[writer] > place[problem->read_txn[read]])
            return false;
    }
    for (uint32_t node = 0; node < problem->txn_count; node++) {
        const uint32_t before = problem->txns.at[node].before;
        if ((b->ordered.child != NULL && before != RIG_PROBLEM_NONE && place[before] > place[node]) ||
            (b->ordered.after != NULL && b->ordered.after[node] < b->ordered.latest[place[node]]))
            return false;
    }
    return true;
}

/* Forms that forbid more than FLOW does, but cannot tell it by a graph of states. */
static bool find_more(struct breach *b, enum rig_rule_form form)
{
    struct rig_states states = {.state_count = b->problem->txn_count};
    const uint32_t *rank = b->ordered.place;
    if (!flows_forward(b)) {
        if (!rig_breach_find_closed(&b->ordered, rig_breach_moves(RIG_RULE_FLOW), NULL, &b->sink, &states, &b->arena))
            return false;
        rank = states.rank;
    }
    if (form == RIG_RULE_FLOW || b->sink.count > 0 || b->deadline.spent)
        return true;
    if (form == RIG_RULE_UPDATES)
        return rig_breach_find_of_updates(&b->ordered, &b->sink, &b->arena);
    if (form == RIG_RULE_MONOTONIC_VIEW || form == RIG_RULE_CONSISTENT || form == RIG_RULE_CAUSAL)
        return rig_breach_find_single(&b->ordered, rank, states.state_count, &b->sink, &b->arena);
    return breach_find_pairs(&b->ordered, &b->sink, &b->arena);
}

static bool find(struct breach *b)
{
    struct rig_states states;
    const enum rig_rule_form form = b->sink.rule->form;
    switch (form) {
    case RIG_RULE_WRITES: /* each version's writer has an earlier place than that of the next one */
        return b->ordered.child == NULL ||
               rig_breach_find_closed(&b->ordered, rig_breach_moves(form), NULL, &b->sink, &states, &b->arena);
    case RIG_RULE_MONOTONIC_SNAPSHOT:
    case RIG_RULE_PREFIX:
    case RIG_RULE_SNAPSHOT:
    case RIG_RULE_SERIAL:
        return rig_breach_find_closed(&b->ordered, rig_breach_moves(form), NULL, &b->sink, &states, &b->arena);
    case RIG_RULE_FLOW:
    case RIG_RULE_CURSOR:
    case RIG_RULE_MONOTONIC_ATOMIC:
    case RIG_RULE_MONOTONIC_VIEW:
    case RIG_RULE_CONSISTENT:
    case RIG_RULE_READ_ATOMIC:
    case RIG_RULE_UPDATE_ATOMIC:
    case RIG_RULE_CAUSAL:
    case RIG_RULE_UPDATES:
        return find_more(b, form);
    case RIG_RULE_COUNT:
        break;
    }
    RIG_INVARIANT(false);
    return false;
}

bool rig_breach_find(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                     uint32_t most, int64_t deadline_ns, struct rig_breaches *found)
{
    struct breach b = {.problem = problem, .deadline = {.at_ns = deadline_ns}};
    RIG_REQUIRE(most > 0);
    RIG_REQUIRE(problem->txns.count == (size_t)problem->txn_count + 1 && "rig_problem_finish() was called");
    rig_arena_init(&b.arena, 0);
    const bool ok = rig_breach_sink_init(&b.sink, problem, rule, most, found, &b.arena) &&
                    rig_ordered_init(&b.ordered, problem, rule->along, place, &b.deadline, &b.arena) && find(&b);
    RIG_INVARIANT(b.sink.count <= most);
    found->spent = found->spent || b.deadline.spent;
    rig_breach_sink_done(&b.sink);
    rig_arena_done(&b.arena);
    return ok;
}

bool rig_breach_none(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                     int64_t deadline_ns, bool *explains)
{
    struct rig_breaches found = {0};
    const bool done = rig_breach_find(problem, rule, place, 1, deadline_ns, &found);
    *explains = done && found.ends.count == 0 && !found.spent;
    rig_arcs_done(&found.arcs);
    rig_arc_ends_done(&found.ends);
    return done;
}
