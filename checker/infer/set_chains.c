#include "checker/infer/set_chains.h"

#include <stdlib.h>

#include "base/bug.h"
#include "checker/model/bundle.h"

struct chain {
    const struct rig_sets *sets;
    struct rig_links *links;
    bool shown_only;                    /* no rw edges */
    struct rig_set_marks largest, seen; /* by the key's largest read, and by the one that is being visited */
    uint8_t *linked;                    /* per element: whether a read of the chain shows it */
    uint32_t *fresh;                    /* elements that the read adds to the chain */
    uint32_t fresh_count;
    uint32_t total; /* elements of the key, of committed transactions */
    bool is_plain;  /* the largest read and the reads so far show the first elements of the spine, each different */
    /* The last read of the chain: */
    uint32_t size, up, down; /* `up`: the relay from the writers of what it shows; `down`: to those of what it misses */
    uint32_t latest_writer, latest_reader; /* so far, plus 1; 0: none */
};

bool rig_set_chains_init(struct rig_set_chains *chains, const struct rig_sets *sets, struct rig_arena *arena)
{
    const struct rig_history *history = sets->history;
    *chains = (struct rig_set_chains){.sets = sets};
    uint32_t *counts = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof *counts);
    chains->pays = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof *chains->pays);
    if (counts == NULL || chains->pays == NULL)
        return false;
    for (uint32_t op = 0; op < history->op_count; op++)
        counts[history->ops[op].key] += rig_set_is_read(&history->ops[op]);
    for (uint32_t key = 0; key < history->key_count; key++) {
        const uint32_t elements = sets->key_first[key + 1] - sets->key_first[key];
        chains->pays[key] = rig_bundle_pays(elements, counts[key]);
        chains->read_room += chains->pays[key] ? counts[key] : 0;
    }
    chains->reads = rig_arena_room(arena, (size_t)chains->read_room + 1, sizeof *chains->reads);
    return chains->reads != NULL;
}

void rig_set_chains_add(struct rig_set_chains *chains, struct rig_set_read read)
{
    RIG_REQUIRE(chains->pays[read.key] && chains->read_count < chains->read_room);
    chains->reads[chains->read_count++] = read;
}

static int compare_reads(const void *left, const void *right)
{
    const struct rig_set_read *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    if (a->txn != b->txn)
        return a->txn < b->txn ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static const struct rig_txn_op *op_of(const struct chain *chain, const struct rig_set_read *read)
{
    return rig_txn_ops(chain->sets->history, read->txn) + read->place;
}

/* Whether the read shows all that the chain shows, and nothing that the largest read misses. Fills `fresh`. */
static bool fits(struct chain *chain, const struct rig_set_read *read)
{
    const struct rig_sets *sets = chain->sets;
    const struct rig_read_list list = rig_txn_op_list(sets->history, op_of(chain, read));
    uint32_t known = 0, in_largest = 0;
    chain->fresh_count = 0;
    chain->seen.count++;
    for (uint32_t at = 0; at < list.count; at++) {
        const uint32_t element = rig_sets_find(sets, read->key, rig_read_element(&list, at));
        if (element == RIG_SET_NONE || rig_set_is_marked(&chain->seen, element) ||
            !sets->committed[sets->elements[element].writer])
            continue;
        chain->seen.of[element] = chain->seen.count;
        in_largest += rig_set_is_marked(&chain->largest, element);
        if (chain->linked[element])
            known++;
        else
            chain->fresh[chain->fresh_count++] = element;
    }
    RIG_INVARIANT(known + chain->fresh_count == read->size);
    return known == chain->size && in_largest == read->size;
}

/* Whether all elements of the read count, and are the first ones of the key's spine. */
static bool is_plain(const struct chain *chain, const struct rig_set_read *read, struct rig_read_list *list)
{
    *list = rig_txn_op_list(chain->sets->history, op_of(chain, read));
    return list->shared == list->count && list->count == read->size;
}

/* The same as fits() for a plain read after plain ones: it adds what lies between the last one's end and its own. */
static void fit_plainly(struct chain *chain, const struct rig_set_read *read, const struct rig_read_list *list)
{
    RIG_INVARIANT(list->count >= chain->size);
    chain->fresh_count = 0;
    for (uint32_t at = chain->size; at < list->count; at++)
        chain->fresh[chain->fresh_count++] = rig_sets_find(chain->sets, read->key, list->at[at]);
}

/* An edge from the last `down` to the writer of an element. */
static bool link_down(struct chain *chain, uint32_t element)
{
    const uint32_t writer = chain->sets->elements[element].writer;
    chain->links->late_before[writer] |= chain->latest_reader > writer + 1;
    return rig_links_add(chain->links, chain->down, writer, RIG_LINK_THROUGH);
}

/* New relays after the last ones, with the fresh elements between them. */
static bool extend(struct chain *chain)
{
    const uint32_t before_up = chain->up, before_down = chain->down;
    uint32_t first;
    if (!rig_links_add_nodes(chain->links, 2, &first))
        return false;
    for (uint32_t i = 0; i < chain->fresh_count; i++) {
        const uint32_t element = chain->fresh[i], writer = chain->sets->elements[element].writer;
        if ((before_down != RIG_NODE_NONE && !link_down(chain, element)) ||
            !rig_links_add(chain->links, writer, first, RIG_LINK_WR))
            return false;
        chain->linked[element] = 1;
        chain->latest_writer = writer + 1 > chain->latest_writer ? writer + 1 : chain->latest_writer;
    }
    chain->size += chain->fresh_count;
    chain->up = first;
    chain->down = first + 1;
    return before_up == RIG_NODE_NONE || (rig_links_add(chain->links, before_up, chain->up, RIG_LINK_THROUGH) &&
                                          rig_links_add(chain->links, before_down, chain->down, RIG_LINK_THROUGH));
}

static bool link_read(struct chain *chain, uint32_t reader)
{
    struct rig_links *links = chain->links;
    links->late_before[reader] |= chain->latest_writer > reader + 1;
    chain->latest_reader = reader + 1 > chain->latest_reader ? reader + 1 : chain->latest_reader;
    return rig_links_add(links, chain->up, reader, RIG_LINK_THROUGH) &&
           (chain->shown_only || chain->size == chain->total || rig_links_add(links, reader, chain->down, RIG_LINK_RW));
}

static uint32_t count_committed(const struct rig_sets *sets, uint32_t key)
{
    uint32_t count = 0;
    for (uint32_t i = sets->key_first[key]; i < sets->key_first[key + 1]; i++)
        count += sets->committed[sets->elements[i].writer];
    return count;
}

/* The last read of the chain misses the elements that are not linked. */
static bool link_rest(struct chain *chain, uint32_t key)
{
    const struct rig_sets *sets = chain->sets;
    bool done = true;
    for (uint32_t i = sets->key_first[key]; done && i < sets->key_first[key + 1]; i++)
        done = chain->linked[i] || !sets->committed[sets->elements[i].writer] || link_down(chain, i);
    return done;
}

/* Links the reads of one key: ascending in size. */
static bool link_key(struct chain *chain, const struct rig_set_read *reads, uint32_t count,
                     bool (*alone)(void *context, const struct rig_set_read *read), void *context)
{
    chain->size = chain->latest_writer = chain->latest_reader = 0;
    chain->up = chain->down = RIG_NODE_NONE;
    chain->total = count_committed(chain->sets, reads[0].key);
    rig_set_marks_take(&chain->largest, chain->sets, op_of(chain, &reads[count - 1]));
    struct rig_read_list list;
    chain->is_plain = is_plain(chain, &reads[count - 1], &list);
    for (uint32_t i = 0; i < count; i++) {
        const bool plain = chain->is_plain && is_plain(chain, &reads[i], &list);
        if (plain)
            fit_plainly(chain, &reads[i], &list);
        const bool is_next = plain || fits(chain, &reads[i]);
        chain->is_plain &= plain || !is_next || chain->fresh_count == 0;
        const bool extends = is_next && (chain->up == RIG_NODE_NONE || chain->fresh_count > 0);
        if (!is_next ? !alone(context, &reads[i]) : (extends && !extend(chain)) || !link_read(chain, reads[i].txn))
            return false;
    }
    return chain->up == RIG_NODE_NONE || link_rest(chain, reads[0].key);
}

bool rig_set_chains_link(struct rig_set_chains *chains, struct rig_links *links, bool shown_only,
                         bool (*alone)(void *context, const struct rig_set_read *read), void *context)
{
    const struct rig_sets *sets = chains->sets;
    const size_t room = (size_t)sets->element_count + 1;
    struct chain chain = {.sets = sets, .links = links, .shown_only = shown_only};
    bool done = true;
    if (chains->read_count == 0)
        return true;
    chain.linked = rig_arena_array(links->arena, room, sizeof *chain.linked);
    chain.fresh = rig_arena_room(links->arena, room, sizeof *chain.fresh);
    if (chain.linked == NULL || chain.fresh == NULL || !rig_set_marks_init(&chain.largest, sets, links->arena) ||
        !rig_set_marks_init(&chain.seen, sets, links->arena))
        return false;
    qsort(chains->reads, chains->read_count, sizeof *chains->reads, compare_reads);
    for (uint32_t begin = 0, end; done && begin < chains->read_count; begin = end) {
        for (end = begin + 1; end < chains->read_count && chains->reads[end].key == chains->reads[begin].key; end++)
            ;
        done = link_key(&chain, &chains->reads[begin], end - begin, alone, context);
    }
    return done;
}
