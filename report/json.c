/*
 * The JSON report. Keys come in a fixed order; new ones are only ever added. Numbers that may pass 2^53 (the seed) are
 * texts, so that no reader rounds them. A long cycle has its ends, its "length", and how many
 * transactions and steps are "left_out" between them; rig_report_steps() has all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/json_members.h"
#include "base/version.h"
#include "checker/explain/case_outline.h"
#include "checker/explain/sentence.h"
#include "checker/judge/minimum.h"
#include "checker/model/object_words.h"
#include "history/model/value_texts.h"
#include "history/types/types.h"
#include "report/certificate_report.h"
#include "report/charts.h"
#include "report/claims_report.h"
#include "report/own_levels.h"
#include "report/conditions.h"
#include "report/durability_report.h"
#include "report/episodes.h"
#include "report/happened.h"
#include "report/known_report.h"
#include "report/report.h"
#include "report/run_facts.h"
#include "report/sent.h"
#include "report/server_crashes.h"
#include "report/server_log.h"
#include "report/words.h"

static void add_levels(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    rig_json_begin_object(w, "levels");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        rig_json_string(w, rig_level_info((enum rig_level)level)->name, rig_words_fate(verdict->levels[level].fate));
    rig_json_end(w);
    rig_json_begin_array(w, "not");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        if ((verdict->weakest_refuted & RIG_LEVEL_BIT(level)) != 0)
            rig_json_string(w, NULL, rig_level_info((enum rig_level)level)->name);
    rig_json_end(w);
}

static void add_reasons(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    rig_json_begin_object(w, "reasons");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        rig_json_text(w, rig_level_info((enum rig_level)level)->name, verdict->levels[level].reason);
    rig_json_end(w);
}

static void add_key(struct rig_json_writer *w, const struct rig_history *history, uint32_t key)
{
    if (history->key_texts == NULL) {
        rig_json_int(w, "key", history->keys[key]);
        if (history->row_names != NULL) {
            char row[128];
            rig_history_key_name(history, key, row, sizeof row);
            rig_json_string(w, "row", row);
        }
        return;
    }
    rig_json_string(w, "key", history->key_texts[history->keys[key]]);
}

/* An integer; another value as its text. */
static void add_shown(struct rig_json_writer *w, const char *name, int64_t value)
{
    const char *text = rig_value_text(value);
    if (text == NULL)
        rig_json_int(w, name, value);
    else
        rig_json_string(w, name, text);
}

static void add_edge(struct rig_json_writer *w, const struct rig_history *history, const struct rig_step *step)
{
    rig_json_begin_object(w, NULL);
    rig_json_members(w, "from: %d, to: %d, kind: %s", rig_txn_name(history, step->from),
                     rig_txn_name(history, step->to), rig_words_edge(step->kind));
    if (step->kind != RIG_EDGE_PROCESS && step->kind != RIG_EDGE_REALTIME) {
        add_key(w, history, step->key);
        if (step->kind == RIG_EDGE_RW) {
            /* what `from` read is in its operation: an empty list has no last element */
            const struct rig_txn_op *op =
                step->from_op == UINT32_MAX ? NULL : rig_txn_ops(history, step->from) + step->from_op;
            if (op == NULL || op->read_state != RIG_READ_SEEN ||
                (rig_op_reads_sequence(op->kind) && rig_txn_op_list(history, op).count == 0))
                rig_json_null(w, "from_value");
            else
                add_shown(w, "from_value", step->from_value);
        } else {
            add_shown(w, "from_value", step->from_value);
        }
        if (step->kind == RIG_EDGE_WR)
            rig_json_null(w, "to_value");
        else
            add_shown(w, "to_value", step->to_value);
    }
    rig_json_end(w);
}

/* The phases and the faults that were under way; nothing when none was. */
static void add_during(struct rig_json_writer *w, const struct rig_history *history,
                       const struct rig_episodes *episodes, const struct rig_witness *witness)
{
    bool any = false;
    for (size_t i = 0; i < episodes->phases.count + episodes->of.count; i++) {
        const struct rig_episode *episode =
            i < episodes->phases.count ? &episodes->phases.at[i] : &episodes->of.at[i - episodes->phases.count];
        if (!rig_episode_touches(episode, history, witness))
            continue;
        if (!any)
            rig_json_begin_array(w, "during");
        any = true;
        struct rig_buf name;
        rig_buf_init(&name, 0);
        rig_episode_name(&name, episodes, episode);
        rig_json_string(w, NULL, rig_buf_text(&name));
        rig_buf_done(&name);
    }
    if (any)
        rig_json_end(w);
}

/* The next transaction or step that is shown. */
static uint32_t next_shown(const struct rig_witness *witness, uint32_t at)
{
    return rig_witness_shows(witness, at + 1) ? at + 1 : witness->txn_count - RIG_WITNESS_ENDS;
}

static void add_column(struct rig_json_writer *w, const char *name, const struct rig_history *history, uint32_t txn,
                       enum rig_column column)
{
    const int64_t value = rig_history_column(history, txn, column);
    if (value != RIG_COLUMN_NONE && rig_column_infos[column].type == RIG_COLUMN_NAME)
        rig_json_text(w, name, rig_history_column_name(history, txn, column));
    else if (value != RIG_COLUMN_NONE)
        rig_json_int(w, name, value);
}

/* [[start, end], ...] of the operations, in ns after the invocation. */
static void add_times(struct rig_json_writer *w, struct rig_spans times)
{
    if (times.count == 0)
        return;
    rig_json_begin_array(w, "times_ns");
    for (uint32_t i = 0; i < times.count; i++) {
        rig_json_begin_array(w, NULL);
        rig_json_int(w, NULL, times.at[2 * i]);
        rig_json_int(w, NULL, times.at[2 * i + 1]);
        rig_json_end(w);
    }
    rig_json_end(w);
}

/* Why a transaction failed, the node that answered it, the times, and how long it was held. */
static void add_answer(struct rig_json_writer *w, const struct rig_history *history, uint32_t txn)
{
    char utc[RIG_UTC_BYTES], reason[RIG_REASON_BYTES];
    rig_json_begin_object(w, NULL);
    rig_json_members(w, "transaction: %d, process: %d", rig_txn_name(history, txn), history->txns[txn].process);
    if (rig_txn_is_rolled_back(history, txn))
        rig_json_bool(w, "rolled_back_on_purpose", true);
    else if (rig_answered_reason(history, txn, reason))
        rig_json_string(w, "failed", reason);
    add_column(w, "level", history, txn, RIG_COLUMN_LEVEL);
    add_column(w, "node", history, txn, RIG_COLUMN_NODE);
    add_column(w, "member", history, txn, RIG_COLUMN_MEMBER);
    add_column(w, "backend", history, txn, RIG_COLUMN_BACKEND);
    add_column(w, "order", history, txn, RIG_COLUMN_ORDER);
    if (rig_answered_utc(history->start_utc_ns, history->txns[txn].invoke_ns, utc))
        rig_json_string(w, "invoked", utc);
    if (rig_answered_utc(history->start_utc_ns, history->txns[txn].complete_ns, utc))
        rig_json_string(w, "completed", utc);
    add_column(w, "held_ns", history, txn, RIG_COLUMN_HELD);
    add_column(w, "held_before", history, txn, RIG_COLUMN_HELD_BEFORE);
    add_column(w, "savepoint", history, txn, RIG_COLUMN_SAVEPOINT);
    add_column(w, "committed_meanwhile", history, txn, RIG_COLUMN_MEANWHILE);
    add_times(w, rig_history_times(history, txn));
    rig_json_end(w);
}

static void add_answers(struct rig_json_writer *w, const struct rig_history *history, const struct rig_witness *witness)
{
    char reason[RIG_REASON_BYTES];
    bool any = history->columns != NULL || history->start_utc_ns != 0;
    for (uint32_t i = 0; !any && i < witness->txn_count; i = next_shown(witness, i))
        any = rig_answered_reason(history, witness->txns[i], reason);
    if (!any)
        return;
    rig_json_begin_array(w, "answers");
    for (uint32_t i = 0; i < witness->txn_count; i = next_shown(witness, i))
        add_answer(w, history, witness->txns[i]);
    rig_json_end(w);
}

/* The keys that both transactions of a case write. */
static void add_shared_keys(struct rig_json_writer *w, const struct rig_history *history, const struct rig_case *line)
{
    rig_json_begin_array(w, "keys");
    for (uint32_t key = 0; key < history->key_count; key++) {
        if (!rig_sentence_writes(history, line->before, key) || !rig_sentence_writes(history, line->after, key))
            continue;
        if (history->key_texts == NULL)
            rig_json_int(w, NULL, history->keys[key]);
        else
            rig_json_string(w, NULL, history->key_texts[history->keys[key]]);
    }
    rig_json_end(w);
}

static void add_case(struct rig_json_writer *w, const struct rig_history *history, const struct rig_cases *cases,
                     const struct rig_case_place *places, uint32_t at)
{
    const struct rig_case *line = &cases->lines[at];
    struct rig_buf number;
    rig_buf_init(&number, 0);
    rig_case_number(places, at, &number);
    rig_json_begin_object(w, NULL);
    rig_json_members(w, "kind: %s, number: %s", line->kind == RIG_CASE_SUPPOSE ? "suppose" : "cycle",
                     rig_buf_text(&number));
    rig_buf_done(&number);
    if (line->kind == RIG_CASE_SUPPOSE) {
        rig_json_members(w, "before: %d, after: %d", rig_txn_name(history, line->before),
                         rig_txn_name(history, line->after));
        add_shared_keys(w, history, line);
    }
    if (line->opening != NULL)
        rig_json_text(w, "opening", line->opening);
    if (line->kind == RIG_CASE_CYCLE) {
        rig_json_begin_array(w, "steps");
        for (uint32_t i = line->first_step; i < line->first_step + line->step_count; i++)
            rig_json_text(w, NULL, cases->steps[i].text);
        rig_json_end(w);
        rig_json_begin_array(w, "edges");
        for (uint32_t i = line->first_step; i < line->first_step + line->step_count; i++)
            add_edge(w, history, &cases->steps[i]);
        rig_json_end(w);
        rig_json_text(w, "closing", line->closing);
    }
    rig_json_end(w);
}

/* A proof by cases: its lines, in their order. */
static void add_cases(struct rig_json_writer *w, const struct rig_history *history, const struct rig_cases *cases)
{
    struct rig_case_place *places = rig_case_outline(cases);
    rig_json_members(w, "level: %s, minimal: %b", rig_level_info(cases->level)->name, cases->minimal);
    rig_json_begin_array(w, "cases");
    for (uint32_t line = 0; places != NULL && line < cases->line_count; line++)
        add_case(w, history, cases, places, line);
    rig_json_end(w);
    w->buf->failed = w->buf->failed || places == NULL;
    free(places);
}

/* An object that is not linearizable: the operation that cannot take effect, and what is known of the moment before. */
static void add_blocked(struct rig_json_writer *w, const struct rig_history *history, const struct rig_witness *witness)
{
    const struct rig_blocked *blocked = witness->blocked;
    rig_json_begin_object(w, "blocked");
    rig_json_int(w, "transaction", rig_txn_name(history, witness->txns[0]));
    if (blocked->value_count > 0) {
        rig_json_begin_array(w, "values");
        for (uint32_t i = 0; i < blocked->value_count; i++)
            rig_json_string(w, NULL, RIG_VALUE_SHOWN(blocked->values[i]));
        rig_json_end(w);
        const char *phenomenon = rig_object_phenomenon(history, witness);
        if (phenomenon != NULL)
            rig_json_string(w, "phenomenon", phenomenon);
        rig_json_end(w);
        return;
    }
    rig_json_members(w, "explained: %d, state_count: %d", blocked->explained, blocked->state_count);
    rig_json_begin_array(w, "states");
    for (uint32_t i = 0; i < blocked->state_shown; i++)
        rig_json_string(w, NULL, blocked->states[i]);
    rig_json_end(w);
    rig_json_int(w, "open_count", blocked->open_count);
    rig_json_begin_array(w, "open");
    for (uint32_t i = 1; i < witness->txn_count; i++)
        rig_json_int(w, NULL, rig_txn_name(history, witness->txns[i]));
    rig_json_end(w);
    rig_json_end(w);
}

/* Lines of the servers' logs around it. */
static void add_log(struct rig_json_writer *w, const struct rig_server_logs *logs, const struct rig_witness *witness)
{
    const char *lines[RIG_SERVER_LOG_LINES];
    const unsigned count = rig_server_logs_best(logs, witness, RIG_SERVER_LOG_LINES, true, lines);
    if (count == 0)
        return;
    rig_json_begin_array(w, "server_log");
    for (unsigned i = 0; i < count; i++)
        rig_json_string(w, NULL, lines[i]);
    rig_json_end(w);
}

static void add_witness(struct rig_json_writer *w, const struct rig_history *history,
                        const struct rig_episodes *episodes, const struct rig_server_logs *logs,
                        const struct rig_witness *witness)
{
    rig_json_begin_object(w, NULL);
    rig_json_begin_array(w, "transactions");
    for (uint32_t i = 0; i < witness->txn_count; i = next_shown(witness, i))
        rig_json_int(w, NULL, rig_txn_name(history, witness->txns[i]));
    rig_json_end(w);
    if (rig_witness_is_long(witness))
        rig_json_members(w, "length: %d, left_out: %d", witness->txn_count, witness->txn_count - 2 * RIG_WITNESS_ENDS);
    rig_json_begin_array(w, "steps");
    for (uint32_t i = 0; i < witness->step_count; i = next_shown(witness, i))
        rig_json_text(w, NULL, witness->steps[i].text);
    rig_json_end(w);
    rig_json_text(w, "text", witness->text);
    rig_json_begin_array(w, "edges");
    for (uint32_t i = 0; i < witness->step_count; i = next_shown(witness, i))
        add_edge(w, history, &witness->steps[i]);
    rig_json_end(w);
    rig_json_begin_array(w, "refutes");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        if ((witness->refutes & RIG_LEVEL_BIT(level)) != 0)
            rig_json_string(w, NULL, rig_level_info((enum rig_level)level)->name);
    rig_json_end(w);
    if (witness->key != UINT32_MAX && witness->key < history->key_count)
        add_key(w, history, witness->key);
    if (witness->cases != NULL)
        add_cases(w, history, witness->cases);
    if (witness->blocked != NULL)
        add_blocked(w, history, witness);
    add_answers(w, history, witness);
    rig_sent_witness_json(w, history, witness);
    add_during(w, history, episodes, witness);
    add_log(w, logs, witness);
    rig_json_end(w);
}

static void add_anomalies(struct rig_json_writer *w, const struct rig_verdict *verdict,
                          const struct rig_episodes *episodes, const struct rig_server_logs *logs)
{
    rig_json_begin_object(w, "anomalies");
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        if (finding->count == 0)
            continue;
        rig_json_begin_object(w, rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        rig_json_members(w, "count: %d, exact: %b", finding->count, finding->exact);
        if (rig_anomaly_plain((enum rig_anomaly)anomaly) != NULL)
            rig_json_string(w, "plain", rig_anomaly_plain((enum rig_anomaly)anomaly));
        rig_json_begin_array(w, "witnesses");
        for (uint32_t i = 0; i < finding->witness_count; i++)
            add_witness(w, verdict->history, episodes, logs, &finding->witnesses[i]);
        rig_json_end(w);
        rig_json_end(w);
    }
    rig_json_end(w);
}

static void add_time(struct rig_json_writer *w, const char *name, int64_t ns)
{
    if (ns == RIG_NO_TIME)
        rig_json_null(w, name);
    else
        rig_json_int(w, name, ns);
}

/* A history without phases has none. */
static void add_phases(struct rig_json_writer *w, const struct rig_episodes *episodes)
{
    if (episodes->phases.count == 0)
        return;
    rig_json_begin_array(w, "phases");
    for (size_t i = 0; i < episodes->phases.count; i++) {
        const struct rig_episode *phase = &episodes->phases.at[i];
        rig_json_begin_object(w, NULL);
        rig_json_text(w, "name", phase->targets);
        add_time(w, "from_ns", phase->from_ns);
        if (phase->healed) {
            add_time(w, "to_ns", phase->to_ns);
            rig_json_members(w, "ok: %d, fail: %d, info: %d", phase->ok, phase->fail, phase->info);
        }
        rig_json_end(w);
    }
    rig_json_end(w);
}

/* A history without faults has none. */
static void add_faults(struct rig_json_writer *w, const struct rig_episodes *episodes)
{
    if (episodes->of.count == 0)
        return;
    rig_json_begin_array(w, "faults");
    for (size_t i = 0; i < episodes->of.count; i++) {
        const struct rig_episode *episode = &episodes->of.at[i];
        rig_json_begin_object(w, NULL);
        rig_json_members(w, "injection: %d, fault: %s, targets: %s", episode->injection, episode->fault,
                         episode->targets);
        add_time(w, "from_ns", episode->from_ns);
        add_time(w, "to_ns", episode->to_ns);
        rig_json_members(w, "took_effect: %b, healed: %b, failed: %b, withdrawn: %b, evidence: %s",
                         episode->took_effect, episode->healed, episode->failed, episode->withdrawn, episode->text);
        if (episode->counted)
            rig_json_members(w, "ok: %d, fail: %d, info: %d, ok_in_effect: %d", episode->ok, episode->fail,
                             episode->info, episode->effect_ok);
        rig_json_end(w);
    }
    rig_json_end(w);
}

static void add_ranks(struct rig_json_writer *w, const struct rig_rank_facts *ranks)
{
    if (ranks->count == 0)
        return;
    rig_json_int(w, "realtime_bound_ns", ranks->bound_ns);
    rig_json_begin_array(w, "ranks");
    for (uint32_t i = 0; i < ranks->count; i++) {
        const struct rig_rank_fact *rank = &ranks->ranks[i];
        rig_json_object(w, NULL, "missing: %b, truncated: %b, transactions: %d, error_ns: %d, largest_step_ns: %d",
                        rank->name == NULL, rank->truncated, rank->txn_count, rank->error_ns, rank->largest_step);
    }
    rig_json_end(w);
}

static void add_history(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    const struct rig_scope *scope = &verdict->scope;
    char utc[RIG_UTC_BYTES];
    rig_json_begin_object(w, "history");
    rig_json_members(w, "operations: %d, transactions: %d, ok: %d, fail: %d, info: %d, skipped: %d", scope->op_count,
                     scope->txn_count, verdict->ok_count, verdict->fail_count, verdict->info_count,
                     scope->skipped_count);
    add_ranks(w, &scope->ranks);
    const uint64_t lost_count = scope->lost_count - rig_rank_facts_incomplete(&scope->ranks) - scope->excerpt;
    if (scope->excerpt)
        rig_json_bool(w, "excerpt", true);
    if (lost_count > 0)
        rig_json_int(w, "lost", (int64_t)lost_count);
    if (scope->reused_count > 0)
        rig_json_int(w, "reused", (int64_t)scope->reused_count);
    if (scope->sorted)
        rig_json_bool(w, "sorted", true);
    rig_json_bool(w, "truncated", scope->truncated);
    if (rig_answered_utc(scope->start_utc_ns, 0, utc))
        rig_json_string(w, "started", utc);
    if (scope->damaged_at > 0)
        rig_json_int(w, "damaged-at", (int64_t)scope->damaged_at);
    if (scope->damaged_at > 0)
        rig_json_int(w, "damaged-bytes", (int64_t)scope->damaged_bytes);
    if (scope->damaged_txns > 0)
        rig_json_int(w, "damaged-transactions", (int64_t)scope->damaged_txns);
    rig_json_end(w);
    rig_json_begin_object(w, "edges");
    for (unsigned kind = RIG_EDGE_WW; kind <= RIG_EDGE_RW; kind++)
        rig_json_int(w, rig_words_edge((enum rig_edge_kind)kind), (int64_t)verdict->edge_count[kind]);
    rig_json_end(w);
}

static void add_stale_key(struct rig_json_writer *w, const struct rig_stale_element *stale)
{
    const bool is_text = stale->key_form == RIG_KEY_TEXT || stale->key_form == RIG_KEY_KEYWORD;
    if (is_text)
        rig_json_string(w, "key", stale->key_name + (stale->key_form == RIG_KEY_KEYWORD)); /* without the colon */
    else
        rig_json_int(w, "key", stale->key);
    if (stale->key_form == RIG_KEY_ROW)
        rig_json_string(w, "row", stale->key_name);
}

/* When the elements of sets became visible. */
static void add_elements(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    const struct rig_element_times *times = &verdict->elements;
    if (!times->measured)
        return;
    rig_json_begin_object(w, "elements");
    rig_json_members(w, "attempted: %d, known: %d, stable: %d, stale: %d, lost: %d, never_read: %d", times->attempted,
                     times->known, times->stable, times->stale, times->lost, times->never_read);
    rig_json_begin_array(w, "stable_latency_ms");
    for (size_t i = 0; i < RIG_ELEMENT_QUANTILES; i++)
        rig_json_object(w, NULL, "percent: %d, ms: %f", rig_element_percents[i], (double)times->quantile_ns[i] / 1e6);
    rig_json_end(w);
    rig_json_begin_array(w, "worst_stale");
    for (uint32_t i = 0; i < times->worst_count; i++) {
        const struct rig_stale_element *stale = &times->worst[i];
        rig_json_begin_object(w, NULL);
        add_stale_key(w, stale);
        add_shown(w, "value", stale->value);
        rig_json_members(w, "transaction: %d, ms: %f", stale->writer, (double)stale->latency_ns / 1e6);
        rig_json_end(w);
    }
    rig_json_end(w);
    rig_json_end(w);
}

static void add_share(struct rig_json_writer *w, const char *name, bool known, double share)
{
    if (known)
        rig_json_number(w, name, share);
    else
        rig_json_null(w, name);
}

/* The shares of a bare history are null. */
static void add_evidence(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    const struct rig_effort *effort = &verdict->effort;
    const struct rig_minimum *minimum = &verdict->minimum;
    rig_json_begin_object(w, "evidence");
    rig_json_int(w, "acknowledged", (int64_t)effort->acknowledged);
    add_share(w, "load", effort->known, effort->load);
    add_share(w, "answering", effort->known, effort->answering);
    rig_json_int(w, "faults_in_effect", (int64_t)rig_scope_faults(&verdict->scope));
    rig_json_object(w, "minimum", "acknowledged: %d, load: %f, answering: %f, require: %s", minimum->acknowledged,
                    minimum->load, minimum->answering, minimum->held ? "held" : "not-refuted");
    rig_json_text(w, "shortfall", verdict->shortfall);
    rig_json_end(w);
}

static const char *why_open(const struct rig_verdict *verdict, uint64_t level)
{
    if (((verdict->scope.apart | verdict->scope.unfit) & level) != 0)
        return (verdict->scope.unfit & level) != 0 ? "memory" : "windows";
    if ((verdict->unproven_levels & level) != 0)
        return "proof";
    return (verdict->too_large_levels & level) != 0 ? "memory" : "budget";
}

/* A level that the solver left open: its time for it, and what has no order. */
static void add_open_level(struct rig_json_writer *w, const struct rig_verdict *verdict, enum rig_level level)
{
    const struct rig_level_effort *work = &verdict->work[level];
    rig_json_begin_object(w, NULL);
    rig_json_members(w, "level: %s, why: %s, spent_s: %f, pairs: %d, open_pairs: %d", rig_level_info(level)->name,
                     why_open(verdict, RIG_LEVEL_BIT(level)), (double)work->spent_ns / (double)RIG_NS_PER_S,
                     work->pairs, work->open_pairs);
    if (work->has_example) {
        rig_json_begin_array(w, "transactions");
        rig_json_int(w, NULL, work->first);
        rig_json_int(w, NULL, work->second);
        rig_json_end(w);
        rig_json_string(w, "key", work->key);
    }
    rig_json_end(w);
}

static void add_decision(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    rig_json_begin_object(w, "decision");
    rig_json_members(w, "lattice: %s, budget_s: %f", rig_lattice_name(verdict->lattice),
                     (double)verdict->budget_ns / (double)RIG_NS_PER_S);
    rig_json_begin_array(w, "spent");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        if ((verdict->spent_levels & RIG_LEVEL_BIT(level)) != 0 && verdict->levels[level].fate == RIG_FATE_NOT_REFUTED)
            rig_json_string(w, NULL, rig_level_info((enum rig_level)level)->name);
    rig_json_end(w);
    rig_json_begin_array(w, "open");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const uint64_t open = verdict->spent_levels | verdict->scope.apart | verdict->scope.unfit;
        if ((open & RIG_LEVEL_BIT(level)) != 0 && verdict->levels[level].fate == RIG_FATE_NOT_REFUTED)
            add_open_level(w, verdict, (enum rig_level)level);
    }
    rig_json_end(w);
    rig_json_end(w);
}

static void add_cost(struct rig_json_writer *w, const struct rig_cost *cost)
{
    rig_json_begin_object(w, "cost");
    rig_json_members(w,
                     "read_ms: %f, infer_ms: %f, search_ms: %f, solver_ms: %f, planned_bytes: %d, peak_bytes: %d, "
                     "windows: %d, passes: %d",
                     cost->read_ms, cost->infer_ms, cost->search_ms, cost->solver_ms, cost->planned_bytes,
                     cost->peak_bytes, cost->window_count, cost->pass_count);
    if (cost->process_count > 0)
        rig_json_int(w, "processes", cost->process_count);
    rig_json_end(w);
}

void rig_report_steps(const struct rig_verdict *verdict, const struct rig_witness *witness, struct rig_buf *out)
{
    for (uint32_t i = 0; i < witness->step_count; i++) {
        struct rig_json_writer w;
        rig_json_init(&w, out);
        add_edge(&w, verdict->history, &witness->steps[i]);
        rig_buf_add_char(out, '\n');
    }
}

static const char *const type_origins[] = {
    [RIG_TYPE_GIVEN] = "given", [RIG_TYPE_FOUND] = "found", [RIG_TYPE_ASSUMED] = "assumed"};

static void add_begun(struct rig_json_writer *w, const char *origin, const struct rig_begun *begun)
{
    if (begun->count == 0)
        return;
    rig_json_begin_object(w, NULL);
    rig_json_string(w, "value", RIG_VALUE_SHOWN(begun->value));
    rig_json_string(w, "origin", origin);
    rig_json_int(w, "keys", (int64_t)begun->count);
    rig_json_string(w, "key", begun->key);
    rig_json_end(w);
}

/* The values that registers begin with, unless all begin with nil. */
static void add_initial(struct rig_json_writer *w, const struct rig_begun_facts *begun)
{
    const bool given = begun->given.as == RIG_BEGINS_GIVEN;
    if (!given && begun->taken.count == 0 && begun->doubted.count == 0)
        return;
    rig_json_begin_array(w, "initial");
    if (given) {
        rig_json_begin_object(w, NULL);
        rig_json_string(w, "value", RIG_VALUE_SHOWN(begun->given.value));
        rig_json_string(w, "origin", "given");
        rig_json_end(w);
    }
    add_begun(w, "taken", &begun->taken);
    add_begun(w, "in doubt", &begun->doubted);
    rig_json_end(w);
}

void rig_report_json(const struct rig_verdict *verdict, const struct rig_report_run *run,
                     const struct rig_course *course, struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && out != NULL);
    struct rig_json_writer w;
    rig_json_init_indented(&w, out, 1, 4);
    rig_json_begin_object(&w, NULL);
    rig_json_int(&w, "schema", RIG_REPORT_SCHEMA);
    rig_json_object(&w, "rig", "version: %s, commit: %s", rig_version(), rig_commit());
    if (verdict->valid == RIG_VALID_UNKNOWN)
        rig_json_string(&w, "valid", "unknown");
    else
        rig_json_bool(&w, "valid", verdict->valid == RIG_VALID_TRUE);
    if (verdict->valid == RIG_VALID_UNKNOWN)
        rig_json_text(&w, "unknown_reason", verdict->unknown_reason);
    rig_json_members(&w, "workload: %s, workload_origin: %s", rig_data_types[verdict->scope.workload].name,
                     type_origins[verdict->scope.type_origin]);
    if (verdict->prefilled)
        rig_json_bool(&w, "prefilled", true);
    add_initial(&w, &verdict->begun);
    rig_json_text(&w, "summary", verdict->summary);
    rig_happened_json(&w, verdict);
    rig_json_begin_array(&w, "requested");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        if ((verdict->requested_levels & RIG_LEVEL_BIT(level)) != 0)
            rig_json_string(&w, NULL, rig_level_info((enum rig_level)level)->name);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) != 0)
            rig_json_string(&w, NULL, rig_anomaly_info((enum rig_anomaly)anomaly)->name);
    rig_json_end(&w);
    add_evidence(&w, verdict);
    if (verdict->undecided_anomalies != 0) {
        rig_json_begin_array(&w, "undecided");
        for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
            if ((verdict->undecided_anomalies & RIG_ANOMALY_BIT(anomaly)) != 0)
                rig_json_string(&w, NULL, rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        rig_json_end(&w);
    }
    add_levels(&w, verdict);
    add_decision(&w, verdict);
    struct rig_episodes episodes;
    rig_episodes_init(&episodes, verdict);
    add_anomalies(&w, verdict, &episodes, run == NULL ? NULL : run->logs);
    add_phases(&w, &episodes);
    rig_certificate_json(&w, verdict);
    rig_claims_json(&w, verdict);
    rig_own_levels_json(&w, verdict);
    rig_known_json(&w, verdict);
    rig_conditions_json(&w, verdict);
    rig_durability_json(&w, verdict);
    rig_crashes_json(&w, verdict);
    add_faults(&w, &episodes);
    rig_episodes_done(&episodes);
    add_history(&w, verdict);
    add_elements(&w, verdict);
    if (run != NULL)
        rig_run_json(&w, run);
    if (course != NULL)
        rig_chart_json(&w, course);
    add_reasons(&w, verdict);
    add_cost(&w, &verdict->cost);
    rig_json_end(&w);
    rig_buf_add_char(out, '\n');
}
