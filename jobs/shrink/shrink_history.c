#include "jobs/shrink/shrink_history.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/judge/repeated_values.h"
#include "checker/infer/type_inference.h"
#include "history/model/history_excerpt.h"
#include "history/model/read_list.h"
#include "history/types/types.h"
#include "jobs/shrink/interleaving.h"
#include "jobs/shrink/scenario_text.h"
#include "jobs/shrink/value_writers.h"

/* The anomaly that each part must have. */
struct goal {
    enum rig_anomaly anomaly;
    enum rig_level level; /* that the part must refute; RIG_LEVEL_COUNT: none */
    uint64_t refuted;     /* bits: levels that the whole refutes; a part refutes no other */
    bool of_rows;         /* a part must show the rows of the witness that the search began with: */
    int64_t value, other_value;
};

/* A part of a history: a byte a transaction, and a byte an operation. */
struct part {
    uint8_t *txns, *ops;
    uint32_t txn_count, op_count; /* kept */
};

struct search {
    const struct rig_history *history; /* what parts are taken from: the whole one, later the best part so far */
    struct rig_value_writers writers;
    const struct rig_check_options *check;
    struct goal goal;
    bool for_scenario, whole_transactions;
    struct part part, trial;
    int64_t until_ns;
    uint32_t candidate_count;
    bool spent;
};

/* ---- parts ---- */

static bool part_init(struct part *part, const struct rig_history *history)
{
    part->txns = calloc((size_t)history->txn_count + 1, 1);
    part->ops = calloc((size_t)history->op_count + 1, 1);
    return part->txns != NULL && part->ops != NULL;
}

static void part_done(struct part *part)
{
    free(part->txns);
    free(part->ops);
    *part = (struct part){0};
}

static void part_copy(struct part *to, const struct part *from, const struct rig_history *history)
{
    memcpy(to->txns, from->txns, history->txn_count);
    memcpy(to->ops, from->ops, history->op_count);
    to->txn_count = from->txn_count;
    to->op_count = from->op_count;
}

static void keep_txn(struct part *part, const struct rig_history *history, uint32_t txn)
{
    part->txns[txn] = 1;
    memset(part->ops + history->txns[txn].first_op, 1, rig_txn_op_count(history, txn));
}

static void drop_txn(struct part *part, const struct rig_history *history, uint32_t txn)
{
    part->txns[txn] = 0;
    memset(part->ops + history->txns[txn].first_op, 0, rig_txn_op_count(history, txn));
}

static bool hides(const void *context, uint32_t key, int64_t element)
{
    const struct search *search = context;
    const uint32_t writer = rig_value_writer(&search->writers, key, element);
    return writer != UINT32_MAX && !search->trial.ops[writer];
}

/* A read of a value whose writer is gone cannot stay where values are single; and transactions without operations say
 * nothing. */
static void close_part(struct search *search)
{
    const struct rig_history *history = search->history;
    struct part *part = &search->trial;
    part->txn_count = part->op_count = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (!part->txns[txn])
            continue;
        uint32_t kept = 0;
        for (uint32_t i = history->txns[txn].first_op; i < history->txns[txn + 1].first_op; i++) {
            const struct rig_txn_op *op = &history->ops[i];
            if (part->ops[i] && rig_op_reads(op->kind) && !rig_op_reads_sequence(op->kind) &&
                op->read_state == RIG_READ_SEEN && hides(search, op->key, op->value))
                part->ops[i] = 0;
            kept += part->ops[i];
        }
        part->txns[txn] = kept > 0;
        part->txn_count += kept > 0;
        part->op_count += kept;
    }
}

/* ---- candidates ---- */

/* A part without the insert of a row, or with it and without its delete, lies about what is there after the load. So it
 * has to show the very rows of a witness of the whole history that breaks a constraint. */
static void take_rows(struct goal *goal, const struct rig_witness *witness)
{
    goal->of_rows = rig_anomaly_is_of_constraint(goal->anomaly);
    goal->value = witness->value;
    goal->other_value = witness->other_value;
}

static bool has_rows(const struct goal *goal, const struct rig_finding *finding)
{
    if (!goal->of_rows)
        return true;
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        if (finding->witnesses[i].value == goal->value && finding->witnesses[i].other_value == goal->other_value)
            return true;
    }
    return false;
}

static bool meets(const struct goal *goal, const struct rig_verdict *verdict)
{
    uint64_t refuted = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        refuted |= verdict->levels[level].fate == RIG_FATE_REFUTED ? RIG_LEVEL_BIT(level) : 0;
    return verdict->findings[goal->anomaly].count > 0 && has_rows(goal, &verdict->findings[goal->anomaly]) &&
           (refuted & ~goal->refuted) == 0 &&
           (goal->level == RIG_LEVEL_COUNT || (refuted & RIG_LEVEL_BIT(goal->level)) != 0);
}

/* Whether the part in search->trial has the anomaly. A part that cannot be judged, as one that breaks a rule of its
 * workload, has not. */
static enum rig_rc try_trial(struct search *search, bool *has, struct rig_err *err)
{
    struct rig_history *history = NULL;
    struct rig_verdict *verdict = NULL;
    struct rig_err refusal = {0};
    *has = false;
    close_part(search);
    const struct rig_history_choice choice = {
        .txns = search->trial.txns, .ops = search->trial.ops, .hides = hides, .context = search};
    search->candidate_count++;
    if (search->trial.txn_count == 0)
        return RIG_OK;
    enum rig_rc rc = rig_history_excerpt_of(search->history, &choice, &history, err);
    if (rc != RIG_OK)
        return rc;
    rc = rig_repeated_values_check(history, search->check, &verdict, &refusal);
    if (rc == RIG_OK)
        *has = meets(&search->goal, verdict);
    else if (rc != RIG_E_INPUT)
        *err = refusal;
    rig_verdict_free(verdict);
    rig_history_free(history);
    return rc == RIG_E_INPUT ? RIG_OK : rc;
}

/* Takes over the trial if it is smaller and has the anomaly. */
static enum rig_rc try_smaller(struct search *search, bool *smaller, struct rig_err *err)
{
    enum rig_rc rc = try_trial(search, smaller, err);
    if (rc == RIG_OK && *smaller)
        part_copy(&search->part, &search->trial, search->history);
    if (rig_clock_now_ns() > search->until_ns)
        search->spent = true;
    return rc;
}

/* ---- the search ---- */

/* Operations of one statement go together: a read of rows without its condition would be a read of all rows, which no
 * client sent. */
static void drop_statement(struct search *search, uint32_t op)
{
    const struct rig_history *history = search->history;
    const struct rig_type_inference *type = rig_type_inference(history->workload);
    const uint32_t txn = rig_history_txn_of(history, op), first = history->txns[txn].first_op;
    const uint32_t count = rig_txn_op_count(history, txn);
    uint32_t from = op - first, to = op - first + 1;
    while (type->continues != NULL && from > 0 && type->continues(history->ops + first, from))
        from--;
    while (type->continues != NULL && to < count && type->continues(history->ops + first, to))
        to++;
    memset(search->trial.ops + first + from, 0, to - from);
}

/* The items (transactions, or operations) of the part that are kept, `of` of them from number `from` on. */
static void drop_items(struct search *search, bool of_ops, uint32_t from, uint32_t of)
{
    const struct rig_history *history = search->history;
    const uint8_t *kept = of_ops ? search->part.ops : search->part.txns;
    const uint32_t count = of_ops ? history->op_count : history->txn_count;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count && seen < from + of; i++) {
        if (!kept[i])
            continue;
        if (seen++ < from)
            continue;
        if (of_ops)
            drop_statement(search, i);
        else
            drop_txn(&search->trial, history, i);
    }
}

static uint32_t item_count(const struct search *search, bool of_ops)
{
    return of_ops ? search->part.op_count : search->part.txn_count;
}

/* Takes away runs of `size` items, the last ones first: later transactions depend on earlier ones. */
static enum rig_rc drop_runs(struct search *search, bool of_ops, uint32_t size, bool *dropped, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    uint32_t end = item_count(search, of_ops);
    while (rc == RIG_OK && end > 0 && !search->spent) {
        const uint32_t from = end > size ? end - size : 0;
        bool smaller;
        part_copy(&search->trial, &search->part, search->history);
        drop_items(search, of_ops, from, end - from);
        rc = try_smaller(search, &smaller, err);
        *dropped |= smaller;
        end = from;
        if (smaller && end > item_count(search, of_ops)) /* more went than was taken away */
            end = item_count(search, of_ops);
    }
    return rc;
}

static enum rig_rc drop_all(struct search *search, bool of_ops, bool *dropped, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t size = item_count(search, of_ops) / 2; rc == RIG_OK && size > 1; size /= 2)
        rc = drop_runs(search, of_ops, size, dropped, err);
    if (rc == RIG_OK)
        rc = drop_runs(search, of_ops, 1, dropped, err);
    return rc;
}

/* Until no item can go. */
static enum rig_rc minimise(struct search *search, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    bool dropped = true;
    while (rc == RIG_OK && dropped && !search->spent) {
        dropped = false;
        rc = drop_all(search, false, &dropped, err);
        if (rc == RIG_OK && !search->whole_transactions)
            rc = drop_all(search, true, &dropped, err);
    }
    return rc;
}

/* ---- where it begins ---- */

/* Widths of the first part, from the smallest. */
enum width { WITNESS_ALONE, WITH_ITS_WRITERS, WITH_ITS_KEYS, EVERYTHING, WIDTH_COUNT };

/* The transactions that the witness names, and those that show the order of versions to it. */
static void keep_witness(struct search *search, const struct rig_witness *witness)
{
    const struct rig_history *history = search->history;
    for (uint32_t i = 0; i < witness->txn_count; i++)
        keep_txn(&search->trial, history, witness->txns[i]);
    const struct rig_step *steps = witness->cases != NULL ? witness->cases->steps : witness->steps;
    const uint32_t count = witness->cases != NULL ? witness->cases->step_count : witness->step_count;
    for (uint32_t i = 0; i < count; i++) {
        keep_txn(&search->trial, history, steps[i].from);
        if (steps[i].order_txn < history->txn_count)
            keep_txn(&search->trial, history, steps[i].order_txn);
        if (steps[i].order != RIG_ORDER_LIST && steps[i].order_other < history->txn_count)
            keep_txn(&search->trial, history, steps[i].order_other);
    }
}

/* Adds the writers of the last values that its transactions read. */
static void keep_writers(struct search *search)
{
    const struct rig_history *history = search->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (!search->trial.txns[txn])
            continue;
        for (uint32_t i = history->txns[txn].first_op; i < history->txns[txn + 1].first_op; i++) {
            const struct rig_txn_op *op = &history->ops[i];
            if (!rig_op_reads(op->kind) || op->read_state != RIG_READ_SEEN)
                continue;
            const bool many = rig_op_reads_sequence(op->kind);
            const struct rig_read_list list = many ? rig_txn_op_list(history, op) : (struct rig_read_list){0};
            if (many && list.count == 0)
                continue;
            const int64_t value = many ? rig_read_element(&list, list.count - 1) : op->value;
            const uint32_t writer = rig_value_writer(&search->writers, op->key, value);
            if (writer != UINT32_MAX)
                keep_txn(&search->trial, history, rig_history_txn_of(history, writer));
        }
    }
}

/* Adds each transaction that uses a key of those kept. */
static enum rig_rc keep_keys(struct search *search, struct rig_err *err)
{
    const struct rig_history *history = search->history;
    uint8_t *used = calloc((size_t)history->key_count + 1, 1);
    if (used == NULL)
        return rig_no_memory(err, "the keys of a witness");
    for (uint32_t i = 0; i < history->op_count; i++) {
        if (search->trial.ops[i])
            used[history->ops[i].key] = 1;
    }
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t i = history->txns[txn].first_op; i < history->txns[txn + 1].first_op; i++) {
            if (used[history->ops[i].key])
                keep_txn(&search->trial, history, txn);
        }
    }
    free(used);
    return RIG_OK;
}

static enum rig_rc begin_with(struct search *search, const struct rig_witness *witness, enum width width, bool *has,
                              struct rig_err *err)
{
    const struct rig_history *history = search->history;
    enum rig_rc rc = RIG_OK;
    memset(search->trial.txns, width == EVERYTHING, history->txn_count);
    memset(search->trial.ops, width == EVERYTHING, history->op_count);
    if (width != EVERYTHING)
        keep_witness(search, witness);
    if (width == WITH_ITS_WRITERS || width == WITH_ITS_KEYS)
        keep_writers(search);
    if (width == WITH_ITS_KEYS)
        rc = keep_keys(search, err);
    return rc == RIG_OK ? try_smaller(search, has, err) : rc;
}

/* Replaces what parts are taken from by the part: the search then takes time by the part's size only. */
static enum rig_rc settle(struct search *search, struct rig_history **owned, struct rig_err *err)
{
    struct rig_history *history = NULL;
    part_copy(&search->trial, &search->part, search->history);
    const struct rig_history_choice choice = {
        .txns = search->trial.txns, .ops = search->trial.ops, .hides = hides, .context = search};
    enum rig_rc rc = rig_history_excerpt_of(search->history, &choice, &history, err);
    if (rc == RIG_OK)
        *owned = history;
    return rc;
}

static void search_done(struct search *search)
{
    rig_value_writers_done(&search->writers);
    part_done(&search->part);
    part_done(&search->trial);
}

static enum rig_rc search_init(struct search *search, const struct rig_history *history, const struct search *like,
                               struct rig_err *err)
{
    *search = *like;
    search->history = history;
    search->part = search->trial = (struct part){0};
    enum rig_rc rc = rig_value_writers_init(&search->writers, history, err);
    if (rc == RIG_OK && (!part_init(&search->part, history) || !part_init(&search->trial, history)))
        rc = rig_no_memory(err, "parts of a history");
    return rc;
}

/* The smallest part that a search from one witness finds; it is NULL where the witness does not lead to one. */
static enum rig_rc shrink_witness(struct search *whole, const struct rig_witness *witness, enum width widest,
                                  struct rig_history **best, struct rig_err *err)
{
    struct rig_history *start = NULL;
    struct search inner = {0};
    enum rig_rc rc = RIG_OK;
    bool has = false;
    take_rows(&whole->goal, witness);
    for (unsigned width = 0; rc == RIG_OK && !has && width <= widest; width++)
        rc = begin_with(whole, witness, (enum width)width, &has, err);
    *best = NULL;
    if (rc != RIG_OK || !has)
        return rc;
    rc = settle(whole, &start, err);
    if (rc == RIG_OK)
        rc = search_init(&inner, start, whole, err);
    for (uint32_t txn = 0; rc == RIG_OK && txn < start->txn_count; txn++)
        keep_txn(&inner.part, start, txn);
    inner.part.txn_count = start == NULL ? 0 : start->txn_count;
    inner.part.op_count = start == NULL ? 0 : start->op_count;
    if (rc == RIG_OK)
        rc = minimise(&inner, err);
    if (rc == RIG_OK)
        rc = settle(&inner, best, err);
    whole->candidate_count = inner.candidate_count;
    whole->spent = inner.spent;
    search_done(&inner);
    rig_history_free(start);
    return rc;
}

/* ---- the goal ---- */

static uint32_t shortest(const struct rig_verdict *verdict, enum rig_anomaly anomaly)
{
    const struct rig_finding *finding = &verdict->findings[anomaly];
    return finding->witness_count == 0 ? UINT32_MAX : finding->witnesses[0].txn_count;
}

/* The anomaly that was asked for, else the one that refutes the weakest level at or below one that was asked for. */
static bool choose_goal(const struct rig_check_options *check, const struct rig_verdict *verdict, struct goal *goal)
{
    uint64_t below = 0;
    *goal = (struct goal){.anomaly = RIG_ANOMALY_COUNT, .level = RIG_LEVEL_COUNT};
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if (verdict->levels[level].fate == RIG_FATE_REFUTED)
            goal->refuted |= RIG_LEVEL_BIT(level);
        if (verdict->requested_levels & RIG_LEVEL_BIT(level))
            below |= rig_level_info_in(verdict->lattice, (enum rig_level)level)->below;
    }
    for (unsigned asked = 0; asked < RIG_ANOMALY_COUNT; asked++) {
        enum rig_anomaly found;
        if ((check->anomalies & RIG_ANOMALY_BIT(asked)) &&
            rig_verdict_case_of(verdict, (enum rig_anomaly)asked, &found) && shortest(verdict, found) != UINT32_MAX) {
            goal->anomaly = found;
            return true;
        }
    }
    const bool by_level = check->levels != 0 || check->anomalies == 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT && by_level; level++) {
        const enum rig_anomaly because = verdict->levels[level].because;
        if ((verdict->weakest_refuted & below & RIG_LEVEL_BIT(level)) == 0 || shortest(verdict, because) == UINT32_MAX)
            continue;
        if (goal->anomaly == RIG_ANOMALY_COUNT || shortest(verdict, because) < shortest(verdict, goal->anomaly)) {
            goal->anomaly = because;
            goal->level = (enum rig_level)level;
        }
    }
    return goal->anomaly != RIG_ANOMALY_COUNT;
}

/* ---- the result ---- */

static bool is_smaller(const struct rig_history *a, const struct rig_history *b)
{
    return b == NULL || a->txn_count < b->txn_count || (a->txn_count == b->txn_count && a->op_count < b->op_count);
}

/* Whether the part can be played: its statements have an order that gives its reads. */
static bool has_scenario(const struct search *search, struct rig_history *history)
{
    struct rig_smallest_part part = {.history = history, .anomaly = search->goal.anomaly, .level = search->goal.level};
    struct rig_interleaving interleaving = {0};
    struct rig_err ignored = {0};
    struct rig_buf yaml;
    rig_buf_init(&yaml, 0);
    const bool has = rig_repeated_values_check(history, search->check, &part.verdict, &ignored) == RIG_OK &&
                     rig_interleaving_init(&interleaving, history, part.verdict, &ignored) == RIG_OK &&
                     interleaving.explains_reads && rig_scenario_text(&part, &interleaving, &yaml, &ignored) == RIG_OK;
    rig_buf_done(&yaml);
    rig_interleaving_done(&interleaving);
    rig_verdict_free(part.verdict);
    return has;
}

/* Takes the part over where it is better than the best so far; frees the other one. */
static void take_better(const struct search *search, struct rig_history *found, struct rig_history **best, bool *plays)
{
    const bool found_plays = found != NULL && search->for_scenario && has_scenario(search, found);
    const bool is_better =
        found != NULL && (*plays == found_plays ? is_smaller(found, *best) : found_plays || *best == NULL);
    if (!is_better) {
        rig_history_free(found);
        return;
    }
    rig_history_free(*best);
    *best = found;
    *plays = found_plays;
}

/* Begins with each witness in turn; with more than the witness only if no witness leads to a part by itself. */
static enum rig_rc shrink_all(struct search *search, const struct rig_finding *finding, struct rig_history **best,
                              struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    bool plays = false;
    for (unsigned widest = WITNESS_ALONE; rc == RIG_OK && *best == NULL && widest < WIDTH_COUNT; widest++) {
        for (uint32_t i = 0; rc == RIG_OK && i < finding->witness_count && !search->spent; i++) {
            struct rig_history *found = NULL;
            rc = shrink_witness(search, &finding->witnesses[i], (enum width)widest, &found, err);
            if (rc == RIG_OK)
                take_better(search, found, best, &plays);
            else
                rig_history_free(found);
        }
    }
    return rc;
}

/* ---- the reads as they were ---- */

/* The transaction of the whole history that the part has under the same name. */
static uint32_t find_whole(const struct rig_history *whole, const struct rig_history *part, uint32_t txn)
{
    const uint32_t name = rig_txn_name(part, txn);
    uint32_t at = 0;
    while (at < whole->txn_count && rig_txn_name(whole, at) != name)
        at++;
    return at;
}

static bool has_elements(const struct rig_read_list *whole, const struct rig_read_list *part)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < whole->count && found < part->count; i++)
        found += rig_read_element(whole, i) == rig_read_element(part, found);
    return found == part->count;
}

/* The next operation of the transaction, from `*at` on, that the part's one may be. */
static const struct rig_txn_op *next_like(const struct rig_history *whole, uint32_t txn, uint32_t *at,
                                          const struct rig_history *part, const struct rig_txn_op *op)
{
    const bool many = rig_op_reads_sequence(op->kind) && op->read_state == RIG_READ_SEEN;
    for (; *at < rig_txn_op_count(whole, txn); ++*at) {
        const struct rig_txn_op *other = &rig_txn_ops(whole, txn)[*at];
        if (other->kind != op->kind || whole->keys[other->key] != part->keys[op->key] ||
            other->read_state != op->read_state)
            continue;
        const struct rig_read_list seen = many ? rig_txn_op_list(whole, other) : (struct rig_read_list){0};
        const struct rig_read_list shown = many ? rig_txn_op_list(part, op) : (struct rig_read_list){0};
        if (many ? has_elements(&seen, &shown) : other->value == op->value)
            return &rig_txn_ops(whole, txn)[(*at)++];
    }
    return NULL;
}

/* Keeps the reads whose elements the part has in part alone. */
static enum rig_rc keep_reads(struct rig_smallest_part *shrunk, const struct rig_history *whole, struct rig_err *err)
{
    const struct rig_history *part = shrunk->history;
    shrunk->reads = rig_arena_array(&shrunk->arena, (size_t)part->op_count + 1, sizeof *shrunk->reads);
    if (shrunk->reads == NULL)
        return rig_no_memory(err, "the reads of a part");
    for (uint32_t txn = 0; txn < part->txn_count && whole->key_texts == NULL; txn++) {
        const uint32_t as = find_whole(whole, part, txn);
        uint32_t at = 0;
        for (uint32_t i = part->txns[txn].first_op; as < whole->txn_count && i < part->txns[txn + 1].first_op; i++) {
            const struct rig_txn_op *op = &part->ops[i], *was = next_like(whole, as, &at, part, op);
            if (was == NULL || !rig_op_reads_sequence(op->kind) || op->read_state != RIG_READ_SEEN)
                continue;
            const struct rig_read_list seen = rig_txn_op_list(whole, was);
            if (seen.count == rig_txn_op_list(part, op).count)
                continue;
            int64_t *elements = rig_arena_array(&shrunk->arena, seen.count, sizeof *elements);
            if (elements == NULL)
                return rig_no_memory(err, "the reads of a part");
            rig_read_copy(&seen, 0, seen.count, elements);
            shrunk->reads[shrunk->read_count++] =
                (struct rig_original_read){.op = i, .count = seen.count, .elements = elements};
        }
    }
    return RIG_OK;
}

static enum rig_rc judge_result(struct rig_smallest_part *shrunk, const struct rig_shrink_options *options,
                                const struct goal *goal, struct rig_err *err)
{
    struct rig_check_options check = options->check;
    check.max_witnesses = 1;
    enum rig_rc rc = rig_repeated_values_check(shrunk->history, &check, &shrunk->verdict, err);
    if (rc == RIG_OK)
        RIG_INVARIANT(meets(goal, shrunk->verdict));
    return rc;
}

static enum rig_rc check_type(const struct rig_history *history, struct rig_err *err)
{
    if ((RIG_WORKLOADS_OF_NAMED_WRITERS >> (unsigned)history->workload & 1) != 0)
        return RIG_OK;
    return rig_fail(
        err, RIG_E_USAGE,
        "a history of %s cannot be shrunk: its values do not name their writers, so a part of it could show "
        "an anomaly that the whole does not have",
        rig_data_types[history->workload].name);
}

enum rig_rc rig_shrink_history(const struct rig_history *history, const struct rig_shrink_options *options,
                               struct rig_smallest_part *shrunk, struct rig_err *err)
{
    struct rig_smallest_part out = {.txns = history->txn_count, .ops = history->op_count};
    struct rig_verdict *verdict = NULL;
    struct rig_check_options check = options->check;
    struct search search = {0};
    rig_arena_init(&out.arena, 0);
    check.max_witnesses = 1;
    struct search like = {.check = &check,
                          .for_scenario = options->for_scenario,
                          .whole_transactions = options->whole_transactions,
                          .until_ns = rig_clock_now_ns() +
                                      (options->budget_ns > 0 ? options->budget_ns : RIG_DEFAULT_BUDGET_NS)};
    enum rig_rc rc = check_type(history, err);
    if (rc == RIG_OK)
        rc = rig_repeated_values_check(history, &options->check, &verdict, err);
    if (rc == RIG_OK && !choose_goal(&options->check, verdict, &like.goal))
        rc = rig_fail(err, RIG_E_USAGE,
                      "the history shows no anomaly that is asked for and that a part of it could show, so there is "
                      "nothing to shrink");
    if (rc == RIG_OK)
        rc = search_init(&search, history, &like, err);
    if (rc == RIG_OK)
        rc = shrink_all(&search, &verdict->findings[like.goal.anomaly], &out.history, err);
    if (rc == RIG_OK && out.history == NULL)
        rc = rig_fail(err, RIG_E_LIMIT, "the budget was spent before a smaller part was found; give a larger --budget");
    out.anomaly = like.goal.anomaly;
    out.level = like.goal.level;
    out.candidate_count = search.candidate_count;
    out.minimal = !search.spent;
    search_done(&search);
    rig_verdict_free(verdict);
    if (rc == RIG_OK)
        rc = judge_result(&out, options, &like.goal, err);
    if (rc == RIG_OK)
        rc = keep_reads(&out, history, err);
    if (rc == RIG_OK)
        *shrunk = out;
    else
        rig_smallest_part_done(&out);
    return rc;
}

enum rig_rc rig_shrink_goal(const struct rig_history *history, const struct rig_check_options *check,
                            enum rig_anomaly *anomaly, struct rig_err *err)
{
    struct rig_verdict *verdict = NULL;
    struct goal goal;
    enum rig_rc rc = rig_repeated_values_check(history, check, &verdict, err);
    if (rc == RIG_OK && !choose_goal(check, verdict, &goal))
        rc = rig_fail(err, RIG_E_USAGE, "the history shows no anomaly that is asked for");
    if (rc == RIG_OK)
        *anomaly = goal.anomaly;
    rig_verdict_free(verdict);
    return rc;
}

void rig_smallest_part_done(struct rig_smallest_part *shrunk)
{
    rig_verdict_free(shrunk->verdict);
    rig_history_free(shrunk->history);
    rig_arena_done(&shrunk->arena);
    *shrunk = (struct rig_smallest_part){0};
}
