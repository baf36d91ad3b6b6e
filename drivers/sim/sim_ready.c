#include "drivers/sim/sim_ready.h"

#include <stdlib.h>

#include "base/bug.h"

enum { BLOCK_WORDS = 16, BLOCK_BITS = BLOCK_WORDS * 64 };

/* ---- counting and finding bits ---- */

/* The number of bits set in each byte and those below it. */
static uint64_t counts_up_to_byte(uint64_t word)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    word -= (word >> 1) & (each * 0x55);
    word = (word & (each * 0x33)) + ((word >> 2) & (each * 0x33));
    return ((word + (word >> 4)) & (each * 0x0f)) * each;
}

static inline uint32_t plain_ones(uint64_t word)
{
    return (uint32_t)(counts_up_to_byte(word) >> 56);
}

/*
 * The index of the bit with `rank` lower ones (Vigna 2008, broadword): the byte is the number of bytes up to which
 * there are at most `rank`.
 */
static inline uint32_t plain_bit_at(uint64_t word, uint32_t rank)
{
    const uint64_t each = UINT64_C(0x0101010101010101), top = each * 0x80;
    uint64_t counts = counts_up_to_byte(word);
    uint64_t at_most = (((rank * each) | top) - counts) & top; /* a top bit where count <= rank */
    uint32_t shift = (uint32_t)(((at_most >> 7) * each) >> 56) * 8;
    uint32_t below = shift == 0 ? 0 : (uint32_t)(counts >> (shift - 8)) & 0xff;
    uint32_t byte = (uint32_t)(word >> shift) & 0xff;
    for (rank -= below; rank > 0; rank--)
        byte &= byte - 1;
    return shift + (uint32_t)__builtin_ctz(byte);
}

/* The search itself, with given functions for counting and finding. */
#define FIND(ones, bit_at)                                                                                             \
    uint32_t word = 0, in_word;                                                                                        \
    for (uint32_t block = 0; rank >= ready->blocks[block]; word += BLOCK_WORDS)                                        \
        rank -= ready->blocks[block++];                                                                                \
    for (; rank >= (in_word = ones(ready->words[word])); word++)                                                       \
        rank -= in_word;                                                                                               \
    return word * 64 + bit_at(ready->words[word], rank)

static inline uint32_t find_plain(const struct rig_sim_ready *ready, uint32_t rank)
{
    FIND(plain_ones, plain_bit_at);
}

#if defined(__x86_64__)

#include <immintrin.h>

#define HAS_BITS()         (__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
#define BITS               __attribute__((target("bmi2,popcnt")))
#define COUNT(word)        ((uint32_t)__builtin_popcountll(word))
#define BIT_AT(word, rank) ((uint32_t)__builtin_ctzll(_pdep_u64(UINT64_C(1) << (rank), (word))))

BITS static uint32_t find_with_bits(const struct rig_sim_ready *ready, uint32_t rank)
{
    FIND(COUNT, BIT_AT);
}

#else

#define HAS_BITS()     false
#define find_with_bits find_plain

#endif

/* ---- the set ---- */

bool rig_sim_ready_init(struct rig_sim_ready *ready, uint32_t session_count)
{
    size_t block_count = (size_t)session_count / BLOCK_BITS + 1;
    *ready = (struct rig_sim_ready){.words = calloc(block_count * BLOCK_WORDS, sizeof *ready->words),
                                    .blocks = calloc(block_count, sizeof *ready->blocks),
                                    .has_bits = HAS_BITS()};
    return ready->words != NULL && ready->blocks != NULL;
}

void rig_sim_ready_done(struct rig_sim_ready *ready)
{
    free(ready->words);
    free(ready->blocks);
    *ready = (struct rig_sim_ready){0};
}

static uint64_t bit_of(uint32_t session)
{
    return UINT64_C(1) << (session % 64);
}

void rig_sim_ready_add(struct rig_sim_ready *ready, uint32_t session)
{
    RIG_REQUIRE((ready->words[session / 64] & bit_of(session)) == 0);
    ready->words[session / 64] |= bit_of(session);
    ready->blocks[session / BLOCK_BITS]++;
    ready->count++;
}

void rig_sim_ready_remove(struct rig_sim_ready *ready, uint32_t session)
{
    RIG_REQUIRE((ready->words[session / 64] & bit_of(session)) != 0);
    ready->words[session / 64] &= ~bit_of(session);
    ready->blocks[session / BLOCK_BITS]--;
    ready->count--;
}

uint32_t rig_sim_ready_at(const struct rig_sim_ready *ready, uint32_t rank)
{
    RIG_REQUIRE(rank < ready->count);
    return ready->has_bits ? find_with_bits(ready, rank) : find_plain(ready, rank);
}
