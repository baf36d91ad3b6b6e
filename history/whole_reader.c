#include "history/whole_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/edn.h"
#include "history/json_lines.h"

struct state {
    struct rig_history *history;
    size_t size;
    uint32_t *key_of;  /* per key of the history: its number in the segment, or none */
    uint32_t *list_of; /* per whole list */
};

static const uint32_t none = UINT32_MAX;

enum rig_rc rig_whole_parse(const char *name, const void *data, size_t size, const struct rig_load_options *options,
                            struct rig_history **history, struct rig_err *err)
{
    switch (options->form) {
    case RIG_FORM_JSON_LINES:
        return rig_json_lines_parse(name, data, size, options, history, err);
    case RIG_FORM_EDN:
        return rig_edn_parse(name, data, size, options, history, err);
    case RIG_FORM_RIG:
    case RIG_FORM_AUTO:
        break;
    }
    RIG_REQUIRE(options->form == RIG_FORM_JSON_LINES || options->form == RIG_FORM_EDN);
    return RIG_E_BUG;
}

static enum rig_rc open_whole(const char *name, const char *data, size_t size, const struct rig_load_options *options,
                              struct rig_source_facts *facts, void **out, struct rig_err *err)
{
    struct state *state = calloc(1, sizeof *state);
    *out = state;
    if (state == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: no memory for the history", name);
    state->size = size;
    enum rig_rc rc = rig_whole_parse(name, data, size, options, &state->history, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_history *history = state->history;
    state->key_of = malloc((history->key_count + (size_t)1) * sizeof *state->key_of);
    state->list_of = malloc((history->list_count + (size_t)1) * sizeof *state->list_of);
    if (state->key_of == NULL || state->list_of == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: no memory for the history", name);
    facts->workload = history->workload;
    facts->meta = history->meta;
    facts->skipped_count = history->skipped_count;
    facts->has_invocations = history->has_invocations;
    facts->keyword_keys = history->keyword_keys;
    facts->truncated = history->truncated;
    return RIG_OK;
}

static uint64_t part_count(const struct state *state)
{
    uint64_t parts = state->history->txn_count / RIG_WHOLE_READER_TXNS + 1;
    return parts < state->size ? parts : state->size;
}

/* Bytes stand for transactions: part k ends at the byte size * k / parts. */
static size_t end_of_part(const struct state *state, uint64_t part)
{
    return (size_t)(state->size * part / part_count(state));
}

static uint64_t part_at(const struct state *state, size_t begin)
{
    uint64_t part = 0;
    while (end_of_part(state, part) < begin)
        part++;
    return part;
}

static size_t cut_whole(void *context, size_t begin)
{
    const struct state *state = context;
    return end_of_part(state, part_at(state, begin) + 1);
}

static bool number_key(struct state *state, struct rig_segment *segment, uint32_t key, uint32_t *number)
{
    const struct rig_history *history = state->history;
    if (state->key_of[key] == none) {
        struct rig_segment_key out = {.key = history->keys[key]};
        if (history->key_texts != NULL) {
            out.text = history->key_texts[history->keys[key]];
            out.text_length = (uint32_t)strlen(out.text);
        }
        if (!rig_segment_keys_add(&segment->keys, out))
            return false;
        state->key_of[key] = (uint32_t)segment->keys.count - 1;
    }
    *number = state->key_of[key];
    return true;
}

static bool number_list(struct state *state, struct rig_segment *segment, struct rig_mop *mop)
{
    uint32_t *number = &state->list_of[mop->list & ~RIG_LIST_WHOLE];
    if (*number == none) {
        if (!rig_segment_lists_add(&segment->lists, (struct rig_segment_list){.key = mop->key}))
            return false;
        *number = (uint32_t)segment->lists.count - 1;
    }
    mop->list = RIG_LIST_WHOLE | *number;
    return true;
}

static bool grow(struct rig_segment *segment, struct rig_growing_list *list, const struct rig_list *from,
                 uint32_t count)
{
    return count <= list->count ||
           rig_growing_list_add(&segment->pool, list, from->at + list->count, count - list->count);
}

static bool add_op(struct state *state, struct rig_segment *segment, struct rig_mop mop, struct rig_mop_vec *ops)
{
    const struct rig_history *history = state->history;
    uint32_t key = mop.key;
    bool list = mop.kind == RIG_OP_READ_LIST && mop.read_state == RIG_READ_SEEN;
    bool fits = number_key(state, segment, key, &mop.key);
    if (fits && list && rig_mop_is_whole(&mop)) {
        const struct rig_list *from = &history->lists[mop.list & ~RIG_LIST_WHOLE];
        fits = number_list(state, segment, &mop) &&
               grow(segment, &segment->lists.at[mop.list & ~RIG_LIST_WHOLE].list, from, mop.count);
    } else if (fits && list) {
        mop.list = mop.key;
        fits = grow(segment, &segment->keys.at[mop.key].spine, &history->spines[key], mop.count);
    }
    return fits && rig_mop_vec_add(ops, mop);
}

static bool add_txn(struct state *state, struct rig_segment *segment, uint32_t index, bool open)
{
    struct rig_txn txn = state->history->txns[index];
    struct rig_mop_vec *ops = open ? &segment->open_ops : &segment->ops;
    uint32_t op_count = rig_txn_op_count(state->history, index);
    txn.first_op = (uint32_t)ops->count;
    if (open) {
        txn.complete_at = RIG_POSITION_NONE;
        txn.complete_ns = RIG_NO_TIME;
        txn.outcome = RIG_OUTCOME_INFO;
        txn.error = 0;
    } else if (txn.error != 0) {
        const char *text = state->history->errors[txn.error - 1];
        if (!rig_segment_errors_add(&segment->errors, (struct rig_segment_error){text, (uint32_t)strlen(text)}))
            return false;
        txn.error = (uint32_t)segment->errors.count;
    }
    for (uint32_t i = 0; i < op_count; i++) {
        struct rig_mop mop = rig_txn_ops(state->history, index)[i];
        if (open && mop.kind % 2 == 1) {
            mop.read_state = RIG_READ_UNKNOWN;
            mop.value = 0;
        }
        if (!add_op(state, segment, mop, ops))
            return false;
    }
    return rig_txn_vec_add(open ? &segment->open : &segment->txns, txn);
}

static enum rig_rc parse_whole(void *context, size_t begin, size_t end, struct rig_segment *segment,
                               struct rig_err *err)
{
    struct state *state = context;
    const struct rig_history *history = state->history;
    uint64_t part = part_at(state, begin);
    uint32_t first = (uint32_t)(history->txn_count * part / part_count(state));
    uint32_t after = (uint32_t)(history->txn_count * (part + 1) / part_count(state));
    memset(state->key_of, 0xff, history->key_count * sizeof *state->key_of);
    memset(state->list_of, 0xff, history->list_count * sizeof *state->list_of);
    uint32_t now = 0;
    bool fits = true;
    for (uint32_t i = first; i < after && fits; i++) {
        bool open = history->txns[i].complete_at == RIG_POSITION_NONE;
        now = open ? now : history->txns[i].complete_at;
        fits = open || add_txn(state, segment, i, false);
    }
    now = end == state->size ? RIG_POSITION_NONE : now;
    for (uint32_t i = end == state->size ? 0 : after; i < history->txn_count && fits; i++) {
        bool invoked = history->txns[i].invoke_at < now;
        bool completed = end == state->size && history->txns[i].complete_at != RIG_POSITION_NONE;
        fits = !invoked || completed || add_txn(state, segment, i, true);
    }
    segment->keyword_keys = history->keyword_keys;
    return fits ? RIG_OK : rig_fail(err, RIG_E_LIMIT, "no memory for a part of the history; raise --max-memory");
}

static void close_whole(void *context)
{
    struct state *state = context;
    if (state == NULL)
        return;
    rig_history_free(state->history);
    free(state->key_of);
    free(state->list_of);
    free(state);
}

const struct rig_form_reader rig_whole_reader = {
    .open = open_whole,
    .cut = cut_whole,
    .parse = parse_whole,
    .close = close_whole,
};
