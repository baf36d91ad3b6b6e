#include "checker/decide/solve/case_search.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"

enum { LEAVES_MOST = 8, CALLS_A_CLOCK = 32 };

struct case_search {
    struct rig_case_graph *graph;
    struct rig_arena *arena;
    uint32_t *cycle;  /* scratch */
    uint8_t *scratch; /* of the search for few cycles: two rows of pairs for each number of cycles */
    int64_t deadline_ns;
    uint32_t calls;
    uint64_t turns;       /* second cases that this attempt may still begin */
    bool *after, *before; /* scratch, per node, as is */
    uint32_t *queue;      /*   this */
    uint64_t *weight;     /* per pair: what followed from its orders when they were last tried */
    uint8_t *model;       /* the first order of all pairs that makes no cycle, or NULL */
    bool given_up;        /* no turns are left */
    bool spent, no_memory;
};

static bool is_over(struct case_search *h)
{
    if (!h->spent && ++h->calls % CALLS_A_CLOCK == 0)
        h->spent = rig_clock_now_ns() > h->deadline_ns;
    h->spent |= h->graph->spent;
    return h->spent || h->no_memory || h->given_up || h->model != NULL;
}

static uint32_t pair_count(const struct case_search *h)
{
    return (uint32_t)h->graph->pairs.count;
}

static enum rig_case_value reverse(enum rig_case_value value)
{
    RIG_REQUIRE(value != RIG_CASE_OPEN);
    return value == RIG_CASE_FORWARD ? RIG_CASE_BACKWARD : RIG_CASE_FORWARD;
}

static void put(struct case_search *h, uint32_t pair, enum rig_case_value value)
{
    RIG_REQUIRE(pair < pair_count(h));
    h->graph->value[pair] = (uint8_t)value;
}

/* The length of the cycle that this order gives at once, or 0. */
static uint32_t refuted_by(struct case_search *h, uint32_t pair, enum rig_case_value value)
{
    RIG_REQUIRE(h->graph->value[pair] == RIG_CASE_OPEN);
    if (is_over(h))
        return 0;
    put(h, pair, value);
    const uint32_t length = rig_case_graph_cycle(h->graph, pair, NULL);
    put(h, pair, RIG_CASE_OPEN);
    return length;
}

/* ---- trees ---- */

static struct rig_case_node *new_node(struct case_search *h)
{
    struct rig_case_node *node = rig_arena_alloc(h->arena, sizeof *node);
    h->no_memory |= node == NULL;
    return node;
}

/* The shortest cycle through `pair` as it is put, which exists. NULL when memory or the time runs out. */
static struct rig_case_node *new_leaf(struct case_search *h, uint32_t pair)
{
    const uint32_t length = rig_case_graph_cycle(h->graph, pair, h->cycle);
    struct rig_case_node *leaf = length < 2 ? NULL : new_node(h);
    RIG_INVARIANT(length >= 2 || h->graph->spent);
    h->spent |= h->graph->spent;
    if (leaf == NULL)
        return NULL;
    leaf->length = length;
    leaf->cycle = rig_arena_array(h->arena, length, sizeof leaf->cycle[0]);
    h->no_memory |= leaf->cycle == NULL;
    if (leaf->cycle == NULL)
        return NULL;
    memcpy(leaf->cycle, h->cycle, length * sizeof leaf->cycle[0]);
    return leaf;
}

static struct rig_case_node *leaf_of(struct case_search *h, uint32_t pair, enum rig_case_value value)
{
    RIG_REQUIRE(h->graph->value[pair] == RIG_CASE_OPEN);
    put(h, pair, value);
    struct rig_case_node *leaf = new_leaf(h, pair);
    put(h, pair, RIG_CASE_OPEN);
    return leaf;
}

/* Either case may come first: that in which fewer cases nest does, so that a tree nests at most the logarithm of its
 * leaves. */
static struct rig_case_node *split(struct case_search *h, uint32_t pair, enum rig_case_value supposed,
                                   struct rig_case_node *first, struct rig_case_node *second)
{
    struct rig_case_node *node = first == NULL || second == NULL ? NULL : new_node(h);
    if (node == NULL)
        return NULL;
    const bool turned = first->nested > second->nested;
    node->first = turned ? second : first;
    node->second = turned ? first : second;
    node->pair = pair;
    node->supposed = turned ? reverse(supposed) : supposed;
    node->nested = node->first->nested + 1 > node->second->nested ? node->first->nested + 1 : node->second->nested;
    RIG_INVARIANT(node->nested <= RIG_CASE_NESTED_MOST);
    return node;
}

static struct rig_case_node *split_at_once(struct case_search *h, uint32_t pair)
{
    struct rig_case_node *first = leaf_of(h, pair, RIG_CASE_FORWARD);
    return split(h, pair, RIG_CASE_FORWARD, first, leaf_of(h, pair, RIG_CASE_BACKWARD));
}

uint32_t rig_case_leaves(const struct rig_case_node *node)
{
    RIG_INVARIANT(node->nested <= RIG_CASE_NESTED_MOST);
    uint32_t leaves = 1;
    for (; node->first != NULL; node = node->second)
        leaves += rig_case_leaves(node->first);
    return leaves;
}

/* ---- what a proof does not use ---- */

static void mark(uint8_t *used, uint32_t pair, enum rig_case_value value)
{
    RIG_REQUIRE(value != RIG_CASE_OPEN);
    used[pair] |= (uint8_t)(1u << value);
}

static bool is_used(const uint8_t *used, uint32_t pair, enum rig_case_value value)
{
    return (used[pair] >> value & 1) != 0;
}

/* Adds what the cycle of a leaf rests on. */
static void mark_leaf(const struct case_search *h, const struct rig_case_node *leaf, uint8_t *used)
{
    RIG_REQUIRE(leaf->first == NULL && leaf->length >= 2);
    for (uint32_t i = 0; i < leaf->length; i++) {
        const struct rig_case_arc *arc = &h->graph->arcs.at[leaf->cycle[i]];
        if (arc->pair != RIG_CASE_NONE)
            mark(used, arc->pair, arc->value);
    }
}

static bool leaf_uses(const struct case_search *h, const struct rig_case_node *leaf, uint32_t pair,
                      enum rig_case_value value)
{
    for (uint32_t i = 0; i < leaf->length; i++) {
        const struct rig_case_arc *arc = &h->graph->arcs.at[leaf->cycle[i]];
        if (arc->pair == pair && arc->value == value)
            return true;
    }
    return false;
}

/* A split on the way down the second cases, and what its first case uses (NULL: see its cycle). */
struct turn {
    struct rig_case_node *node;
    uint8_t *used;
};

static void mark_turn(const struct case_search *h, const struct turn *turn, uint8_t *used)
{
    if (turn->used == NULL) {
        mark_leaf(h, turn->node->first, used);
        return;
    }
    for (uint32_t pair = 0; pair < pair_count(h); pair++)
        used[pair] |= turn->used[pair];
}

static struct rig_case_node *prune(struct case_search *h, struct rig_case_node *node, uint8_t *used);

/* Prunes the first case of the turn; whether it rests on what it supposes. */
static bool prune_first(struct case_search *h, struct turn *turn)
{
    struct rig_case_node *node = turn->node;
    if (node->first->first == NULL)
        return leaf_uses(h, node->first, node->pair, node->supposed);
    turn->used = rig_arena_alloc(h->arena, pair_count(h));
    h->no_memory |= turn->used == NULL;
    if (h->no_memory)
        return true;
    node->first = prune(h, node->first, turn->used);
    return is_used(turn->used, node->pair, node->supposed);
}

/*
 * The tree without suppositions that its cycles do not rest on. `used`, per pair, gets the bits of the orders that it
 * rests on. Depth: that of first cases in each other, at most RIG_CASE_NESTED_MOST.
 */
static struct rig_case_node *prune(struct case_search *h, struct rig_case_node *node, uint8_t *used)
{
    RIG_INVARIANT(node->nested <= RIG_CASE_NESTED_MOST);
    struct rig_case_node *end = node;
    size_t count = 0;
    for (; end->first != NULL; end = end->second)
        count++;
    struct turn *turns = rig_arena_array(h->arena, count + 1, sizeof turns[0]);
    h->no_memory |= turns == NULL;
    bool ends = false;
    for (count = 0; !h->no_memory && !ends && node->first != NULL; node = node->second) {
        turns[count] = (struct turn){.node = node};
        ends = !prune_first(h, &turns[count]);
        if (!ends)
            count++;
    }
    if (h->no_memory)
        return node;
    struct rig_case_node *pruned = ends ? turns[count].node->first : end;
    if (ends)
        mark_turn(h, &turns[count], used);
    else
        mark_leaf(h, end, used);
    while (count-- > 0) {
        struct rig_case_node *split = turns[count].node;
        if (!is_used(used, split->pair, reverse(split->supposed)))
            continue;
        mark_turn(h, &turns[count], used);
        used[split->pair] = 0;
        split->second = pruned;
        pruned = split;
    }
    return pruned;
}

/* ---- by propagation ---- */

struct conclusion {
    uint32_t pair;
    enum rig_case_value refuted;
    struct rig_case_node *first; /* NULL: it gives a cycle at once */
};

RIG_VEC(struct conclusion, conclusions)

static void conclude(struct case_search *h, struct conclusions *made, struct conclusion conclusion)
{
    RIG_REQUIRE(h->graph->value[conclusion.pair] == RIG_CASE_OPEN);
    if (!conclusions_add(made, conclusion))
        h->no_memory = true;
    else
        put(h, conclusion.pair, reverse(conclusion.refuted));
}

/* Takes the conclusions back, the last one first, and adds them to the tree of what followed (NULL: nothing did). */
static struct rig_case_node *take_back(struct case_search *h, struct conclusions *made, struct rig_case_node *tree)
{
    for (size_t i = made->count; i-- > 0;) {
        const struct conclusion *c = &made->at[i];
        RIG_INVARIANT(h->graph->value[c->pair] == reverse(c->refuted));
        put(h, c->pair, RIG_CASE_OPEN);
        if (tree != NULL)
            tree = split(h, c->pair, c->refuted, c->first != NULL ? c->first : leaf_of(h, c->pair, c->refuted), tree);
    }
    conclusions_done(made);
    return tree;
}

/* Concludes from an order of the pair that gives a cycle. Gives the tree where both do. A pair is only put in an order
 * that gives none with all that is put by then. */
static struct rig_case_node *test_pair(struct case_search *h, uint32_t pair, struct conclusions *made)
{
    const bool forward = refuted_by(h, pair, RIG_CASE_FORWARD) > 0;
    const bool backward = refuted_by(h, pair, RIG_CASE_BACKWARD) > 0;
    if (forward && backward)
        return split_at_once(h, pair);
    if (forward || backward)
        conclude(h, made, (struct conclusion){pair, forward ? RIG_CASE_FORWARD : RIG_CASE_BACKWARD, NULL});
    return NULL;
}

/* Tests the open pairs with arcs that may lie on a cycle through those of `pair`, which has just been put. */
static struct rig_case_node *test_near(struct case_search *h, uint32_t pair, struct conclusions *made)
{
    const struct rig_case_graph *graph = h->graph;
    struct rig_case_node *tree = NULL;
    rig_case_graph_near(graph, pair, h->after, h->before, h->queue);
    for (uint32_t other = 0; tree == NULL && other < pair_count(h) && !is_over(h); other++) {
        bool near = false;
        for (uint32_t i = graph->first_rest[other];
             !near && graph->value[other] == RIG_CASE_OPEN && i < graph->first_rest[other + 1]; i++) {
            const struct rig_arc *arc = &graph->arcs.at[graph->rest[i]].arc;
            near = h->after[arc->from] && h->before[arc->to];
        }
        if (near)
            tree = test_pair(h, other, made);
    }
    return tree;
}

/* Puts each pair whose one order gives a cycle into the other, until none does. Gives the tree where both do. `fresh`:
 * the pair that was put since nothing followed any more; NONE: all pairs are tested. */
static struct rig_case_node *propagate(struct case_search *h, uint32_t fresh, struct conclusions *made)
{
    struct rig_case_node *tree = NULL;
    size_t next = made->count;
    for (uint32_t pair = 0; fresh == RIG_CASE_NONE && tree == NULL && pair < pair_count(h) && !is_over(h); pair++) {
        if (h->graph->value[pair] == RIG_CASE_OPEN)
            tree = test_pair(h, pair, made);
    }
    if (fresh != RIG_CASE_NONE)
        tree = test_near(h, fresh, made);
    for (; tree == NULL && next < made->count && !is_over(h); next++)
        tree = test_near(h, made->at[next].pair, made);
    return tree;
}

static struct rig_case_node *saturate(struct case_search *h, uint32_t fresh, struct conclusions *made, uint32_t depth);

/* The tree that refutes this order of the pair, or NULL; `followed`: how many pairs it puts. */
static struct rig_case_node *try_order(struct case_search *h, uint32_t pair, enum rig_case_value value, uint32_t depth,
                                       uint32_t *followed)
{
    RIG_REQUIRE(h->graph->value[pair] == RIG_CASE_OPEN);
    struct conclusions made = {0};
    put(h, pair, value);
    struct rig_case_node *tree = saturate(h, pair, &made, depth);
    *followed = (uint32_t)made.count;
    tree = take_back(h, &made, tree);
    put(h, pair, RIG_CASE_OPEN);
    return tree;
}

/* Tries both orders of each open pair, and concludes; gives the tree where something refutes what is put. */
static struct rig_case_node *try_pairs(struct case_search *h, struct conclusions *made, uint32_t depth)
{
    struct rig_case_node *tree = NULL;
    for (uint32_t pair = 0; tree == NULL && pair < pair_count(h) && !is_over(h); pair++) {
        uint32_t followed[2] = {0, 0};
        for (unsigned i = 0; tree == NULL && i < 2 && h->graph->value[pair] == RIG_CASE_OPEN && !is_over(h); i++) {
            const enum rig_case_value value = i == 0 ? RIG_CASE_FORWARD : RIG_CASE_BACKWARD;
            struct rig_case_node *first = try_order(h, pair, value, depth - 1, &followed[i]);
            if (first == NULL)
                continue;
            conclude(h, made, (struct conclusion){pair, value, first});
            tree = saturate(h, pair, made, depth - 1);
        }
        h->weight[pair] = (uint64_t)(followed[0] + 1) * (followed[1] + 1);
    }
    return tree;
}

/* The open pair from whose orders most follows, if they were tried, or that most edges rest on; or NONE. */
static uint32_t choose(const struct case_search *h, bool tried)
{
    uint32_t best = RIG_CASE_NONE;
    uint64_t most = 0;
    for (uint32_t pair = 0; pair < pair_count(h); pair++) {
        const uint32_t arcs = h->graph->first_rest[pair + 1] - h->graph->first_rest[pair];
        const uint64_t weight = tried ? h->weight[pair] : arcs;
        if (h->graph->value[pair] == RIG_CASE_OPEN && weight > most) {
            best = pair;
            most = weight;
        }
    }
    return best;
}

static void take_model(struct case_search *h)
{
    uint8_t *model = rig_arena_alloc(h->arena, pair_count(h) + 1);
    h->no_memory |= model == NULL;
    if (model != NULL)
        memcpy(model, h->graph->value, pair_count(h));
    h->model = model;
}

/*
 * Concludes what follows where cases nest at most `depth` deep (Sheeran and Stalmarck, "A Tutorial on Stalmarck's Proof
 * Procedure", FMSD 2000, section 3.2; without what both cases share). Gives the tree where both orders of a pair are
 * refuted. Depth of the recursion: that of the cases.
 */
static struct rig_case_node *saturate(struct case_search *h, uint32_t fresh, struct conclusions *made, uint32_t depth)
{
    struct rig_case_node *tree = depth == 0 ? propagate(h, fresh, made) : saturate(h, fresh, made, depth - 1);
    for (size_t before = SIZE_MAX; depth > 0 && tree == NULL && before != made->count && !is_over(h);) {
        before = made->count;
        tree = try_pairs(h, made, depth);
    }
    if (tree == NULL && !is_over(h) && choose(h, false) == RIG_CASE_NONE)
        take_model(h);
    return tree;
}

/* A case that is being proved. */
struct trial {
    struct conclusions made;
    uint32_t pair; /* split in it, or NONE */
    struct rig_case_node *first;
};

RIG_VEC(struct trial, trials)

/* Begins a case. Gives its tree; NULL where it is split, and its first case comes next, or where there is none. */
static struct rig_case_node *open_trial(struct case_search *h, struct trials *trials, uint32_t depth)
{
    struct trial trial = {.pair = RIG_CASE_NONE};
    const uint32_t fresh = trials->count == 0 ? RIG_CASE_NONE : trials->at[trials->count - 1].pair;
    struct rig_case_node *tree = saturate(h, fresh, &trial.made, depth);
    if (tree == NULL && !is_over(h)) {
        trial.pair = choose(h, depth > 0);
        put(h, trial.pair, RIG_CASE_FORWARD);
    }
    if (!trials_add(trials, trial)) {
        h->no_memory = true;
        conclusions_done(&trial.made);
    }
    return tree;
}

/* Ends the last case, whose rest this tree proves, or not (NULL): takes its conclusions back, and adds them. */
static struct rig_case_node *close_trial(struct case_search *h, struct trials *trials, struct rig_case_node *tree)
{
    RIG_REQUIRE(trials->count > 0);
    struct trial *trial = &trials->at[--trials->count];
    return take_back(h, &trial->made, tree);
}

/* Takes the tree of a case to those around it, up to one whose second case is next (*more), or the outermost. */
static struct rig_case_node *ascend(struct case_search *h, struct trials *trials, struct rig_case_node *tree,
                                    bool *more)
{
    tree = close_trial(h, trials, tree);
    for (*more = false; trials->count > 0; tree = close_trial(h, trials, tree)) {
        struct trial *around = &trials->at[trials->count - 1];
        h->given_up |= around->first == NULL && tree != NULL && h->turns == 0;
        if (around->first == NULL && tree != NULL && !h->given_up) {
            around->first = tree;
            put(h, around->pair, RIG_CASE_BACKWARD);
            h->turns--;
            *more = true;
            return NULL;
        }
        put(h, around->pair, RIG_CASE_OPEN);
        tree = split(h, around->pair, RIG_CASE_FORWARD, around->first, tree);
    }
    return tree;
}

/* A proof from the pairs as they are put, which give no cycle; NULL: there is none, or turns, time or memory run out.
 * The cases in each other may be as many as the pairs, so they are on a stack in the heap. */
static struct rig_case_node *attempt(struct case_search *h, uint32_t depth)
{
    struct trials trials = {0};
    struct rig_case_node *tree = NULL;
    for (bool more = true; more;) {
        tree = open_trial(h, &trials, depth);
        if (h->no_memory) {
            for (; trials.count > 0; trials.count--)
                conclusions_done(&trials.at[trials.count - 1].made);
            break;
        }
        if (tree != NULL || trials.at[trials.count - 1].pair == RIG_CASE_NONE)
            tree = ascend(h, &trials, tree, &more);
    }
    trials_done(&trials);
    return h->no_memory ? NULL : tree;
}

/*
 * Splits go wrong where much must be supposed before anything follows, and a tree of them can be exponential. So an
 * attempt has a limit of second cases, and the next attempt looks deeper before it splits.
 */
static struct rig_case_node *prove(struct case_search *h)
{
    static const uint64_t turns[] = {8, 1 << 12, 1 << 16};
    const uint32_t count = sizeof turns / sizeof turns[0];
    struct rig_case_node *tree = NULL;
    h->weight = rig_arena_array(h->arena, (size_t)pair_count(h) + 1, sizeof h->weight[0]);
    const size_t nodes = (size_t)h->graph->problem->txn_count + 1;
    h->after = rig_arena_array(h->arena, nodes, sizeof h->after[0]);
    h->before = rig_arena_array(h->arena, nodes, sizeof h->before[0]);
    h->queue = rig_arena_array(h->arena, nodes, sizeof h->queue[0]);
    h->no_memory |= h->weight == NULL || h->after == NULL || h->before == NULL || h->queue == NULL;
    for (uint32_t depth = 0; tree == NULL && !is_over(h); depth++) {
        h->turns = depth < count ? turns[depth] : UINT64_MAX;
        tree = attempt(h, depth < count ? depth : count);
        h->given_up = false;
    }
    return tree;
}

/* ---- with the fewest cycles ---- */

static struct rig_case_node *shortest(struct case_search *h, uint32_t leaves, const uint8_t *skipped);

/* Fills in which order of each open pair gives a cycle at once; gives the pair of which both do, with the shortest
 * cycles, or NONE. */
static uint32_t find_forced(struct case_search *h, uint8_t *forced)
{
    uint32_t best = RIG_CASE_NONE, least = UINT32_MAX;
    for (uint32_t pair = 0; pair < pair_count(h); pair++) {
        forced[pair] = RIG_CASE_OPEN;
        if (h->graph->value[pair] != RIG_CASE_OPEN)
            continue;
        const uint32_t forward = refuted_by(h, pair, RIG_CASE_FORWARD);
        const uint32_t backward = refuted_by(h, pair, RIG_CASE_BACKWARD);
        if (forward > 0 && backward > 0 && forward + backward < least) {
            best = pair;
            least = forward + backward;
        }
        forced[pair] = (uint8_t)(forward > 0 ? RIG_CASE_FORWARD : backward > 0 ? RIG_CASE_BACKWARD : RIG_CASE_OPEN);
    }
    return best;
}

/* Conclusions commute: after one of them, those before it in number that were there already need no second try. */
static struct rig_case_node *shortest_by_conclusion(struct case_search *h, uint32_t leaves, const uint8_t *forced,
                                                    const uint8_t *skipped, uint8_t *skip)
{
    RIG_REQUIRE(leaves > 2);
    struct rig_case_node *found = NULL;
    for (uint32_t pair = 0; found == NULL && pair < pair_count(h) && !is_over(h); pair++)
        skip[pair] = skipped != NULL && skipped[pair] != 0;
    for (uint32_t pair = 0; found == NULL && pair < pair_count(h) && !is_over(h); pair++) {
        if (forced[pair] == RIG_CASE_OPEN || skip[pair] != 0)
            continue;
        const enum rig_case_value refuted = (enum rig_case_value)forced[pair];
        put(h, pair, reverse(refuted));
        struct rig_case_node *rest = shortest(h, leaves - 1, skip);
        put(h, pair, RIG_CASE_OPEN);
        if (rest != NULL)
            found = split(h, pair, refuted, leaf_of(h, pair, refuted), rest);
        skip[pair] = 1;
    }
    return found;
}

static struct rig_case_node *shortest_by_cases(struct case_search *h, uint32_t leaves, const uint8_t *forced)
{
    for (uint32_t pair = 0; pair < pair_count(h) && !is_over(h); pair++) {
        if (h->graph->value[pair] != RIG_CASE_OPEN || forced[pair] != RIG_CASE_OPEN)
            continue;
        for (uint32_t of_first = 2; of_first + 2 <= leaves && !is_over(h); of_first++) {
            put(h, pair, RIG_CASE_FORWARD);
            struct rig_case_node *first = shortest(h, of_first, NULL), *second = NULL;
            put(h, pair, RIG_CASE_BACKWARD);
            if (first != NULL)
                second = shortest(h, leaves - of_first, NULL);
            put(h, pair, RIG_CASE_OPEN);
            if (second != NULL)
                return split(h, pair, RIG_CASE_FORWARD, first, second);
        }
    }
    return NULL;
}

/* A proof of at most `leaves` cycles, two or more, from pairs that give no cycle. `skipped`: conclusions not to draw.
 * Depth: the cycles, at most LEAVES_MOST. */
static struct rig_case_node *shortest(struct case_search *h, uint32_t leaves, const uint8_t *skipped)
{
    RIG_INVARIANT(leaves >= 2 && leaves <= LEAVES_MOST);
    uint8_t *forced = h->scratch + (size_t)2 * leaves * pair_count(h), *skip = forced + pair_count(h);
    const uint32_t both = find_forced(h, forced);
    if (both != RIG_CASE_NONE)
        return split_at_once(h, both);
    if (leaves <= 2)
        return NULL;
    struct rig_case_node *found = shortest_by_conclusion(h, leaves, forced, skipped, skip);
    return found != NULL || leaves < 4 ? found : shortest_by_cases(h, leaves, forced);
}

static struct rig_case_node *polish(struct case_search *h, struct rig_case_node *tree)
{
    const uint32_t known = rig_case_leaves(tree);
    const size_t rows = 2 * (LEAVES_MOST + 1);
    h->scratch = rig_arena_array(h->arena, rows * (pair_count(h) + 1), 1);
    h->no_memory |= h->scratch == NULL;
    for (uint32_t leaves = 2; leaves <= known && leaves <= LEAVES_MOST && !is_over(h); leaves++) {
        struct rig_case_node *found = shortest(h, leaves, NULL);
        if (found != NULL && !h->spent)
            return found;
    }
    return tree;
}

/* A cycle without cases; a plain one where there is one. */
static struct rig_case_node *new_plain_leaf(struct case_search *h)
{
    h->graph->plain = true;
    h->graph->plain = rig_case_graph_cycle(h->graph, RIG_CASE_NONE, NULL) > 0;
    struct rig_case_node *leaf = new_leaf(h, RIG_CASE_NONE);
    h->graph->plain = false;
    return leaf;
}

bool rig_case_search(struct rig_case_graph *graph, int64_t deadline_ns, int64_t polish_ns, struct rig_arena *arena,
                     struct rig_case_tree *tree)
{
    RIG_REQUIRE(!graph->too_large);
    struct case_search h = {.graph = graph, .arena = arena, .deadline_ns = deadline_ns};
    h.cycle = rig_arena_array(arena, (size_t)graph->problem->txn_count + 1, sizeof h.cycle[0]);
    *tree = (struct rig_case_tree){0};
    if (h.cycle == NULL)
        return false;
    graph->deadline_ns = deadline_ns;
    if (rig_case_graph_cycle(graph, RIG_CASE_NONE, NULL) > 0) {
        tree->root = new_plain_leaf(&h);
        tree->spent = tree->root == NULL;
        return !h.no_memory;
    }
    struct rig_case_node *found = prove(&h);
    h.spent |= graph->spent;
    tree->spent = h.spent;
    tree->model = h.spent ? NULL : h.model;
    graph->deadline_ns = INT64_MAX; /* the rest only makes it shorter, and has a time of its own */
    if (found != NULL && !h.spent && !h.no_memory) {
        uint8_t *used = rig_arena_alloc(arena, pair_count(&h) + 1);
        h.no_memory |= used == NULL;
        tree->root = used == NULL ? NULL : prune(&h, found, used);
        const int64_t polished_ns = rig_clock_now_ns() + polish_ns;
        h.deadline_ns = polished_ns < h.deadline_ns ? polished_ns : h.deadline_ns;
        if (!h.no_memory && rig_case_leaves(tree->root) > 2)
            tree->root = polish(&h, tree->root);
    }
    RIG_INVARIANT(tree->root == NULL || tree->model == NULL);
    return !h.no_memory;
}
