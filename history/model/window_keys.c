/* The keys of a window and the lists that were read of them. */
#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "history/model/read_list.h"
#include "history/model/window_private.h"

/*
 * How many transactions committed while one that was held was open (RIG_COLUMN_MEANWHILE), counted exactly as segments
 * are added, independent of releases.
 *
 * It is the difference of two counts: transactions that were ok up to its completion, and up to its invocation. The
 * latter is noted for each transaction that is open at the end of a segment, so that nothing else has to be kept.
 */

/* The first of `count` marks with an invocation at `position` or later. */
static size_t find_mark(const struct rig_open_mark *marks, size_t count, uint32_t position)
{
    size_t low = 0, high = count;
    while (low < high)
        rig_halve_size(&low, &high, marks[rig_middle_size(low, high)].invoke_at < position);
    return low;
}

/* How many of the segment's transactions completed before `position`. */
static size_t completed_before(const struct rig_segment *segment, uint32_t position)
{
    size_t low = 0, high = segment->txns.count;
    while (low < high)
        rig_halve_size(&low, &high, segment->txns.at[rig_middle_size(low, high)].complete_at < position);
    return low;
}

/* Per transaction, how many of the segment were ok before it; after the last one, how many in all. */
static bool count_ok(struct rig_window *window, const struct rig_segment *segment)
{
    uint32_t count = 0;
    if (!rig_window_uint32s_reserve(&window->ok_before, segment->txns.count + 1))
        return false;
    for (size_t i = 0; i < segment->txns.count; i++) {
        window->ok_before.at[i] = count;
        count += segment->txns.at[i].outcome == RIG_OUTCOME_OK;
    }
    window->ok_before.at[segment->txns.count] = count;
    return true;
}

bool rig_window_count_meanwhile(struct rig_window *window, const struct rig_segment *segment)
{
    const struct rig_column_values *held = &segment->columns.of[RIG_COLUMN_HELD];
    const uint64_t before = window->ok_count;
    if (held->count == 0 || segment->unordered)
        return true;
    if (!count_ok(window, segment))
        return false;
    for (size_t i = 0; i < held->count && i < segment->txns.count; i++) {
        const uint32_t invoke_at = segment->txns.at[i].invoke_at;
        if (held->at[i] == RIG_COLUMN_NONE || invoke_at == RIG_POSITION_NONE)
            continue;
        const size_t mark = find_mark(window->marks.at, window->marks.count, invoke_at);
        const bool known = mark < window->marks.count && window->marks.at[mark].invoke_at == invoke_at;
        const uint64_t at_invocation = known ? window->marks.at[mark].ok_count
                                             : before + window->ok_before.at[completed_before(segment, invoke_at)];
        const uint64_t at_completion = before + window->ok_before.at[i];
        RIG_INVARIANT(at_completion >= at_invocation);
        if (!rig_columns_set(&window->columns, RIG_COLUMN_MEANWHILE, window->txns.count + i,
                             (int64_t)(at_completion - at_invocation)))
            return false;
    }
    return true;
}

/* Backwards from the last one, so that only the segment's end is read, down to the first invocation in it. */
bool rig_window_mark_open(struct rig_window *window, const struct rig_segment *segment)
{
    const size_t count = window->open.count;
    uint64_t ok_count = window->ok_count;
    size_t next = segment->txns.count, old = window->marks.count;
    if (!rig_open_marks_reserve(&window->new_marks, count))
        return false;
    for (size_t i = count; i-- > 0;) {
        const uint32_t invoke_at = window->open.at[i].invoke_at;
        while (old > 0 && window->marks.at[old - 1].invoke_at > invoke_at)
            old--;
        if (old > 0 && window->marks.at[old - 1].invoke_at == invoke_at) {
            window->new_marks.at[i] = window->marks.at[old - 1];
            continue;
        }
        for (; next > 0 && segment->txns.at[next - 1].complete_at > invoke_at; next--)
            ok_count -= segment->txns.at[next - 1].outcome == RIG_OUTCOME_OK;
        window->new_marks.at[i] = (struct rig_open_mark){.ok_count = ok_count, .invoke_at = invoke_at};
    }
    struct rig_open_marks marks = window->marks;
    window->marks = window->new_marks;
    window->new_marks = marks;
    window->marks.count = count;
    return true;
}

/* A window's summary of its operations: struct rig_op_summary. */

/* Times within a segment are estimated as if all transactions had equally many operations. */
static void take_use_times(struct rig_window *window, const struct rig_segment *segment,
                           const struct rig_key_note *note, struct rig_window_key *key)
{
    uint64_t first = (uint64_t)note->first_op * segment->txns.count / segment->ops.count;
    uint64_t last = (uint64_t)note->last_op * segment->txns.count / segment->ops.count;
    if (key->use_count == 0)
        key->first_at = window->added_count + first + 1;
    key->use_count += note->op_count;
    if (key->used_at < window->added_count + last + 1)
        key->used_at = window->added_count + last + 1;
}

static void take_key_note(struct rig_window *window, const struct rig_list_place *place,
                          const struct rig_key_note *note, uint32_t op_base)
{
    struct rig_key_use *use = &window->uses.at[place->key];
    const uint32_t longest = rig_data_type_has_sequences(window->type) ? (uint32_t)(note->longest_read >> 32) : 0;
    use->lowest = note->lowest < use->lowest ? note->lowest : use->lowest;
    use->highest = note->highest > use->highest ? note->highest : use->highest;
    use->appends += note->appends;
    use->first_op = op_base + note->first_op < use->first_op ? op_base + note->first_op : use->first_op;
    window->contradicted |= longest > 0 && longest - 1 > place->agreed;
    if (longest > use->longest) {
        use->longest = longest;
        use->longest_txn = (uint32_t)window->txns.count + ~(uint32_t)note->longest_read;
    }
}

/* Whether one of the kinds, a bit each, is of another data type. */
static bool is_foreign(const struct rig_window *window, uint32_t kinds)
{
    const uint32_t own = UINT32_C(1) << window->type->write_op | UINT32_C(1) << window->type->read_op |
                         rig_object_further_ops((enum rig_workload)(window->type - rig_data_types));
    return (kinds & ~own) != 0;
}

void rig_window_take_note(struct rig_window *window, const struct rig_segment *segment,
                          const struct rig_segment_note *note)
{
    const uint32_t op_base = (uint32_t)window->ops.count, txn_base = (uint32_t)window->txns.count;
    struct rig_owned_op *to = window->appends.at + window->appends.count;
    RIG_REQUIRE(note->keys.count == segment->keys.count);
    for (size_t i = 0; i < segment->keys.count; i++) {
        const struct rig_list_place *place = &window->key_places.at[i];
        if (note->keys.at[i].op_count == 0)
            continue;
        take_use_times(window, segment, &note->keys.at[i], &window->keys.at[place->key]);
        take_key_note(window, place, &note->keys.at[i], op_base);
    }
    for (size_t i = 0; i < note->appends.count; i++) {
        const struct rig_owned_op append = note->appends.at[i];
        to[i] = (struct rig_owned_op){.op = op_base + append.op, .txn = txn_base + append.txn};
    }
    window->appends.count += note->appends.count;
    window->any_foreign |= is_foreign(window, note->kinds);
}

/* Without branches: reads, writes and failed transactions are in random order. */
static void recount_op(struct rig_window *window, uint32_t op, uint32_t txn, bool failed, bool committed)
{
    const struct rig_txn_op *mop = &window->ops.at[op];
    struct rig_key_use *use = &window->uses.at[mop->key];
    struct rig_owned_op *to = &window->appends.at[window->appends.count];
    bool grows = rig_op_grows(mop->kind), reads = rig_txn_op_reads_list(mop);
    bool branch = rig_txn_op_is_branch(mop);
    window->any_foreign |= is_foreign(window, UINT32_C(1) << mop->kind);
    window->any_branch |= reads & branch & !failed;
    *to = (struct rig_owned_op){.op = op, .txn = txn};
    use->first_op = op < use->first_op ? op : use->first_op;
    window->appends.count += grows;
    uint32_t longer = 0U - (uint32_t)(reads & !branch & committed & (mop->count + 1 > use->longest));
    use->longest ^= (use->longest ^ (mop->count + 1)) & longer;
    use->longest_txn ^= (use->longest_txn ^ txn) & longer;
}

static void recount_append(struct rig_window *window, const struct rig_txn_op *mop)
{
    struct rig_key_use *use = &window->uses.at[mop->key];
    use->lowest = mop->value < use->lowest ? mop->value : use->lowest;
    use->highest = mop->value > use->highest ? mop->value : use->highest;
    use->appends++;
}

void rig_window_recount(struct rig_window *window)
{
    size_t append_count = window->appends.count;
    window->uses.count = window->keys.count;
    window->appends.count = 0;
    window->any_branch = window->any_foreign = window->contradicted = false;
    for (size_t key = 0; key < window->keys.count; key++)
        window->uses.at[key] = rig_key_use_none();
    for (uint32_t txn = 0; txn < window->txns.count; txn++) {
        const struct rig_txn *t = &window->txns.at[txn];
        size_t end = txn + 1 < window->txns.count ? t[1].first_op : window->ops.count;
        bool failed = t->outcome == RIG_OUTCOME_FAIL;
        bool committed = rig_txn_is_committed(t);
        for (uint32_t op = t->first_op; op < end; op++)
            recount_op(window, op, txn, failed, committed);
    }
    RIG_INVARIANT(window->appends.count <= append_count);
    for (size_t i = 0; i < window->appends.count; i++)
        recount_append(window, &window->ops.at[window->appends.at[i].op]);
}

uint32_t rig_window_key_id(struct rig_window *window, int64_t name)
{
    uint32_t *id = rig_table_put(&window->key_ids, (uint64_t)name);
    if (id == NULL)
        return RIG_WINDOW_NONE;
    if (*id != RIG_TABLE_NONE)
        return *id;
    if (window->names.count >= UINT32_MAX / 2 || !rig_window_int64s_add(&window->names, name) ||
        !rig_window_uses_add(&window->uses, rig_key_use_none()) ||
        !rig_window_keys_add(&window->keys, (struct rig_window_key){.last_branch = RIG_WINDOW_NONE}))
        return RIG_WINDOW_NONE;
    return *id = (uint32_t)(window->names.count - 1);
}

enum rig_rc rig_window_text_key(struct rig_window *window, const char *text, size_t length, int64_t *name,
                                struct rig_err *err)
{
    if (window->key_texts.count == 0 && window->names.count > 0)
        return rig_fail(err, RIG_E_INPUT, "a text key in a history whose keys are numbers; use one kind of key");
    if (memchr(text, '\0', length) != NULL)
        return rig_fail(err, RIG_E_INPUT, "a key with a NUL character in it; rename the key");
    uint32_t id = rig_text_table_put(&window->key_texts, text, length);
    if (id == RIG_TABLE_NONE)
        return rig_window_no_room(window, err);
    *name = id;
    return RIG_OK;
}

/* Appends the list's elements with indices in [from, to). */
static bool add_elements(struct rig_window *window, struct rig_growing_list *to, const struct rig_read_list *list,
                         uint32_t from, uint32_t end)
{
    if (!rig_growing_list_reserve(&window->pool, to, end - from))
        return false;
    if (from < end)
        rig_read_copy(list, from, end, to->at + to->count);
    to->count += end - from;
    return true;
}

/* The list leaves the key's spine after the first place->agreed elements. */
static bool place_branch(struct rig_window *window, struct rig_list_place *place, const struct rig_read_list *list)
{
    struct rig_window_key *key = &window->keys.at[place->key];
    struct rig_growing_branch *last =
        key->last_branch == RIG_WINDOW_NONE ? NULL : &window->branches.at[key->last_branch];
    if (last == NULL || !rig_growing_branch_agrees(last, list, place->agreed)) {
        if (window->branches.count >= UINT32_MAX / 2 ||
            !rig_growing_branches_add(&window->branches,
                                      (struct rig_growing_branch){.key = place->key, .shared = place->agreed}))
            return false;
        key->last_branch = (uint32_t)(window->branches.count - 1);
        last = &window->branches.at[key->last_branch];
    }
    place->branch = key->last_branch;
    return rig_growing_branch_extend(&window->pool, last, list);
}

static uint32_t first_difference(const int64_t *a, const int64_t *b, uint32_t count)
{
    enum { BLOCK = 64 };
    uint32_t at = 0;
    if (count > 0 && a[count - 1] == b[count - 1] && memcmp(a, b, count * sizeof *a) == 0)
        return count;
    while (count - at > BLOCK && memcmp(a + at, b + at, BLOCK * sizeof *a) == 0)
        at += BLOCK;
    while (at < count && a[at] == b[at])
        at++;
    return at;
}

/* How many elements the list shares with the spine; the first `known` are known to be shared. */
static uint32_t count_agreed(const struct rig_growing_list *spine, const struct rig_read_list *list, uint32_t known)
{
    uint32_t common = list->count < spine->count ? list->count : spine->count;
    uint32_t first = list->shared < common ? list->shared : common;
    if (known < first)
        known += first_difference(spine->at + known, list->at + known, first - known);
    if (known < first || known >= common)
        return known;
    return known + first_difference(spine->at + known, list->tail + (known - list->shared), common - known);
}

bool rig_window_place_list(struct rig_window *window, const struct rig_read_list *list, uint32_t known, uint32_t good,
                           struct rig_list_place *place)
{
    struct rig_growing_list *spine = &window->keys.at[place->key].spine;
    place->branch = RIG_WINDOW_NONE;
    place->agreed = count_agreed(spine, list, known);
    if (place->agreed == spine->count && good > spine->count) {
        if (!add_elements(window, spine, list, spine->count, good))
            return false;
        place->agreed = good;
    }
    return place->agreed == list->count || place_branch(window, place, list);
}
