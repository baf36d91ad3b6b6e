/*
 * Histories of Elle's closed predicates (classic_operations.h), rewritten as the workload predicate
 * (history/types/row_ops.h).
 *
 *   {:f :init, :value {:x 1}}        the rows that are there from the start: a transaction of statements
 *   [:insert :x 2], [:w :x 2]        an insert; an update of row x, if it was there from the start
 *   [:delete :x]                     a delete of row x; nothing, if no row x was there from the start
 *   [:r :x 2]                        a read of row x by its key
 *   [:rp pred {:x 2}]                a read of the rows that meet :true, [:= 2] or [:mod 2 0]
 *
 * The universe is closed: a key has its first value, if `init` gives it one, and at most one write by a transaction
 * that may have committed. So a write of a key of `init` replaced the first value, whatever the transaction read: the
 * update's result says so. A history with more writes of a key is refused, because nothing tells their order.
 *
 * A key that is not a small integer is numbered from FIRST_NAME on. Statement J of key K with value V has the number
 * ((K * 10 + J) * 1000000 + V) * 1000 + 990 + what it does. J: 0 the first value or the insert, 1 a later write, 2 a
 * write that failed, 9 a value that nothing wrote.
 */
#include <stdlib.h>

#include <xxhash.h>

#include "history/types/row_ops.h"
#include "history/text/classic_private.h"

enum { FIRST_NAME = 8000000, MOST_NAMES = 1000000, MOST_DIVISOR = RIG_ROW_ENDLESS - 1 };
enum { FIRST = 0, LATER = 1, FAILED = 2, UNWRITTEN = 9 }; /* J */

struct key {
    int64_t number;
    int64_t id, last; /* of its row: the id, and the only write of a transaction; 0: there is none */
    bool initial, written;
};

RIG_VEC(struct key, closed_keys)
RIG_VEC(int64_t, closed_statements)

struct noted {
    struct closed_keys keys;             /* by r->known: hash of the key -> its place */
    struct closed_statements statements; /* by `values`: hash of key and value -> its place */
    struct rig_table values;
    uint32_t names;    /* keys that are not small integers */
    const char *why;   /* NULL, or why the history is refused */
    uint32_t why_item; /*   at that item */
};

/* ---- items ---- */

static bool is_init(const struct rig_classic_item *item)
{
    return rig_slice_is(&item->function, "init");
}

static const char *const closed_names[] = {"rp", "insert", "delete", NULL};

bool rig_classic_is_closed(const struct rig_text_slice *name)
{
    return rig_classic_is_one_of(name, closed_names);
}

/* The item with the operations and, where it was acknowledged, the results of the pair. */
static const struct rig_classic_item *telling(const struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    return answer->type == RIG_OPERATION_OK && answer->is_txn ? answer : rig_classic_asked(r, item);
}

struct walk {
    const struct rig_classic *r;
    struct rig_text_cursor cursor;
    struct rig_text_slice name, part[3];
    size_t count;
    char closer;
    bool is_first;
};

static struct walk walk_over(const struct rig_classic *r, const struct rig_classic_item *item)
{
    struct walk walk = {.r = r, .is_first = true};
    if (!item->is_txn)
        return walk;
    walk.cursor = rig_classic_cursor(r, item->value.at);
    walk.closer = rig_classic_enter(r, &walk.cursor, false);
    return walk;
}

static bool next_micro(struct walk *walk)
{
    struct rig_text_slice micro;
    if (walk->closer == '\0' || !rig_classic_next(walk->r, &walk->cursor, walk->closer, walk->is_first, &micro))
        return false;
    walk->is_first = false;
    walk->count = rig_classic_parts(walk->r, &micro, walk->part);
    walk->name = rig_classic_bare(walk->part[0].at, walk->part[0].length);
    return true;
}

static bool writes(const struct walk *walk)
{
    return rig_slice_is(&walk->name, "w") || rig_slice_is(&walk->name, "insert");
}

static bool deletes(const struct walk *walk)
{
    return rig_slice_is(&walk->name, "delete");
}

/* ---- noting what the file writes ---- */

static bool refuse(struct rig_classic *r, const struct rig_classic_item *item, const char *why)
{
    struct noted *noted = r->numbers;
    if (noted->why == NULL) {
        noted->why = why;
        noted->why_item = (uint32_t)(item - r->items.at);
    }
    return true;
}

static int64_t statement_number(const struct key *key, int64_t j, int64_t value, enum rig_rows_action action)
{
    return rig_row_number((key->number * 10 + j) * RIG_ROW_CLOSED_VALUES + value, RIG_ROW_CLOSED_CLASS, action);
}

/* NULL when memory runs out. Valid until the next call. */
static struct key *put_key(struct rig_classic *r, const struct rig_text_slice *name)
{
    struct noted *noted = r->numbers;
    uint32_t *place = rig_table_put(&r->known, rig_classic_hash(name));
    if (place == NULL)
        return NULL;
    if (*place == RIG_TABLE_NONE) {
        int64_t number = 0;
        const bool is_small = rig_classic_number(name, &number) && number >= 0 && number < FIRST_NAME;
        *place = (uint32_t)noted->keys.count;
        if (noted->names >= MOST_NAMES ||
            !closed_keys_add(&noted->keys, (struct key){.number = is_small ? number : FIRST_NAME + noted->names}))
            return NULL;
        noted->names += !is_small;
    }
    return &noted->keys.at[*place];
}

static uint64_t hash_value(const struct rig_text_slice *key, int64_t value)
{
    return XXH3_64bits_withSeed(&value, sizeof value, rig_classic_hash(key));
}

static bool is_value(const struct rig_text_slice *text, int64_t *value)
{
    return rig_classic_number(text, value) && *value >= 0 && *value < RIG_ROW_CLOSED_VALUES;
}

static bool note_value(struct rig_classic *r, const struct rig_classic_item *item, const struct rig_text_slice *key,
                       int64_t value, int64_t number)
{
    struct noted *noted = r->numbers;
    uint32_t *place = rig_table_put(&noted->values, hash_value(key, value));
    if (place == NULL)
        return false;
    if (*place != RIG_TABLE_NONE)
        return refuse(r, item, "that writes a value which its key had before: a read of it would have two writers");
    *place = (uint32_t)noted->statements.count;
    return closed_statements_add(&noted->statements, number);
}

/* A write by a transaction, which may have committed unless it failed. */
static bool note_write(struct rig_classic *r, const struct rig_classic_item *item, const struct walk *walk)
{
    const bool failed = rig_classic_answer(r, item)->type == RIG_OPERATION_FAIL;
    struct key *key = put_key(r, &walk->part[1]);
    int64_t value = 0;
    if (key == NULL)
        return false;
    if (!deletes(walk) && (walk->count < 3 || !is_value(&walk->part[2], &value)))
        return refuse(r, item, "that writes a value which is not an integer from 0 to 999999");
    if (failed && deletes(walk))
        return true;
    if (!failed && key->written)
        return refuse(
            r, item,
            "that writes a key for the second time: closed predicates have at most one write of a key after init");
    const enum rig_rows_action action = deletes(walk)  ? RIG_ROWS_DELETE
                                        : key->initial ? RIG_ROWS_UPDATE
                                                       : RIG_ROWS_INSERT;
    const int64_t j = failed ? FAILED : key->initial ? LATER : FIRST;
    const int64_t number = statement_number(key, j, value, action);
    if (!failed) {
        key->written = true;
        key->last = deletes(walk) && !key->initial ? 0 : number;
        key->id = !key->initial && !deletes(walk) ? number : key->id;
    }
    return deletes(walk) || note_value(r, item, &walk->part[1], value, number);
}

static bool note_init(struct rig_classic *r, const struct rig_classic_item *item)
{
    struct rig_text_slice name, text;
    if (!rig_classic_is_map(r, &item->value))
        return refuse(r, item, "whose value is not a map of keys and their first values");
    struct rig_text_cursor cursor = rig_classic_cursor(r, item->value.at);
    (void)rig_classic_enter(r, &cursor, true);
    for (bool is_first = true; rig_classic_next_entry(r, &cursor, is_first, &name, &text); is_first = false) {
        struct key *key = put_key(r, &name);
        int64_t value = 0;
        if (key == NULL)
            return false;
        if (!is_value(&text, &value))
            return refuse(r, item, "that gives a key a value which is not an integer from 0 to 999999");
        key->initial = true;
        key->id = statement_number(key, FIRST, value, RIG_ROWS_INITIAL);
        if (!note_value(r, item, &name, value, key->id))
            return false;
    }
    return true;
}

/* The rows that are there from the start: `init` has to be over before anything else begins. */
static bool note_inits(struct rig_classic *r)
{
    bool began = false, fits = true;
    uint32_t inits = 0;
    for (uint32_t i = 0; fits && i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (!item->is_client)
            continue;
        began |= !is_init(item);
        if (!is_init(item) || (item->type == RIG_OPERATION_INVOKE && item->partner != RIG_TABLE_NONE))
            continue;
        if (began || inits++ > 0)
            fits =
                refuse(r, item,
                       "that does not end before everything else begins, so it does not tell what was there at first");
        else if (item->type != RIG_OPERATION_OK)
            fits = refuse(r, item, "that was not acknowledged, so it does not tell what was there at first");
        else
            fits = note_init(r, item);
    }
    return fits;
}

static bool prepare(struct rig_classic *r)
{
    struct noted *noted = calloc(1, sizeof *noted);
    if (noted == NULL)
        return false;
    r->numbers = noted;
    rig_table_init(&noted->values);
    bool fits = note_inits(r);
    for (uint32_t i = 0; fits && i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (!item->is_client || is_init(item) ||
            (item->type == RIG_OPERATION_INVOKE && item->partner != RIG_TABLE_NONE))
            continue;
        struct walk walk = walk_over(r, telling(r, item));
        while (fits && next_micro(&walk))
            fits = (!writes(&walk) && !deletes(&walk)) || note_write(r, item, &walk);
    }
    return fits;
}

static void done(struct rig_classic *r)
{
    struct noted *noted = r->numbers;
    if (noted == NULL)
        return;
    closed_keys_done(&noted->keys);
    closed_statements_done(&noted->statements);
    rig_table_done(&noted->values);
    free(noted);
}

/* ---- writing ---- */

static void put_number(struct rig_classic *r, const char *name, int64_t number)
{
    rig_classic_begin_micro(r, name, NULL);
    rig_classic_end_number(r, number);
}

static void put_key_condition(struct rig_classic *r, int64_t id)
{
    put_number(r, "row", rig_row_condition_value(RIG_ROW_BY_KEY, RIG_ROW_LISTED, rig_row_serial(id), 0));
}

static void begin_rows(struct rig_classic *r)
{
    rig_classic_begin_micro(r, "r", NULL);
    rig_buf_add_text(r->out, r->edn ? " [" : ", [");
}

static void put_row(struct rig_classic *r, int64_t id, int64_t version, bool is_first)
{
    rig_buf_printf(r->out, r->edn ? "%s%lld %lld" : "%s%lld, %lld",
                   is_first ? ""
                   : r->edn ? " "
                            : ", ",
                   (long long)id, (long long)version);
}

static void end_rows(struct rig_classic *r)
{
    static const struct rig_text_slice closer = {.at = "]]", .length = 2};
    rig_classic_put(r, &closer);
}

/* The row that a read shows at that value: id and version. False when memory runs out. */
static bool find_row(struct rig_classic *r, const struct rig_text_slice *name, const struct rig_text_slice *text,
                     int64_t *id, int64_t *version)
{
    const struct noted *noted = r->numbers;
    const struct key *key = put_key(r, name);
    int64_t value = 0;
    if (key == NULL)
        return false;
    const uint32_t place =
        is_value(text, &value) ? rig_table_get(&noted->values, hash_value(name, value)) : RIG_TABLE_NONE;
    *version = place == RIG_TABLE_NONE ? statement_number(key, UNWRITTEN, value, RIG_ROWS_UPDATE)
                                       : noted->statements.at[place];
    *id = rig_row_inserts(*version) ? *version
          : key->id != 0            ? key->id
                                    : statement_number(key, UNWRITTEN, 0, RIG_ROWS_INSERT);
    return true;
}

static enum rig_rc no_memory(const struct rig_classic *r)
{
    return rig_cursor_no_memory(&r->parser.cursor);
}

static enum rig_rc put_write(struct rig_classic *r, const struct walk *walk, bool known, bool failed)
{
    const struct noted *noted = r->numbers;
    const struct key *key = put_key(r, &walk->part[1]);
    int64_t value = 0, number = 0;
    if (key == NULL)
        return no_memory(r);
    if (deletes(walk))
        number = failed ? 0 : key->last;
    else if (is_value(&walk->part[2], &value))
        number = noted->statements.at[rig_table_get(&noted->values, hash_value(&walk->part[1], value))];
    if (number == 0)
        return RIG_OK; /* it has no effect that a read could show */
    if (!rig_row_inserts(number)) {
        put_key_condition(r, key->id);
        if (known) {
            begin_rows(r);
            put_row(r, key->id, key->id, true);
            end_rows(r);
        } else {
            rig_classic_begin_micro(r, "r", NULL);
            rig_classic_end_null(r);
        }
    }
    put_number(r, "row", number);
    return RIG_OK;
}

static enum rig_rc put_read(struct rig_classic *r, const struct walk *walk, bool known)
{
    const struct key *key = put_key(r, &walk->part[1]);
    if (key == NULL)
        return no_memory(r);
    const bool is_null = walk->count < 3 || rig_classic_is_null(&walk->part[2]);
    int64_t id = key->id != 0 ? key->id : statement_number(key, UNWRITTEN, 0, RIG_ROWS_INSERT), version = 0;
    if (!is_null && !find_row(r, &walk->part[1], &walk->part[2], &id, &version))
        return no_memory(r);
    put_key_condition(r, id);
    if (!known || walk->count < 3) {
        rig_classic_begin_micro(r, "r", NULL);
        rig_classic_end_null(r);
        return RIG_OK;
    }
    begin_rows(r);
    if (!is_null)
        put_row(r, id, version, true);
    end_rows(r);
    return RIG_OK;
}

enum { ALL_ROWS = 1 }; /* instead of a condition, which is negative */

/* The condition for a predicate; 0: it is none that rig knows. */
static int64_t condition_of(const struct rig_classic *r, const struct rig_text_slice *text)
{
    const struct rig_text_slice bare = rig_classic_bare(text->at, text->length);
    struct rig_text_slice part[3];
    int64_t first = 0, second = 0;
    if (rig_slice_is(&bare, "true"))
        return ALL_ROWS;
    const size_t count = rig_classic_parts(r, text, part);
    const struct rig_text_slice name =
        count == 0 ? (struct rig_text_slice){0} : rig_classic_bare(part[0].at, part[0].length);
    if (count == 2 && rig_slice_is(&name, "=") && rig_classic_number(&part[1], &first)) {
        const bool may_be = first >= 0 && first < RIG_ROW_CLOSED_VALUES;
        return rig_row_condition_value(RIG_ROW_BY_VALUE, RIG_ROW_LISTED, may_be ? first : RIG_ROW_CLOSED_VALUES, 0);
    }
    if (count != 3 || !rig_slice_is(&name, "mod") || !rig_classic_number(&part[1], &first) ||
        !rig_classic_number(&part[2], &second) || first < 1 || first > MOST_DIVISOR)
        return 0;
    if (second < 0 || second >= first)
        return rig_row_condition_value(RIG_ROW_BY_VALUE, RIG_ROW_LISTED, RIG_ROW_CLOSED_VALUES, 0);
    return rig_row_condition_value(RIG_ROW_BY_REMAINDER, RIG_ROW_LISTED, second, first);
}

static enum rig_rc put_predicate_read(struct rig_classic *r, const struct rig_classic_item *item,
                                      const struct walk *walk, bool known)
{
    const int64_t condition = walk->count < 2 ? 0 : condition_of(r, &walk->part[1]);
    struct rig_text_slice name, text;
    if (condition == 0)
        return rig_classic_refuse(
            r, item,
            "with a predicate that is not :true, [:= value] or [:mod divisor remainder], the divisor "
            "from 1 to 998");
    if (condition != ALL_ROWS)
        put_number(r, "row", condition);
    known = known && walk->count == 3 && !rig_classic_is_null(&walk->part[2]);
    if (!known) {
        rig_classic_begin_micro(r, "r", NULL);
        rig_classic_end_null(r);
        return RIG_OK;
    }
    if (!rig_classic_is_map(r, &walk->part[2]))
        return rig_classic_refuse(r, item, "with a read by predicate whose result is not a map of keys and values");
    struct rig_text_cursor cursor = rig_classic_cursor(r, walk->part[2].at);
    (void)rig_classic_enter(r, &cursor, true);
    begin_rows(r);
    for (bool is_first = true; rig_classic_next_entry(r, &cursor, is_first, &name, &text); is_first = false) {
        int64_t id = 0, version = 0;
        if (!find_row(r, &name, &text, &id, &version))
            return no_memory(r);
        put_row(r, id, version, is_first);
    }
    end_rows(r);
    return RIG_OK;
}

static enum rig_rc put_init(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    struct rig_text_slice name, text;
    struct rig_text_cursor cursor = rig_classic_cursor(r, answer->value.at);
    (void)rig_classic_enter(r, &cursor, true);
    for (bool is_first = true; rig_classic_next_entry(r, &cursor, is_first, &name, &text); is_first = false) {
        int64_t id = 0, version = 0;
        if (!find_row(r, &name, &text, &id, &version))
            return no_memory(r);
        put_number(r, "row", version);
    }
    return RIG_OK;
}

static enum rig_rc put(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct noted *noted = r->numbers;
    const bool known = item->type == RIG_OPERATION_OK;
    const bool failed = rig_classic_answer(r, item)->type == RIG_OPERATION_FAIL;
    enum rig_rc rc = RIG_OK;
    if (noted->why != NULL)
        return rig_classic_refuse(r, &r->items.at[noted->why_item], noted->why);
    if (is_init(item))
        return put_init(r, item);
    struct walk walk = walk_over(r, telling(r, item));
    while (rc == RIG_OK && next_micro(&walk)) {
        if (writes(&walk) || deletes(&walk))
            rc = put_write(r, &walk, known, failed);
        else if (rig_slice_is(&walk.name, "r"))
            rc = put_read(r, &walk, known);
        else if (rig_slice_is(&walk.name, "rp"))
            rc = put_predicate_read(r, item, &walk, known);
        else
            rc = rig_classic_refuse(r, item, "with a micro-operation that is not r, rp, w, insert or delete");
    }
    return rc;
}

/* ---- which of them ---- */

static bool is_known(const struct walk *walk)
{
    return rig_classic_is_closed(&walk->name) || rig_slice_is(&walk->name, "r") || rig_slice_is(&walk->name, "w");
}

/* All operations are those of closed predicates, and one of them is no operation of another workload. */
static bool are_closed(const struct rig_classic *r)
{
    bool found = false;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        struct walk walk = walk_over(r, item);
        if (!item->is_client)
            continue;
        const bool is_empty = rig_classic_is_null(&item->value) ||
                              (rig_classic_is_sequence(r, &item->value) && rig_classic_count(r, &item->value) == 0);
        if (is_init(item) ? !is_empty && !rig_classic_is_map(r, &item->value) : !is_empty && !item->is_txn)
            return false;
        found |= is_init(item);
        while (next_micro(&walk)) {
            if (!is_known(&walk))
                return false;
            found |= rig_classic_is_closed(&walk.name);
        }
    }
    return found;
}

const struct rig_classic_form rig_classic_predicate = {
    .workload = RIG_WORKLOAD_PREDICATE, .is_it = are_closed, .prepare = prepare, .put = put, .done = done};
