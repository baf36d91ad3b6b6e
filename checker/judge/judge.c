#include "checker/judge/judge.h"

#include "base/bug.h"
#include "base/clock.h"
#include "checker/decide/cycle/mixed.h"
#include "checker/explain/explain.h"
#include "checker/model/graph.h"
#include "checker/model/own_level.h"

void rig_judge_init(struct rig_judge *judge, uint32_t most_kept, struct rig_assumptions assumptions, size_t limit_bytes)
{
    *judge = (struct rig_judge){.most_kept = most_kept, .assumptions = assumptions};
    rig_arena_init(&judge->scratch, limit_bytes);
}

static void clear(struct rig_judge *judge)
{
    rig_ladder_done(&judge->ladder);
    rig_ladder_done(&judge->item_ladder);
    rig_mixed_done(&judge->mixed);
    rig_inference_done(&judge->inference);
    rig_arena_reset(&judge->scratch);
    judge->inference = (struct rig_inference){0};
    judge->ladder = judge->item_ladder = (struct rig_ladder){0};
    judge->has_phantoms = judge->has_items = false;
}

void rig_judge_done(struct rig_judge *judge)
{
    clear(judge);
    rig_arena_done(&judge->scratch);
}

enum rig_rc rig_judge_infer(struct rig_judge *judge, const struct rig_history *history, bool some, struct rig_err *err)
{
    int64_t start = rig_clock_now_ns();
    /* Which anomalies count depends on the levels of their transactions, where each has its own. */
    const bool all = some || rig_history_has_levels(history);
    uint32_t most_kept = all ? UINT32_MAX : judge->most_kept;
    clear(judge);
    judge->history = history;
    judge->type = rig_type_inference(history->workload);
    RIG_REQUIRE(judge->type != NULL);
    enum rig_rc rc =
        judge->type->infer(history, judge->assumptions, most_kept, &judge->scratch, &judge->inference, err);
    judge->infer_ns += rig_clock_now_ns() - start;
    RIG_COSTLY(rc != RIG_OK || rig_links_are_sound(&judge->inference.links, judge->inference.committed));
    return rc;
}

static void uncount(uint64_t *count, uint32_t edge)
{
    if (rig_edge_link(edge) == RIG_LINK_THROUGH)
        return;
    RIG_INVARIANT(count[rig_edge_link(edge)] > 0);
    count[rig_edge_link(edge)]--;
}

/*
 * Counts the edges into selected transactions: all edges less those into the others, which are few. An edge into a
 * relay counts with its source, because the relay is made again while it leads to a waiting transaction.
 */
static void count_edges(struct rig_judge *judge, const uint8_t *selected)
{
    const struct rig_links *links = &judge->inference.links;
    uint64_t *count = judge->edge_count;
    for (unsigned link = 0; link < 3; link++)
        count[link] += judge->inference.graph.link_count[link];
    const uint32_t end = selected == NULL ? 0 : links->txn_count;
    for (uint32_t txn = 0; (txn = rig_judge_left_out(selected, txn, end)) < end; txn++) {
        struct rig_links_cursor cursor = rig_links_into(links, txn);
        for (uint32_t edge; (edge = rig_links_next(links, &cursor)) != RIG_NODE_NONE;)
            uncount(count, edge);
    }
    for (uint32_t node = links->txn_count; selected != NULL && node < links->node_count; node++) {
        struct rig_links_cursor cursor = rig_links_into(links, node);
        for (uint32_t edge; (edge = rig_links_next(links, &cursor)) != RIG_NODE_NONE;) {
            if (!selected[rig_edge_node(edge)])
                uncount(count, edge);
        }
    }
}

/* Leaves out the anomalies of transactions that are not selected. */
static void restrict_noncyclic(struct rig_noncyclic_findings *noncyclic, const uint8_t *selected, uint32_t most_kept)
{
    size_t kept = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        noncyclic->count[anomaly] = noncyclic->settled[anomaly] = 0;
    noncyclic->most_kept = most_kept;
    for (size_t i = 0; i < noncyclic->kept.count; i++) {
        struct rig_noncyclic found = noncyclic->kept.at[i];
        if (selected[found.txn] && rig_noncyclic_count(noncyclic, &found))
            noncyclic->kept.at[kept++] = found;
    }
    noncyclic->kept.count = kept;
}

static enum rig_rc infer_rest(struct rig_judge *judge, struct rig_err *err)
{
    const bool *cyclic = judge->ladder.cyclic[RIG_RUNG_ALL];
    return judge->type->infer_rest == NULL ||
                   judge->type->infer_rest(&judge->inference, cyclic[RIG_ALONG_PLAIN], cyclic[RIG_ALONG_REALTIME])
               ? RIG_OK
               : rig_memory_limit(err, "the verdict");
}

static enum rig_rc note_anomalous(struct rig_judge *judge, struct rig_err *err)
{
    const struct rig_noncyclic_list *kept = &judge->inference.noncyclic.kept;
    judge->anomalous_keys = NULL;
    if (kept->count == 0)
        return RIG_OK;
    judge->anomalous_keys = rig_arena_array(&judge->scratch, (size_t)judge->history->key_count + 1, 1);
    if (judge->anomalous_keys == NULL)
        return rig_memory_limit(err, "the verdict");
    for (size_t i = 0; i < kept->count; i++)
        judge->anomalous_keys[kept->at[i].key] = 1;
    return RIG_OK;
}

/* Whether a cycle needs an rw edge, or may. */
static bool has_rw_cycle(const struct rig_ladder *ladder)
{
    bool found = false;
    for (unsigned order = 0; order < RIG_ALONG_COUNT; order++)
        found |= ladder->cyclic[RIG_RUNG_SNAPSHOT][order] || ladder->cyclic[RIG_RUNG_ALL][order];
    return found;
}

/* The transactions that may lie on a cycle, and all relays, which only lead from one of them to another. */
static const uint8_t *select_items(struct rig_judge *judge)
{
    const struct rig_links *links = &judge->items.links;
    uint8_t *all = rig_arena_room(&judge->scratch, (size_t)links->node_count + 1, 1);
    if (all == NULL)
        return NULL;
    memcpy(all, judge->ladder.core, links->txn_count);
    memset(all + links->txn_count, 1, links->node_count - links->txn_count);
    return all;
}

/* Whether a transaction that may lie on a cycle read something that has no row: else both graphs have the same
 * cycles. */
static bool has_phantoms(const struct rig_judge *judge)
{
    const uint8_t *core = judge->ladder.core;
    bool found = judge->type->found_no_row == NULL;
    for (uint32_t txn = 0; !found && txn < judge->history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(judge->history, txn);
        for (uint32_t i = 0; core[txn] && !found && i < rig_txn_op_count(judge->history, txn); i++)
            found = rig_op_reads(ops[i].kind) && ops[i].read_state != RIG_READ_UNKNOWN &&
                    judge->type->found_no_row(judge->history, &ops[i]);
    }
    return found;
}

/* Whether cycles of some shape were found by predicates alone, or an anomaly of items that is asked for is open. Else
 * each cyclic rung has a cycle without predicates as its witness. */
static bool lacks_items(const struct rig_judge *judge)
{
    const struct rig_ladder *ladder = &judge->ladder;
    bool lacks = false;
    for (unsigned i = 0; i < RIG_ANOMALY_COUNT; i++) {
        const enum rig_anomaly other = rig_anomaly_by_predicate((enum rig_anomaly)i);
        const bool is_open = ladder->found[other].count > 0 || (ladder->undecided & RIG_ANOMALY_BIT(i)) != 0;
        lacks |= other != (enum rig_anomaly)i && ladder->found[i].count == 0 && is_open;
    }
    return lacks;
}

/* The ladder is not asked about what find_mixed() decides. */
static rig_anomaly_set asked_of_ladder(const struct rig_judge *judge)
{
    return judge->asked & ~RIG_ANOMALY_BIT(RIG_ANOMALY_G_MIXED);
}

/* Climbs again without the rw edges that rest on predicates. Each cycle without them is one with them, so this climb
 * needs only the core of the first one. */
static enum rig_rc climb_items(struct rig_judge *judge, struct rig_err *err)
{
    judge->has_phantoms =
        judge->inference.is_by_predicate != NULL && has_rw_cycle(&judge->ladder) && has_phantoms(judge);
    judge->has_items = judge->has_phantoms && lacks_items(judge);
    if (!judge->has_items)
        return RIG_OK;
    if (!judge->type->link_items(&judge->inference, judge->ladder.core, &judge->items))
        return rig_memory_limit(err, "the dependencies");
    RIG_COSTLY(rig_links_are_sound(&judge->items.links, judge->items.committed));
    const uint8_t *selected = select_items(judge);
    if (selected == NULL)
        return rig_memory_limit(err, "the dependencies");
    return rig_ladder_climb(judge->history, &judge->items, selected, judge->most_kept, asked_of_ladder(judge),
                            &judge->item_ladder, err);
}

/* Where transactions have levels of their own. Before the links are abandoned. */
static enum rig_rc find_mixed(struct rig_judge *judge, const uint8_t *selected, struct rig_err *err)
{
    const struct rig_type_inference *type = judge->type;
    struct rig_inference items;
    if (!rig_history_has_levels(judge->history) || type->no_edges || type->objects)
        return RIG_OK;
    const bool apart = type->link_items != NULL && !judge->inference.prefilled && rig_mixed_needs_items(judge->history);
    if (apart && !type->link_items(&judge->inference, NULL, &items))
        return rig_memory_limit(err, "the dependencies");
    /* Where no transaction counts the edges of items alone, those by predicates need not be told apart. */
    const struct rig_mixed_question question = {.history = judge->history,
                                                .all = &judge->inference.links,
                                                .items = apart ? &items.links : NULL,
                                                .selected = selected,
                                                .most_kept = judge->most_kept};
    return rig_mixed_find(&question, &judge->scratch, &judge->mixed, err);
}

/* The cycles to be decided in the graph of all edges: those asked for by a predicate have the shapes of items there. */
static rig_anomaly_set asked_of_all(const struct rig_judge *judge)
{
    rig_anomaly_set asked = asked_of_ladder(judge);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        enum rig_anomaly item;
        if ((judge->asked & RIG_ANOMALY_BIT(anomaly)) != 0 &&
            rig_anomaly_is_by_predicate((enum rig_anomaly)anomaly, &item) && rig_anomaly_info(item)->cyclic)
            asked |= RIG_ANOMALY_BIT(item);
    }
    return asked;
}

enum rig_rc rig_judge_search(struct rig_judge *judge, const uint8_t *selected, struct rig_err *err)
{
    int64_t start = rig_clock_now_ns();
    struct rig_inference *inference = &judge->inference;
    judge->selected = selected;
    judge->anomalous_keys = NULL;
    count_edges(judge, selected);
    if (judge->type->link_items != NULL && !inference->prefilled)
        inference->is_by_predicate = rig_cycle_is_by_predicate;
    enum rig_rc rc = find_mixed(judge, selected, err);
    if (rc == RIG_OK)
        rc = rig_ladder_climb(judge->history, inference, selected, judge->most_kept, asked_of_all(judge),
                              &judge->ladder, err);
    if (rc == RIG_OK)
        rc = climb_items(judge, err);
    if (rc == RIG_OK)
        rc = infer_rest(judge, err);
    if (rc == RIG_OK && selected != NULL)
        rc = note_anomalous(judge, err);
    if (rc == RIG_OK && selected != NULL)
        restrict_noncyclic(&judge->inference.noncyclic, selected, judge->most_kept);
    judge->search_ns += rig_clock_now_ns() - start;
    return rc;
}

uint64_t rig_judge_found(const struct rig_judge *judge, enum rig_anomaly anomaly)
{
    const bool is_apart = judge->has_items && rig_anomaly_by_predicate(anomaly) != anomaly;
    return (is_apart ? &judge->item_ladder : &judge->ladder)->found[anomaly].count +
           judge->inference.noncyclic.count[anomaly] + (anomaly == RIG_ANOMALY_G_MIXED ? judge->mixed.count : 0);
}
