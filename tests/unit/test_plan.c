#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "base/option_parse.h"
#include "base/secret.h"
#include "checker/model/anomaly.h"
#include "checker/model/level.h"
#include "run/plan/plan.h"
#include "tests/unit/forget_secrets.h"

static const char small[] = "name: small\n"
                            "workload: {transactions: 100}\n"
                            "database: {driver: plantest}\n";

static int prepare(void **state)
{
    (void)state;
    return setenv("RIG_DRIVER_PATH", PLAN_DRIVERS, 1);
}

static int forget(void **state)
{
    (void)state;
    forget_secrets();
    return 0;
}

/* -- helpers ------------------------------------------------------------------------------------------------------- */

static struct rig_plan *parse_with(const char *text, const char *const *sets, size_t set_count, const uint64_t *seed)
{
    struct rig_plan_override overrides[16];
    assert_true(set_count <= 16);
    for (size_t i = 0; i < set_count; i++)
        overrides[i].text = sets[i];
    struct rig_plan *plan = NULL;
    struct rig_err err = {0};
    if (rig_plan_parse(&(struct rig_plan_text){"plan.yaml", text, strlen(text)}, overrides, set_count, seed, &plan,
                       &err) != RIG_OK)
        fail_msg("%s", err.text);
    return plan;
}

static struct rig_plan *parse(const char *text)
{
    return parse_with(text, NULL, 0, NULL);
}

static void assert_refused(const char *text, const char *message)
{
    struct rig_plan *plan = NULL;
    struct rig_err err = {0};
    assert_int_equal(
        rig_plan_parse(&(struct rig_plan_text){"plan.yaml", text, strlen(text)}, NULL, 0, NULL, &plan, &err),
        RIG_E_PLAN);
    assert_string_equal(err.text, message);
    assert_null(plan);
}

/* The value of the driver's option, as a person writes it. */
static char *driver_value(const struct rig_plan *plan, const char *name)
{
    const struct rig_option *option = rig_option_find(plan->driver->options, name);
    assert_non_null(option);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_option_format(option, plan->driver_options, &out);
    char *value = strdup(rig_buf_text(&out));
    assert_non_null(value);
    rig_buf_done(&out);
    return value;
}

static void assert_driver_value(const struct rig_plan *plan, const char *name, const char *expected)
{
    char *value = driver_value(plan, name);
    assert_string_equal(value, expected);
    free(value);
}

static char *written(const struct rig_plan *plan, bool with_help)
{
    struct rig_buf yaml;
    rig_buf_init(&yaml, 0);
    rig_plan_write(plan, with_help, &yaml);
    char *text = strdup(rig_buf_text(&yaml));
    assert_non_null(text);
    rig_buf_done(&yaml);
    return text;
}

/* -- the contents of a plan ---------------------------------------------------------------------------------------- */

static void defaults_are_filled(void **state)
{
    (void)state;
    struct rig_plan *plan = parse(small);
    assert_string_equal(plan->name, "small");
    assert_string_equal(plan->path, "plan.yaml");
    assert_string_equal(plan->store, "store");
    assert_false(plan->seed_given);
    assert_int_equal(plan->workload.type, RIG_WORKLOAD_LIST_APPEND);
    assert_int_equal(plan->workload.transactions, 100);
    assert_int_equal(plan->workload.duration_ns, 0);
    assert_int_equal(plan->workload.min_operations, 1);
    assert_int_equal(plan->workload.max_operations, 5);
    assert_true(plan->workload.reads == 0.5);
    assert_int_equal(plan->workload.active_keys, 10);
    assert_int_equal(plan->workload.key_distribution, RIG_KEYS_EXPONENTIAL);
    assert_int_equal(plan->workload.appends_per_key, 128);
    assert_int_equal(plan->workload.final_reads, RIG_FINAL_CLOSING);
    assert_int_equal(plan->clients.count, 16);
    assert_true(plan->clients.rate == 0);
    assert_int_equal(plan->clients.backoff_ns, 10000000);
    assert_int_equal(plan->check.levels, RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE));
    assert_int_equal(plan->check.anomalies, 0);
    assert_int_equal(plan->check.max_witnesses, 8);
    assert_false(plan->check.online);
    assert_int_equal(plan->check.stop_on, RIG_STOP_ON_NOTHING);
    assert_int_equal(plan->reports, 15);
    assert_string_equal(plan->driver->name, "plantest");
    assert_driver_value(plan, "cluster.local.nodes", "1");
    assert_driver_value(plan, "cluster.start-timeout", "30s");
    rig_plan_free(plan);
    rig_plan_free(NULL);
}

static const char full[] = "check: {max-witnesses: 3, anomalies: [G1a, G0], levels: [PL-SI, serializable],\n"
                           "        online: true, stop-on: anomaly}\n"
                           "report: [junit, text]\n"
                           "database:\n"
                           "  cluster:\n"
                           "    local: {memory: 1.5GiB, nodes: 3}\n"
                           "    start-timeout: 90s\n"
                           "  isolation: repeatable-read\n"
                           "  conninfo: \"host=/tmp x='a b' \\u00e4 \\\" \\\\ \\t #: $$HOME $1\"\n"
                           "  pipeline: false\n"
                           "  driver: plantest\n"
                           "clients: {rate: 1500/s, count: 3, stop-grace: 0s, reconnect: {max-pause: 5m}}\n"
                           "seed: 9007199254740993\n"
                           "workload:\n"
                           "  keys: {zipf-exponent: 1.25, distribution: zipf, active: 3, appends-per-key: 9}\n"
                           "  operations: {max: 9, min: 2}\n"
                           "  reads: 12.5%\n"
                           "  final-reads: none\n"
                           "  duration: 1500ms\n"
                           "name: full\n"
                           "store: \"null\"\n";

static void everything_can_be_said(void **state)
{
    (void)state;
    struct rig_plan *plan = parse(full);
    assert_true(plan->seed_given);
    assert_int_equal(plan->seed, INT64_C(9007199254740993));
    assert_string_equal(plan->store, "null");
    assert_int_equal(plan->check.levels,
                     RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION) | RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE));
    assert_int_equal(plan->check.anomalies, RIG_ANOMALY_BIT(RIG_ANOMALY_G1A) | RIG_ANOMALY_BIT(RIG_ANOMALY_G0));
    assert_int_equal(plan->check.max_witnesses, 3);
    assert_true(plan->check.online);
    assert_int_equal(plan->check.stop_on, RIG_STOP_ON_ANOMALY);
    assert_int_equal(plan->workload.final_reads, RIG_FINAL_NONE);
    assert_int_equal(plan->reports, 1U << RIG_REPORT_JUNIT | 1U << RIG_REPORT_TEXT);
    assert_int_equal(plan->workload.duration_ns, 1500000000);
    assert_int_equal(plan->workload.transactions, 0);
    assert_true(plan->workload.reads == 0.125);
    assert_int_equal(plan->workload.key_distribution, RIG_KEYS_ZIPF);
    assert_true(plan->workload.zipf_exponent == 1.25);
    assert_true(plan->clients.rate == 1500);
    assert_int_equal(plan->clients.stop_grace_ns, 0);
    assert_driver_value(plan, "cluster.local.memory", "1536MiB");
    assert_driver_value(plan, "conninfo", "host=/tmp x='a b' \xc3\xa4 \" \\ \t #: $HOME $1");
    assert_driver_value(plan, "pipeline", "false");
    rig_plan_free(plan);
}

static void order_of_keys_does_not_matter(void **state)
{
    (void)state;
    const uint64_t seed = 7;
    struct rig_plan *one = parse_with("name: n\n"
                                      "workload: {transactions: 5, keys: {active: 2}}\n"
                                      "database: {driver: plantest, hosts: [a, b], isolation: repeatable-read}\n"
                                      "clients: {count: 2}\n",
                                      NULL, 0, &seed);
    struct rig_plan *other = parse_with("clients: {count: 2}\n"
                                        "database: {isolation: repeatable-read, hosts: [a, b], driver: plantest}\n"
                                        "workload: {keys: {active: 2}, transactions: 5}\n"
                                        "name: n\n",
                                        NULL, 0, &seed);
    char *one_text = written(one, false);
    char *other_text = written(other, false);
    assert_string_equal(one_text, other_text);
    free(one_text);
    free(other_text);
    rig_plan_free(one);
    rig_plan_free(other);
}

/* A phase inherits from the sections; the load has as many clients as the phase with most. */
static void phases_inherit(void **state)
{
    (void)state;
    struct rig_plan *plan = parse("name: p\nworkload: {reads: 20%, keys: {active: 7}}\ndatabase: {driver: plantest}\n"
                                  "clients: {count: 4, rate: 100, stop-grace: 3s}\nphases:\n"
                                  "  - {name: a, duration: 1s}\n"
                                  "  - {name: b, transactions: 9, reads: 10%, clients: {count: 9, rate: unlimited}}\n");
    assert_int_equal(rig_plan_phases(plan), 2);
    const struct rig_generator_options *a = rig_plan_workload(plan, 0), *b = rig_plan_workload(plan, 1);
    assert_true(a->reads == 0.2 && b->reads == 0.1 && a->active_keys == 7 && b->active_keys == 7);
    assert_int_equal(a->duration_ns, 1000000000);
    assert_int_equal(a->transactions, 0);
    assert_int_equal(b->transactions, 9);
    assert_true(rig_plan_clients(plan, 0)->rate == 100 && rig_plan_clients(plan, 1)->rate == 0);
    assert_int_equal(rig_plan_clients(plan, 0)->count, 4);
    assert_int_equal(rig_plan_clients(plan, 1)->count, 9);
    assert_int_equal(rig_plan_clients(plan, 1)->stop_grace_ns, 3000000000);
    assert_int_equal(plan->clients.count, 9);
    rig_plan_free(plan);
}

/* The resolved plan reads back as the same plan. */
static void resolved_plan_reads_back(void **state)
{
    (void)state;
    static const char *const plans[] = {
        small,
        full,
        "name: a.b-c_1\nseed: 0\nreport: []\nworkload: {transactions: 1, duration: 1ms, reads: 0.3333333333333333,\n"
        "  long-transactions: {share: 0.1%, hold: 1us, until-commits: 3}}\ndatabase: {driver: sim}\n",
        "name: phases\nworkload: {operations: {max: 3}}\ndatabase: {driver: sim}\nclients: {count: 4}\nphases:\n"
        "  - {name: a, duration: 1s, clients: {rate: 10}}\n"
        "  - {name: b, transactions: 9, reads: 10%, keys: {active: 3}}\n",
        "name: texts\nworkload: {transactions: 1}\ndatabase: {driver: plantest, conninfo: '',\n"
        "  hosts: ['', '~', 'null', 'a, b', '[x]', '{y}', '#', ' c ', '-', \"\\u2028\\U0001F600\\uFEFF\\x85\\a\"]}\n",
    };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        for (int with_help = 0; with_help < 2; with_help++) {
            struct rig_plan *plan = parse(plans[i]);
            char *first = written(plan, with_help != 0);
            struct rig_plan *again = parse(first);
            char *second = written(again, with_help != 0);
            assert_string_equal(first, second);
            assert_string_equal(plan->name, again->name);
            assert_int_equal(plan->seed, again->seed);
            assert_memory_equal(&plan->workload, &again->workload, sizeof plan->workload);
            assert_memory_equal(&plan->clients, &again->clients, sizeof plan->clients);
            assert_memory_equal(&plan->check, &again->check, sizeof plan->check);
            assert_int_equal(plan->phase_count, again->phase_count);
            for (uint32_t p = 0; p < plan->phase_count; p++) {
                assert_string_equal(plan->phases[p].name, again->phases[p].name);
                assert_memory_equal(&plan->phases[p].workload, &again->phases[p].workload, sizeof plan->workload);
                assert_memory_equal(&plan->phases[p].clients, &again->phases[p].clients, sizeof plan->clients);
            }
            assert_int_equal(plan->reports, again->reports);
            assert_ptr_equal(plan->driver, again->driver);
            for (const struct rig_option *option = plan->driver->options; option->name != NULL; option++) {
                char *value = driver_value(plan, option->name);
                assert_driver_value(again, option->name, value);
                free(value);
            }
            rig_plan_free(plan);
            rig_plan_free(again);
            free(first);
            free(second);
        }
    }
}

/* -- --set and --seed ---------------------------------------------------------------------------------------------- */

static void overrides_win(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "workload.transactions=7",
        "workload.transactions=8", /* the last one */
        "clients.count=2",         /* a section that the file does not have */
        "workload.keys.active=33",
        "check.levels=[serializable,snapshot-isolation]",
        "check.anomalies=G0, G1a",
        "report=",
        "database.conninfo=host=/tmp user=joe",
        "database.hosts=db1:5432,db2:5432",
        "name=other",
    };
    struct rig_plan *plan = parse_with(small, sets, 6, NULL);
    assert_int_equal(plan->workload.transactions, 8);
    assert_int_equal(plan->clients.count, 2);
    assert_int_equal(plan->workload.active_keys, 33);
    assert_int_equal(plan->check.levels,
                     RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION) | RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE));
    assert_int_equal(plan->check.anomalies, RIG_ANOMALY_BIT(RIG_ANOMALY_G1A) | RIG_ANOMALY_BIT(RIG_ANOMALY_G0));
    rig_plan_free(plan);

    plan = parse_with(small, &sets[7], 3, NULL);
    assert_driver_value(plan, "conninfo", "host=/tmp user=joe");
    assert_driver_value(plan, "hosts", "[db1:5432, db2:5432]");
    assert_string_equal(plan->name, "other");
    rig_plan_free(plan);

    /* A wrong value in the file does not matter when it is overridden. */
    static const char *const mend[] = {"workload.transactions=5"};
    plan = parse_with("name: n\nworkload: {transactions: 10x}\ndatabase: {driver: plantest}\n", mend, 1, NULL);
    assert_int_equal(plan->workload.transactions, 5);
    rig_plan_free(plan);
}

static void seeds(void **state)
{
    (void)state;
    const uint64_t seed = 42;
    struct rig_plan *plan = parse_with(full, NULL, 0, &seed);
    assert_int_equal(plan->seed, 42);
    assert_true(plan->seed_given);
    rig_plan_free(plan);

    /* A fresh one differs from run to run (with a chance of 2^-53 that it does not), and stands in the resolved
     * plan. */
    struct rig_plan *one = parse(small);
    struct rig_plan *other = parse(small);
    assert_int_not_equal(one->seed, other->seed);
    char *text = written(one, false);
    plan = parse(text);
    assert_int_equal(plan->seed, one->seed);
    free(text);
    rig_plan_free(plan);
    rig_plan_free(one);
    rig_plan_free(other);

    const uint64_t beyond = (uint64_t)INT64_MAX + 1;
    struct rig_err err = {0};
    assert_int_equal(rig_plan_parse(&(struct rig_plan_text){"p", small, strlen(small)}, NULL, 0, &beyond, &plan, &err),
                     RIG_E_PLAN);
}

/* -- secrets ------------------------------------------------------------------------------------------------------- */

static const char secretive[] = "name: secretive\n"
                                "workload: {transactions: 1}\n"
                                "database:\n"
                                "  driver: plantest\n"
                                "  password: swordfish\n"
                                "  conninfo: host=db1 password=hunter2 user=joe\n"
                                "  hosts: ['postgres://joe:open%20sesame@db1', \"${RIG_TEST_SECRET_URL}\"]\n";

static const char *const secrets[] = {"swordfish", "hunter2", "open%20sesame", "open sesame", "from-the-environment"};

/* The number of the line that begins at the newline of `start`. */
static unsigned line_of(const char *text, const char *start)
{
    const char *end = strstr(text, start);
    assert_non_null(end);
    unsigned line = 2;
    for (; text < end; text++)
        line += *text == '\n';
    return line;
}

static void secrets_are_never_shown(void **state)
{
    (void)state;
    assert_int_equal(setenv("RIG_TEST_SECRET_URL", "http://u:from-the-environment@h", 1), 0);
    struct rig_plan *plan = parse(secretive);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_plan_write(plan, true, &out);
    rig_plan_write_json(plan, &out);
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
        assert_null(strstr(rig_buf_text(&out), secrets[i]));
        char log[128];
        (void)snprintf(log, sizeof log, "the server says: %s", secrets[i]);
        rig_secret_redact(log, sizeof log);
        assert_string_equal(log, "the server says: ***");
    }
    assert_non_null(strstr(rig_buf_text(&out), "conninfo: \"host=db1 password=*** user=joe\""));
    rig_buf_done(&out);
    /* The driver itself gets them. */
    assert_driver_value(plan, "conninfo", "host=db1 password=hunter2 user=joe");
    char *text = written(plan, false);
    char expected[256];
    (void)snprintf(
        expected, sizeof expected,
        "plan.yaml:%u:13: database.conninfo: `***` replaces a secret in a stored plan; give the secret, best "
        "as a variable: `${NAME}`",
        line_of(text, "\n  conninfo: "));
    assert_refused(text, expected);
    free(text);
    rig_plan_free(plan);
}

static void errors_show_no_secret(void **state)
{
    (void)state;
    assert_refused("name: n\nworkload: {transactions: 'password=hunter2'}\n",
                   "plan.yaml:2:26: workload.transactions: expected a whole number, from 1 to 4000000000, not "
                   "`password=***`");
    assert_refused("name: n\n'postgres://u:hunter2@h': 5\n",
                   "plan.yaml:2:1: unknown key `postgres://u:***@h`; expected one of name, seed, report, store, "
                   "record, time-limit, "
                   "workload, clients, database, check, phases, nemesis");
    assert_int_equal(setenv("RIG_TEST_SECRET", "hunter2", 1), 0);
    assert_refused("name: \"${RIG_TEST_SECRET}!\"\nworkload: {transactions: 1}\n"
                   "database: {driver: plantest, password: \"${RIG_TEST_SECRET}\"}\n",
                   "plan.yaml:1:7: name: expected at most 64 letters, digits, `-`, `_` and `.`, the first a letter, a "
                   "digit or `_` (it names a folder), not `***!`");
}

static void too_many_secrets_are_refused(void **state)
{
    (void)state;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_add_text(&text, "name: n\nworkload: {transactions: 1}\ndatabase:\n  driver: plantest\n  hosts:\n");
    for (int i = 0; i < 300; i++)
        rig_buf_printf(&text, "  - password=secret-%d\n", i);
    assert_refused(rig_buf_text(&text), "plan.yaml:1:1: too many secrets in one plan");
    rig_buf_done(&text);
}

/* -- drivers that cannot be used ----------------------------------------------------------------------------------- */

static void driver_with_options_is_described(void **state)
{
    (void)state;
    struct rig_plan *plan = parse(small);
    const struct rig_driver *drivers[] = {plan->driver, NULL};
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_plan_write_reference(drivers, RIG_PLAN_MARKDOWN, &text);
    assert_non_null(strstr(rig_buf_text(&text),
                           "| `cluster.local.memory` | a size with its unit (`64KiB`, `64MiB`, `2GiB`), from 1MiB to "
                           "1TiB | `64MiB` | memory of each |\n"));
    assert_non_null(strstr(rig_buf_text(&text), "| `name` | a text | required | name of the experiment"));
    rig_buf_clear(&text);
    rig_plan_write_reference(drivers, 100, &text);
    assert_non_null(strstr(rig_buf_text(&text), "\n  cluster.local.memory "));
    rig_buf_done(&text);
    rig_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_filled),
        cmocka_unit_test(everything_can_be_said),
        cmocka_unit_test(order_of_keys_does_not_matter),
        cmocka_unit_test(phases_inherit),
        cmocka_unit_test(resolved_plan_reads_back),
        cmocka_unit_test(overrides_win),
        cmocka_unit_test(seeds),
        cmocka_unit_test_teardown(secrets_are_never_shown, forget),
        cmocka_unit_test_teardown(errors_show_no_secret, forget),
        cmocka_unit_test_teardown(too_many_secrets_are_refused, forget),
        cmocka_unit_test(driver_with_options_is_described),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
