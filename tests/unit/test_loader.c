/* drivers/loader.h; DRIVER_FOLDER is the folder of the drivers with one fault each. */
#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/loader.h"

static void assert_refused(const char *name, const char *expected)
{
    const struct rig_driver *driver = NULL;
    struct rig_err err = {0};
    assert_int_equal(rig_driver_load(name, &driver, &err), RIG_E_DRIVER);
    assert_int_equal(err.rc, RIG_E_DRIVER);
    assert_string_equal(err.text, expected);
    assert_null(driver);
}

static void built_in_drivers_are_found(void **state)
{
    (void)state;
    static const char *const names[] = {"null", "sim"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct rig_driver *driver = NULL;
        struct rig_err err = {0};
        assert_int_equal(rig_driver_load(names[i], &driver, &err), RIG_OK);
        assert_string_equal(driver->name, names[i]);
    }
}

static void shared_object_is_found_in_the_path(void **state)
{
    (void)state;
    const struct rig_driver *driver = NULL, *again = NULL;
    struct rig_err err = {0};
    assert_int_equal(rig_driver_load("sound", &driver, &err), RIG_OK);
    assert_string_equal(driver->name, "sound");
    assert_int_equal(rig_driver_load("sound", &again, &err), RIG_OK);
    assert_ptr_equal(driver, again);
}

static void wrong_abi_is_refused(void **state)
{
    (void)state;
    char expected[512];
    (void)snprintf(expected, sizeof expected,
                   DRIVER_FOLDER
                   "/rig-driver-abi.so: built for driver ABI %u, this rig has ABI %u; build the driver again "
                   "with the headers of this rig",
                   RIG_DRIVER_ABI + 1, RIG_DRIVER_ABI);
    assert_refused("abi", expected);
}

static void wrong_size_is_refused(void **state)
{
    (void)state;
    char expected[1024];
    (void)snprintf(expected, sizeof expected,
                   "%s/rig-driver-size.so: its struct rig_driver has %zu bytes, this rig's has %zu; build the driver "
                   "again with the headers of this rig",
                   DRIVER_FOLDER, sizeof(struct rig_driver) - 8, sizeof(struct rig_driver));
    assert_refused("size", expected);
}

static void missing_hook_is_refused(void **state)
{
    (void)state;
    assert_refused("hook", DRIVER_FOLDER "/rig-driver-hook.so: the required hook `interrupt` is missing");
}

static void missing_symbol_is_refused(void **state)
{
    (void)state;
    assert_refused("symbol",
                   DRIVER_FOLDER "/rig-driver-symbol.so: exports no `rig_driver`, so it is not a driver of rig");
}

static void other_name_is_refused(void **state)
{
    (void)state;
    assert_refused("name", DRIVER_FOLDER
                   "/rig-driver-name.so: holds the driver `another`; name the file rig-driver-another.so");
}

/* The whole text depends on the binary's folder; it must name the file, the built-in drivers and the folder. */
static void missing_file_names_every_place(void **state)
{
    (void)state;
    char folder[4096];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    assert_true(length > 0);
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    char expected[8192];
    (void)snprintf(
        expected, sizeof expected,
        "no driver `absent`: it is not built in (null, sim), and there is no rig-driver-absent.so in %s, %s, %s; "
        "RIG_DRIVER_PATH names further folders",
        folder, DRIVER_FOLDER, LIBRARY_FOLDER);
    assert_refused("absent", expected);
}

static void text_file_is_refused(void **state)
{
    (void)state;
    char folder[] = "/tmp/rig-load-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[256], search[4096], expected[1024];
    (void)snprintf(path, sizeof path, "%s/rig-driver-text.so", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 100; i++)
        (void)fputs("this is a text and no shared object\n", file);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(search, sizeof search, "%s:%s", folder, DRIVER_FOLDER);
    assert_int_equal(setenv("RIG_DRIVER_PATH", search, 1), 0);
    (void)snprintf(expected, sizeof expected, "cannot load driver `text`: %s: invalid ELF header", path);
    assert_refused("text", expected);
    assert_int_equal(setenv("RIG_DRIVER_PATH", DRIVER_FOLDER, 1), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void names_that_lead_elsewhere_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"../sound", "a/b", "", "a.b", "a123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char expected[256];
        (void)snprintf(expected, sizeof expected,
                       "`%s` is not a driver's name: expected 1 to 32 letters, digits, `-` and `_`", names[i]);
        assert_refused(names[i], expected);
    }
}

struct listing {
    char text[4096];
};

static void note(void *context, const char *name, const struct rig_driver *driver, const char *problem)
{
    struct listing *listing = context;
    size_t used = strlen(listing->text);
    assert_true((driver == NULL) == (problem != NULL));
    (void)snprintf(listing->text + used, sizeof listing->text - used, "%s%s ", name, driver == NULL ? "!" : "");
}

static void every_driver_is_listed_once_by_name(void **state)
{
    (void)state;
    struct listing listing = {0};
    assert_int_equal(setenv("RIG_DRIVER_PATH", DRIVER_FOLDER ":" DRIVER_FOLDER "/", 1), 0);
    rig_driver_each(note, &listing);
    assert_int_equal(setenv("RIG_DRIVER_PATH", DRIVER_FOLDER, 1), 0);
    assert_string_equal(listing.text, "abi! hook! name! null sim size! sound symbol! ");
}

static void drivers_of_this_rig_have_packages(void **state)
{
    (void)state;
    assert_true(rig_driver_has_package("exec"));
    assert_false(rig_driver_has_package("sim"));
    assert_false(rig_driver_has_package("skeleton"));
    assert_false(rig_driver_has_package(""));
    assert_false(rig_driver_has_package(","));
}

int main(void)
{
    if (setenv("RIG_DRIVER_PATH", DRIVER_FOLDER, 1) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_drivers_are_found),
        cmocka_unit_test(shared_object_is_found_in_the_path),
        cmocka_unit_test(wrong_abi_is_refused),
        cmocka_unit_test(wrong_size_is_refused),
        cmocka_unit_test(missing_hook_is_refused),
        cmocka_unit_test(missing_symbol_is_refused),
        cmocka_unit_test(other_name_is_refused),
        cmocka_unit_test(missing_file_names_every_place),
        cmocka_unit_test(text_file_is_refused),
        cmocka_unit_test(names_that_lead_elsewhere_are_refused),
        cmocka_unit_test(every_driver_is_listed_once_by_name),
        cmocka_unit_test(drivers_of_this_rig_have_packages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
