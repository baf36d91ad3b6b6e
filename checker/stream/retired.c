#include "checker/stream/retired.h"

#include <stdlib.h>
#include <string.h>

#include "checker/stream/retired_private.h"
#include "checker/stream/list_unread_chain.h"

enum { DENSE_SLACK = 1 << 16 /* bits */ };

/* What one judgement shows of a key. */
struct shown {
    int64_t lowest, highest; /* where there are `values` */
    uint32_t values;
    uint32_t unread;
    uint32_t unread_writer;
    bool several_writers; /* of unread appends */
};

enum rig_rc rig_retired_no_memory(struct rig_err *err)
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
    rig_txn_op_vec_done(&retired->cleaned.ops);
    key_numbers_done(&retired->numbers);
    list_limits_done(&retired->spine_limits);
    list_limits_done(&retired->branch_limits);
    free(retired);
}

size_t rig_retired_bytes(const struct rig_retired *retired)
{
    return retired->keys.capacity * sizeof(struct retired_key) + retired->ids.slot_count * 12 + retired->owned_bytes +
           rig_key_pages_bytes(&retired->gone) + rig_text_table_bytes(&retired->texts) +
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
    return find_name(retired, history, key, &name) ? rig_table_get(&retired->ids, name) : RIG_RETIRED_NONE;
}

static bool is_forgotten(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    int64_t name = history->keys[key];
    const char *text = history->key_texts == NULL ? NULL : history->key_texts[name];
    return rig_key_set_has(&retired->forgotten, name, text, text == NULL ? 0 : strlen(text));
}

struct retired_key *rig_retired_add(struct rig_retired *retired, uint64_t name)
{
    uint32_t *id = retired->keys.count < RIG_RETIRED_NONE ? rig_table_put(&retired->ids, name) : NULL;
    if (id == NULL || !retired_keys_add(&retired->keys, (struct retired_key){.name = name,
                                                                             .hash = rig_retired_empty_hash,
                                                                             .cut_hash = rig_retired_empty_hash}))
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
    return id == RIG_TABLE_NONE ? rig_retired_add(retired, name) : &retired->keys.at[id];
}

bool rig_retired_holds(const struct retired_key *key, int64_t value)
{
    uint64_t place = (uint64_t)value - (uint64_t)key->lowest;
    if (key->values == 0 || place > key->span)
        return false;
    return key->bits == NULL || (key->bits[place / 64] >> (place % 64) & 1u);
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
    uint64_t most = ((uint64_t)key->values + shown->values) * RIG_RETIRED_DENSE_FACTOR + DENSE_SLACK;
    uint64_t *bits = NULL;
    if (!first && lowest == key->lowest && span == key->span) {
        key->values += shown->values;
        return true;
    }
    /* Mostly every value between the lowest and the highest was appended: that takes no bits to know. */
    bool full = first && span == shown->values - 1U;
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
    if (key->bits != NULL)
        retired->owned_bytes -= rig_retired_words(key->span) * sizeof *bits;
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
        return rig_retired_no_memory(err);
    for (uint32_t i = begin; kept->bits != NULL && i < end; i++) {
        uint64_t place = (uint64_t)registers->versions[i].value - (uint64_t)kept->lowest;
        kept->bits[place / 64] |= UINT64_C(1) << (place % 64);
    }
    return !dropped || rig_retired_rest(retired, kept) ? RIG_OK : rig_retired_no_memory(err);
}

/* Takes over the order of the key, and its unread appends behind it where their order is known. */
static void set_list(struct rig_retired *retired, struct retired_key *key, const struct rig_key_versions *versions,
                     const struct shown *shown, const struct rig_unread_chain *unread, bool dropped)
{
    key->count = key->cut + versions->order.count;
    const struct rig_read_list order = rig_read_of(versions->order, versions->order.count);
    key->hash = rig_retired_hash_on(key->cut_hash, &order, order.count);
    key->many_unread = unread == NULL;
    if (unread != NULL) {
        const struct rig_read_list behind =
            rig_read_of((struct rig_list){unread->values, unread->count}, unread->count);
        key->count += unread->count;
        key->hash = rig_retired_hash_on(key->hash, &behind, unread->count);
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
             find_of_history(retired, history, key) == RIG_RETIRED_NONE) ||
            (retired->any_forgotten && is_forgotten(retired, history, key)))
            continue;
        struct retired_key *kept = put(retired, history, key);
        if (kept == NULL || !widen(retired, kept, &shown))
            return rig_retired_no_memory(err);
        kept->odd |= (uint32_t)is_odd;
        note_values(kept, inference, key, whose);
        set_list(retired, kept, versions, &shown, order_unread(inference, key, &shown, whose, clean, &room), dropped);
        if (dropped && !rig_retired_rest(retired, kept))
            return rig_retired_no_memory(err);
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

struct rig_list rig_retired_prefix(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    uint32_t number = retired == NULL ? RIG_RETIRED_NONE : find_of_history(retired, history, key);
    if (number == RIG_RETIRED_NONE || retired->keys.at[number].prefix == NULL)
        return (struct rig_list){0};
    return (struct rig_list){retired->keys.at[number].prefix, retired->keys.at[number].cut};
}
