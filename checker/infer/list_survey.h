/*
 * The first pass over a history of lists: acknowledged transactions, appends to each key, length of its longest read.
 *
 * It decides which of the later passes are needed, and lists the appends for those that read nothing else. A window has
 * noted most of it while it took the operations (rig_history.summary); else it takes one pass over them.
 *
 * Time: linear. Space: 36 bytes a key, 1 a transaction, 8 an append. Threads: one at a time.
 */
#ifndef RIG_CHECKER_INFER_LIST_SURVEY_H
#define RIG_CHECKER_INFER_LIST_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "checker/infer/versions.h"
#include "history/model/window_view.h"

struct rig_survey {
    struct rig_key_use *keys;
    uint32_t *counted;                  /* per key: appends of committed transactions; by rig_appends_list() */
    uint8_t *committed;                 /* per transaction: acknowledged, or known to have committed before */
    const struct rig_owned_op *appends; /* all of them, in the order of the history */
    struct rig_owned_op *own_appends;   /* the same if the survey allocated them; else NULL */
    uint32_t append_count;
    uint32_t committed_count;
    uint32_t ok_count, fail_count; /* transactions with that outcome */
    uint32_t counted_ops;          /* operations of transactions that have or may have committed */
    uint32_t open_count;           /* transactions of unknown fate, which a read may prove committed */
    bool any_branch;               /* some such transaction may have read a branch */
};

/* From `arena`. RIG_E_INPUT for an operation that is not of list-append; RIG_E_LIMIT. */
enum rig_rc rig_survey_take(const struct rig_history *history, struct rig_arena *arena, struct rig_survey *survey,
                            struct rig_err *err);
/* Counts the operations of a transaction of unknown fate that turned out committed. */
void rig_survey_commit(const struct rig_history *history, uint32_t txn, struct rig_survey *survey);
/* Frees the list of appends. */
void rig_survey_end(struct rig_survey *survey);

/*
 * Writers of values: the table of a history's appended values (rig_versions.slots), direct where a key's values are
 * dense, hashed where they are not.
 *
 * Time: one pass over the operations. Space: at most 4 slots of 8 bytes an append, or, of sparse keys, 3 of 16 bytes.
 */

/*
 * Fills in keys, key_places, slots and slot_values: the writer of each append and whether it was superseded; none has a
 * position yet. Counts the appends of committed transactions in survey->counted. RIG_E_INPUT when a value is appended
 * twice to a key; RIG_E_LIMIT.
 */
enum rig_rc rig_appends_list(const struct rig_survey *survey, struct rig_arena *arena, struct rig_versions *versions,
                             struct rig_err *err);

#endif
