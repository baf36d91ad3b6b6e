#include "checker/explain/say.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "checker/explain/type_words.h"
#include "checker/model/certified.h"
#include "checker/model/object_words.h"
#include "history/model/shared_value.h"
#include "history/model/value_texts.h"
#include "history/types/row_ops.h"
#include "history/types/types.h"

enum {
    LIST_SHOWN = 12, /* a longer list is shown by its ends */
    LIST_ENDS = 4,
    KEY_BYTES = 128,
    ACTIVE_SHOWN = 8, /* numbers in progress of a snapshot */
    SHORT = 12,       /* transactions of a history that may be an excerpt */
};

/* ---- lists ---- */

/* Elements [from, to): "1 2 3". */
static void add_elements(struct rig_read_list list, uint32_t from, uint32_t to, struct rig_buf *text)
{
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            rig_buf_add_char(text, ' ');
        rig_value_add(text, rig_read_element(&list, i));
    }
}

static void add_list(struct rig_read_list list, struct rig_buf *text)
{
    rig_buf_add_char(text, '[');
    if (list.count <= LIST_SHOWN) {
        add_elements(list, 0, list.count, text);
        rig_buf_add_char(text, ']');
        return;
    }
    add_elements(list, 0, LIST_ENDS, text);
    rig_buf_add_text(text, " ... ");
    add_elements(list, list.count - LIST_ENDS, list.count, text);
    rig_buf_printf(text, " (%" PRIu32 " elements)]", list.count);
}

/* The whole list where it is short, or where the stretch is no shorter. */
static void add_stretch(struct rig_read_list list, int64_t from, int64_t to, struct rig_buf *text)
{
    uint32_t first = 0, last = list.count - 1;
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_read_element(&list, i) == from)
            first = i;
        if (rig_read_element(&list, i) == to)
            last = i;
    }
    if (list.count <= LIST_SHOWN || last < first || last - first > LIST_SHOWN) {
        add_list(list, text);
        return;
    }
    rig_buf_add_text(text, first > 0 ? "[... " : "[");
    add_elements(list, first, last + 1, text);
    rig_buf_add_text(text, last + 1 < list.count ? " ...]" : "]");
}

/* ---- what the directives add ---- */

/* The operation that two arguments name. */
static const struct rig_txn_op *op_of(const struct rig_history *history, const struct rig_said *txn_and_op)
{
    return rig_txn_ops(history, (uint32_t)txn_and_op[0].is.count) + txn_and_op[1].is.count;
}

static void say_txn(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    rig_buf_printf(text, "T%" PRIu32, rig_txn_name(history, (uint32_t)words->is.count));
}

static void say_key(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    char name[KEY_BYTES];
    rig_history_key_name(history, (uint32_t)words->is.count, name, sizeof name);
    rig_buf_add_text(text, name);
}

static void say_result(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    const struct rig_txn_op *read = op_of(history, words);
    if (rig_op_is_ambiguous(read))
        rig_shared_value_show(text, read->value);
    else if (read->read_state == RIG_READ_UNKNOWN)
        rig_buf_add_text(text, "?");
    else if (read->read_state == RIG_READ_NIL)
        rig_buf_add_text(text, "nil");
    else if (rig_op_infos[read->kind].shape == RIG_RESULT_VALUE)
        rig_value_add(text, read->value);
    else
        add_list(rig_txn_op_list(history, read), text);
}

static void say_list(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    add_list(rig_txn_op_list(history, op_of(history, words)), text);
}

static void say_read(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    rig_say(history, text, "read key %K as ", op_of(history, words)->key);
    say_result(history, words, text);
}

static void say_reader(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    say_txn(history, words, text);
    rig_buf_add_char(text, ' ');
    say_read(history, words, text);
}

static void say_stretch(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    add_stretch(rig_txn_op_list(history, op_of(history, words)), words[2].is.number, words[3].is.number, text);
}

static void say_value(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    (void)context;
    rig_value_add(text, words->is.number);
}

static void say_time(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    RIG_REQUIRE(words->is.number != RIG_NO_TIME);
    rig_buf_printf(text, "%.6f s", (double)(words->is.number - rig_history_zero_ns(history)) / 1e9);
}

static void say_excerpt(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    (void)words;
    if (!history->is_excerpt && history->txn_count <= SHORT)
        rig_buf_add_text(text, " (if the history is an excerpt, --excerpt takes it as written outside)");
}

static void say_failed(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    const bool on_purpose = rig_txn_is_rolled_back(history, (uint32_t)words->is.count);
    rig_buf_add_text(text, on_purpose ? "was rolled back on purpose" : "failed");
}

static void say_operation(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    const uint32_t txn = (uint32_t)words->is.count;
    rig_say(history, text, "%T (", txn);
    rig_object_words_op(history->workload, rig_txn_ops(history, txn), rig_txn_op_count(history, txn), text);
    rig_buf_add_char(text, ')');
}

/* ---- rows ---- */

static void say_row(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    const int64_t id = words->is.number;
    rig_say(history, text, "row %V", id);
    if (rig_row_class(id) == RIG_ROW_CLOSED_CLASS)
        rig_say(history, text, " (key %d)", rig_row_closed_key(id));
}

static void say_query(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    const struct rig_type_words *type = rig_type_words(history->workload);
    RIG_REQUIRE(type->add_query != NULL);
    type->add_query(history, (uint32_t)words[0].is.count, (uint32_t)words[1].is.count, text);
}

/* ---- certificates ---- */

static void add_commit(const struct rig_certificate *certificate, uint64_t commit, struct rig_buf *text)
{
    const struct rig_commit *at = &certificate->commits.at[commit];
    char place[64];
    rig_certificate_place(certificate, (uint32_t)commit, place);
    rig_buf_printf(text, "the commit at %s", place);
    if (at->id != 0)
        rig_buf_printf(text, " (transaction %" PRIu64 " of the database)", at->id);
}

static void say_commit(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    add_commit(history->certificate, words->is.count, text);
}

static void say_lost_commit(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    add_commit(history->certificate->lost, words->is.count, text);
}

/* As PostgreSQL writes it. */
static void say_snapshot(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    const struct rig_history *history = context;
    const struct rig_txn_views *views = &history->certificate->views;
    const struct rig_snapshot *of = &views->snapshots.at[words->is.count];
    rig_buf_printf(text, "snapshot %" PRIu64 ":%" PRIu64 ":", of->xmin, of->xmax);
    for (uint32_t i = 0; i < of->active_count && i < ACTIVE_SHOWN; i++)
        rig_buf_printf(text, "%s%" PRIu64, i == 0 ? "" : ",", views->active.at[of->first_active + i]);
    if (of->active_count > ACTIVE_SHOWN)
        rig_buf_add_text(text, ",...");
}

const struct rig_directive rig_say_directives[] = {
    {'T', "i", say_txn},      {'R', "ii", say_reader},   {'r', "ii", say_read},
    {'A', "ii", say_result},  {'L', "ii", say_list},     {'S', "iinn", say_stretch},
    {'K', "i", say_key},      {'V', "n", say_value},     {'F', "i", say_failed},
    {'E', "", say_excerpt},   {'O', "i", say_operation}, {'I', "n", say_row},
    {'Q', "ii", say_query},   {'C', "i", say_commit},    {'c', "i", say_lost_commit},
    {'P', "i", say_snapshot}, {'t', "n", say_time},      {0, NULL, NULL},
};
