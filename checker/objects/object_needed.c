#include "checker/objects/object_needed.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t none = UINT32_MAX;

struct needing {
    const struct rig_object_model *model;
    const struct rig_object_op *ops;
    uint32_t
        *first; /* per state: the first operation of unknown outcome that leaves it, of those not known to be needed */
    uint32_t *next;    /* per operation: the next one that leaves the same state */
    uint32_t *waiting; /* states that are needed, whose operations have not been looked at */
    uint8_t *needed;   /* per operation */
    uint32_t wait_count;
};

static void need(struct needing *n, uint32_t op)
{
    const struct rig_object_class *class = &n->model->classes.at[n->ops[op].class];
    n->needed[op] = 1;
    if (class->needs < n->model->states.count && n->first[class->needs] != none)
        n->waiting[n->wait_count++] = class->needs;
}

/* Every operation of unknown outcome is taken out of its list at most once. */
static void need_all(struct needing *n)
{
    while (n->wait_count > 0) {
        const uint32_t state = n->waiting[--n->wait_count];
        uint32_t op = n->first[state];
        n->first[state] = none;
        for (; op != none; op = n->next[op])
            need(n, op);
    }
}

static void find_needed(struct needing *n, uint32_t count, const uint8_t *used)
{
    memset(n->first, 0xff, n->model->states.count * sizeof *n->first);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t leaves = n->model->classes.at[n->ops[i].class].leaves;
        if (n->ops[i].end != RIG_POSITION_NONE || leaves == RIG_OBJECT_NONE || (used != NULL && used[i]))
            continue;
        n->next[i] = n->first[leaves];
        n->first[leaves] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (n->ops[i].end != RIG_POSITION_NONE || (used != NULL && used[i]))
            need(n, i);
        need_all(n);
    }
}

bool rig_object_needed(const struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                       const uint8_t *used, struct rig_object_op_list *needed)
{
    struct needing n = {.model = model, .ops = ops};
    bool all = !model->is_register;
    if (!rig_object_op_list_reserve(needed, (size_t)count + 1))
        return false;
    n.first = all ? NULL : malloc((model->states.count + 1) * sizeof *n.first);
    n.next = all ? NULL : malloc(((size_t)count + 1) * sizeof *n.next);
    n.waiting = all ? NULL : malloc(((size_t)count + 1) * sizeof *n.waiting);
    n.needed = all ? NULL : calloc((size_t)count + 1, 1);
    const bool fits = all || (n.first != NULL && n.next != NULL && n.waiting != NULL && n.needed != NULL);
    if (fits && !all)
        find_needed(&n, count, used);
    for (uint32_t i = 0; fits && i < count; i++) {
        if (all || n.needed[i])
            needed->at[needed->count++] = ops[i];
    }
    free(n.first);
    free(n.next);
    free(n.waiting);
    free(n.needed);
    return fits;
}
