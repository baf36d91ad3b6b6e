#include "checker/judge/stream/witness_txns.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "checker/judge/stream/retired.h"
#include "checker/explain/sentence.h"
#include "history/model/builder.h"
#include "history/model/history_excerpt.h"
#include "history/model/read_list.h"

/* An operation of a transaction that was kept. */
struct kept_op {
    uint32_t key; /* into rig_witness_txns.keys */
    bool shows_any;
    int64_t last; /* element of the list that was read, where it shows any */
};

struct kept_txn {
    uint32_t complete_at, invoke_at;
    uint32_t first_op, op_count; /* in `ops` */
};

RIG_VEC(struct kept_op, kept_ops)
RIG_VEC(struct kept_txn, kept_txns)
RIG_VEC(int64_t, key_names)

struct rig_witness_txns {
    struct rig_history_builder *builder; /* has the kept transactions, in this order: */
    struct kept_txns txns;
    struct kept_ops ops;
    bool keyword_keys;
    struct rig_table txn_ids; /* name -> index into txns */
    struct rig_table key_ids; /* the key as the builder calls it -> index into keys */
    struct key_names keys;
    struct rig_arena scratch;
    const struct rig_history *history; /* being copied from */
    const struct rig_retired *retired; /* the elements that were cut off the lists of `history` */
};

/* A transaction's operations and results in the form that the builder takes, in scratch memory. */
struct copy {
    struct rig_op *ops;
    struct rig_read *reads;
    const int64_t **lists;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the witnesses");
}

struct rig_witness_txns *rig_witness_txns_new(enum rig_workload workload)
{
    struct rig_witness_txns *evidence = calloc(1, sizeof *evidence);
    if (evidence == NULL)
        return NULL;
    rig_arena_init(&evidence->scratch, 0);
    rig_table_init(&evidence->txn_ids);
    rig_table_init(&evidence->key_ids);
    evidence->builder = rig_history_builder_new(workload, 0);
    if (evidence->builder == NULL) {
        rig_witness_txns_free(evidence);
        return NULL;
    }
    return evidence;
}

void rig_witness_txns_free(struct rig_witness_txns *evidence)
{
    if (evidence == NULL)
        return;
    rig_history_builder_free(evidence->builder);
    rig_arena_done(&evidence->scratch);
    kept_txns_done(&evidence->txns);
    kept_ops_done(&evidence->ops);
    rig_table_done(&evidence->txn_ids);
    rig_table_done(&evidence->key_ids);
    key_names_done(&evidence->keys);
    free(evidence);
}

/* ---- copying ---- */

static enum rig_rc keep_key(struct rig_witness_txns *evidence, uint32_t key, uint32_t *kept, struct rig_err *err)
{
    const struct rig_history *history = evidence->history;
    int64_t name = history->keys[key];
    enum rig_rc rc = RIG_OK;
    if (history->key_texts != NULL) {
        const char *text = history->key_texts[name];
        evidence->keyword_keys |= history->keyword_keys;
        rc = rig_history_builder_text_key(evidence->builder, text, strlen(text), &name, err);
    }
    if (rc != RIG_OK)
        return rc;
    uint32_t *id = rig_table_put(&evidence->key_ids, (uint64_t)name);
    if (id == NULL)
        return no_memory(err);
    if (*id == RIG_TABLE_NONE) {
        *id = (uint32_t)evidence->keys.count;
        if (!key_names_add(&evidence->keys, name))
            return no_memory(err);
    }
    *kept = *id;
    return RIG_OK;
}

/* The list that `op` read, from its first element on. */
static bool copy_list(struct rig_witness_txns *evidence, const struct rig_txn_op *op, const int64_t **at,
                      uint32_t *count)
{
    const struct rig_list begins = rig_retired_prefix(evidence->retired, evidence->history, op->key);
    const struct rig_read_list list = rig_txn_op_list(evidence->history, op);
    *count = begins.count + list.count;
    if (begins.count == 0) {
        *at = rig_read_whole(&list, &evidence->scratch);
        return *at != NULL;
    }
    int64_t *whole = rig_arena_room(&evidence->scratch, *count, sizeof *whole);
    if (whole == NULL)
        return false;
    memcpy(whole, begins.at, begins.count * sizeof *whole);
    rig_read_copy(&list, 0, list.count, whole + begins.count);
    *at = whole;
    return true;
}

static enum rig_rc copy_op(struct rig_witness_txns *evidence, const struct rig_txn_op *op, uint32_t i,
                           struct copy *copy, struct rig_err *err)
{
    const bool reads = rig_op_reads(op->kind), seen = op->read_state == RIG_READ_SEEN;
    struct kept_op kept = {0};
    enum rig_rc rc = keep_key(evidence, op->key, &kept.key, err);
    if (rc != RIG_OK)
        return rc;
    copy->ops[i] = (struct rig_op){.kind = (enum rig_op_kind)op->kind, .key = evidence->keys.at[kept.key]};
    copy->reads[i] = (struct rig_read){.state = (enum rig_read_state)op->read_state};
    if (!reads)
        copy->ops[i].value = op->value;
    else if (seen && !rig_op_reads_sequence(op->kind))
        copy->reads[i].value = op->value;
    else if (seen && !copy_list(evidence, op, &copy->lists[i], &copy->reads[i].count))
        return no_memory(err);
    if (copy->reads[i].count > 0) {
        kept.shows_any = true;
        kept.last = copy->lists[i][copy->reads[i].count - 1];
    }
    return kept_ops_add(&evidence->ops, kept) ? RIG_OK : no_memory(err);
}

static enum rig_rc copy_ops(struct rig_witness_txns *evidence, uint32_t txn, struct copy *copy, struct rig_err *err)
{
    const struct rig_txn_op *ops = rig_txn_ops(evidence->history, txn);
    const uint32_t count = rig_txn_op_count(evidence->history, txn);
    copy->ops = rig_arena_array(&evidence->scratch, (size_t)count + 1, sizeof *copy->ops);
    copy->reads = rig_arena_array(&evidence->scratch, (size_t)count + 1, sizeof *copy->reads);
    copy->lists = rig_arena_array(&evidence->scratch, (size_t)count + 1, sizeof *copy->lists);
    if (copy->ops == NULL || copy->reads == NULL || copy->lists == NULL)
        return no_memory(err);
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < count; i++)
        rc = copy_op(evidence, &ops[i], i, copy, err);
    return rc;
}

static enum rig_rc copy_txn(struct rig_witness_txns *evidence, uint32_t txn, struct rig_err *err)
{
    const struct rig_history *history = evidence->history;
    struct copy copy = {0};
    const struct kept_txn kept = {.complete_at = history->txns[txn].complete_at,
                                  .invoke_at = history->txns[txn].invoke_at,
                                  .first_op = (uint32_t)evidence->ops.count,
                                  .op_count = rig_txn_op_count(history, txn)};
    rig_arena_reset(&evidence->scratch);
    enum rig_rc rc = copy_ops(evidence, txn, &copy, err);
    const struct rig_txn_input content = {.ops = copy.ops,
                                          .reads = copy.reads,
                                          .lists = copy.lists,
                                          .op_count = kept.op_count,
                                          .spans = rig_history_times(history, txn)};
    if (rc == RIG_OK)
        rc = rig_history_builder_add_like(evidence->builder, history, txn, &content, err);
    return rc != RIG_OK || kept_txns_add(&evidence->txns, kept) ? rc : no_memory(err);
}

/* Replaces a transaction of the history by its number here. */
static enum rig_rc keep_txn(struct rig_witness_txns *evidence, uint32_t *txn, struct rig_err *err)
{
    if (*txn == UINT32_MAX)
        return RIG_OK;
    uint32_t *id = rig_table_put(&evidence->txn_ids, rig_txn_name(evidence->history, *txn));
    if (id == NULL)
        return no_memory(err);
    if (*id == RIG_TABLE_NONE) {
        uint32_t next = (uint32_t)evidence->txns.count;
        enum rig_rc rc = copy_txn(evidence, *txn, err);
        if (rc != RIG_OK)
            return rc;
        *id = next;
    }
    RIG_INVARIANT(*id < evidence->txns.count);
    *txn = *id;
    return RIG_OK;
}

/*
 * Finds the place of operation `op` of the history's transaction in the kept one. The history may have dropped the
 * operations on some keys since, but always all on one key.
 */
static enum rig_rc map_op(struct rig_witness_txns *evidence, uint32_t txn, uint32_t kept, uint32_t *op,
                          struct rig_err *err)
{
    if (txn == UINT32_MAX || *op == UINT32_MAX)
        return RIG_OK;
    RIG_REQUIRE(*op < rig_txn_op_count(evidence->history, txn) && kept < evidence->txns.count);
    const struct rig_txn_op *ops = rig_txn_ops(evidence->history, txn);
    uint32_t rank = 0, key;
    for (uint32_t i = 0; i < *op; i++)
        rank += ops[i].key == ops[*op].key;
    enum rig_rc rc = keep_key(evidence, ops[*op].key, &key, err);
    if (rc != RIG_OK)
        return rc;
    const struct kept_txn *t = &evidence->txns.at[kept];
    for (uint32_t i = 0; i < t->op_count; i++) {
        if (evidence->ops.at[t->first_op + i].key == key && rank-- == 0) {
            *op = i;
            return RIG_OK;
        }
    }
    RIG_INVARIANT(false && "an operation that was kept");
    return RIG_E_BUG;
}

static enum rig_rc keep_with_op(struct rig_witness_txns *evidence, uint32_t *txn, uint32_t *op, struct rig_err *err)
{
    uint32_t before = *txn;
    enum rig_rc rc = keep_txn(evidence, txn, err);
    return rc == RIG_OK ? map_op(evidence, before, *txn, op, err) : rc;
}

static enum rig_rc keep_step(struct rig_witness_txns *evidence, struct rig_step *step, struct rig_err *err)
{
    uint32_t order_txn = step->order_txn;
    enum rig_rc rc = keep_with_op(evidence, &step->from, &step->from_op, err);
    if (rc == RIG_OK)
        rc = keep_with_op(evidence, &step->to, &step->to_op, err);
    if (rc == RIG_OK)
        rc = keep_with_op(evidence, &step->order_txn, &step->order_op, err);
    if (rc == RIG_OK && step->order_other == order_txn)
        step->order_other = step->order_txn;
    else if (rc == RIG_OK)
        rc = keep_txn(evidence, &step->order_other, err);
    if (rc == RIG_OK && step->key != UINT32_MAX)
        rc = keep_key(evidence, step->key, &step->key, err);
    if (rc == RIG_OK && step->kind == RIG_EDGE_RW && step->from_op != UINT32_MAX) {
        /* The whole list that was read may end before the part that the window had of it begins. */
        const struct kept_op *read = &evidence->ops.at[evidence->txns.at[step->from].first_op + step->from_op];
        if (read->shows_any)
            step->from_value = read->last;
    }
    return rc;
}

static enum rig_rc keep_cases(struct rig_witness_txns *evidence, struct rig_cases *cases, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < cases->step_count; i++)
        rc = keep_step(evidence, &cases->steps[i], err);
    for (uint32_t i = 0; rc == RIG_OK && i < cases->line_count; i++) {
        struct rig_case *line = &cases->lines[i];
        rc = keep_txn(evidence, &line->before, err);
        if (rc == RIG_OK)
            rc = keep_txn(evidence, &line->after, err);
        if (rc == RIG_OK && line->key != UINT32_MAX)
            rc = keep_key(evidence, line->key, &line->key, err);
    }
    return rc;
}

enum rig_rc rig_witness_txns_keep(struct rig_witness_txns *evidence, const struct rig_history *history,
                                  const struct rig_retired *retired, struct rig_witness *witness, struct rig_err *err)
{
    evidence->history = history;
    evidence->retired = retired;
    enum rig_rc rc = RIG_OK;
    uint32_t none = UINT32_MAX;
    for (uint32_t i = 0; rc == RIG_OK && i < witness->step_count; i++)
        rc = keep_step(evidence, &witness->steps[i], err);
    if (rc == RIG_OK && witness->cases != NULL)
        rc = keep_cases(evidence, witness->cases, err);
    for (uint32_t i = 0; rc == RIG_OK && i < witness->txn_count; i++) {
        uint32_t *op = i == 0 ? &witness->op : i == 1 ? &witness->other_op : &none;
        uint32_t no_op = UINT32_MAX;
        /* Both operations of a witness over one transaction are its own. */
        if (i == 0 && witness->txn_count == 1 && witness->step_count == 0) {
            uint32_t txn = witness->txns[0];
            rc = keep_with_op(evidence, &txn, &witness->other_op, err);
        }
        if (rc == RIG_OK)
            rc = keep_with_op(evidence, &witness->txns[i], witness->step_count == 0 ? op : &no_op, err);
    }
    if (rc == RIG_OK && witness->key != UINT32_MAX)
        rc = keep_key(evidence, witness->key, &witness->key, err);
    return rc;
}

/* ---- giving ---- */

static void mark_evidence(const struct rig_step *steps, uint32_t count, uint32_t *wanted)
{
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i].order_txn != UINT32_MAX)
            wanted[steps[i].order_txn] = 1;
        if (steps[i].order_other != UINT32_MAX)
            wanted[steps[i].order_other] = 1;
    }
}

/* Marks the transactions of the final witnesses; shorter witnesses have replaced others. */
static void mark_wanted(const struct rig_finding *findings, uint32_t *wanted)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        for (uint32_t w = 0; w < findings[anomaly].witness_count; w++) {
            const struct rig_witness *witness = &findings[anomaly].witnesses[w];
            for (uint32_t i = 0; i < witness->txn_count; i++)
                wanted[witness->txns[i]] = 1;
            mark_evidence(witness->steps, witness->step_count, wanted);
            if (witness->cases != NULL)
                mark_evidence(witness->cases->steps, witness->cases->step_count, wanted);
        }
    }
}

struct place {
    uint32_t complete_at, invoke_at, txn;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->complete_at != b->complete_at)
        return a->complete_at < b->complete_at ? -1 : 1;
    return (a->invoke_at > b->invoke_at) - (a->invoke_at < b->invoke_at);
}

/* The selection of kept transactions for a history. */
struct giving {
    struct place *places;    /* in the order in which histories number them */
    uint8_t *keep;           /* parallel: wanted */
    uint32_t *number;        /* per kept transaction: wanted; at the end its number in the given history */
    uint32_t *key_number;    /* per key: its number in the given history; UINT32_MAX: no wanted transaction used it */
    struct rig_history *all; /* all kept transactions */
    struct rig_history *given;
};

static void number_txns(const struct rig_witness_txns *evidence, struct giving *g)
{
    const uint32_t count = (uint32_t)evidence->txns.count;
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++)
        g->places[i] = (struct place){evidence->txns.at[i].complete_at, evidence->txns.at[i].invoke_at, i};
    qsort(g->places, count, sizeof *g->places, compare_places);
    for (uint32_t i = 0; i < count; i++) {
        RIG_INVARIANT(i == 0 || compare_places(&g->places[i - 1], &g->places[i]) < 0);
        uint32_t *number = &g->number[g->places[i].txn];
        g->keep[i] = *number != 0;
        *number = g->keep[i] ? next++ : UINT32_MAX;
    }
}

static void number_keys(const struct rig_witness_txns *evidence, struct giving *g)
{
    uint32_t txn = 0;
    memset(g->key_number, 0xff, (evidence->keys.count + 1) * sizeof *g->key_number);
    for (uint32_t i = 0; i < g->all->txn_count; i++) {
        const struct rig_txn_op *ops = rig_txn_ops(g->all, i);
        for (uint32_t op = 0; g->keep[i] && op < rig_txn_op_count(g->all, i); op++) {
            uint32_t key = rig_table_get(&evidence->key_ids, (uint64_t)g->all->keys[ops[op].key]);
            RIG_INVARIANT(key < evidence->keys.count && op < rig_txn_op_count(g->given, txn));
            g->key_number[key] = rig_txn_ops(g->given, txn)[op].key;
        }
        txn += g->keep[i];
    }
    RIG_INVARIANT(txn == g->given->txn_count);
}

/* The wanted transactions as a history. */
static enum rig_rc give_wanted(struct rig_witness_txns *evidence, const struct rig_finding *findings, struct giving *g,
                               struct rig_err *err)
{
    const size_t count = evidence->txns.count + 1;
    g->places = calloc(count, sizeof *g->places);
    g->keep = calloc(count, sizeof *g->keep);
    g->number = calloc(count, sizeof *g->number);
    g->key_number = calloc(evidence->keys.count + 1, sizeof *g->key_number);
    if (g->places == NULL || g->keep == NULL || g->number == NULL || g->key_number == NULL)
        return no_memory(err);
    mark_wanted(findings, g->number);
    number_txns(evidence, g);
    if (evidence->keyword_keys)
        rig_history_builder_keyword_keys(evidence->builder);
    enum rig_rc rc = rig_history_builder_finish(evidence->builder, &g->all, err);
    evidence->builder = NULL;
    if (rc == RIG_OK)
        rc = rig_history_excerpt(g->all, g->keep, &g->given, err);
    if (rc == RIG_OK)
        number_keys(evidence, g);
    return rc;
}

static void renumber_txn(const struct giving *g, uint32_t *txn)
{
    *txn = *txn == UINT32_MAX ? UINT32_MAX : g->number[*txn];
}

static void renumber_key(const struct giving *g, uint32_t *key)
{
    *key = *key == UINT32_MAX ? UINT32_MAX : g->key_number[*key];
    RIG_INVARIANT(*key == UINT32_MAX || *key < g->given->key_count);
}

static void renumber_steps(const struct giving *g, struct rig_step *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct rig_step *step = &steps[i];
        uint32_t *const txns[] = {&step->from, &step->to, &step->order_txn, &step->order_other};
        for (size_t t = 0; t < sizeof txns / sizeof txns[0]; t++)
            renumber_txn(g, txns[t]);
        renumber_key(g, &step->key);
    }
}

static void renumber_cases(const struct giving *g, struct rig_cases *cases)
{
    renumber_steps(g, cases->steps, cases->step_count);
    for (uint32_t i = 0; i < cases->line_count; i++) {
        renumber_txn(g, &cases->lines[i].before);
        renumber_txn(g, &cases->lines[i].after);
        renumber_key(g, &cases->lines[i].key);
    }
}

static void renumber(const struct giving *g, struct rig_witness *witness)
{
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        renumber_txn(g, &witness->txns[i]);
        RIG_INVARIANT(witness->txns[i] < g->given->txn_count);
    }
    renumber_key(g, &witness->key);
    renumber_steps(g, witness->steps, witness->step_count);
    for (uint32_t i = 0; i < witness->step_count; i++) {
        const struct rig_step *step = &witness->steps[i];
        RIG_INVARIANT(step->from == witness->txns[i] && step->to == witness->txns[(i + 1) % witness->txn_count]);
    }
    if (witness->cases != NULL)
        renumber_cases(g, witness->cases);
}

static bool word_all(const struct giving *g, struct rig_finding *findings, struct rig_arena *arena)
{
    bool done = true;
    for (unsigned anomaly = 0; done && anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        for (uint32_t i = 0; done && i < findings[anomaly].witness_count; i++) {
            renumber(g, &findings[anomaly].witnesses[i]);
            done = rig_sentence_word(g->given, &findings[anomaly].witnesses[i], arena);
        }
    }
    return done;
}

enum rig_rc rig_witness_txns_give(struct rig_witness_txns *evidence, struct rig_finding *findings, int64_t zero_ns,
                                  int64_t start_utc_ns, struct rig_arena *arena, struct rig_history **history,
                                  struct rig_err *err)
{
    struct giving g = {0};
    enum rig_rc rc = give_wanted(evidence, findings, &g, err);
    if (rc == RIG_OK) {
        g.given->zero_ns = zero_ns;
        g.given->start_utc_ns = start_utc_ns;
        if (!word_all(&g, findings, arena))
            rc = no_memory(err);
    }
    rig_history_free(g.all);
    free(g.places);
    free(g.keep);
    free(g.number);
    free(g.key_number);
    if (rc == RIG_OK)
        *history = g.given;
    else
        rig_history_free(g.given);
    return rc;
}
