#include "checker/infer/inference.h"

#include "checker/model/orders.h"

enum rig_rc rig_inference_pack(struct rig_inference *inference, struct rig_err *err)
{
    if (inference->graph.first != NULL)
        return RIG_OK;
    const struct rig_history *history = inference->history;
    const uint8_t *committed = inference->committed;
    struct rig_arena *arena = inference->links.arena;
    uint32_t *before = rig_arena_room(arena, (size_t)history->txn_count + 1, sizeof *before);
    if (before == NULL || !rig_process_order(history, committed, arena, before))
        return rig_memory_limit(err, "the process order");
    enum rig_rc rc = rig_graph_pack(&inference->links, NULL, arena, &inference->graph, err);
    return rc == RIG_OK ? rig_graph_add_orders(history, committed, before, arena, &inference->graph, err) : rc;
}
