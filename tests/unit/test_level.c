#include "tests/unit/cmocka_first.h"

#include "checker/model/level.h"

#define L(id) RIG_LEVEL_BIT(RIG_LEVEL_##id)

static void check_closed(enum rig_lattice lattice)
{
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        const struct rig_level_info *info = rig_level_info_in(lattice, (enum rig_level)i);
        assert_true(info->below & RIG_LEVEL_BIT(i));
        assert_true(info->above & RIG_LEVEL_BIT(i));
        for (unsigned j = 0; j < RIG_LEVEL_COUNT; j++) {
            const struct rig_level_info *other = rig_level_info_in(lattice, (enum rig_level)j);
            assert_int_equal((info->below >> j) & 1, (other->above >> i) & 1);
            if (info->below & RIG_LEVEL_BIT(j)) {
                assert_int_equal(other->below & ~info->below, 0);
                assert_true((other->forbids & ~info->forbids) == 0);
            }
        }
    }
}

static void implication_is_closed(void **state)
{
    (void)state;
    for (unsigned lattice = 0; lattice < RIG_LATTICE_COUNT; lattice++)
        check_closed((enum rig_lattice)lattice);
}

static void strict_serializable_is_the_top(void **state)
{
    (void)state;
    const enum rig_lattice reference = RIG_LATTICE_REFERENCE;
    uint64_t all = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1;
    assert_int_equal(rig_level_info(RIG_LEVEL_STRICT_SERIALIZABLE)->below, all);
    assert_int_equal(rig_levels_strongest(all), L(STRICT_SERIALIZABLE));
    assert_int_equal(rig_levels_weakest(all), L(READ_UNCOMMITTED));
    assert_int_equal(rig_levels_weakest_in(reference, all), L(READ_UNCOMMITTED) | L(VIEW_SERIALIZABLE));
}

static void known_implications_stand(void **state)
{
    (void)state;
    assert_true(rig_level_info(RIG_LEVEL_SNAPSHOT_ISOLATION)->below & L(CONSISTENT_VIEW));
    assert_false(rig_level_info(RIG_LEVEL_SNAPSHOT_ISOLATION)->below & L(REPEATABLE_READ));
    assert_false(rig_level_info(RIG_LEVEL_REPEATABLE_READ)->below & L(SNAPSHOT_ISOLATION));
    assert_true(rig_level_info(RIG_LEVEL_SERIALIZABLE)->below & L(REPEATABLE_READ));
    assert_int_equal(rig_levels_weakest(L(SNAPSHOT_ISOLATION) | L(SERIALIZABLE) | L(REPEATABLE_READ)),
                     L(SNAPSHOT_ISOLATION) | L(REPEATABLE_READ));
}

/* Each form implies the weaker forms of its level, and the same form of what the plain level implies. */
static void forms_imply_weaker_ones(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        const enum rig_level level = (enum rig_level)i;
        /* Forward consistent view and view serializable have no forms of their own. */
        if (rig_level_along(level) != RIG_ALONG_PLAIN ||
            rig_level_form(rig_level_form(level, RIG_ALONG_PROCESS), RIG_ALONG_PLAIN) != level)
            continue;
        for (unsigned j = 0; j < RIG_LEVEL_COUNT; j++) {
            const enum rig_level other = (enum rig_level)j;
            if (rig_level_along(other) != RIG_ALONG_PLAIN || (rig_level_info(level)->below & RIG_LEVEL_BIT(j)) == 0)
                continue;
            for (unsigned one = 0; one < RIG_ALONG_COUNT; one++) {
                for (unsigned weaker = 0; weaker <= one; weaker++) {
                    const enum rig_level form = rig_level_form(level, (enum rig_along)one);
                    assert_true(rig_level_info(form)->below &
                                RIG_LEVEL_BIT(rig_level_form(other, (enum rig_along)weaker)));
                }
            }
        }
    }
    assert_int_equal(rig_level_form(RIG_LEVEL_STRICT_SERIALIZABLE, RIG_ALONG_PLAIN), RIG_LEVEL_SERIALIZABLE);
    assert_int_equal(rig_level_form(RIG_LEVEL_FORWARD_CONSISTENT_VIEW, RIG_ALONG_PROCESS),
                     RIG_LEVEL_STRONG_SESSION_CONSISTENT_VIEW);
    assert_false(rig_level_info(RIG_LEVEL_READ_ATOMIC)->below & L(STRONG_SESSION_READ_ATOMIC));
    assert_false(rig_level_info(RIG_LEVEL_SERIALIZABLE)->below & L(STRONG_SESSION_READ_ATOMIC));
}

static void reference_has_forms_of_four_levels(void **state)
{
    (void)state;
    const uint64_t levels = rig_levels_of_reference();
    assert_int_equal(levels & rig_levels_along(RIG_ALONG_PROCESS),
                     L(STRONG_SESSION_READ_UNCOMMITTED) | L(STRONG_SESSION_READ_COMMITTED) |
                         L(STRONG_SESSION_SNAPSHOT_ISOLATION) | L(STRONG_SESSION_SERIALIZABLE));
    assert_int_equal(levels & rig_levels_along(RIG_ALONG_REALTIME),
                     L(STRONG_READ_UNCOMMITTED) | L(STRONG_READ_COMMITTED) | L(STRONG_SNAPSHOT_ISOLATION) |
                         L(STRICT_SERIALIZABLE));
    assert_int_equal(~levels & rig_levels_along(RIG_ALONG_PLAIN), 0);
}

/* Missing in the reference's lattice. */
static void definitions_imply_more(void **state)
{
    (void)state;
    static const enum rig_level pairs[][2] = {
        {RIG_LEVEL_MONOTONIC_VIEW, RIG_LEVEL_MONOTONIC_ATOMIC_VIEW},
        {RIG_LEVEL_MONOTONIC_SNAPSHOT_READ, RIG_LEVEL_MONOTONIC_VIEW},
        {RIG_LEVEL_UPDATE_ATOMIC, RIG_LEVEL_CURSOR_STABILITY},
        {RIG_LEVEL_PARALLEL_SNAPSHOT_ISOLATION, RIG_LEVEL_CONSISTENT_VIEW},
        {RIG_LEVEL_VIEW_SERIALIZABLE, RIG_LEVEL_SNAPSHOT_ISOLATION},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const uint64_t below = RIG_LEVEL_BIT(pairs[i][1]);
        assert_true(rig_level_info(pairs[i][0])->below & below);
        assert_false(rig_level_info_in(RIG_LATTICE_REFERENCE, pairs[i][0])->below & below);
    }
}

static uint64_t weakest_that_forbid(enum rig_lattice lattice, enum rig_anomaly anomaly)
{
    return rig_levels_weakest_in(lattice, rig_levels_refuted_by(lattice, anomaly, true));
}

static void anomalies_refute_from_the_right_level_up(void **state)
{
    (void)state;
    static const struct {
        enum rig_anomaly anomaly;
        uint64_t weakest, weakest_of_reference;
    } rows[] = {
        {RIG_ANOMALY_G0, L(READ_UNCOMMITTED), L(READ_UNCOMMITTED)},
        {RIG_ANOMALY_G1A, L(READ_COMMITTED), L(READ_COMMITTED)},
        {RIG_ANOMALY_G1C, L(READ_COMMITTED), L(READ_COMMITTED)},
        {RIG_ANOMALY_INTERNAL, L(READ_ATOMIC) | L(REPEATABLE_READ), L(READ_ATOMIC) | L(REPEATABLE_READ)},
        {RIG_ANOMALY_LOST_UPDATE, L(CURSOR_STABILITY), L(CURSOR_STABILITY) | L(UPDATE_ATOMIC)},
        {RIG_ANOMALY_G_SINGLE, L(CONSISTENT_VIEW) | L(REPEATABLE_READ), L(CONSISTENT_VIEW) | L(REPEATABLE_READ)},
        {RIG_ANOMALY_G_NONADJACENT, L(SNAPSHOT_ISOLATION) | L(REPEATABLE_READ),
         L(SNAPSHOT_ISOLATION) | L(REPEATABLE_READ)},
        {RIG_ANOMALY_G2_ITEM, L(REPEATABLE_READ), L(REPEATABLE_READ)},
        {RIG_ANOMALY_G_SINGLE_PROCESS, L(STRONG_SESSION_CONSISTENT_VIEW) | L(STRONG_SESSION_REPEATABLE_READ),
         L(STRONG_SESSION_SNAPSHOT_ISOLATION)},
        {RIG_ANOMALY_G2_ITEM_REALTIME, L(STRONG_REPEATABLE_READ), L(STRICT_SERIALIZABLE)},
        {RIG_ANOMALY_LOST_APPEND, L(STRONG_MONOTONIC_ATOMIC_VIEW), L(STRONG_SNAPSHOT_ISOLATION)},
        {RIG_ANOMALY_LOST_WRITE, L(STRONG_CONSISTENT_VIEW), 0},
        {RIG_ANOMALY_INCONSISTENT_OFFSETS, L(READ_COMMITTED), L(READ_COMMITTED)},
        {RIG_ANOMALY_INT_NONMONOTONIC_POLL, L(READ_ATOMIC) | L(REPEATABLE_READ), L(READ_ATOMIC) | L(REPEATABLE_READ)},
        {RIG_ANOMALY_POLL_SKIP,
         L(STRONG_SESSION_CONSISTENT_VIEW) | L(STRONG_SESSION_MONOTONIC_SNAPSHOT_READ) | L(STRONG_SESSION_PREFIX) |
             L(STRONG_SESSION_REPEATABLE_READ),
         L(STRONG_SESSION_SNAPSHOT_ISOLATION)},
        {RIG_ANOMALY_CYCLIC_VERSIONS, 0, L(READ_UNCOMMITTED)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(weakest_that_forbid(RIG_LATTICE_EXACT, rows[i].anomaly), rows[i].weakest);
        assert_int_equal(weakest_that_forbid(RIG_LATTICE_REFERENCE, rows[i].anomaly), rows[i].weakest_of_reference);
    }
}

/* An assumption that does not hold, and an order that the database claims, refute nothing but themselves; a cycle of
 * levels of their own refutes no level of all transactions. */
static void every_anomaly_is_forbidden_somewhere(void **state)
{
    (void)state;
    const rig_anomaly_set claims = RIG_ANOMALY_BIT(RIG_ANOMALY_ORDER_MISMATCH) | RIG_ANOMALY_BIT(RIG_ANOMALY_G_SIA) |
                                   RIG_ANOMALY_BIT(RIG_ANOMALY_G_SIB) | RIG_ANOMALY_BIT(RIG_ANOMALY_STALE_SNAPSHOT) |
                                   RIG_ANOMALY_BIT(RIG_ANOMALY_G_MIXED);
    const rig_anomaly_set all = RIG_ANOMALIES_ALL & ~claims;
    const enum rig_level top = RIG_LEVEL_STRICT_SERIALIZABLE;
    assert_true(rig_level_info(top)->forbids == (all & ~RIG_ANOMALY_BIT(RIG_ANOMALY_CYCLIC_VERSIONS)));
    assert_true(rig_level_info_in(RIG_LATTICE_REFERENCE, top)->forbids ==
                (all & ~RIG_ANOMALY_BIT(RIG_ANOMALY_LOST_WRITE)));
}

static void names_and_aliases_are_found(void **state)
{
    (void)state;
    enum rig_level level;
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        assert_true(rig_level_find(rig_level_info((enum rig_level)i)->name, &level));
        assert_int_equal(level, i);
    }
    const char *alias;
    uint32_t count = 0;
    for (; rig_level_alias(count, &alias, &level); count++) {
        enum rig_level found;
        assert_true(rig_level_find(alias, &found));
        assert_int_equal(found, level);
    }
    assert_true(count > 10);
    assert_true(rig_level_find("READ COMMITTED", &level));
    assert_int_equal(level, RIG_LEVEL_READ_COMMITTED);
    assert_true(rig_level_find("Snapshot_Isolation", &level));
    assert_int_equal(level, RIG_LEVEL_SNAPSHOT_ISOLATION);
    assert_true(rig_level_find("sser", &level));
    assert_int_equal(level, RIG_LEVEL_STRICT_SERIALIZABLE);
    assert_false(rig_level_find("SS", &level));
    assert_false(rig_level_find("", &level));
    assert_false(rig_level_find("read-committed-", &level));
    assert_false(rig_level_find("serialisable", &level));
    rig_anomaly_set anomalies;
    const char *proper;
    for (unsigned i = 0; i < RIG_ANOMALY_COUNT; i++) {
        assert_true(rig_anomaly_find_all(rig_anomaly_info((enum rig_anomaly)i)->name, &anomalies, &proper));
        assert_true(anomalies == RIG_ANOMALY_BIT(i));
    }
    assert_false(rig_anomaly_find_all("G3", &anomalies, &proper));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(implication_is_closed),
        cmocka_unit_test(strict_serializable_is_the_top),
        cmocka_unit_test(known_implications_stand),
        cmocka_unit_test(forms_imply_weaker_ones),
        cmocka_unit_test(reference_has_forms_of_four_levels),
        cmocka_unit_test(definitions_imply_more),
        cmocka_unit_test(anomalies_refute_from_the_right_level_up),
        cmocka_unit_test(every_anomaly_is_forbidden_somewhere),
        cmocka_unit_test(names_and_aliases_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
