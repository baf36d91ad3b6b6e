#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "generator/synthetic/synthetic.h"
#include "tests/model/made_history.h"

static void set(struct rig_synthetic *synthetic, const char *assignment)
{
    struct rig_err err = {0};
    if (rig_synthetic_set(synthetic, assignment, &err) != RIG_OK)
        fail_msg("%s: %s", assignment, err.text);
}

/* Settings separated by blanks, on top of 3000 transactions. */
static struct rig_synthetic settings_of(const char *settings)
{
    struct rig_synthetic synthetic;
    struct rig_err err = {0};
    char text[512], *rest = text;
    assert_int_equal(rig_synthetic_defaults(&synthetic, &err), RIG_OK);
    set(&synthetic, "workload.transactions=3000");
    (void)snprintf(text, sizeof text, "%s", settings);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (word[0] != '\0')
            set(&synthetic, word);
    }
    return synthetic;
}

static struct rig_history *make(const char *settings)
{
    const struct rig_synthetic synthetic = settings_of(settings);
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    if (make_history(&synthetic, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

/* Clients are sequential, never more than given, and all of them busy, as in a run with this many. */
static void clients_overlap(void **state)
{
    (void)state;
    static const uint32_t clients[] = {1, 7, 100};
    for (size_t c = 0; c < 3; c++) {
        char text[64];
        (void)snprintf(text, sizeof text, "clients.count=%u workload.keys.active=100", clients[c]);
        struct rig_history *history = make(text);
        int8_t *change = calloc((size_t)history->txn_count * 2 + 1, 1);
        assert_non_null(change);
        for (uint32_t i = 0; i < history->txn_count; i++) {
            const struct rig_txn *txn = &history->txns[i];
            assert_true(txn->invoke_at < txn->complete_at && txn->invoke_ns < txn->complete_ns);
            assert_in_range(txn->process, 0, clients[c] - 1);
            change[txn->invoke_at] = 1;
            change[txn->complete_at] = -1;
        }
        int64_t open = 0, most = 0, sum = 0;
        for (uint32_t at = 0; at < history->txn_count * 2; at++) {
            open += change[at];
            sum += open;
            most = open > most ? open : most;
        }
        assert_int_equal(most, clients[c]);
        assert_true((double)sum / (history->txn_count * 2.0) > 0.5 * clients[c] - 1);
        free(change);
        rig_history_free(history);
    }
}

/* Every key has a committed read behind its last append, which closing reads guarantee. */
static void keys_are_read_when_they_are_done_with(void **state)
{
    (void)state;
    static const char *const cases[] = {"workload.final-reads=closing",
                                        "workload.final-reads=all",
                                        "workload.keys.appends-per-key=5 clients.count=50",
                                        "database.think=30 workload.keys.appends-per-key=5",
                                        "database.workers=2 clients.count=90 workload.keys.appends-per-key=10",
                                        "database.isolation=read-uncommitted database.abort-rate=10%"};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct rig_history *history = make(cases[c]);
        uint32_t *last_write = calloc(history->key_count, sizeof *last_write);
        uint32_t *last_read = calloc(history->key_count, sizeof *last_read);
        assert_true(last_write != NULL && last_read != NULL && history->key_count > 20);
        for (uint32_t i = 0; i < history->txn_count; i++) {
            const struct rig_txn_op *ops = rig_txn_ops(history, i);
            for (uint32_t j = 0; j < rig_txn_op_count(history, i); j++) {
                if (ops[j].kind == RIG_OP_APPEND)
                    last_write[ops[j].key] = history->txns[i].complete_at;
                else if (history->txns[i].outcome == RIG_OUTCOME_OK)
                    last_read[ops[j].key] = history->txns[i].invoke_at;
            }
        }
        for (uint32_t key = 0; key < history->key_count; key++) {
            if (last_write[key] > 0)
                assert_true(last_read[key] > last_write[key]);
        }
        free(last_write);
        free(last_read);
        rig_history_free(history);
    }
}

static void lost_answers_give_new_processes(void **state)
{
    (void)state;
    struct rig_history *history = make("database.info-rate=5% clients.count=4");
    uint32_t info = 0;
    for (uint32_t i = 0; i < history->txn_count; i++)
        info += history->txns[i].outcome == RIG_OUTCOME_INFO;
    assert_in_range(info, 50, 250);
    for (uint32_t i = 0; i < history->txn_count; i++) {
        for (uint32_t j = i + 1; history->txns[i].outcome == RIG_OUTCOME_INFO && j < history->txn_count; j++)
            assert_int_not_equal(history->txns[i].process, history->txns[j].process);
    }
    rig_history_free(history);
}

static void note_progress(void *context, const struct rig_synthetic_counts *counts)
{
    uint64_t *last = context;
    assert_true(counts->transactions > *last && counts->bytes < counts->transactions * 100);
    *last = counts->transactions;
}

static void counts_are_those_of_the_history(void **state)
{
    (void)state;
    const struct rig_synthetic synthetic = settings_of("workload.transactions=50000 database.info-rate=1%");
    struct rig_synthetic_counts counts = {0};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    uint64_t told = 0;
    const struct rig_save_options save = {.form = RIG_FORM_RIG};
    const struct rig_synthetic_watch watch = {.progress = note_progress, .context = &told};
    assert_int_equal(rig_synthetic_write(&synthetic, "/dev/null", &save, &watch, &counts, &err), RIG_OK);
    assert_int_equal(make_history(&synthetic, &history, &err), RIG_OK);
    assert_true(told > 0 && told < counts.transactions);
    assert_int_equal(counts.transactions, history->txn_count);
    assert_int_equal(counts.operations, history->op_count);
    assert_int_equal(counts.keys, history->key_count);
    assert_int_equal(counts.ok + counts.fail + counts.info, counts.transactions);
    assert_true(counts.bytes > 10 * counts.transactions);
    rig_history_free(history);
}

static void blind_reads_show_nothing(void **state)
{
    (void)state;
    struct rig_history *history = make("shape=blind");
    for (uint32_t i = 0; i < history->op_count; i++) {
        if (history->ops[i].kind == RIG_OP_READ_LIST)
            assert_true(history->ops[i].read_state == RIG_READ_SEEN && history->ops[i].count == 0);
    }
    rig_history_free(history);
}

static void rings_overlap_altogether(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint32_t op_count;
    } cases[] = {{"shape=ring-wr", 6000}, {"shape=ring-rw", 6000}, {"shape=ring-mixed", 6000}};
    for (size_t c = 0; c < 3; c++) {
        struct rig_history *history = make(cases[c].settings);
        assert_int_equal(history->txn_count, 3000);
        assert_int_equal(history->op_count, cases[c].op_count);
        for (uint32_t i = 0; i < history->txn_count; i++) {
            assert_int_equal(history->txns[i].invoke_at, i);
            assert_int_equal(history->txns[i].complete_at, 3000 + i);
        }
        rig_history_free(history);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_overlap),
        cmocka_unit_test(keys_are_read_when_they_are_done_with),
        cmocka_unit_test(lost_answers_give_new_processes),
        cmocka_unit_test(counts_are_those_of_the_history),
        cmocka_unit_test(blind_reads_show_nothing),
        cmocka_unit_test(rings_overlap_altogether),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
