#include "base/sha256.h"

#include <string.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t word, unsigned by)
{
    return word >> by | word << (32 - by);
}

/* Section 6.2.2. */
static void take_block(uint32_t state[static 8], const unsigned char *block)
{
    uint32_t w[64], s[8];
    for (unsigned i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               (uint32_t)block[4 * i + 3];
    for (unsigned i = 16; i < 64; i++)
        w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (unsigned i = 0; i < 64; i++) {
        const uint32_t first = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) +
                               ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + w[i];
        const uint32_t second =
            (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += first;
        s[0] = first + second;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += s[i];
}

void rig_sha256_init(struct rig_sha256 *sum)
{
    *sum = (struct rig_sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void rig_sha256_add(struct rig_sha256 *sum, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count > 0) {
        const size_t held = sum->size % sizeof sum->block;
        const size_t taken = count < sizeof sum->block - held ? count : sizeof sum->block - held;
        memcpy(sum->block + held, at, taken);
        sum->size += taken;
        at += taken;
        count -= taken;
        if (held + taken == sizeof sum->block)
            take_block(sum->state, sum->block);
    }
}

void rig_sha256_end(struct rig_sha256 *sum, unsigned char digest[static RIG_SHA256_BYTES])
{
    const uint64_t bits = sum->size * 8;
    unsigned char end[72] = {0x80};
    const size_t padding = 1 + (119 - sum->size % 64) % 64;
    for (unsigned i = 0; i < 8; i++)
        end[padding + i] = (unsigned char)(bits >> (56 - 8 * i));
    rig_sha256_add(sum, end, padding + 8);
    for (unsigned i = 0; i < RIG_SHA256_BYTES; i++)
        digest[i] = (unsigned char)(sum->state[i / 4] >> (24 - 8 * (i % 4)));
}

void rig_sha256_of(const void *bytes, size_t count, unsigned char digest[static RIG_SHA256_BYTES])
{
    struct rig_sha256 sum;
    rig_sha256_init(&sum);
    rig_sha256_add(&sum, bytes, count);
    rig_sha256_end(&sum, digest);
}

void rig_sha256_hex(const unsigned char digest[static RIG_SHA256_BYTES], char text[static RIG_SHA256_HEX])
{
    for (unsigned i = 0; i < RIG_SHA256_BYTES; i++) {
        text[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    text[RIG_SHA256_HEX - 1] = '\0';
}
