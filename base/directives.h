/*
 * Formatters with directives of their own: printf for the words of a subject.
 *
 * A formatter is a table of directives and a macro over rig_say_words(), as rig_say() for the sentences about a history
 * (checker/explain/say.h) and rig_tell() for reports (report/tell.h). Each has these besides:
 *
 *     directive  takes        adds
 *     %d         any integer  its digits
 *     %s         text         the text
 *     %%         nothing      %
 *
 * Each argument carries its type. An unknown directive, an argument of another type, one too many or one too few is an
 * assertion. scripts/check-sentences compares the directives of every call with the number and the types of its
 * arguments, so that the assertion is not first met by a user. At most 12 arguments, each evaluated once.
 */
#ifndef RIG_BASE_DIRECTIVES_H
#define RIG_BASE_DIRECTIVES_H

#include <stdint.h>

#include "base/buf.h"

struct rig_said {
    enum rig_said_type {
        RIG_SAID_ID,
        RIG_SAID_NUMBER,
        RIG_SAID_COUNT,
        RIG_SAID_TEXT,
        RIG_SAID_TRUTH,
        RIG_SAID_REAL,
        RIG_SAID_END
    } type;
    union {
        int64_t number; /* also of RIG_SAID_TRUTH */
        uint64_t count; /* of RIG_SAID_ID and RIG_SAID_COUNT */
        double real;
        const char *text;
    } is;
};

static inline struct rig_said rig_said_id(uint32_t id)
{
    return (struct rig_said){RIG_SAID_ID, {.count = id}};
}

static inline struct rig_said rig_said_number(int64_t number)
{
    return (struct rig_said){RIG_SAID_NUMBER, {.number = number}};
}

static inline struct rig_said rig_said_count(uint64_t count)
{
    return (struct rig_said){RIG_SAID_COUNT, {.count = count}};
}

static inline struct rig_said rig_said_text(const char *text)
{
    return (struct rig_said){RIG_SAID_TEXT, {.text = text}};
}

static inline struct rig_said rig_said_truth(bool truth)
{
    return (struct rig_said){RIG_SAID_TRUTH, {.number = truth}};
}

static inline struct rig_said rig_said_real(double real)
{
    return (struct rig_said){RIG_SAID_REAL, {.real = real}};
}

/* clang-format off */
#define RIG_SAID(word)                                                                                                 \
    _Generic((word), uint32_t: rig_said_id, int32_t: rig_said_number, int64_t: rig_said_number,                        \
             uint64_t: rig_said_count, char *: rig_said_text, const char *: rig_said_text,                              \
             bool: rig_said_truth, double: rig_said_real)(word)
#define RIG_SAID_1(word)       RIG_SAID(word)
#define RIG_SAID_2(word, ...)  RIG_SAID(word), RIG_SAID_1(__VA_ARGS__)
#define RIG_SAID_3(word, ...)  RIG_SAID(word), RIG_SAID_2(__VA_ARGS__)
#define RIG_SAID_4(word, ...)  RIG_SAID(word), RIG_SAID_3(__VA_ARGS__)
#define RIG_SAID_5(word, ...)  RIG_SAID(word), RIG_SAID_4(__VA_ARGS__)
#define RIG_SAID_6(word, ...)  RIG_SAID(word), RIG_SAID_5(__VA_ARGS__)
#define RIG_SAID_7(word, ...)  RIG_SAID(word), RIG_SAID_6(__VA_ARGS__)
#define RIG_SAID_8(word, ...)  RIG_SAID(word), RIG_SAID_7(__VA_ARGS__)
#define RIG_SAID_9(word, ...)  RIG_SAID(word), RIG_SAID_8(__VA_ARGS__)
#define RIG_SAID_10(word, ...) RIG_SAID(word), RIG_SAID_9(__VA_ARGS__)
#define RIG_SAID_11(word, ...) RIG_SAID(word), RIG_SAID_10(__VA_ARGS__)
#define RIG_SAID_12(word, ...) RIG_SAID(word), RIG_SAID_11(__VA_ARGS__)
#define RIG_SAID_13(word, ...) RIG_SAID(word), RIG_SAID_12(__VA_ARGS__)
#define RIG_SAID_CHOSEN(a, b, c, d, e, f, g, h, i, j, k, l, m, chosen, ...) chosen
#define RIG_SAID_EACH(...)                                                                                             \
    RIG_SAID_CHOSEN(__VA_ARGS__, RIG_SAID_13, RIG_SAID_12, RIG_SAID_11, RIG_SAID_10, RIG_SAID_9, RIG_SAID_8,           \
                    RIG_SAID_7, RIG_SAID_6, RIG_SAID_5, RIG_SAID_4, RIG_SAID_3, RIG_SAID_2, RIG_SAID_1, 0)(__VA_ARGS__)

/* The format, its arguments, and the end. */
#define RIG_SAID_WORDS(...) (const struct rig_said[]){RIG_SAID_EACH(__VA_ARGS__), {RIG_SAID_END, {0}}}
/* clang-format on */

struct rig_directive {
    char name; /* 0: the end of the table */
    const char
        *takes; /* a letter an argument: 'i' RIG_SAID_ID, 'n' RIG_SAID_NUMBER, 't' RIG_SAID_TEXT, 'd' any integer */
    /* `words`: its arguments. */
    void (*say)(const void *context, const struct rig_said *words, struct rig_buf *text);
};

/* Adds what the words say; `context` is that of the directives. */
void rig_say_words(const struct rig_directive *directives, const void *context, struct rig_buf *text,
                   const struct rig_said *words);

#endif
