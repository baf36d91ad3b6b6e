#include "checker/infer/row_constraints.h"

enum { CODES = 32 };

enum fate { IS_GONE, IS_THERE, IS_UNKNOWN };

/* The rows of a table, by their u. */
struct owners {
    uint32_t there[CODES]; /* statement of the insert; RIG_ROW_NONE */
    uint32_t gone[CODES];  /* of one that was deleted */
    bool unknown[CODES];   /* another one may be there */
};

static uint32_t code_of(const struct rig_row_write *row, uint32_t column)
{
    return rig_row_column_code((uint32_t)rig_row_payload(row->number), column);
}

static enum fate fate_of(const struct rig_row_chains *rows, const struct rig_row_write *row)
{
    if (!rows->committed[row->txn])
        return rows->history->txns[row->txn].outcome == RIG_OUTCOME_FAIL ? IS_GONE : IS_UNKNOWN;
    if (!row->is_whole)
        return IS_UNKNOWN;
    return rig_row_action(rig_rows_number(rows, row->last)) == RIG_ROWS_DELETE ? IS_GONE : IS_THERE;
}

static bool note(const struct rig_row_chains *rows, struct rig_noncyclic_findings *noncyclic, enum rig_anomaly anomaly,
                 const struct rig_row_write *row, const struct rig_row_write *other, int64_t other_id)
{
    const struct rig_noncyclic found = {.anomaly = anomaly,
                                        .key = row->key,
                                        .txn = row->txn,
                                        .op = row->op,
                                        .other = other == NULL ? UINT32_MAX : other->txn,
                                        .other_op = other == NULL ? UINT32_MAX : other->op,
                                        .unsettled = rows->history->txns[row->txn].outcome != RIG_OUTCOME_OK,
                                        .value = row->number,
                                        .other_value = other_id};
    return rig_noncyclic_note(noncyclic, &found);
}

/* Files the row by its u. */
static bool add_owner(const struct rig_row_chains *rows, uint32_t insert, struct owners *owners,
                      struct rig_noncyclic_findings *noncyclic)
{
    const struct rig_row_write *row = &rows->statements[insert];
    const uint32_t code = code_of(row, RIG_ROW_UNIQUE);
    const enum fate fate = fate_of(rows, row);
    if (code == RIG_ROW_NULL)
        return true;
    owners->unknown[code] |= fate == IS_UNKNOWN;
    if (fate == IS_GONE && rows->committed[row->txn])
        owners->gone[code] = insert;
    if (fate != IS_THERE)
        return true;
    const uint32_t first = owners->there[code];
    owners->there[code] = insert;
    return first == RIG_ROW_NONE || note(rows, noncyclic, RIG_ANOMALY_BROKEN_UNIQUE, row, &rows->statements[first],
                                         rows->statements[first].number);
}

static bool check_reference(const struct rig_row_chains *rows, uint32_t insert, const struct owners *owners,
                            struct rig_noncyclic_findings *noncyclic)
{
    const struct rig_row_write *row = &rows->statements[insert];
    const uint32_t code = code_of(row, RIG_ROW_REFERENCE);
    if (code == RIG_ROW_NULL || fate_of(rows, row) != IS_THERE || owners->unknown[code] ||
        owners->there[code] != RIG_ROW_NONE)
        return true;
    const uint32_t gone = owners->gone[code];
    if (gone == RIG_ROW_NONE)
        return note(rows, noncyclic, RIG_ANOMALY_BROKEN_REFERENCE, row, NULL, 0);
    const uint32_t end = rows->versions[rows->statements[gone].last].statement;
    return note(rows, noncyclic, RIG_ANOMALY_BROKEN_REFERENCE, row, &rows->statements[end],
                rows->statements[gone].number);
}

static bool is_keyed(const struct rig_row_write *row)
{
    return rig_row_class(row->number) == RIG_ROW_KEYED_CLASS;
}

static bool check_table(const struct rig_row_chains *rows, uint32_t key, struct rig_noncyclic_findings *noncyclic)
{
    struct owners owners = {.unknown = {false}};
    bool done = true;
    for (uint32_t code = 0; code < CODES; code++)
        owners.there[code] = owners.gone[code] = RIG_ROW_NONE;
    for (uint32_t i = rows->insert_first[key]; done && i < rows->insert_first[key + 1]; i++) {
        if (is_keyed(&rows->statements[rows->inserts[i]]))
            done = add_owner(rows, rows->inserts[i], &owners, noncyclic);
    }
    for (uint32_t i = rows->insert_first[key]; done && i < rows->insert_first[key + 1]; i++) {
        if (is_keyed(&rows->statements[rows->inserts[i]]))
            done = check_reference(rows, rows->inserts[i], &owners, noncyclic);
    }
    return done;
}

bool rig_row_check_constraints(const struct rig_row_chains *rows, struct rig_noncyclic_findings *noncyclic)
{
    const struct rig_history *history = rows->history;
    bool done = true;
    if (history->workload != RIG_WORKLOAD_SQL || history->truncated || history->lost_count > 0)
        return true;
    for (uint32_t key = 0; done && key < history->key_count; key++)
        done = check_table(rows, key, noncyclic);
    return done;
}
