#include "checker/objects/object_sessions.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"

static const uint32_t none = UINT32_MAX;

/* ---- the operations of each process ---- */

struct timed {
    int64_t process;
    uint32_t at, end; /* positions: of the invocation, or of the completion where there is none */
    uint32_t object;
    uint32_t place; /* in the order of the object's operations */
    struct rig_object_op op;
};

/* Those of unknown outcome come last. */
static int compare_timed(const void *left, const void *right)
{
    const struct timed *a = left, *b = right;
    const bool a_open = a->op.end == RIG_POSITION_NONE, b_open = b->op.end == RIG_POSITION_NONE;
    if (a_open != b_open)
        return a_open ? 1 : -1;
    if (a->process != b->process)
        return a->process > b->process ? 1 : -1;
    if (a->at != b->at)
        return a->at > b->at ? 1 : -1;
    if (a->op.txn != b->op.txn)
        return a->op.txn > b->op.txn ? 1 : -1;
    return (a->place > b->place) - (a->place < b->place);
}

static struct timed *collect(const struct rig_history *history, const struct rig_object_ops *ops, uint32_t only,
                             const uint8_t *dropped, uint32_t *count)
{
    RIG_REQUIRE(only == none || only < ops->key_count);
    const uint32_t from = only == none ? 0 : ops->first[only];
    const uint32_t to = only == none ? ops->first[ops->key_count] : ops->first[only + 1];
    struct timed *timed = calloc((size_t)(to - from) + 1, sizeof *timed);
    uint32_t key = only == none ? 0 : only;
    *count = 0;
    for (uint32_t i = from; timed != NULL && i < to; i++) {
        const struct rig_object_op *op = &ops->at[i];
        const struct rig_txn *txn = &history->txns[op->txn];
        while (i >= ops->first[key + 1])
            key++;
        if (dropped != NULL && dropped[op->txn])
            continue;
        timed[(*count)++] =
            (struct timed){.process = txn->process,
                           .at = txn->invoke_at == RIG_POSITION_NONE ? txn->complete_at : txn->invoke_at,
                           .end = txn->complete_at,
                           .object = only == none ? key : 0,
                           .place = i,
                           .op = *op};
    }
    RIG_INVARIANT(*count <= to - from);
    if (timed != NULL)
        qsort(timed, *count, sizeof *timed, compare_timed);
    return timed;
}

/* The session of the process of an operation of unknown outcome, and how many of its operations come before. */
static void place_unknown(const struct rig_object_sessions *sessions, const struct timed *timed,
                          const struct timed *own, struct rig_object_session_op *op)
{
    RIG_REQUIRE(op->unknown);
    op->session = none;
    for (uint32_t low = 0, high = sessions->session_count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        const int64_t process = timed[sessions->first[middle]].process;
        if (process == own->process)
            op->session = middle;
        low = process < own->process ? middle + 1 : low;
        high = process < own->process ? high : process == own->process ? low : middle;
    }
    if (op->session == none)
        return;
    RIG_INVARIANT(op->session < sessions->session_count);
    const uint32_t first = sessions->first[op->session], end = sessions->first[op->session + 1];
    while (first + op->after < end && timed[first + op->after].end < own->at)
        op->after++;
}

bool rig_object_sessions_build(const struct rig_history *history, const struct rig_object_ops *ops, uint32_t only,
                               const uint8_t *dropped, struct rig_arena *arena, struct rig_object_sessions *sessions)
{
    uint32_t count, certain = 0;
    struct timed *timed = collect(history, ops, only, dropped, &count);
    *sessions = (struct rig_object_sessions){.count = count, .object_count = only == none ? ops->key_count : 1};
    sessions->at = rig_arena_array(arena, (size_t)count + 1, sizeof *sessions->at);
    sessions->first = rig_arena_array(arena, (size_t)count + 2, sizeof *sessions->first);
    if (timed == NULL || sessions->at == NULL || sessions->first == NULL) {
        free(timed);
        return false;
    }
    for (; certain < count && timed[certain].op.end != RIG_POSITION_NONE; certain++) {
        if (certain == 0 || timed[certain].process != timed[certain - 1].process)
            sessions->first[sessions->session_count++] = certain;
    }
    sessions->first[sessions->session_count] = certain;
    RIG_INVARIANT(sessions->session_count <= certain && certain <= count);
    for (uint32_t i = 0, session = 0; i < count; i++) {
        struct rig_object_session_op *op = &sessions->at[i];
        *op = (struct rig_object_session_op){.txn = timed[i].op.txn,
                                             .class = timed[i].op.class,
                                             .object = timed[i].object,
                                             .rank = timed[i].end,
                                             .unknown = i >= certain};
        while (i < certain && i >= sessions->first[session + 1])
            session++;
        op->session = session;
        if (op->unknown)
            place_unknown(sessions, timed, &timed[i], op);
    }
    free(timed);
    return true;
}

/* ---- the search ---- */

enum { STEPS_BETWEEN_LOOKS = 1 << 14, MOST_MET = 1 << 26 };

/* A place in the order: the operation, and the state that it replaced. */
struct taken {
    uint32_t op, before;
};

struct node {
    uint32_t depth; /* operations taken when it was reached */
    uint32_t tried; /* ranks up to this one, + 1; then places of those of unknown outcome */
    bool unknown;   /* these are being tried */
    uint64_t hash;
};

RIG_VEC(struct taken, taken_ops)
RIG_VEC(struct node, nodes)

/* Per value of a register: operations that need it or write it, and have not taken effect. */
struct value {
    uint32_t needed, wanted, given; /* by certain operations; by any; written by any */
};

struct search {
    struct rig_object_model *model;
    const struct rig_object_sessions *sessions;
    uint32_t certain, left; /* operations that completed; of these, those that have not taken effect */
    uint32_t *next;         /* per session: into sessions->at */
    uint32_t *state;        /* per object */
    uint8_t *used;          /* per operation of unknown outcome */
    uint32_t *twin;         /* per operation of unknown outcome: the one before that does the same; `none` */
    struct value *values;
    uint32_t *needs, *leaves; /* per operation: into `values`; `none` */
    struct rig_table value_of;
    uint32_t value_count;
    struct taken_ops taken;
    struct nodes nodes;
    struct rig_table met;
    uint64_t hash, steps;
    bool failed;
};

static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 32) * UINT64_C(0x9fb21c651e98df25);
    word = (word ^ word >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return word ^ word >> 32;
}

static uint64_t hash_taken(uint32_t op)
{
    return mix((uint64_t)op + 1);
}

static uint64_t hash_state(uint32_t object, uint32_t state)
{
    return mix(UINT64_C(1) << 63 | (uint64_t)object << 32 | state);
}

static const struct rig_object_class *class_of(const struct search *s, uint32_t op)
{
    return &s->model->classes.at[s->sessions->at[op].class];
}

/* The place of a value of an object; `none` for a state that no value has. */
static uint32_t value_place(struct search *s, uint32_t object, uint32_t state, bool adds)
{
    uint32_t *place = adds ? rig_table_put(&s->value_of, (uint64_t)object << 32 | state) : NULL;
    if (!adds)
        return rig_table_get(&s->value_of, (uint64_t)object << 32 | state);
    s->failed |= place == NULL;
    if (place != NULL && *place == RIG_TABLE_NONE)
        *place = s->value_count++;
    return place == NULL ? none : *place;
}

/* Counts an operation in, or out. */
static void count_values(struct search *s, uint32_t op, bool in)
{
    RIG_INVARIANT(in || s->needs[op] == none || s->values[s->needs[op]].wanted > 0);
    RIG_INVARIANT(in || s->leaves[op] == none || s->values[s->leaves[op]].given > 0);
    const uint32_t one = in ? 1 : UINT32_MAX;
    if (s->needs[op] != none) {
        s->values[s->needs[op]].wanted += one;
        s->values[s->needs[op]].needed += s->sessions->at[op].unknown ? 0 : one;
    }
    if (s->leaves[op] != none)
        s->values[s->leaves[op]].given += one;
}

static bool find_values(struct search *s)
{
    const uint32_t count = s->sessions->count;
    for (uint32_t op = 0; op < count; op++) {
        const struct rig_object_class *class = class_of(s, op);
        const uint32_t object = s->sessions->at[op].object;
        s->needs[op] = !s->model->is_register || class->needs == RIG_OBJECT_NONE
                           ? none
                           : value_place(s, object, class->needs, true);
        s->leaves[op] = !s->model->is_register || class->leaves == RIG_OBJECT_NONE
                            ? none
                            : value_place(s, object, class->leaves, true);
    }
    s->values = calloc((size_t)s->value_count + 1, sizeof *s->values);
    for (uint32_t op = 0; s->values != NULL && op < count; op++)
        count_values(s, op, true);
    return s->values != NULL && !s->failed;
}

static bool find_twins(struct search *s)
{
    struct rig_table last;
    bool fits = true;
    rig_table_init(&last);
    for (uint32_t op = s->certain; fits && op < s->sessions->count; op++) {
        const struct rig_object_session_op *own = &s->sessions->at[op];
        uint32_t *before = rig_table_put(&last, (uint64_t)own->object << 32 | own->class);
        fits = before != NULL;
        if (fits) {
            RIG_INVARIANT(*before == none || *before < op);
            s->twin[op - s->certain] = *before;
            *before = op;
        }
    }
    rig_table_done(&last);
    return fits;
}

static bool begin(struct search *s)
{
    const struct rig_object_sessions *sessions = s->sessions;
    s->certain = s->left = sessions->first[sessions->session_count];
    const size_t unknown = sessions->count - s->certain;
    s->next = calloc((size_t)sessions->session_count + 1, sizeof *s->next);
    s->state = calloc((size_t)sessions->object_count + 1, sizeof *s->state);
    s->used = calloc(unknown + 1, 1);
    s->twin = calloc(unknown + 1, sizeof *s->twin);
    s->needs = calloc((size_t)sessions->count + 1, sizeof *s->needs);
    s->leaves = calloc((size_t)sessions->count + 1, sizeof *s->leaves);
    if (s->next == NULL || s->state == NULL || s->used == NULL || s->twin == NULL || s->needs == NULL ||
        s->leaves == NULL)
        return false;
    memcpy(s->next, sessions->first, sessions->session_count * sizeof *s->next);
    for (uint32_t object = 0; object < sessions->object_count; object++) {
        s->state[object] = sessions->initial == NULL ? RIG_OBJECT_INITIAL : sessions->initial[object];
        RIG_INVARIANT(s->state[object] < s->model->states.count);
        s->hash ^= hash_state(object, s->state[object]);
    }
    return find_values(s) && find_twins(s);
}

/* ---- moves ---- */

static bool is_possible(struct search *s, uint32_t op, uint32_t *state)
{
    const struct rig_object_session_op *own = &s->sessions->at[op];
    s->steps++;
    s->failed |= !rig_object_step(s->model, s->state[own->object], own->class, state);
    return !s->failed && *state != RIG_OBJECT_NONE;
}

/* The operation takes effect. False when it takes a value that is needed later and never written again. */
static bool take(struct search *s, uint32_t op, uint32_t state)
{
    const struct rig_object_session_op *own = &s->sessions->at[op];
    const uint32_t before = s->state[own->object];
    s->failed |= !taken_ops_add(&s->taken, (struct taken){op, before});
    if (s->failed)
        return false;
    count_values(s, op, false);
    s->hash ^= hash_taken(op) ^ hash_state(own->object, before) ^ hash_state(own->object, state);
    s->state[own->object] = state;
    if (own->unknown) {
        RIG_INVARIANT(op >= s->certain && !s->used[op - s->certain]);
        s->used[op - s->certain] = 1;
    } else {
        RIG_INVARIANT(s->next[own->session] == op && s->left > 0);
        s->next[own->session]++;
        s->left--;
    }
    const uint32_t lost = before != state && s->model->is_register ? value_place(s, own->object, before, false) : none;
    return lost == none || s->values[lost].needed == 0 || s->values[lost].given > 0;
}

static void take_back(struct search *s, size_t depth)
{
    RIG_REQUIRE(depth <= s->taken.count);
    while (s->taken.count > depth) {
        const struct taken taken = s->taken.at[--s->taken.count];
        const struct rig_object_session_op *own = &s->sessions->at[taken.op];
        s->hash ^= hash_taken(taken.op) ^ hash_state(own->object, taken.before) ^
                   hash_state(own->object, s->state[own->object]);
        s->state[own->object] = taken.before;
        count_values(s, taken.op, true);
        if (own->unknown) {
            s->used[taken.op - s->certain] = 0;
        } else {
            RIG_INVARIANT(s->next[own->session] == taken.op + 1);
            s->next[own->session]--;
            s->left++;
        }
    }
}

static bool is_unwanted(const struct search *s, uint32_t place)
{
    return place == none || s->values[place].wanted == 0;
}

/* Whether nothing is lost when the operation, which is possible, takes effect at once. */
static bool is_free(struct search *s, uint32_t op)
{
    const uint32_t object = s->sessions->at[op].object;
    if (class_of(s, op)->observes)
        return true;
    return s->model->is_register && s->needs[op] == none && is_unwanted(s, s->leaves[op]) &&
           is_unwanted(s, value_place(s, object, s->state[object], false));
}

/* Takes what may take effect at once, until nothing is left of that. */
static void take_free(struct search *s)
{
    for (bool more = true; more && !s->failed;) {
        more = false;
        for (uint32_t session = 0; session < s->sessions->session_count && !s->failed; session++) {
            uint32_t state;
            while (s->next[session] < s->sessions->first[session + 1] && is_possible(s, s->next[session], &state) &&
                   is_free(s, s->next[session])) {
                (void)take(s, s->next[session], state);
                more = true;
            }
        }
    }
}

/* Values that are needed, not there and never written: nothing to search for. */
static bool lacks_value(struct search *s)
{
    bool lacks = false;
    for (uint32_t op = 0; s->model->is_register && op < s->certain; op++) {
        const struct value *value = s->needs[op] == none ? NULL : &s->values[s->needs[op]];
        const uint32_t object = s->sessions->at[op].object, there = value_place(s, object, s->state[object], false);
        lacks |= value != NULL && value->given == 0 && s->needs[op] != there;
    }
    return lacks;
}

static bool was_met(const struct search *s)
{
    return rig_table_get(&s->met, s->hash) != RIG_TABLE_NONE;
}

/* Goes on from here; false: not, because it was found that no order leads on. */
static bool reach(struct search *s)
{
    take_free(s);
    if (s->failed || was_met(s))
        return false;
    s->failed |= !nodes_add(&s->nodes, (struct node){.depth = (uint32_t)s->taken.count, .hash = s->hash});
    return !s->failed;
}

/* The next operation that completed, by rank; `none`: there is none. */
static uint32_t next_certain(struct search *s, struct node *node, uint32_t *state)
{
    uint32_t best = none, best_state = RIG_OBJECT_NONE;
    for (uint32_t session = 0; session < s->sessions->session_count; session++) {
        const uint32_t op = s->next[session];
        if (op == s->sessions->first[session + 1])
            continue;
        const uint32_t rank = s->sessions->at[op].rank;
        if (rank < node->tried || (best != none && rank >= s->sessions->at[best].rank) || !is_possible(s, op, state))
            continue;
        best = op;
        best_state = *state;
    }
    if (best != none)
        node->tried = s->sessions->at[best].rank + 1;
    *state = best_state;
    return best;
}

static bool may_be_next(const struct search *s, uint32_t op)
{
    RIG_REQUIRE(op >= s->certain && op < s->sessions->count);
    const struct rig_object_session_op *own = &s->sessions->at[op];
    return !s->used[op - s->certain] &&
           (own->session == none || s->next[own->session] - s->sessions->first[own->session] >= own->after);
}

/* One that changes its object, to a value that something needs. */
static uint32_t next_unknown(struct search *s, struct node *node, uint32_t *state)
{
    while (node->tried < s->sessions->count) {
        const uint32_t op = node->tried++, twin = s->twin[op - s->certain];
        if (!may_be_next(s, op) || (twin != none && may_be_next(s, twin)) || !is_possible(s, op, state) ||
            *state == s->state[s->sessions->at[op].object])
            continue;
        if (!s->model->is_register || !is_unwanted(s, s->leaves[op]))
            return op;
    }
    return none;
}

/* Follows the next way on from the last node; false: there is none. */
static bool follow(struct search *s)
{
    RIG_REQUIRE(s->nodes.count > 0);
    struct node *node = &s->nodes.at[s->nodes.count - 1];
    uint32_t state = RIG_OBJECT_NONE;
    take_back(s, node->depth);
    uint32_t op = node->unknown ? none : next_certain(s, node, &state);
    if (op == none && !node->unknown) {
        node->unknown = true;
        node->tried = s->certain;
    }
    if (op == none && !s->failed)
        op = next_unknown(s, node, &state);
    if (op == none || s->failed)
        return false;
    if (take(s, op, state))
        (void)reach(s);
    return !s->failed;
}

static void leave(struct search *s)
{
    RIG_REQUIRE(s->nodes.count > 0);
    uint32_t *met = rig_table_put(&s->met, s->nodes.at[--s->nodes.count].hash);
    s->failed |= met == NULL;
    if (met != NULL)
        *met = 0;
}

static bool is_spent(const struct search *s, const struct rig_object_search_limits *limits)
{
    const size_t bytes = s->met.slot_count * (sizeof(uint64_t) + sizeof(uint32_t)) + s->model->arena.held_bytes;
    return (limits->steps > 0 && s->steps > limits->steps) || rig_clock_now_ns() > limits->deadline_ns ||
           s->met.used > MOST_MET || (limits->bytes > 0 && bytes > limits->bytes);
}

static enum rig_object_answer search(struct search *s, const struct rig_object_search_limits *limits)
{
    uint64_t looked_at = 0;
    if (lacks_value(s))
        return RIG_OBJECT_REFUTED;
    (void)reach(s);
    while (!s->failed && s->left > 0 && s->nodes.count > 0) {
        if (!follow(s) && !s->failed)
            leave(s);
        if (s->steps < looked_at + STEPS_BETWEEN_LOOKS)
            continue;
        looked_at = s->steps;
        if (s->left > 0 && is_spent(s, limits))
            return RIG_OBJECT_TIME;
    }
    RIG_INVARIANT(s->failed || s->left > 0 || s->taken.count >= s->certain);
    return s->failed ? RIG_OBJECT_NO_MEMORY : s->left == 0 ? RIG_OBJECT_LINEARIZABLE : RIG_OBJECT_REFUTED;
}

enum rig_object_answer rig_object_sessions_search(struct rig_object_model *model,
                                                  const struct rig_object_sessions *sessions,
                                                  const struct rig_object_search_limits *limits,
                                                  struct rig_object_order *order)
{
    RIG_REQUIRE(sessions->first[sessions->session_count] <= sessions->count);
    struct search s = {.model = model, .sessions = sessions};
    rig_table_init(&s.value_of);
    rig_table_init(&s.met);
    enum rig_object_answer answer = begin(&s) ? search(&s, limits) : RIG_OBJECT_NO_MEMORY;
    order->count = 0;
    for (size_t i = 0; answer == RIG_OBJECT_LINEARIZABLE && i < s.taken.count; i++) {
        if (!rig_object_order_add(order, s.taken.at[i].op))
            answer = RIG_OBJECT_NO_MEMORY;
    }
    rig_table_done(&s.value_of);
    rig_table_done(&s.met);
    taken_ops_done(&s.taken);
    nodes_done(&s.nodes);
    free(s.next);
    free(s.state);
    free(s.used);
    free(s.twin);
    free(s.values);
    free(s.needs);
    free(s.leaves);
    return answer;
}
