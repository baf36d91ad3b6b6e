#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/rng.h"
#include "tests/oracle/ask_checker.h"
#include "tests/oracle/small_random.h"

enum { CASES = 3000 };

static const uint64_t seed = 30001;

static void shuffle(struct rig_rng *rng, int *items, int count)
{
    for (int i = 0; i < count; i++)
        items[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)rig_rng_below(rng, (uint64_t)i + 1);
        int swapped = items[i];
        items[i] = items[j];
        items[j] = swapped;
    }
}

static void expect(bool same, const char *what, const char *name, uint64_t number, const struct small_history *history)
{
    if (same)
        return;
    fprintf(stderr, "seed %llu, history %llu: %s: %s\n", (unsigned long long)seed, (unsigned long long)number, what,
            name);
    small_print(history, "  ", stderr);
    small_print_json(history, stderr);
    fail();
}

/* Refuted levels and anomalies must be the same; with `fates`, also the held and the undecided levels. */
static void expect_same(const struct checker_answer *a, const struct checker_answer *b, bool fates, const char *what,
                        uint64_t number, const struct small_history *history)
{
    expect(a->problem[0] == '\0', "the checker contradicts itself", a->problem, number, history);
    expect(b->problem[0] == '\0', "the checker contradicts itself", b->problem, number, history);
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        bool same = (a->fate[i] == RIG_FATE_REFUTED) == (b->fate[i] == RIG_FATE_REFUTED);
        expect(same && (!fates || a->fate[i] == b->fate[i]), what, rig_level_info((enum rig_level)i)->name, number,
               history);
    }
    for (unsigned i = 0; i < RIG_ANOMALY_COUNT; i++)
        expect((a->count[i] > 0) == (b->count[i] > 0), what, rig_anomaly_info((enum rig_anomaly)i)->name, number,
               history);
}

static void names_do_not_matter(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < CASES; number++) {
        struct small_history history;
        struct checker_answer plain;
        struct checker_answer renamed;
        struct rig_rng rng;
        rig_rng_init(&rng, seed, number);
        small_random(seed, number, number % 4 == 0 ? SMALL_FULL : SMALL_TINY, &history);
        struct checker_names names = {.process_factor = 1 + (int64_t)rig_rng_below(&rng, 9),
                                      .process_offset = (int64_t)rig_rng_below(&rng, 100),
                                      .value_factor = rig_rng_next(&rng) | 1,
                                      .position_factor = 1 + (int)rig_rng_below(&rng, 5),
                                      .position_offset = (int)rig_rng_below(&rng, 50)};
        int keys[SMALL_KEYS];
        shuffle(&rng, keys, SMALL_KEYS);
        for (int key = 0; key < SMALL_KEYS; key++) {
            names.key[key] = keys[key] * 1000 - 1500;
            names.value_offset[key] = rig_rng_below(&rng, 1000);
        }
        shuffle(&rng, names.order, SMALL_TXNS);
        ask_checker(&history, NULL, &plain);
        ask_checker(&history, &names, &renamed);
        expect_same(&plain, &renamed, true, "the verdict depends on names", number, &history);
    }
}

/* Key w is never used by small_random(). */
static void add_stranger(struct small_history *history, struct rig_rng *rng, bool writes)
{
    enum { FREE_KEY = SMALL_KEYS - 1, FREE_PROCESS = 90 };
    bool first = rig_rng_below(rng, 2) == 0;
    int last = 0;
    for (int t = 0; t < history->txn_count; t++) {
        struct small_txn *txn = &history->txns[t];
        txn->invoke_at += txn->invoke_at == SMALL_NEVER ? 0 : 2;
        txn->complete_at += txn->complete_at == SMALL_NEVER ? 0 : 2;
        last = txn->invoke_at > last ? txn->invoke_at : last;
        last = txn->complete_at > last ? txn->complete_at : last;
    }
    struct small_txn *stranger = &history->txns[history->txn_count++];
    *stranger = (struct small_txn){.process = FREE_PROCESS, .invoke_at = first ? 0 : last + 1};
    stranger->complete_at = rig_rng_below(rng, 2) == 0 ? last + 2 : stranger->invoke_at + 1;
    if (history->txns[0].invoke_at == SMALL_NEVER)
        stranger->invoke_at = SMALL_NEVER;
    if (writes)
        stranger->ops[stranger->op_count++] = (struct small_op){.append = true, .key = FREE_KEY, .value = 1};
    struct small_op *read = &stranger->ops[stranger->op_count++];
    *read = (struct small_op){.known = true, .key = FREE_KEY, .count = writes ? 1 : 0, .list = {1}};
}

static void strangers_do_not_matter(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < CASES; number++) {
        struct small_history history;
        struct checker_answer alone;
        struct checker_answer accompanied;
        struct rig_rng rng;
        rig_rng_init(&rng, seed + 1, number);
        small_random(seed + 1, number, number % 4 == 0 ? SMALL_FULL : SMALL_TINY, &history);
        ask_checker(&history, NULL, &alone);
        add_stranger(&history, &rng, rig_rng_below(&rng, 2) == 0);
        ask_checker(&history, NULL, &accompanied);
        expect_same(&alone, &accompanied, false, "the verdict depends on an unrelated transaction", number, &history);
    }
}

/* A failed transaction, and an indeterminate one, change nothing, unless another transaction read their writes. */
static void silent_failures_do_not_matter(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < CASES; number++) {
        struct small_history history;
        struct checker_answer without;
        struct checker_answer with;
        small_random(seed + 2, number, number % 4 == 0 ? SMALL_FULL : SMALL_TINY, &history);
        ask_checker(&history, NULL, &without);
        struct small_txn *added = &history.txns[history.txn_count];
        *added = history.txns[number % (uint64_t)history.txn_count];
        history.txn_count++;
        added->outcome = number % 2 == 0 ? SMALL_FAIL : SMALL_INFO;
        added->process = 91;
        bool invoked = added->invoke_at != SMALL_NEVER;
        added->complete_at = number % 2 == 0 || !invoked ? 301 : SMALL_NEVER;
        added->invoke_at = invoked ? 300 : SMALL_NEVER;
        for (int i = 0; i < added->op_count; i++)
            added->ops[i].value += 500; /* own values; its reads stay */
        ask_checker(&history, NULL, &with);
        expect_same(&without, &with, false, "the verdict depends on a transaction that did not commit", number,
                    &history);
    }
}

int main(void)
{
    print_message("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_do_not_matter),
        cmocka_unit_test(strangers_do_not_matter),
        cmocka_unit_test(silent_failures_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
