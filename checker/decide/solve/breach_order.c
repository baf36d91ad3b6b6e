#include "checker/decide/solve/breach_order.h"

#include <string.h>

#include "base/bug.h"
#include "base/halve.h"

static uint32_t *numbers(struct rig_arena *arena, size_t count)
{
    return rig_arena_room(arena, count + 1, sizeof(uint32_t));
}

static bool find_nodes(struct rig_ordered *ordered, struct rig_arena *arena)
{
    const uint32_t count = ordered->problem->txn_count;
    uint32_t *at = numbers(arena, count);
    if (at == NULL)
        return false;
    memset(at, 0xff, ((size_t)count + 1) * sizeof at[0]);
    for (uint32_t node = 0; node < count; node++) {
        RIG_REQUIRE(ordered->place[node] < count && at[ordered->place[node]] == RIG_PROBLEM_NONE);
        at[ordered->place[node]] = node;
    }
    ordered->at = at;
    return true;
}

static bool link_versions(struct rig_ordered *ordered, struct rig_arena *arena)
{
    const struct rig_problem *problem = ordered->problem;
    const size_t writes = problem->writes.count, versions = writes + problem->key_count;
    uint32_t *next = numbers(arena, versions), *prev = numbers(arena, writes),
             *last = numbers(arena, problem->key_count);
    if (next == NULL || prev == NULL || last == NULL)
        return false;
    memset(next, 0xff, versions * sizeof next[0]);
    for (uint32_t key = 0; key < problem->key_count; key++)
        last[key] = (uint32_t)writes + key;
    for (uint32_t place = 0; place < problem->txn_count; place++) {
        const uint32_t node = ordered->at[place];
        for (uint32_t w = problem->txns.at[node].first_write; w < problem->txns.at[node + 1].first_write; w++) {
            uint32_t *before = &last[problem->writes.at[w].key];
            prev[w] = *before;
            next[*before] = w;
            *before = w;
        }
    }
    ordered->next = next;
    ordered->prev = prev;
    return true;
}

static bool name_versions_read(struct rig_ordered *ordered, struct rig_arena *arena)
{
    const struct rig_problem *problem = ordered->problem;
    uint32_t *version = numbers(arena, problem->reads.count);
    if (version == NULL)
        return false;
    for (uint32_t v = 0; v < problem->writes.count + problem->key_count; v++) {
        for (uint32_t r = problem->reader_first[v]; r < problem->reader_first[v + 1]; r++)
            version[problem->readers[r]] = v;
    }
    ordered->version = version;
    return true;
}

static bool link_processes(struct rig_ordered *ordered, struct rig_arena *arena)
{
    const struct rig_problem *problem = ordered->problem;
    uint32_t *child = numbers(arena, problem->txn_count), *sibling = numbers(arena, problem->txn_count),
             *lead = numbers(arena, problem->txn_count);
    if (child == NULL || sibling == NULL || lead == NULL)
        return false;
    memset(child, 0xff, problem->txn_count * sizeof child[0]);
    for (uint32_t node = problem->txn_count; node-- > 0;) {
        const uint32_t before = problem->txns.at[node].before;
        sibling[node] = RIG_PROBLEM_NONE;
        lead[node] = before;
        if (before == RIG_PROBLEM_NONE)
            continue;
        RIG_INVARIANT(before < node);
        sibling[node] = child[before];
        child[before] = node;
    }
    ordered->child = child;
    ordered->sibling = sibling;
    ordered->lead = lead;
    return true;
}

struct moment {
    uint32_t position, node;
};

static int compare_moments(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static uint32_t first_after(const struct moment *moments, uint32_t count, uint32_t position)
{
    uint32_t low = 0;
    for (uint32_t high = count; low < high;)
        rig_halve(&low, &high, moments[rig_middle(low, high)].position <= position);
    return low;
}

static bool order_in_time(struct rig_ordered *ordered, struct rig_arena *arena)
{
    const struct rig_problem *problem = ordered->problem;
    const uint32_t count = problem->txn_count;
    struct moment *moments = rig_arena_room(arena, (size_t)count + 1, sizeof moments[0]);
    uint32_t *invoked = numbers(arena, count), *after = numbers(arena, count), *latest = numbers(arena, count);
    if (moments == NULL || invoked == NULL || after == NULL || latest == NULL)
        return false;
    for (uint32_t node = 0; node < count; node++)
        moments[node] = (struct moment){problem->txns.at[node].invoked, node};
    if (count > 0)
        qsort(moments, count, sizeof moments[0], compare_moments);
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_problem_txn *txn = &problem->txns.at[i];
        RIG_REQUIRE(txn->ended >= txn->invoked);
        invoked[i] = moments[i].node;
        after[i] = first_after(moments, count, txn->ended);
        latest[ordered->place[moments[i].node]] = i + 1;
    }
    for (uint32_t place = 1; place < count; place++)
        latest[place] = latest[place] > latest[place - 1] ? latest[place] : latest[place - 1];
    ordered->invoked = invoked;
    ordered->after = after;
    ordered->latest = latest;
    return true;
}

bool rig_ordered_init(struct rig_ordered *ordered, const struct rig_problem *problem, enum rig_along along,
                      const uint32_t *place, struct rig_deadline *deadline, struct rig_arena *arena)
{
    *ordered = (struct rig_ordered){.problem = problem, .deadline = deadline, .place = place};
    return find_nodes(ordered, arena) && link_versions(ordered, arena) && name_versions_read(ordered, arena) &&
           (along == RIG_ALONG_PLAIN || link_processes(ordered, arena)) &&
           (along != RIG_ALONG_REALTIME || !problem->has_realtime || order_in_time(ordered, arena));
}

struct rig_arc rig_ordered_ww(const struct rig_problem *problem, uint32_t earlier_write, uint32_t later_write)
{
    RIG_REQUIRE(problem->writes.at[earlier_write].key == problem->writes.at[later_write].key);
    const struct rig_problem_write *write = &problem->writes.at[later_write];
    const uint32_t from = problem->write_txn[earlier_write];
    return (struct rig_arc){.from = from,
                            .to = problem->write_txn[later_write],
                            .kind = RIG_EDGE_WW,
                            .key = write->key,
                            .writer = from,
                            .from_op = RIG_ARC_NONE,
                            .to_op = write->first_op};
}

struct rig_arc rig_ordered_wr(const struct rig_problem *problem, uint32_t read)
{
    const struct rig_problem_read *r = &problem->reads.at[read];
    RIG_REQUIRE(r->writer != RIG_PROBLEM_INITIAL);
    return (struct rig_arc){.from = r->writer,
                            .to = problem->read_txn[read],
                            .kind = RIG_EDGE_WR,
                            .key = r->key,
                            .writer = r->writer,
                            .from_op = RIG_ARC_NONE,
                            .to_op = r->op};
}

struct rig_arc rig_ordered_rw(const struct rig_problem *problem, uint32_t read, uint32_t later_write)
{
    RIG_REQUIRE(problem->reads.at[read].key == problem->writes.at[later_write].key);
    const struct rig_problem_read *r = &problem->reads.at[read];
    return (struct rig_arc){.from = problem->read_txn[read],
                            .to = problem->write_txn[later_write],
                            .kind = RIG_EDGE_RW,
                            .key = r->key,
                            .writer = r->writer,
                            .from_op = r->op,
                            .to_op = RIG_ARC_NONE};
}

struct rig_arc rig_ordered_arc(uint32_t from, uint32_t to, enum rig_edge_kind kind)
{
    return (struct rig_arc){.from = from,
                            .to = to,
                            .kind = kind,
                            .key = RIG_ARC_NONE,
                            .writer = RIG_ARC_NONE,
                            .from_op = RIG_ARC_NONE,
                            .to_op = RIG_ARC_NONE};
}

bool rig_breach_sink_init(struct rig_breach_sink *sink, const struct rig_problem *problem, const struct rig_rule *rule,
                          uint32_t most, struct rig_breaches *found, struct rig_arena *arena)
{
    RIG_REQUIRE(most > 0);
    *sink = (struct rig_breach_sink){.problem = problem, .rule = rule, .found = found, .most = most};
    rig_table_init(&sink->known);
    sink->where = rig_arena_array(arena, (size_t)problem->txn_count + 1, sizeof(uint32_t));
    return sink->where != NULL;
}

void rig_breach_sink_done(struct rig_breach_sink *sink)
{
    rig_table_done(&sink->known);
    rig_arcs_done(&sink->walk);
    free(sink->writes_nothing);
}

static bool make_room(struct rig_breach_sink *sink)
{
    const size_t wanted = sink->walk.count;
    if (wanted <= sink->room)
        return true;
    bool *room = realloc(sink->writes_nothing, 2 * wanted * sizeof room[0]);
    if (room == NULL)
        return false;
    sink->writes_nothing = room;
    sink->room = 2 * wanted;
    return true;
}

static bool forbids(struct rig_breach_sink *sink, const struct rig_arc *arcs, size_t count)
{
    const bool asks = sink->rule->form == RIG_RULE_UPDATES;
    for (size_t i = 0; i < count && asks; i++)
        sink->writes_nothing[i] = rig_problem_writes_nothing(sink->problem, arcs[i].from);
    return rig_rule_forbids(sink->rule, arcs, (uint32_t)count, asks ? sink->writes_nothing : NULL);
}

/* Goes along the walk and keeps a path of distinct transactions. At one that is on the path already, what lies between
 * is a closed walk: it is the cycle if the rule forbids it; else the walk goes on without it. */
static void simplify(struct rig_breach_sink *sink)
{
    struct rig_arc *arcs = sink->walk.at;
    size_t first = 0, kept = 0;
    for (size_t i = 0; i < sink->walk.count; i++) {
        const uint32_t place = sink->where[arcs[i].from];
        if (place != 0 && forbids(sink, arcs + place - 1, kept - (place - 1))) {
            first = place - 1;
            break;
        }
        while (place != 0 && kept > place - 1)
            sink->where[arcs[--kept].from] = 0;
        arcs[kept] = arcs[i];
        kept++;
        sink->where[arcs[kept - 1].from] = (uint32_t)kept;
    }
    for (size_t i = 0; i < kept; i++)
        sink->where[arcs[i].from] = 0;
    RIG_INVARIANT(first < kept);
    memmove(arcs, arcs + first, (kept - first) * sizeof arcs[0]);
    sink->walk.count = kept - first;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A number of the set of transactions; those of different sets are seldom equal, which loses a cycle, never the
 * first. */
static uint64_t hash_of(const struct rig_arcs *walk)
{
    uint64_t sum = walk->count;
    for (size_t i = 0; i < walk->count; i++)
        sum += mix(walk->at[i].from + UINT64_C(0x9e3779b97f4a7c15));
    return mix(sum);
}

static bool keep(struct rig_breach_sink *sink, bool *kept)
{
    uint32_t *known = rig_table_put(&sink->known, hash_of(&sink->walk));
    if (known == NULL)
        return false;
    *kept = *known == RIG_TABLE_NONE;
    *known = 0;
    if (!*kept)
        return true;
    for (size_t i = 0; i < sink->walk.count; i++) {
        RIG_INVARIANT(sink->walk.at[i].to == sink->walk.at[(i + 1) % sink->walk.count].from);
        if (!rig_arcs_add(&sink->found->arcs, sink->walk.at[i]))
            return false;
    }
    sink->count++;
    return rig_arc_ends_add(&sink->found->ends, (uint32_t)sink->found->arcs.count);
}

bool rig_breach_sink_take(struct rig_breach_sink *sink, bool *kept)
{
    bool is_new = false, ok = true;
    if (sink->walk.count > 0) {
        if (!make_room(sink))
            return false;
        simplify(sink);
        RIG_INVARIANT(forbids(sink, sink->walk.at, sink->walk.count));
        ok = rig_breach_sink_is_full(sink) || keep(sink, &is_new);
        sink->walk.count = 0;
    }
    if (kept != NULL)
        *kept = is_new;
    return ok;
}

bool rig_breach_sink_take_two(struct rig_breach_sink *sink, struct rig_arc first, struct rig_arc second)
{
    RIG_REQUIRE(first.to == second.from && second.to == first.from);
    return rig_arcs_add(&sink->walk, first) && rig_arcs_add(&sink->walk, second) && rig_breach_sink_take(sink, NULL);
}
