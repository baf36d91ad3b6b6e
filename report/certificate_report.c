#include "base/json_members.h"
#include "report/certificate_report.h"

#include <inttypes.h>

#include "checker/model/certified.h"
#include "checker/model/level.h"
#include "report/html_parts.h"
#include "report/tell.h"
#include "report/words.h"

bool rig_certificate_is_broken(const struct rig_verdict *verdict)
{
    return verdict->certified != NULL &&
           (!verdict->certified->agrees || verdict->findings[RIG_ANOMALY_ORDER_MISMATCH].count > 0);
}

void rig_certificate_say_broken(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_certified *certified = verdict->certified;
    const char *before = "the certificate shows ";
    if (!rig_certificate_is_broken(verdict))
        return;
    if (certified->agrees) {
        rig_buf_add_text(out, "the database's own order does not give its answers");
        return;
    }
    for (unsigned kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++) {
        if (certified->counts[kind] == 0)
            continue;
        rig_buf_printf(out, "%s%s", before, rig_discrepancy_infos[kind].name);
        before = ", ";
    }
    if (certified->foreign_count > 0) {
        rig_buf_printf(out, "%scommits that no client made", before);
        before = ", ";
    }
    if (before[0] != ',')
        rig_buf_add_text(out, "the certificate contradicts the inference");
}

/* ---- lines ---- */

static void add_source(struct rig_buf *out, const struct rig_certified *certified)
{
    rig_tell(out, "%c: %n commit%p with %n version%p; ", certified->source, certified->commit_count,
             certified->commit_count, certified->change_count, certified->change_count);
    if (certified->complete)
        rig_tell(out, "complete\n");
    else
        rig_tell(out, "not complete, so a commit that it lacks proves nothing: %c\n", certified->ending);
}

/* Lost commits of a timeline. */
static uint64_t count_lost(const struct rig_certificate *certificate, uint32_t timeline)
{
    uint64_t count = 0;
    for (size_t i = 0; i < rig_certificate_lost_count(certificate); i++)
        count += certificate->lost->commits.at[i].timeline == timeline;
    return count;
}

static void add_forks(struct rig_buf *out, const struct rig_certified *certified)
{
    const struct rig_certificate *certificate = certified->history->certificate;
    for (size_t i = 0; i < certificate->forks.count; i++) {
        const struct rig_fork *fork = &certificate->forks.at[i];
        const uint64_t lost = count_lost(certificate, fork->timeline);
        char place[64];
        rig_certificate_print_place(fork->place, fork->timeline, place);
        rig_tell(out, "failover: timeline %d began at %s, and lost %n commit%p of timeline %d\n", fork->next, place,
                 lost, lost, fork->timeline);
    }
}

static void add_resolved(struct rig_buf *out, const struct rig_certified *certified)
{
    const uint64_t resolved = certified->resolved_ok + certified->resolved_fail;
    rig_tell(out, "unknown outcomes of writing transactions: %n resolved (%n committed, %n did not), %n open", resolved,
             certified->resolved_ok, certified->resolved_fail, certified->open_count);
    if (certified->recovered > 0)
        rig_tell(out, "; their answers lack the rows of %n statement%p, which the commits have", certified->recovered,
                 certified->recovered);
    rig_tell(out, "\n");
}

static void add_views(struct rig_buf *out, const struct rig_certified *certified)
{
    if (certified->view_count == 0)
        return;
    rig_tell(out, "snapshots: %n of %n transaction%p compared", certified->snapshot_count, certified->view_count,
             certified->view_count);
    if (certified->set_aside > 0)
        rig_tell(out, ", %n left out because the server used numbers again", certified->set_aside);
    rig_tell(out, "; reads compared with the state at theirs: %n, with the writer of their row: %n",
             certified->reads_compared, certified->versions_compared);
    if (certified->standby_reads > 0)
        rig_tell(out, "; not compared with a state: %n read%p by condition on standbys", certified->standby_reads,
                 certified->standby_reads);
    rig_tell(out, "\n");
}

static void add_agreement(struct rig_buf *out, const struct rig_certified *certified)
{
    if (certified->agrees)
        rig_buf_add_text(out, "all transactions and reads agree with it\n");
    for (unsigned kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++) {
        if (certified->counts[kind] == 0)
            continue;
        rig_tell(out, "%s: %n: %s\n", rig_discrepancy_infos[kind].name, certified->counts[kind],
                 rig_discrepancy_infos[kind].definition);
    }
    if (certified->foreign_count > 0)
        rig_tell(out, "commits that no client made: %n\n", certified->foreign_count);
}

static const char *fate_word(enum rig_fate fate)
{
    return fate == RIG_FATE_NOT_REFUTED ? "not refuted" : rig_words_fate(fate);
}

/* Whether the fate by reads is the solver's work. */
static bool is_solved(const struct rig_verdict *verdict, unsigned level)
{
    return verdict->work[level].spent_ns > 0;
}

static bool has_solved(const struct rig_verdict *verdict)
{
    bool solved = false;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        solved |= is_solved(verdict, level);
    return solved;
}

/* The fate of a level by snapshots alone: they decide snapshot isolation without a search. */
static const char *snapshots_word(const struct rig_certified *certified, unsigned level)
{
    return level == RIG_LEVEL_SNAPSHOT_ISOLATION ? fate_word(certified->by_snapshots) : "-";
}

/* A row of five columns; those of snapshots and of the solver only where there is some. */
static void add_level(struct rig_buf *out, const struct rig_certified *certified, bool solved,
                      const char *const columns[5])
{
    const bool shown = certified->view_count > 0;
    rig_buf_printf(out, "  %-34s %-12s %-*s", columns[0], columns[1], shown || solved ? 12 : 0, columns[2]);
    if (shown)
        rig_buf_printf(out, " %-*s", solved ? 12 : 0, columns[3]);
    if (solved)
        rig_buf_printf(out, " %s", columns[4]);
}

static void add_levels(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_certified *certified = verdict->certified;
    if (certified->verdict == NULL) {
        if (certified->unjudged != NULL)
            rig_tell(out, "levels: by the inference alone: %c\n", certified->unjudged);
        return;
    }
    const bool solved = has_solved(verdict);
    add_level(out, certified, solved,
              (const char *const[]){"level", "inference", "certificate", "snapshots", "solver"});
    rig_buf_add_char(out, '\n');
    for (unsigned at = RIG_LEVEL_COUNT; at-- > 0;) {
        const enum rig_fate inferred = certified->inferred[at], by = certified->verdict->levels[at].fate;
        const bool contradict = inferred != by && inferred != RIG_FATE_NOT_REFUTED && by != RIG_FATE_NOT_REFUTED;
        const bool by_solver = is_solved(verdict, at);
        add_level(out, certified, solved,
                  (const char *const[]){rig_level_info((enum rig_level)at)->name, by_solver ? "-" : fate_word(inferred),
                                        fate_word(by), snapshots_word(certified, at),
                                        by_solver ? fate_word(inferred) : "-"});
        rig_buf_add_text(out, contradict ? " (they contradict each other)\n" : "\n");
    }
}

void rig_certificate_lines(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_certified *certified = verdict->certified;
    if (certified == NULL)
        return;
    add_source(out, certified);
    add_forks(out, certified);
    add_resolved(out, certified);
    add_views(out, certified);
    add_agreement(out, certified);
    add_levels(out, verdict);
}

bool rig_certificate_is_further(const struct rig_verdict *verdict, enum rig_anomaly anomaly)
{
    const struct rig_verdict *by = verdict->certified == NULL ? NULL : verdict->certified->verdict;
    return by != NULL && by->findings[anomaly].count > 0 && verdict->findings[anomaly].count == 0;
}

void rig_certificate_witnesses(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_certified *certified = verdict->certified;
    if (certified == NULL)
        return;
    for (unsigned kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++) {
        for (uint64_t i = 0; i < certified->counts[kind] && i < RIG_DISCREPANCIES_KEPT; i++)
            rig_tell(out, "%s #%d: %c\n\n", rig_discrepancy_infos[kind].name, i + 1, certified->kept[kind][i].text);
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (!rig_certificate_is_further(verdict, (enum rig_anomaly)anomaly))
            continue;
        const struct rig_witness *first = &certified->verdict->findings[anomaly].witnesses[0];
        rig_words_clean(out, certified->verdict->findings[anomaly].witness_count == 0 ? "" : first->text, true);
        rig_buf_add_text(out, "\n");
    }
}

/* ---- JSON and HTML ---- */

static void add_discrepancies(struct rig_json_writer *w, const struct rig_certified *certified)
{
    rig_json_begin_object(w, "discrepancies");
    for (unsigned kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++) {
        if (certified->counts[kind] == 0)
            continue;
        rig_json_begin_object(w, rig_discrepancy_infos[kind].name);
        rig_json_int(w, "count", (int64_t)certified->counts[kind]);
        rig_json_begin_array(w, "witnesses");
        for (uint64_t i = 0; i < certified->counts[kind] && i < RIG_DISCREPANCIES_KEPT; i++) {
            const struct rig_discrepancy *found = &certified->kept[kind][i];
            rig_json_begin_object(w, NULL);
            rig_json_begin_array(w, "transactions");
            rig_json_int(w, NULL, found->name);
            rig_json_end(w);
            rig_json_string(w, "text", found->text);
            rig_json_end(w);
        }
        rig_json_end(w);
        rig_json_end(w);
    }
    rig_json_end(w);
}

static void write_forks(struct rig_json_writer *w, const struct rig_certificate *certificate)
{
    rig_json_begin_array(w, "failovers");
    for (size_t i = 0; i < certificate->forks.count; i++) {
        const struct rig_fork *fork = &certificate->forks.at[i];
        char place[64];
        rig_certificate_print_place(fork->place, fork->timeline, place);
        rig_json_object(w, NULL, "place: %s, next_timeline: %d, lost_commits: %d", place, fork->next,
                        count_lost(certificate, fork->timeline));
    }
    rig_json_end(w);
}

void rig_certificate_json(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    const struct rig_certified *certified = verdict->certified;
    if (certified == NULL)
        return;
    rig_json_begin_object(w, "certificate");
    rig_json_members(w, "source: %s, complete: %b", certified->source, certified->complete);
    if (!certified->complete)
        rig_json_string(w, "ending", certified->ending);
    rig_json_members(w, "commits: %d, versions: %d", certified->commit_count, certified->change_count);
    if (certified->history->certificate->forks.count > 0)
        write_forks(w, certified->history->certificate);
    rig_json_begin_object(w, "unknown_outcomes");
    rig_json_members(w, "committed: %d, aborted: %d, open: %d", certified->resolved_ok, certified->resolved_fail,
                     certified->open_count);
    if (certified->recovered > 0)
        rig_json_int(w, "recovered_statements", (int64_t)certified->recovered);
    rig_json_end(w);
    if (certified->view_count > 0) {
        rig_json_begin_object(w, "snapshots");
        rig_json_members(w, "views: %d, compared: %d, set_aside: %d, reads_compared: %d, versions_compared: %d",
                         certified->view_count, certified->snapshot_count, certified->set_aside,
                         certified->reads_compared, certified->versions_compared);
        if (certified->standby_reads > 0)
            rig_json_int(w, "standby_reads_left_out", (int64_t)certified->standby_reads);
        rig_json_string(w, "snapshot-isolation", rig_words_fate(certified->by_snapshots));
        rig_json_end(w);
    }
    rig_json_members(w, "agrees: %b, foreign_commits: %d", certified->agrees, certified->foreign_count);
    add_discrepancies(w, certified);
    if (certified->unjudged != NULL)
        rig_json_string(w, "unjudged", certified->unjudged);
    rig_json_bool(w, "decides", certified->decides);
    rig_json_begin_object(w, "levels");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT && certified->verdict != NULL; level++) {
        rig_json_begin_object(w, rig_level_info((enum rig_level)level)->name);
        rig_json_members(w, "inference: %s, certificate: %s", rig_words_fate(certified->inferred[level]),
                         rig_words_fate(certified->verdict->levels[level].fate));
        if (level == RIG_LEVEL_SNAPSHOT_ISOLATION && certified->view_count > 0)
            rig_json_string(w, "snapshots", rig_words_fate(certified->by_snapshots));
        if (is_solved(verdict, level))
            rig_json_string(w, "solver", rig_words_fate(certified->inferred[level]));
        rig_json_end(w);
    }
    rig_json_end(w);
    rig_json_begin_object(w, "further_anomalies");
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (!rig_certificate_is_further(verdict, (enum rig_anomaly)anomaly))
            continue;
        const struct rig_finding *finding = &certified->verdict->findings[anomaly];
        rig_json_begin_object(w, rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        rig_json_int(w, "count", (int64_t)finding->count);
        if (finding->witness_count > 0)
            rig_json_string(w, "text", finding->witnesses[0].text);
        rig_json_end(w);
    }
    rig_json_end(w);
    rig_json_end(w);
}

void rig_certificate_html(struct rig_buf *out, const struct rig_verdict *verdict)
{
    struct rig_buf lines;
    if (verdict->certified == NULL)
        return;
    rig_buf_init(&lines, 0);
    rig_certificate_lines(&lines, verdict);
    rig_buf_add_char(&lines, '\n');
    rig_certificate_witnesses(&lines, verdict);
    rig_html_fold(out, "certificate", "Certificate",
                  verdict->certified->agrees ? "all transactions and reads agree with it" : "it does not agree");
    rig_tell(out, "<pre>%h</pre>\n", rig_buf_text(&lines));
    rig_html_fold_end(out);
    rig_buf_done(&lines);
}
