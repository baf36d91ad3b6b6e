/*
 * The representation of retired keys, shared by the files that implement retired.h.
 *
 * A key that a transaction in the window uses is a struct retired_key. All others rest, packed, in pages, until a
 * segment comes that uses them (retired.c) or memory gets short (retired_forget.c).
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_RETIRED_PRIVATE_H
#define RIG_CHECKER_JUDGE_STREAM_RETIRED_PRIVATE_H

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "checker/judge/stream/key_pages.h"
#include "checker/judge/stream/key_set.h"
#include "checker/judge/stream/retired.h"
#include "history/model/read_list.h"
#include "history/text/text_table.h"

#define RIG_RETIRED_NONE UINT32_MAX

/* Values are kept as bits while the bits are at most this many times the appends, plus a constant. */
enum { RIG_RETIRED_DENSE_FACTOR = 8 };

struct retired_key {
    uint64_t name;            /* its number, or that of its text */
    uint64_t hash;            /* of the first `count` elements */
    uint64_t cut_hash;        /* of the first `cut` elements */
    uint32_t count;           /* elements that every read has to begin with */
    uint32_t cut;             /* elements that the window does not have any more */
    int64_t lowest;           /* of all values appended; none when `values` is 0 */
    uint64_t span;            /* highest - lowest */
    uint64_t *bits;           /* the appended ones of lowest + 0 ... span; NULL: `full`, or unknown */
    int64_t *prefix;          /* the `cut` elements, of a key that was used again and read; or NULL */
    uint32_t values;          /* how many were appended */
    uint32_t full : 1;        /* each of lowest + 0 ... span was, and there are no bits for it */
    uint32_t anomalous : 1;   /* on an anomaly or the like: no use is admitted */
    uint32_t many_unread : 1; /* no read is admitted */
    uint32_t unconfirmed : 1; /* no read has shown the last of the `cut` elements */
    uint32_t unordered : 1;   /* counted as such */
};

RIG_VEC(struct retired_key, retired_keys)
RIG_VEC(uint32_t, key_numbers)
RIG_VEC(uint32_t, list_limits)
RIG_VEC(uint8_t, packed_keys)

struct rig_retired {
    const struct rig_type_retired *type;
    struct retired_keys keys;     /* used by transactions in the window */
    struct rig_table ids;         /* name -> index into keys */
    struct rig_key_pages resting; /* the others, packed, by name */
    struct rig_text_table texts;  /* of text keys */
    struct rig_key_set forgotten;
    bool any_forgotten;
    uint32_t now; /* judgements */
    uint64_t unordered;
    size_t owned_bytes;         /* bits and prefixes */
    struct rig_segment cleaned; /* owns keys, ops and branches, and borrows the rest */
    struct key_numbers numbers; /* per key of a segment: its retired key, or RIG_RETIRED_NONE */
    struct packed_keys packed;  /* one, on its way */
    struct list_limits spine_limits, branch_limits;
};

static const uint64_t rig_retired_empty_hash = 0x9e3779b97f4a7c15U;

/* Continues a hash with the first `count` elements of the list. */
uint64_t rig_retired_hash_on(uint64_t hash, const struct rig_read_list *list, uint32_t count);

/* Whether the value may have been written to the key. */
bool rig_retired_holds(const struct retired_key *key, int64_t value);
/* The number of words for the bits of a range. */
static inline size_t rig_retired_words(uint64_t span)
{
    return (size_t)(span / 64 + 1);
}

/* The values of a key that a judgement shows. */
struct rig_retired_values {
    int64_t lowest, highest; /* where there are any */
    uint32_t count;
};

/* The number of a key of a history, or RIG_RETIRED_NONE; and whether it was forgotten. */
uint32_t rig_retired_find(const struct rig_retired *retired, const struct rig_history *history, uint32_t key);
bool rig_retired_is_forgotten(const struct rig_retired *retired, const struct rig_history *history, uint32_t key);
/* The retired key, new or known; NULL when memory runs out. One that is in the window is not packed. */
struct retired_key *rig_retired_put(struct rig_retired *retired, const struct rig_history *history, uint32_t key);
/* Makes the key's range cover the values, as bits while that pays. False when memory runs out. */
bool rig_retired_widen(struct rig_retired *retired, struct retired_key *key, const struct rig_retired_values *values);
/* Notes that the value was written. The key has bits, and the value is in its range. */
static inline void rig_retired_set_bit(struct retired_key *key, int64_t value)
{
    uint64_t place = (uint64_t)value - (uint64_t)key->lowest;
    RIG_REQUIRE(key->bits != NULL && place <= key->span);
    key->bits[place / 64] |= UINT64_C(1) << (place % 64);
}

/* Packs a key that no transaction in the window uses any more. False when memory runs out. */
bool rig_retired_rest(struct rig_retired *retired, struct retired_key *key);

/* ---- data types ---- */

/* A judgement whose keys are remembered (rig_retired_remember()). */
struct rig_retiring {
    struct rig_retired *retired;
    const struct rig_inference *inference;
    const uint8_t *judged, *anomalous;
    bool clean;
};

/* A segment with retired keys: `retired` has a copy, and the type cuts the judged parts off it. */
struct rig_admission {
    struct rig_retired *retired;
    const struct rig_segment *segment;
    const char *conflict; /* NULL: none so far */
};

/* The memory of the keys of one type, and the later uses that are allowed. */
struct rig_type_retired {
    /* False when memory runs out. */
    bool (*remember)(const struct rig_retiring *r, uint32_t key, bool dropped);
    /* Two or more committed transactions made writes that no read shows and whose order is unknown; NULL: never. */
    bool (*is_unordered)(const struct rig_inference *inference, uint32_t key);
    /* rig_retired_is_settled(); NULL: never. */
    bool (*is_settled)(const struct rig_inference *inference, uint32_t key, bool clean);
    /* Looks for conflicts. False when memory runs out. */
    bool (*admit)(struct rig_admission *a);
};

extern const struct rig_type_retired rig_list_retired, rig_register_retired, rig_set_retired, rig_object_retired;

/* An operation of the copy on a retired key. */
typedef void rig_admit_op(struct rig_admission *a, struct retired_key *key, enum rig_outcome outcome,
                          struct rig_txn_op *op);
/* Calls `admit` for each of them, and for writes of transactions that are still open, until there is a conflict. */
void rig_admission_walk(struct rig_admission *a, rig_admit_op *admit);
/* A write of a retired key. */
void rig_admission_write(struct rig_admission *a, const struct retired_key *key, int64_t value);

#endif
