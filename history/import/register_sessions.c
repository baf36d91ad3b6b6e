#include "history/import/register_sessions.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/bug.h"
#include "history/types/types.h"

void rig_sessions_init(struct rig_sessions *sessions, size_t limit_bytes)
{
    *sessions = (struct rig_sessions){.limit_bytes = limit_bytes == 0 ? SIZE_MAX : limit_bytes};
    rig_table_init(&sessions->key_ids);
}

void rig_sessions_done(struct rig_sessions *sessions)
{
    rig_session_txns_done(&sessions->txns);
    rig_session_ops_done(&sessions->ops);
    rig_session_keys_done(&sessions->keys);
    rig_session_owners_done(&sessions->owners);
    rig_table_done(&sessions->key_ids);
}

static size_t held_bytes(const struct rig_sessions *s)
{
    return s->txns.capacity * sizeof *s->txns.at + s->ops.capacity * sizeof *s->ops.at +
           s->keys.capacity * sizeof *s->keys.at + s->owners.capacity * sizeof *s->owners.at + s->beside_bytes;
}

static size_t table_bytes(size_t slots)
{
    return slots * (sizeof(uint64_t) + sizeof(uint32_t));
}

uint32_t *rig_sessions_put(struct rig_sessions *sessions, struct rig_table *table, uint64_t key)
{
    const size_t slots = table->slot_count;
    const bool is_full = table->used + 1 > slots / 8 * 7;
    if (is_full && sessions->limit_bytes != SIZE_MAX &&
        held_bytes(sessions) + table_bytes(slots * 2) > sessions->limit_bytes)
        sessions->no_memory = true;
    uint32_t *value = sessions->no_memory ? NULL : rig_table_put(table, key);
    sessions->no_memory = value == NULL;
    sessions->beside_bytes += table_bytes(table->slot_count - slots);
    return value;
}

void rig_sessions_drop(struct rig_sessions *sessions, struct rig_table *table)
{
    sessions->beside_bytes -= table_bytes(table->slot_count);
    rig_table_done(table);
}

/* Whether a vector with this many items of this size may take one more: it doubles when it is full. */
static bool may_add(struct rig_sessions *s, size_t count, size_t capacity, size_t item_bytes)
{
    if (count >= UINT32_MAX - 1)
        s->no_memory = true;
    else if (count == capacity && s->limit_bytes != SIZE_MAX &&
             held_bytes(s) + capacity * 2 * item_bytes > s->limit_bytes)
        s->no_memory = true;
    return !s->no_memory;
}

static uint32_t add_key(struct rig_sessions *s, uint32_t *id, struct rig_session_key key)
{
    if (id == NULL || !may_add(s, s->keys.count, s->keys.capacity, sizeof key) ||
        !rig_session_keys_add(&s->keys, key)) {
        s->no_memory = true;
        return 0;
    }
    return *id = (uint32_t)s->keys.count - 1;
}

uint32_t rig_sessions_number_key(struct rig_sessions *sessions, int64_t number)
{
    uint32_t *id = rig_sessions_put(sessions, &sessions->key_ids, (uint64_t)number);
    if (id != NULL && *id != RIG_TABLE_NONE)
        return *id;
    return add_key(sessions, id, (struct rig_session_key){.number = number});
}

uint32_t rig_sessions_text_key(struct rig_sessions *sessions, const char *text, uint32_t length)
{
    uint64_t hash = XXH3_64bits(text, length);
    uint32_t *id = rig_sessions_put(sessions, &sessions->key_ids, hash);
    while (id != NULL && *id != RIG_TABLE_NONE) {
        const struct rig_session_key *key = &sessions->keys.at[*id];
        if (key->text_length == length && memcmp(key->text, text, length) == 0)
            return *id;
        id = rig_sessions_put(sessions, &sessions->key_ids, ++hash);
    }
    return add_key(sessions, id, (struct rig_session_key){.text = text, .text_length = length});
}

uint32_t rig_sessions_begin(struct rig_sessions *sessions, int32_t process, enum rig_outcome outcome)
{
    struct rig_session_txns *txns = &sessions->txns;
    const struct rig_session_txn txn = {
        .first_op = (uint32_t)sessions->ops.count, .process = process, .outcome = (uint8_t)outcome};
    if (!may_add(sessions, txns->count, txns->capacity, sizeof txn) || !rig_session_txns_add(txns, txn)) {
        sessions->no_memory = true;
        return 0;
    }
    return (uint32_t)txns->count - 1;
}

void rig_sessions_abort(struct rig_sessions *sessions, uint32_t txn)
{
    if (!sessions->no_memory)
        sessions->txns.at[txn].outcome = RIG_OUTCOME_FAIL;
}

static void add_op(struct rig_sessions *s, uint32_t txn, struct rig_session_op op)
{
    if (s->no_memory || !may_add(s, s->ops.count, s->ops.capacity, sizeof op + sizeof txn))
        return;
    RIG_INVARIANT(txn < s->txns.count && op.key < s->keys.count);
    s->scattered |= txn + 1 != s->txns.count;
    s->no_memory = !rig_session_ops_add(&s->ops, op) || !rig_session_owners_add(&s->owners, txn);
}

void rig_sessions_write(struct rig_sessions *sessions, uint32_t txn, uint32_t key, int64_t value)
{
    add_op(sessions, txn, (struct rig_session_op){.value = value, .key = key});
}

void rig_sessions_read(struct rig_sessions *sessions, uint32_t txn, uint32_t key, enum rig_read_state state,
                       int64_t value)
{
    sessions->any_absent |= state == RIG_READ_NIL;
    add_op(sessions, txn,
           (struct rig_session_op){.value = value, .key = key, .is_read = true, .read_state = (uint8_t)state});
}

void rig_sessions_read_initial(struct rig_sessions *sessions, uint32_t txn, uint32_t key)
{
    add_op(sessions, txn, (struct rig_session_op){.key = key, .is_read = true, .read_state = RIG_READ_NIL});
}

void rig_sessions_remove(struct rig_sessions *sessions, uint32_t txn, uint32_t key)
{
    sessions->any_absent = true;
    rig_sessions_write(sessions, txn, key, INT64_MIN + 1 + sessions->removal_count++);
    if (!sessions->no_memory)
        sessions->keys.at[key].has_removal = true;
}

/* By transaction, each in the order in which its operations were added. */
static bool group(struct rig_sessions *s)
{
    const size_t bytes = (s->ops.count + 1) * sizeof *s->ops.at;
    struct rig_session_op *ops = held_bytes(s) + bytes > s->limit_bytes ? NULL : malloc(bytes);
    if (ops == NULL)
        return false;
    for (size_t i = 0; i < s->txns.count; i++)
        s->txns.at[i].first_op = 0;
    for (size_t i = 0; i < s->ops.count; i++)
        s->txns.at[s->owners.at[i]].first_op++;
    uint32_t next = 0;
    for (size_t i = 0; i < s->txns.count; i++) {
        const uint32_t count = s->txns.at[i].first_op;
        s->txns.at[i].first_op = next;
        next += count;
    }
    for (size_t i = 0; i < s->ops.count; i++)
        ops[s->txns.at[s->owners.at[i]].first_op++] = s->ops.at[i];
    for (size_t i = s->txns.count; i-- > 0;)
        s->txns.at[i].first_op = i == 0 ? 0 : s->txns.at[i - 1].first_op;
    free(s->ops.at);
    s->ops.at = ops;
    s->ops.capacity = s->ops.count + 1;
    return true;
}

static void find_zeros(struct rig_sessions *s)
{
    for (size_t txn = 0; txn + 1 < s->txns.count; txn++) {
        for (uint32_t op = s->txns.at[txn].first_op; op < s->txns.at[txn + 1].first_op; op++) {
            const struct rig_session_op *o = &s->ops.at[op];
            if (!o->is_read && o->value == 0 && s->txns.at[txn].outcome != RIG_OUTCOME_FAIL)
                s->keys.at[o->key].has_zero = true;
        }
    }
}

/* The result of a read once all writes are known. */
static void settle(const struct rig_sessions *s, struct rig_session_op *op, bool zero_is_initial)
{
    const struct rig_session_key *key = &s->keys.at[op->key];
    if (zero_is_initial && op->read_state == RIG_READ_SEEN && op->value == 0 && !key->has_zero)
        op->read_state = RIG_READ_NIL;
    if (op->read_state == RIG_READ_NIL && key->has_removal)
        op->read_state = RIG_READ_UNKNOWN;
    if (op->read_state != RIG_READ_SEEN)
        op->value = 0;
}

bool rig_sessions_finish(struct rig_sessions *sessions, bool zero_is_initial)
{
    struct rig_session_txns *txns = &sessions->txns;
    if (sessions->no_memory || (sessions->scattered && !group(sessions)) ||
        !may_add(sessions, txns->count, txns->capacity, sizeof *txns->at))
        return false;
    rig_session_owners_done(&sessions->owners);
    const struct rig_session_txn end = {.first_op = (uint32_t)sessions->ops.count};
    if (!rig_session_txns_add(txns, end))
        return false;
    find_zeros(sessions);
    struct rig_session_op *ops = sessions->ops.at;
    uint32_t kept = 0;
    for (size_t txn = 0; txn + 1 < txns->count; txn++) {
        uint32_t op = txns->at[txn].first_op;
        txns->at[txn].first_op = kept;
        for (; op < txns->at[txn + 1].first_op; op++) {
            if (ops[op].is_read)
                settle(sessions, &ops[op], zero_is_initial);
            if (!ops[op].is_read || ops[op].read_state != RIG_READ_UNKNOWN || txns->at[txn].outcome != RIG_OUTCOME_OK)
                ops[kept++] = ops[op];
        }
    }
    txns->at[txns->count - 1].first_op = kept;
    sessions->ops.count = kept;
    return true;
}

enum rig_workload rig_sessions_workload(void)
{
    return RIG_WORKLOAD_RW_REGISTER;
}

static bool give_key(const struct rig_session_key *key, struct rig_segment *segment)
{
    const struct rig_segment_key given = {
        .key = key->number, .text = key->text, .text_length = key->text == NULL ? 0 : key->text_length};
    return rig_segment_keys_add(&segment->keys, given);
}

static bool give_op(const struct rig_sessions *s, const struct rig_session_op *op, uint32_t *places,
                    struct rig_segment *segment)
{
    if (places[op->key] == UINT32_MAX) {
        places[op->key] = (uint32_t)segment->keys.count;
        if (!give_key(&s->keys.at[op->key], segment))
            return false;
    }
    const struct rig_txn_op given = {
        .key = places[op->key],
        .kind = op->is_read ? RIG_OP_READ_REGISTER : RIG_OP_WRITE,
        .read_state = op->read_state,
        .owner = (uint16_t)(segment->txns.count - 1),
        .value = op->value,
    };
    return rig_txn_op_vec_add(&segment->ops, given);
}

bool rig_sessions_give(const struct rig_sessions *sessions, uint32_t first, uint32_t end, uint32_t *places,
                       struct rig_segment *segment)
{
    const struct rig_session_txn *txns = sessions->txns.at;
    bool given = true;
    for (uint32_t txn = first; given && txn < end; txn++) {
        const struct rig_txn place = {
            .invoke_ns = RIG_NO_TIME,
            .complete_ns = RIG_NO_TIME,
            .invoke_at = RIG_POSITION_NONE,
            .complete_at = txn,
            .first_op = (uint32_t)segment->ops.count,
            .process = txns[txn].process,
            .outcome = txns[txn].outcome,
        };
        given = rig_txn_vec_add(&segment->txns, place);
        for (uint32_t op = txns[txn].first_op; given && op < txns[txn + 1].first_op; op++)
            given = give_op(sessions, &sessions->ops.at[op], places, segment);
    }
    for (uint32_t op = txns[first].first_op; op < txns[end].first_op; op++)
        places[sessions->ops.at[op].key] = UINT32_MAX;
    return given;
}

static int compare(const void *a, const void *b)
{
    const struct rig_session_seen *x = a;
    const struct rig_session_seen *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static enum rig_rc note_reads(struct rig_session_export *export, const char *name, struct rig_err *err)
{
    const struct rig_history *history = export->history;
    bool all_committed = true;
    for (uint32_t txn = 0; txn < history->txn_count; txn++)
        all_committed &= history->txns[txn].outcome == RIG_OUTCOME_OK;
    for (uint32_t txn = 0; !all_committed && txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; history->txns[txn].outcome == RIG_OUTCOME_OK && i < rig_txn_op_count(history, txn); i++) {
            const struct rig_session_seen seen = {.value = ops[i].value, .key = ops[i].key};
            if (rig_op_reads(ops[i].kind) && ops[i].read_state == RIG_READ_SEEN &&
                !rig_session_seens_add(&export->seen, seen))
                return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "writing the history", name);
        }
    }
    if (export->seen.count > 0)
        qsort(export->seen.at, export->seen.count, sizeof *export->seen.at, compare);
    return RIG_OK;
}

static enum rig_rc refuse_zero(const struct rig_history *history, const char *name, uint32_t number,
                               struct rig_err *err)
{
    char key[64];
    rig_history_key_text(history, number, key, sizeof key);
    return rig_fail(err, RIG_E_INPUT,
                    "%s: value 0 of key %s: this form writes the initial state, which was read too, as 0; --to jsonl "
                    "keeps it",
                    name, key);
}

/* 0 means the initial state. It may be a value as well, but not where the initial state was read. */
static enum rig_rc check_zeros(const struct rig_history *history, const char *name, struct rig_err *err)
{
    enum { INITIAL = 1, ZERO = 2 };
    uint8_t *uses = calloc((size_t)history->key_count + 1, 1);
    enum rig_rc rc =
        uses == NULL ? rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "writing the history", name) : RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (rig_op_reads(op->kind) && op->read_state == RIG_READ_NIL)
            uses[op->key] |= INITIAL;
        else if (rig_session_export_has(op) && op->value == 0)
            uses[op->key] |= ZERO;
        if (uses[op->key] == (INITIAL | ZERO))
            rc = refuse_zero(history, name, op->key, err);
    }
    free(uses);
    return rc;
}

static enum rig_rc check_sessions(const struct rig_history *history, const char *name, struct rig_err *err)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].process < 0)
            return rig_fail(err, RIG_E_INPUT, "%s: process %d: this form has sessions from 0 on; --to jsonl keeps it",
                            name, history->txns[txn].process);
    }
    return RIG_OK;
}

static bool has_negative_key(const struct rig_history *history)
{
    uint32_t key = 0;
    while (key < history->key_count && history->keys[key] >= 0)
        key++;
    return key < history->key_count;
}

enum rig_rc rig_session_export_init(struct rig_session_export *export, const struct rig_history *history, bool is_text,
                                    const char *name, struct rig_err *err)
{
    *export = (struct rig_session_export){.history = history};
    if (history->op_count > 0 && history->workload != rig_sessions_workload())
        return rig_fail(err, RIG_E_INPUT,
                        "%s: the history is of %s, and this form holds registers; --to jsonl keeps it", name,
                        rig_data_type_names[history->workload]);
    export->numbers_keys = history->key_texts != NULL || (is_text && has_negative_key(history));
    enum rig_rc rc = is_text ? check_sessions(history, name, err) : RIG_OK;
    if (rc == RIG_OK)
        rc = check_zeros(history, name, err);
    return rc == RIG_OK ? note_reads(export, name, err) : rc;
}

void rig_session_export_done(struct rig_session_export *export)
{
    rig_session_seens_done(&export->seen);
}

bool rig_session_export_observed(const struct rig_session_export *export, const struct rig_txn_op *op)
{
    const struct rig_session_seen wanted = {.value = op->value, .key = op->key};
    return !rig_op_reads(op->kind) && export->seen.count > 0 &&
           bsearch(&wanted, export->seen.at, export->seen.count, sizeof wanted, compare) != NULL;
}

enum rig_session_fate rig_session_export_fate(const struct rig_session_export *export, uint32_t txn)
{
    const struct rig_history *history = export->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    if (history->txns[txn].outcome == RIG_OUTCOME_OK)
        return RIG_SESSION_COMMITTED;
    if (history->txns[txn].outcome == RIG_OUTCOME_FAIL)
        return RIG_SESSION_ABORTED;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (rig_session_export_observed(export, &ops[i]))
            return RIG_SESSION_COMMITTED;
    }
    return RIG_SESSION_LEFT_OUT;
}

int64_t rig_session_export_key(const struct rig_session_export *export, uint32_t key)
{
    return export->numbers_keys ? (int64_t)key : export->history->keys[key];
}
