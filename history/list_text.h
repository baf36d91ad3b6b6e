/*
 * Lists as they stand in a file, compared as text: how far does what was read agree with the longest list of its key?
 *
 * A list's text is what stands between its brackets: digits, '-', and blanks (spaces and commas) between the numbers.
 * Most lists that are read are prefixes of one that was read before, and 64 bytes of text are compared in the time in
 * which one number is parsed. The count of numbers in the common part is counted on the way.
 *
 * Three implementations give the same answers: AVX-512, AVX2, and one for every machine.
 */
#ifndef RIG_HISTORY_LIST_TEXT_H
#define RIG_HISTORY_LIST_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct rig_list_match {
    size_t length;  /* bytes that are equal, at most the spine's */
    uint32_t count; /* numbers that start in them */
};

/*
 * Compares the text at `text` with the `spine_length` bytes at `spine`. Both stand in bytes that end at `end`; nothing
 * behind it is read, and the spine ends before it.
 */
typedef struct rig_list_match rig_list_matcher(const char *spine, size_t spine_length, const char *text,
                                               const char *end);

rig_list_matcher rig_list_match_portable;

struct rig_list_matcher_info {
    const char *name;
    rig_list_matcher *match;
};

/* What this processor can run, the fastest first; `count` of them, the last one is portable. */
const struct rig_list_matcher_info *rig_list_matchers(size_t *count);

#endif
