#include "checker/infer/row_constraints.h"

#include <stdlib.h>

#include "base/vec.h"

enum { CODES = 32 };

/* Moments are positions of the history: a moment is just after the event at its position. */
#define AFTER_LOAD (UINT32_MAX - 1)
#define NO_END     UINT32_MAX

/* From `from` on, before `to`. */
struct period {
    uint32_t from, to;
};

/* A row with a value, and when it was there. */
struct life {
    uint32_t insert; /* its statement */
    struct period certain, possible;
};

RIG_VEC(struct life, life_vec)

/* The rows of a table with one u: at first by the moments at which they may have come, then joined to the periods in
 * which one of them may have been there. `insert` of these: the row that went last. */
struct owners {
    struct life_vec lives;
};

static uint32_t code_of(const struct rig_row_write *row, uint32_t column)
{
    return rig_row_column_code((uint32_t)rig_row_payload(row->number), column);
}

static bool is_acknowledged(const struct rig_txn *txn)
{
    return txn->outcome == RIG_OUTCOME_OK && txn->complete_at != RIG_POSITION_NONE;
}

/* When the row was there. An insert or a delete takes effect between its transaction's invocation and its
 * acknowledgement; one that is known to have committed without it, at some time before the end. */
static struct life life_of(const struct rig_row_chains *rows, uint32_t insert)
{
    const struct rig_row_write *row = &rows->statements[insert];
    const struct rig_txn *by = &rows->history->txns[row->txn];
    const uint32_t invoked = by->invoke_at == RIG_POSITION_NONE ? 0 : by->invoke_at;
    struct life life = {.insert = insert, .possible = {invoked, NO_END}};
    if (!rows->committed[row->txn] && by->outcome == RIG_OUTCOME_FAIL)
        life.possible = (struct period){0, 0};
    if (!rows->committed[row->txn] || !row->is_whole)
        return life;
    life.certain = (struct period){is_acknowledged(by) ? by->complete_at : AFTER_LOAD, NO_END};
    if (rig_row_action(rig_rows_number(rows, row->last)) != RIG_ROWS_DELETE)
        return life;
    const struct rig_txn *end = &rows->history->txns[rig_rows_writer(rows, row->last)];
    life.certain.to = end->invoke_at == RIG_POSITION_NONE ? 0 : end->invoke_at;
    life.possible.to = is_acknowledged(end) ? end->complete_at : AFTER_LOAD;
    return life;
}

static struct rig_noncyclic noncyclic_of(const struct rig_row_chains *rows, enum rig_anomaly anomaly,
                                         const struct rig_row_write *row, const struct rig_row_write *other)
{
    return (struct rig_noncyclic){.anomaly = anomaly,
                                  .key = row->key,
                                  .txn = row->txn,
                                  .op = row->op,
                                  .other = other == NULL ? UINT32_MAX : other->txn,
                                  .other_op = other == NULL ? UINT32_MAX : other->op,
                                  .unsettled = rows->history->txns[row->txn].outcome != RIG_OUTCOME_OK};
}

static bool note(const struct rig_row_chains *rows, struct rig_noncyclic_findings *noncyclic, enum rig_anomaly anomaly,
                 const struct rig_row_write *row, const struct rig_row_write *other, int64_t other_id)
{
    struct rig_noncyclic found = noncyclic_of(rows, anomaly, row, other);
    found.value = row->number;
    found.other_value = other_id;
    return rig_noncyclic_note(noncyclic, &found);
}

static int compare_certain(const void *left, const void *right)
{
    const struct life *a = left, *b = right;
    return a->certain.from != b->certain.from
               ? (a->certain.from > b->certain.from) - (a->certain.from < b->certain.from)
               : (a->insert > b->insert) - (a->insert < b->insert);
}

static int compare_possible(const void *left, const void *right)
{
    const struct life *a = left, *b = right;
    return a->possible.from != b->possible.from
               ? (a->possible.from > b->possible.from) - (a->possible.from < b->possible.from)
               : (a->insert > b->insert) - (a->insert < b->insert);
}

/* Two rows with one value that certainly were there at one moment. */
static bool check_unique(const struct rig_row_chains *rows, const struct owners *owners,
                         struct rig_noncyclic_findings *noncyclic)
{
    const struct life_vec *lives = &owners->lives;
    const struct life *longest = NULL;
    bool done = true;
    if (lives->count > 1)
        qsort(lives->at, lives->count, sizeof *lives->at, compare_certain);
    for (size_t i = 0; done && i < lives->count; i++) {
        const struct life *life = &lives->at[i];
        if (life->certain.from >= life->certain.to)
            continue;
        if (longest != NULL && life->certain.from < longest->certain.to) {
            const struct rig_row_write *first = &rows->statements[longest->insert];
            done =
                note(rows, noncyclic, RIG_ANOMALY_BROKEN_UNIQUE, &rows->statements[life->insert], first, first->number);
        }
        longest = longest == NULL || life->certain.to > longest->certain.to ? life : longest;
    }
    return done;
}

/* Leaves the periods in which some row with the value may have been there, apart from each other and in order. */
static void join_periods(struct owners *owners)
{
    struct life_vec *lives = &owners->lives;
    size_t count = 0;
    if (lives->count > 1)
        qsort(lives->at, lives->count, sizeof *lives->at, compare_possible);
    for (size_t i = 0; i < lives->count; i++) {
        const struct life life = lives->at[i];
        struct life *last = count == 0 ? NULL : &lives->at[count - 1];
        if (life.possible.from >= life.possible.to)
            continue;
        if (last == NULL || life.possible.from > last->possible.to) {
            lives->at[count++] = life;
        } else if (life.possible.to > last->possible.to) {
            last->possible.to = life.possible.to;
            last->insert = life.insert;
        }
    }
    lives->count = count;
}

/* The row certainly was there at a moment at which no row to which it could refer may have been. */
static bool check_reference(const struct rig_row_chains *rows, const struct life *life, const struct owners *owners,
                            struct rig_noncyclic_findings *noncyclic)
{
    const struct rig_row_write *row = &rows->statements[life->insert];
    const struct life *periods = owners->lives.at;
    size_t low = 0, high = owners->lives.count;
    while (low < high) { /* the first one that ends after the row came */
        const size_t middle = low + (high - low) / 2;
        if (periods[middle].possible.to <= life->certain.from)
            low = middle + 1;
        else
            high = middle;
    }
    const bool covers = low < owners->lives.count && periods[low].possible.from <= life->certain.from;
    if (covers && periods[low].possible.to >= life->certain.to)
        return true;
    if (!covers && low == 0)
        return note(rows, noncyclic, RIG_ANOMALY_BROKEN_REFERENCE, row, NULL, 0);
    const uint32_t gone = periods[covers ? low : low - 1].insert;
    const uint32_t end = rows->versions[rows->statements[gone].last].statement;
    return note(rows, noncyclic, RIG_ANOMALY_BROKEN_REFERENCE, row, &rows->statements[end],
                rows->statements[gone].number);
}

static bool is_keyed(const struct rig_row_write *row)
{
    return rig_row_class(row->number) == RIG_ROW_KEYED_CLASS;
}

/* Files the rows of the table by their u, and those that refer to others. */
static bool add_rows(const struct rig_row_chains *rows, uint32_t key, struct owners *owners, struct life_vec *referring)
{
    bool done = true;
    for (uint32_t i = rows->insert_first[key]; done && i < rows->insert_first[key + 1]; i++) {
        const struct rig_row_write *row = &rows->statements[rows->inserts[i]];
        if (!is_keyed(row))
            continue;
        const struct life life = life_of(rows, rows->inserts[i]);
        const uint32_t unique = code_of(row, RIG_ROW_UNIQUE), reference = code_of(row, RIG_ROW_REFERENCE);
        done = (unique == RIG_ROW_NULL || life_vec_add(&owners[unique].lives, life)) &&
               (reference == RIG_ROW_NULL || life.certain.from >= life.certain.to || life_vec_add(referring, life));
    }
    return done;
}

static bool check_table(const struct rig_row_chains *rows, uint32_t key, struct owners *owners,
                        struct life_vec *referring, struct rig_noncyclic_findings *noncyclic)
{
    for (uint32_t code = 0; code < CODES; code++)
        owners[code].lives.count = 0;
    referring->count = 0;
    bool done = add_rows(rows, key, owners, referring);
    for (uint32_t code = 0; done && code < CODES; code++) {
        done = check_unique(rows, &owners[code], noncyclic);
        join_periods(&owners[code]);
    }
    for (size_t i = 0; done && i < referring->count; i++) {
        const struct life *life = &referring->at[i];
        const uint32_t code = code_of(&rows->statements[life->insert], RIG_ROW_REFERENCE);
        done = check_reference(rows, life, &owners[code], noncyclic);
    }
    return done;
}

/* Whether a statement left a version that a CHECK or NOT NULL forbids. */
static bool breaks_check(const struct rig_row_version *version, int64_t number)
{
    return version->contents != RIG_ROW_CONTENTS_UNKNOWN &&
           (!rig_row_keeps_check(version->contents) || rig_row_inserts_null_guard(number));
}

/* Versions follow from the statements that made them, so no time and no other row matters. */
static bool check_versions(const struct rig_row_chains *rows, struct rig_noncyclic_findings *noncyclic)
{
    for (uint32_t i = 0; i < rows->version_count; i++) {
        const struct rig_row_version *version = &rows->versions[i];
        const struct rig_row_write *by = &rows->statements[version->statement];
        if (!rows->committed[by->txn] || !breaks_check(version, by->number))
            continue;
        const struct rig_row_write *before =
            version->before == RIG_ROW_NONE ? NULL : &rows->statements[rows->versions[version->before].statement];
        struct rig_noncyclic found = noncyclic_of(rows, RIG_ANOMALY_BROKEN_CHECK, by, before);
        found.value = version->id;
        found.other_value = (int64_t)version->contents;
        if (!rig_noncyclic_note(noncyclic, &found))
            return false;
    }
    return true;
}

bool rig_row_check_constraints(const struct rig_row_chains *rows, struct rig_noncyclic_findings *noncyclic)
{
    const struct rig_history *history = rows->history;
    struct owners owners[CODES] = {{{0}}};
    struct life_vec referring = {0};
    bool done = history->workload != RIG_WORKLOAD_SQL || check_versions(rows, noncyclic);
    if (!done || history->workload != RIG_WORKLOAD_SQL || history->truncated || history->lost_count > 0)
        return done;
    for (uint32_t key = 0; done && key < history->key_count; key++)
        done = check_table(rows, key, owners, &referring, noncyclic);
    for (uint32_t code = 0; code < CODES; code++)
        life_vec_done(&owners[code].lives);
    life_vec_done(&referring);
    return done;
}
