#include "checker/infer/registers.h"
#include "history/model/value_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "base/vec.h"
#include "checker/model/links.h"
#include "checker/infer/register_orders.h"
#include "checker/infer/versions_audit.h"
#include "history/model/window_view.h"

enum { DENSE_FACTOR = 4, DENSE_SLACK = 64 };

/* A value of a sparse key, where it stands in the history. */
struct mention {
    int64_t value;
    uint32_t key;
    uint32_t op; /* global index */
};

/* The values of one key and, during the search for writers, the last write. */
struct key_values {
    int64_t lowest, highest;
    uint32_t count; /* operations that name a value */
    uint32_t first; /* dense: its slots; sparse: its mentions */
    uint32_t visitor, last_written;
    bool sparse;
};

RIG_VEC(struct mention, mentions)
RIG_VEC(uint32_t, txn_stack)

struct build {
    const struct rig_history *history;
    struct rig_registers *registers;
    struct rig_arena *arena;
    struct key_values *keys;
    uint32_t *slots; /* per value between a dense key's lowest and highest: its version */
    uint64_t slot_count;
    struct mentions mentions; /* by key, value, operation */
    struct rig_err *err;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the versions of the registers");
}

static bool is_write(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_WRITE;
}

static bool names_value(const struct rig_txn_op *op)
{
    return is_write(op) || op->read_state == RIG_READ_SEEN;
}

bool rig_register_is_update(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    if (is_write(&ops[op]))
        return false;
    for (uint32_t i = 0; i < op; i++) {
        if (ops[i].key == ops[op].key && !is_write(&ops[i]) && ops[i].read_state != RIG_READ_UNKNOWN)
            return false;
    }
    for (uint32_t i = op + 1; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].key == ops[op].key && is_write(&ops[i]))
            return true;
    }
    return false;
}

/* ---- versions ---- */

static enum rig_rc foreign_operation(const struct rig_history *history, struct rig_err *err)
{
    uint32_t op = 0;
    while (is_write(&history->ops[op]) || history->ops[op].kind == RIG_OP_READ_REGISTER)
        op++;
    return rig_fail(err, RIG_E_INPUT,
                    "transaction %u holds an operation that is neither a write nor a read of a register; "
                    "check it as another workload",
                    rig_txn_name(history, rig_history_txn_of(history, op)));
}

static enum rig_rc survey(struct build *b)
{
    const struct rig_history *history = b->history;
    bool foreign = false;
    b->keys = rig_arena_room(b->arena, (size_t)history->key_count + 1, sizeof *b->keys);
    if (b->keys == NULL)
        return no_memory(b->err);
    for (uint32_t key = 0; key < history->key_count; key++)
        b->keys[key] = (struct key_values){.lowest = INT64_MAX, .highest = INT64_MIN, .visitor = RIG_REGISTER_NONE};
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        foreign |= !is_write(op) & (op->kind != RIG_OP_READ_REGISTER);
        if (foreign || !names_value(op))
            continue;
        struct key_values *key = &b->keys[op->key];
        key->lowest = op->value < key->lowest ? op->value : key->lowest;
        key->highest = op->value > key->highest ? op->value : key->highest;
        key->count++;
    }
    return foreign ? foreign_operation(history, b->err) : RIG_OK;
}

static int compare_mentions(const void *left, const void *right)
{
    const struct mention *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

/* Keys whose values lie close together have a slot for each value between them; the others are sorted. */
static enum rig_rc lay_out(struct build *b)
{
    uint64_t sparse_count = 0;
    for (uint32_t i = 0; i < b->history->key_count; i++) {
        struct key_values *key = &b->keys[i];
        uint64_t span = (uint64_t)key->highest - (uint64_t)key->lowest;
        key->sparse = key->count > 0 && span >= (uint64_t)key->count * DENSE_FACTOR + DENSE_SLACK;
        key->first = (uint32_t)(key->sparse ? sparse_count : b->slot_count);
        sparse_count += key->sparse ? key->count : 0;
        b->slot_count += key->sparse || key->count == 0 ? 0 : span + 1;
    }
    if (b->slot_count >= UINT32_MAX)
        return no_memory(b->err);
    b->slots = rig_arena_array(b->arena, (size_t)b->slot_count + 1, sizeof *b->slots);
    return b->slots != NULL && mentions_reserve(&b->mentions, (size_t)sparse_count + 1) ? RIG_OK : no_memory(b->err);
}

static uint32_t *slot_of(const struct build *b, const struct rig_txn_op *op)
{
    const struct key_values *key = &b->keys[op->key];
    return &b->slots[key->first + (uint32_t)((uint64_t)op->value - (uint64_t)key->lowest)];
}

/* Marks the used slots, and lists the values without slots. Returns an upper bound of the number of versions. */
static uint64_t find_values(struct build *b)
{
    uint64_t count = b->history->key_count;
    for (uint32_t i = 0; i < b->history->op_count; i++) {
        const struct rig_txn_op *op = &b->history->ops[i];
        if (!names_value(op))
            continue;
        if (b->keys[op->key].sparse) {
            b->mentions.at[b->mentions.count++] = (struct mention){op->value, op->key, i};
            continue;
        }
        uint32_t *slot = slot_of(b, op);
        count += *slot == 0;
        *slot = 1;
    }
    if (b->mentions.count > 0)
        qsort(b->mentions.at, b->mentions.count, sizeof *b->mentions.at, compare_mentions);
    return count + b->mentions.count;
}

static uint32_t add_version(struct rig_registers *r, uint32_t key, int64_t value)
{
    r->versions[r->version_count] =
        (struct rig_register_version){.value = value, .key = key & INT32_MAX, .writer = RIG_REGISTER_NONE};
    return r->version_count++;
}

static void number_dense(struct build *b, uint32_t number)
{
    const struct key_values *key = &b->keys[number];
    uint64_t span = key->count == 0 ? 0 : (uint64_t)key->highest - (uint64_t)key->lowest + 1;
    for (uint64_t i = 0; i < span; i++) {
        uint32_t *slot = &b->slots[key->first + i];
        if (*slot != 0)
            *slot = add_version(b->registers, number, (int64_t)((uint64_t)key->lowest + i));
    }
}

static void number_sparse(struct build *b, uint32_t number)
{
    const struct mention *mention = &b->mentions.at[b->keys[number].first];
    uint32_t version = RIG_REGISTER_NONE;
    for (uint32_t i = 0; i < b->keys[number].count; i++, mention++) {
        if (i == 0 || mention[-1].value != mention->value)
            version = add_version(b->registers, number, mention->value);
        b->registers->version_of[mention->op] = version;
    }
}

/* Numbers the versions: the initial states first, then the values of each key. */
static enum rig_rc number_versions(struct build *b)
{
    const struct rig_history *history = b->history;
    struct rig_registers *r = b->registers;
    uint64_t most = find_values(b);
    RIG_INVARIANT(most <= (uint64_t)history->key_count + history->op_count);
    if (most >= RIG_GRAPH_MAX_NODES)
        return no_memory(b->err);
    r->versions = rig_arena_room(b->arena, (size_t)most + 1, sizeof *r->versions);
    r->version_of = rig_arena_room(b->arena, (size_t)history->op_count + 1, sizeof *r->version_of);
    if (r->versions == NULL || r->version_of == NULL)
        return no_memory(b->err);
    for (uint32_t key = 0; key < history->key_count; key++)
        (void)add_version(r, key, 0);
    for (uint32_t key = 0; key < history->key_count; key++) {
        if (b->keys[key].sparse)
            number_sparse(b, key);
        else
            number_dense(b, key);
    }
    RIG_INVARIANT(r->version_count >= history->key_count && r->version_count <= most);
    return RIG_OK;
}

static enum rig_rc written_twice(const struct build *b, uint32_t first, uint32_t second, const struct rig_txn_op *op)
{
    char key[64];
    rig_history_key_name(b->history, op->key, key, sizeof key);
    if (first == second)
        return rig_fail(
            b->err, RIG_E_INPUT,
            "transaction %u writes %s to key %s twice; a register needs values that are unique per key, unless the "
            "workload is multi-key-acid",
            rig_txn_name(b->history, first), RIG_VALUE_SHOWN(op->value), key);
    return rig_fail(
        b->err, RIG_E_INPUT,
        "transactions %u and %u both write %s to key %s; a register needs values that are unique per key, unless "
        "the workload is multi-key-acid",
        rig_txn_name(b->history, first), rig_txn_name(b->history, second), RIG_VALUE_SHOWN(op->value), key);
}

/* The version that the operation shows or makes. */
static uint32_t find_version(const struct build *b, uint32_t number)
{
    const struct rig_txn_op *op = &b->history->ops[number];
    if (!names_value(op))
        return op->read_state == RIG_READ_NIL ? op->key : RIG_REGISTER_NONE;
    return b->keys[op->key].sparse ? b->registers->version_of[number] : *slot_of(b, op);
}

/* False when another transaction wrote it, too. */
static bool take_write(struct build *b, uint32_t txn, uint32_t key_number, uint32_t number)
{
    RIG_INVARIANT(number >= b->history->key_count && number < b->registers->version_count);
    struct rig_register_version *version = &b->registers->versions[number];
    RIG_INVARIANT(version->key == key_number);
    struct key_values *key = &b->keys[key_number];
    if (version->writer != RIG_REGISTER_NONE)
        return false;
    version->writer = txn;
    if (key->visitor == txn)
        b->registers->versions[key->last_written].superseded = 1;
    key->visitor = txn;
    key->last_written = number;
    return true;
}

static enum rig_rc find_writers(struct build *b)
{
    const struct rig_history *history = b->history;
    struct rig_registers *r = b->registers;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
            const struct rig_txn_op *mop = &history->ops[op];
            uint32_t version = find_version(b, op);
            r->version_of[op] = version;
            if (is_write(mop) && !take_write(b, txn, mop->key, version))
                return written_twice(b, r->versions[version].writer, txn, mop);
        }
    }
    return RIG_OK;
}

/* ---- committed transactions ---- */

/* Transactions of unknown fate committed if this one read their writes. False when memory runs out. */
static bool follow_reads(struct rig_registers *r, uint32_t txn, struct txn_stack *fresh)
{
    const struct rig_history *history = r->history;
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        uint32_t version = r->version_of[op];
        uint32_t writer = version == RIG_REGISTER_NONE ? RIG_REGISTER_NONE : r->versions[version].writer;
        if (writer == RIG_REGISTER_NONE || r->committed[writer] || history->txns[writer].outcome != RIG_OUTCOME_INFO)
            continue;
        r->committed[writer] = 1;
        r->committed_count++;
        if (!txn_stack_add(fresh, writer))
            return false;
    }
    return true;
}

/* Acknowledged, or of unknown fate with a write that a committed transaction read; or found to be so before. */
static enum rig_rc find_committed(struct build *b)
{
    const struct rig_history *history = b->history;
    struct rig_registers *r = b->registers;
    struct txn_stack fresh = {0};
    bool any_open = false, done = true;
    r->committed = rig_arena_room(b->arena, (size_t)history->txn_count + 1, sizeof *r->committed);
    if (r->committed == NULL)
        return no_memory(b->err);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        bool counts = rig_txn_is_committed(t);
        r->committed[txn] = counts;
        r->committed_count += counts;
        any_open |= !counts & (t->outcome == RIG_OUTCOME_INFO);
    }
    for (uint32_t txn = 0; done && any_open && txn < history->txn_count; txn++)
        done = !r->committed[txn] || follow_reads(r, txn, &fresh);
    while (done && fresh.count > 0)
        done = follow_reads(r, fresh.at[--fresh.count], &fresh);
    txn_stack_done(&fresh);
    RIG_INVARIANT(r->committed_count <= history->txn_count);
    return done ? RIG_OK : no_memory(b->err);
}

/* ---- initial states ---- */

static bool is_unwritten(const struct rig_registers *r, uint32_t version)
{
    return version != RIG_REGISTER_NONE && r->versions[version].writer == RIG_REGISTER_NONE;
}

static bool any_unwritten(const struct rig_registers *r)
{
    uint32_t version = r->history->key_count;
    while (version < r->version_count && !is_unwritten(r, version))
        version++;
    return version < r->version_count;
}

/* nil before a value, then an acknowledged read before one of unknown fate, then the first. */
static bool shows_better(const struct rig_registers *r, uint32_t txn, uint32_t version,
                         const struct rig_register_initial *than)
{
    const struct rig_history *history = r->history;
    if (than->txn == RIG_REGISTER_NONE)
        return true;
    const bool nil = version < history->key_count;
    const bool than_nil = r->version_of[history->txns[than->txn].first_op + than->op] < history->key_count;
    if (nil != than_nil)
        return nil;
    return history->txns[txn].outcome == RIG_OUTCOME_OK && history->txns[than->txn].outcome != RIG_OUTCOME_OK;
}

/* Leaves out the keys that are open. */
static void find_initial_reads(struct rig_registers *r, const uint8_t *open_keys)
{
    const struct rig_history *history = r->history;
    memset(r->initial, 0xff, ((size_t)history->key_count + 1) * sizeof r->initial[0]);
    memset(r->acknowledged, 0xff, ((size_t)history->key_count + 1) * sizeof r->acknowledged[0]);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const uint32_t first = history->txns[txn].first_op, end = history->txns[txn + 1].first_op;
        for (uint32_t op = first; r->committed[txn] && op < end; op++) {
            const uint32_t version = r->version_of[op], key = history->ops[op].key;
            if (!is_unwritten(r, version) || (open_keys != NULL && open_keys[key]))
                continue;
            r->any_foreign |= version >= history->key_count;
            if (shows_better(r, txn, version, &r->initial[key]))
                r->initial[key] = (struct rig_register_initial){txn, op - first};
            if (history->txns[txn].outcome == RIG_OUTCOME_OK && shows_better(r, txn, version, &r->acknowledged[key]))
                r->acknowledged[key] = (struct rig_register_initial){txn, op - first};
        }
    }
}

/* Values without a writer stay as they are where their key may be used again. */
static bool leave_open(struct build *b, const uint8_t *open_keys)
{
    const uint32_t key_count = b->history->key_count;
    struct rig_registers *r = b->registers;
    r->open_keys = rig_arena_array(b->arena, (size_t)key_count + 1, sizeof *r->open_keys);
    for (uint32_t version = key_count; r->open_keys != NULL && version < r->version_count; version++) {
        const uint32_t key = r->versions[version].key;
        r->open_keys[key] |= open_keys[key] && is_unwritten(r, version);
    }
    return r->open_keys != NULL;
}

/* Makes the values that were there from the start the initial states of their keys. */
static enum rig_rc find_initial_values(struct build *b, const uint8_t *open_keys)
{
    const struct rig_history *history = b->history;
    struct rig_registers *r = b->registers;
    if (!any_unwritten(r))
        return RIG_OK;
    uint32_t *value_of = rig_arena_room(b->arena, (size_t)history->key_count + 1, sizeof *value_of);
    r->initial = rig_arena_room(b->arena, (size_t)history->key_count + 1, sizeof *r->initial);
    r->acknowledged = rig_arena_room(b->arena, (size_t)history->key_count + 1, sizeof *r->acknowledged);
    if (value_of == NULL || r->initial == NULL || r->acknowledged == NULL ||
        (open_keys != NULL && !leave_open(b, open_keys)))
        return no_memory(b->err);
    find_initial_reads(r, open_keys);
    for (uint32_t key = 0; key < history->key_count; key++) {
        const struct rig_register_initial *at = &r->initial[key];
        value_of[key] = at->txn == RIG_REGISTER_NONE ? key : r->version_of[history->txns[at->txn].first_op + at->op];
        r->versions[key].value = r->versions[value_of[key]].value;
    }
    for (uint32_t op = 0; op < history->op_count; op++) {
        if (r->version_of[op] == value_of[history->ops[op].key])
            r->version_of[op] = history->ops[op].key;
    }
    return RIG_OK;
}

/* No transaction may write the value that the registers begin with: a read of it would not name its writer. */
static enum rig_rc refuse_written_initial(const struct build *b, int64_t value)
{
    const struct rig_history *history = b->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
            char key[64];
            if (!is_write(&history->ops[op]) || history->ops[op].value != value)
                continue;
            rig_history_key_name(history, history->ops[op].key, key, sizeof key);
            return rig_fail(
                b->err, RIG_E_USAGE,
                "--initial %s: transaction %u writes %s to key %s, so that a read of it would not tell which "
                "one it shows; a register begins with a value that no transaction writes",
                RIG_VALUE_SHOWN(value), rig_txn_name(history, txn), RIG_VALUE_SHOWN(value), key);
        }
    }
    return RIG_OK;
}

/* Makes the value the initial state of all keys; nil is no version then, unless it is the value. */
static enum rig_rc take_given_initial(struct build *b, int64_t value, bool is_nil)
{
    const struct rig_history *history = b->history;
    struct rig_registers *r = b->registers;
    const enum rig_rc rc = refuse_written_initial(b, value);
    r->begins_given = true;
    for (uint32_t key = 0; rc == RIG_OK && !is_nil && key < history->key_count; key++)
        r->versions[key].value = value;
    for (uint32_t op = 0; rc == RIG_OK && op < history->op_count; op++) {
        const struct rig_txn_op *read = &history->ops[op];
        const bool unwritten = is_unwritten(r, r->version_of[op]);
        if (unwritten && read->read_state == RIG_READ_NIL && !is_nil)
            r->version_of[op] = RIG_REGISTER_NONE;
        else if (unwritten && read->read_state == RIG_READ_SEEN && read->value == value)
            r->version_of[op] = read->key;
        r->any_foreign |= unwritten && read->read_state == RIG_READ_SEEN;
    }
    return rc;
}

static enum rig_rc take_initial(struct build *b, const struct rig_assumptions *assumptions)
{
    const struct rig_known_initial *initial = &assumptions->initial;
    return initial->known ? take_given_initial(b, initial->value, rig_initial_is_nil(initial))
                          : find_initial_values(b, assumptions->open_keys);
}

/* ---- queries ---- */

/* The first of them that is not of a key before `key`. */
static uint32_t versions_from(const struct rig_registers *registers, uint32_t key)
{
    uint32_t low = registers->history->key_count, high = registers->version_count;
    while (low < high)
        rig_halve(&low, &high, registers->versions[rig_middle(low, high)].key < key);
    return low;
}

void rig_registers_versions_of(const struct rig_registers *registers, uint32_t key, uint32_t *begin, uint32_t *end)
{
    *begin = versions_from(registers, key);
    *end = versions_from(registers, key + 1);
    RIG_INVARIANT(*begin <= *end && *end <= registers->version_count);
}

enum rig_rc rig_registers_build(const struct rig_history *history, struct rig_assumptions assumptions,
                                struct rig_arena *arena, struct rig_registers *registers,
                                struct rig_noncyclic_findings *noncyclic, struct rig_err *err)
{
    struct rig_registers result = {.history = history};
    struct build b = {.history = history, .registers = &result, .arena = arena, .err = err};
    enum rig_rc rc = survey(&b);
    if (rc == RIG_OK)
        rc = lay_out(&b);
    if (rc == RIG_OK)
        rc = number_versions(&b);
    if (rc == RIG_OK)
        rc = find_writers(&b);
    if (rc == RIG_OK)
        rc = find_committed(&b);
    if (rc == RIG_OK && history->lost_count == 0)
        rc = take_initial(&b, &assumptions);
    if (rc == RIG_OK)
        rc = rig_register_orders_find(&result, assumptions, arena, noncyclic, err);
    mentions_done(&b.mentions);
    if (rc != RIG_OK)
        return rc;
    *registers = result;
    RIG_COSTLY(rig_registers_are_sound(registers));
    return RIG_OK;
}
