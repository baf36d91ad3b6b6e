#include "checker/decide/cycle/read_skew.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/decide/cycle/search.h"

enum { LANES = 8 };

/* Does `reader` descend, over ww and wr, from the version of `key` at `position`, which `writer` wrote? */
struct question {
    uint32_t key, position;
    uint32_t reader_rank;
    struct rig_skew skew;
};

/* All questions about one key, and the stretch of the order that they span. */
struct key_questions {
    size_t begin, end;
    uint32_t from_rank, to_rank;
};

/* From this place on, nodes may descend from a version of a key in the batch. */
struct event {
    uint32_t rank, lane, level;
};

RIG_VEC(struct question, questions)
RIG_VEC(struct key_questions, key_list)
RIG_VEC(struct event, events)
RIG_VEC(uint32_t, node_list)

/* Some observed append of a node's transaction: that version has the same descendants over ww and wr. */
struct observed {
    uint32_t node; /* RIG_NODE_NONE: not known yet */
    uint32_t key, position;
    bool any;
};

struct skew {
    const struct rig_versions *versions;
    const struct rig_components *all, *flow;
    uint32_t *rank;         /* per node: its place among the nodes in components, in flow order; or RIG_NODE_NONE */
    struct node_list nodes; /* rank -> node */
    struct questions questions;
    struct key_list keys;
    struct events events;
    struct rig_seeds seeds;   /* of ask_about() */
    struct observed observed; /* of the last writer that a question named */
    uint32_t (*levels)[LANES];
    size_t level_capacity;
    struct rig_skews *out;
    size_t most;
};

static bool rank_nodes(struct skew *s)
{
    uint32_t node_count = s->all->view.graph->node_count;
    s->rank = malloc(((size_t)node_count + 1) * sizeof *s->rank);
    if (s->rank == NULL)
        return false;
    memset(s->rank, 0xff, ((size_t)node_count + 1) * sizeof *s->rank);
    for (uint32_t i = 0; i < node_count; i++) {
        uint32_t node = s->flow->order[i];
        if (s->all->component_of[node] == UINT32_MAX)
            continue;
        s->rank[node] = (uint32_t)s->nodes.count;
        if (!node_list_add(&s->nodes, node))
            return false;
    }
    return true;
}

static struct observed find_observed(const struct skew *s, uint32_t node)
{
    const struct rig_history *history = s->versions->history;
    const uint32_t txn = rig_graph_txn(s->all->view.graph, node);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (rig_op_reads(ops[i].kind) || s->versions->keys[ops[i].key].contested)
            continue; /* the writers of a contested key form no chain */
        const struct rig_append *slot = rig_versions_append(s->versions, ops[i].key, ops[i].value);
        if (rig_append_is_placed(slot))
            return (struct observed){.node = node, .key = ops[i].key, .position = slot->position, .any = true};
    }
    return (struct observed){.node = node};
}

/* Looked up once for each writer, on demand. */
static const struct observed *observed(struct skew *s, uint32_t node)
{
    if (s->observed.node != node)
        s->observed = find_observed(s, node);
    return &s->observed;
}

static bool ask(struct skew *s, uint32_t reader, uint32_t writer)
{
    bool same_flow =
        s->flow->component_of[reader] != UINT32_MAX && s->flow->component_of[reader] == s->flow->component_of[writer];
    if (same_flow) /* they reach each other */
        return s->out->count >= s->most || rig_skews_add(s->out, (struct rig_skew){reader, writer});
    if (s->rank[writer] > s->rank[reader])
        return true;
    if (s->versions == NULL)
        return s->out->count >= s->most || rig_skews_add(s->out, (struct rig_skew){reader, writer});
    const struct observed *version = observed(s, writer);
    return !version->any || questions_add(&s->questions, (struct question){.key = version->key,
                                                                           .position = version->position,
                                                                           .reader_rank = s->rank[reader],
                                                                           .skew = {reader, writer}});
}

/* Asks one question for every rw edge into the transaction, also through relays. */
static bool ask_about(struct skew *s, uint32_t writer)
{
    const bool chained = s->versions != NULL && s->flow->component_of[writer] == UINT32_MAX;
    if (chained && !observed(s, writer)->any)
        return true; /* nothing descends from it */
    s->seeds.count = 0;
    bool done = rig_seeds_into(s->all, s->all->component_of[writer], writer, RIG_EDGE_RW, SIZE_MAX, &s->seeds);
    for (size_t i = 0; done && i < s->seeds.count; i++)
        done = ask(s, s->seeds.at[i].from, writer);
    return done;
}

static int compare_questions(const void *left, const void *right)
{
    const struct question *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->reader_rank > b->reader_rank) - (a->reader_rank < b->reader_rank);
}

static int compare_keys(const void *left, const void *right)
{
    const struct key_questions *a = left, *b = right;
    if (a->from_rank != b->from_rank)
        return a->from_rank < b->from_rank ? -1 : 1;
    return (a->to_rank > b->to_rank) - (a->to_rank < b->to_rank);
}

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The first and the last rank of the flow component of `rank`; its members stand together, and all have ranks. */
static uint32_t group_begin(const struct skew *s, uint32_t rank)
{
    uint32_t component = s->flow->component_of[s->nodes.at[rank]];
    return component == UINT32_MAX ? rank : s->rank[s->flow->order[s->flow->list.at[component].begin]];
}

static uint32_t group_end(const struct skew *s, uint32_t rank)
{
    uint32_t component = s->flow->component_of[s->nodes.at[rank]];
    return component == UINT32_MAX ? rank + 1 : s->rank[s->flow->order[s->flow->list.at[component].end - 1]] + 1;
}

static bool group_questions(struct skew *s)
{
    struct questions *all = &s->questions;
    if (all->count > 0)
        qsort(all->at, all->count, sizeof *all->at, compare_questions);
    for (size_t begin = 0, end; begin < all->count; begin = end) {
        struct key_questions group = {.begin = begin, .from_rank = UINT32_MAX};
        for (end = begin; end < all->count && all->at[end].key == all->at[begin].key; end++) {
            uint32_t from = s->rank[all->at[end].skew.writer];
            if (from < group.from_rank)
                group.from_rank = from;
            if (all->at[end].reader_rank > group.to_rank)
                group.to_rank = all->at[end].reader_rank;
        }
        group.end = end;
        group.from_rank = group_begin(s, group.from_rank);
        group.to_rank = group_end(s, group.to_rank);
        RIG_INVARIANT(group.from_rank < group.to_rank && group.to_rank <= s->nodes.count);
        if (!key_list_add(&s->keys, group))
            return false;
    }
    if (s->keys.count > 0)
        qsort(s->keys.at, s->keys.count, sizeof *s->keys.at, compare_keys);
    return true;
}

static bool collect_events(struct skew *s, uint32_t key, uint32_t lane, uint32_t from_rank, uint32_t to_rank)
{
    const struct rig_key_versions *k = &s->versions->keys[key];
    for (uint32_t position = 0; position < k->order.count; position++) {
        uint32_t writer = rig_versions_writer(s->versions, key, position);
        uint32_t node = writer == RIG_TXN_NONE ? RIG_NODE_NONE : rig_graph_node(s->all->view.graph, writer);
        if (node == RIG_NODE_NONE || s->rank[node] == RIG_NODE_NONE)
            continue;
        uint32_t rank = s->rank[node];
        if (rank >= from_rank && rank < to_rank &&
            !events_add(&s->events, (struct event){.rank = rank, .lane = lane, .level = position + 1}))
            return false;
    }
    return true;
}

static void raise_to(uint32_t level[LANES], const uint32_t other[LANES])
{
    for (unsigned lane = 0; lane < LANES; lane++)
        level[lane] = level[lane] > other[lane] ? level[lane] : other[lane];
}

/* The latest versions among the ancestors of each node in [from, to), their own included. */
static void spread_levels(struct skew *s, uint32_t from, uint32_t to)
{
    size_t event = 0;
    for (uint32_t begin = from, end; begin < to; begin = end) {
        end = group_end(s, begin);
        RIG_INVARIANT(group_begin(s, begin) == begin && begin < end && end <= to);
        uint32_t level[LANES] = {0};
        for (uint32_t rank = begin; rank < end; rank++) {
            struct rig_cursor cursor = {0};
            for (uint32_t node; (node = rig_view_next(&s->flow->view, s->nodes.at[rank], &cursor)) != RIG_NODE_NONE;) {
                if (s->rank[node] != RIG_NODE_NONE && s->rank[node] >= from && s->rank[node] < begin)
                    raise_to(level, s->levels[s->rank[node] - from]);
            }
            for (; event < s->events.count && s->events.at[event].rank == rank; event++) {
                const struct event *e = &s->events.at[event];
                if (e->level > level[e->lane])
                    level[e->lane] = e->level;
            }
        }
        for (uint32_t rank = begin; rank < end; rank++)
            memcpy(s->levels[rank - from], level, sizeof level);
    }
    RIG_INVARIANT(event == s->events.count);
}

static bool answer_batch(struct skew *s, const struct key_questions *keys, unsigned key_count)
{
    uint32_t from = UINT32_MAX, to = 0;
    for (unsigned lane = 0; lane < key_count; lane++) {
        from = keys[lane].from_rank < from ? keys[lane].from_rank : from;
        to = keys[lane].to_rank > to ? keys[lane].to_rank : to;
    }
    if (to - from > s->level_capacity) {
        free(s->levels);
        s->level_capacity = to - from;
        s->levels = malloc(s->level_capacity * sizeof *s->levels);
        if (s->levels == NULL)
            return false;
    }
    s->events.count = 0;
    for (unsigned lane = 0; lane < key_count; lane++) {
        if (!collect_events(s, s->questions.at[keys[lane].begin].key, lane, from, to))
            return false;
    }
    if (s->events.count > 0)
        qsort(s->events.at, s->events.count, sizeof *s->events.at, compare_events);
    spread_levels(s, from, to);
    for (unsigned lane = 0; lane < key_count; lane++) {
        for (size_t i = keys[lane].begin; i < keys[lane].end && s->out->count < s->most; i++) {
            const struct question *question = &s->questions.at[i];
            RIG_INVARIANT(question->reader_rank >= from && question->reader_rank < to);
            bool descends = s->levels[question->reader_rank - from][lane] > question->position;
            if (descends && !rig_skews_add(s->out, question->skew))
                return false;
        }
    }
    return true;
}

static bool answer_all(struct skew *s)
{
    if (!rank_nodes(s))
        return false;
    for (uint32_t rank = 0; rank < s->nodes.count; rank++) {
        uint32_t node = s->nodes.at[rank];
        if (node < s->all->view.graph->txn_count && !ask_about(s, node))
            return false;
    }
    if (s->out->count >= s->most)
        return true;
    if (!group_questions(s))
        return false;
    for (size_t i = 0; i < s->keys.count && s->out->count < s->most; i += LANES) {
        size_t left = s->keys.count - i;
        if (!answer_batch(s, &s->keys.at[i], left < LANES ? (unsigned)left : LANES))
            return false;
    }
    return true;
}

enum rig_rc rig_read_skews(const struct rig_versions *versions, const struct rig_components *all,
                           const struct rig_components *flow, size_t most, struct rig_skews *skews, struct rig_err *err)
{
    RIG_REQUIRE(!all->view.split && !flow->view.split && !all->view.process && !flow->view.process);
    struct skew s = {
        .versions = versions, .all = all, .flow = flow, .out = skews, .most = most, .observed.node = RIG_NODE_NONE};
    bool done = answer_all(&s);
    free(s.rank);
    free(s.levels);
    node_list_done(&s.nodes);
    rig_seeds_done(&s.seeds);
    questions_done(&s.questions);
    key_list_done(&s.keys);
    events_done(&s.events);
    if (!done)
        return rig_memory_limit(err, "the search for read skew");
    return RIG_OK;
}
