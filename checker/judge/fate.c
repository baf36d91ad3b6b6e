#include "checker/judge/fate.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "checker/judge/asked.h"
#include "checker/infer/type_inference.h"
#include "checker/decide/rule.h"
#include "checker/explain/assumed.h"
#include "checker/explain/say.h"
#include "history/model/value_texts.h"
#include "history/types/types.h"

#define L(id) RIG_LEVEL_BIT(RIG_LEVEL_##id)

/* Decided exactly by the ladder whenever all reads are known; the reference's lattice has no more decisions. */
static const uint64_t exact_levels = L(READ_UNCOMMITTED) | L(STRONG_SESSION_READ_UNCOMMITTED) |
                                     L(STRONG_READ_UNCOMMITTED) | L(READ_COMMITTED) | L(STRONG_SESSION_READ_COMMITTED) |
                                     L(STRONG_READ_COMMITTED) | L(REPEATABLE_READ) | L(SERIALIZABLE) |
                                     L(STRONG_SESSION_SERIALIZABLE) | L(STRICT_SERIALIZABLE);
/* Decided exactly when, besides, every version order is total. */
static const uint64_t snapshot_levels =
    L(SNAPSHOT_ISOLATION) | L(STRONG_SESSION_SNAPSHOT_ISOLATION) | L(STRONG_SNAPSHOT_ISOLATION);
#undef L

/* Need real time, and so invocations. */
static uint64_t strong_levels(void)
{
    return rig_levels_along(RIG_ALONG_REALTIME);
}

struct judge {
    const struct rig_scope *scope;
    const struct rig_type_inference *type;
    struct rig_verdict *verdict;
    struct rig_arena *arena;
    uint64_t refuted, held;
};

static char *keep(const struct judge *j, struct rig_buf *text)
{
    char *copy = text->failed ? NULL : rig_arena_text(j->arena, rig_buf_text(text), text->size);
    rig_buf_done(text);
    return copy;
}

static const struct rig_level_info *info_of(const struct judge *j, enum rig_level level)
{
    return rig_level_info_in(j->verdict->lattice, level);
}

static bool is_found(const struct judge *j, enum rig_anomaly anomaly)
{
    return j->verdict->findings[anomaly].count > 0;
}

/* The first witness of the finding that refutes the level, one without assumptions before others; NULL: none does. */
static const struct rig_witness *witness_of(const struct rig_finding *finding, unsigned level)
{
    const struct rig_witness *first = NULL;
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        const struct rig_witness *witness = &finding->witnesses[i];
        if ((witness->refutes & RIG_LEVEL_BIT(level)) == 0)
            continue;
        if (rig_witness_assumed(witness) == 0)
            return witness;
        first = first == NULL ? witness : first;
    }
    return first;
}

/* Chooses for each level the first anomaly that refutes it, one that rests on no assumption before others. */
static void find_refuted(struct judge *j)
{
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        bool assumed = true;
        for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT && assumed; anomaly++) {
            const struct rig_finding *finding = &j->verdict->findings[anomaly];
            if ((finding->refutes & RIG_LEVEL_BIT(level)) == 0)
                continue;
            const struct rig_witness *witness = witness_of(finding, level);
            assumed = witness != NULL && rig_witness_assumed(witness) != 0;
            if ((j->refuted & RIG_LEVEL_BIT(level)) == 0 || !assumed)
                j->verdict->levels[level].because = (enum rig_anomaly)anomaly;
            j->refuted |= RIG_LEVEL_BIT(level);
        }
    }
}

/* Reads of some key cannot all be of one list: no order of its versions explains them. */
static bool are_contradicted(const struct judge *j)
{
    return is_found(j, RIG_ANOMALY_INCOMPATIBLE_ORDER) || is_found(j, RIG_ANOMALY_FRACTURED_APPEND) ||
           is_found(j, RIG_ANOMALY_INCONSISTENT_OFFSETS);
}

/* Bits: the levels that are decided where every read is known and no operation is missing. Below read committed they
 * are decided by what acknowledged transactions wrote and read: one of unknown fate may have aborted
 * (docs/checker/lists.md). */
static uint64_t find_decided(const struct judge *j)
{
    const struct rig_scope *scope = j->scope;
    const uint64_t all = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1;
    const uint64_t untimed = scope->has_invocations ? 0 : strong_levels();
    uint64_t decided = exact_levels;
    if (scope->committed_count == 0)
        return all & ~untimed; /* no transaction that could break one */
    if (scope->unordered_keys == 0)
        decided |= snapshot_levels;
    if (j->verdict->lattice == RIG_LATTICE_EXACT)
        decided = all & ~j->verdict->spent_levels & ~scope->apart & ~scope->unfit;
    else if (!j->type->total_orders)
        decided = 0;
    decided &= scope->reads_at_once ? j->type->levels & ~rig_levels_by_operations() : j->type->levels;
    if (rig_type_has_conditions(j->type)) /* the ladder decides alone */
        decided &= exact_levels | snapshot_levels;
    if (are_contradicted(j))
        decided = 0;
    /* Objects that may not be linearizable: an order that keeps that of each process was found, or nothing holds. */
    if (j->verdict->sequential != RIG_SEQUENTIAL_IMPLIED)
        decided &= j->verdict->sequential == RIG_SEQUENTIAL_HELD
                       ? info_of(j, RIG_LEVEL_STRONG_SESSION_SERIALIZABLE)->below
                       : 0;
    return decided & ~untimed;
}

static void find_held(struct judge *j)
{
    const struct rig_scope *scope = j->scope;
    if (scope->unknown_reads > 0 || scope->lost_count > 0 || scope->txn_count == 0)
        return;
    const uint64_t decided = j->verdict->explained_levels | (scope->open_reads > 0 ? 0 : find_decided(j));
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if (decided & ~j->refuted & RIG_LEVEL_BIT(level))
            j->held |= info_of(j, (enum rig_level)level)->below;
    }
}

/* Before item `index` of an enumeration: "a", "a and b", "a, b and c". */
static void separate(struct rig_buf *text, unsigned index, unsigned count)
{
    rig_buf_add_text(text, index == 0 ? "" : index + 1 == count ? " and " : ", ");
}

static void say_refuted(const struct judge *j, unsigned level, struct rig_buf *text)
{
    enum rig_anomaly anomaly = j->verdict->levels[level].because;
    const struct rig_finding *finding = &j->verdict->findings[anomaly];
    rig_buf_add_text(text, rig_anomaly_info(anomaly)->name);
    const struct rig_witness *witness = witness_of(finding, level);
    if (witness == NULL) /* it was not kept */
        return;
    rig_buf_add_text(text, ": ");
    for (uint32_t i = 0; i < witness->txn_count && i < 4; i++) {
        separate(text, i, witness->txn_count);
        rig_say(j->verdict->history, text, "%T", witness->txns[i]);
    }
    if (witness->txn_count > 4)
        rig_buf_printf(text, " and %" PRIu32 " more", witness->txn_count - 4);
    if (rig_witness_assumed(witness) != 0) {
        rig_buf_add_text(text, ", ");
        rig_assumed_text(rig_witness_assumed(witness), text);
    }
}

/* The test by which a level is held, and the order that the test respects. */
enum basis { BY_IMPLICATION, BY_WRITES, BY_FLOW, BY_SNAPSHOTS, BY_ORDER };

static enum basis basis_of(enum rig_level level)
{
    static const uint8_t of_plain[RIG_LEVEL_COUNT] = {
        [RIG_LEVEL_READ_UNCOMMITTED] = BY_WRITES,      [RIG_LEVEL_READ_COMMITTED] = BY_FLOW,
        [RIG_LEVEL_SNAPSHOT_ISOLATION] = BY_SNAPSHOTS, [RIG_LEVEL_REPEATABLE_READ] = BY_ORDER,
        [RIG_LEVEL_SERIALIZABLE] = BY_ORDER,
    };
    return (enum basis)of_plain[rig_level_form(level, RIG_ALONG_PLAIN)];
}

/* One order of all transactions explains the reads, which is the reason for the weaker levels too. */
static bool is_explained(const struct judge *j, enum rig_along order)
{
    return (j->held & RIG_LEVEL_BIT(rig_level_form(RIG_LEVEL_SERIALIZABLE, order))) != 0;
}

/* The versions that an explanation had to order, or NULL. */
static const char *ordered_by_guess(const struct judge *j)
{
    if (!j->type->total_orders && j->verdict->lattice == RIG_LATTICE_EXACT)
        return " in some order of the versions";
    if (j->type->certified_by_rows && j->scope->open_reads > 0)
        return " in some choice of the versions that reads missed";
    return j->scope->unordered_keys > 0 ? " in some order of the appends that no read shows" : NULL;
}

/* How the results of the reads are known. */
static const char *known_reads(const struct judge *j)
{
    return rig_workload_repeats_values(j->scope->workload) && j->scope->open_reads > 0
               ? "each read of a repeated value shows one of its writes"
               : "every read is known";
}

static void say_test(const struct judge *j, unsigned level, struct rig_buf *text)
{
    static const char *const orders[RIG_ALONG_COUNT] = {"", ", with process order", ", with real-time order"};
    static const char *const kept[RIG_ALONG_COUNT] = {"", " and keeps the order of each process",
                                                      " and keeps the real-time order"};
    const enum rig_along order = rig_level_along((enum rig_level)level);
    const enum basis basis = basis_of((enum rig_level)level);
    const bool sums = j->type->no_edges && j->scope->open_reads > 0;
    rig_buf_add_text(text, known_reads(j));
    if (is_explained(j, order))
        rig_buf_printf(text, ", and one order of the committed transactions explains them all%s", kept[order]);
    else if (sums && basis == BY_SNAPSHOTS)
        rig_buf_printf(text, ", and one order of the snapshots and the commits explains them all%s", kept[order]);
    else if (sums)
        rig_buf_printf(text,
                       basis == BY_ORDER ? ", and one order of the committed transactions explains those that "
                                           "found a row%s"
                                         : ", and shows the sum of the increments that were committed before it "
                                           "in some order%s",
                       kept[order]);
    else if (basis == BY_SNAPSHOTS && ordered_by_guess(j) != NULL)
        rig_buf_printf(text, ", and%s each cycle%s has two rw edges in a row", ordered_by_guess(j),
                       order == RIG_ALONG_PLAIN ? "" : orders[order] + 1);
    else if (basis == BY_SNAPSHOTS)
        rig_buf_printf(text,
                       ", every order of versions is total, and each cycle%s has two rw edges in "
                       "a row",
                       order == RIG_ALONG_PLAIN ? "" : orders[order] + 1);
    else if (basis == BY_FLOW)
        rig_buf_printf(text, " and shows final committed versions, and no cycle of ww and wr edges exists%s%s",
                       j->type->total_orders || ordered_by_guess(j) == NULL ? "" : ordered_by_guess(j), orders[order]);
    else if (basis == BY_ORDER)
        rig_buf_printf(text, ", and no cycle exists except those through predicates%s", orders[order]);
    else {
        RIG_INVARIANT(basis == BY_WRITES);
        rig_buf_printf(text, ", and no cycle of ww edges %sexists%s%s",
                       j->scope->unsettled ? "between acknowledged transactions " : "",
                       j->type->total_orders || ordered_by_guess(j) == NULL ? "" : ordered_by_guess(j), orders[order]);
    }
}

static void say_held(const struct judge *j, unsigned level, struct rig_buf *text)
{
    uint64_t bit = RIG_LEVEL_BIT(level);
    if (j->scope->committed_count == 0) {
        rig_buf_add_text(text, "no transaction is known to have committed, and only one that did could break it");
        return;
    }
    uint64_t above = info_of(j, (enum rig_level)level)->above & j->held & (exact_levels | snapshot_levels) & ~bit;
    if (basis_of((enum rig_level)level) != BY_IMPLICATION) {
        say_test(j, level, text);
        if (j->verdict->unknown_reason != NULL)
            rig_buf_printf(text, "; %s", j->verdict->unknown_reason);
        return;
    }
    const uint64_t weakest = rig_levels_weakest_in(j->verdict->lattice, above);
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        if (weakest & RIG_LEVEL_BIT(i)) {
            rig_buf_printf(text, "implied by %s", rig_level_info((enum rig_level)i)->name);
            return;
        }
    }
    rig_buf_printf(text, "%s, and no cycle that it forbids exists%s", known_reads(j),
                   ordered_by_guess(j) == NULL ? "" : ordered_by_guess(j));
}

/* The solver's work on the strongest of the levels that it got to; what it left open there. */
static void add_work(const struct rig_verdict *verdict, uint64_t levels, struct rig_buf *text)
{
    const struct rig_level_effort *work = NULL;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((levels & verdict->spent_levels & RIG_LEVEL_BIT(level)) != 0 && verdict->work[level].spent_ns > 0)
            work = &verdict->work[level];
    }
    if (work == NULL) {
        rig_buf_add_text(text, " on other levels, before this one was asked about");
        return;
    }
    rig_buf_printf(text, "; the solver took %.3g s for this level", (double)work->spent_ns / (double)RIG_NS_PER_S);
    if (work->open_pairs == 0)
        return;
    rig_buf_printf(text,
                   ", and %" PRIu64 " of %" PRIu64 " pair%s of transactions that write a common key %s no order yet",
                   work->open_pairs, work->pairs, rig_plural(work->pairs), work->open_pairs == 1 ? "has" : "have");
    if (work->has_example)
        rig_buf_printf(text, " (T%" PRIu32 " and T%" PRIu32 ", which write key %s, for example)", work->first,
                       work->second, work->key);
}

/* Registers that may begin with a value which something writes. */
static bool say_doubted(const struct judge *j, uint64_t level, struct rig_buf *text)
{
    const struct rig_begun *doubted = &j->verdict->begun.doubted;
    if (doubted->count == 0 || (j->verdict->spent_levels & level) == 0)
        return false;
    const char *value = RIG_VALUE_SHOWN(doubted->value);
    rig_buf_printf(text,
                   ", but a read shows %s on key %s before anything had written it there: without that value the key "
                   "has no order. If the registers began with it, give --initial %s, and --initial nil if not",
                   value, doubted->key, value);
    return true;
}

static void add_spent(const struct judge *j, uint64_t levels, struct rig_buf *text)
{
    if (say_doubted(j, levels, text))
        return;
    if (j->type->no_edges) {
        rig_buf_add_text(text, ", but no order of the transactions was found that explains all reads, nor that there "
                               "is none");
        return;
    }
    if ((j->verdict->unproven_levels & levels) != 0) {
        rig_buf_add_text(text, j->type->certified_by_rows
                                   ? ", but no choice of the versions that reads missed explains it, and rig proves "
                                     "that by cases only for serializable, snapshot isolation and their forms"
                                   : ", but the proof that no order of the versions explains it is too large to be "
                                     "checked");
        return;
    }
    if (j->verdict->open_objects > 0) {
        rig_buf_printf(text,
                       ", but %" PRIu64 " object%s %s not decided within the budget of %g s and the memory allowed",
                       j->verdict->open_objects, rig_plural(j->verdict->open_objects),
                       rig_was_were(j->verdict->open_objects), (double)j->verdict->budget_ns / (double)RIG_NS_PER_S);
        return;
    }
    if ((j->verdict->too_large_levels & levels) != 0) {
        rig_buf_printf(text,
                       ", but the search for an order of the versions takes more memory than --max-memory leaves it "
                       "(%zu MiB for the whole check): allow more",
                       j->verdict->limit_bytes >> 20);
        return;
    }
    rig_buf_printf(text, ", but the budget of %g s (--budget) is spent",
                   (double)j->verdict->budget_ns / (double)RIG_NS_PER_S);
    add_work(j->verdict, levels, text);
}

static void add_apart(const struct judge *j, uint64_t levels, struct rig_buf *text)
{
    rig_buf_add_text(text,
                     (j->scope->unfit & levels) != 0
                         ? ", but the history did not fit into --max-memory: its windows would have to keep too "
                           "many transactions"
                         : ", but the history was judged in windows, and the orders of versions chosen in earlier "
                           "windows have no continuation: a larger --max-memory decides it");
}

/* Why levels below strict serializable are open where objects are not linearizable; false: that is not the reason. */
static bool say_sequential(const struct judge *j, struct rig_buf *text)
{
    switch (j->verdict->sequential) {
    case RIG_SEQUENTIAL_REFUTED:
        rig_buf_add_text(text, ", but only orders that keep the order of each process were searched");
        return true;
    case RIG_SEQUENTIAL_SPENT:
        if (j->verdict->open_objects > 0)
            return false;
        rig_buf_printf(
            text,
            ", but within the budget of %g s and the memory allowed no order was found that keeps the order of "
            "each process; it was not shown that there is none, either",
            (double)j->verdict->budget_ns / (double)RIG_NS_PER_S);
        return true;
    case RIG_SEQUENTIAL_BRIEF:
        rig_buf_add_text(text,
                         ", but a short search found no order that keeps the order of each process, nor that there "
                         "is none; ask for sequential to search longer");
        return true;
    case RIG_SEQUENTIAL_PARTS:
        rig_buf_add_text(text,
                         ", but the history was checked in windows, and only orders within the real-time bounds of "
                         "the operations were searched; ask for sequential");
        return true;
    case RIG_SEQUENTIAL_HELD:
        rig_buf_add_text(text, ", but of the levels with real-time order, only linearizability was decided");
        return true;
    case RIG_SEQUENTIAL_IMPLIED:
        break;
    }
    return false;
}

static void say_open(const struct judge *j, unsigned level, struct rig_buf *text)
{
    const struct rig_scope *scope = j->scope;
    uint64_t bit = RIG_LEVEL_BIT(level);
    rig_buf_add_text(text, "no anomaly refutes it");
    if (scope->lost_count > 0)
        rig_buf_printf(text, ", but %" PRIu64 " operation%s that may have read or written %s omitted",
                       scope->lost_count, rig_plural(scope->lost_count), rig_was_were(scope->lost_count));
    else if (scope->txn_count == 0)
        rig_buf_add_text(text, ", but the history has no transaction");
    else if (are_contradicted(j))
        rig_buf_printf(text, ", but %s", rig_asked_why_contested(j->verdict));
    else if ((bit & strong_levels()) && !scope->has_invocations)
        rig_buf_add_text(text, ", but the history has no invocations, and so no real-time order");
    else if (say_doubted(j, bit, text) || say_sequential(j, text))
        return;
    else if (scope->unknown_reads > 0)
        rig_buf_printf(text, ", but the results of %" PRIu64 " read%s are not known", scope->unknown_reads,
                       rig_plural(scope->unknown_reads));
    else if ((scope->apart | scope->unfit) & bit)
        add_apart(j, bit, text);
    else if (j->verdict->spent_levels & bit)
        add_spent(j, bit, text);
    else if ((bit & snapshot_levels) && scope->unordered_keys > 0)
        rig_buf_printf(text, ", but to %" PRIu64 " key%s several transactions made appends that no read shows",
                       scope->unordered_keys, rig_plural(scope->unordered_keys));
    else if (scope->reads_at_once && (bit & rig_levels_by_operations()) != 0)
        rig_buf_add_text(text, ", but the file shows several reads of one operation, without their order");
    else if (rig_type_open_for(j->type, scope->open_reads) != NULL)
        rig_buf_printf(text, ", but %s", rig_type_open_for(j->type, scope->open_reads));
    else if (j->type->link_items != NULL && j->verdict->lattice == RIG_LATTICE_EXACT)
        rig_buf_add_text(text,
                         ", but with predicates only the levels of the ladder and those that they imply are decided");
    else
        rig_buf_add_text(text, "; the reference's lattice does not decide it");
}

static bool write_reasons(const struct judge *j)
{
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        struct rig_level_result *result = &j->verdict->levels[level];
        struct rig_buf text;
        rig_buf_init(&text, 0);
        if (j->refuted & RIG_LEVEL_BIT(level)) {
            result->fate = RIG_FATE_REFUTED;
            say_refuted(j, level, &text);
        } else if (j->held & RIG_LEVEL_BIT(level)) {
            result->fate = RIG_FATE_HELD;
            say_held(j, level, &text);
        } else {
            result->fate = RIG_FATE_NOT_REFUTED;
            say_open(j, level, &text);
        }
        result->reason = keep(j, &text);
        if (result->reason == NULL)
            return false;
    }
    return true;
}

static unsigned count_levels(uint64_t set)
{
    return (unsigned)__builtin_popcountll(set);
}

static void list_levels(uint64_t set, struct rig_buf *text)
{
    unsigned listed = 0;
    for (unsigned level = RIG_LEVEL_COUNT; level-- > 0;) {
        if (!(set & RIG_LEVEL_BIT(level)))
            continue;
        separate(text, listed++, count_levels(set));
        rig_buf_add_text(text, rig_level_info((enum rig_level)level)->name);
    }
}

static char *summarise(const struct judge *j)
{
    struct rig_verdict *verdict = j->verdict;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    uint64_t held = rig_levels_strongest_in(j->verdict->lattice, j->held);
    if (verdict->unknown_reason != NULL) {
        rig_buf_printf(&text, "This history allows no conclusion about its database: %s", verdict->unknown_reason);
        rig_buf_add_text(&text, held != 0 ? "; it keeps " : "");
        list_levels(held, &text);
        rig_buf_add_char(&text, '.');
        return keep(j, &text);
    }
    if (held != 0) {
        rig_buf_add_text(&text, "This history keeps ");
        list_levels(held, &text);
    } else {
        rig_buf_add_text(&text, j->refuted & RIG_LEVEL_BIT(RIG_LEVEL_READ_UNCOMMITTED)
                                    ? "This history keeps no isolation level"
                                    : "No isolation level could be confirmed for this history");
    }
    if (j->refuted == 0) {
        rig_buf_add_char(&text, '.');
        return keep(j, &text);
    }
    rig_buf_add_text(&text, "; it breaks ");
    unsigned listed = 0;
    for (unsigned level = RIG_LEVEL_COUNT; level-- > 0;) {
        if (!(verdict->weakest_refuted & RIG_LEVEL_BIT(level)))
            continue;
        separate(&text, listed++, count_levels(verdict->weakest_refuted));
        rig_buf_printf(&text, "%s (", rig_level_info((enum rig_level)level)->name);
        say_refuted(j, level, &text);
        rig_buf_add_char(&text, ')');
    }
    rig_buf_add_char(&text, '.');
    return keep(j, &text);
}

static void decide(const struct judge *j)
{
    struct rig_verdict *verdict = j->verdict;
    bool broken = (verdict->requested_levels & j->refuted) != 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly))
            broken |= is_found(j, (enum rig_anomaly)anomaly);
    }
    verdict->valid = broken ? RIG_VALID_FALSE : verdict->unknown_reason != NULL ? RIG_VALID_UNKNOWN : RIG_VALID_TRUE;
}

/* A requested level that the budget or windows left open leaves the verdict open. False when memory runs out. */
static bool admit_open(const struct judge *j)
{
    struct rig_verdict *verdict = j->verdict;
    const uint64_t undecided = (j->scope->apart | j->scope->unfit | verdict->spent_levels) & ~j->refuted & ~j->held;
    const uint64_t open = verdict->requested_levels & undecided;
    struct rig_buf text;
    if (verdict->valid != RIG_VALID_TRUE || open == 0)
        return true;
    rig_buf_init(&text, 0);
    rig_buf_add_text(&text, "it is open whether the history keeps ");
    list_levels(open, &text);
    if ((j->scope->apart | j->scope->unfit) & open)
        add_apart(j, open, &text);
    else
        add_spent(j, open, &text);
    verdict->valid = RIG_VALID_UNKNOWN;
    verdict->unknown_reason = keep(j, &text);
    return verdict->unknown_reason != NULL;
}

/* Nothing was observed when no read shows, or misses, a committed write, and nothing else is wrong. */
static char *why_unknown(const struct judge *j)
{
    const uint64_t *edges = j->verdict->edge_count;
    if (edges[RIG_EDGE_WW] + edges[RIG_EDGE_WR] + edges[RIG_EDGE_RW] + j->scope->observations > 0 ||
        (j->type->no_edges && j->scope->open_reads > 0) || (j->type->claims && j->scope->committed_count > 0))
        return NULL;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (is_found(j, (enum rig_anomaly)anomaly))
            return NULL;
    }
    struct rig_buf text;
    rig_buf_init(&text, 0);
    if (j->scope->txn_count == 0 && j->scope->skipped_count > 0) {
        if (j->scope->skipped_count == 1)
            rig_buf_add_text(&text, "its only operation is not a transaction of a client");
        else
            rig_buf_printf(&text, "none of its %" PRIu64 " operations is a transaction of a client",
                           j->scope->skipped_count);
        return keep(j, &text);
    }
    rig_buf_add_text(&text, j->scope->committed_count == 0
                                ? "no transaction is known to have committed"
                                : "no dependency between committed transactions was observed");
    return keep(j, &text);
}

/* A level implied by a held one is held, a level that implies a refuted one is refuted, and no level is both. */
static bool are_closed(const struct judge *j)
{
    bool closed = (j->held & j->refuted) == 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const struct rig_level_info *info = info_of(j, (enum rig_level)level);
        closed &= (j->held & RIG_LEVEL_BIT(level)) == 0 || (info->below & ~j->held) == 0;
        closed &= (j->refuted & RIG_LEVEL_BIT(level)) == 0 || (info->above & ~j->refuted) == 0;
    }
    return closed;
}

enum rig_rc rig_fates_decide(struct rig_arena *arena, struct rig_verdict *verdict, struct rig_err *err)
{
    struct judge j = {.scope = &verdict->scope,
                      .type = rig_type_inference(verdict->scope.workload),
                      .verdict = verdict,
                      .arena = arena};
    if (verdict->scope.lost_count > 0) /* an omitted operation may have written the value, or added the element */
        verdict->findings[RIG_ANOMALY_GARBAGE_READ] = verdict->findings[RIG_ANOMALY_NONSEQUENTIAL] =
            verdict->findings[RIG_ANOMALY_PHANTOM_ELEMENT] = verdict->findings[RIG_ANOMALY_DUPLICATED_ELEMENT] =
                (struct rig_finding){0};
    if (verdict->scope.lost_count > 0 || verdict->scope.truncated) /* a missing operation may have made an increment */
        verdict->findings[RIG_ANOMALY_IMPOSSIBLE_VALUE] = verdict->findings[RIG_ANOMALY_COUNTER_BOUNDS] =
            (struct rig_finding){0};
    verdict->unknown_reason = why_unknown(&j);
    find_refuted(&j);
    find_held(&j);
    RIG_INVARIANT(are_closed(&j));
    verdict->weakest_refuted = rig_levels_weakest_in(verdict->lattice, j.refuted);
    verdict->strongest_unrefuted =
        rig_levels_strongest_in(verdict->lattice, ~j.refuted & (RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1));
    decide(&j);
    verdict->summary = write_reasons(&j) ? summarise(&j) : NULL;
    if (verdict->summary == NULL || !admit_open(&j))
        return rig_memory_limit(err, "the verdict");
    return RIG_OK;
}

/* ---- several ranks ---- */

void rig_bound_text(int64_t bound_ns, char text[RIG_BOUND_TEXT_BYTES])
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{INT64_C(1000000000), "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof units[0] && bound_ns < units[unit].ns)
        unit++;
    const int64_t tenths = (bound_ns * 10 + units[unit].ns - 1) / units[unit].ns;
    if (tenths % 10 == 0 || tenths >= 100)
        (void)snprintf(text, RIG_BOUND_TEXT_BYTES, "%" PRId64 " %s", (tenths + 9) / 10, units[unit].name);
    else
        (void)snprintf(text, RIG_BOUND_TEXT_BYTES, "%" PRId64 ".%" PRId64 " %s", tenths / 10, tenths % 10,
                       units[unit].name);
}

bool rig_fates_say_ranks(struct rig_arena *arena, struct rig_verdict *verdict)
{
    const struct rig_rank_facts *ranks = &verdict->scope.ranks;
    const bool incomplete = rig_rank_facts_incomplete(ranks) > 0;
    char bound[RIG_BOUND_TEXT_BYTES], text[512];
    rig_bound_text(ranks->bound_ns, bound);
    for (unsigned i = 0; ranks->count > 0 && i < RIG_LEVEL_COUNT; i++) {
        struct rig_level_result *level = &verdict->levels[i];
        if (level->fate == RIG_FATE_HELD && (strong_levels() & RIG_LEVEL_BIT(i)) != 0)
            (void)snprintf(text, sizeof text, "%.400s; real time across ranks is known to %s", level->reason, bound);
        else if (level->fate == RIG_FATE_NOT_REFUTED && incomplete)
            (void)snprintf(text, sizeof text,
                           "no anomaly refutes it, but the record of a rank is missing or ends early");
        else
            continue;
        level->reason = rig_arena_text(arena, text, strlen(text));
        if (level->reason == NULL)
            return false;
    }
    return true;
}
