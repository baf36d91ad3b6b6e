#include "checker/graph/orders.h"

#include "base/table.h"

/* The committed transaction before each one in its process. */
static bool order_processes(const struct rig_history *history, const uint8_t *committed, uint32_t *before)
{
    struct rig_table last;
    rig_table_init(&last);
    bool done = true;
    for (uint32_t txn = 0; done && txn < history->txn_count; txn++) {
        before[txn] = RIG_NODE_NONE;
        if (!committed[txn])
            continue;
        uint32_t *previous = rig_table_put(&last, (uint32_t)history->txns[txn].process);
        done = previous != NULL;
        if (!done)
            break;
        /* Overlapping transactions of one process have no order between them. */
        if (*previous != RIG_TABLE_NONE &&
            (!history->has_invocations || rig_txn_end(history, *previous) < history->txns[txn].invoke_at))
            before[txn] = *previous;
        *previous = txn;
    }
    rig_table_done(&last);
    return done;
}

/* Marks the transactions of unknown fate that count as committed. */
static bool mark_unsettled(const struct rig_history *history, const uint8_t *committed, struct rig_arena *arena,
                           struct rig_graph *graph)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (!committed[txn] || history->txns[txn].outcome == RIG_OUTCOME_OK)
            continue;
        if (graph->unsettled == NULL)
            graph->unsettled = rig_arena_array(arena, (size_t)graph->node_count + 1, sizeof *graph->unsettled);
        if (graph->unsettled == NULL)
            return false;
        graph->unsettled[txn] = 1;
    }
    return true;
}

enum rig_rc rig_graph_add_orders(const struct rig_history *history, const uint8_t *committed, struct rig_arena *arena,
                                 struct rig_graph *graph, struct rig_err *err)
{
    graph->process_before = rig_arena_array(arena, (size_t)history->txn_count + 1, sizeof *graph->process_before);
    if (graph->process_before == NULL || !order_processes(history, committed, graph->process_before) ||
        !mark_unsettled(history, committed, arena, graph))
        return rig_fail(err, RIG_E_LIMIT, "not enough memory for the process order; raise --max-memory");
    return RIG_OK;
}
