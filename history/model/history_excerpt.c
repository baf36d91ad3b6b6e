#include "history/model/history_excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bug.h"
#include "history/model/builder.h"
#include "history/model/read_list.h"
#include "history/model/shared_value.h"

/* A transaction on its way; the arrays have room for the longest one. */
struct passing {
    const struct rig_history *history;
    const struct rig_history_choice *choice;
    struct rig_history_builder *builder;
    struct rig_op *ops;
    struct rig_read *reads;
    const int64_t **lists;
    int64_t *times;          /* of the operations that are kept */
    struct rig_arena copies; /* of lists in two pieces */
    uint32_t kept_count;
    struct rig_txn_input
        part; /* the next part of a transaction that is taken apart: position and process, and the time */
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_no_memory(err, "an excerpt of the history");
}

static bool make_room(struct passing *p)
{
    const uint8_t *keep = p->choice->txns;
    uint32_t most = 1;
    for (uint32_t txn = 0; txn < p->history->txn_count; txn++) {
        p->kept_count += keep[txn] != 0;
        if (keep[txn] && rig_txn_op_count(p->history, txn) > most)
            most = rig_txn_op_count(p->history, txn);
    }
    p->ops = calloc(most, sizeof *p->ops);
    p->reads = calloc(most, sizeof *p->reads);
    p->lists = calloc(most, sizeof *p->lists);
    p->times = calloc(most, 2 * sizeof *p->times);
    return p->ops != NULL && p->reads != NULL && p->lists != NULL && p->times != NULL;
}

static bool reads_pairs(unsigned kind)
{
    return rig_op_reads_rows(kind) || rig_op_reads_records(kind);
}

/* Takes the hidden elements out of a list, which may be the history's own. A row, of an id and a version, is hidden as
 * a whole, and so is a record; its offset hides nothing. False when memory runs out. */
static bool hide_elements(struct passing *p, const struct rig_txn_op *op, const int64_t **list, uint32_t *count)
{
    const uint32_t key = op->key, width = reads_pairs(op->kind) && *count % 2 == 0 ? 2 : 1;
    const struct rig_history_choice *choice = p->choice;
    uint32_t shown = 0;
    if (choice->hides == NULL || *count == 0)
        return true;
    int64_t *copy = rig_arena_room(&p->copies, *count, sizeof *copy);
    if (copy == NULL)
        return false;
    for (uint32_t i = 0; i < *count; i += width) {
        const bool by_first = !rig_op_reads_records(op->kind) && choice->hides(choice->context, key, (*list)[i]);
        const bool hidden = by_first || choice->hides(choice->context, key, (*list)[i + width - 1]);
        for (uint32_t part = 0; !hidden && part < width; part++)
            copy[shown++] = (*list)[i + part];
    }
    *list = copy;
    *count = shown;
    return true;
}

static enum rig_rc pass_op(struct passing *p, const struct rig_txn_op *op, uint32_t i, struct rig_err *err)
{
    const struct rig_history *history = p->history;
    const bool reads = rig_op_reads(op->kind), seen = op->read_state == RIG_READ_SEEN;
    const struct rig_read_list list =
        rig_op_reads_sequence(op->kind) ? rig_txn_op_list(history, op) : (struct rig_read_list){0};
    enum rig_rc rc = RIG_OK;
    p->ops[i] = (struct rig_op){
        .kind = (enum rig_op_kind)op->kind, .key = history->keys[op->key], .value = reads ? 0 : op->value};
    p->reads[i] = (struct rig_read){.state = (enum rig_read_state)op->read_state, .count = list.count};
    if ((seen || rig_op_is_ambiguous(op)) && reads && !rig_op_reads_sequence(op->kind))
        p->reads[i].value = op->value;
    p->lists[i] = rig_read_whole(&list, &p->copies);
    if (p->lists[i] == NULL || !hide_elements(p, op, &p->lists[i], &p->reads[i].count))
        return no_memory(err);
    if (history->key_texts != NULL) {
        const char *text = history->key_texts[history->keys[op->key]];
        rc = rig_history_builder_text_key(p->builder, text, strlen(text), &p->ops[i].key, err);
    }
    return rc;
}

static const uint8_t *kept_ops(const struct passing *p, uint32_t txn)
{
    return p->choice->ops == NULL ? NULL : p->choice->ops + p->history->txns[txn].first_op;
}

static enum rig_rc pass_txn(struct passing *p, uint32_t txn, struct rig_err *err)
{
    const struct rig_history *history = p->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const uint32_t count = rig_txn_op_count(history, txn);
    const uint8_t *keep = kept_ops(p, txn);
    const struct rig_spans times = rig_history_times(history, txn);
    struct rig_spans kept_times = {.at = p->times};
    uint32_t kept = 0;
    enum rig_rc rc = RIG_OK;
    rig_arena_reset(&p->copies);
    for (uint32_t i = 0; rc == RIG_OK && i < count; i++) {
        if (keep != NULL && !keep[i])
            continue;
        rc = pass_op(p, &ops[i], kept++, err);
        if (i < times.count)
            memcpy(&p->times[2 * kept_times.count++], &times.at[2 * i], 2 * sizeof *times.at);
    }
    if (rc != RIG_OK)
        return rc;
    const struct rig_txn_input content = {
        .ops = p->ops, .reads = p->reads, .lists = p->lists, .op_count = kept, .spans = kept_times};
    return rig_history_builder_add_like(p->builder, history, txn, &content, err);
}

/* The span of all parts, and the position and the process of the first one. */
static void begin_parts(struct passing *p)
{
    const struct rig_history *history = p->history;
    struct rig_txn_input *part = &p->part;
    int64_t process = -1;
    uint32_t last = 0;
    *part = (struct rig_txn_input){.invoke_ns = RIG_NO_TIME,
                                   .complete_ns = RIG_NO_TIME,
                                   .invoke_at = history->has_invocations ? 0 : RIG_POSITION_NONE};
    for (uint32_t i = 0; i < history->txn_count; i++) {
        const struct rig_txn *txn = &history->txns[i];
        if (txn->invoke_ns != RIG_NO_TIME && (part->invoke_ns == RIG_NO_TIME || txn->invoke_ns < part->invoke_ns))
            part->invoke_ns = txn->invoke_ns;
        part->complete_ns = txn->complete_ns > part->complete_ns ? txn->complete_ns : part->complete_ns;
        process = txn->process > process ? txn->process : process;
        if (txn->invoke_at != RIG_POSITION_NONE && txn->invoke_at > last)
            last = txn->invoke_at;
        if (txn->complete_at != RIG_POSITION_NONE && txn->complete_at > last)
            last = txn->complete_at;
    }
    part->complete_at = last + 1;
    part->process = process + 1;
}

/* The part of a transaction that begins with operation `first`: the next operation of it at `from` or later, or
 * `count`. */
static uint32_t history_part_next(const struct rig_history_choice *choice, const struct rig_txn_op *ops, uint32_t count,
                                  uint32_t first, uint32_t from)
{
    if (choice->apart_by_key) {
        while (from < count && ops[from].key != ops[first].key)
            from++;
        return from;
    }
    const bool goes_on = from < count && (from == first || (choice->continues != NULL && choice->continues(ops, from)));
    return goes_on ? from : count;
}

/* The operations of the transaction from `first` on that belong to one part; `taken`: a byte an operation. */
static enum rig_rc pass_part(struct passing *p, uint32_t txn, uint32_t first, uint8_t *taken, struct rig_err *err)
{
    const struct rig_txn_op *ops = rig_txn_ops(p->history, txn);
    const uint32_t count = rig_txn_op_count(p->history, txn);
    const uint8_t *keep = kept_ops(p, txn);
    struct rig_txn_input *part = &p->part;
    enum rig_rc rc = RIG_OK;
    part->op_count = 0;
    for (uint32_t i = first; rc == RIG_OK && i < count; i = history_part_next(p->choice, ops, count, first, i + 1)) {
        taken[i] = 1;
        if (keep == NULL || keep[i])
            rc = pass_op(p, &ops[i], part->op_count++, err);
    }
    if (rc != RIG_OK || part->op_count == 0)
        return rc;
    if (part->complete_at == RIG_POSITION_NONE || part->process > INT32_MAX)
        return rig_fail(err, RIG_E_LIMIT, "no position or process is left for the parts of a transaction");
    part->outcome = (enum rig_outcome)p->history->txns[txn].outcome;
    part->ops = p->ops;
    part->reads = p->reads;
    part->lists = p->lists;
    rc = rig_history_builder_add(p->builder, part, err);
    part->complete_at++;
    part->process++;
    p->kept_count++;
    return rc;
}

static enum rig_rc pass_parts(struct passing *p, uint32_t txn, struct rig_err *err)
{
    const uint32_t count = rig_txn_op_count(p->history, txn);
    enum rig_rc rc = RIG_OK;
    rig_arena_reset(&p->copies);
    uint8_t *taken = rig_arena_array(&p->copies, (size_t)count + 1, sizeof *taken);
    if (taken == NULL)
        return no_memory(err);
    p->kept_count--; /* its parts count instead */
    for (uint32_t i = 0; rc == RIG_OK && i < count; i++) {
        if (!taken[i])
            rc = pass_part(p, txn, i, taken, err);
    }
    return rc;
}

static enum rig_rc pass_all_parts(struct passing *p, struct rig_err *err)
{
    const struct rig_history_choice *choice = p->choice;
    enum rig_rc rc = RIG_OK;
    if (choice->apart == NULL)
        return RIG_OK;
    begin_parts(p);
    for (uint32_t txn = 0; rc == RIG_OK && txn < p->history->txn_count; txn++) {
        if (choice->txns[txn] && choice->apart[txn])
            rc = pass_parts(p, txn, err);
    }
    return rc;
}

static enum rig_rc pass_all(struct passing *p, struct rig_err *err)
{
    const struct rig_history *history = p->history;
    const uint8_t *keep = p->choice->txns, *apart = p->choice->apart;
    enum rig_rc rc = RIG_OK;
    if (p->builder == NULL || !make_room(p))
        return no_memory(err);
    if (history->keyword_keys)
        rig_history_builder_keyword_keys(p->builder);
    if (history->meta != NULL)
        rc = rig_history_builder_meta(p->builder, history->meta, strlen(history->meta), err);
    for (uint32_t txn = 0; rc == RIG_OK && txn < history->txn_count; txn++) {
        if (keep[txn] && (apart == NULL || !apart[txn]))
            rc = pass_txn(p, txn, err);
    }
    return rc == RIG_OK ? pass_all_parts(p, err) : rc;
}

/* The facts of the history as a whole. */
static void copy_facts(const struct rig_history *from, struct rig_history *to)
{
    to->has_invocations = from->has_invocations;
    to->in_turn = from->in_turn;
    to->truncated = from->truncated;
    to->sorted = from->sorted;
    to->damaged_at = from->damaged_at;
    to->damaged_bytes = from->damaged_bytes;
    to->damaged_txns = from->damaged_txns;
    to->skipped_count = from->skipped_count;
    to->lost_count = from->lost_count;
    to->reused_count = from->reused_count;
    to->reads_at_once = from->reads_at_once;
    to->has_all_rows = from->has_all_rows;
    to->start_utc_ns = from->start_utc_ns;
    to->row_names = from->row_names;
    to->specification = from->specification;
    to->is_excerpt = true;
    to->zero_ns = rig_history_zero_ns(from);
}

enum rig_rc rig_history_excerpt(const struct rig_history *history, const uint8_t *keep, struct rig_history **excerpt,
                                struct rig_err *err)
{
    const struct rig_history_choice choice = {.txns = keep};
    return rig_history_excerpt_of(history, &choice, excerpt, err);
}

enum rig_rc rig_history_excerpt_of(const struct rig_history *history, const struct rig_history_choice *choice,
                                   struct rig_history **excerpt, struct rig_err *err)
{
    struct passing p = {.history = history, .choice = choice, .builder = rig_history_builder_new(history->workload, 0)};
    struct rig_history *out = NULL;
    rig_arena_init(&p.copies, 0);
    enum rig_rc rc = pass_all(&p, err);
    if (rc == RIG_OK) {
        rc = rig_history_builder_finish(p.builder, &out, err);
        p.builder = NULL;
    }
    if (rc == RIG_OK) {
        RIG_INVARIANT(out->txn_count == p.kept_count);
        copy_facts(history, out);
        *excerpt = out;
    }
    rig_history_builder_free(p.builder);
    rig_arena_done(&p.copies);
    free(p.ops);
    free(p.reads);
    free(p.times);
    free(p.lists);
    return rc;
}
