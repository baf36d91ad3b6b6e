#include "history/builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/growing_list.h"
#include "history/history_storage.h"
#include "history/text_table.h"

/* While building, a read of a whole list is marked by this state and `list` counts from 0; finishing resolves both. */
enum { READ_WHOLE = RIG_READ_SEEN + 1 };

static const uint32_t no_list = UINT32_MAX;

struct key_state {
    struct rig_growing_list spine;
    uint32_t last_whole; /* the newest whole list of this key, or no_list */
};

RIG_VEC(struct rig_txn, txn_vec)
RIG_VEC(struct rig_mop, mop_vec)
RIG_VEC(struct key_state, key_state_vec)
RIG_VEC(int64_t, int64_vec)
RIG_VEC(struct rig_growing_list, list_vec)

struct rig_history_builder {
    enum rig_workload workload;
    size_t limit_bytes;
    struct txn_vec txns; /* first_op is right for the order of adding */
    struct mop_vec ops;
    struct rig_table key_ids;
    struct int64_vec keys;
    struct key_state_vec key_states; /* parallel to keys */
    struct list_vec wholes;
    struct rig_list_pool pool;
    struct rig_text_table key_texts;
    struct rig_text_table errors;
    bool keyword_keys;
    bool truncated;
    bool failed;
    uint64_t skipped_count;
    char *meta;
    uint32_t with_invocation;
};

struct rig_history_builder *rig_history_builder_new(enum rig_workload workload, size_t limit_bytes)
{
    RIG_REQUIRE(workload < RIG_WORKLOAD_COUNT);
    struct rig_history_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL)
        return NULL;
    builder->workload = workload;
    builder->limit_bytes = limit_bytes == 0 ? SIZE_MAX : limit_bytes;
    rig_table_init(&builder->key_ids);
    rig_list_pool_init(&builder->pool, limit_bytes);
    rig_text_table_init(&builder->key_texts, limit_bytes);
    rig_text_table_init(&builder->errors, limit_bytes);
    return builder;
}

void rig_history_builder_free(struct rig_history_builder *builder)
{
    if (builder == NULL)
        return;
    txn_vec_done(&builder->txns);
    mop_vec_done(&builder->ops);
    rig_table_done(&builder->key_ids);
    int64_vec_done(&builder->keys);
    key_state_vec_done(&builder->key_states);
    list_vec_done(&builder->wholes);
    rig_list_pool_done(&builder->pool);
    rig_text_table_done(&builder->key_texts);
    rig_text_table_done(&builder->errors);
    free(builder->meta);
    free(builder);
}

static size_t held_bytes(const struct rig_history_builder *builder)
{
    return builder->txns.capacity * sizeof(struct rig_txn) + builder->ops.capacity * sizeof(struct rig_mop) +
           builder->keys.capacity * sizeof(int64_t) + builder->key_states.capacity * sizeof(struct key_state) +
           builder->key_ids.slot_count * (sizeof(uint64_t) + sizeof(uint32_t)) +
           builder->wholes.capacity * sizeof(struct rig_growing_list) + builder->pool.arena.held_bytes +
           rig_text_table_bytes(&builder->key_texts) + rig_text_table_bytes(&builder->errors);
}

static enum rig_rc no_room(struct rig_history_builder *builder, struct rig_err *err)
{
    builder->failed = true;
    if (builder->limit_bytes == SIZE_MAX)
        return rig_fail(err, RIG_E_LIMIT, "the history does not fit into memory (%u transactions so far)",
                        (unsigned)builder->txns.count);
    return rig_fail(err, RIG_E_LIMIT,
                    "the history needs more than the %zu bytes allowed (%u transactions so far); raise --max-memory",
                    builder->limit_bytes, (unsigned)builder->txns.count);
}

enum rig_rc rig_history_builder_text_key(struct rig_history_builder *builder, const char *text, size_t length,
                                         int64_t *key, struct rig_err *err)
{
    if (builder->key_texts.count == 0 && builder->keys.count > 0)
        return rig_fail(err, RIG_E_INPUT, "a text key in a history whose keys are numbers; use one kind of key");
    if (memchr(text, '\0', length) != NULL)
        return rig_fail(err, RIG_E_INPUT, "a key with a NUL character in it; rename the key");
    uint32_t id = rig_text_table_put(&builder->key_texts, text, length);
    if (id == RIG_TABLE_NONE)
        return no_room(builder, err);
    *key = id;
    return RIG_OK;
}

void rig_history_builder_keyword_keys(struct rig_history_builder *builder)
{
    builder->keyword_keys = true;
}

void rig_history_builder_mark(struct rig_history_builder *builder, bool truncated, uint64_t skipped_count)
{
    builder->truncated = truncated;
    builder->skipped_count = skipped_count;
}

enum rig_rc rig_history_builder_meta(struct rig_history_builder *builder, const char *meta, size_t length,
                                     struct rig_err *err)
{
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return no_room(builder, err);
    if (length > 0)
        memcpy(copy, meta, length);
    copy[length] = '\0';
    free(builder->meta);
    builder->meta = copy;
    return RIG_OK;
}

/* The dense id of a key, new or known; no_list when memory runs out. */
static uint32_t key_id(struct rig_history_builder *builder, int64_t key)
{
    uint32_t *id = rig_table_put(&builder->key_ids, (uint64_t)key);
    if (id == NULL)
        return no_list;
    if (*id != RIG_TABLE_NONE)
        return *id;
    if (builder->keys.count >= UINT32_MAX / 2 || !int64_vec_add(&builder->keys, key) ||
        !key_state_vec_add(&builder->key_states, (struct key_state){.last_whole = no_list}))
        return no_list;
    return *id = (uint32_t)(builder->keys.count - 1);
}

static bool place_whole(struct rig_history_builder *builder, struct rig_mop *mop, const int64_t *elements,
                        uint32_t count)
{
    struct key_state *key = &builder->key_states.at[mop->key];
    struct rig_growing_list *last = key->last_whole == no_list ? NULL : &builder->wholes.at[key->last_whole];
    if (last == NULL || !rig_growing_list_agrees(last, elements, count)) {
        if (builder->wholes.count >= UINT32_MAX / 2 || !list_vec_add(&builder->wholes, (struct rig_growing_list){0}))
            return false;
        key->last_whole = (uint32_t)(builder->wholes.count - 1);
        last = &builder->wholes.at[key->last_whole];
    }
    mop->read_state = READ_WHOLE;
    mop->list = key->last_whole;
    return count <= last->count ||
           rig_growing_list_add(&builder->pool, last, elements + last->count, count - last->count);
}

static bool place_list(struct rig_history_builder *builder, struct rig_mop *mop, enum rig_outcome outcome,
                       const int64_t *elements, uint32_t count, uint32_t *agreed)
{
    struct rig_growing_list *spine = &builder->key_states.at[mop->key].spine;
    RIG_REQUIRE(*agreed <= spine->count);
    mop->count = count;
    bool agrees = count <= *agreed || rig_growing_list_agrees_from(spine, *agreed, elements, count);
    if (!agrees || (count > spine->count && outcome == RIG_OUTCOME_FAIL))
        return place_whole(builder, mop, elements, count);
    mop->list = mop->key;
    if (*agreed < count)
        *agreed = count;
    return count <= spine->count ||
           rig_growing_list_add(&builder->pool, spine, elements + spine->count, count - spine->count);
}

static bool reads_list(enum rig_op_kind kind)
{
    return kind == RIG_OP_READ_LIST || kind == RIG_OP_READ_SET;
}

static bool kind_reads(enum rig_op_kind kind)
{
    static const bool reads[RIG_OP_KIND_COUNT] = {
#define OP_READS(name, text, does_read, help) [name] = does_read,
        RIG_OP_TABLE(OP_READS)
#undef OP_READS
    };
    RIG_REQUIRE(kind < RIG_OP_KIND_COUNT);
    return reads[kind];
}

static bool add_list(struct rig_history_builder *builder, const struct rig_txn_input *txn, uint32_t index,
                     struct rig_mop *mop)
{
    const struct rig_read *read = &txn->reads[index];
    struct rig_list_hint none = {0};
    struct rig_list_hint *hint = txn->hints != NULL ? &txn->hints[index] : &none;
    const int64_t *elements = hint->at;
    if (elements == NULL && read->count > 0)
        elements = txn->elements + read->first_element;
    return place_list(builder, mop, txn->outcome, elements, read->count, &hint->agreed);
}

static bool add_op(struct rig_history_builder *builder, const struct rig_txn_input *txn, uint32_t index)
{
    const struct rig_op *op = &txn->ops[index];
    uint32_t key = key_id(builder, op->key);
    if (key == no_list)
        return false;
    struct rig_mop mop = {.key = key, .kind = (uint8_t)op->kind, .read_state = RIG_READ_UNKNOWN};
    bool fits = true;
    if (!kind_reads(op->kind)) {
        mop.value = op->value;
    } else if (txn->reads != NULL) {
        const struct rig_read *read = &txn->reads[index];
        mop.read_state = (uint8_t)read->state;
        if (read->state == RIG_READ_SEEN && reads_list(op->kind))
            fits = add_list(builder, txn, index, &mop);
        else if (read->state == RIG_READ_SEEN)
            mop.value = read->value;
    }
    return fits && mop_vec_add(&builder->ops, mop);
}

static uint32_t error_id(struct rig_history_builder *builder, const char *error, size_t length)
{
    if (error == NULL)
        return 0;
    uint32_t id = rig_text_table_put(&builder->errors, error, length == 0 ? strlen(error) : length);
    return id == RIG_TABLE_NONE ? UINT32_MAX : id + 1;
}

enum rig_rc rig_history_builder_add(struct rig_history_builder *builder, const struct rig_txn_input *txn,
                                    struct rig_err *err)
{
    RIG_REQUIRE(txn->invoke_at != RIG_POSITION_NONE || txn->complete_at != RIG_POSITION_NONE);
    RIG_REQUIRE(txn->complete_at != RIG_POSITION_NONE || txn->outcome == RIG_OUTCOME_INFO);
    if (builder->failed)
        return rig_fail(err, RIG_E_LIMIT, "the history could not be built");
    if (txn->process < INT32_MIN || txn->process > INT32_MAX) {
        builder->failed = true;
        return rig_fail(err, RIG_E_INPUT, "process %lld does not fit 32 bits; renumber the processes",
                        (long long)txn->process);
    }
    if (builder->ops.count + txn->op_count >= UINT32_MAX || builder->txns.count + 1 >= UINT32_MAX) {
        builder->failed = true;
        return rig_fail(err, RIG_E_LIMIT, "more than 4294967294 transactions or operations; split the history");
    }
    struct rig_txn out = {
        .invoke_ns = txn->invoke_ns,
        .complete_ns = txn->complete_ns,
        .invoke_at = txn->invoke_at,
        .complete_at = txn->complete_at,
        .first_op = (uint32_t)builder->ops.count,
        .process = (int32_t)txn->process,
        .error = error_id(builder, txn->error, txn->error_length),
        .outcome = (uint8_t)txn->outcome,
    };
    bool fits = out.error != UINT32_MAX;
    for (uint32_t i = 0; fits && i < txn->op_count; i++)
        fits = add_op(builder, txn, i);
    if (!fits || !txn_vec_add(&builder->txns, out) || held_bytes(builder) > builder->limit_bytes)
        return no_room(builder, err);
    builder->with_invocation += txn->invoke_at != RIG_POSITION_NONE;
    return RIG_OK;
}

void rig_history_builder_renumber(struct rig_history_builder *builder, const uint32_t *position_of)
{
    for (size_t i = 0; i < builder->txns.count; i++) {
        struct rig_txn *txn = &builder->txns.at[i];
        if (txn->invoke_at != RIG_POSITION_NONE)
            txn->invoke_at = position_of[txn->invoke_at];
        if (txn->complete_at != RIG_POSITION_NONE)
            txn->complete_at = position_of[txn->complete_at];
    }
}

struct sort_key {
    uint32_t complete_at, invoke_at, txn;
};

/* Completion order, then invocation order for what never completed: RIG_POSITION_NONE is the largest position. */
static int compare_keys(const void *a, const void *b)
{
    const struct sort_key *left = a;
    const struct sort_key *right = b;
    if (left->complete_at != right->complete_at)
        return left->complete_at < right->complete_at ? -1 : 1;
    return left->invoke_at < right->invoke_at ? -1 : left->invoke_at > right->invoke_at;
}

static bool is_sorted(const struct txn_vec *txns)
{
    for (size_t i = 1; i < txns->count; i++) {
        const struct rig_txn *left = &txns->at[i - 1];
        const struct rig_txn *right = &txns->at[i];
        if (left->complete_at > right->complete_at ||
            (left->complete_at == right->complete_at && left->invoke_at > right->invoke_at))
            return false;
    }
    return true;
}

/* Moves transactions and their operations into the order of `keys`. */
static void gather(const struct rig_history_builder *builder, const struct sort_key *keys, struct rig_txn *txns,
                   struct rig_mop *ops)
{
    size_t count = builder->txns.count;
    uint32_t next_op = 0;
    for (size_t i = 0; i < count; i++) {
        size_t from = keys[i].txn;
        uint32_t first = builder->txns.at[from].first_op;
        size_t end = from + 1 < count ? builder->txns.at[from + 1].first_op : builder->ops.count;
        txns[i] = builder->txns.at[from];
        txns[i].first_op = next_op;
        if (end > first)
            memcpy(ops + next_op, builder->ops.at + first, (end - first) * sizeof *ops);
        next_op += (uint32_t)(end - first);
    }
    RIG_INVARIANT(next_op == builder->ops.count);
}

static bool sort_txns(struct rig_history_builder *builder)
{
    size_t count = builder->txns.count;
    if (is_sorted(&builder->txns))
        return true;
    struct sort_key *keys = malloc(count * sizeof *keys);
    struct rig_txn *txns = malloc((count + 1) * sizeof *txns);
    struct rig_mop *ops = malloc((builder->ops.count + 1) * sizeof *ops);
    bool fits = keys != NULL && txns != NULL && ops != NULL;
    if (fits) {
        for (size_t i = 0; i < count; i++) {
            const struct rig_txn *txn = &builder->txns.at[i];
            keys[i] = (struct sort_key){txn->complete_at, txn->invoke_at, (uint32_t)i};
        }
        qsort(keys, count, sizeof *keys, compare_keys);
        gather(builder, keys, txns, ops);
        free(builder->txns.at);
        free(builder->ops.at);
        builder->txns = (struct txn_vec){.at = txns, .count = count, .capacity = count + 1};
        builder->ops = (struct mop_vec){.at = ops, .count = builder->ops.count, .capacity = builder->ops.count + 1};
    } else {
        free(txns);
        free(ops);
    }
    free(keys);
    return fits;
}

/* The transactions are sorted: equal neighbours are ties, which no reader may bring. */
static enum rig_rc check_positions(const struct rig_history_builder *builder, struct rig_err *err)
{
    const struct txn_vec *txns = &builder->txns;
    if (builder->with_invocation != 0 && builder->with_invocation != txns->count)
        return rig_fail(err, RIG_E_INPUT, "%zu of %zu transactions have no invocation; give all of them one, or none",
                        txns->count - builder->with_invocation, txns->count);
    for (size_t i = 0; i < txns->count; i++) {
        const struct rig_txn *txn = &txns->at[i];
        if (txn->invoke_at != RIG_POSITION_NONE && txn->complete_at != RIG_POSITION_NONE &&
            txn->invoke_at >= txn->complete_at)
            return rig_fail(err, RIG_E_INPUT, "the transaction at position %u completes before it is invoked",
                            (unsigned)txn->complete_at);
        const struct rig_txn *last = i == 0 ? NULL : &txns->at[i - 1];
        if (last != NULL && last->complete_at == txn->complete_at &&
            (txn->complete_at != RIG_POSITION_NONE || last->invoke_at == txn->invoke_at))
            return rig_fail(err, RIG_E_INPUT, "two operations at position %u; number them apart",
                            (unsigned)(txn->complete_at != RIG_POSITION_NONE ? txn->complete_at : txn->invoke_at));
    }
    return RIG_OK;
}

static void pack_list(struct rig_list *list, const struct rig_growing_list *from, int64_t **next)
{
    if (from->count > 0)
        memcpy(*next, from->at, from->count * sizeof **next);
    *list = (struct rig_list){.at = *next, .count = from->count};
    *next += from->count;
}

/* Spines and whole lists into one flat array, and the operations' references to it. */
static bool pack_lists(struct rig_history_builder *builder, struct rig_history *history,
                       struct rig_history_storage *storage)
{
    uint32_t key_count = history->key_count;
    size_t total = 1;
    for (size_t i = 0; i < key_count; i++)
        total += builder->key_states.at[i].spine.count;
    for (size_t i = 0; i < builder->wholes.count; i++)
        total += builder->wholes.at[i].count;
    if (total > (builder->limit_bytes - held_bytes(builder)) / sizeof(int64_t))
        return false;
    storage->elements = malloc(total * sizeof(int64_t));
    history->spines = malloc((key_count + (size_t)1) * sizeof *history->spines);
    history->lists = malloc((builder->wholes.count + 1) * sizeof *history->lists);
    if (storage->elements == NULL || history->spines == NULL || history->lists == NULL)
        return false;
    int64_t *next = storage->elements;
    for (size_t i = 0; i < key_count; i++)
        pack_list(&history->spines[i], &builder->key_states.at[i].spine, &next);
    for (size_t i = 0; i < builder->wholes.count; i++)
        pack_list(&history->lists[i], &builder->wholes.at[i], &next);
    history->list_count = (uint32_t)builder->wholes.count;
    for (size_t i = 0; i < builder->ops.count; i++) {
        struct rig_mop *mop = &builder->ops.at[i];
        if (mop->read_state != READ_WHOLE)
            continue;
        mop->read_state = RIG_READ_SEEN;
        mop->list |= RIG_LIST_WHOLE;
    }
    return true;
}

/* Gives an array away, cut to its size. */
static void *cut(void *at, size_t bytes)
{
    void *smaller = realloc(at, bytes == 0 ? 1 : bytes);
    return smaller != NULL ? smaller : at;
}

static void move_fields(struct rig_history_builder *builder, struct rig_history *history,
                        struct rig_history_storage *storage)
{
    builder->txns.at[builder->txns.count] = (struct rig_txn){.first_op = (uint32_t)builder->ops.count};
    history->txn_count = (uint32_t)builder->txns.count;
    history->txns = cut(builder->txns.at, (builder->txns.count + 1) * sizeof(struct rig_txn));
    history->op_count = (uint32_t)builder->ops.count;
    history->ops = cut(builder->ops.at, builder->ops.count * sizeof(struct rig_mop));
    history->keys = cut(builder->keys.at, builder->keys.count * sizeof(int64_t));
    builder->txns = (struct txn_vec){0};
    builder->ops = (struct mop_vec){0};
    builder->keys = (struct int64_vec){0};
    storage->key_texts = builder->key_texts;
    storage->errors = builder->errors;
    rig_text_table_init(&builder->key_texts, 0);
    rig_text_table_init(&builder->errors, 0);
    history->key_texts = storage->key_texts.count == 0 ? NULL : storage->key_texts.texts;
    history->errors = storage->errors.texts;
    history->error_count = storage->errors.count;
    history->keyword_keys = builder->keyword_keys && history->key_texts != NULL;
    history->workload = builder->workload;
    history->has_invocations = builder->with_invocation == history->txn_count;
    history->truncated = builder->truncated;
    history->skipped_count = builder->skipped_count;
    history->meta = builder->meta;
    builder->meta = NULL;
}

enum rig_rc rig_history_builder_finish(struct rig_history_builder *builder, struct rig_history **history,
                                       struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    struct rig_history *out = calloc(1, sizeof *out);
    struct rig_history_storage *storage = calloc(1, sizeof *storage);
    if (builder->failed)
        rc = rig_fail(err, RIG_E_LIMIT, "the history could not be built");
    else if (out == NULL || storage == NULL || !sort_txns(builder) ||
             !txn_vec_reserve(&builder->txns, builder->txns.count + 1))
        rc = no_room(builder, err);
    else
        rc = check_positions(builder, err);
    if (out != NULL)
        out->storage = storage;
    else
        free(storage);
    if (rc == RIG_OK) {
        out->key_count = (uint32_t)builder->keys.count;
        rc = pack_lists(builder, out, storage) ? RIG_OK : no_room(builder, err);
    }
    if (rc == RIG_OK) {
        move_fields(builder, out, storage);
        *history = out;
    } else {
        rig_history_free(out);
    }
    rig_history_builder_free(builder);
    return rc;
}
