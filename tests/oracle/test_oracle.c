#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"
#include "tests/oracle/small_random.h"

enum { RANDOM_CASES = 6000 };

static const uint64_t seed = 20001;

static const struct oracle_level read_committed = {ORACLE_READ_COMMITTED, ORACLE_PLAIN};
static const struct oracle_level snapshot = {ORACLE_SNAPSHOT_ISOLATION, ORACLE_PLAIN};
static const struct oracle_level serializable = {ORACLE_SERIALIZABLE, ORACLE_PLAIN};
static const struct oracle_level strict = {ORACLE_SERIALIZABLE, ORACLE_REALTIME};

/* The levels in the order of the letters below. */
static const struct oracle_level lettered[] = {
    {ORACLE_READ_COMMITTED, ORACLE_PLAIN},       {ORACLE_READ_COMMITTED, ORACLE_SESSION},
    {ORACLE_READ_COMMITTED, ORACLE_REALTIME},    {ORACLE_SNAPSHOT_ISOLATION, ORACLE_PLAIN},
    {ORACLE_SNAPSHOT_ISOLATION, ORACLE_SESSION}, {ORACLE_SNAPSHOT_ISOLATION, ORACLE_REALTIME},
    {ORACLE_SERIALIZABLE, ORACLE_PLAIN},         {ORACLE_SERIALIZABLE, ORACLE_SESSION},
    {ORACLE_SERIALIZABLE, ORACLE_REALTIME},
};

/* `possible`: three letters a base (r, i, s), each followed by the orders that an execution may respect: - plain, p
 * process, t real time. */
static const struct {
    const char *name;
    const char *history;
    const char *possible;
} known[] = {
    {"serial", "ok 0 0-1: ax1; ok 0 2-3: rx[1] ax2; ok 1 4-5: rx[1 2]", "r-pt i-pt s-pt"},
    {"empty", "", "r-pt i-pt s-pt"},
    {"write skew", "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]", "r-pt i-pt s"},
    {"write skew unobserved", "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1", "r-pt i-pt s"},
    {"write skew that both mark", "ok 0 0-2: rx[] ay1 az1; ok 1 1-3: ry[] ax1 az2", "r-pt i s"},
    {"lost update", "ok 0 0-2: rx[] ax1; ok 1 1-3: rx[] ax2; ok 2 4-5: rx[1 2]", "r-pt i s"},
    {"lost update unobserved", "ok 0 0-2: rx[] ax1; ok 1 1-3: rx[] ax2", "r-pt i s"},
    {"read skew", "ok 0 0-1: ax1 ay1; ok 1 2-3: rx[1] ry[]", "r-pt i s"},
    {"long fork", "ok 0 0-1: ax1; ok 1 0-1: ay1; ok 2 2-3: rx[1] ry[]; ok 3 2-3: rx[] ry[1]", "r-pt i s"},
    {"stale read of another process", "ok 0 0-1: ax1; ok 1 2-3: rx[]; ok 2 4-5: rx[1]", "r-pt i-p s-p"},
    {"stale read of the same process", "ok 0 0-1: ax1; ok 0 2-3: rx[]; ok 2 4-5: rx[1]", "r-pt i- s-"},
    {"lost append, seen only in time", "ok 0 0-1: ax1; ok 1 2-3: rx[]", "r-pt i-p s-p"},
    {"write order against time", "ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[2 1]", "r-p i-p s-p"},
    {"read from the future in time", "ok 0 0-1: rx[1]; ok 1 2-3: ax1", "r-p i-p s-p"},
    {"aborted read", "fail 0 0-1: ax1; ok 1 2-3: rx[1]", "r i s"},
    {"failed writer in the middle", "fail 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1 2]", "r i s"},
    {"failed read of anything", "ok 0 0-1: ax1; fail 1 2-3: rx[7 7]", "r-pt i-pt s-pt"},
    {"intermediate read", "ok 0 0-2: ax1 ax2; ok 1 1-3: rx[1]", "r i s"},
    {"appended between two appends", "ok 0 0-2: ax1 ax2; ok 1 1-3: ax3; ok 2 4-5: rx[1 3 2]", "r i s"},
    {"own appends swapped", "ok 0 0-2: ax1 ax2; ok 1 1-3: ax3; ok 2 4-5: rx[2 1 3]", "r i s"},
    {"own append missing in the middle", "ok 0 0-2: ax1 ax2; ok 1 1-3: ax3; ok 2 4-5: rx[1 3]", "r i s"},
    {"duplicate", "ok 0 0-1: ax1; ok 1 2-3: rx[1 1]", "r i s"},
    {"garbage", "ok 1 2-3: rx[1]", "r i s"},
    {"incompatible orders", "ok 0 0-9: ax1; ok 1 0-9: ax2; ok 2 0-9: rx[1 2]; ok 3 0-9: rx[2 1]", "r i s"},
    {"circular information flow", "ok 0 0-2: ax1 ry[1]; ok 1 1-3: ay1 rx[1]", "r i s"},
    {"write cycle", "ok 0 0-2: ax1 ay1; ok 1 1-3: ax2 ay2; ok 2 4-5: rx[1 2] ry[2 1]", "r i s"},
    {"future read", "ok 0 0-1: rx[1] ax1", "r i s"},
    {"own append unseen", "ok 0 0-1: ax1 rx[]", "r-pt i s"},
    {"own append seen as the last but one", "ok 0 0-2: ax1 rx[1 2]; ok 1 1-3: ax2", "r i s"},
    {"read that changes", "ok 0 0-2: rx[] rx[1]; ok 1 1-3: ax1", "r-pt i s"},
    {"others commit before the append", "ok 0 0-2: rx[] ax2 rx[1 2]; ok 1 1-3: ax1", "r-pt i s"},
    {"read, append, read", "ok 0 0-2: rx[1] ax2 rx[1 2]; ok 1 1-3: ax1", "r-pt i-pt s-pt"},
    {"own reads alone show the order", "ok 0 0-2: ax2 rx[1 2]; ok 1 1-3: ax1; ok 2 4-5: rx[1]", "r-pt i-p s-p"},
    {"info observed", "info 0 0-1: ax1; ok 1 2-3: rx[1]", "r-pt i-pt s-pt"},
    {"info observed, then lost", "info 0 0-1: ax1; ok 1 2-3: rx[1]; ok 2 4-5: rx[]", "r-pt i-p s-p"},
    {"info observed, its read binds", "info 0 0-1: ry[1] ax1; ok 1 2-3: rx[1]; ok 1 4-5: ay1", "r- i- s-"},
    {"info unobserved binds nothing", "info 0 0-1: ry[5] ax1; ok 1 2-3: rx[]", "r-pt i-pt s-pt"},
    {"info commits late", "info 0 0-1: ax1; ok 1 2-3: rx[]; ok 1 4-5: rx[1]", "r-pt i-pt s-pt"},
    {"info before its invocation", "ok 1 0-1: rx[1]; info 0 2-3: ax1", "r-p i-p s-p"},
    {"info seen only by an unobserved info", "info 0 0-1: ax1; info 1 2-3: rx[1] ay1; ok 2 4-5: rx[]",
     "r-pt i-pt s-pt"},
    {"G-nonadjacent",
     "ok 0 0-9: rx[] ay1; ok 1 0-9: ax1 az1; ok 2 0-9: rz[1] rw[]; ok 3 0-9: aw1 ay2; ok 4 10-11: ry[2 1]", "r-pt i s"},
};

static bool is_possible(const struct small_history *history, struct oracle_level level)
{
    bool explained = oracle_explains(history, level, 0);
    if (level.base != ORACLE_READ_COMMITTED)
        assert_int_equal(explained, oracle_executes(history, level));
    return explained;
}

static void text_of_possible(const struct small_history *history, char *text)
{
    for (size_t i = 0; i < sizeof lettered / sizeof lettered[0]; i++) {
        if (lettered[i].order == ORACLE_PLAIN) {
            if (i > 0)
                *text++ = ' ';
            *text++ = "ris"[lettered[i].base];
        }
        if (is_possible(history, lettered[i]))
            *text++ = "-pt"[lettered[i].order];
    }
    *text = '\0';
}

static void known_histories_are_judged_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct small_history history;
        assert_true(small_parse(known[i].history, &history));
        char possible[32];
        text_of_possible(&history, possible);
        if (strcmp(possible, known[i].possible) != 0)
            fail_msg("%s: possible '%s', expected '%s'", known[i].name, possible, known[i].possible);
    }
}

/* Fails with the history in the notation. */
static void expect(bool condition, const char *what, uint64_t number, const struct small_history *history)
{
    if (condition)
        return;
    fprintf(stderr, "seed %llu, history %llu: %s\n", (unsigned long long)seed, (unsigned long long)number, what);
    small_print(history, "  ", stderr);
    small_print_json(history, stderr);
    fail();
}

/* Cerone & Gotsman's theorem, and Adya's for PL-3, on thousands of histories: the definitions by execution and by graph
 * agree. */
static void definitions_agree(void **state)
{
    (void)state;
    int possible = 0;
    int impossible = 0;
    for (uint64_t number = 0; number < RANDOM_CASES; number++) {
        struct small_history history;
        small_random(seed, number, SMALL_TINY, &history);
        for (size_t i = 3; i < sizeof lettered / sizeof lettered[0]; i++) {
            bool executes = oracle_executes(&history, lettered[i]);
            expect(executes == oracle_explains(&history, lettered[i], 0), "execution and graph disagree", number,
                   &history);
            possible += executes;
            impossible += !executes;
        }
    }
    assert_true(possible > RANDOM_CASES / 2 && impossible > RANDOM_CASES / 2); /* both answers occur */
}

/* Stronger levels are possible less often: a wrong oracle would hardly keep the lattice. */
static void lattice_is_kept(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < RANDOM_CASES; number++) {
        struct small_history history;
        small_random(seed + 1, number, SMALL_TINY, &history);
        bool at[9];
        for (size_t i = 0; i < 9; i++)
            at[i] = oracle_explains(&history, lettered[i], 0);
        for (size_t i = 0; i < 9; i++) {
            bool weaker_order = i % 3 == 0 || at[i - 1];
            struct oracle_level dirty = {ORACLE_READ_UNCOMMITTED, lettered[i].order};
            bool weaker_base = i < 3 ? !at[i] || oracle_explains(&history, dirty, 0) : at[i - 3];
            expect(!at[i] || (weaker_order && weaker_base), "a stronger level is possible, a weaker is not", number,
                   &history);
        }
    }
}

/* The checker's rules: an info transaction is committed exactly when a committed read shows one of its appends; appends
 * that no read shows follow those that reads show, unordered. The first rule loses nothing at any level, the second
 * nothing except at snapshot isolation, where two writers of a key must not overlap, in either order. */
static void shortcuts_lose_nothing(void **state)
{
    (void)state;
    int lost = 0;
    int lost_forced = 0;
    for (uint64_t number = 0; number < RANDOM_CASES; number++) {
        struct small_history history;
        small_random(seed + 2, number, SMALL_TINY, &history);
        for (size_t i = 0; i < sizeof lettered / sizeof lettered[0]; i++) {
            bool exact = oracle_explains(&history, lettered[i], 0);
            expect(exact == oracle_explains(&history, lettered[i], ORACLE_OBSERVED_INFOS),
                   "taking observed info transactions only changes the answer", number, &history);
            bool unordered =
                oracle_explains(&history, lettered[i], ORACLE_OBSERVED_INFOS | ORACLE_UNOBSERVED_UNORDERED);
            expect(exact == unordered || (lettered[i].base == ORACLE_SNAPSHOT_ISOLATION && unordered),
                   "leaving unobserved appends unordered changes the answer", number, &history);
            lost += exact != unordered;
            bool forced = oracle_explains(
                &history, lettered[i], ORACLE_OBSERVED_INFOS | ORACLE_UNOBSERVED_UNORDERED | ORACLE_UNOBSERVED_FORCED);
            expect(!exact || forced, "the orders called forced are not", number, &history);
            lost_forced += exact != forced;
        }
    }
    print_message("unobserved appends unordered: %d of %d answers lost, at snapshot isolation; forced: %d\n", lost,
                  RANDOM_CASES * 9, lost_forced);
    assert_true(lost_forced <= lost);
}

/* The generator covers all cases: each level splits its histories. */
static void random_histories_are_mixed(void **state)
{
    (void)state;
    const struct oracle_level levels[] = {read_committed, snapshot, serializable, strict};
    int possible[4] = {0};
    int infos = 0;
    int fails = 0;
    int silent = 0;
    for (uint64_t number = 0; number < RANDOM_CASES; number++) {
        struct small_history history;
        small_random(seed + 3, number, SMALL_TINY, &history);
        for (int i = 0; i < 4; i++)
            possible[i] += oracle_explains(&history, levels[i], 0);
        infos += oracle_observed_infos(&history) != 0;
        fails += oracle_outcome_mask(&history, SMALL_FAIL) != 0;
        for (int t = 0; t < history.txn_count; t++)
            silent += history.txns[t].complete_at == SMALL_NEVER;
    }
    print_message("possible of %d: read committed %d, snapshot isolation %d, serializable %d, strict %d; "
                  "with observed info %d, with fail %d; without completion %d\n",
                  RANDOM_CASES, possible[0], possible[1], possible[2], possible[3], infos, fails, silent);
    for (int i = 0; i < 4; i++)
        assert_in_range(possible[i], RANDOM_CASES / 10, RANDOM_CASES * 9 / 10);
    for (int i = 1; i < 4; i++)
        assert_true(possible[i] < possible[i - 1]);
    assert_true(infos > RANDOM_CASES / 50 && fails > RANDOM_CASES / 20 && silent > RANDOM_CASES / 20);
}

static bool shows_lost_update(const struct small_history *history, void *context)
{
    (void)context;
    return oracle_explains(history, read_committed, 0) && !oracle_explains(history, snapshot, 0);
}

static void shrinking_keeps_the_point(void **state)
{
    (void)state;
    struct small_history history;
    assert_true(small_parse("ok 0 0-1: az1 ax9; ok 0 2-6: rz[1] rx[9] ax1; ok 1 3-7: rx[9] ax2 rz[1];"
                            "ok 2 8-9: rx[9 1 2]; ok 3 4-5: ry[]",
                            &history));
    assert_true(shows_lost_update(&history, NULL));
    small_shrink(&history, shows_lost_update, NULL);
    assert_true(shows_lost_update(&history, NULL));
    assert_int_equal(history.txn_count, 2);
    assert_int_equal(history.txns[0].op_count, 2);
    assert_int_equal(history.txns[1].op_count, 2);
}

int main(void)
{
    print_message("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_histories_are_judged_right),
        cmocka_unit_test(definitions_agree),
        cmocka_unit_test(lattice_is_kept),
        cmocka_unit_test(shortcuts_lose_nothing),
        cmocka_unit_test(random_histories_are_mixed),
        cmocka_unit_test(shrinking_keeps_the_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
