#include "tests/unit/cmocka_first.h"

#include <inttypes.h>
#include <string.h>

#include "base/rng.h"
#include "history/text/scan/text_block.h"

enum { ROUNDS = 20000 };

static struct rig_rng rng;

/* Any bytes, mostly equal in both. */
static void make_bytes(char *at, char *other)
{
    for (size_t i = 0; i < RIG_BLOCK_BYTES; i++) {
        at[i] = (char)rig_rng_below(&rng, rig_rng_below(&rng, 2) == 0 ? 256 : 64);
        other[i] = rig_rng_below(&rng, 8) == 0 ? (char)rig_rng_below(&rng, 256) : at[i];
    }
}

static void bits_of_any_bytes(void **state)
{
    (void)state;
    size_t count = 0;
    const struct rig_text_block *const *blocks = rig_text_blocks(&count);
    for (unsigned round = 0; round < ROUNDS; round++) {
        char bytes[RIG_BLOCK_BYTES], others[RIG_BLOCK_BYTES];
        char c = (char)rig_rng_below(&rng, 128);
        uint64_t differing = 0, equal = 0, above = 0;
        make_bytes(bytes, others);
        bytes[rig_rng_below(&rng, RIG_BLOCK_BYTES)] = c;
        for (size_t i = 0; i < RIG_BLOCK_BYTES; i++) {
            differing |= (uint64_t)(bytes[i] != others[i]) << i;
            equal |= (uint64_t)(bytes[i] == c) << i;
            above |= (uint64_t)((signed char)bytes[i] > c) << i;
        }
        for (size_t i = 0; i < count; i++) {
            if (blocks[i]->differing(bytes, others) != differing || blocks[i]->equal(bytes, c) != equal ||
                blocks[i]->above(bytes, c) != above)
                fail_msg("%s", blocks[i]->name);
        }
    }
}

static void numbers_of_any_width(void **state)
{
    (void)state;
    size_t count = 0;
    const struct rig_text_block *const *blocks = rig_text_blocks(&count);
    for (unsigned round = 0; round < ROUNDS; round++) {
        char text[32];
        unsigned width = 1 + (unsigned)rig_rng_below(&rng, 16);
        int64_t wanted = 0;
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = (char)rig_rng_below(&rng, 256);
        for (unsigned i = 0; i < width; i++) {
            text[16 - width + i] = (char)('0' + rig_rng_below(&rng, 10));
            wanted = wanted * 10 + (text[16 - width + i] - '0');
        }
        char odd = (char)rig_rng_below(&rng, 256);
        unsigned odd_at = (unsigned)rig_rng_below(&rng, width);
        for (size_t i = 0; i < count; i++) {
            int64_t got = -1;
            assert_true(blocks[i]->number(text + 16, width, &got));
            if (got != wanted)
                fail_msg("%s: %" PRId64 ", not %" PRId64, blocks[i]->name, got, wanted);
            char was = text[15 - odd_at];
            text[15 - odd_at] = odd;
            assert_int_equal(blocks[i]->number(text + 16, width, &got), odd >= '0' && odd <= '9');
            text[15 - odd_at] = was;
        }
    }
}

static void short_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
        unsigned length;
    } cases[] = {
        {"0,       ", 0, 1},  {"7]       ", 7, 1}, {"1234567,]", 1234567, 7}, {"12345678 ", 1234567, 7},
        {"01,      ", 0, 0},  {"-1,      ", 0, 0}, {",       ", 0, 0},        {"null]   ", 0, 0},
        {"10:      ", 10, 2}, {"9/       ", 9, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_digits digits = rig_digits_read(cases[i].text);
        assert_int_equal(digits.length, cases[i].length);
        assert_true(digits.length == 0 || digits.value == cases[i].value);
    }
}

static void the_portable_set_is_always_there(void **state)
{
    (void)state;
    size_t count = 0;
    const struct rig_text_block *const *blocks = rig_text_blocks(&count);
    assert_true(count > 0);
    assert_string_equal(blocks[count - 1]->name, "portable");
}

int main(void)
{
    uint64_t seed = rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_of_any_bytes),
        cmocka_unit_test(numbers_of_any_width),
        cmocka_unit_test(short_numbers),
        cmocka_unit_test(the_portable_set_is_always_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
