/*
 * Frames of the binary record (docs/history-format.md): the file's start, and frames with a length and a checksum.
 *
 * A frame is a 16-byte head {"RIG", type, payload length u32, checksum u64; little-endian} and its payload. The
 * checksum is xxh3-64 of the payload, seeded with the xxh3-64 of the first 8 bytes of the head, itself seeded with the
 * frame's number in the file (from 0), so that a missing, doubled or misplaced frame is detected.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_FRAME_H
#define RIG_HISTORY_RECORD_RECORD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Tells a cut record from a damaged one when its frames end too early, and how much follows.
 *
 * A cut ends the file, within a frame or between two. Everything else is damage: a frame with all its bytes and a wrong
 * checksum, bytes that begin no frame (zeros after a loss of power), a length past the end of the file although frames
 * follow, a missing or misplaced frame.
 *
 * Time: linear in the rest of the file, which is read; the number of bytes in checksums is bounded for any content.
 */

struct rig_record_damage {
    bool is_damaged;
    uint64_t bytes;  /* from where reading ended to the end of the file */
    uint64_t frames; /* complete and undamaged frames among them */
    uint64_t txns;   /* transactions that had completed at a later point, from undamaged frames; 0: unknown */
};

/*
 * Examines the `size` bytes of a file of this format version in which the frame `number` should begin at `at` but does
 * not.
 */
struct rig_record_damage rig_record_damage_at(const uint8_t *data, size_t size, unsigned version, size_t at,
                                              uint64_t number);

#define RIG_RECORD_MAGIC "\x89RIG\r\n\x1a\n"

enum {
    RIG_RECORD_MAGIC_BYTES = 8,
    RIG_RECORD_OLDEST_VERSION = 1,
    RIG_RECORD_VERSION = 2,
    RIG_RECORD_START_BYTES = 16, /* magic, version u32, 0 u32 */
    RIG_FRAME_HEAD_BYTES = 16,
    RIG_FRAME_MAX_BYTES = 1 << 30, /* payload */
};

enum rig_frame_type {
    RIG_FRAME_HEADER = 'H',
    RIG_FRAME_CHECKPOINT = 'K', /* from version 2: starts a block */
    RIG_FRAME_EVENTS = 'E',
    RIG_FRAME_CERTIFICATE = 'V', /* version 2, with RIG_RECORD_CERTIFICATE: before the closing frame */
    RIG_FRAME_CLOCK = 'T',       /* version 2, with RIG_RECORD_RANK: after the header, before the certificate */
    RIG_FRAME_CLOSE = 'C',
};

enum { RIG_FRAME_PACKED = 0x20 /* in the type of a checkpoint or of events: see history/record/packing.h */ };
enum { RIG_CHECKPOINT_NUMBER_BYTES = 8 /* a checkpoint's payload starts with the number of its frame */ };

/* Bits of the header's flags. */
enum {
    RIG_RECORD_POSITIONS = 1,        /* events carry positions; else these follow from the times */
    RIG_RECORD_TEXT_KEYS = 2,        /* keys are texts */
    RIG_RECORD_KEYWORD_KEYS = 4,     /* ... that were EDN keywords */
    RIG_RECORD_TIMES_DESCEND = 8,    /* version 2: times need not ascend, their differences are signed */
    RIG_RECORD_PACKED = 16,          /* version 2: frames may be packed */
    RIG_RECORD_FAULTS = 32,          /* version 2: there are events of faults */
    RIG_RECORD_COLUMNS = 64,         /* version 2: completions carry side columns */
    RIG_RECORD_CERTIFICATE = 128,    /* version 2: there are frames of a certificate */
    RIG_RECORD_VALUE_TEXTS = 256,    /* version 2: values may be texts, which the header has */
    RIG_RECORD_VALUE_KEYS = 512,     /* version 2: keys are values, as their texts */
    RIG_RECORD_RANK = 1024,          /* version 2: the record is one of a run over several ranks */
    RIG_RECORD_READS_AT_ONCE = 2048, /* version 2: see `reads_at_once` of struct rig_history */
    RIG_RECORD_ALL_ROWS = 4096,      /* version 2: see `has_all_rows` of struct rig_history */
    RIG_RECORD_SHARED_READS = 8192,  /* version 2: results may be values that several writes share */
    RIG_RECORD_FLAGS_KNOWN = 16383,
    RIG_RECORD_FLAGS_KNOWN_1 = 7, /* by version 1 */
};

/* Bits of the closing frame's flags. */
enum {
    RIG_CLOSE_CUT = 1, /* the history was read from a record that had been cut */
    RIG_CLOSE_FLAGS_KNOWN = 1,
};

/* An event's first byte: its kind, and flags that depend on the kind. */
enum {
    RIG_EVENT_KIND_MASK = 3,
    RIG_EVENT_INVOKE = 0,
    RIG_EVENT_COMPLETE = 1,
    RIG_EVENT_LONE = 2,   /* a completion of a transaction whose invocation is not in the history */
    RIG_EVENT_FORGET = 3, /* version 1 */
    RIG_EVENT_FAULT = 3,  /* version 2, with RIG_RECORD_FAULTS */

    RIG_INVOKE_USUAL = 4,          /* the client's last process, and began as intended */
    RIG_INVOKE_SAME_CLIENT = 8,    /* as of the last event */
    RIG_INVOKE_SAME_PROCESS_1 = 4, /* the two of version 1 */
    RIG_INVOKE_ON_TIME_1 = 8,
    RIG_EVENT_NO_TIME = 16,
    RIG_INVOKE_COUNT_SHIFT = 5, /* the upper three bits: operations, 7 for "a number follows" */
    RIG_INVOKE_COUNT_FOLLOWS = 7,

    RIG_FAULT_STEP_SHIFT = 2, /* two bits */
    RIG_FAULT_FAILED = 32,
    RIG_FAULT_TAG_KNOWN = 63,

    RIG_COMPLETE_OUTCOME_SHIFT = 2, /* two bits */
    RIG_COMPLETE_ERROR = 32,
    RIG_COMPLETE_READS = 64,
    RIG_COMPLETE_SAME_CLIENT = 128, /* as of the last event; not of a lone completion, nor in version 1 */
};

/* The byte after the tag of an unusual invocation. */
enum { RIG_UNUSUAL_SAME_PROCESS = 1, RIG_UNUSUAL_ON_TIME = 2, RIG_UNUSUAL_KNOWN = 3 };

/* An operation's first byte: the lowest bit: reads; the others: a distance, or this one if a number with the rest
 * follows. */
enum { RIG_OP_FAR = 120 };

/* Encodings of an error text. */
enum { RIG_ERROR_NEW = 0, RIG_ERROR_INLINE = 1, RIG_ERROR_FIRST_ID = 2, RIG_ERROR_TABLE_COUNT = 4096 };

/* Encodings of a read. */
enum {
    RIG_READ_CODE_UNKNOWN = 0,
    RIG_READ_CODE_NIL = 1,
    RIG_READ_CODE_APART = 2,  /* shares c elements with the spine, then differs */
    RIG_READ_CODE_SHARED = 2, /* registers, with RIG_RECORD_SHARED_READS: the value that several writes share follows */
    RIG_READ_CODE_PREFIX = 3, /* + 2 * (elements by which the spine is longer); registers: the value follows */
    RIG_READ_CODE_LONGER = 4, /* + 2 * (elements beyond the spine - 1), which follow and extend the spine */
};

/* The file's first RIG_RECORD_START_BYTES. */
void rig_record_start(struct rig_buf *buf);
/* Appends room for a head; returns the start of the frame. */
size_t rig_frame_begin(struct rig_buf *buf);
/* Fills in the head: `buf` from `start` on is the whole frame. */
void rig_frame_seal(struct rig_buf *buf, size_t start, unsigned type, uint64_t number);

struct rig_frame {
    uint8_t type;
    const uint8_t *payload;
    uint32_t size;
};

void rig_put_u64(uint8_t *to, uint64_t number);
uint64_t rig_get_u64(const uint8_t *from);

/* The frame at `at`; false unless it is complete and undamaged. */
bool rig_frame_read(const uint8_t *at, size_t left, uint64_t number, struct rig_frame *frame);

/* The payload size in the frame head at `at`, all bytes of which are there. */
uint32_t rig_frame_size(const uint8_t *at);
/* Whether all bytes of the frame at `at` are there, damaged or not. */
bool rig_frame_is_whole(const uint8_t *at, size_t left);

#endif
