/*
 * Reads up to eight numbers of a text at once, one in each 64-bit lane of a vector. There is no loop whose end the
 * processor would have to predict, and no branch on the length of a number (docs/adr/0019-numbers-in-vector-lanes.md).
 *
 * Steps of rig_lane_micros(), for a transaction in JSON lines:
 *
 *   text     [["append",5,17],["r",12,null]]
 *   byte     0123456789012345678901234567890
 *   blank    ..........1.1...1....1..1......     bit mask of the commas (EDN: spaces)
 *   close    ...............1.............11     bit mask of the closing brackets
 *
 *   1. Two brackets in a row (bytes 29 and 30) end the transaction. The masks are cut after the first of the two.
 *   2. Places: the positions of the remaining bits, compressed into a vector. Each operation has four, the last three:
 *
 *        10 12 15 16   21 24 29       of operation m: 4m ends the name, 4m+1 the key, 4m+2 the value; 4m+3 is the
 *        operation 0   operation 1    separator before the next one
 *
 *   3. Names: the 16 bytes before each place 4m are compared with those of a write or a read, together with the
 *      separator. The first operation has two brackets instead, so fewer of its bytes are compared.
 *
 *        [["append"                   of operation 0: no bytes before the transaction are compared
 *        pend",5,17],["r"             of operation 1: ],["r" are compared
 *
 *   4. Numbers: the 8 bytes before each place 4m+1 and 4m+2, each 8 in a lane. The place before tells how many of them
 *      are digits of the number; the others are shifted out. Three multiplications add the digits up.
 *
 *        lane     0          1          2          3
 *        bytes    ppend",5   nd",5,17   ,["r",12   ,12,null
 *        digits          5         17         12   null: compared as text, and taken for 0
 *        value           5         17         12          0
 *
 *   5. Even lanes hold keys. Each is looked up in a table of slots (a gather), all at once: key 5 has, say, id 0, and
 *      key 12 has no slot yet. An even and an odd lane are one struct rig_txn_op:
 *
 *        lane     0                     1      2                      3
 *        bits     key 0, kind append    17     key 12, kind read      0
 *
 *   6. `reads`: {operation 1, result at byte 25}. `txn`: 2 operations, 1 read, 31 bytes, `missing` has bit 2: the
 *      caller gives key 12 its id.
 *
 * Anything else (numbers of more than eight digits, signs, keys that are texts, further spaces, more than eight
 * operations, more than 128 bytes) makes a function answer that it did not read the text; a caller then reads it one
 * operation at a time.
 *
 * Needs AVX-512 with byte permutations, VBMI and VBMI2 (struct rig_text_block: `micros`, `numbers`). 128 bytes of text
 * must be readable. Threads: any.
 */
#ifndef RIG_HISTORY_TEXT_SCAN_TEXT_LANES_H
#define RIG_HISTORY_TEXT_SCAN_TEXT_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "history/model/history.h"
#include "history/types/types.h"

/*
 * The names of a data type's operations in JSON lines and EDN, prepared for comparison: eight bytes at a time, or in
 * lanes.
 */

/* The text of a micro-operation from after its bracket up to its key. */
struct rig_op_name {
    uint64_t word;  /* the first eight bytes */
    uint32_t blind; /* number of its last bits that are ignored */
    uint32_t length;
};

/* A name with the separator before it, at the end of 16 bytes. */
struct rig_lane_name {
    char text[16];
    uint8_t compared[2][64]; /* masks for four operations: the first four of a transaction, and the others */
    uint32_t first_at;       /* where the name ends if it is the transaction's first */
};

/* The syntax of operations. Also constants: a compiler that knew them would build them anew for each use. */
struct rig_lane_syntax {
    struct rig_lane_name write, read;
    uint8_t type_at[16];  /* position of the letter that tells reads from writes */
    uint64_t type;        /* that letter of a read */
    uint64_t blank, null; /* null: its bytes ^ '0' */
    uint64_t close, zero, nine, low_byte;
    uint64_t one_digit; /* bits of a lane that a number of one digit leaves unused */
    uint64_t tens, hundreds, myriads, hash, ids;
};

struct rig_op_names {
    struct rig_op_name at[2]; /* of what writes, and of what reads */
    struct rig_lane_syntax lanes;
};

void rig_op_names_init(struct rig_op_names *names, const struct rig_data_type *type, bool is_edn);

enum { RIG_LANES = 8, RIG_LANES_NONE = UINT8_MAX };

void rig_lane_syntax_init(struct rig_lane_syntax *syntax, const char *write, bool is_edn);

/*
 * Ids of small numbers. The slot of a number is (number * RIG_LANE_HASH mod 2^32) >> shift. If it has another tag, this
 * table does not tell the number's id.
 */
struct rig_lane_slot {
    uint32_t id, tag; /* the tag is the number; UINT32_MAX: free */
};

struct rig_lane_slots {
    struct rig_lane_slot *at; /* mask + 1 of them, a power of two */
    uint64_t shift, mask;     /* 32 - n and 2^n - 1 */
};

#define RIG_LANE_HASH UINT32_C(0x9e3779b1)

/* A read of a transaction: its operation, and the offset of its result in the transaction's text. */
struct rig_lane_read {
    uint16_t op, result_at;
};

struct rig_lane_txn {
    uint32_t op_count, read_count;
    uint32_t length;  /* bytes, with the brackets */
    uint32_t missing; /* bit 2i: the key of operation i has no slot; its number is in place of an id */
};

#if defined(__x86_64__)
/* The instruction sets that are needed; RIG_BLOCK_TARGET_AVX512 (history/text/scan/text_block.h) is the same. */
#define RIG_LANES_TARGET                                                                                               \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt,bmi,bmi2")))

/*
 * Reads the transaction at `at`, which begins with two opening brackets; its reads have no results yet. Writes get the
 * kind `first_kind`, reads the next one. `ops` and `reads` have room for RIG_LANES. False if the text is not of this
 * form: the outputs are undefined then.
 */
bool rig_lane_micros(const char *at, const struct rig_lane_syntax *syntax, const struct rig_lane_slots *slots,
                     unsigned first_kind, struct rig_txn_op *ops, struct rig_lane_read *reads,
                     struct rig_lane_txn *txn);
/*
 * Reads the numbers at `at`, each after a blank, up to a closing bracket `length` bytes on. Returns their number, which
 * may be 0, or RIG_LANES_NONE if the text is not of this form: the outputs are undefined then. `numbers` has room for
 * RIG_LANES.
 */
uint32_t rig_lane_numbers(const char *at, const struct rig_lane_syntax *syntax, int64_t *numbers, uint32_t *length);
#endif

#endif
