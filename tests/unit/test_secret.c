#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <string.h>

#include "base/secret.h"

static void assert_redacted(const char *before, const char *after)
{
    char text[256];
    (void)snprintf(text, sizeof text, "%s", before);
    rig_secret_redact(text, sizeof text);
    assert_string_equal(text, after);
}

static int forget(void **state)
{
    (void)state;
    rig_secret_forget();
    return 0;
}

static void every_occurrence_is_masked(void **state)
{
    (void)state;
    rig_secret_register("hunter2");
    assert_redacted("hunter2", "***");
    assert_redacted("password=hunter2 again hunter2hunter2.", "password=*** again ******.");
    assert_redacted("hunter", "hunter");
    assert_redacted("", "");
}

static void short_texts_are_not_secrets(void **state)
{
    (void)state;
    rig_secret_register(NULL);
    rig_secret_register("");
    rig_secret_register("abc");
    assert_redacted("abcabc", "abcabc");
    rig_secret_register("abcd");
    assert_redacted("abcabcd", "abc***");
}

/* Whichever was registered first, a part of a secret must not leave the rest of it readable. */
static void secret_inside_another(void **state)
{
    (void)state;
    rig_secret_register("pass");
    rig_secret_register("passphrase");
    rig_secret_register("hras");
    assert_redacted("passphrase pass", "*** ***");
}

static void registering_twice_takes_one_place(void **state)
{
    (void)state;
    char name[32];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < RIG_SECRET_MAX; i++) {
            (void)snprintf(name, sizeof name, "secret-%02d", i);
            rig_secret_register(name);
        }
    }
    assert_redacted("secret-00, secret-63", "***, ***");
}

static void forgotten_is_shown(void **state)
{
    (void)state;
    rig_secret_register("hunter2");
    rig_secret_forget();
    assert_redacted("hunter2", "hunter2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_occurrence_is_masked, forget),
        cmocka_unit_test_teardown(short_texts_are_not_secrets, forget),
        cmocka_unit_test_teardown(secret_inside_another, forget),
        cmocka_unit_test_teardown(registering_twice_takes_one_place, forget),
        cmocka_unit_test_teardown(forgotten_is_shown, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
