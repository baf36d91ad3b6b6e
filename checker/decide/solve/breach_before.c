#include "checker/decide/solve/breach_before.h"

#include <string.h>

#include "base/bug.h"
#include "base/table.h"

struct looking {
    const struct rig_problem *problem;
    const struct rig_ordered *ordered;
    struct rig_breach_sink *sink;
    bool ok;
};

static bool is_over(const struct looking *l, uint32_t node)
{
    const struct rig_problem_txn *txn = &l->problem->txns.at[node];
    const uint32_t ops = txn[1].first_read - txn[0].first_read + txn[1].first_write - txn[0].first_write;
    return !l->ok || rig_breach_sink_is_full(l->sink) || rig_deadline_is_over(l->ordered->deadline, 1 + ops);
}

static uint32_t place_of(const struct looking *l, uint32_t write)
{
    return l->ordered->place[l->problem->write_txn[write]];
}

/* The later one of two writes of a key, each of which may be NONE. */
static uint32_t later_of(const struct looking *l, uint32_t one, uint32_t other)
{
    return one == RIG_PROBLEM_NONE                                              ? other
           : other == RIG_PROBLEM_NONE || place_of(l, one) > place_of(l, other) ? one
                                                                                : other;
}

/* `write`: the latest version that the reader must not miss, or NONE. */
static void compare(struct looking *l, uint32_t read, uint32_t write, enum rig_edge_kind kind)
{
    const uint32_t reader = l->problem->read_txn[read], version = l->ordered->version[read];
    if (write == RIG_PROBLEM_NONE || l->problem->write_txn[write] == reader ||
        (version < l->problem->writes.count && place_of(l, version) >= place_of(l, write)))
        return;
    l->ok = l->ok && rig_breach_sink_take_two(l->sink, rig_ordered_rw(l->problem, read, write),
                                              rig_ordered_arc(l->problem->write_txn[write], reader, kind));
}

/* ---- processes ---- */

/* The nodes before one another in a process are a tree: mostly a chain of acknowledged transactions, with others that
 * follow one of them. A node that does not follow the end of its chain starts one of its own. */
struct processes {
    uint32_t *chain;         /* per node: a number for its chain */
    uint32_t *last;          /* per chain: the last node of it with its writes in `latest`, or NONE */
    struct rig_table latest; /* chain and key: the latest version of the key by those up to `last` */
};

static bool add_writes(const struct looking *l, struct processes *p, uint32_t chain, uint32_t node)
{
    const struct rig_problem_txn *txn = &l->problem->txns.at[node];
    for (uint32_t w = txn[0].first_write; w < txn[1].first_write; w++) {
        uint32_t *slot = rig_table_put(&p->latest, (uint64_t)chain << 32 | l->problem->writes.at[w].key);
        if (slot == NULL)
            return false;
        *slot = later_of(l, *slot == RIG_TABLE_NONE ? RIG_PROBLEM_NONE : *slot, w);
    }
    return true;
}

/* Moves to the chain that ends with the node before this one: adds that one to its chain, or all to a new chain. */
static void follow_chain(struct looking *l, struct processes *p, uint32_t node)
{
    const struct rig_problem_txn *txns = l->problem->txns.at;
    const uint32_t before = txns[node].before, last = p->last[p->chain[before]];
    p->chain[node] = p->chain[before];
    if (last == before)
        return;
    const bool is_next = txns[before].before == last;
    p->chain[node] = is_next ? p->chain[before] : node;
    for (uint32_t earlier = before; l->ok && earlier != RIG_PROBLEM_NONE && !is_over(l, earlier);
         earlier = is_next ? RIG_PROBLEM_NONE : txns[earlier].before)
        l->ok = add_writes(l, p, p->chain[node], earlier);
    p->last[p->chain[node]] = before;
}

static void compare_process(struct looking *l, struct processes *p, uint32_t node)
{
    const struct rig_problem_txn *txn = &l->problem->txns.at[node];
    RIG_INVARIANT(txn->before == RIG_PROBLEM_NONE || txn->before < node);
    p->chain[node] = node;
    if (txn->before == RIG_PROBLEM_NONE)
        return;
    follow_chain(l, p, node);
    for (uint32_t r = txn[0].first_read; l->ok && r < txn[1].first_read; r++) {
        const uint32_t write = rig_table_get(&p->latest, (uint64_t)p->chain[node] << 32 | l->problem->reads.at[r].key);
        compare(l, r, write == RIG_TABLE_NONE ? RIG_PROBLEM_NONE : write, RIG_EDGE_PROCESS);
    }
}

static void compare_processes(struct looking *l, struct rig_arena *arena)
{
    const size_t nodes = (size_t)l->problem->txn_count + 1;
    struct processes p = {.chain = rig_arena_room(arena, nodes, sizeof(uint32_t)),
                          .last = rig_arena_room(arena, nodes, sizeof(uint32_t))};
    rig_table_init(&p.latest);
    l->ok = p.chain != NULL && p.last != NULL;
    if (l->ok)
        memset(p.last, 0xff, nodes * sizeof p.last[0]);
    for (uint32_t node = 0; l->ok && node < l->problem->txn_count && !is_over(l, node); node++)
        compare_process(l, &p, node);
    rig_table_done(&p.latest);
}

/* ---- real time ---- */

/* The nodes in the order of their ends, as lists: one for each index into `invoked` that comes next. */
static bool list_ends(const struct looking *l, uint32_t *first, uint32_t *next)
{
    const uint32_t count = l->problem->txn_count;
    if (first == NULL || next == NULL)
        return false;
    memset(first, 0xff, ((size_t)count + 1) * sizeof first[0]);
    for (uint32_t node = 0; node < count; node++) {
        RIG_REQUIRE(l->ordered->after[node] <= count);
        next[node] = first[l->ordered->after[node]];
        first[l->ordered->after[node]] = node;
    }
    return true;
}

static void compare_times(struct looking *l, struct rig_arena *arena)
{
    const uint32_t count = l->problem->txn_count;
    uint32_t *first = rig_arena_room(arena, (size_t)count + 1, sizeof first[0]);
    uint32_t *next = rig_arena_room(arena, (size_t)count + 1, sizeof next[0]);
    uint32_t *latest =
        rig_arena_room(arena, (size_t)l->problem->key_count + 1, sizeof latest[0]); /* of those that ended */
    l->ok = latest != NULL && list_ends(l, first, next);
    if (l->ok)
        memset(latest, 0xff, ((size_t)l->problem->key_count + 1) * sizeof latest[0]);
    for (uint32_t i = 0; l->ok && i < count && !is_over(l, l->ordered->invoked[i]); i++) {
        for (uint32_t node = first[i]; node != RIG_PROBLEM_NONE; node = next[node]) {
            const struct rig_problem_txn *txn = &l->problem->txns.at[node];
            for (uint32_t w = txn[0].first_write; w < txn[1].first_write; w++) {
                const uint32_t key = l->problem->writes.at[w].key;
                latest[key] = later_of(l, latest[key], w);
            }
        }
        const struct rig_problem_txn *txn = &l->problem->txns.at[l->ordered->invoked[i]];
        for (uint32_t r = txn[0].first_read; r < txn[1].first_read; r++)
            compare(l, r, latest[l->problem->reads.at[r].key], RIG_EDGE_REALTIME);
    }
}

bool rig_breach_find_before(const struct rig_ordered *ordered, struct rig_breach_sink *sink, struct rig_arena *arena)
{
    RIG_REQUIRE(sink->rule->along != RIG_ALONG_PLAIN || (ordered->child == NULL && ordered->after == NULL));
    struct looking l = {.problem = ordered->problem, .ordered = ordered, .sink = sink, .ok = true};
    if (ordered->child != NULL)
        compare_processes(&l, arena);
    if (l.ok && ordered->after != NULL)
        compare_times(&l, arena);
    return l.ok;
}
