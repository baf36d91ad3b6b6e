#include "report/words.h"
#include "report/certificate_report.h"
#include "report/conditions.h"
#include "report/durability_report.h"
#include "report/server_crashes.h"
#include "report/known_report.h"
#include "report/tell.h"
#include "history/model/shared_value.h"
#include "history/model/value_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "checker/judge/fate.h"
#include "checker/judge/minimum.h"
#include "history/types/row_clauses.h"
#include "history/types/types.h"

void rig_words_clean(struct rig_buf *out, const char *text, bool keep_lines)
{
    if (text == NULL)
        return;
    const size_t from = out->size;
    rig_buf_add_text(out, text);
    if (out->failed || out->size == from)
        return;
    if (keep_lines)
        rig_printable_lines(out->data + from);
    else
        rig_printable_line(out->data + from);
    out->size = from + strlen(out->data + from);
}

void rig_words_count(struct rig_buf *out, uint64_t number)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    RIG_INVARIANT(length > 0);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            rig_buf_add_char(out, ',');
        rig_buf_add_char(out, digits[i]);
    }
}

void rig_words_found(struct rig_buf *out, const struct rig_finding *finding)
{
    if (!finding->exact)
        rig_buf_add_text(out, "at least ");
    rig_words_count(out, finding->count);
}

static int decimals_for(double value)
{
    return value < 10 ? 2 : value < 100 ? 1 : 0;
}

void rig_words_duration(struct rig_buf *out, int64_t duration_ns)
{
    static const struct {
        int64_t unit_ns;
        const char *name;
    } units[] = {{RIG_NS_PER_S, "s"}, {RIG_NS_PER_MS, "ms"}, {RIG_NS_PER_US, "us"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (duration_ns < units[i].unit_ns)
            continue;
        double value = (double)duration_ns / (double)units[i].unit_ns;
        rig_buf_printf(out, "%.*f %s", decimals_for(value), value, units[i].name);
        return;
    }
    rig_buf_printf(out, "%" PRId64 " ns", duration_ns);
}

void rig_words_size(struct rig_buf *out, uint64_t size_bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)size_bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        unit++;
    }
    rig_buf_printf(out, "%.*f %s", unit == 0 ? 0 : decimals_for(value), value, units[unit]);
}

void rig_words_share(struct rig_buf *out, uint64_t part, uint64_t whole)
{
    double percent = whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
    rig_buf_printf(out, "%.*f %%", part == 0 ? 0 : decimals_for(percent), percent);
}

void rig_words_txn(struct rig_buf *out, const struct rig_history *history, uint32_t txn)
{
    rig_buf_printf(out, "T%" PRIu32, rig_txn_name(history, txn));
}

void rig_words_txn_when(struct rig_buf *out, const struct rig_history *history, uint32_t txn, int64_t zero_ns)
{
    const struct rig_txn *t = &history->txns[txn];
    rig_buf_printf(out, "process %" PRId32, t->process);
    bool started = t->invoke_ns != RIG_NO_TIME, ended = t->complete_ns != RIG_NO_TIME;
    if (!started && !ended)
        return;
    rig_buf_add_text(out, ", ");
    if (started)
        rig_buf_printf(out, "%.6f s", (double)(t->invoke_ns - zero_ns) / (double)RIG_NS_PER_S);
    rig_buf_add_text(out, started ? " - " : "until ");
    if (ended)
        rig_buf_printf(out, "%.6f s", (double)(t->complete_ns - zero_ns) / (double)RIG_NS_PER_S);
    else
        rig_buf_add_char(out, '?');
}

static void add_list(struct rig_buf *out, struct rig_read_list list)
{
    rig_buf_add_char(out, '[');
    for (uint32_t i = 0; i < list.count; i++) {
        if (i > 0)
            rig_buf_add_char(out, ' ');
        if (list.count > RIG_WORDS_LIST_SHOWN && i == 3) {
            rig_buf_add_text(out, "... ");
            i = list.count - 2;
        }
        rig_value_add(out, rig_read_element(&list, i));
    }
    if (list.count > RIG_WORDS_LIST_SHOWN)
        rig_buf_printf(out, " (%" PRIu32 " elements)", list.count);
    rig_buf_add_char(out, ']');
}

static void add_read_result(struct rig_buf *out, const struct rig_history *history, const struct rig_txn_op *op)
{
    if (rig_op_is_ambiguous(op)) {
        rig_buf_add_char(out, ' ');
        rig_shared_value_show(out, op->value);
    } else if (op->read_state == RIG_READ_UNKNOWN)
        rig_buf_add_text(out, " ?");
    else if (op->read_state == RIG_READ_NIL)
        rig_buf_add_text(out, " nil");
    else if (rig_op_reads_sequence(op->kind)) {
        rig_buf_add_char(out, ' ');
        add_list(out, rig_txn_op_list(history, op));
    } else
        rig_buf_printf(out, " %s", RIG_VALUE_SHOWN(op->value));
}

/* The key as a person knows it, without control characters. */
static void add_key(struct rig_buf *out, const struct rig_history *history, uint32_t key)
{
    char text[128];
    rig_history_key_name(history, key, text, sizeof text);
    rig_words_clean(out, text, false);
}

void rig_words_op(struct rig_buf *out, const struct rig_history *history, const struct rig_txn_op *op)
{
    char key[64];
    RIG_REQUIRE(op->kind < RIG_OP_KIND_COUNT);
    rig_history_key_name(history, op->key, key, sizeof key);
    if (rig_row_say_op(op->kind, key, op->value, out))
        return;
    rig_tell(out, "%s ", rig_op_infos[op->kind].name);
    add_key(out, history, op->key);
    if (rig_op_reads(op->kind))
        add_read_result(out, history, op);
    else
        rig_buf_printf(out, " %s", RIG_VALUE_SHOWN(op->value));
}

void rig_words_key(struct rig_buf *out, const struct rig_history *history, uint32_t key)
{
    rig_buf_add_text(out, "key ");
    add_key(out, history, key);
}

const char *rig_words_edge(enum rig_edge_kind kind)
{
    static const char *const names[] = {[RIG_EDGE_WW] = "ww",
                                        [RIG_EDGE_WR] = "wr",
                                        [RIG_EDGE_RW] = "rw",
                                        [RIG_EDGE_PROCESS] = "process",
                                        [RIG_EDGE_REALTIME] = "real-time"};
    RIG_REQUIRE((size_t)kind < sizeof names / sizeof names[0]);
    return names[kind];
}

const char *rig_words_fate(enum rig_fate fate)
{
    return fate == RIG_FATE_HELD ? "held" : fate == RIG_FATE_REFUTED ? "refuted" : "not-refuted";
}

const char *rig_words_valid(const struct rig_verdict *verdict)
{
    if (verdict->valid == RIG_VALID_TRUE)
        return rig_known_explains(verdict) ? "KNOWN" : "VALID";
    return verdict->valid == RIG_VALID_FALSE ? "ANOMALY" : "UNDECIDED";
}

uint64_t rig_words_levels_of(const struct rig_verdict *verdict, enum rig_fate fate)
{
    uint64_t set = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        if (verdict->levels[level].fate == fate)
            set |= RIG_LEVEL_BIT(level);
    return set;
}

uint64_t rig_words_levels_listed(const struct rig_verdict *verdict, uint64_t set)
{
    const uint64_t always = rig_levels_of_reference(), open = rig_words_levels_of(verdict, RIG_FATE_NOT_REFUTED);
    uint64_t listed = always | rig_levels_weakest(rig_words_levels_of(verdict, RIG_FATE_REFUTED)) |
                      rig_levels_strongest(rig_words_levels_of(verdict, RIG_FATE_HELD));
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const struct rig_level_info *info = rig_level_info((enum rig_level)level);
        listed |= ((info->below | info->above) & open & always) == 0 ? open & RIG_LEVEL_BIT(level) : 0;
    }
    return set & listed;
}

void rig_words_levels(struct rig_buf *out, uint64_t set)
{
    bool first = true;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((set & RIG_LEVEL_BIT(level)) == 0)
            continue;
        rig_tell(out, "%s%s", first ? "" : ", ", rig_level_info((enum rig_level)level)->name);
        first = false;
    }
    if (first)
        rig_buf_add_text(out, "none");
}

void rig_words_workload(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_scope *scope = &verdict->scope;
    static const char *const origins[] = {
        [RIG_TYPE_GIVEN] = "given",
        [RIG_TYPE_FOUND] = "found in the file",
        [RIG_TYPE_ASSUMED] = "assumed: no operation of the file tells its type",
    };
    rig_buf_printf(out, "%s (%s)%s%s", rig_data_types[scope->workload].name, origins[scope->type_origin],
                   verdict->prefilled ? ", each key with a row from the start" : "",
                   scope->excerpt ? ", an excerpt: values without a writer were written outside it" : "");
}

void rig_words_initial(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_begun_facts *begun = &verdict->begun;
    if (begun->given.as == RIG_BEGINS_GIVEN)
        rig_buf_printf(out, "%s (given)", RIG_VALUE_SHOWN(begun->given.value));
    else if (begun->taken.count == 1)
        rig_buf_printf(out, "%s on key %s (taken from a first read; nothing writes it)",
                       RIG_VALUE_SHOWN(begun->taken.value), begun->taken.key);
    else if (begun->taken.count > 1)
        rig_buf_printf(out, "of %" PRIu64 " keys, taken from first reads (%s on key %s); nothing writes it",
                       begun->taken.count, RIG_VALUE_SHOWN(begun->taken.value), begun->taken.key);
}

void rig_words_requested(struct rig_buf *out, const struct rig_verdict *verdict)
{
    if (verdict->requested_levels != 0 || verdict->requested_anomalies == 0)
        rig_words_levels(out, verdict->requested_levels);
    bool first = verdict->requested_levels == 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) == 0)
            continue;
        rig_tell(out, "%s%s", first ? "no " : ", no ", rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        first = false;
    }
    if (verdict->durability != NULL && verdict->durability->asked != RIG_PROMISE_NONE)
        rig_tell(out, "%s%s", first ? "" : ", ", rig_promise_names[verdict->durability->asked]);
}

bool rig_words_answers_request(const struct rig_verdict *verdict, enum rig_anomaly anomaly)
{
    for (unsigned asked = 0; asked < RIG_ANOMALY_COUNT; asked++) {
        enum rig_anomaly found;
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(asked)) != 0 &&
            rig_verdict_case_of(verdict, (enum rig_anomaly)asked, &found) && found == anomaly)
            return true;
    }
    return false;
}

/* The requested levels that do not hold, and the requested anomalies that were found. False: there are none. */
static bool add_refuted(struct rig_buf *out, const struct rig_verdict *verdict)
{
    uint64_t refuted = rig_words_levels_of(verdict, RIG_FATE_REFUTED) & verdict->requested_levels;
    bool first = refuted == 0;
    if (!first)
        rig_tell(out, "%l does not hold", refuted);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        enum rig_anomaly found;
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) == 0 ||
            !rig_verdict_case_of(verdict, (enum rig_anomaly)anomaly, &found))
            continue;
        rig_buf_printf(out, "%s%s was found", first ? "" : "; ", rig_anomaly_info(found)->name);
        if (found != anomaly)
            rig_buf_printf(out, ", a case of %s", rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        first = false;
    }
    return !first;
}

void rig_words_broken(struct rig_buf *out, const struct rig_verdict *verdict)
{
    bool first = !add_refuted(out, verdict);
    struct rig_buf conditions;
    rig_buf_init(&conditions, 0);
    rig_conditions_say_broken(&conditions, verdict);
    if (conditions.size > 0)
        rig_buf_printf(out, "%s%s", first ? "" : "; ", rig_buf_text(&conditions));
    first &= conditions.size == 0;
    rig_buf_clear(&conditions);
    rig_certificate_say_broken(&conditions, verdict);
    if (conditions.size > 0)
        rig_buf_printf(out, "%s%s", first ? "" : "; ", rig_buf_text(&conditions));
    first &= conditions.size == 0;
    rig_buf_clear(&conditions);
    rig_durability_say_broken(&conditions, verdict);
    if (conditions.size > 0)
        rig_buf_printf(out, "%s%s", first ? "" : "; ", rig_buf_text(&conditions));
    first &= conditions.size == 0;
    rig_buf_clear(&conditions);
    rig_crashes_say_failed(&conditions, verdict);
    if (conditions.size > 0)
        rig_buf_printf(out, "%s%s", first ? "" : "; ", rig_buf_text(&conditions));
    rig_buf_done(&conditions);
    if (verdict->known != NULL && verdict->known->why_not != NULL)
        rig_tell(out, "; the known issues do not explain it: %c", verdict->known->why_not);
}

void rig_words_acknowledged(struct rig_buf *out, uint64_t count)
{
    rig_tell(out, "%n%s", count, count == 1 ? " acknowledged transaction" : " acknowledged transactions");
}

void rig_words_kept(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const uint64_t held = rig_words_levels_of(verdict, RIG_FATE_HELD) & verdict->requested_levels;
    const uint64_t open = rig_words_levels_of(verdict, RIG_FATE_NOT_REFUTED) & verdict->requested_levels;
    const char *before = "";
    if (held != 0) {
        rig_tell(out, "%l held", held);
        before = "; ";
    }
    if (open != 0) {
        rig_tell(out, "%s%l was not refuted, but is not proven to hold", before, open);
        before = "; ";
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        enum rig_anomaly found;
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) == 0 ||
            rig_verdict_case_of(verdict, (enum rig_anomaly)anomaly, &found))
            continue;
        rig_buf_printf(out, "%sno %s", before, rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        before = ", ";
    }
    if (verdict->durability != NULL && verdict->durability->asked != RIG_PROMISE_NONE &&
        verdict->durability->promises[verdict->durability->asked].fate == RIG_FATE_HELD) {
        rig_tell(out, "%s%s held", before[0] == '\0' ? "" : "; ", rig_promise_names[verdict->durability->asked]);
        before = "; ";
    }
    if (rig_known_explains(verdict)) {
        rig_buf_add_text(out, before[0] == '\0' ? "" : "; ");
        add_refuted(out, verdict);
        rig_buf_add_text(out, ", which the known issues explain (");
        rig_known_names(out, verdict);
        rig_buf_add_char(out, ')');
    }
}

/* Why the verdict is open, and how many transactions the check had. */
static void add_undecided(struct rig_buf *out, const struct rig_verdict *verdict)
{
    rig_tell(out, "%c; ", verdict->unknown_reason == NULL ? "no conclusion" : verdict->unknown_reason);
    rig_words_acknowledged(out, verdict->ok_count);
    rig_buf_add_text(out, verdict->ok_count == 1 ? " was checked" : " were checked");
}

void rig_words_verdict(struct rig_buf *out, const struct rig_verdict *verdict)
{
    rig_buf_printf(out, "%s: ", rig_words_valid(verdict));
    if (verdict->valid == RIG_VALID_UNKNOWN) {
        add_undecided(out, verdict);
        return;
    }
    rig_buf_add_text(out, "in ");
    rig_words_acknowledged(out, verdict->ok_count);
    rig_buf_add_text(out, ", ");
    if (verdict->valid == RIG_VALID_FALSE)
        rig_words_broken(out, verdict);
    else
        rig_words_kept(out, verdict);
}

void rig_words_warnings(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_scope *scope = &verdict->scope;
    const struct rig_effort *effort = &verdict->effort;
    if (verdict->valid == RIG_VALID_UNKNOWN)
        return;
    if (effort->failure != NULL) {
        rig_tell(out, "The run failed: %c. The record up to the failure was checked.\n", effort->failure);
    } else if (effort->interrupted) {
        rig_buf_add_text(out, "The run was interrupted: the record up to that point was checked.\n");
    }
    if (scope->damaged_at > 0) {
        rig_buf_add_text(out, "Note that ");
        rig_scope_say_damage(scope, out);
        rig_buf_add_text(out, ".\n");
    } else if (scope->truncated && scope->ranks.count == 0) {
        rig_buf_add_text(out, "The record was cut: it is complete up to the cut, and only that part was checked.\n");
    }
}

static void add_measure(struct rig_buf *out, double share, double least, const char *what)
{
    rig_buf_printf(out, ", %.3g %% %s (at least %g %%)", share * 100, what, least * 100);
}

void rig_words_evidence(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_effort *effort = &verdict->effort;
    const struct rig_minimum *minimum = &verdict->minimum;
    rig_tell(out, "%n%s%n)", effort->acknowledged,
             effort->known ? " acknowledged in the load (at least " : " acknowledged (at least ",
             minimum->acknowledged);
    if (!effort->known)
        return;
    add_measure(out, effort->load, minimum->load, "of the planned load");
    add_measure(out, effort->answering, minimum->answering, "of its time answered");
}

void rig_words_unread(struct rig_buf *out, uint64_t count, const char *why)
{
    rig_tell(out, "%n%s, so the last versions of their keys may be unobserved", count,
             count == 1 ? " was abandoned" : " were abandoned");
    if (why == NULL || *why == '\0')
        return;
    rig_tell(out, "; the last error: %c", why);
}

/*
 * A contradiction takes two transactions with known effects: at 5 % about one pair in ten lacks one. Those that
 * failed are not counted: a database that was down for long, and refused thousands, makes the others no surer.
 */
bool rig_words_blunt(const struct rig_verdict *verdict)
{
    const uint64_t perhaps = verdict->ok_count + verdict->info_count;
    return verdict->info_count * 20 > perhaps;
}

static void add_latencies(struct rig_buf *out, const struct rig_element_times *times)
{
    rig_buf_add_text(out, "latency of stable elements: ");
    for (size_t i = 0; i < RIG_ELEMENT_QUANTILES; i++)
        rig_tell(out, "%s%d %% %t", i == 0 ? "" : ", ", rig_element_percents[i], times->quantile_ns[i]);
    rig_buf_add_char(out, '\n');
}

void rig_words_elements(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_element_times *times = &verdict->elements;
    if (!times->measured)
        return;
    const struct {
        uint64_t count;
        const char *what;
    } counts[] = {{times->known, " known: "},
                  {times->stable, " stable, "},
                  {times->stale, " of them stale; "},
                  {times->lost, " lost, "},
                  {times->never_read, " never read\n"}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        rig_tell(out, "%n%s", counts[i].count, counts[i].what);
    if (times->stale > 0)
        add_latencies(out, times);
    for (uint32_t i = 0; i < times->worst_count; i++)
        rig_tell(out, "%s%s of key %c %t", i == 0 ? "stalest: " : ", ", RIG_VALUE_SHOWN(times->worst[i].value),
                 times->worst[i].key_name, times->worst[i].latency_ns);
    if (times->worst_count > 0)
        rig_buf_add_char(out, '\n');
}

void rig_words_left_out(const struct rig_scope *scope, struct rig_buf *text)
{
    if (scope->skipped_count == 0)
        return;
    rig_tell(text, "%n%s", scope->skipped_count,
             scope->skipped_count == 1 ? " operation that is not a transaction of a client (nemesis and others)"
                                       : " operations that are not transactions of clients (nemesis and others)");
    const uint64_t lost_count = scope->lost_count - rig_rank_facts_incomplete(&scope->ranks) - scope->excerpt;
    if (lost_count == 0)
        return;
    rig_buf_add_text(text, "; ");
    if (scope->skipped_count == 1) {
        rig_buf_add_text(text, "it may have read or written");
        return;
    }
    rig_tell(text, "%n of them may have read or written", lost_count);
}

void rig_words_ranks(const struct rig_scope *scope, struct rig_buf *text)
{
    const struct rig_rank_facts *ranks = &scope->ranks;
    char bound[RIG_BOUND_TEXT_BYTES];
    if (ranks->count == 0)
        return;
    rig_bound_text(ranks->bound_ns, bound);
    rig_buf_printf(text,
                   "%u; real time across them is known to %s: transactions of different processes that are closer "
                   "count as concurrent",
                   (unsigned)ranks->count, bound);
    for (uint32_t i = 0; i < ranks->count; i++) {
        const struct rig_rank_fact *rank = &ranks->ranks[i];
        if (rank->name == NULL)
            rig_buf_printf(text, "; the record of rank %u is missing", (unsigned)i);
        else if (rank->truncated)
            rig_buf_printf(text, "; the record of rank %u ends early: what it did afterwards is not known",
                           (unsigned)i);
        rig_bound_text(rank->largest_step, bound);
        if (rank->largest_step > 0)
            rig_buf_printf(text, "; the clock of rank %u stepped by %s", (unsigned)i, bound);
    }
}

void rig_words_reused(const struct rig_scope *scope, struct rig_buf *text)
{
    if (scope->reused_count == 0)
        return;
    rig_tell(text, "%n%s", scope->reused_count,
             scope->reused_count == 1
                 ? " transaction has no completion although its process went on; its fate is unknown"
                 : " transactions have no completion although their processes went on; their fate is "
                   "unknown");
}

const char *rig_words_sorted(const struct rig_scope *scope)
{
    return scope->sorted ? "the operations of the file are not in the order of their indices; they were sorted" : "";
}

void rig_words_provenance(struct rig_buf *out, const struct rig_report_provenance *facts)
{
    if (facts->kernel != NULL)
        rig_buf_add_text(out, facts->kernel);
    if (facts->cores > 0)
        rig_buf_printf(out, ", %u core%s", facts->cores, rig_plural(facts->cores));
    if (facts->cpu != NULL && facts->cpu[0] != '\0')
        rig_buf_printf(out, " of %s", facts->cpu);
    if (facts->memory_bytes > 0)
        rig_tell(out, ", %b", (size_t)facts->memory_bytes);
    if (facts->file_system != NULL && facts->file_system[0] != '\0')
        rig_buf_printf(out, ", data on %s", facts->file_system);
}

void rig_words_top_error(struct rig_buf *out, const struct rig_report_run *run)
{
    const struct rig_report_error *top = NULL;
    for (uint32_t i = 0; run != NULL && i < run->error_count; i++)
        top = top == NULL || run->errors[i].count > top->count ? &run->errors[i] : top;
    if (top != NULL)
        rig_tell(out, "%n time%p %c: %c", top->count, top->count, top->code, top->text);
}

const char *rig_words_outcome(const char *outcome)
{
    return strcmp(outcome, "info") == 0 ? "unknown" : outcome;
}
