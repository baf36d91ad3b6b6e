#include "checker/objects/object_begins.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "checker/model/object_words.h"

/* A value that an operation observes that may have met the initial state. */
struct met_value {
    int64_t value;
    uint32_t key;
    uint32_t end;          /* the first end of such an operation */
    uint32_t written_from; /* the first invocation of a write of it; RIG_POSITION_NONE: there is none */
    bool written;          /* some operation writes it, whatever became of it */
};

RIG_VEC(struct met_value, met_values)

struct finding {
    const struct rig_history *history;
    bool late;
    uint32_t *first_end; /* per key, of acknowledged operations that observe or write */
    struct met_values met;
    struct rig_table place_of;
    bool failed;
};

/* The value that the operations observe first; false: none is known. */
static bool observes(const struct rig_history *history, const struct rig_txn_op *ops, uint32_t count, int64_t *value)
{
    if (count == 0 || (ops->kind != RIG_OP_EXPECT && (!rig_op_reads(ops->kind) || ops->read_state == RIG_READ_UNKNOWN)))
        return false;
    const bool nil = rig_op_reads(ops->kind) && ops->read_state == RIG_READ_NIL;
    *value = nil ? rig_object_nil(history->workload) : ops->value;
    return true;
}

bool rig_object_begins_writes(const struct rig_txn_op *ops, uint32_t count, int64_t *value)
{
    if (count == 0 || ops[count - 1].kind != RIG_OP_WRITE)
        return false;
    *value = ops[count - 1].value;
    return count == 1 || ops->kind != RIG_OP_EXPECT || ops->value != *value;
}

/* The place of the value among those that were met; NULL: it was not. */
static struct met_value *find(struct finding *f, uint32_t key, int64_t value, bool adds)
{
    RIG_REQUIRE(key < f->history->key_count);
    uint64_t hash = ((uint64_t)value ^ (uint64_t)key << 32) * UINT64_C(0x9e3779b97f4a7c15);
    for (hash ^= hash >> 32;; hash++) {
        const uint32_t known = rig_table_get(&f->place_of, hash);
        if (known == RIG_TABLE_NONE)
            break;
        RIG_INVARIANT(known < f->met.count);
        if (f->met.at[known].key == key && f->met.at[known].value == value)
            return &f->met.at[known];
    }
    if (!adds)
        return NULL;
    uint32_t *place = rig_table_put(&f->place_of, hash);
    const struct met_value met = {
        .value = value, .key = key, .end = RIG_POSITION_NONE, .written_from = RIG_POSITION_NONE};
    f->failed |= place == NULL || !met_values_add(&f->met, met);
    if (f->failed)
        return NULL;
    *place = (uint32_t)f->met.count - 1;
    return &f->met.at[*place];
}

static uint32_t begin_of(const struct rig_txn *txn)
{
    return txn->invoke_at == RIG_POSITION_NONE ? 0 : txn->invoke_at;
}

static void find_first_ends(struct finding *f)
{
    int64_t value;
    for (uint32_t txn = 0; txn < f->history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(f->history, txn);
        const uint32_t count = rig_txn_op_count(f->history, txn), end = rig_txn_end(f->history, txn);
        if (f->history->txns[txn].outcome != RIG_OUTCOME_OK ||
            (!observes(f->history, ops, count, &value) && (count == 0 || ops[count - 1].kind != RIG_OP_WRITE)))
            continue;
        f->first_end[ops->key] = end < f->first_end[ops->key] ? end : f->first_end[ops->key];
    }
}

static void meet_values(struct finding *f)
{
    int64_t value;
    for (uint32_t txn = 0; txn < f->history->txn_count && !f->failed; txn++) {
        const struct rig_txn *t = &f->history->txns[txn];
        const struct rig_txn_op *ops = rig_txn_ops(f->history, txn);
        if (t->outcome != RIG_OUTCOME_OK || !observes(f->history, ops, rig_txn_op_count(f->history, txn), &value) ||
            (!f->late && begin_of(t) >= f->first_end[ops->key]))
            continue;
        struct met_value *met = find(f, ops->key, value, true);
        const uint32_t end = rig_txn_end(f->history, txn);
        if (met != NULL)
            met->end = end < met->end ? end : met->end;
    }
}

static void find_writes(struct finding *f)
{
    int64_t value;
    for (uint32_t txn = 0; txn < f->history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(f->history, txn);
        const uint32_t begin = begin_of(&f->history->txns[txn]);
        if (!rig_object_begins_writes(ops, rig_txn_op_count(f->history, txn), &value))
            continue;
        struct met_value *met = find(f, ops->key, value, false);
        if (met == NULL)
            continue;
        met->written = true;
        met->written_from = begin < met->written_from ? begin : met->written_from;
    }
}

/* One that nothing writes comes before one that is written, then the one that was observed first. */
static bool is_better(const struct met_value *met, const struct met_value *than)
{
    if (than == NULL || met->written != than->written)
        return than == NULL || than->written;
    return met->end < than->end;
}

static bool choose(struct finding *f, struct rig_begin *begins)
{
    const int64_t nil = rig_object_nil(f->history->workload);
    const struct met_value **best = calloc((size_t)f->history->key_count + 1, sizeof *best);
    for (size_t i = 0; best != NULL && i < f->met.count; i++) {
        const struct met_value *met = &f->met.at[i];
        const struct met_value **own = &best[met->key];
        if (met->written_from < met->end || (met->value == nil && met->written && f->late))
            continue;
        if (met->value == nil || *own == NULL || (*own)->value != nil)
            *own = met->value == nil || is_better(met, *own) ? met : *own;
    }
    for (uint32_t key = 0; best != NULL && key < f->history->key_count; key++) {
        if (best[key] == NULL || best[key]->value == nil)
            continue;
        RIG_INVARIANT(best[key]->key == key && best[key]->end <= best[key]->written_from);
        begins[key] = (struct rig_begin){best[key]->value, best[key]->written ? RIG_BEGINS_IN_DOUBT : RIG_BEGINS_TAKEN};
    }
    free((void *)best);
    return best != NULL;
}

struct rig_begin *rig_object_begins_find(const struct rig_history *history, struct rig_known_initial given, bool late,
                                         struct rig_arena *arena)
{
    const struct rig_begin begin = {given.known ? given.value : rig_object_nil(history->workload),
                                    given.known ? RIG_BEGINS_GIVEN : RIG_BEGINS_PLAIN};
    struct finding f = {.history = history, .late = late};
    struct rig_begin *begins = rig_arena_room(arena, (size_t)history->key_count + 1, sizeof *begins);
    for (uint32_t key = 0; begins != NULL && key < history->key_count; key++)
        begins[key] = begin;
    if (begins == NULL || given.known || history->workload != RIG_WORKLOAD_CAS_REGISTER)
        return begins;
    f.first_end = rig_arena_room(arena, (size_t)history->key_count + 1, sizeof *f.first_end);
    for (uint32_t key = 0; f.first_end != NULL && key < history->key_count; key++)
        f.first_end[key] = RIG_POSITION_NONE;
    rig_table_init(&f.place_of);
    f.failed = f.first_end == NULL;
    if (!f.failed) {
        find_first_ends(&f);
        meet_values(&f);
        find_writes(&f);
    }
    const bool found = !f.failed && choose(&f, begins);
    met_values_done(&f.met);
    rig_table_done(&f.place_of);
    return found ? begins : NULL;
}

uint32_t *rig_object_begins_states(const struct rig_begin *begins, uint32_t key_count, struct rig_object_model *model,
                                   struct rig_arena *arena)
{
    RIG_REQUIRE(begins != NULL || !model->is_register);
    uint32_t *states = rig_arena_array(arena, (size_t)key_count + 1, sizeof *states);
    bool fits = states != NULL;
    for (uint32_t key = 0; fits && model->is_register && key < key_count; key++) {
        const bool plain = begins[key].as == RIG_BEGINS_PLAIN || begins[key].as == RIG_BEGINS_IN_DOUBT;
        const int64_t value = begins[key].value;
        states[key] = plain ? RIG_OBJECT_INITIAL : rig_object_state_of(model, &value, sizeof value);
        fits = states[key] != RIG_OBJECT_NONE;
        RIG_INVARIANT(!fits || states[key] < model->states.count);
    }
    return fits ? states : NULL;
}
