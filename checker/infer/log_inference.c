#include "checker/infer/log_inference.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "checker/infer/logs.h"
#include "checker/model/links.h"

/* Where a consumer is in a log: after the last record that it polled. */
struct position {
    bool known;
    uint32_t txn, op; /* that polled it */
    int64_t offset, value;
    uint32_t place; /* in the order of the log, or RIG_LOG_NO_PLACE */
};

RIG_VEC(struct position, position_vec)

/* The highest offset of a log that a transaction polled. */
struct highest {
    int64_t offset; /* RIG_LOG_NO_OFFSET: none */
    uint32_t txn, op;
};

/* A log, while its operations are visited. */
struct log_state {
    uint32_t sender, send;  /* the transaction that sent to it last, and the send, if its offset is known */
    struct highest most[2]; /* so far, and the highest one of another transaction */
    bool unknown;           /* some transaction of unknown fate polled it */
};

struct infer {
    const struct rig_history *history;
    const struct rig_logs *logs;
    struct rig_inference *inference;
    struct log_state *keys;
    struct rig_table consumers; /* process and key -> into positions */
    struct position_vec positions;
    uint32_t linked; /* the transaction from which an edge led to the visited one last */
};

/* ---- noting ---- */

/* A finding in an operation of a transaction. */
static struct rig_noncyclic found_in(const struct infer *in, enum rig_anomaly anomaly, uint32_t txn, uint32_t op)
{
    return (struct rig_noncyclic){.anomaly = anomaly,
                                  .key = rig_txn_ops(in->history, txn)[op].key,
                                  .txn = txn,
                                  .op = op,
                                  .other = UINT32_MAX,
                                  .other_op = UINT32_MAX,
                                  .unsettled = in->history->txns[txn].outcome != RIG_OUTCOME_OK};
}

static bool note(struct infer *in, const struct rig_noncyclic *found)
{
    return rig_noncyclic_note(&in->inference->noncyclic, found);
}

static bool note_record(struct infer *in, enum rig_anomaly anomaly, uint32_t txn, uint32_t op, int64_t value)
{
    struct rig_noncyclic found = found_in(in, anomaly, txn, op);
    found.value = value;
    return note(in, &found);
}

static bool note_clash(void *context, const struct rig_log_clash *clash)
{
    struct infer *in = context;
    const struct rig_log_record *first = &in->logs->records[clash->first], *second = &in->logs->records[clash->second];
    const bool in_order = first->shown_txn <= second->shown_txn;
    const struct rig_log_record *late = in_order ? second : first, *early = in_order ? first : second;
    struct rig_noncyclic found = found_in(in, RIG_ANOMALY_INCONSISTENT_OFFSETS, late->shown_txn, late->shown_op);
    found.value = rig_log_sent(in->logs, in_order ? clash->second : clash->first)->value;
    found.other_value = rig_log_sent(in->logs, in_order ? clash->first : clash->second)->value;
    found.other = early->shown_txn;
    found.other_op = early->shown_op;
    return note(in, &found);
}

/* ---- records that a poll shows ---- */

static bool link_wr(struct infer *in, uint32_t writer, uint32_t reader)
{
    if (writer == reader || writer == in->linked)
        return true;
    in->linked = writer;
    return rig_links_add(&in->inference->links, writer, reader, RIG_LINK_WR);
}

/* A record that is not at the offset at which it was shown before. */
static bool note_duplicate(struct infer *in, uint32_t record, uint32_t txn, uint32_t op)
{
    const struct rig_log_record *at = &in->logs->records[record];
    struct rig_noncyclic found = found_in(in, RIG_ANOMALY_DUPLICATE_ELEMENTS, txn, op);
    found.value = rig_log_sent(in->logs, record)->value;
    found.other = at->shown_txn;
    found.other_op = at->shown_op;
    return note(in, &found);
}

/* A record of a poll. *last: of records in the order, by other transactions, the last one so far. *place: its own. */
static bool take_record(struct infer *in, uint32_t txn, uint32_t op, int64_t offset, int64_t value, uint32_t *last,
                        uint32_t *place)
{
    const uint32_t number = rig_sets_find(&in->logs->values, rig_txn_ops(in->history, txn)[op].key, value);
    *place = number == RIG_SET_NONE || in->logs->records[number].offset != offset ? RIG_LOG_NO_PLACE
                                                                                  : in->logs->records[number].place;
    if (number == RIG_SET_NONE)
        return note_record(in, RIG_ANOMALY_GARBAGE_READ, txn, op, value);
    const struct rig_set_element *sent = rig_log_sent(in->logs, number);
    const struct rig_log_record *record = &in->logs->records[number];
    if (record->offset != offset && record->offset != RIG_LOG_NO_OFFSET && !note_duplicate(in, number, txn, op))
        return false;
    if (sent->writer == txn)
        return sent->op < op || note_record(in, RIG_ANOMALY_FUTURE_READ, txn, op, value);
    if (in->history->txns[sent->writer].outcome == RIG_OUTCOME_FAIL) {
        struct rig_noncyclic found = found_in(in, RIG_ANOMALY_G1A, txn, op);
        found.value = value;
        found.other = sent->writer;
        return note(in, &found);
    }
    if (record->place == RIG_LOG_NO_PLACE)
        return link_wr(in, sent->writer, txn);
    if (*last == RIG_LOG_NO_PLACE || record->place > *last)
        *last = record->place;
    return true;
}

/* ---- positions of consumers ---- */

/* The first record between two offsets that the transaction did not send itself; RIG_LOG_NO_PLACE: none. */
static uint32_t find_skipped(const struct infer *in, uint32_t txn, uint32_t key, int64_t from, int64_t to)
{
    const uint32_t end = in->logs->order_first[key + 1];
    for (uint32_t place = rig_logs_above(in->logs, key, from); place < end; place++) {
        if (rig_log_at(in->logs, place)->offset >= to)
            break;
        if (rig_log_sent(in->logs, in->logs->order[place])->writer != txn)
            return place;
    }
    return RIG_LOG_NO_PLACE;
}

/* Compares a polled record with the one that the consumer polled before it. */
static bool compare(struct infer *in, uint32_t txn, uint32_t op, const struct position *at,
                    const struct position *before)
{
    const bool within = before->txn == txn;
    const int64_t offset = at->offset, value = at->value;
    const bool is_next = before->place != RIG_LOG_NO_PLACE && at->place == before->place + 1;
    if (!before->known || is_next || (!within && in->history->lost_count > 0))
        return true;
    const uint32_t key = rig_txn_ops(in->history, txn)[op].key;
    const uint32_t skipped =
        offset > before->offset ? find_skipped(in, txn, key, before->offset, offset) : RIG_LOG_NO_PLACE;
    if (offset > before->offset && skipped == RIG_LOG_NO_PLACE)
        return true;
    in->inference->open_reads++;
    const enum rig_anomaly skip = within ? RIG_ANOMALY_INT_POLL_SKIP : RIG_ANOMALY_POLL_SKIP,
                           back = within ? RIG_ANOMALY_INT_NONMONOTONIC_POLL : RIG_ANOMALY_NONMONOTONIC_POLL;
    struct rig_noncyclic found = found_in(in, offset > before->offset ? skip : back, txn, op);
    found.value = offset > before->offset ? rig_log_sent(in->logs, in->logs->order[skipped])->value : value;
    found.other_value = before->value;
    found.other = before->txn;
    found.other_op = before->op;
    return note(in, &found);
}

/* The consumer's position in the log; NULL when memory runs out. */
static struct position *find_position(struct infer *in, uint32_t txn, uint32_t key)
{
    const uint64_t consumer = (uint64_t)(uint32_t)in->history->txns[txn].process << 32 | key;
    uint32_t *slot = rig_table_put(&in->consumers, consumer);
    if (slot == NULL)
        return NULL;
    if (*slot == RIG_TABLE_NONE) {
        *slot = (uint32_t)in->positions.count;
        if (!position_vec_add(&in->positions, (struct position){.place = RIG_LOG_NO_PLACE}))
            return NULL;
    }
    return &in->positions.at[*slot];
}

static void note_highest(struct log_state *key, uint32_t txn, uint32_t op, int64_t offset)
{
    const struct highest polled = {offset, txn, op};
    const unsigned place = key->most[0].offset == RIG_LOG_NO_OFFSET || key->most[0].txn == txn ? 0 : 1;
    if (place == 1 && offset > key->most[0].offset) {
        key->most[1] = key->most[0];
        key->most[0] = polled;
    } else if (key->most[place].offset == RIG_LOG_NO_OFFSET || offset > key->most[place].offset) {
        key->most[place] = polled;
    }
}

static bool take_poll(struct infer *in, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *poll = rig_txn_ops(in->history, txn) + op;
    const struct rig_read_list list = rig_txn_op_list(in->history, poll);
    const bool acknowledges = rig_log_acknowledges(rig_txn_ops(in->history, txn), op);
    uint32_t last = RIG_LOG_NO_PLACE;
    struct position *position = acknowledges ? NULL : find_position(in, txn, poll->key);
    if (!acknowledges && position == NULL)
        return false;
    if (!acknowledges && poll->read_state == RIG_READ_NIL)
        position->known = false;
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const int64_t offset = rig_read_element(&list, at), value = rig_read_element(&list, at + 1);
        struct position now = {.known = true, .txn = txn, .op = op, .offset = offset, .value = value};
        if (!take_record(in, txn, op, offset, value, &last, &now.place) ||
            (position != NULL && !compare(in, txn, op, &now, position)))
            return false;
        if (position != NULL) {
            note_highest(&in->keys[poll->key], txn, op, offset);
            *position = now;
        }
    }
    return last == RIG_LOG_NO_PLACE || link_wr(in, rig_log_sent(in->logs, in->logs->order[last])->writer, txn);
}

/* ---- sends ---- */

static bool take_send(struct infer *in, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    struct log_state *key = &in->keys[ops[op].key];
    const uint32_t number = rig_sets_find(&in->logs->values, ops[op].key, ops[op].value);
    RIG_INVARIANT(number != RIG_SET_NONE);
    const struct rig_log_record *record = &in->logs->records[number];
    in->inference->open_reads += record->offset == RIG_LOG_NO_OFFSET;
    if (record->place == RIG_LOG_NO_PLACE)
        return true;
    const bool within = key->sender == txn;
    const uint32_t before = within ? rig_sets_find(&in->logs->values, ops[op].key, ops[key->send].value) : RIG_SET_NONE;
    struct rig_noncyclic found = found_in(in, RIG_ANOMALY_INT_NONMONOTONIC_SEND, txn, op);
    found.value = ops[op].value;
    found.other_value = within ? ops[key->send].value : 0;
    found.other_op = within ? key->send : UINT32_MAX;
    key->sender = txn;
    key->send = op;
    return !within || in->logs->records[before].offset < record->offset || note(in, &found);
}

/* ---- the whole history ---- */

/* Edges between the senders of neighbours, and between acknowledged ones with others between them. */
static bool link_key(struct infer *in, uint32_t key)
{
    const struct rig_logs *logs = in->logs;
    uint32_t last = RIG_NODE_NONE, acknowledged = RIG_NODE_NONE;
    bool done = true;
    for (uint32_t place = logs->order_first[key]; done && place < logs->order_first[key + 1]; place++) {
        const uint32_t writer = rig_log_sent(logs, logs->order[place])->writer;
        const bool ok = in->history->txns[writer].outcome == RIG_OUTCOME_OK;
        if (last != RIG_NODE_NONE && last != writer)
            done = rig_links_add(&in->inference->links, last, writer, RIG_LINK_WW);
        if (done && ok && acknowledged != RIG_NODE_NONE && acknowledged != last && acknowledged != writer)
            done = rig_links_add(&in->inference->links, acknowledged, writer, RIG_LINK_WW);
        last = writer;
        acknowledged = ok ? writer : acknowledged;
    }
    return done;
}

static bool note_lost(struct infer *in, uint32_t key)
{
    const struct rig_logs *logs = in->logs;
    const struct log_state *state = &in->keys[key];
    for (uint32_t place = logs->order_first[key]; !state->unknown && place < logs->order_first[key + 1]; place++) {
        const struct rig_log_record *record = rig_log_at(logs, place);
        const struct rig_set_element *sent = rig_log_sent(logs, logs->order[place]);
        const struct highest *above = &state->most[sent->writer == state->most[0].txn];
        if (record->polled || in->history->txns[sent->writer].outcome != RIG_OUTCOME_OK ||
            above->offset == RIG_LOG_NO_OFFSET || record->offset >= above->offset)
            continue;
        struct rig_noncyclic found = found_in(in, RIG_ANOMALY_LOST_WRITE, sent->writer, sent->op);
        found.value = sent->value;
        found.other = above->txn;
        found.other_op = above->op;
        in->inference->open_reads++;
        if (!note(in, &found) || !rig_noncyclic_list_add(&in->inference->lost, found))
            return false;
    }
    return true;
}

static bool take_txn(struct infer *in, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    const bool ok = in->history->txns[txn].outcome == RIG_OUTCOME_OK;
    bool done = true;
    in->linked = RIG_NODE_NONE;
    for (uint32_t i = 0; done && i < rig_txn_op_count(in->history, txn); i++) {
        if (ops[i].kind == RIG_OP_SEND)
            done = take_send(in, txn, i);
        else if (ok && ops[i].read_state != RIG_READ_UNKNOWN)
            done = take_poll(in, txn, i);
        else if (ok && !rig_log_acknowledges(ops, i))
            in->inference->unknown_reads++;
    }
    return done;
}

static void note_unknown_poll(struct infer *in, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(in->history, txn); i++)
        in->keys[ops[i].key].unknown |= ops[i].kind == RIG_OP_POLL && !rig_log_acknowledges(ops, i);
}

static bool take_all(struct infer *in)
{
    const struct rig_history *history = in->history;
    bool done = true;
    for (uint32_t txn = 0; done && txn < history->txn_count; txn++) {
        const enum rig_outcome outcome = (enum rig_outcome)history->txns[txn].outcome;
        in->inference->ok_count += outcome == RIG_OUTCOME_OK;
        in->inference->fail_count += outcome == RIG_OUTCOME_FAIL;
        if (outcome == RIG_OUTCOME_INFO)
            note_unknown_poll(in, txn);
        if (in->logs->values.committed[txn])
            done = take_txn(in, txn);
    }
    for (uint32_t key = 0; done && key < history->key_count; key++)
        done = link_key(in, key) && (history->lost_count > 0 || history->truncated || note_lost(in, key));
    return done;
}

static bool prepare(struct infer *in, struct rig_arena *arena)
{
    const struct rig_history *history = in->history;
    in->keys = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof *in->keys);
    if (in->keys == NULL)
        return false;
    for (uint32_t key = 0; key < history->key_count; key++)
        in->keys[key] = (struct log_state){.sender = RIG_NODE_NONE,
                                           .most = {{.offset = RIG_LOG_NO_OFFSET, .txn = RIG_NODE_NONE},
                                                    {.offset = RIG_LOG_NO_OFFSET, .txn = RIG_NODE_NONE}}};
    return rig_links_init(&in->inference->links, arena, history->txn_count, 0, history->op_count);
}

enum rig_rc rig_infer_logs(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                           struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err)
{
    (void)assumptions;
    *inference = (struct rig_inference){.history = history, .noncyclic = {.most_kept = most_kept}};
    struct infer in = {.history = history, .logs = &inference->logs, .inference = inference};
    rig_table_init(&in.consumers);
    enum rig_rc rc = rig_logs_build(history, arena, &inference->logs, note_clash, &in, err);
    inference->committed = inference->logs.values.committed;
    inference->committed_count = inference->logs.values.committed_count;
    if (rc == RIG_OK && (!prepare(&in, arena) || !take_all(&in)))
        rc = rig_memory_limit(err, "the dependencies");
    rig_table_done(&in.consumers);
    position_vec_done(&in.positions);
    memcpy(inference->graph.link_count, inference->links.link_count, sizeof inference->links.link_count);
    return rc;
}
