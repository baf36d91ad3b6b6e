#include "checker/infer/inference.h"

#include "checker/graph/orders.h"

enum rig_rc rig_inference_pack(struct rig_inference *inference, struct rig_err *err)
{
    if (inference->graph.first != NULL)
        return RIG_OK;
    const struct rig_history *history = inference->history;
    const uint8_t *committed =
        history->workload == RIG_WORKLOAD_RW_REGISTER ? inference->registers.committed : inference->versions.committed;
    struct rig_arena *arena = inference->links.arena;
    enum rig_rc rc = rig_graph_pack(&inference->links, arena, &inference->graph, err);
    return rc == RIG_OK ? rig_graph_add_orders(history, committed, arena, &inference->graph, err) : rc;
}
