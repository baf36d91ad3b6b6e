#include "checker/objects/object_locks.h"

#include <string.h>

#include "base/table.h"

/*
 * A lock as numbers. First the limit, the owner and the end of the lease of the acquisition at hand. Then the
 * largest token that was given, the largest one under which work was done, and the token that the present owner keeps
 * (0: none, or not known). Then the holds in the order of their owners: owner, how often it holds the lock, and when
 * its lease ends (0: it has none). A lock that was never used is empty.
 */
enum { LIMIT, OWNER, LEASE, GIVEN, WORKED, KEPT, HOLDS };
enum { HOLD_OWNER, HOLD_COUNT, HOLD_LEASE, HOLD_SIZE };

static int64_t get(const struct rig_buf *state, size_t at)
{
    int64_t value = 0;
    if ((at + 1) * sizeof value <= state->size)
        memcpy(&value, rig_buf_text(state) + at * sizeof value, sizeof value);
    return value;
}

static size_t count_of(const struct rig_buf *state)
{
    return state->size / sizeof(int64_t);
}

static void set(struct rig_buf *state, size_t at, int64_t value)
{
    static const int64_t zero = 0;
    while (count_of(state) <= at && !state->failed)
        rig_buf_add(state, (const char *)&zero, sizeof zero);
    if (!state->failed)
        memcpy(state->data + at * sizeof value, &value, sizeof value);
}

/* The place of the owner's hold, or the one that it would have. */
static size_t place_of(const struct rig_buf *state, int64_t owner)
{
    size_t at = HOLDS;
    while (at < count_of(state) && get(state, at + HOLD_OWNER) < owner)
        at += HOLD_SIZE;
    return at;
}

static bool has_hold(const struct rig_buf *state, size_t at, int64_t owner)
{
    return at < count_of(state) && get(state, at + HOLD_OWNER) == owner;
}

/* A new hold, or one hold more of the same owner. */
static void add_hold(struct rig_buf *state, size_t at, int64_t owner)
{
    const size_t end = count_of(state);
    if (!has_hold(state, at, owner)) {
        set(state, end + HOLD_SIZE - 1, 0);
        if (state->failed)
            return;
        memmove(state->data + (at + HOLD_SIZE) * sizeof(int64_t), state->data + at * sizeof(int64_t),
                (end - at) * sizeof(int64_t));
        set(state, at + HOLD_OWNER, owner);
        set(state, at + HOLD_COUNT, 0);
    }
    set(state, at + HOLD_COUNT, get(state, at + HOLD_COUNT) + 1);
    set(state, at + HOLD_LEASE, get(state, LEASE));
}

static void remove_hold(struct rig_buf *state, size_t at)
{
    const size_t end = count_of(state);
    memmove(state->data + at * sizeof(int64_t), state->data + (at + HOLD_SIZE) * sizeof(int64_t),
            (end - at - HOLD_SIZE) * sizeof(int64_t));
    state->size -= HOLD_SIZE * sizeof(int64_t);
}

/* Equal locks are equal bytes. */
static void trim(struct rig_buf *state)
{
    bool unused = count_of(state) == HOLDS;
    for (size_t at = 0; at < HOLDS; at++)
        unused &= get(state, at) == 0;
    if (unused)
        rig_buf_clear(state);
}

static bool release(struct rig_buf *state, int64_t owner)
{
    const size_t at = place_of(state, owner);
    if (!has_hold(state, at, owner))
        return false;
    set(state, at + HOLD_COUNT, get(state, at + HOLD_COUNT) - 1);
    if (get(state, at + HOLD_COUNT) == 0)
        remove_hold(state, at);
    if (count_of(state) == HOLDS)
        set(state, KEPT, 0);
    trim(state);
    return true;
}

static int64_t count_holds(const struct rig_buf *state)
{
    int64_t holds = 0;
    for (size_t at = HOLDS; at < count_of(state); at += HOLD_SIZE)
        holds += get(state, at + HOLD_COUNT);
    return holds;
}

/* Whether the lock has a permit for the owner. One whose lease is over gives its permit back. */
static bool has_permit(struct rig_buf *state, int64_t limit, int64_t owner)
{
    if (limit >= 0 && count_holds(state) >= limit) {
        for (size_t at = count_of(state); at > HOLDS; at -= HOLD_SIZE) {
            if (get(state, at - HOLD_SIZE + HOLD_LEASE) == RIG_LOCK_LEASE_OVER)
                remove_hold(state, at - HOLD_SIZE);
        }
    }
    const int64_t holds = count_holds(state);
    const bool has_other = count_of(state) > HOLDS + HOLD_SIZE ||
                           (count_of(state) == HOLDS + HOLD_SIZE && get(state, HOLDS + HOLD_OWNER) != owner);
    return limit < 0 ? !has_other && holds < -limit : holds < limit;
}

/* The end of an acquisition. */
static bool acquire(const struct rig_txn_op *op, struct rig_buf *state)
{
    const int64_t limit = get(state, LIMIT), owner = get(state, OWNER), kept = get(state, KEPT);
    if (!has_permit(state, limit, owner))
        return false;
    const bool again = limit < 0 && count_of(state) > HOLDS, has_token = op->read_state == RIG_READ_SEEN;
    add_hold(state, place_of(state, owner), owner);
    set(state, LIMIT, 0);
    set(state, OWNER, 0);
    set(state, LEASE, 0);
    if (again && (!has_token || kept != 0))
        return !has_token || op->value == kept;
    set(state, KEPT, has_token && limit < 0 ? op->value : 0); /* only an owner that acquires again needs it */
    if (!has_token)
        return true;
    if (op->value <= get(state, GIVEN))
        return false;
    set(state, GIVEN, op->value);
    return true;
}

/* Work under a token. */
static bool use(const struct rig_txn_op *op, struct rig_buf *state)
{
    if (op->read_state != RIG_READ_SEEN)
        return true;
    if (op->value < get(state, WORKED))
        return false;
    set(state, WORKED, op->value);
    set(state, KEPT, get(state, KEPT));
    return true;
}

bool rig_object_lock_apply(const struct rig_txn_op *op, struct rig_buf *state)
{
    switch ((int)op->kind) {
    case RIG_OP_HOLD:
        set(state, LIMIT, 1);
        set(state, OWNER, op->value);
        set(state, LEASE, 0);
        set(state, KEPT, get(state, KEPT));
        return true;
    case RIG_OP_LIMIT:
        set(state, LIMIT, op->value);
        return true;
    case RIG_OP_LEASE:
        set(state, LEASE, op->value);
        return true;
    case RIG_OP_TOKEN:
        return get(state, LIMIT) == 0 ? use(op, state) : acquire(op, state);
    case RIG_OP_FREE:
        return release(state, op->value);
    default:
        return true;
    }
}

bool rig_object_lock_age(struct rig_buf *state, int64_t now_ns)
{
    bool aged = false;
    for (size_t at = HOLDS; at < count_of(state); at += HOLD_SIZE) {
        const int64_t end = get(state, at + HOLD_LEASE);
        if (end == 0 || end == RIG_LOCK_LEASE_OVER || end > now_ns)
            continue;
        set(state, at + HOLD_LEASE, RIG_LOCK_LEASE_OVER);
        aged = true;
    }
    return aged;
}

/* The last end of a release by each owner. */
static bool note_releases(const struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                          struct rig_table *last_end)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_txn_op *op = model->classes.at[ops[i].class].ops;
        if (op->kind != RIG_OP_FREE || ops[i].end == RIG_POSITION_NONE)
            continue;
        uint32_t *last = rig_table_put(last_end, (uint64_t)op->value);
        if (last == NULL)
            return false;
        *last = *last == RIG_TABLE_NONE || *last < ops[i].end ? ops[i].end : *last;
    }
    return true;
}

bool rig_object_lock_needed(const struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                            uint8_t *needed)
{
    struct rig_table last_end;
    rig_table_init(&last_end);
    const bool fits = note_releases(model, ops, count, &last_end);
    for (uint32_t i = 0; fits && i < count; i++) {
        const struct rig_txn_op *op = model->classes.at[ops[i].class].ops;
        const bool may_keep_out = op->kind == RIG_OP_HOLD && ops[i].end == RIG_POSITION_NONE;
        const uint32_t last = may_keep_out ? rig_table_get(&last_end, (uint64_t)op->value) : 0;
        needed[i] |= !may_keep_out || (last != RIG_TABLE_NONE && last > ops[i].invoke);
    }
    rig_table_done(&last_end);
    return fits;
}
