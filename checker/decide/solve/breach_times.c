#include "checker/decide/solve/breach_times.h"

#include <string.h>

#include "base/bug.h"

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

bool rig_times_find(const struct rig_ordered *ordered, struct rig_moves moves, const uint8_t *mute,
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
