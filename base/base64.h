/*
 * Base64 (RFC 4648), with either alphabet, padded or not. Threads: any.
 */
#ifndef RIG_BASE_BASE64_H
#define RIG_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Bytes that decoding `size` characters needs at most. */
static inline size_t rig_base64_room(size_t size)
{
    return size / 4 * 3 + 4;
}

/* The number of bytes written to `bytes`, which has rig_base64_room(); SIZE_MAX: the text is not base64. */
size_t rig_base64_decode(const char *text, size_t size, char *bytes);

/* Adds the bytes in base64: padded, or in the alphabet for URLs without padding. */
void rig_base64_add(const char *bytes, size_t size, bool for_urls, struct rig_buf *out);

#endif
