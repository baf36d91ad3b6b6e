#include "checker/retired.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "checker/key_pages.h"
#include "checker/key_set.h"
#include "checker/unread_chain.h"
#include "history/read_list.h"
#include "history/text/text_table.h"

#define NO_KEY UINT32_MAX

enum {
    DENSE_FACTOR = 8, /* values are kept as bits while these are no more than so many times the appends, and */
    DENSE_SLACK = 1 << 16,
    PACKED_SLACK = 1024, /* of packed keys, which are many */
    HASH_BYTES = 8,
    NUMBER_BYTES = 10, /* of a number of 64 bits, at most: seven bits in each */
    NUMBER_COUNT = 5,  /* of them in a packed key */
};

struct retired_key {
    uint64_t name;            /* its number, or that of its text */
    uint64_t hash;            /* of the first `count` elements */
    uint64_t cut_hash;        /* of the first `cut` elements */
    uint32_t count;           /* elements that every read has to begin with */
    uint32_t cut;             /* elements that the window does not have any more */
    int64_t lowest;           /* of all values appended; none when `values` is 0 */
    uint64_t span;            /* highest - lowest */
    uint64_t *bits;           /* which of lowest + 0 ... span; NULL: any of them may have been, or `full` */
    int64_t *prefix;          /* the `cut` elements, of a key that came back and was read; or NULL */
    uint32_t values;          /* how many were appended */
    uint32_t full : 1;        /* each of lowest + 0 ... span was, and there are no bits for it */
    uint32_t odd : 1;         /* no use is admitted */
    uint32_t many_unread : 1; /* no read is admitted */
    uint32_t unconfirmed : 1; /* nobody read the last of the `cut` elements */
    uint32_t unordered : 1;   /* counted as such */
};

RIG_VEC(struct retired_key, retired_keys)
RIG_VEC(uint32_t, key_numbers)
RIG_VEC(uint32_t, list_limits)
RIG_VEC(uint8_t, packed_keys)

/* What one judgement shows of a key. */
struct shown {
    int64_t lowest, highest; /* where there are `values` */
    uint32_t values;
    uint32_t unread;
    uint32_t unread_writer;
    bool several_writers; /* of unread appends */
};

struct rig_retired {
    struct retired_keys keys;    /* that transactions which are held use */
    struct rig_table ids;        /* name -> index into keys */
    struct rig_key_pages gone;   /* the others, packed, by name */
    struct rig_text_table texts; /* of text keys */
    struct rig_key_set forgotten;
    bool any_forgotten;
    uint32_t now; /* judgements */
    uint64_t unordered;
    size_t owned_bytes;         /* bits and prefixes */
    struct rig_segment cleaned; /* borrows but for keys, ops and branches */
    struct key_numbers numbers; /* per key of a segment: its retired key, or NO_KEY */
    struct packed_keys packed;  /* one, on its way */
    struct list_limits spine_limits, branch_limits;
};

static const uint64_t empty_hash = 0x9e3779b97f4a7c15U;

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, "not enough memory for the keys that are done with; raise --max-memory");
}

struct rig_retired *rig_retired_new(size_t forgotten_bytes)
{
    struct rig_retired *retired = calloc(1, sizeof *retired);
    if (retired == NULL)
        return NULL;
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
    rig_key_pages_done(&retired->gone);
    rig_text_table_done(&retired->texts);
    rig_key_set_done(&retired->forgotten);
    packed_keys_done(&retired->packed);
    rig_segment_keys_done(&retired->cleaned.keys);
    rig_growing_branches_done(&retired->cleaned.branches);
    rig_mop_vec_done(&retired->cleaned.ops);
    key_numbers_done(&retired->numbers);
    list_limits_done(&retired->spine_limits);
    list_limits_done(&retired->branch_limits);
    free(retired);
}

size_t rig_retired_bytes(const struct rig_retired *retired)
{
    return retired->keys.capacity * sizeof(struct retired_key) + retired->ids.slot_count * 12 + retired->owned_bytes +
           rig_key_pages_bytes(&retired->gone) + rig_text_table_bytes(&retired->texts) +
           rig_key_set_bytes(&retired->forgotten) + retired->cleaned.ops.capacity * sizeof(struct rig_mop) +
           retired->cleaned.keys.capacity * sizeof(struct rig_segment_key);
}

uint64_t rig_retired_unordered(const struct rig_retired *retired)
{
    return retired->unordered;
}

static uint64_t hash_on(uint64_t hash, const struct rig_read_list *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)rig_read_element(list, i)) * 0xd6e8feb86659fd93U;
        hash ^= hash >> 32;
    }
    return hash;
}

/* ---- keys and values ---- */

/* The name that the key is remembered by; false when it is a text that is not known. */
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

static uint32_t find_of_history(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    uint64_t name;
    return find_name(retired, history, key, &name) ? rig_table_get(&retired->ids, name) : NO_KEY;
}

static bool is_forgotten(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    int64_t name = history->keys[key];
    const char *text = history->key_texts == NULL ? NULL : history->key_texts[name];
    return rig_key_set_has(&retired->forgotten, name, text, text == NULL ? 0 : strlen(text));
}

/* A key that is not there yet; NULL when memory runs out. */
static struct retired_key *add_key(struct rig_retired *retired, uint64_t name)
{
    uint32_t *id = retired->keys.count < NO_KEY ? rig_table_put(&retired->ids, name) : NULL;
    if (id == NULL || !retired_keys_add(&retired->keys,
                                        (struct retired_key){.name = name, .hash = empty_hash, .cut_hash = empty_hash}))
        return NULL;
    *id = (uint32_t)(retired->keys.count - 1);
    return &retired->keys.at[*id];
}

/* The retired key, new or known; NULL when memory runs out. One that is in the window is not packed. */
static struct retired_key *put(struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    uint64_t name = (uint64_t)history->keys[key];
    if (history->key_texts != NULL) {
        const char *text = history->key_texts[name];
        name = rig_text_table_put(&retired->texts, text, strlen(text));
        if (name == RIG_TABLE_NONE)
            return NULL;
    }
    uint32_t id = rig_table_get(&retired->ids, name);
    return id == RIG_TABLE_NONE ? add_key(retired, name) : &retired->keys.at[id];
}

static bool holds(const struct retired_key *key, int64_t value)
{
    uint64_t place = (uint64_t)value - (uint64_t)key->lowest;
    if (key->values == 0 || place > key->span)
        return false;
    return key->bits == NULL || (key->bits[place / 64] >> (place % 64) & 1u);
}

static size_t words_of(uint64_t span)
{
    return (size_t)(span / 64 + 1);
}

/* Makes the key's range cover what was shown, as bits while that pays. */
static bool widen(struct rig_retired *retired, struct retired_key *key, const struct shown *shown)
{
    if (shown->values == 0)
        return true;
    bool first = key->values == 0, sparse = !first && key->bits == NULL && !key->full;
    int64_t highest = first ? shown->highest : (int64_t)((uint64_t)key->lowest + key->span);
    int64_t lowest = first || shown->lowest < key->lowest ? shown->lowest : key->lowest;
    highest = shown->highest > highest ? shown->highest : highest;
    uint64_t span = (uint64_t)highest - (uint64_t)lowest;
    uint64_t most = ((uint64_t)key->values + shown->values) * DENSE_FACTOR + DENSE_SLACK;
    uint64_t *bits = NULL;
    if (!first && lowest == key->lowest && span == key->span) {
        key->values += shown->values;
        return true;
    }
    /* Mostly every value between the lowest and the highest was appended: that takes no bits to know. */
    bool full = first && span == shown->values - 1U;
    if (!full && !sparse && span < most) {
        bits = calloc(words_of(span), sizeof *bits);
        if (bits == NULL)
            return false;
        retired->owned_bytes += words_of(span) * sizeof *bits;
        uint64_t shift = first ? 0 : (uint64_t)key->lowest - (uint64_t)lowest;
        for (uint64_t i = 0; !first && i <= key->span; i++) {
            uint64_t held = key->full ? 1 : key->bits[i / 64] >> (i % 64) & 1u;
            bits[(i + shift) / 64] |= held << ((i + shift) % 64);
        }
    }
    if (key->bits != NULL)
        retired->owned_bytes -= words_of(key->span) * sizeof *bits;
    free(key->bits);
    key->bits = bits;
    key->full = full;
    key->lowest = lowest;
    key->span = span;
    key->values += shown->values;
    return true;
}

/* The slots of a key in its judgement. */
struct key_slots {
    const struct rig_append *slots;
    uint32_t count;
    int64_t lowest;        /* value of the first one, and they count up from it; */
    const int64_t *values; /*   unless they stand here */
};

static struct key_slots slots_of(const struct rig_inference *inference, uint32_t key)
{
    const struct rig_versions *versions = &inference->versions;
    const struct rig_key_places *at = &versions->key_places[key];
    return (struct key_slots){
        .slots = versions->slots + at->slot_first,
        .count = versions->keys[key].slot_count,
        .lowest = at->lowest,
        .values = at->shift == 0 ? NULL : versions->slot_values + (at->slot_first - versions->sparse_first)};
}

/* The value of slot `i`, appended by somebody who is judged (NULL: all are); false when there is none. */
static inline bool value_at(const struct key_slots *of, uint32_t i, const uint8_t *judged, int64_t *value)
{
    uint32_t writer = of->slots[i].writer;
    if (writer == RIG_TXN_NONE || (judged != NULL && !judged[writer]))
        return false;
    *value = of->values == NULL ? (int64_t)((uint64_t)of->lowest + i) : of->values[i];
    return true;
}

/* One appended value of a key. */
static inline void show_append(struct shown *shown, const struct rig_append *slot, int64_t value,
                               const uint8_t *committed)
{
    shown->lowest = value < shown->lowest ? value : shown->lowest;
    shown->highest = value > shown->highest ? value : shown->highest;
    shown->values++;
    bool unplaced = slot->position == RIG_VERSION_NONE; /* as of those who failed: one branch on both is foreseen */
    if (!(unplaced & committed[slot->writer]))
        return;
    shown->several_writers |= shown->unread > 0 && shown->unread_writer != slot->writer;
    shown->unread++;
    shown->unread_writer = slot->writer;
}

/* Nothing that a committed transaction appended to the key is unread. */
static bool is_read(const struct rig_versions *versions, uint32_t key)
{
    uint32_t end = versions->key_places[key].place_first + versions->keys[key].order.count;
    return versions->places[end] == RIG_PLACE_END;
}

/* What those who are judged (NULL: all) appended to the key. */
static struct shown show(const struct rig_inference *inference, uint32_t key, const uint8_t *judged)
{
    const struct rig_op_uses *uses = inference->history->uses;
    if (judged == NULL && uses != NULL && is_read(&inference->versions, key))
        return (struct shown){
            .lowest = uses->keys[key].lowest, .highest = uses->keys[key].highest, .values = uses->keys[key].appends};
    const struct key_slots of = slots_of(inference, key);
    struct shown shown = {.lowest = INT64_MAX, .highest = INT64_MIN};
    int64_t value;
    for (uint32_t i = 0; i < of.count; i++) {
        if (value_at(&of, i, judged, &value))
            show_append(&shown, &of.slots[i], value, inference->versions.committed);
    }
    return shown;
}

/* Sets the bits of what was appended. */
static void note_values(struct retired_key *kept, const struct rig_inference *inference, uint32_t key,
                        const uint8_t *judged)
{
    const struct key_slots of = slots_of(inference, key);
    int64_t value;
    for (uint32_t i = 0; kept->bits != NULL && i < of.count; i++) {
        if (value_at(&of, i, judged, &value)) {
            uint64_t place = (uint64_t)value - (uint64_t)kept->lowest;
            kept->bits[place / 64] |= UINT64_C(1) << (place % 64);
        }
    }
}

/* ---- packing ---- */

static void free_bits(struct rig_retired *retired, struct retired_key *key)
{
    retired->owned_bytes -= key->bits == NULL ? 0 : words_of(key->span) * sizeof *key->bits;
    free(key->bits);
    key->bits = NULL;
}

/* Where each of them was appended by now. */
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
    /* Without them, any value of the range may have been written. */
    bool keeps_bits = key->bits != NULL && key->span < (uint64_t)key->values * DENSE_FACTOR + PACKED_SLACK;
    uint64_t flags = key->full | (uint64_t)key->odd << 1 | (uint64_t)key->many_unread << 2 |
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

static bool unpack(struct rig_retired *retired, struct retired_key *key, const uint8_t *at)
{
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
    key->odd = flags >> 1 & 1U;
    key->many_unread = flags >> 2 & 1U;
    key->unconfirmed = flags >> 3 & 1U;
    key->unordered = flags >> 4 & 1U;
    if ((flags >> 5 & 1U) == 0)
        return true;
    key->bits = calloc(words_of(key->span), sizeof *key->bits);
    if (key->bits == NULL)
        return false;
    retired->owned_bytes += words_of(key->span) * sizeof *key->bits;
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

/* No transaction in the window uses the key any more. False when memory runs out. */
static bool let_rest(struct rig_retired *retired, struct retired_key *key)
{
    drop_bits(retired, key);
    if (!pack(&retired->packed, key) ||
        !rig_key_pages_put(&retired->gone, key->name, retired->packed.at, retired->packed.count, retired->now))
        return false;
    remove_key(retired, key);
    return true;
}

/* The key, if it is retired; one that was packed is not from now on. False when memory runs out. */
static bool wake(struct rig_retired *retired, uint64_t name, uint32_t *number)
{
    size_t length;
    *number = rig_table_get(&retired->ids, name);
    const uint8_t *packed = *number == RIG_TABLE_NONE ? rig_key_pages_get(&retired->gone, name, &length) : NULL;
    if (packed == NULL)
        return true;
    struct retired_key *key = add_key(retired, name);
    if (key == NULL || !unpack(retired, key, packed))
        return false;
    rig_key_pages_remove(&retired->gone, name);
    *number = (uint32_t)(key - retired->keys.at);
    return true;
}

/* ---- remembering ---- */

/* Of registers, whatever anybody wrote or read. */
static enum rig_rc remember_register(struct rig_retired *retired, const struct rig_inference *inference, uint32_t key,
                                     bool dropped, struct rig_err *err)
{
    const struct rig_registers *registers = &inference->registers;
    uint32_t begin, end;
    rig_registers_versions_of(registers, key, &begin, &end);
    /* Who read the initial state of a key that was never written comes before all who will write it. */
    if (begin == end)
        return RIG_OK;
    const struct shown shown = {.lowest = registers->versions[begin].value,
                                .highest = registers->versions[end - 1].value,
                                .values = end - begin};
    struct retired_key *kept = put(retired, inference->history, key);
    if (kept == NULL || !widen(retired, kept, &shown))
        return no_memory(err);
    for (uint32_t i = begin; kept->bits != NULL && i < end; i++) {
        uint64_t place = (uint64_t)registers->versions[i].value - (uint64_t)kept->lowest;
        kept->bits[place / 64] |= UINT64_C(1) << (place % 64);
    }
    return !dropped || let_rest(retired, kept) ? RIG_OK : no_memory(err);
}

/* Takes over the order of the key, and its unread appends behind it where their order is known. */
static void set_list(struct rig_retired *retired, struct retired_key *key, const struct rig_key_versions *versions,
                     const struct shown *shown, const struct rig_unread_chain *unread, bool dropped)
{
    key->count = key->cut + versions->order.count;
    const struct rig_read_list order = rig_read_of(versions->order, versions->order.count);
    key->hash = hash_on(key->cut_hash, &order, order.count);
    key->many_unread = unread == NULL;
    if (unread != NULL) {
        const struct rig_read_list behind =
            rig_read_of((struct rig_list){unread->values, unread->count}, unread->count);
        key->count += unread->count;
        key->hash = hash_on(key->hash, &behind, unread->count);
    }
    if (!dropped)
        return;
    if (!key->unordered && (shown->several_writers || (shown->unread > 0 && key->unconfirmed))) {
        key->unordered = true;
        retired->unordered++;
    }
    key->unconfirmed |= shown->unread > 0;
    if (key->prefix != NULL)
        retired->owned_bytes -= key->cut * sizeof *key->prefix;
    free(key->prefix);
    key->prefix = NULL;
    key->cut = key->count;
    key->cut_hash = key->hash;
}

/* The judged ones' unread appends in the order that reads have to show; NULL: that may be any. One has an order. */
static const struct rig_unread_chain *order_unread(const struct rig_inference *inference, uint32_t key,
                                                   const struct shown *shown, const uint8_t *judged, bool clean,
                                                   struct rig_unread_chain *room)
{
    room->count = 0;
    if (shown->unread == 0)
        return room;
    bool is_known = rig_unread_chain_find(inference, key, judged, room) && room->count == shown->unread;
    return is_known && (clean || shown->unread == 1) ? room : NULL;
}

enum rig_rc rig_retired_remember(struct rig_retired *retired, const struct rig_inference *inference,
                                 const uint8_t *fate, const uint8_t *judged, const uint8_t *odd, bool clean,
                                 struct rig_err *err)
{
    struct rig_unread_chain room;
    const struct rig_history *history = inference->history;
    const bool are_registers = history->workload == RIG_WORKLOAD_RW_REGISTER;
    retired->now += retired->now < UINT32_MAX;
    for (uint32_t key = 0; key < history->key_count; key++) {
        const bool dropped = fate[key] == RIG_KEY_DROPPED;
        if (fate[key] == RIG_KEY_ALIVE)
            continue;
        if (are_registers) {
            enum rig_rc rc = remember_register(retired, inference, key, dropped, err);
            if (rc != RIG_OK)
                return rc;
            continue;
        }
        const struct rig_key_versions *versions = &inference->versions.keys[key];
        const uint8_t *whose = dropped ? NULL : judged; /* all who used it are judged */
        const struct shown shown = show(inference, key, whose);
        bool is_odd = odd != NULL && odd[key];
        /* Of a key that was never written there is nothing to remember; nor of one that may not be used again. */
        if ((shown.values == 0 && versions->order.count == 0 && !is_odd &&
             find_of_history(retired, history, key) == NO_KEY) ||
            (retired->any_forgotten && is_forgotten(retired, history, key)))
            continue;
        struct retired_key *kept = put(retired, history, key);
        if (kept == NULL || !widen(retired, kept, &shown))
            return no_memory(err);
        kept->odd |= (uint32_t)is_odd;
        note_values(kept, inference, key, whose);
        set_list(retired, kept, versions, &shown, order_unread(inference, key, &shown, whose, clean, &room), dropped);
        if (dropped && !let_rest(retired, kept))
            return no_memory(err);
    }
    return RIG_OK;
}

void rig_retired_count(struct rig_retired *retired, const struct rig_inference *inference, const uint8_t *fate)
{
    const struct rig_history *history = inference->history;
    for (uint32_t key = 0; history->workload == RIG_WORKLOAD_LIST_APPEND && key < history->key_count; key++)
        retired->unordered += fate[key] == RIG_KEY_DROPPED && show(inference, key, NULL).several_writers;
}

bool rig_retired_is_settled(const struct rig_inference *inference, uint32_t key, bool clean)
{
    struct rig_unread_chain chain;
    if (inference->history->workload == RIG_WORKLOAD_RW_REGISTER)
        return false; /* whoever reads what it holds brings a conflict */
    const struct rig_versions *versions = &inference->versions;
    const struct rig_append *slots = &versions->slots[versions->key_places[key].slot_first];
    uint32_t unread = 0;
    for (uint32_t i = 0; i < versions->keys[key].slot_count; i++) {
        bool is_unread = slots[i].writer != RIG_TXN_NONE && slots[i].position == RIG_VERSION_NONE;
        unread += is_unread && inference->history->txns[slots[i].writer].outcome != RIG_OUTCOME_FAIL;
    }
    return unread <= 1 || (clean && rig_unread_chain_find(inference, key, NULL, &chain));
}

/* ---- forgetting ---- */

static uint64_t average_last(const struct rig_key_pages *pages)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pages->pages.count; i++)
        sum += pages->pages.at[i].last;
    return pages->pages.count == 0 ? 0 : sum / pages->pages.count;
}

/* Only that its keys were used. */
static bool keep_names(struct rig_retired *retired, const struct rig_key_page *page)
{
    const bool are_texts = retired->texts.count > 0;
    bool fits = true;
    for (uint64_t i = 0; fits && i < RIG_PAGE_KEYS; i++) {
        uint64_t name = page->number * RIG_PAGE_KEYS + i;
        const char *text = are_texts ? retired->texts.texts[name] : NULL;
        if ((page->held >> i & 1U) != 0)
            fits = rig_key_set_add(&retired->forgotten, (int64_t)name, text, text == NULL ? 0 : strlen(text));
    }
    return fits;
}

/* Those that were remembered longer ago than the others on average: keys that come back do so sooner, mostly. */
static bool forget_pages(struct rig_retired *retired)
{
    struct rig_key_pages *pages = &retired->gone;
    const uint64_t average = average_last(pages);
    for (size_t i = pages->pages.count; i-- > 0;) {
        if (pages->pages.at[i].last <= average) {
            if (!keep_names(retired, &pages->pages.at[i]))
                return false;
            rig_key_pages_remove_page(pages, i);
        }
    }
    rig_key_pages_fit(pages);
    return true;
}

/* ---- the texts of those that are kept ---- */

/* What the names of text keys become when texts of forgotten ones are given back. */
struct renaming {
    const struct rig_retired *from;
    struct rig_text_table texts;
    struct rig_table ids;
    struct rig_key_pages gone;
};

static bool rename_key(struct renaming *to, uint64_t name, uint64_t *renamed)
{
    const char *text = to->from->texts.texts[name];
    *renamed = rig_text_table_put(&to->texts, text, strlen(text));
    return *renamed != RIG_TABLE_NONE;
}

static bool rename_page(struct renaming *to, const struct rig_key_page *page)
{
    uint64_t renamed;
    size_t length;
    bool fits = true;
    for (uint64_t i = 0; fits && i < RIG_PAGE_KEYS; i++) {
        uint64_t name = page->number * RIG_PAGE_KEYS + i;
        const uint8_t *packed = rig_key_pages_get(&to->from->gone, name, &length);
        fits = packed == NULL ||
               (rename_key(to, name, &renamed) && rig_key_pages_put(&to->gone, renamed, packed, length, page->last));
    }
    return fits;
}

static bool rename_all(struct renaming *to)
{
    const struct rig_retired *from = to->from;
    bool fits = true;
    for (size_t i = 0; fits && i < from->keys.count; i++) {
        uint64_t renamed;
        fits = rename_key(to, from->keys.at[i].name, &renamed);
        uint32_t *id = fits ? rig_table_put(&to->ids, renamed) : NULL;
        fits = id != NULL;
        if (fits)
            *id = (uint32_t)i;
    }
    for (size_t i = 0; fits && i < from->gone.pages.count; i++)
        fits = rename_page(to, &from->gone.pages.at[i]);
    return fits;
}

/* Gives back the texts of keys that were forgotten; without memory for that they stay. */
static bool drop_texts(struct rig_retired *retired)
{
    struct renaming to = {.from = retired};
    rig_text_table_init(&to.texts, 0);
    rig_table_init(&to.ids);
    bool fits = rename_all(&to);
    for (size_t i = 0; fits && i < retired->keys.count; i++)
        fits = rename_key(&to, retired->keys.at[i].name, &retired->keys.at[i].name);
    struct rig_text_table texts = fits ? retired->texts : to.texts;
    struct rig_table ids = fits ? retired->ids : to.ids;
    struct rig_key_pages gone = fits ? retired->gone : to.gone;
    if (fits) {
        retired->texts = to.texts;
        retired->ids = to.ids;
        retired->gone = to.gone;
    }
    rig_text_table_done(&texts);
    rig_table_done(&ids);
    rig_key_pages_done(&gone);
    return fits;
}

bool rig_retired_forget(struct rig_retired *retired)
{
    bool fits = forget_pages(retired);
    retired->any_forgotten = true;
    return rig_key_set_settle(&retired->forgotten) && fits && (retired->texts.count == 0 || drop_texts(retired));
}

/* ---- admitting ---- */

struct admission {
    struct rig_retired *retired;
    const struct rig_segment *segment;
    const char *conflict;
};

/* The keys of the segment that are retired, all awake now. False when memory runs out. */
static bool find_all(struct rig_retired *retired, const struct rig_segment *segment, bool *any)
{
    *any = false;
    for (size_t i = 0; i < segment->keys.count; i++) {
        const struct rig_segment_key *key = &segment->keys.at[i];
        uint64_t name =
            key->text == NULL ? (uint64_t)key->key : rig_text_table_get(&retired->texts, key->text, key->text_length);
        bool is_known = key->text == NULL || name != RIG_TABLE_NONE;
        retired->numbers.at[i] = NO_KEY;
        if (is_known && !wake(retired, name, &retired->numbers.at[i]))
            return false;
        *any |= retired->numbers.at[i] != NO_KEY;
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

/* How long a read of this list may be; 0 when none can be admitted that has to show something. */
static uint32_t limit_of(const struct retired_key *key, const struct rig_read_list *list)
{
    if (list->count < key->count || hash_on(empty_hash, list, key->count) != key->hash)
        return 0;
    uint32_t limit = key->count;
    while (limit < list->count && !holds(key, rig_read_element(list, limit)))
        limit++;
    return limit;
}

static bool keep_prefix(struct rig_retired *retired, struct retired_key *key, const struct rig_read_list *list)
{
    if (key->prefix != NULL || key->cut == 0)
        return true;
    key->prefix = malloc(key->cut * sizeof *key->prefix);
    if (key->prefix == NULL)
        return false;
    retired->owned_bytes += key->cut * sizeof *key->prefix;
    rig_read_copy(list, 0, key->cut, key->prefix);
    return true;
}

/* Whether the list begins with what was judged; and how long a read of it may be. */
static bool continues(const struct retired_key *key, const struct rig_read_list *list, uint32_t *limit)
{
    *limit = limit_of(key, list);
    return list->count >= key->count && (*limit > 0 || key->count == 0);
}

/* Leaves `count` elements behind the first `from`. */
static struct rig_growing_list cut_from(const struct rig_growing_list *list, uint32_t from, uint32_t count)
{
    return (struct rig_growing_list){.at = list->at == NULL ? NULL : list->at + from, .count = count};
}

/* Cuts what was judged off a spine; one that does not begin with it becomes empty, and no read of it stays. */
static bool cut_spine(struct rig_retired *retired, uint32_t number, struct rig_growing_list *spine, uint32_t *limit)
{
    struct retired_key *key = &retired->keys.at[number];
    const struct rig_read_list all = {.at = spine->at, .shared = spine->count, .count = spine->count};
    if (!continues(key, &all, limit)) {
        *spine = (struct rig_growing_list){0};
        return true;
    }
    *spine = cut_from(spine, key->cut, spine->count - key->cut);
    return keep_prefix(retired, key, &all);
}

/*
 * The same of a branch of `from`, the spine before it was cut. What was judged may end in the tail; and where the spine
 * became empty although the branch begins with what was judged, so does what they share, which therefore stays.
 */
static bool cut_branch(struct rig_retired *retired, uint32_t number, const struct rig_growing_list *from,
                       struct rig_growing_list *spine, struct rig_growing_branch *branch, uint32_t *limit)
{
    struct retired_key *key = &retired->keys.at[number];
    const struct rig_read_list all = {
        .at = from->at, .tail = branch->tail.at, .shared = branch->shared, .count = rig_growing_branch_count(branch)};
    if (!continues(key, &all, limit)) {
        branch->shared = 0;
        branch->tail = (struct rig_growing_list){0};
        return true;
    }
    uint32_t off_tail = key->cut > branch->shared ? key->cut - branch->shared : 0;
    branch->shared -= key->cut - off_tail;
    branch->tail = cut_from(&branch->tail, off_tail, branch->tail.count - off_tail);
    if (spine->count < branch->shared)
        *spine = cut_from(from, key->cut, branch->shared);
    return keep_prefix(retired, key, &all);
}

static bool copy_lists(struct rig_retired *retired, const struct rig_segment *segment)
{
    struct rig_segment *cleaned = &retired->cleaned;
    if (!rig_segment_keys_reserve(&cleaned->keys, segment->keys.count + 1) ||
        !rig_growing_branches_reserve(&cleaned->branches, segment->branches.count + 1) ||
        !list_limits_reserve(&retired->spine_limits, segment->keys.count + 1) ||
        !list_limits_reserve(&retired->branch_limits, segment->branches.count + 1))
        return false;
    memcpy(cleaned->keys.at, segment->keys.at, segment->keys.count * sizeof *segment->keys.at);
    if (segment->branches.count > 0)
        memcpy(cleaned->branches.at, segment->branches.at, segment->branches.count * sizeof *segment->branches.at);
    cleaned->keys.count = segment->keys.count;
    cleaned->branches.count = segment->branches.count;
    for (size_t i = 0; i < segment->keys.count; i++) {
        uint32_t number = retired->numbers.at[i];
        if (number != NO_KEY && !cut_spine(retired, number, &cleaned->keys.at[i].spine, &retired->spine_limits.at[i]))
            return false;
    }
    for (size_t i = 0; i < segment->branches.count; i++) {
        uint32_t key = segment->branches.at[i].key, number = retired->numbers.at[key];
        if (number != NO_KEY && !cut_branch(retired, number, &segment->keys.at[key].spine, &cleaned->keys.at[key].spine,
                                            &cleaned->branches.at[i], &retired->branch_limits.at[i]))
            return false;
    }
    return true;
}

static void admit_append(struct admission *a, const struct retired_key *key, int64_t value)
{
    if (key->odd)
        a->conflict = "a key with an anomaly is used again after a long while";
    else if (holds(key, value))
        a->conflict = "a value of a key that was done with may have been written twice";
}

/* Of a register. Nobody asks what an aborted transaction read. */
static void admit_value(struct admission *a, const struct retired_key *key, enum rig_outcome outcome,
                        const struct rig_mop *op)
{
    bool old = op->read_state == RIG_READ_NIL || (op->read_state == RIG_READ_SEEN && holds(key, op->value));
    if (outcome != RIG_OUTCOME_FAIL && old)
        a->conflict = "a register is read after a long while, as it was then";
}

static bool is_written(const struct rig_mop *op)
{
    return op->kind == RIG_OP_APPEND || op->kind == RIG_OP_WRITE;
}

static void admit_read(struct admission *a, struct retired_key *key, enum rig_outcome outcome, struct rig_mop *op)
{
    struct rig_retired *retired = a->retired;
    uint32_t count = op->read_state == RIG_READ_SEEN ? op->count : 0, limit = key->count;
    if (op->read_state == RIG_READ_SEEN)
        limit =
            rig_mop_is_branch(op) ? retired->branch_limits.at[rig_mop_branch(op)] : retired->spine_limits.at[op->key];
    bool fits = count >= key->count && count <= limit;
    if (outcome == RIG_OUTCOME_FAIL) {
        /* Nobody asks what an aborted transaction read. */
        if (op->read_state == RIG_READ_SEEN && (!fits || count < key->cut))
            *op = (struct rig_mop){.key = op->key, .kind = op->kind, .read_state = RIG_READ_UNKNOWN};
        else if (op->read_state == RIG_READ_SEEN)
            op->count -= key->cut;
        return;
    }
    if (key->odd || key->many_unread || !fits) {
        a->conflict = key->odd           ? "a key with an anomaly is read again after a long while"
                      : key->many_unread ? "appends to a key are read for the first time after a long while"
                                         : "a read shows a state of its key from long ago, or contradicts it";
        return;
    }
    if (outcome == RIG_OUTCOME_OK) {
        retired->unordered -= key->unordered;
        key->unordered = key->unconfirmed = 0;
    }
    if (op->read_state == RIG_READ_SEEN)
        op->count -= key->cut;
}

static void admit_ops(struct admission *a)
{
    struct rig_retired *retired = a->retired;
    const struct rig_segment *segment = a->segment;
    struct rig_mop *ops = retired->cleaned.ops.at;
    for (size_t txn = 0; txn < segment->txns.count && a->conflict == NULL; txn++) {
        const struct rig_txn *t = &segment->txns.at[txn];
        size_t end = txn + 1 < segment->txns.count ? t[1].first_op : segment->ops.count;
        for (size_t i = t->first_op; i < end && a->conflict == NULL; i++) {
            uint32_t number = retired->numbers.at[ops[i].key];
            if (number == NO_KEY)
                continue;
            struct retired_key *key = &retired->keys.at[number];
            if (is_written(&ops[i]))
                admit_append(a, key, ops[i].value);
            else if (ops[i].kind == RIG_OP_READ_REGISTER)
                admit_value(a, key, (enum rig_outcome)t->outcome, &ops[i]);
            else if (ops[i].kind == RIG_OP_READ_LIST && ops[i].read_state != RIG_READ_UNKNOWN)
                admit_read(a, key, (enum rig_outcome)t->outcome, &ops[i]);
        }
    }
    for (size_t i = 0; i < segment->open_ops.count && a->conflict == NULL; i++) {
        uint32_t number = retired->numbers.at[segment->open_ops.at[i].key];
        if (number != NO_KEY && is_written(&segment->open_ops.at[i]))
            admit_append(a, &retired->keys.at[number], segment->open_ops.at[i].value);
    }
}

enum rig_rc rig_retired_admit(struct rig_retired *retired, const struct rig_segment *segment,
                              const struct rig_segment **cleaned, const char **conflict, struct rig_err *err)
{
    *cleaned = segment;
    *conflict = NULL;
    if (retired->any_forgotten && uses_forgotten(retired, segment)) {
        *conflict = "a key is used again that was forgotten because memory is short";
        return RIG_OK;
    }
    if (retired->keys.count == 0 && retired->gone.pages.count == 0)
        return RIG_OK;
    bool any = false;
    if (!key_numbers_reserve(&retired->numbers, segment->keys.count + 1) || !find_all(retired, segment, &any))
        return no_memory(err);
    if (!any)
        return RIG_OK;
    struct rig_segment *copy = &retired->cleaned;
    if (!rig_mop_vec_reserve(&copy->ops, segment->ops.count + 1) || !copy_lists(retired, segment))
        return no_memory(err);
    if (segment->ops.count > 0)
        memcpy(copy->ops.at, segment->ops.at, segment->ops.count * sizeof *segment->ops.at);
    struct admission a = {.retired = retired, .segment = segment};
    admit_ops(&a);
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

struct rig_list rig_retired_prefix(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    uint32_t number = retired == NULL ? NO_KEY : find_of_history(retired, history, key);
    if (number == NO_KEY || retired->keys.at[number].prefix == NULL)
        return (struct rig_list){0};
    return (struct rig_list){retired->keys.at[number].prefix, retired->keys.at[number].cut};
}
