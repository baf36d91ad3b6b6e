/*
 * The result as the map of Elle (github.com/jepsen-io/elle): data for programs that read Elle's answers. Levels and
 * anomalies have Elle's keywords, because rig's names follow Elle's. Levels that Elle does not have are left out.
 *
 *     {:valid? false,
 *      :anomaly-types (:G2-item),
 *      :anomalies {:G2-item [{:type :G2-item, :transactions [17 23], :steps ["T17 before T23: ..."],
 *                             :explanation "..."}]},
 *      :not #{:repeatable-read},
 *      :also-not #{:serializable :strict-serializable}}
 *
 * `:valid?` is true, false or :unknown, and the anomalies are those that break what is requested; anomalies that the
 * request allows are in `:allowed-anomaly-types`, which Elle has not.
 */
#include <inttypes.h>

#include "base/bug.h"
#include "report/happened.h"
#include "report/report.h"
#include "report/words.h"

/* EDN's escapes are a part of JSON's; other control characters are written as \uXXXX by both. */
static void add_text(struct rig_buf *out, const char *text)
{
    rig_buf_add_char(out, '"');
    for (const char *at = text == NULL ? "" : text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            rig_buf_printf(out, "\\%c", *at);
        else if (*at == '\n')
            rig_buf_add_text(out, "\\n");
        else if ((unsigned char)*at < 0x20 || *at == 0x7f)
            rig_buf_printf(out, "\\u%04x", (unsigned)(unsigned char)*at);
        else
            rig_buf_add_char(out, *at);
    }
    rig_buf_add_char(out, '"');
}

static bool is_broken(const struct rig_verdict *verdict, unsigned anomaly)
{
    const struct rig_finding *finding = &verdict->findings[anomaly];
    if (finding->count == 0)
        return false;
    uint64_t refutes = finding->refutes;
    for (uint32_t i = 0; i < finding->witness_count; i++)
        refutes |= finding->witnesses[i].refutes;
    return (refutes & verdict->requested_levels) != 0 || rig_words_answers_request(verdict, (enum rig_anomaly)anomaly);
}

static void add_types(struct rig_buf *out, const struct rig_verdict *verdict, bool broken)
{
    bool first = true;
    rig_buf_add_char(out, '(');
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (verdict->findings[anomaly].count == 0 || is_broken(verdict, anomaly) != broken)
            continue;
        rig_buf_printf(out, "%s:%s", first ? "" : " ", rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        first = false;
    }
    rig_buf_add_char(out, ')');
}

static void add_witness(struct rig_buf *out, const struct rig_history *history, const struct rig_witness *witness)
{
    rig_buf_printf(out, "{:type :%s, :transactions [", rig_anomaly_info(witness->anomaly)->name);
    bool first = true;
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        if (!rig_witness_shows(witness, i))
            continue;
        rig_buf_printf(out, "%s%" PRIu32, first ? "" : " ", rig_txn_name(history, witness->txns[i]));
        first = false;
    }
    rig_buf_add_text(out, "], :steps [");
    first = true;
    for (uint32_t i = 0; i < witness->step_count; i++) {
        if (witness->steps[i].text == NULL)
            continue;
        rig_buf_add_text(out, first ? "" : " ");
        add_text(out, witness->steps[i].text);
        first = false;
    }
    rig_buf_add_text(out, "], :explanation ");
    add_text(out, witness->text);
    rig_buf_add_char(out, '}');
}

static void add_anomalies(struct rig_buf *out, const struct rig_verdict *verdict)
{
    bool first = true;
    rig_buf_add_char(out, '{');
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        if (!is_broken(verdict, anomaly))
            continue;
        rig_buf_printf(out, "%s:%s [", first ? "" : ",\n             ",
                       rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        first = false;
        for (uint32_t i = 0; i < finding->witness_count; i++) {
            rig_buf_add_text(out, i == 0 ? "" : "\n              ");
            add_witness(out, verdict->history, &finding->witnesses[i]);
        }
        rig_buf_add_char(out, ']');
    }
    rig_buf_add_char(out, '}');
}

static void add_levels(struct rig_buf *out, uint64_t set)
{
    bool first = true;
    rig_buf_add_text(out, "#{");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((set & RIG_LEVEL_BIT(level)) == 0)
            continue;
        rig_buf_printf(out, "%s:%s", first ? "" : " ", rig_level_info((enum rig_level)level)->name);
        first = false;
    }
    rig_buf_add_char(out, '}');
}

void rig_report_edn(const struct rig_verdict *verdict, struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && out != NULL);
    static const char *const words[] = {
        [RIG_VALID_TRUE] = "true", [RIG_VALID_FALSE] = "false", [RIG_VALID_UNKNOWN] = ":unknown"};
    const uint64_t refuted = rig_words_levels_of(verdict, RIG_FATE_REFUTED) & rig_levels_of_reference();
    const uint64_t weakest = rig_levels_weakest_in(verdict->lattice, refuted);
    struct rig_buf happened;
    rig_buf_init(&happened, 0);
    rig_happened_say(&happened, verdict);
    rig_buf_printf(out, "{:valid? %s,\n :anomaly-types ", words[verdict->valid]);
    add_types(out, verdict, true);
    rig_buf_add_text(out, ",\n :anomalies ");
    add_anomalies(out, verdict);
    rig_buf_add_text(out, ",\n :not ");
    add_levels(out, weakest);
    rig_buf_add_text(out, ",\n :also-not ");
    add_levels(out, refuted & ~weakest);
    rig_buf_add_text(out, ",\n :allowed-anomaly-types ");
    add_types(out, verdict, false);
    if (happened.size > 0) {
        rig_buf_add_text(out, ",\n :happened ");
        add_text(out, rig_buf_text(&happened));
    }
    if (verdict->valid == RIG_VALID_UNKNOWN && verdict->unknown_reason != NULL) {
        rig_buf_add_text(out, ",\n :why ");
        add_text(out, verdict->unknown_reason);
    }
    rig_buf_add_text(out, "}\n");
    rig_buf_done(&happened);
}
