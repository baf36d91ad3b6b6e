#include "checker/infer/unread.h"

#include <stdlib.h>

void rig_unread_done(struct rig_unread *unread)
{
    rig_key_txns_done(&unread->writers);
    rig_key_txns_done(&unread->readers);
}

bool rig_unread_add_writer(struct rig_unread *unread, uint32_t key, uint32_t txn)
{
    return rig_key_txns_add(&unread->writers, (struct rig_key_txn){key, txn});
}

bool rig_unread_add_reader(struct rig_unread *unread, uint32_t key, uint32_t txn)
{
    return rig_key_txns_add(&unread->readers, (struct rig_key_txn){key, txn});
}

static int compare(const void *left, const void *right)
{
    const struct rig_key_txn *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->txn > b->txn) - (a->txn < b->txn);
}

/* Sorts by key and transaction, and drops repetitions. */
static void sort_unique(struct rig_key_txns *list)
{
    if (list->count == 0)
        return;
    qsort(list->at, list->count, sizeof *list->at, compare);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        if (compare(&list->at[i], &list->at[kept - 1]) != 0)
            list->at[kept++] = list->at[i];
    }
    list->count = kept;
}

/* The unread writers of one key, ascending, with the passages over them once these are made. */
struct writers {
    const struct rig_key_txn *at;
    uint32_t count;
    uint32_t prefix_first; /* node of the passage to writers [0, i] is prefix_first + i */
    uint32_t suffix_first; /* to writers [i, count) */
};

static uint32_t rank_of(const struct writers *writers, uint32_t txn)
{
    uint32_t low = 0, high = writers->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (writers->at[middle].txn < txn)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool link_pairs(const struct writers *writers, uint32_t from, enum rig_link link, struct rig_arcs *arcs)
{
    for (uint32_t i = 0; i < writers->count; i++) {
        if (writers->at[i].txn != from && !rig_arcs_link(arcs, from, writers->at[i].txn, link))
            return false;
    }
    return true;
}

static bool make_passages(struct writers *writers, struct rig_arcs *arcs, uint32_t *node_count)
{
    writers->prefix_first = *node_count;
    writers->suffix_first = *node_count + writers->count;
    *node_count += 2 * writers->count;
    for (uint32_t i = 0; i < writers->count; i++) {
        uint32_t prefix = writers->prefix_first + i, suffix = writers->suffix_first + i;
        bool linked = rig_arcs_link(arcs, prefix, writers->at[i].txn, RIG_LINK_THROUGH) &&
                      rig_arcs_link(arcs, suffix, writers->at[i].txn, RIG_LINK_THROUGH) &&
                      (i == 0 || rig_arcs_link(arcs, prefix, prefix - 1, RIG_LINK_THROUGH)) &&
                      (i + 1 == writers->count || rig_arcs_link(arcs, suffix, suffix + 1, RIG_LINK_THROUGH));
        if (!linked)
            return false;
    }
    return true;
}

static bool link_passages(const struct writers *writers, uint32_t from, enum rig_link link, struct rig_arcs *arcs)
{
    uint32_t rank = rank_of(writers, from);
    bool is_writer = rank < writers->count && writers->at[rank].txn == from;
    if (!is_writer)
        return rig_arcs_link(arcs, from, writers->prefix_first + writers->count - 1, link);
    if (rank > 0 && !rig_arcs_link(arcs, from, writers->prefix_first + rank - 1, link))
        return false;
    return rank + 1 == writers->count || rig_arcs_link(arcs, from, writers->suffix_first + rank + 1, link);
}

static bool link_key(const struct rig_versions *versions, struct writers writers, const struct rig_key_txn *readers,
                     uint32_t reader_count, struct rig_arcs *arcs, uint32_t *node_count)
{
    uint64_t pairs = (uint64_t)writers.count * reader_count;
    bool passages = pairs > 64 + 8 * ((uint64_t)writers.count + reader_count);
    if (passages && !make_passages(&writers, arcs, node_count))
        return false;
    for (uint32_t i = 0; i < reader_count; i++) {
        bool linked = passages ? link_passages(&writers, readers[i].txn, RIG_LINK_RW, arcs)
                               : link_pairs(&writers, readers[i].txn, RIG_LINK_RW, arcs);
        if (!linked)
            return false;
    }
    uint32_t key = writers.at[0].key;
    uint32_t last = rig_versions_before(versions, key, versions->keys[key].order.count);
    if (last == RIG_VERSION_NONE)
        return true;
    uint32_t writer = rig_versions_writer(versions, key, last);
    return passages ? link_passages(&writers, writer, RIG_LINK_WW, arcs)
                    : link_pairs(&writers, writer, RIG_LINK_WW, arcs);
}

bool rig_unread_link(struct rig_unread *unread, const struct rig_versions *versions, struct rig_arcs *arcs,
                     uint32_t *node_count)
{
    sort_unique(&unread->writers);
    sort_unique(&unread->readers);
    size_t reader = 0;
    for (size_t begin = 0, end; begin < unread->writers.count; begin = end) {
        uint32_t key = unread->writers.at[begin].key;
        for (end = begin; end < unread->writers.count && unread->writers.at[end].key == key; end++)
            continue;
        while (reader < unread->readers.count && unread->readers.at[reader].key < key)
            reader++;
        size_t first_reader = reader;
        while (reader < unread->readers.count && unread->readers.at[reader].key == key)
            reader++;
        struct writers writers = {.at = &unread->writers.at[begin], .count = (uint32_t)(end - begin)};
        unread->unordered_keys += writers.count > 1;
        if (!link_key(versions, writers, &unread->readers.at[first_reader], (uint32_t)(reader - first_reader), arcs,
                      node_count))
            return false;
    }
    return true;
}
