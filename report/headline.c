#include "report/headline.h"

#include "checker/model/certified.h"
#include "report/certificate_report.h"
#include "report/happened.h"
#include "report/known_report.h"
#include "report/tell.h"
#include "report/words.h"

static bool is_asked(const struct rig_verdict *verdict, const struct rig_witness *witness)
{
    return (witness->refutes & verdict->requested_levels) != 0 || rig_words_answers_request(verdict, witness->anomaly);
}

/* Whether `a` tells more than `b`. */
static bool is_better(const struct rig_witness *a, const struct rig_witness *b)
{
    const uint32_t a_length = a->txn_count < RIG_HEADLINE_SHORT ? RIG_HEADLINE_SHORT : a->txn_count;
    const uint32_t b_length = b->txn_count < RIG_HEADLINE_SHORT ? RIG_HEADLINE_SHORT : b->txn_count;
    if (a_length != b_length)
        return a_length < b_length;
    const int a_levels = __builtin_popcountll(a->refutes), b_levels = __builtin_popcountll(b->refutes);
    return a_levels != b_levels ? a_levels > b_levels : a->txn_count < b->txn_count;
}

/* `of` has the requests of `verdict`, or is the certificate's verdict on the same history. `only`: an anomaly, whether
 * it is requested or not; RIG_ANOMALY_COUNT: any that is. */
static void consider(struct rig_headline *best, const struct rig_verdict *verdict, const struct rig_verdict *of,
                     enum rig_anomaly only)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &of->findings[anomaly];
        if (finding->count == 0 || (only != RIG_ANOMALY_COUNT && only != (enum rig_anomaly)anomaly) ||
            (of != verdict && !rig_certificate_is_further(verdict, (enum rig_anomaly)anomaly)))
            continue;
        for (uint32_t i = 0; i < finding->witness_count; i++) {
            const struct rig_witness *witness = &finding->witnesses[i];
            if ((only == RIG_ANOMALY_COUNT && !is_asked(verdict, witness)) ||
                (best->witness != NULL && !is_better(witness, best->witness)))
                continue;
            best->witness = witness;
            best->history = of->history;
            best->number = i + 1;
            best->is_by_certificate = of != verdict;
        }
    }
}

static const char *first_discrepancy(const struct rig_certified *certified)
{
    for (unsigned kind = 0; certified != NULL && kind < RIG_DISCREPANCY_COUNT; kind++) {
        if (certified->counts[kind] > 0)
            return certified->kept[kind][0].text;
    }
    return NULL;
}

struct rig_headline rig_headline_pick(const struct rig_verdict *verdict)
{
    struct rig_headline best = {0};
    if (verdict->valid != RIG_VALID_FALSE)
        return best;
    const enum rig_anomaly happened = rig_happened_first(verdict);
    const bool certified = verdict->certified != NULL && verdict->certified->verdict != NULL;
    if (happened != RIG_ANOMALY_COUNT)
        consider(&best, verdict, verdict, happened);
    if (happened != RIG_ANOMALY_COUNT && best.witness == NULL && certified)
        consider(&best, verdict, verdict->certified->verdict, happened);
    if (best.witness != NULL)
        return best;
    consider(&best, verdict, verdict, RIG_ANOMALY_COUNT);
    if (certified)
        consider(&best, verdict, verdict->certified->verdict, RIG_ANOMALY_COUNT);
    /* Lost commits break durability; the witnesses of the loss show one each. */
    static const enum rig_anomaly losses[] = {RIG_ANOMALY_LOST_APPEND, RIG_ANOMALY_LOST_WRITE,
                                              RIG_ANOMALY_LOST_ELEMENT};
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        if (best.witness == NULL && rig_durability_is_broken(verdict->durability))
            consider(&best, verdict, verdict, losses[i]);
    }
    if (best.witness == NULL)
        best.text = first_discrepancy(verdict->certified);
    return best;
}

static uint64_t asked_with(const struct rig_verdict *verdict, enum rig_fate fate)
{
    return rig_words_levels_of(verdict, fate) & verdict->requested_levels;
}

enum rig_fate rig_headline_fate(const struct rig_verdict *verdict)
{
    if (verdict->valid == RIG_VALID_FALSE || rig_known_explains(verdict))
        return RIG_FATE_REFUTED;
    return verdict->valid == RIG_VALID_TRUE && asked_with(verdict, RIG_FATE_NOT_REFUTED) == 0 ? RIG_FATE_HELD
                                                                                              : RIG_FATE_NOT_REFUTED;
}

static void add_subject(struct rig_buf *out, const struct rig_report_run *run)
{
    const char *name = run == NULL ? NULL : run->server != NULL && run->server[0] != '\0' ? run->server : run->driver;
    if (name == NULL || name[0] == '\0')
        name = "This history";
    rig_words_clean(out, name, false);
    if (run != NULL && run->isolation != NULL)
        rig_tell(out, ", asked for %c,", run->isolation);
}

static void add_kept(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    if (verdict->requested_levels != 0 && verdict->requested_anomalies == 0 &&
        asked_with(verdict, RIG_FATE_HELD) == verdict->requested_levels) {
        add_subject(out, run);
        rig_tell(out, " kept %l in ", verdict->requested_levels);
        rig_words_acknowledged(out, verdict->ok_count);
        return;
    }
    rig_buf_add_text(out, "In ");
    rig_words_acknowledged(out, verdict->ok_count);
    if (run != NULL) {
        rig_buf_add_text(out, " of ");
        add_subject(out, run);
        if (run->isolation == NULL)
            rig_buf_add_char(out, ',');
    } else {
        rig_buf_add_char(out, ',');
    }
    rig_buf_add_char(out, ' ');
    rig_words_kept(out, verdict);
}

static void add_broken(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_report_run *run,
                       const struct rig_headline *headline)
{
    const uint64_t refuted = asked_with(verdict, RIG_FATE_REFUTED);
    add_subject(out, run);
    if (refuted == 0) {
        rig_buf_add_text(out, run != NULL && run->isolation != NULL ? " is broken: " : ": ");
        rig_words_broken(out, verdict);
        return;
    }
    const uint64_t weakest = rig_levels_weakest_in(verdict->lattice, refuted);
    rig_tell(out, " does not keep %l", weakest);
    if (headline->witness == NULL)
        return;
    enum rig_anomaly anomaly = headline->witness->anomaly;
    if ((headline->witness->refutes & weakest) == 0)
        anomaly = verdict->levels[__builtin_ctzll(weakest)].because;
    const char *plain = rig_anomaly_plain(anomaly);
    rig_buf_printf(out, ": it shows %s", rig_anomaly_info(anomaly)->name);
    if (plain != NULL)
        rig_buf_printf(out, " (%s)", plain);
}

void rig_headline_claim(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_report_run *run,
                        const struct rig_headline *headline)
{
    switch (verdict->valid) {
    case RIG_VALID_FALSE:
        add_broken(out, verdict, run, headline);
        break;
    case RIG_VALID_TRUE:
        add_kept(out, verdict, run);
        break;
    case RIG_VALID_UNKNOWN:
        rig_buf_add_text(out, "Undecided: ");
        rig_words_clean(out, verdict->unknown_reason == NULL ? "no conclusion" : verdict->unknown_reason, false);
        break;
    }
    rig_buf_add_char(out, '.');
}
