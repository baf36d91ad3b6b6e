#include "history/list_text.h"

#include <stdbool.h>
#include <string.h>

/* Numbers consist of what is above the comma in ASCII, blanks of what is not. */
static const char last_blank = ',';

/* The rest, byte by byte: where a whole block would reach behind the end. */
static struct rig_list_match match_bytes(const char *spine, size_t spine_length, const char *text, const char *end,
                                         struct rig_list_match match, bool in_number)
{
    size_t room = (size_t)(end - text);
    size_t most = spine_length < room ? spine_length : room;
    while (match.length < most && spine[match.length] == text[match.length]) {
        bool is_number = spine[match.length] > last_blank;
        match.count += is_number && !in_number;
        in_number = is_number;
        match.length++;
    }
    return match;
}

static bool has_room(const char *spine, const char *text, size_t at, size_t block, const char *end)
{
    const char *later = spine > text ? spine : text;
    return (size_t)(end - later) >= at + block;
}

static uint64_t load(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* The top bit of each byte that belongs to a number. */
static uint64_t number_bytes(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return ((word & ones * 0x7f) + ones * (0x7f - (uint64_t)last_blank)) & ~word & ones * 0x80;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
struct rig_list_match rig_list_match_portable(const char *spine, size_t spine_length, const char *text, const char *end)
{
    struct rig_list_match match = {0};
    uint64_t carry = 0;
    for (;; match.length += 8) {
        size_t left = spine_length - match.length;
        if (left < 8 || !has_room(spine, text, match.length, 8, end))
            return match_bytes(spine, spine_length, text, end, match, carry != 0);
        uint64_t word = load(spine + match.length);
        uint64_t numbers = number_bytes(word);
        uint64_t starts = numbers & ~(numbers << 8 | carry);
        uint64_t differing = word ^ load(text + match.length);
        if (differing != 0) {
            unsigned same = (unsigned)__builtin_ctzll(differing) / 8;
            match.count += (uint32_t)__builtin_popcountll(starts & (((uint64_t)1 << same * 8) - 1));
            match.length += same;
            return match;
        }
        match.count += (uint32_t)__builtin_popcountll(starts);
        carry = numbers >> 63 << 7;
    }
}
#else
struct rig_list_match rig_list_match_portable(const char *spine, size_t spine_length, const char *text, const char *end)
{
    (void)has_room;
    (void)number_bytes;
    (void)load;
    return match_bytes(spine, spine_length, text, end, (struct rig_list_match){0}, false);
}
#endif

#if defined(__x86_64__)
#include <immintrin.h>

/* One block of 64 bytes as bits: which bytes differ, and which of the spine's belong to a number. */
struct block {
    uint64_t differing, numbers;
};

__attribute__((target("avx512f,avx512bw"))) static inline struct block compare_avx512(const char *spine,
                                                                                      const char *text)
{
    __m512i have = _mm512_loadu_si512(spine);
    __m512i came = _mm512_loadu_si512(text);
    return (struct block){.differing = _mm512_cmpneq_epi8_mask(have, came),
                          .numbers = _mm512_cmpgt_epi8_mask(have, _mm512_set1_epi8(last_blank))};
}

__attribute__((target("avx2"))) static inline struct block compare_avx2(const char *spine, const char *text)
{
    struct block block = {0};
    for (unsigned half = 0; half < 2; half++) {
        __m256i have = _mm256_loadu_si256((const __m256i_u *)(const void *)(spine + half * 32));
        __m256i came = _mm256_loadu_si256((const __m256i_u *)(const void *)(text + half * 32));
        uint32_t same = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(have, came));
        uint32_t numbers = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(have, _mm256_set1_epi8(last_blank)));
        block.differing |= (uint64_t)~same << half * 32;
        block.numbers |= (uint64_t)numbers << half * 32;
    }
    return block;
}

/* The loop over blocks; inlined into a function for each instruction set. */
__attribute__((always_inline)) static inline struct rig_list_match
match_blocks(const char *spine, size_t spine_length, const char *text, const char *end,
             struct block (*compare)(const char *spine, const char *text))
{
    struct rig_list_match match = {0};
    uint64_t carry = 0;
    for (;; match.length += 64) {
        if (!has_room(spine, text, match.length, 64, end))
            return match_bytes(spine, spine_length, text, end, match, carry != 0);
        struct block block = compare(spine + match.length, text + match.length);
        size_t left = spine_length - match.length;
        if (left < 64)
            block.differing |= ~(uint64_t)0 << left;
        uint64_t starts = block.numbers & ~(block.numbers << 1 | carry);
        if (block.differing != 0) {
            unsigned same = (unsigned)__builtin_ctzll(block.differing);
            match.count += (uint32_t)__builtin_popcountll(starts & (((uint64_t)1 << same) - 1));
            match.length += same;
            return match;
        }
        match.count += (uint32_t)__builtin_popcountll(starts);
        carry = block.numbers >> 63;
    }
}

__attribute__((target("avx512f,avx512bw,popcnt,bmi"))) static struct rig_list_match
match_avx512(const char *spine, size_t spine_length, const char *text, const char *end)
{
    return match_blocks(spine, spine_length, text, end, compare_avx512);
}

__attribute__((target("avx2,popcnt,bmi"))) static struct rig_list_match
match_avx2(const char *spine, size_t spine_length, const char *text, const char *end)
{
    return match_blocks(spine, spine_length, text, end, compare_avx2);
}
#endif

static const struct rig_list_matcher_info matchers[] = {
#if defined(__x86_64__)
    {"AVX-512", match_avx512},
    {"AVX2", match_avx2},
#endif
    {"portable", rig_list_match_portable},
};

static size_t first_usable(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool has_bits = __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi");
    if (has_bits && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
        return 0;
    return has_bits && __builtin_cpu_supports("avx2") ? 1 : 2;
#else
    return 0;
#endif
}

const struct rig_list_matcher_info *rig_list_matchers(size_t *count)
{
    size_t first = first_usable();
    *count = sizeof matchers / sizeof matchers[0] - first;
    return matchers + first;
}
