#include "tests/unit/cmocka_first.h"

#include "report/headline.h"
#include "tests/unit/hand_verdict.h"

static void assert_claim(const struct rig_verdict *verdict, const struct rig_report_run *run, const char *expected)
{
    const struct rig_headline headline = rig_headline_pick(verdict);
    struct rig_buf claim;
    rig_buf_init(&claim, 0);
    rig_headline_claim(&claim, verdict, run, &headline);
    assert_string_equal(rig_buf_text(&claim), expected);
    rig_buf_done(&claim);
}

static void claims_in_one_sentence(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    struct rig_report_run run = {.driver = "postgres", .server = "PostgreSQL 15.4", .isolation = "serializable"};
    assert_claim(&hand.verdict, NULL, "This history does not keep serializable: it shows G2-item (write-skew).");
    assert_claim(&hand.verdict, &run,
                 "PostgreSQL 15.4, asked for serializable, does not keep serializable: it shows G2-item (write-skew).");
    run.server = run.isolation = NULL;
    assert_claim(&hand.verdict, &run, "postgres does not keep serializable: it shows G2-item (write-skew).");

    hand.verdict.requested_levels = 0;
    hand.verdict.requested_anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_G2_ITEM);
    assert_claim(&hand.verdict, NULL, "This history: G2-item was found.");

    hand.verdict.valid = RIG_VALID_TRUE;
    hand.verdict.requested_anomalies = 0;
    hand.verdict.requested_levels = RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED);
    assert_claim(&hand.verdict, NULL, "This history kept read-committed in 3 acknowledged transactions.");
    assert_int_equal(rig_headline_fate(&hand.verdict), RIG_FATE_HELD);

    hand.verdict.levels[RIG_LEVEL_READ_COMMITTED].fate = RIG_FATE_NOT_REFUTED;
    assert_claim(
        &hand.verdict, &run,
        "In 3 acknowledged transactions of postgres, read-committed was not refuted, but is not proven to hold.");
    assert_int_equal(rig_headline_fate(&hand.verdict), RIG_FATE_NOT_REFUTED);

    hand.verdict.valid = RIG_VALID_UNKNOWN;
    hand.verdict.unknown_reason = (char *)"nothing was observed";
    assert_claim(&hand.verdict, &run, "Undecided: nothing was observed.");
    assert_int_equal(rig_headline_fate(&hand.verdict), RIG_FATE_NOT_REFUTED);
    hand_verdict_done(&hand);
}

/* A witness of more transactions loses, however much it refutes; among short ones the one that refutes more wins. */
static void picks_the_most_telling(void **state)
{
    (void)state;
    struct hand_verdict hand;
    hand_verdict_skew(&hand);
    struct rig_finding *other = &hand.verdict.findings[RIG_ANOMALY_G_SINGLE];
    hand.witnesses[1] = hand.witnesses[0];
    hand.witnesses[1].anomaly = RIG_ANOMALY_G_SINGLE;
    hand.witnesses[1].refutes = rig_level_info(RIG_LEVEL_CONSISTENT_VIEW)->above | hand.witnesses[0].refutes;
    hand.witnesses[1].txn_count = 3;
    *other = (struct rig_finding){.count = 1, .witnesses = &hand.witnesses[1], .witness_count = 1};
    assert_ptr_equal(rig_headline_pick(&hand.verdict).witness, &hand.witnesses[1]);
    hand.witnesses[1].txn_count = RIG_HEADLINE_SHORT + 1;
    assert_ptr_equal(rig_headline_pick(&hand.verdict).witness, &hand.witnesses[0]);
    hand.witnesses[0].txn_count = RIG_HEADLINE_SHORT + 2;
    assert_ptr_equal(rig_headline_pick(&hand.verdict).witness, &hand.witnesses[1]);

    /* what refutes no requested level shows nothing of the claim */
    hand.witnesses[1].refutes = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE);
    assert_ptr_equal(rig_headline_pick(&hand.verdict).witness, &hand.witnesses[0]);
    hand.verdict.valid = RIG_VALID_TRUE;
    assert_null(rig_headline_pick(&hand.verdict).witness);
    hand_verdict_done(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_in_one_sentence),
        cmocka_unit_test(picks_the_most_telling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
