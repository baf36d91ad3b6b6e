#include "checker/infer/versions_audit.h"

#include <stdlib.h>

static bool committed_are_counted(const uint8_t *committed, uint32_t txn_count, uint32_t counted)
{
    uint32_t count = 0;
    for (uint32_t txn = 0; txn < txn_count; txn++)
        count += committed[txn] != 0;
    return count == counted;
}

/* ---- lists ---- */

static bool place_is_sound(const struct rig_versions *versions, uint32_t key, uint32_t position)
{
    const struct rig_append *append = rig_versions_find(versions, key, versions->keys[key].order.at[position]);
    const uint32_t writer = rig_versions_writer(versions, key, position);
    if (append == NULL)
        return writer == RIG_TXN_NONE;
    return append->position == position &&
           writer == (versions->committed[append->writer] ? append->writer : RIG_TXN_NONE);
}

/* Only elements of the order have a place in it. */
static bool appends_are_sound(const struct rig_versions *versions, uint32_t key)
{
    const struct rig_append *slots = &versions->slots[versions->key_places[key].slot_first];
    const uint32_t count = versions->keys[key].order.count;
    uint32_t placed = 0, found = 0;
    for (uint32_t i = 0; i < versions->keys[key].slot_count; i++)
        placed += slots[i].writer != RIG_TXN_NONE && rig_append_is_placed(&slots[i]);
    for (uint32_t i = 0; i < count; i++)
        found += rig_versions_find(versions, key, versions->keys[key].order.at[i]) != NULL;
    return placed == found;
}

bool rig_versions_are_sound(const struct rig_versions *versions)
{
    const struct rig_history *history = versions->history;
    bool sound = committed_are_counted(versions->committed, history->txn_count, versions->committed_count);
    for (uint32_t key = 0; sound && key < history->key_count; key++) {
        for (uint32_t i = 0; sound && i < versions->keys[key].order.count; i++)
            sound = place_is_sound(versions, key, i);
        sound = sound && appends_are_sound(versions, key);
    }
    return sound;
}

/* ---- registers ---- */

static bool op_is_sound(const struct rig_registers *registers, uint32_t op)
{
    const struct rig_txn_op *o = &registers->history->ops[op];
    const uint32_t version = registers->version_of[op];
    if (version == RIG_REGISTER_NONE) /* a read of nothing where the registers begin with a value has none, too */
        return rig_op_reads(o->kind) &&
               (o->read_state == RIG_READ_UNKNOWN || (o->read_state == RIG_READ_NIL && registers->begins_given));
    const bool nil = rig_op_reads(o->kind) && o->read_state == RIG_READ_NIL;
    const bool initial = nil || (rig_op_reads(o->kind) && version == o->key);
    return version < registers->version_count && registers->versions[version].key == o->key &&
           (initial ? version == o->key : version >= registers->history->key_count) &&
           (nil || registers->versions[version].value == o->value);
}

static bool edges_are_sound(const struct rig_registers *registers, uint32_t version)
{
    uint32_t begin, end;
    rig_registers_edges_from(registers, version, &begin, &end);
    const uint32_t key_count = registers->history->key_count;
    const bool is_unwritten = version >= key_count && registers->versions[version].writer == RIG_REGISTER_NONE;
    bool sound = begin <= end && end <= registers->edge_count;
    for (uint32_t i = begin; sound && i < end; i++) {
        const struct rig_version_edge *edge = rig_registers_edge(registers, i);
        sound = edge->from == version && (edge->to >= key_count || is_unwritten) &&
                registers->versions[edge->to].key == registers->versions[version].key &&
                (i == begin || rig_registers_edge(registers, i - 1)->to <= edge->to);
    }
    return sound;
}

/* Removes versions without predecessors until none is left. */
static bool orders_are_acyclic(const struct rig_registers *registers)
{
    const uint32_t count = registers->version_count;
    uint32_t *before = calloc((size_t)count + 1, sizeof *before), *ready = calloc((size_t)count + 1, sizeof *ready);
    uint32_t ready_count = 0, done = 0;
    for (uint32_t i = 0; before != NULL && i < registers->edge_count; i++)
        before[registers->edges[i].to]++;
    for (uint32_t version = 0; before != NULL && ready != NULL && version < count; version++) {
        if (before[version] == 0)
            ready[ready_count++] = version;
    }
    for (; done < ready_count; done++) {
        uint32_t begin, end;
        rig_registers_edges_from(registers, ready[done], &begin, &end);
        for (uint32_t i = begin; i < end; i++) {
            const uint32_t to = rig_registers_edge(registers, i)->to;
            if (--before[to] == 0)
                ready[ready_count++] = to;
        }
    }
    const bool checked = before != NULL && ready != NULL;
    free(before);
    free(ready);
    return !checked || done == count;
}

bool rig_registers_are_sound(const struct rig_registers *registers)
{
    const struct rig_history *history = registers->history;
    bool sound = committed_are_counted(registers->committed, history->txn_count, registers->committed_count);
    for (uint32_t key = 0; sound && key < history->key_count; key++)
        sound = registers->versions[key].key == key;
    for (uint32_t op = 0; sound && op < history->op_count; op++)
        sound = op_is_sound(registers, op);
    for (uint32_t version = 0; sound && version < registers->version_count; version++)
        sound = edges_are_sound(registers, version);
    return sound && orders_are_acyclic(registers);
}
