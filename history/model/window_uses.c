/* A window's summary of its operations: struct rig_op_summary. */
#include "base/bug.h"
#include "history/model/window_private.h"

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
    const enum rig_op_kind further = rig_object_further_op((enum rig_workload)(window->type - rig_data_types));
    const uint32_t own = UINT32_C(1) << window->type->write_op | UINT32_C(1) << window->type->read_op |
                         (further == RIG_OP_KIND_COUNT ? 0 : UINT32_C(1) << further);
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
