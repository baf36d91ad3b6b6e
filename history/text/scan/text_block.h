/*
 * Tests on 64 bytes of text at once: bit i of the answer is that of byte i.
 *
 * Three sets of functions give the same answers: for AVX-512 (with VBMI2, in processors from 2019 on; others are as
 * fast with AVX2), for AVX2, and for every machine. Code that uses them is written once and inlined into a function for
 * each set, which carries the set's RIG_BLOCK_TARGET; rig_text_blocks() tells which of them this processor can run.
 *
 * All 64 bytes from each address on must be readable.
 */
#ifndef RIG_HISTORY_TEXT_SCAN_TEXT_BLOCK_H
#define RIG_HISTORY_TEXT_SCAN_TEXT_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "history/text/scan/number_text.h"
#include "history/text/scan/text_lanes.h"

enum { RIG_BLOCK_BYTES = 64 };

struct rig_text_block {
    const char *name;
    uint64_t (*differing)(const char *at, const char *other);
    uint64_t (*equal)(const char *at, char c);
    uint64_t (*above)(const char *at, char c); /* as signed numbers */
    unsigned (*first)(uint64_t bits);          /* the lowest bit that is set, 64 for none */
    /* The number of `width` digits, 1 to 16, that ends at `end`; false where they are not all digits. The 16 bytes
     * before `end` must be readable. */
    bool (*number)(const char *end, unsigned width, int64_t *number);
    /* rig_lane_micros() and rig_lane_numbers() (history/text/scan/text_lanes.h), or NULL. */
    bool (*micros)(const char *at, const struct rig_lane_syntax *syntax, const struct rig_lane_slots *slots,
                   unsigned first_kind, struct rig_txn_op *ops, struct rig_lane_read *reads, struct rig_lane_txn *txn);
    uint32_t (*numbers)(const char *at, const struct rig_lane_syntax *syntax, int64_t *numbers, uint32_t *length);
};

/* For code that is written once and inlined into a function for each set. */
#define RIG_BLOCK_INLINE __attribute__((always_inline, unused)) static inline
#define RIG_BLOCK_UNUSED __attribute__((unused)) static inline

/* The top bits of eight bytes as eight bits. */
RIG_BLOCK_UNUSED uint64_t rig_block_top_bits(uint64_t word)
{
    return ((word >> 7 & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080)) >> 56;
}

/* The top bit of each byte that is not 0. */
RIG_BLOCK_UNUSED uint64_t rig_block_not_zero(uint64_t word)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ((word & low) + low) | word;
}

RIG_BLOCK_UNUSED uint64_t rig_block_differing_portable(const char *at, const char *other)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < RIG_BLOCK_BYTES; i += 8)
        bits |= rig_block_top_bits(rig_block_not_zero(rig_text_load(at + i) ^ rig_text_load(other + i))) << i;
    return bits;
}

RIG_BLOCK_UNUSED uint64_t rig_block_equal_portable(const char *at, char c)
{
    const uint64_t wanted = UINT64_C(0x0101010101010101) * (unsigned char)c;
    uint64_t bits = 0;
    for (unsigned i = 0; i < RIG_BLOCK_BYTES; i += 8)
        bits |= rig_block_top_bits(~rig_block_not_zero(rig_text_load(at + i) ^ wanted)) << i;
    return bits;
}

/* c is ASCII; other bytes count as below it. */
RIG_BLOCK_UNUSED uint64_t rig_block_above_portable(const char *at, char c)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t bits = 0;
    for (unsigned i = 0; i < RIG_BLOCK_BYTES; i += 8) {
        uint64_t word = rig_text_load(at + i);
        uint64_t above = ((word & ones * 0x7f) + ones * (0x7fU - (unsigned char)c)) & ~word;
        bits |= rig_block_top_bits(above) << i;
    }
    return bits;
}

RIG_BLOCK_UNUSED unsigned rig_block_first_portable(uint64_t bits)
{
    return bits == 0 ? 64 : (unsigned)__builtin_ctzll(bits);
}

RIG_BLOCK_UNUSED bool rig_block_number_portable(const char *end, unsigned width, int64_t *number)
{
    uint64_t first = rig_digits_load(end - 16), last = rig_digits_load(end - 8);
    unsigned others = (16 - width) * 8; /* bits */
    if (others >= 64) {
        first = 0;
        last = last >> (others - 64) << (others - 64);
    } else {
        first = first >> others << others;
    }
    *number = (int64_t)(rig_digits_value(first) * 100000000 + rig_digits_value(last));
    return (rig_digits_end(first) | rig_digits_end(last)) == 0;
}

static const struct rig_text_block rig_text_block_portable = {
    .name = "portable",
    .differing = rig_block_differing_portable,
    .equal = rig_block_equal_portable,
    .above = rig_block_above_portable,
    .first = rig_block_first_portable,
    .number = rig_block_number_portable,
};

#if defined(__x86_64__)
#include <immintrin.h>

#define RIG_BLOCK_TARGET_AVX512 RIG_LANES_TARGET
#define RIG_BLOCK_TARGET_AVX2   __attribute__((target("avx2,popcnt,bmi,bmi2")))

/* For AVX2 and AVX-512. Adds neighbours up to 8 numbers of 2 digits, 4 of 4, 2 of 8. */
RIG_BLOCK_TARGET_AVX2 RIG_BLOCK_UNUSED bool rig_block_number_x86(const char *end, unsigned width, int64_t *number)
{
    static const uint8_t kept[32] = {0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                                     255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    __m128i text = _mm_loadu_si128((const __m128i_u *)(const void *)(end - 16));
    __m128i mask = _mm_loadu_si128((const __m128i_u *)(const void *)(kept + width));
    __m128i digits = _mm_and_si128(_mm_sub_epi8(text, _mm_set1_epi8('0')), mask);
    __m128i excess = _mm_subs_epu8(digits, _mm_set1_epi8(9));
    __m128i twos = _mm_maddubs_epi16(digits, _mm_set1_epi16(1 << 8 | 10));
    __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(1 << 16 | 100));
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
    uint64_t halves = (uint64_t)_mm_cvtsi128_si64(eights);
    *number = (int64_t)((halves & UINT32_MAX) * 100000000 + (halves >> 32));
    return _mm_testz_si128(excess, excess);
}

/* Compilers would branch on whether there are any. */
RIG_BLOCK_TARGET_AVX2 RIG_BLOCK_UNUSED unsigned rig_block_first_x86(uint64_t bits)
{
    return (unsigned)_tzcnt_u64(bits);
}

RIG_BLOCK_TARGET_AVX512 RIG_BLOCK_UNUSED uint64_t rig_block_differing_avx512(const char *at, const char *other)
{
    return _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(at), _mm512_loadu_si512(other));
}

RIG_BLOCK_TARGET_AVX512 RIG_BLOCK_UNUSED uint64_t rig_block_equal_avx512(const char *at, char c)
{
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8(c));
}

RIG_BLOCK_TARGET_AVX512 RIG_BLOCK_UNUSED uint64_t rig_block_above_avx512(const char *at, char c)
{
    return _mm512_cmpgt_epi8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8(c));
}

static const struct rig_text_block rig_text_block_avx512 = {
    .name = "AVX-512",
    .differing = rig_block_differing_avx512,
    .equal = rig_block_equal_avx512,
    .above = rig_block_above_avx512,
    .first = rig_block_first_x86,
    .number = rig_block_number_x86,
    .micros = rig_lane_micros,
    .numbers = rig_lane_numbers,
};

RIG_BLOCK_TARGET_AVX2 RIG_BLOCK_UNUSED __m256i rig_block_half(const char *at)
{
    return _mm256_loadu_si256((const __m256i_u *)(const void *)at);
}

RIG_BLOCK_TARGET_AVX2 RIG_BLOCK_UNUSED uint64_t rig_block_bits(__m256i first, __m256i second)
{
    return (uint32_t)_mm256_movemask_epi8(first) | (uint64_t)(uint32_t)_mm256_movemask_epi8(second) << 32;
}

RIG_BLOCK_TARGET_AVX2 RIG_BLOCK_UNUSED uint64_t rig_block_differing_avx2(const char *at, const char *other)
{
    return ~rig_block_bits(_mm256_cmpeq_epi8(rig_block_half(at), rig_block_half(other)),
                           _mm256_cmpeq_epi8(rig_block_half(at + 32), rig_block_half(other + 32)));
}

RIG_BLOCK_TARGET_AVX2 RIG_BLOCK_UNUSED uint64_t rig_block_equal_avx2(const char *at, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);
    return rig_block_bits(_mm256_cmpeq_epi8(rig_block_half(at), wanted),
                          _mm256_cmpeq_epi8(rig_block_half(at + 32), wanted));
}

RIG_BLOCK_TARGET_AVX2 RIG_BLOCK_UNUSED uint64_t rig_block_above_avx2(const char *at, char c)
{
    __m256i below = _mm256_set1_epi8(c);
    return rig_block_bits(_mm256_cmpgt_epi8(rig_block_half(at), below),
                          _mm256_cmpgt_epi8(rig_block_half(at + 32), below));
}

static const struct rig_text_block rig_text_block_avx2 = {
    .name = "AVX2",
    .differing = rig_block_differing_avx2,
    .equal = rig_block_equal_avx2,
    .above = rig_block_above_avx2,
    .first = rig_block_first_x86,
    .number = rig_block_number_x86,
};
#endif

/* The sets that this processor can run, the fastest first; `count` of them, the last one is portable. */
const struct rig_text_block *const *rig_text_blocks(size_t *count);

#endif
