#include "checker/evidence/certificate_chains.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/table.h"

bool rig_certificate_number_keys(const struct rig_history *history, struct rig_table *numbers)
{
    for (uint32_t key = 0; key < history->key_count; key++) {
        uint32_t *number = rig_table_put(numbers, (uint64_t)history->keys[key]);
        if (number == NULL)
            return false;
        *number = key;
    }
    return true;
}

static int compare_slots(const void *left, const void *right)
{
    const struct rig_certificate_slot *a = left, *b = right;
    if (a->key != b->key)
        return (a->key > b->key) - (a->key < b->key);
    if (a->value != b->value)
        return (a->value > b->value) - (a->value < b->value);
    return (a->place > b->place) - (a->place < b->place);
}

/* The room that each chain needs. */
static bool make_room(const struct rig_certificate *certificate, const struct rig_table *numbers,
                      struct rig_arena *arena, uint32_t key_count, struct rig_certificate_chains *chains)
{
    uint32_t *rooms = rig_arena_array(arena, (size_t)key_count + 1, sizeof *rooms);
    if (rooms == NULL)
        return false;
    for (size_t i = 0; i < certificate->changes.count; i++) {
        const uint32_t key = rig_table_get(numbers, (uint64_t)certificate->changes.at[i].key);
        RIG_INVARIANT(key == RIG_TABLE_NONE || key < key_count);
        if (key != RIG_TABLE_NONE)
            rooms[key] += certificate->changes.at[i].count;
    }
    for (uint32_t key = 0; key < key_count; key++) {
        chains->keys[key].at = rig_arena_array(arena, (size_t)rooms[key] + 1, sizeof *chains->keys[key].at);
        if (chains->keys[key].at == NULL)
            return false;
    }
    return true;
}

/* Adds what the change puts after the chain; false where the change is irregular. */
static bool follow(struct rig_certificate_chains *chains, const struct rig_certificate *certificate, bool is_list,
                   const struct rig_change *change, uint32_t key, uint32_t *length, uint32_t commit)
{
    RIG_REQUIRE((size_t)change->first + change->count <= certificate->elements.count);
    struct rig_certificate_chain *chain = &chains->keys[key];
    const bool regular =
        !change->removed && (is_list ? change->kept == *length : change->kept == 0 && change->count == 1);
    for (uint32_t i = 0; i < change->count; i++) {
        const int64_t value = certificate->elements.at[change->first + i];
        chains->slots[chains->slot_count++] =
            (struct rig_certificate_slot){.value = value, .key = key, .place = chain->count, .commit = commit};
        chain->at[chain->count++] = value;
    }
    *length = change->kept + change->count;
    chain->irregular |= !regular;
    RIG_INVARIANT(chain->irregular || chain->count == *length || !is_list);
    return regular;
}

static void note_irregular(struct rig_certificate_chains *chains, uint32_t commit)
{
    const uint32_t count = chains->irregular_count;
    RIG_REQUIRE(count == 0 || chains->commits[count - 1] <= commit);
    if (count == 0 || chains->commits[count - 1] != commit)
        chains->commits[chains->irregular_count++] = commit;
}

static void sort_slots(struct rig_certificate_chains *chains)
{
    if (chains->slot_count > 0)
        qsort(chains->slots, chains->slot_count, sizeof *chains->slots, compare_slots);
    for (size_t i = 1; i < chains->slot_count; i++) {
        const struct rig_certificate_slot *a = &chains->slots[i - 1], *b = a + 1;
        RIG_INVARIANT(compare_slots(a, b) < 0);
        if (a->key == b->key && a->value == b->value)
            chains->keys[a->key].irregular = true;
    }
}

static bool build(const struct rig_history *history, const struct rig_certificate *certificate,
                  const struct rig_table *numbers, struct rig_arena *arena, struct rig_certificate_chains *chains)
{
    const bool is_list = rig_workload_has_sequences(history->workload);
    const uint32_t key_count = history->key_count;
    uint32_t *lengths = rig_arena_array(arena, (size_t)key_count + 1, sizeof *lengths);
    chains->keys = rig_arena_array(arena, (size_t)key_count + 1, sizeof *chains->keys);
    chains->slots = rig_arena_array(arena, certificate->elements.count + 1, sizeof *chains->slots);
    chains->commits = rig_arena_array(arena, certificate->commits.count + 1, sizeof *chains->commits);
    if (lengths == NULL || chains->keys == NULL || chains->slots == NULL || chains->commits == NULL ||
        !make_room(certificate, numbers, arena, key_count, chains))
        return false;
    for (uint32_t commit = 0; commit < certificate->commits.count; commit++) {
        const struct rig_change *changes = rig_commit_changes(certificate, commit);
        for (uint32_t i = 0; i < rig_commit_change_count(certificate, commit); i++) {
            const uint32_t key = rig_table_get(numbers, (uint64_t)changes[i].key);
            if (key == RIG_TABLE_NONE)
                chains->foreign_count++;
            else if (!follow(chains, certificate, is_list, &changes[i], key, &lengths[key], commit))
                note_irregular(chains, commit);
        }
    }
    RIG_INVARIANT(chains->slot_count <= certificate->elements.count &&
                  chains->irregular_count <= certificate->commits.count);
    sort_slots(chains);
    return true;
}

bool rig_certificate_chains_build(const struct rig_history *history, const struct rig_certificate *certificate,
                                  struct rig_arena *arena, struct rig_certificate_chains *chains)
{
    RIG_REQUIRE(certificate == history->certificate || certificate == history->certificate->lost);
    struct rig_table numbers;
    *chains = (struct rig_certificate_chains){0};
    rig_table_init(&numbers);
    const bool built =
        rig_certificate_number_keys(history, &numbers) && build(history, certificate, &numbers, arena, chains);
    rig_table_done(&numbers);
    return built;
}

const struct rig_certificate_slot *rig_certificate_find(const struct rig_certificate_chains *chains, uint32_t key,
                                                        int64_t value)
{
    RIG_REQUIRE(chains->slots != NULL || chains->slot_count == 0);
    size_t low = 0, high = chains->slot_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct rig_certificate_slot *slot = &chains->slots[middle];
        if (slot->key < key || (slot->key == key && slot->value < value))
            low = middle + 1;
        else
            high = middle;
    }
    const struct rig_certificate_slot *slot = &chains->slots[low];
    return low < chains->slot_count && slot->key == key && slot->value == value ? slot : NULL;
}

bool rig_certificate_hides(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(op < rig_txn_op_count(history, txn) && !rig_op_reads(rig_txn_ops(history, txn)[op].kind));
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    if (!history->certificate->last_only || rig_workload_has_sequences(history->workload))
        return false;
    for (uint32_t i = op + 1; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].key == ops[op].key && !rig_op_reads(ops[i].kind))
            return true;
    }
    return false;
}

const struct rig_txn_op *rig_certificate_own_write(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(txn < history->txn_count && op < rig_txn_op_count(history, txn));
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = op; i-- > 0;) {
        if (ops[i].key == ops[op].key && !rig_op_reads(ops[i].kind))
            return &ops[i];
    }
    return NULL;
}
