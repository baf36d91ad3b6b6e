#include "history/text/scan/text_lanes.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"

static struct rig_op_name name_of(const char *word, bool is_edn)
{
    char text[16] = "";
    const int length = snprintf(text, sizeof text, is_edn ? ":%s " : "\"%s\",", word);
    const uint32_t compared = length < 8 ? (uint32_t)length : 8;
    /* The last of nine bytes is the blank, which is compared by itself. */
    RIG_REQUIRE(length > 0 && length <= 9);
    struct rig_op_name name = {.blind = 64 - compared * 8, .length = (uint32_t)length};
    memcpy(&name.word, text, compared);
    return name;
}

void rig_op_names_init(struct rig_op_names *names, const struct rig_data_type *type, bool is_edn)
{
    const char *write = rig_op_infos[type->write_op].name;
    names->at[0] = name_of(write, is_edn);
    names->at[1] = name_of(rig_op_infos[type->read_op].name, is_edn);
    rig_lane_syntax_init(&names->lanes, write, is_edn);
}

/* For operations named `write` (at most LANE_NAME_LETTERS letters) and "r". */
enum { LANE_NAME_LETTERS = 11 };

/* Bytes 4 to 7 of a word. */
#define LAST_BYTES(a, b, c, d) ((uint64_t)(a) << 32 | (uint64_t)(b) << 40 | (uint64_t)(c) << 48 | (uint64_t)(d) << 56)

static uint64_t each_byte(char c)
{
    return UINT64_C(0x0101010101010101) * (unsigned char)c;
}

/* `word` as a name with the separator before it. The first operation of a transaction has two brackets instead, which
 * are not compared. */
static void name_init(struct rig_lane_name *name, const char *word, bool is_edn)
{
    char text[sizeof name->text + 1];
    const int length = snprintf(text, sizeof text, is_edn ? "] [:%s" : "],[\"%s\"", word);
    RIG_REQUIRE(length > 0 && length <= (int)sizeof name->text);
    const size_t from = sizeof name->text - (size_t)length;
    memset(name, 0, sizeof *name);
    memset(name->text, ' ', from);
    memcpy(name->text + from, text, (size_t)length);
    name->first_at = (uint32_t)length - 1;
    for (size_t i = 0; i < sizeof name->compared[0]; i++) {
        name->compared[0][i] = i % 16 >= from + (i < 16 ? 2 : 0) ? 0xff : 0;
        name->compared[1][i] = i % 16 >= from ? 0xff : 0;
    }
}

void rig_lane_syntax_init(struct rig_lane_syntax *syntax, const char *write, bool is_edn)
{
    *syntax = (struct rig_lane_syntax){
        .type = each_byte('r'),
        .blank = each_byte(is_edn ? ' ' : ','),
        .null = is_edn ? LAST_BYTES(0, 'n' ^ '0', 'i' ^ '0', 'l' ^ '0')
                       : LAST_BYTES('n' ^ '0', 'u' ^ '0', 'l' ^ '0', 'l' ^ '0'),
        .close = each_byte(']'),
        .zero = each_byte('0'),
        .nine = each_byte(9),
        .low_byte = 0xff,
        .one_digit = 56,
        .tens = UINT64_C(0x010a010a010a010a),
        .hundreds = UINT64_C(0x0001006400010064),
        .myriads = UINT64_C(0x0001271000012710),
        .hash = RIG_LANE_HASH,
        .ids = UINT32_MAX,
    };
    memset(syntax->type_at, is_edn ? 15 : 14, sizeof syntax->type_at);
    name_init(&syntax->write, write, is_edn);
    name_init(&syntax->read, "r", is_edn);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define LANES RIG_LANES_TARGET __attribute__((always_inline)) static inline

/* f(i, n) for 64 bytes i. */
#define EIGHT(f, i, n)                                                                                                 \
    f((i), n), f((i) + 1, n), f((i) + 2, n), f((i) + 3, n), f((i) + 4, n), f((i) + 5, n), f((i) + 6, n), f((i) + 7, n)
#define THIRTY_TWO(f, i, n) EIGHT(f, i, n), EIGHT(f, (i) + 8, n), EIGHT(f, (i) + 16, n), EIGHT(f, (i) + 24, n)
#define SIXTY_FOUR(f, i, n) THIRTY_TWO(f, i, n), THIRTY_TWO(f, (i) + 32, n)

/* Byte i of the tables that select places and bytes (text_lanes.h, steps 2 to 6). Four operations are read together, 16
 * bytes each: key and value, or the name. */
#define ITSELF(i, n)       (i)
#define NUMBER_END(i, m)   (4 * ((m) + (i) / 16) + 1 + (i) % 16 / 8)
#define NUMBER_FROM(i, m)  (NUMBER_END(i, m) - 1)
#define NAME_END(i, m)     (4 * ((m) + (i) / 16))
#define NTH_END(i, n)      ((i) / 8 + (n))
#define BACK(i, n)         ((uint8_t)((i) % (n) - (n))) /* distance of byte i, of n, from the end */
#define RESULT_PLACE(i, n) ((i) % 4 == 2 ? (i) / 4 * 4 + 1 : 0)
#define RESULT_KEPT(i, n)  ((i) % 4 == 2 ? 0xff : 0)
#define RESULT_ADDED(i, n) ((i) % 4 == 2 ? 1 : (i) % 4 == 0 ? (i) / 4 : 0)

static const struct {
    uint8_t places[128];
    uint8_t number_ends[2][64], numbers_from[2][64], name_ends[2][64], nth_ends[64], nth_from[64];
    uint8_t number_bytes[64], name_bytes[64];
    uint8_t result_places[32], result_kept[32], result_added[32];
    uint8_t key_and_value[16];
} shape = {
    .places = {SIXTY_FOUR(ITSELF, 0, 0), SIXTY_FOUR(ITSELF, 64, 0)},
    .number_ends = {{SIXTY_FOUR(NUMBER_END, 0, 0)}, {SIXTY_FOUR(NUMBER_END, 0, 4)}},
    .numbers_from = {{SIXTY_FOUR(NUMBER_FROM, 0, 0)}, {SIXTY_FOUR(NUMBER_FROM, 0, 4)}},
    .name_ends = {{SIXTY_FOUR(NAME_END, 0, 0)}, {SIXTY_FOUR(NAME_END, 0, 4)}},
    .nth_ends = {SIXTY_FOUR(NTH_END, 0, 1)},
    .nth_from = {SIXTY_FOUR(NTH_END, 0, 0)},
    .number_bytes = {SIXTY_FOUR(BACK, 0, 8)},
    .name_bytes = {SIXTY_FOUR(BACK, 0, 16)},
    .result_places = {THIRTY_TWO(RESULT_PLACE, 0, 0)},
    .result_kept = {THIRTY_TWO(RESULT_KEPT, 0, 0)},
    .result_added = {THIRTY_TWO(RESULT_ADDED, 0, 0)},
    .key_and_value = {0, 1, 2, 3, 128, 128, 128, 128, 4, 5, 6, 7, 128, 128, 128, 128},
};

/* Truth tables for _mm512_ternarylogic_epi64(a, b, c): a | (b ^ c), (a ^ b) & c. */
enum { A_OR_B_XOR_C = 0xf6, A_XOR_B_AND_C = 0x28 };

LANES __m512i all(uint64_t word)
{
    return _mm512_set1_epi64((int64_t)word);
}

LANES __m512i four(const void *bytes)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i_u *)bytes));
}

LANES __m256i load_half(const void *bytes)
{
    return _mm256_loadu_si256((const __m256i_u *)bytes);
}

/* A number in each lane, its last digit in the top byte. */
struct numbers {
    __m512i digits; /* as values, 0 to 9 */
    __m512i bits;   /* unused bits of the lane, 0 to 56; more than 56 for no digit and for more than eight */
    __m512i first;  /* the same digits, with the first one in the lowest byte */
};

/* Cuts each lane of `text`, the bytes before `ends`, to those after `from`. */
LANES struct numbers cut_numbers(__m512i text, __m512i ends, __m512i from, const struct rig_lane_syntax *syntax)
{
    __m512i unused = _mm512_sub_epi8(_mm512_add_epi8(from, all(syntax->nine)), ends); /* 8 - digits; in each byte */
    struct numbers numbers;
    numbers.bits = _mm512_slli_epi64(_mm512_and_si512(unused, all(syntax->low_byte)), 3);
    numbers.first = _mm512_srlv_epi64(_mm512_xor_si512(text, all(syntax->zero)), numbers.bits);
    numbers.digits = _mm512_sllv_epi64(numbers.first, numbers.bits);
    return numbers;
}

/* Not 0 in lanes that hold no number of one to eight digits. `digits`: those of the numbers, or 0 in lanes that the
 * caller checks itself. No digit and more than eight leave an empty lane, which looks like a leading 0. */
LANES __m512i odd_numbers(struct numbers numbers, __m512i digits, const struct rig_lane_syntax *syntax)
{
    __m512i odd = _mm512_subs_epu8(digits, all(syntax->nine));
    __mmask8 begins_with_zero = _mm512_testn_epi64_mask(numbers.first, all(syntax->low_byte));
    return _mm512_mask_ternarylogic_epi64(odd, begins_with_zero, numbers.bits, all(syntax->one_digit), A_OR_B_XOR_C);
}

/* Adds neighbours up to numbers of 2 digits, of 4, of 8. */
LANES __m512i number_values(__m512i digits, const struct rig_lane_syntax *syntax)
{
    __m512i twos = _mm512_maddubs_epi16(digits, all(syntax->tens));
    __m512i fours = _mm512_madd_epi16(twos, all(syntax->hundreds));
    __m512i eights = _mm512_madd_epi16(_mm512_packus_epi32(fours, fours), all(syntax->myriads));
    return _mm512_shuffle_epi8(eights, four(shape.key_and_value));
}

/* A transaction's text and its places. */
struct text {
    __m512i low, high, places;
};

LANES __m512i bytes_before(const struct text *text, __m512i ends, const uint8_t *steps)
{
    return _mm512_permutex2var_epi8(text->low, _mm512_add_epi8(ends, _mm512_loadu_si512(steps)), text->high);
}

LANES __m512i places_of(const struct text *text, const uint8_t *which)
{
    return _mm512_permutexvar_epi8(_mm512_loadu_si512(which), text->places);
}

/* Without optimization the gather is a macro of GCC's header that converts the mask to char. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"

/* The ids of keys. A key without a slot keeps its number and sets its bit in `missing`. */
LANES __m512i find_ids(__m512i values, __mmask8 keys, const struct rig_lane_syntax *syntax,
                       const struct rig_lane_slots *slots, __mmask8 *missing)
{
    __m512i hash = _mm512_srlv_epi64(_mm512_mul_epu32(values, all(syntax->hash)), all(slots->shift));
    __m512i slot = _mm512_and_si512(hash, all(slots->mask));
    __m512i found = _mm512_mask_i64gather_epi64(values, keys, slot, slots->at, sizeof *slots->at);
    *missing = _mm512_mask_cmpneq_epi64_mask(keys, _mm512_srli_epi64(found, 32), values);
    return _mm512_mask_and_epi64(values, _kandn_mask8(*missing, keys), found, all(syntax->ids));
}

#pragma GCC diagnostic pop

/* Reads `count` of four operations, the first four (`half` 0) or the last; false if they are not of this form. Bits 2i
 * and 2i + 1 of `read_lanes`: operation i reads. */
LANES bool take_four(const struct text *text, const struct rig_lane_syntax *syntax, const struct rig_lane_slots *slots,
                     unsigned half, uint32_t count, unsigned first_kind, struct rig_txn_op *ops, uint32_t *read_lanes,
                     uint32_t *missing_lanes)
{
    const __mmask8 lanes = _cvtu32_mask8((1U << count * 2) - 1), even = _cvtu32_mask8(0x55);
    __m512i names = bytes_before(text, places_of(text, shape.name_ends[half]), shape.name_bytes);
    __mmask8 reads =
        _mm512_mask_cmpeq_epi64_mask(lanes, _mm512_shuffle_epi8(names, four(syntax->type_at)), all(syntax->type));
    __m512i wanted = _mm512_mask_mov_epi64(four(syntax->write.text), reads, four(syntax->read.text));
    __m512i compared =
        _mm512_mask_loadu_epi64(_mm512_loadu_si512(syntax->write.compared[half]), reads, syntax->read.compared[half]);
    __m512i odd = _mm512_ternarylogic_epi64(names, wanted, compared, A_XOR_B_AND_C);

    __m512i ends = places_of(text, shape.number_ends[half]), from = places_of(text, shape.numbers_from[half]);
    struct numbers numbers = cut_numbers(bytes_before(text, ends, shape.number_bytes), ends, from, syntax);
    __mmask8 results = _kandn_mask8(even, reads);
    odd = _mm512_mask_or_epi64(odd, results, odd, _mm512_xor_si512(numbers.digits, all(syntax->null)));
    __m512i digits = _mm512_mask_mov_epi64(numbers.digits, results, _mm512_setzero_si512());
    odd = _mm512_or_si512(odd, odd_numbers(numbers, digits, syntax));

    __mmask8 missing;
    __m512i ids = find_ids(number_values(digits, syntax), _kand_mask8(lanes, even), syntax, slots, &missing);
    __m512i kinds = _mm512_maskz_mov_epi64(even, all((uint64_t)first_kind << 32));
    kinds = _mm512_mask_add_epi64(kinds, _kand_mask8(reads, even), kinds, all((uint64_t)1 << 32));
    _mm512_storeu_si512(ops + half * 4, _mm512_or_si512(ids, kinds));
    *read_lanes = _cvtmask8_u32(reads);
    *missing_lanes = _cvtmask8_u32(missing);
    return _cvtmask8_u32(_mm512_mask_test_epi64_mask(lanes, odd, odd)) == 0;
}

/* Writes a row for each read to `to`. Bit i of `reads`: operation i reads. */
LANES void list_reads(__m512i places, uint32_t reads, struct rig_lane_read *to)
{
    __m512i which = _mm512_castsi256_si512(load_half(shape.result_places));
    __m256i results = _mm512_castsi512_si256(_mm512_permutexvar_epi8(which, places));
    results = _mm256_add_epi8(_mm256_and_si256(results, load_half(shape.result_kept)), load_half(shape.result_added));
    _mm256_storeu_si256((__m256i_u *)(void *)to, _mm256_maskz_compress_epi32(_cvtu32_mask8(reads), results));
}

/* The positions of the set bits, packed: those of `low`, then those of `high`, which count from 64. */
LANES __m512i list_places(uint64_t low, uint32_t low_count, uint64_t high)
{
    __m512i places = _mm512_loadu_si512(shape.places);
    __m512i first = _mm512_maskz_compress_epi8(_cvtu64_mask64(low), places);
    __m512i others = _mm512_maskz_compress_epi8(_cvtu64_mask64(high), _mm512_loadu_si512(shape.places + 64));
    __m512i behind = _mm512_sub_epi8(places, _mm512_set1_epi8((char)low_count));
    return _mm512_or_si512(first, _mm512_permutexvar_epi8(behind, others));
}

static_assert(sizeof(struct rig_txn_op) == 16 && offsetof(struct rig_txn_op, kind) == 4 &&
                  offsetof(struct rig_txn_op, value) == 8,
              "take_four() makes it");

RIG_LANES_TARGET bool rig_lane_micros(const char *at, const struct rig_lane_syntax *syntax,
                                      const struct rig_lane_slots *slots, unsigned first_kind, struct rig_txn_op *ops,
                                      struct rig_lane_read *reads, struct rig_lane_txn *txn)
{
    struct text text = {.low = _mm512_loadu_si512(at), .high = _mm512_loadu_si512(at + 64)};
    uint64_t close_low = _cvtmask64_u64(_mm512_cmpeq_epi8_mask(text.low, all(syntax->close)));
    uint64_t close_high = _cvtmask64_u64(_mm512_cmpeq_epi8_mask(text.high, all(syntax->close)));
    uint64_t low = _cvtmask64_u64(_mm512_cmpeq_epi8_mask(text.low, all(syntax->blank))) | close_low;
    uint64_t high = _cvtmask64_u64(_mm512_cmpeq_epi8_mask(text.high, all(syntax->blank))) | close_high;
    /* The transaction ends at the first two brackets in a row; bits after the first of them are dropped. */
    uint64_t end_low = close_low & (close_low >> 1 | close_high << 63), end_high = close_high & close_high >> 1;
    uint64_t seen_low = _blsmsk_u64(end_low), seen_high = end_low != 0 ? 0 : _blsmsk_u64(end_high);
    low &= seen_low;
    high &= seen_high;
    uint32_t low_count = (uint32_t)_mm_popcnt_u64(low), place_count = low_count + (uint32_t)_mm_popcnt_u64(high);
    uint32_t count = (uint32_t)(_mm_popcnt_u64(close_low & seen_low) + _mm_popcnt_u64(close_high & seen_high));
    if ((end_low | end_high) == 0 || place_count + 1 != 4 * count || count > RIG_LANES)
        return false;
    text.places = list_places(low, low_count, high);
    uint32_t read_lanes, missing, more_reads = 0, more_missing = 0;
    bool usual = take_four(&text, syntax, slots, 0, count < 4 ? count : 4, first_kind, ops, &read_lanes, &missing);
    if (count > 4)
        usual &= take_four(&text, syntax, slots, 1, count - 4, first_kind, ops, &more_reads, &more_missing);
    usual &= _tzcnt_u64(low) == ((read_lanes & 1) != 0 ? syntax->read.first_at : syntax->write.first_at);
    uint32_t read_ops = _pext_u32(read_lanes | more_reads << 8, 0x5555);
    list_reads(text.places, read_ops, reads);
    txn->op_count = count;
    txn->read_count = (uint32_t)_mm_popcnt_u32(read_ops);
    txn->length = (uint32_t)(end_low != 0 ? _tzcnt_u64(end_low) : 64 + _tzcnt_u64(end_high)) + 2;
    txn->missing = missing | more_missing << 8;
    return usual;
}

RIG_LANES_TARGET uint32_t rig_lane_numbers(const char *at, const struct rig_lane_syntax *syntax, int64_t *numbers,
                                           uint32_t *length)
{
    __m512i text = _mm512_loadu_si512(at);
    uint64_t close = _cvtmask64_u64(_mm512_cmpeq_epi8_mask(text, all(syntax->close)));
    uint64_t blanks = _cvtmask64_u64(_mm512_cmpeq_epi8_mask(text, all(syntax->blank)));
    uint64_t ends = (blanks | close) & _blsmsk_u64(close);
    uint32_t count = (uint32_t)_mm_popcnt_u64(ends) - 1;
    *length = (uint32_t)_tzcnt_u64(close);
    if (count > RIG_LANES || close == 0 || (ends & 1) == 0)
        return RIG_LANES_NONE;
    __m512i places = _mm512_maskz_compress_epi8(_cvtu64_mask64(ends), _mm512_loadu_si512(shape.places));
    __m512i behind = _mm512_permutexvar_epi8(_mm512_loadu_si512(shape.nth_ends), places);
    __m512i from = _mm512_permutexvar_epi8(_mm512_loadu_si512(shape.nth_from), places);
    __m512i bytes = _mm512_add_epi8(behind, _mm512_loadu_si512(shape.number_bytes));
    struct numbers cut = cut_numbers(_mm512_permutexvar_epi8(bytes, text), behind, from, syntax);
    __m512i odd = odd_numbers(cut, cut.digits, syntax);
    _mm512_storeu_si512(numbers, number_values(cut.digits, syntax));
    __mmask8 lanes = _cvtu32_mask8((1U << count) - 1);
    return _cvtmask8_u32(_mm512_mask_test_epi64_mask(lanes, odd, odd)) == 0 ? count : RIG_LANES_NONE;
}
#endif
