#include "checker/infer/counter_inference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "checker/infer/counter_halves.h"
#include "history/model/window_view.h"

static const uint64_t most_in_all = UINT64_C(1) << 62;

/* The increments of one transaction to one key. */
struct change {
    uint32_t key, txn;
    uint32_t at; /* its position: of the invocation, or of the completion */
    int64_t net;
};

/* Increments in the order of positions, and their sums up to each. */
struct timeline {
    struct change *at;
    uint32_t count;
    uint32_t *first; /* per key, and one more */
    int64_t *net, *up, *down;
};

/* All increments of a key that did not fail, whenever they were. */
struct all {
    int64_t up, down;
    uint64_t divisor; /* greatest common divisor; 0: there is none */
};

struct infer {
    const struct rig_history *history;
    struct rig_inference *inference;
    struct rig_arena *arena;
    struct timeline invoked, acknowledged;
    struct all *all;  /* per key */
    int64_t *own;     /* per key: increments of the visited transaction so far; 0 between transactions */
    int64_t *own_net; /* per key: all increments of the visited transaction; 0 between transactions */
    struct rig_err *err;
};

static enum rig_rc no_memory(const struct infer *in)
{
    return rig_memory_limit(in->err, "the sums of the increments");
}

static bool increments(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_INCREMENT;
}

static bool counts(const struct rig_txn *txn)
{
    return txn->outcome != RIG_OUTCOME_FAIL;
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- sums ---- */

static enum rig_rc foreign_operation(const struct infer *in, uint32_t op)
{
    return rig_fail(
        in->err, RIG_E_INPUT,
        "transaction %u holds an operation that is neither an increment nor a read of a counter; check it as "
        "another workload",
        rig_txn_name(in->history, rig_history_txn_of(in->history, op)));
}

static enum rig_rc survey(struct infer *in)
{
    const struct rig_history *history = in->history;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (!increments(op) && op->kind != RIG_OP_READ_COUNTER)
            return foreign_operation(in, i);
        if (!increments(op) && (op->read_state != RIG_READ_SEEN || magnitude(op->value) < most_in_all))
            continue;
        sum += increments(op) && magnitude(op->value) < most_in_all ? magnitude(op->value) : most_in_all;
        if (sum >= most_in_all)
            return rig_fail(
                in->err, RIG_E_INPUT,
                "transaction %u: counters and increments are integers, and all increments together sum up to "
                "less than 2^62",
                rig_txn_name(history, rig_history_txn_of(history, i)));
    }
    return RIG_OK;
}

static void sum_all(struct infer *in)
{
    const struct rig_history *history = in->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; counts(&history->txns[txn]) && i < rig_txn_op_count(history, txn); i++) {
            struct all *all = &in->all[ops[i].key];
            if (!increments(&ops[i]))
                continue;
            all->up += ops[i].value > 0 ? ops[i].value : 0;
            all->down += ops[i].value < 0 ? ops[i].value : 0;
            all->divisor = common_divisor(all->divisor, magnitude(ops[i].value));
        }
    }
}

static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->txn > b->txn) - (a->txn < b->txn);
}

/* One change for each transaction and key: those of a key are added up. */
static void merge(struct timeline *line)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < line->count; i++) {
        struct change *last = kept == 0 ? NULL : &line->at[kept - 1];
        if (last != NULL && last->key == line->at[i].key && last->txn == line->at[i].txn)
            last->net += line->at[i].net;
        else
            line->at[kept++] = line->at[i];
    }
    line->count = kept;
}

static bool make_timeline(const struct infer *in, bool acknowledged, struct timeline *line)
{
    const struct rig_history *history = in->history;
    const size_t room = (size_t)history->op_count + 1;
    line->at = rig_arena_room(in->arena, room, sizeof *line->at);
    line->net = rig_arena_array(in->arena, room, sizeof *line->net);
    line->up = rig_arena_array(in->arena, room, sizeof *line->up);
    line->down = rig_arena_array(in->arena, room, sizeof *line->down);
    line->first = rig_arena_array(in->arena, (size_t)history->key_count + 2, sizeof *line->first);
    if (line->at == NULL || line->net == NULL || line->up == NULL || line->down == NULL || line->first == NULL)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const bool wanted = acknowledged ? t->outcome == RIG_OUTCOME_OK : counts(t);
        for (uint32_t i = 0; wanted && i < rig_txn_op_count(history, txn); i++) {
            if (increments(&ops[i]))
                line->at[line->count++] = (struct change){.key = ops[i].key,
                                                          .txn = txn,
                                                          .at = acknowledged ? t->complete_at : t->invoke_at,
                                                          .net = ops[i].value};
        }
    }
    if (line->count > 1)
        qsort(line->at, line->count, sizeof *line->at, compare_changes);
    merge(line);
    for (uint32_t i = 0; i < line->count; i++) {
        const int64_t net = line->at[i].net;
        line->first[line->at[i].key + 1]++;
        line->net[i + 1] = line->net[i] + net;
        line->up[i + 1] = line->up[i] + (net > 0 ? net : 0);
        line->down[i + 1] = line->down[i] + (net < 0 ? net : 0);
    }
    for (uint32_t key = 0; key < history->key_count; key++)
        line->first[key + 1] += line->first[key];
    return true;
}

/* The first change of the key at `position` or later. */
static uint32_t find_position(const struct timeline *line, uint32_t key, uint32_t position)
{
    uint32_t low = line->first[key], high = line->first[key + 1];
    while (low < high)
        rig_halve(&low, &high, line->at[rig_middle(low, high)].at < position);
    return low;
}

/* ---- counters ---- */

static bool note(const struct infer *in, enum rig_anomaly anomaly, uint32_t txn, uint32_t op, int64_t value,
                 int64_t other_value, uint32_t other)
{
    const struct rig_noncyclic found = {.anomaly = anomaly,
                                        .key = rig_txn_ops(in->history, txn)[op].key,
                                        .txn = txn,
                                        .op = op,
                                        .other = other,
                                        .other_op = UINT32_MAX,
                                        .value = value,
                                        .other_value = other_value};
    return rig_noncyclic_note(&in->inference->noncyclic, &found);
}

static int64_t value_of(const struct rig_txn_op *read)
{
    return read->read_state == RIG_READ_SEEN ? read->value : 0;
}

static bool is_impossible(const struct all *all, int64_t value)
{
    return value > all->up || value < all->down ||
           (value != 0 && (all->divisor == 0 || magnitude(value) % all->divisor != 0));
}

/* The least and the most that an acknowledged read may show, after `own` of its transaction's net increment. */
static void find_bounds(const struct infer *in, uint32_t txn, uint32_t key, int64_t *least, int64_t *most)
{
    const struct rig_txn *t = &in->history->txns[txn];
    const struct timeline *sure = &in->acknowledged, *open = &in->invoked;
    const uint32_t first = sure->first[key], end = find_position(sure, key, t->invoke_at);
    const uint32_t from = open->first[key], to = find_position(open, key, t->complete_at);
    const int64_t net = sure->net[end] - sure->net[first];
    const int64_t up = open->up[to] - open->up[from] - (sure->up[end] - sure->up[first]);
    const int64_t down = open->down[to] - open->down[from] - (sure->down[end] - sure->down[first]);
    const int64_t own = in->own_net[key];
    *most = net + up - (own > 0 ? own : 0) + in->own[key];
    *least = net + down - (own < 0 ? own : 0) + in->own[key];
}

/* Numbers that a read may show. */
struct possible {
    const struct all *all;
    int64_t least, most;
};

static bool is_possible(const struct possible *possible, int64_t value)
{
    return !is_impossible(possible->all, value) && value >= possible->least && value <= possible->most;
}

/*
 * A failed transaction whose increments explain the value that was found, if they took effect. UINT32_MAX: there is
 * none. Parts that were rolled back to a savepoint come first, as only they leave a transaction that goes on, and then
 * those that ended before the read did; the last one of these.
 */
static uint32_t find_undone(const struct infer *in, const struct rig_noncyclic *found, const struct possible *possible)
{
    const struct rig_history *history = in->history;
    uint32_t best = UINT32_MAX;
    int best_rank = -1;
    for (uint32_t txn = history->txn_count; txn-- > 0;) {
        const struct rig_txn *t = &history->txns[txn];
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        int64_t net = 0;
        for (uint32_t i = 0; t->outcome == RIG_OUTCOME_FAIL && i < rig_txn_op_count(history, txn); i++)
            net += increments(&ops[i]) && ops[i].key == found->key ? ops[i].value : 0;
        const bool in_time = !history->has_invocations || t->invoke_at == RIG_POSITION_NONE ||
                             t->invoke_at < history->txns[found->txn].complete_at;
        if (net == 0 || !in_time || !is_possible(possible, found->value - net))
            continue;
        const bool is_part = rig_history_column(history, txn, RIG_COLUMN_SAVEPOINT) != RIG_COLUMN_NONE;
        const int rank = 2 * is_part + (txn < found->txn);
        if (rank <= best_rank)
            continue;
        best = txn;
        best_rank = rank;
    }
    return best;
}

/* A read that shows another number than those possible. */
static bool note_read(const struct infer *in, enum rig_anomaly anomaly, uint32_t txn, uint32_t op,
                      const struct possible *possible)
{
    struct rig_noncyclic_findings *noncyclic = &in->inference->noncyclic;
    const struct rig_txn_op *read = rig_txn_ops(in->history, txn) + op;
    struct rig_noncyclic found = {.anomaly = anomaly,
                                  .key = read->key,
                                  .txn = txn,
                                  .op = op,
                                  .other = UINT32_MAX,
                                  .other_op = UINT32_MAX,
                                  .value = value_of(read)};
    if (anomaly == RIG_ANOMALY_COUNTER_BOUNDS)
        found.other_value = found.value < possible->least ? possible->least : possible->most;
    if (!rig_noncyclic_count(noncyclic, &found))
        return true;
    found.other = find_undone(in, &found, possible);
    return rig_noncyclic_list_add(&noncyclic->kept, found);
}

static bool has_time(const struct infer *in, uint32_t txn)
{
    return in->history->has_invocations && in->history->txns[txn].invoke_at != RIG_POSITION_NONE;
}

static bool take_read(const struct infer *in, void *context, uint32_t txn, uint32_t op)
{
    (void)context;
    const struct rig_txn_op *read = rig_txn_ops(in->history, txn) + op;
    const int64_t value = value_of(read);
    struct possible possible = {&in->all[read->key], INT64_MIN, INT64_MAX};
    if (!is_possible(&possible, value) && !note_read(in, RIG_ANOMALY_IMPOSSIBLE_VALUE, txn, op, &possible))
        return false;
    if (!has_time(in, txn))
        return true;
    find_bounds(in, txn, read->key, &possible.least, &possible.most);
    RIG_INVARIANT(possible.least <= possible.most);
    return (value >= possible.least && value <= possible.most) ||
           note_read(in, RIG_ANOMALY_COUNTER_BOUNDS, txn, op, &possible);
}

/* Calls `take` for each known read of an acknowledged transaction, with the sums of its own increments at that read. */
typedef bool take_fn(const struct infer *in, void *context, uint32_t txn, uint32_t op);

static bool visit_txn(struct infer *in, uint32_t txn, take_fn *take, void *context)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    const uint32_t count = rig_txn_op_count(in->history, txn);
    bool done = true;
    for (uint32_t i = 0; i < count; i++)
        in->own_net[ops[i].key] += increments(&ops[i]) ? ops[i].value : 0;
    for (uint32_t i = 0; done && i < count; i++) {
        if (increments(&ops[i]))
            in->own[ops[i].key] += ops[i].value;
        else if (ops[i].read_state != RIG_READ_UNKNOWN)
            done = take(in, context, txn, i);
    }
    for (uint32_t i = 0; i < count; i++)
        in->own[ops[i].key] = in->own_net[ops[i].key] = 0;
    return done;
}

static bool visit_reads(struct infer *in, take_fn *take, void *context)
{
    for (uint32_t txn = 0; txn < in->history->txn_count; txn++) {
        if (in->history->txns[txn].outcome == RIG_OUTCOME_OK && !visit_txn(in, txn, take, context))
            return false;
    }
    return true;
}

/* A read leaves open which increments it includes. */
static void count_reads(struct infer *in)
{
    const struct rig_history *history = in->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; history->txns[txn].outcome == RIG_OUTCOME_OK && i < rig_txn_op_count(history, txn); i++) {
            const bool unknown = ops[i].read_state == RIG_READ_UNKNOWN;
            in->inference->unknown_reads += !increments(&ops[i]) && unknown;
            in->inference->open_reads += !increments(&ops[i]) && !unknown;
        }
    }
}

/* Prepares find_bounds(). */
static bool begin_bounds(struct infer *in)
{
    const size_t keys = (size_t)in->history->key_count + 1;
    in->own = rig_arena_array(in->arena, keys, sizeof *in->own);
    in->own_net = rig_arena_array(in->arena, keys, sizeof *in->own_net);
    return in->own != NULL && in->own_net != NULL && make_timeline(in, false, &in->invoked) &&
           make_timeline(in, true, &in->acknowledged);
}

static enum rig_rc infer_counters(struct infer *in)
{
    in->all = rig_arena_array(in->arena, (size_t)in->history->key_count + 1, sizeof *in->all);
    if (in->all == NULL || !begin_bounds(in))
        return no_memory(in);
    in->inference->full_reads = in->inference->open_reads;
    sum_all(in);
    return visit_reads(in, take_read, NULL) ? RIG_OK : no_memory(in);
}

/* ---- banks ---- */

static enum rig_rc check_transfers(const struct infer *in)
{
    for (uint32_t txn = 0; txn < in->history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
        int64_t sum = 0;
        for (uint32_t i = 0; counts(&in->history->txns[txn]) && i < rig_txn_op_count(in->history, txn); i++)
            sum += increments(&ops[i]) ? ops[i].value : 0;
        if (sum != 0)
            return rig_fail(in->err, RIG_E_INPUT,
                            "transaction %u changes the total of all accounts by %" PRId64
                            ", and transfers of a bank do not; check it as another workload",
                            rig_txn_name(in->history, txn), sum);
    }
    return RIG_OK;
}

/* A total that differs from the expected one, which the read `first` shows, or the user knows. */
static bool note_total(const struct infer *in, uint32_t txn, int64_t total, int64_t expected, uint32_t first)
{
    struct rig_noncyclic_findings *noncyclic = &in->inference->noncyclic;
    struct rig_noncyclic found = {.anomaly = RIG_ANOMALY_WRONG_TOTAL,
                                  .key = rig_txn_ops(in->history, txn)->key,
                                  .txn = txn,
                                  .other = first,
                                  .other_op = UINT32_MAX,
                                  .value = total,
                                  .other_value = expected};
    if (!rig_noncyclic_count(noncyclic, &found))
        return true;
    rig_counter_halves_seen(in->history, txn, total - expected, &found.halves);
    return rig_noncyclic_list_add(&noncyclic->kept, found);
}

/* Whether the transaction reads each of the accounts, and changes none; their total. */
static bool is_full_read(const struct infer *in, uint32_t txn, uint8_t *seen, uint32_t accounts, int64_t *total)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    const uint32_t count = rig_txn_op_count(in->history, txn);
    uint32_t distinct = 0;
    bool plain = true;
    *total = 0;
    for (uint32_t i = 0; i < count; i++) {
        plain &= !increments(&ops[i]) && ops[i].read_state != RIG_READ_UNKNOWN && seen[ops[i].key] < 2;
        if (!plain || seen[ops[i].key] == 2)
            continue;
        seen[ops[i].key] = 2;
        distinct++;
        *total += value_of(&ops[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        seen[ops[i].key] = seen[ops[i].key] == 2 ? 1 : seen[ops[i].key];
    return plain && distinct == accounts && accounts > 0;
}

/* Those that acknowledged reads show, and those that transfers name, failed ones too: they hold a part of the total. */
static uint32_t find_accounts(const struct infer *in, uint8_t *seen)
{
    uint32_t accounts = 0;
    for (uint32_t txn = 0; txn < in->history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
        const enum rig_outcome outcome = in->history->txns[txn].outcome;
        for (uint32_t i = 0; i < rig_txn_op_count(in->history, txn); i++) {
            if (seen[ops[i].key] != 0 || (outcome != RIG_OUTCOME_OK && !increments(&ops[i])))
                continue;
            seen[ops[i].key] = 1;
            accounts++;
        }
    }
    return accounts;
}

static bool take_balances(const struct infer *in, uint32_t txn, bool negative)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(in->history, txn); i++) {
        if (increments(&ops[i]))
            continue;
        if (!negative && value_of(&ops[i]) < 0 &&
            !note(in, RIG_ANOMALY_NEGATIVE_BALANCE, txn, i, value_of(&ops[i]), 0, UINT32_MAX))
            return false;
    }
    return true;
}

/* ---- balances ---- */

/* The balances with which the account can have begun, by one read of it. */
struct beginning {
    uint32_t key, txn, op;
    int64_t least, most;
};

/* One account: numbers in the list of beginnings; UINT32_MAX: there is none. */
struct account {
    uint32_t low, high;    /* those with the greatest `least`, and with the smallest `most` */
    uint32_t above, below; /* how many are above `high`, and below `low` */
};

struct beginnings {
    struct beginning *at;
    uint32_t count;
};

static bool add_beginning(const struct infer *in, void *context, uint32_t txn, uint32_t op)
{
    struct beginnings *list = context;
    const struct rig_txn_op *read = rig_txn_ops(in->history, txn) + op;
    int64_t fewest, greatest;
    if (read->read_state != RIG_READ_SEEN || !has_time(in, txn))
        return true;
    find_bounds(in, txn, read->key, &fewest, &greatest);
    list->at[list->count++] = (struct beginning){
        .key = read->key, .txn = txn, .op = op, .least = read->value - greatest, .most = read->value - fewest};
    return true;
}

static void summarise_accounts(const struct beginnings *list, struct account *accounts)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct account *account = &accounts[list->at[i].key];
        if (account->low == UINT32_MAX || list->at[i].least > list->at[account->low].least)
            account->low = i;
        if (account->high == UINT32_MAX || list->at[i].most < list->at[account->high].most)
            account->high = i;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        struct account *account = &accounts[list->at[i].key];
        account->above += list->at[i].least > list->at[account->high].most;
        account->below += list->at[i].most < list->at[account->low].least;
    }
}

/* The side with fewer reads is named, and of equal ones the later. */
static bool note_contradictions(const struct infer *in, const struct beginnings *list, const struct account *accounts)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct beginning *read = &list->at[i];
        const struct account *account = &accounts[read->key];
        const struct beginning *low = &list->at[account->low], *high = &list->at[account->high];
        const bool above =
            account->above < account->below || (account->above == account->below && low->txn > high->txn);
        const struct beginning *other = above ? high : low;
        const struct rig_noncyclic found = {.anomaly = RIG_ANOMALY_COUNTER_BOUNDS,
                                            .key = read->key,
                                            .txn = read->txn,
                                            .op = read->op,
                                            .other = other->txn,
                                            .other_op = other->op,
                                            .value = above ? read->least : read->most,
                                            .other_value = above ? high->most : low->least};
        if ((above ? read->least > high->most : read->most < low->least) &&
            !rig_noncyclic_note(&in->inference->noncyclic, &found))
            return false;
    }
    return true;
}

static enum rig_rc compare_balances(struct infer *in)
{
    const size_t keys = (size_t)in->history->key_count + 1;
    struct account *accounts = rig_arena_room(in->arena, keys, sizeof *accounts);
    struct beginnings list = {.at = rig_arena_room(in->arena, (size_t)in->history->op_count + 1, sizeof *list.at)};
    if (accounts == NULL || list.at == NULL || !begin_bounds(in))
        return no_memory(in);
    if (in->invoked.count == 0) /* a history of reads alone leaves its transfers out */
        return RIG_OK;
    for (size_t key = 0; key < keys; key++)
        accounts[key] = (struct account){.low = UINT32_MAX, .high = UINT32_MAX};
    if (!visit_reads(in, add_beginning, &list))
        return no_memory(in);
    summarise_accounts(&list, accounts);
    return note_contradictions(in, &list, accounts) ? RIG_OK : no_memory(in);
}

static enum rig_rc infer_bank(struct infer *in, const struct rig_assumptions *assumed)
{
    const bool negative = (assumed->made & RIG_ASSUMES_NEGATIVE_BALANCES) != 0;
    uint32_t first = UINT32_MAX;
    bool known = assumed->total.known;
    int64_t expected = assumed->total.value, total = 0;
    uint8_t *seen = rig_arena_array(in->arena, (size_t)in->history->key_count + 1, 1);
    if (seen == NULL)
        return no_memory(in);
    const enum rig_rc rc = check_transfers(in);
    if (rc != RIG_OK)
        return rc;
    const uint32_t accounts = find_accounts(in, seen);
    for (uint32_t txn = 0; txn < in->history->txn_count; txn++) {
        if (in->history->txns[txn].outcome != RIG_OUTCOME_OK)
            continue;
        if (!take_balances(in, txn, negative))
            return no_memory(in);
        if (!is_full_read(in, txn, seen, accounts, &total))
            continue;
        in->inference->full_reads++;
        if (!known) {
            known = true;
            first = txn;
            expected = total;
        } else if (total != expected && !note_total(in, txn, total, expected, first)) {
            return no_memory(in);
        }
    }
    return compare_balances(in);
}

/* ---- both ---- */

static enum rig_rc begin(struct infer *in, uint32_t most_kept)
{
    const struct rig_history *history = in->history;
    struct rig_inference *inference = in->inference;
    *inference = (struct rig_inference){.history = history, .noncyclic = {.most_kept = most_kept}};
    uint8_t *committed = rig_arena_room(in->arena, (size_t)history->txn_count + 1, 1);
    if (committed == NULL || !rig_links_init(&inference->links, in->arena, history->txn_count, 0, 1))
        return no_memory(in);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        committed[txn] = rig_txn_is_committed(&history->txns[txn]);
        inference->committed_count += committed[txn];
        inference->ok_count += history->txns[txn].outcome == RIG_OUTCOME_OK;
        inference->fail_count += history->txns[txn].outcome == RIG_OUTCOME_FAIL;
    }
    inference->committed = committed;
    count_reads(in);
    return survey(in);
}

enum rig_rc rig_infer_counters(const struct rig_history *history, struct rig_assumptions assumptions,
                               uint32_t most_kept, struct rig_arena *arena, struct rig_inference *inference,
                               struct rig_err *err)
{
    struct infer in = {.history = history, .inference = inference, .arena = arena, .err = err};
    (void)assumptions;
    const enum rig_rc rc = begin(&in, most_kept);
    return rc == RIG_OK ? infer_counters(&in) : rc;
}

enum rig_rc rig_infer_banks(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                            struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err)
{
    struct infer in = {.history = history, .inference = inference, .arena = arena, .err = err};
    const enum rig_rc rc = begin(&in, most_kept);
    return rc == RIG_OK ? infer_bank(&in, &assumptions) : rc;
}
