#include "checker/objects/object_witness.h"

#include <string.h>

#include "checker/model/object_words.h"

enum { MOST_OPEN = 15, MOST_STATES = 8 };

static void add_txn(struct rig_witness *witness, uint32_t txn)
{
    bool fits = witness->txn_count <= MOST_OPEN;
    for (uint32_t i = 0; fits && i < witness->txn_count; i++)
        fits = witness->txns[i] != txn;
    if (fits)
        witness->txns[witness->txn_count++] = txn;
}

/* The transactions of open operations: those that completed, then the others, last those that nothing needs. */
static void choose_open(const struct rig_object_key *key, const struct rig_object_decided *decided,
                        struct rig_witness *witness)
{
    const struct rig_object_result *result = &decided->result;
    const uint32_t end = decided->ops[result->blocked].end;
    for (unsigned unknown = 0; unknown < 2; unknown++) {
        for (size_t i = 0; i < result->open.count; i++) {
            const struct rig_object_op *op = &decided->ops[result->open.at[i]];
            if ((op->end == RIG_POSITION_NONE) == (unknown != 0))
                add_txn(witness, op->txn);
        }
    }
    for (uint32_t i = 0, listed = 0; i < key->count && key->ops[i].invoke < end; i++) {
        const bool is_listed = listed < decided->needed.count && decided->needed.at[listed].txn == key->ops[i].txn;
        listed += is_listed;
        if (is_listed || key->ops[i].end != RIG_POSITION_NONE)
            continue;
        witness->blocked->open_count++;
        add_txn(witness, key->ops[i].txn);
    }
}

static char *state_words(const struct rig_object_model *model, uint32_t state, struct rig_arena *arena)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_object_state_text(model, state, &text);
    char *words = text.failed ? NULL : rig_arena_text(arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    return words;
}

static bool add_states(const struct rig_object_key *key, const struct rig_object_result *result,
                       struct rig_arena *arena, struct rig_blocked *blocked)
{
    blocked->states = rig_arena_array(arena, MOST_STATES, sizeof *blocked->states);
    blocked->state_count = (uint32_t)result->states.count;
    for (uint32_t i = 0; blocked->states != NULL && i < blocked->state_count && i < MOST_STATES; i++) {
        blocked->states[i] = state_words(key->model, result->states.at[i], arena);
        if (blocked->states[i] == NULL)
            return false;
        blocked->state_shown = i + 1;
    }
    return blocked->states != NULL;
}

/* The configurations of the past, each with the operations that all of them have. False when memory runs out. */
static bool add_past(const struct rig_object_past_key *past, const struct rig_object_order *spent,
                     struct rig_arena *arena, struct rig_blocked *blocked)
{
    const uint32_t count = (uint32_t)past->sizes.count, spent_count = (uint32_t)spent->count;
    struct rig_blocked_from *from = rig_arena_array(arena, 1, sizeof *from);
    uint32_t *sizes = rig_arena_array(arena, (size_t)count + 1, sizeof *sizes);
    uint32_t *first = rig_arena_array(arena, (size_t)count + 1, sizeof *first);
    uint32_t *used = rig_arena_array(arena, past->used.count + (size_t)count * spent_count + 1, sizeof *used);
    char *states = rig_arena_text(arena, past->states, past->state_bytes);
    if (from == NULL || sizes == NULL || first == NULL || used == NULL || states == NULL)
        return false;
    uint32_t filled = 0;
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = past->sizes.at[i];
        first[i] = filled;
        for (uint32_t at = past->first.at[i]; at < past->first.at[i + 1]; at++)
            used[filled++] = past->used.at[at];
        for (uint32_t at = 0; at < spent_count; at++)
            used[filled++] = spent->at[at];
    }
    first[count] = filled;
    *from = (struct rig_blocked_from){
        .position = past->from, .count = count, .states = states, .sizes = sizes, .first = first, .used = used};
    blocked->from = from;
    return true;
}

/* The configurations that the search went on from. */
static bool add_from(const struct rig_object_key *key, const struct rig_object_narrowed *narrowed,
                     struct rig_arena *arena, struct rig_blocked *blocked)
{
    const struct rig_object_past_key *past = key->past;
    const struct rig_object_past_key *begin = narrowed->past == NULL ? past : rig_object_past_of(narrowed->past, 0);
    if (past != NULL)
        blocked->explained += (uint32_t)(past->explained + past->done);
    if (narrowed->past != NULL)
        blocked->explained += (uint32_t)begin->explained;
    return begin == NULL || begin->explained == 0 || add_past(begin, &narrowed->spent, arena, blocked);
}

static bool add_blocked(const struct rig_object_key *key, const struct rig_object_decided *decided,
                        struct rig_arena *arena, struct rig_witness *witness)
{
    const struct rig_object_result *result = &decided->result;
    witness->txns[0] = decided->ops[result->blocked].txn;
    witness->txn_count = 1;
    witness->blocked->explained = result->explained;
    witness->blocked->open_count = (uint32_t)result->open.count - 1;
    choose_open(key, decided, witness);
    return add_states(key, result, arena, witness->blocked) &&
           add_from(key, &decided->narrowed, arena, witness->blocked);
}

/* Operations on a few values, the blocked one first. */
static bool add_values(const struct rig_object_key *key, const struct rig_object_refutation *refutation,
                       struct rig_arena *arena, struct rig_witness *witness)
{
    const struct rig_object_values *values = &refutation->values;
    int64_t *copy = rig_arena_array(arena, values->count, sizeof *copy);
    if (copy == NULL)
        return false;
    memcpy(copy, values->at, values->count * sizeof *copy);
    witness->blocked->values = copy;
    witness->blocked->value_count = (uint32_t)values->count;
    add_txn(witness, refutation->ops.at[refutation->result.blocked].txn);
    for (unsigned unknown = 0; unknown < 2; unknown++) {
        for (size_t i = 0; i < refutation->ops.count; i++) {
            const struct rig_object_op *op = &refutation->ops.at[i];
            if ((op->end == RIG_POSITION_NONE) == (unknown != 0) && op->txn < key->open.txn)
                add_txn(witness, op->txn);
        }
    }
    return true;
}

bool rig_object_witness(const struct rig_object_key *key, uint32_t number, const struct rig_object_decided *decided,
                        struct rig_arena *arena, struct rig_witness *witness)
{
    *witness = (struct rig_witness){.anomaly = RIG_ANOMALY_NONLINEARIZABLE,
                                    .key = number,
                                    .op = 0,
                                    .other_op = UINT32_MAX,
                                    .txns = rig_arena_array(arena, MOST_OPEN + 1, sizeof *witness->txns),
                                    .blocked = rig_arena_array(arena, 1, sizeof *witness->blocked)};
    if (witness->txns == NULL || witness->blocked == NULL)
        return false;
    return decided->refutation.found ? add_values(key, &decided->refutation, arena, witness)
                                     : add_blocked(key, decided, arena, witness);
}
