#include "checker/decide/solve/near_serial.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"

enum { MOVES_LINEAR = 64, MOVES_FEW = 16, MOST_PASSES = 64 };

/*
 * A read that misses `write`, which comes directly after the version that it returned. Where only the starts of
 * transactions come after the versions that they overwrite (frame.h), also a write, numbered after the reads, whose
 * transaction starts before `write`, the version before its own.
 */
struct missed {
    uint32_t item, write;
};

/* A move: one node comes before another from now on. */
struct behind {
    uint32_t node;
    uint32_t next; /* of the same earlier node, or NONE */
};

RIG_VEC(struct missed, missed_writes)
RIG_VEC(struct behind, behinds)
RIG_VEC(uint32_t, near_nodes)

struct moves {
    const struct rig_problem *problem;
    const struct rig_order_graph *graph;
    enum rig_near_serial_effort effort;
    const struct rig_solve_budget *budget;
    size_t fixed_bytes;     /* held from the beginning */
    bool stuck;             /* something cannot be mended, and the effort is strict */
    uint32_t *at, *place;   /* nodes of the frame by place, and back */
    uint32_t *writes;       /* per key, from problem->writer_first on: its writes as their commits were placed last */
    uint32_t *first_behind; /* per node: into behinds, or NONE */
    struct behinds behinds;
    bool *kept;             /* per item: it stays as it is */
    bool *is_due;           /* per key: something that uses it was moved */
    struct near_nodes due;  /* these keys */
    struct near_nodes left; /* keys of what is kept */
    uint32_t *seen, round;
    struct near_nodes reached; /* by the walk of a round */
    struct missed_writes missed;
    uint64_t work, most_work;
};

static uint32_t *numbers(size_t count)
{
    return malloc((count + 1) * sizeof(uint32_t));
}

static void note_places(struct moves *m)
{
    for (uint32_t i = 0; i < m->graph->frame->node_count; i++)
        m->place[m->at[i]] = i;
}

/* The lowest value of the nodes to which edges lead from `node`. */
static uint32_t lowest_after(const struct rig_order_graph *graph, const uint32_t *value, uint32_t node)
{
    uint32_t lowest = UINT32_MAX;
    for (uint32_t e = graph->first_out[node]; e < graph->first_out[node + 1]; e++) {
        const uint32_t to = value[graph->edges.at[graph->out[e]].to];
        lowest = to < lowest ? to : lowest;
    }
    return lowest;
}

static bool is_start(const struct rig_rule_frame *frame, uint32_t node)
{
    return node >= frame->first_start && node < frame->first_moment;
}

/* The sorted sequence, with each start directly before the first commit that must come after it: in a sort starts come
 * as soon as they can, but most histories are close to serial ones. */
static bool delay_starts(struct moves *m)
{
    const struct rig_order_graph *graph = m->graph;
    const uint32_t nodes = graph->frame->node_count;
    uint32_t *value = numbers(graph->node_count), *next = numbers(nodes), *first = numbers(nodes), placed = 0;
    const bool ok = value != NULL && next != NULL && first != NULL;
    for (uint32_t i = 0; ok && i < nodes; i++) {
        value[graph->sequence[i]] = i;
        first[i] = RIG_PROBLEM_NONE;
    }
    for (uint32_t relay = nodes; ok && relay < graph->node_count; relay++)
        value[relay] = lowest_after(graph, value, relay);
    for (uint32_t i = nodes; ok && i-- > 0;) {
        const uint32_t node = graph->sequence[i];
        if (!is_start(graph->frame, node))
            continue;
        const uint32_t before = lowest_after(graph, value, node);
        RIG_INVARIANT(before > i && before < nodes);
        next[i] = first[before];
        first[before] = i;
    }
    for (uint32_t i = 0; ok && i < nodes; i++) {
        for (uint32_t s = first[i]; s != RIG_PROBLEM_NONE; s = next[s])
            m->at[placed++] = graph->sequence[s];
        if (!is_start(graph->frame, graph->sequence[i]))
            m->at[placed++] = graph->sequence[i];
    }
    RIG_INVARIANT(!ok || placed == nodes);
    if (ok)
        note_places(m);
    free(value);
    free(next);
    free(first);
    return ok;
}

/* With what the start takes for a moment. */
static size_t fixed_bytes(const struct rig_order_graph *graph)
{
    const struct rig_problem *problem = graph->problem;
    return (size_t)graph->node_count * 28 + problem->writes.count * 5 + problem->reads.count +
           (size_t)problem->key_count * 5;
}

static bool moves_init(struct moves *m, const struct rig_order_graph *graph, enum rig_near_serial_effort effort,
                       const struct rig_solve_budget *budget)
{
    const struct rig_problem *problem = graph->problem;
    const size_t nodes = graph->frame->node_count, items = problem->reads.count + problem->writes.count;
    *m = (struct moves){.problem = problem, .graph = graph, .effort = effort, .budget = budget};
    m->fixed_bytes = fixed_bytes(graph);
    /* Where few reads force anything, an order far from a serial one mostly is an explanation, too. */
    const bool few =
        graph->frame->reads == RIG_RULE_FRAME_READS_NONE || graph->frame->reads == RIG_RULE_FRAME_READS_UPDATED;
    m->most_work = (few ? MOVES_FEW : MOVES_LINEAR) * (nodes + graph->edges.count + items + 1);
    m->at = numbers(nodes);
    m->place = numbers(nodes);
    m->writes = numbers(problem->writes.count);
    m->first_behind = numbers(graph->node_count);
    m->kept = calloc(items + 1, sizeof m->kept[0]);
    m->is_due = calloc((size_t)problem->key_count + 1, sizeof m->is_due[0]);
    m->seen = calloc((size_t)graph->node_count + 1, sizeof m->seen[0]);
    if (m->at == NULL || m->place == NULL || m->writes == NULL || m->first_behind == NULL || m->kept == NULL ||
        m->is_due == NULL || m->seen == NULL)
        return false;
    memset(m->first_behind, 0xff, ((size_t)graph->node_count + 1) * sizeof m->first_behind[0]);
    if (graph->frame->split)
        return delay_starts(m);
    memcpy(m->at, graph->sequence, nodes * sizeof m->at[0]);
    note_places(m);
    return true;
}

static void moves_done(struct moves *m)
{
    free(m->at);
    free(m->place);
    free(m->writes);
    free(m->first_behind);
    free(m->kept);
    free(m->is_due);
    near_nodes_done(&m->due);
    near_nodes_done(&m->left);
    free(m->seen);
    behinds_done(&m->behinds);
    near_nodes_done(&m->reached);
    missed_writes_done(&m->missed);
}

/* ---- one move ---- */

static bool reach(struct moves *m, uint32_t node, uint32_t last)
{
    m->work++;
    if (m->seen[node] == m->round || (node < m->graph->frame->node_count && m->place[node] > last))
        return true;
    m->seen[node] = m->round;
    return near_nodes_add(&m->reached, node);
}

/* Reaches all nodes up to the place `last` to which edges and moves lead from `node`. */
static bool walk(struct moves *m, uint32_t node, uint32_t last)
{
    const struct rig_order_graph *graph = m->graph;
    m->round++;
    m->reached.count = 0;
    bool ok = reach(m, node, last);
    for (size_t i = 0; ok && i < m->reached.count; i++) {
        const uint32_t from = m->reached.at[i];
        for (uint32_t e = graph->first_out[from]; ok && e < graph->first_out[from + 1]; e++)
            ok = reach(m, graph->edges.at[graph->out[e]].to, last);
        for (uint32_t b = m->first_behind[from]; ok && b != RIG_PROBLEM_NONE; b = m->behinds.at[b].next)
            ok = reach(m, m->behinds.at[b].node, last);
    }
    return ok;
}

static bool make_due(struct moves *m, uint32_t key)
{
    RIG_REQUIRE(key < m->problem->key_count);
    if (m->is_due[key])
        return true;
    m->is_due[key] = true;
    return near_nodes_add(&m->due, key);
}

/* The keys of a node that was moved. */
static bool make_all_due(struct moves *m, uint32_t node)
{
    const struct rig_problem *problem = m->problem;
    const uint32_t txn = rig_rule_frame_txn(m->graph->frame, node);
    bool ok = true;
    if (txn == RIG_PROBLEM_NONE)
        return true;
    for (uint32_t r = problem->txns.at[txn].first_read; ok && r < problem->txns.at[txn + 1].first_read; r++)
        ok = make_due(m, problem->reads.at[r].key);
    for (uint32_t w = problem->txns.at[txn].first_write; ok && w < problem->txns.at[txn + 1].first_write; w++)
        ok = make_due(m, problem->writes.at[w].key);
    return ok;
}

/* Puts what was reached after all else between the places. */
static bool shift(struct moves *m, uint32_t first, uint32_t last)
{
    RIG_REQUIRE(first < last);
    uint32_t filled = first, reached = 0;
    for (uint32_t i = first; i <= last; i++) {
        const uint32_t node = m->at[i];
        if (m->seen[node] == m->round) {
            m->reached.at[reached++] = node;
            continue;
        }
        m->at[filled] = node;
        m->place[node] = filled++;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < reached; i++, filled++) {
        m->at[filled] = m->reached.at[i];
        m->place[m->at[filled]] = filled;
        ok = make_all_due(m, m->at[filled]);
    }
    RIG_INVARIANT(!ok || filled == last + 1);
    m->work += last - first;
    return ok;
}

/* Has `before` come before `after` from now on, unless the reverse is known. False when memory runs out. */
static bool put_before(struct moves *m, uint32_t before, uint32_t after, bool *possible)
{
    RIG_REQUIRE(before != after);
    const uint32_t first = m->place[after], last = m->place[before];
    *possible = true;
    if (first < last) {
        if (!walk(m, after, last))
            return false;
        *possible = m->seen[before] != m->round;
        if (!*possible)
            return true;
        if (!shift(m, first, last))
            return false;
    }
    const struct behind behind = {after, m->first_behind[before]};
    m->first_behind[before] = (uint32_t)m->behinds.count;
    return behinds_add(&m->behinds, behind);
}

/* ---- what is missed ---- */

static uint32_t commit_of(const struct moves *m, uint32_t write)
{
    return m->place[m->problem->write_txn[write]];
}

static uint32_t start_of(const struct moves *m, uint32_t txn)
{
    return m->place[rig_rule_frame_start(m->graph->frame, txn)];
}

/* The writes of all keys by place. */
static bool order_writes(struct moves *m)
{
    const struct rig_problem *problem = m->problem;
    uint32_t *end = numbers(problem->key_count);
    bool ok = end != NULL;
    for (uint32_t key = 0; ok && key < problem->key_count; key++) {
        end[key] = problem->writer_first[key];
        ok = make_due(m, key);
    }
    for (uint32_t i = 0; ok && i < m->graph->frame->node_count; i++) {
        const uint32_t txn = m->at[i];
        if (txn >= problem->txn_count)
            continue;
        for (uint32_t w = problem->txns.at[txn].first_write; w < problem->txns.at[txn + 1].first_write; w++) {
            RIG_INVARIANT(end[problem->writes.at[w].key] < problem->writer_first[problem->writes.at[w].key + 1]);
            m->writes[end[problem->writes.at[w].key]++] = w;
        }
    }
    free(end);
    return ok;
}

/* Few have moved since the last time. */
static void sort_writes(struct moves *m, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin + 1; i < end; i++) {
        const uint32_t write = m->writes[i];
        uint32_t k = i;
        for (; k > begin && commit_of(m, m->writes[k - 1]) > commit_of(m, write); k--)
            m->writes[k] = m->writes[k - 1];
        m->writes[k] = write;
        m->work += i - k + 1;
    }
}

/* The readers of a version that start after the commit of the next write. */
static bool find_late(struct moves *m, uint32_t version, uint32_t next)
{
    const struct rig_problem *problem = m->problem;
    bool ok = true;
    for (uint32_t i = problem->reader_first[version]; ok && i < problem->reader_first[version + 1]; i++) {
        const uint32_t read = problem->readers[i];
        if (start_of(m, problem->read_txn[read]) > commit_of(m, next))
            ok = missed_writes_add(&m->missed, (struct missed){read, next});
    }
    m->work += problem->reader_first[version + 1] - problem->reader_first[version];
    return ok;
}

static bool find_missed(struct moves *m, uint32_t key)
{
    const struct rig_problem *problem = m->problem;
    const struct rig_rule_frame *frame = m->graph->frame;
    const uint32_t begin = problem->writer_first[key], end = problem->writer_first[key + 1];
    const uint32_t reads = (uint32_t)problem->reads.count;
    bool ok = true;
    sort_writes(m, begin, end);
    for (uint32_t i = begin; ok && i < end; i++) {
        const uint32_t write = m->writes[i];
        ok = find_late(m, i == begin ? (uint32_t)problem->writes.count + key : m->writes[i - 1], write);
        if (ok && frame->split && frame->ww_starts && i > begin &&
            start_of(m, problem->write_txn[write]) < commit_of(m, m->writes[i - 1]))
            ok = missed_writes_add(&m->missed, (struct missed){reads + write, m->writes[i - 1]});
    }
    return ok;
}

/* Looks at the keys that are due. */
static bool find_all_missed(struct moves *m)
{
    bool ok = true;
    m->missed.count = 0;
    for (size_t i = 0; ok && i < m->due.count; i++) {
        m->is_due[m->due.at[i]] = false;
        ok = find_missed(m, m->due.at[i]);
    }
    m->due.count = 0;
    return ok;
}

/* ---- passes ---- */

/* Moves the reader before the overwriter, or this before the version that it overwrote. */
static bool mend_read(struct moves *m, uint32_t number, uint32_t overwriter, bool *possible)
{
    const struct rig_problem *problem = m->problem;
    const struct rig_rule_frame *frame = m->graph->frame;
    const uint32_t reader = rig_rule_frame_start(frame, problem->read_txn[number]),
                   shown = problem->reads.at[number].writer;
    bool ok = true;
    if (m->place[reader] < m->place[overwriter] ||
        (shown != RIG_PROBLEM_INITIAL && m->place[overwriter] < m->place[shown]))
        return true;
    ok = put_before(m, reader, overwriter, possible);
    if (ok && !*possible && shown != RIG_PROBLEM_INITIAL)
        ok = put_before(m, overwriter, frame->ww_starts ? rig_rule_frame_start(frame, shown) : shown, possible);
    return ok;
}

/* One of two that write the same key starts after the other's commit. */
static bool mend_write(struct moves *m, uint32_t txn, uint32_t other, bool *possible)
{
    RIG_REQUIRE(txn != other);
    const struct rig_rule_frame *frame = m->graph->frame;
    if (m->place[other] < m->place[rig_rule_frame_start(frame, txn)] ||
        m->place[txn] < m->place[rig_rule_frame_start(frame, other)])
        return true;
    bool ok = put_before(m, other, rig_rule_frame_start(frame, txn), possible);
    if (ok && !*possible)
        ok = put_before(m, txn, rig_rule_frame_start(frame, other), possible);
    return ok;
}

/* False when memory runs out. */
static bool mend(struct moves *m, const struct missed *missed)
{
    RIG_REQUIRE(missed->item < m->problem->reads.count + m->problem->writes.count);
    const struct rig_problem *problem = m->problem;
    const uint32_t other = problem->write_txn[missed->write], reads = (uint32_t)problem->reads.count;
    bool possible = true;
    if (m->kept[missed->item])
        return true;
    bool ok = missed->item < reads ? mend_read(m, missed->item, other, &possible)
                                   : mend_write(m, problem->write_txn[missed->item - reads], other, &possible);
    if (ok && !possible) {
        m->kept[missed->item] = true;
        m->stuck = m->effort == RIG_NEAR_SERIAL_STRICT;
        ok = near_nodes_add(&m->left, problem->writes.at[missed->write].key);
    }
    return ok;
}

/* Whether work and memory suffice for further moves. */
static bool may_move(const struct moves *m)
{
    const size_t bytes = m->fixed_bytes + m->behinds.capacity * sizeof m->behinds.at[0] +
                         m->missed.capacity * sizeof m->missed.at[0] +
                         (m->due.capacity + m->left.capacity + m->reached.capacity) * sizeof(uint32_t);
    return !m->stuck && m->work < m->most_work && (m->budget->limit_bytes == 0 || bytes <= m->budget->limit_bytes);
}

static bool may_go_on(const struct moves *m)
{
    return may_move(m) && rig_clock_now_ns() < m->budget->deadline_ns;
}

static bool mend_all(struct moves *m, bool *is_serial)
{
    bool ok = order_writes(m) && find_all_missed(m);
    for (unsigned pass = 0; ok && m->missed.count > 0 && pass < MOST_PASSES && may_go_on(m); pass++) {
        for (size_t i = 0; ok && i < m->missed.count && may_move(m); i++)
            ok = mend(m, &m->missed.at[i]);
        ok = ok && (m->stuck || find_all_missed(m));
    }
    /* Later moves may have mended something that was kept. */
    const bool finished = ok && !m->stuck && m->missed.count == 0;
    for (size_t i = 0; ok && finished && i < m->left.count; i++)
        ok = make_due(m, m->left.at[i]);
    ok = ok && (!finished || find_all_missed(m));
    *is_serial = ok && finished && m->missed.count == 0;
    return ok;
}

bool rig_near_serial_improve(struct rig_order_graph *graph, enum rig_near_serial_effort effort,
                             const struct rig_solve_budget *budget, uint32_t *place, bool *is_serial)
{
    const struct rig_rule_frame *frame = graph->frame;
    struct moves moves;
    *is_serial = false;
    if (!frame->reads_order || rig_clock_now_ns() >= budget->deadline_ns ||
        (budget->limit_bytes != 0 && fixed_bytes(graph) > budget->limit_bytes))
        return true;
    const bool ok = moves_init(&moves, graph, effort, budget) && mend_all(&moves, is_serial);
    const bool better = *is_serial || effort == RIG_NEAR_SERIAL_BEST;
    uint32_t placed = 0;
    for (uint32_t i = 0; ok && better && i < frame->node_count; i++) {
        graph->sequence[i] = moves.at[i];
        if (moves.at[i] < frame->txn_count)
            place[moves.at[i]] = placed++;
    }
    moves_done(&moves);
    return ok;
}
