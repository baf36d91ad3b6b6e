/* Histories of lists, sets, counters and banks (classic_operations.h). */
#include <stdio.h>

#include "history/text/classic_private.h"
#include "history/types/types.h"

/*
 * Histories of long forks (classic_operations.h): as they are, and a writer for each value that no operation of the
 * file wrote.
 */

/* Adds the reads and writes of a transaction to the table of keys: 1 read with a value, 2 written. */
static bool note_keys(struct rig_classic *r, struct rig_table *keys, const struct rig_classic_item *item, bool writers)
{
    struct rig_text_slice micro;
    struct rig_text_cursor cursor = rig_classic_cursor(r, item->value.at);
    const char closer = rig_classic_enter(r, &cursor, false);
    for (bool is_first = true; rig_classic_next(r, &cursor, closer, is_first, &micro); is_first = false) {
        struct rig_text_slice part[3] = {{0}, {0}, {0}};
        struct rig_text_cursor inside = rig_classic_cursor(r, micro.at);
        const char end = rig_classic_enter(r, &inside, false);
        for (size_t i = 0; i < 3 && rig_classic_next(r, &inside, end, i == 0, &part[i]); i++)
            ;
        const struct rig_text_slice name = rig_classic_bare(part[0].at, part[0].length);
        const bool writes = rig_classic_is_one_of(&name, rig_classic_writes);
        if (!writes && (item->type != RIG_OPERATION_OK || rig_classic_is_null(&part[2])))
            continue;
        uint32_t *state = rig_table_put(keys, rig_classic_hash(&part[1]));
        if (state == NULL)
            return false;
        if (writes) {
            *state = 2;
            continue;
        }
        if (*state != RIG_TABLE_NONE)
            continue;
        *state = 1;
        if (!writers)
            continue;
        if (!rig_classic_begin_unseen(r, item->at))
            return false;
        rig_classic_begin_micro(r, "w", &part[1]);
        rig_classic_end_micro(r, &part[2]);
        rig_classic_end(r);
    }
    return true;
}

/* Writes first are known; then each key that is read with a value and not among them gets a writer. */
static bool put_missing_writers(struct rig_classic *r)
{
    struct rig_table keys;
    bool done = true;
    rig_table_init(&keys);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; done && i < r->items.count; i++) {
            const struct rig_classic_item *item = &r->items.at[i];
            const bool writes = item->is_txn && !rig_classic_reads(item);
            if (item->is_client && item->is_txn && (pass == 0 ? writes : item->type == RIG_OPERATION_OK))
                done = note_keys(r, &keys, item, pass == 1);
        }
    }
    rig_table_done(&keys);
    return done;
}

static enum rig_rc put_registers(struct rig_classic *r, const struct rig_classic_item *item)
{
    if (!rig_classic_asked(r, item)->is_txn)
        return rig_classic_refuse(r, item, "whose value is not a list of reads or writes");
    const struct rig_classic_item *given = item->is_txn ? item : rig_classic_asked(r, item);
    rig_buf_add(r->out, given->value.at + 1, given->value.length - 2);
    return RIG_OK;
}

/* Whether the transaction reads several keys, or one, and writes none. */
static size_t count_reads(const struct rig_classic *r, const struct rig_classic_item *item)
{
    struct rig_text_slice micro, name;
    struct rig_text_cursor cursor = rig_classic_cursor(r, item->value.at);
    const char closer = rig_classic_enter(r, &cursor, false);
    size_t count = 0;
    for (; rig_classic_next(r, &cursor, closer, count == 0, &micro); count++) {
        struct rig_text_cursor inside = rig_classic_cursor(r, micro.at);
        const char end = rig_classic_enter(r, &inside, false);
        if (end == '\0' || !rig_classic_next(r, &inside, end, true, &name))
            return 0;
        name = rig_classic_bare(name.at, name.length);
        if (!rig_slice_is(&name, "r"))
            return 0;
    }
    return count;
}

/* Reads of groups alone: the file does not show the writers. Others are read as they are, unless the workload is
 * given. */
static bool are_reads_of_groups(const struct rig_classic *r)
{
    bool found = false;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (!item->is_client || (!item->is_txn && rig_classic_is_null(&item->value)))
            continue;
        if (!item->is_txn || !rig_classic_reads(item) || count_reads(r, item) == 0)
            return false;
        found |= item->type == RIG_OPERATION_OK && count_reads(r, item) > 1;
    }
    return found;
}

const struct rig_classic_form rig_classic_long_fork = {.workload = RIG_WORKLOAD_LONG_FORK,
                                                       .has_tuples = true,
                                                       .is_it = are_reads_of_groups,
                                                       .prepare = put_missing_writers,
                                                       .put = put_registers};

/* Whether reads show elements, and not a number. */
static bool has_elements(const struct rig_classic *r)
{
    return rig_data_type_has_sequences(&rig_data_types[r->workload]);
}

static enum rig_rc put_add(struct rig_classic *r, const struct rig_classic_item *item)
{
    const bool counts = r->workload == RIG_WORKLOAD_COUNTER;
    const bool down = rig_slice_is(&item->function, "dec") || rig_slice_is(&item->function, "decrement");
    struct rig_text_slice key, value = rig_classic_split(r, rig_classic_asked(r, item), &key);
    if (rig_classic_is_null(&value) && counts)
        value = (struct rig_text_slice){.at = "1", .length = 1};
    if (rig_classic_is_null(&value))
        return rig_classic_refuse(r, item, "without a value");
    if (counts && !rig_classic_is_number(&value))
        return rig_classic_refuse(r, item, "of a value that is not an integer of 64 bits");
    rig_classic_begin_micro(r, rig_op_infos[rig_data_types[r->workload].write_op].name, &key);
    if (counts && down) {
        rig_buf_add_text(r->out, r->edn ? " " : ", ");
        rig_buf_add_text(r->out, value.at[0] == '-' ? "" : "-");
        rig_buf_add(r->out, value.at + (value.at[0] == '-'), value.length - (value.at[0] == '-'));
        rig_classic_end_micro(r, NULL);
        return RIG_OK;
    }
    rig_classic_end_micro(r, &value);
    return RIG_OK;
}

/* A read of a list, a set or a counter. */
static enum rig_rc put_read(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *other = item->partner != RIG_TABLE_NONE ? &r->items.at[item->partner] : item;
    struct rig_text_slice key, value = rig_classic_split(r, item, &key);
    if (rig_classic_is_null(&item->value)) /* the other one may name the key */
        value = rig_classic_split(r, other, &key);
    const bool known =
        item->type == RIG_OPERATION_OK && !rig_classic_is_null(&item->value) && !rig_classic_is_null(&value);
    if (known && has_elements(r) && !rig_classic_is_sequence(r, &value))
        return rig_classic_refuse(r, item, "whose value is not a set or a list");
    if (known && !has_elements(r) && !rig_classic_is_number(&value))
        return rig_classic_refuse(r, item, "whose value is not an integer of 64 bits");
    rig_classic_begin_micro(r, "r", &key);
    rig_classic_end_micro(r, known ? &value : NULL);
    return RIG_OK;
}

static enum rig_rc put_transfer(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_text_slice *map = &rig_classic_asked(r, item)->value;
    struct rig_text_slice from = {0}, to = {0}, amount = {0}, key, value;
    struct rig_text_cursor cursor = rig_classic_cursor(r, map->length == 0 ? r->parser.cursor.start : map->at);
    bool is_first = true;
    if (map->length == 0 || rig_classic_enter(r, &cursor, true) == '\0')
        return rig_classic_refuse(r, item, "whose value is not a map of from, to and amount");
    for (; rig_classic_next_entry(r, &cursor, is_first, &key, &value); is_first = false) {
        const struct rig_text_slice name = rig_classic_bare(key.at, key.length);
        if (rig_slice_is(&name, "from"))
            from = value;
        else if (rig_slice_is(&name, "to"))
            to = value;
        else if (rig_slice_is(&name, "amount"))
            amount = value;
    }
    if (from.length == 0 || to.length == 0 || !rig_classic_is_number(&amount))
        return rig_classic_refuse(r, item, "whose value is not a map of from, to and amount");
    const bool negative = amount.at[0] == '-';
    rig_classic_begin_micro(r, rig_op_infos[RIG_OP_INCREMENT].name, &from);
    rig_buf_add_text(r->out, r->edn ? " " : ", ");
    rig_buf_add_text(r->out, negative ? "" : "-");
    rig_buf_add(r->out, amount.at + negative, amount.length - negative);
    rig_classic_end_micro(r, NULL);
    rig_classic_begin_micro(r, rig_op_infos[RIG_OP_INCREMENT].name, &to);
    rig_classic_end_micro(r, &amount);
    return RIG_OK;
}

/* Accounts that a read does not show have no balance. */
static enum rig_rc put_missing_balances(struct rig_classic *r, const struct rig_classic_item *read)
{
    static const struct rig_text_slice nulls[] = {{.at = "null", .length = 4}, {.at = "nil", .length = 3}};
    for (size_t i = 0; i < r->keys.count; i++) {
        struct rig_text_cursor cursor = rig_classic_cursor(r, read->value.at);
        struct rig_text_slice key, value;
        bool found = false;
        (void)rig_classic_enter(r, &cursor, true);
        for (bool is_first = true; !found && rig_classic_next_entry(r, &cursor, is_first, &key, &value);
             is_first = false)
            found = rig_classic_is_same(&key, &r->keys.at[i]);
        if (found)
            continue;
        rig_classic_begin_micro(r, "r", &r->keys.at[i]);
        rig_classic_end_micro(r, &nulls[r->edn]);
    }
    return RIG_OK;
}

/* False when memory runs out. */
static bool find_accounts(struct rig_classic *r)
{
    struct rig_table known;
    bool done = true;
    rig_table_init(&known);
    for (size_t i = 0; done && i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        struct rig_text_slice key, value;
        if (!item->is_client || item->type != RIG_OPERATION_OK || !rig_classic_reads(item) ||
            rig_classic_is_null(&item->value))
            continue;
        struct rig_text_cursor cursor = rig_classic_cursor(r, item->value.at);
        bool more = rig_classic_enter(r, &cursor, true) != '\0';
        for (bool is_first = true; more && rig_classic_next_entry(r, &cursor, is_first, &key, &value);
             is_first = false) {
            uint32_t *slot = rig_table_put(&known, rig_classic_hash(&key));
            done = slot != NULL && (*slot != RIG_TABLE_NONE || rig_text_slices_add(&r->keys, key));
            if (slot != NULL)
                *slot = 0;
            more = done;
        }
    }
    rig_table_done(&known);
    return done;
}

/* The balances that the acknowledged read of the pair shows: by account, or in the order of the accounts. */
static enum rig_rc put_balances(struct rig_classic *r, const struct rig_classic_item *item)
{
    const bool invokes = item->type == RIG_OPERATION_INVOKE;
    const struct rig_classic_item *answer =
        invokes && item->partner != RIG_TABLE_NONE ? &r->items.at[item->partner] : item;
    struct rig_text_slice key, value;
    if (answer->type != RIG_OPERATION_OK || rig_classic_is_null(&answer->value))
        return RIG_OK;
    struct rig_text_cursor cursor = rig_classic_cursor(r, answer->value.at);
    const bool is_map = rig_classic_enter(r, &cursor, true) != '\0';
    const char closer = is_map ? '}' : rig_classic_enter(r, &cursor, false);
    if (closer == '\0')
        return rig_classic_refuse(r, item, "whose value is not a map of balances");
    char number[24];
    uint32_t shown = 0;
    for (size_t i = 0; is_map ? rig_classic_next_entry(r, &cursor, i == 0, &key, &value)
                              : rig_classic_next(r, &cursor, closer, i == 0, &value);
         i++) {
        if (!rig_classic_is_null(&value) && !rig_classic_is_number(&value))
            return rig_classic_refuse(r, item, "with a balance that is not an integer of 64 bits");
        if (!is_map)
            key = (struct rig_text_slice){.at = number, .length = (size_t)snprintf(number, sizeof number, "%zu", i)};
        static const struct rig_text_slice nulls[] = {{.at = "null", .length = 4}, {.at = "nil", .length = 3}};
        rig_classic_begin_micro(r, "r", &key);
        rig_classic_end_micro(r, invokes ? &nulls[r->edn] : &value);
        shown++;
    }
    return is_map && shown < r->keys.count ? put_missing_balances(r, answer) : RIG_OK;
}

/* ---- which of them ---- */

/* Elements may also be written or appended, where the workload is given. */
static bool is_adding(const struct rig_classic *r, const struct rig_classic_item *item)
{
    return rig_classic_is_one_of(&item->function, rig_classic_adds) ||
           (has_elements(r) &&
            (rig_classic_is_one_of(&item->function, rig_classic_writes) || rig_slice_is(&item->function, "append")));
}

static bool is_transfer(const struct rig_classic_item *item)
{
    return rig_classic_is_one_of(&item->function, rig_classic_transfers);
}

static enum rig_rc put_sum(struct rig_classic *r, const struct rig_classic_item *item)
{
    if (rig_classic_reads(item))
        return put_read(r, item);
    return is_adding(r, item) ? put_add(r, item) : rig_classic_refuse(r, item, "is not known");
}

static enum rig_rc put_bank(struct rig_classic *r, const struct rig_classic_item *item)
{
    if (rig_classic_reads(item))
        return put_balances(r, item);
    return is_transfer(item) ? put_transfer(r, item) : rig_classic_refuse(r, item, "is not known");
}

const struct rig_classic_form rig_classic_set = {.workload = RIG_WORKLOAD_SET, .has_tuples = true, .put = put_sum};
const struct rig_classic_form rig_classic_list = {
    .workload = RIG_WORKLOAD_LIST_APPEND, .has_tuples = true, .put = put_sum};
const struct rig_classic_form rig_classic_counter = {
    .workload = RIG_WORKLOAD_COUNTER, .has_tuples = true, .put = put_sum};
const struct rig_classic_form rig_classic_bank = {
    .workload = RIG_WORKLOAD_BANK, .prepare = find_accounts, .put = put_bank};
