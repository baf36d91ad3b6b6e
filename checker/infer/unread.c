#include "checker/infer/unread.h"

#include <stdlib.h>

#include "base/bug.h"
#include "checker/model/bundle.h"

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

/* Transactions by key, those of one key ascending, perhaps repeated: of key k at [first[k], first[k + 1]). */
struct by_key {
    uint32_t *first;
    uint32_t *txns;
};

static void by_key_done(struct by_key *groups)
{
    free(groups->first);
    free(groups->txns);
}

/* Frees the list. Released with by_key_done(), also after a failure. */
static bool group(struct rig_key_txns *list, uint32_t key_count, struct by_key *groups)
{
    RIG_INVARIANT(list->count < UINT32_MAX);
    groups->first = calloc((size_t)key_count + 2, sizeof *groups->first);
    groups->txns = malloc((list->count + 1) * sizeof *groups->txns);
    if (groups->first == NULL || groups->txns == NULL)
        return false;
    uint32_t *next =
        groups->first + 1; /* per key: the place of its next one; at the end, the end of its transactions */
    for (size_t i = 0; i < list->count; i++)
        next[list->at[i].key + 1]++;
    for (uint32_t key = 0; key < key_count; key++)
        next[key + 1] += next[key];
    for (size_t i = 0; i < list->count; i++)
        groups->txns[next[list->at[i].key]++] = list->at[i].txn;
    RIG_INVARIANT(groups->first[key_count] == list->count);
    rig_key_txns_done(list);
    return true;
}

struct scratch {
    struct targets targets;
    struct rig_bundle_sources sources;
};

static bool collect_targets(const struct by_key *writers, uint32_t key, struct targets *targets)
{
    bool done = true;
    targets->count = 0;
    for (uint32_t i = writers->first[key]; done && i < writers->first[key + 1]; i++) {
        RIG_INVARIANT(i == writers->first[key] || writers->txns[i - 1] <= writers->txns[i]);
        if (i == writers->first[key] || writers->txns[i] != writers->txns[i - 1])
            done = targets_add(targets, writers->txns[i]);
    }
    return done;
}

/* The readers in ascending order, with the writer of the last version among them. */
static bool collect_sources(const struct by_key *readers, uint32_t key, uint32_t writer,
                            struct rig_bundle_sources *sources)
{
    bool done = true, due = writer != RIG_TXN_NONE;
    sources->count = 0;
    for (uint32_t i = readers->first[key]; done && i < readers->first[key + 1]; i++) {
        uint32_t txn = readers->txns[i];
        RIG_INVARIANT(i == readers->first[key] || readers->txns[i - 1] <= txn);
        if (i > readers->first[key] && txn == readers->txns[i - 1])
            continue;
        if (due && writer < txn) {
            done = rig_bundle_sources_add(sources, (struct rig_bundle_source){writer, RIG_LINK_WW});
            due = false;
        }
        done = done && rig_bundle_sources_add(sources, (struct rig_bundle_source){txn, RIG_LINK_RW});
    }
    return done && (!due || rig_bundle_sources_add(sources, (struct rig_bundle_source){writer, RIG_LINK_WW}));
}

static bool link_key(const struct rig_versions *versions, uint32_t key, const struct by_key *readers,
                     struct scratch *scratch, struct rig_links *links)
{
    uint32_t last = rig_versions_before(versions, key, versions->keys[key].order.count);
    uint32_t writer = last == RIG_VERSION_NONE ? RIG_TXN_NONE : rig_versions_writer(versions, key, last);
    RIG_INVARIANT(writer == RIG_TXN_NONE || versions->committed[writer]);
    if (!collect_sources(readers, key, writer, &scratch->sources))
        return false;
    uint32_t target_count = (uint32_t)scratch->targets.count;
    bool relays = rig_bundle_pays(target_count, readers->first[key + 1] - readers->first[key]);
    return rig_bundle_link(scratch->targets.at, target_count, scratch->sources.at, scratch->sources.count, relays,
                           links);
}

bool rig_unread_link(struct rig_unread *unread, const struct rig_versions *versions, struct rig_links *links)
{
    uint32_t key_count = versions->history->key_count;
    struct by_key writers = {0}, readers = {0};
    struct scratch scratch = {0};
    if (unread->writers.count == 0)
        return true;
    bool linked = group(&unread->writers, key_count, &writers) && group(&unread->readers, key_count, &readers);
    for (uint32_t key = 0; linked && key < key_count; key++) {
        if (writers.first[key] == writers.first[key + 1])
            continue;
        linked = collect_targets(&writers, key, &scratch.targets) &&
                 (versions->keys[key].contested || link_key(versions, key, &readers, &scratch, links));
        unread->unordered_keys += scratch.targets.count > 1;
    }
    by_key_done(&writers);
    by_key_done(&readers);
    targets_done(&scratch.targets);
    rig_bundle_sources_done(&scratch.sources);
    return linked;
}

/* ---- in any order ---- */

static int compare_txns(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The committed writers of appends that no read shows: ascending and distinct. */
static bool collect_unread(const struct rig_versions *versions, uint32_t key, struct targets *writers)
{
    const struct rig_append *slots = &versions->slots[versions->key_places[key].slot_first];
    size_t distinct = 0;
    writers->count = 0;
    for (uint32_t i = 0; i < versions->keys[key].slot_count; i++) {
        const struct rig_append *append = &slots[i];
        if (append->writer != RIG_TXN_NONE && append->position == RIG_VERSION_NONE &&
            versions->committed[append->writer] && !targets_add(writers, append->writer))
            return false;
    }
    if (writers->count > 0)
        qsort(writers->at, writers->count, sizeof writers->at[0], compare_txns);
    for (size_t i = 0; i < writers->count; i++) {
        if (i == 0 || writers->at[i] != writers->at[distinct - 1])
            writers->at[distinct++] = writers->at[i];
    }
    writers->count = distinct;
    return true;
}

static bool link_both_ways(const struct targets *writers, struct rig_links *links)
{
    uint32_t relay;
    if (!rig_links_add_nodes(links, 1, &relay))
        return false;
    for (size_t i = 0; i < writers->count; i++) {
        const uint32_t writer = writers->at[i];
        if (!rig_links_add(links, writer, relay, RIG_LINK_WW) || !rig_links_add(links, relay, writer, RIG_LINK_THROUGH))
            return false;
        links->late_before[writer] |= i + 1 < writers->count;
    }
    return true;
}

bool rig_unread_link_any_order(const struct rig_versions *versions, struct rig_links *links)
{
    struct targets writers = {0};
    bool linked = true;
    for (uint32_t key = 0; linked && key < versions->history->key_count; key++) {
        if (versions->keys[key].contested)
            continue;
        linked = collect_unread(versions, key, &writers) && (writers.count < 2 || link_both_ways(&writers, links));
    }
    targets_done(&writers);
    return linked;
}
