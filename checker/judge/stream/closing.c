#include "checker/judge/stream/closing.h"

#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "checker/judge/stream/type_windows.h"
#include "checker/judge/stream/closing_private.h"
#include "history/model/window_view.h"

/* MOST_ROUNDS: after as many rounds the search gives up, and all transactions wait. */
enum { MOST_ROUNDS = 64, PIECE = 256, RELAYS_AT_ONCE = 64 };

static void make_wait(struct rig_closing_search *s, uint32_t txn)
{
    s->out->waits[txn] = 1;
    s->out->waiting_count++;
    s->changed = true;
    s->first = txn < s->first ? txn : s->first;
    if (s->committed[txn]) {
        s->any = true;
        if (s->history->has_invocations && rig_txn_end(s->history, txn) < s->least_end)
            s->least_end = rig_txn_end(s->history, txn);
    }
    if (s->waiting != NULL && s->history->txns[txn].outcome == RIG_OUTCOME_OK) {
        uint32_t *earliest = rig_table_put(s->waiting, (uint32_t)s->history->txns[txn].process);
        s->no_memory |= earliest == NULL;
        if (earliest != NULL && txn < *earliest)
            *earliest = txn;
    }
}

static bool uses_alive(const struct rig_closing_search *s, uint32_t txn)
{
    const struct rig_txn_op *op = rig_txn_ops(s->history, txn), *end = op + rig_txn_op_count(s->history, txn);
    uint8_t alive = 0;
    for (; op < end; op++)
        alive |= s->out->alive[op->key];
    return alive != 0;
}

static bool waits_for_predecessor(const struct rig_closing_search *s, uint32_t node)
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

/*
 * No transaction waits for an uncommitted one, and an uncommitted one waits for no other. Within a process, only
 * acknowledged transactions precede others (model/orders.h).
 */
static bool waits_in_order(const struct rig_closing_search *s, uint32_t txn)
{
    const struct rig_txn *t = &s->history->txns[txn];
    bool by_process =
        s->waiting != NULL && t->outcome != RIG_OUTCOME_FAIL && rig_table_get(s->waiting, (uint32_t)t->process) < txn;
    return by_process || (s->any && s->committed[txn] && waits_for_predecessor(s, txn));
}

static void visit(struct rig_closing_search *s, uint32_t txn)
{
    const struct rig_txn *t = &s->history->txns[txn];
    if (s->out->waits[txn] || rig_txn_is_settled(t))
        return;
    bool too_late = s->committed[txn] && t->invoke_at != RIG_POSITION_NONE && t->invoke_at > s->least_end;
    const bool also = s->also != NULL && s->also[txn];
    if (also || too_late || uses_alive(s, txn) || waits_in_order(s, txn))
        make_wait(s, txn);
}

/* The latest transaction that must precede `node`, when one that completed later must; else 0. */
static uint32_t latest_before(const struct rig_links *links, uint32_t node)
{
    uint32_t latest = 0;
    if (!links->late_before[node])
        return 0;
    bool has_own = links->own_first != NULL;
    for (uint32_t i = has_own ? links->own_first[node] : 0; has_own && i < links->own_first[node + 1]; i++) {
        uint32_t from = rig_edge_node(links->own[i]);
        latest = latest < from ? from : latest;
    }
    for (uint32_t i = links->head[node]; i != RIG_NODE_NONE; i = links->chained[i].next) {
        uint32_t from = rig_edge_node(links->chained[i].edge);
        latest = latest < from && from < links->txn_count ? from : latest;
        if (i < links->read_count)
            break; /* edges chained before it do not come from later transactions */
    }
    return latest;
}

/* Visits in both directions, so that chains of backward edges take no longer than those of forward ones. True when a
 * further transaction waits. */
static bool visit_there_and_back(struct rig_closing_search *s, uint32_t begin, uint32_t end)
{
    bool changed = false;
    do {
        s->changed = false;
        for (uint32_t txn = begin; txn < end; txn++)
            visit(s, txn);
        for (uint32_t txn = end - 1; s->changed && txn-- > begin;)
            visit(s, txn);
        changed |= s->changed;
    } while (s->changed && end - begin > 1);
    return changed;
}

/*
 * In a long stretch, waiting may spread backwards by a few transactions at a time. So the stretch is visited in pieces,
 * from its end, each together with the piece after it.
 */
static bool visit_stretch(struct rig_closing_search *s, uint32_t begin, uint32_t end)
{
    if (end - begin <= 2 * PIECE)
        return visit_there_and_back(s, begin, end);
    bool changed;
    s->changed = false;
    for (uint32_t txn = begin; txn < end; txn++)
        visit(s, txn);
    bool any = s->changed;
    do {
        changed = false;
        for (uint32_t piece_end = end; piece_end > begin;) {
            uint32_t piece = piece_end - begin > PIECE ? piece_end - PIECE : begin;
            uint32_t behind = end - piece_end > PIECE ? piece_end + PIECE : end;
            changed |= visit_there_and_back(s, piece, behind);
            piece_end = piece;
        }
        any |= changed;
    } while (changed);
    return any;
}

/* The end of the stretch that begins there: no transaction before the end must follow one after it. */
static uint32_t end_of_stretch(const struct rig_closing_search *s, uint32_t begin)
{
    uint32_t end = begin;
    for (uint32_t node = begin; node <= end; node++) {
        uint32_t latest = latest_before(s->links, node);
        end = end < latest ? latest : end;
    }
    return end + 1;
}

/* The number of noted stretches that end before the first waiting transaction. */
static uint32_t stretches_before_first(const struct rig_closing_search *s)
{
    uint32_t low = 0, high = s->stretch_count;
    while (low < high)
        rig_halve(&low, &high, s->ends[rig_middle(low, high)] <= s->first);
    return low;
}

/* The begin of the first waiting transaction's stretch. Stretches are spanned by edges from later transactions. */
static uint32_t begin_of_first_stretch(const struct rig_closing_search *s)
{
    const uint8_t *all = s->links->late_before, *late = all, *end = all + s->first;
    uint32_t begin = 0, behind = 0;
    for (; (late = memchr(late, 1, (size_t)(end - late))) != NULL; late++) {
        uint32_t txn = (uint32_t)(late - all), latest = latest_before(s->links, txn);
        begin = txn < behind ? begin : txn;
        behind = behind <= latest ? latest + 1 : behind;
    }
    return s->first < behind ? begin : s->first;
}

static uint32_t begin_of_noted_stretch(const struct rig_closing_search *s, uint32_t stretch)
{
    return stretch == 0 ? 0 : s->ends[stretch - 1];
}

/*
 * Visits the transactions before `behind` in completion order, in which nearly every edge leads forward. Stretches that
 * backward edges span (links.h) are visited until nothing changes. By real time, no transaction waits for one that
 * completed later.
 */
static void visit_txns(struct rig_closing_search *s, uint32_t behind)
{
    bool changed = s->changed;
    uint32_t stretch = s->ends == NULL ? 0 : stretches_before_first(s);
    uint32_t begin = s->ends == NULL ? begin_of_first_stretch(s) : begin_of_noted_stretch(s, stretch);
    for (uint32_t end; begin < behind; begin = end) {
        end = s->ends == NULL ? end_of_stretch(s, begin) : s->ends[stretch++];
        if (end > s->first)
            changed |= visit_stretch(s, begin, end);
    }
    s->changed = changed;
}

static void visit_relay(struct rig_closing_search *s, uint32_t node)
{
    if (!s->out->waits[node] && waits_for_predecessor(s, node)) {
        uint32_t target = s->least_target[node - s->links->txn_count]; /* it may have completed before */
        s->out->waits[node] = 1;
        s->any = s->changed = true;
        s->first = target < s->first ? target : s->first;
    }
}

static bool prepare_relays(struct rig_closing_search *s, struct rig_arena *arena)
{
    const struct rig_links *links = s->links;
    uint32_t relay_count = links->node_count - links->txn_count;
    s->ends = rig_arena_room(arena, (size_t)links->txn_count + 1, sizeof *s->ends);
    s->least_target = rig_arena_room(arena, relay_count, sizeof *s->least_target);
    if (s->ends == NULL || s->least_target == NULL)
        return false;
    for (uint32_t begin = 0; begin < links->txn_count; begin = s->ends[s->stretch_count++]) {
        s->ends[s->stretch_count] = end_of_stretch(s, begin);
        RIG_INVARIANT(begin < s->ends[s->stretch_count] && s->ends[s->stretch_count] <= links->txn_count);
    }
    memset(s->least_target, 0xff, relay_count * sizeof *s->least_target);
    for (uint32_t txn = links->txn_count; txn-- > 0;) {
        for (uint32_t i = links->head[txn]; i != RIG_NODE_NONE && i >= links->read_count; i = links->chained[i].next) {
            uint32_t from = rig_edge_node(links->chained[i].edge);
            if (from >= links->txn_count)
                s->least_target[from - links->txn_count] = txn;
        }
    }
    return true;
}

/*
 * Relays stand in chains that ascend or descend, those of keys used later last. Waiting may spread backwards from them,
 * key by key, through all chains. So the descending pass also visits the transactions that completed before all those
 * found waiting so far.
 */
static void visit_relays(struct rig_closing_search *s)
{
    const uint32_t relay_first = s->links->txn_count;
    for (uint32_t node = relay_first; node < s->links->node_count; node++)
        visit_relay(s, node);
    uint32_t first = s->first;
    for (uint32_t node = s->links->node_count; node-- > relay_first;) {
        visit_relay(s, node);
        if (s->first < first && node % RELAYS_AT_ONCE == 0) {
            visit_txns(s, first);
            first = s->first;
        }
    }
}

void rig_closing_wait_again(struct rig_closing_search *s, uint32_t txn)
{
    if (s->out->waits[txn] || rig_txn_is_settled(&s->history->txns[txn]))
        return;
    make_wait(s, txn);
    s->again = true;
}

/* The first transaction that uses a key that is alive, or waits for another reason; the number of all when none
 * does. */
static uint32_t find_first(const struct rig_history *history, const uint8_t *alive, const uint8_t *also)
{
    const uint32_t first = rig_history_txn_of(history, rig_history_first_op_on(history, alive));
    const uint8_t *waits = also == NULL ? NULL : memchr(also, 1, first);
    return waits == NULL ? first : (uint32_t)(waits - also);
}

static void wait_all(struct rig_closing_search *s)
{
    s->out->waiting_count = 0;
    for (uint32_t txn = 0; txn < s->history->txn_count; txn++) {
        s->out->waits[txn] = !rig_txn_is_settled(&s->history->txns[txn]);
        s->out->waiting_count += s->out->waits[txn];
    }
}

static void run(struct rig_closing_search *s)
{
    rig_closing_unknown *const wait_for_unknown = rig_type_windows(s->history->workload)->wait_for_unknown;
    bool relays = s->links->node_count > s->links->txn_count;
    for (unsigned round = 0; round < MOST_ROUNDS && !s->no_memory; round++) {
        s->changed = s->again = false;
        visit_txns(s, s->history->txn_count);
        if (relays)
            visit_relays(s);
        if (wait_for_unknown != NULL)
            wait_for_unknown(s);
        if (!s->again && !(relays && s->changed))
            return;
    }
    wait_all(s);
}

/* ---- checking ---- */

/* Whether a transaction that does not wait follows no waiting one, and uses no key that is alive. */
static bool is_closing(const struct rig_closing_search *s, uint32_t txn)
{
    const struct rig_txn *t = &s->history->txns[txn];
    const bool too_late = s->committed[txn] && t->invoke_at != RIG_POSITION_NONE && t->invoke_at > s->least_end;
    return !too_late && !uses_alive(s, txn) && !(s->committed[txn] && waits_for_predecessor(s, txn));
}

/* No edge leads from a waiting transaction to a closing one, and waiting_count is right. */
static bool is_closed(const struct rig_closing_search *s)
{
    uint64_t waiting = 0;
    bool closed = true;
    for (uint32_t txn = 0; txn < s->history->txn_count && closed; txn++) {
        const bool settled = rig_txn_is_settled(&s->history->txns[txn]);
        closed = s->out->waits[txn] ? !settled : settled || is_closing(s, txn);
        waiting += s->out->waits[txn];
    }
    for (uint32_t node = s->links->txn_count; node < s->links->node_count && closed; node++)
        closed = s->out->waits[node] || !waits_for_predecessor(s, node);
    return closed && waiting == s->out->waiting_count;
}

bool rig_closing_find(const struct rig_inference *inference, uint8_t *alive, const uint8_t *also,
                      struct rig_arena *arena, struct rig_closing *closing)
{
    const struct rig_history *history = inference->history;
    struct rig_table waiting;
    RIG_REQUIRE(inference->links.late_before != NULL);
    *closing = (struct rig_closing){.alive = alive};
    closing->waits = rig_arena_array(arena, (size_t)inference->links.node_count + 1, sizeof *closing->waits);
    if (closing->waits == NULL)
        return false;
    struct rig_closing_search s = {.history = history,
                                   .links = &inference->links,
                                   .versions = &inference->versions,
                                   .registers = &inference->registers,
                                   .sets = &inference->sets,
                                   .arena = arena,
                                   .committed = inference->committed,
                                   .also = also,
                                   .out = closing,
                                   /* The process order is needed where it is no part of the real-time order. */
                                   .waiting = history->has_invocations && !history->in_turn ? NULL : &waiting,
                                   .least_end = RIG_POSITION_NONE,
                                   .first = find_first(history, alive, also)};
    if (s.links->node_count > s.links->txn_count && !prepare_relays(&s, arena))
        return false;
    rig_table_init(&waiting);
    run(&s);
    rig_table_done(&waiting);
    RIG_INVARIANT(closing->waiting_count <= history->txn_count);
    RIG_COSTLY(s.no_memory || is_closed(&s));
    return !s.no_memory;
}
