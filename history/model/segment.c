#include "history/model/segment.h"

#include "base/bug.h"
#include "history/types/types.h"

/* State of a pass over the operations. */
struct pass {
    struct rig_key_note *keys;
    struct rig_owned_op *append;
    uint32_t *branch_read;
    uint32_t kinds; /* kinds of all operations, a bit each */
};

/*
 * One operation, without branching on its kind: reads and writes are in random order, so that a branch would be
 * mispredicted every other time. The value of a write may look like a branch. `ok`: the transaction's outcome.
 */
static inline void note_op(struct pass *pass, const struct rig_txn_op *mop, struct rig_owned_op place, bool ok)
{
    struct rig_key_note *key = &pass->keys[mop->key];
    const uint32_t kind = UINT32_C(1) << mop->kind, op_count = key->op_count;
    const bool seen = mop->read_state == RIG_READ_SEEN, branch = rig_txn_op_is_branch(mop);
    *pass->branch_read = place.op;
    pass->branch_read += branch & seen & ((kind & RIG_OPS_OF_SEQUENCES) != 0);
    const bool counts = seen & ok & !branch;
    uint64_t longest = ((uint64_t)(mop->count + 1) << 32 | ~place.txn) & (0 - (uint64_t)counts);
    uint64_t before = key->longest_read;
    key->longest_read = longest > before ? longest : before;
    if (__builtin_expect(op_count == 0, false))
        key->first_op = place.op;
    key->last_op = place.op;
    key->op_count = op_count + 1;
    *pass->append = place;
    pass->append += (kind & RIG_OPS_THAT_GROW) != 0;
    pass->kinds |= kind;
}

/* Operations that know their owners, in one loop, whose end is predictable. */
static void note_owned(struct pass *result, const struct rig_segment *segment)
{
    struct pass pass = *result; /* the compiler knows that nothing else writes to it */
    const struct rig_txn *txns = segment->txns.at;
    const uint32_t op_count = (uint32_t)segment->ops.count, key_count = (uint32_t)segment->keys.count;
    const uint32_t txn_count = (uint32_t)segment->txns.count;
    const struct rig_txn_op *mop = segment->ops.at;
    uint32_t txn = 0;
    for (uint32_t op = 0; op < op_count; op++, mop++) {
        RIG_REQUIRE(mop->key < key_count);
        txn += (uint16_t)(mop->owner - txn);
        RIG_REQUIRE(txn < txn_count);
        note_op(&pass, mop, (struct rig_owned_op){op, txn}, txns[txn].outcome == RIG_OUTCOME_OK);
    }
    *result = pass;
}

static void note_each(struct pass *result, const struct rig_segment *segment)
{
    struct pass pass = *result;
    for (uint32_t txn = 0; txn < segment->txns.count; txn++) {
        const struct rig_txn *t = &segment->txns.at[txn];
        size_t end = txn + 1 < segment->txns.count ? t[1].first_op : segment->ops.count;
        for (uint32_t op = t->first_op; op < end; op++) {
            const struct rig_txn_op *mop = &segment->ops.at[op];
            RIG_REQUIRE(mop->key < segment->keys.count);
            note_op(&pass, mop, (struct rig_owned_op){op, txn}, t->outcome == RIG_OUTCOME_OK);
        }
    }
    *result = pass;
}

static void note_appends(const struct rig_segment *segment, struct rig_segment_note *note)
{
    for (size_t i = 0; i < note->appends.count; i++) {
        const struct rig_txn_op *mop = &segment->ops.at[note->appends.at[i].op];
        struct rig_key_note *key = &note->keys.at[mop->key];
        key->lowest = mop->value < key->lowest ? mop->value : key->lowest;
        key->highest = mop->value > key->highest ? mop->value : key->highest;
        key->appends++;
    }
}

static const struct rig_key_note unused_key = {.lowest = INT64_MAX, .highest = INT64_MIN};

bool rig_segment_note_make(struct rig_segment_note *note, const struct rig_segment *segment)
{
    note->made = false;
    if (!rig_key_notes_reserve(&note->keys, segment->keys.count + 1) ||
        !rig_owned_ops_reserve(&note->appends, segment->ops.count + 1) ||
        !rig_note_ops_reserve(&note->branch_reads, segment->ops.count + 1))
        return false;
    for (size_t key = 0; key < segment->keys.count; key++)
        note->keys.at[key] = unused_key;
    struct pass pass = {.keys = note->keys.at, .append = note->appends.at, .branch_read = note->branch_reads.at};
    if (segment->owned)
        note_owned(&pass, segment);
    else
        note_each(&pass, segment);
    note->keys.count = segment->keys.count;
    note->appends.count = (size_t)(pass.append - note->appends.at);
    note->branch_reads.count = (size_t)(pass.branch_read - note->branch_reads.at);
    note->kinds = pass.kinds;
    note_appends(segment, note);
    note->made = true;
    return true;
}

void rig_segment_note_add_keys(struct rig_segment_note *note, const struct rig_segment *segment)
{
    while (note->made && note->keys.count < segment->keys.count)
        note->made = rig_key_notes_add(&note->keys, unused_key); /* else the window makes it, if there is memory */
}

void rig_segment_note_done(struct rig_segment_note *note)
{
    rig_key_notes_done(&note->keys);
    rig_owned_ops_done(&note->appends);
    rig_note_ops_done(&note->branch_reads);
    note->made = false;
}

size_t rig_segment_note_bytes(const struct rig_segment_note *note)
{
    return note->keys.capacity * sizeof(struct rig_key_note) + note->appends.capacity * sizeof(struct rig_owned_op) +
           note->branch_reads.capacity * sizeof(uint32_t);
}

void rig_segment_init(struct rig_segment *segment, size_t limit_bytes)
{
    RIG_REQUIRE(segment != NULL);
    *segment = (struct rig_segment){0};
    segment->limit_bytes = limit_bytes;
    rig_columns_init(&segment->columns, limit_bytes);
    rig_list_pool_init(&segment->pool, limit_bytes);
    rig_arena_init(&segment->texts, limit_bytes);
}

void rig_segment_done(struct rig_segment *segment)
{
    rig_txn_vec_done(&segment->txns);
    rig_txn_op_vec_done(&segment->ops);
    rig_segment_keys_done(&segment->keys);
    rig_growing_branches_done(&segment->branches);
    rig_segment_errors_done(&segment->errors);
    rig_columns_done(&segment->columns);
    rig_txn_vec_done(&segment->open);
    rig_txn_op_vec_done(&segment->open_ops);
    rig_fault_event_vec_done(&segment->faults);
    rig_segment_lines_done(&segment->certificate);
    rig_segment_note_done(&segment->note);
    rig_list_pool_done(&segment->pool);
    rig_arena_done(&segment->texts);
    if (segment->reader_part_free != NULL)
        segment->reader_part_free(segment->reader_part);
    segment->reader_part = NULL;
}

void rig_segment_reset(struct rig_segment *segment)
{
    segment->txns.count = 0;
    segment->ops.count = 0;
    segment->keys.count = 0;
    segment->branches.count = 0;
    segment->errors.count = 0;
    rig_columns_clear(&segment->columns, segment->limit_bytes);
    segment->open.count = 0;
    segment->open_ops.count = 0;
    segment->faults.count = 0;
    segment->certificate.count = 0;
    rig_list_pool_reset(&segment->pool);
    rig_arena_reset(&segment->texts);
    segment->note.made = false;
    segment->owned = false;
    segment->skipped_count = segment->lost_count = segment->reused_count = 0;
    segment->keyword_keys = segment->value_keys = false;
    segment->unordered = segment->in_turn = false;
}

size_t rig_segment_bytes(const struct rig_segment *segment)
{
    return (segment->txns.capacity + segment->open.capacity) * sizeof(struct rig_txn) +
           (segment->ops.capacity + segment->open_ops.capacity) * sizeof(struct rig_txn_op) +
           segment->keys.capacity * sizeof(struct rig_segment_key) +
           segment->branches.capacity * sizeof(struct rig_growing_branch) +
           segment->errors.capacity * sizeof(struct rig_segment_error) + segment->pool.arena.held_bytes +
           segment->texts.held_bytes + rig_segment_note_bytes(&segment->note) + rig_columns_bytes(&segment->columns);
}

size_t rig_segment_used_bytes(const struct rig_segment *segment)
{
    return (segment->txns.count + segment->open.count) * sizeof(struct rig_txn) +
           (segment->ops.count + segment->open_ops.count) * (sizeof(struct rig_txn_op) + sizeof(struct rig_owned_op)) +
           segment->keys.count * (sizeof(struct rig_segment_key) + sizeof(struct rig_key_note)) +
           segment->branches.count * sizeof(struct rig_growing_branch) +
           segment->errors.count * sizeof(struct rig_segment_error) + 2 * segment->pool.arena.used_bytes +
           segment->texts.used_bytes + rig_columns_used_bytes(&segment->columns);
}
