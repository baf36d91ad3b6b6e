/*
 * The search for forbidden cycles on small random problems, against the cycles themselves, tried one by one, and
 * against the conditions that each level sets on an execution (tests/oracle/executions.h), in all total orders.
 */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/breach_problem.h"

enum { NODES = 7, KEYS = 4, ARCS = 400 };

struct question {
    struct rig_problem problem;
    uint32_t place[NODES];
    /* by definition */
    struct rig_arc arcs[ARCS];
    uint32_t arc_count;
    bool writes_nothing[NODES];
    uint32_t ordered[RIG_ALONG_COUNT][NODES]; /* per node: those before it in process or real-time order, as bits */
};

static const struct rig_problem_txn *txn_of(const struct question *q, uint32_t node)
{
    return &q->problem.txns.at[node];
}

/* ---- random problems ---- */

struct shape {
    uint32_t nodes, ops, keys, sessions, reads_percent;
    bool realtime;
};

static uint32_t below(struct rig_rng *rng, uint32_t bound)
{
    return (uint32_t)rig_rng_below(rng, bound);
}

static struct rig_problem_txn random_txn(const struct question *q, uint32_t node, const struct shape *shape,
                                         struct rig_rng *rng)
{
    struct rig_problem_txn txn = {.txn = node, .session = below(rng, shape->sessions), .before = RIG_PROBLEM_NONE};
    const bool info = below(rng, 6) == 0;
    txn.ended = info ? UINT32_MAX : 10 * node + 10;
    if (shape->realtime && below(rng, 8) != 0)
        txn.invoked = 10 * node + 5 - 10 * below(rng, node < 4 ? node + 1 : 4);
    for (uint32_t a = 0; a < node; a++) {
        const struct rig_problem_txn *earlier = txn_of(q, a);
        const bool over = txn.invoked == 0 ? earlier->ended != UINT32_MAX : earlier->ended < txn.invoked;
        if (earlier->session == txn.session && over)
            txn.before = a;
    }
    return txn;
}

/* Which transactions write a key, before any is added: bit of the key. */
static void add_ops(struct question *q, uint32_t node, const struct shape *shape, const uint32_t *writes,
                    struct rig_rng *rng)
{
    uint32_t left = writes[node];
    uint32_t op = 0;
    for (uint32_t i = 0; i < shape->ops || left != 0; i++) {
        const uint32_t key = below(rng, shape->keys);
        if (below(rng, 3) != 0)
            op++;
        if (below(rng, 100) >= shape->reads_percent || i >= shape->ops) {
            if ((left >> key & 1) != 0 || ((writes[node] >> key & 1) != 0 && i < shape->ops && below(rng, 4) == 0)) {
                assert_true(rig_problem_add_write(&q->problem, key, ++op));
                op++;
                left &= ~(UINT32_C(1) << key);
            }
            continue;
        }
        struct rig_problem_read read = {.op = op, .key = key, .writer = RIG_PROBLEM_INITIAL};
        const uint32_t writer = below(rng, shape->nodes + 1);
        if (writer < shape->nodes && writer != node && (writes[writer] >> key & 1) != 0)
            read.writer = writer;
        assert_true(rig_problem_add_read(&q->problem, &read));
    }
}

static void make_random(struct question *q, const struct shape *shape, struct rig_rng *rng)
{
    uint32_t writes[NODES] = {0};
    memset(q, 0, sizeof *q);
    q->problem.has_realtime = shape->realtime;
    for (uint32_t node = 0; node < shape->nodes; node++) {
        for (uint32_t i = 0; i < shape->ops; i++)
            writes[node] |= below(rng, 100) >= shape->reads_percent ? UINT32_C(1) << below(rng, shape->keys) : 0;
    }
    for (uint32_t node = 0; node < shape->nodes; node++) {
        const struct rig_problem_txn txn = random_txn(q, node, shape, rng);
        assert_true(rig_problem_add_txn(&q->problem, &txn));
        add_ops(q, node, shape, writes, rng);
    }
    assert_true(rig_problem_finish(&q->problem));
    for (uint32_t i = 0; i < shape->nodes; i++)
        q->place[i] = i;
    for (uint32_t swaps = below(rng, 2 * shape->nodes); swaps-- > 0;) {
        const uint32_t a = below(rng, shape->nodes), b = below(rng, shape->nodes), keep = q->place[a];
        q->place[a] = q->place[b];
        q->place[b] = keep;
    }
}

/* ---- the edges, by definition ---- */

static void add_arc(struct question *q, struct rig_arc arc)
{
    assert_true(q->arc_count < ARCS);
    q->arcs[q->arc_count++] = arc;
}

static void add_order_arcs(struct question *q, uint32_t a, uint32_t b)
{
    struct rig_arc arc = {a, b, RIG_EDGE_PROCESS, RIG_ARC_NONE, RIG_ARC_NONE, RIG_ARC_NONE, RIG_ARC_NONE};
    for (uint32_t c = txn_of(q, b)->before; c != RIG_PROBLEM_NONE; c = txn_of(q, c)->before) {
        if (c != a)
            continue;
        add_arc(q, arc);
        q->ordered[RIG_ALONG_PROCESS][b] |= UINT32_C(1) << a;
        q->ordered[RIG_ALONG_REALTIME][b] |= UINT32_C(1) << a;
    }
    if (!q->problem.has_realtime || txn_of(q, a)->ended >= txn_of(q, b)->invoked)
        return;
    arc.kind = RIG_EDGE_REALTIME;
    add_arc(q, arc);
    q->ordered[RIG_ALONG_REALTIME][b] |= UINT32_C(1) << a;
}

/* Whether `b` writes the key, and a later version than `writer` did; `first_op` of its writes. */
static bool writes_later(const struct question *q, uint32_t writer, uint32_t key, uint32_t b, uint32_t *first_op)
{
    for (uint32_t w = txn_of(q, b)->first_write; w < txn_of(q, b + 1)->first_write; w++) {
        if (q->problem.writes.at[w].key != key)
            continue;
        *first_op = q->problem.writes.at[w].first_op;
        return writer == RIG_PROBLEM_INITIAL || q->place[writer] < q->place[b];
    }
    return false;
}

static void add_data_arcs(struct question *q, uint32_t a, uint32_t b)
{
    uint32_t op;
    for (uint32_t w = txn_of(q, a)->first_write; w < txn_of(q, a + 1)->first_write; w++) {
        const uint32_t key = q->problem.writes.at[w].key;
        if (writes_later(q, a, key, b, &op))
            add_arc(q, (struct rig_arc){a, b, RIG_EDGE_WW, key, a, RIG_ARC_NONE, op});
    }
    for (uint32_t r = txn_of(q, b)->first_read; r < txn_of(q, b + 1)->first_read; r++) {
        const struct rig_problem_read *read = &q->problem.reads.at[r];
        if (read->writer == a)
            add_arc(q, (struct rig_arc){a, b, RIG_EDGE_WR, read->key, a, RIG_ARC_NONE, read->op});
    }
    for (uint32_t r = txn_of(q, a)->first_read; r < txn_of(q, a + 1)->first_read; r++) {
        const struct rig_problem_read *read = &q->problem.reads.at[r];
        if (writes_later(q, read->writer, read->key, b, &op))
            add_arc(q, (struct rig_arc){a, b, RIG_EDGE_RW, read->key, read->writer, read->op, RIG_ARC_NONE});
    }
}

static void find_arcs(struct question *q)
{
    for (uint32_t a = 0; a < q->problem.txn_count; a++) {
        q->writes_nothing[a] = txn_of(q, a)->first_write == txn_of(q, a + 1)->first_write;
        for (uint32_t b = 0; b < q->problem.txn_count; b++) {
            if (a == b)
                continue;
            add_order_arcs(q, a, b);
            add_data_arcs(q, a, b);
        }
    }
}

/* ---- (a) all simple cycles ---- */

typedef bool forbidden[RIG_RULE_COUNT][RIG_ALONG_COUNT];

struct path {
    const struct question *q;
    struct rig_arc arcs[NODES];
    bool writes_nothing[NODES];
    uint32_t count, open; /* open: forms whose answer is not known yet */
    bool (*found)[RIG_ALONG_COUNT];
};

static void judge_cycle(struct path *path)
{
    for (int form = 0; form < RIG_RULE_COUNT; form++) {
        for (int along = 0; along < RIG_ALONG_COUNT; along++) {
            const struct rig_rule rule = {(enum rig_rule_form)form, (enum rig_along)along, false, false};
            if (path->found[form][along] || !rig_rule_forbids(&rule, path->arcs, path->count, path->writes_nothing))
                continue;
            path->found[form][along] = true;
            path->open--;
        }
    }
}

static void extend(struct path *path, uint32_t used)
{
    const struct question *q = path->q;
    const uint32_t first = path->arcs[0].from, last = path->arcs[path->count - 1].to;
    for (uint32_t i = 0; i < q->arc_count && path->open > 0; i++) {
        const struct rig_arc *arc = &q->arcs[i];
        if (arc->from != last || (arc->to != first && (arc->to < first || (used >> arc->to & 1) != 0)))
            continue;
        path->writes_nothing[path->count] = q->writes_nothing[arc->from];
        path->arcs[path->count++] = *arc;
        if (arc->to == first)
            judge_cycle(path);
        else
            extend(path, used | UINT32_C(1) << arc->to);
        path->count--;
    }
}

static void try_cycles(const struct question *q, forbidden found)
{
    struct path path = {.q = q, .count = 1, .open = RIG_RULE_COUNT * RIG_ALONG_COUNT, .found = found};
    memset(found, 0, sizeof(forbidden));
    for (uint32_t i = 0; i < q->arc_count; i++) {
        path.arcs[0] = q->arcs[i];
        path.writes_nothing[0] = q->writes_nothing[path.arcs[0].from];
        if (path.arcs[0].to > path.arcs[0].from)
            extend(&path, UINT32_C(1) << path.arcs[0].from | UINT32_C(1) << path.arcs[0].to);
    }
}

/* ---- (b) all executions ---- */

struct execution {
    const struct question *q;
    enum rig_along along;
    uint32_t count, order[NODES];
    uint32_t before[NODES];        /* in the total order, as bits */
    uint32_t ww[NODES], wr[NODES]; /* per node: the writers that it overwrote, and that it read from */
    bool (*allowed)[RIG_ALONG_COUNT];
};

static uint32_t missed_by(const struct execution *e, const struct rig_problem_read *read, uint32_t reader)
{
    uint32_t missed = 0, op;
    for (uint32_t b = 0; b < e->q->problem.txn_count; b++) {
        if (b != reader && writes_later(e->q, read->writer, read->key, b, &op))
            missed |= UINT32_C(1) << b;
    }
    return missed;
}

static uint32_t down(const struct execution *e, uint32_t set)
{
    uint32_t closed = set;
    for (uint32_t b = 0; b < e->q->problem.txn_count; b++)
        closed |= (set >> b & 1) != 0 ? e->before[b] : 0;
    return closed;
}

/* Adds the members' sets in `sets`, again and again. */
static uint32_t close_over(const struct execution *e, const uint32_t *sets, uint32_t set)
{
    for (uint32_t last = 0; set != last;) {
        last = set;
        for (uint32_t b = 0; b < e->q->problem.txn_count; b++)
            set |= (last >> b & 1) != 0 ? sets[b] : 0;
    }
    return set;
}

/* The transactions that it saw before operation `op` (UINT32_MAX: at all), by wr edges and, with `writes`, ww edges;
 * and those that the order puts before it, which it saw before its first operation. */
static uint32_t met_before(const struct execution *e, uint32_t node, uint32_t op, bool writes)
{
    const struct question *q = e->q;
    uint32_t met = q->ordered[e->along][node], at;
    for (uint32_t r = txn_of(q, node)->first_read; r < txn_of(q, node + 1)->first_read; r++) {
        const struct rig_problem_read *read = &q->problem.reads.at[r];
        met |= read->op < op && read->writer != RIG_PROBLEM_INITIAL ? UINT32_C(1) << read->writer : 0;
    }
    for (uint32_t a = 0; a < q->problem.txn_count && writes; a++) {
        for (uint32_t w = txn_of(q, a)->first_write; w < txn_of(q, a + 1)->first_write; w++) {
            if (a != node && writes_later(q, a, q->problem.writes.at[w].key, node, &at) && at < op)
                met |= UINT32_C(1) << a;
        }
    }
    return met;
}

static bool is_cursor_stable(const struct execution *e, const struct rig_problem_read *read, uint32_t reader)
{
    uint32_t op;
    if (!writes_later(e->q, read->writer, read->key, reader, &op))
        return true;
    const uint32_t missed = missed_by(e, read, reader);
    for (uint32_t b = 0; b < e->q->problem.txn_count; b++) {
        if ((missed >> b & 1) != 0 && e->q->place[b] < e->q->place[reader])
            return false;
    }
    return true;
}

static uint32_t seen_by(const struct execution *e, enum rig_rule_form form, const struct rig_problem_read *read,
                        uint32_t reader)
{
    uint32_t depends[NODES] = {0}, reads[NODES] = {0};
    for (uint32_t t = 0; t < e->q->problem.txn_count; t++) {
        reads[t] = e->wr[t] | e->q->ordered[e->along][t];
        depends[t] = reads[t] | e->ww[t];
    }
    switch (form) {
    case RIG_RULE_MONOTONIC_ATOMIC:
        return met_before(e, reader, read->op, false);
    case RIG_RULE_MONOTONIC_VIEW:
        return close_over(e, depends, met_before(e, reader, read->op, true));
    case RIG_RULE_MONOTONIC_SNAPSHOT:
        return down(e, met_before(e, reader, read->op + 1, true));
    case RIG_RULE_CONSISTENT:
        return close_over(e, depends, depends[reader]);
    case RIG_RULE_READ_ATOMIC:
        return reads[reader];
    case RIG_RULE_UPDATE_ATOMIC:
        return depends[reader];
    case RIG_RULE_CAUSAL:
        return close_over(e, reads, reads[reader]);
    case RIG_RULE_PREFIX:
        return down(e, reads[reader]);
    case RIG_RULE_SNAPSHOT:
        return down(e, depends[reader]);
    case RIG_RULE_SERIAL:
        return e->before[reader];
    case RIG_RULE_WRITES:
    case RIG_RULE_FLOW:
    case RIG_RULE_CURSOR:
    case RIG_RULE_UPDATES:
    case RIG_RULE_COUNT:
        break;
    }
    return 0;
}

/* G-update: no cycle with the rw edges out of transactions that write something, and out of any one that does not. */
static bool updates_are_serial(const struct execution *e)
{
    const struct question *q = e->q;
    for (uint32_t t = 0; t < q->problem.txn_count; t++) {
        uint32_t after[NODES] = {0};
        for (uint32_t b = 0; b < q->problem.txn_count; b++) {
            for (uint32_t a = 0; a < q->problem.txn_count; a++) {
                if (((e->ww[b] | e->wr[b] | q->ordered[e->along][b]) >> a & 1) != 0)
                    after[a] |= UINT32_C(1) << b;
            }
        }
        for (uint32_t r = 0; r < q->problem.reads.count; r++) {
            const uint32_t reader = q->problem.read_txn[r];
            if (reader == t || !q->writes_nothing[reader])
                after[reader] |= missed_by(e, &q->problem.reads.at[r], reader);
        }
        for (uint32_t a = 0; a < q->problem.txn_count; a++) {
            if ((close_over(e, after, after[a]) >> a & 1) != 0)
                return false;
        }
    }
    return true;
}

static bool explains(const struct execution *e, enum rig_rule_form form)
{
    const struct question *q = e->q;
    for (uint32_t t = 0; t < q->problem.txn_count; t++) {
        const uint32_t first = form == RIG_RULE_WRITES ? q->ordered[e->along][t] | e->ww[t]
                                                       : q->ordered[e->along][t] | e->ww[t] | e->wr[t];
        if ((first & ~e->before[t]) != 0)
            return false;
    }
    if (form == RIG_RULE_UPDATES)
        return updates_are_serial(e);
    for (uint32_t r = 0; r < q->problem.reads.count; r++) {
        const struct rig_problem_read *read = &q->problem.reads.at[r];
        const uint32_t reader = q->problem.read_txn[r];
        if ((missed_by(e, read, reader) & seen_by(e, form, read, reader)) != 0 ||
            (form == RIG_RULE_CURSOR && !is_cursor_stable(e, read, reader)))
            return false;
    }
    return true;
}

static void order_rest(struct execution *e, uint32_t placed)
{
    const uint32_t count = e->q->problem.txn_count;
    for (int form = 0; form < RIG_RULE_COUNT && e->count == count; form++) {
        bool *allowed = &e->allowed[form][e->along];
        *allowed = *allowed || explains(e, (enum rig_rule_form)form);
    }
    for (uint32_t t = 0; t < count; t++) {
        if ((placed >> t & 1) != 0 || ((e->ww[t] | e->q->ordered[e->along][t]) & ~placed) != 0)
            continue;
        e->before[t] = placed;
        e->order[e->count++] = t;
        order_rest(e, placed | UINT32_C(1) << t);
        e->count--;
    }
}

static void try_executions(const struct question *q, forbidden allowed)
{
    memset(allowed, 0, sizeof(forbidden));
    for (int along = 0; along < RIG_ALONG_COUNT; along++) {
        struct execution e = {.q = q, .along = (enum rig_along)along, .allowed = allowed};
        for (uint32_t i = 0; i < q->arc_count; i++) {
            const struct rig_arc *arc = &q->arcs[i];
            e.ww[arc->to] |= arc->kind == RIG_EDGE_WW ? UINT32_C(1) << arc->from : 0;
            e.wr[arc->to] |= arc->kind == RIG_EDGE_WR ? UINT32_C(1) << arc->from : 0;
        }
        order_rest(&e, 0);
    }
}

/* ---- comparison ---- */

static void compare(const struct question *q, uint32_t most)
{
    forbidden found, allowed;
    try_cycles(q, found);
    try_executions(q, allowed);
    for (int form = 0; form < RIG_RULE_COUNT; form++) {
        for (int along = 0; along < RIG_ALONG_COUNT; along++) {
            const struct rig_rule rule = {(enum rig_rule_form)form, (enum rig_along)along, false, false};
            struct rig_breaches breaches = {0};
            assert_true(rig_breach_find(&q->problem, &rule, q->place, most, INT64_MAX, &breaches));
            assert_in_range(breaches.ends.count, 0, most);
            if ((breaches.ends.count > 0) != found[form][along] || allowed[form][along] == found[form][along])
                fail_msg("form %d along %d: found %zu, cycle %d, execution %d", form, along, breaches.ends.count,
                         found[form][along], allowed[form][along]);
            for (size_t i = 0; i < breaches.ends.count; i++) {
                const uint32_t begin = i == 0 ? 0 : breaches.ends.at[i - 1];
                breach_check_cycle(&q->problem, &rule, q->place, &breaches.arcs.at[begin], breaches.ends.at[i] - begin);
            }
            rig_arcs_done(&breaches.arcs);
            rig_arc_ends_done(&breaches.ends);
        }
    }
}

/* After the deadline nothing is found, and nothing is said to be allowed, except where an order needs no search. */
static void expect_spent(const struct question *q)
{
    for (int form = RIG_RULE_CURSOR; form < RIG_RULE_COUNT; form++) {
        const struct rig_rule rule = {(enum rig_rule_form)form, RIG_ALONG_PROCESS, false, false};
        struct rig_breaches breaches = {0};
        assert_true(rig_breach_find(&q->problem, &rule, q->place, 1, 0, &breaches));
        assert_int_equal(breaches.ends.count, 0);
        if (!breaches.spent) { /* one rw edge: no read misses a version */
            assert_true(rig_breach_find(&q->problem, &rule, q->place, 1, INT64_MAX, &breaches));
            assert_int_equal(breaches.ends.count, 0);
        }
        rig_arcs_done(&breaches.arcs);
        rig_arc_ends_done(&breaches.ends);
    }
}

static uint32_t problem_count = 20000;

static void agrees_with_the_definitions(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 14, 0);
    for (uint32_t i = 0; i < problem_count; i++) {
        struct question q;
        struct shape shape = {.nodes = 2 + below(&rng, 4), .ops = 1 + below(&rng, 4), .keys = 1 + below(&rng, KEYS)};
        if (i % 50 == 0) {
            shape.nodes = 6 + below(&rng, 2);
            shape.ops = 1 + below(&rng, 2);
        }
        shape.sessions = 1 + below(&rng, 4);
        shape.reads_percent = 30 + 20 * below(&rng, 3);
        shape.realtime = below(&rng, 2) == 0;
        make_random(&q, &shape, &rng);
        find_arcs(&q);
        compare(&q, i % 3 == 0 ? 1 : 1 + below(&rng, 20));
        if (i % 20 == 0)
            expect_spent(&q);
        rig_problem_done(&q.problem);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        problem_count = (uint32_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
