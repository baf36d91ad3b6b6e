#include "checker/objects/object_strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/model/object_words.h"

/* FNV-1a, which goes on from a beginning. */
static const uint64_t hash_basis = UINT64_C(14695981039346656037);

static uint64_t hash_on(uint64_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * UINT64_C(1099511628211);
}

/* ---- the reads that count ---- */

/* The text that the read shows; "" for nil. */
static void show(const struct rig_object_strings *strings, const struct rig_string_read *read, struct rig_buf *text)
{
    RIG_REQUIRE(read->op < strings->ops.count);
    const struct rig_txn_op *op = &strings->model->classes.at[strings->ops.at[read->op].class].ops[0];
    rig_buf_clear(text);
    if (op->read_state == RIG_READ_SEEN)
        rig_object_string(op->value, text);
}

/* Adds the beginnings of what the read shows, or removes them. False when memory runs out. */
static bool count_beginnings(struct rig_object_strings *strings, const struct rig_string_read *read, bool adds)
{
    struct rig_buf text;
    uint64_t hash = hash_basis;
    bool fits = true;
    rig_buf_init(&text, 0);
    show(strings, read, &text);
    for (size_t i = 0; fits && i < text.size; i++) {
        hash = hash_on(hash, text.data[i]);
        uint32_t *count = rig_table_put(&strings->shown, hash);
        fits = count != NULL;
        if (!fits)
            continue;
        const uint32_t before = *count == RIG_TABLE_NONE ? 0 : *count;
        RIG_INVARIANT(adds || before > 0);
        *count = adds ? before + 1 : before - 1;
        if (*count == 0)
            rig_table_remove(&strings->shown, hash);
    }
    fits = fits && !text.failed;
    rig_buf_done(&text);
    return fits;
}

static bool add_read(struct rig_object_strings *strings, uint32_t op)
{
    const struct rig_object_class *class = &strings->model->classes.at[strings->ops.at[op].class];
    if (class->op_count != 1 || class->ops[0].kind != RIG_OP_READ_REGISTER ||
        class->ops[0].read_state == RIG_READ_UNKNOWN || strings->ops.at[op].end == RIG_POSITION_NONE)
        return true;
    const struct rig_string_read read = {op, strings->ops.at[op].invoke, strings->ops.at[op].end, RIG_POSITION_NONE};
    return rig_string_reads_add(&strings->reads, read) && rig_string_reads_add(&strings->by_end, read);
}

static int compare_ends(const void *left, const void *right)
{
    const struct rig_string_read *a = left, *b = right;
    return (a->end > b->end) - (a->end < b->end);
}

static void sort_reads(struct rig_object_strings *strings, uint32_t until)
{
    RIG_REQUIRE(strings->reads.count == strings->by_end.count);
    struct rig_string_reads *reads = &strings->reads;
    uint32_t first_end = RIG_POSITION_NONE, last_invoke = 0;
    if (reads->count > 0)
        qsort(strings->by_end.at, reads->count, sizeof *reads->at, compare_ends);
    for (size_t i = reads->count; i-- > 0;) {
        struct rig_string_read *read = &reads->at[i];
        RIG_INVARIANT(i == 0 || reads->at[i - 1].invoke <= read->invoke);
        first_end = read->end < first_end ? read->end : first_end;
        read->first_end = first_end;
        last_invoke = last_invoke == 0 && first_end <= until ? read->invoke : last_invoke;
    }
    strings->vague_until = until == RIG_POSITION_NONE ? until : last_invoke == 0 ? 0 : last_invoke - 1;
}

bool rig_object_strings_init(struct rig_object_strings *strings, const struct rig_object_model *from,
                             const struct rig_object_op *ops, uint32_t count, uint32_t until,
                             struct rig_object_model *into)
{
    RIG_REQUIRE(from != into && into->strings == NULL);
    const char vague = RIG_OBJECT_VAGUE;
    bool fits = true;
    *strings = (struct rig_object_strings){.model = into};
    rig_table_init(&strings->shown);
    for (uint32_t i = 0; fits && i < count; i++) {
        const struct rig_object_class *class = &from->classes.at[ops[i].class];
        struct rig_object_op changed = ops[i];
        changed.class = rig_object_class_of(into, class->ops, class->op_count);
        fits =
            changed.class != RIG_OBJECT_NONE && rig_object_op_list_add(&strings->ops, changed) && add_read(strings, i);
    }
    if (fits)
        sort_reads(strings, until);
    into->vague = rig_object_state_of(into, &vague, 1);
    into->strings = strings;
    return fits && into->vague != RIG_OBJECT_NONE;
}

void rig_object_strings_done(struct rig_object_strings *strings)
{
    rig_table_done(&strings->shown);
    rig_object_op_list_done(&strings->ops);
    rig_string_reads_done(&strings->reads);
    rig_string_reads_done(&strings->by_end);
    rig_string_hashes_done(&strings->hashes);
}

/* ---- moments ---- */

void rig_object_strings_begin(struct rig_object_strings *strings)
{
    strings->added = strings->removed = strings->behind = 0;
    rig_table_clear(&strings->shown);
}

bool rig_object_strings_move(struct rig_object_strings *strings, uint32_t position)
{
    const struct rig_string_read *reads = strings->reads.at;
    const size_t count = strings->reads.count;
    bool fits = true;
    while (strings->behind < count && reads[strings->behind].invoke <= position)
        strings->behind++;
    const uint32_t end = strings->behind < count ? reads[strings->behind].first_end : RIG_POSITION_NONE;
    for (; fits && strings->added < count && reads[strings->added].invoke < end; strings->added++)
        fits = count_beginnings(strings, &reads[strings->added], true);
    for (; fits && strings->removed < count && strings->by_end.at[strings->removed].end < position; strings->removed++)
        fits = count_beginnings(strings, &strings->by_end.at[strings->removed], false);
    RIG_INVARIANT(!fits || strings->removed <= strings->added);
    strings->may_be_vague = position <= strings->vague_until;
    return fits;
}

uint32_t rig_object_strings_state(struct rig_object_strings *strings, uint32_t state)
{
    RIG_REQUIRE(state < strings->model->states.count);
    const struct rig_object_state *of = &strings->model->states.at[state];
    if (!strings->may_be_vague || of->size == 0 || state == strings->model->vague)
        return state;
    while (strings->hashes.count <= state) {
        if (!rig_string_hashes_add(&strings->hashes, 0))
            return RIG_OBJECT_NONE;
    }
    uint64_t hash = strings->hashes.at[state];
    if (hash == 0) {
        const char *bytes = of->bytes;
        hash = hash_basis;
        for (size_t i = 0; i < of->size; i++)
            hash = hash_on(hash, bytes[i]);
        strings->hashes.at[state] = hash;
    }
    const uint32_t shown = rig_table_get(&strings->shown, hash);
    return shown == RIG_TABLE_NONE ? strings->model->vague : state;
}
