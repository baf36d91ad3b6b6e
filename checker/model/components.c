#include "checker/model/components.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

struct frame {
    uint32_t state;
    uint32_t lowest; /* smallest index reachable so far */
    size_t next;     /* place of the next predecessor in `ahead`; the last frame's predecessors stand last there */
    uint32_t count;  /* its predecessors there that are left */
};

/* A summary of a state's predecessors. */
struct collected {
    uint32_t count;  /* those not yet discovered; every one is stored, and kept only where it counts */
    uint32_t lowest; /* the smallest index of an open one, minus 1 */
};

RIG_VEC(struct frame, frames)
RIG_VEC(uint32_t, states)

struct tarjan {
    struct rig_components *out;
    uint32_t *index; /* 1-based discovery index; 0: not yet discovered; CLOSED and more once in a component */
    uint32_t next_index;
    uint32_t placed;     /* states in out->order; */
    uint32_t open_count; /*   the open ones stand at its end, the latest first */
    struct frames path;
    struct states ahead; /* predecessors of the path's states, undiscovered when they were collected */
};

static const uint32_t CLOSED =
    0x80000000u; /* the other bits have the number of the component; not of one node: ALONE */
static const uint32_t ALONE = UINT32_MAX;

void rig_components_done(struct rig_components *components)
{
    free(components->order);
    free(components->component_of);
    rig_component_list_done(&components->list);
    *components = (struct rig_components){0};
}

static void reverse(uint32_t *at, uint32_t count)
{
    for (uint32_t low = 0, high = count; low + 1 < high; low++) {
        uint32_t state = at[low];
        at[low] = at[--high];
        at[high] = state;
    }
}

/* Moves the component with root `state` from the open states to the order, in the order of discovery. */
static bool close_component(struct tarjan *t, uint32_t state)
{
    struct rig_components *out = t->out;
    const uint32_t begin = t->placed;
    uint32_t *members = out->order + begin, *open = out->order + out->state_count - t->open_count;
    uint32_t count = 1;
    while (open[count - 1] != state)
        RIG_INVARIANT(++count <= t->open_count);
    memmove(members, open, count * sizeof *open); /* the ranges may overlap */
    reverse(members, count);
    t->open_count -= count;
    t->placed += count;
    for (uint32_t i = 0; i < count; i++)
        t->index[members[i]] = count == 1 ? ALONE : CLOSED | (uint32_t)out->list.count;
    return count == 1 || rig_component_list_add(&out->list, (struct rig_component){begin, t->placed});
}

/* ---- the predecessors of a state ---- */

/* `in_view`: 1 when the edge from there is one of the view's, else 0. */
static inline void take(const struct tarjan *t, uint32_t from, uint32_t in_view, uint32_t *ahead, struct collected *c)
{
    /* Larger than any open index when `from` is undiscovered or not in view. */
    uint32_t before = (t->index[from] - 1) | (in_view - 1);
    ahead[c->count] = from;
    c->count += before == UINT32_MAX && in_view;
    c->lowest = before < c->lowest ? before : c->lowest;
}

static struct collected collect_plain(const struct tarjan *t, uint32_t node, uint32_t *ahead)
{
    const struct rig_view *view = &t->out->view;
    const struct rig_graph *graph = view->graph;
    const unsigned links = view->links | 1u << RIG_LINK_THROUGH;
    struct collected c = {.lowest = UINT32_MAX};
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++)
        take(t, rig_edge_node(graph->edges[i]), links >> rig_edge_link(graph->edges[i]) & 1u, ahead, &c);
    uint32_t before = rig_view_process(view, node);
    if (before != RIG_NODE_NONE)
        take(t, before, 1, ahead, &c);
    return c;
}

/* The predecessors of a state that was reached by rw: over edges other than rw, in both states. */
static struct collected collect_behind_rw(const struct tarjan *t, uint32_t node, uint32_t *ahead)
{
    const struct rig_graph *graph = t->out->view.graph;
    const unsigned links = (t->out->view.links & RIG_LINKS_RW) | 1u << RIG_LINK_THROUGH;
    struct collected c = {.lowest = UINT32_MAX};
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
        uint32_t edge = graph->edges[i];
        uint32_t from = 2 * rig_edge_node(edge) + (rig_edge_link(edge) == RIG_LINK_THROUGH);
        take(t, from, links >> rig_edge_link(edge) & 1u, ahead, &c);
    }
    return c;
}

static struct collected collect_behind_others(const struct tarjan *t, uint32_t node, uint32_t *ahead)
{
    const struct rig_view *view = &t->out->view;
    const struct rig_graph *graph = view->graph;
    const unsigned flow = view->links & ~RIG_LINKS_RW, any = flow | 1u << RIG_LINK_THROUGH;
    struct collected c = {.lowest = UINT32_MAX};
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
        uint32_t edge = graph->edges[i], from = 2 * rig_edge_node(edge);
        take(t, from + 1, flow >> rig_edge_link(edge) & 1u, ahead, &c);
        take(t, from, any >> rig_edge_link(edge) & 1u, ahead, &c);
    }
    bool known = view->process && node < graph->txn_count && graph->process_before[node] != RIG_NODE_NONE;
    for (uint32_t from = known ? 2 * graph->process_before[node] : 0, twin = 2; known && twin-- > 0;)
        take(t, from + twin, 1, ahead, &c);
    return c;
}

static struct collected collect_settled(const struct tarjan *t, uint32_t state, uint32_t *ahead)
{
    struct rig_cursor cursor = {0};
    struct collected c = {.lowest = UINT32_MAX};
    for (uint32_t from; (from = rig_view_next(&t->out->view, state, &cursor)) != RIG_NODE_NONE;)
        take(t, from, 1, ahead, &c);
    return c;
}

/* Stores the undiscovered predecessors past the end of `ahead`, uncounted yet; false when memory runs out. */
static inline bool collect(struct tarjan *t, uint32_t state, struct collected *c)
{
    const struct rig_view *view = &t->out->view;
    const uint32_t node = rig_view_node(view, state);
    const size_t most = 2 * (size_t)(view->graph->first[node + 1] - view->graph->first[node]) + 3;
    if (t->ahead.capacity < t->ahead.count + most && !states_reserve(&t->ahead, t->ahead.count + most))
        return false;
    uint32_t *ahead = t->ahead.at + t->ahead.count;
    if (view->split)
        *c = state & 1u ? collect_behind_rw(t, node, ahead) : collect_behind_others(t, node, ahead);
    else
        *c = rig_view_is_plain(view) ? collect_plain(t, node, ahead) : collect_settled(t, state, ahead);
    return true;
}

/* ---- the walk ---- */

static void place(struct tarjan *t, uint32_t state)
{
    t->out->order[t->placed++] = state;
    t->index[state] = ALONE;
}

static inline void reach(struct tarjan *t, uint32_t lowest)
{
    struct frame *top = &t->path.at[t->path.count - 1];
    top->lowest = lowest < top->lowest ? lowest : top->lowest;
}

/* A state whose predecessors are all in components forms one by itself; without undiscovered ones there is no walk. */
static inline bool visit(struct tarjan *t, uint32_t state)
{
    struct collected c;
    if (!collect(t, state, &c))
        return false;
    const bool is_open = c.lowest < CLOSED - 1;
    if (c.count == 0 && !is_open) {
        place(t, state);
        return true;
    }
    t->index[state] = ++t->next_index;
    t->out->order[t->out->state_count - ++t->open_count] = state;
    const uint32_t lowest = is_open ? c.lowest + 1 : t->next_index;
    if (c.count == 0) {
        reach(t, lowest);
        return true;
    }
    struct frame frame = {.state = state, .lowest = lowest, .next = t->ahead.count, .count = c.count};
    t->ahead.count += c.count;
    return frames_add(&t->path, frame);
}

static bool leave(struct tarjan *t, struct frame finished)
{
    RIG_INVARIANT(finished.count <= t->ahead.count && finished.lowest <= t->index[finished.state]);
    t->path.count--;
    t->ahead.count -= finished.count;
    if (finished.lowest == t->index[finished.state] && !close_component(t, finished.state))
        return false;
    if (t->path.count > 0)
        reach(t, finished.lowest);
    return true;
}

static bool explore(struct tarjan *t, uint32_t start)
{
    if (!visit(t, start))
        return false;
    while (t->path.count > 0) {
        struct frame *top = &t->path.at[t->path.count - 1];
        if (top->next == t->ahead.count) {
            if (!leave(t, *top))
                return false;
            continue;
        }
        uint32_t next = t->ahead.at[top->next++];
        if (t->index[next] == 0 && !visit(t, next)) /* a state discovered since then has no lower index than `top` */
            return false;
    }
    return true;
}

enum rig_rc rig_components_find(struct rig_view view, struct rig_components *components, struct rig_err *err)
{
    RIG_REQUIRE(!(view.split && view.settled) && (!view.process || view.graph->process_before != NULL));
    uint32_t state_count = view.graph->node_count * (view.split ? 2u : 1u);
    *components = (struct rig_components){.view = view, .state_count = state_count};
    struct tarjan t = {.out = components};
    RIG_REQUIRE(state_count < CLOSED);
    components->order = malloc(((size_t)state_count + 1) * sizeof *components->order);
    components->component_of = calloc((size_t)state_count + 1, sizeof *components->component_of);
    t.index = components->component_of;
    bool done = components->order != NULL && components->component_of != NULL;
    for (uint32_t state = 0; done && state < state_count; state++) {
        if (t.index[state] == 0)
            done = explore(&t, state);
    }
    RIG_INVARIANT(!done || (t.path.count == 0 && t.ahead.count == 0));
    frames_done(&t.path);
    states_done(&t.ahead);
    if (!done)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the components of %u nodes; raise --max-memory", state_count);
    RIG_INVARIANT(t.placed == state_count && t.open_count == 0);
    for (uint32_t state = 0; state < state_count; state++)
        components->component_of[state] = t.index[state] == ALONE ? UINT32_MAX : t.index[state] & ~CLOSED;
    RIG_COSTLY(rig_components_are_sound(components));
    return RIG_OK;
}

/* ---- checking ---- */

static bool members_stand_together(const struct rig_components *c)
{
    uint32_t end = 0, members = 0, alone = 0;
    for (size_t i = 0; i < c->list.count; i++) {
        const struct rig_component *component = &c->list.at[i];
        if (component->begin < end || component->end < component->begin + 2 || component->end > c->state_count)
            return false;
        for (uint32_t place = component->begin; place < component->end; place++) {
            if (c->component_of[c->order[place]] != i)
                return false;
        }
        end = component->end;
        members += component->end - component->begin;
    }
    for (uint32_t state = 0; state < c->state_count; state++)
        alone += c->component_of[state] == UINT32_MAX;
    return members + alone == c->state_count;
}

static bool stands_behind(const struct rig_components *c, const uint32_t *places, uint32_t state)
{
    const uint32_t component = c->component_of[state];
    struct rig_cursor cursor = {0};
    bool inside = component == UINT32_MAX;
    for (uint32_t from; (from = rig_view_next(&c->view, state, &cursor)) != RIG_NODE_NONE;) {
        const bool together = component != UINT32_MAX && c->component_of[from] == component;
        inside |= together;
        if (!together && places[from] >= places[state])
            return false;
    }
    return inside;
}

bool rig_components_are_sound(const struct rig_components *components)
{
    const uint32_t count = components->state_count;
    uint32_t *places = malloc(((size_t)count + 1) * sizeof *places);
    bool sound = true;
    if (places == NULL)
        return true;
    memset(places, 0xff, ((size_t)count + 1) * sizeof *places);
    for (uint32_t place = 0; sound && place < count; place++) {
        const uint32_t state = components->order[place];
        sound = state < count && places[state] == UINT32_MAX;
        if (sound)
            places[state] = place;
    }
    sound = sound && members_stand_together(components);
    for (uint32_t state = 0; sound && state < count; state++)
        sound = stands_behind(components, places, state);
    free(places);
    return sound;
}
