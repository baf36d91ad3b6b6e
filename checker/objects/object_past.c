#include "checker/objects/object_past.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

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
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (ops[middle].invoke < invoke)
            low = middle + 1;
        else
            high = middle;
    }
    RIG_INVARIANT(low < count && ops[low].invoke == invoke && "an operation that took effect stays in the window");
    return low;
}

bool rig_object_past_begin(const struct rig_object_past_key *key, struct rig_object_model *model,
                           const struct rig_object_op *ops, uint32_t count, struct rig_object_configs *configs,
                           uint8_t *used)
{
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
    return done;
}

bool rig_object_past_note(struct rig_object_past *past, struct rig_object_past_key *key,
                          const struct rig_object_model *model, const struct rig_object_op *ops,
                          const struct rig_object_result *result)
{
    const struct rig_object_configs *end = &result->end;
    const size_t count = end->states.count;
    size_t bytes = 0;
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
    past->owned_bytes += bytes_of(key);
    return true;
}
