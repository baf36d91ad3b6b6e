#include "checker/judge/findings_private.h"

#include <string.h>

#include "base/clock.h"
#include "checker/objects/object_decide.h"
#include "checker/objects/object_sequential.h"

/* A witness whose proof takes too long leaves its object open. */
static enum rig_rc keep_object(const struct rig_findings_adding *a, struct rig_witness *witness,
                               struct rig_objects_decided *decided)
{
    struct rig_finding *finding = &a->findings->of[witness->anomaly];
    struct rig_err why = {0};
    const struct rig_findings_adding trying = {a->findings, a->judge, a->verifier, &why};
    const enum rig_rc rc = rig_findings_settle(&trying, true, witness);
    if (witness->blocked != NULL)
        witness->blocked->from = NULL;
    if (rc == RIG_E_LIMIT) {
        decided->refuted--;
        decided->open++;
        return RIG_OK;
    }
    if (rc != RIG_OK)
        return rig_fail(a->err, rc, "%s", why.text);
    return rig_findings_put(a->findings, finding, finding->witness_count, witness) ? RIG_OK
                                                                                   : rig_findings_no_memory(a->err);
}

/* Takes over registers that begin with another value, or may. */
static enum rig_rc note_begun(const struct rig_findings_adding *a, const struct rig_object_begun *from,
                              struct rig_begun *begun)
{
    char key[RIG_BEGUN_KEY_BYTES];
    rig_history_key_name(a->judge->history, from->key, key, sizeof key);
    if (begun->count == 0)
        *begun = (struct rig_begun){.value = from->value, .key = rig_arena_text(a->findings->arena, key, strlen(key))};
    begun->count += from->count;
    return begun->key != NULL ? RIG_OK : rig_findings_no_memory(a->err);
}

/* Counts elements that were lost, given twice or never added, and keeps witnesses. */
static enum rig_rc keep_elements(const struct rig_findings_adding *a, struct rig_objects_decided *decided)
{
    const struct rig_delivery_found *delivery = &decided->delivery;
    enum rig_rc rc = RIG_OK;
    for (unsigned i = 0; i < RIG_DELIVERY_COUNT; i++) {
        struct rig_finding *finding = &a->findings->of[rig_delivery_anomalies[i]];
        finding->count += delivery->count[i];
        finding->exact = !decided->delivery_open && (i != RIG_DELIVERY_LOST || !delivery->open);
    }
    for (uint32_t i = 0; rc == RIG_OK && i < delivery->kept_count; i++) {
        struct rig_witness *witness = &delivery->witnesses[i];
        struct rig_finding *finding = &a->findings->of[witness->anomaly];
        rc = rig_findings_settle(a, true, witness);
        if (rc == RIG_OK && !rig_findings_put(a->findings, finding, finding->witness_count, witness))
            rc = rig_findings_no_memory(a->err);
    }
    return rc;
}

/* The levels that an order of all operations holds which keeps the order of each process. */
static uint64_t sequential_levels(void)
{
    return rig_level_info(RIG_LEVEL_STRONG_SESSION_SERIALIZABLE)->below;
}

bool rig_sequential_asked(uint64_t levels)
{
    return (levels & sequential_levels()) != 0;
}

/* Objects that may not be linearizable, of a history that is whole. A refutation whose proof takes too long leaves it
 * open. */
static enum rig_rc decide_sequential(const struct rig_findings_adding *a, int64_t deadline_ns)
{
    enum { BRIEF_STEPS = 1 << 20 };
    struct rig_findings *findings = a->findings;
    struct rig_finding *finding = &findings->of[RIG_ANOMALY_NONSEQUENTIAL];
    struct rig_sequential sequential;
    struct rig_err why = {0};
    const struct rig_findings_adding trying = {findings, a->judge, a->verifier, &why};
    const struct rig_object_search_limits limits = {deadline_ns, findings->limit_bytes,
                                                    findings->asks_sequential ? 0 : BRIEF_STEPS};
    enum rig_rc rc = rig_objects_sequential(a->judge->history, a->judge->inference.initial, &limits, findings->arena,
                                            &sequential, a->err);
    if (rc == RIG_OK && sequential.doubted.count > 0)
        rc = note_begun(a, &sequential.doubted, &findings->begun.doubted);
    if (rc != RIG_OK)
        return rc;
    findings->sequential =
        findings->asks_sequential || sequential.doubted.count > 0 ? RIG_SEQUENTIAL_SPENT : RIG_SEQUENTIAL_BRIEF;
    if (sequential.answer == RIG_OBJECT_LINEARIZABLE)
        findings->sequential = RIG_SEQUENTIAL_HELD;
    rc =
        sequential.answer == RIG_OBJECT_REFUTED ? rig_findings_settle(&trying, true, &sequential.witness) : RIG_E_LIMIT;
    if (rc == RIG_E_LIMIT)
        return RIG_OK;
    if (rc != RIG_OK)
        return rig_fail(a->err, rc, "%s", why.text);
    findings->sequential = RIG_SEQUENTIAL_REFUTED;
    finding->count = 1;
    finding->exact = false;
    return rig_findings_put(findings, finding, 0, &sequential.witness) ? RIG_OK : rig_findings_no_memory(a->err);
}

/* After the last judgement. */
static enum rig_rc end_objects(const struct rig_findings_adding *a, int64_t deadline_ns)
{
    struct rig_findings *findings = a->findings;
    const bool linearizable = findings->of[RIG_ANOMALY_NONLINEARIZABLE].count == 0 && findings->open_objects == 0 &&
                              findings->begun.doubted.count == 0 && a->judge->history->has_invocations;
    enum rig_rc rc = RIG_OK;
    if (linearizable || (findings->objects != NULL && !findings->objects->is_last))
        return RIG_OK;
    if (findings->objects == NULL)
        rc = decide_sequential(a, deadline_ns);
    else
        findings->sequential = RIG_SEQUENTIAL_PARTS;
    if (findings->sequential == RIG_SEQUENTIAL_HELD)
        findings->spent &= ~sequential_levels();
    else if (findings->sequential == RIG_SEQUENTIAL_SPENT)
        findings->spent |= sequential_levels();
    else if (findings->sequential == RIG_SEQUENTIAL_PARTS && findings->asks_sequential)
        findings->apart |= sequential_levels();
    return rc;
}

enum rig_rc rig_findings_decide_objects(const struct rig_findings_adding *a)
{
    struct rig_findings *findings = a->findings;
    struct rig_finding *finding = &findings->of[RIG_ANOMALY_NONLINEARIZABLE];
    struct rig_objects_decided decided;
    const int64_t start_ns = rig_clock_now_ns();
    const struct rig_objects_limits limits = {start_ns + findings->budget_ns, findings->limit_bytes,
                                              findings->most_kept - finding->witness_count, findings->most_kept};
    enum rig_rc rc = rig_objects_decide(a->judge->inference.history, a->judge->inference.initial, findings->objects,
                                        &limits, findings->arena, &decided, a->err);
    for (uint32_t i = 0; rc == RIG_OK && i < decided.witness_count; i++)
        rc = keep_object(a, &decided.witnesses[i], &decided);
    if (rc == RIG_OK)
        rc = keep_elements(a, &decided);
    if (rc != RIG_OK)
        return rc;
    finding->count += decided.refuted;
    findings->open_objects += decided.open;
    if (decided.taken.count > 0)
        rc = note_begun(a, &decided.taken, &findings->begun.taken);
    if (rc == RIG_OK && decided.doubted.count > 0)
        rc = note_begun(a, &decided.doubted, &findings->begun.doubted);
    if (rc != RIG_OK)
        return rc;
    finding->exact = findings->open_objects == 0 && findings->begun.doubted.count == 0;
    if (findings->open_objects > 0 || findings->begun.doubted.count > 0)
        findings->spent = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1;
    rc = end_objects(a, limits.deadline_ns);
    const int64_t took_ns = rig_clock_now_ns() - start_ns;
    findings->decide_ns += took_ns;
    findings->budget_ns -= took_ns < findings->budget_ns ? took_ns : findings->budget_ns;
    return rc;
}
