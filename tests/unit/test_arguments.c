#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"

static const struct rig_argument options[] = {
    {.name = "seed", .value = "N", .help = "h"},
    {.name = "set", .value = "A.B=C", .repeatable = true, .help = "h"},
    {.name = "output", .letter = 'o', .value = "DIR", .help = "h"},
    {.name = "quiet", .letter = 'q', .help = "h"},
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table table = {
    .command = "try",
    .positionals = "IN OUT",
    .least_positionals = 1,
    .most_positionals = 2,
    .description = "d\n",
    .arguments = options,
};

/* Splits `line` at blanks and parses it. */
static int parse(const char *line, struct rig_arguments *arguments)
{
    static char words[512];
    static char *argv[32];
    int argc = 0;
    (void)snprintf(words, sizeof words, "try %s", line);
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    argv[argc] = NULL;
    return rig_arguments_parse(&table, argc, argv, arguments);
}

static void every_form_is_read(void **state)
{
    (void)state;
    struct rig_arguments arguments;
    assert_int_equal(parse("in --seed 7 --set=a.b=c out --set d=e -o dir -q --format json", &arguments),
                     RIG_ARGUMENTS_GO_ON);
    assert_string_equal(rig_arguments_value(&arguments, "seed"), "7");
    assert_string_equal(rig_arguments_value_at(&arguments, "set", 0), "a.b=c");
    assert_string_equal(rig_arguments_value_at(&arguments, "set", 1), "d=e");
    assert_null(rig_arguments_value_at(&arguments, "set", 2));
    assert_string_equal(rig_arguments_value(&arguments, "output"), "dir");
    assert_true(rig_arguments_has(&arguments, "quiet"));
    assert_true(rig_arguments_json(&arguments));
    assert_int_equal(arguments.positional_count, 2);
    assert_string_equal(arguments.positionals[1], "out");

    assert_int_equal(parse("-odir --seed= - -- ", &arguments), RIG_ARGUMENTS_GO_ON);
    assert_string_equal(rig_arguments_value(&arguments, "output"), "dir");
    assert_string_equal(rig_arguments_value(&arguments, "seed"), "");
    assert_string_equal(arguments.positionals[0], "-");
    assert_false(rig_arguments_has(&arguments, "quiet"));
    assert_false(rig_arguments_json(&arguments));

    assert_int_equal(parse("-- --seed -o", &arguments), RIG_ARGUMENTS_GO_ON);
    assert_string_equal(arguments.positionals[0], "--seed");
    assert_string_equal(arguments.positionals[1], "-o");
    assert_null(rig_arguments_value(&arguments, "seed"));
}

static void mistakes_are_usage(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "--sed 7 in",
        "in --seed",
        "in -o",
        "in -x",
        "in out more",
        "in --quiet=1",
        "in --seed 1 --seed 2",
        "in --format xml",
        "in -qx",
        "in --",
        "in --=x",
        "in ---seed 1",
        "in -q -q",
        "in --set",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct rig_arguments arguments;
        const int status = parse(lines[i], &arguments);
        if (strcmp(lines[i], "in --") == 0)
            assert_int_equal(status, RIG_ARGUMENTS_GO_ON);
        else
            assert_int_equal(status, RIG_EXIT_USAGE);
    }
}

static void help_wins(void **state)
{
    (void)state;
    struct rig_arguments arguments;
    assert_int_equal(parse("--nonsense --help", &arguments), RIG_EXIT_OK);
    assert_int_equal(parse("-h", &arguments), RIG_EXIT_OK);
    assert_int_equal(parse("-- --help", &arguments), RIG_ARGUMENTS_GO_ON);
}

static void numbers_are_strict(void **state)
{
    (void)state;
    struct rig_arguments arguments;
    uint64_t number = 99;
    assert_int_equal(parse("in", &arguments), RIG_ARGUMENTS_GO_ON);
    assert_true(rig_arguments_number(&arguments, "seed", 1, 10, &number));
    assert_int_equal(number, 99);
    assert_int_equal(parse("in --seed 10", &arguments), RIG_ARGUMENTS_GO_ON);
    assert_true(rig_arguments_number(&arguments, "seed", 1, 10, &number));
    assert_int_equal(number, 10);
    static const char *const bad[] = {
        "in --seed=0",  "in --seed=11", "in --seed=7x",  "in --seed=+7",
        "in --seed=-7", "in --seed=",   "in --seed=0x7", "in --seed=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(parse(bad[i], &arguments), RIG_ARGUMENTS_GO_ON);
        assert_false(rig_arguments_number(&arguments, "seed", 1, 10, &number));
        assert_int_equal(number, 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read),
        cmocka_unit_test(mistakes_are_usage),
        cmocka_unit_test(help_wins),
        cmocka_unit_test(numbers_are_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
