#include "checker/judge/certify.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/thread.h"
#include "checker/evidence/certificate_judge.h"
#include "checker/evidence/claims.h"
#include "checker/evidence/discrepancy_sentence.h"
#include "checker/evidence/list_history.h"
#include "checker/evidence/order_certificate.h"
#include "checker/evidence/row_judge.h"
#include "checker/evidence/snapshot_judge.h"
#include "checker/infer/type_inference.h"
#include "checker/model/verdict.h"
#include "checker/prove/witness/verify_certificate.h"
#include "history/types/types.h"

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the certificate");
}

/* Proves and words the discrepancies that are kept. */
static enum rig_rc settle(const struct rig_history *history, struct rig_certified *certified, struct rig_err *err)
{
    for (unsigned kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++) {
        const uint64_t count = certified->counts[kind];
        for (uint64_t i = 0; i < count && i < RIG_DISCREPANCIES_KEPT; i++) {
            struct rig_discrepancy *found = &certified->kept[kind][i];
            const char *lacks = rig_verify_discrepancy(history, found);
            struct rig_buf text;
            if (lacks != NULL)
                return rig_fail(err, RIG_E_BUG,
                                "a witness of %s does not hold: T%" PRIu32 " %s; please report this history",
                                rig_discrepancy_infos[kind].name, rig_txn_name(history, found->txn), lacks);
            rig_buf_init(&text, 0);
            rig_discrepancy_sentence(history, found, &text);
            found->text = text.failed ? NULL : rig_arena_text(&certified->arena, rig_buf_text(&text), text.size);
            rig_buf_done(&text);
            if (found->text == NULL)
                return no_memory(err);
        }
    }
    return RIG_OK;
}

/* ---- both verdicts ---- */

static uint64_t levels_of(const struct rig_verdict *verdict, enum rig_fate fate)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        levels |= verdict->levels[level].fate == fate ? RIG_LEVEL_BIT(level) : 0;
    return levels;
}

/* The levels held by the reads that a certificate cannot refute without contradicting them. Where nothing was observed
 * any order explains the history; and read uncommitted may be held because a transaction of unknown fate did not
 * commit. */
static uint64_t held_for_certain(const struct rig_verdict *verdict)
{
    if (verdict->unknown_reason != NULL)
        return 0;
    return levels_of(verdict, RIG_FATE_HELD) & ~(verdict->scope.unsettled ? rig_levels_below_committed : 0);
}

/* The certificate's verdict takes the place of the inference's where it refutes all that this one refutes. */
static void take_over(struct rig_verdict *verdict, struct rig_certified *certified)
{
    const struct rig_verdict *by = certified->verdict;
    /* A level that holds in some order of the versions may not hold in the one that is assumed. */
    const uint64_t held = certified->assumed != NULL ? 0 : held_for_certain(verdict);
    if ((levels_of(verdict, RIG_FATE_REFUTED) & levels_of(by, RIG_FATE_HELD)) != 0 ||
        (held & levels_of(by, RIG_FATE_REFUTED)) != 0) {
        certified->agrees = false;
        return;
    }
    if ((levels_of(verdict, RIG_FATE_REFUTED) & ~levels_of(by, RIG_FATE_REFUTED)) != 0 || by->unknown_reason != NULL ||
        verdict->requested_anomalies != 0)
        return;
    certified->decides = true;
    memcpy(verdict->levels, by->levels, sizeof verdict->levels);
    verdict->weakest_refuted = by->weakest_refuted;
    verdict->strongest_unrefuted = by->strongest_unrefuted;
    verdict->valid = by->valid;
    verdict->unknown_reason = NULL;
    verdict->summary = by->summary;
    verdict->spent_levels = by->spent_levels;
    verdict->unproven_levels = by->unproven_levels;
    verdict->too_large_levels = by->too_large_levels;
}

/* The result of the comparison for each transaction. */
struct compared {
    struct rig_certificate_chains chains; /* none where versions are not those of keys */
    struct rig_read_places places;        /* without chains: what is known of transactions and reads */
    const char *lacks;                    /* without chains: why `places` do not decide, or NULL */
    uint8_t *never;
    uint32_t *writers;
};

/* No versions by keys: what remains is to compare snapshots with each other. */
static bool leave_keys(const struct rig_history *history, struct rig_arena *arena,
                       struct rig_certificate_chains *chains)
{
    chains->keys = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof *chains->keys);
    for (uint32_t key = 0; chains->keys != NULL && key < history->key_count; key++)
        chains->keys[key].irregular = true;
    return chains->keys != NULL;
}

static enum rig_rc compare_all(struct rig_certified *certified, const struct rig_type_inference *type,
                               struct compared *compared, struct rig_err *err)
{
    struct rig_history *history = certified->history;
    struct rig_arena *arena = &certified->arena;
    struct rig_comparison comparison = {.history = history, .into = certified};
    compared->never = rig_arena_array(arena, (size_t)history->txn_count + 1, 1);
    compared->writers = rig_arena_array(arena, history->certificate->commits.count + 1, sizeof *compared->writers);
    if (compared->never == NULL || compared->writers == NULL)
        return no_memory(err);
    bool done;
    if (type->certified_by_rows) {
        const enum rig_rc rc = rig_row_judge(&comparison, history, compared->never, compared->writers,
                                             &compared->places, &compared->lacks, err);
        if (rc != RIG_OK)
            return rc;
        done = leave_keys(history, arena, &compared->chains);
    } else {
        done = rig_certificate_chains_build(history, history->certificate, arena, &compared->chains) &&
               rig_certificate_judge(&comparison, &compared->chains, compared->never, compared->writers);
        if (done && !history->certificate->complete && !rig_workload_has_sequences(history->workload))
            compared->lacks = "the certificate is not complete, so it does not order all versions of registers";
    }
    return done && rig_snapshot_judge(&comparison, &compared->chains, compared->writers) ? RIG_OK : no_memory(err);
}

static enum rig_rc judge_again(struct rig_certified *certified, const struct rig_type_inference *type,
                               const struct compared *compared, const struct rig_check_options *options,
                               struct rig_err *err)
{
    struct rig_history *history = certified->history;
    struct rig_check_options again = *options;
    again.assumptions &= RIG_ASSUMES_PREFILLED;
    again.anomalies = 0;
    if (!type->certified_by_rows) {
        if (!rig_certificate_extend(history, &compared->chains, compared->never))
            return no_memory(err);
        return rig_check(history, &again, &certified->verdict, err);
    }
    struct rig_read_places *places = rig_arena_alloc(&certified->arena, sizeof *places);
    if (places == NULL)
        return no_memory(err);
    *places = compared->places;
    history->places = places;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (compared->never[txn])
            history->txns[txn].outcome = RIG_OUTCOME_FAIL;
    }
    return rig_check(history, &again, &certified->verdict, err);
}

/* All but what needs the verdict by reads, which is `verdict` where claims are compared with it. */
static enum rig_rc compare(struct rig_certified *certified, const struct rig_check_options *options,
                           struct rig_verdict *verdict, struct rig_err *err)
{
    const struct rig_history *history = certified->history;
    const struct rig_type_inference *type = rig_type_inference(history->workload);
    struct compared compared = {0};
    if (type == NULL || !type->has_certificates || history->key_texts != NULL)
        return rig_fail(err, RIG_E_INPUT,
                        "a certificate is for lists, registers and tables of rows whose keys are integers");
    enum rig_rc rc = compare_all(certified, type, &compared, err);
    if (rc == RIG_OK)
        rc = settle(history, certified, err);
    certified->agrees = certified->foreign_count == 0;
    for (unsigned kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++)
        certified->agrees &= certified->counts[kind] == 0;
    if (rc == RIG_OK && !type->certified_by_rows && rig_claims_given(history))
        rc = rig_claims_judge(history, &compared.chains, compared.never, options->limit_bytes, verdict, err);
    if (rc != RIG_OK || !certified->agrees)
        return rc;
    if (compared.lacks != NULL) {
        certified->unjudged = rig_arena_text(&certified->arena, compared.lacks, strlen(compared.lacks));
        return certified->unjudged != NULL ? RIG_OK : no_memory(err);
    }
    struct rig_err why = {0};
    rc = judge_again(certified, type, &compared, options, &why);
    if (rc == RIG_OK)
        return RIG_OK;
    certified->unjudged = rig_arena_text(&certified->arena, why.text, strlen(why.text));
    return rc == RIG_E_LIMIT ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}

/* The verdict by reads gets what the comparison found. */
static void join(struct rig_certified *certified, struct rig_verdict *verdict)
{
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        certified->inferred[level] = verdict->levels[level].fate;
    verdict->certified = certified;
    if (certified->verdict != NULL) {
        take_over(verdict, certified);
        /* Snapshots that form a chain, and reads that show them, are snapshot isolation. */
        certified->agrees &= certified->by_snapshots != RIG_FATE_HELD ||
                             verdict->levels[RIG_LEVEL_SNAPSHOT_ISOLATION].fate != RIG_FATE_REFUTED;
    }
    /* The database contradicts itself where its order does not give what it answered; an order that is assumed is no
     * claim about where a read belongs in it. */
    if (!certified->agrees || (certified->assumed == NULL && verdict->findings[RIG_ANOMALY_ORDER_MISMATCH].count > 0))
        verdict->valid = RIG_VALID_FALSE;
}

/* Takes the history. NULL when memory runs out. */
static struct rig_certified *make(struct rig_history *history, const struct rig_check_options *options)
{
    const struct rig_certificate *certificate = history->certificate;
    struct rig_certified *certified = calloc(1, sizeof *certified);
    if (certified == NULL) {
        rig_history_free(history);
        return NULL;
    }
    rig_arena_init(&certified->arena, options->limit_bytes);
    certified->history = history;
    certified->source = certificate->source;
    certified->ending = certificate->ending;
    certified->complete = certificate->complete;
    certified->commit_count = certificate->commits.count;
    certified->change_count = certificate->changes.count;
    return certified;
}

/* Takes the history, and `assumed` where the history's certificate is that. */
static enum rig_rc certify(struct rig_history *history, struct rig_certificate *assumed,
                           const struct rig_check_options *options, struct rig_verdict *verdict, struct rig_err *err)
{
    RIG_REQUIRE(history->certificate != NULL && verdict->certified == NULL);
    struct rig_certified *certified = make(history, options);
    if (certified == NULL) {
        rig_order_certificate_free(assumed);
        return no_memory(err);
    }
    certified->assumed = assumed;
    const enum rig_rc rc = compare(certified, options, verdict, err);
    if (rc == RIG_OK)
        join(certified, verdict);
    else
        rig_certified_free(certified);
    return rc;
}

enum rig_rc rig_certify(struct rig_history *history, const struct rig_check_options *options,
                        struct rig_verdict *verdict, struct rig_err *err)
{
    return certify(history, NULL, options, verdict, err);
}

/* ---- by places ---- */

enum rig_rc rig_certify_order(struct rig_history *history, const struct rig_check_options *options,
                              struct rig_verdict *verdict, struct rig_err *err)
{
    struct rig_certificate *certificate = NULL;
    struct rig_buf lacks;
    rig_buf_init(&lacks, 0);
    enum rig_rc rc = rig_order_certificate_make(history, &certificate, &lacks, err);
    if (rc == RIG_OK && certificate == NULL) {
        rc = rig_claims_judge(history, NULL, NULL, options->limit_bytes, verdict, err);
        if (rc == RIG_OK)
            rc = rig_claims_open(verdict, rig_buf_text(&lacks), err);
        rig_history_free(history);
    } else if (rc == RIG_OK) {
        history->certificate = certificate;
        rc = certify(history, certificate, options, verdict, err);
    } else {
        rig_history_free(history);
    }
    rig_buf_done(&lacks);
    return rc;
}

/* ---- beside the check of the reads ---- */

struct rig_certifying {
    pthread_t thread;
    struct rig_certified *certified;
    struct rig_check_options options;
    enum rig_rc rc;
    struct rig_err err;
};

static void *compare_beside(void *argument)
{
    struct rig_certifying *certifying = argument;
    certifying->rc = compare(certifying->certified, &certifying->options, NULL, &certifying->err);
    return NULL;
}

bool rig_certify_only_reads(const struct rig_history *history)
{
    const struct rig_type_inference *type = rig_type_inference(history->workload);
    bool known = history->certificate != NULL && type != NULL && type->certified_by_rows;
    for (uint32_t txn = 0; known && txn < history->txn_count; txn++)
        known = history->txns[txn].outcome != RIG_OUTCOME_INFO;
    return known;
}

struct rig_certifying *rig_certify_begin(const struct rig_history *history, const struct rig_check_options *options)
{
    struct rig_history *shared = rig_certify_only_reads(history) ? rig_history_share(history) : NULL;
    struct rig_certifying *certifying = shared == NULL ? NULL : calloc(1, sizeof *certifying);
    if (certifying == NULL) {
        rig_history_free(shared);
        return NULL;
    }
    certifying->options = *options;
    certifying->certified = make(shared, options);
    if (certifying->certified != NULL && rig_thread_start(&certifying->thread, compare_beside, certifying) == 0)
        return certifying;
    rig_certified_free(certifying->certified);
    free(certifying);
    return NULL;
}

enum rig_rc rig_certify_end(struct rig_certifying *certifying, struct rig_verdict *verdict, struct rig_err *err)
{
    (void)pthread_join(certifying->thread, NULL);
    const enum rig_rc rc = certifying->rc;
    if (rc == RIG_OK) {
        join(certifying->certified, verdict);
    } else {
        rig_certified_free(certifying->certified);
        (void)rig_fail(err, rc, "%s", certifying->err.text);
    }
    free(certifying);
    return rc;
}

void rig_certify_drop(struct rig_certifying *certifying)
{
    if (certifying == NULL)
        return;
    (void)pthread_join(certifying->thread, NULL);
    rig_certified_free(certifying->certified);
    free(certifying);
}

void rig_certified_free(struct rig_certified *certified)
{
    if (certified == NULL)
        return;
    rig_verdict_free(certified->verdict);
    rig_history_free(certified->history);
    rig_order_certificate_free(certified->assumed);
    rig_arena_done(&certified->arena);
    free(certified);
}
