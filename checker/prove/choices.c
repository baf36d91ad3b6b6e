#include "checker/prove/choices.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/model/shared_value.h"

static int compare_writes(const void *left, const void *right)
{
    const struct rig_shared_write *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->shared != b->shared)
        return a->shared < b->shared ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

/* Lists the writes of shared values, and the keys that were found empty. */
static bool list_writes(struct rig_choices *choices)
{
    const struct rig_history *history = choices->raw->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
            const struct rig_txn_op *at = &history->ops[op];
            struct rig_shared_write write = {.key = at->key, .op = op, .txn = txn};
            if (rig_op_reads(at->kind))
                choices->was_empty[at->key] |=
                    at->read_state == RIG_READ_NIL && history->txns[txn].outcome == RIG_OUTCOME_OK;
            else if (rig_value_shared_by(at->value, &write.shared) && !rig_shared_writes_add(&choices->writes, write))
                return false;
        }
    }
    if (choices->writes.count > 1)
        qsort(choices->writes.at, choices->writes.count, sizeof choices->writes.at[0], compare_writes);
    return true;
}

enum rig_rc rig_choices_init(struct rig_choices *choices, const struct rig_facts *raw, struct rig_err *err)
{
    const struct rig_history *history = raw->history;
    *choices = (struct rig_choices){.raw = raw};
    if (raw->form != RIG_FACTS_VERSIONS || !rig_workload_repeats_values(history->workload))
        return rig_fail(err, RIG_E_INPUT, "reads of %s leave no choice", rig_data_types[history->workload].name);
    struct rig_txn_op *ops = malloc(((size_t)history->op_count + 1) * sizeof ops[0]);
    choices->history = rig_history_share(history);
    choices->was_empty = calloc((size_t)history->key_count + 1, sizeof choices->was_empty[0]);
    if (ops == NULL || choices->history == NULL || choices->was_empty == NULL) {
        free(ops);
        rig_history_free(choices->history);
        choices->history = NULL;
        return rig_no_memory(err, "the choices");
    }
    memcpy(ops, history->ops, history->op_count * sizeof ops[0]);
    choices->history->ops = ops;
    choices->facts = *raw;
    choices->facts.history = choices->history;
    choices->facts.committed = NULL; /* what rig_facts_witness() adds depends on the choices */
    choices->facts.contested = NULL;
    choices->facts.longest = choices->facts.longest_acknowledged = NULL;
    return list_writes(choices) ? RIG_OK : rig_no_memory(err, "the choices");
}

static void forget_witness(struct rig_facts *facts)
{
    free(facts->committed);
    free(facts->contested);
    free(facts->longest);
    free(facts->longest_acknowledged);
    facts->committed = NULL;
    facts->contested = NULL;
    facts->longest = facts->longest_acknowledged = NULL;
}

void rig_choices_done(struct rig_choices *choices)
{
    forget_witness(&choices->facts);
    if (choices->history != NULL)
        free(choices->history->ops);
    rig_history_free(choices->history);
    free(choices->was_empty);
    rig_shared_writes_done(&choices->writes);
    rig_choice_vec_done(&choices->made);
    *choices = (struct rig_choices){0};
}

/* ---- what a read may show ---- */

/* The first write of the value or a later one. */
static size_t first_write(const struct rig_choices *choices, uint32_t key, int64_t shared)
{
    const struct rig_shared_write wanted = {.key = key, .shared = shared};
    size_t low = 0, high = choices->writes.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_writes(&choices->writes.at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool began_in_time(const struct rig_history *history, uint32_t writer, uint32_t reader)
{
    const uint32_t began = history->txns[writer].invoke_at;
    return writer == reader || began == RIG_POSITION_NONE || began <= rig_txn_end(history, reader);
}

/* Whether the write took effect before the reader's read, if it took effect: by its end, or in one transaction. */
static bool ended_early(const struct rig_history *history, uint32_t writer, uint32_t reader)
{
    const struct rig_txn *r = &history->txns[reader];
    const uint32_t begin = r->invoke_at == RIG_POSITION_NONE ? r->complete_at : r->invoke_at;
    return history->txns[writer].outcome != RIG_OUTCOME_FAIL &&
           (writer == reader || rig_txn_end(history, writer) < begin);
}

/* Adds the writes of the read's value: those in time, or all. *early: one of them ended before the reader began. */
static bool add_writes(const struct rig_choices *choices, uint32_t txn, uint32_t read, bool all,
                       struct rig_choice_vec *found, bool *early)
{
    const struct rig_history *history = choices->raw->history;
    const struct rig_txn_op *op = &history->ops[read];
    *early = false;
    for (size_t i = first_write(choices, op->key, op->value); i < choices->writes.count; i++) {
        const struct rig_shared_write *write = &choices->writes.at[i];
        if (write->key != op->key || write->shared != op->value)
            break;
        *early |= ended_early(history, write->txn, txn);
        if ((all || began_in_time(history, write->txn, txn)) &&
            !rig_choice_vec_add(found, (struct rig_choice){read, write->op}))
            return false;
    }
    return true;
}

/* The value that the read shows if it shows what its key began with; false: it does not. */
static bool initial_value(const struct rig_choices *choices, uint32_t read, bool early, int64_t *value)
{
    const struct rig_txn_op *op = &choices->raw->history->ops[read];
    *value = choices->raw->initial;
    if (choices->raw->assumes_initial)
        return rig_value_shows(op->value, choices->raw->initial);
    return !early && !choices->was_empty[op->key] && rig_value_shared_initial(op->value, value);
}

enum rig_rc rig_choices_of(const struct rig_choices *choices, uint32_t read, struct rig_choice_vec *found,
                           struct rig_err *err)
{
    const uint32_t txn = rig_history_txn_of(choices->raw->history, read);
    const size_t before = found->count;
    int64_t value;
    bool early;
    bool done = add_writes(choices, txn, read, false, found, &early);
    if (done && initial_value(choices, read, early, &value))
        done = rig_choice_vec_add(found, (struct rig_choice){read, RIG_FACT_NONE});
    if (done && found->count == before)
        done = add_writes(choices, txn, read, true, found, &early);
    return done ? RIG_OK : rig_no_memory(err, "the choices");
}

/* ---- choices of a proof ---- */

static bool is_made(const struct rig_choices *choices, uint32_t read)
{
    return choices->history->ops[read].read_state != choices->raw->history->ops[read].read_state;
}

enum rig_rc rig_choices_make(struct rig_choices *choices, struct rig_choice choice, struct rig_err *err)
{
    const struct rig_history *history = choices->raw->history;
    RIG_REQUIRE(choice.read < history->op_count && (choice.write < history->op_count || choice.write == RIG_FACT_NONE));
    const struct rig_txn_op *read = &history->ops[choice.read];
    const uint32_t txn = rig_history_txn_of(history, choice.read);
    if (!rig_op_is_ambiguous(read) || history->txns[txn].outcome != RIG_OUTCOME_OK)
        return rig_fail(err, RIG_E_INPUT, "the read of T%u leaves no choice", rig_txn_name(history, txn));
    if (is_made(choices, choice.read))
        return rig_fail(err, RIG_E_INPUT, "the read of T%u has a choice already", rig_txn_name(history, txn));
    struct rig_choice_vec found = {0};
    enum rig_rc rc = rig_choices_of(choices, choice.read, &found, err);
    bool may = false;
    for (size_t i = 0; i < found.count; i++)
        may |= found.at[i].write == choice.write;
    rig_choice_vec_done(&found);
    if (rc != RIG_OK)
        return rc;
    if (!may)
        return rig_fail(err, RIG_E_INPUT, "the read of T%u cannot show this", rig_txn_name(history, txn));
    struct rig_txn_op *op = &choices->history->ops[choice.read];
    int64_t value = 0;
    if (choice.write != RIG_FACT_NONE)
        value = history->ops[choice.write].value;
    else if (!initial_value(choices, choice.read, false, &value) && !choices->raw->assumes_initial)
        return rig_no_memory(err, "the choices");
    if (!rig_choice_vec_add(&choices->made, choice))
        return rig_no_memory(err, "the choices");
    op->value = value;
    op->read_state = RIG_READ_SEEN;
    return RIG_OK;
}

void rig_choices_clear(struct rig_choices *choices)
{
    for (size_t i = 0; i < choices->made.count; i++)
        choices->history->ops[choices->made.at[i].read] = choices->raw->history->ops[choices->made.at[i].read];
    choices->made.count = 0;
    forget_witness(&choices->facts);
}

/* ---- cases ---- */

static int compare_choices(const void *left, const void *right)
{
    const struct rig_choice *a = left, *b = right;
    if (a->read != b->read)
        return a->read < b->read ? -1 : 1;
    return (a->write > b->write) - (a->write < b->write);
}

/* Adds all choices of the reads that the cases name, by read. */
static enum rig_rc list_choices(const struct rig_choices *choices, const struct rig_choice_vec *refuted,
                                struct rig_choice_vec *all, struct rig_choice_cases *cases, struct rig_err *err)
{
    struct rig_choice_vec reads = {0};
    enum rig_rc rc = rig_choice_vec_reserve(&reads, refuted->count + 1) ? RIG_OK : rig_no_memory(err, "the cases");
    for (size_t i = 0; rc == RIG_OK && i < refuted->count; i++)
        reads.at[reads.count++] = (struct rig_choice){.read = refuted->at[i].read};
    if (reads.count > 1)
        qsort(reads.at, reads.count, sizeof reads.at[0], compare_choices);
    for (size_t i = 0; rc == RIG_OK && i < reads.count; i++) {
        if (i > 0 && reads.at[i - 1].read == reads.at[i].read)
            continue;
        const size_t first = all->count;
        rc = rig_case_numbers_add(&cases->first, (uint32_t)first) ? rig_choices_of(choices, reads.at[i].read, all, err)
                                                                  : rig_no_memory(err, "the cases");
        if (rc == RIG_OK && all->count - first > 1)
            qsort(&all->at[first], all->count - first, sizeof all->at[0], compare_choices);
        if (all->count >= UINT32_MAX)
            rc = rig_no_memory(err, "the cases");
    }
    if (rc == RIG_OK && !rig_case_numbers_add(&cases->first, (uint32_t)all->count))
        rc = rig_no_memory(err, "the cases");
    rig_choice_vec_done(&reads);
    return rc;
}

enum rig_rc rig_choices_refute(const struct rig_choices *choices, const struct rig_choice_vec *refuted,
                               const struct rig_case_numbers *ends, struct rig_err *err)
{
    struct rig_choice_cases cases = {0};
    struct rig_choice_vec all = {0};
    enum rig_rc rc = list_choices(choices, refuted, &all, &cases, err);
    bool fits = rc == RIG_OK;
    for (size_t i = 0; fits && i < refuted->count; i++) {
        const struct rig_choice *at = bsearch(&refuted->at[i], all.at, all.count, sizeof all.at[0], compare_choices);
        RIG_INVARIANT(at != NULL);
        fits = rig_case_numbers_add(&cases.members, (uint32_t)(at - all.at));
    }
    for (size_t i = 0; fits && i < ends->count; i++)
        fits = rig_case_numbers_add(&cases.ends, ends->at[i]);
    const enum rig_cases_left left = fits ? rig_choice_cases_left(&cases) : RIG_CASES_LEFT_UNKNOWN;
    rig_choice_cases_done(&cases);
    rig_choice_vec_done(&all);
    if (rc != RIG_OK || left == RIG_CASES_LEFT_NONE)
        return rc;
    return left == RIG_CASES_LEFT_SOME
               ? rig_fail(err, RIG_E_INPUT, "the cases leave choices of the reads that none of them refutes")
               : rig_fail(err, RIG_E_LIMIT, "the search for choices that the cases leave was given up");
}
