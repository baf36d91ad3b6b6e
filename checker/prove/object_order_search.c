#include "checker/prove/object_order_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/table.h"
#include "checker/prove/object_initial.h"
#include "checker/prove/replay_objects.h"
#include "history/types/object_specification.h"
#include "history/types/types.h"

/* Values are numbered for few operations of one group: else the look at all of them takes longer than it saves. */
enum { MOST_NUMBERED = 512 };

static const uint32_t none = UINT32_MAX;

RIG_VEC(uint64_t, words)
RIG_VEC(uint32_t, links)

/* Distinct records of 64-bit words. */
struct records {
    struct words words;
    struct links first; /* per record: where it begins in words */
    struct links chain; /* per record: one more than another one of the same hash, or 0 */
    struct rig_table table;
};

struct unit {
    struct rig_order_unit of;
    uint32_t txn, object;
    uint32_t needs, gives; /* of registers and locks: states that it observes first, and leaves; `none` */
    uint32_t equal;        /* of unknown outcome: one more than the number of an equal one before it; 0: none */
    bool observes;
};

struct group {
    uint32_t first, count; /* its certain units */
    uint32_t place;        /* in a configuration: how many units took effect without a gap */
    uint32_t window;       /* in a configuration: words of bits for the units after these */
    uint32_t earliest;     /* in the configuration at hand: the first end of one that is left */
};

struct searching {
    const struct rig_order_search *question;
    const struct rig_history *history;
    struct unit *units; /* the certain ones by group, then the others */
    uint32_t count, certain;
    struct group *groups;
    uint32_t object_count;
    uint32_t unknown_at;   /* in a configuration, after the states and the groups: bits of units of unknown outcome */
    size_t size;           /* words of a configuration */
    uint32_t length;       /* certain units that took effect in the configurations of `now` */
    struct records states; /* the value, the length of the text, the text, the row */
    struct records now, next;
    struct rig_replay_object object;
    struct words state, from, scratch;
    struct links given; /* per state of a register: the number of the look by which a unit that is left leaves it */
    uint32_t looks;
    uint64_t steps;
    int64_t nil;
    bool explained, spent, no_memory;
};

/* ---- records ---- */

static uint64_t hash_of(const uint64_t *at, size_t count)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ count;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

static size_t record_end(const struct records *r, uint32_t record)
{
    RIG_REQUIRE(record < r->first.count);
    return record + 1 < r->first.count ? r->first.at[record + 1] : r->words.count;
}

/* Whether a record is the same in its first `known` words, and has no bit beyond those of the others. */
static bool is_as_good(const uint64_t *record, const uint64_t *at, size_t known, size_t count)
{
    bool as_good = memcmp(record, at, known * sizeof *at) == 0;
    for (size_t i = known; as_good && i < count; i++)
        as_good = (record[i] & ~at[i]) == 0;
    return as_good;
}

/* The number of the record, new or as good as a known one; `none` when memory runs out or the limit is met. */
static uint32_t put_record(struct searching *s, struct records *r, const uint64_t *at, size_t known, size_t count)
{
    RIG_REQUIRE(known > 0 && known <= count);
    uint32_t *slot = rig_table_put(&r->table, hash_of(at, known));
    const uint32_t last = slot == NULL || *slot == RIG_TABLE_NONE ? 0 : *slot + 1, number = (uint32_t)r->first.count;
    for (uint32_t i = last; i > 0; i = r->chain.at[i - 1]) {
        RIG_INVARIANT(i <= number);
        if (record_end(r, i - 1) - r->first.at[i - 1] == count &&
            is_as_good(r->words.at + r->first.at[i - 1], at, known, count))
            return i - 1;
    }
    s->spent |= r->words.count + count > s->question->most_words;
    if (slot == NULL || s->spent || !words_reserve(&r->words, r->words.count + count) ||
        !links_add(&r->first, (uint32_t)r->words.count) || !links_add(&r->chain, last)) {
        s->no_memory |= !s->spent;
        return none;
    }
    memcpy(r->words.at + r->words.count, at, count * sizeof *at);
    r->words.count += count;
    *slot = number;
    return number;
}

static void clear_records(struct records *r)
{
    enum { SMALL = 4096 };
    r->words.count = r->first.count = r->chain.count = 0;
    if (r->table.slot_count <= SMALL) {
        rig_table_clear(&r->table);
        return;
    }
    rig_table_done(&r->table);
    rig_table_init(&r->table);
}

static void records_done(struct records *r)
{
    words_done(&r->words);
    links_done(&r->first);
    links_done(&r->chain);
    rig_table_done(&r->table);
}

/* ---- states of an object ---- */

static void load_state(struct searching *s, uint32_t state)
{
    const size_t end = record_end(&s->states, state), first = s->states.first.at[state];
    const uint64_t *at = s->states.words.at + first;
    const size_t size = (size_t)at[1], text = (size + 7) / 8;
    struct rig_replay_object *object = &s->object;
    RIG_INVARIANT(first + 2 + text <= end);
    object->value = (int64_t)at[0];
    rig_buf_clear(&object->text);
    rig_buf_add(&object->text, (const char *)(at + 2), size);
    object->row.count = object->from = 0;
    for (size_t i = 2 + text; i < end - first; i++)
        object->no_memory |= !rig_replay_row_add(&object->row, (int64_t)at[i]);
    object->no_memory |= object->text.failed;
}

static uint32_t save_state(struct searching *s)
{
    const struct rig_replay_object *object = &s->object;
    const size_t text = (object->text.size + 7) / 8, row = object->row.count - object->from;
    RIG_REQUIRE(object->from <= object->row.count);
    if (object->no_memory || !words_reserve(&s->state, 2 + text + row)) {
        s->no_memory = true;
        return none;
    }
    uint64_t *at = s->state.at;
    at[0] = (uint64_t)object->value;
    at[1] = object->text.size;
    memset(at + 2, 0, text * sizeof *at);
    if (object->text.size > 0)
        memcpy(at + 2, rig_buf_text(&object->text), object->text.size);
    for (size_t i = 0; i < row; i++)
        at[2 + text + i] = (uint64_t)object->row.at[object->from + i];
    s->steps += 2 + text + row;
    return put_record(s, &s->states, at, 2 + text + row, 2 + text + row);
}

/* The state after the unit; false: it is impossible. */
static bool apply(struct searching *s, const struct unit *unit, uint32_t state, uint32_t *after)
{
    const bool calls = rig_replay_object_has_calls(s->history->workload);
    load_state(s, state);
    rig_replay_object_time(&s->object, &s->history->txns[unit->txn], s->question->in_time);
    if (calls && !rig_replay_object_call(&s->object, s->history, s->history->ops + unit->of.first_op,
                                         unit->of.end_op - unit->of.first_op)) {
        s->no_memory |= s->object.no_memory;
        return false;
    }
    for (uint32_t op = unit->of.first_op; !calls && op < unit->of.end_op; op++) {
        if (!rig_replay_object_apply(&s->object, s->history->workload, s->nil, &s->history->ops[op]))
            return false;
    }
    *after = unit->observes ? state : save_state(s);
    s->no_memory |= s->object.no_memory;
    return !s->no_memory && !s->spent;
}

/* ---- units ---- */

bool rig_op_observes(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_READ_REGISTER || op->kind == RIG_OP_EXPECT ||
           (op->kind == RIG_OP_TOKEN && op->read_state != RIG_READ_SEEN) ||
           (rig_replay_object_takes(op) && op->read_state == RIG_READ_NIL);
}

bool rig_ops_observe(const struct rig_history *history, uint32_t first, uint32_t end)
{
    RIG_REQUIRE(first < end && end <= history->op_count);
    const struct rig_txn_op *ops = history->ops + first;
    bool all = true;
    if (rig_replay_object_has_calls(history->workload))
        return history->specification != NULL && rig_specification_observes(history->specification, ops, end - first);
    for (uint32_t i = 0; i < end - first; i++)
        all = all && rig_op_observes(&ops[i]);
    return all || (end - first == 2 && ops[0].kind == RIG_OP_EXPECT && ops[1].kind == RIG_OP_WRITE &&
                   ops[0].value == ops[1].value);
}

/* Certain ones first; those of a group by their beginnings. */
static int compare_units(const void *left, const void *right)
{
    const struct rig_order_unit *a = left, *b = right;
    if (a->certain != b->certain)
        return a->certain ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->first_op > b->first_op) - (a->first_op < b->first_op);
}

static bool same_operation(const struct searching *s, const struct unit *a, const struct unit *b)
{
    const struct rig_txn_op *ops = s->history->ops + a->of.first_op, *others = s->history->ops + b->of.first_op;
    const uint32_t count = a->of.end_op - a->of.first_op;
    bool same = count == b->of.end_op - b->of.first_op && a->object == b->object && a->of.group == b->of.group;
    for (uint32_t i = 0; same && i < count; i++)
        same = ops[i].kind == others[i].kind && ops[i].read_state == others[i].read_state &&
               ops[i].value == others[i].value && ops[i].kind != RIG_OP_LEASE;
    return same;
}

/* Takes over the units. One that only observes, and perhaps did not happen, need not happen. Where the object of a
 * model may be in several states, a result rules some of them out. */
static bool take_units(struct searching *s)
{
    const struct rig_specification *specification = s->history->specification;
    const bool rules_out = rig_replay_object_has_calls(s->history->workload) && specification != NULL &&
                           specification->is_nondeterministic;
    struct rig_order_units *units = s->question->units;
    uint32_t *object_of = calloc((size_t)s->history->key_count + 1, sizeof *object_of); /* one more; 0: none */
    s->units = calloc(units->count + 1, sizeof *s->units);
    if (object_of == NULL || s->units == NULL) {
        free(object_of);
        return false;
    }
    if (units->count > 1)
        qsort(units->at, units->count, sizeof *units->at, compare_units);
    for (size_t i = 0; i < units->count; i++) {
        const struct rig_order_unit *of = &units->at[i];
        const bool observes = rig_ops_observe(s->history, of->first_op, of->end_op);
        uint32_t *object = &object_of[s->history->ops[of->first_op].key];
        RIG_REQUIRE(of->group < s->question->group_count && of->begin <= of->end);
        *object = *object == 0 ? ++s->object_count : *object;
        if (observes && !of->certain)
            continue;
        struct unit *unit = &s->units[s->count];
        *unit = (struct unit){.of = *of,
                              .txn = rig_history_txn_of(s->history, of->first_op),
                              .object = *object - 1,
                              .needs = none,
                              .gives = none,
                              .observes = observes && !rules_out};
        for (uint32_t j = s->count++; !of->certain && unit->equal == 0 && j-- > s->certain;)
            unit->equal = same_operation(s, unit, &s->units[j]) ? j + 1 : 0;
        s->certain += of->certain;
    }
    free(object_of);
    return true;
}

/* Operations that may take effect while an earlier one is left, at most. */
static uint32_t most_ahead(const struct searching *s, const struct group *group)
{
    const struct unit *units = s->units + group->first;
    uint32_t most = 0, after = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        RIG_INVARIANT(units[i].of.certain && (i == 0 || units[i - 1].of.begin <= units[i].of.begin));
        for (after = i; after < group->count && units[after].of.begin <= units[i].of.end; after++) {
        }
        most = after - i > most ? after - i : most;
    }
    return most;
}

static bool make_groups(struct searching *s)
{
    uint32_t place = s->object_count;
    s->groups = calloc((size_t)s->question->group_count + 1, sizeof *s->groups);
    if (s->groups == NULL)
        return false;
    for (uint32_t u = 0; u < s->certain; u++) {
        struct group *group = &s->groups[s->units[u].of.group];
        group->first = group->count == 0 ? u : group->first;
        group->count++;
    }
    for (uint32_t g = 0; g < s->question->group_count; g++) {
        const uint32_t ahead = most_ahead(s, &s->groups[g]);
        s->groups[g].place = place;
        s->groups[g].window = ahead <= 1 ? 0 : ahead / 64 + 1;
        place += 1 + s->groups[g].window;
    }
    s->unknown_at = place;
    s->size = place + (s->count - s->certain) / 64 + 1;
    return words_reserve(&s->from, s->size) && words_reserve(&s->scratch, s->size);
}

/* ---- values of registers and locks ---- */

static uint32_t state_of(struct searching *s, const struct rig_txn_op *op)
{
    s->object.value = op->read_state == RIG_READ_NIL ? s->nil : op->value;
    s->object.row.count = s->object.from = 0;
    rig_buf_clear(&s->object.text);
    return save_state(s);
}

static bool have_values(const struct searching *s)
{
    const enum rig_workload workload = s->history->workload;
    if (rig_replay_object_has_row(workload) || rig_replay_object_has_owners(workload) ||
        rig_replay_object_has_calls(workload) || workload == RIG_WORKLOAD_APPEND_REGISTER ||
        (s->question->group_count == 1 && s->count > MOST_NUMBERED))
        return false;
    for (uint32_t u = 0; u < s->count; u++) {
        const struct rig_order_unit *unit = &s->units[u].of;
        const uint32_t count = unit->end_op - unit->first_op;
        if (count > 2 || (count == 2 && rig_op_observes(&s->history->ops[unit->end_op - 1])))
            return false; /* neither a single operation nor a compare-and-set */
    }
    return true;
}

static bool number_values(struct searching *s)
{
    if (!have_values(s))
        return true;
    for (uint32_t u = 0; u < s->count && !s->no_memory; u++) {
        struct unit *unit = &s->units[u];
        const struct rig_txn_op *first = &s->history->ops[unit->of.first_op],
                                *last = &s->history->ops[unit->of.end_op - 1];
        if (rig_op_observes(first) && (!rig_op_reads(first->kind) || first->read_state != RIG_READ_UNKNOWN))
            unit->needs = state_of(s, first);
        if (!rig_op_observes(last))
            unit->gives = state_of(s, last);
    }
    while (!s->no_memory && s->given.count < s->states.first.count)
        s->no_memory |= !links_add(&s->given, 0);
    return !s->no_memory;
}

/* ---- configurations ---- */

static bool is_left(const struct searching *s, const uint64_t *configuration, uint32_t u)
{
    if (u >= s->certain) {
        const uint32_t bit = u - s->certain;
        return (configuration[s->unknown_at + bit / 64] >> bit % 64 & 1) == 0;
    }
    const struct group *group = &s->groups[s->units[u].of.group];
    const uint64_t low = configuration[group->place], number = u - group->first;
    if (number < low || number - low >= (uint64_t)group->window * 64)
        return number >= low;
    return (configuration[group->place + 1 + (number - low) / 64] >> (number - low) % 64 & 1) == 0;
}

/* The unit took effect; moves `low` past those without a gap. */
static void note_effect(const struct searching *s, uint64_t *configuration, uint32_t u)
{
    RIG_REQUIRE(u < s->count && is_left(s, configuration, u));
    if (u >= s->certain) {
        const uint32_t bit = u - s->certain;
        configuration[s->unknown_at + bit / 64] |= UINT64_C(1) << bit % 64;
        return;
    }
    const struct group *group = &s->groups[s->units[u].of.group];
    uint64_t *low = &configuration[group->place], *bits = low + 1;
    const uint64_t place = u - group->first - *low;
    RIG_INVARIANT(group->window == 0 ? place == 0 : place < (uint64_t)group->window * 64);
    if (group->window == 0) {
        ++*low;
        return;
    }
    bits[place / 64] |= UINT64_C(1) << place % 64;
    while ((bits[0] & 1) != 0) {
        const unsigned ones = ~bits[0] == 0 ? 63 : (unsigned)__builtin_ctzll(~bits[0]);
        for (uint32_t w = 0; w < group->window; w++)
            bits[w] = bits[w] >> ones | (w + 1 < group->window ? bits[w + 1] << (64 - ones) : 0);
        *low += ones;
    }
    RIG_INVARIANT(*low <= group->count);
}

static void add_configuration(struct searching *s, struct records *to)
{
    (void)put_record(s, to, s->scratch.at, s->unknown_at, s->size);
    s->steps += s->size;
}

/* Finds, of each group, the first end of a unit that is left in s->from. */
static void find_ends(struct searching *s)
{
    for (uint32_t g = 0; g < s->question->group_count; g++) {
        struct group *group = &s->groups[g];
        group->earliest = none;
        for (uint64_t i = s->from.at[group->place]; i < group->count; i++) {
            const struct rig_order_unit *unit = &s->units[group->first + i].of;
            if (unit->begin > group->earliest)
                break;
            if (unit->end < group->earliest && is_left(s, s->from.at, group->first + (uint32_t)i))
                group->earliest = unit->end;
            s->steps++;
        }
    }
}

/* Whether a certain unit that is left needs a value that is not there, and that no other one leaves. */
static bool lacks_value(struct searching *s)
{
    bool lacks = false;
    if (s->given.count == 0)
        return false;
    s->looks++;
    for (uint32_t u = 0; u < s->count; u++) {
        if (s->units[u].gives != none && is_left(s, s->from.at, u))
            s->given.at[s->units[u].gives] = s->looks;
    }
    for (uint32_t u = 0; u < s->certain && !lacks; u++)
        lacks = s->units[u].needs != none && s->given.at[s->units[u].needs] != s->looks &&
                s->from.at[s->units[u].object] != s->units[u].needs && is_left(s, s->from.at, u);
    s->steps += s->count;
    return lacks;
}

/* ---- the search ---- */

/* Adds the configuration s->from with the unit. False: it is impossible there. */
static bool go_on(struct searching *s, uint32_t u)
{
    RIG_REQUIRE(u < s->count && is_left(s, s->from.at, u));
    const struct unit *unit = &s->units[u];
    uint32_t after;
    if (!apply(s, unit, (uint32_t)s->from.at[unit->object], &after))
        return false;
    memcpy(s->scratch.at, s->from.at, s->size * sizeof *s->scratch.at);
    s->scratch.at[unit->object] = after;
    note_effect(s, s->scratch.at, u);
    s->explained |= u < s->certain && s->length + 1 == s->certain;
    add_configuration(s, u < s->certain ? &s->next : &s->now);
    return true;
}

/* Goes on with the units of a group that may be next, and observe or not. Gives whether one that observes is
 * possible. */
static bool go_on_with(struct searching *s, const struct group *group, bool observing)
{
    for (uint64_t i = s->from.at[group->place]; i < group->count && !s->no_memory && !s->spent; i++) {
        const uint32_t u = group->first + (uint32_t)i;
        if (s->units[u].of.begin > group->earliest)
            break;
        s->steps++;
        if (s->units[u].observes == observing && is_left(s, s->from.at, u) && go_on(s, u) && observing)
            return true;
    }
    return false;
}

static void expand(struct searching *s, uint32_t number)
{
    RIG_REQUIRE(number < s->now.first.count);
    memcpy(s->from.at, s->now.words.at + (size_t)number * s->size, s->size * sizeof *s->from.at);
    find_ends(s);
    if (lacks_value(s))
        return;
    for (uint32_t g = 0; g < s->question->group_count; g++) {
        if (go_on_with(s, &s->groups[g], true))
            return;
    }
    for (uint32_t g = 0; g < s->question->group_count; g++)
        (void)go_on_with(s, &s->groups[g], false);
    for (uint32_t u = s->certain; u < s->count && !s->no_memory && !s->spent; u++) {
        const struct unit *unit = &s->units[u];
        if (unit->of.begin <= s->groups[unit->of.group].earliest && is_left(s, s->from.at, u) &&
            (unit->equal == 0 || !is_left(s, s->from.at, unit->equal - 1)))
            (void)go_on(s, u);
    }
}

/* The first unit that begins there, among [first, end); `end`: none does. */
static uint32_t find_unit(const struct searching *s, uint32_t first, uint32_t end, uint32_t begin)
{
    while (first < end && s->units[first].of.begin != begin)
        first++;
    return first;
}

static bool copy_numbers(struct rig_replay_row *row, const char *bytes, size_t size)
{
    if (!rig_replay_row_reserve(row, size / sizeof *row->at + 1))
        return false;
    memcpy(row->at, bytes, size);
    row->count = size / sizeof *row->at;
    return true;
}

/* The numbers of a lock. No lease was over before. */
static bool add_numbers(struct rig_replay_row *row, const char *bytes, size_t size)
{
    enum { SINCE = 6 };
    bool fits = true;
    for (size_t at = 0; fits && at + sizeof(int64_t) <= size; at += sizeof(int64_t)) {
        int64_t number;
        memcpy(&number, bytes + at, sizeof number);
        fits = (row->count != SINCE || rig_replay_row_add(row, 0)) && rig_replay_row_add(row, number);
    }
    return fits && (row->count != SINCE || rig_replay_row_add(row, 0));
}

/* Fills in s->scratch. Gives how many certain units have taken effect. */
static uint32_t begin_with(struct searching *s, const char *state, uint32_t number)
{
    const struct rig_search_from *from = s->question->from;
    uint32_t length = 0;
    RIG_REQUIRE(s->object_count == 1 && s->question->group_count == 1);
    s->object.row.count = s->object.from = 0;
    s->object.value = s->nil;
    rig_buf_clear(&s->object.text);
    if (s->history->workload == RIG_WORKLOAD_APPEND_REGISTER)
        rig_buf_add(&s->object.text, state, from->sizes[number]);
    else if (rig_replay_object_has_calls(s->history->workload))
        s->no_memory |= !copy_numbers(&s->object.row, state, from->sizes[number]);
    else if (rig_replay_object_has_owners(s->history->workload))
        s->no_memory |= !add_numbers(&s->object.row, state, from->sizes[number]);
    else
        memcpy(&s->object.value, state, sizeof s->object.value);
    memset(s->scratch.at, 0, s->size * sizeof *s->scratch.at);
    s->scratch.at[0] = save_state(s);
    for (uint32_t i = from->first[number]; i < from->first[number + 1]; i++) {
        const uint32_t certain = find_unit(s, 0, s->certain, from->used[i]),
                       unknown = find_unit(s, s->certain, s->count, from->used[i]);
        if (certain < s->certain || unknown < s->count)
            note_effect(s, s->scratch.at, certain < s->certain ? certain : unknown);
        length += certain < s->certain;
    }
    RIG_INVARIANT(length <= s->certain);
    return length;
}

/* Fills in the initial states of the objects. */
static void begin_objects(struct searching *s)
{
    int64_t *begins = malloc(((size_t)s->history->key_count + 1) * sizeof *begins);
    s->no_memory |= begins == NULL || !rig_object_initial_find(s->history, s->question->initial, begins);
    s->object.row.count = s->object.from = 0;
    rig_buf_clear(&s->object.text);
    for (uint32_t u = 0; u < s->count && !s->no_memory; u++) {
        s->object.value = begins[s->history->ops[s->units[u].of.first_op].key];
        s->scratch.at[s->units[u].object] = save_state(s);
    }
    free(begins);
}

/* Adds the configurations to begin with that have as many certain units as those of `now`. Gives whether others have
 * more. */
static bool begin_length(struct searching *s)
{
    const struct rig_search_from *from = s->question->from;
    bool longer = false;
    if (from == NULL && s->length == 0) {
        memset(s->scratch.at, 0, s->size * sizeof *s->scratch.at);
        begin_objects(s);
        if (!s->no_memory && !s->spent)
            add_configuration(s, &s->now);
    }
    const char *state = from == NULL ? NULL : from->states;
    for (uint32_t i = 0; from != NULL && i < from->count && !s->no_memory && !s->spent; i++) {
        const uint32_t own = begin_with(s, state, i);
        if (own == s->length && !s->no_memory && !s->spent)
            add_configuration(s, &s->now);
        s->explained |= own == s->certain;
        longer |= own > s->length;
        state += from->sizes[i];
    }
    return longer;
}

static bool may_go_on(struct searching *s, uint32_t number)
{
    enum { EACH = 256 };
    s->spent |= s->steps > s->question->most_steps ||
                (number % EACH == EACH - 1 && rig_clock_now_ns() > s->question->deadline_ns);
    return !s->explained && !s->spent && !s->no_memory;
}

static void search_all(struct searching *s)
{
    s->explained = s->certain == 0;
    for (; !s->explained && !s->no_memory && !s->spent; s->length++) {
        const bool later = begin_length(s);
        RIG_INVARIANT(s->length < s->certain || (s->now.first.count == 0 && !later));
        if (s->now.first.count == 0 && !later)
            return;
        for (uint32_t i = 0; i < s->now.first.count && may_go_on(s, i); i++)
            expand(s, i);
        const struct records empty = s->now;
        s->now = s->next;
        s->next = empty;
        clear_records(&s->next);
        (void)may_go_on(s, s->length);
    }
}

enum rig_search_answer rig_search_order(const struct rig_order_search *question)
{
    struct searching s = {.question = question, .history = question->history};
    RIG_REQUIRE(rig_workload_is_object(question->history->workload) && question->most_words < UINT32_MAX);
    RIG_REQUIRE(question->from == NULL || !rig_replay_object_has_row(question->history->workload));
    s.no_memory = !rig_replay_object_nil(s.history->workload, &s.nil);
    rig_replay_object_init(&s.object, s.nil);
    if (s.no_memory || !take_units(&s) || !make_groups(&s) || !number_values(&s))
        s.no_memory = true;
    if (!s.no_memory)
        search_all(&s);
    free(s.units);
    free(s.groups);
    records_done(&s.states);
    records_done(&s.now);
    records_done(&s.next);
    words_done(&s.state);
    words_done(&s.from);
    words_done(&s.scratch);
    links_done(&s.given);
    rig_replay_object_done(&s.object);
    return s.explained   ? RIG_SEARCH_ORDER
           : s.no_memory ? RIG_SEARCH_NO_MEMORY
           : s.spent     ? RIG_SEARCH_SPENT
                         : RIG_SEARCH_NO_ORDER;
}
