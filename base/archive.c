#include "base/archive.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 512, STORED_MOST = 65535, TAR_BYTES_MOST = 256 << 20 };

/* POSIX.1-1988 ustar, up to the padding. */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6], version[2];
    char user[32], group[32], major[8], minor[8], prefix[155], padding[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

void rig_archive_init(struct rig_archive *archive)
{
    rig_buf_init(&archive->tar, TAR_BYTES_MOST);
}

void rig_archive_done(struct rig_archive *archive)
{
    rig_buf_done(&archive->tar);
}

static void add_zeros(struct rig_buf *buf, size_t count)
{
    char *room = rig_buf_reserve(buf, count);
    if (room == NULL)
        return;
    memset(room, 0, count);
    buf->size += count;
}

enum rig_rc rig_archive_add(struct rig_archive *archive, const char *name, bool is_script, const void *bytes,
                            size_t count, struct rig_err *err)
{
    struct header header = {.type = '0', .magic = "ustar", .version = {'0', '0'}};
    unsigned sum = 0;
    if (strlen(name) > RIG_ARCHIVE_NAME_BYTES)
        return rig_fail(err, RIG_E_LIMIT, "%s: the name is too long for an archive", name);
    memcpy(header.name, name, strlen(name));
    (void)snprintf(header.mode, sizeof header.mode, "%07o", is_script ? 0755U : 0644U);
    (void)snprintf(header.uid, sizeof header.uid, "%07o", 0U);
    (void)snprintf(header.gid, sizeof header.gid, "%07o", 0U);
    (void)snprintf(header.size, sizeof header.size, "%011zo", count);
    (void)snprintf(header.mtime, sizeof header.mtime, "%011o", 0U);
    memset(header.checksum, ' ', sizeof header.checksum);
    for (size_t i = 0; i < sizeof header; i++)
        sum += ((const unsigned char *)&header)[i];
    (void)snprintf(header.checksum, sizeof header.checksum, "%06o", sum & 0777777U);
    rig_buf_add(&archive->tar, &header, sizeof header);
    rig_buf_add(&archive->tar, bytes, count);
    if (count % BLOCK != 0)
        add_zeros(&archive->tar, BLOCK - count % BLOCK);
    return archive->tar.failed
               ? rig_fail(err, RIG_E_LIMIT, "%s: the archive is larger than %d MiB, or there is no memory", name,
                          TAR_BYTES_MOST >> 20)
               : RIG_OK;
}

/* The CRC of gzip, byte by byte: archives are small. */
static uint32_t crc_of(const struct rig_buf *bytes)
{
    uint32_t table[256], crc = 0xffffffff;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1) * 0xedb88320;
    }
    for (size_t i = 0; i < bytes->size; i++)
        crc = crc >> 8 ^ table[(crc ^ (unsigned char)bytes->data[i]) & 0xff];
    return ~crc;
}

static void add_little(struct rig_buf *out, uint32_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        rig_buf_add_char(out, (char)(number >> 8 * i & 0xff));
}

enum rig_rc rig_archive_finish(struct rig_archive *archive, struct rig_buf *out, struct rig_err *err)
{
    static const char head[] = {0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    add_zeros(&archive->tar, 2 * BLOCK);
    rig_buf_add(out, head, sizeof head);
    for (size_t at = 0; at < archive->tar.size; at += STORED_MOST) {
        const size_t left = archive->tar.size - at, count = left < STORED_MOST ? left : STORED_MOST;
        rig_buf_add_char(out, left <= STORED_MOST); /* the last block */
        add_little(out, (uint32_t)count, 2);
        add_little(out, ~(uint32_t)count & 0xffff, 2);
        rig_buf_add(out, archive->tar.data + at, count);
    }
    add_little(out, crc_of(&archive->tar), 4);
    add_little(out, (uint32_t)archive->tar.size, 4);
    return archive->tar.failed || out->failed ? rig_no_memory(err, "the archive") : RIG_OK;
}
