#include "checker/stream/witness_txns.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "checker/stream/retired.h"
#include "checker/witness/sentence.h"
#include "history/builder.h"
#include "history/read_list.h"
#include "history/text/text_table.h"

/* One operation kept; `list` is set of a list that was read. */
struct kept_op {
    struct rig_txn_op op; /* its key is one of the evidence's */
    struct rig_list list;
};

struct kept_txn {
    struct rig_txn txn; /* first_op counts in `ops` */
    uint32_t op_count;
    const char *error;
    struct rig_column_row columns; /* names by their numbers in the evidence's `names` */
};

RIG_VEC(struct kept_op, kept_ops)
RIG_VEC(struct kept_txn, kept_txns)
RIG_VEC(int64_t, key_names)

/* What has been copied of one history: per list, spines first, its copy. */
struct copying {
    const struct rig_history *history;
    const struct rig_retired *gone;
    struct rig_table lists; /* list -> index into copies */
};

RIG_VEC(struct rig_list, list_copies)

struct rig_witness_txns {
    struct rig_history_builder *builder;
    bool keyword_keys;
    struct rig_arena arena; /* lists and errors */
    struct kept_txns txns;
    struct kept_ops ops;
    struct rig_table txn_ids; /* name -> index into txns */
    struct rig_table key_ids; /* the key as the builder calls it -> index into keys */
    struct key_names keys;
    struct rig_text_table names; /* of side columns */
    struct list_copies copies;
    struct copying now;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, "not enough memory for the witnesses; raise --max-memory");
}

struct rig_witness_txns *rig_witness_txns_new(enum rig_workload workload)
{
    struct rig_witness_txns *evidence = calloc(1, sizeof *evidence);
    if (evidence == NULL)
        return NULL;
    rig_arena_init(&evidence->arena, 0);
    rig_table_init(&evidence->txn_ids);
    rig_table_init(&evidence->key_ids);
    rig_table_init(&evidence->now.lists);
    rig_text_table_init(&evidence->names, 0);
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
    rig_arena_done(&evidence->arena);
    kept_txns_done(&evidence->txns);
    kept_ops_done(&evidence->ops);
    rig_table_done(&evidence->txn_ids);
    rig_table_done(&evidence->key_ids);
    key_names_done(&evidence->keys);
    rig_text_table_done(&evidence->names);
    list_copies_done(&evidence->copies);
    rig_table_done(&evidence->now.lists);
    free(evidence);
}

/* ---- copying ---- */

static enum rig_rc keep_key(struct rig_witness_txns *evidence, uint32_t key, uint32_t *kept, struct rig_err *err)
{
    const struct rig_history *history = evidence->now.history;
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

static bool copy_list(struct rig_witness_txns *evidence, uint32_t key, const struct rig_read_list *list,
                      struct rig_list *copy)
{
    struct rig_list begins = rig_retired_prefix(evidence->now.gone, evidence->now.history, key);
    size_t count = (size_t)begins.count + list->count;
    int64_t *at = rig_arena_room(&evidence->arena, count + 1, sizeof *at);
    if (at == NULL)
        return false;
    if (begins.count > 0)
        memcpy(at, begins.at, begins.count * sizeof *at);
    rig_read_copy(list, 0, list->count, at + begins.count);
    *copy = (struct rig_list){at, (uint32_t)count};
    return true;
}

/* The list that `op` read: a prefix of a copy that it shares with the other reads of that list. */
static bool keep_list(struct rig_witness_txns *evidence, const struct rig_txn_op *op, struct rig_list *kept)
{
    const struct rig_history *history = evidence->now.history;
    struct rig_read_list list =
        rig_txn_op_is_branch(op)
            ? rig_read_of_branch(history, rig_txn_op_branch(op), history->branches[rig_txn_op_branch(op)].count)
            : rig_read_of(history->spines[op->key], history->spines[op->key].count);
    uint32_t *id = rig_table_put(&evidence->now.lists, rig_txn_op_is_branch(op) ? op->list : op->key);
    if (id == NULL)
        return false;
    if (*id == RIG_TABLE_NONE) {
        struct rig_list copy;
        if (!copy_list(evidence, op->key, &list, &copy) || !list_copies_add(&evidence->copies, copy))
            return false;
        *id = (uint32_t)(evidence->copies.count - 1);
    }
    struct rig_list copy = evidence->copies.at[*id];
    *kept = (struct rig_list){copy.at, copy.count - list.count + op->count};
    return true;
}

static enum rig_rc keep_op(struct rig_witness_txns *evidence, const struct rig_txn_op *op, struct rig_err *err)
{
    struct kept_op kept = {.op = *op};
    enum rig_rc rc = keep_key(evidence, op->key, &kept.op.key, err);
    if (rc != RIG_OK)
        return rc;
    if (rig_op_reads_sequence(op->kind) && op->read_state == RIG_READ_SEEN && !keep_list(evidence, op, &kept.list))
        return no_memory(err);
    return kept_ops_add(&evidence->ops, kept) ? RIG_OK : no_memory(err);
}

static bool keep_columns(struct rig_witness_txns *evidence, uint32_t txn, struct rig_column_row *row)
{
    const struct rig_history *history = evidence->now.history;
    if (history->columns == NULL)
        return true;
    *row = rig_columns_row(history->columns, txn);
    for (uint32_t left = row->given; left != 0; left &= left - 1) {
        const enum rig_column column = (enum rig_column)__builtin_ctz(left);
        if (rig_column_infos[column].type != RIG_COLUMN_NAME)
            continue;
        const char *name = history->columns->names.texts[row->at[column]];
        const uint32_t number = rig_text_table_put(&evidence->names, name, strlen(name));
        if (number == RIG_TABLE_NONE)
            return false;
        row->at[column] = number;
    }
    return true;
}

static enum rig_rc copy_txn(struct rig_witness_txns *evidence, uint32_t txn, struct rig_err *err)
{
    const struct rig_history *history = evidence->now.history;
    struct kept_txn kept = {.txn = history->txns[txn], .op_count = rig_txn_op_count(history, txn)};
    kept.txn.first_op = (uint32_t)evidence->ops.count;
    if (kept.txn.error != 0) {
        const char *error = history->errors[kept.txn.error - 1];
        kept.error = rig_arena_text(&evidence->arena, error, strlen(error));
        if (kept.error == NULL)
            return no_memory(err);
    }
    if (!keep_columns(evidence, txn, &kept.columns))
        return no_memory(err);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < kept.op_count; i++) {
        enum rig_rc rc = keep_op(evidence, &ops[i], err);
        if (rc != RIG_OK)
            return rc;
    }
    return kept_txns_add(&evidence->txns, kept) ? RIG_OK : no_memory(err);
}

/* Replaces a transaction of the history by its number here. */
static enum rig_rc keep_txn(struct rig_witness_txns *evidence, uint32_t *txn, struct rig_err *err)
{
    if (*txn == UINT32_MAX)
        return RIG_OK;
    uint32_t *id = rig_table_put(&evidence->txn_ids, rig_txn_name(evidence->now.history, *txn));
    if (id == NULL)
        return no_memory(err);
    if (*id == RIG_TABLE_NONE) {
        uint32_t next = (uint32_t)evidence->txns.count;
        enum rig_rc rc = copy_txn(evidence, *txn, err);
        if (rc != RIG_OK)
            return rc;
        *id = next;
    }
    *txn = *id;
    return RIG_OK;
}

/*
 * Where operation `op` of the history's transaction stands in the one kept. The history may have lost the operations on
 * some keys since, but never some of those on one key.
 */
static enum rig_rc map_op(struct rig_witness_txns *evidence, uint32_t txn, uint32_t kept, uint32_t *op,
                          struct rig_err *err)
{
    if (txn == UINT32_MAX || *op == UINT32_MAX)
        return RIG_OK;
    const struct rig_txn_op *ops = rig_txn_ops(evidence->now.history, txn);
    uint32_t rank = 0, key;
    for (uint32_t i = 0; i < *op; i++)
        rank += ops[i].key == ops[*op].key;
    enum rig_rc rc = keep_key(evidence, ops[*op].key, &key, err);
    if (rc != RIG_OK)
        return rc;
    const struct kept_txn *t = &evidence->txns.at[kept];
    for (uint32_t i = 0; i < t->op_count; i++) {
        if (evidence->ops.at[t->txn.first_op + i].op.key == key && rank-- == 0) {
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
        const struct kept_op *read = &evidence->ops.at[evidence->txns.at[step->from].txn.first_op + step->from_op];
        if (read->list.count > 0)
            step->from_value = read->list.at[read->list.count - 1];
    }
    return rc;
}

static void begin_history(struct rig_witness_txns *evidence, const struct rig_history *history,
                          const struct rig_retired *gone)
{
    evidence->now.history = history;
    evidence->now.gone = gone;
    rig_table_clear(&evidence->now.lists);
    evidence->copies.count = 0;
}

enum rig_rc rig_witness_txns_keep(struct rig_witness_txns *evidence, const struct rig_history *history,
                                  const struct rig_retired *gone, struct rig_witness *witness, struct rig_err *err)
{
    begin_history(evidence, history, gone);
    enum rig_rc rc = RIG_OK;
    uint32_t none = UINT32_MAX;
    for (uint32_t i = 0; rc == RIG_OK && i < witness->step_count; i++)
        rc = keep_step(evidence, &witness->steps[i], err);
    for (uint32_t i = 0; rc == RIG_OK && i < witness->txn_count; i++) {
        uint32_t *op = i == 0 ? &witness->op : i == 1 ? &witness->other_op : &none;
        uint32_t no_op = UINT32_MAX;
        /* Of a witness over one transaction both operations are its own. */
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

/* Marks what the witnesses that were kept to the end speak of; others were pushed out by shorter ones. */
static void mark_wanted(const struct rig_finding *findings, uint32_t *wanted)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        for (uint32_t w = 0; w < findings[anomaly].witness_count; w++) {
            const struct rig_witness *witness = &findings[anomaly].witnesses[w];
            for (uint32_t i = 0; i < witness->txn_count; i++)
                wanted[witness->txns[i]] = 1;
            for (uint32_t i = 0; i < witness->step_count; i++) {
                const struct rig_step *step = &witness->steps[i];
                if (step->order_txn != UINT32_MAX)
                    wanted[step->order_txn] = 1;
                if (step->order_other != UINT32_MAX)
                    wanted[step->order_other] = 1;
            }
        }
    }
}

/* A transaction with the operations and results that the builder wants. */
struct rebuilt {
    struct rig_op *ops;
    struct rig_read *reads;
    const int64_t **lists;
    uint32_t room;
};

static bool rebuild_room(struct rebuilt *r, uint32_t op_count)
{
    if (op_count < r->room)
        return true;
    uint32_t room = op_count * 2 + 16;
    free(r->ops);
    free(r->reads);
    free(r->lists);
    r->ops = calloc(room, sizeof *r->ops);
    r->reads = calloc(room, sizeof *r->reads);
    r->lists = calloc(room, sizeof *r->lists);
    r->room = r->ops != NULL && r->reads != NULL && r->lists != NULL ? room : 0;
    return r->room > 0;
}

static enum rig_rc rebuild(struct rig_witness_txns *evidence, const struct kept_txn *kept, struct rebuilt *r,
                           struct rig_err *err)
{
    if (!rebuild_room(r, kept->op_count))
        return no_memory(err);
    for (uint32_t i = 0; i < kept->op_count; i++) {
        const struct kept_op *k = &evidence->ops.at[kept->txn.first_op + i];
        bool reads = rig_op_reads(k->op.kind);
        bool value = !reads || (!rig_op_reads_sequence(k->op.kind) && k->op.read_state == RIG_READ_SEEN);
        r->ops[i] = (struct rig_op){.kind = (enum rig_op_kind)k->op.kind,
                                    .key = evidence->keys.at[k->op.key],
                                    .value = value ? k->op.value : 0};
        r->reads[i] = (struct rig_read){
            .state = (enum rig_read_state)k->op.read_state, .count = k->list.count, .value = value ? k->op.value : 0};
        r->lists[i] = k->list.at;
    }
    struct rig_txn_input input = {.invoke_ns = kept->txn.invoke_ns,
                                  .complete_ns = kept->txn.complete_ns,
                                  .invoke_at = kept->txn.invoke_at,
                                  .complete_at = kept->txn.complete_at,
                                  .process = kept->txn.process,
                                  .outcome = (enum rig_outcome)kept->txn.outcome,
                                  .ops = r->ops,
                                  .reads = r->reads,
                                  .lists = r->lists,
                                  .op_count = kept->op_count,
                                  .error = kept->error,
                                  .columns = &kept->columns,
                                  .names = (const char *const *)evidence->names.texts};
    return rig_history_builder_add(evidence->builder, &input, err);
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

/* Puts what is wanted into the builder, in the order in which a history numbers it; turns `wanted` into that number. */
static enum rig_rc rebuild_all(struct rig_witness_txns *evidence, uint32_t *wanted, struct rig_err *err)
{
    struct place *places = calloc(evidence->txns.count + 1, sizeof *places);
    if (places == NULL)
        return no_memory(err);
    uint32_t count = 0;
    for (uint32_t i = 0; i < evidence->txns.count; i++) {
        const struct rig_txn *txn = &evidence->txns.at[i].txn;
        if (wanted[i])
            places[count++] = (struct place){txn->complete_at, txn->invoke_at, i};
    }
    qsort(places, count, sizeof *places, compare_places);
    struct rebuilt r = {0};
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < count; i++) {
        wanted[places[i].txn] = i;
        rc = rebuild(evidence, &evidence->txns.at[places[i].txn], &r, err);
    }
    free(r.ops);
    free(r.reads);
    free(r.lists);
    free(places);
    return rc;
}

/* The key's number in the history given; UINT32_MAX stays. */
static uint32_t find_key(const struct rig_witness_txns *evidence, const struct rig_table *numbers, uint32_t key)
{
    return key == UINT32_MAX ? UINT32_MAX : rig_table_get(numbers, (uint64_t)evidence->keys.at[key]);
}

static bool word(struct rig_witness_txns *evidence, struct rig_witness *witness, const uint32_t *number,
                 const struct rig_table *keys, const struct rig_history *history, struct rig_arena *arena)
{
    for (uint32_t i = 0; i < witness->txn_count; i++)
        witness->txns[i] = number[witness->txns[i]];
    witness->key = find_key(evidence, keys, witness->key);
    for (uint32_t i = 0; i < witness->step_count; i++) {
        struct rig_step *step = &witness->steps[i];
        uint32_t *const txns[] = {&step->from, &step->to, &step->order_txn, &step->order_other};
        for (size_t t = 0; t < sizeof txns / sizeof txns[0]; t++)
            *txns[t] = *txns[t] == UINT32_MAX ? UINT32_MAX : number[*txns[t]];
        step->key = find_key(evidence, keys, step->key);
    }
    return rig_sentence_word(history, witness, arena);
}

static bool word_all(struct rig_witness_txns *evidence, struct rig_finding *findings, const uint32_t *number,
                     const struct rig_history *history, struct rig_arena *arena)
{
    struct rig_table keys;
    rig_table_init(&keys);
    bool done = true;
    for (uint32_t key = 0; done && key < history->key_count; key++) {
        uint32_t *id = rig_table_put(&keys, (uint64_t)history->keys[key]);
        done = id != NULL;
        if (done)
            *id = key;
    }
    for (unsigned anomaly = 0; done && anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        for (uint32_t i = 0; done && i < findings[anomaly].witness_count; i++)
            done = word(evidence, &findings[anomaly].witnesses[i], number, &keys, history, arena);
    }
    rig_table_done(&keys);
    return done;
}

enum rig_rc rig_witness_txns_give(struct rig_witness_txns *evidence, struct rig_finding *findings, int64_t zero_ns,
                                  int64_t start_utc_ns, struct rig_arena *arena, struct rig_history **history,
                                  struct rig_err *err)
{
    uint32_t *number = calloc(evidence->txns.count + 1, sizeof *number);
    if (number == NULL)
        return no_memory(err);
    mark_wanted(findings, number);
    if (evidence->keyword_keys)
        rig_history_builder_keyword_keys(evidence->builder);
    struct rig_history *given = NULL;
    enum rig_rc rc = rebuild_all(evidence, number, err);
    if (rc == RIG_OK) {
        rc = rig_history_builder_finish(evidence->builder, &given, err);
        evidence->builder = NULL;
    }
    if (rc == RIG_OK) {
        given->is_excerpt = true;
        given->zero_ns = zero_ns;
        given->start_utc_ns = start_utc_ns;
        if (!word_all(evidence, findings, number, given, arena))
            rc = no_memory(err);
    }
    free(number);
    if (rc == RIG_OK)
        *history = given;
    else
        rig_history_free(given);
    return rc;
}
