/* Which runs an entry of the library of known bugs is about. */
#include "tests/unit/cmocka_first.h"

#include "run/plan/reproduction.h"

static const char *const isolations[] = {"serializable", "repeatable-read"};
static const char *const versions[] = {"15", "14.3"};
static const struct rig_reproduction entry = {
    .driver = "postgres", .isolation = {isolations, 2}, .versions = {versions, 2}};

static void about(const char *driver, const char *isolation, const char *server, bool is_about, bool is_unsure)
{
    const struct rig_reproduction_run run = {driver, isolation, server};
    struct rig_buf why_not;
    bool unsure = false;
    rig_buf_init(&why_not, 0);
    assert_int_equal(rig_reproduction_is_about(&entry, &run, &unsure, &why_not), is_about);
    assert_int_equal(unsure, is_unsure);
    assert_int_equal(why_not.size == 0, is_about);
    rig_buf_done(&why_not);
}

static void what_is_known_has_to_match(void **state)
{
    (void)state;
    about("postgres", "serializable", "PostgreSQL 15.20 (Debian 15.20-1)", true, false);
    about("postgres", "repeatable-read", "PostgreSQL 14.3", true, false);
    about("mysql", "serializable", "PostgreSQL 15.20", false, false);
    about("postgres", "read-committed", "PostgreSQL 15.20", false, false);
    about("postgres", "serializable", "PostgreSQL 14.30", false, false);
    about("postgres", "serializable", "PostgreSQL 14", false, false);
    about("postgres", "serializable", "PostgreSQL 150.1", false, false);
    about("postgres", "serializable", "PostgreSQL 1", false, false);
}

static void what_is_not_known_is_said(void **state)
{
    (void)state;
    about(NULL, NULL, NULL, true, true);
    about("", "", "", true, true);
    about("postgres", "serializable", "PostgreSQL", true, true);
    about("mysql", NULL, NULL, false, false);
    about("postgres", "serializable", NULL, true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_known_has_to_match),
                                       cmocka_unit_test(what_is_not_known_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
