#include "history/history_excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bug.h"
#include "history/builder.h"
#include "history/read_list.h"

/* A transaction on its way; the arrays have room for the longest one. */
struct passing {
    const struct rig_history *history;
    const struct rig_history_choice *choice;
    struct rig_history_builder *builder;
    struct rig_op *ops;
    struct rig_read *reads;
    const int64_t **lists;
    struct rig_arena copies; /* of lists in two pieces */
    uint32_t kept_count;
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
    return p->ops != NULL && p->reads != NULL && p->lists != NULL;
}

/* Takes the hidden elements out of a list, which may be the history's own. False when memory runs out. */
static bool hide_elements(struct passing *p, uint32_t key, const int64_t **list, uint32_t *count)
{
    const struct rig_history_choice *choice = p->choice;
    uint32_t shown = 0;
    if (choice->hides == NULL || *count == 0)
        return true;
    int64_t *copy = rig_arena_room(&p->copies, *count, sizeof *copy);
    if (copy == NULL)
        return false;
    for (uint32_t i = 0; i < *count; i++) {
        if (!choice->hides(choice->context, key, (*list)[i]))
            copy[shown++] = (*list)[i];
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
    if (seen && reads && !rig_op_reads_sequence(op->kind))
        p->reads[i].value = op->value;
    p->lists[i] = rig_read_whole(&list, &p->copies);
    if (p->lists[i] == NULL || !hide_elements(p, op->key, &p->lists[i], &p->reads[i].count))
        return no_memory(err);
    if (history->key_texts != NULL) {
        const char *text = history->key_texts[history->keys[op->key]];
        rc = rig_history_builder_text_key(p->builder, text, strlen(text), &p->ops[i].key, err);
    }
    return rc;
}

static enum rig_rc pass_txn(struct passing *p, uint32_t txn, struct rig_err *err)
{
    const struct rig_history *history = p->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const uint32_t count = rig_txn_op_count(history, txn);
    const uint8_t *keep = p->choice->ops == NULL ? NULL : p->choice->ops + history->txns[txn].first_op;
    uint32_t kept = 0;
    enum rig_rc rc = RIG_OK;
    rig_arena_reset(&p->copies);
    for (uint32_t i = 0; rc == RIG_OK && i < count; i++) {
        if (keep == NULL || keep[i])
            rc = pass_op(p, &ops[i], kept++, err);
    }
    if (rc != RIG_OK)
        return rc;
    return rig_history_builder_add_like(p->builder, history, txn, p->ops, p->reads, p->lists, kept, err);
}

static enum rig_rc pass_all(struct passing *p, struct rig_err *err)
{
    const struct rig_history *history = p->history;
    const uint8_t *keep = p->choice->txns;
    enum rig_rc rc = RIG_OK;
    if (p->builder == NULL || !make_room(p))
        return no_memory(err);
    if (history->keyword_keys)
        rig_history_builder_keyword_keys(p->builder);
    if (history->meta != NULL)
        rc = rig_history_builder_meta(p->builder, history->meta, strlen(history->meta), err);
    for (uint32_t txn = 0; rc == RIG_OK && txn < history->txn_count; txn++) {
        if (keep[txn])
            rc = pass_txn(p, txn, err);
    }
    return rc;
}

/* The facts of the history as a whole. */
static void copy_facts(const struct rig_history *from, struct rig_history *to)
{
    to->has_invocations = from->has_invocations;
    to->truncated = from->truncated;
    to->sorted = from->sorted;
    to->damaged_at = from->damaged_at;
    to->damaged_bytes = from->damaged_bytes;
    to->damaged_txns = from->damaged_txns;
    to->skipped_count = from->skipped_count;
    to->lost_count = from->lost_count;
    to->reused_count = from->reused_count;
    to->start_utc_ns = from->start_utc_ns;
    to->row_names = from->row_names;
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
    free(p.lists);
    return rc;
}
