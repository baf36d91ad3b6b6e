/* Side columns: values parallel to transactions, and through every form of files. */
#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/model/columns.h"
#include "history/source/load.h"
#include "history/model/names.h"
#include "tests/history/history_model.h"

static struct rig_rng rng;
static char path[64];

static int seeded(void **state)
{
    (void)state;
    const char *given = getenv("RIG_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    (void)snprintf(path, sizeof path, "/tmp/test_columns.%ld", (long)getpid());
    return 0;
}

static void values_end_with_the_last_transaction_that_has_one(void **state)
{
    (void)state;
    struct rig_columns columns;
    rig_columns_init(&columns, 0);
    assert_false(rig_columns_any(&columns));
    assert_true(rig_columns_set(&columns, RIG_COLUMN_BACKEND, 7, RIG_COLUMN_NONE));
    assert_int_equal(rig_columns_bytes(&columns), 0);
    assert_true(rig_columns_set(&columns, RIG_COLUMN_BACKEND, 7, 4711));
    assert_int_equal(columns.of[RIG_COLUMN_BACKEND].count, 8);
    assert_int_equal(columns.of[RIG_COLUMN_NODE].capacity, 0);
    assert_true(rig_columns_get(&columns, RIG_COLUMN_BACKEND, 6) == RIG_COLUMN_NONE);
    assert_int_equal(rig_columns_get(&columns, RIG_COLUMN_BACKEND, 7), 4711);
    assert_true(rig_columns_get(&columns, RIG_COLUMN_BACKEND, 8) == RIG_COLUMN_NONE);
    assert_int_equal(rig_columns_given(&columns), RIG_COLUMN_BIT(RIG_COLUMN_BACKEND));
    rig_columns_move(&columns, 2, 7);
    rig_columns_cut(&columns, 3);
    assert_int_equal(rig_columns_get(&columns, RIG_COLUMN_BACKEND, 2), 4711);
    assert_true(rig_columns_get(&columns, RIG_COLUMN_BACKEND, 7) == RIG_COLUMN_NONE);
    rig_columns_done(&columns);
}

static void spans_move_with_their_transactions(void **state)
{
    (void)state;
    static const int64_t first[] = {1, 5, 7, 9}, second[] = {0, INT64_C(1) << 60};
    struct rig_columns all, more;
    rig_columns_init(&all, 0);
    rig_columns_init(&more, 0);
    const int64_t place = rig_columns_spans_add(&all, (struct rig_spans){first, 2});
    assert_true(rig_columns_set(&all, RIG_COLUMN_TIMES, 0, place));
    assert_true(rig_columns_set(&all, RIG_COLUMN_TIMES, 1, rig_columns_spans_add(&all, (struct rig_spans){first, 1})));
    assert_true(
        rig_columns_set(&more, RIG_COLUMN_TIMES, 1, rig_columns_spans_add(&more, (struct rig_spans){second, 1})));
    assert_true(rig_columns_append(&all, 2, &more, 3));
    assert_true(rig_columns_get(&all, RIG_COLUMN_TIMES, 2) == RIG_COLUMN_NONE);
    assert_int_equal(rig_columns_spans(&all, RIG_COLUMN_NONE).count, 0);
    struct rig_spans spans = rig_columns_spans(&all, rig_columns_get(&all, RIG_COLUMN_TIMES, 3));
    assert_int_equal(spans.count, 1);
    assert_memory_equal(spans.at, second, sizeof second);
    /* The second transaction goes; its numbers do too. */
    rig_columns_move(&all, 1, 3);
    rig_columns_cut(&all, 2);
    const size_t before = all.spans.count;
    rig_columns_fit_names(&all, 0);
    assert_int_equal(all.spans.count, before - 3);
    spans = rig_columns_spans(&all, rig_columns_get(&all, RIG_COLUMN_TIMES, 0));
    assert_int_equal(spans.count, 2);
    assert_memory_equal(spans.at, first, sizeof first);
    spans = rig_columns_spans(&all, rig_columns_get(&all, RIG_COLUMN_TIMES, 1));
    assert_memory_equal(spans.at, second, sizeof second);
    rig_columns_clear(&all, 0);
    assert_int_equal(rig_columns_used_bytes(&all), 0);
    rig_columns_done(&all);
    rig_columns_done(&more);
}

static void appending_renumbers_names(void **state)
{
    (void)state;
    struct rig_columns all, more;
    rig_columns_init(&all, 0);
    rig_columns_init(&more, 0);
    assert_true(rig_columns_set(&all, RIG_COLUMN_NODE, 0, rig_columns_name(&all, "a", 1)));
    const int64_t b = rig_columns_name(&more, "b", 1), a = rig_columns_name(&more, "a", 1);
    assert_true(rig_columns_set(&more, RIG_COLUMN_NODE, 0, b) && rig_columns_set(&more, RIG_COLUMN_NODE, 2, a));
    assert_true(rig_columns_append(&all, 5, &more, 3));
    assert_int_equal(all.of[RIG_COLUMN_NODE].count, 8);
    assert_true(rig_columns_get(&all, RIG_COLUMN_NODE, 4) == RIG_COLUMN_NONE);
    assert_string_equal(all.names.texts[rig_columns_get(&all, RIG_COLUMN_NODE, 5)], "b");
    assert_true(rig_columns_get(&all, RIG_COLUMN_NODE, 6) == RIG_COLUMN_NONE);
    assert_int_equal(rig_columns_get(&all, RIG_COLUMN_NODE, 7), 0);
    rig_columns_clear(&more, 0);
    assert_true(rig_columns_append(&all, 8, &more, 100));
    assert_int_equal(all.of[RIG_COLUMN_NODE].count, 8);
    rig_columns_done(&all);
    rig_columns_done(&more);
}

static void invalid_names_have_no_number(void **state)
{
    (void)state;
    struct rig_names names;
    struct rig_name_vec known = {0};
    char longest[RIG_COLUMN_NAME_BYTES + 1];
    memset(longest, 'x', sizeof longest);
    rig_names_init(&names);
    longest[RIG_COLUMN_NAME_BYTES] = '\0';
    assert_true(rig_names_number(&names, longest) == RIG_COLUMN_NONE);
    longest[RIG_COLUMN_NAME_BYTES - 1] = '\0';
    assert_int_equal(rig_names_number(&names, longest), 0);
    assert_true(rig_names_number(&names, "") == RIG_COLUMN_NONE);
    assert_true(rig_names_number(&names, "pg-1\x1b[31m") == RIG_COLUMN_NONE);
    assert_int_equal(rig_names_number(&names, "pg-1"), 1);
    assert_int_equal(rig_names_number(&names, longest), 0);
    assert_true(rig_names_follow(&names, &known) && known.count == 2);
    assert_string_equal(known.at[1], "pg-1");
    char text[32];
    for (int i = 0; i <= RIG_NAMES_MOST; i++) {
        (void)snprintf(text, sizeof text, "node-%d", i);
        assert_true((rig_names_number(&names, text) == RIG_COLUMN_NONE) == (i >= RIG_NAMES_MOST - 2));
    }
    rig_name_vec_done(&known);
    rig_names_done(&names);
}

static struct rig_history *load(void)
{
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    if (rig_history_load(path, &(struct rig_load_options){0}, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

static struct rig_history *through(const struct rig_history *history, enum rig_form form)
{
    struct rig_err err = {0};
    if (rig_history_save(history, path, &(struct rig_save_options){.form = form}, &err) != RIG_OK)
        fail_msg("%s", err.text);
    struct rig_history *loaded = load();
    assert_int_equal(unlink(path), 0);
    return loaded;
}

static void check_forms(struct model_options options, const enum rig_form *forms, size_t form_count)
{
    struct model model;
    model_make(&model, &options, &rng);
    struct rig_history *wanted = model_history(&model, model.event_count);
    wanted->start_utc_ns = INT64_C(1780000000123456789);
    for (size_t i = 0; i < form_count; i++) {
        struct rig_history *first = through(wanted, forms[i]);
        struct rig_history *second = through(first, forms[(i + 1) % form_count]);
        assert_same_history(first, wanted);
        assert_same_history(second, wanted);
        assert_meanwhile(first);
        assert_true(second->start_utc_ns == wanted->start_utc_ns);
        rig_history_free(first);
        rig_history_free(second);
    }
    rig_history_free(wanted);
    model_done(&model);
}

static void every_form_keeps_them(void **state)
{
    (void)state;
    static const enum rig_form forms[] = {RIG_FORM_RIG, RIG_FORM_JSON_LINES, RIG_FORM_EDN};
    for (unsigned variant = 0; variant < 16; variant++) {
        const struct model_options options = {
            .workload = variant % 2 == 0 ? RIG_WORKLOAD_LIST_APPEND : RIG_WORKLOAD_RW_REGISTER,
            .txn_count = variant < 8 ? 100 : 3000,
            .channel_count = 1 + variant % 5,
            .key_count = 20,
            .first_ns = 1,
            .exchange = true,
            .columns = true,
            .position_gaps = variant % 3 == 0,
            .text_keys = variant % 4 == 1,
            .no_invocations = variant % 8 == 7,
            .no_times = variant % 8 == 3,
        };
        check_forms(options, forms, sizeof forms / sizeof forms[0]);
    }
}

/* ---- as written by other programs ---- */

static struct rig_history *parse(const char *text)
{
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    const struct rig_load_options options = {0};
    if (rig_history_parse("text", text, strlen(text), &options, &history, &err) != RIG_OK)
        fail_msg("%s in %s", err.text, text);
    return history;
}

/* One transaction; its completion has these fields behind its value. Padding at the end keeps the fast path for texts
 * in use. */
static struct rig_history *parse_fields(bool edn, bool padded, const char *fields)
{
    static char text[2048];
    if (edn)
        (void)snprintf(text, sizeof text,
                       "{:index 0, :type :invoke, :process 0, :time 5, :f :txn, :value [[:append 1 1]]}\n"
                       "{:index 1, :type :ok, :process 0, :time 9, :f :txn, :value [[:append 1 1]]%s}\n%*s",
                       fields, padded ? 1000 : 0, "");
    else
        (void)snprintf(text, sizeof text,
                       "{\"index\":0,\"type\":\"invoke\",\"process\":0,\"time\":5,\"f\":\"txn\","
                       "\"value\":[[\"append\",1,1]]}\n"
                       "{\"index\":1,\"type\":\"ok\",\"process\":0,\"time\":9,\"f\":\"txn\","
                       "\"value\":[[\"append\",1,1]]%s}\n%*s",
                       fields, padded ? 1000 : 0, "");
    return parse(text);
}

static void fields_of_other_kinds_are_skipped(void **state)
{
    (void)state;
    static const struct {
        const char *json, *edn;
        const char *node; /* NULL: none */
        int64_t backend;
    } cases[] = {
        {",\"node\":\"n1\",\"backend\":4711", ", :node \"n1\", :backend 4711", "n1", 4711},
        {",\"backend\":-1,\"node\":\"n1\"", ", :backend -1, :node \"n1\"", "n1", -1},
        {", \"node\" : \"n\\u0031\" , \"backend\": 7 ", ", :node \"n\\u0031\" :backend 7 ", "n1", 7},
        {",\"node\":null,\"backend\":null", ", :node nil, :backend nil", NULL, RIG_COLUMN_NONE},
        {",\"node\":7,\"backend\":\"x\"", ", :node 7, :backend \"x\"", NULL, RIG_COLUMN_NONE},
        {",\"node\":{\"a\":[1]},\"backend\":[4711]", ", :node {:a [1]}, :backend [4711]", NULL, RIG_COLUMN_NONE},
        {",\"node\":\"\",\"backend\":1.5", ", :node \"\", :backend 1.5", NULL, RIG_COLUMN_NONE},
        {",\"node\":\"a\\u0000b\",\"backend\":1e3", ", :node \"a\\u0000b\", :backend 1e3", NULL, RIG_COLUMN_NONE},
        {",\"backend\":9223372036854775807", ", :backend 9223372036854775807", NULL, INT64_MAX},
        {",\"backend\":-9223372036854775807", ", :backend -9223372036854775807", NULL, -INT64_MAX},
        {",\"backend\":-9223372036854775808", ", :backend -9223372036854775808", NULL, RIG_COLUMN_NONE},
        {",\"backend\":9223372036854775808", ", :backend 9223372036854775808", NULL, RIG_COLUMN_NONE},
        {",\"meanwhile\":3,\"nodes\":\"x\",\"nod\":\"y\"", ", :meanwhile 3, :nodes \"x\", :nod \"y\"", NULL,
         RIG_COLUMN_NONE},
        {",\"node\":\"a\",\"node\":\"n1\"", ", :node \"a\", :node \"n1\"", "n1", RIG_COLUMN_NONE},
    };
    for (size_t i = 0; i < 4 * (sizeof cases / sizeof cases[0]); i++) {
        const bool edn = i % 2 == 1, padded = i % 4 > 1;
        struct rig_history *history = parse_fields(edn, padded, edn ? cases[i / 4].edn : cases[i / 4].json);
        const char *node = rig_history_column_name(history, 0, RIG_COLUMN_NODE);
        assert_int_equal(history->txn_count, 1);
        assert_string_equal(node == NULL ? "none" : node, cases[i / 4].node == NULL ? "none" : cases[i / 4].node);
        assert_true(rig_history_column(history, 0, RIG_COLUMN_BACKEND) == cases[i / 4].backend);
        assert_true(rig_history_column(history, 0, RIG_COLUMN_MEANWHILE) == RIG_COLUMN_NONE);
        rig_history_free(history);
    }
}

/* The reader finds a completion that does not repeat its operations when it joins the parts of a file. */
static void completions_without_a_value_have_columns(void **state)
{
    (void)state;
    struct rig_history *history =
        parse("{\"type\":\"invoke\",\"process\":0,\"value\":[[\"append\",1,1]]}\n"
              "{\"type\":\"invoke\",\"process\":1,\"value\":[[\"append\",1,2]],\"start-utc\":7}\n"
              "{\"type\":\"ok\",\"process\":1,\"value\":[[\"append\",1,2]],\"node\":\"b\",\"backend\":2}\n"
              "{\"type\":\"info\",\"process\":0,\"node\":\"a\",\"held\":5}\n");
    assert_string_equal(rig_history_column_name(history, 0, RIG_COLUMN_NODE), "b");
    assert_string_equal(rig_history_column_name(history, 1, RIG_COLUMN_NODE), "a");
    assert_int_equal(rig_history_column(history, 1, RIG_COLUMN_HELD), 5);
    assert_int_equal(rig_history_column(history, 1, RIG_COLUMN_MEANWHILE), 1);
    assert_true(history->start_utc_ns == 0); /* the first operation states it */
    rig_history_free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_end_with_the_last_transaction_that_has_one),
        cmocka_unit_test(spans_move_with_their_transactions),
        cmocka_unit_test(appending_renumbers_names),
        cmocka_unit_test(invalid_names_have_no_number),
        cmocka_unit_test(every_form_keeps_them),
        cmocka_unit_test(fields_of_other_kinds_are_skipped),
        cmocka_unit_test(completions_without_a_value_have_columns),
    };
    return cmocka_run_group_tests(tests, seeded, NULL);
}
