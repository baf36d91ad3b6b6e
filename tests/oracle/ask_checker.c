#include "tests/oracle/ask_checker.h"

#include <stdlib.h>

#include "base/bug.h"
#include "checker/judge/check.h"
#include "history/model/builder.h"
#include "tests/oracle/prove_witness.h"

enum rig_level checker_level(struct oracle_level level)
{
    static const enum rig_level levels[ORACLE_BASES][ORACLE_ORDERS] = {
        {RIG_LEVEL_READ_COMMITTED, RIG_LEVEL_STRONG_SESSION_READ_COMMITTED, RIG_LEVEL_STRONG_READ_COMMITTED},
        {RIG_LEVEL_SNAPSHOT_ISOLATION, RIG_LEVEL_STRONG_SESSION_SNAPSHOT_ISOLATION,
         RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION},
        {RIG_LEVEL_SERIALIZABLE, RIG_LEVEL_STRONG_SESSION_SERIALIZABLE, RIG_LEVEL_STRICT_SERIALIZABLE},
        {RIG_LEVEL_READ_UNCOMMITTED, RIG_LEVEL_STRONG_SESSION_READ_UNCOMMITTED, RIG_LEVEL_STRONG_READ_UNCOMMITTED},
    };
    return levels[level.base][level.order];
}

/* The history under check: printed when an assertion of rig's ends the program. */
static const struct small_history *current;

static void print_current(void)
{
    if (current == NULL)
        return;
    small_print(current, "  ", stderr);
    small_print_json(current, stderr);
}

static void complain(struct checker_answer *answer, const char *what, const char *detail)
{
    if (answer->problem[0] == '\0')
        (void)snprintf(answer->problem, sizeof answer->problem, "%.400s: %.1100s", what, detail);
}

static int64_t value_name(const struct checker_names *names, int key, int value)
{
    return (int64_t)(((uint64_t)value + names->value_offset[key]) * names->value_factor);
}

static enum rig_rc add(struct rig_history_builder *builder, const struct small_txn *txn,
                       const struct checker_names *names, struct rig_err *err)
{
    static const enum rig_outcome outcomes[] = {RIG_OUTCOME_OK, RIG_OUTCOME_FAIL, RIG_OUTCOME_INFO};
    struct rig_op ops[SMALL_OPS] = {{0}};
    struct rig_read reads[SMALL_OPS] = {{0}};
    int64_t elements[SMALL_OPS * SMALL_LIST];
    size_t element_count = 0;
    for (int i = 0; i < txn->op_count; i++) {
        const struct small_op *op = &txn->ops[i];
        ops[i] = (struct rig_op){.kind = op->append ? RIG_OP_APPEND : RIG_OP_READ_LIST,
                                 .key = names->key[op->key],
                                 .value = op->append ? value_name(names, op->key, op->value) : 0};
        if (op->append || !op->known)
            continue;
        reads[i] = (struct rig_read){.state = op->count > 0 ? RIG_READ_SEEN : RIG_READ_NIL,
                                     .count = (uint32_t)op->count,
                                     .first_element = element_count};
        for (int e = 0; e < op->count; e++)
            elements[element_count++] = value_name(names, op->key, op->list[e]);
    }
    bool invoked = txn->invoke_at != SMALL_NEVER, completed = txn->complete_at != SMALL_NEVER;
    int invoke_at = txn->invoke_at * names->position_factor + names->position_offset;
    int complete_at = txn->complete_at * names->position_factor + names->position_offset;
    struct rig_txn_input input = {
        .invoke_ns = invoked ? (int64_t)invoke_at * 1000000 : RIG_NO_TIME,
        .complete_ns = completed ? (int64_t)complete_at * 1000000 : RIG_NO_TIME,
        .invoke_at = invoked ? (uint32_t)invoke_at : RIG_POSITION_NONE,
        .complete_at = completed ? (uint32_t)complete_at : RIG_POSITION_NONE,
        .process = txn->process * names->process_factor + names->process_offset,
        .outcome = outcomes[txn->outcome],
        .ops = ops,
        .reads = reads,
        .op_count = (uint32_t)txn->op_count,
        .elements = elements,
    };
    return rig_history_builder_add(builder, &input, err);
}

/* Read uncommitted and its forms, which some findings may leave open. */
static bool is_below_committed(const struct rig_level_info *info)
{
    return (info->below & RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED)) == 0;
}

/* Whether a witness of each of these anomalies, which not every level above forbids by name, refutes the level. */
static bool is_witnessed(const struct rig_verdict *verdict, enum rig_level level, rig_anomaly_set anomalies)
{
    bool all = true;
    for (unsigned a = 0; a < RIG_ANOMALY_COUNT; a++) {
        const struct rig_finding *finding = &verdict->findings[a];
        bool found = (anomalies & RIG_ANOMALY_BIT(a)) == 0;
        for (uint32_t i = 0; i < finding->witness_count && !found; i++)
            found = (finding->witnesses[i].refutes & RIG_LEVEL_BIT(level)) != 0;
        all &= found;
    }
    return all;
}

/* The properties of every verdict, whatever the history: closed under the lattice, each refutation with its anomaly. */
static void check_closed(const struct rig_verdict *verdict, struct checker_answer *answer)
{
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const struct rig_level_info *info = rig_level_info((enum rig_level)level);
        const struct rig_level_result *result = &verdict->levels[level];
        bool refuted = result->fate == RIG_FATE_REFUTED;
        rig_anomaly_set seen = 0, refuting = 0;
        for (unsigned a = 0; a < RIG_ANOMALY_COUNT; a++) {
            const struct rig_finding *finding = &verdict->findings[a];
            seen |= finding->count > 0 ? RIG_ANOMALY_BIT(a) : 0;
            refuting |= (finding->refutes & RIG_LEVEL_BIT(level)) != 0 ? RIG_ANOMALY_BIT(a) : 0;
        }
        if ((refuting & ~seen) != 0 || !is_witnessed(verdict, (enum rig_level)level, refuting & ~info->forbids))
            complain(answer, "refuted by an anomaly that was not found, or that it does not forbid", info->name);
        if (refuted && verdict->findings[result->because].count == 0)
            complain(answer, "refuted by an anomaly that was not found", info->name);
        if (!refuted && (refuting != 0 || ((info->forbids & seen) != 0 && !is_below_committed(info))))
            complain(answer, "an anomaly that the level forbids was found, yet it is not refuted", info->name);
        for (unsigned other = 0; other < RIG_LEVEL_COUNT; other++) {
            enum rig_fate above = verdict->levels[other].fate;
            if ((info->above & RIG_LEVEL_BIT(other)) == 0)
                continue;
            if (refuted && above != RIG_FATE_REFUTED)
                complain(answer, "a level is refuted and one that implies it is not", info->name);
            if (above == RIG_FATE_HELD && result->fate != RIG_FATE_HELD)
                complain(answer, "a level held and one that it implies did not", info->name);
        }
    }
    for (unsigned a = 0; a < RIG_ANOMALY_COUNT; a++) {
        const struct rig_finding *finding = &verdict->findings[a];
        if ((finding->count > 0) != (finding->witness_count > 0))
            complain(answer, "an anomaly without a witness, or the reverse",
                     rig_anomaly_info((enum rig_anomaly)a)->name);
    }
}

/* Each witness is proved, and refutes a level that the verdict reports as refuted. */
static void check_witnesses(const struct small_history *history, const struct rig_verdict *verdict,
                            struct checker_answer *answer)
{
    for (unsigned a = 0; a < RIG_ANOMALY_COUNT; a++) {
        const struct rig_finding *finding = &verdict->findings[a];
        for (uint32_t i = 0; i < finding->witness_count; i++) {
            const struct rig_witness *witness = &finding->witnesses[i];
            const char *wrong = prove_witness(history, verdict->history, witness);
            if (witness->anomaly != (enum rig_anomaly)a)
                wrong = "a witness of another anomaly";
            for (unsigned level = 0; level < RIG_LEVEL_COUNT && wrong == NULL; level++) {
                bool claimed = (witness->refutes & RIG_LEVEL_BIT(level)) != 0;
                if (claimed && verdict->levels[level].fate != RIG_FATE_REFUTED)
                    wrong = "refutes a level that the verdict does not refute";
            }
            if (wrong == NULL)
                continue;
            complain(answer, wrong, witness->text != NULL ? witness->text : "");
        }
    }
}

enum rig_rc build_history(const struct small_history *history, const struct checker_names *names,
                          struct rig_history **built, struct rig_err *err)
{
    struct checker_names as_they_are = {
        .key = {0, 1, 2, 3}, .process_factor = 1, .value_factor = 1, .position_factor = 1};
    _Static_assert(SMALL_KEYS == 4, "the names above are one a key");
    for (int i = 0; i < SMALL_TXNS; i++)
        as_they_are.order[i] = i;
    if (names == NULL)
        names = &as_they_are;
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    if (builder == NULL)
        return rig_fail(err, RIG_E_LIMIT, "no memory");
    for (int i = 0; i < SMALL_TXNS; i++) {
        int t = names->order[i];
        enum rig_rc rc = t < history->txn_count ? add(builder, &history->txns[t], names, err) : RIG_OK;
        if (rc != RIG_OK) {
            rig_history_builder_free(builder);
            return rc;
        }
    }
    return rig_history_builder_finish(builder, built, err);
}

void ask_checker(const struct small_history *history, const struct checker_names *names, struct checker_answer *answer)
{
    struct rig_err err = {.rc = RIG_OK};
    struct rig_history *built = NULL;
    struct rig_verdict *verdict = NULL;
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)};
    *answer = (struct checker_answer){.valid = RIG_VALID_UNKNOWN};
    if (build_history(history, names, &built, &err) != RIG_OK) {
        complain(answer, "refused by the builder", err.text);
        return;
    }
    current = history;
    rig_bug_on_exit(print_current);
    enum rig_rc rc = rig_check(built, &options, &verdict, &err);
    current = NULL;
    if (rc != RIG_OK) {
        complain(answer, "refused by the checker", err.text);
        rig_history_free(built);
        return;
    }
    check_closed(verdict, answer);
    if (names == NULL)
        check_witnesses(history, verdict, answer);
    answer->valid = verdict->valid;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        answer->fate[level] = verdict->levels[level].fate;
        answer->because[level] = verdict->levels[level].because;
    }
    for (unsigned a = 0; a < RIG_ANOMALY_COUNT; a++)
        answer->count[a] = verdict->findings[a].count;
    rig_verdict_free(verdict);
    rig_history_free(built);
}
