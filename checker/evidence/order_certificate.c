#include "checker/evidence/order_certificate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

struct placed {
    int64_t place;
    uint32_t txn;
};

/* A write of a transaction of unknown fate without a place. */
struct unplaced {
    int64_t value;
    uint32_t key, txn;
};

RIG_VEC(struct placed, order_places)
RIG_VEC(struct unplaced, order_unplaced)

struct making {
    const struct rig_history *history;
    struct order_places places;
    struct order_unplaced unplaced; /* by key, then value */
    struct rig_buf *lacks;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the database's own order");
}

static int64_t place_of(const struct rig_history *history, uint32_t txn)
{
    const int64_t order = rig_history_column(history, txn, RIG_COLUMN_ORDER);
    return order != RIG_COLUMN_NONE ? order : rig_history_column(history, txn, RIG_COLUMN_COMMIT_TS);
}

static bool is_last_write(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = op + 1; i < rig_txn_op_count(history, txn); i++) {
        if (!rig_op_reads(ops[i].kind) && ops[i].key == ops[op].key)
            return false;
    }
    return !rig_op_reads(ops[op].kind);
}

static bool writes(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
    while (op < end && rig_op_reads(op->kind))
        op++;
    return op < end;
}

static bool take_unplaced(struct making *m, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(m->history, txn); i++) {
        if (!rig_op_reads(ops[i].kind) &&
            !order_unplaced_add(&m->unplaced, (struct unplaced){ops[i].value, ops[i].key, txn}))
            return false;
    }
    return true;
}

/* False when memory runs out. */
static bool take_places(struct making *m)
{
    const struct rig_history *history = m->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const int64_t place = place_of(history, txn);
        const bool ok = history->txns[txn].outcome == RIG_OUTCOME_OK;
        if (history->txns[txn].outcome == RIG_OUTCOME_FAIL || !writes(history, txn))
            continue;
        if (place > 0 && !order_places_add(&m->places, (struct placed){place, txn}))
            return false;
        if (place <= 0 && ok && m->lacks->size == 0)
            rig_buf_printf(m->lacks, "T%" PRIu32 " committed and has no place in it", rig_txn_name(history, txn));
        if (place <= 0 && !ok && !take_unplaced(m, txn))
            return false;
    }
    return true;
}

static int compare_places(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->txn > b->txn) - (a->txn < b->txn);
}

static int compare_unplaced(const void *left, const void *right)
{
    const struct unplaced *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static void find_equal_places(struct making *m)
{
    for (size_t i = 1; i < m->places.count && m->lacks->size == 0; i++) {
        if (m->places.at[i].place == m->places.at[i - 1].place)
            rig_buf_printf(m->lacks, "T%" PRIu32 " and T%" PRIu32 " have the same place in it",
                           rig_txn_name(m->history, m->places.at[i - 1].txn),
                           rig_txn_name(m->history, m->places.at[i].txn));
    }
}

/* A write of unknown fate that was read has committed, somewhere. */
static void find_read_unplaced(struct making *m)
{
    const struct rig_history *history = m->history;
    for (uint32_t txn = 0; txn < history->txn_count && m->unplaced.count > 0 && m->lacks->size == 0; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; history->txns[txn].outcome == RIG_OUTCOME_OK && i < rig_txn_op_count(history, txn); i++) {
            const struct unplaced wanted = {.value = ops[i].value, .key = ops[i].key};
            const struct unplaced *found =
                !rig_op_reads(ops[i].kind) || ops[i].read_state != RIG_READ_SEEN
                    ? NULL
                    : bsearch(&wanted, m->unplaced.at, m->unplaced.count, sizeof wanted, compare_unplaced);
            if (found == NULL)
                continue;
            rig_buf_printf(m->lacks, "T%" PRIu32 ", of unknown fate, was read and has no place in it",
                           rig_txn_name(history, found->txn));
            return;
        }
    }
}

static bool add_commits(const struct making *m, struct rig_certificate *certificate)
{
    struct rig_certificate_builder builder;
    bool done = true;
    rig_certificate_builder_init(&builder, certificate);
    for (size_t at = 0; done && at < m->places.count; at++) {
        const uint32_t txn = m->places.at[at].txn;
        const struct rig_txn_op *ops = rig_txn_ops(m->history, txn);
        done = rig_certificate_add_commit(&builder, (uint64_t)m->places.at[at].place, 0, 0);
        for (uint32_t i = 0; done && i < rig_txn_op_count(m->history, txn); i++) {
            if (is_last_write(m->history, txn, i))
                done = rig_certificate_add_version(&builder, m->history->keys[ops[i].key], &ops[i].value, 1);
        }
    }
    rig_certificate_builder_done(&builder);
    return done;
}

enum rig_rc rig_order_certificate_make(const struct rig_history *history, struct rig_certificate **certificate,
                                       struct rig_buf *lacks, struct rig_err *err)
{
    struct making m = {.history = history, .lacks = lacks};
    struct rig_certificate *made = calloc(1, sizeof *made);
    RIG_REQUIRE(lacks->size == 0);
    *certificate = NULL;
    bool done = made != NULL && take_places(&m);
    if (made != NULL)
        rig_certificate_init(made);
    if (history->key_texts != NULL && lacks->size == 0)
        rig_buf_add_text(lacks, "keys are no integers");
    if (done) {
        if (m.places.count > 0)
            qsort(m.places.at, m.places.count, sizeof *m.places.at, compare_places);
        if (m.unplaced.count > 0)
            qsort(m.unplaced.at, m.unplaced.count, sizeof *m.unplaced.at, compare_unplaced);
        find_equal_places(&m);
        find_read_unplaced(&m);
        done = lacks->size > 0 || add_commits(&m, made);
    }
    order_places_done(&m.places);
    order_unplaced_done(&m.unplaced);
    if (done && lacks->size == 0) {
        made->complete = made->last_only = true;
        (void)snprintf(made->source, sizeof made->source, "assumed order");
        *certificate = made;
        return RIG_OK;
    }
    rig_order_certificate_free(made);
    return done ? RIG_OK : no_memory(err);
}

void rig_order_certificate_free(struct rig_certificate *certificate)
{
    if (certificate == NULL)
        return;
    rig_certificate_done(certificate);
    free(certificate);
}
