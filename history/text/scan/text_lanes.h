/*
 * Eight numbers of a text read at once, each in a lane of its own: without a loop, whose end would have to be guessed,
 * and without a branch on how long a number is.
 *
 * Blanks and closing brackets are found 64 bytes at a time. Their places, one behind the other in a vector, say where
 * numbers and names begin and end, and the bytes before such a place are moved into a lane. Whatever is unusual
 * (numbers of more than eight digits, signs, texts for keys, spaces where none are expected, more than eight of
 * anything) is left to others.
 *
 * Only AVX-512 with its byte permutations has this (struct rig_text_block: `micros`, `numbers`); 128 bytes of text must
 * be readable. Threads: any.
 */
#ifndef RIG_HISTORY_TEXT_SCAN_TEXT_LANES_H
#define RIG_HISTORY_TEXT_SCAN_TEXT_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "history/history.h"

enum { RIG_LANES = 8, RIG_LANES_NONE = UINT8_MAX };

/* The end of a name and what is before it, back to the micro-operation before. */
struct rig_lane_name {
    char text[16];
    uint8_t compared[2][64]; /* of four micro-operations, the first four, and others */
    uint32_t first_at;       /* where the first name of a transaction ends */
};

/* How micro-operations stand in a text. Constants, too, that a compiler would make of registers over and over again if
 * it knew them. */
struct rig_lane_syntax {
    struct rig_lane_name write, read;
    uint8_t type_at[16];  /* where a name has the letter that only reads have there: */
    uint64_t type;        /*   this one */
    uint64_t blank, null; /* null: its bytes ^ '0' */
    uint64_t close, zero, nine, low_byte;
    uint64_t one_digit; /* what it leaves of the bits of its lane */
    uint64_t tens, hundreds, myriads, hash, ids;
};

/* Of micro-operations that write under the name `write`, of at most RIG_LANE_NAME_LETTERS letters, and read as "r". */
enum { RIG_LANE_NAME_LETTERS = 11 };
void rig_lane_syntax_init(struct rig_lane_syntax *syntax, const char *write, bool is_edn);

/*
 * Where the id of a small number is found: in the slot (number * RIG_LANE_HASH mod 2^32) >> shift, or, where that one
 * has another tag, not here.
 */
struct rig_lane_slot {
    uint32_t id, tag; /* the tag is the number; UINT32_MAX: free */
};

struct rig_lane_slots {
    struct rig_lane_slot *at; /* mask + 1 of them, a power of two */
    uint64_t shift, mask;     /* 32 - n and 2^n - 1 */
};

#define RIG_LANE_HASH UINT32_C(0x9e3779b1)

/* A read among the operations of a transaction, and where its result stands, behind the transaction's beginning. */
struct rig_lane_read {
    uint16_t op, result_at;
};

struct rig_lane_txn {
    uint32_t op_count, read_count;
    uint32_t length;  /* bytes, with the brackets */
    uint32_t missing; /* bit 2i: operation i has, for a key, the number, as its slot does not have it */
};

#if defined(__x86_64__)
/* The instruction sets that are needed; RIG_BLOCK_TARGET_AVX512 (history/text/scan/text_block.h) is the same. */
#define RIG_LANES_TARGET                                                                                               \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt,bmi,bmi2")))

/*
 * The transaction at `at`, behind two opening brackets; reads have no results yet. `ops`, of kind `first_kind` those
 * that write, and of the next those that read, and `reads` have room for RIG_LANES. False, with anything there, where
 * it is unusual.
 */
bool rig_lane_micros(const char *at, const struct rig_lane_syntax *syntax, const struct rig_lane_slots *slots,
                     unsigned first_kind, struct rig_txn_op *ops, struct rig_lane_read *reads,
                     struct rig_lane_txn *txn);
/*
 * The numbers at `at`, each behind a blank, up to a closing bracket, before which are `length` bytes: how many they
 * are, 0 too, or RIG_LANES_NONE, with anything there, where they are unusual. `numbers` has room for RIG_LANES.
 */
uint32_t rig_lane_numbers(const char *at, const struct rig_lane_syntax *syntax, int64_t *numbers, uint32_t *length);
#endif

#endif
