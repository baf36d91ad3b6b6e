#include "checker/objects/object_past.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "checker/objects/object_strings.h"

RIG_VEC(struct rig_object_past_key, past_keys)

struct rig_object_past {
    struct past_keys keys;
    size_t owned_bytes;
};

struct rig_object_past *rig_object_past_new(void)
{
    return calloc(1, sizeof(struct rig_object_past));
}

static size_t bytes_of(const struct rig_object_past_key *key)
{
    return key->state_bytes + (key->sizes.capacity + key->first.capacity + key->used.capacity) * sizeof(uint32_t);
}

static void clear(struct rig_object_past *past, struct rig_object_past_key *key)
{
    past->owned_bytes -= bytes_of(key);
    free(key->states);
    key->states = NULL;
    key->state_bytes = 0;
    rig_object_order_done(&key->sizes);
    rig_object_order_done(&key->first);
    rig_object_order_done(&key->used);
}

void rig_object_past_free(struct rig_object_past *past)
{
    for (size_t i = 0; past != NULL && i < past->keys.count; i++)
        clear(past, &past->keys.at[i]);
    if (past != NULL)
        past_keys_done(&past->keys);
    free(past);
}

size_t rig_object_past_bytes(const struct rig_object_past *past)
{
    return past->keys.capacity * sizeof *past->keys.at + past->owned_bytes;
}

bool rig_object_past_widen(struct rig_object_past *past, uint32_t key_count)
{
    while (past->keys.count < key_count) {
        if (!past_keys_add(&past->keys, (struct rig_object_past_key){.standing = RIG_OBJECT_STANDS}))
            return false;
    }
    return true;
}

struct rig_object_past_key *rig_object_past_of(struct rig_object_past *past, uint32_t key)
{
    RIG_REQUIRE(key < past->keys.count);
    return &past->keys.at[key];
}

/* The operation that was invoked at the position. */
static uint32_t find_op(const struct rig_object_op *ops, uint32_t count, uint32_t invoke)
{
    uint32_t low = 0, high = count;
    while (low < high)
        rig_halve(&low, &high, ops[rig_middle(low, high)].invoke < invoke);
    RIG_INVARIANT(low < count && ops[low].invoke == invoke && "an operation that took effect stays in the window");
    return low;
}

bool rig_object_past_begin(const struct rig_object_past_key *key, struct rig_object_model *model,
                           const struct rig_object_op *ops, uint32_t count, struct rig_object_configs *configs,
                           uint8_t *used)
{
    RIG_REQUIRE(key->sizes.count == 0 || key->first.count == key->sizes.count + 1);
    const char *bytes = key->states;
    bool done = true;
    for (size_t i = 0; done && i < key->sizes.count; i++) {
        const uint32_t state = rig_object_state_of(model, bytes, key->sizes.at[i]);
        bytes += key->sizes.at[i];
        done = state != RIG_OBJECT_NONE && rig_object_order_add(&configs->states, state);
    }
    for (size_t i = 0; done && i < key->first.count; i++)
        done = rig_object_order_add(&configs->first, key->first.at[i]);
    for (size_t i = 0; done && i < key->used.count; i++) {
        const uint32_t op = find_op(ops, count, key->used.at[i]);
        if (used != NULL)
            used[op] = 1;
        done = rig_object_order_add(&configs->used, op);
    }
    RIG_INVARIANT(!done || (size_t)(bytes - key->states) == key->state_bytes);
    return done;
}

bool rig_object_past_note(struct rig_object_past *past, struct rig_object_past_key *key,
                          const struct rig_object_model *model, const struct rig_object_op *ops,
                          const struct rig_object_result *result)
{
    const struct rig_object_configs *end = &result->end;
    const size_t count = end->states.count;
    size_t bytes = 0;
    RIG_REQUIRE(count > 0 && end->first.count == count + 1);
    clear(past, key);
    for (size_t i = 0; i < count; i++)
        bytes += model->states.at[end->states.at[i]].size;
    key->from = result->end_at;
    key->states = malloc(bytes + 1);
    if (key->states == NULL || !rig_object_order_widen(&key->sizes, count) ||
        !rig_object_order_widen(&key->first, count + 1) || !rig_object_order_widen(&key->used, end->used.count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct rig_object_state *state = &model->states.at[end->states.at[i]];
        memcpy(key->states + key->state_bytes, state->bytes, state->size);
        key->state_bytes += state->size;
        (void)rig_object_order_add(&key->sizes, (uint32_t)state->size);
    }
    for (size_t i = 0; i < end->first.count; i++)
        (void)rig_object_order_add(&key->first, end->first.at[i]);
    for (size_t i = 0; i < end->used.count; i++)
        (void)rig_object_order_add(&key->used, ops[end->used.at[i]].invoke);
    RIG_INVARIANT(key->state_bytes == bytes && key->sizes.count == count);
    past->owned_bytes += bytes_of(key);
    return true;
}

enum { STEPS_AN_OPERATION = 64 /* beside those of the round */, NARROW = 12 /* completions */ };

/* ---- with one state for strings that no read shows ---- */

/* The states of one model in another one. False when memory runs out. */
static bool translate(const struct rig_object_model *from, uint32_t *states, size_t count,
                      struct rig_object_model *into)
{
    bool fits = true;
    for (size_t i = 0; fits && i < count; i++) {
        RIG_REQUIRE(states[i] < from->states.count);
        const struct rig_object_state *state = &from->states.at[states[i]];
        states[i] = rig_object_state_of(into, state->bytes, state->size);
        fits = states[i] != RIG_OBJECT_NONE;
    }
    return fits;
}

static bool copy(const struct rig_object_order *from, struct rig_object_order *to)
{
    bool fits = true;
    for (size_t i = 0; fits && i < from->count; i++)
        fits = rig_object_order_add(to, from->at[i]);
    return fits;
}

/* Searches the part up to `until`; operations that begin after part->until are not all known. */
static enum rig_object_answer search(struct rig_object_model *model, const struct rig_object_part *part, uint32_t until,
                                     const struct rig_object_search_limits *limits, struct rig_object_result *result)
{
    RIG_REQUIRE(model->strings == NULL);
    struct rig_object_search_limits own = *limits;
    struct rig_object_part own_part = *part;
    struct rig_object_model merged;
    struct rig_object_strings strings;
    struct rig_object_configs begin = {0};
    enum rig_object_answer answer = RIG_OBJECT_NO_MEMORY;
    bool fits = rig_object_model_init(&merged, model->workload, limits->bytes);
    own.steps += limits->steps > 0 ? (uint64_t)STEPS_AN_OPERATION * part->count : 0;
    fits = rig_object_strings_init(&strings, model, part->ops, part->count, part->until, &merged) && fits;
    if (fits && part->begin != NULL)
        fits = copy(&part->begin->states, &begin.states) && copy(&part->begin->first, &begin.first) &&
               copy(&part->begin->used, &begin.used) && translate(model, begin.states.at, begin.states.count, &merged);
    own_part.ops = strings.ops.at;
    own_part.begin = part->begin == NULL ? NULL : &begin;
    own_part.until = until;
    *result = (struct rig_object_result){.blocked = UINT32_MAX};
    if (fits)
        answer = rig_object_search(&merged, &own_part, &own, result);
    fits = fits && translate(&merged, result->end.states.at, result->end.states.count, model) &&
           translate(&merged, result->states.at, result->states.count, model);
    rig_object_configs_done(&begin);
    rig_object_strings_done(&strings);
    rig_object_model_done(&merged);
    return fits ? answer : RIG_OBJECT_NO_MEMORY;
}

/* ---- a refutation that begins later ---- */

static int compare_positions(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The completion that is the NARROW-th before `end`; RIG_POSITION_NONE: there are fewer, or memory ran out. */
static uint32_t find_begin(const struct rig_object_part *part, uint32_t end)
{
    uint32_t *ends = malloc(((size_t)part->count + 1) * sizeof *ends), count = 0, begin = RIG_POSITION_NONE;
    for (uint32_t i = 0; ends != NULL && i < part->count; i++) {
        if (part->ops[i].end < end)
            ends[count++] = part->ops[i].end;
    }
    if (ends != NULL && count > NARROW) {
        qsort(ends, count, sizeof *ends, compare_positions);
        begin = ends[count - NARROW];
    }
    free(ends);
    RIG_INVARIANT(begin == RIG_POSITION_NONE || begin < end);
    return begin;
}

/* The part from begin->end_at on. False when memory runs out. */
static bool cut_part(const struct rig_object_model *model, const struct rig_object_part *part,
                     const struct rig_object_result *begin, struct rig_object_narrowed *narrowed)
{
    uint8_t *done = calloc((size_t)part->count + 1, 1);
    narrowed->past = rig_object_past_new();
    bool fits = done != NULL && narrowed->past != NULL && rig_object_past_widen(narrowed->past, 1) &&
                rig_object_past_note(narrowed->past, rig_object_past_of(narrowed->past, 0), model, part->ops, begin);
    if (fits)
        rig_object_part_done(part, begin, done);
    for (uint32_t i = 0; fits && i < part->count; i++) {
        if (done[i] == 0)
            fits = rig_object_op_list_add(&narrowed->ops, part->ops[i]);
        else if (part->ops[i].end == RIG_POSITION_NONE)
            fits = rig_object_order_add(&narrowed->spent, part->ops[i].invoke);
        else
            rig_object_past_of(narrowed->past, 0)->explained++;
    }
    free(done);
    return fits;
}

/* Refutes the part from `begin` on. */
static enum rig_object_answer search_rest(struct rig_object_model *model, const struct rig_object_part *part,
                                          const struct rig_object_search_limits *limits,
                                          const struct rig_object_result *begin, struct rig_object_result *result,
                                          struct rig_object_narrowed *narrowed)
{
    struct rig_object_configs configs = {0};
    enum rig_object_answer answer = RIG_OBJECT_NO_MEMORY;
    if (cut_part(model, part, begin, narrowed) &&
        rig_object_past_begin(rig_object_past_of(narrowed->past, 0), model, narrowed->ops.at,
                              (uint32_t)narrowed->ops.count, &configs, NULL)) {
        const struct rig_object_part rest = {.ops = narrowed->ops.at,
                                             .count = (uint32_t)narrowed->ops.count,
                                             .until = part->until,
                                             .from = begin->end_at,
                                             .begin = &configs};
        answer = search(model, &rest, part->until, limits, result);
    }
    rig_object_configs_done(&configs);
    return answer;
}

/* Replaces the result, which refutes the part from its beginning, where that is long. */
static enum rig_object_answer narrow(struct rig_object_model *model, const struct rig_object_part *part,
                                     const struct rig_object_search_limits *limits, struct rig_object_result *result,
                                     struct rig_object_narrowed *narrowed)
{
    RIG_REQUIRE(result->blocked < part->count);
    const uint32_t until = find_begin(part, part->ops[result->blocked].end);
    struct rig_object_result begin;
    if (until == RIG_POSITION_NONE)
        return RIG_OBJECT_REFUTED;
    rig_object_result_done(result);
    *result = (struct rig_object_result){.blocked = UINT32_MAX};
    enum rig_object_answer answer = search(model, part, until, limits, &begin);
    if (answer == RIG_OBJECT_LINEARIZABLE)
        answer = search_rest(model, part, limits, &begin, result, narrowed);
    RIG_INVARIANT(answer != RIG_OBJECT_LINEARIZABLE);
    rig_object_result_done(&begin);
    return answer;
}

void rig_object_narrowed_done(struct rig_object_narrowed *narrowed)
{
    rig_object_past_free(narrowed->past);
    narrowed->past = NULL;
    rig_object_op_list_done(&narrowed->ops);
    rig_object_order_done(&narrowed->spent);
}

/* ---- both ---- */

enum rig_object_answer rig_object_merged_search(struct rig_object_model *model, const struct rig_object_part *part,
                                                const struct rig_object_search_limits *limits,
                                                struct rig_object_result *result, struct rig_object_narrowed *narrowed)
{
    RIG_REQUIRE(model->workload == RIG_WORKLOAD_APPEND_REGISTER);
    struct rig_object_result all;
    *narrowed = (struct rig_object_narrowed){.past = NULL};
    enum rig_object_answer answer = search(model, part, part->until, limits, result);
    if (answer != RIG_OBJECT_REFUTED)
        return answer;
    answer = rig_object_search(model, part, limits, &all);
    RIG_INVARIANT(answer != RIG_OBJECT_LINEARIZABLE);
    if (answer == RIG_OBJECT_REFUTED) {
        rig_object_result_done(result);
        *result = all;
        return answer;
    }
    rig_object_result_done(&all);
    return answer == RIG_OBJECT_NO_MEMORY ? answer : narrow(model, part, limits, result, narrowed);
}
