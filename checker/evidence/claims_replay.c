#include "checker/evidence/claims_private.h"

#include "base/bug.h"
#include "base/vec.h"
#include "history/types/types.h"

RIG_VEC(int64_t, state_elements)

/* A key at the present place. */
struct state {
    struct state_elements list; /* a register has one element, or none */
    uint32_t common;            /* elements that it shares with the spine */
    uint32_t last_txn;          /* of its last version */
    int64_t last_place;         /* the place of `last_txn`; RIG_NO_PLACE: there is none */
};

struct replay {
    struct rig_claiming *c;
    struct state *states;
    bool is_list;
};

/* ---- what a read should show ---- */

/* The transaction's writes to the key before operation `op`. */
static uint32_t count_own(const struct replay *r, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(op < rig_txn_op_count(r->c->history, txn));
    const struct rig_txn_op *ops = rig_txn_ops(r->c->history, txn);
    uint32_t count = 0;
    for (uint32_t i = 0; i < op; i++)
        count += ops[i].key == ops[op].key && !rig_op_reads(ops[i].kind);
    return count;
}

/* Whether a commit at `place` may be outside the snapshot at `start`, and inside, where timestamps are equal. */
static bool is_open(const struct replay *r, int64_t place, int64_t start)
{
    return !r->c->into->is_order && place == start;
}

/* The read shows a value that the state does not have. */
static void note_shown(struct replay *r, uint32_t txn, uint32_t op, int64_t value)
{
    struct rig_claiming *c = r->c;
    const uint32_t writer = rig_claim_writer(c, rig_txn_ops(c->history, txn)[op].key, value);
    if (writer == UINT32_MAX || writer == txn || !c->places[writer].may_commit ||
        is_open(r, c->places[writer].commit, c->places[txn].start))
        return; /* another anomaly, whatever the order is */
    if (c->into->is_order)
        rig_claim_note(c, RIG_CLAIM_ORDER_MISMATCH, txn, op, writer, value);
    else if (c->places[writer].commit > c->places[txn].start)
        rig_claim_note(c, RIG_CLAIM_G_SIA, txn, op, writer, value);
}

/* The read does not show a value that the state has. */
static void note_missed(struct replay *r, uint32_t txn, uint32_t op, int64_t value)
{
    struct rig_claiming *c = r->c;
    const uint32_t writer = rig_claim_writer(c, rig_txn_ops(c->history, txn)[op].key, value);
    if (writer == UINT32_MAX || writer == txn || is_open(r, c->places[writer].commit, c->places[txn].start))
        return;
    rig_claim_note(c, c->into->is_order ? RIG_CLAIM_ORDER_MISMATCH : RIG_CLAIM_G_SIB, txn, op, writer, value);
}

static void compare_list(struct replay *r, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *read = rig_txn_ops(r->c->history, txn) + op;
    const struct rig_read_list list = rig_txn_op_list(r->c->history, read);
    const struct state *state = &r->states[read->key];
    const uint32_t own = count_own(r, txn, op);
    if (own > list.count)
        return; /* it does not show its own writes: internal */
    const uint32_t count = list.count - own, most = count < state->list.count ? count : (uint32_t)state->list.count;
    uint32_t same = list.shared < state->common ? list.shared : state->common;
    same = same < most ? same : most;
    RIG_INVARIANT(same <= most && state->common <= state->list.count);
    while (same < most && rig_read_element(&list, same) == state->list.at[same])
        same++;
    if (same < count && same < state->list.count) {
        const uint32_t writer = rig_claim_writer(r->c, read->key, state->list.at[same]);
        if (!is_open(r, state->last_place, r->c->places[txn].start))
            rig_claim_note(r->c, RIG_CLAIM_ORDER_MISMATCH, txn, op, writer, state->list.at[same]);
    } else if (same < count) {
        note_shown(r, txn, op, rig_read_element(&list, same));
    } else if (same < state->list.count) {
        note_missed(r, txn, op, state->list.at[same]);
    }
}

static void compare_register(struct replay *r, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(!r->is_list);
    struct rig_claiming *c = r->c;
    const struct rig_txn_op *read = rig_txn_ops(c->history, txn) + op;
    const struct state *state = &r->states[read->key];
    const bool is_set = state->list.count > 0, seen = read->read_state == RIG_READ_SEEN;
    if (count_own(r, txn, op) > 0 || (seen ? is_set && state->list.at[0] == read->value : !is_set))
        return;
    const uint32_t writer = seen ? rig_claim_writer(c, read->key, read->value) : UINT32_MAX;
    if (!seen || (writer != UINT32_MAX && c->places[writer].may_commit && is_set && writer != state->last_txn &&
                  c->places[writer].commit < state->last_place))
        note_missed(r, txn, op, state->list.at[0]);
    else
        note_shown(r, txn, op, read->value);
}

static void compare_reads(struct replay *r, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(r->c->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(r->c->history, txn); i++) {
        if (!rig_op_reads(ops[i].kind) || ops[i].read_state == RIG_READ_UNKNOWN || r->c->excluded[ops[i].key])
            continue;
        r->c->into->read_count++;
        if (r->is_list)
            compare_list(r, txn, i);
        else
            compare_register(r, txn, i);
    }
}

/* ---- writes ---- */

/* A new version of the key: another transaction's version before it must not be later than the start. */
static void compare_versions(struct replay *r, uint32_t txn, uint32_t op, int64_t place)
{
    RIG_REQUIRE(place != RIG_NO_PLACE);
    struct rig_claiming *c = r->c;
    const uint32_t key = rig_txn_ops(c->history, txn)[op].key;
    const struct state *state = &r->states[key];
    const int64_t start = c->places[txn].start;
    if (state->last_place == RIG_NO_PLACE || state->last_txn == txn)
        return;
    RIG_INVARIANT(state->list.count > 0 && state->last_txn < c->history->txn_count);
    if (state->last_place == place)
        c->excluded[key] = 1; /* the order of two versions is not claimed */
    else if (!c->into->is_order && start != RIG_NO_PLACE && state->last_place > start)
        rig_claim_note(c, RIG_CLAIM_G_SIA, txn, op, state->last_txn, state->list.at[state->list.count - 1]);
}

static bool write_all(struct replay *r, uint32_t txn, int64_t place)
{
    const struct rig_history *history = r->c->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        struct state *state = &r->states[ops[i].key];
        if (rig_op_reads(ops[i].kind) || r->c->excluded[ops[i].key])
            continue;
        compare_versions(r, txn, i, place);
        state->list.count = r->is_list ? state->list.count : 0;
        if (state->list.count >= UINT32_MAX || !state_elements_add(&state->list, ops[i].value))
            return false;
        const struct rig_list *spine = &history->spines[ops[i].key];
        if (r->is_list && state->common + 1 == state->list.count && state->common < spine->count &&
            spine->at[state->common] == ops[i].value)
            state->common++;
        state->last_txn = txn;
        state->last_place = place;
    }
    return true;
}

bool rig_claims_replay(struct rig_claiming *c)
{
    struct replay r = {.c = c, .is_list = rig_workload_has_sequences(c->history->workload)};
    bool done = true;
    r.states = rig_arena_array(c->scratch, (size_t)c->history->key_count + 1, sizeof *r.states);
    if (r.states == NULL)
        return false;
    for (uint32_t key = 0; key < c->history->key_count; key++)
        r.states[key].last_place = RIG_NO_PLACE;
    for (size_t i = 0; done && i < c->event_count; i++) {
        const struct rig_claim_event *event = &c->events[i];
        RIG_INVARIANT(i == 0 || c->events[i - 1].place <= event->place);
        if (event->turn == RIG_TURN_WRITES)
            done = write_all(&r, event->txn, event->place);
        else
            compare_reads(&r, event->txn);
    }
    for (uint32_t key = 0; key < c->history->key_count; key++)
        state_elements_done(&r.states[key].list);
    return done && !c->failed;
}
