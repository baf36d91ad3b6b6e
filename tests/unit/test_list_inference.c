/* The fast path for transactions without anomalies, compared with the full one, on random histories of every kind. */
#include "tests/unit/given_history.h"

#include <string.h>

#include "base/rng.h"
#include "checker/infer/list_inference.h"
#include "history/model/window_view.h"
#include "tests/oracle/ask_checker.h"
#include "tests/oracle/small_random.h"

enum { CASES = 20000 };

static const uint64_t seed = 60606;

struct result {
    struct rig_arena arena;
    struct rig_inference inference;
};

typedef enum rig_rc (*way)(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                           struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err);

static void infer(const struct rig_history *history, way how, struct result *result)
{
    struct rig_err err = {0};
    rig_arena_init(&result->arena, 0);
    if (how(history, (struct rig_assumptions){0}, 1000, &result->arena, &result->inference, &err) != RIG_OK ||
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

static bool same_oddities(const struct rig_noncyclic_findings *a, const struct rig_noncyclic_findings *b)
{
    if (memcmp(a->count, b->count, sizeof a->count) != 0 || a->kept.count != b->kept.count)
        return false;
    for (size_t i = 0; i < a->kept.count; i++) {
        const struct rig_noncyclic *x = &a->kept.at[i], *y = &b->kept.at[i];
        if (x->anomaly != y->anomaly || x->key != y->key || x->txn != y->txn || x->op != y->op ||
            x->other != y->other || x->other_op != y->other_op || x->value != y->value ||
            x->other_value != y->other_value)
            return false;
    }
    return true;
}

/* After a failed fast path the values may be larger than necessary. */
static bool looks_back(const struct rig_links *a, const struct rig_links *b)
{
    for (uint32_t txn = 0; txn < a->txn_count; txn++) {
        if (a->late_before[txn] < b->late_before[txn])
            return false;
    }
    return true;
}

/* Values far apart use another table. */
static struct checker_names names_of(uint64_t number)
{
    struct checker_names names = {.key = {0, 1, 2, 3}, .process_factor = 1, .value_factor = 1, .position_factor = 1};
    for (int i = 0; i < SMALL_TXNS; i++)
        names.order[i] = i;
    if (number % 3 == 0)
        names.value_factor = UINT64_C(0x5851f42d4c957f2d);
    return names;
}

/* The quick way and the full way over one history; false when they differ. */
static bool agree(const struct rig_history *history, unsigned *odd, unsigned *linked)
{
    struct result quick, full;
    infer(history, rig_infer_list_append, &quick);
    infer(history, rig_infer_list_append_in_full, &full);
    const struct rig_inference *a = &quick.inference, *b = &full.inference;
    bool same = same_graphs(&a->graph, &b->graph) && same_oddities(&a->noncyclic, &b->noncyclic) &&
                looks_back(&a->links, &b->links) && a->unordered_keys == b->unordered_keys;
    *odd += b->noncyclic.kept.count > 0;
    *linked += b->graph.link_count[RIG_LINK_RW] > 0;
    done(&quick);
    done(&full);
    return same;
}

/* The same history with transactions without operations in between, sometimes more than a byte can count. */
static bool agree_with_gaps(const struct rig_history *history, struct rig_rng *rng)
{
    enum { MOST = 600 };
    static struct rig_txn txns[(SMALL_TXNS + 1) * MOST + 1];
    struct rig_history gaps = *history;
    unsigned odd = 0, linked = 0;
    gaps.txns = txns;
    gaps.txn_count = 0;
    for (uint32_t txn = 0; txn <= history->txn_count; txn++) {
        uint32_t most = rig_rng_below(rng, 30) == 0 ? MOST : 3, empty = (uint32_t)rig_rng_below(rng, most);
        for (uint32_t i = 0; i < empty; i++)
            txns[gaps.txn_count++] = (struct rig_txn){.first_op = history->txns[txn].first_op,
                                                      .outcome = i % 2 == 0 ? RIG_OUTCOME_OK : RIG_OUTCOME_FAIL};
        txns[gaps.txn_count++] = history->txns[txn];
    }
    gaps.txn_count--; /* the last one only ends the operations */
    return agree(&gaps, &odd, &linked);
}

static void the_short_way_hides_nothing(void **state)
{
    (void)state;
    unsigned odd = 0, linked = 0;
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 1);
    for (uint64_t number = 0; number < CASES; number++) {
        struct small_history small;
        struct rig_history *history = NULL;
        struct rig_err err = {0};
        struct checker_names names = names_of(number);
        small_random(seed, number, number % 2 == 0 ? SMALL_TINY : SMALL_FULL, &small);
        if (build_history(&small, &names, &history, &err) != RIG_OK)
            fail_msg("%s", err.text);
        if (!agree(history, &odd, &linked) || (number % 5 == 0 && !agree_with_gaps(history, &rng))) {
            small_print(&small, "  ", stderr);
            fail_msg("seed %llu, history %llu", (unsigned long long)seed, (unsigned long long)number);
        }
        rig_history_free(history);
    }
    assert_true(odd > CASES / 20 && odd < CASES && linked > CASES / 20);
}

/* A transaction judged before keeps its outcome, whatever reads show; another unknown one depends on the reads. */
static void judged_transactions_keep_their_outcome(void **state)
{
    (void)state;
    const uint8_t settled[] = {RIG_SETTLED_NOT, RIG_SETTLED_UNCOMMITTED, RIG_SETTLED_COMMITTED};
    for (unsigned read = 0; read < 2; read++) {
        for (unsigned i = 0; i < 3; i++) {
            struct result result;
            struct rig_history *history =
                given(read ? "info 0 0-1: ax1; ok 1 2-3: rx[1]" : "info 0 0-1: ax1; ok 1 2-3: rx[]");
            uint32_t unknown = given_txn(history, 1);
            history->txns[unknown].settled = settled[i];
            infer(history, rig_infer_list_append, &result);
            bool committed = settled[i] == RIG_SETTLED_COMMITTED || (settled[i] == RIG_SETTLED_NOT && read);
            assert_int_equal(result.inference.versions.committed[unknown], committed);
            assert_int_equal(result.inference.committed_count, 1 + committed);
            done(&result);
            rig_history_free(history);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_short_way_hides_nothing),
        cmocka_unit_test(judged_transactions_keep_their_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
