/*
 * Histories of long forks (classic_operations.h): as they are, and a writer for each value that no operation of the file
 * wrote.
 */
#include "history/text/classic_private.h"

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

/* Reads of groups alone: the file does not show the writers. Others are read as they are, unless the workload is given. */
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
