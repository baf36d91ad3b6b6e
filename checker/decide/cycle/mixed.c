#include "checker/decide/cycle/mixed.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/decide/cycle/collect.h"
#include "checker/decide/cycle/search.h"
#include "checker/model/components.h"
#include "checker/model/own_level.h"

enum {
    KINDS = 3, /* ww, wr, rw */
    SEEDS = 16,
    COMPONENTS_MOST = 256,
    SEARCH_BUDGET = 50000, /* states */
};

struct mixing {
    const uint8_t *obliges;  /* per transaction */
    const uint8_t *left_out; /* per transaction: it may have aborted; NULL: none */
    const uint8_t *selected; /* NULL: all */
    const struct rig_links *from;
    struct rig_links *to;
    uint32_t relays;  /* the first copy of a relay in `to` */
    unsigned rw_bits; /* an rw edge counts if its reader has one of these bits, and none of `rw_not` */
    unsigned rw_not;
    bool rw_only;
};

/* ---- levels ---- */

/* Few levels, and many transactions: the names are compared once a level. */
static void read_levels(const struct rig_history *history, uint8_t *obliges)
{
    enum { KNOWN = 16 };
    int64_t names[KNOWN];
    uint8_t bits[KNOWN];
    unsigned known = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const int64_t name = rig_history_column(history, txn, RIG_COLUMN_LEVEL);
        unsigned at = 0;
        while (at < known && names[at] != name)
            at++;
        const uint8_t of_txn = at < known ? bits[at] : (uint8_t)rig_txn_obliges(history, txn);
        if (at == known && known < KNOWN) {
            names[known] = name;
            bits[known++] = of_txn;
        }
        obliges[txn] = of_txn;
    }
}

bool rig_mixed_needs_items(const struct rig_history *history)
{
    bool needs = false;
    for (uint32_t txn = 0; !needs && txn < history->txn_count; txn++) {
        const unsigned bits = rig_txn_obliges(history, txn);
        needs = (bits & RIG_OBLIGES_ITEMS) != 0 && (bits & RIG_OBLIGES_PREDICATES) == 0;
    }
    return needs;
}

/* ---- the graph ---- */

static bool is_txn(const struct mixing *m, uint32_t node)
{
    return node < m->from->txn_count;
}

static uint32_t copy_of(const struct mixing *m, uint32_t relay, unsigned kind)
{
    return m->relays + (relay - m->from->txn_count) * KINDS + kind;
}

static bool takes_part(const struct mixing *m, uint32_t txn)
{
    return (m->selected == NULL || m->selected[txn]) && (m->left_out == NULL || !m->left_out[txn]);
}

static bool leaves(const struct mixing *m, uint32_t from, unsigned kind)
{
    if (!takes_part(m, from))
        return false;
    if (kind != RIG_LINK_RW)
        return !m->rw_only;
    return (m->obliges[from] & m->rw_bits) != 0 && (m->obliges[from] & m->rw_not) == 0;
}

static bool arrives(const struct mixing *m, uint32_t to, unsigned kind)
{
    if (!takes_part(m, to))
        return false;
    return kind != RIG_LINK_WR || (m->obliges[to] & RIG_OBLIGES_READS) != 0;
}

/* One edge of one kind; from a relay it goes on with the kind of the edges into that one. */
static bool add_edge(const struct mixing *m, uint32_t from, uint32_t to, unsigned kind)
{
    const bool counts = (!is_txn(m, from) || leaves(m, from, kind)) && (!is_txn(m, to) || arrives(m, to, kind));
    if (!counts)
        return true;
    const uint32_t source = is_txn(m, from) ? from : copy_of(m, from, kind);
    const uint32_t target = is_txn(m, to) ? to : copy_of(m, to, kind);
    return rig_links_add(m->to, source, target, is_txn(m, from) ? (enum rig_link)kind : RIG_LINK_THROUGH);
}

static bool add_edges(const struct mixing *m)
{
    bool added = true;
    for (uint32_t node = 0; added && node < m->from->node_count; node++) {
        struct rig_links_cursor cursor = rig_links_into(m->from, node);
        for (uint32_t edge; added && (edge = rig_links_next(m->from, &cursor)) != RIG_NODE_NONE;) {
            const bool is_through = rig_edge_link(edge) == RIG_LINK_THROUGH;
            for (unsigned kind = 0; added && kind < KINDS; kind++) {
                if (is_through || rig_edge_link(edge) == (enum rig_link)kind)
                    added = add_edge(m, rig_edge_node(edge), node, kind);
            }
        }
    }
    return added;
}

static bool take_links(struct mixing *m, const struct rig_links *from)
{
    const uint32_t relays = from->node_count - from->txn_count;
    m->from = from;
    m->relays = 0;
    return relays <= UINT32_MAX / KINDS && rig_links_add_nodes(m->to, relays * KINDS, &m->relays) && add_edges(m);
}

/*
 * A transaction of unknown fate counts as committed because it was read. That is certain where the reader is of read
 * committed or above: if it aborted, the read is an aborted one. A reader of read uncommitted may read what aborts, so
 * the others are left out.
 */
static bool leave_out_unsettled(const struct rig_history *history, const struct rig_links *links,
                                const uint8_t *obliges, struct rig_arena *arena, uint8_t **left_out)
{
    bool all_read = true;
    *left_out = NULL;
    for (uint32_t txn = 0; all_read && txn < history->txn_count; txn++)
        all_read = (obliges[txn] & RIG_OBLIGES_READS) != 0;
    if (all_read)
        return true;
    uint8_t *out = rig_arena_array(arena, (size_t)history->txn_count + 1, 1);
    if (out == NULL)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++)
        out[txn] = history->txns[txn].outcome != RIG_OUTCOME_OK;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome != RIG_OUTCOME_OK || (obliges[txn] & RIG_OBLIGES_READS) == 0)
            continue;
        struct rig_links_cursor cursor = rig_links_into(links, txn);
        for (uint32_t edge; (edge = rig_links_next(links, &cursor)) != RIG_NODE_NONE;) {
            if (rig_edge_link(edge) == RIG_LINK_WR && rig_edge_node(edge) < history->txn_count)
                out[rig_edge_node(edge)] = 0;
        }
    }
    *left_out = out;
    return true;
}

static bool make_links(const struct rig_mixed_question *question, struct rig_arena *arena, struct rig_links *links)
{
    const struct rig_history *history = question->history;
    const struct rig_links *all = question->all, *items = question->items;
    uint8_t *obliges = rig_arena_array(arena, (size_t)history->txn_count + 1, 1), *left_out = NULL;
    if (obliges == NULL || !rig_links_init(links, arena, history->txn_count, 0, all->chained_count))
        return false;
    read_levels(history, obliges);
    if (!leave_out_unsettled(history, all, obliges, arena, &left_out))
        return false;
    struct mixing m = {.obliges = obliges,
                       .left_out = left_out,
                       .selected = question->selected,
                       .to = links,
                       .rw_bits = items == NULL ? RIG_OBLIGES_ITEMS : RIG_OBLIGES_PREDICATES};
    if (!take_links(&m, all))
        return false;
    m.rw_bits = RIG_OBLIGES_ITEMS;
    m.rw_not = RIG_OBLIGES_PREDICATES;
    m.rw_only = true;
    return items == NULL || take_links(&m, items);
}

/* ---- cycles ---- */

struct finding {
    struct rig_components components;
    struct rig_search *search;
    struct rig_seeds seeds;
    struct rig_cycle best, cycle;
};

static bool choose_seeds(struct finding *f, uint32_t component)
{
    const struct rig_component range = f->components.list.at[component];
    const uint32_t txn_count = f->components.view.graph->txn_count;
    bool chosen = true;
    f->seeds.count = 0;
    for (uint32_t i = range.begin; chosen && i < range.end && f->seeds.count < SEEDS; i++) {
        const uint32_t node = f->components.order[i];
        for (unsigned kind = RIG_EDGE_WW; chosen && node < txn_count && kind <= RIG_EDGE_RW; kind++)
            chosen = rig_seeds_into(&f->components, component, node, (enum rig_edge_kind)kind, SEEDS, &f->seeds);
    }
    return chosen;
}

/* False when memory runs out. */
static bool try_seed(struct finding *f, uint32_t component, struct rig_seed seed, size_t budget)
{
    static const struct rig_path_rule rule = {.links = RIG_LINKS_ALL, .most_rw = RIG_ANY_RW};
    const struct rig_region region = {.components = &f->components, .component = component};
    const enum rig_found found = rig_search_cycle(f->search, &rule, seed, region, f->best.count, budget, &f->cycle);
    if (found == RIG_FOUND_NO_MEMORY)
        return false;
    if (found != RIG_FOUND)
        return true;
    if (!rig_cycle_simplify(&f->cycle))
        return false;
    if (f->best.count > 0 && f->cycle.count >= f->best.count)
        return true;
    const struct rig_cycle shorter = f->cycle;
    f->cycle = f->best;
    f->best = shorter;
    return true;
}

/* Each edge inside a component lies on a cycle, so a search without a bound finds one. */
static bool search_component(struct finding *f, uint32_t component)
{
    f->best.count = 0;
    bool searched = choose_seeds(f, component);
    RIG_INVARIANT(!searched || f->seeds.count > 0);
    for (size_t i = 0; searched && i < f->seeds.count; i++)
        searched = try_seed(f, component, f->seeds.at[i], SEARCH_BUDGET);
    if (searched && f->best.count == 0)
        searched = try_seed(f, component, f->seeds.at[0], 0);
    RIG_INVARIANT(!searched || f->best.count >= 2);
    if (searched)
        rig_cycle_rotate(&f->best);
    return searched;
}

static bool find_cycles(struct finding *f, uint32_t most_kept, struct rig_cycles_found *found)
{
    bool done = true;
    found->count = f->components.list.count;
    for (uint32_t i = 0; done && i < f->components.list.count && i < COMPONENTS_MOST; i++)
        done = search_component(f, i) && rig_cycles_keep(found, &f->best, most_kept);
    return done;
}

enum rig_rc rig_mixed_find(const struct rig_mixed_question *question, struct rig_arena *arena,
                           struct rig_cycles_found *found, struct rig_err *err)
{
    struct rig_links links;
    struct rig_graph graph = {0};
    struct finding f = {.search = NULL};
    *found = (struct rig_cycles_found){0};
    if (!make_links(question, arena, &links))
        return rig_memory_limit(err, "the dependencies");
    enum rig_rc rc = rig_graph_pack(&links, NULL, arena, &graph, err);
    const struct rig_view view = {.graph = &graph, .links = RIG_LINKS_ALL};
    if (rc == RIG_OK)
        rc = rig_components_find(view, &f.components, err);
    if (rc == RIG_OK && f.components.list.count > 0) {
        f.search = rig_search_new(question->history, &graph);
        if (f.search == NULL || !find_cycles(&f, question->most_kept, found))
            rc = rig_memory_limit(err, "the search for cycles");
    }
    rig_search_free(f.search);
    rig_seeds_done(&f.seeds);
    rig_cycle_done(&f.best);
    rig_cycle_done(&f.cycle);
    rig_components_done(&f.components);
    return rc;
}

void rig_mixed_done(struct rig_cycles_found *found)
{
    for (uint32_t i = 0; i < found->kept_count; i++)
        rig_cycle_done(&found->kept[i]);
    free(found->kept);
    *found = (struct rig_cycles_found){0};
}
