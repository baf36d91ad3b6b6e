#include "checker/infer/list_own_ops.h"

#include <stdlib.h>

#include "base/bug.h"

void rig_own_ops_done(struct rig_own_ops *own)
{
    free(own->at);
    *own = (struct rig_own_ops){0};
}

static bool make_room(struct rig_own_ops *own, uint32_t count)
{
    if (count <= own->room)
        return true;
    const size_t room = (size_t)count + count / 2;
    struct rig_own_op *at = realloc(own->at, room * sizeof *at);
    if (at == NULL)
        return false;
    own->at = at;
    own->room = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    return true;
}

static uint32_t position_of(const struct rig_versions *versions, const struct rig_txn_op *op)
{
    if (op->kind != RIG_OP_APPEND)
        return RIG_VERSION_NONE;
    const struct rig_append *append = rig_versions_append(versions, op->key, op->value);
    return rig_append_is_placed(append) ? append->position : RIG_VERSION_NONE;
}

bool rig_own_ops_take(struct rig_own_ops *own, const struct rig_versions *versions, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(versions->history, txn);
    const uint32_t count = rig_txn_op_count(versions->history, txn);
    if (!make_room(own, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        versions->key_places[ops[i].key].visitor = RIG_TXN_NONE;
    for (uint32_t i = 0; i < count; i++) {
        struct rig_key_places *key = &versions->key_places[ops[i].key];
        const bool again = key->visitor == txn;
        own->at[i] = (struct rig_own_op){again ? key->start : RIG_OWN_NONE, RIG_OWN_NONE, RIG_VERSION_NONE};
        if (again)
            own->at[key->start].next = i;
        key->visitor = txn;
        key->start = i;
    }
    for (uint32_t i = count; i-- > 0;) {
        struct rig_own_op *op = &own->at[i];
        versions->key_places[ops[i].key].visitor = RIG_TXN_NONE;
        if (op->next == RIG_OWN_NONE)
            continue;
        RIG_INVARIANT(op->next > i && own->at[op->next].previous == i);
        const uint32_t later = own->at[op->next].least_later, next = position_of(versions, &ops[op->next]);
        op->least_later = next < later ? next : later;
    }
    return true;
}
