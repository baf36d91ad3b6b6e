#include "checker/infer/unread.h"

#include <stdlib.h>

#include "checker/graph/bundle.h"

RIG_VEC(uint32_t, targets)

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

static bool link_key(const struct rig_versions *versions, uint32_t key, const struct targets *writers,
                     const struct rig_key_txn *readers, uint32_t reader_count, struct rig_links *links)
{
    struct rig_bundle bundle;
    if (!rig_bundle_init(&bundle, writers->at, (uint32_t)writers->count, reader_count, links))
        return false;
    for (uint32_t i = 0; i < reader_count; i++) {
        if (!rig_bundle_link(&bundle, readers[i].txn, RIG_LINK_RW, links))
            return false;
    }
    uint32_t last = rig_versions_before(versions, key, versions->keys[key].order.count);
    return last == RIG_VERSION_NONE ||
           rig_bundle_link(&bundle, rig_versions_writer(versions, key, last), RIG_LINK_WW, links);
}

bool rig_unread_link(struct rig_unread *unread, const struct rig_versions *versions, struct rig_links *links)
{
    sort_unique(&unread->writers);
    sort_unique(&unread->readers);
    struct targets writers = {0};
    bool linked = true;
    size_t reader = 0;
    for (size_t begin = 0, end; linked && begin < unread->writers.count; begin = end) {
        uint32_t key = unread->writers.at[begin].key;
        writers.count = 0;
        for (end = begin; linked && end < unread->writers.count && unread->writers.at[end].key == key; end++)
            linked = targets_add(&writers, unread->writers.at[end].txn);
        while (reader < unread->readers.count && unread->readers.at[reader].key < key)
            reader++;
        size_t first_reader = reader;
        while (reader < unread->readers.count && unread->readers.at[reader].key == key)
            reader++;
        unread->unordered_keys += writers.count > 1;
        linked = linked && link_key(versions, key, &writers, &unread->readers.at[first_reader],
                                    (uint32_t)(reader - first_reader), links);
    }
    targets_done(&writers);
    return linked;
}
