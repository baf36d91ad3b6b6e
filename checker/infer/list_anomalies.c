#include "checker/infer/list_anomalies.h"

#include <stdlib.h>

#include "base/bug.h"
#include "checker/infer/branches.h"
#include "history/model/read_list.h"

void rig_own_ops_done(struct rig_own_ops *own)
{
    free(own->at);
    *own = (struct rig_own_ops){0};
}

static bool make_room(struct rig_own_ops *own, uint32_t count)
{
    if (count <= own->room)
        return true;
    const size_t room = (size_t)count + count / 2;
    struct rig_own_op *at = realloc(own->at, room * sizeof *at);
    if (at == NULL)
        return false;
    own->at = at;
    own->room = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    return true;
}

static uint32_t position_of(const struct rig_versions *versions, const struct rig_txn_op *op)
{
    if (op->kind != RIG_OP_APPEND)
        return RIG_VERSION_NONE;
    const struct rig_append *append = rig_versions_append(versions, op->key, op->value);
    return rig_append_is_placed(append) ? append->position : RIG_VERSION_NONE;
}

bool rig_own_ops_take(struct rig_own_ops *own, const struct rig_versions *versions, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(versions->history, txn);
    const uint32_t count = rig_txn_op_count(versions->history, txn);
    if (!make_room(own, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        versions->key_places[ops[i].key].visitor = RIG_TXN_NONE;
    for (uint32_t i = 0; i < count; i++) {
        struct rig_key_places *key = &versions->key_places[ops[i].key];
        const bool again = key->visitor == txn;
        own->at[i] = (struct rig_own_op){again ? key->start : RIG_OWN_NONE, RIG_OWN_NONE, RIG_VERSION_NONE};
        if (again)
            own->at[key->start].next = i;
        key->visitor = txn;
        key->start = i;
    }
    for (uint32_t i = count; i-- > 0;) {
        struct rig_own_op *op = &own->at[i];
        versions->key_places[ops[i].key].visitor = RIG_TXN_NONE;
        if (op->next == RIG_OWN_NONE)
            continue;
        RIG_INVARIANT(op->next > i && own->at[op->next].previous == i);
        const uint32_t later = own->at[op->next].least_later, next = position_of(versions, &ops[op->next]);
        op->least_later = next < later ? next : later;
    }
    return true;
}

/* One operation of a committed transaction, the input of the checks. */
struct reading {
    const struct rig_versions *versions;
    struct rig_noncyclic_findings *noncyclic;
    const struct rig_txn_op *ops; /* of the transaction */
    const struct rig_own_op *own; /* parallel */
    uint32_t op_count;
    uint32_t txn;
    uint32_t op;
    struct rig_read_list list;
};

static bool note(const struct reading *reading, enum rig_anomaly anomaly, int64_t value, uint32_t other,
                 uint32_t other_op)
{
    struct rig_noncyclic found = {.anomaly = anomaly,
                                  .key = reading->ops[reading->op].key,
                                  .txn = reading->txn,
                                  .op = reading->op,
                                  .other = other,
                                  .other_op = other_op,
                                  .value = value};
    found.unsettled = reading->versions->history->txns[reading->txn].outcome != RIG_OUTCOME_OK;
    return rig_noncyclic_note(reading->noncyclic, &found);
}

/* Facts about the list of which a read shows a prefix: its key's spine, or a branch. */
static struct rig_branch_facts facts_of(const struct reading *reading)
{
    const struct rig_txn_op *op = &reading->ops[reading->op];
    const struct rig_key_versions *k = &reading->versions->keys[op->key];
    if (op->read_state == RIG_READ_SEEN && rig_txn_op_is_branch(op))
        return *rig_branch_facts(reading->versions, op);
    return (struct rig_branch_facts){
        .agrees = k->spine_agrees, .unique = k->spine_unique, .aborted = k->spine_aborted, .garbage = k->spine_garbage};
}

/* The first element whose writer aborted (G1a) and the first that no transaction appended (garbage-read). */
static bool check_writers(const struct reading *reading)
{
    uint32_t key = reading->ops[reading->op].key;
    struct rig_branch_facts facts = facts_of(reading);
    if (facts.aborted < reading->list.count) {
        int64_t value = rig_read_element(&reading->list, facts.aborted);
        uint32_t writer = rig_versions_append(reading->versions, key, value)->writer;
        if (!note(reading, RIG_ANOMALY_G1A, value, writer, UINT32_MAX))
            return false;
    }
    if (facts.garbage < reading->list.count)
        return note(reading, RIG_ANOMALY_GARBAGE_READ, rig_read_element(&reading->list, facts.garbage), RIG_TXN_NONE,
                    UINT32_MAX);
    return true;
}

/* G1b: the last element that is not the reader's own was not its writer's last append to the key. */
static bool check_intermediate(const struct reading *reading)
{
    uint32_t key = reading->ops[reading->op].key;
    for (uint32_t i = reading->list.count; i-- > 0;) {
        const struct rig_append *slot = rig_versions_find(reading->versions, key, rig_read_element(&reading->list, i));
        if (slot != NULL && slot->writer == reading->txn)
            continue;
        if (slot == NULL || !slot->superseded)
            return true;
        return note(reading, RIG_ANOMALY_G1B, rig_read_element(&reading->list, i), slot->writer, UINT32_MAX);
    }
    return true;
}

/*
 * Duplicate elements; and without any, disagreement with the key's order: neither the list nor the order is a prefix of
 * the other. (Only lists with repetitions are longer than the order.)
 */
static bool check_shape(const struct reading *reading)
{
    const struct rig_key_versions *k = &reading->versions->keys[reading->ops[reading->op].key];
    struct rig_branch_facts facts = facts_of(reading);
    if (facts.unique < reading->list.count &&
        !note(reading, RIG_ANOMALY_DUPLICATE_ELEMENTS, rig_read_element(&reading->list, facts.unique), RIG_TXN_NONE,
              UINT32_MAX))
        return false;
    uint32_t common = reading->list.count < k->order.count ? reading->list.count : k->order.count;
    if (k->order_txn == RIG_TXN_NONE || facts.agrees >= common)
        return true;
    return note(reading, RIG_ANOMALY_INCOMPATIBLE_ORDER, 0, k->order_txn, k->order_op);
}

static bool list_holds(const struct reading *reading, int64_t value)
{
    uint32_t key = reading->ops[reading->op].key;
    uint32_t agrees = facts_of(reading).agrees;
    const struct rig_append *slot = rig_versions_append(reading->versions, key, value);
    if (rig_append_is_placed(slot) && slot->position < agrees)
        return slot->position < reading->list.count;
    for (uint32_t i = agrees; i < reading->list.count; i++) {
        if (rig_read_element(&reading->list, i) == value)
            return true;
    }
    return false;
}

/* future-read: the list shows a value that the transaction appends only after this read. */
static bool check_future(const struct reading *reading)
{
    if (reading->own[reading->op].least_later >= reading->list.count && facts_of(reading).agrees >= reading->list.count)
        return true; /* the list is a prefix of the order, and ends before */
    for (uint32_t i = reading->own[reading->op].next; i != RIG_OWN_NONE; i = reading->own[i].next) {
        const struct rig_txn_op *later = &reading->ops[i];
        if (later->kind == RIG_OP_APPEND && list_holds(reading, later->value))
            return note(reading, RIG_ANOMALY_FUTURE_READ, later->value, reading->txn, i);
    }
    return true;
}

/* Whether only one of the two reads found the row, and the other one did not miss the transaction's own. */
static bool is_phantom(const struct reading *reading, uint32_t previous)
{
    const bool now = rig_list_found_no_row(reading->versions->history, &reading->ops[reading->op]),
               before = rig_list_found_no_row(reading->versions->history, &reading->ops[previous]);
    bool own = false;
    for (uint32_t i = now ? reading->op : previous; (i = reading->own[i].previous) != RIG_OWN_NONE;)
        own |= reading->ops[i].kind == RIG_OP_APPEND;
    return !reading->versions->prefilled && now != before && !own;
}

/* The list that the transaction must see now: its previous read of the key, if any, then its appends since. */
static bool check_internal(const struct reading *reading)
{
    const struct rig_history *history = reading->versions->history;
    uint32_t own = 0, previous = UINT32_MAX, i = reading->op;
    while (previous == UINT32_MAX && (i = reading->own[i].previous) != RIG_OWN_NONE) {
        const struct rig_txn_op *op = &reading->ops[i];
        if (op->kind == RIG_OP_APPEND) {
            own++;
            if (own > reading->list.count || rig_read_element(&reading->list, reading->list.count - own) != op->value)
                return note(reading, RIG_ANOMALY_INTERNAL, op->value, RIG_TXN_NONE, i);
        } else if (op->read_state != RIG_READ_UNKNOWN) {
            previous = i;
        }
    }
    if (previous == UINT32_MAX)
        return true;
    struct rig_read_list before = rig_txn_op_list(history, &reading->ops[previous]);
    if (reading->list.count - own == before.count && rig_read_same(&before, &reading->list, before.count))
        return true;
    return note(reading, is_phantom(reading, previous) ? RIG_ANOMALY_INTERNAL_PREDICATE : RIG_ANOMALY_INTERNAL, 0,
                RIG_TXN_NONE, previous);
}

/* The transaction's next append to the key of its append `op`, which is superseded. */
static uint32_t next_append(const struct reading *reading, uint32_t op)
{
    uint32_t next = reading->own[op].next;
    while (next != RIG_OWN_NONE && reading->ops[next].kind != RIG_OP_APPEND)
        next = reading->own[next].next;
    RIG_INVARIANT(next != RIG_OWN_NONE);
    return next;
}

/* fractured-append: the key's order shows the next append to the key, but not this one somewhere before it. */
static bool check_fractured(const struct reading *writing)
{
    const struct rig_txn_op *op = &writing->ops[writing->op];
    const struct rig_append *slot = rig_versions_append(writing->versions, op->key, op->value);
    if (!slot->superseded)
        return true;
    const struct rig_txn_op *next = &writing->ops[next_append(writing, writing->op)];
    const struct rig_append *next_slot = rig_versions_append(writing->versions, op->key, next->value);
    if (!rig_append_is_placed(next_slot) || slot->position < next_slot->position)
        return true;
    rig_versions_contest(writing->versions, op->key);
    const struct rig_key_versions *k = &writing->versions->keys[op->key];
    struct rig_noncyclic found = {.anomaly = RIG_ANOMALY_FRACTURED_APPEND,
                                  .key = op->key,
                                  .txn = k->order_txn,
                                  .op = k->order_op,
                                  .other = writing->txn,
                                  .other_op = writing->op,
                                  .value = next->value,
                                  .other_value = op->value};
    return rig_noncyclic_note(writing->noncyclic, &found);
}

bool rig_list_anomalies_of_txn(const struct rig_versions *versions, uint32_t txn, const struct rig_own_op *own,
                               struct rig_noncyclic_findings *noncyclic)
{
    const struct rig_history *history = versions->history;
    struct reading reading = {.versions = versions,
                              .noncyclic = noncyclic,
                              .ops = rig_txn_ops(history, txn),
                              .op_count = rig_txn_op_count(history, txn),
                              .own = own,
                              .txn = txn};
    for (uint32_t i = 0; i < reading.op_count; i++) {
        reading.op = i;
        if (reading.ops[i].kind == RIG_OP_APPEND && !check_fractured(&reading))
            return false;
        if (reading.ops[i].kind != RIG_OP_READ_LIST || reading.ops[i].read_state == RIG_READ_UNKNOWN)
            continue;
        reading.list = rig_txn_op_list(history, &reading.ops[i]);
        if (!check_writers(&reading) || !check_intermediate(&reading) || !check_shape(&reading) ||
            !check_future(&reading) || !check_internal(&reading))
            return false;
    }
    return true;
}

bool rig_list_anomalies_of_orders(const struct rig_versions *versions, struct rig_noncyclic_findings *noncyclic)
{
    const struct rig_history *history = versions->history;
    if (versions->before_at == NULL)
        return true; /* every element is a version */
    for (uint32_t key = 0; key < history->key_count; key++) {
        const struct rig_key_versions *k = &versions->keys[key];
        if (!k->gaps)
            continue;
        const struct rig_append *aborted = NULL;
        int64_t aborted_value = 0;
        for (uint32_t i = 0; i < k->order.count; i++) {
            const struct rig_append *slot = rig_versions_find(versions, key, k->order.at[i]);
            if (slot == NULL)
                continue;
            if (history->txns[slot->writer].outcome == RIG_OUTCOME_FAIL) {
                aborted = slot;
                aborted_value = k->order.at[i];
            } else if (aborted != NULL && versions->committed[slot->writer]) {
                struct rig_noncyclic found = {.anomaly = RIG_ANOMALY_DIRTY_UPDATE,
                                              .key = key,
                                              .txn = slot->writer,
                                              .op = UINT32_MAX,
                                              .other = aborted->writer,
                                              .other_op = UINT32_MAX,
                                              .value = k->order.at[i],
                                              .other_value = aborted_value};
                if (!rig_noncyclic_note(noncyclic, &found))
                    return false;
                aborted = NULL;
            }
        }
    }
    return true;
}

/* The first known read of a key in a committed transaction that appends to the key after it. */
struct update {
    uint32_t key, txn, op;
    struct rig_read_list list;
};

RIG_VEC(struct update, updates)

/* Elements that two lists share with one spine are the same. */
static uint32_t first_to_compare(const struct rig_read_list *a, const struct rig_read_list *b)
{
    if (a->at != b->at)
        return 0;
    return a->shared < b->shared ? a->shared : b->shared;
}

static int compare_reads(const struct update *a, const struct update *b)
{
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->list.count != b->list.count)
        return a->list.count < b->list.count ? -1 : 1;
    for (uint32_t i = first_to_compare(&a->list, &b->list); i < a->list.count; i++) {
        int64_t left = rig_read_element(&a->list, i), right = rig_read_element(&b->list, i);
        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}

static int compare_updates(const void *left, const void *right)
{
    const struct update *a = left, *b = right;
    int order = compare_reads(a, b);
    return order != 0 ? order : (a->txn > b->txn) - (a->txn < b->txn);
}

static bool is_known_read(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_READ_LIST && op->read_state != RIG_READ_UNKNOWN;
}

static bool collect_updates(const struct rig_versions *versions, uint32_t txn, struct rig_own_ops *own,
                            struct updates *updates)
{
    if (!rig_own_ops_take(own, versions, txn))
        return false;
    const struct rig_txn_op *ops = rig_txn_ops(versions->history, txn);
    uint32_t op_count = rig_txn_op_count(versions->history, txn);
    for (uint32_t i = 0; i < op_count; i++) {
        if (!is_known_read(&ops[i]))
            continue;
        bool first = true, appends = false;
        for (uint32_t j = own->at[i].previous; first && j != RIG_OWN_NONE; j = own->at[j].previous)
            first = !is_known_read(&ops[j]);
        for (uint32_t j = own->at[i].next; first && !appends && j != RIG_OWN_NONE; j = own->at[j].next)
            appends = ops[j].kind == RIG_OP_APPEND;
        if (!first || !appends)
            continue;
        struct update update = {ops[i].key, txn, i, rig_txn_op_list(versions->history, &ops[i])};
        if (!updates_add(updates, update))
            return false;
    }
    return true;
}

bool rig_list_lost_updates(const struct rig_versions *versions, struct rig_noncyclic_findings *noncyclic)
{
    struct updates updates = {0};
    struct rig_own_ops own = {0};
    bool done = true;
    for (uint32_t txn = 0; done && txn < versions->history->txn_count; txn++) {
        if (versions->committed[txn])
            done = collect_updates(versions, txn, &own, &updates);
    }
    if (done && updates.count > 0)
        qsort(updates.at, updates.count, sizeof *updates.at, compare_updates);
    for (size_t i = 1; done && i < updates.count; i++) {
        const struct update *a = &updates.at[i - 1], *b = &updates.at[i];
        if (compare_reads(a, b) != 0)
            continue;
        const bool by_predicate =
            !versions->prefilled &&
            rig_list_found_no_row(versions->history, rig_txn_ops(versions->history, a->txn) + a->op);
        struct rig_noncyclic found = {.anomaly =
                                          by_predicate ? RIG_ANOMALY_LOST_UPDATE_PREDICATE : RIG_ANOMALY_LOST_UPDATE,
                                      .key = a->key,
                                      .txn = a->txn,
                                      .op = a->op,
                                      .other = b->txn,
                                      .other_op = b->op};
        done = rig_noncyclic_note(noncyclic, &found);
    }
    updates_done(&updates);
    rig_own_ops_done(&own);
    return done;
}
