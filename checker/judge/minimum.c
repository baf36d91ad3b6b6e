#include "checker/judge/minimum.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"
#include "checker/judge/known_issues.h"
#include "checker/model/verdict.h"

uint64_t rig_scope_faults(const struct rig_scope *scope)
{
    uint64_t count = 0;
    for (size_t i = 0; i < scope->fault_count; i++)
        count += scope->faults[i].step == RIG_FAULT_INJECTED && !scope->faults[i].failed &&
                 !rig_fault_event_is_phase(&scope->faults[i]);
    return count;
}

static bool has_faults(const struct rig_scope *scope)
{
    for (size_t i = 0; i < scope->fault_count; i++) {
        if (!rig_fault_event_is_phase(&scope->faults[i]))
            return true;
    }
    return false;
}

void rig_scope_say_damage(const struct rig_scope *scope, struct rig_buf *text)
{
    rig_buf_printf(text, "the record is damaged at byte %" PRIu64 ": the last %" PRIu64 " byte%s", scope->damaged_at,
                   scope->damaged_bytes, rig_plural(scope->damaged_bytes));
    if (scope->damaged_txns > 0)
        rig_buf_printf(text, ", with at least %" PRIu64 " transaction%s,", scope->damaged_txns,
                       rig_plural(scope->damaged_txns));
    rig_buf_printf(text, " %s not checked", rig_was_were(scope->damaged_bytes));
}

static void begin_reason(struct rig_buf *text)
{
    if (text->size > 0)
        rig_buf_add_text(text, "; ");
}

/* Rounded down to a tenth of a percent, so that a share below the minimum never reads as the minimum. */
static void add_percent(struct rig_buf *text, double share)
{
    const double tenths = (double)(int64_t)(share * 1000 + 1e-9);
    rig_buf_printf(text, "%g %%", tenths / 10);
}

static void say_record(const struct rig_verdict *verdict, struct rig_buf *text)
{
    const struct rig_scope *scope = &verdict->scope;
    if (scope->damaged_at > 0) {
        begin_reason(text);
        rig_scope_say_damage(scope, text);
    } else if (scope->truncated && verdict->minimum.load > 0 && scope->ranks.count == 0) {
        begin_reason(text);
        rig_buf_add_text(text, "the record was cut, and does not show the end of the run");
    }
}

static void say_lost(const struct rig_verdict *verdict, struct rig_buf *text)
{
    const struct rig_rank_facts *ranks = &verdict->scope.ranks;
    const uint64_t count = verdict->scope.lost_count - rig_rank_facts_incomplete(ranks) - verdict->scope.excerpt;
    for (uint32_t i = 0; i < ranks->count; i++) {
        if (ranks->ranks[i].name != NULL && !ranks->ranks[i].truncated)
            continue;
        begin_reason(text);
        rig_buf_printf(text, "the record of rank %u %s, so other ranks may have read what it wrote", (unsigned)i,
                       ranks->ranks[i].name == NULL ? "is missing" : "ends early");
    }
    if (verdict->scope.excerpt) {
        begin_reason(text);
        rig_buf_add_text(text, "the history is an excerpt, and transactions outside it may have read or written");
    }
    if (count == 0)
        return;
    begin_reason(text);
    rig_buf_printf(text,
                   "%" PRIu64 " operation%s that may have read or written %s omitted, because %s process is not a "
                   "client or %s value is not a transaction",
                   count, rig_plural(count), rig_was_were(count), count == 1 ? "its" : "their",
                   count == 1 ? "its" : "their");
}

static void say_shares(const struct rig_verdict *verdict, struct rig_buf *text)
{
    const struct rig_minimum *minimum = &verdict->minimum;
    const struct rig_effort *effort = &verdict->effort;
    if (effort->lost && minimum->load > 0) {
        begin_reason(text);
        rig_buf_add_text(text, "the run was ended before it wrote results.json, so the share of its load that was "
                               "carried out is unknown");
    }
    if (!effort->known)
        return;
    if (effort->load < minimum->load) {
        begin_reason(text);
        rig_buf_add_text(text, effort->interrupted ? "the run was interrupted when " : "");
        add_percent(text, effort->load);
        rig_buf_add_text(text, " of the planned load was carried out (minimum.load: ");
        add_percent(text, minimum->load);
        rig_buf_add_char(text, ')');
    }
    if (effort->answering < minimum->answering) {
        begin_reason(text);
        rig_buf_add_text(text, "the database answered during ");
        add_percent(text, effort->answering);
        rig_buf_add_text(text, " of the load's time (minimum.answering: ");
        add_percent(text, minimum->answering);
        rig_buf_add_char(text, ')');
    }
}

static void say_acknowledged(const struct rig_verdict *verdict, struct rig_buf *text)
{
    const uint64_t got = verdict->effort.acknowledged, least = verdict->minimum.acknowledged;
    const bool said = !verdict->effort.known && verdict->unknown_reason != NULL; /* that nothing was observed */
    if (got >= least || said)
        return;
    begin_reason(text);
    rig_buf_printf(text, "%" PRIu64 " transaction%s%s %s acknowledged (minimum.acknowledged: %" PRIu64 ")", got,
                   rig_plural(got), verdict->effort.known ? " of the load" : "", rig_was_were(got), least);
}

/* The likely reason of too little evidence. */
static void say_error(const struct rig_verdict *verdict, struct rig_buf *text)
{
    const struct rig_effort *effort = &verdict->effort;
    if (text->size == 0 || effort->error_code == NULL || effort->error_count == 0)
        return;
    rig_buf_printf(text, "; the error that clients got most often, %" PRIu64 " time%s, is %s", effort->error_count,
                   rig_plural(effort->error_count), effort->error_code);
    if (effort->error_text != NULL && effort->error_text[0] != '\0')
        rig_buf_printf(text, ": %s", effort->error_text);
}

/* The plan has faults and none took effect: the database was tested without them. */
static void say_faults(const struct rig_verdict *verdict, struct rig_buf *text)
{
    const bool wanted = verdict->effort.planned_faults > 0 || has_faults(&verdict->scope);
    if (!wanted || rig_scope_faults(&verdict->scope) > 0)
        return;
    begin_reason(text);
    rig_buf_add_text(text, "none of the plan's faults took effect");
}

static void say_unproven(const struct rig_verdict *verdict, struct rig_buf *text)
{
    for (unsigned level = 0; level < RIG_LEVEL_COUNT && verdict->minimum.held; level++) {
        const struct rig_level_result *result = &verdict->levels[level];
        if ((verdict->requested_levels & RIG_LEVEL_BIT(level)) == 0 || result->fate != RIG_FATE_NOT_REFUTED)
            continue;
        begin_reason(text);
        rig_buf_printf(text, "%s is not proven to hold, as `require: held` demands (%s)",
                       rig_level_info((enum rig_level)level)->name, result->reason);
    }
}

/* A known issue that has to appear: without it, the run may not have reached what it is about. */
static void say_missing_issues(const struct rig_verdict *verdict, struct rig_buf *text)
{
    const struct rig_known_issues *known = verdict->known;
    for (uint32_t i = 0; known != NULL && known->required && i < known->count; i++) {
        if (known->outcomes[i].witness_count > 0)
            continue;
        begin_reason(text);
        rig_buf_printf(text, "the known issue %s did not appear, as `known-required` demands",
                       known->outcomes[i].issue->name);
    }
}

static char *keep(const struct rig_verdict *verdict, const struct rig_buf *text)
{
    struct rig_verdict_storage *storage = verdict->storage;
    return text->failed ? NULL : rig_arena_text(&storage->arena, rig_buf_text(text), text->size);
}

static enum rig_rc out_of_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the verdict");
}

/* The program's conditions that a requested level guarantees: a broken one refutes what was requested. */
static void weigh_conditions(struct rig_verdict *verdict, struct rig_buf *text)
{
    for (uint32_t i = 0; i < verdict->effort.condition_count; i++) {
        const struct rig_table_condition *condition = &verdict->effort.conditions[i];
        if ((condition->guaranteed_by & verdict->requested_levels) == 0)
            continue;
        if (condition->broken > 0) {
            verdict->valid = RIG_VALID_FALSE;
            verdict->unknown_reason = NULL;
        }
        if (condition->problem == NULL)
            continue;
        begin_reason(text);
        rig_buf_printf(text, "the condition %s was not checked: %s", condition->name, condition->problem);
    }
}

/* A server that crashed is a bug of the database, whatever its transactions show. */
static void weigh_crashes(struct rig_verdict *verdict)
{
    for (uint32_t i = 0; i < verdict->effort.crash_count; i++) {
        if (!verdict->effort.crashes[i].fails)
            continue;
        verdict->valid = RIG_VALID_FALSE;
        verdict->unknown_reason = NULL;
    }
}

/* `text`: how the evidence falls short. */
static enum rig_rc conclude(struct rig_verdict *verdict, struct rig_buf *text, struct rig_err *err)
{
    if (text->size == 0 && !text->failed)
        return RIG_OK;
    verdict->shortfall = keep(verdict, text);
    if (verdict->shortfall == NULL)
        return out_of_memory(err);
    if (verdict->valid == RIG_VALID_FALSE)
        return RIG_OK;
    if (verdict->unknown_reason != NULL)
        rig_buf_printf(text, "; %s", verdict->unknown_reason);
    verdict->unknown_reason = keep(verdict, text);
    verdict->valid = RIG_VALID_UNKNOWN;
    return verdict->unknown_reason != NULL ? RIG_OK : out_of_memory(err);
}

enum rig_rc rig_verdict_weigh(struct rig_verdict *verdict, const struct rig_minimum *minimum,
                              const struct rig_effort *effort, struct rig_err *err)
{
    RIG_REQUIRE(verdict != NULL && verdict->storage != NULL && minimum != NULL && verdict->shortfall == NULL);
    verdict->minimum = *minimum;
    verdict->effort = effort != NULL ? *effort : (struct rig_effort){.known = false};
    if (!verdict->effort.known)
        verdict->effort.acknowledged = verdict->ok_count;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    if (verdict->effort.failure != NULL)
        rig_buf_printf(&text, "the run failed: %s", verdict->effort.failure);
    say_record(verdict, &text);
    say_lost(verdict, &text);
    say_shares(verdict, &text);
    say_acknowledged(verdict, &text);
    say_error(verdict, &text);
    say_faults(verdict, &text);
    say_unproven(verdict, &text);
    say_missing_issues(verdict, &text);
    weigh_conditions(verdict, &text);
    weigh_crashes(verdict);
    const enum rig_rc rc = conclude(verdict, &text, err);
    rig_buf_done(&text);
    return rc;
}
