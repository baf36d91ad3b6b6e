/* Objects: each operation is possible in the state that those before it in the order leave (replay_objects.h). */
#include "checker/prove/replay_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/prove/object_initial.h"
#include "checker/prove/replay_private.h"
#include "history/model/value_texts.h"
#include "history/types/object_specification.h"

bool rig_replay_object_nil(enum rig_workload workload, int64_t *nil)
{
    *nil = 0;
    return workload != RIG_WORKLOAD_CAS_REGISTER || rig_value_number("nil", 3, nil);
}

bool rig_replay_object_has_row(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_QUEUE || workload == RIG_WORKLOAD_STACK;
}

void rig_replay_object_init(struct rig_replay_object *state, int64_t value)
{
    *state = (struct rig_replay_object){.value = value};
    rig_buf_init(&state->text, 0);
}

void rig_replay_object_done(struct rig_replay_object *state)
{
    rig_replay_row_done(&state->row);
    rig_buf_done(&state->text);
}

bool rig_replay_object_is_drain(const struct rig_history *history, uint32_t txn)
{
    RIG_REQUIRE(txn < history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const uint32_t count = rig_txn_op_count(history, txn);
    for (uint32_t i = 0; i < count; i++) {
        if (!rig_replay_object_takes(&ops[i]))
            return false;
    }
    return count > 1;
}

bool rig_replay_object_is_open_drain(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    return history->txns[txn].outcome == RIG_OUTCOME_INFO && rig_txn_op_count(history, txn) == 2 &&
           rig_replay_object_is_drain(history, txn) && ops[0].read_state == RIG_READ_UNKNOWN &&
           ops[1].read_state == RIG_READ_UNKNOWN;
}

static bool use_value(struct rig_replay_object *state, int64_t nil, const struct rig_txn_op *op)
{
    RIG_REQUIRE(!rig_replay_object_takes(op));
    const int64_t value = op->read_state == RIG_READ_NIL ? nil : op->value;
    if (op->kind == RIG_OP_WRITE)
        state->value = value;
    else if (op->kind == RIG_OP_EXPECT || op->read_state != RIG_READ_UNKNOWN)
        return state->value == value;
    return true;
}

/* A text stands in quotes where it is a string; nil is the empty one. A text that begins with a NUL is one that no read
 * shows before the next put: a search may begin with it. */
static bool use_text(struct rig_replay_object *state, const struct rig_txn_op *op)
{
    struct rig_value_digits digits;
    const char *text = op->read_state == RIG_READ_NIL ? "" : rig_value_show(op->value, &digits);
    size_t size = strlen(text);
    if (size >= 2 && text[0] == '"') {
        text++;
        size -= 2;
    }
    if (op->kind == RIG_OP_READ_REGISTER && op->read_state == RIG_READ_UNKNOWN)
        return true;
    if (op->kind != RIG_OP_WRITE && state->text.size > 0 && rig_buf_text(&state->text)[0] == '\0')
        return op->kind != RIG_OP_READ_REGISTER;
    if (op->kind == RIG_OP_READ_REGISTER)
        return state->text.size == size && memcmp(rig_buf_text(&state->text), text, size) == 0;
    if (op->kind == RIG_OP_WRITE)
        rig_buf_clear(&state->text);
    rig_buf_add(&state->text, text, size);
    state->no_memory |= state->text.failed;
    return true;
}

/* Whether a take is possible: of the first value of a queue, of the last one of a stack, or of none. */
static bool replay_object_can_take(const struct rig_replay_object *state, const struct rig_txn_op *op)
{
    RIG_REQUIRE(rig_replay_object_takes(op) && state->from <= state->row.count);
    const bool empty = state->from == state->row.count;
    if (op->read_state != RIG_READ_SEEN)
        return op->read_state == RIG_READ_UNKNOWN || empty;
    return !empty &&
           op->value == (op->kind == RIG_OP_DEQUEUE ? state->row.at[state->from] : state->row.at[state->row.count - 1]);
}

static bool take(struct rig_replay_object *state, const struct rig_txn_op *op)
{
    if (!replay_object_can_take(state, op))
        return false;
    if (state->from < state->row.count && op->kind == RIG_OP_DEQUEUE)
        state->from++;
    else if (state->from < state->row.count)
        state->row.count--;
    RIG_INVARIANT(state->from <= state->row.count);
    return true;
}

/* ---- locks with owners ---- */

bool rig_replay_object_has_owners(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_LOCK;
}

/*
 * The row has the limit, owner and lease of the acquisition that is at hand; the largest token that was given,
 * the largest one that was worked under, the token that the owner has and keeps; and the latest end of a lease after
 * which a lock was taken away. Then the holds: owner, number, and the end of the lease (0: none, LEASE_OVER: it is
 * over). A row of zeros alone is empty.
 */
struct held {
    int64_t limit, owner, lease, given, worked, kept, since;
};

enum { HELD = sizeof(struct held) / sizeof(int64_t), EACH = 3, LEASE_OVER = -1 };

static struct held held_of(const struct rig_replay_object *state)
{
    struct held held = {0};
    if (state->row.count > 0)
        memcpy(&held, state->row.at, sizeof held);
    return held;
}

static bool keep_held(struct rig_replay_object *state, const struct held *held)
{
    static const struct held zero = {0};
    for (size_t i = state->row.count; i < HELD; i++)
        state->no_memory |= !rig_replay_row_add(&state->row, 0);
    if (!state->no_memory)
        memcpy(state->row.at, held, sizeof *held);
    if (memcmp(held, &zero, sizeof zero) == 0 && state->row.count == HELD)
        state->row.count = 0;
    return true;
}

static size_t hold_of(const struct rig_replay_object *state, int64_t owner)
{
    size_t at = HELD;
    while (at < state->row.count && state->row.at[at] != owner)
        at += EACH;
    return at;
}

static void drop_hold(struct rig_replay_object *state, size_t at)
{
    RIG_REQUIRE(at + EACH <= state->row.count);
    memmove(&state->row.at[at], &state->row.at[at + EACH], (state->row.count - at - EACH) * sizeof state->row.at[0]);
    state->row.count -= EACH;
}

/* In ascending order of the owners. */
static void put_hold(struct rig_replay_object *state, int64_t owner, int64_t lease)
{
    size_t at = hold_of(state, owner);
    if (at < state->row.count) {
        state->row.at[at + 1]++;
        state->row.at[at + 2] = lease;
        return;
    }
    for (size_t i = 0; i < EACH; i++)
        state->no_memory |= !rig_replay_row_add(&state->row, 0);
    if (state->no_memory)
        return;
    while (at > HELD && state->row.at[at - EACH] > owner) {
        memmove(&state->row.at[at], &state->row.at[at - EACH], EACH * sizeof state->row.at[0]);
        at -= EACH;
    }
    state->row.at[at] = owner;
    state->row.at[at + 1] = 1;
    state->row.at[at + 2] = lease;
}

static bool end_hold(struct rig_replay_object *state, int64_t owner)
{
    struct held held = held_of(state);
    const size_t at = hold_of(state, owner);
    if (at >= state->row.count)
        return false;
    if (--state->row.at[at + 1] == 0)
        drop_hold(state, at);
    held.kept = state->row.count == HELD ? 0 : held.kept;
    return keep_held(state, &held);
}

/* The holds whose leases may be over before the operation ends give their permits back. */
static void end_leases(struct rig_replay_object *state, struct held *held)
{
    for (size_t at = HELD; at < state->row.count;) {
        const int64_t end = state->row.at[at + 2];
        if (end == 0 || (end != LEASE_OVER && end > state->end_ns)) {
            at += EACH;
            continue;
        }
        held->since = end > held->since ? end : held->since;
        drop_hold(state, at);
    }
}

static int64_t count_holds(const struct rig_replay_object *state)
{
    int64_t all = 0;
    for (size_t at = HELD; at < state->row.count; at += EACH)
        all += state->row.at[at + 1];
    return all;
}

/* The end of an acquisition. One that an owner repeats keeps its token. */
static bool give_token(struct rig_replay_object *state, const struct rig_txn_op *op)
{
    struct held held = held_of(state);
    const bool one_owner = held.limit < 0, has_token = op->read_state == RIG_READ_SEEN;
    const int64_t most = one_owner ? -held.limit : held.limit, owner = held.owner, lease = held.lease;
    if (!one_owner && count_holds(state) >= most)
        end_leases(state, &held);
    const bool repeats = one_owner && state->row.count > HELD;
    if (count_holds(state) >= most || (repeats && state->row.at[HELD] != owner))
        return false;
    if (repeats && has_token && held.kept != 0 && op->value != held.kept)
        return false;
    held.limit = held.owner = held.lease = 0;
    if (!repeats || (has_token && held.kept == 0)) {
        if (has_token && op->value <= held.given)
            return false;
        held.given = has_token ? op->value : held.given;
        held.kept = has_token && one_owner ? op->value : 0;
    }
    put_hold(state, owner, lease);
    return keep_held(state, &held);
}

/* When the lease of an acquisition ends, at the earliest. */
static int64_t end_of_lease(const struct rig_replay_object *state, int64_t length_ns)
{
    return state->in_time && state->begin_ns != RIG_NO_TIME && length_ns < INT64_MAX - state->begin_ns
               ? state->begin_ns + length_ns
               : LEASE_OVER;
}

static bool use_lock(struct rig_replay_object *state, const struct rig_txn_op *op)
{
    struct held held = held_of(state);
    RIG_REQUIRE(state->from == 0 && (state->row.count == 0 || state->row.count >= HELD));
    if (held.since > state->end_ns)
        return false; /* the operation ended before a lease that was over before it */
    if (op->kind == RIG_OP_FREE)
        return end_hold(state, op->value);
    if (op->kind == RIG_OP_TOKEN && held.limit != 0)
        return give_token(state, op);
    if (op->kind == RIG_OP_HOLD) {
        held.limit = 1;
        held.owner = op->value;
    } else if (op->kind == RIG_OP_LIMIT) {
        held.limit = op->value;
    } else if (op->kind == RIG_OP_LEASE) {
        held.lease = end_of_lease(state, op->value);
    } else if (op->read_state == RIG_READ_SEEN) {
        if (op->value < held.worked)
            return false; /* work after work under a larger token */
        held.worked = op->value;
    }
    return keep_held(state, &held);
}

void rig_replay_object_time(struct rig_replay_object *state, const struct rig_txn *txn, bool in_time)
{
    state->in_time = in_time;
    state->begin_ns = txn->invoke_ns;
    state->end_ns =
        in_time && txn->outcome == RIG_OUTCOME_OK && txn->complete_ns != RIG_NO_TIME ? txn->complete_ns : INT64_MAX;
}

bool rig_replay_object_apply(struct rig_replay_object *state, enum rig_workload workload, int64_t nil,
                             const struct rig_txn_op *op)
{
    if (rig_replay_object_has_owners(workload))
        return use_lock(state, op);
    if (rig_replay_object_takes(op))
        return take(state, op);
    if (op->kind == RIG_OP_ENQUEUE || op->kind == RIG_OP_PUSH) {
        state->no_memory |= !rig_replay_row_add(&state->row, op->value);
        return true;
    }
    return workload == RIG_WORKLOAD_APPEND_REGISTER ? use_text(state, op) : use_value(state, nil, op);
}

/* ---- models ---- */

bool rig_replay_object_has_calls(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_MODEL;
}

bool rig_replay_object_call(struct rig_replay_object *state, const struct rig_history *history,
                            const struct rig_txn_op *ops, uint32_t count)
{
    struct rig_model_numbers after = {0};
    if (history->specification == NULL || rig_specification_called(history->specification, ops, count) == NULL)
        return false;
    const enum rig_model_answer answer =
        rig_specification_step(history->specification, ops, count, state->row.at, state->row.count, &after);
    state->no_memory |= answer == RIG_MODEL_NO_ROOM;
    if (answer == RIG_MODEL_POSSIBLE) {
        state->row.count = 0;
        for (size_t i = 0; i < after.count; i++)
            state->no_memory |= !rig_replay_row_add(&state->row, after.at[i]);
    }
    rig_model_numbers_done(&after);
    return answer == RIG_MODEL_POSSIBLE;
}

struct objects {
    struct rig_replay *r;
    struct rig_replay_object *at; /* per key */
    uint8_t *used;                /* per operation: it took effect */
    int64_t nil;
};

/* The take of a drain that is possible now, one of a known value before one of an unknown one. */
static bool take_one_of(struct objects *o, uint32_t txn)
{
    RIG_REQUIRE(rig_replay_object_is_drain(o->r->history, txn));
    const struct rig_history *history = o->r->history;
    uint32_t chosen = RIG_FACT_NONE;
    if (rig_replay_object_is_open_drain(history, txn))
        return rig_replay_object_apply(&o->at[rig_txn_ops(history, txn)->key], history->workload, o->nil,
                                       rig_txn_ops(history, txn));
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        const struct rig_txn_op *at = &history->ops[op];
        if (!o->used[op] && replay_object_can_take(&o->at[at->key], at) &&
            (chosen == RIG_FACT_NONE || history->ops[chosen].read_state == RIG_READ_UNKNOWN))
            chosen = op;
    }
    if (chosen == RIG_FACT_NONE)
        return false;
    RIG_INVARIANT(!o->used[chosen]);
    o->used[chosen] = 1;
    return rig_replay_object_apply(&o->at[history->ops[chosen].key], history->workload, o->nil, &history->ops[chosen]);
}

static bool execute(struct objects *o, uint32_t txn)
{
    const struct rig_history *history = o->r->history;
    if (rig_replay_object_is_drain(history, txn))
        return take_one_of(o, txn);
    rig_replay_object_time(&o->at[rig_txn_ops(history, txn)->key], &history->txns[txn], o->r->in_time);
    if (rig_replay_object_has_calls(history->workload))
        return rig_replay_object_call(&o->at[rig_txn_ops(history, txn)->key], history, rig_txn_ops(history, txn),
                                      rig_txn_op_count(history, txn));
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        const struct rig_txn_op *at = &history->ops[op];
        if (!rig_replay_object_apply(&o->at[at->key], history->workload, o->nil, at))
            return false;
    }
    return true;
}

static enum rig_rc execute_all(struct objects *o)
{
    struct rig_replay *r = o->r;
    for (size_t e = 0; e < r->count; e++) {
        const uint32_t txn = r->events[e];
        if (!execute(o, txn))
            return rig_fail(r->err, RIG_E_INPUT, "T%u is not possible at its place in the order",
                            rig_txn_name(r->history, txn));
        RIG_INVARIANT(rig_txn_op_count(r->history, txn) > 0);
        if (o->at[r->history->ops[r->history->txns[txn].first_op].key].no_memory)
            return rig_no_memory(r->err, "the replay");
    }
    return RIG_OK;
}

/* Each acknowledged operation stands in the order, those of a drain one by one, and no failed one does. */
static enum rig_rc place_all(const struct rig_replay *r)
{
    const struct rig_history *history = r->history;
    for (size_t e = 0; e < r->count; e++)
        r->times[r->events[e]]++;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const unsigned outcome = history->txns[txn].outcome, name = rig_txn_name(history, txn);
        const uint32_t count = rig_txn_op_count(history, txn),
                       most = rig_replay_object_is_drain(history, txn) ? count : 1;
        for (uint32_t i = 1; i < count; i++) {
            if (rig_txn_ops(history, txn)[i].key != rig_txn_ops(history, txn)[0].key)
                return rig_fail(r->err, RIG_E_INPUT, "T%u is about several objects", name);
        }
        if (r->times[txn] > 0 && (count == 0 || outcome == RIG_OUTCOME_FAIL))
            return rig_fail(r->err, RIG_E_INPUT, "T%u did nothing and stands in the order", name);
        if ((r->times[txn] > most && !rig_replay_object_is_open_drain(history, txn)) ||
            (outcome == RIG_OUTCOME_OK && count > 0 && r->times[txn] < most))
            return rig_fail(r->err, RIG_E_INPUT, "T%u stands %u times in the order instead of %u", name, r->times[txn],
                            most);
    }
    return RIG_OK;
}

enum rig_rc rig_replay_objects(struct rig_replay *r)
{
    RIG_REQUIRE(r->facts->form == RIG_FACTS_OBJECTS && r->kind == RIG_ORDER_SERIAL);
    struct objects o = {.r = r,
                        .at = calloc((size_t)r->history->key_count + 1, sizeof *o.at),
                        .used = calloc((size_t)r->history->op_count + 1, 1)};
    int64_t *begins = malloc(((size_t)r->history->key_count + 1) * sizeof *begins);
    enum rig_rc rc =
        o.at != NULL && o.used != NULL && begins != NULL ? place_all(r) : rig_no_memory(r->err, "the replay");
    if (rc == RIG_OK && (!rig_replay_object_nil(r->history->workload, &o.nil) ||
                         !rig_object_initial_find(r->history, rig_facts_initial(r->facts), begins)))
        rc = rig_no_memory(r->err, "the replay");
    for (uint32_t key = 0; rc == RIG_OK && key < r->history->key_count; key++)
        rig_replay_object_init(&o.at[key], begins[key]);
    if (rc == RIG_OK)
        rc = execute_all(&o);
    for (uint32_t key = 0; o.at != NULL && key < r->history->key_count; key++)
        rig_replay_object_done(&o.at[key]);
    free(o.at);
    free(o.used);
    free(begins);
    return rc;
}
