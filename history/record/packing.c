#include "history/record/packing.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE_BYTES = 4 };

size_t rig_packed_size(const uint8_t *packed, size_t size)
{
    size_t unpacked = 0;
    for (size_t i = 0; i < SIZE_BYTES && size > SIZE_BYTES; i++)
        unpacked |= (size_t)packed[i] << (8 * i);
    return unpacked;
}

#ifdef RIG_HAVE_ZSTD

#include <zstd.h>

/* Higher levels take more time for hardly shorter records. */
static const int packing_level = 3;

struct rig_packer {
    ZSTD_CCtx *pack;
    ZSTD_DCtx *unpack;
    struct rig_buf packed;
};

bool rig_packing_available(void)
{
    return true;
}

struct rig_packer *rig_packer_new(void)
{
    struct rig_packer *packer = calloc(1, sizeof *packer);
    if (packer != NULL)
        rig_buf_init(&packer->packed, 0);
    return packer;
}

void rig_packer_free(struct rig_packer *packer)
{
    if (packer == NULL)
        return;
    ZSTD_freeCCtx(packer->pack);
    ZSTD_freeDCtx(packer->unpack);
    rig_buf_done(&packer->packed);
    free(packer);
}

bool rig_packer_pack(struct rig_packer *packer, struct rig_buf *buf, size_t start)
{
    size_t size = buf->size - start;
    if (packer->pack == NULL)
        packer->pack = ZSTD_createCCtx();
    if (buf->failed || packer->pack == NULL || size <= SIZE_BYTES || size > RIG_PACKING_MAX_BYTES)
        return false;
    size_t room = ZSTD_compressBound(size);
    rig_buf_clear(&packer->packed);
    char *to = rig_buf_reserve(&packer->packed, room);
    if (to == NULL)
        return false;
    size_t packed = ZSTD_compressCCtx(packer->pack, to, room, buf->data + start, size, packing_level);
    if (ZSTD_isError(packed) || packed + SIZE_BYTES >= size)
        return false;
    for (size_t i = 0; i < SIZE_BYTES; i++)
        buf->data[start + i] = (char)(uint8_t)(size >> (8 * i));
    memcpy(buf->data + start + SIZE_BYTES, to, packed);
    buf->size = start + SIZE_BYTES + packed;
    return true;
}

enum rig_unpacked rig_packer_unpack(struct rig_packer *packer, const uint8_t *packed, size_t size, struct rig_buf *buf)
{
    const size_t unpacked = rig_packed_size(packed, size);
    if (size <= SIZE_BYTES || unpacked > RIG_PACKING_MAX_BYTES)
        return RIG_UNPACKED_DAMAGED;
    if (packer->unpack == NULL)
        packer->unpack = ZSTD_createDCtx();
    rig_buf_clear(buf);
    char *to = rig_buf_reserve(buf, unpacked);
    if (packer->unpack == NULL || to == NULL)
        return RIG_UNPACKED_NO_MEMORY;
    size_t got = ZSTD_decompressDCtx(packer->unpack, to, unpacked, packed + SIZE_BYTES, size - SIZE_BYTES);
    if (ZSTD_isError(got) || got != unpacked)
        return RIG_UNPACKED_DAMAGED;
    buf->size = unpacked;
    return RIG_UNPACKED;
}

#else

bool rig_packing_available(void)
{
    return false;
}

struct rig_packer *rig_packer_new(void)
{
    return NULL;
}

void rig_packer_free(struct rig_packer *packer)
{
    (void)packer;
}

bool rig_packer_pack(struct rig_packer *packer, struct rig_buf *buf, size_t start)
{
    (void)packer;
    (void)buf;
    (void)start;
    return false;
}

enum rig_unpacked rig_packer_unpack(struct rig_packer *packer, const uint8_t *packed, size_t size, struct rig_buf *buf)
{
    (void)packer;
    (void)packed;
    (void)size;
    (void)buf;
    return RIG_UNPACKED_DAMAGED;
}

#endif
