#include "history/text/part/operation_join.h"

#include <string.h>

#include "base/bug.h"
#include "history/text/part/part_keys.h"

static const uint32_t none = RIG_TABLE_NONE;

void rig_join_init(struct rig_join *join)
{
    *join = (struct rig_join){.last_index = -1};
    rig_table_init(&join->open_of_process);
    rig_text_table_init(&join->texts, 0);
    rig_text_table_init(&join->process_names, 0);
    rig_columns_init(&join->columns, 0);
}

void rig_join_done(struct rig_join *join)
{
    rig_join_opens_done(&join->open);
    rig_join_ops_done(&join->ops);
    rig_table_done(&join->open_of_process);
    rig_text_table_done(&join->texts);
    rig_text_table_done(&join->process_names);
    rig_columns_done(&join->columns);
    rig_txn_vec_done(&join->txns);
    rig_txn_op_vec_done(&join->mops);
    rig_part_invoked_done(&join->carried);
}

/* --- positions --- */

static void move_position(uint32_t *position, uint32_t base)
{
    if (*position != RIG_POSITION_NONE)
        *position += base;
}

static void move_positions(struct rig_part *part, uint32_t base)
{
    struct rig_segment *segment = part->segment;
    for (size_t i = 0; i < segment->txns.count; i++) {
        move_position(&segment->txns.at[i].invoke_at, base);
        move_position(&segment->txns.at[i].complete_at, base);
    }
    for (size_t i = 0; i < segment->open.count; i++)
        move_position(&segment->open.at[i].invoke_at, base);
    for (size_t i = 0; i < part->perhaps.count; i++)
        move_position(&part->perhaps.at[i].txn.complete_at, base);
    for (size_t i = 0; i < segment->faults.count; i++)
        move_position(&segment->faults.at[i].position, base);
}

static void join_positions(struct rig_join *join, struct rig_part *part)
{
    if (part->count == 0)
        return;
    if (part->facts.uses_index) {
        part->refused = part->refused || part->first_index <= join->last_index;
        join->last_index = part->last_index;
    } else {
        part->refused = part->refused || join->count + part->count > RIG_POSITION_NONE;
        if (join->count > 0 && !part->refused)
            move_positions(part, (uint32_t)join->count);
    }
    join->count += part->count;
}

/* --- processes with names --- */

/* Numbers them from -1 downwards, in the order in which the history first names them. */
static int32_t number_of(const struct rig_join *join, const struct rig_part *part, int32_t process)
{
    const uint32_t name = (uint32_t)(process - INT32_MIN);
    return -1 - (int32_t)rig_text_table_get(&join->process_names, part->process_names.texts[name],
                                            strlen(part->process_names.texts[name]));
}

static void number_txns(const struct rig_join *join, const struct rig_part *part, struct rig_txn_vec *txns)
{
    for (size_t i = 0; i < txns->count; i++) {
        if (txns->at[i].process < 0)
            txns->at[i].process = number_of(join, part, txns->at[i].process);
    }
}

static void join_names(struct rig_join *join, struct rig_part *part)
{
    join->has_negative_process |= part->has_negative_process;
    for (uint32_t i = 0; i < part->process_names.count && !part->no_memory; i++) {
        const char *name = part->process_names.texts[i];
        part->no_memory = rig_text_table_put(&join->process_names, name, strlen(name)) == none;
    }
    part->refused |= join->has_negative_process && join->process_names.count > 0;
    if (part->process_names.count == 0 || part->refused || part->no_memory)
        return;
    number_txns(join, part, &part->segment->txns);
    number_txns(join, part, &part->segment->open);
    for (size_t i = 0; i < part->perhaps.count; i++) {
        int32_t *process = &part->perhaps.at[i].txn.process;
        *process = *process < 0 ? number_of(join, part, *process) : *process;
    }
    for (size_t i = 0; i < part->processes.count; i++) {
        int64_t *process = &part->processes.at[i].process;
        if (*process >= RIG_PART_NAMED_PROCESS)
            *process = number_of(join, part, (int32_t)(*process - RIG_PART_NAMED_PROCESS + INT32_MIN));
    }
}

/* --- completions --- */

static struct rig_join_open *find_open(struct rig_join *join, int64_t process)
{
    uint32_t at = join->open.count == 0 ? none : rig_table_get(&join->open_of_process, (uint64_t)process);
    return at == none || join->open.at[at].closed || join->open.at[at].abandoned ? NULL : &join->open.at[at];
}

static bool same_key(const struct rig_join_op *op, const struct rig_segment_key *key)
{
    if (op->text == NULL || key->text == NULL)
        return op->text == NULL && key->text == NULL && op->key == key->key;
    return op->text_length == key->text_length && memcmp(op->text, key->text, op->text_length) == 0;
}

static bool same_ops(const struct rig_join *join, const struct rig_join_open *open, const struct rig_segment *segment,
                     uint32_t first, uint32_t end)
{
    if (end > first && open->op_count > 0 &&
        rig_object_drains(open->op_count, join->ops.at[open->txn.first_op].kind, segment->ops.at[first].kind))
        return same_key(&join->ops.at[open->txn.first_op], &segment->keys.at[segment->ops.at[first].key]);
    if (end - first != open->op_count)
        return false;
    for (uint32_t i = 0; i < open->op_count; i++) {
        const struct rig_join_op *op = &join->ops.at[open->txn.first_op + i];
        const struct rig_txn_op *mop = &segment->ops.at[first + i];
        bool writes = !rig_op_reads(mop->kind);
        if (op->kind != mop->kind || (writes && op->value != mop->value) || !same_key(op, &segment->keys.at[mop->key]))
            return false;
    }
    return true;
}

/* The first operation of the process in this part completes an earlier invocation. */
static bool complete(struct rig_join *join, struct rig_part *part, const struct rig_part_process *process)
{
    struct rig_segment *segment = part->segment;
    struct rig_join_open *open = find_open(join, process->process);
    struct rig_txn *txn = &segment->txns.at[process->first_txn];
    uint32_t next = process->first_txn + 1;
    uint32_t end = next < segment->txns.count ? segment->txns.at[next].first_op : (uint32_t)segment->ops.count;
    if (open == NULL || !same_ops(join, open, segment, txn->first_op, end))
        return false;
    txn->invoke_ns = open->txn.invoke_ns;
    txn->invoke_at = open->txn.invoke_at;
    open->closed = true;
    return true;
}

/* The operation under the part's number for its key. */
static bool give_op(struct rig_part *part, const struct rig_join_op *op, struct rig_txn_op_vec *ops)
{
    uint32_t key =
        op->text == NULL ? rig_part_number_key(part, op->key) : rig_part_text_key(part, op->text, op->text_length);
    struct rig_txn_op mop = {.key = key, .kind = op->kind, .read_state = RIG_READ_UNKNOWN};
    mop.value = op->value;
    return key != none && rig_txn_op_vec_add(ops, mop);
}

static bool give_ops(const struct rig_join *join, struct rig_part *part, const struct rig_join_open *open,
                     struct rig_txn_op_vec *ops)
{
    for (uint32_t i = 0; i < open->op_count; i++) {
        if (!give_op(part, &join->ops.at[open->txn.first_op + i], ops))
            return false;
    }
    return true;
}

/* Appends the segment's transactions up to `end` to those of the join. */
static bool move_txns(struct rig_join *join, const struct rig_segment *segment, size_t *from, size_t end)
{
    for (; *from < end; (*from)++) {
        struct rig_txn txn = segment->txns.at[*from];
        size_t next = *from + 1;
        size_t op_end = next < segment->txns.count ? segment->txns.at[next].first_op : segment->ops.count;
        for (size_t i = txn.first_op; i < op_end; i++) {
            if (!rig_txn_op_vec_add(&join->mops, segment->ops.at[i]))
                return false;
        }
        txn.first_op = (uint32_t)(join->mops.count - (op_end - txn.first_op));
        const struct rig_column_row row = rig_columns_row(&segment->columns, *from);
        if (!rig_columns_set_row(&join->columns, join->txns.count, &row) || !rig_txn_vec_add(&join->txns, txn))
            return false;
    }
    return true;
}

static bool insert_txn(struct rig_join *join, struct rig_part *part, const struct rig_part_perhaps *perhaps,
                       struct rig_join_open *open)
{
    struct rig_txn txn = perhaps->txn;
    txn.invoke_ns = open->txn.invoke_ns;
    txn.invoke_at = open->txn.invoke_at;
    txn.first_op = (uint32_t)join->mops.count;
    open->closed = true;
    part->refused = part->refused || (txn.outcome == RIG_OUTCOME_OK && !perhaps->repeats);
    return give_ops(join, part, open, &join->mops) &&
           rig_columns_set_row(&join->columns, join->txns.count, &perhaps->columns) &&
           rig_txn_vec_add(&join->txns, txn);
}

/* Completions without operations: transactions if their process has one open, else left out. */
static bool insert_perhaps(struct rig_join *join, struct rig_part *part)
{
    struct rig_segment *segment = part->segment;
    size_t from = 0;
    join->txns.count = 0;
    join->mops.count = 0;
    rig_columns_clear(&join->columns, 0);
    bool fits = true;
    for (size_t i = 0; i < part->perhaps.count && fits; i++) {
        const struct rig_part_perhaps *perhaps = &part->perhaps.at[i];
        struct rig_join_open *open = find_open(join, perhaps->txn.process);
        segment->skipped_count += open == NULL;
        segment->lost_count += open == NULL && perhaps->holds_value;
        if (open != NULL)
            fits = move_txns(join, segment, &from, perhaps->place) && insert_txn(join, part, perhaps, open);
    }
    if (from == 0 && join->txns.count == 0)
        return fits;
    fits = fits && move_txns(join, segment, &from, segment->txns.count);
    struct rig_txn_vec txns = segment->txns;
    struct rig_txn_op_vec mops = segment->ops;
    rig_columns_swap_values(&segment->columns, &join->columns);
    segment->txns = join->txns;
    segment->ops = join->mops;
    segment->owned = segment->note.made = false;
    join->txns = txns;
    join->mops = mops;
    return fits;
}

/* The process invokes; a transaction of an earlier part that it left open stays so. */
static void abandon(struct rig_join *join, struct rig_part *part, int64_t process)
{
    struct rig_join_open *open = find_open(join, process);
    if (open == NULL)
        return;
    open->abandoned = true;
    part->segment->reused_count++;
}

static void join_processes(struct rig_join *join, struct rig_part *part)
{
    for (size_t i = 0; i < part->processes.count && !part->refused; i++) {
        const struct rig_part_process *process = &part->processes.at[i];
        if (process->first == RIG_FIRST_INVOKED)
            abandon(join, part, process->process);
        else if (process->first == RIG_FIRST_COMPLETED)
            part->refused = !complete(join, part, process);
    }
    if (!part->refused && part->perhaps.count > 0)
        part->no_memory = part->no_memory || !insert_perhaps(join, part);
}

/* --- open transactions --- */

/* Those of earlier parts that are still open go before those of this one. */
static bool merge_open(struct rig_join *join, struct rig_part *part)
{
    struct rig_segment *segment = part->segment;
    join->txns.count = 0;
    join->mops.count = 0;
    join->carried.count = 0;
    for (size_t i = 0; i < join->open.count; i++) {
        const struct rig_join_open *open = &join->open.at[i];
        struct rig_txn txn = open->txn;
        txn.first_op = (uint32_t)join->mops.count;
        if (!open->closed && (!rig_txn_vec_add(&join->txns, txn) || !give_ops(join, part, open, &join->mops) ||
                              !rig_part_invoked_add(&join->carried, open->abandoned)))
            return false;
    }
    if (join->txns.count == 0)
        return true;
    uint32_t behind = (uint32_t)join->mops.count;
    for (size_t i = 0; i < segment->open.count; i++) {
        struct rig_txn txn = segment->open.at[i];
        txn.first_op += behind;
        if (!rig_txn_vec_add(&join->txns, txn))
            return false;
    }
    for (size_t i = 0; i < segment->open_ops.count; i++) {
        if (!rig_txn_op_vec_add(&join->mops, segment->open_ops.at[i]))
            return false;
    }
    struct rig_txn_vec txns = segment->open;
    struct rig_txn_op_vec mops = segment->open_ops;
    segment->open = join->txns;
    segment->open_ops = join->mops;
    join->txns = txns;
    join->mops = mops;
    return true;
}

/* The operation under its key's own name, which outlives the segment. */
static bool keep_op(struct rig_join *join, const struct rig_part *part, const struct rig_txn_op *mop)
{
    const struct rig_segment_key *key = &part->segment->keys.at[mop->key];
    struct rig_join_op op = {
        .key = key->key,
        .text = key->text,
        .text_length = key->text_length,
        .kind = mop->kind,
        .value = mop->value,
    };
    if (op.text != NULL && (op.text < part->parser.cursor.start || op.text >= part->end)) {
        uint32_t text = rig_text_table_put(&join->texts, op.text, op.text_length);
        if (text == RIG_TABLE_NONE)
            return false;
        op.text = join->texts.texts[text];
    }
    return rig_join_ops_add(&join->ops, op);
}

/* Whether the process of the segment's open transaction invoked again since; *next counts those of the part. */
static bool is_abandoned(const struct rig_join *join, const struct rig_part *part, size_t i, size_t *next)
{
    if (i < join->carried.count)
        return join->carried.at[i] != 0;
    const bool abandoned =
        *next < part->abandoned.count && part->abandoned.at[*next] == (uint32_t)(i - join->carried.count);
    *next += abandoned;
    return abandoned;
}

static bool keep_open(struct rig_join *join, const struct rig_part *part)
{
    const struct rig_segment *segment = part->segment;
    size_t next = 0;
    join->open.count = 0;
    join->ops.count = 0;
    rig_table_clear(&join->open_of_process);
    for (size_t i = 0; i < segment->open.count; i++) {
        struct rig_join_open open = {.txn = segment->open.at[i], .abandoned = is_abandoned(join, part, i, &next)};
        size_t end = i + 1 < segment->open.count ? segment->open.at[i + 1].first_op : segment->open_ops.count;
        open.op_count = (uint32_t)(end - open.txn.first_op);
        uint32_t unused;
        uint32_t *place =
            open.abandoned ? &unused : rig_table_put(&join->open_of_process, (uint64_t)(int64_t)open.txn.process);
        if (place == NULL || !rig_join_opens_add(&join->open, open))
            return false;
        *place = (uint32_t)i;
        for (size_t op = open.txn.first_op; op < end; op++) {
            if (!keep_op(join, part, &segment->open_ops.at[op]))
                return false;
        }
    }
    return true;
}

void rig_join_part(struct rig_join *join, struct rig_part *part)
{
    join->key_kinds |= part->key_kinds;
    join->has_texts |= part->parser.has_texts || part->text_parser.has_texts;
    join->has_low |= part->parser.has_low || part->text_parser.has_low;
    part->refused =
        part->refused || (join->key_kinds & (join->key_kinds - 1)) != 0 || (join->has_texts && join->has_low);
    join_positions(join, part);
    if (!part->refused)
        join_names(join, part);
    if (!part->refused && !part->no_memory && part->facts.has_invocations) {
        join_processes(join, part);
        if (!part->refused && !part->no_memory)
            part->no_memory = !merge_open(join, part) || !keep_open(join, part);
        rig_segment_note_add_keys(&part->segment->note, part->segment);
    }
    RIG_INVARIANT(part->refused || part->no_memory || part->segment->open.count == join->open.count);
}
