#include "tests/unit/cmocka_first.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "history/text/scan/list_text.h"

enum { ROOM = 4096, ROUNDS = 20000 };

static struct rig_rng rng;

/* Byte by byte, as the header specifies. */
static size_t plain_match(const char *spine, size_t spine_length, const char *text)
{
    size_t length = 0;
    while (length <= spine_length && spine[length] == text[length])
        length++;
    return length;
}

static uint32_t plain_count(const char *text, size_t length)
{
    uint32_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += text[i] > ',' && (i == 0 || text[i - 1] <= ',');
    return count;
}

/* The bytes behind the spine's bracket may be the same or not. */
static void compare_all(const char *spine, size_t spine_length, const char *text, const char *limit)
{
    size_t count = 0;
    const struct rig_text_block *const *blocks = rig_text_blocks(&count);
    size_t wanted = plain_match(spine, spine_length, text);
    for (size_t i = 0; i < count; i++) {
        size_t got = rig_list_match(blocks[i], spine, spine_length, text, limit);
        if (got == RIG_LIST_NO_MATCH) {
            assert_true(text + wanted / RIG_LIST_STEP * RIG_LIST_STEP >= limit);
            continue;
        }
        if (wanted > spine_length ? got <= spine_length : got != wanted)
            fail_msg("%s: %zu bytes, not %zu", blocks[i]->name, got, wanted);
        uint32_t numbers = rig_list_count(blocks[i], spine, wanted);
        if (numbers != plain_count(spine, wanted))
            fail_msg("%s: %u numbers in %zu bytes", blocks[i]->name, numbers, wanted);
    }
}

/* Bytes with nothing behind them: reading on is a fault. */
static char *page_end(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (size + page - 1) / page * page;
    char *at = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED && mprotect(at + whole, page, PROT_NONE) == 0);
    return at + whole - size;
}

static size_t make_list(char *at, size_t most)
{
    static const char *const separators[] = {",", ", ", " "};
    const char *separator = separators[rig_rng_below(&rng, 3)];
    size_t length = 0;
    while (length + 12 < most) {
        if (length > 0) {
            memcpy(at + length, separator, strlen(separator));
            length += strlen(separator);
        }
        if (rig_rng_below(&rng, 9) == 0)
            at[length++] = '-';
        for (uint64_t digits = 1 + rig_rng_below(&rng, 4); digits > 0; digits--)
            at[length++] = (char)('1' + rig_rng_below(&rng, 9));
    }
    return length;
}

static void a_difference_at_each_offset(void **state)
{
    (void)state;
    char *bytes = page_end(ROOM);
    const char *limit = bytes + ROOM - RIG_LIST_STEP + 1;
    for (size_t length = 12; length < 300; length++) {
        memset(bytes, 'x', ROOM);
        size_t spine_length = make_list(bytes, length);
        char *text = bytes + ROOM - spine_length - 1 - rig_rng_below(&rng, 2 * RIG_LIST_STEP);
        bytes[spine_length] = ']';
        memcpy(text, bytes, spine_length + 1);
        compare_all(bytes, spine_length, text, limit);
        for (size_t i = 0; i <= spine_length; i += 1 + length / 64) {
            char was = text[i];
            static const char others[] = "],1 -";
            for (size_t k = 0; k + 1 < sizeof others; k++) {
                text[i] = others[k];
                compare_all(bytes, spine_length, text, limit);
            }
            text[i] = was;
        }
    }
}

static void random_texts(void **state)
{
    (void)state;
    char *bytes = page_end(ROOM);
    const char *limit = bytes + ROOM - RIG_LIST_STEP + 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t spine_length = make_list(bytes, 13 + (size_t)rig_rng_below(&rng, 500));
        bytes[spine_length] = ']';
        size_t at = ROOM - 1 - (size_t)rig_rng_below(&rng, 700);
        if (at <= spine_length || ROOM - at <= spine_length)
            continue;
        size_t shared = (size_t)rig_rng_below(&rng, spine_length + 2);
        make_list(bytes + at, ROOM - at);
        memcpy(bytes + at, bytes, shared);
        compare_all(bytes, spine_length, bytes + at, limit);
    }
}

static void the_result_of_a_match(void **state)
{
    (void)state;
    size_t count = 0;
    const struct rig_text_block *const *blocks = rig_text_blocks(&count);
    const struct rig_text_block *block = blocks[count - 1];
    char bytes[2 * RIG_LIST_STEP] = "1,12,3] 1,1,3] 1,12,3] 1,12,34]";
    const char *limit = bytes + sizeof bytes - RIG_LIST_STEP;
    assert_int_equal(rig_list_match(block, bytes, 6, bytes + 8, limit), 3);
    assert_int_equal(rig_list_count(block, bytes, 3), 2); /* the second one begins alike, and is another number */
    assert_true(rig_list_match(block, bytes, 6, bytes + 15, limit) > 6);
    assert_int_equal(rig_list_match(block, bytes, 6, bytes + 23, limit), 6);
    assert_true(rig_list_match(block, bytes, 6, bytes + 23, bytes + 23) == RIG_LIST_NO_MATCH);
}

int main(void)
{
    uint64_t seed = rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_at_each_offset),
        cmocka_unit_test(random_texts),
        cmocka_unit_test(the_result_of_a_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
