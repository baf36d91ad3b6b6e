/*
 * The formatter of the sentences about a history: printf for transactions, reads, keys and values.
 *
 *     rig_say(history, text, "%R and did not see %T's append of %V.", step->from, step->from_op, step->to, step->to_value);
 *
 * gives "T17 read key 5 as [1 2] and did not see T23's append of 3."
 *
 *     directive  takes                             adds
 *     %T         transaction                       T17
 *     %R         transaction, operation            T17 read key 5 as [1 2]
 *     %r         transaction, operation            read key 5 as [1 2]
 *     %A         transaction, operation            [1 2], 3, nil: what it read; the middle of a long list is left out
 *     %L         transaction, operation            [1 2]: the elements that it read; [] for nil
 *     %S         transaction, operation, from, to  [... 3 4 5 ...]: the stretch of that list from one element to another
 *     %K         key                               5, as it was written
 *     %V         value                             3, as it was written
 *     %t         time, in ns                       1.204000 s, since the start
 *     %O         transaction of one operation      T5 (enqueue 3): on an object
 *     %I         id of a row                       row 1010 (key 7), with the key where the history has closed predicates
 *     %Q         transaction, operation            T4 read table 3 where class = 2 as [1 2]
 *     %C         commit of the certificate         the commit at 0/16B3748 (transaction 733 of the database)
 *     %c         commit that a failover lost       the same
 *     %P         snapshot of the certificate       snapshot 733:735:734
 *     %E         nothing                           of a short history, the option that takes it as an excerpt
 *     %d         any integer                       its digits
 *     %s         text                              the text
 *     %%         nothing                           %
 *
 * Transactions, operations and keys are uint32_t, values int64_t. Each argument carries its type, and an unknown
 * directive, an argument of another type, one too many or one too few is an assertion. scripts/check-sentences compares
 * the directives of every call with its arguments, so that the assertion is not first met by a user. At most 9 arguments.
 */
#ifndef RIG_CHECKER_EXPLAIN_SAY_H
#define RIG_CHECKER_EXPLAIN_SAY_H

#include "base/buf.h"
#include "history/model/history.h"

struct rig_said {
    enum rig_said_type { RIG_SAID_ID, RIG_SAID_NUMBER, RIG_SAID_COUNT, RIG_SAID_TEXT, RIG_SAID_END } type;
    union {
        int64_t number;
        uint64_t count; /* of RIG_SAID_ID and RIG_SAID_COUNT */
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

/* clang-format off */
#define RIG_SAID(word)                                                                                                 \
    _Generic((word), uint32_t: rig_said_id, int32_t: rig_said_number, int64_t: rig_said_number,                        \
             uint64_t: rig_said_count, char *: rig_said_text, const char *: rig_said_text)(word)
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
#define RIG_SAID_CHOSEN(a, b, c, d, e, f, g, h, i, j, chosen, ...) chosen
#define RIG_SAID_EACH(...)                                                                                             \
    RIG_SAID_CHOSEN(__VA_ARGS__, RIG_SAID_10, RIG_SAID_9, RIG_SAID_8, RIG_SAID_7, RIG_SAID_6, RIG_SAID_5, RIG_SAID_4,  \
                    RIG_SAID_3, RIG_SAID_2, RIG_SAID_1, 0)(__VA_ARGS__)
/* clang-format on */

/* Adds what the format and its arguments say. Each argument is evaluated once. */
#define rig_say(history, text, ...)                                                                                    \
    rig_say_words(history, text, (const struct rig_said[]){RIG_SAID_EACH(__VA_ARGS__), {RIG_SAID_END, {0}}})

/* `words`: the format, its arguments, and RIG_SAID_END. */
void rig_say_words(const struct rig_history *history, struct rig_buf *text, const struct rig_said *words);

#endif
