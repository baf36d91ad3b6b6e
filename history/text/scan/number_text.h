/*
 * Fast reading of an integer in place: eight digits at a time, without a loop.
 */
#ifndef RIG_HISTORY_TEXT_SCAN_NUMBER_TEXT_H
#define RIG_HISTORY_TEXT_SCAN_NUMBER_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { RIG_NUMBER_TEXT_ROOM = 24 /* bytes that must be readable */ };

/* Eight bytes, the first one lowest. */
__attribute__((always_inline)) static inline uint64_t rig_text_load(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Eight bytes that should be digits, as their values. */
__attribute__((always_inline)) static inline uint64_t rig_digits_load(const char *at)
{
    return rig_text_load(at) ^ UINT64_C(0x3030303030303030);
}

/* The top bit of the first byte that is not a digit, with none set before it; 0: all eight are digits. */
__attribute__((always_inline)) static inline uint64_t rig_digits_end(uint64_t digits)
{
    return ((digits + UINT64_C(0x7676767676767676)) | digits) & UINT64_C(0x8080808080808080);
}

__attribute__((always_inline)) static inline uint64_t rig_digits_value(uint64_t digits)
{
    digits = (digits * 2561) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits * 6553601) >> 16 & UINT64_C(0x0000ffff0000ffff);
    return (digits * UINT64_C(42949672960001)) >> 32;
}

/* A number in a text. */
struct rig_digits {
    uint64_t value;
    unsigned length; /* 0: none, or left to the grammar */
};

/* The number of one to seven digits at `at`, without a branch on their count. */
__attribute__((always_inline)) static inline struct rig_digits rig_digits_read(const char *at)
{
    uint64_t word = rig_digits_load(at);
    unsigned end = (unsigned)__builtin_ctzll(rig_digits_end(word) | (uint64_t)1 << 63); /* 7 for no digit, 15 for one */
    struct rig_digits digits = {.value = rig_digits_value(word << 1 << (70 - end)), .length = end / 8};
    if (__builtin_expect((word & 0xff) == 0, 0) && digits.length > 1)
        digits.length = 0;
    return digits;
}

/*
 * At most 15 digits, optionally after a '-', without leading zeros. Returns the position after it, or NULL for anything
 * else, which may still be a number. The caller checks what follows.
 */
__attribute__((always_inline)) static inline const char *rig_number_long(const char *at, int64_t *number)
{
    static const uint64_t powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const char *digits = at + (*at == '-');
    const char *from = digits;
    uint64_t word = rig_digits_load(from);
    uint64_t end = rig_digits_end(word);
    uint64_t magnitude = 0;
    if (end == 0) {
        magnitude = rig_digits_value(word);
        from += 8;
        word = rig_digits_load(from);
        end = rig_digits_end(word);
        if (end == 0)
            return NULL;
    }
    unsigned bits = (unsigned)__builtin_ctzll(end) & ~7U;
    if (bits > 0)
        magnitude = magnitude * powers[bits / 8] + rig_digits_value(word << (64 - bits));
    from += bits / 8;
    if (from == digits || (*digits == '0' && from - digits > 1))
        return NULL;
    *number = digits == at ? (int64_t)magnitude : -(int64_t)magnitude;
    return from;
}

__attribute__((noinline, unused)) static const char *rig_number_rare(const char *at, int64_t *number)
{
    return rig_number_long(at, number);
}

/* The same, fastest for 1 to 7 digits. */
__attribute__((always_inline)) static inline const char *rig_number_short(const char *at, int64_t *number)
{
    uint64_t word = rig_digits_load(at);
    uint64_t end = rig_digits_end(word);
    unsigned bits = end == 0 ? 0 : (unsigned)__builtin_ctzll(end) & ~7U;
    if (bits == 0 || (word & 0xff) == 0)
        return rig_number_rare(at, number);
    *number = (int64_t)rig_digits_value(word << (64 - bits));
    return at + bits / 8;
}

#endif
