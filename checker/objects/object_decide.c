#include "checker/objects/object_decide.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/model/object_words.h"
#include "checker/objects/object_key.h"

/* Witnesses of objects that are not linearizable. */

enum { MOST_OPEN = 15, MOST_STATES = 8 };

static void add_txn(struct rig_witness *witness, uint32_t txn)
{
    RIG_REQUIRE(witness->txn_count <= MOST_OPEN + 1);
    bool fits = witness->txn_count <= MOST_OPEN;
    for (uint32_t i = 0; fits && i < witness->txn_count; i++)
        fits = witness->txns[i] != txn;
    if (fits)
        witness->txns[witness->txn_count++] = txn;
}

/* The transactions of open operations: those that completed, then the others, last those that nothing needs. */
static void choose_open(const struct rig_object_key *key, const struct rig_object_decided *decided,
                        struct rig_witness *witness)
{
    const struct rig_object_result *result = &decided->result;
    const uint32_t end = decided->ops[result->blocked].end;
    for (unsigned unknown = 0; unknown < 2; unknown++) {
        for (size_t i = 0; i < result->open.count; i++) {
            const struct rig_object_op *op = &decided->ops[result->open.at[i]];
            if ((op->end == RIG_POSITION_NONE) == (unknown != 0))
                add_txn(witness, op->txn);
        }
    }
    for (uint32_t i = 0, listed = 0; i < key->count && key->ops[i].invoke < end; i++) {
        const bool is_listed = listed < decided->needed.count && decided->needed.at[listed].txn == key->ops[i].txn;
        listed += is_listed;
        if (is_listed || key->ops[i].end != RIG_POSITION_NONE)
            continue;
        witness->blocked->open_count++;
        add_txn(witness, key->ops[i].txn);
    }
}

static char *state_words(const struct rig_object_model *model, uint32_t state, struct rig_arena *arena)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_object_state_text(model, state, &text);
    char *words = text.failed ? NULL : rig_arena_text(arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    return words;
}

static bool add_states(const struct rig_object_key *key, const struct rig_object_result *result,
                       struct rig_arena *arena, struct rig_blocked *blocked)
{
    blocked->states = rig_arena_array(arena, MOST_STATES, sizeof *blocked->states);
    blocked->state_count = (uint32_t)result->states.count;
    for (uint32_t i = 0; blocked->states != NULL && i < blocked->state_count && i < MOST_STATES; i++) {
        blocked->states[i] = state_words(key->model, result->states.at[i], arena);
        if (blocked->states[i] == NULL)
            return false;
        blocked->state_shown = i + 1;
    }
    return blocked->states != NULL;
}

/* The configurations of the past, each with the operations that all of them have. False when memory runs out. */
static bool add_past(const struct rig_object_past_key *past, const struct rig_object_order *spent,
                     struct rig_arena *arena, struct rig_blocked *blocked)
{
    const uint32_t count = (uint32_t)past->sizes.count, spent_count = (uint32_t)spent->count;
    struct rig_blocked_from *from = rig_arena_array(arena, 1, sizeof *from);
    uint32_t *sizes = rig_arena_array(arena, (size_t)count + 1, sizeof *sizes);
    uint32_t *first = rig_arena_array(arena, (size_t)count + 1, sizeof *first);
    uint32_t *used = rig_arena_array(arena, past->used.count + (size_t)count * spent_count + 1, sizeof *used);
    char *states = rig_arena_text(arena, past->states, past->state_bytes);
    if (from == NULL || sizes == NULL || first == NULL || used == NULL || states == NULL)
        return false;
    uint32_t filled = 0;
    RIG_INVARIANT(past->first.count == (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = past->sizes.at[i];
        first[i] = filled;
        for (uint32_t at = past->first.at[i]; at < past->first.at[i + 1]; at++)
            used[filled++] = past->used.at[at];
        for (uint32_t at = 0; at < spent_count; at++)
            used[filled++] = spent->at[at];
    }
    first[count] = filled;
    RIG_INVARIANT(filled == past->used.count + (size_t)count * spent_count);
    *from = (struct rig_blocked_from){
        .position = past->from, .count = count, .states = states, .sizes = sizes, .first = first, .used = used};
    blocked->from = from;
    return true;
}

/* The configurations that the search went on from. */
static bool add_from(const struct rig_object_key *key, const struct rig_object_narrowed *narrowed,
                     struct rig_arena *arena, struct rig_blocked *blocked)
{
    const struct rig_object_past_key *past = key->past;
    const struct rig_object_past_key *begin = narrowed->past == NULL ? past : rig_object_past_of(narrowed->past, 0);
    if (past != NULL)
        blocked->explained += (uint32_t)(past->explained + past->done);
    if (narrowed->past != NULL)
        blocked->explained += (uint32_t)begin->explained;
    return begin == NULL || begin->explained == 0 || add_past(begin, &narrowed->spent, arena, blocked);
}

static bool add_blocked(const struct rig_object_key *key, const struct rig_object_decided *decided,
                        struct rig_arena *arena, struct rig_witness *witness)
{
    RIG_REQUIRE(decided->ops != NULL && decided->result.open.count > 0); /* the blocked one is open */
    const struct rig_object_result *result = &decided->result;
    witness->txns[0] = decided->ops[result->blocked].txn;
    witness->txn_count = 1;
    witness->blocked->explained = result->explained;
    witness->blocked->open_count = (uint32_t)result->open.count - 1;
    choose_open(key, decided, witness);
    return add_states(key, result, arena, witness->blocked) &&
           add_from(key, &decided->narrowed, arena, witness->blocked);
}

/* Operations on a few values, the blocked one first. */
static bool add_values(const struct rig_object_key *key, const struct rig_object_refutation *refutation,
                       struct rig_arena *arena, struct rig_witness *witness)
{
    RIG_REQUIRE(refutation->result.blocked < refutation->ops.count && refutation->values.count > 0);
    const struct rig_object_values *values = &refutation->values;
    int64_t *copy = rig_arena_array(arena, values->count, sizeof *copy);
    if (copy == NULL)
        return false;
    memcpy(copy, values->at, values->count * sizeof *copy);
    witness->blocked->values = copy;
    witness->blocked->value_count = (uint32_t)values->count;
    add_txn(witness, refutation->ops.at[refutation->result.blocked].txn);
    for (unsigned unknown = 0; unknown < 2; unknown++) {
        for (size_t i = 0; i < refutation->ops.count; i++) {
            const struct rig_object_op *op = &refutation->ops.at[i];
            if ((op->end == RIG_POSITION_NONE) == (unknown != 0) && op->txn < key->open.txn)
                add_txn(witness, op->txn);
        }
    }
    return true;
}

/* After REFUTED: fills in the witness, which has no texts yet (explain/sentence.h); arrays come from the arena, what is
 * from earlier windows is borrowed. `number` is that of the key. False when memory runs out. */
static bool object_witness(const struct rig_object_key *key, uint32_t number, const struct rig_object_decided *decided,
                           struct rig_arena *arena, struct rig_witness *witness)
{
    *witness = (struct rig_witness){.anomaly = RIG_ANOMALY_NONLINEARIZABLE,
                                    .key = number,
                                    .op = 0,
                                    .other_op = UINT32_MAX,
                                    .txns = rig_arena_array(arena, MOST_OPEN + 1, sizeof *witness->txns),
                                    .blocked = rig_arena_array(arena, 1, sizeof *witness->blocked)};
    if (witness->txns == NULL || witness->blocked == NULL)
        return false;
    return decided->refutation.found ? add_values(key, &decided->refutation, arena, witness)
                                     : add_blocked(key, decided, arena, witness);
}

/* ---- one object ---- */

struct decide {
    const struct rig_history *history;
    const struct rig_objects_window *window; /* NULL: the history is whole */
    const struct rig_objects_limits *limits;
    struct rig_object_model model;
    struct rig_object_ops ops;
    struct rig_arena *arena;
    struct rig_objects_decided *decided;
    struct rig_known_initial initial;
    struct rig_begin *begins; /* per key of a history of registers: what it begins with; else NULL */
    uint8_t *done;            /* scratch: per operation of a key */
};

static bool is_going_on(const struct decide *d)
{
    return d->window != NULL && !d->window->is_last;
}

static struct rig_object_key key_of(struct decide *d, uint32_t number)
{
    RIG_REQUIRE(number < d->ops.key_count);
    struct rig_object_key key = {.model = &d->model,
                                 .ops = d->ops.at + d->ops.first[number],
                                 .count = d->ops.first[number + 1] - d->ops.first[number],
                                 .open = {RIG_POSITION_NONE, UINT32_MAX},
                                 .until = RIG_POSITION_NONE};
    if (d->window != NULL)
        key.past = rig_object_past_of(d->window->past, number);
    if (is_going_on(d)) {
        const uint32_t open_from = d->window->open_from[number];
        key.open =
            (struct rig_object_open){open_from == RIG_POSITION_NONE ? open_from - 1 : open_from, d->window->open_txn};
        key.until = key.open.horizon > 0 ? key.open.horizon - 1 : 0;
    }
    return key;
}

/* Later windows need the operations of the key, without those that are done (NULL: none is). */
static void wait_for(const struct decide *d, const struct rig_object_key *key, const uint8_t *done)
{
    RIG_REQUIRE(is_going_on(d));
    if (d->window->only_looks)
        return;
    for (uint32_t i = 0; i < key->count; i++)
        d->window->waits[key->ops[i].txn] |= done == NULL || !done[i];
}

static bool goes_on(const struct rig_object_key *key)
{
    return key->past != NULL && key->past->explained > 0;
}

static struct rig_begin begin_of(const struct decide *d, const struct rig_object_key *key, uint32_t number)
{
    const struct rig_begin plain = {.as = RIG_BEGINS_PLAIN};
    return goes_on(key) ? key->past->begin : d->begins == NULL ? plain : d->begins[number];
}

static bool note_refuted(struct decide *d, const struct rig_object_key *key, uint32_t number,
                         const struct rig_object_decided *decided)
{
    RIG_REQUIRE(decided->answer == RIG_OBJECT_REFUTED);
    struct rig_objects_decided *all = d->decided;
    const struct rig_begin nil = {rig_object_nil(d->history->workload), RIG_BEGINS_PLAIN};
    const struct rig_begin from = begin_of(d, key, number);
    /* One that is in doubt has no order from nil either: that was refuted, unless earlier windows went on from the
     * value. */
    const struct rig_begin begin = from.as == RIG_BEGINS_IN_DOUBT ? nil : from;
    const struct rig_begin shown = goes_on(key) ? from : begin;
    all->refuted++;
    if (d->begins != NULL)
        d->begins[number] = begin;
    if (key->past != NULL && !d->window->only_looks) {
        key->past->standing = RIG_OBJECT_FALLEN;
        key->past->begin = begin;
    }
    RIG_INVARIANT(all->witness_count <= d->limits->most_witnesses);
    if (all->witness_count == d->limits->most_witnesses)
        return true;
    struct rig_witness *witness = &all->witnesses[all->witness_count++];
    if (!object_witness(key, number, decided, d->arena, witness))
        return false;
    witness->blocked->begin = shown;
    return true;
}

static bool note_explained(const struct decide *d, const struct rig_object_key *key,
                           const struct rig_object_decided *decided)
{
    RIG_REQUIRE(decided->answer == RIG_OBJECT_LINEARIZABLE);
    if (!is_going_on(d) || d->window->only_looks)
        return true;
    if (!rig_object_key_settle(key, decided, d->window->past, d->done))
        return false;
    wait_for(d, key, d->done);
    return true;
}

/* ---- what registers begin with ---- */

/* Decides from the value that the register begins with. One that is in doubt and has no order from it is decided from
 * nil, with all that is known: then its first read has no explanation. */
static void decide_from(struct decide *d, struct rig_object_key *key, uint32_t number,
                        const struct rig_object_search_limits *limits, struct rig_object_decided *decided)
{
    RIG_REQUIRE(d->begins == NULL || d->model.is_register);
    const bool begins = d->begins != NULL && !goes_on(key);
    *decided = (struct rig_object_decided){.answer = RIG_OBJECT_NO_MEMORY};
    if (begins && !rig_object_model_begin(&d->model, d->begins[number].value))
        return;
    rig_object_key_decide(key, limits, decided);
    if (!begins || decided->answer != RIG_OBJECT_REFUTED || d->begins[number].as != RIG_BEGINS_IN_DOUBT)
        return;
    rig_object_decided_done(decided);
    d->model.initial = RIG_OBJECT_INITIAL;
    key->until = RIG_POSITION_NONE;
    rig_object_key_decide(key, limits, decided);
    RIG_INVARIANT(decided->answer != RIG_OBJECT_LINEARIZABLE && "a read that nothing explains");
}

/* Keeps what the register begins with, where operations have been decided that rest on it. */
static void keep_begin(const struct decide *d, const struct rig_object_key *key, uint32_t number, bool went_on)
{
    if (key->past == NULL || d->begins == NULL || d->window->only_looks || went_on)
        return;
    if (goes_on(key) || d->window->is_last)
        key->past->begin = d->begins[number];
}

/* A later window may show a write of the value that was taken. */
static void doubt_begins(const struct decide *d)
{
    RIG_REQUIRE(d->window != NULL && d->model.is_register);
    const struct rig_history *history = d->history;
    int64_t value;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        if (!rig_object_begins_writes(ops, rig_txn_op_count(history, txn), &value))
            continue;
        struct rig_object_past_key *past = rig_object_past_of(d->window->past, ops->key);
        if (past->begin.as == RIG_BEGINS_TAKEN && past->begin.value == value)
            past->begin.as = past->standing == RIG_OBJECT_FALLEN ? RIG_BEGINS_PLAIN : RIG_BEGINS_IN_DOUBT;
    }
}

/* Failed operations tell what a register may begin with: windows keep them until that is settled. */
static void wait_for_failed(const struct decide *d)
{
    RIG_REQUIRE(is_going_on(d));
    const struct rig_history *history = d->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome == RIG_OUTCOME_FAIL && rig_txn_op_count(history, txn) > 0 &&
            rig_object_past_of(d->window->past, rig_txn_ops(history, txn)->key)->explained == 0)
            d->window->waits[txn] = 1;
    }
}

static void add_begun(struct rig_object_begun *begun, uint32_t key, int64_t value)
{
    if (begun->count++ == 0)
        *begun = (struct rig_object_begun){.count = 1, .key = key, .value = value};
}

/* At the end of the history. */
static void count_begins(const struct decide *d)
{
    RIG_REQUIRE(d->begins != NULL && !is_going_on(d));
    for (uint32_t key = 0; key < d->ops.key_count; key++) {
        const struct rig_begin *begin =
            d->window == NULL ? &d->begins[key] : &rig_object_past_of(d->window->past, key)->begin;
        if (begin->as == RIG_BEGINS_TAKEN)
            add_begun(&d->decided->taken, key, begin->value);
        else if (begin->as == RIG_BEGINS_IN_DOUBT)
            add_begun(&d->decided->doubted, key, begin->value);
    }
}

/* False when memory runs out. */
static bool find_begins(struct decide *d, struct rig_arena *scratch)
{
    if (!d->model.is_register)
        return true;
    d->begins = rig_object_begins_find(d->history, d->initial, false, scratch);
    return d->begins != NULL;
}

/* RIG_OBJECT_TIME: the object is open, and may be decided with more steps. */
static enum rig_object_answer decide_key(struct decide *d, uint32_t number,
                                         const struct rig_object_search_limits *limits)
{
    struct rig_object_key key = key_of(d, number);
    const bool went_on = goes_on(&key);
    struct rig_object_decided decided;
    if (key.count == 0 || (key.past != NULL && key.past->standing != RIG_OBJECT_STANDS))
        return RIG_OBJECT_LINEARIZABLE; /* it has no operations, or it was counted before */
    decide_from(d, &key, number, limits, &decided);
    enum rig_object_answer answer = decided.answer;
    bool fits = true;
    if (answer == RIG_OBJECT_REFUTED)
        fits = note_refuted(d, &key, number, &decided);
    else if (answer == RIG_OBJECT_LINEARIZABLE)
        fits = note_explained(d, &key, &decided);
    if (answer == RIG_OBJECT_TIME && is_going_on(d) && !decided.searched) {
        wait_for(d, &key, NULL);
        answer = RIG_OBJECT_LINEARIZABLE; /* for now */
    }
    keep_begin(d, &key, number, went_on);
    rig_object_decided_done(&decided);
    return fits ? answer : RIG_OBJECT_NO_MEMORY;
}

static void give_up(struct decide *d, uint32_t number)
{
    d->decided->open++;
    if (d->window != NULL && !d->window->only_looks)
        rig_object_past_of(d->window->past, number)->standing = RIG_OBJECT_GIVEN_UP;
}

/* ---- all objects ---- */

/* The steps of a round: about 10 ms for an object at first. */
enum { FIRST_STEPS = 1 << 18, TIMES_MORE = 16, ROUNDS = 6 };

struct sized {
    uint32_t key, count;
};

static int compare_sizes(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;
    return a->count != b->count ? (a->count > b->count) - (a->count < b->count) : (a->key > b->key) - (a->key < b->key);
}

static struct sized *sort_keys(const struct rig_object_ops *ops, struct rig_arena *arena)
{
    struct sized *keys = rig_arena_array(arena, (size_t)ops->key_count + 1, sizeof *keys);
    for (uint32_t key = 0; keys != NULL && key < ops->key_count; key++)
        keys[key] = (struct sized){key, ops->first[key + 1] - ops->first[key]};
    if (keys != NULL)
        qsort(keys, ops->key_count, sizeof *keys, compare_sizes);
    return keys;
}

/* Decides the keys, and keeps those that are open. False when memory runs out. */
static bool decide_round(struct decide *d, const struct rig_object_search_limits *limits, struct sized *keys,
                         uint32_t *count)
{
    uint32_t kept = 0;
    bool fits = true;
    for (uint32_t i = 0; fits && i < *count; i++) {
        const enum rig_object_answer answer = decide_key(d, keys[i].key, limits);
        fits = answer != RIG_OBJECT_NO_MEMORY;
        if (answer == RIG_OBJECT_MEMORY)
            give_up(d, keys[i].key);
        else if (answer == RIG_OBJECT_TIME)
            keys[kept++] = keys[i];
    }
    *count = kept;
    return fits;
}

static bool decide_all(struct decide *d, struct sized *keys)
{
    struct rig_object_search_limits limits = {
        .deadline_ns = d->limits->deadline_ns, .bytes = d->limits->bytes, .steps = FIRST_STEPS};
    uint32_t count = d->ops.key_count;
    bool fits = true;
    for (unsigned round = 0; fits && count > 0 && round < ROUNDS; round++) {
        fits = decide_round(d, &limits, keys, &count);
        limits.steps = round + 2 < ROUNDS ? limits.steps * TIMES_MORE : 0;
        if (rig_clock_now_ns() > limits.deadline_ns)
            break;
    }
    for (uint32_t i = 0; i < count; i++)
        give_up(d, keys[i].key);
    return fits;
}

/* Elements that were lost, given twice or never added. At the end: a later take may still give an element. */
static bool count_elements(struct decide *d)
{
    struct rig_delivery_found *found = &d->decided->delivery;
    const bool is_row = d->model.workload == RIG_WORKLOAD_QUEUE || d->model.workload == RIG_WORKLOAD_STACK;
    bool fits = true;
    if (!is_row || is_going_on(d))
        return true;
    found->most_witnesses = d->limits->most_elements;
    found->witnesses =
        rig_arena_array(d->arena, (size_t)RIG_DELIVERY_COUNT * found->most_witnesses + 1, sizeof *found->witnesses);
    for (uint32_t number = 0; found->witnesses != NULL && fits && number < d->ops.key_count; number++) {
        const struct rig_object_key key = key_of(d, number);
        if (key.past != NULL && (key.past->standing != RIG_OBJECT_STANDS || key.past->done > 0))
            d->decided->delivery_open = true;
        else
            fits = rig_object_delivery(&key, number, d->arena, found);
    }
    return found->witnesses != NULL && fits;
}

static bool make_room(struct decide *d, struct rig_arena *scratch)
{
    uint32_t most = 0;
    d->decided->witnesses =
        rig_arena_array(d->arena, (size_t)d->limits->most_witnesses + 1, sizeof *d->decided->witnesses);
    if (d->decided->witnesses == NULL || !rig_object_ops_build(d->history, UINT32_MAX, &d->model, scratch, &d->ops))
        return false;
    for (uint32_t key = 0; key < d->ops.key_count; key++) {
        const uint32_t count = d->ops.first[key + 1] - d->ops.first[key];
        RIG_INVARIANT(d->ops.first[key] <= d->ops.first[key + 1]);
        most = count > most ? count : most;
    }
    d->done = rig_arena_array(scratch, (size_t)most + 1, 1);
    return d->done != NULL && (d->window == NULL || rig_object_past_widen(d->window->past, d->ops.key_count)) &&
           find_begins(d, scratch);
}

static enum rig_rc decide_keys(struct decide *d, struct rig_err *err)
{
    struct rig_arena scratch;
    rig_arena_init(&scratch, d->limits->bytes);
    struct sized *keys = make_room(d, &scratch) ? sort_keys(&d->ops, &scratch) : NULL;
    if (keys != NULL && d->begins != NULL && d->window != NULL && !d->window->only_looks)
        doubt_begins(d);
    const bool fits = keys != NULL && count_elements(d) && (!d->history->has_invocations || decide_all(d, keys));
    if (fits && d->begins != NULL && is_going_on(d) && !d->window->only_looks)
        wait_for_failed(d);
    else if (fits && d->begins != NULL && !is_going_on(d) && d->history->has_invocations)
        count_begins(d);
    rig_arena_done(&scratch);
    return fits ? RIG_OK : rig_memory_limit(err, "the operations of an object");
}

enum rig_rc rig_objects_decide(const struct rig_history *history, struct rig_known_initial initial,
                               const struct rig_objects_window *window, const struct rig_objects_limits *limits,
                               struct rig_arena *arena, struct rig_objects_decided *decided, struct rig_err *err)
{
    RIG_REQUIRE(window == NULL || window->past != NULL);
    RIG_REQUIRE(window == NULL || window->is_last || window->open_from != NULL);
    struct decide d = {
        .history = history, .initial = initial, .window = window, .limits = limits, .arena = arena, .decided = decided};
    *decided = (struct rig_objects_decided){0};
    decided->delivery_open = !history->has_invocations;
    if (!history->has_invocations && window != NULL)
        return RIG_OK; /* nothing is carried over, and so nothing is known of all elements */
    enum rig_rc rc = rig_object_model_init(&d.model, history->workload, limits->bytes)
                         ? decide_keys(&d, err)
                         : rig_memory_limit(err, "the states of an object");
    rig_object_model_done(&d.model);
    return rc;
}
