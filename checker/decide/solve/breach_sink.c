#include "checker/decide/solve/breach_sink.h"

#include <string.h>

#include "base/bug.h"
#include "checker/decide/solve/breach_order.h"

bool rig_breach_sink_init(struct rig_breach_sink *sink, const struct rig_problem *problem, const struct rig_rule *rule,
                          uint32_t most, struct rig_breaches *found, struct rig_arena *arena)
{
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
    memmove(arcs, arcs + first, (kept - first) * sizeof arcs[0]);
    sink->walk.count = kept - first;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A number of the set of transactions; those of different sets are seldom equal, which loses a cycle, never the first. */
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
    return rig_arcs_add(&sink->walk, first) && rig_arcs_add(&sink->walk, second) && rig_breach_sink_take(sink, NULL);
}
