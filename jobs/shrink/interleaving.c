#include "jobs/shrink/interleaving.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/vec.h"
#include "checker/explain/waits.h"
#include "history/types/types.h"
#include "jobs/shrink/proved_order.h"
#include "jobs/shrink/statement_rules.h"

RIG_VEC(struct rig_interleaved, step_vec)

/* Which rules are obeyed, the most first. */
#define OBEY(rule) (1u << (rule))
/* A read comes after the write that it shows, after the end of a writer that commits and before that of one that does
 * not. */
#define SHOWN_WHOLE (OBEY(RIG_BEFORE_SHOWN) | OBEY(RIG_BEFORE_SHOWN_COMMITTED) | OBEY(RIG_BEFORE_SHOWN_ABORTED))
static const unsigned obeyed[] = {
    OBEY(RIG_BEFORE_ALWAYS) | OBEY(RIG_BEFORE_UNSEEN) | OBEY(RIG_BEFORE_MAYBE_UNSEEN) | OBEY(RIG_BEFORE_LOCKED) |
        SHOWN_WHOLE,
    OBEY(RIG_BEFORE_ALWAYS) | OBEY(RIG_BEFORE_UNSEEN) | OBEY(RIG_BEFORE_LOCKED) | SHOWN_WHOLE,
    OBEY(RIG_BEFORE_ALWAYS) | OBEY(RIG_BEFORE_UNSEEN_SNAPSHOT) | OBEY(RIG_BEFORE_LOCKED) | SHOWN_WHOLE,
    OBEY(RIG_BEFORE_ALWAYS) | OBEY(RIG_BEFORE_UNSEEN) | OBEY(RIG_BEFORE_LOCKED) | OBEY(RIG_BEFORE_SHOWN) |
        OBEY(RIG_BEFORE_SHOWN_ABORTED),
    OBEY(RIG_BEFORE_ALWAYS) | OBEY(RIG_BEFORE_UNSEEN) | OBEY(RIG_BEFORE_WRITTEN) | OBEY(RIG_BEFORE_SHOWN) |
        OBEY(RIG_BEFORE_SHOWN_ABORTED),
    OBEY(RIG_BEFORE_ALWAYS) | OBEY(RIG_BEFORE_LOCKED) | SHOWN_WHOLE,
    OBEY(RIG_BEFORE_ALWAYS) | OBEY(RIG_BEFORE_WRITTEN) | OBEY(RIG_BEFORE_SHOWN),
    OBEY(RIG_BEFORE_ALWAYS) | OBEY(RIG_BEFORE_SHOWN),
    OBEY(RIG_BEFORE_ALWAYS),
};
enum { OBEYED_COUNT = sizeof obeyed / sizeof obeyed[0], MOVES_MOST = 16 * RIG_INTERLEAVING_STEPS_MOST };

/* ---- an order ---- */

/* An order that grows by one step at a time. */
struct order {
    const struct rig_statement_rules *rules;
    unsigned obey;
    uint32_t *waits;   /* by step: how many steps must still come before it */
    uint32_t *next;    /* by transaction: its next step */
    uint32_t *first;   /* by step: the first entry of rules->befores that begins with it; sorted by find_successors() */
    uint32_t *holder;  /* by key: the transaction under way that wrote it; UINT32_MAX: none */
    uint32_t *pending; /* by key: the transactions that have yet to write it for the first time */
    struct step_vec steps;
};

/* A step that another one could have preceded: a write of a key that other transactions have yet to write. */
struct choice {
    uint32_t step_count; /* before it */
    uint32_t number;     /* of the step that was chosen, among those that waited for none */
};

RIG_VEC(struct choice, choice_vec)

static struct rig_interleaved step_at(const struct rig_history *history, uint32_t txn, uint32_t step)
{
    const uint32_t begin = rig_statement_begin_of(history, txn);
    if (step == begin)
        return (struct rig_interleaved){txn, RIG_STATEMENT_BEGIN, UINT32_MAX};
    if (step == rig_statement_end_of(history, txn))
        return (struct rig_interleaved){txn, RIG_STATEMENT_END, UINT32_MAX};
    return (struct rig_interleaved){txn, RIG_STATEMENT_OPERATION, history->txns[txn].first_op + step - begin - 1};
}

/* The key that the next step of a transaction writes, as its first write of it; UINT32_MAX: none. */
static uint32_t key_to_take(const struct order *order, uint32_t txn)
{
    const struct rig_history *history = order->rules->history;
    const struct rig_interleaved step = step_at(history, txn, order->next[txn]);
    if (step.statement != RIG_STATEMENT_OPERATION || rig_op_reads(history->ops[step.op].kind) ||
        order->rules->plain_rows)
        return UINT32_MAX; /* a statement locks rows, not their table, and reads show which rows it met */
    const uint32_t key = history->ops[step.op].key;
    for (uint32_t i = history->txns[txn].first_op; i < step.op; i++) {
        if (!rig_op_reads(history->ops[i].kind) && history->ops[i].key == key)
            return UINT32_MAX;
    }
    return key;
}

static bool can_go(const struct order *order, uint32_t txn)
{
    if (order->next[txn] > rig_statement_end_of(order->rules->history, txn) || order->waits[order->next[txn]] != 0)
        return false;
    if ((order->obey & OBEY(RIG_BEFORE_LOCKED)) == 0)
        return true;
    const uint32_t key = key_to_take(order, txn);
    return key == UINT32_MAX || order->holder[key] == UINT32_MAX;
}

/*
 * The transaction of the step that comes `number`-th among those that wait for none: the running transaction's first,
 * then by the transactions' beginning. UINT32_MAX: there are no more.
 */
static uint32_t choose_txn(const struct order *order, uint32_t number)
{
    const struct rig_history *history = order->rules->history;
    const uint32_t running = order->steps.count == 0 ? UINT32_MAX : order->steps.at[order->steps.count - 1].txn;
    if (running != UINT32_MAX && can_go(order, running) && number-- == 0)
        return running;
    uint32_t last = UINT32_MAX;
    for (;;) {
        uint32_t best = UINT32_MAX;
        for (uint32_t txn = 0; txn < history->txn_count; txn++) {
            const uint32_t invoked = history->txns[txn].invoke_at;
            const bool is_after = last == UINT32_MAX || invoked > history->txns[last].invoke_at ||
                                  (invoked == history->txns[last].invoke_at && txn > last);
            if (is_after && txn != running && (best == UINT32_MAX || invoked < history->txns[best].invoke_at) &&
                can_go(order, txn))
                best = txn;
        }
        if (best == UINT32_MAX || number-- == 0)
            return best;
        last = best;
    }
}

/* Adds the next step of a transaction, or with `is_back` takes the last step back, which is that transaction's. */
static void move(struct order *order, uint32_t txn, bool is_back)
{
    const struct rig_statement_rules *rules = order->rules;
    const struct rig_history *history = rules->history;
    order->next[txn] -= is_back;
    const uint32_t step = order->next[txn], key = key_to_take(order, txn);
    for (uint32_t i = order->first[step]; i < rules->befores.count && rules->befores.at[i].from == step; i++) {
        const bool counts = (order->obey & OBEY(rules->befores.at[i].rule)) != 0;
        order->waits[rules->befores.at[i].to] += is_back ? counts : -(uint32_t)counts;
    }
    if (key != UINT32_MAX) {
        order->holder[key] = is_back ? UINT32_MAX : txn;
        order->pending[key] += is_back ? 1 : -(uint32_t)1;
    }
    for (uint32_t i = 0; step == rig_statement_end_of(history, txn) && i < rig_txn_op_count(history, txn); i++) {
        const struct rig_txn_op *op = &rig_txn_ops(history, txn)[i];
        if (!rig_op_reads(op->kind))
            order->holder[op->key] = is_back ? txn : UINT32_MAX;
    }
    order->next[txn] += !is_back;
    if (is_back)
        order->steps.count--;
    else
        order->steps.at[order->steps.count++] = step_at(history, txn, step);
}

static void begin_order(struct order *order, unsigned obey)
{
    const struct rig_statement_rules *rules = order->rules;
    const struct rig_history *history = rules->history;
    order->obey = obey;
    order->steps.count = 0;
    memset(order->waits, 0, (history->op_count + 2 * (size_t)history->txn_count) * sizeof *order->waits);
    memset(order->pending, 0, history->key_count * sizeof *order->pending);
    for (uint32_t key = 0; key < history->key_count; key++)
        order->holder[key] = UINT32_MAX;
    for (size_t i = 0; i < rules->befores.count; i++)
        order->waits[rules->befores.at[i].to] += (obey & OBEY(rules->befores.at[i].rule)) != 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (order->next[txn] = rig_statement_begin_of(history, txn);
             order->next[txn] <= rig_statement_end_of(history, txn); order->next[txn]++) {
            const uint32_t key = key_to_take(order, txn);
            if (key != UINT32_MAX)
                order->pending[key]++;
        }
        order->next[txn] = rig_statement_begin_of(history, txn);
    }
}

/* Whether taking the next step of `txn` now could be a mistake: only where it takes a key that another one needs as
 * well. */
static bool is_choice(const struct order *order, uint32_t txn)
{
    const uint32_t key = (order->obey & OBEY(RIG_BEFORE_LOCKED)) == 0 ? UINT32_MAX : key_to_take(order, txn);
    return key != UINT32_MAX && order->pending[key] > 1;
}

/*
 * A topological order under the rules of `obey`. Where a step waits for a key forever, the last choice of the
 * transaction that takes a key first is made otherwise, at most MOVES_MOST steps in all. False: there is no order, or
 * none was found.
 */
static bool order_steps(struct order *order, unsigned obey, struct choice_vec *choices)
{
    const struct rig_history *history = order->rules->history;
    const uint32_t step_count = history->op_count + 2 * history->txn_count;
    uint32_t number = 0;
    begin_order(order, obey);
    choices->count = 0;
    for (uint32_t moves = 0; order->steps.count < step_count;) {
        const uint32_t txn = choose_txn(order, number);
        if (txn != UINT32_MAX) {
            if (is_choice(order, txn) &&
                !choice_vec_add(choices, (struct choice){(uint32_t)order->steps.count, number}))
                return false;
            move(order, txn, false);
            moves++;
            number = 0;
            continue;
        }
        if (choices->count == 0 || moves > MOVES_MOST)
            return false;
        const struct choice last = choices->at[--choices->count];
        while (order->steps.count > last.step_count)
            move(order, order->steps.at[order->steps.count - 1].txn, true);
        number = last.number + 1;
    }
    return true;
}

static int compare_befores(const void *a, const void *b)
{
    const struct rig_before *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : 0;
}

static void find_successors(struct rig_statement_rules *rules, uint32_t *first, uint32_t step_count)
{
    uint32_t at = 0;
    if (rules->befores.count > 0)
        qsort(rules->befores.at, rules->befores.count, sizeof *rules->befores.at, compare_befores);
    for (uint32_t step = 0; step < step_count; step++) {
        while (at < rules->befores.count && rules->befores.at[at].from < step)
            at++;
        first[step] = at;
    }
}

/* ---- the order of times ---- */

/* Where COMMIT or ROLLBACK is in it. It was sent after the last operation was answered, and after the operations began
 * that waited for it; its answer came at the end. */
enum ending { ENDING_SENT, ENDING_ANSWERED };

struct sent {
    int64_t at_ns;
    uint32_t txn, step;
};

static int compare_sent(const void *a, const void *b)
{
    const struct sent *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

/* By transaction, the earliest time at which it can have sent its end. False: no operation waited for another
 * transaction. */
static bool find_ends(const struct rig_timed *timed, int64_t *ends)
{
    const struct rig_history *history = timed->history;
    bool found = false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++)
        ends[txn] = rig_timed_ending_ns(timed, txn);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = 0; op < rig_txn_op_count(history, txn); op++) {
            const uint32_t from = rig_timed_wait(timed, txn, op).from;
            if (from == UINT32_MAX)
                continue;
            const int64_t begun_ns = rig_timed_start_ns(timed, txn, op) + 1;
            ends[from] = begun_ns > ends[from] ? begun_ns : ends[from];
            found = true;
        }
    }
    return found;
}

static void gather_sent(const struct rig_timed *timed, const int64_t *ends, enum ending ending, struct sent *sent)
{
    const struct rig_history *history = timed->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const uint32_t begin = rig_statement_begin_of(history, txn), end = rig_statement_end_of(history, txn);
        const int64_t complete_ns = history->txns[txn].complete_ns;
        sent[begin] = (struct sent){history->txns[txn].invoke_ns, txn, begin};
        for (uint32_t step = begin + 1; step < end; step++)
            sent[step] = (struct sent){rig_timed_start_ns(timed, txn, step - begin - 1), txn, step};
        sent[end] =
            (struct sent){ending == ENDING_SENT || complete_ns == RIG_NO_TIME ? ends[txn] : complete_ns, txn, end};
    }
}

/* Whether the order gives the reads. `place`: by step. */
static bool gives_reads(const struct rig_statement_rules *rules, const uint32_t *place)
{
    const unsigned kinds = OBEY(RIG_BEFORE_ALWAYS) | OBEY(RIG_BEFORE_UNSEEN) | OBEY(RIG_BEFORE_SHOWN);
    for (size_t i = 0; i < rules->befores.count; i++) {
        const struct rig_before *before = &rules->befores.at[i];
        if ((kinds & OBEY(before->rule)) != 0 && place[before->from] >= place[before->to])
            return false;
    }
    return true;
}

/* Orders the steps by their times; without effect where that does not give the reads. */
static bool order_by_times(const struct rig_statement_rules *rules, const struct rig_timed *timed, const int64_t *ends,
                           struct rig_interleaving *interleaving)
{
    const struct rig_history *history = rules->history;
    const uint32_t step_count = history->op_count + 2 * history->txn_count;
    struct sent *sent = calloc((size_t)step_count + 1, sizeof *sent);
    uint32_t *place = calloc((size_t)step_count + 1, sizeof *place);
    struct step_vec steps = {0};
    bool found = false;
    const bool fits = sent != NULL && place != NULL && step_vec_reserve(&steps, (size_t)step_count + 1);
    for (int ending = ENDING_SENT; fits && !found && ending <= ENDING_ANSWERED; ending++) {
        gather_sent(timed, ends, (enum ending)ending, sent);
        qsort(sent, step_count, sizeof *sent, compare_sent);
        for (uint32_t i = 0; i < step_count; i++)
            place[sent[i].step] = i;
        found = gives_reads(rules, place);
    }
    for (uint32_t i = 0; found && i < step_count; i++)
        steps.at[steps.count++] = step_at(history, sent[i].txn, sent[i].step);
    free(sent);
    free(place);
    if (!found) {
        step_vec_done(&steps);
        return fits;
    }
    interleaving->steps = steps.at;
    interleaving->step_count = (uint32_t)steps.count;
    interleaving->explains_reads = interleaving->by_times = true;
    return true;
}

/* Where each operation has its times, and one waited. */
static enum rig_rc try_times(const struct rig_statement_rules *rules, struct rig_interleaving *interleaving,
                             struct rig_err *err)
{
    const struct rig_history *history = rules->history;
    struct rig_timed timed;
    uint32_t *txns = calloc((size_t)history->txn_count + 1, sizeof *txns);
    int64_t *ends = calloc((size_t)history->txn_count + 1, sizeof *ends);
    bool fits = txns != NULL && ends != NULL && !rules->full;
    for (uint32_t txn = 0; fits && txn < history->txn_count; txn++)
        txns[txn] = txn;
    if (fits && rig_timed_init(&timed, history, txns, history->txn_count) && find_ends(&timed, ends))
        fits = order_by_times(rules, &timed, ends, interleaving);
    free(txns);
    free(ends);
    return fits ? RIG_OK : rig_no_memory(err, "an order of statements");
}

/* ---- the order of a proof ---- */

/* Adds the operations of a transaction from `next` to before `end`, both counted from its beginning, which comes
 * first. */
static void add_steps(const struct rig_history *history, uint32_t txn, uint32_t end, uint32_t *next,
                      struct step_vec *steps)
{
    for (; *next < end; ++*next)
        steps->at[steps->count++] = step_at(history, txn, rig_statement_begin_of(history, txn) + *next);
}

/* An operation runs where the transaction stands for it, or all of them run where it stands first. */
static void follow(const struct rig_history *history, const struct rig_proved_order *proved, uint32_t *left,
                   uint32_t *next, struct step_vec *steps)
{
    for (size_t i = 0; i < proved->count; i++)
        left[proved->events[i]]++;
    for (size_t i = 0; i < proved->count; i++) {
        const uint32_t txn = proved->events[i], ops = rig_txn_op_count(history, txn);
        const bool is_stepwise = next[txn] > 0 || left[txn] == ops + 1;
        const uint32_t end = --left[txn] == 0 ? ops + 2 : !is_stepwise ? ops + 1 : next[txn] == 0 ? 2 : next[txn] + 1;
        add_steps(history, txn, end, &next[txn], steps);
    }
}

/* In the order that proves a level which the history keeps; without effect where it does not. */
static enum rig_rc try_proof(const struct rig_statement_rules *rules, enum rig_level level,
                             struct rig_interleaving *interleaving, struct rig_err *err)
{
    const struct rig_history *history = rules->history;
    struct rig_proved_order proved;
    bool found = false;
    enum rig_rc rc = rig_proved_order_find(history, level, &proved, &found, err);
    if (rc == RIG_OK && found) {
        uint32_t *numbers = calloc(2 * (size_t)history->txn_count + 1, sizeof *numbers);
        struct step_vec steps = {0};
        const size_t count = (size_t)history->op_count + 2 * (size_t)history->txn_count;
        if (numbers == NULL || !step_vec_reserve(&steps, count + 1))
            rc = rig_no_memory(err, "an order of statements");
        else
            follow(history, &proved, numbers, numbers + history->txn_count, &steps);
        free(numbers);
        RIG_INVARIANT(rc != RIG_OK || steps.count == count);
        interleaving->steps = steps.at;
        interleaving->step_count = (uint32_t)steps.count;
        interleaving->explains_reads = rc == RIG_OK;
    }
    rig_proved_order_done(&proved);
    return rc;
}

static bool breaks_constraint(const struct rig_verdict *verdict)
{
    return verdict->findings[RIG_ANOMALY_BROKEN_UNIQUE].count + verdict->findings[RIG_ANOMALY_BROKEN_REFERENCE].count >
           0;
}

static enum rig_rc order_all(struct rig_statement_rules *rules, struct rig_interleaving *interleaving,
                             struct rig_err *err)
{
    const struct rig_history *history = rules->history;
    const uint32_t step_count = history->op_count + 2 * history->txn_count;
    uint32_t *numbers =
        calloc(2 * (size_t)step_count + history->txn_count + 2 * (size_t)history->key_count + 1, sizeof *numbers);
    struct order order = {.rules = rules};
    struct choice_vec choices = {0};
    bool done = false;
    unsigned tried = 0;
    const bool fits = numbers != NULL && !rules->full && step_vec_reserve(&order.steps, (size_t)step_count + 1);
    if (fits) {
        order.waits = numbers;
        order.first = order.waits + step_count;
        order.next = order.first + step_count;
        order.holder = order.next + history->txn_count;
        order.pending = order.holder + history->key_count;
        find_successors(rules, order.first, step_count);
    }
    for (; fits && !done && tried < OBEYED_COUNT; tried++)
        done = order_steps(&order, obeyed[tried], &choices);
    free(numbers);
    choice_vec_done(&choices);
    if (!fits) {
        step_vec_done(&order.steps);
        return rig_no_memory(err, "an order of statements");
    }
    RIG_INVARIANT(done); /* the order of times alone contradicts nothing */
    const unsigned kinds = obeyed[tried - 1];
    interleaving->steps = order.steps.at;
    interleaving->step_count = (uint32_t)order.steps.count;
    interleaving->by_snapshots = (kinds & OBEY(RIG_BEFORE_UNSEEN_SNAPSHOT)) != 0;
    interleaving->explains_reads = interleaving->by_snapshots || (kinds & OBEY(RIG_BEFORE_UNSEEN)) != 0;
    return RIG_OK;
}

enum rig_rc rig_interleaving_init(struct rig_interleaving *interleaving, const struct rig_history *history,
                                  const struct rig_verdict *verdict, struct rig_err *err)
{
    struct rig_statement_rules rules;
    *interleaving = (struct rig_interleaving){0};
    if ((uint64_t)history->op_count + 2 * (uint64_t)history->txn_count > RIG_INTERLEAVING_STEPS_MOST)
        return rig_fail(err, RIG_E_LIMIT, "an order of more than %d statements is not shown",
                        (int)RIG_INTERLEAVING_STEPS_MOST);
    const bool by_rules = breaks_constraint(verdict); /* a level says nothing of constraints */
    enum rig_rc rc = rig_statement_rules_init(&rules, history, err);
    if (rc == RIG_OK && !by_rules)
        rc = try_proof(&rules, RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION, interleaving, err);
    if (rc == RIG_OK && interleaving->step_count == 0) {
        rig_statement_rules_add(&rules, verdict);
        rc = try_times(&rules, interleaving, err);
    }
    if (rc == RIG_OK && interleaving->step_count == 0 && !by_rules)
        rc = try_proof(&rules, RIG_LEVEL_STRONG_MONOTONIC_SNAPSHOT_READ, interleaving, err);
    if (rc == RIG_OK && interleaving->step_count == 0)
        rc = order_all(&rules, interleaving, err);
    rig_statement_rules_done(&rules);
    return rc;
}

void rig_interleaving_done(struct rig_interleaving *interleaving)
{
    free(interleaving->steps);
    *interleaving = (struct rig_interleaving){0};
}
