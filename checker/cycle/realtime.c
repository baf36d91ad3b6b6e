#include "checker/cycle/realtime.h"

#include <stdlib.h>

#include "base/bug.h"

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t invocation(const struct rig_history *history, uint32_t node)
{
    bool known = node < history->txn_count && history->txns[node].invoke_at != RIG_POSITION_NONE;
    return known ? history->txns[node].invoke_at : 0; /* 0 also for passages */
}

enum rig_rc rig_realtime_violations(const struct rig_history *history, const struct rig_components *components,
                                    struct rig_txn_list *violations, struct rig_err *err)
{
    RIG_REQUIRE(components->list.count == 0);
    if (!history->has_invocations)
        return RIG_OK;
    /* 0 stands for "no ancestor": nothing completes before position 0. */
    uint32_t *latest = calloc((size_t)components->state_count + 1, sizeof *latest);
    bool done = latest != NULL;
    const struct rig_view *view = &components->view;
    for (uint32_t i = 0; done && i < components->state_count; i++) {
        uint32_t state = components->order[i];
        uint32_t node = rig_view_node(view, state);
        uint32_t most = 0;
        struct rig_cursor cursor = {0};
        for (uint32_t from; (from = rig_view_next(view, state, &cursor)) != RIG_NODE_NONE;)
            most = larger(most, larger(latest[from], invocation(history, rig_view_node(view, from))));
        latest[state] = most;
        if (node >= history->txn_count || rig_txn_end(history, node) >= most)
            continue;
        if (violations->count == 0 || violations->at[violations->count - 1] != node)
            done = rig_txn_list_add(violations, node);
    }
    free(latest);
    return done ? RIG_OK : rig_fail(err, RIG_E_LIMIT, "not enough memory for the real-time order; raise --max-memory");
}
