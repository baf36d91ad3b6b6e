#include "checker/judge/proof/row_orders.h"

#include <stdlib.h>
#include <string.h>

#include "checker/decide/rule.h"
#include "checker/infer/row_inference.h"
#include "checker/infer/type_inference.h"

void rig_row_order_done(struct rig_row_order *order)
{
    rig_prove_events_done(&order->events);
    rig_row_missed_done(&order->missed);
}

/* Whether an order of this kind can prove the level at all; fills in the kind. */
static bool row_order_kind(enum rig_level level, enum rig_order_kind *kind)
{
    const struct rig_rule *rule = rig_level_rule(level);
    switch ((int)rule->form) {
    case RIG_RULE_WRITES:
        *kind = RIG_ORDER_WRITES;
        return true;
    case RIG_RULE_FLOW:
        *kind = RIG_ORDER_COMMITS;
        return true;
    case RIG_RULE_SNAPSHOT:
        *kind = RIG_ORDER_SNAPSHOT;
        return true;
    case RIG_RULE_SERIAL:
        *kind = rule->items ? RIG_ORDER_ITEMS : RIG_ORDER_SERIAL;
        return true;
    default:
        return false;
    }
}

/* ---- by the edges ---- */

static bool order_by_edges(struct rig_inference *inference, enum rig_level level, struct rig_row_order *order,
                           bool *found)
{
    const unsigned links = order->kind == RIG_ORDER_WRITES    ? RIG_LINKS_WW
                           : order->kind == RIG_ORDER_COMMITS ? RIG_LINKS_WW | RIG_LINKS_WR
                                                              : RIG_LINKS_ALL;
    struct rig_inference items = {0};
    if (order->kind == RIG_ORDER_ITEMS && !rig_infer_items_of_rows(inference, NULL, &items))
        return false;
    return rig_prove_links_order(order->kind == RIG_ORDER_ITEMS ? &items : inference, links,
                                 order->kind == RIG_ORDER_WRITES, order->kind == RIG_ORDER_SNAPSHOT,
                                 rig_level_rule(level)->along, &order->events, found);
}

/* ---- what counts missed ---- */

enum { MOST_MISSED = 1 << 26 };

/* Whether the read shows a number or a sum of rows, and saw a number of commits that is known. */
static bool is_total(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    return rig_row_is_read(&ops[op]) && rig_row_condition_at(ops, op).form != RIG_ROW_LISTED &&
           history->places->seen[history->txns[txn].first_op + op] != RIG_PLACE_NONE;
}

/* The commits that stand before a read in the order, and that it did not see. `most`, per event: the highest place of a
 * commit up to it. */
static bool note_missed(const struct rig_history *history, const uint32_t *most, uint32_t event, uint32_t op,
                        struct rig_row_order *order)
{
    const uint32_t seen = history->places->seen[op];
    bool ok = true;
    for (uint32_t i = event; ok && i-- > 0 && most[i] != RIG_PLACE_NONE && most[i] >= seen;) {
        const uint32_t txn = order->events.at[i], place = history->places->of_txn[txn];
        if (place != RIG_PLACE_NONE && place >= seen)
            ok = order->missed.count < MOST_MISSED && rig_row_missed_add(&order->missed, (struct rig_missed){op, txn});
    }
    return ok;
}

static int compare_missed(const void *left, const void *right)
{
    const struct rig_missed *a = left, *b = right;
    return a->op != b->op ? (a->op > b->op) - (a->op < b->op) : (a->txn > b->txn) - (a->txn < b->txn);
}

static bool note_all_missed(const struct rig_history *history, struct rig_row_order *order)
{
    uint32_t *most = malloc((order->events.count + 1) * sizeof *most), highest = RIG_PLACE_NONE;
    bool ok = most != NULL;
    for (uint32_t event = 0; ok && event < order->events.count; event++) {
        const uint32_t txn = order->events.at[event], place = history->places->of_txn[txn];
        for (uint32_t i = 0; ok && i < rig_txn_op_count(history, txn); i++) {
            if (is_total(history, txn, i))
                ok = note_missed(history, most, event, history->txns[txn].first_op + i, order);
        }
        highest = place != RIG_PLACE_NONE && (highest == RIG_PLACE_NONE || place > highest) ? place : highest;
        most[event] = highest;
    }
    if (ok && order->missed.count > 1)
        qsort(order->missed.at, order->missed.count, sizeof order->missed.at[0], compare_missed);
    free(most);
    return ok;
}

/* ---- */

static uint64_t proved_bit(enum rig_level level)
{
    const char *name = rig_level_info(level)->name;
    const int index = rig_proved_level_find(name, strlen(name));
    return index < 0 ? 0 : UINT64_C(1) << index;
}

enum rig_rc rig_row_order_try(enum rig_level level, const struct rig_facts *facts, struct rig_row_order *order,
                              bool *found, struct rig_err *err)
{
    struct rig_err why = {0};
    *found = false;
    if (!row_order_kind(level, &order->kind) || proved_bit(level) == 0)
        return RIG_OK;
    const struct rig_order tried = {.kind = order->kind,
                                    .events = order->events.at,
                                    .count = order->events.count,
                                    .missed = order->missed.at,
                                    .missed_count = order->missed.count};
    const enum rig_rc rc = rig_replay(facts, &tried, proved_bit(level), &why);
    *found = rc == RIG_OK;
    return rc == RIG_OK || rc == RIG_E_INPUT ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}

enum rig_rc rig_row_order_find(struct rig_inference *inference, enum rig_level level, const struct rig_facts *facts,
                               struct rig_row_order *order, bool *found, struct rig_err *err)
{
    order->events.count = order->missed.count = 0;
    *found = false;
    if (!row_order_kind(level, &order->kind))
        return RIG_OK;
    const bool by_reads = order->kind == RIG_ORDER_COMMITS || order->kind == RIG_ORDER_ITEMS;
    if (!order_by_edges(inference, level, order, found) ||
        (*found && by_reads && inference->history->places != NULL && !note_all_missed(inference->history, order)))
        return rig_memory_limit(err, "the order of the transactions");
    return *found ? rig_row_order_try(level, facts, order, found, err) : RIG_OK;
}
