#include "checker/cycle/components.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

struct frame {
    uint32_t state;
    uint32_t lowest; /* smallest index reachable so far */
    struct rig_cursor cursor;
};

RIG_VEC(struct frame, frames)
RIG_VEC(uint32_t, states)

struct tarjan {
    struct rig_components *out;
    uint32_t *index; /* 1-based discovery index; 0: not yet discovered; DONE once in a component */
    uint32_t next_index;
    uint32_t placed; /* states in out->order */
    struct frames path;
    struct states open;
};

static const uint32_t DONE = UINT32_MAX;

void rig_components_done(struct rig_components *components)
{
    free(components->order);
    free(components->component_of);
    rig_component_list_done(&components->list);
    *components = (struct rig_components){0};
}

static bool enter(struct tarjan *t, uint32_t state)
{
    t->index[state] = ++t->next_index;
    return states_add(&t->open, state) && frames_add(&t->path, (struct frame){.state = state, .lowest = t->next_index});
}

/* Moves the component whose root is `state` from the open states to the order. */
static bool close_component(struct tarjan *t, uint32_t state)
{
    struct rig_components *out = t->out;
    uint32_t begin = t->placed;
    uint32_t member;
    size_t root = t->open.count;
    do {
        member = t->open.at[--root];
    } while (member != state);
    for (size_t i = root; i < t->open.count; i++) {
        out->order[t->placed++] = t->open.at[i];
        t->index[t->open.at[i]] = DONE;
    }
    t->open.count = root;
    if (t->placed - begin == 1)
        return true;
    for (uint32_t i = begin; i < t->placed; i++)
        out->component_of[out->order[i]] = (uint32_t)out->list.count;
    return rig_component_list_add(&out->list, (struct rig_component){begin, t->placed});
}

/* The next predecessor that is in no component yet, or RIG_NODE_NONE. */
static inline uint32_t next_open(const struct tarjan *t, struct frame *frame)
{
    const struct rig_view *view = &t->out->view;
    const struct rig_graph *graph = view->graph;
    if (!rig_view_is_plain(view)) {
        uint32_t from;
        do {
            from = rig_view_next(view, frame->state, &frame->cursor);
        } while (from != RIG_NODE_NONE && t->index[from] == DONE);
        return from;
    }
    const uint32_t *edges = graph->edges + graph->first[frame->state];
    uint32_t degree = graph->first[frame->state + 1] - graph->first[frame->state];
    while (frame->cursor.edge < degree) {
        uint32_t edge = edges[frame->cursor.edge++];
        if (rig_link_in(rig_edge_link(edge), view->links) && t->index[rig_edge_node(edge)] != DONE)
            return rig_edge_node(edge);
    }
    if (frame->cursor.edge > degree)
        return RIG_NODE_NONE;
    frame->cursor.edge++;
    uint32_t before = rig_view_process(view, frame->state);
    return before == RIG_NODE_NONE || t->index[before] == DONE ? RIG_NODE_NONE : before;
}

static bool explore(struct tarjan *t, uint32_t start)
{
    if (!enter(t, start))
        return false;
    while (t->path.count > 0) {
        struct frame *top = &t->path.at[t->path.count - 1];
        uint32_t next = next_open(t, top);
        if (next != RIG_NODE_NONE) {
            uint32_t index = t->index[next];
            if (index != 0)
                top->lowest = index < top->lowest ? index : top->lowest;
            else if (!enter(t, next))
                return false;
            continue;
        }
        struct frame finished = *top;
        t->path.count--;
        if (finished.lowest == t->index[finished.state] && !close_component(t, finished.state))
            return false;
        if (t->path.count > 0 && finished.lowest < t->path.at[t->path.count - 1].lowest)
            t->path.at[t->path.count - 1].lowest = finished.lowest;
    }
    return true;
}

/* True when all predecessors of the state are in components: then it is one by itself. */
static bool is_alone(const struct tarjan *t, uint32_t state)
{
    const struct rig_view *view = &t->out->view;
    const struct rig_graph *graph = view->graph;
    if (!rig_view_is_plain(view)) {
        struct rig_cursor cursor = {0};
        for (uint32_t from; (from = rig_view_next(view, state, &cursor)) != RIG_NODE_NONE;) {
            if (t->index[from] != DONE)
                return false;
        }
        return true;
    }
    unsigned links = view->links | 1u << RIG_LINK_THROUGH;
    uint32_t open = 0, before = rig_view_process(view, state);
    for (uint32_t i = graph->first[state]; i < graph->first[state + 1]; i++) {
        uint32_t edge = graph->edges[i];
        open |= (links >> rig_edge_link(edge) & 1u) & (t->index[rig_edge_node(edge)] != DONE);
    }
    return open == 0 && (before == RIG_NODE_NONE || t->index[before] == DONE);
}

static bool visit(struct tarjan *t, uint32_t state)
{
    if (!is_alone(t, state))
        return explore(t, state);
    t->out->order[t->placed++] = state;
    t->index[state] = DONE;
    return true;
}

enum rig_rc rig_components_find(struct rig_view view, struct rig_components *components, struct rig_err *err)
{
    uint32_t state_count = view.graph->node_count * (view.split ? 2u : 1u);
    *components = (struct rig_components){.view = view, .state_count = state_count};
    struct tarjan t = {.out = components};
    components->order = malloc(((size_t)state_count + 1) * sizeof *components->order);
    components->component_of = malloc(((size_t)state_count + 1) * sizeof *components->component_of);
    t.index = calloc((size_t)state_count + 1, sizeof *t.index);
    bool done = components->order != NULL && components->component_of != NULL && t.index != NULL;
    if (done)
        memset(components->component_of, 0xff, ((size_t)state_count + 1) * sizeof *components->component_of);
    for (uint32_t state = 0; done && state < state_count; state++) {
        if (t.index[state] == 0)
            done = visit(&t, state);
    }
    free(t.index);
    frames_done(&t.path);
    states_done(&t.open);
    if (!done)
        return rig_fail(err, RIG_E_LIMIT, "not enough memory for the components of %u nodes; raise --max-memory",
                        state_count);
    RIG_INVARIANT(t.placed == state_count);
    return RIG_OK;
}
