#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"

/* The bytes are a function of names and contents; every size around a block, and of a stored block of deflate. */
static struct rig_buf archive_of(size_t size)
{
    struct rig_archive archive;
    struct rig_err err = {0};
    struct rig_buf out;
    char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    memset(bytes, 'x', size);
    rig_archive_init(&archive);
    rig_buf_init(&out, 0);
    assert_int_equal(rig_archive_add(&archive, "a/first", false, bytes, size, &err), RIG_OK);
    assert_int_equal(rig_archive_add(&archive, "a/empty", true, "", 0, &err), RIG_OK);
    assert_int_equal(rig_archive_finish(&archive, &out, &err), RIG_OK);
    rig_archive_done(&archive);
    free(bytes);
    return out;
}

static void every_size_is_framed(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 511, 512, 513, 65535 - 1024, 65535, 65536, 200000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct rig_buf one = archive_of(sizes[i]), two = archive_of(sizes[i]);
        assert_int_equal(one.size, two.size);
        assert_memory_equal(one.data, two.data, one.size);
        const size_t padded = (sizes[i] + 511) / 512 * 512, tar = 512 + padded + 512 + 1024;
        assert_int_equal(one.size, 10 + tar + 5 * ((tar + 65534) / 65535) + 8);
        assert_memory_equal(one.data + 10 + 5, "a/first", 8);
        assert_memory_equal(one.data + 10 + 5 + 257, "ustar", 6);
        rig_buf_done(&one);
        rig_buf_done(&two);
    }
}

static void long_names_are_refused(void **state)
{
    (void)state;
    struct rig_archive archive;
    struct rig_err err = {0};
    char name[RIG_ARCHIVE_NAME_BYTES + 2];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    rig_archive_init(&archive);
    assert_int_equal(rig_archive_add(&archive, name, false, "", 0, &err), RIG_E_LIMIT);
    assert_int_equal(rig_archive_add(&archive, name + 1, false, "", 0, &err), RIG_OK);
    rig_archive_done(&archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_is_framed),
        cmocka_unit_test(long_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
