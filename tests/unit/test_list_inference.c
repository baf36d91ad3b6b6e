/* The short way for transactions that show nothing odd, against the long one, on random histories of every kind. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/rng.h"
#include "checker/infer/list_inference.h"
#include "tests/oracle/ask_checker.h"
#include "tests/oracle/small_random.h"

enum { CASES = 20000 };

static const uint64_t seed = 60606;

struct result {
    struct rig_arena arena;
    struct rig_inference inference;
};

typedef enum rig_rc (*way)(const struct rig_history *history, uint32_t most_kept, struct rig_arena *arena,
                           struct rig_inference *inference, struct rig_err *err);

static void infer(const struct rig_history *history, way how, struct result *result)
{
    struct rig_err err = {0};
    rig_arena_init(&result->arena, 0);
    if (how(history, 1000, &result->arena, &result->inference, &err) != RIG_OK ||
        rig_inference_pack(&result->inference, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void done(struct result *result)
{
    rig_inference_done(&result->inference);
    rig_arena_done(&result->arena);
}

static bool same_graphs(const struct rig_graph *a, const struct rig_graph *b)
{
    if (a->node_count != b->node_count || memcmp(a->link_count, b->link_count, sizeof a->link_count) != 0)
        return false;
    return memcmp(a->first, b->first, ((size_t)a->node_count + 1) * sizeof *a->first) == 0 &&
           memcmp(a->edges, b->edges, a->first[a->node_count] * sizeof *a->edges) == 0;
}

static bool same_oddities(const struct rig_oddities *a, const struct rig_oddities *b)
{
    if (memcmp(a->count, b->count, sizeof a->count) != 0 || a->kept.count != b->kept.count)
        return false;
    for (size_t i = 0; i < a->kept.count; i++) {
        const struct rig_oddity *x = &a->kept.at[i], *y = &b->kept.at[i];
        if (x->anomaly != y->anomaly || x->key != y->key || x->txn != y->txn || x->op != y->op ||
            x->other != y->other || x->other_op != y->other_op || x->value != y->value ||
            x->other_value != y->other_value)
            return false;
    }
    return true;
}

/* Where the short way was tried in vain it may say more than is needed. */
static bool looks_back(const struct rig_links *a, const struct rig_links *b)
{
    for (uint32_t txn = 0; txn < a->txn_count; txn++) {
        if (a->late_before[txn] < b->late_before[txn])
            return false;
    }
    return true;
}

/* Values far apart take another table. */
static struct checker_names names_of(uint64_t number)
{
    struct checker_names names = {.key = {0, 1, 2, 3}, .process_factor = 1, .value_factor = 1, .position_factor = 1};
    for (int i = 0; i < SMALL_TXNS; i++)
        names.order[i] = i;
    if (number % 3 == 0)
        names.value_factor = UINT64_C(0x5851f42d4c957f2d);
    return names;
}

static void the_short_way_hides_nothing(void **state)
{
    (void)state;
    unsigned odd = 0, cyclic = 0;
    for (uint64_t number = 0; number < CASES; number++) {
        struct small_history small;
        struct rig_history *history = NULL;
        struct rig_err err = {0};
        struct result quick, full;
        struct checker_names names = names_of(number);
        small_random(seed, number, number % 2 == 0 ? SMALL_TINY : SMALL_FULL, &small);
        if (build_history(&small, &names, &history, &err) != RIG_OK)
            fail_msg("%s", err.text);
        infer(history, rig_infer_list_append, &quick);
        infer(history, rig_infer_list_append_in_full, &full);
        const struct rig_inference *a = &quick.inference, *b = &full.inference;
        if (!same_graphs(&a->graph, &b->graph) || !same_oddities(&a->oddities, &b->oddities) ||
            !looks_back(&a->links, &b->links) || a->unordered_keys != b->unordered_keys) {
            small_print(&small, "  ", stderr);
            fail_msg("seed %llu, history %llu", (unsigned long long)seed, (unsigned long long)number);
        }
        odd += b->oddities.kept.count > 0;
        cyclic += b->graph.link_count[RIG_LINK_RW] > 0;
        done(&quick);
        done(&full);
        rig_history_free(history);
    }
    assert_true(odd > CASES / 20 && odd < CASES && cyclic > CASES / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_short_way_hides_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
