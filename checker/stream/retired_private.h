/*
 * What the files of this folder share: the keys that are done with, as they are held (retired.h says what for).
 *
 * A key that a transaction in the window uses is a struct retired_key. All others rest, packed, in pages
 * (retired_rest.c), until a segment comes that uses them (retired_admit.c) or memory gets short (retired_forget.c).
 */
#ifndef RIG_CHECKER_STREAM_RETIRED_PRIVATE_H
#define RIG_CHECKER_STREAM_RETIRED_PRIVATE_H

#include "base/table.h"
#include "base/vec.h"
#include "checker/stream/key_pages.h"
#include "checker/stream/key_set.h"
#include "checker/stream/retired.h"
#include "history/read_list.h"
#include "history/text/text_table.h"

#define RIG_RETIRED_NONE UINT32_MAX

/* Values are kept as bits while these are no more than so many times the appends, and some more. */
enum { RIG_RETIRED_DENSE_FACTOR = 8 };

struct retired_key {
    uint64_t name;            /* its number, or that of its text */
    uint64_t hash;            /* of the first `count` elements */
    uint64_t cut_hash;        /* of the first `cut` elements */
    uint32_t count;           /* elements that every read has to begin with */
    uint32_t cut;             /* elements that the window does not have any more */
    int64_t lowest;           /* of all values appended; none when `values` is 0 */
    uint64_t span;            /* highest - lowest */
    uint64_t *bits;           /* which of lowest + 0 ... span; NULL: any of them may have been, or `full` */
    int64_t *prefix;          /* the `cut` elements, of a key that came back and was read; or NULL */
    uint32_t values;          /* how many were appended */
    uint32_t full : 1;        /* each of lowest + 0 ... span was, and there are no bits for it */
    uint32_t odd : 1;         /* no use is admitted */
    uint32_t many_unread : 1; /* no read is admitted */
    uint32_t unconfirmed : 1; /* nobody read the last of the `cut` elements */
    uint32_t unordered : 1;   /* counted as such */
};

RIG_VEC(struct retired_key, retired_keys)
RIG_VEC(uint32_t, key_numbers)
RIG_VEC(uint32_t, list_limits)
RIG_VEC(uint8_t, packed_keys)

struct rig_retired {
    struct retired_keys keys;    /* that transactions which are held use */
    struct rig_table ids;        /* name -> index into keys */
    struct rig_key_pages gone;   /* the others, packed, by name */
    struct rig_text_table texts; /* of text keys */
    struct rig_key_set forgotten;
    bool any_forgotten;
    uint32_t now; /* judgements */
    uint64_t unordered;
    size_t owned_bytes;         /* bits and prefixes */
    struct rig_segment cleaned; /* borrows but for keys, ops and branches */
    struct key_numbers numbers; /* per key of a segment: its retired key, or RIG_RETIRED_NONE */
    struct packed_keys packed;  /* one, on its way */
    struct list_limits spine_limits, branch_limits;
};

static const uint64_t rig_retired_empty_hash = 0x9e3779b97f4a7c15U;

/* The hash of what it was of, and of the first `count` elements of the list behind that. */
uint64_t rig_retired_hash_on(uint64_t hash, const struct rig_read_list *list, uint32_t count);

enum rig_rc rig_retired_no_memory(struct rig_err *err);

/* A key that is not there yet; NULL when memory runs out. */
struct retired_key *rig_retired_add(struct rig_retired *retired, uint64_t name);
/* Whether the value may have been written to the key. */
bool rig_retired_holds(const struct retired_key *key, int64_t value);
/* Words that the bits of a range take. */
static inline size_t rig_retired_words(uint64_t span)
{
    return (size_t)(span / 64 + 1);
}

/* No transaction in the window uses the key any more. False when memory runs out. */
bool rig_retired_rest(struct rig_retired *retired, struct retired_key *key);
/* The key, if it is retired; one that rested does so no more. False when memory runs out. */
bool rig_retired_wake(struct rig_retired *retired, uint64_t name, uint32_t *number);

#endif
