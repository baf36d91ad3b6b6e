/*
 * Random links over a history of random intervals, for the unit tests of modules that walk over links.
 */
#ifndef RIG_TESTS_UNIT_RANDOM_LINKS_H
#define RIG_TESTS_UNIT_RANDOM_LINKS_H

#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/rng.h"
#include "checker/model/bundle.h"
#include "history/model/history.h"

enum { TXNS = 24 };

struct fixture {
    struct rig_arena arena;
    struct rig_links links;
    struct rig_txn txns[TXNS + 1];
    struct rig_history history;
};

/* Intervals in completion order: each begins at most `overlap` completions before its own. */
static inline void make_history(struct fixture *f, struct rig_rng *rng, unsigned overlap)
{
    for (uint32_t i = 0; i < TXNS; i++) {
        uint32_t back = (uint32_t)rig_rng_below(rng, overlap + 1);
        uint32_t first = i < back ? 0 : i - back;
        f->txns[i] = (struct rig_txn){.invoke_at = first * 64 + i, .complete_at = i * 64 + 63};
        f->txns[i].outcome = overlap % 2 == 0 && rig_rng_below(rng, 10) == 0 ? RIG_OUTCOME_INFO : RIG_OUTCOME_OK;
    }
    f->history = (struct rig_history){.txns = f->txns, .txn_count = TXNS, .has_invocations = true};
}

/* Mostly forward edges, some of them own; now and then one that leads back a little. The others are stored by their
 * `from`. */
static inline void make_links(struct fixture *f, struct rig_rng *rng, unsigned back_percent, bool own)
{
    struct rig_links *links = &f->links;
    rig_arena_init(&f->arena, 0);
    assert_true(rig_links_init(links, &f->arena, TXNS, own ? 4 * TXNS : 0, 2));
    uint32_t own_count = 0;
    for (uint32_t txn = 0; txn < TXNS; txn++) {
        if (own)
            links->own_first[txn] = own_count;
        for (unsigned i = 0; i < 2 && own && txn > 0; i++) {
            uint32_t from = (uint32_t)rig_rng_below(rng, txn);
            links->own[own_count++] = rig_edge_of(from, i == 0 ? RIG_LINK_WW : RIG_LINK_WR);
        }
        for (unsigned i = own ? 2 : 0; i < 3 && txn + 1 < TXNS; i++) {
            uint32_t later = txn + 1 + (uint32_t)rig_rng_below(rng, TXNS - 1 - txn);
            if (rig_rng_below(rng, 2) == 0)
                assert_true(rig_links_add(links, txn, later, RIG_LINK_RW));
        }
        uint32_t to = txn - (uint32_t)rig_rng_below(rng, txn < 4 ? txn + 1 : 4);
        if (to != txn && rig_rng_below(rng, 100) < back_percent)
            assert_true(rig_links_add(links, txn, to, RIG_LINK_RW));
    }
    if (own)
        links->own_first[TXNS] = own_count;
    links->read_count = links->chained_count;
}

/* Each of some readers before each of some writers, over relays. */
static inline void make_bundle(struct fixture *f, struct rig_rng *rng)
{
    uint32_t targets[TXNS], count = 0;
    for (uint32_t txn = 0; txn < TXNS; txn++) {
        if (rig_rng_below(rng, 4) == 0)
            targets[count++] = txn;
    }
    if (count == 0)
        return;
    struct rig_bundle_source sources[3];
    uint32_t source = 0;
    for (unsigned i = 0; i < 3; i++) {
        bool any = rig_rng_below(rng, 3) == 0;
        uint32_t end = any ? TXNS : targets[0] + 1;
        source += source < end ? (uint32_t)rig_rng_below(rng, end - source) : 0;
        sources[i] = (struct rig_bundle_source){source, RIG_LINK_RW};
    }
    assert_true(rig_bundle_link(targets, count, sources, 3, rig_rng_below(rng, 2) == 0, &f->links));
}

#endif
