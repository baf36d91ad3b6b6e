/*
 * Transactions on registers whose values repeat (multi-key-acid), rewritten so that each write has a value of its own:
 * the n-th write of 3 to a key writes "3#n".
 *
 * A read of a value that several transactions wrote shows which of them only if it can be one alone: its transaction
 * completed before the others were invoked, and an acknowledged read found the key without a value, so that the value
 * was not there at first. Any other read of such a value gets the value that its writes share (shared_value.h), which
 * is no result: each order that explains the transactions of the file therefore explains those written here, and what
 * refutes these refutes the file. The checker decides by the choices of such reads (checker/judge/repeated_values.h).
 *
 * A history without such values is left as it is.
 */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "history/model/shared_value.h"
#include "history/text/classic_private.h"

/* A write, in the order of the file. */
struct write {
    uint64_t of;     /* hash of key and value */
    uint32_t number; /* among the writes of its value to its key, from 1 */
};

/* The writes of a value to a key. An item is a place in the file; reads whose transactions completed by then cannot
 * show the write. 0: nothing is known of its invocation. */
struct value {
    uint32_t count;
    uint32_t first_from;  /* item that invokes the first write */
    uint32_t others_from; /* item that invokes the first one of the others */
};

RIG_VEC(struct write, classic_writes)
RIG_VEC(struct value, classic_values)

struct noted {
    struct classic_writes writes;
    struct classic_values values; /* by r->known: hash of key and value -> its place */
    struct rig_table empty;       /* hashes of keys that an acknowledged read found without a value */
    uint32_t *first_write;        /* per item */
    uint32_t mark_length;         /* of a run of '#' that the file does not have */
};

/* A walk over the micro-operations of a transaction. */
struct walk {
    const struct rig_classic *r;
    struct rig_text_cursor cursor;
    struct rig_text_slice tuple; /* the key of a tuple of jepsen.independent; empty: there is none */
    struct rig_text_slice part[3];
    size_t part_count;
    char closer;
    bool is_first, writes;
};

/* Whether the value is a key and a list of micro-operations; a micro-operation begins with a name. */
static bool is_tuple(const struct rig_classic *r, const struct rig_text_slice *value, struct rig_text_slice pair[2])
{
    struct rig_text_slice first;
    if (!rig_classic_is_pair(r, value, pair) || !rig_classic_is_sequence(r, &pair[1]))
        return false;
    struct rig_text_cursor cursor = rig_classic_cursor(r, pair[1].at);
    const char closer = rig_classic_enter(r, &cursor, false);
    return !rig_classic_next(r, &cursor, closer, true, &first) || rig_classic_is_sequence(r, &first);
}

static struct walk walk_over(const struct rig_classic *r, const struct rig_classic_item *item)
{
    struct rig_text_slice pair[2] = {{0}, item->value};
    struct walk walk = {.r = r, .is_first = true};
    if (is_tuple(r, &item->value, pair))
        walk.tuple = pair[0];
    else
        pair[1] = item->value;
    walk.cursor = rig_classic_cursor(r, pair[1].at);
    walk.closer = rig_classic_enter(r, &walk.cursor, false);
    return walk;
}

static bool next_micro(struct walk *walk)
{
    struct rig_text_slice micro;
    if (!rig_classic_next(walk->r, &walk->cursor, walk->closer, walk->is_first, &micro))
        return false;
    walk->is_first = false;
    walk->part_count = rig_classic_parts(walk->r, &micro, walk->part);
    const struct rig_text_slice name = rig_classic_bare(walk->part[0].at, walk->part[0].length);
    walk->writes = walk->part_count == 3 && rig_classic_is_one_of(&name, rig_classic_writes);
    return true;
}

/* An integer, a keyword, or a string without escapes: two such are equal exactly if their texts are. */
static bool is_plain(const struct rig_text_slice *text)
{
    const bool is_name = text->length > 0 && (*text->at == ':' || *text->at == '"');
    if (is_name)
        return memchr(text->at, '\\', text->length) == NULL;
    const size_t sign = text->length > 0 && *text->at == '-';
    return rig_classic_is_number(text) && (text->at[sign] != '0' || text->length == 1);
}

static bool has_plain_key(const struct walk *walk)
{
    return is_plain(&walk->part[1]) && (walk->tuple.at == NULL || is_plain(&walk->tuple));
}

/* All keys that are not plain count as one. */
static uint64_t hash_key(const struct walk *walk)
{
    if (!has_plain_key(walk))
        return 1;
    const uint64_t tuple = XXH3_64bits(walk->tuple.at == NULL ? "" : walk->tuple.at, walk->tuple.length);
    return XXH3_64bits_withSeed(walk->part[1].at, walk->part[1].length, tuple);
}

/* All values of a key that are not plain count as one. */
static uint64_t hash_other(const struct walk *walk)
{
    return hash_key(walk) + 1;
}

static uint64_t hash_value(const struct walk *walk)
{
    const struct rig_text_slice *value = &walk->part[2];
    return is_plain(value) ? XXH3_64bits_withSeed(value->at, value->length, hash_key(walk)) : hash_other(walk);
}

/* ---- noting what the file writes ---- */

/* The writes of key and value with this hash; NULL: there are none. */
static const struct value *find_value(const struct rig_classic *r, const struct noted *noted, uint64_t of)
{
    const uint32_t place = rig_table_get(&r->known, of);
    return place == RIG_TABLE_NONE ? NULL : &noted->values.at[place];
}

static bool note_write(struct rig_classic *r, struct noted *noted, const struct walk *walk, uint32_t item)
{
    const uint64_t of = hash_value(walk);
    const uint32_t from = r->items.at[item].type == RIG_OPERATION_INVOKE ? item : 0;
    uint32_t *place = rig_table_put(&r->known, of);
    if (place == NULL)
        return false;
    if (*place == RIG_TABLE_NONE) {
        *place = (uint32_t)noted->values.count;
        if (!classic_values_add(&noted->values, (struct value){.first_from = from, .others_from = UINT32_MAX}))
            return false;
    }
    struct value *value = &noted->values.at[*place];
    if (value->count > 0 && from < value->others_from)
        value->others_from = from;
    value->count++;
    return classic_writes_add(&noted->writes, (struct write){of, value->count});
}

static bool note_item(struct rig_classic *r, struct noted *noted, uint32_t number)
{
    const struct rig_classic_item *item = &r->items.at[number];
    const bool asks = item->type == RIG_OPERATION_INVOKE || item->partner == RIG_TABLE_NONE;
    struct walk walk = walk_over(r, item);
    while (next_micro(&walk)) {
        if (walk.writes && asks && !note_write(r, noted, &walk, number))
            return false;
        if (walk.writes || item->type != RIG_OPERATION_OK || walk.part_count < 3 || !rig_classic_is_null(&walk.part[2]))
            continue;
        uint32_t *empty = rig_table_put(&noted->empty, hash_key(&walk));
        if (empty == NULL)
            return false;
        *empty = 1;
    }
    return true;
}

static uint32_t longest_run(const struct rig_classic *r)
{
    uint32_t longest = 0, run = 0;
    for (const char *at = r->parser.cursor.start; at < r->parser.cursor.end; at++) {
        run = *at == '#' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static bool prepare(struct rig_classic *r)
{
    struct noted *noted = calloc(1, sizeof *noted);
    if (noted == NULL)
        return false;
    r->numbers = noted;
    rig_table_init(&noted->empty);
    noted->mark_length = longest_run(r) + 1;
    noted->first_write = calloc(r->items.count + 1, sizeof *noted->first_write);
    for (uint32_t i = 0; noted->first_write != NULL && i < r->items.count; i++) {
        noted->first_write[i] = (uint32_t)noted->writes.count;
        if (r->items.at[i].is_client && r->items.at[i].is_txn && !note_item(r, noted, i))
            return false;
    }
    return noted->first_write != NULL;
}

static void done(struct rig_classic *r)
{
    struct noted *noted = r->numbers;
    if (noted == NULL)
        return;
    classic_writes_done(&noted->writes);
    classic_values_done(&noted->values);
    rig_table_done(&noted->empty);
    free(noted->first_write);
    free(noted);
}

/* ---- writing ---- */

static void put_own_value(struct rig_classic *r, const struct noted *noted, const struct rig_text_slice *value,
                          uint32_t number)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_shared_value_add(&text, value->at, value->length, noted->mark_length, number);
    const struct rig_text_slice written = {.at = rig_buf_text(&text), .length = text.size};
    rig_classic_end_micro(r, &written);
    r->out->failed |= text.failed;
    rig_buf_done(&text);
}

/* The result of a read: the value, that of the first write of it, the one that all its writes share, or unknown. */
static void put_result(struct rig_classic *r, const struct walk *walk, uint32_t item)
{
    const struct noted *noted = r->numbers;
    const struct value *value = find_value(r, noted, hash_value(walk));
    const struct value *other = find_value(r, noted, hash_other(walk));
    if (rig_classic_is_null(&walk->part[2]))
        rig_classic_end_micro(r, &walk->part[2]);
    else if (other != NULL && other->count > 1) /* one of these may be the same value */
        rig_classic_end_micro(r, NULL);
    else if (value == NULL || value->count == 1)
        rig_classic_end_micro(r, &walk->part[2]);
    else if (has_plain_key(walk) && rig_table_get(&noted->empty, hash_key(walk)) != RIG_TABLE_NONE &&
             value->first_from < item && value->others_from > item)
        put_own_value(r, noted, &walk->part[2], 1);
    else if (has_plain_key(walk))
        put_own_value(r, noted, &walk->part[2], RIG_SHARED_BY_ALL);
    else
        rig_classic_end_micro(r, NULL);
}

/* `write`: what the invocation wrote here; NULL: nothing. A completion that says something else is refused by the
 * reader. */
static void put_write(struct rig_classic *r, const struct walk *walk, const struct write *write)
{
    const struct noted *noted = r->numbers;
    const uint64_t of = hash_value(walk);
    const struct value *value = find_value(r, noted, of);
    if (write != NULL && write->of == of && value->count > 1)
        put_own_value(r, noted, &walk->part[2], write->number);
    else
        rig_classic_end_micro(r, &walk->part[2]);
}

/* The key of the micro-operation, with that of its tuple. */
static void add_key(const struct walk *walk, struct rig_buf *key)
{
    rig_buf_clear(key);
    if (walk->tuple.at != NULL) {
        rig_buf_add_char(key, '[');
        rig_buf_add(key, walk->tuple.at, walk->tuple.length);
        rig_buf_add_text(key, walk->r->edn ? " " : ", ");
    }
    if (walk->part_count > 1)
        rig_buf_add(key, walk->part[1].at, walk->part[1].length);
    rig_buf_add_text(key, walk->tuple.at != NULL ? "]" : "");
}

static enum rig_rc put(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct noted *noted = r->numbers;
    const struct rig_classic_item *asked = rig_classic_asked(r, item);
    const struct rig_classic_item *given = item->is_txn || item->type == RIG_OPERATION_OK ? item : asked;
    if (!given->is_txn && !(rig_classic_is_sequence(r, &given->value) && rig_classic_count(r, &given->value) == 0))
        return rig_classic_refuse(r, item, "whose value is not a list of reads and writes");
    uint32_t next = noted->first_write[asked - r->items.at];
    const uint32_t end = noted->first_write[asked - r->items.at + 1];
    struct walk walk = walk_over(r, given);
    struct rig_buf key;
    rig_buf_init(&key, 0);
    while (next_micro(&walk)) {
        add_key(&walk, &key);
        const struct rig_text_slice key_text = {.at = rig_buf_text(&key), .length = key.size};
        rig_classic_begin_micro(r, walk.writes ? "w" : "r", &key_text);
        if (walk.writes)
            put_write(r, &walk, next < end ? &noted->writes.at[next++] : NULL);
        else if (walk.part_count == 3)
            put_result(r, &walk, (uint32_t)(item - r->items.at));
        else
            rig_classic_end_micro(r, NULL);
    }
    r->out->failed |= key.failed;
    rig_buf_done(&key);
    return RIG_OK;
}

/* Whether some value is written to a key twice; items have no partners yet, so a file with invocations is judged by
 * these. */
static bool has_values_that_repeat(const struct rig_classic *r)
{
    struct rig_table seen;
    bool repeats = false, all = true, invokes = false;
    rig_table_init(&seen);
    for (size_t i = 0; !invokes && i < r->items.count; i++)
        invokes = r->items.at[i].is_client && r->items.at[i].type == RIG_OPERATION_INVOKE;
    for (size_t i = 0; all && !repeats && i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (!item->is_client || !item->is_txn || (invokes && item->type != RIG_OPERATION_INVOKE))
            continue;
        struct walk walk = walk_over(r, item);
        while (all && !repeats && next_micro(&walk)) {
            uint32_t *place = walk.writes ? rig_table_put(&seen, hash_value(&walk)) : NULL;
            all = !walk.writes || place != NULL;
            repeats = place != NULL && *place != RIG_TABLE_NONE;
            if (place != NULL)
                *place = 1;
        }
    }
    rig_table_done(&seen);
    return repeats;
}

const struct rig_classic_form rig_classic_multi_key = {
    .workload = RIG_WORKLOAD_MULTI_KEY, .is_it = has_values_that_repeat, .prepare = prepare, .put = put, .done = done};
