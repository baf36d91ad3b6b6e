#include "checker/judge/stream/retired.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/judge/stream/retired_private.h"
#include "checker/judge/stream/type_windows.h"

/* Adds a key that is not there yet; NULL when memory runs out. */
static struct retired_key *retired_add(struct rig_retired *retired, uint64_t name)
{
    uint32_t *id = retired->keys.count < RIG_RETIRED_NONE ? rig_table_put(&retired->ids, name) : NULL;
    if (id == NULL || !retired_keys_add(&retired->keys, (struct retired_key){.name = name,
                                                                             .hash = rig_retired_empty_hash,
                                                                             .cut_hash = rig_retired_empty_hash}))
        return NULL;
    *id = (uint32_t)(retired->keys.count - 1);
    return &retired->keys.at[*id];
}

enum {
    PACKED_SLACK = 1024, /* bits of packed keys, of which there are many */
    HASH_BYTES = 8,
    NUMBER_BYTES = 10, /* of a number of 64 bits, at most: seven bits in each */
    NUMBER_COUNT = 5,  /* of them in a packed key */
};

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

/* Finds a retired key, and unpacks it when it was packed. False when memory runs out. */
static bool retired_wake(struct rig_retired *retired, uint64_t name, uint32_t *number)
{
    size_t length;
    *number = rig_table_get(&retired->ids, name);
    const uint8_t *packed = *number == RIG_TABLE_NONE ? rig_key_pages_get(&retired->resting, name, &length) : NULL;
    if (packed == NULL)
        return true;
    struct retired_key *key = retired_add(retired, name);
    if (key == NULL || !unpack(retired, key, packed, length))
        return false;
    rig_key_pages_remove(&retired->resting, name);
    *number = (uint32_t)(key - retired->keys.at);
    return true;
}

/* Finds the retired keys of the segment, and unpacks them. False when memory runs out. */
static bool find_all(struct rig_retired *retired, const struct rig_segment *segment, bool *any)
{
    *any = false;
    for (size_t i = 0; i < segment->keys.count; i++) {
        const struct rig_segment_key *key = &segment->keys.at[i];
        uint64_t name =
            key->text == NULL ? (uint64_t)key->key : rig_text_table_get(&retired->texts, key->text, key->text_length);
        bool is_known = key->text == NULL || name != RIG_TABLE_NONE;
        retired->numbers.at[i] = RIG_RETIRED_NONE;
        if (is_known && !retired_wake(retired, name, &retired->numbers.at[i]))
            return false;
        *any |= retired->numbers.at[i] != RIG_RETIRED_NONE;
    }
    return true;
}

static bool uses_forgotten(const struct rig_retired *retired, const struct rig_segment *segment)
{
    bool any = false;
    for (size_t i = 0; i < segment->keys.count && !any; i++) {
        const struct rig_segment_key *key = &segment->keys.at[i];
        any = rig_key_set_has(&retired->forgotten, key->key, key->text, key->text_length);
    }
    return any;
}

static bool copy_segment(struct rig_retired *retired, const struct rig_segment *segment)
{
    struct rig_segment *cleaned = &retired->cleaned;
    if (!rig_segment_keys_reserve(&cleaned->keys, segment->keys.count + 1) ||
        !rig_growing_branches_reserve(&cleaned->branches, segment->branches.count + 1) ||
        !rig_txn_op_vec_reserve(&cleaned->ops, segment->ops.count + 1))
        return false;
    memcpy(cleaned->keys.at, segment->keys.at, segment->keys.count * sizeof *segment->keys.at);
    if (segment->branches.count > 0)
        memcpy(cleaned->branches.at, segment->branches.at, segment->branches.count * sizeof *segment->branches.at);
    if (segment->ops.count > 0)
        memcpy(cleaned->ops.at, segment->ops.at, segment->ops.count * sizeof *segment->ops.at);
    cleaned->keys.count = segment->keys.count;
    cleaned->branches.count = segment->branches.count;
    return true;
}

bool rig_retired_holds(const struct retired_key *key, int64_t value)
{
    uint64_t place = (uint64_t)value - (uint64_t)key->lowest;
    if (key->values == 0 || place > key->span)
        return false;
    return key->bits == NULL || (key->bits[place / 64] >> (place % 64) & 1u);
}

void rig_admission_write(struct rig_admission *a, const struct retired_key *key, int64_t value)
{
    if (key->anomalous)
        a->conflict = "a key with an anomaly is used again after a long time";
    else if (rig_retired_holds(key, value))
        a->conflict = "a value of a finished key may have been written twice";
}

void rig_admission_walk(struct rig_admission *a, rig_admit_op *admit)
{
    struct rig_retired *retired = a->retired;
    const struct rig_segment *segment = a->segment;
    struct rig_txn_op *ops = retired->cleaned.ops.at;
    for (size_t txn = 0; txn < segment->txns.count && a->conflict == NULL; txn++) {
        const struct rig_txn *t = &segment->txns.at[txn];
        size_t end = txn + 1 < segment->txns.count ? t[1].first_op : segment->ops.count;
        for (size_t i = t->first_op; i < end && a->conflict == NULL; i++) {
            uint32_t number = retired->numbers.at[ops[i].key];
            if (number != RIG_RETIRED_NONE)
                admit(a, &retired->keys.at[number], (enum rig_outcome)t->outcome, &ops[i]);
        }
    }
    for (size_t i = 0; i < segment->open_ops.count && a->conflict == NULL; i++) {
        struct rig_txn_op op = segment->open_ops.at[i];
        uint32_t number = retired->numbers.at[op.key];
        if (number != RIG_RETIRED_NONE && !rig_op_reads(op.kind))
            admit(a, &retired->keys.at[number], RIG_OUTCOME_INFO, &op);
    }
}

static enum rig_rc retired_no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the finished keys");
}

enum rig_rc rig_retired_admit(struct rig_retired *retired, const struct rig_segment *segment,
                              const struct rig_segment **cleaned, const char **conflict, struct rig_err *err)
{
    *cleaned = segment;
    *conflict = NULL;
    if (retired->any_forgotten && uses_forgotten(retired, segment)) {
        *conflict = "a key is used again that was forgotten to save memory";
        return RIG_OK;
    }
    if (retired->keys.count == 0 && retired->resting.pages.count == 0)
        return RIG_OK;
    bool any = false;
    if (!key_numbers_reserve(&retired->numbers, segment->keys.count + 1) || !find_all(retired, segment, &any))
        return retired_no_memory(err);
    if (!any)
        return RIG_OK;
    struct rig_segment *copy = &retired->cleaned;
    struct rig_admission a = {.retired = retired, .segment = segment};
    if (!copy_segment(retired, segment) || !retired->type->admit(&a))
        return retired_no_memory(err);
    *conflict = a.conflict;
    /* All but keys, operations and branches is the segment's own. */
    struct rig_segment borrowed = *segment;
    borrowed.keys = copy->keys;
    borrowed.branches = copy->branches;
    borrowed.ops = copy->ops;
    borrowed.ops.count = segment->ops.count;
    borrowed.note = (struct rig_segment_note){0};
    borrowed.owned = false; /* operations were replaced */
    *copy = borrowed;
    *cleaned = copy;
    return RIG_OK;
}

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

enum { DENSE_SLACK = 1 << 16 /* bits */ };

struct rig_retired *rig_retired_new(enum rig_workload workload, size_t forgotten_bytes)
{
    struct rig_retired *retired = calloc(1, sizeof *retired);
    if (retired == NULL)
        return NULL;
    retired->type = rig_type_windows(workload)->retired;
    rig_table_init(&retired->ids);
    rig_text_table_init(&retired->texts, 0);
    retired->forgotten.most_bytes = forgotten_bytes;
    return retired;
}

void rig_retired_free(struct rig_retired *retired)
{
    if (retired == NULL)
        return;
    for (size_t i = 0; i < retired->keys.count; i++) {
        free(retired->keys.at[i].bits);
        free(retired->keys.at[i].prefix);
    }
    retired_keys_done(&retired->keys);
    rig_table_done(&retired->ids);
    rig_key_pages_done(&retired->resting);
    rig_text_table_done(&retired->texts);
    rig_key_set_done(&retired->forgotten);
    packed_keys_done(&retired->packed);
    rig_segment_keys_done(&retired->cleaned.keys);
    rig_growing_branches_done(&retired->cleaned.branches);
    rig_txn_op_vec_done(&retired->cleaned.ops);
    key_numbers_done(&retired->numbers);
    list_limits_done(&retired->spine_limits);
    list_limits_done(&retired->branch_limits);
    free(retired);
}

size_t rig_retired_bytes(const struct rig_retired *retired)
{
    return retired->keys.capacity * sizeof(struct retired_key) + retired->ids.slot_count * 12 + retired->owned_bytes +
           rig_key_pages_bytes(&retired->resting) + rig_text_table_bytes(&retired->texts) +
           rig_key_set_bytes(&retired->forgotten) + retired->cleaned.ops.capacity * sizeof(struct rig_txn_op) +
           retired->cleaned.keys.capacity * sizeof(struct rig_segment_key);
}

uint64_t rig_retired_unordered(const struct rig_retired *retired)
{
    return retired->unordered;
}

uint64_t rig_retired_hash_on(uint64_t hash, const struct rig_read_list *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)rig_read_element(list, i)) * 0xd6e8feb86659fd93U;
        hash ^= hash >> 32;
    }
    return hash;
}

/* ---- keys and values ---- */

/* The name under which the key is kept; false when it is a text that is not known. */
static bool find_name(const struct rig_retired *retired, const struct rig_history *history, uint32_t key,
                      uint64_t *name)
{
    *name = (uint64_t)history->keys[key];
    if (history->key_texts == NULL)
        return true;
    const char *text = history->key_texts[*name];
    *name = rig_text_table_get(&retired->texts, text, strlen(text));
    return *name != RIG_TABLE_NONE;
}

uint32_t rig_retired_find(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    uint64_t name;
    return find_name(retired, history, key, &name) ? rig_table_get(&retired->ids, name) : RIG_RETIRED_NONE;
}

bool rig_retired_is_forgotten(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    int64_t name = history->keys[key];
    const char *text = history->key_texts == NULL ? NULL : history->key_texts[name];
    return rig_key_set_has(&retired->forgotten, name, text, text == NULL ? 0 : strlen(text));
}

struct retired_key *rig_retired_put(struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    uint64_t name = (uint64_t)history->keys[key];
    if (history->key_texts != NULL) {
        const char *text = history->key_texts[name];
        name = rig_text_table_put(&retired->texts, text, strlen(text));
        if (name == RIG_TABLE_NONE)
            return NULL;
    }
    uint32_t id = rig_table_get(&retired->ids, name);
    return id == RIG_TABLE_NONE ? retired_add(retired, name) : &retired->keys.at[id];
}

bool rig_retired_widen(struct rig_retired *retired, struct retired_key *key, const struct rig_retired_values *shown)
{
    if (shown->count == 0)
        return true;
    RIG_REQUIRE(shown->lowest <= shown->highest);
    RIG_REQUIRE((uint64_t)shown->highest - (uint64_t)shown->lowest >= shown->count - 1U);
    bool first = key->values == 0, sparse = !first && key->bits == NULL && !key->full;
    int64_t highest = first ? shown->highest : (int64_t)((uint64_t)key->lowest + key->span);
    int64_t lowest = first || shown->lowest < key->lowest ? shown->lowest : key->lowest;
    highest = shown->highest > highest ? shown->highest : highest;
    uint64_t span = (uint64_t)highest - (uint64_t)lowest;
    uint64_t most = ((uint64_t)key->values + shown->count) * RIG_RETIRED_DENSE_FACTOR + DENSE_SLACK;
    uint64_t *bits = NULL;
    if (!first && lowest == key->lowest && span == key->span) {
        key->values += shown->count;
        return true;
    }
    /* Usually every value between the lowest and the highest was appended; then no bits are needed. */
    bool full = first && span == shown->count - 1U;
    if (!full && !sparse && span < most) {
        bits = calloc(rig_retired_words(span), sizeof *bits);
        if (bits == NULL)
            return false;
        retired->owned_bytes += rig_retired_words(span) * sizeof *bits;
        uint64_t shift = first ? 0 : (uint64_t)key->lowest - (uint64_t)lowest;
        for (uint64_t i = 0; !first && i <= key->span; i++) {
            uint64_t held = key->full ? 1 : key->bits[i / 64] >> (i % 64) & 1u;
            bits[(i + shift) / 64] |= held << ((i + shift) % 64);
        }
    }
    RIG_INVARIANT(lowest <= highest && (first || span >= key->span));
    if (key->bits != NULL)
        retired->owned_bytes -= rig_retired_words(key->span) * sizeof *bits;
    free(key->bits);
    key->bits = bits;
    key->full = full;
    key->lowest = lowest;
    key->span = span;
    key->values += shown->count;
    return true;
}

/* ---- remembering ---- */

/* owned_bytes counts bits and prefixes, and no list is shorter than the part that was cut off it. */
static bool bytes_are_counted(const struct rig_retired *retired)
{
    size_t bytes = 0;
    bool sound = true;
    for (size_t i = 0; i < retired->keys.count; i++) {
        const struct retired_key *key = &retired->keys.at[i];
        bytes += key->bits == NULL ? 0 : rig_retired_words(key->span) * sizeof *key->bits;
        bytes += key->prefix == NULL ? 0 : key->cut * sizeof *key->prefix;
        sound &= key->cut <= key->count && rig_table_get(&retired->ids, key->name) == i;
    }
    return sound && bytes == retired->owned_bytes;
}

enum rig_rc rig_retired_remember(struct rig_retired *retired, const struct rig_inference *inference,
                                 const uint8_t *fate, const uint8_t *judged, const uint8_t *anomalous, bool clean,
                                 struct rig_err *err)
{
    const struct rig_retiring r = {
        .retired = retired, .inference = inference, .judged = judged, .anomalous = anomalous, .clean = clean};
    const uint32_t key_count = inference->history->key_count;
    retired->now += retired->now < UINT32_MAX;
    for (uint32_t key = 0; key < key_count; key++) {
        if (fate[key] != RIG_KEY_ALIVE && !retired->type->remember(&r, key, fate[key] == RIG_KEY_DROPPED))
            return retired_no_memory(err);
    }
    RIG_COSTLY(bytes_are_counted(retired));
    return RIG_OK;
}

void rig_retired_count(struct rig_retired *retired, const struct rig_inference *inference, const uint8_t *fate)
{
    const uint32_t key_count = retired->type->is_unordered == NULL ? 0 : inference->history->key_count;
    for (uint32_t key = 0; key < key_count; key++)
        retired->unordered += fate[key] == RIG_KEY_DROPPED && retired->type->is_unordered(inference, key);
}

bool rig_retired_is_settled(const struct rig_retired *retired, const struct rig_inference *inference, uint32_t key,
                            bool clean)
{
    return retired->type->is_settled != NULL && retired->type->is_settled(inference, key, clean);
}

struct rig_list rig_retired_prefix(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    uint32_t number = retired == NULL ? RIG_RETIRED_NONE : rig_retired_find(retired, history, key);
    if (number == RIG_RETIRED_NONE || retired->keys.at[number].prefix == NULL)
        return (struct rig_list){0};
    return (struct rig_list){retired->keys.at[number].prefix, retired->keys.at[number].cut};
}
