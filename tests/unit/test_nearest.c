#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/nearest.h"

static const char *const names[] = {"serializable", "snapshot-isolation", "read-committed", "count", "rate", "x", NULL};

static void near_names_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *wanted, *near;
    } cases[] = {
        {"seralizable", "serializable"},
        {"SERIALIZABLE", "serializable"},
        {"serialisable", "serializable"},
        {"snapshot_isolation", "snapshot-isolation"},
        {"read-comitted", "read-committed"},
        {"cuont", "count"},
        {"count", "count"},
        {"rat", "rate"},
        {"ratee", "rate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(rig_nearest_of(cases[i].wanted, names), cases[i].near);
}

static void far_names_are_not(void **state)
{
    (void)state;
    static const char *const wanted[] = {"",
                                         "chaos",
                                         "y",
                                         "zz",
                                         "committed",
                                         "a-name-that-is-like-none-of-them",
                                         "serializableserializableserializableserializableserializableserializable"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_null(rig_nearest_of(wanted[i], names));
}

static void first_of_equals_wins(void **state)
{
    (void)state;
    static const char *const equals[] = {"abcd", "abce", NULL};
    assert_string_equal(rig_nearest_of("abcf", equals), "abcd");
}

/* Against the plain recursive definition, on short words. */
static size_t slow_distance(const char *a, size_t m, const char *b, size_t n)
{
    if (m == 0 || n == 0)
        return m + n;
    size_t best = slow_distance(a, m - 1, b, n) + 1;
    const size_t insertion = slow_distance(a, m, b, n - 1) + 1;
    const size_t change = slow_distance(a, m - 1, b, n - 1) + (a[m - 1] == b[n - 1] ? 0 : 1);
    best = insertion < best ? insertion : best;
    best = change < best ? change : best;
    if (m > 1 && n > 1 && a[m - 1] == b[n - 2] && a[m - 2] == b[n - 1]) {
        const size_t swap = slow_distance(a, m - 2, b, n - 2) + 1;
        best = swap < best ? swap : best;
    }
    return best;
}

static void distance_is_the_definition(void **state)
{
    (void)state;
    /* Every word of up to 4 letters over {a, b} against one of 5. */
    for (unsigned code = 1; code < 32; code++) {
        char word[8] = "";
        size_t length = 0;
        for (unsigned rest = code; rest > 1; rest >>= 1)
            word[length++] = (rest & 1) == 0 ? 'a' : 'b';
        word[length] = '\0';
        if (length == 0)
            continue;
        struct rig_nearest nearest;
        rig_nearest_init(&nearest, word);
        rig_nearest_offer(&nearest, "abaabb");
        const size_t distance = slow_distance(word, length, "abaabb", 6);
        if (distance <= 2)
            assert_int_equal(nearest.best_distance, distance);
        else
            assert_null(nearest.best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_names_are_found),
        cmocka_unit_test(far_names_are_not),
        cmocka_unit_test(first_of_equals_wins),
        cmocka_unit_test(distance_is_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
