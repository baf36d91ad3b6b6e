/*
 * The formatter of the sentences about a history: printf for transactions, reads, keys and values.
 *
 *     rig_say(history, text, "%R and did not see %T's append of %V.", step->from, step->from_op, step->to,
 *             step->to_value);
 *
 * gives "T17 read key 5 as [1 2] and did not see T23's append of 3."
 *
 *     directive  takes                             adds
 *     %T         transaction                       T17
 *     %R         transaction, operation            T17 read key 5 as [1 2]
 *     %r         transaction, operation            read key 5 as [1 2]
 *     %A         transaction, operation            [1 2], 3, nil: what it read; the middle of a long list is left out
 *     %L         transaction, operation            [1 2]: the elements that it read; [] for nil
 *     %S         transaction, operation, from, to  [... 3 4 5 ...]: the stretch of that list from one element
 *                                              to another
 *     %F         transaction                       failed, or: was rolled back on purpose
 *     %K         key                               5, as it was written
 *     %V         value                             3, as it was written
 *     %t         time, in ns                       1.204000 s, since the start
 *     %O         transaction of one operation      T5 (enqueue 3): on an object
 *     %I         id of a row                       row 1010 (key 7), with the key where the history has
 *                                              closed predicates
 *     %Q         transaction, operation            T4 read table 3 where class = 2 as [1 2]
 *     %C         commit of the certificate         the commit at 0/16B3748 (transaction 733 of the database)
 *     %c         commit that a failover lost       the same
 *     %P         snapshot of the certificate       snapshot 733:735:734
 *     %E         nothing                           of a short history, the option that takes it as an excerpt
 *
 * Transactions, operations and keys are uint32_t, values int64_t.
 */
#ifndef RIG_CHECKER_EXPLAIN_SAY_H
#define RIG_CHECKER_EXPLAIN_SAY_H

#include "base/directives.h"
#include "history/model/history.h"

/* Adds what the format and its arguments say. */
#define rig_say(history, text, ...)                                                                                    \
    rig_say_words(rig_say_directives, rig_say_context(history), text, RIG_SAID_WORDS(__VA_ARGS__))

extern const struct rig_directive rig_say_directives[];
/* The history as the formatter takes it; so that the compiler checks its type. */
static inline const void *rig_say_context(const struct rig_history *history)
{
    return history;
}

#endif
