#include "tests/unit/cmocka_first.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

static void empty_buffer_reads_as_empty_text(void **state)
{
    (void)state;
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    assert_string_equal(rig_buf_text(&buf), "");
    assert_null(buf.data);
    rig_buf_printf(&buf, "%s", "");
    assert_string_equal(rig_buf_text(&buf), "");
    assert_int_equal(buf.size, 0);
    rig_buf_done(&buf);
}

static void writers_append(void **state)
{
    (void)state;
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    rig_buf_add_text(&buf, "key ");
    rig_buf_add_int(&buf, 5);
    rig_buf_add_char(&buf, ':');
    rig_buf_printf(&buf, " %s=%d", "x", -3);
    rig_buf_add(&buf, "abcdef", 3);
    assert_string_equal(rig_buf_text(&buf), "key 5: x=-3abc");
    rig_buf_clear(&buf);
    assert_string_equal(rig_buf_text(&buf), "");
    rig_buf_add_text(&buf, "again");
    assert_string_equal(rig_buf_text(&buf), "again");
    rig_buf_done(&buf);
}

static void integers_have_their_whole_range(void **state)
{
    (void)state;
    const long long numbers[] = {0, 9, 10, -1, -10, 1234567890123, LLONG_MAX, LLONG_MIN};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct rig_buf buf;
        char expected[32];
        rig_buf_init(&buf, 0);
        (void)snprintf(expected, sizeof expected, "%lld", numbers[i]);
        rig_buf_add_int(&buf, numbers[i]);
        assert_string_equal(rig_buf_text(&buf), expected);
        rig_buf_done(&buf);
    }
}

static void growth_keeps_everything(void **state)
{
    (void)state;
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    for (int i = 0; i < 100000; i++)
        rig_buf_add_char(&buf, (char)('a' + i % 26));
    assert_int_equal(buf.size, 100000);
    assert_int_equal(strlen(rig_buf_text(&buf)), 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buf.data[i], 'a' + i % 26);
    rig_buf_done(&buf);
}

static void limit_is_exact_and_failure_is_remembered(void **state)
{
    (void)state;
    struct rig_buf buf;
    rig_buf_init(&buf, 1000);
    for (int i = 0; i < 1000; i++)
        rig_buf_add_char(&buf, 'x');
    assert_false(buf.failed);
    assert_int_equal(buf.size, 1000);
    rig_buf_add_char(&buf, 'y');
    assert_true(buf.failed);
    assert_int_equal(buf.size, 1000);
    rig_buf_printf(&buf, "%d", 7);
    assert_int_equal(buf.size, 1000);
    assert_null(rig_buf_reserve(&buf, 0));
    rig_buf_clear(&buf);
    rig_buf_add_char(&buf, 'z');
    assert_string_equal(rig_buf_text(&buf), "z");
    assert_null(rig_buf_reserve(&buf, SIZE_MAX));
    rig_buf_done(&buf);
}

static void files_are_read_up_to_the_limit(void **state)
{
    (void)state;
    char path[] = "/tmp/rig-buf-XXXXXX";
    const int fd = mkstemp(path);
    char bytes[251];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    for (int i = 0; i < 800; i++)
        assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    (void)close(fd);

    struct rig_err err = {0};
    struct rig_buf read;
    rig_buf_init(&read, 0);
    rig_buf_add_text(&read, "before");
    assert_int_equal(rig_buf_read_file(&read, path, &err), RIG_OK);
    assert_int_equal(read.size, 6 + 200800);
    assert_memory_equal(read.data + 6 + 251, bytes, sizeof bytes);
    rig_buf_done(&read);

    /* Exactly the limit is allowed, one byte less is not. */
    rig_buf_init(&read, 200800);
    assert_int_equal(rig_buf_read_file(&read, path, &err), RIG_OK);
    assert_int_equal(read.size, 200800);
    rig_buf_done(&read);
    rig_buf_init(&read, 200799);
    assert_int_equal(rig_buf_read_file(&read, path, &err), RIG_E_LIMIT);
    assert_non_null(strstr(err.text, path));
    rig_buf_done(&read);
    assert_int_equal(unlink(path), 0);
}

static void file_errors_name_the_file(void **state)
{
    (void)state;
    struct rig_err err = {0};
    struct rig_buf buf;
    rig_buf_init(&buf, 16);
    assert_int_equal(rig_buf_read_file(&buf, "/nowhere/at/all", &err), RIG_E_IO);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    rig_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_buffer_reads_as_empty_text),
        cmocka_unit_test(writers_append),
        cmocka_unit_test(integers_have_their_whole_range),
        cmocka_unit_test(growth_keeps_everything),
        cmocka_unit_test(limit_is_exact_and_failure_is_remembered),
        cmocka_unit_test(files_are_read_up_to_the_limit),
        cmocka_unit_test(file_errors_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
