#include "jobs/shrink/value_writers.h"

#include <stdlib.h>

static uint64_t hash_of(uint32_t key, int64_t value)
{
    uint64_t hash = (uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) + key;
    return hash ^ hash >> 29;
}

enum rig_rc rig_value_writers_init(struct rig_value_writers *writers, const struct rig_history *history,
                                   struct rig_err *err)
{
    *writers = (struct rig_value_writers){.history = history};
    rig_table_init(&writers->first);
    writers->next = malloc(((size_t)history->op_count + 1) * sizeof *writers->next);
    if (writers->next == NULL)
        return rig_no_memory(err, "the writers of a history");
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (rig_op_reads(op->kind))
            continue;
        uint32_t *place = rig_table_put(&writers->first, hash_of(op->key, op->value));
        if (place == NULL)
            return rig_no_memory(err, "the writers of a history");
        writers->next[i] = *place;
        *place = i;
    }
    return RIG_OK;
}

void rig_value_writers_done(struct rig_value_writers *writers)
{
    rig_table_done(&writers->first);
    free(writers->next);
    *writers = (struct rig_value_writers){0};
}

uint32_t rig_value_writer(const struct rig_value_writers *writers, uint32_t key, int64_t value)
{
    const struct rig_txn_op *ops = writers->history->ops;
    uint32_t at = rig_table_get(&writers->first, hash_of(key, value));
    while (at != RIG_TABLE_NONE && (ops[at].key != key || ops[at].value != value))
        at = writers->next[at];
    return at;
}
