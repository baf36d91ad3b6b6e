#include "history/record/record_frame.h"

#include <string.h>
#include <xxhash.h>

#include "base/bug.h"
#include "history/record/record_cursor.h"

/*
 * The number of missing frames at which the next one is still recognised by its number alone (a checkpoint has its
 * own), apart from those whose heads are still there, and how often each following byte may go into a checksum: bytes
 * that look like many long frames must not make a reader hang.
 */
enum { MISSING_MOST = 4, LOOKS_A_BYTE = 8 };

struct search {
    const uint8_t *data;
    size_t size;
    unsigned version;
    uint64_t budget; /* bytes that may still go into checksums */
    uint64_t passed; /* damaged frames with complete heads since the last undamaged one */
    struct rig_record_damage found;
};

static bool is_type(const struct search *search, uint8_t type)
{
    if (type == RIG_FRAME_HEADER || type == RIG_FRAME_EVENTS || type == RIG_FRAME_CLOSE ||
        (search->version > 1 && (type == RIG_FRAME_CERTIFICATE || type == RIG_FRAME_CLOCK)))
        return true;
    const bool packed = (type & RIG_FRAME_PACKED) != 0;
    type &= (uint8_t) ~(unsigned)RIG_FRAME_PACKED;
    return search->version > 1 && (type == RIG_FRAME_CHECKPOINT || (packed && type == RIG_FRAME_EVENTS));
}

static bool read_frame(struct search *search, size_t at, uint64_t number, struct rig_frame *frame)
{
    const size_t left = search->size - at;
    if (!rig_frame_is_whole(search->data + at, left) || !is_type(search, search->data[at + 3]))
        return false;
    const uint64_t cost = (uint64_t)rig_frame_size(search->data + at) + RIG_FRAME_HEAD_BYTES;
    if (cost > search->budget)
        return false;
    search->budget -= cost;
    return rig_frame_read(search->data + at, left, number, frame);
}

/* The undamaged frame at `at`, if there is one with a number of at least `*number`. */
static bool recognise(struct search *search, size_t at, uint64_t *number, struct rig_frame *frame)
{
    const uint8_t *head = search->data + at;
    const size_t left = search->size - at;
    if (rig_frame_is_whole(head, left) && (head[3] & ~RIG_FRAME_PACKED) == RIG_FRAME_CHECKPOINT) {
        const uint64_t told =
            rig_frame_size(head) < RIG_CHECKPOINT_NUMBER_BYTES ? 0 : rig_get_u64(head + RIG_FRAME_HEAD_BYTES);
        if (!read_frame(search, at, told, frame))
            return false;
        *number = told;
        return true;
    }
    const uint64_t end = *number + search->passed + MISSING_MOST;
    for (uint64_t guess = *number; guess < end; guess++) {
        if (read_frame(search, at, guess, frame)) {
            *number = guess;
            return true;
        }
    }
    search->passed += rig_frame_is_whole(head, left) && is_type(search, head[3]);
    return false;
}

static void note(struct search *search, const struct rig_frame *frame)
{
    struct rig_record_cursor cursor = {.at = frame->payload, .end = frame->payload + frame->size};
    uint64_t txns = 0;
    search->found.frames++;
    if (search->version == 1 || (frame->type != RIG_FRAME_CHECKPOINT && frame->type != RIG_FRAME_CLOSE))
        return;
    if (frame->type == RIG_FRAME_CHECKPOINT)
        cursor.at += RIG_CHECKPOINT_NUMBER_BYTES;
    else
        (void)rig_cursor_number(&cursor); /* flags */
    (void)rig_cursor_number(&cursor);     /* events */
    txns = rig_cursor_number(&cursor);
    if (cursor.bad == NULL && txns > search->found.txns)
        search->found.txns = txns;
}

/* Counts the frames after `at`; the first has a number from `number` on. */
static void look_behind(struct search *search, size_t at, uint64_t number)
{
    static const char head[3] = {'R', 'I', 'G'};
    while (at < search->size) {
        const uint8_t *place = memmem(search->data + at, search->size - at, head, sizeof head);
        struct rig_frame frame;
        if (place == NULL)
            return;
        at = (size_t)(place - search->data);
        if (search->size - at >= RIG_FRAME_HEAD_BYTES && recognise(search, at, &number, &frame)) {
            note(search, &frame);
            search->passed = 0;
            number++;
            at += RIG_FRAME_HEAD_BYTES + frame.size;
        } else {
            at++;
        }
    }
}

/* Whether the bytes at `at` can be the beginning of a frame that is cut by the end of the file. */
static bool begins_frame(const struct search *search, size_t at)
{
    const uint8_t *head = search->data + at;
    const size_t left = search->size - at;
    if (memcmp(head, "RIG", left < 3 ? left : 3) != 0 || (left > 3 && !is_type(search, head[3])))
        return false;
    if (left < RIG_FRAME_HEAD_BYTES)
        return true;
    return rig_frame_size(head) <= RIG_FRAME_MAX_BYTES && !rig_frame_is_whole(head, left);
}

static void put_u32(uint8_t *to, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(number >> (8 * i));
}

/* The head's first 8 bytes are in the seed, so that the payload is hashed in place. */
static uint64_t checksum(const uint8_t *head, const uint8_t *payload, size_t size, uint64_t number)
{
    return XXH3_64bits_withSeed(payload, size, XXH3_64bits_withSeed(head, 8, number));
}

/* Whether head and payload are a frame with this size, which is stored in the head. */
static bool frame_fits(uint8_t *head, const uint8_t *payload, size_t size, uint64_t number)
{
    put_u32(head + 4, (uint32_t)size);
    return checksum(head, payload, size, number) == rig_get_u64(head + 8);
}

/* Whether the last frame is complete and only its length is wrong. */
static bool has_wrong_length(const struct search *search, size_t at, uint64_t number)
{
    const size_t left = search->size - at;
    if (left < RIG_FRAME_HEAD_BYTES || left - RIG_FRAME_HEAD_BYTES > RIG_FRAME_MAX_BYTES)
        return false;
    uint8_t head[RIG_FRAME_HEAD_BYTES];
    memcpy(head, search->data + at, sizeof head);
    return frame_fits(head, search->data + at + RIG_FRAME_HEAD_BYTES, left - RIG_FRAME_HEAD_BYTES, number);
}

/* Whether the file's last bytes are those of a closing frame, which tell where it begins. */
static bool ends_as_closed(const struct search *search, size_t at)
{
    return search->version > 1 && search->size - at >= RIG_FRAME_HEAD_BYTES + sizeof(uint64_t) &&
           rig_get_u64(search->data + search->size - sizeof(uint64_t)) == at;
}

struct rig_record_damage rig_record_damage_at(const uint8_t *data, size_t size, unsigned version, size_t at,
                                              uint64_t number)
{
    struct search search = {.data = data, .size = size, .version = version};
    search.found.bytes = size - at;
    if (at >= size)
        return search.found;
    search.budget = (uint64_t)LOOKS_A_BYTE * (size - at);
    look_behind(&search, at + 1, number);
    search.found.is_damaged = search.found.frames > 0 || !begins_frame(&search, at) ||
                              has_wrong_length(&search, at, number) || ends_as_closed(&search, at);
    return search.found;
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

uint32_t rig_frame_size(const uint8_t *at)
{
    return get_u32(at + 4);
}

bool rig_frame_is_whole(const uint8_t *at, size_t left)
{
    return left >= RIG_FRAME_HEAD_BYTES && get_u32(at + 4) <= left - RIG_FRAME_HEAD_BYTES;
}
