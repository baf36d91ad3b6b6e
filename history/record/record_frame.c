#include "history/record/record_frame.h"

#include <string.h>
#include <xxhash.h>

#include "base/bug.h"

static void put_u32(uint8_t *to, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(number >> (8 * i));
}

static uint32_t get_u32(const uint8_t *from)
{
    uint32_t number = 0;
    for (int i = 0; i < 4; i++)
        number |= (uint32_t)from[i] << (8 * i);
    return number;
}

uint64_t rig_get_u64(const uint8_t *from)
{
    return get_u32(from) | (uint64_t)get_u32(from + 4) << 32;
}

void rig_put_u64(uint8_t *to, uint64_t number)
{
    put_u32(to, (uint32_t)number);
    put_u32(to + 4, (uint32_t)(number >> 32));
}

/* The head's first 8 bytes are in the seed, so that the payload is hashed in place. */
static uint64_t checksum(const uint8_t *head, const uint8_t *payload, size_t size, uint64_t number)
{
    return XXH3_64bits_withSeed(payload, size, XXH3_64bits_withSeed(head, 8, number));
}

void rig_record_start(struct rig_buf *buf)
{
    uint8_t start[RIG_RECORD_START_BYTES] = {0};
    memcpy(start, RIG_RECORD_MAGIC, RIG_RECORD_MAGIC_BYTES);
    put_u32(start + RIG_RECORD_MAGIC_BYTES, RIG_RECORD_VERSION);
    rig_buf_add(buf, start, sizeof start);
}

size_t rig_frame_begin(struct rig_buf *buf)
{
    static const char head[RIG_FRAME_HEAD_BYTES] = {0};
    size_t start = buf->size;
    rig_buf_add(buf, head, sizeof head);
    return start;
}

void rig_frame_seal(struct rig_buf *buf, size_t start, unsigned type, uint64_t number)
{
    if (buf->failed)
        return;
    RIG_REQUIRE(buf->size - start >= RIG_FRAME_HEAD_BYTES &&
                buf->size - start - RIG_FRAME_HEAD_BYTES <= RIG_FRAME_MAX_BYTES);
    uint8_t *head = (uint8_t *)buf->data + start;
    size_t size = buf->size - start - RIG_FRAME_HEAD_BYTES;
    head[0] = 'R';
    head[1] = 'I';
    head[2] = 'G';
    head[3] = (uint8_t)type;
    put_u32(head + 4, (uint32_t)size);
    rig_put_u64(head + 8, checksum(head, head + RIG_FRAME_HEAD_BYTES, size, number));
}

bool rig_frame_read(const uint8_t *at, size_t left, uint64_t number, struct rig_frame *frame)
{
    if (left < RIG_FRAME_HEAD_BYTES || memcmp(at, "RIG", 3) != 0)
        return false;
    uint32_t size = get_u32(at + 4);
    if (size > RIG_FRAME_MAX_BYTES || size > left - RIG_FRAME_HEAD_BYTES)
        return false;
    const uint8_t *payload = at + RIG_FRAME_HEAD_BYTES;
    if (checksum(at, payload, size, number) != rig_get_u64(at + 8))
        return false;
    *frame = (struct rig_frame){.type = at[3], .payload = payload, .size = size};
    return true;
}

bool rig_frame_fits(uint8_t *head, const uint8_t *payload, size_t size, uint64_t number)
{
    put_u32(head + 4, (uint32_t)size);
    return checksum(head, payload, size, number) == rig_get_u64(head + 8);
}

uint32_t rig_frame_size(const uint8_t *at)
{
    return get_u32(at + 4);
}

bool rig_frame_is_whole(const uint8_t *at, size_t left)
{
    return left >= RIG_FRAME_HEAD_BYTES && get_u32(at + 4) <= left - RIG_FRAME_HEAD_BYTES;
}
