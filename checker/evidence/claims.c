#include "checker/evidence/claims.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/buf.h"
#include "checker/evidence/claims_private.h"
#include "checker/explain/say.h"
#include "checker/model/certified.h"
#include "checker/model/verdict.h"
#include "checker/prove/witness/verify_claims.h"
#include "history/types/types.h"

const enum rig_anomaly rig_claim_anomalies[RIG_CLAIM_COUNT] = {
    [RIG_CLAIM_ORDER_MISMATCH] = RIG_ANOMALY_ORDER_MISMATCH,
    [RIG_CLAIM_G_SIA] = RIG_ANOMALY_G_SIA,
    [RIG_CLAIM_G_SIB] = RIG_ANOMALY_G_SIB,
    [RIG_CLAIM_STALE_SNAPSHOT] = RIG_ANOMALY_STALE_SNAPSHOT,
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the database's own order");
}

bool rig_claims_given(const struct rig_history *history)
{
    return history->columns != NULL && (rig_columns_given(history->columns) & RIG_CLAIM_COLUMNS) != 0;
}

void rig_claim_note(struct rig_claiming *c, enum rig_order_claim kind, uint32_t txn, uint32_t op, uint32_t other,
                    int64_t value)
{
    RIG_REQUIRE(kind < RIG_CLAIM_COUNT && txn < c->history->txn_count);
    RIG_REQUIRE(other == UINT32_MAX || (other != txn && other < c->history->txn_count));
    struct rig_order_claims *into = c->into;
    const uint64_t at = into->counts[kind]++;
    if (at >= RIG_CLAIMS_KEPT)
        return;
    if (into->kept[kind] == NULL)
        into->kept[kind] = rig_arena_array(&into->arena, RIG_CLAIMS_KEPT, sizeof *into->kept[kind]);
    if (into->kept[kind] == NULL)
        c->failed = true;
    else
        into->kept[kind][at] = (struct rig_claim_case){
            .kind = kind,
            .txn = txn,
            .op = op,
            .other = other,
            .value = value,
            .names = {rig_txn_name(c->history, txn), other == UINT32_MAX ? 0 : rig_txn_name(c->history, other)}};
}

/* ---- places ---- */

/* Where the certificate has the transaction of unknown outcome; RIG_NO_PLACE: nowhere. */
static int64_t certified_place(const struct rig_claiming *c, const struct rig_certificate_chains *chains, uint32_t txn)
{
    RIG_REQUIRE(c->history->certificate != NULL);
    const struct rig_txn_op *ops = rig_txn_ops(c->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(c->history, txn); i++) {
        const struct rig_certificate_slot *slot =
            rig_op_reads(ops[i].kind) ? NULL : rig_certificate_find(chains, ops[i].key, ops[i].value);
        if (slot != NULL)
            return (int64_t)c->history->certificate->commits.at[slot->commit].place;
    }
    return RIG_NO_PLACE;
}

static struct rig_claim_place place_of(const struct rig_claiming *c, const struct rig_certificate_chains *chains,
                                       const uint8_t *never, uint32_t txn)
{
    const struct rig_history *history = c->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const bool ok = history->txns[txn].outcome == RIG_OUTCOME_OK;
    struct rig_claim_place place = {.start = RIG_NO_PLACE, .commit = RIG_NO_PLACE};
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++)
        place.writes |= !rig_op_reads(ops[i].kind);
    place.may_commit = history->txns[txn].outcome != RIG_OUTCOME_FAIL && !(never != NULL && never[txn]);
    if (!place.may_commit)
        return place;
    if (c->into->is_order) {
        place.start = ok ? rig_history_column(history, txn, RIG_COLUMN_ORDER) : RIG_NO_PLACE;
        if (!ok && chains != NULL)
            place.start = certified_place(c, chains, txn);
        place.commit = place.writes ? place.start : RIG_NO_PLACE;
    } else if (ok) {
        place.start = rig_history_column(history, txn, RIG_COLUMN_START_TS);
        place.commit = place.writes ? rig_history_column(history, txn, RIG_COLUMN_COMMIT_TS) : RIG_NO_PLACE;
    }
    RIG_INVARIANT(place.writes || place.commit == RIG_NO_PLACE);
    return place;
}

static bool find_places(struct rig_claiming *c, const struct rig_certificate_chains *chains, const uint8_t *never)
{
    const uint32_t count = c->history->txn_count;
    c->places = rig_arena_array(c->scratch, (size_t)count + 1, sizeof *c->places);
    if (c->places == NULL)
        return false;
    for (uint32_t txn = 0; txn < count; txn++) {
        const struct rig_claim_place *place = &c->places[txn];
        c->places[txn] = place_of(c, chains, never, txn);
        const bool placed = place->start != RIG_NO_PLACE || place->commit != RIG_NO_PLACE;
        c->into->placed_count += placed;
        c->into->unplaced_count += place->may_commit && place->writes && place->commit == RIG_NO_PLACE;
    }
    return true;
}

/* Whether the transaction has a commit timestamp before its start. Then its reads are not compared. */
static bool is_backward(const struct rig_claiming *c, uint32_t txn)
{
    const struct rig_claim_place *place = &c->places[txn];
    return place->commit != RIG_NO_PLACE && place->commit < place->start;
}

static void find_backward(struct rig_claiming *c)
{
    for (uint32_t txn = 0; txn < c->history->txn_count; txn++) {
        if (is_backward(c, txn))
            rig_claim_note(c, RIG_CLAIM_ORDER_MISMATCH, txn, UINT32_MAX, UINT32_MAX, 0);
    }
}

/* ---- writes ---- */

static int compare_writes(const void *left, const void *right)
{
    const struct rig_claim_write *a = left, *b = right;
    if (a->key != b->key)
        return (a->key > b->key) - (a->key < b->key);
    if (a->value != b->value)
        return (a->value > b->value) - (a->value < b->value);
    return (a->txn > b->txn) - (a->txn < b->txn);
}

/* Every write, and the keys with one that has no place, or that another transaction wrote as well. */
static bool find_writes(struct rig_claiming *c)
{
    const struct rig_history *history = c->history;
    c->writes = rig_arena_array(c->scratch, (size_t)history->op_count + 1, sizeof *c->writes);
    c->excluded = rig_arena_array(c->scratch, (size_t)history->key_count + 1, 1);
    if (c->writes == NULL || c->excluded == NULL)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (rig_op_reads(ops[i].kind))
                continue;
            c->writes[c->write_count++] =
                (struct rig_claim_write){.value = ops[i].value, .key = ops[i].key, .txn = txn};
            if (c->places[txn].may_commit && c->places[txn].commit == RIG_NO_PLACE)
                c->excluded[ops[i].key] = 1;
        }
    }
    RIG_INVARIANT(c->write_count <= history->op_count);
    if (c->write_count > 0)
        qsort(c->writes, c->write_count, sizeof *c->writes, compare_writes);
    for (size_t i = 1; i < c->write_count; i++) {
        const struct rig_claim_write *a = &c->writes[i - 1], *b = a + 1;
        if (a->key == b->key && a->value == b->value)
            c->excluded[a->key] = 1;
    }
    return true;
}

uint32_t rig_claim_writer(const struct rig_claiming *c, uint32_t key, int64_t value)
{
    size_t low = 0, high = c->write_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct rig_claim_write *write = &c->writes[middle];
        if (write->key < key || (write->key == key && write->value < value))
            low = middle + 1;
        else
            high = middle;
    }
    const struct rig_claim_write *write = &c->writes[low];
    return low < c->write_count && write->key == key && write->value == value ? write->txn : UINT32_MAX;
}

/* ---- events ---- */

static int compare_events(const void *left, const void *right)
{
    const struct rig_claim_event *a = left, *b = right;
    if (a->place != b->place)
        return (a->place > b->place) - (a->place < b->place);
    if (a->turn != b->turn)
        return (a->turn > b->turn) - (a->turn < b->turn);
    return (a->txn > b->txn) - (a->txn < b->txn);
}

static bool find_events(struct rig_claiming *c)
{
    find_backward(c);
    const uint32_t count = c->history->txn_count;
    c->events = rig_arena_array(c->scratch, 2 * (size_t)count + 1, sizeof *c->events);
    if (c->events == NULL)
        return false;
    for (uint32_t txn = 0; txn < count; txn++) {
        const struct rig_claim_place *place = &c->places[txn];
        if (place->start != RIG_NO_PLACE && c->history->txns[txn].outcome == RIG_OUTCOME_OK && !is_backward(c, txn))
            c->events[c->event_count++] =
                (struct rig_claim_event){.place = place->start,
                                         .txn = txn,
                                         .turn = place->start == place->commit ? RIG_TURN_OWN_READS : RIG_TURN_READS};
        if (place->commit != RIG_NO_PLACE)
            c->events[c->event_count++] =
                (struct rig_claim_event){.place = place->commit, .txn = txn, .turn = RIG_TURN_WRITES};
    }
    RIG_INVARIANT(c->event_count <= 2 * (size_t)count);
    if (c->event_count > 0)
        qsort(c->events, c->event_count, sizeof *c->events, compare_events);
    return true;
}

/* ---- real time ---- */

struct begun {
    uint32_t at, txn;
};

static int compare_begun(const void *left, const void *right)
{
    const struct begun *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

/* Transactions in the order of their invocations, against the highest place of those that had completed. */
static bool find_stale(struct rig_claiming *c)
{
    const struct rig_history *history = c->history;
    struct begun *begun = rig_arena_array(c->scratch, (size_t)history->txn_count + 1, sizeof *begun);
    uint32_t count = 0, completed = 0, highest = UINT32_MAX;
    int64_t most = RIG_NO_PLACE;
    if (begun == NULL)
        return false;
    for (uint32_t txn = 0; history->has_invocations && txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome == RIG_OUTCOME_OK && c->places[txn].start != RIG_NO_PLACE &&
            history->txns[txn].invoke_at != RIG_POSITION_NONE)
            begun[count++] = (struct begun){.at = history->txns[txn].invoke_at, .txn = txn};
    }
    if (count > 0)
        qsort(begun, count, sizeof *begun, compare_begun);
    for (uint32_t i = 0; i < count; i++) {
        for (; completed < history->txn_count && history->txns[completed].complete_at < begun[i].at; completed++) {
            const struct rig_claim_place *place = &c->places[completed];
            const int64_t reached = place->commit > place->start ? place->commit : place->start;
            if (history->txns[completed].outcome == RIG_OUTCOME_OK && reached > most) {
                most = reached;
                highest = completed;
            }
        }
        if (highest != UINT32_MAX && c->places[begun[i].txn].start < most)
            rig_claim_note(c, RIG_CLAIM_STALE_SNAPSHOT, begun[i].txn, UINT32_MAX, highest, 0);
    }
    return !c->failed;
}

/* The place of an acknowledged commit in the answer to its client, against that in the certificate. */
static void compare_with_certificate(struct rig_claiming *c, const struct rig_certificate_chains *chains)
{
    for (uint32_t txn = 0; c->into->is_order && chains != NULL && txn < c->history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(c->history, txn);
        const int64_t place = c->places[txn].commit;
        for (uint32_t i = 0; place != RIG_NO_PLACE && i < rig_txn_op_count(c->history, txn); i++) {
            const struct rig_certificate_slot *slot =
                rig_op_reads(ops[i].kind) ? NULL : rig_certificate_find(chains, ops[i].key, ops[i].value);
            if (slot == NULL || (int64_t)c->history->certificate->commits.at[slot->commit].place == place)
                continue;
            rig_claim_note(c, RIG_CLAIM_ORDER_MISMATCH, txn, i, UINT32_MAX, ops[i].value);
            break;
        }
    }
}

/* ---- words ---- */

/* "place 7"; "commit timestamp 7". */
static void add_place(const struct rig_claiming *c, uint32_t txn, bool commit, struct rig_buf *text)
{
    const struct rig_claim_place *place = &c->places[txn];
    if (c->into->is_order)
        rig_say(c->history, text, "place %d", place->start);
    else
        rig_say(c->history, text, commit ? "commit timestamp %d" : "start timestamp %d",
                commit ? place->commit : place->start);
}

static void add_write(const struct rig_claiming *c, const struct rig_claim_case *found, struct rig_buf *text)
{
    const uint32_t key = rig_txn_ops(c->history, found->txn)[found->op].key;
    rig_say(c->history, text, "%T's write of %V to key %K, at ", found->other, found->value, key);
    add_place(c, found->other, true, text);
}

/* A case of a read: the write that it shows, or misses. */
static void add_read(const struct rig_claiming *c, const struct rig_claim_case *found, struct rig_buf *text)
{
    static const char *const verbs[RIG_CLAIM_COUNT] = {[RIG_CLAIM_G_SIA] = "shows ", [RIG_CLAIM_G_SIB] = "misses "};
    const char *verb = verbs[found->kind];
    rig_say(c->history, text, ": it %r, which %s", found->txn, found->op,
            verb != NULL ? verb : "the order does not give: see ");
    if (found->other != UINT32_MAX)
        add_write(c, found, text);
    else
        rig_say(c->history, text, "the writes before it");
}

/* A case of the places of whole transactions. */
static void add_times(const struct rig_claiming *c, const struct rig_claim_case *found, struct rig_buf *text)
{
    if (found->other == UINT32_MAX) {
        rig_say(c->history, text, ": it committed before its start, at ");
        add_place(c, found->txn, true, text);
        return;
    }
    rig_say(c->history, text, ", which is before %T's ", found->other);
    add_place(c, found->other, c->places[found->other].commit > c->places[found->other].start, text);
    rig_say(c->history, text, ", although %T was acknowledged before it began", found->other);
}

static void add_sentence(const struct rig_claiming *c, const struct rig_claim_case *found, struct rig_buf *text)
{
    const struct rig_txn_op *op = found->op == UINT32_MAX ? NULL : rig_txn_ops(c->history, found->txn) + found->op;
    rig_say(c->history, text, "%T = process %d, at ", found->txn, c->history->txns[found->txn].process);
    add_place(c, found->txn, false, text);
    if (op == NULL) {
        add_times(c, found, text);
    } else if (rig_op_reads(op->kind)) {
        add_read(c, found, text);
    } else if (found->other == UINT32_MAX) {
        rig_say(c->history, text, ": the certificate has its write of %V to key %K at another place", found->value,
                op->key);
    } else {
        rig_say(c->history, text, ": it replaced ");
        add_write(c, found, text);
        rig_say(c->history, text, ", which is later than its start");
    }
    rig_say(c->history, text, ".");
}

/* Proves and words the cases that are kept. */
static enum rig_rc settle(const struct rig_claiming *c, struct rig_err *err)
{
    for (unsigned kind = 0; kind < RIG_CLAIM_COUNT; kind++) {
        for (uint64_t i = 0; i < c->into->counts[kind] && i < RIG_CLAIMS_KEPT; i++) {
            struct rig_claim_case *found = &c->into->kept[kind][i];
            const char *lacks = rig_verify_claim(c->history, found, c->into->is_order);
            struct rig_buf text;
            if (lacks != NULL)
                return rig_fail(err, RIG_E_BUG,
                                "a witness of %s does not hold: T%" PRIu32 " %s; please report this history",
                                rig_anomaly_info(rig_claim_anomalies[kind])->name, found->names[0], lacks);
            rig_buf_init(&text, 0);
            add_sentence(c, found, &text);
            found->text = text.failed ? NULL : rig_arena_text(&c->into->arena, rig_buf_text(&text), text.size);
            rig_buf_done(&text);
            if (found->text == NULL)
                return no_memory(err);
        }
    }
    return RIG_OK;
}

/* ---- all of it ---- */

static struct rig_order_claims *make(size_t limit_bytes)
{
    struct rig_order_claims *claims = calloc(1, sizeof *claims);
    if (claims != NULL)
        rig_arena_init(&claims->arena, limit_bytes);
    return claims;
}

enum rig_rc rig_claims_judge(const struct rig_history *history, const struct rig_certificate_chains *chains,
                             const uint8_t *never, size_t limit_bytes, struct rig_verdict *verdict, struct rig_err *err)
{
    struct rig_order_claims *claims = make(limit_bytes);
    if (claims == NULL)
        return no_memory(err);
    const uint32_t given = rig_columns_given(history->columns);
    claims->is_order = (given & (RIG_CLAIM_COLUMNS & ~RIG_COLUMN_BIT(RIG_COLUMN_ORDER))) == 0;
    claims->key_count = history->key_count;
    struct rig_arena scratch;
    rig_arena_init(&scratch, limit_bytes);
    struct rig_claiming c = {.history = history, .into = claims, .scratch = &scratch};
    const bool done =
        find_places(&c, chains, never) && find_writes(&c) && find_events(&c) && rig_claims_replay(&c) && find_stale(&c);
    if (done)
        compare_with_certificate(&c, chains);
    const enum rig_rc rc = done && !c.failed ? settle(&c, err) : no_memory(err);
    for (uint32_t key = 0; rc == RIG_OK && key < history->key_count; key++)
        claims->excluded_count += c.excluded[key];
    rig_arena_done(&scratch);
    if (rc != RIG_OK) {
        rig_claims_free(claims);
        return rc;
    }
    for (unsigned kind = 0; kind < RIG_CLAIM_COUNT; kind++) {
        verdict->findings[rig_claim_anomalies[kind]].count = claims->counts[kind];
        verdict->findings[rig_claim_anomalies[kind]].exact = true;
    }
    verdict->claims = claims;
    return RIG_OK;
}

enum rig_rc rig_claims_leave(const char *why, struct rig_verdict *verdict, struct rig_err *err)
{
    verdict->claims = make(0);
    if (verdict->claims != NULL)
        verdict->claims->unjudged = rig_arena_text(&verdict->claims->arena, why, strlen(why));
    return verdict->claims != NULL && verdict->claims->unjudged != NULL ? RIG_OK : no_memory(err);
}

static void leave_open(struct rig_verdict *verdict, const char *why)
{
    struct rig_verdict_storage *storage = verdict->storage;
    if (verdict->valid != RIG_VALID_TRUE)
        return;
    verdict->valid = RIG_VALID_UNKNOWN;
    verdict->unknown_reason = rig_arena_text(&storage->arena, why, strlen(why));
}

enum rig_rc rig_claims_open(struct rig_verdict *verdict, const char *lacks, struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "the database's own order is assumed to order the versions, and does not: %s", lacks);
    const bool done = !text.failed;
    if (done)
        leave_open(verdict, rig_buf_text(&text));
    rig_buf_done(&text);
    return done && (verdict->valid != RIG_VALID_UNKNOWN || verdict->unknown_reason != NULL) ? RIG_OK : no_memory(err);
}

/* The claims do not hold, and what they are claims about is asked for. */
static void admit_contradiction(struct rig_verdict *verdict)
{
    static const enum rig_anomaly by_timestamps[] = {RIG_ANOMALY_G_SIA, RIG_ANOMALY_G_SIB};
    const uint64_t snapshots = rig_levels_above(verdict->lattice, RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION));
    enum rig_anomaly found = RIG_ANOMALY_COUNT;
    if (verdict->findings[RIG_ANOMALY_ORDER_MISMATCH].count > 0)
        found = RIG_ANOMALY_ORDER_MISMATCH;
    for (size_t i = 0; found == RIG_ANOMALY_COUNT && i < 2; i++) {
        if ((verdict->requested_levels & snapshots) != 0 && verdict->findings[by_timestamps[i]].count > 0)
            found = by_timestamps[i];
    }
    if (found == RIG_ANOMALY_COUNT || (verdict->certified != NULL && verdict->certified->assumed != NULL))
        return; /* none, or the order has decided */
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text,
                   "the database's own order contradicts the reads (%s): either it is wrong, or a level is broken "
                   "(`--assume order` judges registers by it)",
                   rig_anomaly_info(found)->name);
    leave_open(verdict, text.failed ? "the database's own order contradicts the reads" : rig_buf_text(&text));
    rig_buf_done(&text);
}

void rig_claims_conclude(struct rig_verdict *verdict)
{
    admit_contradiction(verdict);
    static const char none[] = "the history has no place of a transaction in the database's own order";
    static const char unjudged[] = "the database's own order was not checked";
    rig_anomaly_set requested = 0;
    for (unsigned kind = 0; kind < RIG_CLAIM_COUNT; kind++) {
        const enum rig_anomaly anomaly = rig_claim_anomalies[kind];
        requested |= verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly);
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) != 0 && verdict->findings[anomaly].count > 0)
            verdict->valid = RIG_VALID_FALSE;
    }
    if (requested == 0 || (verdict->claims != NULL && verdict->claims->unjudged == NULL) ||
        verdict->valid != RIG_VALID_TRUE)
        return;
    struct rig_verdict_storage *storage = verdict->storage;
    const char *why = verdict->claims == NULL ? none : unjudged;
    verdict->undecided_anomalies |= requested;
    verdict->valid = RIG_VALID_UNKNOWN;
    verdict->unknown_reason = rig_arena_text(&storage->arena, why, strlen(why));
}

void rig_claims_free(struct rig_order_claims *claims)
{
    if (claims == NULL)
        return;
    rig_arena_done(&claims->arena);
    free(claims);
}
