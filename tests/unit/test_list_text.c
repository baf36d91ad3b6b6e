#include "tests/unit/cmocka_first.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "history/list_text.h"

enum { ROOM = 4096, ROUNDS = 20000 };

static struct rig_rng rng;

/* Byte by byte, as the header says it. */
static struct rig_list_match plain_match(const char *spine, size_t spine_length, const char *text, const char *end)
{
    struct rig_list_match match = {0};
    for (; match.length < spine_length && text + match.length < end; match.length++) {
        if (spine[match.length] != text[match.length])
            break;
        bool starts = match.length == 0 || spine[match.length - 1] <= ',';
        match.count += spine[match.length] > ',' && starts;
    }
    return match;
}

static void compare_all(const char *spine, size_t spine_length, const char *text, const char *end)
{
    size_t count = 0;
    const struct rig_list_matcher_info *matchers = rig_list_matchers(&count);
    struct rig_list_match wanted = plain_match(spine, spine_length, text, end);
    for (size_t i = 0; i < count; i++) {
        struct rig_list_match got = matchers[i].match(spine, spine_length, text, end);
        if (got.length != wanted.length || got.count != wanted.count)
            fail_msg("%s: %zu bytes and %u numbers, not %zu and %u", matchers[i].name, got.length, got.count,
                     wanted.length, wanted.count);
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
    for (size_t length = 12; length < 300; length++) {
        memset(bytes, 'x', ROOM);
        size_t spine_length = make_list(bytes, length);
        char *text = bytes + ROOM - spine_length - 1; /* its bracket is the last byte that there is */
        memcpy(text, bytes, spine_length);
        text[spine_length] = ']';
        compare_all(bytes, spine_length, text, bytes + ROOM);
        for (size_t i = 0; i < spine_length; i += 1 + length / 64) {
            char was = text[i];
            static const char others[] = "],1 -";
            for (size_t k = 0; k + 1 < sizeof others; k++) {
                text[i] = others[k];
                compare_all(bytes, spine_length, text, bytes + ROOM);
            }
            text[i] = was;
            compare_all(bytes, i, text, bytes + ROOM);
        }
    }
}

static void random_texts(void **state)
{
    (void)state;
    char *bytes = page_end(ROOM);
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t spine_length = make_list(bytes, 13 + (size_t)rig_rng_below(&rng, 500));
        bytes[spine_length] = ']';
        size_t at = ROOM - 1 - (size_t)rig_rng_below(&rng, 700);
        if (at <= spine_length)
            continue;
        size_t shared = (size_t)rig_rng_below(&rng, spine_length + 1);
        make_list(bytes + at, ROOM - at);
        memcpy(bytes + at, bytes, shared < ROOM - at ? shared : ROOM - at);
        compare_all(bytes, spine_length, bytes + at, bytes + ROOM);
    }
}

static void the_portable_one_is_always_there(void **state)
{
    (void)state;
    size_t count = 0;
    const struct rig_list_matcher_info *matchers = rig_list_matchers(&count);
    assert_true(count > 0 && matchers[count - 1].match == rig_list_match_portable);
    const char text[] = "1,12,3] 1,1,3]";
    struct rig_list_match match = rig_list_match_portable(text, 6, text + 8, text + sizeof text - 1);
    assert_int_equal(match.length, 3);
    assert_int_equal(match.count, 2); /* the second one begins alike, and is another number */
}

int main(void)
{
    uint64_t seed = rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_at_each_offset),
        cmocka_unit_test(random_texts),
        cmocka_unit_test(the_portable_one_is_always_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
