/*
 * SHA-256 (FIPS 180-4), for checksums that sha256sum can repeat, and for the hash of a script in a page.
 *
 * Time: about 4 ns a byte. Threads: any, each its own sum.
 */
#ifndef RIG_BASE_SHA256_H
#define RIG_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { RIG_SHA256_BYTES = 32, RIG_SHA256_HEX = 2 * RIG_SHA256_BYTES + 1 };

struct rig_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    unsigned char block[64];
};

void rig_sha256_init(struct rig_sha256 *sum);
void rig_sha256_add(struct rig_sha256 *sum, const void *bytes, size_t count);
/* The digest; the sum must be initialised again before further use. */
void rig_sha256_end(struct rig_sha256 *sum, unsigned char digest[static RIG_SHA256_BYTES]);
/* All three, of one block of bytes; and the digest in lower-case hexadecimal. */
void rig_sha256_of(const void *bytes, size_t count, unsigned char digest[static RIG_SHA256_BYTES]);
void rig_sha256_hex(const unsigned char digest[static RIG_SHA256_BYTES], char text[static RIG_SHA256_HEX]);

#endif
