#include "tests/unit/cmocka_first.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/json_write.h"
#include "base/rng.h"

static void members_and_nesting(void **state)
{
    (void)state;
    struct rig_buf buf;
    struct rig_json_writer writer;
    rig_buf_init(&buf, 0);
    rig_json_init(&writer, &buf);
    rig_json_begin_object(&writer, NULL);
    rig_json_int(&writer, "count", INT64_MIN);
    rig_json_begin_array(&writer, "list");
    rig_json_int(&writer, NULL, 1);
    rig_json_begin_object(&writer, NULL);
    rig_json_end(&writer);
    rig_json_begin_array(&writer, NULL);
    rig_json_end(&writer);
    rig_json_end(&writer);
    rig_json_bool(&writer, "yes", true);
    rig_json_null(&writer, "none");
    rig_json_number(&writer, "half", 0.5);
    rig_json_number(&writer, "not a number", NAN);
    rig_json_number(&writer, "far", -INFINITY);
    rig_json_end(&writer);
    assert_string_equal(rig_buf_text(&buf),
                        "{\"count\": -9223372036854775808, \"list\": [1, {}, []], \"yes\": true, \"none\": null, "
                        "\"half\": 0.500, \"not a number\": null, \"far\": null}");
    rig_buf_done(&buf);
}

static void indented_down_to_a_depth(void **state)
{
    (void)state;
    struct rig_buf buf;
    struct rig_json_writer writer;
    rig_buf_init(&buf, 0);
    rig_json_init_indented(&writer, &buf, 2, 1);
    rig_json_begin_object(&writer, NULL);
    rig_json_int(&writer, "a", 1);
    rig_json_begin_array(&writer, "b");
    rig_json_int(&writer, NULL, 2);
    rig_json_int(&writer, NULL, 3);
    rig_json_end(&writer);
    rig_json_end(&writer);
    assert_string_equal(rig_buf_text(&buf), "{\n  \"a\": 1,\n  \"b\": [2, 3]\n}");
    rig_buf_done(&buf);
}

static void strings_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *text, *json;
    } cases[] = {
        {"plain", "\"plain\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"line\nbreak\ttab\r", "\"line\\nbreak\\ttab\\u000d\""},
        {"\x01\x7f", "\"\\u0001\\u007f\""},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                                 /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},                 /* surrogate */
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* past U+10FFFF */
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                                 /* cut short */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_buf buf;
        rig_buf_init(&buf, 0);
        rig_json_quote(&buf, cases[i].text, strlen(cases[i].text));
        assert_string_equal(rig_buf_text(&buf), cases[i].json);
        rig_buf_done(&buf);
    }
}

/* For any bytes, another JSON reader accepts the string. */
static void any_bytes_make_valid_json(void **state)
{
    (void)state;
    const uint64_t seed = 20;
    print_message("seed %d\n", (int)seed);
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 0);
    for (int round = 0; round < 2000; round++) {
        char bytes[24];
        size_t length = (size_t)rig_rng_below(&rng, sizeof bytes);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)rig_rng_below(&rng, 256);
        struct rig_buf buf;
        struct rig_json_writer writer;
        rig_buf_init(&buf, 0);
        rig_json_init(&writer, &buf);
        rig_json_begin_array(&writer, NULL);
        rig_json_int(&writer, NULL, round);
        rig_buf_add_text(&buf, ", ");
        rig_json_quote(&buf, bytes, length);
        rig_json_end(&writer);
        json_error_t error;
        json_t *read = json_loadb(buf.data, buf.size, JSON_ALLOW_NUL, &error);
        if (read == NULL)
            fail_msg("round %d: %s in %s", round, error.text, rig_buf_text(&buf));
        assert_int_equal(json_array_size(read), 2);
        json_decref(read);
        rig_buf_done(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_nesting),
        cmocka_unit_test(indented_down_to_a_depth),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(any_bytes_make_valid_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
