#include "jobs/shrink/proved_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "checker/infer/type_inference.h"
#include "checker/judge/check.h"
#include "checker/judge/proof/prove.h"
#include "checker/prove/replay.h"

static const int64_t budget_ns = INT64_C(5) * RIG_NS_PER_S;

/* UINT32_MAX: no transaction has this name. */
static uint32_t find_named(const struct rig_history *history, unsigned long name)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (rig_txn_name(history, txn) == name)
            return txn;
    }
    return UINT32_MAX;
}

/* The order of the first claim `held KIND LEVEL` of which the level follows; NULL: there is none. */
static const char *find_claim(const char *proof, enum rig_level level)
{
    static const enum rig_order_kind kinds[] = {RIG_ORDER_SERIAL, RIG_ORDER_SNAPSHOT, RIG_ORDER_OPERATIONS};
    for (const char *line = proof; *line != '\0'; line += strcspn(line, "\n") + 1) {
        for (size_t i = 0; strncmp(line, "held ", 5) == 0 && i < sizeof kinds / sizeof kinds[0]; i++) {
            const char *kind = rig_order_kinds[kinds[i]], *name = line + 5 + strlen(kind) + 1;
            char text[64];
            enum rig_level of;
            if (strncmp(line + 5, kind, strlen(kind)) != 0 || name[-1] != ' ')
                continue;
            (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(name, " \n"), name);
            if (rig_level_find(text, &of) && (rig_level_info(of)->below & RIG_LEVEL_BIT(level)) != 0)
                return strchr(line, '\n') + 1;
        }
    }
    return NULL;
}

/* Whether the transaction stands in the order as often as its steps need. */
static bool is_whole(const struct rig_history *history, const struct rig_proved_order *order, uint32_t txn)
{
    uint32_t count = 0;
    for (size_t i = 0; i < order->count; i++)
        count += order->events[i] == txn;
    return count == 1 || count == 2 || count == rig_txn_op_count(history, txn) + 1;
}

/* False: a name is of no transaction, or a transaction is missing. */
static bool take_events(const struct rig_history *history, const char *text, struct rig_proved_order *order)
{
    const size_t most = (size_t)history->op_count + history->txn_count;
    while (*text != '.') {
        char *end;
        const uint32_t txn = find_named(history, strtoul(text, &end, 10));
        if (end == text || txn == UINT32_MAX || order->count == most)
            return false;
        order->events[order->count++] = txn;
        text = end + 1;
    }
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (!is_whole(history, order, txn))
            return false;
    }
    return true;
}

enum rig_rc rig_proved_order_find(const struct rig_history *history, enum rig_level level,
                                  struct rig_proved_order *order, bool *found, struct rig_err *err)
{
    const struct rig_check_options options = {
        .levels = RIG_LEVEL_BIT(level), .max_witnesses = 1, .budget_ns = budget_ns};
    struct rig_verdict *verdict = NULL;
    struct rig_err refusal = {0};
    struct rig_buf proof;
    *order = (struct rig_proved_order){.count = 0};
    *found = false;
    if (history->txn_count > RIG_PROVED_ORDER_TXNS_MOST || rig_type_inference(history->workload)->no_proofs)
        return RIG_OK;
    order->events = calloc((size_t)history->op_count + history->txn_count + 1, sizeof *order->events);
    if (order->events == NULL)
        return rig_no_memory(err, "an order of statements");
    rig_buf_init(&proof, 0);
    enum rig_rc rc = rig_check(history, &options, &verdict, &refusal);
    const bool is_kept = rc == RIG_OK && verdict->levels[level].fate == RIG_FATE_HELD;
    if (is_kept)
        rc = rig_prove(history, verdict, &options, &proof, &refusal);
    const char *claim = rc == RIG_OK && is_kept ? find_claim(rig_buf_text(&proof), level) : NULL;
    *found = claim != NULL && take_events(history, claim, order);
    rig_buf_done(&proof);
    rig_verdict_free(verdict);
    return RIG_OK;
}

void rig_proved_order_done(struct rig_proved_order *order)
{
    free(order->events);
    *order = (struct rig_proved_order){.count = 0};
}
