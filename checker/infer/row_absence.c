#include "checker/infer/row_absence.h"

/* Whether the row has states: those of a row that the load inserted. */
static bool has_states(const struct rig_row_chains *rows, const struct rig_row_write *row, bool of_sql)
{
    const struct rig_row_where by_tests = {.column = RIG_ROW_BY_TESTS};
    return row->is_whole && rig_row_is_of_sql(row->number) == of_sql &&
           rig_row_action(row->number) == RIG_ROWS_INSERT &&
           (of_sql ? rig_rows_tell_contents(rows, row, &by_tests) : rig_row_class(row->number) != RIG_ROW_CLOSED_CLASS);
}

static uint32_t contents_of(const struct rig_row_chains *rows, uint32_t version, bool of_sql)
{
    const int64_t number = rig_rows_number(rows, version);
    return rig_row_action(number) == RIG_ROWS_DELETE ? RIG_ROW_CONTENTS_UNKNOWN
           : of_sql                                  ? rows->versions[version].contents
                                                     : (uint32_t)rig_row_class(number);
}

bool rig_row_states_build(const struct rig_row_chains *rows, struct rig_arena *arena, struct rig_row_states *states)
{
    const uint32_t count = rows->insert_first[rows->history->key_count];
    const size_t most = (size_t)rows->version_count + 1;
    states->first = rig_arena_room(arena, (size_t)count + 1, sizeof *states->first);
    states->contents = rig_arena_room(arena, most, sizeof *states->contents);
    states->writers = rig_arena_room(arena, most, sizeof *states->writers);
    if (states->first == NULL || states->contents == NULL || states->writers == NULL)
        return false;
    uint32_t at = 0;
    *states = (struct rig_row_states){.first = states->first, .contents = states->contents, .writers = states->writers};
    for (uint32_t i = 0; i < rows->statement_count && !(states->of_sql && states->has_initial); i++) {
        states->of_sql |= rig_row_is_of_sql(rows->statements[i].number);
        states->has_initial |= rig_row_action(rows->statements[i].number) == RIG_ROWS_INITIAL;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_row_write *row = &rows->statements[rows->inserts[i]];
        states->first[i] = at;
        if (!row->is_whole && rows->history->txns[row->txn].outcome == RIG_OUTCOME_FAIL)
            states->contents[at++] = RIG_ROW_CONTENTS_UNKNOWN;
        if (!has_states(rows, row, states->of_sql))
            continue;
        for (uint32_t version = row->first_version; version != RIG_ROW_NONE; version = rows->versions[version].next) {
            const uint32_t next = rows->versions[version].next, writer = rig_rows_writer(rows, version);
            if (next != RIG_ROW_NONE && rig_rows_writer(rows, next) == writer)
                continue;
            states->contents[at] = contents_of(rows, version, states->of_sql);
            states->writers[at++] = writer;
        }
    }
    states->first[count] = at;
    states->any = at > 0;
    return true;
}

/* Whether the test asks one column alone. */
static bool asks_one_column(const struct rig_row_testing *test)
{
    const bool two =
        test->form == RIG_ROW_TEST_IN_COLUMN || test->form == RIG_ROW_TEST_SUM || test->form == RIG_ROW_TEST_PRODUCT;
    return !two && (test->form > RIG_ROW_TEST_AT_LEAST || test->side == RIG_ROW_SIDE_CONSTANT);
}

void rig_row_masks_make(const struct rig_row_where *condition, struct rig_row_masks *masks)
{
    *masks = (struct rig_row_masks){.condition = condition};
    for (uint32_t i = 0; i < condition->tests.count; i++) {
        const struct rig_row_testing *test = &condition->tests.at[i];
        masks->tests[i].is_known = asks_one_column(test);
        for (uint32_t code = 0; masks->tests[i].is_known && code < RIG_ROW_VALUE_CODES; code++) {
            const enum rig_row_truth truth = rig_row_test_truth(test, rig_row_with_code(0, test->column, code));
            masks->tests[i].is_true |= (uint32_t)(truth == RIG_ROW_TRUE) << code;
            masks->tests[i].is_unknown |= (uint32_t)(truth == RIG_ROW_UNKNOWN) << code;
        }
    }
}
