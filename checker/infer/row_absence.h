/*
 * Consequences of a read that does not show a row: the contents of each row as others could see them, one after the
 * other; for the workload sql conditions are masks over the codes of a column (history/types/row_values.h).
 *
 * Most reads miss most rows of their tables, and nothing follows from nearly all of these; so this is the inner loop of
 * the inference (row_inference.h, which has the rules). It has only rows of whole chains with known contents, and is
 * for rows that the reader did not write itself. The last version of a transaction is a state; others saw no
 * version before it.
 *
 * Time: building, linear in the versions; a look at a row, its states. Space: 4 bytes a row, and 8 a state.
 */
#ifndef RIG_CHECKER_INFER_ROW_ABSENCE_H
#define RIG_CHECKER_INFER_ROW_ABSENCE_H

#include "base/arena.h"
#include "checker/infer/row_versions.h"

struct rig_row_states {
    uint32_t *first; /* per row (`inserts`), and one more: into the states; a row without any is not known */
    uint32_t *contents, *writers; /* per state; contents: RIG_ROW_CONTENTS_UNKNOWN of a row that is not there */
    bool of_sql;                  /* contents are those of the workload sql, else the class of the version */
    bool has_initial;             /* a row was there from the start */
    bool any;                     /* there is a state */
};

/* False when memory runs out. */
bool rig_row_states_build(const struct rig_row_chains *rows, struct rig_arena *arena, struct rig_row_states *states);

/* Whether no other transaction could ever see the row. */
static inline bool rig_row_states_none(const struct rig_row_states *states, uint32_t row)
{
    const uint32_t first = states->first[row];
    return states->first[row + 1] - first == 1 && states->contents[first] == RIG_ROW_CONTENTS_UNKNOWN;
}

/* A condition on columns; each test that asks one column has bits of the codes for which it is true, and for which it
 * is unknown. */
struct rig_row_masks {
    const struct rig_row_where *condition;
    struct {
        uint32_t is_true, is_unknown;
        bool is_known; /* else the test asks two columns */
    } tests[RIG_ROW_MOST_TESTS];
};

/* Whether the states tell where rows meet the condition. */
static inline bool rig_row_states_tell(const struct rig_row_states *states, const struct rig_row_where *condition)
{
    const bool by_number = condition->column == RIG_ROW_BY_ID || condition->column == RIG_ROW_BY_CLASS;
    return states->any && (states->of_sql ? condition->column == RIG_ROW_BY_TESTS : by_number);
}

void rig_row_masks_make(const struct rig_row_where *condition, struct rig_row_masks *masks);

static inline enum rig_row_truth rig_row_masks_truth(const struct rig_row_masks *masks, uint32_t test,
                                                     uint32_t contents)
{
    const struct rig_row_testing *of = &masks->condition->tests.at[test];
    if (!masks->tests[test].is_known)
        return rig_row_test_truth(of, contents);
    const uint32_t code = rig_row_column_code(contents, of->column);
    const bool unknown = (masks->tests[test].is_unknown >> code & 1) != 0;
    return (masks->tests[test].is_true >> code & 1) != 0 ? RIG_ROW_TRUE : unknown ? RIG_ROW_UNKNOWN : RIG_ROW_FALSE;
}

/* As rig_row_meets() of a row with these contents, RIG_ROW_CONTENTS_UNKNOWN: it is not there. */
static inline bool rig_row_masks_meet(const struct rig_row_masks *masks, int64_t id, uint32_t contents)
{
    const struct rig_row_where *condition = masks->condition;
    const struct rig_row_testings *tests = &condition->tests;
    if (contents == RIG_ROW_CONTENTS_UNKNOWN)
        return false;
    if (condition->column != RIG_ROW_BY_TESTS) {
        const int64_t value = condition->column == RIG_ROW_BY_CLASS ? (int64_t)contents : rig_row_serial(id);
        return value >= condition->least && value <= condition->most;
    }
    if (condition->is_joined || condition->is_ordered)
        return rig_row_contents_meet(condition, contents) && rig_row_is_before_limit(condition, id, contents);
    if (tests->count == 0)
        return true;
    enum rig_row_truth truth = rig_row_masks_truth(masks, 0, contents);
    if (tests->count > 1)
        truth = rig_row_join(truth, rig_row_masks_truth(masks, 1, contents), tests->either);
    truth = tests->negated ? rig_row_not(truth) : truth;
    if (tests->count > 2)
        truth = rig_row_join(truth, rig_row_masks_truth(masks, 2, contents), tests->either_last);
    return truth == RIG_ROW_TRUE;
}

/* The consequences of missing a row. */
struct rig_row_absence {
    bool is_choice;  /* the row met the condition before a version at which it did not */
    uint32_t writer; /* of the state since which it meets the condition; RIG_ROW_NONE: it does not in the end */
};

/* The row has states. `is_choice`: one more choice is of no interest. */
static inline struct rig_row_absence rig_row_states_missed(const struct rig_row_states *states, uint32_t row,
                                                           const struct rig_row_masks *masks, int64_t id,
                                                           bool is_choice)
{
    const uint32_t first = states->first[row];
    struct rig_row_absence absence = {.is_choice = is_choice, .writer = RIG_ROW_NONE};
    uint32_t at = states->first[row + 1];
    for (; at > first && rig_row_masks_meet(masks, id, states->contents[at - 1]); at--)
        absence.writer = states->writers[at - 1];
    for (; at > first && !absence.is_choice; at--)
        absence.is_choice = rig_row_masks_meet(masks, id, states->contents[at - 1]);
    return absence;
}

#endif
