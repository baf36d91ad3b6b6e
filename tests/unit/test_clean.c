/* Whether links are clean, on random ones, against components and real time on the graph made of them. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/rng.h"
#include "checker/cycle/clean.h"
#include "checker/cycle/realtime.h"
#include "checker/graph/bundle.h"

enum { TXNS = 24, ROUNDS = 20000 };

struct fixture {
    struct rig_arena arena;
    struct rig_links links;
    struct rig_txn txns[TXNS + 1];
    struct rig_history history;
};

/* Intervals in completion order: each begins at most `overlap` completions before its own. */
static void make_history(struct fixture *f, struct rig_rng *rng, unsigned overlap)
{
    for (uint32_t i = 0; i < TXNS; i++) {
        uint32_t back = (uint32_t)rig_rng_below(rng, overlap + 1);
        uint32_t first = i < back ? 0 : i - back;
        f->txns[i] = (struct rig_txn){.invoke_at = first * 64 + i, .complete_at = i * 64 + 63};
        f->txns[i].outcome = overlap % 2 == 0 && rig_rng_below(rng, 10) == 0 ? RIG_OUTCOME_INFO : RIG_OUTCOME_OK;
    }
    f->history = (struct rig_history){.txns = f->txns, .txn_count = TXNS, .has_invocations = true};
}

/* Mostly forward edges, some of them own; now and then one that leads back a little. */
static void make_links(struct fixture *f, struct rig_rng *rng, unsigned back_percent, bool own)
{
    struct rig_links *links = &f->links;
    rig_arena_init(&f->arena, 0);
    assert_true(rig_links_init(links, &f->arena, TXNS, own ? 4 * TXNS : 0, 2));
    uint32_t own_count = 0;
    for (uint32_t txn = 0; txn < TXNS; txn++) {
        if (own)
            links->own_first[txn] = own_count;
        for (unsigned i = 0; i < 3 && txn > 0; i++) {
            uint32_t from = (uint32_t)rig_rng_below(rng, txn);
            if (own && i < 2)
                links->own[own_count++] = rig_edge_of(from, i == 0 ? RIG_LINK_WW : RIG_LINK_WR);
            else if (rig_rng_below(rng, 2) == 0)
                assert_true(rig_links_add(links, from, txn, RIG_LINK_RW));
        }
        uint32_t to = txn - (uint32_t)rig_rng_below(rng, txn < 4 ? txn + 1 : 4);
        if (to != txn && rig_rng_below(rng, 100) < back_percent)
            assert_true(rig_links_add(links, txn, to, RIG_LINK_RW));
    }
    if (own)
        links->own_first[TXNS] = own_count;
    links->read_count = links->chained_count;
}

/* Each of some readers before each of some writers, over passages. */
static void make_bundle(struct fixture *f, struct rig_rng *rng)
{
    uint32_t targets[TXNS], count = 0;
    for (uint32_t txn = 0; txn < TXNS; txn++) {
        if (rig_rng_below(rng, 4) == 0)
            targets[count++] = txn;
    }
    struct rig_bundle bundle;
    if (count == 0)
        return;
    assert_true(rig_bundle_init(&bundle, targets, count, rig_rng_below(rng, 2) == 0 ? 10000 : 1, &f->links));
    for (unsigned i = 0; i < 3; i++) {
        uint32_t source =
            (uint32_t)rig_rng_below(rng, targets[0] + (rig_rng_below(rng, 3) == 0 ? TXNS - targets[0] : 1));
        assert_true(rig_bundle_link(&bundle, source, RIG_LINK_RW, &f->links));
    }
}

static bool expected(const struct fixture *f, const struct rig_graph *graph, bool real_time)
{
    struct rig_err err = {0};
    struct rig_components components;
    struct rig_txn_list violations = {0};
    struct rig_view view = {.graph = graph, .links = RIG_LINKS_ALL};
    assert_int_equal(rig_components_find(view, &components, &err), RIG_OK);
    assert_int_equal(rig_realtime_violations(&f->history, &components, &violations, &err), RIG_OK);
    bool clean = components.list.count == 0 && (!real_time || violations.count == 0);
    rig_txn_list_done(&violations);
    rig_components_done(&components);
    return clean;
}

static bool any_info(const struct fixture *f)
{
    bool any = false;
    for (uint32_t i = 0; i < TXNS; i++)
        any |= f->txns[i].outcome == RIG_OUTCOME_INFO;
    return any;
}

static void clean_means_no_component_and_no_violation(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 90125, 0);
    unsigned counted[2] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct fixture f;
        struct rig_err err = {0};
        struct rig_graph graph;
        bool clean = false, real_time = round % 3 != 0;
        make_history(&f, &rng, round % 7);
        make_links(&f, &rng, round % 11, round % 2 == 0);
        if (round % 5 < 2)
            make_bundle(&f, &rng);
        assert_int_equal(rig_graph_pack(&f.links, &f.arena, &graph, &err), RIG_OK);
        bool wanted = expected(&f, &graph, real_time);
        assert_int_equal(rig_links_clean(&f.links, real_time ? &f.history : NULL, &clean, &err), RIG_OK);
        if (clean && !wanted)
            fail_msg("seed 90125, round %u: not clean", round);
        if (wanted && !clean && !(real_time && any_info(&f)))
            fail_msg("seed 90125, round %u: clean", round);
        counted[clean]++;
        rig_arena_done(&f.arena);
    }
    assert_true(counted[0] > ROUNDS / 10 && counted[1] > ROUNDS / 10);
}

/* Deeper than any stack would stand. */
static void a_chain_that_leads_back_is_walked(void **state)
{
    (void)state;
    enum { LONG = 1000000 };
    for (unsigned closed = 0; closed < 2; closed++) {
        struct rig_arena arena;
        struct rig_links links;
        struct rig_err err = {0};
        bool clean = false;
        rig_arena_init(&arena, 0);
        assert_true(rig_links_init(&links, &arena, LONG, 0, LONG));
        for (uint32_t i = 0; i + 1 < LONG; i++)
            assert_true(rig_links_add(&links, i + 1, i, RIG_LINK_WR));
        if (closed)
            assert_true(rig_links_add(&links, 0, LONG - 1, RIG_LINK_WR));
        assert_int_equal(rig_links_clean(&links, NULL, &clean, &err), RIG_OK);
        assert_int_equal(clean, !closed);
        rig_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_means_no_component_and_no_violation),
        cmocka_unit_test(a_chain_that_leads_back_is_walked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
