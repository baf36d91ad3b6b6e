/* Registers: how versions are ordered, the anomalies that are found, and that no false witness passes. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "checker/judge/check.h"
#include "checker/infer/register_inference.h"
#include "checker/infer/versions_audit.h"
#include "checker/model/assumption.h"
#include "checker/prove/witness/verify.h"
#include "history/source/load.h"

enum { WFR = RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_WFR_KEYS) };
enum { SEQUENTIAL = RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_SEQUENTIAL_KEYS) };
enum { LINEARIZABLE = RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_LINEARIZABLE_KEYS) };

static struct rig_history *parse(const char *lines)
{
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    struct rig_load_options options = {.workload_given = true, .workload = RIG_WORKLOAD_RW_REGISTER};
    if (rig_history_parse("given", lines, strlen(lines), &options, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

/* Transactions one after the other: process and operations of each. */
#define TXN(process, value)                                                                                            \
    "{\"type\":\"invoke\",\"process\":" process ",\"value\":" value "}\n"                                              \
    "{\"type\":\"ok\",\"process\":" process ",\"value\":" value "}\n"

struct fixture {
    struct rig_history *history;
    struct rig_arena arena;
    struct rig_inference inference;
};

static void infer(struct fixture *f, const char *lines, unsigned assumptions)
{
    struct rig_err err = {0};
    f->history = parse(lines);
    rig_arena_init(&f->arena, 0);
    if (rig_infer_registers(f->history, (struct rig_assumptions){.made = assumptions}, 8, &f->arena, &f->inference,
                            &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void done(struct fixture *f)
{
    rig_inference_done(&f->inference);
    rig_arena_done(&f->arena);
    rig_history_free(f->history);
}

/* The source by which version `from` of the only key directly precedes `to`; -1: it does not. 0 is the initial
 * state. */
static int source_of(const struct fixture *f, int64_t from, int64_t to)
{
    const struct rig_registers *r = &f->inference.registers;
    for (uint32_t i = 0; i < r->edge_count; i++) {
        const struct rig_version_edge *edge = &r->edges[i];
        if (r->versions[edge->from].value == from && r->versions[edge->to].value == to)
            return (int)edge->source;
    }
    return -1;
}

static const char chain[] =
    TXN("0", "[[\"w\",1,1]]") TXN("0", "[[\"r\",1,1],[\"w\",1,2]]") TXN("1", "[[\"w\",1,3]]") TXN("1", "[[\"r\",1,3]]");

static void each_source_orders_its_own_versions(void **state)
{
    (void)state;
    struct fixture f;
    infer(&f, chain, 0);
    assert_int_equal(source_of(&f, 0, 1), RIG_ORDER_INITIAL);
    assert_int_equal(source_of(&f, 0, 3), RIG_ORDER_INITIAL);
    assert_int_equal(source_of(&f, 1, 2), -1);
    done(&f);
    infer(&f, chain, WFR);
    assert_int_equal(source_of(&f, 1, 2), RIG_ORDER_WFR);
    assert_int_equal(source_of(&f, 2, 3), -1);
    done(&f);
    infer(&f, chain, SEQUENTIAL);
    assert_int_equal(source_of(&f, 1, 2), -1); /* the process left 1 and then met 1 */
    done(&f);
    infer(&f, chain, WFR | LINEARIZABLE);
    assert_int_equal(source_of(&f, 2, 3), RIG_ORDER_LINEARIZABLE);
    assert_int_equal(source_of(&f, 1, 3), -1); /* neighbours only */
    done(&f);
}

static void processes_order_versions(void **state)
{
    (void)state;
    struct fixture f;
    infer(&f, TXN("0", "[[\"w\",1,1]]") TXN("1", "[[\"w\",1,2]]") TXN("0", "[[\"r\",1,2]]"), SEQUENTIAL);
    assert_int_equal(source_of(&f, 1, 2), RIG_ORDER_SEQUENTIAL);
    assert_int_equal(f.inference.graph.link_count[RIG_LINK_WW], 1);
    assert_int_equal(f.inference.graph.link_count[RIG_LINK_WR], 1);
    done(&f);
}

static void a_source_that_contradicts_is_dropped_whole(void **state)
{
    (void)state;
    struct fixture f;
    infer(&f, TXN("0", "[[\"w\",1,1]]") TXN("0", "[[\"w\",1,2]]") TXN("1", "[[\"r\",1,2]]") TXN("1", "[[\"r\",1,1]]"),
          SEQUENTIAL);
    assert_int_equal(f.inference.noncyclic.count[RIG_ANOMALY_CYCLIC_VERSIONS], 1);
    assert_int_equal(source_of(&f, 1, 2), -1);
    assert_int_equal(source_of(&f, 0, 1), RIG_ORDER_INITIAL);
    done(&f);
}

static void unknown_writers_count_once_they_are_read(void **state)
{
    (void)state;
    struct fixture f;
    infer(&f,
          "{\"type\":\"invoke\",\"process\":0,\"value\":[[\"w\",1,1]]}\n"
          "{\"type\":\"info\",\"process\":0,\"value\":[[\"w\",1,1]]}\n"
          "{\"type\":\"invoke\",\"process\":1,\"value\":[[\"w\",2,1]]}\n"
          "{\"type\":\"info\",\"process\":1,\"value\":[[\"w\",2,1]]}\n" TXN("2", "[[\"r\",1,1]]"),
          0);
    assert_int_equal(f.inference.committed_count, 2);
    assert_int_equal(f.inference.graph.link_count[RIG_LINK_WR], 1);
    done(&f);
}

static uint64_t garbage_in(const char *lines, uint64_t *settled)
{
    struct fixture f;
    infer(&f, lines, 0);
    const uint64_t count = f.inference.noncyclic.count[RIG_ANOMALY_GARBAGE_READ];
    *settled = f.inference.noncyclic.settled[RIG_ANOMALY_GARBAGE_READ];
    done(&f);
    return count;
}

#define INFO(process, value)                                                                                           \
    "{\"type\":\"invoke\",\"process\":" process ",\"value\":" value "}\n"                                              \
    "{\"type\":\"info\",\"process\":" process ",\"value\":" value "}\n"
#define FAIL(process, value)                                                                                           \
    "{\"type\":\"invoke\",\"process\":" process ",\"value\":" value "}\n"                                              \
    "{\"type\":\"fail\",\"process\":" process ",\"value\":" value "}\n"

static void a_key_has_one_initial_state(void **state)
{
    (void)state;
    uint64_t settled;
    assert_int_equal(garbage_in(TXN("0", "[[\"r\",1,5]]") TXN("1", "[[\"r\",1,5],[\"w\",1,6]]"), &settled), 0);
    assert_int_equal(garbage_in(TXN("0", "[[\"r\",1,null]]") TXN("1", "[[\"r\",1,5]]"), &settled), 1);
    assert_int_equal(settled, 1);
    assert_int_equal(garbage_in(TXN("0", "[[\"r\",1,5]]") TXN("1", "[[\"r\",1,6],[\"r\",2,7]]"), &settled), 1);
    /* The reads of failed transactions say nothing; a failed write is a writer. */
    assert_int_equal(garbage_in(FAIL("0", "[[\"r\",1,5]]") TXN("1", "[[\"r\",1,6]]"), &settled), 0);
    assert_int_equal(
        garbage_in(TXN("0", "[[\"r\",1,5]]") FAIL("1", "[[\"w\",1,5]]") TXN("1", "[[\"r\",1,6]]"), &settled), 0);
    /* That one of unknown fate committed is certain at read committed only. */
    assert_int_equal(garbage_in(INFO("0", "[[\"r\",1,5],[\"w\",2,1]]") TXN("1", "[[\"r\",2,1]]")
                                    TXN("1", "[[\"r\",1,6]]"),
                                &settled),
                     1);
    assert_int_equal(settled, 0);
}

/* Like nil, the value that a key began with comes before all others. */
static void an_initial_value_precedes_all_versions(void **state)
{
    (void)state;
    struct fixture f;
    infer(&f, TXN("0", "[[\"r\",1,9]]") TXN("1", "[[\"w\",1,4]]"), 0);
    assert_int_equal(source_of(&f, 9, 4), RIG_ORDER_INITIAL);
    assert_int_equal(f.inference.graph.link_count[RIG_LINK_RW], 1);
    done(&f);
}

static void expect_refused(const char *lines, const char *text)
{
    struct rig_history *history = parse(lines);
    struct rig_check_options options = {0};
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    assert_int_equal(rig_check(history, &options, &verdict, &err), RIG_E_INPUT);
    assert_string_equal(err.text, text);
    rig_history_free(history);
}

static void a_value_written_twice_is_refused(void **state)
{
    (void)state;
    expect_refused(
        TXN("0", "[[\"w\",1,7]]") TXN("1", "[[\"w\",1,7]]"),
        "transactions 1 and 3 both write 7 to key 1; a register needs values that are unique per key, unless the "
        "workload is multi-key-acid");
    expect_refused(TXN("0", "[[\"w\",1,7],[\"r\",1,7],[\"w\",1,7]]"),
                   "transaction 1 writes 7 to key 1 twice; a register needs values that are unique per key, unless the "
                   "workload is multi-key-acid");
}

static void fates_of(const char *lines, unsigned assumptions, enum rig_lattice lattice, struct rig_history **history,
                     struct rig_verdict **verdict)
{
    const struct rig_check_options options = {.assumptions = assumptions, .lattice = lattice};
    struct rig_err err = {0};
    *history = parse(lines);
    assert_int_equal(rig_check(*history, &options, verdict, &err), RIG_OK);
}

/* Some order of the versions explains the reads at every level; the reference's lattice does not ask. */
static void levels_are_held(void **state)
{
    (void)state;
    struct rig_history *history;
    struct rig_verdict *verdict;
    for (unsigned lattice = RIG_LATTICE_EXACT; lattice <= RIG_LATTICE_REFERENCE; lattice++) {
        fates_of(chain, 0, (enum rig_lattice)lattice, &history, &verdict);
        assert_int_equal(verdict->valid, RIG_VALID_TRUE);
        for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
            assert_int_equal(verdict->levels[level].fate,
                             lattice == RIG_LATTICE_EXACT ? RIG_FATE_HELD : RIG_FATE_NOT_REFUTED);
        rig_verdict_free(verdict);
        rig_history_free(history);
    }
}

/* A long fork that no edge shows: the two readers need both orders of the writers. */
static void each_order_of_the_versions_is_tried(void **state)
{
    (void)state;
    struct rig_history *history;
    struct rig_verdict *verdict;
    fates_of(TXN("0", "[[\"w\",1,1],[\"w\",2,1]]") TXN("1", "[[\"w\",1,2],[\"w\",2,2]]")
                 TXN("2", "[[\"r\",1,1],[\"r\",2,2]]"),
             0, RIG_LATTICE_EXACT, &history, &verdict);
    assert_int_equal(verdict->levels[RIG_LEVEL_READ_ATOMIC].fate, RIG_FATE_REFUTED);
    assert_int_equal(verdict->levels[RIG_LEVEL_READ_COMMITTED].fate, RIG_FATE_HELD);
    assert_true(verdict->findings[RIG_ANOMALY_NO_VERSION_ORDER].count > 0);
    rig_verdict_free(verdict);
    rig_history_free(history);
}

/* The assumption that orders 1 before 2 is named where nothing else refutes the level; where it does not hold, it
 * refutes nothing. */
static void assumptions_are_named(void **state)
{
    (void)state;
    static const char update[] = TXN("0", "[[\"w\",1,1]]") TXN("0", "[[\"r\",1,1],[\"w\",1,2],[\"w\",2,1]]")
        TXN("1", "[[\"r\",2,1],[\"r\",1,1]]");
    static const char blind[] =
        TXN("0", "[[\"w\",1,1]]") TXN("0", "[[\"w\",1,2],[\"w\",2,1]]") TXN("1", "[[\"r\",2,1],[\"r\",1,1]]");
    static const char cyclic[] =
        TXN("0", "[[\"w\",1,1]]") TXN("0", "[[\"w\",1,2]]") TXN("1", "[[\"r\",1,2]]") TXN("1", "[[\"r\",1,1]]");
    struct rig_history *history;
    struct rig_verdict *verdict;
    fates_of(update, WFR, RIG_LATTICE_EXACT, &history, &verdict);
    assert_int_equal(verdict->levels[RIG_LEVEL_CONSISTENT_VIEW].fate, RIG_FATE_REFUTED);
    assert_null(strstr(verdict->levels[RIG_LEVEL_CONSISTENT_VIEW].reason, "assuming"));
    rig_verdict_free(verdict);
    rig_history_free(history);
    fates_of(blind, SEQUENTIAL, RIG_LATTICE_EXACT, &history, &verdict);
    assert_int_equal(verdict->levels[RIG_LEVEL_CONSISTENT_VIEW].fate, RIG_FATE_REFUTED);
    assert_non_null(strstr(verdict->levels[RIG_LEVEL_CONSISTENT_VIEW].reason, ", assuming sequential-keys"));
    assert_int_equal(verdict->levels[RIG_LEVEL_STRONG_SESSION_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    assert_null(strstr(verdict->levels[RIG_LEVEL_STRONG_SESSION_SERIALIZABLE].reason, "assuming"));
    rig_verdict_free(verdict);
    rig_history_free(history);
    fates_of(cyclic, SEQUENTIAL, RIG_LATTICE_EXACT, &history, &verdict);
    assert_int_equal(verdict->findings[RIG_ANOMALY_CYCLIC_VERSIONS].count, 1);
    assert_int_equal(verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_HELD);
    rig_verdict_free(verdict);
    rig_history_free(history);
}

/* Every witness of every class in a history full of them holds, and none does when a value or an assumption is changed.
 */
static void false_witnesses_are_refused(void **state)
{
    (void)state;
    static const char lines[] = TXN("0", "[[\"w\",1,1],[\"w\",2,1]]") TXN("1", "[[\"r\",1,1],[\"w\",1,2],[\"w\",2,2]]")
        TXN("2", "[[\"r\",1,1],[\"w\",1,3]]") TXN("3", "[[\"r\",2,2],[\"r\",1,1]]")
            TXN("4", "[[\"r\",2,1],[\"r\",1,2]]");
    struct rig_history *history = parse(lines);
    struct rig_check_options options = {.assumptions = WFR};
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    assert_int_equal(rig_check(history, &options, &verdict, &err), RIG_OK);
    struct rig_verifier *verifier = rig_verifier_new(history, true);
    unsigned cycles = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        for (uint32_t i = 0; i < verdict->findings[anomaly].witness_count; i++) {
            const struct rig_witness *witness = &verdict->findings[anomaly].witnesses[i];
            assert_int_equal(rig_verify_witness(verifier, witness, &err), RIG_OK);
            for (uint32_t s = 0; s < witness->step_count; s++) {
                struct rig_step kept = witness->steps[s];
                struct rig_step *step = &witness->steps[s];
                if (kept.kind == RIG_EDGE_PROCESS || kept.kind == RIG_EDGE_REALTIME)
                    continue;
                struct rig_err refused = {0};
                cycles++;
                step->to_value += kept.kind == RIG_EDGE_WR ? 0 : 100;
                step->from_value += kept.kind == RIG_EDGE_WR ? 100 : 0;
                assert_int_equal(rig_verify_witness(verifier, witness, &refused), RIG_E_BUG);
                *step = kept;
                if (kept.kind == RIG_EDGE_WR || kept.order == RIG_ORDER_INITIAL)
                    continue;
                refused = (struct rig_err){0};
                step->order = RIG_ORDER_INITIAL;
                assert_int_equal(rig_verify_witness(verifier, witness, &refused), RIG_E_BUG);
                *step = kept;
            }
        }
    }
    assert_true(cycles > 4);
    assert_true(verdict->findings[RIG_ANOMALY_LOST_UPDATE].count > 0);
    rig_verifier_free(verifier);
    rig_verdict_free(verdict);
    rig_history_free(history);
}

static void orders_that_do_not_fit_are_found(void **state)
{
    (void)state;
    struct fixture f;
    infer(&f, chain, WFR);
    struct rig_registers *r = &f.inference.registers;
    assert_true(rig_registers_are_sound(r));
    uint32_t version = r->version_of[0];
    r->version_of[0] = 0; /* a write of the initial state */
    assert_false(rig_registers_are_sound(r));
    r->version_of[0] = version;
    uint32_t i = 0;
    while (r->edges[i].source != RIG_ORDER_WFR)
        i++;
    struct rig_version_edge kept = r->edges[i];
    r->edges[i].to = r->edges[i].from; /* a cycle of one */
    assert_false(rig_registers_are_sound(r));
    r->edges[i] = kept;
    r->edges[i].to = 0;
    assert_false(rig_registers_are_sound(r));
    r->edges[i] = kept;
    assert_true(rig_registers_are_sound(r));
    done(&f);
}

/* No transaction wrote 1, so the initial state is not known to come before it. */
static void a_value_without_a_writer_may_precede_the_initial_state(void **state)
{
    (void)state;
    struct fixture f;
    infer(&f, TXN("0", "[[\"r\",0,1]]") TXN("1", "[[\"r\",0,null]]"), LINEARIZABLE);
    assert_int_equal(source_of(&f, 1, 0), RIG_ORDER_LINEARIZABLE);
    assert_true(rig_registers_are_sound(&f.inference.registers));
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_source_orders_its_own_versions),
        cmocka_unit_test(processes_order_versions),
        cmocka_unit_test(a_source_that_contradicts_is_dropped_whole),
        cmocka_unit_test(unknown_writers_count_once_they_are_read),
        cmocka_unit_test(a_key_has_one_initial_state),
        cmocka_unit_test(an_initial_value_precedes_all_versions),
        cmocka_unit_test(a_value_written_twice_is_refused),
        cmocka_unit_test(levels_are_held),
        cmocka_unit_test(each_order_of_the_versions_is_tried),
        cmocka_unit_test(assumptions_are_named),
        cmocka_unit_test(false_witnesses_are_refused),
        cmocka_unit_test(orders_that_do_not_fit_are_found),
        cmocka_unit_test(a_value_without_a_writer_may_precede_the_initial_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
