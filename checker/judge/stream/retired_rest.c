#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/judge/stream/retired_private.h"

enum {
    PACKED_SLACK = 1024, /* bits of packed keys, of which there are many */
    HASH_BYTES = 8,
    NUMBER_BYTES = 10, /* of a number of 64 bits, at most: seven bits in each */
    NUMBER_COUNT = 5,  /* of them in a packed key */
};

static void free_bits(struct rig_retired *retired, struct retired_key *key)
{
    retired->owned_bytes -= key->bits == NULL ? 0 : rig_retired_words(key->span) * sizeof *key->bits;
    free(key->bits);
    key->bits = NULL;
}

/* Frees the bits when every value of the range has been appended. */
static void drop_bits(struct rig_retired *retired, struct retired_key *key)
{
    if (key->bits == NULL)
        return;
    for (uint64_t place = 0; place <= key->span; place++) {
        if ((key->bits[place / 64] >> (place % 64) & 1u) == 0)
            return;
    }
    free_bits(retired, key);
    key->full = true;
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
    for (; number >> 7 != 0; number >>= 7)
        *at++ = (uint8_t)(number | 0x80U);
    *at++ = (uint8_t)number;
    return at;
}

static const uint8_t *get_number(const uint8_t *at, uint64_t *number)
{
    unsigned shift = 0;
    *number = 0;
    do {
        *number |= (uint64_t)(*at & 0x7fU) << shift;
        shift += 7;
    } while (*at++ >> 7 != 0);
    return at;
}

static size_t bytes_of(uint64_t span)
{
    return (size_t)(span / 8 + 1);
}

/* A key that no transaction in the window uses: it has no prefix, and all of its list is cut off. */
static bool pack(struct packed_keys *packed, const struct retired_key *key)
{
    RIG_INVARIANT(!(key->full && key->bits != NULL) && (key->values > 0 || key->span == 0));
    /* Without them, any value of the range may have been written. */
    bool keeps_bits = key->bits != NULL && key->span < (uint64_t)key->values * RIG_RETIRED_DENSE_FACTOR + PACKED_SLACK;
    uint64_t flags = key->full | (uint64_t)key->anomalous << 1 | (uint64_t)key->many_unread << 2 |
                     (uint64_t)key->unconfirmed << 3 | (uint64_t)key->unordered << 4 | (uint64_t)keeps_bits << 5;
    size_t bit_bytes = keeps_bits ? bytes_of(key->span) : 0;
    RIG_INVARIANT(key->prefix == NULL && key->cut == key->count && key->cut_hash == key->hash);
    if (!packed_keys_reserve(packed, HASH_BYTES + NUMBER_COUNT * NUMBER_BYTES + bit_bytes))
        return false;
    uint8_t *at = packed->at;
    memcpy(at, &key->hash, HASH_BYTES);
    at = put_number(at + HASH_BYTES, flags);
    at = put_number(at, key->count);
    at = put_number(at, key->values);
    at = put_number(at, (uint64_t)key->lowest);
    at = put_number(at, key->span);
    for (size_t i = 0; i < bit_bytes; i++)
        *at++ = (uint8_t)(key->bits[i / 8] >> (i % 8 * 8));
    packed->count = (size_t)(at - packed->at);
    return true;
}

static bool unpack(struct rig_retired *retired, struct retired_key *key, const uint8_t *at, size_t length)
{
    const uint8_t *const end = at + length;
    uint64_t flags, count, values, lowest;
    memcpy(&key->hash, at, HASH_BYTES);
    at = get_number(at + HASH_BYTES, &flags);
    at = get_number(at, &count);
    at = get_number(at, &values);
    at = get_number(at, &lowest);
    at = get_number(at, &key->span);
    key->cut_hash = key->hash;
    key->count = key->cut = (uint32_t)count;
    key->values = (uint32_t)values;
    key->lowest = (int64_t)lowest;
    key->full = flags & 1U;
    key->anomalous = flags >> 1 & 1U;
    key->many_unread = flags >> 2 & 1U;
    key->unconfirmed = flags >> 3 & 1U;
    key->unordered = flags >> 4 & 1U;
    const bool has_bits = (flags >> 5 & 1U) != 0;
    RIG_INVARIANT(at + (has_bits ? bytes_of(key->span) : 0) == end);
    if (!has_bits)
        return true;
    key->bits = calloc(rig_retired_words(key->span), sizeof *key->bits);
    if (key->bits == NULL)
        return false;
    retired->owned_bytes += rig_retired_words(key->span) * sizeof *key->bits;
    for (size_t i = 0; i < bytes_of(key->span); i++)
        key->bits[i / 8] |= (uint64_t)at[i] << (i % 8 * 8);
    return true;
}

/* The last one takes its place. */
static void remove_key(struct rig_retired *retired, struct retired_key *key)
{
    const struct retired_key *last = &retired->keys.at[retired->keys.count - 1];
    free_bits(retired, key);
    rig_table_remove(&retired->ids, key->name);
    if (key != last) {
        *key = *last;
        *rig_table_put(&retired->ids, key->name) = (uint32_t)(key - retired->keys.at); /* is there: needs no memory */
    }
    retired->keys.count--;
}

bool rig_retired_rest(struct rig_retired *retired, struct retired_key *key)
{
    drop_bits(retired, key);
    if (!pack(&retired->packed, key) ||
        !rig_key_pages_put(&retired->resting, key->name, retired->packed.at, retired->packed.count, retired->now))
        return false;
    remove_key(retired, key);
    return true;
}

bool rig_retired_wake(struct rig_retired *retired, uint64_t name, uint32_t *number)
{
    size_t length;
    *number = rig_table_get(&retired->ids, name);
    const uint8_t *packed = *number == RIG_TABLE_NONE ? rig_key_pages_get(&retired->resting, name, &length) : NULL;
    if (packed == NULL)
        return true;
    struct retired_key *key = rig_retired_add(retired, name);
    if (key == NULL || !unpack(retired, key, packed, length))
        return false;
    rig_key_pages_remove(&retired->resting, name);
    *number = (uint32_t)(key - retired->keys.at);
    return true;
}
