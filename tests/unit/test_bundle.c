/* Bundles: each source reaches every target but itself, over its own kind of edge, with and without relays. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/rng.h"
#include "checker/model/bundle.h"

enum { TXNS = 40, ROUNDS = 3000 };

static uint32_t pick(struct rig_rng *rng, unsigned percent, uint32_t *picked)
{
    uint32_t count = 0;
    for (uint32_t txn = 0; txn < TXNS; txn++) {
        if (rig_rng_below(rng, 100) < percent)
            picked[count++] = txn;
    }
    return count;
}

/* The kinds of edges over which each transaction reaches `to`; as bits, relays followed. */
static void find_sources(const struct rig_links *links, uint32_t to, unsigned reached[TXNS])
{
    uint32_t open[4 * TXNS], depth = 0;
    memset(reached, 0, TXNS * sizeof *reached);
    open[depth++] = to;
    while (depth > 0) {
        struct rig_links_cursor cursor = rig_links_into(links, open[--depth]);
        for (uint32_t edge; (edge = rig_links_next(links, &cursor)) != RIG_NODE_NONE;) {
            if (rig_edge_link(edge) == RIG_LINK_THROUGH) {
                assert_true(depth < 4 * TXNS);
                open[depth++] = rig_edge_node(edge);
            } else {
                reached[rig_edge_node(edge)] |= 1u << rig_edge_link(edge);
            }
        }
    }
}

static void every_source_reaches_every_target_but_itself(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 2112, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct rig_arena arena;
        struct rig_links links;
        uint32_t targets[TXNS], source_txns[TXNS];
        struct rig_bundle_source sources[TXNS];
        unsigned wanted[TXNS] = {0}, latest = 0;
        uint32_t target_count = pick(&rng, 1 + round % 100, targets),
                 count = pick(&rng, 1 + round / 7 % 100, source_txns);
        if (target_count == 0)
            continue;
        rig_arena_init(&arena, 0);
        assert_true(rig_links_init(&links, &arena, TXNS, 0, 0));
        for (uint32_t i = 0; i < count; i++) {
            sources[i] =
                (struct rig_bundle_source){source_txns[i], rig_rng_below(&rng, 8) == 0 ? RIG_LINK_WW : RIG_LINK_RW};
            wanted[source_txns[i]] = 1u << sources[i].link;
            latest = source_txns[i];
        }
        bool relays = round % 4 != 0;
        assert_true(rig_bundle_link(targets, target_count, sources, count, relays, &links));
        assert_true(!relays || links.chained_count <= 9 * (target_count + count));
        for (uint32_t i = 0; i < target_count; i++) {
            unsigned reached[TXNS];
            find_sources(&links, targets[i], reached);
            for (uint32_t txn = 0; txn < TXNS; txn++) {
                if (reached[txn] != (txn == targets[i] ? 0 : wanted[txn]))
                    fail_msg("seed 2112, round %u: from %u to %u: %x", round, txn, targets[i], reached[txn]);
            }
            assert_true(links.late_before[targets[i]] || count == 0 || targets[i] >= latest);
        }
        rig_arena_done(&arena);
    }
}

/* The readers of a list that no read showed: few of them append to it. */
static void relays_are_few(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    struct rig_arena arena;
    struct rig_links links;
    uint32_t targets[MANY];
    struct rig_bundle_source sources[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        targets[i] = 2 * i;
        sources[i] = (struct rig_bundle_source){i % 100 == 0 ? 2 * i : 2 * i + 1, RIG_LINK_RW};
    }
    rig_arena_init(&arena, 0);
    assert_true(rig_links_init(&links, &arena, 2 * MANY, 0, 0));
    assert_true(rig_bundle_pays(MANY, MANY));
    assert_true(rig_bundle_link(targets, MANY, sources, MANY, true, &links));
    assert_true(links.chained_count < 2 * MANY + 100);
    assert_true(links.node_count < 2 * MANY + 50);
    rig_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_source_reaches_every_target_but_itself),
        cmocka_unit_test(relays_are_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
