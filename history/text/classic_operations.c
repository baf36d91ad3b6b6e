#include "history/text/classic_operations.h"

#include <stdlib.h>
#include <string.h>

#include "history/text/classic_guess.h"
#include "history/text/classic_private.h"
#include "history/text/operation_reader.h"
#include "history/types/types.h"

enum { LOOKED_AT = 64 }; /* operations at the beginning, for one of a client */

/* The first that fits is taken. */
static const struct rig_classic_form *const forms[] = {
    &rig_classic_kafka,     &rig_classic_predicate,  &rig_classic_unique_ids,  &rig_classic_log,
    &rig_classic_monotonic, &rig_classic_sequential, &rig_classic_dirty_reads, &rig_classic_long_fork,
    &rig_classic_bank,      &rig_classic_counter,    &rig_classic_set,         &rig_classic_list,
    &rig_classic_multi_key, &rig_classic_calls,
};

enum { FORM_COUNT = sizeof forms / sizeof forms[0] };

/* ---- reading ---- */

/* The whole value there, which the parser has passed. */
static struct rig_text_slice value_text(const struct rig_operation_parser *parser, const char *from)
{
    struct rig_text_cursor cursor = parser->cursor;
    cursor.at = from;
    cursor.err = NULL;
    (void)parser->syntax->skip(&cursor);
    return (struct rig_text_slice){.at = from, .length = (size_t)(cursor.at - from)};
}

static enum rig_rc note_micro(void *context, const struct rig_micro *micro)
{
    struct rig_classic *r = context;
    const struct rig_text_slice name = {.at = micro->name, .length = micro->name_length};
    r->has_micros = true;
    r->has_keyless |= micro->is_keyless;
    r->has_polls |= !micro->is_keyless && rig_slice_is(&name, "poll");
    r->has_sends |= rig_slice_is(&name, "send");
    r->has_closed |= rig_classic_is_closed(&name);
    return RIG_OK;
}

static enum rig_rc read_operation(struct rig_classic *r)
{
    r->has_micros = r->has_closed = r->has_keyless = r->has_polls = r->has_sends = false;
    return rig_operation_parser_read(&r->parser);
}

static struct rig_classic_item item_of(const struct rig_classic *r)
{
    const struct rig_operation_parser *parser = &r->parser;
    const struct rig_operation *operation = &parser->operation;
    const struct rig_operation_fields *fields = &operation->fields;
    struct rig_classic_item item = {.type = fields->type,
                                    .is_client = fields->is_client || fields->process_length == 0,
                                    .has_process = fields->is_client,
                                    .has_time = fields->has_time,
                                    .has_index = fields->has_index,
                                    .is_txn = fields->has_value && r->has_micros,
                                    .index = fields->index,
                                    .time_ns = fields->time_ns,
                                    .process = fields->is_client ? fields->process : 0,
                                    .at = operation->at,
                                    .partner = RIG_TABLE_NONE};
    item.is_client &= fields->has_type;
    if (operation->function != NULL)
        item.function = rig_classic_bare(operation->function, operation->function_length);
    if (fields->is_client && fields->process_name != NULL)
        item.process_name = (struct rig_text_slice){.at = fields->process_name, .length = fields->process_length};
    if (operation->key_text != NULL)
        item.key = value_text(parser, operation->key_text);
    if (operation->value_text != NULL)
        item.value = value_text(parser, operation->value_text);
    else if (fields->has_value)
        item.value = value_text(parser, parser->cursor.start + operation->value_at);
    else if (fields->other != NULL)
        item.value = (struct rig_text_slice){.at = fields->other, .length = fields->other_length};
    return item;
}

/* The items may take half as much as the result; their vector doubles. */
static bool add_item(struct rig_classic *r)
{
    const bool fits =
        r->items.count < r->items.capacity || r->items.capacity * sizeof(struct rig_classic_item) <= r->out->limit / 4;
    return fits && rig_classic_items_add(&r->items, item_of(r));
}

static enum rig_rc read_items(struct rig_classic *r)
{
    bool more = false;
    enum rig_rc rc = rig_operation_parser_start(&r->parser, &more);
    while (rc == RIG_OK && more) {
        rc = read_operation(r);
        if (rc == RIG_OK && !add_item(r))
            rc = rig_cursor_no_memory(&r->parser.cursor);
        if (rc == RIG_OK)
            rc = rig_operation_parser_more(&r->parser, &more);
    }
    return rc;
}

static uint64_t process_key(const struct rig_classic_item *item)
{
    static const uint64_t none = UINT64_C(1) << 62; /* all without a process, which is no process of 32 bits */
    if (!item->has_process)
        return none;
    return item->process_name.at != NULL ? rig_classic_hash(&item->process_name) | 1ULL << 63
                                         : (uint64_t)item->process & ~(1ULL << 63);
}

/* Operations without a process must not overlap, or a completion may belong to several invocations. */
static enum rig_rc refuse_overlap(const struct rig_classic *r, const struct rig_classic_item *item)
{
    return rig_cursor_fail(&r->parser.cursor, item->at,
                           "an operation without a process, while another one has no completion: nothing tells whose "
                           "completion comes next; give each client's operations a `process`");
}

/* Nothing tells which other operations the client of one without a process ran, so it has a client of its own: their
 * numbers follow those that the file gives. Completions are paired. */
static void name_clients(struct rig_classic *r)
{
    int64_t next = 0;
    for (uint32_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (item->has_process && item->process_name.at == NULL && item->process >= next)
            next = item->process + 1;
    }
    for (uint32_t i = 0; i < r->items.count; i++) {
        struct rig_classic_item *item = &r->items.at[i];
        if (item->has_process || !item->is_client)
            continue;
        const bool completes = item->type != RIG_OPERATION_INVOKE && item->partner != RIG_TABLE_NONE;
        item->process = completes ? r->items.at[item->partner].process : next++;
    }
}

/* Pairs each completion with the invocation of its process before it. */
static enum rig_rc pair_items(struct rig_classic *r)
{
    struct rig_table open;
    enum rig_rc rc = RIG_OK;
    rig_table_init(&open);
    for (uint32_t i = 0; rc == RIG_OK && i < r->items.count; i++) {
        struct rig_classic_item *item = &r->items.at[i];
        if (!item->is_client)
            continue;
        uint32_t *slot = rig_table_put(&open, process_key(item));
        const bool is_open = slot != NULL && *slot != RIG_TABLE_NONE && r->items.at[*slot].type == RIG_OPERATION_INVOKE;
        if (slot == NULL) {
            rc = rig_cursor_no_memory(&r->parser.cursor);
            break;
        }
        if (item->type != RIG_OPERATION_INVOKE && is_open) {
            item->partner = *slot;
            r->items.at[*slot].partner = i;
        } else if (is_open && !item->has_process) {
            rc = refuse_overlap(r, item);
        }
        *slot = i;
    }
    rig_table_done(&open);
    if (rc == RIG_OK)
        name_clients(r);
    return rc;
}

/* Every client's operation has a tuple of a key and a value, or nothing. */
static bool are_tuples(const struct rig_classic *r)
{
    bool any = false;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        struct rig_text_slice pair[2];
        if (!item->is_client || rig_classic_is_null(&item->value))
            continue;
        const bool shows_elements = rig_classic_reads(item) && item->type == RIG_OPERATION_OK &&
                                    rig_data_type_has_sequences(&rig_data_types[r->workload]);
        if (!rig_classic_is_pair(r, &item->value, pair) || rig_classic_is_sequence(r, &pair[0]) ||
            (shows_elements && !rig_classic_is_sequence(r, &pair[1]) && !rig_classic_is_null(&pair[1])))
            return false;
        any = true;
    }
    return any;
}
/* ---- writing ---- */

static enum rig_rc put_item(struct rig_classic *r, const struct rig_classic_item *item, size_t number)
{
    if (!rig_classic_note_origin(r, item->at))
        return rig_cursor_no_memory(&r->parser.cursor);
    if (r->form->put_all != NULL)
        return r->form->put_all(r, item);
    const int64_t index = (item->has_index ? item->index : (int64_t)number) + r->shift;
    rig_classic_begin(r, item, index);
    const enum rig_rc rc = r->form->put(r, item);
    rig_classic_end(r);
    return rc;
}

/* Some forms count positions anew, so the reader of what they write cannot see that the file is out of order. */
static enum rig_rc check_order(const struct rig_classic *r)
{
    int64_t last = -1;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (!item->is_client || !item->has_index)
            continue;
        if (item->index <= last)
            return rig_cursor_fail(&r->parser.cursor, item->at,
                                   "index %lld %s index %lld; sort the operations and give them different numbers",
                                   (long long)item->index, item->index == last ? "again after" : "after",
                                   (long long)last);
        last = item->index;
    }
    return RIG_OK;
}

static enum rig_rc put_items(struct rig_classic *r)
{
    enum rig_rc rc = check_order(r);
    for (size_t i = 0; rc == RIG_OK && i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (item->is_client && (r->form->skips == NULL || !r->form->skips(r, item)))
            rc = put_item(r, item, i);
    }
    return rc == RIG_OK && r->out->failed ? rig_cursor_no_memory(&r->parser.cursor) : rc;
}

/* ---- which form ---- */

static bool is_classic(enum rig_workload workload)
{
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (forms[i]->workload == workload)
            return true;
    }
    return false;
}

static bool is_classic_function(const struct rig_classic_item *item)
{
    static const char *const others[] = {"generate", "strong-read", "refresh", "append", NULL};
    return rig_classic_is_one_of(&item->function, rig_classic_adds) || rig_classic_reads(item) ||
           rig_classic_is_one_of(&item->function, rig_classic_transfers) ||
           rig_classic_is_one_of(&item->function, rig_classic_writes) || rig_classic_is_one_of(&item->function, others);
}

/* Looks at the first operations of clients: whether they are not transactions, or those of a long fork. */
static bool is_wanted(struct rig_classic *r, const struct rig_load_options *options)
{
    bool more = false, decided = false, wanted = false;
    enum rig_rc rc = rig_operation_parser_start(&r->parser, &more);
    for (unsigned i = 0; rc == RIG_OK && more && !decided && i < LOOKED_AT; i++) {
        rc = read_operation(r);
        const struct rig_classic_item item = rc == RIG_OK ? item_of(r) : (struct rig_classic_item){0};
        const bool alone = item.is_txn && !item.has_process;
        const bool closed = r->has_closed || rig_slice_is(&item.function, "init");
        decided = rc == RIG_OK && item.is_client && (item.function.length > 0 || alone);
        const bool kafka = rig_classic_is_of_log(&item) || r->has_keyless || (r->has_sends && !r->has_polls);
        if (decided && kafka && (!options->workload_given || options->workload == RIG_WORKLOAD_LOG))
            wanted = true;
        else if (options->workload_given && options->workload == RIG_WORKLOAD_PREDICATE)
            decided = wanted = decided && closed;
        else if (decided && closed && !options->workload_given)
            wanted = true;
        else if (decided && options->workload_given && options->workload == RIG_WORKLOAD_MULTI_KEY)
            wanted = true;
        else if (decided && options->workload_given)
            wanted = alone || (is_classic(options->workload) && !rig_slice_is(&item.function, "txn") &&
                               (!item.is_txn || options->workload == RIG_WORKLOAD_LONG_FORK));
        else if (decided)
            wanted = alone || (item.is_txn ? rig_classic_reads(&item) : is_classic_function(&item));
        if (rc == RIG_OK && !decided)
            rc = rig_operation_parser_more(&r->parser, &more);
    }
    return wanted;
}

static const struct rig_classic_form *form_of(enum rig_workload workload)
{
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (forms[i]->workload == workload)
            return forms[i];
    }
    return NULL;
}

/* The form of the given workload; NULL: the file is read as it is. */
static const struct rig_classic_form *find_given(const struct rig_classic *r, enum rig_workload workload)
{
    const struct rig_classic_form *last = NULL;
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (forms[i]->workload != workload)
            continue;
        if (forms[i]->is_it != NULL && forms[i]->is_it(r))
            return forms[i];
        last = forms[i];
    }
    if (last != &rig_classic_long_fork && rig_classic_no_process.is_it(r))
        return &rig_classic_no_process;
    /* Without a form for its values a file of multi-key-acid or of logs is read as it is; others then say what is
     * wrong. */
    return last == &rig_classic_multi_key || last == &rig_classic_kafka || last == &rig_classic_calls ? NULL : last;
}

static bool has_transactions(const struct rig_classic *r)
{
    for (size_t i = 0; i < r->items.count; i++) {
        if (r->items.at[i].is_client && r->items.at[i].is_txn)
            return true;
    }
    return false;
}

/* The form that the operations show, where they exclude every other type. *form NULL: none of these. */
static enum rig_rc find_shown(const struct rig_classic *r, const struct rig_classic_form **form)
{
    static const struct rig_classic_form *const of_transactions[] = {&rig_classic_kafka, &rig_classic_predicate,
                                                                     &rig_classic_long_fork, &rig_classic_no_process};
    static const struct rig_classic_form *const numbered[] = {&rig_classic_log, &rig_classic_monotonic};
    *form = NULL;
    for (size_t i = 0; *form == NULL && i < sizeof of_transactions / sizeof of_transactions[0]; i++)
        *form = of_transactions[i]->is_it(r) ? of_transactions[i] : NULL;
    if (*form != NULL || has_transactions(r))
        return RIG_OK;
    for (size_t i = 0; *form == NULL && i < sizeof numbered / sizeof numbered[0]; i++)
        *form = numbered[i]->is_it(r) ? numbered[i] : NULL;
    const uint32_t candidates = rig_classic_candidates(r, *form != NULL);
    if ((candidates & (candidates - 1)) != 0)
        return rig_types_refuse(&r->parser.cursor, r->items.at[0].at, candidates);
    for (unsigned w = 0; *form == NULL && w < RIG_WORKLOAD_COUNT; w++)
        *form = (candidates >> w & 1) != 0 ? form_of((enum rig_workload)w) : NULL;
    return RIG_OK;
}

/* Where nothing of the operations is known, they are transactions that show nothing. */
static enum rig_rc put_unknown(struct rig_classic *r)
{
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (!item->is_client)
            continue;
        if (!rig_classic_note_origin(r, item->at))
            return rig_cursor_no_memory(&r->parser.cursor);
        rig_classic_begin(r, item, r->written);
        rig_classic_end(r);
    }
    return r->out->failed ? rig_cursor_no_memory(&r->parser.cursor) : RIG_OK;
}

/* Without a workload. That operations overlap is a fault only of a form. */
static enum rig_rc look(struct rig_classic *r)
{
    struct rig_err *const err = r->parser.cursor.err;
    r->parser.cursor.err = NULL;
    const enum rig_rc paired = pair_items(r);
    r->parser.cursor.err = err;
    return paired == RIG_E_LIMIT ? rig_cursor_no_memory(&r->parser.cursor) : find_shown(r, &r->form);
}

static enum rig_rc rewrite(struct rig_classic *r, const struct rig_load_options *options, bool *rewritten)
{
    enum rig_rc rc = read_items(r);
    if (rc == RIG_E_INPUT && !(options->workload_given && is_classic(options->workload)))
        return RIG_OK;
    if (rc == RIG_OK && options->workload_given)
        r->form = find_given(r, options->workload);
    else if (rc == RIG_OK)
        rc = look(r);
    if (rc != RIG_OK || r->form == NULL)
        return rc; /* without a form the file is read as it is, with its own errors */
    if (!r->form->is_any_workload)
        r->workload = r->form->workload;
    r->is_independent = r->form->has_tuples && are_tuples(r);
    rc = pair_items(r);
    if (rc == RIG_OK && r->form->prepare != NULL && !r->form->prepare(r))
        rc = rig_cursor_no_memory(&r->parser.cursor);
    if (rc == RIG_OK)
        rc = put_items(r);
    if (rc == RIG_OK && r->out->size == 0)
        rc = put_unknown(r);
    *rewritten = rc == RIG_OK && r->out->size > 0;
    return rc;
}

enum rig_rc rig_classic_rewrite(const struct rig_text_operations *operations, struct rig_load_options *options,
                                struct rig_buf *out, struct rig_text_origin *origin, bool *rewritten,
                                bool *reads_at_once, struct rig_err *err)
{
    const struct rig_text_syntax *syntax = operations->syntax;
    struct rig_classic r = {.workload = options->workload,
                            .edn = syntax->keywords,
                            .out = out,
                            .origin = origin,
                            .specification = options->specification};
    enum rig_rc rc = RIG_OK;
    *rewritten = *reads_at_once = false;
    rig_table_init(&r.known);
    rig_operation_parser_init(&r.parser, syntax, operations->name, operations->data, operations->size, NULL);
    r.parser.cursor.origin = operations->origin;
    r.parser.forgets = true;
    r.parser.passes_maps = true;
    r.parser.on_micro = note_micro;
    r.parser.context = &r;
    const bool has_calls = options->workload_given && rig_workload_has_specification(options->workload);
    if (has_calls && options->specification == NULL)
        return rig_fail(err, RIG_E_USAGE, "%s: the workload model needs the file of the model; give it as --model FILE",
                        operations->name);
    r.parser.keeps_values = has_calls; /* any value may be an argument or a result */
    if (is_wanted(&r, options)) {
        r.parser.cursor.err = err;
        rc = rewrite(&r, options, rewritten);
        *reads_at_once = *rewritten && r.form != NULL && r.form->reads_at_once;
        if (*rewritten && r.form != NULL && !r.form->is_any_workload) {
            options->type_origin = options->workload_given ? options->type_origin : RIG_TYPE_FOUND;
            options->workload = r.workload;
            options->workload_given = true;
        } else if (rc == RIG_OK && !*rewritten && !options->workload_given) {
            *err = (struct rig_err){0};
        }
    }
    rig_classic_items_done(&r.items);
    rig_text_slices_done(&r.keys);
    rig_table_done(&r.known);
    if (r.form != NULL && r.form->done != NULL)
        r.form->done(&r);
    rig_operation_parser_done(&r.parser);
    return rc;
}
