#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "history/record/packing.h"

/* Where rig was built without zstd, the only test is that packing reports it. */
static bool is_missing(void)
{
    if (rig_packing_available())
        return false;
    assert_null(rig_packer_new());
    return true;
}

static void packed_bytes_come_back(void **state)
{
    (void)state;
    if (is_missing())
        return;
    struct rig_packer *packer = rig_packer_new();
    struct rig_buf buf, unpacked;
    rig_buf_init(&buf, 0);
    rig_buf_init(&unpacked, 0);
    for (int times = 0; times < 3; times++) {
        rig_buf_clear(&buf);
        rig_buf_add_text(&buf, "head");
        for (int i = 0; i < 1000; i++)
            rig_buf_printf(&buf, "%d,", i * times);
        size_t size = buf.size;
        char *before = strdup(rig_buf_text(&buf));
        assert_true(rig_packer_pack(packer, &buf, 4));
        assert_true(buf.size < size);
        assert_memory_equal(buf.data, "head", 4);
        assert_int_equal(rig_packer_unpack(packer, (const uint8_t *)buf.data + 4, buf.size - 4, &unpacked),
                         RIG_UNPACKED);
        assert_int_equal(unpacked.size, size - 4);
        assert_memory_equal(unpacked.data, before + 4, size - 4);
        free(before);
    }
    rig_buf_done(&buf);
    rig_buf_done(&unpacked);
    rig_packer_free(packer);
}

static void bytes_that_would_grow_are_not_packed(void **state)
{
    (void)state;
    if (is_missing())
        return;
    struct rig_packer *packer = rig_packer_new();
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    rig_buf_add_text(&buf, "short");
    assert_false(rig_packer_pack(packer, &buf, 0));
    assert_string_equal(rig_buf_text(&buf), "short");
    rig_buf_done(&buf);
    rig_packer_free(packer);
}

/* Every cut and every flipped bit: rejected, or unpacked to the stated size (zstd has no checksum here). */
static void damage_is_survived(void **state)
{
    (void)state;
    if (is_missing())
        return;
    struct rig_packer *packer = rig_packer_new();
    struct rig_buf buf, unpacked;
    rig_buf_init(&buf, 0);
    rig_buf_init(&unpacked, (size_t)1 << 27);
    for (int i = 0; i < 300; i++)
        rig_buf_printf(&buf, "%d %d;", i, i * i % 37);
    assert_true(rig_packer_pack(packer, &buf, 0));
    for (size_t size = 0; size < buf.size; size++)
        assert_int_equal(rig_packer_unpack(packer, (const uint8_t *)buf.data, size, &unpacked), RIG_UNPACKED_DAMAGED);
    for (size_t bit = 0; bit < buf.size * 8; bit++) {
        buf.data[bit / 8] ^= (char)(1 << bit % 8);
        (void)rig_packer_unpack(packer, (const uint8_t *)buf.data, buf.size, &unpacked);
        buf.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_int_equal(rig_packer_unpack(packer, (const uint8_t *)buf.data, buf.size, &unpacked), RIG_UNPACKED);
    rig_buf_done(&buf);
    rig_buf_done(&unpacked);
    rig_packer_free(packer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_bytes_come_back),
        cmocka_unit_test(bytes_that_would_grow_are_not_packed),
        cmocka_unit_test(damage_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
