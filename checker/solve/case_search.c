#include "checker/solve/case_search.h"

#include <string.h>

#include "base/bug.h"
#include "base/clock.h"

enum { LEAVES_MOST = 8, CALLS_A_CLOCK = 32 };

struct hunt {
    struct rig_case_graph *graph;
    struct rig_arena *arena;
    uint32_t *cycle;  /* scratch */
    uint8_t *scratch; /* of the search for few cycles: two rows of pairs for each number of cycles */
    int64_t deadline_ns;
    uint32_t calls;
    uint8_t *model; /* the first order of all pairs that makes no cycle, or NULL */
    bool spent, no_memory;
};

static bool is_over(struct hunt *h)
{
    if (!h->spent && ++h->calls % CALLS_A_CLOCK == 0)
        h->spent = rig_clock_now_ns() > h->deadline_ns;
    h->spent |= h->graph->spent;
    return h->spent || h->no_memory;
}

static uint32_t pair_count(const struct hunt *h)
{
    return (uint32_t)h->graph->pairs.count;
}

static enum rig_case_value reverse(enum rig_case_value value)
{
    return value == RIG_CASE_FORWARD ? RIG_CASE_BACKWARD : RIG_CASE_FORWARD;
}

static void put(struct hunt *h, uint32_t pair, enum rig_case_value value)
{
    h->graph->value[pair] = (uint8_t)value;
}

/* The length of the cycle that this order gives at once, or 0. */
static uint32_t refuted_by(struct hunt *h, uint32_t pair, enum rig_case_value value)
{
    if (is_over(h))
        return 0;
    put(h, pair, value);
    const uint32_t length = rig_case_graph_cycle(h->graph, pair, NULL);
    put(h, pair, RIG_CASE_OPEN);
    return length;
}

/* ---- trees ---- */

static struct rig_case_node *new_node(struct hunt *h)
{
    struct rig_case_node *node = rig_arena_alloc(h->arena, sizeof *node);
    h->no_memory |= node == NULL;
    return node;
}

/* The shortest cycle through `pair` as it is put, which exists. NULL when memory or the time runs out. */
static struct rig_case_node *new_leaf(struct hunt *h, uint32_t pair)
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

static struct rig_case_node *leaf_of(struct hunt *h, uint32_t pair, enum rig_case_value value)
{
    put(h, pair, value);
    struct rig_case_node *leaf = new_leaf(h, pair);
    put(h, pair, RIG_CASE_OPEN);
    return leaf;
}

static struct rig_case_node *split(struct hunt *h, uint32_t pair, enum rig_case_value supposed,
                                   struct rig_case_node *first, struct rig_case_node *second)
{
    struct rig_case_node *node = first == NULL || second == NULL ? NULL : new_node(h);
    if (node != NULL)
        *node =
            (struct rig_case_node){.first = first,
                                   .second = second,
                                   .pair = pair,
                                   .supposed = supposed,
                                   .nested = first->nested + 1 > second->nested ? first->nested + 1 : second->nested};
    return node;
}

static struct rig_case_node *split_at_once(struct hunt *h, uint32_t pair)
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
    used[pair] |= (uint8_t)(1u << value);
}

static bool is_used(const uint8_t *used, uint32_t pair, enum rig_case_value value)
{
    return (used[pair] >> value & 1) != 0;
}

/* Adds what the cycle of a leaf rests on. */
static void mark_leaf(const struct hunt *h, const struct rig_case_node *leaf, uint8_t *used)
{
    for (uint32_t i = 0; i < leaf->length; i++) {
        const struct rig_case_arc *arc = &h->graph->arcs.at[leaf->cycle[i]];
        if (arc->pair != RIG_CASE_NONE)
            mark(used, arc->pair, arc->value);
    }
}

static bool leaf_uses(const struct hunt *h, const struct rig_case_node *leaf, uint32_t pair, enum rig_case_value value)
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

static void mark_turn(const struct hunt *h, const struct turn *turn, uint8_t *used)
{
    if (turn->used == NULL) {
        mark_leaf(h, turn->node->first, used);
        return;
    }
    for (uint32_t pair = 0; pair < pair_count(h); pair++)
        used[pair] |= turn->used[pair];
}

static struct rig_case_node *prune(struct hunt *h, struct rig_case_node *node, uint8_t *used);

/* Prunes the first case of the turn; whether it rests on what it supposes. */
static bool prune_first(struct hunt *h, struct turn *turn)
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
static struct rig_case_node *prune(struct hunt *h, struct rig_case_node *node, uint8_t *used)
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
    struct rig_case_node *leaf;
};

RIG_VEC(struct conclusion, conclusions)

/* Puts each pair whose one order gives a cycle into the other, until none does. Gives the tree where both do. */
static struct rig_case_node *propagate(struct hunt *h, struct conclusions *made)
{
    for (size_t before = SIZE_MAX; before != made->count && !is_over(h);) {
        before = made->count;
        for (uint32_t pair = 0; pair < pair_count(h); pair++) {
            if (h->graph->value[pair] != RIG_CASE_OPEN)
                continue;
            const uint32_t forward = refuted_by(h, pair, RIG_CASE_FORWARD);
            const uint32_t backward = refuted_by(h, pair, RIG_CASE_BACKWARD);
            if (forward > 0 && backward > 0)
                return split_at_once(h, pair);
            if (forward == 0 && backward == 0)
                continue;
            const enum rig_case_value refuted = forward > 0 ? RIG_CASE_FORWARD : RIG_CASE_BACKWARD;
            const struct conclusion conclusion = {pair, refuted, leaf_of(h, pair, refuted)};
            h->no_memory |= !conclusions_add(made, conclusion);
            if (is_over(h))
                break;
            put(h, pair, reverse(refuted));
        }
    }
    return NULL;
}

/* The open pair that most edges rest on, or NONE. */
static uint32_t choose(const struct hunt *h)
{
    uint32_t best = RIG_CASE_NONE, most = 0;
    for (uint32_t pair = 0; pair < pair_count(h); pair++) {
        const uint32_t arcs = h->graph->first_rest[pair + 1] - h->graph->first_rest[pair];
        if (h->graph->value[pair] == RIG_CASE_OPEN && arcs > most) {
            best = pair;
            most = arcs;
        }
    }
    return best;
}

static void take_model(struct hunt *h)
{
    h->model = rig_arena_alloc(h->arena, pair_count(h) + 1);
    h->no_memory |= h->model == NULL;
    if (h->model != NULL)
        memcpy(h->model, h->graph->value, pair_count(h));
}

/* A case that is being proved. */
struct trial {
    struct conclusions made;
    uint32_t pair; /* split in it, or NONE */
    struct rig_case_node *first;
};

RIG_VEC(struct trial, trials)

/* Begins a case. Gives its tree; NULL where it is split, and its first case comes next, or where there is none. */
static struct rig_case_node *open_trial(struct hunt *h, struct trials *trials)
{
    struct trial trial = {.pair = RIG_CASE_NONE};
    struct rig_case_node *tree = propagate(h, &trial.made);
    if (tree == NULL && !is_over(h)) {
        trial.pair = choose(h);
        if (trial.pair == RIG_CASE_NONE)
            take_model(h);
        else
            put(h, trial.pair, RIG_CASE_FORWARD);
    }
    if (!trials_add(trials, trial)) {
        h->no_memory = true;
        conclusions_done(&trial.made);
    }
    return tree;
}

/* Ends the last case, whose rest this tree proves, or not (NULL): takes its conclusions back, and adds them. */
static struct rig_case_node *close_trial(struct hunt *h, struct trials *trials, struct rig_case_node *tree)
{
    struct trial *trial = &trials->at[--trials->count];
    for (size_t i = trial->made.count; i-- > 0;) {
        const struct conclusion *made = &trial->made.at[i];
        put(h, made->pair, RIG_CASE_OPEN);
        tree = split(h, made->pair, made->refuted, made->leaf, tree);
    }
    conclusions_done(&trial->made);
    return tree;
}

/* Takes the tree of a case to those around it, up to one whose second case is next (*more), or the outermost. */
static struct rig_case_node *ascend(struct hunt *h, struct trials *trials, struct rig_case_node *tree, bool *more)
{
    tree = close_trial(h, trials, tree);
    for (*more = false; trials->count > 0; tree = close_trial(h, trials, tree)) {
        struct trial *around = &trials->at[trials->count - 1];
        if (around->first == NULL && tree != NULL) {
            around->first = tree;
            put(h, around->pair, RIG_CASE_BACKWARD);
            *more = true;
            return NULL;
        }
        put(h, around->pair, RIG_CASE_OPEN);
        tree = split(h, around->pair, RIG_CASE_FORWARD, around->first, tree);
    }
    return tree;
}

/* A proof from the pairs as they are put, which give no cycle; NULL: there is none, or time or memory runs out. The
 * cases in each other may be as many as the pairs, so they are on a stack in the heap. */
static struct rig_case_node *prove(struct hunt *h)
{
    struct trials trials = {0};
    struct rig_case_node *tree = NULL;
    for (bool more = true; more;) {
        tree = open_trial(h, &trials);
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

/* ---- with the fewest cycles ---- */

static struct rig_case_node *shortest(struct hunt *h, uint32_t leaves, const uint8_t *skipped);

/* Fills in which order of each open pair gives a cycle at once; gives the pair of which both do, with the shortest
 * cycles, or NONE. */
static uint32_t find_forced(struct hunt *h, uint8_t *forced)
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
static struct rig_case_node *shortest_by_conclusion(struct hunt *h, uint32_t leaves, const uint8_t *forced,
                                                    const uint8_t *skipped, uint8_t *skip)
{
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

static struct rig_case_node *shortest_by_cases(struct hunt *h, uint32_t leaves, const uint8_t *forced)
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

/* A proof of at most so many cycles, two or more, from pairs that give no cycle. `skipped`: conclusions not to draw.
 * Depth: the cycles, at most LEAVES_MOST. */
static struct rig_case_node *shortest(struct hunt *h, uint32_t leaves, const uint8_t *skipped)
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

static struct rig_case_node *polish(struct hunt *h, struct rig_case_node *tree)
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
static struct rig_case_node *new_plain_leaf(struct hunt *h)
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
    struct hunt h = {.graph = graph, .arena = arena, .deadline_ns = deadline_ns};
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
    tree->too_deep = found != NULL && !h.spent && found->nested > graph->nested_most;
    if (found != NULL && !h.spent && !h.no_memory && !tree->too_deep) {
        uint8_t *used = rig_arena_alloc(arena, pair_count(&h) + 1);
        h.no_memory |= used == NULL;
        tree->root = used == NULL ? NULL : prune(&h, found, used);
        const int64_t polished_ns = rig_clock_now_ns() + polish_ns;
        h.deadline_ns = polished_ns < h.deadline_ns ? polished_ns : h.deadline_ns;
        if (!h.no_memory && rig_case_leaves(tree->root) > 2)
            tree->root = polish(&h, tree->root);
    }
    return !h.no_memory;
}
