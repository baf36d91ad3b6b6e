/*
 * The order of statements for a script, played on a tiny database.
 *
 * Random transactions run on the tiny database, which gives each one a snapshot at its first statement (snapshot
 * isolation, the first committer wins) or each statement a snapshot of its own (read committed). The order that
 * rig_interleaving_init() makes of what the clients saw is played on it again, and each read must give the same.
 */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "checker/judge/check.h"
#include "history/model/builder.h"
#include "history/model/read_list.h"
#include "history/types/row_ops.h"
#include "jobs/shrink/interleaving.h"

enum { TXNS = 4, OPS = 12, KEYS = 2, WRITES = 64, CELLS = 64, ROUNDS = 400 };

enum mode { BY_SNAPSHOT, BY_STATEMENT };

struct write {
    uint32_t txn, key, committed; /* UINT32_MAX: not committed */
    int64_t value;
    int64_t met[CELLS]; /* ids of an update or a delete */
    uint32_t met_count;
};

struct database {
    enum rig_workload workload;
    struct write writes[WRITES];
    uint32_t write_count, clock;
    uint32_t snapshots[TXNS];
};

/* The answer to a read of a key: a list, a value, or pairs of rows that meet the condition. */
struct answer {
    int64_t cells[CELLS];
    uint32_t count;
};

static void apply(const struct database *db, const struct write *write, struct answer *state)
{
    if (db->workload == RIG_WORKLOAD_RW_REGISTER)
        state->count = 0;
    if (db->workload != RIG_WORKLOAD_PREDICATE || rig_row_inserts(write->value)) {
        state->cells[state->count++] = write->value;
        if (db->workload == RIG_WORKLOAD_PREDICATE)
            state->cells[state->count++] = write->value;
        return;
    }
    for (uint32_t row = 0; row < state->count; row += 2) {
        bool met = false;
        for (uint32_t i = 0; i < write->met_count; i++)
            met = met || write->met[i] == state->cells[row];
        if (met && rig_row_action(write->value) == RIG_ROWS_UPDATE)
            state->cells[row + 1] = write->value;
        else if (met) {
            memmove(state->cells + row, state->cells + row + 2, (state->count - row - 2) * sizeof state->cells[0]);
            state->count -= 2;
            row -= 2;
        }
    }
}

static int compare_rows(const void *one, const void *other)
{
    const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

static struct answer read_key(const struct database *db, uint32_t txn, uint32_t key, const struct rig_row_where *where,
                              enum mode mode)
{
    const uint32_t until = mode == BY_SNAPSHOT ? db->snapshots[txn] : db->clock;
    struct answer state = {.count = 0}, answer = {.count = 0};
    for (uint32_t at = 1; at <= until; at++) {
        for (uint32_t i = 0; i < db->write_count; i++) {
            if (db->writes[i].committed == at && db->writes[i].key == key)
                apply(db, &db->writes[i], &state);
        }
    }
    for (uint32_t i = 0; i < db->write_count; i++) {
        if (db->writes[i].txn == txn && db->writes[i].committed == UINT32_MAX && db->writes[i].key == key)
            apply(db, &db->writes[i], &state);
    }
    if (db->workload != RIG_WORKLOAD_PREDICATE)
        return state;
    for (uint32_t row = 0; row < state.count; row += 2) {
        if (!rig_row_matches(where, state.cells[row], state.cells[row + 1]))
            continue;
        answer.cells[answer.count++] = state.cells[row];
        answer.cells[answer.count++] = state.cells[row + 1];
    }
    qsort(answer.cells, answer.count / 2, 2 * sizeof answer.cells[0], compare_rows);
    return answer;
}

/* Whether a write must wait, or fails: another transaction under way wrote the key or the row, or one did that the
 * snapshot does not have. */
static bool conflicts(const struct database *db, uint32_t txn, uint32_t key, const struct answer *met, enum mode mode)
{
    for (uint32_t i = 0; i < db->write_count; i++) {
        const struct write *write = &db->writes[i];
        const bool is_over =
            write->committed != UINT32_MAX && (mode == BY_STATEMENT || write->committed <= db->snapshots[txn]);
        if (write->txn == txn || write->key != key || is_over)
            continue;
        if (db->workload != RIG_WORKLOAD_PREDICATE)
            return true;
        for (uint32_t a = 0; a < write->met_count; a++) {
            for (uint32_t b = 0; b < met->count; b += 2) {
                if (write->met[a] == met->cells[b])
                    return true;
            }
        }
    }
    return false;
}

static void write_key(struct database *db, uint32_t txn, uint32_t key, int64_t value, const struct answer *met)
{
    struct write *write = &db->writes[db->write_count++];
    assert_true(db->write_count <= WRITES);
    *write = (struct write){.txn = txn, .key = key, .committed = UINT32_MAX, .value = value};
    for (uint32_t i = 0; i < met->count; i += 2)
        write->met[write->met_count++] = met->cells[i];
}

static void commit(struct database *db, uint32_t txn)
{
    db->clock++;
    for (uint32_t i = 0; i < db->write_count; i++) {
        if (db->writes[i].txn == txn)
            db->writes[i].committed = db->clock;
    }
}

/* ---- random transactions ---- */

struct client {
    struct rig_op ops[OPS];
    struct rig_read reads[OPS];
    int64_t cells[OPS][CELLS];
    const int64_t *lists[OPS];
    uint32_t op_count, statements, invoke_at, complete_at;
};

struct execution {
    struct database db;
    struct client clients[TXNS];
    enum mode mode;
    uint64_t random;
    int64_t serial;
};

static uint32_t draw(struct execution *e, uint32_t below)
{
    e->random ^= e->random << 13;
    e->random ^= e->random >> 7;
    e->random ^= e->random << 17;
    return (uint32_t)(e->random >> 33) % below;
}

static void add_op(struct client *client, enum rig_op_kind kind, uint32_t key, int64_t value,
                   const struct answer *answer)
{
    const uint32_t op = client->op_count++;
    assert_true(client->op_count <= OPS);
    client->ops[op] = (struct rig_op){.kind = kind, .key = key, .value = value};
    client->reads[op] = (struct rig_read){.state = RIG_READ_UNKNOWN};
    client->lists[op] = client->cells[op];
    if (answer == NULL)
        return;
    memcpy(client->cells[op], answer->cells, sizeof answer->cells);
    client->reads[op] = (struct rig_read){.state = RIG_READ_SEEN, .count = answer->count};
    if (kind == RIG_OP_READ_REGISTER)
        client->reads[op] = (struct rig_read){.state = answer->count == 0 ? RIG_READ_NIL : RIG_READ_SEEN,
                                              .value = answer->count == 0 ? 0 : answer->cells[0]};
}

static void run_row_statement(struct execution *e, uint32_t txn, uint32_t key)
{
    static const enum rig_rows_action actions[] = {RIG_ROWS_INSERT, RIG_ROWS_INSERT, RIG_ROWS_UPDATE, RIG_ROWS_DELETE};
    const uint32_t kind = draw(e, 8);
    const int64_t value = rig_row_number(++e->serial, (int64_t)draw(e, 2), kind < 4 ? actions[kind] : RIG_ROWS_INSERT);
    const int64_t code = rig_row_condition_value(RIG_ROW_BY_CLASS, RIG_ROW_LISTED, (int64_t)draw(e, 2), 0);
    const struct answer none = {.count = 0};
    struct rig_row_where where;
    assert_true(rig_row_condition_of(code, &where));
    if (kind < 2) {
        add_op(&e->clients[txn], RIG_OP_ROW, key, value, NULL);
        write_key(&e->db, txn, key, value, &none);
        return;
    }
    const struct answer rows = read_key(&e->db, txn, key, &where, e->mode);
    const bool writes = kind < 4 && !conflicts(&e->db, txn, key, &rows, e->mode);
    add_op(&e->clients[txn], RIG_OP_ROW, key, code, NULL);
    add_op(&e->clients[txn], RIG_OP_READ_WHERE, key, 0, &rows);
    if (writes) {
        add_op(&e->clients[txn], RIG_OP_ROW, key, value, NULL);
        write_key(&e->db, txn, key, value, &rows);
    }
}

static void run_statement(struct execution *e, uint32_t txn)
{
    const uint32_t key = draw(e, KEYS);
    const bool lists = e->db.workload == RIG_WORKLOAD_LIST_APPEND;
    const struct answer none = {.count = 0};
    if (e->db.workload == RIG_WORKLOAD_PREDICATE) {
        run_row_statement(e, txn, key);
        return;
    }
    if (draw(e, 2) == 0 && !conflicts(&e->db, txn, key, &none, e->mode)) {
        add_op(&e->clients[txn], lists ? RIG_OP_APPEND : RIG_OP_WRITE, key, ++e->serial, NULL);
        write_key(&e->db, txn, key, e->serial, &none);
        return;
    }
    const struct answer answer = read_key(&e->db, txn, key, NULL, e->mode);
    add_op(&e->clients[txn], lists ? RIG_OP_READ_LIST : RIG_OP_READ_REGISTER, key, 0, &answer);
}

/* Each transaction has one to three statements; those of different ones alternate at random. */
static void execute(struct execution *e)
{
    uint32_t left[TXNS], position = 0, open = TXNS;
    for (uint32_t txn = 0; txn < TXNS; txn++)
        left[txn] = 1 + draw(e, 3);
    while (open > 0) {
        const uint32_t txn = draw(e, TXNS);
        struct client *client = &e->clients[txn];
        if (left[txn] == UINT32_MAX)
            continue;
        if (client->statements++ == 0) {
            client->invoke_at = position++;
            e->db.snapshots[txn] = e->db.clock;
        }
        if (left[txn]-- > 0) {
            run_statement(e, txn);
            continue;
        }
        commit(&e->db, txn);
        client->complete_at = position++;
        open--;
    }
}

static struct rig_history *history_of(const struct execution *e)
{
    struct rig_history_builder *builder = rig_history_builder_new(e->db.workload, 0);
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    for (uint32_t txn = 0; txn < TXNS; txn++) {
        const struct client *client = &e->clients[txn];
        const struct rig_txn_input input = {.invoke_at = client->invoke_at,
                                            .complete_at = client->complete_at,
                                            .invoke_ns = client->invoke_at * INT64_C(1000000),
                                            .complete_ns = client->complete_at * INT64_C(1000000),
                                            .process = txn,
                                            .outcome = RIG_OUTCOME_OK,
                                            .ops = client->ops,
                                            .reads = client->reads,
                                            .lists = client->lists,
                                            .op_count = client->op_count};
        if (rig_history_builder_add(builder, &input, &err) != RIG_OK)
            fail_msg("%s", err.text);
    }
    if (rig_history_builder_finish(builder, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

/* ---- the play ---- */

static void expect_read(const struct rig_history *history, uint32_t op, const struct answer *answer, uint64_t number)
{
    const struct rig_txn_op *read = &history->ops[op];
    if (!rig_op_reads_sequence(read->kind)) {
        if (answer->count == 0 ? read->read_state != RIG_READ_NIL : read->value != answer->cells[0])
            fail_msg("execution %u: a read of key %u gives another value", (unsigned)number, (unsigned)read->key);
        return;
    }
    const struct rig_read_list list = rig_txn_op_list(history, read);
    uint32_t found = 0;
    for (uint32_t i = 0; i < list.count && i < answer->count; i++)
        found += rig_read_element(&list, i) == answer->cells[i];
    if (list.count != answer->count || found != list.count)
        fail_msg("execution %u: a read of key %u gives other rows", (unsigned)number, (unsigned)read->key);
}

static void play(const struct rig_history *history, const struct rig_interleaving *order, enum mode mode,
                 uint64_t number)
{
    struct database db = {.workload = history->workload};
    bool begun[TXNS] = {false};
    struct answer last[TXNS];
    memset(last, 0, sizeof last);
    for (uint32_t i = 0; i < order->step_count; i++) {
        const struct rig_interleaved *step = &order->steps[i];
        if (step->statement == RIG_STATEMENT_END)
            commit(&db, step->txn);
        if (step->statement != RIG_STATEMENT_OPERATION)
            continue;
        const struct rig_txn_op *op = &history->ops[step->op];
        struct rig_row_where where = rig_row_all();
        if (!begun[step->txn])
            db.snapshots[step->txn] = db.clock;
        begun[step->txn] = true;
        if (rig_op_reads(op->kind)) {
            if (rig_op_reads_rows(op->kind))
                assert_true(rig_row_condition_of(op[-1].value, &where));
            last[step->txn] = read_key(&db, step->txn, op->key, &where, mode);
            expect_read(history, step->op, &last[step->txn], number);
        } else if (op->value > 0) {
            const bool meets = db.workload == RIG_WORKLOAD_PREDICATE && !rig_row_inserts(op->value);
            const struct answer none = {.count = 0}, *met = meets ? &last[step->txn] : &none;
            const bool waits =
                db.workload == RIG_WORKLOAD_PREDICATE && !meets ? false : conflicts(&db, step->txn, op->key, met, mode);
            if (waits)
                fail_msg("execution %u: a write of key %u would wait or fail", (unsigned)number, (unsigned)op->key);
            write_key(&db, step->txn, op->key, op->value, met);
        }
    }
}

static void compare(enum rig_workload workload, enum mode mode)
{
    uint32_t explained = 0;
    for (uint64_t number = 1; number <= ROUNDS; number++) {
        static struct execution e;
        e = (struct execution){.db = {.workload = workload}, .mode = mode, .random = number * 0x9e3779b97f4a7c15};
        execute(&e);
        struct rig_history *history = history_of(&e);
        const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE)};
        struct rig_verdict *verdict = NULL;
        struct rig_interleaving order = {0};
        struct rig_err err = {0};
        if (rig_check(history, &options, &verdict, &err) != RIG_OK ||
            rig_interleaving_init(&order, history, verdict, &err) != RIG_OK)
            fail_msg("%s", err.text);
        explained += order.explains_reads;
        if (order.explains_reads && mode == BY_SNAPSHOT)
            play(history, &order, BY_SNAPSHOT, number);
        if (order.explains_reads)
            play(history, &order, BY_STATEMENT, number);
        rig_interleaving_done(&order);
        rig_verdict_free(verdict);
        rig_history_free(history);
    }
    print_message("%u of %u executions have an order\n", (unsigned)explained, (unsigned)ROUNDS);
    assert_int_equal(explained, ROUNDS);
}

static void lists_by_snapshot(void **state)
{
    (void)state;
    compare(RIG_WORKLOAD_LIST_APPEND, BY_SNAPSHOT);
}

static void registers_by_snapshot(void **state)
{
    (void)state;
    compare(RIG_WORKLOAD_RW_REGISTER, BY_SNAPSHOT);
}

static void rows_by_snapshot(void **state)
{
    (void)state;
    compare(RIG_WORKLOAD_PREDICATE, BY_SNAPSHOT);
}

static void lists_by_statement(void **state)
{
    (void)state;
    compare(RIG_WORKLOAD_LIST_APPEND, BY_STATEMENT);
}

static void registers_by_statement(void **state)
{
    (void)state;
    compare(RIG_WORKLOAD_RW_REGISTER, BY_STATEMENT);
}

static void rows_by_statement(void **state)
{
    (void)state;
    compare(RIG_WORKLOAD_PREDICATE, BY_STATEMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_by_snapshot),      cmocka_unit_test(registers_by_snapshot),
        cmocka_unit_test(rows_by_snapshot),       cmocka_unit_test(lists_by_statement),
        cmocka_unit_test(registers_by_statement), cmocka_unit_test(rows_by_statement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
