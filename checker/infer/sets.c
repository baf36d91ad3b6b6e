#include "checker/infer/sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "base/vec.h"
#include "history/model/value_texts.h"
#include "history/model/window_view.h"
#include "history/types/types.h"

RIG_VEC(uint32_t, txn_stack)

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the elements of the sets");
}

/* ---- elements ---- */

static enum rig_rc foreign_operation(const struct rig_history *history, uint32_t op, struct rig_err *err)
{
    return rig_fail(err, RIG_E_INPUT,
                    "transaction %u holds an operation that is neither an addition to nor a read of a %s; check it as "
                    "another workload",
                    rig_txn_name(history, rig_history_txn_of(history, op)), rig_data_types[history->workload].name);
}

static enum rig_rc added_twice(const struct rig_history *history, const struct rig_set_element *first,
                               const struct rig_set_element *second, struct rig_err *err)
{
    char key[64];
    rig_history_key_name(history, first->key, key, sizeof key);
    return rig_fail(err, RIG_E_INPUT,
                    "transactions %u and %u both add %s to key %s; %s needs values that are unique per key",
                    rig_txn_name(history, first->writer), rig_txn_name(history, second->writer),
                    RIG_VALUE_SHOWN(first->value), key, rig_data_types[history->workload].name);
}

static int compare_elements(const void *left, const void *right)
{
    const struct rig_set_element *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    if (a->writer != b->writer)
        return a->writer < b->writer ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

static enum rig_rc count_additions(const struct rig_history *history, uint32_t *count, struct rig_err *err)
{
    const struct rig_data_type *type = &rig_data_types[history->workload];
    *count = 0;
    for (uint32_t op = 0; op < history->op_count; op++) {
        const enum rig_op_kind kind = (enum rig_op_kind)history->ops[op].kind;
        if (kind != type->write_op && kind != type->read_op)
            return foreign_operation(history, op, err);
        *count += kind == type->write_op;
    }
    return RIG_OK;
}

static void list_elements(struct rig_sets *sets)
{
    const struct rig_history *history = sets->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (!rig_op_reads(ops[i].kind))
                sets->elements[sets->element_count++] =
                    (struct rig_set_element){.value = ops[i].value, .key = ops[i].key, .writer = txn, .op = i};
        }
    }
    if (sets->element_count > 1)
        qsort(sets->elements, sets->element_count, sizeof *sets->elements, compare_elements);
    for (uint32_t i = 0; i < sets->element_count; i++)
        sets->key_first[sets->elements[i].key + 1]++;
    for (uint32_t key = 0; key < history->key_count; key++)
        sets->key_first[key + 1] += sets->key_first[key];
}

static enum rig_rc find_elements(struct rig_sets *sets, struct rig_arena *arena, struct rig_err *err)
{
    const struct rig_history *history = sets->history;
    uint32_t count = 0;
    const enum rig_rc rc = count_additions(history, &count, err);
    if (rc != RIG_OK)
        return rc;
    sets->elements = rig_arena_room(arena, (size_t)count + 1, sizeof *sets->elements);
    sets->key_first = rig_arena_array(arena, (size_t)history->key_count + 2, sizeof *sets->key_first);
    if (sets->elements == NULL || sets->key_first == NULL)
        return no_memory(err);
    list_elements(sets);
    RIG_INVARIANT(sets->element_count == count && sets->key_first[history->key_count] == count);
    for (uint32_t i = 1; i < count; i++) {
        const struct rig_set_element *before = &sets->elements[i - 1];
        if (before->key == sets->elements[i].key && before->value == sets->elements[i].value)
            return added_twice(history, before, &sets->elements[i], err);
    }
    return RIG_OK;
}

uint32_t rig_sets_find(const struct rig_sets *sets, uint32_t key, int64_t value)
{
    uint32_t low = sets->key_first[key], high = sets->key_first[key + 1];
    if (low == high || value < sets->elements[low].value || value > sets->elements[high - 1].value)
        return RIG_SET_NONE;
    const uint64_t place = (uint64_t)value - (uint64_t)sets->elements[low].value;
    if (place < high - low && sets->elements[low + place].value == value)
        return low + (uint32_t)place;
    while (low < high)
        rig_halve(&low, &high, sets->elements[rig_middle(low, high)].value < value);
    RIG_INVARIANT(low < sets->key_first[key + 1]);
    return sets->elements[low].value == value ? low : RIG_SET_NONE;
}

/* ---- committed transactions ---- */

/* Transactions of unknown fate committed if this one read their elements. The first `followed` elements of a key's
 * spine need no other look. Every second element of records is one. False when memory runs out. */
static bool follow_reads(struct rig_sets *sets, uint32_t txn, uint32_t *followed, struct txn_stack *fresh)
{
    const struct rig_history *history = sets->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        const struct rig_read_list list =
            rig_op_reads(ops[i].kind) ? rig_txn_op_list(history, &ops[i]) : (struct rig_read_list){0};
        const uint32_t width = rig_op_reads_records(ops[i].kind) ? 2 : 1;
        uint32_t *known = &followed[ops[i].key];
        const uint32_t from = *known < list.shared ? *known : list.shared;
        *known = *known < list.shared ? list.shared : *known;
        for (uint32_t at = from | (width - 1); at < list.count; at += width) {
            const uint32_t element = rig_sets_find(sets, ops[i].key, rig_read_element(&list, at));
            const uint32_t writer = element == RIG_SET_NONE ? RIG_SET_NONE : sets->elements[element].writer;
            if (writer == RIG_SET_NONE || sets->committed[writer] || history->txns[writer].outcome != RIG_OUTCOME_INFO)
                continue;
            sets->committed[writer] = 1;
            sets->committed_count++;
            if (!txn_stack_add(fresh, writer))
                return false;
        }
    }
    return true;
}

static bool find_committed(struct rig_sets *sets, struct rig_arena *arena)
{
    const struct rig_history *history = sets->history;
    struct txn_stack fresh = {0};
    bool any_open = false, done = true;
    sets->committed = rig_arena_room(arena, (size_t)history->txn_count + 1, sizeof *sets->committed);
    uint32_t *followed = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof *followed);
    if (sets->committed == NULL || followed == NULL)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const bool counts = rig_txn_is_committed(&history->txns[txn]);
        sets->committed[txn] = counts;
        sets->committed_count += counts;
        any_open |= !counts && history->txns[txn].outcome == RIG_OUTCOME_INFO;
    }
    for (uint32_t txn = 0; done && any_open && txn < history->txn_count; txn++)
        done = !sets->committed[txn] || follow_reads(sets, txn, followed, &fresh);
    while (done && fresh.count > 0)
        done = follow_reads(sets, fresh.at[--fresh.count], followed, &fresh);
    txn_stack_done(&fresh);
    RIG_INVARIANT(sets->committed_count <= history->txn_count);
    return done;
}

enum rig_rc rig_sets_build(const struct rig_history *history, struct rig_arena *arena, struct rig_sets *sets,
                           struct rig_err *err)
{
    *sets = (struct rig_sets){.history = history};
    const enum rig_rc rc = find_elements(sets, arena, err);
    if (rc != RIG_OK)
        return rc;
    return find_committed(sets, arena) ? RIG_OK : no_memory(err);
}

/* ---- marks ---- */

bool rig_set_marks_init(struct rig_set_marks *marks, const struct rig_sets *sets, struct rig_arena *arena)
{
    marks->of = rig_arena_array(arena, (size_t)sets->element_count + 1, sizeof *marks->of);
    marks->count = 0;
    return marks->of != NULL;
}

void rig_set_marks_take(struct rig_set_marks *marks, const struct rig_sets *sets, const struct rig_txn_op *read)
{
    const struct rig_read_list list = rig_txn_op_list(sets->history, read);
    marks->count++;
    for (uint32_t at = 0; at < list.count; at++) {
        const uint32_t element = rig_sets_find(sets, read->key, rig_read_element(&list, at));
        if (element != RIG_SET_NONE)
            marks->of[element] = marks->count;
    }
}
