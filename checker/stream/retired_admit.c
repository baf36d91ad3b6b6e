#include <stdlib.h>
#include <string.h>

#include "checker/stream/retired_private.h"

struct admission {
    struct rig_retired *retired;
    const struct rig_segment *segment;
    const char *conflict;
};

/* The keys of the segment that are retired, all awake now. False when memory runs out. */
static bool find_all(struct rig_retired *retired, const struct rig_segment *segment, bool *any)
{
    *any = false;
    for (size_t i = 0; i < segment->keys.count; i++) {
        const struct rig_segment_key *key = &segment->keys.at[i];
        uint64_t name =
            key->text == NULL ? (uint64_t)key->key : rig_text_table_get(&retired->texts, key->text, key->text_length);
        bool is_known = key->text == NULL || name != RIG_TABLE_NONE;
        retired->numbers.at[i] = RIG_RETIRED_NONE;
        if (is_known && !rig_retired_wake(retired, name, &retired->numbers.at[i]))
            return false;
        *any |= retired->numbers.at[i] != RIG_RETIRED_NONE;
    }
    return true;
}

static bool uses_forgotten(const struct rig_retired *retired, const struct rig_segment *segment)
{
    bool any = false;
    for (size_t i = 0; i < segment->keys.count && !any; i++) {
        const struct rig_segment_key *key = &segment->keys.at[i];
        any = rig_key_set_has(&retired->forgotten, key->key, key->text, key->text_length);
    }
    return any;
}

/* How long a read of this list may be; 0 when none can be admitted that has to show something. */
static uint32_t limit_of(const struct retired_key *key, const struct rig_read_list *list)
{
    if (list->count < key->count || rig_retired_hash_on(rig_retired_empty_hash, list, key->count) != key->hash)
        return 0;
    uint32_t limit = key->count;
    while (limit < list->count && !rig_retired_holds(key, rig_read_element(list, limit)))
        limit++;
    return limit;
}

static bool keep_prefix(struct rig_retired *retired, struct retired_key *key, const struct rig_read_list *list)
{
    if (key->prefix != NULL || key->cut == 0)
        return true;
    key->prefix = malloc(key->cut * sizeof *key->prefix);
    if (key->prefix == NULL)
        return false;
    retired->owned_bytes += key->cut * sizeof *key->prefix;
    rig_read_copy(list, 0, key->cut, key->prefix);
    return true;
}

/* Whether the list begins with what was judged; and how long a read of it may be. */
static bool continues(const struct retired_key *key, const struct rig_read_list *list, uint32_t *limit)
{
    *limit = limit_of(key, list);
    return list->count >= key->count && (*limit > 0 || key->count == 0);
}

/* Leaves `count` elements behind the first `from`. */
static struct rig_growing_list cut_from(const struct rig_growing_list *list, uint32_t from, uint32_t count)
{
    return (struct rig_growing_list){.at = list->at == NULL ? NULL : list->at + from, .count = count};
}

/* Cuts what was judged off a spine; one that does not begin with it becomes empty, and no read of it stays. */
static bool cut_spine(struct rig_retired *retired, uint32_t number, struct rig_growing_list *spine, uint32_t *limit)
{
    struct retired_key *key = &retired->keys.at[number];
    const struct rig_read_list all = {.at = spine->at, .shared = spine->count, .count = spine->count};
    if (!continues(key, &all, limit)) {
        *spine = (struct rig_growing_list){0};
        return true;
    }
    *spine = cut_from(spine, key->cut, spine->count - key->cut);
    return keep_prefix(retired, key, &all);
}

/*
 * The same of a branch of `from`, the spine before it was cut. What was judged may end in the tail; and where the spine
 * became empty although the branch begins with what was judged, so does what they share, which therefore stays.
 */
static bool cut_branch(struct rig_retired *retired, uint32_t number, const struct rig_growing_list *from,
                       struct rig_growing_list *spine, struct rig_growing_branch *branch, uint32_t *limit)
{
    struct retired_key *key = &retired->keys.at[number];
    const struct rig_read_list all = {
        .at = from->at, .tail = branch->tail.at, .shared = branch->shared, .count = rig_growing_branch_count(branch)};
    if (!continues(key, &all, limit)) {
        branch->shared = 0;
        branch->tail = (struct rig_growing_list){0};
        return true;
    }
    uint32_t off_tail = key->cut > branch->shared ? key->cut - branch->shared : 0;
    branch->shared -= key->cut - off_tail;
    branch->tail = cut_from(&branch->tail, off_tail, branch->tail.count - off_tail);
    if (spine->count < branch->shared)
        *spine = cut_from(from, key->cut, branch->shared);
    return keep_prefix(retired, key, &all);
}

static bool copy_lists(struct rig_retired *retired, const struct rig_segment *segment)
{
    struct rig_segment *cleaned = &retired->cleaned;
    if (!rig_segment_keys_reserve(&cleaned->keys, segment->keys.count + 1) ||
        !rig_growing_branches_reserve(&cleaned->branches, segment->branches.count + 1) ||
        !list_limits_reserve(&retired->spine_limits, segment->keys.count + 1) ||
        !list_limits_reserve(&retired->branch_limits, segment->branches.count + 1))
        return false;
    memcpy(cleaned->keys.at, segment->keys.at, segment->keys.count * sizeof *segment->keys.at);
    if (segment->branches.count > 0)
        memcpy(cleaned->branches.at, segment->branches.at, segment->branches.count * sizeof *segment->branches.at);
    cleaned->keys.count = segment->keys.count;
    cleaned->branches.count = segment->branches.count;
    for (size_t i = 0; i < segment->keys.count; i++) {
        uint32_t number = retired->numbers.at[i];
        if (number != RIG_RETIRED_NONE &&
            !cut_spine(retired, number, &cleaned->keys.at[i].spine, &retired->spine_limits.at[i]))
            return false;
    }
    for (size_t i = 0; i < segment->branches.count; i++) {
        uint32_t key = segment->branches.at[i].key, number = retired->numbers.at[key];
        if (number != RIG_RETIRED_NONE &&
            !cut_branch(retired, number, &segment->keys.at[key].spine, &cleaned->keys.at[key].spine,
                        &cleaned->branches.at[i], &retired->branch_limits.at[i]))
            return false;
    }
    return true;
}

static void admit_append(struct admission *a, const struct retired_key *key, int64_t value)
{
    if (key->odd)
        a->conflict = "a key with an anomaly is used again after a long while";
    else if (rig_retired_holds(key, value))
        a->conflict = "a value of a key that was done with may have been written twice";
}

/* Of a register. Nobody asks what an aborted transaction read. */
static void admit_value(struct admission *a, const struct retired_key *key, enum rig_outcome outcome,
                        const struct rig_txn_op *op)
{
    bool old = op->read_state == RIG_READ_NIL || (op->read_state == RIG_READ_SEEN && rig_retired_holds(key, op->value));
    if (outcome != RIG_OUTCOME_FAIL && old)
        a->conflict = "a register is read after a long while, as it was then";
}

static bool is_written(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_APPEND || op->kind == RIG_OP_WRITE;
}

static void admit_read(struct admission *a, struct retired_key *key, enum rig_outcome outcome, struct rig_txn_op *op)
{
    struct rig_retired *retired = a->retired;
    uint32_t count = op->read_state == RIG_READ_SEEN ? op->count : 0, limit = key->count;
    if (op->read_state == RIG_READ_SEEN)
        limit = rig_txn_op_is_branch(op) ? retired->branch_limits.at[rig_txn_op_branch(op)]
                                         : retired->spine_limits.at[op->key];
    bool fits = count >= key->count && count <= limit;
    if (outcome == RIG_OUTCOME_FAIL) {
        /* Nobody asks what an aborted transaction read. */
        if (op->read_state == RIG_READ_SEEN && (!fits || count < key->cut))
            *op = (struct rig_txn_op){.key = op->key, .kind = op->kind, .read_state = RIG_READ_UNKNOWN};
        else if (op->read_state == RIG_READ_SEEN)
            op->count -= key->cut;
        return;
    }
    if (key->odd || key->many_unread || !fits) {
        a->conflict = key->odd           ? "a key with an anomaly is read again after a long while"
                      : key->many_unread ? "appends to a key are read for the first time after a long while"
                                         : "a read shows a state of its key from long ago, or contradicts it";
        return;
    }
    if (outcome == RIG_OUTCOME_OK) {
        retired->unordered -= key->unordered;
        key->unordered = key->unconfirmed = 0;
    }
    if (op->read_state == RIG_READ_SEEN)
        op->count -= key->cut;
}

static void admit_ops(struct admission *a)
{
    struct rig_retired *retired = a->retired;
    const struct rig_segment *segment = a->segment;
    struct rig_txn_op *ops = retired->cleaned.ops.at;
    for (size_t txn = 0; txn < segment->txns.count && a->conflict == NULL; txn++) {
        const struct rig_txn *t = &segment->txns.at[txn];
        size_t end = txn + 1 < segment->txns.count ? t[1].first_op : segment->ops.count;
        for (size_t i = t->first_op; i < end && a->conflict == NULL; i++) {
            uint32_t number = retired->numbers.at[ops[i].key];
            if (number == RIG_RETIRED_NONE)
                continue;
            struct retired_key *key = &retired->keys.at[number];
            if (is_written(&ops[i]))
                admit_append(a, key, ops[i].value);
            else if (ops[i].kind == RIG_OP_READ_REGISTER)
                admit_value(a, key, (enum rig_outcome)t->outcome, &ops[i]);
            else if (ops[i].kind == RIG_OP_READ_LIST && ops[i].read_state != RIG_READ_UNKNOWN)
                admit_read(a, key, (enum rig_outcome)t->outcome, &ops[i]);
        }
    }
    for (size_t i = 0; i < segment->open_ops.count && a->conflict == NULL; i++) {
        uint32_t number = retired->numbers.at[segment->open_ops.at[i].key];
        if (number != RIG_RETIRED_NONE && is_written(&segment->open_ops.at[i]))
            admit_append(a, &retired->keys.at[number], segment->open_ops.at[i].value);
    }
}

enum rig_rc rig_retired_admit(struct rig_retired *retired, const struct rig_segment *segment,
                              const struct rig_segment **cleaned, const char **conflict, struct rig_err *err)
{
    *cleaned = segment;
    *conflict = NULL;
    if (retired->any_forgotten && uses_forgotten(retired, segment)) {
        *conflict = "a key is used again that was forgotten because memory is short";
        return RIG_OK;
    }
    if (retired->keys.count == 0 && retired->gone.pages.count == 0)
        return RIG_OK;
    bool any = false;
    if (!key_numbers_reserve(&retired->numbers, segment->keys.count + 1) || !find_all(retired, segment, &any))
        return rig_retired_no_memory(err);
    if (!any)
        return RIG_OK;
    struct rig_segment *copy = &retired->cleaned;
    if (!rig_txn_op_vec_reserve(&copy->ops, segment->ops.count + 1) || !copy_lists(retired, segment))
        return rig_retired_no_memory(err);
    if (segment->ops.count > 0)
        memcpy(copy->ops.at, segment->ops.at, segment->ops.count * sizeof *segment->ops.at);
    struct admission a = {.retired = retired, .segment = segment};
    admit_ops(&a);
    *conflict = a.conflict;
    /* All but keys, operations and branches is the segment's own. */
    struct rig_segment borrowed = *segment;
    borrowed.keys = copy->keys;
    borrowed.branches = copy->branches;
    borrowed.ops = copy->ops;
    borrowed.ops.count = segment->ops.count;
    borrowed.note = (struct rig_segment_note){0};
    borrowed.owned = false; /* operations were replaced */
    *copy = borrowed;
    *cleaned = copy;
    return RIG_OK;
}
