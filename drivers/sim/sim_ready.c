#include "drivers/sim/sim_ready.h"

#include <stdlib.h>

#include "base/bug.h"

enum { BLOCK_WORDS = 16, BLOCK_BITS = BLOCK_WORDS * 64 };

bool rig_sim_ready_init(struct rig_sim_ready *ready, uint32_t session_count)
{
    size_t block_count = (size_t)session_count / BLOCK_BITS + 1;
    *ready = (struct rig_sim_ready){.words = calloc(block_count * BLOCK_WORDS, sizeof *ready->words),
                                    .blocks = calloc(block_count, sizeof *ready->blocks)};
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

static uint32_t ones(uint64_t word)
{
    return (uint32_t)__builtin_popcountll(word);
}

/* The place of the bit with `rank` lower ones: halves, as long as they tell. */
static uint32_t bit_at(uint64_t word, uint32_t rank)
{
    uint32_t at = 0;
    for (uint32_t width = 32; width > 0; width /= 2) {
        uint32_t low = ones(word & ((UINT64_C(1) << width) - 1));
        if (rank < low)
            continue;
        rank -= low;
        word >>= width;
        at += width;
    }
    return at;
}

uint32_t rig_sim_ready_at(const struct rig_sim_ready *ready, uint32_t rank)
{
    RIG_REQUIRE(rank < ready->count);
    uint32_t block = 0;
    while (rank >= ready->blocks[block])
        rank -= ready->blocks[block++];
    uint32_t word = block * BLOCK_WORDS;
    uint32_t in_word;
    while (rank >= (in_word = ones(ready->words[word]))) {
        rank -= in_word;
        word++;
    }
    return word * 64 + bit_at(ready->words[word], rank);
}
