#include "tests/unit/breach_problem.h"

#include <string.h>

#include "base/bug.h"

enum { MOST_OPS = 32 };

static uint32_t below(struct rig_rng *rng, uint32_t bound)
{
    return (uint32_t)rig_rng_below(rng, bound);
}

struct database {
    const struct breach_shape *shape;
    struct rig_problem *problem;
    uint32_t *last;   /* per key: the last writer, or NONE */
    uint32_t *before; /* per transaction and operation: the writer of the key before it, where it wrote */
    uint32_t *key;    /* per transaction and operation: the key that it wrote, or NONE */
};

/* The last writer of the key among the first `time` transactions. */
static uint32_t version_at(const struct database *db, uint32_t key, uint32_t time)
{
    uint32_t writer = db->last[key];
    while (writer != RIG_PROBLEM_NONE && writer >= time) {
        uint32_t op = 0;
        while (db->key[(size_t)writer * MOST_OPS + op] != key)
            op++;
        writer = db->before[(size_t)writer * MOST_OPS + op];
    }
    return writer;
}

static void write_key(struct database *db, uint32_t node, uint32_t op, uint32_t key)
{
    RIG_REQUIRE(rig_problem_add_write(db->problem, key, op));
    if (db->last[key] == node)
        return;
    db->key[(size_t)node * MOST_OPS + op] = key;
    db->before[(size_t)node * MOST_OPS + op] = db->last[key];
    db->last[key] = node;
}

static uint32_t time_before(struct rig_rng *rng, const struct database *db, uint32_t node)
{
    const uint32_t back = below(rng, db->shape->lag + 1);
    return node > back ? node - back : 0;
}

static void add_ops(struct rig_rng *rng, struct database *db, uint32_t node)
{
    const struct breach_shape *shape = db->shape;
    const uint32_t snapshot = time_before(rng, db, node);
    for (uint32_t op = 0; op < shape->ops; op++) {
        const uint32_t key = below(rng, shape->keys);
        const uint32_t newest = version_at(db, key, node);
        if (below(rng, 100) >= shape->reads_percent) {
            if (!shape->first_committer || newest == RIG_PROBLEM_NONE || newest < snapshot)
                write_key(db, node, op, key);
            continue;
        }
        const uint32_t time = shape->one_snapshot ? snapshot : time_before(rng, db, node);
        const struct rig_problem_read read = {op, key, version_at(db, key, time)};
        if (db->last[key] != node)
            RIG_REQUIRE(rig_problem_add_read(db->problem, &read));
    }
}

static void draw_places(struct rig_rng *rng, const struct breach_shape *shape, uint32_t *place)
{
    for (uint32_t node = 0; node < shape->txns; node++)
        place[node] = node;
    for (uint32_t i = 0; i < shape->swaps; i++) {
        const uint32_t a = below(rng, shape->txns), b = (a + 1 + below(rng, 8)) % shape->txns, keep = place[a];
        place[a] = place[b];
        place[b] = keep;
    }
}

void breach_problem(struct rig_rng *rng, const struct breach_shape *shape, struct rig_problem *problem, uint32_t *place)
{
    const size_t slots = (size_t)shape->txns * MOST_OPS;
    uint32_t *last_of = malloc(shape->sessions * sizeof last_of[0]);
    struct database db = {.shape = shape, .problem = problem};
    db.last = malloc(shape->keys * sizeof db.last[0]);
    db.before = malloc(slots * sizeof db.before[0]);
    db.key = malloc(slots * sizeof db.key[0]);
    RIG_REQUIRE(shape->ops <= MOST_OPS && last_of != NULL && db.last != NULL && db.before != NULL && db.key != NULL);
    memset(last_of, 0xff, shape->sessions * sizeof last_of[0]);
    memset(db.last, 0xff, shape->keys * sizeof db.last[0]);
    memset(db.key, 0xff, slots * sizeof db.key[0]);
    *problem = (struct rig_problem){.has_realtime = shape->realtime};
    for (uint32_t node = 0; node < shape->txns; node++) {
        const uint32_t session = below(rng, shape->sessions);
        const bool unknown = below(rng, 20) == 0;
        struct rig_problem_txn txn = {.txn = node, .session = session, .before = last_of[session]};
        txn.ended = unknown ? UINT32_MAX : 10 * node + 10;
        const uint32_t open = 5 + 10 * below(rng, shape->lag + 1);
        const uint32_t free_from = txn.before == RIG_PROBLEM_NONE ? 0 : problem->txns.at[txn.before].ended;
        if (shape->realtime)
            txn.invoked = 10 * node + 10 > open + free_from ? 10 * node + 10 - open : free_from + 1;
        RIG_REQUIRE(rig_problem_add_txn(problem, &txn));
        last_of[session] = unknown ? last_of[session] : node;
        add_ops(rng, &db, node);
    }
    RIG_REQUIRE(rig_problem_finish(problem));
    draw_places(rng, shape, place);
    free(last_of);
    free(db.last);
    free(db.before);
    free(db.key);
}

static bool reads_version(const struct rig_problem *problem, uint32_t node, uint32_t op, uint32_t key, uint32_t writer)
{
    for (uint32_t r = problem->txns.at[node].first_read; r < problem->txns.at[node + 1].first_read; r++) {
        const struct rig_problem_read *read = &problem->reads.at[r];
        if (read->op == op && read->key == key && read->writer == writer)
            return true;
    }
    return false;
}

static bool follows_in_process(const struct rig_problem *problem, uint32_t a, uint32_t b)
{
    while (b != RIG_PROBLEM_NONE && b != a)
        b = problem->txns.at[b].before;
    return b == a;
}

bool breach_arc_holds(const struct rig_problem *problem, const uint32_t *place, const struct rig_arc *arc)
{
    const uint32_t a = arc->from, b = arc->to;
    uint32_t own;
    switch (arc->kind) {
    case RIG_EDGE_WW:
        own = rig_problem_write_of(problem, b, arc->key);
        return arc->writer == a && rig_problem_write_of(problem, a, arc->key) != RIG_PROBLEM_NONE &&
               own != RIG_PROBLEM_NONE && place[a] < place[b] && arc->from_op == RIG_ARC_NONE &&
               arc->to_op == problem->writes.at[own].first_op;
    case RIG_EDGE_WR:
        return reads_version(problem, b, arc->to_op, arc->key, a) && arc->from_op == RIG_ARC_NONE;
    case RIG_EDGE_RW:
        return reads_version(problem, a, arc->from_op, arc->key, arc->writer) && arc->to_op == RIG_ARC_NONE &&
               rig_problem_write_of(problem, b, arc->key) != RIG_PROBLEM_NONE &&
               (arc->writer == RIG_ARC_NONE || place[arc->writer] < place[b]);
    case RIG_EDGE_PROCESS:
        return follows_in_process(problem, a, b);
    case RIG_EDGE_REALTIME:
        return problem->has_realtime && problem->txns.at[a].ended < problem->txns.at[b].invoked;
    }
    return false;
}

void breach_check_cycle(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                        const struct rig_arc *arcs, uint32_t count)
{
    bool *writes_nothing = calloc(count, sizeof writes_nothing[0]), *used = calloc(problem->txn_count, sizeof used[0]);
    RIG_REQUIRE(count >= 2 && writes_nothing != NULL && used != NULL);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t from = arcs[i].from;
        RIG_REQUIRE(from != arcs[i].to && breach_arc_holds(problem, place, &arcs[i]));
        RIG_REQUIRE(arcs[i].to == arcs[(i + 1) % count].from && !used[from]);
        used[from] = true;
        writes_nothing[i] = problem->txns.at[from].first_write == problem->txns.at[from + 1].first_write;
    }
    RIG_REQUIRE(rig_rule_forbids(rule, arcs, count, writes_nothing));
    free(writes_nothing);
    free(used);
}
