#include "checker/closing.h"

#include "base/bug.h"
#include "base/table.h"

/* Rounds until all wait whose fate is not clear by then. */
enum { MOST_ROUNDS = 64 };

struct search {
    const struct rig_history *history;
    const struct rig_links *links;
    const uint8_t *committed;
    struct rig_closing *out;
    uint32_t least_end; /* of a committed transaction that waits, in the real-time order */
    bool changed;
};

static void make_wait(struct search *s, uint32_t txn)
{
    s->out->waits[txn] = 1;
    s->changed = true;
    if (s->committed[txn] && s->history->has_invocations && rig_txn_end(s->history, txn) < s->least_end)
        s->least_end = rig_txn_end(s->history, txn);
}

static bool uses_alive(const struct search *s, uint32_t txn)
{
    const struct rig_mop *op = rig_txn_ops(s->history, txn), *end = op + rig_txn_op_count(s->history, txn);
    uint8_t alive = 0;
    for (; op < end; op++)
        alive |= s->out->alive[op->key];
    return alive != 0;
}

/* Makes those wait that used a key which may be used again. */
static void wait_for_keys(struct search *s)
{
    for (uint32_t txn = 0; txn < s->history->txn_count; txn++) {
        if (!s->out->waits[txn] && s->history->txns[txn].judged == RIG_JUDGED_NOT && uses_alive(s, txn))
            make_wait(s, txn);
    }
}

static bool waits_for_predecessor(const struct search *s, uint32_t node)
{
    const struct rig_links *links = s->links;
    const uint8_t *waits = s->out->waits;
    uint8_t any = 0;
    if (node < links->txn_count && links->own_first != NULL) {
        for (uint32_t i = links->own_first[node]; i < links->own_first[node + 1]; i++)
            any |= waits[rig_edge_node(links->own[i])];
    }
    for (uint32_t i = *rig_links_head(links, node); i != RIG_NODE_NONE && !any; i = links->chained[i].next)
        any |= waits[rig_edge_node(links->chained[i].edge)];
    return any != 0;
}

static bool waits_in_real_time(const struct search *s, uint32_t txn)
{
    uint32_t invoked = s->history->txns[txn].invoke_at;
    return invoked != RIG_POSITION_NONE && invoked > s->least_end;
}

static void visit_txns(struct search *s)
{
    for (uint32_t txn = 0; txn < s->history->txn_count; txn++) {
        if (s->out->waits[txn] || s->history->txns[txn].judged != RIG_JUDGED_NOT || !s->committed[txn])
            continue;
        if (waits_in_real_time(s, txn) || waits_for_predecessor(s, txn))
            make_wait(s, txn);
    }
}

static void visit_passage(struct search *s, uint32_t node)
{
    if (!s->out->waits[node] && waits_for_predecessor(s, node)) {
        s->out->waits[node] = 1;
        s->changed = true;
    }
}

/* Passages stand in rows that lead one way or the other. */
static void visit_passages(struct search *s)
{
    for (uint32_t node = s->links->txn_count; node < s->links->node_count; node++)
        visit_passage(s, node);
    for (uint32_t node = s->links->node_count; node-- > s->links->txn_count;)
        visit_passage(s, node);
}

/* Without invocations real time says nothing, so that the process order has to be looked at by itself. */
static bool visit_processes(struct search *s, struct rig_table *waiting)
{
    rig_table_clear(waiting);
    for (uint32_t txn = 0; txn < s->history->txn_count; txn++) {
        const struct rig_txn *t = &s->history->txns[txn];
        if (t->outcome == RIG_OUTCOME_FAIL || t->judged != RIG_JUDGED_NOT)
            continue;
        uint64_t process = (uint32_t)t->process;
        if (!s->out->waits[txn] && rig_table_get(waiting, process) != RIG_TABLE_NONE)
            make_wait(s, txn);
        if (!s->out->waits[txn])
            continue;
        uint32_t *known = rig_table_put(waiting, process);
        if (known == NULL)
            return false;
        *known = txn;
    }
    return true;
}

/*
 * A transaction of unknown fate that counts for nothing so far, but may: what it read may be the order of a key. (What
 * it appended comes after everything in any case, and so before nothing.)
 */
static void keep_keys_of_unknown(struct search *s)
{
    const struct rig_history *history = s->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        if (t->outcome != RIG_OUTCOME_INFO || s->committed[txn] || !s->out->waits[txn])
            continue;
        const struct rig_mop *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            bool known = ops[i].kind == RIG_OP_READ_LIST && ops[i].read_state != RIG_READ_UNKNOWN;
            if (known && !s->out->alive[ops[i].key]) {
                s->out->alive[ops[i].key] = 1;
                s->changed = true;
            }
        }
    }
}

static void wait_all(struct search *s)
{
    for (uint32_t txn = 0; txn < s->history->txn_count; txn++)
        s->out->waits[txn] = s->history->txns[txn].judged == RIG_JUDGED_NOT;
}

static bool has_unknown(const struct search *s)
{
    bool any = false;
    for (uint32_t txn = 0; txn < s->history->txn_count; txn++)
        any |= s->history->txns[txn].outcome == RIG_OUTCOME_INFO;
    return any;
}

static bool run(struct search *s)
{
    struct rig_table waiting;
    rig_table_init(&waiting);
    bool unknown = has_unknown(s), room = true;
    unsigned round = 0;
    do {
        s->changed = false;
        if (unknown || round == 0)
            wait_for_keys(s);
        visit_txns(s);
        visit_passages(s);
        if (!s->history->has_invocations)
            room = visit_processes(s, &waiting);
        if (unknown)
            keep_keys_of_unknown(s);
    } while (room && s->changed && ++round < MOST_ROUNDS);
    rig_table_done(&waiting);
    if (s->changed)
        wait_all(s);
    return room;
}

bool rig_closing_find(const struct rig_inference *inference, uint8_t *alive, struct rig_arena *arena,
                      struct rig_closing *closing)
{
    const struct rig_history *history = inference->history;
    RIG_REQUIRE(history->workload == RIG_WORKLOAD_LIST_APPEND);
    *closing = (struct rig_closing){.alive = alive};
    closing->waits = rig_arena_array(arena, (size_t)inference->links.node_count + 1, sizeof *closing->waits);
    if (closing->waits == NULL)
        return false;
    struct search s = {.history = history,
                       .links = &inference->links,
                       .committed = inference->versions.committed,
                       .out = closing,
                       .least_end = RIG_POSITION_NONE};
    if (!run(&s))
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++)
        closing->waiting_count += closing->waits[txn];
    return true;
}
