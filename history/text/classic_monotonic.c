/*
 * Histories of numbers that increments raise by 1 (classic_operations.h): each increment is a read of the number
 * before, and a write of the one after it.
 *
 *   {:f :inc, :value 3}  ok: {3 7}          [[:r 3 6] [:w 3 7]]
 *   {:f :inc}            ok: 7              the same of key 0
 *   {:f :inc}            ok: ["<time>" 6]   the same: the number before, with the database's time, which is not used
 *   {:f :read}           ok: {3 7, 4 1}     [[:r 3 7] [:r 4 1]]; and 7 or ["<time>" 7], of key 0
 *
 * The least number of a key is its initial state, unless an increment wrote it. Numbers between the least and the
 * highest one that no acknowledged increment wrote have writers of unknown outcome, at most as many as increments of
 * unknown result. Two increments to one number are lost updates: reads of that number then show nothing, as any of them
 * may have written it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "history/text/classic_private.h"

struct number_key {
    struct rig_text_slice name;
    size_t at; /* in the file: what showed the highest number */
    int64_t least, most;
    int64_t missing; /* writers that are left for numbers without one */
    bool is_shown, has_null;
};

RIG_VEC(struct number_key, number_keys)

struct numbers {
    struct number_keys keys;
    struct rig_table writes; /* key and number -> acknowledged increments to it */
    bool shows_old;          /* an increment with a time shows 0: the number before it */
};

/* A number that an operation shows. */
struct shown {
    struct rig_text_slice key;
    int64_t value;
    bool is_null;
};

/* Goes through the numbers of a value. */
struct walk {
    struct rig_text_slice value;
    struct rig_text_cursor cursor;
    bool is_map, is_first;
};

static const struct rig_text_slice key_zero = {.at = "0", .length = 1};

static bool increments(const struct rig_classic_item *item)
{
    static const char *const names[] = {"inc", "increment", NULL};
    return rig_classic_is_one_of(&item->function, names);
}

/* A number with a time before it. */
static bool is_timed(const struct rig_classic *r, const struct rig_text_slice *value, struct rig_text_slice pair[2])
{
    return rig_classic_is_pair(r, value, pair) && *pair[0].at == '"';
}

static struct walk walk_of(const struct rig_classic *r, const struct rig_text_slice *value)
{
    struct walk walk = {.value = *value, .is_map = rig_classic_is_map(r, value), .is_first = true};
    struct rig_text_slice pair[2];
    if (walk.is_map) {
        walk.cursor = rig_classic_cursor(r, value->at);
        (void)rig_classic_enter(r, &walk.cursor, true);
    } else if (is_timed(r, value, pair)) {
        walk.value = pair[1];
    }
    return walk;
}

/* False at the end; *valid: the value is a number or nil. */
static bool next_shown(const struct rig_classic *r, struct walk *walk, struct shown *shown, bool *valid)
{
    struct rig_text_slice value = walk->value;
    *shown = (struct shown){.key = key_zero};
    if (walk->is_map ? !rig_classic_next_entry(r, &walk->cursor, walk->is_first, &shown->key, &value) : !walk->is_first)
        return false;
    walk->is_first = false;
    shown->is_null = rig_classic_is_null(&value);
    *valid = shown->is_null || rig_classic_number(&value, &shown->value);
    return true;
}

/* The number that an acknowledged increment wrote; false: it is not known. */
static bool written(const struct rig_classic *r, const struct rig_classic_item *answer, struct shown *shown)
{
    struct rig_text_slice pair[2];
    struct walk walk = walk_of(r, &answer->value);
    bool valid = false;
    if (answer->type != RIG_OPERATION_OK || !next_shown(r, &walk, shown, &valid) || !valid || shown->is_null)
        return false;
    shown->value += is_timed(r, &answer->value, pair);
    return true;
}

static uint64_t number_hash(const struct rig_text_slice *key, int64_t value)
{
    return rig_classic_hash(key) + (uint64_t)value * UINT64_C(0x9E3779B97F4A7C15);
}

/* ---- what the file shows of each key ---- */

static struct number_key *key_of(struct rig_classic *r, const struct rig_text_slice *name)
{
    struct numbers *numbers = r->numbers;
    uint32_t *slot = rig_table_put(&r->known, rig_classic_hash(name));
    if (slot == NULL)
        return NULL;
    if (*slot == RIG_TABLE_NONE) {
        *slot = (uint32_t)numbers->keys.count;
        if (!number_keys_add(&numbers->keys, (struct number_key){.name = *name}))
            return NULL;
    }
    return &numbers->keys.at[*slot];
}

static bool note_shown(struct rig_classic *r, const struct rig_classic_item *item, const struct shown *shown)
{
    struct number_key *key = key_of(r, &shown->key);
    if (key == NULL)
        return false;
    key->has_null |= shown->is_null;
    if (shown->is_null)
        return true;
    if (!key->is_shown || shown->value > key->most) {
        key->most = shown->value;
        key->at = item->at;
    }
    if (!key->is_shown || shown->value < key->least)
        key->least = shown->value;
    key->is_shown = true;
    return true;
}

static bool note_increment(struct rig_classic *r, const struct rig_classic_item *item)
{
    struct numbers *numbers = r->numbers;
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    struct shown shown;
    if (item != answer || answer->type == RIG_OPERATION_FAIL)
        return true;
    if (!written(r, answer, &shown)) {
        const struct rig_text_slice *asked = &rig_classic_asked(r, item)->value;
        struct number_key *key = key_of(r, rig_classic_is_null(asked) ? &key_zero : asked);
        if (key == NULL)
            return false;
        key->missing++;
        return true;
    }
    uint32_t *writers = rig_table_put(&numbers->writes, number_hash(&shown.key, shown.value));
    if (writers == NULL)
        return false;
    *writers = *writers == RIG_TABLE_NONE ? 1 : *writers + 1;
    struct shown before = shown;
    before.value--;
    struct rig_text_slice pair[2];
    numbers->shows_old |= is_timed(r, &answer->value, pair) && before.value == 0;
    return note_shown(r, answer, &shown) && note_shown(r, answer, &before);
}

static bool note_read(struct rig_classic *r, const struct rig_classic_item *item)
{
    struct walk walk = walk_of(r, &item->value);
    struct shown shown;
    bool valid = false;
    if (item->type != RIG_OPERATION_OK || rig_classic_is_null(&item->value))
        return true;
    while (next_shown(r, &walk, &shown, &valid)) {
        if (valid && !note_shown(r, item, &shown))
            return false;
    }
    return true;
}

/* Acknowledged increments to the number. */
static uint32_t writers_of(const struct rig_classic *r, const struct rig_text_slice *key, int64_t value)
{
    const struct numbers *numbers = r->numbers;
    const uint32_t writers = rig_table_get(&numbers->writes, number_hash(key, value));
    return writers == RIG_TABLE_NONE ? 0 : writers;
}

/* Whether the number is the state before all increments. Where that is nil, they began with the number 0 or 1. */
static bool is_initial(const struct rig_classic *r, const struct rig_text_slice *name, int64_t value)
{
    const struct numbers *numbers = r->numbers;
    const uint32_t slot = rig_table_get(&r->known, rig_classic_hash(name));
    if (slot == RIG_TABLE_NONE)
        return false;
    const struct number_key *key = &numbers->keys.at[slot];
    return value == key->least && writers_of(r, name, value) == 0 && (!key->has_null || value == 0 || value == -1);
}

/* A member of a micro-operation. */
static void put_number(struct rig_classic *r, const struct rig_text_slice *key, int64_t value)
{
    if (is_initial(r, key, value))
        rig_classic_end_null(r);
    else if (writers_of(r, key, value) > 1)
        rig_classic_end_micro(r, NULL);
    else
        rig_classic_end_number(r, value);
}

static bool put_missing_writers(struct rig_classic *r, struct number_key *key)
{
    for (int64_t value = key->least; key->is_shown && value <= key->most && key->missing > 0; value++) {
        if (writers_of(r, &key->name, value) > 0 || is_initial(r, &key->name, value))
            continue;
        if (!rig_classic_begin_unseen(r, key->at))
            return false;
        rig_classic_begin_micro(r, "r", &key->name);
        put_number(r, &key->name, value - 1);
        rig_classic_begin_micro(r, "w", &key->name);
        rig_classic_end_number(r, value);
        rig_classic_end(r);
        key->missing--;
    }
    return true;
}

static bool find_numbers(struct rig_classic *r)
{
    struct numbers *numbers = r->numbers = calloc(1, sizeof *numbers);
    bool done = numbers != NULL;
    if (done)
        rig_table_init(&numbers->writes);
    for (size_t i = 0; done && i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (item->is_client)
            done = increments(item) ? note_increment(r, item) : !rig_classic_reads(item) || note_read(r, item);
    }
    for (size_t i = 0; done && i < numbers->keys.count; i++)
        done = put_missing_writers(r, &numbers->keys.at[i]);
    return done;
}

static void free_numbers(struct rig_classic *r)
{
    struct numbers *numbers = r->numbers;
    if (numbers == NULL)
        return;
    number_keys_done(&numbers->keys);
    rig_table_done(&numbers->writes);
    free(numbers);
}

/* ---- writing ---- */

static enum rig_rc put_increment(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct numbers *numbers = r->numbers;
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    struct rig_text_slice pair[2];
    struct shown shown;
    if (!written(r, answer, &shown))
        return rig_classic_refuse(r, item, "whose value is no number");
    const struct rig_classic_item *asked = rig_classic_asked(r, answer);
    if (asked != answer && !rig_classic_is_null(&asked->value) && rig_classic_is_number(&answer->value))
        return rig_classic_refuse(r, item, "shows a number both before and after it: the result is none of its own");
    if (is_timed(r, &answer->value, pair) && !numbers->shows_old)
        return rig_classic_refuse(r, item, "may show the number before or after it, because none shows 0");
    rig_classic_begin_micro(r, "r", &shown.key);
    if (item->type == RIG_OPERATION_INVOKE)
        rig_classic_end_null(r);
    else
        put_number(r, &shown.key, shown.value - 1);
    rig_classic_begin_micro(r, "w", &shown.key);
    if (writers_of(r, &shown.key, shown.value) > 1) {
        char text[64];
        const int length =
            snprintf(text, sizeof text, "\"%lld (%zu)\"", (long long)shown.value, (size_t)(answer - r->items.at));
        rig_classic_end_micro(r, &(struct rig_text_slice){.at = text, .length = (size_t)length});
    } else {
        rig_classic_end_number(r, shown.value);
    }
    return RIG_OK;
}

static enum rig_rc put_numbers(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    const bool known = answer->type == RIG_OPERATION_OK && !rig_classic_is_null(&answer->value);
    struct walk walk = walk_of(r, known ? &answer->value : &rig_classic_asked(r, item)->value);
    struct shown shown;
    bool valid = false;
    while (next_shown(r, &walk, &shown, &valid)) {
        if (known && !valid)
            return rig_classic_refuse(r, item, "whose value is no number and no map of numbers");
        rig_classic_begin_micro(r, "r", &shown.key);
        if (item->type == RIG_OPERATION_INVOKE || (known && shown.is_null))
            rig_classic_end_null(r);
        else if (known)
            put_number(r, &shown.key, shown.value);
        else
            rig_classic_end_micro(r, NULL);
    }
    return RIG_OK;
}

static enum rig_rc put_monotonic(struct rig_classic *r, const struct rig_classic_item *item)
{
    if (increments(item))
        return put_increment(r, item);
    return rig_classic_reads(item) ? put_numbers(r, item) : rig_classic_refuse(r, item, "is not known");
}

/* Reads of the past, and increments without a known result: those that were read have writers of unknown outcome. */
static bool shows_nothing(const struct rig_classic *r, const struct rig_classic_item *item)
{
    static const char *const past[] = {"read-at", "events", NULL};
    struct shown shown;
    return rig_classic_is_one_of(&item->function, past) ||
           (increments(item) && !written(r, rig_classic_answer(r, item), &shown));
}

static bool are_monotonic(const struct rig_classic *r)
{
    bool found = false;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        struct rig_text_slice pair[2];
        if (!item->is_client)
            continue;
        if (item->is_txn || (!increments(item) && !rig_classic_reads(item) && !shows_nothing(r, item)))
            return false;
        found |= item->type == RIG_OPERATION_OK && increments(item) &&
                 (rig_classic_is_map(r, &item->value) || is_timed(r, &item->value, pair));
    }
    return found;
}

const struct rig_classic_form rig_classic_monotonic = {.workload = RIG_WORKLOAD_MONOTONIC,
                                                       .reads_at_once = true,
                                                       .is_it = are_monotonic,
                                                       .prepare = find_numbers,
                                                       .skips = shows_nothing,
                                                       .put = put_monotonic,
                                                       .done = free_numbers};
