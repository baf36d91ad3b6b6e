#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "checker/decide/cycle/search.h"

/* Six transactions; arcs from a text of triples: from, to, kind (w, r, a, and . for a relay's way out). */
struct fixture {
    struct rig_txn txns[7];
    struct rig_history history;
    struct rig_arena arena;
    struct rig_graph graph;
    uint32_t before[6];
    struct rig_search *search;
    struct rig_cycle cycle;
};

static void build(struct fixture *f, const char *text)
{
    static const char letters[] = "wra.";
    struct rig_links links;
    struct rig_err err = {0};
    memset(f, 0, sizeof *f);
    f->history = (struct rig_history){.txns = f->txns, .txn_count = 6, .has_invocations = true};
    for (uint32_t i = 0; i < 6; i++) {
        f->before[i] = RIG_NODE_NONE;
        f->txns[i] = (struct rig_txn){.invoke_at = 2 * i, .complete_at = 2 * i + 1};
    }
    uint32_t relay;
    rig_arena_init(&f->arena, 0);
    assert_true(rig_links_init(&links, &f->arena, 6, 0, 0));
    assert_true(rig_links_add_nodes(&links, 4, &relay));
    for (; *text != '\0'; text += text[3] == ' ' ? 4 : 3) {
        enum rig_link link = (enum rig_link)(strchr(letters, text[2]) - letters);
        assert_true(rig_links_add(&links, (uint32_t)(text[0] - '0'), (uint32_t)(text[1] - '0'), link));
    }
    assert_int_equal(rig_graph_pack(&links, NULL, &f->arena, &f->graph, &err), RIG_OK);
    f->graph.process_before = f->before;
    f->search = rig_search_new(&f->history, &f->graph);
    assert_non_null(f->search);
}

static void done(struct fixture *f)
{
    rig_search_free(f->search);
    rig_cycle_done(&f->cycle);
    rig_arena_done(&f->arena);
}

static enum rig_found find(struct fixture *f, struct rig_path_rule rule, uint32_t from, uint32_t to,
                           enum rig_edge_kind kind)
{
    return rig_search_cycle(f->search, &rule, (struct rig_seed){from, to, kind}, (struct rig_region){0}, 0, 0,
                            &f->cycle);
}

static void assert_found(const struct fixture *f, const char *transactions)
{
    assert_int_equal(f->cycle.count, strlen(transactions));
    for (size_t i = 0; i < f->cycle.count; i++)
        assert_int_equal(f->cycle.at[i].txn, transactions[i] - '0');
}

static const struct rig_path_rule any = {.links = RIG_LINKS_ALL, .most_rw = RIG_ANY_RW};

static void the_shortest_way_back_is_found(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "01a 12w 23w 30w 13a 31w");
    assert_int_equal(find(&f, any, 0, 1, RIG_EDGE_RW), RIG_FOUND);
    assert_found(&f, "013");
    assert_int_equal(f.cycle.at[0].kind, RIG_EDGE_RW);
    assert_int_equal(f.cycle.at[1].kind, RIG_EDGE_RW);
    assert_int_equal(f.cycle.at[2].kind, RIG_EDGE_WW);
    done(&f);
}

static void rules_are_obeyed(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "01a 12w 23r 30w 13a");
    struct rig_path_rule rule = any;
    rule.nonadjacent = true;
    assert_int_equal(find(&f, rule, 0, 1, RIG_EDGE_RW), RIG_FOUND);
    assert_found(&f, "0123");
    rule = any;
    rule.needs_wr = true;
    assert_int_equal(find(&f, rule, 0, 1, RIG_EDGE_RW), RIG_FOUND);
    assert_found(&f, "0123");
    rule = any;
    rule.most_rw = 1;
    assert_int_equal(find(&f, rule, 0, 1, RIG_EDGE_RW), RIG_FOUND);
    assert_found(&f, "0123");
    rule = any;
    rule.fewest_rw = 2;
    assert_int_equal(find(&f, rule, 0, 1, RIG_EDGE_RW), RIG_FOUND);
    assert_found(&f, "013");
    rule = any;
    rule.links = RIG_LINKS_WW;
    assert_int_equal(find(&f, rule, 0, 1, RIG_EDGE_WW), RIG_FOUND_NOTHING);
    rule = any;
    rule.needs_adjacent = true;
    assert_int_equal(find(&f, rule, 0, 1, RIG_EDGE_RW), RIG_FOUND);
    assert_found(&f, "013");
    done(&f);
}

static void adjacency_is_seen_over_the_seed(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "01a 10a");
    struct rig_path_rule rule = any;
    rule.nonadjacent = true;
    assert_int_equal(find(&f, rule, 0, 1, RIG_EDGE_RW), RIG_FOUND_NOTHING);
    rule = any;
    rule.needs_adjacent = true;
    assert_int_equal(find(&f, rule, 0, 1, RIG_EDGE_RW), RIG_FOUND);
    assert_found(&f, "01");
    done(&f);
}

static void process_order_is_used_when_asked_for(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "20w");
    f.before[2] = 1;
    assert_int_equal(find(&f, any, 0, 1, RIG_EDGE_RW), RIG_FOUND_NOTHING);
    struct rig_path_rule rule = any;
    rule.process = true;
    assert_int_equal(find(&f, rule, 0, 1, RIG_EDGE_RW), RIG_FOUND);
    assert_found(&f, "012");
    assert_int_equal(f.cycle.at[1].kind, RIG_EDGE_PROCESS);
    done(&f);
}

static void any_later_transaction_closes_a_real_time_cycle(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "21w 31w 53w 10w");
    struct rig_seed seed = {0, RIG_NODE_NONE, RIG_EDGE_REALTIME};
    assert_int_equal(rig_search_cycle(f.search, &any, seed, (struct rig_region){0}, 0, 0, &f.cycle), RIG_FOUND);
    assert_found(&f, "01"); /* 1 itself was invoked after 0 completed */
    f.txns[1].invoke_at = 0;
    assert_int_equal(rig_search_cycle(f.search, &any, seed, (struct rig_region){0}, 0, 0, &f.cycle), RIG_FOUND);
    assert_int_equal(f.cycle.count, 3);
    f.txns[0].outcome = RIG_OUTCOME_INFO; /* never completed, so nothing follows it */
    assert_int_equal(rig_search_cycle(f.search, &any, seed, (struct rig_region){0}, 0, 0, &f.cycle), RIG_FOUND_NOTHING);
    done(&f);
}

static void relays_cost_nothing_and_keep_the_kind(void **state)
{
    (void)state;
    struct fixture f;
    /* 1 -rw-> relay 6 -> relay 7 -> 2, and a detour of three transactions. */
    build(&f, "16a 67. 72. 20w 13w 34w 45w 52w");
    assert_int_equal(find(&f, any, 0, 1, RIG_EDGE_WW), RIG_FOUND);
    assert_found(&f, "012");
    assert_int_equal(f.cycle.at[1].kind, RIG_EDGE_RW);
    struct rig_path_rule rule = any;
    rule.links = RIG_LINKS_WW;
    assert_int_equal(find(&f, rule, 0, 1, RIG_EDGE_WW), RIG_FOUND);
    assert_found(&f, "013452");
    done(&f);
}

static void bounds_are_kept(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "12w 23w 34w 45w 50w");
    struct rig_seed seed = {0, 1, RIG_EDGE_WW};
    assert_int_equal(rig_search_cycle(f.search, &any, seed, (struct rig_region){0}, 5, 0, &f.cycle), RIG_FOUND_NOTHING);
    assert_int_equal(rig_search_cycle(f.search, &any, seed, (struct rig_region){0}, 6, 0, &f.cycle), RIG_FOUND);
    assert_int_equal(rig_search_cycle(f.search, &any, seed, (struct rig_region){0}, 0, 2, &f.cycle),
                     RIG_FOUND_BUDGET_SPENT);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_way_back_is_found),
        cmocka_unit_test(rules_are_obeyed),
        cmocka_unit_test(adjacency_is_seen_over_the_seed),
        cmocka_unit_test(process_order_is_used_when_asked_for),
        cmocka_unit_test(any_later_transaction_closes_a_real_time_cycle),
        cmocka_unit_test(relays_cost_nothing_and_keep_the_kind),
        cmocka_unit_test(bounds_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
