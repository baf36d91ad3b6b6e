/*
 * Histories of logs as Jepsen's workload for Kafka records them (classic_operations.h), rewritten as the workload log:
 *
 *   {:f :send}  ok: [[:send 5 [272 140]]]            [[:send 5 140] [:poll 5 [272 140]]]
 *   {:f :poll}  ok: [[:poll {5 [[272 140] [273 9]]}]] [[:poll 5 [272 140 273 9]]]
 *   {:f :txn}   both
 *   {:f :assign, :value [5 7]}, {:f :subscribe ...}  nothing: they move the consumer
 *
 * A poll directly after a send to its key is the acknowledgement; without a result where the offset is not known. A
 * poll of nil before another one says that the consumer was moved. It is written where a consumer polls a log that it
 * had polled before and has left since: by an assignment of other logs, or to the beginning; by any subscription, under
 * which logs come and go; or by a rebalance (:rebalance-log) during the transaction.
 *
 * Polls of a transaction of unknown outcome may have shown any log: they are polls of all of them without a result.
 */
#include <stdlib.h>

#include <xxhash.h>

#include "history/text/classic_private.h"

struct consumer {
    uint32_t epoch; /* that of its assignment; logs polled in an earlier one were left */
    bool subscribed;
};

RIG_VEC(struct consumer, kafka_consumers)
RIG_VEC(uint8_t, kafka_moves)

struct noted {
    struct kafka_consumers consumers;
    struct rig_table consumer_of; /* process -> into consumers; r->known: process and log -> epoch of its last poll */
    struct kafka_moves moves; /* of each acknowledged poll of a log, in the order of the file: the consumer was moved */
    uint32_t *first_move;     /* per item: into moves */
    struct rig_table logs;    /* hashes of the keys in r->keys */
};

enum { LEFT = 0, FIRST_EPOCH = 1 };

/* ---- walks ---- */

/* Over the micro-operations of an item. */
struct walk {
    struct rig_text_cursor cursor;
    struct rig_text_slice part[3];
    char closer;
    bool is_first, sends, polls;
    size_t count;
};

static struct walk walk_over(const struct rig_classic *r, const struct rig_classic_item *item)
{
    struct walk walk = {.is_first = true};
    if (!item->is_txn)
        return walk;
    walk.cursor = rig_classic_cursor(r, item->value.at);
    walk.closer = rig_classic_enter(r, &walk.cursor, false);
    return walk;
}

static bool next_micro(const struct rig_classic *r, struct walk *walk)
{
    struct rig_text_slice micro;
    if (walk->closer == '\0' || !rig_classic_next(r, &walk->cursor, walk->closer, walk->is_first, &micro))
        return false;
    walk->is_first = false;
    walk->count = rig_classic_parts(r, &micro, walk->part);
    const struct rig_text_slice name = rig_classic_bare(walk->part[0].at, walk->part[0].length);
    walk->sends = rig_slice_is(&name, "send") && walk->count == 3;
    walk->polls = rig_slice_is(&name, "poll") && walk->count <= 2;
    return true;
}

/* Over the logs that a poll shows. */
struct shown {
    struct rig_text_cursor cursor;
    struct rig_text_slice key, records;
    bool any, is_first;
};

static struct shown shown_by(const struct rig_classic *r, const struct walk *poll)
{
    struct shown shown = {.is_first = true};
    if (poll->count < 2 || !rig_classic_is_map(r, &poll->part[1]))
        return shown;
    shown.cursor = rig_classic_cursor(r, poll->part[1].at);
    shown.any = rig_classic_enter(r, &shown.cursor, true) != '\0';
    return shown;
}

static bool next_log(const struct rig_classic *r, struct shown *shown)
{
    const bool found =
        shown->any && rig_classic_next_entry(r, &shown->cursor, shown->is_first, &shown->key, &shown->records);
    shown->is_first = false;
    return found;
}

/* ---- which files ---- */

static bool is_transaction(const struct rig_classic_item *item)
{
    static const char *const names[] = {"send", "poll", "txn", NULL};
    return rig_classic_is_one_of(&item->function, names);
}

static bool is_assignment(const struct rig_classic_item *item)
{
    static const char *const names[] = {"assign", "subscribe", NULL};
    return rig_classic_is_one_of(&item->function, names);
}

bool rig_classic_is_of_log(const struct rig_classic_item *item)
{
    return is_assignment(item) || (is_transaction(item) && !rig_slice_is(&item->function, "txn"));
}

static bool is_kafka(const struct rig_classic *r)
{
    bool found = false;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (!item->is_client)
            continue;
        struct walk walk = walk_over(r, item);
        while (is_transaction(item) && next_micro(r, &walk)) {
            if (!walk.sends && !walk.polls)
                return false;
            found |= walk.polls || rig_classic_is_sequence(r, &walk.part[2]);
        }
        found |= rig_classic_is_of_log(item);
    }
    return found;
}

/* ---- where consumers are ---- */

static struct consumer *consumer_of(struct rig_classic *r, const struct rig_classic_item *item)
{
    struct noted *noted = r->numbers;
    const uint64_t process =
        item->process_name.at != NULL ? rig_classic_hash(&item->process_name) : (uint64_t)item->process;
    uint32_t *place = rig_table_put(&noted->consumer_of, process);
    if (place == NULL)
        return NULL;
    if (*place == RIG_TABLE_NONE) {
        *place = (uint32_t)noted->consumers.count;
        if (!kafka_consumers_add(&noted->consumers, (struct consumer){.epoch = FIRST_EPOCH}))
            return NULL;
    }
    return &noted->consumers.at[*place];
}

/* The consumer and the log; r->known has the epoch in which it polled it last. */
static uint64_t log_of(const struct rig_classic *r, const struct consumer *consumer, const struct rig_text_slice *key)
{
    const struct noted *noted = r->numbers;
    return XXH3_64bits_withSeed(key->at, key->length, (uint64_t)(consumer - noted->consumers.at));
}

/* A field of the operation that the item is. */
static bool operation_field(const struct rig_classic *r, const struct rig_classic_item *item, const char *name,
                            struct rig_text_slice *value)
{
    const struct rig_text_slice operation = {.at = r->parser.cursor.start + item->at, .length = 1};
    return rig_classic_field(r, &operation, name, value);
}

/* The logs that it keeps stay in the consumer's assignment, unless it begins anew. */
static bool assign(struct rig_classic *r, const struct rig_classic_item *item)
{
    struct consumer *consumer = consumer_of(r, item);
    struct rig_text_slice key, seek = {0};
    if (consumer == NULL)
        return false;
    const uint32_t before = consumer->epoch++;
    consumer->subscribed = rig_slice_is(&item->function, "subscribe");
    const bool anew = operation_field(r, item, "seek-to-beginning?", &seek) && rig_slice_is(&seek, "true");
    if (consumer->subscribed || anew || !rig_classic_is_sequence(r, &item->value))
        return true;
    struct rig_text_cursor cursor = rig_classic_cursor(r, item->value.at);
    const char closer = rig_classic_enter(r, &cursor, false);
    for (bool is_first = true; rig_classic_next(r, &cursor, closer, is_first, &key); is_first = false) {
        if (rig_table_get(&r->known, log_of(r, consumer, &key)) != before)
            continue;
        *rig_table_put(&r->known, log_of(r, consumer, &key)) = consumer->epoch; /* it is there */
    }
    return true;
}

/* Whether the log was rebalanced during the transaction: [{:keys [5 7]} ...]. */
static bool is_rebalanced(const struct rig_classic *r, const struct rig_text_slice *events,
                          const struct rig_text_slice *key)
{
    struct rig_text_slice event, keys, other;
    if (!rig_classic_is_sequence(r, events))
        return false;
    struct rig_text_cursor cursor = rig_classic_cursor(r, events->at);
    const char closer = rig_classic_enter(r, &cursor, false);
    for (bool is_first = true; rig_classic_next(r, &cursor, closer, is_first, &event); is_first = false) {
        if (!rig_classic_field(r, &event, "keys", &keys) || !rig_classic_is_sequence(r, &keys))
            continue;
        struct rig_text_cursor inner = rig_classic_cursor(r, keys.at);
        const char end = rig_classic_enter(r, &inner, false);
        for (bool first = true; rig_classic_next(r, &inner, end, first, &other); first = false) {
            if (rig_classic_is_same(&other, key))
                return true;
        }
    }
    return false;
}

/* An acknowledged poll of a log: notes whether the consumer was moved before. */
static bool note_poll(struct rig_classic *r, const struct consumer *consumer, const struct rig_text_slice *key,
                      bool rebalanced)
{
    struct noted *noted = r->numbers;
    uint32_t *epoch = rig_table_put(&r->known, log_of(r, consumer, key));
    if (epoch == NULL)
        return false;
    const bool moved = rebalanced || (*epoch != RIG_TABLE_NONE && *epoch != consumer->epoch);
    *epoch = rebalanced ? LEFT : consumer->epoch;
    return kafka_moves_add(&noted->moves, moved);
}

static bool note_log(struct rig_classic *r, const struct rig_text_slice *key)
{
    struct noted *noted = r->numbers;
    uint32_t *place = rig_table_put(&noted->logs, rig_classic_hash(key));
    if (place == NULL || *place != RIG_TABLE_NONE)
        return place != NULL;
    *place = (uint32_t)r->keys.count;
    return rig_text_slices_add(&r->keys, *key);
}

static bool note_transaction(struct rig_classic *r, const struct rig_classic_item *item)
{
    struct consumer *consumer = consumer_of(r, item);
    struct rig_text_slice events = {0};
    const bool ok = item->type == RIG_OPERATION_OK;
    if (consumer == NULL)
        return false;
    struct walk walk = walk_over(r, item);
    consumer->epoch += ok && consumer->subscribed;
    const bool rebalances = ok && operation_field(r, item, "rebalance-log", &events);
    bool done = true;
    while (done && next_micro(r, &walk)) {
        if (walk.sends)
            done = note_log(r, &walk.part[1]);
        struct shown shown = walk.polls ? shown_by(r, &walk) : (struct shown){0};
        while (done && next_log(r, &shown))
            done = note_log(r, &shown.key) &&
                   (!ok || note_poll(r, consumer, &shown.key, rebalances && is_rebalanced(r, &events, &shown.key)));
    }
    return done;
}

static bool note_items(struct rig_classic *r)
{
    struct noted *noted = r->numbers = calloc(1, sizeof *noted);
    bool done = noted != NULL;
    if (!done)
        return false;
    rig_table_init(&noted->consumer_of);
    rig_table_init(&noted->logs);
    noted->first_move = calloc(r->items.count + 1, sizeof *noted->first_move);
    done = noted->first_move != NULL;
    for (size_t i = 0; done && i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        noted->first_move[i] = (uint32_t)noted->moves.count;
        if (!item->is_client)
            continue;
        if (is_assignment(item) && (item->type == RIG_OPERATION_OK || item->type == RIG_OPERATION_INFO))
            done = assign(r, item);
        else if (is_transaction(item))
            done = note_transaction(r, item);
    }
    return done;
}

static void free_noted(struct rig_classic *r)
{
    struct noted *noted = r->numbers;
    if (noted == NULL)
        return;
    kafka_consumers_done(&noted->consumers);
    kafka_moves_done(&noted->moves);
    rig_table_done(&noted->consumer_of);
    rig_table_done(&noted->logs);
    free(noted->first_move);
    free(noted);
}

/* ---- writing ---- */

/* [[272 140] ...] as [272 140 ...]; an entry that is no pair with an offset is left out. */
static void put_records(struct rig_classic *r, const struct rig_text_slice *records)
{
    struct rig_text_slice record, pair[2];
    bool any = false;
    rig_buf_add_text(r->out, r->edn ? " [" : ", [");
    struct rig_text_cursor cursor = rig_classic_cursor(r, records->at);
    const char closer = rig_classic_is_sequence(r, records) ? rig_classic_enter(r, &cursor, false) : '\0';
    for (bool is_first = true; closer != '\0' && rig_classic_next(r, &cursor, closer, is_first, &record);
         is_first = false) {
        if (!rig_classic_is_pair(r, &record, pair) || !rig_classic_is_number(&pair[0]))
            continue;
        rig_buf_add_text(r->out, !any ? "" : r->edn ? " " : ", ");
        rig_classic_put(r, &pair[0]);
        rig_buf_add_text(r->out, r->edn ? " " : ", ");
        rig_classic_put(r, &pair[1]);
        any = true;
    }
    rig_buf_add_char(r->out, ']');
    rig_classic_end_micro(r, NULL);
}

/* The send, and its acknowledgement. */
static void put_send(struct rig_classic *r, const struct walk *send, bool answered)
{
    struct rig_text_slice pair[2] = {{0}, send->part[2]};
    const bool both = rig_classic_is_pair(r, &send->part[2], pair);
    rig_classic_begin_micro(r, "send", &send->part[1]);
    rig_classic_end_micro(r, both ? &pair[1] : &send->part[2]);
    rig_classic_begin_micro(r, "poll", &send->part[1]);
    if (answered && both && rig_classic_is_number(&pair[0])) {
        rig_buf_add_text(r->out, r->edn ? " [" : ", [");
        rig_classic_put(r, &pair[0]);
        rig_buf_add_text(r->out, r->edn ? " " : ", ");
        rig_classic_put(r, &pair[1]);
        rig_buf_add_char(r->out, ']');
    }
    rig_classic_end_micro(r, NULL);
}

static void put_poll(struct rig_classic *r, const struct walk *poll, bool answered, uint32_t *move)
{
    const struct noted *noted = r->numbers;
    struct shown shown = shown_by(r, poll);
    while (next_log(r, &shown)) {
        if (noted->moves.at[(*move)++]) {
            rig_classic_begin_micro(r, "poll", &shown.key);
            rig_classic_end_null(r);
        }
        rig_classic_begin_micro(r, "poll", &shown.key);
        if (answered)
            put_records(r, &shown.records);
        else
            rig_classic_end_micro(r, NULL);
    }
}

/* A poll of unknown outcome, of each log of the file. */
static void put_unknown_poll(struct rig_classic *r)
{
    for (size_t i = 0; i < r->keys.count; i++) {
        rig_classic_begin_micro(r, "poll", &r->keys.at[i]);
        rig_classic_end_micro(r, NULL);
    }
}

static enum rig_rc put_item(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct noted *noted = r->numbers;
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    const bool ok = answer->type == RIG_OPERATION_OK && answer->is_txn;
    const struct rig_classic_item *source = ok ? answer : rig_classic_asked(r, item);
    struct walk walk = walk_over(r, source);
    uint32_t move = noted->first_move[answer - r->items.at];
    bool unknown = false;
    if (!source->is_txn && answer->type == RIG_OPERATION_OK)
        return rig_classic_refuse(r, item, "whose value is not a list of sends and polls");
    while (next_micro(r, &walk)) {
        if (walk.sends)
            put_send(r, &walk, ok && item == answer);
        else if (ok)
            put_poll(r, &walk, item == answer, &move);
        unknown |= walk.polls && !ok && answer->type != RIG_OPERATION_FAIL;
    }
    if (unknown)
        put_unknown_poll(r);
    return RIG_OK;
}

static bool is_no_transaction(const struct rig_classic *r, const struct rig_classic_item *item)
{
    (void)r;
    return !is_transaction(item);
}

const struct rig_classic_form rig_classic_kafka = {.workload = RIG_WORKLOAD_LOG,
                                                   .is_it = is_kafka,
                                                   .prepare = note_items,
                                                   .skips = is_no_transaction,
                                                   .put = put_item,
                                                   .done = free_noted};
