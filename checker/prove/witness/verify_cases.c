#include "checker/prove/witness/verify_cases.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/vec.h"
#include "checker/prove/proved_levels.h"

/* The version of `before` comes before that of `after`. For rows: `before` as a whole, at a serial level; at one with
 * snapshots the reads of `reader`, which is one of both, and the commit of the other one. */
struct known_order {
    uint32_t before, after, reader;
};

/* An open case. */
struct open_case {
    uint32_t before, after, key, reader;
    size_t order_count; /* orders known outside of it */
};

RIG_VEC(struct known_order, known_orders)
RIG_VEC(struct open_case, open_cases)

struct proving {
    const struct rig_proof *proof;
    const struct rig_type_verifier *type;
    const struct rig_witness *witness;
    struct known_orders orders; /* supposed or concluded, in scope */
    struct open_cases open;
    bool serial;         /* for rows: the transactions of the level have an order */
    uint64_t forbidding; /* bits of the levels that forbid all cycles so far */
    uint32_t txn;        /* the one that the lack is about */
};

/* ---- shapes of cycles ---- */

/* A level forbids cycles that keep all of its limits, and cycles without rw edges. */
enum {
    WW_ONLY = 1 << 0,
    NO_RW = 1 << 1,
    ONE_RW = 1 << 2,
    TWO_STEPS = 1 << 3,
    NO_WW = 1 << 4,
    NO_WR = 1 << 5, /* no wr, process or real-time edge */
    ONE_KEY = 1 << 6,
    SPARSE = 1 << 7,    /* no rw step directly after an rw step */
    BEHIND_WR = 1 << 8, /* no rw step directly after an rw or a ww step */
    ASCENDING = 1 << 9, /* each rw step out of a later operation than that at which the step before arrives */
    ONE_READER = 1 << 10,
    IN_PROCESS = 1 << 11, /* process edges count */
    IN_TIME = 1 << 12,    /* real-time edges count */
    SNAPSHOTS = 1 << 13,  /* each rw step out of the operation at which the step before arrives, or of a later one */
    OF_ITEMS = 1 << 14,   /* no rw step out of a read that found no row */
};

static const unsigned limits[] = {
    [RIG_FORBIDS_WRITES] = WW_ONLY,
    [RIG_FORBIDS_FLOW] = NO_RW,
    [RIG_FORBIDS_CURSOR] = ONE_RW | TWO_STEPS | NO_WR | ONE_KEY | OF_ITEMS,
    [RIG_FORBIDS_ATOMIC_LATER] = ONE_RW | TWO_STEPS | NO_WW | ASCENDING,
    [RIG_FORBIDS_MONOTONIC_VIEW] = ONE_RW | ASCENDING,
    [RIG_FORBIDS_MONOTONIC_READS] = SNAPSHOTS,
    [RIG_FORBIDS_SINGLE] = ONE_RW,
    [RIG_FORBIDS_ATOMIC] = ONE_RW | TWO_STEPS | NO_WW,
    [RIG_FORBIDS_CAUSAL] = ONE_RW | NO_WW,
    [RIG_FORBIDS_UPDATE_ATOMIC] = ONE_RW | TWO_STEPS,
    [RIG_FORBIDS_PREFIX] = SPARSE | BEHIND_WR,
    [RIG_FORBIDS_SNAPSHOT] = SPARSE,
    [RIG_FORBIDS_UPDATES] = ONE_READER,
    [RIG_FORBIDS_ITEMS] = OF_ITEMS,
    [RIG_FORBIDS_ANY] = 0,
};

/* By the levels of the prover, which are not those of the checker (adr 82). */
static const struct rig_proved_level *proved_level(enum rig_level level)
{
    const char *name = rig_level_info(level)->name;
    const int index = rig_proved_level_find(name, strlen(name));
    RIG_INVARIANT(index >= 0);
    return &rig_proved_levels[index];
}

static unsigned limits_of(enum rig_level level)
{
    const struct rig_proved_level *of = proved_level(level);
    const unsigned orders = of->keeps == RIG_KEEPS_TIME        ? IN_PROCESS | IN_TIME
                            : of->keeps == RIG_KEEPS_PROCESSES ? IN_PROCESS
                                                               : 0;
    RIG_INVARIANT((unsigned)of->forbids < sizeof limits / sizeof limits[0]);
    return limits[of->forbids] | orders;
}

static bool writes_key(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    RIG_REQUIRE(txn < history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (!rig_op_reads(ops[i].kind) && (key == UINT32_MAX || ops[i].key == key))
            return true;
    }
    return false;
}

/* The limits that a cycle does not keep. */
static unsigned broken_limits(const struct rig_proof *proof, const struct rig_step *steps, uint32_t count)
{
    const struct rig_history *history = proof->history;
    unsigned broken = count == 2 ? 0 : TWO_STEPS;
    uint32_t rw = 0, readers = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_step *step = &steps[i], *last = &steps[i == 0 ? count - 1 : i - 1];
        const bool order = step->kind == RIG_EDGE_PROCESS || step->kind == RIG_EDGE_REALTIME;
        readers += step->kind == RIG_EDGE_RW && !writes_key(history, step->from, UINT32_MAX);
        rw += step->kind == RIG_EDGE_RW;
        broken |= step->kind == RIG_EDGE_WW ? NO_WW : WW_ONLY;
        broken |= step->kind == RIG_EDGE_WR || order ? NO_WR : 0;
        broken |= step->key != steps[0].key ? ONE_KEY : 0;
        broken |= step->kind == RIG_EDGE_REALTIME ? IN_TIME : step->kind == RIG_EDGE_PROCESS ? IN_PROCESS : 0;
        if (step->kind != RIG_EDGE_RW)
            continue;
        broken |= last->kind == RIG_EDGE_RW ? SPARSE | BEHIND_WR | ASCENDING | SNAPSHOTS : 0;
        broken |= step->by_predicate || rig_verify_found_no_row(proof, step->from, step->from_op) ? OF_ITEMS : 0;
        broken |= last->kind == RIG_EDGE_WW ? BEHIND_WR : 0;
        if (last->kind == RIG_EDGE_PROCESS || last->kind == RIG_EDGE_REALTIME) /* before all operations */
            continue;
        broken |= last->to_op == UINT32_MAX || last->to_op >= step->from_op ? ASCENDING : 0;
        broken |= last->to_op == UINT32_MAX || last->to_op > step->from_op ? SNAPSHOTS : 0;
    }
    RIG_INVARIANT(rw <= count && readers <= count);
    return broken | (rw > 0 ? NO_RW : 0) | (rw > 1 ? ONE_RW : 0) | (readers > 1 ? ONE_READER : 0);
}

static bool forbids(unsigned level_limits, unsigned broken)
{
    RIG_REQUIRE(level_limits >> 15 == 0);
    const unsigned orders = IN_PROCESS | IN_TIME;
    if ((broken & orders & ~level_limits) != 0)
        return false;
    if ((level_limits & WW_ONLY) != 0)
        return (broken & WW_ONLY) == 0;
    return (broken & NO_RW) == 0 || (level_limits & broken & ~(unsigned)orders) == 0;
}

static uint64_t levels_forbidding(unsigned broken)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        levels |= forbids(limits_of((enum rig_level)level), broken) ? RIG_LEVEL_BIT(level) : 0;
    return levels;
}

/* ---- steps ---- */

/* The transaction's last write of the key is of this value. */
static bool installed(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    RIG_REQUIRE(txn < history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = rig_txn_op_count(history, txn); i-- > 0;) {
        if (!rig_op_reads(ops[i].kind) && ops[i].key == key)
            return ops[i].value == value;
    }
    return false;
}

/* ww: of `from`; rw: of the writer of the version that `from` read. */
static bool is_in_case(const struct proving *p, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WW || step->kind == RIG_EDGE_RW);
    for (size_t i = 0; i < p->orders.count; i++) {
        const struct known_order *known = &p->orders.at[i];
        if (known->after != step->to)
            continue;
        if (step->kind == RIG_EDGE_WW ? known->before == step->from
                                      : installed(p->proof->history, known->before, step->key, step->from_value))
            return true;
    }
    return false;
}

/* `to` read the earlier version; at read committed and above, its own comes later. */
static const char *check_update(const struct proving *p, const struct rig_step *step)
{
    RIG_REQUIRE(step->order == RIG_ORDER_UPDATE);
    struct rig_proved_read read;
    if (step->order_txn != step->to || !p->type->read_version(p->proof, step->order_txn, step->order_op, &read) ||
        read.key != step->key || read.initial)
        return "is followed by one that did not read the earlier version";
    const bool same = step->kind == RIG_EDGE_WW ? installed(p->proof->history, step->from, step->key, read.value)
                                                : read.value == step->from_value;
    return same ? NULL : "is followed by one that read another version";
}

static const char *check_order(const struct proving *p, const struct rig_step *step)
{
    RIG_REQUIRE(p->proof->committed[step->from] && p->proof->committed[step->to]);
    if (step->order == RIG_ORDER_CASE)
        return is_in_case(p, step) ? NULL : "has a version whose order no case in scope gives";
    if (step->order == RIG_ORDER_UPDATE)
        return check_update(p, step);
    if (step->order == RIG_ORDER_INITIAL)
        return "has a version that is not the initial state";
    return p->type->check_known(p->proof, step);
}

static const char *check_wr(const struct proving *p, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WR && step->to < p->proof->history->txn_count);
    struct rig_proved_read read;
    if (!p->type->read_version(p->proof, step->to, step->to_op, &read) || read.key != step->key)
        return "is followed by one that made no such read";
    if (read.initial || read.value != step->from_value ||
        !installed(p->proof->history, step->from, step->key, step->from_value))
        return "is followed by one that did not read its version";
    return NULL;
}

/* The witness names the writer of the version that an rw step's `from` read. */
static bool names_writer(const struct proving *p, const struct rig_step *step)
{
    for (uint32_t i = 0; i < p->witness->txn_count; i++) {
        const uint32_t txn = p->witness->txns[i];
        if (txn < p->proof->history->txn_count && p->proof->committed[txn] &&
            installed(p->proof->history, txn, step->key, step->from_value))
            return true;
    }
    return false;
}

static const char *check_rw(const struct proving *p, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_RW && step->to < p->proof->history->txn_count);
    struct rig_proved_read read;
    if (!p->type->read_version(p->proof, step->from, step->from_op, &read) || read.key != step->key)
        return "made no such read";
    if (!writes_key(p->proof->history, step->to, step->key))
        return "is followed by one that did not write the key";
    if (read.initial)
        return NULL;
    if (read.value != step->from_value || !names_writer(p, step))
        return "read another version, or one of a transaction that is not in the witness";
    return check_order(p, step);
}

static const char *check_ww(const struct proving *p, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WW && step->to < p->proof->history->txn_count);
    const struct rig_history *history = p->proof->history;
    if (!writes_key(history, step->from, step->key) || !writes_key(history, step->to, step->key))
        return "did not write a key that the next one wrote";
    if (step->to_op >= rig_txn_op_count(history, step->to))
        return "is followed by one without the operation";
    const struct rig_txn_op *write = rig_txn_ops(history, step->to) + step->to_op;
    if (rig_op_reads(write->kind) || write->key != step->key)
        return "is followed by one that did not write the key with the operation";
    return check_order(p, step);
}

/* Whether a case in scope, or a conclusion, has this order of a reader and a writer. At a serial level one that was
 * supposed for the reads of the writer is the same. */
static bool is_chosen(const struct proving *p, uint32_t before, uint32_t after, uint32_t reader)
{
    bool chosen = false;
    for (size_t i = 0; !chosen && i < p->orders.count; i++)
        chosen = p->orders.at[i].before == before && p->orders.at[i].after == after &&
                 (p->serial || p->orders.at[i].reader == reader);
    return chosen;
}

/* Bits: the levels at which each transaction reads as a whole before another one commits, or after it; where `serial`,
 * those at which each comes before another one as a whole, or after it. No other level has cases of rows. */
static uint64_t levels_with_row_cases(bool serial)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const enum rig_forbids forbids = proved_level((enum rig_level)level)->forbids;
        if (forbids == RIG_FORBIDS_ANY || (forbids == RIG_FORBIDS_SNAPSHOT && !serial))
            levels |= RIG_LEVEL_BIT(level);
    }
    return levels;
}

/* For rows: an edge that reads show, or one of a case: the reader comes before the writer (rw), or after it (wr). */
static const char *check_row_step(const struct proving *p, const struct rig_step *step)
{
    const uint32_t reader = step->order_other, writer = step->order_txn;
    if (step->kind == RIG_EDGE_PROCESS || step->kind == RIG_EDGE_REALTIME)
        return rig_verify_precedence(p->proof->history, step);
    if (step->key >= p->proof->history->key_count)
        return "is in a step that names no key";
    if (step->order != RIG_ORDER_CASE)
        return p->type->check_step(p->proof, step);
    const bool before = step->kind == RIG_EDGE_RW;
    if (step->kind == RIG_EDGE_WW || (before ? step->from : step->to) != reader || (before && step->to != writer) ||
        writer >= p->proof->history->txn_count || !p->proof->committed[writer])
        return "is in a step that its case does not give";
    if (!is_chosen(p, before ? reader : writer, before ? writer : reader, reader))
        return "has an order that no case in scope gives";
    return p->type->check_chosen(p->proof, step);
}

static const char *check_step(const struct proving *p, const struct rig_step *step)
{
    if (p->type->check_chosen != NULL)
        return check_row_step(p, step);
    switch (step->kind) {
    case RIG_EDGE_WW:
        return check_ww(p, step);
    case RIG_EDGE_WR:
        return check_wr(p, step);
    case RIG_EDGE_RW:
        return check_rw(p, step);
    case RIG_EDGE_PROCESS:
    case RIG_EDGE_REALTIME:
        return rig_verify_precedence(p->proof->history, step);
    }
    return "has a step of an unknown kind";
}

/* ---- lines ---- */

static bool is_named(const struct proving *p, uint32_t txn)
{
    for (uint32_t i = 0; i < p->witness->txn_count; i++) {
        if (p->witness->txns[i] == txn)
            return true;
    }
    return false;
}

/* The transaction committed, and the witness names it. */
static bool stands(struct proving *p, uint32_t txn)
{
    p->txn = txn < p->proof->history->txn_count ? txn : p->witness->txns[0];
    return txn < p->proof->history->txn_count && is_named(p, txn) && p->proof->committed[txn];
}

static const char *open_case(struct proving *p, const struct rig_case *line, bool *has_memory)
{
    RIG_REQUIRE(line->kind == RIG_CASE_SUPPOSE);
    if (!stands(p, line->before) || !stands(p, line->after) || line->before == line->after)
        return "is in a case, and is not two committed transactions of the witness";
    if (line->step_count != 0)
        return "is in a case that begins with steps";
    const bool of_rows = p->type->check_chosen != NULL;
    if (!of_rows && (!writes_key(p->proof->history, line->before, line->key) ||
                     !writes_key(p->proof->history, line->after, line->key)))
        return "is in a case of a key that not both write";
    if (of_rows && line->reader != line->before && line->reader != line->after)
        return "is in a case about the read of another transaction";
    const struct open_case opened = {line->before, line->after, line->key, line->reader, p->orders.count};
    *has_memory = open_cases_add(&p->open, opened) &&
                  known_orders_add(&p->orders, (struct known_order){line->before, line->after, line->reader});
    return NULL;
}

/* After the cycle of a line. */
static const char *close_case(struct proving *p, const struct rig_case *line, bool is_last)
{
    RIG_REQUIRE(line->kind == RIG_CASE_CYCLE);
    const uint32_t none = UINT32_MAX;
    if (p->open.count == 0)
        return is_last && line->before == none && line->after == none && line->key == none
                   ? NULL
                   : "is in a cycle outside of all cases that is not the end";
    const struct open_case closed = p->open.at[--p->open.count];
    if (closed.before != line->before || closed.after != line->after || closed.key != line->key ||
        closed.reader != line->reader)
        return "is in a cycle that closes another case";
    RIG_INVARIANT(closed.order_count < p->orders.count);
    p->orders.count = closed.order_count;
    p->orders.at[p->orders.count++] = (struct known_order){closed.after, closed.before, closed.reader};
    return is_last ? "is in a case whose end is missing" : NULL;
}

static const char *check_cycle(struct proving *p, const struct rig_case *line)
{
    const struct rig_cases *cases = p->witness->cases;
    const struct rig_step *steps = cases->steps + line->first_step;
    if (line->step_count < 2 || line->first_step > cases->step_count ||
        line->step_count > cases->step_count - line->first_step)
        return "is in a case without a cycle";
    for (uint32_t i = 0; i < line->step_count; i++) {
        if (!stands(p, steps[i].from))
            return "is in a cycle, and is no committed transaction of the witness";
        if (steps[i].to != steps[i + 1 < line->step_count ? i + 1 : 0].from)
            return "does not lead to the next step";
        for (uint32_t j = 0; j < i; j++) {
            if (steps[j].from == steps[i].from)
                return "is in a cycle that passes it twice";
        }
        const char *lacks = check_step(p, &steps[i]);
        if (lacks != NULL)
            return lacks;
    }
    RIG_INVARIANT(line->step_count >= 2 && line->first_step + line->step_count <= cases->step_count);
    p->forbidding &= levels_forbidding(broken_limits(p->proof, steps, line->step_count));
    return (p->forbidding & RIG_LEVEL_BIT(cases->level)) != 0 ? NULL : "is in a cycle that the level allows";
}

static const char *check_lines(struct proving *p, bool *has_memory)
{
    const struct rig_cases *cases = p->witness->cases;
    const char *lacks = cases->line_count > 0 ? NULL : "is in a proof without lines";
    for (uint32_t i = 0; lacks == NULL && *has_memory && i < cases->line_count; i++) {
        const struct rig_case *line = &cases->lines[i];
        if (line->kind == RIG_CASE_SUPPOSE) {
            lacks = i + 1 < cases->line_count ? open_case(p, line, has_memory) : "is in a case without an end";
            continue;
        }
        lacks = line->kind == RIG_CASE_CYCLE ? check_cycle(p, line) : "is in a line of an unknown kind";
        if (lacks == NULL)
            lacks = close_case(p, line, i + 1 == cases->line_count);
    }
    RIG_INVARIANT(lacks != NULL || !*has_memory || p->open.count == 0);
    return lacks;
}

/* Each level that the witness refutes is, or is stronger than, one that forbids all cycles. */
static const char *check_refuted(const struct proving *p)
{
    RIG_REQUIRE(p->open.count == 0);
    const uint64_t refutes = p->witness->refutes;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((refutes & RIG_LEVEL_BIT(level)) != 0 &&
            (rig_level_info((enum rig_level)level)->below & p->forbidding & ~rig_levels_below_committed) == 0)
            return "does not refute a level that the witness claims to refute";
    }
    return (refutes & RIG_LEVEL_BIT(p->witness->cases->level)) != 0 ? NULL : "does not refute the level";
}

/* Whether an rw step rests on a version that the transaction installed. */
static bool wrote_read(const struct proving *p, uint32_t txn, const struct rig_step *step)
{
    return step->kind == RIG_EDGE_RW && installed(p->proof->history, txn, step->key, step->from_value);
}

/* Each transaction that is named is in a cycle or a case, or wrote what is read in one; and is named once. */
static const char *check_names(struct proving *p)
{
    const struct rig_cases *cases = p->witness->cases;
    for (uint32_t i = 0; i < p->witness->txn_count; i++) {
        const uint32_t txn = p->txn = p->witness->txns[i];
        bool used = false;
        for (uint32_t s = 0; !used && s < cases->step_count; s++)
            used = cases->steps[s].from == txn || wrote_read(p, txn, &cases->steps[s]);
        for (uint32_t l = 0; !used && l < cases->line_count; l++)
            used = cases->lines[l].kind == RIG_CASE_SUPPOSE &&
                   (cases->lines[l].before == txn || cases->lines[l].after == txn);
        if (!used)
            return "is in no case and in no cycle";
        for (uint32_t j = 0; j < i; j++) {
            if (p->witness->txns[j] == txn)
                return "is named twice";
        }
    }
    return NULL;
}

bool rig_verify_cases(const struct rig_proof *proof, const struct rig_type_verifier *type,
                      const struct rig_witness *witness, struct rig_cases_lack *lack)
{
    RIG_REQUIRE(witness->cases != NULL && witness->txn_count > 0);
    struct proving p = {
        .proof = proof, .type = type, .witness = witness, .forbidding = ~UINT64_C(0), .txn = witness->txns[0]};
    bool has_memory = true;
    const char *lacks = (unsigned)witness->cases->level < RIG_LEVEL_COUNT ? NULL : "is at an unknown level";
    if (lacks == NULL && type->read_version == NULL && type->check_chosen == NULL)
        lacks = "is in a proof by cases, which this type of data does not have";
    if (lacks == NULL && type->check_chosen != NULL) {
        p.serial = proved_level(witness->cases->level)->forbids == RIG_FORBIDS_ANY;
        p.forbidding = levels_with_row_cases(p.serial);
    }
    if (lacks == NULL)
        lacks = check_lines(&p, &has_memory);
    if (lacks == NULL && has_memory)
        lacks = check_refuted(&p);
    if (lacks == NULL && has_memory)
        lacks = check_names(&p);
    *lack = (struct rig_cases_lack){lacks, p.txn};
    known_orders_done(&p.orders);
    open_cases_done(&p.open);
    return has_memory;
}
