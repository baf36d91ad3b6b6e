#include "history/record/record_damage.h"

#include <string.h>

#include "history/record/record_cursor.h"
#include "history/record/record_frame.h"

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

/* Whether the last frame is complete and only its length is wrong. */
static bool has_wrong_length(const struct search *search, size_t at, uint64_t number)
{
    const size_t left = search->size - at;
    if (left < RIG_FRAME_HEAD_BYTES || left - RIG_FRAME_HEAD_BYTES > RIG_FRAME_MAX_BYTES)
        return false;
    uint8_t head[RIG_FRAME_HEAD_BYTES];
    memcpy(head, search->data + at, sizeof head);
    return rig_frame_fits(head, search->data + at + RIG_FRAME_HEAD_BYTES, left - RIG_FRAME_HEAD_BYTES, number);
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
