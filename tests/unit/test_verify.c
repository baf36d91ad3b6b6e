/* The witness verifier accepts the checker's witnesses, and rejects every falsification of them. */
#include "tests/unit/given_history.h"

#include <string.h>

#include "checker/judge/check.h"
#include "checker/prove/witness/verify.h"
#include "history/source/load.h"

struct fixture {
    struct rig_history *history;
    struct rig_verdict *verdict;
    struct rig_verifier *verifier;
};

static void check(struct fixture *f, const char *notation)
{
    struct rig_err err = {0};
    struct rig_check_options options = {.assumptions = RIG_ASSUMES_PREFILLED};
    f->history = given(notation);
    if (rig_check(f->history, &options, &f->verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
    f->verifier = rig_verifier_new(f->history, true);
    assert_non_null(f->verifier);
}

/* From JSON lines. */
static void check_sums(struct fixture *f, enum rig_workload workload, const char *lines)
{
    struct rig_err err = {0};
    struct rig_check_options options = {.assumptions = RIG_ASSUMES_PREFILLED};
    const struct rig_load_options load = {.workload = workload, .workload_given = true};
    if (rig_history_parse("sums", lines, strlen(lines), &load, &f->history, &err) != RIG_OK ||
        rig_check(f->history, &options, &f->verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
    f->verifier = rig_verifier_new(f->history, true);
    assert_non_null(f->verifier);
}

static void done(struct fixture *f)
{
    rig_verifier_free(f->verifier);
    rig_verdict_free(f->verdict);
    rig_history_free(f->history);
}

static enum rig_rc verify(const struct fixture *f, const struct rig_witness *witness)
{
    struct rig_err err = {0};
    enum rig_rc rc = rig_verify_witness(f->verifier, witness, &err);
    assert_true(rc == RIG_OK || (rc == RIG_E_BUG && strstr(err.text, "does not hold") != NULL));
    return rc;
}

static const struct rig_witness *first(const struct fixture *f, enum rig_anomaly anomaly)
{
    assert_true(f->verdict->findings[anomaly].witness_count > 0);
    return &f->verdict->findings[anomaly].witnesses[0];
}

static void every_false_step_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]; ok 3 6-7: ax2; ok 3 8-9: rx[1 2]");
    struct rig_witness witness = *first(&f, RIG_ANOMALY_G2_ITEM);
    assert_int_equal(witness.step_count, 2);
    assert_int_equal(verify(&f, &witness), RIG_OK);
    struct rig_step *steps = witness.steps;
    for (unsigned i = 0; i < 2; i++) {
        struct rig_step kept = steps[i];
        steps[i].to_value++;
        assert_int_equal(verify(&f, &witness), RIG_E_BUG);
        steps[i] = kept;
        steps[i].kind = RIG_EDGE_WR;
        assert_int_equal(verify(&f, &witness), RIG_E_BUG);
        steps[i] = kept;
        steps[i].kind = RIG_EDGE_REALTIME;
        assert_int_equal(verify(&f, &witness), RIG_E_BUG);
        steps[i] = kept;
        steps[i].key = !kept.key;
        assert_int_equal(verify(&f, &witness), RIG_E_BUG);
        steps[i] = kept;
        steps[i].to = given_txn(f.history, 7);
        assert_int_equal(verify(&f, &witness), RIG_E_BUG);
        steps[i] = kept;
        steps[i].from_op = 7;
        assert_int_equal(verify(&f, &witness), RIG_E_BUG);
        steps[i] = kept;
    }
    witness.anomaly = RIG_ANOMALY_G_SINGLE;
    assert_int_equal(verify(&f, &witness), RIG_E_BUG);
    done(&f);
}

/* Histories with each of the non-cyclic anomalies: a witness of any other one is rejected. */
static void every_false_noncyclic_anomaly_is_rejected(void **state)
{
    (void)state;
    static const struct {
        enum rig_anomaly anomaly;
        const char *notation;
    } rows[] = {
        {RIG_ANOMALY_G1A, "ok 0 0-1: ax1; fail 1 2-3: ax2; ok 2 4-5: rx[1 2]"},
        {RIG_ANOMALY_G1B, "ok 0 0-9: ax1 ax2; ok 2 4-5: rx[1]; ok 3 10-11: rx[1 2]"},
        {RIG_ANOMALY_GARBAGE_READ, "ok 0 0-1: ax1; ok 2 4-5: rx[1 9]"},
        {RIG_ANOMALY_DUPLICATE_ELEMENTS, "ok 0 0-1: ax1; ok 2 4-5: rx[1 1]"},
        {RIG_ANOMALY_INCOMPATIBLE_ORDER, "ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1 2]; ok 3 6-7: rx[2]"},
        {RIG_ANOMALY_FRACTURED_APPEND, "ok 0 0-1: ax1 ax2; ok 2 4-5: rx[2]"},
        {RIG_ANOMALY_FUTURE_READ, "ok 0 0-1: rx[1] ax1; ok 2 4-5: rx[1]"},
        {RIG_ANOMALY_INTERNAL, "ok 0 0-1: ax1; ok 1 2-3: rx[] rx[1]; ok 2 4-5: rx[1]"},
        {RIG_ANOMALY_LOST_UPDATE, "ok 0 0-2: rx[] ax1; ok 1 1-3: rx[] ax2; ok 2 4-5: rx[1 2]"},
        {RIG_ANOMALY_DIRTY_UPDATE, "fail 0 0-2: ax1; ok 1 1-3: ax2; ok 2 4-5: rx[1 2]"},
        {RIG_ANOMALY_LOST_APPEND, "ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[2]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f;
        check(&f, rows[i].notation);
        const struct rig_finding *finding = &f.verdict->findings[rows[i].anomaly];
        assert_true(finding->exact);
        assert_int_equal(finding->count, 1);
        struct rig_witness witness = *first(&f, rows[i].anomaly);
        assert_int_equal(verify(&f, &witness), RIG_OK);
        for (unsigned other = 0; other < sizeof rows / sizeof rows[0]; other++) {
            witness.anomaly = rows[other].anomaly;
            bool same = other == i;
            bool also = rows[other].anomaly == RIG_ANOMALY_INTERNAL || rows[i].anomaly == RIG_ANOMALY_INTERNAL;
            if (!same && !also)
                assert_int_equal(verify(&f, &witness), RIG_E_BUG);
        }
        witness.anomaly = rows[i].anomaly;
        witness.key = witness.key == 0 ? 1 : 0;
        assert_int_equal(verify(&f, &witness), RIG_E_BUG);
        done(&f);
    }
}

#define EVENT(type, process, value)                                                                                    \
    "{\"type\":\"" type "\",\"process\":" #process ",\"f\":\"txn\",\"value\":[" value "]}\n"
#define TXN(type, process, question, answer) EVENT("invoke", process, question) EVENT(type, process, answer)
#define INC(type, process, key, amount)                                                                                \
    TXN(type, process, "[\"inc\"," #key "," #amount "]", "[\"inc\"," #key "," #amount "]")

/* A sum that a failed transaction explains: it must have failed, begun in time, and explain the whole difference. */
static void false_explanations_of_sums_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    /* By the order of completion: 4 acknowledged, 2 and 3 failed, the read of 6, and 2 failed too late. */
    check_sums(&f, RIG_WORKLOAD_COUNTER,
               INC("ok", 0, 5, 4) INC("fail", 1, 5, 2) INC("fail", 2, 5, 3)
                   TXN("ok", 3, "[\"r\",5,null]", "[\"r\",5,6]") INC("fail", 4, 5, 2));
    static const enum rig_anomaly anomalies[] = {RIG_ANOMALY_COUNTER_BOUNDS, RIG_ANOMALY_IMPOSSIBLE_VALUE};
    for (size_t i = 0; i < sizeof anomalies / sizeof anomalies[0]; i++) {
        struct rig_witness witness = *first(&f, anomalies[i]);
        assert_int_equal(witness.txn_count, 2);
        assert_int_equal(witness.txns[1], 1);
        assert_int_equal(verify(&f, &witness), RIG_OK);
        for (uint32_t txn = 0; txn < f.history->txn_count; txn++) {
            uint32_t named[] = {witness.txns[0], txn};
            struct rig_witness other = witness;
            other.txns = named;
            assert_int_equal(verify(&f, &other), txn == 1 ? RIG_OK : RIG_E_BUG);
        }
        witness.txn_count = 1; /* without an explanation it holds as well */
        assert_int_equal(verify(&f, &witness), RIG_OK);
    }
    done(&f);
    check_sums(&f, RIG_WORKLOAD_BANK,
               TXN("ok", 0, "[\"r\",0,null],[\"r\",1,null]", "[\"r\",0,50],[\"r\",1,50]") INC("fail", 1, 1, -7)
                   INC("fail", 2, 0, -6) TXN("ok", 3, "[\"r\",0,null],[\"r\",1,null]", "[\"r\",0,50],[\"r\",1,43]"));
    const struct rig_witness *total = first(&f, RIG_ANOMALY_WRONG_TOTAL);
    assert_int_equal(total->txn_count, 3);
    assert_int_equal(verify(&f, total), RIG_OK);
    uint32_t named[] = {total->txns[0], total->txns[1], 2};
    struct rig_witness other = *total;
    other.txns = named;
    assert_int_equal(verify(&f, &other), RIG_E_BUG);
    done(&f);
}

static void unread_appends_must_be_unread(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1]");
    const struct rig_finding *finding = &f.verdict->findings[RIG_ANOMALY_G_SINGLE_REALTIME];
    assert_true(finding->witness_count > 0);
    struct rig_witness witness = finding->witnesses[0];
    assert_int_equal(verify(&f, &witness), RIG_OK);
    for (uint32_t i = 0; i < witness.step_count; i++) {
        if (witness.steps[i].kind != RIG_EDGE_RW)
            continue;
        assert_int_equal(witness.steps[i].order_txn, UINT32_MAX);
        witness.steps[i].to_value = 1; /* which was read */
        assert_int_equal(verify(&f, &witness), RIG_E_BUG);
    }
    done(&f);
}

static void chains_of_unknown_transactions_are_followed(void **state)
{
    (void)state;
    struct fixture f;
    /* Only the next one's read proves each to have committed; an acknowledged transaction reads the last. */
    check(&f, "info 0 0-1: aw1 ry[]; info 1 2-3: rw[1] ax1; info 2 4-5: rx[1] ay1; info 3 6-7: ry[1] az1;"
              "ok 4 8-9: rz[1]; ok 5 10-11: rw[]");
    const struct rig_finding *finding = &f.verdict->findings[RIG_ANOMALY_G_SINGLE];
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        finding = &f.verdict->findings[anomaly];
        for (uint32_t i = 0; i < finding->witness_count; i++)
            assert_int_equal(verify(&f, &finding->witnesses[i]), RIG_OK);
    }
    assert_true(f.verdict->edge_count[RIG_EDGE_WR] >= 4);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_false_step_is_refused),
        cmocka_unit_test(every_false_noncyclic_anomaly_is_rejected),
        cmocka_unit_test(false_explanations_of_sums_are_refused),
        cmocka_unit_test(unread_appends_must_be_unread),
        cmocka_unit_test(chains_of_unknown_transactions_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
