#include "tests/unit/run_stage.h"

#include "nemesis/faults.h"

static struct {
    atomic_int injects, heals;
    bool no_effect, no_cure;
} hurt;
static struct rig_nemesis_entry hurts[2];

static enum rig_rc hurt_inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                               struct rig_err *why)
{
    (void)site, (void)state;
    atomic_fetch_add(&hurt.injects, 1);
    (void)snprintf(evidence->text, sizeof evidence->text, "it hurts");
    return hurt.no_effect ? rig_fail(why, RIG_E_CLUSTER, "it did not hurt") : RIG_OK;
}

static enum rig_rc hurt_heal(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                             struct rig_err *why)
{
    (void)site, (void)state, (void)evidence;
    /* Healing comes before the teardown. */
    assert_int_equal(atomic_load(&fake_setups) - atomic_load(&fake_teardowns), 1);
    atomic_fetch_add(&hurt.heals, 1);
    return hurt.no_cure ? rig_fail(why, RIG_E_CLUSTER, "it still hurts") : RIG_OK;
}

static const struct rig_fault hurt_fault = {
    .name = "hurt", .summary = "hurts", .target = "", .inject = hurt_inject, .heal = hurt_heal};

static void plan_hurts(uint32_t count, int64_t for_ns)
{
    memset(hurts, 0, sizeof hurts);
    atomic_store(&hurt.injects, 0);
    atomic_store(&hurt.heals, 0);
    hurt.no_effect = hurt.no_cure = false;
    fake_fault_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        hurts[i].fault = &hurt_fault;
        hurts[i].schedule.after_ns = (i + 1) * 20 * RIG_NS_PER_MS;
        hurts[i].schedule.for_ns = for_ns;
    }
    plan.nemesis = (struct rig_nemesis_plan){.entries = hurts, .entry_count = count};
    plan.nemesis.options.recover_ns = RIG_NS_PER_S;
    plan.workload.transactions = 0;
    plan.workload.duration_ns = 300 * RIG_NS_PER_MS;
    plan.workload.final_reads = RIG_FINAL_ALL;
    fake.transact_ns = RIG_NS_PER_MS;
}

static void faults_are_injected_recorded_and_healed(void **state)
{
    (void)state;
    plan_hurts(2, 30 * RIG_NS_PER_MS);
    assert_ok(run());
    assert_int_equal(atomic_load(&hurt.injects), 2);
    assert_int_equal(atomic_load(&hurt.heals), 2);
    assert_int_equal(fake_fault_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(fake_faults[i].event.step, i % 4);
        assert_int_equal(fake_faults[i].event.injection, 1 + i / 4);
        assert_string_equal(fake_faults[i].fault, "hurt");
        assert_string_equal(fake_faults[i].text, i % 4 == 0 ? "" : "it hurts");
        /* Eight clients at a millisecond each: about 30 ms of load. */
        assert_true(i % 4 == 0 || (i % 4 >= 2 ? fake_faults[i].event.ok > 0 : fake_faults[i].event.ok == 0));
    }
    assert_true(result.final_reads > 0);
}

/* The load's end heals a fault that the plan lets last longer; also when the load ends by its count. */
static void the_end_of_the_load_ends_faults(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        plan_hurts(1, 3600 * RIG_NS_PER_S);
        plan.workload.transactions = round == 0 ? 0 : 800;
        plan.workload.duration_ns = round == 0 ? 100 * RIG_NS_PER_MS : 0;
        assert_ok(run());
        assert_int_equal(atomic_load(&hurt.heals), 1);
        assert_true(result.final_reads > 0);
    }
}

static void a_fault_without_effect_fails_the_run(void **state)
{
    (void)state;
    plan_hurts(2, 30 * RIG_NS_PER_MS);
    plan.workload.duration_ns = 60 * RIG_NS_PER_S;
    plan.workload.appends_per_key = 1000000; /* none is read before the end */
    hurt.no_effect = true;
    assert_int_equal(run(), RIG_E_CLUSTER);
    assert_string_equal(err.text, "nemesis: no effect of hurt: it did not hurt");
    assert_int_equal(atomic_load(&hurt.injects), 1);
    assert_int_equal(atomic_load(&hurt.heals), 1);
    assert_int_equal(result.final_reads, 0);
    assert_int_equal(fake_closed, 1);
    assert_true(fake_faults[1].event.failed);
    assert_string_equal(fake_faults[1].text, "it did not hurt");
}

static void a_fault_that_cannot_be_healed_fails_the_run(void **state)
{
    (void)state;
    plan_hurts(1, 0);
    hurt.no_cure = true;
    assert_int_equal(run(), RIG_E_CLUSTER);
    assert_string_equal(err.text, "nemesis: cannot heal hurt: it still hurts");
    assert_int_equal(atomic_load(&hurt.heals), 2); /* it was tried once more */
}

static void faults_that_this_cluster_cannot_have_are_refused(void **state)
{
    (void)state;
    plan_hurts(1, 0);
    hurts[0].fault = rig_fault_find(NULL, "kill");
    fake.cluster = true;
    assert_int_equal(rig_run_check(&plan, &err), RIG_E_PLAN);
    assert_string_equal(err.text, "nemesis: kill: clusters of this driver cannot end and start a node");
    err = (struct rig_err){0};
    assert_int_equal(run(), RIG_E_PLAN);
    assert_int_equal(atomic_load(&fake_inits), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(faults_are_injected_recorded_and_healed, prepare),
        cmocka_unit_test_setup(the_end_of_the_load_ends_faults, prepare),
        cmocka_unit_test_setup(a_fault_without_effect_fails_the_run, prepare),
        cmocka_unit_test_setup(a_fault_that_cannot_be_healed_fails_the_run, prepare),
        cmocka_unit_test_setup(faults_that_this_cluster_cannot_have_are_refused, prepare),
    };
    return run_stage_tests("run_faults", tests, sizeof tests / sizeof *tests);
}
