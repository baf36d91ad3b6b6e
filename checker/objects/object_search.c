#include "checker/objects/object_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/objects/object_strings.h"

enum { WORD_BITS = 64, STEPS_BETWEEN_LOOKS = 1 << 14 };

static const uint32_t none = UINT32_MAX;

/* A place for an open operation; its number is that of its bit in each configuration. */
struct slot {
    uint32_t op, class;
    uint32_t end;  /* of the operation */
    uint32_t twin; /* the slot of an operation that does the same and takes effect first; `none`: there is none */
    bool taken, unknown, observes;
};

/* A move to a configuration: the operation that took effect, and the move before it. */
struct move {
    uint32_t before, op;
};

RIG_VEC(struct slot, slots)
RIG_VEC(struct move, moves)
RIG_VEC(uint64_t, words)
RIG_VEC(uint32_t, numbers)

/*
 * Configurations of one stage of an event: two words each, and then the bits of the slots. A chain links those that
 * agree in all but operations of unknown outcome.
 */
struct stage {
    struct words at;
    struct numbers link; /* per configuration: the next one of its chain */
    struct rig_table chains;
    uint32_t count;
};

/* The configurations after the last completion before which strings may become vague. */
struct kept {
    struct words at;
    struct slots slots;
    uint32_t count, width;
    uint64_t steps; /* so far */
    bool any;
};

struct search {
    struct rig_object_model *model;
    const struct rig_object_part *part;
    const struct rig_object_op *ops; /* of the part */
    const struct rig_object_search_limits *limits;
    struct slots slots;
    uint32_t width;       /* words for the bits of the slots */
    struct words unknown; /* bits of the slots of unknown outcome */
    struct words next;    /* scratch: a configuration */
    struct stage now, work, after;
    struct kept kept;
    struct moves moves;
    size_t moves_kept;
    uint64_t steps;
    bool failed; /* memory ran out */
};

/* ---- configurations ---- */

enum { STATE, MOVE, BITS }; /* words of a configuration; the bits begin at BITS */

static uint64_t *config(const struct search *s, const struct stage *stage, uint32_t number)
{
    return stage->at.at + (size_t)number * (BITS + s->width);
}

static bool has_bit(const uint64_t *config, uint32_t slot)
{
    return (config[BITS + slot / WORD_BITS] >> slot % WORD_BITS & 1) != 0;
}

static void set_bit(uint64_t *config, uint32_t slot)
{
    config[BITS + slot / WORD_BITS] |= UINT64_C(1) << slot % WORD_BITS;
}

static void clear_bit(uint64_t *config, uint32_t slot)
{
    config[BITS + slot / WORD_BITS] &= ~(UINT64_C(1) << slot % WORD_BITS);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 32;
}

/* Hashes the state and the certain operations that took effect. */
static uint64_t hash_of(const struct search *s, const uint64_t *config)
{
    uint64_t hash = mix(UINT64_C(0x9e3779b97f4a7c15), config[STATE]);
    for (uint32_t i = 0; i < s->width; i++)
        hash = mix(hash, config[BITS + i] & ~s->unknown.at[i]);
    return hash;
}

/* Whether `config` leads no further than `known`, which has the same hash. */
static bool is_covered(const struct search *s, const uint64_t *config, const uint64_t *known)
{
    uint64_t more = config[STATE] ^ known[STATE];
    for (uint32_t i = 0; i < s->width; i++) {
        more |= (config[BITS + i] ^ known[BITS + i]) & ~s->unknown.at[i];
        more |= known[BITS + i] & ~config[BITS + i];
    }
    return more == 0;
}

/* A table that was much larger once is freed, so that clearing it takes time for what it holds. */
static void clear_stage(struct stage *stage)
{
    enum { SMALL = 256, FACTOR = 16 };
    stage->at.count = stage->link.count = 0;
    if (stage->count > 0 && stage->chains.slot_count > SMALL + FACTOR * (size_t)stage->count)
        rig_table_done(&stage->chains);
    else if (stage->count > 0)
        rig_table_clear(&stage->chains);
    stage->count = 0;
}

/* Adds the configuration unless a known one covers it. */
static void add(struct search *s, struct stage *stage, const uint64_t *from)
{
    const size_t length = BITS + s->width;
    uint32_t *chain = rig_table_put(&stage->chains, hash_of(s, from));
    for (uint32_t known = chain == NULL ? none : *chain; known != none; known = stage->link.at[known]) {
        if (is_covered(s, from, config(s, stage, known)))
            return;
    }
    if (chain == NULL || !words_reserve(&stage->at, stage->at.count + length) || !numbers_add(&stage->link, *chain)) {
        s->failed = true;
        return;
    }
    memcpy(stage->at.at + stage->at.count, from, length * sizeof *from);
    stage->at.count += length;
    *chain = stage->count++;
}

/* ---- moves ---- */

/* A part of an object's operations has no order of its own. */
static bool has_order(const struct rig_object_part *part)
{
    return part->until == RIG_POSITION_NONE && part->begin == NULL;
}

static uint32_t add_move(struct search *s, uint64_t before, uint32_t op)
{
    if (!has_order(s->part))
        return none;
    if (!moves_add(&s->moves, (struct move){(uint32_t)before, op}))
        s->failed = true;
    return (uint32_t)s->moves.count - 1;
}

/* Drops the moves that led to none of the configurations. */
static void forget_moves(struct search *s)
{
    uint32_t *number = calloc(s->moves.count + 1, sizeof *number);
    if (number == NULL) {
        s->failed = true;
        return;
    }
    for (uint32_t i = 0; i < s->now.count; i++) {
        for (uint64_t m = config(s, &s->now, i)[MOVE]; m != none && number[m] == 0; m = s->moves.at[m].before)
            number[m] = 1;
    }
    uint32_t kept = 0;
    for (uint32_t m = 0; m < s->moves.count; m++) {
        if (number[m] == 0)
            continue;
        RIG_INVARIANT(s->moves.at[m].before == none || s->moves.at[m].before < m);
        struct move move = s->moves.at[m];
        move.before = move.before == none ? none : number[move.before];
        s->moves.at[kept] = move;
        number[m] = kept++;
    }
    for (uint32_t i = 0; i < s->now.count; i++) {
        uint64_t *c = config(s, &s->now, i);
        c[MOVE] = c[MOVE] == none ? none : number[c[MOVE]];
    }
    s->moves.count = kept;
    s->moves_kept = kept;
    free(number);
}

static bool step(struct search *s, uint64_t state, uint32_t class, uint32_t *next)
{
    s->steps++;
    if (!rig_object_step(s->model, (uint32_t)state, class, next))
        s->failed = true;
    return !s->failed && *next != RIG_OBJECT_NONE;
}

/* The state, or the vague one. */
static uint64_t merge(struct search *s, uint64_t state)
{
    if (s->model->strings == NULL)
        return state;
    state = rig_object_strings_state(s->model->strings, (uint32_t)state);
    s->failed |= state == RIG_OBJECT_NONE;
    return s->failed ? RIG_OBJECT_INITIAL : state;
}

/* The state when the operation completes. */
static uint64_t age(struct search *s, uint64_t state, uint32_t op)
{
    uint32_t aged = (uint32_t)state;
    s->failed |= !rig_object_age(s->model, &aged, s->ops[op].txn);
    return s->failed ? RIG_OBJECT_INITIAL : aged;
}

/* Open operations that observe the state take effect. */
static void observe(struct search *s, uint64_t *c)
{
    for (uint32_t i = 0; i < s->slots.count && !s->failed; i++) {
        const struct slot *slot = &s->slots.at[i];
        uint32_t next;
        if (slot->taken && slot->observes && !has_bit(c, i) && step(s, c[STATE], slot->class, &next)) {
            set_bit(c, i);
            c[MOVE] = add_move(s, c[MOVE], slot->op);
        }
    }
}

/* ---- events ---- */

/* Gives each configuration of the stage room for more slots. */
static void widen(struct search *s)
{
    const size_t before = BITS + s->width, after = before + 1;
    if (!words_reserve(&s->now.at, s->now.count * after) || !words_add(&s->unknown, 0) ||
        !words_reserve(&s->next, after)) {
        s->failed = true;
        return;
    }
    for (uint32_t i = s->now.count; i-- > 0;) {
        memmove(s->now.at.at + i * after, s->now.at.at + i * before, before * sizeof(uint64_t));
        s->now.at.at[i * after + before] = 0;
    }
    s->now.at.count = s->now.count * after;
    s->width++;
    RIG_INVARIANT(s->unknown.count == s->width);
}

static uint32_t find_slot(struct search *s)
{
    for (uint32_t i = 0; i < s->slots.count; i++) {
        if (!s->slots.at[i].taken)
            return i;
    }
    if (s->slots.count == (size_t)s->width * WORD_BITS)
        widen(s);
    if (!slots_add(&s->slots, (struct slot){0}))
        s->failed = true;
    RIG_INVARIANT(s->failed || s->slots.count <= (size_t)s->width * WORD_BITS);
    return s->failed ? none : (uint32_t)s->slots.count - 1;
}

/* Whether `a` takes effect before `b`, which does the same: it completes first, or at the same time and is invoked
 * first. */
static bool is_before(const struct slot *a, const struct slot *b)
{
    return a->end != b->end ? a->end < b->end : a->op < b->op;
}

/* Links the new slot with the others that do the same, in the order in which they take effect. */
static void link_twins(struct search *s, uint32_t place)
{
    struct slot *fresh = &s->slots.at[place];
    uint32_t after = none;
    for (uint32_t i = 0; i < s->slots.count; i++) {
        const struct slot *slot = &s->slots.at[i];
        if (i == place || !slot->taken || slot->class != fresh->class)
            continue;
        if (!is_before(slot, fresh))
            after = after == none || is_before(slot, &s->slots.at[after]) ? i : after;
        else if (fresh->twin == none || is_before(&s->slots.at[fresh->twin], slot))
            fresh->twin = i;
    }
    if (after != none)
        s->slots.at[after].twin = place;
}

/* The slot is free again: nothing waits for its operation. */
static void free_slot(struct search *s, uint32_t place)
{
    RIG_REQUIRE(place < s->slots.count && s->slots.at[place].taken);
    s->slots.at[place].taken = false;
    for (uint32_t i = 0; i < s->slots.count; i++)
        s->slots.at[i].twin = s->slots.at[i].twin == place ? none : s->slots.at[i].twin;
}

static void invoke(struct search *s, uint32_t op)
{
    RIG_REQUIRE(op < s->part->count);
    const uint32_t class = s->ops[op].class;
    const bool unknown = s->ops[op].end == RIG_POSITION_NONE;
    const uint32_t place = find_slot(s);
    if (s->failed)
        return;
    struct slot *slot = &s->slots.at[place];
    *slot = (struct slot){.op = op,
                          .class = class,
                          .end = s->ops[op].end,
                          .twin = none,
                          .taken = true,
                          .unknown = unknown,
                          .observes = s->model->classes.at[class].observes};
    uint64_t *word = &s->unknown.at[place / WORD_BITS];
    *word = unknown ? *word | UINT64_C(1) << place % WORD_BITS : *word & ~(UINT64_C(1) << place % WORD_BITS);
    if (!slot->observes)
        link_twins(s, place);
    for (uint32_t i = 0; slot->observes && i < s->now.count; i++) {
        uint64_t *c = config(s, &s->now, i);
        uint32_t next;
        if (step(s, c[STATE], class, &next)) {
            set_bit(c, place);
            c[MOVE] = add_move(s, c[MOVE], op);
        }
    }
}

/* A configuration in which the operation of slot `done` has taken effect goes to the next stage, without its bit. */
static void place(struct search *s, uint64_t *c, uint32_t done)
{
    if (!has_bit(c, done)) {
        add(s, &s->work, c);
        return;
    }
    clear_bit(c, done);
    add(s, &s->after, c);
}

/* All configurations that one more operation leads to. */
static void continue_from(struct search *s, uint32_t from, uint32_t done)
{
    const size_t length = BITS + s->width;
    for (uint32_t i = 0; i < s->slots.count && !s->failed; i++) {
        const struct slot *slot = &s->slots.at[i];
        const uint64_t *c = config(s, &s->work, from);
        uint32_t next;
        if (!slot->taken || slot->observes || has_bit(c, i) || (slot->twin != none && !has_bit(c, slot->twin)) ||
            !step(s, c[STATE], slot->class, &next) || (slot->unknown && next == c[STATE]))
            continue;
        memcpy(s->next.at, c, length * sizeof *c);
        s->next.at[STATE] = age(s, merge(s, next), s->slots.at[done].op);
        set_bit(s->next.at, i);
        s->next.at[MOVE] = add_move(s, s->next.at[MOVE], slot->op);
        observe(s, s->next.at);
        place(s, s->next.at, done);
    }
}

/* Operations of unknown outcome that took effect in each configuration give their slots back. */
static void free_slots(struct search *s)
{
    for (uint32_t i = 0; i < s->slots.count; i++) {
        bool everywhere = s->slots.at[i].taken && s->slots.at[i].unknown;
        for (uint32_t c = 0; everywhere && c < s->now.count; c++)
            everywhere = has_bit(config(s, &s->now, c), i);
        if (!everywhere)
            continue;
        free_slot(s, i);
        for (uint32_t c = 0; c < s->now.count; c++)
            clear_bit(config(s, &s->now, c), i);
    }
}

static void swap_stages(struct search *s)
{
    RIG_REQUIRE(s->after.at.count == (size_t)s->after.count * (BITS + s->width));
    const struct stage stage = s->now;
    s->now = s->after;
    s->after = stage;
    clear_stage(&s->after);
    clear_stage(&s->work);
}

static bool fits(const struct search *s)
{
    const size_t bytes = (s->now.at.capacity + s->work.at.capacity + s->after.at.capacity) * sizeof(uint64_t) +
                         s->moves.capacity * sizeof(struct move) +
                         (s->work.chains.slot_count + s->after.chains.slot_count) * 12 + s->model->arena.held_bytes;
    return s->limits->bytes == 0 || bytes <= s->limits->bytes;
}

/* The answer that ends the search; LINEARIZABLE: nothing so far. */
static enum rig_object_answer look(const struct search *s)
{
    if (s->failed)
        return RIG_OBJECT_NO_MEMORY;
    if (!fits(s))
        return RIG_OBJECT_MEMORY;
    if (s->limits->steps > 0 && s->steps > s->limits->steps)
        return RIG_OBJECT_TIME;
    return rig_clock_now_ns() > s->limits->deadline_ns ? RIG_OBJECT_TIME : RIG_OBJECT_LINEARIZABLE;
}

/* REFUTED leaves the configurations as they were before. */
static enum rig_object_answer complete(struct search *s, uint32_t op)
{
    uint32_t done = 0;
    while (done < s->slots.count && (!s->slots.at[done].taken || s->slots.at[done].op != op))
        done++;
    RIG_INVARIANT(done < s->slots.count && "an operation that completes was invoked");
    RIG_INVARIANT(s->now.count > 0 && s->work.count == 0 && s->after.count == 0);
    const size_t length = BITS + s->width;
    for (uint32_t i = 0; i < s->now.count; i++) {
        memcpy(s->next.at, config(s, &s->now, i), length * sizeof(uint64_t));
        s->next.at[STATE] = age(s, merge(s, s->next.at[STATE]), op);
        place(s, s->next.at, done);
    }
    uint64_t looked = s->steps;
    for (uint32_t i = 0; i < s->work.count && !s->failed; i++) {
        continue_from(s, i, done);
        if (s->steps - looked < STEPS_BETWEEN_LOOKS)
            continue;
        looked = s->steps;
        const enum rig_object_answer answer = look(s);
        if (answer != RIG_OBJECT_LINEARIZABLE)
            return answer;
    }
    if (s->failed)
        return RIG_OBJECT_NO_MEMORY;
    if (s->after.count == 0)
        return RIG_OBJECT_REFUTED;
    free_slot(s, done);
    swap_stages(s);
    free_slots(s);
    if (s->moves.count > 2 * s->moves_kept + (1 << 20))
        forget_moves(s);
    return s->failed ? RIG_OBJECT_NO_MEMORY : RIG_OBJECT_LINEARIZABLE;
}

/* ---- results ---- */

static bool note_refuted(const struct search *s, uint32_t op, struct rig_object_result *result)
{
    RIG_REQUIRE(op < s->part->count);
    bool noted = true;
    result->blocked = op;
    for (uint32_t i = 0; noted && i < s->slots.count; i++) {
        if (s->slots.at[i].taken)
            noted = rig_object_order_add(&result->open, s->slots.at[i].op);
    }
    for (uint32_t i = 0; noted && i < s->now.count; i++) {
        const uint32_t state = (uint32_t)config(s, &s->now, i)[STATE];
        bool is_new = true;
        for (size_t j = 0; j < result->states.count; j++)
            is_new &= result->states.at[j] != state;
        noted = !is_new || rig_object_reached_add(&result->states, state);
    }
    return noted;
}

static bool note_order(const struct search *s, struct rig_object_result *result)
{
    RIG_REQUIRE(s->now.count > 0);
    for (uint64_t m = config(s, &s->now, 0)[MOVE]; m != none; m = s->moves.at[m].before) {
        RIG_INVARIANT(m < s->moves.count);
        if (!rig_object_order_add(&result->order, s->moves.at[m].op))
            return false;
    }
    for (size_t i = 0, j = result->order.count; i + 1 < j; i++) {
        const uint32_t op = result->order.at[i];
        result->order.at[i] = result->order.at[--j];
        result->order.at[j] = op;
    }
    return true;
}

static int compare_ends(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The completions that have to be explained, ascending: position << 32 | operation. NULL when memory runs out. */
static uint64_t *sort_ends(const struct rig_object_part *part, uint32_t *end_count)
{
    uint64_t *ends = calloc((size_t)part->count + 1, sizeof *ends);
    for (uint32_t i = 0; ends != NULL && i < part->count; i++) {
        RIG_INVARIANT(part->begin == NULL || part->ops[i].end > part->from);
        if (part->ops[i].end != RIG_POSITION_NONE && part->ops[i].end <= part->until)
            ends[(*end_count)++] = (uint64_t)part->ops[i].end << 32 | i;
    }
    if (ends != NULL)
        qsort(ends, *end_count, sizeof *ends, compare_ends);
    return ends;
}

/* ---- parts ---- */

static void add_begin(struct search *s, const struct rig_object_configs *begin, uint32_t number)
{
    RIG_REQUIRE(number < begin->states.count && number + 1 < begin->first.count);
    const size_t length = BITS + s->width;
    memset(s->next.at, 0, length * sizeof(uint64_t));
    s->next.at[STATE] = begin->states.at[number];
    s->next.at[MOVE] = none;
    for (uint32_t i = begin->first.at[number]; i < begin->first.at[number + 1]; i++) {
        uint32_t place = 0;
        while (place < s->slots.count && s->slots.at[place].op != begin->used.at[i])
            place++;
        RIG_INVARIANT(place < s->slots.count && "an operation that took effect was invoked");
        set_bit(s->next.at, place);
    }
    add(s, &s->now, s->next.at);
}

/* Sets up the configurations, and returns how many operations were invoked. */
static uint32_t begin_part(struct search *s)
{
    const struct rig_object_part *part = s->part;
    const uint64_t initial[BITS] = {s->model->initial, none};
    uint32_t invoked = 0;
    if (part->begin == NULL) {
        add(s, &s->now, initial);
        return 0;
    }
    while (invoked < part->count && part->ops[invoked].invoke < part->from && !s->failed)
        invoke(s, invoked++);
    for (uint32_t i = 0; i < part->begin->states.count && !s->failed; i++)
        add_begin(s, part->begin, i);
    RIG_INVARIANT(s->failed || s->now.count > 0);
    return invoked;
}

static bool note_end(const struct search *s, struct rig_object_result *result)
{
    RIG_REQUIRE(s->now.count > 0);
    struct rig_object_configs *end = &result->end;
    bool noted = true;
    for (uint32_t i = 0; noted && i < s->slots.count; i++)
        noted = !s->slots.at[i].taken || rig_object_order_add(&result->left, s->slots.at[i].op);
    for (uint32_t c = 0; noted && c < s->now.count; c++) {
        const uint64_t *at = config(s, &s->now, c);
        noted = rig_object_order_add(&end->states, (uint32_t)at[STATE]) &&
                rig_object_order_add(&end->first, (uint32_t)end->used.count);
        for (uint32_t i = 0; noted && i < s->slots.count; i++)
            noted = !s->slots.at[i].taken || !has_bit(at, i) || rig_object_order_add(&end->used, s->slots.at[i].op);
    }
    return noted && rig_object_order_add(&end->first, (uint32_t)end->used.count);
}

/* Whether the strings at the completion all need to be kept apart, and there are too many of them. Before the first
 * such completion the configurations are kept, as an end that the part can have. */
static bool ends_before(struct search *s, uint32_t position)
{
    enum { FEW = 64, FEW_STEPS = 1 << 12 };
    const size_t words = (size_t)s->now.count * (BITS + s->width);
    struct kept *kept = &s->kept;
    if (s->model->strings == NULL || position <= s->model->strings->vague_until)
        return false;
    if (kept->any)
        return s->now.count > FEW || s->steps - kept->steps > FEW_STEPS;
    *kept = (struct kept){.count = s->now.count, .width = s->width, .steps = s->steps, .any = true};
    if (!words_reserve(&kept->at, words + 1) || !slots_reserve(&kept->slots, s->slots.count + 1)) {
        s->failed = true;
        return false;
    }
    memcpy(kept->at.at, s->now.at.at, words * sizeof *s->now.at.at);
    if (s->slots.count > 0)
        memcpy(kept->slots.at, s->slots.at, s->slots.count * sizeof *s->slots.at);
    kept->at.count = words;
    kept->slots.count = s->slots.count;
    return false;
}

/* Goes back to the configurations that were kept. */
static void restore(struct search *s)
{
    RIG_REQUIRE(s->kept.any && s->kept.at.count == (size_t)s->kept.count * (BITS + s->kept.width));
    const struct words at = s->now.at;
    const struct slots slots = s->slots;
    s->now.at = s->kept.at;
    s->now.count = s->kept.count;
    s->slots = s->kept.slots;
    s->width = s->kept.width;
    s->kept.at = at;
    s->kept.slots = slots;
}

static enum rig_object_answer explain(struct search *s, const uint64_t *ends, uint32_t end_count,
                                      struct rig_object_result *result)
{
    const uint32_t count = s->part->count;
    uint32_t invoked = begin_part(s), kept_at = s->part->from;
    uint64_t looked = 0;
    result->end_at = s->part->from;
    for (uint32_t i = 0; i < end_count; i++) {
        const uint32_t op = (uint32_t)ends[i], position = (uint32_t)(ends[i] >> 32);
        kept_at = s->kept.any ? kept_at : result->end_at;
        if (ends_before(s, position)) {
            restore(s);
            result->end_at = kept_at;
            return RIG_OBJECT_LINEARIZABLE;
        }
        s->failed |= s->model->strings != NULL && !rig_object_strings_move(s->model->strings, position);
        while (invoked < count && s->ops[invoked].invoke <= position && !s->failed)
            invoke(s, invoked++);
        RIG_INVARIANT(s->failed || op < invoked);
        enum rig_object_answer answer = s->failed ? RIG_OBJECT_NO_MEMORY : complete(s, op);
        result->explained = i;
        result->end_at = answer == RIG_OBJECT_LINEARIZABLE ? position : result->end_at;
        if (answer == RIG_OBJECT_LINEARIZABLE && s->steps - looked > STEPS_BETWEEN_LOOKS) {
            looked = s->steps;
            answer = look(s);
        }
        if (s->kept.any && (answer == RIG_OBJECT_TIME || answer == RIG_OBJECT_MEMORY)) {
            restore(s);
            result->end_at = kept_at;
            return RIG_OBJECT_LINEARIZABLE;
        }
        if (answer == RIG_OBJECT_REFUTED && !note_refuted(s, op, result))
            answer = RIG_OBJECT_NO_MEMORY;
        if (answer != RIG_OBJECT_LINEARIZABLE)
            return answer;
    }
    return s->failed ? RIG_OBJECT_NO_MEMORY : RIG_OBJECT_LINEARIZABLE;
}

static enum rig_object_answer run(struct search *s, struct rig_object_result *result)
{
    uint32_t end_count = 0;
    uint64_t *ends = sort_ends(s->part, &end_count);
    enum rig_object_answer answer = ends == NULL ? RIG_OBJECT_NO_MEMORY : explain(s, ends, end_count, result);
    free(ends);
    const bool is_last = s->part->until == RIG_POSITION_NONE;
    if (answer == RIG_OBJECT_LINEARIZABLE && !(is_last ? note_order(s, result) : note_end(s, result)))
        answer = RIG_OBJECT_NO_MEMORY;
    return answer;
}

static void stage_init(struct stage *stage)
{
    *stage = (struct stage){.count = 0};
    rig_table_init(&stage->chains);
}

static void stage_done(struct stage *stage)
{
    words_done(&stage->at);
    numbers_done(&stage->link);
    rig_table_done(&stage->chains);
}

enum rig_object_answer rig_object_search(struct rig_object_model *model, const struct rig_object_part *part,
                                         const struct rig_object_search_limits *limits,
                                         struct rig_object_result *result)
{
    RIG_REQUIRE(model->initial < model->states.count);
    RIG_REQUIRE(part->begin == NULL || part->begin->first.count == part->begin->states.count + 1);
    struct search s = {.model = model, .part = part, .ops = part->ops, .limits = limits};
    *result = (struct rig_object_result){0};
    stage_init(&s.now);
    stage_init(&s.work);
    stage_init(&s.after);
    s.failed = !words_reserve(&s.next, BITS);
    if (model->strings != NULL)
        rig_object_strings_begin(model->strings);
    const enum rig_object_answer answer = s.failed ? RIG_OBJECT_NO_MEMORY : run(&s, result);
    slots_done(&s.slots);
    words_done(&s.unknown);
    words_done(&s.next);
    stage_done(&s.now);
    stage_done(&s.work);
    stage_done(&s.after);
    moves_done(&s.moves);
    words_done(&s.kept.at);
    slots_done(&s.kept.slots);
    return answer;
}

void rig_object_part_done(const struct rig_object_part *part, const struct rig_object_result *result, uint8_t *done)
{
    const struct rig_object_order *left = &result->left;
    for (uint32_t i = 0; i < part->count; i++)
        done[i] = part->ops[i].end <= result->end_at ||
                  (part->ops[i].end == RIG_POSITION_NONE && part->ops[i].invoke < result->end_at);
    for (size_t i = 0; i < left->count; i++) {
        RIG_INVARIANT(left->at[i] < part->count);
        done[left->at[i]] = 0;
    }
}

void rig_object_configs_done(struct rig_object_configs *configs)
{
    rig_object_order_done(&configs->states);
    rig_object_order_done(&configs->first);
    rig_object_order_done(&configs->used);
}

void rig_object_result_done(struct rig_object_result *result)
{
    rig_object_order_done(&result->order);
    rig_object_configs_done(&result->end);
    rig_object_order_done(&result->left);
    rig_object_order_done(&result->open);
    rig_object_reached_done(&result->states);
}
