#include "tests/history/history_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/types/types.h"
#include "tests/unit/cmocka_first.h"

enum { KEYS = 64, LIST_MAX = 24 };

static const char *const errors[] = {
    "40001: could not serialize access",
    "net: connection lost",
    "odd: \"quotes\", \\ and\ttabs",
    "utf-8: \xc3\xa9\xe2\x82\xac",
};

const char *const model_names[MODEL_NAMES] = {"pg-1", "db.example:5432", "odd \"name\" \\", "\xc3\xa9"};

struct maker {
    struct model *model;
    struct rig_rng *rng;
    int64_t lists[KEYS][LIST_MAX];
    uint32_t counts[KEYS];
    int64_t next_value;
    struct rig_column_row columns[KEYS]; /* each channel's last transaction, for channels that have one */
    int64_t next_number;
};

static uint64_t below(struct maker *maker, uint64_t bound)
{
    return rig_rng_below(maker->rng, bound);
}

static int64_t odd_number(struct maker *maker)
{
    static const int64_t numbers[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, 127, 128, INT32_MAX, INT64_MAX};
    return numbers[below(maker, sizeof numbers / sizeof numbers[0])];
}

static int64_t column_number(struct maker *maker)
{
    const int64_t number = below(maker, 30) == 0 ? odd_number(maker) : maker->next_number + (int64_t)below(maker, 5);
    maker->next_number++;
    return number == RIG_COLUMN_NONE ? 0 : number;
}

static void make_ops(struct maker *maker, struct model_txn *txn)
{
    const struct model_options *options = maker->model->options;
    const struct rig_data_type *type = &rig_data_types[options->workload];
    txn->op_count = (uint32_t)below(maker, rig_workload_is_object(options->workload) ? 2 : MODEL_MAX_OPS + 1);
    for (uint32_t i = 0; i < txn->op_count; i++) {
        bool reads = below(maker, 2) == 1;
        txn->ops[i] = (struct rig_op){
            .kind = reads ? type->read_op : type->write_op,
            .key = (int64_t)below(maker, (uint64_t)options->key_count),
        };
        if (!reads)
            txn->ops[i].value = below(maker, 50) == 0 ? odd_number(maker) : maker->next_value++;
    }
    /* Compare-and-set. */
    if (rig_object_further_op(options->workload) == RIG_OP_EXPECT && txn->op_count == 1 && below(maker, 3) == 0) {
        txn->op_count = 2;
        txn->ops[1] = (struct rig_op){RIG_OP_WRITE, txn->ops[0].key, odd_number(maker)};
        txn->ops[0] = (struct rig_op){RIG_OP_EXPECT, txn->ops[0].key, maker->next_value++};
    }
}

static void append_all(struct maker *maker, const struct model_txn *txn)
{
    for (uint32_t i = 0; i < txn->op_count; i++) {
        int64_t key = txn->ops[i].key % KEYS;
        if (!rig_op_reads(txn->ops[i].kind) && maker->counts[key] < LIST_MAX)
            maker->lists[key][maker->counts[key]++] = txn->ops[i].value;
    }
}

static uint32_t make_list(struct maker *maker, int64_t key, int64_t *to, uint32_t room)
{
    uint32_t count = maker->counts[key % KEYS];
    if (below(maker, 3) == 0 && count > 0)
        count = (uint32_t)below(maker, count);
    if (count > room)
        count = room;
    for (uint32_t i = 0; i < count; i++)
        to[i] = maker->lists[key % KEYS][i];
    uint64_t damage = below(maker, 12);
    if (damage == 0 && count > 1)
        to[below(maker, count)] = odd_number(maker);
    if (damage == 1) {
        uint64_t extra = below(maker, 4);
        for (uint64_t i = 0; i < extra && count < room; i++)
            to[count++] = odd_number(maker);
    }
    return count;
}

static void make_reads(struct maker *maker, struct model_txn *txn)
{
    const struct model_options *options = maker->model->options;
    bool ok = txn->outcome == RIG_OUTCOME_OK;
    uint32_t used = 0;
    txn->has_reads = ok || below(maker, 2) == 0;
    for (uint32_t i = 0; txn->has_reads && i < txn->op_count; i++) {
        struct rig_read *read = &txn->reads[i];
        if (!rig_op_reads(txn->ops[i].kind))
            continue;
        /* In JSON and EDN null is the initial state in ok transactions, and unknown in others. */
        enum rig_read_state unseen = ok ? RIG_READ_NIL : RIG_READ_UNKNOWN;
        if (!options->exchange)
            unseen = (enum rig_read_state)below(maker, 2);
        read->state = below(maker, 5) == 0 ? unseen : RIG_READ_SEEN;
        if (read->state != RIG_READ_SEEN)
            continue;
        if (rig_op_reads_sequence(txn->ops[i].kind)) {
            read->first_element = used;
            read->count = make_list(maker, txn->ops[i].key, txn->elements + used, MODEL_MAX_ELEMENTS - used);
            if (rig_data_types[options->workload].shape >= RIG_RESULT_ROWS)
                read->count &= ~1U;
            used += read->count;
        } else {
            read->value = below(maker, 20) == 0 ? odd_number(maker) : maker->next_value - (int64_t)below(maker, 5);
        }
    }
}

struct rig_spans model_spans(const struct model_txn *txn)
{
    const bool given = (txn->columns.given & RIG_COLUMN_BIT(RIG_COLUMN_TIMES)) != 0;
    return (struct rig_spans){.at = txn->times, .count = given ? (uint32_t)txn->columns.at[RIG_COLUMN_TIMES] : 0};
}

/* Spans of the first operations. */
static void make_spans(struct maker *maker, struct model_txn *txn)
{
    const uint32_t count = 1 + (uint32_t)below(maker, txn->op_count);
    int64_t now_ns = 0;
    for (uint32_t i = 0; i < 2 * count; i++)
        txn->times[i] = now_ns += (int64_t)below(maker, below(maker, 20) == 0 ? RIG_SPAN_MOST / 64 : 1000);
    rig_column_give(&txn->columns, RIG_COLUMN_TIMES, count);
}

/* Most transactions of a channel have the same columns as its previous one. */
static void make_columns(struct maker *maker, struct model_txn *txn)
{
    static const enum rig_column lasting[] = {RIG_COLUMN_NODE, RIG_COLUMN_BACKEND, RIG_COLUMN_MEMBER};
    struct rig_column_row *row = &txn->columns;
    *row = maker->columns[txn->channel % KEYS];
    for (size_t i = 0; i < sizeof lasting / sizeof lasting[0]; i++) {
        const bool name = rig_column_infos[lasting[i]].type == RIG_COLUMN_NAME;
        if (below(maker, 8) == 0)
            rig_column_give(row, lasting[i], name ? (int64_t)below(maker, MODEL_NAMES) : column_number(maker));
        else if (below(maker, 20) == 0)
            row->given &= ~RIG_COLUMN_BIT(lasting[i]);
    }
    maker->columns[txn->channel % KEYS] = *row;
    if (below(maker, 2) == 0)
        rig_column_give(row, RIG_COLUMN_ORDER, column_number(maker));
    if (below(maker, 6) == 0) {
        rig_column_give(row, RIG_COLUMN_HELD, column_number(maker));
        rig_column_give(row, RIG_COLUMN_HELD_BEFORE, (int64_t)below(maker, txn->op_count + 1));
    }
    if (txn->op_count > 0 && below(maker, 3) == 0)
        make_spans(maker, txn);
}

static void add_event(struct model *model, uint32_t txn, bool is_completion)
{
    model->events[model->event_count++] = (struct model_event){.txn = txn, .is_completion = is_completion};
}

static void complete(struct maker *maker, struct model_txn *txn, int64_t now_ns, uint32_t position)
{
    uint64_t fate = below(maker, 10);
    txn->outcome = fate < 7 ? RIG_OUTCOME_OK : fate < 9 ? RIG_OUTCOME_FAIL : RIG_OUTCOME_INFO;
    make_reads(maker, txn);
    if (txn->outcome != RIG_OUTCOME_FAIL)
        append_all(maker, txn);
    if (txn->outcome != RIG_OUTCOME_OK && below(maker, 2) == 0)
        txn->error = errors[below(maker, sizeof errors / sizeof errors[0])];
    if (maker->model->options->columns)
        make_columns(maker, txn);
    txn->complete_ns = now_ns;
    txn->complete_at = position;
}

void model_make(struct model *model, struct model_options *options, struct rig_rng *rng)
{
    struct maker *maker = calloc(1, sizeof *maker);
    uint32_t *open = calloc(options->channel_count, sizeof *open);
    *model = (struct model){.options = options};
    model->txns = calloc(options->txn_count + 1, sizeof *model->txns);
    model->events = calloc(2 * (size_t)options->txn_count + 1, sizeof *model->events);
    assert_true(maker != NULL && open != NULL && model->txns != NULL && model->events != NULL);
    *maker = (struct maker){.model = model, .rng = rng, .next_value = 1};
    int64_t now_ns = options->first_ns;
    uint32_t position = 0;
    while (model->txn_count < options->txn_count) {
        uint32_t channel = (uint32_t)below(maker, options->channel_count);
        now_ns += 1 + (int64_t)below(maker, below(maker, 100) == 0 ? 1000000000 : 1000);
        if (options->position_gaps && below(maker, 4) == 0)
            position += (uint32_t)below(maker, 300);
        if (open[channel] != 0) {
            complete(maker, &model->txns[open[channel] - 1], now_ns, position++);
            add_event(model, open[channel] - 1, true);
            open[channel] = 0;
            continue;
        }
        uint32_t index = model->txn_count++;
        struct model_txn *txn = &model->txns[index];
        *txn = (struct model_txn){.channel = channel, .outcome = RIG_OUTCOME_INFO, .complete_at = RIG_POSITION_NONE};
        txn->process = (int64_t)index;
        txn->complete_ns = RIG_NO_TIME;
        make_ops(maker, txn);
        txn->invoke_ns = now_ns;
        txn->invoke_at = position++;
        add_event(model, index, false);
        open[channel] = index + 1;
        if (options->no_invocations) {
            complete(maker, txn, now_ns, txn->invoke_at);
            model->events[model->event_count - 1].is_completion = true;
            txn->invoke_at = RIG_POSITION_NONE;
            txn->invoke_ns = RIG_NO_TIME;
            open[channel] = 0;
        }
    }
    for (uint32_t i = 0; options->no_times && i < model->txn_count; i++)
        model->txns[i].invoke_ns = model->txns[i].complete_ns = RIG_NO_TIME;
    free(open);
    free(maker);
}

void model_done(struct model *model)
{
    free(model->txns);
    free(model->events);
}

static void add_txn(struct rig_history_builder *builder, const struct model *model, const struct model_txn *txn,
                    bool completed)
{
    struct rig_err err = {0};
    struct rig_op ops[MODEL_MAX_OPS] = {0};
    for (uint32_t i = 0; i < txn->op_count; i++) {
        ops[i] = txn->ops[i];
        if (model->options->text_keys) {
            char text[32];
            int length = snprintf(text, sizeof text, "key-%lld", (long long)ops[i].key);
            assert_int_equal(rig_history_builder_text_key(builder, text, (size_t)length, &ops[i].key, &err), RIG_OK);
        }
    }
    struct rig_txn_input input = {
        .invoke_ns = txn->invoke_ns,
        .complete_ns = completed ? txn->complete_ns : RIG_NO_TIME,
        .invoke_at = txn->invoke_at,
        .complete_at = completed ? txn->complete_at : RIG_POSITION_NONE,
        .process = txn->process,
        .outcome = completed ? txn->outcome : RIG_OUTCOME_INFO,
        .ops = ops,
        .op_count = txn->op_count,
        .reads = completed && txn->has_reads ? txn->reads : NULL,
        .elements = txn->elements,
        .error = completed ? txn->error : NULL,
        .columns = completed ? &txn->columns : NULL,
        .names = model_names,
        .spans = completed ? model_spans(txn) : (struct rig_spans){0},
    };
    if (rig_history_builder_add(builder, &input, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

struct rig_history *model_history(const struct model *model, uint32_t event_count)
{
    struct rig_history_builder *builder = rig_history_builder_new(model->options->workload, 0);
    assert_non_null(builder);
    bool *completed = calloc(model->txn_count + 1, sizeof *completed);
    assert_non_null(completed);
    for (uint32_t i = 0; i < event_count; i++)
        completed[model->events[i].txn] |= model->events[i].is_completion;
    bool no_invocations = model->options->no_invocations;
    for (uint32_t i = 0; i < event_count; i++) {
        if (!model->events[i].is_completion || no_invocations)
            add_txn(builder, model, &model->txns[model->events[i].txn], completed[model->events[i].txn]);
    }
    free(completed);
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    if (rig_history_builder_finish(builder, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

static int64_t since(int64_t time_ns, int64_t first_ns)
{
    return time_ns == RIG_NO_TIME ? RIG_NO_TIME : time_ns - first_ns;
}

static int64_t first_time(const struct rig_history *history)
{
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        const struct rig_txn *txn = &history->txns[i];
        if (txn->invoke_ns != RIG_NO_TIME && txn->invoke_ns < first)
            first = txn->invoke_ns;
        if (txn->complete_ns != RIG_NO_TIME && txn->complete_ns < first)
            first = txn->complete_ns;
    }
    return first == INT64_MAX ? 0 : first;
}

void assert_same_op(const struct rig_history *got, const struct rig_txn_op *a, const struct rig_history *wanted,
                    const struct rig_txn_op *b)
{
    char key_a[64], key_b[64];
    rig_history_key_text(got, a->key, key_a, sizeof key_a);
    rig_history_key_text(wanted, b->key, key_b, sizeof key_b);
    assert_string_equal(key_a, key_b);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->read_state, b->read_state);
    if (rig_op_reads_sequence(a->kind)) {
        struct rig_read_list list_a = rig_txn_op_list(got, a);
        struct rig_read_list list_b = rig_txn_op_list(wanted, b);
        assert_int_equal(list_a.count, list_b.count);
        for (uint32_t i = 0; i < list_a.count; i++)
            assert_true(rig_read_element(&list_a, i) == rig_read_element(&list_b, i));
    } else {
        assert_true(a->value == b->value);
    }
}

static void assert_same_spans(const struct rig_history *got, uint32_t got_txn, const struct rig_history *wanted,
                              uint32_t wanted_txn)
{
    const struct rig_spans a = rig_history_times(got, got_txn), b = rig_history_times(wanted, wanted_txn);
    assert_int_equal(a.count, b.count);
    if (a.count > 0)
        assert_memory_equal(a.at, b.at, 2 * a.count * sizeof *a.at);
}

static void assert_kept_columns(const struct rig_history *got, uint32_t got_txn, const struct rig_history *wanted,
                                uint32_t wanted_txn)
{
    for (int i = 0; i < RIG_COLUMN_COUNT; i++) {
        const enum rig_column column = (enum rig_column)i;
        if ((RIG_COLUMNS_KEPT & RIG_COLUMN_BIT(column)) == 0)
            continue;
        if (rig_column_infos[column].type == RIG_COLUMN_NUMBER) {
            assert_true(rig_history_column(got, got_txn, column) == rig_history_column(wanted, wanted_txn, column));
            continue;
        }
        if (rig_column_infos[column].type == RIG_COLUMN_SPANS) {
            assert_same_spans(got, got_txn, wanted, wanted_txn);
            continue;
        }
        const char *a = rig_history_column_name(got, got_txn, column);
        const char *b = rig_history_column_name(wanted, wanted_txn, column);
        assert_string_equal(a == NULL ? "none" : a, b == NULL ? "none" : b);
    }
}

/* Counts transaction by transaction. */
static int64_t committed_meanwhile(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn *held = &history->txns[txn];
    int64_t count = 0;
    if (rig_history_column(history, txn, RIG_COLUMN_HELD) == RIG_COLUMN_NONE || held->invoke_at == RIG_POSITION_NONE)
        return RIG_COLUMN_NONE;
    for (uint32_t other = 0; other < txn; other++)
        count += history->txns[other].outcome == RIG_OUTCOME_OK && history->txns[other].complete_at > held->invoke_at;
    return count;
}

void assert_same_columns(const struct rig_history *got, uint32_t got_txn, const struct rig_history *wanted,
                         uint32_t wanted_txn)
{
    assert_kept_columns(got, got_txn, wanted, wanted_txn);
    assert_true(rig_history_column(got, got_txn, RIG_COLUMN_MEANWHILE) == committed_meanwhile(wanted, wanted_txn));
}

void assert_meanwhile(const struct rig_history *history)
{
    for (uint32_t i = 0; i < history->txn_count; i++)
        assert_true(rig_history_column(history, i, RIG_COLUMN_MEANWHILE) == committed_meanwhile(history, i));
}

void assert_same_history(const struct rig_history *got, const struct rig_history *wanted)
{
    assert_int_equal(got->txn_count, wanted->txn_count);
    assert_int_equal(got->op_count, wanted->op_count);
    assert_int_equal(got->workload, wanted->workload);
    assert_int_equal(got->has_invocations, wanted->has_invocations);
    assert_int_equal(got->keyword_keys, wanted->keyword_keys);
    int64_t first_got = first_time(got);
    int64_t first_wanted = first_time(wanted);
    for (uint32_t i = 0; i < got->txn_count; i++) {
        const struct rig_txn *a = &got->txns[i];
        const struct rig_txn *b = &wanted->txns[i];
        assert_int_equal(a->process, b->process);
        assert_int_equal(a->outcome, b->outcome);
        assert_int_equal(a->invoke_at, b->invoke_at);
        assert_int_equal(a->complete_at, b->complete_at);
        assert_true(since(a->invoke_ns, first_got) == since(b->invoke_ns, first_wanted));
        assert_true(since(a->complete_ns, first_got) == since(b->complete_ns, first_wanted));
        assert_string_equal(a->error == 0 ? "none" : got->errors[a->error - 1],
                            b->error == 0 ? "none" : wanted->errors[b->error - 1]);
        assert_int_equal(rig_txn_op_count(got, i), rig_txn_op_count(wanted, i));
        for (uint32_t op = 0; op < rig_txn_op_count(got, i); op++)
            assert_same_op(got, rig_txn_ops(got, i) + op, wanted, rig_txn_ops(wanted, i) + op);
    }
    for (uint32_t i = 0; i < got->txn_count; i++)
        assert_kept_columns(got, i, wanted, i);
    if (wanted->meta != NULL)
        assert_string_equal(got->meta, wanted->meta);
}
